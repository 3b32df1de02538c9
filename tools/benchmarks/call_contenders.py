"""Call programs of bundles, and a kernel of Triton's: `call_contenders.py ROUNDS ADD LAYER`.

Runs in the virtual environment that `bench calls` makes, and prints microseconds as JSON.
"""

from __future__ import annotations

import json
import sys
import timeit
from collections.abc import Callable
from typing import Any

import torch  # type: ignore[import-not-found]
import triton  # type: ignore[import-not-found]
import triton.language as tl  # type: ignore[import-not-found]
from triton.backends.compiler import GPUTarget  # type: ignore[import-not-found]
from triton.backends.driver import DriverBase  # type: ignore[import-not-found]

import pipeline
from gpu.stand_in_driver import stand_in
from pipeline.runtime import arrays

CALLS = 100
"""Calls of a sample: short, so that some have the machine for themselves."""


def fastest(call: Callable[[], object], rounds: int) -> float:
    """Return the microseconds of a call in the fastest of many samples."""
    return min(timeit.repeat(call, number=CALLS, repeat=rounds)) / CALLS * 1e6


def say_it_is_a_gpu() -> None:
    """Have tensors of the host count as those of GPU 0."""
    view = arrays._view_torch

    def moved(tensor: Any, index: int, torch: Any) -> arrays.ArrayView:
        return view(tensor, index, torch)._replace(device=0)

    arrays._view_torch = moved
    arrays.is_on_gpu = lambda value: isinstance(value, torch.Tensor)
    torch._C._cuda_getCurrentRawStream = abs  # a function of C, and 0 for device 0


def measure_ours(rounds: int, add_bundle: str, layer_bundle: str) -> dict[str, float]:
    """Return what calls of programs take."""
    say_it_is_a_gpu()
    stand_in().reset("quiet=1")
    add, layer = pipeline.load(add_bundle), pipeline.load(layer_bundle)
    a, b, c = (torch.ones(1024) for _ in range(3))
    x, w, bias, y = torch.ones(64, 48), torch.ones(48, 96), torch.ones(96), torch.ones(64, 96)
    add(a, b, c)
    layer(x, w, bias, y, 0.5)
    return {
        "3 tensors, 1 launch": fastest(lambda: add(a, b, c), rounds),
        "4 tensors and a number, 1 result": fastest(lambda: layer(x, w, bias, y, 0.5), rounds),
        "  of it, making the result": fastest(lambda: torch.empty((64, 96)), rounds),
        "3 tensors, all checked anew": fastest(lambda: add.run(a, b, c), rounds // 10 + 1),
    }


@triton.jit  # type: ignore[untyped-decorator]
def kernel(a, b, c, n, B: tl.constexpr):  # type: ignore[no-untyped-def]  # it evaluates annotations
    """Add vectors."""
    i = tl.program_id(0) * B + tl.arange(0, B)
    mask = i < n
    tl.store(c + i, tl.load(a + i, mask=mask) + tl.load(b + i, mask=mask), mask=mask)


class Utilities:
    """Loads no code."""

    def load_binary(self, *_: Any) -> tuple[int, ...]:
        """Return a module, a kernel, registers, spills and the most threads."""
        return 1, 1, 32, 0, 1024

    def get_device_properties(self, _: int) -> dict[str, int]:
        """Return what a compilation asks for."""
        return {"max_shared_mem": 166912, "multiprocessor_count": 108, "warpSize": 32}

    def unload_module(self, _: int) -> None:
        """Do nothing."""


class StubbedDriver(DriverBase):  # type: ignore[misc]
    """A driver whose launches do nothing."""

    def __init__(self) -> None:
        self.utils = Utilities()
        self.launcher_cls = lambda source, metadata: lambda *arguments: None
        self.get_current_device = int
        self.get_current_stream = abs

    @classmethod
    def is_active(cls) -> bool:
        """Return that there is a GPU."""
        return True

    def get_current_target(self) -> GPUTarget:
        """Return which."""
        return GPUTarget("cuda", 80, 32)

    def get_active_torch_device(self) -> Any:
        """Return where tensors are."""
        return torch.device("cpu")

    def map_python_to_cpp_type(self, kind: str) -> str:
        """Return what nobody asks for."""
        return kind

    def get_benchmarker(self) -> None:
        """Return nothing."""


def measure_triton(rounds: int) -> dict[str, float]:
    """Return what a launch takes."""
    triton.runtime.driver.set_active(StubbedDriver())
    a, b, c = (torch.ones(1024) for _ in range(3))

    def call() -> None:
        kernel[(8,)](a, b, c, 1024, B=128)

    call()
    return {"Triton, 3 tensors, without its launcher": fastest(call, rounds)}


if __name__ == "__main__":
    count, *paths = sys.argv[1:]
    figures = measure_ours(int(count), *paths)
    print(json.dumps(figures | measure_triton(int(count))))
