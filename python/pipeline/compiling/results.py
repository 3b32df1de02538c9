"""What the native extension returns, as the data and the errors of this package."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from ..diagnostics import (
    Remark,
    diagnostic_from_native,
    location_from_native,
    remark_from_native,
    snapshot_from_native,
)
from ..errors import CompileError, InternalError, ResourceError, ToolError
from ..program.entry import Entry
from ..program.module import Assembly, Kernel, Module, PlanText, index_by_name
from ..records.memory import memory_from_native
from ..records.signature import Argument, Parameter, Part, TensorMap
from ..runtime.emulation import Emulation, SharedBuffer
from .request import SCHEDULE_NAME, Request

if TYPE_CHECKING:
    from .. import _native
    from ..records.findings import Dim3
    from ..schedules import Choice


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
    diagnostics = [diagnostic_from_native(diagnostic) for diagnostic in result.diagnostics]
    error = CompileError(rendered, diagnostics, stage, result.reproducer)
    error.texts = _texts(result)
    error.remarks = _remarks(result, choice)
    error.schedule = choice.text if choice else None
    error.snapshots = tuple(snapshot_from_native(item) for item in result.snapshots)
    error.seconds = _seconds(result)
    for remark in error.remarks:
        if remark.kind == "failed" and remark.name == "OutOfCapacity":
            required, limit = (int(remark.arguments[key]) for key in ("Required", "Limit"))
            return ResourceError(error, "workgroup memory", required, limit)
    return error


def _texts(result: _native.CompileResult) -> dict[str, str]:
    return {stage.name.lower(): text for stage, text in result.texts}


def _seconds(result: _native.CompileResult) -> dict[str, float]:
    return {stage.name.lower(): time for stage, time in result.seconds}


def _reproduce(request: Request) -> str:
    """Return the program with the options that led to a crash in comments."""
    lines = [f"// python -m pipeline compile {request.name}"]
    lines[0] += f" --chip {request.chip}" if request.chip else ""
    lines[0] += f" --emit {request.until}" + ("" if request.verify else " --no-verify")
    if request.memory_options:
        lines[0] += f" --memory-options '{request.memory_options}'"
    if request.schedule:
        lines.append(f"// --schedule {request.schedule[1]}:")
        lines += [f"// {line}" for line in request.schedule[0].splitlines()]
    elif not request.use_own_schedule:
        lines[0] += " --schedule none"
    return "\n".join([*lines, request.text.rstrip("\n"), ""])


def _make_shared_buffer(buffer: _native.SharedBuffer) -> SharedBuffer:
    return SharedBuffer(
        buffer.symbol,
        buffer.offset,
        buffer.bytes,
        buffer.name,
        buffer.element_type,
        buffer.element_bytes,
        tuple(buffer.shape),
        tuple(buffer.strides),
        location_from_native(buffer.location),
    )


def _remarks(result: _native.CompileResult, choice: Choice | None) -> tuple[Remark, ...]:
    chosen = choice.remarks if choice else ()
    return (*chosen, *(remark_from_native(item) for item in result.remarks))


def make_module(result: _native.CompileResult, request: Request, choice: Choice | None) -> Module:
    texts = _texts(result)
    schedule = (choice.text, SCHEDULE_NAME) if choice else request.schedule
    assembly = Assembly(texts.get("ptx", ""), result.chip)
    emulation = Emulation(
        result.bitcode,
        result.chip,
        ((request.text, request.name), *([schedule] if schedule else [])),
        tuple(_make_shared_buffer(buffer) for buffer in result.shared_buffers),
        result.needs_distinct_arguments,
    )
    return Module(
        chip=result.chip,
        kernels=index_by_name(
            [_make_kernel(kernel, assembly, emulation) for kernel in result.kernels]
        ),
        texts=texts,
        diagnostics=tuple(diagnostic_from_native(item) for item in result.diagnostics),
        remarks=_remarks(result, choice),
        schedule=choice.text if choice else None,
        snapshots=tuple(snapshot_from_native(item) for item in result.snapshots),
        seconds=_seconds(result),
        rendered=result.rendered.rstrip("\n"),
        entries={entry.name: _make_entry(entry) for entry in result.entries},
        _plan=PlanText(result.plan),
        workgroup_memory=tuple(memory_from_native(item) for item in result.memory),
        _assembly=assembly,
    )


def _make_argument(argument: _native.Argument) -> Argument:
    tensor_map = argument.tensor_map
    return Argument(
        argument.type,
        argument.is_memref,
        argument.element_type,
        tuple(argument.shape),
        tuple(argument.strides),
        argument.offset,
        argument.alignment,
        _make_tensor_map(tensor_map) if tensor_map is not None else None,
    )


def _make_tensor_map(native: _native.TensorMap) -> TensorMap:
    return TensorMap(
        native.element_type,
        tuple(native.box),
        native.swizzle,
        native.interleave,
        native.l2promo,
        native.oob,
    )


def _make_entry(entry: _native.Entry) -> Entry:
    arguments = tuple(_make_argument(argument) for argument in entry.arguments)
    return Entry(entry.name, arguments, tuple(entry.written))


def _dim3(values: list[int] | None) -> Dim3 | None:
    return (values[0], values[1], values[2]) if values is not None else None


def _make_kernel(kernel: _native.Kernel, assembly: Assembly, emulation: Emulation) -> Kernel:
    return Kernel(
        name=kernel.name,
        arguments=tuple(_make_argument(argument) for argument in kernel.arguments),
        parameters=tuple(
            Parameter(tuple(Part(_kind(part), part.argument, part.dim) for part in parts))
            for parts in kernel.parameters
        ),
        block=_dim3(kernel.block),
        grid=_dim3(kernel.grid),
        cluster=_dim3(kernel.cluster),
        known_block=_dim3(kernel.known_block),
        known_grid=_dim3(kernel.known_grid),
        static_shared_bytes=kernel.static_shared_bytes,
        dynamic_shared_bytes=kernel.dynamic_shared_bytes,
        least_dynamic_shared_bytes=kernel.least_dynamic_shared_bytes,
        _assembly=assembly,
        _emulation=emulation,
    )


def _kind(part: _native.Part) -> Literal["value", "pointer", "extent", "stride", "offset"]:
    return part.kind  # type: ignore[return-value]
