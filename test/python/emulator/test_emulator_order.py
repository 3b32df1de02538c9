"""Which accesses fences, atomic operations, exchanges and partial barriers order."""

from __future__ import annotations

from typing import Any, Literal

import pytest

import pipeline
from corpus import kernels_fences
from corpus.emulating import compile_kernel, emulate
from corpus.kernels import Case
from emulator.faults import kernel, numbers

Order = Literal["forward", "reverse", "seeded"]
by_order = pytest.mark.parametrize("order", ["forward", "reverse", "seeded"])
CASES = {case.name: case for case in kernels_fences.CASES}


def kinds(text: str, *values: Any, block: int = 64, **options: Any) -> set[str]:
    """Return what kinds of things are found in kernel `k`."""
    launched = pipeline.compile(text, until="llvm", sync="keep", verify=False).kernels["k"]
    wanted = pipeline.Options(**{"check": "all", "workers": 1, **options})
    return {
        finding.kind
        for finding in launched.emulate(*values, grid=1, block=block, options=wanted).findings
    }


def variant(name: str, old: str, new: str, order: Order, **options: Any) -> set[str]:
    """Return what is found in a kernel of fences in which one thing was replaced."""
    case: Case = CASES[name]
    assert old in case.text
    text = case.text.replace(old, new)
    edited = compile_kernel(text, case.chip, case.kernel)
    report = emulate(case, edited, check="races", order=order, **options).report
    return {finding.kind for finding in report.findings}


# --- fences ---------------------------------------------------------------------------------------


@by_order
@pytest.mark.parametrize("scope", ["cta", "gpu", "sys"])
def test_scope_of_fences(scope: str, order: Order) -> None:
    """A fence of the block's scope orders nothing for other blocks."""
    found = variant("last block", "barrier <gpu>", f"barrier <{scope}>", order, workers=1)
    assert found == ({"race.blocks"} if scope == "cta" else set())


@by_order
@pytest.mark.parametrize("scope", ["block", "device", ""])
def test_scope_of_atomics(scope: str, order: Order) -> None:
    """Within a block, every scope will do."""
    wide = f'syncscope("{scope}") ' if scope else ""
    for name in ("lock", "relaxed flag", "released flag"):
        assert variant(name, 'syncscope("block") ', wide, order) == set()


@by_order
def test_sequentially_consistent_operations_come_after_a_fence(order: Order) -> None:
    load = 'llvm.load %flag_at atomic syncscope("block") {} {{alignment = 4 : i64}} : !llvm.ptr<3>'
    for ordering, expected in (("seq_cst", set()), ("acquire", {"race.shared"})):
        found = variant(
            "relaxed flag",
            kernels_fences.FENCE,
            f"        %before = {load.format(ordering)} -> i32\n        ",
            order,
        )
        assert found == expected


PASSED_ON = """
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %first = arith.cmpi eq, %tx, %c0 : index
    %second = arith.cmpi eq, %tx, %c32 : index
    %third = arith.cmpi eq, %tx, %c64 : index
    scf.if %first {
      memref.store %zero, %flag[%c0] : memref<2xi32, #wg>
      memref.store %zero, %flag[%c1] : memref<2xi32, #wg>
    }
    gpu.barrier
    scf.if %first {
      %x = memref.load %a[%c0] : memref<1xi32>
      memref.store %x, %w[%c0] : memref<1xi32, #wg>
      nvvm.memory.barrier <cta>
      %r = memref.atomic_rmw assign %one, %flag[%c0] : (i32, memref<2xi32, #wg>) -> i32
    }
    scf.if %second {
      scf.while : () -> () {
        %seen = memref.atomic_rmw addi %zero, %flag[%c0] : (i32, memref<2xi32, #wg>) -> i32
        %waits = arith.cmpi eq, %seen, %zero : i32
        scf.condition(%waits)
      } do {
        scf.yield
      }
      nvvm.memory.barrier <cta> // passes on
      %r = memref.atomic_rmw assign %one, %flag[%c1] : (i32, memref<2xi32, #wg>) -> i32
    }
    scf.if %third {
      scf.while : () -> () {
        %seen = memref.atomic_rmw addi %zero, %flag[%c1] : (i32, memref<2xi32, #wg>) -> i32
        %waits = arith.cmpi eq, %seen, %zero : i32
        scf.condition(%waits)
      } do {
        scf.yield
      }
      nvvm.memory.barrier <cta>
      %x = memref.load %w[%c0] : memref<1xi32, #wg>
      memref.store %x, %b[%c0] : memref<1xi32>
    }
"""


