"""Who does the work of a search: processes of this machine, or a cluster.

All are asked by ``submit`` of :mod:`concurrent.futures`; a caller may hand in an executor of its
own.
"""

from __future__ import annotations

import contextlib
import importlib
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from ..errors import ToolError, UsageError

LOCAL = "local"


@contextmanager
def open_executor(given: str | Executor, workers: int = 0) -> Iterator[Executor]:
    """Have an executor: ``local``, ``dask://HOST:PORT``, ``ray://HOST:PORT``, or one that is given.

    workers: processes of ``local``; 0 is one per core.

    Raises UsageError for what is none of them, and ToolError if a library is missing or nobody
    answers.
    """
    if workers < 0:
        raise UsageError.of_option("workers", "must not be negative")
    if not isinstance(given, str):
        yield given
        return
    scheme, address = (given, "") if given == LOCAL else _split(given)
    if scheme == "dask":
        with _open_dask(address) as executor:
            yield executor
    elif scheme == "ray":
        yield _open_ray(address)
    else:
        pool = make_pool(workers)
        try:
            yield pool
        except BaseException:
            for process in list(pool._processes.values()):
                process.terminate()  # else they would finish what nobody waits for
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def make_pool(workers: int = 0) -> ProcessPoolExecutor:
    """Return processes of this machine, which leave Ctrl-C to this one; 0 is one per core."""
    # Forks would share what threads of the compiler hold at that moment.
    context = multiprocessing.get_context("spawn")
    count = workers or os.cpu_count() or 1
    return ProcessPoolExecutor(count, mp_context=context, initializer=_ignore_interrupts)


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _split(given: str) -> tuple[str, str]:
    parts = urlsplit(given)
    if parts.scheme not in ("dask", "ray") or not parts.netloc:
        words = "must be local, dask://HOST:PORT or ray://HOST:PORT"
        raise UsageError.of_option("executor", f"is '{given}', but {words}")
    return parts.scheme, parts.netloc


@contextmanager
def _open_dask(address: str) -> Iterator[Executor]:
    try:
        client_type = importlib.import_module("distributed").Client
    except ImportError as error:
        remedy = "pip install 'mlir-workgroup[dask]'"
        raise ToolError(f"error: dask:// needs Dask's distributed: {remedy}") from error
    try:
        client = client_type(f"tcp://{address}", timeout="10s", set_as_default=False)
    except (OSError, ValueError) as error:
        raise ToolError(f"error: no Dask scheduler answers at {address}: {error}") from error
    try:
        yield client.get_executor(pure=False)
    finally:
        with contextlib.suppress(Exception):  # a cluster that has gone takes nothing with it
            client.close(timeout=5)


def _open_ray(address: str) -> Executor:
    try:
        ray = importlib.import_module("ray")
    except ImportError as error:
        remedy = "pip install 'mlir-workgroup[ray]'"
        raise ToolError(f"error: ray:// needs Ray: {remedy}") from error
    try:
        if not ray.is_initialized():
            ray.init(f"ray://{address}")
    except ConnectionError as error:
        raise ToolError(f"error: no Ray cluster answers at {address}: {error}") from error
    return RayExecutor(ray)


class RayExecutor(Executor):
    """Tasks of Ray as futures."""

    def __init__(self, ray: Any) -> None:
        self._ray = ray

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Start a task."""
        made: Future[Any] = self._ray.remote(function).remote(*args, **kwargs).future()
        return made
