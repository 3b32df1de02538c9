"""The streaming-K program of its thread, with schedules as a user writes them.

Two levels of K: tiles of both operands go to workgroup memory (which the thread numbers 1, L2), and
parts of them to memory of a thread (2, L1); there a thread or a warp adds to its part of the
result.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

SPACES = "from-spaces=1:workgroup,2:private"

DTYPES = {"i8": np.int8, "i32": np.int32, "f16": np.float16, "f32": np.float32}

_PROGRAM = """
func.func @main(%a: tensor<{m}x{k}x{kind}>, %b: tensor<{k}x{n}x{kind}>) -> tensor<{m}x{n}x{sum}> {{
  %zero = arith.constant {zero} : {sum}
  %empty = tensor.empty() : tensor<{m}x{n}x{sum}>
  %filled = linalg.fill ins(%zero : {sum}) outs(%empty : tensor<{m}x{n}x{sum}>)
      -> tensor<{m}x{n}x{sum}>
  %c = linalg.matmul ins(%a, %b : tensor<{m}x{k}x{kind}>, tensor<{k}x{n}x{kind}>)
      outs(%filled : tensor<{m}x{n}x{sum}>) -> tensor<{m}x{n}x{sum}>
  return %c : tensor<{m}x{n}x{sum}>
}}
"""

_SCHEDULE = """
!any = !transform.any_op
module attributes {{transform.with_named_sequence}} {{
  transform.named_sequence @__transform_main(%program: !any {{transform.consumed}}) {{
    %ops = transform.structured.match ops{{["linalg.fill", "linalg.matmul"]}} in %program
        : (!any) -> !any
    %fill, %matmul = transform.split_handle %ops : (!any) -> (!any, !any)
    // blocks
    %0, %blocks = transform.structured.tile_using_forall %matmul tile_sizes [{tm}, {tn}]
        (mapping = [#gpu.block<y>, #gpu.block<x>]) : (!any) -> (!any, !any)
    %1, %2 = transform.structured.fuse_into_containing_op %fill into %blocks
        : (!any, !any) -> (!any, !any)
    %function = transform.structured.match ops{{["func.func"]}} in %program : (!any) -> !any
    transform.apply_patterns to %function {{
      transform.apply_patterns.canonicalization
    }} : !any
    transform.apply_cse to %function : !any
    %buffers = transform.apply_registered_pass "workgroup-bufferize" to %program : (!any) -> !any
    {result}
    // the outer step of K, in workgroup memory
    %m0 = transform.structured.match ops{{["linalg.matmul"]}} in %buffers : (!any) -> !any
    %m1, %outer = transform.structured.tile_using_for %m0 tile_sizes [0, 0, {outer}]
        : (!any) -> (!any, !any)
    %m2 = transform.structured.promote %m1 {{
        operands_to_promote = [0, 1], memory_space = 1 : i64, use_full_tiles_by_default}}
        : (!any) -> !any
    // threads or warps
    %m3, %cores = transform.structured.tile_using_forall %m2 tile_sizes [{cm}, {cn}]
        (mapping = [#gpu.{core}<y>, #gpu.{core}<x>]) : (!any) -> (!any, !any)
    // the inner step of K, in memory of the thread
    %m4, %inner = transform.structured.tile_using_for %m3 tile_sizes [0, 0, {inner}]
        : (!any) -> (!any, !any)
    {copies}
    %all = transform.structured.match ops{{["func.func"]}} in %buffers : (!any) -> !any
    transform.apply_patterns to %all {{
      transform.apply_patterns.canonicalization
    }} : !any
    transform.apply_cse to %all : !any
    transform.apply_patterns to %all {{
      transform.apply_patterns.canonicalization
    }} : !any
    transform.yield
  }}
}}
"""

_RESULT = """
    %m = transform.structured.match ops{["linalg.matmul"]} in %buffers : (!any) -> !any
    %p = transform.structured.promote %m {
        operands_to_promote = [2], memory_space = 1 : i64, use_full_tiles_by_default}
        : (!any) -> !any"""

_COPIES = """
    %m5 = transform.structured.promote %m4 {{
        operands_to_promote = [{operands}], memory_space = 2 : i64}} : (!any) -> !any"""


@dataclass(frozen=True)
class Streaming:
    """A product of an `m` x `k` and a `k` x `n` matrix, and how it is tiled."""

    m: int = 128
    n: int = 64
    k: int = 512
    kind: str = "i32"
    tile: tuple[int, int] = (64, 64)
    outer: int = 256
    inner: int = 32
    core: str = "thread"
    of_core: tuple[int, int] = (4, 4)
    copied: tuple[int, ...] = (0, 1)
    """Operands that are copied to memory of the thread."""
    is_result_staged: bool = False

    @property
    def sum(self) -> str:
        return "f32" if self.kind[0] == "f" else "i32"

    @property
    def text(self) -> str:
        zero = "0.0" if self.sum[0] == "f" else "0"
        return _PROGRAM.format(
            m=self.m, n=self.n, k=self.k, kind=self.kind, sum=self.sum, zero=zero
        )

    @property
    def schedule(self) -> str:
        copies = ", ".join(map(str, self.copied))
        return _SCHEDULE.format(
            tm=self.tile[0],
            tn=self.tile[1],
            cm=self.of_core[0],
            cn=self.of_core[1],
            outer=self.outer,
            inner=self.inner,
            core=self.core,
            result=_RESULT if self.is_result_staged else "",
            copies=_COPIES.format(operands=copies) if self.copied else "",
        )

    def make_inputs(self) -> tuple[Array, Array]:
        """Return random factors without zeros, small enough for exact sums."""
        random = np.random.default_rng(17)
        dtype = DTYPES[self.kind]
        limit = {"i8": 127, "i32": 1000, "f16": 4, "f32": 8}[self.kind]

        def make(*shape: int) -> Array:
            numbers = random.integers(1, limit, shape) * random.choice([-1, 1], shape)
            array: Array = numbers.astype(dtype)
            return array

        return make(self.m, self.k), make(self.k, self.n)

    def expect(self, a: Array, b: Array) -> Array:
        return np.asarray(a.astype(np.int64) @ b.astype(np.int64)).astype(DTYPES[self.sum])


# As the thread's pipeline left it: the copies of both tiles stand in the inner loop.
DEEP = """
!a = memref<128x512xi32>
!b = memref<512x64xi32>
!c = memref<128x64xi32>
func.func @main(%a: !a, %b: !b) -> !c {
  %c = memref.alloc() : !c
  %zero = arith.constant 0 : i32
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c256 = arith.constant 256 : index
  %c512 = arith.constant 512 : index
  scf.forall (%i) in (2) {
    %row = affine.apply affine_map<(d) -> (d * 64)>(%i)
    %out = memref.subview %c[%row, 0] [64, 64] [1, 1]
        : !c to memref<64x64xi32, strided<[64, 1], offset: ?>>
    linalg.fill ins(%zero : i32) outs(%out : memref<64x64xi32, strided<[64, 1], offset: ?>>)
    scf.for %k = %c0 to %c512 step %c256 {
      %x = memref.subview %a[%row, %k] [64, 256] [1, 1]
          : !a to memref<64x256xi32, strided<[512, 1], offset: ?>>
      %y = memref.subview %b[%k, 0] [256, 64] [1, 1]
          : !b to memref<256x64xi32, strided<[64, 1], offset: ?>>
      scf.for %l = %c0 to %c256 step %c32 {
        %p = memref.alloc() : memref<64x256xi32, 1>
        linalg.copy ins(%x : memref<64x256xi32, strided<[512, 1], offset: ?>>)
            outs(%p : memref<64x256xi32, 1>)
        %q = memref.alloc() : memref<256x64xi32, 1>
        linalg.copy ins(%y : memref<256x64xi32, strided<[64, 1], offset: ?>>)
            outs(%q : memref<256x64xi32, 1>)
        scf.forall (%s, %t) in (16, 16) {
          %m = affine.apply affine_map<(d) -> (d * 4)>(%s)
          %n = affine.apply affine_map<(d) -> (d * 4)>(%t)
          %f = memref.subview %p[%m, %l] [4, 32] [1, 1]
              : memref<64x256xi32, 1> to memref<4x32xi32, strided<[256, 1], offset: ?>, 1>
          %g = memref.subview %q[%l, %n] [32, 4] [1, 1]
              : memref<256x64xi32, 1> to memref<32x4xi32, strided<[64, 1], offset: ?>, 1>
          %h = memref.subview %out[%m, %n] [4, 4] [1, 1]
              : memref<64x64xi32, strided<[64, 1], offset: ?>>
                to memref<4x4xi32, strided<[64, 1], offset: ?>>
          linalg.matmul
              ins(%f, %g : memref<4x32xi32, strided<[256, 1], offset: ?>, 1>,
                           memref<32x4xi32, strided<[64, 1], offset: ?>, 1>)
              outs(%h : memref<4x4xi32, strided<[64, 1], offset: ?>>)
        } {mapping = [#gpu.thread<y>, #gpu.thread<x>]}
        memref.dealloc %p : memref<64x256xi32, 1>
        memref.dealloc %q : memref<256x64xi32, 1>
      }
    }
  } {mapping = [#gpu.block<x>]}
  return %c : !c
}
"""


# The script of the thread up to its packing, in the words of MLIR 22; a core is a thread or a warp.
SCRIPT = """
!any = !transform.any_op
module attributes {{transform.with_named_sequence}} {{
  transform.named_sequence @cleanup(%f: !any {{transform.readonly}}) {{
    transform.apply_patterns to %f {{
      transform.apply_patterns.linalg.tiling_canonicalization
      transform.apply_patterns.scf.for_loop_canonicalization
      transform.apply_patterns.canonicalization
    }} : !any
    transform.apply_cse to %f : !any
    transform.yield
  }}
  transform.named_sequence @__transform_main(%m: !any {{transform.consumed}}) {{
    %ops = transform.structured.match ops{{["linalg.fill", "linalg.matmul"]}} in %m : (!any) -> !any
    %fill, %matmul = transform.split_handle %ops : (!any) -> (!any, !any)
    %0, %outer = transform.structured.tile_using_forall %matmul tile_sizes [64, 64]
        (mapping = [#gpu.block<y>, #gpu.block<x>]) : (!any) -> (!any, !any)
    %1, %2 = transform.structured.fuse_into_containing_op %fill into %outer
        : (!any, !any) -> (!any, !any)
    %padded, %pad, %3 = transform.structured.pad %0 {{
        padding_values = [0 : i32, 0 : i32, 0 : i32], padding_dimensions = [0, 1, 2],
        nofold_flags = [0, 0, 1], copy_back_op = "linalg.copy"}} : (!any) -> (!any, !any, !any)
    %4 = transform.structured.rewrite_in_destination_passing_style %pad : (!any) -> !any
    %5 = transform.get_producer_of_operand %padded[2] : (!any) -> !any
    %6, %7 = transform.structured.bufferize_to_allocation %5
        {{memory_space = 1, bufferize_destination_only, emit_dealloc}} : !any
    %8, %inner = transform.structured.tile_using_forall %padded tile_sizes [{cm}, {cn}]
        (mapping = [#gpu.{core}<y>, #gpu.{core}<x>]) : (!any) -> (!any, !any)
    %function = transform.structured.match ops{{["func.func"]}} in %m : (!any) -> !any
    transform.include @cleanup failures(propagate) (%function) : (!any) -> ()
    %fills = transform.structured.match ops{{["linalg.fill"]}} in %m : (!any) -> !any
    %9, %10 = transform.structured.fuse_into_containing_op %fills into %inner
        : (!any, !any) -> (!any, !any)
    %11, %12 = transform.structured.tile_using_for %8 tile_sizes [0, 0, 256]
        : (!any) -> (!any, !any)
    %13, %14 = transform.structured.tile_using_for %11 tile_sizes [0, 0, 32]
        : (!any) -> (!any, !any)
    transform.include @cleanup failures(propagate) (%function) : (!any) -> ()
    %buffers = transform.apply_registered_pass "workgroup-bufferize" to %m : (!any) -> !any
    transform.yield
  }}
}}
"""
