"""Programs of which nothing becomes a kernel: a warning says so, and why."""

from __future__ import annotations

from pathlib import Path

import pytest

import pipeline
from support.command_line import call

SCATTER = """\
func.func @main(%u: tensor<32x100xf16>, %i: tensor<32xi32>, %x: tensor<?x100xf16>)
    -> tensor<?x100xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %r = scf.for %k = %c0 to %c32 step %c1 iter_args(%y = %x) -> (tensor<?x100xf16>) {
    %a = tensor.extract %i[%k] : tensor<32xi32>
    %b = arith.index_cast %a : i32 to index
    %s = tensor.extract_slice %u[%k, 0] [1, 100] [1, 1] : tensor<32x100xf16> to tensor<100xf16>
    %z = tensor.insert_slice %s into %y[%b, 0] [1, 100] [1, 1]
        : tensor<100xf16> into tensor<?x100xf16>
    scf.yield %z : tensor<?x100xf16>
  }
  return %r : tensor<?x100xf16>
}
"""
COPY = """\
func.func @main(%a: memref<8xf32>, %b: memref<8xf32>) {
  memref.copy %a, %b : memref<8xf32> to memref<8xf32>
  return
}
"""
EMPTY = """\
func.func @main(%a: tensor<0x8xf32>) -> tensor<0x8xf32> {
  %e = tensor.empty() : tensor<0x8xf32>
  %r = linalg.exp ins(%a : tensor<0x8xf32>) outs(%e : tensor<0x8xf32>) -> tensor<0x8xf32>
  return %r : tensor<0x8xf32>
}
"""
UNUSED = """\
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.exp ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %a : tensor<8xf32>
}
"""
VIEW = """\
func.func @main(%a: tensor<2x8xf32>) -> tensor<16xf32> {
  %r = tensor.collapse_shape %a [[0, 1]] : tensor<2x8xf32> into tensor<16xf32>
  return %r : tensor<16xf32>
}
"""
ELEMENT = """\
func.func @main(%a: tensor<8xf32>, %i: index, %x: f32) -> tensor<8xf32> {
  %r = tensor.insert %x into %a[%i] : tensor<8xf32>
  return %r : tensor<8xf32>
}
"""
PROGRAMS = {
    "scatter": (
        SCATTER,
        [
            "'scf.for' op goes from one iteration to the next",
            "'tensor.extract' op is about one element at a time",
            "'tensor.insert_slice' op is a copy",
        ],
    ),
    "copy": (COPY, ["'memref.copy' op is a copy"]),
    "empty": (EMPTY, ["'linalg.exp' op has no elements"]),
    "unused": (UNUSED, ["'linalg.exp' op has no effect on what the function returns"]),
    "view": (VIEW, []),
    "element": (ELEMENT, ["'tensor.insert' op is about one element at a time"]),
}
WORDS = "nothing of '@main' became a kernel: "


@pytest.mark.parametrize("name", PROGRAMS)
def test_warning(name: str, tmp_path: Path) -> None:
    text, reasons = PROGRAMS[name]
    file = tmp_path / "program.mlir"
    file.write_text(text)
    outcome = call("compile", file, "-o", tmp_path / "out.ptx")
    assert outcome.code == 0
    assert outcome.words.startswith(f"{file}:1:1: warning: {WORDS}")
    module = pipeline.compile(text)
    assert not module.kernels
    (warning,) = module.diagnostics
    assert (warning.severity, warning.location.line) == ("warning", 1)
    assert warning.message.startswith(WORDS)
    assert len(warning.notes) == len(reasons)
    lines = text.splitlines()
    for note, reason in zip(warning.notes, reasons, strict=True):
        assert note.message.startswith(reason)
        assert reason.split("'")[1] in lines[note.location.line - 1]


def test_each_function_is_named() -> None:
    text = COPY + ELEMENT.replace("@main", "@other")
    warnings = [item.message for item in pipeline.compile(text).diagnostics]
    assert [message.split("'")[1] for message in warnings] == ["@main", "@other"]


def test_check_says_it_too() -> None:
    outcome = call("check", "-", stdin=COPY.encode())
    assert (outcome.code, outcome.text) == (0, "")
    assert WORDS in outcome.words


@pytest.mark.parametrize("name", ["scatter", "copy", "element"])
def test_no_warning_beside_a_kernel(name: str) -> None:
    text = PROGRAMS[name][0].replace("@main", "@host") + UNUSED.replace("return %a", "return %r")
    module = pipeline.compile(text)
    assert len(module.kernels) == 1
    assert not module.diagnostics
