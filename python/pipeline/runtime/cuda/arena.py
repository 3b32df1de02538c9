"""Memory for what a program needs while it runs: placed by lifetime, kept from call to call."""

from __future__ import annotations

import bisect
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .driver import Driver

ALIGNMENT = 256
"""What all buffers are aligned to, in bytes."""
_PER_THREAD_STREAM = 2


class Buffer(NamedTuple):
    """Memory that steps ``first`` to ``last`` of a program use, in bytes."""

    bytes: int
    first: int
    last: int


class Placement(NamedTuple):
    """Where buffers lie in an arena of ``bytes``."""

    offsets: tuple[int, ...]
    bytes: int


def place(buffers: Sequence[Buffer]) -> Placement:
    """Place buffers so that none has bytes of another that is used at a step of its own.

    The largest go first, each to the lowest room that fits.
    """
    offsets = [0] * len(buffers)
    placed: list[tuple[int, int, int]] = []
    total = 0
    for number in sorted(range(len(buffers)), key=lambda n: (-buffers[n].bytes, n)):
        size, first, last = buffers[number]
        room = -(-max(size, 1) // ALIGNMENT) * ALIGNMENT
        at = 0
        for offset, end, other in placed:
            if buffers[other].last < first or last < buffers[other].first:
                continue
            if offset - at >= room:
                break
            at = max(at, end)
        bisect.insort(placed, (at, at + room, number))
        offsets[number] = at
        total = max(total, at + room)
    return Placement(tuple(offsets), total)


class _Block(NamedTuple):
    address: int
    bytes: int
    stream_id: int


class Arenas:
    """One growing allocation per GPU and stream, for all programs.

    Work on a stream is in order, so that calls may share it. While a stream is captured, calls get
    memory of their own, as the graph may run beside later calls on the stream; nobody knows for
    how long the graph is kept, so that this memory is never freed.
    """

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._blocks: dict[tuple[int, int, int], _Block] = {}
        self._captured: dict[tuple[int, int, int], _Block] = {}
        self._lock = threading.Lock()

    def reserve(self, device: int, stream: int, size: int) -> int:
        """Return the address of `size` bytes for the work of one call on a stream.

        The context of the GPU has to be current, and the call to be queued before the next one
        reserves memory. Raises DriverError.
        """
        if size <= 0:
            return 0
        driver = self._driver
        with self._lock:
            stream_id = driver.stream_id(stream)
            if driver.is_capturing(stream):
                return self._reserve_captured(device, stream, stream_id, size)
            # A thread's own default stream has the handle of all others.
            key = (device, stream, stream_id if stream == _PER_THREAD_STREAM else 0)
            block = self._blocks.get(key)
            if block is not None and block.stream_id == stream_id and block.bytes >= size:
                return block.address
            return self._grow(key, stream, stream_id, size)

    def _grow(self, key: tuple[int, int, int], stream: int, stream_id: int, size: int) -> int:
        if (block := self._blocks.get(key)) is not None:
            if block.stream_id == stream_id:
                self._driver.free(block.address, stream)
            else:
                # Another stream had this handle and is gone; its work may still run.
                self._driver.free_and_wait(block.address)
            del self._blocks[key]
        address = self._driver.allocate(size, stream)
        self._blocks[key] = _Block(address, size, stream_id)
        return address

    def _reserve_captured(self, device: int, stream: int, stream_id: int, size: int) -> int:
        key = (device, self._driver.capture_id(stream), stream_id)
        block = self._captured.get(key)
        if block is None or block.bytes < size:
            block = _Block(self._driver.allocate_for_graph(size), size, stream_id)
            self._captured[key] = block
        return block.address

    def release(self) -> None:
        """Free what no graph holds. No call may be under way."""
        with self._lock:
            for key, block in list(self._blocks.items()):
                token = self._driver.enter(key[0])
                try:
                    self._driver.free_and_wait(block.address)
                    del self._blocks[key]
                finally:
                    self._driver.leave(token)


__all__ = ["ALIGNMENT", "Arenas", "Buffer", "Placement", "place"]
