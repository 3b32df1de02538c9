"""The GPU that a pack runs on: what it is, what it can run, and memory of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from pipeline.runtime.cuda.driver import Driver

from .arrays import Bytes

VERSION_FILE = Path("/proc/driver/nvidia/version")


class Gpu:
    """The first GPU, by the driver of the package."""

    def __init__(self) -> None:
        """Find the GPU, without a context on it. Raises pipeline.DeviceUnavailable."""
        self.driver = Driver.get()
        self.name = self.driver.name(0)
        self.capability = self.driver.capability(0)
        self.version = describe_driver(self.driver.version, VERSION_FILE)

    @property
    def chip(self) -> str:
        """What the compiler calls it."""
        return f"sm_{self.capability[0]}{self.capability[1]}"

    @contextmanager
    def entered(self) -> Iterator[Driver]:
        """Have the context of the GPU current."""
        token = self.driver.enter(0)
        try:
            yield self.driver
        finally:
            self.driver.leave(token)


def upload(driver: Driver, address: int, data: Bytes) -> None:
    """Copy to the GPU, and wait for it."""
    if data.size:
        driver.upload(address, int(data.ctypes.data), data.size, 0)
        driver.synchronize(0)


def download(driver: Driver, address: int, size: int) -> Bytes:
    """Return a copy of memory of the GPU."""
    data = np.zeros(size, np.uint8)
    if size:
        driver.download(int(data.ctypes.data), address, size, 0)
        driver.synchronize(0)
    return data


class Parameters:
    """Values of a kernel's parameters, and pointers to them as launches take these."""

    def __init__(self, values: Sequence[bytes]) -> None:
        self._values = [_align(value) for value in values]
        self._pointers = np.array([value.ctypes.data for value in self._values], np.uint64)
        self.address = int(self._pointers.ctypes.data) if values else 0


def _align(data: bytes) -> Bytes:
    """Return a copy at an address that suits any parameter; tensor maps take 64."""
    memory = np.zeros(len(data) + 128, np.uint8)
    start = -memory.ctypes.data % 128
    copy = memory[start : start + len(data)]
    copy[:] = np.frombuffer(data, np.uint8)
    return copy


def describe_driver(cuda: int, file: Path) -> str:
    """Return the version of the driver, if `file` tells it, and of its CUDA."""
    name = f"CUDA {cuda // 1000}.{cuda % 1000 // 10}"
    try:
        match = re.search(r"\b\d{3}\.\d+(\.\d+)?\b", file.read_text(encoding="utf-8"))
    except OSError:
        match = None
    return f"{match[0]}, {name}" if match else name


def refusal(chips: Sequence[str], capability: tuple[int, int]) -> str:
    """Return why a GPU can run none of the code for `chips`; nothing if it can."""
    if any(_fits(chip, capability) for chip in chips):
        return ""
    return f"code for {', '.join(chips)} does not run on sm_{capability[0]}{capability[1]}"


def _fits(chip: str, capability: tuple[int, int]) -> bool:
    match = re.fullmatch(r"sm_(\d+)(\d)([af]?)", chip)
    if not match:
        return False
    wanted = (int(match[1]), int(match[2]))
    if match[3] == "a":  # features of one chip only
        return capability == wanted
    if match[3] == "f":  # of a family
        return capability >= wanted and capability[0] == wanted[0]
    return capability >= wanted
