"""Kernels of Triton for what reference programs compute, as its tutorials do it."""
# mypy: ignore-errors

from __future__ import annotations

import triton
import triton.language as tl

from . import triton_products

_LARGEST_ROW = 1 << 16
_WIDTH, _STEP, _PARTS = 128, 16, 64
"""Columns and rows that a program adds at a time, and into how many parts rows are divided."""


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
def _sum_columns(x, out, rows, columns, height, WIDTH: tl.constexpr, STEP: tl.constexpr):
    # A program adds `height` rows of `WIDTH` columns; `out` has a row of sums for each `height`.
    part = tl.program_id(1)
    j = tl.program_id(0) * WIDTH + tl.arange(0, WIDTH)
    end = tl.minimum(rows, (part + 1) * height)
    total = tl.zeros((STEP, WIDTH), tl.float32)
    for start in range(part * height, end, STEP):
        i = (start + tl.arange(0, STEP)).to(tl.int64)
        mask = (i[:, None] < end) & (j[None, :] < columns)
        total += tl.load(x + i[:, None] * columns + j[None, :], mask, other=0.0)
    tl.store(out + part.to(tl.int64) * columns + j, tl.sum(total, 0), j < columns)


@triton.jit
def _transpose(x, out, rows, columns, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = (i[:, None] < rows) & (j[None, :] < columns)
    tile = tl.load(x + i[:, None].to(tl.int64) * columns + j[None, :], mask)
    mask = (j[:, None] < columns) & (i[None, :] < rows)
    tl.store(out + j[:, None].to(tl.int64) * rows + i[None, :], tl.trans(tile), mask)


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


def _make_sum_columns(torch, inputs, output):
    (x,) = inputs
    rows, columns = x.shape
    # Columns alone are too few programs for a GPU: parts are added first, then their sums.
    height = max(_STEP, triton.cdiv(rows, _PARTS))
    parts = triton.cdiv(rows, height)
    sums = torch.empty((parts, columns), dtype=output.dtype, device=output.device)
    across = triton.cdiv(columns, _WIDTH)
    options = {"WIDTH": _WIDTH, "STEP": _STEP}

    def run():
        _sum_columns[(across, parts)](x, sums, rows, columns, height, **options)
        _sum_columns[(across, 1)](sums, output, parts, columns, parts, **options)

    return run


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
        "sum_columns": _make_sum_columns,
        "max_rows": _make_reduction(True),
        "transpose": _make_transpose,
        "matmul": triton_products.make_matmul(is_transposed=False),
        "matmul_nt": triton_products.make_matmul(is_transposed=True),
        "conv_2d": triton_products.make_conv_2d,
    }.items()
}
"""What makes a call, by the name of the reference; it is given torch, the inputs and the output."""

TRITON_TMA = {
    "matmul": _returning(triton_products.make_tma_matmul(is_transposed=False)),
    "matmul_nt": _returning(triton_products.make_tma_matmul(is_transposed=True)),
}
"""The same by the tensor memory accelerator."""
