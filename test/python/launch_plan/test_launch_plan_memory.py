"""Memory of the host as plans run it: views in place, elements as numbers, nothing lost."""

from __future__ import annotations

import json

import numpy as np
import pytest

import pipeline
from launch_plan.host_programs import V8, host, launch, numbers
from pipeline.runtime.host.plan import Plan

SLICE = "memref<8xi32, strided<[1], offset: ?>>"
TAKE = f"  %s = memref.subview %a[%n] [8] [1] : memref<16xi32> to {SLICE}\n"


@pytest.mark.parametrize("offset", [0, 1, 3, 4, 8])
def test_slice_after_whole(offset: int) -> None:
    """What a launch finds in a slice that is not aligned is what launches before it wrote."""
    module = host(
        f"""{TAKE}{launch("%a", "%i3", "memref<16xi32>")}
{launch("%s", "%i3", SLICE)}
{launch("%a", "%i3", "memref<16xi32>")}
  return
""",
        "%a: memref<16xi32>, %n: index",
    )
    a = numbers(16)
    expected = a.copy()
    expected[:8] += 6
    expected[offset : offset + 8] += 3
    module.run(a, offset, check="races")
    np.testing.assert_array_equal(a, expected)


def test_slice_beside_whole() -> None:
    """A kernel that gets memory and a slice of it writes through both."""
    module = host(
        f"""{TAKE}  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c8, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {{
    memref.store %i3, %a[%bx] : memref<16xi32>
    %y = memref.load %s[%bx] : {SLICE}
    %z = arith.addi %y, %i3 : i32
    memref.store %z, %s[%bx] : {SLICE}
    gpu.terminator
  }}
  return
""",
        "%a: memref<16xi32>, %n: index",
    )
    a = np.zeros(16, np.int32)
    module.run(a, 7, order="forward", workers=1)
    np.testing.assert_array_equal(a, [3] * 7 + [3] + [3] * 7 + [0])


@pytest.mark.parametrize("offset", [1, 5])
def test_slice_of_argument_that_is_copied(offset: int) -> None:
    """An argument that is not aligned is worked on by a copy, and so are slices of it."""
    module = host(f"{TAKE}{launch('%s', '%i3', SLICE)}  return\n", "%a: memref<16xi32>, %n: index")
    whole = np.zeros(20, np.int32)
    a = whole[1:17] if whole.ctypes.data % 16 == 0 else whole[:16]
    a[...] = numbers(16)
    expected = a.copy()
    expected[offset : offset + 8] += 3
    module.run(a, offset)
    np.testing.assert_array_equal(a, expected)
    assert (whole[17:] == 0).all()


def test_reinterpreted_slice() -> None:
    """Offsets of memref.reinterpret_cast count from the start of the memory."""
    module = host(
        f"""  %s = memref.subview %a[2, 0] [2, 20] [1, 1]
      : memref<4x20xi32> to memref<2x20xi32, strided<[20, 1], offset: 40>>
  %r = memref.reinterpret_cast %s to offset: [0], sizes: [8], strides: [1]
      : memref<2x20xi32, strided<[20, 1], offset: 40>> to {V8}
{launch("%r", "%i3")}
  return
""",
        "%a: memref<4x20xi32>",
    )
    a = numbers(4, 20)
    expected = a.copy()
    expected[0, :8] += 3
    module.run(a)
    np.testing.assert_array_equal(a, expected)


@pytest.mark.parametrize(
    ("kind", "body", "element", "expected"),
    [
        ("i8", "%e32 = arith.extsi %e : i8 to i32", np.uint8(200), -56),
        ("i8", "%e32 = arith.extui %e : i8 to i32", np.int8(-56), 200),
        (
            "bf16",
            "%w = arith.extf %e : bf16 to f32\n  %e32 = arith.fptosi %w : f32 to i32",
            np.uint16(0x4000),  # 2.0
            2,
        ),
    ],
)
def test_elements_are_numbers_of_the_program(
    kind: str, body: str, element: np.generic, expected: int
) -> None:
    module = host(
        f"  %e = memref.load %b[%c0] : memref<1x{kind}>\n  {body}\n"
        f"{launch('%a', '%e32')}  return\n",
        f"%a: {V8}, %b: memref<1x{kind}>",
    )
    a = numbers(8)
    before = a.copy()
    module.run(a, np.array([element]))
    np.testing.assert_array_equal(a, before + expected)


