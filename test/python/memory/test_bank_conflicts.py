"""The layouts that `workgroup-resolve-bank-conflicts` chooses, measured by the emulator."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import pipeline
from corpus.kernels_case import Array, Dim3, function, module
from pipeline.system.toolchain import find_mlir_opt, plugin_path

PASS = "workgroup-resolve-bank-conflicts"


def resolve(text: str, options: str = "") -> str:
    """Return the program `text` behind the pass."""
    outcome = subprocess.run(
        [
            find_mlir_opt(),
            f"--load-pass-plugin={plugin_path()}",
            f"--pass-pipeline=builtin.module({PASS}{{{options}}})",
        ],
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    assert outcome.returncode == 0, outcome.stderr
    return outcome.stdout


@dataclass(frozen=True)
class Tile:
    """A kernel `k` of two arrays that takes the first through a buffer into the second."""

    name: str
    buffer: str
    """The type of the buffer `%w`, without its memory space."""
    arguments: str
    body: str
    block: Dim3
    shape: Sequence[int]
    """Of the first array; `transform` makes the second of it."""
    kind: str = "f4"
    results: Sequence[int] = ()
    """Of the second array, if its shape is not that of the first reversed."""

    @property
    def text(self) -> str:
        memref = f"memref<{self.buffer}, #wg>"
        return module(
            function(
                "k",
                self.arguments,
                self.body.replace("!w", memref),
                block=self.block,
                buffers=f"%w: {memref}",
            )
        )


def random(shape: Sequence[int], kind: str) -> Array:
    """Return numbers that are all different."""
    rng = np.random.default_rng(7)
    count = int(np.prod(shape))
    bits = rng.permutation(np.arange(1, count + 1))
    return bits.reshape(shape).astype(kind)


def measure(
    text: str, tile: Tile, options: str = "resolve-bank-conflicts=false"
) -> tuple[Array, float]:
    """Return what the kernel makes of random numbers, and its wavefronts by the fewest."""
    kernel = pipeline.compile(text, until="llvm", memory_options=options).kernels["k"]
    source = random(tile.shape, tile.kind)
    result = np.zeros(tuple(tile.results or reversed(tile.shape)), tile.kind)
    launch: dict[str, Any] = {"grid": (1, 1, 1), "block": tile.block, "workers": 1}
    kernel.run(source, result, check="all", **launch)
    statistics = kernel.run(source, result.copy(), statistics=True, **launch).statistics
    assert statistics is not None
    shared = [place for place in statistics.per_access if place.space == "shared"]
    assert shared
    spent = sum(place.wavefronts for place in shared)
    return result, spent / sum(place.ideal_wavefronts for place in shared)


def transpose(rows: int, columns: int, kind: str = "f32", *, width: int = 1) -> Tile:
    """Write rows of the buffer, `width` elements at once, and read its columns."""
    threads = 256
    a, b = f"memref<{rows}x{columns}x{kind}>", f"memref<{columns}x{rows}x{kind}>"
    vector = f"vector<{width}x{kind}>"
    access = (
        f"""
      %x = memref.load %a[%r, %c] : {a}
      memref.store %x, %w[%r, %c] : !w"""
        if width == 1
        else f"""
      %x = vector.load %a[%r, %c] : {a}, {vector}
      vector.store %x, %w[%r, %c] : !w, {vector}"""
    )
    body = f"""
    scf.for %i = %tx to %c{rows * columns // width} step %c{threads} {{
      %r = affine.apply affine_map<(d0) -> (d0 * {width} floordiv {columns})>(%i)
      %c = affine.apply affine_map<(d0) -> (d0 mod {columns // width} * {width})>(%i){access}
    }}
    gpu.barrier
    scf.for %i = %tx to %c{rows * columns} step %c{threads} {{
      %c = affine.apply affine_map<(d0) -> (d0 floordiv {rows})>(%i)
      %r = affine.apply affine_map<(d0) -> (d0 mod {rows})>(%i)
      %x = memref.load %w[%r, %c] : !w
      memref.store %x, %b[%c, %r] : {b}
    }}
"""
    return Tile(
        f"transpose-{rows}x{columns}x{kind}-by-{width}",
        f"{rows}x{columns}x{kind}",
        f"%a: {a}, %b: {b}",
        body,
        (threads, 1, 1),
        (rows, columns),
        kind=f"{kind[0]}{int(kind[1:]) // 8}",
    )


def anti_diagonal() -> Tile:
    """Read a buffer whose rows are padded already along a diagonal that is in one bank."""
    body = """
    scf.for %r = %ty to %c32 step %c8 {
      %x = memref.load %a[%r, %tx] : memref<32x32xf32>
      memref.store %x, %w[%r, %tx] : !w
    }
    gpu.barrier
    %c = arith.subi %c31, %tx : index
    %x = memref.load %w[%tx, %c] : !w
    memref.store %x, %b[%ty, %tx] : memref<8x32xf32>
"""
    return Tile(
        "diagonal-32x33xf32",
        "32x33xf32",
        "%a: memref<32x32xf32>, %b: memref<8x32xf32>",
        body,
        (32, 8, 1),
        (32, 32),
        results=(8, 32),
    )


def matrices(columns: int, *, is_async: bool) -> Tile:
    """Write rows of a tile of 64 rows, 16 bytes at once, and read it by `ldmatrix`."""
    chunks, steps = columns // 8, columns // 16
    a = f"memref<64x{columns}xf16>"
    fill = (
        f"""
      %t = nvgpu.device_async_copy %a[%r, %c], %w[%r, %c], 8 {{bypassL1}} : {a} to !w
    }}
    %group = nvgpu.device_async_create_group
    nvgpu.device_async_wait %group
