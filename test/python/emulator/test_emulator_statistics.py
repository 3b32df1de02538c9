"""What accesses cost, of kernels for which the hardware's numbers are known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pipeline
from corpus.kernels_case import Array, Dim3
from emulator.faults import kernel


def aligned(*shape: int, kind: str = "f4", offset: int = 0) -> Array:
    """Return 1, 2, 3 and so on, `offset` bytes behind an address that 256 divides."""
    dtype = np.dtype(kind)
    size = int(np.prod(shape)) * dtype.itemsize
    memory = np.zeros(size + 512, np.uint8)
    start = -memory.ctypes.data % 256 + offset
    array = memory[start : start + size].view(dtype).reshape(shape)
    array[...] = np.arange(1, array.size + 1).reshape(shape)
    return array


def count(
    text: str, *values: Any, block: Dim3 = (32, 1, 1), grid: Dim3 = (1, 1, 1)
) -> pipeline.Statistics:
    report = (
        pipeline.compile(text, until="llvm", sync="keep", verify=False)
        .kernels["k"]
        .run(*values, grid=grid, block=block, statistics=True, workers=1)
    )
    assert report.statistics is not None
    return report.statistics


def costs(statistics: pipeline.Statistics) -> list[tuple[str, int, int, int, int]]:
    """Return space and kind, bytes, requests, and what they cost beside the least."""
    return [
        (f"{place.space} {place.kind}", place.bytes, place.requests, *pair)
        for place in statistics.per_access
        for pair in [
            (place.wavefronts, place.ideal_wavefronts)
            if place.space == "shared"
            else (place.sectors, place.dense_sectors)
        ]
    ]


def transpose(columns: int) -> str:
    return kernel(
        "%a: memref<32x32xf32>, %b: memref<32x32xf32>",
        f"""
    %x = memref.load %a[%ty, %tx] : memref<32x32xf32>
    memref.store %x, %w[%ty, %tx] : memref<32x{columns}xf32, #wg>
    gpu.barrier
    %y = memref.load %w[%tx, %ty] : memref<32x{columns}xf32, #wg>
    memref.store %y, %b[%tx, %ty] : memref<32x32xf32>
""",
        buffers=f"%w: memref<32x{columns}xf32, #wg>",
    )


@pytest.mark.parametrize(("columns", "wavefronts"), [(32, 1024), (33, 32), (34, 64), (36, 128)])
def test_bank_conflicts(columns: int, wavefronts: int) -> None:
    """A column of 32 words is in one bank; with a padded row it is in all of them."""
    a, b = aligned(32, 32), aligned(32, 32)
    statistics = count(transpose(columns), a, b, block=(32, 32, 1))
    np.testing.assert_array_equal(b, a)
    assert costs(statistics) == [
        ("global read", 4, 32, 128, 128),
        ("shared write", 4, 32, 32, 32),
        ("shared read", 4, 32, wavefronts, 32),
        ("global write", 4, 32, 1024, 128),
    ]
    assert (statistics.barriers, statistics.accesses) == (1, 4 * 1024)


def test_places() -> None:
    statistics = count(transpose(32), aligned(32, 32), aligned(32, 32), block=(32, 32, 1))
    lines = transpose(32).splitlines()
    for place, word in zip(statistics.per_access, ["load", "store"] * 2, strict=True):
        column = place.location.column - 1
        assert lines[place.location.line - 1][column:].startswith(f"memref.{word}")


COPY = kernel(
    "%a: memref<64xf32>, %b: memref<64xf32>",
    """
    %x = memref.load %a[%tx] : memref<64xf32>
    memref.store %x, %b[%tx] : memref<64xf32>
""",
)


@pytest.mark.parametrize("threads", [32, 20, 1])
def test_part_of_a_warp(threads: int) -> None:
    sectors = -(-threads // 8)
    statistics = count(COPY, aligned(64), aligned(64), block=(threads, 1, 1))
    assert costs(statistics) == [
        ("global read", 4, 1, sectors, sectors),
        ("global write", 4, 1, sectors, sectors),
    ]
    assert statistics.accesses == 2 * threads


def gather(number: int) -> str:
    return kernel(
        f"%n: memref<{number}x32xi32>, %a: memref<2048xf32>",
        f"""
    %end = arith.constant {number} : index
    scf.for %i = %c0 to %end step %c1 {{
      %x = memref.load %n[%i, %tx] : memref<{number}x32xi32>
      %p = arith.index_cast %x : i32 to index
      %y = memref.load %a[%p] : memref<2048xf32>
      memref.store %y, %w[%p] : memref<2048xf32, #wg>
    }}
    gpu.barrier
    %z = memref.load %w[%tx] : memref<2048xf32, #wg>
    memref.store %z, %a[%tx] : memref<2048xf32>
