"""Kernels of Triton, and how the LLVM IR beside this file was made of them.

``python kernels.py``, with Triton 3.9 installed and no GPU, writes it anew.
"""

# mypy: ignore-errors

import re
from pathlib import Path

try:
    import triton
    import triton.language as tl
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
except ImportError as error:
    raise SystemExit("Triton is not installed") from error


@triton.jit
def add(x, y, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    mask = i < n
    tl.store(out + i, tl.load(x + i, mask=mask) + tl.load(y + i, mask=mask), mask=mask)


@triton.jit
def softmax(x, out, n, B: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, B)
    v = tl.load(x + row * n + i, mask=i < n, other=-float("inf"))
    v = v - tl.max(v, 0)
    e = tl.exp(v)
    tl.store(out + row * n + i, e / tl.sum(e, 0), mask=i < n)


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    sums = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        left = tl.load(a + rm[:, None] * K + (k + rk)[None, :])
        right = tl.load(b + (k + rk)[:, None] * N + rn[None, :])
        sums += tl.dot(left, right)
    tl.store(c + rm[:, None] * N + rn[None, :], sums)


@triton.jit
def histogram(x, out, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.atomic_add(out + tl.load(x + i), 1)


@triton.jit
def transpose(x, out, n, B: tl.constexpr):
    r = tl.program_id(0) * B + tl.arange(0, B)
    c = tl.program_id(1) * B + tl.arange(0, B)
    v = tl.load(x + r[:, None] * n + c[None, :])
    tl.store(out + c[:, None] * n + r[None, :], tl.trans(v))


@triton.jit
def halves(x, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(x + i // 2, i)  # two threads store to one place


@triton.jit
def layer_norm(x, out, N: tl.constexpr, B: tl.constexpr):
    row = tl.program_id(0)
    sums = tl.zeros([B], tl.float32)
    for begin in range(0, N, B):
        i = begin + tl.arange(0, B)
        sums += tl.load(x + row * N + i, mask=i < N, other=0.0)
    mean = tl.sum(sums, 0) / N
    squares = tl.zeros([B], tl.float32)
    for begin in range(0, N, B):
        i = begin + tl.arange(0, B)
        v = tl.load(x + row * N + i, mask=i < N, other=0.0)
        v = tl.where(i < N, v - mean, 0.0)
        squares += v * v
    scale = 1 / tl.sqrt(tl.sum(squares, 0) / N + 1e-3)
    for begin in range(0, N, B):
        i = begin + tl.arange(0, B)
        v = tl.load(x + row * N + i, mask=i < N)
        tl.store(out + row * N + i, (v - mean) * scale, mask=i < N)


@triton.jit
def total(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.atomic_add(out, tl.sum(tl.load(x + i, mask=i < n, other=0.0), 0))


@triton.jit
def product(a, b, c, N: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    sums = tl.zeros((BM, BN), tl.float32)
    for k in range(0, N, BK):
        left = tl.load(a + rm[:, None] * N + (k + rk)[None, :])
        right = tl.load(b + (k + rk)[:, None] * N + rn[None, :])
        sums += tl.dot(left, right)
    tl.store(c + rm[:, None] * N + rn[None, :], sums)


@triton.jit
def turn(x, out, N: tl.constexpr, B: tl.constexpr):
    r = tl.program_id(0) * B + tl.arange(0, B)
    c = tl.program_id(1) * B + tl.arange(0, B)
    v = tl.load(x + r[:, None] * N + c[None, :])
    tl.store(out + c[:, None] * N + r[None, :], tl.trans(v))


F32, I32 = "*fp32", "*i32"
SIZES = {"B": 256, "BM": 32, "BN": 32, "BK": 32, "N": 64}
KERNELS = [
    (add, {"x": F32, "y": F32, "out": F32, "n": "i32"}, 4, 2),
    (softmax, {"x": F32, "out": F32, "n": "i32"}, 4, 2),
    (matmul, {"a": "*fp16", "b": "*fp16", "c": F32, "M": "i32", "N": "i32", "K": "i32"}, 2, 3),
    (histogram, {"x": I32, "out": I32}, 4, 2),
    (transpose, {"x": F32, "out": F32, "n": "i32"}, 4, 2),
    (halves, {"x": I32}, 4, 2),
    # Of lengths that are known.
    (layer_norm, {"x": F32, "out": F32}, 4, 2),
    (total, {"x": F32, "out": F32, "n": "i32"}, 4, 2),
    (product, {"a": "*fp16", "b": "*fp16", "c": F32}, 2, 2),
    (turn, {"x": F32, "out": F32}, 4, 2),
]


def main() -> None:
    here = Path(__file__).parent
    for kernel, types, warps, stages in KERNELS:
        sizes = {name: SIZES[name] for name in kernel.arg_names if name not in types}
        if kernel in (transpose, turn):
            sizes["B"] = 32
        if kernel is layer_norm:
            sizes["N"] = 1000
        signature = {name: types.get(name, "constexpr") for name in kernel.arg_names}
        # Pointers and sizes are multiples of 16, as Triton finds most of them to be.
        attrs = {
            (number,): [["tt.divisibility", 16]]
            for number, name in enumerate(kernel.arg_names)
            if name in types
        }
        source = ASTSource(kernel, signature=signature, constexprs=sizes, attrs=attrs)
        options = {"num_warps": warps, "num_stages": stages}
        made = triton.compile(source, target=GPUTarget("cuda", 80, 32), options=options)
        text = re.sub(r'directory: "[^"]*"', 'directory: ""', made.asm["llir"])
        text = re.sub(r'filename: "[^"]*/', 'filename: "', text)
        name = kernel.fn.__name__
        (here / f"{name}.ll").write_text(f"; workgroup bytes: {made.metadata.shared}\n{text}")


if __name__ == "__main__":
    main()