@by_order
@pytest.mark.parametrize("passes_on", [True, False])
def test_what_a_fence_covers_is_passed_on(passes_on: bool, order: Order) -> None:
    body = PASSED_ON
    if not passes_on:
        body = body.replace("nvvm.memory.barrier <cta> // passes on", "")
    text = kernel(
        "%a: memref<1xi32>, %b: memref<1xi32>",
        body,
        buffers="%flag: memref<2xi32, #wg>, %w: memref<1xi32, #wg>",
    )
    a, b = numbers(1) + 41, numbers(1)
    found = kinds(text, a, b, block=96, order=order)
    assert found == (set() if passes_on else {"race.shared"})
    assert b[0] == 42


@pytest.mark.parametrize(
    "store",
    [
        'llvm.store %one, %flag_at atomic syncscope("block") monotonic {alignment = 4 : i64}',
        "llvm.store volatile %one, %flag_at {alignment = 4 : i64}",
    ],
)
def test_an_atomic_store_reads_nothing(store: str) -> None:
    text = kernel(
        "%a: memref<64xi32>",
        f"""
    %one = arith.constant 1 : i32
    %index = memref.extract_aligned_pointer_as_index %flag : memref<1xi32, #wg> -> index
    %bits = arith.index_cast %index : index to i64
    %flag_at = llvm.inttoptr %bits : i64 to !llvm.ptr<3>
    {store} : i32, !llvm.ptr<3>
    gpu.barrier
    %x = memref.load %flag[%c0] : memref<1xi32, #wg>
    memref.store %x, %a[%tx] : memref<64xi32>
""",
        buffers="%flag: memref<1xi32, #wg>",
    )
    a = numbers(64)
    assert kinds(text, a) == set()
    assert set(a) == {1}


# --- exchanges ------------------------------------------------------------------------------------

EXCHANGED = """
    %all = arith.constant -1 : i32
    %clamp = arith.constant 31 : i32
    %one = arith.constant 1 : i32
    %x = memref.load %a[%tx] : memref<32xi32>
    memref.store %x, %w[%tx] : TYPE
    nvvm.bar.warp.sync %all : i32
    %j = arith.subi %c31, %tx : index
    %y = memref.load %w[%j] : TYPE
    %of_x = nvvm.shfl.sync bfly %all, %x, %one, %clamp : i32 -> i32
    %of_y = nvvm.shfl.sync bfly %all, %y, %one, %clamp : i32 -> i32
    memref.store %STORED, %w[%tx] : TYPE
    memref.store %of_y, %a[%tx] : memref<32xi32>
"""


@by_order
@pytest.mark.parametrize("memory", ["shared", "global"])
@pytest.mark.parametrize("stored", ["of_y", "of_x", "x"])
def test_exchanges_are_told_apart(stored: str, memory: str, order: Order) -> None:
    """A store comes after the reads only if what it stores came out of their exchange."""
    is_shared = memory == "shared"
    buffer = "%w: memref<32xi32, #wg>" if is_shared else "%w: memref<32xi32>"
    body = EXCHANGED.replace("STORED", stored).replace("TYPE", buffer.removeprefix("%w: "))
    text = kernel(
        "%a: memref<32xi32>" if is_shared else f"%a: memref<32xi32>, {buffer}",
        body,
        buffers=buffer if is_shared else "",
    )
    values = [numbers(32)] if is_shared else [numbers(32), numbers(32)]
    found = kinds(text, *values, block=32, order=order)
    assert found == (set() if stored == "of_y" else {f"race.{memory}"})


# Each lane reads a row; warps store over the rows of all what they exchanged.
OF_WARPS = """
    %all = arith.constant -1 : i32
    %clamp = arith.constant 31 : i32
    %one = arith.constant 1 : i32
    %x = memref.load %a[%tx] : memref<64xi32>
    %y = nvvm.shfl.sync bfly %all, %x, %one, %clamp : i32 -> i32
    %other = arith.xori %tx, DISTANCE : index
    memref.store %y, %a[%other] : memref<64xi32>
"""


@by_order
@pytest.mark.parametrize("distance", ["%c31", "%c32"])
def test_exchanges_order_no_other_warp(distance: str, order: Order) -> None:
    text = kernel("%a: memref<64xi32>", OF_WARPS.replace("DISTANCE", distance))
    found = kinds(text, numbers(64), order=order)
    assert found == (set() if distance == "%c31" else {"race.global"})


# The second of three readers reads once more than goes into the exchange.
READ_AGAIN = """
    %all = arith.constant -1 : i32
    %clamp = arith.constant 31 : i32
    %one = arith.constant 1 : i32
    %x = memref.load %a[%c0] : memref<32xi32>
    %y = nvvm.shfl.sync bfly %all, %x, %one, %clamp : i32 -> i32
    %is_late = arith.cmpi eq, %tx, %c2 : index
    scf.if %is_late {
      %again = memref.load %a[%c0] : memref<32xi32>
      memref.store %again, %b[%c2] : memref<32xi32>
    }
    %is_writer = arith.cmpi eq, %tx, %c31 : index
    scf.if %is_writer {
      memref.store %y, %a[%c0] : memref<32xi32>
    }
"""


