"""A candidate, as it goes to a worker, and what comes back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ..compiling.compiler import Chooser, compile, compile_natively, make_request
from ..schedules.tuned import OneTile, read_tile

if TYPE_CHECKING:
    from ..program.module import Module
    from ..schedules.kernel import Kernel
    from ..schedules.target import Target


class Task(NamedTuple):
    """A candidate of a kernel in a program.

    ``options``: chip, numerics and memory_options of the program. ``tile``: the fields of the
    candidate. ``arguments``: what the program runs on; empty for random values. ``on_gpu``: it is
    timed and checked on the GPU of the worker.
    """

    text: str
    options: Mapping[str, str]
    kernel: str
    tile: Mapping[str, Any]
    arguments: tuple[Any, ...] = ()
    seed: int = 0
    on_gpu: bool = False

    def compile(self, text: str | None = None, *, by_default: bool = False) -> Module:
        """Compile the program, or another one in its place, with the candidate or without."""
        options: dict[str, Any] = dict(self.options)
        if not by_default:
            options["tuned"] = OneTile(self.kernel, read_tile(dict(self.tile)))
        return compile(self.text if text is None else text, **options)

    def analyse(self, text: str) -> tuple[tuple[Kernel, ...], Target]:
        """Return the kernels of a program. Raises CompileError."""
        options: dict[str, Any] = dict(self.options)
        chooser = Chooser(options["chip"], options["numerics"], only=True)
        compile_natively(make_request(text, **options)[1], chooser)
        return chooser.kernels, chooser.target


Outcome = dict[str, Any]
"""``outcome``: a word; ``message``: why, if it is a bad one; else what was found, by name."""
