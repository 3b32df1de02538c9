"""What compute-sanitizer says, and what is concluded from it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from gpu_packs import fake_sanitizer
from running import sanitizer
from running.reports import ReportError, read_report
from running.sanitizer import Outcome, Sanitizer, divide, judge
from running.verdicts import Verdict
from running.worker import judge_case, judge_plant

RUN_ALL = """
import json, sys
for name in json.load(open(sys.argv[1])):
    print("ran: " + name)
"""


@pytest.fixture
def program(tmp_path: Path) -> str:
    """Return the fake program, executable."""
    file = tmp_path / "compute-sanitizer"
    file.write_text(f'#!/bin/sh\nexec {sys.executable} {fake_sanitizer.__file__} "$@"\n')
    file.chmod(0o755)
    return str(file)


def make(program: str, folder: Path, code: str = RUN_ALL) -> Sanitizer:
    return Sanitizer(program, folder / "sanitizer.log", [sys.executable, "-c", code])


def behave(monkeypatch: pytest.MonkeyPatch, **wanted: object) -> None:
    monkeypatch.setenv("FAKE_SANITIZER", json.dumps(wanted))


def test_options_are_those_that_the_version_knows(program: str, tmp_path: Path) -> None:
    made = make(program, tmp_path)
    assert made.version == "Version 1.2.3 (a fake)"
    assert made.options("memcheck") == ["--report-api-errors", "no", "--check-tensor-ops", "yes"]
    assert made.options("racecheck") == ["--racecheck-report", "all"]
    assert made.options("initcheck") == made.options("synccheck") == []


@pytest.mark.parametrize("tool", list(sanitizer.OPTIONS))
def test_clean(program: str, tmp_path: Path, tool: str) -> None:
    assert make(program, tmp_path).run(tool, ["a", "b"], 20) == Outcome("clean", "", 2)


def test_findings(program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    behave(monkeypatch, finds=["b"])
    outcome = make(program, tmp_path).run("memcheck", ["a", "b"], 20)
    assert outcome == Outcome("found", "memcheck Something is wrong in b", 2)
    assert make(program, tmp_path).run("memcheck", ["a"], 20).word == "clean"
    log = (tmp_path / "sanitizer.log").read_text()
    assert log.count("<ComputeSanitizerOutput>") == 2
    assert "# memcheck: a, b\nexit code 86\n" in log


@pytest.mark.parametrize(
    ("behaviour", "word", "words"),
    [
        ("no call", "not run", "the process made no CUDA call"),
        ("unsupported", "not run", "Device not supported"),
        ("quiet", "not run", "the tool says nothing of what it has seen"),
        ("broken", "failed", "the report cannot be read"),
    ],
)
def test_what_is_no_result(
    program: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    behaviour: str,
    word: str,
    words: str,
) -> None:
    behave(monkeypatch, memcheck=behaviour)
    outcome = make(program, tmp_path).run("memcheck", ["a"], 20)
    assert outcome.word == word
    assert words in outcome.detail


def test_a_tool_that_hangs(program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    behave(monkeypatch, memcheck="hangs")
    outcome = make(program, tmp_path).run("memcheck", ["a"], 0.5)
    assert outcome.word == "failed"
    assert outcome.detail.startswith("it still runs after ")


def test_a_program_that_fails(program: str, tmp_path: Path) -> None:
    code = "print('ran: a'); print('error: b: it is broken'); raise SystemExit(1)"
    outcome = make(program, tmp_path, code).run("memcheck", ["a", "b"], 20)
    assert (outcome.word, outcome.ran) == ("failed", 1)
    assert "error: b: it is broken" in outcome.detail


def test_an_old_report_is_not_taken_for_a_new_one(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    behave(monkeypatch, finds=["a"])
    made = make(program, tmp_path)
    assert made.run("memcheck", ["a"], 20).word == "found"
    behave(monkeypatch, memcheck="quiet")
    assert made.run("memcheck", ["a"], 20).word == "not run"


def test_an_exit_code_without_a_report_counts(tmp_path: Path) -> None:
    outcome = judge(sanitizer.ERROR_CODE, "ran: a\nERROR SUMMARY: 1 error", tmp_path / "no", ["a"])
    assert outcome.word == "found"
    assert "ERROR SUMMARY: 1 error" in outcome.detail


def test_a_case_that_did_not_run_is_not_clean(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    report.write_text(fake_sanitizer.REPORT.format(""))
    assert judge(0, "ran: a\n", report, ["a"]).word == "clean"
    assert judge(0, "ran: a\n", report, ["a", "b"]).word == "failed"
    assert judge(0, "ran: ab\n", report, ["a"]).word == "not run"
    assert judge(1, "ran: a\n", report, ["a"]).word == "failed"


def test_reports(tmp_path: Path) -> None:
    file = tmp_path / "report.xml"
    record = fake_sanitizer.RECORD.format(tool="memcheck", name="x &lt; y")
    file.write_text(fake_sanitizer.REPORT.format(record * 2))
    assert read_report(file) == ["memcheck Something is wrong in x < y"] * 2
    file.write_text(fake_sanitizer.REPORT.format("<Race><who>w</who> <where>f.cu</where></Race>"))
    assert read_report(file) == ["w f.cu"]
    file.write_text("<other/>")
    with pytest.raises(ReportError, match="a document 'other'"):
        read_report(file)


def test_a_finding_is_traced_to_its_case() -> None:
    runs: list[list[str]] = []

    def run(names: Sequence[str]) -> Outcome:
        runs.append([*names])
        return Outcome("found", "it", 1) if "f" in names else Outcome("clean", "", len(names))

    found = divide(list("abcdefgh"), run)
    assert [name for name, _ in found] == list("abcdefgh")
    assert [name for name, outcome in found if outcome.word == "found"] == ["f"]
    assert len(runs) == 7


def test_what_is_about_all_is_not_divided() -> None:
    runs: list[Sequence[str]] = []

    def run(names: Sequence[str]) -> Outcome:
        runs.append(names)
        return Outcome("not run", "there is no tool")

    assert {outcome.word for _, outcome in divide(["a", "b"], run)} == {"not run"}
    assert len(runs) == 1


@pytest.mark.parametrize(
    ("word", "plant", "case"),
    [
        ("found", "caught", "clean"),
        ("clean", "missed", "void"),
        ("not run", "not run", "void"),
        ("failed", "failed", "void"),
    ],
)
def test_clean_counts_only_from_a_tool_that_caught_its_plant(
    word: str, plant: str, case: str
) -> None:
    verdict = judge_plant(Outcome(word, "words"))
    assert verdict.verdict == plant
    assert judge_case(Outcome("clean"), "memcheck", verdict).verdict == case
    assert judge_case(Outcome("found", "it"), "memcheck", verdict) == Verdict("found", "it")


def test_the_program_is_found(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert sanitizer.find_sanitizer(program) == program
    assert sanitizer.find_sanitizer(program + "-no") is None
    monkeypatch.setenv("PATH", str(Path(program).parent))
    assert sanitizer.find_sanitizer() == program


def test_the_real_program_without_cuda(tmp_path: Path) -> None:
    found = sanitizer.find_sanitizer()
    if found is None:
        pytest.skip("compute-sanitizer is not here")
    made = make(found, tmp_path)
    assert "--report-api-errors" in made.options("memcheck")
    outcome = made.run("memcheck", ["a"], 100)
    assert outcome.word == "not run"
    assert "made no CUDA call" in outcome.detail
    assert subprocess.run([found, "--version"], check=False).returncode == 0