@by_order
@pytest.mark.parametrize("late", ["%c2", "%c64"])
def test_reads_after_an_exchange(late: str, order: Order) -> None:
    """One lane reads again, after the exchange: that is at odds; 64 is no lane."""
    text = kernel(
        "%a: memref<32xi32>, %b: memref<32xi32>",
        READ_AGAIN.replace("eq, %tx, %c2", f"eq, %tx, {late}"),
    )
    found = kinds(text, numbers(32), numbers(32), block=32, order=order)
    assert found == ({"race.global"} if late == "%c2" else set())


# What an iteration stores was exchanged in the one before; the exchange in between is of something
# else.
STORED_LATER = """
    %all = arith.constant -1 : i32
    %clamp = arith.constant 31 : i32
    %one = arith.constant 1 : i32
    %other = arith.subi %c31, %tx : index
    %z = arith.index_cast %tx : index to i32
    %last = scf.for %k = %c0 to %c3 step %c1 iter_args(%before = %z) -> (i32) {
      %row = arith.remui %k, %c2 : index
      %x = memref.load %a[%row, %tx] : memref<2x32xi32>
      %y = nvvm.shfl.sync bfly %all, EXCHANGED, %one, %clamp : i32 -> i32
      %sum = arith.addi %before, %y : i32
      memref.store %STORED, %a[%row, %other] : memref<2x32xi32>
      nvvm.bar.warp.sync %all : i32
      %next = nvvm.shfl.sync bfly %all, %x, %one, %clamp : i32 -> i32
      scf.yield %next : i32
    }
    memref.store %last, %b[%tx] : memref<32xi32>
"""


@by_order
@pytest.mark.parametrize(
    ("exchanged", "stored"), [("%x", "sum"), ("%x", "before"), ("%z", "sum"), ("%z", "before")]
)
def test_exchanges_of_the_iteration_before(exchanged: str, stored: str, order: Order) -> None:
    """A value of the iteration before is there before this iteration's are read."""
    text = kernel(
        "%a: memref<2x32xi32>, %b: memref<32xi32>",
        STORED_LATER.replace("EXCHANGED", exchanged).replace("STORED", stored),
    )
    found = kinds(text, numbers(2, 32), numbers(32), block=32, order=order)
    assert found == (set() if (exchanged, stored) == ("%x", "sum") else {"race.global"})


# --- partial barriers -----------------------------------------------------------------------------

READERS = """
    %one = arith.constant 1 : i32
    %threads = arith.constant 96 : i32
    %warp = arith.divui %tx, %c32 : index
    %x = memref.load %a[%c0] : memref<1xi32>
    %is_third = arith.cmpi eq, %warp, %c2 : index
    scf.if %is_third {
    } else {
      nvvm.barrier id = %one number_of_threads = %threads
    }
    %is_last = arith.cmpi eq, %tx, %c96 : index
    scf.if %is_last {
      memref.store %one, %a[%c0] : memref<1xi32>
    }
    memref.store %x, %b[%tx] : memref<128xi32>
"""


@by_order
@pytest.mark.parametrize("skips", [True, False])
def test_all_readers_are_remembered(skips: bool, order: Order) -> None:
    """Two warps read and come to the barrier before the writer; a third reads and does not."""
    body = READERS
    if not skips:
        body = body.replace("constant 96 : i32", "constant 128 : i32")
        body = body.replace("cmpi eq, %warp", "cmpi ugt, %warp").replace("%c2 ", "%c4 ")
    text = kernel("%a: memref<1xi32>, %b: memref<128xi32>", body)
    found = kinds(text, numbers(1), numbers(128), block=128, order=order)
    assert found == ({"race.global"} if skips else set())


# 256 threads read; four warps of them meet; one of these writes.
MANY_READERS = """
    %threads = arith.constant 128 : i32
    %one = arith.constant 1 : i32
    %x = memref.load %a[%c0] : memref<1xi32>
    memref.store %x, %b[%tx] : memref<256xi32>
    %is_low = arith.cmpi ult, %tx, %c128 : index
    scf.if %is_low {
      nvvm.barrier id = %one number_of_threads = %threads
      %is_first = arith.cmpi eq, %tx, %c0 : index
      scf.if %is_first {
        memref.store %one, %a[%c0] : memref<1xi32>
      }
    }
"""

