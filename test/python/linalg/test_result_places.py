"""Results that are laid out in blocks, or of which a part is written, against NumPy.

Random programs: the loops of a result are put into a few of its dimensions, in any order, each
dimension from an offset and in steps; some also sum along loops of their own.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import pipeline
from corpus.kernels_case import Array
from linalg.linalg_programs.program import DTYPES

SEEDS = range(12)


@dataclass(frozen=True)
class Blocks:
    """A sum, or a copy, whose result has several loops in a dimension."""

    extents: tuple[int, ...]
    dims: tuple[tuple[int, ...], ...]
    """The loops that go along each dimension of the result, the outermost first."""
    offsets: tuple[int, ...]
    strides: tuple[int, ...]
    rests: tuple[int, ...]
    """What is behind the last element that is written."""
    num_sums: int
    unknown: frozenset[int]
    """Loops the extents of which only the launch knows."""
    kind: str = "f32"

    @property
    def sums(self) -> range:
        return range(len(self.extents) - self.num_sums, len(self.extents))

    def factors(self, dim: int) -> dict[int, int]:
        factor, factors = self.strides[dim], {}
        for loop in reversed(self.dims[dim]):
            factors[loop] = factor
            factor *= self.extents[loop]
        return factors

    def size(self, dim: int) -> int:
        count = int(np.prod([self.extents[loop] for loop in self.dims[dim]]))
        return self.offsets[dim] + (count - 1) * self.strides[dim] + 1 + self.rests[dim]

    def print(self) -> str:
        names = [f"d{loop}" for loop in range(len(self.extents))]
        loops = ", ".join(names)
        indices = [
            " + ".join([*(f"d{loop} * {f}" for loop, f in self.factors(dim).items()), str(offset)])
            for dim, offset in enumerate(self.offsets)
        ]
        of_input = "x".join(
            "?" if loop in self.unknown else str(extent) for loop, extent in enumerate(self.extents)
        )
        of_result = "x".join(
            "?" if set(self.dims[dim]) & self.unknown else str(self.size(dim))
            for dim in range(len(self.dims))
        )
        kinds = ", ".join(
            '"reduction"' if loop in self.sums else '"parallel"'
            for loop in range(len(self.extents))
        )
        x, r = f"tensor<{of_input}x{self.kind}>", f"tensor<{of_result}x{self.kind}>"
        add = "arith.addf" if "f" in self.kind else "arith.addi"
        body = f"%s = {add} %a, %o : {self.kind}\n    " if self.num_sums else ""
        return f"""
func.func @main(%x: {x}, %e: {r}) -> {r} {{
  %r = linalg.generic {{indexing_maps = [affine_map<({loops}) -> ({loops})>,
      affine_map<({loops}) -> ({", ".join(indices)})>], iterator_types = [{kinds}]}}
      ins(%x : {x}) outs(%e : {r}) {{
  ^bb0(%a: {self.kind}, %o: {self.kind}):
    {body}linalg.yield {"%s" if self.num_sums else "%a"} : {self.kind}
  }} -> {r}
  return %r : {r}
}}
"""

    def compute(self, x: Array, start: Array) -> Array:
        result = start.copy()
        grid = np.indices(self.extents)
        places = tuple(
            sum((grid[loop] * f for loop, f in self.factors(dim).items()), start=grid[0] * 0)
            + offset
            for dim, offset in enumerate(self.offsets)
        )
        if self.num_sums:
            np.add.at(result, places, x)
        else:
            result[places] = x
        return result


def make(seed: int) -> Blocks:
    rng = np.random.default_rng(seed)
    num_sums = int(rng.integers(0, 2))
    loops = [int(loop) for loop in rng.permutation(rng.integers(2, 5))]
    cuts = sorted(rng.integers(0, len(loops) + 1, rng.integers(0, 3)))
    dims = tuple(
        tuple(loops[begin:end]) for begin, end in itertools.pairwise([0, *cuts, len(loops)])
    )
    is_part = rng.random() < 0.5
    counts = tuple(int(n) for n in rng.integers(0, 3, len(dims)) * is_part)
    strides = tuple(int(n) for n in 1 + (rng.random(len(dims)) < 0.3) * is_part)
    rests = tuple(int(n) for n in rng.integers(0, 3, len(dims)) * is_part)
    rests = tuple(  # a loop by itself goes through all of a dimension
        rest if len(dim) != 1 or count or stride > 1 else 0
        for dim, rest, count, stride in zip(dims, rests, counts, strides, strict=True)
    )
    unknown = {dim[0] for dim in dims if dim and rng.random() < 0.4}
    extents = rng.integers(1, 7, len(loops) + num_sums)
    return Blocks(
        extents=tuple(int(n) for n in extents),
        dims=dims,
        offsets=counts,
        strides=strides,
        rests=rests,
        num_sums=num_sums,
        unknown=frozenset(unknown),
        kind=str(rng.choice(["f32", "f16", "i8", "i32", "f64"])),
    )


def numbers(rng: np.random.Generator, shape: tuple[int, ...], kind: str) -> Array:
    return np.asarray(rng.integers(1, 6, shape) * rng.choice([-1, 1], shape), DTYPES[kind])


def check(program: Blocks, seed: int = 0) -> None:
    rng = np.random.default_rng(seed)
    module = pipeline.compile(program.print(), until="llvm")
    x = numbers(rng, program.extents, program.kind)
    shape = tuple(program.size(dim) for dim in range(len(program.dims)))
    start = numbers(rng, shape, program.kind)
    result = module.run(x, start, check="races", workers=1)
    np.testing.assert_array_equal(result, program.compute(x, start))


@pytest.mark.parametrize("seed", SEEDS)
def test_random(seed: int) -> None:
    check(make(seed), seed)


PLAIN: dict[str, Any] = {"offsets": (0, 0), "strides": (1, 1), "rests": (0, 0)}


@pytest.mark.parametrize("unknown", [(), (0,), (0, 1)])
@pytest.mark.parametrize("num_sums", [0, 1])
def test_tiles(unknown: tuple[int, ...], num_sums: int) -> None:
    extents = (5, 7, 2, 4, 3)[: 4 + num_sums]
    check(Blocks(extents, ((0, 2), (1, 3)), num_sums=num_sums, unknown=frozenset(unknown), **PLAIN))


def test_empty_start() -> None:
    """As front ends write unpacking, into a tensor without elements of its own."""
    text = """
