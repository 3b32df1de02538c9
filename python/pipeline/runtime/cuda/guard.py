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
from .streams import find_current_stream

if TYPE_CHECKING:
    from .backend import Backend
    from .calls import DeviceCall
    from .program import Program

Guard = Callable[[tuple[Any, ...]], tuple[Any, ...] | None]
"""Takes the arguments of a call; returns its results, or None and has done nothing."""

_TORCH = "torch"
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


class _Tensor(NamedTuple):
    """What a tensor has to be like: an argument, with ``low`` bits of its address."""

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
    if not arrays or not call.is_current_stream or any(a.library != _TORCH for a in arrays):
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
    tensors = [_describe(index, value, mask) for index, value in enumerate(values) if value.view]
    pairs = _pairs(values, rules.written) if rules.needs_distinct_arguments else []
    scalars = [(index, packer) for index, packer in enumerate(packers) if packer is not None]
    template = [0] * len(values) + list(program.template)
    find = _bind_addresses(template, tensors, pairs, mask)
    return _bind(rules, backend, call, program, find, scalars)


def _describe(index: int, value: Value, mask: int) -> _Tensor:
    array = value.view
    assert array is not None
    tensor = array.owner
    return _Tensor(
        index,
        type(tensor),
        tensor.dtype,
        tensor.shape,
        tensor.stride(),
        tensor.device,
        array.address & mask,
        0 in array.shape,
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
    find_addresses: Callable[[tuple[Any, ...]], list[int] | None],
    scalars: Sequence[tuple[int, Callable[[Any], int]]],
) -> Guard:
    count, device = len(call.values), call.device
    no_numbers = [0] * count
    enter, leave, queueing = backend.driver.enter, backend.driver.leave, backend.queueing
    arena_bytes, queue, has_results = program.arena_bytes, program.queue, bool(program.results)
    arrays = [(index, value.view) for index, value in enumerate(call.values) if value.view]
    written = [index for index, _ in arrays if rules.written[index]]
    bump = sys.modules[_TORCH].autograd.graph.increment_version
    stream_of = find_current_stream(_TORCH)
    library = library_like(arrays[0][1]) if program.needs_library else None

    def guard(args: tuple[Any, ...]) -> tuple[Any, ...] | None:
        if len(args) != count:
            return None
        numbers = no_numbers
        try:
            addresses = find_addresses(args)
            if addresses is None:
                return None
            if scalars:
                numbers = no_numbers[:]
                for index, pack in scalars:
                    numbers[index] = pack(args[index])
        except Exception:  # of a tensor that only stands for one, or a number that does not fit
            return None
        fresh: dict[int, Any] = {}
        token = enter(device)
        try:
            stream = stream_of(device)
            with queueing:
                if library is not None:
                    fresh = program.make_fresh(addresses, library)
                arena = backend.arena(device, stream, arena_bytes) if arena_bytes else 0
                queue(addresses, numbers, arena, stream)
        finally:
            if token:
                leave(token)
        for index in written:
            bump(args[index])
        if not has_results:
            return ()
        return program.give(args, fresh, numbers, library and library.cut)

    return guard


def _bind_addresses(
    template: list[int], tensors: Sequence[_Tensor], pairs: Sequence[_Pair], mask: int
) -> Callable[[tuple[Any, ...]], list[int] | None]:
    """Return what finds the addresses of tensors that are alike, and None for others."""
    is_recording = sys.modules[_TORCH].is_grad_enabled

    def find(args: tuple[Any, ...]) -> list[int] | None:
        addresses = template[:]
        for index, kind, dtype, shape, strides, place, low, is_empty in tensors:
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
        for first, first_low, first_high, second, second_low, second_high in pairs:
            one, other = addresses[first], addresses[second]
            if one + first_low < other + second_high and other + second_low < one + first_high:
                return None
        return addresses

    return find
