"""Copies by TMA that the compiler makes of plain ones: right in every order, and none too many."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pytest

import pipeline
from pipeline import Options
from support.examples import K_TILED, POSTED

Array = npt.NDArray[Any]
ORDERS: tuple[Literal["forward", "reverse", "seeded"], ...] = ("forward", "reverse", "seeded")
MODES: tuple[Literal["on_wait", "eager", "seeded"], ...] = ("on_wait", "eager", "seeded")
HOST = ("func.func @main() {", "func.func @main(%A: T, %B: T, %C: T) {")

# The tile of block b is read in an outer loop of three iterations and an inner one of two, in the
# second of which a branch brings another tile to another buffer; all ways to the copies differ in
# length.
NEST = """\
#wg = #gpu.address_space<workgroup>
!tile = memref<16x32xf32, strided<[64, 1], offset: ?>>
!slab = memref<8x32xf16, strided<[32, 1], offset: ?>>
func.func @main(%a: memref<64x64xf32>, %b: memref<?x1x32xf16>, %c: memref<64xf32>) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c2, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %c0 = arith.constant 0 : index
    %c3 = arith.constant 3 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %zero = arith.constant 0.0 : f32
    %first = memref.alloc() : memref<16x32xf32, #wg>
    %second = memref.alloc() : memref<8x32xf16, #wg>
    %column = arith.remui %tx, %c32 : index
    %row = arith.muli %bx, %c32 : index
    %sum = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %zero) -> (f32) {
      %inner = scf.for %j = %c0 to %c2 step %c1 iter_args(%t = %s) -> (f32) {
        %shift = arith.muli %j, %c16 : index
        %at = arith.addi %row, %shift : index
        %tile = memref.subview %a[%at, %i] [16, 32] [1, 1] : memref<64x64xf32> to !tile
        memref.copy %tile, %first : !tile to memref<16x32xf32, #wg>
        %x = memref.load %first[%c3, %column] : memref<16x32xf32, #wg>
        %u = arith.addf %t, %x : f32
        %is_second = arith.cmpi eq, %j, %c1 : index
        %v = scf.if %is_second -> (f32) {
          %slab = memref.subview %b[%i, 0, 0] [8, 1, 32] [1, 1, 1] : memref<?x1x32xf16> to !slab
          memref.copy %slab, %second : !slab to memref<8x32xf16, #wg>
          %y = memref.load %second[%c2, %column] : memref<8x32xf16, #wg>
          %wide = arith.extf %y : f16 to f32
          %w = arith.addf %u, %wide : f32
          scf.yield %w : f32
        } else {
          scf.yield %u : f32
        }
        scf.yield %v : f32
      }
      scf.yield %inner : f32
    }
    %is_first = arith.cmpi ult, %tx, %c32 : index
    scf.if %is_first {
      %to = arith.addi %row, %column : index
      memref.store %sum, %c[%to] : memref<64xf32>
    }
    gpu.terminator
  }
  return
}
"""

# One tile at the start, and one in a loop: no barrier, no fence could be missing.
PLAIN = """\
#wg = #gpu.address_space<workgroup>
!tile = memref<8x64xf32, strided<[64, 1], offset: ?>>
func.func @main(%a: memref<64x64xf32>, %b: memref<?x1x32xf16>, %c: memref<64xf32>) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %buffer = memref.alloc() : memref<8x64xf32, #wg>
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %zero = arith.constant 0.0 : f32
    LOOP
      %tile = memref.subview %a[%i, 0] [8, 64] [1, 1] : memref<64x64xf32> to !tile
      memref.copy %tile, %buffer : !tile to memref<8x64xf32, #wg>
      %x = memref.load %buffer[%c2, %tx] : memref<8x64xf32, #wg>
      %t = arith.addf %s, %x : f32
    END
    memref.store %sum, %c[%tx] : memref<64xf32>
    gpu.terminator
  }
  return
}
"""
LOOP = PLAIN.replace(
    "LOOP", "%sum = scf.for %i = %c0 to %c4 step %c1 iter_args(%s = %zero) -> (f32) {"
).replace("END", "scf.yield %t : f32 }")
START = (
    PLAIN.replace("LOOP", "%i = arith.muli %bx, %c4 : index")
    .replace("END", "")
    .replace("%s, %x", "%zero, %x")
    .replace("%sum", "%t")
)


def compile_tma(text: str, **options: Any) -> pipeline.Module:
    options.setdefault("until", "llvm")
    return pipeline.compile(text, chip="sm_90", memory_options="copies=tma", **options)


def matmul(text: str, size: int) -> str:
    """Return a matmul of the examples, for matrices of another size that are its arguments."""
    return text.replace("1024x1024", f"{size}x{size}")


def posted(size: int) -> str:
    """Return the posted program with its matrices as arguments and nothing done on the host."""
    lines = matmul(POSTED, size).split("\n")
    kept = [
        line
        for line in lines
        if not re.match(r" +%[ABC] = memref.alloc|  linalg.fill|  %cf\d", line)
    ]
    kind = f"memref<{size}x{size}xf32>"
    return "\n".join(kept).replace(HOST[0], HOST[1].replace("T", kind))


def matrices(size: int) -> list[Array]:
    generator = np.random.default_rng(1)
    return [generator.standard_normal((size, size), dtype=np.float32) for _ in range(3)]


def count_tma(module: pipeline.Module) -> int:
    return sum("copy done by TMA" in remark.message for remark in module.remarks)


@pytest.mark.parametrize(("order", "mode"), list(product(ORDERS, MODES)))
def test_tiled_matmul(order: Any, mode: Any) -> None:
    size = 128
    module = compile_tma(matmul(K_TILED, size))
    assert count_tma(module) == 2
    a, b, c = matrices(size)
    expected = c + a @ b
    module.run(a, b, c, check="races", order=order, async_mode=mode, backend="emulator")
    np.testing.assert_allclose(c, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("mode", MODES)
def test_one_thread(mode: Any) -> None:
    """Rows and columns are longer than a box: they come in parts."""
    size = 512
    module = compile_tma(posted(size))
    assert count_tma(module) == 2
    a, b, c = matrices(size)
    before, expected = c.copy(), c + a @ b
    (kernel,) = module.kernels.values()
    options = Options(check="races", blocks=4, seed=1, async_mode=mode)
    (report,) = module.emulate(a, b, c, options=options)
    assert not report.findings, report.rendered
    assert kernel.block == (1, 1, 1)
    is_done = c != before
    assert 4 * 16 - 4 <= is_done.sum() <= 4 * 16
    np.testing.assert_allclose(c[is_done], expected[is_done], rtol=1e-4, atol=1e-4)


def nest_arguments() -> list[Array]:
    generator = np.random.default_rng(2)
    a = generator.integers(-9, 9, (64, 64)).astype(np.float32)
    b = generator.integers(-9, 9, (10, 1, 32)).astype(np.float16)
    return [a, b, np.zeros(64, np.float32)]


def nest_result(a: Array, b: Array) -> Array:
    rows = [[a[block * 32 + j * 16 + 3] for j in range(2)] for block in range(2)]
    result = np.zeros((2, 32), np.float32)
    for block, i in product(range(2), range(3)):
        result[block] += rows[block][0][i : i + 32] + rows[block][1][i : i + 32] + b[i + 2, 0]
    return result.reshape(64)


@pytest.mark.parametrize(("order", "mode"), list(product(ORDERS, MODES)))
def test_phases_go_through_loops_and_branches(order: Any, mode: Any) -> None:
    module = compile_tma(NEST)
    assert count_tma(module) == 2
    a, b, c = nest_arguments()
    module.run(a, b, c, check="races", order=order, async_mode=mode, backend="emulator")
    np.testing.assert_array_equal(c, nest_result(a, b))


def test_dynamic_memory() -> None:
    """A tile too large for static memory is aligned as TMA needs it."""
    text = START.replace("[8, 64]", "[60, 64]").replace("8x64xf32", "60x64xf32")
    module = pipeline.compile(
        text, chip="sm_90", memory_options="copies=tma dynamic=always", until="llvm"
    )
    (kernel,) = module.kernels.values()
    assert kernel.dynamic_shared_bytes == 60 * 64 * 4
    a, b, c = nest_arguments()
    module.run(a, b, c, check="races", backend="emulator")
    np.testing.assert_array_equal(c, a[2])


def on_host(offset: str) -> str:
    """Return a program whose source is a slice that the host makes."""
    big = "memref<64x128xf32>"
    part = f"memref<64x64xf32, strided<[128, 1], offset: {32 if offset == '32' else '?'}>>"
    slice_ = f"memref.subview %big[0, {offset}] [64, 64] [1, 1] : {big} to {part}"
    return (
        START.replace("%a: memref<64x64xf32>", f"%big: {big}, %n: index")
        .replace("  gpu.launch", f"  %a = {slice_}\n  gpu.launch")
        .replace("[1, 1] : memref<64x64xf32>", f"[1, 1] : {part}")
        .replace("strided<[64, 1]", "strided<[128, 1]")
    )


def test_slices_of_the_host() -> None:
    """The kernel gets nothing but the map of one, which takes constants to describe."""
    module = compile_tma(on_host("32"))
    (kernel,) = module.kernels.values()
    assert sum(argument.is_memref for argument in kernel.arguments) == 1
    big = np.arange(64 * 128, dtype=np.float32).reshape(64, 128)
    _, b, c = nest_arguments()
    module.run(big, 0, b, c, check="races", backend="emulator")
    np.testing.assert_array_equal(c, big[2, 32:96])
    c[:] = 0
    compile_tma(on_host("%n")).run(big, 32, b, c, check="races", backend="emulator")
    np.testing.assert_array_equal(c, big[2, 32:96])


def test_maps_are_described() -> None:
    """A launch passes what a map is of: the slice that has the map's dimensions."""
    module = compile_tma(NEST)
    (kernel,) = module.kernels.values()
    boxes = [argument.tensor_map.box for argument in kernel.arguments if argument.tensor_map]
    assert sorted(boxes) == [(32, 8), (32, 16)]
    body = module.plan.functions["main"].body
    assert body is not None
    (sliced,) = (step for step in body.steps if step.op == "memref.subview")
    assert (sliced.fields["sizes"][1:], sliced.fields["dropped"]) == ((1, 32), (1,))


