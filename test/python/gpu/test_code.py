"""Which code a GPU gets, and that it belongs to the signatures beside it."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

import pytest

import pipeline
from gpu.stand_in_driver import StandIn
from pipeline.records.signature import Argument, Parameter, Part, TensorMap
from pipeline.runtime.cuda.code import Code
from pipeline.runtime.cuda.driver import Driver
from pipeline.runtime.cuda.parameters import number_bytes, parameter_bytes

KERNEL = """
.visible .entry scale(.param .u64 .ptr .global .align 16 a, .param .{type} x, .param .u64 n)
{{ {body} ret; }}
"""


def ptx(chip: str = "sm_80", version: str = "8.0", kernel: str = "", **parts: str) -> bytes:
    text = KERNEL.format(**{"type": "f32", "body": "", **parts}) + kernel
    return f".version {version}\n.target {chip}\n.address_size 64\n{text}".encode()


def cubin(chip: str) -> bytes:
    """Return what the stand-in takes for machine code of a chip."""
    return b"\x7fELF stand-in " + ptx(chip) + b"\0"


def argument(type_: str, is_memref: bool = False, tensor_map: TensorMap | None = None) -> Argument:
    shape = (None,) if is_memref else ()
    return Argument(type_, is_memref, type_, shape, shape, 0, 16, tensor_map)


@dataclass(frozen=True)
class Interface:
    name: str = "scale"
    arguments: tuple[Argument, ...] = (argument("f32", is_memref=True), argument("f32"))
    parameters: tuple[Parameter, ...] = (
        Parameter((Part("pointer", 0, 0),)),
        Parameter((Part("value", 1, 0),)),
        Parameter((Part("extent", 0, 0),)),
    )


SCALE = [Interface()]


@pytest.mark.parametrize(
    ("chip", "cubins", "text", "chosen"),
    [
        ("90", ["sm_80", "sm_90", "sm_90a"], "sm_80", "sm_90a"),
        ("90", ["sm_80", "sm_90"], "sm_80", "sm_90"),
        ("90", ["sm_80"], "sm_80", "sm_80"),
        ("90", ["sm_100", "sm_100f"], "sm_90a", "sm_90a"),
        ("86", ["sm_80", "sm_87", "sm_86"], "sm_75", "sm_86"),
        ("89", ["sm_80", "sm_86"], "sm_75", "sm_86"),
        ("86", ["sm_89", "sm_90a"], "sm_80", "sm_80"),
        ("103", ["sm_100a", "sm_100f"], "sm_90", "sm_100f"),
        ("100", ["sm_90a"], "sm_90", "sm_90"),
    ],
)
def test_choice(gpu: StandIn, chip: str, cubins: list[str], text: str, chosen: str) -> None:
    gpu.reset(f"chips={chip}")
    code = Code(ptx(text), {name: cubin(name) for name in cubins}, SCALE)
    loaded = code.on(Driver.get(), 0)
    assert str(loaded.chip) == chosen
    assert [call for call in gpu.calls() if "Module" in call] == [
        "cuModuleLoadDataEx",
        "cuModuleGetFunction scale",
    ]
    assert len(loaded.functions) == 1
    assert gpu.loaded_modules == 1


@pytest.mark.parametrize(
    ("chip", "text", "cubins", "message"),
    [
        ("80", "sm_90", [], "the code is for sm_90, but GPU 0 is sm_80: compile with --chip sm_80"),
        ("100", "sm_90a", ["sm_90a"], "the code is for sm_90a, but GPU 0 is sm_100: "),
        ("90", "sm_100f", ["sm_80a"], "the code is for sm_100f, sm_80a, but GPU 0 is sm_90: "),
        ("75", "", ["sm_80"], "the code is for sm_80, but GPU 0 is sm_75: "),
        ("75", "", [], "the code is for no chip, but GPU 0 is sm_75: "),
    ],
)
def test_wrong_chip(gpu: StandIn, chip: str, text: str, cubins: list[str], message: str) -> None:
    gpu.reset(f"chips={chip}")
    code = Code(ptx(text) if text else b"", {name: cubin(name) for name in cubins}, SCALE)
    with pytest.raises(pipeline.DeviceUnavailable) as caught:
        code.on(Driver.get(), 0)
    assert str(caught.value).startswith(f"error: {message}")
    assert not [call for call in gpu.calls() if "Module" in call]


@pytest.mark.parametrize(
    ("version", "ptx_version", "needed"),
    [(13000, "9.1", "13.1"), (13010, "10.0", "14.0"), (13000, "9.3", "13.3")],
)
def test_ptx_that_is_newer_than_the_driver(
    gpu: StandIn, version: int, ptx_version: str, needed: str
) -> None:
    gpu.reset(f"version={version}")
    with pytest.raises(pipeline.DeviceUnavailable) as caught:
        Code(ptx(version=ptx_version), {}, SCALE).on(Driver.get(), 0)
    own = f"{version // 1000}.{version % 1000 // 10}"
    assert str(caught.value).startswith(
        f"error: the code is PTX {ptx_version}, which needs a driver for CUDA {needed} or newer; "
        f"this driver is for CUDA {own}: update the driver, or "
    )
    # Machine code needs no PTX.
    code = Code(ptx(version=ptx_version), {"sm_90": cubin("sm_90")}, SCALE)
    assert str(code.on(Driver.get(), 0).chip) == "sm_90"


def test_words_of_the_drivers_compiler(gpu: StandIn) -> None:
    text = ptx(body="not_an_instruction;")
    line = text[: text.index(b"not_an")].count(b"\n") + 1
    with pytest.raises(pipeline.DriverError) as caught:
        Code(text, {}, SCALE).on(Driver.get(), 0)
    assert (caught.value.function, caught.value.code) == ("cuModuleLoadDataEx", 218)
    assert str(caught.value) == (
        "error: cuModuleLoadDataEx failed: CUDA_ERROR_INVALID_PTX (218): a PTX JIT compilation "
        f"failed; ptxas application ptx input, line {line}; error   : Not a name of any known "
        "instruction; the driver does not accept the PTX"
    )


@pytest.mark.parametrize("text", [b"garbage", b"\0", b".version 8.0\n", b"\xff\xfe"])
def test_code_that_is_no_ptx(text: bytes) -> None:
    with pytest.raises(pipeline.PlanError, match="the code is not PTX"):
        Code(text, {}, SCALE)
    with pytest.raises(pipeline.PlanError, match="'x86' is no chip"):
        Code(b"", {"x86": b""}, SCALE)


def test_cubin_that_the_driver_does_not_take(gpu: StandIn) -> None:
    """One of a newer toolkit than the driver: the PTX does."""
    code = Code(ptx(), {"sm_90": b"\x7fELF of another version"}, SCALE)
    assert str(code.on(Driver.get(), 0).chip) == "sm_80"
    assert gpu.loaded_modules == 1
    with pytest.raises(pipeline.DriverError, match=r"INVALID_IMAGE \(200\).* the code is damaged"):
        Code(b"", {"sm_90": b"\x7fELF of another version"}, SCALE).on(Driver.get(), 0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (ptx(type="f64"), "parameter 1 has 8 bytes in the code, but 4 in its signature"),
        (
            ptx().replace(b", .param .u64 n", b""),
            "it has 2 parameters in the code, but 3 in its signature",
        ),
        (ptx().replace(b"u64 n", b"u64 n, .param .u8 z"), "it has 4 parameters in the code, but"),
        (ptx().replace(b"scale", b"stale"), "is not in the code"),
    ],
)
def test_code_of_another_signature(gpu: StandIn, text: bytes, message: str) -> None:
    with pytest.raises(pipeline.PlanError, match=f"^error: kernel 'scale'(: )?.*{message}"):
        Code(text, {}, SCALE).on(Driver.get(), 0)
    assert gpu.loaded_modules == 0


def test_bytes_of_parameters() -> None:
    sizes = {
        "i1": 1,
        "i4": 1,
        "i8": 1,
        "ui16": 2,
        "si32": 4,
        "i64": 8,
        "index": 8,
        "i24": 4,
        "f16": 2,
        "bf16": 2,
        "f32": 4,
        "tf32": 4,
        "f64": 8,
        "f8E4M3FN": 1,
        "f8E5M2": 1,
        "f8E4M3B11FNUZ": 1,
        "complex<f32>": 8,
        "vector<4xf32>": 16,
        "vector<2x4xf16>": 16,
        "vector<3xf32>": 16,
        "vector<4xi1>": None,
        "!llvm.struct<(i32)>": None,
    }
    assert {name: number_bytes(name) for name in sizes} == sizes
    tensor_map = TensorMap("f16", (8, 8), "none", "none", "none", "zero")
    kernel = Interface(
        arguments=(argument("f16", True, tensor_map), argument("i8")),
        parameters=(
            Parameter((Part("tensormap", 0, 0),)),
            Parameter((Part("value", 1, 0),)),
            Parameter((Part("offset", 0, 0),)),
            Parameter((Part("stride", 0, 1),)),
        ),
    )
    assert parameter_bytes(kernel) == (128, 1, 8, 8)


# --- what a kernel gets of a GPU ------------------------------------------------------------------


def test_shared_memory(gpu: StandIn) -> None:
    gpu.reset("chips=86")
    driver = Driver.get()
    text = ptx(body=".shared .align 16 .b8 tile[1024]; mov.u32 %r1, tile;")
    loaded = Code(text, {}, SCALE).on(driver, 0)
    driver.enter(0)
    gpu.calls()
    loaded.prepare(0, 47 * 1024, None)
    assert gpu.calls() == []
    function = loaded.prepare(0, 47 * 1024 + 1, None)
    loaded.prepare(0, 60 * 1024, None)
    loaded.prepare(0, 50 * 1024, None)
    loaded.prepare(0, 99 * 1024 - 1024, None)
    assert gpu.calls() == [f"cuFuncSetAttribute 8 to {n}" for n in (48129, 61440, 100352)]
    assert function == loaded.functions[0]
    with pytest.raises(pipeline.DeviceError) as caught:
        loaded.prepare(0, 99 * 1024 - 1023, None)
    assert str(caught.value) == (
        "error: kernel 'scale' needs 101377 bytes of shared memory per block; GPU 0 has 101376"
    )


def test_clusters(gpu: StandIn) -> None:
    gpu.reset("chips=90,80")
    driver = Driver.get()
    code = Code(ptx(), {}, SCALE)
    driver.enter(0)
    loaded = code.on(driver, 0)
    gpu.calls()
    for cluster in (None, (2, 2, 2), (4, 2, 2), (16, 1, 1)):
        loaded.prepare(0, 0, cluster)
    assert gpu.calls() == ["cuFuncSetAttribute 14 to 1"]
    older = code.on(driver, 1)
    older.prepare(0, 0, (1, 1, 1))
    with pytest.raises(pipeline.DeviceError) as caught:
        older.prepare(0, 0, (2, 1, 1))
    assert str(caught.value) == (
        "error: kernel 'scale' is launched in clusters, which GPU 1 (sm_80) does not have: it "
        "takes an sm_90 or newer"
    )


def test_devices_have_code_of_their_own(gpu: StandIn) -> None:
    gpu.reset("chips=90,80")
    driver = Driver.get()
    code = Code(ptx(), {"sm_90": cubin("sm_90")}, SCALE)
    driver.enter(1)
    chips = [str(code.on(driver, device).chip) for device in (0, 1, 0)]
    assert chips == ["sm_90", "sm_80", "sm_90"]
    assert gpu.loaded_modules == 2
    assert driver.enter(1) == 0


@dataclass
class Results:
    loaded: list[Any] = field(default_factory=list)


def test_threads_load_code_once(gpu: StandIn) -> None:
    gpu.reset("delay=200")
    driver, results = Driver.get(), Results()
    codes = [Code(ptx(), {}, SCALE) for _ in range(3)]

    def load() -> None:
        results.loaded.append([code.on(driver, 0) for code in codes])

    threads = [threading.Thread(target=load) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results.loaded) == 6
    assert len({tuple(map(id, loaded)) for loaded in results.loaded}) == 1
    assert gpu.loaded_modules == 3


def test_code_is_loaded_while_a_graph_is_captured(gpu: StandIn) -> None:
    driver = Driver.get()
    driver.enter(0)
    stream, api = driver.create_stream(0), driver._api
    assert not api.cuStreamBeginCapture(stream, api.CUstreamCaptureMode(0))[0]
    Code(ptx(), {}, SCALE).on(driver, 0)
    code, _ = api.cuStreamEndCapture(stream)
    assert not code
    assert driver._call("cuThreadExchangeStreamCaptureMode", api.CUstreamCaptureMode(0)) == 0
