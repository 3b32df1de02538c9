"""Schedules that would drop iterations of mapped loops are refused at the loop."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pipeline

PROGRAM = """func.func @main(%x: memref<4096xf32>) {{
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%t, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {{
    {loops}
    gpu.terminator
  }}
  return
}}
"""
SCHEDULE = """module attributes {{transform.with_named_sequence}} {{
  {sequences}
  transform.named_sequence @__transform_main(%m: !transform.any_op {{transform.readonly}}) {{
    {steps}
    transform.yield
  }}
}}
"""
FIND = (
    '%l = transform.structured.match ops{["gpu.launch"]} in %m '
    ": (!transform.any_op) -> !transform.any_op"
)
MAP = (
    "%n = transform.gpu.map_nested_forall_to_threads %l block_dims = {block} {options} "
    ": (!transform.any_op) -> !transform.any_op"
)
LANE = "#gpu.lane<linear_dim_0>"


def make_loop(counts: tuple[int, ...], mapping: str) -> str:
    """Return a loop that adds one to an element in each iteration."""
    ivs = [f"%i{n}" for n in range(len(counts))]
    indices = ", ".join(f"d{n}" for n in range(len(counts)))
    place = "0"
    for n, count in enumerate(counts):
        place = f"({place}) * {count} + d{n}"
    return f"""scf.forall ({", ".join(ivs)}) in ({", ".join(map(str, counts))}) {{ // here
      %p = affine.apply affine_map<({indices}) -> ({place})>({", ".join(ivs)})
      memref.store %one, %x[%p] : memref<4096xf32>
    }} {{mapping = [{mapping}]}}"""


def make_nest(outer: int, outer_mapping: str, inner: int, inner_mapping: str) -> str:
    return f"""scf.forall (%o) in ({outer}) {{
      scf.forall (%j) in ({inner}) {{ // here
        %p = affine.apply affine_map<(d0, d1) -> (d0 * {inner} + d1)>(%o, %j)
        memref.store %one, %x[%p] : memref<4096xf32>
      }} {{mapping = [{inner_mapping}]}}
    }} {{mapping = [{outer_mapping}]}}"""


def schedule(block: str = "[64, 1, 1]", options: str = "") -> str:
    steps = f"{FIND}\n{MAP.format(block=block, options=options)}"
    return SCHEDULE.format(sequences="", steps=steps)


def check_refused(source: str, message: str, schedule: str | Path | None = None) -> None:
    with pytest.raises(pipeline.CompileError) as caught:
        pipeline.compile(source, schedule=schedule)
    first = str(caught.value).splitlines()[0]
    line = next(n for n, text in enumerate(source.splitlines(), 1) if text.endswith("// here"))
    assert first.startswith(f"<string>:{line}:"), first
    assert message in first


THREAD = "#gpu.thread<x>"
WARP = "#gpu.warp<linear_dim_0>"
KEPT = [
    (make_loop((32,), LANE), 32, "[64, 1, 1]"),
    (make_loop((16,), LANE), 16, "[64, 1, 1]"),
    (make_loop((4, 8), "#gpu.lane<linear_dim_1>, #gpu.lane<linear_dim_0>"), 32, "[64, 1, 1]"),
    (make_loop((64,), THREAD), 64, "[64, 1, 1]"),
    (make_loop((40,), THREAD), 40, "[64, 1, 1]"),
    (make_loop((4, 8), "#gpu.thread<y>, #gpu.thread<x>"), 32, "[8, 4, 1]"),
    (make_loop((2, 3), "#gpu.thread<linear_dim_1>, #gpu.thread<linear_dim_0>"), 6, "[4, 4, 1]"),
    (make_loop((4,), "#gpu.thread<linear_dim_0>, #gpu.mask<0xF0>"), 4, "[64, 1, 1]"),
    (make_nest(2, WARP, 32, LANE), 64, "[64, 1, 1]"),
    (make_nest(2, "#gpu.warp<x>", 32, LANE), 64, "[64, 1, 1]"),
    (make_nest(1, "#gpu.warpgroup<x>", 32, LANE), 32, "[128, 1, 1]"),
]


@pytest.mark.parametrize(("loops", "count", "block"), KEPT)
def test_whole_loops_run(loops: str, count: int, block: str) -> None:
    source = PROGRAM.format(loops=loops) + schedule(block, "sync_after_distribute = false")
    module = pipeline.compile(source)
    x = np.zeros(4096, dtype=np.float32)
    module.run(x, backend="emulator")
    assert np.array_equal(x, np.arange(4096) < count)


DROPPED = [
    (make_loop((33,), LANE), "maps 33 iterations to the 32 lanes", "[64, 1, 1]"),
    (make_loop((64,), LANE), "maps 64 iterations to the 32 lanes", "[64, 1, 1]"),
    (make_loop((64,), LANE), "maps 64 iterations to the 32 lanes", "[128, 1, 1]"),
    (
        make_loop((8, 8), "#gpu.lane<linear_dim_1>, #gpu.lane<linear_dim_0>"),
        "maps 64 iterations to the 32 lanes",
        "[64, 1, 1]",
    ),
    (make_loop((8,), "#gpu.lane<y>"), "only 1 of its 8 iterations", "[64, 1, 1]"),
    (make_loop((65,), THREAD), "only 64 of its 65 iterations", "[64, 1, 1]"),
    (make_loop((5,), "#gpu.warp<x>"), "only 2 of its 5 iterations", "[64, 1, 1]"),
    (
        make_loop((8,), "#gpu.thread<linear_dim_0>, #gpu.mask<0xF0>"),
        "only 4 of its 8 iterations",
        "[64, 1, 1]",
    ),
    (
        make_loop((2,), "#gpu.thread<linear_dim_0>, #gpu.mask<0xF0>"),
        "run iterations that it does not have",
        "[64, 1, 1]",
    ),
    (make_loop((4,), f"{LANE}, #gpu.mask<0xF0>"), "masks lanes", "[64, 1, 1]"),
    (make_loop((0,), THREAD), "has no iteration", "[64, 1, 1]"),
    (make_nest(2, WARP, 33, LANE), "maps 33 iterations to the 32 lanes", "[64, 1, 1]"),
    (make_nest(8, THREAD, 4, "#gpu.thread<y>"), "only 1 of its 32 iterations", "[8, 4, 1]"),
    (make_nest(64, THREAD, 32, LANE), "only 64 of its 2048 iterations", "[64, 1, 1]"),
    (make_nest(2, WARP, 32, THREAD), "only 32 of its 64 iterations", "[64, 1, 1]"),
    (make_nest(2, "#gpu.warpgroup<x>", 4, WARP), "only 4 of its 8 iterations", "[256, 1, 1]"),
]


@pytest.mark.parametrize(("loops", "message", "block"), DROPPED)
def test_dropped_iterations_are_refused(loops: str, message: str, block: str) -> None:
    check_refused(PROGRAM.format(loops=loops) + schedule(block), message)


INCLUDED = """transform.named_sequence @map(%l: !transform.any_op {{transform.consumed}}) {{
    {map}
    transform.yield
  }}"""
MATCHER = """transform.named_sequence @is_launch(%op: !transform.any_op {transform.readonly})
      -> !transform.any_op {
    transform.match.operation_name %op ["gpu.launch"] : !transform.any_op
    transform.yield %op : !transform.any_op
  }"""
CONSUMED = "main(%m: !transform.any_op {transform.consumed}"
FORMS = {
    "straight": ("", f"{FIND}\n{MAP}"),
    "include": (
        INCLUDED,
        f"{FIND}\ntransform.include @map failures(propagate) (%l) : (!transform.any_op) -> ()",
    ),
    "suppressed": (
        INCLUDED,
        f"{FIND}\ntransform.include @map failures(suppress) (%l) : (!transform.any_op) -> ()",
    ),
    "foreach_match": (
        MATCHER.replace("{", "{{").replace("}", "}}") + "\n" + INCLUDED,
        "transform.foreach_match in %m @is_launch -> @map "
        ": (!transform.any_op) -> !transform.any_op",
    ),
    "foreach": (
        "",
        f"{FIND}\ntransform.foreach %l : !transform.any_op {{{{\n"
        f"^bb0(%k: !transform.any_op):\n{MAP.replace('%l', '%k')}\n}}}}",
    ),
    "alternatives": (
        "",
        f"{FIND}\n%f = transform.get_parent_op %l {{{{isolated_from_above}}}} "
        ": (!transform.any_op) -> !transform.any_op\n"
        "transform.alternatives %f : !transform.any_op {{\n^bb0(%k: !transform.any_op):\n"
        f"{FIND.replace('%l', '%q').replace('%m', '%k').replace('{', '{{').replace('}', '}}')}\n"
        f"{MAP.replace('%l', '%q')}\n}}}}",
    ),
}


@pytest.mark.parametrize("is_file", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_every_way_to_map_is_watched(form: str, is_file: bool, tmp_path: Path) -> None:
    sequences, steps = (
        part.replace(FIND, FIND.replace("{", "{{").replace("}", "}}"))
        .replace("{map}", MAP)
        .format(block="[64, 1, 1]", options="", map=MAP)
        for part in FORMS[form]
    )
    text = SCHEDULE.format(sequences=sequences, steps=steps)
    if form == "foreach_match":
        text = text.replace("main(%m: !transform.any_op {transform.readonly}", CONSUMED)
    wrong = PROGRAM.format(loops=make_loop((64,), LANE))
    right = PROGRAM.format(loops=make_loop((32,), LANE))
    file = tmp_path / "schedule.mlir"
    file.write_text(text)
    if is_file:
        check_refused(wrong, "maps 64 iterations to the 32 lanes", file)
        assert pipeline.compile(right, schedule=file).ptx
    else:
        check_refused(wrong + text, "maps 64 iterations to the 32 lanes")
        assert pipeline.compile(right + text).ptx


def test_launch_that_is_mapped_to_two_sizes() -> None:
    loops = make_loop((64,), THREAD).replace(" // here", "").replace("%p", "%q")
    source = (
        PROGRAM.format(
            loops="%i = gpu.thread_id x // here\n"
            "memref.store %one, %x[%i] : memref<4096xf32>\n" + loops
        )
        .replace("%sx = %c1", "%sx = %c128")
        .replace("%one =", "%c128 = arith.constant 128 : index\n%one =")
    )
    message = "is mapped to a block of 128x1x1 threads, which the schedule makes a block of 64x1x1"
    check_refused(source + schedule(), message)


BLOCKS = """func.func @main(%x: memref<4096xf32>) {{
  %one = arith.constant 1.0 : f32
  {loop}
  return
}}
"""
LINEAR = ", ".join(f"#gpu.block<linear_dim_{n}>" for n in (3, 2, 1, 0))


def map_to_blocks(grid: str) -> str:
    sizes = f", grid_dims = array<i64: {grid[1:-1]}>" if grid else ""
    return SCHEDULE.format(
        sequences="",
        steps='%f = transform.structured.match ops{["func.func"]} in %m '
        ": (!transform.any_op) -> !transform.any_op\n"
        f"%l = transform.gpu.map_forall_to_blocks %f {{ generate_gpu_launch{sizes} }} "
        ": (!transform.any_op) -> !transform.any_op",
    )


@pytest.mark.parametrize(
    ("counts", "mapping", "grid"),
    [
        ((6,), "#gpu.block<x>", ""),
        ((2, 3), "#gpu.block<y>, #gpu.block<x>", ""),
        ((2, 3), "#gpu.block<y>, #gpu.block<x>", "[4, 4, 1]"),
        ((2, 3), "#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>", "[8, 1, 1]"),
        ((2, 2, 2, 2), LINEAR, "[16, 1, 1]"),
        ((4,), "#gpu.block<linear_dim_0>, #gpu.mask<0xF0>", "[8, 1, 1]"),
    ],
)
def test_whole_loops_over_blocks_run(counts: tuple[int, ...], mapping: str, grid: str) -> None:
    source = BLOCKS.format(loop=make_loop(counts, mapping)) + map_to_blocks(grid)
    x = np.zeros(4096, dtype=np.float32)
    pipeline.compile(source).run(x, backend="emulator")
    assert np.array_equal(x, np.arange(4096) < np.prod(counts))


@pytest.mark.parametrize(
    ("counts", "mapping", "grid", "message"),
    [
        ((2, 2, 2, 2), LINEAR, "", "is mapped to 4 dimensions of blocks"),
        (
            (8,),
            "#gpu.block<linear_dim_0>, #gpu.mask<0xF0>",
            "[8, 1, 1]",
            "only 4 of its 8 iterations run in a grid of 8x1x1 blocks",
        ),
        ((2,), "#gpu.block<linear_dim_0>, #gpu.mask<0xA>", "", "only 1 of its 2 iterations"),
        ((0,), "#gpu.block<x>", "", "has no iteration"),
    ],
)
def test_dropped_blocks_are_refused(
    counts: tuple[int, ...], mapping: str, grid: str, message: str
) -> None:
    source = BLOCKS.format(loop=make_loop(counts, mapping)) + map_to_blocks(grid)
    check_refused(source, message)


def test_size_of_blocks_that_would_become_zero() -> None:
    loop = make_loop((6,), "#gpu.block<x>").replace(" // here", "")
    loop = loop.replace(
        "%p =", "%d = gpu.block_dim y // here\n%k = arith.addi %i0, %d : index\n%p ="
    ).replace("(%i0)\n", "(%k)\n")
    check_refused(BLOCKS.format(loop=loop) + map_to_blocks(""), "would be zero after")
