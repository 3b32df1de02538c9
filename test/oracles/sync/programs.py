"""Kernels as the synchronisation passes see them, small enough to decide by enumeration.

A kernel is a list of steps that threads execute: accesses of one element, barriers of the block and
of warps, loops and branches, which threads take together or not. `parse` reads them from text:

    W S[t]; for i n { R S[(t + i) % 64]; barrier; U C[0] } if f == 0 { warpsync } else { W S[0] }

`W`, `R` and `U` write, read, and update by an atomic. `for` tests first; `loop i n { A } do { B }`
executes A once more than B: the test is behind A. `for i t to n by 64 { A }` begins at the thread's
number, and goes on in steps of 64.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Literal

from oracles.sync.expressions import (
    Condition,
    Expression,
    Number,
    parse_condition,
    parse_expression,
)

Operation = Literal["W", "R", "U"]
Element = Literal["i8", "i16", "i32", "i64"]
WARP = 32
ZERO = Number(0)


@dataclass(frozen=True)
class Buffer:
    """Workgroup memory; a view of the bytes that all share if it has an offset."""

    name: str
    shape: tuple[int, ...]
    element: Element = "i32"
    offset: int | None = None

    @property
    def width(self) -> int:
        """The bytes of an element."""
        return int(self.element[1:]) // 8

    @property
    def bytes(self) -> int:
        """The size."""
        return prod(self.shape) * self.width

    def __str__(self) -> str:
        at = "" if self.offset is None else f"@{self.offset}"
        return f"{self.name}:{'x'.join(map(str, self.shape))}x{self.element}{at}"


@dataclass(frozen=True)
class Access:
    """An access of one element."""

    operation: Operation
    buffer: str
    index: tuple[Expression, ...]
    number: int = 0

    def __str__(self) -> str:
        return f"{self.operation} {self.buffer}{''.join(f'[{i}]' for i in self.index)}"


@dataclass(frozen=True)
class Barrier:
    """All threads of the block meet, or those of each warp."""

    is_warp: bool = False
    number: int = 0

    def __str__(self) -> str:
        return "warpsync" if self.is_warp else "barrier"


@dataclass(frozen=True)
class Loop:
    """Counts from `start` to `end`, exclusive.

    `head` is executed once more than `body`."""

    iteration: str
    end: Expression
    body: tuple[Step, ...]
    head: tuple[Step, ...] = ()
    number: int = 0
    start: Expression = ZERO
    step: int = 1

    def __str__(self) -> str:
        span = str(self.end)
        if (self.start, self.step) != (ZERO, 1):
            span = f"{self.start} to {self.end} by {self.step}"
        if self.head:
            return f"loop {self.iteration} {span} {_block(self.head)} do {_block(self.body)}"
        return f"for {self.iteration} {span} {_block(self.body)}"


@dataclass(frozen=True)
class Branch:
    """Some threads, or all or none, go one way, the others the other way."""

    condition: Condition
    then: tuple[Step, ...]
    other: tuple[Step, ...] = ()
    number: int = 0

    def __str__(self) -> str:
        other = f" else {_block(self.other)}" if self.other else ""
        return f"if {self.condition} {_block(self.then)}{other}"


Step = Access | Barrier | Loop | Branch


@dataclass(frozen=True)
class Program:
    """A kernel; with the values of arguments for which it is to be looked at."""

    threads: int
    buffers: tuple[Buffer, ...]
    steps: tuple[Step, ...]
    arguments: dict[str, tuple[int, ...]] = field(default_factory=dict)
    name: str = "program"

    def buffer(self, name: str) -> Buffer:
        """Return the buffer of that name."""
        return next(buffer for buffer in self.buffers if buffer.name == name)

    def __str__(self) -> str:
        buffers = " ".join(map(str, self.buffers))
        return f"{self.threads} threads; {buffers}; {self.arguments}\n{join(self.steps)}"


def join(steps: Sequence[Step]) -> str:
    """Return steps as text."""
    return "; ".join(map(str, steps))


def _block(steps: Sequence[Step]) -> str:
    return f"{{ {join(steps)} }}" if steps else "{ }"


# --- parts ----------------------------------------------------------------------------------------


def parts(step: Step) -> tuple[tuple[Step, ...], ...]:
    """Return the sequences inside of a step: head and body, or both regions."""
    match step:
        case Loop():
            return step.head, step.body
        case Branch():
            return step.then, step.other
        case _:
            return ()


def with_parts(step: Step, new: Sequence[tuple[Step, ...]]) -> Step:
    """Return a step with other sequences inside."""
    match step:
        case Loop():
            return replace(step, head=new[0], body=new[1])
        case Branch():
            return replace(step, then=new[0], other=new[1])
        case _:
            return step


def walk(steps: Sequence[Step], depth: int = 0) -> Iterator[tuple[Step, int]]:
    """Yield all steps, in the order of the text, with the number of loops around each."""
    for step in steps:
        yield step, depth
        for part in parts(step):
            yield from walk(part, depth + isinstance(step, Loop))


def numbered(program: Program) -> Program:
    """Return the program with its steps numbered from 1 on, in the order of the text."""
    count = 0

    def number(steps: Sequence[Step]) -> tuple[Step, ...]:
        nonlocal count
        result = []
        for step in steps:
            count += 1
            here = replace(step, number=count)
            result.append(with_parts(here, [number(part) for part in parts(here)]))
        return tuple(result)

    return replace(program, steps=number(program.steps))


def barriers(program: Program) -> list[tuple[Barrier, int]]:
    """Return all barriers with the number of loops around them."""
    return [(step, depth) for step, depth in walk(program.steps) if isinstance(step, Barrier)]


def cost(program: Program) -> tuple[int, ...]:
    """Return how many barriers there are: of blocks, of warps, from the deepest loop outwards."""
    depth = max((depth for _, depth in walk(program.steps)), default=0)
    counts = [0] * (2 * depth + 2)
    for barrier, level in barriers(program):
        counts[2 * (depth - level) + barrier.is_warp] += 1
    return tuple(counts)


def without(program: Program, number: int | None = None) -> Program:
    """Return the program without the barrier of that number; by default, without any."""

    def remove(steps: Sequence[Step]) -> tuple[Step, ...]:
        return tuple(
            with_parts(step, [remove(part) for part in parts(step)])
            for step in steps
            if not (isinstance(step, Barrier) and number in (None, step.number))
        )

    return replace(program, steps=remove(program.steps))


# --- text -----------------------------------------------------------------------------------------

_TOKEN = re.compile(r"\s*(?:;|([{}])|([^;{}]+))")


def parse(
    text: str, buffers: str = "S:128", threads: int = 128, name: str = "program", **arguments: int
) -> Program:
    """Read a program: an argument `n=4` has all values from 0 to 4."""
    tokens = [a or b.strip() for a, b in _TOKEN.findall(text)]
    reader = _Reader([token for token in tokens if token])
    steps = reader.steps()
    if reader.tokens:
        raise ValueError(f"what is this: {reader.tokens}")
    values = {argument: tuple(range(most + 1)) for argument, most in arguments.items()}
    made = tuple(parse_buffer(buffer) for buffer in buffers.split())
    return numbered(Program(threads, made, steps, values, name))


def parse_buffer(text: str) -> Buffer:
    """Read a buffer such as `S:4x32xi16@64`."""
    match = re.fullmatch(r"(\w+):(\d+(?:x\d+)*)(?:x(i\d+))?(?:@(\d+))?", text)
    if not match:
        raise ValueError(f"not a buffer: {text}")
    name, shape, element, offset = match.groups()
    return Buffer(
        name,
        tuple(map(int, shape.split("x"))),
        element or "i32",  # type: ignore[arg-type]
        None if offset is None else int(offset),
    )


class _Reader:
    """Reads statements."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens

    def block(self) -> tuple[Step, ...]:
        """Read steps in braces."""
        if self.tokens.pop(0) != "{":
            raise ValueError(f"no brace before {self.tokens}")
        steps = self.steps()
        self.tokens.pop(0)
        return steps

    def steps(self) -> tuple[Step, ...]:
        """Read steps up to a closing brace."""
        steps: list[Step] = []
        while self.tokens and self.tokens[0] != "}":
            steps.append(self.step())
        return tuple(steps)

    def step(self) -> Step:
        """Read a step."""
        word, _, rest = self.tokens.pop(0).partition(" ")
        if word in ("for", "loop"):
            iteration, _, span = rest.strip().partition(" ")
            start, step, end = _span(span)
            head: tuple[Step, ...] = ()
            if word == "loop":
                head = self.block()
                self.expect("do")
            return Loop(iteration, end, self.block(), head, start=start, step=step)
        if word == "if":
            then = self.block()
            other: tuple[Step, ...] = ()
            if self.tokens[:1] == ["else"]:
                self.tokens.pop(0)
                other = self.block()
            return Branch(parse_condition(rest), then, other)
        if word in ("barrier", "warpsync"):
            return Barrier(word == "warpsync")
        if word in ("W", "R", "U"):
            buffer, _, index = rest.partition("[")
            return Access(word, buffer.strip(), _indices("[" + index))  # type: ignore[arg-type]
        raise ValueError(f"what is {word}?")

    def expect(self, word: str) -> None:
        """Read a word."""
        if self.tokens.pop(0) != word:
            raise ValueError(f"no {word} before {self.tokens}")


def _span(text: str) -> tuple[Expression, int, Expression]:
    if match := re.fullmatch(r"(.+) to (.+) by (\d+)", text):
        return parse_expression(match[1]), int(match[3]), parse_expression(match[2])
    return ZERO, 1, parse_expression(text)


def _indices(text: str) -> tuple[Expression, ...]:
    inner = text.strip()[1:-1]
    return tuple(parse_expression(index) for index in re.split(r"\]\s*\[", inner))
