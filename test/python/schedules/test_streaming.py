"""Streaming K by a user's schedule: copies at their level, sums in registers, results once."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import pipeline
from oracles.contractions.streaming import DEEP, SCRIPT, SPACES, Streaming
from pipeline.system.assembler import assemble

CASES = {
    "i32": Streaming(),
    "f32": Streaming(kind="f32"),
    "f16": Streaming(kind="f16"),
    "i8": Streaming(kind="i8"),
    "warps": Streaming(core="warp", of_core=(32, 32)),
    "warps-f16": Streaming(core="warp", of_core=(16, 32), kind="f16"),
    "no-inner-copies": Streaming(copied=()),
    "result-too": Streaming(copied=(0, 1, 2)),
    "narrow": Streaming(of_core=(2, 8)),
    "result-staged": Streaming(is_result_staged=True),
    "ragged": Streaming(is_result_staged=True, m=100, n=100, k=500),
    "ragged-f32": Streaming(is_result_staged=True, m=70, n=64, k=300, kind="f32"),
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
    rows, columns = -(-case.m // case.tile[0]), -(-case.n // case.tile[1])
    steps = -(-case.k // case.outer)
    # Of ragged tiles, cp.async counts what it fills with zeros, too.
    elements = rows * columns * sum(case.tile) * steps * case.outer
    size = np.dtype(case.make_inputs()[0].dtype).itemsize
    assert global_bytes(report, "read") == elements * size
    assert global_bytes(report, "write") == case.m * case.n * 4
    # Before the copies of each step and behind them; and before the result is copied.
    assert report.statistics is not None
    barriers = 2 * steps + case.is_result_staged
    assert report.statistics.barriers <= rows * columns * barriers


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


def test_copies_at_the_wrong_level() -> None:
    """Copies that stand one loop too deep leave it: each tile is read once."""
    case = Streaming()
    module = pipeline.compile(DEEP, memory_options=SPACES)
    assert ".local" not in module.ptx
    assert sum("copy hoisted out of a loop" in str(remark) for remark in module.remarks) == 2
    report = emulate(module, case)
    assert global_bytes(report, "read") == (case.m + 2 * case.n) * case.k * 4
    assert global_bytes(report, "write") == case.m * case.n * 4


def test_copies_that_stay() -> None:
    """Where something else writes to what is copied, the copy stays, and a remark says why."""
    store = "          memref.store %zero, %a[%s, %t] : !a\n"
    at = DEEP.index("          %m = affine.apply")
    module = pipeline.compile(
        DEEP[:at] + store + DEEP[at:], memory_options=SPACES, verify=False, until="gpu"
    )
    remarks = [str(remark) for remark in module.remarks if "NotHoisted" in str(remark)]
    assert remarks
    for remark in remarks:
        assert "the loop may write its source" in remark
        assert "linalg.copy" in DEEP.splitlines()[int(remark.split(":")[1]) - 1]


@pytest.mark.parametrize(("core", "tile"), [("warp", (32, 32)), ("thread", (4, 8))])
def test_script_of_the_thread(core: str, tile: tuple[int, int]) -> None:
    """The fill is next to the core, sums stay there, and the result is copied once."""
    case = Streaming(k=512)
    script = SCRIPT.format(core=core, cm=tile[0], cn=tile[1])
    module = pipeline.compile(case.text, schedule=script, memory_options=SPACES)
    assert ".local" not in module.ptx
    report = emulate(module, case)
    assert global_bytes(report, "write") == case.m * case.n * 4
    assert report.statistics is not None
    assert report.statistics.barriers == 2  # one of each block, before the result is copied
