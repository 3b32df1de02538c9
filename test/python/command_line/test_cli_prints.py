"""What programs print on the host, as the command line shows it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.command_line import call

PRINTS = """\
func.func private @printMemrefI32(memref<*xi32>)
func.func @main(%a: memref<2xi32>) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %i3 = arith.constant 3 : i32
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c2, %sy = %c1, %sz = %c1) {
    memref.store %i3, %a[%tx] : memref<2xi32>
    gpu.terminator
  }
  %u = memref.cast %a : memref<2xi32> to memref<*xi32>
  call @printMemrefI32(%u) : (memref<*xi32>) -> ()
  return
}
"""


def test_what_the_host_prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It goes to where the program's output goes, but is no part of a document."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "prints.mlir").write_text(PRINTS)
    outcome = call("run", "prints.mlir", "--random", "1")
    assert "\n[3,  3]\n" in outcome.text
    outcome = call("run", "prints.mlir", "--random", "1", "--format", "json")
    assert json.loads(outcome.text)["version"] == 1
    assert "\n[3,  3]\n" in outcome.words
    outcome = call("check", "prints.mlir", "--dynamic")
    assert "[3,  3]" not in outcome.text
    assert "\n[3,  3]\n" in outcome.words
