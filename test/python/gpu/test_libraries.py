"""Arrays of libraries that are not asked for their stream, and calls without NumPy."""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import pipeline
from gpu.emulated_launches import EmulatedLaunches
from gpu.stand_in_driver import DeviceArray, StandIn
from gpu.tensors import Torch
from pipeline.runtime.cuda.driver import Driver

SCALE = """
!m = memref<?xf32>
func.func @main(%a: !m, %b: !m, %k: f32, %n: index) -> (index, f32) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%a : !m) outs(%b : !m) {
  ^bb0(%x: f32, %y: f32):
    %z = arith.mulf %x, %k : f32
    linalg.yield %z : f32
  }
  %c0 = arith.constant 0 : index
  %m = memref.dim %a, %c0 : !m
  %s = arith.addi %m, %n : index
  return %s, %k : index, f32
}
"""


@pytest.fixture
def scale(gpu: StandIn) -> pipeline.Module:
    gpu.reset("chips=80,80")
    module = pipeline.compile(SCALE)
    EmulatedLaunches(gpu, module)
    return module


def floats(size: int = 40) -> Any:
    return np.random.default_rng(size).random(size, "f4")


class OnStream(DeviceArray):
    """An array that work on a stream may still write to."""

    def __init__(self, gpu: StandIn, array: Any, device: int, stream: int) -> None:
        super().__init__(gpu, array, device)
        self.stream = stream

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return super().__cuda_array_interface__ | {"stream": self.stream}


class Exporter(DeviceArray):
    """An array with DLPack alone, in memory that its export keeps."""

    def __init__(self, gpu: StandIn, array: Any, device: int) -> None:
        super().__init__(gpu, array, device)
        self.asked: list[Any] = []
        self.exports: list[weakref.ref[Any]] = []

    def __getattribute__(self, name: str) -> Any:
        if name == "__cuda_array_interface__":
            raise AttributeError(name)
        return super().__getattribute__(name)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, self.device

    def __dlpack__(self, *, stream: Any = None, max_version: Any = None) -> Any:
        self.asked.append(stream)

        class Export(np.ndarray[Any, Any]):
            pass

        export = self.host.view(Export)
        self.exports.append(weakref.ref(export))
        return export.__dlpack__(max_version=max_version)


@pytest.mark.parametrize("device", [0, 1])
def test_the_driver_tells_the_device(gpu: StandIn, scale: pipeline.Module, device: int) -> None:
    """The call is done when it returns: nobody keeps the memory for the stream."""
    a, b = gpu.put(floats(), device), gpu.put(floats(), device)
    assert scale(a, b, 3.0, 2) == (42, 3.0)
    np.testing.assert_array_equal(b.host, a.host * np.float32(3))
    calls = gpu.calls()
    assert f"cuDevicePrimaryCtxRetain {device}" in calls
    assert [call.split(" ")[0] for call in calls[-2:]] == [
        "cuLaunchKernelEx",
        "cuStreamSynchronize",
    ]


def test_streams_that_arrays_come_with(gpu: StandIn, scale: pipeline.Module) -> None:
    """Work on them is waited for, by the GPU."""
    driver = Driver.get()
    stream = driver.create_stream(0)
    a, b = OnStream(gpu, floats(), 0, stream), gpu.put(floats())
    gpu.calls()
    scale(a, b, 3.0, 2)
    calls = [
        call for call in gpu.calls() if call.startswith(("cuEvent", "cuStreamWait", "cuLaunch"))
    ]
    assert [call.split(" ")[0] for call in calls] == [
        "cuEventCreate",
        "cuEventRecord",
        "cuStreamWaitEvent",
        "cuEventDestroy",
        "cuLaunchKernelEx",
    ]
    assert "on s1" in calls[1]


def test_dlpack(gpu: StandIn, scale: pipeline.Module) -> None:
    """Libraries are told the stream, and their exports end with the call."""
    stream = Driver.get().create_stream(0)
    for chosen, told in ((None, None), (0, 1), (stream, stream)):
        a, b = Exporter(gpu, floats(), 0), Exporter(gpu, floats(), 0)
        scale(a, b, 2.0, 0, stream=chosen)
        np.testing.assert_array_equal(b.host, a.host * np.float32(2))
        assert a.asked == b.asked == [told]
        gc.collect()
        assert [export() for export in a.exports] == [None]


