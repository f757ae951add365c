"""Forward mode: what is refused."""

import torch

from specs.case import refused
from specs.cases._functions import Double


def dual_tensors_are_made_once():
    """A dual tensor has its tangent already. Rule: forward/one-tangent-each."""
    x = torch.tensor([1.0, 2.0])
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(x, torch.tensor([1.0, 1.0]))
        with refused("forward/one-tangent-each"):
            torch.autograd.forward_ad.make_dual(dual, x)
        torch.autograd.forward_ad.make_dual(x, x)


def custom_functions_need_a_jvp_for_tangents():
    """Without tangents they need none. Rule: forward/function-needs-a-jvp."""
    x = torch.tensor([1.0, 2.0])
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(x, x)
        with refused("forward/function-needs-a-jvp"):
            Double.apply(dual)
        assert Double.apply(x).tolist() == [2.0, 4.0]
