"""Compilations with what explains them: the program as ever, and what the compiler tells beside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..conversion import convert
from ..errors import CompileError
from ..records.barriers import Barrier
from ..records.explanation import BarrierNeed, BufferLife, SyncOperation, TextLines
from .checking import KernelVerdict
from .compiler import (
    Chooser,
    check_choices,
    compile_natively,
    make_chooser,
    read_launch_sizes,
    read_schedule,
)
from .programs import Program, read_program
from .request import Numerics, Request, Sync
from .results import make_module

if TYPE_CHECKING:
    from pathlib import Path

    from .. import _native
    from ..program.module import Module
    from ..runtime.sizes import Sizes


class Explained(NamedTuple):
    """A compiled program, and what explains it.

    ``module``: as compiled without explanation, but for locations, which are in the text of stage
    ``gpu``. ``chooser``: who chose its schedule, if any was wanted. ``lines``: by stage. ``lives``:
    of the buffers of ``module.workgroup_memory``.
    """

    program: Program
    request: Request
    module: Module
    chooser: Chooser | None
    lines: Mapping[str, TextLines]
    located_ptx: str
    operations: tuple[SyncOperation, ...]
    verdicts: tuple[KernelVerdict, ...]
    needs: tuple[BarrierNeed, ...]
    barriers: tuple[Barrier, ...]
    lives: tuple[tuple[BufferLife | None, ...], ...]


def compile_explained(
    source: str | Path,
    *,
    chip: str | None = None,
    schedule: str | Path | None = None,
    kernel: str = "",
    block: Sizes | None = None,
    grid: Sizes | None = None,
    sync: Sync = "auto",
    numerics: Numerics = "exact",
    memory_options: str = "",
    clang_options: Sequence[str] = (),
) -> Explained:
    """Compile a program, and keep what explains it. All is as for :func:`pipeline.compile`."""
    check_choices(sync, numerics)
    program = read_program(source, chip, clang_options)
    request = Request(
        text=program.text,
        name=program.name,
        translated=program.translated,
        chip=chip,
        schedule=read_schedule(schedule),
        use_own_schedule=schedule != "none",
        kernel=kernel,
        block=read_launch_sizes("block", block),
        grid=read_launch_sizes("grid", grid),
        sync=sync,
        numerics=numerics,
        memory_options=memory_options,
        explains=True,
    )
    chooser = make_chooser(schedule, chip, numerics)
    try:
        result = compile_natively(request, chooser)
    except CompileError:
        # Once more, for errors that are located in the program.
        compile_natively(request._replace(explains=False), make_chooser(schedule, chip, numerics))
        raise
    return _collect(program, request, chooser, result)


def _collect(
    program: Program, request: Request, chooser: Chooser | None, result: _native.CompileResult
) -> Explained:
    explanation = result.explanation
    return Explained(
        program=program,
        request=request,
        module=make_module(result, request, chooser.choice if chooser else None),
        chooser=chooser,
        lines={stage.name.lower(): convert(lines) for stage, lines in result.lines},
        located_ptx=result.located_ptx,
        operations=convert(explanation.operations),
        verdicts=convert(explanation.verdicts),
        needs=convert(explanation.needs),
        barriers=convert(result.barriers),
        lives=tuple(
            tuple(convert(buffer.life) for buffer in memory.buffers) for memory in result.memory
        ),
    )
