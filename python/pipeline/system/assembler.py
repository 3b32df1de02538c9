"""From PTX to machine code by ptxas, and what it says that kernels take."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..diagnostics import Diagnostic, Location
from ..errors import CompileError, ToolError
from .toolchain import find_ptxas


@dataclass(frozen=True, slots=True)
class Resources:
    """What ptxas says that a kernel takes: registers per thread, the rest in bytes."""

    registers: int
    static_shared_bytes: int
    stack_bytes: int
    spill_store_bytes: int
    spill_load_bytes: int


def assemble(ptx: str, chip: str, *, with_lines: bool = False) -> tuple[bytes, str]:
    """Assemble `ptx` for `chip`; return the cubin and what ``ptxas -v`` printed.

    with_lines: have the machine code tell the lines that the PTX tells.

    Raises ToolError without ptxas, CompileError if ptxas refuses.
    """
    ptxas = find_ptxas()
    with tempfile.TemporaryDirectory(prefix="pipeline-") as folder:
        source, target = Path(folder) / "kernels.ptx", Path(folder) / "kernels.cubin"
        source.write_text(ptx, encoding="utf-8")
        command = [str(ptxas), "-v", f"-arch={chip}", str(source), "-o", str(target)]
        command += ["-lineinfo"] if with_lines else []
        try:
            result = subprocess.run(command, capture_output=True, text=True, check=False)
        except OSError as error:
            raise ToolError(f"error: {ptxas} does not run: {error.strerror}") from error
        log = (result.stdout + result.stderr).replace(str(source), "kernels.ptx")
        if result.returncode != 0:
            diagnostic = Diagnostic("error", f"ptxas: {log.strip()}", Location("kernels.ptx"))
            raise CompileError(str(diagnostic), [diagnostic], stage="cubin")
        return target.read_bytes(), log


def find_version(cubin: bytes = b"") -> str:
    """Return the version of ptxas, as ``13.0.88``, by what it notes in machine code, or else says.

    Raises ToolError without it.
    """
    if noted := re.search(rb"\bCuda compilation tools, release \S+ V(\d+(?:\.\d+)+)", cubin):
        return noted[1].decode()
    ptxas = find_ptxas()
    result = subprocess.run([str(ptxas), "--version"], capture_output=True, text=True, check=False)
    match = re.search(r"\bV(\d+(?:\.\d+)+)", result.stdout)
    return match[1] if match else "unknown"


_ENTRY = re.compile(r"Compiling entry function '(?P<name>[^']+)'")
_FRAME = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_USED = re.compile(r"Used (\d+) registers")
_SHARED = re.compile(r"(\d+) bytes smem")


def parse_resources(log: str) -> Mapping[str, Resources]:
    """Return what each kernel takes from the output of ``ptxas -v``."""
    resources: dict[str, Resources] = {}
    name, frame = "", (0, 0, 0)
    for line in log.splitlines():
        if match := _ENTRY.search(line):
            name = match["name"]
        elif match := _FRAME.search(line):
            frame = (int(match[1]), int(match[2]), int(match[3]))
        elif name and (match := _USED.search(line)):
            shared = _SHARED.search(line)
            resources[name] = Resources(int(match[1]), int(shared[1]) if shared else 0, *frame)
            name = ""
    return resources
