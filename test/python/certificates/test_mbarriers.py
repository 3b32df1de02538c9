"""Certificates of kernels whose threads hand memory over by mbarriers, or by barriers of a part."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

import pipeline
from certificates.cells import Refuted
from certificates.claims import check, check_races
from fuzzing.certificate_mutants import CERTIFICATE, CODE, mutate
from fuzzing.certificates import PRODUCT, find_race, judge

OPTIONS = ["specialize-warps=0", "specialize-warps=128"]


@cache
def certify(options: str) -> tuple[dict[str, Any], str]:
    """Return the certificate of a product by warp groups, and its LLVM IR."""
    module = pipeline.compile(
        PRODUCT, chip="sm_90a", until="llvm", certify=True, memory_options=options
    )
    return json.loads(module.texts["certificate"]), module.texts["llvm"]


@pytest.mark.parametrize("options", OPTIONS)
def test_products_of_warp_groups_hold(options: str) -> None:
    document, text = certify(options)
    assert "wgmma.mma_async" in text
    assert "try_wait.parity" in text
    (kernel,) = check(document, text)
    assert {what.split(" is of ")[1] for what in kernel.assumed} == {"8192 bytes"}
    assert ("mbarrier.arrive.shared(" in text) == (options != OPTIONS[0])


def change(text: str, pattern: str, by: Callable[[re.Match[str]], str]) -> list[str]:
    """Change each line that a pattern is found in by itself."""
    lines = text.split("\n")
    found = [
        number for number, line in enumerate(lines)
        if not line.startswith("declare") and re.search(pattern, line)
    ]  # fmt: skip
    assert found
    return [
        "\n".join([*lines[:at], re.sub(pattern, by, lines[at]), *lines[at + 1 :]]) for at in found
    ]


def leave_out(match: re.Match[str]) -> str:
    return f"{match[1]} = add i64 0, 0" if match[1] else ";"


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize(
    ("pattern", "by"),
    [
        (r"(?:(%\d+) = )?(?:tail )?call .*mbarrier\.init.*", leave_out),
        (r"(?:(%\d+) = )?(?:tail )?call .*expect\.tx.*", leave_out),
        (r"(?:(%\d+) = )?(?:tail )?call .*cp\.async\.bulk.*", leave_out),
        (r"(?<=i32 )(\d+)(?=\)$)(?<=16384)", lambda m: str(int(m[1]) + 16)),
        (r"(?<=i32 )(\d+)(?=\)$)(?<=16384)", lambda m: str(int(m[1]) - 16)),
        (r"(mbarrier\.init.*i32 )(\d+)\)", lambda m: f"{m[1]}{int(m[2]) + 1})"),
        (r"(phi i1 \[.*)\bfalse", lambda m: f"{m[1]}true"),
    ],
)
def test_what_is_left_out_or_wrong_is_refuted_whatever_the_certificate_says(
    options: str, pattern: str, by: Callable[[re.Match[str]], str]
) -> None:
    document, text = certify(options)
    for changed in change(text, pattern, by):
        assert find_race(document, changed) == "refuted"


@pytest.mark.parametrize("options", OPTIONS)
def test_mbarriers_without_a_fence_are_refuted(options: str) -> None:
    document, text = certify(options)
    changed = re.sub(r"(tail )?call void @llvm\.nvvm\.fence\..*", ";", text)
    with pytest.raises(Refuted, match="no fence shows the mbarrier"):
        check_races(document, changed)


def test_slots_that_are_filled_too_early_are_refuted() -> None:
    document, text = certify(OPTIONS[0])
    for changed in change(text, r"wgmma\.wait_group\.sync\.aligned\(i64 1\)",
                          lambda m: m[0].replace("1)", "2)")):  # fmt: skip
        assert find_race(document, changed) == "refuted"
    document, text = certify(OPTIONS[1])
    slots = change(text, r"(select i1 %\S+, i32 )1, i32 -3", lambda m: f"{m[1]}1, i32 -2")
    assert all(find_race(document, changed) == "refuted" for changed in slots)


@pytest.mark.parametrize("options", OPTIONS)
def test_each_kind_of_mutant_is_rejected(options: str) -> None:
    document, text = certify(options)
    mutants = mutate(document, text, random.Random(5))
    seen = set()
    for _ in range(len(CODE | CERTIFICATE)):
        mutant = next(mutants)
        seen.add(mutant.kind)
        assert judge(mutant.document, mutant.text) != "holds", mutant.what
    assert seen >= {"code: parity", "code: slot", "certificate: bytes of a box"}


# --- small kernels --------------------------------------------------------------------------------

KERNEL = """
@ready = internal addrspace(3) global [2 x i64] undef, align 16
@buffer = internal addrspace(3) global [64 x i32] undef, align 128
define ptx_kernel void @main(ptr %out, ptr %map) #0 {
  %tid = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %mine = zext nneg i32 %tid to i64
  %own = getelementptr i32, ptr addrspace(3) @buffer, i64 %mine
  %theirs = xor i64 %mine, 63
  %other = getelementptr i32, ptr addrspace(3) @buffer, i64 %theirs
  %first = icmp eq i32 %tid, 0
  br i1 %first, label %make, label %made
