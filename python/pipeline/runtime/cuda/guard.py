"""Calls like one before: a few comparisons, and what that call did, with other addresses.

A guard knows one call that went well. It takes calls that are alike, and leaves all others to the
checks, which know what to say.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ...records.scalars import integer_limits, packed_float
from ..arguments import Value
from ..arrays import bounds_of
from .results import Part, library_like
from .streams import check_stream, find_current_stream, keep_until_done, read_stream

if TYPE_CHECKING:
    from .backend import Backend
    from .calls import DeviceCall
    from .program import Program

Guard = Callable[[tuple[Any, ...], Any], tuple[Any, ...] | None]
"""Takes the arguments of a call and the caller's stream, None for the current one of the arrays'
library; returns the call's results, or None and has done nothing."""

_TORCH, _CUPY = "torch", "cupy"
_WHOLE = (int, bool)
_NUMBERS = (float, int, bool)


class Rules(NamedTuple):
    """What holds of all calls of a function.

    ``written`` are the arguments that it may write to, ``shaping`` those that are numbers which
    what it does depends on. ``address_mask`` has the bits of addresses that tell how they are
    aligned.
    """

    written: Sequence[bool]
    shaping: Sequence[int]
    needs_distinct_arguments: bool
    address_mask: int


class _Array(NamedTuple):
    """What an array has to be like: an argument, with ``low`` bits of its address.

    Strides and device are as its library has them.
    """

    argument: int
    kind: Any
    dtype: Any
    shape: Any
    strides: tuple[int, ...]
    device: Any
    low: int
    is_empty: bool


class _Pair(NamedTuple):
    """Two arrays that must not overlap, and how far each reaches from its address."""

    first: int
    first_low: int
    first_high: int
    second: int
    second_low: int
    second_high: int


def make_guard(rules: Rules, backend: Backend, call: DeviceCall, program: Program) -> Guard | None:
    """Return a guard for calls like this one; None if they cannot be told so easily."""
    values = call.values
    arrays = [value.view for value in values if value.view is not None]
    libraries = {array.library for array in arrays}
    if libraries not in ({_TORCH}, {_CUPY}):
        return None
    if any(a.dtype.startswith("complex") for a in arrays):
        return None  # a view that conjugates differs in nothing that is compared
    is_cut = any(isinstance(r, Part) and r.room < len(values) for r in program.results)
    packers = [_make_packer(rules, index, value) for index, value in enumerate(values)]
    if is_cut or any(
        packer is None for packer, value in zip(packers, values, strict=True) if value.view is None
    ):
        return None
    mask = rules.address_mask
    wanted = [_describe(index, value, mask) for index, value in enumerate(values) if value.view]
    pairs = _pairs(values, rules.written) if rules.needs_distinct_arguments else []
    scalars = [(index, packer) for index, packer in enumerate(packers) if packer is not None]
    template = [0] * len(values) + list(program.template)
    find = (_find_tensors if libraries == {_TORCH} else _find_cupy)(template, wanted, mask)
    return _bind(rules, backend, call, program, find, pairs, scalars)


def _describe(index: int, value: Value, mask: int) -> _Array:
    view = value.view
    assert view is not None
    array = view.owner
    is_torch = view.library == _TORCH
    return _Array(
        index,
        type(array),
        array.dtype,
        array.shape,
        array.stride() if is_torch else array.strides,
        array.device if is_torch else array.device.id,
        view.address & mask,
        0 in view.shape,
    )


def _pairs(values: Sequence[Value], written: Sequence[bool]) -> list[_Pair]:
    reach = {
        index: bounds_of(0, array.shape, array.strides, array.itemsize)
        for index, value in enumerate(values)
        if (array := value.view) is not None
        and value.argument.tensor_map is None
        and 0 not in array.shape
    }
    return [
        _Pair(first, *reach[first], second, *reach[second])
        for first in reach
        for second in reach
        if second < first and (written[first] or written[second])
    ]


def _make_packer(rules: Rules, index: int, value: Value) -> Callable[[Any], int] | None:
    """Return what makes the bits of a number; it raises an error for one that it does not take."""
    if value.view is not None:
        return None
    known, name = value.given, value.argument.element_type
    if type(known) not in _NUMBERS:
        return None  # calls alike have one of NumPy's, too
    if index in rules.shaping:
        bits, kind = int.from_bytes(value.bytes, "little"), type(known)
        # Of two zeros, one has a sign.
        text = repr(known)

        def pack_known(number: Any) -> int:
            if type(number) is not kind or repr(number) != text:
                raise ValueError
            return bits

        return pack_known
    if (limits := integer_limits(name)) is not None:
        width, least, greatest = limits

        def pack_integer(number: Any) -> int:
            if type(number) not in _WHOLE or not least <= number <= greatest:
                raise ValueError
            return int(number) % (1 << width)

        return pack_integer
    if (form := packed_float(name)) is not None:
        packer = struct.Struct(form)

        def pack_float(number: Any) -> int:
            if type(number) not in _NUMBERS:
                raise ValueError
            return int.from_bytes(packer.pack(number), "little")

        return pack_float
    return None