# Three warps add; the fourth meets two of them, and reads.
MANY_WRITERS = """
    %threads = arith.constant 96 : i32
    %one = arith.constant 1 : i32
    %warp = arith.divui %tx, %c32 : index
    %adds = arith.cmpi ult, %warp, %c3 : index
    scf.if %adds {
      %old = memref.atomic_rmw addi %one, %a[%c0] : (i32, memref<1xi32>) -> i32
    }
    %meets = arith.cmpi ne, %warp, %c2 : index
    scf.if %meets {
      nvvm.barrier id = %one number_of_threads = %threads
      %reads = arith.cmpi eq, %warp, %c3 : index
      scf.if %reads {
        %x = memref.load %a[%c0] : memref<1xi32>
        memref.store %x, %b[%tx] : memref<256xi32>
      }
    }
"""


@by_order
@pytest.mark.parametrize(("body", "block"), [(MANY_READERS, 256), (MANY_WRITERS, 128)])
def test_nobody_is_forgotten(body: str, block: int, order: Order) -> None:
    text = kernel("%a: memref<1xi32>, %b: memref<256xi32>", body)
    assert kinds(text, numbers(1), numbers(256), block=block, order=order) == {"race.global"}


# --- between blocks -------------------------------------------------------------------------------

# The last block's first thread knows what all have left, and tells another one of its block.
TOLD = """
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %threads = arith.constant 64 : i32
    %index = memref.extract_aligned_pointer_as_index %flag : memref<1xi32, #wg> -> index
    %bits = arith.index_cast %index : index to i64
    %flag_at = llvm.inttoptr %bits : i64 to !llvm.ptr<3>
    %is_first = arith.cmpi eq, %tx, %c0 : index
    scf.if %is_first {
      memref.store %zero, %flag[%c0] : memref<1xi32, #wg>
    }
    gpu.barrier
    %puts = arith.cmpi ult, %tx, %c32 : index
    scf.if %puts {
      scf.if %is_first {
        %x = arith.index_cast %bx : index to i32
        memref.store %x, %parts[%bx] : memref<5xi32>
        nvvm.memory.barrier <gpu>
        %old = memref.atomic_rmw addi %one, %count[%c0] : (i32, memref<1xi32>) -> i32
        nvvm.memory.barrier <gpu>
        %next = arith.addi %old, %one : i32
        memref.store %next, %arrived[%c0] : memref<1xi32, #wg>
      }
      PUT
    } else {
      GET
      %is_reader = arith.cmpi eq, %tx, %c32 : index
      scf.if %is_reader {
        %seen = memref.load %arrived[%c0] : memref<1xi32, #wg>
        %blocks = arith.index_cast %gx : index to i32
        %is_last = arith.cmpi eq, %seen, %blocks : i32
        scf.if %is_last {
          %total = scf.for %i = %c0 to %gx step %c1 iter_args(%sum = %zero) -> i32 {
            %part = memref.load %parts[%i] : memref<5xi32>
            %new = arith.addi %sum, %part : i32
            scf.yield %new : i32
          }
          memref.store %total, %total_of_all[%c0] : memref<1xi32>
        }
      }
    }
"""
FLAG = (
    """
      scf.if %is_first {
        nvvm.memory.barrier <cta>
        llvm.store volatile %one, %flag_at {alignment = 4 : i64} : i32, !llvm.ptr<3>
      }
""",
    """
      scf.while : () -> () {
        %is_set = llvm.load volatile %flag_at {alignment = 4 : i64} : !llvm.ptr<3> -> i32
        %waits = arith.cmpi eq, %is_set, %zero : i32
        scf.condition(%waits)
      } do {
        scf.yield
      }
      nvvm.memory.barrier <cta>
""",
)
ARRIVAL = (
    "nvvm.barrier.arrive id = %one number_of_threads = %threads",
    "nvvm.barrier id = %one number_of_threads = %threads",
)


@by_order
@pytest.mark.parametrize("tells", [True, False])
@pytest.mark.parametrize("way", [FLAG, ARRIVAL], ids=["flag", "arrival"])
def test_what_other_blocks_did_is_told_within_a_block(
    way: tuple[str, str], tells: bool, order: Order
) -> None:
    """A fence of the block's scope is enough for that; but not for what comes from outside."""
    body = TOLD.replace("PUT", way[0]).replace("GET", way[1])
    if not tells:
        body = body.replace("barrier <gpu>", "barrier <cta>")
    text = kernel(
        "%parts: memref<5xi32>, %count: memref<1xi32>, %total_of_all: memref<1xi32>",
        body,
        buffers="%arrived: memref<1xi32, #wg>, %flag: memref<1xi32, #wg>",
    )
    count, total = numbers(1) - 1, numbers(1)
    launched = pipeline.compile(text, until="llvm", sync="keep", verify=False).kernels["k"]
    options = pipeline.Options(check="races", order=order, workers=1)
    report = launched.emulate(numbers(5), count, total, grid=5, block=64, options=options)
    assert {finding.kind for finding in report.findings} == (set() if tells else {"race.blocks"})
    assert total[0] == 0 + 1 + 2 + 3 + 4
