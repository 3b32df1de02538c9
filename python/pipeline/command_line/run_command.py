"""``python -m pipeline run``: a program, or one kernel of it, on the emulator or a GPU."""

from __future__ import annotations

import errno
import json
import math
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import CheckError, UsageError
from ..program.calling import runs_on_gpu
from ..records.findings import Report, Statistics, to_json
from ..records.scalars import describe_value, numpy_dtype
from ..runtime.emulator import Check, Options, check_trust, load_emulator
from ..system.files import write_file
from ..system.toolchain import require_numpy

if TYPE_CHECKING:
    import argparse

    import numpy as np

    from ..program.module import Module
    from ..records.signature import Argument


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
    if options.kernel is not None and options.kernel not in module.kernels:
        known = ", ".join(module.kernels)
        raise UsageError(f"error: there is no kernel '{options.kernel}'; there are {known}")
    callee = (
        module.entry(options.entry) if options.kernel is None else module.kernels[options.kernel]
    )
    values = _values(callee.arguments, options)
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
    kernel = module.kernels[options.kernel]
    return (kernel.emulate(*values, **_launch_sizes(options), options=emulation),), ()


def _run_on_gpu(
    module: Module, values: Sequence[Any], options: argparse.Namespace
) -> tuple[tuple[Report, ...], tuple[Any, ...]]:
    if options.kernel is not None:
        kernel = module.kernels[options.kernel]
        kernel.run(*values, **_launch_sizes(options), backend="cuda", device=options.device)
        return (), ()
    results = module.run(*values, entry=options.entry, backend="cuda", device=options.device)
    return (), results if isinstance(results, tuple) else () if results is None else (results,)


def _launch_sizes(options: argparse.Namespace) -> dict[str, Any]:
    return {
        "grid": _sizes(options.grid),
        "block": _sizes(options.block),
        "cluster": _sizes(options.cluster),
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


def _sizes(text: str | None) -> Any:
    """Return the numbers of --grid and its like; what are none goes as it is, to be refused."""
    if text is None:
        return None
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        return text


def _values(arguments: Sequence[Argument], options: argparse.Namespace) -> list[Any]:
    import numpy as np

    given, wanted = len(options.arg), len(arguments)
    if given > wanted:
        raise UsageError(f"error: there are {wanted} arguments, but {given} --arg")
    values = [
        _name_elements(_read(text), argument)
        for text, argument in zip(options.arg, arguments, strict=False)
    ]
    if len(values) < len(arguments) and options.random is None:
        missing = ", ".join(argument.type for argument in arguments[len(values) :])
        raise UsageError(f"error: no --arg for {missing}; give files, or --random SEED")
    if options.random is not None and options.random < 0:
        raise UsageError("error: --random takes a number from 0 on")
    random = np.random.default_rng(options.random)
    for argument in arguments[len(values) :]:
        values.append(make_random(argument, random, remedy="give an --arg"))
    return values


def _read(text: str) -> Any:
    import numpy as np

    try:
        return int(text)
    except ValueError:
        pass
    try:
        number = float(text)
    except ValueError:
        pass
    else:
        if math.isinf(number) and "inf" not in text.lower():
            raise UsageError(f"error: --arg {describe_value(text)} is too large for any type")
        return number
    try:
        array = np.load(text, allow_pickle=False)
        if not isinstance(array, np.ndarray):
            raise ValueError("several arrays")
        return array
    except (OSError, ValueError, EOFError, OverflowError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no .npy file"
        raise UsageError(f"{text}: error: cannot be read: {reason}") from error


def _name_elements(value: Any, argument: Argument) -> Any:
    """Return an array with the elements that it was saved with: files do not know narrow floats."""
    dtype = numpy_dtype(argument.element_type)
    if (
        dtype is None
        or dtype.isbuiltin == 1
        or getattr(value, "dtype", None) != f"V{dtype.itemsize}"
    ):
        return value
    return value.view(dtype)


def make_random(argument: Argument, random: np.random.Generator, *, remedy: str) -> Any:
    """Return random values for an argument of static shape, none of them zero.

    Raises UsageError, with what to do instead, if the shape is dynamic, or NumPy has no such
    elements.
    """
    import numpy as np

    dtype = numpy_dtype(argument.element_type)
    if dtype is None or None in argument.shape:
        raise UsageError(f"error: there are no random values for {argument.type}; {remedy}")
    shape = tuple(extent for extent in argument.shape if extent is not None)
    if dtype.kind in "iu":
        values: Any = random.integers(1, 8, shape)
    elif dtype.kind == "b":
        values = random.integers(0, 2, shape)
    else:
        values = random.uniform(0.125, 1.0, shape) * random.choice([-1.0, 1.0], shape)
    if not argument.is_memref:
        return np.asarray(values).astype(dtype).item()
    return np.asarray(values).astype(dtype)


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
    return f"{report.kernel}: {what} in {report.seconds * 1e3:.1f} ms; {verdict}"


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
