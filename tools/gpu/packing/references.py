"""Reference programs: what users compile first, each compared in all ways of calling it, and timed.

Each writes to its last argument. What it computes has a name in `running.references`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from .attention import ATTENTION_MAPS, write_attention

Shape = tuple[int, ...]

ELEMENT_BYTES = {"f32": 4, "f16": 2, "bf16": 2, "f64": 8, "f8E4M3FN": 1}


@dataclass(frozen=True)
class Operand:
    """An array; `row` is how many elements its rows are apart, unless they are adjacent."""

    shape: Shape
    element: str = "f32"
    row: int = 0

    @property
    def bytes(self) -> int:
        """The bytes of all elements."""
        return math.prod(self.shape) * ELEMENT_BYTES[self.element]


@dataclass(frozen=True)
class Reference:
    """A program for arrays of certain shapes, or (`is_dynamic`) of any."""

    function: str
    """The name of what it computes."""
    inputs: tuple[Operand, ...]
    output: Operand
    tolerance: float
    """Largest allowed ``abs(actual - expected) / max(1, abs(expected))``."""
    stages: tuple[str, ...]
    is_dynamic: bool = False

    @property
    def name(self) -> str:
        """What it is called: all that tells it from others."""
        operands = (*self.inputs, self.output)
        elements = dict.fromkeys(operand.element for operand in operands)
        shapes = " ".join("x".join(map(str, operand.shape)) for operand in self.inputs)
        words = [self.function, shapes, "-".join(elements)]
        words += ["of any size"] if self.is_dynamic else []
        words += ["in wider rows"] if any(operand.row for operand in operands) else []
        return " ".join(words)

    @property
    def text(self) -> str:
        """The program."""
        return TEXTS[self.function](self)

    @property
    def work(self) -> tuple[float, str]:
        """What it does, in units of which the second counts a thousand million per second."""
        if self.function == "attention":
            heads, rows, width = self.output.shape
            return 4.0 * heads * rows * rows * width, "GFLOP/s"
        if self.function == "batch_matmul":
            return 2.0 * math.prod(self.output.shape) * self.inputs[0].shape[2], "GFLOP/s"
        if self.function.startswith("matmul"):
            return 2.0 * math.prod(self.output.shape) * self.inputs[0].shape[1], "GFLOP/s"
        if self.function == "conv_2d":
            window = math.prod(self.inputs[1].shape[1:])
            return 2.0 * math.prod(self.output.shape) * window, "GFLOP/s"
        return float(sum(part.bytes for part in (*self.inputs, self.output))), "GB/s"


# --- texts ----------------------------------------------------------------------------------------


def _extents(reference: Reference, operand: Operand) -> list[str]:
    return ["?" if reference.is_dynamic else str(extent) for extent in operand.shape]


def _tensor(reference: Reference, operand: Operand) -> str:
    return f"tensor<{'x'.join([*_extents(reference, operand), operand.element])}>"


def _memref(reference: Reference, operand: Operand) -> str:
    inner = "x".join([*_extents(reference, operand), operand.element])
    layout = ", strided<[?, 1], offset: ?>" if operand.row else ""
    return f"memref<{inner}{layout}>"


def _wrap(reference: Reference, body: str, head: str = "") -> str:
    """Return a program with a function whose body makes `%r` of `%x0`, `%x1`, ... in `%e`."""
    arguments, lines = [], []
    for number, operand in enumerate(reference.inputs):
        tensor, memref = _tensor(reference, operand), _memref(reference, operand)
        arguments.append(f"%m{number}: {memref}")
        lines.append(
            f"  %x{number} = bufferization.to_tensor %m{number} restrict : {memref} to {tensor}"
        )
    out, result = _memref(reference, reference.output), _tensor(reference, reference.output)
    arguments.append(f"%out: {out}")
    sizes = []
    if reference.is_dynamic:
        for dim in range(len(reference.output.shape)):
            lines.append(f"  %i{dim} = arith.constant {dim} : index")
            lines.append(f"  %n{dim} = memref.dim %out, %i{dim} : {out}")
            sizes.append(f"%n{dim}")
    lines.append(f"  %e = tensor.empty({', '.join(sizes)}) : {result}")
    store = "  bufferization.materialize_in_destination %r in restrict writable %out : "
    lines += [body.strip("\n"), f"{store}({result}, {out}) -> ()", "  return"]
    text = "\n".join([f"func.func @main({', '.join(arguments)}) {{", *lines, "}", ""])
    return "\n".join([head, text]) if head else text


def _types(reference: Reference) -> tuple[str, ...]:
    operands = (*reference.inputs, reference.output)
    return tuple(_tensor(reference, operand) for operand in operands)


def _zeros(reference: Reference, value: str = "0.0") -> str:
    element, result = reference.output.element, _types(reference)[-1]
    return f"""\
  %zero = arith.constant {value} : {element}
  %z = linalg.fill ins(%zero : {element}) outs(%e : {result}) -> {result}"""


def _multiply(maps: str = "") -> Callable[[Reference], str]:
    """Return what writes a product, whose sums are of f32 whatever the result is."""

    def write(reference: Reference) -> str:
        x, y, r = _types(reference)
        element = reference.output.element
        if element == "f32":
            return _wrap(
                reference,
                f"""{_zeros(reference)}
  %r = linalg.matmul {maps} ins(%x0, %x1 : {x}, {y}) outs(%z : {r}) -> {r}""",
            )
        wide = r.replace(element, "f32")
        identity = "affine_map<(i, j) -> (i, j)>"
        return _wrap(
            reference,
            f"""
  %zero = arith.constant 0.0 : f32
  %w = tensor.empty() : {wide}
  %z = linalg.fill ins(%zero : f32) outs(%w : {wide}) -> {wide}
  %s = linalg.matmul {maps} ins(%x0, %x1 : {x}, {y}) outs(%z : {wide}) -> {wide}
  %r = linalg.generic {{
      indexing_maps = [{identity}, {identity}], iterator_types = ["parallel", "parallel"]}}
      ins(%s : {wide}) outs(%e : {r}) {{
  ^bb0(%a: f32, %o: {element}):
    %0 = arith.truncf %a : f32 to {element}
    linalg.yield %0 : {element}
  }} -> {r}""",
        )

    return write


_NT = ", ".join(f"affine_map<(i, j, k) -> ({at})>" for at in ("i, k", "j, k", "i, j"))


def _softmax(reference: Reference) -> str:
    x, r = _types(reference)
    return _wrap(
        reference, f"  %r = linalg.softmax dimension(1) ins(%x0 : {x}) outs(%e : {r}) -> {r}"
    )


def _add(reference: Reference) -> str:
    x, y, r = _types(reference)
    return _wrap(reference, f"  %r = linalg.add ins(%x0, %x1 : {x}, {y}) outs(%e : {r}) -> {r}")


def _silu(reference: Reference) -> str:
    x, r = _types(reference)
    element = reference.output.element
    identity = "affine_map<(i, j) -> (i, j)>"
    return _wrap(
        reference,
        f"""
  %one = arith.constant 1.0 : {element}
  %r = linalg.generic {{
      indexing_maps = [{identity}, {identity}], iterator_types = ["parallel", "parallel"]}}
      ins(%x0 : {x}) outs(%e : {r}) {{
  ^bb0(%a: {element}, %o: {element}):
    %0 = arith.negf %a : {element}
    %1 = math.exp %0 : {element}
    %2 = arith.addf %1, %one : {element}
    %3 = arith.divf %a, %2 : {element}
    linalg.yield %3 : {element}
  }} -> {r}""",
    )


def _reduce(operation: str, start: str, dimension: int) -> Callable[[Reference], str]:
    def write(reference: Reference) -> str:
        x, r = _types(reference)
        body = f"{{ {operation} }} ins(%x0 : {x}) outs(%z : {r}) dimensions = [{dimension}]"
        return _wrap(reference, f"{_zeros(reference, start)}\n  %r = linalg.reduce {body}")

    return write


def _transpose(reference: Reference) -> str:
    x, r = _types(reference)
    return _wrap(
        reference,
        f"  %r = linalg.transpose ins(%x0 : {x}) outs(%e : {r}) permutation = [1, 0]",
    )


def _conv_2d(reference: Reference) -> str:
    x, w, r = _types(reference)
    return _wrap(
        reference,
        f"""{_zeros(reference)}
  %r = linalg.conv_2d_nhwc_fhwc {{dilations = dense<1> : vector<2xi64>,
      strides = dense<1> : vector<2xi64>}} ins(%x0, %x1 : {x}, {w}) outs(%z : {r}) -> {r}""",
    )


_NORM_MAPS = """\
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
#vector = affine_map<(i) -> (i)>"""

