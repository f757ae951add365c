"""The ops and functions that ``torch.autocast`` casts: on CUDA as ATen/autocast_mode.h lists them, on the CPU
as measured, which ``tests/torch/test_autocast.py`` repeats.
"""

LOWER = frozenset({
    "addbmm", "addmm", "addmv", "addr", "baddbmm", "bmm", "matmul", "mm", "mv", "_prelu", "_conv",
    "_conv_bias", "_conv_transpose",
})  # fmt: skip
"""Ops that run in half precision."""
LOWER_FUNCTIONS = (
    "einsum", "linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d",
    "conv_transpose3d", "prelu", "scaled_dot_product_attention",
)  # fmt: skip
LOSSES = (
    "cosine_embedding_loss", "hinge_embedding_loss", "huber_loss", "kl_div", "l1_loss", "margin_ranking_loss",
    "mse_loss", "nll_loss", "poisson_nll_loss", "smooth_l1_loss", "soft_margin_loss", "triplet_margin_loss",
    "binary_cross_entropy_with_logits",
)  # fmt: skip
"""Losses that run in float32."""
FLOAT_FUNCTIONS = {
    "cpu": (*LOSSES, "cross_entropy", "binary_cross_entropy"),
    "cuda": (
        *LOSSES, "softplus", "layer_norm", "rms_norm", "group_norm", "cosine_similarity", "interpolate",
        "softmax", "log_softmax",
    ),
}  # fmt: skip
"""Functions that run in float32, by device."""
FLOAT = {
    "cpu": frozenset({"prod", "_linalg_inv", "_linalg_solve", "_linalg_cholesky"}),
    "cuda": frozenset({
        "acos", "asin", "cosh", "exp", "expm1", "log", "log10", "log2", "log1p", "reciprocal", "rsqrt",
        "sinh", "tan", "pow", "rpow", "logsumexp", "prod", "_softmax", "_log_softmax", "cumprod", "cumsum",
        "sum", "norm", "vector_norm",
    }),
}  # fmt: skip
"""Ops that run in float32, by device."""
LOWER_BY_DEVICE = {"cpu": LOWER - {"addmv", "addr", "mv"}, "cuda": LOWER}
WIDEST = frozenset({"addcdiv", "addcmul", "atan2", "dot", "scatter_add", "_linalg_cross", "_index_put"})
"""Ops that run on CUDA in the widest dtype of their operands."""
