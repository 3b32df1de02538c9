"""What is installed, what is missing, what to type."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ..errors import ToolError
from .clang import find_clang
from .finding import Finding
from .gpu_findings import find_gpus, find_packages
from .packages import is_runtime_only
from .processes import Ending, run
from .toolchain import (
    INSTALL_MLIR,
    INSTALL_PACKAGE,
    INSTALL_PTXAS,
    find_libdevice,
    find_mlir_opt,
    find_ptxas,
    plugin_path,
)

_SECONDS = 30.0
"""After that, a program that is asked for its version does not answer."""


def examine() -> list[Finding]:
    """Look for everything that this package works with, in the order it is needed."""
    # Most of the time goes into programs that are started.
    with ThreadPoolExecutor() as pool:
        gpus = pool.submit(find_gpus)
        looks = [pool.submit(look) for look in (_compiler, _tools)]
        found = [finding for look in looks for finding in look.result()]
        on_gpus, driver_version = gpus.result()
    python = Finding("python", True, platform.python_version())
    return [python, *found, *on_gpus, *find_packages(driver_version)]


def _look(name: str, find: Callable[[], str], needed_for: str = "") -> Finding:
    try:
        return Finding(name, True, find(), needed_for)
    except ToolError as error:
        return Finding(name, False, str(error).removeprefix("error: "), needed_for)


def _ask(command: list[str], text: str = "") -> Ending:
    """Run a program that is a part of the machine. Raises ToolError if it does not start or end."""
    try:
        ending = run(command, _SECONDS, text)
    except OSError as error:
        raise ToolError(f"{command[0]} does not run: {error.strerror}") from error
    if ending.code is None:
        raise ToolError(f"{command[0]} does not answer")
    return ending


# --- the compiler ---------------------------------------------------------------------------------


def _compiler() -> list[Finding]:
    if is_runtime_only():
        detail = (
            "not installed: this is the runtime, which runs what is compiled elsewhere; "
            f"{INSTALL_PACKAGE}"
        )
        return [Finding("compiler", False, detail, "compiling")]
    return [
        _look("compiler", _native),
        _look("plugin", _plugin, "mlir-opt"),
        _look("mlir-opt", lambda: str(find_mlir_opt()), "mlir-opt"),
    ]


def _native() -> str:
    """Load the compiler in a process of its own, for whatever may come of that."""
    code = "from pipeline.system.toolchain import load_native; print(load_native().llvm_version())"
    folders = [str(Path(__file__).parents[2]), *sys.path]
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join(folders)}
    ending = run([sys.executable, "-c", code], _SECONDS, variables=variables)
    if ending.code == 0:
        return f"LLVM {ending.output.strip()}"
    words = ending.last_words
    words = words.partition("ToolError: ")[2] or words
    if "libMLIR" in words or "libLLVM" in words:
        words = words.replace(INSTALL_PACKAGE, INSTALL_MLIR)
    raise ToolError(words)


def _plugin() -> str:
    """Load the plugin into ``mlir-opt``, if there is one."""
    plugin = plugin_path()
    try:
        mlir_opt = find_mlir_opt()
    except ToolError:
        return str(plugin)
    ending = _ask([str(mlir_opt), f"--load-pass-plugin={plugin}", "-o", os.devnull])
    if ending.code == 0:
        return str(plugin)
    raise ToolError(
        f"{plugin} does not load into {mlir_opt}: {ending.last_words}; it is for the LLVM that it "
        f"was built with: {INSTALL_MLIR}, and {INSTALL_PACKAGE}"
    )


# --- tools ----------------------------------------------------------------------------------------


def _tools() -> list[Finding]:
    return [
        _look("ptxas", _ptxas, "machine code (--emit cubin)"),
        _look("libdevice", _libdevice, "mathematical functions in kernels"),
        _look("clang", _clang, "kernels of CUDA C++"),
    ]


def _ptxas() -> str:
    ptxas = find_ptxas()
    ending = _ask([str(ptxas), "--version"])
    if ending.code != 0:
        raise ToolError(f"{ptxas} does not run: {ending.last_words}; {INSTALL_PTXAS}")
    lines = ending.output.strip().splitlines()
    return f"{ptxas} ({lines[-1]})" if lines else str(ptxas)


def _libdevice() -> str:
    if library := find_libdevice():
        return library
    raise ToolError(f"not found; {INSTALL_PTXAS}")


def _clang() -> str:
    program, version = find_clang()
    return f"{program} (clang {version})"


__all__ = ["Finding", "examine"]