_NORM = """\
  %zero = arith.constant 0.0 : f32
  %n = arith.constant {columns}.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %e1 = tensor.empty() : {v}
  %z = linalg.fill ins(%zero : f32) outs(%e1 : {v}) -> {v}
  %s = linalg.generic {{indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}}
      ins(%x0 : {t}) outs(%z : {v}) {{
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  }} -> {v}
  %mean = linalg.generic {{indexing_maps = [#vector, #vector], iterator_types = ["parallel"]}}
      ins(%s : {v}) outs(%e1 : {v}) {{
  ^bb0(%a: f32, %o: f32):
    %0 = arith.divf %a, %n : f32
    linalg.yield %0 : f32
  }} -> {v}
  %d = linalg.generic {{
      indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}}
      ins(%x0, %mean : {t}, {v}) outs(%e : {t}) {{
  ^bb0(%a: f32, %c: f32, %o: f32):
    %0 = arith.subf %a, %c : f32
    linalg.yield %0 : f32
  }} -> {t}
  %v = linalg.generic {{indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}}
      ins(%d : {t}) outs(%z : {v}) {{
  ^bb0(%a: f32, %o: f32):
    %0 = arith.mulf %a, %a : f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  }} -> {v}
  %r = linalg.generic {{
      indexing_maps = [#id, #row, #column, #column, #id],
      iterator_types = ["parallel", "parallel"]}}
      ins(%d, %v, %x1, %x2 : {t}, {v}, {w}, {w}) outs(%e : {t}) {{
  ^bb0(%a: f32, %c: f32, %gain: f32, %bias: f32, %o: f32):
    %0 = arith.divf %c, %n : f32
    %1 = arith.addf %0, %eps : f32
    %2 = math.rsqrt %1 : f32
    %3 = arith.mulf %a, %2 : f32
    %4 = arith.mulf %3, %gain : f32
    %5 = arith.addf %4, %bias : f32
    linalg.yield %5 : f32
  }} -> {t}"""


