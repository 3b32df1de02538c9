"""Products for warp groups, of any loops: programs, numbers, what is checked of each."""

from __future__ import annotations

import re
import string
import warnings
from dataclasses import dataclass
from typing import Any, Protocol

import ml_dtypes
import numpy as np
import pytest

import pipeline
from pipeline.system.assembler import assemble

Array = np.ndarray[Any, Any]

TYPES: dict[str, Any] = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "i8": np.int8,
    "u8": np.uint8,
}

TYPES_OF_SUMS: dict[str, Any] = {"f32": np.float32, "i32": np.int32}
RANGES = {"i8": (-128, 128), "u8": (0, 256)}
EXTENSIONS = {"i8": "extsi", "u8": "extui"}

MODES: tuple[dict[str, Any], ...] = (
    {"order": "forward", "async_mode": "on_wait"},
    {"order": "reverse", "async_mode": "eager"},
    {"order": "seeded", "async_mode": "seeded"},
)


class Program(Protocol):
    """A program with numbers for it."""

    def make_inputs(self) -> list[Array]: ...

    def expect(self, inputs: list[Array]) -> Array: ...


@dataclass(frozen=True)
class Product:
    """A sum of products, a letter for each loop: those of ``sizes`` have so many iterations.

    What is in neither the first operand nor the second is summed up in no loop: letters of the
    result that only one of them has are its rows or columns, or batches that the other shares.
    """

    sizes: str
    lhs: str = "mk"
    rhs: str = "kn"
    result: str = "mn"
    kind: str = "f16"
    sums: str = "f32"
    other: str = ""
    """The type of the second operand, if that is another one than that of the first."""

    @property
    def extents(self) -> dict[str, int]:
        pairs = (pair.split("=") for pair in self.sizes.split())
        return {letter: int(size) for letter, size in pairs}

    def shape(self, letters: str) -> tuple[int, ...]:
        return tuple(self.extents[letter] for letter in letters)

    @property
    def kinds(self) -> tuple[str, str]:
        return self.kind, self.other or self.kind

    def type_of(self, letters: str, kind: str, dynamic: str) -> str:
        extents = ("?" if one in dynamic else str(self.extents[one]) for one in letters)
        return f"tensor<{'x'.join(extents)}x{kind.replace('u', 'i')}>"

    def size_of(self, letter: str) -> str:
        """Return operations that make `%size_letter` the extent of a loop."""
        name, letters = ("a", self.lhs) if letter in self.lhs else ("b", self.rhs)
        return (
            f"  %at_{letter} = arith.constant {letters.index(letter)} : index\n  %size_{letter} = "
            f"tensor.dim %{name}, %at_{letter} : %TYPE_{name}\n"
        )

    @property
    def text(self) -> str:
        return self.dynamic_text("")

    def dynamic_text(self, dynamic: str) -> str:
        """Return the program in which only launches know the extents of some letters."""
        loops = "".join(sorted(set(self.result), key=self.result.index))
        loops += "".join(sorted(set(self.lhs) & set(self.rhs) - set(self.result)))
        maps = ", ".join(
            f"affine_map<({', '.join(loops)}) -> ({', '.join(letters)})>"
            for letters in (self.lhs, self.rhs, self.result)
        )
        kinds = ", ".join(
            '"parallel"' if letter in self.result else '"reduction"' for letter in loops
        )
        (left, right), names = self.kinds, (self.lhs, self.rhs)
        a, b = (self.type_of(*pair, dynamic) for pair in zip(names, self.kinds, strict=True))
        x, y = left.replace("u", "i"), right.replace("u", "i")
        mul, add, zero = ("muli", "addi", "0") if self.sums == "i32" else ("mulf", "addf", "0.0")
        c, sums = self.type_of(self.result, self.sums, dynamic), self.sums
        unknown = [letter for letter in self.result if letter in dynamic]
        made = "".join(map(self.size_of, unknown)).replace("%TYPE_a", a).replace("%TYPE_b", b)
        sizes = ", ".join(f"%size_{letter}" for letter in unknown)
        return f"""
func.func @main(%a: {a}, %b: {b}) -> {c} {{
  %zero = arith.constant {zero} : {sums}
{made}  %e = tensor.empty({sizes}) : {c}
  %f = linalg.fill ins(%zero : {sums}) outs(%e : {c}) -> {c}
  %r = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}
      ins(%a, %b : {a}, {b}) outs(%f : {c}) {{
    ^bb0(%x: {x}, %y: {y}, %z: {sums}):
      %p = arith.{EXTENSIONS.get(left, "extf")} %x : {x} to {sums}
      %q = arith.{EXTENSIONS.get(right, "extf")} %y : {y} to {sums}
      %w = arith.{mul} %p, %q : {sums}
      %s = arith.{add} %z, %w : {sums}
      linalg.yield %s : {sums}
  }} -> {c}
  return %r : {c}
}}"""

    def make_inputs(self) -> list[Array]:
        """Return numbers whose products add up without rounding."""
        random = np.random.default_rng(sum(map(ord, self.sizes)))
        made = []
        for letters, kind in zip((self.lhs, self.rhs), self.kinds, strict=True):
            low, high = RANGES.get(kind, (-4, 5))
            made.append(random.integers(low, high, self.shape(letters)).astype(TYPES[kind]))
        return made

    def expect(self, inputs: list[Array]) -> Array:
        a, b = (array.astype(TYPES_OF_SUMS[self.sums]) for array in inputs)
        assert set(self.lhs + self.rhs + self.result) <= set(string.ascii_letters)
        result: Array = np.einsum(f"{self.lhs},{self.rhs}->{self.result}", a, b, optimize=True)
        return result


