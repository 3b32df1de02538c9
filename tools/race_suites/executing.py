"""Runs one kernel of a suite: clang, the proof, and the emulator in some orders of threads."""

from __future__ import annotations

import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pipeline
from pipeline.system import clang

from .arguments import choose_scalars, make_values
from .cases import Case, Outcome, Status, is_race, judge, outcome_of
from .functions import choose_by_numbers
from .lifting import lift_variables
from .litmus import execute as execute_litmus
from .structures import spread_structures

Order = Literal["forward", "reverse"] | int

_ORDERS: tuple[Order, ...] = ("forward", "reverse")
_MORE_ORDERS: tuple[Order, ...] = (1, 2, 3, 4, 5, 6)
"""Tried if a kernel is racy, and no race was found so far."""
_STEPS = 100_000
"""Iterations of a loop: a thread that waits for another block waits for nothing, see docs."""
_LIFTED = "outlives launches"
_IN_STRUCTURE = "with a pointer in it"
_BY_ADDRESS = ("a function by its address", "the address of function")
_UNLINKED = "has no body"
"""No linker makes a program of it."""
_UNMET = "trap"
"""What the macros of `gpuverify.h` do where a precondition does not hold."""
_IGNORED = ("step-limit",)
"""Of a thread that waits for one that never comes in this order, as blocks run one by one."""


@dataclass(frozen=True, slots=True)
class Program:
    """A compiled kernel; ``variables``: what its last arguments begin with."""

    kernel: Any
    variables: tuple[int, ...] = ()


def execute(case: Case, static: bool = False) -> Outcome:
    """Run a case, and say what was found; ``static``: ask the proof as well."""
    warnings.simplefilter("ignore", pipeline.UnverifiedWarning)
    if case.kind != "cuda":
        return execute_litmus(case)
    start = time.monotonic()
    further: dict[str, Any] = {}
    status: Status
    try:
        if static:
            further["verdict"] = _prove(case)
        kinds, unmet = _run(case)
        status = judge(case.expected, kinds)
        if unmet:
            status, further["message"] = "refused", "no arguments meet the kernel's preconditions"
        further["kinds"] = kinds
    except pipeline.CompileError as error:
        is_whole = error.stage != "clang" and _UNLINKED not in str(error)
        status = "refused" if is_whole else "not compiled"
        further["message"] = _first_line(error)
    except pipeline.Error as error:
        status, further["message"] = "refused", _first_line(error)
    seconds = round(time.monotonic() - start, 3)
    return outcome_of(case, status, seconds=seconds, **further)


def _first_line(error: Exception) -> str:
    lines = str(error).splitlines() or [type(error).__name__]
    return next((line for line in lines if "error:" in line), lines[0])


def _prove(case: Case) -> str:
    report = pipeline.check(
        Path(case.source),
        kernel=case.kernel,
        block=case.block,
        grid=case.grid,
        clang_options=case.clang_options,
    )
    return ", ".join(sorted({kernel.verdict for kernel in report.kernels}))


def _run(case: Case) -> tuple[dict[str, int], bool]:
    """Return the kinds of findings, and whether no arguments met the preconditions."""
    source = Path(case.source)
    try:
        return _launch_in_orders(case, Program(_compile(source, case, case.clang_options)))
    except pipeline.Error as error:
        refusal = error
    try:
        program = _find_way(case, str(refusal))
    except pipeline.CompileError:
        program = None  # what is wrong with the program that was given
    if not program:
        raise refusal
    return _launch_in_orders(case, program)


def _find_way(case: Case, refusal: str) -> Program | None:
    """Return a program that does the same and is not refused for that; None if none is known."""
    text = Path(case.source).read_text()
    if _LIFTED in refusal:
        lifted = lift_variables(text)
        return Program(_compile_copy(case, lifted.text), lifted.values)
    if any(words in refusal for words in _BY_ADDRESS):
        chosen = choose_by_numbers(text, case.kernel)
        return Program(_compile_copy(case, chosen)) if chosen else None
    if _IN_STRUCTURE in refusal:
        written = clang.translate(case.source, "sm_80", case.clang_options)
        spread = spread_structures(written, case.kernel)
        return Program(_compile(spread, case)) if spread else None
    return None


def _compile_copy(case: Case, text: str) -> Any:
    """Compile another text of a case."""
    source = Path(case.source)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / source.name
        copy.write_text(text)
        return _compile(copy, case, (*case.clang_options, f"-I{source.parent}"))


def _launch_in_orders(case: Case, program: Program) -> tuple[dict[str, int], bool]:
    found = Counter[str]()
    is_accepted = False
    for number, order in enumerate((*_ORDERS, *_MORE_ORDERS)):
        if number >= len(_ORDERS) and (case.expected != "racy" or not is_accepted):
            break
        for kinds in _launch_with_numbers(case, program, order):
            is_accepted = True
            found.update(kinds)
            if _is_enough(case, found):
                break
        if _is_enough(case, found):
            break
    return dict(sorted(found.items())), not is_accepted


def _is_enough(case: Case, found: Counter[str]) -> bool:
    return any(map(is_race, found)) or (case.expected == "faulty" and bool(found))


def _compile(source: Path | str, case: Case, options: Sequence[str] = ()) -> Any:
    """Return the kernel of a case."""
    module = pipeline.compile(
        source,
        kernel=case.kernel,
        block=case.block,
        grid=case.grid,
        verify=False,
        sync="keep",
        until="llvm",
        clang_options=options,
    )
    (kernel,) = module.kernels.values()
    return kernel


def _launch_with_numbers(case: Case, program: Program, order: Order) -> Iterator[dict[str, int]]:
    """Yield what is found for the first numbers that the kernel accepts; if something is, for more.

    That is, for all that are tried, where something is to be found.
    """
    text = Path(case.source).read_text(errors="replace")
    arguments = program.kernel.arguments
    for scalars in choose_scalars(case, arguments, text):
        values = make_values(case, arguments, program.variables, scalars)
        options = pipeline.Options(check=case.check, order=order, step_limit=_STEPS, workers=1)
        report = program.kernel.emulate(*values, block=case.block, grid=case.grid, options=options)
        kinds = Counter(finding.kind for finding in report.findings)
        if kinds[_UNMET]:
            continue
        yield {kind: count for kind, count in kinds.items() if kind not in _IGNORED}
        if case.expected in ("clean", "open"):
            return