def _layer_norm(reference: Reference) -> str:
    rows, columns = reference.output.shape
    t, w, _, _ = _types(reference)
    body = _NORM.format(columns=columns, t=t, w=w, v=f"tensor<{rows}xf32>")
    return _wrap(reference, body, _NORM_MAPS)


def _copy(reference: Reference) -> str:
    x, r = _types(reference)
    return _wrap(reference, f"  %r = linalg.copy ins(%x0 : {x}) outs(%e : {r}) -> {r}")


def _batch_matmul(reference: Reference) -> str:
    x, y, r = _types(reference)
    return _wrap(
        reference,
        f"""{_zeros(reference)}
  %r = linalg.batch_matmul ins(%x0, %x1 : {x}, {y}) outs(%z : {r}) -> {r}""",
    )


def _attention(reference: Reference) -> str:
    heads, rows, width = reference.output.shape
    body = write_attention(heads, rows, reference.inputs[1].shape[1], width)
    return _wrap(reference, body, ATTENTION_MAPS)


TEXTS: dict[str, Callable[[Reference], str]] = {
    "matmul": _multiply(),
    "matmul_nt": _multiply(f"indexing_maps = [{_NT}]"),
    "softmax": _softmax,
    "layer_norm": _layer_norm,
    "add": _add,
    "silu": _silu,
    "sum_rows": _reduce("arith.addf", "0.0", 1),
    "sum_columns": _reduce("arith.addf", "0.0", 0),
    "max_rows": _reduce("arith.maximumf", "0xFF800000", 1),
    "transpose": _transpose,
    "conv_2d": _conv_2d,
    "copy": _copy,
    "batch_matmul": _batch_matmul,
    "attention": _attention,
}


# --- shapes ---------------------------------------------------------------------------------------

SMALL = ("check", "sanitize")
LARGE = ("time",)


def matmul(
    m: int, n: int, k: int, stages: Sequence[str], *, kinds: str = "f32 f32", nt: bool = False
) -> Reference:
    """Return a product of m x k and k x n; `kinds` are the types of inputs and output."""
    given, made = kinds.split()
    right = (n, k) if nt else (k, n)
    rounding = {"f32": 1e-4, "bf16": 2e-2, "f16": 4e-3}[made]
    tolerance = max(rounding, 1e-4 * k / 512)  # sums of k in f32
    return Reference(
        "matmul_nt" if nt else "matmul",
        (Operand((m, k), given), Operand(right, given)),
        Operand((m, n), made),
        tolerance,
        tuple(stages),
    )


