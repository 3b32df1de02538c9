"""Programs that upstream's verifiers, folders and patterns would abort on, or read past an end."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pipeline

QUERY = """\
func.func @main(%a: {kind}<{shape}xf32>) -> index {{
  %d = arith.constant {dim} : index
  %m = {kind}.dim %a, %d : {kind}<{shape}xf32>
  return %m : index
}}
"""

IN_LAUNCH = """\
func.func @main(%a: memref<{shape}xf32>, %o: memref<1xindex>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%i, %j, %k) in (%l = %c1, %m = %c1, %n = %c1)
      threads(%p, %q, %r) in (%s = %c1, %t = %c1, %u = %c1) {{
    %d = arith.constant {dim} : index
    %e = memref.dim %a, %d : memref<{shape}xf32>
    memref.store %e, %o[%c0] : memref<1xindex>
    gpu.terminator
  }}
  return
}}
"""

CHOSEN = """\
func.func @main(%a: memref<?x5x?xf32>, %d: index, %o: memref<1xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%i, %j, %k) in (%l = %c1, %m = %c1, %n = %c1)
      threads(%p, %q, %r) in (%s = %c1, %t = %c1, %u = %c1) {
    %e = memref.dim %a, %d : memref<?x5x?xf32>
    %f = arith.index_cast %e : index to i64
    memref.store %f, %o[%c0] : memref<1xi64>
    gpu.terminator
  }
  return
}
"""

# `subi` makes a constant below zero of what is none yet.
FOLDED = """\
func.func @main(%a: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %d = arith.subi %c0, %c1 : index
  %n = tensor.dim %a, %d : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.exp ins(%a : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}
"""

MAPPED = """\
func.func @main(%a: tensor<{extent}xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {{
  %r = linalg.generic {{indexing_maps = [affine_map<(i) -> ({index})>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"]}}
      ins(%a : tensor<{extent}xf32>) outs(%b : tensor<4xf32>) {{
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  }} -> tensor<4xf32>
  return %r : tensor<4xf32>
}}
"""

SOFTMAX = """\
func.func @main(%a: tensor<4x8x{kind}>) -> tensor<4x8x{kind}> {{
  %r = linalg.softmax dimension(1) ins(%a : tensor<4x8x{kind}>) outs(%a : tensor<4x8x{kind}>)
      -> tensor<4x8x{kind}>
  return %r : tensor<4x8x{kind}>
}}
"""

SCALABLE = {
    "load": (
        5,
        """\
gpu.module @m {
  gpu.func @k(%a: memref<64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %f = arith.constant 0.0 : f32
    %v = vector.transfer_read %a[%c0], %f : memref<64xf32>, vector<[4]xf32>
    vector.transfer_write %v, %a[%c0] : vector<[4]xf32>, memref<64xf32>
    gpu.return
  }
}
""",
    ),
    "argument": (
        2,
        """\
gpu.module @m {
  gpu.func @k(%a: vector<[4]xf32>) kernel {
    gpu.return
  }
}
""",
    ),
    "variable": (
        2,
        """\
gpu.module @m {
  memref.global "private" @g : memref<7xvector<[4]xf32>, 3> = uninitialized
  gpu.func @k() kernel {
    gpu.return
  }
}
""",
    ),
}

STEPLESS = """\
func.func @main(%a: memref<8x{extent}xf32>, %f: f32) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%i, %j, %k) in (%l = %c1, %m = %c1, %n = %c1)
      threads(%p, %q, %r) in (%s = %c1, %t = %c1, %u = %c1) {{
    %v = memref.subview %a[{at}, 1] [8, 4] [0, 1]
        : memref<8x{extent}xf32> to memref<8x4xf32, strided<[0, 1], offset: {offset}>>
    memref.store %f, %v[%c1, %c0] : memref<8x4xf32, strided<[0, 1], offset: {offset}>>
    gpu.terminator
  }}
  return
}}
"""


def refuse(text: str, line: int, message: str, **options: Any) -> None:
    with pytest.raises(pipeline.CompileError) as caught:
        pipeline.compile(text, until="llvm", **options)
    error = next(item for item in caught.value.diagnostics if item.severity == "error")
    assert error.location is not None
    assert error.location.line == line
    assert message in error.message


@pytest.mark.parametrize("dim", [-(2**63), -1, 1, 2, 7, 2**63 - 1])
@pytest.mark.parametrize("shape", ["?", "4"])
@pytest.mark.parametrize("kind", ["tensor", "memref"])
def test_dimension_that_is_not_there(kind: str, shape: str, dim: int) -> None:
    text = QUERY.format(kind=kind, shape=shape, dim=dim)
    refuse(text, 3, f"'{kind}.dim' op asks for the extent of a dimension that")


@pytest.mark.parametrize("schedule", [None, "none"])
@pytest.mark.parametrize("dim", [-1, 2])
def test_dimension_that_is_not_there_in_launch(dim: int, schedule: str | None) -> None:
    text = IN_LAUNCH.format(shape="?x?", dim=dim)
    refuse(text, 7, "asks for the extent of a dimension that", schedule=schedule)


@pytest.mark.parametrize("dim", [0, 1, 2])
def test_dimension_by_value(dim: int) -> None:
    module = pipeline.compile(CHOSEN, until="llvm")
    a, o = np.zeros((2, 5, 3), np.float32), np.zeros(1, np.int64)
    module.run(a, dim, o, check="races", workers=1)
    assert o[0] == a.shape[dim]


def test_dimension_by_folding() -> None:
    module = pipeline.compile(FOLDED, until="llvm")
    a = np.linspace(-1, 1, 7, dtype=np.float32)
    np.testing.assert_allclose(module.run(a, workers=1), np.exp(a), rtol=1e-5)


@pytest.mark.parametrize("operation", ["floordiv", "ceildiv", "mod"])
@pytest.mark.parametrize("divisor", ["0", "(-2)"])
@pytest.mark.parametrize("extent", ["4", "?"])
def test_map_divides(extent: str, divisor: str, operation: str) -> None:
    text = MAPPED.format(extent=extent, index=f"i {operation} {divisor}")
    refuse(text, 2, "'linalg.generic' op has an indexing map that divides by zero")


@pytest.mark.parametrize(
    "index",
    [
        f"i * {2**63 - 1}",
        f"i * {-(2**62)}",
        f"i * {2**40} + (i floordiv 2) * {2**62}",
        f"(i * {2**62}) mod 3",
    ],
)
def test_map_overflows(index: str) -> None:
    text = MAPPED.format(extent="4", index=index)
    refuse(text, 2, "'linalg.generic' op has an indexing map whose values need more than 63 bits")


@pytest.mark.parametrize("kind", ["i1", "i8", "i32", "i64", "index"])
def test_softmax_of_integers(kind: str) -> None:
    refuse(SOFTMAX.format(kind=kind), 2, "which have no exponential; convert them to f32")


@pytest.mark.parametrize("name", SCALABLE)
def test_scalable_vectors(name: str) -> None:
    line, text = SCALABLE[name]
    refuse(text, line, "the vectors of GPUs do not scale")


@pytest.mark.parametrize(("extent", "at"), [("8", "2"), ("?", "2"), ("8", "%c1"), ("?", "%c1")])
def test_view_without_steps(extent: str, at: str) -> None:
    offset = "?" if "?" in extent or "%" in at else "17"
    module = pipeline.compile(STEPLESS.format(extent=extent, at=at, offset=offset), until="llvm")
    a = np.zeros((8, 8), np.float32)
    module.run(a, 3.0, check="races", workers=1)
    expected = np.zeros((8, 8), np.float32)
    expected[2 if at == "2" else 1, 1] = 3
    np.testing.assert_array_equal(a, expected)


# A view whose dropped dimensions no machine word can name, from the launch plan.
RANK = 62
VIEWED = """\
func.func @main(%a: memref<{whole}xf32>, %f: f32) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = memref.subview %a[1{zeros}] [1{ones}, 8] [1{ones}, 1]
      : memref<{whole}xf32> to memref<8xf32, strided<[1], offset: 8>>
  gpu.launch blocks(%i, %j, %k) in (%l = %c1, %m = %c1, %n = %c1)
      threads(%p, %q, %r) in (%s = %c1, %t = %c1, %u = %c1) {{
    memref.store %f, %v[%c1] : memref<8xf32, strided<[1], offset: 8>>
    gpu.terminator
  }}
  return
}}
"""


def test_view_of_many_dimensions() -> None:
    shape = (2, *[1] * (RANK - 2), 8)
    text = VIEWED.format(
        whole="x".join(map(str, shape)), zeros=", 0" * (RANK - 1), ones=", 1" * (RANK - 2)
    )
    module = pipeline.compile(text, until="llvm")
    a = np.zeros(shape, np.float32)
    module.run(a, 3.0, check="races", workers=1)
    assert a.reshape(2, 8)[1, 1] == 3
    assert np.count_nonzero(a) == 1


def test_map_divides_in_module() -> None:
    text = MAPPED.format(extent="4", index="i mod 0")
    refuse(f"module {{\n{text}}}\n", 3, "has an indexing map that divides by zero")


UNVERIFIED = """\
func.func @main(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {{
  %r = "linalg.{name}"({operands}) <{{indexing_maps = [{maps}], {more}
      operandSegmentSizes = array<i32: {inputs}, 1>}}> ({{
  ^bb0({arguments}):
    linalg.yield %x0 : f32
  }}) : ({types}) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}}
"""


@pytest.mark.parametrize(
    "maps", ["", "unit", "unit, unit", "1 : i32", 'affine_map<(i) -> (i)>, "a"']
)
@pytest.mark.parametrize(("name", "inputs"), [("generic", 1), ("matmul", 2)])
def test_maps_that_are_none(name: str, inputs: int, maps: str) -> None:
    """Upstream's verifier takes the map of each operand without asking for it."""
    text = UNVERIFIED.format(
        name=name,
        inputs=inputs,
        maps=maps,
        more="iterator_types = [#linalg.iterator_type<parallel>]," if name == "generic" else "",
        operands=", ".join(["%a"] * (inputs + 1)),
        arguments=", ".join(f"%x{number}: f32" for number in range(inputs + 1)),
        types=", ".join(["tensor<4x4xf32>"] * (inputs + 1)),
    )
    refuse(text, 2, f"'linalg.{name}' op has other indexing maps than one for each operand")


AFFINE = """\
func.func @main(%a: memref<64xf32>, %f: f32) {{
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%i, %j, %k) in (%l = %c1, %m = %c1, %n = %c1)
      threads(%p, %q, %r) in (%s = %c64, %t = %c1, %u = %c1) {{
    {operation}
    gpu.terminator
  }}
  return
}}
"""
AFFINE_OPERATIONS = {
    "affine.apply": "%x = affine.apply affine_map<(d) -> ({})>(%p)\n"
    "    memref.store %f, %a[%x] : memref<64xf32>",
    "affine.min": "%x = affine.min affine_map<(d) -> ({}, 63)>(%p)\n"
    "    memref.store %f, %a[%x] : memref<64xf32>",
    "affine.max": "%x = affine.max affine_map<(d) -> ({}, 0)>(%c64)\n"
    "    memref.store %f, %a[%x] : memref<64xf32>",
}


@pytest.mark.parametrize("operation", ["floordiv", "ceildiv", "mod"])
@pytest.mark.parametrize("divisor", ["0", "(-2)"])
@pytest.mark.parametrize("name", AFFINE_OPERATIONS)
def test_affine_map_divides(name: str, divisor: str, operation: str) -> None:
    index = f"d {operation} {divisor}"
    text = AFFINE.format(operation=AFFINE_OPERATIONS[name].format(index))
    refuse(text, 6, f"'{name}' op divides by zero, or by a number below zero")


WINDOWS = """\
func.func @main(%a: tensor<1x?x?x4xf32>, %k: tensor<3x3x4x4xf32>, %o: tensor<1x?x?x4xf32>)
    -> tensor<1x?x?x4xf32> {{
  %r = linalg.conv_2d_nhwc_hwcf {{strides = dense<{stride}> : tensor<2xi64>,
                                 dilations = dense<{dilation}> : tensor<2xi64>}}
      ins(%a, %k : tensor<1x?x?x4xf32>, tensor<3x3x4x4xf32>)
      outs(%o : tensor<1x?x?x4xf32>) -> tensor<1x?x?x4xf32>
  return %r : tensor<1x?x?x4xf32>
}}
"""


@pytest.mark.parametrize(
    ("stride", "dilation"), [(2**63 - 1, 1), (1, 2**62), (-(2**63), 1), (2**61, 2**61)]
)
def test_windows_overflow(stride: int, dilation: int) -> None:
    text = WINDOWS.format(stride=stride, dilation=dilation)
    refuse(text, 3, "has windows whose places need more than 63 bits")


LAID_OUT = """\
module attributes {{dlti.dl_spec = #dlti.dl_spec<{outer} = 64 : i32>}} {{
  gpu.module @m attributes {{dlti.dl_spec = #dlti.dl_spec<{inner} = 32 : i32>}} {{
    gpu.func @k(%a: memref<4xf32>) kernel {{
      gpu.return
    }}
  }}
}}
"""


@pytest.mark.parametrize("kind", ["index"])
def test_data_layouts(kind: str) -> None:
    text = LAID_OUT.format(outer=kind, inner=kind)
    refuse(text, 2, f"'gpu.module' op lays out '{kind}'")


TILED = """\
func.func @main(%a: memref<64x48xf32>, %b: memref<48x64xf32>, %c: memref<64x64xf32>) {{
  linalg.matmul ins(%a, %b : memref<64x48xf32>, memref<48x64xf32>) outs(%c : memref<64x64xf32>)
  return
}}
module attributes {{transform.with_named_sequence}} {{
  transform.named_sequence @__transform_main(%m: !transform.any_op {{transform.readonly}}) {{
    %p = transform.structured.match ops{{["linalg.matmul"]}} in %m
        : (!transform.any_op) -> !transform.any_op
    %f = transform.get_parent_op %p : (!transform.any_op) -> !transform.any_op
    %t, %l = transform.structured.tile_using_forall %p {sizes} (mapping = [{mapping}])
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %g = transform.gpu.map_forall_to_blocks %f {{generate_gpu_launch}}
        : (!transform.any_op) -> !transform.any_op
    transform.yield
  }}
}}
"""


@pytest.mark.parametrize(
    ("sizes", "loops", "mapped"),
    [
        ("tile_sizes [32, 16, 8]", 3, 2),
        ("tile_sizes [32]", 1, 2),
        ("tile_sizes [32, 0]", 1, 2),
        ("num_threads [2, 4]", 2, 1),
        ("num_threads [2, 4]", 2, 3),
    ],
)
def test_mapping_of_other_loops(sizes: str, loops: int, mapped: int) -> None:
    mapping = ", ".join(f"#gpu.block<{dim}>" for dim in "xyz"[:mapped])
    text = TILED.format(sizes=sizes, mapping=mapping)
    refuse(text, 10, f"maps {mapped} of the {loops} loops that it makes")
