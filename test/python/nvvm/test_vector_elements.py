"""Elements of vectors of any rank: of matrix instructions, of functions with two results."""

from __future__ import annotations

import numpy as np
import pytest

import pipeline
from corpus.emulating import check_results, emulate
from corpus.kernels_case import Array, Case, function, module, normal, whole
from pipeline.system.assembler import assemble

SHAPES = {"4": (4,), "2x2": (2, 2), "1x3": (1, 3)}


def sincos(shape: str, kind: str) -> Case:
    """Return a kernel that stores sines and cosines of vectors."""
    sizes = SHAPES[shape]
    vector, memory = f"vector<{shape}x{kind}>", f"memref<32x{shape}x{kind}>"
    at = ", ".join(["%tx", *["%c0"] * len(sizes)])
    bounds = ", ".join(["true"] * len(sizes))
    text = function(
        "both",
        f"%a: {memory}, %s: {memory}, %c: {memory}",
        f"""
    %zero = arith.constant 0.0 : {kind}
    %x = vector.transfer_read %a[{at}], %zero {{in_bounds = [{bounds}]}} : {memory}, {vector}
    %sines, %cosines = math.sincos %x : {vector}
    vector.transfer_write %sines, %s[{at}] {{in_bounds = [{bounds}]}} : {vector}, {memory}
    vector.transfer_write %cosines, %c[{at}] {{in_bounds = [{bounds}]}} : {vector}, {memory}
""",
    )
    dtype = {"f16": np.float16, "f32": np.float32, "f64": np.float64}[kind]

    def make(rng: np.random.Generator) -> list[Array]:
        return [normal(rng, (32, *sizes)).astype(dtype)] + [
            np.ones((32, *sizes), dtype) for _ in range(2)
        ]

    return Case(
        f"sincos {shape} {kind}",
        module(text),
        "both",
        (1, 1, 1),
        (32, 1, 1),
        make,
        lambda given: {1: np.sin(given[0]), 2: np.cos(given[0])},
        tolerance=1e-3 if kind == "f16" else 1e-6,
    )


@pytest.mark.parametrize("kind", ["f16", "f32", "f64"])
@pytest.mark.parametrize("shape", SHAPES)
def test_sines_with_cosines(shape: str, kind: str) -> None:
    case = sincos(shape, kind)
    outcome = emulate(case, check="all")
    assert not outcome.report.findings
    check_results(case, outcome.arguments)


PRODUCT = Case(
    "elements of a product",
    module(
        function(
            "product",
            "%a: memref<16x32xi8>, %b: memref<8x32xi8>, %c: memref<16x8xi32>",
            """
    %g = arith.divui %tx, %c4 : index
    %l = arith.remui %tx, %c4 : index
    %g8 = arith.addi %g, %c8 : index
    %k0 = arith.muli %l, %c4 : index
    %k1 = arith.addi %k0, %c16 : index
    %a0 = vector.load %a[%g, %k0] : memref<16x32xi8>, vector<4xi8>
    %a1 = vector.load %a[%g8, %k0] : memref<16x32xi8>, vector<4xi8>
    %a2 = vector.load %a[%g, %k1] : memref<16x32xi8>, vector<4xi8>
    %a3 = vector.load %a[%g8, %k1] : memref<16x32xi8>, vector<4xi8>
    %none = arith.constant dense<0> : vector<4x4xi8>
    %p0 = vector.insert %a0, %none [0] : vector<4xi8> into vector<4x4xi8>
    %p1 = vector.insert %a1, %p0 [1] : vector<4xi8> into vector<4x4xi8>
    %p2 = vector.insert %a2, %p1 [2] : vector<4xi8> into vector<4x4xi8>
    %lhs = vector.insert %a3, %p2 [3] : vector<4xi8> into vector<4x4xi8>
    %b0 = vector.load %b[%g, %k0] : memref<8x32xi8>, vector<4xi8>
    %b1 = vector.load %b[%g, %k1] : memref<8x32xi8>, vector<4xi8>
    %half = arith.constant dense<0> : vector<2x4xi8>
    %q0 = vector.insert %b0, %half [0] : vector<4xi8> into vector<2x4xi8>
    %rhs = vector.insert %b1, %q0 [1] : vector<4xi8> into vector<2x4xi8>
    %j0 = arith.muli %l, %c2 : index
    %j1 = arith.addi %j0, %c1 : index
    %old00 = memref.load %c[%g, %j0] : memref<16x8xi32>
    %old01 = memref.load %c[%g, %j1] : memref<16x8xi32>
    %old10 = memref.load %c[%g8, %j0] : memref<16x8xi32>
    %old11 = memref.load %c[%g8, %j1] : memref<16x8xi32>
    %old = vector.from_elements %old00, %old01, %old10, %old11 : vector<2x2xi32>
    %sum = nvgpu.mma.sync (%lhs, %rhs, %old) {mmaShape = [16, 8, 32]}
        : (vector<4x4xi8>, vector<2x4xi8>, vector<2x2xi32>) -> vector<2x2xi32>
    %new:4 = vector.to_elements %sum : vector<2x2xi32>
    memref.store %new#0, %c[%g, %j0] : memref<16x8xi32>
    memref.store %new#1, %c[%g, %j1] : memref<16x8xi32>
    memref.store %new#2, %c[%g8, %j0] : memref<16x8xi32>
    memref.store %new#3, %c[%g8, %j1] : memref<16x8xi32>
""",
        )
    ),
    "product",
    (1, 1, 1),
    (32, 1, 1),
    lambda rng: [whole(rng, (16, 32), "i1"), whole(rng, (8, 32), "i1"), whole(rng, (16, 8))],
    lambda given: {2: given[2] + given[0].astype("i4") @ given[1].astype("i4").T},
)


def test_elements_of_a_product() -> None:
    """Sums of integers are in registers of another kind than those of floats."""
    outcome = emulate(PRODUCT, check="all")
    assert not outcome.report.findings
    check_results(PRODUCT, outcome.arguments)


@pytest.mark.parametrize("chip", ["sm_80", "sm_90a"])
@pytest.mark.parametrize("case", [sincos("2x2", "f32"), PRODUCT], ids=lambda case: case.kernel)
def test_elements_are_assembled(case: Case, chip: str) -> None:
    ptx = pipeline.compile(case.text, chip=chip).ptx
    assemble(ptx, chip)
