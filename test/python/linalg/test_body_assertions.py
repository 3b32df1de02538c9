"""cf.assert in bodies of structured operations, as front ends write it for each index they get."""

from __future__ import annotations

import re
from typing import Literal

import numpy as np
import pytest

import pipeline

INVERSE = """
#i = affine_map<(i) -> (i)>
func.func @main(%x: TYPE) -> TYPE {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : TYPE
  %e = tensor.empty(SIZE) : TYPE
  %r = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]}
      ins(%x : TYPE) outs(%e : TYPE) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.cmpf one, %a, %zero : f32
    cf.assert %0, "division by zero"
    %1 = arith.divf %one, %a : f32
    linalg.yield %1 : f32
  } -> TYPE
  return %r : TYPE
}
"""


def inverse(is_dynamic: bool) -> str:
    text = INVERSE.replace("SIZE", "%n" if is_dynamic else "")
    return text.replace("TYPE", "tensor<?xf32>" if is_dynamic else "tensor<70xf32>")


@pytest.mark.parametrize("check", ["none", "races", "all"])
@pytest.mark.parametrize("is_dynamic", [False, True])
def test_kept(is_dynamic: bool, check: Literal["none", "races", "all"]) -> None:
    module = pipeline.compile(inverse(is_dynamic))
    assert not [item for item in module.diagnostics if item.severity == "warning"]
    x = np.arange(1, 71, dtype=np.float32)
    result = module.run(x, check=check, workers=1)
    np.testing.assert_allclose(result, 1 / x, rtol=1e-6)
    x[37] = 0
    with pytest.raises(pipeline.KernelFaultError, match="division by zero") as caught:
        module.run(x, check=check, workers=1)
    assert caught.value.findings[0].kind == "assertion"


def test_kept_on_buffers() -> None:
    text = """
func.func @main(%x: memref<40xf32>, %i: memref<9xi64>, %y: memref<9xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%i : memref<9xi64>) outs(%y : memref<9xf32>) {
  ^bb0(%at: i64, %o: f32):
    %n = arith.constant 40 : i64
    %low = arith.cmpi ult, %at, %n : i64
    cf.assert %low, "index out of range"
    %0 = arith.index_cast %at : i64 to index
    %1 = memref.load %x[%0] : memref<40xf32>
    linalg.yield %1 : f32
  }
  return
}
"""
    module = pipeline.compile(text)
    x = np.arange(40, dtype=np.float32)
    at = np.array([3, 1, 39, 0, 5, 17, 2, 2, 38])
    y = np.zeros(9, np.float32)
    module.run(x, at, y, check="races", workers=1)
    np.testing.assert_array_equal(y, x[at])
    at[4] = -1
    with pytest.raises(pipeline.KernelFaultError, match="index out of range"):
        module.run(x, at, y, check="races", workers=1)


def test_dropped() -> None:
    """A schedule may ask for it; each assertion that is dropped is told of."""
    schedule = pipeline.choose_schedule(inverse(is_dynamic=False))
    dropping = re.sub(
        r'("workgroup-linalg-to-kernels" with options = \{)',
        r'\1"drop-assertions" = true, ',
        schedule,
    )
    assert dropping != schedule
    module = pipeline.compile(inverse(is_dynamic=False), schedule=dropping)
    warnings = [item for item in module.diagnostics if item.severity == "warning"]
    assert [item.message for item in warnings] == [
        "'cf.assert' op is dropped, and not checked by the kernel; leave out 'drop-assertions' to "
        "keep it"
    ]
    assert warnings[0].location is not None
    assert warnings[0].location.line == 13
    x = np.zeros(70, np.float32)
    assert np.isinf(module.run(x, check="all", workers=1)).all()


SOFTMAX = """
!t = tensor<40x24xf32>
!y = tensor<?x24xf32>
!r = tensor<?xf32>
#a = affine_map<(a, j) -> (a)>
#ab = affine_map<(a, j) -> (a, j)>
func.func @main(%t: !t, %i: tensor<?xi64>) -> (RESULTS) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %i, %c0 : tensor<?xi64>
  %e = tensor.empty(%m) : !y
  %er = tensor.empty(%m) : !r
  %z = linalg.fill ins(%zero : f32) outs(%er : !r) -> !r
  %g = linalg.generic {indexing_maps = [#a, #ab], iterator_types = ["parallel", "parallel"]}
      ins(%i : tensor<?xi64>) outs(%e : !y) {
  ^bb0(%at: i64, %o: f32):
    %n = arith.constant 40 : i64
    %j = linalg.index 1 : index
    %low = arith.cmpi ult, %at, %n : i64
    cf.assert %low, "index out of range"
    %0 = arith.index_cast %at : i64 to index
    %1 = tensor.extract %t[%0, %j] : !t
    linalg.yield %1 : f32
  } -> !y
  %x = linalg.exp ins(%g : !y) outs(%e : !y) -> !y
  %s = linalg.reduce {arith.addf} ins(%x : !y) outs(%z : !r) dimensions = [1]
  %d = linalg.generic {indexing_maps = [#ab, #a, #ab], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : !y, !r) outs(%e : !y) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.divf %a, %b : f32
    linalg.yield %0 : f32
  } -> !y
  return VALUES : RESULTS
}
"""


@pytest.mark.parametrize("names", ["g", "x", "s", "d", "gx", "sd", "gxsd"])
def test_fused(names: str) -> None:
    """What is looked up goes into its users, with the assertion, and nothing is computed twice."""
    types = ", ".join("!r" if name == "s" else "!y" for name in names)
    values = ", ".join(f"%{name}" for name in names)
    text = SOFTMAX.replace("RESULTS", types).replace("VALUES", values)
    module = pipeline.compile(text)
    assert len(module.kernels) == 1
    t = np.random.default_rng(0).uniform(0.1, 2, (40, 24)).astype(np.float32)
    at = np.array([3, 1, 39, 0, 7, 7, 2])
    x = np.exp(t[at])
    expected = {"g": t[at], "x": x, "s": x.sum(1), "d": x / x.sum(1)[:, None]}
    found = module.run(t, at, check="races", workers=1)
    for name, result in zip(names, found if len(names) > 1 else (found,), strict=True):
        np.testing.assert_allclose(result, expected[name], rtol=2e-5)
    at[4] = 40
    with pytest.raises(pipeline.KernelFaultError, match="index out of range"):
        module.run(t, at, check="races", workers=1)