def by_row(
    function: str, rows: int, columns: int, stages: Sequence[str], tolerance: float = 1e-4
) -> Reference:
    """Return what makes a matrix, or a number per row, of a matrix."""
    matrix = Operand((rows, columns))
    inputs = {"layer_norm": [Operand((columns,))] * 2, "add": [matrix]}.get(function, [])
    shapes = {
        "sum_rows": (rows,),
        "max_rows": (rows,),
        "sum_columns": (columns,),
        "transpose": (columns, rows),
    }
    output = Operand(shapes.get(function, (rows, columns)))
    if function.startswith("sum"):
        tolerance *= max(1.0, max(rows, columns) / 512)
    return Reference(function, (matrix, *inputs), output, tolerance, tuple(stages))


def conv(
    images: int, size: int, channels: int, filters: int, window: int, stages: Sequence[str]
) -> Reference:
    """Return a convolution of square images with square windows."""
    left = size - window + 1
    return Reference(
        "conv_2d",
        (
            Operand((images, size, size, channels)),
            Operand((filters, window, window, channels)),
        ),
        Operand((images, left, left, filters)),
        1e-3,
        tuple(stages),
    )


def of_any_size(reference: Reference) -> Reference:
    """Return the program that takes arrays of any size."""
    return Reference(
        reference.function,
        reference.inputs,
        reference.output,
        reference.tolerance,
        reference.stages,
        is_dynamic=True,
    )


def in_wider_rows(reference: Reference) -> Reference:
    """Return the program whose first input is part of a wider matrix."""
    first, *others = reference.inputs
    wide = Operand(first.shape, first.element, first.shape[1] + 12)
    return Reference(
        reference.function,
        (wide, *others),
        reference.output,
        reference.tolerance,
        reference.stages,
    )


def small() -> Iterator[Reference]:
    """Give programs that are checked in all ways, and watched: divisible, ragged, of any size."""
    yield matmul(64, 64, 64, SMALL)
    yield matmul(65, 33, 129, SMALL)
    yield of_any_size(matmul(65, 33, 129, SMALL))
    yield matmul(128, 128, 128, SMALL, kinds="bf16 f32")
    yield matmul(65, 72, 40, SMALL, kinds="bf16 bf16")
    yield matmul(64, 64, 64, SMALL, kinds="f16 f16")
    yield matmul(64, 32, 96, SMALL, kinds="f8E4M3FN f32")
    yield matmul(65, 33, 129, SMALL, nt=True)
    for function in ("softmax", "layer_norm", "add", "silu", "sum_rows", "sum_columns"):
        yield by_row(function, 64, 256, SMALL)
        yield by_row(function, 37, 133, SMALL)
    for function in ("max_rows", "transpose"):
        yield by_row(function, 64, 256, SMALL, 0.0)
        yield by_row(function, 37, 133, SMALL, 0.0)
    yield of_any_size(by_row("softmax", 37, 133, SMALL))
    yield of_any_size(by_row("add", 37, 133, SMALL))
    yield in_wider_rows(by_row("add", 37, 132, SMALL))
    yield conv(2, 10, 16, 16, 3, SMALL)
    yield conv(1, 11, 5, 7, 3, SMALL)


def large() -> Iterator[Reference]:
    """Give programs that are timed."""
    for size in (1024, 2048, 4096, 4097):
        yield matmul(size, size, size, LARGE)
    for size in (1024, 2048, 4096, 8192):
        yield matmul(size, size, size, LARGE, kinds="bf16 f32")
    for kinds in ("bf16 bf16", "f16 f16"):
        yield matmul(4096, 4096, 4096, LARGE, kinds=kinds)
    yield matmul(4096, 4096, 4096, LARGE, kinds="bf16 f32", nt=True)
    yield matmul(4096, 4096, 4096, LARGE, nt=True)
    yield matmul(8192, 8192, 512, LARGE, kinds="bf16 f32")
    yield matmul(65536, 1024, 1024, LARGE, kinds="bf16 f32")
    for function in ("softmax", "layer_norm", "add", "silu", "sum_rows", "sum_columns"):
        yield by_row(function, 8192, 4096, LARGE)
        yield by_row(function, 8191, 4097, LARGE)
    for function in ("max_rows", "transpose"):
        yield by_row(function, 8192, 4096, LARGE, 0.0)
        yield by_row(function, 8191, 4097, LARGE, 0.0)
    yield conv(32, 58, 64, 64, 3, LARGE)
    yield conv(8, 30, 256, 256, 3, LARGE)


REFERENCES = (*small(), *large())
