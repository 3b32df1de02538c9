"""Reductions over blocks and warps of any size: right numbers, and no races, on the emulator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import pipeline
from pipeline.runtime.emulator import Order

Array = npt.NDArray[Any]
Dim3 = tuple[int, int, int]
Make = Callable[[np.random.Generator, tuple[int, int]], Array]
Combine = Callable[[Array], Array]

# From one thread to the most that a block can have; 1 to 32 warps, the last one full or not.
SIZES = (1, 2, 3, 7, 16, 31, 32, 33, 48, 64, 65, 70, 96, 100, 160, 192, 224, 256, 1000, 1024)
BLOCKS: tuple[Dim3, ...] = (*((size, 1, 1) for size in SIZES), (12, 5, 2), (3, 3, 11), (2, 1, 64))

# Each thread loads the element of its number and stores what the statement makes of it.
TEXT = """
gpu.module @kernels {
  gpu.func @reduce(%a: memref<?x?xTYPE>, %out: memref<?x?xTYPE>) kernel ATTRIBUTES {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %b = gpu.block_id x
    %tx = gpu.thread_id x
    %ty = gpu.thread_id y
    %tz = gpu.thread_id z
    %nx = gpu.block_dim x
    %ny = gpu.block_dim y
    %zy = arith.muli %tz, %ny : index
    %yz = arith.addi %ty, %zy : index
    %yzx = arith.muli %yz, %nx : index
    %t = arith.addi %tx, %yzx : index
    %x = memref.load %a[%b, %t] : memref<?x?xTYPE>
    STATEMENT
    memref.store %y, %out[%b, %t] : memref<?x?xTYPE>
    gpu.return
  }
  FUNCTION
}
"""


def compile_kernel(
    statement: str, kind: str, block: Dim3 | None = None, function: str = ""
) -> pipeline.Kernel:
    """Return the kernel for blocks of one size or of any."""
    sizes = ", ".join(map(str, block or ()))
    attributes = f"attributes {{known_block_size = array<i32: {sizes}>}}" if block else ""
    text = TEXT.replace("STATEMENT", statement).replace("FUNCTION", function)
    text = text.replace("TYPE", kind).replace("ATTRIBUTES", attributes)
    return pipeline.compile(text).kernels["reduce"]


def check(kernel: pipeline.Kernel, block: Dim3, make: Make, expect: Combine) -> None:
    """Run two blocks in one of three orders; `expect` makes what the threads shall store."""
    size = int(np.prod(block))
    a = make(np.random.default_rng(size), (2, size))
    out = np.zeros_like(a)
    orders: tuple[Order, ...] = ("forward", "reverse", "seeded")
    options = pipeline.Options(check="races", order=orders[size % 3], seed=size)
    report = kernel.emulate(a, out, grid=(2, 1, 1), block=block, options=options)
    assert not report.findings, report.rendered
    np.testing.assert_array_equal(out, expect(a), strict=True)


def for_all(combine: Combine) -> Combine:
    """Return what makes the same of a row for each of its elements."""
    return lambda a: np.broadcast_to(combine(a).astype(a.dtype)[:, None], a.shape)


def by_warp(combine: Combine, lanes: Callable[[int], int] = lambda lane: 0) -> Combine:
    """Return what does so for each warp, or for the lanes to which `lanes` gives one number."""

    def expect(a: Array) -> Array:
        numbers = np.array([t // 32 * 32 + lanes(t % 32) for t in range(a.shape[1])])
        out = np.empty_like(a)
        for number in numbers:
            out[:, numbers == number] = combine(a[:, numbers == number])[:, None]
        return out

    return expect


def numbers(kind: str) -> Make:
    """Return what makes numbers of which sums are exact and wrong bits show."""
    dtype = {"f32": np.float32, "f64": np.float64, "f16": np.float16}.get(kind)
    if dtype:
        return lambda rng, shape: np.asarray(rng.integers(-16, 17, shape) / 8, dtype)
    whole = np.dtype(kind.replace("i", "int"))
    limits = np.iinfo(whole)
    return lambda rng, shape: rng.integers(limits.min, limits.max, shape, whole, endpoint=True)


def signs(rng: np.random.Generator, shape: tuple[int, int]) -> Array:
    return rng.choice([-1.0, 1.0], shape)


def odd(rng: np.random.Generator, shape: tuple[int, int]) -> Array:
    return np.asarray(rng.integers(-(2**31), 2**31, shape) | 1, np.int32)


def few_bits(rng: np.random.Generator, shape: tuple[int, int]) -> Array:
    """Return numbers with one bit, which may be any."""
    return np.asarray(1 << rng.integers(0, 31, shape), np.int32)


def from_somewhere(rng: np.random.Generator, shape: tuple[int, int]) -> Array:
    """Return rows that begin with zeros."""
    a = rng.integers(1, 1000, shape).astype(np.int32)
    for row, zeros in zip(a, rng.integers(0, shape[1], shape[0], endpoint=True), strict=True):
        row[:zeros] = 0
    return a


def first(a: Array) -> Array:
    """Return the first element of each row that is not zero, if there is one."""
    places = (a != 0).argmax(axis=1)
    return np.asarray(a[np.arange(len(a)), places])


def built_in(operation: str) -> str:
    return f"%y = gpu.all_reduce {operation} %x uniform {{}} : (TYPE) -> TYPE"


# Associative, but the order matters.
FIRST = """
    %y = gpu.all_reduce %x uniform {
    ^bb0(%l: TYPE, %r: TYPE):
      %zero = arith.constant 0 : TYPE
      %is_set = arith.cmpi ne, %l, %zero : TYPE
      %set = arith.select %is_set, %l, %r : TYPE
      gpu.yield %set : TYPE
    } : (TYPE) -> TYPE
