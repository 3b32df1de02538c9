"""Arguments whose extents do not suit each other, which structured operations take for granted."""

from __future__ import annotations

import numpy as np
import pytest

import pipeline
from corpus.kernels_case import Array

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
    args = [requirement.args for requirement in module.plan.functions["main"].require]
    assert args == [((0, 0),), ((3, 0), (2, 0))]
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


V = "tensor<?xf32>"

ADD = f"linalg.add ins(%x, %y : {V}, {V}) outs(%x : {V}) -> {V}"

# Functions, what they are called with, and what is told of the last of these.
PROGRAMS = {
    "call": (
        f"""func.func private @twice(%x: {V}, %y: {V}) -> {V} {{
  %r = {ADD}
  return %r : {V}
}}
func.func @main(%a: {V}, %b: {V}, %c: {V}) -> {V} {{
  %r = func.call @twice(%a, %b) : ({V}, {V}) -> {V}
  %s = func.call @twice(%r, %c) : ({V}, {V}) -> {V}
  return %s : {V}
}}""",
        (((3,), (3,), (3,)), ((3,), (3,), (5,))),
        "2:8: error: dimension 0 of argument 2 is 5, but must be 3, as dimension 0 of argument 0",
    ),
    "number": (
        f"""func.func @main(%x: {V}, %n: index) -> {V} {{
  %e = tensor.empty(%n) : {V}
  %r = linalg.exp ins(%x : {V}) outs(%e : {V}) -> {V}
  return %r : {V}
}}""",
        (((3,), 3), ((500,), 3)),
        "3:8: error: argument 1 is 3, but must be 500, as dimension 0 of argument 0",
    ),
    "window": (
        f"""func.func @main(%x: {V}, %w: {V}, %o: {V}) -> {V} {{
  %r = linalg.conv_1d ins(%x, %w : {V}, {V}) outs(%o : {V}) -> {V}
  return %r : {V}
}}""",
        (((9,), (3,), (7,)), ((9,), (3,), (5,)), ((2,), (3,), (0,)), ((9,), (3,), (8,))),
        "2:8: error: dimension 0 of argument 0 is 9, but must be at least 10, "
        "as dimension 0 of argument 1 + dimension 0 of argument 2 - 1",
    ),
    "slice": (
        f"""func.func @main(%x: {V}, %i: i32, %n: index) -> {V} {{
  %at = arith.index_cast %i : i32 to index
  %s = tensor.extract_slice %x[%at] [%n] [2] : {V} to {V}
  %e = tensor.empty(%n) : {V}
  %r = linalg.exp ins(%s : {V}) outs(%e : {V}) -> {V}
  return %r : {V}
}}""",
        (((9,), 1, 4), ((9,), 12, 0), ((9,), 1, 5)),
        "3:8: error: argument 1 + argument 2 * 2 - 1 is 10, but must be at most 9, "
        "as dimension 0 of argument 0",
    ),
    "slice_before": (
        f"""func.func @main(%x: {V}, %i: index) -> tensor<2xf32> {{
  %s = tensor.extract_slice %x[%i] [2] [1] : {V} to tensor<2xf32>
  %e = tensor.empty() : tensor<2xf32>
  %r = linalg.exp ins(%s : tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}}""",
        (((9,), 0), ((9,), -1)),
        "2:8: error: argument 1 is -1, but must be at least 0",
    ),
    "insertion": (
        f"""func.func @main(%x: {V}, %y: {V}, %n: index) -> {V} {{
  %r = tensor.insert_slice %x into %y[1] [%n] [1] : {V} into {V}
  %s = linalg.exp ins(%r : {V}) outs(%r : {V}) -> {V}
  return %s : {V}
}}""",
        (((3,), (4,), 3), ((2,), (4,), 3)),
        "2:8: error: dimension 0 of argument 0 is 2, but must be 3, as argument 2",
    ),
    "collapse": (
        f"""func.func @main(%a: tensor<?x?xf32>, %y: {V}) -> {V} {{
  %x = tensor.collapse_shape %a [[0, 1]] : tensor<?x?xf32> into {V}
  %r = {ADD}
  return %r : {V}
}}""",
        (((3, 4), (12,)), ((3, 4), (5,))),
        "3:8: error: dimension 0 of argument 1 is 5, but must be 12, "
        "as dimension 0 of argument 0 * dimension 1 of argument 0",
    ),
    "concat": (
        f"""func.func @main(%a: {V}, %b: {V}, %y: {V}) -> {V} {{
  %x = tensor.concat dim(0) %a, %b : ({V}, {V}) -> {V}
  %r = {ADD}
  return %r : {V}
}}""",
        (((3,), (7,), (10,)), ((3,), (7,), (9,))),
        "3:8: error: dimension 0 of argument 2 is 9, but must be 10, "
        "as dimension 0 of argument 0 + dimension 0 of argument 1",
    ),
    "concat_sides": (
        """!t = tensor<?x?xf32>
func.func @main(%a: !t, %b: !t) -> !t {
  %x = tensor.concat dim(0) %a, %b : (!t, !t) -> !t
  %r = linalg.exp ins(%x : !t) outs(%x : !t) -> !t
  return %r : !t
}""",
        (((3, 2), (7, 2)), ((3, 2), (7, 1))),
        "3:8: error: dimension 1 of argument 1 is 1, but must be 2, as dimension 1 of argument 0",
    ),
    "padding": (
        f"""func.func @main(%a: {V}, %n: index) -> tensor<8xf32> {{
  %z = arith.constant 0.0 : f32
  %p = tensor.pad %a low[1] high[%n] {{
  ^bb0(%i: index):
    tensor.yield %z : f32
  }} : {V} to {V}
  %x = tensor.cast %p : {V} to tensor<8xf32>
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}}""",
        (((3,), 4), ((3,), 5)),
        "7:8: error: dimension 0 of argument 0 + argument 1 + 1 is 9, but must be 8",
    ),
    "loop": (
        f"""func.func @main(%a: {V}, %y: {V}) -> {V} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%x = %a) -> ({V}) {{
    %s = {ADD}
    scf.yield %s : {V}
  }}
  return %r : {V}
}}""",
        (((3,), (3,)), ((3,), (4,))),
        "6:10: error: dimension 0 of argument 1 is 4, but must be 3, as dimension 0 of argument 0",
    ),
    "elementwise": (
        f"""func.func @main(%a: {V}, %b: {V}) -> {V} {{
  %r = arith.addf %a, %b : {V}
  return %r : {V}
}}""",
        (((3,), (3,)), ((3,), (4,))),
        "2:8: error: dimension 0 of argument 1 is 4, but must be 3, as dimension 0 of argument 0",
    ),
    "copy": (
        """func.func @main(%a: memref<?xf32>, %b: memref<?xf32>) {
  memref.copy %a, %b : memref<?xf32> to memref<?xf32>
  linalg.exp ins(%b : memref<?xf32>) outs(%b : memref<?xf32>)
  return
}""",
        (((3,), (3,)), ((3,), (4,))),
        "2:3: error: dimension 0 of argument 1 is 4, but must be 3, as dimension 0 of argument 0",
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_required(name: str) -> None:
    """All calls but the last one are right."""
    text, calls, message = PROGRAMS[name]
    module = pipeline.compile(text, until="llvm")
    arguments = [
        [value if isinstance(value, int) else random(*value) for value in call] for call in calls
    ]
    for call in arguments[:-1]:
        module.run(*call)
    with pytest.raises(pipeline.ShapeError) as caught:
        module.run(*arguments[-1])
    assert str(caught.value) == f"<string>:{message}"


def test_what_requires_nothing() -> None:
    """A loop that may have no iteration, and one that has none; sizes that are as they must be."""
    text = f"""
func.func @main(%a: {V}, %y: {V}, %n: index) -> ({V}, {V}, {V}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> ({V}) {{
    %s = {ADD}
    scf.yield %s : {V}
  }}
  %q = scf.for %i = %c1 to %c0 step %c1 iter_args(%x = %a) -> ({V}) {{
    %s = {ADD}
    scf.yield %s : {V}
  }}
  %w = tensor.empty() : tensor<3xf32>
  %m = tensor.dim %a, %c0 : {V}
  %c2 = arith.constant 2 : index
  %k = arith.subi %m, %c2 : index
  %e = tensor.empty(%k) : {V}
  %o = linalg.conv_1d ins(%a, %w : {V}, tensor<3xf32>) outs(%e : {V}) -> {V}
  return %r, %q, %o : {V}, {V}, {V}
}}"""
    module = pipeline.compile(text, until="llvm")
    assert module.plan.functions["main"].require == ()


@pytest.mark.parametrize("divisor", ["%m", "%c0"])
@pytest.mark.parametrize("name", ["floordiv", "ceildiv", "mod"])
def test_divisors_that_may_be_zero(name: str, divisor: str) -> None:
    """What divides by an argument is not followed; the host tells of a division by 0."""
    text = f"""
func.func @main(%x: {V}, %n: index, %m: index) -> {V} {{
  %c0 = arith.constant 0 : index
  %k = affine.apply affine_map<(d0)[s0] -> (d0 {name} s0)>(%n)[{divisor}]
  %e = tensor.empty(%k) : {V}
  %r = linalg.exp ins(%x : {V}) outs(%e : {V}) -> {V}
  return %r : {V}
}}"""
    module = pipeline.compile(text, until="llvm")
    assert module.plan.functions["main"].require == ()
    with pytest.raises(pipeline.UsageError, match=r"op divides by 0$"):
        module.run(random(3), 6, 0)
