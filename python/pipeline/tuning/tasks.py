"""What a worker does: compiles a candidate, counts or times it, and checks its results.

Tasks and what comes of them are plain data, so that they go to other processes and machines.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..errors import Error
from ..runtime.emulator import Options
from ..runtime.random_values import make_random
from ..schedules.kernel import Kernel
from ..schedules.matrix import matrix_rate
from ..schedules.tuned import OneTile, read_tile
from ..system.toolchain import load_native
from .comparing import describe_difference
from .figures import read_figures
from .instances import LITTLE_WORK, MOST_WORK, count_work, list_sizes, shrink
from .model import count_program
from .task import Outcome, Task

if TYPE_CHECKING:
    from ..program.module import Module
    from ..schedules.target import Target
    from ..schedules.tile import Tile


def measure(task: Task) -> Outcome:
    """Compile a candidate, and find its cost: ``measured``, ``refused`` or ``undecided``."""
    return _timed(_measure, task)


def verify(task: Task) -> Outcome:
    """Prove and run a candidate: ``right``, ``wrong``, ``undecided`` or ``unchecked``."""
    return _timed(_verify, task)


def _timed(function: Any, task: Task) -> Outcome:
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            outcome: Outcome = function(task)
        except Error as error:
            outcome = _fail("refused", str(error))
        except (MemoryError, ImportError) as error:
            outcome = _fail("failed", f"{type(error).__name__}: {error}")
    return {**outcome, "seconds": round(time.perf_counter() - start, 3)}


def _fail(word: str, message: str) -> Outcome:
    lines = [line for line in message.strip().splitlines() if line.strip()] or [word]
    return {"outcome": word, "message": lines[0][:400]}


def _measure(task: Task) -> Outcome:
    module = task.compile()
    if doubts := [one for one in module.diagnostics if one.severity == "warning"]:
        return _fail("undecided", str(doubts[0]))
    if task.on_gpu:
        from .on_gpu import time_beside_default

        return time_beside_default(task, module)
    kernels, target = task.analyse(task.text)
    kernel = next(one for one in kernels if one.name == task.kernel)
    arguments = task.arguments or _make_zeros(module)
    products = _count_products(kernel, read_tile(dict(task.tile)), target)
    launches = read_figures(module, arguments, products)
    cost = count_program(launches, target, matrix_rate(kernel.main, target))
    if not math.isfinite(cost):
        return _fail("refused", "no block fits a multiprocessor")
    told = [one._asdict() for one in launches]
    return {"outcome": "measured", "unit": "cycles", "cost": round(cost), "launches": told}


def _count_products(kernel: Kernel, tile: Tile, target: Target) -> float:
    """Return the products of tensor cores in all tiles, which are whole there."""
    op = kernel.main
    if op.contraction is None or not matrix_rate(op, target):
        return 0.0
    total = 1.0
    for loop in range(len(op.extents)):
        extent, row = op.extent(loop), op.rows[loop]
        size = tile.block[row] if row is not None else 0
        total *= -(-extent // size) * size if size else extent
    return total


def _make_zeros(module: Module) -> list[Any]:
    """Return arguments of which only the sizes matter: what kernels do is the same for all."""
    import numpy as np

    from ..records.scalars import numpy_dtype

    random = np.random.default_rng(0)
    made = []
    for argument in module.entry().arguments:
        dtype = numpy_dtype(argument.element_type)
        if argument.is_memref and dtype is not None and None not in argument.shape:
            made.append(np.zeros([size or 0 for size in argument.shape], dtype))
        else:
            made.append(make_random(argument, random, remedy="give values by --arg"))
    return made


# --- results --------------------------------------------------------------------------------------


def _verify(task: Task) -> Outcome:
    """Prove all kernels of the program itself, then compare results on a small instance of it."""
    if outcome := _prove(task):
        return outcome
    if task.on_gpu:
        from .on_gpu import compare_with_default

        return compare_with_default(task)
    text, told = _find_instance(task)
    if text is None:
        return _fail("unchecked", told)
    return _compare(task, text, told)


def _prove(task: Task) -> Outcome | None:
    from ..compiling.explaining import compile_explained

    tile = OneTile(task.kernel, read_tile(dict(task.tile)))
    options: dict[str, Any] = dict(task.options)
    explained = compile_explained(task.text, tuned=tile, **options)
    for verdict in explained.find().verdicts:
        if verdict.verdict != "SAFE":
            return _fail("undecided", f"kernel '{verdict.name}' is {verdict.verdict}")
    return None


def _find_instance(task: Task) -> tuple[str | None, str]:
    """Return a program for the emulator, and its sizes in words; or None, and why there is none."""
    kernels, _ = task.analyse(task.text)
    work = count_work(kernels)
    if task.arguments or work <= LITTLE_WORK:
        return task.text, "the program itself"
    kernel = next(one for one in kernels if one.name == task.kernel)
    for sizes in list_sizes(kernel, read_tile(dict(task.tile))):
        text = shrink(task.text, sizes)
        try:
            made, _ = task.analyse(text)
        except Error:
            continue
        is_alike = [(one.name, one.kind) for one in made] == [(k.name, k.kind) for k in kernels]
        if is_alike and count_work(made) <= MOST_WORK:
            return text, ", ".join(f"{old} as {new}" for old, new in sorted(sizes.items()))
    if work <= MOST_WORK:
        return task.text, "the program itself"
    return None, "the emulator is too slow for it, and it has no small instance"


def _compare(task: Task, text: str, told: str) -> Outcome:
    """Run an instance with the candidate and by default, and compare all that comes of it."""
    import numpy as np

    candidate, default = task.compile(text), task.compile(text, by_default=True)
    random = np.random.default_rng(task.seed)
    arguments = candidate.entry().arguments
    values = list(task.arguments) or [
        make_random(one, random, remedy="give values by --arg") for one in arguments
    ]
    found, wanted = (_run(module, values) for module in (candidate, default))
    if isinstance(found, str):
        return _fail("wrong", found)
    if isinstance(wanted, str):
        return _fail("unchecked", f"with the default tile {wanted}")
    if reason := describe_difference(found, wanted):
        return _fail("wrong", reason)
    return {"outcome": "right", "instance": told}


def _run(module: Module, values: Sequence[Any]) -> list[Any] | str:
    """Return what is in all arguments afterwards, and the results; or what was found."""
    copies = [value.copy() if hasattr(value, "copy") else value for value in values]
    outcome = module.execute(*copies, options=Options(check="none"))
    for report in outcome.reports:
        if report.errors:
            return f"the emulator finds: {report.errors[0].message}"
    return [*copies, *outcome.results]


def find_chip(chip: str | None) -> str:
    """Return the chip that is meant: the default if none is given."""
    load_native()
    from .. import _native

    return chip or _native.default_chip()
