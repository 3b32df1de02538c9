"""Kernels that assert their bounds: what is out of them is found, and nothing else."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import pipeline
from fuzzing import slices as fuzz_slices
from support.command_line import call

# `tools/fuzz slices` goes on from here.
SEEDS = 100

SLICES = """
func.func @main(%x: memref<{rows}x{columns}xf32>, %m: index, %n: index) {{
  %c1 = arith.constant 1 : index
  %blocks = arith.constant {rows} : index
  %threads = arith.constant 32 : index
  gpu.launch blocks(%b, %by, %bz) in (%gx = %blocks, %gy = %c1, %gz = %c1)
             threads(%t, %ty, %tz) in (%sx = %threads, %sy = %c1, %sz = %c1) {{
    %row = memref.subview %x[%b, %m] [1, %n] [1, {step}]
        : memref<{rows}x{columns}xf32> to memref<?xf32, strided<[{step}], offset: ?>>
    %in = arith.cmpi slt, %t, %n : index
    scf.if %in {{
      %old = memref.load %row[%t] : memref<?xf32, strided<[{step}], offset: ?>>
      %i = arith.index_cast %t : index to i32
      %f = arith.sitofp %i : i32 to f32
      %new = arith.addf %old, %f : f32
      memref.store %new, %row[%t] : memref<?xf32, strided<[{step}], offset: ?>>
    }}
    gpu.terminator
  }}
  return
}}
"""


@pytest.mark.parametrize("seed", range(12))
def test_slices(seed: int) -> None:
    """A slice of any length and place: right in bounds, an assertion out of them."""
    draw = random.Random(seed)
    rows, columns, step = draw.randint(1, 4), draw.randint(1, 32), draw.choice((1, 1, 2, 3))
    text = SLICES.format(rows=rows, columns=columns, step=step)
    (kernel,) = pipeline.check(text).kernels
    assert kernel.verdict == "SAFE"
    module = pipeline.compile(text, assert_bounds=True, until="llvm")
    for _ in range(6):
        start, count = draw.randint(0, columns), draw.randint(0, 32)
        given = np.random.default_rng(seed).standard_normal((rows, columns), np.float32)
        x = given.copy()
        if count and start + (count - 1) * step >= columns:
            with pytest.raises(pipeline.Error, match=r"memref\.subview") as raised:
                module.run(x, start, count, backend="emulator", check="all")
            assert "out-of-bounds" in str(raised.value)
            continue
        module.run(x, start, count, backend="emulator", check="all")
        expected = given.copy()
        taken = expected[:, start : start + (count - 1) * step + 1 : step] if count else None
        if taken is not None:
            taken += np.arange(count, dtype=np.float32)
        np.testing.assert_array_equal(x, expected)


def test_random_slices() -> None:
    """What is SAFE in bounds does not race in bounds, and what is out of bounds is found."""
    counts: Counter[str] = Counter()
    problems = fuzz_slices.fuzz(range(SEEDS), counts)
    assert not problems, "\n".join(f"seed {seed}: {text}" for seed, text in problems.items())
    kinds = ("SAFE", "SAFE in bounds", "raced", "runs in bounds", "runs out of bounds")
    assert all(counts[kind] > SEEDS // 50 for kind in kinds)


def test_padded_rows() -> None:
    """A row of workgroup memory that could be padded ends where it does."""
    text = """
gpu.module @kernels {
  gpu.func @main_kernel(%n: index) workgroup(%x: memref<4x64xi32, 3>)
      kernel attributes {known_block_size = array<i32: 4, 1, 1>} {
    %t = gpu.thread_id x
    %v = arith.index_cast %t : index to i32
    %column = memref.subview %x[0, %n] [4, 1] [1, 1]
        : memref<4x64xi32, 3> to memref<4xi32, strided<[64], offset: ?>, 3>
    memref.store %v, %column[%t] : memref<4xi32, strided<[64], offset: ?>, 3>
    gpu.return
  }
}
"""
    for asserts, expected in ((False, set()), (True, {"assertion"})):
        module = pipeline.compile(text, assert_bounds=asserts, until="llvm", sync="keep")
        (buffer,) = module.workgroup_memory[0].buffers
        assert (buffer.bytes == 4 * 64 * 4) == asserts
        for n, findings in ((63, set()), (64, expected)):
            report = module.kernels["main_kernel"].emulate(n, grid=1, block=4)
            assert {finding.kind for finding in report.findings} == findings


def test_dynamic_check(tmp_path: Path) -> None:
    """``check --dynamic`` asserts bounds, too: of a row that goes on into the next one."""
    text = """
func.func @main(%x: memref<2x8xf32>, %v: f32) {
  %c1 = arith.constant 1 : index
  %c12 = arith.constant 12 : index
  gpu.launch blocks(%b, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%t, %ty, %tz) in (%sx = %c12, %sy = %c1, %sz = %c1) {
    %c0 = arith.constant 0 : index
    memref.store %v, %x[%c0, %t] : memref<2x8xf32>
    gpu.terminator
  }
  return
}
"""
    path = tmp_path / "row.mlir"
    path.write_text(text)
    assert call("check", path).code == 0
    outcome = call("check", path, "--dynamic", "--format", "json")
    assert outcome.code == 1
    launches = json.loads(outcome.text)["launches"]
    kinds = {finding["kind"] for launch in launches for finding in launch["findings"]}
    assert kinds == {"assertion"}
    for options, code in (([], 0), (["--assert-bounds"], 1)):
        assert call("run", path, "--random", "1", "--backend", "emulator", *options).code == code
