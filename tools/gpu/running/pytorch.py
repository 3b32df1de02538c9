"""What PyTorch's own operators make of the inputs of cases, by name; of other cases, nothing.

A pack names its cases; nothing that it holds is run as code. Formulas are given torch and the
arguments, and return what the case is to write, then its results; those of kernels are given the
arrays alone, and return by argument.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .arrays import Array, Json

Formula = Callable[..., Any]
Argument = tuple[Array, str] | bool | int | float
"""The bits of an array with the MLIR type of its elements, or a number."""


def _named(formula: Formula, *names: str) -> dict[str, Formula]:
    return dict.fromkeys(names, formula)


def _wide(torch: Any, x: Any) -> Any:
    """Return numbers in a type that holds products of them, for which CUDA has operators."""
    return x.float() if x.is_floating_point() else x.double()


# --- formulas of several cases --------------------------------------------------------------------


def _multiply(torch: Any, x: Any, y: Any) -> Any:
    return torch.mm(x, y)


def _multiply_wide(torch: Any, x: Any, y: Any) -> Any:
    """Multiply narrow floats in f32, and integers in f64, which holds their sums."""
    return torch.mm(_wide(torch, x), _wide(torch, y))


def _multiply_bytes(torch: Any, x: Any, y: Any) -> Any:
    """Multiply bytes that stand for numbers without sign."""
    return torch.mm(*(part.view(torch.uint8).double() for part in (x, y)))


def _add_product(torch: Any, x: Any, y: Any, z: Any) -> Any:
    return torch.addmm(z, x, y)


def _attend(torch: Any, q: Any, k: Any, v: Any) -> Any:
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, scale=0.125)


def _softmax(dimension: int) -> Formula:
    return lambda torch, x: torch.softmax(x, dimension)


def _sum(*dimensions: int) -> Formula:
    return lambda torch, x: torch.sum(x, dimensions)


def _permute(*order: int) -> Formula:
    return lambda torch, x: x.permute(order).contiguous()


def _einsum(text: str) -> Formula:
    return lambda torch, *inputs: torch.einsum(text, *inputs)


def _normalize_layer(torch: Any, x: Any, scale: Any, shift: Any) -> Any:
    return torch.nn.functional.layer_norm(x, scale.shape, scale, shift, 1e-5)


def _pool(
    torch: Any, x: Any, window: Any, strides: Any, is_max: bool = True, border: int = 0
) -> Any:
    functions = torch.nn.functional
    if is_max:
        return functions.max_pool2d(x, window, strides, border)
    return functions.avg_pool2d(x, window, strides, border, divisor_override=1)


def _convolve_last(
    torch: Any, x: Any, windows: Any, strides: Any = 1, dilation: Any = 1, groups: int = 1
) -> Any:
    """Convolve NHWC images with FCHW windows."""
    made = torch.nn.functional.conv2d(
        x.permute(0, 3, 1, 2), windows, None, strides, 0, dilation, groups
    )
    return made.permute(0, 2, 3, 1)


def _mlp(torch: Any, x: Any, w0: Any, b0: Any, w1: Any, b1: Any) -> Any:
    functions = torch.nn.functional
    hidden = functions.gelu(functions.linear(x, w0, b0))
    return torch.softmax(functions.linear(hidden, w1, b1), -1)


def _conv_net(torch: Any, x: Any, w: Any, b: Any, gain: Any, bias: Any, mean: Any, var: Any) -> Any:
    functions = torch.nn.functional
    y = functions.conv2d(x, w, b, padding=1)
    y = functions.relu(functions.batch_norm(y, mean, var, gain, bias))
    return functions.max_pool2d(y, 3, 2, 1)


def _transformer(torch: Any, x: Any, g: Any, up: Any, gate: Any, down: Any) -> Any:
    functions = torch.nn.functional
    y = functions.rms_norm(x, g.shape, g, 0.0)
    return x + (y @ up * functions.silu(y @ gate)) @ down


def _recur(torch: Any, h: Any, w: Any, steps: int) -> Any:
    for _ in range(steps):
        h = torch.tanh(h @ w)
    return h


# --- programs of the suite ------------------------------------------------------------------------

PROGRAMS: dict[str, Formula] = {
    **_named(
        lambda torch, x, y: torch.add(x, y),
        *("add_divisible", "add_dynamic", "add_one", "add_empty", "add_f64", "add_f16"),
        *("add_bf16", "add_i8", "add_i64"),
    ),
    **_named(_sum(-1), "sum_rows", "sum_rows_divisible", "sum_long_rows", "sum_f64", "sum_i64"),
    **_named(_sum(0), "sum_columns", "split_columns", "split_columns_33", "split_columns_40"),
    **_named(_sum(0), "split_columns_1000"),
    **_named(_sum(1), "sum_middle", "split_rows", "split_middle"),
    "sum_outer_two": _sum(0, 1),
    "sum_outside": _sum(0, 2),
    **_named(lambda torch, x: torch.sum(x), "sum_all", "split_sum_of_all", "split_sum_of_planes"),
    "product_rows": lambda torch, x: torch.prod(x, 1),
    "max_rows": lambda torch, x: torch.amax(x, 1),
    "min_i32_columns": lambda torch, x: torch.amin(x, 0),
    "and_i1": lambda torch, x: torch.all(x, 1),
    **_named(lambda torch, x: tuple(torch.max(x, 1)), "argmax", "argmax_dynamic"),
    "split_least": lambda torch, x: torch.amin(x, 1),
    "split_largest": lambda torch, x: torch.amax(x),
    "split_mean_squared_error": lambda torch, x, y: torch.nn.functional.mse_loss(x, y),
    **_named(_softmax(-1), "softmax", "softmax_dynamic", "softmax_f64", "softmax_one_row"),
    **_named(_softmax(0), "softmax_columns", "softmax_0_of_2xn_f32", "softmax_0_of_5xn_f32"),
    **_named(_softmax(0), "softmax_0_of_3xn_f16"),
    **_named(_softmax(1), "softmax_middle", "softmax_1_of_nx4xn_f32"),
    "layer_norm": _normalize_layer,
    "layer_norm_and_mean": lambda torch, x, g, b: (_normalize_layer(torch, x, g, b), x.mean(1)),
    "rms_norm": lambda torch, x, g: torch.nn.functional.rms_norm(x, g.shape, g, 0.0),
    "batch_norm": lambda torch, x, g, b, mean, var: torch.nn.functional.batch_norm(
        x, mean, var, g, b
    ),
    **_named(
        _multiply,
        *("matmul", "matmul_ragged", "matmul_1x7x13", "matmul_tall", "matmul_empty"),
        *("matmul_without_sum", "matmul_dynamic", "split_sum", "matmul_f64_f64"),
        *("matmul_f16_f16", "matmul_bf16_bf16"),
    ),
    **_named(
        _multiply_wide,
        *("matmul_f16_f32", "matmul_bf16_f32", "matmul_i8_i32", "matmul_i16_i32"),
        *("matmul_i32_i32", "matmul_i64_i64", "matmul_i8_f32"),
    ),
    "matmul_i8_i8": lambda torch, x, y: _multiply_wide(torch, x, y).long(),  # which wraps
    "matmul_ui8_i32": _multiply_bytes,
    **_named(
        lambda torch, x, y, b: torch.relu(torch.addmm(b, x, y)),
        *("matmul_bias_relu", "matmul_bias_relu_dynamic"),
    ),
    **_named(
        lambda torch, x, y, z, b: torch.relu(torch.addmm(z, x, y) + b),
        *("split_product_40x50x4099_f32", "split_product_64x64x4096_f32"),
        *("split_product_33x20x4100_f64", "split_product_1x50x9000_f32"),
    ),
    **_named(_add_product, "matmul_update", "odd_columns", "few_odd_columns", "few_columns"),
    **_named(_add_product, "memref_update"),
    **_named(lambda torch, x, y: torch.mm(x, y.t()), "matmul_nt", "matmul_by_transposition"),
    "matmul_tn": lambda torch, x, y: torch.mm(x.t(), y),
    "matmul_tt": lambda torch, x, y: torch.mm(x.t(), y.t()),
    "batch_matmul": lambda torch, x, y: torch.bmm(x, y),
    "batch_matmul_transposed": lambda torch, x, y: torch.bmm(x, y.mT),
    "batch_reduce_matmul": lambda torch, x, y: torch.bmm(x, y).sum(0),
    "matvec": lambda torch, x, y: torch.mv(x, y),
    "vecmat": lambda torch, x, y: torch.mv(y.t(), x),
    "batch_matvec": lambda torch, x, y: torch.bmm(x, y[:, :, None])[:, :, 0],
    "dot": lambda torch, x, y: torch.dot(x, y),
    "contract": lambda torch, x, y, z: torch.addmm(z, y, x),
    "outer_product": lambda torch, x, y: torch.outer(x, y),
    "two_sums": _einsum("abc,bcd->ad"),
    "batch_inside": _einsum("abc,bcd->abd"),
    "four_free": _einsum("abk,cdk->badc"),
    "two_matmuls": lambda torch, x, y, z: torch.mm(torch.mm(x, y), z),
    "exp_then_matmul": lambda torch, x, y: torch.mm(torch.exp(x), y),
    "cast_matmul_cast": lambda torch, x, y: torch.mm(x.float(), y),
    "conv_1d_ncw": lambda torch, x, w: torch.nn.functional.conv1d(x, w, stride=2),
    "conv_1d_nwc": lambda torch, x, w: (
        torch.nn.functional.conv1d(x.mT, w.permute(2, 1, 0), dilation=3).mT
    ),
    "conv_2d_nchw": lambda torch, x, w: torch.nn.functional.conv2d(x, w),
    **_named(
        lambda torch, x, w: _convolve_last(torch, x, w.permute(3, 2, 0, 1)),
        *("conv_2d_nhwc", "conv_2d_f16"),
    ),
    "conv_2d_nhwc_strided": lambda torch, x, w: _convolve_last(
        torch, x, w.permute(3, 2, 0, 1), (2, 3), (2, 1)
    ),
    "conv_2d_nhwc_fhwc": lambda torch, x, w: _convolve_last(torch, x, w.permute(0, 3, 1, 2)),
    "conv_3d": lambda torch, x, w: torch.nn.functional.conv3d(x, w),
    "conv_depthwise": lambda torch, x, w: _convolve_last(
        torch, x, w.permute(2, 0, 1)[:, None], 2, groups=w.shape[2]
    ),
    "conv_bias_relu": lambda torch, x, w, b: torch.relu(
        torch.nn.functional.conv2d(x, w, b, stride=2)
    ),
    "conv_padded": lambda torch, x, w: torch.nn.functional.conv2d(x, w, padding=1),
    "conv_i8": lambda torch, x, w: _convolve_last(
        torch, x.double(), w.double().permute(3, 2, 0, 1)
    ),
    "memref_conv": lambda torch, x, w, y: y + _convolve_last(torch, x, w.permute(3, 2, 0, 1)),
    "pool_max_nchw": lambda torch, x: _pool(torch, x, 3, 2),
    "pool_sum_nchw": lambda torch, x: _pool(torch, x, 2, 2, is_max=False),
    "pool_max_padded": lambda torch, x: _pool(torch, x, 3, 2, border=1),
    **_named(_permute(1, 0), "transpose", "transpose_ragged_rows", "transpose_divisible"),
    **_named(_permute(1, 0), "transpose_i8"),
    "permute_ragged": _permute(2, 0, 1),
    "permute_4d": _permute(0, 2, 3, 1),
    "permute_outer": _permute(1, 0, 2),
    "gather": lambda torch, table, index: torch.index_select(table, 0, index),
    "embedding": lambda torch, table, index: torch.nn.functional.embedding(index, table),
    "scatter_loop": lambda torch, index, rows, table: table.index_copy(0, index, rows),
    "pad": lambda torch, x, low, high: torch.nn.functional.pad(x, (2, 4, low, high), value=1.5),
    "concat": lambda torch, *parts: torch.cat(parts, 1),
    "reverse": lambda torch, x: torch.flip(x, (0,)),
    "upsample_nearest": lambda torch, x: torch.neg(
        torch.nn.functional.interpolate(x[None], scale_factor=3, mode="nearest")[0]
    ),
    **_named(_attend, "attention", "attention_dynamic", "attention_half_heads"),
    "torch_mlp": _mlp,
    "torch_conv_net": _conv_net,
    "transformer_block": _transformer,
    **_named(
        lambda torch, x, v, w, b: torch.relu(torch.addmm(b, x, v)) @ w + x,
        *("layers", "layers_dynamic", "layers_wide"),
    ),
    "recurrent": _recur,
}
"""By the name of the program in the suite."""


# --- kernels of the suite -------------------------------------------------------------------------


def _to(argument: int, formula: Formula) -> Formula:
    """Return a formula of a kernel that writes its result to one argument."""
    return lambda torch, *arrays: {argument: formula(torch, *arrays)}


_ACCUMULATING = _to(2, _add_product)
_REVERSING = _to(1, lambda torch, x, y: torch.flip(x, (-1,)))
_SUMMING = _to(1, lambda torch, x, y: torch.sum(x, 1))
_SCANNING = _to(0, lambda torch, x: torch.cumsum(x, 1))
_WIDE_PRODUCT = _to(2, lambda torch, x, y, z: z + _multiply_wide(torch, x, y))


def _bin(torch: Any, x: Any, counts: Any) -> Any:
    return counts + torch.bincount(x % 40, minlength=40)


def _slide(torch: Any, x: Any, y: Any) -> Any:
    window = torch.ones((1, 1, 5), dtype=x.dtype, device=x.device)
    return torch.nn.functional.conv1d(x[None, None], window, padding=2)[0, 0] / 4


KERNELS: dict[str, Formula] = {
    **_named(_to(2, lambda torch, x, y, z: torch.mm(x, y)), "matmul", "matmul of dynamic extents"),
    **_named(_ACCUMULATING, "promoted matmul", "K-tiled matmul", "mma tf32", "mma f64"),
    **_named(_WIDE_PRODUCT, "mma f16 to f32", "mma f16 to f16"),
    "mma s8": _to(2, lambda torch, x, y, z: _multiply_wide(torch, x, y.t())),
    "wmma s8": _WIDE_PRODUCT,
    "wmma": _to(2, lambda torch, x, y, z: torch.relu(z + _multiply_wide(torch, x, y)) / 2),
    **_named(
        _to(1, lambda torch, x, y: x.t()),
        *("transpose", "transpose of a row of tiles", "converting copy"),
    ),
    "stencil": _to(1, _slide),
    "copy and reverse": _to(0, lambda torch, x: torch.flip(x, (1,))),
    "tree reduction": _to(
        1, lambda torch, x, y: torch.nn.functional.pad(x, (0, 24)).view(4, 256).sum(1)
    ),
    "histogram": _to(1, _bin),
    **_named(_SCANNING, "scan", "scan by shuffles"),
    "greatest common divisors": _to(0, lambda torch, x, y: torch.gcd(x, y)),
    "sort in private memory": _to(0, lambda torch, x: torch.sort(x, 1).values),
    "calls": _to(1, lambda torch, x, y: torch.flip(torch.square(x), (1,))),
    "assertions": _to(0, lambda torch, x: torch.neg(x)),
    "strided arguments": _to(1, lambda torch, x, y: torch.sub(x, y)),
    "dynamic workgroup memory": _to(
        1, lambda torch, x, y: torch.flip(x, (1,)) / x.sum(1, keepdim=True)
    ),
    "early exits": _to(1, lambda torch, x, y: (x * torch.cumprod((x > 0).to(x.dtype), 1)).sum(1)),
    "expanded extents": _to(3, lambda torch, x, y: x.view(4, 3, 5, 2).permute(0, 3, 2, 1)),
    "3-D blocks": _to(1, lambda torch, x, y: x.permute(0, 3, 1, 2, 4)),
    **_named(_REVERSING, "volatile flag", "relaxed flag", "released flag"),
    **_named(_SUMMING, "single buffer", "double buffer", "ring of three slots"),
    **_named(_SUMMING, "ring of three slots with a single iteration"),
    **_named(
        _to(1, lambda torch, x, y: torch.sum(x, 1, keepdim=True).expand(-1, 64)),
        *("lock", "lock by fences"),
    ),
    "producer and consumer": _to(1, lambda torch, x, y: torch.flip(torch.sum(x, 0), (0,))),
    "two groups": lambda torch, x, y: {0: torch.flip(x, (1,)), 1: torch.flip(y, (1,))},
    "barrier in two parts": _to(1, lambda torch, x, y: x + torch.flip(x, (2,))),
    "last block": lambda torch, x, parts, count, total: {
        1: torch.sum(x, 1),
        2: count + len(x),
        3: torch.sum(x).view(1),
    },
    "ring of tiles": _to(2, lambda torch, x, y: torch.sum(x.view(2, 64, 32), 1)),
}
"""By the name of the kernel's case."""


