"""What is known of the synchronisation of kernels, without running them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ..conversion import convert, counterpart
from ..diagnostics import Location
from ..records.barriers import SyncPlace
from .compiler import compile_natively, make_chooser, read_launch_sizes, read_schedule
from .programs import read_program
from .request import Dim3, Request

if TYPE_CHECKING:
    from ..runtime.sizes import Sizes

Verdict = Literal["SAFE", "MAYBE", "RACE", "UNFIXABLE", "DIVERGENT"]
DistributionVerdict = Literal["AGREE", "UNDECIDED", "DIFFER"]


@counterpart("SyncFinding")
@dataclass(frozen=True, slots=True)
class SyncFinding:
    """Two accesses that race, or a barrier that not all threads reach.

    ``verdict``: ``RACE``, ``MAYBE`` if it is not decided (``message`` says why), ``UNFIXABLE`` if
    no barrier can help, or ``DIVERGENT``. ``other``: the access that comes first. ``threads``: two
    for which it happens, that of ``other`` first; empty if none are known. ``blocks``: those that
    they are of, if they are of different ones; else empty. ``place``: where they meet, a byte of
    the buffer or, if only the launch knows its strides, indices.
    """

    verdict: Verdict
    message: str
    at: SyncPlace
    other: SyncPlace | None
    threads: tuple[Dim3, ...]
    blocks: tuple[Dim3, ...]
    place: tuple[int, ...]


@counterpart("SyncVerdict")
@dataclass(frozen=True, slots=True)
class KernelVerdict:
    """What is known of one kernel: ``SAFE``, or the gravest of the findings.

    ``assumes_in_bounds``: it is safe if all accesses are in bounds (of views and of each dimension
    of a memref), as the program promises, and not known to be safe otherwise.
    """

    name: str
    verdict: Verdict
    location: Location
    findings: tuple[SyncFinding, ...]
    assumes_in_bounds: bool = False


@counterpart("DistributionFinding")
@dataclass(frozen=True, slots=True)
class DistributionFinding:
    """Two operations in parallel loops of their own: ``second`` goes on with a result of ``first``.

    ``verdict``: ``AGREE`` if each thread, warp or lane goes on with what it has left itself,
    ``DIFFER`` if not, or ``UNDECIDED``. ``message``: what is the same, what differs, or what is not
    known.
    """

    verdict: DistributionVerdict
    message: str
    first: SyncPlace
    second: SyncPlace

    def __str__(self) -> str:
        first, second = (f"'{use.op}' ({use.location})" for use in (self.first, self.second))
        return f"{second} after {first}: {self.verdict}, {self.message}"


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What is known of the kernels of a program.

    ``rendered``: the findings as text. ``has_inserted_barriers``: the kernels are what a schedule
    made of operations of linalg, with the barriers that :func:`compile` inserts.
    ``distributions``: what parallel loops hand on to each other after the schedule, before they are
    distributed.
    """

    kernels: tuple[KernelVerdict, ...]
    rendered: str
    has_inserted_barriers: bool = False
    distributions: tuple[DistributionFinding, ...] = ()

    @property
    def is_safe(self) -> bool:
        """True if no kernel can race."""
        return all(kernel.verdict == "SAFE" for kernel in self.kernels)

    @property
    def agrees(self) -> bool:
        """True if what loops hand on to each other stays with the same threads, warps or lanes."""
        return all(finding.verdict == "AGREE" for finding in self.distributions)

    def to_json(self) -> dict[str, Any]:
        """Return what ``python -m pipeline check --format json`` prints."""
        report: dict[str, Any] = {
            "version": 1,
            "kernels": [dataclasses.asdict(kernel) for kernel in self.kernels],
        }
        if self.distributions:
            report["distributions"] = [dataclasses.asdict(item) for item in self.distributions]
        return report


def check(
    source: str | Path,
    *,
    schedule: str | Path | None = None,
    memory_options: str = "",
    kernel: str = "",
    block: Sizes | None = None,
    grid: Sizes | None = None,
    clang_options: Sequence[str] = (),
    color: bool = False,
) -> SyncReport:
    """Find out whether threads race in the kernels of a program, without running them.

    The kernels are taken as the program and its schedule have them, with the barriers that are
    there: none is inserted, and nothing is lowered. Operations of linalg alone, and loops over
    blocks on the host, know of no
    barriers: of them, that is checked which :func:`compile` makes by the same schedule. Different
    memref arguments of a function are taken not to overlap, which the launch of what
    :func:`compile` makes checks.

    source, schedule, memory_options, kernel, block, grid, clang_options, color: as for
        :func:`compile`.

    Raises CompileError if the program cannot be read, its schedule fails, or it has no kernel, and
    ToolError if it takes clang, which is missing.
    """
    program = read_program(source, clang_options=clang_options)
    result = compile_natively(
        Request(
            text=program.text,
            name=program.name,
            translated=program.translated,
            schedule=read_schedule(schedule),
            use_own_schedule=schedule != "none",
            memory_options=memory_options,
            kernel=kernel,
            block=read_launch_sizes("block", block),
            grid=read_launch_sizes("grid", grid),
            verify=False,  # what is found is the report
            checks_sync=True,
            color=color,
        ),
        make_chooser(schedule),
    )
    return SyncReport(
        convert(result.sync),
        result.rendered.rstrip("\n"),
        result.are_kernels_formed,
        convert(result.distributions),
    )
