"""Attention leaves out the columns that a mask by indices hides, if factors are finite."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import pipeline
from pipeline.schedules import Target, target
from schedules.attention_programs import Attention

# Of 128 rows a block, and of 64 columns at a time.
LONG = Attention(1, 2, 384, 640, 64, 64, "f16", "causal", "softmax", is_dynamic=False)
PROGRAMS = {
    "causal": LONG,
    "window": replace(LONG, mask="window"),
    "latest": replace(LONG, mask="latest"),
    "added": replace(LONG, mask="added-causal"),
    "causal of i32": replace(LONG, mask="causal-i32"),
    "window of i32": replace(LONG, mask="window-i32"),
    "wrapping i32": replace(LONG, mask="wrapping-i32"),
    "unsigned": replace(LONG, mask="unsigned"),
    "ragged": replace(LONG, rows=300, keys=597),
    "wide": replace(LONG, width=128, out=128, kind="bf16"),
    "more rows": replace(LONG, rows=1000, keys=597),
    "hidden rows": replace(LONG, mask="later"),
    "guarded": replace(LONG, mask="later", spelling="guarded"),
    "few rows": replace(LONG, rows=5, keys=2048, mask="latest"),
}


@pytest.fixture(autouse=True)
def small_chip(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave no room for whole rows, and give each multiprocessor several blocks."""

    def make_target(chip: str, chips: object) -> Target:
        return Target(chip, 2, 100 << 10)

    monkeypatch.setattr(target, "make_target", make_target)


def compile_finite(attention: Attention) -> pipeline.Module:
    module = pipeline.compile(attention.text, chip="sm_80", numerics="finite")
    assert module.schedule is not None
    assert '"skip-masked" = true' in module.schedule
    return module


# Compiled with tiles of 16 to 64 rows.
WIDE = replace(LONG, kind="f32", groups=1, width=32, out=32, keys=1024)


@pytest.mark.parametrize("is_dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_results(name: str, is_dynamic: bool) -> None:
    check(replace(PROGRAMS[name], is_dynamic=is_dynamic, knows_rows=True))


def test_f32() -> None:
    check(WIDE)


def test_rows_that_the_launch_knows() -> None:
    check(replace(LONG, is_dynamic=True))


def check(attention: Attention) -> None:
    arguments = attention.make_arguments(np.random.default_rng(4))
    with np.errstate(invalid="ignore"):
        expected = attention.compute(*arguments)
    module = compile_finite(attention)
    for order in ("forward", "reverse", 3):
        result = module.run(*arguments, order=order, check="races", workers=1)
        np.testing.assert_allclose(result, expected, attention.tolerance, attention.tolerance)


# Of each mask, keys that it hides from the 128 rows of a block; in whole steps of 64.
HIDDEN = {
    "causal": (0, slice(128, 640)),
    "added": (0, slice(128, 640)),
    "window": (256, slice(0, 128)),
    "latest": (0, slice(384, 640)),
    "causal of i32": (0, slice(128, 640)),
    "window of i32": (256, slice(0, 128)),
    "guarded": (0, slice(64, 640)),
}


@pytest.mark.parametrize("name", HIDDEN)
def test_hidden_columns_are_not_read(name: str) -> None:
    """What is hidden from a block has no effect on it, and has one where nothing is skipped."""
    attention = PROGRAMS[name]
    arguments = attention.make_arguments(np.random.default_rng(5))
    row, keys = HIDDEN[name]
    arguments[2][:, keys] = np.nan
    of_block = slice(row, row + 128)
    skipped = compile_finite(attention).run(*arguments, check="races", workers=1)
    exact = pipeline.compile(attention.text, chip="sm_80").run(*arguments, workers=1)
    visible = np.isfinite(attention.compute(*attention.make_arguments(np.random.default_rng(5))))
    is_finite = np.isfinite(skipped[:, :, of_block])
    np.testing.assert_array_equal(is_finite, visible[:, :, of_block])
    assert not np.isfinite(exact[:, :, of_block]).any()


def test_unsigned_comparisons_hide_nothing() -> None:
    attention = PROGRAMS["unsigned"]
    exact = pipeline.compile(attention.text, chip="sm_80")
    assert compile_finite(attention).ptx == exact.ptx


def test_guards_in_f64() -> None:
    """PyTorch's ``_safe_softmax`` compares with minus infinity in f64."""
    attention = PROGRAMS["guarded"]
    text = attention.text.replace(
        "%0 = arith.cmpf oeq, %a, %least : f32",
        "%lowest = arith.constant 0xFFF0000000000000 : f64\n"
        "    %2 = arith.extf %a : f32 to f64\n"
        "    %0 = arith.cmpf oeq, %2, %lowest : f64",
    )
    assert text != attention.text
    arguments = attention.make_arguments(np.random.default_rng(6))
    arguments[2][:, 64:] = np.nan
    module = pipeline.compile(text, chip="sm_80", numerics="finite")
    result = module.run(*arguments, check="races", workers=1)
    assert np.isfinite(result[:, :, :128]).all()


@pytest.mark.parametrize("doublings", [3, 40, 62])
def test_long_sums(doublings: int) -> None:
    """Sums that may wrap are no bounds, and are read once, however often they are used."""
    lines = ["%w0 = arith.addi %i, %i : index"]
    for number in range(doublings):
        lines.append(f"%w{number + 1} = arith.addi %w{number}, %w{number} : index")
    lines.append(f"%1 = arith.cmpi sle, %j, %w{doublings} : index")
    text = PROGRAMS["causal"].text.replace(
        "%1 = arith.cmpi sgt, %j, %i : index\n    %score = arith.select %1, %least, %0",
        "\n    ".join([*lines, "%score = arith.select %1, %0, %least"]),
    )
    assert f"%w{doublings}" in text
    exact = pipeline.compile(text, chip="sm_80")
    finite = pipeline.compile(text, chip="sm_80", numerics="finite")
    assert (finite.ptx != exact.ptx) == (doublings < 20)
    arguments = PROGRAMS["causal"].make_arguments(np.random.default_rng(7))
    expected = exact.run(*arguments, workers=1)
    np.testing.assert_allclose(finite.run(*arguments, workers=1), expected, 2e-3, 2e-3)
