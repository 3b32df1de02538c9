"""Whether two threads of a grid meet in global memory, by counting through all of them."""

from __future__ import annotations

import json
import re

import pytest

import pipeline
from certificates.claims import Checked, check, find_block
from certificates.effects import Effects
from certificates.graph import Graph
from certificates.grid import Grid, NotCovered
from certificates.reading import read
from linalg.linalg_programs import PROGRAMS

KERNEL = """
define ptx_kernel void @main(ptr %a, ptr %b, i64 %n) #0 {
  %x = tail call range(i32 0, 64) i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %y = tail call RANGE i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %tid = zext nneg i32 %x to i64
  %block = zext nneg i32 %y to i64
  %first = mul nuw nsw i64 %block, 64
  %i = add nuw nsw i64 %first, %tid
  %own = getelementptr i32, ptr %a, i64 %i
  BODY
  ret void
}
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
attributes #0 = { nounwind "nvvm.reqntid"="64,1,1" }
"""


def find(body: str, blocks: str = "range(i32 0, 3)") -> int | str:
    """Return the blocks of which no threads meet, or why that is not known."""
    program = read(KERNEL.replace("BODY", body).replace("RANGE", blocks))
    kernel = program.kernels["main"]
    x, y, z = find_block(program, kernel)
    try:
        return Grid(kernel, Graph(kernel), Effects(program, kernel), (x, y, z)).check()
    except NotCovered as reason:
        return str(reason)


STORE = "store i32 %x, ptr %own, align 4"
NEXT = "%next = getelementptr i8, ptr %own, i64 4"
FORK = "br i1 %is, label %then, label %end\nthen:\n  {}\n  br label %end\nend:"
LOOP = """br label %loop
loop:
  %k = phi i64 [ START, %0 ], [ %more, %loop ]
  %place = add nuw nsw i64 %k, OFFSET
  %at = getelementptr i32, ptr %a, i64 %place
  store i32 %x, ptr %at, align 4
  %more = add nuw nsw i64 %k, STEP
  %again = icmp ult i64 %more, END
  br i1 %again, label %loop, label %end
end:"""


def loop(start: str = "0", offset: str = "%i", step: int = 192, end: str = "768") -> str:
    return (LOOP.replace("START", start).replace("OFFSET", offset).replace("STEP", str(step))
            .replace("END", end))  # fmt: skip


@pytest.mark.parametrize(
    "body",
    [
        "",
        STORE,
        f"%v = load i32, ptr %own, align 4\n  {STORE}",
        f"{NEXT}\n  %v = load i32, ptr %b, align 4\n  {STORE}",
        f"{STORE}\n  %v = getelementptr i8, ptr %own, i64 768\n  store i32 0, ptr %v, align 4",
        f"%is = icmp ult i64 %i, 100\n  {FORK.format(STORE)}",
        f"%is = icmp ult i64 %i, %n\n  {FORK.format(STORE)}",
        # Only one thread writes to the first place.
        f"%is = icmp eq i64 %i, 0\n  {FORK.format('store i32 0, ptr %a, align 4')}",
        loop(),
        loop(start="%i", offset="0"),
        loop(start="%tid", offset="%first", step=64, end="64"),
        loop(start="%tid", offset="%first", step=64, end="%i"),  # two rounds of the last block
        f"%end.0 = add i64 %first, 64\n  {loop(start='%i', offset='0', step=64, end='%end.0')}",
        "%own.p = alloca i32, align 4\n  store i32 0, ptr %own.p, align 4",
        # Barriers order what a block reads of itself.
        f"{STORE}\n  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n"
        "  %u = xor i64 %i, 63\n  %o = getelementptr i32, ptr %a, i64 %u\n"
        "  %v = load i32, ptr %o, align 4",
    ],
)
def test_threads_that_do_not_meet(body: str) -> None:
    assert find(body) == 3


