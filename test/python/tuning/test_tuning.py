"""Searching for tiles: what is tried, what can win, what is kept, and by whom it is done."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import pytest

import pipeline
from pipeline.compiling.compiler import Chooser
from pipeline.schedules.tile import Tile
from pipeline.tuning import search
from pipeline.tuning.executors import open_executor
from pipeline.tuning.instances import shrink
from pipeline.tuning.journal import Journal
from pipeline.tuning.model import LaunchFigures, count_launch
from pipeline.tuning.task import Outcome, Task

TRANSPOSE = """
func.func @main(%x: tensor<64x96xf32>) -> tensor<96x64xf32> {
  %e = tensor.empty() : tensor<96x64xf32>
  %r = linalg.transpose ins(%x : tensor<64x96xf32>) outs(%e : tensor<96x64xf32>)
      permutation = [1, 0]
  return %r : tensor<96x64xf32>
}
"""
MATMUL = """
func.func @main(%a: tensor<2048x2048xf32>, %b: tensor<2048x2048xf32>) -> tensor<2048x2048xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2048x2048xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  %r = linalg.matmul ins(%a, %b : tensor<2048x2048xf32>, tensor<2048x2048xf32>)
      outs(%f : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  return %r : tensor<2048x2048xf32>
}
"""
OWN_KERNEL = """
func.func @main(%a: memref<32xf32>) {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%x, %y, %z) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%t, %u, %v) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %0 = memref.load %a[%t] : memref<32xf32>
    memref.store %0, %a[%t] : memref<32xf32>
    gpu.terminator
  }
  return
}
"""


class Inline(Executor):
    """Does at once what it is asked for, and counts."""

    def __init__(self, change: Callable[[str, Outcome], Outcome] = lambda _, made: made) -> None:
        self.submitted: list[str] = []
        self._change = change

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.submitted.append(function.__name__)
        future: Future[Any] = Future()
        future.set_result(self._change(function.__name__, function(*args, **kwargs)))
        return future


def fake_costs(monkeypatch: pytest.MonkeyPatch, costs: Mapping[int, int]) -> None:
    """Have candidates cost what `costs` says by their threads, without compiling any."""

    def measure(task: Task) -> Outcome:
        cost = costs.get(task.tile["threads"], 100)
        return {"outcome": "measured", "unit": "cycles", "cost": cost}

    monkeypatch.setattr(search, "measure", measure)


def right(task: Task) -> Outcome:
    return {"outcome": "right", "instance": "the program itself"}


# --- a search -------------------------------------------------------------------------------------


def test_search_from_beginning_to_end(tmp_path: Path) -> None:
    """Candidates are compiled, counted, proved and run; compile takes the file."""
    output = tmp_path / "tiles.json"
    tuning = pipeline.tune(TRANSPOSE, output=output, candidates=3, executor=Inline())
    (kernel,) = tuning.kernels
    assert [one.outcome for one in kernel.trials] == ["measured"] * 3
    assert kernel.best is not None
    assert kernel.best.score.unit == "cycles"
    best = min(kernel.trials, key=lambda one: one.cost or 0)
    assert (best.tile, best.check) == (kernel.best.tile, "right")
    module = pipeline.compile(TRANSPOSE, tuned=output)
    assert "TunedTiles" in {remark.name for remark in module.remarks}
    assert f'"threads" = [{best.tile.threads}]' in (module.schedule or "")


def test_a_search_goes_on_where_it_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    output = tmp_path / "tiles.json"
    fake_costs(monkeypatch, {128: 50})
    monkeypatch.setattr(search, "verify", right)
    first = Inline()
    made = pipeline.tune(TRANSPOSE, output=output, executor=first)
    trials = tmp_path / "tiles.json.trials"
    lines = trials.read_bytes().splitlines(keepends=True)
    assert len(lines) == len(first.submitted)
    # The last line is torn, as by a process that was killed: one trial is done again.
    trials.write_bytes(b"".join(lines[:-1]) + lines[-1][:20])
    second = Inline()
    again = pipeline.tune(TRANSPOSE, output=output, executor=second)
    assert len(second.submitted) == 1
    assert again.tiles == made.tiles
    assert len(trials.read_bytes().splitlines()) == len(lines) + 1
    third = Inline()
    pipeline.tune(TRANSPOSE.replace("64", "32"), output=output, executor=third)
    assert "measure" in third.submitted
    assert len(json.loads(output.read_text())["entries"]) == 2


def test_an_interrupt_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    output = tmp_path / "tiles.json"
    fake_costs(monkeypatch, {})
    monkeypatch.setattr(search, "verify", right)
    made = 0

    def interrupt(name: str, outcome: Outcome) -> Outcome:
        nonlocal made
        made += 1
        if made == 3:
            raise KeyboardInterrupt
        return outcome

    with pytest.raises(KeyboardInterrupt):
        pipeline.tune(TRANSPOSE, output=output, executor=Inline(interrupt), candidates=6)
    rest = Inline()
    pipeline.tune(TRANSPOSE, output=output, executor=rest, candidates=6)
    assert len(rest.submitted) <= 7


def test_only_what_is_right_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The fastest is wrong, the next one not proved: the third wins."""
    fake_costs(monkeypatch, {64: 1, 128: 2, 256: 3})
    variants = [Tile((64, 64), threads) for threads in (512, 256, 128, 64)]
    monkeypatch.setattr(search, "list_variants", lambda kernel, target: variants)
    words = {64: "wrong", 128: "undecided", 256: "right"}

    def check(task: Task) -> Outcome:
        return {"outcome": words[task.tile["threads"]], "message": "told"}

    monkeypatch.setattr(search, "verify", check)
    (kernel,) = pipeline.tune(TRANSPOSE, executor=Inline()).kernels
    assert kernel.best is not None
    assert kernel.best.tile.threads == 256
    assert kernel.speedup == pytest.approx(100 / 3)
    assert [one.check for one in kernel.trials] == ["", "right", "undecided", "wrong"]


