"""Write allocations of random kernels: of static size, and of sizes that a launch gives."""

from __future__ import annotations

from typing import Protocol

from oracles.packing.steps import Buffer


class Body(Protocol):
    """What operations are appended to."""

    allocated: dict[str, str]
    # What slices are of, with its type.
    bases: dict[str, str]

    def emit(self, text: str) -> str:
        """Append an operation with one result and return its name."""

    def constant(self, number: int, kind: str = "index") -> str:
        """Return the name of a constant."""

    def type(self, buffer: Buffer) -> str:
        """Return the type of a buffer."""


def write_alloc(body: Body, buffer: Buffer) -> None:
    """Write an allocation, and the slice of it that is the buffer."""
    stated = f" {{alignment = {buffer.alignment} : i64}}" if buffer.alignment else ""
    size = "" if buffer.extent is None else write_extent(body, buffer)
    if buffer.bound != "slice" or buffer.extent is None:
        name = body.emit(f"memref.alloc({size}){stated} : {body.type(buffer)}")
        body.allocated[buffer.name] = name
        return
    of_slice = body.type(buffer)
    kind = of_slice.replace("?", str(buffer.shape[0])).replace(", strided<[1]>", "")
    base = body.emit(f"memref.alloc(){stated} : {kind}")
    body.bases[buffer.name] = f"{base} : {kind}"
    slice_ = f"memref.subview {base}[0] [{size}] [1] : {kind} to {of_slice}"
    body.allocated[buffer.name] = body.emit(slice_)


def write_extent(body: Body, buffer: Buffer) -> str:
    """Write the size of a buffer at run time."""
    most = buffer.shape[0]
    if buffer.bound == "affine":
        return body.emit(f"affine.min affine_map<(d0) -> (d0, {most})>(%extent)")
    operation = "minui" if buffer.bound == "minui" else "minsi"
    return body.emit(f"arith.{operation} %extent, {body.constant(most)} : index")
