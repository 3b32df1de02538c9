"""Kernels of CUDA C++: verdicts, numbers, and what is said of what is wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pipeline
from pipeline.errors import CompileError, ToolError, UsageError
from pipeline.runtime.emulator import Options
from pipeline.system import clang
from support.command_line import call

KERNELS = Path(__file__).with_name("kernels.cu")
THREADS, BLOCKS = 64, 4


def _has_clang() -> bool:
    try:
        clang.find_clang()
    except ToolError:
        return False
    return True


needs_clang = pytest.mark.skipif(not _has_clang(), reason="there is no clang")


def _random(kind: type, *shape: int) -> np.ndarray:
    random = np.random.default_rng(7)
    if np.issubdtype(kind, np.integer):
        return random.integers(1, 100, shape).astype(kind)
    return random.standard_normal(shape).astype(kind)


def _floats() -> np.ndarray:
    return _random(np.float32, BLOCKS * THREADS)


def _ints() -> np.ndarray:
    return _random(np.int32, BLOCKS * THREADS)


def _sums(data: np.ndarray) -> np.ndarray:
    return np.asarray(data.reshape(BLOCKS, THREADS).sum(1))


def _neighbours(data: np.ndarray) -> np.ndarray:
    rows = np.pad(data.reshape(BLOCKS, THREADS), ((0, 0), (1, 1)))
    return np.asarray(rows[:, :-2] + rows[:, 1:-1] + rows[:, 2:]).reshape(-1)


def run(name: str, *values: object, dynamic: int = 0, tiled: bool = False) -> pipeline.Report:
    """Run a kernel with checks for races, and return what was found."""
    block, grid = ((8, 8), (2, 2)) if tiled else (THREADS, BLOCKS)
    module = pipeline.compile(
        KERNELS, kernel=name, block=block, grid=grid, verify=False, until="llvm"
    )
    (kernel,) = module.kernels.values()
    options = Options(check="races")
    return kernel.emulate(
        *values, grid=grid, block=block, dynamic_shared_bytes=dynamic, options=options
    )


# --- numbers --------------------------------------------------------------------------------------


@needs_clang
def test_sums() -> None:
    data, out = _floats(), np.zeros(BLOCKS, np.float32)
    assert not run("sum", data, out).errors
    np.testing.assert_allclose(out, _sums(data), rtol=1e-4, atol=1e-5)


@needs_clang
def test_sums_of_warps() -> None:
    data, out = _floats(), np.zeros(2 * BLOCKS, np.float32)
    assert not run("warp_sum", data, out).errors
    np.testing.assert_allclose(out, data.reshape(-1, 32).sum(1), rtol=1e-4, atol=1e-5)


@needs_clang
def test_histogram() -> None:
    data, bins = _ints().astype(np.uint32), np.zeros(16, np.uint32)
    assert not run("histogram", data, bins).errors
    np.testing.assert_array_equal(bins, np.bincount(data % 16, minlength=16))


@needs_clang
def test_transposition() -> None:
    data, out = _random(np.int32, 16, 16), np.zeros((16, 16), np.int32)
    assert not run("transpose", data, out, 16, tiled=True).errors
    np.testing.assert_array_equal(out, data.T)


@needs_clang
def test_stencil_in_dynamic_memory() -> None:
    data = _floats()
    wanted = _neighbours(data)
    assert not run("stencil", data, dynamic=4 * THREADS).errors
    np.testing.assert_allclose(data, wanted, rtol=1e-5, atol=1e-6)


@needs_clang
def test_scan() -> None:
    data = _ints()
    wanted = data.reshape(BLOCKS, THREADS).cumsum(1).reshape(-1)
    assert not run("scan", data).errors
    np.testing.assert_array_equal(data, wanted)


@needs_clang
def test_lock() -> None:
    lock, count = np.zeros(1, np.int32), np.zeros(1, np.int32)
    assert not run("locked", lock, count).errors
    assert count[0] == BLOCKS * THREADS


# --- verdicts -------------------------------------------------------------------------------------

SAFE = ("sum", "sum_of_size", "warp_sum", "scan", "stencil")
RACY = (
    "sum_racy",
    "sum_of_size_racy",
    "sum_of_half_racy",
    "warp_sum_racy",
    "histogram_racy",
    "stencil_racy",
    "scan_racy",
)


@needs_clang
@pytest.mark.parametrize("name", SAFE)
def test_what_is_proved(name: str) -> None:
    report = pipeline.check(KERNELS, kernel=name, block=THREADS, grid=BLOCKS)
    assert [kernel.verdict for kernel in report.kernels] == ["SAFE"], report.rendered


@needs_clang
@pytest.mark.parametrize("name", RACY)
def test_what_has_lost_its_order_is_not_safe_and_is_found(name: str) -> None:
    report = pipeline.check(KERNELS, kernel=name, block=THREADS, grid=BLOCKS)
    assert not report.is_safe
    arguments = {
        "sum_racy": (_floats(), np.zeros(BLOCKS, np.float32)),
        "sum_of_size_racy": (_floats(), np.zeros(BLOCKS, np.float32)),
        "sum_of_half_racy": (_floats(), np.zeros(BLOCKS, np.float32)),
        "warp_sum_racy": (_floats(), np.zeros(BLOCKS, np.float32)),
        "histogram_racy": (_ints().astype(np.uint32), np.zeros(16, np.uint32)),
        "stencil_racy": (_floats(),),
        "scan_racy": (_ints(),),
    }[name]
    errors = run(name, *arguments).errors
    assert errors
    assert all(finding.kind.startswith("race.") for finding in errors)


@needs_clang
@pytest.mark.parametrize("name", ["sum_of_size_racy", "sum_of_half_racy"])
def test_races_between_steps_that_the_size_of_the_block_decides(name: str) -> None:
    (kernel,) = pipeline.check(KERNELS, kernel=name, block=THREADS, grid=BLOCKS).kernels
    assert kernel.verdict == "RACE"
    assert any(finding.threads for finding in kernel.findings)


@needs_clang
def test_barriers_in_a_loop_by_the_size_of_the_block_need_no_size() -> None:
    (kernel,) = pipeline.check(KERNELS, kernel="sum_of_size").kernels
    assert kernel.verdict == "SAFE"


@needs_clang
@pytest.mark.parametrize("name", ["dead_load", "dead_store"])
def test_loads_count_whatever_comes_of_them(name: str) -> None:
    kinds = {finding.kind for finding in run(name, np.zeros(4, np.int32)).errors}
    assert "race.global" in kinds
    module = pipeline.compile(KERNELS, kernel=name, block=THREADS, grid=1, verify=False)
    assert "ld.global" not in module.ptx


@needs_clang
def test_what_is_behind_a_private_variable() -> None:
    arrays = (np.zeros(128, np.int32), np.zeros(128, np.int32))
    kinds = {finding.kind for finding in run("behind_variable", *arrays).errors}
    assert "out-of-bounds" in kinds
    assert kinds & {"race.global", "race.blocks"}


@needs_clang
@pytest.mark.parametrize("which", [1, 2, 3])
def test_functions_that_are_chosen(which: int) -> None:
    numbers = np.arange(BLOCKS * THREADS)
    wanted = (2 * numbers + 1000, numbers + 1, numbers // 2)[which - 1]
    result = np.zeros(BLOCKS * THREADS, np.int32)
    assert not run("chosen", result, which).errors
    np.testing.assert_array_equal(result, wanted)
    (kernel,) = pipeline.check(KERNELS, kernel="chosen", block=THREADS, grid=BLOCKS).kernels
    assert kernel.verdict == "SAFE"
    assert pipeline.compile(KERNELS, kernel="chosen", block=THREADS, grid=BLOCKS).cubin


@needs_clang
def test_races_in_functions_that_are_chosen() -> None:
    assert run("chosen_racy", np.zeros(1024, np.int32), 3).errors
    assert not pipeline.check(KERNELS, kernel="chosen_racy", block=THREADS, grid=1).is_safe


@needs_clang
def test_a_call_of_no_function() -> None:
    result = np.zeros(BLOCKS * THREADS, np.int32)
    assert not run("chosen_or_none", result, 1).errors
    np.testing.assert_array_equal(result, np.tile(2 * np.arange(THREADS), BLOCKS))
    assert {it.kind for it in run("chosen_or_none", result, 2).errors} == {"assertion"}


@needs_clang
def test_a_function_that_is_an_argument_is_refused() -> None:
    with pytest.raises(CompileError, match="by its address") as caught:
        run("given", np.zeros(64, np.int32), np.zeros(1, np.int64))
    assert caught.value.diagnostics[0].location.line > 0


@needs_clang
def test_a_lock_without_fences_orders_nothing() -> None:
    report = run("locked_racy", np.zeros(1, np.int32), np.zeros(1, np.int32))
    assert report.errors


@needs_clang
def test_findings_show_lines_of_the_file() -> None:
    report = run(
        "transpose_racy", _random(np.int32, 16, 16), np.zeros(256, np.int32), 16, tiled=True
    )
    (finding,) = report.errors
    text = KERNELS.read_text().splitlines()
    places = [access.location.line - 1 for access in finding.accesses]
    lines = {text[place].strip() for place in places}
    assert "out[y * n + x] = tile[threadIdx.x][threadIdx.y];" in lines


# --- errors ---------------------------------------------------------------------------------------


@needs_clang
def test_errors_of_clang_have_their_places(tmp_path: Path) -> None:
    (tmp_path / "bad.cu").write_text("__global__ void k(int *p) {\n  *p = nothing;\n}\n")
    outcome = call("check", "bad.cu", cwd=tmp_path)
    assert outcome.code == 1
    assert outcome.words.startswith("bad.cu:2:8: error: use of undeclared identifier 'nothing'")
    with pytest.raises(CompileError) as caught:
        pipeline.check(tmp_path / "bad.cu")
    assert caught.value.diagnostics[0].location.line == 2


@needs_clang
def test_options_reach_clang(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text("__global__ void k(int *p) { p[threadIdx.x] = SIZE; }\n")
    assert (
        call(
            "check", "k.cu", "--clang-options=-DSIZE=3", "--block", "8", "--grid", "1", cwd=tmp_path
        ).code
        == 0
    )
    assert call("check", "k.cu", cwd=tmp_path).code == 1


@needs_clang
def test_code_of_the_host_is_parsed(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text(
        "__global__ void k(int *p) { p[threadIdx.x] = max(1, 2); }\n"
        "int on_host(int a, float b) { return max(a, 3) + (int)min(b, 2.0f); }\n"
    )
    assert call("check", "k.cu", "--block", "8", "--grid", "1", cwd=tmp_path).code == 0


def test_options_are_for_cuda_alone() -> None:
    with pytest.raises(UsageError, match="clang_options"):
        pipeline.check("module {\n}\n", clang_options=["-DN=1"])


def test_without_clang(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "k.cu").write_text("__global__ void k(int *p) { *p = 1; }\n")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CLANG", raising=False)
    with pytest.raises(ToolError, match="clang was not found; install clang 22"):
        pipeline.check(tmp_path / "k.cu")
