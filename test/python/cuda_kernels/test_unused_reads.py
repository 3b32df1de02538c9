"""What is read and nothing follows from: it races, in MLIR as in CUDA C++, and costs nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import pipeline
from pipeline.errors import ToolError
from pipeline.system import clang
from support.command_line import call

if TYPE_CHECKING:
    from pathlib import Path

THREADS = 64

MLIR = """
gpu.module @kernels {{
  gpu.func @kernel(%in: memref<64x{type}>, %out: memref<64x{type}>)
      workgroup(%tile: memref<64x{type}, #gpu.address_space<workgroup>>)
      kernel attributes {{known_block_size = array<i32: 64, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %last = arith.constant 63 : index
    %thread = gpu.thread_id x
    %mirror = arith.subi %last, %thread : index
    %own = memref.load %in[%thread] : memref<64x{type}>
    memref.store %own, %tile[%thread] : memref<64x{type}, #gpu.address_space<workgroup>>
    {barrier}
    {read}
    memref.store %own, %out[%thread] : memref<64x{type}>
    gpu.return
  }}
}}
"""
TILE = "%tile[%mirror] : memref<64x{type}, #gpu.address_space<workgroup>>"
VALUE = f"%value = memref.load {TILE}\n"
READS = {
    "alone": VALUE,
    "computed with": VALUE + "%sum = {add} %value, %value : {type}",
    "summed by a loop": "%sum = scf.for %i = %c0 to %c2 step %c1 iter_args(%before = %own)"
    f" -> ({{type}}) {{{{\n{VALUE}"
    "%after = {add} %before, %value : {type}\nscf.yield %after : {type}\n}}",
    "in a branch": f"%is = arith.cmpi ult, %thread, %c2 : index\nscf.if %is {{{{\n{VALUE}}}}}",
    "put into a variable": "%variable = memref.alloca() : memref<{type}>\n"
    + VALUE
    + "memref.store %value, %variable[] : memref<{type}>",
    "as a vector": f"%value = vector.load {TILE}, vector<1x{{type}}>",
    "as a matrix": "%zero = {zero}\n"
    "%rows = memref.expand_shape %tile [[0, 1]] output_shape [8, 8] : "
    "memref<64x{type}, #gpu.address_space<workgroup>> into "
    "memref<8x8x{type}, #gpu.address_space<workgroup>>\n"
    "%value = vector.transfer_read %rows[%c0, %c0], %zero {{in_bounds = [true, true]}} : "
    "memref<8x8x{type}, #gpu.address_space<workgroup>>, vector<2x2x{type}>",
}
ADDS = {"f32": "arith.addf", "i8": "arith.addi", "index": "arith.addi", "f8E4M3FN": ""}
KERNELS = (
    [(read, "f32") for read in READS]
    + [(read, "i8") for read in ("alone", "as a vector", "as a matrix")]
    + [(read, "index") for read in ("alone", "summed by a loop", "as a vector")]
    + [("alone", "f8E4M3FN"), ("as a vector", "f8E4M3FN")]
)


def write(read: str, kind: str, *, has_barrier: bool) -> str:
    """Return a kernel in which each thread reads what another has put into the tile."""
    zero = f"arith.constant 0{'.0' * kind.startswith('f')} : {kind}"
    words = {"type": kind, "add": ADDS[kind], "zero": zero}
    barrier = "gpu.barrier" if has_barrier else ""
    return MLIR.format(read=READS[read].format(**words), barrier=barrier, **words)


def values(kind: str) -> list[np.ndarray]:
    """Return the arguments of a kernel."""
    types = {"f32": np.float32, "i8": np.int8, "index": np.int64, "f8E4M3FN": np.uint8}
    return [np.ones(THREADS, types[kind]) for _ in range(2)]


def explore(text: str, kind: str) -> tuple[str, set[str]]:
    """Return the verdict on a kernel, and the kinds of what the emulator finds."""
    report = pipeline.check(text, kernel="kernel", grid=1, orders="both", arguments=values(kind))
    assert report.exploration
    return report.kernels[0].verdict, {item.kind for item in report.exploration.findings}


@pytest.mark.parametrize(("read", "kind"), KERNELS)
def test_a_read_that_nothing_follows_from_races(read: str, kind: str) -> None:
    verdict, found = explore(write(read, kind, has_barrier=False), kind)
    assert verdict in ("RACE", "MAYBE")
    assert found == {"race.shared"}


@pytest.mark.parametrize(("read", "kind"), KERNELS)
def test_with_a_barrier_it_does_not(read: str, kind: str) -> None:
    verdict, found = explore(write(read, kind, has_barrier=True), kind)
    assert (verdict, found) == ("SAFE", set())


@pytest.mark.parametrize("read", READS)
def test_it_costs_nothing(read: str) -> None:
    text = write(read, "f32", has_barrier=True)
    kept = pipeline.compile(text, keep_reads=True).ptx
    assert kept == pipeline.compile(text).ptx
    assert kept.count("ld.shared") == 0


LAUNCH = """
func.func @main(%in: memref<64xf32>, %out: memref<64xf32>) {{
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1)
             workgroup(%tile : memref<64xf32, 3>) {{
    %last = arith.constant 63 : index
    %mirror = arith.subi %last, %tx : index
    %own = memref.load %in[%tx] : memref<64xf32>
    memref.store %own, %tile[%tx] : memref<64xf32, 3>
    {barrier}
    %value = memref.load %tile[%mirror] : memref<64xf32, 3>
    memref.store %own, %out[%tx] : memref<64xf32>
    gpu.terminator
  }}
  return
}}
"""
LOOP = """
func.func @main(%data: memref<64xf32>, %out: memref<64xf32>) {{
  scf.forall (%block) in (2) {{
    scf.forall (%thread) in (32) {{
      %last = arith.constant {last} : index
      %mirror = arith.subi %last, %thread : index
      %begin = affine.apply affine_map<(b) -> (b * 32)>(%block)
      %place = arith.addi %begin, %thread : index
      %other = arith.addi %begin, %mirror : index
      %one = arith.constant 1.0 : f32
      memref.store %one, %data[%place] : memref<64xf32>
      %value = memref.load %data[%other] : memref<64xf32>
      memref.store %one, %out[%place] : memref<64xf32>
    }} {{mapping = [#gpu.thread<x>]}}
  }} {{mapping = [#gpu.block<x>]}}
  return
}}
"""


def run(text: str, tmp_path: Path) -> int:
    """Return how a run on the emulator with checks for races ends."""
    program = tmp_path / "program.mlir"
    program.write_text(text)
    options = ("--random", "0", "--backend", "emulator", "--check-races", "--sync", "keep")
    return call("run", str(program), "--no-verify", *options).code


def test_in_a_launch(tmp_path: Path) -> None:
    assert run(LAUNCH.format(barrier=""), tmp_path) == 1
    assert run(LAUNCH.format(barrier="gpu.barrier"), tmp_path) == 0


def test_in_loops_over_threads(tmp_path: Path) -> None:
    assert run(LOOP.format(last=31), tmp_path) == 1
    own = LOOP.format(last=31).replace("%data[%other]", "%data[%place]")
    assert run(own, tmp_path) == 0


CUDA = """
__global__ void kernel(const float *in, float *out) {
  __shared__ float tile[64];
  float own = in[threadIdx.x];
  tile[threadIdx.x] = own;
  BARRIER
  float value = tile[63 - threadIdx.x];
  out[threadIdx.x] = own;
}
"""


@pytest.mark.parametrize("barrier", ["", "__syncthreads();"])
def test_cuda_gives_the_same(barrier: str, tmp_path: Path) -> None:
    try:
        clang.find_clang()
    except ToolError:
        pytest.skip("there is no clang")
    program = tmp_path / "kernel.cu"
    program.write_text(CUDA.replace("BARRIER", barrier))
    report = pipeline.check(
        program, kernel="kernel", block=64, grid=1, orders="both", arguments=values("f32")
    )
    assert report.exploration
    found = {item.kind for item in report.exploration.findings}
    text = write("alone", "f32", has_barrier=bool(barrier))
    assert (report.kernels[0].verdict, found) == explore(text, "f32")