@pytest.mark.parametrize(
    "line", [f"memref.store %i3, %b[%c0] : {V8}", f"memref.copy %a, %b : {V8} to {V8}"]
)
@pytest.mark.parametrize("start", [0, 1])
def test_writes_to_what_must_not_be_written(line: str, start: int) -> None:
    module = host(f"  {line}\n{launch('%a', '%i3')}  return\n", f"%a: {V8}, %b: {V8}")
    a, b = numbers(8), numbers(9)[start : start + 8]
    b.flags.writeable = False
    with pytest.raises(
        pipeline.AccessError,
        match=r"^error: argument 1 is written by main\(\), but it is a read-only NumPy array",
    ) as caught:
        module.run(a, b)
    assert caught.value.index == 1
    np.testing.assert_array_equal(a, numbers(8))


def test_nothing_runs_before_what_cannot() -> None:
    body = f"{launch('%a', '%i3')}  memref.store %i3, %a[%n] : {V8}\n  return\n"
    module = host(body, f"%a: {V8}, %n: index")
    a = numbers(8)
    with pytest.raises(pipeline.UsageError, match=r"error: there is no element \(8,\)"):
        module.run(a, 8)
    np.testing.assert_array_equal(a, numbers(8))


@pytest.mark.parametrize("size", [5, 20])
def test_casts_that_do_not_hold(size: int) -> None:
    """Those of arguments are known before; for others, a kernel tells what it takes."""
    module = host(
        f"  %s = memref.cast %a : memref<?xi32> to {V8}\n{launch('%s', '%i3')}  return\n",
        "%a: memref<?xi32>",
    )
    with pytest.raises(pipeline.ShapeError) as caught:
        module.run(numbers(size))
    assert str(caught.value) == (
        f"<string>:8:8: error: dimension 0 of argument 0 is {size}, but must be 8"
    )
    module.run(numbers(8))
    module = host(
        f"""  %m = arith.maxsi %n, %n : index
  %t = memref.alloc(%m) : memref<?xi32>
  %s = memref.cast %t : memref<?xi32> to {V8}
{launch("%s", "%i3")}  return
""",
        "%n: index",
    )
    with pytest.raises(pipeline.UsageError) as refused:
        module.run(size)
    assert str(refused.value) == (
        "<string>:11:3: error: kernel 'main_kernel' cannot be launched: argument 0 has shape "
        f"({size},), but dimension 0 must be 8"
    )


@pytest.mark.parametrize("number", [float("nan"), float("inf"), 2.0**31, -(2.0**31) - 1024])
def test_floats_that_integers_do_not_hold(number: float) -> None:
    module = host(
        f"  %k = arith.fptosi %f : f32 to i32\n{launch('%a', '%k')}  return\n",
        f"%a: {V8}, %f: f32",
    )
    with pytest.raises(pipeline.UsageError, match=r"'arith.fptosi' op is of .* does not hold$"):
        module.run(numbers(8), number)
    a = numbers(8)
    module.run(a, -2.75)
    np.testing.assert_array_equal(a, numbers(8) - 2)


def test_affine_expressions_wrap_around() -> None:
    module = host(
        f"""  %p = affine.apply affine_map<(d0)[s0] -> (d0 * s0)>(%n)[%n]
  %k = arith.index_cast %p : index to i32
{launch("%a", "%k")}  return %p : index
""",
        f"%a: {V8}, %n: index",
        "index",
    )
    a = numbers(8)
    assert module.run(a, 1 << 32) == 0
    np.testing.assert_array_equal(a, numbers(8))


