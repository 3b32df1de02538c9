"""The kernels that `emulator_time.py` measures, and their twins for other simulators."""

from __future__ import annotations

import re

TILE = 16
"""Rows and columns of a block of the f32 kernel, which has a thread for each element."""

MMA_TILE = 64
"""Rows and columns of a block of the tensor core kernel, which has four warps."""

_HEAD = "#wg = #gpu.address_space<workgroup>\ngpu.module @kernels {\n"

_TILED = """
  gpu.func @tiled(%a: memref<SxSxf32>, %b: memref<SxSxf32>, %c: memref<SxSxf32>)
      workgroup(%as: memref<16x16xf32, #wg>, %bs: memref<16x16xf32, #wg>) kernel
      attributes {known_block_size = array<i32: 16, 16, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %depth = arith.constant S : index
    %zero = arith.constant 0.0 : f32
    %tx = gpu.thread_id x
    %ty = gpu.thread_id y
    %bx = gpu.block_id x
    %by = gpu.block_id y
    %i = affine.apply affine_map<(b, t) -> (b * 16 + t)>(%by, %ty)
    %j = affine.apply affine_map<(b, t) -> (b * 16 + t)>(%bx, %tx)
    %all = scf.for %k = %c0 to %depth step %c16 iter_args(%sum = %zero) -> f32 {
      %ka = arith.addi %k, %tx : index
      %va = memref.load %a[%i, %ka] : memref<SxSxf32>
      memref.store %va, %as[%ty, %tx] : memref<16x16xf32, #wg>
      %kb = arith.addi %k, %ty : index
      %vb = memref.load %b[%kb, %j] : memref<SxSxf32>
      memref.store %vb, %bs[%ty, %tx] : memref<16x16xf32, #wg>
      gpu.barrier
      %part = scf.for %l = %c0 to %c16 step %c1 iter_args(%old = %sum) -> f32 {
        %x = memref.load %as[%ty, %l] : memref<16x16xf32, #wg>
        %y = memref.load %bs[%l, %tx] : memref<16x16xf32, #wg>
        %xy = arith.mulf %x, %y : f32
        %new = arith.addf %old, %xy : f32
        scf.yield %new : f32
      }
      gpu.barrier
      scf.yield %part : f32
    }
    memref.store %all, %c[%i, %j] : memref<SxSxf32>
    gpu.return
  }
}
"""

OPENCL = """
__kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void tiled(__global const float *a, __global const float *b, __global float *c)
{
  __local float as[16][16];
  __local float bs[16][16];
  const size_t tx = get_local_id(0), ty = get_local_id(1);
  const size_t i = get_group_id(1) * 16 + ty, j = get_group_id(0) * 16 + tx;
  float sum = 0.0f;
  for (size_t k = 0; k < SIZE; k += 16) {
    as[ty][tx] = a[i * SIZE + k + tx];
    bs[ty][tx] = b[(k + ty) * SIZE + j];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t l = 0; l < 16; ++l)
      sum += as[ty][l] * bs[l][tx];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[i * SIZE + j] = sum;
}
"""
"""The f32 kernel for Oclgrind; SIZE stands for the size of the matrices."""

NUMBA = """
import sys
import time
import warnings

warnings.simplefilter("ignore")
import numpy as np
from numba import cuda, float32

size, side = map(int, sys.argv[1:])


@cuda.jit
def tiled(a, b, c):
    shared_a = cuda.shared.array((16, 16), float32)
    shared_b = cuda.shared.array((16, 16), float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    i = cuda.blockIdx.y * 16 + ty
    j = cuda.blockIdx.x * 16 + tx
    total = float32(0)
    for k in range(0, size, 16):
        shared_a[ty, tx] = a[i, k + tx]
        shared_b[ty, tx] = b[k + ty, j]
        cuda.syncthreads()
        for l in range(16):
            total += shared_a[ty, l] * shared_b[l, tx]
        cuda.syncthreads()
    c[i, j] = total


rng = np.random.default_rng(0)
a, b = ((rng.integers(-16, 17, (size, size)) / 8).astype(np.float32) for _ in "ab")
c = np.zeros((side * 16, side * 16), np.float32)
start = time.perf_counter()
tiled[(side, side), (16, 16)](a, b, c)
seconds = time.perf_counter() - start
np.testing.assert_array_equal(c, (a @ b)[: side * 16, : side * 16])
print(seconds)
"""
"""A program that runs the f32 kernel in Numba's simulator on SIZE and SIDE * SIDE blocks."""


