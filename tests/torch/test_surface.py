"""The torch-shaped namespace: an expression prints the same on torch and the reference, or is refused alike.

What ops compute is tested in `test_ops_declarations`, what is a fact about autograd in the cases.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import reference_impl
from together import called, together

torch = pytest.importorskip("torch")

FACTORIES = """
torch.zeros(2, 3)
torch.zeros((2, 3), dtype=torch.double, requires_grad=True)
torch.zeros(size=(2,), device="cpu")
torch.ones([2], device=torch.device("cpu")).device
torch.empty(2, 0)
torch.full((2,), 7)
torch.full((2,), 7.0, dtype=torch.int)
torch.full_like(torch.ones(2, dtype=torch.int8), 3)
torch.eye(2, 3)
torch.arange(3)
torch.arange(3.0)
torch.arange(0, 1, 0.1)
torch.arange(1, 10, 3, dtype=torch.float16)
torch.arange(5, 1, -2)
torch.linspace(0, 1, 5)
torch.logspace(0, 2, 3)
torch.empty_strided((2, 2), (1, 2)).stride()
torch.tensor([[1, 2], [3, 4]], dtype=torch.uint8)
torch.tensor([])
torch.tensor([1, 2.5])
torch.tensor([1 + 2j, 3])
torch.tensor([torch.tensor(1.0), torch.tensor(2.0)])
torch.tensor(np.ones(2))
torch.tensor(np.float64(2))
torch.as_tensor(np.ones(2, np.int16))
torch.as_tensor([1, 2])
torch.from_numpy(np.ones((2, 2), np.float32))
torch.ones(2, dtype=torch.half).new_zeros(2, 3)
torch.ones(2).new_tensor([1, 2])
torch.ones(2).new_full((2,), 3, dtype=torch.long)
torch.ones_like(torch.ones(2, 2).t()).stride()
torch.ones_like(torch.ones(2), dtype=torch.bool, requires_grad=False)
torch.LongTensor([1, 2])
torch.FloatTensor(torch.Size([2])).shape
torch.ones(2).new(2, 3).shape
torch.ones(2).half().new([1, 2])
torch.ones(2).new()
(lambda x: torch.ones(2).new(x).data_ptr() == x.data_ptr())(torch.zeros(3))
torch.ones(2, dtype=torch.int).random_(3, 4)
torch.ones(2, dtype=torch.bool).bernoulli_(0)
torch.tensor([1, 2]).eq_(torch.tensor([1.5, 2.0]))
torch.tensor([[1.0, float("nan"), 3.0]]).median(1).indices
torch.tensor([[float("nan"), 5.0, 3.0]]).nanmedian(1).indices
torch.tensor([]).median()
torch.DoubleTensor(2, 3).shape
torch.complex(torch.ones(2), torch.zeros(2))
torch.rand(2, 3).shape
torch.randn(2, 3, dtype=torch.cdouble, requires_grad=True).requires_grad
torch.rand((2, 3), dtype=torch.double).dtype
torch.randn_like(torch.ones(2, 3).t()).stride()
torch.randint(3, (2, 2)).dtype
torch.randint(3, 4, size=(2, 2))
torch.manual_seed(3).initial_seed()
torch.bernoulli(torch.ones(3))
torch.normal(0.0, 0.0, (2,))
torch.Size([1, 2])
torch.Size([1, 2]) + (3,)
(3,) + torch.Size([1, 2])
torch.Size([1, 2])[:1]
torch.Size([1, 2]) * 2
torch.Size([2, 3]).numel()
torch.device("cpu", 0)
str(torch.device("cpu:0"))
torch.device("cpu") == torch.ones(1).device
torch.get_default_dtype()
[torch.half, torch.double, torch.long, torch.short, torch.cfloat, torch.int, torch.float, torch.bool]
torch.float16.itemsize
torch.uint8.is_signed
"""

ATTRIBUTES = """
torch.ones(2, 3).shape
torch.ones(2, 3).size()
torch.ones(2, 3).size(-1)
torch.ones(2, 3).stride()
torch.ones(2, 3).t().stride(0)
torch.ones(2, 3).nelement()
torch.ones(2, 3).ndimension()
torch.ones(2, 3).element_size()
torch.ones(2, 3).nbytes
torch.ones(4)[2:].storage_offset()
torch.ones(4)[2:].data_ptr() - torch.ones(1).data_ptr() != 0
(lambda x: x[2:].data_ptr() - x.data_ptr())(torch.ones(4))
(lambda x: x[2:].untyped_storage().data_ptr() == x.untyped_storage().data_ptr())(torch.ones(4))
torch.ones(2, 3).untyped_storage().nbytes()
torch.nn.functional.l1_loss(*torch.ones(2, 2, 3)).untyped_storage().nbytes()
torch.nn.functional.smooth_l1_loss(*torch.ones(2, 2, 3)).untyped_storage().nbytes()
torch.nn.functional.binary_cross_entropy(*torch.ones(2, 2, 3)).untyped_storage().nbytes()
torch.nn.functional.mse_loss(*torch.ones(2, 2, 3), reduction="sum").untyped_storage().nbytes()
torch.ones(2, 3).t().is_contiguous()
torch.ones(2, 3).is_contiguous(memory_format=torch.contiguous_format)
torch.ones(2).type()
torch.ones(2, dtype=torch.cdouble).type()
torch.ones(2).type(torch.double)
torch.ones(2).type("torch.LongTensor")
torch.ones(2).type_as(torch.ones(1, dtype=torch.int))
torch.ones(2).to(torch.float64)
torch.ones(2).to("cpu")
torch.ones(2).to("cpu", torch.int)
torch.ones(2).to(device=torch.device("cpu"), dtype=torch.half)
torch.ones(2).to(torch.ones(1, dtype=torch.double))
(lambda x: x.to(torch.float) is x)(torch.ones(2))
(lambda x: x.to(torch.float, copy=True) is x)(torch.ones(2))
(lambda x: x.cpu() is x)(torch.ones(2))
torch.ones(2, requires_grad=True).double()
torch.ones(2, requires_grad=True).long()
torch.tensor([1.7, -1.7]).int()
torch.tensor([1.7, 300.0]).short()
torch.tensor([0.0, 2.0]).bool()
torch.tensor([1.0]).cfloat()
torch.tensor([1 + 2j], requires_grad=True).real
torch.tensor([1 + 2j], requires_grad=True).imag
torch.ones(2).real
torch.ones(2, 3, requires_grad=True).T
torch.ones(2, 3, 4).mT.shape
torch.ones(2).is_cuda
torch.ones(2).get_device()
torch.ones(2).layout
torch.ones(2).dtype.is_floating_point
torch.is_tensor(1)
torch.is_floating_point(torch.ones(1))
torch.numel(torch.ones(2, 2))
len(torch.ones(2, 3))
list(torch.tensor([1.0, 2.0], requires_grad=True))
float(torch.tensor([1.5]))
int(torch.tensor(2.7))
complex(torch.tensor(1 + 1j))
[1, 2, 3][torch.tensor(1)]
list(range(torch.tensor(2)))
bool(torch.tensor([0.0]))
2.0 in torch.tensor([1.0, 2.0])
f"{torch.tensor(1.25):.1f}"
torch.ones(2).is_same_size(torch.zeros(2))
torch.ones(2).requires_grad_().numpy(force=True)
np.asarray(torch.ones(2))
np.add(torch.ones(2).numpy(), 1)
torch.ones(2).item
torch.testing.assert_close(torch.ones(2), torch.ones(2) + 1e-7)
torch.tensor([1 + 2j]).conj().resolve_conj()
"""

REFUSED = """
torch.ones(2, requires_grad=True).numpy()
np.asarray(torch.ones(2, requires_grad=True))
np.asarray(torch.ones(2, dtype=torch.bfloat16))
torch.ones(2, dtype=torch.bfloat16).numpy(force=True)
torch.complex(torch.ones(2, dtype=torch.bfloat16), torch.ones(2, dtype=torch.bfloat16))
torch.testing.assert_close(torch.ones(2).bfloat16(), torch.tensor([1.0, 1.03125]).bfloat16())
torch.device("foo")
torch.zeros(2).to("foo")
torch.tensor([[1], [2, 3]])
torch.from_numpy([1])
torch.from_numpy(np.ones(2)[::-1])
torch.randn(2, dtype=torch.long)
torch.set_default_dtype(torch.long)
torch.arange(3, 1)
torch.ones(2, dtype=torch.long, requires_grad=True)
len(torch.tensor(1))
iter(torch.tensor(1))
bool(torch.ones(2))
bool(torch.ones(0))
float(torch.ones(2))
float(torch.tensor(1 + 1j))
[1][torch.tensor(1.5)]
torch.ones(2).item()
torch.ones(2).imag
torch.ones(2).mT
torch.ones(2).size(1)
torch.allclose(torch.ones(1), torch.ones(1).double())
torch.tensor([1.0]) & 1
torch.testing.assert_close(torch.ones(2), torch.ones(2) + 1e-3)
torch.testing.assert_close(torch.ones(2), torch.ones(3))
torch.testing.assert_close(torch.ones(2), torch.ones(2, dtype=torch.double))
"""

PLAIN = """
torch.equal(torch.ones(2), torch.ones(2))
torch.ones(2).equal(torch.ones(3))
torch.allclose(torch.ones(2), torch.ones(2) + 1e-7)
torch.isclose(torch.ones(2), torch.tensor([1.0, 2.0]))
torch.ones(2).all()
torch.tensor([[True, False]]).any(1)
torch.tensor([[True, False]]).all(dim=0, keepdim=True)
torch.tensor([1.0, 3.0, 2.0]).argmax()
torch.tensor([[1.0, 3.0], [2.0, 0.0]]).argmin(1)
torch.tensor([[1.0, 3.0], [2.0, 0.0]]).argmax(dim=1, keepdim=True)
torch.tensor([3.0, 1.0, 2.0]).argsort()
torch.tensor([3.0, 1.0, 2.0]).argsort(descending=True)
torch.tensor([1.0, float("nan"), float("inf")]).isnan()
torch.isfinite(torch.tensor([1.0, float("inf")]))
torch.signbit(torch.tensor([1.0, -1.0]))
torch.tensor([1, 2]) & 1
torch.tensor([True]) | torch.tensor([False])
1 ^ torch.tensor([1, 2])
~torch.tensor([True, False])
~torch.tensor([1])
torch.logical_not(torch.tensor([1.0, 0.0]))
torch.nonzero(torch.tensor([[0, 1], [2, 0]]))
torch.nonzero(torch.tensor([0, 1, 2]), as_tuple=True)
torch.count_nonzero(torch.tensor([0, 1, 2]))
torch.unique(torch.tensor([3, 1, 3]))
torch.unique(torch.tensor([3, 1, 3]), return_inverse=True, return_counts=True)
torch.unique_consecutive(torch.tensor([3, 3, 1, 3]), return_counts=True)
torch.bincount(torch.tensor([0, 2, 2]))
torch.isin(torch.tensor([1, 2]), torch.tensor([2]))
torch.searchsorted(torch.tensor([1, 3, 5]), torch.tensor([2, 5]))
torch.bucketize(torch.tensor([2, 5]), torch.tensor([1, 3, 5]), right=True)
torch.tril_indices(2, 3)
torch.broadcast_shapes((2, 1), (3,))
torch.result_type(torch.ones(1, dtype=torch.int), 1.5)
torch.promote_types(torch.uint8, torch.int8)
torch.can_cast(torch.float, torch.int)
torch.ones(2, dtype=torch.uint8) + torch.ones(2, dtype=torch.int8)
torch.ones(2, dtype=torch.uint8).sum()
torch.ones(2, dtype=torch.half) + 1
torch.ones(2, dtype=torch.uint8).sin()
"""

PRINTED = """
torch.tensor(1.0)
torch.tensor([1e-5, 1.0])
torch.tensor([1000.5, 1.0])
torch.tensor([0.1, -2.0])
torch.tensor([[1, 20], [-3, 4]])
torch.tensor([True, False])
torch.tensor([1 + 2j])
torch.tensor([1.5 + 2j, -3])
torch.tensor([1 - 2.5j], dtype=torch.cdouble)
torch.zeros(2, 0)
torch.tensor([], dtype=torch.int64)
torch.tensor([float("nan"), 1.0, float("-inf")])
torch.tensor([float("nan"), 1.5])
torch.tensor(1e10)
torch.tensor([1e10, 1.0])
torch.tensor([123456789.0])
torch.tensor([12345678.0])
torch.zeros(1001)
torch.arange(4000).view(2, 10, 200)
torch.zeros(40)
torch.arange(100).view(10, 10)
torch.zeros(2, 2, 2, dtype=torch.double, requires_grad=True)
torch.ones(2, requires_grad=True) * 2
(torch.ones(2, requires_grad=True) * 2).sum()
torch.ones(20, 3, requires_grad=True).exp()
torch.ones(11, requires_grad=True, dtype=torch.double).exp()
torch.tensor(1.0, dtype=torch.float16)
torch.tensor(7, dtype=torch.uint8)
torch.ones(2).requires_grad_().view(1, 2)
torch.ones(3).expand(2, 3)
"""

HALF = """
torch.bfloat16
[torch.bfloat16.itemsize, torch.bfloat16.is_signed, torch.bfloat16.is_floating_point]
torch.tensor([1.2345, -2.0, float("inf"), 1e39], dtype=torch.bfloat16, requires_grad=True)
torch.tensor(1.3, dtype=torch.bfloat16).item()
torch.tensor([1.3], dtype=torch.bfloat16).tolist()
f"{torch.tensor(1.3, dtype=torch.bfloat16)}"
torch.BFloat16Tensor([1.5]).type()
torch.ones(2).bfloat16()
torch.ones(2, requires_grad=True).bfloat16()
torch.ones(2).type("torch.BFloat16Tensor")
(lambda x: x.bfloat16() is x)(torch.ones(2, dtype=torch.bfloat16))
torch.tensor([1.5, 0.0], dtype=torch.bfloat16).to(torch.bool)
torch.tensor([1.5, 0.0], dtype=torch.bfloat16).cdouble()
torch.tensor([1 + 2j]).bfloat16()
torch.tensor([257, 258]).bfloat16()
torch.tensor([1.0009765625, 65520.0]).bfloat16().half()
torch.nn.Linear(2, 3).bfloat16().weight.dtype
torch.rand(3, dtype=torch.bfloat16).dtype
torch.randn_like(torch.ones(2, dtype=torch.bfloat16)).shape
torch.tensor([3, 1, 3], dtype=torch.bfloat16).unique()
__import__("copy").deepcopy(torch.tensor([1.5], dtype=torch.bfloat16))
__import__("pickle").loads(__import__("pickle").dumps(torch.tensor([1.5], dtype=torch.bfloat16)))
torch.testing.assert_close(torch.ones(2).bfloat16(), torch.tensor([1.0, 1.0078125]).bfloat16())
"""


def lines(*blocks: str) -> list[str]:
    """The expressions, one a line."""
    return [line for block in blocks for line in block.strip().splitlines()]


def value(expression: str, namespace: Any) -> Any:
    """The value of an expression, with ``torch`` bound to a namespace."""
    with warnings.catch_warnings(action="ignore"):
        return eval(expression, {"torch": namespace, "np": np})


def text(result: Any) -> str:
    """The result as text; functions, which print their address, by name."""
    return getattr(result, "__name__", None) or repr(result)


@together("expression", lines(FACTORIES, ATTRIBUTES, PLAIN, PRINTED, HALF), by=called)
def test_an_expression_prints_the_same(expression: str) -> None:
    """The reference prints an expression's value as torch does."""
    assert text(value(expression, torch)) == text(value(expression, reference_impl))


