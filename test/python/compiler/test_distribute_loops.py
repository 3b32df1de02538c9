"""Each iteration of a distributed loop is executed once, whatever counts there are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pipeline
from oracles.sync.compiler import run_passes

ITERATIONS = range(1, 41)
PROCESSORS = range(1, 10)
# With a kernel for each: as few as there are threads, about twice as many, and many.
STATIC_ITERATIONS = (*range(1, 20), 27, 31, 40)
# Where what iterations count begins, so that bounds may be below zero.
ORIGIN = 64
# Everything is checked: an iteration that two threads execute is a race.
EMULATED: dict[str, Any] = {"backend": "emulator", "check": "all", "workers": 1}


def count_at(index: str) -> str:
    """Return what adds one to a counter."""
    return (
        f"%at = arith.addi {index}, %origin : index\n"
        "%old = memref.load %out[%at] : memref<?xi32>\n"
        "%new = arith.addi %old, %one : i32\n"
        "memref.store %new, %out[%at] : memref<?xi32>\n"
    )


def kernel(name: str, body: str, threads: int | None = None) -> str:
    """Return a kernel, of which the shape of the block may be known."""
    known = f"attributes {{known_block_size = array<i32: {threads}, 1, 1>}}" if threads else ""
    return (
        f"gpu.func @{name}(%out: memref<?xi32>, %lb: index, %ub: index, %step: index) kernel"
        f" {known} {{\n"
        f"%origin = arith.constant {ORIGIN} : index\n%one = arith.constant 1 : i32\n"
        f"{body}gpu.return\n}}\n"
    )


def distribute(kernels: list[str], options: str = "") -> pipeline.Module:
    """Return the kernels with their loops distributed, compiled."""
    text = "gpu.module @m {\n" + "".join(kernels) + "}\n"
    passes = f"workgroup-distribute-loops{{{options}}},canonicalize"
    (outcome,) = run_passes([("<stdin>", text)], passes)
    assert outcome.text, outcome
    assert "scf.forall" not in outcome.text
    assert "scf.parallel" not in outcome.text
    return pipeline.compile(outcome.text, sync="keep", verify=False)


def check(module: pipeline.Module, name: str, threads: int, bounds: tuple[int, int, int]) -> None:
    """Run a kernel, and compare what it has counted with what the loop would."""
    out = np.zeros(320, np.int32)
    report = module.kernels[name].run(
        out,
        *bounds,
        grid=(1, 1, 1),
        block=(threads, 1, 1),
        backend="emulator",
        check="all",
        workers=1,
    )
    assert not report.findings, (name, threads, bounds)
    expected = np.zeros_like(out)
    expected[[ORIGIN + index for index in range(*bounds)]] = 1
    np.testing.assert_array_equal(out, expected, err_msg=f"{name} {threads} {bounds}")


PARALLEL = "scf.parallel (%i) = (%lb) to (%ub) step (%step) {\n" + count_at("%i") + "}\n"


@pytest.mark.parametrize("strategy", ["cyclic", "block", "block-cyclic", "guarded", "exact"])
def test_dynamic_counts(strategy: str) -> None:
    """One kernel for all counts and processors."""
    options = f"levels=threads strategy={strategy} chunk=3"
    module = distribute([kernel("count", PARALLEL)], options)
    for threads in PROCESSORS:
        for number in ITERATIONS:
            if (strategy == "guarded" and number > threads) or (
                strategy == "exact" and number != threads
            ):
                continue
            lower, step = (number * 7) % 11 - 5, 1 + (number + threads) % 4
            last = lower + (number - 1) * step
            check(module, "count", threads, (lower, last + 1 + number % step, step))
    if strategy != "exact":
        for bounds in [(3, 3, 1), (5, -7, 2)]:
            check(module, "count", 4, bounds)


@pytest.mark.parametrize("strategy", ["cyclic", "block", "block-cyclic"])
def test_static_counts(strategy: str) -> None:
    """Conditions and loops that are known not to be needed are none."""
    kernels = []
    for threads in PROCESSORS:
        for number in STATIC_ITERATIONS:
            body = f"scf.forall (%i) = (-3) to ({2 * number - 3}) step (2) {{\n{count_at('%i')}}}\n"
            kernels.append(kernel(f"count_{threads}_{number}", body, threads))
    module = distribute(kernels, f"levels=threads strategy={strategy} chunk=2")
    for threads in PROCESSORS:
        for number in STATIC_ITERATIONS:
            name = f"count_{threads}_{number}"
            check(module, name, threads, (-3, 2 * number - 3, 2))


@pytest.mark.parametrize(
    ("mapping", "counts"),
    [
        ("#gpu.thread<y>, #gpu.thread<x>", (5, 13)),
        ("#gpu.thread<y>, #gpu.thread<x>", (3, 48)),
        ("#gpu.thread<x>, #gpu.thread<z>", (48, 2)),
        ("#gpu.thread<linear_dim_1>, #gpu.thread<linear_dim_0>", (7, 41)),
        ("#gpu.thread<linear_dim_0>, #gpu.thread<linear_dim_1>", (7, 41)),
        ("#gpu.warp<linear_dim_1>, #gpu.warp<linear_dim_0>", (3, 5)),
    ],
)
@pytest.mark.parametrize("shape", [(48, 3, 1), (8, 2, 2), (5, 1, 1), (100, 1, 3)])
def test_mapped_dimensions(
    mapping: str, counts: tuple[int, int], shape: tuple[int, int, int]
) -> None:
    """Blocks of any shape: dimensions that nothing is mapped to repeat nothing."""
    is_warp = "warp" in mapping
    leader = (
        "%lane = gpu.lane_id\n%c0 = arith.constant 0 : index\n"
        "%leads = arith.cmpi eq, %lane, %c0 : index\n"
    )
    body = (
        (leader if is_warp else "")
        + f"scf.forall (%i, %j) in ({counts[0]}, {counts[1]}) {{\n"
        + f"%width = arith.constant {counts[1]} : index\n%row = arith.muli %i, %width : index\n"
        + "%k = arith.addi %row, %j : index\n"
        + ("scf.if %leads {\n" if is_warp else "")
        + count_at("%k")
        + ("}\n" if is_warp else "")
        + f"}} {{mapping = [{mapping}]}}\n"
    )
    for known in (True, False):
        text = kernel("count", body)
        if known:
            sizes = ", ".join(map(str, shape))
            text = text.replace(
                "kernel  {", f"kernel attributes {{known_block_size = array<i32: {sizes}>}} {{"
            )
        module = distribute([text])
        out = np.zeros(512, np.int32)
        report = module.kernels["count"].run(out, 0, 0, 1, grid=(1, 1, 1), block=shape, **EMULATED)
        assert not report.findings
        expected = np.zeros_like(out)
        expected[ORIGIN : ORIGIN + counts[0] * counts[1]] = 1
        np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("threads", [32, 40, 7, 96])
def test_nested_levels(threads: int) -> None:
    """Blocks, warps, lanes: the last warp may have fewer lanes than the others."""
    body = (
        "scf.forall (%b) in (5) {\nscf.forall (%w) in (4) {\nscf.forall (%l) in (11) {\n"
        "%c4 = arith.constant 4 : index\n%c11 = arith.constant 11 : index\n"
        "%bw = arith.muli %b, %c4 : index\n%bww = arith.addi %bw, %w : index\n"
        "%row = arith.muli %bww, %c11 : index\n%k = arith.addi %row, %l : index\n"
        + count_at("%k")
        + "} {mapping = [#gpu.lane<linear_dim_0>]}\n} {mapping = [#gpu.warp<linear_dim_0>]}\n"
        "} {mapping = [#gpu.block<x>]}\n"
    )
    for known in (None, threads):
        module = distribute([kernel("count", body, known)])
        out = np.zeros(320, np.int32)
        report = module.kernels["count"].run(
            out,
            0,
            0,
            1,
            grid=(2, 1, 1),
            block=(threads, 1, 1),
            backend="emulator",
            check="all",
            workers=1,
        )
        assert not report.findings
        expected = np.zeros_like(out)
        expected[ORIGIN : ORIGIN + 220] = 1
        np.testing.assert_array_equal(out, expected)


GRID = """
scf.{kind} (%i, %j) {range} {{
  %width = arith.constant 8 : index
  %row = arith.muli %i, %width : index
  %k = arith.addi %row, %j : index
  {count}
}} {mapping}
"""


@pytest.mark.parametrize("strategy", ["cyclic", "block", "block-cyclic", "guarded", "exact"])
def test_linear_dimensions(strategy: str) -> None:
    """Two dimensions that are counted together: all products up to 40, by all processors."""
    bounds = "in (%rows, %columns)"
    mapping = "{mapping = [#gpu.thread<linear_dim_1>, #gpu.thread<linear_dim_0>]}"
    body = GRID.format(kind="forall", range=bounds, count=count_at("%k"), mapping=mapping)
    text = kernel("count", body).replace("%lb: index, %ub: index", "%rows: index, %columns: index")
    module = distribute([text], f"strategy={strategy} chunk=3")
    for threads in PROCESSORS:
        for columns in range(1, 9):
            for rows in range(1, 40 // columns + 1):
                number = rows * columns
                if (strategy == "guarded" and number > threads) or (
                    strategy == "exact" and number != threads
                ):
                    continue
                check_grid(module, (threads, 1, 1), rows, columns)


@pytest.mark.parametrize("strategy", ["cyclic", "block", "block-cyclic", "cyclic,block"])
def test_dimensions(strategy: str) -> None:
    """Each dimension by itself: rows by threads along y, columns by those along x."""
    mapping = "{mapping = [#gpu.thread<y>, #gpu.thread<x>]}"
    body = GRID.format(
        kind="forall", range="in (%rows, %columns)", count=count_at("%k"), mapping=mapping
    )
    text = kernel("count", body).replace("%lb: index, %ub: index", "%rows: index, %columns: index")
    module = distribute([text], f"strategy={strategy} chunk=2")
    for shape in [(1, 1, 1), (3, 1, 1), (1, 4, 1), (2, 3, 1), (3, 3, 2), (9, 1, 1), (5, 2, 1)]:
        for columns in range(1, 9):
            for rows in range(1, 9):
                check_grid(module, shape, rows, columns)


@pytest.mark.parametrize("strategy", ["cyclic", "block", "block-cyclic"])
def test_nested_counts(strategy: str) -> None:
    """Blocks around threads: all counts by 1 to 9 processors of the two levels together."""
    body = (
        "%one_ = arith.constant 1 : index\n%zero = arith.constant 0 : index\n"
        "scf.parallel (%i) = (%zero) to (%rows) step (%one_) {\n"
        "scf.parallel (%j) = (%zero) to (%columns) step (%one_) {\n"
        "%width = arith.constant 8 : index\n%row = arith.muli %i, %width : index\n"
        "%k = arith.addi %row, %j : index\n" + count_at("%k") + "}\n}\n"
    )
    text = kernel("count", body).replace("%lb: index, %ub: index", "%rows: index, %columns: index")
    module = distribute([text], f"levels=blocks,threads strategy={strategy} chunk=2")
    for blocks, threads in [(1, 1), (2, 1), (1, 3), (2, 2), (5, 1), (2, 3), (7, 1), (4, 2), (3, 3)]:
        for columns in range(1, 9):
            for rows in range(1, 40 // columns + 1):
                check_grid(module, (threads, 1, 1), rows, columns, blocks)


def check_grid(
    module: pipeline.Module, shape: tuple[int, int, int], rows: int, columns: int, blocks: int = 1
) -> None:
    """Run a kernel that counts in rows of eight."""
    out = np.zeros(512, np.int32)
    report = module.kernels["count"].run(
        out, rows, columns, 1, grid=(blocks, 1, 1), block=shape, **EMULATED
    )
    assert not report.findings, (shape, rows, columns, blocks)
    expected = np.zeros_like(out)
    for row in range(rows):
        expected[ORIGIN + 8 * row : ORIGIN + 8 * row + columns] = 1
    np.testing.assert_array_equal(out, expected, err_msg=f"{shape} {rows} {columns} {blocks}")


@pytest.mark.parametrize("strategy", ["cyclic", "guarded", "exact", "block", "block-cyclic"])
def test_bounds(strategy: str) -> None:
    """All small bounds and steps, of which steps overshoot: none is lost or added."""
    module = distribute([kernel("count", PARALLEL)], f"levels=threads strategy={strategy} chunk=2")
    for lower in (-7, 0, 3):
        for extent in range(0, 10):
            for step in (1, 2, 3, 7):
                number = -(-extent // step)
                threads = number if strategy == "exact" else 3
                if threads == 0 or (strategy == "guarded" and number > threads):
                    continue
                check(module, "count", threads, (lower, lower + extent, step))


@pytest.mark.parametrize("threads", [8, 32, 40, 96])
def test_lanes_alone(threads: int) -> None:
    """Lanes of no warp in particular do each iteration once, however many warps there are."""
    body = (
        "scf.forall (%i) in (37) {\n" + count_at("%i") + "} {mapping = [#gpu.lane<linear_dim_0>]}\n"
    )
    for known in (None, threads):
        module = distribute([kernel("count", body, known)])
        check(module, "count", threads, (0, 37, 1))
