"""The process that does what a pack has to do, until all is done or it cannot go on."""

from __future__ import annotations

import os
import sys
import threading
import time
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

import pipeline
from pipeline.runtime.timing import Clock, TorchClock

from .arrays import Json, PackError
from .doors import Door, find_doors, find_torch
from .gpu import Gpu, refusal
from .kernels import check_kernel
from .measuring import Tensors, TorchTensors, read_clocks, time_case
from .oracle import Oracle, PyTorch
from .programs import check_program
from .results import Results
from .sanitizer import INSTALL, Outcome, Sanitizer, divide, find_sanitizer
from .supervision import RESTART
from .verdicts import Item, Verdict
from .ways import check_reference

PATIENCE = {"check": 60.0, "time": 180.0, "sanitize": 180.0}
"""How many seconds something of a stage may take; Triton compiles and tunes in that of `time`."""
LEAST_SECONDS = 5.0
"""How many it has even if the time for all is nearly over."""
BATCH = 24
"""Cases that a tool runs in one process, as starting it takes longer than most of them."""


class Worker:
    """What has no verdict yet is done, in order; the files are written after each."""

    def __init__(self, options: Namespace, gpu: Gpu, results: Results, program: Path) -> None:
        self._options = options
        self._folder: Path = options.folder
        self._gpu = gpu
        self._results = results
        self._program = program
        self._deadline: float = time.monotonic() + options.budget
        self._where = ""

    def work(self) -> int:
        """Do it; return RESTART if the rest needs another process."""
        for item in self._results.missing():
            if item.stage == "sanitize" or item in self._results.verdicts:
                continue
            is_usable = self._decide(item)
            self._print(item)
            if not is_usable:
                return RESTART
        self._sanitize()
        self._results.save()
        return self._results.exit_code()

    def _print(self, item: Item) -> None:
        verdict = self._results.verdicts[item]
        print(f"{verdict.verdict:8} {item.name}  {verdict.detail}".rstrip(), flush=True)

    def _seconds(self, stage: str) -> float:
        """Return how long the next of a stage may take."""
        left = self._deadline - time.monotonic()
        return min(PATIENCE[stage], max(LEAST_SECONDS, left))

    def _is_over(self) -> bool:
        return time.monotonic() >= self._deadline

    def _refuse(self, items: Sequence[Item]) -> str | None:
        """Return why something is not to be begun."""
        chips = self._results.cases[items[0].case]["chips"]
        if reason := refusal(chips, self._gpu.capability):
            self._results.put(*items, verdict=Verdict("skipped", reason))
            return reason
        if self._is_over():
            reason = "there was no time left"
            self._results.put(*items, verdict=Verdict("not run", reason))
            return reason
        return None

    # --- check and time ---------------------------------------------------------------------------

    def _decide(self, item: Item) -> bool:
        """Find the verdict of a case; tell whether the driver can still be used."""
        results = self._results
        if self._refuse([item]):
            return True
        results.put(item, verdict=Verdict("running"))  # what stays if the process does not survive
        self._where = ""
        try:
            with self._watched(item):
                verdict = self._run(item)
        except KeyboardInterrupt:
            results.put(item, verdict=Verdict("not run", "it was interrupted"))
            raise
        except Exception as error:  # whatever it is, the other cases shall run
            results.put(item, verdict=Verdict("failed", self._explain(error)))
            return isinstance(error, PackError | OSError | pipeline.UsageError)
        results.put(item, verdict=verdict)
        return True

    def _explain(self, error: Exception) -> str:
        is_known = isinstance(error, PackError | pipeline.Error | OSError)
        text = str(error) if is_known else f"{type(error).__name__}: {error}"
        return f"{self._where}: {text}" if self._where else text

    def _run(self, item: Item) -> Verdict:
        case = self._results.cases[item.case]
        if item.stage == "time":
            return self._time(case)
        if case["kind"] == "kernel":
            return check_kernel(case, self._folder, self._gpu, self._oracle)
        check = check_program if case["kind"] == "program" else check_reference
        return check(case, self._folder, self._doors, self._go_to, self._oracle)

    def _go_to(self, where: str) -> None:
        self._where = where

    @cached_property
    def _doors(self) -> list[Door]:
        doors, missing = find_doors(self._gpu)
        for name, reason in missing.items():
            self._results.note(name, f"no arrays of {name} were passed: {reason}")
        return doors

    @cached_property
    def _oracle(self) -> Oracle | None:
        torch, reason = find_torch()
        if torch is None:
            self._results.note("PyTorch's results", f"nothing is compared with them: {reason}")
            return None
        return PyTorch(torch)

    @cached_property
    def _bench(self) -> tuple[Tensors, Clock] | str:
        """What times are taken with, or why none are."""
        torch, reason = find_torch()
        if torch is None:
            return reason
        self._results.note("torch", f"PyTorch {torch.__version__}")
        return TorchTensors(torch), TorchClock(torch)

    def _time(self, case: Json) -> Verdict:
        if isinstance(self._bench, str):
            return Verdict("not run", f"nothing is timed: {self._bench}")
        if "clocks before timing" not in self._results.notes:
            self._results.note("clocks before timing", read_clocks())
        verdict = time_case(case, self._folder, *self._bench, self._options.rounds)
        self._results.note("clocks after timing", read_clocks())
        return verdict

    @contextmanager
    def _watched(self, item: Item) -> Iterator[None]:
        """End the process if something takes too long: a kernel that runs cannot be stopped."""
        seconds = self._seconds(item.stage)

        def give_up() -> None:
            where = f"{self._where}: " if self._where else ""
            words = f"{where}it still runs after {seconds:.3g} s"
            self._results.put(item, verdict=Verdict("failed", words))
            self._print(item)
            sys.stdout.flush()
            os._exit(RESTART)

        timer = threading.Timer(seconds, give_up)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    # --- sanitize ---------------------------------------------------------------------------------

    def _sanitize(self) -> None:
        items = [item for item in self._results.missing() if item.stage == "sanitize"]
        if not items:
            return
        sanitizer, reason = self._find_sanitizer()
        if sanitizer is None:
            self._results.put(*items, verdict=Verdict("not run", reason))
            return
        for batch in _batches(items, lambda item: "plant" in self._results.cases[item.case]):
            self._sanitize_batch(sanitizer, batch)
            for item in batch:
                self._print(item)

    def _find_sanitizer(self) -> tuple[Sanitizer | None, str]:
        program = find_sanitizer(self._options.sanitizer)
        if program is None:
            given = self._options.sanitizer
            where = f"{given} is no program" if given else "compute-sanitizer is not here"
            return None, f"{where}: {INSTALL}"
        command = [sys.executable, str(self._program), "--exercise"]
        try:
            sanitizer = Sanitizer(program, self._options.out / "sanitizer.log", command)
        except (OSError, ValueError) as error:
            return None, f"{program} does not run: {error}"
        self._results.note("compute-sanitizer", sanitizer.version)
        return sanitizer, ""

    def _sanitize_batch(self, sanitizer: Sanitizer, items: Sequence[Item]) -> None:
        """Find the verdicts of cases that one tool runs together, or of a planted bug."""
        tool = items[0].tool
        items = [item for item in items if not self._refuse([item])]
        if not items:
            return
        plant = self._plant_of(tool)
        is_plant = "plant" in self._results.cases[items[0].case]
        if not is_plant and plant.verdict in ("not run", "failed"):
            words = f"the planted bug of {tool} did not run: {plant.detail}"
            self._results.put(*items, verdict=Verdict("not run", words))
            return

        def run(names: Sequence[str]) -> Outcome:
            if self._is_over():
                return Outcome("not run", "there was no time left")
            return sanitizer.run(tool, names, self._seconds("sanitize"))

        by_name = {item.case: item for item in items}
        try:
            outcomes = divide(list(by_name), run)
        except KeyboardInterrupt:
            self._results.put(*items, verdict=Verdict("not run", "it was interrupted"))
            raise
        for name, outcome in outcomes:
            verdict = judge_plant(outcome) if is_plant else judge_case(outcome, tool, plant)
            self._results.put(by_name[name], verdict=verdict)

    def _plant_of(self, tool: str) -> Verdict:
        """Return what became of the planted bug of a tool."""
        for item, verdict in self._results.verdicts.items():
            if item.tool == tool and "plant" in self._results.cases[item.case]:
                return verdict
        return Verdict("missed", "the pack has none")