# The kernel writes a column of what it copies then.
WRITTEN = START.replace(
    "      %tile =", "      memref.store %zero, %a[%tx, %c2] : memref<64x64xf32>\n      %tile ="
)


@pytest.mark.parametrize(("order", "mode"), list(product(ORDERS, MODES)))
def test_sources_that_the_kernel_writes(order: Any, mode: Any) -> None:
    """No barrier lets TMA know of stores to global memory: another engine copies."""
    module = compile_tma(WRITTEN.replace("%tile =", "gpu.barrier\n      %tile ="))
    assert count_tma(module) == 0
    (missed,) = (remark for remark in module.remarks if remark.name == "NotTMA")
    assert "'memref.store' of line" in missed.arguments["Reason"]
    a, b, c = nest_arguments()
    expected = a[2].copy()
    expected[2] = 0
    module.run(a, b, c, check="races", order=order, async_mode=mode, backend="emulator")
    np.testing.assert_array_equal(c, expected)


def test_arguments_are_to_be_distinct() -> None:
    """Arrays that share memory are refused where TMA relies on it that they do not."""
    a, b, _ = nest_arguments()
    with pytest.raises(pipeline.ArgumentError, match="argument 2 overlaps argument 0"):
        compile_tma(START).run(a, b, a.reshape(-1)[:64], backend="emulator")
    module = pipeline.compile(
        START, chip="sm_90", memory_options="copies=tma assume-distinct-arguments=false"
    )
    assert count_tma(module) == 1  # nothing is written before the copy
    module = pipeline.compile(
        LOOP, chip="sm_90", memory_options="copies=tma assume-distinct-arguments=false"
    )
    assert count_tma(module) == 1


