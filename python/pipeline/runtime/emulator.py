"""Kernels on the host: arguments go to the native emulator, a report comes back."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ..conversion import convert
from ..diagnostics import Diagnostic, Location
from ..errors import (
    CheckError,
    CompileError,
    InternalError,
    KernelFaultError,
    MemoryAccessError,
    RaceError,
    SynchronizationError,
    UsageError,
)
from ..records.findings import Report, report_from_native
from ..records.limits import STEP_LIMIT
from ..records.scalars import describe_value, read_integer
from ..system.toolchain import load_native, require_numpy
from .arguments import Value, evaluate, tensor_layout
from .emulation import Translated
from .sizes import LaunchSizes
from .tensor_maps import make_request, make_view

if TYPE_CHECKING:
    from .. import _native
    from ..records.signature import Part, Signature
    from .arrays import ArrayView
    from .emulation import Emulation, Launchable

Check = Literal["none", "races", "all"]
Order = Literal["forward", "reverse", "seeded"]
AsyncMode = Literal["on_wait", "eager", "seeded"]

_MAX_NUMBER = 2**32 - 1
_BAR_DELAY = 2.0

_ERRORS: dict[str, type[CheckError]] = {
    "race": RaceError,
    "async": RaceError,
    "out-of-bounds": MemoryAccessError,
    "read-only": MemoryAccessError,
    "misaligned": MemoryAccessError,
    "uninitialized": MemoryAccessError,
    "divergence": SynchronizationError,
    "exited-thread": SynchronizationError,
    "exited-lane": SynchronizationError,
    "exited-block": SynchronizationError,
    "invalid-barrier": SynchronizationError,
    "deadlock": SynchronizationError,
    "inactive-lane": SynchronizationError,
    "mbarrier": SynchronizationError,
    "registers": SynchronizationError,
}


@dataclass(frozen=True, slots=True)
class Options:
    """How to run a launch; see ``Kernel.run``.

    ``fixes``: look for barriers that would mend races, and try them. ``results``: whether anybody
    looks at what is computed: else new memory is not filled with what no result looks like.
    ``values``: whether it is computed at all. If not, statistics are the same, and if nothing is
    found then nothing is wrong; where that may not be so, ValuesNeeded is raised before it runs.
    """

    check: Check = "none"
    order: Order | int = "forward"
    async_mode: AsyncMode | int = "on_wait"
    seed: int = 0
    delays: bool = False
    step_limit: int = STEP_LIMIT
    workers: int = 0
    blocks: int = 0
    statistics: bool = False
    fixes: bool = True
    results: bool = True
    values: bool = True

    def __post_init__(self) -> None:
        """Raise UsageError for a value that makes no sense."""
        _choose("check", self.check, ("none", "races", "all"))
        numbers = ["seed", "step_limit", "workers", "blocks"]
        if isinstance(self.order, str):
            _choose("order", self.order, ("forward", "reverse", "seeded"), "a seed")
        else:
            numbers.append("order")
        if isinstance(self.async_mode, str):
            _choose("async_mode", self.async_mode, ("on_wait", "eager", "seeded"), "a seed")
        else:
            numbers.append("async_mode")
        for name in numbers:
            # The class is frozen; NumPy's integers become Python's.
            object.__setattr__(self, name, _read_number(name, getattr(self, name)))
        if len(self.seeds) > 1:
            shown = sorted(self.seeds)
            raise UsageError(f"error: a launch has one seed, but there are {shown}")
        for name in ("statistics", "delays", "fixes", "results", "values"):
            if not isinstance(getattr(self, name), bool):
                raise UsageError.of_option(name, "must be True or False")
        if self.statistics and self.check != "none":
            reason = (
                "exclude each other: statistics are of the optimised kernel, checks of the program "
                "as it is written"
            )
            raise UsageError(
                f"error: statistics=True and check='{self.check}' {reason}",
                f"error: --stats and --check {self.check} {reason}",
            )

    @property
    def seeds(self) -> set[int]:
        """What is given as a seed, of whatever it is; 0 is none where a mode is one."""
        modes = {mode for mode in (self.order, self.async_mode) if not isinstance(mode, str)}
        return modes | {self.seed} if self.seed or not modes else modes


def _choose(name: str, value: str, choices: Sequence[str], *others: str) -> None:
    if value not in choices:
        *first, last = (*choices, *others)
        raise UsageError.of_option(
            name, f"is {describe_value(value)}, but must be {', '.join(first)} or {last}"
        )


def _read_number(name: str, value: Any) -> int:
    number = read_integer(value)
    if number is None or not 0 <= number <= _MAX_NUMBER:
        raise UsageError.of_option(
            name,
            f"is {describe_value(value)}, but must be a whole number from 0 to {_MAX_NUMBER}",
        )
    return number


class ValuesNeeded(Exception):
    """What a program does depends on what memory holds, which was to be left out."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A launch that is ready to run."""

    kernel: str
    values: Sequence[Value]
    request: _native.LaunchRequest
    translated: Translated
    options: Options


