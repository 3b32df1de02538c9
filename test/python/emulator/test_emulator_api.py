"""``Kernel.run`` and ``Module.run``: sizes, options, host functions, and what is not emulated."""

from __future__ import annotations

import functools
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import pipeline
from corpus.emulating import EARLY, TICKETS, emulate
from corpus.kernels import CASES
from emulator.faults import kernel, numbers

BY_NAME = {case.name: case for case in CASES}
ONE = (1, 1, 1)

DOUBLE = """\
gpu.module @kernels {
  gpu.func @k(%a: memref<?xi32>) kernel KNOWN {
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %n = gpu.block_dim x
    %base = arith.muli %b, %n : index
    %i = arith.addi %base, %t : index
    %x = memref.load %a[%i] : memref<?xi32>
    %y = arith.addi %x, %x : i32
    memref.store %y, %a[%i] : memref<?xi32>
    gpu.return
  }
}
"""


@functools.cache
def double(known: str = "") -> pipeline.Kernel:
    attributes = f"attributes {{{known}}}" if known else ""
    return pipeline.compile(
        DOUBLE.replace("KNOWN", attributes), until="llvm", sync="keep", verify=False
    ).kernels["k"]


def compiled(text: str) -> pipeline.Module:
    return pipeline.compile(text, until="llvm", sync="keep", verify=False)


# --- sizes ----------------------------------------------------------------------------------------

KNOWN = "known_block_size = array<i32: 8, 1, 1>"
KNOWN_GRID = "known_grid_size = array<i32: 4, 1, 1>"


@pytest.mark.parametrize(
    ("sizes", "known", "message"),
    [
        (
            {"block": (1025, 1, 1)},
            "",
            "'k' is launched with a block of (1025, 1, 1), but it may be (1, 1, 1) to (1024, 1024,",
        ),
        ({"block": (1, 1, 65)}, "", "a block of (1, 1, 65), but it may be"),
        ({"block": (64, 17, 1)}, "", "a block of 1088 threads, but a GPU takes at most 1024"),
        ({"block": (0, 1, 1)}, "", "a block of (0, 1, 1), but it may be (1, 1, 1) to "),
        ({"block": (-8, 1, 1)}, "", "a block of (-8, 1, 1), but it may be"),
        ({"block": 0}, "", "a block of (0, 1, 1), but it may be"),
        ({"grid": (2**31, 1, 1)}, "", "but it may be (1, 1, 1) to (2147483647, 65535, 65535)"),
        ({"grid": (1, 65536)}, "", "a grid of (1, 65536, 1), but it may be"),
        ({"grid": 0}, "", "a grid of (0, 1, 1), but it may be"),
        ({"grid": -4}, "", "a grid of (-4, 1, 1), but it may be"),
        ({"grid": 10**5000}, "", "grid is larger than any GPU takes"),
        ({"dynamic_shared_bytes": -1}, "", "-1 bytes of dynamic workgroup memory, but the least"),
        ({"dynamic_shared_bytes": 2**20}, "", "but a block has at most 166912 on sm_80"),
        ({"dynamic_shared_bytes": 2**64 - 64}, "", "more workgroup memory than any GPU has"),
        ({"dynamic_shared_bytes": 2**64}, "", "more workgroup memory than any GPU has"),
        *(
            (
                {"block": size},
                KNOWN,
                f"a block of ({size}, 1, 1), but it was compiled for (8, 1, 1)",
            )
            for size in (4, 16)
        ),
        *(
            ({"grid": size}, KNOWN_GRID, f"a grid of ({size}, 1, 1), but it was compiled for (4,")
            for size in (3, 5)
        ),
    ],
)
def test_sizes_that_do_not_fit(sizes: dict[str, Any], known: str, message: str) -> None:
    array = numbers(64)
    with pytest.raises(pipeline.UsageError) as caught:
        double(known).run(array, **{"grid": ONE, "block": (8, 1, 1), **sizes})
    assert message in str(caught.value)
    np.testing.assert_array_equal(array, numbers(64))


def test_sizes_that_the_kernel_tells() -> None:
    array = numbers(64)
    report = double(f"{KNOWN}, {KNOWN_GRID}").run(array)
    assert report.blocks == 4
    np.testing.assert_array_equal(array[:32], 2 * numbers(32))
    np.testing.assert_array_equal(array[32:], numbers(64)[32:])


