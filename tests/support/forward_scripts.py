"""Scripts of forward mode for `test_forward_ad`: each yields what it sees, on torch or on the reference.

No test lives here.
"""

from __future__ import annotations

from typing import Any


def _start(torch: Any) -> Any:
    return torch.tensor([1.0, 2.0, 3.0, 4.0]), torch.tensor([1.0, -1.0, 2.0, 0.5])


def _shown(x: Any) -> Any:
    return None if x is None else (x.tolist(), tuple(x.stride()), x.storage_offset(), x.requires_grad)


def _said(function: Any) -> str:
    """The class of what is raised."""
    try:
        function()
    except Exception as error:
        return type(error).__mro__[-4].__name__
    return "nothing"


def levels(torch: Any, fw: Any) -> Any:
    """One level at a time; leaving it drops tangents."""
    x, t = _start(torch)
    yield fw._current_level
    yield _said(lambda: fw.make_dual(x, t))
    yield _said(fw.exit_dual_level)
    with fw.dual_level() as level:
        yield level, fw._current_level
        yield _said(fw.enter_dual_level)
        d = fw.make_dual(x, t)
        kept = fw.unpack_dual(d).tangent
        yield kept is t
        yield _said(lambda: fw.exit_dual_level(level=3))
    yield fw._current_level
    yield fw.unpack_dual(d).tangent is None, fw.unpack_dual(d).primal is d
    with fw.dual_level():
        yield fw.unpack_dual(d).tangent is None, fw.unpack_dual(d).primal is d
        yield fw.unpack_dual(x).primal is x


def refusals(torch: Any, fw: Any) -> Any:
    """Some values cannot be primals, and some cannot be tangents."""
    x, t = _start(torch)
    whole = torch.tensor([1, 2, 3, 4])
    with fw.dual_level():
        for primal, tangent in ((x, whole), (whole, t), (x, t[:2]), (x, t.view(2, 2))):
            yield _said(lambda primal=primal, tangent=tangent: fw.make_dual(primal, tangent))
        d = fw.make_dual(x, t)
        yield _said(lambda: fw.make_dual(x[:1].expand(4), t))
        yield _said(lambda: fw.make_dual(d, t))
        yield _said(lambda: fw.make_dual(t, d))
        yield _said(lambda: torch.add(x, x, out=d))
        yield _said(lambda: torch.add(d, x, out=x))


def layouts(torch: Any, fw: Any) -> Any:
    """A tangent lies as its primal does: itself if it does so already, or else a copy."""
    x, t = _start(torch)
    with fw.dual_level():
        for primal, tangent in (
            (x.view(2, 2), t.view(2, 2)),
            (x.view(2, 2).t(), t.view(2, 2)),
            (x.view(2, 2), t.view(2, 2).t()),
            (x[1:], t[1:]),
            (x[1:3], t[:2]),
            (x[1:], t[1:].clone()),
            (x, t.double()),
        ):
            got = fw.unpack_dual(fw.make_dual(primal, tangent)).tangent
            yield got is tangent, _shown(got), len(got.storage())


def views(torch: Any, fw: Any) -> Any:
    """The tangent of a view is the same view of the tangent."""
    x, t = _start(torch)
    with fw.dual_level():
        d = fw.make_dual(x, t)
        yield d._base is x, d._is_view()
        for view in (
            d[1:],
            d.view(2, 2).t(),
            d.view(2, 2)[1],
            *d.split(3),
            *d.view(2, 2).unbind(1),
            d.expand(2, 4),
        ):
            tangent = fw.unpack_dual(view).tangent
            yield _shown(tangent), tangent.data_ptr() - t.data_ptr()
        d[1:].mul_(2)
        yield _shown(fw.unpack_dual(d).tangent), t.tolist(), x.tolist()
        d.view(2, 2).t()[0].fill_(7)
        yield _shown(fw.unpack_dual(d).tangent)
        yield fw.unpack_dual(x).tangent


