"""Figures of a compiled program, launch by launch: of ptxas, of machine code, of the emulator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import ToolError
from ..figures.figures import measure
from ..runtime.emulator import Options
from ..system.disassembler import disassemble, find_nvdisasm
from .model import LaunchFigures

if TYPE_CHECKING:
    from ..program.module import Module
    from ..records.findings import Report

BLOCKS = 2
"""Of each launch that run on the emulator."""


def read_figures(module: Module, arguments: Sequence[Any], products: float) -> list[LaunchFigures]:
    """Return the figures of all launches of a program.

    products: of tensor cores, of all tiles, which the launch with the most instructions does.

    Raises what runs of the program raise, and ToolError without ptxas.
    """
    options = Options(statistics=True, blocks=BLOCKS)
    reports = module.execute(*arguments, options=options).reports
    stalls = _count_stalls(module)
    figures = [_describe(module, report, stalls) for report in reports]
    if products and figures:
        most = max(figures, key=lambda one: one.instructions * one.blocks)
        place = figures.index(most)
        figures[place] = most._replace(products=products / max(most.blocks, 1))
    return figures


def _describe(module: Module, report: Report, stalls: Mapping[str, float]) -> LaunchFigures:
    kernel = module.kernels[report.kernel]
    taken = kernel.resources
    block = kernel.block or kernel.known_block or (1, 1, 1)
    dynamic = kernel.dynamic_shared_bytes or kernel.least_dynamic_shared_bytes
    ran, statistics = max(report.blocks_run, 1), report.statistics
    accesses = statistics.per_access if statistics else ()
    return LaunchFigures(
        kernel=report.kernel,
        blocks=report.blocks,
        threads=block[0] * block[1] * block[2],
        registers=taken.registers,
        spill_bytes=taken.spill_load_bytes + taken.spill_store_bytes,
        shared_bytes=taken.static_shared_bytes + dynamic,
        instructions=(statistics.instructions if statistics else 0) / ran,
        wavefronts=sum(one.wavefronts for one in accesses if one.space == "shared") / ran,
        sectors=sum(one.sectors for one in accesses if one.space == "global") / ran,
        stalls=stalls.get(report.kernel, 0.0),
    )


def _count_stalls(module: Module) -> dict[str, float]:
    """Return the cycles for each instruction of main loops; none without nvdisasm."""
    if find_nvdisasm() is None:
        return {}
    try:
        functions = disassemble(module.cubin)
    except ToolError:
        return {}
    measured = {name: measure(function, None).loop for name, function in functions.items()}
    return {name: loop.stalls / loop.instructions for name, loop in measured.items() if loop}