@pytest.mark.parametrize("chip", ["sm_90", "sm_90a", "sm_100", "sm_120"])
@pytest.mark.parametrize("text", [matmul(K_TILED, 1024), matmul(POSTED, 1024), NEST])
def test_ptxas(text: str, chip: str) -> None:
    module = pipeline.compile(text, chip=chip, memory_options="copies=tma")
    (kernel,) = module.kernels.values()
    assert "cp.async.bulk.tensor" in module.ptx
    assert ".local" not in module.ptx
    assert kernel.resources.static_shared_bytes == kernel.static_shared_bytes


# Mutants: each has one line less, or one that is different, and something has to be found.

_REMOVED = {
    "wait": r"nvgpu\.mbarrier\.try_wait\.parity",
    "barrier": r"gpu\.barrier",
    "fence": r"nvvm\.fence\.proxy",
    "init fence": r"nvvm\.fence\.mbarrier\.init",
    "expectation": r"nvgpu\.mbarrier\.arrive\.expect_tx",
    "initialisation": r"nvgpu\.mbarrier\.init",
    "load": r"nvgpu\.tma\.async\.load",
}


def mutants(text: str) -> Iterator[tuple[str, str]]:
    """Yield wrong variants of the outlined kernel `text`, with a name each."""
    lines = text.split("\n")
    for name, pattern in _REMOVED.items():
        places = [i for i, line in enumerate(lines) if re.match(rf" *{pattern}", line)]
        for number, i in enumerate(places):
            yield f"{name} {number} left out", "\n".join(lines[:i] + lines[i + 1 :])
    yield (
        "both fences of mbarriers left out",
        re.sub(r" *nvvm\.fence\.mbarrier\.init\n *nvvm\.fence\.proxy .*\n", "", text),
    )
    for number, match in enumerate(re.finditer(r"arith\.xori %\w+, %true", text)):
        kept = match.group().replace("%true", "%false")
        yield f"phase {number} kept", text[: match.start()] + kept + text[match.end() :]
    for match in re.finditer(r"(?P<name>%c(?P<bytes>2048|512|8192)) = arith.constant \d+", text):
        for wrong in (-16, 16):
            number = int(match["bytes"]) + wrong
            changed = f"{match['name']} = arith.constant {number}"
            if re.search(rf"expect_tx .*{match['name']} ", text):
                yield f"{number} bytes", text[: match.start()] + changed + text[match.end() :]


