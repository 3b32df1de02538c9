"""Phases of mbarriers: each way to get them wrong is seen."""

from pathlib import Path

import pytest

from oracles.sync.compiler import VERIFY, run_passes

TEXT = Path(__file__).parents[2].joinpath("Transforms/Sync/verify-sync-phases.mlir").read_text()

WAIT = "nvgpu.mbarrier.try_wait.parity %bar"
FENCE = (
    "nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}\n"
)
FENCED_ALL = "      nvvm.fence.mbarrier.init\n"
FENCED = f"{FENCED_ALL}    }}\n    gpu.barrier\n"
BAR = "      gpu.barrier\n"
WARP = "    %all = arith.constant -1 : i32\n    nvvm.bar.warp.sync %all : i32\n"
SET_UP = "    scf.if %elected {\n      nvgpu.mbarrier.init"
INIT = "    scf.if %elected {\n      scf.for %j"
SOME = """    %is_one = arith.cmpi eq, %n, %c1 : index
    %some = arith.andi %elected, %is_one : i1
"""
# In which function, what, and what it becomes: at the place of that number.
MUTANTS = [
    # No wait, and no barrier.
    ("ring", "      nvgpu.mbarrier.try_wait.parity %bars[%from], %phase, %ticks : !bars\n", "", 0),
    ("ring", "    gpu.barrier\n", "", 0),
    ("ring", "      gpu.barrier\n", "", 0),
    # No fence.
    ("ring", "      nvvm.fence.mbarrier.init\n", "", 0),
    ("ring", FENCE, "", 0),
    ("own_iteration", FENCE, "", 0),
    ("own_iteration", FENCE, "nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.global>}\n", 0),
    ("some_iterations", FENCE, "", 0),
    ("straight", "      nvvm.fence.mbarrier.init\n", "", 0),
    ("in_loops", FENCED, f"    }}\n    gpu.barrier\n{FENCED_ALL}", 0),
    # Or behind a barrier that is in a loop.
    (
        "straight",
        FENCED,
        f"    }}\n    scf.for %q = %c0 to %c2 step %c1 {{\n{BAR}    }}\n{FENCED_ALL}",
        0,
    ),
    # Nobody sets up the mbarriers, or only sometimes.
    (
        "ring",
        SET_UP,
        f"%no = arith.cmpi eq, %t, %bytes : index\n{SET_UP.replace('elected', 'no')}",
        0,
    ),
    ("in_loops", INIT, f"%no = arith.cmpi eq, %n, %c1 : index\n{INIT.replace('elected', 'no')}", 0),
    ("ring", SET_UP, f"{SOME}{SET_UP.replace('elected', 'some')}", 0),
    # Or behind the barrier: the thread that starts the copy does not know of those of others.
    ("ring", f"{FENCE}      gpu.barrier\n", f"gpu.barrier\n{FENCE}", 0),
    ("counted", f"{FENCE}      gpu.barrier\n", f"gpu.barrier\n{FENCE}", 0),
    ("own_iteration", f"{FENCE}        gpu.barrier\n", f"gpu.barrier\n{FENCE}", 0),
    ("some_iterations", f"{FENCE}      gpu.barrier\n", f"gpu.barrier\n{FENCE}", 0),
    # Phases that do not go on, or go on too early; slots and announcements that do not fit.
    ("ring", "arith.xori %phase, %is_last", "arith.xori %phase, %even", 0),
    ("ring", "arith.cmpi eq, %from, %c2", "arith.cmpi eq, %from, %c1", 0),
    ("ring", "%phase = %even)", "%phase = %elected)", 0),
    ("ring", "%from = %c0,", "%from = %c1,", 0),
    ("ring", "%to = %c2,", "%to = %c1,", 0),
    ("ring", "arith.remui %to1, %c3", "arith.remui %to1, %c2", 0),
    ("ring", "memref.load %S[%from,", "memref.load %S[%to,", 0),
    ("ring", "%S[%to, 0]", "%S[%from, 0]", 0),
    ("ring", "mbarrier.init %bars[%c1], %c1", "mbarrier.init %bars[%c1], %c2", 0),
    ("ring", "      nvgpu.mbarrier.init %bars[%c2], %c1 : !bars\n", "", 0),
    ("ring", "%bars[%c1], %bytes", "%bars[%c2], %bytes", 0),
    ("ring", "arith.constant 512", "arith.constant 256", 0),
    ("ring", "expect_tx %bars[%to], %bytes", "expect_tx %bars[%from], %bytes", 0),
    ("ring", "scf.if %elected {", "scf.if %has {", -1),
    # The same where the iteration is what counts.
    ("counted", "arith.divui %i, %c3", "arith.divui %i, %c2", 0),
    ("counted", "arith.divui %i, %c3", "arith.divui %to, %c3", 0),
    ("counted", "arith.remui %i, %c3", "arith.remui %i, %c2", 0),
    ("counted", "arith.remui %round, %c2", "arith.remui %round, %c3", 0),
    ("counted", "arith.cmpi ne, %odd", "arith.cmpi eq, %odd", 0),
    # Of booleans with a sign, true is less than false.
    (
        "counted",
        "%phase = arith.cmpi ne, %odd, %c0 : index",
        "%is_odd = arith.cmpi ne, %odd, %c0 : index\n"
        "      %no = arith.constant false\n"
        "      %phase = arith.cmpi slt, %no, %is_odd : i1",
        0,
    ),
    ("counted", "arith.remui %to1, %c3", "arith.remui %to1, %c2", 0),
    ("counted", "iter_args(%to = %c2)", "iter_args(%to = %c1)", 0),
    ("counted", "scf.for %i = %c0", "scf.for %i = %c1", 0),
    ("counted", "to %n step %c1", "to %n step %c2", 0),
    # The same where what goes before is in loops.
    ("in_loops", "scf.for %j = %c0 to %c3", "scf.for %j = %c0 to %c2", 0),
    ("in_loops", "scf.for %j = %c0 to %c3", "scf.for %j = %c1 to %c3", 0),
    ("in_loops", "scf.for %j = %c0 to %c3 step %c1", "scf.for %j = %c0 to %c3 step %c2", 0),
    ("in_loops", "scf.for %j = %c0 to %c3", "scf.for %j = %c0 to %n", 0),
    ("in_loops", "mbarrier.init %bars[%j], %c1", "mbarrier.init %bars[%j], %c2", 0),
    ("in_loops", "      nvvm.fence.mbarrier.init\n", "", 0),
    ("in_loops", "affine.for %j = 0 to 2", "affine.for %j = 0 to 3", 0),
    ("in_loops", "affine.for %j = 0 to 2", "affine.for %j = 1 to 3", 0),
    ("in_loops", "expect_tx %bars[%j], %bytes", "expect_tx %bars[%c0], %bytes", 0),
    ("in_loops", "%map[%j], %bars[%j] to", "%map[%j], %bars[%c0] to", 0),
    ("in_loops", "memref.subview %S[%j, 0]", "memref.subview %S[%c1, 0]", 0),
    ("in_loops", "memref.subview %S[%j, 0]", "memref.subview %S[%c0, 0]", 0),
    ("in_loops", "iter_args(%to = %c2)", "iter_args(%to = %c1)", 0),
    ("in_loops", f"{FENCE}      gpu.barrier\n", f"gpu.barrier\n{FENCE}", 0),
    ("in_loops", "memref.load %S[%from,", "memref.load %S[%to,", 0),
    # The same of one mbarrier.
    ("own_iteration", "%phase = %begin)", "%phase = %even)", 0),
    ("own_iteration", "scf.yield %inner", "scf.yield %begin", 0),
    ("own_iteration", "%begin = %even)", "%begin = %one)", 0),
    ("own_iteration", "arith.xori %phase, %one", "arith.xori %phase, %even", 0),
    ("own_iteration", "        gpu.barrier\n", "", 0),
    ("own_iteration", f"        {WAIT}[%c0], %phase, %ticks : !bar\n", "", 0),
    # A branch.
    ("some_iterations", "scf.yield %flipped", "scf.yield %phase", 0),
    ("some_iterations", "        scf.yield %phase", "        scf.yield %one", 0),
    ("some_iterations", "      scf.yield %next", "      scf.yield %phase", 0),
    # One after the other.
    ("straight", "%bars[%c0], %twice", "%bars[%c0], %bytes", 0),
    ("straight", "%bars[%c2], %even", "%bars[%c1], %even", 0),
    ("straight", "memref.load %A[%u]", "memref.load %C[%u]", 0),
    ("straight", "%map[%c1], %bars[%c0]", "%map[%c1], %bars[%c2]", 0),
]


