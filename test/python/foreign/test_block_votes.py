"""Barriers with a reduction, and which lanes are active: verdicts and numbers."""

from __future__ import annotations

import numpy as np
import pytest

import pipeline
from foreign.llvm_text import emulate, make, verdict
from pipeline.runtime.emulator import Options

TILE = "@tile = internal addrspace(3) global [64 x i32] undef, align 4"
# What each thread has is read by its neighbour behind the barrier.
EXCHANGE = """
  %own = getelementptr [64 x i32], ptr addrspace(3) @tile, i32 0, i32 %t
  store i32 %t, ptr addrspace(3) %own
  %from = getelementptr i32, ptr %p, i32 %t
  %x = load i32, ptr %from
  %is = icmp sgt i32 %x, 3
  {barrier}
  %o = sub nsw i32 63, %t
  %other = getelementptr [64 x i32], ptr addrspace(3) @tile, i32 0, i32 %o
  %y = load i32, ptr addrspace(3) %other
  %z = add i32 %y, %r
  store i32 %z, ptr %from
  ret void
"""
COUNT = "%r = call i32 @llvm.nvvm.barrier.cta.red.popc.aligned.all(i32 0, i1 %is)"
TRUTH = """%b = call i1 @llvm.nvvm.barrier.cta.red.{}.aligned.all(i32 0, i1 %is)
  %r = zext i1 %b to i32"""
KINDS = {"popc": COUNT, "and": TRUTH.format("and"), "or": TRUTH.format("or")}


def _expect(kind: str, data: np.ndarray) -> np.ndarray:
    truth = data > 3
    number = {"popc": truth.sum(), "and": truth.all(), "or": truth.any()}[kind]
    return np.asarray(np.arange(64)[::-1] + int(number)).astype(np.int32)


@pytest.mark.parametrize("kind", KINDS)
def test_reductions_of_the_block_are_barriers(kind: str) -> None:
    text = make(EXCHANGE.format(barrier=KINDS[kind]), globals=TILE)
    assert verdict(text) == "SAFE"
    for data in (np.arange(64), np.full(64, 9), np.zeros(64)):
        data = data.astype(np.int32)
        wanted = _expect(kind, data)
        assert not emulate(text, data).errors
        np.testing.assert_array_equal(data, wanted)
    module = pipeline.compile(text, block=64, grid=1)
    assert len(module.cubin) > 0


def test_without_the_barrier_it_races() -> None:
    text = make(EXCHANGE.format(barrier="%r = zext i1 %is to i32"), globals=TILE)
    assert verdict(text) == "RACE"
    assert [it.kind for it in emulate(text, np.zeros(64, np.int32)).errors] == ["race.shared"]


def test_a_loop_that_all_threads_leave_together() -> None:
    body = """
  br label %loop
loop:
  %i = phi i32 [ 0, %0 ], [ %n, %loop ]
  %n = add i32 %i, 1
  %is = icmp slt i32 %n, %t
  %again = call i1 @llvm.nvvm.barrier.cta.red.or.aligned.all(i32 0, i1 %is)
  br i1 %again, label %loop, label %end
end:
  %to = getelementptr i32, ptr %p, i32 %t
  store i32 %n, ptr %to
  ret void
"""
    text = make(body)
    assert verdict(text) == "SAFE"
    data = np.zeros(64, np.int32)
    assert not emulate(text, data).errors
    assert (data == 63).all()
    # Each thread leaves on its own: not all come to the barrier.
    alone = make(body.replace("br i1 %again, label %loop", "br i1 %is, label %loop"))
    assert verdict(alone) == "DIVERGENT"
    assert emulate(alone, data).errors


def test_reductions_are_not_removed() -> None:
    text = make("""
  %is = icmp sgt i32 %t, 3
  %r = call i32 @llvm.nvvm.barrier.cta.red.popc.aligned.all(i32 0, i1 %is)
  %to = getelementptr i32, ptr %p, i32 %t
  store i32 %r, ptr %to
  ret void
""")
    assert "barrier.red" in pipeline.compile(text, block=64, grid=1, sync="minimize").ptx.replace(
        "bar.red", "barrier.red"
    )


# --- active lanes ---------------------------------------------------------------------------------

# The first of the lanes that are there adds for all of them.
AGGREGATED = (
    make("""
  %is = icmp ult i32 %t, 40
  br i1 %is, label %some, label %end
some:
  %mask = call i32 @llvm.nvvm.activemask()
  %low = sub i32 0, %mask
  %first = and i32 %mask, %low
  %lane = and i32 %t, 31
  %own = shl i32 1, %lane
  %leads = icmp eq i32 %own, %first
  br i1 %leads, label %add, label %end
add:
  %count = call i32 @llvm.ctpop.i32(i32 %mask)
  %old = atomicrmw add ptr %p, i32 %count monotonic
  br label %end
end:
  ret void
""")
    + "declare i32 @llvm.ctpop.i32(i32)\n"
)

ORDERS = ["forward", "reverse", *range(8)]


@pytest.mark.parametrize("order", ORDERS)
def test_whoever_is_there_is_counted_once(order: object) -> None:
    data = np.zeros(1, np.int32)
    options = Options(check="races", order=order)  # type: ignore[arg-type]
    assert not emulate(AGGREGATED, data, options=options).errors
    assert data[0] == 40


def test_active_lanes_access_no_memory() -> None:
    assert verdict(AGGREGATED) == "SAFE"


# Lanes that happen to be together are taken to be all there: right only if they are.
TRUSTED = make(
    """
  %own = getelementptr [64 x i32], ptr addrspace(3) @tile, i32 0, i32 %t
  store i32 %t, ptr addrspace(3) %own
  %mask = call i32 @llvm.nvvm.activemask()
  call void @llvm.nvvm.bar.warp.sync(i32 %mask)
  %o = xor i32 %t, 1
  %other = getelementptr [64 x i32], ptr addrspace(3) @tile, i32 0, i32 %o
  %y = load i32, ptr addrspace(3) %other
  %to = getelementptr i32, ptr %p, i32 %t
  store i32 %y, ptr %to
  ret void
""",
    globals=TILE,
)


def test_no_order_follows_from_being_active() -> None:
    text = TRUSTED
    whole = text.replace("sync(i32 %mask)", "sync(i32 -1)")
    assert verdict(whole) == "SAFE"
    assert verdict(text) != "SAFE"
    forward = Options(check="races", order="forward")
    assert not emulate(text, np.zeros(64, np.int32), options=forward).errors
    found = [
        bool(emulate(text, np.zeros(64, np.int32), options=Options(check="races", order=it)).errors)
        for it in range(4)
    ]
    assert all(found)
    assert not any(
        emulate(whole, np.zeros(64, np.int32), options=Options(check="races", order=it)).errors
        for it in range(4)
    )
