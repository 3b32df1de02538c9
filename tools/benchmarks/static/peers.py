"""The same figures of what Triton and IREE compile for cases of the suite.

Each runs in a virtual environment of `bench compilers`, and hands over PTX, which ptxas assembles
as it does ours. IREE takes the programs themselves, on tensors. Triton takes none: kernels for it
are in `peers_triton.py` and `tools/gpu`, in tiles as its tutorials choose them.
"""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import tempfile
from collections.abc import Container, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pipeline
from benchmarks.compilers_time import Contender
from benchmarks.static.cases import Case
from benchmarks.static.rows import Code, Row, list_code, read_ptx
from benchmarks.static.sass import DisassemblyError
from setup.environment import ROOT

TRITON = Contender("Triton", ("triton==3.9.0",))
IREE = Contender("IREE", ("iree-base-compiler==3.13.0",))
PATIENCE = 300.0  # seconds for a program by IREE
NUMBERS = {"sm_80": 80, "sm_86": 86, "sm_89": 89, "sm_90a": 90}
IREE_CHIPS = ("sm_80", "sm_86", "sm_89")
"""What this version of IREE has tables for."""
KINDS = {"f16": "fp16", "bf16": "bf16", "f32": "fp32", "i8": "i8", "i32": "i32", "f64": "fp64"}
SUMS = {"i8": ("i32", "int32"), "f64": ("fp64", "float64")}


class Tile(NamedTuple):
    """What Triton is asked for: a tile, warps, and stages of its pipeline."""

    m: int
    n: int
    k: int
    warps: int
    stages: int


def measure_peers(
    cases: Sequence[Case], chips: Sequence[str], names: Container[str]
) -> Iterator[Row]:
    """Yield rows of named peers that can be installed, of the cases that they can compile."""
    for peer, compile in ((TRITON, _compile_by_triton), (IREE, _compile_by_iree)):
        if peer.name not in names:
            continue
        peer.install()
        if peer.failure:
            print(f"{peer.name} {peer.failure}", flush=True)
            continue
        for chip in chips:
            if chip in NUMBERS:
                yield from compile(cases, chip)


# --- Triton ---------------------------------------------------------------------------------------


