"""Where arrays of a GPU come from: PyTorch, or the driver itself, and how each makes graphs."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from pipeline.runtime.cuda.driver import Driver

from .arrays import Array, Buffer, Bytes
from .gpu import Gpu, download, upload

TORCH_TYPES = {
    "bf16": "bfloat16",
    "f8E4M3FN": "float8_e4m3fn",
    "f8E5M2": "float8_e5m2",
    "f16": "float16",
    "f32": "float32",
    "f64": "float64",
    "i1": "bool",
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "index": "int64",
}
"""The names that PyTorch has for MLIR's element types."""
ML_TYPES = {"bf16": "bfloat16", "f8E4M3FN": "float8_e4m3fn", "f8E5M2": "float8_e5m2"}
"""The names that ml_dtypes has for MLIR's element types that NumPy lacks."""


class Door(Protocol):
    """A way to memory of a GPU, which 256 divides the address of, and to streams."""

    name: str

    def takes(self, element: str) -> bool:
        """Return whether it has arrays of an MLIR type."""

    def allocate(self, size: int) -> Any:
        """Return new memory of so many bytes."""

    def free(self, memory: Any) -> None:
        """Give memory back."""

    def write(self, memory: Any, data: Bytes) -> None:
        """Write all of the memory, and wait."""

    def read(self, memory: Any) -> Bytes:
        """Return a copy of all of the memory, behind all work on the GPU."""

    def view(self, memory: Any, lead: int, buffer: Buffer) -> Any:
        """Return an array that starts at byte `lead` of the memory."""

    def streams(self, count: int) -> Sequence[Any]:
        """Return streams that do not wait for each other."""

    def call(self, module: Any, arrays: Sequence[Any], stream: Any = None) -> Any:
        """Call a module on a stream, or on the one that the library has now."""

    def wait(self) -> None:
        """Wait for all work on the GPU."""

    def capture(self, module: Any, arrays: Sequence[Any]) -> Callable[[], None]:
        """Return what repeats a call that is captured, and is not run by that."""


def find_doors(gpu: Gpu) -> tuple[list[Door], dict[str, str]]:
    """Return what there is here, and of what is not why."""
    doors: list[Door] = [DriverDoor(gpu.driver)]
    torch, reason = find_torch()
    if torch is None:
        return doors, {"torch": reason}
    return [*doors, TorchDoor(torch)], {}


def find_torch() -> tuple[Any, str]:
    """Return PyTorch if it can use the GPU, else None and why not."""
    try:
        torch = importlib.import_module("torch")
    except ImportError as error:
        return None, f"PyTorch cannot be loaded ({error})"
    if not torch.cuda.is_available():
        return None, f"PyTorch {torch.__version__} sees no GPU"
    return torch, ""


# --- the driver -----------------------------------------------------------------------------------


class DeviceArray:
    """An array by ``__cuda_array_interface__``, which no library owns."""

    def __init__(self, address: int, buffer: Buffer) -> None:
        record = buffer.record
        dtype = "?" if record["element"] == "i1" else record["dtype"]
        strides = record["strides"]
        self.__cuda_array_interface__ = {
            "shape": tuple(record["shape"]),
            "typestr": np.dtype(dtype).str,
            "data": (address, False),
            "strides": None if strides is None else tuple(strides),
            "version": 3,
        }


class DriverDoor:
    """Memory of the driver; memory is its address and its bytes."""

    name = "driver"

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        driver.enter(0)

    def takes(self, element: str) -> bool:
        """Return whether NumPy has a name for the type."""
        return element not in ("bf16", "f8E4M3FN", "f8E5M2")

    def allocate(self, size: int) -> tuple[int, int]:
        """Return new memory."""
        return self._driver.allocate_for_graph(max(size, 1)), size

    def free(self, memory: tuple[int, int]) -> None:
        """Give memory back."""
        self._driver.free_and_wait(memory[0])

    def write(self, memory: tuple[int, int], data: Bytes) -> None:
        """Write all of the memory."""
        upload(self._driver, memory[0], data)

    def read(self, memory: tuple[int, int]) -> Bytes:
        """Return a copy of all of the memory."""
        self.wait()
        return download(self._driver, *memory)

    def view(self, memory: tuple[int, int], lead: int, buffer: Buffer) -> DeviceArray:
        """Return an array in the memory."""
        return DeviceArray(memory[0] + lead + buffer.record["start"], buffer)

    def streams(self, count: int) -> list[int]:
        """Return streams that do not wait for the default one."""
        return [self._driver.create_stream(0) for _ in range(count)]

    def call(self, module: Any, arrays: Sequence[Any], stream: int | None = None) -> Any:
        """Call a module."""
        return module(*arrays) if stream is None else module(*arrays, stream=stream)

    def wait(self) -> None:
        """Wait for all work on the GPU."""
        api = importlib.import_module("cuda.bindings.driver")
        _check(api.cuCtxSynchronize())

    def capture(self, module: Any, arrays: Sequence[Any]) -> Callable[[], None]:
        """Return what launches a graph of a call."""
        api = importlib.import_module("cuda.bindings.driver")
        stream = self._driver.create_stream(0)
        mode = api.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL
        _check(api.cuStreamBeginCapture(stream, mode))
        try:
            module(*arrays, stream=stream)
        finally:
            graph = _check(api.cuStreamEndCapture(stream))
        executable = _check(api.cuGraphInstantiate(graph, 0))

        def replay() -> None:
            _check(api.cuGraphLaunch(executable, stream))
            self._driver.synchronize(stream)

        return replay


