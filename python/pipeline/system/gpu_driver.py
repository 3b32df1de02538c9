"""The GPU's driver: where it is, what keeps it from working, which PTX it reads."""

from __future__ import annotations

import ctypes

from ..errors import DeviceUnavailable

LIBRARY = "libcuda.so.1"
OLDEST_VERSION = 12000
"""The CUDA version of the oldest driver that launches are made with, as the driver tells it."""
INSTALL_DRIVER = "install NVIDIA's driver (https://www.nvidia.com/drivers)"
INSTALL_BINDINGS = "pip install cuda-bindings"
USE_EMULATOR = "use backend='emulator'"

# What a driver that is there says instead of working, and what to do.
_STATES = {
    3: (
        "the driver is not initialised",
        "a process that was forked cannot use the GPU of the one that it was forked from: start "
        "it by multiprocessing's 'spawn'",
    ),
    34: (
        "libcuda.so.1 is the stub of a CUDA toolkit, for linking alone",
        "take the toolkit's folder 'stubs' out of LD_LIBRARY_PATH, and " + INSTALL_DRIVER,
    ),
    46: (
        "the GPU is taken by another process, or in a mode that lets none use it",
        "look who uses it with nvidia-smi; let several by nvidia-smi -c DEFAULT",
    ),
    100: (
        "the driver sees no GPU",
        "look at nvidia-smi -L and CUDA_VISIBLE_DEVICES; in a container, start it with --gpus all",
    ),
    101: ("there is no GPU of that number", "look at nvidia-smi -L and CUDA_VISIBLE_DEVICES"),
    304: (
        "the operating system does not let this process use the GPU",
        "look at the permissions of /dev/nvidia*, and in a container at how it was started "
        "(--gpus all)",
    ),
    802: (
        "the GPUs are not ready yet, as the service that connects them does not run",
        "systemctl start nvidia-fabricmanager",
    ),
    803: (
        "libcuda.so.1 and the driver in the kernel are of different versions",
        "restart the machine after an update of the driver, or take the older libcuda.so.1 out of "
        "LD_LIBRARY_PATH",
    ),
    804: (
        "libcuda.so.1 is from a cuda-compat package, which supports data-center GPUs only",
        "take its folder out of LD_LIBRARY_PATH, or remove the package cuda-compat",
    ),
    999: (
        "the driver gives no reason",
        "look at dmesg, and restart the machine if the driver was updated or the machine slept",
    ),
}

# Where PTX versions and CUDA versions do not go together as (x + 4).y with x.y.
_EXCEPTIONS = {(8, 6): 12070, (8, 7): 12080, (8, 8): 12090}


def explain(code: int) -> tuple[str, str] | None:
    """Return the state that an error of the driver tells of, and what to do; None for others."""
    return _STATES.get(code)


def open_library() -> ctypes.CDLL:
    """Load the driver's library. Raises DeviceUnavailable if there is none."""
    try:
        return ctypes.CDLL(LIBRARY)
    except OSError as error:
        words = f"error: no NVIDIA driver: {error}; {USE_EMULATOR}, or {INSTALL_DRIVER}"
        raise DeviceUnavailable(words) from error


def show_version(version: int) -> str:
    """Return ``12.4`` for 12040, as ``cuDriverGetVersion`` has it."""
    return f"{version // 1000}.{version % 1000 // 10}"


def cuda_for_ptx(ptx: tuple[int, int]) -> int:
    """Return the CUDA version of the first driver that reads a version of PTX."""
    major, minor = ptx
    return _EXCEPTIONS.get(ptx, (major + 4) * 1000 + minor * 10)


def newest_ptx(version: int) -> tuple[int, int]:
    """Return the newest version of PTX that a driver for a CUDA version reads."""
    known = [ptx for ptx, needed in _EXCEPTIONS.items() if needed <= version < needed + 10]
    if known:
        return known[0]
    major, minor = version // 1000, version % 1000 // 10
    # CUDA 12.5 and 12.6 both read 8.5.
    return (8, 5) if (major, minor) == (12, 6) else (major - 4, minor)
