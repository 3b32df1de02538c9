"""The GPUs of this process: what calls of all modules share."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, ClassVar

from ...errors import AccessError
from ..arguments import Value
from ..arrays import HOST, UNKNOWN_GPU, is_on_gpu, view
from .arena import Arenas
from .driver import Driver

_FIRST_GPU = 0
"""Where arrays of the host are copied to if the caller does not say."""


class Backend:
    """The driver, memory that calls share, and the order in which they queue their work.

    ``queueing`` is held while a call is queued: parameters and arenas are shared. Calls on arrays
    of the host also share a stream and its arena until their results are back; they wait for each
    other.
    """

    _of_process: ClassVar[Backend | None] = None
    _lock: ClassVar[threading.Lock] = threading.Lock()

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        self.queueing = threading.RLock()
        self.arena = Arenas(driver).reserve
        self._staging = threading.RLock()
        self._streams: dict[int, int] = {}
        self._unfreed: list[int] = []

    @classmethod
    def get(cls) -> Backend:
        """Return the one of this process. Raises DeviceUnavailable."""
        driver = Driver.get()
        with cls._lock:
            if cls._of_process is None or cls._of_process.driver is not driver:
                cls._of_process = cls(driver)
            return cls._of_process

    @contextmanager
    def on(self, device: int) -> Iterator[None]:
        """Have the context of a device current, and then that which was before."""
        token = self.driver.enter(device)
        try:
            yield
        finally:
            self.driver.leave(token)

    def locate(self, values: Sequence[Value], device: int | None = None) -> list[Value]:
        """Return arguments with the devices of those that did not tell them.

        Of an array without elements, whose address tells nothing, that is `device`, or the first.
        """
        nowhere = _FIRST_GPU if device is None else device
        return [
            replace(
                value,
                view=value.view._replace(device=self._find(value.view.address, index, nowhere)),
            )
            if value.view is not None and value.view.device == UNKNOWN_GPU
            else value
            for index, value in enumerate(values)
        ]

    def _find(self, address: int, index: int, nowhere: int = _FIRST_GPU) -> int:
        if not address:  # of an array without elements
            return nowhere
        device = self.driver.pointer_device(address)
        if device == HOST:
            raise AccessError(
                f"error: argument {index} has no storage: the driver knows no memory at its "
                "address",
                index,
            )
        return device

    @contextmanager
    def staging(self, device: int | None = None) -> Iterator[tuple[int, int]]:
        """Give a call on arrays of the host a GPU, which is current, and a stream for itself.

        The GPU is `device`, or the first.
        """
        gpu = _FIRST_GPU if device is None else device
        with self._staging, self.on(gpu):
            if gpu not in self._streams:
                self._streams[gpu] = self.driver.create_stream(gpu)
            yield gpu, self._streams[gpu]

    def wait_for(self, other: int, stream: int) -> None:
        """Have later work on a stream wait for all work on another one."""
        event = self.driver.create_event()
        try:
            self.driver.record(event, other)
            self.driver.wait(stream, event)
        finally:
            self.driver.destroy_event(event)

    def find_device(self, values: Sequence[Any]) -> int:
        """Return the device of the first array that is on a GPU; that of host arrays if none is."""
        for index, value in enumerate(values):
            if is_on_gpu(value):
                array = view(value, index)
                if array.device == UNKNOWN_GPU:
                    return self._find(array.address, index)
                return array.device
        return _FIRST_GPU

    # Memory.

    def free(self, addresses: list[int], stream: int) -> None:
        """Free memory behind the work on a stream; what cannot be freed now is the next time."""
        with self.queueing:
            waiting, self._unfreed = self._unfreed, addresses
            try:
                while waiting:
                    self.driver.free_and_wait(waiting[-1])
                    waiting.pop()
                while addresses:
                    self.driver.free(addresses[-1], stream)
                    addresses.pop()
            finally:
                self._unfreed = [*waiting, *addresses]

    def upload_for_good(self, device: int, data: bytes) -> int:
        """Return the address of a constant on a device, whose context is current."""
        stream = self.driver.create_stream(device)
        try:
            address = self.driver.allocate(len(data), stream)
            source = ctypes.create_string_buffer(data, len(data))
            self.driver.upload(address, ctypes.addressof(source), len(data), stream)
            self.driver.synchronize(stream)
        finally:
            self.driver.destroy_stream(stream)
        return address
