"""What is chosen for a kernel by its structure; no compiler is needed."""

from __future__ import annotations

import math
import time
from dataclasses import replace

import pytest

from pipeline.schedules import (
    Kernel,
    Target,
    Tile,
    choose,
    choose_tile,
    write_schedule,
)
from pipeline.schedules.matrix import matrix_rate
from pipeline.schedules.tile import fill_block
from schedules.schedule_kernels import (
    A100,
    H100,
    RTX,
    SMALL,
    Extents,
    chain,
    matmul,
    operand,
    pointwise,
    reduction,
    softmax,
)


def points(tile: Tile, kernel: Kernel) -> int:
    """How many iterations of the loops that are shared out a block does."""
    sizes = zip(tile.block, kernel.root.extents, kernel.shared, strict=True)
    return math.prod(size or extent or 1 for size, extent, shared in sizes if shared)


# --- element by element ---------------------------------------------------------------------------


def test_large_elementwise_work_has_four_vectors_a_thread() -> None:
    kernel = pointwise((4096, 4096))
    tile = choose_tile(kernel, A100)
    assert tile == Tile((4, 1024), 256)
    assert choose_tile(pointwise((1 << 24,)), A100) == Tile((4096,), 256)


@pytest.mark.parametrize(("kind", "vector"), [("f64", 2), ("f32", 4), ("f16", 8), ("i8", 16)])
def test_small_elementwise_work_has_one_vector_a_thread(kind: str, vector: int) -> None:
    kernel = pointwise((512, 256), kind=kind)
    tile = choose_tile(kernel, A100)
    assert points(tile, kernel) == tile.threads * vector


def test_little_work_takes_few_threads() -> None:
    assert choose_tile(pointwise((7,)), A100) == Tile((7,), 32)
    assert choose_tile(pointwise(()), A100) == Tile((), 32)
    assert choose_tile(pointwise((0, 3)), A100).threads == 32


def test_unknown_extents_count_as_large() -> None:
    assert choose_tile(pointwise((None, None)), A100) == Tile((4, 1024), 256)
    assert choose_tile(pointwise((None,)), A100).threads == 256


def test_no_more_loops_are_shared_out_than_there_are_ids() -> None:
    tile = choose_tile(pointwise((2,) * 14), A100)
    assert sum(size > 0 for size in tile.block) == 10
    assert tile.block[:4] == (0, 0, 0, 0)


def test_transposition_has_square_tiles() -> None:
    kernel = pointwise((4096, 4096), (1, 0))
    assert choose_tile(kernel, A100) == Tile((64, 64), 256)
    assert choose_tile(pointwise((256, 256), (1, 0)), A100) == Tile((32, 32), 256)
    assert choose_tile(pointwise((5, 1024, 8, 1024), (3, 2, 1)), A100).block[3] in (32, 64)


@pytest.mark.parametrize("inputs", [((0, 1), (1,)), ((0, 1), (0,)), ((0,), (1,))])
def test_broadcast_is_no_transposition(inputs: tuple[tuple[int, ...], ...]) -> None:
    assert choose_tile(pointwise((4096, 4096), *inputs), A100) == Tile((4, 1024), 256)


# --- sums -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("columns", "rows", "threads"),
    [(20, 128, 128), (100, 8, 256), (1024, 4, 256), (4096, 1, 256), (1 << 20, 1, 1024)],
)
def test_rows(columns: int, rows: int, threads: int) -> None:
    assert choose_tile(reduction((5000, columns), (1,)), A100) == Tile((rows, 0), threads)


def test_rows_of_unknown_length() -> None:
    assert choose_tile(reduction((None, None), (1,)), A100) == Tile((1, 0), 256)


def test_what_is_kept_of_rows_fits() -> None:
    assert choose_tile(softmax(4096, 1024), A100) == Tile((1, 0), 64)
    assert choose_tile(softmax(4096, 16), A100) == Tile((128, 0), 128)
    long = choose_tile(softmax(8, 1 << 18), A100)
    assert long == Tile((1, 0), 1024, (), recompute=True)
    assert not choose_tile(softmax(8, 16384), A100).recompute
    assert choose_tile(softmax(8, 16384), SMALL).recompute


def test_columns() -> None:
    assert choose_tile(reduction((1000, 4096), (0,)), A100) == Tile((0, 32), 256)
    assert choose_tile(reduction((1000, 1 << 16), (0,)), A100) == Tile((0, 64), 64)
    assert choose_tile(reduction((20, 512), (0,)), A100) == Tile((0, 64), 64)


