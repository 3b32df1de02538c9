"""Attention as torch-mlir exports it is one kernel on tensor cores."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import pipeline
from pipeline.schedules import Target, target
from pytorch.attention import ATTENTIONS, Attention

# Heads that share keys are copied before they are multiplied, as are keys that are looked up.
CHAINS = [one for one in ATTENTIONS if one.groups == 1 and not one.is_dynamic]
OF_CHAINS = pytest.mark.parametrize("attention", CHAINS, ids=lambda one: one.name)
CHIPS = {"f16": ("sm_75", "sm_80", "sm_90a"), "bf16": ("sm_80", "sm_90a")}


def check(module: pipeline.Module, attention: Attention, seed: int) -> None:
    arguments = attention.make_arguments(np.random.default_rng(seed))
    result = np.asarray(module.run(*arguments, check="races", workers=1)).astype(np.float64)
    expected = attention.compute(*arguments)
    np.testing.assert_allclose(result, expected, attention.tolerance, attention.tolerance)


@OF_CHAINS
def test_on_tensor_cores(attention: Attention) -> None:
    for chip in CHIPS[attention.kind]:
        module = pipeline.compile(attention.text, chip=chip, numerics="narrow")
        assert len(module.kernels) == 1
        assert f"f32.{attention.kind}.{attention.kind}.f32" in module.ptx
        check(module, attention, 1)


@pytest.fixture
def little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave no room for whole rows."""

    def make_target(chip: str, chips: object) -> Target:
        return Target(chip, 2, 64 << 10)

    monkeypatch.setattr(target, "make_target", make_target)


@pytest.mark.usefixtures("little_memory")
@OF_CHAINS
def test_rows_in_registers(attention: Attention) -> None:
    """All but scores whose mask is in memory as truth values, which vectors do not have."""
    module = pipeline.compile(attention.text, chip="sm_80", numerics="narrow")
    assert len(module.kernels) == 1
    assert '"stream" = ' in (module.schedule or "")
    names = {remark.name for remark in module.remarks}
    assert ("LoweredChain" in names) == (attention.mask != "truth")
    check(module, attention, 3)


@pytest.mark.parametrize("attention", [one for one in ATTENTIONS if one not in CHAINS], ids=str)
def test_several_kernels(attention: Attention) -> None:
    module = pipeline.compile(attention.text, chip="sm_80", numerics="narrow")
    for keys in (1, 65, 200) if attention.is_dynamic else (attention.keys,):
        check(module, replace(attention, keys=keys), keys)


@OF_CHAINS
def test_without_the_option(attention: Attention) -> None:
    """A remark names it, and where it would do something; programs in 16 bits need none."""
    module = pipeline.compile(attention.text, chip="sm_80")
    missed = {one.name for one in module.remarks if "--numerics narrow" in one.message}
    names = {"f16": {"WideWeights"}, "bf16": {"WideWeights", "ScaledFactors"}}
    assert missed == (set() if attention.by_hand else names[attention.kind])
    assert ("mma.sync" in module.ptx) == (attention.kind == "f16")
    check(module, attention, 2)
