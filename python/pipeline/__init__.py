"""From linalg to PTX, in process, with plain upstream MLIR.

``pipeline.compile(text_or_path)`` returns a :class:`Module`; everything it can raise on purpose is
a :class:`pipeline.Error`. Importing this package loads neither MLIR nor NumPy: the native
extension comes with the first compilation, and what compilations do not need when it is first
asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .compiler import choose_schedule, compile, passes
from .diagnostics import Diagnostic, Location, Remark, Snapshot
from .errors import (
    ArgumentError,
    CheckError,
    CompileError,
    CountError,
    DTypeError,
    Error,
    InternalError,
    KernelFaultError,
    KindError,
    LayoutError,
    MemoryAccessError,
    RaceError,
    ResourceError,
    ShapeError,
    SynchronizationError,
    ToolError,
    UsageError,
)
from .memory import BufferPlacement, WorkgroupMemory
from .module import Argument, Kernel, Module, Parameter, Part, TensorMap
from .program import Entry
from .toolchain import plugin_path

if TYPE_CHECKING:
    from .assembler import Resources
    from .checking import KernelVerdict, SyncFinding, SyncPlace, SyncReport, check
    from .emulator import Options
    from .findings import Access, AccessStatistics, Finding, Fix, Report, Statistics, Thread
    from .plan import Plan

__version__ = "0.1.0"

__all__ = [
    "Access",
    "AccessStatistics",
    "Argument",
    "ArgumentError",
    "BufferPlacement",
    "CheckError",
    "CompileError",
    "CountError",
    "DTypeError",
    "Diagnostic",
    "Entry",
    "Error",
    "Finding",
    "Fix",
    "InternalError",
    "Kernel",
    "KernelFaultError",
    "KernelVerdict",
    "KindError",
    "LayoutError",
    "Location",
    "MemoryAccessError",
    "Module",
    "Options",
    "Parameter",
    "Part",
    "Plan",
    "RaceError",
    "Remark",
    "Report",
    "ResourceError",
    "Resources",
    "ShapeError",
    "Snapshot",
    "Statistics",
    "SyncFinding",
    "SyncPlace",
    "SyncReport",
    "SynchronizationError",
    "TensorMap",
    "Thread",
    "ToolError",
    "UsageError",
    "WorkgroupMemory",
    "__version__",
    "check",
    "choose_schedule",
    "compile",
    "passes",
    "plugin_path",
]

# What is loaded when it is first asked for, by module. For type checkers it is imported above.
_LATER = {
    "assembler": ("Resources",),
    "checking": ("KernelVerdict", "SyncFinding", "SyncPlace", "SyncReport", "check"),
    "emulator": ("Options",),
    "findings": (
        "Access",
        "AccessStatistics",
        "Finding",
        "Fix",
        "Report",
        "Statistics",
        "Thread",
    ),
    "plan": ("Plan",),
}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """Load a module of :data:`_LATER`, for itself or for one of its names."""
        from importlib import import_module

        for module, names in _LATER.items():
            if name == module:
                return import_module(f"{__name__}.{module}")
            if name in names:
                value = globals()[name] = getattr(import_module(f"{__name__}.{module}"), name)
                return value
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*globals(), *_LATER, *__all__})