def test_everything() -> None:
    assert choose_tile(reduction((16, 512), (0, 1)), A100) == Tile((0, 0), 512)
    assert choose_tile(reduction((64,), (0,)), A100) == Tile((0,), 32)
    serial = choose_tile(reduction((1000,), (0,), combinable=False), A100)
    assert (serial.threads, bool(serial.reason)) == (32, True)


@pytest.mark.parametrize(
    ("extents", "sums", "block", "split"),
    [
        ((1 << 24,), (0,), (0,), (77676,)),  # two blocks for each multiprocessor
        ((1 << 16,), (0,), (0,), (4096,)),  # 16 elements for each of 256 threads
        ((4096, 1000), (0, 1), (0, 0), (19, 0)),  # some rows each
        ((4, 100_000), (1,), (4, 0), (1, 4168)),
        ((128, 100_000), (1,), (128, 0), (1, 33336)),  # 384 blocks are done sooner than 128
        ((100_000, 64), (0,), (0, 64), (926, 32)),
        ((4096, 4096), (0,), (0, 256), (1366, 32)),
        ((None,), (0,), (0,), (16384,)),
        ((3, None), (1,), (3, 0), (1, 16384)),
    ],
)
def test_blocks_share_long_sums(
    extents: Extents, sums: tuple[int, ...], block: tuple[int, ...], split: tuple[int, ...]
) -> None:
    tile = choose_tile(reduction(extents, sums), A100)
    assert (tile.block, tile.threads, tile.split) == (block, 256, split)


@pytest.mark.parametrize(
    ("extents", "sums"),
    [
        ((2_000,), (0,)),  # too short
        ((500, 100_000), (1,)),  # blocks enough
        ((None, 100_000), (1,)),
        ((0, 100_000), (1,)),
        ((4, 0), (1,)),
    ],
)
def test_sums_that_one_block_does(extents: Extents, sums: tuple[int, ...]) -> None:
    assert choose_tile(reduction(extents, sums), A100).split == ()


def test_what_cannot_be_put_together_is_left_to_one_thread_each() -> None:
    kernel = reduction((300, 70), (1,), combinable=False)
    tile = choose_tile(kernel, A100)
    assert (tile.block, tile.threads) == ((128, 0), 128)
    (remark,) = choose([kernel], A100, "1").remarks
    assert (remark.kind, remark.name) == ("missed", "GeneralKernel")
    assert "cannot be put together" in remark.message


# --- sums of products -----------------------------------------------------------------------------


@pytest.mark.parametrize("sizes", [(4096, 4096, 4096), (None, None, None), (8192, 1 << 14, 64)])
def test_large_matmul(sizes: tuple[int | None, ...]) -> None:
    m, n, k = sizes
    assert choose_tile(matmul(m, n, k), A100) == Tile((1, 256, 128, 0), 256, (16,), slots=4)


def test_small_matmul_keeps_all_multiprocessors_busy() -> None:
    expected = Tile((1, 64, 64, 0), 128, (16,), slots=4)
    assert choose_tile(matmul(1024, 1024, 1024), A100) == expected
    assert choose_tile(matmul(64, 64, 64), A100) == expected


@pytest.mark.parametrize("size", [17, 64, 100, 513, 1024, 4096, None])
@pytest.mark.parametrize("target", [A100, SMALL, H100])
def test_threads_have_many_sums(size: int | None, target: Target) -> None:
    """So that many products come to a load, as few as keep all multiprocessors busy."""
    tile = choose_tile(matmul(size, size, size), target)
    assert tile.block[1] * tile.block[2] in {sums * tile.threads for sums in (32, 64, 128)}
    if size is None or size == 4096:
        assert tile.block[1:3] == (256, 128)


