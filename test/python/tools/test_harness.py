"""What the benchmarks share: turns, medians, ratios and tables."""

from __future__ import annotations

import math
import subprocess
import sys
from functools import partial

import pytest

from benchmarks.harness import (
    CHILDREN,
    Sample,
    Series,
    Table,
    compare,
    find_fastest,
    span,
    take_turns,
    timed,
    times,
)


def test_turns() -> None:
    order: list[str] = []
    take_turns([partial(order.append, "one"), partial(order.append, "other")], rounds=3)
    assert order == ["one", "other"] * 3


def test_median_and_fastest() -> None:
    series = Series([Sample(3, 1), Sample(1, 5), Sample(2, 6)])
    assert series.median == Sample(2, 5)
    assert series.fastest == Sample(1, 1)
    spent = iter([Sample(1, 3), Sample(1, 9), Sample(9, 2), Sample(1, 8)])
    assert find_fastest([lambda: next(spent)] * 2, rounds=2) == [2, 8]


def test_ratio_is_that_of_rounds() -> None:
    above = Series([Sample(8, 0), Sample(30, 0), Sample(12, 0)])
    below = Series([Sample(2, 0), Sample(10, 0), Sample(4, 0)])
    assert compare(above, below) == (3, 4)


def test_processes_are_told_from_this_one() -> None:
    code = "import time\nwhile time.process_time() < 0.2: pass"
    run = partial(subprocess.run, [sys.executable, "-c", code], check=True)
    assert timed(run, CHILDREN).processor >= 0.2
    assert timed(run).processor < 0.2 < timed(run).wall


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0123456, "12.3 ms"),
        (0.9996, "1.00 s"),
        (12.34, "12.3 s"),
        (math.inf, "-"),
        (math.nan, ""),
    ],
)
def test_span(seconds: float, text: str) -> None:
    assert span(seconds) == text


def test_table(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table("name", "median", "a longer title", name=6)
    table.row("first", span(0.5), times(1.5), "  remark")
    table.row("second", span(100))
    assert capsys.readouterr().out.splitlines() == [
        "name      median  a longer title",
        "first     500 ms          1.50 x  remark",
        "second     100 s",
    ]