def function(name: str) -> tuple[str, str]:
    """Return what comes before the body of a function, types included, and the body."""
    head = TEXT[: TEXT.index("  // Two iterations ahead")]
    body = TEXT[TEXT.index(f"  gpu.func @{name}(") :]
    return head, body[: body.index("    gpu.return")]


# Before and after loops and branches become branches between blocks.
SPELLINGS = [
    "",
    "lower-affine,convert-scf-to-cf,",
    "lower-affine,convert-scf-to-cf,canonicalize,cse,",
]


def verdict_of(head: str, body: str, spelling: str = "") -> str:
    """Return what verification says."""
    text = f"{head}{body}    gpu.return\n  }}\n}}\n"
    (outcome,) = run_passes([("<stdin>", text)], spelling + VERIFY)
    return outcome.verdict


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize(
    "name", ["ring", "counted", "in_loops", "own_iteration", "some_iterations", "straight"]
)
def test_phases_are_proved(name: str, spelling: str) -> None:
    assert verdict_of(*function(name), spelling) == "SAFE"


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("name", ["ring", "in_loops", "straight"])
def test_all_threads_may_fence(name: str, spelling: str) -> None:
    head, body = function(name)
    assert FENCED in body
    body = body.replace(FENCED, f"    }}\n{FENCED_ALL}    gpu.barrier\n")
    assert verdict_of(head, body, spelling) == "SAFE"