def prepare(
    kernel: Launchable,
    values: Sequence[Value],
    sizes: LaunchSizes,
    options: Options,
    location: Location | None = None,
) -> Prepared:
    """Check everything about a launch, at `location`, that can be checked before it.

    Raises ArgumentError, UsageError, CompileError, and ValuesNeeded if they were to be left out.
    """
    emulation = kernel._emulation
    load_emulator(emulation)
    _accept(sizes.find_fault(kernel), kernel, location)
    request = _make_request(kernel, values, sizes, options)
    translated = translate(emulation, kernel.name, options)
    if translated.kernel.needs_values and not options.values:
        raise ValuesNeeded
    _accept(translated.kernel.refuse(request), kernel, location)
    return Prepared(kernel.name, values, request, translated, options)


def check_trust(emulation: Emulation, backend: str) -> None:
    """Check that the emulator is asked for where it would run what came from elsewhere.

    It makes code of this process of it. Raises UsageError.
    """
    if emulation.made_by_llvm and backend == "auto":
        reason = "of what a bundle holds, the emulator makes code of this process"
        raise UsageError(
            f"error: {reason}: if you trust the bundle, say backend='emulator'",
            f"error: {reason}: if you trust the bundle, say --backend emulator",
        )


def load_emulator(emulation: Emulation) -> None:
    """Check that there is all that it takes to run kernels on the emulator.

    Raises ToolError if the native extension or NumPy is not there, UsageError if the program was
    not compiled that far, or its bundle holds nothing for the emulator, or what another LLVM wrote.
    """
    if not emulation.bitcode and not emulation.made_by_llvm:
        raise UsageError(
            "error: the module has no LLVM IR, which the emulator runs: an earlier stage was asked "
            "for"
        )
    if not emulation.bitcode:
        raise UsageError(
            "error: the bundle holds nothing for the emulator: save it with emulator=True, or run "
            "it on a GPU",
            "error: the bundle holds nothing for the emulator: compile it without --no-emulator, "
            "or run it on a GPU",
        )
    native = load_native("emulator")
    require_numpy("the emulator")
    known, made_by = native.llvm_version(), emulation.made_by_llvm
    if made_by and made_by.partition(".")[0] != known.partition(".")[0]:
        raise UsageError(
            f"error: the bundle is for the emulator of LLVM {made_by}, and this one is of {known}: "
            "compile it again, or run it on a GPU"
        )


def _accept(fault: str, kernel: Signature, location: Location | None) -> None:
    if not fault:
        return
    where = f"{location}: " if location is not None and location.line else ""
    raise UsageError(f"{where}error: kernel '{kernel.name}' is launched with {fault}")


def launch(prepared: Prepared) -> Report:
    """Run a kernel in place. Raises InternalError."""
    request = prepared.request
    with prepared.translated.lock:
        start = time.perf_counter()
        bar = _make_progress_bar(prepared.kernel, request)
        result = prepared.translated.kernel.launch(request, bar)
        seconds = time.perf_counter() - start
    if result.crash is not None:
        raise InternalError(f"error: the emulator crashed: {result.crash}", "")
    check, hints = prepared.options.check, _make_hints(result, prepared.values)
    return report_from_native(result, prepared.kernel, check, seconds, hints)


def translate(emulation: Emulation, name: str, options: Options) -> Translated:
    """Make a kernel ready to run, if it is not. Raises CompileError if it cannot be emulated."""
    kind = (name, options.check, options.statistics, options.delays)
    made = emulation.translated.get((*kind, options.values))
    if made is None:
        # Of threads that do so at once, the first one's stays.
        new = Translated(_translate(emulation, name, options), threading.Lock())
        made = emulation.translated.setdefault((*kind, options.values), new)
        if made.kernel.needs_values:
            emulation.translated.setdefault((*kind, True), made)
    return made


def _translate(emulation: Emulation, name: str, options: Options) -> _native.EmulatedKernel:
    from .. import _native

    native_options = _native.EmulatorOptions()
    native_options.check = _native.Check[options.check.upper()]
    native_options.statistics = options.statistics
    native_options.delays = options.delays
    native_options.forgets_values = not options.values
    native_options.chip = emulation.chip
    result = _native.emulate(
        emulation.bitcode,
        name,
        native_options,
        [_native.SourceText(text, file) for text, file in emulation.sources],
        [_make_buffer(buffer) for buffer in emulation.shared_buffers],
    )
    if isinstance(result, list):
        diagnostics: tuple[Diagnostic, ...] = convert(result)
        text = "\n".join(str(item) for item in diagnostics)
        raise CompileError(text, diagnostics, stage="emulate")
    return result


