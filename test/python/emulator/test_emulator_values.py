"""Runs that compute no values: the same statistics and findings, or none at all."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import numpy as np
import pytest

import pipeline
from emulator.faults import kernel
from pipeline.runtime.emulator import ValuesNeeded
from pipeline.runtime.random_values import make_random

PROGRAMS = {
    "matmul": """
func.func @main(%a: tensor<128x256xf16>, %b: tensor<256x128xf16>) -> tensor<128x128xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x128xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<128x128xf32>) -> tensor<128x128xf32>
  %c = linalg.matmul ins(%a, %b : tensor<128x256xf16>, tensor<256x128xf16>)
                     outs(%f : tensor<128x128xf32>) -> tensor<128x128xf32>
  return %c : tensor<128x128xf32>
}
""",
    "softmax": """
func.func @main(%x: tensor<64x256xf32>) -> tensor<64x256xf32> {
  %e = tensor.empty() : tensor<64x256xf32>
  %r = linalg.softmax dimension(1) ins(%x : tensor<64x256xf32>) outs(%e : tensor<64x256xf32>)
      -> tensor<64x256xf32>
  return %r : tensor<64x256xf32>
}
""",
    "reverse": """
func.func @main(%a: memref<256xf32>) {
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%t, %ty, %tz) in (%sx = %c256, %sy = %c1, %sz = %c1) {
    %s = memref.alloc() : memref<256xf32, #gpu.address_space<workgroup>>
    %x = memref.load %a[%t] : memref<256xf32>
    memref.store %x, %s[%t] : memref<256xf32, #gpu.address_space<workgroup>>
    %c255 = arith.constant 255 : index
    %u = arith.subi %c255, %t : index
    %y = memref.load %s[%u] : memref<256xf32, #gpu.address_space<workgroup>>
    memref.store %y, %a[%t] : memref<256xf32>
    gpu.terminator
  }
  return
}
""",
}

CHECKS = pytest.mark.parametrize("check", ["none", "races", "all"])


def options(check: str, *, values: bool) -> pipeline.Options:
    return pipeline.Options(
        check=check,  # type: ignore[arg-type]
        statistics=check == "none",
        values=values,
        seed=1,
    )


@functools.cache
def compile_program(name: str) -> pipeline.Module:
    return pipeline.compile(PROGRAMS[name], chip="sm_80", until="llvm")


def run_program(program: pipeline.Module, check: str, *, values: bool) -> list[Any]:
    """Return all that is reported of a run, but for how long it took."""
    (entry,) = program.entries.values()
    random = np.random.default_rng(1)
    arrays = [make_random(one, random, remedy="") for one in entry.arguments]
    reports = program.emulate(*arrays, options=options(check, values=values))
    return [dataclasses.replace(report, seconds=0.0) for report in reports]


@CHECKS
@pytest.mark.parametrize("name", PROGRAMS)
def test_reports_are_those_of_a_whole_run(name: str, check: str) -> None:
    program = compile_program(name)
    found = run_program(program, check, values=False)
    assert found == run_program(program, check, values=True)
    assert check != "none" or any(one.requests for one in found[0].statistics.per_access)


def run_kernel(
    text: str, *arrays: Any, check: str, values: bool = False, block: int = 32
) -> pipeline.Report:
    compiled = pipeline.compile(text, until="llvm", sync="keep", verify=False)
    return compiled.kernels["k"].emulate(
        *arrays, grid=1, block=block, options=options(check, values=values)
    )


LANES = "%a: memref<32xf32>, %i: memref<32xi64>"
READ = """
    %j = memref.load %i[%tx] : memref<32xi64>
    %n = arith.index_cast %j : i64 to index
    %zero = arith.constant 0.0 : f32
"""
STORE = "    memref.store %zero, %a[%at] : memref<32xf32>\n"

DECISIONS = {
    "where a thread reads": """
    %x = memref.load %a[%n] : memref<32xf32>
    memref.store %x, %a[%tx] : memref<32xf32>
""",
    "where a thread goes": """
    %is = arith.cmpi ult, %n, %tx : index
    scf.if %is {
      memref.store %zero, %a[%tx] : memref<32xf32>
    }
""",
    "how often it goes round": """
    scf.for %k = %c0 to %n step %c1 {
      memref.store %zero, %a[%tx] : memref<32xf32>
    }
