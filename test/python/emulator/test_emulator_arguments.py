"""What kernels take from Python: arrays of every layout, and what is refused."""

from __future__ import annotations

import functools
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pipeline
from corpus.kernels_case import Array, from_bfloat, to_bfloat
from emulator.faults import kernel, numbers
from support.layouts import LAYOUTS


@functools.cache
def compiled(arguments: str, body: str) -> pipeline.Kernel:
    return pipeline.compile(
        kernel(arguments, body), until="llvm", sync="keep", verify=False
    ).kernels["k"]


def run(kernel: pipeline.Kernel, *values: Any, threads: int = 1, **options: Any) -> None:
    kernel.run(*values, grid=(1, 1, 1), block=(threads, 1, 1), **options)


def triple(memref: str) -> pipeline.Kernel:
    """Return a kernel of one thread that multiplies all elements of an array by three."""
    return compiled(
        f"%a: {memref}",
        f"""
    %three = arith.constant 3 : i32
    %m = memref.dim %a, %c0 : {memref}
    %n = memref.dim %a, %c1 : {memref}
    scf.for %i = %c0 to %m step %c1 {{
      scf.for %j = %c0 to %n step %c1 {{
        %x = memref.load %a[%i, %j] : {memref}
        %y = arith.muli %x, %three : i32
        memref.store %y, %a[%i, %j] : {memref}
      }}
    }}
""",
    )


def add() -> pipeline.Kernel:
    """Return a kernel that adds a matrix and a number to a vector."""
    return compiled(
        "%a: memref<8xi32>, %b: memref<8x2xi32>, %n: i32",
        """
    %x = memref.load %a[%tx] : memref<8xi32>
    %y = memref.load %b[%tx, %c1] : memref<8x2xi32>
    %z = arith.addi %x, %y : i32
    %sum = arith.addi %z, %n : i32
    memref.store %sum, %a[%tx] : memref<8xi32>
""",
    )


# --- what does not fit ----------------------------------------------------------------------------

A, B = numbers(8), numbers(8, 2)


