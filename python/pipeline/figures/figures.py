"""What is counted of a kernel in its machine code, without running it.

The issue ratio is the share of cycles in which a warp that runs alone issues one of the
instructions that do the work: their number over the sum of all stalls in a turn of the main loop.
What loads wait for is not in it: other warps fill that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable
from dataclasses import dataclass
from functools import partial

from ..system.assembler import Resources
from ..system.disassembler import Function, Instruction
from .loops import find_main_loop

TENSOR = frozenset(
    {"HMMA", "IMMA", "DMMA", "BMMA", "QMMA", "OMMA"}
    | {"HGMMA", "IGMMA", "QGMMA", "BGMMA", "UTCHMMA", "UTCIMMA", "UTCQMMA"}
)
FUSED = frozenset({"FFMA", "FFMA2", "DFMA", "HFMA2", "IDP"})
WHOLE = frozenset({"IMAD"})
OTHER = frozenset({"FADD", "FMUL", "FMNMX", "FMNMX3", "DADD", "DMUL", "HADD2", "HMUL2", "HMNMX2"})
MOVES = frozenset({"LDG", "STG", "LD", "ST", "LDGSTS", "UTMALDG", "UTMASTG"})
CLASSES = (TENSOR, FUSED, OTHER, WHOLE, MOVES)
"""What a kernel does its work with is the first class of which there are any in loops."""
ACCESS_BYTES = {"128": 16, "64": 8, "32": 4, "U16": 2, "S16": 2, "16": 2, "U8": 1, "S8": 1, "8": 1}
"""Of an access, by the modifier that tells its width; 32 is not written."""
_MEMORY = frozenset({"LDS", "STS", "LDG", "STG", "LDGSTS", "LDL", "STL", "LD", "ST"})
NEVER = ("!PT", "!UPT")
_ADDRESSING = frozenset({"MOV", "SHL", "WIDE", "X", "HI", "IADD"})


def kind(instruction: Instruction) -> str:
    """Return what an instruction is counted as: its opcode, with what of it makes a difference."""
    name, modifiers = instruction.name, instruction.opcode.split(".")[1:]
    if instruction.guard in NEVER:  # ptxas puts such loads before asynchronous copies
        return "NOP"
    if name == "HFMA2" and "-RZ, RZ" in instruction.operands:  # how ptxas sets a register
        return "MOV"
    if name in _MEMORY:
        width = next((one for one in ACCESS_BYTES if one in modifiers), "32")
        return f"{name}.{width}"
    if name in ("LDSM", "STSM"):
        return ".".join([name, *modifiers])
    if name in TENSOR or name == "WARPGROUP":
        return ".".join([name, *modifiers[:1]])
    if name == "IMAD" and _ADDRESSING & set(modifiers):
        return "IMAD.address"
    return name


def does_work(names: Container[str], instruction: Instruction) -> bool:
    """Tell whether an instruction does work of a class, and computes no address."""
    return instruction.name in names and kind(instruction) not in ("IMAD.address", "MOV", "NOP")


def matrices(counts: Counter[str], name: str) -> int:
    """Return how many matrices of 8 x 8 of 16 bits the LDSM or STSM of a loop move."""
    total = 0
    for one, count in counts.items():
        if one.split(".")[0] == name:
            last = one.rsplit(".", 1)[-1]
            total += count * (int(last) if last.isdigit() else 1)
    return total


@dataclass(frozen=True)
class MainLoop:
    """A turn of the main loop.

    ``work``: the kind of instruction that does most of the work, of which, and of those alike,
    there are ``math``. ``stalls``: cycles until a warp alone has issued all ``instructions``.
    ``always``: the instructions that every turn has, without what branches can pass by, and those
    of them that do the work.
    ``pending``: products of warp groups that the turn leaves under way; None if it waits for none.
    """

    instructions: int
    stalls: int
    work: str
    math: int
    mix: Counter[str]
    always: tuple[int, int]
    pending: int | None = None

    @property
    def always_share(self) -> float:
        """Work of the instructions that every turn has."""
        instructions, math = self.always
        return math / instructions

    @property
    def share(self) -> float:
        """Work of all instructions."""
        return self.math / self.instructions

    @property
    def issue_ratio(self) -> float:
        """Work of all cycles."""
        return self.math / self.stalls

    @property
    def per_work(self) -> float:
        """Instructions for each that does work."""
        return self.instructions / self.math

    def count(self, *names: str) -> int:
        """Return how many instructions bear one of these names, of any width and shape."""
        return sum(count for one, count in self.mix.items() if one.split(".")[0] in names)

    @property
    def math_per_ldsm_x4(self) -> float | None:
        """Work for each four matrices from workgroup memory; None without such loads."""
        moved = matrices(self.mix, "LDSM")
        return 4 * self.math / moved if moved else None


@dataclass(frozen=True)
class Figures:
    """A kernel: what it takes, all of its code, and its main loop, if it has one.

    ``registers`` are per thread, the others bytes; of machine code alone they are not known.
    """

    name: str
    resources: Resources | None
    instructions: int
    mix: Counter[str]
    loop: MainLoop | None

    @property
    def spills(self) -> int:
        """Bytes and instructions that move registers to memory of the thread and back."""
        bytes = 0
        if self.resources:
            bytes = self.resources.spill_load_bytes + self.resources.spill_store_bytes
        return bytes or self.count("LDL", "STL")

    def count(self, *names: str) -> int:
        """Return how many instructions bear one of these names, of any width and shape."""
        return sum(count for one, count in self.mix.items() if one.split(".")[0] in names)


def measure(function: Function, resources: Resources | None) -> Figures:
    """Count what there is of a kernel."""
    instructions = function.instructions
    while instructions and instructions[-1].name == "NOP":  # behind the end
        instructions = instructions[:-1]
    mix = Counter(kind(one) for one in instructions)
    return Figures(function.name, resources, len(instructions), mix, _measure_loop(function))


def _measure_loop(function: Function) -> MainLoop | None:
    for names in CLASSES:
        if found := find_main_loop(function, partial(does_work, names)):
            turn, always = found
            work = Counter(kind(one) for one in turn if does_work(names, one))
            accesses = sum(one.name in _MEMORY for one in turn)
            if names is WHOLE and work.total() <= accesses:
                continue  # they compute addresses
            stalls = sum(one.stall for one in turn)
            [(most, _)] = work.most_common(1)
            mix = Counter(map(kind, turn))
            sure = (len(always), sum(does_work(names, one) for one in always))
            left = _find_pending(turn)
            return MainLoop(len(turn), stalls, most, work.total(), mix, sure, left)
    return None


def _find_pending(turn: Iterable[Instruction]) -> int | None:
    """Return the least number of groups of products that a wait of a turn leaves under way."""
    waits = [one for one in turn if kind(one) == "WARPGROUP.DEPBAR"]
    return min((int(one.operands.split(",")[-1], 16) for one in waits), default=None)
