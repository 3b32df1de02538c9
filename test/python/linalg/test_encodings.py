"""Tensors with encodings: no kernel is made of them as if they were dense."""

from __future__ import annotations

from pathlib import Path

import pytest

import pipeline
from support.command_line import call

SPARSE = {
    "csr": "map = (i, j) -> (i : dense, j : compressed)",
    "csc": "map = (i, j) -> (j : dense, i : compressed)",
    "coo": "map = (i, j) -> (i : compressed(nonunique), j : singleton)",
    "blocks": "map = (i, j) -> (i floordiv 4 : dense, j floordiv 4 : compressed, "
    "i mod 4 : dense, j mod 4 : dense)",
    "dense": "map = (i, j) -> (i : dense, j : dense)",
    "narrow": "map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32",
}
OTHERS = {"number": "1 : i64", "text": '"blocked"', "space": "#gpu.address_space<workgroup>"}

ARGUMENT = """\
func.func @main(%a: tensor<8x8xf32, ENCODING>, %x: tensor<8xf32>, %y: tensor<8xf32>)
    -> tensor<8xf32> {
  %r = linalg.matvec ins(%a, %x : tensor<8x8xf32, ENCODING>, tensor<8xf32>)
                     outs(%y : tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}
"""
MADE = """\
func.func @main(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %e = tensor.empty() : tensor<8x8xf32>
  %s = tensor.empty() : tensor<8x8xf32, ENCODING>
  %t = linalg.exp ins(%s : tensor<8x8xf32, ENCODING>) outs(%e : tensor<8x8xf32>)
      -> tensor<8x8xf32>
  return %t : tensor<8x8xf32>
}
"""
# The line of the value, and where it starts.
PLACES = {"argument": (ARGUMENT, 1, 17), "result": (MADE, 3, 8)}

SCHEDULE = """\
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.consumed}) {
    %b = transform.bufferization.one_shot_bufferize %root {bufferize_function_boundaries = true}
        : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}
"""


def encoding(name: str) -> str:
    return f"#sparse_tensor.encoding<{{{SPARSE[name]}}}>" if name in SPARSE else OTHERS[name]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", [*SPARSE, *OTHERS])
def test_refused_where_it_is(name: str, place: str, tmp_path: Path) -> None:
    text, line, column = PLACES[place]
    file = tmp_path / "program.mlir"
    file.write_text(text.replace("ENCODING", encoding(name)))
    for command in ("compile", "check"):
        outcome = call(command, file)
        assert outcome.code == 1
        assert outcome.words.startswith(f"{file}:{line}:{column}: error: ")
        remedy = "run the sparsifier first" if name in SPARSE else "leave it out of the type"
        assert remedy in outcome.words.splitlines()[0]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", SPARSE)
@pytest.mark.parametrize("own", [False, True])
def test_schedules_of_the_user(name: str, place: str, own: bool) -> None:
    """Upstream's bufferization would make dense memory of sparse tensors."""
    text, line, column = PLACES[place]
    text = text.replace("ENCODING", encoding(name))
    both = SCHEDULE.replace("{\n  transform", "{\n" + text + "  transform", 1)
    with pytest.raises(pipeline.CompileError, match="run the sparsifier first") as caught:
        pipeline.compile(both if own else text, schedule=None if own else SCHEDULE)
    location = caught.value.diagnostics[0].location
    assert (location.line, location.column) == (line + own, column)
