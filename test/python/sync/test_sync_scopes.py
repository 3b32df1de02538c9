"""Scoped atomic operations: they race unless each scope includes the thread of the other."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest

import pipeline

# From the fewest threads on, as LLVM's NVPTX back end names them; two have a name of AMD's, too.
SCOPES = {
    "singlethread": 0,
    "block": 1,
    "workgroup": 1,
    "cluster": 2,
    "device": 3,
    "agent": 3,
    "": 4,
}
BLOCK, DEVICE = 1, 3

UPDATES = ("add", "exchange", "compare and swap")
OPS = ("load", "store", *UPDATES)


@dataclass(frozen=True)
class Place:
    """Where all threads meet: within a block, or of different ones."""

    name: str
    memory: str
    grid: int
    index: str
    needed: int
    """The narrowest scope that includes the other thread."""


PLACES = (
    Place("shared", "workgroup", 1, "%c0", BLOCK),
    Place("global", "global", 1, "%c0", BLOCK),
    Place("blocks", "global", 4, "%t", DEVICE),
)


def operation(op: str, scope: str, name: str, pointer: str, order: str = "monotonic") -> str:
    """Return an atomic operation of LLVM."""
    wide = f'syncscope("{scope}") ' if scope else ""
    match op:
        case "load":
            return (
                f"%{name} = llvm.load %p atomic {wide}{order} {{alignment = 4 : i64}} "
                f": {pointer} -> i32"
            )
        case "store":
            return (
                f"llvm.store %one, %p atomic {wide}{order} {{alignment = 4 : i64}} : i32, {pointer}"
            )
        case "add":
            return f"%{name} = llvm.atomicrmw add %p, %one {wide}{order} : {pointer}, i32"
        case "exchange":
            return f"%{name} = llvm.atomicrmw xchg %p, %one {wide}{order} : {pointer}, i32"
    return f"%{name} = llvm.cmpxchg %p, %one, %two {wide}{order} monotonic : {pointer}, i32"


def kernel(place: Place, name: str, *operations: str, attributes: str = "") -> str:
    """Return a kernel whose threads do one after the other at the same place."""
    is_shared = place.memory == "workgroup"
    pointer = f"!llvm.ptr<{3 if is_shared else 1}>"
    buffer = "memref<64xi32, #gpu.address_space<workgroup>>" if is_shared else "memref<64xi32>"
    argument = "" if is_shared else f"%x: {buffer}"
    shared = f"workgroup(%x: {buffer})" if is_shared else ""
    body = "\n    ".join(text.replace("POINTER", pointer) for text in operations)
    return f"""
  gpu.func @{name}({argument}) {shared} kernel attributes {{
      known_block_size = array<i32: 64, 1, 1>,
      known_grid_size = array<i32: {place.grid}, 1, 1>{attributes}}} {{
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %i = arith.index_cast {place.index} : index to i64
    %address = memref.extract_aligned_pointer_as_index %x : {buffer} -> index
    %bits = arith.index_cast %address : index to i64
    %base = llvm.inttoptr %bits : i64 to {pointer}
    %p = llvm.getelementptr %base[%i] : ({pointer}, i64) -> {pointer}, i32
    {body}
    gpu.return
  }}
"""


def check(*kernels: str) -> list[pipeline.KernelVerdict]:
    """Return what is known of kernels of one module."""
    return list(pipeline.check(f"gpu.module @m {{{''.join(kernels)}}}").kernels)


def is_race(place: Place, first: tuple[str, str], second: tuple[str, str]) -> bool:
    """Tell what PTX's model says: a pair of which one writes, not atomic for both threads."""
    pairs = ((first, first), (first, second), (second, second))
    return any(
        (one[0] != "load" or other[0] != "load")
        and min(SCOPES[one[1]], SCOPES[other[1]]) < place.needed
        for one, other in pairs
    )


