"""The process above the one that runs a pack: it starts another when that one does not survive."""

from __future__ import annotations

import subprocess
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Sequence
from pathlib import Path

USAGE, MISSING, RESTART, INTERRUPTED = 2, 69, 75, 130
"""Exit codes beside 0 and 1: wrong usage, something is missing, go on in a new process, stopped."""


def supervise(options: Namespace, start: Callable[[Sequence[str]], int]) -> int:
    """Start a process for the pack, and another if it ends before all is done."""
    deadline = time.monotonic() + options.budget
    file = options.out / "results.json"
    is_resumed = options.resume
    while True:
        before = _stamp(file)
        budget = max(0.0, deadline - time.monotonic())
        words = ["--worker", f"--out={options.out}", f"--budget={budget}"]
        words += [f"--stages={','.join(options.stages)}", f"--rounds={options.rounds}"]
        words += [f"--only={options.only}"] if options.only else []
        words += [f"--sanitizer={options.sanitizer}"] if options.sanitizer else []
        code = start([*words, "--resume"] if is_resumed else words)
        if code in (0, 1, USAGE, MISSING, INTERRUPTED):
            return code
        if _stamp(file) == before:
            print(f"error: the run ended with status {code}, in no case", file=sys.stderr)
            return 1
        is_resumed = True


def _stamp(file: Path) -> tuple[int, int] | None:
    """Return what changes whenever `file` is written."""
    try:
        status = file.stat()
    except FileNotFoundError:
        return None
    return status.st_mtime_ns, status.st_ino


def start_process(program: Path) -> Callable[[Sequence[str]], int]:
    """Return what runs a program with arguments."""
    return lambda words: subprocess.call([sys.executable, str(program), *words])
