"""From linalg to PTX, in process, with plain upstream MLIR.

``pipeline.compile(text_or_path)`` returns a :class:`Module`; everything it can raise on purpose is
a :class:`pipeline.Error`. Importing this package loads neither MLIR nor NumPy: the native
extension comes with the first compilation, and what compilations do not need when it is first
asked for.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as in typing, which takes milliseconds to load

if TYPE_CHECKING:
    from . import torch as torch
    from .compiling.checking import (
        DistributionFinding,
        KernelVerdict,
        SyncFinding,
        SyncReport,
        check,
    )
    from .compiling.compiler import choose_schedule, compile, passes
    from .diagnostics import Diagnostic, Location, Remark, Snapshot
    from .errors import (
        AccessError,
        ArgumentError,
        BundleError,
        CheckError,
        CompileError,
        CountError,
        DeviceError,
        DeviceUnavailable,
        DriverError,
        DTypeError,
        Error,
        InternalError,
        KernelFaultError,
        KindError,
        LayoutError,
        MemoryAccessError,
        PlanError,
        RaceError,
        ResourceError,
        ShapeError,
        SynchronizationError,
        ToolError,
        UnverifiedWarning,
        UsageError,
    )
    from .program.loading import load
    from .program.module import Kernel, Module
    from .records.barriers import SyncPlace
    from .records.findings import Access, AccessStatistics, Finding, Fix, Report, Statistics, Thread
    from .records.memory import BufferPlacement, WorkgroupMemory
    from .records.signature import Argument, Entry, Parameter, Part, TensorMap
    from .report.explaining import Explanation, explain
    from .runtime.emulator import Options
    from .runtime.exploring import Exploration, Search, Trial
    from .runtime.host.plan import Plan
    from .system.assembler import Resources
    from .system.toolchain import plugin_path
    from .tuning.search import TileTrial, TunedKernel, Tuning, tune

__version__ = "0.1.0"

__all__ = [
    "Access",
    "AccessError",
    "AccessStatistics",
    "Argument",
    "ArgumentError",
    "BufferPlacement",
    "BundleError",
    "CheckError",
    "CompileError",
    "CountError",
    "DTypeError",
    "DeviceError",
    "DeviceUnavailable",
    "Diagnostic",
    "DistributionFinding",
    "DriverError",
    "Entry",
    "Error",
    "Explanation",
    "Exploration",
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
    "PlanError",
    "RaceError",
    "Remark",
    "Report",
    "ResourceError",
    "Resources",
    "Search",
    "ShapeError",
    "Snapshot",
    "Statistics",
    "SyncFinding",
    "SyncPlace",
    "SyncReport",
    "SynchronizationError",
    "TensorMap",
    "Thread",
    "TileTrial",
    "ToolError",
    "Trial",
    "TunedKernel",
    "Tuning",
    "UnverifiedWarning",
    "UsageError",
    "WorkgroupMemory",
    "__version__",
    "check",
    "choose_schedule",
    "compile",
    "explain",
    "load",
    "passes",
    "plugin_path",
    "tune",
]

# Which module has a name. It is loaded when it is first asked for; for type checkers all are
# imported above.
_MODULES = {
    "compiling.checking": (
        "DistributionFinding",
        "KernelVerdict",
        "SyncFinding",
        "SyncReport",
        "check",
    ),
    "compiling.compiler": (
        "choose_schedule",
        "compile",
        "passes",
    ),
    "diagnostics": (
        "Diagnostic",
        "Location",
        "Remark",
        "Snapshot",
    ),
    "errors": (
        "AccessError",
        "ArgumentError",
        "BundleError",
        "CheckError",
        "CompileError",
        "CountError",
        "DTypeError",
        "DeviceError",
        "DeviceUnavailable",
        "DriverError",
        "Error",
        "InternalError",
        "KernelFaultError",
        "KindError",
        "LayoutError",
        "MemoryAccessError",
        "PlanError",
        "RaceError",
        "ResourceError",
        "ShapeError",
        "SynchronizationError",
        "ToolError",
        "UnverifiedWarning",
        "UsageError",
    ),
    "program.module": (
        "Kernel",
        "Module",
    ),
    "program.loading": ("load",),
    "records.barriers": ("SyncPlace",),
    "records.findings": (
        "Access",
        "AccessStatistics",
        "Finding",
        "Fix",
        "Report",
        "Statistics",
        "Thread",
    ),
    "records.memory": (
        "BufferPlacement",
        "WorkgroupMemory",
    ),
    "records.signature": (
        "Argument",
        "Entry",
        "Parameter",
        "Part",
        "TensorMap",
    ),
    "report.explaining": ("Explanation", "explain"),
    "runtime.emulator": ("Options",),
    "runtime.exploring": (
        "Exploration",
        "Search",
        "Trial",
    ),
    "runtime.host.plan": ("Plan",),
    "system.assembler": ("Resources",),
    "system.toolchain": ("plugin_path",),
    "tuning.search": ("TileTrial", "TunedKernel", "Tuning", "tune"),
    "torch": (),
}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Load a module of :data:`_MODULES`, for itself or for one of its names."""
        from importlib import import_module

        for module, names in _MODULES.items():
            if name == module.rpartition(".")[2]:
                return import_module(f"{__name__}.{module}")
            if name in names:
                value = globals()[name] = getattr(import_module(f"{__name__}.{module}"), name)
                return value
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*globals(), *_MODULES, *__all__})
