"""Random kernels with a meaning that is simple enough to decide by hand.

A kernel is a list of steps that every thread executes: accesses of one element at an index that is
linear in the thread, the block and the loop variable, barriers, loops, and branches on the thread.
From the same steps come the MLIR text, the accesses of all threads between barriers, hence whether
there is a race, and, if there is none, the numbers that come out.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

Operation = Literal["read", "write", "update"]
_MASK = (1 << 32) - 1


@dataclass(frozen=True)
class Buffer:
    """Memory of i32: of a block (workgroup), of a block in global memory, or of all blocks."""

    name: str
    size: int
    place: Literal["shared", "own", "common"]

    @property
    def type(self) -> str:
        """The memref type of a buffer in workgroup memory."""
        return f"memref<{self.size}xi32, #wg>"


@dataclass(frozen=True)
class Index:
    """``(thread * a + loop * b + c) mod size``."""

    a: int
    b: int
    c: int

    def at(self, thread: int, iteration: int, size: int) -> int:
        """Return the element that a thread accesses."""
        return (thread * self.a + iteration * self.b + self.c) % size


@dataclass(frozen=True)
class Access:
    """One access of one element by every thread."""

    operation: Operation
    buffer: Buffer
    index: Index
    number: int = 0


@dataclass(frozen=True)
class Barrier:
    """All threads of the block meet."""

    number: int = 0


@dataclass(frozen=True)
class Loop:
    """Steps that are repeated."""

    iterations: int
    body: tuple[Step, ...]


@dataclass(frozen=True)
class Branch:
    """Accesses of the threads whose number is a multiple of `modulus` plus `rest`."""

    modulus: int
    rest: int
    body: tuple[Access, ...]


Step = Access | Barrier | Loop | Branch


@dataclass(frozen=True)
class Program:
    """A kernel, its launch, and its buffers."""

    threads: int
    blocks: int
    buffers: tuple[Buffer, ...]
    steps: tuple[Step, ...]


# --- what it does ---------------------------------------------------------------------------------


@dataclass
class Outcome:
    """Whether there is a race, and the contents afterwards if there is none."""

    is_racy: bool
    memory: dict[str, list[int]]
    out: list[int]


@dataclass
class _Cell:
    """Who touched an element since the last barrier; the blocks, since the launch."""

    readers: set[tuple[int, int]] = field(default_factory=set)
    writers: set[tuple[int, int]] = field(default_factory=set)
    updaters: set[tuple[int, int]] = field(default_factory=set)

    def conflicts(self) -> bool:
        """Tell whether two different threads are at odds."""
        plain = self.readers | self.writers
        return any(other != writer for writer in self.writers for other in plain) or any(
            other != updater for updater in self.updaters for other in plain
        )


def unroll(
    steps: Sequence[Step], iteration: int = 0
) -> Iterator[tuple[Access | Barrier, int, Branch | None]]:
    """Yield what a thread executes, with the iteration of the innermost loop."""
    for step in steps:
        if isinstance(step, Loop):
            for number in range(step.iterations):
                yield from unroll(step.body, number)
        elif isinstance(step, Branch):
            for access in step.body:
                yield access, iteration, step
        else:
            yield step, iteration, None


def execute(program: Program, start: dict[str, list[int]]) -> Outcome:
    """Run a program in its own terms."""
    memory = {name: list(values) for name, values in start.items()}
    out: list[int] = []
    everywhere: dict[tuple[str, int], _Cell] = {}
    is_racy = False
    for block in range(program.blocks):
        racy, sums = _execute_block(program, block, memory, everywhere)
        is_racy |= racy
        out += sums
    for cell in everywhere.values():
        blocks = [
            {block for block, _ in group} for group in (cell.readers, cell.writers, cell.updaters)
        ]
        read, written, updated = blocks
        plain = read | written
        is_racy |= any(other != block for block in written for other in plain | updated)
        is_racy |= any(other != block for block in updated for other in plain)
    return Outcome(is_racy, memory, out)


def _execute_block(
    program: Program,
    block: int,
    memory: dict[str, list[int]],
    everywhere: dict[tuple[str, int], _Cell],
) -> tuple[bool, list[int]]:
    shared = {b.name: [0] * b.size for b in program.buffers if b.place == "shared"}
    sums = [(block * 7 + thread + 1) & _MASK for thread in range(program.threads)]
    cells: dict[tuple[str, int], _Cell] = {}
    is_racy = False
    for step, iteration, branch in unroll(program.steps):
        if isinstance(step, Barrier):
            is_racy |= any(cell.conflicts() for cell in cells.values())
            cells = {}
            continue
        for thread in range(program.threads):
            if branch and thread % branch.modulus != branch.rest:
                continue
            element = step.index.at(thread, iteration, step.buffer.size)
            if step.buffer.place == "own":
                element += block * step.buffer.size
            values = (shared if step.buffer.place == "shared" else memory)[step.buffer.name]
            key = (step.buffer.name, element)
            _note(cells.setdefault(key, _Cell()), step.operation, block, thread)
            if step.buffer.place != "shared":
                _note(everywhere.setdefault(key, _Cell()), step.operation, block, thread)
            sums[thread] = _apply(step, values, element, sums[thread])
    is_racy |= any(cell.conflicts() for cell in cells.values())
    return is_racy, sums


def _note(cell: _Cell, operation: Operation, block: int, thread: int) -> None:
    groups = {"read": cell.readers, "write": cell.writers, "update": cell.updaters}
    groups[operation].add((block, thread))


def _apply(step: Access, values: list[int], element: int, total: int) -> int:
    if step.operation == "read":
        return (total * 5 + values[element]) & _MASK
    if step.operation == "write":
        values[element] = (total * 3 + step.number + 1) & _MASK
    else:
        values[element] = (values[element] + step.number + 1) & _MASK
    return total


# --- what it looks like ---------------------------------------------------------------------------


class Printer:
    """Writes a program as MLIR."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.lines: list[str] = []
        self.names = 0

    def name(self) -> str:
        """Return a new value's name."""
        self.names += 1
        return f"%v{self.names}"

    def emit(self, text: str) -> str:
        """Append an operation with one result and return its name."""
        name = self.name()
        self.lines.append(f"{name} = {text}")
        return name

    def print(self) -> str:
        """Return the module."""
        program = self.program
        arguments = [f"%{b.name}: memref<?xi32>" for b in program.buffers if b.place != "shared"]
        shared = [f"%{b.name}: {b.type}" for b in program.buffers if b.place == "shared"]
        workgroup = f" workgroup({', '.join(shared)})" if shared else ""
        parameters = ", ".join([*arguments, "%out: memref<?xi32>"])
        header = [
            "#wg = #gpu.address_space<workgroup>",
            "gpu.module @kernels {",
            f"gpu.func @fuzz({parameters}){workgroup} kernel {{",
            "%thread = gpu.thread_id x",
            "%block = gpu.block_id x",
        ]
        constants = {n: f"%c{n}" for n in range(0, 200)}
        header += [f"{text} = arith.constant {n} : index" for n, text in constants.items()]
        t = self.emit("arith.index_cast %thread : index to i32")
        b = self.emit("arith.index_cast %block : index to i32")
        seven = self.emit("arith.constant 7 : i32")
        one = self.emit("arith.constant 1 : i32")
        scaled = self.emit(f"arith.muli {b}, {seven} : i32")
        first = self.emit(f"arith.addi {scaled}, {t} : i32")
        total = self.emit(f"arith.addi {first}, {one} : i32")
        total = self.steps(program.steps, total, "%c0")
        threads = self.emit(f"arith.constant {program.threads} : index")
        base = self.emit(f"arith.muli %block, {threads} : index")
        place = self.emit(f"arith.addi {base}, %thread : index")
        self.lines.append(f"memref.store {total}, %out[{place}] : memref<?xi32>")
        return "\n".join([*header, *self.lines, "gpu.return", "}", "}", ""])

    def steps(self, steps: Sequence[Step], total: str, iteration: str) -> str:
        """Print steps; return the name of the sum after them."""
        for step in steps:
            if isinstance(step, Barrier):
                self.lines.append("gpu.barrier")
            elif isinstance(step, Access):
                total = self.access(step, total, iteration)
            elif isinstance(step, Loop):
                total = self.loop(step, total)
            else:
                total = self.branch(step, total, iteration)
        return total

    def access(self, step: Access, total: str, iteration: str) -> str:
        """Print an access."""
        index, buffer = step.index, step.buffer
        scaled = self.emit(f"arith.muli %thread, %c{index.a} : index")
        turned = self.emit(f"arith.muli {iteration}, %c{index.b} : index")
        both = self.emit(f"arith.addi {scaled}, {turned} : index")
        moved = self.emit(f"arith.addi {both}, %c{index.c} : index")
        place = self.emit(f"arith.remui {moved}, %c{buffer.size} : index")
        if buffer.place == "own":
            base = self.emit(f"arith.muli %block, %c{buffer.size} : index")
            place = self.emit(f"arith.addi {base}, {place} : index")
        kind = buffer.type if buffer.place == "shared" else "memref<?xi32>"
        number = self.emit(f"arith.constant {step.number + 1} : i32")
        if step.operation == "read":
            value = self.emit(f"memref.load %{buffer.name}[{place}] : {kind}")
            five = self.emit("arith.constant 5 : i32")
            product = self.emit(f"arith.muli {total}, {five} : i32")
            return self.emit(f"arith.addi {product}, {value} : i32")
        if step.operation == "write":
            three = self.emit("arith.constant 3 : i32")
            product = self.emit(f"arith.muli {total}, {three} : i32")
            value = self.emit(f"arith.addi {product}, {number} : i32")
            self.lines.append(f"memref.store {value}, %{buffer.name}[{place}] : {kind}")
        else:
            self.emit(
                f"memref.atomic_rmw addi {number}, %{buffer.name}[{place}] : (i32, {kind}) -> i32"
            )
        return total

    def loop(self, step: Loop, total: str) -> str:
        """Print a loop that carries the sum."""
        result, iteration, carried = self.name(), self.name(), self.name()
        self.lines.append(
            f"{result} = scf.for {iteration} = %c0 to %c{step.iterations} step %c1 "
            f"iter_args({carried} = {total}) -> (i32) {{"
        )
        last = self.steps(step.body, carried, iteration)
        self.lines += [f"scf.yield {last} : i32", "}"]
        return result

    def branch(self, step: Branch, total: str, iteration: str) -> str:
        """Print a branch that changes the sum of some threads."""
        rest = self.emit(f"arith.remui %thread, %c{step.modulus} : index")
        condition = self.emit(f"arith.cmpi eq, {rest}, %c{step.rest} : index")
        result = self.name()
        self.lines.append(f"{result} = scf.if {condition} -> (i32) {{")
        last = self.steps(step.body, total, iteration)
        self.lines += [f"scf.yield {last} : i32", "} else {", f"scf.yield {total} : i32", "}"]
        return result


