"""The operations of programs beside the op table: what features they need, and their keywords."""

from __future__ import annotations

from conformance.execution.op_reach import CHECKPOINT
from conformance.program import COPY, DELETE, LAYERS, MODULE_HOOKS, OF_MODULES

_FACTORY = "dtype device requires_grad"
FUNCTIONAL = ("vjp", "jvp", "jacobian", "hessian", "vhp", "hvp")
"""The functions of `torch.autograd.functional`."""

_HOOK, _INFERENCE, _MODES, _GEOMETRY = "hooks", "inference", "modes", "views inplace"

BESIDE: dict[str, tuple[str, str]] = {
    **dict.fromkeys(("torch.tensor", "torch.ones", "torch.zeros", "torch.full"), ("", _FACTORY)),
    **dict.fromkeys(("torch.as_tensor", "torch.ones_like", "new_ones"), ("", "dtype device")),
    **dict.fromkeys(
        ("double", "float", "half", "bfloat16", "item", "tolist", "numpy", "type"), ("", "force")
    ),
    **dict.fromkeys(
        ("__bool__", "__len__", "torch.from_numpy", "torch.cat", "torch.stack", "remove"), ("", "")
    ),
    **dict.fromkeys(
        (".is_leaf", "._version", ".grad", ".grad=", ".grad_dtype=", ".requires_grad="), ("", "")
    ),
    **dict.fromkeys((".grad_fn", "._saved_self"), ("", "")),
    **dict.fromkeys((".real", ".imag", "torch.view_as_real", "torch.view_as_complex"), ("views", "")),
    **dict.fromkeys(("as_strided", "torch.as_strided"), ("views", "size stride storage_offset")),
    **dict.fromkeys(("transpose_", "t_", "unsqueeze_", "squeeze_", "swapdims_"), (_GEOMETRY, "")),
    **dict.fromkeys(
        ("resize_", "resize_as_", "set_", "torch.autograd.graph.increment_version"), ("inplace", "")
    ),
    **dict.fromkeys((".data", ".data="), ("data", "")),
    **dict.fromkeys(("register_hook", "register_prehook"), (_HOOK, "")),
    **dict.fromkeys(
        ("is_inference", "torch.is_inference_mode_enabled", "torch.inference_mode"), (_INFERENCE, "")
    ),
    **dict.fromkeys(("torch.set_grad_enabled", "torch.is_grad_enabled"), (_MODES, "")),
    **dict.fromkeys(("torch.nn.functional.mse_loss", "torch.nn.functional.l1_loss"), ("", "_ reduction")),
    "torch.nn.functional.linear": ("", "_ bias"),
    "torch.nn.L1Loss": ("", "reduction"),
    "torch.nn.Parameter": ("", "requires_grad"),
    "torch.optim.SGD": ("", "lr momentum dampening weight_decay nesterov"),
    "step": ("inplace", ""),
    "zero_grad": ("", "set_to_none"),
    "to": ("", "dtype device other copy non_blocking"),
    "cuda": ("devices", "device non_blocking"),
    "cpu": ("devices", ""),
    "detach": ("detach", ""),
    "detach_": ("detach inplace", ""),
    "requires_grad_": ("", "requires_grad"),
    "retain_grad": ("retain", ""),
    "backward": ("", "gradient retain_graph create_graph inputs"),
    "torch.autograd.backward": ("", "grad_tensors retain_graph create_graph grad_variables inputs"),
    "torch.autograd.grad": (
        "grad_call",
        "_ grad_outputs retain_graph create_graph only_inputs allow_unused is_grads_batched "
        "materialize_grads",
    ),
    "torch.autograd.graph.get_gradient_edge": ("grad_call", ""),
    "torch.autograd.graph.register_multi_grad_hook": (_HOOK, "_ mode"),
    "torch.autograd.graph.saved_tensors_hooks": (_HOOK, ""),
    "register_post_accumulate_grad_hook": (_HOOK, ""),
    **dict.fromkeys(("torch.optim.Adam", "torch.optim.AdamW"), ("", "lr betas eps weight_decay amsgrad")),
    "torch.nn.utils.clip_grad_norm_": ("inplace", "_ max_norm norm_type"),
    "torch.nn.utils.clip_grad_value_": ("inplace", "_ clip_value"),
    "torch.einsum": ("", ""),
    "torch.nn.functional.softmax": ("", "_ dim"),
    "torch.nn.functional.log_softmax": ("", "_ dim"),
    "torch.nn.functional.cross_entropy": ("", "_ reduction"),
    "torch.nn.functional.conv1d": ("", "_ _ bias stride padding"),
    "torch.nn.functional.conv2d": ("", "_ _ bias stride padding"),
    "torch.nn.functional.layer_norm": ("", "_ normalized_shape weight bias"),
    CHECKPOINT: ("checkpoint", "_ use_reentrant"),
    **{f"torch.autograd.functional.{name}": ("functional", "_ _ create_graph strict") for name in FUNCTIONAL},
    **dict.fromkeys(
        ("torch.autograd.forward_ad.make_dual", "torch.autograd.forward_ad.unpack_dual"), ("forward_mode", "")
    ),
    **dict.fromkeys((*LAYERS, *MODULE_HOOKS, *OF_MODULES), ("modules", "")),
    **dict.fromkeys(("train", "eval", "parameters", "buffers", "load_state_dict"), ("modules", "")),
    **dict.fromkeys(("__call__", "state_dict", COPY), ("modules", "")),
    DELETE: ("", ""),
}
"""Operations beside the op table: the features they need, and their keywords in order, `_` for operands."""
