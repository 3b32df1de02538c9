"""Where a call runs: its device, its stream, and who it waits for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ...errors import KindError, LayoutError
from ..arguments import Value, describe_misaligned, find_device
from ..arrays import HOST
from .calls import Call, DeviceCall, HostCall
from .streams import check_stream, choose_stream

if TYPE_CHECKING:
    from .backend import Backend


@contextmanager
def begin(
    backend: Backend, values: Sequence[Value], written: Sequence[bool], stream: Any
) -> Iterator[Call]:
    """Have a call on checked arguments run, on a `stream` of the caller's if that is not None.

    `written` are the arguments that it may write to.
    Arrays of a GPU are used in place, on the stream that their library works on now if none is
    given; those of the host are copied. Raises ArgumentError for arrays that no GPU can work on
    where they are, and for streams of another.
    """
    located = backend.locate(values)
    device = find_device(located)
    if device == HOST:
        if stream is not None:
            raise KindError(
                "error: a stream is given, but the arrays are on the host: such calls are done "
                "when they return; pass arrays of a GPU, or no stream"
            )
        with backend.staging() as (gpu, own_stream):
            call = HostCall(backend, located, written, gpu, own_stream)
            try:
                yield call
            finally:
                call.close()
        return
    for index, value in enumerate(located):
        if not value.is_aligned:
            raise LayoutError(f"{describe_misaligned(value, index)}: pass a copy", index)
    with backend.on(device):
        views = [value.view for value in located if value.view is not None]
        chosen = choose_stream(views, stream, device)
        if stream is not None:
            check_stream(backend.driver, chosen.handle, device)
        yield DeviceCall(backend, located, device, chosen)
