"""Grad modes as decorators and as objects, and what is seldom asked of tensors."""

import warnings

import torch

from specs.cases._measures import derivatives, refusal_kinds


class _Kept:
    """Remembers the mode that it was made in."""

    def __init__(self):
        self.enabled = torch.is_grad_enabled()

    def now(self):
        return torch.is_grad_enabled()


def classes_are_made_in_the_mode_that_decorates_them():
    """Their methods run outside it. Rules: op/derivatives-beyond-programs, mode/decorator."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        decorated = torch.no_grad()(type("Decorated", (_Kept,), {"__init__": _Kept.__init__}))
    assert [each.category.__name__ for each in seen] == ["FutureWarning"]
    made = decorated()
    assert [made.enabled, made.now(), torch.is_grad_enabled()] == [False, True, True]
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    assert derivatives(x.softmax(0), x) == [[-0.19661, 0.19661], [0.07145, -0.07145], [-0.15463, 0.15463]]


def modes_are_cloned_as_they_were_set():
    """The clone has not been entered. Rules: op/derivatives-beyond-programs, mode/set-grad-enabled."""
    off = torch.set_grad_enabled(False)
    again = off.clone()
    inside = torch.is_grad_enabled()
    torch.set_grad_enabled(True)
    with again:
        within = torch.is_grad_enabled()
    assert [inside, within, torch.is_grad_enabled()] == [False, False, False]
    torch.set_grad_enabled(True)
    with torch.no_grad().clone():
        assert not torch.is_grad_enabled()
    with torch.no_grad(), torch.enable_grad().clone():
        assert torch.is_grad_enabled()
    with torch.inference_mode(False).clone():
        assert not torch.is_inference_mode_enabled()
    with torch.inference_mode().clone():
        assert torch.is_inference_mode_enabled()
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    assert derivatives(x.softmax(0), x) == [[-0.19661, 0.19661], [0.07145, -0.07145], [-0.15463, 0.15463]]


def attributes_of_autograd_are_not_deleted():
    """They are assigned what they can hold alone.

    Rules: op/derivatives-beyond-programs, requires_grad/must-be-bool, requires_grad/only-leaf-flags-assigned.
    """
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    assert derivatives(x.softmax(0), x) == [[-0.19661, 0.19661], [0.07145, -0.07145], [-0.15463, 0.15463]]
    assert (
        refusal_kinds(
            [
                lambda: delattr(x, "requires_grad"),
                lambda: delattr(x, "data"),
                lambda: delattr(x, "_backward_hooks"),
                lambda: delattr(x, "grad_fn"),
                lambda: setattr(x, "grad_fn", None),
                lambda: setattr(x, "is_leaf", True),
                lambda: setattr(x, "_version", 1),
                lambda: setattr(x, "requires_grad", 1),
                lambda: setattr(x, "requires_grad", "yes"),
                lambda: setattr(x, "data", None),
                lambda: setattr(x, "data", 1.0),
                lambda: setattr(x, "grad", 1.0),
                lambda: setattr(x, "grad", x),
                lambda: setattr(x, "names", ("a",)),
                lambda: setattr(x * 2, "requires_grad", False),
                lambda: setattr(torch.tensor([1]), "requires_grad", True),
                lambda: setattr(x, "shape", (2,)),
                lambda: setattr(x, "dtype", torch.float64),
                lambda: setattr(x, "_base", x),
                lambda: setattr(x, "output_nr", 1),
            ]
        )
        == "oooAAAAooTTTo-ooAAAA"
    )
    assert x.is_same_size(torch.zeros(2))
    assert not x.is_same_size(torch.zeros(1))
