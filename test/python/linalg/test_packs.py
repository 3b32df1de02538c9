"""linalg.pack with tiles whose size is a value, with padding and without, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import pipeline
from corpus.kernels_case import Array
from linalg.linalg_programs.program import DTYPES

SEEDS = range(10)


def pack(x: Array, tiles: dict[int, int], perm: list[int] | None, padding: float | None) -> Array:
    """Pack dimensions into tiles, which come last, in the order of `tiles`."""
    if padding is not None:
        ends = [(0, -x.shape[d] % tiles.get(d, 1)) for d in range(x.ndim)]
        x = np.pad(x, ends, constant_values=padding)
    split: list[int] = []
    for dim, size in enumerate(x.shape):
        split += [size // tiles[dim], tiles[dim]] if dim in tiles else [size]
    outer, inner, at = {}, {}, 0
    for dim in range(x.ndim):
        outer[dim] = at
        if dim in tiles:
            inner[dim] = at + 1
        at += 2 if dim in tiles else 1
    order = [outer[d] for d in (perm or range(x.ndim))] + [inner[d] for d in tiles]
    return x.reshape(split).transpose(order)


def spell(sizes: list[int | None], kind: str) -> str:
    return "tensor<" + "".join(f"{'?' if n is None else n}x" for n in sizes) + kind + ">"


@pytest.mark.parametrize("seed", SEEDS)
def test_random(seed: int) -> None:
    rng = np.random.default_rng(seed)
    kind = str(rng.choice(["f32", "f16", "i8", "i32"]))
    rank = int(rng.integers(1, 4))
    positions = [int(d) for d in rng.permutation(rank)[: rng.integers(1, rank + 1)]]
    tiles = {d: int(rng.integers(1, 6)) for d in positions}
    is_value = {d: number == 0 or rng.random() < 0.5 for number, d in enumerate(positions)}
    perm = [int(d) for d in rng.permutation(rank)] if rng.random() < 0.5 else None
    is_padded = bool(rng.random() < 0.6)
    shape = [
        int(rng.integers(1, 4)) * tiles.get(d, 1) + int(is_padded and d in tiles)
        for d in range(rank)
    ]
    unknown = rng.random(rank) < 0.4
    source = spell([None if unknown[d] else shape[d] for d in range(rank)], kind)
    outer = {
        d: None if is_value.get(d) or unknown[d] else -(-shape[d] // tiles.get(d, 1))
        for d in range(rank)
    }
    order = perm or list(range(rank))
    result = spell(
        [*(outer[d] for d in order), *(None if is_value[d] else tiles[d] for d in positions)], kind
    )
    names = {d: f"%t{d}" if is_value[d] else str(tiles[d]) for d in positions}
    lines, dims = [], []
    for d in order:
        if outer[d] is None:
            tile = names[d] if is_value.get(d) else f"%k{d}"
            lines += [
                f"%c{d} = arith.constant {d} : index",
                f"%s{d} = tensor.dim %x, %c{d} : {source}",
                f"%k{d} = arith.constant {tiles.get(d, 1)} : index",
                f"%o{d} = arith.ceildivui %s{d}, {tile} : index",
            ]
            dims.append(f"%o{d}")
    dims += [names[d] for d in positions if is_value[d]]
    arguments = "".join(f", {names[d]}: index" for d in positions if is_value[d])
    number = "3.0" if "f" in kind else "3"
    text = f"""
func.func @main(%x: {source}{arguments}) -> {result} {{
  %pad = arith.constant {number} : {kind}
  {chr(10).join(lines)}
  %e = tensor.empty({", ".join(dims)}) : {result}
  %r = linalg.pack %x {f"padding_value(%pad : {kind}) " if is_padded else ""}\
{f"outer_dims_perm = {perm} " if perm else ""}\
inner_dims_pos = {positions} inner_tiles = [{", ".join(names[d] for d in positions)}]
      into %e : {source} -> {result}
  return %r : {result}
}}
"""
    module = pipeline.compile(text, until="llvm")
    x = rng.integers(1, 9, shape).astype(DTYPES[kind])
    sizes = [np.int64(tiles[d]) for d in positions if is_value[d]]
    got = module.run(x, *sizes, check="races", workers=1)
    np.testing.assert_array_equal(got, pack(x, tiles, perm, 3 if is_padded else None))


def test_row_of_padding() -> None:
    text = """
func.func @main(%x: tensor<7x16xf32>, %t: index) -> tensor<?x16x?x1xf32> {
  %zero = arith.constant 0.0 : f32
  %c7 = arith.constant 7 : index
  %n = arith.ceildivsi %c7, %t : index
  %e = tensor.empty(%n, %t) : tensor<?x16x?x1xf32>
  %r = linalg.pack %x padding_value(%zero : f32) inner_dims_pos = [0, 1] inner_tiles = [%t, 1]
      into %e : tensor<7x16xf32> -> tensor<?x16x?x1xf32>
  return %r : tensor<?x16x?x1xf32>
}
"""
    module = pipeline.compile(text, until="llvm")
    x = np.random.default_rng(0).uniform(1, 2, (7, 16)).astype(np.float32)
    for tile in (8, 3, 1, 7):
        result = module.run(x, np.int64(tile), check="races", workers=1)
        np.testing.assert_array_equal(result, pack(x, {0: tile, 1: 1}, None, 0))
