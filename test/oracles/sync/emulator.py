"""Run kernels of `sync_programs` on the emulator, and tell whether it finds races."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

import pipeline
from oracles.sync.programs import Program
from oracles.sync.text import KERNEL, Container
from oracles.sync.trace import Launch, launches

Order = Literal["forward", "reverse", "seeded"]
ORDERS: tuple[Order, ...] = ("forward", "reverse", "seeded")
# Reading what nobody wrote is no matter of order.
IGNORED = ("uninitialized",)


@dataclass(frozen=True)
class Found:
    """What was found in a launch."""

    launch: Launch
    order: Order
    kinds: tuple[str, ...]
    report: str
    output: bytes

    @property
    def is_race(self) -> bool:
        """Tell whether there are races."""
        return any(kind.startswith("race") for kind in self.kinds)


def compile_text(text: str) -> pipeline.Module:
    """Return a compiled module."""
    return pipeline.compile(text, until="llvm", sync="keep", verify=False)


def emulate(
    module: pipeline.Module,
    program: Program,
    container: Container,
    launch: Launch,
    order: Order = "forward",
) -> Found:
    """Run a kernel once."""
    values = np.random.default_rng(1)
    arrays: list[Any] = [
        values.integers(1, 1 << 30, program.threads, dtype=np.int32),
        np.zeros(program.threads, np.int32),
    ]
    options = pipeline.Options(check="races", order=order, seed=1, workers=1)
    if container == "function":
        report = module.kernels[KERNEL].emulate(
            *arrays, *launch.values(), grid=1, block=program.threads, options=options
        )
    else:
        (report,) = module.emulate(*arrays, *launch.values(), options=options)
    kinds = tuple(finding.kind for finding in report.findings if finding.kind not in IGNORED)
    return Found(launch, order, kinds, report.rendered, arrays[1].tobytes())


def run(
    program: Program,
    text: str,
    container: Container,
    orders: Sequence[Order] = ORDERS,
    only: Iterable[Launch] | None = None,
) -> list[Found]:
    """Run a kernel for all of its arguments, or only some, in several orders."""
    module = compile_text(text)
    chosen = list(only) if only is not None else list(launches(program))
    return [
        emulate(module, program, container, launch, order) for launch in chosen for order in orders
    ]
