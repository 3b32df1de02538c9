"""``python -m pipeline explain``: one program, two programs, documents."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from report.explained_programs import ELEMENTWISE, OF_THE_USER
from support.command_line import Outcome, call


def refused(outcome: Outcome, *codes: int) -> str:
    """Return what a refused command says: an error, and nothing on standard output."""
    assert outcome.code in codes
    assert outcome.data == b""
    assert "Traceback" not in outcome.words
    assert "error: " in outcome.words
    return outcome.words


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "reverse.mlir"
    path.write_text(OF_THE_USER)
    return path


def test_page_is_written_whole(program: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    outcome = call("explain", str(program), "-o", str(page))
    assert (outcome.code, outcome.words) == (0, "")
    assert page.read_text().startswith("<!DOCTYPE html>")
    assert page.read_text().rstrip().endswith("</html>")


def test_document_becomes_the_same_page(program: Path, tmp_path: Path) -> None:
    """The JSON is all that the page is made of."""
    document = tmp_path / "report.json"
    document.write_text(call("explain", str(program), "--format", "json").text)
    assert call("explain", str(document)).text == call("explain", str(program)).text


def test_command_is_in_the_report(program: Path) -> None:
    options = ("--chip", "sm_90a", "--sync", "minimize", "--no-ptxas", "--no-emulator")
    outcome = call("explain", str(program), "--format", "json", *options)
    provenance = json.loads(outcome.text)["provenance"]
    assert provenance["chip"] == "sm_90a"
    expected = f"python -m pipeline explain {program} --chip sm_90a --sync minimize"
    assert provenance["command"] == expected


def test_remarks_alone(program: Path) -> None:
    outcome = call("explain", str(program), "--format", "yaml", "--no-ptxas", "--no-emulator")
    assert outcome.text.startswith("--- !")
    assert "Name:            'InsertedBarrier'" in outcome.text


def test_difference_of_two(program: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.mlir"
    other.write_text(OF_THE_USER.replace("%s[%u]", "%s[%t]"))
    document = tmp_path / "first.json"
    fast = ("--no-ptxas", "--no-emulator")
    document.write_text(call("explain", str(program), "--format", "json", *fast).text)
    outcome = call("explain", str(document), str(other), "--format", "json", *fast)
    assert (outcome.code, outcome.words) == (0, "")
    compared = json.loads(outcome.text)
    (kernel,) = compared["kernels"]
    facts = {one["name"]: one for one in kernel["facts"]}
    assert (facts["barriers"]["first"], facts["barriers"]["second"]) == (1, 0)
    assert not facts["barriers"]["is_equal"]
    assert facts["verdict"]["is_equal"]
    assert any("InsertedBarrier" not in one for one in compared["decisions"]["only_first"])
    gpu = next(one for one in compared["stages"] if one["name"] == "gpu")
    assert "-    gpu.barrier" in gpu["diff"].replace("-      gpu.barrier", "-    gpu.barrier")
    page = call("explain", str(document), str(other), *fast).text
    assert '<h2 id="kernels-title">' in page


def test_difference_of_other_kernels(program: Path, tmp_path: Path) -> None:
    other = tmp_path / "add.mlir"
    other.write_text(ELEMENTWISE)
    fast = ("--no-ptxas", "--no-emulator")
    compared = json.loads(call("explain", str(program), str(other), "--format", "json", *fast).text)
    sides = [(one["in_first"], one["in_second"]) for one in compared["kernels"]]
    for side, name in (("first", program), ("second", other)):
        assert compared[side]["provenance"]["command"].endswith(f"explain {name}")
    assert sides == [(True, False), (False, True)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "this is no JSON"),
        ("[]", "this is no explanation"),
        ('{"format": "pipeline-plan"}', "this is no explanation"),
        ('{"format": "pipeline-explanation", "version": 99}', "of version 99, and 3 is read here"),
        ('{"format": "pipeline-explanation", "version": 3}', "is incomplete"),
    ],
)
def test_documents_that_are_none(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "report.json"
    path.write_text(text)
    assert words in refused(call("explain", str(path), str(path)), 2)
    if "incomplete" in words:
        assert words in refused(call("explain", str(path)), 2)


def test_wrong_uses(program: Path, tmp_path: Path) -> None:
    missing = str(tmp_path / "nothing.mlir")
    assert "cannot be read" in refused(call("explain", missing), 2)
    assert "no kernel 'other'" in refused(
        call("explain", str(program), "--kernel", "other", "--arg", "128xf32"), 1, 2
    )
    for options in (("--format", "yaml", "-"), ("--chip", "sm_1")):
        assert "error: " in refused(call("explain", str(program), *options), 1, 2)
