"""The thread's programs, end to end: PTX that ptxas takes, and numbers that are right."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

import pipeline
from support import ptx_interpreter
from support.chips import CHIPS
from support.examples import K_TILED, POSTED
from support.launching import Dim3, launch, parameters_of

ALL_OPERANDS = ("operands_to_promote = [0, 1]", "operands_to_promote = [0, 1, 2]")
FULL_TILES = ("operands_to_promote", "use_full_tiles_by_default, operands_to_promote")
PROGRAMS = {
    "as posted": POSTED,
    "output promoted too": POSTED.replace(*ALL_OPERANDS),
    "ragged": POSTED.replace("1024x1024", "1000x1000").replace("[4, 4, 0]", "[3, 6, 0]"),
    "K-tiled": K_TILED,
    "K-tiled, output promoted too": K_TILED.replace(*ALL_OPERANDS),
    "K-tiled, ragged": K_TILED.replace("1024x1024", "1000x1000"),
    "K-tiled, ragged, full tiles": K_TILED.replace("1024x1024", "1000x1000").replace(*FULL_TILES),
}
K_TILED_PROGRAMS = [name for name in PROGRAMS if name.startswith("K-tiled")]
BARRIER = "bar.sync \t0;"


def shrink(program: str) -> tuple[str, int]:
    """Return a K-tiled program for matrices small enough to run often, and their size."""
    text = PROGRAMS[program]
    old, new = ("1000", 200) if "ragged" in program else ("1024", 128)
    return text.replace(f"{old}x{old}", f"{new}x{new}"), new


def random_matrices(size: int) -> list[npt.NDArray[np.float32]]:
    generator = np.random.default_rng(1)
    return [generator.standard_normal((size, size), dtype=np.float32) for _ in range(3)]


def check_blocks(
    text: str, size: int, blocks: list[Dim3], tile: tuple[int, int], *, x_is_row: bool
) -> None:
    """Run some blocks and compare the tiles of C that they own; the rest must stay."""
    module = pipeline.compile(text)
    a, b, c = random_matrices(size)
    expected, result = c + a @ b, c.copy()
    for block in blocks:
        launch(module, [a, b, c], blocks=[block])
        y, x = (block[0], block[1]) if x_is_row else (block[1], block[0])
        owned = np.s_[y * tile[0] : (y + 1) * tile[0], x * tile[1] : (x + 1) * tile[1]]
        result[owned] = expected[owned]
    np.testing.assert_allclose(c, result, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize(
    ("program", "size", "tile", "last"),
    [
        ("as posted", 1024, (4, 4), (255, 255, 0)),
        ("output promoted too", 1024, (4, 4), (255, 255, 0)),
        ("ragged", 1000, (3, 6), (333, 166, 0)),
    ],
)
def test_one_thread(program: str, size: int, tile: tuple[int, int], last: Dim3) -> None:
    check_blocks(PROGRAMS[program], size, [(1, 2, 0), last], tile, x_is_row=True)


@pytest.mark.parametrize("program", K_TILED_PROGRAMS)
def test_many_threads(program: str) -> None:
    text, size = shrink(program)
    last = -(-size // 64) - 1
    check_blocks(text, size, [(0, 1, 0), (last, last, 0)], (64, 64), x_is_row=False)


def test_many_threads_at_full_size() -> None:
    check_blocks(PROGRAMS["K-tiled, ragged"], 1000, [(15, 15, 0)], (64, 64), x_is_row=False)


@pytest.mark.parametrize("program", K_TILED_PROGRAMS)
def test_missing_barriers_are_seen(program: str) -> None:
    """One barrier per iteration cannot do: the interpreter's silence above means something."""
    text, size = shrink(program)
    module = pipeline.compile(text)
    (kernel,) = module.kernels.values()
    assert kernel.block is not None
    assert kernel.grid is not None
    parts = module.ptx.split(BARRIER)
    for i in range(1, len(parts)):
        mutant = "".join(parts[:i]) + BARRIER + "".join(parts[i:])
        with pytest.raises(ptx_interpreter.PTXError, match="data race"):
            ptx_interpreter.run(
                ptx_interpreter.parse(mutant)[kernel.name],
                parameters_of(kernel, random_matrices(size)),
                grid=kernel.grid,
                block=kernel.block,
                blocks=[(0, 0, 0)],
            )


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_ptxas(program: str, chip: str) -> None:
    module = pipeline.compile(PROGRAMS[program], chip=chip)
    (kernel,) = module.kernels.values()
    resources = kernel.resources
    assert resources.static_shared_bytes == kernel.static_shared_bytes
    # ptxas may keep one value in memory to fit one more block on a multiprocessor.
    limit = 8 if program.startswith("K-tiled") else 0
    assert resources.stack_bytes <= limit
    assert resources.spill_store_bytes <= limit
    assert "warning" not in module.ptxas_log
    assert ".local" not in module.ptx
    assert f".target {chip}" in module.ptx
