"""Programs that are refused: the report says why, and shows all that there is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

import pipeline
from pipeline.report.schema import SCHEMA
from report.explained_programs import ELEMENTWISE, OF_THE_USER
from support.command_line import call

FAST = ("--no-ptxas", "--no-emulator")

OF_BLOCKS = OF_THE_USER.replace("array<i32: 1, 1, 1>", "array<i32: 4, 1, 1>")
DIVERGENT = OF_THE_USER.replace(
    "    %y =",
    """    %c3 = arith.constant 3 : index
    %few = arith.cmpi ult, %t, %c3 : index
    scf.if %few {
      gpu.barrier
    }
    %y =""",
)
UNASSEMBLED = OF_THE_USER.replace(
    "gpu.return",
    '%z = llvm.inline_asm has_side_effects "mov.b32 $0, 1;", "=z" : () -> i32\n    gpu.return',
)

GENERIC = """
func.func @main(%x: tensor<1024xi32>) -> tensor<1024xi32> {
  %e = tensor.empty() : tensor<1024xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"]}
      ins(%x : tensor<1024xi32>) outs(%e : tensor<1024xi32>) {
  ^bb0(%a: i32, %b: i32):
    %z = llvm.inline_asm "mov.b32 $0, $1;", "=z,r" %a : (i32) -> i32
    linalg.yield %z : i32
  } -> tensor<1024xi32>
  return %r : tensor<1024xi32>
}
"""


def read(explained: pipeline.Explanation) -> Any:
    """Return the document, which has its schema."""
    document = json.loads(explained.json())
    Draft202012Validator(json.loads(SCHEMA.read_text())).validate(document)
    return document


def test_race_is_told_with_threads_lines_and_byte() -> None:
    """All parts are there, and the race before them."""
    explained = pipeline.explain(OF_THE_USER, sync="keep")
    document = read(explained)
    refusal = document["refusal"]
    assert (refusal["stage"], refusal["is_compiled"]) == ("gpu", True)
    (fault,) = refusal["faults"]
    lines = OF_THE_USER.splitlines()
    assert "memref.load %s" in lines[fault["place"]["line"] - 1]
    assert "memref.store %x" in lines[fault["notes"][0]["place"]["line"] - 1]
    (kernel,) = document["kernels"]
    assert kernel["verdict"]["verdict"] == "RACE"
    (witness,) = kernel["verdict"]["findings"]
    assert witness["threads"] == [[0, 0, 0], [127, 0, 0]]
    assert (witness["meeting"], witness["is_in_bytes"]) == ([0], True)
    (run,) = kernel["runs"]
    assert "data race on workgroup memory" in run["findings"][0]
    names = {stage["name"] for stage in document["stages"]}
    assert {"source", "gpu", "nvvm", "llvm", "ptx"} <= names
    standings = [one["standing"] for one in document["statements"] if one["kernel"] == "reverse"]
    assert "refuted" in standings
    (tested,) = [one["text"] for one in document["statements"] if one["standing"] == "tested"]
    assert tested.endswith(f"1 finding; {run['findings'][0]}")
    assert "proved" not in standings
    page = explained.html()
    banner = page[page.index('id="refusal"') : page.index('id="lines"')]
    for words in ("data race", "thread (127, 0, 0)", "at byte 0", "<code>memref.store</code>"):
        assert words in banner


@pytest.mark.parametrize(
    ("program", "verdict"), [(OF_BLOCKS, "UNFIXABLE"), (DIVERGENT, "DIVERGENT")]
)
def test_other_findings_of_the_proof(program: str, verdict: str) -> None:
    document = read(pipeline.explain(program, assemble=False))
    assert document["refusal"]["is_compiled"]
    (kernel,) = document["kernels"]
    assert kernel["verdict"]["verdict"] == verdict
    assert any(one["standing"] == "refuted" for one in document["statements"])


def test_error_is_that_of_a_compilation() -> None:
    with pytest.raises(pipeline.CompileError) as compiled:
        pipeline.compile(OF_THE_USER, sync="keep")
    explained = pipeline.explain(OF_THE_USER, sync="keep", assemble=False, emulate=False)
    assert str(explained.error) == str(compiled.value)
    assert read(explained)["refusal"]["text"] == str(compiled.value)


def test_racing_module_is_not_handed_out() -> None:
    explained = pipeline.explain(OF_THE_USER, sync="keep", assemble=False, emulate=False)
    with pytest.raises(pipeline.CompileError, match="data race"):
        _ = explained.module


def test_program_is_told_of_as_far_as_it_comes() -> None:
    """LLVM has no code for a constraint: there is no PTX, and all before it is there."""
    explained = pipeline.explain(UNASSEMBLED)
    document = read(explained)
    assert (document["refusal"]["stage"], document["refusal"]["is_compiled"]) == ("ptx", False)
    assert document["refusal"]["faults"][0]["place"]["line"] == 14
    assert [one["name"] for one in document["stages"]][-1] == "llvm"
    assert (document["kernels"], document["provenance"]["ptx_sha256"]) == ([], "")
    assert document["decisions"]
    page = explained.html()
    assert "Compilation ends in stage <code>ptx</code>" in page
    assert "Kernels are not known" in page


def test_schedule_that_was_chosen_is_shown() -> None:
    """What a program is refused for may be what its schedule made of it."""
    document = read(pipeline.explain(GENERIC, assemble=False))
    assert not document["refusal"]["is_compiled"]
    assert document["passes"]
    assert {one["name"] for one in document["stages"]} >= {"source", "transform", "schedule"}
    assert document["choices"]


def test_program_that_compiles_has_no_refusal() -> None:
    explained = pipeline.explain(ELEMENTWISE, assemble=False, emulate=False)
    assert explained.error is None
    assert read(explained)["refusal"] is None
    assert 'id="refusal"' not in explained.html()
    assert explained.module.ptx


def test_command_writes_the_report_and_fails(tmp_path: Path) -> None:
    program, page = tmp_path / "race.mlir", tmp_path / "report.html"
    program.write_text(OF_THE_USER)
    outcome = call("explain", str(program), "--sync", "keep", *FAST, "-o", str(page))
    assert outcome.code == 1
    assert outcome.words.count("error: data race on workgroup memory") == 1
    assert "The program is refused" in page.read_text()
    compiled = call("compile", str(program), "--sync", "keep", "-o", str(tmp_path / "x.ptx"))
    assert (compiled.code, compiled.words) == (outcome.code, outcome.words)


def test_comparison_with_a_racing_program(tmp_path: Path) -> None:
    """A report of a refused program is compared as others are."""
    program, document = tmp_path / "race.mlir", tmp_path / "first.json"
    program.write_text(OF_THE_USER)
    document.write_text(call("explain", str(program), "--format", "json", *FAST).text)
    outcome = call(
        "explain", str(document), str(program), "--sync", "keep", "--format", "json", *FAST
    )
    assert outcome.code == 1
    assert "error: data race" in outcome.words
    facts = {one["name"]: one for one in json.loads(outcome.text)["kernels"][0]["facts"]}
    assert (facts["verdict"]["first"], facts["verdict"]["second"]) == ("SAFE", "RACE")


def test_program_that_cannot_be_read_has_no_report(tmp_path: Path) -> None:
    program, page = tmp_path / "broken.mlir", tmp_path / "report.html"
    program.write_text(OF_THE_USER.replace("%s[%u]", "%s[%nothing]"))
    outcome = call("explain", str(program), "-o", str(page))
    assert (outcome.code, page.exists()) == (1, False)
    assert "error: use of undeclared SSA value name" in outcome.words
