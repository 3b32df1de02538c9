"""Contractions of whole and of ragged tiles, in registers, against NumPy and checked for races."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import pipeline
from compiler.contraction_kernels import Kernel
from linalg.cpu_stages import optimize
from pipeline.runtime.emulator import AsyncMode, Order

EMULATED: dict[str, Any] = {"backend": "emulator", "check": "all", "workers": 1}


def compile_kernel(
    kernel: Kernel,
    *,
    slots: int = 1,
    chip: str = "sm_80",
    until: Any = "llvm",
    numerics: Any = "exact",
    options: str = "",
) -> pipeline.Module:
    """Stage and compile a kernel, and see that all of it was lowered as it should be."""
    staged = optimize(kernel.text(), "workgroup-stage-operands")
    assert staged.count("memref.alloca") == 1, staged
    return pipeline.compile(
        staged,
        chip=chip,
        memory_options=f"slots={slots}{options}",
        numerics=numerics,
        until=until,
    )


def check(kernel: Kernel, module: pipeline.Module, **options: Any) -> None:
    """Run a kernel, and compare what it makes with NumPy."""
    arguments = kernel.arguments()
    expected = kernel.expect(arguments)
    module.run(*arguments, **{**EMULATED, **options})
    actual = arguments[3]
    if kernel.sum.startswith("i"):
        np.testing.assert_array_equal(actual, expected)
        return
    # Numbers of 16 bits round at every step of their sum.
    tolerance = 0.1 if kernel.sum in ("f16", "bf16") else 1e-5
    difference = np.abs(actual.astype("f8") - expected.astype("f8"))
    assert (difference <= tolerance * np.maximum(1, np.abs(expected.astype("f8")))).all()


SIZES = [
    (32, 32, 16),  # whole
    (64, 96, 24),
    (33, 32, 8),  # ragged along each dimension, and along all
    (32, 37, 8),
    (32, 32, 9),
    (45, 39, 21),
    (40, 44, 20),  # ragged, with rows that are aligned
    (1, 70, 5),
    (70, 1, 5),
    (1, 1, 1),
    (33, 34, 0),  # no sum
]


@pytest.mark.parametrize("slots", [1, 3])
@pytest.mark.parametrize("size", SIZES)
def test_dynamic(size: tuple[int, int, int], slots: int) -> None:
    """One kernel serves all sizes, those without a sum included."""
    kernel = Kernel(*size, is_dynamic=True, has_bias=True)
    check(kernel, compile_kernel(kernel, slots=slots))


@pytest.mark.parametrize("adds", [False, True])
@pytest.mark.parametrize("size", SIZES)
def test_static(size: tuple[int, int, int], *, adds: bool) -> None:
    """Constant sizes, from zero and from what is there."""
    kernel = Kernel(*size, adds=adds)
    if min(size) > 1:
        check(kernel, compile_kernel(kernel, slots=2))


@pytest.mark.parametrize("is_dynamic", [False, True])
@pytest.mark.parametrize("transposed", [(True, False), (False, True), (True, True)])
def test_transposed(transposed: tuple[bool, bool], *, is_dynamic: bool) -> None:
    """Operands are read along whatever dimension is contiguous, by vectors."""
    kernel = Kernel(44, 40, 20, transposed=transposed, is_dynamic=is_dynamic, adds=True)
    module = compile_kernel(kernel, slots=2, until="ptx")
    assert not re.search(r"ld\.shared\.[bf]32", module.ptx or "")
    check(kernel, module)


@pytest.mark.parametrize(
    ("kind", "total"),
    [
        *(("f64", "f64"), ("f16", "f16"), ("f16", "f32"), ("bf16", "f32"), ("bf16", "bf16")),
        *(("i8", "i32"), ("i8", "i8"), ("i16", "i32"), ("i32", "i32"), ("i64", "i64")),
        *(("i32", "i64"), ("i8", "f32"), ("f32", "f64")),
    ],
)
@pytest.mark.parametrize("transposed", [(False, False), (True, True)])
def test_types(kind: str, total: str, transposed: tuple[bool, bool]) -> None:
    """Products and sums are in the types that the body has."""
    kernel = Kernel(37, 48, 20, kind=kind, sum=total, transposed=transposed, has_bias=True)
    check(kernel, compile_kernel(kernel, slots=2))


@pytest.mark.parametrize(
    ("tile", "threads"),
    [
        ((16, 16, 4), 32),
        ((64, 32, 16), 128),
        ((48, 80, 8), 96),  # nothing is a power of two
        ((32, 32, 8), 256),  # few elements for each thread
        ((8, 8, 8), 256),  # and for most none
        ((64, 64, 8), 33),
        ((32, 32, 8), 1),
        ((64, 64, 40), 64),
    ],
)
def test_tiles(tile: tuple[int, int, int], threads: int) -> None:
    """Any tile is shared by any number of threads that can hold it."""
    kernel = Kernel(70, 90, 50, tile=tile, threads=threads, has_bias=True)
    if threads == 1:
        with pytest.raises(pipeline.CompileError, match="have no registers for a tile"):
            compile_kernel(kernel)
        return
    check(kernel, compile_kernel(kernel, slots=2))


@pytest.mark.parametrize(
    ("tile", "threads", "rows", "columns"),
    [
        ((8, 8, 8), 16, 1, 4),
        ((16, 16, 8), 32, 2, 4),
        ((12, 16, 8), 31, 4, 4),
        ((32, 8, 8), 8, 4, 8),
        ((52, 4, 8), 8, 8, 4),
        ((4, 64, 8), 4, 4, 16),
        ((64, 4, 8), 4, 16, 4),
        ((12, 44, 8), 13, 8, 16),
    ],
)
def test_thread_tiles(tile: tuple[int, int, int], threads: int, rows: int, columns: int) -> None:
    """A thread computes as many rows and columns as take the fewest instructions."""
    kernel = Kernel(45, 39, 21, tile=tile, threads=threads, adds=True)
    module = compile_kernel(kernel, until="ptx")
    assert module.ptx
    assert module.ptx.count("fma.rn.f32") == rows * columns * tile[2]
    check(kernel, compile_kernel(kernel))


@pytest.mark.parametrize("slots", [1, 2, 4])
@pytest.mark.parametrize(("order", "mode"), [("reverse", "eager"), (7, 7)])
def test_orders(slots: int, order: Order | int, mode: AsyncMode | int) -> None:
    """However threads and copies interleave, the result is the same."""
    kernel = Kernel(64, 64, 40, has_bias=True)
    module = compile_kernel(kernel, slots=slots)
    check(kernel, module, order=order, async_mode=mode)


@pytest.mark.parametrize("chip", ["sm_75", "sm_86", "sm_90a"])
def test_chips(chip: str) -> None:
    """Chips without asynchronous copies, and those with more than sm_80."""
    kernel = Kernel(64, 70, 40, has_bias=True)
    check(kernel, compile_kernel(kernel, slots=2, chip=chip))


@pytest.mark.parametrize(("slots", "barriers"), [(1, 2), (2, 1), (3, 1)])
def test_quality(slots: int, barriers: int) -> None:
    """Bars of the default schedule for f32: what stands in PTX, and no spilled register."""
    kernel = Kernel(1024, 1024, 1024, tile=(128, 128, 16), threads=256, has_bias=True)
    module = compile_kernel(kernel, slots=slots, until="ptx")
    ptx = module.ptx or ""
    assert ptx.count(".entry") == 1
    assert ptx.count("fma.rn.f32") == 8 * 8 * 16
    assert ptx.count("ld.shared.v4") == 64
    assert not re.search(r"ld\.shared\.[bfsu]", ptx)
    assert ptx.count("bar.sync") == barriers
    assert "cp.async.cg.shared.global" in ptx
    assert "st.global.v4" in ptx
    assert not re.search(r"mul(\.rn)?\.f32|mma", ptx)
    assert "0 bytes spill stores, 0 bytes spill loads" in (module.ptxas_log or "")
    assert not module.diagnostics


def test_ragged_loop_is_the_same() -> None:
    """Of ragged and of dynamic tiles the loop is that of whole ones."""
    for is_dynamic in (False, True):
        kernel = Kernel(
            *(1000, 1000, 1001),
            tile=(128, 128, 16),
            threads=256,
            is_dynamic=is_dynamic,
            has_bias=True,
        )
        ptx = compile_kernel(kernel, slots=2, until="ptx").ptx or ""
        assert ptx.count("fma.rn.f32") == 8 * 8 * 16
        assert ptx.count("ld.shared.v4") == 64
        assert not re.search(r"ld\.shared\.[bfsu]", ptx)
        assert ptx.count("bar.sync") == 1
