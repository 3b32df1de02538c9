"""The command line of a pack: `run.py`.

Exit codes: 0 all is as it should be, 1 some is not or was not run, 2 wrong usage, 69 something is
missing.
"""

from __future__ import annotations

import argparse
import difflib
import hashlib
import json
import math
import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

import pipeline

from .arrays import Json, PackError
from .exercise import exercise
from .gpu import Gpu
from .results import Results
from .supervision import INTERRUPTED, MISSING, USAGE, start_process, supervise
from .verdicts import STAGES, list_items
from .worker import Worker, make_header

FOLDER = Path(__file__).resolve().parents[1]
FORMAT = 3
DESCRIPTION = """Check the kernels and programs of this folder on a GPU, time them beside PyTorch
and Triton, and have compute-sanitizer watch them. Results are written after each case."""
ROUNDS = 25


def read_suite(folder: Path) -> Json:
    """Return what a pack holds. Raises PackError."""
    try:
        data = (folder / "suite.json").read_bytes()
        suite: Json = json.loads(data)
    except (OSError, ValueError) as error:
        raise PackError(f"suite.json beside run.py cannot be read: {error}") from error
    if suite.get("format") != FORMAT:
        raise PackError("suite.json was written for another run.py")
    return {**suite, "pack": hashlib.sha256(data).hexdigest()[:16]}


def choose(cases: Sequence[Json], name: str) -> list[Json]:
    """Return the case called `name`, or else those whose names hold it. Raises PackError.

    Planted bugs are in it: what the tools find counts only with them.
    """
    plants = [case for case in cases if "plant" in case]
    others = [case for case in cases if "plant" not in case]
    exact = [case for case in others if case["name"] == name]
    chosen = exact or [case for case in others if name.lower() in case["name"].lower()]
    if not chosen:
        names = difflib.get_close_matches(name, [case["name"] for case in others], 3, 0)
        raise PackError(f"there is no case '{name}'; close to it: {', '.join(names)}")
    return [*chosen, *plants]


def work(options: argparse.Namespace, program: Path) -> int:
    """Do what has no verdict yet; return RESTART if the rest needs another process."""
    suite = read_suite(options.folder)
    cases = choose(suite["cases"], options.only) if options.only else suite["cases"]
    gpu = Gpu()
    items = list_items(cases, options.stages)
    results = Results(options.out, make_header(suite, gpu), cases, items)
    if options.resume:
        results.resume()
    results.save()
    code = Worker(options, gpu, results, program).work()
    if code in (0, 1):
        print(f"{results.summarize()}; {options.out / 'results.md'}")
    return code


# --- the command line -----------------------------------------------------------------------------


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="run.py", description=DESCRIPTION)
    parser.add_argument("--out", type=Path, metavar="RESULTS", help="folder for the results")
    parser.add_argument("--budget", type=float, metavar="SECONDS", help="start no case after them")
    parser.add_argument("--only", metavar="NAME", help="run this case, or those with it in theirs")
    parser.add_argument(
        "--stages", type=_read_stages, metavar="NAMES", help=f"of {','.join(STAGES)}; default: all"
    )
    parser.add_argument("--rounds", type=int, metavar="N", help=f"of timing; default: {ROUNDS}")
    parser.add_argument("--sanitizer", metavar="PATH", help="the program compute-sanitizer")
    parser.add_argument("--resume", action="store_true", help="keep verdicts that RESULTS has")
    parser.add_argument("--probe", action="store_true", help="only tell the GPU")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--exercise", type=Path, help=argparse.SUPPRESS)
    parser.set_defaults(folder=FOLDER, out=FOLDER / "results", budget=math.inf)
    parser.set_defaults(stages=STAGES, rounds=ROUNDS, sanitizer="")
    options = parser.parse_args(arguments)
    if options.rounds < 1:
        parser.error("argument --rounds: must be at least 1")
    return options


def _read_stages(text: str) -> tuple[str, ...]:
    names = tuple(text.split(","))
    for name in names:
        if name not in STAGES:
            raise argparse.ArgumentTypeError(f"'{name}' is none of {', '.join(STAGES)}")
    return names


def main(
    arguments: Sequence[str],
    program: Path = FOLDER / "run.py",
    start: Callable[[Sequence[str]], int] | None = None,
) -> int:
    """Run the pack of this folder and return the exit code."""
    options = parse(arguments)
    try:
        if options.probe:
            gpu = Gpu()
            print(f"{gpu.name}, {gpu.chip}")
            return 0
        if options.exercise:
            cases = {case["name"]: case for case in read_suite(options.folder)["cases"]}
            return exercise(options.folder, cases, options.exercise)
        if options.worker:
            return work(options, program)
        return supervise(options, start or start_process(program))
    except pipeline.DeviceUnavailable as error:
        print(error, file=sys.stderr)
        return MISSING
    except (PackError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return USAGE
    except KeyboardInterrupt:
        return INTERRUPTED


def run(arguments: Sequence[str]) -> NoReturn:
    """Be the program `run.py`."""
    signal.signal(signal.SIGTERM, _interrupt)
    status = main(arguments)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # a kernel that does not end would keep the driver from shutting down


def _interrupt(number: int, frame: object) -> NoReturn:
    raise KeyboardInterrupt