""",
        buffers="%w: memref<2048xf32, #wg>",
    )


def test_each_request_costs_what_it_touches() -> None:
    """Requests at one place that differ in lanes, or by how far they are from each other."""
    random = np.random.default_rng(7)
    row = np.arange(32)
    strided = [row * stride for stride in (1, 2, 3, 32, 33, 1)]
    shifted = [row * 2 + shift for shift in (0, 32, 64, 8, 40, 1, 33, 1024)]
    swapped = [np.roll(row, 1), row ^ 16, np.where(row == 31, 63, row), np.where(row == 5, 6, row)]
    scattered = [*random.integers(0, 2048, (8, 32))]
    places = np.array([*strided, *shifted, *swapped, *scattered, *shifted], np.int32)
    statistics = count(gather(len(places)), places, aligned(2048))
    distinct = [np.unique(one) for one in places]
    sectors = sum(len(np.unique(one // 8)) for one in distinct)
    wavefronts = sum(np.bincount(one % 32).max() for one in distinct)
    dense = sum(-(-len(one) // 8) for one in distinct)
    assert costs(statistics)[1:3] == [
        ("global read", 4, len(places), sectors, dense),
        ("shared write", 4, len(places), wavefronts, sum(-(-len(one) // 32) for one in distinct)),
    ]


@pytest.mark.parametrize("offset", [16, 64, 80])
def test_costs_do_not_depend_on_where_arrays_lie(offset: int) -> None:
    """On a GPU arrays begin at multiples of 256 bytes, wherever the host has them."""
    expected = costs(count(COPY, aligned(64), aligned(64)))
    assert costs(count(COPY, aligned(64, offset=offset), aligned(64))) == expected


def test_vectors() -> None:
    """Accesses of 16 bytes go in quarters of the warp."""
    text = kernel(
        "%a: memref<128xf32>, %b: memref<128xf32>",
        """
    %i = affine.apply affine_map<(t) -> (t * 4)>(%tx)
    %x = vector.load %a[%i] {alignment = 16} : memref<128xf32>, vector<4xf32>
    vector.store %x, %w[%i] {alignment = 16} : memref<128xf32, #wg>, vector<4xf32>
    gpu.barrier
    %j = affine.apply affine_map<(t) -> (124 - t * 4)>(%tx)
    %y = vector.load %w[%j] {alignment = 16} : memref<128xf32, #wg>, vector<4xf32>
    vector.store %y, %b[%i] {alignment = 16} : memref<128xf32>, vector<4xf32>
""",
        buffers="%w: memref<128xf32, #wg>",
    )
    assert costs(count(text, aligned(128), aligned(128))) == [
        ("global read", 16, 1, 16, 16),
        ("shared write", 16, 1, 4, 4),
        ("shared read", 16, 1, 4, 4),
        ("global write", 16, 1, 16, 16),
    ]


def test_one_word_for_all_lanes() -> None:
    text = COPY.replace("%a[%tx]", "%a[%tz]").replace("%tx =", "%tz = gpu.thread_id z\n    %tx =")
    assert costs(count(text, aligned(64), aligned(64)))[0] == ("global read", 4, 1, 1, 1)


def test_asynchronous_copies() -> None:
    text = kernel(
        "%a: memref<128xf32>, %b: memref<128xf32>",
        """
    %i = affine.apply affine_map<(t) -> (t * 4)>(%tx)
    %token = nvgpu.device_async_copy %a[%i], %w[%i], 4
        : memref<128xf32> to memref<128xf32, #wg>
    %group = nvgpu.device_async_create_group %token
    nvgpu.device_async_wait %group
    gpu.barrier
    %j = arith.subi %c31, %tx : index
    %x = memref.load %w[%j] : memref<128xf32, #wg>
    memref.store %x, %b[%tx] : memref<128xf32>
""",
        buffers="%w: memref<128xf32, #wg>",
    )
    found = costs(count(text, aligned(128), aligned(128)))
    assert ("global read", 16, 1, 16, 16) in found
    assert ("shared write", 16, 1, 4, 4) in found


@pytest.mark.parametrize(("columns", "wavefronts"), [(8, 1), (64, 8), (72, 1)])
def test_matrices(columns: int, wavefronts: int) -> None:
    """Eight rows of 16 bytes, in all banks or all in the same four."""
    memref = f"memref<8x{columns}xf16, #wg>"
    text = kernel(
        "%a: memref<32xi32>",
        f"""
    %ones = arith.constant dense<1.0> : vector<8xf16>
    %row = arith.remui %tx, %c8 : index
    %is_low = arith.cmpi ult, %tx, %c8 : index
    scf.if %is_low {{
      vector.store %ones, %m[%row, %c0] : {memref}, vector<8xf16>
    }}
    gpu.barrier
    %f = nvgpu.ldmatrix %m[%row, %c0] {{numTiles = 1 : i32, transpose = false}}
        : {memref} -> vector<1x2xf16>
    %b = vector.bitcast %f : vector<1x2xf16> to vector<1x1xi32>
    %x = vector.extract %b[0, 0] : i32 from vector<1x1xi32>
    memref.store %x, %a[%tx] : memref<32xi32>
""",
        buffers=f"%m: {memref}",
    )
    array = aligned(32, kind="i4")
    found = costs(count(text, array))
    assert (array == 0x3C003C00).all()
    reads = [
        (requests, spent, least) for name, _, requests, spent, least in found if "read" in name
    ]
    assert reads == [(1, wavefronts, 1)]