def tiled_matmul(size: int) -> str:
    """Return kernel `tiled`, the product of square f32 matrices, a block for 16x16 elements."""
    assert size % TILE == 0
    return _HEAD + re.sub(r"\bSxS|\bS\b", lambda m: m[0].replace("S", str(size)), _TILED) + "\n"


def tensor_matmul(size: int, step: int = 64) -> str:
    """Return kernel `tensor`, the product of square f16 matrices in f32, by mma.sync.

    A block makes 64x64 elements, each of its four warps 32x32. Slices of `step` columns of A and
    rows of B come to workgroup memory by cp.async, the next one while this one is multiplied, and
    to registers by ldmatrix.
    """
    assert size % MMA_TILE == 0
    assert size % step == 0
    assert step % 16 == 0
    types = _types(size, step)
    lines = [*_opening(size, step), *_slices(step), *_stores(), "gpu.return", "}"]
    text = "\n".join(lines)
    names = "|".join(types)
    return _HEAD + re.sub(rf"\b({names})\b", lambda match: types[match[0]], text) + "\n}\n"


def _types(size: int, step: int) -> dict[str, str]:
    """Return the types, by the names that they have in what follows."""
    return {
        "GLOBAL": f"memref<{size}x{size}xf16>",
        "AS": f"memref<2x64x{step + 8}xf16, #wg>",
        "BS": f"memref<2x{step}x72xf16, #wg>",
        "RESULT": f"memref<{size}x{size}xf32>",
        "FRAGMENT": "vector<4x2xf16>",
        "HALF": "vector<2x2xf16>",
        "SUM": "vector<2x2xf32>",
    }


def _opening(size: int, step: int) -> list[str]:
    """Return the head of the kernel, and what all of it uses."""
    return [
        "gpu.func @tensor(%a: GLOBAL, %b: GLOBAL, %c: RESULT)",
        "    workgroup(%as: AS {llvm.align = 16 : i64}, %bs: BS {llvm.align = 16 : i64}) kernel",
        "    attributes {known_block_size = array<i32: 128, 1, 1>} {",
        "%lanes = arith.constant 32 : index",
        *(f"%c{n} = arith.constant {n} : index" for n in sorted({0, 1, 16, step})),
        f"%depth = arith.constant {size} : index",
        "%zero = arith.constant dense<0.0> : SUM",
        "%tx = gpu.thread_id x",
        "%bx = gpu.block_id x",
        "%by = gpu.block_id y",
        "%lane = arith.remui %tx, %lanes : index",
        "%warp = arith.divui %tx, %lanes : index",
    ]


def _slices(step: int) -> list[str]:
    """Return the loop over slices, with the copies of the first one before it."""
    sums = [f"s{i}{j}" for i in range(2) for j in range(4)]
    carried = ", ".join(f"%{sum} = %zero" for sum in sums)
    inner = ", ".join(f"%t{sum} = %{sum}" for sum in sums)
    kinds = ", ".join(["SUM"] * 8)
    return [
        *_copies("0", "%c0", "%c0", step),
        "%first = nvgpu.device_async_create_group {}",
        f"%all:8 = scf.for %k = %c0 to %depth step %c{step}",
        f"    iter_args({carried}) -> ({kinds}) {{",
        f"  %slot = affine.apply affine_map<(k) -> (k floordiv {step} mod 2)>(%k)",
        "  %free = arith.subi %c1, %slot : index",
        f"  %next = arith.addi %k, %c{step} : index",
        "  %more = arith.cmpi ult, %next, %depth : index",
        "  scf.if %more {",
        *_copies("1", "%free", "%next", step),
        "  }",
        "  %group = nvgpu.device_async_create_group {}",
        "  nvgpu.device_async_wait %group {numGroups = 1 : i32}",
        "  gpu.barrier",
        f"  %part:8 = scf.for %l = %c0 to %c{step} step %c16 iter_args({inner}) -> ({kinds}) {{",
        *_products(),
        "    scf.yield " + ", ".join(f"%n{sum}" for sum in sums) + f" : {kinds}",
        "  }",
        "  gpu.barrier",
        "  scf.yield " + ", ".join(f"%part#{n}" for n in range(8)) + f" : {kinds}",
        "}",
    ]


