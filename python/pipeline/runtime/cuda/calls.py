"""One call of a function: its arrays where a GPU reaches them, and back where they are from."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from ...errors import Error, LayoutError
from ...records.scalars import element_bytes
from ..arguments import Value, describe_misaligned
from ..arrays import ArrayView, count
from ..host_arrays import as_numpy, empty, hand_over, write_back
from .arena import ALIGNMENT
from .results import Library, Part, library_like, no_library
from .streams import current_stream, keep_until_done
from .versions import bump_version

if TYPE_CHECKING:
    from .backend import Backend
    from .program import Program
    from .streams import CallStream

_NOWHERE = 1 << 40
"""Where arrays of the host are said to be until it is known: aligned as they are going to be."""


class Call(Protocol):
    """A call on a GPU: ``addresses`` of its arguments, on ``stream`` of ``device``.

    ``values`` are its arguments as they are to be recorded, ``numbers`` the bits of numbers among
    them.
    """

    device: int
    stream: int
    values: list[Value]
    addresses: list[int]
    numbers: list[int]
    shares_arena: ClassVar[bool]
    """Whether other calls on the stream may be under way, with which it shares an arena."""

    def start(self, program: Program | None) -> int:
        """Have the arguments where the GPU reaches them; return where a program's arena is."""

    @property
    def library(self) -> Library:
        """What makes results."""

    def finish(self, written: Sequence[bool]) -> None:
        """Have what was written where the caller looks for it."""


def _numbers(values: Sequence[Value]) -> list[int]:
    return [int.from_bytes(value.bytes, "little") for value in values]


class DeviceCall:
    """A call on arrays of one GPU, which are used in place on the caller's stream."""

    shares_arena: ClassVar[bool] = True

    def __init__(
        self,
        backend: Backend,
        values: Sequence[Value],
        device: int,
        stream: CallStream,
    ) -> None:
        self._backend = backend
        self.is_current_stream = stream.is_current
        self.device = device
        self.stream = stream.handle
        self.values = list(values)
        self._results: list[ArrayView] = []
        self.addresses = [0 if value.view is None else value.view.address for value in values]
        self.numbers = _numbers(values)

    def start(self, program: Program | None) -> int:
        """Wait for streams that arguments come with; return where a program's arena is."""
        for value in self.values:
            if value.view is not None and value.view.ready not in (0, self.stream):
                self._backend.wait_for(value.view.ready, self.stream)
        size = 0 if program is None else program.arena_bytes
        return self._backend.arena(self.device, self.stream, size)

    @property
    def library(self) -> Library:
        """What makes results: that of the first array."""
        arrays = self._arrays
        if not arrays:
            return no_library()
        make, cut = library_like(arrays[0])

        def make_here(shape: tuple[int, ...], element_type: str) -> tuple[Any, int]:
            array, address = make(shape, element_type)
            if not self._results:
                self._follow(arrays[0].library)
            self._results.append(arrays[0]._replace(owner=array))
            return array, address

        return Library(make_here, cut)

    def _follow(self, library: str) -> None:
        """Wait for what a library does on its stream: what it makes may be of memory used there."""
        driver = self._backend.driver
        if not self.is_current_stream and not driver.is_capturing(self.stream):
            self._backend.wait_for(current_stream(library, self.device), self.stream)

    @property
    def _arrays(self) -> list[ArrayView]:
        return [value.view for value in self.values if value.view is not None]

    def finish(self, written: Sequence[bool]) -> None:
        """Tell libraries what they cannot know of their arrays."""
        for value, is_written in zip(self.values, written, strict=True):
            if is_written and value.view is not None:
                bump_version(value.view.library, value.given)
        if not self.is_current_stream:
            arrays = [*self._arrays, *self._results]
            keep_until_done(self._backend.driver, arrays, self.stream, self.device)


