"""What blocks of each launch do to memory, counted by the emulator.

A few blocks run, of the sizes that the program has: the kernel is the one whose machine code is
counted. What it accesses does not depend on the numbers, which are zeros; results are not looked
at. Global memory is counted in sectors of 32 bytes, workgroup memory in wavefronts: passes over
its banks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import pipeline
from pipeline.figures.figures import ACCESS_BYTES
from pipeline.runtime.emulator import Options

SECTOR = 32


@dataclass(frozen=True)
class Launch:
    """A launch, of which a few blocks ran: ratios are to the fewest that would do, None if unknown.

    ``barriers``: of a block.

    Unknown are those of no access, and where LLVM may have made some narrow ones wide.
    ``global_bytes``: of the sectors that all blocks would touch. ``instructions``: of LLVM, of all
    threads.
    """

    kernel: str
    blocks: int
    instructions: int
    barriers: int
    read_wavefronts: float | None
    write_wavefronts: float | None
    load_sectors: float | None
    store_sectors: float | None
    global_bytes: int | None


def run_blocks(
    module: pipeline.Module,
    arguments: Sequence[tuple[tuple[int, ...], str]],
    mixes: Mapping[str, Mapping[str, int]],
    blocks: int,
) -> list[Launch]:
    """Run so many blocks of each launch of a program.

    arguments: shapes and types of elements. mixes: the kinds of instructions of each kernel. Raises
    pipeline.Error.
    """
    arrays = [np.zeros(shape, element_type(kind)) for shape, kind in arguments]
    options = Options(check="none", statistics=True, blocks=blocks)
    reports = module.execute(*arrays, options=options).reports
    return [_count(report, mixes.get(report.kernel, {})) for report in reports]


def element_type(kind: str) -> np.dtype[Any]:
    """Return NumPy's type of an element of MLIR's, or one of as many bits."""
    if kind == "bf16":
        return np.dtype("u2")
    return np.dtype(f"{kind[0]}{int(kind[1:]) // 8}")


_OPCODES = {
    ("global", "read"): ("LDG", "LDGSTS"),
    ("global", "write"): ("STG",),
    ("shared", "read"): ("LDS",),
    ("shared", "write"): ("STS", "LDGSTS"),
}


def _find_widths(mix: Mapping[str, int], space: str, kind: str) -> tuple[int, int]:
    """Return the bytes of the narrowest and of the widest access of a kind in machine code."""
    names = _OPCODES[space, kind]
    found = [ACCESS_BYTES[one.split(".")[1]] for one in mix if one.split(".")[0] in names]
    return (min(found), max(found)) if found else (0, 0)


def _count(report: pipeline.Report, mix: Mapping[str, int]) -> Launch:
    """Return what a launch costs; `mix`: the kinds of instructions of its kernel."""
    assert report.statistics
    share = report.blocks / max(report.blocks_run, 1)
    ratios = {pair: _weigh(report.statistics.per_access, *pair, mix) for pair in _OPCODES}
    moved = [cost for (space, _), (cost, _) in ratios.items() if space == "global"]
    return Launch(
        report.kernel,
        report.blocks,
        round(report.statistics.instructions * share),
        round(report.statistics.barriers / max(report.blocks_run, 1)),
        _divide(*ratios["shared", "read"]),
        _divide(*ratios["shared", "write"]),
        _divide(*ratios["global", "read"]),
        _divide(*ratios["global", "write"]),
        None if None in moved else round(sum(filter(None, moved)) * SECTOR * share),
    )


def _weigh(
    accesses: Sequence[pipeline.AccessStatistics], space: str, kind: str, mix: Mapping[str, int]
) -> tuple[float | None, int]:
    """Return what accesses of a kind cost, if that is known, and the least that they could."""
    narrowest, widest = _find_widths(mix, space, kind)
    total, least = 0.0, 0
    is_known = True
    for one in accesses:
        if (one.space, one.kind) != (space, kind):
            continue
        is_global = space == "global"
        cost = one.sectors if is_global else one.wavefronts
        best = one.dense_sectors if is_global else one.ideal_wavefronts
        # LLVM makes wide accesses of narrow ones side by side, which are counted before that.
        merged = narrowest // one.bytes if 0 < one.bytes < narrowest else 1
        is_known &= cost == best or one.bytes >= widest or narrowest == widest
        total += max(cost / merged, best)
        least += best
    return total if is_known else None, least


def _divide(cost: float | None, best: int) -> float | None:
    return cost / best if cost is not None and best else None
