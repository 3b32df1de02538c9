"""Which patterns of irregular parallel code there are: what threads do over a graph, and mistakes.

The axes are those of the Indigo suite (Liu, Azami, Walters and Burtscher, "The Indigo
Program-Verification Microbenchmark Suite of Irregular Parallel Code Patterns", ISPASS 2022), as
published with HiRace (Jacobson, Burtscher and Gopalakrishnan, SC 2024): 590 combinations. Nothing
of the suite's code is here. ``SCOPED`` are some more, whose atomic operations are of a scope.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Work = Literal[
    "conditional_edge",
    "conditional_vertex",
    "pull",
    "push",
    "populate_worklist",
    "path_compression",
]
Mapping = Literal["neighbor", "neighbors", "neighbors_warp", "neighbors_block", ""]
Carry = Literal["", "tree", "shuffle"]
"""How threads of a block combine what each has: in workgroup memory, or in warps first."""

RACES = ("plain_update", "plain_guard", "plain_walk", "missing_barrier", "block_scope")
"""Mistakes that are races; ``no_bound`` is none."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """What threads do.

    ``mapping``: whether a thread, a warp or a block has a node, and looks at one neighbour or all.
    ``is_last``: at the last one, not the first, or from the last to the first. ``stops``: at the
    first neighbour that does it. ``is_conditional``: only at neighbours of higher numbers.
    ``is_persistent``: threads take several nodes. ``traverses``: paths are read, not shortened.
    ``is_scoped``: atomic operations are of the scope of the block.
    """

    work: Work
    mapping: Mapping
    is_last: bool = False
    stops: bool = False
    is_conditional: bool = False
    is_persistent: bool = False
    traverses: bool = False
    carry: Carry = ""
    is_scoped: bool = False
    mistakes: tuple[str, ...] = ()

    @property
    def is_racy(self) -> bool:
        """Whether two threads race."""
        return any(mistake in RACES for mistake in self.mistakes)

    @property
    def name(self) -> str:
        """What it is called."""
        flags = {
            "last": self.is_last,
            "stops": self.stops,
            "conditional": self.is_conditional,
            "persistent": self.is_persistent,
            "traverse": self.traverses,
            "scoped": self.is_scoped,
        }
        words = [self.work, self.mapping, self.carry, *(it for it, holds in flags.items() if holds)]
        return "-".join([*filter(None, words), *self.mistakes])


def all_patterns() -> Iterator[Pattern]:
    """Yield all 590 patterns."""
    works: tuple[Work, ...] = (
        "conditional_edge",
        "conditional_vertex",
        "pull",
        "push",
        "populate_worklist",
    )
    for work in works:
        yield from _of_threads(work)
        yield from _of_groups(work)
    for persistent in (False, True):
        yield Pattern("path_compression", "", is_persistent=persistent)
        yield Pattern("path_compression", "", is_persistent=persistent, traverses=True)
        yield Pattern("path_compression", "", is_persistent=persistent, mistakes=("plain_walk",))


def scoped_patterns() -> Iterator[Pattern]:
    """Yield patterns whose atomic operations are of the scope of a block.

    They are right where only one block updates a place; over the whole graph they are not atomic
    to each other.
    """
    works: tuple[Work, ...] = (
        "conditional_edge",
        "conditional_vertex",
        "push",
        "populate_worklist",
    )
    mappings: tuple[Mapping, ...] = ("neighbor", "neighbors", "neighbors_warp", "neighbors_block")
    for work, mapping in itertools.product(works, mappings):
        yield Pattern(work, mapping, is_persistent=True, is_scoped=True, mistakes=("block_scope",))


def _conditions(work: Work) -> tuple[bool, ...]:
    # The others count or list neighbours, which is nothing without a condition.
    return (False, True) if work in ("conditional_edge", "pull", "push") else (False,)


def _mistakes(work: Work) -> list[tuple[str, ...]]:
    updates: list[tuple[str, ...]] = [()] if work == "pull" else [(), ("plain_update",)]
    if work != "conditional_edge":
        return updates
    return [(*guard, *update) for guard in ((), ("plain_guard",)) for update in updates]


def _of_threads(work: Work) -> Iterator[Pattern]:
    flags = (False, True)
    for last, conditional, mistakes in itertools.product(flags, _conditions(work), _mistakes(work)):
        for persistent, unbound in itertools.product(flags, flags):
            bounds = ("no_bound",) if unbound else ()
            yield Pattern(
                work,
                "neighbor",
                last,
                False,
                conditional,
                persistent,
                mistakes=(*bounds, *mistakes),
            )
        for stops, (persistent, unbound) in itertools.product(
            flags, ((False, False), (False, True), (True, False))
        ):
            bounds = ("no_bound",) if unbound else ()
            yield Pattern(
                work,
                "neighbors",
                last,
                stops,
                conditional,
                persistent,
                mistakes=(*bounds, *mistakes),
            )


def _of_groups(work: Work) -> Iterator[Pattern]:
    flags = (False, True)
    carries: tuple[tuple[Carry, tuple[str, ...]], ...] = (("", ()),)
    if work in ("conditional_edge", "pull"):
        carries = (("tree", ()), ("shuffle", ()), ("tree", ("missing_barrier",)))
    for last, conditional, persistent, mistakes in itertools.product(
        flags, _conditions(work), flags, _mistakes(work)
    ):
        yield Pattern(
            work, "neighbors_warp", last, False, conditional, persistent, mistakes=mistakes
        )
        for carry, missing in carries:
            yield Pattern(
                work,
                "neighbors_block",
                last,
                False,
                conditional,
                persistent,
                carry=carry,
                mistakes=(*missing, *mistakes),
            )
