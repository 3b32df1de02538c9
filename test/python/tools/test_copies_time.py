"""The programs that `tools/bench copies` measures, and what it finds too slow."""

from __future__ import annotations

import math
import subprocess

import pytest

from benchmarks import copies_time
from pipeline.system.toolchain import find_mlir_opt, plugin_path

COUNT = 24
BARRIERS = {"together": 0, "in launches": 0}
"""Of all kernels, where they are as many as the form of the program says."""


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("form", copies_time.FORMS)
def test_program(form: str, times: int) -> None:
    """It has as many copies as it says, and the pass lowers or hoists them all."""
    name = copies_time.PASSES.get(form, copies_time.LOWER)
    command = [str(find_mlir_opt()), f"--load-pass-plugin={plugin_path()}"]
    command += [f"--pass-pipeline=builtin.module(builtin.module({name}))"]
    command += ["--remarks-filter-passed=workgroup.*", "--remark-format=emitRemark"]
    text = copies_time.program(form, COUNT, times)
    outcome = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert outcome.returncode == 0, outcome.stderr
    if name == copies_time.HOIST:
        assert outcome.stderr.count("[Passed] Hoisted") == COUNT * times
        return
    assert outcome.stderr.count("[Passed] Lowered") == COUNT * times
    assert not any(op in outcome.stdout for op in ("memref.copy", "linalg."))
    barriers = outcome.stdout.count("gpu.barrier")
    assert barriers == BARRIERS[form] if form in BARRIERS else barriers > 0


@pytest.mark.parametrize(
    ("seconds", "problems"),
    [
        ({10: 0.001, 300: 0.1, 1000: 0.5, 3000: 1.9}, 0),
        ({300: 0.1, 3000: 2.1}, 1),
        ({1000: 2.1}, 1),
        ({300: 0.9, 1000: 3.0, 3000: 9.0}, 1),
        ({300: 0.1, 1000: 2.1, 3000: 9.0}, 2),
        ({100: 0.1, 300: math.inf}, 1),
        ({300: 0.1, 1000: 0.3, 3000: math.inf}, 1),
        ({5000: 99.0}, 0),
    ],
)
def test_complaints(seconds: dict[int, float], problems: int) -> None:
    assert len(copies_time.complaints(seconds)) == problems