class FakeCupy(ModuleType):
    """What stands for CuPy: arrays of the stand-in, a current stream, memory by addresses."""

    def __init__(self, gpu: StandIn) -> None:
        super().__init__("cupy")
        self.gpu = gpu
        self.stream = 0
        self.current = 0
        current = SimpleNamespace(get_current_stream=self._current, Device=self._device)
        self.cuda = current

        class Array:
            """An array by its memory."""

            def __init__(
                own, shape: Any, dtype: Any, memptr: Any = None, strides: Any = None
            ) -> None:
                own.shape, own.dtype = tuple(shape), np.dtype(dtype)
                own.itemsize = own.dtype.itemsize
                own.size = int(np.prod(own.shape, dtype=int))
                own.strides = strides or np.empty(own.shape, own.dtype).strides
                own.data = memptr or Pointer(gpu.put(np.empty(own.shape, own.dtype), self.current))
                own.device = SimpleNamespace(id=own.data.owner.device)

            @property
            def __cuda_array_interface__(own) -> Any:
                raise AssertionError("CuPy orders exports with the default stream")

            @property
            def host(own) -> Any:
                start = (own.data.ptr - own.data.owner.address) // own.itemsize
                flat = own.data.owner.host.reshape(-1)[start:]
                return np.lib.stride_tricks.as_strided(flat, own.shape, own.strides)

        Array.__module__ = "cupy"
        self.__dict__["ndarray"] = Array
        self.empty = Array

    def _current(self, device: int) -> Any:
        return SimpleNamespace(ptr=self.stream)

    @contextmanager
    def _device(self, device: int) -> Iterator[None]:
        before, self.current = self.current, device
        yield
        self.current = before

    def put(self, array: Any, device: int = 0) -> Any:
        with self._device(device):
            made = self.empty(array.shape, array.dtype)
        made.host[...] = array
        return made


class Pointer:
    """A pointer into memory that it keeps."""

    def __init__(self, owner: DeviceArray, offset: int = 0) -> None:
        self.owner = owner
        self.ptr = owner.address + offset

    def __add__(self, offset: int) -> Pointer:
        return Pointer(self.owner, self.ptr - self.owner.address + offset)


def test_cupy(gpu: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    """In place, on its current stream; results are arrays of it, on the device of the first."""
    gpu.reset("chips=80,80")
    cupy = FakeCupy(gpu)
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    text = """
func.func @main(%a: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<2x4xf32>) {
  %0 = linalg.exp ins(%a : tensor<?x4xf32>) outs(%a : tensor<?x4xf32>) -> tensor<?x4xf32>
  %1 = tensor.extract_slice %0[1, 0] [2, 4] [1, 1] : tensor<?x4xf32> to tensor<2x4xf32>
  return %0, %1 : tensor<?x4xf32>, tensor<2x4xf32>
}
"""
    module = pipeline.compile(text)
    EmulatedLaunches(gpu, module)
    cupy.stream = Driver.get().create_stream(1)
    a = cupy.put(floats(20).reshape(5, 4), 1)
    gpu.calls()
    whole, part = module.run(a, backend="cuda")
    assert type(whole) is type(part) is type(a)
    assert whole.device.id == part.device.id == 1
    np.testing.assert_allclose(whole.host, np.exp(a.host), rtol=1e-6)
    np.testing.assert_array_equal(part.host, whole.host[1:3])
    calls = gpu.calls()
    assert all(call.endswith(" on s1") for call in calls if call.startswith("cuLaunch"))
    assert not any(call.startswith("cuStreamSynchronize") for call in calls)


def test_two_libraries(gpu: StandIn, torch: Torch, scale: pipeline.Module) -> None:
    a, b = gpu.put(floats()), torch.put(floats())
    with pytest.raises(pipeline.KindError, match="arrays of other and torch, which"):
        scale(a, b, 3.0, 2)
    scale(a, b, 3.0, 2, stream=0)
    np.testing.assert_array_equal(b.host, a.host * np.float32(3))


def test_memory_that_the_driver_does_not_know(gpu: StandIn, scale: pipeline.Module) -> None:
    a, b = gpu.put(floats()), gpu.put(floats())
    b.release()
    gpu.calls()
    with pytest.raises(pipeline.AccessError, match="argument 1 has no storage: the driver knows"):
        scale(a, b, 3.0, 2)
    assert not [call for call in gpu.calls() if call.startswith("cuLaunch")]


def test_results_of_no_library(gpu: StandIn) -> None:
    text = """
func.func @main(%a: tensor<?xf32>) -> tensor<?xf32> {
  %0 = linalg.exp ins(%a : tensor<?xf32>) outs(%a : tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
"""
    module = pipeline.compile(text)
    launches = EmulatedLaunches(gpu, module)
    with pytest.raises(pipeline.KindError, match="results cannot be made as arrays of its library"):
        module(gpu.put(floats()))
    assert not launches.launches


def test_no_numpy(
    gpu: StandIn, torch: Torch, scale: pipeline.Module, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What runs on a GPU takes none."""
    a, b = torch.put(floats()), torch.put(floats())
    c, d = gpu.put(floats()), gpu.put(floats())
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "numpy", None)
        for k in (3.0, 4.0, 0.5):
            assert scale(a, b, k, 2) == (42, k)
        assert scale(c, d, 2.0, 1) == (41, 2.0)
        with pytest.raises(pipeline.KindError, match="argument 2 is 1e\\+300, which does not fit"):
            scale(a, b, 1e300, 2)
    np.testing.assert_array_equal(b.host, a.host * np.float32(0.5))
    np.testing.assert_array_equal(d.host, c.host * np.float32(2))