@pytest.mark.parametrize("name", ["grid", "block"])
@pytest.mark.parametrize(
    ("size", "shown"),
    [
        *((1.5, "1.5"), (2.0, "2.0"), (True, "True"), ("8", "'8'"), (b"8", "b'8'"), ((), "()")),
        *(((1, 1, 1, 1), "(1, 1, 1, 1)"), ((1.5, 1, 1), "(1.5, 1, 1)"), ((8, None), "(8, None)")),
        *(
            (("8",), "('8',)"),
            ((4, False), "(4, False)"),
            ({8}, "{8}"),
            (object, "<class 'object'>"),
        ),
        *((np.float64(8), "np.float64(8.0)"), (np.True_, "np.True_")),
        *((np.ones((1, 2), int), "array([[1, 1]])"), (np.ones(2), "array([1., 1.])")),
        ([8, [1]], "[8, [1]]"),
    ],
)
def test_sizes_that_are_none(name: str, size: Any, shown: str) -> None:
    array = numbers(64)
    with pytest.raises(pipeline.UsageError) as caught:
        double().run(array, **{"grid": ONE, "block": 8, name: size})
    message = f"{name} is {shown}, but must be one to three whole numbers: x, y, z"
    assert str(caught.value) == f"error: {message}"
    assert caught.value.shell_message == f"error: --{message}"
    np.testing.assert_array_equal(array, numbers(64))


@pytest.mark.parametrize("size", [1.5, "16", True, (16,)])
def test_bytes_that_are_none(size: Any) -> None:
    with pytest.raises(pipeline.UsageError, match=r"^error: dynamic_shared_bytes is ") as caught:
        double().run(numbers(64), grid=1, block=8, dynamic_shared_bytes=size)
    assert f"{size!r}, but must be a whole number from 0 on" in str(caught.value)


@pytest.mark.parametrize(
    "size", [4, (4,), [4, 1], (4, 1, 1), np.int64(4), np.array(4), (np.uint8(4), 1), np.array([4])]
)
def test_sizes_along_x(size: Any) -> None:
    """One number is as many along x; missing ones are 1."""
    for grid, block in ((size, 8), (8, size)):
        array = numbers(64)
        report = double().run(array, grid=grid, block=block)
        assert report.blocks == (4 if grid is size else 8)
        np.testing.assert_array_equal(array[:32], 2 * numbers(32))
        np.testing.assert_array_equal(array[32:], numbers(64)[32:])
    report = double().emulate(numbers(64), grid=(2, 3), block=size)
    assert report.blocks == 6


def test_sizes_that_fit() -> None:
    for known in ("", KNOWN, KNOWN_GRID):
        array = numbers(64)
        double(known).run(array, grid=(4, 1, 1), block=(8, 1, 1))
        np.testing.assert_array_equal(array[:32], 2 * numbers(32))
        np.testing.assert_array_equal(array[32:], numbers(64)[32:])
    array = numbers(1024)
    double().run(array, grid=ONE, block=(1024, 1, 1))
    np.testing.assert_array_equal(array, 2 * numbers(1024))


def test_sizes_that_nobody_tells() -> None:
    with pytest.raises(pipeline.UsageError, match=r"error: grid must be .* kernel 'k'$"):
        double().run(numbers(8), block=(8, 1, 1))
    with pytest.raises(pipeline.UsageError, match=r"error: block must be .* kernel 'k'$"):
        double().run(numbers(8), grid=ONE)


DYNAMIC = kernel(
    "%a: memref<8xi32>",
    """
    %bytes = gpu.dynamic_shared_memory : memref<?xi8, #wg>
    %w = memref.view %bytes[%c0][%nx] : memref<?xi8, #wg> to memref<?xi32, #wg>
    %x = memref.load %a[%tx] : memref<8xi32>
    memref.store %x, %w[%tx] : memref<?xi32, #wg>
    gpu.barrier
    %j = arith.subi %c7, %tx : index
    %y = memref.load %w[%j] : memref<?xi32, #wg>
    memref.store %y, %a[%tx] : memref<8xi32>
""",
)


@pytest.mark.parametrize("check", ["none", "races"])
def test_dynamic_bytes(check: Any) -> None:
    kernel = compiled(DYNAMIC).kernels["k"]
    array = numbers(8)
    kernel.run(array, grid=ONE, block=(8, 1, 1), dynamic_shared_bytes=32, check=check)
    np.testing.assert_array_equal(array, numbers(8)[::-1])
    for short in (28, 0):
        with pytest.raises(pipeline.MemoryAccessError, match="dynamic workgroup memory"):
            kernel.run(array, grid=ONE, block=(8, 1, 1), dynamic_shared_bytes=short, check=check)


