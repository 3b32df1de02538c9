"""Runs cases in processes of their own, each for a limited time."""

from __future__ import annotations

import multiprocessing
import queue
import threading
import time
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection

from .cases import Case, Outcome, Status, outcome_of
from .executing import execute

_CONTEXT = multiprocessing.get_context("spawn")
_SECONDS_TO_START = 30.0
"""To load the package, which counts for no case."""


def run_all(
    cases: Sequence[Case], jobs: int, limit: float, static: bool = False
) -> Iterator[Outcome]:
    """Yield the outcomes of cases as they come; one takes ``limit`` seconds at most."""
    waiting: queue.SimpleQueue[Case] = queue.SimpleQueue()
    for case in cases:
        waiting.put(case)
    done: queue.SimpleQueue[Outcome] = queue.SimpleQueue()
    stop = threading.Event()
    threads = [
        threading.Thread(target=_work, args=(waiting, done, limit, static, stop), daemon=True)
        for _ in range(min(jobs, len(cases)))
    ]
    for thread in threads:
        thread.start()
    try:
        for _ in cases:
            yield done.get()
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def _work(
    waiting: queue.SimpleQueue[Case],
    done: queue.SimpleQueue[Outcome],
    limit: float,
    static: bool,
    stop: threading.Event,
) -> None:
    worker: _Worker | None = None
    while not stop.is_set():
        try:
            case = waiting.get_nowait()
        except queue.Empty:
            break
        worker = worker or _Worker(static)
        outcome = worker.ask(case, limit)
        done.put(outcome)
        if outcome.status in ("timed out", "crashed"):
            worker.end()
            worker = None
    if worker:
        worker.end()


class _Worker:
    """A process that executes one case after another."""

    def __init__(self, static: bool) -> None:
        self._pipe, theirs = _CONTEXT.Pipe()
        self._process = _CONTEXT.Process(target=_serve, args=(theirs, static), daemon=True)
        self._process.start()
        theirs.close()
        if self._pipe.poll(_SECONDS_TO_START):
            self._pipe.recv()

    def ask(self, case: Case, limit: float) -> Outcome:
        """Have a case executed."""
        start = time.monotonic()
        status: Status = "crashed"
        try:
            self._pipe.send(case)
            if self._pipe.poll(limit):
                outcome: Outcome = self._pipe.recv()
                return outcome
            status = "timed out"
        except (EOFError, OSError):
            pass
        self._process.join(0 if status == "timed out" else 5)
        message = "" if status == "timed out" else f"exit code {self._process.exitcode}"
        seconds = round(time.monotonic() - start, 3)
        return outcome_of(case, status, message=message, seconds=seconds)

    def end(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.join()
        self._pipe.close()


def _serve(pipe: Connection, static: bool) -> None:
    pipe.send("ready")
    while True:
        try:
            case = pipe.recv()
        except (EOFError, OSError, KeyboardInterrupt):
            return
        pipe.send(execute(case, static))
