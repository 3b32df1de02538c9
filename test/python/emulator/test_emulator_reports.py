"""What is said about faulty kernels: as text, as data, and as exceptions."""

from __future__ import annotations

import copy
import functools
import json
import pickle
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pipeline
from emulator import (
    faults_bounds,
    faults_bulk,
    faults_races,
    faults_waiting,
    faults_warpgroups,
)
from emulator.faults import kernel, numbers, rendered
from pipeline.conversion import convert
from pipeline.records.findings import report_from_native, to_json

FAULTS = {
    fault.name: fault
    for fault in (
        *faults_races.FAULTS,
        *faults_bounds.FAULTS,
        *faults_waiting.FAULTS,
        *faults_bulk.FAULTS,
        *faults_warpgroups.FAULTS,
    )
}
KINDS = {
    *("race.shared", "race.global", "race.blocks", "race.same-value"),
    *("async.not-waited", "async.not-published", "async.too-many", "async.proxy"),
    *("mbarrier", "bulk-copy", "async.register-fence", "matrix-descriptor", "registers"),
    *("out-of-bounds", "read-only", "misaligned", "uninitialized"),
    *("divergence", "exited-thread", "exited-block", "deadlock", "inactive-lane", "exited-lane"),
    *("division", "step-limit", "assertion", "trap", "invalid-barrier"),
}
by_name = pytest.mark.parametrize("name", FAULTS)


@functools.cache
def compiled(name: str) -> pipeline.Kernel:
    return FAULTS[name].compile()


@functools.cache
def report_of(name: str) -> pipeline.Report:
    return FAULTS[name].launch(compiled(name))


def only(report: pipeline.Report) -> pipeline.Finding:
    (finding,) = report.findings
    return finding


# --- text -----------------------------------------------------------------------------------------


def test_every_kind_has_its_fault() -> None:
    assert {fault.kind for fault in FAULTS.values()} == KINDS
    assert list(FAULTS) == list(rendered())


@by_name
def test_text(name: str) -> None:
    assert report_of(name).rendered == rendered()[name]


@pytest.mark.parametrize("order", ["reverse", "seeded"])
@by_name
def test_order_changes_no_verdict(name: str, order: str) -> None:
    """Which threads are named may differ, as may which of two racing accesses was first."""
    report = FAULTS[name].launch(compiled(name), order=order, seed=7)
    kinds = {finding.kind for finding in report.findings}
    if name == "async.not-published" and "race.shared" in kinds:
        return  # the copy begins after the read
    assert kinds == {FAULTS[name].kind}


# Which of several blocks comes first is chance.
@pytest.mark.parametrize("name", [name for name in FAULTS if name != "race.blocks"])
def test_workers_change_nothing(name: str) -> None:
    """The text is the same whichever worker has which block."""
    report = FAULTS[name].launch(compiled(name), workers=2)
    assert report.rendered == report_of(name).rendered


@by_name
def test_locations(name: str) -> None:
    """Lines and columns are those of operations, and the text shows what stands there."""
    lines = FAULTS[name].text.splitlines()
    report = report_of(name)
    for finding in report.findings:
        assert report.rendered.startswith(f"{finding.accesses[-1].location}: error: ")
        for access in finding.accesses:
            location = access.location
            assert location.file == "<string>"
            line = lines[location.line - 1]
            assert re.fullmatch(r" *(%\w+ = )?", line[: location.column - 1])
            assert re.match(r"\w+\.[\w.]+ ?", line[location.column - 1 :])
            assert f"{location}: note: thread (" in report.rendered
            assert f"\n    {line.strip()}\n" in report.rendered


def test_programs_in_files(tmp_path: Any) -> None:
    """Locations name the file, and the lines come from what was compiled, not from there."""
    fault = FAULTS["race.shared"]
    file = tmp_path / "reversed.mlir"
    file.write_text(fault.text)
    kernel = pipeline.compile(file, until="llvm", sync="keep", verify=False).kernels["k"]
    file.write_text("\n" * 100)
    assert fault.launch(kernel).rendered == rendered()[fault.name].replace("<string>", str(file))


