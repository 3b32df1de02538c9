"""Programs that make rows, and sum them up: what makes the elements, and what reads them.

Both are texts of linalg with what NumPy makes of them, so that each can be put behind each.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

MAPS = """\
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
#all = affine_map<(i, j) -> ()>
"""
DTYPES: dict[str, Any] = {"f32": np.float32, "f64": np.float64, "i32": np.int32, "i8": np.int8}
LEAST = {"f32": "0xFF800000", "f64": "0xFFF0000000000000", "i32": "-2147483648", "i8": "-128"}


class Shape(NamedTuple):
    """Rows of elements of a type."""

    rows: int
    length: int
    element: str

    @property
    def tensor(self) -> str:
        return f"tensor<{self.rows}x{self.length}x{self.element}>"

    @property
    def is_float(self) -> bool:
        return self.element[0] == "f"

    def spell(self, number: int) -> str:
        return f"{number}.0" if self.is_float else str(number)

    def choose(self, of_floats: str, of_integers: str) -> str:
        return of_floats if self.is_float else of_integers


class Source(NamedTuple):
    """What makes ``%x``: its text, and its elements of the arguments."""

    text: Callable[[Shape], str]
    value: Callable[[Shape, list[Any]], Any]
    arguments: Callable[[Shape], list[tuple[str, tuple[int, ...]]]] = lambda shape: []


class Reader(NamedTuple):
    """What is made of ``%x``: its text, the results, their types, and what NumPy makes."""

    text: Callable[[Shape], str]
    results: tuple[str, ...]
    types: Callable[[Shape], list[str]]
    value: Callable[[Any], list[Any]]
    arguments: Callable[[Shape], list[tuple[str, tuple[int, ...]]]] = lambda shape: []
    only_floats: bool = False


def _generic(
    name: str, shape: Shape, inputs: dict[str, str], body: str, arguments: str = ""
) -> str:
    """Return an element-wise operation; `inputs` have their maps."""
    types = {"id": shape.tensor, "row": f"tensor<{shape.rows}x{shape.element}>"}
    maps = ", ".join(f"#{of}" for of in [*inputs.values(), "id"])
    names = ", ".join(f"%{key}" for key in inputs)
    listed = ", ".join(types[of] for of in inputs.values())
    given = f" ins({names} : {listed})" if inputs else ""
    formal = "".join(f"%p{number}: {shape.element}, " for number in range(len(inputs)))
    return f"""\
  %e{name} = tensor.empty() : {shape.tensor}
  %{name} = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "parallel"]}}
      {given} outs(%e{name} : {shape.tensor}) {{
  ^bb0({formal}%o: {shape.element}):
{body}
  }} -> {shape.tensor}
"""


def _from_i32(value: str, shape: Shape) -> str:
    """Return what makes ``%v`` of a number of 32 bits."""
    if shape.element == "i32":
        return f"    %v = arith.addi %{value}, %zero : i32"
    if shape.element == "i8":
        return f"    %v = arith.trunci %{value} : i32 to i8"
    return f"    %v = arith.sitofp %{value} : i32 to {shape.element}"


_INDICES = """\
    %zero = arith.constant 0 : i32
    %seven = arith.constant 7 : i32
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %s = arith.addi %i, %j : index
    %n = arith.index_cast %s : index to i32
    %m = arith.remsi %n, %seven : i32
"""


def _remainders(shape: Shape) -> Any:
    i, j = np.indices((shape.rows, shape.length), np.int64)
    return ((i + j) % 7).astype(DTYPES[shape.element])


def _iota(shape: Shape) -> str:
    body = f"{_INDICES}{_from_i32('m', shape)}\n    linalg.yield %v : {shape.element}"
    return _generic("x", shape, {}, body)


def _chain(shape: Shape) -> str:
    """Numbers of 32 bits, then what is made of them."""
    numbers = shape._replace(element="i32")
    body = _from_i32("p0", shape)
    made = _generic("numbers", numbers, {}, f"{_INDICES}    linalg.yield %m : i32")
    converted = _generic(
        "x",
        shape,
        {"numbers": "id"},
        f"    %zero = arith.constant 0 : i32\n{body}\n    linalg.yield %v : {shape.element}",
    )
    return made + converted.replace(
        f"ins(%numbers : {shape.tensor})", f"ins(%numbers : {numbers.tensor})"
    ).replace(f"%p0: {shape.element}", "%p0: i32")


def _fill(shape: Shape) -> str:
    return f"""\
  %three = arith.constant {shape.spell(3)} : {shape.element}
  %ex = tensor.empty() : {shape.tensor}
  %x = linalg.fill ins(%three : {shape.element}) outs(%ex : {shape.tensor}) -> {shape.tensor}
