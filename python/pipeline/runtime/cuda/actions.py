"""What a GPU does for a call, with buffers by their numbers: addresses come with each call."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ...diagnostics import Location
    from ..sizes import LaunchSizes
    from ..tensor_maps import TensorMapRequest


class Place(NamedTuple):
    """A byte of buffer number ``room``, from its first element on."""

    room: int
    offset: int


class Scalar(NamedTuple):
    """The number that an argument of a call is."""

    argument: int


class Map(NamedTuple):
    """A tensor map of a tensor whose first element is at ``place``."""

    place: Place
    request: TensorMapRequest


class Launch(NamedTuple):
    """A launch of a kernel: what its parameters are, in order; numbers by their bytes."""

    kernel: str
    sizes: LaunchSizes
    parameters: tuple[Place | Scalar | Map | bytes, ...]
    location: Location | None


class Copy(NamedTuple):
    """A copy of ``height`` rows of ``width`` bytes, whose starts are a pitch of bytes apart."""

    target: Place
    source: Place
    width: int
    height: int
    target_pitch: int
    source_pitch: int


class Fill(NamedTuple):
    """``length`` elements of these bytes, one after the other."""

    target: Place
    pattern: bytes
    length: int


Action = Launch | Copy | Fill


def rooms_of(action: Action) -> set[int]:
    """Return which buffers an action reads or writes."""
    if isinstance(action, Copy):
        return {action.target.room, action.source.room}
    if isinstance(action, Fill):
        return {action.target.room}
    rooms = set()
    for parameter in action.parameters:
        if isinstance(parameter, Place):
            rooms.add(parameter.room)
        elif isinstance(parameter, Map):
            rooms.add(parameter.place.room)
    return rooms