def _make_buffer(buffer: Any) -> _native.SharedBuffer:
    """Return a record of the native extension, as which it may come, or as one with its fields."""
    from .. import _native

    if isinstance(buffer, _native.SharedBuffer):
        return buffer
    *fields, place = buffer
    location = _native.SourceLocation.__new__(_native.SourceLocation)
    location.__setstate__((place.file, place.line, place.column))
    made = _native.SharedBuffer.__new__(_native.SharedBuffer)
    made.__setstate__((*fields, location))
    return made


def _make_request(
    kernel: Signature, values: Sequence[Value], sizes: LaunchSizes, options: Options
) -> _native.LaunchRequest:
    from .. import _native

    request = _native.LaunchRequest()
    request.grid = list(sizes.grid)
    request.block = list(sizes.block)
    request.cluster = None if sizes.cluster is None else list(sizes.cluster)
    request.dynamic_shared_bytes = sizes.dynamic_shared_bytes
    request.order = _native.Order[_name(options.order)]
    request.async_mode = _native.AsyncMode[_name(options.async_mode)]
    request.seed = max(options.seeds)
    request.step_limit = options.step_limit
    request.workers = options.workers
    request.block_limit = options.blocks
    request.find_fixes = options.fixes
    views = {
        index: _view(value.view, value, index)
        for index, value in enumerate(values)
        if value.view is not None
    }
    numbers = {index: number for number, index in enumerate(views)}
    request.buffers = list(views.values())
    request.parameters = [
        _tensor_map(values[part.argument], part, numbers, views)
        if part.kind == "tensormap"
        else _parameter(part, result, numbers, views)
        for part, result in evaluate(kernel, values)
    ]
    return request


def _tensor_map(
    value: Value, part: Part, numbers: dict[int, int], views: dict[int, _native.BufferView]
) -> _native.ParameterValue:
    from .. import _native

    array, tensor_map = value.view, value.argument.tensor_map
    assert array is not None
    assert tensor_map is not None
    number = part.argument
    parameter = _native.ParameterValue()
    parameter.tensor_map = make_view(
        make_request(tensor_layout(array), tensor_map, f"argument {number}"),
        array.itemsize,
        numbers[number],
        views[number].origin,
    )
    return parameter


def _name(mode: str | int) -> str:
    return mode.upper() if isinstance(mode, str) else "SEEDED"


def _view(array: ArrayView, value: Value, index: int) -> _native.BufferView:
    from .. import _native

    low, high = array.bounds
    view = _native.BufferView()
    view.set_address(low)
    view.bytes = high - low
    view.name = f"argument {index}"
    tensor_map = value.argument.tensor_map
    view.element_type = (tensor_map or value.argument).element_type
    view.element_bytes = array.itemsize
    view.shape = list(array.shape)
    view.strides = list(array.strides)
    view.origin = array.address - low
    view.is_writable = not array.read_only
    return view


def _parameter(
    part: Part, result: int | bytes, numbers: dict[int, int], views: dict[int, _native.BufferView]
) -> _native.ParameterValue:
    from .. import _native

    parameter = _native.ParameterValue()
    if part.kind == "pointer":
        assert isinstance(result, int)
        parameter.buffer = numbers[part.argument]
        parameter.offset = views[part.argument].origin + result
    elif isinstance(result, bytes):
        parameter.set_bytes(result)
    else:
        parameter.set_bytes(result.to_bytes(8, "little", signed=True))
    return parameter


def _make_hints(result: _native.LaunchResult, values: Sequence[Value]) -> tuple[str, ...]:
    """Tell of what the emulator cannot know: where an array that must not be written is from."""
    written = {finding.buffer for finding in result.findings if finding.kind == "read-only"}
    return tuple(
        f"argument {index} {value.view.read_only}"
        for index, value in enumerate(values)
        if value.view is not None and f"argument {index}" in written
    )


def _make_progress_bar(name: str, request: _native.LaunchRequest) -> Callable[[int], None] | None:
    """Return what shows how many blocks are done, on a terminal and after a while."""
    if sys.stderr is None or not sys.stderr.isatty():
        return None
    from tqdm import tqdm

    total = request.grid[0] * request.grid[1] * request.grid[2]
    bar = tqdm(total=total, desc=name, unit="block", delay=_BAR_DELAY, leave=False)

    def show(done: int) -> None:
        bar.update(done - bar.n)

    return show


def raise_findings(report: Report) -> None:
    """Raise the kind of CheckError that the gravest finding asks for, if there is one."""
    for finding in report.errors:
        error = _ERRORS.get(finding.kind.split(".")[0], KernelFaultError)(report)
        for hint in report.hints:
            error.add_note(f"note: {hint}")
        raise error


__all__ = ["STEP_LIMIT", "Options", "launch", "prepare", "raise_findings"]