WAITING = "specialize-warps=0"
"""Memory options: warps that multiply wait for copies behind a barrier."""
LOOPS = pytest.mark.parametrize("options", ["", WAITING], ids=["default", "waiting"])


def compile_text(text: str, options: str = "") -> pipeline.Module:
    return pipeline.compile(text, chip="sm_90a", keep_texts=True, memory_options=options)


def remarks_of(module: pipeline.Module) -> list[str]:
    """Return why warp groups, or TMA, were not used."""
    texts = map(str, module.remarks)
    return [text for text in texts if "WarpGroupsNotUsed" in text or "NotTMA" in text]


def check_proof(module: pipeline.Module) -> None:
    """The kernels are proved as they are when their rings are lowered."""
    report = pipeline.check(module.texts["gpu"])
    assert {kernel.verdict for kernel in report.kernels} == {"SAFE"}, report.rendered


def check_assembled(module: pipeline.Module) -> None:
    """Nothing is spilled, and no product waits for the one before."""
    assert re.findall(r"wgmma\.wait_group\.sync\.aligned\s+(\d)", module.ptx) == ["1", "0"]
    _, log = assemble(module.ptx, module.chip)
    assert re.search(r"\b0 bytes stack frame, 0 bytes spill stores", log), log
    assert "serialized" not in log


def mutate(text: str, kind: str, **others: str) -> str:
    """Return a kernel of a loop that waits with one mistake, or none.

    others: texts with mistakes besides a wait and a barrier that are missing.
    """
    loop = text.index("nvgpu.mbarrier.try_wait.parity", text.index("scf.for"))
    head, rest = text[:loop], text[loop:]
    edits = {
        "none": text,
        "wait": head + rest[rest.index("\n") + 1 :],
        "barrier": head + rest.replace("gpu.barrier\n", "\n", 1),
        **others,
    }
    assert (edits[kind] == text) == (kind == "none")
    return edits[kind]


def is_right(text: str, program: Program) -> bool:
    """Whether the emulator finds nothing wrong with a kernel of a program."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pipeline.UnverifiedWarning)
        module = pipeline.compile(text, chip="sm_90a", verify=False, sync="keep")
    try:
        check_numbers(module, program)
    except (pipeline.Error, AssertionError):
        return False
    return True


def check_numbers(module: pipeline.Module, program: Program) -> None:
    """Right in all orders of threads and copies, and free of races."""
    inputs = program.make_inputs()
    for mode in MODES:
        given = [array.view(np.int8) if array.dtype == np.uint8 else array for array in inputs]
        result = module.run(*given, backend="emulator", check="all", workers=1, **mode)
        np.testing.assert_array_equal(np.asarray(result), program.expect(inputs))