make:
  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) @ready, i32 COUNT)
  INIT
  br label %made
made:
  BEGIN
  BODY
  br label %end
end:
  ret void
}
attributes #0 = { nounwind "nvvm.maxntid"="64,1,1" }
"""
BARRIER = "call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)"
FENCE = "call void @llvm.nvvm.fence.proxy.async.shared_cta()"
STORE = "store i32 %tid, ptr addrspace(3) %own"
LOAD = "%got = load i32, ptr addrspace(3) %other"
ARRIVE = "%s = call i64 @llvm.nvvm.mbarrier.arrive.shared(ptr addrspace(3) @ready)"
EXPECT = (
    "%s = call i64 @llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta(ptr addrspace(3) "
    "@ready, i32 256)"
)
FILL = (
    "call void @llvm.nvvm.cp.async.bulk.tensor.g2s.tile.2d(ptr addrspace(7) addrspacecast (ptr "
    "addrspace(3) @buffer to ptr addrspace(7)), ptr addrspace(3) @ready, ptr %map, i32 0, i32 0, "
    "i16 0, i64 0, i1 false, i1 false, i32 0)"
)
PUT = (
    "call void @llvm.nvvm.cp.async.bulk.tensor.s2g.tile.2d(ptr addrspace(3) @buffer, ptr %map, "
    "i32 0, i32 0, i64 0, i1 false)"
)
COMMIT = "call void @llvm.nvvm.cp.async.bulk.commit.group()"
READ = "call void @llvm.nvvm.cp.async.bulk.wait.group.read(i32 0)"
MEET = "call void @llvm.nvvm.barrier.cta.sync.aligned.count(i32 1, i32 64)"
SIGNAL = "call void @llvm.nvvm.barrier.cta.arrive.aligned.count(i32 1, i32 64)"


def wait(parity: int) -> str:
    """Return a loop that waits for a phase."""
    return (
        r'call void asm sideeffect "{\0A\09.reg .pred       P1; \0A\09LAB_WAIT: \0A\09'
        r"mbarrier.try_wait.parity.shared.b64 P1, [$0], $1, $2; \0A\09@P1 bra.uni DONE; \0A\09"
        r'bra.uni     LAB_WAIT; \0A\09DONE: \0A\09}", "r,r,r"(ptr addrspace(3) @ready, i32 '
        f"{parity}, i32 10000000)"
    )


def find(
    body: list[str], count: int, begin: str = BARRIER, fence: str = FENCE, box: int = 256
) -> str:
    """Return what is said of the races of a kernel."""
    text = KERNEL.replace("COUNT", str(count)).replace("INIT", fence)
    text = text.replace("BEGIN", begin).replace("BODY", "\n  ".join(body))
    kernel = {"name": "main", "assumptions": [], "boxes": [{"parameter": "%map", "bytes": box}]}
    return find_race({"kernels": [kernel]}, text)


def by_first(*lines: str) -> str:
    """Let the first thread do something."""
    return "\n".join(["br i1 %first, label %do, label %done", "do:", *lines,
                        "br label %done", "done:"])  # fmt: skip


@pytest.mark.parametrize(
    ("body", "count", "said"),
    [
        ([STORE, ARRIVE, wait(0), LOAD], 64, "holds"),
        ([STORE, ARRIVE, LOAD], 64, "refuted"),
        ([ARRIVE, STORE, wait(0), LOAD], 64, "refuted"),
        ([STORE, ARRIVE, wait(1), LOAD], 64, "refuted"),
        ([STORE, ARRIVE, wait(0), LOAD], 63, "refuted"),
        ([STORE, ARRIVE, wait(0), LOAD], 65, "refuted"),
        ([STORE, ARRIVE, wait(0), ARRIVE.replace("%s", "%t"), wait(1), LOAD], 64, "holds"),
        # One phase of two that a thread may miss.
        ([STORE, ARRIVE, ARRIVE.replace("%s", "%t"), wait(1), LOAD], 64, "refuted"),
        ([by_first(EXPECT, FILL), wait(0), LOAD], 1, "holds"),
        ([by_first(EXPECT, FILL), LOAD], 1, "refuted"),
        ([by_first(EXPECT, FILL)], 1, "refuted"),
        ([by_first(FILL, EXPECT), wait(0), LOAD], 1, "refuted"),
        ([by_first(EXPECT.replace("256", "512"), FILL), wait(0), LOAD], 1, "refuted"),
        ([by_first(EXPECT.replace("256", "128"), FILL), wait(0), LOAD], 1, "refuted"),
        # What threads have written, and what they have read, before it is filled.
        ([STORE, FENCE, BARRIER, by_first(EXPECT, FILL), wait(0)], 1, "holds"),
        ([STORE, BARRIER, FENCE, by_first(EXPECT, FILL), wait(0)], 1, "refuted"),
        ([STORE, BARRIER, by_first(EXPECT, FILL), wait(0)], 1, "refuted"),
        ([FENCE, STORE, BARRIER, by_first(EXPECT, FILL), wait(0)], 1, "refuted"),
        ([STORE, FENCE, by_first(EXPECT, FILL), wait(0)], 1, "refuted"),
        ([LOAD, BARRIER, by_first(EXPECT, FILL), wait(0)], 1, "refuted"),
        ([FILL, wait(0)], 1, "refuted"),
        (["store i32 0, ptr addrspace(3) @ready", *[STORE]], 1, "refuted"),
    ],
)  # fmt: skip
def test_small_kernels(body: list[str], count: int, said: str) -> None:
    assert find(body, count) == said


SENT = by_first(PUT, COMMIT, READ)
AGAIN = "store i32 1, ptr addrspace(3) %other"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ([STORE, FENCE, BARRIER, SENT, BARRIER, AGAIN], "holds"),
        ([STORE, FENCE, BARRIER, SENT], "holds"),
        ([STORE, FENCE, BARRIER, SENT, LOAD], "holds"),
        ([STORE, FENCE, BARRIER, by_first(PUT, COMMIT, READ.replace(".read", "")), BARRIER, AGAIN],
         "holds"),
        # Without the fence, or with one where it shows nothing.
        ([STORE, BARRIER, SENT, BARRIER, AGAIN], "refuted"),
        ([STORE, BARRIER, FENCE, SENT, BARRIER, AGAIN], "refuted"),
        ([FENCE, STORE, BARRIER, SENT, BARRIER, AGAIN], "refuted"),
        # Without a barrier.
        ([STORE, FENCE, SENT, BARRIER, AGAIN], "refuted"),
        ([STORE, FENCE, BARRIER, SENT, AGAIN], "refuted"),
        # What is not of a group, not waited for, not waited for long enough, or by somebody else.
        ([STORE, FENCE, BARRIER, by_first(PUT, READ), BARRIER, AGAIN], "refuted"),
        ([STORE, FENCE, BARRIER, by_first(PUT, COMMIT), BARRIER, AGAIN], "refuted"),
        ([STORE, FENCE, BARRIER, by_first(PUT, COMMIT)], "refuted"),
        ([STORE, FENCE, BARRIER, by_first(PUT, COMMIT, READ.replace("i32 0", "i32 1")), BARRIER,
          AGAIN], "refuted"),
        ([STORE, FENCE, BARRIER, by_first(PUT, COMMIT, READ).replace("%first, label %do, label "
          "%done", "%first, label %done, label %do"), BARRIER, AGAIN], "holds"),
        ([STORE, FENCE, BARRIER, by_first(PUT, COMMIT), READ, BARRIER, AGAIN], "holds"),
        ([STORE, FENCE, BARRIER, by_first(PUT.replace("@buffer", "@ready"), COMMIT, READ)],
         "refuted"),
    ],
)  # fmt: skip
def test_stores_by_tma(body: list[str], said: str) -> None:
    assert find(body, 1) == said


WARP_SYNC = "call void @llvm.nvvm.bar.warp.sync(i32 -1)"
NEAR = """%near = xor i64 %mine, 31
%neighbour = getelementptr i32, ptr addrspace(3) @buffer, i64 %near"""
LEAD = """%lane = and i32 %tid, 31
%leads = icmp eq i32 %lane, 0
%above = and i64 %mine, 32
%slot = getelementptr i32, ptr addrspace(3) @buffer, i64 %above"""
EACH = by_first(PUT.replace("@buffer", "%slot"), COMMIT, READ).replace("%first", "%leads")


def test_each_warp_stores_its_own_by_tma() -> None:
    write = AGAIN.replace("%other", "%neighbour")
    body = [NEAR, LEAD, STORE, FENCE, WARP_SYNC, EACH, WARP_SYNC, write]
    assert find(body, 1, box=128) == "holds"
    assert find(body, 1, box=256) == "refuted"
    for at in (3, 4, 6):
        assert find([*body[:at], *body[at + 1 :]], 1, box=128) == "refuted"


def by_warps(first: list[str], second: list[str]) -> list[str]:
    """Let two warps do something."""
    lines = ["%is_second = icmp uge i32 %tid, 32", "br i1 %is_second, label %two, label %one",
             "one:", *first, "br label %done", "two:", *second, "br label %done",
             "done:"]  # fmt: skip
    return ["\n".join(lines)]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ([STORE, MEET, LOAD], "holds"),
        ([STORE, MEET.replace("aligned.", ""), LOAD], "holds"),
        ([STORE, MEET.replace("i32 64", "i32 32"), LOAD], "refuted"),
        ([STORE, MEET.replace("i32 64", "i32 96"), LOAD], "refuted"),
        ([STORE, MEET.replace("i32 1", "i32 16"), LOAD], "refuted"),
        ([STORE, SIGNAL, LOAD], "refuted"),
        (by_warps([STORE, SIGNAL], [MEET, LOAD]), "holds"),
        (by_warps([STORE, MEET], [MEET, LOAD]), "holds"),
        (by_warps([STORE], [MEET, LOAD]), "refuted"),
        (by_warps([SIGNAL, STORE], [MEET, LOAD]), "refuted"),
        (by_warps([STORE, SIGNAL], [SIGNAL, LOAD]), "refuted"),
        (by_warps([STORE, SIGNAL.replace("i32 1", "i32 2")], [MEET, LOAD]), "refuted"),
        # A warp that may come again before the others have come at all.
        (by_warps([STORE, SIGNAL, SIGNAL], [MEET, MEET, LOAD]), "refuted"),
        (by_warps([STORE, SIGNAL, MEET], [MEET, SIGNAL, LOAD]), "refuted"),
        (by_warps([STORE, SIGNAL, MEET.replace("i32 1", "i32 2")],
                  [MEET, SIGNAL.replace("i32 1", "i32 2"), LOAD]), "holds"),
        (by_warps([STORE, MEET, SIGNAL], [MEET, MEET, LOAD]), "holds"),
        ([by_first(MEET)], "refuted"),
    ],
)  # fmt: skip
def test_barriers_of_part_of_the_block(body: list[str], said: str) -> None:
    assert find(body, 1) == said


def test_mbarriers_are_made_before_they_are_used() -> None:
    assert find([STORE, ARRIVE, wait(0), LOAD], 64, begin="") == "refuted"
    assert find([by_first(EXPECT, FILL), wait(0), LOAD], 1, fence="") == "refuted"
