"""``python -m pipeline check``: whether threads race, and barriers stand where all pass."""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..compiling.launches import explore_entry, explore_kernel
from ..errors import CheckError, Error, UsageError
from ..program.names import find_kernel, readable_name
from ..runtime.exploring import Search
from ..runtime.random_values import make_random
from .run_command import launch_sizes, summarize
from .values import read_values

if TYPE_CHECKING:
    import argparse

    from ..compiling.checking import KernelVerdict, SyncReport, Verdict
    from ..compiling.request import Sync
    from ..program.module import Module
    from ..runtime.exploring import Exploration

SEED = 0
# For what has no random values.
REMEDY = "try the program on some by `python -m pipeline run` with --arg and --check races"
_SEARCH = ("budget", "launches", "quiet", "seed")


def run(
    options: argparse.Namespace,
    check: Callable[[], SyncReport],
    compile_module: Callable[[Sync], Module],
) -> int:
    """Check, and tell what was found: 0 if all kernels are safe, else 1.

    With a schedule from a file, what loops hand on to each other has to stay where it is, too.
    """
    search = _read_search(options)
    static = check()
    dynamic: list[Exploration] | None = None
    try:
        if options.dynamic:
            dynamic = _run_all(compile_module(static.sync), options, search)
    except Error:
        _tell(options, static, None)  # what is known all the same
        raise
    _tell(options, static, dynamic)
    is_given = options.schedule not in (None, "auto", "none")
    is_clean = static.is_safe and not any(exploration.findings for exploration in dynamic or ())
    is_clean &= static.agrees or not is_given
    return 0 if is_clean else CheckError.exit_code


def _read_search(options: argparse.Namespace) -> Search:
    given = {name: getattr(options, name) for name in _SEARCH if getattr(options, name) is not None}
    if given and options.orders != "until-quiet":
        raise UsageError(f"error: --{next(iter(given))} is for --orders until-quiet")
    if options.orders != "both" and not options.dynamic:
        raise UsageError("error: --orders is for --dynamic, which runs the program")
    return Search(options.orders, **given)


def _tell(
    options: argparse.Namespace, static: SyncReport, dynamic: Sequence[Exploration] | None
) -> None:
    if options.format != "json":
        return _print(static, dynamic or ())
    report = static.to_json()
    if dynamic is not None:
        for kernel, described in zip(static.kernels, report["kernels"], strict=True):
            described["dynamic_verdict"] = _decide(kernel, dynamic)
        explored = [exploration.to_json() for exploration in dynamic]
        report["launches"] = [launch for item in explored for launch in item.pop("launches")]
        if options.orders != "both":
            report["explorations"] = explored
    print(json.dumps(report), flush=True)
    return None


def _run_all(module: Module, options: argparse.Namespace, search: Search) -> list[Exploration]:
    """Run one kernel, or all functions that launch some, in several orders of threads."""
    if options.kernel is None and module.entries:
        if options.arg:
            raise UsageError("error: --arg is for one kernel: give --kernel")
        return _run_entries(module, search)
    if options.kernel is None and len(module.kernels) > 1:
        known = ", ".join(readable_name(name) for name in module.kernels)
        raise UsageError(f"error: --dynamic runs one of several kernels: give --kernel, of {known}")
    name = options.kernel or next(iter(module.kernels))
    kernel = module.kernels[find_kernel(list(module.kernels), name)]
    seed = SEED if options.random is None else options.random

    def values() -> Sequence[Any]:
        return read_values(kernel.arguments, options.arg, seed)

    return [explore_kernel(kernel, values, launch_sizes(options), search)]


def _run_entries(module: Module, search: Search) -> list[Exploration]:
    import numpy as np

    def values(name: str) -> Sequence[Any]:
        random = np.random.default_rng(SEED)
        arguments = module.entry(name).arguments
        return [make_random(item, random, remedy=REMEDY) for item in arguments]

    return [
        explore_entry(module, name, functools.partial(values, name), search, sys.stderr)
        for name in module.entries
    ]


def _decide(kernel: KernelVerdict, dynamic: Sequence[Exploration]) -> Verdict:
    """Return what is known after the runs: a race of accesses that it is undecided of is one."""
    if kernel.verdict != "MAYBE":
        return kernel.verdict
    undecided = {
        place.location
        for finding in kernel.findings
        for place in (finding.at, finding.other)
        if place
    }
    races = any(
        finding.kind.startswith("race.") and access.location in undecided
        for exploration in dynamic
        for finding in exploration.findings
        for access in finding.accesses
    )
    return "RACE" if races else "MAYBE"


def _print(static: SyncReport, dynamic: Sequence[Exploration]) -> None:
    if static.rendered:
        print(static.rendered, file=sys.stderr)
    for kernel in static.kernels:
        provided = ", provided accesses are in bounds" if kernel.assumes_in_bounds else ""
        print(f"{readable_name(kernel.name)}: {kernel.verdict}{provided}")
    for distribution in static.distributions:
        print(distribution)
    for exploration in dynamic:
        _print_launches(exploration)
    for kernel in static.kernels:
        if dynamic and kernel.verdict == "MAYBE":
            races = _decide(kernel, dynamic) == "RACE"
            print(
                f"{readable_name(kernel.name)}: RACE, which the emulator found"
                if races
                else f"{readable_name(kernel.name)}: MAYBE, but no race was found on these launches"
            )


def _print_launches(exploration: Exploration) -> None:
    told: set[str] = set()
    searches = exploration.search.orders == "until-quiet"
    for trial in exploration.trials:
        if searches and not trial.is_new:
            continue
        for report in trial.reports:
            # Mostly the same is found in all orders.
            if report.rendered and report.rendered not in told:
                print(report.rendered, file=sys.stderr)
                told.add(report.rendered)
            print(f"{summarize(report)} (threads {trial.order})")
    if searches:
        print(exploration.describe())
