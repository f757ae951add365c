"""Every declared op of the arithmetic families against torch: values, dtypes, layout, formulas, saved sets,
overloads.

Formulas call methods of whatever tensor they get, so here they get torch's; no machine of ours takes part.
The views and the indexing families, and the machine itself, are tested elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce
from importlib import import_module
from itertools import chain, combinations
from typing import Any

import numpy as np
import pytest

from conformance.comparison.tolerance.op_effects import hands_on, keeps_values
from op_calls import Calls, Leaf, T, calls_of
from specs import ops
from specs.domain import AVOIDANCES, DOMAINS
from specs.op import Op, Overloads
from together import together

torch = pytest.importorskip("torch")

from op_torch import methods, tree  # noqa: E402 -- needs torch
from view_torch import values_of  # noqa: E402 -- needs torch

ELSEWHERE = {
    "view", "slice", "cat", "gather", "index_put", "indexing", "random", "complex", "sort", "norms",
    "clamp", "nn", "losses", "nll", "linalg", "layers", "batch_norm", "scatter_reduce", "bags",
    "windows", "resizing", "sampling", "special", "gamma", "bessel", "fourier", "ctc", "margins", "packing",
    "pseudo_inverse", "beyond_programs", "parts", "distances", "numbers", "forms", "unpooling",
    "copies", "slopes", "written",
}  # fmt: skip
"""Families whose ops are views, write or pick elements, or are compared with torch call by call."""
FAMILIES = [family for family in ops.FAMILIES if family not in ELSEWHERE]
OPS = {
    op.key: op
    for family in FAMILIES
    for op in vars(import_module(f"specs.ops.{family}")).values()
    if isinstance(op, Op) and op.key != "squeeze_fresh"  # in torch it writes; its graph is met in matmul's
}
FORMS = {op.key: op for o in OPS.values() for op in (o, o.in_place) if op is not None}


@pytest.fixture(scope="module", autouse=True)
def internal_names() -> Iterator[None]:
    """Formulas call these, as long as this module runs."""
    with methods():
        yield


def fitting_calls(op: Op) -> Calls:
    """The calls of an op; an in-place form takes those whose result fits its first operand."""
    calls = calls_of(op)
    if not op.mutates:
        return calls
    return [c for c in calls if isinstance(c[0][0], Leaf) and _in_place_fits(c[0])]


def _in_place_fits(operands: tuple[Any, ...]) -> bool:
    shapes = [o.shape for o in operands if isinstance(o, Leaf)]
    return operands[0].dtype.startswith("float") and np.broadcast_shapes(*shapes) == operands[0].shape


def subsets(op: Op, operands: tuple[Any, ...]) -> list[tuple[int, ...]]:
    """Every non-empty choice of the operands that may require grad."""
    able = [i for i in _edges(op) if isinstance(operands[i], Leaf) and operands[i].dtype.startswith("float")]
    return list(chain.from_iterable(combinations(able, n) for n in range(1, len(able) + 1)))


def _edges(op: Op) -> tuple[int, ...]:
    return tuple(range(len(op.operands))) if op.composite else op.edges


GRID = [(op, call) for op in FORMS.values() for call in fitting_calls(op)]
PRIMITIVE = [(op, call) for op, call in GRID if not op.composite]
"""A composite has no numpy body and saves nothing; the graph it makes is compared."""


def of_each(calls: list[tuple[Op, Any]]) -> Callable[..., Any]:
    """A test for each op, of all its calls."""
    return together("op, call", calls, by=lambda row: row[0].key, row_id=_spelled)


def _spelled(row: tuple[Op, Any]) -> str:
    op, (operands, attributes) = row
    return f"{op.key}({', '.join([*map(repr, operands), *(f'{k}={v}' for k, v in attributes.items())])})"


# making and running
SIGNED = [1.0, -2.0, 4.0, 0.5, -1.0, 2.0, 3.0, -0.5, 0.25]
POSITIVE = [1.0, 2.0, 4.0, 0.5, 0.25, 8.0, 2.0, 1.0, 0.5]


def make(op: Op, spec: Any, index: int) -> Any:
    """A torch tensor with values in the op's domain; numbers stay themselves."""
    if not isinstance(spec, Leaf):
        return spec
    domain = op.domain if isinstance(op.domain, str) else op.domain.get(op.names[index], "any")
    size = int(np.prod(spec.shape))
    values = np.resize(np.roll(SIGNED if domain == "any" else POSITIVE, -index), size).reshape(spec.shape)
    if spec.dtype == "bool":
        values = np.resize([True, False, False], size).reshape(spec.shape)
    elif spec.dtype == "int64":
        values = np.ceil(np.abs(values))
    tensor = torch.tensor(values, dtype=getattr(torch, spec.dtype))
    if spec.order is None:
        return tensor
    return tensor.permute(spec.order).contiguous().permute(tuple(np.argsort(spec.order)))


