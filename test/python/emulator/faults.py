"""What a faulty kernel is made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

import pipeline
from corpus.kernels_case import Array, Dim3, function, module


@dataclass(frozen=True)
class Fault:
    """A kernel `k` that does one thing wrong, and what is said about it."""

    name: str
    """The kind of the finding, and behind a colon what is special about it."""
    text: str
    make: Callable[[], list[Any]]
    """Returns the arguments."""
    error: type[pipeline.CheckError]
    grid: Dim3 = (1, 1, 1)
    block: Dim3 = (64, 1, 1)
    dynamic_bytes: int = 0
    check: Literal["none", "races", "all"] = "races"
    options: dict[str, Any] = field(default_factory=dict, hash=False)
    chip: str = "sm_80"

    @property
    def kind(self) -> str:
        return self.name.split(":")[0]

    def compile(self) -> pipeline.Kernel:
        """Return the kernel as it is, without the proofs of barriers that it would not pass."""
        module = pipeline.compile(
            self.text, until="llvm", sync="keep", verify=False, chip=self.chip
        )
        return module.kernels["k"]

    def launch(self, kernel: pipeline.Kernel | None = None, **options: Any) -> pipeline.Report:
        """Run the kernel and return the report."""
        return (kernel or self.compile()).emulate(
            *self.make(),
            grid=self.grid,
            block=self.block,
            dynamic_shared_bytes=self.dynamic_bytes,
            options=pipeline.Options(
                **{"check": self.check, "workers": 1, **self.options, **options}
            ),
        )


def kernel(
    arguments: str,
    body: str,
    *,
    buffers: str = "",
    private: str = "",
    more: str = "",
) -> str:
    """Return a program with a kernel `k`, and `more` besides it."""
    text = function("k", arguments, body, buffers=buffers, private=private)
    return module(text, *([more] if more else []))


def numbers(*shape: int, kind: str = "i4") -> Array:
    """Return 1, 2, 3 and so on."""
    return np.arange(1, np.prod(shape) + 1).reshape(shape).astype(kind)


def rendered() -> dict[str, str]:
    """Return what is to be said about each fault, by its name."""
    text = (Path(__file__).parent / "findings.txt").read_text()
    sections = [section.split("\n", 1) for section in text.split("--- ")[1:]]
    return {name: body.strip("\n") for name, body in sections}
