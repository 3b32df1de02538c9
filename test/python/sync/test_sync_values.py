"""Stores of what matrix operations made: the proof and the emulator say the same of them.

All lanes of a warp have what they read before any of them stores what the warp made of it. What is
made of something else, and what other warps read, is at odds.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pytest

import pipeline
from corpus.kernels_case import Array

ORDERS: tuple[Literal["forward", "reverse", "seeded"], ...] = ("forward", "reverse", "seeded")

HEAD = """
#wg = #gpu.address_space<workgroup>
!a = !gpu.mma_matrix<16x16xf16, "AOp">
!b = !gpu.mma_matrix<16x16xf16, "BOp">
!c = !gpu.mma_matrix<16x16xf16, "COp">
func.func @main(%m: memref<32x32xf16>, %o: memref<2x16x16xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %threads = arith.constant THREADS : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %c1, %sz = %c1) {
    %warp = arith.divui %tx, %c32 : index
    %half = arith.constant 0.5 : f16
    %constant = gpu.subgroup_mma_constant_matrix %half : !c
    BODY
    gpu.terminator
  }
  return
}
"""
COPIED = """
    %w = memref.alloca() : memref<32x32xf16, #wg>
    %copies = arith.cmpi ult, %tx, %c32 : index
    scf.if %copies {
      %row = vector.load %m[%tx, %c0] : memref<32x32xf16>, vector<32xf16>
      vector.store %row, %w[%tx, %c0] : memref<32x32xf16, #wg>, vector<32xf16>
    }
    gpu.barrier
    BODY
    gpu.barrier
    scf.if %copies {
      %row = vector.load %w[%tx, %c0] : memref<32x32xf16, #wg>, vector<32xf16>
      vector.store %row, %m[%tx, %c0] : memref<32x32xf16>, vector<32xf16>
    }
"""
Corner = tuple[int, int]
CORNERS: tuple[Corner, ...] = ((0, 0), (0, 16), (16, 0), (16, 16), (4, 0))


@dataclass(frozen=True)
class Product:
    """One or two warps multiply tiles of a matrix, and store something into it."""

    is_shared: bool = False
    warps: int = 1
    is_in_loop: bool = False
    a: Corner = (0, 0)
    b: Corner = (0, 0)
    c: Corner = (16, 16)
    stored: str = "product"
    """Or the accumulator as it was, twice that, a constant."""
    to: Corner = (0, 0)

    @property
    def text(self) -> str:
        kind = "memref<32x32xf16, #wg>" if self.is_shared else "memref<32x32xf16>"
        name = "%w" if self.is_shared else "%m"

        def at(corner: Corner) -> str:
            return f"{name}[%c{corner[0]}, %c{corner[1]}] {{leadDimension = 32 : index}}"

        body = f"""
    %a = gpu.subgroup_mma_load_matrix {at(self.a)} : {kind} -> !a
    %b = gpu.subgroup_mma_load_matrix {at(self.b)} : {kind} -> !b
    %old = gpu.subgroup_mma_load_matrix {at(self.c)} : {kind} -> !c
    %product = gpu.subgroup_mma_compute %a, %b, %old : !a, !b -> !c
    %twice = gpu.subgroup_mma_elementwise addf %old, %old : (!c, !c) -> !c
    gpu.subgroup_mma_store_matrix %product, %o[%warp, %c0, %c0] {{leadDimension = 16 : index}}
        : !c, memref<2x16x16xf16>
    gpu.subgroup_mma_store_matrix %{self.stored}, {at(self.to)} : !c, {kind}
