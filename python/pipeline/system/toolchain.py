"""The programs and libraries beside this package: where they are, how to get them."""

from __future__ import annotations

import importlib
import importlib.util
import os
from collections.abc import Iterator
from types import ModuleType
from typing import TYPE_CHECKING

from ..errors import ToolError

if TYPE_CHECKING:
    from pathlib import Path

PLUGIN_NAME = "WorkgroupPlugin.so"
MLIR_PACKAGES = "libmlir-22-dev mlir-22-tools llvm-22-dev llvm-22-tools"
INSTALL_MLIR = f"install LLVM/MLIR 22.1 (Debian: apt-get install {MLIR_PACKAGES})"
INSTALL_PTXAS = "pip install nvidia-cuda-nvcc, or set CUDA_HOME to a CUDA toolkit"
INSTALL_PACKAGE = "pip install . in a checkout of mlir-workgroup"


def load_native(part: str = "compiler") -> ModuleType:
    """Import the native extension, for a `part` of it.

    Raises ToolError, with the command that installs what is missing, if it does not load.
    """
    try:
        return importlib.import_module("pipeline._native")
    except ImportError as error:
        words = f"error: the {part} cannot be loaded: {error}; {INSTALL_PACKAGE}"
        raise ToolError(words) from error


def require_numpy(part: str) -> None:
    """Raise ToolError if NumPy is missing, on whose arrays a `part` of this package works."""
    if importlib.util.find_spec("numpy") is None:
        raise ToolError(f"error: {part} works on arrays of NumPy: pip install numpy")


def _native_file() -> str | None:
    """Return the file of the native extension without loading it."""
    spec = importlib.util.find_spec("pipeline._native")
    return spec.origin if spec else None


def plugin_path() -> Path:
    """Return the pass plugin, for ``mlir-opt-22 --load-pass-plugin=PATH``.

    Raises ToolError if this package was installed without it.
    """
    from pathlib import Path

    folders = [Path(__file__).parents[1]]
    if native := _native_file():
        folders.insert(0, Path(native).parent)
    for folder in folders:
        plugin = folder / PLUGIN_NAME
        if plugin.is_file():
            return plugin.resolve()
    raise ToolError(f"error: {PLUGIN_NAME} is not installed; {INSTALL_PACKAGE}")


def find_mlir_opt() -> Path:
    """Return LLVM 22's ``mlir-opt``. Raises ToolError if there is none."""
    from pathlib import Path

    if found := which("mlir-opt-22"):
        return Path(found)
    for config in ("llvm-config-22", "llvm-config"):
        if program := which(config):
            folder = _output(program, "--bindir")
            candidate = Path(folder) / "mlir-opt"
            if candidate.is_file() and _is_llvm_22(candidate):
                return candidate
    if (found := which("mlir-opt")) and _is_llvm_22(Path(found)):
        return Path(found)
    other = f" ({found} is of {_llvm_version(found)})" if found else ""
    raise ToolError(f"error: mlir-opt of LLVM 22.1 was not found{other}; {INSTALL_MLIR}")


def which(program: str) -> str | None:
    """Return the file of a program on the path."""
    import shutil

    return shutil.which(program)


def _is_llvm_22(program: Path) -> bool:
    return _llvm_version(str(program)).startswith("LLVM version 22.")


def _llvm_version(program: str) -> str:
    """Return ``LLVM version 22.1.8`` of a program, or that it does not tell."""
    output = _output(program, "--version")
    at = output.find("LLVM version ")
    return output[at:].splitlines()[0].strip() if at >= 0 else "no known version"


def _output(*command: str) -> str:
    import subprocess

    result = subprocess.run(command, capture_output=True, text=True, check=False)
    return result.stdout.strip()


def _cuda_folders() -> Iterator[str]:
    """Yield the folders of CUDA toolkits, those that the user names first."""
    for variable in ("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"):
        if value := os.environ.get(variable):
            yield value
    try:
        nvidia = importlib.util.find_spec("nvidia")
    except (ImportError, ValueError):
        nvidia = None
    for location in (nvidia.submodule_search_locations or []) if nvidia else []:
        # CUDA 13 packages share one folder, older ones have a folder each.
        names = [name for name in os.listdir(location) if name.startswith("cu")]
        for name in sorted(names, reverse=True):
            if name[2:3].isdigit():
                yield os.path.join(location, name)
        yield os.path.join(location, "cuda_nvcc")


def find_ptxas() -> Path:
    """Return NVIDIA's assembler. Raises ToolError if there is none."""
    if found := find_cuda_program("ptxas"):
        return found
    raise ToolError(f"error: ptxas was not found; {INSTALL_PTXAS}")


def find_cuda_program(name: str) -> Path | None:
    """Return a program of a CUDA toolkit, of NVIDIA's packages, or of the path, if there is one."""
    from pathlib import Path

    for folder in _cuda_folders():
        program = Path(folder, "bin", name)
        if os.access(program, os.X_OK):
            return program
    found = which(name)
    return Path(found) if found else None


def find_libdevice() -> str | None:
    """Return the file of NVIDIA's library of mathematical functions, if there is one."""
    for folder in _cuda_folders():
        if library := _libdevice_in(folder):
            return library
    if program := which("nvcc"):
        return _libdevice_in(os.path.dirname(os.path.dirname(os.path.realpath(program))))
    return None


def _libdevice_in(folder: str) -> str | None:
    library = os.path.join(folder, "nvvm", "libdevice", "libdevice.10.bc")
    return library if os.path.isfile(library) else None
