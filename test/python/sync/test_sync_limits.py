"""Kernels that ask for more than there is time for: what is not looked at is not called safe."""

from __future__ import annotations

import pytest

import pipeline


def kernel(lines: list[str]) -> str:
    """Return a kernel of 8 blocks of 128 threads; `%i` is the place of a thread in all of them."""
    body = "\n".join(lines)
    return f"""
gpu.module @m {{
  gpu.func @k(%G: memref<?xindex>, %n: index) kernel attributes {{
      known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 8, 1, 1>}} {{
    %c1 = arith.constant 1 : index
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %row = arith.constant 65536 : index
    %begin = arith.muli %b, %row : index
    %i = arith.addi %begin, %t : index
    {body}
    gpu.return
  }}
}}
"""


def unrolled(count: int) -> list[str]:
    """Store to places that are all different."""
    lines = []
    for number in range(count):
        lines += [
            f"%k{number} = arith.constant {128 * number} : index",
            f"%i{number} = arith.addi %i, %k{number} : index",
            f"memref.store %t, %G[%i{number}] : memref<?xindex>",
        ]
    return lines


def scattered(count: int) -> list[str]:
    """Store to places that have nothing to do with each other, each with a stride of its own."""
    lines = []
    for number in range(count):
        lines += [
            f"%f{number} = arith.constant {64 + number} : index",
            f"%m{number} = arith.muli %b, %f{number} : index",
            f"%k{number} = arith.constant {10000 + 2000 * number} : index",
            f"%p{number} = arith.addi %m{number}, %k{number} : index",
            f"memref.store %b, %G[%p{number}] : memref<?xindex>",
        ]
    return lines


def constant(count: int) -> list[str]:
    """Let all blocks store to the same places; to the first one, all of them the same."""
    lines = []
    for number in range(count):
        lines += [
            f"%c_{number} = arith.constant {94 * number + number * number} : index",
            f"memref.store %{'b' if number else 'c1'}, %G[%c_{number}] : memref<?xindex>",
        ]
    return lines


def nested(depth: int) -> list[str]:
    """Store to a place that takes many divisions, each of which may round either way."""
    lines = ["%x0 = arith.subi %i, %n : index"]
    for number in range(depth):
        lines += [
            f"%k{number} = arith.constant {1000 - 7 * number} : index",
            f"%y{number} = arith.remsi %x{number}, %k{number} : index",
            f"%x{number + 1} = arith.addi %y{number}, %c1 : index",
        ]
    return [*lines, f"memref.store %t, %G[%x{depth}] : memref<?xindex>"]


@pytest.mark.parametrize(
    ("lines", "verdict"),
    [
        (unrolled(200), "SAFE"),
        (scattered(40), "SAFE"),
        (nested(12), "MAYBE"),
        ([*scattered(8), *constant(45)], "UNFIXABLE"),
        # Questions run out before the first pair, which does no harm.
        ([*scattered(110), *constant(140)], "MAYBE"),
    ],
)
def test_long_kernels(lines: list[str], verdict: str) -> None:
    """Each is decided, or called undecided."""
    (found,) = pipeline.check(kernel(lines)).kernels
    assert found.verdict == verdict


MEMORY = "memref<128xindex, #gpu.address_space<workgroup>>"


def reversing(body: str) -> str:
    """Return a kernel of one block, of which thread `%t` has `%u` opposite to it."""
    return f"""
gpu.module @m {{
  gpu.func @k(%G: memref<128xindex> {{llvm.noalias}}, %n: index) workgroup(%S: {MEMORY}) kernel
      attributes {{known_block_size = array<i32: 128, 1, 1>,
                   known_grid_size = array<i32: 1, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %last = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %last, %t : index
    {body}
    gpu.return
  }}
}}
"""


def reversal(number: int) -> str:
    """Write a place, and read it in another thread."""
    return f"""
      memref.store %t, %S[%t] : {MEMORY}
      %x{number} = memref.load %S[%u] : {MEMORY}
      memref.store %x{number}, %G[%t] : memref<128xindex>"""


def loops(count: int) -> str:
    """Return loops in a loop, with a reversal in each."""
    body = "\n".join(
        f"scf.for %i{number} = %c0 to %n step %c1 {{{reversal(number)}\n}}"
        for number in range(count)
    )
    return reversing(f"scf.for %i = %c0 to %n step %c1 {{\n{body}\n}}")


@pytest.mark.parametrize("count", [5, 60, 120])
def test_fewest_barriers_of_many_demands(count: int) -> None:
    """Each loop needs two; the search among thousands of demands for more finds no others."""
    text = pipeline.compile(loops(count), until="gpu", sync="insert").texts["gpu"]
    assert text.count("gpu.barrier") == 2 * count


def branches(count: int) -> str:
    """Let a kernel take each of `count` branches or not, with a reversal in each."""
    return reversing(
        "\n".join(
            f"""%k{number} = arith.constant {number} : index
            %is{number} = arith.cmpi slt, %k{number}, %n : index
            scf.if %is{number} {{{reversal(number)}
            }}"""
            for number in range(count)
        )
    )


@pytest.mark.parametrize("count", [5, 20, 60])
def test_fewest_barriers_of_many_branches(count: int) -> None:
    """Each needs one, and one lies between each two: any two branches may follow each other."""
    module = pipeline.compile(branches(count), until="gpu", sync="insert")
    assert module.texts["gpu"].count("gpu.barrier") == 2 * count - 1
    assert not module.diagnostics


def test_of_thousands_of_races_a_hundred_are_told() -> None:
    """Each load races with each store: the search ends early, and says that there may be more."""
    report = pipeline.check(reversing("\n".join(map(reversal, range(80)))))
    (found,) = report.kernels
    assert found.verdict == "RACE"
    assert [finding.verdict for finding in found.findings] == ["RACE"] * 100
    assert report.rendered.count("there may be more such pairs of accesses") == 1


def loaded(count: int) -> list[str]:
    """Store to places that are read from memory, of which nothing is known."""
    lines = []
    for number in range(count):
        lines += [
            f"%p{number} = memref.load %P[%i] : memref<?xindex>",
            f"memref.store %t, %G[%p{number}] : memref<?xindex>",
        ]
    return lines


@pytest.mark.parametrize("count", [5, 20])
def test_possible_races_hide_no_certain_one(count: int) -> None:
    """However many are possible, what all blocks do to one place decides the verdict."""
    certain = ["%q = arith.constant 3 : index", "memref.store %b, %Q[%q] : memref<?xindex>"]
    text = kernel([*loaded(count), *certain]).replace(
        "%G: memref<?xindex>",
        "%G: memref<?xindex> {llvm.noalias}, %P: memref<?xindex> {llvm.noalias}, "
        "%Q: memref<?xindex> {llvm.noalias}",
    )
    (found,) = pipeline.check(text).kernels
    assert found.verdict == "UNFIXABLE"