# --- options --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"check": "some"}, "check is 'some', but must be none, races or all"),
        ({"check": None}, "check is None, but must be none, races or all"),
        ({"order": "sideways"}, "is 'sideways', but must be forward, reverse, seeded or a seed"),
        ({"order": True}, "order is True, but must be"),
        ({"order": 1.5}, "1.5"),
        ({"order": -1}, "order is -1, but must be"),
        ({"order": 2**64}, "order is 18446744073709551616, but must be"),
        ({"async_mode": "never"}, "is 'never', but must be on_wait, eager, seeded or a seed"),
        ({"async_mode": -1}, "async_mode is -1, but must be"),
        ({"seed": -1}, "seed is -1, but must be a whole number from 0 to 4294967295"),
        ({"order": 5, "async_mode": 7}, "a launch has one seed, but there are [5, 7]"),
        ({"order": 0, "async_mode": 7}, "a launch has one seed, but there are [0, 7]"),
        ({"order": 5, "seed": 7}, "a launch has one seed, but there are [5, 7]"),
        ({"statistics": "x"}, "statistics must be True or False"),
        ({"workers": -1}, "workers is -1"),
        ({"workers": 2**40}, "workers is 1099511627776, but must be"),
        ({"blocks": -1}, "blocks is -1"),
        ({"step_limit": -1}, "step_limit is -1"),
        ({"step_limit": 1.5}, "step_limit is 1.5"),
        (
            {"statistics": True, "check": "races"},
            "statistics=True and check='races' exclude each other: statistics are of the optimised",
        ),
        ({"backend": "cuda"}, "error: the module has no PTX: an earlier stage was asked for"),
        ({"backend": "cuda", "check": "races"}, "backend 'cuda' has no checks, orders, seeds"),
        ({"backend": "emulator", "stream": 0}, "a stream is given, but the emulator has none"),
        ({"backend": "cpu"}, "unknown backend 'cpu'; there are auto, emulator, cuda"),
    ],
)
def test_options_that_make_no_sense(options: dict[str, Any], message: str) -> None:
    array = numbers(8)
    with pytest.raises(pipeline.UsageError) as caught:
        double().run(array, grid=ONE, block=(8, 1, 1), **options)
    assert message in str(caught.value)
    np.testing.assert_array_equal(array, numbers(8))


@functools.cache
def first() -> pipeline.Kernel:
    """Return a kernel that tells in which order its threads came."""
    return compiled(TICKETS).kernels["k"]


def tickets(**options: Any) -> list[int]:
    count, array = np.array([100], np.int32), numbers(4, 64)
    first().run(count, array, grid=(4, 1, 1), block=(64, 1, 1), **{"workers": 1, **options})
    assert count[0] == 100 + 256
    assert sorted(array.ravel()) == [*range(100, 356)]
    return [int(ticket) - 100 for ticket in array.ravel()]


@pytest.mark.parametrize("check", ["none", "races"])
def test_order(check: str) -> None:
    forward = tickets(check=check)
    assert forward == [*range(256)]
    assert tickets(check=check, order="reverse") == forward[::-1]
    seeded = [tickets(check=check, order="seeded", seed=seed) for seed in (1, 2)]
    assert seeded[0] != seeded[1]
    assert forward not in seeded
    assert tickets(check=check, order=1) == seeded[0]
    assert tickets(check=check, order=2) == seeded[1]
    assert tickets(check=check, order="seeded", seed=1) == seeded[0]


def test_async_mode() -> None:
    """A read that does not wait sees the bytes from before, those after, or some of both."""
    kernel = compiled(EARLY).kernels["k"]

    def read(**options: Any) -> list[int]:
        array = -numbers(64)
        kernel.run(numbers(64), array, grid=ONE, block=(64, 1, 1), **options)
        return [int(value) for value in np.sign(array)]

    assert read(async_mode="on_wait") == [-1] * 64
    assert read(async_mode="eager") == [1] * 64
    seeded = [read(async_mode="seeded", seed=seed) for seed in (1, 2)]
    assert all(set(signs) == {-1, 1} for signs in seeded)
    assert seeded[0] != seeded[1]
    assert read(async_mode=2) == seeded[1]


@pytest.mark.parametrize("workers", [1, 2, 8])
@pytest.mark.parametrize("name", ["matmul", "histogram", "scan by shuffles", "double buffer"])
def test_workers(name: str, workers: int) -> None:
    for check in ("none", "races"):
        alone = emulate(BY_NAME[name], check=check, workers=1)
        together = emulate(BY_NAME[name], check=check, workers=workers)
        assert together.bits() == alone.bits()
        assert together.report.findings == ()
        assert together.report.blocks_run == alone.report.blocks_run


def test_statistics_of_workers() -> None:
    alone = emulate(BY_NAME["matmul"], statistics=True, workers=1).report.statistics
    together = emulate(BY_NAME["matmul"], statistics=True, workers=8).report.statistics
    assert alone is not None
    assert together is not None
    assert (alone.instructions, alone.accesses) == (together.instructions, together.accesses)
    assert (alone.barriers, alone.barriers) == (12 * 10, together.barriers)


