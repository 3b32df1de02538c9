"""Compile kernels with Triton: `peers_triton.py` reads requests, one a line, and prints their PTX.

Runs in the virtual environment that `bench compilers` makes. A request has the name of a kernel of
this file or of `tools/gpu`, the types of its pointers, its integers and constants, how many warps
and stages, and the number in the name of a chip. Integers are known to be divisible by 16 as they
would be at a launch.
"""
# mypy: ignore-errors

from __future__ import annotations

import json
import sys

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from running import triton_peers


@triton.jit
def matmul(
    x, y, out, rows, columns, inner, x_row, x_column, y_row, y_column,
    TYPE: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    """Compute a tile of a matmul of any layout, exact in f32."""
    block = tl.program_id(0)
    down, across = tl.cdiv(rows, M), tl.cdiv(columns, N)
    group = block // (GROUP * across)
    height = min(down - group * GROUP, GROUP)
    row = group * GROUP + (block % (GROUP * across)) % height
    column = (block % (GROUP * across)) // height
    i = row * M + tl.arange(0, M)
    j = column * N + tl.arange(0, N)
    k = tl.arange(0, K)
    left = x + i[:, None] * x_row + k[None, :] * x_column
    right = y + k[:, None] * y_row + j[None, :] * y_column
    total = tl.zeros((M, N), TYPE)
    for start in range(0, inner, K):
        rest = k < inner - start
        a = tl.load(left, (i[:, None] < rows) & rest[None, :], other=0.0)
        b = tl.load(right, rest[:, None] & (j[None, :] < columns), other=0.0)
        total = tl.dot(a, b, total, input_precision="ieee", out_dtype=TYPE)
        left += K * x_column
        right += K * y_row
    mask = (i[:, None] < rows) & (j[None, :] < columns)
    tl.store(out + i[:, None] * columns + j[None, :], total, mask)


@triton.jit
def conv(
    x, w, out, images, height, width, features,
    P: tl.constexpr, Q: tl.constexpr, R: tl.constexpr, S: tl.constexpr, C: tl.constexpr,
    STRIDE: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
):  # fmt: skip
    """Compute a tile of a convolution of [n, h, w, c] with [r, s, c, f] as an implicit matmul."""
    i = tl.program_id(0) * M + tl.arange(0, M)
    j = tl.program_id(1) * N + tl.arange(0, N)
    n, p, q = i // (P * Q), i // Q % P, i % Q
    total = tl.zeros((M, N), tl.float32)
    for start in range(0, R * S * C, K):
        r, s = start // (S * C), start // C % S
        c = start % C + tl.arange(0, K)
        at = ((n * height + p * STRIDE + r) * width + q * STRIDE + s) * C
        a = tl.load(x + at[:, None] + c[None, :], (n < images)[:, None], other=0.0)
        k = start + tl.arange(0, K)
        b = tl.load(w + k[:, None] * features + j[None, :], j[None, :] < features, other=0.0)
        total = tl.dot(a, b, total, input_precision="ieee")
    mask = (n < images)[:, None] & (j[None, :] < features)
    tl.store(out + i[:, None] * features + j[None, :], total, mask)


@triton.jit
def attention(
    q, k, v, out, rows, keys,
    CAUSAL: tl.constexpr, WIDTH: tl.constexpr, M: tl.constexpr, N: tl.constexpr,
):  # fmt: skip
    """Compute rows of a head of attention, with a softmax that goes along with the keys."""
    block, head = tl.program_id(0), tl.program_id(1)
    i, j, c = block * M + tl.arange(0, M), tl.arange(0, N), tl.arange(0, WIDTH)
    at = head * rows * WIDTH + i[:, None] * WIDTH + c[None, :]
    x = tl.load(q + at, i[:, None] < rows, other=0.0)
    top = tl.full((M,), -float("inf"), tl.float32)
    weight = tl.zeros((M,), tl.float32)
    total = tl.zeros((M, WIDTH), tl.float32)
    end = min(keys, (block + 1) * M) if CAUSAL else keys
    first = head * keys * WIDTH
    for start in range(0, end, N):
        n = start + j
        y = tl.load(k + first + n[None, :] * WIDTH + c[:, None], n[None, :] < keys, other=0.0)
        z = tl.load(v + first + n[:, None] * WIDTH + c[None, :], n[:, None] < keys, other=0.0)
        score = tl.dot(x, y) * 0.18033688  # by log2(e)
        is_seen = n[None, :] < keys
        if CAUSAL:
            is_seen &= n[None, :] <= i[:, None]
        score = tl.where(is_seen, score, -float("inf"))
        high = tl.maximum(top, tl.max(score, 1))
        power = tl.exp2(score - high[:, None])
        scale = tl.exp2(top - high)
        weight = weight * scale + tl.sum(power, 1)
        total = tl.dot(power.to(z.dtype), z, total * scale[:, None])
        top = high
    tl.store(out + at, (total / weight[:, None]).to(out.dtype.element_ty), i[:, None] < rows)


_OWN = {"matmul": matmul, "conv": conv, "attention": attention}


def compile_request(request):
    """Return the PTX, the threads of a block, and its bytes of workgroup memory."""
    kernel = _OWN.get(request["kernel"]) or getattr(triton_peers, f"_{request['kernel']}")
    names = kernel.arg_names
    pointers = dict(zip(names, (f"*{kind}" for kind in request["pointers"]), strict=False))
    signature, constants, divisible = dict(pointers), dict(request["constants"]), set(pointers)
    for name, value in request["integers"].items():
        if isinstance(value, float):
            signature[name] = "fp32"
        elif value == 1:
            constants[name] = 1
        else:
            signature[name] = "i32"
            divisible |= {name} if value % 16 == 0 else set()
    if "TYPE" in constants:
        constants["TYPE"] = getattr(tl, constants["TYPE"])
    signature |= dict.fromkeys(constants, "constexpr")
    attributes = {(names.index(name),): [["tt.divisibility", 16]] for name in divisible}
    source = ASTSource(
        kernel, {name: signature[name] for name in names}, constexprs=constants, attrs=attributes
    )
    options = {"num_warps": request["warps"], "num_stages": request["stages"]}
    made = triton.compile(source, target=GPUTarget("cuda", request["chip"], 32), options=options)
    return {
        "ptx": made.asm["ptx"],
        "threads": 32 * made.metadata.num_warps,
        "shared": made.metadata.shared,
    }


def main():
    """Print a line for each request."""
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = compile_request(request)
        except Exception as error:  # whatever Triton raises is told
            answer = {"error": f"{type(error).__name__}: {error}".splitlines()[0]}
        print(json.dumps({"name": request["name"], **answer}), flush=True)


if __name__ == "__main__":
    main()
