"""Who has touched which bytes of workgroup memory since the last barrier of the block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from certificates.effects import Access
from certificates.values import Array

WARP = 32
NOBODY = -1
SEVERAL = -2
OPEN = 1 << 30
"""The time of a copy that is on its way."""


class Refuted(Exception):
    """Something is wrong, or not as the certificate says."""


@dataclass(frozen=True, slots=True)
class Event:
    """An access as it happens: by some threads, in bytes from the beginning of memory."""

    line: int
    access: Access
    at: Array
    threads: Array

    def of(self, chosen: Array) -> Event:
        """The same by some of its threads."""
        return Event(self.line, self.access, self.at[chosen], self.threads[chosen])

    @property
    def key(self) -> bytes:
        """The same for the same event."""
        return b"%d|" % self.line + self.at.tobytes() + self.threads.tobytes()


class Cells:
    """Memory between two barriers of the block.

    Of each cell it is known who wrote and who read: a thread; the number of threads plus that of a
    warp, for several of that warp; SEVERAL; or NOBODY; and when, in barriers of that warp. What
    threads of a warp do at different times is ordered. A copy on its way has no time, and its own
    thread does not know when it is done.
    """

    def __init__(self, size: int, grain: int, threads: int, copies: Sequence[Event]) -> None:
        self.grain = grain
        self.num_threads = threads
        self.warps = np.append(np.arange(threads) // WARP, np.arange(-(-threads // WARP) + 1))
        cells = size // grain + 1
        self.writers = np.full(cells, NOBODY, np.int32)
        self.readers = np.full(cells, NOBODY, np.int32)
        self.write_times = np.zeros(cells, np.int32)
        self.read_times = np.zeros(cells, np.int32)
        self.owners = np.full(cells, NOBODY, np.int32)
        self.times = np.zeros(-(-threads // WARP), np.int32)
        for copy in copies:
            cells_of, agents = self._spread(copy)
            start = np.zeros(len(agents), np.int32)
            self._check(copy, cells_of, agents, start, self.writers, self.write_times)
            self._write(cells_of, agents, start + OPEN)
            self.owners[cells_of] = agents

    def _spread(self, event: Event) -> tuple[Array, Array]:
        """The cells of an event, and who touches each."""
        count = event.access.size // self.grain
        cells = (event.at // self.grain)[:, None] + np.arange(count)
        agents = event.threads
        if event.access.warp:
            agents = agents // WARP + self.num_threads
        return cells.ravel(), np.repeat(agents, count)

    def touch(self, event: Event) -> None:
        """Note an event; raises Refuted if another thread has touched the same bytes."""
        cells, agents = self._spread(event)
        now = self.times[self.warps[agents]]
        if np.any((self.owners[cells] != NOBODY) & (self.owners[cells] == agents)):
            raise Refuted(f"line {event.line} touches what a copy of the same thread writes, for "
                          "which it has not waited")  # fmt: skip
        self._check(event, cells, agents, now, self.writers, self.write_times)
        if event.access.kind == "read":
            self._read(cells, agents, now)
            return
        self._check(event, cells, agents, now, self.readers, self.read_times)
        is_copy = event.access.kind == "copy"
        self._write(cells, agents, np.full_like(now, OPEN) if is_copy else now)
        if len(np.unique(cells)) < len(cells):
            if not event.access.same:
                raise Refuted(f"line {event.line}: two threads write the same byte")
            self.writers[cells[self.writers[cells] != agents]] = SEVERAL
        if is_copy:
            self.owners[cells] = agents

    def _check(
        self, event: Event, cells: Array, agents: Array, now: Array, others: Array, times: Array
    ) -> None:
        """Whether all that others did to these cells is ordered before."""
        other = others[cells]
        itself = (other == agents) & (agents < self.num_threads)
        suspect = (other != NOBODY) & ~itself
        if not suspect.any():
            return
        mine, theirs = agents[suspect], other[suspect]
        alike = (theirs >= 0) & (self.warps[theirs] == self.warps[mine])
        later = times[cells][suspect] < now[suspect]
        bad = ~(alike & later)
        if bad.any():
            number = int(np.flatnonzero(bad)[0])
            place = int(cells[suspect][number]) * self.grain
            raise Refuted(
                f"line {event.line}: {self._name(int(mine[number]))} touches byte {place} of "
                f"workgroup memory, as {self._name(int(theirs[number]))} does, and no barrier is "
                "between"
            )

    def _name(self, agent: int) -> str:
        if agent == SEVERAL:
            return "several threads"
        if agent >= self.num_threads:
            return f"warp {agent - self.num_threads}"
        return f"thread {agent}"

    def _write(self, cells: Array, agents: Array, now: Array) -> None:
        self.writers[cells] = agents
        self.write_times[cells] = now

    def _read(self, cells: Array, agents: Array, now: Array) -> None:
        before = self.readers[cells]
        warps = self.warps[agents]
        is_alone = (before == NOBODY) | (before == agents)
        is_near = (before >= 0) & (self.warps[before] == warps)
        joined = np.where(is_alone, agents, np.where(is_near, warps + self.num_threads, SEVERAL))
        self.readers[cells] = joined
        self.read_times[cells] = now
        differ = self.readers[cells] != joined
        if differ.any():  # threads of one event share cells
            first = self.readers[cells]
            near = (first >= 0) & (joined >= 0) & (self.warps[first] == self.warps[joined])
            shared = cells[differ & near]
            self.readers[shared] = self.warps[agents[differ & near]] + self.num_threads
            self.readers[cells[differ & ~near]] = SEVERAL
            # A cell that two warps share has several readers, whoever was noted last.
            again = self.readers[cells]
            wrong = (again >= 0) & (self.warps[again] != self.warps[agents])
            self.readers[cells[wrong]] = SEVERAL

    def synchronize_warps(self, threads: Array) -> None:
        """Note a barrier of those warps all of whose threads are at it."""
        counts = np.bincount(threads // WARP, minlength=len(self.times))
        full = np.bincount(np.arange(self.num_threads) // WARP, minlength=len(self.times))
        self.times[counts == full] += 1

    def finish(self, copies: Sequence[Event]) -> None:
        """Note that the threads of copies have waited for them."""
        for copy in copies:
            cells, agents = self._spread(copy)
            own = self.owners[cells] == agents
            self.owners[cells[own]] = NOBODY
            mine = self.writers[cells] == agents
            self.write_times[cells[mine]] = self.times[self.warps[agents[mine]]]
