"""``Module.run``: host functions, one launch after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pipeline
from corpus.kernels_case import Array
from emulator.faults import kernel, numbers

ONE = (1, 1, 1)


def compiled(text: str) -> pipeline.Module:
    return pipeline.compile(text, until="llvm", sync="keep", verify=False)


LAUNCH = """\
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = SIZE, %sy = %c1, %sz = %c1) {
    %x = memref.load %a[%tx] : memref<8xi32>
    %y = arith.addi %x, %x : i32
    memref.store %y, %b[%tx] : memref<8xi32>
    gpu.terminator
  }
"""
BACK = LAUNCH.replace("%a[", "%_[").replace("%b[", "%a[").replace("%_[", "%b[")
AB = "%a: memref<8xi32>, %b: memref<8xi32>"


def host(*parts: str, arguments: str = AB, name: str = "main", end: str = "return") -> str:
    """Return a host function."""
    lines = [
        f"func.func @{name}({arguments}){' -> index' if end != 'return' else ''} {{",
        "  %c1 = arith.constant 1 : index",
        "  %c8 = arith.constant 8 : index",
        *(part.rstrip("\n") for part in parts),
        f"  {end}",
        "}",
        "",
    ]
    return "\n".join(lines).replace("SIZE", "%c8")


def test_host_function() -> None:
    module = compiled(host(LAUNCH, BACK))
    a, b = numbers(8), -numbers(8)
    module.run(a, b)
    np.testing.assert_array_equal(b, 2 * numbers(8))
    np.testing.assert_array_equal(a, 4 * numbers(8))
    reports = module.emulate(a, b, options=pipeline.Options(check="races"))
    # They do the same, with what they are given in the other order.
    assert [report.kernel for report in reports] == ["main_kernel", "main_kernel"]
    assert list(module.kernels) == ["main_kernel"]


def test_each_launch_has_its_kernel() -> None:
    square = LAUNCH.replace("arith.addi %x, %x", "arith.muli %x, %x")
    a, b = numbers(8), -numbers(8)
    compiled(host(LAUNCH, square)).run(a, b)
    np.testing.assert_array_equal(b, numbers(8) ** 2)
    compiled(host(square, LAUNCH)).run(a, b)
    np.testing.assert_array_equal(b, 2 * numbers(8))


def test_host_function_with_sizes_and_constants() -> None:
    arguments = f"{AB}, %n: index"
    launch = LAUNCH.replace("SIZE", "%n").replace("addi %x, %x", "addi %x, %k")
    text = host("  %k = arith.constant -7 : i32", launch, arguments=arguments)
    a, b = numbers(8), numbers(8)
    compiled(text).run(a, b, 5)
    np.testing.assert_array_equal(b, [-6, -5, -4, -3, -2, 6, 7, 8])


class Counted:
    """An array of another library, which counts how often it is asked for."""

    def __init__(self, array: Array) -> None:
        self.array = array
        self.calls = 0

    def __dlpack__(self, **options: Any) -> Any:
        self.calls += 1
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


def test_arguments_are_converted_once() -> None:
    a, b = Counted(numbers(8)), Counted(-numbers(8))
    compiled(host(LAUNCH, BACK)).run(a, b)
    assert (a.calls, b.calls) == (1, 1)
    np.testing.assert_array_equal(a.array, 4 * numbers(8))


@pytest.mark.parametrize("lead", [0, 1])
@pytest.mark.parametrize("other", [0, 1])
def test_launches_see_what_others_wrote_to_arrays_that_are_not_aligned(
    lead: int, other: int
) -> None:
    """All launches work on one copy."""
    a, b = np.empty(24, np.int32), np.empty(24, np.int32)
    a = a[-a.ctypes.data % 16 // 4 + lead :][:8]
    b = b[-b.ctypes.data % 16 // 4 + other :][:8]
    a[:], b[:] = numbers(8), -numbers(8)
    compiled(host(LAUNCH, BACK)).run(a, b)
    np.testing.assert_array_equal(b, 2 * numbers(8))
    np.testing.assert_array_equal(a, 4 * numbers(8))


@pytest.mark.parametrize("size", [np.int64(5), np.array(5), np.uint8(5)])
def test_sizes_of_other_kinds(size: Any) -> None:
    text = host(LAUNCH.replace("SIZE", "%n"), arguments=f"{AB}, %n: index")
    a, b = numbers(8), numbers(8)
    compiled(text).run(a, b, size)
    np.testing.assert_array_equal(b, [2, 4, 6, 8, 10, 6, 7, 8])
    for wrong in (2**63, -1):
        with pytest.raises(pipeline.UsageError, match="kernel 'main_kernel' is launched with a bl"):
            compiled(text).run(a, b, wrong)
    with pytest.raises(pipeline.KindError, match=r"argument 2 is 5.5, which does not fit index"):
        compiled(text).run(a, b, 5.5)


def test_nothing_runs_if_one_launch_does_not_fit() -> None:
    text = host(LAUNCH, BACK.replace("SIZE", "%n"), arguments=f"{AB}, %n: index")
    a, b = numbers(8), -numbers(8)
    with pytest.raises(pipeline.UsageError, match=r"a block of \(0, 1, 1\), but it may be"):
        compiled(text).run(a, b, 0)
    np.testing.assert_array_equal(b, -numbers(8))


def test_launches_end_with_the_first_error() -> None:
    module = compiled(host(LAUNCH.replace("%b[%tx]", "%b[%c1]"), BACK))
    a, b = numbers(8), numbers(8)
    with pytest.raises(pipeline.RaceError) as caught:
        module.run(a, b, check="races")
    assert caught.value.report.kernel == next(iter(module.kernels))
    np.testing.assert_array_equal(a, numbers(8))


def test_arguments_of_host_functions() -> None:
    module = compiled(host(LAUNCH))
    with pytest.raises(pipeline.CountError, match=r"main\(\) takes 2 arguments"):
        module.run(numbers(8))
    with pytest.raises(pipeline.DTypeError) as caught:
        module.run(numbers(8), numbers(8, kind="f4"))
    assert caught.value.index == 1


def test_several_entries() -> None:
    module = compiled(host(LAUNCH, name="first") + host(BACK, name="second"))
    assert list(module.entries) == ["first", "second"]
    a, b = numbers(8), numbers(8)
    with pytest.raises(pipeline.UsageError, match=r"entry must be given, as .*: first, second$"):
        module.run(a, b)
    module.run(a, b, entry="second")
    np.testing.assert_array_equal(a, 2 * numbers(8))
    with pytest.raises(pipeline.UsageError, match=r"entry is 'third', but .*: first, second$"):
        module.run(a, b, entry="third")


def test_host_function_that_branches() -> None:
    """Launches behind a branch between blocks are run if it goes there."""
    branch = host(
        "  cf.cond_br %p, ^x, ^y\n^x:", LAUNCH, "  cf.br ^y\n^y:", arguments=f"{AB}, %p: i1"
    )
    module = compiled(branch)
    for is_taken in (False, True):
        b = -numbers(8)
        module.run(numbers(8), b, is_taken)
        np.testing.assert_array_equal(b, 2 * numbers(8) if is_taken else -numbers(8))


def test_host_function_of_other_work() -> None:
    """What cannot be run as a whole says why, where, and what can be run instead."""
    work = "  %m = math.absi %n : i32\n  memref.store %m, %a[%c1] : memref<8xi32>"
    module = compiled(host(work, LAUNCH, arguments=f"{AB}, %n: i32"))
    with pytest.raises(pipeline.UsageError) as caught:
        module.run(numbers(8), numbers(8), 1)
    message = str(caught.value)
    assert message.startswith("<string>:4:8: error: function 'main' cannot be run as a whole: ")
    assert "'math.absi' op is work of the host" in message
    assert message.endswith("run its kernels by themselves: kernels['main_kernel'].run(...)")
    launched = module.kernels["main_kernel"]
    values = [numbers(8) if argument.is_memref else 8 for argument in launched.arguments]
    assert launched.run(*values, grid=ONE, block=(8, 1, 1)).findings == ()


def test_program_without_a_host_function() -> None:
    with pytest.raises(pipeline.UsageError, match=r"by themselves: kernels\['k'\]\.run"):
        compiled(kernel("%a: memref<8xi32>", "    gpu.barrier")).run(numbers(8))


def test_kernel_of_a_launch_knows_its_sizes() -> None:
    launched = compiled(host(LAUNCH)).kernels["main_kernel"]
    a, b = numbers(8), -numbers(8)
    launched.run(a, b)
    np.testing.assert_array_equal(b, 2 * numbers(8))
    b = -numbers(8)
    launched.run(a, b, block=8)
    np.testing.assert_array_equal(b, 2 * numbers(8))
    with pytest.raises(pipeline.UsageError, match="but it was compiled for"):
        launched.run(a, b, block=(3, 1, 1))
