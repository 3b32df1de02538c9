"""``check --schedule FILE``: whether a fill and a product in loops of their own agree."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import pipeline
from support.command_line import call

PROGRAM = """
func.func @main(%a: tensor<64x32xf32>, %b: tensor<32x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x64xf32>
  %filled = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  %c = linalg.matmul ins(%a, %b : tensor<64x32xf32>, tensor<32x64xf32>)
      outs(%filled : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %c : tensor<64x64xf32>
}
"""

# Both are fused into one loop over blocks, and tiled once more each for itself.
SCHEDULE = """
!any = !transform.any_op
module attributes {{transform.with_named_sequence}} {{
  transform.named_sequence @__transform_main(%program: !any {{transform.consumed}}) {{
    %ops = transform.structured.match ops{{["linalg.fill", "linalg.matmul"]}} in %program
        : (!any) -> !any
    %fill, %matmul = transform.split_handle %ops : (!any) -> (!any, !any)
    %0, %blocks = transform.structured.tile_using_forall %matmul tile_sizes [32, 32]
        (mapping = [#gpu.block<y>, #gpu.block<x>]) : (!any) -> (!any, !any)
    %1, %2 = transform.structured.fuse_into_containing_op %fill into %blocks
        : (!any, !any) -> (!any, !any)
    %3, %4 = transform.structured.tile_using_forall %1 tile_sizes {fill}
        (mapping = [#gpu.thread<{fy}>, #gpu.thread<{fx}>]) : (!any) -> (!any, !any)
    %5, %6 = transform.structured.tile_using_forall %0 tile_sizes {matmul}
        (mapping = [#gpu.thread<y>, #gpu.thread<x>]) : (!any) -> (!any, !any)
    %function = transform.structured.match ops{{["func.func"]}} in %program : (!any) -> !any
    transform.apply_patterns to %function {{
      transform.apply_patterns.canonicalization
    }} : !any
    transform.apply_cse to %function : !any
    {buffers}
    transform.yield
  }}
}}
"""
BUFFERIZE = """%buffers = transform.apply_registered_pass "workgroup-bufferize" to %program
        : (!any) -> !any"""


def write(folder: Path, **how: str) -> tuple[str, str]:
    values = {"fill": "[4, 4]", "matmul": "[4, 4]", "fy": "y", "fx": "x", "buffers": BUFFERIZE}
    program, schedule = folder / "program.mlir", folder / "schedule.mlir"
    program.write_text(PROGRAM.lstrip())
    schedule.write_text(SCHEDULE.format(**{**values, **how}))
    return str(program), str(schedule)


def test_agreement(tmp_path: Path) -> None:
    program, schedule = write(tmp_path)
    outcome = call("check", program, "--schedule", schedule)
    assert outcome.code == 0
    assert "main_kernel: SAFE" in outcome.text
    line = f"'linalg.matmul' ({program}:5:8) after 'linalg.fill' ({program}:4:13): AGREE, "
    assert line + "they have the same mapping" in outcome.text
    assert "iterations 8x8 and slices (d0 * 4, d1 * 4) of sizes (4, 4)" in outcome.text


@pytest.mark.parametrize(
    ("how", "what"),
    [
        ({"fill": "[2, 8]"}, "they differ in their numbers of iterations: 16x4 against 8x8"),
        ({"fy": "x", "fx": "y"}, "they differ in their mapping: [#gpu.thread<x>, #gpu.thread<y>]"),
    ],
    ids=["iterations", "mapping"],
)
def test_difference(tmp_path: Path, how: dict[str, str], what: str) -> None:
    """The kernel is safe by the barrier that is put; that it takes one is told, and exit 1."""
    program, schedule = write(tmp_path, **how)
    outcome = call("check", program, "--schedule", schedule)
    assert outcome.code == 1
    assert "main_kernel: SAFE" in outcome.text
    assert f"DIFFER, {what}" in outcome.text
    outcome = call("check", program, "--schedule", schedule, "--format", "json")
    (finding,) = json.loads(outcome.text)["distributions"]
    assert (outcome.code, finding["verdict"]) == (1, "DIFFER")
    assert finding["first"]["op"] == "linalg.fill"
    assert finding["second"]["location"]["line"] == 5


def test_report(tmp_path: Path) -> None:
    program, schedule = write(tmp_path)
    report = pipeline.check(program, schedule=schedule)
    assert report.is_safe
    assert report.agrees
    (finding,) = report.distributions
    assert (finding.first.op, finding.second.op) == ("linalg.fill", "linalg.matmul")