"""


def _generate(shape: Shape) -> str:
    body = _INDICES.replace(
        "    %i = linalg.index 0 : index\n    %j = linalg.index 1 : index\n", ""
    )
    return f"""\
  %x = tensor.generate {{
  ^bb0(%i: index, %j: index):
{body}{_from_i32("m", shape)}
    tensor.yield %v : {shape.element}
  }} : {shape.tensor}
"""


def _broadcast(shape: Shape) -> str:
    """Of an argument along the rows: nothing that is read goes along the sums."""
    body = f"""{_INDICES}{_from_i32("m", shape)}
    %w = {shape.choose("arith.addf", "arith.addi")} %v, %p0 : {shape.element}
    linalg.yield %w : {shape.element}"""
    return _generic("x", shape, {"b": "row"}, body)


def _square(shape: Shape) -> str:
    mul = shape.choose("arith.mulf", "arith.muli")
    body = f"    %v = {mul} %p0, %p0 : {shape.element}\n    linalg.yield %v : {shape.element}"
    return _generic("x", shape, {"b": "id"}, body)


SOURCES = {
    "iota": Source(_iota, lambda shape, _: _remainders(shape)),
    "iota and cast": Source(_chain, lambda shape, _: _remainders(shape)),
    "fill": Source(_fill, lambda shape, _: np.full(shape[:2], 3, DTYPES[shape.element])),
    "generate": Source(_generate, lambda shape, _: _remainders(shape)),
    "broadcast": Source(
        _broadcast,
        lambda shape, given: _remainders(shape) + given[0][:, None],
        lambda shape: [("b", (shape.rows,))],
    ),
    "argument": Source(
        _square,
        lambda shape, given: given[0] * given[0],
        lambda shape: [("b", (shape.rows, shape.length))],
    ),
}


def _sum(
    shape: Shape, name: str = "r", along: str = "row", source: str = "x", kind: str = ""
) -> str:
    """Return the sums, or what `kind` names, of rows, columns or everything."""
    count = {"row": f"{shape.rows}x", "column": f"{shape.length}x", "all": ""}[along]
    loops = {
        "row": '"parallel", "reduction"',
        "column": '"reduction", "parallel"',
        "all": '"reduction", "reduction"',
    }[along]
    result = f"tensor<{count}{shape.element}>"
    start = LEAST[shape.element] if kind == "max" else shape.spell(0)
    op = shape.choose("arith.maximumf", "arith.maxsi")
    op = op if kind == "max" else shape.choose("arith.addf", "arith.addi")
    return f"""\
  %s{name} = arith.constant {start} : {shape.element}
  %e{name} = tensor.empty() : {result}
  %f{name} = linalg.fill ins(%s{name} : {shape.element}) outs(%e{name} : {result}) -> {result}
  %{name} = linalg.generic {{indexing_maps = [#id, #{along}], iterator_types = [{loops}]}}
      ins(%{source} : {shape.tensor}) outs(%f{name} : {result}) {{
  ^bb0(%p: {shape.element}, %q: {shape.element}):
    %v = {op} %p, %q : {shape.element}
    linalg.yield %v : {shape.element}
  }} -> {result}
"""


def _softmax(shape: Shape) -> str:
    t = shape.element
    return (
        _sum(shape, "m", kind="max")
        + _generic(
            "y",
            shape,
            {"x": "id", "m": "row"},
            f"    %d = arith.subf %p0, %p1 : {t}\n    %v = math.exp %d : {t}\n"
            f"    linalg.yield %v : {t}",
        )
        + _sum(shape, "z", source="y")
        + _generic(
            "r",
            shape,
            {"y": "id", "z": "row"},
            f"    %v = arith.divf %p0, %p1 : {t}\n    linalg.yield %v : {t}",
        )
    )


def _softmax_value(x: Any) -> list[Any]:
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return [e / e.sum(axis=1, keepdims=True)]


def _norm(shape: Shape) -> str:
    t = shape.element
    scale = f"    %k = arith.constant {shape.length}.0 : {t}\n"
    return (
        _sum(shape, "m")
        + _generic(
            "centred",
            shape,
            {"x": "id", "m": "row"},
            f"{scale}    %d = arith.divf %p1, %k : {t}\n    %v = arith.subf %p0, %d : {t}\n"
            f"    linalg.yield %v : {t}",
        )
        + _generic(
            "squares",
            shape,
            {"centred": "id"},
            f"    %v = arith.mulf %p0, %p0 : {t}\n    linalg.yield %v : {t}",
        )
        + _sum(shape, "z", source="squares")
        + _generic(
            "r",
            shape,
            {"centred": "id", "z": "row"},
            f"{scale}    %one = arith.constant 1.0 : {t}\n    %d = arith.divf %p1, %k : {t}\n"
            f"    %f = arith.addf %d, %one : {t}\n    %g = math.rsqrt %f : {t}\n"
            f"    %v = arith.mulf %p0, %g : {t}\n    linalg.yield %v : {t}",
        )
    )


def _norm_value(x: Any) -> list[Any]:
    c = x - x.mean(axis=1, keepdims=True)
    return [c / np.sqrt((c * c).mean(axis=1, keepdims=True) + 1)]


def _argmax(shape: Shape) -> str:
    t = shape.element
    first, second = f"tensor<{shape.rows}x{t}>", f"tensor<{shape.rows}xi64>"
    compare = shape.choose("arith.cmpf ogt", "arith.cmpi sgt")
    return f"""\
  %least = arith.constant {LEAST[t]} : {t}
  %none = arith.constant 0 : i64
  %ev = tensor.empty() : {first}
  %ei = tensor.empty() : {second}
  %fv = linalg.fill ins(%least : {t}) outs(%ev : {first}) -> {first}
  %fi = linalg.fill ins(%none : i64) outs(%ei : {second}) -> {second}
  %r:2 = linalg.generic {{indexing_maps = [#id, #row, #row],
                          iterator_types = ["parallel", "reduction"]}}
      ins(%x : {shape.tensor}) outs(%fv, %fi : {first}, {second}) {{
  ^bb0(%p: {t}, %q: {t}, %k: i64):
    %j = linalg.index 1 : index
    %n = arith.index_cast %j : index to i64
    %g = {compare}, %p, %q : {t}
    %v = arith.select %g, %p, %q : {t}
    %w = arith.select %g, %n, %k : i64
    linalg.yield %v, %w : {t}, i64
  }} -> ({first}, {second})
"""


def _both(shape: Shape) -> str:
    """Two sums of one operation."""
    t = shape.element
    result = f"tensor<{shape.rows}x{t}>"
    return f"""\
  %zero = arith.constant {shape.spell(0)} : {t}
  %e = tensor.empty() : {result}
  %f = linalg.fill ins(%zero : {t}) outs(%e : {result}) -> {result}
  %r:2 = linalg.generic {{indexing_maps = [#id, #row, #row],
                          iterator_types = ["parallel", "reduction"]}}
      ins(%x : {shape.tensor}) outs(%f, %f : {result}, {result}) {{
  ^bb0(%p: {t}, %q: {t}, %k: {t}):
    %v = {shape.choose("arith.addf", "arith.addi")} %p, %q : {t}
    %w = {shape.choose("arith.maximumf", "arith.maxsi")} %p, %k : {t}
    linalg.yield %v, %w : {t}, {t}
  }} -> ({result}, {result})
"""


def _product(columns: int) -> Callable[[Shape], str]:
    """Return the product with a vector of ones, or a matrix of `columns`."""

    def make(shape: Shape) -> str:
        across = f"{columns}x" if columns else ""
        right = f"tensor<{shape.length}x{across}{shape.element}>"
        result = f"tensor<{shape.rows}x{across}{shape.element}>"
        return f"""\
  %zero = arith.constant {shape.spell(0)} : {shape.element}
  %e = tensor.empty() : {result}
  %f = linalg.fill ins(%zero : {shape.element}) outs(%e : {result}) -> {result}
  %r = linalg.{"matmul" if columns else "matvec"} ins(%x, %ones : {shape.tensor}, {right})
      outs(%f : {result}) -> {result}
"""

    return make


def _of_rows(*elements: str) -> Callable[[Shape], list[str]]:
    return lambda shape: [f"tensor<{shape.rows}x{item or shape.element}>" for item in elements]


def _sum_of(x: Any, axis: int | None) -> Any:
    return x.sum(axis=axis, dtype=x.dtype)


READERS = {
    "rows": Reader(_sum, ("r",), _of_rows(""), lambda x: [_sum_of(x, 1)]),
    "columns": Reader(
        lambda shape: _sum(shape, along="column"),
        ("r",),
        lambda shape: [f"tensor<{shape.length}x{shape.element}>"],
        lambda x: [_sum_of(x, 0)],
    ),
    "whole": Reader(
        lambda shape: _sum(shape, along="all"),
        ("r",),
        lambda shape: [f"tensor<{shape.element}>"],
        lambda x: [_sum_of(x, None)],
    ),
    "sum and maximum": Reader(
        lambda shape: _sum(shape) + _sum(shape, "m", kind="max"),
        ("r", "m"),
        _of_rows("", ""),
        lambda x: [_sum_of(x, 1), x.max(axis=1)],
    ),
    "both at once": Reader(
        _both,
        ("r#0", "r#1"),
        _of_rows("", ""),
        lambda x: [_sum_of(x, 1), np.maximum(x.max(axis=1), 0)],
    ),
    "argmax": Reader(
        _argmax,
        ("r#0", "r#1"),
        _of_rows("", "i64"),
        lambda x: [x.max(axis=1), x.argmax(axis=1)],
    ),
    "softmax": Reader(
        _softmax, ("r",), lambda shape: [shape.tensor], _softmax_value, only_floats=True
    ),
    "norm": Reader(_norm, ("r",), lambda shape: [shape.tensor], _norm_value, only_floats=True),
    "matvec": Reader(
        _product(0),
        ("r",),
        _of_rows(""),
        lambda x: [_sum_of(x, 1)],
        lambda shape: [("ones", (shape.length,))],
    ),
    "matmul": Reader(
        _product(24),
        ("r",),
        lambda shape: [f"tensor<{shape.rows}x24x{shape.element}>"],
        lambda x: [np.repeat(_sum_of(x, 1)[:, None], 24, axis=1)],
        lambda shape: [("ones", (shape.length, 24))],
    ),
}


class Program(NamedTuple):
    """A source with a reader behind it."""

    source: str
    reader: str
    shape: Shape

    @property
    def text(self) -> str:
        source, reader = SOURCES[self.source], READERS[self.reader]
        arguments = ", ".join(
            f"%{name}: tensor<{''.join(f'{extent}x' for extent in extents)}{self.shape.element}>"
            for name, extents in self._arguments
        )
        types = ", ".join(reader.types(self.shape))
        body = source.text(self.shape) + reader.text(self.shape)
        results = ", ".join(f"%{name}" for name in reader.results)
        return (
            f"{MAPS}func.func @main({arguments}) -> ({types}) {{\n{body}"
            f"  return {results} : {types}\n}}\n"
        )

    @property
    def _arguments(self) -> list[tuple[str, tuple[int, ...]]]:
        readers = READERS[self.reader].arguments(self.shape)
        return [*SOURCES[self.source].arguments(self.shape), *readers]

    def make_arguments(self) -> list[Any]:
        """Return small numbers for what the source reads, and ones to multiply by."""
        random, kind = np.random.default_rng(0), DTYPES[self.shape.element]
        return [
            np.ones(extents, kind)
            if name == "ones"
            else random.integers(0, 3, extents).astype(kind)
            for name, extents in self._arguments
        ]

    def expect(self, arguments: list[Any]) -> list[Any]:
        x = SOURCES[self.source].value(self.shape, arguments)
        return READERS[self.reader].value(x)


def make_programs(shape: Shape) -> list[Program]:
    """Return all programs for elements of a type."""
    return [
        Program(source, reader, shape)
        for source in SOURCES
        for reader in READERS
        if shape.is_float or not READERS[reader].only_floats
    ]
