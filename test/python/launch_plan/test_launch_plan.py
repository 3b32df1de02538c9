"""``Module.plan``: what host functions do beside launching kernels, as data and as it is run."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import numpy as np
import pytest

import pipeline
from launch_plan.host_programs import V8, host, launch, numbers
from pipeline.runtime.host.numbers import compute
from pipeline.runtime.host.plan import Plan


def test_buffers_copies_and_results() -> None:
    module = host(
        f"""  %n = memref.dim %a, %c0 : memref<?xi32>
  %t = memref.alloc(%n) : memref<?xi32>
  memref.copy %a, %t : memref<?xi32> to memref<?xi32>
{launch("%t", "%i3", "memref<?xi32>", "%n")}
  return %t, %n, %a : memref<?xi32>, index, memref<?xi32>
""",
        "%a: memref<?xi32>",
        "(memref<?xi32>, index, memref<?xi32>)",
    )
    for size in (5, 1, 0):
        a = numbers(size)
        result, count, same = module.run(a, check="races")
        np.testing.assert_array_equal(result, a + 3)
        assert (count, same is a) == (size, True)


def test_loops_and_branches() -> None:
    module = host(
        f"""  %p = scf.for %i = %c0 to %n step %c1 iter_args(%s = %i3) -> i32 {{
    %r = arith.remui %i, %c2 : index
    %even = arith.cmpi eq, %r, %c0 : index
    %next = scf.if %even -> i32 {{
{launch("%a", "%s")}
      %k = arith.index_cast %i : index to i32
      %d = arith.addi %s, %k : i32
      scf.yield %d : i32
    }} else {{
      %d = arith.muli %s, %i3 : i32
      scf.yield %d : i32
    }}
    scf.yield %next : i32
  }}
  %last, %count = scf.while (%x = %p, %k = %c0) : (i32, index) -> (i32, index) {{
    %goes = arith.cmpi ugt, %x, %i3 : i32
    scf.condition(%goes) %x, %k : i32, index
  }} do {{
  ^bb0(%x: i32, %k: index):
    %half = arith.divsi %x, %i3 : i32
    %more = arith.addi %k, %c1 : index
    scf.yield %half, %more : i32, index
  }}
  return %p, %count : i32, index
""",
        f"%a: {V8}, %n: index",
        "(i32, index)",
    )
    a = numbers(8)
    expected, p = a.copy(), 3
    for i in range(5):
        if i % 2 == 0:
            expected += p
            p += i
        else:
            p *= 3
    steps, x = 0, p
    while x > 3:
        x, steps = x // 3, steps + 1
    assert module.run(a, 5) == (p, steps)
    np.testing.assert_array_equal(a, expected)


def test_elements() -> None:
    """The host reads what kernels have written before, and writes what they read after."""
    module = host(
        f"""{launch("%a", "%i3")}
  %e = memref.load %a[%c2] : {V8}
  memref.store %e, %a[%c1] : {V8}
{launch("%a", "%e")}
  return
""",
        f"%a: {V8}",
    )
    a = numbers(8)
    expected = a + 3
    expected[1] = expected[2]
    expected += expected[2]
    assert module.run(a, check="races") is None
    np.testing.assert_array_equal(a, expected)


VIEWS = f"""\
  %s = memref.subview %a[%n, 1] [1, 8] [1, 2]
      : memref<4x20xi32> to memref<8xi32, strided<[2], offset: ?>>
{launch("%s", "%i3", "memref<8xi32, strided<[2], offset: ?>>")}
  %f = memref.collapse_shape %a [[0, 1]] : memref<4x20xi32> into memref<80xi32>
  %e = memref.expand_shape %f [[0, 1, 2]] output_shape [2, 5, 8]
      : memref<80xi32> into memref<2x5x8xi32>
  %r = memref.reinterpret_cast %f to offset: [72], sizes: [8], strides: [1]
      : memref<80xi32> to memref<8xi32, strided<[1], offset: 72>>
{launch("%r", "%i3", "memref<8xi32, strided<[1], offset: 72>>")}
  return %e : memref<2x5x8xi32>
