"""Machine code as nvdisasm prints it: instructions, what they jump to, and for how long they stall.

Read is the output of ``nvdisasm -c -hex``. Since Volta an instruction has 128 bits, printed as two
words; bits 41 to 44 of the second one hold the cycles for which its warp waits before it issues the
next instruction. Where they hold zero, one cycle passes all the same.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from pipeline.system.toolchain import find_cuda_program
from setup.environment import ROOT, SetupError, read_group, run, step

FOLDER = ROOT / "build" / "nvdisasm"
INSTALL = "pip install nvidia-cuda-nvdisasm, or set CUDA_HOME to a CUDA toolkit"


class DisassemblyError(Exception):
    """There is no nvdisasm, or it refuses a file."""


@dataclass(frozen=True, slots=True)
class Instruction:
    """An instruction: ``@!P0 BRA `(.L_x_1)`` has guard ``!P0`` and opcode ``BRA``."""

    address: int
    guard: str
    opcode: str
    operands: str
    stall: int

    @property
    def name(self) -> str:
        """The opcode without modifiers."""
        return self.opcode.partition(".")[0]

    @property
    def modifiers(self) -> frozenset[str]:
        """The modifiers of the opcode."""
        return frozenset(self.opcode.split(".")[1:])

    @property
    def targets(self) -> tuple[str, ...]:
        """The labels that a jump may go to; ptxas also jumps by calls that do not return."""
        return tuple(_LABEL.findall(self.operands)) if self.name in {*JUMPS, "CALL"} else ()

    @property
    def falls_through(self) -> bool:
        """Whether the next instruction may follow."""
        if self.name in ENDS or self.name in JUMPS:
            return self.guard != "" or _CONDITION.match(self.operands) is not None
        return True


JUMPS = frozenset({"BRA", "BRX", "BRXU", "JMP", "JMX", "JMXU"})
ENDS = frozenset({"EXIT", "RET", "KILL"})
_LABEL = re.compile(r"\.L_[\w$.]*\w")
_CONDITION = re.compile(r"!?U?P\d|U?R\d+,|~?U?R\d+")
_FUNCTION = re.compile(r"\s*\.section\s+\.text\.([^\s,]+),")
_TARGET = re.compile(r"(\.L_[\w$.]*\w):")
_INSTRUCTION = re.compile(
    r"\s*/\*(?P<address>[0-9a-f]{4,})\*/\s+(?:\{\s*)?(?:@(?P<guard>!?U?P\w+)\s+)?"
    r"(?P<opcode>[A-Z][\w.]*)\s*(?P<operands>.*?)\s*;\s*/\* 0x[0-9a-f]{16} \*/"
)
_SECOND_WORD = re.compile(r"\s*/\* 0x([0-9a-f]{16}) \*/")


@dataclass
class Function:
    """The instructions of a function, and where in them its labels are."""

    name: str
    instructions: list[Instruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)


def parse(text: str) -> dict[str, Function]:
    """Return the functions of a listing by name."""
    functions: dict[str, Function] = {}
    function: Function | None = None
    first: re.Match[str] | None = None
    for line in text.splitlines():
        if match := _FUNCTION.match(line):
            function = functions.setdefault(match[1], Function(match[1]))
        elif function is None:
            continue
        elif match := _TARGET.match(line):
            function.labels[match[1]] = len(function.instructions)
        elif match := _INSTRUCTION.match(line):
            first = match
        elif first and (match := _SECOND_WORD.match(line)):
            function.instructions.append(_read(first, int(match[1], 16)))
            first = None
    return functions


def _read(match: re.Match[str], word: int) -> Instruction:
    """Return an instruction, whose second word is given."""
    stall = max(1, word >> 41 & 15)
    guard = match["guard"] or ""
    return Instruction(
        int(match["address"], 16),
        "" if guard in ("PT", "UPT") else guard,
        match["opcode"],
        match["operands"],
        stall,
    )


def find_nvdisasm() -> Path | None:
    """Return NVIDIA's disassembler, if there is one."""
    if found := find_cuda_program("nvdisasm"):
        return found
    return next(FOLDER.glob("nvidia/*/bin/nvdisasm"), None)


def install_nvdisasm() -> None:
    """Fetch the disassembler (5 MB), unless there is one. Raises DisassemblyError."""
    if find_nvdisasm():
        return
    wanted = read_group("disassembler")
    command = [sys.executable, "-m", "pip", "install", "--no-deps", "--target", str(FOLDER)]
    try:
        with step(f"installing {wanted[0]} (PyPI)"):
            run([*command, *wanted], "pip install failed")
    except SetupError as error:
        raise DisassemblyError(f"nvdisasm was not found; {INSTALL}\n{error}") from error


def disassemble(cubin: bytes) -> dict[str, Function]:
    """Return the functions of machine code. Raises DisassemblyError."""
    program = find_nvdisasm()
    if not program:
        raise DisassemblyError(f"nvdisasm was not found; {INSTALL}")
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        command = [str(program), "-c", "-hex", file.name]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    functions = parse(done.stdout)
    if done.returncode or not functions:
        raise DisassemblyError(f"nvdisasm: {done.stderr.strip() or 'no code'}")
    return functions
