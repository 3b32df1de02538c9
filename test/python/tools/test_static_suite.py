"""The suite of `tools/bench static`: its bars, what it records, and a few kernels of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.static.bars import Bar, held, missed
from benchmarks.static.cases import Case, cases, matmul
from benchmarks.static.chips import reside
from benchmarks.static.main import CHECKED, find_cases
from benchmarks.static.records import (
    JSON,
    MARKDOWN,
    dump,
    find_regressions,
    load,
    merge,
    read_version,
)
from benchmarks.static.rows import OURS, Row, Value, compare_loops, measure_case
from benchmarks.static.sass import find_nvdisasm
from benchmarks.static.tables import write_document
from packing.references import by_row
from pipeline.errors import ToolError
from pipeline.system.assembler import find_version
from pipeline.system.toolchain import find_ptxas

CHIPS = ("sm_80", "sm_90a")


@pytest.fixture(scope="module")
def needs_disassembler() -> None:
    try:
        find_ptxas()
    except ToolError as error:
        pytest.skip(str(error))
    if not find_nvdisasm():
        pytest.skip("nvdisasm was not found")


def make_row(case: Case, on: str = "sm_80", /, **figures: Value) -> Row:
    return Row(case, on, OURS, "main_kernel", dict(figures))


LARGE = matmul(4096, 4096, 4096, "f16")


def test_bars() -> None:
    """A row is held against the bars of its group, kind and chip whose conditions it meets."""
    row = make_row(LARGE, work="HMMA.16816", tensor=1, hopper=0, math=64, share=0.41, spills=4)
    assert {str(bar) for bar in missed(row)} == {"spills = 0"}
    row.figures["math"] = 128
    assert {str(bar) for bar in missed(row)} == {"spills = 0", "share >= 0.46"}
    row.figures |= {"tensor": 0, "spills": 0}
    assert [str(bar) for bar in missed(row)] == ["tensor = 1"]
    assert held(row) == 2
    row.chip = "sm_90a"
    assert {str(bar) for bar in missed(row)} == {"tensor = 1", "hopper = 1"}
    small = make_row(matmul(512, 512, 512, "f32"), share=0.1, barriers=1, unfused=1)
    assert [str(bar) for bar in missed(small)] == ["unfused = 0"]


def test_unknown_figures() -> None:
    """What is not known is no miss; rounding is none either."""
    bar = Bar("matmul * *", "load_sectors", "<=", 1)
    assert bar.is_met(make_row(LARGE, load_sectors=None))
    assert bar.is_met(make_row(LARGE, load_sectors=1 + 1e-9))
    assert not bar.is_met(make_row(LARGE, load_sectors=1.01))
    assert not bar.applies(make_row(LARGE))
    assert not bar.applies(make_row(next(c for c in cases() if c.group == "conv"), load_sectors=2))


def test_residence() -> None:
    """Registers, workgroup memory, threads and blocks limit what is resident."""
    by_registers = reside("sm_80", 1024, 256, 128, 16384)
    assert by_registers
    assert (by_registers.blocks, by_registers.slots, by_registers.waves) == (2, 216, 5)
    assert by_registers.quantisation == pytest.approx(1024 / 1080)
    by_memory = reside("sm_90a", 132, 384, 168, 200 << 10)
    assert by_memory
    assert (by_memory.blocks, by_memory.quantisation) == (1, 1.0)
    by_threads = reside("sm_80", 216, 1024, 32, 0)
    assert by_threads
    assert by_threads.blocks == 2
    by_blocks = reside("sm_80", 108 * 32, 32, 16, 0)
    assert by_blocks
    assert by_blocks.blocks == 32
    assert reside("sm_80", 1, 1024, 255, 0) is None


def test_loops_beside_those_of_matmuls() -> None:
    """Loops are compared where the same instruction does the work."""
    conv = next(case for case in cases() if case.same and case.kind == "f16")
    same = next(case for case in cases() if case.name == conv.same)
    rows = [
        make_row(same, work="HMMA.16816", per_math=2.0),
        make_row(conv, work="HMMA.16816", per_math=3.0),
        make_row(same, "sm_90a", work="HGMMA.64x256x16", per_math=13.0),
        make_row(conv, "sm_90a", work="HMMA.16816", per_math=3.0),
    ]
    compare_loops(rows)
    assert rows[1].figures["against_same"] == pytest.approx(1.5)
    assert [bar.figure for bar in missed(rows[1])] == ["against_same"]
    assert "against_same" not in rows[3].figures


def test_regressions() -> None:
    """Worse is what is worse by more than what rounds; other instructions are not compared."""
    old = [make_row(LARGE, work="FFMA", tensor=0, share=0.77, traffic=1.0, kernels=1)]

    def worse(**figures: Value) -> list[str]:
        return [
            line.split(": ", 1)[1] for line in find_regressions(old, [make_row(LARGE, **figures)])
        ]

    assert worse(work="FFMA", tensor=0, share=0.76, traffic=1.01, kernels=1) == []
    assert worse(work="FFMA", tensor=0, share=0.7) == ["share was 0.77, is 0.7"]
    assert worse(work="HMMA.16816", tensor=1, share=0.5) == []
    assert worse(work="FFMA", traffic=1.5, kernels=2) == [
        "kernels was 1, is 2",
        "traffic was 1.0, is 1.5",
    ]
    [line] = find_regressions(old, [Row(LARGE, "sm_80", OURS, note="error: refused")])
    assert line.endswith("error: refused")
    [line] = find_regressions([], old)
    assert line.endswith("is not recorded")


def test_records(tmp_path: Path) -> None:
    """Rows are read as they were written, and replace those of the same case, chip and compiler."""
    everything = cases()
    rows = [
        make_row(LARGE, work="FFMA", share=0.123456, per_ldsm=None),
        Row(LARGE, "sm_90a", OURS, note="error: refused"),
    ]
    file = tmp_path / "static.json"
    file.write_text(dump(rows, "13.0.88"), encoding="utf-8")
    read = load(file, everything)
    assert [row.figures for row in read] == [
        {"work": "FFMA", "share": 0.1235, "per_ldsm": None},
        {},
    ]
    assert [row.note for row in read] == ["", "error: refused"]
    assert read_version(file) == "13.0.88"
    fresh = make_row(LARGE, "sm_90a", work="FFMA")
    merged = merge(read, [Row(LARGE, "sm_80", "Triton"), fresh], everything)
    assert [row.compiler for row in merged] == [OURS, "Triton", OURS]
    assert merged[-1] is fresh
    assert load(tmp_path / "none.json", everything) == []


def test_committed_records() -> None:
    """All cases are recorded, and the document says what the records do."""
    everything = cases()
    assert len({case.name for case in everything}) == len(everything)
    rows = load(JSON, everything)
    recorded = {(row.case.name, row.chip) for row in rows if row.compiler == OURS}
    assert recorded == {(case.name, chip) for case in everything for chip in CHIPS}
    document = MARKDOWN.read_text(encoding="utf-8")
    assert document == write_document(rows, read_version(JSON)), "./tools/bench static --write"


@pytest.mark.usefixtures("needs_disassembler")
def test_merged_accesses() -> None:
    """Scalar loads of which LLVM makes wide ones are counted as wide ones."""
    reference = by_row("add", 64, 256, ())
    operands = (*reference.inputs, reference.output)
    arguments = tuple((one.shape, one.element) for one in operands)
    total = sum(one.bytes for one in operands)
    case = Case("add", "memory", "f32", reference.text, arguments, total, has_destination=True)
    row = measure_case(case, "sm_80")
    assert not row.note
    assert row.figures["wide_loads"] == row.figures["wide_stores"] == 1
    assert row.figures["load_sectors"] == row.figures["store_sectors"] == 1
    assert row.figures["traffic"] == 1


@pytest.mark.usefixtures("needs_disassembler")
def test_refused_programs() -> None:
    """A row says why there are no figures."""
    bad = Case("bad", "memory", "f32", "func.func @main() { unknown }", (), 0)
    row = measure_case(bad, "sm_80")
    assert row.figures == {}
    assert "error" in row.note


@pytest.mark.usefixtures("needs_disassembler")
def test_nothing_is_worse() -> None:
    """A few kernels are as good as recorded; `./tools/bench static --write` records others."""
    pytest.importorskip("pipeline.schedules")
    if find_version() != read_version(JSON):
        pytest.skip(f"recorded with ptxas {read_version(JSON)}, not {find_version()}")
    chosen = find_cases(CHECKED)
    assert 6 <= len(chosen) <= 12
    rows = [measure_case(case, "sm_80") for case in chosen]
    compare_loops(rows)
    assert list(find_regressions(load(JSON, cases()), rows)) == []
