"""``python -m pipeline run``: a program, or one kernel of it, on the emulator or a GPU."""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import CheckError, UsageError
from ..program.calling import runs_on_gpu
from ..program.names import find_kernel, readable_name
from ..records.findings import Report, Statistics, to_json
from ..runtime.emulator import Check, Options, check_trust, load_emulator
from ..system.files import write_file
from ..system.toolchain import require_numpy
from .launch_sizes import read_sizes
from .values import read_values

if TYPE_CHECKING:
    import argparse

    from ..program.module import Kernel, Module


def run(options: argparse.Namespace, compile_module: Callable[[], Module]) -> int:
    """Compile, launch, and tell what was found: 0 if nothing, else 1."""
    _refuse_contradictions(options)
    emulation = _options(options)
    # This refuses what only the emulator has, or only a GPU.
    if runs_on_gpu(options.backend, (), None, emulation, options.device):
        options.backend = "cuda"
    module = compile_module()
    if options.backend != "cuda":
        for loaded in module.kernels.values():
            check_trust(loaded._emulation, options.backend)
            load_emulator(loaded._emulation)
    require_numpy("this command")
    callee = (
        module.entry(options.entry)
        if options.kernel is None
        else _find_kernel(module, options.kernel)
    )
    values = read_values(callee.arguments, options.arg, options.random)
    before = _copies(values)
    _check_folder(options.out)
    # What the program prints on the host is no part of a document.
    with redirect_stdout(sys.stderr if options.format == "json" else sys.stdout):
        if options.backend == "cuda":
            reports, results = _run_on_gpu(module, values, options)
        else:
            reports, results = _emulate(module, values, options, emulation)
    _write_changed(options.out, before, values, results)
    _print(reports, options.format)
    if options.backend == "cuda" and options.format != "json":
        print(f"{callee.name}: ran on a GPU, where nothing is checked")
    return CheckError.exit_code if any(report.errors for report in reports) else 0


def _emulate(
    module: Module, values: Sequence[Any], options: argparse.Namespace, emulation: Options
) -> tuple[tuple[Report, ...], tuple[Any, ...]]:
    if options.kernel is None:
        outcome = module.execute(*values, entry=options.entry, options=emulation)
        return outcome.reports, outcome.results
    kernel = _find_kernel(module, options.kernel)
    return (kernel.emulate(*values, **launch_sizes(options), options=emulation),), ()


def _run_on_gpu(
    module: Module, values: Sequence[Any], options: argparse.Namespace
) -> tuple[tuple[Report, ...], tuple[Any, ...]]:
    if options.kernel is not None:
        kernel = _find_kernel(module, options.kernel)
        kernel.run(*values, **launch_sizes(options), backend="cuda", device=options.device)
        return (), ()
    results = module.run(*values, entry=options.entry, backend="cuda", device=options.device)
    return (), results if isinstance(results, tuple) else () if results is None else (results,)


def _find_kernel(module: Module, name: str) -> Kernel:
    return module.kernels[find_kernel(list(module.kernels), name)]


def launch_sizes(options: argparse.Namespace) -> dict[str, Any]:
    """Return the sizes of the launch of a kernel."""
    return {
        "grid": read_sizes(options.grid),
        "block": read_sizes(options.block),
        "cluster": read_sizes(options.cluster),
        "dynamic_shared_bytes": options.dynamic_shared_bytes,
    }


def _refuse_contradictions(options: argparse.Namespace) -> None:
    if options.check_races and options.check == "none":
        raise UsageError("error: --check none and --check-races contradict each other: give one")
    if options.kernel is not None and options.entry is not None:
        raise UsageError(
            "error: --kernel runs one kernel, --entry a function that launches some: give one"
        )
    sizes = (options.grid, options.block, options.cluster, options.dynamic_shared_bytes)
    if options.kernel is None and any(size is not None for size in sizes):
        raise UsageError(
            "error: --grid, --block, --cluster and --dynamic-shared-bytes need --kernel"
        )