"""


def test_views() -> None:
    module = host(VIEWS, "%a: memref<4x20xi32>, %n: index", "memref<2x5x8xi32>")
    a = numbers(4, 20)
    expected = a.copy()
    expected[2, 1:16:2] += 3
    expected.reshape(-1)[72:] += 3
    result = module.run(a, 2)
    np.testing.assert_array_equal(a, expected)
    np.testing.assert_array_equal(result, expected.reshape(2, 5, 8))
    message = r"^<string>:8:8: error: argument 1 \+ 1 is 5, but must be at most 4$"
    with pytest.raises(pipeline.ShapeError, match=message):
        module.run(a, 4)
    body = VIEWS.replace("%a[%n", "%a[%m")
    module = host(
        f"  %m = arith.maxsi %n, %n : index\n{body}",
        "%a: memref<4x20xi32>, %n: index",
        "memref<2x5x8xi32>",
    )
    with pytest.raises(pipeline.UsageError, match=r"^<string>:9:8: error: a slice of dimension 0"):
        module.run(a, 4)


def test_constants() -> None:
    module = host(
        """  %t = memref.get_global @table : memref<2x3xi32>
  %r = memref.alloc() : memref<2x3xi32>
  memref.copy %t, %r : memref<2x3xi32> to memref<2x3xi32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c2, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %x = memref.load %t[%bx, %c2] : memref<2x3xi32>
    memref.store %x, %r[%bx, %c0] : memref<2x3xi32>
    gpu.terminator
  }
  return %r : memref<2x3xi32>
""",
        "",
        "memref<2x3xi32>",
        more="memref.global constant @table : memref<2x3xi32> = dense<[[1, 2, 3], [4, 5, -6]]>",
    )
    np.testing.assert_array_equal(module.run(), [[3, 2, 3], [-6, 5, -6]])


def test_calls() -> None:
    module = host(
        f"""  call @add(%a, %i3) : ({V8}, i32) -> ()
  call @add(%a, %i3) : ({V8}, i32) -> ()
  return
""",
        f"%a: {V8}",
        more=f"""func.func private @add(%a: {V8}, %p: i32) {{
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
{launch("%a", "%p")}  return
}}""",
    )
    a = numbers(8)
    before = a.copy()
    module.run(a)
    np.testing.assert_array_equal(a, before + 6)


def test_division_by_zero() -> None:
    body = f"  %q = arith.divui %c8, %n : index\n{launch('%a', '%i3', grid='%q')}  return\n"
    module = host(body, f"%a: {V8}, %n: index")
    with pytest.raises(pipeline.UsageError) as caught:
        module.run(numbers(8), 0)
    assert str(caught.value) == "<string>:8:8: error: 'arith.divui' op divides by 0"
    module.run(numbers(8), 8)


def test_assertion() -> None:
    module = host(
        f"""  %p = arith.cmpi ne, %n, %c0 : index
  cf.assert %p, "n must not be 0"
{launch("%a", "%i3")}  return
""",
        f"%a: {V8}, %n: index",
    )
    a = numbers(8)
    with pytest.raises(pipeline.UsageError, match=r"^<string>:9:3: error: n must not be 0$"):
        module.run(a, 0)
    np.testing.assert_array_equal(a, numbers(8))
    module.run(a, 1)


def test_elements_that_are_not_there() -> None:
    body = f"""  %e = memref.load %a[%n] : {V8}
{launch("%a", "%e")}  return
"""
    module = host(body, f"%a: {V8}, %n: index")
    with pytest.raises(
        pipeline.UsageError, match=r"^<string>:8:8: error: there is no element \(8,"
    ):
        module.run(numbers(8), 8)


def test_lifetimes() -> None:
    """A buffer ends behind the last step that it, or a view of it, is used by."""
    module = host(
        f"""  %t = memref.alloc() : memref<8xi32>
  %u = memref.alloc() : memref<8xi32>
  %v = memref.cast %t : memref<8xi32> to memref<?xi32>
  memref.copy %a, %v : {V8} to memref<?xi32>
  memref.copy %a, %u : {V8} to {V8}
{launch("%u", "%i3")}
  return %u : {V8}
