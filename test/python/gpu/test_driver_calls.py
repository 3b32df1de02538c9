"""What `Driver` asks of NVIDIA's driver, literally, and what it makes of the answers."""

from __future__ import annotations

import ctypes
import dataclasses
from typing import Any

import numpy as np
import pytest

import pipeline
from gpu.stand_in_driver import Launch, StandIn
from pipeline.runtime.arrays import HOST
from pipeline.runtime.cuda.driver import Driver
from pipeline.runtime.tensor_maps import TensorMapRequest

PTX = b"""
.version 8.0
.target sm_80
.address_size 64
.visible .entry scale(.param .u64 .ptr .global .align 16 a, .param .f32 x, .param .u64 n,
  .param .align 64 .b8 map[128])
.maxntid 128, 1, 1
{
  .shared .align 16 .b8 tile[1024];
  ret;
}
.visible .entry spread() .reqnctapercluster 2, 1, 1 { ret; }
"""


class Parameters:
    """Parameters of `scale`, as a launch reads them: pointers to the values."""

    def __init__(self, address: int, factor: float, count: int) -> None:
        self.values = (
            ctypes.c_uint64(address),
            ctypes.c_float(factor),
            ctypes.c_uint64(count),
            (ctypes.c_uint8 * 128)(*range(128)),
        )
        self.pointers = (ctypes.c_void_p * 4)(*(ctypes.addressof(value) for value in self.values))
        self.address = ctypes.addressof(self.pointers)


def scale(driver: Driver) -> int:
    driver.enter(0)
    return driver.get_function(driver.load(PTX, 0), "scale")


def test_calls_of_the_first_launch(gpu: StandIn) -> None:
    driver = Driver.get()
    function = scale(driver)
    stream = driver.create_stream(0)
    memory = driver.allocate(64, stream)
    parameters = Parameters(memory, 2.0, 16)
    launch = driver.prepare(function, (3, 2, 1), (64, 2, 1), None, 512, parameters.address)
    launch.call(stream)
    driver.synchronize(stream)
    driver.free(memory, stream)
    assert gpu.calls(but=()) == [
        "cuDriverGetVersion",
        "cuInit 0",
        "cuDeviceGetCount",
        "cuDeviceGet 0",
        "cuDevicePrimaryCtxRetain 0",
        "cuCtxGetCurrent",
        "cuCtxSetCurrent 0",
        "cuCtxGetCurrent",
        "cuModuleLoadDataEx",
        "cuModuleGetFunction scale",
        "cuCtxGetCurrent",
        "cuStreamCreate 1",
        "cuCtxGetDevice",
        "cuDeviceGetCount",
        "cuDeviceGet 0",
        "cuDeviceGetAttribute 115 of 0",
        "cuMemAllocAsync 64 on s1",
        "cuLaunchKernelEx scale grid 3,2,1 block 64,2,1 cluster 0,0,0 shared 512 on s1",
        "cuStreamSynchronize s1",
        "cuCtxGetDevice",
        "cuMemFreeAsync memory 1 on s1",
    ]
    launch.call(stream)
    driver.enter(0)
    launch.call(0)
    assert gpu.calls(but=()) == [
        "cuLaunchKernelEx scale grid 3,2,1 block 64,2,1 cluster 0,0,0 shared 512 on s1",
        "cuCtxGetCurrent",
        "cuLaunchKernelEx scale grid 3,2,1 block 64,2,1 cluster 0,0,0 shared 512 on 0",
    ]


class Bindings:
    """cuda-bindings, but for what code is loaded."""

    def __init__(self, api: Any) -> None:
        self._api = api
        self.images: list[bytes] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._api, name)

    def cuModuleLoadDataEx(self, image: bytes, *others: Any) -> Any:
        self.images.append(image)
        return self._api.cuModuleLoadDataEx(image, *others)


