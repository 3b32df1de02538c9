"""The stand-in is as strict as NVIDIA documents the driver to be: else it proves nothing."""

from __future__ import annotations

import ctypes
import importlib.util
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpu.stand_in_driver import SOURCES, StandIn, compiler
from pipeline.runtime.cuda.driver import Driver

INVALID_VALUE, NOT_INITIALIZED, INVALID_CONTEXT, INVALID_HANDLE, NOT_FOUND = 1, 3, 201, 400, 500
CAPTURE_UNSUPPORTED, CAPTURE_INVALIDATED, CAPTURE_IMPLICIT = 900, 901, 906

PTX = b"""
.version 8.0
.target sm_80
.visible .entry plain(.param .u64 a) { .shared .align 4 .b8 tile[4096]; ret; }
.visible .entry narrow() .maxntid 64, 1, 1 { ret; }
.visible .entry exact() .reqntid 32, 2, 1 { ret; }
.visible .entry paired() .reqnctapercluster 2, 1, 1 { ret; }
\0"""


class Raw:
    """cuda-bindings without ours: each call returns its result."""

    def __init__(self) -> None:
        self.driver = Driver.get()
        self.driver.enter(0)
        self.api = self.driver._api
        self.module = self.driver.load(PTX, 0)
        self.stream = self.driver.create_stream(0)
        self.values = (ctypes.c_uint64 * 1)(5)
        self.pointers = (ctypes.c_void_p * 1)(ctypes.addressof(self.values))

    def __call__(self, function: str, *arguments: Any) -> int:
        return int(getattr(self.api, function)(*arguments)[0])

    def launch(
        self,
        kernel: str,
        grid: tuple[int, int, int] = (1, 1, 1),
        block: tuple[int, int, int] = (1, 1, 1),
        cluster: tuple[int, int, int] | None = None,
        shared: int = 0,
        stream: int = 0,
        parameters: bool = True,
    ) -> int:
        function = self.driver.get_function(self.module, kernel)
        address = ctypes.addressof(self.pointers) if parameters else 0
        launch = self.driver.prepare(function, grid, block, cluster, shared, address)
        launch._config.hStream = stream
        return int(launch._launch(launch._config, function, address, 0)[0])


# --- launches -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "arguments"),
    [
        (0, {"kernel": "plain", "grid": (2**31 - 1, 65535, 65535), "block": (8, 8, 16)}),
        (0, {"kernel": "plain", "block": (1, 1, 64), "shared": 49152 - 4096}),
        (0, {"kernel": "narrow", "block": (64, 1, 1), "parameters": False}),
        (0, {"kernel": "exact", "block": (32, 2, 1)}),
        (0, {"kernel": "paired", "grid": (4, 1, 1)}),
        (0, {"kernel": "plain", "grid": (8, 2, 1), "cluster": (4, 2, 1)}),
        (1, {"kernel": "plain", "grid": (0, 1, 1)}),
        (1, {"kernel": "plain", "grid": (1, 65536, 1)}),
        (1, {"kernel": "plain", "grid": (1, 1, 65536)}),
        (1, {"kernel": "plain", "grid": (2**31, 1, 1)}),
        (1, {"kernel": "plain", "block": (0, 1, 1)}),
        (1, {"kernel": "plain", "block": (1025, 1, 1)}),
        (1, {"kernel": "plain", "block": (1, 1, 65)}),
        (1, {"kernel": "plain", "block": (32, 33, 1)}),
        (1, {"kernel": "narrow", "block": (65, 1, 1)}),
        (1, {"kernel": "exact", "block": (64, 1, 1)}),
        (1, {"kernel": "plain", "shared": 49152 - 4095}),
        (1, {"kernel": "paired", "grid": (3, 1, 1)}),
        (1, {"kernel": "paired", "grid": (4, 1, 1), "cluster": (4, 1, 1)}),
        (1, {"kernel": "plain", "grid": (3, 1, 1), "cluster": (2, 1, 1)}),
        (912, {"kernel": "plain", "grid": (16, 1, 1), "cluster": (16, 1, 1)}),
        (1, {"kernel": "plain", "parameters": False}),
    ],
)
def test_sizes(gpu: StandIn, code: int, arguments: dict[str, Any]) -> None:
    assert Raw().launch(**arguments) == code


