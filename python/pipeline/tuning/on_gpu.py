"""Candidates on a GPU: timed and checked beside the default, by PyTorch, one at a time."""

from __future__ import annotations

import contextlib
import fcntl
import functools
import importlib
import os
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..records.scalars import name_element, numpy_dtype
from ..runtime.host_arrays import hand_over
from ..runtime.random_values import make_random
from ..runtime.timing import TorchClock, interleave, summarize
from .comparing import describe_difference

if TYPE_CHECKING:
    from ..program.module import Module
    from .task import Outcome, Task

ROUNDS = 15
_LOCK = "mlir-workgroup-gpu-0.lock"


def find_torch() -> Any:
    """Return PyTorch if it can use a GPU here, else None."""
    try:
        torch: Any = importlib.import_module("torch")
    except ImportError:
        return None
    return torch if torch.cuda.is_available() else None


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """Have the first GPU to oneself, among the processes of this project on this machine."""
    path = Path(tempfile.gettempdir()) / _LOCK
    with contextlib.ExitStack() as stack:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        stack.callback(os.close, handle)
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def time_beside_default(task: Task, module: Module) -> Outcome:
    """Return the median nanoseconds of a candidate, and of the default in the same rounds."""
    torch = find_torch()
    default = _compile_default(task)
    values = _make_values(task, module)
    with alone():
        ours, theirs = (_upload(values) for _ in range(2))
        calls = {"ours": lambda: module(*ours), "default": lambda: default(*theirs)}
        times = interleave(calls, TorchClock(torch), ROUNDS)
        name = torch.cuda.get_device_name()
    medians = {who: round(statistics.median(taken) * 1e3) for who, taken in times.items()}
    return {
        "outcome": "measured",
        "unit": "nanoseconds",
        "cost": medians["ours"],
        "default_cost": medians["default"],
        "gpu": name,
        "microseconds": summarize(times["ours"]),
    }


def compare_with_default(task: Task) -> Outcome:
    """Return whether a candidate computes on the GPU what the default does there."""
    module, default = task.compile(), _compile_default(task)
    values = _make_values(task, module)
    with alone():
        found, wanted = (_run(one, values) for one in (module, default))
    if reason := describe_difference(found, wanted):
        return {"outcome": "wrong", "message": reason}
    return {"outcome": "right", "instance": "the program itself, on the GPU"}


def _make_values(task: Task, module: Module) -> list[Any]:
    import numpy as np

    random = np.random.default_rng(task.seed)
    return list(task.arguments) or [
        make_random(one, random, remedy="give values by --arg") for one in module.entry().arguments
    ]


def _run(module: Module, values: Sequence[Any]) -> list[Any]:
    """Return what is in all arguments afterwards, and the results, on the host."""
    tensors = _upload(values)
    results = module(*tensors)
    made = results if isinstance(results, tuple) else () if results is None else (results,)
    return [_to_host(value) for value in (*tensors, *made)]


def _upload(values: Sequence[Any]) -> list[Any]:
    """Return tensors of the GPU for arrays of NumPy, and numbers as they are."""
    return [
        hand_over(value, "torch").to("cuda") if hasattr(value, "shape") else value
        for value in values
    ]


def _to_host(value: Any) -> Any:
    """Return a tensor as an array of NumPy, or of ml_dtypes for what NumPy has no type for."""
    if not hasattr(value, "cpu"):
        return value
    torch = find_torch()
    element = name_element(str(value.dtype).removeprefix("torch."))
    bits = value.cpu().contiguous().reshape(-1).view(torch.uint8).numpy()
    return bits.view(numpy_dtype(element)).reshape(tuple(value.shape))


@functools.lru_cache(maxsize=4)
def _compile(text: str, options: tuple[tuple[str, str], ...]) -> Module:
    from ..compiling.compiler import compile

    made: dict[str, Any] = dict(options)
    return compile(text, **made)


def _compile_default(task: Task) -> Module:
    return _compile(task.text, tuple(sorted(task.options.items())))