def run(op: Op, operands: tuple[Any, ...], attributes: dict[str, Any]) -> Any:
    """The op as torch does it."""
    if op.name in ("where", "_where"):
        return torch.where(*operands)
    given = dict(zip(op.names, operands, strict=True)) | attributes
    args = [given.pop(name) for name in op.order if name in op.names]
    method = getattr(torch.Tensor if isinstance(args[0], torch.Tensor) else torch, op.name)
    return method(*args, **given)


def prepared(op: Op, operands: tuple[Any, ...]) -> tuple[Any, ...]:
    """Numpy operands cast as the op's ``dtypes`` says, by torch's own promotion."""
    arrays = [o.numpy() if isinstance(o, torch.Tensor) else o for o in operands]
    if op.dtypes in ("keep", "same"):
        return tuple(arrays)
    taking = [o for o, p in zip(operands, op.operands, strict=True) if p.kind.name != "mask"]
    pairs = [torch.result_type(taking[0], other) for other in taking[1:] or taking]
    dtype = reduce(torch.promote_types, pairs)
    if not (dtype.is_floating_point or dtype.is_complex):
        dtype = {"float": torch.float32, "accumulate": torch.int64}.get(op.dtypes, dtype)
    numpy = np.dtype(str(dtype).removeprefix("torch."))
    return tuple(
        a if p.kind.name == "mask" or not isinstance(a, np.ndarray) else a.astype(numpy, copy=False)
        for a, p in zip(arrays, op.operands, strict=True)
    )


def strides(shape: tuple[int, ...], stride: tuple[int, ...]) -> tuple[int, ...]:
    """The strides that mean anything: those of dimensions longer than one of a tensor that has elements."""
    return tuple(s for n, s in zip(shape, stride, strict=True) if n > 1) if 0 not in shape else ()


def same_values(expected: Any, actual: Any) -> bool:
    return torch.allclose(expected, actual, rtol=1e-6, atol=0, equal_nan=True)


# the tests
def test_every_op_is_called():
    """No op of these families is left out, and each stays in the domain and the avoidances it names."""
    assert all(fitting_calls(op) for op in FORMS.values())
    for op in FORMS.values():
        domains = {op.domain} if isinstance(op.domain, str) else set(op.domain.values())
        assert domains <= set(DOMAINS)
        assert set(op.avoid) <= set(AVOIDANCES)


