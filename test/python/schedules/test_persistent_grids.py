"""Blocks that go through several tiles: numbers, proofs, mistakes in what they carry on."""

from __future__ import annotations

import functools
import re
import warnings

import numpy as np
import pytest

import pipeline
from pipeline.system.assembler import assemble
from schedules.group_products import (
    MODES,
    Product,
    check_numbers,
    check_proof,
    compile_text,
    is_right,
)
from schedules.matmuls import Matmul

DEEP = Product("m=320 n=192 k=448")
"""Of 15 tiles, each of so many steps that slots are filled again, and that it ends in the midst."""
LONG = Matmul(4096, 4096, 4096)
"""Of 512 tiles, and so many steps that the proof does not follow all of them."""

CASES = {
    "several rounds": (DEEP, 4),
    "one block": (DEEP, 1),
    "as many rounds": (DEEP, 5),
    "one tile for some": (DEEP, 14),
    "groups of rows": (Product("m=1088 n=192 k=128"), 5),
    "one row": (Product("m=64 n=640 k=128"), 3),
    "ragged": (Product("m=200 n=168 k=200"), 3),
    "row by row": (Product("m=1080 n=136 k=136"), 5),
    "groups of columns": (Product("m=832 n=896 k=128"), 20),
    "groups that divide blocks": (Product("m=704 n=168 k=128"), 22),
    "no groups": (Product("m=832 n=832 k=128"), 40),
    "batches": (Product("b=3 m=128 n=192 k=192", "bmk", "bkn", "bmn"), 4),
    "bytes": (Product("m=192 n=192 k=640", "mk", "nk", "mn", "i8", "i32"), 4),
    "transposed": (Product("m=256 n=192 k=192", "km", "nk"), 5),
    "bf16": (Product("m=192 n=192 k=320", kind="bf16"), 2),
}


def persistent(blocks: int, rest: str = "") -> str:
    return f"persist-grid={blocks} {rest}".strip()


def two_groups() -> str:
    """Return a schedule for blocks with two warp groups that multiply, of 9 tiles."""
    schedule = compile_text(DEEP.text).schedule or ""
    schedule = re.sub(r'"block" = \[\d+, \d+, 0\]', '"block" = [128, 64, 0]', schedule)
    schedule = re.sub(r'"threads" = (\[?)\d+', r'"threads" = \g<1>256', schedule)
    return re.sub(r'"slots" = \d+', '"slots" = 3', schedule)


def remarks_of(module: pipeline.Module) -> list[str]:
    return [text for text in map(str, module.remarks) if "persist-grid" in text]


@pytest.mark.parametrize(("product", "blocks"), CASES.values(), ids=CASES.keys())
def test_numbers(product: Product, blocks: int) -> None:
    """Right in all orders, free of races, and proved."""
    module = compile_text(product.text, persistent(blocks))
    (remark,) = remarks_of(module)
    assert "[passed]" in remark
    (kernel,) = module.kernels.values()
    assert kernel.grid == (blocks, 1, 1)
    check_numbers(module, product)
    check_proof(module)


@pytest.mark.parametrize("options", ["specialize-warps=128", "specialize-warps=32"])
def test_two_groups_of_consumers(options: str) -> None:
    """Two warp groups multiply a tile, and both are done with a slot before it is filled."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", pipeline.UnverifiedWarning)
        module = pipeline.compile(
            DEEP.text,
            chip="sm_90a",
            schedule=two_groups(),
            memory_options=persistent(4, options),
        )
    (kernel,) = module.kernels.values()
    assert kernel.block == (384 if "128" in options else 288, 1, 1)
    assert kernel.grid == (4, 1, 1)
    check_numbers(module, DEEP)


def test_fused_epilogue() -> None:
    """What is computed of sums is of the tile that they are of."""
    case = Matmul(m=320, n=192, k=256, epilogue="relu")
    module = compile_text(case.text, persistent(4))
    assert "[passed]" in remarks_of(module)[0]
    inputs = case.make_inputs()
    for mode in MODES:
        result = module.run(*inputs, backend="emulator", check="all", workers=1, **mode)
        np.testing.assert_array_equal(np.asarray(result), case.expect(inputs))


@pytest.mark.parametrize("blocks", [4, 64])
@pytest.mark.parametrize("dynamic", ["m", "b"])
def test_sizes_that_the_launch_knows(dynamic: str, blocks: int) -> None:
    """Proved whatever the sizes are; blocks beyond the last tile have nothing to do."""
    product = Product("b=3 m=320 n=192 k=128", "bmk", "bkn", "bmn")
    if dynamic == "m":
        product = Product("m=320 n=192 k=128")
    module = compile_text(product.dynamic_text(dynamic), persistent(blocks))
    assert "[passed]" in remarks_of(module)[0]
    (kernel,) = module.kernels.values()
    assert kernel.grid == (blocks, 1, 1)
    check_proof(module)
    check_numbers(module, product)


@pytest.mark.parametrize("sizes", ["m=4224 n=4096 k=4096", "m=4224 n=6000 k=4096"])
def test_large_products_are_proved(sizes: str) -> None:
    """Groups of 11 rows, by which the number of blocks can be divided; whole tiles and not."""
    module = compile_text(Product(sizes).text, persistent(132))
    assert "[passed]" in remarks_of(module)[0]
    check_proof(module)


@pytest.mark.parametrize("blocks", [15, 16, 200])
def test_enough_blocks_for_all_tiles(blocks: int) -> None:
    """Each tile has a block of its own, as without."""
    module = compile_text(DEEP.text, persistent(blocks))
    (remark,) = remarks_of(module)
    assert "15 tiles are no more than blocks" in remark
    assert module.ptx == compile_text(DEEP.text, persistent(0)).ptx


def test_numbers_of_blocks_are_checked() -> None:
    for number in (-2, 65536):
        with pytest.raises(pipeline.UsageError, match="persistent blocks must be from 1 to 65535"):
            compile_text(DEEP.text, persistent(number))


def test_large_matmul_is_assembled() -> None:
    """Nothing is spilled, or put in sequence, and all is proved."""
    module = compile_text(LONG.text, persistent(132))
    (kernel,) = module.kernels.values()
    assert kernel.grid == (132, 1, 1)
    waits = re.findall(r"wgmma\.wait_group\.sync\.aligned\s+(\d)", module.ptx)
    assert sorted(waits) == ["0", "1"]
    _, log = assemble(module.ptx, module.chip)
    assert re.search(r"\b0 bytes stack frame, 0 bytes spill stores", log), log
    assert "C75" not in log, log


def test_schedule_may_ask_for_it() -> None:
    """Those that are chosen do not, as it is not proved of all sizes; one of one's own may."""
    schedule = compile_text(DEEP.text).schedule or ""
    assert '"blocks"' not in schedule
    assert '"producers" = 32' in schedule
    schedule = schedule.replace('"producers" = 32', '"producers" = 32, "blocks" = 4')
    module = pipeline.compile(DEEP.text, chip="sm_90a", schedule=schedule)
    assert module.ptx == compile_text(DEEP.text, persistent(4)).ptx


