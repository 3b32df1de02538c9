"""Compilations with what explains them: the program as ever, and what the compiler tells beside."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple, Unpack

from ..conversion import convert
from ..errors import CompileError
from .compiler import Chooser, compile_natively, make_chooser, make_request
from .programs import Program
from .request import ProgramOptions, Request

if TYPE_CHECKING:
    from pathlib import Path

    from .. import _native
    from ..program.module import Module
    from ..records.barriers import Barrier
    from ..records.explanation import BarrierNeed, BufferLife, MBarriers, SyncOperation, TextLines
    from .checking import KernelVerdict


class KernelFacts(NamedTuple):
    """What orders the threads of all kernels, what is proved of them, and what barriers are for."""

    operations: tuple[SyncOperation, ...]
    mbarriers: tuple[MBarriers, ...]
    verdicts: tuple[KernelVerdict, ...]
    needs: tuple[BarrierNeed, ...]


class Explained(NamedTuple):
    """A compiled program, and what explains it.

    ``module``: as compiled without explanation, but for locations, which are in the text of stage
    ``gpu``. ``chooser``: who chose its schedule, if any was wanted. ``lines``: by stage. ``find``:
    finds out the rest, once; that takes as long as compiling, and another thread can do it.
    ``lives``: of the buffers of ``module.workgroup_memory``. ``refusal``: why the program is
    refused, if it compiles without the proof that its threads do not race.
    """

    program: Program
    request: Request
    module: Module
    chooser: Chooser | None
    lines: Mapping[str, TextLines]
    located_ptx: str
    find: Callable[[], KernelFacts]
    barriers: tuple[Barrier, ...]
    lives: tuple[tuple[BufferLife | None, ...], ...]
    refusal: CompileError | None = None


class Refused(NamedTuple):
    """A program that does not compile: why, and the error that has what was made of it so far."""

    program: Program
    request: Request
    chooser: Chooser | None
    refusal: CompileError
    reached: CompileError


def compile_explained(source: str | Path, **options: Unpack[ProgramOptions]) -> Explained:
    """Compile a program, and keep what explains it. All is as for :func:`pipeline.compile`."""
    program, request = make_request(source, **options)
    return _compile(program, request, options)


def compile_as_far(source: str | Path, **options: Unpack[ProgramOptions]) -> Explained | Refused:
    """Compile a program as far as it goes, and keep what explains it.

    Kernels whose threads race, or may hang at a barrier, are explained as they would be compiled if
    nothing were proved. Raises CompileError for what cannot be read.
    """
    program, request = make_request(source, **options)
    try:
        return _compile(program, request, options)
    except CompileError as error:
        if error.stage == "parse":
            raise
        refusal = error
    request, chooser = request._replace(explains=True, verify=False), make_chooser(**options)
    try:
        result = compile_natively(request, chooser)
    except CompileError as error:
        return Refused(program, request, chooser, refusal, error)
    return _collect(program, request, chooser, result)._replace(refusal=refusal)


def _compile(program: Program, request: Request, options: ProgramOptions) -> Explained:
    request = request._replace(explains=True)
    chooser = make_chooser(**options)
    try:
        result = compile_natively(request, chooser)
    except CompileError:
        # Once more, for errors that are located in the program.
        compile_natively(request._replace(explains=False), make_chooser(**options))
        raise
    return _collect(program, request, chooser, result)


def _collect(
    program: Program, request: Request, chooser: Chooser | None, result: _native.CompileResult
) -> Explained:
    # What becomes of records, which is loaded while the program is compiled.
    from .results import make_error, make_module

    for name in ("records.explanation", "compiling.checking"):
        importlib.import_module(f"pipeline.{name}")

    def find() -> KernelFacts:
        found = result.explain()
        if result.crash is not None:
            raise make_error(result, request, chooser.choice if chooser else None)
        return KernelFacts(
            operations=convert(found.operations),
            mbarriers=convert(found.mbarriers),
            verdicts=convert(found.verdicts),
            needs=convert(found.needs),
        )

    return Explained(
        program=program,
        request=request,
        module=make_module(result, request, chooser.choice if chooser else None),
        chooser=chooser,
        lines={stage.name.lower(): convert(lines) for stage, lines in result.lines},
        located_ptx=result.located_ptx,
        find=find,
        barriers=convert(result.barriers),
        lives=tuple(
            tuple(convert(buffer.life) for buffer in memory.buffers) for memory in result.memory
        ),
    )
