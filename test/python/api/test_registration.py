"""Schedules may name every pass of `mlir-opt` but for those of other hardware and languages."""

from __future__ import annotations

import re
import subprocess

import pytest

import pipeline

PROGRAM = "gpu.module @kernels { gpu.func @main() kernel { gpu.return } }\n"

APPLY_TO_NOTHING = """\
module attributes {{transform.with_named_sequence}} {{
  transform.named_sequence @__transform_main(%program: !transform.any_op {{transform.readonly}}) {{
    %none = transform.structured.match ops{{["func.absent"]}} in %program
        : (!transform.any_op) -> !transform.any_op
    transform.apply_registered_pass "{name}" to %none : (!transform.any_op) -> !transform.any_op
    transform.yield
  }}
}}
"""

ELSEWHERE = re.compile(
    "(^|-)(acc|openacc|omp|openmp|amdgpu|amx|arm|emitc|rocdl|shard|sharding|spirv|spv|xegpu|xevm)"
    "(-|$)|^(form-expressions|lower-host-to-llvm|offload-livein-value-canonicalization)$"
)
"""Passes for AMDGPU, AMX, Arm, SPIR-V and Xe, for C, OpenACC and OpenMP, and for clusters.

Of the last three, the first makes C, the second is for kernels of SPIR-V, the third for OpenACC.
"""

TEST = re.compile("(^|-)test(-|$)")


def list_upstream() -> list[str]:
    """Return the passes and pipelines of `mlir-opt` but for its tests."""
    command = ["mlir-opt-22", "--help"]
    words = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    names = re.findall(r"^      --([\w-]+)\s+-   ", words, re.MULTILINE)
    return [name for name in names if not TEST.search(name)]


def is_known(name: str) -> bool:
    try:
        pipeline.compile(PROGRAM, schedule=APPLY_TO_NOTHING.format(name=name))
    except pipeline.CompileError as error:
        if f"unknown pass or pass pipeline: {name}" not in str(error):
            raise
        return False
    return True


def test_schedules_name_passes_of_upstream() -> None:
    names = list_upstream()
    assert {"canonicalize", "llvm-target-to-data-layout", "gpu-module-to-binary"} <= set(names)
    assert len(names) > 200
    absent = [name for name in names if not is_known(name)]
    assert absent == [name for name in names if ELSEWHERE.search(name)]


TARGET = """\
module attributes {{llvm.target = #llvm.target<triple = "{triple}", chip = "{chip}">}} {{
  gpu.module @kernels {{ gpu.func @main() kernel {{ gpu.return }} }}
}}
"""
SET_LAYOUT = """\
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%program: !transform.any_op {transform.consumed}) {
    transform.apply_registered_pass "llvm-target-to-data-layout" to %program
        : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}
"""


def test_target_of_kernels_is_linked() -> None:
    program = TARGET.format(triple="nvptx64-nvidia-cuda", chip="sm_90")
    assert pipeline.compile(program, schedule=SET_LAYOUT).kernels.keys() == {"main"}


def test_other_targets_are_not_linked() -> None:
    program = TARGET.format(triple="amdgcn-amd-amdhsa", chip="gfx90a")
    with pytest.raises(pipeline.CompileError, match="amdgcn-amd-amdhsa"):
        pipeline.compile(program, schedule=SET_LAYOUT)
