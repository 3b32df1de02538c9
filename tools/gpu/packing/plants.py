"""Bugs that are planted for the tools of compute-sanitizer, one for each.

A tool that does not find its own tells nothing by finding none elsewhere.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

import pipeline
from corpus.kernels_case import Array, Case, function, module, normal
from running.arrays import PackError

from .kernels import PackedCase, copy_arguments, describe, make_arguments, unwrap

_THREADS = 64


def _plant(tool: str, body: str, buffers: str = "") -> Case:
    """Return a kernel of two arrays of 64 numbers, of which the second is written."""
    name = f"planted_for_{tool}"
    arguments = "%a: memref<64xf32>, %b: memref<64xf32>"
    text = module(function(name, arguments, body, block=(_THREADS, 1, 1), buffers=buffers))
    return Case(f"planted bug for {tool}", text, name, (1, 1, 1), (_THREADS, 1, 1), _make, _expect)


def _make(rng: np.random.Generator) -> list[Any]:
    return [normal(rng, _THREADS), normal(rng, _THREADS)]


def _expect(arguments: Sequence[Any]) -> dict[int, Array]:
    return {}


PLANTS: dict[str, Case] = {
    # All that is written lies behind the array.
    "memcheck": _plant(
        "memcheck",
        """
    %v = memref.load %a[%tx] : memref<64xf32>
    %far = arith.addi %tx, %c64 : index
    memref.store %v, %b[%far] : memref<64xf32>
""",
    ),
    # Each thread reads what one of the other warp writes, without waiting.
    "racecheck": _plant(
        "racecheck",
        """
    %v = memref.load %a[%tx] : memref<64xf32>
    memref.store %v, %s[%tx] : memref<64xf32, #wg>
    %other = arith.subi %c63, %tx : index
    %w = memref.load %s[%other] : memref<64xf32, #wg>
    memref.store %w, %b[%tx] : memref<64xf32>
""",
        "%s: memref<64xf32, #wg>",
    ),
    # Half of a warp waits at a barrier, the other half at the next.
    "synccheck": _plant(
        "synccheck",
        """
    %v = memref.load %a[%tx] : memref<64xf32>
    memref.store %v, %s[%tx] : memref<64xf32, #wg>
    %is_low = arith.cmpi ult, %tx, %c16 : index
    scf.if %is_low {
      gpu.barrier
      memref.store %v, %s[%tx] : memref<64xf32, #wg>
    }
    gpu.barrier
    %other = arith.subi %c63, %tx : index
    %w = memref.load %s[%other] : memref<64xf32, #wg>
    memref.store %w, %b[%tx] : memref<64xf32>
""",
        "%s: memref<64xf32, #wg>",
    ),
    # Nobody writes what it reads: see `unwritten`.
    "initcheck": _plant(
        "initcheck",
        """
    %v = memref.load %a[%tx] : memref<64xf32>
    memref.store %v, %b[%tx] : memref<64xf32>
""",
    ),
}
"""The kernels, by the tool that is to find the bug."""

KINDS = {"memcheck": "out-of-bounds", "racecheck": "race.shared", "synccheck": "divergence"}
"""What the emulator finds; it does not know which arrays nobody has written."""


def pack_plant(tool: str, case: Case) -> PackedCase:
    """Return a planted bug for a pack. Raises PackError if it is none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pipeline.UnverifiedWarning)
        compiled = pipeline.compile(case.text, chip=case.chip, sync="keep", verify=False)
    before = copy_arguments(make_arguments(case))
    report = compiled.kernels[case.kernel].emulate(
        *map(unwrap, copy_arguments(make_arguments(case))),
        grid=case.grid,
        block=case.block,
        options=pipeline.Options(check="races"),
    )
    found = {finding.kind for finding in report.findings}
    wanted = {KINDS[tool]} if tool in KINDS else set()
    if not wanted <= found or (not wanted and found):
        kinds = ", ".join(found) or "nothing"
        raise PackError(f"{case.name}: the emulator finds {kinds} in it")
    packed = describe(case, compiled, before, before)
    packed.record.update(stages=("sanitize",), plant=tool)
    if tool == "initcheck":
        packed.record["unwritten"] = [0]
    return packed