def _compile_by_triton(cases: Sequence[Case], chip: str) -> Iterator[Row]:
    requests = [request for case in cases if (request := ask_triton(case))]
    for request in requests:
        request["chip"] = NUMBERS[chip]
    path = os.pathsep.join(str(ROOT / folder) for folder in ("tools", "tools/gpu"))
    done = subprocess.run(
        [TRITON.python, str(Path(__file__).with_name("peers_triton.py"))],
        input="".join(json.dumps(request) + "\n" for request in requests),
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    found = {answer["name"]: answer for answer in answers}
    asked = {request["name"]: request for request in requests}
    for case in cases:
        if request := asked.get(case.name):
            missing = {"error": (done.stderr.strip().splitlines() or ["no answer"])[-1]}
            answer = found.get(case.name, missing)
            yield make_row(case, chip, "Triton", [answer], request["blocks"])


def ask_triton(case: Case) -> dict[str, Any] | None:
    """Return a request for a kernel that computes a case; None where none is written."""
    made = {"matmul": _ask_matmul, "narrow": _ask_matmul, "conv": _ask_conv}
    ask = {**made, "attention": _ask_attention, "memory": _ask_memory}[case.group]
    request = ask(case)
    return None if request is None else {"name": case.name, "integers": {}, **request}


def _ask_matmul(case: Case) -> dict[str, Any] | None:
    sizes = dict(case.extents)
    operands = re.split(r",|->", case.operation)
    if set(sizes) != {"m", "n", "k"} or (case.kind == "f64" and case.is_dynamic):
        return None
    m, n, k = sizes["m"], sizes["n"], sizes["k"]
    tile = _choose_tile(case.kind, m, n)
    strides = [_strides(operand, sizes) for operand in operands]
    total, name = SUMS.get(case.kind, ("fp32", "float32"))
    integers = {"rows": m, "columns": n, "inner": k}
    integers |= {"x_row": strides[0]["m"], "x_column": strides[0]["k"]}
    integers |= {"y_row": strides[1]["k"], "y_column": strides[1]["n"]}
    tiles = {"M": tile.m, "N": tile.n, "K": tile.k}
    return {
        "kernel": "matmul",
        "pointers": [KINDS[case.kind]] * 2 + [total],
        "integers": integers,
        "constants": {"TYPE": name, "GROUP": 8, **tiles},
        "warps": tile.warps,
        "stages": tile.stages,
        "blocks": math.ceil(m / tile.m) * math.ceil(n / tile.n),
    }


def _strides(dims: str, sizes: dict[str, int]) -> dict[str, int]:
    return {dim: math.prod(sizes[one] for one in dims[at + 1 :]) for at, dim in enumerate(dims)}


def _choose_tile(kind: str, m: int, n: int) -> Tile:
    """Return what the tutorials take for such sizes, or what has room for the sums of lanes."""
    if min(m, n) <= 16:
        return Tile(16, 128, 64, 4, 4) if m < n else Tile(128, 16, 64, 4, 4)
    if kind in ("f32", "f64"):
        return Tile(128, 128, 16, 8, 3) if kind == "f32" else Tile(64, 64, 16, 4, 3)
    if min(m, n) <= 64:
        return Tile(128, 64, 32, 4, 4)
    if kind == "i8" or n % 16:
        return Tile(128, 128, 64 if kind == "i8" else 32, 8, 3)
    return Tile(128, 256, 64, 8, 3) if m * n >= 2048**2 else Tile(128, 128, 32, 4, 4)


def _ask_conv(case: Case) -> dict[str, Any] | None:
    if case.operation != "conv_2d_nhwc_hwcf":
        return None
    (images, height, width, channels), (r, s, _, features) = (shape for shape, _ in case.arguments)
    if channels % 16:
        return None
    p, q = ((size - window) // case.stride + 1 for size, window in ((height, r), (width, s)))
    tile = Tile(128, 64, 16, 8, 3) if case.kind == "f32" else Tile(128, 64, 32, 4, 4)
    constants = {"P": p, "Q": q, "R": r, "S": s, "C": channels, "STRIDE": case.stride}
    return {
        "kernel": "conv",
        "pointers": [KINDS[case.kind]] * 2 + ["fp32"],
        "integers": {"images": images, "height": height, "width": width, "features": features},
        "constants": {**constants, "M": tile.m, "N": tile.n, "K": tile.k},
        "warps": tile.warps,
        "stages": tile.stages,
        "blocks": math.ceil(images * p * q / tile.m) * math.ceil(features / tile.n),
    }


def _ask_attention(case: Case) -> dict[str, Any] | None:
    (heads, rows, width), (_, keys, _) = case.arguments[0][0], case.arguments[1][0]
    if rows < 16:
        return None
    return {
        "kernel": "attention",
        "pointers": [KINDS[case.kind]] * 4,
        "integers": {"rows": rows, "keys": keys},
        "constants": {
            "CAUSAL": case.operation == "causal attention",
            "WIDTH": width,
            "M": 128,
            "N": 64,
        },
        "warps": 4 if width <= 64 else 8,
        "stages": 3,
        "blocks": math.ceil(rows / 128) * heads,
    }


def _ask_memory(case: Case) -> dict[str, Any] | None:
    rows, columns = case.arguments[0][0]
    row_block = 1 << (columns - 1).bit_length()
    pointers = {"pointers": [KINDS[kind] for _, kind in case.arguments]}
    by_row = {**pointers, "constants": {"BLOCK": row_block}, "stages": 1, "blocks": rows}
    by_row |= {"integers": {"columns": columns}, "warps": max(4, min(16, row_block // 512))}
    if case.operation in ("add", "silu"):
        size = rows * columns
        flat = {"integers": {"size": size}, "blocks": math.ceil(size / 1024)}
        return {
            **by_row,
            **flat,
            "kernel": case.operation,
            "constants": {"BLOCK": 1024},
            "warps": 4,
        }
    if case.operation == "softmax":
        return {**by_row, "kernel": "softmax"}
    if case.operation == "layer_norm":
        integers = {"columns": columns, "epsilon": 1e-5}
        return {**by_row, "kernel": "layer_norm", "integers": integers}
    if case.operation in ("sum_rows", "max_rows"):
        constants = {"BLOCK": row_block, "IS_MAX": case.operation == "max_rows"}
        return {**by_row, "kernel": "reduce_rows", "constants": constants}
    if case.operation == "transpose":
        tiles = {"constants": {"BLOCK": 64}, "integers": {"rows": rows, "columns": columns}}
        blocks = math.ceil(rows / 64) * math.ceil(columns / 64)
        return {**by_row, **tiles, "kernel": "transpose", "warps": 4, "blocks": blocks}
    return None


# --- IREE -----------------------------------------------------------------------------------------


def _compile_by_iree(cases: Sequence[Case], chip: str) -> Iterator[Row]:
    if chip not in IREE_CHIPS:
        return
    program = str(Path(IREE.python).with_name("iree-compile"))
    for case in cases:
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "case.mlir"
            source.write_text(on_tensors(case.text), encoding="utf-8")
            flags = ["--iree-hal-target-device=cuda", f"--iree-cuda-target={chip}"]
            flags += [f"--iree-hal-dump-executable-files-to={folder}", "-o", os.devnull]
            try:
                done = subprocess.run(
                    [program, str(source), *flags],
                    capture_output=True,
                    text=True,
                    check=False,
                    timeout=PATIENCE,
                )
                error = next((line for line in done.stderr.splitlines() if "error:" in line), "")
            except subprocess.TimeoutExpired:
                error = f"error: more than {PATIENCE:.0f} s"
            files = sorted(Path(folder).glob("*.ptx"))
            texts = [{"ptx": file.read_text(encoding="utf-8")} for file in files]
        answers = texts or [{"error": error.partition("error: ")[2] or "no PTX"}]
        yield make_row(case, chip, "IREE", answers, 0)


def on_tensors(text: str) -> str:
    """Return a program that takes memory, and writes to it, as one of tensors."""
    found = re.search(
        r"  bufferization.materialize_in_destination %r in restrict writable %out : \((\S+), \S+\)"
        r" -> \(\)\n  return\n",
        text,
    )
    if not found:
        return text
    text = text.replace(found[0], f"  return %r : {found[1]}\n")
    text = re.sub(r", %out: memref<[^>]*>\)", f") -> {found[1]}", text)
    to_tensor = r"  (%x\d+) = bufferization.to_tensor (%m\d+) restrict : memref<[^>]*> to (\S+)\n"
    for name, memory, tensor in re.findall(to_tensor, text):
        text = re.sub(rf"{memory}: memref<[^>]*>", f"{name}: {tensor}", text)
    return re.sub(to_tensor, "", text)


# --- figures --------------------------------------------------------------------------------------


def make_row(
    case: Case, chip: str, compiler: str, answers: Sequence[dict[str, Any]], blocks: int
) -> Row:
    """Return the figures of the kernel whose loop does most, of those in all answers."""
    row = Row(case, chip, compiler)
    kernels = []
    try:
        for answer in answers:
            if "error" in answer:
                row.note = str(answer["error"])
                return row
            codes, warnings = read_ptx(answer["ptx"], chip)
            sizes = re.search(r"\.(?:max|req)ntid (\d+)(?:, (\d+), (\d+))?", answer["ptx"])
            of_ptx = math.prod(int(size or 1) for size in sizes.groups()) if sizes else 0
            threads, shared = answer.get("threads", of_ptx), answer.get("shared", 0)
            kernels += [Code(one, warnings, blocks, threads, shared) for one in codes.values()]
    except (pipeline.Error, DisassemblyError) as error:
        row.note = str(error).strip().splitlines()[0]
        return row
    main = max(kernels, key=lambda one: one.figures.loop.math if one.figures.loop else 0)
    row.kernel = main.figures.name
    row.figures = {**list_code(main, chip), "kernels": len(kernels)}
    return row
