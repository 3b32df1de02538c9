"""The fewest copies that a program needs, by trying all sets of places.

A buffer is in two memories. A copy may stand before each statement and at the end of each sequence.
A set of copies is right if on every path, however often loops are executed, each statement finds
the newest contents where it needs them, and each copy has something to copy. Fewest means: at the
deepest level of loops, then at the level above, and so on.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from oracles.device.programs import (
    Add,
    Fill,
    For,
    If,
    Load,
    Poke,
    Program,
    Statement,
    Store,
    Swap,
    While,
)

HOST, DEVICE = 1, 2
Step = tuple[int, int | None]
# A set of states, each a set of memories with the newest contents.
States = frozenset[int]
Place = tuple[int, int]


class Stale(Exception):
    """Contents are needed, or copied, that are not the newest."""


@dataclass
class Sequence:
    """Steps, branches and loops, with the level of loops that they are in."""

    number: int
    level: int
    nodes: list[Node]


@dataclass
class Node:
    """A step: where contents are needed, and where they are then; or what holds sequences."""

    kind: str
    step: Step = (0, None)
    sequences: tuple[Sequence, ...] = ()


def get_step(statement: Statement, buffer: str) -> Step | None:
    """Return what a statement does to a buffer; nothing if it does nothing."""
    match statement:
        case Store(name) if name == buffer:
            return HOST, HOST
        case Fill(name) if name == buffer:
            return 0, HOST
        case Load(name) if name == buffer:
            return HOST, None
        case Poke(name) if name == buffer:
            return DEVICE, DEVICE
        case Add(source, target) if buffer in (source, target):
            return DEVICE, DEVICE if buffer == target else None
        case Swap():
            raise ValueError("which buffer it is depends on the number of iterations")
    return None


class Builder:
    """Makes what one buffer sees of a program."""

    def __init__(self, buffer: str) -> None:
        self.buffer = buffer
        self.sequences: list[Sequence] = []

    def build(self, statements: tuple[Statement, ...], level: int) -> Sequence:
        """Return a sequence."""
        sequence = Sequence(len(self.sequences), level, [])
        self.sequences.append(sequence)
        for statement in statements:
            node = self.node(statement, level)
            if node.kind != "step" or node.step != (0, None):
                sequence.nodes.append(node)
        return sequence

    def node(self, statement: Statement, level: int) -> Node:
        """Return what a statement is."""
        match statement:
            case If(_, then, otherwise):
                parts = (then, otherwise or ())
                return Node("if", sequences=tuple(self.build(part, level) for part in parts))
            case For(_, body):
                return Node("for", sequences=(self.build(body, level + 1),))
            case While(_, before, after):
                parts = (before, after)
                return Node("while", sequences=tuple(self.build(part, level + 1) for part in parts))
        return Node("step", get_step(statement, self.buffer) or (0, None))


def transfer(states: States, to: int) -> States:
    """Return the states behind a copy."""
    if any(not state & (HOST | DEVICE) & ~to for state in states):
        raise Stale
    return frozenset({HOST | DEVICE}) if states else states


def run(sequence: Sequence, states: States, copies: dict[Place, int]) -> States:
    """Return the states behind a sequence."""
    for index, node in enumerate([*sequence.nodes, None]):
        if to := copies.get((sequence.number, index)):
            states = transfer(states, to)
        if node is not None:
            states = run_node(node, states, copies)
    return states


def run_node(node: Node, states: States, copies: dict[Place, int]) -> States:
    """Return the states behind a step, a branch or a loop."""
    match node.kind:
        case "step":
            needs, leaves = node.step
            if any(needs & ~state for state in states):
                raise Stale
            return states if leaves is None else frozenset({leaves} if states else ())
        case "if":
            return run(node.sequences[0], states, copies) | run(node.sequences[1], states, copies)
        case "for":
            while (more := states | run(node.sequences[0], states, copies)) != states:
                states = more
            return states
    while True:
        between = run(node.sequences[0], states, copies)
        more = states | run(node.sequences[1], between, copies)
        if more == states:
            return between
        states = more


def iterate_copies(places: list[Place], most: int) -> Iterator[dict[Place, int]]:
    """Iterate over all sets of up to `most` copies."""
    for count in range(most + 1):
        for chosen in itertools.combinations(places, count):
            for directions in itertools.product((HOST, DEVICE), repeat=count):
                yield dict(zip(chosen, directions, strict=True))


def get_cost(levels: dict[int, int], copies: dict[Place, int]) -> tuple[int, ...]:
    """Return how many copies there are at each level, the deepest first."""
    counts = [0] * (max(levels.values()) + 1)
    for number, _ in copies:
        counts[levels[number]] += 1
    return tuple(reversed(counts))


def find_minimum(program: Program, buffer: str, most: int, limit: int) -> tuple[int, ...] | None:
    """Return the least cost of up to `most` copies; nothing if there is too much to try."""
    builder = Builder(buffer)
    body = builder.build(program.statements, 0)
    places = [
        (sequence.number, index)
        for sequence in builder.sequences
        for index in range(len(sequence.nodes) + 1)
    ]
    if len(places) > limit:
        return None
    levels = {sequence.number: sequence.level for sequence in builder.sequences}
    is_own = program.buffers[buffer] == "allocation"
    entry = frozenset({HOST | DEVICE if is_own else HOST})
    best: tuple[int, ...] | None = None
    for copies in iterate_copies(places, most):
        cost = get_cost(levels, copies)
        if best is not None and cost >= best:
            continue
        try:
            states = run(body, entry, copies)
        except Stale:
            continue
        if is_own or all(state & HOST for state in states):
            best = cost
    return best