""",
    "what it divides by": """
    %q = arith.divui %tx, %n : index
    %y = arith.index_cast %q : index to i64
    memref.store %y, %i[%tx] : memref<32xi64>
""",
    "what it shuffles": f"""
    %m = arith.trunci %j : i64 to i32
    %width = arith.constant 32 : i32
    %one = arith.constant 1 : i32
    %other, %valid = gpu.shuffle xor %m, %one, %width : i32
    %at = arith.index_cast %other : i32 to index
{STORE}""",
    "by way of private memory": f"""
    memref.store %j, %own[%c0] : memref<4xi64, #private>
    memref.store %j, %own[%c1] : memref<4xi64, #private>
    %which = arith.remui %tx, %c2 : index
    %own_at = memref.load %own[%which] : memref<4xi64, #private>
    %at = arith.index_cast %own_at : i64 to index
{STORE}""",
    "by an atomic operation": f"""
    %one = arith.constant 1 : i64
    %old = memref.atomic_rmw addi %one, %i[%c1] : (i64, memref<32xi64>) -> i64
    %mask = arith.constant 31 : i64
    %few = arith.andi %old, %mask : i64
    %at = arith.index_cast %few : i64 to index
{STORE}""",
}


@CHECKS
@pytest.mark.parametrize("what", DECISIONS)
def test_what_memory_decides_needs_values(what: str, check: str) -> None:
    text = kernel(LANES, READ + DECISIONS[what], private="%own: memref<4xi64, #private>")
    floats, numbers = np.ones(32, np.float32), np.arange(1, 33) % 31 + 1
    with pytest.raises(ValuesNeeded):
        run_kernel(text, floats, numbers, check=check)
    assert not run_kernel(text, floats, numbers, check="none", values=True).errors


@CHECKS
def test_what_threads_decide_needs_none(check: str) -> None:
    """Private memory that holds no value of others, shuffles of values, and functions of them."""
    text = kernel(
        "%a: memref<32xf32>",
        """
    memref.store %tx, %own[%tx] : memref<32xindex, #private>
    %at = memref.load %own[%tx] : memref<32xindex, #private>
    %x = memref.load %a[%at] : memref<32xf32>
    %e = math.exp %x : f32
    %width = arith.constant 32 : i32
    %one = arith.constant 1 : i32
    %other, %valid = gpu.shuffle xor %e, %one, %width : f32
    memref.store %other, %a[%at] : memref<32xf32>
""",
        private="%own: memref<32xindex, #private>",
    )
    reports = [
        run_kernel(text, np.ones(32, np.float32), check=check, values=values)
        for values in (False, True)
    ]
    first, second = (dataclasses.replace(report, seconds=0.0) for report in reports)
    assert first == second


def test_races_of_values_are_told_by_a_whole_run() -> None:
    """Without values, all writes are of zeros; a report runs such a program as a whole."""
    text = kernel(
        "%a: memref<32xf32>",
        """
    %x = memref.load %a[%tx] : memref<32xf32>
    memref.store %x, %w[%c0] : memref<4xf32, #wg>
""",
        buffers="%w: memref<4xf32, #wg>",
    )
    array = np.arange(32, dtype=np.float32)
    (whole,) = run_kernel(text, array, check="races", values=True).findings
    assert whole.kind == "race.shared"
    same = np.ones(32, np.float32)
    assert not run_kernel(text, same, check="races", values=True).findings
    for each in (array, same):
        assert run_kernel(text, each, check="races").findings, "what is written is not known"
    for each, findings in ((array, (f"error: {whole.message}",)), (same, ())):
        explained = pipeline.explain(
            text, kernel="k", block=32, grid=1, sync="keep", assemble=False, arguments=[each]
        )
        (run,) = explained.document.kernels[0].runs
        assert run.findings == findings


def test_what_the_host_reads_needs_values() -> None:
    text = """
func.func @main(%a: memref<32xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %n = memref.load %a[%c0] : memref<32xindex>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %c1, %gz = %c1)
             threads(%t, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    memref.store %t, %a[%t] : memref<32xindex>
    gpu.terminator
  }
  return
}
"""
    compiled = pipeline.compile(text, until="llvm", verify=False)
    with pytest.raises(ValuesNeeded):
        compiled.emulate(np.ones(32, np.int64), options=options("none", values=False))
