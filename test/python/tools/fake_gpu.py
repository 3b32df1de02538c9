"""GPUs that are none: one knows the results, others interpret PTX or emulate kernels.

And a CUDA binding without a driver.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

import pipeline
from gpu_arrays import Buffer, Json, read_buffer
from gpu_driver import DriverError
from pipeline import _native
from pipeline.runtime.emulator import translate
from support import ptx_interpreter
from tools.fake_tensor_maps import FakeLibrary, FakeMap

Bytes = npt.NDArray[np.uint8]
Fault = Callable[[Bytes, Buffer, int], None]
"""Spoils what a launch wrote: takes all memory of an array, the array, and where it starts."""


class FakeMemory:
    """Memory by address; all of it is poisoned before it is written."""

    gpu = "Fake GPU"
    version = "1.2"

    def __init__(self) -> None:
        self.capability = (9, 0)
        self.blocks: dict[int, Bytes] = {}
        self.top = 1 << 40  # no number among the parameters is that large
        self.library = FakeLibrary()

    def encode(self, tensor_map: Mapping[str, Any], address: int) -> bytes:
        """Return a map that can be looked into."""
        return self.library.encode(tensor_map, address)

    def allocate(self, size: int) -> int:
        """Return an address that 256 divides, and 512 does not."""
        address, self.top = self.top, self.top + (size + 1023) // 512 * 512
        self.blocks[address] = np.full(size, 0xEE, np.uint8)
        return address

    def free(self, address: int) -> None:
        """Forget a block."""
        del self.blocks[address]

    def upload(self, address: int, data: Bytes) -> None:
        """Write a whole block."""
        assert self.blocks[address].size == data.size
        self.blocks[address][:] = data

    def download(self, address: int, size: int) -> Bytes:
        """Read a whole block."""
        assert self.blocks[address].size == size
        return self.blocks[address].copy()

    def find(self, address: int) -> tuple[Bytes, int] | None:
        """Return the block that an address lies in, if there is one, and where."""
        for start, block in self.blocks.items():
            if start <= address < start + block.size:
                return block, address - start
        return None


class FakeGpu(FakeMemory):
    """A GPU that looks its results up in a pack, and spoils those of some cases.

    `faults` and `actions` go by the name of the case: faults spoil the first array that is written,
    actions come before a launch.
    """

    def __init__(self, folder: Path, suite: Json) -> None:
        super().__init__()
        self.folder = folder
        self.cases: list[Json] = suite["cases"]
        self.faults: dict[str, Fault] = {}
        self.actions: dict[str, Callable[[], None]] = {}
        self.unloadable: set[str] = set()
        self.launches: list[str] = []
        self.microseconds = 12.5

    def load(self, ptx: str, kernel: str) -> Any:
        """Return the cases that run a kernel of a text."""
        cases = [
            case
            for case in self.cases
            if case["kernel"] == kernel
            and (self.folder / case["ptx"]).read_text(encoding="utf-8") == ptx
        ]
        if any(case["name"] in self.unloadable for case in cases):
            raise DriverError("cuModuleLoadDataEx: no such | instruction")
        return cases

    def launch(
        self,
        function: Any,
        sizes: Sequence[int],
        shared_bytes: int,
        parameters: Sequence[bytes],
        seconds: float,
    ) -> float:
        """Write the results of the case whose inputs are in memory."""
        for case in function:
            buffers = [read_buffer(self.folder, record) for record in case["arrays"]]
            places = self._place(case, buffers, parameters)
            if places is not None and list(sizes) == [*case["grid"], *case["block"]]:
                break
        else:
            raise AssertionError("a launch of no case")
        assert shared_bytes == case["dynamic_shared_bytes"]
        self.launches.append(case["name"])
        self.actions.get(case["name"], lambda: None)()
        written = [number for number, buffer in enumerate(buffers) if buffer.record["written"]]
        for number in written:
            memory, start = places[number]
            memory[start : start + buffers[number].after.size] = buffers[number].after
            if number == written[0] and (fault := self.faults.get(case["name"])):
                fault(memory, buffers[number], start)
        return self.microseconds

    def _place(
        self, case: Json, buffers: Sequence[Buffer], parameters: Sequence[bytes]
    ) -> list[tuple[Bytes, int]] | None:
        """Return where the arrays lie, if they hold what the case starts with."""
        places: dict[int, tuple[Bytes, int]] = {}
        for data, parameter in zip(parameters, case["parameters"], strict=True):
            if parameter["kind"] != "bytes":
                is_map = parameter["kind"] == "tensormap"
                address = FakeMap.unpack(data).address if is_map else int.from_bytes(data, "little")
                place = self.find(address - parameter["offset"])
                assert place, "a pointer to no memory"
                places[parameter["buffer"]] = place
            elif data.hex() != parameter["hex"]:
                return None
        for number, (memory, start) in places.items():
            before = buffers[number].before
            if memory[start : start + before.size].tobytes() != before.tobytes():
                return None
        return [places[number] for number in range(len(buffers))]


class InterpretedGpu(FakeMemory):
    """A GPU that interprets PTX."""

    def load(self, ptx: str, kernel: str) -> Any:
        """Return what the interpreter makes of a kernel."""
        return ptx_interpreter.parse(ptx)[kernel]

    def launch(
        self,
        function: Any,
        sizes: Sequence[int],
        shared_bytes: int,
        parameters: Sequence[bytes],
        seconds: float,
    ) -> float:
        """Interpret a kernel whose scalars are no addresses of memory."""
        values: list[Any] = []
        for data in parameters:
            number = int.from_bytes(data, "little")
            place = self.find(number)
            values.append(place[0][place[1] :] if place else number)
        x, y, z, u, v, w = sizes
        ptx_interpreter.run(
            function, values, grid=(x, y, z), block=(u, v, w), dynamic_bytes=shared_bytes
        )
        return 1.0


class EmulatedGpu(FakeMemory):
    """A GPU that emulates the kernels of a pack, with nothing but what a launch passes."""

    def __init__(self, kernels: Mapping[str, pipeline.Kernel]) -> None:
        """Take the kernels by their PTX."""
        super().__init__()
        self.kernels = kernels

    def load(self, ptx: str, kernel: str) -> Any:
        """Return the kernel of a text."""
        found = self.kernels[ptx]
        assert found.name == kernel
        return found

    def launch(
        self,
        function: Any,
        sizes: Sequence[int],
        shared_bytes: int,
        parameters: Sequence[bytes],
        seconds: float,
    ) -> float:
        """Emulate a kernel on all memory that there is. Raises DriverError for what it finds."""
        request = _native.LaunchRequest()
        request.grid, request.block = list(sizes[:3]), list(sizes[3:])
        request.dynamic_shared_bytes = shared_bytes
        request.step_limit = 1 << 30
        request.buffers = [make_buffer(block) for block in self.blocks.values()]
        request.parameters = [
            self._read(parameter.parts[0], data)
            for parameter, data in zip(function.parameters, parameters, strict=True)
        ]
        native = translate(function._emulation, function.name, pipeline.Options())
        if refusal := native.refuse(request):
            raise DriverError(f"a launch with {refusal}")
        result = native.launch(request, None)
        if result.findings:
            raise DriverError(", ".join(finding.kind for finding in result.findings))
        return 1.0

    def _read(self, part: pipeline.Part, data: bytes) -> _native.ParameterValue:
        """Return what the bytes of a parameter stand for."""
        value = _native.ParameterValue()
        if part.kind == "tensormap":
            value.tensor_map = self._read_map(FakeMap.unpack(data))
        elif part.kind == "pointer":
            value.buffer, value.offset = self._place(int.from_bytes(data, "little"))
        else:
            value.set_bytes(data)
        return value

    def _read_map(self, tensor_map: FakeMap) -> _native.TensorMapView:
        view = _native.TensorMapView()
        view.buffer, view.offset = self._place(tensor_map.address)
        view.dims, view.strides = list(tensor_map.dims), list(tensor_map.strides)
        view.box, view.element_strides = list(tensor_map.box), list(tensor_map.element_strides)
        view.element_bytes = tensor_map.element_bytes
        view.swizzle = _native.TensorSwizzle(tensor_map.swizzle)
        view.interleave = _native.TensorInterleave(tensor_map.interleave)
        view.oob_fill = _native.TensorFill(tensor_map.oob)
        return view

    def _place(self, address: int) -> tuple[int, int]:
        """Return the number of the block that an address lies in, and where."""
        for number, (start, block) in enumerate(self.blocks.items()):
            if start <= address < start + block.size:
                return number, address - start
        raise AssertionError("a pointer to no memory")


def make_buffer(block: Bytes) -> _native.BufferView:
    """Return memory as the emulator takes it."""
    view = _native.BufferView()
    view.set_address(block.ctypes.data)
    view.bytes = block.size
    view.name, view.element_type, view.element_bytes = "memory", "i8", 1
    view.shape, view.strides, view.origin = [block.size], [1], 0
    view.is_writable = True
    return view


class Status(IntEnum):
    """Some results of the driver's functions."""

    CUDA_SUCCESS = 0
    CUDA_ERROR_INVALID_VALUE = 1
    CUDA_ERROR_NO_DEVICE = 100
    CUDA_ERROR_INVALID_PTX = 218
    CUDA_ERROR_NOT_READY = 600
    CUDA_ERROR_ILLEGAL_ADDRESS = 700


