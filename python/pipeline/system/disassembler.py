"""Machine code as nvdisasm prints it: instructions, what they jump to, and for how long they stall.

Read is the output of ``nvdisasm -c -hex -g -ndf``. Since Volta an instruction has 128 bits, printed
as two words; bits 41 to 44 of the second one hold the cycles for which its warp waits before it
issues the next instruction. Where they hold zero, one cycle passes all the same. What ``-ndf``
leaves out, the targets of returns by a stack of branches, takes a quarter of the time, and since
Volta there is no such stack.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from ..diagnostics import Location
from ..errors import ToolError
from .toolchain import find_cuda_program

INSTALL_NVDISASM = "pip install nvidia-cuda-nvdisasm, or set CUDA_HOME to a CUDA toolkit"


@dataclass(frozen=True, slots=True)
class Instruction:
    """An instruction: ``@!P0 BRA `(.L_x_1)`` has guard ``!P0`` and opcode ``BRA``.

    ``location``: that which the PTX tells of it; None if it tells none.
    """

    address: int
    guard: str
    opcode: str
    operands: str
    stall: int
    location: Location | None = None

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

    def __str__(self) -> str:
        guard = f"@{self.guard} " if self.guard else ""
        return f"{guard}{self.opcode} {self.operands}".rstrip()


JUMPS = frozenset({"BRA", "BRX", "BRXU", "JMP", "JMX", "JMXU"})
ENDS = frozenset({"EXIT", "RET", "KILL"})
_LABEL = re.compile(r"\.L_[\w$.]*\w")
_CONDITION = re.compile(r"!?U?P\d|U?R\d+,|~?U?R\d+")
_FUNCTION = re.compile(r"\s*\.section\s+\.text\.([^\s,]+),")
_TARGET = re.compile(r"(\.L_[\w$.]*\w):")
_LINE = re.compile(r'\s*//## File "(?P<file>[^"]*)", line (?P<line>\d+)')
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
    location: Location | None = None
    for line in text.splitlines():
        if match := _FUNCTION.match(line):
            function = functions.setdefault(match[1], Function(match[1]))
            location = None
        elif function is None:
            continue
        elif match := _LINE.match(line):
            location = Location(match["file"], int(match["line"]))
        elif match := _TARGET.match(line):
            function.labels[match[1]] = len(function.instructions)
        elif match := _INSTRUCTION.match(line):
            first = match
        elif first and (match := _SECOND_WORD.match(line)):
            function.instructions.append(_read(first, int(match[1], 16), location))
            first = None
    return functions


def _read(match: re.Match[str], word: int, location: Location | None) -> Instruction:
    """Return an instruction, whose second word is given."""
    stall = max(1, word >> 41 & 15)
    guard = match["guard"] or ""
    return Instruction(
        int(match["address"], 16),
        "" if guard in ("PT", "UPT") else guard,
        match["opcode"],
        match["operands"],
        stall,
        location,
    )


def find_nvdisasm() -> Path | None:
    """Return NVIDIA's disassembler, if there is one."""
    return find_cuda_program("nvdisasm")


def disassemble(cubin: bytes, program: Path | None = None) -> dict[str, Function]:
    """Return the functions of machine code, by ``program`` or the nvdisasm that is found.

    Raises ToolError without one, or if it refuses the code.
    """
    program = program or find_nvdisasm()
    if not program:
        raise ToolError(f"error: nvdisasm was not found; {INSTALL_NVDISASM}")
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        command = [str(program), "-c", "-hex", "-g", "-ndf", file.name]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        except OSError as error:
            raise ToolError(f"error: {program} does not run: {error.strerror}") from error
    functions = parse(done.stdout)
    if done.returncode or not functions:
        raise ToolError(f"error: nvdisasm: {done.stderr.strip() or 'no code'}")
    return functions