def test_what_does_not_compile_is_kept_with_its_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pipeline.schedules.variants import list_variants

    def add_impossible(kernel: Any, target: Any) -> list[Tile]:
        tiles = list_variants(kernel, target)
        return [tiles[0], Tile((2, 3, 4), 64)]

    monkeypatch.setattr(search, "list_variants", add_impossible)
    monkeypatch.setattr(search, "verify", right)
    (kernel,) = pipeline.tune(TRANSPOSE, executor=Inline()).kernels
    assert kernel.trials[1].outcome == "refused"
    assert "block: has 3 sizes, but there are 2 loops" in kernel.trials[1].message
    assert kernel.best is not None
    assert kernel.best.tile == kernel.trials[0].tile


def test_a_budget_ends_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    tuning = pipeline.tune(TRANSPOSE, executor=Inline(), budget=0.0)
    assert not tuning.is_finished
    assert {one.outcome for one in tuning.kernels[0].trials} == {"not tried"}
    assert tuning.kernels[0].best is None


@pytest.mark.parametrize("given", [{"workers": -1}, {"budget": -3.0}, {"budget": float("nan")}])
def test_limits_that_make_no_sense_are_refused(given: dict[str, float]) -> None:
    with pytest.raises(pipeline.UsageError, match="must not be negative"):
        pipeline.tune(MATMUL, **given)  # type: ignore[arg-type]


def test_nothing_to_tune_is_refused() -> None:
    with pytest.raises(pipeline.UsageError, match="there is nothing to tune"):
        pipeline.tune(OWN_KERNEL, executor=Inline())


# --- parts of it ----------------------------------------------------------------------------------


def test_small_instances_have_other_types_only() -> None:
    text = shrink(MATMUL + "// 2048\n", {2048: 256})
    assert "tensor<256x256xf32>" in text
    assert "2048xf32" not in text
    assert text.endswith("// 2048\n")


def test_the_model_knows_waves_and_memory() -> None:
    target = Chooser("sm_80", only=True).target
    launch = LaunchFigures("k", 108, 256, 64, 0, 0, 1e6, 0.0, 1e3)
    one = count_launch(launch, target, 0)
    assert count_launch(launch._replace(blocks=109), target, 0) > 1.5 * one
    assert count_launch(launch._replace(sectors=1e6), target, 0) > 10 * one
    assert count_launch(launch._replace(spill_bytes=64), target, 0) > one
    assert count_launch(launch._replace(shared_bytes=1 << 20), target, 0) == float("inf")


def test_a_journal_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(pipeline.UsageError, match=r"cannot be written: No such file"):
        Journal(tmp_path / "missing" / "x.trials").add("key", {})


# --- executors ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["threads", "dask://", "http://a:1"])
def test_unknown_executors_are_refused(name: str) -> None:
    words = "must be local, dask://HOST:PORT or ray://HOST:PORT"
    with pytest.raises(pipeline.UsageError, match=words), open_executor(name):
        pass


@pytest.mark.parametrize(("name", "module"), [("dask", "distributed"), ("ray", "ray")])
def test_missing_libraries_are_named(
    name: str, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, module, None)
    remedy = rf"pip install 'mlir-workgroup\[{name}\]'"
    with pytest.raises(pipeline.ToolError, match=remedy), open_executor(f"{name}://a:1"):
        pass


def test_processes_of_this_machine_do_it(tmp_path: Path) -> None:
    tuning = pipeline.tune(TRANSPOSE, candidates=2, workers=1)
    assert tuning.kernels[0].best is not None


def test_dask_does_it() -> None:
    distributed = pytest.importorskip("distributed", reason="needs Dask, of PyPI")
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as one,
    ):
        address = one.scheduler_address.replace("tcp://", "dask://")
        tuning = pipeline.tune(TRANSPOSE, candidates=2, executor=address)
    assert tuning.kernels[0].best is not None