@pytest.mark.parametrize("kind", ["f16", "f32", "f64", "i8", "i32", "i64"])
@pytest.mark.parametrize("target", [A100, SMALL, H100, RTX])
@pytest.mark.parametrize("sizes", [(4096,) * 3, (1000, 999, 33), (16, 512, 512), (128, 128, 40)])
def test_slots_fit(sizes: tuple[int, int, int], target: Target, kind: str) -> None:
    """Copies run ahead, as far as there are steps and memory: through registers, one step."""
    tile = choose_tile(matmul(*sizes, kind=kind), target)
    bytes_of = {"f16": 2, "f32": 4, "f64": 8, "i8": 1, "i32": 4, "i64": 8}[kind]
    (step,) = tile.reduction
    slot = (tile.block[1] + tile.block[2]) * step * bytes_of
    assert 2 <= tile.slots <= (4 if target.has_async_copies else 2)
    assert tile.slots * slot <= target.shared_bytes
    assert tile.slots <= -(-sizes[2] // step)


def test_slots_leave_room_for_a_second_block() -> None:
    """Where there are sums of two blocks in the registers of a multiprocessor."""
    tile = choose_tile(matmul(4096, 4096, 4096), RTX)
    assert tile == Tile((1, 128, 128, 0), 256, (16,), slots=3)


@pytest.mark.parametrize(("k", "slots"), [(1, 0), (8, 2), (24, 2), (48, 3), (512, 4)])
def test_no_more_slots_than_steps(k: int, slots: int) -> None:
    assert choose_tile(matmul(512, 512, k), A100).slots == slots


def test_neighbours_along_the_sum_take_registers() -> None:
    """Of a right operand whose rows are contiguous, several steps are loaded at once."""
    kernel = matmul(4096, 4096, 4096)
    op = kernel.main
    right = operand((0, 2, 3), op.extents)
    other = replace(kernel, ops=(op._replace(inputs=(op.inputs[0], right)),))
    tile = choose_tile(other, A100)
    assert tile.block[1] * tile.block[2] <= 64 * tile.threads


def product_of(kinds: tuple[str, str, str], size: int) -> Kernel:
    """Return a kernel of a matmul of two types, with sums of a third."""
    kernel = matmul(size, size, size)
    op = kernel.main
    left, right, result = (
        operand(loops, op.extents, kind)
        for loops, kind in zip(((0, 1, 3), (0, 3, 2), (0, 1, 2)), kinds, strict=True)
    )
    return replace(kernel, ops=(op._replace(inputs=(left, right), results=(result,)),))


@pytest.mark.parametrize(
    ("kinds", "target", "is_matrix"),
    [
        (("f16", "f16", "f32"), A100, True),
        (("f16", "f16", "f16"), SMALL, True),
        (("i8", "i8", "i32"), RTX, True),
        (("i8", "f16", "f32"), A100, True),
        (("f64", "f64", "f64"), A100, True),
        (("f64", "f64", "f64"), RTX, False),
        (("f32", "f32", "f32"), A100, False),
        (("f16", "f32", "f32"), A100, False),
        (("i8", "i8", "i8"), A100, False),
    ],
)
def test_tensor_cores(kinds: tuple[str, str, str], target: Target, is_matrix: bool) -> None:
    """Warps have 64 x 64 sums where there are tensor cores for the types, and 2 slots or more."""
    op = product_of(kinds, 4096).main
    assert bool(matrix_rate(op, target)) == is_matrix
    tile = choose_tile(product_of(kinds, 4096), target)
    assert tile.slots >= 2
    if is_matrix and target.has_async_copies and kinds[2] != "f64":
        assert tile.block[1] * tile.block[2] == 128 * tile.threads
    if is_matrix:
        assert tile.block[1] % 16 == tile.block[2] % 8 == 0


@pytest.mark.parametrize("size", [20, 40, 100, 1000])
def test_steps_of_tensor_cores(size: int) -> None:
    """Whole instructions, however short the sum."""
    (step,) = choose_tile(product_of(("f16", "f16", "f32"), size), A100).reduction
    assert step % 8 == 0


def test_choice_of_a_product_is_fast() -> None:
    """Less than 2 ms; of several tries, as the machine may have other things to do."""
    times = []
    for size in range(1000, 1020):
        start = time.perf_counter()
        choose_tile(matmul(size, size, size), A100)
        times.append(time.perf_counter() - start)
    assert min(times) < 2e-3


@pytest.mark.parametrize("kind", ["f64", "i64"])
def test_sums_of_64_bits_take_smaller_tiles(kind: str) -> None:
    tile = choose_tile(matmul(4096, 4096, 4096, kind=kind), RTX)
    assert tile.block[1] * tile.block[2] <= 32 * tile.threads


@pytest.mark.parametrize("sizes", [(1, 4096, 4096), (4096, 1, 4096), (4, 4, 65536)])
def test_thin_products_are_sums(sizes: tuple[int, ...]) -> None:
    m, n, k = sizes
    assert choose_tile(matmul(m, n, k), A100).reduction == ()


@pytest.mark.parametrize(("few", "kind"), [(1, "f16"), (5, "f32"), (8, "f16"), (8, "f32")])
def test_few_rows_or_columns_are_done_with_the_matrix_at_once(few: int, kind: str) -> None:
    """A thread loads 16 bytes of the matrix, and multiplies them with all of the vectors."""
    along = choose_tile(matmul(4096, few, 1024, kind=kind), A100)
    across = choose_tile(matmul(few, 4096, 1024, kind=kind), A100)
    assert (along.direct, along.block[2:], along.split) == (True, (0, 0), ())
    assert 2 * along.block[1] * few <= along.threads
    assert (across.direct, across.split[1]) == (True, 0)
    assert across.split[2] == 32 * (4 if kind == "f32" else 8)
    assert points(across, matmul(few, 4096, 1024)) == across.threads


def test_what_is_narrow_depends_on_the_type() -> None:
    """More vectors than a thread has registers or time for go through workgroup memory."""
    for kind, few in (("f32", 9), ("f16", 9), ("i8", 5), ("f64", 9)):
        assert not choose_tile(matmul(few, 4096, 4096, kind=kind), A100).direct
        assert choose_tile(matmul(few - 1, 4096, 4096, kind=kind), A100).direct


@pytest.mark.parametrize("kind", ["f32", "f16"])
@pytest.mark.parametrize("few", [17, 64])
def test_the_last_wave_of_products_is_not_nearly_empty(few: int, kind: str) -> None:
    """64 tiles leave 44 of 108 multiprocessors idle: blocks share the sums."""
    tile = choose_tile(matmul(few, 4096, 4096, kind=kind), A100)
    tiles = -(-few // tile.split[1]) * -(-4096 // tile.split[2]) * -(-4096 // tile.split[3])
    assert tiles / (-(-tiles // 108) * 108) > 64 / 108


@pytest.mark.parametrize("size", [4096, 8192])
def test_waves_of_large_products_are_full(size: int) -> None:
    target = Target("sm_90", 132, 227 << 10)
    tile = choose_tile(matmul(size, size, size), target)
    tiles = (size // tile.block[1]) * (size // tile.block[2])
    assert tiles / (-(-tiles // 132) * 132) >= 0.95
    assert tile.split == ()


@pytest.mark.parametrize("few", [9, 16])
@pytest.mark.parametrize("kind", ["f32", "f16"])
def test_few_rows_or_columns_take_tiles_of_no_more(few: int, kind: str) -> None:
    """16 of them, also where blocks share the sums."""
    of_columns = choose_tile(matmul(4096, few, 1024, kind=kind), A100)
    of_rows = choose_tile(matmul(few, 4096, 1024, kind=kind), A100)
    for tile, along in ((of_columns, 2), (of_rows, 1)):
        sizes = tile.split or tile.block
        assert sizes[along] == 16
        assert sizes[1] * sizes[2] == (32 if kind == "f32" else 16) * tile.threads


@pytest.mark.parametrize("size", [64, 100, 256])
def test_blocks_share_long_products(size: int) -> None:
    kernel = matmul(size, size, 1 << 16)
    tile = choose_tile(kernel, A100)
    assert tile.split[1:3] == (64, 64)
    assert tile.split[3] % tile.reduction[0] == 0
    blocks = (-(-size // 64)) ** 2 * -(-(1 << 16) // tile.split[3])
    assert 108 <= blocks <= 216
    assert min(size, tile.threads) <= points(tile, kernel) <= tile.threads


@pytest.mark.parametrize(
    "sizes", [(64, 64, 300), (1024, 1024, 1 << 16), (None, 64, None), (0, 64, 1 << 16)]
)
def test_products_that_one_block_does(sizes: tuple[int | None, ...]) -> None:
    m, n, k = sizes
    assert choose_tile(matmul(m, n, k), A100).split == ()


# --- chains ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("heads", "rows", "keys", "block", "threads", "columns"),
    [
        (2, 50, 70, (1, 16, 0, 0), 64, 96),  # too few blocks anyway
        (8, 256, 128, (1, 16, 0, 0), 64, 128),  # 128 blocks
        (32, 256, 128, (1, 64, 0, 0), 256, 128),
        (32, 256, 1000, (1, 16, 0, 0), 64, 128),  # no more fit
        (32, None, 128, (1, 64, 0, 0), 256, 128),
        (32, 256, 300, (1, 32, 0, 0), 64, 64),  # 320 columns in all rather than 384
    ],
)
def test_rows_between_contractions(
    heads: int,
    rows: int | None,
    keys: int,
    block: tuple[int, ...],
    threads: int,
    columns: int,
) -> None:
    kernel = chain(heads, rows, keys, 64)
    tile = choose_tile(kernel, A100)
    assert (tile.block, tile.threads) == (block, threads)
    assert (tile.reduction, tile.columns) == ((16,), columns)


def test_text_of_a_chain() -> None:
    kernel = chain(32, 256, 128, 64)
    text = write_schedule([kernel], [choose_tile(kernel, A100)], target=A100, version="9")
    (formed,) = (line for line in text.splitlines() if "workgroup-linalg-to-kernels" in line)
    assert '"chain-bytes" = 83456, "chain-blocks" = 54, "chip" = "sm_80"}' in formed
    assert '"block" = [1, 64, 0, 0], "reduction" = [16], "columns" = 128' in text
    assert "chain" not in write_schedule([pointwise(())], [Tile((), 32)], target=A100, version="9")


# --- limits and text ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("block", "threads", "message"),
    [
        ((1,), 0, "1 to 1024 threads, not 0"),
        ((1,), 2048, "not 2048"),
        ((-1,), 32, "positive"),
        ((1,) * 11, 32, "10 loops at most"),
    ],
)
def test_tiles_that_no_kernel_can_have(block: tuple[int, ...], threads: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Tile(block, threads)


def test_blocks_are_never_empty() -> None:
    for extents in ((1, 1), (0, 5), (3, 0), (2, None)):
        kernel = pointwise(extents)
        assert all(size > 0 for size in fill_block(kernel, 4, kernel.shared_loops))


def test_text() -> None:
    kernel = matmul(512, 512, 512)
    tile = Tile((1, 64, 64, 0), 64, (16,))
    text = write_schedule([kernel], [tile], target=A100, version="9")
    lines = [line.strip() for line in text.splitlines()]
    assert lines[0].startswith("// Chosen by mlir-workgroup 9 for sm_80")
    assert "// @main_0: contraction 1x512x512x512 f32; 64 blocks of 64 threads" in lines
    (tiled,) = (line for line in lines if "workgroup-tile-kernel" in line)
    assert '{"block" = [1, 64, 64, 0], "reduction" = [16]}' in tiled
    (mapped,) = (line for line in lines if "workgroup-map-to-threads" in line)
    assert '"threads" = 64' in mapped
    assert "workgroup-form-rings" not in text
    assert tile.slots == 0


def test_text_of_a_ring() -> None:
    tile = Tile((1, 64, 64, 0), 64, (16,), slots=3)
    text = write_schedule([matmul(512, 512, 512)], [tile], target=A100, version="9")
    (rings,) = (line for line in text.splitlines() if "workgroup-form-rings" in line)
    assert '{"slots" = 3, "chip" = "sm_80", "assume-distinct-arguments" = true}' in rings


def test_text_of_warps_that_copy() -> None:
    tile = Tile((1, 64, 64, 0), 128, (64,), slots=3, producers=32)
    text = write_schedule([matmul(512, 512, 512)], [tile], target=A100, version="9")
    (rings,) = (line for line in text.splitlines() if "workgroup-form-rings" in line)
    assert '{"slots" = 3, "chip" = "sm_80", "producers" = 32, ' in rings
    assert "64 blocks of 128 threads, 32 more for copies" in text


@pytest.mark.parametrize("producers", [40, 544, 1024, -32])
def test_warps_that_copy_are_whole(producers: int) -> None:
    with pytest.raises(ValueError, match=r"in whole warps|1024 threads"):
        Tile((64, 64, 0), 128, (64,), slots=3, producers=producers)


def test_text_of_a_sum_that_blocks_share() -> None:
    kernel = reduction((4, 100_000), (1,))
    text = write_schedule([kernel], [choose_tile(kernel, A100)], target=A100, version="9")
    assert '"block" = [4, 0], "split" = [1, 4168]' in text
    blocks = "96 blocks of 256 threads for parts of the sum, then 1 block of 256 threads"
    assert f"// @main_0: reduction 4x100000 f32; {blocks}" in text


def test_text_leaves_out_what_is_not_chosen() -> None:
    text = write_schedule([pointwise(())], [Tile((), 32)], target=A100, version="9")
    assert '"block"' not in text
    assert '"recompute"' not in text
    assert "; 1 block of 32 threads" in text


def test_text_without_kernels() -> None:
    text = write_schedule([], [], target=A100, version="9")
    assert "workgroup-bufferize" in text
    assert "func.func" not in text