# --- reference programs ---------------------------------------------------------------------------

REFERENCES: dict[str, Formula] = {
    "matmul": _multiply_wide,
    "matmul_nt": lambda torch, x, y: _multiply_wide(torch, x, y.t()),
    "softmax": _softmax(-1),
    "layer_norm": _normalize_layer,
    "add": lambda torch, x, y: torch.add(x, y),
    "silu": lambda torch, x: torch.nn.functional.silu(x),
    "sum_rows": _sum(-1),
    "sum_columns": _sum(0),
    "max_rows": lambda torch, x: torch.amax(x, -1),
    "transpose": _permute(1, 0),
    "conv_2d": lambda torch, x, w: _convolve_last(torch, x, w.permute(0, 3, 1, 2)),
    "copy": lambda torch, x: torch.clone(x),
    "batch_matmul": lambda torch, x, y: torch.bmm(_wide(torch, x), _wide(torch, y)),
    "attention": lambda torch, q, k, v: torch.nn.functional.scaled_dot_product_attention(q, k, v),
}
"""By what the program computes."""


def find_formula(case: Json) -> Formula | None:
    """Return how PyTorch computes what a case does; None if that is not said here."""
    if case["kind"] == "kernel":
        return KERNELS.get(case["name"])
    if case["kind"] == "program":
        return PROGRAMS.get(case["name"].removeprefix("linalg "))
    return REFERENCES[case["reference"]]
