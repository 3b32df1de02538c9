"""Functions whose host reads memory: run while they are interpreted, and not kept."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...errors import AccessError
from .program import Fresh, Program, Result
from .results import Part
from .steps import Functions, make_steps

if TYPE_CHECKING:
    from ..host.memory import Memory
    from .backend import Backend
    from .calls import Call
    from .machine import Recorder


class DirectRun:
    """Does what a recorder has recorded so far, each time that memory is read."""

    def __init__(
        self, backend: Backend, made: Call, functions: Functions, constants: Mapping[int, int]
    ) -> None:
        self._backend = backend
        self._call = made
        self._functions = functions
        self._constants = constants
        self._addresses: list[int] = []
        self._owned: list[int] = []
        self._done = 0
        self.has_begun = False

    def read(self, recorder: Recorder, memory: Memory) -> bytes:
        """Return the bytes of memory from its first element to its last, after what is recorded."""
        driver, stream = self._backend.driver, self._call.stream
        self._advance(recorder)
        if 0 in memory.shape:
            driver.synchronize(stream)
            return b""
        low, high = memory.array.bounds
        first = memory.buffer.address + memory.buffer.lead * memory.itemsize
        start = self._addresses[memory.buffer.number] + low - first
        data = ctypes.create_string_buffer(high - low)
        driver.download(ctypes.addressof(data), start, high - low, stream)
        driver.synchronize(stream)
        return data.raw

    def _advance(self, recorder: Recorder) -> None:
        if not self.has_begun:
            if self._backend.driver.is_capturing(self._call.stream):
                raise AccessError(
                    "error: a CUDA graph is being captured, and the host reads memory that kernels "
                    "write: what it reads would not be in the graph"
                )
            self.has_begun = True
            self._call.start(None)
            self._addresses = list(self._call.addresses)
        for number in range(len(self._addresses), recorder.argument_count + len(recorder.rooms)):
            self._addresses.append(self._place(recorder, number - recorder.argument_count))
        waiting = recorder.actions[self._done :]
        self._done = len(recorder.actions)
        with self._backend.queueing:
            for step in make_steps(self._backend.driver, self._functions, waiting):
                step.queue(self._addresses, self._call.numbers, self._call.stream)

    def _place(self, recorder: Recorder, room: int) -> int:
        size, *_, data = recorder.rooms[room]
        if data >= 0:
            return self._constants.get(data, 0)
        address = self._backend.driver.allocate(max(size, 1), self._call.stream)
        self._owned.append(address)
        recorder.buffers[room].address = address
        return address

    def finish(self, recorder: Recorder, results: Sequence[Result]) -> tuple[Any, ...]:
        """Do the rest, and return the results, which are copies of what was allocated."""
        self._advance(recorder)
        return self._give(recorder, results)

    def _give(self, recorder: Recorder, results: Sequence[Result]) -> tuple[Any, ...]:
        call, count = self._call, recorder.argument_count
        returned = {result.room for result in results if isinstance(result, Part)}
        rooms = {number: recorder.rooms[number - count] for number in returned if number >= count}
        fresh = tuple(Fresh(n, room.shape, room.element_type) for n, room in rooms.items())
        program = Program((), (), (), 0, fresh, tuple(results))
        library = call.library if returned else None
        made: dict[int, Any] = {}
        if library is not None:
            addresses = list(self._addresses)
            made = program.make_fresh(addresses, library)
            for number, room in rooms.items():
                if room.bytes:
                    source = self._addresses[number]
                    self._backend.driver.copy(addresses[number], source, room.bytes, call.stream)
        values = [value.given for value in call.values]
        return program.give(values, made, call.numbers, None if library is None else library.cut)

    def free(self) -> None:
        """Give back what was allocated, behind the work that uses it."""
        owned, self._owned = self._owned, []
        if owned:
            self._backend.free(owned, self._call.stream)
