"""What ptxas makes of kernels: resources, and machine code with the lines it is made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from ..errors import Error
from ..system.assembler import assemble, find_version, parse_resources
from ..system.disassembler import Function, disassemble
from .lines import LineTable, gpu_line

if TYPE_CHECKING:
    from ..system.assembler import Resources
    from .document import Stage


class MachineCode(NamedTuple):
    """What is known of the machine code; ``missing`` says why there is not all of it."""

    resources: Mapping[str, Resources]
    functions: Mapping[str, Function]
    version: str
    missing: Mapping[str, str]

    def stage(self, table: LineTable) -> Stage | None:
        """Return the text; None if there is none."""
        if not self.functions:
            return None
        texts: list[str] = []
        lines: list[int] = []
        for name, function in self.functions.items():
            labels: dict[int, list[str]] = {}
            for label, place in function.labels.items():
                labels.setdefault(place, []).append(label)
            texts.append(f"// {name}")
            lines.append(0)
            for place, one in enumerate(function.instructions):
                for label in labels.get(place, ()):
                    texts.append(f"{label}:")
                    lines.append(0)
                texts.append(f"/*{one.address:04x}*/  {one}  // stall {one.stall}")
                lines.append(gpu_line(one.location) if one.location else 0)
        return table.listed_stage("sass", "\n".join(texts), lines)


def make_machine_code(located_ptx: str, chip: str) -> MachineCode:
    """Assemble PTX that tells its lines, as far as there are tools for it."""
    try:
        cubin, log = assemble(located_ptx, chip, with_lines=True)
        version = find_version(cubin)
    except Error as error:
        reason = describe_error(error)
        return MachineCode({}, {}, "", {"resources": reason, "sass": reason})
    resources = parse_resources(log)
    try:
        return MachineCode(resources, disassemble(cubin), version, {})
    except Error as error:
        return MachineCode(resources, {}, version, {"sass": describe_error(error)})


def describe_error(error: Error) -> str:
    """Return the first line of an error, without the word."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0].removeprefix("error: ")