MEETS = "of the grid may touch the same byte of %a"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("store i32 %x, ptr %a, align 4", MEETS),
        (f"{NEXT}\n  %v = load i32, ptr %next, align 4\n  {STORE}", MEETS),
        (f"{STORE}\n  {NEXT}\n  store i32 %x, ptr %next, align 4", MEETS),
        (f"{STORE}\n  {NEXT}\n  store i8 0, ptr %next, align 1", MEETS),
        ("store i64 0, ptr %own, align 4", MEETS),
        ("%o = getelementptr i32, ptr %a, i64 %tid\n  store i32 0, ptr %o, align 4", MEETS),
        (f"%is = icmp ult i64 %i, 2\n  {FORK.format('store i32 0, ptr %a, align 4')}", MEETS),
        # What is done where a condition does not hold, and behind where ways meet.
        (f"%is = icmp eq i64 %i, 0\n  {FORK.format('')}\n  store i32 0, ptr %a, align 4", MEETS),
        ("%is = icmp ne i64 %i, 0\n  " + FORK.format("store i32 0, ptr %a, align 4"), MEETS),
        (f"%is = icmp eq i64 %n, 0\n  {FORK.format('store i32 0, ptr %a, align 4')}", MEETS),
        (loop(step=64), MEETS),
        (loop(start="%tid", offset="%first", step=64, end="65"), MEETS),
        (loop(start="%tid", offset="%first", step=64, end="129"), MEETS),
        (loop(end="%n"), "how often a loop goes round is not known"),
        (loop(step=1, end="100000"), "loops go round more often"),
        (loop(offset="%n"), "its address is not known"),
        ("%v = load i64, ptr %b, align 8\n  %o = getelementptr i8, ptr %a, i64 %v\n"
         "  store i8 0, ptr %o, align 1", "its address is not known"),
        ("%v = ptrtoint ptr %a to i64\n  %u = mul i64 %i, 4\n  %w = add i64 %v, %u\n"
         "  %o = getelementptr i8, ptr %a, i64 %w\n  store i32 0, ptr %o, align 4",
         "its address is not known"),
        ("%v = select i1 true, ptr %a, ptr %b\n  store i8 0, ptr %v, align 1", "points into"),
        ("store atomic i32 0, ptr %own monotonic, align 4", "atomic"),
        # Blocks are not ordered by barriers of their own.
        (f"{STORE}\n  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n"
         "  %o = getelementptr i32, ptr %a, i64 %tid\n  %v = load i32, ptr %o, align 4", MEETS),
        # Nor is what is not behind one.
        (f"{STORE}\n  %u = xor i64 %i, 63\n  %o = getelementptr i32, ptr %a, i64 %u\n"
         "  %v = load i32, ptr %o, align 4", MEETS),
    ],
)  # fmt: skip
def test_threads_that_may_meet_are_not_covered(body: str, reason: str) -> None:
    assert reason in str(find(body))


def test_blocks_have_to_be_known() -> None:
    assert "number of blocks" in str(find(STORE, blocks=""))
    assert "number of blocks" in str(find(STORE, blocks="noundef"))


def test_blocks_that_are_not_asked_for_are_one() -> None:
    """A launch of several along y would do all of it as often: the runtime refuses it."""
    assert find(STORE, blocks="range(i32 0, 1)") == 1


def certify(name: str) -> tuple[list[Checked], dict[str, object], str]:
    program = next(each for each in PROGRAMS if each.name == name)
    module = pipeline.compile(program.text, until="llvm", certify=True)
    document, text = json.loads(module.texts["certificate"]), module.texts["llvm"]
    return check(document, text), document, text


@pytest.mark.parametrize("name", ["matmul", "softmax", "two_results_transposed", "add_f16"])
def test_kernels_of_programs_are_covered(name: str) -> None:
    checked, _, text = certify(name)
    for kernel in checked:
        assert kernel.uncovered == ""
        limits = re.findall(r"call range\(i32 0, (\d+)\) i32 @llvm.nvvm.read.ptx.sreg.ctaid", text)
        assert kernel.blocks >= max([1, *map(int, limits)])
