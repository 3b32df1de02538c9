"""What is known of the synchronisation of kernels, without running them."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ..conversion import convert, counterpart
from ..diagnostics import Location
from ..records.barriers import SyncPlace
from ..system.files import read_source
from .compiler import compile_natively, make_chooser, read_schedule
from .request import Request

Verdict = Literal["SAFE", "MAYBE", "RACE", "UNFIXABLE", "DIVERGENT"]
Dim3 = tuple[int, int, int]


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


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What is known of the kernels of a program.

    ``rendered``: the findings as text. ``has_inserted_barriers``: the kernels are what a schedule
    made of operations of linalg, with the barriers that :func:`compile` inserts.
    """

    kernels: tuple[KernelVerdict, ...]
    rendered: str
    has_inserted_barriers: bool = False

    @property
    def is_safe(self) -> bool:
        """True if no kernel can race."""
        return all(kernel.verdict == "SAFE" for kernel in self.kernels)

    def to_json(self) -> dict[str, Any]:
        """Return what ``python -m pipeline check --format json`` prints."""
        return {"version": 1, "kernels": [dataclasses.asdict(kernel) for kernel in self.kernels]}


def check(
    source: str | Path, *, schedule: str | Path | None = None, color: bool = False
) -> SyncReport:
    """Find out whether threads race in the kernels of a program, without running them.

    The kernels are taken as the program and its schedule have them, with the barriers that are
    there: none is inserted, and nothing is lowered. Operations of linalg alone know of no
    barriers: of them, that is checked which :func:`compile` makes by the same schedule. Different
    memref arguments of a function are taken not to overlap, which the launch of what
    :func:`compile` makes checks.

    source, schedule, color: as for :func:`compile`.

    Raises CompileError if the program cannot be read, its schedule fails, or it has no kernel.
    """
    text, name = read_source(source)
    result = compile_natively(
        Request(
            text=text,
            name=name,
            schedule=read_schedule(schedule),
            use_own_schedule=schedule != "none",
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
    )
