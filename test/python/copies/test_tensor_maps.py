"""Kernels that take tensor maps: how they are described, and which arrays become such maps."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import pipeline
from corpus import kernels_bulk, kernels_mbarrier
from corpus.kernels_bulk import COPIES, barriers, copy_text, tensor_map
from corpus.kernels_case import Case
from corpus.kernels_flag import FLAG_CASE
from pipeline import Part, TensorMap
from pipeline.runtime.tensor_maps import TensorLayout, check_layout
from pipeline.system.toolchain import find_ptxas
from support import programs


def has_ptxas() -> bool:
    try:
        find_ptxas()
    except pipeline.ToolError:
        return False
    return True


def test_tensor_map_is_described() -> None:
    module = pipeline.compile(programs.TENSOR_MAP, chip="sm_90")
    kernel = module.kernels["prefetch"]
    number, tensor_map = kernel.arguments
    assert number.tensor_map is None
    assert not tensor_map.is_memref
    assert tensor_map.tensor_map == TensorMap(
        "f16", (64, 8), "swizzle_128b", "none", "l2promo_256b", "nan"
    )
    assert kernel.parameters[1].parts == (Part("tensormap", 1, 0),)
    assert ".param .align 64 .b8 prefetch_param_1[128]" in module.ptx


# --- arrays ---------------------------------------------------------------------------------------


@functools.cache
def copy_kernel(element: str = "f32", swizzle: str = "none") -> pipeline.Kernel:
    text = copy_text((8, 32), element, swizzle, predicated=False)
    return pipeline.compile(text, chip="sm_90", until="llvm", sync="keep", verify=False).kernels[
        "copy"
    ]


def run(source: Any, kernel: pipeline.Kernel | None = None) -> Any:
    """Return the box at the origin of `source`, as it lies in workgroup memory."""
    out = np.zeros((1, 256), source.dtype)
    (kernel or copy_kernel()).run(source, np.zeros((1, 2), "i8"), out, grid=1, check="races")
    return out.reshape(8, 32)


def numbers(*shape: int, kind: str = "f4") -> Any:
    return np.arange(np.prod(shape)).reshape(shape).astype(kind)


def test_slices_become_tensor_maps() -> None:
    source = numbers(20, 64)[3::2, 8:48]
    np.testing.assert_array_equal(run(source), source[:8, :32])


def test_other_arrays_become_tensor_maps() -> None:
    class Exporter:
        def __init__(self, array: Any) -> None:
            self.array, self.dtype = array, array.dtype

        def __dlpack__(self, **options: Any) -> Any:
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self) -> Any:
            return self.array.__dlpack_device__()

    source = numbers(20, 64)
    np.testing.assert_array_equal(run(Exporter(source)), source[:8, :32])


def test_elements_out_of_bounds_are_nan_if_the_map_says_so() -> None:
    text = copy_text((8, 32), "f32", "none", predicated=False).replace("oob = zero", "oob = nan")
    kernel = pipeline.compile(text, chip="sm_90", until="llvm", sync="keep", verify=False).kernels[
        "copy"
    ]
    tile = run(numbers(5, 28), kernel)
    np.testing.assert_array_equal(tile[:5, :28], numbers(5, 28))
    assert np.isnan(tile[5:]).all()
    assert np.isnan(tile[:, 28:]).all()


def shifted(offset: int) -> Any:
    """Return an array at an address that is `offset` bytes behind a multiple of 16."""
    memory = np.zeros(8 * 32 * 4 + 32, np.uint8)
    start = -memory.ctypes.data % 16 + offset
    return memory[start : start + 8 * 32 * 4].view(np.float32).reshape(8, 32)


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "address": (lambda: shifted(4), "its address is no multiple of 16 bytes"),
    "rank": (
        lambda: numbers(8, 4, 8),
        "it has 3 dimensions, but the box of the kernel is 8x32",
    ),
    "number": (lambda: np.float32(1), "it has 0 dimensions, but must have 1 to 5"),
    "columns": (
        lambda: numbers(8, 64)[:, ::2],
        "the elements of dimension 1, the innermost, are 8 bytes apart, but must follow one "
        "another (4 bytes)",
    ),
    "rows": (
        lambda: numbers(8, 34)[:, :32],
        "the stride of dimension 0 is 136 bytes, but must be a multiple of 16 and below 2^40",
    ),
    "backwards": (
        lambda: numbers(8, 32)[::-1],
        "the stride of dimension 0 is -128 bytes, but must be a multiple of 16 and below 2^40",
    ),
    "empty": (lambda: numbers(0, 32), "dimension 0 has 0 elements, but must have 1 to 2^32"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cuda_refuses_is_refused(name: str) -> None:
    make, reason = REFUSED[name]
    source = np.asarray(make())
    with pytest.raises(pipeline.LayoutError) as caught:
        run(source)
    assert str(caught.value) == f"error: argument 0 cannot become a tensor map: {reason}"
    assert caught.value.index == 0


def test_other_elements_are_refused() -> None:
    with pytest.raises(
        pipeline.DTypeError, match="elements of type int32, but the kernel takes f32"
    ):
        run(numbers(8, 32, kind="i4"))


def test_number_is_refused() -> None:
    with pytest.raises(pipeline.KindError, match="argument 0 must be an array"):
        copy_kernel().run(7, np.zeros((1, 2), "i8"), np.zeros((1, 256), "f4"), grid=1)


LAYOUT = TensorLayout(1 << 20, (64, 64), (4, 256), 4)
MAP = TensorMap("f32", (32, 8), "none", "none", "none", "zero")
RULES = {
    "large stride": (
        replace(LAYOUT, strides=(4, 1 << 40)),
        MAP,
        "the stride of dimension 0 is 1099511627776 bytes, but must be a multiple of 16 and below "
        "2^40",
    ),
    "large extent": (
        replace(LAYOUT, dims=(64, 2**32 + 1)),
        MAP,
        "dimension 0 has 4294967297 elements, but must have 1 to 2^32",
    ),
    "large box": (
        LAYOUT,
        MAP._replace(box=(32, 257)),
        "the box has 257 elements along dimension 0, but must have 1 to 256",
    ),
    "row of the box": (
        LAYOUT,
        MAP._replace(box=(6, 8)),
        "a row of the box has 24 bytes, but must have a multiple of 16",
    ),
    "swizzle": (
        LAYOUT,
        MAP._replace(swizzle="swizzle_64b"),
        "a row of the box has 128 bytes, but swizzle_64b takes 64 at most",
    ),
    "interleave": (
        LAYOUT,
        MAP._replace(interleave="interleave_16b"),
        "interleave is interleave_16b, which the emulator does not know",
    ),
}


@pytest.mark.parametrize("name", RULES)
def test_rules(name: str) -> None:
    layout, tensor_map, reason = RULES[name]
    with pytest.raises(pipeline.LayoutError) as caught:
        check_layout(layout, tensor_map, "x")
    assert str(caught.value) == f"error: x cannot become a tensor map: {reason}"
    check_layout(LAYOUT, MAP, "x")


# --- programs -------------------------------------------------------------------------------------

DYNAMIC = f"""
#wg = #gpu.address_space<workgroup>
!map = {tensor_map("memref<8x32xf32, #wg>")}
!bar = {barriers(3)}
gpu.module @kernels {{
  gpu.func @k(%map: !map, %out: memref<8x32xf32>) kernel
      attributes {{known_block_size = array<i32: 32, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %bytes = arith.constant 1024 : index
    %zeroth = arith.constant false
    %t = gpu.thread_id x
    %d = gpu.dynamic_shared_memory : memref<?xi8, #wg>
    %w = memref.view %d[%bytes][] : memref<?xi8, #wg> to memref<8x32xf32, #wg>
    %first = arith.cmpi eq, %t, %c0 : index
    %b = nvgpu.mbarrier.create -> !bar
    nvgpu.mbarrier.init %b[%c1], %c1, predicate = %first : !bar
    nvvm.fence.mbarrier.init
    gpu.barrier
    nvgpu.mbarrier.arrive.expect_tx %b[%c1], %bytes, predicate = %first : !bar
    nvgpu.tma.async.load %map[%c0, %c0], %b[%c1] to %w, predicate = %first
        : !map, !bar -> memref<8x32xf32, #wg>
    nvgpu.mbarrier.try_wait.parity %b[%c1], %zeroth, %bytes : !bar
    scf.for %i = %c0 to %c8 step %c1 {{
      %x = memref.load %w[%i, %t] : memref<8x32xf32, #wg>
      memref.store %x, %out[%i, %t] : memref<8x32xf32>
    }}
    gpu.return
  }}
}}
"""


def test_mbarriers_beside_dynamic_memory() -> None:
    """Three of 8 bytes, behind which dynamic memory begins at its alignment."""
    kernel = pipeline.compile(
        DYNAMIC, chip="sm_90", until="llvm", sync="keep", verify=False
    ).kernels["k"]
    assert kernel.static_shared_bytes == 1024
    source, out = numbers(8, 32), np.zeros((8, 32), "f4")
    kernel.run(source, out, grid=1, dynamic_shared_bytes=2048, check="races")
    np.testing.assert_array_equal(out, source)


CORPUS = [case for case in (*kernels_bulk.CASES, FLAG_CASE, *kernels_mbarrier.CASES) if has_ptxas()]


@pytest.mark.parametrize("case", CORPUS, ids=[case.name for case in CORPUS])
def test_corpus_assembles(case: Case) -> None:
    """What the emulator runs, ptxas takes."""
    assert pipeline.compile(case.text, chip=case.chip).cubin


def test_copies_cover_ranks_and_swizzles() -> None:
    """The corpus has them; see kernels_bulk."""
    names = " ".join(case.name for case in COPIES)
    assert all(f"rank {rank}" in names for rank in range(1, 6))
    assert all(f"swizzle_{bytes}b" in names for bytes in (32, 64, 128))
