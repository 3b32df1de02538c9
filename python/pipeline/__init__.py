"""From linalg to PTX, in process, with plain upstream MLIR.

``pipeline.compile(text_or_path)`` returns a :class:`Module`; everything it can raise on purpose is
a :class:`pipeline.Error`. Importing this package loads neither MLIR nor NumPy: the native
extension comes with the first compilation.
"""

from __future__ import annotations

from .checking import KernelVerdict, SyncFinding, SyncPlace, SyncReport, check
from .compiler import choose_schedule, compile, passes
from .diagnostics import Diagnostic, Location, Remark, Snapshot
from .emulator import Options
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
from .findings import Access, AccessStatistics, Finding, Fix, Report, Statistics, Thread
from .memory import BufferPlacement, WorkgroupMemory
from .module import Argument, Kernel, Module, Parameter, Part, Resources, TensorMap
from .plan import Plan
from .program import Entry
from .toolchain import plugin_path

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
