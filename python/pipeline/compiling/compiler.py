"""``pipeline.compile``: texts go to the native extension, data comes back.

No decision about the program is taken here.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..errors import CompileError, UnverifiedWarning, UsageError
from ..system.files import is_text, read_source
from ..system.toolchain import find_libdevice, load_native
from .programs import Program, check_chip, read_program
from .request import (
    NUMERICS,
    SCHEDULE_NAME,
    STAGES,
    SYNCS,
    Dim3,
    Numerics,
    ProgramOptions,
    Request,
    Stage,
    Sync,
)

if TYPE_CHECKING:
    from pathlib import Path

    from .. import _native
    from ..program.module import Module
    from ..runtime.sizes import Sizes
    from ..schedules.choosing import Choice
    from ..schedules.kernel import Kernel
    from ..schedules.target import Target
    from ..schedules.tuned import TileSource
    from .tuned import Tuning


def compile(
    source: str | Path,
    *,
    chip: str | None = None,
    schedule: str | Path | None = None,
    kernel: str = "",
    block: Sizes | None = None,
    grid: Sizes | None = None,
    sync: Sync = "auto",
    verify: bool = True,
    assert_bounds: bool = False,
    keep_reads: bool = False,
    numerics: Numerics = "exact",
    memory_options: str = "",
    clang_options: Sequence[str] = (),
    tuned: str | Path | TileSource | None = None,
    until: Stage = "ptx",
    keep_texts: bool = False,
    snapshots: bool = False,
    certify: bool = False,
    color: bool = False,
) -> Module:
    """Compile a program of linalg and GPU operations, or kernels of other compilers, to PTX.

    source: MLIR, as text if it is a string with a newline, else the name of a file (``-`` is the
        standard input). LLVM IR for ``nvptx64`` is understood as well and, in a file ``*.cu``,
        CUDA C++, where clang is installed: docs/other-kernels.md.
    chip: as ``sm_90a``. Default: the target of the program's ``gpu.module``, else ``sm_80``.
    schedule: a transform dialect program with a ``@__transform_main``, as text or file; ``none`` to
        apply none. Default (also ``auto``): the one that the program carries or, if it has neither
        one nor kernels, what :mod:`pipeline.schedules` chooses for its linalg operations, which is
        ``Module.schedule``.
    block, grid: threads per block and blocks per grid that kernels are launched with, all or the
        one called ``kernel``, along x, y and z. They take no others then, and more is known of
        their synchronisation.
    sync: ``insert`` leaves the program's barriers alone and adds the fewest that are missing,
        ``minimize`` also removes those that order nothing, ``keep`` leaves them alone and has each
        pass add what its own rewrite needs. ``auto`` keeps those of kernels that are LLVM's, and
        inserts otherwise.
    verify: reject kernels whose threads race, and barriers that not all threads of a block reach
        together; warn of what is not decided. False is an UnverifiedWarning.
    assert_bounds: have kernels assert that indices lie in their dimensions, and slices in what
        they are slices of: an :class:`AssertionFailure` on the emulator, the end of the launch on
        a GPU. Kernels are slower by that, and as rows of workgroup memory are not padded then.
    keep_reads: keep what kernels read and nothing follows from, so that races with it are found.
        PTX has none of it.
    numerics: ``exact`` multiplies ``f32`` as it is; ``tf32`` rounds the factors of sums of products
        in ``f32`` to 10 bits of fraction, to the nearest, where tensor cores multiply them then,
        several times as fast. Sums stay in ``f32``. ``narrow`` rounds the weights of attention,
        where they are ``f32``, to the 16 bits of values, and scales sums of products of ``bf16``
        in place of their factors, so that tensor cores multiply both. ``finite`` takes for granted
        that what contractions multiply is neither infinite nor NaN: attention does nothing for
        blocks of columns that a mask by indices hides, as a causal one does half of them. Several
        of these words, in this order, are joined by commas: ``narrow,finite``.
    memory_options: further options of the pipeline ``workgroup-memory``, as ``mlir-opt`` takes
        them: ``reuse=never resolve-bank-conflicts=false from-spaces=1:workgroup``; not its chip and
        barriers, which are set as above.
    clang_options: further options of clang, which reads CUDA C++: ``["-Iinclude", "-DN=16"]``.
    tuned: the file of tiles that :func:`pipeline.tune` has found, which are taken instead of those
        that are chosen by rule.
    until: the last stage to run. Only after ``ptx`` has the module its ``ptx``.
    keep_texts: keep the text of every stage in ``texts``, not only of the last.
    snapshots: keep what each pass changed in ``snapshots``.
    certify: keep why threads do not race, for ``tools/check-certificate``, as ``certificate`` in
        ``texts``, with the LLVM IR that it is about: docs/certificates.md.
    color: put terminal colours into the text of errors.

    Memref arguments of kernels are assumed to be aligned to 16 bytes, which each
    ``Kernel.arguments`` states; whoever launches must see to it.

    Raises CompileError (ResourceError if the GPU is too small) with located diagnostics if the
    program is refused, UsageError for arguments that make no sense, ToolError if MLIR, libdevice
    or clang is missing, InternalError if a pass crashes.
    """
    options: ProgramOptions = {
        "chip": chip,
        "schedule": schedule,
        "kernel": kernel,
        "block": block,
        "grid": grid,
        "sync": sync,
        "numerics": numerics,
        "memory_options": memory_options,
        "clang_options": clang_options,
        "tuned": tuned,
    }
    check_choices(sync, numerics)
    if until not in STAGES:
        raise UsageError(f"error: unknown stage '{until}'; there are {', '.join(STAGES)}")
    if not verify:
        warnings.warn(
            "verify=False: kernels are not checked for data races and divergent barriers",
            UnverifiedWarning,
            stacklevel=2,
        )
    _, request = make_request(source, **options)
    request = request._replace(
        verify=verify,
        assert_bounds=assert_bounds,
        keep_reads=keep_reads,
        until=until,
        keep_texts=keep_texts,
        snapshots=snapshots,
        certifies=certify,
        color=color,
    )
    chooser = make_chooser(**options)
    result = compile_natively(request, chooser)
    from .results import make_module

    return make_module(result, request, chooser.choice if chooser else None)


def make_request(
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
    tuned: str | Path | TileSource | None = None,
) -> tuple[Program, Request]:
    """Read a program, and return it with what is asked for. All is as for :func:`compile`."""
    check_choices(sync, numerics)
    if tuned is not None and schedule not in (None, "auto"):
        raise UsageError.of_option("tuned", "is for schedules that are chosen: give no other")
    program = read_program(source, chip, clang_options)
    return program, Request(
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
    )


def check_choices(sync: str, numerics: str) -> None:
    """Raise UsageError for a treatment of barriers, or numerics, that there is not."""
    if sync not in SYNCS:
        raise UsageError(f"error: unknown sync '{sync}'; there are {', '.join(SYNCS)}")
    if numerics not in NUMERICS:
        raise UsageError(f"error: unknown numerics '{numerics}'; there are {'; '.join(NUMERICS)}")


def read_launch_sizes(name: str, given: Sizes | None) -> Dim3 | None:
    """Return the sizes along x, y and z of every launch. Raises UsageError for what is none."""
    if given is None:
        return None
    from ..runtime.sizes import read_sizes

    sizes = read_sizes(name, given)
    if not all(1 <= size < 1 << 31 for size in sizes):
        raise UsageError.of_option(name, f"is {sizes}, and no GPU takes that")
    return sizes


def choose_schedule(
    source: str | Path,
    *,
    chip: str | None = None,
    numerics: Numerics = "exact",
    tuned: str | Path | TileSource | None = None,
    color: bool = False,
) -> str:
    """Return the schedule that :func:`compile` chooses for a program.

    It is a transform dialect program, to be edited and passed to it by ``schedule``.

    source, chip, numerics, tuned, color: as for :func:`compile`.

    Raises CompileError if the program cannot be read, or there is nothing to choose: it has a
    schedule or kernels, or no operation that becomes one.
    """
    text, name, translated = read_program(source, chip)
    request = Request(
        text, name, None, use_own_schedule=True, chip=chip, color=color, translated=translated
    )
    chooser = Chooser(chip, numerics, only=True, tuned=tuned)
    compile_natively(request, chooser)
    if chooser.choice is None:
        from ..diagnostics import Diagnostic, Location

        message = (
            "there is no schedule to choose: the program has one or kernels of its own, or no "
            "linalg operation"
        )
        diagnostic = Diagnostic("error", message, Location(name))
        raise CompileError(str(diagnostic), [diagnostic], "schedule")
    return chooser.choice.text


def make_chooser(
    *,
    schedule: str | Path | None = None,
    chip: str | None = None,
    numerics: Numerics = "exact",
    tuned: str | Path | TileSource | None = None,
    **_: Any,
) -> Chooser | None:
    """Return who chooses a schedule, if that is left open by the options of a program."""
    if schedule is None or schedule == "auto":
        return Chooser(chip, numerics, tuned=tuned)
    return None


class Chooser:
    """Chooses a schedule when the compiler asks for it, and keeps it; ends there if `only` that.

    ``error``: why there is none, as the compiler takes no exceptions.
    """

    def __init__(
        self,
        chip: str | None,
        numerics: Numerics = "exact",
        *,
        only: bool = False,
        tuned: str | Path | TileSource | None = None,
    ) -> None:
        self.choice: Choice | None = None
        self.error: UsageError | None = None
        self.kernels: tuple[Kernel, ...] = ()
        self._chip = chip
        self._numerics = numerics
        self._only = only
        self.tuned: Tuning | None = None
        if tuned is not None:
            from .tuned import find_tiles

            self.tuned = find_tiles(tuned)

    @property
    def target(self) -> Target:
        from .. import _native
        from ..schedules.target import make_target

        target = make_target(self._chip or _native.default_chip(), _native.chips())
        return target._replace(
            rounds_to_tf32="tf32" in self._numerics,
            assumes_finite="finite" in self._numerics,
            narrows="narrow" in self._numerics,
        )

    def __call__(self, functions: Sequence[_native.KernelFunction]) -> _native.SourceText | None:
        from .. import __version__, _native
        from ..conversion import convert
        from ..schedules.choosing import choose

        self.kernels = convert(functions)
        if self.tuned is None:
            self.choice = choose(self.kernels, self.target, __version__)
        else:
            try:
                self.choice = self.tuned.choose(self.kernels, self.target, __version__)
            except UsageError as error:
                self.error = error
                return None
        return None if self._only else _native.SourceText(self.choice.text, SCHEDULE_NAME)


def passes() -> dict[str, str]:
    """Return name and summary of each pass and pipeline. Raises ToolError without MLIR."""
    load_native()
    from .. import _native

    return dict(_native.pass_summaries())


def load_beside() -> None:
    """Import what makes schedules and modules: meanwhile the native extension compiles.

    That does not hold the interpreter's lock, so that whoever waits for it in another thread can
    save the time.
    """
    # The largest schedule, too, which otherwise the compilation has to wait for.
    importlib.import_module("pipeline.schedules.contraction")
    importlib.import_module("pipeline.schedules.choosing")
    importlib.import_module("pipeline.compiling.results")


def read_schedule(schedule: str | Path | None) -> tuple[str, str] | None:
    if schedule is None or schedule in ("auto", "none"):
        return None
    text, name = read_source(schedule)
    return text, SCHEDULE_NAME if is_text(schedule) else name


def compile_natively(request: Request, chooser: Chooser | None = None) -> _native.CompileResult:
    """Return what the native extension makes of a request; raises as :func:`compile` does.

    `chooser` is asked for a schedule if there is none.
    """
    load_native()
    from .. import _native

    check_chip(request.chip)
    if complaint := _native.check_memory_options(request.memory_options):
        raise UsageError.of_option("memory_options", f"cannot be used: {complaint}")
    source = _native.SourceText(request.text, request.name)
    if request.translated:
        # A name of its own, so that what is shown of the program's lines is from its file.
        source = _native.SourceText(request.translated, f"{request.name} as LLVM IR")
    options = _options(request)
    if chooser:
        options.chain_bytes = chooser.target.row_bytes
        options.chain_blocks = chooser.target.chain_blocks
        options.narrow = chooser.target.narrows
    result = _native.compile(source, options, chooser)
    if chooser and chooser.error:
        raise chooser.error
    if result.succeeded:
        if chooser and chooser.tuned and not chooser.choice:
            raise UsageError.of_option(
                "tuned", "is for schedules that are chosen, and none is for this program"
            )
        return result
    from .results import make_error

    raise make_error(result, request, chooser.choice if chooser else None)


def _options(request: Request) -> _native.CompileOptions:
    from .. import _native

    options = _native.CompileOptions()
    options.chip = request.chip or ""
    if request.schedule:
        options.schedule = _native.SourceText(*request.schedule)
    options.use_own_schedule = request.use_own_schedule
    options.assert_bounds = request.assert_bounds
    options.keep_reads = request.keep_reads
    options.tf32 = "tf32" in request.numerics
    options.memory_options = request.memory_options
    options.kernel = request.kernel
    options.block = None if request.block is None else list(request.block)
    options.grid = None if request.grid is None else list(request.grid)
    options.sync = request.sync
    options.verify_barriers = request.verify
    options.libdevice = find_libdevice() or ""
    options.checks_sync = request.checks_sync
    options.last_stage = _native.Stage[request.until.upper()]
    options.keep_texts = request.keep_texts
    options.keep_snapshots = request.snapshots
    options.explains = request.explains
    options.certifies = request.certifies
    options.use_color = request.color
    return options
