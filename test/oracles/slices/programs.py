"""Random kernels that access memory by slices of dynamic size, in bounds and out of them.

A kernel takes slices of slices, at offsets and of sizes that are numbers, arguments, ids, counters,
or the least of some; threads store, and load, elements of them. What each thread does is known for
all values of the arguments: whether all that it takes and touches is in bounds.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

Environment = dict[str, int]
Space = Literal["global", "workgroup"]
THREADS = 32
# Launches that are thought of, and those that are kept, in bounds and out of them.
TRIED, KEPT = 40, {True: 5, False: 2}
ELEMENT = "i32"


class OutOfBounds(Exception):
    """A slice, or an index, is not in what it is of."""


class Undefined(Exception):
    """A slice has fewer elements than none, or none and begins out of bounds."""


@dataclass(frozen=True)
class Value:
    """A number: its name in the text, and what it is."""

    name: str
    get: Callable[[Environment], int]


@dataclass(frozen=True)
class View:
    """A memref: its name and type, the extents of its dimensions, its strides as far as known."""

    name: str
    kind: str
    extents: tuple[Value, ...]
    strides: tuple[int | None, ...]


@dataclass
class Program:
    """A kernel and what it is launched with."""

    text: str
    shape: tuple[int, int]
    blocks: int
    launches: list[Environment]
    # What a thread does, in order; raises `OutOfBounds`.
    run: Callable[[Environment], None]

    def choose(self) -> list[tuple[Environment, bool]]:
        """Return a few launches, with whether they are in bounds: more that are, if there are."""
        left, chosen = dict(KEPT), []
        for launch in {tuple(launch.items()): launch for launch in self.launches}.values():
            if sum(left.values()) == 0:
                break
            is_in = self.is_in_bounds(launch)
            if is_in is not None and left[is_in]:
                left[is_in] -= 1
                chosen.append((launch, is_in))
        return chosen

    def is_in_bounds(self, launch: Environment) -> bool | None:
        """Tell whether all of a launch is in bounds; nothing if it has no meaning at all."""
        is_in = True
        for block in range(self.blocks):
            for thread in range(THREADS):
                try:
                    self.run({**launch, "b": block, "t": thread})
                except OutOfBounds:
                    is_in = False
                except Undefined:
                    return None
        return is_in


Action = Callable[[Environment], None]


@dataclass
class Writer:
    """The lines of a kernel, and what they do."""

    lines: list[str] = field(default_factory=list)
    actions: list[Action] = field(default_factory=list)
    constants: dict[int, Value] = field(default_factory=dict)
    names: int = 0

    def name(self) -> str:
        """Return a new name."""
        self.names += 1
        return f"%v{self.names}"

    def emit(self, text: str) -> str:
        """Append an operation with one result and return its name."""
        name = self.name()
        self.lines.append(f"{name} = {text}")
        return name

    def constant(self, number: int) -> Value:
        """Return a constant."""
        name = f"%c{number}".replace("-", "m")
        return self.constants.setdefault(number, Value(name, lambda _: number))

    def binary(
        self, operation: str, lhs: Value, rhs: Value, compute: Callable[[int, int], int]
    ) -> Value:
        """Append arithmetic."""
        name = self.emit(f"arith.{operation} {lhs.name}, {rhs.name} : index")
        return Value(name, lambda env: compute(lhs.get(env), rhs.get(env)))


class Generator:
    """Makes one program."""

    def __init__(self, seed: int) -> None:
        self.chance = chance = random.Random(seed)
        self.writer = Writer()
        self.space: Space = chance.choice(["global", "workgroup"])
        self.blocks = chance.choice([1, 2, 3]) if self.space == "global" else 1
        self.shape = (chance.choice([1, 2, 3, 4, 8]), chance.choice([4, 8, 16, 24, 32, 64]))
        self.is_dynamic = self.space == "global" and chance.random() < 0.4
        self.arguments: list[str] = []
        self.counter: Value | None = None

    def flip(self, probability: float = 0.5) -> bool:
        """Return true with a probability."""
        return self.chance.random() < probability

    # Numbers.

    def argument(self) -> Value:
        """Return an argument."""
        if self.arguments and (self.flip(0.4) or len(self.arguments) == 3):
            name = self.chance.choice(self.arguments)
        else:
            name = f"n{len(self.arguments)}"
            self.arguments.append(name)
        return Value(f"%{name}", lambda env: env[name])

    def offset(self, extent: Value) -> Value:
        """Return where a slice begins."""
        writer, chance = self.writer, self.chance
        block = Value("%b", lambda env: env["b"])
        thread = Value("%t", lambda env: env["t"])
        most = max(self.shape)
        choices: list[Callable[[], Value]] = [
            lambda: writer.constant(0),
            lambda: writer.constant(0),
            lambda: writer.constant(chance.choice([1, 2, 4])),
            self.argument,
            lambda: block,
            lambda: writer.binary(
                "muli", block, writer.constant(chance.choice([2, 4, 8])), lambda a, b: a * b
            ),
            lambda: writer.binary("subi", extent, self.argument(), lambda a, b: a - b),
        ]
        if self.counter:
            counter = self.counter
            choices += [lambda: counter] * 2
        if self.flip(0.15):
            choices += [lambda: thread] * 3
            choices.append(
                lambda: writer.binary(
                    "remui", thread, writer.constant(chance.randint(1, most)), lambda a, b: a % b
                )
            )
        return chance.choice(choices)()

    def size(self, extent: Value, offset: Value) -> Value:
        """Return how many elements a slice has."""
        writer, chance = self.writer, self.chance
        number = chance.choice([1, 1, 2, 4, 8, 16])

        def rest() -> Value:
            return writer.binary("subi", extent, offset, lambda a, b: a - b)

        choices: list[Callable[[], Value]] = [
            lambda: writer.constant(number),
            self.argument,
            self.argument,
            rest,
            lambda: writer.binary("minsi", self.argument(), writer.constant(number), min),
            lambda: writer.binary("minsi", self.argument(), rest(), min),
            lambda: self.affine_least(self.argument(), number),
            lambda: writer.binary("maxsi", self.argument(), writer.constant(0), max),
        ]
        return chance.choice(choices)()

    def affine_least(self, value: Value, number: int) -> Value:
        """Return the lesser of a value and a number."""
        text = f"affine.min affine_map<()[s0] -> (s0, {number})>()[{value.name}]"
        name = self.writer.emit(text)
        return Value(name, lambda env: min(value.get(env), number))

    # Slices.

    def base(self) -> View:
        """Return the memory."""
        writer = self.writer
        extents = tuple(map(writer.constant, self.shape))
        strides: tuple[int | None, ...] = (self.shape[1], 1)
        kind = self.type(self.shape)
        if self.is_dynamic:
            zero, one = writer.constant(0).name, writer.constant(1).name
            kind, strides = self.type("??"), (None, 1)
            names = [writer.emit(f"memref.dim %x, {dim} : {kind}") for dim in (zero, one)]
            extents = tuple(Value(n, e.get) for n, e in zip(names, extents, strict=True))
        return View("%x", kind, extents, strides)

    def type(self, shape: Sequence[int | str], layout: str = "") -> str:
        """Return the type of a memref."""
        dims = "".join(f"{extent}x" for extent in shape)
        space = ", 3" if self.space == "workgroup" else ""
        return f"memref<{dims}{ELEMENT}{layout and ', ' + layout}{space}>"

    def slice(self, view: View) -> View:
        """Return a slice."""
        writer, chance = self.writer, self.chance
        steps = [chance.choice([1, 1, 1, 1, 2, 3]) for _ in view.extents]
        offsets = [self.offset(extent) for extent in view.extents]
        sizes = [self.size(*pair) for pair in zip(view.extents, offsets, strict=True)]
        dropped = -1
        if len(sizes) == 2 and self.flip(0.6):
            # A row; or a column.
            dropped = 0 if self.flip(0.8) else 1
            sizes[dropped] = writer.constant(1)
        strides = [s and s * step for s, step in zip(view.strides, steps, strict=True)]
        kept = [dim for dim in range(len(sizes)) if dim != dropped]
        shown = ", ".join("?" if strides[dim] is None else str(strides[dim]) for dim in kept)
        kind = self.type("?" * len(kept), f"strided<[{shown}], offset: ?>")
        texts = [v.name for v in sizes]
        if dropped >= 0:
            texts[dropped] = "1"
        at = ", ".join(offset.name for offset in offsets)
        name = writer.emit(
            f"memref.subview {view.name}[{at}] [{', '.join(texts)}] "
            f"[{', '.join(map(str, steps))}] : {view.kind} to {kind}"
        )

        def take(env: Environment) -> None:
            for extent, offset, size, step in zip(view.extents, offsets, sizes, steps, strict=True):
                check_slice(offset.get(env), size.get(env), step, extent.get(env))

        writer.actions.append(take)
        extents = tuple(sizes[dim] for dim in kept)
        return View(name, kind, extents, tuple(strides[dim] for dim in kept))

    # Accesses.

    def access(self, view: View) -> None:
        """Let threads that are in a slice touch its elements, once or in a loop."""
        last = view.extents[-1]
        row = self.row(view)
        is_loop = self.flip(0.4)
        writer = self.writer
        index, outer = "%t", writer.actions
        inner: list[Action] = []
        writer.actions = inner
        if is_loop:
            index = writer.name()
            step = writer.constant(THREADS).name
            writer.lines.append(f"scf.for {index} = %t to {last.name} step {step} {{")
        else:
            within = writer.emit(f"arith.cmpi slt, %t, {last.name} : index")
            writer.lines.append(f"scf.if {within} {{")
        moved, at = self.moved(index)
        self.touch(view, row, moved, at)
        writer.lines.append("}")
        writer.actions = outer

        def run(env: Environment) -> None:
            end = last.get(env)
            places = range(env["t"], end if is_loop else min(end, env["t"] + 1), THREADS)
            for place in places:
                for action in inner:
                    action({**env, "j": place})

        writer.actions.append(run)

    def row(self, view: View) -> Value | None:
        """Return an index of the first of two dimensions."""
        if len(view.extents) == 1:
            return None
        block = Value("%b", lambda env: env["b"])
        return self.chance.choice([self.writer.constant(0), block, self.argument()])

    def moved(self, index: str) -> tuple[str, Callable[[int], int]]:
        """Return an index near the own one, by its name and what it is."""
        writer = self.writer
        if self.flip(0.85):
            return index, lambda place: place
        by = self.chance.choice([1, 2, 4])
        if self.flip():
            name = writer.emit(f"arith.addi {index}, {writer.constant(by).name} : index")
            return name, lambda place: place + by
        name = writer.emit(f"arith.divui {index}, {writer.constant(by).name} : index")
        return name, lambda place: place // by

    def touch(self, view: View, row: Value | None, index: str, at: Callable[[int], int]) -> None:
        """Load or store an element."""
        writer = self.writer
        indices = f"{row.name}, {index}" if row else index
        place = f"{view.name}[{indices}] : {view.kind}"
        if self.flip(0.75):
            writer.lines.append(f"memref.store %value, {place}")
        else:
            loaded = writer.emit(f"memref.load {place}")
            writer.lines.append(f"memref.store {loaded}, %out[%global] : memref<?x{ELEMENT}>")

        def check(env: Environment) -> None:
            if row and not 0 <= row.get(env) < view.extents[0].get(env):
                raise OutOfBounds
            if not 0 <= at(env["j"]) < view.extents[-1].get(env):
                raise OutOfBounds

        writer.actions.append(check)

    # The program.

    def body(self) -> None:
        """Write slices and accesses, maybe with barriers between."""
        base = self.base()
        for number in range(self.chance.choice([1, 1, 2, 2, 3])):
            if number and self.flip(0.3):
                self.writer.lines.append("gpu.barrier")
            view = self.slice(base)
            while self.flip(0.4):
                view = self.slice(view)
            self.access(view)

    def program(self) -> Program:
        """Return the program."""
        writer = self.writer
        trips = self.chance.choice([0, 0, 2, 3])
        if trips:
            self.counter = Value("%i", lambda env: env["i"])
            zero, one, end = (writer.constant(n).name for n in (0, 1, trips))
            writer.lines.append(f"scf.for %i = {zero} to {end} step {one} {{")
        self.body()
        if trips:
            writer.lines += ["gpu.barrier"] * self.flip(0.5) + ["}"]
        actions = list(writer.actions)

        def run(env: Environment) -> None:
            for iteration in range(max(1, trips)):
                for action in actions:
                    action({**env, "i": iteration})

        return Program(self.text(), self.shape, self.blocks, self.launches(), run)

    def launches(self) -> list[Environment]:
        """Return values of the arguments: mostly small ones, none below zero."""
        chance = self.chance
        numbers = [0, 1, 1, 2, 2, 3, 4, 4, 6, 8, 12, 16, *self.shape]
        return [{name: chance.choice(numbers) for name in self.arguments} for _ in range(TRIED)]

    def text(self) -> str:
        """Return the module."""
        writer = self.writer
        memory = self.type("??" if self.is_dynamic else self.shape)
        given = [f"%out: memref<?x{ELEMENT}> {{llvm.noalias}}"]
        shared = f" workgroup(%x: {memory})" if self.space == "workgroup" else ""
        if self.space == "global":
            given.append(f"%x: {memory} {{llvm.noalias}}")
        given += [f"%{name}: index" for name in self.arguments]
        sizes = (
            f"known_block_size = array<i32: {THREADS}, 1, 1>, "
            f"known_grid_size = array<i32: {self.blocks}, 1, 1>"
        )
        threads = writer.constant(THREADS).name
        lines = [
            "gpu.module @kernels {",
            f"gpu.func @main_kernel({', '.join(given)}){shared} kernel attributes {{{sizes}}} {{",
            *(f"{v.name} = arith.constant {n} : index" for n, v in writer.constants.items()),
            "%t = gpu.thread_id x",
            "%b = gpu.block_id x",
            f"%first = arith.muli %b, {threads} : index",
            "%global = arith.addi %first, %t : index",
            f"%value = arith.index_cast %global : index to {ELEMENT}",
        ]
        return "\n".join([*lines, *writer.lines, "gpu.return", "}", "}", ""])


def check_slice(offset: int, size: int, step: int, extent: int) -> None:
    """Raise an exception unless a slice is in a dimension."""
    if size < 0 or (size == 0 and not 0 <= offset < extent):
        raise Undefined
    if size and not (offset >= 0 and offset + (size - 1) * step < extent):
        raise OutOfBounds


def generate(seed: int) -> Program:
    """Return a random program."""
    return Generator(seed).program()
