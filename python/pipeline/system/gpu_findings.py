"""What the doctor finds of the driver, its GPUs, and the packages that launch on them."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .finding import Finding
from .gpu_driver import (
    INSTALL_BINDINGS,
    INSTALL_DRIVER,
    OLDEST_VERSION,
    explain,
    newest_ptx,
    show_version,
)
from .packages import find_torch, find_version
from .processes import Ending, run

RUN_ON_GPU = "running on a GPU"
_SECONDS = 15.0
_NVIDIA = "0x10de"
_DISPLAY = "0x03"
_PROHIBITED = 2


def find_gpus(root: Path = Path("/"), seconds: float = _SECONDS) -> tuple[list[Finding], int]:
    """Ask the driver how it is; return what it and each GPU say, and the CUDA version it is for.

    The version is 0 where there is no driver; `root` is where the files of the machine are.
    """
    program = str(Path(__file__).with_name("gpu_probe.py"))
    ending = run([sys.executable, "-I", "-S", program], seconds)
    facts: dict[str, Any] = {}
    devices = []
    for line in ending.output.splitlines():
        fact: dict[str, Any] = json.loads(line)
        if "device" in fact:
            devices.append(fact)
        facts.update(fact)
    problem = _driver_problem(facts, ending, root)
    version = int(facts.get("version", 0))
    if problem:
        file = f"{facts['file']}: " if facts.get("file") else ""
        return [Finding("NVIDIA driver", False, file + problem, RUN_ON_GPU)], version
    ptx = ".".join(map(str, newest_ptx(version)))
    detail = f"for CUDA {show_version(version)}, reads PTX up to {ptx} ({facts['file']})"
    return [Finding("NVIDIA driver", True, detail), *map(_gpu, devices)], version


def _driver_problem(facts: dict[str, Any], ending: Ending, root: Path) -> str:
    """Return what keeps the driver from working, and what to do; empty if it works."""
    if "missing" in facts:
        return f"none: {facts['missing']}; {_missing_remedy(root)}"
    if ending.code is None:
        words = "does not answer"
        remedy = "look at dmesg and nvidia-smi, and restart the machine"
        return f"{words}; {remedy}"
    if ending.code:
        return f"crashes ({ending.last_words}); {INSTALL_DRIVER} anew, and restart the machine"
    if code := facts.get("init", 0):
        state, remedy = explain(code) or ("cuInit fails", "look at nvidia-smi and dmesg")
        return f"{state} (error {code}); {remedy}"
    if (version := facts["version"]) < OLDEST_VERSION:
        return (
            f"is for CUDA {show_version(version)}, but {show_version(OLDEST_VERSION)} is needed; "
            f"update it: {INSTALL_DRIVER}"
        )
    return ""


def _missing_remedy(root: Path) -> str:
    """Return what to do without a library, by what the machine has."""
    kernel = root / "proc/driver/nvidia/version"
    if kernel.exists():
        return (
            "the driver is in the kernel, but its library is not to be seen: start the container "
            "with --gpus all, or put the folder of libcuda.so.1 into LD_LIBRARY_PATH"
        )
    if (root / "usr/lib/wsl/lib/libcuda.so.1").exists():
        return "export LD_LIBRARY_PATH=/usr/lib/wsl/lib"
    if any(_nvidia_cards(root)):
        return f"the machine has an NVIDIA GPU: {INSTALL_DRIVER}"
    return "the machine shows no NVIDIA GPU: programs run on the emulator"


def _nvidia_cards(root: Path) -> Iterator[Path]:
    for card in (root / "sys/bus/pci/devices").glob("*"):
        try:
            vendor, kind = ((card / name).read_text() for name in ("vendor", "class"))
        except OSError:
            continue
        if vendor.strip() == _NVIDIA and kind.startswith(_DISPLAY):
            yield card


def _gpu(fact: dict[str, Any]) -> Finding:
    name = f"GPU {fact['device']}"
    detail = f"{fact['name']}, sm_{fact['major']}{fact['minor']}"
    if fact["mode"] == _PROHIBITED:
        remedy = f"nvidia-smi -i {fact['device']} -c DEFAULT"
        return Finding(name, False, f"{detail}, lets no process use it; {remedy}", RUN_ON_GPU)
    return Finding(name, True, detail)


# --- packages -------------------------------------------------------------------------------------


def find_packages(driver_version: int = 0) -> list[Finding]:
    """Return what is installed of the packages that work with GPUs and arrays.

    `driver_version` is the CUDA version that the driver is for, 0 if there is none.
    """
    return [
        _bindings(driver_version),
        _plain("NumPy", "numpy", "pip install numpy", "arrays on the host"),
        _plain("ml_dtypes", "ml_dtypes", "pip install ml_dtypes", "bf16 and f8 in NumPy"),
        _torch(driver_version),
    ]


def _bindings(driver_version: int) -> Finding:
    version = find_version("cuda-bindings")
    if version is None:
        detail = f"not installed; {INSTALL_BINDINGS}"
        return Finding("cuda-bindings", False, detail, RUN_ON_GPU)
    major, least = driver_version // 1000, int(version.partition(".")[0]) * 1000
    if driver_version and driver_version < least:
        detail = (
            f"{version} needs a driver for CUDA {show_version(least)} or newer, and this one is "
            f"for {show_version(driver_version)}; pip install 'cuda-bindings>={major},<{major + 1}'"
        )
        return Finding("cuda-bindings", False, detail, RUN_ON_GPU)
    return Finding("cuda-bindings", True, version)


def _plain(name: str, distribution: str, remedy: str, needed_for: str) -> Finding:
    version = find_version(distribution)
    if version is None:
        return Finding(name, False, f"not installed; {remedy}", needed_for)
    return Finding(name, True, version)


def _torch(driver_version: int) -> Finding:
    needed_for = "tensors of PyTorch on a GPU"
    found = find_torch()
    if found is None:
        return Finding("PyTorch", False, "not installed; pip install torch", needed_for)
    if not found.cuda:
        remedy = "choose CUDA at https://pytorch.org/get-started"
        detail = f"{found.version}, built for the CPU alone; {remedy}"
        return Finding("PyTorch", False, detail, needed_for)
    detail = f"{found.version}, built for CUDA {found.cuda}"
    major = int(found.cuda.partition(".")[0])
    if driver_version and driver_version // 1000 < major:
        remedy = f"choose CUDA {driver_version // 1000} at https://pytorch.org/get-started"
        detail += f", but the driver is for {show_version(driver_version)}; {remedy}"
        return Finding("PyTorch", False, detail, needed_for)
    return Finding("PyTorch", True, detail)
