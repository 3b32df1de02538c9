"""Why there are barriers, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ..conversion import counterpart

if TYPE_CHECKING:
    from ..diagnostics import Location

Dim3 = tuple[int, int, int]


@counterpart("SyncPlace")
@dataclass(frozen=True, slots=True)
class SyncPlace:
    """An operation, by its name, and where it stands."""

    op: str
    location: Location

    def to_json(self) -> dict[str, Any]:
        """Return what the remark ``ExplainedBarrier`` says of it."""
        place = self.location
        where = {"column": place.column, "file": place.file, "line": place.line}
        return {**(where if place.file else {}), "op": self.op}


@counterpart("OrderedPair")
class OrderedPair(NamedTuple):
    """A pair of accesses that a barrier orders.

    ``is_in_later_iteration``: the second one is of a later iteration of a loop around both.
    ``threads``: two that touch the same memory, and ``place``: where they meet, a byte of the
    buffer or, if not ``is_in_bytes``, indices. Both are empty if none are known; ``reason`` says
    why.
    """

    first: SyncPlace
    second: SyncPlace
    is_in_later_iteration: bool
    threads: tuple[Dim3, ...]
    place: tuple[int, ...]
    is_in_bytes: bool
    reason: str

    def to_json(self) -> dict[str, Any]:
        """Return what the remark ``ExplainedBarrier`` says of it."""
        record: dict[str, Any] = {
            "first": self.first.to_json(),
            "second": self.second.to_json(),
            "later_iteration": self.is_in_later_iteration,
        }
        if not self.threads:
            return {**record, "reason": self.reason}
        record["byte" if self.is_in_bytes else "index"] = list(self.place)
        return {**record, "threads": [list(thread) for thread in self.threads]}


@counterpart("Barrier")
class Barrier(NamedTuple):
    """Why a barrier was inserted; see ``Module.barriers``."""

    pairs: tuple[OrderedPair, ...]
    barriers: int
    needed: int
    certificate: OrderedPair | None
    is_optimal: bool

    def to_json(self) -> dict[str, Any]:
        """Return what the remark ``ExplainedBarrier`` says of it."""
        certificate = {"certificate": self.certificate.to_json()} if self.certificate else {}
        return {
            "barriers": self.barriers,
            **certificate,
            "needed": self.needed,
            "optimal": self.is_optimal,
            "pairs": [pair.to_json() for pair in self.pairs],
        }
