"""Everything that this package raises on purpose.

Each class carries the exit code that the command line ends with.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from .diagnostics import Diagnostic


class Error(Exception):
    """The base of all errors of this package."""

    exit_code: ClassVar[int] = 1


class UsageError(Error, ValueError):
    """An argument that makes no sense, or names a file that cannot be used."""

    exit_code = 2


class ToolError(Error, RuntimeError):
    """A tool or library that is needed and missing; the text says how to get it."""

    exit_code = 69


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
        """The stage that failed: read, parse, schedule, gpu, nvvm, llvm, ptx or cubin."""
        self.reproducer = reproducer
        """A text that ``mlir-opt --run-reproducer`` replays; empty if no pass failed."""


class ResourceError(CompileError):
    """A kernel needs more of something than the GPU has."""

    def __init__(self, error: CompileError, name: str, required: int, limit: int) -> None:
        super().__init__(str(error), error.diagnostics, error.stage, error.reproducer)
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
