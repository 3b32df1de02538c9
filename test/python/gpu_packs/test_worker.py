"""The process that works a pack off: what it gives up, leaves out, and times."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from gpu.stand_in_driver import Launch
from gpu_packs.conftest import Machine, write_pack
from gpu_packs.test_measuring import HostTensors
from gpu_packs.test_timing import FakeClock
from packing.references import LARGE, SMALL, by_row
from running import worker
from running.arrays import Json
from running.supervision import RESTART

TIMED = by_row("add", 37, 132, LARGE)


def results(machine: Machine) -> dict[str, Json]:
    document = json.loads((machine.pack / "results" / "results.json").read_text())
    return {f"{record['stage']}: {record['case']}": record for record in document["results"]}


@pytest.fixture
def timed(machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Return a machine with a pack of a reference program that is timed, and one that is not."""
    original = write_pack(tmp_path / "timed", (), [by_row("add", 5, 8, SMALL), TIMED])
    monkeypatch.setattr("running.command.FOLDER", original.folder)
    return Machine(original.folder, machine.gpu, original.modules)


def test_without_torch_nothing_is_timed(timed: Machine) -> None:
    assert timed.run("--stages=check,time") == 1
    found = results(timed)
    assert {name: record["verdict"] for name, record in found.items()} == {
        "check: add 5x8 5x8 f32": "agree",
        f"time: {TIMED.name}": "not run",
    }
    assert "nothing is timed: PyTorch " in found[f"time: {TIMED.name}"]["detail"]
    text = (timed.pack / "results" / "results.md").read_text()
    assert "- torch: no arrays of torch were passed: PyTorch " in text


def test_times(timed: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = FakeClock()
    monkeypatch.setattr(worker, "find_torch", lambda: (FakeTorch, ""))
    monkeypatch.setattr(worker, "TorchClock", lambda torch: clock)
    monkeypatch.setattr(worker, "TorchTensors", lambda torch: HostTensors(timed.gpu, clock))
    monkeypatch.setattr(worker, "read_clocks", lambda: "1980 MHz")
    assert timed.run("--stages=time", "--rounds=7") == 0
    record = results(timed)[f"time: {TIMED.name}"]
    assert record["verdict"] == "timed"
    assert record["figures"]["peers"]["torch"]["rounds"] == 7
    text = (timed.pack / "results" / "results.md").read_text()
    assert f"\n| {TIMED.name} | timed | ours | 1.0 (1.0-1.0) | 3.000 | " in text
    assert f"\n| {TIMED.name} | timed | triton | 3.0 (3.0-3.0) | 1.000 | " in text
    for words in ("- torch: PyTorch 1.2\n", "- clocks before timing: 1980 MHz\n"):
        assert words in text
    assert timed.run("--stages=time", "--resume") == 0
    assert results(timed)[f"time: {TIMED.name}"] == record


class FakeTorch:
    """As much of PyTorch as is told."""

    __version__ = "1.2"


def test_what_does_not_end_is_given_up(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[tuple[int, dict[str, Json]]] = []
    monkeypatch.setattr(
        "running.worker.os._exit", lambda code: ended.append((code, results(machine)))
    )
    monkeypatch.setitem(worker.PATIENCE, "check", 0.3)

    def stay(launch: Launch) -> None:
        if launch.name == "transpose" and not ended:
            time.sleep(1.0)

    machine.before = stay
    machine.run("--stages=check", "--only", "transpose")
    ((code, found),) = ended
    assert code == RESTART
    assert found["check: transpose"]["verdict"] == "failed"
    assert found["check: transpose"]["detail"] == "it still runs after 0.3 s"


@pytest.mark.parametrize(("left", "seconds"), [(1000.0, 60.0), (20.0, 20.0), (-3.0, 5.0)])
def test_patience(left: float, seconds: float, machine: Machine) -> None:
    options: Any = type("Options", (), {"budget": left, "folder": machine.pack})
    made = worker.Worker(options, None, None, machine.pack)  # type: ignore[arg-type]
    assert made._seconds("check") == pytest.approx(seconds, abs=0.5)
