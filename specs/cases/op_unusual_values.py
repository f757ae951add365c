"""Rarely used weights, names and spellings of ops."""

import collections
import importlib
import warnings

import torch

from specs.cases._measures import derivatives, graded, refusal_kinds


class _Kept(torch.autograd.function.InplaceFunction):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2


def covariances_with_weights():
    """Frequencies, weights and corrections. Rule: op/derivatives-beyond-programs."""
    x = torch.tensor([[1.0, 2.0, 4.0], [0.0, -1.0, 3.0]], dtype=torch.float64, requires_grad=True)
    assert derivatives(torch.cov(x), x) == [
        [-3.0, -4.5, 7.5, -6.0, -7.5, 13.5],
        [-36.0, -46.5, 82.5, -63.0, -82.5, 145.5],
        [36.0, 60.0, 60.0, 96.0],
    ]
    times, shares = torch.tensor([1, 2, 1]), torch.tensor([0.5, 0.25, 0.25], dtype=torch.float64)
    assert derivatives(torch.cov(x, correction=0, aweights=shares), x) == [
        [-2.25, -1.875, 4.125, -4.5, -3.0, 7.5],
        [-20.25, -6.0, 26.25, -35.4375, -10.78125, 46.21875],
        [12.75, 19.6875, 19.6875, 27.75],
    ]
    assert derivatives(torch.cov(x, aweights=shares), x) == [
        [-3.6, -3.0, 6.6, -7.2, -4.8, 12.0],
        [-51.84, -15.36, 67.2, -90.72, -27.6, 118.32],
        [32.64, 50.4, 50.4, 71.04],
    ]
    assert derivatives(torch.cov(x, fweights=times, aweights=shares), x) == [
        [-1.66667, -3.33333, 5.0, -3.66667, -5.33333, 9.0],
        [-11.85185, -24.81481, 36.66667, -20.2963, -44.37037, 64.66667],
        [14.81481, 26.66667, 26.66667, 43.85185],
    ]
    assert derivatives(torch.cov(x, correction=2, fweights=times), x) == [
        [-1.875, -6.75, 8.625, -4.125, -11.25, 15.375],
        [-6.9375, -104.625, 111.5625, -11.4375, -185.625, 197.0625],
        [41.625, 78.75, 78.75, 142.875],
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert torch.cov(x.detach(), correction=3).isinf().tolist() == [[True, True], [True, True]]
    c = torch.complex(x, x.flip(1))
    assert derivatives(torch.view_as_real(torch.corrcoef(c)), x) == [
        [1.07824, -1.61735, 0.53912, -1.16118, 0.87088, 0.29029],
        [-2.44443, 7.73571, -5.29129, 5.47359, -3.00967, -2.46392],
        [0.0, 0.0, 1.56503, 0.0, 1.56503, 0.0, 0.0, 0.0],
    ]
    assert derivatives(torch.view_as_real(torch.cov(c, aweights=shares)), x) == [
        [-9.4, -13.2, 22.6, -25.0, -22.8, 47.8],
        [-494.88, -404.96, 899.84, -1034.72, -751.84, 1786.56],
        [234.96, 0.0, 425.76, 17.36, 425.76, -17.36, 685.68, 0.0],
    ]


def older_names_of_linear_algebra():
    """The derivatives under older names. Rule: op/derivatives-beyond-programs."""
    a = torch.tensor([[4.0, 1.0], [1.0, 3.0]], dtype=torch.float64, requires_grad=True)
    w = torch.tensor([[1.0, 2.0], [0.5, -1.0]], dtype=torch.float64, requires_grad=True)
    assert derivatives(torch.triangular_solve(w, a)[1], a) == [[1.0, 2.0, 3.0, 4.0], [2.0, 4.0, 6.0, 8.0]]
    assert derivatives(sum(torch.triangular_solve(w, a)), a) == [
        [0.65625, 2.125, 3.0, 4.23611],
        [0.18103, -0.39402, 0.0, -1.497],
        [1.18473, 4.17742, 5.52932, 9.41358],
    ]
    assert derivatives(torch.frobenius_norm(a, dim=(0, 1)), a) == [
        [0.7698, 0.19245, 0.19245, 0.57735],
        [0.0, 0.0, 0.0, 0.0],
        [2.0],
    ]
    assert derivatives(torch.frobenius_norm(a, (1,), True), a) == [
        [0.97014, 0.24254, 0.63246, 1.89737],
        [0.0, 0.0, 0.0, 0.0],
        [2.0, 4.0],
    ]
    assert torch.autograd.grad(torch.linalg.slogdet(a)[0], a, allow_unused=True) == (None,)
    assert torch.conj_physical(a) is a
    assert derivatives(torch.lu_unpack(*torch.linalg.lu_factor(a))[1], a) == [
        [-0.1875, 0.0, 0.75, 0.0],
        [-0.31641, 0.0, 0.07031, 0.0],
        [0.0, 0.0, 0.39844, 0.0],
    ]
    assert [x.numel() for x in torch.lu_unpack(*torch.linalg.lu_factor(a), unpack_data=False)] == [4, 0, 0]


def results_that_are_rarely_asked_for():
    """Empty arrays, indices without numbers and sequences of arrays. Rule: op/derivatives-beyond-programs."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    assert derivatives(x.softmax(0), x) == [[-0.19661, 0.19661], [0.07145, -0.07145], [-0.15463, 0.15463]]
    assert torch.empty(0, 3).numpy().shape == (0, 3)
    assert torch.tensor(3.0).cummax(0)[1].item() == 0
    assert torch.tensor([torch.ones(2).numpy(), torch.zeros(2).numpy()]).tolist() == [[1.0, 1.0], [0.0, 0.0]]
    assert torch.tensor([torch.ones(2).numpy()[0], 2]).dtype is torch.float32
    assert torch.tensor([1.0, 2.0], dtype=torch.bfloat16).argsort(descending=True).tolist() == [1, 0]
    assert torch.tensor([1j]).to(torch.complex64).long().tolist() == [0]
    assert x.type(torch.float64).dtype is torch.float64
    assert x.double(memory_format=torch.preserve_format).dtype is torch.float64
    assert torch.tensor([0.0, 1.0]).multinomial(1).tolist() == [1]
    assert refusal_kinds([
        lambda: torch.tensor([torch.ones(2)]), lambda: torch.tensor([1, "a"]), lambda: torch.tensor(["a"]),
        lambda: torch.tensor([[1], 2]), lambda: torch.tensor([object()]), lambda: torch.tensor({1: 2}),
        lambda: torch.from_numpy(torch.ones(2).numpy().astype("U1")), lambda: torch.from_numpy([1.0]),
        lambda: torch.set_default_tensor_type(torch.LongTensor),
        lambda: x.to(torch.LongTensor),
        lambda: torch.set_default_tensor_type(3), lambda: torch.FloatTensor(1.5, 2.5),
        lambda: torch.Tensor("a"),
        lambda: torch.Tensor(size=(2,)),
        lambda: torch.LongTensor([1.5]),
    ]) == 'VTVTooTTTTTTT--'  # fmt: skip


def older_bases_of_functions():
    """Functions that change their input, and those that resize. Rule: op/derivatives-beyond-programs."""
    x = torch.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    assert derivatives(x.softmax(0), x) == [
        [-0.07991, -0.13008, -0.1167, 0.32669],
        [0.03054, 0.05272, -0.00142, -0.08185],
        [-0.01595, -0.05209, -0.13527, 0.20331],
    ]
    assert graded(_Kept.apply(x).sum(), x) == [(), 20.0, 20.0]
    assert (_Kept(True).inplace, _Kept().inplace) == (True, False)
    resize = importlib.import_module(f"{torch.autograd.__name__}._functions").Resize
    resized = resize.apply(x, (2, 2))
    assert graded((resized * torch.tensor([[1.0, 2.0], [3.0, 4.0]])).sum(), x) == [(), 30.0, 30.0]
    assert refusal_kinds([
        lambda: resize.apply(x, (3, 2)), lambda: _Kept.apply(x, other=1),
        lambda: _Kept.apply(),
    ]) == 'oTT'  # fmt: skip
    twice = torch.autograd.set_multithreading_enabled(False).clone()
    twice.__exit__(None, None, None)
    torch.autograd.set_multithreading_enabled(True)


def hooks_and_volatile_tensors_of_old():
    """Hooks put in the place of others are called for leaves alone. Rule: op/derivatives-beyond-programs."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    assert derivatives(x.softmax(0), x) == [[-0.19661, 0.19661], [0.07145, -0.07145], [-0.15463, 0.15463]]
    y = x * 2
    y._backward_hooks = collections.OrderedDict({0: lambda g: g * 5})
    x._backward_hooks = collections.OrderedDict({0: lambda g: g * 7})
    assert graded(y.sum(), x) == [(), 6.0, 42.0]
    y.sum().backward()
    assert x.grad.tolist() == [14.0, 14.0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert x.volatile is False
        assert torch.autograd.Variable(x, volatile=True).requires_grad is False
        assert torch.autograd.Variable(x, requires_grad=True).is_leaf is True


def modes_remember_what_they_left_last():
    """Objects that are entered twice, or never. Rule: op/derivatives-beyond-programs."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    assert derivatives(x.softmax(0), x) == [[-0.19661, 0.19661], [0.07145, -0.07145], [-0.15463, 0.15463]]
    off, on, tagged = torch.no_grad(), torch.enable_grad(), torch.inference_mode()
    with off:
        with off:
            assert torch.is_grad_enabled() is False
        inside = torch.is_grad_enabled()
    assert (inside, torch.is_grad_enabled()) == (False, False)
    with on:
        with on:
            assert torch.is_grad_enabled() is True
        inside = torch.is_grad_enabled()
    assert (inside, torch.is_grad_enabled()) == (True, True)
    with torch.inference_mode(False):
        with tagged:
            with tagged:
                inside = torch.is_inference_mode_enabled()
            after = torch.is_inference_mode_enabled()
        last = torch.is_inference_mode_enabled()
    assert (inside, after, last, torch.is_grad_enabled()) == (False, True, True, True)
    turned = torch.set_grad_enabled(True)
    torch.set_grad_enabled(False)
    turned.__exit__(None, None, None)
    assert (torch.is_grad_enabled(), turned.prev) == (True, True)
    told = torch.autograd.set_multithreading_enabled(False)(lambda: torch.is_grad_enabled())
    assert told() is True
    assert refusal_kinds([
        lambda: torch.no_grad().__exit__(None, None, None),
        lambda: torch.enable_grad().__exit__(None, None, None),
        lambda: torch.inference_mode().__exit__(None, None, None),
        lambda: torch.set_grad_enabled(True).__exit__(None, None, None),
        lambda: torch.autograd.set_multithreading_enabled(True).clone().__exit__(None, None, None),
    ]) == '-AA--'  # fmt: skip
    torch.set_grad_enabled(True)


def parts_of_complex_numbers_are_assigned():
    """The real or imaginary parts are written to in place. Rule: op/derivatives-beyond-programs."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    assert derivatives(x.softmax(0), x) == [[-0.19661, 0.19661], [0.07145, -0.07145], [-0.15463, 0.15463]]
    c = torch.tensor([1.0 + 1j, 2.0])
    c.real = torch.tensor([5.0, 6.0])
    c.imag = 3
    assert (c.tolist(), c._version) == ([(5 + 3j), (6 + 3j)], 2)
    part = x * 2
    c.real = part
    assert c.grad_fn.name() == "torch::autograd::CopySlices"
    assert graded(torch.view_as_real(c).double(), x) == [(2, 2), 32.0, 14.0]
    plain = torch.zeros(2)
    plain.real = part
    assert (plain.grad_fn.name(), plain._version) == ("torch::autograd::CopyBackwards", 1)
    assert graded(plain.double(), x) == [(2,), 10.0, 10.0]
    assert refusal_kinds([
        lambda: setattr(c, "real", None), lambda: setattr(c, "imag", [1.0, 2.0]),
        lambda: setattr(c, "real", 1j),
        lambda: setattr(c, "imag", torch.ones(3)), lambda: setattr(x, "real", part),
        lambda: setattr(c, "imag", True),
    ]) == 'TTooo-'  # fmt: skip


def classes_of_nodes_have_their_names():
    """Names of classes are those of nodes. Rule: op/derivatives-beyond-programs."""
    x = torch.tensor([[1.0, 2.0]], requires_grad=True)
    assert derivatives(x.softmax(1), x) == [[-0.19661, 0.19661], [0.07145, -0.07145], [-0.15463, 0.15463]]
    y = x * 1
    y.t_()
    assert (type(y.grad_fn).__name__, y.grad_fn.name()) == ("TBackward1", "TBackward1")
    y.squeeze_(1)
    assert (type(y.grad_fn).__name__, y.grad_fn.name()) == ("SqueezeBackward4", "SqueezeBackward4")
    y.unsqueeze_(0)
    assert (type(y.grad_fn).__name__, y.grad_fn.name()) == ("UnsqueezeBackward1", "UnsqueezeBackward1")
    z = torch.zeros(1, 2).copy_(x)
    assert (type(z.grad_fn).__name__, z.grad_fn.name()) == ("CopyBackwards", "torch::autograd::CopyBackwards")
    z.set_(torch.ones(2))
    assert (type(z.grad_fn).__name__, z.grad_fn.name()) == (
        "NotImplemented",
        "torch::autograd::NotImplemented",
    )
    u = x.unique()
    assert (type(u.grad_fn).__name__, u.grad_fn.name()) == ("Unique2Backward0", "Unique2Backward0")
    q = x.quantile(0.5)
    assert (type(q.grad_fn).__name__, q.grad_fn.name()) == ("SqueezeBackward4", "SqueezeBackward4")


def autocast_remembers_what_it_left_last():
    """An object that is entered twice leaves its mode on. Rule: op/derivatives-beyond-programs."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    assert derivatives(x.softmax(0), x) == [[-0.19661, 0.19661], [0.07145, -0.07145], [-0.15463, 0.15463]]
    cast = torch.autocast("cpu")
    with torch.autocast("cpu", enabled=False):
        with cast:
            with cast:
                inside = torch.is_autocast_enabled("cpu")
            after = torch.is_autocast_enabled("cpu")
        last = torch.is_autocast_enabled("cpu")
    assert (inside, after, last, torch.is_autocast_enabled("cpu")) == (True, True, True, False)
    assert (1 << torch.tensor([1, 2])).tolist() == [2, 4]
    assert (8 >> torch.tensor([1, 2])).tolist() == [4, 2]
    assert [getattr(x, name) for name in ("is_xpu", "is_mps", "is_ipu", "is_vulkan", "is_maia", "name")] == [
        False,
        False,
        False,
        False,
        False,
        None,
    ]


def generators_begin_alike():
    """Those that nobody has seeded give the same. Rule: op/derivatives-beyond-programs."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    assert derivatives(x.softmax(0), x) == [[-0.19661, 0.19661], [0.07145, -0.07145], [-0.15463, 0.15463]]
    first, second = torch.Generator(), torch.Generator("cpu")
    assert (first.initial_seed(), second.initial_seed(), str(first.device)) == (
        67280421310721,
        67280421310721,
        "cpu",
    )
    assert torch.equal(torch.rand(3, generator=first), torch.rand(3, generator=second))
    third = first.clone_state()
    assert torch.equal(torch.rand(3, generator=first), torch.rand(3, generator=third))
    assert refusal_kinds([
        lambda: first.set_state(torch.ones(3)), lambda: first.set_state(torch.ones(3, dtype=torch.uint8)),
        lambda: first.set_state(3), lambda: torch.rand(2, generator=3),
        lambda: setattr(first, "device", "cpu"),
        lambda: torch.set_rng_state(torch.ones(2)), lambda: torch.set_default_dtype("float32"),
    ]) == 'ToTTATT'  # fmt: skip


def jacobians_in_forward_mode_keep_the_history_of_tangents():
    """Tangents may depend on the inputs. Rule: op/derivatives-beyond-programs."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    assert derivatives(x.softmax(0), x) == [[-0.19661, 0.19661], [0.07145, -0.07145], [-0.15463, 0.15463]]
    forward = {"vectorize": True, "strategy": "forward-mode"}
    jacobian = torch.autograd.functional.jacobian(lambda v: v**3, x, **forward)
    assert jacobian.requires_grad is True
    assert graded(jacobian.double(), x) == [(2, 2), 51.0, 102.0]
    assert torch.autograd.functional.jacobian(lambda v: v**3, x, vectorize=True).requires_grad is False
    assert torch.autograd.functional.jacobian(lambda v: v**3, x.detach(), **forward).requires_grad == False
    scaled = torch.autograd.functional.jacobian(lambda v: x * v**2, x.detach(), **forward)
    assert graded(scaled.double(), x) == [(2, 2), 34.0, 34.0]
    assert refusal_kinds([
        lambda: x.sum().backward(retain_graph="a"),
        lambda: torch.autograd.grad(x.sum(), x, retain_graph=0.5),
        lambda: x.sum().backward(retain_graph=1),
    ]) == 'TT-'  # fmt: skip
