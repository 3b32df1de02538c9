"""Shapes that others have published times of, or that published models have, by groups.

Each has its source. What is computed has a name in `running.references`, as all that is packed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .references import LARGE, Operand, Reference, by_row, conv, matmul

BF16, HALF = "bf16 bf16", "f16 f16"
_SQUARE = "squares of powers of two, as Triton's tutorial 03 and CUTLASS's charts have them"
_LLAMA3 = "projections of Llama 3, 8B and 70B, with weights side by side (arXiv:2407.21783)"
_DEEPSEEK = "products of DeepSeek-V3, as in DeepGEMM's tests (github.com/deepseek-ai/DeepGEMM)"
_SKINNY = "few tiles and long sums, in the manner of Stream-K (arXiv:2301.03598); few tokens"
_RAGGED = "one beside a power of two, where rows begin at no multiples of 16 bytes; 1000"
_BATCHED = "products of the heads of BERT-large, and of 1024^3 (arXiv:1810.04805)"
_RESNET = "convolutions of ResNet-50 by 3 x 3 and 1 x 1 (arXiv:1512.03385)"
_ROWS = "rows as in Triton's tutorials 02 and 05, and QuACK (github.com/Dao-AILab/quack)"
_ATTENTION = "16384 tokens of hidden size 2048, as FlashAttention-3 (arXiv:2407.08608), no mask"


@dataclass(frozen=True)
class Published:
    """A program of a group of shapes, and where these are from."""

    group: str
    source: str
    reference: Reference


def batch_matmul(batch: int, m: int, n: int, k: int) -> Reference:
    """Return products of f16 of each matrix of a batch, with results of f32."""
    left, right = Operand((batch, m, k), "f16"), Operand((batch, k, n), "f16")
    tolerance = max(1e-4, 1e-4 * k / 512)
    return Reference("batch_matmul", (left, right), Operand((batch, m, n)), tolerance, LARGE)


def attention(heads: int, rows: int, width: int) -> Reference:
    """Return attention of f16 of all heads of a batch, each of so many rows and keys."""
    operand = Operand((heads, rows, width), "f16")
    return Reference("attention", (operand,) * 3, operand, 1e-2, LARGE)


def published() -> Iterator[Published]:
    """Give all programs, none of them twice."""
    for size in (1024, 2048, 4096, 8192):
        for kinds in ("f32 f32", HALF, BF16):
            yield Published("square", _SQUARE, matmul(size, size, size, LARGE, kinds=kinds))
    yield Published("square", _SQUARE, matmul(4096, 4096, 4096, LARGE, kinds=BF16, nt=True))
    for n, k in ((6144, 4096), (28672, 4096), (4096, 14336)):
        yield Published("LLM", _LLAMA3, matmul(4096, n, k, LARGE, kinds=BF16))
    for n, k in ((10240, 8192), (8192, 8192), (57344, 8192), (8192, 28672)):
        yield Published("LLM", _LLAMA3, matmul(2048, n, k, LARGE, kinds=BF16))
    for n, k in ((2112, 7168), (24576, 1536), (32768, 512), (7168, 16384), (4096, 7168)):
        yield Published("LLM", _DEEPSEEK, matmul(4096, n, k, LARGE, kinds=BF16))
    for m, n, k in ((8192, 8192, 512), (256, 256, 16384), (65536, 1024, 1024), (128, 8192, 8192)):
        yield Published("skinny", _SKINNY, matmul(m, n, k, LARGE, kinds=BF16))
    for m in (1, 8, 16, 64):
        yield Published("skinny", _SKINNY, matmul(m, 8192, 8192, LARGE, kinds=HALF))
    for kinds in ("f32 f32", HALF, BF16):
        yield Published("ragged", _RAGGED, matmul(4097, 4097, 4097, LARGE, kinds=kinds))
    yield Published("ragged", _RAGGED, matmul(1000, 1000, 1000, LARGE, kinds=HALF))
    for batch, m, n, k in ((16, 1024, 1024, 1024), (384, 512, 512, 64), (384, 512, 64, 512)):
        yield Published("batched", _BATCHED, batch_matmul(batch, m, n, k))
    for size, channels, filters, window in (
        *((58, 64, 64, 3), (30, 128, 128, 3), (16, 256, 256, 3), (9, 512, 512, 3)),
        *((56, 64, 256, 1), (14, 1024, 256, 1)),
    ):
        yield Published("conv", _RESNET, conv(32, size, channels, filters, window, LARGE))
    for rows, columns in ((4096, 4096), (32768, 1024), (8191, 4097)):
        for function in ("softmax", "layer_norm", "copy", "transpose"):
            yield Published("memory", _ROWS, by_row(function, rows, columns, LARGE))
    for heads, rows, width in ((512, 1024, 64), (256, 2048, 64), (128, 2048, 128), (32, 8192, 128)):
        yield Published("attention", _ATTENTION, attention(heads, rows, width))
