"""Runs of a program on the emulator: what accesses cost, and whether something is found."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stdout, suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import Error, UsageError
from ..records.findings import AccessStatistics, Report
from ..runtime.emulator import Options, ValuesNeeded
from ..runtime.random_values import make_random
from ..system.toolchain import require_numpy
from .document import Access, Run
from .lines import LineTable, gpu_line
from .machine_code import describe_error

if TYPE_CHECKING:
    from ..program.module import Module
    from ..records.signature import Argument
    from ..runtime.emulator import Check

_REMEDY = "give values by --arg"

_RANDOM = 1 << 18
"""Numbers of each array that are random: what is shown of accesses hardly depends on numbers."""


class Emulation(NamedTuple):
    """Reports of launches by what was looked for; ``missing`` says why there are none."""

    statistics: tuple[Report, ...]
    checks: tuple[Report, ...]
    missing: str


def emulate(
    module: Module, arguments: Sequence[Any] | None, *, kernel: str, seed: int, blocks: int
) -> Emulation:
    """Run a few blocks of each launch, once for statistics, and once to look for races.

    arguments: of the host function, or of the kernel if one is named or there is no host function;
    None for random ones. blocks: of each launch; 0 is all.
    """
    try:
        require_numpy("the emulator")
        # What the program prints on the host is not of the report.
        with ThreadPoolExecutor(1) as beside, redirect_stdout(sys.stderr):
            checked = beside.submit(_run, module, arguments, kernel, seed, blocks, check="races")
            statistics = _run(module, arguments, kernel, seed, blocks, check="none")
            checks = checked.result()
    except Error as error:
        return Emulation((), (), describe_error(error))
    return Emulation(statistics, checks, "")


def _run(
    module: Module,
    arguments: Sequence[Any] | None,
    kernel: str,
    seed: int,
    blocks: int,
    *,
    check: Check,
) -> tuple[Report, ...]:
    """Run each launch; what kernels compute is left out if nothing depends on it."""
    options = Options(
        check=check,
        statistics=check == "none",
        blocks=blocks,
        seed=seed,
        fixes=False,
        results=False,
        values=False,
    )
    with suppress(ValuesNeeded):
        reports = _run_with(module, arguments, kernel, options)
        if not any(report.findings for report in reports):
            return reports
    # What is found depends on what is computed: writes of the same values do no harm.
    return _run_with(module, arguments, kernel, dataclasses.replace(options, values=True))


def _run_with(
    module: Module, arguments: Sequence[Any] | None, kernel: str, options: Options
) -> tuple[Report, ...]:
    if kernel or not module.entries:
        return _run_kernels(module, arguments, kernel, options)
    reports: list[Report] = []
    for name in module.entries if arguments is None else [None]:
        entry = module.entry(name)
        values = _choose(entry.arguments, arguments, options.seed)
        reports += module.emulate(*values, entry=name, options=options)
    return tuple(reports)


def _run_kernels(
    module: Module, arguments: Sequence[Any] | None, name: str, options: Options
) -> tuple[Report, ...]:
    kernels = [module.kernels[name]] if name in module.kernels else [*module.kernels.values()]
    if arguments is not None and len(kernels) > 1:
        raise UsageError("error: values are for one of several kernels: name it")
    seed = options.seed
    return tuple(
        one.emulate(*_choose(one.arguments, arguments, seed), options=options) for one in kernels
    )


def _choose(wanted: Sequence[Argument], given: Sequence[Any] | None, seed: int) -> Sequence[Any]:
    import numpy as np

    if given is not None:
        # Each run gets what the first one got: kernels write to their arguments.
        return [value.copy() if hasattr(value, "copy") else value for value in given]
    random = np.random.default_rng(seed)
    return [make_random(one, random, remedy=_REMEDY, most=_RANDOM) for one in wanted]


# --- what came of it ------------------------------------------------------------------------------


def list_accesses(reports: Iterable[Report], table: LineTable) -> tuple[Access, ...]:
    """Return what accesses cost in all launches of a kernel, in the order of the text."""
    totals: dict[tuple[int, str, str, int], AccessStatistics] = {}
    for report in reports:
        for one in report.statistics.per_access if report.statistics else ():
            key = (gpu_line(one.location), one.space, one.kind, one.bytes)
            totals[key] = _add(totals[key], one) if key in totals else one
    return tuple(
        Access(
            gpu_line=line,
            places=table.places(line),
            space=space,
            kind=kind,
            bytes=size,
            requests=one.requests,
            wavefronts=one.wavefronts,
            ideal_wavefronts=one.ideal_wavefronts,
            sectors=one.sectors,
            ideal_sectors=one.dense_sectors,
        )
        for (line, space, kind, size), one in sorted(totals.items())
    )


_COUNTS = (
    *("requests", "accesses", "wavefronts", "ideal_wavefronts"),
    *("sectors", "dense_sectors"),
)


def _add(first: AccessStatistics, second: AccessStatistics) -> AccessStatistics:
    sums: Mapping[str, int] = {n: getattr(first, n) + getattr(second, n) for n in _COUNTS}
    return AccessStatistics(first.location, first.space, first.kind, first.bytes, **sums)


def list_runs(reports: Sequence[Report]) -> tuple[Run, ...]:
    """Return what the launches of a kernel that were checked came to."""
    if not reports:
        return ()
    unreached = set.intersection(
        *({gpu_line(place) for place in report.unreached} for report in reports)
    )
    return (
        Run(
            check=reports[0].check,
            order="forward",
            launches=len(reports),
            blocks_run=sum(report.blocks_run for report in reports),
            blocks=sum(report.blocks for report in reports),
            findings=tuple(
                f"{finding.severity}: {finding.message}"
                for report in reports
                for finding in report.findings
            ),
            unreached_gpu_lines=tuple(sorted(unreached - {0})),
        ),
    )