def test_ptx_ends_in_a_nul(gpu: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is a string of C to the driver, which is not told how long it is."""
    driver = Driver.get()
    bindings = Bindings(driver._api)
    monkeypatch.setattr(driver, "_api", bindings)
    for text in (PTX, PTX + b"\0"):
        driver.load(text, 0)
    assert bindings.images == [PTX + b"\0"] * 2


def test_parameters_of_launches(gpu: StandIn) -> None:
    launches: list[Launch] = []
    gpu.on_launch(launches.append)
    driver = Driver.get()
    function = scale(driver)
    parameters = Parameters(0x1234, 1.5, 7)
    launch = driver.prepare(function, (1, 1, 1), (1, 1, 1), None, 0, parameters.address)
    launch.call(0)
    parameters.values[2].value = 8
    launch.call(0)
    first, second = launches
    assert first.integer(0) == 0x1234
    assert np.frombuffer(first.parameters[1], np.float32) == [1.5]
    assert (first.integer(2), second.integer(2)) == (7, 8)
    assert first.parameters[3] == bytes(range(128))
    assert driver.parameter_sizes(function) == (8, 4, 8, 128)
    assert driver.static_shared(function) == 1024


def test_contexts_are_restored(gpu: StandIn) -> None:
    gpu.reset("chips=90,80")
    driver = Driver.get()
    assert driver.enter(0) == 0
    gpu.calls()
    token = driver.enter(1)
    assert token == driver.device_context(0)
    assert driver.enter(1) == 0
    driver.leave(0)
    driver.leave(token)
    assert gpu.calls() == ["cuDevicePrimaryCtxRetain 1", "cuCtxSetCurrent 1", "cuCtxSetCurrent 0"]
    assert driver.enter(0) == 0
    assert gpu.calls() == []


def test_devices(gpu: StandIn) -> None:
    gpu.reset("chips=90,86 version=13010")
    driver = Driver.get()
    assert driver is Driver.get()
    assert (driver.version, driver.device_count()) == (13010, 2)
    assert [driver.capability(device) for device in range(2)] == [(9, 0), (8, 6)]
    assert [driver.shared_limit(device) for device in range(2)] == [232448, 101376]
    assert driver.name(1) == "Stand-in GPU 1"
    for device in (-1, 2):
        with pytest.raises(pipeline.DeviceUnavailable, match=f"^error: there is no GPU {device}: "):
            driver.enter(device)


@pytest.mark.parametrize(
    "pattern",
    [
        b"\x01",
        b"\xff\xff",
        b"\x01\x02",
        bytes(range(4)),
        bytes(8),
        bytes(range(8)),
        bytes(range(16)),
    ],
)
def test_fills(gpu: StandIn, pattern: bytes) -> None:
    driver, array = Driver.get(), gpu.put(np.full(256, 7, np.uint8))
    driver.enter(0)
    driver.fill(array.address + 16, pattern, 5, 0)
    end = 16 + 5 * len(pattern)
    assert array.host[16:end].tobytes() == 5 * pattern
    assert set(array.host[:16]) | set(array.host[end:]) == {7}


def test_copies(gpu: StandIn) -> None:
    rng = np.random.default_rng(3)
    driver, host = Driver.get(), rng.integers(0, 256, (10, 8), np.uint8)
    driver.enter(0)
    first, second = (gpu.put(np.zeros(n, np.uint8)) for n in (80, 160))
    driver.upload(first.address, host.ctypes.data, host.nbytes, 0)
    driver.copy_2d(second.address, 16, first.address, 8, 8, 10, 0)
    back = np.zeros(160, np.uint8)
    driver.download(back.ctypes.data, second.address, 160, 0)
    driver.synchronize(0)
    assert np.array_equal(back.reshape(10, 16)[:, :8], host)
    assert not back.reshape(10, 16)[:, 8:].any()
    driver.copy(second.address, first.address, 80, 0)
    assert np.array_equal(second.host[:80], host.ravel())


def test_devices_of_pointers(gpu: StandIn) -> None:
    gpu.reset("chips=90,90")
    driver, array, host = Driver.get(), gpu.put(np.ones(4), 1), np.ones(4)
    assert driver.pointer_device(array.address + 8) == 1
    assert driver.pointer_device(host.ctypes.data) == HOST


MAP = TensorMapRequest(
    "bf16", (64, 32), (128,), (32, 8), (1, 2), "swizzle_64b", "none", "l2promo_128b", "nan"
)


def test_tensor_maps(gpu: StandIn) -> None:
    driver, array = Driver.get(), gpu.put(np.zeros((32, 64), np.uint16))
    words = np.frombuffer(driver.encode_tensor_map(MAP, array.address), np.uint64)
    assert words[0] == array.address
    assert words[1:2].tobytes() == bytes([2, 9, 0, 2, 2, 1, 0, 0])
    assert list(words[2:4]) == [64, 32]
    assert words[7] == 128
    assert (words[11], words[12]) == (32 | 8 << 9, 1 | 2 << 4)
    with pytest.raises(pipeline.DriverError, match=r"^error: cuTensorMapEncodeTiled failed: "):
        driver.encode_tensor_map(MAP, array.address + 2)
    with pytest.raises(pipeline.UsageError, match=r"elements of type i1$"):
        driver.encode_tensor_map(dataclasses.replace(MAP, dtype="i1"), array.address)
