"""What hosts do with memory of the device, tokens, and prints: steps of the plan, in order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pipeline
from launch_plan.host_programs import V8, host, launch, numbers

V2 = "memref<2xi32>"
PRINT = "func.func private @printMemrefI32(memref<*xi32>) attributes {llvm.emit_c_interface}\n"
TO_DEVICE = f"""\
  %t0 = gpu.wait async
  %d, %t1 = gpu.alloc async [%t0] () : {V8}
  %t2 = gpu.memcpy async [%t1] %d, %a : {V8}, {V8}
"""


def run(body: str, arguments: str, *values: Any, results: str = "", more: str = "") -> Any:
    module = host(body, arguments, results, more=more)
    assert module.plan.functions["main"].refusal == ""
    return module.run(*values, check="races")


def refusal(body: str, arguments: str = f"%a: {V8}", *, more: str = "") -> str:
    module = host(body, arguments, more=more)
    function = module.plan.functions["main"]
    return f"{function.location.line}: {function.refusal}"


def test_memory_of_the_device() -> None:
    a = numbers(8)
    expected = a + 3
    run(
        f"""{TO_DEVICE}  gpu.wait [%t2]
{launch("%d", "%i3")}
  %t3 = gpu.wait async
  %t4 = gpu.memcpy async [%t3] %a, %d : {V8}, {V8}
  %t5 = gpu.dealloc async [%t4] %d : {V8}
  gpu.wait [%t5]
  return
""",
        f"%a: {V8}",
        a,
    )
    np.testing.assert_array_equal(a, expected)


def test_without_tokens() -> None:
    """Sizes that only the launch knows, numbers put everywhere, and memory that is copied."""
    a = numbers(8)
    run(
        f"""  %d = gpu.alloc (%n) : memref<?xi32>
  gpu.memset %d, %i3 : memref<?xi32>, i32
{launch("%d", "%i3", "memref<?xi32>")}
  %e = memref.cast %d : memref<?xi32> to {V8}
  gpu.memcpy %a, %e : {V8}, {V8}
  gpu.dealloc %d : memref<?xi32>
  return
""",
        f"%a: {V8}, %n: index",
        a,
        8,
    )
    np.testing.assert_array_equal(a, [6] * 8)


def test_launch_with_tokens() -> None:
    a = numbers(8)
    expected = 2 * a + 6
    kernels = """
module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @twice(%m: memref<8xi32>, %n: i32) kernel {
    %t = gpu.thread_id x
    %x = memref.load %m[%t] : memref<8xi32>
    %y = arith.addi %x, %x : i32
    %z = arith.addi %y, %n : i32
    memref.store %z, %m[%t] : memref<8xi32>
    gpu.return
  }
}
func.func @main(%a: memref<8xi32>) {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %i6 = arith.constant 6 : i32
  %t0 = gpu.wait async
  %t1 = gpu.launch_func async [%t0] @kernels::@twice blocks in (%c1, %c1, %c1)
      threads in (%c8, %c1, %c1) args(%a : memref<8xi32>, %i6 : i32)
  gpu.wait [%t1]
  return
}
}
"""
    pipeline.compile(kernels, schedule="none").run(a, check="races")
    np.testing.assert_array_equal(a, expected)


def test_registered_memory_is_seen() -> None:
    a = numbers(8)
    expected = a + 3
    run(
        f"""  %u = memref.cast %a : {V8} to memref<*xi32>
  gpu.host_register %u : memref<*xi32>
{launch("%a", "%i3")}
  gpu.host_unregister %u : memref<*xi32>
  return
""",
        f"%a: {V8}",
        a,
    )
    np.testing.assert_array_equal(a, expected)


def test_prints(capsys: pytest.CaptureFixture[str]) -> None:
    a = np.arange(1, 9, dtype=np.int32)
    run(
        f"""{launch("%a", "%i3")}
  %u = memref.cast %a : {V8} to memref<*xi32>
  call @printMemrefI32(%u) : (memref<*xi32>) -> ()
  %v = vector.transfer_read %a[%c2], %i3 : {V8}, vector<4xi32>
  vector.print %v : vector<4xi32>
  %w = vector.transfer_read %m[%c0, %c1], %i3 : memref<2x2xi32>, vector<2x2xi32>
  vector.print %w : vector<2x2xi32>
  vector.print str "rows: "
  vector.print %i3 : i32 punctuation <comma>
  vector.print %real : f32
  vector.print punctuation <newline>
  return
