"""From linalg to PTX, in process, with plain upstream MLIR.

``pipeline.compile(text_or_path)`` returns a :class:`Module`; everything it can raise on purpose is
a :class:`pipeline.Error`. Importing this package loads neither MLIR nor NumPy: the native
extension comes with the first compilation.
"""

from __future__ import annotations

from .compiler import compile, passes
from .diagnostics import Diagnostic, Location, Remark, Snapshot
from .errors import CompileError, Error, InternalError, ResourceError, ToolError, UsageError
from .module import Argument, Kernel, Module, Parameter, Part, Resources
from .toolchain import plugin_path

__version__ = "0.1.0"

__all__ = [
    "Argument",
    "CompileError",
    "Diagnostic",
    "Error",
    "InternalError",
    "Kernel",
    "Location",
    "Module",
    "Parameter",
    "Part",
    "Remark",
    "ResourceError",
    "Resources",
    "Snapshot",
    "ToolError",
    "UsageError",
    "__version__",
    "compile",
    "passes",
    "plugin_path",
]
