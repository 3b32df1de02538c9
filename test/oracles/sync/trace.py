"""What all threads of a block do in one launch: accesses, and what they pass between these.

Threads take the same way through the text, some of them in fact and the others not. Whatever could
order two accesses, a barrier or a gap where one could be put, is a *site*; each time that some
threads pass one is a *passing*. An access has as its position the number of passings before it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from oracles.sync.expressions import THREAD, Integers, evaluate, holds
from oracles.sync.programs import WARP, Access, Barrier, Branch, Loop, Program, Step

Threads = npt.NDArray[np.bool_]
Launch = Mapping[str, int]


class OutOfBounds(Exception):
    """A thread leaves a buffer, or computes a negative number."""


@dataclass(frozen=True)
class Site:
    """A barrier by its number, or the gap before a place of a sequence.

    A sequence is told by the step that it is a part of (0 for the program), and which part."""

    parent: int
    part: int
    place: int
    depth: int
    barrier: Barrier | None = None

    def __str__(self) -> str:
        what = str(self.barrier or "gap")
        return f"{what} at {self.parent}.{self.part}.{self.place}"


@dataclass
class Trace:
    """What was seen in a launch."""

    passings: list[tuple[Site, Threads]] = field(default_factory=list)
    # One element for each thread's execution of each access, a row for each of these:
    # thread, byte, width, number of the execution.
    accesses: list[npt.NDArray[np.int64]] = field(default_factory=list)
    # Of each execution: the access, and its position.
    executions: list[tuple[Access, int]] = field(default_factory=list)

    @property
    def writes(self) -> Threads:
        """Which executions write."""
        return np.array([access.operation != "R" for access, _ in self.executions], bool)

    @property
    def atomic(self) -> Threads:
        """Which executions are atomic."""
        return np.array([access.operation == "U" for access, _ in self.executions], bool)


def launches(program: Program) -> Iterator[Launch]:
    """Yield the values of the arguments that the program is to be looked at for."""
    for values in itertools.product(*program.arguments.values()):
        yield dict(zip(program.arguments, values, strict=True))


def sites(program: Program) -> list[Site]:
    """Return all sites, in the order of the text; a gap after each barrier, too."""
    found: list[Site] = []
    _Tracer(program).visit_sites(program.steps, found)
    return found


def trace(program: Program, launch: Launch) -> Trace:
    """Execute a program."""
    tracer = _Tracer(program)
    values = {name: tracer.threads * 0 + value for name, value in launch.items()}
    values[THREAD] = tracer.threads
    tracer.steps(program.steps, tracer.threads >= 0, values, (0, 0, 0))
    return tracer.trace


class _Tracer:
    """Executes steps for all threads at once."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.threads: Integers = np.arange(program.threads, dtype=np.int64)
        self.trace = Trace()
        self.bases: dict[str, int] = {}
        # Buffers without an offset follow each other, behind the bytes that others share.
        end = max((b.bytes + (b.offset or 0) for b in program.buffers), default=0)
        for buffer in program.buffers:
            self.bases[buffer.name] = end if buffer.offset is None else buffer.offset
            end += buffer.bytes if buffer.offset is None else 0

    # Sites.

    def visit_sites(
        self, steps: Sequence[Step], found: list[Site], key: tuple[int, int, int] = (0, 0, 0)
    ) -> None:
        """Collect the sites of a sequence."""
        for place in range(len(steps) + 1):
            found.append(Site(key[0], key[1], place, key[2]))
            if place == len(steps):
                return
            step = steps[place]
            if isinstance(step, Barrier):
                found.append(Site(key[0], key[1], place, key[2], step))
            elif isinstance(step, Loop):
                if step.head:
                    self.visit_sites(step.head, found, (step.number, 0, key[2] + 1))
                self.visit_sites(step.body, found, (step.number, 1, key[2] + 1))
            elif isinstance(step, Branch):
                self.visit_sites(step.then, found, (step.number, 0, key[2]))
                self.visit_sites(step.other, found, (step.number, 1, key[2]))

    # Execution.

    def steps(
        self,
        steps: Sequence[Step],
        active: Threads,
        values: dict[str, Integers],
        key: tuple[int, int, int],
    ) -> None:
        """Execute a sequence with some threads."""
        if not active.any():
            return
        for place in range(len(steps) + 1):
            self.trace.passings.append((Site(key[0], key[1], place, key[2]), active))
            if place < len(steps):
                self.step(steps[place], active, values, key, place)

    def step(
        self,
        step: Step,
        active: Threads,
        values: dict[str, Integers],
        key: tuple[int, int, int],
        place: int,
    ) -> None:
        """Execute a step."""
        match step:
            case Access():
                self.access(step, active, values)
            case Barrier():
                self.trace.passings.append((Site(key[0], key[1], place, key[2], step), active))
            case Branch():
                taken = holds(step.condition, values)
                self.steps(step.then, active & taken, values, (step.number, 0, key[2]))
                self.steps(step.other, active & ~taken, values, (step.number, 1, key[2]))
            case Loop():
                start, end = evaluate(step.start, values), evaluate(step.end, values)
                for iteration in itertools.count():
                    counter = start + iteration * step.step
                    inside = {**values, step.iteration: counter}
                    if step.head:
                        self.steps(step.head, active, inside, (step.number, 0, key[2] + 1))
                    active = active & (counter < end)
                    if not active.any():
                        break
                    self.steps(step.body, active, inside, (step.number, 1, key[2] + 1))

    def access(self, access: Access, active: Threads, values: Mapping[str, Integers]) -> None:
        """Note who accesses which bytes."""
        buffer = self.program.buffer(access.buffer)
        element = np.zeros_like(self.threads)
        for index, extent in zip(access.index, buffer.shape, strict=True):
            at = evaluate(index, values)
            if (at[active] < 0).any() or (at[active] >= extent).any():
                raise OutOfBounds(f"{access} of {self.program.name}")
            element = element * extent + at
        number = len(self.trace.executions)
        self.trace.executions.append((access, len(self.trace.passings)))
        byte = self.bases[buffer.name] + element * buffer.width
        rows = np.zeros((int(active.sum()), 4), np.int64)
        rows[:, 0] = self.threads[active]
        rows[:, 1] = byte[active]
        rows[:, 2] = buffer.width
        rows[:, 3] = number
        self.trace.accesses.append(rows)


def is_together(active: Threads, *, by_warp: bool) -> bool:
    """Tell whether all threads, or all or none of each warp, are active."""
    if not by_warp:
        return bool(active.all())
    return all(
        active[first : first + WARP].all() or not active[first : first + WARP].any()
        for first in range(0, len(active), WARP)
    )
