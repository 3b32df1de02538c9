"""The kernels of the suite: what is compiled by default schedules and measured without a GPU."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from benchmarks.static.programs import attend, contract, convolve, sum_type
from packing.references import Operand, Reference, by_row

BYTES = {"i8": 1, "f16": 2, "bf16": 2, "f32": 4, "i32": 4, "f64": 8}
LAYOUTS = {"NN": "mk,kn->mn", "NT": "mk,nk->mn", "TN": "km,kn->mn", "TT": "km,nk->mn"}
"""Of matmuls by BLAS's names: N is the order of the indices in NumPy's `a @ b`."""

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Case:
    """A program, whose arguments are all arrays.

    ``group``: matmul, narrow (the result has few rows or columns), conv, attention or memory
    (bound by global memory). ``kind``: the type of the elements that are multiplied, or moved.
    ``bytes``: of all arguments and results. ``same``: the case whose loop this one's is held
    against. ``has_destination``: the last argument is the result. ``operation``: the equation of a
    contraction, else a name. ``options``: of the pipeline `workgroup-memory`, for our own.
    """

    name: str
    group: str
    kind: str
    text: str
    arguments: tuple[tuple[Shape, str], ...]
    bytes: int
    extents: tuple[tuple[str, int], ...] = ()
    is_dynamic: bool = False
    same: str = ""
    has_destination: bool = False
    operation: str = ""
    stride: int = 1
    options: str = ""

    @property
    def aligned(self) -> bool:
        """Whether all rows are known to begin at multiples of 16 bytes."""
        rows = [shape[-1] * BYTES[kind] for shape, kind in self.arguments]
        return not self.is_dynamic and all(row % 16 == 0 for row in rows)

    @property
    def streams(self) -> bool:
        """Whether each element of each argument is used for one element of the result, or row."""
        sizes = [math.prod(shape) for shape, _ in self.arguments]
        inputs = sizes[:-1] if self.has_destination else sizes
        return len(set(inputs)) == 1

    @property
    def keeps_size(self) -> bool:
        """Whether the result, where it is an argument, is as large as the first one."""
        first, last = (math.prod(self.arguments[at][0]) for at in (0, -1))
        return self.has_destination and first == last


def _bytes(operands: Sequence[tuple[Shape, str]]) -> int:
    return sum(math.prod(shape) * BYTES[kind] for shape, kind in operands)


def contraction(
    equation: str, extents: dict[str, int], kind: str, *, name: str, group: str = "matmul",
    is_dynamic: bool = False,
) -> Case:  # fmt: skip
    """Return a sum of products by an equation of numpy.einsum."""
    inputs, result = equation.split("->")
    a, b = (tuple(extents[dim] for dim in operand) for operand in inputs.split(","))
    c = tuple(extents[dim] for dim in result)
    text = contract(equation, extents, kind, is_dynamic=is_dynamic)
    given = ((a, kind), (b, kind))
    total = _bytes((*given, (c, sum_type(kind))))
    return Case(name, group, kind, text, given, total, tuple(extents.items()), is_dynamic,
                operation=equation)  # fmt: skip


def matmul(
    m: int, n: int, k: int, kind: str, layout: str = "NN", *, group: str = "matmul",
    is_dynamic: bool = False,
) -> Case:  # fmt: skip
    """Return a matmul of m x k and k x n."""
    sizes = f"{m}^3" if m == n == k else f"{m}x{n}x{k}"
    words = ["matmul", kind, sizes, layout] if layout != "NN" else ["matmul", kind, sizes]
    words += ["of any size"] if is_dynamic else []
    return contraction(
        LAYOUTS[layout],
        {"m": m, "n": n, "k": k},
        kind,
        name=" ".join(words),
        group=group,
        is_dynamic=is_dynamic,
    )


def _conv(
    op: str, x: Shape, w: Shape, y: Shape, kind: str, *, stride: int = 1, same: str = ""
) -> Case:
    window = "x".join(map(str, w))
    name = f"{op} {kind} {'x'.join(map(str, x))} by {window}"
    name += f", stride {stride}" if stride > 1 else ""
    operands = ((x, kind), (w, kind))
    total = _bytes((*operands, (y, sum_type(kind))))
    text = convolve(op, x, w, y, kind, stride)
    return Case(name, "conv", kind, text, operands, total, same=same, operation=op, stride=stride)


def _attention(heads: int, rows: int, keys: int, width: int, kind: str, *, causal: bool) -> Case:
    q, k = (heads, rows, width), (heads, keys, width)
    name = f"attention {kind} {heads} heads, {rows} rows, {keys} keys of {width}"
    name += ", causal" if causal else ""
    text = attend(heads, rows, keys, width, kind, is_causal=causal)
    arguments = ((q, kind), (k, kind), (k, kind))
    total = _bytes((*arguments, (q, kind)))
    operation = "causal attention" if causal else "attention"
    extents = (("rows", rows), ("keys", keys), ("width", width), ("causal", int(causal)))
    return Case(name, "attention", kind, text, arguments, total, extents, operation=operation)


def _memory(reference: Reference) -> Case:
    operands = tuple((part.shape, part.element) for part in (*reference.inputs, reference.output))
    kind = reference.output.element
    text, total = reference.text, _bytes(operands)
    return Case(reference.name, "memory", kind, text, operands, total, has_destination=True,
                operation=reference.function)  # fmt: skip


def _half(function: str, rows: int, columns: int) -> Reference:
    made = by_row(function, rows, columns, ())
    inputs = tuple(Operand(one.shape, "f16") for one in made.inputs)
    return Reference(function, inputs, Operand(made.output.shape, "f16"), 0.0, ())


def matmuls() -> Iterator[Case]:
    """Give products of matrices."""
    for kind in ("f32", "f16"):
        for size in (512, 1024, 2048, 4096, 8192):
            yield matmul(size, size, size, kind)
        for layout in ("NT", "TN", "TT"):
            yield matmul(4096, 4096, 4096, kind, layout)
        yield matmul(4097, 4095, 4099, kind)
        yield matmul(4096, 4096, 4096, kind, is_dynamic=True)
        yield matmul(8192, 8192, 512, kind)
        yield matmul(256, 256, 16384, kind)
        batch = {"b": 16, "m": 1024, "n": 1024, "k": 1024}
        yield contraction("bmk,bkn->bmn", batch, kind, name=f"batch of 16 matmuls {kind} 1024^3")
    for kind in ("bf16", "i8", "f64"):
        for size in (1024, 4096):
            yield matmul(size, size, size, kind)
        yield matmul(4096, 4096, 4096, kind, "NT")
        yield matmul(4097, 4095, 4099, kind)


def waiting() -> Iterator[Case]:
    """Give products of which the warps that multiply copy tiles, too."""
    for kind, layout in (("f16", "NN"), ("f16", "NT"), ("bf16", "NN")):
        one = matmul(4096, 4096, 4096, kind, layout)
        name = f"{one.name}, no warps for copies"
        yield replace(one, name=name, options="specialize-warps=0")


def narrow() -> Iterator[Case]:
    """Give products whose time is that of reading a matrix."""
    for kind in ("f32", "f16"):
        vector = {"m": 8192, "k": 8192}
        yield contraction("mk,k->m", vector, kind, name=f"matvec {kind} 8192", group="narrow")
        vector = {"n": 8192, "k": 8192}
        yield contraction("k,kn->n", vector, kind, name=f"vecmat {kind} 8192", group="narrow")
        yield matmul(16, 8192, 8192, kind, group="narrow")
        yield matmul(8192, 16, 8192, kind, group="narrow")


def convolutions() -> Iterator[Case]:
    """Give convolutions of residual networks, and the matmul that has the size of one of them."""
    for kind in ("f32", "f16"):
        as_matmul = matmul(32 * 56 * 56, 64, 9 * 64, kind)
        yield as_matmul
        same = as_matmul.name
        yield _conv("conv_2d_nhwc_hwcf", (32, 58, 58, 64), (3, 3, 64, 64), (32, 56, 56, 64), kind,
                    same=same)  # fmt: skip
        yield _conv("conv_2d_nchw_fchw", (32, 64, 58, 58), (64, 64, 3, 3), (32, 64, 56, 56), kind,
                    same=same)  # fmt: skip
        yield _conv("conv_2d_nhwc_hwcf", (32, 57, 57, 128), (3, 3, 128, 128), (32, 28, 28, 128),
                    kind, stride=2)  # fmt: skip
        yield _conv("conv_2d_nhwc_hwcf", (32, 229, 229, 3), (7, 7, 3, 64), (32, 112, 112, 64),
                    kind, stride=2)  # fmt: skip
        yield _conv("conv_1d_nwc_wcf", (32, 1026, 64), (3, 64, 64), (32, 1024, 64), kind)
        yield _conv("conv_3d_ndhwc_dhwcf", (4, 18, 34, 34, 32), (3, 3, 3, 32, 32),
                    (4, 16, 32, 32, 32), kind)  # fmt: skip
        yield _conv("depthwise_conv_2d_nhwc_hwc", (32, 58, 58, 128), (3, 3, 128),
                    (32, 56, 56, 128), kind)  # fmt: skip


def attentions() -> Iterator[Case]:
    """Give attention over whole sequences, and of one row."""
    for causal in (False, True):
        yield _attention(64, 2048, 2048, 64, "f16", causal=causal)
    yield _attention(64, 2048, 2048, 128, "bf16", causal=False)
    yield _attention(64, 1000, 1000, 64, "f16", causal=False)
    yield _attention(64, 1, 4096, 128, "f16", causal=False)


def movers() -> Iterator[Case]:
    """Give what is bound by global memory."""
    functions = ("softmax", "layer_norm", "add", "silu", "sum_rows", "sum_columns", "max_rows")
    for function in (*functions, "transpose"):
        yield _memory(by_row(function, 8192, 4096, ()))
        yield _memory(by_row(function, 8191, 4097, ()))
    for function in ("softmax", "add", "silu", "transpose"):
        yield _memory(_half(function, 8192, 4096))


def cases() -> tuple[Case, ...]:
    """Return the suite."""
    return (*matmuls(), *waiting(), *narrow(), *convolutions(), *attentions(), *movers())