"""
        if is_async
        else f"""
      %x = vector.load %a[%r, %c] {{alignment = 16}} : {a}, vector<8xf16>
      vector.store %x, %w[%r, %c] : !w, vector<8xf16>
    }}
"""
    )
    body = f"""
    scf.for %i = %tx to %c{64 * chunks} step %c128 {{
      %r = affine.apply affine_map<(d0) -> (d0 floordiv {chunks})>(%i)
      %c = affine.apply affine_map<(d0) -> (d0 mod {chunks} * 8)>(%i){fill}
    gpu.barrier
    scf.for %k = %c0 to %c{steps} step %c1 {{
      %r = affine.apply affine_map<(d0) -> (d0 floordiv 32 * 16 + d0 mod 16)>(%tx)
      %c = affine.apply affine_map<(d0, d1) -> (d0 mod 32 floordiv 16 * 8 + d1 * 16)>(%tx, %k)
      %x = nvgpu.ldmatrix %w[%r, %c] {{numTiles = 4 : i32, transpose = false}}
          : !w -> vector<4x2xf16>
      %y = vector.shape_cast %x : vector<4x2xf16> to vector<8xf16>
      vector.store %y, %b[%k, %tx, %c0] : memref<{steps}x128x8xf16>, vector<8xf16>
    }}
"""
    return Tile(
        f"matrices-{columns}-{'async' if is_async else 'stores'}",
        f"64x{columns}xf16",
        f"%a: {a}, %b: memref<{steps}x128x8xf16>",
        body,
        (128, 1, 1),
        (64, columns),
        kind="f2",
        results=(steps, 128, 8),
    )


CONFLICTING = [
    transpose(32, 32),
    transpose(64, 64),
    transpose(64, 64, "f16"),
    transpose(32, 64, "f16"),
    transpose(32, 24),
    transpose(32, 40),
    transpose(32, 96),
    transpose(32, 48, "f16"),
    transpose(32, 32, width=4),
    transpose(64, 64, width=4),
    transpose(64, 64, "f16", width=8),
    anti_diagonal(),
    *(matrices(columns, is_async=way) for columns in (16, 32, 48, 64) for way in (False, True)),
]


@pytest.mark.parametrize("tile", CONFLICTING, ids=lambda tile: tile.name)
def test_conflicts_vanish(tile: Tile) -> None:
    """The layout that is chosen has no conflicts, and the kernel computes what it did."""
    expected, before = measure(tile.text, tile)
    resolved = resolve(tile.text)
    found, after = measure(resolved, tile)
    assert before > 1
    assert after == 1
    np.testing.assert_array_equal(found, expected)
    if "transpose" in tile.name:
        np.testing.assert_array_equal(found, random(tile.shape, tile.kind).T)
    assert resolve(resolved) == resolved


@pytest.mark.parametrize("tile", CONFLICTING, ids=lambda tile: tile.name)
def test_conflicts_vanish_in_the_pipeline(tile: Tile) -> None:
    """The compiler, where swizzles have to pay, leaves none of these conflicts either."""
    expected, _ = measure(tile.text, tile)
    found, after = measure(tile.text, tile, options="")
    assert after == 1
    np.testing.assert_array_equal(found, expected)


ODD = [
    transpose(32, 32, "f64"),
    transpose(64, 64, "i8"),
    transpose(1, 64),
    transpose(64, 1),
    transpose(7, 5),
    transpose(31, 34, "f16"),
    transpose(33, 12, "f64", width=4),
    transpose(16, 128, "i8", width=16),
    transpose(128, 48, "f16", width=16),
    transpose(20, 256, "f32", width=4),
]


@pytest.mark.parametrize("tile", ODD, ids=lambda tile: tile.name)
def test_no_layout_is_wrong(tile: Tile) -> None:
    """Where not all conflicts can vanish, the layout is right and no worse."""
    _, before = measure(tile.text, tile)
    resolved = resolve(tile.text)
    found, after = measure(resolved, tile)
    np.testing.assert_array_equal(found, random(tile.shape, tile.kind).T)
    assert after <= before
    assert resolve(resolved) == resolved


def test_rows_without_conflicts_stay() -> None:
    """Rows that are written and read as such have no conflicts, and nothing changes."""
    a = "memref<64x64xf16>"
    body = f"""
    scf.for %i = %tx to %c512 step %c256 {{
      %r = affine.apply affine_map<(d0) -> (d0 floordiv 8)>(%i)
      %c = affine.apply affine_map<(d0) -> (d0 mod 8 * 8)>(%i)
      %x = vector.load %a[%r, %c] : {a}, vector<8xf16>
      vector.store %x, %w[%r, %c] : !w, vector<8xf16>
    }}
    gpu.barrier
    scf.for %i = %tx to %c512 step %c256 {{
      %from = affine.apply affine_map<(d0) -> (63 - d0 floordiv 8)>(%i)
      %to = affine.apply affine_map<(d0) -> (d0 floordiv 8)>(%i)
      %c = affine.apply affine_map<(d0) -> (d0 mod 8 * 8)>(%i)
      %x = vector.load %w[%from, %c] : !w, vector<8xf16>
      vector.store %x, %b[%to, %c] : {a}, vector<8xf16>
    }}
"""
    tile = Tile("rows", "64x64xf16", f"%a: {a}, %b: {a}", body, (256, 1, 1), (64, 64), kind="f2")
    resolved = resolve(tile.text)
    assert "memref<64x64xf16, #gpu.address_space<workgroup>>" in resolved
    assert "arith.xori" not in resolved
    found, cost = measure(resolved, tile)
    assert cost == 1
    np.testing.assert_array_equal(found, random(tile.shape, tile.kind)[::-1])
