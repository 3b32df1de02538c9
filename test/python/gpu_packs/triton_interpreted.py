"""A program: have Triton's interpreter run the peers on random tensors, against PyTorch in f64.

It prints a line for each run that is wrong; TRITON_INTERPRET has to be 1.
"""
# mypy: ignore-errors

from __future__ import annotations

import sys
from types import SimpleNamespace

import torch

from running import triton_peers, triton_products
from running.references import REFERENCES

PRODUCTS = {
    "matmul": lambda m, n, k: ([(m, k), (k, n)], (m, n)),
    "matmul_nt": lambda m, n, k: ([(m, k), (n, k)], (m, n)),
}
CONVOLUTIONS = (
    ([(2, 10, 10, 16), (16, 3, 3, 16)], (2, 8, 8, 16)),
    ([(1, 11, 11, 5), (7, 3, 3, 5)], (1, 9, 9, 7)),
    ([(2, 9, 13, 70), (33, 3, 2, 70)], (2, 7, 12, 33)),
)
ROWS = {
    "softmax": ([(37, 133)], (37, 133)),
    "layer_norm": ([(37, 133), (133,), (133,)], (37, 133)),
    "add": ([(37, 133), (37, 133)], (37, 133)),
    "silu": ([(37, 133)], (37, 133)),
    "sum_rows": ([(37, 133)], (37,)),
    "max_rows": ([(37, 133)], (37,)),
    "transpose": ([(37, 133)], (133, 37)),
    "sum_columns": ([(37, 133)], (133,)),
}
TOLERANCES = {torch.float32: 1e-3, torch.float16: 4e-3}


def check(makers, name, shapes, shape, given=torch.float32, made=torch.float32):
    """Run one peer, with all configurations that it may be tuned to."""
    kernel = None
    if name in PRODUCTS:
        is_tma = makers is triton_peers.TRITON_TMA
        kernel = triton_products._tma_matmul if is_tma else triton_products._matmul
    elif name == "conv_2d":
        kernel = triton_products._conv_2d
    configurations = kernel.configs if kernel else [None]
    for configuration in configurations:
        if kernel:
            kernel.configs = [configuration]
        inputs = [torch.randn(each).to(given) for each in shapes]
        output = torch.full(shape, float("nan"), dtype=made)
        result = makers[name](torch, inputs, output)()
        wanted = REFERENCES[name](torch, *[part.double() for part in inputs])
        apart = ((result.double() - wanted).abs() / wanted.abs().clamp(min=1)).max().item()
        if not apart <= TOLERANCES[made]:
            print(f"{name} of {shapes}, {configuration}: off by {apart:.3g}", flush=True)
    if kernel:
        kernel.configs = configurations


def main():
    """Run all; the interpreter gets bfloat16 wrong, so that is left to the GPU."""
    torch.manual_seed(0)
    torch.cuda.get_device_capability = lambda device: (9, 0)
    torch.cuda.get_device_properties = lambda device: SimpleNamespace(multi_processor_count=3)
    plain, tma = triton_peers.TRITON, triton_peers.TRITON_TMA
    for name, sizes in ROWS.items():
        check(plain, name, *sizes)
    check(plain, "sum_columns", [(1300, 133)], (133,))
    for sizes in CONVOLUTIONS:
        check(plain, "conv_2d", *sizes)
    for name, make in PRODUCTS.items():
        check(plain, name, *make(65, 33, 129))
        check(plain, name, *make(300, 280, 72), torch.float16, torch.float16)
        for made in (torch.float32, torch.float16):
            check(tma, name, *make(640, 520, 40), torch.float16, made)
        check(tma, name, *make(300, 280, 72))
    return 0


if __name__ == "__main__":
    sys.exit(main())
