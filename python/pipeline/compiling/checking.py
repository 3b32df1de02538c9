"""What is known of the synchronisation of kernels, without running them."""

from __future__ import annotations

import copy
import dataclasses
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ..conversion import convert, counterpart
from ..diagnostics import Location
from ..errors import UnverifiedWarning, UsageError
from ..program.names import find_kernel
from ..records.barriers import SyncPlace
from .compiler import compile, compile_natively, make_chooser, read_launch_sizes, read_schedule
from .programs import read_program
from .request import Dim3, Request, Sync

if TYPE_CHECKING:
    from ..program.module import Module
    from ..runtime.exploring import Exploration, Orders, Search
    from ..runtime.sizes import Sizes

Verdict = Literal["SAFE", "MAYBE", "RACE", "UNFIXABLE", "DIVERGENT", "DEADLOCK"]
DistributionVerdict = Literal["AGREE", "UNDECIDED", "DIFFER"]


@counterpart("SyncFinding")
@dataclass(frozen=True, slots=True)
class SyncFinding:
    """Two accesses that race, or a barrier that not all threads reach.

    ``verdict``: ``RACE``, ``MAYBE`` if it is not decided (``message`` says why), ``UNFIXABLE`` if
    no barrier can help, ``DIVERGENT``, or ``DEADLOCK`` at a wait that nobody ends. ``other``: the
    access that comes first. ``threads``: two for which it happens, that of ``other`` first; empty
    if none are known. ``blocks``: those that
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
    distributed. ``exploration``: what the emulator was asked for besides, and what it found.
    """

    kernels: tuple[KernelVerdict, ...]
    rendered: str
    has_inserted_barriers: bool = False
    distributions: tuple[DistributionFinding, ...] = ()
    exploration: Exploration | None = None

    @property
    def sync(self) -> Sync:
        """What is to be done with barriers so that kernels run as they were checked."""
        return "insert" if self.has_inserted_barriers else "keep"

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
        if self.exploration is not None:
            report["exploration"] = self.exploration.to_json()
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
    orders: Orders | Search | None = None,
    arguments: Sequence[Any] = (),
    dynamic_shared_bytes: int | None = None,
) -> SyncReport:
    """Find out whether threads race in the kernels of a program.

    Without ``orders`` nothing is run. The kernels are taken as the program and its schedule have
    them, with the barriers that are there: none is inserted, and nothing is lowered. Operations of
    linalg alone, and loops over blocks on the host, know of no barriers: of them, that is checked
    which :func:`compile` makes by the same schedule. Different memref arguments of a function are
    taken not to overlap, which the launch of what :func:`compile` makes checks.

    source, schedule, memory_options, kernel, block, grid, clang_options, color: as for
        :func:`compile`.
    orders: also run the kernel, or the host function, on the emulator: in ``both`` orders of
        threads, ``until-quiet``, or as a :class:`pipeline.Search` says. What is found is the
        report's ``exploration``.
    arguments, dynamic_shared_bytes: what it is run on; arrays are copied each time.

    Raises CompileError if the program cannot be read, its schedule fails, or it has no kernel,
    ToolError if it takes clang, which is missing, and UsageError for a ``kernel`` that there is
    not; with ``orders``, what running a kernel raises, but for what is found.
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
        make_chooser(schedule=schedule),
    )
    report = SyncReport(
        convert(result.sync),
        result.rendered.rstrip("\n"),
        result.are_kernels_formed,
        convert(result.distributions),
    )
    if kernel:
        find_kernel([verdict.name for verdict in report.kernels], kernel)
    if orders is None:
        _refuse(arguments)
        return report
    module = _compile(
        source,
        schedule=schedule,
        memory_options=memory_options,
        kernel=kernel,
        block=block,
        grid=grid,
        clang_options=clang_options,
        sync=report.sync,
    )
    explored = _explore(module, kernel, block, grid, orders, arguments, dynamic_shared_bytes)
    return dataclasses.replace(report, exploration=explored)


def _compile(source: str | Path, **options: Any) -> Module:
    """Return the program that runs, with all that can go wrong in it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnverifiedWarning)  # it has just been checked
        return compile(
            source, verify=False, assert_bounds=True, keep_reads=True, until="llvm", **options
        )


def _refuse(arguments: Sequence[Any]) -> None:
    if arguments:
        raise UsageError.of_option("arguments", "are given, but no orders to run in")


def _explore(
    module: Module,
    kernel: str,
    block: Sizes | None,
    grid: Sizes | None,
    orders: Orders | Search,
    arguments: Sequence[Any],
    dynamic_shared_bytes: int | None,
) -> Exploration:
    import sys

    from ..runtime.exploring import Search
    from .launches import explore_entry, explore_kernel

    search = orders if isinstance(orders, Search) else Search(orders)

    def fresh() -> list[Any]:
        return [copy.deepcopy(argument) for argument in arguments]

    if not kernel and module.entries:
        return explore_entry(module, module.entry().name, fresh, search, sys.stderr)
    name = find_kernel(list(module.kernels), kernel) if kernel else _only(list(module.kernels))
    sizes = {"grid": grid, "block": block, "dynamic_shared_bytes": dynamic_shared_bytes}
    return explore_kernel(module.kernels[name], fresh, sizes, search)


def _only(names: Sequence[str]) -> str:
    if len(names) != 1:
        raise UsageError.of_option("kernel", f"must be one of {', '.join(names)}, to be run")
    return names[0]
