"""Whether a block has been followed from where it is: so that loops of any length come to an end.

Two moments are alike if all is the same but how far threads are, of which only the order counts,
and but counters. From then on the same happens if each comparison of a counter says the same for a
launch in which what it is compared with is as much less: so no launch has to go on from there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

import numpy as np

from certificates.block import Unit
from certificates.clocks import Barrier, Mbarrier
from certificates.counters import Counters, Moment
from certificates.graph import EXIT
from certificates.launch import split
from certificates.touches import GOING_ON
from certificates.units import Units
from certificates.values import Array, Environment


class Past:
    """All moments from which blocks of one kernel have been followed, by what has to be alike."""

    def __init__(self, counters: Counters) -> None:
        self.counters = counters
        self.moments: dict[bytes, list[Moment]] = {}

    def is_known(self, units: Units) -> bool:
        """Whether a block has been followed from there on; else it will have been."""
        writer = _Writer(units)
        alike = self.moments.setdefault(writer.write(), [])
        if any(self.counters.agree(before, writer.moment) for before in alike):
            return True
        alike.append(writer.moment)
        return False


class _Writer:
    """Writes down a moment: what has to be the same, as a checksum, and the rest."""

    def __init__(self, units: Units) -> None:
        self.units, self.clocks, self.touches = units, units.clocks, units.touches
        self.moment = Moment(limits=dict(units.launch.limits))
        self.hash = hashlib.blake2b()
        self.numbers: dict[int, int] = {}

    def _add(self, *parts: object) -> None:
        for part in parts:
            data = part.tobytes() if isinstance(part, np.ndarray) else repr(part).encode()
            self.hash.update(b"%d:" % len(data) + data)

    def write(self) -> bytes:
        """Write all; returns the checksum."""
        for unit in self.units.rest:
            self._write_unit(unit)
        self._add(self.units.last, self.touches.written, sorted(self.touches.words))
        for barrier in self._barriers():
            self._add(type(barrier).__name__, barrier.name, barrier.count, barrier.arrived,
                      barrier.phase % 2, *barrier.waiting)  # fmt: skip
            if isinstance(barrier, Mbarrier):
                self._add(barrier.brought, barrier.maker, len(barrier.waiters),
                          [(thread, size) for thread, _, size in barrier.expecters])  # fmt: skip
        for (line, cells, agents), touch in self.touches.touches.items():
            self.hash.update(cells + agents)
            going_on = touch.times == GOING_ON
            self._add(line, touch.writes, touch.outside, touch.what, touch.actors, going_on)
            if touch.groups is not None:
                ages = self.units.groups[touch.what][touch.agents] - touch.groups
                self._add(np.where(going_on, ages, 0))
        self._add(_rank(self._times()))
        return self.hash.digest()

    def _barriers(self) -> Iterator[Barrier]:
        yield from self.clocks.barriers.values()
        yield from self.clocks.mbarriers.values()

    # Where threads are.

    def _write_unit(self, unit: Unit) -> int:
        """Write a unit, and those that wait for it; returns its number."""
        if id(unit) in self.numbers:
            return self.numbers[id(unit)]
        number = self.numbers[id(unit)] = len(self.numbers)
        waits = [(barrier.name, barrier.phase - phase) for barrier, phase in unit.waits]
        self._add(unit.threads, unit.stop, unit.parts, waits)
        if not unit.parts:
            self._write_place(number, unit.label, unit.step, unit.environment)
        for threads, environment in unit.met:
            self._add(threads)
            meet = self.units.graph.meets.get(unit.label, EXIT)
            self._write_place(number, meet, 0, environment)
        if unit.parent is not None:
            if unit.stop != EXIT:
                self.moment.add_place(unit.stop, 0)
            self._add(self._write_unit(unit.parent))
        return number

    def _write_place(self, number: int, label: str, step: int, environment: Environment) -> None:
        """Write where threads go on, and what they use there."""
        if label == EXIT:
            return
        slice = self.units.slice
        # What is chosen by the way to a block is so already.
        step = max(step, sum(line.op == "phi" for line in slice.steps[label]))
        self.moment.add_place(label, step)
        self._add(label, step)
        self._write_values(number, environment, slice.live_at(label, step))

    def _write_values(self, number: int, environment: Environment, names: set[str]) -> None:
        for name in sorted(names & environment.keys()):
            value = environment[name]
            sums = split(value, self.units.bits_of(name))
            if sums is None:
                self._add(name, value)
                self.moment.others.add(name)
                continue
            self._add(name, "a number", sums[0])
            before = self.moment.numbers.setdefault((number, name), sums)
            if before != sums:
                self._add(sums)

    # How far they are.

    def _times(self) -> Iterator[tuple[Array, Array]]:
        """What is compared with each other: columns, of which those of a thread are one, times."""
        clocks, threads = self.clocks, self.clocks.threads
        columns = np.arange(clocks.rows.shape[1])
        for start in (clocks.fenced, clocks.ready, clocks.reached):
            columns[start : start + threads] = np.arange(threads)
        everybody = np.arange(threads)
        yield columns, np.zeros_like(columns)
        for row in clocks.rows:
            yield columns, row
        for barrier in self._barriers():
            here = np.array([barrier.column] * 3)
            yield columns, barrier.gathered
            yield here, barrier.phase + np.arange(-1, 2)
            if isinstance(barrier, Mbarrier):
                if len(barrier.known):
                    yield columns, barrier.known
                yield np.array([barrier.maker]), np.array([barrier.made])
                yield from self._of_phases(barrier, everybody)
        for touch in self.touches.touches.values():
            yield touch.agents, np.where(touch.times == GOING_ON, 0, touch.times)

    def _of_phases(self, barrier: Mbarrier, everybody: Array) -> Iterator[tuple[Array, Array]]:
        for thread, time, _ in barrier.expecters:
            yield np.array([thread]), np.array([time])
        for phase in sorted(barrier.filled):
            yield np.array([barrier.column]), np.array([phase])
        for phase, times in sorted(barrier.waiters.items()):
            yield np.array([barrier.column]), np.array([phase])
            yield everybody, times


def _rank(times: Iterable[tuple[Array, Array]]) -> Array:
    """Times by their order in each column."""
    pairs = list(times)
    columns = np.concatenate([column for column, _ in pairs]).astype(np.int64)
    keys = (columns << 32) + np.concatenate([values for _, values in pairs]).astype(np.int64) + 1
    ordered, places = np.unique(keys, return_inverse=True)
    ranks: Array = (places - np.searchsorted(ordered, columns << 32)).astype(np.int32)
    return ranks