def judge_plant(outcome: Outcome) -> Verdict:
    """Return the verdict of a planted bug: a tool that says it is clean does not see it."""
    word = {"found": "caught", "clean": "missed"}.get(outcome.word, outcome.word)
    detail = outcome.detail or "the tool does not see its planted bug"
    return Verdict(word, detail)


def judge_case(outcome: Outcome, tool: str, plant: Verdict) -> Verdict:
    """Return the verdict of a case: clean counts only from a tool that caught its planted bug."""
    if outcome.word == "clean" and plant.verdict != "caught":
        return Verdict("void", f"{tool} did not see its planted bug ({plant.verdict})")
    return Verdict(outcome.word, outcome.detail)


def _batches(items: Sequence[Item], is_plant: Callable[[Item], bool]) -> Iterator[list[Item]]:
    """Give items of one tool together, planted bugs one by one and first."""
    batch: list[Item] = []
    for item in items:
        is_other = batch and (item.tool != batch[0].tool or is_plant(batch[0]))
        if is_other or len(batch) == BATCH:
            yield batch
            batch = []
        batch.append(item)
    if batch:
        yield batch


def make_header(suite: Json, gpu: Gpu) -> Json:
    """Return what the results are of."""
    header = {key: suite[key] for key in ("commit", "pack", "chips", "left_out")}
    date = time.strftime("%Y-%m-%d %H:%M:%S %z")
    return {
        "date": date,
        "gpu": gpu.name,
        "chip": gpu.chip,
        "driver": gpu.version,
        "python": sys.version.split()[0],
        **header,
    }
