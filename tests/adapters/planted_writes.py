"""Bugs of everyday kinds planted in real torch: in writes, views, copies and versions."""

from __future__ import annotations

from typing import Any

import torch
from planting import WRITES, Wrapper, around, breaks_one_of


def writing(write: Wrapper) -> None:
    """Change all in-place ops that bugs are planted in."""
    for name in WRITES:
        around(torch.Tensor, name, write)


@breaks_one_of("version/write-bumps")
def writes_under_no_grad_are_not_counted() -> None:
    def write(own: Wrapper, x: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        if torch.is_grad_enabled():
            return own(x, *args, **kwargs)
        with torch.autograd._unsafe_preserve_version_counter(x):
            return own(x, *args, **kwargs)

    writing(write)


@breaks_one_of("write/view-of-leaf-refused")
def writes_to_views_of_leaves_allowed() -> None:
    def write(own: Wrapper, x: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        of_a_leaf = x._is_view() and x._base.is_leaf and x._base.requires_grad
        if of_a_leaf and torch.is_grad_enabled():
            with torch.no_grad():
                own(x, *args, **kwargs)
            return x
        return own(x, *args, **kwargs)

    writing(write)


@breaks_one_of("write/returns-its-tensor")
def writes_return_a_copy() -> None:
    writing(lambda own, x, *args, **kwargs: own(x, *args, **kwargs).clone())


@breaks_one_of("write/copy-passes-gradient")
def copying_in_cuts_the_source() -> None:
    def copy(own: Wrapper, x: torch.Tensor, source: Any, *args: Any, **kwargs: Any) -> Any:
        return own(x, source.detach() if isinstance(source, torch.Tensor) else source, *args, **kwargs)

    around(torch.Tensor, "copy_", copy)


@breaks_one_of("write/cuts-what-it-overwrites", "write/history-becomes-the-write")
def filling_cuts_the_history() -> None:
    def fill(own: Wrapper, x: torch.Tensor, *args: Any) -> torch.Tensor:
        if x.is_leaf or x._is_view() or not torch.is_grad_enabled():
            return own(x, *args)
        x.detach_()
        return own(x, *args).requires_grad_()

    for name in ("zero_", "fill_"):
        around(torch.Tensor, name, fill)


@breaks_one_of("write/result-dtype")
def writes_cast_their_result() -> None:
    def write(own: Wrapper, x: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        try:
            return own(x, *args, **kwargs)
        except RuntimeError as error:
            if "can't be cast to the desired output type" not in str(error):
                raise
        return own(x, *(y.to(x.dtype) if isinstance(y, torch.Tensor) else int(y) for y in args), **kwargs)

    writing(write)


@breaks_one_of("view/reshape-copies-when-it-must")
def reshape_always_copies() -> None:
    def reshape(own: Wrapper, x: torch.Tensor, *shape: Any) -> torch.Tensor:
        return own(x, *shape).clone()

    around(torch.Tensor, "reshape", reshape)


@breaks_one_of("view/shares-storage")
def expand_copies() -> None:
    around(torch.Tensor, "expand", lambda own, x, *shape: own(x, *shape).clone())


@breaks_one_of("view/outputs-share-a-node")
def unbind_gives_views_of_their_own() -> None:
    def unbind(own: Wrapper, x: torch.Tensor, dim: int = 0) -> Any:
        return tuple(x.select(dim, at) for at in range(len(own(x, dim))))

    around(torch.Tensor, "unbind", unbind)


@breaks_one_of("leaf/op-result-is-no-leaf")
def clones_of_leaves_are_leaves() -> None:
    def clone(own: Wrapper, x: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
        if x.is_leaf and x.requires_grad and torch.is_grad_enabled() and not x._is_view():
            return own(x.detach(), *args, **kwargs).requires_grad_()
        return own(x, *args, **kwargs)

    around(torch.Tensor, "clone", clone)


@breaks_one_of("copy/clone-shares-nothing")
def clones_share_memory() -> None:
    def clone(own: Wrapper, x: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
        copied = own(x, *args, **kwargs)
        if not x.is_inference() and not x._is_view():
            copied.data = x.data
        return copied

    around(torch.Tensor, "clone", clone)


@breaks_one_of("version/data-has-its-own")
def data_shares_the_counter() -> None:
    own = torch.Tensor.data
    torch.Tensor.data = property(lambda x: x.detach(), own.__set__)


@breaks_one_of("data/cuts")
def data_is_a_copy() -> None:
    own = torch.Tensor.data
    torch.Tensor.data = property(lambda x: own.__get__(x).clone(), own.__set__)


@breaks_one_of("detach/keeps-version")
def detaching_in_place_counts() -> None:
    def detach(own: Wrapper, x: torch.Tensor) -> torch.Tensor:
        detached = own(x)
        if not x.is_inference():
            torch.autograd.graph.increment_version(x)
        return detached

    around(torch.Tensor, "detach_", detach)


@breaks_one_of("detach/in-place-makes-a-leaf")
def detaching_in_place_keeps_the_flag() -> None:
    def detach(own: Wrapper, x: torch.Tensor) -> torch.Tensor:
        needs = x.requires_grad
        detached = own(x)
        return detached.requires_grad_() if needs and not x.is_inference() else detached

    around(torch.Tensor, "detach_", detach)


@breaks_one_of("version/increment-counts")
def counting_by_hand_does_nothing() -> None:
    around(torch.autograd.graph, "increment_version", lambda own, x: None)


@breaks_one_of("copy/tensor-copies")
def tensors_of_tensors_keep_their_history() -> None:
    def tensor(own: Wrapper, data: Any, **kwargs: Any) -> torch.Tensor:
        if isinstance(data, torch.Tensor) and data.requires_grad and not kwargs:
            return data.clone()
        return own(data, **kwargs)

    around(torch, "tensor", tensor)


@breaks_one_of("copy/numpy-shares")
def numpy_gives_a_copy() -> None:
    around(torch.Tensor, "numpy", lambda own, x, *args, **kwargs: own(x, *args, **kwargs).copy())


@breaks_one_of("copy/numpy-refused-with-grad")
def numpy_detaches() -> None:
    around(torch.Tensor, "numpy", lambda own, x, *args, **kwargs: own(x.detach(), *args, **kwargs))


@breaks_one_of("copy/from-numpy-shares")
def arrays_are_copied() -> None:
    around(torch, "from_numpy", lambda own, array: own(array).clone())


@breaks_one_of("copy/nothing-to-do-is-itself")
def casts_always_copy() -> None:
    around(torch.Tensor, "to", lambda own, x, *args, **kwargs: own(x, *args, **kwargs).clone())
    around(torch.Tensor, "float", lambda own, x, *args, **kwargs: own(x, *args, **kwargs).clone())


@breaks_one_of("copy/nothing-to-do-is-itself")
def contiguous_always_copies() -> None:
    around(torch.Tensor, "contiguous", lambda own, x, **kwargs: own(x, **kwargs).clone())


@breaks_one_of("copy/as-tensor-is-itself")
def as_tensor_detaches() -> None:
    def as_tensor(own: Wrapper, data: Any, *args: Any, **kwargs: Any) -> torch.Tensor:
        found = own(data, *args, **kwargs)
        return found.detach() if found is data else found

    around(torch, "as_tensor", as_tensor)


@breaks_one_of("copy/deepcopy-of-a-result-refused")
def results_are_copied_deeply() -> None:
    def deepcopy(own: Wrapper, x: torch.Tensor, memo: Any) -> torch.Tensor:
        return own(x, memo) if x.is_leaf else x.detach().clone().requires_grad_(x.requires_grad)

    around(torch.Tensor, "__deepcopy__", deepcopy)