def _bind(
    rules: Rules,
    backend: Backend,
    call: DeviceCall,
    program: Program,
    find_addresses: _Find,
    pairs: Sequence[_Pair],
    scalars: Sequence[tuple[int, Callable[[Any], int]]],
) -> Guard:
    count, device = len(call.values), call.device
    no_numbers = [0] * count
    enter, leave, queueing = backend.driver.enter, backend.driver.leave, backend.queueing
    arena_bytes, queue, has_results = program.arena_bytes, program.queue, bool(program.results)
    first = next(value.view for value in call.values if value.view is not None)
    stream_of = find_current_stream(first.library)
    library = library_like(first) if program.needs_library else None
    other = _OtherStream(backend, call, makes_arrays=library is not None)
    tell_written = _bind_versions(call, rules.written)

    def guard(args: tuple[Any, ...], given: Any) -> tuple[Any, ...] | None:
        if len(args) != count:
            return None
        numbers, is_other = no_numbers, False
        try:
            addresses = find_addresses(args)
            if addresses is None:
                return None
            for one, one_low, one_high, two, two_low, two_high in pairs:
                at, other_at = addresses[one], addresses[two]
                if at + one_low < other_at + two_high and other_at + two_low < at + one_high:
                    return None
            if scalars:
                numbers = no_numbers[:]
                for index, pack in scalars:
                    numbers[index] = pack(args[index])
            handle = None if given is None else read_stream(given)
        except Exception:  # of a tensor that only stands for one, or a number that does not fit
            return None
        fresh: dict[int, Any] = {}
        token = enter(device)
        try:
            stream = stream_of(device)
            if handle is not None:
                is_other = other.begin(stream, handle)
                stream = handle
            with queueing:
                if library is not None:
                    fresh = program.make_fresh(addresses, library)
                arena = backend.arena(device, stream, arena_bytes) if arena_bytes else 0
                queue(addresses, numbers, arena, stream)
            if is_other:
                other.end(args, fresh, stream)
        finally:
            if token:
                leave(token)
        if tell_written is not None:
            tell_written(args)
        return program.give(args, fresh, numbers, library and library.cut) if has_results else ()

    return guard


def _bind_versions(
    call: DeviceCall, written: Sequence[bool]
) -> Callable[[tuple[Any, ...]], None] | None:
    """Return what tells PyTorch of the tensors that are written; None if there are none."""
    indices = [
        index
        for index, value in enumerate(call.values)
        if value.view is not None and value.view.library == _TORCH and written[index]
    ]
    if not indices:
        return None
    bump = sys.modules[_TORCH].autograd.graph.increment_version

    def tell(args: tuple[Any, ...]) -> None:
        for index in indices:
            bump(args[index])

    return tell


class _Kept(NamedTuple):
    """An array that its library must not reuse too early."""

    library: str
    owner: Any


class _OtherStream:
    """What a call owes to a library whose current stream it does not run on."""

    def __init__(self, backend: Backend, call: DeviceCall, *, makes_arrays: bool) -> None:
        self._backend = backend
        self._device = call.device
        self._arrays = [
            (index, value.view.library)
            for index, value in enumerate(call.values)
            if value.view is not None
        ]
        self._makes_arrays = makes_arrays

    def begin(self, current: int, stream: int) -> bool:
        """Return whether the caller's stream is another one than the library's current one.

        Then it waits for the library if results may be of memory that was used there. Raises
        DeviceError for a stream of another device.
        """
        driver = self._backend.driver
        check_stream(driver, stream, self._device)
        if stream == current:
            return False
        if self._makes_arrays and not driver.is_capturing(stream):
            self._backend.wait_for(current, stream)
        return True

    def end(self, args: tuple[Any, ...], fresh: dict[int, Any], stream: int) -> None:
        """Have the library keep arguments and results until the work on the stream is done."""
        kept = [_Kept(library, args[index]) for index, library in self._arrays]
        kept += [_Kept(self._arrays[0][1], array) for array in fresh.values()]
        keep_until_done(self._backend.driver, kept, stream, self._device)


# --- addresses ------------------------------------------------------------------------------------

_Find = Callable[[tuple[Any, ...]], list[int] | None]
"""Finds the addresses of arrays that are alike; returns None for others."""


def _find_tensors(template: list[int], wanted: Sequence[_Array], mask: int) -> _Find:
    is_recording = sys.modules[_TORCH].is_grad_enabled

    def find(args: tuple[Any, ...]) -> list[int] | None:
        addresses = template[:]
        for index, kind, dtype, shape, strides, place, low, is_empty in wanted:
            tensor = args[index]
            if (
                type(tensor) is not kind
                or tensor.dtype is not dtype
                or tensor.shape != shape
                or tensor.stride() != strides
                or tensor.device != place
                or tensor.is_neg()
                or (tensor.requires_grad and is_recording())
            ):
                return None
            address = tensor.data_ptr()
            if address & mask != low or not (address or is_empty):
                return None
            addresses[index] = address
        return addresses

    return find


def _find_cupy(template: list[int], wanted: Sequence[_Array], mask: int) -> _Find:
    def find(args: tuple[Any, ...]) -> list[int] | None:
        addresses = template[:]
        for index, kind, dtype, shape, strides, place, low, is_empty in wanted:
            array = args[index]
            if (
                type(array) is not kind
                or array.dtype != dtype
                or array.shape != shape
                or array.strides != strides
                or array.device.id != place
            ):
                return None
            address = int(array.data.ptr)
            if address & mask != low or not (address or is_empty):
                return None
            addresses[index] = address
        return addresses

    return find
