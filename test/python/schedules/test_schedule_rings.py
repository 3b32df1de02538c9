"""Rings that default schedules ask for: results, instructions, and mutants that are caught."""

from __future__ import annotations

import re

import numpy as np
import pytest

import pipeline
from support.ring_loops import MODES, ORDERS
from support.ring_mutants import MUTATIONS, mutate


def matmul(m: int | str, n: int | str, k: int | str) -> str:
    """Return a product of matrices of f32, of extents that may be `?`."""
    return f"""
    func.func @main(%a: tensor<{m}x{k}xf32>, %b: tensor<{k}x{n}xf32>, %c: tensor<{m}x{n}xf32>)
        -> tensor<{m}x{n}xf32> {{
      %r = linalg.matmul ins(%a, %b : tensor<{m}x{k}xf32>, tensor<{k}x{n}xf32>)
          outs(%c : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
      return %r : tensor<{m}x{n}xf32>
    }}"""


def run(module: pipeline.Module, m: int, n: int, k: int) -> None:
    """Run it on the emulator and compare with NumPy."""
    numbers = np.random.default_rng(m + n + k)
    a, b, c = (
        numbers.uniform(-1, 1, shape).astype(np.float32) for shape in ((m, k), (k, n), (m, n))
    )
    result = module.run(a, b, c, check="races")
    expected = c + a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_allclose(result, expected, atol=1e-4)


@pytest.fixture(scope="module", params=["sm_75", "sm_80", "sm_86", "sm_90a"])
def dynamic(request: pytest.FixtureRequest) -> pipeline.Module:
    return pipeline.compile(matmul("?", "?", "?"), chip=request.param)


@pytest.mark.parametrize("k", [0, 1, 15, 16, 17, 33, 48, 64, 100])
def test_any_number_of_turns(dynamic: pipeline.Module, k: int) -> None:
    """None, one, fewer than there are slots, more; the last one ragged."""
    run(dynamic, 37, 22, k)


@pytest.mark.parametrize("sizes", [(257, 129, 40), (300, 200, 64), (64, 260, 36), (5, 5, 100)])
def test_ragged_tiles(dynamic: pipeline.Module, sizes: tuple[int, int, int]) -> None:
    run(dynamic, *sizes)


@pytest.mark.parametrize("sizes", [(256, 128, 64), (256, 260, 40), (300, 131, 33)])
@pytest.mark.parametrize("chip", ["sm_75", "sm_80", "sm_90a"])
def test_largest_tiles(sizes: tuple[int, int, int], chip: str) -> None:
    """Those of large matrices, for small ones; the proof is complete."""
    m, n, k = sizes
    schedule = pipeline.choose_schedule(matmul(4096, 4096, 4096), chip=chip)
    assert "[256, 128, 0]" in schedule
    module = pipeline.compile(matmul(m, n, k), chip=chip, schedule=schedule)
    assert not module.diagnostics
    run(module, m, n, k)


@pytest.mark.parametrize("chip", ["sm_80", "sm_90"])
def test_loop_of_large_matrices(chip: str) -> None:
    """One barrier a turn; 16 bytes a copy, and no other copies or loads; loads of 16 bytes."""
    module = pipeline.compile(matmul(4096, 4096, 4096), chip=chip)
    (kernel,) = module.kernels.values()
    assert kernel.resources.spill_store_bytes == kernel.resources.stack_bytes == 0
    assert kernel.dynamic_shared_bytes == 4 * (256 + 128) * 16 * 4
    assert module.ptx.count("bar.sync") == 1
    turns, bytes_of = 4, (256 + 128) * 16 * 4
    copies = re.findall(r"cp\.async\.c[ag]\..*", module.ptx)
    assert len(copies) == turns * bytes_of // 16 // 256
    assert all(copy.endswith(", 16;") for copy in copies)
    loads = re.findall(r"ld\.shared\S*", module.ptx)
    assert set(loads) == {"ld.shared.v4.b32"}
    assert module.ptx.count("fma.rn.f32") == 128 * 16
    assert not re.search(r"\b(mul|add)\.rn\.f32", module.ptx)


@pytest.mark.parametrize("kind", MUTATIONS)
def test_mutants(kind: str) -> None:
    """Each part of the ring is needed: without it there is a race, and no proof."""
    program = matmul(64, 64, 112)
    schedule = pipeline.choose_schedule(program).replace('"slots" = 4', '"slots" = 3')
    text = pipeline.compile(program, schedule=schedule, until="gpu").texts["gpu"]
    mutant = mutate(text, kind, 3)
    assert mutant != text
    assert pipeline.check(text).is_safe
    assert not pipeline.check(mutant).is_safe
    wrong = pipeline.compile(mutant, sync="keep", verify=False)
    numbers = np.random.default_rng(3)
    shapes = ((64, 112), (112, 64), (64, 64))
    arrays = [numbers.uniform(-1, 1, shape).astype(np.float32) for shape in shapes]
    reports = [
        report
        for order in ORDERS
        for mode in MODES
        for report in wrong.emulate(
            *arrays, options=pipeline.Options(check="all", order=order, async_mode=mode)
        )
    ]
    assert any(report.errors for report in reports)
