"""A kernel whose threads turn round until a tile has arrived, for the emulator."""

from __future__ import annotations

import numpy as np

from corpus.kernels_bulk import barriers, tensor_map
from corpus.kernels_case import Case, eighths, function, module

TICKS = 10_000_000
TILE = "memref<8x32xf32, #wg>"
MAP = tensor_map(TILE)

# One thread waits for the tile and sets a flag; the others turn round until they see it. It is none
# of the cases, as many of its mutants turn round until the limit of steps.
FLAG = module(
    function(
        "flag",
        f"%map: {MAP}, %out: memref<64xf32>",
        f"""
    %elected = arith.cmpi eq, %tx, %c0 : index
    %bytes = arith.constant 1024 : index
    %ticks = arith.constant {TICKS} : index
    %zeroth = arith.constant false
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %column = arith.remui %tx, %c32 : index
    %b = nvgpu.mbarrier.create -> {barriers(1)}
    %p = memref.extract_aligned_pointer_as_index %flag : memref<1xi32, #wg> -> index
    %i = arith.index_cast %p : index to i64
    %f = llvm.inttoptr %i : i64 to !llvm.ptr<3>
    scf.if %elected {{
      memref.store %zero, %flag[%c0] : memref<1xi32, #wg>
      nvgpu.mbarrier.init %b[%c0], %c1 : {barriers(1)}
      nvvm.fence.mbarrier.init
    }}
    gpu.barrier
    scf.if %elected {{
      nvgpu.mbarrier.arrive.expect_tx %b[%c0], %bytes : {barriers(1)}
      nvgpu.tma.async.load %map[%c0, %c0], %b[%c0] to %w : {MAP}, {barriers(1)} -> {TILE}
      nvgpu.mbarrier.try_wait.parity %b[%c0], %zeroth, %ticks : {barriers(1)}
      llvm.store %one, %f atomic syncscope("block") release {{alignment = 4 : i64}}
          : i32, !llvm.ptr<3>
    }} else {{
      scf.while : () -> () {{
        %x = llvm.load %f atomic syncscope("block") acquire {{alignment = 4 : i64}}
            : !llvm.ptr<3> -> i32
        %again = arith.cmpi eq, %x, %zero : i32
        scf.condition(%again)
      }} do {{
        scf.yield
      }}
    }}
    %y = memref.load %w[%c1, %column] : {TILE}
    memref.store %y, %out[%tx] : memref<64xf32>
""",
        block=(64, 1, 1),
        buffers=f"%w: {TILE}, %flag: memref<1xi32, #wg>",
    )
)

FLAG_CASE = Case(
    "flag behind a tile",
    FLAG,
    "flag",
    grid=(1, 1, 1),
    block=(64, 1, 1),
    make=lambda rng: [eighths(rng, (8, 32)), eighths(rng, 64)],
    expect=lambda x: {1: np.tile(x[0][1], 2)},
    chip="sm_90",
)
