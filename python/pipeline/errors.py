"""Everything that this package raises on purpose.

Each class carries the exit code that the command line ends with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from .diagnostics import Diagnostic, Remark, Snapshot
    from .records.findings import Finding, Report


class Error(Exception):
    """The base of all errors of this package."""

    exit_code: ClassVar[int] = 1

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle what an error holds, whatever its constructor takes."""
        return _restore, (type(self), self.args), vars(self)


def _restore(kind: type[Error], arguments: tuple[Any, ...]) -> Error:
    return kind.__new__(kind, *arguments)


class UnverifiedWarning(UserWarning):
    """Kernels are compiled that nobody checks for data races."""


class UsageError(Error, ValueError):
    """An argument that makes no sense, or names a file that cannot be used."""

    exit_code = 2

    def __init__(self, message: str, shell_message: str = "") -> None:
        super().__init__(message)
        self.shell_message = shell_message or message
        """The same in the terms of the command line, which has ``--step-limit``, not
        ``step_limit``."""

    @staticmethod
    def of_option(name: str, reason: str) -> UsageError:
        """Return an error on an option that the command line spells as options are."""
        flag = f"--{name.replace('_', '-')}"
        return UsageError(f"error: {name} {reason}", f"error: {flag} {reason}")


class ToolError(Error, RuntimeError):
    """A tool or library that is needed and missing; the text says how to get it."""

    exit_code = 69


class DeviceUnavailable(ToolError):
    """There is no GPU, no driver, or none that runs this code; the text says what to do."""


class DriverError(Error, RuntimeError):
    """A call of the GPU's driver failed.

    What a kernel does wrong is reported late: at a later call, which need not be to blame.
    """

    def __init__(self, message: str, function: str = "", code: int = 0) -> None:
        super().__init__(message)
        self.function = function
        """The function of the driver that failed, as ``cuLaunchKernelEx``."""
        self.code = code
        """The number of the error, a ``CUresult``."""


class PlanError(UsageError):
    """A launch plan that cannot be read, or does not belong to the code beside it."""


class BundleError(UsageError):
    """A bundle that is damaged, of another version, or not one."""


class CompileError(Error):
    """The program was refused.

    ``str(error)`` is what ``mlir-opt`` would print, source line and caret included.
    """

    def __init__(
        self,
        rendered: str,
        diagnostics: Sequence[Diagnostic] = (),
        stage: str = "",
        reproducer: str = "",
    ) -> None:
        super().__init__(rendered)
        self.diagnostics = tuple(diagnostics)
        """What was said, in order, warnings included."""
        self.stage = stage
        """The stage that failed: read, clang, parse, schedule, gpu, nvvm, llvm, ptx or cubin."""
        self.reproducer = reproducer
        """A text that ``mlir-opt --run-reproducer`` replays; empty if no pass failed."""
        self.texts: Mapping[str, str] = {}
        """The texts of the stages before, if they were to be kept."""
        self.remarks: tuple[Remark, ...] = ()
        """The decisions of the passes up to the failure."""
        self.schedule: str | None = None
        """The schedule that was chosen for a program that brought none."""
        self.snapshots: tuple[Snapshot, ...] = ()
        """What passes changed up to the failure, if that was to be kept."""
        self.seconds: Mapping[str, float] = {}
        """How long each stage took."""


class ResourceError(CompileError):
    """A kernel needs more of something than the GPU has."""

    def __init__(self, error: CompileError, name: str, required: int, limit: int) -> None:
        super().__init__(str(error))
        vars(self).update(vars(error))
        self.name = name
        """What there is not enough of, as ``workgroup memory``."""
        self.required = required
        """How much the kernel needs, in bytes."""
        self.limit = limit
        """How much there is, in bytes."""


class InternalError(Error, RuntimeError):
    """A defect of the compiler: a pass crashed or failed without a word."""

    exit_code = 70

    def __init__(self, message: str, reproducer: str) -> None:
        super().__init__(message)
        self.reproducer = reproducer
        """The source, with the options that lead to the defect in comments."""


class ArgumentError(UsageError):
    """An argument of a launch that does not fit; nothing has run."""

    def __init__(self, message: str, index: int | None = None, shell_message: str = "") -> None:
        super().__init__(message, shell_message)
        self.index = index
        """The number of the argument; None if it is not about one."""


class CountError(ArgumentError, TypeError):
    """Too many or too few arguments."""


class KindError(ArgumentError, TypeError):
    """An array where a number belongs, or the reverse, or a number that does not fit."""


class DTypeError(ArgumentError, TypeError):
    """An array of other elements."""


class ShapeError(ArgumentError):
    """An array of another shape, or sizes that do not suit each other."""


class LayoutError(ArgumentError):
    """An array whose elements lie differently in memory."""


class AccessError(ArgumentError):
    """An array that may not be read or written so: read-only, freed, or part of another one."""


class DeviceError(ArgumentError):
    """An array on another device than it has to be on, or a device that a launch does not fit."""


class CheckError(Error):
    """A launch did what no kernel may do.

    ``str(error)`` tells all findings with both source lines; ``Report.hints`` are notes of the
    error, which tracebacks show.
    """

    def __init__(self, report: Report) -> None:
        super().__init__(report.rendered)
        self.report = report
        """What is known of the launch."""

    @property
    def findings(self) -> Sequence[Finding]:
        """The findings, the gravest first."""
        return self.report.findings


class RaceError(CheckError):
    """Threads touched the same bytes, and nothing orders them."""


class MemoryAccessError(CheckError, IndexError):
    """An access out of bounds, misaligned, or to memory that nobody wrote."""


class SynchronizationError(CheckError):
    """Threads wait for each other in ways that cannot work."""


class KernelFaultError(CheckError):
    """The kernel divided by zero, gave up, or did not end."""