def outlined(text: str) -> str:
    return compile_tma(text, until="gpu").texts["gpu"]


GPU = {"nest": outlined(NEST), "loop": outlined(LOOP), "start": outlined(START)}
MUTANTS = {
    f"{program}, {name}": text for program, outer in GPU.items() for name, text in mutants(outer)
}
_COVERED = "that of the first copy stands on every way between two iterations of the branch"
_EITHER = "behind the initialisation stand two fences, for clusters and for the proxy; either does"
_BEFORE_COPY = "every thread executes the proxy fence before the first copy as well"
# What is no mistake, and why.
HARMLESS = {
    "nest, both fences of mbarriers left out": _BEFORE_COPY,
    "loop, both fences of mbarriers left out": _BEFORE_COPY,
    "nest, barrier 1 left out": _COVERED,
    "nest, fence 2 left out": _COVERED,
    **{
        f"{program}, {fence} 0 left out": _EITHER
        for program in GPU
        for fence in ("fence", "init fence")
    },
}


def run_everyhow(text: str) -> Iterator[pipeline.Report]:
    module = pipeline.compile(text, chip="sm_90", until="llvm", sync="keep", verify=False)
    for order, mode in product(ORDERS, MODES):
        options = Options(check="races", order=order, async_mode=mode, step_limit=10_000)
        yield from module.emulate(*nest_arguments(), options=options)


@pytest.mark.parametrize("program", GPU)
def test_outlined_program_is_right(program: str) -> None:
    assert not any(report.findings for report in run_everyhow(GPU[program]))


@pytest.mark.parametrize("name", [name for name in MUTANTS if name not in HARMLESS])
def test_mutants_are_caught(name: str) -> None:
    assert any(report.findings for report in run_everyhow(MUTANTS[name]))


def test_harmless_ones_are() -> None:
    """The list holds nothing else."""
    assert set(HARMLESS) <= set(MUTANTS)
    for name in HARMLESS:
        assert not any(report.findings for report in run_everyhow(MUTANTS[name])), name
