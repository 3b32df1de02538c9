"""Dynamic workgroup memory by a global without elements: the same memory as by the operation."""

from __future__ import annotations

import numpy as np
import pytest

import pipeline

SPACES = {
    "3": "3",
    "gpu": "#gpu.address_space<workgroup>",
    "nvvm": "#nvvm.memory_space<shared>",
    "llvm": "#llvm.address_space<3>",
}
ELEMENTS = ("f32", "f16", "i8", "i64", "vector<4xf32>")
BYTES = {"f32": 4, "f16": 2, "i8": 1, "i64": 8, "vector<4xf32>": 16}

LAUNCH = """\
func.func @main(%o: memref<64xi32>SIZE) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  BYTES
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1)
      dynamic_shared_memory_size %bytes {
BODY
    gpu.terminator
  }
  return
}
"""

OUTLINED = """\
module attributes {gpu.container_module} {
gpu.module @m {
GLOBALS
  gpu.func @k(%o: memref<64xi32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %tx = gpu.thread_id x
BODY
    gpu.return
  }
}
func.func @main(%o: memref<64xi32>SIZE) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  BYTES
  gpu.launch_func @m::@k blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1)
      dynamic_shared_memory_size %bytes args(%o : memref<64xi32>)
  return
}
}
"""
GPU = "#gpu.address_space<workgroup>"
WINDOW = f"""\
    %c0 = arith.constant 0 : index
    %d = gpu.dynamic_shared_memory : memref<?xi8, {GPU}>
    %w = memref.view %d[%c0][] : memref<?xi8, {GPU}> to memref<64xi32, {GPU}>
"""
BARRIER = "    gpu.barrier\n"


def view(name: str, symbol: str, element: str, space: str, place: int = 0) -> str:
    """Return 64 numbers of 32 bits that start `place` elements behind a symbol."""
    memory = f"memref<0x{element}, {space}>"
    if element == "i32":
        layout = f"strided<[1], offset: {place}>, {space}" if place else space
        return f"""\
    %g{name} = memref.get_global @{symbol} : {memory}
    %{name} = memref.reinterpret_cast %g{name} to offset: [{place}], sizes: [64], strides: [1]
        : {memory} to memref<64xi32, {layout}>
"""
    count = 256 // BYTES[element]
    many = f"memref<{count}x{element}, {space}>"
    return f"""\
    %g{name} = memref.get_global @{symbol} : {memory}
    %{name} = memref.reinterpret_cast %g{name} to offset: [0], sizes: [{count}], strides: [1]
        : {memory} to {many}
"""


def program(body: str, symbols: dict[str, str], *, outlined: bool, bytes_: int | None = 256) -> str:
    globals_ = "".join(f'memref.global "private" @{n} : {t}\n' for n, t in symbols.items())
    text = OUTLINED if outlined else globals_ + LAUNCH
    size = f"%bytes = arith.constant {bytes_} : i32"
    return (
        text.replace("GLOBALS", globals_)
        .replace("BODY", body.rstrip("\n"))
        .replace("SIZE", "" if bytes_ is not None else ", %bytes: i32")
        .replace("BYTES", size if bytes_ is not None else "")
    )


STORE = """\
    %i = arith.index_cast %tx : index to i32
    memref.store %i, %w[%tx] : memref<64xi32, #gpu.address_space<workgroup>>
"""


def read(name: str, kind: str) -> str:
    """Store to %o what another thread has put into %w, as `name` sees it."""
    return f"""\
    %c63 = arith.constant 63 : index
    %n = arith.subi %c63, %tx : index
    %v = memref.load %{name}[%n] : {kind}
    memref.store %v, %o[%tx] : memref<64xi32>
"""


@pytest.mark.parametrize("outlined", [False, True])
@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("dynamic", [False, True])
def test_same_memory(outlined: bool, space: str, dynamic: bool) -> None:
    """Threads read by the global what others wrote by the operation; the barrier is found."""
    kind = SPACES[space]
    body = WINDOW + STORE + view("r", "extern", "i32", kind) + read("r", f"memref<64xi32, {kind}>")
    text = program(
        body,
        {"extern": f"memref<0xi32, {kind}> {{alignment = 16 : i64}}"},
        outlined=outlined,
        bytes_=None if dynamic else 256,
    )
    (verdict,) = pipeline.check(text, schedule="none").kernels
    assert verdict.verdict == "RACE"
    module = pipeline.compile(text, schedule="none")
    o = np.zeros(64, np.int32)
    module.run(o, *([np.int32(256)] if dynamic else []), check="all")
    np.testing.assert_array_equal(o, np.arange(64)[::-1])
    assert module.ptx.count(".extern .shared") == 1
    racy = pipeline.compile(text, schedule="none", sync="keep", verify=False)
    with pytest.raises(pipeline.RaceError):
        racy.run(o, *([np.int32(256)] if dynamic else []), check="races")


