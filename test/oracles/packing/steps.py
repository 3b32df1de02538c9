"""Random kernels with many buffers in workgroup memory whose lives begin and end everywhere.

A kernel is a tree of steps that carries a sum per thread. Threads write a buffer, each its own
elements, and read what others wrote into their sums. Barriers are where they are due as long as
each buffer has bytes of its own: `place` finds these points.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

Element = Literal["i8", "f16", "f32", "f64", "i64"]
Bound = Literal["affine", "minsi", "minui", "slice"]
ELEMENT_BYTES: dict[Element, int] = {"i8": 1, "f16": 2, "f32": 4, "f64": 8, "i64": 8}
# What cp.async can copy an element of.
ASYNC_ELEMENTS: tuple[Element, ...] = ("f32", "f64", "i64")


@dataclass(frozen=True)
class Buffer:
    """Memory of a block. With `extent`, the size at run time is the smaller of it and `shape`.

    `bound` says how: by which operation, and whether it is a slice of a buffer of that shape."""

    name: str
    place: Literal["attribution", "alloc", "global", "function"]
    element: Element
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None = None
    alignment: int = 0
    extent: int | None = None
    bound: Bound = "affine"

    @property
    def size(self) -> int:
        """How many elements are used."""
        if self.extent is not None:
            return min(self.extent, self.shape[0])
        return self.shape[0] * (self.shape[1] if len(self.shape) > 1 else 1)

    @property
    def bytes(self) -> int:
        """How many bytes it takes."""
        strides = self.strides or (*self.shape[1:], 1)
        last = sum((n - 1) * stride for n, stride in zip(self.shape, strides, strict=True))
        return (last + 1) * ELEMENT_BYTES[self.element]


@dataclass(frozen=True)
class Condition:
    """Of a branch or a choice; all but that on the `thread` are the same in all of a block."""

    on: Literal["block", "flag", "iteration", "later", "thread"]
    number: int = 0


@dataclass(frozen=True)
class Touch:
    """All threads write their elements, read those of others, change their own, or exchange."""

    what: Literal["write", "read", "own", "exchange"]
    buffer: str
    salt: int
    via: Literal["inline", "call", "view"] = "inline"


@dataclass(frozen=True)
class Start:
    """Each thread begins to copy to its elements, a group of its own."""

    buffer: str
    salt: int


@dataclass(frozen=True)
class Wait:
    """Wait until only so many groups are in flight, which completes a buffer."""

    groups: int
    buffer: str


@dataclass(frozen=True)
class Barrier:
    """All threads of the block meet."""


@dataclass(frozen=True)
class Alloc:
    """A buffer comes into being, with undefined contents."""

    buffer: str


@dataclass(frozen=True)
class Dealloc:
    """A buffer goes."""

    buffer: str


@dataclass(frozen=True)
class Swap:
    """A loop whose iterations write and read two buffers alternately, which it carries."""

    first: str
    second: str
    iterations: int
    salt: int
    form: Literal["for", "cf"] = "for"


@dataclass(frozen=True)
class Choose:
    """Read one of two buffers."""

    first: str
    second: str
    condition: Condition
    salt: int


@dataclass(frozen=True)
class Call:
    """Call a function that exchanges values by way of a buffer that it allocates."""

    buffer: str
    salt: int


@dataclass(frozen=True)
class Loop:
    """Steps that are repeated; None stands for a number that the launch gives, maybe 0."""

    form: Literal["for", "while", "cf", "cf-do", "divergent"]
    iterations: int | None
    body: tuple[Step, ...]
    before: tuple[Step, ...] = ()


@dataclass(frozen=True)
class Branch:
    """Steps of which one or the other are executed."""

    form: Literal["scf", "cf"]
    condition: Condition
    then: tuple[Step, ...]
    other: tuple[Step, ...]


Step = Touch | Start | Wait | Barrier | Alloc | Dealloc | Swap | Choose | Call | Loop | Branch


@dataclass(frozen=True)
class Program:
    """A kernel, its launch, and its buffers."""

    seed: int
    form: Literal["function", "launch"]
    threads: int
    blocks: int
    space: str
    is_size_known: bool
    has_launch: bool
    flag: int
    trips: int
    extent: int
    buffers: dict[str, Buffer]
    steps: tuple[Step, ...]


# --- barriers -------------------------------------------------------------------------------------

# What happened to buffers since the last barrier.
State = frozenset[tuple[str, Literal["read", "write"]]]


def place(steps: Sequence[Step], state: State) -> tuple[tuple[Step, ...], State]:
    """Put barriers where they are due; return the state after the steps as well."""
    placed: list[Step] = []
    for step in steps:
        if _conflicts(step) & state:
            placed.append(Barrier())
            state = frozenset()
        if isinstance(step, Loop) and step.form != "divergent":
            step, state = _place_loop(step, state)
        elif isinstance(step, Branch) and step.condition.on != "thread":
            then, after_then = place(step.then, state)
            other, after_other = place(step.other, state)
            step, state = replace(step, then=then, other=other), after_then | after_other
        else:
            state = _after(step, state)
        placed.append(step)
    return tuple(placed), state


def _place_loop(loop: Loop, state: State) -> tuple[Loop, State]:
    start = state
    while True:
        before, middle = place(loop.before, start)
        body, end = place(loop.body, middle)
        if end <= start:
            break
        start |= end
    after = middle if loop.form == "while" else end
    return replace(loop, body=body, before=before), after | (
        state if not loop.iterations else after
    )


def _conflicts(step: Step) -> State:
    """Return what must not have happened since the last barrier."""
    match step:
        case Touch("read", name):
            return frozenset({(name, "write")})
        case Touch(_, name) | Swap(name):
            return frozenset({(name, "read")})
        case Start(name):
            return frozenset({(name, "read"), (name, "write")})
        case Choose(first, second):
            return frozenset({(first, "write"), (second, "write")})
        case Loop("divergent") | Branch(_, Condition("thread")):
            return frozenset().union(*(_conflicts(inner) for inner in _inner(step)))
    return frozenset()


def _after(step: Step, state: State) -> State:
    match step:
        case Touch("read", name):
            return state | {(name, "read")}
        case Touch("exchange", name):
            return frozenset({(name, "read")})
        case Call():
            return frozenset()
        case Touch(_, name) | Start(name) | Wait(_, name):
            return state | {(name, "write")}
        case Choose(first, second):
            return state | {(first, "read"), (second, "read")}
        case Swap(first, second, iterations):
            return frozenset({(first if iterations % 2 else second, "read")})
        case Alloc(name):
            return state - {(name, "read"), (name, "write")}
        case Loop() | Branch():
            for inner in _inner(step):
                state = _after(inner, state)
    return state


def _inner(step: Loop | Branch) -> tuple[Step, ...]:
    return step.body if isinstance(step, Loop) else (*step.then, *step.other)


def padded(program: Program) -> Program:
    """Return the program with buffers of i64 that are multiples of their alignments."""

    def pad(buffer: Buffer) -> Buffer:
        alignment = max(16, buffer.alignment)
        size = -(-buffer.bytes // alignment) * alignment
        return replace(buffer, element="i64", shape=(size // 8,), strides=None)

    return replace(program, buffers={name: pad(b) for name, b in program.buffers.items()})
