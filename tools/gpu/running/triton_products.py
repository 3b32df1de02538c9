"""Products and convolutions in Triton: tiles by pointers, and persistent ones by the TMA."""
# mypy: ignore-errors

from __future__ import annotations

import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

_TMA_BYTES = 16
"""What divides the distance of rows that the tensor memory accelerator reads."""


def _configure(*tiles, before=None):
    return [
        triton.Config(
            {"M": m, "N": n, "K": k, "GROUP": 8},
            num_stages=stages,
            num_warps=warps,
            pre_hook=before,
        )
        for m, n, k, stages, warps in tiles
    ]


_CONFIGS = _configure(
    (128, 256, 64, 3, 8),
    (64, 256, 32, 4, 4),
    (128, 128, 32, 4, 4),
    (128, 64, 32, 4, 4),
    (64, 128, 32, 4, 4),
    (128, 32, 32, 4, 4),
    (64, 32, 32, 5, 2),
    (128, 128, 64, 4, 8),
)


@triton.jit
def _find_tile(block, down, across, GROUP: tl.constexpr):
    # Blocks of a few rows of tiles after one another, so that they share columns in the cache.
    group = block // (GROUP * across)
    height = min(down - group * GROUP, GROUP)
    place = block % (GROUP * across)
    return group * GROUP + place % height, place // height


# --- by pointers ----------------------------------------------------------------------------------


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
    row, column = _find_tile(tl.program_id(0), tl.cdiv(rows, M), tl.cdiv(columns, N), GROUP)
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