def writes(torch: Any, fw: Any) -> Any:
    """A write updates the tangent in place; a write to a plain view makes its base dual."""
    x, t = _start(torch)
    with fw.dual_level():
        d = fw.make_dual(x.clone(), t.clone())
        for write in (
            lambda y: y.mul_(d),
            lambda y: y.add_(d, alpha=2),
            lambda y: y.copy_(d),
            lambda y: y.exp_(),
            lambda y: y.zero_(),
            lambda y: y.fill_(2),
            lambda y: y.div_(d),
            lambda y: y.pow_(2),
            lambda y: y.tanh_(),
            lambda y: y.masked_fill_(torch.tensor([True, False, True, False]), 2.0),
            lambda y: y.mul_(y),
            lambda y: y.sub_(y * 2),
        ):
            for dual in (True, False):
                y = fw.make_dual(x.clone(), t.clone()) if dual else x.clone()
                before = fw.unpack_dual(y).tangent
                write(y)
                after = fw.unpack_dual(y).tangent
                rounded = None if after is None else [round(v, 4) for v in after.tolist()]
                yield rounded, dual and after is before
        base = torch.zeros(2, 4)
        earlier = base[1]
        base[0].copy_(d)
        yield _shown(fw.unpack_dual(base).tangent), _shown(fw.unpack_dual(earlier).tangent)
        base = torch.zeros(4, 2)
        base.t()[1].add_(d)
        yield _shown(fw.unpack_dual(base).tangent)
        base[0] = 5.0
        yield _shown(fw.unpack_dual(base).tangent)
        base = torch.zeros(4)
        base.detach().add_(d)
        yield fw.unpack_dual(base).tangent


def before_the_level(torch: Any, fw: Any) -> Any:
    """Views that are older than the level take part."""
    x, t = _start(torch)
    base = torch.zeros(2, 4)
    row, column = base[1], base[:, 1]
    with fw.dual_level():
        d = fw.make_dual(x, t)
        row.copy_(d)
        yield _shown(fw.unpack_dual(base).tangent), _shown(fw.unpack_dual(column).tangent)
        yield _shown(fw.unpack_dual(row).tangent)


def cutting(torch: Any, fw: Any) -> Any:
    """detach drops tangents, grad modes do not, and backward goes through both parts."""
    x, t = _start(torch)
    x.requires_grad_()
    t.requires_grad_()
    with fw.dual_level():
        d = fw.make_dual(x, t)
        yield fw.unpack_dual(d.detach() * 2).tangent, _shown(fw.unpack_dual(d * 2).tangent)
        with torch.no_grad():
            yield _shown(fw.unpack_dual(d * 3).tangent)
        c = d.clone()
        c.detach_()
        yield fw.unpack_dual(c * 2).tangent
        primal, tangent = fw.unpack_dual(d * d)
        yield [_shown(g) for g in torch.autograd.grad(primal.sum(), (x, t), allow_unused=True)]
        yield [_shown(g) for g in torch.autograd.grad(tangent.sum(), (x, t))]
        with fw._set_fwd_grad_enabled(False):
            yield fw.unpack_dual(d * 2).tangent, fw._is_fwd_grad_enabled()
        yield fw._is_fwd_grad_enabled()


def over_backward(torch: Any, fw: Any) -> Any:
    """Gradients of duals are duals: a product with the Hessian."""
    x, t = _start(torch)
    x.requires_grad_()
    with fw.dual_level():
        d = fw.make_dual(x, t)
        (g,) = torch.autograd.grad((d * d * d).sum(), d, create_graph=True)
        yield _shown(fw.unpack_dual(g).tangent)


def casts(torch: Any, fw: Any) -> Any:
    """Casts and complex parts take tangents with them; integers and comparisons have none."""
    x, t = _start(torch)
    with fw.dual_level():
        d = fw.make_dual(x, t)
        yield _shown(fw.unpack_dual(d.double()).tangent)
        yield fw.unpack_dual(d.long()).tangent, fw.unpack_dual(d > 1).tangent
        yield _shown(fw.unpack_dual((d * 1j).imag).tangent)
        yield _shown(fw.unpack_dual((d * (1 + 2j)).abs().mul(0) + d).tangent)
        yield _shown(fw.unpack_dual(d.sign()).tangent)
        yield (
            _shown(fw.unpack_dual(torch.cat([x, d])).tangent),
            _shown(fw.unpack_dual(torch.stack([d, x])).tangent),
        )
        yield (
            _shown(fw.unpack_dual(d.sort(descending=True)[0]).tangent),
            _shown(fw.unpack_dual(d.max(0)[0]).tangent),
        )
        yield (
            _shown(fw.unpack_dual(d[torch.tensor([3, 0])]).tangent),
            _shown(fw.unpack_dual(d.cumsum(0)).tangent),
        )
        yield str(d), repr(fw.unpack_dual(d).primal)