def test_opting_in(gpu: StandIn) -> None:
    raw = Raw()
    function = raw.driver.get_function(raw.module, "plain")
    raw.driver.set_dynamic_shared(function, 232448 - 4096)
    assert raw.launch("plain", shared=232448 - 4096) == 0
    attribute = raw.api.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    assert raw("cuFuncSetAttribute", function, attribute, 232448 - 4095) == INVALID_VALUE
    raw.driver.set_cluster_opt_in(function)
    assert raw.launch("plain", grid=(16, 1, 1), cluster=(16, 1, 1)) == 0
    assert raw.launch("plain", grid=(32, 1, 1), cluster=(32, 1, 1)) == 912


def test_clusters_before_sm_90(gpu: StandIn) -> None:
    gpu.reset("chips=80")
    raw = Raw()
    assert raw.launch("plain", grid=(2, 1, 1), cluster=(2, 1, 1)) == INVALID_VALUE
    function = raw.driver.get_function(raw.module, "plain")
    attribute = raw.api.CUfunction_attribute
    opt_in = attribute.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED
    assert raw("cuFuncSetAttribute", function, opt_in, 1) == INVALID_VALUE


def test_what_is_dead_or_of_another_device(gpu: StandIn) -> None:
    gpu.reset("chips=90,90")
    raw = Raw()
    token = raw.driver.enter(1)
    other = raw.driver.create_stream(1)
    raw.driver.leave(token)
    assert raw.launch("plain", stream=raw.stream) == 0
    assert raw.launch("plain", stream=other) == INVALID_HANDLE
    event = raw.driver.create_event()
    assert raw("cuEventRecord", event, other) == INVALID_HANDLE
    assert raw("cuEventRecord", event, raw.stream) == 0
    assert raw("cuEventDestroy", event) == 0
    assert raw("cuEventRecord", event, raw.stream) == INVALID_HANDLE
    raw.driver.destroy_stream(raw.stream)
    assert raw.launch("plain", stream=raw.stream) == INVALID_HANDLE
    assert raw("cuStreamSynchronize", raw.stream) == INVALID_HANDLE
    function = raw.driver.get_function(raw.module, "plain")
    assert raw("cuModuleGetFunction", raw.module, b"absent") == NOT_FOUND
    raw.driver.unload(raw.module, 0)
    assert raw("cuModuleUnload", raw.module) == INVALID_HANDLE
    assert raw("cuModuleGetFunction", raw.module, b"plain") == INVALID_HANDLE
    assert raw("cuFuncGetParamInfo", function, 0) == INVALID_HANDLE
    raw.driver.enter(1)
    assert raw("cuCtxSetCurrent", 0x1234) == INVALID_CONTEXT


def test_order_of_calls(gpu: StandIn) -> None:
    raw = Raw()
    results: list[int] = []

    def without_context() -> None:
        results.append(raw("cuMemAlloc", 16))
        results.append(raw("cuStreamCreate", 0))
        results.append(raw("cuDeviceGetCount"))

    thread = threading.Thread(target=without_context)
    thread.start()
    thread.join()
    assert results == [INVALID_CONTEXT, INVALID_CONTEXT, 0]
    gpu.reset()
    assert raw("cuDeviceGetCount") == NOT_INITIALIZED
    assert raw("cuMemAlloc", 16) == NOT_INITIALIZED
    assert raw("cuInit", 1) == INVALID_VALUE


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (0, b".version 9.0\n.target sm_90a\n"),
        (0, b".version 7.0\n.target sm_52\n"),
        (218, b"nothing"),
        (222, b".version 9.1\n.target sm_90\n"),
        (209, b".version 8.8\n.target sm_100\n"),
        (209, b".version 8.0\n.target sm_89a\n"),
        (200, b"\x7fELF" + bytes(100)),
        (209, b"\x7fELF stand-in .version 8.0\n.target sm_80\n"),
        (0, b"\x7fELF stand-in .version 8.0\n.target sm_90\n"),
    ],
)
def test_code(gpu: StandIn, code: int, text: bytes) -> None:
    assert Raw()("cuModuleLoadDataEx", text + b"\0", 0, [], []) == code


