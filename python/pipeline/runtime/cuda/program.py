"""A function for arguments of some shapes: all that a GPU does for a call but the addresses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ..host.machine import Token
from ..host.memory import Memory
from ..host.results import make_number, number_of_bytes
from .actions import Action, Copy, Place, rooms_of
from .arena import Buffer, place
from .results import Library, Part
from .steps import Functions, Step, make_steps

if TYPE_CHECKING:
    from .driver import Driver
    from .machine import Recorder


class Given(NamedTuple):
    """A result that is an argument itself."""

    argument: int


class Number(NamedTuple):
    """A result that is a number: ``argument``, of so many bytes, or ``value`` if that is -1."""

    argument: int
    element_type: str
    size: int
    value: Any


Result = Given | Part | Number


def describe_results(
    recorder: Recorder, results: Sequence[Any], kinds: Sequence[str]
) -> tuple[Result, ...]:
    """Return what a function handed on, after it was recorded.

    A constant that is a result is copied: callers may write to what they get.
    """
    return tuple(
        _describe(recorder, result, kind) for result, kind in zip(results, kinds, strict=True)
    )


def _describe(recorder: Recorder, result: Any, kind: str) -> Result:
    if isinstance(result, Token):
        size = len(result.bytes)
        constant = None if result.index >= 0 else number_of_bytes(kind, result.bytes)
        return Number(result.index, kind, size, constant)
    if not isinstance(result, Memory):
        return Number(-1, kind, 0, make_number(kind, result))
    number = result.buffer.number
    if number < recorder.argument_count and result.given is not None:
        return Given(number)
    offset = result.offset - result.buffer.lead
    part = Part(number, offset, result.shape, result.strides, result.element_type)
    if number < recorder.argument_count or not result.buffer.read_only:
        return part
    room = recorder.rooms[number - recorder.argument_count]
    copy = recorder.add_room(room._replace(data=-1)).number
    if room.bytes:
        recorder.actions.append(
            Copy(Place(copy, 0), Place(number, 0), room.bytes, 1, room.bytes, room.bytes)
        )
    return part._replace(room=copy)


class Fresh(NamedTuple):
    """Buffer number ``room``, which a call has its caller's library make."""

    room: int
    shape: tuple[int, ...]
    element_type: str


@dataclass(frozen=True, slots=True)
class Program:
    """What a call does once its addresses are known.

    ``template`` are the addresses of the buffers behind the arguments, as far as they are the same
    in all calls; ``temporaries`` says which are where in an arena of ``arena_bytes``; ``fresh`` are
    made for each call. ``results`` are what the caller gets.
    """

    steps: tuple[Step, ...]
    template: tuple[int, ...]
    temporaries: tuple[tuple[int, int], ...]
    arena_bytes: int
    fresh: tuple[Fresh, ...]
    results: tuple[Result, ...]

    @property
    def needs_library(self) -> bool:
        """Whether results are arrays that are made, or cut from others."""
        return any(isinstance(result, Part) for result in self.results)

    def queue(self, addresses: list[int], numbers: Sequence[int], arena: int, stream: int) -> None:
        """Queue all steps; `addresses` are those of the arguments and of what is fresh."""
        for room, offset in self.temporaries:
            addresses[room] = arena + offset
        for step in self.steps:
            step.queue(addresses, numbers, stream)

    def make_fresh(self, addresses: list[int], library: Library) -> dict[int, Any]:
        """Make the arrays of results, and note their addresses."""
        made: dict[int, Any] = {}
        for room, shape, element_type in self.fresh:
            made[room], addresses[room] = library.make(shape, element_type)
        return made

    def give(
        self, values: Sequence[Any], made: Mapping[int, Any], numbers: Sequence[int], cut: Any
    ) -> tuple[Any, ...]:
        """Return the results, made from the arguments of a call and what is fresh."""
        given: list[Any] = []
        for result in self.results:
            if isinstance(result, Given):
                given.append(values[result.argument])
            elif isinstance(result, Number):
                given.append(_number(result, numbers))
            elif result.room in made and result.is_whole(self._shape(result.room)):
                given.append(made[result.room])
            else:
                base = made.get(result.room)
                given.append(cut(values[result.room] if base is None else base, result))
        return tuple(given)

    def _shape(self, room: int) -> tuple[int, ...]:
        return next(fresh.shape for fresh in self.fresh if fresh.room == room)


def _number(result: Number, numbers: Sequence[int]) -> Any:
    if result.argument < 0:
        return result.value
    data = numbers[result.argument].to_bytes(result.size, "little")
    return number_of_bytes(result.element_type, data)


def build(
    recorder: Recorder,
    results: tuple[Result, ...],
    driver: Driver,
    functions: Functions,
    constants: Mapping[int, int],
) -> Program:
    """Return a program for what was recorded; `constants` has the addresses of the plan's data."""
    count = recorder.argument_count
    returned = {result.room for result in results if isinstance(result, Part)}
    template: list[int] = []
    fresh: list[Fresh] = []
    temporaries: list[tuple[int, Buffer]] = []
    used = _lifetimes(recorder.actions)
    for number, room in enumerate(recorder.rooms, count):
        template.append(constants.get(room.data, 0))
        if number in returned:
            fresh.append(Fresh(number, room.shape, room.element_type))
        elif room.data < 0 and number in used:
            temporaries.append((number, Buffer(room.bytes, *used[number])))
    placement = place([buffer for _, buffer in temporaries])
    return Program(
        tuple(make_steps(driver, functions, recorder.actions)),
        tuple(template),
        tuple(
            (number, offset)
            for (number, _), offset in zip(temporaries, placement.offsets, strict=True)
        ),
        placement.bytes,
        tuple(fresh),
        results,
    )


def _lifetimes(actions: Sequence[Action]) -> dict[int, tuple[int, int]]:
    """Return the first and the last action that uses each buffer."""
    used: dict[int, tuple[int, int]] = {}
    for index, action in enumerate(actions):
        for room in rooms_of(action):
            used[room] = (used.get(room, (index, index))[0], index)
    return used


__all__ = ["Given", "Number", "Program", "Result", "build", "describe_results"]
