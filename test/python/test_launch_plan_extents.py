"""Arguments whose extents do not suit each other, which structured operations take for granted."""

from __future__ import annotations

import numpy as np
import pytest
from kernels_case import Array

import pipeline

MATMUL = """\
!t = tensor<?x?xf32>
func.func @main(%a: !t, %b: !t, %c: !t) -> !t {
  %r = linalg.matmul ins(%a, %b : !t, !t) outs(%c : !t) -> !t
  return %r : !t
}
"""

CHAIN = """\
!t = tensor<?xf32>
func.func @main(%a: !t, %b: tensor<7xf32>, %c: !t, %d: !t) -> (!t, !t) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : !t
  %e = tensor.empty(%n) : !t
  %s = linalg.exp ins(%a : !t) outs(%e : !t) -> !t
  %w = tensor.cast %b : tensor<7xf32> to !t
  %r = linalg.mul ins(%s, %w : !t, !t) outs(%e : !t) -> !t
  %m = tensor.dim %c, %c0 : !t
  %f = tensor.empty(%m) : !t
  %x = linalg.add ins(%c, %d : !t, !t) outs(%f : !t) -> !t
  return %r, %x : !t, !t
}
"""

BRANCH = """\
!t = memref<?xf32>
func.func @main(%a: !t, %b: !t, %p: i1) {
  linalg.exp ins(%a : !t) outs(%a : !t)
  scf.if %p {
    linalg.add ins(%a, %b : !t, !t) outs(%b : !t)
  }
  return
}
"""


def random(*shape: int) -> Array:
    return np.random.default_rng(3).uniform(0.5, 1.5, shape).astype(np.float32)


@pytest.fixture(scope="module")
def matmul() -> pipeline.Module:
    return pipeline.compile(MATMUL, until="llvm")


@pytest.mark.parametrize("extents", [(4, 5, 3), (1, 1, 1), (0, 5, 3), (4, 0, 3)])
def test_extents_that_agree(matmul: pipeline.Module, extents: tuple[int, int, int]) -> None:
    m, k, n = extents
    a, b, c = random(m, k), random(k, n), random(m, n)
    result = matmul.run(a, b, c)
    np.testing.assert_allclose(result, c + a @ b, rtol=1e-5)


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        (
            ((4, 5), (7, 3), (4, 3)),
            "dimension 0 of argument 1 is 7, but must be 5, as dimension 1 of argument 0",
        ),
        (
            ((4, 5), (3, 3), (4, 3)),
            "dimension 0 of argument 1 is 3, but must be 5, as dimension 1 of argument 0",
        ),
        (
            ((4, 5), (5, 3), (9, 3)),
            "dimension 0 of argument 2 is 9, but must be 4, as dimension 0 of argument 0",
        ),
        (
            ((4, 5), (5, 3), (4, 0)),
            "dimension 1 of argument 2 is 0, but must be 3, as dimension 1 of argument 1",
        ),
    ],
)
def test_extents_that_do_not_agree(
    matmul: pipeline.Module, shapes: tuple[tuple[int, int], ...], message: str
) -> None:
    arguments = [random(*shape) for shape in shapes]
    with pytest.raises(pipeline.ShapeError) as caught:
        matmul.run(*arguments)
    assert str(caught.value) == f"<string>:3:8: error: {message}"
    assert caught.value.index == int(message.split("argument ")[1][0])


def test_extents_behind_operations() -> None:
    """Extents are followed through results, sizes of what is made, and casts."""
    module = pipeline.compile(CHAIN, until="llvm")
    extents = [requirement.extent for requirement in module.plan.functions["main"].require]
    assert extents == [(0, 0), (3, 0)]
    a, b, c, d = random(7), random(7), random(4), random(4)
    product, total = module.run(a, b, c, d)
    np.testing.assert_allclose(product, np.exp(a) * b, rtol=1e-5)
    np.testing.assert_array_equal(total, c + d)
    with pytest.raises(
        pipeline.ShapeError,
        match=r"^<string>:8:8: error: dimension 0 of argument 0 is 8, but must be 7$",
    ):
        module.run(random(8), b, c, d)
    with pytest.raises(pipeline.ShapeError, match=r"^<string>:11:8: .* argument 3 is 5, but must"):
        module.run(a, b, c, random(5))


def test_extents_in_branches() -> None:
    """What may not be executed requires nothing."""
    module = pipeline.compile(BRANCH, until="llvm")
    assert module.plan.functions["main"].require == ()
    a, b = random(5), random(3)
    expected = np.exp(a)
    module.run(a, b, False)
    np.testing.assert_allclose(a, expected, rtol=1e-5)
