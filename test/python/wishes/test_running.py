"""Wishes of users, 8, 15, 16, 18 and 19: programs run, anywhere, without waiting for the host.

The numbers are those of docs/wishes.md.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np

import pipeline
from gpu.conftest import Checks
from gpu.emulated_launches import EmulatedLaunches
from gpu.stand_in_driver import StandIn
from gpu.tensors import Torch
from support.examples import EXAMPLES
from support.mlir_opt import run_opt

SOFTMAX = EXAMPLES / "softmax.mlir"

ADD = """
!m = memref<?xf32>
func.func @main(%a: !m, %b: !m, %c: !m) {
  linalg.add ins(%a, %b : !m, !m) outs(%c : !m)
  return
}
"""


def test_wish_08_run_it_without_a_build_of_ones_own() -> None:
    """On the CPU, with the host's part of the program; and device memory for mlir-runner."""
    module = pipeline.compile(SOFTMAX)
    x = np.random.default_rng(6).random((4, 33), np.float32)
    np.testing.assert_allclose(module.run(x, backend="emulator").sum(axis=1), 1, rtol=1e-5)
    host = pipeline.compile(SOFTMAX, until="gpu").texts["gpu"]
    passes = "inline,workgroup-allocate-device-memory{assume-distinct-arguments}"
    text = run_opt(host, passes)
    assert "gpu.alloc" in text
    assert "gpu.memcpy" in text


def test_wish_15_no_wheel_of_mlir_is_needed() -> None:
    """A process that compiles has loaded no library of LLVM or MLIR but the package's own."""
    code = """
import json, pathlib, sys
import pipeline
pipeline.compile(pathlib.Path(sys.argv[1]))
lines = pathlib.Path("/proc/self/maps").read_text().splitlines()
print(json.dumps(sorted({line.split(maxsplit=5)[-1] for line in lines if ".so" in line})))
"""
    command = [sys.executable, "-c", code, str(SOFTMAX)]
    outcome = subprocess.run(command, capture_output=True, text=True, check=True)
    libraries = json.loads(outcome.stdout)
    assert any("_native" in name for name in libraries)
    assert not [name for name in libraries if "libMLIR" in name or "libLLVM" in name]


def test_wish_16_a_plugin_that_loads_and_whose_traits_are_true() -> None:
    """With wrong visibility each trait query in the plugin would be false, and nothing folded."""
    text = run_opt((EXAMPLES / "k-tiled-matmul.mlir").read_text(), "transform-interpreter")
    lowered = run_opt(text, "workgroup-memory")
    assert "gpu.launch_func" in lowered
    assert "memref.copy" not in lowered


def test_wish_18_a_second_call_is_cheap(gpu: StandIn, torch: Torch, checks: Checks) -> None:
    """Calls alike are not checked again, and make one call of the driver for one launch."""
    module = pipeline.compile(ADD)
    EmulatedLaunches(gpu, module)
    a, b, c = (torch.put(np.ones(64, np.float32)) for _ in range(3))
    module(a, b, c)
    assert checks.count == 1
    gpu.calls()
    module(a, b, c)
    np.testing.assert_array_equal(c.host, np.full(64, 2, np.float32))
    assert checks.count == 1
    (call,) = gpu.calls()
    assert call.startswith("cuLaunchKernelEx main_kernel")


def test_wish_19_ahead_of_time_for_named_chips_without_a_gpu(tmp_path: Path) -> None:
    """A bundle with machine code for two chips, which a Python without packages reads."""
    path = tmp_path / "softmax.bundle"
    older, newer = (pipeline.compile(SOFTMAX, chip=chip) for chip in ("sm_80", "sm_90a"))
    digest = older.save(path, variants=[newer], cubin=True)
    code = """
import sys
import pipeline
module = pipeline.load(sys.argv[1], sha256=sys.argv[2])
assert "numpy" not in sys.modules and "pipeline._native" not in sys.modules
print({chip: sorted(variant.images) for chip, variant in module.variants.items()})
"""
    package = Path(pipeline.__file__).parents[1]
    outcome = subprocess.run(
        [sys.executable, "-S", "-c", code, str(path), digest],
        env={"PYTHONPATH": str(package)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stdout.strip() == "{'sm_80': ['sm_80'], 'sm_90a': ['sm_90a']}"
