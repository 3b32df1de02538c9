"""Programs behind `workgroup-allocate-device-memory`, run as who has upstream's tools runs them.

mlir-opt lowers them as docs/device-memory.md says, mlir-runner runs them. A stand-in has memory of
the device that the host cannot touch, and does no work before it is waited for.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import pipeline
from device.upstream_runner import Array, Ran, find_runner, run_program
from linalg.linalg_programs import PROGRAMS
from support.mlir_opt import run_opt

PASS = "workgroup-allocate-device-memory{assume-distinct-arguments strict}"
LOWERING = (
    "func.func(gpu-async-region),convert-linalg-to-loops,workgroup-to-nvvm,"
    "gpu-module-to-binary{format=isa},convert-scf-to-cf,"
    "gpu-to-llvm{use-bare-pointers-for-kernels=1},expand-strided-metadata,lower-affine,"
    "convert-to-llvm,reconcile-unrealized-casts"
)
BY_NAME = {program.name: program for program in PROGRAMS}


@pytest.fixture(autouse=True)
def _needs_the_runner() -> None:
    if isinstance(found := find_runner(), str):
        pytest.skip(found)


# --- programs that print --------------------------------------------------------------------------


def add_printing(text: str, arguments: list[Array]) -> str:
    """Add a function `test` that calls `main` on arrays, and prints them and what it returns."""
    match = re.search(r"func\.func @main\(.*?\)(?: -> \(?(.*?)\)?)? (?:attributes .*?)?\{\n", text)
    assert match is not None
    results = re.findall(r"memref<[^>]*>", match[1] or "")
    types = [f"memref<{'x'.join(map(str, array.shape))}xf32>" for array in arguments]
    head, body = [], []
    for number, (array, kind) in enumerate(zip(arguments, types, strict=True)):
        data = array.astype("<f4").tobytes().hex()
        value = f'dense<"0x{data}"> : tensor<{kind[7:]}'
        head.append(
            f'memref.global "private" constant @in{number} : {kind} = {value.split(" : ")[0]}'
        )
        body.append(f"%g{number} = memref.get_global @in{number} : {kind}")
        body.append(f"%a{number} = memref.alloc() : {kind}")
        body.append(f"memref.copy %g{number}, %a{number} : {kind} to {kind}")
    names = [f"%a{number}" for number in range(len(arguments))]
    made = [f"%r{number}" for number in range(len(results))]
    call = f"func.call @main({', '.join(names)}) : ({', '.join(types)}) -> ({', '.join(results)})"
    body.append(f"{', '.join(made)} = {call}" if made else call)
    for name, kind in zip([*names, *made], [*types, *results], strict=True):
        plain = f"{name}_plain"
        body.append(f"{plain} = memref.cast {name} : {kind} to memref<*xf32>")
        body.append(f"func.call @printMemrefF32({plain}) : (memref<*xf32>) -> ()")
    body += [f"memref.dealloc {name} : {kind}" for name, kind in zip(names, types, strict=True)]
    function = "\n".join(["func.func @test() {", *body, "return", "}"])
    declared = "func.func private @printMemrefF32(memref<*xf32>) attributes {llvm.emit_c_interface}"
    end = text.rindex("}")
    return "\n".join([text[:end], *head, declared, function, text[end:]])


def allocate(text: str, arguments: list[Array]) -> str:
    """Return a program that prints, behind the pass."""
    return run_opt(add_printing(text, arguments), PASS)


def run(text: str, allocated: str) -> Ran:
    """Lower and run what the pass has made; kernels are those of the program before."""
    module = pipeline.compile(text, chip="sm_80", schedule="none")
    return run_program(run_opt(allocated, LOWERING), module)


def draw(*shapes: tuple[int, ...]) -> list[Array]:
    """Return multiples of 1/4 but 0, of which printing rounds none."""
    rng = np.random.default_rng(len(shapes))
    return [
        (rng.integers(1, 8, shape, endpoint=True) * rng.choice([-1, 1], shape) / 4).astype("f4")
        for shape in shapes
    ]


KERNELS = """
  gpu.module @kernels {
    gpu.func @add(%a: memref<8x16xf32>, %b: memref<8x16xf32>, %c: memref<8x16xf32>) kernel
        attributes {known_block_size = array<i32: 16, 1, 1>} {
      %i = gpu.block_id x
      %j = gpu.thread_id x
      %x = memref.load %a[%i, %j] : memref<8x16xf32>
      %y = memref.load %b[%i, %j] : memref<8x16xf32>
      %z = arith.addf %x, %y : f32
      memref.store %z, %c[%i, %j] : memref<8x16xf32>
      gpu.return
    }
  }