# --- memory ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "call"),
    [
        (0, lambda raw, a, h: raw("cuMemcpyHtoDAsync", a, h, 64, 0)),
        (0, lambda raw, a, h: raw("cuMemcpyHtoDAsync", a + 63, h, 1, 0)),
        (1, lambda raw, a, h: raw("cuMemcpyHtoDAsync", a + 1, h, 64, 0)),
        (1, lambda raw, a, h: raw("cuMemcpyHtoDAsync", a - 1, h, 1, 0)),
        (1, lambda raw, a, h: raw("cuMemcpyHtoDAsync", h, h, 1, 0)),
        (1, lambda raw, a, h: raw("cuMemcpyHtoDAsync", a, a, 1, 0)),
        (1, lambda raw, a, h: raw("cuMemcpyDtoHAsync", h, a, 65, 0)),
        (1, lambda raw, a, h: raw("cuMemcpyDtoHAsync", a, a, 1, 0)),
        (1, lambda raw, a, h: raw("cuMemcpyDtoDAsync", a, a + 32, 33, 0)),
        (0, lambda raw, a, h: raw("cuMemcpyDtoDAsync", a, a + 32, 32, 0)),
        (0, lambda raw, a, h: raw("cuMemsetD32Async", a, 1, 16, 0)),
        (1, lambda raw, a, h: raw("cuMemsetD32Async", a, 1, 17, 0)),
        (1, lambda raw, a, h: raw("cuMemsetD32Async", a + 2, 1, 1, 0)),
        (1, lambda raw, a, h: raw("cuMemsetD16Async", a + 1, 1, 1, 0)),
        (0, lambda raw, a, h: raw("cuMemsetD2D32Async", a, 16, 1, 2, 4, 0)),
        (1, lambda raw, a, h: raw("cuMemsetD2D32Async", a, 16, 1, 5, 4, 0)),
        (1, lambda raw, a, h: raw("cuMemsetD2D32Async", a, 18, 1, 1, 2, 0)),
        (0, lambda raw, a, h: raw("cuMemFreeAsync", a, 0)),
        (1, lambda raw, a, h: raw("cuMemFreeAsync", a + 8, 0)),
        (1, lambda raw, a, h: raw("cuMemFree", h)),
        (1, lambda raw, a, h: raw("cuMemFree", a) or raw("cuMemFree", a)),
        (1, lambda raw, a, h: raw("cuMemFree", a) or raw("cuMemsetD8Async", a, 1, 1, 0)),
        (1, lambda raw, a, h: raw("cuMemAlloc", 0)),
        (2, lambda raw, a, h: raw("cuMemAllocAsync", 1 << 40, 0)),
    ],
)
def test_ranges(gpu: StandIn, code: int, call: Callable[[Raw, int, int], int]) -> None:
    raw, host = Raw(), np.zeros(256, np.uint8)
    address = raw.driver.allocate(64, 0)
    assert call(raw, address, host.ctypes.data) == code


def test_pitches(gpu: StandIn) -> None:
    raw = Raw()
    address = raw.driver.allocate(100, 0)
    for code, pitch, width, rows in (
        (0, 20, 20, 5),
        (0, 25, 20, 4),
        (1, 19, 20, 2),
        (1, 20, 21, 5),
    ):
        copy = raw.api.CUDA_MEMCPY2D()
        copy.srcMemoryType = copy.dstMemoryType = raw.api.CUmemorytype.CU_MEMORYTYPE_DEVICE
        copy.srcDevice = copy.dstDevice = address
        copy.srcPitch = copy.dstPitch = pitch
        copy.WidthInBytes, copy.Height = width, rows
        assert raw("cuMemcpy2DAsync", copy, 0) == code


