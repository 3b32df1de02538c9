"""``python -m pipeline tune``: better tiles for the kernels of a program, in a file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import CheckError, UsageError
from ..system.files import read_source
from .values import read_values

if TYPE_CHECKING:
    import argparse

    from ..tuning.search import TileTrial, TunedKernel, Tuning


def run(options: argparse.Namespace) -> int:
    """Search, write the file, and tell what was found: 0 if each kernel has a tile, else 1."""
    from ..tuning.search import tune

    output = options.output or _name_output(options.input)
    source = read_source("-")[0] if options.input == "-" else Path(options.input)
    tuning = tune(
        source,
        output=output,
        chip=options.chip,
        numerics=options.numerics,
        memory_options=options.memory_options,
        arguments=_read_arguments(options, source),
        executor=options.executor,
        workers=options.workers,
        candidates=options.candidates,
        budget=options.budget,
        backend=options.backend,
        seed=options.random or 0,
        progress=True,
    )
    for kernel in tuning.kernels:
        print("\n".join(_describe(kernel, shows_all=options.all)))
    _tell_end(tuning, output)
    return 0 if all(kernel.best for kernel in tuning.kernels) else CheckError.exit_code


def _name_output(name: str) -> str:
    if name == "-":
        raise UsageError("error: of the standard input, tune needs a file for the tiles: -o FILE")
    return f"{Path(name).stem}.tuned.json"


def _read_arguments(options: argparse.Namespace, source: Any) -> list[Any]:
    """Return the values that are given for the host function; none if none are."""
    if not options.arg:
        return []
    from ..compiling.compiler import compile

    module = compile(source, chip=options.chip, numerics=options.numerics, until="llvm")
    return read_values(module.entry().arguments, options.arg, options.random or 0)


def _describe(kernel: TunedKernel, *, shows_all: bool) -> list[str]:
    tried = [one for one in kernel.trials if one.outcome != "not tried"]
    words = ", ".join(_count(tried))
    lines = [f"{kernel.name}: {len(tried)} of {len(kernel.trials)} candidates tried: {words}"]
    if shows_all:
        lines += [f"  {_describe_trial(one)}" for one in tried]
    if kernel.best is None:
        return [
            *lines,
            "  no candidate could be measured and verified: the default stays",
            *_why(tried),
        ]
    score = kernel.best.score
    best = next(one for one in kernel.trials if one.tile == kernel.best.tile)
    is_default = best is kernel.trials[0]
    what = "the default is the best" if is_default else f"best: {_name_tile(best)}"
    costs = f"{score.cost} {score.unit}, {score.default_cost} by default"
    return [*lines, f"  {what}: {costs}; {best.check}: {best.check_message}"]


def _why(trials: list[TileTrial]) -> list[str]:
    """Return what was said of candidates, each reason once."""
    reasons = (one.check_message or one.message for one in trials)
    return [f"  {reason}" for reason in dict.fromkeys(reasons) if reason]


def _count(trials: list[TileTrial]) -> list[str]:
    outcomes = [one.outcome for one in trials]
    return [f"{outcomes.count(word)} {word}" for word in dict.fromkeys(outcomes)]


def _describe_trial(trial: TileTrial) -> str:
    words = [trial.outcome]
    words += [str(trial.cost)] if trial.cost is not None else []
    words += [part for part in (trial.message, trial.check, trial.check_message) if part]
    return f"{_name_tile(trial)}: {', '.join(words)}"


def _name_tile(trial: TileTrial) -> str:
    from ..schedules.tuned import write_tile

    return ", ".join(f"{name} {value}" for name, value in write_tile(trial.tile).items())


def _tell_end(tuning: Tuning, output: str) -> None:
    if not tuning.is_finished:
        words = "the time was over before all was tried; the same command goes on"
        print(f"remark: {words}", file=sys.stderr)
    if tuning.tiles.entries:
        print(f"{output}: for compile --tuned {output} --chip {tuning.chip}")