"""
LAUNCH = (
    "gpu.launch_func @kernels::@add blocks in (%c8, %c1, %c1) threads in (%c16, %c1, %c1) "
    "args({} : memref<8x16xf32>, {} : memref<8x16xf32>, {} : memref<8x16xf32>)"
)
CONSTANTS = "".join(
    f"    %c{number} = arith.constant {number} : index\n" for number in (0, 1, 3, 8, 16)
)


def write_program(arguments: str, body: str, results: str = "") -> str:
    return (
        f"module attributes {{gpu.container_module}} {{{KERNELS}"
        f"  func.func @main({arguments}){results} {{\n{CONSTANTS}{body}\n  }}\n}}\n"
    )


PAIR = "%a: memref<8x16xf32>, %b: memref<8x16xf32>"
ONCE = write_program(PAIR, f"{LAUNCH.format('%a', '%b', '%b')}\nreturn")
READ_BETWEEN = write_program(
    PAIR,
    f"""
    %t = memref.alloc() : memref<8x16xf32>
    {LAUNCH.format("%a", "%b", "%t")}
    %x = memref.load %t[%c3, %c8] : memref<8x16xf32>
    memref.store %x, %b[%c0, %c1] : memref<8x16xf32>
    {LAUNCH.format("%t", "%b", "%a")}
    memref.dealloc %t : memref<8x16xf32>
    return""",
)
LOOP = write_program(
    PAIR,
    f"""
    scf.for %n = %c0 to %c3 step %c1 {{
      {LAUNCH.format("%a", "%b", "%b")}
      {LAUNCH.format("%b", "%b", "%a")}
    }}
    return""",
)
FILLED = write_program(
    "%a: memref<8x16xf32>",
    f"""
    %f = arith.constant 2.5 : f32
    %r = memref.alloc() : memref<8x16xf32>
    %t = memref.alloc() : memref<8x16xf32>
    linalg.fill ins(%f : f32) outs(%t : memref<8x16xf32>)
    {LAUNCH.format("%a", "%t", "%r")}
    memref.dealloc %t : memref<8x16xf32>
    return %r : memref<8x16xf32>""",
    " -> memref<8x16xf32>",
)


def read_between(a: Array, b: Array) -> tuple[Array, ...]:
    t, b = a + b, b.copy()
    b[0, 1] = t[3, 8]
    return t + b, b


def loop(a: Array, b: Array) -> tuple[Array, ...]:
    for _ in range(3):
        b = a + b
        a = b + b
    return a, b


@pytest.mark.parametrize(
    ("text", "reference", "launches", "copies"),
    [
        (ONCE, lambda a, b: (a, a + b), 1, ["host device"] * 2 + ["device host"]),
        (READ_BETWEEN, read_between, 2, None),
        (LOOP, loop, 6, ["host device"] * 2 + ["device host"] * 2),
        (FILLED, lambda a: (a, a + np.float32(2.5)), 1, None),
    ],
    ids=["once", "read between", "loop", "filled"],
)
def test_a_program(text: str, reference: Any, launches: int, copies: list[str] | None) -> None:
    arguments = draw(*[(8, 16)] * (2 if "%b: memref" in text.split("@main")[1] else 1))
    ran = run(text, allocate(text, arguments))
    assert ran.code == 0, ran.errors
    wanted = reference(*(array.copy() for array in arguments))
    found = ran.numbers()
    assert len(found) == len(wanted)
    for actual, expected in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(actual, expected)
    assert [launch.name for launch in ran.launches] == ["add"] * launches
    assert copies is None or ran.server.copies == copies
    assert ran.server.end == (0, 0, 0)


@pytest.mark.parametrize(
    "name",
    [
        "softmax",
        "batch_norm",
        "matmul_bias_relu",
        "memref_chain",
        "memref_updates",
        "split_columns",
        "conv_bias_relu",
        "attention",
    ],
)
def test_a_program_of_the_suite(name: str) -> None:
    program = BY_NAME[name]
    text = run_opt(pipeline.compile(program.text, chip="sm_80", until="gpu").texts["gpu"], "inline")
    arguments = program.arguments(0)
    ran = run(text, allocate(text, arguments))
    assert ran.code == 0, ran.errors
    found = ran.numbers()
    results = [found[index] for index in program.written] + found[len(arguments) :]
    wanted = program.expect(0)
    assert len(results) == len(wanted)
    for actual, expected in zip(results, wanted, strict=True):
        # Six digits are printed.
        tolerance = program.tolerance + 1e-5
        np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance)
    assert ran.launches
    assert ran.server.end == (0, 0, 0)


# --- what the stand-in sees -----------------------------------------------------------------------


def drop(text: str, line: str, which: int = 0) -> str:
    """Return a program without one of the lines that begin with some words."""
    lines = text.splitlines()
    places = [number for number, each in enumerate(lines) if each.strip().startswith(line)]
    del lines[places[which]]
    return "\n".join(lines)


@pytest.mark.parametrize("which", [0, 1, 2])
def test_each_copy_is_needed(which: int) -> None:
    arguments = draw((8, 16), (8, 16))
    ran = run(ONCE, drop(allocate(ONCE, arguments), "gpu.memcpy", which))
    assert ran.code == 0, ran.errors
    a, b = arguments
    assert not np.array_equal(ran.numbers()[1], a + b)


def test_a_kernel_with_memory_of_the_host_is_refused() -> None:
    arguments = draw((8, 16), (8, 16))
    ran = run(ONCE, add_printing(ONCE, arguments))
    assert ran.code == 3
    assert "error: add got 0x" in ran.errors
    assert "which is not allocated" in ran.errors


def test_the_host_cannot_touch_memory_of_the_device() -> None:
    text = allocate(FILLED, draw((8, 16)))
    changed = re.sub(r"memref\.dealloc (%\w+) : memref<8x16xf32>", "", text)
    name = re.search(r"(%\w+) = gpu\.alloc", changed)
    assert name is not None
    load = f"%bad = memref.load {name[1]}[%bad_at, %bad_at] : memref<8x16xf32>"
    place = changed.index("gpu.launch_func")
    changed = f"{changed[:place]}%bad_at = arith.constant 0 : index\n{load}\n{changed[place:]}"
    use = "memref.store %bad, "
    host = re.search(r"(%\w+) = memref\.alloc\(\) .*: memref<8x16xf32>", changed)
    assert host is not None
    store = f"{use}{host[1]}[%bad_at, %bad_at] : memref<8x16xf32>\n"
    place = changed.index("gpu.launch_func")
    ran = run(FILLED, changed[:place] + store + changed[place:])
    assert ran.code < 0, ran.output


def test_work_that_nobody_waits_for_is_told() -> None:
    arguments = draw((8, 16), (8, 16))
    lowered = run_opt(allocate(ONCE, arguments), LOWERING)
    module = pipeline.compile(ONCE, chip="sm_80", schedule="none")
    ran = run_program(drop(lowered, "llvm.call @mgpuStreamSynchronize"), module)
    assert ran.code == 3
    assert "error: mgpuStreamDestroy: nobody has waited for its work" in ran.errors


def test_memory_that_is_freed_too_early_is_told() -> None:
    arguments = draw((8, 16), (8, 16))
    lowered = run_opt(allocate(ONCE, arguments), LOWERING)
    module = pipeline.compile(ONCE, chip="sm_80", schedule="none")
    lines = lowered.splitlines()
    (launch,) = (n for n, line in enumerate(lines) if line.strip().startswith("gpu.launch_func"))
    free = next(n for n, line in enumerate(lines) if "llvm.call @mgpuMemFree" in line)
    assert free > launch
    pointer = re.search(r"args\((%\w+)", lines[launch])
    stream = re.search(r"launch_func <(%\w+)", lines[launch])
    assert pointer is not None
    assert stream is not None
    early = f"llvm.call @mgpuMemFree({pointer[1]}, {stream[1]}) : (!llvm.ptr, !llvm.ptr) -> ()"
    ran = run_program("\n".join([*lines[:launch], early, *lines[launch:]]), module)
    assert ran.code == 3
    assert "which is not allocated" in ran.errors
