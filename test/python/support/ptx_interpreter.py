"""Run a PTX kernel on the CPU, one block at a time, and watch its memory accesses.

An oracle for tests, independent of the compiler: it reads the PTX text, holds every register as a
NumPy array over the threads of a block, and always lets the threads that are furthest behind take
the next step. Out-of-bounds and misaligned accesses, barriers that part of a block misses, and
races between two barriers (two threads, one byte, at least one write) raise `PTXError`. Only the
instructions that LLVM emits for the kernels of the tests are known; any other one raises.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from support.ptx_text import Instruction, Kernel, PTXError, bits_of, parse

__all__ = ["PTXError", "parse", "run"]

Array = npt.NDArray[Any]
Words = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]

# --- values ---------------------------------------------------------------------------------------

_FLOATS: dict[str, Any] = {"f16": np.float16, "f32": np.float32, "f64": np.float64}


def _to_typed(words: Words, kind: str) -> Array:
    """Reinterpret register words as values of a PTX type."""
    bits = bits_of(kind)
    unsigned: Array = words.astype(f"u{bits // 8}")
    signed: Array = unsigned.view(_FLOATS.get(kind, f"i{bits // 8}"))
    return signed if kind in _FLOATS or kind[0] == "s" else unsigned


def _to_words(values: Array) -> Words:
    unsigned: Array = values.view(f"u{values.dtype.itemsize}")
    return unsigned.astype(np.uint64)


def _divide(a: Array, b: Array) -> Array:
    if a.dtype.kind == "f":
        return np.asarray(a / b)
    if not b.all():
        raise PTXError("division by zero")
    return np.asarray(np.sign(a) * np.sign(b) * (abs(a) // abs(b)), dtype=a.dtype)


def _remainder(a: Array, b: Array) -> Array:
    return np.asarray(a - b * _divide(a, b), dtype=a.dtype)


_BINARY: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": _divide,
    "rem": _remainder,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}
_COMPARE: dict[str, Callable[..., Any]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "lo": np.less,
    "ls": np.less_equal,
    "hi": np.greater,
    "hs": np.greater_equal,
    "equ": np.equal,
    "neu": np.not_equal,
}


# --- memory ---------------------------------------------------------------------------------------


class Memory:
    """Bytes of one buffer, with who touched each of them since the last barrier."""

    MANY = -2
    NOBODY = -1

    def __init__(self, name: str, data: npt.NDArray[np.uint8]) -> None:
        self.name = name
        self.data = data
        self.writer = np.full(data.size, self.NOBODY, np.int32)
        self.reader = np.full(data.size, self.NOBODY, np.int32)

    def synchronize(self) -> None:
        """Forget the accesses before a barrier."""
        self.writer[:] = self.NOBODY
        self.reader[:] = self.NOBODY

    def _check(self, offsets: npt.NDArray[np.int64], size: int, end: int) -> npt.NDArray[np.int64]:
        if (offsets < 0).any() or (offsets + size > end).any():
            raise PTXError(
                f"access outside of {self.name}: offsets {offsets.min()}..{offsets.max()}"
            )
        if (offsets % size).any():
            raise PTXError(f"misaligned access of {size} bytes to {self.name}")
        return offsets[:, None] + np.arange(size)

    def load(
        self, offsets: npt.NDArray[np.int64], size: int, threads: Any
    ) -> npt.NDArray[np.uint8]:
        """Return `size` bytes for each offset."""
        # LLVM fills gaps of vector loads: an aligned load may reach past the end, up to 16 bytes.
        places = self._check(offsets, size, -(-self.data.size // 16) * 16)
        if (offsets >= self.data.size).any():
            raise PTXError(f"load outside of {self.name}")
        places = np.minimum(places, self.data.size - 1)
        ids = np.repeat(threads[:, None], size, 1)
        owners = self.writer[places]
        if ((owners != self.NOBODY) & (owners != ids)).any():
            raise PTXError(f"data race on {self.name}: read of another thread's write")
        known = self.reader[places]
        self.reader[places] = np.where((known == self.NOBODY) | (known == ids), ids, self.MANY)
        # Two threads of one instruction may read one byte.
        self.reader[places] = np.where(self.reader[places] == ids, ids, self.MANY)
        return self.data[places]

    def store(
        self, offsets: npt.NDArray[np.int64], values: npt.NDArray[np.uint8], threads: Any
    ) -> None:
        """Write a row of bytes at each offset."""
        size = values.shape[1]
        places = self._check(offsets, size, self.data.size)
        ids = np.repeat(threads[:, None], size, 1)
        for owners, what in ((self.writer[places], "write"), (self.reader[places], "read")):
            if ((owners != self.NOBODY) & (owners != ids)).any():
                raise PTXError(f"data race on {self.name}: write after another thread's {what}")
        if np.unique(places).size != places.size:
            raise PTXError(f"data race on {self.name}: two threads write one byte at once")
        self.writer[places] = ids
        self.data[places] = values


# --- execution ------------------------------------------------------------------------------------

# Where bytes go in shared memory, and the bytes.
Landing = tuple[int, npt.NDArray[np.uint8]]

_GLOBAL_BASE = 1 << 32
_GLOBAL_STEP = 1 << 32


class Block:
    """The threads of one block."""

    def __init__(
        self,
        kernel: Kernel,
        memories: Sequence[Memory],
        parameters: dict[str, int],
        specials: dict[str, Words],
        dynamic_bytes: int,
    ) -> None:
        self.kernel = kernel
        self.memories = memories
        self.parameters = parameters
        self.specials = specials
        self.count = next(iter(specials.values())).size
        self.registers: dict[str, Words] = {}
        size = kernel.shared_bytes + dynamic_bytes
        # What a block finds in shared memory is anything.
        noise = np.random.default_rng(0).integers(0, 256, size, dtype=np.uint8)
        self.shared = Memory("shared memory", noise)
        self.counters = np.zeros(self.count, np.int64)
        self.finished = np.zeros(self.count, np.bool_)
        self.barriers = 0
        # Of each thread, what cp.async began to copy (place and bytes), and its groups.
        self.started: list[list[Landing]] = [[] for _ in range(self.count)]
        self.groups: list[list[list[Landing]]] = [[] for _ in range(self.count)]

    def run(self, step_limit: int = 5_000_000) -> None:
        """Run all threads to their end."""
        waiting = np.zeros(self.count, np.bool_)
        for _ in range(step_limit):
            ready = ~self.finished & ~waiting
            if not ready.any():
                if not waiting.any():
                    return
                if self.finished.any():
                    raise PTXError("barrier that threads which have ended do not reach")
                if np.unique(self.counters).size != 1:
                    raise PTXError("barrier in divergent control flow")
                for memory in (self.shared, *self.memories):
                    memory.synchronize()
                self.barriers += 1
                self.counters += 1
                waiting[:] = False
                continue
            counter = int(self.counters[ready].min())
            active = ready & (self.counters == counter)
            instruction = self.kernel.instructions[counter]
            if instruction.opcode.startswith(("bar.sync", "barrier")):
                waiting |= active
            else:
                self.step(instruction, active)
        raise PTXError("too many steps")

    def step(self, instruction: Instruction, active: Mask) -> None:
        """Execute one instruction in the active threads."""
        taken = active
        if instruction.guard:
            holds = self.value(instruction.guard) != 0
            taken = active & (~holds if instruction.guard_negated else holds)
        name, *modifiers = instruction.opcode.split(".")
        if name == "bra":
            self.counters[active] += 1
            self.counters[taken] = self.kernel.labels[instruction.operands[0]]
            return
        if name == "ret":
            self.finished |= taken
        elif taken.any():
            with np.errstate(all="ignore"):
                self.execute(name, modifiers, instruction.operands, taken)
        self.counters[active] += 1

    def value(self, operand: str) -> Words:
        """Return the words of a source operand."""
        if operand in self.specials:
            return self.specials[operand]
        if operand.startswith("%"):
            # LLVM reads registers that nothing was written to, where it does not matter.
            return self.registers.get(operand, np.zeros(self.count, np.uint64))
        if operand in self.kernel.shared:
            return np.full(self.count, self.kernel.shared[operand], np.uint64)
        if match := re.fullmatch(r"0[fFdD]([0-9A-F]+)", operand):
            return np.full(self.count, int(match[1], 16), np.uint64)
        return np.full(self.count, int(operand.rstrip("U"), 0) & (2**64 - 1), np.uint64)

    def typed(self, operand: str, kind: str) -> Array:
        """Return the values of a source operand."""
        return _to_typed(self.value(operand), kind)

    def assign(self, operand: str, words: Words, taken: Mask) -> None:
        """Set a register in the threads that take the instruction."""
        old = self.registers.setdefault(operand, np.zeros(self.count, np.uint64))
        self.registers[operand] = np.where(taken, words, old)

    def execute(self, name: str, modifiers: list[str], operands: list[str], taken: Mask) -> None:
        """Execute an instruction that does not branch."""
        kind = modifiers[-1] if modifiers else ""
        if name in ("ld", "st"):
            return self.access(name, modifiers, operands, taken)
        if name == "cp":
            return self.copy(modifiers[1], operands, taken)
        if name == "mov" or name == "cvta":
            return self.move(operands, kind, taken)
        if name == "setp":
            lhs, rhs = (self.typed(operand, kind) for operand in operands[1:])
            return self.assign(operands[0], _COMPARE[modifiers[0]](lhs, rhs) * np.uint64(1), taken)
        if name == "selp":
            chosen = np.where(self.value(operands[3]) != 0, *map(self.value, operands[1:3]))
            return self.assign(operands[0], chosen, taken)
        self.assign(
            operands[0], _to_words(self.compute(name, modifiers, operands[1:], taken)), taken
        )
        return None

    def compute(self, name: str, modifiers: list[str], sources: list[str], taken: Mask) -> Array:
        """Return the result of an arithmetic instruction."""
        kind = modifiers[-1]
        if name == "cvt":
            return self.convert(modifiers, sources[0])
        if name in ("shl", "shr"):
            amount = np.minimum(self.value(sources[1]), np.uint64(bits_of(kind) - 1))
            values = self.typed(sources[0], kind)
            shift = np.left_shift if name == "shl" else np.right_shift
            return np.asarray(shift(values, amount.astype(values.dtype)), dtype=values.dtype)
        if kind == "pred":
            flags = [self.value(source) for source in sources]
            return np.asarray(_BINARY[name](*flags) if len(flags) == 2 else flags[0] ^ np.uint64(1))
        operands = [self.typed(source, kind) for source in sources]
        if name in ("mul", "mad") and "wide" in modifiers:
            wide = f"{operands[0].dtype.kind}{operands[0].dtype.itemsize * 2}"
            product = operands[0].astype(wide) * operands[1].astype(wide)
            third = (
                _to_typed(self.value(sources[2]), kind[0] + str(bits_of(kind) * 2))
                if name == "mad"
                else 0
            )
            return np.asarray(product + third, dtype=wide)
        if name == "mul" and "hi" in modifiers:
            return _high_half(*operands)
        if name == "bfe":
            start, length = (int(self.value(source)[0]) & 0xFF for source in sources[1:])
            left = np.uint64(bits_of(kind) - start - length)
            shifted = _to_typed(self.value(sources[0]) << left, kind)
            return np.asarray(shifted >> shifted.dtype.type(bits_of(kind) - length))
        if name == "bfi":
            start, length = (int(self.value(source)[0]) & 0xFF for source in sources[2:])
            mask = np.uint64(((1 << length) - 1) << start)
            inserted = (self.value(sources[0]) << np.uint64(start)) & mask
            return ((self.value(sources[1]) & ~mask) | inserted).astype(f"u{bits_of(kind) // 8}")
        if name == "prmt":
            return self.permute(sources)
        if name in ("mad", "fma"):
            return _fused(operands) if name == "fma" else operands[0] * operands[1] + operands[2]
        if name in ("neg", "abs", "not", "sqrt"):
            unary = {"neg": np.negative, "abs": np.abs, "not": np.invert, "sqrt": np.sqrt}
            return np.asarray(unary[name](operands[0]))
        if name in ("div", "rem"):
            operands[1] = np.where(taken, operands[1], 1).astype(operands[1].dtype)
        if name not in _BINARY:
            raise PTXError(f"unknown instruction {name}.{'.'.join(modifiers)}")
        return np.asarray(_BINARY[name](*operands))

    def permute(self, sources: list[str]) -> Array:
        """Return the bytes of two words that the selector names."""
        low, high, selector = (self.value(source) for source in sources)
        pool = (high << np.uint64(32)) | (low & np.uint64(0xFFFFFFFF))
        result = np.zeros(self.count, np.uint64)
        for i in range(4):
            byte = (selector >> np.uint64(4 * i)) & np.uint64(7)
            piece = (pool >> (byte * np.uint64(8))) & np.uint64(0xFF)
            # The fourth bit asks for the byte's sign, eight times.
            sign = ((selector >> np.uint64(4 * i + 3)) & np.uint64(1)) != 0
            piece = np.where(sign, (piece >> np.uint64(7)) * np.uint64(0xFF), piece)
            result |= piece << np.uint64(8 * i)
        return result.astype(np.uint32)

    def convert(self, modifiers: list[str], source: str) -> Array:
        """Return the operand converted from the last type of the opcode to the one before."""
        to, origin = modifiers[-2:]
        values = self.typed(source, origin)
        target = _FLOATS.get(to) or np.dtype(f"{'i' if to[0] == 's' else 'u'}{bits_of(to) // 8}")
        if values.dtype.kind == "f" and to not in _FLOATS:
            values = np.trunc(values) if "rzi" in modifiers else np.rint(values)
        return values.astype(target)

    def move(self, operands: list[str], kind: str, taken: Mask) -> None:
        """Copy, pack {a, b} into one register, or unpack one into {a, b}."""
        target, source = operands
        bits = bits_of(kind)
        if target.startswith("{"):
            parts = re.findall(r"[%\w]+", target)
            width = bits // len(parts)
            words = self.value(source)
            for i, part in enumerate(parts):
                if part != "_":
                    piece = (words >> np.uint64(i * width)) & np.uint64(2**width - 1)
                    self.assign(part, piece, taken)
            return
        if source.startswith("{"):
            parts = re.findall(r"[%\w]+", source)
            width = bits // len(parts)
            packed = np.zeros(self.count, np.uint64)
            for i, part in enumerate(parts):
                packed |= (self.value(part) & np.uint64(2**width - 1)) << np.uint64(i * width)
            self.assign(target, packed, taken)
            return
        self.assign(target, self.value(source), taken)

    def access(self, name: str, modifiers: list[str], operands: list[str], taken: Mask) -> None:
        """Execute a load or store."""
        kind = modifiers[-1]
        space = modifiers[0]
        address = operands[0] if name == "st" else operands[1]
        registers = re.findall(r"[%\w.$]+", operands[1] if name == "st" else operands[0])
        if space == "param":
            words = np.full(self.count, self.parameters[address[1:-1]] & (2**64 - 1), np.uint64)
            return self.assign(registers[0], words, taken)
        memory, offsets = self.find_memory(space, self.address(address)[taken])
        width = bits_of(kind) // 8
        threads = np.flatnonzero(taken)
        size = width * len(registers)
        if name == "ld":
            data = memory.load(offsets, size, threads)
            for i, register in enumerate(registers):
                words = np.zeros(self.count, np.uint64)
                piece = np.ascontiguousarray(data[:, i * width : (i + 1) * width])
                loaded = piece.view(f"u{width}")[:, 0]
                if kind[0] == "s":
                    loaded = loaded.view(f"i{width}").astype(np.int64).view(np.uint64)
                words[taken] = loaded
                self.assign(register, words, taken)
            return None
        rows = [
            self.value(register)[taken].astype(f"u{width}")[:, None].view(np.uint8)
            for register in registers
        ]
        return memory.store(offsets, np.concatenate(rows, axis=1), threads)

    def address(self, operand: str) -> npt.NDArray[np.int64]:
        """Return what is between brackets."""
        base, _, offset = operand[1:-1].partition("+")
        return self.value(base).astype(np.int64) + (int(offset) if offset else 0)

    def copy(self, what: str, operands: list[str], taken: Mask) -> None:
        """Begin to copy by cp.async, close a group, or wait: not before does anything arrive."""
        threads = np.flatnonzero(taken)
        if what == "commit_group":
            for thread in threads:
                self.groups[thread].append(self.started[thread])
                self.started[thread] = []
            return
        if what == "wait_group":
            for thread in threads:
                done = len(self.groups[thread]) - int(operands[0])
                for place, data in (x for group in self.groups[thread][:done] for x in group):
                    self.shared.store(np.array([place]), data[None], np.array([thread]))
                self.groups[thread] = self.groups[thread][max(done, 0) :]
            return
        target, source = (self.address(operand)[taken] for operand in operands[:2])
        memory, offsets = self.find_memory("global", source)
        for thread, place, data in zip(
            threads, target, memory.load(offsets, int(operands[2]), threads), strict=True
        ):
            self.started[thread].append((int(place), data))

    def find_memory(
        self, space: str, addresses: npt.NDArray[np.int64]
    ) -> tuple[Memory, npt.NDArray[np.int64]]:
        """Return the buffer that all addresses lie in, and their offsets in it."""
        if space == "shared":
            return self.shared, addresses
        index = int(addresses[0] - _GLOBAL_BASE) // _GLOBAL_STEP
        if not 0 <= index < len(self.memories):
            raise PTXError(f"access to address {int(addresses[0]):#x}, which is no buffer")
        return self.memories[index], addresses - _GLOBAL_BASE - index * _GLOBAL_STEP


def _high_half(a: Array, b: Array) -> Array:
    bits = a.dtype.itemsize * 8
    products = [int(x) * int(y) >> bits for x, y in zip(a, b, strict=True)]
    return np.array(products).astype(a.dtype)


def _fused(operands: list[Array]) -> Array:
    a, b, c = (operand.astype(np.float64) for operand in operands)
    return (a * b + c).astype(operands[0].dtype)


def run(
    kernel: Kernel,
    arguments: Sequence[Array | int],
    *,
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    blocks: Iterable[tuple[int, int, int]] | None = None,
    dynamic_bytes: int = 0,
) -> int:
    """Run a kernel on NumPy arrays, in place, and return the number of barriers executed.

    `arguments` are the parameters of the PTX: an array for a pointer, an integer for an index.
    `blocks` restricts the run to some blocks of the grid.
    """
    if int(np.prod(block)) > kernel.block_limit:
        raise PTXError("more threads than .maxntid")
    memories: list[Memory] = []
    parameters: dict[str, int] = {}
    assert len(kernel.parameters) == len(arguments), kernel.parameters
    for name, argument in zip(kernel.parameters, arguments, strict=True):
        if isinstance(argument, np.ndarray):
            parameters[name] = _GLOBAL_BASE + len(memories) * _GLOBAL_STEP
            memories.append(Memory(name, argument.reshape(-1).view(np.uint8)))
        else:
            parameters[name] = argument
    linear = np.arange(int(np.prod(block)), dtype=np.uint64)
    x, y = np.uint64(block[0]), np.uint64(block[1])
    ids = (linear % x, linear // x % y, linear // x // y)
    barriers = 0
    every = [(i, j, k) for k in range(grid[2]) for j in range(grid[1]) for i in range(grid[0])]
    for place in every if blocks is None else blocks:
        specials = {f"%tid.{axis}": ids[i] for i, axis in enumerate("xyz")}
        for i, axis in enumerate("xyz"):
            specials[f"%ctaid.{axis}"] = np.full_like(linear, place[i])
            specials[f"%ntid.{axis}"] = np.full_like(linear, block[i])
            specials[f"%nctaid.{axis}"] = np.full_like(linear, grid[i])
        specials["%dynamic_smem_size"] = np.full_like(linear, dynamic_bytes)
        running = Block(kernel, memories, parameters, specials, dynamic_bytes)
        running.run()
        barriers += running.barriers
        for memory in memories:
            memory.synchronize()
    return barriers
