"""Actions as the driver is told to do them, again and again: only addresses and numbers change."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from .actions import Action, Copy, Fill, Launch, Map, Place, Scalar
from .tensor_maps import TENSOR_MAP_BYTES

if TYPE_CHECKING:
    from ...records.findings import Dim3
    from ..tensor_maps import TensorMapRequest
    from .code import DeviceCode
    from .driver import Driver

_MAP_ALIGNMENT = 64
_MAX_KNOWN_MAPS = 64


class Step(Protocol):
    """Something that is queued on a stream."""

    def queue(self, addresses: Sequence[int], numbers: Sequence[int], stream: int) -> None:
        """Queue it: `addresses` are those of the buffers, `numbers` the bits of arguments."""


class Functions(NamedTuple):
    """The kernels of a module on one device, and their numbers by their names."""

    code: DeviceCode
    numbers: Mapping[str, int]

    def get(self, name: str, shared_bytes: int, cluster: Dim3 | None) -> int:
        """Return a kernel that may be launched with so much memory, in such clusters.

        Raises DeviceError if the device does not have them.
        """
        return self.code.prepare(self.numbers[name], shared_bytes, cluster)


def make_steps(driver: Driver, functions: Functions, actions: Sequence[Action]) -> list[Step]:
    """Return actions as steps on the device of `functions`, which is current."""
    return [_make_step(driver, functions, action) for action in actions]


def _make_step(driver: Driver, functions: Functions, action: Action) -> Step:
    if isinstance(action, Copy):
        return _CopyStep(driver, action)
    if isinstance(action, Fill):
        return _FillStep(driver, action)
    return _LaunchStep(driver, functions, action)


class _CopyStep:
    def __init__(self, driver: Driver, action: Copy) -> None:
        self._driver = driver
        self._action = action

    def queue(self, addresses: Sequence[int], numbers: Sequence[int], stream: int) -> None:
        """Copy rows, or all bytes if they are contiguous."""
        (room, offset), (source_room, source_offset), width, height, pitch, source_pitch = (
            self._action
        )
        target = addresses[room] + offset
        source = addresses[source_room] + source_offset
        if height == 1:
            self._driver.copy(target, source, width, stream)
        else:
            self._driver.copy_2d(target, pitch, source, source_pitch, width, height, stream)


class _FillStep:
    def __init__(self, driver: Driver, action: Fill) -> None:
        self._driver = driver
        self._action = action

    def queue(self, addresses: Sequence[int], numbers: Sequence[int], stream: int) -> None:
        """Write elements."""
        (room, offset), pattern, length = self._action
        self._driver.fill(addresses[room] + offset, pattern, length, stream)


class _MapSlot:
    """A tensor map among the parameters; those of known addresses are not encoded again."""

    def __init__(self, driver: Driver, value: Map, address: int) -> None:
        self._driver = driver
        self._room, self._offset = value.place
        self._request: TensorMapRequest = value.request
        self._address = address
        self._known: dict[int, bytes] = {}

    def write(self, addresses: Sequence[int]) -> None:
        """Write the map of where the tensor is now."""
        start = addresses[self._room] + self._offset
        image = self._known.get(start)
        if image is None:
            image = self._driver.encode_tensor_map(self._request, start)
            if len(self._known) == _MAX_KNOWN_MAPS:
                self._known.clear()
            self._known[start] = image
        ctypes.memmove(self._address, image, TENSOR_MAP_BYTES)


class _LaunchStep:
    """A launch, with the memory that its parameters are handed over in.

    Each parameter has 8 bytes, tensor maps 128 of their own.
    """

    __slots__ = ("_launch", "_maps", "_memory", "_pointers", "_scalars", "_slots")

    def __init__(self, driver: Driver, functions: Functions, action: Launch) -> None:
        parameters, sizes = action.parameters, action.sizes
        number = max(len(parameters), 1)
        slots = (ctypes.c_uint64 * number)()
        start = ctypes.addressof(slots)
        table = (ctypes.c_void_p * number)(*(start + 8 * slot for slot in range(number)))
        maps = [slot for slot, value in enumerate(parameters) if isinstance(value, Map)]
        room = ctypes.create_string_buffer(TENSOR_MAP_BYTES * len(maps) + _MAP_ALIGNMENT)
        at = -(-ctypes.addressof(room) // _MAP_ALIGNMENT) * _MAP_ALIGNMENT
        self._memory = (slots, table, room)
        self._slots = memoryview(slots).cast("B").cast("Q")
        self._pointers: list[tuple[int, int, int]] = []
        self._scalars: list[tuple[int, int]] = []
        self._maps: list[_MapSlot] = []
        for slot, value in enumerate(parameters):
            if isinstance(value, Place):
                self._pointers.append((slot, *value))
            elif isinstance(value, Scalar):
                self._scalars.append((slot, value.argument))
            elif isinstance(value, Map):
                table[slot] = at
                self._maps.append(_MapSlot(driver, value, at))
                at += TENSOR_MAP_BYTES
            else:
                self._slots[slot] = int.from_bytes(value, "little")
        shared, cluster = sizes.dynamic_shared_bytes, sizes.cluster
        self._launch = driver.prepare(
            functions.get(action.kernel, shared, cluster),
            sizes.grid,
            sizes.block,
            cluster,
            shared,
            ctypes.addressof(table),
        )

    def queue(self, addresses: Sequence[int], numbers: Sequence[int], stream: int) -> None:
        """Launch with these addresses and numbers."""
        slots = self._slots
        for slot, room, offset in self._pointers:
            slots[slot] = addresses[room] + offset
        for slot, index in self._scalars:
            slots[slot] = numbers[index]
        for tensor_map in self._maps:
            tensor_map.write(addresses)
        self._launch.call(stream)
