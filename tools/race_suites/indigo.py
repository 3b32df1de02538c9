"""Indigo, as published with HiRace: kernels over graphs, whose names say what is wrong in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from oracles.patterns.graphs import make_graph

from .cases import Case

BLOCK, GRID = 64, 4

# A bound that is missing lets threads leave arrays, but none of them writes what others access.
_RACES = re.compile(r"(atomic|guard|race|sync)Bug")


def find_cases(folder: Path) -> Iterator[Case]:
    """Yield the kernels of a folder that has ``indigo_sources`` and ``indigo_include`` in it.

    Indigo's label of a kernel is its name: `atomicBug` (a plain update), `guardBug` (a plain read
    of what others update), `raceBug`, `syncBug` (a missing barrier); `boundsBug` is no race.
    """
    root = _find_root(folder)
    graph = make_graph().arguments
    for source in sorted((root / "indigo_sources").glob("*/*.cu")):
        yield Case(
            suite="Indigo",
            category=source.parent.name,
            name=source.stem,
            source=str(source),
            expected="racy" if _RACES.search(source.stem) else "clean",
            kernel="test_kernel",
            block=(BLOCK,),
            grid=(GRID,),
            arguments=graph,
            clang_options=(f"-I{root / 'indigo_include'}",),
        )


def _find_root(folder: Path) -> Path:
    for root in (folder, folder / "indigo"):
        if (root / "indigo_sources").is_dir():
            return root
    raise FileNotFoundError(f"{folder} has no folder indigo_sources, as Indigo has")