def _options(options: argparse.Namespace) -> Options:
    # All findings of --check-races are among those of --check all.
    check: Check = options.check or ("races" if options.check_races else "none")
    return Options(
        check=check,
        order=_seed_or_name(options.order),
        async_mode=_seed_or_name(options.async_mode),
        delays=options.delays,
        step_limit=options.step_limit,
        workers=options.workers,
        blocks=options.blocks,
        statistics=options.stats,
    )


def _seed_or_name(text: str) -> Any:
    try:
        return int(text)
    except ValueError:  # no number, or one of thousands of digits
        return text


def _copies(values: Sequence[Any]) -> list[Any]:
    return [value.copy() if hasattr(value, "copy") else value for value in values]


def _check_folder(folder: str | None) -> None:
    """Raise UsageError before anything runs if the folder for results cannot be made."""
    if folder is None:
        return
    try:
        parents = (Path(folder), *Path(folder).absolute().parents)
        known = next(path for path in parents if path.exists())
    except OSError as error:
        raise _refuse_folder(folder, error.strerror) from error
    if not known.is_dir():
        raise _refuse_folder(folder, os.strerror(errno.ENOTDIR))
    if not os.access(known, os.W_OK | os.X_OK):
        raise _refuse_folder(folder, os.strerror(errno.EACCES))


def _refuse_folder(folder: str, reason: str | None) -> UsageError:
    return UsageError(f"{folder}: error: cannot be made: {reason}")


def _write_changed(
    folder: str | None, before: Sequence[Any], after: Sequence[Any], results: Sequence[Any]
) -> None:
    if folder is None:
        return
    import numpy as np

    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _refuse_folder(folder, error.strerror) from error
    for index, (old, new) in enumerate(zip(before, after, strict=True)):
        if isinstance(new, np.ndarray) and old.tobytes() != new.tobytes():
            _save(Path(folder) / f"arg{index}.npy", new)
    for index, result in enumerate(results):
        _save(Path(folder) / f"result{index}.npy", result)


def _save(path: Path, array: Any) -> None:
    import io

    import numpy as np

    stream = io.BytesIO()
    np.save(stream, np.asarray(array))
    write_file(path, stream.getvalue())


def _print(reports: Sequence[Report], form: str) -> None:
    if form == "json":
        print(json.dumps({"version": 1, "launches": [to_json(report) for report in reports]}))
        return
    for report in reports:
        if report.output:
            sys.stdout.write(report.output)
        if report.rendered:
            print(report.rendered, file=sys.stderr)
        print(summarize(report))
        if report.statistics:
            print(tabulate(report.statistics))


def summarize(report: Report) -> str:
    """Return one line on a launch: what ran, and whether it was clean."""
    what = f"{report.blocks_run} of {report.blocks} blocks"
    if report.errors:
        verdict = _count(len(report.errors), "error")
    elif report.check == "none":
        verdict = "nothing found; races are not looked for without --check-races"
    else:
        verdict = "no finding on this launch"
        if report.unreached:
            places = _count(len(set(report.unreached)), "place")
            verdict += f" (accesses at {places} were not executed)"
    return f"{readable_name(report.kernel)}: {what} in {report.seconds * 1e3:.1f} ms; {verdict}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def tabulate(statistics: Statistics) -> str:
    """Return a table of what the accesses of each place cost."""
    lines = [
        f"{statistics.instructions} instructions, {statistics.accesses} accesses, "
        f"{statistics.barriers} barriers, {statistics.warp_operations} warp operations",
        f"{'place':<28}{'access':<20}{'requests':>10}{'wavefronts':>12}{'ideal':>8}"
        f"{'sectors':>10}{'dense':>8}{'ratio':>7}",
    ]
    for item in statistics.per_access:
        shared = item.space == "shared"
        spent, least = (
            (item.wavefronts, item.ideal_wavefronts)
            if shared
            else (item.sectors, item.dense_sectors)
        )
        columns = f"{spent:>12}{least:>8}{'':>18}" if shared else f"{'':>20}{spent:>10}{least:>8}"
        lines.append(
            f"{item.location!s:<28}{f'{item.space} {item.kind} {item.bytes} B':<20}"
            f"{item.requests:>10}{columns}{spent / max(1, least):>7.2f}"
        )
    return "\n".join(lines)
