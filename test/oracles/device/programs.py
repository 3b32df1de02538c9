"""Random host programs that launch kernels, in sequences, branches and loops.

Each is a function of a few buffers of four numbers: arguments, allocations, globals. The host
stores, loads and fills elements, kernels read and write them; what the host loads goes to a log.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

SIZE = 4
TYPE = f"memref<{SIZE}xi32>"
LOG = 64
# The most branches and loops that are around each other.
DEPTH = 2
Origin = Literal["argument", "allocation", "global"]

KERNELS = f"""gpu.module @kernels {{
  gpu.func @add(%a: {TYPE}, %b: {TYPE}) kernel {{
    %c5 = arith.constant 5 : i32
    %i = gpu.thread_id x
    %x = memref.load %a[%i] : {TYPE}
    %y = memref.load %b[%i] : {TYPE}
    %z = arith.muli %y, %c5 : i32
    %s = arith.addi %z, %x : i32
    memref.store %s, %b[%i] : {TYPE}
    gpu.return
  }}
  gpu.func @poke(%a: {TYPE}, %x: i32) kernel {{
    %c0 = arith.constant 0 : index
    memref.store %x, %a[%c0] : {TYPE}
    gpu.return
  }}
}}"""


@dataclass(frozen=True)
class Store:
    """The host writes an element."""

    buffer: str
    index: int
    value: int


@dataclass(frozen=True)
class Fill:
    """The host writes all elements."""

    buffer: str
    value: int


@dataclass(frozen=True)
class Load:
    """The host reads an element and adds it to element `place` of the log."""

    buffer: str
    index: int
    place: int


@dataclass(frozen=True)
class Poke:
    """A kernel writes an element."""

    buffer: str
    value: int


@dataclass(frozen=True)
class Add:
    """A kernel adds what it reads in one buffer to five times another."""

    source: str
    target: str


@dataclass(frozen=True)
class If:
    """One of two sequences is executed; the second may not be in the text at all."""

    condition: int
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...] | None


@dataclass(frozen=True)
class For:
    """A sequence is executed some times, as an argument says."""

    trips: int
    body: tuple[Statement, ...]


@dataclass(frozen=True)
class While:
    """A sequence is executed, and as often as an argument says a second one and the first again."""

    trips: int
    before: tuple[Statement, ...]
    after: tuple[Statement, ...]


@dataclass(frozen=True)
class Swap:
    """A loop adds one of two buffers to the other, which it swaps; the host reads the first then.

    The result is copied to the first buffer, if it is to be, or loaded.
    """

    trips: int
    first: str
    second: str
    place: int
    is_copied: bool


Statement = Store | Fill | Load | Poke | Add | If | For | While | Swap


@dataclass
class Program:
    """A function, and what it is of."""

    buffers: dict[str, Origin]
    statements: tuple[Statement, ...]
    conditions: int
    trips: int
    text: str = ""


@dataclass
class Generator:
    """Makes one program; `joins` has loops swap buffers."""

    chance: random.Random
    names: Sequence[str]
    joins: bool
    conditions: int = 0
    trips: int = 0
    places: int = 0
    left: int = field(default=0)

    def statement(self, depth: int) -> Statement:
        """Return a statement, of which `depth` more may be around each other."""
        chance = self.chance
        self.left -= 1
        name = chance.choice(self.names)
        kinds = ["store", "fill", "load", "poke", "add", "add", "poke", "load"]
        if depth:
            kinds += ["if", "if", "for", "for", "while"]
        if self.joins and len(self.names) > 1:
            kinds += ["swap"] * 2
        value = chance.randint(1, 1000)
        match chance.choice(kinds):
            case "store":
                return Store(name, chance.randrange(SIZE), value)
            case "fill":
                return Fill(name, value)
            case "load":
                self.places += 1
                return Load(name, chance.randrange(SIZE), self.places - 1)
            case "poke":
                return Poke(name, value)
            case "add":
                return Add(chance.choice(self.names), name)
            case "swap":
                self.trips += 1
                self.places += 1
                first, second = chance.sample(list(self.names), 2)
                is_copied = chance.random() < 0.5
                return Swap(self.trips - 1, first, second, self.places - 1, is_copied)
            case "if":
                self.conditions += 1
                number = self.conditions - 1
                then = self.sequence(depth - 1)
                return If(number, then, self.sequence(depth - 1) if chance.random() < 0.6 else None)
            case "for":
                self.trips += 1
                return For(self.trips - 1, self.sequence(depth - 1))
            case _:
                self.trips += 1
                number = self.trips - 1
                return While(number, self.sequence(depth - 1), self.sequence(depth - 1))

    def sequence(self, depth: int) -> tuple[Statement, ...]:
        """Return a few statements."""
        statements = []
        is_outermost = depth == DEPTH
        for _ in range(self.left if is_outermost else self.chance.randint(0, 3)):
            if self.left > 0:
                statements.append(self.statement(depth))
        return tuple(statements)


@dataclass
class Writer:
    """Writes the text of a program."""

    lines: list[str] = field(default_factory=list)
    indent: int = 1
    names: int = 0

    def emit(self, text: str) -> None:
        """Append a line."""
        self.lines.append("  " * self.indent + text)

    def name(self) -> str:
        """Return a new name."""
        self.names += 1
        return f"%v{self.names}"

    def constant(self, value: int, kind: str) -> str:
        """Append a constant."""
        name = self.name()
        self.emit(f"{name} = arith.constant {value} : {kind}")
        return name

    def launch(self, kernel: str, arguments: str) -> None:
        """Append a launch of four threads, or of one."""
        sizes = (
            f"blocks in (%c1, %c1, %c1) threads in (%c{SIZE if kernel == 'add' else 1}, %c1, %c1)"
        )
        self.emit(f"gpu.launch_func @kernels::@{kernel} {sizes} args({arguments})")

    def log(self, value: str, place: int) -> None:
        """Add a value to an element of the log."""
        at, old, more, new = self.constant(place, "index"), self.name(), self.name(), self.name()
        three = self.constant(3, "i32")
        self.emit(f"{old} = memref.load %log[{at}] : memref<{LOG}xi32>")
        self.emit(f"{more} = arith.muli {old}, {three} : i32")
        self.emit(f"{new} = arith.addi {more}, {value} : i32")
        self.emit(f"memref.store {new}, %log[{at}] : memref<{LOG}xi32>")

    def region(self, statements: Sequence[Statement], *end: str) -> None:
        """Append what is in a region."""
        self.indent += 1
        for statement in statements:
            self.statement(statement)
        for line in end:
            self.emit(line)
        self.indent -= 1

    def statement(self, statement: Statement) -> None:
        """Append a statement."""
        match statement:
            case Store(buffer, index, value):
                at, number = self.constant(index, "index"), self.constant(value, "i32")
                self.emit(f"memref.store {number}, %{buffer}[{at}] : {TYPE}")
            case Fill(buffer, value):
                number = self.constant(value, "i32")
                self.emit(f"linalg.fill ins({number} : i32) outs(%{buffer} : {TYPE})")
            case Load(buffer, index, place):
                at, loaded = self.constant(index, "index"), self.name()
                self.emit(f"{loaded} = memref.load %{buffer}[{at}] : {TYPE}")
                self.log(loaded, place)
            case Poke(buffer, value):
                number = self.constant(value, "i32")
                self.launch("poke", f"%{buffer} : {TYPE}, {number} : i32")
            case Add(source, target):
                self.launch("add", f"%{source} : {TYPE}, %{target} : {TYPE}")
            case Swap():
                self.swap(statement)
            case _:
                self.compound(statement)

    def compound(self, statement: If | For | While) -> None:
        """Append a branch or a loop."""
        match statement:
            case If(condition, then, otherwise):
                self.emit(f"scf.if %if{condition} {{")
                self.region(then)
                if otherwise is not None:
                    self.emit("} else {")
                    self.region(otherwise)
                self.emit("}")
            case For(trips, body):
                self.emit(f"scf.for {self.name()} = %c0 to %n{trips} step %c1 {{")
                self.region(body)
                self.emit("}")
            case While(trips, before, after):
                count, goes, next_count, old = (self.name() for _ in range(4))
                self.emit(f"scf.while ({count} = %c0) : (index) -> index {{")
                self.region(
                    before,
                    f"{goes} = arith.cmpi ult, {count}, %n{trips} : index",
                    f"scf.condition({goes}) {count} : index",
                )
                self.emit("} do {")
                self.emit(f"^bb0({old}: index):")
                self.region(
                    after,
                    f"{next_count} = arith.addi {old}, %c1 : index",
                    f"scf.yield {next_count} : index",
                )
                self.emit("}")

    def swap(self, statement: Swap) -> None:
        """Append a loop that swaps two buffers."""
        result, first, second = self.name(), self.name(), self.name()
        carried = f"iter_args({first} = %{statement.first}, {second} = %{statement.second})"
        self.emit(
            f"{result}:2 = scf.for {self.name()} = %c0 to %n{statement.trips} step %c1 "
            f"{carried} -> ({TYPE}, {TYPE}) {{"
        )
        self.indent += 1
        self.launch("add", f"{first} : {TYPE}, {second} : {TYPE}")
        self.emit(f"scf.yield {second}, {first} : {TYPE}, {TYPE}")
        self.indent -= 1
        self.emit("}")
        if statement.is_copied:
            self.emit(f"memref.copy {result}#0, %{statement.first} : {TYPE} to {TYPE}")
            return
        loaded = self.name()
        self.emit(f"{loaded} = memref.load {result}#1[%c1] : {TYPE}")
        self.log(loaded, statement.place)


def write(program: Program) -> str:
    """Return the text of a program."""
    writer = Writer()
    arguments = [
        f"%{name}: {TYPE}" for name, is_of in program.buffers.items() if is_of == "argument"
    ]
    arguments += [f"%log: memref<{LOG}xi32>"]
    arguments += [f"%if{number}: i1" for number in range(program.conditions)]
    arguments += [f"%n{number}: index" for number in range(program.trips)]
    for value in (0, 1, SIZE):
        writer.emit(f"%c{value} = arith.constant {value} : index")
    for name, origin in program.buffers.items():
        if origin == "allocation":
            writer.emit(f"%{name} = memref.alloc() : {TYPE}")
        elif origin == "global":
            writer.emit(f"%{name} = memref.get_global @{name} : {TYPE}")
    for statement in program.statements:
        writer.statement(statement)
    for name, origin in program.buffers.items():
        if origin == "allocation":
            writer.emit(f"memref.dealloc %{name} : {TYPE}")
    writer.emit("return")
    globals_ = [
        f"memref.global @{name} : {TYPE} = dense<{number + 1}>"
        for number, (name, origin) in enumerate(program.buffers.items())
        if origin == "global"
    ]
    body = "\n".join(writer.lines)
    head = "\n".join([KERNELS, *globals_])
    return (
        f"module attributes {{gpu.container_module}} {{\n{head}\n"
        f"func.func @main({', '.join(arguments)}) {{\n{body}\n}}\n}}\n"
    )


def generate(seed: int, joins: bool = False, size: int = 8) -> Program:
    """Return a random program of up to `size` statements."""
    chance = random.Random(f"{seed} {joins} {size}")
    origins: list[Origin] = ["argument", "allocation", "allocation", "global"]
    names = "abc"[: chance.randint(2 if joins else 1, 3)]
    buffers = {name: chance.choice(origins) for name in names}
    generator = Generator(chance, names, joins, left=size)
    statements = generator.sequence(DEPTH)
    program = Program(buffers, statements, generator.conditions, generator.trips)
    program.text = write(program)
    return program