def _check(result: Sequence[Any]) -> Any:
    """Return what a function of the driver gives beside its status."""
    status, *values = result
    if int(status):
        raise RuntimeError(f"the driver says {getattr(status, 'name', status)}")
    return values[0] if values else None


# --- PyTorch --------------------------------------------------------------------------------------


class TorchDoor:
    """Tensors of PyTorch; memory is a tensor of bytes."""

    name = "torch"

    def __init__(self, torch: Any, device: str = "cuda") -> None:
        self._torch = torch
        self._device = device

    def takes(self, element: str) -> bool:
        """Return whether PyTorch has the type."""
        return hasattr(self._torch, TORCH_TYPES.get(element, ""))

    def allocate(self, size: int) -> Any:
        """Return new memory."""
        return self._torch.empty(size, dtype=self._torch.uint8, device=self._device)

    def free(self, memory: Any) -> None:
        """Leave memory to PyTorch."""

    def write(self, memory: Any, data: Bytes) -> None:
        """Write all of the memory."""
        memory.copy_(self._torch.from_numpy(data))
        self.wait()

    def read(self, memory: Any) -> Bytes:
        """Return a copy of all of the memory."""
        self.wait()
        data: Bytes = memory.cpu().numpy()
        return data

    def view(self, memory: Any, lead: int, buffer: Buffer) -> Any:
        """Return a tensor in the memory."""
        record = buffer.record
        dtype = getattr(self._torch, TORCH_TYPES[record["element"]])
        size = buffer.after.size
        flat = memory[lead : lead + size].view(dtype)
        if record["strides"] is None:
            return flat.view(tuple(record["shape"]))
        strides = [stride // flat.element_size() for stride in record["strides"]]
        start = flat.storage_offset() + record["start"] // flat.element_size()
        return flat.as_strided(tuple(record["shape"]), strides, start)

    def put(self, bits: Array, element: str) -> Any:
        """Return a tensor of the GPU with the elements of an array, or with these bits."""
        flat = self._torch.from_numpy(np.array(bits, order="C").reshape(-1).view(np.uint8))
        dtype = getattr(self._torch, TORCH_TYPES[element])
        return flat.to(self._device).view(dtype).view(bits.shape)

    def streams(self, count: int) -> list[Any]:
        """Return streams of PyTorch."""
        return [self._torch.cuda.Stream() for _ in range(count)]

    def call(self, module: Any, arrays: Sequence[Any], stream: Any = None) -> Any:
        """Call a module on the current stream, which `stream` is made."""
        with self._torch.cuda.stream(stream):
            return module(*arrays)

    def wait(self) -> None:
        """Wait for all work on the GPU."""
        if self._device == "cuda":
            self._torch.cuda.synchronize()

    def capture(self, module: Any, arrays: Sequence[Any]) -> Callable[[], None]:
        """Return what replays a graph of a call."""
        graph = self._torch.cuda.CUDAGraph()
        with self._torch.cuda.graph(graph):
            module(*arrays)

        def replay() -> None:
            graph.replay()
            self.wait()

        return replay


def to_bits(value: Any, element: str) -> Array:
    """Return an array as NumPy has it, or the bits of what NumPy has no type for."""
    if hasattr(value, "detach"):
        value = value.detach().cpu().contiguous()
        if element in ML_TYPES:
            torch = importlib.import_module("torch")
            signed = {1: torch.int8, 2: torch.int16}[value.element_size()]
            bits: Array = value.view(signed).numpy()
            return bits.view(f"u{bits.itemsize}")
        value = value.numpy()
    array = np.asarray(value)
    return array.view(f"u{array.itemsize}") if element in ML_TYPES else array