def test_work_waits_until_somebody_asks(gpu: StandIn) -> None:
    """With `lazy`, what nobody waited for has not happened."""
    gpu.reset("lazy=1")
    raw, array = Raw(), gpu.put(np.full(16, 7, np.uint8))
    other = raw.driver.create_stream(0)
    raw.driver.fill(array.address, b"\x01", 16, raw.stream)
    assert set(array.host) == {7}
    raw.driver.synchronize(other)
    assert set(array.host) == {7}
    event = raw.driver.create_event()
    raw.driver.record(event, raw.stream)
    raw.driver.wait(other, event)
    raw.driver.synchronize(other)
    assert set(array.host) == {1}
    host = np.full(16, 3, np.uint8)
    raw.driver.upload(array.address, host.ctypes.data, 16, raw.stream)
    host[:] = 4
    raw.driver.synchronize(raw.stream)
    assert set(array.host) == {3}


# --- capture --------------------------------------------------------------------------------------


def begin(raw: Raw, stream: int, mode: int = 0) -> None:
    assert raw("cuStreamBeginCapture", stream, raw.api.CUstreamCaptureMode(mode)) == 0


@pytest.mark.parametrize(
    "call",
    [
        lambda raw: raw("cuStreamSynchronize", raw.stream),
        lambda raw: raw("cuMemAlloc", 16),
        lambda raw: raw("cuMemFree", 0),
        lambda raw: raw("cuModuleUnload", raw.module),
        lambda raw: raw("cuModuleLoadDataEx", PTX, 0, [], []),
        lambda raw: raw("cuCtxSynchronize"),
    ],
)
def test_what_ends_a_capture(gpu: StandIn, call: Callable[[Raw], int]) -> None:
    raw = Raw()
    begin(raw, raw.stream)
    assert call(raw) == CAPTURE_UNSUPPORTED
    assert raw("cuStreamEndCapture", raw.stream) == CAPTURE_INVALIDATED


def test_relaxed_threads_may_allocate(gpu: StandIn) -> None:
    raw = Raw()
    for mode in range(3):
        begin(raw, raw.stream, mode)
        raw.driver.allocate_for_graph(16)
        assert raw("cuStreamEndCapture", raw.stream) == 0
    begin(raw, raw.stream, 2)
    assert raw("cuMemAlloc", 16) == 0
    assert raw("cuStreamEndCapture", raw.stream) == 0


def test_default_stream(gpu: StandIn) -> None:
    raw = Raw()
    blocking = int(raw.driver._call("cuStreamCreate", 0))
    begin(raw, raw.stream)
    assert raw.launch("plain") == 0
    assert raw("cuStreamEndCapture", raw.stream) == 0
    begin(raw, blocking)
    assert raw("cuStreamIsCapturing", 0) == CAPTURE_IMPLICIT
    assert raw.launch("plain") == CAPTURE_IMPLICIT
    assert raw("cuStreamEndCapture", blocking) == CAPTURE_INVALIDATED
    assert raw("cuStreamBeginCapture", 0, raw.api.CUstreamCaptureMode(0)) == CAPTURE_UNSUPPORTED


def test_graphs_keep_the_values_of_parameters(gpu: StandIn) -> None:
    launches: list[int] = []
    gpu.on_launch(lambda launch: launches.append(launch.integer(0)))
    raw = Raw()
    other = raw.driver.create_stream(0)
    begin(raw, raw.stream)
    raw.values[0] = 11
    assert raw.launch("plain", stream=raw.stream) == 0
    event = raw.driver.create_event()
    raw.driver.record(event, raw.stream)
    raw.driver.wait(other, event)
    assert raw.driver.capture_id(other) == raw.driver.capture_id(raw.stream) != 0
    raw.values[0] = 22
    assert raw.launch("plain", stream=other) == 0
    code, graph = raw.api.cuStreamEndCapture(raw.stream)
    assert (int(code), launches) == (0, [])
    assert raw.driver.capture_id(other) == 0
    executable = raw.driver._call("cuGraphInstantiate", graph, 0)
    raw.values[0] = 33
    for _ in range(2):
        assert raw("cuGraphLaunch", executable, raw.stream) == 0
    assert launches == [11, 22, 11, 22]


# --- layouts --------------------------------------------------------------------------------------


def cuda_include() -> Path | None:
    """Return the folder of cuda.h, of a package or a toolkit."""
    found = importlib.util.find_spec("nvidia")
    folders = [Path(each) for each in (found.submodule_search_locations or [])] if found else []
    candidates = [header for folder in folders for header in folder.glob("*/include/cuda.h")]
    candidates += sorted(Path("/usr/local").glob("cuda*/include/cuda.h"))
    return candidates[0].parent if candidates else None


