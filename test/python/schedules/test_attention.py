"""Attention of long rows is one kernel, which keeps no row of scores."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest

import pipeline
from pipeline.schedules import Target, target
from schedules.attention_programs import MASKS, SPELLINGS, Attention

LONG = Attention(1, 2, 32, 384, 32, 32, "f32", "causal", "softmax", is_dynamic=False)
KINDS = (
    *(replace(LONG, mask=mask) for mask in MASKS),
    *(replace(LONG, mask="chosen", spelling=spelling) for spelling in SPELLINGS[1:]),
    replace(LONG, kind="f16", mask="added", width=64),
    replace(LONG, kind="bf16", heads=2, groups=1, out=20),
)


@pytest.fixture
def little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave no room for whole rows."""

    def make_target(chip: str, chips: object) -> Target:
        return Target(chip, 108, 64 << 10)

    monkeypatch.setattr(target, "make_target", make_target)


def run(attention: Attention, seed: int) -> None:
    module = compile_stream(attention)
    arguments = attention.make_arguments(np.random.default_rng(seed))
    result = module.run(*arguments, check="races", workers=1)
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(
            result, attention.compute(*arguments), attention.tolerance, attention.tolerance
        )


def compile_stream(attention: Attention) -> pipeline.Module:
    module = pipeline.compile(attention.text, chip="sm_80")
    assert len(module.kernels) == 1
    assert module.schedule is not None
    assert '"stream" = 64' in module.schedule
    return module


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize("number", range(len(KINDS)))
def test_kinds(number: int) -> None:
    run(KINDS[number], number)


@pytest.mark.usefixtures("little_memory")
def test_nan_and_infinities() -> None:
    """What is no number in a row of scores, or in values, is so in results."""
    attention = replace(LONG, mask="added")
    module = compile_stream(attention)
    query, key, value, mask = attention.make_arguments(np.random.default_rng(5))
    mask[3, 100], mask[5, 7], mask[7, :] = np.nan, np.inf, -np.inf
    mask[9, :70], mask[11, :] = -np.inf, np.finfo(np.float32).min
    value[0, 80, 2] = np.inf
    arguments = (query, key, value, mask)
    result = module.run(*arguments, check="races", workers=1)
    with np.errstate(invalid="ignore"):
        expected = attention.compute(*arguments)
    np.testing.assert_array_equal(np.isnan(result), np.isnan(expected))
    assert np.isnan(expected[0, 0, [3, 5, 7]]).all()
    mean = np.delete(value.mean(1), 2, 1)
    np.testing.assert_allclose(np.delete(result[:, 0, 11], 2, 1), mean, 2e-4, 2e-5)
    finite = np.isfinite(expected)
    finite[:, :, 11] = False
    np.testing.assert_allclose(result[finite], expected[finite], 2e-4, 2e-5)


def test_scores_are_kept_nowhere() -> None:
    """Global memory has arguments and results, which are stored once."""
    attention = replace(
        LONG, heads=8, rows=512, keys=4096, width=64, out=64, kind="f16", mask="none"
    )
    module = compile_stream(attention)
    (kernel,) = module.kernels.values()
    assert kernel.resources.stack_bytes == kernel.resources.spill_store_bytes == 0
    assert ".local" not in module.ptx
    steps = json.loads(module.plan.text)["functions"][0]["body"]["steps"]
    assert sum(step["op"] == "memref.alloc" for step in steps) == 1
    widths = re.findall(r"st\.global(?:\.v(\d))?\.b32", module.ptx)
    rows, columns, threads = 64, 64, 128
    assert sum(int(width or 1) for width in widths) == rows * columns // threads