""",
        f"%a: {V8}",
        V8,
    )
    body = module.plan.functions["main"].body
    assert body is not None
    ops = [step.op for step in body.steps]
    assert ops == [
        "memref.alloc",
        "memref.alloc",
        "memref.cast",
        "memref.copy",
        "memref.dealloc",
        "memref.copy",
        "gpu.launch_func",
        "func.return",
    ]


FUNCTIONS = {
    "absf": np.fabs,
    "ceil": np.ceil,
    "erf": np.vectorize(math.erf),
    "floor": np.floor,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    **{name: getattr(np, name) for name in ("cos", "exp", "exp2", "expm1", "log", "log10")},
    **{name: getattr(np, name) for name in ("log1p", "log2", "sin", "sqrt", "tan", "tanh")},
}


@pytest.mark.parametrize("kind", ["f32", "f64", "f16"])
def test_functions_of_numbers(kind: str) -> None:
    """The host scales by what it computes from an argument."""
    dtype = np.dtype({"f16": "f2", "f32": "f4", "f64": "f8"}[kind])
    names = [*FUNCTIONS, "powf"]
    lines = [f"%r{k} = math.{name} %x : {kind}" for k, name in enumerate(FUNCTIONS)]
    lines.append(f"%r{len(FUNCTIONS)} = math.powf %x, %y : {kind}")
    numbers = ", ".join(f"%r{k}" for k in range(len(names)))
    text = f"""