def functions(torch: Any, fw: Any) -> Any:
    """Custom functions push tangents by their jvp, which is given zeros for tensors without."""
    notes: list[Any] = []

    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, factor: float, y: Any) -> Any:
            ctx.factor = factor
            ctx.save_for_forward(x, y)
            return x * y * factor, x > y

        @staticmethod
        def jvp(ctx: Any, t: Any, nothing: Any, u: Any) -> Any:
            x, y = ctx.saved_tensors
            notes.append((t.tolist(), nothing, u.tolist(), torch.is_grad_enabled()))
            return (t * y + x * u) * ctx.factor, None

    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, how: str) -> Any:
            ctx.how = how
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def jvp(ctx: Any, t: Any, _: Any) -> Any:
            return {"right": t.mul_, "new": t.mul, "other": lambda n: t.mul_(n).clone()}[ctx.how](2)

    class Without(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

    class Short(Without):
        @staticmethod
        def jvp(ctx: Any, t: Any) -> Any:
            return t, t

    x, t = _start(torch)
    with fw.dual_level():
        d = fw.make_dual(x.clone(), t.clone())
        made, larger = Scaled.apply(d, 2.0, x)
        yield _shown(fw.unpack_dual(made).tangent), fw.unpack_dual(larger).tangent
        yield notes
        for how in ("right", "new", "other"):
            y = d.clone()
            yield _said(lambda y=y, how=how: Doubled.apply(y, how)), _shown(fw.unpack_dual(y).tangent)
        yield _said(lambda: Without.apply(d)), _said(lambda: Short.apply(d)), _shown(Without.apply(x))


def inference(torch: Any, fw: Any) -> Any:
    """In inference mode, too."""
    with torch.inference_mode():
        x, t = _start(torch)
        with fw.dual_level():
            d = fw.make_dual(x, t)
            yield d._is_view(), _shown(fw.unpack_dual(d * d).tangent)
            d.add_(d)
            yield _shown(fw.unpack_dual(d).tangent), _shown(fw.unpack_dual(d[1:]).tangent)


def of_several_results(torch: Any, fw: Any) -> Any:
    """Functions that give several results at once, and one whose gradient is not differentiated again."""
    x, t = _start(torch)
    with fw.dual_level():
        d = fw.make_dual(x.reshape(2, 2), t.reshape(2, 2))
        yield [_shown(fw.unpack_dual(each).tangent) for each in torch.aminmax(d)]
        yield [_shown(fw.unpack_dual(each).tangent) for each in torch.var_mean(d, 1, correction=0)]
        yield [_shown(fw.unpack_dual(each).tangent) for each in torch.aminmax(d, dim=1, keepdim=True)]
        yield _shown(fw.unpack_dual(torch.nn.functional.hardsigmoid(d * 4 - 4) * 6).tangent.round())
        factors = torch.linalg.svdvals(d), torch.linalg.qr(d)[1].abs(), torch.logdet(-d).reshape(1)
        yield [(fw.unpack_dual(each).tangent * 1000).round().tolist() for each in factors]
    yield (torch.func.hessian(torch.logdet)(-x.reshape(2, 2)) * 1000).round().tolist()


def without_symmetry(torch: Any, fw: Any) -> Any:
    """Tangents that no symmetric matrix moves along, places named twice, ops that have none."""

    def thousandths(x: Any) -> Any:
        return (x * 1000).round().tolist()

    x = torch.tensor([[4.0, 1.0], [1.0, 3.0]], dtype=torch.float64)
    t = torch.tensor([[1.0, 2.0], [-1.0, 0.5]], dtype=torch.float64)
    with fw.dual_level():
        d = fw.make_dual(x, t)
        for upper in (False, True):
            yield thousandths(fw.unpack_dual(torch.linalg.cholesky(d, upper=upper)).tangent)
        values, vectors = torch.linalg.eigh(d)
        yield thousandths(fw.unpack_dual(values).tangent)
        yield thousandths(fw.unpack_dual(vectors @ torch.diag(values) ** 2 @ vectors.mT).tangent)
        yield thousandths(fw.unpack_dual(torch.logcumsumexp(d, 0)).tangent)
        places = torch.tensor([[[1, 1], [0, 2]]])
        yield _shown(fw.unpack_dual(torch.nn.functional.max_unpool1d(d.unsqueeze(0), places, 2)).tangent)
        yield _said(lambda: torch.cholesky(d))
        yield _said(lambda: d.index_reduce(0, torch.tensor([0, 0]), d, "amax"))
    yield thousandths(torch.func.jvp(lambda a: torch.logcumsumexp(a, 0), (x,), (t,))[1])


ALL = (
    levels, refusals, layouts, views, writes, before_the_level, cutting, over_backward, casts, functions,
    inference, of_several_results, without_symmetry,
)  # fmt: skip