"""
        if self.is_in_loop:
            body = f"scf.for %k = %c0 to %c2 step %c1 {{{body}}}"
        if self.is_shared:
            body = COPIED.replace("BODY", body)
        return HEAD.replace("THREADS", str(32 * self.warps)).replace("BODY", body)

    def expect(self, m: Array) -> Array:
        """Return what the matrix becomes, if there is no loop."""

        def tile(corner: Corner) -> Array:
            return m[corner[0] : corner[0] + 16, corner[1] : corner[1] + 16].astype(np.float32)

        values = {
            "product": tile(self.a) @ tile(self.b) + tile(self.c),
            "twice": 2 * tile(self.c),
            "old": tile(self.c),
            "constant": np.full((16, 16), 0.5, np.float32),
        }
        result = m.copy()
        result[self.to[0] : self.to[0] + 16, self.to[1] : self.to[1] + 16] = values[self.stored]
        return result


def make_numbers() -> Array:
    """Return numbers whose products have sums that are exact."""
    rng = np.random.default_rng(1)
    sizes = rng.integers(1, 2, (32, 32), endpoint=True)
    return np.asarray(sizes * rng.choice([-1, 1], (32, 32)), np.float16)


def find(text: str, *arguments: Array) -> set[str]:
    """Return what the emulator finds in any order of threads, with no barrier inserted."""
    module = pipeline.compile(text, sync="keep", verify=False)
    kinds: set[str] = set()
    for order in ORDERS:
        values = [value.copy() for value in arguments]
        options = pipeline.Options(check="races", order=order, workers=1)
        for report in module.emulate(*values, options=options):
            kinds |= {finding.kind for finding in report.findings}
    return kinds


def is_safe(text: str) -> bool:
    """Return what the proof says; it leaves nothing undecided here."""
    (kernel,) = pipeline.check(text).kernels
    assert kernel.verdict in {"SAFE", "RACE", "UNFIXABLE"}
    return kernel.verdict == "SAFE"


def check(product: Product) -> bool:
    """Compare the proof with the emulator, and what is right with NumPy; true if it is right."""
    m, o = make_numbers(), np.ones((2, 16, 16), np.float16)
    found = find(product.text, m, o)
    memory = "shared" if product.is_shared else "global"
    assert found <= {f"race.{memory}"}
    is_proved = is_safe(product.text)
    # Two warps that store the same are no finding, nor is it where a lane has the same elements of
    # a left operand and of a result, as on GPUs of today: the proof knows neither.
    may_hide = product.warps == 2 or product.a == product.to
    assert is_proved == (not found) or (may_hide and not is_proved), product
    if is_proved and not product.is_in_loop:
        expected = product.expect(m)
        pipeline.compile(product.text).run(m, o, check="races")
        np.testing.assert_array_equal(m, expected)
    return not found


@pytest.mark.parametrize("is_shared", [False, True], ids=["global", "workgroup"])
def test_product_over_its_operand(is_shared: bool) -> None:
    assert check(Product(is_shared))
    assert not check(Product(is_shared, warps=2))
    assert not check(Product(is_shared, is_in_loop=True))  # the next load sees the store


@pytest.mark.parametrize("is_shared", [False, True], ids=["global", "workgroup"])
def test_what_is_not_made_of_the_operand(is_shared: bool) -> None:
    assert not check(Product(is_shared, stored="constant"))
    assert not check(Product(is_shared, stored="twice"))
    assert not check(Product(is_shared, stored="old"))


@pytest.mark.parametrize("is_shared", [False, True], ids=["global", "workgroup"])
def test_fragment_over_itself(is_shared: bool) -> None:
    """Each lane stores the elements that it loaded, whatever it stores."""
    for stored in ("product", "twice", "old", "constant"):
        assert check(Product(is_shared, stored=stored, to=(16, 16)))
        assert check(Product(is_shared, stored=stored, to=(16, 16), is_in_loop=True))


def test_shifted_fragment() -> None:
    """Other lanes load what a lane stores. By 8 rows the emulator has the same ones."""
    for stored in ("twice", "old", "constant"):
        assert not check(Product(c=(0, 0), a=(0, 16), b=(0, 16), stored=stored, to=(4, 0)))
    assert check(Product(c=(0, 0), a=(0, 16), b=(0, 16), to=(4, 0)))


@pytest.mark.parametrize("seed", range(24))
def test_random_products(seed: int) -> None:
    chance = random.Random(seed)
    a, b, c, to = (chance.choice(CORNERS) for _ in range(4))
    check(
        Product(
            is_shared=chance.random() < 0.5,
            warps=chance.choice((1, 1, 1, 2)),
            is_in_loop=chance.random() < 0.3,
            a=a,
            b=b,
            c=c,
            stored=chance.choice(("product", "product", "twice", "old", "constant")),
            to=to,
        )
    )


# --- operands by the lane -------------------------------------------------------------------------

LANES = """
func.func @main(%m: memref<32x8xf16>, %o: memref<32x4xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %c31 = arith.constant 31 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %zeros = arith.constant dense<0.0> : vector<8xf16>
    %ones = arith.constant dense<1.0> : vector<2x2xf16>
    %none = arith.constant dense<0.0> : vector<2x2xf16>
    %four = arith.constant dense<4.0> : vector<4xf16>
    LOAD
    %a = vector.shape_cast %x : vector<8xf16> to vector<4x2xf16>
    %p = nvgpu.mma.sync (%a, %ones, %none) {mmaShape = [16, 8, 16]}
        : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf16>) -> vector<2x2xf16>
    %product = vector.shape_cast %p : vector<2x2xf16> to vector<4xf16>
    vector.store %product, %o[%tx, %c0] : memref<32x4xf16>, vector<4xf16>
    %own = vector.extract_strided_slice %x {offsets = [0], sizes = [4], strides = [1]}
        : vector<8xf16> to vector<4xf16>
    %sum = arith.addf %product, %four : vector<4xf16>
    %other = arith.subi %c31, %tx : index
    vector.store %STORED, %m[%other, %c0] : memref<32x8xf16>, vector<4xf16>
    gpu.terminator
  }
  return
}
"""
LOADS = {
    "all lanes": "%x = vector.load %m[%tx, %c0] : memref<32x8xf16>, vector<8xf16>",
    "some lanes": """
    %reads = arith.cmpi ult, %tx, %c16 : index
    %x = scf.if %reads -> vector<8xf16> {
      %read = vector.load %m[%tx, %c0] : memref<32x8xf16>, vector<8xf16>
      scf.yield %read : vector<8xf16>
    } else {
      scf.yield %zeros : vector<8xf16>
    }""",
}


@pytest.mark.parametrize("load", LOADS)
@pytest.mark.parametrize("stored", ["product", "sum", "own", "four"])
def test_operands_by_the_lane(load: str, stored: str) -> None:
    text = LANES.replace("LOAD", LOADS[load]).replace("STORED", stored)
    m, o = np.ones((32, 8), np.float16), np.ones((32, 4), np.float16)
    found = find(text, m, o)
    assert found == (set() if stored in ("product", "sum") else {"race.global"})
    assert is_safe(text) == (not found)
