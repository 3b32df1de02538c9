"""Products of blocks, warps and lanes: who is which lane, for blocks of any shape."""

from __future__ import annotations

import numpy as np
import pytest

import pipeline

# A block multiplies 32x32 tiles in steps of 32; four warps have 16x16 of it each.
PROGRAM = """
#wg = #gpu.address_space<workgroup>
!tile = memref<32x32x{sum}, strided<[64, 1], offset: ?>>
!part = memref<16x16x{sum}, strided<[64, 1], offset: ?>>
func.func @main(%a: memref<64x96x{kind}>, %b: memref<96x64x{kind}>, %c: memref<64x64x{sum}>) {{
  %zero = arith.constant {zero} : {sum}
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %c96 = arith.constant 96 : index
  %x = arith.constant {x} : index
  %y = arith.constant {y} : index
  %z = arith.constant {z} : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c2, %gy = %c2, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %x, %sy = %y, %sz = %z) {{
    %i = affine.apply affine_map<(d) -> (d * 32)>(%by)
    %j = affine.apply affine_map<(d) -> (d * 32)>(%bx)
    %out = memref.subview %c[%i, %j] [32, 32] [1, 1] : memref<64x64x{sum}> to !tile
    linalg.fill ins(%zero : {sum}) outs(%out : !tile)
    %p = memref.alloc() : memref<32x32x{kind}, #wg>
    %q = memref.alloc() : memref<32x32x{kind}, #wg>
    scf.for %k = %c0 to %c96 step %c32 {{
      %u = memref.subview %a[%i, %k] [32, 32] [1, 1]
          : memref<64x96x{kind}> to memref<32x32x{kind}, strided<[96, 1], offset: ?>>
      %v = memref.subview %b[%k, %j] [32, 32] [1, 1]
          : memref<96x64x{kind}> to memref<32x32x{kind}, strided<[64, 1], offset: ?>>
      memref.copy %u, %p
          : memref<32x32x{kind}, strided<[96, 1], offset: ?>> to memref<32x32x{kind}, #wg>
      memref.copy %v, %q
          : memref<32x32x{kind}, strided<[64, 1], offset: ?>> to memref<32x32x{kind}, #wg>
      scf.forall (%w, %l) in (2, 2) {{
        %m = affine.apply affine_map<(d) -> (d * 16)>(%w)
        %n = affine.apply affine_map<(d) -> (d * 16)>(%l)
        %f = memref.subview %p[%m, 0] [16, 32] [1, 1] : memref<32x32x{kind}, #wg>
            to memref<16x32x{kind}, strided<[32, 1], offset: ?>, #wg>
        %g = memref.subview %q[0, %n] [32, 16] [1, 1] : memref<32x32x{kind}, #wg>
            to memref<32x16x{kind}, strided<[32, 1], offset: ?>, #wg>
        %h = memref.subview %out[%m, %n] [16, 16] [1, 1] : !tile to !part
        linalg.matmul
            ins(%f, %g : memref<16x32x{kind}, strided<[32, 1], offset: ?>, #wg>,
                         memref<32x16x{kind}, strided<[32, 1], offset: ?>, #wg>)
            outs(%h : !part)
      }} {{mapping = [#gpu.warp<linear_dim_1>, #gpu.warp<linear_dim_0>]}}
    }}
    gpu.terminator
  }}
  return
}}
"""

SHAPES = [(128, 1, 1), (64, 2, 1), (32, 2, 2), (16, 8, 1), (8, 4, 4)]


@pytest.mark.parametrize(("kind", "sum_"), [("f32", "f32"), ("i8", "i32"), ("f16", "f32")])
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: "x".join(map(str, shape)))
def test_lanes(shape: tuple[int, int, int], kind: str, sum_: str) -> None:
    """Each lane has eight sums in registers, and stores them once."""
    zero = "0" if sum_ == "i32" else "0.0"
    x, y, z = shape
    text = PROGRAM.format(kind=kind, sum=sum_, zero=zero, x=x, y=y, z=z)
    module = pipeline.compile(text)
    assert ".local" not in module.ptx
    assert any("shared out to threads" in str(remark) for remark in module.remarks)
    random = np.random.default_rng(5)
    dtype = {"f32": np.float32, "i8": np.int8, "f16": np.float16}[kind]
    a, b = (
        (random.integers(1, 8, size) * random.choice([-1, 1], size)).astype(dtype)
        for size in ((64, 96), (96, 64))
    )
    c = np.full((64, 64), 77, np.int32 if sum_ == "i32" else np.float32)
    for order in ("forward", "reverse"):
        module.run(a, b, c, backend="emulator", check="all", order=order, workers=1)
        np.testing.assert_array_equal(c, (a.astype(np.int64) @ b.astype(np.int64)).astype(c.dtype))
    options = pipeline.Options(statistics=True, workers=1)
    (report,) = module.emulate(a, b, c, options=options)
    assert report.statistics is not None
    stores = [
        place.bytes * place.accesses
        for place in report.statistics.per_access
        if (place.space, place.kind) == ("global", "write")
    ]
    assert sum(stores) == c.nbytes


def test_half_a_warp() -> None:
    """Three warps go through four parts: nothing is kept from step to step, and lanes race."""
    text = PROGRAM.format(kind="f32", sum="f32", zero="0.0", x=96, y=1, z=1)
    with pytest.raises(pipeline.CompileError, match="cannot synchronize"):
        pipeline.compile(text)