class HostCall:
    """A call on arrays of the host: copied to a GPU, and back if they are written.

    Each lies in the arena with its strides, and where its memory starts is aligned. Those that
    share memory, of which some is written, share it there as well. Raises LayoutError if they
    cannot, as where they start is not aligned.
    """

    shares_arena: ClassVar[bool] = False

    def __init__(
        self,
        backend: Backend,
        values: Sequence[Value],
        written: Sequence[bool],
        device: int,
        stream: int,
    ) -> None:
        self._backend = backend
        self._given = values
        self.device = device
        self.stream = stream
        self.numbers = _numbers(values)
        self._shared = _find_shared(values, written)
        self._offsets, self._bytes = _lay_out(values, self._shared)
        self.values = [
            value if value.view is None else _move(value, _NOWHERE + offset)
            for value, offset in zip(values, self._offsets, strict=True)
        ]
        self.addresses = [0] * len(values)
        self._next = 0
        self._end = 0
        self._fresh: list[tuple[ArrayView, int]] = []
        self._owned: list[int] = []
        self._is_under_way = False

    def start(self, program: Program | None) -> int:
        """Copy the arguments to the arena; return where in it that of a program is."""
        size = self._bytes
        temporaries = 0 if program is None else round_up(program.arena_bytes)
        results = 0
        if program is not None:
            results = sum(round_up(_size(*fresh[1:])) for fresh in program.fresh)
        base = self._backend.arena(self.device, self.stream, size + temporaries + results)
        self._is_under_way = True
        done: set[int] = set()
        for index, value in enumerate(self._given):
            array = value.view
            if array is None:
                continue
            address = self.addresses[index] = base + self._offsets[index]
            low, high = self._shared.get(index, array.bounds)
            target = address + low - array.address
            if low != high and target not in done:
                done.add(target)
                self._backend.driver.upload(target, low, high - low, self.stream)
        self._next = base + size + temporaries
        self._end = self._next + results
        return base + size

    @property
    def library(self) -> Library:
        """What makes results: memory of the host, and beside it, some of the GPU."""
        return Library(self._make, _cut)

    def _make(self, shape: tuple[int, ...], element_type: str) -> tuple[Any, int]:
        size = element_bytes(element_type)
        assert size is not None
        array = empty(shape, element_type, size)
        address = self._next
        self._next += round_up(_size(shape, element_type))
        if self._next > self._end:  # a function that was not recorded before it was started
            address = self._backend.driver.allocate(_size(shape, element_type) or 1, self.stream)
            self._owned.append(address)
        self._fresh.append((array, address))
        library = next((v.view.library for v in self._given if v.view is not None), "numpy")
        return hand_over(as_numpy(array, element_type), library), address

    def close(self) -> None:
        """Give back what was allocated for this call alone.

        If the call has failed, wait for copies under way: the caller may write to the arrays next.
        """
        if self._is_under_way:
            with suppress(Error):  # what went wrong first is told
                self._backend.driver.synchronize(self.stream)
        if self._owned:
            self._backend.free(self._owned, self.stream)

    def finish(self, written: Sequence[bool]) -> None:
        """Copy what was written, and results, to the host, and wait for it."""
        driver, copies = self._backend.driver, []
        for index, (value, is_written) in enumerate(zip(self._given, written, strict=True)):
            array = value.view
            if array is None or not is_written or 0 in array.shape:
                continue
            if array.is_contiguous:
                low, high = array.bounds
                driver.download(low, self.addresses[index], high - low, self.stream)
                continue
            # What lies between the elements is not to be written.
            low, high = array.bounds
            memory = (ctypes.c_char * (high - low))()
            start = ctypes.addressof(memory)
            source = self.addresses[index] + low - array.address
            driver.download(start, source, high - low, self.stream)
            copy = array._replace(address=start + array.address - low, owner=memory)
            copies.append((copy, array))
        for array, address in self._fresh:
            low, high = array.bounds
            if low != high:
                driver.download(low, address, high - low, self.stream)
        driver.synchronize(self.stream)
        self._is_under_way = False
        for copy, array in copies:
            write_back(copy, array)


def _find_shared(values: Sequence[Value], written: Sequence[bool]) -> dict[int, tuple[int, int]]:
    """Return the ranges of bytes of arrays that share memory, some of which is written.

    Each has that of all arrays that its own is joined with.
    """
    ranges = sorted(
        (*array.bounds, index)
        for index, value in enumerate(values)
        if (array := value.view) is not None and 0 not in array.shape
    )
    groups: list[tuple[int, int, list[int]]] = []
    for low, high, index in ranges:
        if groups and low < groups[-1][1]:
            first, end, members = groups.pop()
            groups.append((first, max(end, high), [*members, index]))
        else:
            groups.append((low, high, [index]))
    shared = {
        index: (low, high)
        for low, high, members in groups
        if len(members) > 1 and any(written[member] for member in members)
        for index in members
    }
    for index in sorted(shared):
        if not values[index].is_aligned:
            start = describe_misaligned(values[index], index)
            raise LayoutError(f"{start}, and overlaps another argument: pass copies", index)
    return shared


def _lay_out(
    values: Sequence[Value], shared: Mapping[int, tuple[int, int]]
) -> tuple[list[int], int]:
    """Return where the first element of each array lies in an arena, and the arena's bytes."""
    offsets, at = [], 0
    places: dict[tuple[int, int], int] = {}
    for index, value in enumerate(values):
        array = value.view
        if array is None:
            offsets.append(0)
            continue
        if (region := shared.get(index)) is not None:
            low, high = region
            if region not in places:
                # Each is aligned as it is on the host.
                places[region] = at + low % ALIGNMENT
                at = round_up(places[region] + high - low)
            offsets.append(places[region] + array.address - low)
            continue
        low, high = array.bounds
        before = round_up(array.address - low)
        lead = value.lead * array.itemsize % ALIGNMENT
        offsets.append(at + before + lead)
        # An array without elements has a place, too.
        at = round_up(at + before + lead + max(high - array.address, 1))
    return offsets, at


def _move(value: Value, address: int) -> Value:
    assert value.view is not None
    return Value(
        value.argument,
        value.view._replace(address=address),
        value.bytes,
        value.offset,
        value.given,
    )


def round_up(size: int) -> int:
    """Return the next multiple of what buffers are aligned to."""
    return -(-size // ALIGNMENT) * ALIGNMENT


def _size(shape: tuple[int, ...], element_type: str) -> int:
    return count(shape) * (element_bytes(element_type) or 0)


def _cut(array: Any, part: Part) -> Any:
    """Return part of an array of the host, of NumPy or PyTorch."""
    if hasattr(array, "as_strided"):
        return array.as_strided(part.shape, part.strides, array.storage_offset() + part.offset)
    from ..arrays import view

    whole = view(array, 0)
    return as_numpy(
        whole._replace(
            address=whole.address + part.offset * whole.itemsize,
            shape=part.shape,
            strides=part.strides,
        ),
        part.element_type,
    )


__all__ = ["Call", "DeviceCall", "HostCall"]
