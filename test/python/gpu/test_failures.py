"""Each call of the driver fails once: a typed error, nothing leaks, and the next attempt works."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pipeline
from gpu.stand_in_driver import StandIn
from gpu.test_code import SCALE, cubin, ptx
from pipeline.runtime.cuda.arena import Arenas
from pipeline.runtime.cuda.code import Code
from pipeline.runtime.cuda.driver import Driver
from pipeline.runtime.cuda.streams import check_stream, keep_until_done
from pipeline.runtime.tensor_maps import TensorMapRequest

MAP = TensorMapRequest("f32", (64, 8), (256,), (16, 8), (1, 1), "none", "none", "none", "zero")


class Work:
    """Everything that a call of a program asks of the driver."""

    def __init__(self) -> None:
        self.code = Code(ptx(), {"sm_90": cubin("sm_90")}, SCALE)
        self.driver: Driver | None = None
        self.arenas: Arenas | None = None
        self.stream = 0

    def run(self) -> None:
        self.driver = driver = Driver.get()
        token = driver.enter(0)
        try:
            self._run(driver)
        finally:
            driver.leave(token)

    def _run(self, driver: Driver) -> None:
        function = self.code.on(driver, 0).prepare(0, 100 * 1024, (16, 1, 1))
        self.stream = stream = self.stream or driver.create_stream(0)
        self.arenas = arenas = self.arenas or Arenas(driver)
        check_stream(driver, stream, 0)
        arenas.reserve(0, stream, 4000)
        memory = arenas.reserve(0, stream, 8192)
        host = np.arange(1, 17, dtype=np.uint8)
        driver.upload(memory, host.ctypes.data, 16, stream)
        driver.copy(memory + 16, memory, 16, stream)
        driver.copy_2d(memory + 32, 16, memory, 8, 8, 2, stream)
        for pattern in (b"\x01", b"\x01\x02", b"\x01\x02\x03\x04", bytes(range(8))):
            driver.fill(memory + 64, pattern, 4, stream)
        driver.encode_tensor_map(MAP, memory)
        driver.pointer_device(memory)
        values = (ctypes.c_uint64 * 3)(memory, 0, 5)
        pointers = (ctypes.c_void_p * 3)(*(ctypes.addressof(values) + 8 * n for n in range(3)))
        sizes = ((16, 1, 1), (32, 1, 1), (16, 1, 1), 100 * 1024)
        driver.prepare(function, *sizes, ctypes.addressof(pointers)).call(stream)
        back = np.zeros(16, np.uint8)
        driver.download(back.ctypes.data, memory + 16, 16, stream)
        keep_until_done(driver, [], stream, 0)
        driver.synchronize(stream)
        assert np.array_equal(back, host)
        event = driver.create_event()
        try:
            driver.record(event, stream)
            driver.wait(stream, event)
        finally:
            driver.destroy_event(event)


def count_calls(gpu: StandIn, options: str) -> list[str]:
    gpu.reset(options)
    Work().run()
    return gpu.calls(but=())


@pytest.mark.parametrize(
    ("options", "error"), [("", 999), ("", 54321), ("pools=0", 999), ("lazy=1", 999)]
)
def test_each_call_fails_once(gpu: StandIn, options: str, error: int) -> None:
    """Also with an error that neither cuda-bindings nor the driver's own words know."""
    calls = count_calls(gpu, options)
    assert len(calls) > 50
    for number, call in enumerate(calls, 1):
        gpu.reset(options)
        work = Work()
        gpu.fail("*", number, error)
        with pytest.raises((pipeline.DriverError, pipeline.DeviceUnavailable)) as caught:
            work.run()
        name = call.split(" ")[0]
        assert name in str(caught.value), call
        assert str(error) in str(caught.value)
        if isinstance(caught.value, pipeline.DriverError):
            assert (caught.value.function, caught.value.code) == (name, error)
        work.run()
        assert work.arenas is not None
        work.arenas.release()
        assert gpu.live_bytes == 0, call
        assert gpu.loaded_modules == 1, call


def test_memory_for_a_graph_that_fails(gpu: StandIn) -> None:
    driver = Driver.get()
    driver.enter(0)
    for number in (1, 2, 3):
        gpu.fail("*", number, 2)
        with pytest.raises(pipeline.DriverError):
            driver.allocate_for_graph(100)
        assert gpu.live_bytes == 0
    driver.allocate_for_graph(100)
    assert gpu.live_bytes == 100


