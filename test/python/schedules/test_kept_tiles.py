"""What element-wise operations keep for others fits the chip, or is computed again."""

from __future__ import annotations

import numpy as np
import pytest

import pipeline
from pipeline import _native

CHIPS = {chip.name: chip.max_workgroup_bytes for chip in _native.chips()}
DTYPES = {"f32": np.float32, "f64": np.float64}


def squares_and_transposed(element: str, extent: int, count: int) -> str:
    """Return a sum of `count` squares, each of which is read in two orders."""
    t, matrix = element, f"tensor<{extent}x{extent}x{element}>"
    body = ""
    for number in range(count):
        body += f"""\
  %e{number} = tensor.empty() : {matrix}
  %x{number} = linalg.generic {{indexing_maps = [#id, #id],
                                iterator_types = ["parallel", "parallel"]}}
      ins(%a{number} : {matrix}) outs(%e{number} : {matrix}) {{
  ^bb0(%p: {t}, %o: {t}):
    %v = arith.mulf %p, %p : {t}
    linalg.yield %v : {t}
  }} -> {matrix}
"""
    inputs = ", ".join(f"%x{number}, %x{number}" for number in range(count))
    formal = ", ".join(f"%p{number}: {t}" for number in range(2 * count))
    sums = f"    %s1 = arith.addf %p0, %p1 : {t}\n" + "".join(
        f"    %s{number} = arith.addf %s{number - 1}, %p{number} : {t}\n"
        for number in range(2, 2 * count)
    )
    arguments = ", ".join(f"%a{number}: {matrix}" for number in range(count))
    return f"""\
#id = affine_map<(i, j) -> (i, j)>
#turned = affine_map<(i, j) -> (j, i)>
func.func @main({arguments}) -> {matrix} {{
{body}  %e = tensor.empty() : {matrix}
  %r = linalg.generic {{indexing_maps = [{", ".join(["#id, #turned"] * count)}, #id],
                        iterator_types = ["parallel", "parallel"]}}
      ins({inputs} : {", ".join([matrix] * (2 * count))}) outs(%e : {matrix}) {{
  ^bb0({formal}, %o: {t}):
{sums}    linalg.yield %s{2 * count - 1} : {t}
  }} -> {matrix}
  return %r : {matrix}
}}
"""


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize(("element", "count"), [("f32", 4), ("f64", 1), ("f64", 3)])
def test_memory(chip: str, element: str, count: int) -> None:
    text = squares_and_transposed(element, 2048, count)
    for memory in pipeline.compile(text, chip=chip, until="gpu").workgroup_memory:
        assert memory.static_bytes + memory.dynamic_bytes <= CHIPS[chip]


@pytest.mark.parametrize("element", DTYPES)
@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("chip", ["sm_75", "sm_80"])
def test_results(chip: str, element: str, count: int) -> None:
    random = np.random.default_rng(0)
    arrays = [random.random((70, 70)).astype(DTYPES[element]) for _ in range(count)]
    module = pipeline.compile(squares_and_transposed(element, 70, count), chip=chip, until="llvm")
    expected = sum(array**2 + array.T**2 for array in arrays)
    np.testing.assert_allclose(module.run(*arrays, check="races"), expected, rtol=1e-5)