@of_each(PRIMITIVE)
def test_a_body_computes_what_torch_computes(op, call):
    """Value, dtype, shape and layout of the numpy body's result are torch's."""
    operands = tuple(make(op, spec, i) for i, spec in enumerate(call[0]))
    copies = tuple(o.clone() if isinstance(o, torch.Tensor) else o for o in operands)
    with np.errstate(all="ignore"):
        body = np.asarray(op.compute(prepared(op, copies), op.defaults | call[1]))
    expected = run(op, operands, call[1])
    if op.mutates:
        target = copies[0].numpy()
        target[...] = body
        body = target
    actual = torch.from_numpy(body.copy())
    assert (expected.dtype, tuple(expected.shape)) == (actual.dtype, body.shape)
    item = body.itemsize
    assert strides(body.shape, expected.stride()) == strides(
        body.shape, tuple(s // item for s in body.strides)
    )
    assert (
        same_values(expected, actual)
        if not op.ulp
        else torch.allclose(expected, actual, rtol=1e-5, equal_nan=True)
    )


@of_each(GRID)
def test_formulas_make_the_graph_torch_makes(op, call):
    """Gradients, their layout, and the whole graph below them under create_graph are torch's."""
    for needs in subsets(op, call[0]):
        operands = [make(op, spec, i) for i, spec in enumerate(call[0])]
        for i in needs:
            operands[i].requires_grad_()
        passed = list(operands)
        originals = list(operands)
        if op.mutates:
            passed[0] = operands[0].clone()
            originals[0] = passed[0].clone()
        ours = op.body(*passed, **(op.defaults | call[1])) if op.composite else None
        before = passed[0].grad_fn if op.mutates else None
        out = run(op, tuple(passed), call[1])
        if op.composite:
            assert tree(out.grad_fn) == tree(ours.grad_fn)
            assert strides(out.shape, out.stride()) == strides(ours.shape, ours.stride())
            assert same_values(out, ours)
            continue
        assert op.node == out.grad_fn.name()
        assert len(op.edges) == len(out.grad_fn.next_functions)
        g = torch.ones_like(out).requires_grad_()
        inputs = [operands[i] for i in needs]
        expected = torch.autograd.grad(out, inputs, g, create_graph=True, allow_unused=True)
        for i, theirs in zip(needs, expected, strict=True):
            formula = op.formulas[op.names[i]]
            values = values_of(op, originals, op.defaults | call[1], out, g)
            mine = finished(formula.fn(*[values[n] for n in formula.picks]), operands[i])
            if op.mutates and i == 0 and before is not None:
                assert before.name() == "CloneBackward0"
            assert same_values(theirs, mine)
            assert tree(theirs.grad_fn) == tree(mine.grad_fn)
            assert strides(theirs.shape, theirs.stride()) == strides(mine.shape, mine.stride())


def test_an_op_hands_on_the_gradient_it_got_where_it_is_said_to():
    """An op is declared to hand on a gradient if a write to the incoming one shows in the operand's."""
    keeping = [(op, call) for op, call in PRIMITIVE if keeps_values(op.name)]
    handing = {op.name.removesuffix("_") for op, call in keeping if _hands_on(op, *call)}
    said = {name for op, _ in keeping if hands_on(name := op.name.removesuffix("_"))}
    assert handing <= said
    # One is composed, too, and the others give zeros for an operand.
    assert said - handing == {"where", "hardtanh_backward", "leaky_relu_backward", "threshold_backward"}


def _hands_on(op: Op, specs: tuple[Any, ...], attributes: dict[str, Any]) -> bool:
    """True if torch gives an operand the memory of the incoming gradient."""
    for i in {i for needs in subsets(op, specs) for i in needs}:
        operands = [make(op, spec, n) for n, spec in enumerate(specs)]
        leaf = operands[i].requires_grad_()
        if op.mutates:
            operands[0] = operands[0].clone()
        out = run(op, tuple(operands), attributes)
        g = torch.ones_like(out)
        (found,) = torch.autograd.grad(out, leaf, g)
        before = found.clone()
        g.add_(1)
        if not same_values(before, found):
            return True
    return False


AT_ZERO = [[0.0], [2.0, 0.0], [0.0, 2.0, 3.0], [0.0, 0.0, 2.0], [2.0, 0.0, 4.0, 0.0], [[0.0, 2.0], [1.0, 3]]]


@pytest.mark.parametrize("data", AT_ZERO, ids=str)
def test_a_product_with_a_zero_factor_has_a_gradient(data):
    """Its derivative is made of running products, and theirs of products, by the same nodes as torch's."""
    for key, attributes in (
        ("prod_all", {}),
        ("prod_dim", {"dim": 0, "keepdim": False}),
        ("prod_dim", {"dim": -1, "keepdim": True}),
        ("cumprod", {"dim": 0}),
        ("cumprod", {"dim": -1}),
    ):
        op = OPS[key]
        x = torch.tensor(data, requires_grad=True)
        out = run(op, (x,), attributes)
        g = torch.ones_like(out).requires_grad_()
        (expected,) = torch.autograd.grad(out, x, g, create_graph=True)
        formula = op.formulas["x"]
        values = values_of(op, [x], op.defaults | attributes, out, g)
        actual = finished(formula.fn(*[values[n] for n in formula.picks]), x)
        assert expected.tolist() == actual.tolist()
        assert tree(expected.grad_fn) == tree(actual.grad_fn)


def finished(grad: Any, operand: Any) -> Any:
    """A formula's result in the operand's shape and dtype, as the engine makes it."""
    if grad.shape != operand.shape:
        grad = grad.sum_to_size(operand.shape)
    return grad.to(operand.dtype)


@of_each(PRIMITIVE)
def test_a_write_is_refused_where_the_declaration_says_saved(op, call):
    """Writing to an operand or to the result makes backward refuse exactly if that was saved."""
    for needs in subsets(op, call[0]):
        written = [
            i for i, spec in enumerate(call[0]) if isinstance(spec, Leaf) and not (op.mutates and i == 0)
        ]
        for target in (*written, "out"):
            operands = [make(op, spec, i) for i, spec in enumerate(call[0])]
            leaves = [operands[i].requires_grad_() for i in needs]
            if op.mutates:
                operands[0] = operands[0].clone()
            out = run(op, tuple(operands), call[1])
            with torch.no_grad():
                (out if target == "out" else operands[target]).zero_()
            saved = op.saves("out" if target == "out" else op.names[target], [op.names[i] for i in needs])
            assert saved == refuses(out, leaves), (needs, target)


def refuses(out: Any, leaves: list[Any]) -> bool:
    """True if backward finds a saved tensor modified; any other refusal is a failure."""
    try:
        torch.autograd.grad(out, leaves, torch.ones_like(out), allow_unused=True)
    except RuntimeError as error:
        if "modified by an inplace operation" not in str(error):
            raise
        return True
    return False


OVERLOADED = {
    "pow": [(T(2), 2), (T(2), T(2)), (2, T(2))],
    "rsub": [(T(2), 2), (T(2), T(2))],
    "sum": [(T(2),), (T(2), 0), (T(2), (0,)), (T(2), None), (T(2), 0, True)],
    "mean": [(T(2),), (T(2), 0), (T(2), None)],
    "prod": [(T(2),), (T(2), 0), (T(2), 0, True)],
    "fill_": [(T(2), 2), (T(2), T())],
    "amax": [(T(2),), (T(2), 0), (T(2), (0,), True)],
    "pow_": [(T(2), 2), (T(2), T(2))],
}


@pytest.mark.parametrize("op", [op for op in FORMS.values() if op.torch_names], ids=lambda op: op.key)
def test_torch_takes_operands_by_the_names_declared(op):
    """An operand's declared name is torch's keyword for it."""
    specs, attributes = fitting_calls(op)[0]
    receiver, *others = [make(op, spec, i) for i, spec in enumerate(specs)]
    named = {op.torch_name(i): operand for i, operand in enumerate(others, 1)}
    expected = run(op, (receiver.clone(), *others), attributes)
    assert same_values(expected, getattr(receiver, op.name)(**named, **attributes))


@pytest.mark.parametrize(("name", "args"), [(n, a) for n, rows in OVERLOADED.items() for a in rows], ids=repr)
def test_overloads_are_chosen_as_torch_chooses(name, args):
    """The first overload that takes the arguments is the one whose node torch records."""
    overloads = Overloads(name, [op for op in FORMS.values() if op.name == name])
    any_op = overloads.ops[0]
    operands = [make(any_op, spec, 0) for spec in args]
    for operand in operands:
        if isinstance(operand, torch.Tensor):
            operand.requires_grad_()
    if name.endswith("_"):
        operands[0] = operands[0].clone()
    op, _, attributes = overloads.bind(tuple(operands), {}, torch.Tensor)
    function = torch.pow if name == "pow" else getattr(torch.Tensor, name)
    node = function(*operands).grad_fn.name()
    assert node == ("PowBackward2" if op.composite else op.node)
    assert set(attributes) == {attribute.name for attribute in op.attributes}