def test_layouts_are_those_of_the_header() -> None:
    include = cuda_include()
    if include is None:
        pytest.skip("there is no cuda.h here")
    command = [compiler(), "-std=c++17", "-fsyntax-only", f"-I{include}", "-include", "cuda.h"]
    subprocess.run([*command, str(SOURCES / "layouts.cpp")], check=True)


def test_layouts_are_those_of_the_bindings(gpu: StandIn) -> None:
    """Each field of a structure arrives as it was written by name."""
    raw = Raw()
    gpu.calls()
    sizes = ((6, 10, 14), (3, 2, 1), (2, 5, 7), 4321)
    raw.driver.set_cluster_opt_in(raw.driver.get_function(raw.module, "plain"))
    grid, block, cluster, shared = sizes
    raw.launch("plain", grid, block, cluster, shared, raw.stream)
    assert gpu.calls()[-1] == (
        "cuLaunchKernelEx plain grid 6,10,14 block 3,2,1 cluster 2,5,7 shared 4321 on s1"
    )
    source = gpu.put(np.arange(1, 101, dtype=np.uint8))
    target = np.zeros(100, np.uint8)
    copy = raw.api.CUDA_MEMCPY2D()
    copy.srcMemoryType = raw.api.CUmemorytype.CU_MEMORYTYPE_DEVICE
    copy.dstMemoryType = raw.api.CUmemorytype.CU_MEMORYTYPE_HOST
    copy.srcDevice, copy.srcPitch, copy.srcXInBytes, copy.srcY = source.address, 20, 3, 1
    copy.dstHost, copy.dstPitch, copy.dstXInBytes, copy.dstY = target.ctypes.data, 25, 7, 2
    copy.WidthInBytes, copy.Height = 5, 2
    assert raw("cuMemcpy2DAsync", copy, 0) == 0
    expected = np.zeros((4, 25), np.uint8)
    expected[2:4, 7:12] = source.host.reshape(5, 20)[1:3, 3:8]
    assert np.array_equal(target.reshape(4, 25), expected)


def test_tensor_maps(gpu: StandIn) -> None:
    raw = Raw()
    memory = raw.driver.allocate(4096, 0)
    room = ctypes.create_string_buffer(256)
    start = -(-ctypes.addressof(room) // 64) * 64

    def encode(**changes: Any) -> int:
        given: dict[str, Any] = {
            "at": start,
            "type": 7,
            "address": memory,
            "extents": (64, 16),
            "strides": (256,),
            "box": (32, 8),
            "steps": (1, 1),
            "interleave": 0,
            "swizzle": 3,
            "fill": 0,
        } | changes
        rank = len(given["extents"])
        return int(
            raw.driver._library.cuTensorMapEncodeTiled(
                ctypes.c_void_p(given["at"]),
                given["type"],
                rank,
                ctypes.c_void_p(given["address"]),
                (ctypes.c_uint64 * 8)(*given["extents"]),
                (ctypes.c_uint64 * 8)(*given["strides"]),
                (ctypes.c_uint32 * 8)(*given["box"]),
                (ctypes.c_uint32 * 8)(*given["steps"]),
                given["interleave"],
                given["swizzle"],
                0,
                given["fill"],
            )
        )

    assert encode() == 0
    assert encode(extents=(2**32, 1), fill=1) == 0
    wrong: list[dict[str, Any]] = [
        {"at": start + 16},
        {"address": memory + 8},
        {"type": 13},
        {"extents": (0, 16)},
        {"extents": (64, 2**32 + 1)},
        {"strides": (264,)},
        {"strides": (2**40,)},
        {"box": (0, 8)},
        {"box": (32, 257)},
        {"box": (33, 8)},
        {"box": (64, 8)},
        {"steps": (1, 9)},
        {"steps": (0, 1)},
        {"swizzle": 4},
        {"extents": ()},
        {"extents": (1,) * 6},
        {"type": 3, "fill": 1},
        {"interleave": 1},
    ]
    assert [encode(**change) for change in wrong] == [INVALID_VALUE] * len(wrong)