def _copies(tag: str, slot: str, k: str, step: int) -> list[str]:
    """Return the copies of a slice from column or row `k` on to one of the two buffers."""
    lines = []
    for n in range(step // 16):
        first, row = n * 128, step // 8
        names = {name: f"%{name}{tag}{n}" for name in ("ai", "aj", "ag", "ah", "at")}
        ai, aj, ag, ah, at = names.values()
        bi, bj, bg, bh, bt = (name.replace("%a", "%b") for name in names.values())
        lines += [
            f"{ai} = affine.apply affine_map<(t) -> ((t + {first}) floordiv {row})>(%tx)",
            f"{aj} = affine.apply affine_map<(t) -> ((t + {first}) mod {row} * 8)>(%tx)",
            f"{ag} = affine.apply affine_map<(b, i) -> (b * 64 + i)>(%by, {ai})",
            f"{ah} = arith.addi {k}, {aj} : index",
            f"{at} = nvgpu.device_async_copy %a[{ag}, {ah}], %as[{slot}, {ai}, {aj}], 8"
            " {bypassL1} : GLOBAL to AS",
            f"{bi} = affine.apply affine_map<(t) -> ((t + {first}) floordiv 8)>(%tx)",
            f"{bj} = affine.apply affine_map<(t) -> ((t + {first}) mod 8 * 8)>(%tx)",
            f"{bg} = arith.addi {k}, {bi} : index",
            f"{bh} = affine.apply affine_map<(b, j) -> (b * 64 + j)>(%bx, {bj})",
            f"{bt} = nvgpu.device_async_copy %b[{bg}, {bh}], %bs[{slot}, {bi}, {bj}], 8"
            " {bypassL1} : GLOBAL to BS",
        ]
    return lines


def _products() -> list[str]:
    """Return what a warp does with 16 columns of A and rows of B, from `%l` on."""
    lines = [
        "%ka = affine.apply affine_map<(k, l) -> (k + l floordiv 16 * 8)>(%l, %lane)",
        "%kb = affine.apply affine_map<(k, l) -> (k + l mod 16)>(%l, %lane)",
    ]
    for n in range(2):
        lines += [
            f"%i{n} = affine.apply affine_map<(w, l) -> (w floordiv 2 * 32 + {n * 16} + l mod 16)>"
            "(%warp, %lane)",
            f"%a{n} = nvgpu.ldmatrix %as[%slot, %i{n}, %ka] {{numTiles = 4 : i32, "
            "transpose = false} : AS -> FRAGMENT",
            f"%j{n} = affine.apply affine_map<(w, l) -> (w mod 2 * 32 + {n * 16} + "
            "l floordiv 16 * 8)>(%warp, %lane)",
            f"%b{n} = nvgpu.ldmatrix %bs[%slot, %kb, %j{n}] {{numTiles = 4 : i32, "
            "transpose = true} : BS -> FRAGMENT",
        ]
        lines += [
            f"%b{n}{half} = vector.extract_strided_slice %b{n} {{offsets = [{half * 2}], "
            "sizes = [2], strides = [1]} : FRAGMENT to HALF"
            for half in range(2)
        ]
    lines += [
        f"%ns{i}{j} = nvgpu.mma.sync (%a{i}, %b{j // 2}{j % 2}, %ts{i}{j}) "
        "{mmaShape = [16, 8, 16]} : (FRAGMENT, HALF, SUM) -> SUM"
        for i in range(2)
        for j in range(4)
    ]
    return lines


def _stores() -> list[str]:
    """Return the stores of the elements that a thread has."""
    lines = []
    for j in range(4):
        lines.append(
            f"%y{j} = affine.apply affine_map<(b, w, l) -> (b * 64 + w mod 2 * 32 + {j * 8} + "
            "l mod 4 * 2)>(%bx, %warp, %lane)"
        )
    for i in range(2):
        for half in range(2):
            row = f"%x{i}{half}"
            lines.append(
                f"{row} = affine.apply affine_map<(b, w, l) -> (b * 64 + w floordiv 2 * 32 + "
                f"{i * 16 + half * 8} + l floordiv 4)>(%by, %warp, %lane)"
            )
            for j in range(4):
                value = f"%v{i}{half}{j}"
                lines += [
                    f"{value} = vector.extract %all#{i * 4 + j}[{half}] : vector<2xf32> from SUM",
                    f"vector.store {value}, %c[{row}, %y{j}] : RESULT, vector<2xf32>",
                ]
    return lines
