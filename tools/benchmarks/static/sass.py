"""Machine code for the suite, as the package reads it; nvdisasm is fetched if need be."""

from __future__ import annotations

import sys
from pathlib import Path

from pipeline.errors import ToolError
from pipeline.system import disassembler
from pipeline.system.disassembler import INSTALL_NVDISASM, Function, Instruction, parse
from setup.environment import ROOT, SetupError, read_group, run, step

FOLDER = ROOT / "build" / "nvdisasm"

__all__ = [
    "DisassemblyError",
    "Function",
    "Instruction",
    "disassemble",
    "find_nvdisasm",
    "install_nvdisasm",
    "parse",
]


class DisassemblyError(Exception):
    """There is no nvdisasm, or it refuses a file."""


def find_nvdisasm() -> Path | None:
    """Return NVIDIA's disassembler, if there is one."""
    if found := disassembler.find_nvdisasm():
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
        raise DisassemblyError(f"nvdisasm was not found; {INSTALL_NVDISASM}\n{error}") from error


def disassemble(cubin: bytes) -> dict[str, Function]:
    """Return the functions of machine code. Raises DisassemblyError."""
    try:
        return disassembler.disassemble(cubin, find_nvdisasm())
    except ToolError as error:
        raise DisassemblyError(str(error).removeprefix("error: ")) from error
