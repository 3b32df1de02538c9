"""What `tools/bench growth` counts, and what it finds too much."""

from __future__ import annotations

from pathlib import Path

import pytest

import pipeline
from benchmarks import growth_count
from benchmarks.harness import Table

TOLD = """\
==7== Cachegrind, a cache and branch-prediction profiler
==7==
==7== I   refs:      1,166,812,001
"""


def test_counts_are_read() -> None:
    """The number is the last one that valgrind tells; without one, its message is told."""
    assert growth_count.read_count(TOLD) == 1_166_812_001
    with pytest.raises(ValueError, match="no number of instructions: valgrind: not found"):
        growth_count.read_count("==7== Command: x\nvalgrind: not found\n")


def test_failures_are_told(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A valgrind that is not there, one that fails, and one that tells nothing."""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert growth_count.main(["--families", "pairs"]) == growth_count.MISSING
    assert "apt-get install valgrind" in capfd.readouterr().err
    program = tmp_path / "valgrind"
    for body, told in (("exit 3", "pairs was not compiled: "), ("exit 0", "pairs was not counted")):
        program.write_text(f"#!/bin/sh\necho why >&2\n{body}\n")
        program.chmod(0o755)
        assert growth_count.main(["--families", "pairs"]) == 1
        error = capfd.readouterr().err
        assert told in error
        assert "why" in error


@pytest.mark.parametrize("count", [1, 3])
def test_layers_are_kernels(count: int) -> None:
    """No two layers share a kernel, so that the program grows with them."""
    assert len(pipeline.compile(growth_count.layers(count)).kernels) == count


@pytest.mark.parametrize("family", growth_count.FAMILIES)
def test_programs_compile(family: str) -> None:
    """Every family has programs, which become longer."""
    sizes = growth_count.FAMILIES[family].sizes
    short, long = (growth_count.FAMILIES[family].print(size) for size in (sizes[0] // 2, sizes[0]))
    lines = [len(pipeline.compile(text).ptx.splitlines()) for text in (short, long)]
    assert lines[0] < lines[1]


@pytest.mark.parametrize(("power", "is_near"), [(1.0, True), (1.25, True), (1.5, False)])
def test_growth(power: float, is_near: bool, capsys: pytest.CaptureFixture[str]) -> None:
    """A count that grows by the size to the power of 1.5 is too much, of 1.25 it is not."""
    family = growth_count.Family("letters", (10, 20, 40), "x".__mul__)
    table = Table("", "size", "all", "of one", "power")
    counter = lambda text: int(1e8 * len(text) ** power)  # noqa: E731
    assert growth_count.measure(family, "x", counter, table) is is_near
    assert f"{power:.2f}" in capsys.readouterr().out.splitlines()[-1]
