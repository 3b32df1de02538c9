"""What is proved of a program, what was tested, and what both take for granted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from .document import Kernel, Statement

if TYPE_CHECKING:
    from ..program.module import Module

PROVED, REFUTED, TESTED, ASSUMED, OPEN = "proved", "refuted", "tested", "assumed", "open"

_WRONG = ("RACE", "UNFIXABLE", "DIVERGENT", "DEADLOCK")
"""Verdicts that an execution shows; MAYBE is none."""

_FINDINGS = 3
"""Different ones of a run, that are told with it."""

_SYNC = "docs/synchronization.md"


def list_statements(
    module: Module, kernels: Sequence[Kernel], numerics: str
) -> tuple[Statement, ...]:
    """Return what can be relied on, and what that rests on."""
    found: list[Statement] = []
    for kernel in kernels:
        found += _prove(kernel)
        found += _test(kernel)
        found += _assume(module, kernel)
    found += _assume_of_all(module, numerics)
    return tuple(found)


def _prove(kernel: Kernel) -> Iterator[Statement]:
    verdict = kernel.verdict
    basis = f"workgroup-verify-sync on the kernel as it is compiled; {_SYNC}"
    if verdict is None:
        yield Statement(OPEN, kernel.name, "nothing is known of its synchronisation", basis)
    elif verdict.verdict == "SAFE":
        bounds = ", provided that accesses are in bounds" if verdict.assumes_in_bounds else ""
        text = f"no two threads race, and barriers are reached by all, in any launch{bounds}"
        yield Statement(PROVED, kernel.name, text, basis)
    else:
        for finding in verdict.findings:
            text = f"{finding.verdict}: {finding.message}"
            standing = REFUTED if finding.verdict in _WRONG else OPEN
            yield Statement(standing, kernel.name, text, basis)
    needed = [one for one in kernel.barriers if one.without in _WRONG]
    if needed:
        words = "barrier is" if len(kernel.barriers) == 1 else "barriers are"
        text = (
            f"{len(needed)} of {len(kernel.barriers)} {words} needed: without "
            f"{'it' if len(needed) == 1 else 'any one of them'} there is a race"
        )
        basis = "the proof, repeated without each barrier"
        yield Statement(PROVED, kernel.name, text, basis)


def _test(kernel: Kernel) -> Iterator[Statement]:
    for run in kernel.runs:
        text = (
            f"{run.blocks_run} of {run.blocks} blocks ran with check={run.check}, "
            f"threads in {run.order} order: "
        )
        count = len(run.findings)
        text += f"{count} finding{'' if count == 1 else 's'}" if count else "nothing was found"
        text += "".join(f"; {one}" for one in list(dict.fromkeys(run.findings))[:_FINDINGS])
        if run.unreached_gpu_lines:
            text += f"; accesses on {len(run.unreached_gpu_lines)} lines were not reached"
        basis = "the emulator, on the arguments that it was given; docs/emulator.md"
        yield Statement(TESTED, kernel.name, text, basis)
    if reason := kernel.missing.get("accesses"):
        yield Statement(OPEN, kernel.name, f"it was not run: {reason}", "the emulator")


def _assume(module: Module, kernel: Kernel) -> Iterator[Statement]:
    record = module.kernels[kernel.name]
    aligned = sorted({one.alignment for one in record.arguments if one.is_memref})
    if aligned and aligned[-1] > 1:
        text = "arrays begin at multiples of " + " or ".join(map(str, aligned)) + " bytes"
        yield Statement(ASSUMED, kernel.name, text, "checked by the runtime before a launch")
    for name, sizes in (("block", record.known_block), ("grid", record.known_grid)):
        if sizes:
            text = f"the {name} is {'x'.join(map(str, sizes))}"
            yield Statement(ASSUMED, kernel.name, text, "launches of other sizes are refused")
    if kernel.verdict and kernel.verdict.assumes_in_bounds:
        text = "accesses are in bounds of views, and of each dimension"
        basis = "the program promises it; --assert-bounds has kernels assert it"
        yield Statement(ASSUMED, kernel.name, text, basis)


def _assume_of_all(module: Module, numerics: str) -> Iterator[Statement]:
    distinct = any(one._emulation.needs_distinct_arguments for one in module.kernels.values())
    if distinct:
        text = "different array arguments do not overlap"
        yield Statement(ASSUMED, "", text, "checked by the runtime before a launch")
    else:
        text = "different array arguments of a function do not overlap, in the proof"
        yield Statement(ASSUMED, "", text, _SYNC)
    if "tf32" in numerics:
        text = "factors of f32 may be rounded to 10 bits of fraction"
        yield Statement(ASSUMED, "", text, f"--numerics {numerics}")
    if "narrow" in numerics:
        text = "weights of attention may be rounded to 16 bits, and bf16 scaled behind sums"
        yield Statement(ASSUMED, "", text, f"--numerics {numerics}")
    if "finite" in numerics:
        text = "what contractions multiply is neither infinite nor NaN"
        yield Statement(ASSUMED, "", text, f"--numerics {numerics}")
    text = "LLVM's back end, ptxas and the GPU do what their manuals say"
    yield Statement(ASSUMED, "", text, "nothing here ran on a GPU")
