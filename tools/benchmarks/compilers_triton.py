"""Compile kernels with Triton, and print the seconds: `compilers_triton.py ROUNDS NAME...`.

Runs in the virtual environment that `bench compilers` makes. Triton takes no linalg: a matmul, with
the bias, relu and scaling of a layer fused, is written for it by hand, and the network is one
such kernel for each layer; so is attention. A compilation begins with Python that is parsed before,
and ends with PTX; `ptxas` does not run.
"""

from __future__ import annotations

import itertools
import json
import sys
import time
from typing import Any

import triton  # type: ignore[import-not-found]
import triton.language as tl  # type: ignore[import-not-found]
from triton._C.libtriton import ir  # type: ignore[import-not-found]
from triton.backends.compiler import GPUTarget  # type: ignore[import-not-found]
from triton.compiler.compiler import ASTSource, make_backend  # type: ignore[import-not-found]

from benchmarks.compiler_programs import HALF_SIZE, LENGTH, ROWS, WIDTH, WIDTHS


@triton.jit  # type: ignore[untyped-decorator]
def layer(  # type: ignore[no-untyped-def]  # Triton evaluates annotations
    x,
    w,
    b,
    out,
    M: tl.constexpr,
    N: tl.constexpr,
    K: tl.constexpr,
    IS_LAYER: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
):
    """Compute a tile of a matmul, exact in f32."""
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    inner = tl.arange(0, BK)
    sum = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        left = tl.load(x + rows[:, None] * K + (k + inner)[None, :])
        right = tl.load(w + (k + inner)[:, None] * N + columns[None, :])
        sum = tl.dot(left, right, sum, input_precision="ieee")
    if IS_LAYER:
        sum = tl.maximum(sum + tl.load(b + columns)[None, :], 0.0) * 0.5
    tl.store(out + rows[:, None] * N + columns[None, :], sum)


@triton.jit  # type: ignore[untyped-decorator]
def attention(  # type: ignore[no-untyped-def]  # Triton evaluates annotations
    q,
    k,
    v,
    out,
    LENGTH: tl.constexpr,
    WIDTH: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
):
    """Compute rows of a head of attention, with a softmax that goes along with the keys."""
    first = tl.program_id(1) * LENGTH * WIDTH
    rows, columns = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, WIDTH)
    at = first + rows[:, None] * WIDTH + columns[None, :]
    x = tl.load(q + at, rows[:, None] < LENGTH, other=0.0)
    top = tl.full((BM,), -float("inf"), tl.float32)
    weight = tl.zeros((BM,), tl.float32)
    total = tl.zeros((BM, WIDTH), tl.float32)
    for start in range(0, LENGTH, BN):
        n = start + tl.arange(0, BN)
        across = first + n[None, :] * WIDTH + columns[:, None]
        along = first + n[:, None] * WIDTH + columns[None, :]
        y = tl.load(k + across, n[None, :] < LENGTH, other=0.0)
        z = tl.load(v + along, n[:, None] < LENGTH, other=0.0)
        score = tl.dot(x, y) * 0.18033688  # an eighth by log2(e)
        score = tl.where(n[None, :] < LENGTH, score, -float("inf"))
        high = tl.maximum(top, tl.max(score, 1))
        power = tl.exp2(score - high[:, None])
        scale = tl.exp2(top - high)
        weight = weight * scale + tl.sum(power, 1)
        total = tl.dot(power.to(tl.float16), z, total * scale[:, None])
        top = high
    tl.store(out + at, total / weight[:, None], rows[:, None] < LENGTH)


def compile_layer(sizes: tuple[int, int, int], is_layer: bool) -> None:
    """Compile a matmul of f32, with what a layer does to its result."""
    pointers = {name: "*fp32" for name in ("x", "w", "b", "out")}
    values = dict(zip(("M", "N", "K"), sizes, strict=True))
    constants = values | {"IS_LAYER": is_layer, "BM": 64, "BN": 64, "BK": 16}
    compile_once(layer, pointers, constants)


def compile_half() -> None:
    """Compile a matmul of f16 on tensor cores, with sums in f32."""
    pointers = {"x": "*fp16", "w": "*fp16", "b": "*fp32", "out": "*fp32"}
    sizes = dict.fromkeys(("M", "N", "K"), HALF_SIZE)
    tiles = {"BM": 128, "BN": 256, "BK": 64}
    compile_once(layer, pointers, sizes | tiles | {"IS_LAYER": False}, num_warps=8)


def compile_attention() -> None:
    """Compile attention of f16, with a result in f32."""
    pointers = {"q": "*fp16", "k": "*fp16", "v": "*fp16", "out": "*fp32"}
    compile_once(attention, pointers, {"LENGTH": LENGTH, "WIDTH": WIDTH, "BM": 64, "BN": 64})


def compile_once(
    kernel: Any, pointers: dict[str, str], constants: dict[str, Any], **choices: int
) -> None:
    """Do what `triton.compile` does, without caches, up to PTX."""
    signature = pointers | dict.fromkeys(constants, "constexpr")
    aligned = {(n,): [["tt.divisibility", 16]] for n in range(len(pointers))}
    source = ASTSource(kernel, signature, constexprs=constants, attrs=aligned)
    target = GPUTarget("cuda", 80, 32)
    backend = make_backend(target)
    options = backend.parse_options(choices)
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    functions = backend.get_codegen_implementation(options)
    module = source.make_ir(target, options, functions, backend.get_module_map(), context)
    stages: dict[str, Any] = {}
    backend.add_stages(stages, options, source.language)
    metadata: dict[str, Any] = {"target": target, **options.__dict__}
    for name, stage in stages.items():
        module = stage(module, metadata)
        if name == "ptx":
            break
    if ".target sm_80" not in module:
        sys.exit("Triton has made no PTX")


def compile_program(name: str) -> None:
    """Compile all kernels of a program."""
    if name == "matmul":
        compile_layer((1024, 1024, 1024), is_layer=False)
    elif name == "half":
        compile_half()
    elif name == "attention":
        compile_attention()
    else:
        for before, width in itertools.pairwise(WIDTHS):
            compile_layer((ROWS, width, before), is_layer=True)


def main() -> None:
    """Print a line for each compilation."""
    for name in sys.argv[2:]:
        for _ in range(int(sys.argv[1])):
            start, processor = time.perf_counter(), time.process_time()
            compile_program(name)
            spent = time.perf_counter() - start, time.process_time() - processor
            print(json.dumps({"program": name, "seconds": spent}), flush=True)


if __name__ == "__main__":
    main()
