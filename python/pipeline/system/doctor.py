"""What is installed, what is missing, what to type."""

from __future__ import annotations

import ctypes
import os
import platform
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ..errors import ToolError
from .toolchain import INSTALL_PTXAS, find_libdevice, find_mlir_opt, find_ptxas, plugin_path


@dataclass(frozen=True, slots=True)
class Finding:
    """The state of one thing that this package works with."""

    name: str
    is_found: bool
    detail: str
    needed_for: str = ""
    """What does not work without it; empty if compiling to PTX does not."""

    @property
    def is_fine(self) -> bool:
        """Whether programs compile to PTX in spite of this finding."""
        return self.is_found or bool(self.needed_for)

    def __str__(self) -> str:
        state = "ok" if self.is_found else ("--" if self.needed_for else "MISSING")
        need = f" (needed for {self.needed_for})" if self.needed_for and not self.is_found else ""
        return f"{state:8}{self.name:18}{self.detail}{need}"


def examine() -> list[Finding]:
    """Look for everything that this package works with, in the order it is needed."""
    return [
        Finding("python", True, platform.python_version()),
        _look("compiler", _native),
        _look("plugin", lambda: str(plugin_path()), "mlir-opt"),
        _look("mlir-opt", lambda: str(find_mlir_opt()), "mlir-opt"),
        _look("ptxas", _ptxas, "machine code (--emit cubin)"),
        _look("libdevice", _libdevice, "mathematical functions in kernels"),
        _look("NVIDIA driver", _driver, "running on a GPU"),
    ]


def _look(name: str, find: Callable[[], str], needed_for: str = "") -> Finding:
    try:
        return Finding(name, True, find(), needed_for)
    except ToolError as error:
        return Finding(name, False, str(error).removeprefix("error: "), needed_for)


def _native() -> str:
    """Load the compiler in a process of its own, for whatever may come of that."""
    code = "from pipeline.system.toolchain import load_native; print(load_native().llvm_version())"
    folders = [str(Path(__file__).parents[2]), *sys.path]
    result = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(folders)},
    )
    if result.returncode == 0:
        return f"LLVM {result.stdout.strip()}"
    words = (result.stderr.strip().splitlines() or [f"exit code {result.returncode}"])[-1]
    raise ToolError(words.partition("ToolError: ")[2] or words)


def _ptxas() -> str:
    ptxas = find_ptxas()
    command = [str(ptxas), "--version"]
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise ToolError(f"{ptxas} does not run: {error.strerror}") from error
    return f"{ptxas} ({result.stdout.strip().splitlines()[-1]})" if result.stdout else str(ptxas)


def _libdevice() -> str:
    if library := find_libdevice():
        return library
    raise ToolError(f"not found; {INSTALL_PTXAS}")


def _driver() -> str:
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        raise ToolError(f"none: {error}") from error
    version = ctypes.c_int()
    if status := driver.cuInit(0):
        raise ToolError(f"libcuda.so.1 is there, but cuInit fails with error {status}")
    driver.cuDriverGetVersion(ctypes.byref(version))
    return f"for CUDA {version.value // 1000}.{version.value % 1000 // 10}"