#x = affine_map<(i, j, k, l) -> (i, j, k, l)>
#r = affine_map<(i, j, k, l) -> (i * 2 + k, j * 2 + l)>
func.func @main(%x: tensor<3x8x2x2xf32>) -> tensor<6x16xf32> {
  %e = tensor.empty() : tensor<6x16xf32>
  %r = linalg.generic {indexing_maps = [#x, #r],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<3x8x2x2xf32>) outs(%e : tensor<6x16xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<6x16xf32>
  return %r : tensor<6x16xf32>
}
"""
    module = pipeline.compile(text, until="llvm")
    assert len(module.kernels) == 1
    x = np.random.default_rng(1).uniform(1, 2, (3, 8, 2, 2)).astype(np.float32)
    result = module.run(x, check="races", workers=1)
    np.testing.assert_array_equal(result, x.transpose(0, 2, 1, 3).reshape(6, 16))


def test_product_of_rows_and_tiles() -> None:
    """A matrix by one in tiles, the result a matrix."""
    text = """
#a = affine_map<(m, n, l, k, h) -> (m, k * 4 + h)>
#b = affine_map<(m, n, l, k, h) -> (n, k, h, l)>
#c = affine_map<(m, n, l, k, h) -> (m, n * 8 + l)>
func.func @main(%a: tensor<?x12xf32>, %b: tensor<5x3x4x8xf32>, %c: tensor<?x40xf32>)
    -> tensor<?x40xf32> {
  %r = linalg.generic {indexing_maps = [#a, #b, #c],
      iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %b : tensor<?x12xf32>, tensor<5x3x4x8xf32>) outs(%c : tensor<?x40xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<?x40xf32>
  return %r : tensor<?x40xf32>
}
"""
    module = pipeline.compile(text, until="llvm")
    rng = np.random.default_rng(3)
    a, b, c = (
        rng.integers(-3, 4, shape).astype(np.float32) for shape in ((9, 12), (5, 3, 4, 8), (9, 40))
    )
    result = module.run(a, b, c, check="races", workers=1)
    matrix = b.transpose(1, 2, 0, 3).reshape(12, 40)
    np.testing.assert_array_equal(result, c + a @ matrix)


def test_part_of_a_buffer() -> None:
    """What is not written keeps what the buffer had."""
    text = """
func.func @main(%x: memref<8xf32>, %y: memref<8x3xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i, 1)>],
      iterator_types = ["parallel"]} ins(%x : memref<8xf32>) outs(%y : memref<8x3xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  return
}
"""
    module = pipeline.compile(text, until="llvm")
    x = np.arange(1, 9, dtype=np.float32)
    y = np.full((8, 3), 7, np.float32)
    module.run(x, y, check="races", workers=1)
    np.testing.assert_array_equal(y, np.stack([np.full(8, 7), x, np.full(8, 7)], 1))


REFUSED = """
func.func @main(%x: tensor<{x}xf32>, %e: tensor<{r}xf32>) -> tensor<{r}xf32> {{
  %r = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}
      ins(%x : tensor<{x}xf32>) outs(%e : tensor<{r}xf32>) {{
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }} -> tensor<{r}xf32>
  return %r : tensor<{r}xf32>
}}
"""


@pytest.mark.parametrize(
    ("x", "r", "index", "why"),
    [
        ("4x4", "10", "i * 2 + j", "its index d0 * 2 + d1 may reach an element twice"),
        ("4x2", "14", "i * 4 + j", "its index d0 * 4 + d1 may reach an element twice"),
        ("4x?", "?", "i * 2 + j", "its index d0 * 2 + d1 may reach an element twice"),
        ("4x2", "4x2", "3 - i, j", "its index -d0 + 3 is no sum of loops in steps"),
        ("4x2", "4x4", "i, i", "a loop is in two of its indices"),
        ("4x2", "4", "i", "the iterations of the parallel loop d1 write to the same place"),
    ],
)
def test_refused(x: str, r: str, index: str, why: str) -> None:
    text = REFUSED.format(
        x=x,
        r=r,
        maps=f"affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ({index})>",
        kinds='"parallel", "parallel"',
    )
    start = f"'linalg.generic' op does not write each element of its result #0 once: {why}"
    with pytest.raises(pipeline.CompileError) as caught:
        pipeline.compile(text, until="llvm")
    errors: list[Any] = [item for item in caught.value.diagnostics if item.severity == "error"]
    assert errors[0].message.startswith(start)
    assert errors[0].location.line == 3
