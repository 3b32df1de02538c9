"""Programs of steps, loops and branches, and what all of their executions say about barriers.

An execution is a list of events: points that a barrier could stand in, barriers, and steps with
the iterations of the loops around them. A hazard is covered if there is a barrier between its two
steps in every execution, wherever they come with the iterations that the hazard is about. Nothing
here knows how `BarrierPlacement.cpp` decides that.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

from _native_test import SyncKind, SyncProgram

Point = tuple[int, int]
Hazard = tuple[int, int, int | None, bool]


@dataclass(slots=True)
class Node:
    """An item of a sequence, numbered as in the native program."""

    kind: SyncKind
    sequence: int
    parts: list[int] = field(default_factory=list)
    exit: int = 0
    has_iteration: bool = False
    call: int | None = None


class Event(NamedTuple):
    """A point or a barrier (`bit`), or a step in certain iterations of the loops around it."""

    bit: int
    node: int | None
    iterations: dict[int, int]


@dataclass(slots=True)
class Program:
    """A program, and its native twin."""

    nodes: list[Node] = field(default_factory=list)
    sequences: list[list[int]] = field(default_factory=lambda: [[]])
    parents: list[int | None] = field(default_factory=lambda: [None])
    native: SyncProgram = field(default_factory=SyncProgram)

    def append(
        self,
        sequence: int,
        kind: SyncKind,
        exit: int = 0,
        has_iteration: bool = False,
        call: int | None = None,
    ) -> int:
        node = self.native.append(sequence, kind, exit, has_iteration, call)
        self.nodes.append(Node(kind, sequence, [], exit, has_iteration, call))
        self.sequences[sequence].append(node)
        return node

    def add_part(self, node: int) -> int:
        part = self.native.add_part(node)
        self.sequences.append([])
        self.parents.append(node)
        self.nodes[node].parts.append(part)
        return part

    def points(self) -> list[Point]:
        """Where barriers may stand: not in calls."""
        return [
            (sequence, place)
            for sequence, items in enumerate(self.sequences)
            for place in range(len(items) + 1)
            if not self._is_in_call(sequence, place)
        ]

    def _is_in_call(self, sequence: int, place: int) -> bool:
        parent, items = self.parents[sequence], self.sequences[sequence]
        if parent is not None and self.nodes[parent].call is not None:
            return True
        calls = [self.nodes[item].call for item in items[max(place - 1, 0) : place + 1]]
        return 0 < place < len(items) and calls[0] is not None and calls[0] == calls[1]

    def tests_in_calls(self) -> bool:
        """Whether a call goes on behind the test of a loop that it is in, which none does."""
        loops = [node for node in self.nodes if node.kind == SyncKind.LOOP]
        return any(
            loop.call is None and self._is_in_call(loop.parts[0], loop.exit) for loop in loops
        )

    def existing(self) -> set[Point]:
        """The points right behind barriers that may go."""
        return {
            (node.sequence, self.sequences[node.sequence].index(number) + 1)
            for number, node in enumerate(self.nodes)
            if node.kind == SyncKind.BARRIER and node.call is None
        }

    def loops_around(self, sequence: int) -> list[int]:
        """The loops around a sequence, the innermost first."""
        loops = []
        while (parent := self.parents[sequence]) is not None:
            if self.nodes[parent].kind == SyncKind.LOOP:
                loops.append(parent)
            sequence = self.nodes[parent].sequence
        return loops


# Text


def parse(text: str) -> tuple[Program, dict[str, int]]:
    """Read `Wa loop L exit 1 iteration { Ra barrier } if { Wb } else { } call { Rb }`.

    Returns all names, too.
    """
    program, names = Program(), {}
    words = iter(re.findall(r"[{}]|\w+", text))
    calls = itertools.count()

    def items(sequence: int, call: int | None = None) -> str:
        word = next(words, "}")
        while word != "}":
            if word == "loop":
                names[next(words)] = len(program.nodes)
                exit, has_iteration = 0, False
                while (option := next(words)) != "{":
                    if option == "exit":
                        exit = int(next(words))
                    has_iteration |= option == "iteration"
                node = program.append(sequence, SyncKind.LOOP, exit, has_iteration, call)
                items(program.add_part(node), call)
            elif word == "if":
                assert next(words) == "{"
                node = program.append(sequence, SyncKind.BRANCH, call=call)
                items(program.add_part(node), call)
                region = program.add_part(node)
                if (word := next(words, "}")) != "else":
                    continue
                assert next(words) == "{"
                items(region, call)
            elif word == "call":
                assert next(words) == "{"
                items(sequence, next(calls))
            elif word == "barrier":
                program.append(sequence, SyncKind.BARRIER, call=call)
            else:
                names[word] = program.append(sequence, SyncKind.STEP, call=call)
            word = next(words, "}")
        return word

    items(0)
    return program, names


def parse_hazard(text: str, names: dict[str, int]) -> Hazard:
    """Read `Wa Ra`, `Wa Ra L` for a later iteration of loop L, or `Wa Ra L far`."""
    source, target, *rest = text.split()
    loop = names[rest[0]] if rest else None
    return names[source], names[target], loop, "far" in rest[1:]


# Executions


class Executions:
    """All executions of a program, with loops of up to `most` iterations."""

    def __init__(self, program: Program, most: int) -> None:
        self.program = program
        self.most = most
        self.bits = {point: 1 << number for number, point in enumerate(program.points())}
        # Barriers of the program have a bit in common, and so do those in calls.
        self.barrier = 1 << len(self.bits)
        self.called = self.barrier << 1
        self.all = list(self._sequence(0, {}))

    def _sequence(self, sequence: int, iterations: dict[int, int]) -> list[tuple[Event, ...]]:
        return self._items(sequence, 0, len(self.program.sequences[sequence]), iterations)

    def _items(
        self, sequence: int, first: int, last: int, iterations: dict[int, int], skip: bool = False
    ) -> list[tuple[Event, ...]]:
        """Return the paths from point `first`, or from behind it with `skip`, to point `last`."""
        items = self.program.sequences[sequence]
        pieces: list[list[tuple[Event, ...]]] = []
        for place in range(first, last + 1):
            if place > first or not skip:
                bit = self.bits.get((sequence, place), 0)
                pieces.append([(Event(bit, None, iterations),)])
            if place < last:
                pieces.append(self._node(items[place], iterations))
        return _concatenate(pieces)

    def _node(self, number: int, iterations: dict[int, int]) -> list[tuple[Event, ...]]:
        node = self.program.nodes[number]
        if node.kind == SyncKind.STEP:
            return [(Event(0, number, iterations),)]
        if node.kind == SyncKind.BARRIER:
            bit = self.barrier if node.call is None else self.called
            return [(Event(bit, None, iterations),)]
        if node.kind == SyncKind.BRANCH:
            return [path for region in node.parts for path in self._sequence(region, iterations)]
        (body,) = node.parts
        paths = []
        for count in range(node.has_iteration, self.most + 1):
            pieces = []
            for iteration in range(count + 1):
                here = iterations | {number: iteration}
                if node.exit > 0:
                    pieces.append(self._items(body, 0, node.exit, here))
                if iteration < count:
                    size = len(self.program.sequences[body])
                    pieces.append(self._items(body, node.exit, size, here, node.exit > 0))
            paths += _concatenate(pieces)
        return paths

    def between(self, hazard: Hazard) -> list[int]:
        """Return the sets of bits that lie between the steps, without those that hold others."""
        masks: set[int] = set()
        for events in self.all:
            for first, source in enumerate(events):
                if source.node == hazard[0]:
                    mask = 0
                    for event in events[first + 1 :]:
                        if event.node == hazard[1] and self._is_meant(source, event, hazard):
                            masks.add(mask)
                        mask |= event.bit
        return [mask for mask in masks if not any(o & mask == o != mask for o in masks)]

    def _is_meant(self, source: Event, target: Event, hazard: Hazard) -> bool:
        _, _, loop, is_far = hazard
        if loop is None:
            common = source.iterations.keys() & target.iterations.keys()
            return all(source.iterations[other] == target.iterations[other] for other in common)
        outer = self.program.loops_around(self.program.nodes[loop].sequence)
        return (
            all(source.iterations[other] == target.iterations[other] for other in outer)
            and source.iterations[loop] + 1 + is_far <= target.iterations[loop]
        )


def _concatenate(pieces: list[list[tuple[Event, ...]]]) -> list[tuple[Event, ...]]:
    return [tuple(itertools.chain(*choice)) for choice in itertools.product(*pieces)]


def count_executions(program: Program, most: int, sequence: int = 0) -> int:
    """Return how many there are, without making them."""

    def count(items: list[int]) -> int:
        product = 1
        for number in items:
            node = program.nodes[number]
            if node.kind == SyncKind.BRANCH:
                product *= sum(count(program.sequences[region]) for region in node.parts)
            elif node.kind == SyncKind.LOOP:
                body = program.sequences[node.parts[0]]
                before, iteration = count(body[: node.exit]), count(body)
                product *= sum(iteration**n * before for n in range(node.has_iteration, most + 1))
        return product

    return count(program.sequences[sequence])


# Random programs


def random_program(rng: Random, most_points: int, barriers: bool = True) -> Program:
    """Return a program with at most that many points."""
    while True:
        program = Program()
        _fill(rng, program, 0, 0, barriers)
        if 4 <= len(program.points()) <= most_points and not program.tests_in_calls():
            return program


def _fill(
    rng: Random,
    program: Program,
    sequence: int,
    depth: int,
    barriers: bool,
    around: int | None = None,
) -> None:
    call = around
    for number in range(rng.randint(depth == 0, 4 - depth // 2)):
        if around is None and barriers:  # one call after the other, or goes on
            call = rng.choices([call, None, 100 * sequence + number], [3, 5, 2])[0]
        kind = rng.choices(
            [SyncKind.STEP, SyncKind.LOOP, SyncKind.BRANCH],
            [5, 2 * (depth < 3), 2 * (depth < 2)],
        )[0]
        if barriers and kind == SyncKind.STEP and rng.random() < 0.15:
            kind = SyncKind.BARRIER
        if kind == SyncKind.LOOP:
            # How long the body gets is only known afterwards: try the same again.
            state = rng.getstate()
            trial = Program()
            _fill(rng, trial, 0, depth + 1, barriers, call)
            exit = 0 if rng.random() < 0.5 else rng.randint(0, len(trial.sequences[0]))
            has_iteration = rng.random() < 0.5
            after = rng.getstate()
            rng.setstate(state)
            node = program.append(sequence, kind, exit, has_iteration, call)
            _fill(rng, program, program.add_part(node), depth + 1, barriers, call)
            rng.setstate(after)
            continue
        node = program.append(sequence, kind, call=call)
        if kind == SyncKind.BRANCH:
            for _ in range(rng.choice([2, 2, 3])):
                _fill(rng, program, program.add_part(node), depth + 1, barriers, call)


def random_hazards(rng: Random, program: Program, far: bool) -> list[Hazard]:
    """Return hazards between any steps; some may be between steps that exclude each other."""
    steps = [n for n, node in enumerate(program.nodes) if node.kind == SyncKind.STEP]
    hazards: list[Hazard] = []
    for _ in range(rng.randint(1, 6) if steps else 0):
        source, target = rng.choice(steps), rng.choice(steps)
        around = program.loops_around(program.nodes[target].sequence)
        common = [
            loop for loop in program.loops_around(program.nodes[source].sequence) if loop in around
        ]
        loop = rng.choice([None, *common])
        if loop is None and source > target:
            source, target = target, source
        hazards.append((source, target, loop, far and loop is not None and rng.random() < 0.3))
    return hazards


def random_nest(rng: Random, depth: int, program: Program, sequence: int = 0) -> None:
    """Add loops and branches, with steps before and behind them."""
    for _ in range(rng.randint(2, 5)):
        kind = rng.choices(
            [SyncKind.STEP, SyncKind.LOOP, SyncKind.BRANCH],
            [5, 2 * (depth > 0), 2 * (depth > 0)],
        )[0]
        node = program.append(sequence, kind, 0, rng.random() < 0.5)
        for _ in range({SyncKind.LOOP: 1, SyncKind.BRANCH: 2}.get(kind, 0)):
            random_nest(rng, depth - 1, program, program.add_part(node))
