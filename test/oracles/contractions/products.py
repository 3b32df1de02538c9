"""Products of matrices of any layout, type and size, with what is done to them, and their values.

All numbers are such that sums are exact in any order: results are compared bit by bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

DTYPES: dict[str, np.dtype[Any]] = {
    "f64": np.dtype("float64"),
    "f32": np.dtype("float32"),
    "f16": np.dtype("float16"),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f8E4M3FN": np.dtype(ml_dtypes.float8_e4m3fn),
    "f8E5M2": np.dtype(ml_dtypes.float8_e5m2),
    "i8": np.dtype("int8"),
    "i32": np.dtype("int32"),
}


class Types(NamedTuple):
    """Types of both factors and of sums; which factors have no sign; how f32 is multiplied."""

    factors: tuple[str, str]
    sum: str
    unsigned: tuple[bool, bool] = (False, False)
    numerics: str = "exact"


class View(NamedTuple):
    """A part of an argument: what is skipped before it, and the step, along each dimension."""

    first: tuple[int, ...]
    step: tuple[int, ...]


@dataclass(frozen=True)
class Product:
    """A sum of products: ``sizes`` of the dimensions b (if there is one), m, n and k.

    ``orders``: the dimensions of both factors and of the result, as ``bmk``. ``views``: of both
    factors; None is all of an argument. ``adds``: to an argument, else to zero. ``has_bias``: for
    each n. ``has_other``: an array as large as the result is added. ``is_clamped``: what is
    negative becomes zero. ``converted``: the type of the result, if that is not the type of sums.
    """

    sizes: dict[str, int]
    orders: tuple[str, str, str]
    types: Types
    views: tuple[View | None, View | None] = (None, None)
    is_dynamic: bool = False
    is_memref: bool = False
    is_named: bool = False
    adds: bool = False
    has_bias: bool = False
    has_other: bool = False
    is_clamped: bool = False
    converted: str = ""

    @property
    def has_end(self) -> bool:
        """Whether anything is done to sums."""
        return self.has_bias or self.has_other or self.is_clamped or bool(self.converted)

    @property
    def _is_float(self) -> bool:
        return "f" in self.types.sum

    def _shape(self, order: str) -> tuple[int, ...]:
        return tuple(self.sizes[name] for name in order)

    def _type(self, shape: tuple[int, ...], kind: str) -> str:
        extents = ["?" if self.is_dynamic else str(extent) for extent in shape]
        container = "memref" if self.is_memref else "tensor"
        return f"{container}<{'x'.join([*extents, kind])}>"

    def _whole(self, side: int) -> tuple[int, ...]:
        """Return the shape of an argument, of which a factor may be a part."""
        shape, view = self._shape(self.orders[side]), self.views[side]
        if view is None:
            return shape
        return tuple(
            first + (extent - 1) * step + 2
            for extent, first, step in zip(shape, *view, strict=True)
        )

    def _part(self, side: int) -> tuple[str, str, str]:
        """Return the text that makes a factor, its name and its type."""
        name, kind = "ab"[side], self.types.factors[side]
        shape, view = self._shape(self.orders[side]), self.views[side]
        whole = self._type(self._whole(side), kind)
        if view is None:
            return "", f"%{name}", whole
        extents = self._whole(side)
        part = self._type(shape, kind)
        if self.is_memref:
            strides = [int(np.prod(extents[i + 1 :])) for i in range(len(extents))]
            offset = sum(x * stride for x, stride in zip(view.first, strides, strict=True))
            steps = [x * stride for x, stride in zip(view.step, strides, strict=True)]
            part = f"{part[:-1]}, strided<{steps}, offset: {offset}>>"
        op = "memref.subview" if self.is_memref else "tensor.extract_slice"
        places = f"{list(view.first)} {list(shape)} {list(view.step)}"
        return f"%{name}v = {op} %{name}{places} : {whole} to {part}", f"%{name}v", part

    def text(self) -> str:
        """Return the program."""
        result = self._shape(self.orders[2])
        sums = self._type(result, self.types.sum)
        made = self._type(result, self.converted or self.types.sum)
        bias = self._type((self.sizes["n"],), self.types.sum)
        wholes = [self._type(self._whole(i), self.types.factors[i]) for i in (0, 1)]
        lines = [self._part(side)[0] for side in (0, 1)]
        lines += [*self._start(sums), *self._product(sums)]
        if self.has_end:
            lines += self._end(sums, made, bias)
        last = "%r" if self.has_end else "%s"
        of_memref = f", %out: {made}" if self.has_end else ""
        arguments = (
            f"%a: {wholes[0]}, %b: {wholes[1]}, %start: {sums}, %bias: {bias}, %other: {sums}"
            f"{of_memref if self.is_memref else ''}"
        )
        returned = "" if self.is_memref else f" -> {made}"
        lines.append("return" if self.is_memref else f"return {last} : {made}")
        body = "\n  ".join(line for line in lines if line)
        return f"func.func @main({arguments}){returned} {{\n  {body}\n}}\n"

    def _empty(self, name: str, kind: str) -> list[str]:
        """Return what makes a tensor as large as the result."""
        shape, sums = self._shape(self.orders[2]), self.types.sum
        if not self.is_dynamic:
            return [f"%{name} = tensor.empty() : {self._type(shape, kind)}"]
        lines = []
        for i in range(len(shape)):
            lines += [
                f"%{name}c{i} = arith.constant {i} : index",
                f"%{name}d{i} = tensor.dim %start, %{name}c{i} : {self._type(shape, sums)}",
            ]
        extents = ", ".join(f"%{name}d{i}" for i in range(len(shape)))
        return [*lines, f"%{name} = tensor.empty({extents}) : {self._type(shape, kind)}"]

    def _start(self, sums: str) -> list[str]:
        zero = "0.0" if self._is_float else "0"
        lines = [f"%zero = arith.constant {zero} : {self.types.sum}"]
        if self.adds:
            return lines
        if self.is_memref:
            return [*lines, f"linalg.fill ins(%zero : {self.types.sum}) outs(%start : {sums})"]
        fill = f"linalg.fill ins(%zero : {self.types.sum}) outs(%empty : {sums}) -> {sums}"
        return [*lines, *self._empty("empty", self.types.sum), f"%filled = {fill}"]

    def _product(self, sums: str) -> list[str]:
        (_, a, of_a), (_, b, of_b) = self._part(0), self._part(1)
        start = "%start" if self.adds or self.is_memref else "%filled"
        ends = "" if self.is_memref else f" -> {sums}"
        begins = "" if self.is_memref else "%s = "
        operands = f"ins({a}, {b} : {of_a}, {of_b}) outs({start} : {sums})"
        if self.is_named:
            op = "batch_matmul" if "b" in self.sizes else "matmul"
            return [f"{begins}linalg.{op} {operands}{ends}"]
        loops = [*self.orders[2], "k"]
        maps = ", ".join(
            f"affine_map<({', '.join(loops)}) -> ({', '.join(order)})>" for order in self.orders
        )
        kinds = ", ".join(['"parallel"'] * len(self.orders[2]) + ['"reduction"'])
        first, second = self.types.factors
        return [
            f"{begins}linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}",
            f"    {operands} {{",
            f"^bb0(%p: {first}, %q: {second}, %o: {self.types.sum}):",
            *self._body(),
            f"linalg.yield %next : {self.types.sum}",
            f"}}{ends}",
        ]

    def _body(self) -> list[str]:
        names, lines, of_sum = ["%p", "%q"], [], self.types.sum
        for i, (kind, is_unsigned) in enumerate(
            zip(self.types.factors, self.types.unsigned, strict=True)
        ):
            if kind == of_sum:
                continue
            sign = "u" if is_unsigned else "s"
            cast = f"{sign}itofp" if "i" in kind and self._is_float else f"ext{sign}i"
            cast = "extf" if "f" in kind else cast
            lines.append(f"%e{i} = arith.{cast} {names[i]} : {kind} to {of_sum}")
            names[i] = f"%e{i}"
        letter = "f" if self._is_float else "i"
        return [
            *lines,
            f"%t = arith.mul{letter} {names[0]}, {names[1]} : {of_sum}",
            f"%next = arith.add{letter} %o, %t : {of_sum}",
        ]

    def _end(self, sums: str, made: str, bias: str) -> list[str]:
        of_sum, order = self.types.sum, self.orders[2]
        kind = self.converted or of_sum
        letter, largest = ("f", "maximumf") if self._is_float else ("i", "maxsi")
        loops = ", ".join(order)
        maps = [f"({loops})", "(n)", f"({loops})", f"({loops})"]
        spelled = ", ".join(f"affine_map<({loops}) -> {of}>" for of in maps)
        kinds = ", ".join(['"parallel"'] * len(order))
        value, body = "%x", []
        for is_there, name in ((self.has_bias, "%y"), (self.has_other, "%z")):
            if is_there:
                body.append(f"{value}{name[1]} = arith.add{letter} {value}, {name} : {of_sum}")
                value += name[1]
        if self.is_clamped:
            body.append(f"{value}m = arith.{largest} {value}, %zero : {of_sum}")
            value += "m"
        if self.converted:
            cast = "trunc" + letter if letter == "f" or "i" in kind else "sitofp"
            cast = "extf" if (of_sum, kind) in {("f16", "f32"), ("bf16", "f32")} else cast
            body.append(f"{value}c = arith.{cast} {value} : {of_sum} to {kind}")
            value += "c"
        source = "%start" if self.is_memref else "%s"
        into = "%out" if self.is_memref else "%e"
        return [
            *([] if self.is_memref else self._empty("e", kind)),
            "" if self.is_memref else "%r = ",
            f"linalg.generic {{indexing_maps = [{spelled}],",
            f"    iterator_types = [{kinds}]}}",
            f"    ins({source}, %bias, %other : {sums}, {bias}, {sums}) outs({into} : {made}) {{",
            f"^bb0(%x: {of_sum}, %y: {of_sum}, %z: {of_sum}, %o: {kind}):",
            *body,
            f"linalg.yield {value} : {kind}",
            "}" if self.is_memref else f"}} -> {made}",
        ]

    def arguments(self, seed: int) -> list[Array]:
        """Return random arguments without zeros, of which no sum rounds."""
        rng = np.random.default_rng(seed)
        is_short = self.types.sum in ("f16", "bf16")
        is_integer = "i" in self.types.sum

        def make(kind: str, shape: tuple[int, ...]) -> Array:
            signs = rng.choice([-1, 1], shape)
            numbers: Array = (
                rng.integers(1, 3, shape) / 2 if is_short else rng.integers(1, 9, shape) / 4
            )
            if "i" in kind:
                numbers = rng.integers(1, 100 if is_integer else 9, shape)
            return np.asarray(signs * numbers).astype(DTYPES[kind])

        result = self._shape(self.orders[2])
        shapes = [self._whole(0), self._whole(1), result, (self.sizes["n"],), result]
        kinds = [*self.types.factors, *[self.types.sum] * 3]
        arrays = [make(kind, shape) for kind, shape in zip(kinds, shapes, strict=True)]
        if self.is_memref and self.has_end:
            arrays.append(make(self.converted or self.types.sum, result))
        return arrays

    def compute(self, *arguments: Array) -> Array:
        """Return the result of arguments, by sums in f64 or i64."""
        exact = np.float64 if self._is_float else np.int64
        factors = []
        for side in (0, 1):
            array, view = arguments[side], self.views[side]
            if self.types.unsigned[side]:
                array = array.view(f"u{array.dtype.itemsize}")
            if view is not None:
                shape = self._shape(self.orders[side])
                array = array[
                    tuple(
                        slice(first, first + (extent - 1) * step + 1, step)
                        for extent, first, step in zip(shape, *view, strict=True)
                    )
                ]
            factors.append(array.astype(exact))
        result = np.einsum(f"{self.orders[0]},{self.orders[1]}->{self.orders[2]}", *factors)
        result = result + (arguments[2].astype(exact) if self.adds else 0)
        if self.has_bias:
            spread = [self.sizes["n"] if name == "n" else 1 for name in self.orders[2]]
            result = result + arguments[3].astype(exact).reshape(spread)
        if self.has_other:
            result = result + arguments[4].astype(exact)
        if self.is_clamped:
            result = np.maximum(result, 0)
        sums = result.astype(DTYPES[self.types.sum])
        return np.asarray(sums.astype(DTYPES[self.converted or self.types.sum]))