@pytest.mark.parametrize(
    ("values", "error", "index", "message"),
    [
        ((A, B), pipeline.CountError, None, "k() takes 3 arguments (memref<8xi32>, "),
        ((A, B, 1, 2), pipeline.CountError, None, "memref<8x2xi32>, i32) but 4 were given"),
        ((1, B, 1), pipeline.KindError, 0, "must be an array (NumPy, or any object with __dlpack"),
        ((A, [[1, 2]] * 8, 1), pipeline.KindError, 1, "must be an array"),
        ((A, None, 1), pipeline.KindError, 1, "__dlpack__), not NoneType"),
        ((A, B, numbers(40, 40)), pipeline.KindError, 2, "must be a number (i32), not "),
        ((A, B, [1]), pipeline.KindError, 2, "[1]"),
        ((A, B, "1"), pipeline.KindError, 2, "is '1', which does not fit i32"),
        ((A, B, 2.5), pipeline.KindError, 2, "is 2.5, which does not fit i32"),
        ((A, B, None), pipeline.KindError, 2, "is None, which does not fit i32"),
        ((A, B.astype("f4"), 1), pipeline.DTypeError, 1, "of type float32, but the kernel takes"),
        ((A.astype(">i4"), B, 1), pipeline.DTypeError, 0, "of type >i4, but the kernel takes i32"),
        ((A, B.astype(object), 1), pipeline.DTypeError, 1, "of type object, but"),
        ((A.astype("i8"), B, 1), pipeline.DTypeError, 0, "of type int64, but"),
        ((A[:7], B, 1), pipeline.ShapeError, 0, "shape (7,), but dimension 0 must be 8"),
        ((A, B.T, 1), pipeline.ShapeError, 1, "shape (2, 8), but dimension 0 must be 8"),
        ((A, A, 1), pipeline.ShapeError, 1, "(8,), but memref<8x2xi32> has 2 dimensions"),
        ((A, np.int32(3), 1), pipeline.KindError, 1, "not int32"),
        ((A, numbers(2, 8).T, 1), pipeline.LayoutError, 1, "strides (1, 8) in elements, but "),
        ((A, numbers(8, 4)[:, :2], 1), pipeline.LayoutError, 1, "dimension 0 must have 2: pass a"),
        ((numbers(16)[::2], B, 1), pipeline.LayoutError, 0, "dimension 0 must have 1"),
        ((A[::-1], B, 1), pipeline.LayoutError, 0, "strides (-1,) in elements"),
    ],
)
def test_refused(
    values: tuple[Any, ...], error: type[pipeline.ArgumentError], index: int | None, message: str
) -> None:
    before = [value.copy() if isinstance(value, np.ndarray) else value for value in values]
    with pytest.raises(error) as caught:
        run(add(), *values, threads=8)
    assert type(caught.value) is error
    assert caught.value.index == index
    assert str(caught.value).startswith("error: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 2
    for value, old in zip(values, before, strict=True):
        np.testing.assert_array_equal(value, old)


def test_errors_are_those_of_python_too() -> None:
    assert issubclass(pipeline.ArgumentError, ValueError)
    for error in (pipeline.CountError, pipeline.KindError, pipeline.DTypeError):
        assert issubclass(error, TypeError)


@pytest.mark.parametrize("stride", [1 << 61, -(1 << 61), 1 << 46])
def test_strides_beyond_all_memory(stride: int) -> None:
    view = np.lib.stride_tricks.as_strided(np.ones(4, np.int32), (2, 2), (stride, 4))
    text = kernel(
        "%a: memref<2x2xi32, strided<[?, ?], offset: ?>>",
        """
    %one = arith.constant 1 : i32
    memref.store %one, %a[%c0, %c0] : memref<2x2xi32, strided<[?, ?], offset: ?>>
""",
    )
    launched = pipeline.compile(text, until="llvm", sync="keep", verify=False).kernels["k"]
    with pytest.raises(pipeline.LayoutError, match="reaches over more bytes than a process has"):
        launched.run(view, grid=1, block=1)


def test_strides_that_are_no_whole_elements() -> None:
    pairs = np.ones(8, dtype=[("a", "i4"), ("b", "i2")])
    with pytest.raises(pipeline.LayoutError, match="strides that are no whole elements") as caught:
        run(add(), pairs["a"], B, 1, threads=8)
    assert caught.value.index == 0


ONE_ARRAY_TWICE = """\
module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @k(%a: memref<?x?xi32>, %b: memref<?x?xi32>) kernel {
    %i = gpu.thread_id x
    %c1 = arith.constant 1 : index
    %m = memref.dim %a, %c1 : memref<?x?xi32>
    %n = memref.dim %b, %c1 : memref<?x?xi32>
    %mn = arith.addi %m, %n : index
    %x = arith.index_cast %mn : index to i32
    memref.store %x, %b[%i, %c1] : memref<?x?xi32>
    gpu.return
  }
}
func.func @main(%a: memref<?x?xi32>) {
  %c1 = arith.constant 1 : index
  gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%a : memref<?x?xi32>, %a : memref<?x?xi32>)
  return
}
}
"""


def test_extents_that_have_to_be_equal() -> None:
    """Parts that are one parameter are equal in every launch of the program."""
    kernel = pipeline.compile(ONE_ARRAY_TWICE, until="llvm", sync="keep", verify=False).kernels["k"]
    assert 2 in {len(parameter.parts) for parameter in kernel.parameters}
    array = numbers(3, 5)
    run(kernel, numbers(2, 5), array)
    assert array[0, 1] == 10
    with pytest.raises(pipeline.ShapeError, match=r"compiled for equal ones$") as caught:
        run(kernel, numbers(3, 4), array)
    assert caught.value.index == 1
    assert "the extent of dimension 1 of argument 1 is 5, but" in str(caught.value)
    assert array[0, 1] == 10


class Exporter:
    """An array of another library."""

    def __init__(self, array: Array) -> None:
        self.array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


class Elsewhere(Exporter):
    """An array that the host cannot reach."""

    def __dlpack__(self, **options: Any) -> Any:
        raise BufferError("the memory is on a GPU")


def test_arrays_of_other_libraries() -> None:
    array = numbers(8)
    run(add(), Exporter(array), Exporter(B), 1, threads=8)
    np.testing.assert_array_equal(array, numbers(8) + B[:, 1] + 1)


def test_arrays_elsewhere() -> None:
    with pytest.raises(pipeline.ArgumentError, match="the memory is on a GPU") as caught:
        run(add(), A, Elsewhere(B), 1, threads=8)
    assert caught.value.index == 1


# --- layouts --------------------------------------------------------------------------------------


@pytest.mark.parametrize("check", ["none", "races"])
@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts(name: str, check: str) -> None:
    """A view of any strides is worked on in place; what lies between stays as it was."""
    view, memref = LAYOUTS[name]
    whole = numbers(9, 11)
    expected = whole.copy()
    view(expected)[...] *= 3
    run(triple(memref), view(whole), check=check)
    np.testing.assert_array_equal(whole, expected)


@pytest.mark.parametrize("lead", [4, 8, 12, 1, 2, 7])
@pytest.mark.parametrize("name", ["rows", "columns inside", "both backwards", "no row"])
def test_arrays_that_are_not_aligned(name: str, lead: int) -> None:
    """They are copied to where they are, and what the kernel wrote comes back."""
    view, memref = LAYOUTS[name]
    size = 9 * 11
    memory = np.full(4 * size + 64, 0xA5, np.uint8)
    start = -memory.ctypes.data % 16 + lead
    whole = memory[start : start + 4 * size].view(np.int32).reshape(9, 11)
    whole[...] = numbers(9, 11)
    expected = memory.copy()
    inside = expected[start : start + 4 * size].view(np.int32).reshape(9, 11)
    view(inside)[...] *= 3
    run(triple(memref), view(whole))
    np.testing.assert_array_equal(memory, expected)


def shift() -> pipeline.Kernel:
    return compiled(
        "%to: memref<?xi32>, %from: memref<?xi32>",
        """
    %x = memref.load %from[%tx] : memref<?xi32>
    %y = arith.addi %x, %x : i32
    memref.store %y, %to[%tx] : memref<?xi32>
""",
    )


def at(lead: int) -> Array:
    """Return nine numbers, so many elements behind an address that 16 divides."""
    memory = np.empty(64, np.int32)
    start = -memory.ctypes.data % 16 // 4 + lead
    array = memory[start : start + 9]
    array[:] = numbers(9)
    return array


def test_one_array_twice() -> None:
    """Both arguments are the same memory."""
    array = at(0)
    run(shift(), array[:8], array[:8], threads=8)
    np.testing.assert_array_equal(array[:8], 2 * numbers(8))


@pytest.mark.parametrize(("lead", "first", "second"), [(1, 0, 0), (0, 0, 1), (0, 1, 0), (3, 1, 0)])
def test_arrays_that_overlap_and_are_not_aligned(lead: int, first: int, second: int) -> None:
    """What the kernel wrote to one copy, the other would not have: they are refused."""
    array = at(lead)
    with pytest.raises(pipeline.LayoutError, match=r"overlaps argument \d: pass copies$"):
        run(shift(), array[first : first + 8], array[second : second + 8], threads=8)
    np.testing.assert_array_equal(array, numbers(9))


def test_read_only_arrays_can_be_read() -> None:
    array, fixed = numbers(8), numbers(8)
    fixed.flags.writeable = False
    for check in ("none", "races"):
        run(shift(), array, fixed, threads=8, check=check)
        np.testing.assert_array_equal(array, 2 * fixed)
        array[:] = numbers(8)
        with pytest.raises(pipeline.MemoryAccessError, match=r"\[read-only\]"):
            run(shift(), fixed, array, threads=8, check=check)
        np.testing.assert_array_equal(fixed, numbers(8))


class OldExporter(Exporter):
    """An array of a library that has DLPack 0.8, which cannot tell what may be written."""

    def __dlpack__(self, **options: Any) -> Any:
        if options:
            raise TypeError("no such parameters")
        return self.array.__dlpack__()


@pytest.mark.parametrize("lead", [0, 1])
@pytest.mark.parametrize(
    ("wrap", "why"),
    [
        (
            lambda array: OldExporter(array),
            "came by DLPack as read-only, as all arrays do from libraries whose DLPack is older "
            "than 1.0: pass a copy, numpy.from_dlpack(array).copy(), and look for the results "
            "there, or use a newer version of the library",
        ),
        (
            lambda array: np.lib.stride_tricks.as_strided(array, writeable=False),
            "is a read-only NumPy array (flags.writeable is False): pass a copy, array.copy(), "
            "and look for the results there",
        ),
    ],
    ids=["DLPack", "NumPy"],
)
def test_read_only_arrays_say_why(wrap: Callable[[Array], Any], why: str, lead: int) -> None:
    array = at(lead)[:8]
    run(shift(), array, wrap(numbers(8)), threads=8)  # one that is only read needs no words
    with pytest.raises(pipeline.MemoryAccessError, match=r"\[read-only\]") as caught:
        run(shift(), wrap(array), wrap(numbers(8)), threads=8)
    assert caught.value.report.hints == (f"argument 0 {why}",)
    assert caught.value.__notes__ == [f"note: argument 0 {why}"]
    assert pickle.loads(pickle.dumps(caught.value)).__notes__ == caught.value.__notes__
    np.testing.assert_array_equal(array, 2 * numbers(8))


def test_other_findings_have_no_hints() -> None:
    with pytest.raises(pipeline.MemoryAccessError, match=r"\[out-of-bounds\]") as caught:
        run(shift(), numbers(8), numbers(8), threads=9)
    assert caught.value.report.hints == ()
    assert not hasattr(caught.value, "__notes__")


def test_offsets_that_the_type_fixes() -> None:
    """The array begins at element zero, wherever the type lets the pointer begin."""
    memref = "memref<4xi32, strided<[2], offset: 6>>"
    kernel = compiled(
        f"%a: {memref}",
        f"""
    %x = memref.load %a[%tx] : {memref}
    %y = arith.addi %x, %x : i32
    memref.store %y, %a[%tx] : {memref}
""",
    )
    whole = numbers(14)
    expected = whole.copy()
    expected[6::2] *= 2
    for check in ("none", "races"):
        array = whole.copy()
        run(kernel, array[6::2], threads=4, check=check)
        np.testing.assert_array_equal(array, expected)


def test_array_without_dimensions() -> None:
    kernel = compiled(
        "%a: memref<f64>, %b: memref<f64>",
        """
    %x = memref.load %a[] : memref<f64>
    memref.store %x, %b[] : memref<f64>
""",
    )
    result = np.array(1.0)
    run(kernel, np.array(2.5), result)
    assert result == 2.5


# --- elements -------------------------------------------------------------------------------------


def test_bfloat16_as_bits() -> None:
    kernel = compiled(
        "%a: memref<8xbf16>",
        """
    %x = memref.load %a[%tx] : memref<8xbf16>
    %y = arith.addf %x, %x : bf16
    memref.store %y, %a[%tx] : memref<8xbf16>
""",
    )
    bits = to_bfloat(np.linspace(0.3, 5.0, 8, dtype="f4"))
    expected = 2 * from_bfloat(bits)
    run(kernel, bits, threads=8)
    np.testing.assert_array_equal(from_bfloat(bits), expected)


def test_unsigned_arrays() -> None:
    array = np.array([2**32 - 1, 2**31], np.uint32)
    kernel = compiled(
        "%a: memref<2xi32>",
        """
    %one = arith.constant 1 : i32
    %x = memref.load %a[%tx] : memref<2xi32>
    %y = arith.shrui %x, %one : i32
    memref.store %y, %a[%tx] : memref<2xi32>
""",
    )
    run(kernel, array, threads=2)
    np.testing.assert_array_equal(array, [2**31 - 1, 2**30])


def test_elements_that_are_vectors() -> None:
    kernel = compiled(
        "%a: memref<3xvector<4xf32>>",
        """
    %x = memref.load %a[%tx] : memref<3xvector<4xf32>>
    %y = arith.addf %x, %x : vector<4xf32>
    memref.store %y, %a[%tx] : memref<3xvector<4xf32>>
""",
    )
    array = numbers(3, 4, kind="f4")
    run(kernel, array, threads=3)
    np.testing.assert_array_equal(array, 2 * numbers(3, 4))
    with pytest.raises(pipeline.ShapeError, match=r"the last dimensions must be \(4,\)"):
        run(kernel, numbers(4, 3, kind="f4"), threads=3)
    with pytest.raises(pipeline.LayoutError, match="vectors that are not contiguous"):
        run(kernel, numbers(4, 3, kind="f4").T, threads=3)
