"""Streaming K by a user's schedule: copies at their level, sums in registers, results once."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import pipeline
from pipeline.system.assembler import assemble
from schedules.streaming_programs import SPACES, Streaming

CASES = {
    "i32": Streaming(),
    "f32": Streaming(kind="f32"),
    "f16": Streaming(kind="f16"),
    "i8": Streaming(kind="i8"),
    "warps": Streaming(core="warp", of_core=(32, 32)),
    "warps-f16": Streaming(core="warp", of_core=(16, 32), kind="f16"),
    "no-inner-copies": Streaming(copied=()),
    "narrow": Streaming(of_core=(2, 8)),
    "one-step": Streaming(k=256),
}


def compile_case(case: Streaming, **options: Any) -> pipeline.Module:
    return pipeline.compile(case.text, schedule=case.schedule, memory_options=SPACES, **options)


def emulate(module: pipeline.Module, case: Streaming) -> pipeline.Report:
    a, b = case.make_inputs()
    for order in ("forward", "reverse", "seeded"):
        result = module.run(a, b, backend="emulator", check="all", order=order, workers=1)
        np.testing.assert_array_equal(np.asarray(result), case.expect(a, b))
    options = pipeline.Options(statistics=True, workers=1)
    (report,) = module.emulate(a, b, options=options)
    return report


def global_bytes(report: pipeline.Report, kind: str) -> int:
    assert report.statistics is not None
    return sum(
        place.bytes * place.accesses
        for place in report.statistics.per_access
        if place.space == "global" and place.kind == kind
    )


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_streaming(case: Streaming) -> None:
    """Each tile is read once, each element of the result written once, and nothing else."""
    module = compile_case(case)
    assert ".local" not in module.ptx
    report = emulate(module, case)
    blocks = case.m // case.tile[0] * (case.n // case.tile[1])
    size = np.dtype(case.make_inputs()[0].dtype).itemsize
    assert global_bytes(report, "read") == blocks * sum(case.tile) * case.k * size
    assert global_bytes(report, "write") == case.m * case.n * 4
    # Before the copies of each step and behind them, but for the first.
    assert report.statistics is not None
    steps = case.k // case.outer
    assert report.statistics.barriers <= blocks * 2 * steps


@pytest.mark.parametrize("case", [CASES["i32"], CASES["warps"]], ids=["threads", "warps"])
def test_sizes_of_the_thread(case: Streaming) -> None:
    """Its sizes are assembled without spills, and a block of them computes the right numbers."""
    for m, n, k in ((1024, 512, 2048), (2048, 2048, 2048)):
        case = replace(case, m=m, n=n, k=k)
        module = compile_case(case)
        _, log = assemble(module.ptx, module.chip)
        assert re.search(r"\b0 bytes stack frame, 0 bytes spill stores", log), log
    case = replace(case, m=64, n=64)
    emulate(compile_case(case), case)


@pytest.mark.parametrize("core", ["thread", "warp"])
def test_barriers_are_needed(core: str) -> None:
    """Without any of its barriers, the kernel races."""
    case = Streaming(core=core, of_core=(4, 4) if core == "thread" else (32, 32))
    text = compile_case(case, until="gpu").texts["gpu"]
    barriers = [match.span() for match in re.finditer("gpu.barrier\n", text)]
    assert len(barriers) == 2
    for start, end in barriers:
        with pytest.raises(pipeline.CompileError, match="data race"):
            pipeline.compile(text[:start] + text[end:], sync="keep")
