"""What the native extension returns, as the data and the errors of this package."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..conversion import convert, make
from ..errors import CompileError, InternalError, ResourceError, ToolError
from ..program.assembly import Assembly
from ..program.calling import GpuCalls
from ..program.module import Kernel, Module, PlanText, index_by_name
from ..runtime.emulation import Emulation
from .request import SCHEDULE_NAME, Request

if TYPE_CHECKING:
    from .. import _native
    from ..diagnostics import Remark
    from ..schedules.choosing import Choice


def make_error(result: _native.CompileResult, request: Request, choice: Choice | None) -> Exception:
    stage = result.stage.name.lower()
    if result.crash is not None:
        return InternalError(
            f"error: internal error in stage {stage}: {result.crash}", _reproduce(request)
        )
    if not result.diagnostics:
        return InternalError(
            f"error: internal error: stage {stage} failed without a message", _reproduce(request)
        )
    rendered = result.rendered.rstrip("\n")
    if result.needs_libdevice:
        return ToolError(rendered)
    error = CompileError(rendered, convert(result.diagnostics), stage, result.reproducer)
    error.texts = _texts(result)
    error.remarks = _remarks(result, choice)
    error.schedule = choice.text if choice else None
    error.snapshots = convert(result.snapshots)
    error.seconds = _seconds(result)
    if (lacks := result.shortage) is None:
        return error
    return ResourceError(error, "workgroup memory", lacks.required_bytes, lacks.limit_bytes)


def _texts(result: _native.CompileResult) -> dict[str, str]:
    texts = {stage.name.lower(): text for stage, text in result.texts}
    return {**texts, "certificate": result.certificate} if result.certificate else texts


def _seconds(result: _native.CompileResult) -> dict[str, float]:
    return {stage.name.lower(): time for stage, time in result.seconds}


def _reproduce(request: Request) -> str:
    """Return the program with the options that led to a crash in comments."""
    lines = [f"// python -m pipeline compile {request.name}"]
    lines[0] += f" --chip {request.chip}" if request.chip else ""
    lines[0] += f" --emit {request.until}" + ("" if request.verify else " --no-verify")
    lines[0] += " --assert-bounds" if request.assert_bounds else ""
    lines[0] += f" --numerics {request.numerics}" if request.numerics != "exact" else ""
    if request.memory_options:
        lines[0] += f" --memory-options '{request.memory_options}'"
    if request.schedule:
        lines.append(f"// --schedule {request.schedule[1]}:")
        lines += [f"// {line}" for line in request.schedule[0].splitlines()]
    elif not request.use_own_schedule:
        lines[0] += " --schedule none"
    return "\n".join([*lines, request.text.rstrip("\n"), ""])


def _remarks(result: _native.CompileResult, choice: Choice | None) -> tuple[Remark, ...]:
    chosen = choice.remarks if choice else ()
    return (*chosen, *convert(result.remarks))


def make_module(result: _native.CompileResult, request: Request, choice: Choice | None) -> Module:
    texts = _texts(result)
    schedule = (choice.text, SCHEDULE_NAME) if choice else request.schedule
    assembly = Assembly(texts.get("ptx", ""), result.chip)
    sources = [(request.text, request.name), *([schedule] if schedule else [])]
    if request.explains:
        from .. import _native

        sources.append((texts["gpu"], _native.STAGE_FILE))
    emulation = Emulation(
        result.bitcode,
        result.chip,
        tuple(sources),
        tuple(result.shared_buffers),
        result.needs_distinct_arguments,
    )
    plan, gpu = PlanText(result.plan), GpuCalls(texts.get("ptx", ""))
    kernels = index_by_name(
        [
            make(Kernel, kernel, _assembly=assembly, _emulation=emulation, _plan=plan, _gpu=gpu)
            for kernel in result.kernels
        ]
    )
    gpu.attach(kernels, plan)
    return Module(
        chip=result.chip,
        kernels=kernels,
        texts=texts,
        diagnostics=convert(result.diagnostics),
        remarks=_remarks(result, choice),
        schedule=choice.text if choice else None,
        snapshots=convert(result.snapshots),
        seconds=_seconds(result),
        rendered=result.rendered.rstrip("\n"),
        entries={entry.name: entry for entry in convert(result.entries)},
        _plan=plan,
        workgroup_memory=convert(result.memory),
        _barriers=convert(result.barriers),
        _assembly=assembly,
        _gpu=gpu,
    )
