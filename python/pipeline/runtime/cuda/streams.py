"""The stream that a call runs on: the caller's, or the current one of the arrays' library."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from ...errors import DeviceError, DriverError, KindError
from ...records.scalars import describe_value, read_integer

if TYPE_CHECKING:
    from typing import Protocol

    from .driver import Driver

    class DeviceView(Protocol):
        """What streams have to know of an array."""

        @property
        def library(self) -> str: ...
        @property
        def owner(self) -> Any: ...


DEFAULT_STREAM = 0
_MOST_HANDLE = 2**64 - 1
_CURRENT = ("torch", "cupy")
# What the driver says of a stream that is closed.
_CLOSED = frozenset((400, 709))


class CallStream(NamedTuple):
    """A raw handle, and whether the caller's library works on that stream by itself."""

    handle: int
    is_current: bool


def read_stream(stream: Any) -> int:
    """Return the raw handle of a stream.

    A stream is a raw handle, an object with ``__cuda_stream__``, or one of PyTorch or CuPy of
    before that. Raises KindError for anything else.
    """
    protocol = getattr(stream, "__cuda_stream__", None)
    if protocol is not None:
        # NVIDIA's protocol is a method; the first libraries had a tuple.
        answer = protocol() if callable(protocol) else protocol
        try:
            version, handle = answer
        except (TypeError, ValueError):
            raise _refusal(stream) from None
        if version != 0:
            raise KindError(
                f"error: stream has version {version} of __cuda_stream__, but 0 is known: pass its "
                "raw handle"
            )
        return _check_handle(handle, stream)
    for name in ("cuda_stream", "ptr"):
        if (handle := getattr(stream, name, None)) is not None:
            return _check_handle(handle, stream)
    return _check_handle(stream, stream)


def _check_handle(handle: Any, stream: Any) -> int:
    number = read_integer(handle)
    if number is None or not 0 <= number <= _MOST_HANDLE:
        raise _refusal(stream)
    return number


def _refusal(stream: Any) -> KindError:
    return KindError(
        f"error: stream is {describe_value(stream)}, but must be a raw handle or a stream with "
        "__cuda_stream__, as those of PyTorch, CuPy and cuda-core"
    )


def current_stream(library: str, device: int) -> int:
    """Return the stream that a library works on now; the default one if it has no such thing."""
    return int(find_current_stream(library)(device))


def find_current_stream(library: str) -> Callable[[int], int]:
    """Return what tells the stream that a library works on at a device."""
    if library == "torch":
        torch = sys.modules["torch"]
        get: Callable[[int], int] | None = getattr(torch._C, "_cuda_getCurrentRawStream", None)
        return get or (lambda device: int(torch.cuda.current_stream(device).cuda_stream))
    if library == "cupy":
        cupy = sys.modules["cupy"]
        return lambda device: int(cupy.cuda.get_current_stream(device).ptr)
    return lambda device: DEFAULT_STREAM


def choose_stream(views: Iterable[DeviceView], stream: Any, device: int) -> CallStream:
    """Return the stream for a call on arrays of one GPU.

    Raises KindError for a `stream` that is none, and without one for arrays of several libraries,
    each of which has a current stream of its own.
    """
    libraries = sorted({view.library for view in views})
    if stream is not None:
        handle = read_stream(stream)
        is_current = all(
            library in _CURRENT and current_stream(library, device) == handle
            for library in libraries
        )
        return CallStream(handle, is_current)
    if len(libraries) > 1:
        raise KindError(
            f"error: the arguments are arrays of {' and '.join(libraries)}, which work on streams "
            "of their own: say with stream= which one to run on"
        )
    library = libraries[0] if libraries else ""
    return CallStream(current_stream(library, device), library in _CURRENT)


def check_stream(driver: Driver, stream: int, device: int) -> None:
    """Raise DeviceError for a stream of another GPU, or one that is closed.

    The context of the GPU has to be current.
    """
    try:
        context = driver.stream_context(stream)
    except DriverError as error:
        if error.code not in _CLOSED:
            raise
        raise DeviceError(f"error: stream {stream:#x} is closed, or is none") from error
    if context != driver.device_context(device):
        raise DeviceError(
            f"error: stream {stream:#x} is of another GPU or context, but the arrays are on GPU "
            f"{device}"
        )


def keep_until_done(driver: Driver, views: Iterable[DeviceView], stream: int, device: int) -> None:
    """See to it that no library reuses arrays before work on a stream that it does not know ends.

    PyTorch is told; CuPy's own stream waits; for others, and where nothing is known, the host
    waits. What a graph captures is its caller's to keep.
    """
    if driver.is_capturing(stream):
        return
    libraries = set()
    for view in views:
        libraries.add(view.library)
        if view.library == "torch":
            _record(view.owner, stream, device)
    if libraries - set(_CURRENT):
        driver.synchronize(stream)
    elif "cupy" in libraries:
        _order(driver, stream, current_stream("cupy", device))


def _record(tensor: Any, stream: int, device: int) -> None:
    torch = sys.modules["torch"]
    external = torch.cuda.ExternalStream(stream, device=torch.device("cuda", device))
    tensor.record_stream(external)


def _order(driver: Driver, first: int, second: int) -> None:
    """Have later work on one stream wait for all work on another."""
    event = driver.create_event()
    try:
        driver.record(event, first)
        driver.wait(second, event)
    finally:
        driver.destroy_event(event)


__all__ = [
    "DEFAULT_STREAM",
    "CallStream",
    "check_stream",
    "choose_stream",
    "current_stream",
    "find_current_stream",
    "keep_until_done",
    "read_stream",
]