# --- mistakes -------------------------------------------------------------------------------------


@functools.cache
def persistent_text() -> str:
    return compile_text(DEEP.text, persistent(4)).texts["gpu"]


def mutate(kind: str) -> str:
    """Return the kernel with one mistake, or none."""
    text = persistent_text()
    inits = re.findall(r"nvgpu\.mbarrier\.init (%\w+)\[%\w+\], (%\w+)", text)
    full = next(group for group, count in inits if count == "%c1")
    empty = next(group for group, count in inits if count != "%c1")
    wait = r" *nvgpu\.mbarrier\.try_wait\.parity {}\[.*\n"
    # Of the loops through the steps of a tile, what is handed on by those through tiles.
    inner = r"(scf\.for %\w+ = %c0\w* to %\w+ step %\w+ iter_args\((?:%\w+ = %cst\w*, )*"
    edits = {
        "none": ("$", ""),
        "wait for full slots": (wait.format(full), ""),
        "wait for empty slots": (wait.format(empty), ""),
        "release": (rf" *%\w+ = nvgpu\.mbarrier\.arrive {empty}\[.*\n", ""),
        "parity": (r"(iter_args\(%\w+ = %\w+, %\w+ = )%true", r"\1%false"),
        "bytes": (rf"(arrive\.expect_tx {full}\[%\w+\], )%\w+", r"\1%c1"),
        "slots begin anew for consumers": (
            inner + r"%\w+ = )%arg\w+(, %\w+ = %arg\w+, %\w+ = %arg)",
            r"\1%c0_i32\2",
        ),
        "slots begin anew for producers": (
            inner + r"%\w+ = )%arg\w+(, %\w+ = %arg\w+\) )",
            r"\1%c0_i32\2",
        ),
        "parity begins anew for producers": (
            inner + r"%\w+ = %arg\w+, %\w+ = )%arg\w+(\) )",
            r"\1%true\2",
        ),
        "parity begins anew for consumers": (
            inner + r"%\w+ = %arg\w+, %\w+ = )%arg\w+(, %\w+ = %arg\w+\) )",
            r"\1%false\2",
        ),
    }
    pattern, replacement = edits[kind]
    changed, count = re.subn(pattern, replacement, text)
    assert count >= 1
    assert (changed != text) == (kind != "none")
    return changed


KINDS = (
    "none",
    "wait for full slots",
    "wait for empty slots",
    "release",
    "parity",
    "bytes",
    "slots begin anew for consumers",
    "slots begin anew for producers",
    "parity begins anew for producers",
    "parity begins anew for consumers",
)


@pytest.mark.parametrize("kind", KINDS)
def test_mistakes_are_found_by_the_emulator(kind: str) -> None:
    """Races, deadlocks, or numbers that are not right, in one of the orders."""
    assert is_right(mutate(kind), DEEP) == (kind == "none")


@pytest.mark.parametrize("kind", KINDS)
def test_mistakes_are_not_proved(kind: str) -> None:
    """Only the kernel as it was made is safe."""
    (kernel,) = pipeline.check(mutate(kind)).kernels
    assert (kernel.verdict == "SAFE") == (kind == "none")


TILE_KINDS = {
    "a tile is left out": (r"(scf\.for %\w+ = %block_id_x to %c15 step )%c4\b", r"\1%c5"),
    "blocks share tiles": (r"(scf\.for %\w+ = %block_id_x to %c15 step )%c4\b", r"\1%c2"),
    "the last tile is missing": (r"(scf\.for %\w+ = %block_id_x to )%c15\b", r"\1%c8"),
    "rows are too few": (r"(arith\.remui %arg\w+, )%c5\b", r"\1%c4"),
    "columns are too wide": (r"(arith\.divui %arg\w+, )%c5\b", r"\1%c8"),
}
"""Both loops through tiles are changed alike: no slot, and no phase, is another one by that."""


@pytest.mark.parametrize("kind", TILE_KINDS)
def test_mistakes_of_tiles_are_found(kind: str) -> None:
    """Blocks race, or numbers are not right; where blocks share tiles, nothing is proved."""
    text = persistent_text()
    changed, count = re.subn(*TILE_KINDS[kind], text)
    assert count == 2
    (kernel,) = pipeline.check(changed).kernels
    assert not is_right(changed, DEEP)
    shared = ("blocks share tiles", "columns are too wide")
    assert (kernel.verdict != "SAFE") == (kind in shared)
