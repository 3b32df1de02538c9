"""Kernels of LLVM IR from their bodies, and what is known of them."""

from __future__ import annotations

import re

import pipeline
from pipeline.runtime.emulator import Options

_DECLARATIONS = {
    "llvm.nvvm.read.ptx.sreg.tid.x": "i32 @{}()",
    "llvm.nvvm.read.ptx.sreg.ctaid.x": "i32 @{}()",
    "llvm.nvvm.barrier.cta.sync.aligned.all": "void @{}(i32)",
    "llvm.nvvm.barrier.cta.red.popc.aligned.all": "i32 @{}(i32, i1)",
    "llvm.nvvm.barrier.cta.red.and.aligned.all": "i1 @{}(i32, i1)",
    "llvm.nvvm.barrier.cta.red.or.aligned.all": "i1 @{}(i32, i1)",
    "llvm.nvvm.activemask": "i32 @{}()",
    "llvm.nvvm.bar.warp.sync": "void @{}(i32)",
    "__nv_sqrtf": "float @{}(float)",
    "vprintf": "i32 @{}(ptr, ptr)",
    "__assertfail": "void @{}(ptr, ptr, i32, ptr, i64)",
}
TID = "%t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()"
BARRIER = "call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)"


def make(body: str, arguments: str = "ptr %p", globals: str = "") -> str:
    """Return a module with the kernel ``k``, which begins with the thread's id as ``%t``."""
    called = set(re.findall(r"@([\w.]+)\(", body))
    declared = [
        f"declare {_DECLARATIONS[name].format(name)}"
        for name in _DECLARATIONS
        if name in called | {"llvm.nvvm.read.ptx.sreg.tid.x"}
    ]
    return "\n".join(
        [
            'target triple = "nvptx64-nvidia-cuda"',
            *declared,
            globals,
            f"define ptx_kernel void @k({arguments}) {{",
            f"  {TID}",
            body,
            "}",
            "",
        ]
    )


def verdict(text: str, block: int = 64, grid: int = 1) -> str:
    """Return what is proved of the only kernel."""
    (kernel,) = pipeline.check(text, block=block, grid=grid).kernels
    return kernel.verdict


def emulate(
    text: str, *values: object, block: int = 64, grid: int = 1, options: Options | None = None
) -> pipeline.Report:
    """Run the only kernel with checks for races."""
    module = pipeline.compile(text, block=block, grid=grid, verify=False, until="llvm")
    (kernel,) = module.kernels.values()
    return kernel.emulate(
        *values, grid=grid, block=block, options=options or Options(check="races")
    )
