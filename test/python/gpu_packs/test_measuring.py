"""Times of a reference program beside others: what is compared, and what is told of whom."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from gpu.stand_in_driver import DeviceArray, Launch, StandIn
from gpu_packs.conftest import FaultyLaunches, Machine
from gpu_packs.test_timing import FakeClock
from gpu_packs.test_ways import spoil
from packing.programs import pack_reference
from packing.references import LARGE, by_row
from running import measuring
from running.arrays import Json
from running.measuring import time_case
from running.references import REFERENCES
from running.verdicts import Verdict

CASE = pack_reference(by_row("add", 37, 132, LARGE))


class HostTensors:
    """Arrays of the stand-in, whose memory is that of the host."""

    def __init__(self, gpu: StandIn, clock: FakeClock) -> None:
        self._gpu = gpu
        self._clock = clock
        self.factors: dict[str, float] = {"torch": 1.0, "triton": 1.0}
        self.missing: dict[str, str] = {}

    def make(self, case: Json) -> tuple[list[DeviceArray], DeviceArray]:
        rng = np.random.default_rng(case["seed"])
        inputs = [
            self._gpu.put(rng.standard_normal(record["shape"]).astype(np.float32))
            for record in case["inputs"]
        ]
        return inputs, self._gpu.put(np.full(case["output"]["shape"], np.nan, np.float32))

    def find_difference(self, case: Json, inputs: Sequence[DeviceArray], output: Any) -> float:
        numbers = [part.host.astype(np.float64) for part in inputs]
        wanted = REFERENCES[case["reference"]](np, *numbers)
        found = getattr(output, "host", output)
        return float(np.abs(found - wanted).max())

    def find_peers(
        self, case: Json, inputs: Sequence[DeviceArray], output: Any
    ) -> tuple[dict[str, Callable[[], Any]], dict[str, str]]:
        def make(name: str, factor: float) -> Callable[[], Any]:
            tick = self._clock.make(name, 3e-6)

            def call() -> Any:
                tick()
                return factor * (inputs[0].host + inputs[1].host)

            return call

        return {name: make(name, at) for name, at in self.factors.items()}, dict(self.missing)


def measure(machine: Machine, change: Callable[[HostTensors], None] = lambda _: None) -> Verdict:
    """Time the case on the stand-in."""
    for name, data in CASE.files.items():
        (machine.pack / name).write_bytes(data)
    machine.gpu.reset()
    made = FaultyLaunches(machine.gpu, *CASE.modules)
    made.faults, made.before = machine.faults, machine.before
    clock = FakeClock()
    tensors = HostTensors(machine.gpu, clock)
    change(tensors)
    return time_case(CASE.record, machine.pack, tensors, clock, 5)


def test_all_are_timed(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    clocks = iter(("1980 MHz", "1755 MHz"))
    monkeypatch.setattr(measuring, "read_clocks", lambda: next(clocks))
    verdict = measure(machine)
    assert (verdict.verdict, verdict.detail) == ("timed", "")
    peers = verdict.figures["peers"]
    assert list(peers) == ["ours", "torch", "triton"]
    assert {figures["rounds"] for figures in peers.values()} == {5}
    assert peers["triton"]["of_torch"] == pytest.approx(1.0)
    assert verdict.figures["clocks"] == {"before": "1980 MHz", "after": "1755 MHz"}


def test_a_wrong_result_is_not_timed(machine: Machine) -> None:
    machine.faults = {name: spoil for module in CASE.modules for name in module.kernels}
    verdict = measure(machine)
    assert verdict.verdict == "differ"
    assert "ours is off by 1, not by up to 0.0001" in verdict.detail
    assert "peers" not in verdict.figures


def test_a_result_that_is_no_number_is_not_timed(machine: Machine) -> None:
    def fault(launch: Launch) -> None:
        ctypes.c_float.from_address(launch.integer(2) + 4 * 5).value = math.nan

    machine.faults = {name: fault for module in CASE.modules for name in module.kernels}
    verdict = measure(machine)
    assert verdict.verdict == "differ"
    assert "ours is off by nan" in verdict.detail


def test_a_peer_that_is_wrong_is_not_timed(machine: Machine) -> None:
    def change(tensors: HostTensors) -> None:
        tensors.factors["triton"] = 1.5

    verdict = measure(machine, change)
    assert verdict.verdict == "timed"
    assert list(verdict.figures["peers"]) == ["ours", "torch"]
    assert "without triton: its result is off by " in verdict.detail


def test_peers_that_are_missing_are_told(machine: Machine) -> None:
    def change(tensors: HostTensors) -> None:
        tensors.factors = {}
        tensors.missing = {"torch": "it is not here"}

    verdict = measure(machine, change)
    assert verdict.verdict == "timed"
    assert verdict.detail == "without torch: it is not here"
    assert list(verdict.figures["peers"]) == ["ours"]


def test_clocks_are_read_and_not_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert measuring.read_clocks() == "nvidia-smi is not here"
    program = tmp_path / "nvidia-smi"
    program.write_text('#!/bin/sh\necho "$1, $2, $3"\n')
    program.chmod(0o755)
    assert measuring.read_clocks().startswith("--query-gpu=clocks.sm,clocks.mem,")