"""
FIRST_BY_BRANCHES = """
    %y = gpu.all_reduce %x uniform {
    ^bb0(%l: TYPE, %r: TYPE):
      %zero = arith.constant 0 : TYPE
      %is_set = arith.cmpi ne, %l, %zero : TYPE
      cf.cond_br %is_set, ^bb1, ^bb2
    ^bb1:
      gpu.yield %l : TYPE
    ^bb2:
      gpu.yield %r : TYPE
    } : (TYPE) -> TYPE
"""

# And without an identity.
LAST = """
    %y = gpu.all_reduce %x uniform {
    ^bb0(%l: TYPE, %r: TYPE):
      gpu.yield %r : TYPE
    } : (TYPE) -> TYPE
"""

REDUCTIONS: dict[str, tuple[str, str, Make, Combine]] = {
    "add f32": ("f32", built_in("add"), numbers("f32"), lambda a: a.sum(axis=1, dtype=float)),
    "add f64": ("f64", built_in("add"), numbers("f64"), lambda a: a.sum(axis=1)),
    "add i32": ("i32", built_in("add"), numbers("i32"), lambda a: a.sum(axis=1, dtype=np.int32)),
    "mul f64": ("f64", built_in("mul"), signs, lambda a: a.prod(axis=1)),
    "mul i32": ("i32", built_in("mul"), odd, lambda a: a.prod(axis=1, dtype=np.int32)),
    "min f32": ("f32", built_in("minimumf"), numbers("f32"), lambda a: a.min(axis=1)),
    "max f64": ("f64", built_in("maximumf"), numbers("f64"), lambda a: a.max(axis=1)),
    "min i64": ("i64", built_in("minsi"), numbers("i64"), lambda a: a.min(axis=1)),
    "max i32": ("i32", built_in("maxsi"), numbers("i32"), lambda a: a.max(axis=1)),
    "min u32": (
        "i32",
        built_in("minui"),
        numbers("i32"),
        lambda a: a.view(np.uint32).min(axis=1).view(np.int32),
    ),
    "and i32": (
        "i32",
        built_in("and"),
        lambda rng, shape: ~few_bits(rng, shape),
        lambda a: np.bitwise_and.reduce(a, axis=1),
    ),
    "or i32": ("i32", built_in("or"), few_bits, lambda a: np.bitwise_or.reduce(a, axis=1)),
    "xor i64": (
        "i64",
        built_in("xor"),
        numbers("i64"),
        lambda a: np.bitwise_xor.reduce(a, axis=1),
    ),
    "first i32": ("i32", FIRST, from_somewhere, first),
    "last f64": ("f64", LAST, numbers("f64"), lambda a: a[:, -1]),
    "first i32 by branches": ("i32", FIRST_BY_BRANCHES, from_somewhere, first),
}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_all_reduce(name: str) -> None:
    kind, statement, make, combine = REDUCTIONS[name]
    kernel = compile_kernel(statement, kind)
    for block in BLOCKS:
        check(kernel, block, make, for_all(combine))


@pytest.mark.parametrize("block", BLOCKS, ids=str)
@pytest.mark.parametrize("name", ["add f32", "first i32"])
def test_all_reduce_in_known_block(name: str, block: Dim3) -> None:
    kind, statement, make, combine = REDUCTIONS[name]
    check(compile_kernel(statement, kind, block), block, make, for_all(combine))


# Iterations of a loop, and reductions one after the other, use one buffer.
IN_LOOP = """
    %y = scf.for %i = %c0 to %c4 step %c1 iter_args(%old = %x) -> TYPE {
      %least = gpu.all_reduce minsi %old uniform {} : (TYPE) -> TYPE
      %sum = gpu.all_reduce add %old uniform {} : (TYPE) -> TYPE
      %less = arith.xori %sum, %least : TYPE
      %new = arith.addi %old, %less : TYPE
      scf.yield %new : TYPE
    }