@triton.autotune(configs=_CONFIGS, key=["pixels", "filters", "channels"])
@triton.jit
def _conv_2d(
    x,
    windows,
    out,
    pixels,
    filters,
    channels,
    height,
    width,
    out_height,
    out_width,
    HIGH: tl.constexpr,
    WIDE: tl.constexpr,
    PRECISION: tl.constexpr,
    M: tl.constexpr,
    N: tl.constexpr,
    K: tl.constexpr,
    GROUP: tl.constexpr,
):
    # A product of all pixels of the output by all filters, over the window and the channels.
    row, column = _find_tile(tl.program_id(0), tl.cdiv(pixels, M), tl.cdiv(filters, N), GROUP)
    i = row * M + tl.arange(0, M)
    j = (column * N + tl.arange(0, N)).to(tl.int64)
    image, place = i // (out_height * out_width), i % (out_height * out_width)
    corner = (image * height + place // out_width).to(tl.int64) * width + place % out_width
    steps = tl.cdiv(channels, K)
    total = tl.zeros((M, N), tl.float32)
    for step in range(0, HIGH * WIDE * steps):
        tap = step // steps
        k = step % steps * K + tl.arange(0, K)
        pixel = corner + tap // WIDE * width + tap % WIDE
        a = tl.load(
            x + pixel[:, None] * channels + k[None, :],
            (i[:, None] < pixels) & (k[None, :] < channels),
            other=0.0,
        )
        b = tl.load(
            windows + (j[None, :] * (HIGH * WIDE) + tap) * channels + k[:, None],
            (k[:, None] < channels) & (j[None, :] < filters),
            other=0.0,
        )
        total = tl.dot(a, b, total, input_precision=PRECISION)
    mask = (i[:, None] < pixels) & (j[None, :] < filters)
    at = i[:, None].to(tl.int64) * filters + j[None, :]
    tl.store(out + at, total.to(out.dtype.element_ty), mask)


# --- by the tensor memory accelerator -------------------------------------------------------------


def _set_boxes(arguments):
    """Have descriptors move what the tiles of a configuration hold."""
    m, n, k = (arguments[name] for name in "MNK")
    arguments["x"].block_shape = [m, k]
    arguments["y"].block_shape = [n, k] if arguments["IS_TRANSPOSED"] else [k, n]
    arguments["out"].block_shape = [m, n // 2]


_TMA_CONFIGS = _configure(
    (128, 256, 64, 3, 8),
    (128, 256, 64, 4, 8),
    (128, 128, 64, 3, 4),
    (128, 128, 64, 4, 8),
    (128, 128, 128, 3, 8),
    (128, 128, 32, 4, 8),
    (128, 64, 64, 4, 4),
    (64, 128, 32, 4, 4),
    before=_set_boxes,
)


@triton.autotune(configs=_TMA_CONFIGS, key=["rows", "columns", "inner"])
@triton.jit
def _tma_matmul(
    x,
    y,
    out,
    rows,
    columns,
    inner,
    PROGRAMS: tl.constexpr,
    IS_TRANSPOSED: tl.constexpr,
    PRECISION: tl.constexpr,
    M: tl.constexpr,
    N: tl.constexpr,
    K: tl.constexpr,
    GROUP: tl.constexpr,
):
    # As many programs as fit the GPU, each of which goes on to another tile. The loops are made
    # one, so that the next tile is loaded while one is stored, which is counted by itself for that.
    down, across = tl.cdiv(rows, M), tl.cdiv(columns, N)
    stored = tl.program_id(0) - PROGRAMS
    for block in tl.range(tl.program_id(0), down * across, PROGRAMS, flatten=True):
        row, column = _find_tile(block, down, across, GROUP)
        total = tl.zeros((M, N), tl.float32)
        for step in range(tl.cdiv(inner, K)):
            a = x.load([row * M, step * K])
            if IS_TRANSPOSED:
                b = y.load([column * N, step * K]).T
            else:
                b = y.load([step * K, column * N])
            total = tl.dot(a, b, total, input_precision=PRECISION)
        stored += PROGRAMS
        row, column = _find_tile(stored, down, across, GROUP)
        # Halves take half of the workgroup memory.
        halves = tl.permute(tl.reshape(total, (M, 2, N // 2)), (0, 2, 1))
        left, right = tl.split(halves)
        out.store([row * M, column * N], left.to(out.dtype))
        out.store([row * M, column * N + N // 2], right.to(out.dtype))


# --- calls ----------------------------------------------------------------------------------------


def _precision(torch, x):
    return "ieee" if x.dtype == torch.float32 else "tf32"


def make_matmul(*, is_transposed):
    """Return what makes calls of products, of y as it is or transposed."""

    def make(torch, inputs, output):
        x, y = inputs
        (rows, inner), columns = x.shape, output.shape[1]
        strides = y.stride()[::-1] if is_transposed else y.stride()
        precision = _precision(torch, x)

        def grid(meta):
            return (triton.cdiv(rows, meta["M"]) * triton.cdiv(columns, meta["N"]),)

        return lambda: _matmul[grid](
            x, y, output, rows, columns, inner, *strides, PRECISION=precision
        )

    return make


def make_conv_2d(torch, inputs, output):
    """Return a call of the convolution of NHWC images with FHWC windows, without a border."""
    x, windows = inputs
    _, height, width, channels = x.shape
    filters, high, wide, _ = windows.shape
    pixels = output.numel() // filters
    sizes = (pixels, filters, channels, height, width, *output.shape[1:3])
    options = {"HIGH": high, "WIDE": wide, "PRECISION": _precision(torch, x)}

    def grid(meta):
        return (triton.cdiv(pixels, meta["M"]) * triton.cdiv(filters, meta["N"]),)

    return lambda: _conv_2d[grid](x, windows, output, *sizes, **options)


def make_tma_matmul(*, is_transposed):
    """Return what makes calls of products by the tensor memory accelerator."""

    def make(torch, inputs, output):
        operands = (*inputs, output)
        for operand in operands:
            if operand.stride(0) * operand.element_size() % _TMA_BYTES:
                words = f"rows of {operand.shape[1]} elements"
                raise NotImplementedError(
                    f"{words} do not start at multiples of {_TMA_BYTES} bytes"
                )
        programs = _count_programs(torch, output)
        (rows, inner), columns = inputs[0].shape, output.shape[1]
        tensors = [TensorDescriptor.from_tensor(operand, [1, 1]) for operand in operands]
        options = {
            "PROGRAMS": programs,
            "IS_TRANSPOSED": is_transposed,
            "PRECISION": _precision(torch, inputs[0]),
        }

        def grid(meta):
            tiles = triton.cdiv(rows, meta["M"]) * triton.cdiv(columns, meta["N"])
            return (min(programs, tiles),)

        return lambda: _tma_matmul[grid](*tensors, rows, columns, inner, **options)

    return make


def _count_programs(torch, output):
    """Return how many programs run at a time. Raises NotImplementedError without a TMA."""
    major, minor = torch.cuda.get_device_capability(output.device)
    if major < 9:
        raise NotImplementedError(f"sm_{major}{minor} has no tensor memory accelerator")
    return torch.cuda.get_device_properties(output.device).multi_processor_count
