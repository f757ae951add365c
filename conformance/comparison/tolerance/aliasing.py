"""Alias analysis: the memory, history and grads that tensors of a program may share.

`dataflow` moves these along a program. Nothing is computed here: an object stands for
everything that the tensor, the memory or the node may be. Where it matters which of them comes first they are
the keys of a dict: a set has them in the order of their addresses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple


class Rounded(NamedTuple):
    """A rounding: the step and the name of its result, whether it is that of a gradient there, and whether
    what it was computed from was exact.
    """

    step: int
    name: str
    gradient: bool
    from_exact: bool = True


Roundings = int
"""The roundings that reached something: a bit for each by its number, and 0 where it is exact.

NB: in a long program hundreds reach everything, and sets of them take ten times as long.
"""

EXACT: Roundings = 0


def numbers_of(roundings: Roundings) -> Iterator[int]:
    """The numbers of the roundings, the least first."""
    while roundings:
        lowest = roundings & -roundings
        yield lowest.bit_length() - 1
        roundings ^= lowest


class AbstractMemory:
    """Some elements: the roundings that reached them, and the other memory that may be the same.

    `owner` is the tensor they were made for, which covers them all.
    """

    __slots__ = ("group", "level", "owner")

    def __init__(self, level: Roundings = EXACT) -> None:
        self.level = level
        self.group = Group(self)
        self.owner: AbstractTensor | None = None

    def write(self, level: Roundings, now: int) -> None:
        """Let roundings reach whatever this may be; `now` is the number of the next rounding."""
        group = self.group
        group.written = now
        if level & ~group.common:
            group.common |= level
            for each in group.members:
                each.level |= level

    def overwrite(self, level: Roundings) -> None:
        """Let these roundings, and no others, have reached this memory."""
        self.level = level
        self.group.common &= level

    def may_be(self, other: AbstractMemory) -> None:
        if other.group is not self.group:
            fewer, more = sorted((self.group, other.group), key=lambda group: len(group.members))
            more.join(fewer)


class Group:
    """Memory of which any may be any other; ``common`` are roundings that have reached all of it, ``written``
    says when any was written to last.

    In long programs a group has thousands of members, and what is written has mostly reached them before.
    """

    __slots__ = ("common", "members", "written")

    def __init__(self, first: AbstractMemory) -> None:
        self.members = [first]
        self.common = EXACT
        self.written = -1

    def everywhere(self) -> Roundings:
        """Return roundings that have reached all members."""
        return self.common if len(self.members) > 1 else self.members[0].level

    def join(self, other: Group) -> None:
        """Take in the members of another group."""
        self.common = self.everywhere() & other.everywhere()
        self.members += other.members
        self.written = max(self.written, other.written)
        for each in other.members:
            each.group = self


class AbstractNode:
    """A recorded step: its operands' nodes, and what its gradient depends on.

    `keeps` is the memory that its gradient reads, `operands` the tensors whose memory it reads, whatever that
    is by then, and `passed` what else it reads of both, if a run of the engine made it. `rounds` says that
    computing it rounds whatever comes in, `divides` that it does so by what it reads, and `hands_on` that it
    may pass on the very gradient it got.
    `rounding` is the number of what happens to an inexact gradient here; later nodes have higher ones.
    A `junction` is no step: it passes on to its parents what comes in, as its children would to each of them;
    it comes behind the step of its number.
    """

    __slots__ = (
        "divides", "families", "hands_on", "junction", "keeps", "operands", "parents", "passed", "place",
        "rounding", "rounds",
    )  # fmt: skip

    def __init__(self, rounding: int, junction: bool = False) -> None:
        self.rounding, self.junction = rounding, junction
        self.place = rounding + junction / 2
        self.parents: set[AbstractNode] = set()
        self.keeps: set[AbstractMemory] = set()
        self.operands: Tensors = {}
        self.passed: Passed | None = None
        self.families: list[Family] = []
        self.rounds = self.divides = False
        self.hands_on = True

    def is_inexact(self) -> bool:
        """Tell whether its gradient rounds by itself.

        A quotient is exact by the divisors that are drawn, but these may have been written to since, or have
        other data.
        """
        if self.rounds or not self.divides:
            return self.rounds
        for source in (self, self.passed):
            if source is not None:
                read = {*source.keeps, *memories_of(source.operands)}
                if len(read) > len(source.keeps) or any(m.group.written > self.rounding for m in read):
                    return True
        return False


class Passed:
    """The memory that nodes of one run of the engine read: each of its gradients was made from it."""

    __slots__ = ("keeps", "operands")

    def __init__(self, nodes: Iterable[AbstractNode]) -> None:
        self.keeps: set[AbstractMemory] = set()
        self.operands: Tensors = {}
        for each in dict.fromkeys(source for node in nodes for source in (node, node.passed)):
            if each is not None:
                self.keeps |= each.keeps
                self.operands |= each.operands


class Family:
    """A tensor and its differentiable views: they share a history, and gradients reach them together."""

    __slots__ = ("node", "tensors")

    def __init__(self, node: AbstractNode) -> None:
        self.tensors: list[AbstractTensor] = []
        self.node = node
        node.families.append(self)

    def extend(self, node: AbstractNode) -> None:
        """Let `node` be what all of them were made by, since it wrote to one."""
        self.node = node
        node.families.append(self)
        for tensor in self.tensors:
            tensor.made = True


class AbstractTensor:
    """The tensor that a name is bound to: its memory, its families, its grads.

    `made` is false on a leaf. What `passes_on` gradients keeps none: it was seen to be no leaf and to retain
    none, or it is a grad that no step has named.
    """

    __slots__ = ("families", "grads", "made", "memory", "passes_on")

    def __init__(self, memory: Iterable[AbstractMemory], families: Iterable[Family], made: bool) -> None:
        self.memory, self.made = dict.fromkeys(memory), made
        self.passes_on = False
        self.families: dict[Family, None] = {}
        self.grads: Tensors = {}
        self.join(families)

    def join(self, families: Iterable[Family]) -> None:
        """Be of these families too."""
        for family in families:
            if family not in self.families:
                self.families[family] = None
                family.tensors.append(self)


Memories = dict[AbstractMemory, None]
Tensors = dict[AbstractTensor, None]


def memories_of(tensors: Iterable[AbstractTensor]) -> Memories:
    return {memory: None for tensor in tensors for memory in tensor.memory}


def nodes_of(tensors: Iterable[AbstractTensor]) -> set[AbstractNode]:
    return {family.node for tensor in tensors for family in tensor.families}


def families_of(tensors: Iterable[AbstractTensor]) -> dict[Family, None]:
    return {family: None for tensor in tensors for family in tensor.families}


def grads_of(tensors: Iterable[AbstractTensor]) -> Tensors:
    return {grad: None for tensor in tensors for grad in tensor.grads}


def level_of(memory: Iterable[AbstractMemory]) -> Roundings:
    level = EXACT
    for each in memory:
        level |= each.level
    return level


def sharing(tensors: Iterable[AbstractTensor], memory: Iterable[AbstractMemory]) -> Tensors:
    """Those of the tensors whose memory may be the given one."""
    groups = {each.group for each in memory}
    return {tensor: None for tensor in tensors if any(each.group in groups for each in tensor.memory)}


class Arrival:
    """A gradient that arrived: what reached it on its way, and the memory that it may still be in.

    `roundings` are the numbers of what happens where it arrived to a gradient that is not exact.
    """

    __slots__ = ("carriers", "level", "roundings")

    def __init__(self) -> None:
        self.level: Roundings = EXACT
        self.carriers: set[AbstractMemory] = set()
        self.roundings: Roundings = EXACT

    def add(self, level: Roundings, carriers: set[AbstractMemory], roundings: Roundings = EXACT) -> bool:
        """Add to what arrived; whether anything of it is new."""
        if not (level & ~self.level or roundings & ~self.roundings) and carriers <= self.carriers:
            return False
        self.level |= level
        self.carriers |= carriers
        self.roundings |= roundings
        return True

    def onto(self, old: Roundings) -> Roundings:
        """Return the roundings that reach the sum of it and an old gradient."""
        level = self.level | old
        return level | self.roundings if level else level


def carry(
    roots: set[AbstractNode], seeds: Tensors, rounding: Roundings, wanted: Tensors
) -> tuple[list[AbstractNode], dict[AbstractTensor, Arrival], Roundings]:
    """The nodes that a run of the engine may pass, last first, what it brings to those of their tensors that
    may keep it or are ``wanted``, and the roundings that reach any of them.

    `rounding` comes with what is not exact, whatever it was that rounded.
    """
    reached, stack = set(roots), list(roots)
    while stack:
        more = stack.pop().parents - reached
        reached |= more
        stack += more
    order = sorted(reached, key=lambda node: node.place, reverse=True)
    at = {node: Arrival() for node in order}
    found: dict[AbstractTensor, Arrival] = {}
    start, fresh = {*memories_of(seeds)}, {node: {AbstractMemory()} for node in order if not node.hands_on}
    for root in roots:
        at[root].add(level_of(start), start or {AbstractMemory()})
    keeping = {
        node: [
            tensor
            for tensor in dict.fromkeys(tensor for family in node.families for tensor in family.tensors)
            if tensor in wanted or not tensor.passes_on
        ]
        for node in order
    }
    kept: dict[Passed | None, Roundings] = {None: EXACT}
    inexact = {node for node in order if node.is_inexact()}
    again = True
    while again:
        again = False
        for node in order:
            here, own = at[node], 1 << node.rounding
            for tensor in keeping[node]:
                found.setdefault(tensor, Arrival()).add(here.level, here.carriers, own)
            onward = here.level | level_of(node.keeps) | level_of(memories_of(node.operands))
            passed = node.passed
            if passed is not None and passed not in kept:
                kept[passed] = level_of(passed.keeps) | level_of(memories_of(passed.operands))
            onward |= kept[passed]
            if (onward or node in inexact) and not node.junction:
                onward |= own | rounding
            for parent in node.parents:
                new = at[parent].add(onward, fresh.get(node) or here.carriers)
                # One node stands for many gradients in a crowd, and those may lie behind each other.
                again |= new and parent.place >= node.place
    everything = EXACT
    for node, here in at.items():
        if here.level and node.families:
            everything |= here.level | 1 << node.rounding
    return order, found, everything
