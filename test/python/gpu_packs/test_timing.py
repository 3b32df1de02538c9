"""Times of calls in turn, on a clock that a test sets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pipeline.runtime.timing import (
    HOST_CALLS,
    WARM_UP,
    interleave,
    measure_host,
    summarize,
    time_all,
)


class FakeClock:
    """A clock that passes time as calls say, and writes down what is asked of it."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.log: list[str] = []
        self.took = 0.0

    def make(self, name: str, device: float, host: float = 1e-6) -> Callable[[], Any]:
        """Return a call that takes the GPU and the host so many seconds."""

        def call() -> None:
            self.log.append(name)
            self.took = device
            self.seconds += host

        return call

    def flush(self) -> None:
        self.log.append("flush")

    def measure(self, call: Callable[[], Any]) -> float:
        self.took = 1e-6
        call()
        return self.took * 1e6

    def capture(self, call: Callable[[], Any]) -> Callable[[], Any]:
        before = len(self.log)
        call()
        if self.log[before:] == ["uncapturable"]:
            raise RuntimeError("it waits")
        return call

    def wait(self) -> None:
        self.log.append("wait")

    def now(self) -> float:
        return self.seconds


def test_rounds_alternate_and_flush() -> None:
    clock = FakeClock()
    calls = {"a": clock.make("a", 1e-6), "b": clock.make("b", 2e-6)}
    times = interleave(calls, clock, 3)
    assert times == {"a": [1.0] * 3, "b": [2.0] * 3}
    warm = ["a"] * WARM_UP + ["b"] * WARM_UP + ["wait"]
    forward, backward = ["flush", "a", "flush", "b"], ["flush", "b", "flush", "a"]
    assert clock.log == [*warm, *forward, *backward, *forward, "wait"]


def test_host_time_does_not_wait_for_the_gpu() -> None:
    clock = FakeClock()
    assert measure_host(clock.make("a", 1.0, 3e-6), clock) == pytest.approx(3.0)
    assert clock.log.count("a") == HOST_CALLS
    assert clock.log.count("wait") == HOST_CALLS / 20 + 1


def test_summary() -> None:
    found = summarize([float(value) for value in range(1, 12)])
    assert found == {"median": 6.0, "p10": 2.0, "p90": 10.0}
    assert summarize([4.0]) == {"median": 4.0, "p10": 4.0, "p90": 4.0}


def test_figures() -> None:
    clock = FakeClock()
    calls = {
        "ours": clock.make("ours", 20e-6, 2e-6),
        "torch": clock.make("torch", 30e-6, 9e-6),
        "uncapturable": clock.make("uncapturable", 60e-6, 27e-6),
    }
    found = time_all(calls, clock, 25, 4e6, "ours")
    assert list(found) == ["ours", "torch", "uncapturable"]
    assert found["ours"]["of_torch"] == pytest.approx(1.5)
    assert found["uncapturable"]["of_torch"] == pytest.approx(0.5)
    assert "of_torch" not in found["torch"]
    assert found["ours"]["rate"] == pytest.approx(4e6 / 20 / 1e3)  # units per ns
    assert [found[name]["host"] for name in found] == pytest.approx([2.0, 9.0, 27.0])
    assert found["ours"]["graph"] == pytest.approx(20.0)
    assert "graph" not in found["uncapturable"]
    assert found["uncapturable"]["note"] == "it cannot be captured: it waits"
    assert all(figures["rounds"] == 25 for figures in found.values())


def test_without_torch_there_is_no_ratio() -> None:
    clock = FakeClock()
    found = time_all({"ours": clock.make("ours", 1e-6)}, clock, 25, 1.0, "ours")
    assert "of_torch" not in found["ours"]
