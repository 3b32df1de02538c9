"""What `tools/bench growth` counts, and what it finds too much."""

from __future__ import annotations

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
