"""Orders until they bring nothing new: what ends them, what they say, and what they find."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import pipeline
from locks import planted
from pipeline.errors import ToolError, UsageError
from pipeline.system import clang
from support.command_line import call

BODY = """\
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
define ptx_kernel void @k(ptr %p) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %turn = atomicrmw add ptr %p, i32 1 syncscope("device") monotonic
  %is = icmp eq i32 %turn, 1
  %late = icmp eq i32 %t, 17
  %both = and i1 %is, %late
  br i1 %both, label %write, label %other
write:
  %q = getelementptr i32, ptr %p, i32 1
  store i32 1, ptr %q
  br label %end
other:
  %three = icmp eq i32 %t, 3
  br i1 %three, label %read, label %end
read:
  %r = getelementptr i32, ptr %p, i32 1
  store i32 2, ptr %r
  br label %end
end:
  ret void
}
"""
# Only in an order in which thread 17 is the second to come.
WORDS = ("check", "k.ll", "--dynamic", "--kernel", "k", "--block", "32", "--grid", "1")
ARGUMENT = ("--arg", "4xi32=0")


def explore(**fields: object) -> pipeline.Exploration:
    search = pipeline.Search("until-quiet", **fields)  # type: ignore[arg-type]
    report = pipeline.check(
        BODY, block=32, grid=1, kernel="k", orders=search, arguments=[np.zeros(4, np.int32)]
    )
    assert report.exploration is not None
    return report.exploration


def test_what_only_some_orders_reach() -> None:
    both = pipeline.check(
        BODY, block=32, grid=1, orders="both", arguments=[np.zeros(4, np.int32)]
    ).exploration
    assert both is not None
    assert [trial.order for trial in both.trials] == ["forward", "reverse"]
    assert not both.findings
    found = explore(quiet=60)
    assert [finding.kind for finding in found.findings] == ["race.global"]
    assert found.ending == "quiet"
    assert sum(trial.is_new for trial in found.trials) >= 2
    assert not any(trial.is_new for trial in found.trials[-60:])


def test_arguments_are_not_written() -> None:
    given = np.zeros(4, np.int32)
    pipeline.check(BODY, block=32, grid=1, orders="both", arguments=[given])
    assert not given.any()


def test_a_seed_brings_the_same_again() -> None:
    first, second = (explore(quiet=20, seed=7) for _ in range(2))
    assert [trial.is_new for trial in first.trials] == [trial.is_new for trial in second.trials]
    seeds = [trial.options.order for trial in first.trials]
    assert seeds[:4] == ["forward", "reverse", 7, 8]
    assert [trial.options.delays for trial in first.trials[:4]] == [False, False, False, True]
    trial = next(trial for trial in explore(quiet=60).trials if trial.reports[0].errors)
    module = pipeline.compile(BODY, block=32, grid=1, verify=False, until="llvm")
    report = module.kernels["k"].emulate(
        np.zeros(4, np.int32), block=32, grid=1, options=trial.options
    )
    assert [it.kind for it in report.errors] == ["race.global"]


def test_budgets() -> None:
    assert len(explore(launches=5).trials) == 5
    assert explore(launches=5).ending == "launches"
    ended = explore(budget=1e-6)
    assert (ended.ending, len(ended.trials)) == ("seconds", 1)
    assert "the budget of 1e-06 s ended that" in ended.describe()


@pytest.mark.parametrize(
    "fields",
    [{"budget": 0}, {"budget": -1}, {"launches": 0}, {"quiet": 0}, {"seed": -1}, {"seed": 2**32}],
)
def test_searches_that_make_no_sense(fields: dict[str, float]) -> None:
    with pytest.raises(UsageError, match=next(iter(fields))):
        pipeline.Search("until-quiet", **fields)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="orders"):
        pipeline.Search("all")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="arguments"):
        pipeline.check(BODY, arguments=[1])


# --- the command line -----------------------------------------------------------------------------


def test_the_report_says_what_was_tried(tmp_path: Path) -> None:
    (tmp_path / "k.ll").write_text(BODY)
    search = ("--orders", "until-quiet", "--quiet", "200", "--seed", "3")
    outcome = call(*WORDS, *ARGUMENT, *search, cwd=tmp_path)
    assert outcome.code == 1
    assert "[race.global]" in outcome.words
    assert "forward, reverse, seeds 3 to " in outcome.text
    assert "; the last 200 brought nothing new" in outcome.text
    data = json.loads(call(*WORDS, *ARGUMENT, *search, "--format", "json", cwd=tmp_path).text)
    (explored,) = data["explorations"]
    assert explored["ending"] == "quiet"
    assert explored["seed"] == 3
    assert len(explored["tried"]) > 200
    assert explored["tried"][2] == {
        "order": "3",
        "async_mode": "3",
        "delays": False,
        "is_new": explored["tried"][2]["is_new"],
    }
    assert len(data["launches"]) == sum(trial["is_new"] for trial in explored["tried"])


def test_a_launch_is_run_again_by_its_seed(tmp_path: Path) -> None:
    (tmp_path / "k.ll").write_text(BODY)
    trial = next(trial for trial in explore(quiet=60).trials if trial.reports[0].errors)
    seed = str(trial.options.order)
    delays = ("--delays",) if trial.options.delays else ()
    words = ("run", "k.ll", "--kernel", "k", "--block", "32", "--grid", "1", "--no-verify")
    outcome = call(
        *words,
        *ARGUMENT,
        "--check-races",
        "--order",
        seed,
        "--async-mode",
        seed,
        *delays,
        cwd=tmp_path,
    )
    assert outcome.code == 1
    assert "[race.global]" in outcome.words


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--orders", "all"), "must be both or until-quiet"),
        (("--budget", "3"), "--budget is for --orders until-quiet"),
        (("--quiet", "3"), "--quiet is for --orders until-quiet"),
        (("--orders", "until-quiet", "--quiet", "0"), "must be a number from 1 on"),
    ],
)
def test_wrong_words(words: tuple[str, ...], message: str, tmp_path: Path) -> None:
    (tmp_path / "k.ll").write_text(BODY)
    outcome = call(*WORDS, *ARGUMENT, *words, cwd=tmp_path)
    assert outcome.code == 2
    assert message in outcome.words
    static = call("check", "k.ll", "--orders", "until-quiet", cwd=tmp_path)
    assert static.code == 2
    assert "--orders is for --dynamic" in static.words


# --- locks, flags, tickets ------------------------------------------------------------------------


def _has_clang() -> bool:
    try:
        clang.find_clang()
    except ToolError:
        return False
    return True


needs_clang = pytest.mark.skipif(not _has_clang(), reason="there is no clang")


@pytest.fixture(scope="module")
def module() -> pipeline.Module:
    return planted.compile_all()


@needs_clang
@pytest.mark.parametrize("name", planted.RIGHT)
def test_right_kernels_are_clean_in_all_orders(name: str, module: pipeline.Module) -> None:
    kernel = planted.find(module, name)
    for seed in range(20):
        for delays in (False, True):
            assert not planted.errors(kernel, planted.with_seed(seed, delays=delays))


@needs_clang
@pytest.mark.parametrize("name", planted.BEYOND)
def test_what_is_beyond_the_emulator(name: str, module: pipeline.Module) -> None:
    kernel = planted.find(module, name)
    for seed in range(20):
        assert not planted.errors(kernel, planted.with_seed(seed, delays=True))


@needs_clang
@pytest.mark.parametrize("name", planted.PLANTED)
def test_planted_races_are_found(name: str, module: pipeline.Module) -> None:
    kernel = planted.find(module, name)
    assert any(
        planted.errors(kernel, planted.with_seed(seed, delays=bool(seed % 2))) for seed in range(64)
    )