@pytest.mark.parametrize(
    "late",
    [
        f"    }}\n    gpu.barrier\n{FENCED_ALL}",
        f"    }}\n    scf.execute_region {{\n{BAR}    scf.yield\n    }}\n{FENCED_ALL}",
        f"    }}\n{WARP}{FENCED_ALL}{BAR}",
    ],
    ids=["barrier", "region", "warp"],
)
def test_whoever_copies_may_fence_later(late: str) -> None:
    """The thread that has set up the mbarriers tells TMA of it before it copies."""
    head, body = function("straight")
    assert FENCED in body
    assert verdict_of(head, body.replace(FENCED, late)) == "SAFE"


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("ring", "arith.xori %phase, %is_last", "arith.xori %phase, %even"),
        ("counted", "arith.cmpi ne, %odd, %c0", "arith.cmpi ne, %c0, %c0"),
        ("counted", "arith.divui %i, %c3", "arith.divui %i, %c2"),
    ],
)
def test_waits_for_phases_that_are_over_are_errors(
    name: str, old: str, new: str, spelling: str
) -> None:
    """A slot is read again before the copy into it is waited for, for certain."""
    head, body = function(name)
    assert verdict_of(head, body) == "SAFE"
    assert old in body
    assert verdict_of(head, body.replace(old, new), spelling) == "UNFIXABLE"


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("name", ["ring", "in_loops", "straight"])
def test_mbarriers_are_set_up_first(name: str, spelling: str) -> None:
    head, body = function(name)
    start = body.index("    scf.if %elected {\n")
    end = body.index(FENCED) + len(FENCED)
    late = body[:start] + body[end:] + "    gpu.barrier\n" + body[start:end]
    assert verdict_of(head, late, spelling) in ("MAYBE", "RACE", "UNFIXABLE")


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("name", ["ring", "counted", "in_loops"])
def test_missing_barriers_are_errors(name: str, spelling: str) -> None:
    """Who reads a slot arrives at no mbarrier: no phase orders that before the next copy."""
    head, body = function(name)
    without = body.replace("      gpu.barrier\n      %later", "      %later")
    assert without != body
    assert verdict_of(head, without, spelling) == "RACE"
    arrive = "%token = nvgpu.mbarrier.arrive %bars[%from] : !bars -> !nvgpu.mbarrier.token"
    arriving = without.replace("%later =", f"{arrive}\n      %later =")
    assert verdict_of(head, arriving, spelling) == "MAYBE"


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize(("name", "old", "new", "place"), MUTANTS)
def test_mutants_are_seen(name: str, old: str, new: str, place: int, spelling: str) -> None:
    head, body = function(name)
    parts = body.split(old)
    assert len(parts) > 1, old
    at = place % (len(parts) - 1) + 1
    mutant = old.join(parts[:at]) + new + old.join(parts[at:])
    assert verdict_of(head, mutant, spelling) in ("MAYBE", "RACE", "UNFIXABLE")
