"""The comparison of compile times goes on without a compiler that cannot be installed."""

from __future__ import annotations

from pathlib import Path

import pytest

import pipeline
from benchmarks import compilers_time
from benchmarks.compiler_programs import OPERATIONS, PROGRAMS
from benchmarks.compilers_time import Contender
from benchmarks.harness import Sample, Series
from setup.environment import SetupError


def make_contender(name: str, columns: dict[str, list[Sample]]) -> Contender:
    return Contender(name, columns={key: Series(samples) for key, samples in columns.items()})


def test_programs() -> None:
    """What is compiled is what is told."""
    assert (
        PROGRAMS["network"].count("linalg.generic")
        + PROGRAMS["network"].count("linalg.matmul")
        + PROGRAMS["network"].count("linalg.fill")
        == OPERATIONS
    )
    pytest.importorskip("pipeline.schedules")
    for text in PROGRAMS.values():
        assert ".target sm_80" in (pipeline.compile(text).ptx or "")


def test_missing_peer(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is named with the reason; the others are measured."""

    def refuse(*_: object) -> None:
        raise SetupError("pip install failed: there is no network")

    monkeypatch.setattr(compilers_time, "run", refuse)
    monkeypatch.setattr(compilers_time, "VENVS", tmp_path)
    peer = Contender("IREE", ("iree-base-compiler==0.0.0",))
    peer.install()
    peer.measure(tmp_path, rounds=1)
    samples = [Sample(0.05, 0.04), Sample(0.07, 0.06), Sample(0.06, 0.05)]
    own = make_contender("ours", {"matmul": samples})
    compilers_time.show([own, peer])
    output = capsys.readouterr().out
    assert "IREE not installed: pip install failed: there is no network" in output
    assert ["ours", "60", "ms", "1.00", "x", "50", "ms", "1.00", "x"] in map(
        str.split, output.splitlines()
    )
    assert not compilers_time.is_met([own, peer])


def test_failing_peer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """So is one that is there and does not work."""
    monkeypatch.setattr(compilers_time, "VENVS", tmp_path)
    peer = Contender("Triton", ("triton==0.0.0",))
    (tmp_path / "triton" / "bin").mkdir(parents=True)
    (tmp_path / "triton" / "bin" / "python").symlink_to("/bin/false")
    peer.measure(tmp_path, rounds=1)
    assert peer.failure == "fails: no message"


def test_targets() -> None:
    """Both the time and the ratio have to be met."""
    own = make_contender("ours", {key: [Sample(0.05, 0.05)] for key in compilers_time.LIMITS})
    slow = make_contender("IREE", {key: [Sample(0.2, 0.2)] for key in compilers_time.LIMITS})
    close = make_contender("Triton", {"matmul": [Sample(0.1, 0.1)]})
    assert compilers_time.is_met([own, slow])
    assert not compilers_time.is_met([own, slow, close])
    # Of kernels on tensor cores only the time counts.
    near = make_contender("Triton", {"half": [Sample(0.06, 0.06)]})
    assert compilers_time.is_met([own, slow, near])
    late = make_contender("ours", {key: [Sample(0.2, 0.2)] for key in compilers_time.LIMITS})
    assert not compilers_time.is_met([late, slow])


def test_omitted_program(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What a peer is not asked for is no failure of it."""
    asked: list[str] = []

    def measure(_: Contender, __: Path, program: str, rounds: int) -> list[Sample]:
        asked.append(program)
        return [Sample(0.1, 0.1)] * rounds

    monkeypatch.setattr(Contender, "_warm", measure)
    monkeypatch.setattr(Contender, "_once", lambda *_: ["true"])
    peer = Contender("IREE", ("iree-base-compiler==0.0.0",), omitted=("attention",))
    peer.measure(tmp_path, rounds=1)
    assert asked == [program for program in PROGRAMS if program != "attention"]
    assert not peer.failure
    assert peer.median("attention") is None