def test_arguments_that_are_written() -> None:
    """Through what an operation chooses, and through what a function gives back."""
    module = host(
        f"""  %z = arith.cmpi eq, %n, %c0 : index
  %s = arith.select %z, %a, %b : {V8}
{launch("%s", "%i3")}
  %t = call @same(%c) : ({V8}) -> {V8}
{launch("%t", "%i3")}
  %e = memref.load %d[%c0] : {V8}
{launch("%s", "%e")}
  return
""",
        f"%a: {V8}, %b: {V8}, %c: {V8}, %d: {V8}, %n: index",
        more=f"func.func private @same(%x: {V8}) -> {V8} {{ return %x : {V8} }}",
    )
    assert module.entries["main"].written == (True, True, True, False, False)
    a, b, c, d = (numbers(8) for _ in range(4))
    module.run(a, b, c, d, 1)
    np.testing.assert_array_equal(a, numbers(8))
    np.testing.assert_array_equal(b, numbers(8) + 3 + d[0])
    np.testing.assert_array_equal(c, numbers(8) + 3)


def test_arguments_that_are_written_by_address() -> None:
    """What becomes of an address is not followed."""
    module = pipeline.compile(
        f"""func.func @main(%a: {V8}, %b: {V8}) {{
  %c1 = arith.constant 1 : index
  %i3 = arith.constant 3 : i32
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {{
    %n = memref.extract_aligned_pointer_as_index %a : {V8} -> index
    %i = arith.index_cast %n : index to i64
    %p = llvm.inttoptr %i : i64 to !llvm.ptr<1>
    %x = memref.load %b[%c1] : {V8}
    llvm.store %x, %p : i32, !llvm.ptr<1>
    gpu.terminator
  }}
  return
}}""",
        sync="keep",
        verify=False,
    )
    assert module.entries["main"].written == (True, False)
    a = numbers(8)
    module.run(a, numbers(8))
    np.testing.assert_array_equal(a, [numbers(8)[1], *numbers(8)[1:]])
    a.flags.writeable = False
    with pytest.raises(pipeline.AccessError, match="argument 0 is written"):
        module.run(a, numbers(8))


@pytest.mark.parametrize("missing", ["kernels", "data", "functions", "version"])
def test_documents_that_lack_something(missing: str) -> None:
    module = host(f"{launch('%a', '%i3')}  return\n", f"%a: {V8}")
    document = json.loads(module.plan.text)
    del document[missing]
    with pytest.raises(pipeline.PlanError, match=f"^error: launch plan: .*{missing}"):
        Plan.parse(json.dumps(document))


@pytest.mark.parametrize(
    "line", ["%q = ub.poison : i32", "%q = arith.constant dense<3> : vector<4xi32>"]
)
def test_constants_without_a_form(line: str) -> None:
    kind = line.rsplit(" : ", 1)[1]
    body = f"  {line}\n{launch('%a', '%i3')}  return %q : {kind}\n"
    module = host(body, f"%a: {V8}", kind)
    with pytest.raises(pipeline.UsageError, match=r"^<string>:8:8: error: .*make it in the kernel"):
        module.run(numbers(8))


def test_clusters() -> None:
    """The plan has the clusters of a launch."""
    text = """
    module attributes {gpu.container_module} {
      func.func @main(%a: memref<8xi32>) {
        %c1 = arith.constant 1 : index
        %c2 = arith.constant 2 : index
        %c8 = arith.constant 8 : index
        gpu.launch_func @m::@k clusters in (%c2, %c1, %c1) blocks in (%c8, %c1, %c1)
            threads in (%c1, %c1, %c1) args(%a : memref<8xi32>)
        return
      }
      gpu.module @m {
        gpu.func @k(%a: memref<8xi32>) kernel {
          %i = gpu.block_id x
          %x = arith.constant 3 : i32
          memref.store %x, %a[%i] : memref<8xi32>
          gpu.return
        }
      }
    }"""
    module = pipeline.compile(text, until="llvm", chip="sm_90a")
    body = module.plan.functions["main"].body
    assert body is not None
    assert body.steps[0].fields["cluster"] == (2, 1, 1)
    a = numbers(8)
    module.run(a)
    np.testing.assert_array_equal(a, [3] * 8)
