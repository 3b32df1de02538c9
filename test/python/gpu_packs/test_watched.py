"""Packs under a compute-sanitizer that is none, in processes of their own, on the stand-in."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from gpu.stand_in_driver import build
from gpu_packs import fake_sanitizer
from gpu_packs.conftest import KERNELS, Machine
from packing.references import SMALL, by_row
from running.arrays import Json
from running.verdicts import TOOLS

REFERENCE = by_row("add", 37, 133, SMALL).name
CASES = (*KERNELS, REFERENCE)


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the fake program; the processes below it find the stand-in in place of the driver."""
    file = tmp_path / "compute-sanitizer"
    file.write_text(f'#!/bin/sh\nexec {sys.executable} {fake_sanitizer.__file__} "$@"\n')
    file.chmod(0o755)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(build().parent))
    return str(file)


def watch(
    machine: Machine, program: str, monkeypatch: pytest.MonkeyPatch, **wanted: object
) -> tuple[int, dict[tuple[str, str], Json]]:
    """Run the last stage; return the exit code, and what became of each case by tool."""
    monkeypatch.setenv("FAKE_SANITIZER", json.dumps(wanted))
    code = machine.run("--stages=sanitize", f"--sanitizer={program}")
    document = json.loads((machine.pack / "results" / "results.json").read_text())
    return code, {(record["tool"], record["case"]): record for record in document["results"]}


def test_all_clean(machine: Machine, program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    code, found = watch(machine, program, monkeypatch)
    assert code == 0, (machine.pack / "results" / "results.md").read_text()
    words = {key: record["verdict"] for key, record in found.items()}
    plants = {(tool, f"planted bug for {tool}"): "caught" for tool in TOOLS}
    assert words == plants | {(tool, case): "clean" for tool in TOOLS for case in CASES}
    assert next(iter(found)) == ("memcheck", "planted bug for memcheck")
    text = (machine.pack / "results" / "results.md").read_text()
    assert "\n| transpose | clean | clean | clean | clean |\n" in text
    assert "\n| planted bug for racecheck |  | caught |  |  |\n" in text
    assert "- compute-sanitizer: Version 1.2.3 (a fake)\n" in text


def test_a_finding(machine: Machine, program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    code, found = watch(machine, program, monkeypatch, finds=["f16"])
    assert code == 1
    bad = {key for key, record in found.items() if record["verdict"] == "found"}
    assert bad == {(tool, "f16") for tool in TOOLS}
    assert "Something is wrong in f16" in found["memcheck", "f16"]["detail"]


def test_a_tool_that_misses_its_plant(
    machine: Machine, program: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, found = watch(machine, program, monkeypatch, racecheck="blind")
    assert code == 1
    assert found["racecheck", "planted bug for racecheck"]["verdict"] == "missed"
    words = {record["verdict"] for (tool, _), record in found.items() if tool == "racecheck"}
    assert words == {"missed", "void"}
    assert found["memcheck", "f16"]["verdict"] == "clean"
    text = (machine.pack / "results" / "results.md").read_text()
    assert "\n| f16 | clean | **void** | clean | clean |\n" in text
    # A finding of such a tool is one nevertheless.
    _, found = watch(machine, program, monkeypatch, racecheck="blind", finds=["f16"])
    assert found["racecheck", "f16"]["verdict"] == "found"


@pytest.mark.parametrize("behaviour", ["no call", "unsupported", "quiet"])
def test_a_tool_that_does_not_run(
    machine: Machine, program: str, monkeypatch: pytest.MonkeyPatch, behaviour: str
) -> None:
    code, found = watch(machine, program, monkeypatch, synccheck=behaviour)
    assert code == 1
    words = {record["verdict"] for (tool, _), record in found.items() if tool == "synccheck"}
    assert words == {"not run"}
    assert "the planted bug of synccheck did not run" in found["synccheck", "f16"]["detail"]


def test_one_case_is_watched_with_the_planted_bugs(machine: Machine, program: str) -> None:
    assert machine.run("--stages=sanitize", f"--sanitizer={program}", "--only", "f16") == 0
    document = json.loads((machine.pack / "results" / "results.json").read_text())
    words = {(record["tool"], record["case"]): record["verdict"] for record in document["results"]}
    plants = {(tool, f"planted bug for {tool}"): "caught" for tool in TOOLS}
    assert words == plants | {(tool, "f16"): "clean" for tool in TOOLS}


def test_without_the_program(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    code, found = watch(machine, "/no/such/program", monkeypatch)
    assert code == 1
    assert {record["verdict"] for record in found.values()} == {"not run"}
    detail = found["memcheck", "f16"]["detail"]
    assert detail.startswith("/no/such/program is no program: pip install nvidia-cuda-sanitizer")


def test_no_time(machine: Machine, program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_SANITIZER", "{}")
    stage = ("--stages=sanitize", f"--sanitizer={program}")
    assert machine.run(*stage, "--budget=0") == 1
    document = json.loads((machine.pack / "results" / "results.json").read_text())
    assert {record["verdict"] for record in document["results"]} == {"not run"}
    assert machine.run(*stage, "--resume") == 0


def test_a_case_that_fails_in_its_process(
    machine: Machine, program: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (machine.pack / "ptx" / "f16.ptx").write_text("no PTX")
    code, found = watch(machine, program, monkeypatch)
    assert code == 1
    bad = {key for key, record in found.items() if record["verdict"] not in ("clean", "caught")}
    assert bad == {(tool, "f16") for tool in TOOLS}
    assert found["memcheck", "f16"]["verdict"] == "failed"
    assert "error: f16: DriverError: " in found["memcheck", "f16"]["detail"]
