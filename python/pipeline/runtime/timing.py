"""Times of calls that do the same, measured in turn so that all see the same GPU.

Each round launches every peer once, behind a flush of the second-level cache, in an order that
every other round is the reverse.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol

Json = dict[str, Any]

WARM_UP = 3
HOST_CALLS, HOST_BATCH = 200, 20
"""Calls whose duration for the caller is measured, and after how many the GPU is waited for."""
FLUSH_BYTES = 256 << 20

Calls = Mapping[str, Callable[[], Any]]


class Clock(Protocol):
    """The clocks of a GPU and of its host."""

    def flush(self) -> None:
        """Have nothing of the arrays in the second-level cache."""

    def measure(self, call: Callable[[], Any]) -> float:
        """Return the microseconds that the GPU takes for what a call queues."""

    def capture(self, call: Callable[[], Any]) -> Callable[[], Any]:
        """Return what launches a call as a graph."""

    def wait(self) -> None:
        """Wait for all work on the GPU."""

    def now(self) -> float:
        """Return the time of the host, in seconds."""


class TorchClock:
    """Events of PyTorch, on its current stream."""

    def __init__(self, torch: Any) -> None:
        self._torch = torch
        self._memory = torch.empty(FLUSH_BYTES, dtype=torch.uint8, device="cuda")

    def flush(self) -> None:
        """Write more than the cache holds."""
        self._memory.zero_()

    def measure(self, call: Callable[[], Any]) -> float:
        """Return the microseconds between events before and after."""
        start, end = (self._torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        call()
        end.record()
        end.synchronize()
        return float(start.elapsed_time(end)) * 1e3

    def capture(self, call: Callable[[], Any]) -> Callable[[], Any]:
        """Return what replays a graph of a call."""
        graph = self._torch.cuda.CUDAGraph()
        with self._torch.cuda.graph(graph):
            call()
        replay: Callable[[], Any] = graph.replay
        return replay

    def wait(self) -> None:
        """Wait for all work on the GPU."""
        self._torch.cuda.synchronize()

    def now(self) -> float:
        """Return the time of the host."""
        return time.perf_counter()


def interleave(calls: Calls, clock: Clock, rounds: int) -> dict[str, list[float]]:
    """Return the microseconds of each call in each round."""
    for call in calls.values():
        for _ in range(WARM_UP):
            call()
    clock.wait()
    times: dict[str, list[float]] = {name: [] for name in calls}
    for number in range(rounds):
        names = list(calls)
        for name in names if number % 2 == 0 else names[::-1]:
            clock.flush()
            times[name].append(clock.measure(calls[name]))
    clock.wait()
    return times


def measure_host(call: Callable[[], Any], clock: Clock) -> float:
    """Return the median microseconds that a call takes its caller, with the GPU not waited for."""
    times = []
    for number in range(HOST_CALLS):
        if number % HOST_BATCH == 0:
            clock.wait()
        start = clock.now()
        call()
        times.append((clock.now() - start) * 1e6)
    clock.wait()
    return statistics.median(times)


def summarize(times: list[float]) -> Json:
    """Return the median, and between what the middle four fifths lie."""
    if len(times) < 2:
        return dict.fromkeys(("median", "p10", "p90"), times[0])
    tenths = statistics.quantiles(times, n=10, method="inclusive")
    return {"median": statistics.median(times), "p10": tenths[0], "p90": tenths[-1]}


def time_all(calls: Calls, clock: Clock, rounds: int, work: float, ours: str) -> dict[str, Json]:
    """Return the times of each call: of the GPU, of the host, in a graph, and next to others'.

    `work` is what a call does, in units of which a rate counts a thousand millions per second.
    ``of_torch`` is the median ratio in the same rounds.
    """
    times = interleave(calls, clock, rounds)
    graphs, notes = capture_all(calls, clock)
    in_graphs = interleave(graphs, clock, rounds) if graphs else {}
    figures: dict[str, Json] = {}
    for name, taken in times.items():
        figures[name] = summarize(taken) | {
            "rate": work / statistics.median(taken) / 1e3,
            "host": measure_host(calls[name], clock),
            "rounds": len(taken),
        }
        if name in in_graphs:
            figures[name]["graph"] = statistics.median(in_graphs[name])
        if name in notes:
            figures[name]["note"] = notes[name]
        if "torch" in times and name != "torch":
            pairs = zip(times["torch"], taken, strict=True)
            figures[name]["of_torch"] = statistics.median(theirs / own for theirs, own in pairs)
    return {ours: figures.pop(ours)} | figures


def capture_all(calls: Calls, clock: Clock) -> tuple[Calls, dict[str, str]]:
    """Return calls as graphs, and why some cannot be captured."""
    graphs: dict[str, Callable[[], Any]] = {}
    notes: dict[str, str] = {}
    for name, call in calls.items():
        try:
            graphs[name] = clock.capture(call)
        except Exception as error:
            notes[name] = f"it cannot be captured: {error}"
    return graphs, notes
