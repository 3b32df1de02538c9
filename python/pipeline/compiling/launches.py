"""What the emulator finds of a program's kernels: launches in one order after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Any

from ..runtime.exploring import Exploration, Search, explore

if TYPE_CHECKING:
    from typing import TextIO

    from ..program.module import Kernel, Module
    from ..records.findings import Report
    from ..runtime.emulator import Options


def explore_kernel(
    kernel: Kernel,
    values: Callable[[], Sequence[Any]],
    sizes: dict[str, Any],
    search: Search,
) -> Exploration:
    """Launch a kernel on fresh `values`, by `sizes`, in the orders of a search."""

    def run(options: Options) -> Sequence[Report]:
        return [kernel.emulate(*values(), **sizes, options=options)]

    return explore(run, search)


def explore_entry(
    module: Module,
    name: str,
    values: Callable[[], Sequence[Any]],
    search: Search,
    output: TextIO,
) -> Exploration:
    """Run a host function on fresh `values` in the orders of a search; it prints to `output`."""

    def run(options: Options) -> Sequence[Report]:
        with redirect_stdout(output):
            return module.emulate(*values(), entry=name, options=options)

    return explore(run, search)
