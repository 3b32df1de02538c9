"""The driver of a GPU, as far as launching a kernel takes it."""

from __future__ import annotations

import ctypes
import importlib
import re
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

import gpu_tensor_maps
from gpu_tensor_maps import Bytes

VERSION_FILE = Path("/proc/driver/nvidia/version")


class MissingError(Exception):
    """What is needed and this machine does not have; the text says how to get it."""


class DriverError(Exception):
    """A call of the driver failed."""


class Driver(Protocol):
    """What a run asks of a GPU; addresses are those of its memory."""

    gpu: str
    capability: tuple[int, int]
    version: str

    def load(self, ptx: str, kernel: str) -> Any:
        """Return a kernel of a PTX text. Raises DriverError, after which all else still works."""

    def encode(self, tensor_map: Mapping[str, Any], address: int) -> bytes:
        """Return a tensor map of the tensor at an address. Raises DriverError."""

    def launch(
        self,
        function: Any,
        sizes: Sequence[int],
        shared_bytes: int,
        parameters: Sequence[bytes],
        seconds: float,
    ) -> float:
        """Run a kernel, wait for its end, and return the microseconds that it took.

        `sizes` are those of the grid and of the block. Raises DriverError, also if it takes longer
        than `seconds`.
        """

    def allocate(self, size: int) -> int:
        """Return the address of new memory, which 256 divides."""

    def free(self, address: int) -> None:
        """Give memory back."""

    def upload(self, address: int, data: Bytes) -> None:
        """Copy to the GPU."""

    def download(self, address: int, size: int) -> Bytes:
        """Copy from the GPU."""


class Cuda:
    """The first GPU, by way of a CUDA binding for Python, and of the library itself."""

    def __init__(self, binding: Any = None, library: Any = None) -> None:
        """Take the GPU. Raises MissingError."""
        if binding is None:
            library, binding = open_library(), find_binding()
        self._api, self._library = binding, library
        try:
            self._call("cuInit", 0)
            self._take(self._call("cuDeviceGet", 0))
        except DriverError as error:
            raise MissingError(
                f"no GPU can be used ({error}): run this where nvidia-smi shows a free one"
            ) from error

    def _take(self, device: Any) -> None:
        name = "CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_"
        kinds = [getattr(self._api.CUdevice_attribute, name + part) for part in ("MAJOR", "MINOR")]
        major, minor = (int(self._call("cuDeviceGetAttribute", kind, device)) for kind in kinds)
        self.capability = (major, minor)
        self.gpu = _text(self._call("cuDeviceGetName", 100, device))
        self.version = describe_driver(int(self._call("cuDriverGetVersion")), VERSION_FILE)
        self._call("cuCtxSetCurrent", self._call("cuDevicePrimaryCtxRetain", device))
        self._events = [self._call("cuEventCreate", 0) for _ in range(2)]

    def _call(self, name: str, *arguments: Any) -> Any:
        """Return what a function of the driver gives. Raises DriverError."""
        try:
            status, *values = getattr(self._api, name)(*arguments)
        except (AttributeError, RuntimeError) as error:
            # A binding of a newer CUDA asks for functions that an older driver does not have.
            message = f"{name}: {error}; does the version of cuda-bindings fit the driver's CUDA?"
            raise DriverError(message) from error
        if int(status):
            raise DriverError(f"{name}: {self._explain(status)}")
        return values[0] if values else None

    def _explain(self, status: Any) -> str:
        words = self._api.cuGetErrorString(status)[1]
        return f"{getattr(status, 'name', status)}, {_text(words or b'an unknown error')}"

    def load(self, ptx: str, kernel: str) -> Any:
        """Return a kernel of a PTX text. Raises DriverError with the log of the JIT compiler."""
        log = bytearray(1 << 14)
        kinds = self._api.CUjit_option
        options = [kinds.CU_JIT_ERROR_LOG_BUFFER, kinds.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES]
        image = ptx.encode() + b"\0"
        try:
            module = self._call("cuModuleLoadDataEx", image, 2, options, [log, len(log)])
            return self._call("cuModuleGetFunction", module, kernel.encode())
        except DriverError as error:
            words = _text(bytes(log))
            raise DriverError(f"{error}: {words}" if words else str(error)) from error

    def encode(self, tensor_map: Mapping[str, Any], address: int) -> bytes:
        """Return a tensor map of the tensor at an address.

        The binding's own CUtensorMap is not aligned as the library demands.
        """
        name = "cuTensorMapEncodeTiled"
        function = getattr(self._library, name, None)
        if function is None:
            raise DriverError(
                f"{name}: the driver (of {self.version}) does not have it: tensor maps need one of "
                "CUDA 12.0 or newer"
            )
        status, data = gpu_tensor_maps.encode(function, tensor_map, address)
        if status:
            words = self._explain(self._api.CUresult(status))
            asked = ", ".join(f"{key} {value}" for key, value in tensor_map.items())
            raise DriverError(f"{name}: {words}: address {address:#x}, {asked}")
        return data

    def launch(
        self,
        function: Any,
        sizes: Sequence[int],
        shared_bytes: int,
        parameters: Sequence[bytes],
        seconds: float,
    ) -> float:
        """Run a kernel, wait for its end, and return the microseconds that it took."""
        if shared_bytes > 48 << 10:
            kind = self._api.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            self._call("cuFuncSetAttribute", function, kind, shared_bytes)
        values = [gpu_tensor_maps.align(parameter) for parameter in parameters]
        pointers = np.array([value.ctypes.data for value in values], np.uint64)
        address = int(pointers.ctypes.data) if values else 0
        start, end = self._events
        self._call("cuEventRecord", start, 0)
        self._call("cuLaunchKernel", function, *sizes, shared_bytes, 0, address, 0)
        self._call("cuEventRecord", end, 0)
        self._wait(end, seconds)
        return float(self._call("cuEventElapsedTime", start, end)) * 1e3

    def _wait(self, event: Any, seconds: float) -> None:
        """Wait for an event, but not for a kernel that does not end."""
        deadline = time.monotonic() + seconds
        while True:
            status = self._api.cuEventQuery(event)[0]
            if status != self._api.CUresult.CUDA_ERROR_NOT_READY:
                break
            if time.monotonic() > deadline:
                raise DriverError(f"the kernel still runs after {seconds:.3g} s")
            time.sleep(1e-4)
        if int(status):
            raise DriverError(f"the kernel ended with {self._explain(status)}")

    def allocate(self, size: int) -> int:
        """Return the address of new memory."""
        return int(self._call("cuMemAlloc", size))

    def free(self, address: int) -> None:
        """Give memory back."""
        self._call("cuMemFree", address)

    def upload(self, address: int, data: Bytes) -> None:
        """Copy to the GPU."""
        self._call("cuMemcpyHtoD", address, int(data.ctypes.data), data.size)

    def download(self, address: int, size: int) -> Bytes:
        """Copy from the GPU."""
        data = np.zeros(size, np.uint8)
        self._call("cuMemcpyDtoH", int(data.ctypes.data), address, size)
        return data