class FakeBinding:
    """The functions of `cuda.bindings.driver` that are used; memory is that of the host.

    `statuses` holds what the next calls of a function return, by name; `sizes` are those of the
    parameters that the kernel takes, and `parameters` those that it was launched with.
    """

    RESULTS: ClassVar[dict[str, Any]] = {
        "cuDeviceGet": 0,
        "cuDeviceGetName": b"Fake\0\0",
        "cuDevicePrimaryCtxRetain": "context",
        "cuDriverGetVersion": 12040,
        "cuEventCreate": "event",
        "cuEventElapsedTime": 0.25,
        "cuGetErrorString": b"some words",
        "cuModuleGetFunction": "function",
        "cuModuleLoadDataEx": "module",
    }
    CUresult = Status
    CUdevice_attribute = SimpleNamespace(
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR=75,
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR=76,
    )
    CUfunction_attribute = SimpleNamespace(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES=8)
    CUjit_option = SimpleNamespace(CU_JIT_ERROR_LOG_BUFFER=5, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES=6)

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.statuses: dict[str, list[Status]] = {}
        self.sizes: Sequence[int] = ()
        self.parameters: list[bytes] = []
        self.memory: dict[int, Any] = {}

    def __getattr__(self, name: str) -> Callable[..., tuple[Any, ...]]:
        """Return a function of the driver."""
        if not name.startswith("cu") or name == "cuMissing":
            raise AttributeError(name)

        def call(*arguments: Any) -> tuple[Any, ...]:
            self.calls.append(name)
            waiting = self.statuses.get(name, [])
            status = waiting.pop(0) if waiting else Status.CUDA_SUCCESS
            if name == "cuModuleLoadDataEx" and status:
                arguments[3][0][:10] = b"bad line 3"
            return (status, *self._values(name, arguments))

        return call

    def _values(self, name: str, arguments: Sequence[Any]) -> tuple[Any, ...]:
        if name == "cuLaunchKernel" and arguments[9]:
            pointers = (ctypes.c_uint64 * len(self.sizes)).from_address(arguments[9])
            assert not any(pointer % 64 for pointer in pointers)
            self.parameters = [
                ctypes.string_at(pointer, size)
                for pointer, size in zip(pointers, self.sizes, strict=True)
            ]
        if name.startswith("cuMemcpy"):
            ctypes.memmove(*arguments)
        if name == "cuMemAlloc":
            return (self._allocate(arguments[0]),)
        if name == "cuDeviceGetAttribute":
            return ({75: 8, 76: 6}[arguments[0]],)
        return (self.RESULTS[name],) if name in self.RESULTS else ()

    def _allocate(self, size: int) -> int:
        block = ctypes.create_string_buffer(size)
        address = ctypes.addressof(block)
        self.memory[address] = block
        return address