@pytest.mark.parametrize("expression", lines(REFUSED))
def test_what_torch_refuses_is_refused(expression: str) -> None:
    """The reference refuses with the same Python class."""
    with pytest.raises(Exception) as theirs:  # noqa: PT011 -- whatever it is, ours is to be the same
        value(expression, torch)
    with pytest.raises(theirs.type):
        value(expression, reference_impl)


@pytest.fixture
def bfloat16_by_default() -> Iterator[None]:
    """bfloat16 is what Python floats become."""
    for namespace in (torch, reference_impl):
        namespace.set_default_dtype(namespace.bfloat16)
    yield
    for namespace in (torch, reference_impl):
        namespace.set_default_dtype(namespace.float32)


@pytest.mark.usefixtures("bfloat16_by_default")
@together("expression", lines(FACTORIES, ATTRIBUTES, PLAIN, PRINTED, HALF, REFUSED), by=called)
def test_an_expression_prints_the_same_with_another_default(expression: str) -> None:
    """With bfloat16 as the default dtype, an expression prints the same or is refused by the same class."""
    results = []
    for namespace in (torch, reference_impl):
        try:
            results.append(text(value(expression, namespace)))
        except Exception as refused:
            results.append(next(c for c in type(refused).__mro__ if c.__module__ == "builtins"))
    assert results[0] == results[1]