def _text(words: bytes) -> str:
    """Return a C string."""
    return words.split(b"\0")[0].decode(errors="replace").strip()


def open_library() -> Any:
    """Return the library of the driver. Raises MissingError."""
    library = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
    try:
        return ctypes.CDLL(library)
    except OSError:
        raise MissingError(
            f"there is no NVIDIA driver ({library}) here: copy this folder to a machine with an "
            "NVIDIA GPU and its driver, and start run.py there"
        ) from None


def find_binding() -> Any:
    """Return a module with the functions of the driver. Raises MissingError."""
    for name in ("cuda.bindings.driver", "cuda.cuda"):
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    command = f"{sys.executable} -m pip install cuda-bindings"
    raise MissingError(f"the CUDA binding for Python is missing: {command}")


def describe_driver(cuda: int, file: Path) -> str:
    """Return the version of the driver, if `file` tells it, and of its CUDA."""
    name = f"CUDA {cuda // 1000}.{cuda % 1000 // 10}"
    try:
        match = re.search(r"\b\d{3}\.\d+(\.\d+)?\b", file.read_text(encoding="utf-8"))
    except OSError:
        match = None
    return f"{match[0]}, {name}" if match else name


def refusal(chip: str, capability: tuple[int, int]) -> str:
    """Return why a GPU cannot run PTX for `chip`; nothing if it can."""
    match = re.fullmatch(r"sm_(\d+)(\d)([af]?)", chip)
    if not match:
        return f"'{chip}' is no chip that is known here"
    wanted = (int(match[1]), int(match[2]))
    fits = capability >= wanted
    if match[3] == "a":  # features of one chip only
        fits = capability == wanted
    elif match[3] == "f":  # of a family
        fits = fits and capability[0] == wanted[0]
    return "" if fits else f"PTX for {chip} does not run on sm_{capability[0]}{capability[1]}"