""",
        f"%a: {V8}, %m: memref<2x2xi32>, %real: f32",
        a,
        np.asarray([[1, 2], [4, 5]], np.int32),
        1.5,
        more=PRINT,
    )
    first, *lines = capsys.readouterr().out.splitlines()
    assert first.startswith("Unranked Memref base@ = 0x")
    assert first.endswith(" rank = 1 offset = 0 sizes = [8] strides = [1] data = ")
    assert lines == [
        "[4,  5,  6,  7,  8,  9,  10,  11]",
        "( 6, 7, 8, 9 )",
        "( ( 2, 3 ), ( 5, 3 ) )",
        "rows: ",
        "3, 1.5",
        "",
    ]


def test_functions_that_are_elsewhere() -> None:
    text = refusal(
        f"  call @other(%a) : ({V8}) -> ()\n{launch('%a', '%i3')}  return\n",
        more=f"func.func private @other({V8})",
    )
    assert text == (
        "8: 'func.call' op is of '@other', which is defined elsewhere: a launch plan cannot "
        "express it; do what it does before or behind the call of this function"
    )


def test_vectors_that_are_not_read_in_order() -> None:
    read = (
        "  %v = vector.transfer_read %m[%c0, %c0], %i3 {permutation_map = affine_map<(i, j) -> "
        "(j, i)>, in_bounds = [true, true]} : memref<2x2xi32>, vector<2x2xi32>\n"
        "  vector.print %v : vector<2x2xi32>\n"
    )
    text = refusal(
        f"{read}{launch('%a', '%i3')}  return\n", arguments=f"%a: {V8}, %m: memref<2x2xi32>"
    )
    assert text == (
        "8: 'vector.transfer_read' op on the host reads elements in another order than they have "
        "in memory, by a mask, or of another type, which a launch plan cannot express; return the "
        "memory, and look at it there"
    )


# Tokens that fork.

CONFLICT = (
    "{line}: '{second}' op touches memory that the asynchronous '{first}' op in line {at} touches, "
    "too, and neither waits for the other; let one depend on the other's token, or wait for it by "
    "gpu.wait"
)


@pytest.mark.parametrize(
    ("body", "line", "first", "at", "second"),
    [
        # Two that write: neither depends on the other.
        (
            f"{TO_DEVICE}  %t3 = gpu.memset async [%t1] %d, %i3 : {V8}, i32\n"
            "  gpu.wait [%t2, %t3]\n",
            11,
            *("gpu.memcpy", 10, "gpu.memset"),
        ),
        # The host reads before it has waited.
        (
            f"{TO_DEVICE}  %e = memref.load %d[%c0] : {V8}\n  memref.store %e, %a[%c1] : {V8}\n",
            11,
            *("gpu.memcpy", 10, "memref.load"),
        ),
        # It waits for another one.
        (
            f"{TO_DEVICE}  gpu.wait [%t1]\n  memref.store %i3, %a[%c0] : {V8}\n",
            12,
            *("gpu.memcpy", 10, "memref.store"),
        ),
        # One iteration does not wait for the one before.
        (
            f"""{TO_DEVICE}  gpu.wait [%t2]
  scf.for %i = %c0 to %c8 step %c1 {{
    %t4 = gpu.wait async
    %t5 = gpu.memcpy async [%t4] %a, %d : {V8}, {V8}
  }}
""",
            14,
            *("gpu.memcpy", 14, "gpu.memcpy"),
        ),
        # A view is of the same memory.
        (
            f"""{TO_DEVICE}  %s = memref.subview %d[0] [2] [1] : {V8} to memref<2xi32, strided<[1]>>
  %t3 = gpu.memset async [%t1] %s, %i3 : memref<2xi32, strided<[1]>>, i32
""",
            12,
            *("gpu.memcpy", 10, "gpu.memset"),
        ),
    ],
)
def test_forks_that_change_the_result(
    body: str, line: int, first: str, at: int, second: str
) -> None:
    text = refusal(f"{body}{launch('%a', '%i3')}  return\n")
    assert text == CONFLICT.format(line=line, first=first, at=at, second=second)


def test_forks_that_do_not() -> None:
    """Two copies of memory that is only read, to memory of their own."""
    a, b = numbers(8), np.zeros(8, np.int32)
    expected = 2 * a + 3
    run(
        f"""{TO_DEVICE}
  %e, %t3 = gpu.alloc async [%t0] () : {V8}
  %t4 = gpu.memcpy async [%t3] %e, %a : {V8}, {V8}
  %t5 = gpu.wait async [%t2, %t4]
  gpu.wait [%t5]
{launch("%d", "%i3")}
  scf.for %i = %c0 to %c8 step %c1 {{
    %x = memref.load %d[%i] : {V8}
    %y = memref.load %e[%i] : {V8}
    %z = arith.addi %x, %y : i32
    memref.store %z, %b[%i] : {V8}
  }}
  return
