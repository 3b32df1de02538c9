"""What launches know of kernels, as a document: signatures, sizes, host functions, memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..diagnostics import Location
from ..documents.reading import Offence, read_json, write_json
from ..documents.schema import Choice, Fields, Integer, Items, OrNull, Row, Schema, Text, Truth
from ..records.kernel import KernelRecord
from ..records.memory import BufferPlacement, WorkgroupMemory
from ..records.signature import Argument, Entry, Parameter, Part, TensorMap

FORMAT = "pipeline-kernels"
VERSION = (1, 0)


class SharedBuffer(NamedTuple):
    """A buffer in workgroup memory, as the emulator names it; see ``_native.SharedBuffer``."""

    symbol: str
    offset: int
    bytes: int
    name: str
    element_type: str
    element_bytes: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    location: Location


@dataclass(frozen=True, slots=True)
class Kernels:
    """What launches know of the kernels of a program.

    ``needs_distinct_arguments``: they were compiled for arguments that do not overlap.
    """

    kernels: tuple[KernelRecord, ...]
    entries: tuple[Entry, ...]
    needs_distinct_arguments: bool
    workgroup_memory: tuple[WorkgroupMemory, ...]
    shared_buffers: tuple[SharedBuffer, ...]

    def write(self) -> bytes:
        """Return the document."""
        fields = {name: _to_json(getattr(self, name)) for name in self.__dataclass_fields__}
        return write_json({"format": FORMAT, "version": list(VERSION), **fields})


def _to_json(value: Any) -> Any:
    """Return what a record, or several of them, is in a document."""
    if isinstance(value, Location):
        return [value.file, value.line, value.column]
    if isinstance(value, KernelRecord):
        return {name: _to_json(part) for name, part in value.known.items()}
    if hasattr(value, "_asdict"):
        return {name: _to_json(part) for name, part in value._asdict().items()}
    if isinstance(value, (list, tuple)):
        return [_to_json(part) for part in value]
    return value


# --- the schema -----------------------------------------------------------------------------------

_NAME = Text(1024, name="a name")
_TYPE = Text(1024, name="the name of a type")
_COUNT = Integer()
_SIZE = OrNull(_COUNT)
_STRIDE = Integer(-(1 << 63))
_DIM3 = Row((Integer(0, (1 << 32) - 1),) * 3)
_MOST_DIMENSIONS = 64


class _Alignment:
    def check(self, value: Any) -> int:
        """Return a power of two. Raises Offence."""
        number = Integer(1, 1 << 30).check(value)
        if number & (number - 1):
            raise Offence(f"is {number}, which is no power of two")
        return number


def _record(make: Callable[..., Any], **fields: Schema) -> Fields:
    return Fields(fields, make=make)


def _make_argument(**fields: Any) -> Argument:
    argument = Argument(**fields)
    if argument.is_memref and len(argument.strides) not in (0, len(argument.shape)):
        raise Offence(f"has {len(argument.strides)} strides, but {len(argument.shape)} extents")
    return argument


_PLACE = Row((Text(name="the name of a file"), _COUNT, _COUNT), Location)
_EXTENTS = Items(_SIZE, most=_MOST_DIMENSIONS)
_TENSOR_MAP = _record(
    TensorMap,
    element_type=Text(64),
    box=Items(Integer(1, 1 << 32), most=5),
    swizzle=Choice.of("none", "swizzle_32b", "swizzle_64b", "swizzle_128b"),
    interleave=Choice.of("none", "interleave_16b", "interleave_32b"),
    l2promo=Choice.of("none", "l2promo_64b", "l2promo_128b", "l2promo_256b"),
    oob=Choice.of("zero", "nan"),
)
_ARGUMENT = _record(
    _make_argument,
    type=_TYPE,
    is_memref=Truth(),
    element_type=Text(64),
    shape=_EXTENTS,
    strides=Items(OrNull(_STRIDE), most=_MOST_DIMENSIONS),
    offset=_SIZE,
    alignment=_Alignment(),
    tensor_map=OrNull(_TENSOR_MAP),
)
_ARGUMENTS = Items(_ARGUMENT, most=4096)
_PART = _record(
    Part,
    kind=Choice.of("value", "pointer", "extent", "stride", "offset", "tensormap"),
    argument=Integer(0, 4095),
    dim=Integer(0, _MOST_DIMENSIONS),
)
_KERNEL = _record(
    KernelRecord,
    name=_NAME,
    arguments=_ARGUMENTS,
    parameters=Items(_record(Parameter, parts=Items(_PART, 1, 4096)), most=4096),
    block=OrNull(_DIM3),
    grid=OrNull(_DIM3),
    cluster=OrNull(_DIM3),
    known_block=OrNull(_DIM3),
    known_grid=OrNull(_DIM3),
    static_shared_bytes=_COUNT,
    dynamic_shared_bytes=_SIZE,
    least_dynamic_shared_bytes=_COUNT,
)
_ENTRY = _record(Entry, name=_NAME, arguments=_ARGUMENTS, written=Items(Truth(), most=4096))
_BUFFER = _record(
    BufferPlacement,
    type=_TYPE,
    bytes=_SIZE,
    alignment=_COUNT,
    offset=_SIZE,
    is_shared=Truth(),
    location=_PLACE,
)
_MEMORY = _record(
    WorkgroupMemory,
    kernel=_NAME,
    static_bytes=_COUNT,
    dynamic_bytes=_COUNT,
    max_bytes=_COUNT,
    is_packed_dynamic=Truth(),
    buffers=Items(_BUFFER),
)
_SHARED_BUFFER = _record(
    SharedBuffer,
    symbol=_NAME,
    offset=_COUNT,
    bytes=_COUNT,
    name=_NAME,
    element_type=Text(64),
    element_bytes=Integer(1),
    shape=Items(_COUNT, most=_MOST_DIMENSIONS),
    strides=Items(_STRIDE, most=_MOST_DIMENSIONS),
    location=_PLACE,
)


def _make(**fields: Any) -> Kernels:
    del fields["format"], fields["version"]  # checked before
    return Kernels(**fields)


_KERNELS = _record(
    _make,
    format=Text(),
    version=Row((_COUNT, _COUNT)),
    kernels=Items(_KERNEL, most=1 << 16),
    entries=Items(_ENTRY, most=1 << 16),
    needs_distinct_arguments=Truth(),
    workgroup_memory=Items(_MEMORY, most=1 << 16),
    shared_buffers=Items(_SHARED_BUFFER, most=1 << 16),
)


def read_kernels(data: bytes) -> Kernels:
    """Return what a document says of kernels. Raises Offence."""
    document = read_json(data)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise Offence(f"it is no document of format {FORMAT}")
    if document.get("version") != list(VERSION):
        raise Offence(f"is not {VERSION[0]}.{VERSION[1]}, the only one that this reads", ".version")
    kernels: Kernels = _KERNELS.check(document)
    _check_names("kernels", kernels.kernels)
    _check_names("entries", kernels.entries)
    for number, kernel in enumerate(kernels.kernels):
        try:
            _check_parameters(kernel)
        except Offence as offence:
            raise offence.within(f".kernels[{number}]") from None
    for number, entry in enumerate(kernels.entries):
        if len(entry.written) != len(entry.arguments):
            raise Offence("has not as many as arguments", f".entries[{number}].written")
    return kernels


def _check_names(field: str, records: Sequence[KernelRecord] | Sequence[Entry]) -> None:
    if len({record.name for record in records}) != len(records):
        raise Offence("has a name twice", f".{field}")


def _takes(argument: Argument, part: Part) -> bool:
    """Tell whether an argument has such a part."""
    if part.kind == "tensormap":
        return argument.tensor_map is not None
    if part.kind == "value":
        return not argument.is_memref and argument.tensor_map is None
    if part.kind in ("extent", "stride"):
        return argument.is_memref and part.dim < len(argument.shape)
    return argument.is_memref


def _check_parameters(kernel: KernelRecord) -> None:
    for number, parameter in enumerate(kernel.parameters):
        for part in parameter.parts:
            is_there = part.argument < len(kernel.arguments)
            if not is_there or not _takes(kernel.arguments[part.argument], part):
                raise Offence(
                    f"is the {part.kind} of what has none, argument {part.argument}",
                    f".parameters[{number}]",
                )
        numbers = ("extent", "stride", "offset")
        kinds = {part.kind if part.kind not in numbers else "" for part in parameter.parts}
        if len(kinds) > 1:
            raise Offence("is a count and something else", f".parameters[{number}]")


def arguments_of(kernels: Kernels) -> Mapping[str, Sequence[Argument]]:
    """Return the arguments of each kernel."""
    return {kernel.name: kernel.arguments for kernel in kernels.kernels}