@pytest.mark.parametrize("code", [700, 716, 719])
def test_faults_of_kernels_are_reported_late(gpu: StandIn, code: int) -> None:
    gpu.reset("lazy=1")
    work = Work()
    work.run()
    gpu.break_launch(code)
    with pytest.raises(pipeline.DriverError) as caught:
        work.run()
    assert caught.value.code == code
    assert "by this kernel or one launched before it" in str(caught.value)
    assert "the process cannot use the GPU any more" in str(caught.value)
    with pytest.raises(pipeline.DriverError) as caught:
        work.run()
    assert caught.value.code == code


def in_thread(work: Callable[[], Any]) -> None:
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def test_threads_begin_without_a_context(gpu: StandIn) -> None:
    work = Work()
    errors: list[pipeline.Error] = []
    work.run()

    def run() -> None:
        try:
            work.run()
        except pipeline.Error as error:
            errors.append(error)

    in_thread(run)
    assert errors == []

    def synchronize() -> None:
        try:
            Driver.get().synchronize(0)
        except pipeline.DriverError as error:
            errors.append(error)

    in_thread(synchronize)
    (error,) = errors
    assert "CUDA_ERROR_INVALID_CONTEXT (201)" in str(error)


# --- drivers that do not work ---------------------------------------------------------------------

INIT = {
    34: "is the stub of a CUDA toolkit",
    100: "the driver sees no GPU",
    304: "the operating system does not let this process use the GPU",
    802: "nvidia-fabricmanager",
    803: "of different versions; restart the machine",
    804: "cuda-compat",
    999: "look at dmesg",
}


@pytest.mark.parametrize("code", INIT)
def test_driver_that_does_not_begin(gpu: StandIn, code: int) -> None:
    gpu.reset(f"init={code}")
    with pytest.raises(pipeline.DeviceUnavailable) as caught:
        Driver.get()
    text = str(caught.value)
    assert text.startswith("error: no GPU can be used: ")
    assert f"(cuInit: error {code})" in text
    assert text.endswith(", or use backend='emulator'")
    assert caught.value.exit_code == 69
    gpu.reset()
    assert Driver.get().device_count() == 1


def test_gpu_that_another_process_has(gpu: StandIn) -> None:
    gpu.reset("retain=46")
    with pytest.raises(pipeline.DeviceUnavailable, match=r"another process.*nvidia-smi -c DEFAULT"):
        Driver.get().enter(0)


@pytest.mark.parametrize(
    ("version", "remedy"),
    [
        (12080, "or newer; this driver is for CUDA 12.8: pip install 'cuda-bindings>=12,<13', or "),
        (11080, "or newer; this driver is for CUDA 11.8: update the driver"),
    ],
)
def test_driver_that_is_too_old(gpu: StandIn, version: int, remedy: str) -> None:
    gpu.reset(f"version={version}")
    with pytest.raises(pipeline.DeviceUnavailable, match=r"^error: cuda-bindings 13\.") as caught:
        Driver.get()
    assert f"needs a driver for CUDA 13.0 {remedy}" in str(caught.value)


@pytest.mark.parametrize("function", ["cuInit", "cuCtxGetCurrent"])
def test_process_that_was_forked(gpu: StandIn, function: str) -> None:
    if function != "cuInit":
        Driver.get().enter(0)
    gpu.fail(function, 1, 3)
    with pytest.raises(pipeline.DeviceUnavailable, match="start it by multiprocessing's 'spawn'"):
        Driver.get().enter(0)


def test_driver_without_a_function(gpu: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    driver = Driver.get()

    def lacks(*_: Any) -> Any:
        raise RuntimeError('Function "cuStreamGetCtx" not found')

    monkeypatch.setattr(driver._api, "cuStreamGetCtx", lacks)
    with pytest.raises(pipeline.DeviceUnavailable, match=r"for CUDA 13.0, lacks cuStreamGetCtx: "):
        driver.stream_context(0)


def test_threads_get_one_driver_and_one_context(gpu: StandIn) -> None:
    gpu.reset("chips=90,90 delay=500")
    drivers, contexts = set(), set()

    def enter(device: int) -> None:
        driver = Driver.get()
        drivers.add(driver)
        driver.enter(device)
        contexts.add((device, driver.device_context(device)))

    threads = [threading.Thread(target=enter, args=(number % 2,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(drivers), len(contexts)) == (1, 2)
    calls = gpu.calls()
    assert calls.count("cuInit 0") == 1
    assert sorted(call for call in calls if "Retain" in call) == [
        f"cuDevicePrimaryCtxRetain {device}" for device in range(2)
    ]