""",
        f"%a: {V8}, %b: {V8}",
        a,
        b,
    )
    np.testing.assert_array_equal(b, expected)


@pytest.mark.parametrize("seed", range(12))
def test_random_tokens(seed: int) -> None:
    """Copies and fills of a few buffers: refused if, and only if, two of them have no order."""
    rng = np.random.default_rng(seed)
    arguments = ", ".join(f"%m{number}: {V2}" for number in range(3))
    body = "  %t = gpu.wait async\n"
    before: list[set[int]] = []
    touches: list[tuple[int, set[int]]] = []
    given = [rng.integers(1, 9, 2, dtype=np.int32) for _ in range(3)]
    expected = [array.copy() for array in given]
    is_ordered = True
    for number in range(5):
        target, source = (int(buffer) for buffer in rng.integers(0, 3, 2))
        depends = [other for other in range(number) if rng.integers(3) or seed % 3 == 0]
        tokens = ", ".join(["%t", *(f"%t{other}" for other in depends)])
        before.append({*depends}.union(*(before[other] for other in depends)))
        if target == source:
            body += f"  %t{number} = gpu.memset async [{tokens}] %m{target}, %i3 : {V2}, i32\n"
            expected[target][:] = 3
            touches.append((target, set()))
        else:
            ends = f"%m{target}, %m{source}"
            body += f"  %t{number} = gpu.memcpy async [{tokens}] {ends} : {V2}, {V2}\n"
            expected[target][:] = expected[source]
            touches.append((target, {source}))
        for other in range(number):
            written, read = touches[other]
            clashes = written == target or written in touches[-1][1] or target in read
            is_ordered &= not clashes or other in before[-1]
    tokens = ", ".join(f"%t{number}" for number in range(5))
    body += f"  gpu.wait [{tokens}]\n{launch('%m0', '%i3', V2, '%c2')}  return\n"
    module = host(body, arguments)
    assert (module.plan.functions["main"].refusal == "") == is_ordered
    if is_ordered:
        module.run(*given, check="races")
        expected[0] += 3
        for array, wanted in zip(given, expected, strict=True):
            np.testing.assert_array_equal(array, wanted)


# Memory of the program that it writes, branches, and transpositions.


def test_globals_that_are_written() -> None:
    """A number that each call of a function changes; each run begins with what the program says."""
    module = host(
        f"""  %first = func.call @next() : () -> i32
  %second = func.call @next() : () -> i32
  %g = memref.get_global @room : memref<8xi32>
  memref.copy %a, %g : {V8} to memref<8xi32>
{launch("%g", "%second")}
  memref.copy %g, %a : memref<8xi32> to {V8}
  return %first : i32
""",
        f"%a: {V8}",
        "i32",
        more="""\
memref.global "private" @seed : memref<i32> = dense<40>
memref.global "private" @room : memref<8xi32> = uninitialized
func.func private @next() -> i32 {
  %c2 = arith.constant 2 : i32
  %s = memref.get_global @seed : memref<i32>
  %x = memref.load %s[] : memref<i32>
  %y = arith.addi %x, %c2 : i32
  memref.store %y, %s[] : memref<i32>
  return %y : i32
}""",
    )
    for _ in range(2):
        a = numbers(8)
        expected = a + 44
        assert module.run(a, check="races", entry="main") == 42
        np.testing.assert_array_equal(a, expected)


def test_globals_that_are_elsewhere() -> None:
    text = refusal(
        f"  %g = memref.get_global @other : {V8}\n  memref.copy %g, %a : {V8} to {V8}\n"
        f"{launch('%a', '%i3')}  return\n",
        more=f'memref.global "private" @other : {V8}',
    )
    assert text == (
        "8: 'memref.get_global' op is of memory that is defined elsewhere, or in a memory space, "
        "which a launch plan cannot express; pass it as an argument"
    )


@pytest.mark.parametrize("number", [0, 2, 5])
def test_branches_between_blocks(number: int) -> None:
    """A loop that is left in two ways, and a switch, as front ends of C leave them."""
    a = numbers(8)
    expected = a.copy()
    for _ in range(min(number, 3)):
        expected += 3
    if number >= 3:
        expected[0] = 77
    result = run(
        f"""  %i77 = arith.constant 77 : i32
  cf.br ^loop(%c0 : index)
^loop(%i: index):
  %more = arith.cmpi slt, %i, %n : index
  cf.cond_br %more, ^body, ^end(%i : index)
^body:
  %three = arith.index_cast %i3 : i32 to index
  %early = arith.cmpi eq, %i, %three : index
  cf.cond_br %early, ^break, ^go
^go:
{launch("%a", "%i3")}
  %j = arith.addi %i, %c1 : index
  cf.br ^loop(%j : index)
^break:
  memref.store %i77, %a[%c0] : {V8}
  cf.br ^end(%i : index)
^end(%k: index):
  %small = arith.index_cast %k : index to i32
  cf.switch %small : i32, [default: ^out(%c8 : index), 0: ^out(%c1 : index), 2: ^out(%c2 : index)]
^out(%r: index):
  return %r : index
""",
        f"%a: {V8}, %n: index",
        a,
        number,
        results="index",
    )
    np.testing.assert_array_equal(a, expected)
    assert result == {0: 1, 2: 2}.get(number, 8)


def test_transpositions() -> None:
    kind = "memref<4x2xi32, strided<[1, 4]>>"
    a = numbers(2, 4)
    expected = a.copy()
    expected[:, 1] += 3
    run(
        f"""  %t = memref.transpose %a (i, j) -> (j, i) : memref<2x4xi32> to {kind}
  %s = memref.subview %t[1, 0] [1, 2] [1, 1] : {kind} to memref<2xi32, strided<[4], offset: 1>>
{launch("%s", "%i3", "memref<2xi32, strided<[4], offset: 1>>", "%c2")}
  return
""",
        "%a: memref<2x4xi32>",
        a,
    )
    np.testing.assert_array_equal(a, expected)
