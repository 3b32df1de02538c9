"""What kernels and host functions take: arguments, as their author wrote them, and the PTX's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from ..conversion import counterpart

if TYPE_CHECKING:
    from typing import Protocol

    from .findings import Dim3

    class Limits(Protocol):
        """What GPUs take of a launch."""

        @property
        def grid(self) -> Dim3: ...
        @property
        def block(self) -> Dim3: ...
        @property
        def block_threads(self) -> int: ...


@counterpart("TensorMap")
class TensorMap(NamedTuple):
    """How a kernel wants a tensor map to be made: what one copy moves, and how.

    ``box`` counts elements, innermost dimension first. The rest are MLIR's words: ``swizzle`` is
    none, swizzle_32b, swizzle_64b or swizzle_128b, ``interleave`` none, interleave_16b or
    interleave_32b, ``l2promo`` none, l2promo_64b, l2promo_128b or l2promo_256b, ``oob`` zero or
    nan.
    """

    element_type: str
    box: tuple[int, ...]
    swizzle: str
    interleave: str
    l2promo: str
    oob: str


@counterpart("Argument")
class Argument(NamedTuple):
    """An argument of a kernel as its author wrote it.

    Extents, strides and offset count elements and are None where only the launch knows them;
    ``alignment`` is what the code relies on, in bytes. An argument with a ``tensor_map`` takes an
    array, of which the map is made at the launch. One that is a pointer takes an array of any type
    and shape. A structure that is passed by value, with ``element_type`` ``bytes<N>``, takes its N
    bytes: ``bytes``, or an array or a record of NumPy that has as many.
    """

    type: str
    is_memref: bool
    element_type: str
    shape: tuple[int | None, ...]
    strides: tuple[int | None, ...]
    offset: int | None
    alignment: int
    tensor_map: TensorMap | None = None

    @property
    def is_pointer(self) -> bool:
        """Whether it is a pointer of LLVM, which tells nothing of what it points to."""
        return self.type.startswith("!llvm.ptr")

    @property
    def is_structure(self) -> bool:
        """Whether it is a structure of LLVM, or an array, that is passed by value."""
        return self.type.startswith(("!llvm.struct", "!llvm.array"))

    @property
    def structure_bytes(self) -> int | None:
        """The bytes of a structure that is passed by value; None of others, and of pointers."""
        name = self.element_type
        return int(name[6:-1]) if name.startswith("bytes<") else None


@counterpart("Part")
class Part(NamedTuple):
    """A part of argument number ``argument``: of an extent or stride, that along ``dim``."""

    kind: Literal["value", "pointer", "extent", "stride", "offset", "tensormap"]
    argument: int
    dim: int


@counterpart("Parameter")
class Parameter(NamedTuple):
    """A parameter of the PTX.

    It stands for all of ``parts``, which are equal in every launch of the program.
    """

    parts: tuple[Part, ...]


@counterpart("Entry")
class Entry(NamedTuple):
    """A host function: its arguments, and which of them are memory that it may write to."""

    name: str
    arguments: tuple[Argument, ...]
    written: tuple[bool, ...]


if TYPE_CHECKING:

    class Signature(Protocol):
        """What a launch needs to know of a kernel."""

        @property
        def name(self) -> str: ...
        @property
        def arguments(self) -> tuple[Argument, ...]: ...
        @property
        def parameters(self) -> tuple[Parameter, ...]: ...
        @property
        def cluster(self) -> Dim3 | None: ...
        @property
        def known_block(self) -> Dim3 | None: ...
        @property
        def known_grid(self) -> Dim3 | None: ...
        @property
        def static_shared_bytes(self) -> int: ...
        @property
        def least_dynamic_shared_bytes(self) -> int: ...
        @property
        def limits(self) -> Limits: ...
