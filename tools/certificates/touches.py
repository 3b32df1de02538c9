"""Who has touched which bytes of workgroup memory, where not only barriers order threads."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from certificates.cells import Refuted
from certificates.clocks import Clocks
from certificates.ir import NotUnderstood
from certificates.values import Array

GOING_ON = np.iinfo(np.int32).max
"""The time of what is not over yet."""


@dataclass(slots=True, eq=False)
class Touch:
    """What some threads, or a transfer, did to bytes.

    ``agents``: columns of clocks; ``times``: what such a column has once it is known; ``actors``:
    threads that began it; ``groups``: of what goes on, the group of the thread that it is of.
    ``outside``: done by a unit that works by itself. ``first`` and ``last``: of its cells.
    """

    line: int
    writes: bool
    outside: bool
    cells: Array
    agents: Array
    times: Array
    actors: Array
    what: str = ""
    groups: Array | None = None
    first: int = 0
    last: int = 0

    def __post_init__(self) -> None:
        self.first, self.last = int(self.cells.min()), int(self.cells.max())

    @property
    def key(self) -> tuple[int, bytes, bytes]:
        """The same for what touches the same again."""
        return (self.line, self.cells.tobytes(), self.agents.tobytes())


class Touches:
    """All that was done to memory; what the same agents do again stands for what they did."""

    def __init__(self, size: int, grain: int, clocks: Clocks) -> None:
        self.grain, self.clocks = grain, clocks
        self.marks = np.full(size // grain + 1, -1, np.int32)
        self.written = np.zeros(len(self.marks), bool)
        self.words: set[int] = set()
        self.touches: dict[tuple[int, bytes, bytes], Touch] = {}
        self.writes: dict[tuple[int, bytes, bytes], Touch] = {}

    def spread(self, at: Array, size: int) -> Array:
        """The cells of bytes, a row for each address."""
        if size % self.grain or np.any(at % self.grain):
            raise NotUnderstood("accesses that begin within others")
        return (at // self.grain)[:, None] + np.arange(size // self.grain)

    def add(self, touch: Touch, *, same: bool = False) -> None:
        """Note what is done; raises Refuted if it races."""
        if self.words and not self.words.isdisjoint(touch.cells.ravel().tolist()):
            raise Refuted(f"line {touch.line}: touches an mbarrier")
        if touch.writes and len(np.unique(touch.cells)) < touch.cells.size:
            if same:
                raise NotUnderstood(f"line {touch.line}: several threads store one value")
            raise Refuted(f"line {touch.line}: two threads write the same byte")
        if touch.writes:
            self.written[touch.cells] = True
        elif touch.what == "product" and not self.written[touch.cells].all():
            raise Refuted(f"line {touch.line}: reads what nothing has filled")
        others = self.touches if touch.writes else self.writes
        for other in others.values():
            if touch.first <= other.last and other.first <= touch.last:
                self._compare(touch, other)
        self.touches[touch.key] = touch
        if touch.writes:
            self.writes[touch.key] = touch

    def _compare(self, touch: Touch, other: Touch) -> None:
        """Check that an earlier touch is over, and known to be, where both meet."""
        needs_fence = touch.outside and not other.outside
        columns = [other.agents, self.clocks.fenced + other.agents][: 1 + needs_fence]
        if all(np.all(self.clocks.rows[np.ix_(touch.actors, each)] >= other.times)
               for each in columns):  # fmt: skip
            return
        one, many = (touch, other) if touch.writes else (other, touch)
        self.marks[one.cells] = np.arange(len(one.cells))[:, None]
        found = self.marks[many.cells]
        self.marks[one.cells] = -1
        at, part = np.nonzero(found >= 0)
        if not len(at):
            return
        mine, theirs = (found[at, part], at) if one is touch else (at, found[at, part])
        rows = self.clocks.rows[touch.actors[mine]]
        agents, times = other.agents[theirs], other.times[theirs]
        numbers = np.arange(len(agents))
        bad = rows[numbers, agents] < times
        if needs_fence:
            bad |= rows[numbers, self.clocks.fenced + agents] < times
        if bad.any():
            number = int(np.flatnonzero(bad)[0])
            cell = int(many.cells[at[number], part[number]]) * self.grain
            raise Refuted(f"line {touch.line}: thread {int(touch.actors[mine[number]])} touches "
                          f"byte {cell}, as line {other.line} does, and nothing is between that "
                          "orders them")  # fmt: skip

    def finish(self, what: str, threads: Array, groups: Array, pending: int) -> None:
        """Note that threads have waited for all but some of their groups."""
        limit = np.full(self.clocks.threads, -1, np.int64)
        limit[threads] = groups[threads] - pending
        for touch in self.touches.values():
            if touch.what == what and touch.groups is not None:
                done = (touch.times == GOING_ON) & (touch.groups <= limit[touch.agents])
                touch.times[done] = self.clocks.now(touch.agents[done])

    def going_on(self, what: str) -> list[Touch]:
        """What is on its way."""
        return [touch for touch in self.touches.values()
                if touch.what == what and np.any(touch.times == GOING_ON)]  # fmt: skip
