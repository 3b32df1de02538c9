"""The thread that compiles, so that the main one hears Ctrl-C, and loads modules meanwhile.

First of all it loads the native extension, which takes milliseconds, as what Python loads to
read the command line does. Importing it would hold the interpreter's lock for as long, a call by
way of ctypes does not.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import signal
from contextlib import suppress
from importlib.machinery import EXTENSION_SUFFIXES
from threading import Event, Semaphore, Thread

TYPE_CHECKING = False  # as in typing, which takes milliseconds to load

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    T = TypeVar("T")

_thread: Thread | None = None
_tasks: list[Callable[[], None]] = []
_given = Semaphore(0)  # a queue is another module to load


def end_at_interrupts() -> None:
    """Have Ctrl-C end the process at once: of KeyboardInterrupt imports swallow some."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)


def raise_at_interrupts() -> None:
    """Have Ctrl-C raise KeyboardInterrupt again, so that what is half done is removed."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(*_: object) -> None:
    os._exit(130)


def start() -> None:
    """Start the thread, unless it runs."""
    global _thread
    if _thread is not None:
        return
    # While it loads its library no other can be: Python's own come first, where it has such.
    for name in ("_opcode", "_typing", "math"):
        with suppress(ImportError):
            importlib.import_module(name)
    _thread = Thread(target=_work, daemon=True)
    _thread.start()


def _work() -> None:
    _load_library()
    while _given.acquire():
        _tasks.pop()()


def _load_library() -> None:
    """Load the native extension, whose import tells what fails, and the remedy."""
    load = ctypes.CDLL(None).dlopen
    load.argtypes = [ctypes.c_char_p, ctypes.c_int]
    load.restype = ctypes.c_void_p
    folder = __file__.rpartition(os.sep)[0].rpartition(os.sep)[0]
    for suffix in EXTENSION_SUFFIXES:
        if load(os.fsencode(f"{folder}/_native{suffix}"), os.RTLD_LAZY):
            return


def call(function: Callable[[], T], meanwhile: Callable[[], None]) -> T:
    """Return what a function returns in the thread, or raise what it raises.

    `meanwhile` is called in this one.
    """
    results: list[T] = []
    errors: list[BaseException] = []
    done = Event()

    def task() -> None:
        try:
            results.append(function())
        except BaseException as error:
            errors.append(error)
        done.set()

    start()
    _tasks.append(task)
    _given.release()
    meanwhile()
    while not done.wait(timeout=0.1):
        pass  # Python heeds an interrupt that comes just before the wait only after it
    if errors:
        raise errors.pop()
    return results.pop()
