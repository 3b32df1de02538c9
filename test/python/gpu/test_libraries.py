"""Arrays of libraries that are not asked for their stream, and calls without NumPy."""

from __future__ import annotations

import gc
import sys
import weakref
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
func.func @main(%a: !m, %b: !m, %k: f32, %n: index) -> index {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%a : !m) outs(%b : !m) {
  ^bb0(%x: f32, %y: f32):
    %z = arith.mulf %x, %k : f32
    linalg.yield %z : f32
  }
  %c0 = arith.constant 0 : index
  %m = memref.dim %a, %c0 : !m
  %s = arith.addi %m, %n : index
  return %s : index
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
    assert scale(a, b, 3.0, 2) == 42
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
            assert scale(a, b, k, 2) == 42
        assert scale(c, d, 2.0, 1) == 41
        with pytest.raises(pipeline.KindError, match="argument 2 is 1e\\+300, which does not fit"):
            scale(a, b, 1e300, 2)
    np.testing.assert_array_equal(b.host, a.host * np.float32(0.5))
    np.testing.assert_array_equal(d.host, c.host * np.float32(2))