# --- where it comes from --------------------------------------------------------------------------


def generate(seed: int) -> Program:
    """Return a random program whose workgroup memory is written before it is read."""
    chance = random.Random(seed)
    threads = chance.choice([1, 7, 31, 32, 33, 48, 64, 96])
    places: list[Literal["shared", "own", "common"]] = ["shared", "shared", "own", "common"]
    buffers = tuple(
        Buffer(f"b{number}", chance.choice([threads, threads + 1, 2 * threads, 67]), place)
        for number, place in enumerate(chance.sample(places, chance.randint(1, 4)))
    )
    steps: list[Step] = []
    for buffer in buffers:
        if buffer.place == "shared":
            # Every element, so that no read is of memory that nobody wrote.
            iterations = -(-buffer.size // threads)
            fill = Access("write", buffer, Index(1, threads, 0), chance.randint(0, 50))
            steps.append(Loop(iterations, (fill,)))
    steps.append(Barrier())
    steps += [_step(chance, buffers, depth=0) for _ in range(chance.randint(2, 7))]
    if chance.random() < 0.6:
        steps = _separate(steps)
    return Program(threads, chance.choice([1, 2, 3]), buffers, tuple(steps))


def _step(chance: random.Random, buffers: Sequence[Buffer], depth: int) -> Step:
    kind = chance.random()
    if kind < 0.2 and depth < 2:
        steps = [_step(chance, buffers, depth + 1) for _ in range(chance.randint(1, 4))]
        return Loop(chance.randint(1, 3), tuple(steps))
    if kind < 0.3:
        body = [_access(chance, buffers) for _ in range(chance.randint(1, 2))]
        modulus = chance.randint(1, 4)
        return Branch(modulus, chance.randrange(modulus), tuple(body))
    if kind < 0.5:
        return Barrier()
    return _access(chance, buffers)


def _access(chance: random.Random, buffers: Sequence[Buffer]) -> Access:
    operations: list[Operation] = ["read", "write", "update"]
    operation = chance.choices(operations, [6, 5, 1])[0]
    index = Index(chance.choice([0, 1, 1, 1, 2, 3]), chance.randint(0, 3), chance.randint(0, 40))
    return Access(operation, chance.choice(buffers), index, chance.randint(0, 50))


def _separate(steps: Sequence[Step]) -> list[Step]:
    """Put barriers around every step, so that more programs have no race."""
    separated: list[Step] = []
    for step in steps:
        if isinstance(step, Loop):
            step = replace(step, body=tuple([*_separate(step.body), Barrier()]))
        separated += [step, Barrier()]
    return separated


def without_barrier(program: Program, number: int) -> Program | None:
    """Return the program without its `number`-th barrier; None if it has fewer."""
    left = number

    def remove(steps: Sequence[Step]) -> tuple[Step, ...]:
        nonlocal left
        kept: list[Step] = []
        for step in steps:
            if isinstance(step, Barrier):
                left -= 1
                if left == -1:
                    continue
            elif isinstance(step, Loop):
                step = replace(step, body=remove(step.body))
            kept.append(step)
        return tuple(kept)

    fewer = replace(program, steps=remove(program.steps))
    return fewer if left < 0 else None
