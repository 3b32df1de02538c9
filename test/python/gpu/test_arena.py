"""Memory of programs on GPUs: where buffers lie, and that it is kept, grown and given back."""

from __future__ import annotations

import random
import threading

import numpy as np
import pytest

import pipeline
from gpu.stand_in_driver import StandIn
from pipeline.runtime.cuda.arena import ALIGNMENT, Arenas, Buffer, place
from pipeline.runtime.cuda.driver import Driver


def test_random_lifetimes_never_overlap() -> None:
    rng = random.Random(5)
    for _ in range(300):
        buffers = []
        for _ in range(rng.randrange(1, 25)):
            first = rng.randrange(20)
            size = rng.choice([0, 1, 255, 256, 257, 1000, 4096, rng.randrange(100000)])
            buffers.append(Buffer(size, first, first + rng.randrange(8)))
        placement = place(buffers)
        used = [
            {*range(offset // 64, -(-(offset + buffer.bytes) // 64))}
            for offset, buffer in zip(placement.offsets, buffers, strict=True)
        ]
        for i, one in enumerate(buffers):
            assert placement.offsets[i] % ALIGNMENT == 0
            assert placement.offsets[i] + one.bytes <= placement.bytes
            for j in range(i):
                other = buffers[j]
                if one.first <= other.last and other.first <= one.last:
                    assert not used[i] & used[j]


def test_chain_needs_the_room_of_two() -> None:
    chain = [Buffer(1000, step, step + 1) for step in range(10)]
    assert place(chain).bytes == 2 * 1024
    assert place([Buffer(1000, 0, 9)] * 10).bytes == 10 * 1024
    assert place([]) == ((), 0)


def test_calls_of_first_warm_and_grown(gpu: StandIn) -> None:
    driver = Driver.get()
    driver.enter(0)
    stream, arenas = driver.create_stream(0), Arenas(driver)
    gpu.calls()
    first = arenas.reserve(0, stream, 1000)
    assert gpu.calls(but=()) == [
        "cuStreamGetId s1",
        "cuStreamIsCapturing s1",
        "cuCtxGetDevice",
        "cuDeviceGetCount",
        "cuDeviceGet 0",
        "cuDeviceGetAttribute 115 of 0",
        "cuMemAllocAsync 1000 on s1",
    ]
    assert arenas.reserve(0, stream, 600) == first
    assert gpu.calls(but=()) == ["cuStreamGetId s1", "cuStreamIsCapturing s1"]
    arenas.reserve(0, stream, 1001)
    assert gpu.calls() == ["cuMemFreeAsync memory 1 on s1", "cuMemAllocAsync 1001 on s1"]
    assert arenas.reserve(0, stream, 0) == 0
    assert gpu.live_bytes == 1001
    arenas.release()
    assert gpu.live_bytes == 0
    assert gpu.calls() == ["cuMemFree memory 2"]


def test_streams_have_memory_of_their_own(gpu: StandIn) -> None:
    gpu.reset("chips=90,90")
    driver = Driver.get()
    arenas, addresses = Arenas(driver), set()
    for device in range(2):
        driver.enter(device)
        for stream in (0, driver.create_stream(device), driver.create_stream(device)):
            addresses.add(arenas.reserve(device, stream, 100))
    assert len(addresses) == 6
    devices = [memory.device for a in addresses if (memory := gpu.find_memory(a))]
    assert sorted(devices) == [0, 0, 0, 1, 1, 1]
    arenas.release()
    assert gpu.live_bytes == 0


def test_default_streams_of_threads(gpu: StandIn) -> None:
    """They have one handle, and are not in order."""
    driver = Driver.get()
    arenas = Arenas(driver)
    addresses: list[int] = []

    def reserve() -> None:
        driver.enter(0)
        addresses.append(arenas.reserve(0, 2, 100))

    reserve()
    thread = threading.Thread(target=reserve)
    thread.start()
    thread.join()
    reserve()
    assert addresses[0] == addresses[2] != addresses[1]


def test_handle_that_another_stream_had(gpu: StandIn) -> None:
    """What it had queued may still run: nothing of the new one may use the memory before."""
    gpu.reset("reuse=1 lazy=1")
    driver = Driver.get()
    driver.enter(0)
    stream, arenas = driver.create_stream(0), Arenas(driver)
    arenas.reserve(0, stream, 100)
    driver.destroy_stream(stream)
    assert driver.create_stream(0) == stream
    gpu.calls()
    arenas.reserve(0, stream, 50)
    assert gpu.calls() == ["cuMemFree memory 1", "cuMemAllocAsync 50 on s2"]
    assert gpu.live_bytes == 50


def test_memory_without_pools(gpu: StandIn) -> None:
    gpu.reset("pools=0")
    driver = Driver.get()
    driver.enter(0)
    arenas = Arenas(driver)
    arenas.reserve(0, 0, 100)
    arenas.reserve(0, 0, 200)
    assert gpu.calls()[-3:] == ["cuMemAlloc 100", "cuMemFree memory 1", "cuMemAlloc 200"]


def test_memory_that_is_not_there(gpu: StandIn) -> None:
    gpu.reset("memory=10000")
    driver = Driver.get()
    driver.enter(0)
    arenas = Arenas(driver)
    arenas.reserve(0, 0, 5000)
    with pytest.raises(pipeline.DriverError, match=r"OUT_OF_MEMORY \(2\).*: free arrays") as caught:
        arenas.reserve(0, 0, 10001)
    assert caught.value.code == 2
    assert arenas.reserve(0, 0, 10000)
    assert gpu.live_bytes == 10000


# --- graphs ---------------------------------------------------------------------------------------


class Graphs:
    """Captures by cuda-bindings, as a caller makes them."""

    def __init__(self, driver: Driver, stream: int) -> None:
        self.api, self.stream = driver._api, stream

    def begin(self, mode: int = 0) -> None:
        kind = self.api.CUstreamCaptureMode(mode)
        assert not self.api.cuStreamBeginCapture(self.stream, kind)[0]

    def end(self) -> int:
        code, graph = self.api.cuStreamEndCapture(self.stream)
        assert not code
        code, executable = self.api.cuGraphInstantiate(graph, 0)
        assert not code
        return int(executable)

    def launch(self, executable: int) -> None:
        assert not self.api.cuGraphLaunch(executable, self.stream)[0]


@pytest.mark.parametrize("mode", [0, 1, 2])
def test_graphs_have_memory_of_their_own(gpu: StandIn, mode: int) -> None:
    driver = Driver.get()
    driver.enter(0)
    stream, arenas = driver.create_stream(0), Arenas(driver)
    graphs = Graphs(driver, stream)
    warm = arenas.reserve(0, stream, 1000)
    executables, addresses = [], []
    for fill in (b"\x01", b"\x02"):
        graphs.begin(mode)
        address = arenas.reserve(0, stream, 1000)
        assert arenas.reserve(0, stream, 500) == address
        driver.fill(address, fill, 1000, stream)
        executables.append(graphs.end())
        addresses.append(address)
    assert len({warm, *addresses}) == 3
    assert arenas.reserve(0, stream, 2000) not in addresses
    arenas.release()
    # Graphs still have theirs.
    assert gpu.live_bytes == 2000
    for executable, address, byte in zip(executables, addresses, (1, 2), strict=True):
        graphs.launch(executable)
        host = np.zeros(1000, np.uint8)
        driver.download(host.ctypes.data, address, 1000, stream)
        driver.synchronize(stream)
        assert set(host) == {byte}


def test_capture_on_another_stream(gpu: StandIn) -> None:
    driver = Driver.get()
    driver.enter(0)
    stream, other = driver.create_stream(0), driver.create_stream(0)
    arenas, graphs = Arenas(driver), Graphs(driver, stream)
    graphs.begin()
    arenas.reserve(0, stream, 10)
    arenas.reserve(0, other, 10)
    graphs.end()


def test_memory_is_freed_while_another_stream_is_captured(gpu: StandIn) -> None:
    """Without relaxed mode, freeing would end the capture."""
    gpu.reset("reuse=1")
    driver = Driver.get()
    driver.enter(0)
    captured, stream = driver.create_stream(0), driver.create_stream(0)
    arenas, graphs = Arenas(driver), Graphs(driver, captured)
    arenas.reserve(0, stream, 100)
    driver.destroy_stream(stream)
    assert driver.create_stream(0) == stream
    graphs.begin()
    arenas.reserve(0, stream, 100)
    graphs.end()
    assert gpu.live_bytes == 100


def test_default_stream_while_another_is_captured(gpu: StandIn) -> None:
    driver = Driver.get()
    driver.enter(0)
    blocking = int(driver._call("cuStreamCreate", 0))
    graphs = Graphs(driver, blocking)
    graphs.begin()
    with pytest.raises(pipeline.DriverError, match=r"\(906\).*call on the stream that is captured"):
        Arenas(driver).reserve(0, 0, 10)
    graphs.end()
    assert Arenas(driver).reserve(0, 0, 10)
