"""Race-check the kernels of public suites, and count what is found, missed, and false.

Nothing is fetched: each option names a folder with a suite's sources. Results are kept as they
come, and kernels that have one are not run again.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import resource
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from setup.arguments import positive

from . import gpuverify, indigo, litmus, scor
from .cases import Case, Outcome
from .pool import run_all
from .tables import count, to_data, write_markdown

SUITES: dict[str, tuple[Callable[[Path], Iterable[Case]], str]] = {
    "indigo": (indigo.find_cases, "Indigo, as in the artifact of HiRace"),
    "scor": (scor.find_cases, "ScoR's microbenchmarks"),
    "dat3m": (litmus.find_cases, "Dat3M, whose litmus tests for PTX are run"),
    "gpuverify": (gpuverify.find_cases, "GPUVerify's tests of CUDA kernels"),
}


def _seconds(text: str) -> float:
    seconds = float(text)
    if not seconds > 0:
        raise argparse.ArgumentTypeError(f"'{text}' is no time")
    return seconds


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is asked for: 0 if nothing was missed or false, else 1."""
    options = _parse(arguments)
    try:
        cases = [case for case in _find(options) if fnmatch.fnmatch(case.name, options.only)]
    except OSError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if not cases:
        print("error: no kernels: give a suite's folder, see --help", file=sys.stderr)
        return 2
    start = time.monotonic()
    outcomes = list(_run(cases, options))
    seconds = time.monotonic() - start
    if options.json:
        options.json.write_text(json.dumps(to_data(outcomes), indent=1) + "\n")
    print(write_markdown(outcomes), end="")
    numbers = count(outcomes)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cores = used.ru_utime + used.ru_stime
    words = f"{numbers['kernels']} kernels in {seconds:.0f} s, {cores:.0f} s of cores"
    print(words, file=sys.stderr)
    return int(any(outcome.is_wrong for outcome in outcomes))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./tools/race-suites", description=__doc__)
    for name, (_, words) in SUITES.items():
        parser.add_argument(f"--{name}", type=Path, metavar="DIR", help=words)
    parser.add_argument("--only", default="*", metavar="GLOB", help="only kernels of these names")
    parser.add_argument(
        "--static", action="store_true", help="also ask the proof, whose answer counts nowhere"
    )
    parser.add_argument(
        "--jobs", type=positive, default=os.cpu_count(), help="processes (default: the cores)"
    )
    parser.add_argument(
        "--seconds", type=_seconds, default=60.0, help="for a kernel at most (default: 60)"
    )
    parser.add_argument(
        "--results", type=Path, metavar="FILE", help="lines of JSON, added to; what is in is kept"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all as one JSON")
    return parser.parse_args(arguments)


def _find(options: argparse.Namespace) -> Iterator[Case]:
    for name, (find_cases, _) in SUITES.items():
        folder = getattr(options, name)
        if folder is not None:
            yield from find_cases(folder)


def _run(cases: Sequence[Case], options: argparse.Namespace) -> Iterator[Outcome]:
    """Yield the outcomes of all cases, those that are kept first."""
    kept = _read(options.results) if options.results else {}
    for case in cases:
        if case.key in kept:
            yield kept[case.key]
    waiting = [case for case in cases if case.key not in kept]
    for number, outcome in enumerate(
        run_all(waiting, options.jobs, options.seconds, options.static), 1
    ):
        if options.results:
            with options.results.open("a") as results:
                results.write(outcome.to_json() + "\n")
        if outcome.is_wrong or sys.stderr.isatty():
            words = f"{outcome.status}: {outcome.name}"
            print(f"{number}/{len(waiting)} {words}", file=sys.stderr)
        yield outcome


def _read(results: Path) -> dict[str, Outcome]:
    """Return what a file of results has, by the keys of cases, but for a line that was cut off."""
    kept: dict[str, Outcome] = {}
    if not results.exists():
        return kept
    for line in results.read_text().splitlines():
        try:
            outcome = Outcome(**json.loads(line))
        except (ValueError, TypeError):
            continue
        if outcome.status not in ("timed out", "crashed"):  # the machine may have been busy
            kept[outcome.key] = outcome
    return kept


if __name__ == "__main__":
    sys.exit(main())
