"""Kernels of Triton for what reference programs compute, as its tutorials write them."""
# mypy: ignore-errors

from __future__ import annotations

import triton
import triton.language as tl

_LARGEST_ROW = 1 << 16


@triton.jit
def _add(x, y, out, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < size
    tl.store(out + at, tl.load(x + at, mask) + tl.load(y + at, mask), mask)


@triton.jit
def _silu(x, out, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < size
    value = tl.load(x + at, mask).to(tl.float32)
    tl.store(out + at, value / (1.0 + tl.exp(-value)), mask)


@triton.jit
def _softmax(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * columns
    at = tl.arange(0, BLOCK)
    mask = at < columns
    value = tl.load(x + row + at, mask, other=-float("inf")).to(tl.float32)
    power = tl.exp(value - tl.max(value, 0))
    tl.store(out + row + at, power / tl.sum(power, 0), mask)


@triton.jit
def _layer_norm(x, scale, shift, out, columns, epsilon, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * columns
    at = tl.arange(0, BLOCK)
    mask = at < columns
    value = tl.load(x + row + at, mask, other=0.0).to(tl.float32)
    centred = tl.where(mask, value - tl.sum(value, 0) / columns, 0.0)
    root = tl.sqrt(tl.sum(centred * centred, 0) / columns + epsilon)
    result = centred / root * tl.load(scale + at, mask) + tl.load(shift + at, mask)
    tl.store(out + row + at, result, mask)


@triton.jit
def _reduce_rows(x, out, columns, BLOCK: tl.constexpr, IS_MAX: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * columns
    at = tl.arange(0, BLOCK)
    if IS_MAX:
        value = tl.load(x + row + at, at < columns, other=-float("inf"))
        tl.store(out + tl.program_id(0), tl.max(value, 0))
    else:
        value = tl.load(x + row + at, at < columns, other=0.0)
        tl.store(out + tl.program_id(0), tl.sum(value, 0))


@triton.jit
def _transpose(x, out, rows, columns, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = (i[:, None] < rows) & (j[None, :] < columns)
    tile = tl.load(x + i[:, None].to(tl.int64) * columns + j[None, :], mask)
    mask = (j[:, None] < columns) & (i[None, :] < rows)
    tl.store(out + j[:, None].to(tl.int64) * rows + i[None, :], tl.trans(tile), mask)


_CONFIGS = [
    triton.Config({"M": m, "N": n, "K": k, "GROUP": 8}, num_stages=stages, num_warps=warps)
    for m, n, k, stages, warps in (
        (128, 256, 64, 3, 8),
        (64, 256, 32, 4, 4),
        (128, 128, 32, 4, 4),
        (128, 64, 32, 4, 4),
        (64, 128, 32, 4, 4),
        (128, 32, 32, 4, 4),
        (64, 32, 32, 5, 2),
        (128, 128, 64, 4, 8),
    )
]


@triton.autotune(configs=_CONFIGS, key=["rows", "columns", "inner"])
@triton.jit
def _matmul(
    x,
    y,
    out,
    rows,
    columns,
    inner,
    y_row,
    y_column,
    PRECISION: tl.constexpr,
    M: tl.constexpr,
    N: tl.constexpr,
    K: tl.constexpr,
    GROUP: tl.constexpr,
):
    # Blocks of a few rows of tiles after one another, so that they share columns in the cache.
    block = tl.program_id(0)
    down, across = tl.cdiv(rows, M), tl.cdiv(columns, N)
    group = block // (GROUP * across)
    height = min(down - group * GROUP, GROUP)
    row = group * GROUP + (block % (GROUP * across)) % height
    column = (block % (GROUP * across)) // height
    i = (row * M + tl.arange(0, M)).to(tl.int64)
    j = (column * N + tl.arange(0, N)).to(tl.int64)
    total = tl.zeros((M, N), tl.float32)
    for start in range(0, inner, K):
        k = (start + tl.arange(0, K)).to(tl.int64)
        a = tl.load(
            x + i[:, None] * inner + k[None, :],
            (i[:, None] < rows) & (k[None, :] < inner),
            other=0.0,
        )
        b = tl.load(
            y + k[:, None] * y_row + j[None, :] * y_column,
            (k[:, None] < inner) & (j[None, :] < columns),
            other=0.0,
        )
        total = tl.dot(a, b, total, input_precision=PRECISION)
    mask = (i[:, None] < rows) & (j[None, :] < columns)
    tl.store(out + i[:, None] * columns + j[None, :], total.to(out.dtype.element_ty), mask)


def _make_add(torch, inputs, output):
    x, y = inputs
    size = output.numel()
    return lambda: _add[(triton.cdiv(size, 1024),)](x, y, output, size, BLOCK=1024)


def _make_silu(torch, inputs, output):
    (x,) = inputs
    size = output.numel()
    return lambda: _silu[(triton.cdiv(size, 1024),)](x, output, size, BLOCK=1024)


def _row_block(columns):
    block = triton.next_power_of_2(columns)
    if block > _LARGEST_ROW:
        raise NotImplementedError(f"rows of {columns} do not fit a program")
    return block


def _warps(block):
    return max(4, min(16, block // 512))


def _make_softmax(torch, inputs, output):
    (x,) = inputs
    rows, columns = x.shape
    block = _row_block(columns)
    options = {"BLOCK": block, "num_warps": _warps(block)}
    return lambda: _softmax[(rows,)](x, output, columns, **options)


def _make_layer_norm(torch, inputs, output):
    x, scale, shift = inputs
    rows, columns = x.shape
    block = _row_block(columns)
    options = {"BLOCK": block, "num_warps": _warps(block)}
    return lambda: _layer_norm[(rows,)](x, scale, shift, output, columns, 1e-5, **options)


def _make_reduction(is_max):
    def make(torch, inputs, output):
        (x,) = inputs
        rows, columns = x.shape
        block = _row_block(columns)
        options = {"BLOCK": block, "IS_MAX": is_max, "num_warps": _warps(block)}
        return lambda: _reduce_rows[(rows,)](x, output, columns, **options)

    return make


def _make_transpose(torch, inputs, output):
    (x,) = inputs
    rows, columns = x.shape
    grid = (triton.cdiv(rows, 64), triton.cdiv(columns, 64))
    return lambda: _transpose[grid](x, output, rows, columns, BLOCK=64)


def _make_matmul(is_transposed):
    def make(torch, inputs, output):
        x, y = inputs
        (rows, inner), columns = x.shape, output.shape[1]
        strides = y.stride()[::-1] if is_transposed else y.stride()
        precision = "ieee" if x.dtype == torch.float32 else "tf32"

        def grid(meta):
            return (triton.cdiv(rows, meta["M"]) * triton.cdiv(columns, meta["N"]),)

        return lambda: _matmul[grid](
            x, y, output, rows, columns, inner, *strides, PRECISION=precision
        )

    return make


def _returning(make):
    """Have a maker's calls return what they write."""

    def make_call(torch, inputs, output):
        call = make(torch, inputs, output)

        def run():
            call()
            return output

        return run

    return make_call


TRITON = {
    name: _returning(make)
    for name, make in {
        "add": _make_add,
        "silu": _make_silu,
        "softmax": _make_softmax,
        "layer_norm": _make_layer_norm,
        "sum_rows": _make_reduction(False),
        "max_rows": _make_reduction(True),
        "transpose": _make_transpose,
        "matmul": _make_matmul(False),
        "matmul_nt": _make_matmul(True),
    }.items()
}
"""What makes a call, by the name of the reference; it is given torch, the inputs and the output."""