@pytest.mark.parametrize("place", PLACES, ids=lambda p: p.name)
@pytest.mark.parametrize("ops", list(product(("load", "store", "add"), OPS)), ids="-".join)
def test_pairs_of_scopes(place: Place, ops: tuple[str, str]) -> None:
    pairs = [((ops[0], first), (ops[1], second)) for first, second in product(SCOPES, SCOPES)]
    kernels = [
        kernel(
            place,
            f"k{number}",
            operation(*first, "a", "POINTER"),
            operation(*second, "b", "POINTER"),
        )
        for number, (first, second) in enumerate(pairs)
    ]
    for (first, second), found in zip(pairs, check(*kernels), strict=True):
        if not is_race(place, first, second):
            assert found.verdict == "SAFE", (first, second, found.findings)
            continue
        assert found.verdict in ("RACE", "UNFIXABLE"), (first, second)
        certain = next(f for f in found.findings if f.verdict != "MAYBE")
        one, other = certain.threads
        assert place.grid > 1 or one != other


@pytest.mark.parametrize("kind", ["load", "store"])
@pytest.mark.parametrize("place", PLACES, ids=lambda p: p.name)
def test_plain_accesses_race_with_atomic_ones(place: Place, kind: str) -> None:
    plain = {
        "load": "%b = llvm.load %p : POINTER -> i32",
        "store": "llvm.store %one, %p : i32, POINTER",
    }[kind]
    (found,) = check(kernel(place, "k", operation("add", "", "a", "POINTER"), plain))
    assert found.verdict in ("RACE", "UNFIXABLE")


@pytest.mark.parametrize("scope", ["", "device", "block"])
@pytest.mark.parametrize("order", ["monotonic", "acq_rel"])
@pytest.mark.parametrize("where", ["global", "blocks"])
def test_memref_updates_are_of_the_system(where: str, order: str, scope: str) -> None:
    """`memref.atomic_rmw` becomes an `atomicrmw` without a scope."""
    place = next(p for p in PLACES if p.name == where)
    update = f"%b = memref.atomic_rmw addi %one, %x[{place.index}] : (i32, memref<64xi32>) -> i32"
    (found,) = check(kernel(place, "k", operation("add", scope, "a", "POINTER", order), update))
    is_safe = SCOPES[scope] >= place.needed
    assert found.verdict == ("SAFE" if is_safe else "UNFIXABLE"), found.findings


def test_other_widths_are_not_atomic() -> None:
    wide = "%b = llvm.atomicrmw add %p, %w monotonic : POINTER, i64"
    text = kernel(PLACES[1], "k", operation("add", "", "a", "POINTER"), wide)
    (found,) = check(text.replace("    %two =", "    %w = arith.constant 1 : i64\n    %two ="))
    assert found.verdict in ("RACE", "UNFIXABLE")


def test_volatile_accesses_are_relaxed() -> None:
    volatile = (
        "%b = llvm.load volatile %p : POINTER -> i32",
        "llvm.store volatile %one, %p : i32, POINTER",
    )
    for place in PLACES:
        (found,) = check(kernel(place, "k", *volatile))
        assert found.verdict == "SAFE"


@pytest.mark.parametrize(
    ("attributes", "verdict"),
    [("", "UNFIXABLE"), (", known_cluster_size = array<i32: 2, 1, 1>", "MAYBE")],
)
def test_clusters(attributes: str, verdict: str) -> None:
    """Without clusters each block is one of its own; with some, it is not decided."""
    add = operation("add", "cluster", "a", "POINTER")
    (found,) = check(kernel(PLACES[2], "k", add, attributes=attributes))
    assert found.verdict == verdict


@pytest.mark.parametrize(
    "fence",
    [
        "nvvm.memory.barrier <gpu>",
        'llvm.fence syncscope("device") acq_rel',
        "%f = llvm.load %p atomic acquire {alignment = 4 : i64} : POINTER -> i32",
    ],
)
def test_what_may_order_blocks_leaves_it_open(fence: str) -> None:
    add = operation("add", "block", "a", "POINTER")
    (found,) = check(kernel(PLACES[2], "k", add, fence))
    assert found.verdict == "MAYBE"