def test_locations_of_a_schedule_that_makes_the_kernel() -> None:
    """What a transformed program does wrong is told at the operation it came from."""
    text = """\
func.func @main(%a: memref<64xi32>, %n: index) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %x = memref.load %a[%n] : memref<64xi32>
    memref.store %x, %a[%tx] : memref<64xi32>
    gpu.terminator
  }
  return
}
"""
    (report,) = pipeline.compile(text, until="llvm", sync="keep", verify=False).emulate(
        numbers(64), 70
    )
    assert only(report).accesses[0].location == pipeline.Location("<string>", 6, 10)
    assert only(report).accesses[0].verb == "reads"
    assert (only(report).count, only(report).blocks) == (64, 1)


# --- data -----------------------------------------------------------------------------------------


def test_threads_of_three_dimensions() -> None:
    (access,) = only(report_of("division")).accesses
    assert access.thread == pipeline.Thread((0, 0, 2), (3, 1, 1), warp=1, lane=11)
    assert access.verb == "divides"
    assert access.bytes == 0


@pytest.mark.parametrize(
    ("name", "space", "buffer", "indices", "byte_offset"),
    [
        ("race.shared", "shared", "buffer 0 of k", (63,), 252),
        ("race.global", "global", "argument 0", (63,), 252),
        ("race.same-value", "global", "argument 0", (5, 1), 164),
        ("out-of-bounds: workgroup attribution", "shared", "buffer 0 of k", (), 256),
        ("out-of-bounds: below", "shared", "buffer 0 of k", (), None),
        ("out-of-bounds: memref.global", "shared", "@tile", (), 240),
        ("out-of-bounds: dynamic", "shared", "dynamic workgroup memory", (), 252),
        ("out-of-bounds: argument", "global", "argument 0", (), 256),
        ("out-of-bounds: strided argument", "global", "argument 0", (), 256),
        ("out-of-bounds: private", "", "private memory", (), None),
        ("read-only", "global", "argument 1", (0,), 0),
        ("misaligned", "global", "argument 0", (2,), 8),
        ("division", "", "", (), None),
    ],
)
def test_places_in_buffers(
    name: str, space: str, buffer: str, indices: tuple[int, ...], byte_offset: int | None
) -> None:
    finding = only(report_of(name))
    assert (finding.space, finding.buffer, finding.indices) == (space, buffer, indices)
    if byte_offset is not None:
        assert finding.byte_offset == byte_offset


def test_byte_offsets_below_a_buffer_are_negative() -> None:
    assert only(report_of("out-of-bounds: below")).byte_offset == -8


@pytest.mark.parametrize(
    ("array", "indices"),
    [
        (numbers(8, 8), (7, 6)),
        (numbers(8, 8).T, (6, 7)),
        (numbers(8, 16)[:, ::2], (7, 6)),
        (numbers(16, 9)[::2, 1:], (7, 6)),
    ],
    ids=["rows", "columns", "every other column", "every other row"],
)
def test_indices_into_strided_arguments(array: Any, indices: tuple[int, int]) -> None:
    """The element that two threads write is told as the program counts it."""
    layout = "memref<?x?xi32, strided<[?, ?], offset: ?>>"
    text = kernel(
        f"%a: {layout}, %i: index, %j: index",
        f"""
    %x = arith.index_cast %tx : index to i32
    memref.store %x, %a[%i, %j] : {layout}
""",
    )
    report = (
        pipeline.compile(text, until="llvm", sync="keep", verify=False)
        .kernels["k"]
        .emulate(
            array.copy(order="K") if array.base is None else array,
            *indices,
            grid=(1, 1, 1),
            block=(2, 1, 1),
            options=pipeline.Options(check="races"),
        )
    )
    assert only(report).kind == "race.global"
    assert only(report).indices == indices


CONSTANT = f'  memref.global "private" constant @table : memref<60xi32> = dense<{[*range(60)]}>'