def test_part_of_the_blocks() -> None:
    """The seed chooses which; a report says how many."""
    ran = []
    for seed in (1, 2, 1):
        array = numbers(64)
        report = double().run(array, grid=(16, 1, 1), block=(4, 1, 1), blocks=5, seed=seed)
        assert (report.blocks_run, report.blocks) == (5, 16)
        changed = (array != numbers(64)).reshape(16, 4)
        assert (changed.all(axis=1) == changed.any(axis=1)).all()
        ran.append(frozenset(np.flatnonzero(changed.any(axis=1))))
        assert len(ran[-1]) == 5
    assert ran[0] == ran[2] != ran[1]
    report = double().run(numbers(64), grid=(16, 1, 1), block=(4, 1, 1), blocks=100)
    assert report.blocks_run == 16


# The loop's iterations are counted; no optimiser can tell what comes out of them.
COUNTING = kernel(
    "%a: memref<1xi32>, %n: index",
    """
    %three = arith.constant 3 : i32
    %seven = arith.constant 7 : i32
    %first = memref.load %a[%c0] : memref<1xi32>
    %last = scf.for %i = %c0 to %n step %c1 iter_args(%x = %first) -> i32 {
      %y = arith.shrui %x, %seven : i32
      %z = arith.xori %x, %y : i32
      %next = arith.muli %z, %three : i32
      scf.yield %next : i32
    }
    memref.store %last, %a[%c0] : memref<1xi32>
""",
)


@pytest.mark.parametrize("check", ["none", "races"])
def test_step_limit(check: Any) -> None:
    kernel = compiled(COUNTING).kernels["k"]
    iterations, results = 2_000_000, set()
    for limit in (0, 2 * iterations):
        array = np.array([12345], np.int32)
        kernel.run(array, iterations, grid=ONE, block=ONE, check=check, step_limit=limit)
        results.add(int(array[0]))
    assert len(results) == 1
    assert results != {12345}
    with pytest.raises(
        pipeline.KernelFaultError, match="it has made 50000 loop iterations"
    ) as caught:
        kernel.run(array, iterations, grid=ONE, block=ONE, check=check, step_limit=50_000)
    assert caught.value.report.blocks_run == 0


@pytest.mark.parametrize("iterations", [10, 70_000])
def test_step_limit_is_exact(iterations: int) -> None:
    """A loop of n iterations goes back n times, as it is written: checks do not unroll it."""
    kernel = compiled(COUNTING).kernels["k"]
    array = np.array([12345], np.int32)
    kernel.run(array, iterations, grid=ONE, block=ONE, check="races", step_limit=iterations + 1)
    with pytest.raises(pipeline.KernelFaultError):
        kernel.run(array, iterations, grid=ONE, block=ONE, check="races", step_limit=iterations)


def test_many_launches_at_a_time() -> None:
    def launch(number: int) -> list[int]:
        array = numbers(64) + number
        double().run(array, grid=(8, 1, 1), block=(8, 1, 1), check=("none", "races")[number % 2])
        return [int(value) for value in array]

    with ThreadPoolExecutor(8) as executor:
        results = list(executor.map(launch, range(64)))
    assert results == [[2 * (i + number) for i in range(1, 65)] for number in range(64)]


# --- output ---------------------------------------------------------------------------------------


def test_printf() -> None:
    text = kernel(
        "%a: memref<8xi64>",
        """
    %x = memref.load %a[%tx] : memref<8xi64>
    %f = arith.sitofp %x : i64 to f32
    %i = arith.trunci %x : i64 to i32
    gpu.printf "%lld: %d %6.2f 100%%\\0A", %x, %i, %f : i64, i32, f32
""",
    )
    array = numbers(8, kind="i8") + 2**32
    for check in ("none", "races"):
        report = compiled(text).kernels["k"].run(array, grid=ONE, block=(3, 1, 1), check=check)
        lines = report.output.splitlines()
        assert lines == [f"{2**32 + i}: {i} {np.float32(2**32 + i):6.2f} 100%" for i in (1, 2, 3)]


def test_assert() -> None:
    text = kernel(
        "%a: memref<8xi32>",
        """
    %five = arith.constant 5 : i32
    %x = memref.load %a[%tx] : memref<8xi32>
    %is_small = arith.cmpi slt, %x, %five : i32
    cf.assert %is_small, "numbers are less than five"
""",
    )
    k = compiled(text).kernels["k"]
    assert k.run(numbers(8), grid=ONE, block=(4, 1, 1)).findings == ()
    with pytest.raises(pipeline.KernelFaultError, match="numbers are less than five") as caught:
        k.run(numbers(8), grid=ONE, block=(8, 1, 1))
    assert caught.value.findings[0].accesses[0].thread.thread == (4, 0, 0)
