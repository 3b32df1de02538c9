"""``python -m pipeline check``: whether threads race, and barriers stand where all pass."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Literal

from ..errors import CheckError, Error, UsageError
from ..records.findings import Report, to_json
from ..runtime.emulator import Options
from ..runtime.random_values import make_random
from .run_command import find_kernel, launch_sizes, readable_name, summarize
from .values import read_values

if TYPE_CHECKING:
    import argparse

    from ..compiling.checking import KernelVerdict, SyncReport, Verdict
    from ..compiling.request import Sync
    from ..program.module import Kernel, Module

# In which order threads were run, and what was seen.
_Run = tuple[str, Report]

SEED = 0
_ORDERS: tuple[Literal["forward", "reverse"], ...] = ("forward", "reverse")
# For what has no random values.
REMEDY = "try the program on some by `python -m pipeline run` with --arg and --check races"


def run(
    options: argparse.Namespace,
    check: Callable[[], SyncReport],
    compile_module: Callable[[Sync], Module],
) -> int:
    """Check, and tell what was found: 0 if all kernels are safe, else 1.

    With a schedule from a file, what loops hand on to each other has to stay where it is, too.
    """
    static = check()
    sync: Sync = "insert" if static.has_inserted_barriers else "keep"
    try:
        dynamic = _run_all(compile_module(sync), options) if options.dynamic else None
    except Error:
        _tell(options, static, None)  # what is known all the same
        raise
    _tell(options, static, dynamic)
    is_given = options.schedule not in (None, "auto", "none")
    is_clean = static.is_safe and not any(report.errors for _, report in dynamic or ())
    is_clean &= static.agrees or not is_given
    return 0 if is_clean else CheckError.exit_code


def _tell(options: argparse.Namespace, static: SyncReport, dynamic: Sequence[_Run] | None) -> None:
    if options.format != "json":
        return _print(static, dynamic or ())
    report = static.to_json()
    if dynamic is not None:
        for kernel, described in zip(static.kernels, report["kernels"], strict=True):
            described["dynamic_verdict"] = _decide(kernel, dynamic)
        report["launches"] = [{"order": order, **to_json(item)} for order, item in dynamic]
    print(json.dumps(report), flush=True)
    return None


def _run_all(module: Module, options: argparse.Namespace) -> list[_Run]:
    """Run one kernel, or all functions that launch some, in two orders of threads."""
    if options.kernel is None and module.entries:
        if options.arg:
            raise UsageError("error: --arg is for one kernel: give --kernel")
        return _run_entries(module)
    if options.kernel is None and len(module.kernels) > 1:
        known = ", ".join(readable_name(name) for name in module.kernels)
        raise UsageError(f"error: --dynamic runs one of several kernels: give --kernel, of {known}")
    name = options.kernel or next(iter(module.kernels))
    return _run_kernel(find_kernel(module, name), options)


def _run_kernel(kernel: Kernel, options: argparse.Namespace) -> list[_Run]:
    runs: list[_Run] = []
    for order in _ORDERS:
        seed = SEED if options.random is None else options.random
        values = read_values(kernel.arguments, options.arg, seed)
        emulation = Options(check="races", order=order)
        runs.append((order, kernel.emulate(*values, **launch_sizes(options), options=emulation)))
    return runs


def _run_entries(module: Module) -> list[_Run]:
    import numpy as np

    runs: list[_Run] = []
    for name in module.entries:
        for order in _ORDERS:
            random = np.random.default_rng(SEED)
            arguments = module.entry(name).arguments
            values = [make_random(item, random, remedy=REMEDY) for item in arguments]
            emulation = Options(check="races", order=order)
            with redirect_stdout(sys.stderr):  # what the program prints on the host
                reports = module.emulate(*values, entry=name, options=emulation)
            runs += ((order, report) for report in reports)
    return runs


def _decide(kernel: KernelVerdict, dynamic: Sequence[_Run]) -> Verdict:
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
        for _, report in dynamic
        for finding in report.errors
        for access in finding.accesses
    )
    return "RACE" if races else "MAYBE"


def _print(static: SyncReport, dynamic: Sequence[_Run]) -> None:
    if static.rendered:
        print(static.rendered, file=sys.stderr)
    for kernel in static.kernels:
        provided = ", provided accesses are in bounds" if kernel.assumes_in_bounds else ""
        print(f"{readable_name(kernel.name)}: {kernel.verdict}{provided}")
    for distribution in static.distributions:
        print(distribution)
    told: set[str] = set()
    for order, report in dynamic:
        # Mostly the same is found in both orders.
        if report.rendered and report.rendered not in told:
            print(report.rendered, file=sys.stderr)
            told.add(report.rendered)
        print(f"{summarize(report)} (threads {order})")
    for kernel in static.kernels:
        if dynamic and kernel.verdict == "MAYBE":
            races = _decide(kernel, dynamic) == "RACE"
            print(
                f"{readable_name(kernel.name)}: RACE, which the emulator found"
                if races
                else f"{readable_name(kernel.name)}: MAYBE, but no race was found on these launches"
            )