def test_outside_of_a_constant() -> None:
    text = kernel(
        "%a: memref<64xi32>",
        """
    %table = memref.get_global @table : memref<60xi32>
    %x = memref.load %table[%tx] : memref<60xi32>
    memref.store %x, %a[%tx] : memref<64xi32>
""",
        more=CONSTANT,
    )
    for check in ("none", "races"):
        finding = only(launch(text, numbers(64), check=check))
        assert (finding.kind, finding.count) == ("out-of-bounds", 4)
        assert finding.accesses[0].thread.thread == (60, 0, 0)
        assert finding.accesses[0].location == pipeline.Location("<string>", 8, 10)


@pytest.mark.parametrize("check", ["none", "races"])
def test_outside_of_a_constant_into_another(check: str) -> None:
    text = kernel(
        "%a: memref<64xi32>, %n: index",
        """
    %table = memref.get_global @table : memref<60xi32>
    %other = memref.get_global @other : memref<60xi32>
    %i = arith.addi %tx, %n : index
    %x = memref.load %table[%i] : memref<60xi32>
    %y = memref.load %other[%tx] : memref<60xi32>
    %z = arith.addi %x, %y : i32
    memref.store %z, %a[%tx] : memref<64xi32>
""",
        more=f"{CONSTANT}\n{CONSTANT.replace('@table', '@other')}",
    )
    assert not launch(text, numbers(64), 0, block=60, check=check).findings
    for distance in (60, -60):
        report = launch(text, numbers(64), distance, block=60, check=check)
        assert [(item.kind, item.count) for item in report.findings] == [("out-of-bounds", 60)]


def launch(text: str, *values: Any, block: int = 64, **options: Any) -> pipeline.Report:
    return (
        pipeline.compile(text, until="llvm", sync="keep", verify=False)
        .kernels["k"]
        .emulate(*values, grid=(1, 1, 1), block=(block, 1, 1), options=pipeline.Options(**options))
    )


HALF_A_WARP = """
    %is_low = arith.cmpi ult, %tx, %c16 : index
    scf.if %is_low {
      %m = gpu.subgroup_mma_load_matrix %a[%c0, %c0] {leadDimension = 16 : index}
          : memref<16x16xf16> -> !gpu.mma_matrix<16x16xf16, "COp">
      gpu.subgroup_mma_store_matrix %m, %b[%c0, %c0] {leadDimension = 16 : index}
          : !gpu.mma_matrix<16x16xf16, "COp">, memref<16x16xf16>
    }
"""


def test_lanes_that_take_no_part_access_nothing() -> None:
    """Half a warp loads a matrix: that is one mistake, and no access out of bounds."""
    text = kernel("%a: memref<16x16xf16>, %b: memref<16x16xf16>", HALF_A_WARP)
    report = launch(
        text, numbers(16, 16, kind="f2"), numbers(16, 16, kind="f2"), block=32, check="races"
    )
    assert {finding.kind for finding in report.findings} == {"divergence"}
    lines = [finding.accesses[0].location.line for finding in report.findings]
    assert ["subgroup_mma" in line for line in text.splitlines()] == [
        number in lines for number, _ in enumerate(text.splitlines(), 1)
    ]


def test_sizes_of_accesses_by_matrices() -> None:
    text = kernel(
        "%a: memref<16x16xf16>, %b: memref<16x16xf16>",
        HALF_A_WARP.replace("%c16", "%c32").replace("%a[%c0", "%a[%c8"),
    )
    report = launch(
        text, numbers(16, 16, kind="f2"), numbers(16, 16, kind="f2"), block=32, check="races"
    )
    finding = only(report)
    assert finding.kind == "out-of-bounds"
    assert f"{finding.accesses[0].bytes} bytes at byte " in finding.notes[0].message


# --- JSON -----------------------------------------------------------------------------------------

FINDING_KEYS = [
    *("kind", "severity", "message", "space", "buffer", "indices", "byte_offset", "accesses"),
    *("notes", "count", "blocks", "fixes"),
]
REPORT_KEYS = [
    *("kernel", "check", "findings", "rendered", "blocks_run", "blocks", "unreached", "output"),
    *("statistics", "seconds", "hints"),
]


