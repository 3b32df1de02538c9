"""Measure what a call of a compiled program takes the host, beside a launch of Triton's.

Both are with a driver that does nothing, on tensors of PyTorch on the host that count as those of
a GPU, in an environment of its own below build/calls (PyTorch for CPUs and Triton, 1 GB on disk).
Triton's launch is its Python up to the launcher, which is left out. Programs come from bundles.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pipeline
from setup import environment
from setup.arguments import positive

REQUIREMENTS = (
    "torch==2.13.0",
    "triton==3.9.0",
    "cuda-bindings==13.5.0",
    "numpy==2.4.6",
    "ml_dtypes==0.6.0",
)
FOLDER = environment.ROOT / "build" / "calls"
LIMIT = 5.0
"""The most microseconds of a call with three tensors."""

ADD = """
!m = memref<?xf32>
func.func @main(%a: !m, %b: !m, %c: !m) {
  linalg.add ins(%a, %b : !m, !m) outs(%c : !m)
  return
}
"""
LAYER = """
!t = tensor<?x?xf32>
#row = affine_map<(i, j) -> (j)>
#all = affine_map<(i, j) -> (i, j)>
func.func @main(%a: !t, %w: !t, %b: tensor<?xf32>, %c: !t, %k: f32) -> !t {
  %0 = linalg.matmul ins(%a, %w : !t, !t) outs(%c : !t) -> !t
  %1 = linalg.generic {indexing_maps = [#row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%b : tensor<?xf32>) outs(%0 : !t) {
  ^bb0(%x: f32, %y: f32):
    %s = arith.addf %x, %y : f32
    %r = arith.mulf %s, %k : f32
    linalg.yield %r : f32
  } -> !t
  return %1 : !t
}
"""


def install() -> Path:
    """Return the Python of the environment, which is made if it is not there."""
    python = FOLDER / "bin" / "python"
    stamp = FOLDER / "requirements.txt"
    wanted = "\n".join(REQUIREMENTS)
    if not stamp.is_file() or stamp.read_text(encoding="utf-8") != wanted:
        subprocess.run([sys.executable, "-m", "venv", str(FOLDER)], check=True)
        # 2.7 GB, unless pip is set to look for wheels of PyTorch without CUDA as well.
        subprocess.run([str(python), "-m", "pip", "install", *REQUIREMENTS], check=True)
        stamp.write_text(wanted, encoding="utf-8")
    return python


def measure(python: Path, rounds: int) -> dict[str, float]:
    """Return the microseconds of each call."""
    packages = str(Path(pipeline.__file__).parents[1])
    paths = os.pathsep.join([os.environ["PYTHONPATH"], packages])
    with tempfile.TemporaryDirectory() as folder:
        bundles = [Path(folder) / name for name in ("add.bundle", "layer.bundle")]
        for text, bundle in zip((ADD, LAYER), bundles, strict=True):
            pipeline.compile(text).save(bundle)
        program = [str(python), "-m", "benchmarks.call_contenders"]
        command = [*program, str(rounds), *map(str, bundles)]
        variables = {**os.environ, "PYTHONPATH": paths}
        outcome = subprocess.run(command, env=variables, capture_output=True, text=True, check=True)
    times: dict[str, float] = json.loads(outcome.stdout.splitlines()[-1])
    return times


def main() -> int:
    """Print a table; fail if a call takes too long."""
    parser = argparse.ArgumentParser(prog="./tools/bench calls", description=__doc__)
    parser.add_argument("--rounds", type=positive, default=1500, help="samples of 100 calls each")
    rounds = parser.parse_args().rounds
    times = measure(install(), rounds)
    print(f"microseconds of a call, the fastest of {rounds} samples of 100")
    for name, time in times.items():
        print(f"{name:<44}{time:8.2f}")
    return int(next(iter(times.values())) > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
