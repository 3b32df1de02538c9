"""``pipeline.compile``: texts go to the native extension, data comes back.

No decision about the program is taken here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from .diagnostics import (
    Diagnostic,
    Location,
    Remark,
    diagnostic_from_native,
    location_from_native,
    remark_from_native,
    snapshot_from_native,
)
from .emulation import Emulation, SharedBuffer
from .errors import CompileError, InternalError, ResourceError, ToolError, UsageError
from .files import is_text, read_source
from .memory import memory_from_native
from .module import (
    Argument,
    Assembly,
    Kernel,
    Module,
    Parameter,
    Part,
    PlanText,
    TensorMap,
    index_by_name,
)
from .program import Entry
from .toolchain import find_libdevice, load_native

if TYPE_CHECKING:
    from . import _native
    from .findings import Dim3
    from .schedules import Choice
    from .target import Target

Sync = Literal["insert", "keep", "minimize"]

SYNCS: tuple[Sync, ...] = ("insert", "keep", "minimize")

SCHEDULE_NAME = "<schedule>"

Stage = Literal["gpu", "nvvm", "llvm", "ptx"]

STAGES: tuple[Stage, ...] = ("gpu", "nvvm", "llvm", "ptx")


@dataclass(frozen=True, slots=True)
class Request:
    """The arguments of :func:`compile`, validated."""

    text: str
    name: str
    schedule: tuple[str, str] | None
    use_own_schedule: bool
    chip: str | None = None
    sync: Sync = "insert"
    verify: bool = True
    memory_options: str = ""
    until: Stage = "ptx"
    checks_sync: bool = False
    keep_texts: bool = False
    snapshots: bool = False
    color: bool = False


def compile(
    source: str | Path,
    *,
    chip: str | None = None,
    schedule: str | Path | None = None,
    sync: Sync = "insert",
    verify: bool = True,
    memory_options: str = "",
    until: Stage = "ptx",
    keep_texts: bool = False,
    snapshots: bool = False,
    color: bool = False,
) -> Module:
    """Compile a program of linalg and GPU operations to PTX.

    source: MLIR, as text if it is a string with a newline, else the name of a file (``-`` is the
        standard input).
    chip: as ``sm_90a``. Default: the target of the program's ``gpu.module``, else ``sm_80``.
    schedule: a transform dialect program with a ``@__transform_main``, as text or file; ``none`` to
        apply none. Default (also ``auto``): the one that the program carries or, if it has neither
        one nor kernels, what :mod:`pipeline.schedules` chooses for its linalg operations, which is
        ``Module.schedule``.
    sync: ``insert`` leaves the program's barriers alone and adds the fewest that are missing,
        ``minimize`` also removes those that order nothing, ``keep`` leaves them alone and has each
        pass add what its own rewrite needs.
    verify: reject kernels whose threads race, and barriers that not all threads of a block reach
        together; warn of what is not decided.
    memory_options: further options of the pipeline ``workgroup-memory``, as ``mlir-opt`` takes
        them: ``reuse=never resolve-bank-conflicts=false from-spaces=1:workgroup``; not its chip and
        barriers, which are set as above.
    until: the last stage to run. Only after ``ptx`` has the module its ``ptx``.
    keep_texts: keep the text of every stage in ``texts``, not only of the last.
    snapshots: keep what each pass changed in ``snapshots``.
    color: put terminal colours into the text of errors.

    Memref arguments of kernels are assumed to be aligned to 16 bytes, which each
    ``Kernel.arguments`` states; whoever launches must see to it.

    Raises CompileError (ResourceError if the GPU is too small) with located diagnostics if the
    program is refused, UsageError for arguments that make no sense, ToolError if MLIR or
    libdevice is missing, InternalError if a pass crashes.
    """
    if sync not in SYNCS:
        raise UsageError(f"error: unknown sync '{sync}'; there are {', '.join(SYNCS)}")
    if until not in STAGES:
        raise UsageError(f"error: unknown stage '{until}'; there are {', '.join(STAGES)}")
    text, name = read_source(source)
    request = Request(
        text=text,
        name=name,
        chip=chip,
        schedule=read_schedule(schedule),
        use_own_schedule=schedule != "none",
        sync=sync,
        verify=verify,
        memory_options=memory_options,
        until=until,
        keep_texts=keep_texts,
        snapshots=snapshots,
        color=color,
    )
    chooser = _Chooser(chip) if schedule is None or schedule == "auto" else None
    result = compile_natively(request, chooser)
    return _make_module(result, request, chooser.choice if chooser else None)


def choose_schedule(source: str | Path, *, chip: str | None = None, color: bool = False) -> str:
    """Return the schedule that :func:`compile` chooses for a program.

    It is a transform dialect program, to be edited and passed to it by ``schedule``.

    source, chip, color: as for :func:`compile`.

    Raises CompileError if the program cannot be read, or there is nothing to choose: it has a
    schedule or kernels, or no operation that becomes one.
    """
    text, name = read_source(source)
    request = Request(text, name, None, use_own_schedule=True, chip=chip, color=color)
    chooser = _Chooser(chip, only=True)
    compile_natively(request, chooser)
    if chooser.choice is None:
        message = (
            "there is no schedule to choose: the program has one or kernels of its own, or no "
            "linalg operation"
        )
        diagnostic = Diagnostic("error", message, Location(name))
        raise CompileError(str(diagnostic), [diagnostic], "schedule")
    return chooser.choice.text


class _Chooser:
    """Chooses a schedule when the compiler asks for it, and keeps it; ends there if `only` that."""

    def __init__(self, chip: str | None, *, only: bool = False) -> None:
        self.choice: Choice | None = None
        self._chip = chip
        self._only = only

    @property
    def target(self) -> Target:
        from . import _native
        from .target import make_target

        return make_target(self._chip or _native.default_chip(), _native.chips())

    def __call__(self, functions: Sequence[_native.KernelFunction]) -> _native.SourceText | None:
        from . import __version__, _native
        from .schedules import choose
        from .schedules.kernel import kernel_from_native

        self.choice = choose(list(map(kernel_from_native, functions)), self.target, __version__)
        return None if self._only else _native.SourceText(self.choice.text, SCHEDULE_NAME)


def passes() -> dict[str, str]:
    """Return name and summary of each pass and pipeline. Raises ToolError without MLIR."""
    load_native()
    from . import _native

    return dict(_native.pass_summaries())


def read_schedule(schedule: str | Path | None) -> tuple[str, str] | None:
    if schedule is None or schedule in ("auto", "none"):
        return None
    text, name = read_source(schedule)
    return text, SCHEDULE_NAME if is_text(schedule) else name


def compile_natively(request: Request, chooser: _Chooser | None = None) -> _native.CompileResult:
    """Return what the native extension makes of a request; raises as :func:`compile` does.

    `chooser` is asked for a schedule if there is none.
    """
    load_native()
    from . import _native

    chips = _native.chip_names()
    if request.chip is not None and request.chip not in chips:
        raise UsageError(f"error: unknown chip '{request.chip}'; there are {', '.join(chips)}")
    if complaint := _native.check_memory_options(request.memory_options):
        raise UsageError.of_option("memory_options", f"cannot be used: {complaint}")
    source = _native.SourceText(request.text, request.name)
    options = _options(request)
    if chooser:
        options.chain_bytes = chooser.target.row_bytes
        options.chain_blocks = chooser.target.chain_blocks
    result = _native.compile(source, options, chooser)
    if result.succeeded:
        return result
    raise _make_error(result, request, chooser.choice if chooser else None)


def _options(request: Request) -> _native.CompileOptions:
    from . import _native

    options = _native.CompileOptions()
    options.chip = request.chip or ""
    if request.schedule:
        options.schedule = _native.SourceText(*request.schedule)
    options.use_own_schedule = request.use_own_schedule
    options.memory_options = request.memory_options
    options.sync = request.sync
    options.verify_barriers = request.verify
    options.libdevice = str(find_libdevice() or "")
    options.checks_sync = request.checks_sync
    options.last_stage = _native.Stage[request.until.upper()]
    options.keep_texts = request.keep_texts
    options.keep_snapshots = request.snapshots
    options.use_color = request.color
    return options


def _make_error(
    result: _native.CompileResult, request: Request, choice: Choice | None
) -> Exception:
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


def _make_module(result: _native.CompileResult, request: Request, choice: Choice | None) -> Module:
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
        known_block=_dim3(kernel.known_block),
        known_grid=_dim3(kernel.known_grid),
        static_shared_bytes=kernel.static_shared_bytes,
        dynamic_shared_bytes=kernel.dynamic_shared_bytes,
        _assembly=assembly,
        _emulation=emulation,
    )


def _kind(part: _native.Part) -> Literal["value", "pointer", "extent", "stride", "offset"]:
    return part.kind  # type: ignore[return-value]
