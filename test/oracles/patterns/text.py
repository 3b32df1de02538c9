"""Writes MLIR line by line: values have names of their own, regions are indented."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence


class Text:
    """The body of a kernel."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._depth = 2
        self._count = 0

    def add(self, line: str) -> None:
        """Write a line."""
        self._lines.append("  " * self._depth + line)

    def value(self, line: str) -> str:
        """Write an operation with a result, and return its name."""
        self._count += 1
        name = f"%v{self._count}"
        self.add(f"{name} = {line}")
        return name

    def first_of_two(self, line: str) -> str:
        """Write an operation with two results, and return the name of the first."""
        self._count += 1
        self.add(f"%v{self._count}:2 = {line}")
        return f"%v{self._count}#0"

    def constant(self, number: int, kind: str = "i32") -> str:
        """Return a number."""
        return self.value(f"arith.constant {number} : {kind}")

    def compare(self, sign: str, a: str, b: str, kind: str = "i32") -> str:
        """Return whether a comparison of arith holds."""
        return self.value(f"arith.cmpi {sign}, {a}, {b} : {kind}")

    def binary(self, name: str, a: str, b: str, kind: str = "i32") -> str:
        """Return the result of an operation of arith on two values."""
        return self.value(f"arith.{name} {a}, {b} : {kind}")

    def index(self, value: str) -> str:
        """Return an i32 as an index."""
        return self.value(f"arith.index_cast {value} : i32 to index")

    def load(self, array: str, place: str, kind: str = "memref<?xi32>") -> str:
        """Return what an array holds at a place, an i32."""
        return self.value(f"memref.load {array}[{self.index(place)}] : {kind}")

    def store(self, value: str, array: str, place: str, kind: str = "memref<?xi32>") -> None:
        """Write to an array, at a place that is an i32."""
        self.add(f"memref.store {value}, {array}[{self.index(place)}] : {kind}")

    @contextlib.contextmanager
    def region(self, head: str, end: str = "}") -> Iterator[None]:
        """Write an operation with a region."""
        self.add(head + " {")
        self._depth += 1
        yield
        self._depth -= 1
        self.add(end)

    @contextlib.contextmanager
    def when(self, truth: str) -> Iterator[None]:
        """Write what is done if something holds."""
        with self.region(f"scf.if {truth}"):
            yield

    @contextlib.contextmanager
    def loop(self, begin: str, end: str, step: str) -> Iterator[str]:
        """Write a loop over i32s, which go up."""
        self._count += 1
        name = f"%i{self._count}"
        with self.region(f"scf.for {name} = {begin} to {end} step {step} : i32"):
            yield name

    def kernel(self, arguments: Sequence[str], attributions: str, block: int, grid: int) -> str:
        """Return a module with the kernel `pattern`."""
        sizes = (
            f"known_block_size = array<i32: {block}, 1, 1>, "
            f"known_grid_size = array<i32: {grid}, 1, 1>"
        )
        head = f"    gpu.func @pattern({', '.join(arguments)}){attributions} kernel attributes"
        return "\n".join(
            [
                "module attributes {gpu.container_module} {",
                "  gpu.module @kernels {",
                f"{head} {{{sizes}}} {{",
                *("  " + line for line in self._lines),
                "      gpu.return",
                "    }",
                "  }",
                "}",
                "",
            ]
        )
