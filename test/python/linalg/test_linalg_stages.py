"""The programs of the suite mean the same at every stage on their way to kernels."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from linalg.cpu_stages import Native, optimize
from linalg.linalg_programs import PROGRAMS, Program

NORMALIZED = ("workgroup-normalize-linalg", "canonicalize", "cse")
FORMED = (*NORMALIZED, "workgroup-form-kernels")

# Where the first loop of some kernel is none that blocks share out, or there is no loop at all.
BLOCKS = {
    **dict.fromkeys(("add_one", "fills", "sum_all", "dot", "diamond", "memref_iterate"), ""),
    **dict.fromkeys(("split_sum_of_all", "split_sum_of_planes", "split_largest"), ""),
    **dict.fromkeys(("split_mean_squared_error", "sum_of_rows_by_ones_1"), ""),
    **dict.fromkeys(("reshape_number", "slide_1", "looked_up", "softmax_one_row"), ""),
    "two_results_of_all": "",
    **dict.fromkeys(("sum_columns", "min_i32_columns", "softmax_columns"), "0,3"),
    **dict.fromkeys(("two_results_softmax", "split_columns", "step_of_one"), "0,3"),
    **dict.fromkeys(("softmax_columns_of_padded", "columns_read_backwards"), "0,3"),
    **{f"softmax_0_of_{of}": "0,3" for of in ("2xn_f32", "5xn_f32", "3xn_f16")},
    **{f"split_columns_{columns}": "0,3" for columns in (33, 40, 1000)},
    **dict.fromkeys(("sum_outside", "batch_statistics", "batch_reduce_matmul"), "0,3"),
    "sum_outer_two": "0,0,3",
}
# Sizes that divide no extent, that are too large for all of them, and steps of sums.
SIZES = {
    "softmax": ("block=1", "block=5 recompute", "block=1000"),
    "softmax_dynamic": ("block=1", "block=7 recompute"),
    "layer_norm": ("block=4", "block=4 recompute"),
    "layer_norm_and_mean": ("block=2", "block=3 recompute"),
    "matmul_ragged": ("block=16,8 reduction=16", "block=7,0 reduction=5", "block=0,64"),
    "matmul_tall": ("block=64,64 reduction=1000",),
    "matmul_dynamic": ("block=16,8 reduction=16", "reduction=3"),
    "matmul_without_sum": ("block=4,4 reduction=4",),
    "matmul_bias_relu": ("block=16,16 reduction=4",),
    "matmul_bias_relu_dynamic": ("block=5,3 reduction=4",),
    "matmul_two_results": ("block=5,3 reduction=4", "block=0,5"),
    "matmul_update": ("block=4,4 reduction=3",),
    "batch_matmul": ("block=1,5,3 reduction=4",),
    "split_sum": ("block=4,4 reduction=2,3", "reduction=0,2"),
    "matmul_bf16_f32": ("block=4,4 reduction=3",),
    "matmul_i8_i32": ("block=4,4 reduction=3",),
    "conv_2d_nhwc": ("block=1,2,3",),
    "conv_2d_nhwc_strided": ("block=1,2,3,2",),
    "conv_bias_relu": ("block=1,2,3,2",),
    "pool_max_nhwc": ("block=1,2,3",),
    "transpose": ("block=8,8",),
    "pad": ("block=2,3",),
    "add_dynamic": ("block=4",),
    "iota": ("block=4",),
    "unpack": ("block=2",),
}
# The same where two contractions are one kernel, with steps along the columns of the first.
CHAINS = {
    "attention": (
        "block=1,16 reduction=16 columns=128",
        "block=0,5 reduction=3 columns=8",
        "",
        "block=1,16 stream=32",
    ),
    "attention_masked": ("block=1,16 reduction=16 columns=32", "columns=64", "stream=24"),
    "attention_causal": ("block=1,16 reduction=5 columns=24", "block=1 reduction=16 stream=16"),
    "attention_long": ("block=16 reduction=16 columns=128",),
    "layers": ("block=16 reduction=16 columns=128", "block=7 reduction=5 columns=9", "stream=32"),
    "layers_dynamic": ("block=16 reduction=16 columns=128", "block=7 reduction=3"),
    "products": ("block=16 reduction=16 columns=32", "reduction=5"),
}
# One of each kind of program, for the stages before the last.
CHOSEN = (
    *("add_dynamic", "add_empty", "narrow_f8E5M2", "iota", "arithmetic_on_tensors", "sum_columns"),
    *("argmax_ties", "layer_norm_and_mean", "matmul_two_results", "matmul_by_transposition"),
    *("quantized_matmul", "conv_padded", "unknown_window", "embedding", "scatter_loop", "concat"),
    *(
        "pack",
        "attention_dynamic",
        "transformer_block",
        "diamond",
        "recurrent",
        "argument_returned",
    ),
)

KERNEL_WITH_RESULT = re.compile(
    r"func\.func private @\w+_\d+_(?:fill|elementwise|reduction|contraction|window)\w*"
    r"\([^{]*\) -> "
)

KERNEL_CALL = re.compile(r"call @main_\d+_contraction\(")

BY_NAME = {program.name: program for program in PROGRAMS}


def tile(options: str) -> tuple[str, ...]:
    """Return the passes up to tiled kernels."""
    return (*FORMED, f"func.func(workgroup-tile-kernel{{{options}}})")


def check_stage(program: Program, passes: Sequence[str]) -> str:
    """Compare all runs of what the passes make of a program with NumPy; return what they make."""
    text = optimize(program.text, *passes)
    native = Native(text)
    for run in range(len(program.runs)):
        arguments = program.arguments(run)
        written = [arguments[number] for number in program.written]
        like = program.expect(run)[len(written) :]
        returned = native.call(program.entry, arguments, like)
        program.check(run, [*written, *returned])
    return text


@pytest.mark.parametrize("name", CHOSEN)
def test_normalized(name: str) -> None:
    check_stage(BY_NAME[name], NORMALIZED)


@pytest.mark.parametrize("name", CHOSEN)
def test_formed(name: str) -> None:
    check_stage(BY_NAME[name], FORMED)


@pytest.mark.parametrize(
    ("name", "options"), [(name, options) for name in SIZES for options in SIZES[name]]
)
def test_tiled(name: str, options: str) -> None:
    check_stage(BY_NAME[name], tile(options))


@pytest.mark.parametrize(
    ("name", "options"), [(name, options) for name in CHAINS for options in CHAINS[name]]
)
def test_chained(name: str, options: str) -> None:
    formed = (*NORMALIZED, "workgroup-form-kernels{chain-bytes=1048576}")
    tiled = (*formed, f"func.func(workgroup-tile-kernel{{{options}}})")
    check_stage(BY_NAME[name], formed)
    check_stage(BY_NAME[name], tiled)
    text = check_stage(BY_NAME[name], (*tiled, "workgroup-bufferize"))
    assert len(KERNEL_CALL.findall(text)) == 1


@pytest.mark.parametrize("name", CHOSEN)
def test_bufferized_of_one_block(name: str) -> None:
    check_stage(BY_NAME[name], (*tile(""), "workgroup-bufferize"))


@pytest.mark.parametrize("name", BY_NAME)
def test_bufferized(name: str) -> None:
    program = BY_NAME[name]
    block = BLOCKS.get(name, "3")
    options = f"block={block} reduction=2" if block else ""
    bufferized = check_stage(program, (*tile(options), "workgroup-bufferize"))
    assert not KERNEL_WITH_RESULT.search(bufferized)


def test_names_are_unique() -> None:
    assert len(BY_NAME) == len(PROGRAMS)
