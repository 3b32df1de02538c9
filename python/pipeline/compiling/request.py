"""The arguments of :func:`pipeline.compile`, validated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, TypedDict, get_args

if TYPE_CHECKING:
    from pathlib import Path

    from ..runtime.sizes import Sizes
    from ..schedules.tuned import TileSource

Sync = Literal["auto", "insert", "keep", "minimize"]

SYNCS: tuple[Sync, ...] = ("auto", "insert", "keep", "minimize")

Numerics = Literal[
    "exact",
    "tf32",
    "narrow",
    "finite",
    "tf32,narrow",
    "tf32,finite",
    "narrow,finite",
    "tf32,narrow,finite",
]

NUMERICS: tuple[Numerics, ...] = get_args(Numerics)

Dim3 = tuple[int, int, int]

SCHEDULE_NAME = "<schedule>"

Stage = Literal["gpu", "nvvm", "llvm", "ptx"]

STAGES: tuple[Stage, ...] = ("gpu", "nvvm", "llvm", "ptx")


class ProgramOptions(TypedDict, total=False):
    """Options of :func:`pipeline.compile` that decide what a program becomes.

    Whatever compiles programs takes them, and hands them on as they are.
    """

    chip: str | None
    schedule: str | Path | None
    kernel: str
    block: Sizes | None
    grid: Sizes | None
    sync: Sync
    numerics: Numerics
    memory_options: str
    clang_options: Sequence[str]
    tuned: str | Path | TileSource | None


class Request(NamedTuple):
    """What is to be compiled, and how.

    ``translated``: what the compiler reads if it is not ``text`` itself, which people know.
    """

    text: str
    name: str
    schedule: tuple[str, str] | None
    use_own_schedule: bool
    chip: str | None = None
    kernel: str = ""
    block: Dim3 | None = None
    grid: Dim3 | None = None
    sync: Sync = "auto"
    verify: bool = True
    assert_bounds: bool = False
    keep_reads: bool = False
    numerics: Numerics = "exact"
    memory_options: str = ""
    until: Stage = "ptx"
    checks_sync: bool = False
    keep_texts: bool = False
    snapshots: bool = False
    explains: bool = False
    certifies: bool = False
    color: bool = False
    translated: str = ""