"""

IN_FUNCTION = IN_LOOP.replace(
    "%sum = gpu.all_reduce add %old uniform {} :", "%sum = func.call @total(%old) :"
)
FUNCTION = """
  func.func @total(%x: TYPE) -> TYPE {
    %sum = gpu.all_reduce add %x uniform {} : (TYPE) -> TYPE
    return %sum : TYPE
  }
"""


def repeat(a: Array) -> Array:
    a = a.copy()
    for _ in range(4):
        a += (a.sum(axis=1, dtype=a.dtype) ^ a.min(axis=1))[:, None]
    return a


@pytest.mark.parametrize(("statement", "function"), [(IN_LOOP, ""), (IN_FUNCTION, FUNCTION)])
def test_buffers_are_used_again(statement: str, function: str) -> None:
    kernel = compile_kernel(statement, "i32", function=function)
    for block in BLOCKS:
        check(kernel, block, numbers("i32"), repeat)
    for block in ((70, 1, 1), (256, 1, 1)):
        known = compile_kernel(statement, "i32", block, function)
        check(known, block, numbers("i32"), repeat)


CLUSTERS: dict[str, tuple[str, Callable[[int], int]]] = {
    "": ("", lambda lane: 0),
    "by 8": ("cluster(size = 8)", lambda lane: lane // 8),
    "by 4, 4 apart": ("cluster(size = 4, stride = 4)", lambda lane: lane & ~12),
    "by 2, 16 apart": ("cluster(size = 2, stride = 16)", lambda lane: lane % 16),
    "by 1": ("cluster(size = 1)", lambda lane: lane),
}


@pytest.mark.parametrize("kind", ["f32", "i64", "i8", "f16"])
@pytest.mark.parametrize("clusters", CLUSTERS)
def test_subgroup_reduce(clusters: str, kind: str) -> None:
    attribute, lanes = CLUSTERS[clusters]
    operation = "minimumf" if kind[0] == "f" else "add"
    statement = f"%y = gpu.subgroup_reduce {operation} %x {attribute} : (TYPE) -> TYPE"
    expect = by_warp(
        lambda a: a.min(axis=1) if kind[0] == "f" else a.sum(axis=1, dtype=a.dtype), lanes
    )
    kernel = compile_kernel(statement, kind)
    for block in BLOCKS[:-2]:
        check(kernel, block, numbers(kind), expect)
    for block in ((12, 1, 1), (24, 1, 1), (64, 1, 1), (100, 1, 1)):
        check(compile_kernel(statement, kind, block), block, numbers(kind), expect)
