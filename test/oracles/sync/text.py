"""Write kernels of `sync_programs` as MLIR, in different spellings.

Each operation that a step becomes has as its location the name of the program as the file, and the
number of the step as the line; the column says which part of the step it is (`Part`). What is not
of a step has line 0. Passes keep locations, so that messages and barriers can be told by them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Literal

from oracles.sync.affine import AffinePrinter
from oracles.sync.expressions import THREAD, Binary, Condition, Expression, Name, Number
from oracles.sync.programs import Access, Barrier, Branch, Loop, Program, Step

Container = Literal["function", "launch"]
Spelling = Literal["arith", "i32", "while", "affine", "cf", "i64"]
SPELLINGS: tuple[Spelling, ...] = ("arith", "i32", "while", "affine", "cf", "i64")
CONTAINERS: tuple[Container, ...] = ("function", "launch")
KERNEL = "kernel"
_SPACE = "#gpu.address_space<workgroup>"


class Part(IntEnum):
    """What of a step an operation is."""

    SELF = 1
    ENTER = 2
    TEST = 3
    NEXT = 4
    THEN = 5
    OTHER = 6


@dataclass(frozen=True)
class Form:
    """How a program is written."""

    container: Container = "function"
    spelling: Spelling = "arith"

    @property
    def is_flat(self) -> bool:
        """Whether control flow is branches between blocks."""
        return self.spelling in ("cf", "i64")

    def __str__(self) -> str:
        return f"{self.container}/{self.spelling}"


FORMS = tuple(Form(c, s) for c in CONTAINERS for s in SPELLINGS)


def print_program(program: Program, form: Form | None = None) -> str:
    """Return the module. The kernel takes input, output (i32), and the arguments (index)."""
    return Printer(program, form or Form()).print()


class Printer:
    """Writes a program."""

    def __init__(self, program: Program, form: Form) -> None:
        self.program = program
        self.form = form
        self.lines: list[str] = []
        self.constants: dict[str, str] = {}
        self.names = 0
        # The type that indices are computed in.
        self.integer = form.spelling if form.spelling in ("i32", "i64") else "index"
        self.values = {name: f"%{name}" for name in program.arguments}
        self.values[THREAD] = "%thread"
        self.affine = AffinePrinter(self.values)

    # Operations.

    def place(self, number: int = 0, part: Part = Part.SELF) -> str:
        """Return a location."""
        return f'loc("{self.program.name}":{number}:{int(part)})'

    def line(self, text: str, number: int = 0, part: Part = Part.SELF) -> None:
        """Append an operation."""
        self.lines.append(f"{text} {self.place(number, part)}")

    def name(self) -> str:
        """Return a new name."""
        self.names += 1
        return f"%v{self.names}"

    def emit(self, text: str, number: int = 0) -> str:
        """Append an operation with one result and return its name."""
        name = self.name()
        self.line(f"{name} = {text}", number)
        return name

    def constant(self, value: int, kind: str = "") -> str:
        """Return the name of a constant."""
        kind = kind or self.integer
        name = f"%c{value}_{kind}".replace("-", "m")
        self.constants[name] = f"{name} = arith.constant {value} : {kind} {self.place()}"
        return name

    # The module.

    def print(self) -> str:
        """Return the module."""
        begin, end = self.function() if self.form.container == "function" else self.launch()
        total = self.begin()
        total = self.steps(self.program.steps, total)
        place = self.emit(f"arith.addi %base, {self.thread_index} : index")
        self.line(f"memref.store {total}, %out[{place}] : memref<?xi32>")
        body = [*self.constants.values(), *self.lines]
        return "\n".join([*begin, *body, *end, ""])

    @property
    def parameters(self) -> str:
        """What the kernel takes, and its attributions."""
        arrays = [f"%{name}: memref<?xi32> {{llvm.noalias}}" for name in ("in", "out")]
        return ", ".join([*arrays, *(f"%{name}: index" for name in self.program.arguments)])

    def attributions(self, colon: str) -> str:
        """Return the workgroup memory."""
        buffers = [
            f"%{b.name}{colon} {self.type(b.name)}"
            for b in self.program.buffers
            if b.offset is None
        ]
        if arena := self.arena():
            buffers.append(f"%arena_{colon} {arena}")
        return f" workgroup({', '.join(buffers)})" if buffers else ""

    def arena(self) -> str:
        """Return the type of the bytes that buffers share; nothing if none do."""
        ends = [b.offset + b.bytes for b in self.program.buffers if b.offset is not None]
        return f"memref<{max(ends)}xi8, {_SPACE}>" if ends else ""

    def type(self, name: str) -> str:
        """Return the type of a buffer."""
        buffer = self.program.buffer(name)
        shape = "x".join(map(str, buffer.shape))
        return f"memref<{shape}x{buffer.element}, {_SPACE}>"

    def function(self) -> tuple[list[str], list[str]]:
        """Return what comes before and after a `gpu.func`."""
        begin = [
            "gpu.module @module {",
            f"gpu.func @{KERNEL}({self.parameters}){self.attributions(':')} kernel attributes"
            f" {{known_block_size = array<i32: {self.program.threads}, 1, 1>}} {{",
            f"%thread_ = gpu.thread_id x {self.place()}",
            f"%block_ = gpu.block_id x {self.place()}",
        ]
        return begin, [f"gpu.return {self.place()}", f"}} {self.place()}", "}"]

    def launch(self) -> tuple[list[str], list[str]]:
        """Return what comes before and after a `gpu.launch`."""
        begin = [
            f"func.func @{KERNEL}({self.parameters}) {{",
            f"%one_ = arith.constant 1 : index {self.place()}",
            f"%threads_ = arith.constant {self.program.threads} : index {self.place()}",
            "gpu.launch blocks(%block_, %by, %bz) in (%gx = %one_, %gy = %one_, %gz = %one_)",
            "  threads(%thread_, %ty, %tz) in (%sx = %threads_, %sy = %one_, %sz = %one_)"
            f"{self.attributions(' :')} {{",
        ]
        end = [f"gpu.terminator {self.place()}", f"}} {self.place()}"]
        return begin, [*end, f"return {self.place()}", "}"]

    def begin(self) -> str:
        """Print what comes before the steps; return the first sum."""
        self.thread_index = "%thread_"
        self.values[THREAD] = "%thread_"
        threads = self.constant(self.program.threads, "index")
        self.line(f"%base = arith.muli %block_, {threads} : index")
        for buffer in self.program.buffers:
            if buffer.offset is not None:
                offset = self.constant(buffer.offset, "index")
                self.line(
                    f"%{buffer.name} = memref.view %arena_[{offset}][] : {self.arena()} to "
                    f"{self.type(buffer.name)}"
                )
        if self.integer != "index":
            for name, value in self.values.items():
                self.values[name] = self.emit(f"arith.index_cast {value} : index to {self.integer}")
        return self.emit(f"memref.load %in[{self.thread_index}] : memref<?xi32>")

    # Expressions.

    def expression(self, expression: Expression) -> str:
        """Print an expression; return its value, in the type that indices are computed in."""
        match expression:
            case Number(value):
                return self.constant(value)
            case Name(name):
                return self.values[name]
            case Binary(kind, left, right):
                signed = self.integer != "index"
                operation = {
                    "+": "addi",
                    "-": "subi",
                    "*": "muli",
                    "//": "divsi" if signed else "divui",
                    "%": "remsi" if signed else "remui",
                    "^": "xori",
                    "&": "andi",
                    "<<": "shli",
                    ">>": "shrui",
                }[kind]
                a, b = self.expression(left), self.expression(right)
                # As compilers of C have it: else nothing can be said of them.
                flags = " overflow<nsw>" if signed and kind in "+-*" else ""
                return self.emit(f"arith.{operation} {a}, {b}{flags} : {self.integer}")

    def index(self, expression: Expression) -> str:
        """Print an expression; return its value as an index."""
        value = self.expression(expression)
        if self.integer == "index":
            return value
        return self.emit(f"arith.index_cast {value} : {self.integer} to index")

    def condition(self, condition: Condition) -> str:
        """Print a comparison; return its value."""
        relation = {"<": "slt", ">=": "sge", "==": "eq", "!=": "ne"}[condition.relation]
        left, right = self.expression(condition.left), self.expression(condition.right)
        return self.emit(f"arith.cmpi {relation}, {left}, {right} : {self.integer}")

    # Steps. They take the sum of all that was read, and return it.

    def steps(self, steps: Sequence[Step], total: str) -> str:
        """Print steps."""
        for step in steps:
            match step:
                case Access():
                    total = self.access(step, total)
                case Barrier():
                    self.barrier(step)
                case Loop():
                    total = self.loop(step, total)
                case Branch():
                    total = self.branch(step, total)
        return total

    def barrier(self, step: Barrier) -> None:
        """Print a barrier."""
        if step.is_warp:
            self.line(f"nvvm.bar.warp.sync {self.constant(-1, 'i32')} : i32", step.number)
        else:
            self.line("gpu.barrier", step.number)

    def access(self, step: Access, total: str) -> str:
        """Print an access."""
        element, kind = self.program.buffer(step.buffer).element, self.type(step.buffer)
        name, number = f"%{step.buffer}", step.number
        is_affine = self.form.spelling == "affine" and step.operation != "U"
        is_affine = is_affine and all(map(self.affine.is_affine, step.index))
        dialect = "affine" if is_affine else "memref"
        write = self.affine.inline if is_affine else self.index
        at = f"{name}[{', '.join(write(index) for index in step.index)}] : {kind}"
        if step.operation == "R":
            value = self.emit(f"{dialect}.load {at}", number)
            scaled = self.emit(f"arith.muli {total}, {self.constant(5, 'i32')} : i32")
            return self.emit(f"arith.addi {scaled}, {self.convert(value, element, 'i32')} : i32")
        sum_ = self.emit(f"arith.addi {total}, {self.constant(number, 'i32')} : i32")
        value = self.convert(sum_, "i32", element)
        if step.operation == "W":
            self.line(f"{dialect}.store {value}, {at}", number)
        else:
            at = at.replace(" : ", f" : ({element}, ") + ")"
            self.emit(f"memref.atomic_rmw addi {value}, {at} -> {element}", number)
        return total

    def convert(self, value: str, source: str, target: str) -> str:
        """Return an integer in another type."""
        if source == target:
            return value
        operation = "extsi" if int(source[1:]) < int(target[1:]) else "trunci"
        return self.emit(f"arith.{operation} {value} : {source} to {target}")

    # Control flow.

    def loop(self, step: Loop, total: str) -> str:
        """Print a loop."""
        if self.form.is_flat:
            return self.loop_of_blocks(step, total)
        if step.head or self.form.spelling == "while":
            return self.loop_of_conditions(step, total)
        result, iteration, carried = self.name(), self.name(), self.name()
        self.values[step.iteration] = iteration
        if self.form.spelling == "affine" and self.affine.has_loop(step):
            stride = f" step {step.step}" if step.step != 1 else ""
            self.lines.append(
                f"{result} = affine.for {iteration} = {self.affine.bound(step.start)} to "
                f"{self.affine.bound(step.end)}{stride} iter_args({carried} = {total}) -> (i32) {{"
            )
            self.affine.iterations.add(step.iteration)
            self.line(f"affine.yield {self.steps(step.body, carried)} : i32", step.number)
        else:
            kind = " : i32" if self.integer == "i32" else ""
            self.lines.append(
                f"{result} = scf.for {iteration} = {self.expression(step.start)} to "
                f"{self.expression(step.end)} step {self.constant(step.step)} "
                f"iter_args({carried} = {total}) -> (i32){kind} {{"
            )
            self.line(f"scf.yield {self.steps(step.body, carried)} : i32", step.number)
        self.line("}", step.number)
        return result

    def test(self, step: Loop) -> str:
        """Print whether there is another iteration."""
        return self.condition(Condition("<", Name(step.iteration), step.end))

    def next(self, step: Loop) -> str:
        """Print the number of the next iteration."""
        iteration = self.values[step.iteration]
        return self.emit(f"arith.addi {iteration}, {self.constant(step.step)} : {self.integer}")

    def loop_of_conditions(self, step: Loop, total: str) -> str:
        """Print a loop as `scf.while`."""
        result, carried, iteration = self.name(), self.name(), self.name()
        kinds, start = f"i32, {self.integer}", self.expression(step.start)
        self.lines.append(
            f"{result}:2 = scf.while ({carried} = {total}, {iteration} = {start}) : "
            f"({kinds}) -> ({kinds}) {{"
        )
        self.values[step.iteration] = iteration
        last = self.steps(step.head, carried)
        self.line(f"scf.condition({self.test(step)}) {last}, {iteration} : {kinds}", step.number)
        carried, iteration = self.name(), self.name()
        self.lines += ["} do {", f"^bb0({carried}: i32, {iteration}: {self.integer}):"]
        self.values[step.iteration] = iteration
        last = self.steps(step.body, carried)
        self.line(f"scf.yield {last}, {self.next(step)} : {kinds}", step.number)
        self.line("}", step.number)
        return f"{result}#0"

    def loop_of_blocks(self, step: Loop, total: str) -> str:
        """Print a loop as blocks: a test, a body, what comes after."""
        test, body, after = (f"^{part}{step.number}" for part in ("test", "body", "after"))
        carried, iteration, result = self.name(), self.name(), self.name()
        kinds = f"i32, {self.integer}"
        first = f"{test}({total}, {self.expression(step.start)} : {kinds})"
        self.line(f"cf.br {first}", step.number, Part.ENTER)
        self.lines.append(f"{test}({carried}: i32, {iteration}: {self.integer}):")
        self.values[step.iteration] = iteration
        last = self.steps(step.head, carried)
        paths = f"{body}, {after}({last} : i32)"
        self.line(f"cf.cond_br {self.test(step)}, {paths}", step.number, Part.TEST)
        self.lines.append(f"{body}:")
        last = self.steps(step.body, last)
        again = f"{test}({last}, {self.next(step)} : {kinds})"
        self.line(f"cf.br {again}", step.number, Part.NEXT)
        self.lines.append(f"{after}({result}: i32):")
        return result

    def branch(self, step: Branch, total: str) -> str:
        """Print a branch."""
        result = self.name()
        if self.form.is_flat:
            then, other, after = (f"^{part}{step.number}" for part in ("then", "other", "join"))
            paths = f"{self.condition(step.condition)}, {then}, {other}"
            self.line(f"cf.cond_br {paths}", step.number, Part.TEST)
            for label, steps, part in (
                (then, step.then, Part.THEN),
                (other, step.other, Part.OTHER),
            ):
                self.lines.append(f"{label}:")
                self.line(f"cf.br {after}({self.steps(steps, total)} : i32)", step.number, part)
            self.lines.append(f"{after}({result}: i32):")
            return result
        dialect = "scf"
        is_affine = self.form.spelling == "affine" and self.affine.has_set(step.condition)
        if is_affine:
            dialect, condition = "affine", self.affine.set(step.condition)
        else:
            condition = self.condition(step.condition)
        kind = "i32" if is_affine else "(i32)"
        self.lines.append(f"{result} = {dialect}.if {condition} -> {kind} {{")
        self.line(f"{dialect}.yield {self.steps(step.then, total)} : i32", step.number)
        self.lines.append("} else {")
        self.line(f"{dialect}.yield {self.steps(step.other, total)} : i32", step.number)
        self.line("}", step.number)
        return result