@by_name
def test_json(name: str) -> None:
    """Everything that is known comes back from JSON, under the names of the records."""
    report = report_of(name)
    data = to_json(report)
    assert json.loads(json.dumps(data)) == data
    assert list(data) == REPORT_KEYS
    assert data["rendered"] == report.rendered
    for finding, item in zip(report.findings, data["findings"], strict=True):
        assert list(item) == FINDING_KEYS
        assert item["kind"] == finding.kind
        assert item["indices"] == list(finding.indices)
        for access, entry in zip(finding.accesses, item["accesses"], strict=True):
            assert entry["thread"] == {
                "block": list(access.thread.block),
                "thread": list(access.thread.thread),
                "warp": access.thread.warp,
                "lane": access.thread.lane,
            }
            location = access.location
            assert entry["location"] == {
                "file": location.file,
                "line": location.line,
                "column": location.column,
            }


def test_json_of_a_fix() -> None:
    (fix,) = to_json(report_of("race.shared"))["findings"][0]["fixes"]
    assert fix == {
        "location": {"file": "<string>", "line": 13, "column": 10},
        "place": "before",
        "is_verified": True,
        "is_uniform": True,
    }


# --- exceptions -----------------------------------------------------------------------------------


def raised(name: str) -> pipeline.CheckError:
    """Launch a fault by `run` and return what that raises."""
    fault = FAULTS[name]
    with pytest.raises(pipeline.CheckError) as caught:
        compiled(name).run(
            *fault.make(),
            grid=fault.grid,
            block=fault.block,
            dynamic_shared_bytes=fault.dynamic_bytes,
            check=fault.check,
            workers=1,
            **fault.options,
        )
    return caught.value


@by_name
def test_exceptions(name: str) -> None:
    error = raised(name)
    assert type(error) is FAULTS[name].error
    assert str(error) == rendered()[name]
    assert error.findings == error.report.findings == report_of(name).findings
    assert error.exit_code == 1
    assert isinstance(error, IndexError) == (FAULTS[name].error is pipeline.MemoryAccessError)


COPIES: dict[str, Callable[[Any], Any]] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda value: pickle.loads(pickle.dumps(value)),
}


@pytest.mark.parametrize("way", COPIES)
@pytest.mark.parametrize("name", ["race.shared", "out-of-bounds: private", "deadlock", "trap"])
def test_exceptions_can_be_copied(name: str, way: str) -> None:
    """Process pools send them home by pickle; one that does not unpickle breaks the pool."""
    error = raised(name)
    duplicate = COPIES[way](error)
    assert type(duplicate) is type(error)
    assert str(duplicate) == str(error)
    assert duplicate.report == error.report


@by_name
def test_reports_can_be_compared_and_hashed(name: str) -> None:
    """Two launches find the same; only the time they took differs."""
    first, second = report_of(name), FAULTS[name].launch(compiled(name))
    assert first.findings == second.findings
    assert hash(first.findings) == hash(second.findings)


def test_launches_go_on_after_an_exception() -> None:
    """A kernel whose launch failed can be launched again, with what it needs."""
    name = "division: least number"
    assert raised(name)
    array = numbers(64) + 1
    expected = array % 7
    report = compiled(name).run(array, 7, grid=(1, 1, 1), block=(64, 1, 1), check="races")
    assert report.findings == ()
    np.testing.assert_array_equal(array, expected)


# --- diagnostics ----------------------------------------------------------------------------------


@by_name
def test_diagnostics(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What tools get as diagnostics is what people get as text."""
    natives: list[Any] = []

    def keep(native: Any, *rest: Any) -> Any:
        natives.append(native)
        return report_from_native(native, *rest)

    monkeypatch.setattr("pipeline.runtime.emulator.report_from_native", keep)
    report = FAULTS[name].launch(compiled(name))
    diagnostics = convert(natives[0].diagnostics)
    assert len(diagnostics) == len(report.findings)
    said = [str(part) for item in diagnostics for part in (item, *item.notes)]
    lines = [line for line in report.rendered.splitlines() if not line.startswith("    ")]
    assert [line.removeprefix("<unknown>: ") for line in said] == lines