func.func @main(%x: {kind}, %y: {kind}) -> tensor<{len(names)}x{kind}> {{
  {chr(10).join(lines)}
  %t = tensor.from_elements {numbers} : tensor<{len(names)}x{kind}>
  %r = linalg.negf ins(%t : tensor<{len(names)}x{kind}>) outs(%t : tensor<{len(names)}x{kind}>)
      -> tensor<{len(names)}x{kind}>
  return %r : tensor<{len(names)}x{kind}>
}}"""
    module = pipeline.compile(text, until="llvm")
    for x, y in ((0.75, 2.5), (0.1875, -1.5), (4.0, 0.5)):
        wide = [float(function(np.float64(x))) for function in FUNCTIONS.values()]
        expected = -np.array([*wide, float(np.float64(x) ** y)]).astype(dtype)
        np.testing.assert_array_equal(module.run(dtype.type(x), dtype.type(y)), expected)


def test_function_that_is_not_known() -> None:
    step = {"op": "math.sinh", "results": [], "args": [], "loc": ["host.mlir", 2, 8]}
    module = host(f"{launch('%a', '%i3')}  return\n", f"%a: {V8}")
    document = json.loads(module.plan.text)
    document["functions"][0]["body"]["steps"].insert(1, step)
    message = r"functions\[0\]\.body\.steps\[1\]\.op: is \"math\.sinh\", which no plan has$"
    with pytest.raises(pipeline.PlanError, match=message):
        Plan.parse(json.dumps(document))


def test_document() -> None:
    module = host(f"{launch('%a', '%i3')}  return\n", f"%a: {V8}")
    document: dict[str, Any] = json.loads(module.plan.text)
    assert (document["format"], document["version"]) == ("pipeline-plan", [2, 2])
    assert document["kernels"] == ["main_kernel"]
    assert Plan.parse(module.plan.text) == module.plan
    assert module.plan.functions["main"].arguments == (V8,)
    limits = module.plan.limits
    assert limits.grid == (2**31 - 1, 65535, 65535)
    assert (limits.block, limits.block_threads) == ((1024, 1024, 64), 1024)
    for change, words in (
        ({"version": [1, 0]}, "version: is 1.0, but this reads 2.2: use the version"),
        ({"version": [3, 0]}, "version: is 3.0, but this reads 2.2: use the version"),
        ({"version": [2, 3]}, "version: is 2.3, but this reads 2.2: use the version"),
        ({"version": [2, 1]}, "version: is 2.1, which lacks types and limits: compile again"),
        ({"features": ["pdl"]}, "features: are "),
        ({"format": "other"}, "it is no document of format pipeline-plan"),
    ):
        with pytest.raises(pipeline.PlanError, match=f"^error: launch plan: {re.escape(words)}"):
            Plan.parse(json.dumps(document | change))
    with pytest.raises(pipeline.PlanError, match="it is no document of format"):
        Plan.parse("[]")


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("%q = math.absi %i3 : i32", "math.absi"),
        (f"%q = memref.atomic_rmw addi %i3, %a[%c0] : (i32, {V8}) -> i32", "memref.atomic_rmw"),
    ],
)
def test_refusals(line: str, name: str) -> None:
    store = f"  memref.store %q, %a[%c0] : {V8}\n"
    module = host(f"  {line}\n{store}{launch('%a', '%i3')}  return\n", f"%a: {V8}")
    assert module.plan.functions["main"].refusal.startswith(f"'{name}' op is work of the host")
    with pytest.raises(pipeline.UsageError, match=r"^<string>:8:8: error: function 'main' cannot"):
        module.run(numbers(8))


@pytest.mark.parametrize(
    ("op", "kind", "source", "args", "expected"),
    [
        ("sitofp", "bf16", "i64", (16842753,), 16908288.0),
        ("uitofp", "bf16", "i64", (-1,), 2.0**64),
        ("sitofp", "f32", "i64", (-((1 << 54) + (1 << 30) + 1),), -float((1 << 54) + (1 << 31))),
        ("sitofp", "f64", "i64", ((1 << 53) + 1,), float(1 << 53)),
        ("truncf", "bf16", "f64", (np.float64(1.0039062500001),), 1.0078125),
        ("truncf", "f16", "f64", (np.float64(-1e9),), -np.inf),
        ("maximumf", "f32", "f32", (np.float32(-0.0), np.float32(0.0)), 0.0),
        ("minimumf", "f32", "f32", (np.float32(0.0), np.float32(-0.0)), -0.0),
        ("maxsi", "i1", "i1", (1, 0), 0),
    ],
)
def test_numbers_are_rounded_once(
    op: str, kind: str, source: str, args: tuple[Any, ...], expected: float
) -> None:
    result = float(compute(op, kind, source, "", args))
    assert (result, np.signbit(result)) == (expected, np.signbit(expected))


def test_truth_values_have_a_sign() -> None:
    """True is -1 to a comparison of numbers with a sign."""
    assert compute("cmpi", "i1", "i1", "slt", (1, 0)) == 1
    assert compute("cmpi", "i1", "i1", "ult", (1, 0)) == 0


def test_recursion() -> None:
    module = host(f"{launch('%a', '%i3')}  call @main(%a) : ({V8}) -> ()\n  return\n", f"%a: {V8}")
    with pytest.raises(pipeline.UsageError, match=r"^<string>:2:1: error: .*'main' calls itself"):
        module.run(numbers(8))


def test_layout_without_strides() -> None:
    kind = "memref<4x6xi32, affine_map<(i, j) -> (i + j, j)>>"
    body = f"  %e = memref.load %m[%c0, %c0] : {kind}\n{launch('%a', '%e')}  return\n"
    with pytest.raises(pipeline.Error, match=r"strides|layout"):
        host(body, f"%a: {V8}, %m: {kind}").run(numbers(8), numbers(4, 6))
