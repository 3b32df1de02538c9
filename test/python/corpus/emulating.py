"""Launch kernels of the corpus, and two that tell how they ran, on the emulator."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

import pipeline
from corpus.kernels_case import Array, Case, function, module


@dataclass(frozen=True)
class Outcome:
    """What a launch found, and its arguments afterwards."""

    report: pipeline.Report
    arguments: list[Any]

    def bits(self) -> list[bytes]:
        """Return the contents of the arrays."""
        return [value.tobytes() for value in self.arguments if isinstance(value, np.ndarray)]


def compile_kernel(text: str, chip: str, name: str, *, verify: bool = True) -> pipeline.Kernel:
    """Return a kernel of a program."""
    return pipeline.compile(text, chip=chip, until="llvm", sync="keep", verify=verify).kernels[name]


@functools.cache
def kernel_of(case: Case) -> pipeline.Kernel:
    """Return the kernel of a case, compiled once."""
    return compile_kernel(case.text, case.chip, case.kernel)


def make_arguments(case: Case) -> list[Any]:
    """Return arguments for a case, the same ones each time."""
    return case.make(np.random.default_rng(1))


def emulate(case: Case, kernel: pipeline.Kernel | None = None, **options: Any) -> Outcome:
    """Launch the kernel of a case, or a variant of it, as the case wants it."""
    arguments = make_arguments(case)
    report = (kernel or kernel_of(case)).emulate(
        *arguments,
        grid=case.grid,
        block=case.block,
        dynamic_shared_bytes=case.dynamic_bytes or None,
        options=pipeline.Options(**options),
    )
    return Outcome(report, arguments)


def check_results(case: Case, arguments: list[Any]) -> None:
    """Check that a launch left in its arguments what the case expects, and the rest alone."""
    given = make_arguments(case)
    expected = case.expect(make_arguments(case))
    assert expected, "a case that changes nothing tells nothing"
    for number, actual in enumerate(arguments):
        if number in expected:
            check_array(actual, expected[number], case.tolerance)
        else:
            np.testing.assert_array_equal(actual, given[number])


def check_array(actual: Array, expected: Array, tolerance: float) -> None:
    """Check that each element is as expected, or nearly so."""
    if tolerance == 0:
        np.testing.assert_array_equal(actual, expected)
        return
    wide = np.complex128 if np.iscomplexobj(expected) else np.float64
    difference = np.abs(actual.astype(wide) - expected.astype(wide))
    assert (difference <= tolerance * np.maximum(1, np.abs(expected.astype(wide)))).all()


# Numbers its threads as they come, from what `ticket` holds on.
TICKETS = module(
    function(
        "k",
        "%ticket: memref<1xi32>, %tickets: memref<4x64xi32>",
        """
    %one = arith.constant 1 : i32
    %old = memref.atomic_rmw addi %one, %ticket[%c0] : (i32, memref<1xi32>) -> i32
    memref.store %old, %tickets[%bx, %tx] : memref<4x64xi32>
""",
    )
)

# Copies `a` over `b` in workgroup memory, and writes to `b` what is there before it waits.
EARLY = module(
    function(
        "k",
        "%a: memref<64xi32>, %b: memref<64xi32>",
        """
    %x = memref.load %b[%tx] : memref<64xi32>
    memref.store %x, %w[%tx] : memref<64xi32, #wg>
    %token = nvgpu.device_async_copy %a[%tx], %w[%tx], 1
        : memref<64xi32> to memref<64xi32, #wg>
    %y = memref.load %w[%tx] : memref<64xi32, #wg>
    memref.store %y, %b[%tx] : memref<64xi32>
""",
        buffers="%w: memref<64xi32, #wg>",
    )
)
