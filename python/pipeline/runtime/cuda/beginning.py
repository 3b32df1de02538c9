"""Where a call runs: its device, its stream, and who it waits for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ...errors import DeviceError, KindError, LayoutError
from ..arguments import Value, describe_misaligned, find_device
from ..arrays import HOST
from .calls import Call, DeviceCall, HostCall
from .streams import check_stream, choose_stream

if TYPE_CHECKING:
    from .backend import Backend


@contextmanager
def begin(
    backend: Backend,
    values: Sequence[Value],
    written: Sequence[bool],
    stream: Any,
    gpu: int | None = None,
) -> Iterator[Call]:
    """Have a call on checked arguments run, on a `stream` of the caller's if that is not None.

    `written` are the arguments that it may write to, `gpu` the GPU that it is to run on, if the
    caller says.
    Arrays of a GPU are used in place, on the stream that their library works on now if none is
    given; those of the host are copied. Raises ArgumentError for arrays that no GPU can work on
    where they are, or that are on another one, and for streams of another; DeviceUnavailable for a
    GPU that there is not.
    """
    located = backend.locate(values, gpu)
    device = find_device(located)
    if device == HOST:
        if stream is not None:
            raise KindError(
                "error: a stream is given, but the arrays are on the host: such calls are done "
                "when they return; pass arrays of a GPU, or no stream"
            )
        with backend.staging(gpu) as (chosen_gpu, own_stream):
            call = HostCall(backend, located, written, chosen_gpu, own_stream)
            try:
                yield call
            finally:
                call.close()
        return
    if gpu is not None and gpu != device:
        backend.driver.capability(gpu)  # raises DeviceUnavailable if there is no such GPU
        index = next(n for n, value in enumerate(located) if value.view is not None)
        raise DeviceError(
            f"error: argument {index} is on GPU {device}, but the call is to run on GPU {gpu}: "
            "copy it there, or leave the device out",
            index,
        )
    for index, value in enumerate(located):
        if not value.is_aligned:
            raise LayoutError(f"{describe_misaligned(value, index)}: pass a copy", index)
    with backend.on(device):
        views = [value.view for value in located if value.view is not None]
        chosen = choose_stream(views, stream, device)
        if stream is not None:
            check_stream(backend.driver, chosen.handle, device)
        yield DeviceCall(backend, located, device, chosen)
