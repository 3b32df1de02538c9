"""Launch a compiled kernel on the PTX interpreter."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

import pipeline
from support import ptx_interpreter

Array = npt.NDArray[Any]
Dim3 = tuple[int, int, int]


def parameters_of(kernel: pipeline.Kernel, arguments: Sequence[Array | int]) -> list[Array | int]:
    """Return what the PTX takes for the kernel's arguments, and check what it takes twice."""
    values: list[Array | int] = []
    for parameter in kernel.parameters:
        parts = [_part_of(arguments[part.argument], part) for part in parameter.parts]
        assert all(part is parts[0] or part == parts[0] for part in parts), parameter
        values.append(parts[0])
    return values


def _part_of(argument: Array | int, part: pipeline.Part) -> Array | int:
    if part.kind in ("value", "pointer"):
        return argument
    assert isinstance(argument, np.ndarray)
    if part.kind == "extent":
        return int(argument.shape[part.dim])
    if part.kind == "stride":
        return int(argument.strides[part.dim] // argument.itemsize)
    return 0


def launch(
    module: pipeline.Module,
    arguments: Sequence[Array | int],
    *,
    name: str | None = None,
    grid: Dim3 | None = None,
    block: Dim3 | None = None,
    blocks: Iterable[Dim3] | None = None,
) -> int:
    """Run one kernel in place and return the number of barriers that its blocks executed."""
    kernel = module.kernels[name or next(iter(module.kernels))]
    grid, block = grid or kernel.grid, block or kernel.block
    assert grid is not None
    assert block is not None
    return ptx_interpreter.run(
        ptx_interpreter.parse(module.ptx)[kernel.name],
        parameters_of(kernel, arguments),
        grid=grid,
        block=block,
        blocks=blocks,
        dynamic_bytes=kernel.dynamic_shared_bytes or 0,
    )
