"""What PyTorch and Triton have for what reference programs compute, by name.

Each is given the inputs and the output, writes the output, and allocates nothing where its library
lets it. A pack names them; nothing that it holds is run as code.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .reports import shorten

Call = Callable[[], Any]
Maker = Callable[[Any, Sequence[Any], Any], Call]


def _matmul(torch: Any, inputs: Sequence[Any], output: Any) -> Call:
    x, y = inputs
    if output.dtype == x.dtype:
        return lambda: torch.mm(x, y, out=output)
    # cuBLAS with a wider result, which newer versions of PyTorch let one ask for.
    torch.mm(x[:1], y, out_dtype=output.dtype)
    return lambda: torch.mm(x, y, out_dtype=output.dtype)


def _matmul_nt(torch: Any, inputs: Sequence[Any], output: Any) -> Call:
    x, y = inputs
    return _matmul(torch, (x, y.t()), output)


def _softmax(torch: Any, inputs: Sequence[Any], output: Any) -> Call:
    (x,) = inputs
    return lambda: torch.softmax(x, -1, out=output)


def _layer_norm(torch: Any, inputs: Sequence[Any], output: Any) -> Call:
    x, scale, shift = inputs
    return lambda: torch.nn.functional.layer_norm(x, scale.shape, scale, shift, 1e-5)


def _add(torch: Any, inputs: Sequence[Any], output: Any) -> Call:
    x, y = inputs
    return lambda: torch.add(x, y, out=output)


def _silu(torch: Any, inputs: Sequence[Any], output: Any) -> Call:
    (x,) = inputs
    return lambda: torch.nn.functional.silu(x)


def _sum_rows(torch: Any, inputs: Sequence[Any], output: Any) -> Call:
    (x,) = inputs
    return lambda: torch.sum(x, -1, out=output)


def _sum_columns(torch: Any, inputs: Sequence[Any], output: Any) -> Call:
    (x,) = inputs
    return lambda: torch.sum(x, 0, out=output)


def _max_rows(torch: Any, inputs: Sequence[Any], output: Any) -> Call:
    (x,) = inputs
    return lambda: torch.amax(x, -1, out=output)


def _transpose(torch: Any, inputs: Sequence[Any], output: Any) -> Call:
    (x,) = inputs
    return lambda: output.copy_(x.t())


def _conv_2d(torch: Any, inputs: Sequence[Any], output: Any) -> Call:
    x, weights = inputs
    # NHWC as PyTorch has it: dimensions as NCHW, in memory as here.
    images, windows = x.permute(0, 3, 1, 2), weights.permute(0, 3, 1, 2)
    return lambda: torch.nn.functional.conv2d(images, windows).permute(0, 2, 3, 1)


def _copy(torch: Any, inputs: Sequence[Any], output: Any) -> Call:
    (x,) = inputs
    return lambda: output.copy_(x)


def _batch_matmul(torch: Any, inputs: Sequence[Any], output: Any) -> Call:
    x, y = inputs
    # cuBLAS with a wider result, which newer versions of PyTorch let one ask for.
    torch.bmm(x[:1], y[:1], out_dtype=output.dtype)
    return lambda: torch.bmm(x, y, out_dtype=output.dtype)


def _attention(torch: Any, inputs: Sequence[Any], output: Any) -> Call:
    # Dimensions of a batch and of heads, as its fastest kernels want them.
    q, k, v = (part[None] for part in inputs)
    attend = torch.nn.functional.scaled_dot_product_attention
    return lambda: attend(q, k, v)[0]


TORCH: dict[str, Maker] = {
    "matmul": _matmul,
    "matmul_nt": _matmul_nt,
    "softmax": _softmax,
    "layer_norm": _layer_norm,
    "add": _add,
    "silu": _silu,
    "sum_rows": _sum_rows,
    "sum_columns": _sum_columns,
    "max_rows": _max_rows,
    "transpose": _transpose,
    "conv_2d": _conv_2d,
    "copy": _copy,
    "batch_matmul": _batch_matmul,
    "attention": _attention,
}

TMA_NAMES = ("matmul", "matmul_nt")
"""What Triton has another kernel for, which uses the tensor memory accelerator."""


def set_precision(torch: Any) -> None:
    """Have PyTorch compute in f32 what is f32, unless a peer says otherwise."""
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False


def find_peers(
    torch: Any, name: str, inputs: Sequence[Any], output: Any
) -> tuple[dict[str, Call], dict[str, str]]:
    """Return the calls that there are beside ours, and why others are not; by library.

    `output` is written by nobody else: each has one of its own, or returns it.
    """
    peers: dict[str, Call] = {}
    missing: dict[str, str] = {}
    makers: dict[str, Callable[[], Call]] = {
        "torch": lambda: TORCH[name](torch, inputs, torch.empty_like(output)),
        "triton": lambda: _triton("TRITON", name, torch, inputs, torch.empty_like(output)),
    }
    if name in TMA_NAMES:
        makers["triton TMA"] = lambda: _triton(
            "TRITON_TMA", name, torch, inputs, torch.empty_like(output)
        )
    for library, make in makers.items():
        try:
            call = make()
            call()
            if output.is_cuda:
                torch.cuda.synchronize()
        except Exception as error:  # whatever a library says, ours is to be timed
            missing[library] = shorten(f"{type(error).__name__}: {error}")
        else:
            peers[library] = call
    return peers, missing


def _triton(table: str, name: str, torch: Any, inputs: Sequence[Any], output: Any) -> Call:
    """Return a call of a kernel of Triton, which only machines with it can import."""
    module = importlib.import_module(f"{__package__}.triton_peers")
    makers: Mapping[str, Maker] = getattr(module, table)
    if (make := makers.get(name)) is None:
        raise NotImplementedError(f"there is no kernel of Triton for {name}")
    return make(torch, inputs, output)
