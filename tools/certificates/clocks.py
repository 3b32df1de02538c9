"""What happens before what, where threads hand memory over by mbarriers.

A thread knows of each thread how far it has come, and of each barrier how many phases are over. It
learns that at barriers, and from an mbarrier whose phase it has waited for. That one order of what
threads do stands for all is shown, not assumed: each arrival and each wait can only be of the phase
that it was of.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from certificates.cells import WARP, Refuted
from certificates.ir import NotUnderstood
from certificates.values import Array

MOST_BARRIERS = 64


@dataclass(slots=True, eq=False)
class Barrier:
    """A barrier of the block, or of part of it: what its phase has.

    ``name``: what it is called; ``column``: of clocks, with the phases that are over; ``gathered``:
    what is known once this phase is over; ``waiting``: threads that learn that at once.
    """

    name: str
    column: int
    count: int
    gathered: Array
    phase: int = 0
    arrived: int = 0
    waiting: list[Array] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Mbarrier(Barrier):
    """An mbarrier, which a thread has made.

    ``known``: what is known as the phase before is over. ``waiters``: of each phase, how far each
    thread was when it waited, 0 if it did not. ``filled``: phases that bytes came in.
    ``expecters``: thread, how far it was, bytes.
    """

    maker: int = 0
    made: int = 0
    known: Array = field(default_factory=lambda: np.zeros(0, np.int32))
    brought: int = 0
    expecters: list[tuple[int, int, int]] = field(default_factory=list)
    waiters: dict[int, Array] = field(default_factory=dict)
    filled: set[int] = field(default_factory=set)


class Clocks:
    """How far threads are, as each of them knows it.

    The row of a thread has a number for each thread, for each barrier, and three more for each
    thread: up to where a fence of it has shown what it did to units that work by themselves, up to
    where one has shown mbarriers that it made, and how far it has come, though what it wrote need
    not be seen: lanes that do something as a warp wait for each other, and for nothing else.
    """

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self.fenced = threads + MOST_BARRIERS
        self.ready = self.fenced + threads
        self.reached = self.ready + threads
        self.rows = np.zeros((threads, self.reached + threads), np.int32)
        self.everybody = np.arange(threads)
        self._advance(self.everybody)
        self.mbarriers: dict[int, Mbarrier] = {}
        self.barriers: dict[int, Barrier] = {}

    def now(self, threads: Array) -> Array:
        """How far threads are."""
        times: Array = self.rows[threads, threads]
        return times

    def _advance(self, threads: Array) -> None:
        self.rows[threads, threads] += 1
        self.rows[threads, self.reached + threads] = self.rows[threads, threads]

    def gather_warps(self, threads: Array) -> None:
        """Let the lanes of each warp that is there as a whole come to one place."""
        for warp in np.unique(threads // WARP):
            lanes = self.everybody[warp * WARP : (warp + 1) * WARP]
            if np.isin(lanes, threads).all():
                reached = self.rows[lanes, self.reached :].max(axis=0)
                self.rows[lanes, self.reached :] = reached

    def synchronize(self, threads: Array) -> None:
        """Let threads wait for each other."""
        self.rows[threads] = self.rows[threads].max(axis=0)
        self._advance(threads)

    def synchronize_warps(self, threads: Array) -> None:
        """Let the lanes of each warp that is there as a whole wait for each other."""
        for warp in np.unique(threads // WARP):
            lanes = self.everybody[warp * WARP : (warp + 1) * WARP]
            if np.isin(lanes, threads).all():
                self.synchronize(lanes)

    def fence(self, threads: Array, *, data: bool) -> None:
        """Show what they did to units that work by themselves; mbarriers only, if not `data`."""
        for start in (self.fenced, self.ready) if data else (self.ready,):
            self.rows[threads, start + threads] = self.now(threads)
        self._advance(threads)

    # Barriers.

    def _find_column(self, line: int) -> int:
        """A column for a new barrier."""
        count = len(self.barriers) + len(self.mbarriers)
        if count == MOST_BARRIERS:
            raise NotUnderstood(f"line {line}: more barriers than are followed")
        return self.threads + count

    def _check_phase(self, line: int, barrier: Barrier, threads: Array, phase: int) -> None:
        if np.any(self.rows[threads, barrier.column] < phase):
            raise Refuted(f"line {line}: a thread may come to {barrier.name} when phase "
                          f"{phase - 1} is not over")  # fmt: skip

    def _gather(self, line: int, barrier: Barrier, threads: Array, count: int) -> None:
        """Let threads arrive."""
        self._check_phase(line, barrier, threads, barrier.phase)
        barrier.gathered = np.maximum(barrier.gathered, self.rows[threads].max(axis=0))
        self._advance(threads)
        barrier.arrived += count
        if barrier.arrived > barrier.count:
            raise Refuted(f"line {line}: more threads arrive than {barrier.name} counts")

    def _end_phase(self, barrier: Barrier) -> None:
        barrier.phase += 1
        barrier.gathered[barrier.column] = barrier.phase
        for threads in barrier.waiting:
            self.rows[threads] = np.maximum(self.rows[threads], barrier.gathered)
            self._advance(threads)
        barrier.gathered = np.zeros_like(barrier.gathered)
        barrier.arrived, barrier.waiting = 0, []

    def meet(
        self, line: int, number: int, threads: Array, count: int, *, waits: bool
    ) -> tuple[Barrier, int]:
        """Come to a barrier of so many threads; returns it, and the phase that is to be over."""
        warps, lanes = np.unique(threads // WARP, return_counts=True)
        if np.any(lanes < np.minimum(WARP, self.threads - warps * WARP)):
            raise Refuted(f"line {line}: a barrier that not all lanes of a warp are at")
        barrier = self.barriers.get(number)
        if barrier is None:
            empty = np.zeros(self.rows.shape[1], np.int32)
            barrier = Barrier(f"barrier {number}", self._find_column(line), count, empty)
            self.barriers[number] = barrier
        if not 0 <= number < 16 or count % WARP or (barrier.arrived and count != barrier.count):
            raise Refuted(f"line {line}: barrier {number} of {count} threads, which is none")
        barrier.count, phase = count, barrier.phase
        self._gather(line, barrier, threads, len(warps) * WARP)
        if waits:
            barrier.waiting.append(threads)
        if barrier.arrived == count:
            self._end_phase(barrier)
        return barrier, phase

    # mbarriers.

    def make(self, line: int, address: int, count: int, thread: int) -> None:
        """Make an mbarrier."""
        if address in self.mbarriers or address % 8 or not 0 < count < 1 << 20:
            raise Refuted(f"line {line}: an mbarrier that is there already, or is none")
        self.mbarriers[address] = Mbarrier(
            f"the mbarrier at byte {address}", self._find_column(line), count,
            np.zeros(self.rows.shape[1], np.int32), maker=thread,
            made=int(self.rows[thread, thread]),
        )  # fmt: skip

    def find(self, line: int, address: int, threads: Array) -> Mbarrier:
        """The mbarrier at an address, that these threads know of."""
        barrier = self.mbarriers.get(address)
        if barrier is None:
            raise Refuted(f"line {line}: there is no mbarrier at byte {address}")
        if np.any(self.rows[threads, barrier.maker] < barrier.made):
            raise Refuted(f"line {line}: a thread may come before the mbarrier is made")
        return barrier

    def arrive(self, line: int, address: int, threads: Array, expected: int = 0) -> None:
        """Arrive, each thread once, and announce bytes."""
        barrier = self.find(line, address, threads)
        times = self.now(threads)
        self._gather(line, barrier, threads, len(threads))
        if expected:
            barrier.expecters += [(int(thread), int(time), expected)
                                  for thread, time in zip(threads, times, strict=True)]  # fmt: skip
        self._complete(line, barrier)

    def bring(self, line: int, address: int, thread: int, size: int) -> tuple[int, int]:
        """Begin to bring bytes; returns a column, and what it has once they are there."""
        barrier = self.find(line, address, np.array([thread]))
        if self.rows[thread, self.ready + barrier.maker] < barrier.made:
            raise Refuted(f"line {line}: no fence shows the mbarrier to what brings bytes")
        self._check_phase(line, barrier, np.array([thread]), barrier.phase)
        known = sum(
            expected for other, time, expected in barrier.expecters
            if self.rows[thread, other] >= time
        )  # fmt: skip
        barrier.brought += size
        if barrier.brought > known:
            raise Refuted(f"line {line}: {barrier.brought} bytes come, {known} are announced")
        barrier.filled.add(barrier.phase)
        done = barrier.phase + 1
        self._complete(line, barrier)
        return barrier.column, done

    def _complete(self, line: int, barrier: Mbarrier) -> None:
        """End a phase that has all that it needs."""
        expected = sum(size for _, _, size in barrier.expecters)
        if barrier.arrived < barrier.count or barrier.brought != expected:
            return
        waiters = barrier.waiters.pop(barrier.phase - 1, None)
        reached = barrier.gathered[self.reached :]
        if waiters is not None and np.any(reached < waiters):
            thread = int(np.flatnonzero(reached < waiters)[0])
            raise Refuted(f"line {line}: a phase may end that thread {thread} does not expect yet")
        barrier.known = barrier.gathered
        self._end_phase(barrier)
        barrier.brought, barrier.expecters = 0, []

    def wait(self, line: int, address: int, threads: Array, parity: int) -> bool:
        """Wait for a phase; returns whether it is over."""
        barrier = self.find(line, address, threads)
        is_over = barrier.phase % 2 != parity
        phase = barrier.phase - 1 if is_over else barrier.phase
        self._check_phase(line, barrier, threads, phase)
        if not is_over:
            return False
        if phase >= 0:
            self.rows[threads] = np.maximum(self.rows[threads], barrier.known)
        waiters = barrier.waiters.setdefault(phase, np.zeros(self.threads, np.int32))
        waiters[threads] = self.now(threads)
        barrier.filled.discard(phase)
        self._advance(threads)
        return True

    def finish(self) -> None:
        """Check that nothing is on its way when the block ends."""
        for barrier in self.mbarriers.values():
            if barrier.filled:
                raise Refuted(f"nobody waits for phase {min(barrier.filled)} of {barrier.name}, "
                              "which bytes come in")  # fmt: skip
