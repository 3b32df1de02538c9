"""A function of a plan as what a GPU has to do for it: recorded for arguments of some shapes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ...errors import ArgumentError, KindError, UsageError
from ...records.scalars import element_bytes
from ..arguments import Value, evaluate, tensor_layout
from ..arrays import count
from ..host.launching import make_values
from ..host.machine import Token
from ..host.memory import Buffer, Memory
from ..host.numbers import from_bits
from ..tensor_maps import make_request
from .actions import Action, Launch, Map, Place, Scalar
from .copies import copy_actions, fill_actions

if TYPE_CHECKING:
    from ...diagnostics import Location
    from ...records.signature import Part, Signature
    from ..host.plan import Plan, Step
    from ..sizes import LaunchSizes

_MAX_BYTES = 1 << 46
_PARAMETER_BYTES = 8


class Room(NamedTuple):
    """Memory that a call takes besides its arguments.

    ``data`` is the number of the constant of the program that it is, or -1. ``element_type`` and
    ``shape`` are those of what was allocated.
    """

    bytes: int
    element_type: str
    shape: tuple[int, ...]
    data: int = -1


class Recorder:
    """A machine that keeps what it is told to do.

    ``actions`` are what it was told, in order, ``rooms`` the buffers behind the ``arguments``, by
    number. ``shaping`` are the arguments that something was computed from: what was recorded holds
    for calls with the same numbers there. ``read`` is asked for what the host reads of memory: it
    has all actions so far done, and returns the bytes from the first element to the last.
    """

    def __init__(
        self,
        plan: Plan,
        kernels: Mapping[str, Signature],
        device: int,
        arguments: int,
        read: Callable[[Recorder, Memory], bytes],
    ) -> None:
        self.actions: list[Action] = []
        self.rooms: list[Room] = []
        self.buffers: list[Buffer] = []
        self.shaping: set[int] = set()
        self.argument_count = arguments
        self._plan = plan
        self._kernels = kernels
        self._device = device
        self._read = read
        self._globals: dict[int, Memory] = {}

    def number(self, token: Token) -> Any:
        """Return the number that an argument is, which from now on is one of these calls."""
        self.shaping.add(token.index)
        return from_bits(token.element_type, int.from_bytes(token.bytes, "little"))

    # Memory.

    def allocate(self, element_type: str, shape: Sequence[int], location: Location) -> Memory:
        """Return memory that a call is going to have."""
        return self._add(element_type, tuple(shape), location)

    def _add(
        self, element_type: str, shape: tuple[int, ...], location: Location, data: int = -1
    ) -> Memory:
        size = element_bytes(element_type)
        if size is None:
            raise UsageError(f"{location}: error: there is no memory of {element_type}")
        total = count(shape) * size
        if total > _MAX_BYTES:
            raise UsageError(f"{location}: error: no memory of shape {shape}")
        buffer = self.add_room(Room(total, element_type, shape, data))
        return Memory.of_buffer(buffer, shape, element_type, size)

    def add_room(self, room: Room) -> Buffer:
        """Return a buffer of memory that a call is going to have besides what there is so far."""
        number = self.argument_count + len(self.rooms)
        buffer = Buffer(number, 0, count(room.shape), device=self._device)
        self.rooms.append(room)
        self.buffers.append(buffer)
        return buffer

    def data(self, number: int, location: Location) -> Memory:
        """Return memory of the program."""
        if number not in self._globals:
            self._globals[number] = self._make_data(number, location)
        return self._globals[number]

    def _make_data(self, number: int, location: Location) -> Memory:
        """Return a constant, or memory that begins as its image says."""
        data = self._plan.data[number]
        if data.mutable and data.elements is None:
            return self._add(data.dtype, data.shape, location)
        image = self._add(data.dtype, data.shape, location, number)
        image.buffer.read_only = "a constant"
        if not data.mutable:
            return image
        memory = self._add(data.dtype, data.shape, location)
        self.copy(image, memory, location)
        return memory

    def copy(self, source: Memory, target: Memory, location: Location) -> None:
        """Record a copy."""
        self.actions += copy_actions(source, target, location)

    def fill(self, target: Memory, pattern: bytes, location: Location) -> None:
        """Record that elements are written."""
        self.actions += fill_actions(target, pattern, location)

    def read(self, memory: Memory, location: Location) -> Any:
        """Return the elements as they are when all before is done."""
        import numpy as np

        from ..host.plan import dtype_of

        dtype = dtype_of(memory.element_type)
        if 0 in memory.shape:
            return np.empty(memory.shape, dtype)
        array = memory.array
        strides = [stride * array.itemsize for stride in array.strides]
        start = array.address - array.bounds[0]
        return np.ndarray(memory.shape, dtype, self._read(self, memory), start, strides)

    def load(self, element: Memory, location: Location) -> bytes:
        """Return an element as it is when all before is done."""
        return self._read(self, element)

    def print(self, text: str, location: Location) -> None:
        """Print, after what the kernels before print."""
        self._read(self, Memory.of_buffer(Buffer(-1, 0, 0), (0,), "i8", 1))
        print(text, end="")

    # Launches.

    def launch(self, number: int, sizes: LaunchSizes, operands: Sequence[Any], step: Step) -> None:
        """Check and record a launch."""
        if 0 in sizes.grid:
            return
        kernel = self._kernels[self._plan.kernels[number]]
        values = make_values(kernel, operands, step.location)
        self.launch_kernel(kernel, sizes, values, step.location)

    def launch_kernel(
        self,
        kernel: Signature,
        sizes: LaunchSizes,
        values: Sequence[Value],
        location: Location | None = None,
    ) -> None:
        """Check and record a launch of a kernel on values that were given memory or tokens."""
        where = f"{location}: " if location is not None and location.line else ""
        fault = sizes.find_fault(kernel) or _find_cluster_fault(sizes)
        if fault:
            raise UsageError(f"{where}error: kernel '{kernel.name}' is launched with {fault}")
        try:
            parameters = tuple(
                _parameter(values[part.argument], part, result)
                for part, result in evaluate(kernel, values)
            )
        except ArgumentError as error:
            if not where:
                raise
            reason = str(error).removeprefix("error: ")
            raise UsageError(
                f"{where}error: kernel '{kernel.name}' cannot be launched: {reason}"
            ) from error
        self.actions.append(Launch(kernel.name, sizes, parameters, location))


def _find_cluster_fault(sizes: LaunchSizes) -> str:
    cluster = sizes.cluster
    if cluster is None:
        return ""
    if any(blocks % part for blocks, part in zip(sizes.grid, cluster, strict=True)):
        return f"a grid of {sizes.grid}, which is no multiple of its clusters of {cluster} blocks"
    if cluster[0] * cluster[1] * cluster[2] > 16:
        return f"clusters of {cluster} blocks, but a GPU takes at most 16"
    return ""


def _parameter(value: Value, part: Part, result: int | bytes) -> Place | Scalar | Map | bytes:
    source = value.given
    if len(value.bytes) > _PARAMETER_BYTES:
        raise KindError(
            f"error: argument {part.argument} is of {value.argument.type}, whose numbers have more "
            f"than {_PARAMETER_BYTES} bytes: hand it over in memory",
            part.argument,
        )
    if isinstance(source, Token) and source.index >= 0:
        return Scalar(source.index)
    if isinstance(result, bytes):
        return result
    array = value.view
    if part.kind not in ("pointer", "tensormap") or array is None:
        return result.to_bytes(8, "little", signed=True)
    assert isinstance(source, Memory)
    # Where the array is, and from there, where the kernel begins to count.
    distance = (source.offset - source.buffer.lead) * array.itemsize
    place = Place(source.buffer.number, distance + result)
    if part.kind == "pointer":
        return place
    tensor_map = value.argument.tensor_map
    assert tensor_map is not None
    layout = tensor_layout(array)
    return Map(place, make_request(layout, tensor_map, f"argument {part.argument}"))


__all__ = ["Recorder", "Room"]