@pytest.mark.parametrize(
    "fence", ["nvvm.memory.barrier <cta>", 'llvm.fence syncscope("block") acq_rel']
)
def test_fences_of_the_block_order_no_other_blocks(fence: str) -> None:
    add = operation("add", "block", "a", "POINTER")
    (found,) = check(kernel(PLACES[2], "k", add, fence))
    assert found.verdict == "UNFIXABLE"
    (finding,) = [f for f in found.findings if f.verdict == "UNFIXABLE"]
    assert "give both atomic operations a scope that includes the other thread" in finding.message


NAMES = {**SCOPES, "wavefront": 0, "warp": 0, "agent-one-as": 0, "one-as": 0, "Block": 0}
VECTORS = (
    # What two threads do, and whether they do so with one width.
    ("half", "half", True),
    ("halves", "halves", True),
    ("halves", "half", True),
    ("halves", "word", False),
    ("half", "word", False),
    ("volatile words", "volatile word", True),
    ("volatile words", "volatile double word", False),
)
VECTOR_OPERATIONS = {
    "half": "%NAME = llvm.atomicrmw fadd %p, %h monotonic : POINTER, f16",
    "halves": "%NAME = llvm.atomicrmw fadd %p, %hs monotonic : POINTER, vector<2xf16>",
    "word": "%NAME = llvm.atomicrmw add %p, %one monotonic : POINTER, i32",
    "volatile words": "llvm.store volatile %ws, %p {alignment = 8 : i64} : vector<2xi32>, POINTER",
    "volatile word": "llvm.store volatile %one, %p {alignment = 4 : i64} : i32, POINTER",
    "volatile double word": "llvm.store volatile %w, %p {alignment = 8 : i64} : i64, POINTER",
}
VALUES = """%h = arith.constant 1.0 : f16
    %hs = arith.constant dense<1.0> : vector<2xf16>
    %ws = arith.constant dense<1> : vector<2xi32>
    %w = arith.constant 1 : i64"""


def emulate(text: str, grid: int, block: int) -> set[str]:
    """Return the kinds of what the emulator finds in a kernel of one argument."""
    module = pipeline.compile(
        f"gpu.module @m {{{text}}}", chip="sm_90", until="llvm", sync="keep", verify=False
    )
    report = module.kernels["k"].emulate(
        np.zeros(64, np.int32), grid=grid, block=block, options=pipeline.Options(check="races")
    )
    return {finding.kind for finding in report.findings}


@pytest.mark.parametrize("scope", NAMES)
@pytest.mark.parametrize("place", PLACES[1:], ids=lambda p: p.name)
def test_names_of_scopes_mean_the_same_to_the_emulator(place: Place, scope: str) -> None:
    text = kernel(place, "k", operation("add", scope, "a", "POINTER"))
    is_atomic = NAMES[scope] >= place.needed
    (found,) = check(text)
    assert found.verdict == ("SAFE" if is_atomic else "UNFIXABLE")
    assert bool(emulate(text, place.grid, 64)) != is_atomic


@pytest.mark.parametrize(("first", "second", "is_one_width"), VECTORS)
def test_vectors_are_accessed_by_their_elements(
    first: str, second: str, is_one_width: bool
) -> None:
    lines = [
        VECTOR_OPERATIONS[op].replace("%NAME", f"%r{n}") for n, op in enumerate((first, second))
    ]
    body = f"""{VALUES}
    %is_first = arith.cmpi eq, %t, %c0 : index
    scf.if %is_first {{
      {lines[0]}
    }} else {{
      {lines[1]}
    }}"""
    text = kernel(PLACES[1], "k", body)
    (found,) = check(text)
    assert (found.verdict == "SAFE") == is_one_width, found.findings
    assert bool(emulate(text, 1, 64)) != is_one_width
    for finding in found.findings:
        if finding.verdict == "UNFIXABLE":
            assert "make both atomic operations of the very same bytes" in finding.message