@pytest.mark.parametrize("outlined", [False, True])
@pytest.mark.parametrize("element", ELEMENTS)
def test_several_globals_start_at_one_place(outlined: bool, element: str) -> None:
    """Whatever their elements: what one has written is what the other reads."""
    other = view("b", "second", element, "3")
    many = f"memref<{256 // BYTES[element]}x{element}, 3>"
    zero = "dense<0.0>" if element.startswith("vector") else "0.0" if element[0] == "f" else "0"
    body = (
        view("w", "first", "i32", GPU)
        + STORE
        + BARRIER
        + other
        + f"""\
    %zero = arith.constant {zero} : {element}
    %c0 = arith.constant 0 : index
    %first = arith.cmpi eq, %tx, %c0 : index
    scf.if %first {{
      memref.store %zero, %b[%c0] : {many}
    }}
"""
        + BARRIER
        + read("w", f"memref<64xi32, {GPU}>")
    )
    symbols = {"first": f"memref<0xi32, {GPU}>", "second": f"memref<0x{element}, 3>"}
    module = pipeline.compile(program(body, symbols, outlined=outlined), schedule="none")
    o = np.zeros(64, np.int32)
    module.run(o, check="all")
    expected = np.arange(64, dtype=np.int32)
    expected.view(np.uint8)[: BYTES[element]] = 0
    np.testing.assert_array_equal(o, expected[::-1])


@pytest.mark.parametrize("outlined", [False, True])
def test_beside_static_memory(outlined: bool) -> None:
    """Static buffers are no part of it, also where they have to become dynamic."""
    for rows in (64, 15000):
        body = (
            WINDOW
            + STORE
            + f"""\
    %s = memref.alloc() : memref<{rows}xi32, {GPU}>
    %m = arith.constant -1 : i32
    memref.store %m, %s[%tx] : memref<{rows}xi32, {GPU}>
"""
            + BARRIER
            + view("r", "extern", "i32", "3")
            + read("r", "memref<64xi32, 3>")
        )
        text = program(body, {"extern": "memref<0xi32, 3>"}, outlined=outlined)
        o = np.zeros(64, np.int32)
        pipeline.compile(text, schedule="none").run(o, check="all")
        np.testing.assert_array_equal(o, np.arange(64)[::-1])


def test_by_bytes() -> None:
    """A global of bytes is viewed as the operation's result is."""
    body = (
        WINDOW
        + STORE
        + BARRIER
        + """\
    %g = memref.get_global @extern : memref<0xi8, 3>
    %r = memref.view %g[%c0][] : memref<0xi8, 3> to memref<64xi32, 3>
"""
        + read("r", "memref<64xi32, 3>")
    )
    o = np.zeros(64, np.int32)
    text = program(body, {"extern": "memref<0xi8, 3>"}, outlined=False)
    pipeline.compile(text, schedule="none").run(o, check="all")
    np.testing.assert_array_equal(o, np.arange(64)[::-1])


@pytest.mark.parametrize("chip", ["sm_75", "sm_80", "sm_90a", "sm_120"])
def test_chips(chip: str) -> None:
    body = WINDOW + STORE + view("r", "extern", "i32", "3") + read("r", "memref<64xi32, 3>")
    text = program(body, {"extern": "memref<0xi32, 3>"}, outlined=False)
    assert ".extern .shared" in pipeline.compile(text, schedule="none", chip=chip).ptx


def test_in_a_function() -> None:
    """A function that a kernel calls names the memory of the launch."""
    kind = "memref<64xi32, 3>"
    function = f"""func.func private @read(%n: index) -> i32 {{
{view("r", "extern", "i32", "3")}    %v = memref.load %r[%n] : {kind}
    return %v : i32
}}
"""
    body = (
        WINDOW
        + STORE
        + """\
    %c63 = arith.constant 63 : index
    %n = arith.subi %c63, %tx : index
    %v = func.call @read(%n) : (index) -> i32
    memref.store %v, %o[%tx] : memref<64xi32>
"""
    )
    text = program(body, {"extern": "memref<0xi32, 3>"}, outlined=False) + function
    o = np.zeros(64, np.int32)
    assert pipeline.check(text, schedule="none").kernels[0].verdict == "RACE"
    pipeline.compile(text, schedule="none").run(o, check="all")
    np.testing.assert_array_equal(o, np.arange(64)[::-1])


def test_named_by_the_host() -> None:
    """The host may take it for the kernel, as it may allocate for it."""
    name = "    %gr = memref.get_global @extern : memref<0xi32, 3>\n"
    reads = view("r", "extern", "i32", "3")
    assert reads.startswith(name)
    body = WINDOW + STORE + BARRIER + reads[len(name) :] + read("r", "memref<64xi32, 3>")
    text = program(body, {"extern": "memref<0xi32, 3>"}, outlined=False)
    text = text.replace("  gpu.launch ", name + "  gpu.launch ")
    o = np.zeros(64, np.int32)
    pipeline.compile(text, schedule="none").run(o, check="all")
    np.testing.assert_array_equal(o, np.arange(64)[::-1])
