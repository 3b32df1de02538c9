"""Inline PTX: what is known is what LLVM has for it, what is not is refused by name."""

from __future__ import annotations

import numpy as np
import pytest

import pipeline
from foreign.llvm_text import emulate, make, verdict
from pipeline.errors import CompileError

TILE = "@tile = internal addrspace(3) global [64 x i32] undef, align 16"
EXCHANGE = """
  %g = addrspacecast ptr %p to ptr addrspace(1)
  %from = getelementptr i32, ptr addrspace(1) %g, i32 %t
  %odd = trunc i32 %t to i1
  {load}
  %in = getelementptr [64 x i32], ptr addrspace(3) @tile, i32 0, i32 %t
  {store}
  {barrier}
  %o = sub nsw i32 63, %t
  %out = getelementptr [64 x i32], ptr addrspace(3) @tile, i32 0, i32 %o
  %y = load i32, ptr addrspace(3) %out
  {back}
  ret void
"""
BACK = (
    'call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"'
    "(i32 %y, ptr addrspace(1) %from)"
)
LOADS = {
    "plain": (
        'call i32 asm sideeffect "mov.u32 $0, 0x0;\\0A\\09ld.global.b32 { $0 }, [ $1 + 0 ];", '
        '"=r,l"(ptr addrspace(1) %from)'
    ),
    "hints": (
        'call i32 asm sideeffect "ld.global.nc.L1::evict_last.L2::128B.u32 $0, [$1];", '
        '"=r,l"(ptr addrspace(1) %from)'
    ),
    "masked": (
        'call i32 asm sideeffect "mov.u32 $0, $1;\\0A\\09@$3 ld.global.b32 { $0 }, [ $2 + 0 ];", '
        '"=r,r,l,b"(i32 -5, ptr addrspace(1) %from, i1 %odd)'
    ),
    "negated": (
        'call i32 asm sideeffect "mov.u32 $0, -5; @!$2 ld.global.b32 $0, [ $1 ];", '
        '"=r,l,b"(ptr addrspace(1) %from, i1 %odd)'
    ),
    "number": ('call i32 asm sideeffect "ld.b32 $0, [ $1 + 0 ];", "=r,l"(i64 %n)'),
}
STORE = (
    'call void asm sideeffect "st.shared::cta.b32 [ $0 + 0 ], $1;", "r,r"'
    "(ptr addrspace(3) %in, i32 %x)"
)
BARRIERS = {
    "bar": 'call void asm sideeffect "bar.sync 0;", ""()',
    "barrier": 'call void asm sideeffect "barrier.sync.aligned $0;", "r"(i32 0)',
    "cta": 'call void asm sideeffect "barrier.cta.sync.aligned 0;", ""()',
}


def _exchange(load: str = "plain", barrier: str = "bar") -> str:
    loaded = f"%x = {LOADS[load]}"
    if load == "number":
        loaded = f"%n = ptrtoint ptr addrspace(1) %from to i64\n  {loaded}"
    body = EXCHANGE.format(load=loaded, store=STORE, back=BACK, barrier=BARRIERS.get(barrier, ""))
    return make(body, globals=TILE)


@pytest.mark.parametrize("barrier", BARRIERS)
@pytest.mark.parametrize("load", LOADS)
def test_loads_stores_and_barriers(load: str, barrier: str) -> None:
    text = _exchange(load, barrier=barrier)
    data = np.arange(64, dtype=np.int32)
    odd = data % 2 == 1
    kept = {"masked": odd, "negated": ~odd}.get(load, np.full(64, True))
    wanted = np.where(kept, data, -5)[::-1]
    assert not emulate(text, data).errors
    np.testing.assert_array_equal(data, wanted)
    if load != "number":
        assert verdict(text) == "SAFE"
    ptx = pipeline.compile(text, block=64, grid=1, verify=False)
    assert len(ptx.cubin) > 0


@pytest.mark.parametrize("load", ["plain", "masked"])
def test_without_a_barrier_they_race(load: str) -> None:
    text = _exchange(load, barrier="")
    assert verdict(text) == "RACE"
    assert [it.kind for it in emulate(text, np.zeros(64, np.int32)).errors] == ["race.shared"]


def test_vectors() -> None:
    text = make(
        """
  %q = getelementptr [4 x i32], ptr %p, i32 %t
  %v = call %V asm sideeffect "ld.v4.b32 { $0, $1, $2, $3 }, [$4];", "=r,=r,=r,=r,l"(ptr %q)
  %a = extractvalue %V %v, 0
  %b = extractvalue %V %v, 3
  call void asm sideeffect "st.v2.b32 [ $2 + 8 ], { $0, $1 };", "r,r,l"(i32 %b, i32 %a, ptr %q)
  ret void
""",
        globals="%V = type { i32, i32, i32, i32 }",
    )
    data = np.arange(256, dtype=np.int32).reshape(64, 4)
    wanted = np.stack([data[:, 0], data[:, 1], data[:, 3], data[:, 0]], 1)
    assert verdict(text) == "SAFE"
    assert not emulate(text, data).errors
    np.testing.assert_array_equal(data, wanted)


def test_narrow_elements_and_floats() -> None:
    text = make("""
  %q = getelementptr i16, ptr %p, i32 %t
  %h = call i16 asm sideeffect "ld.b16 { $0 }, [ $1 + 0 ];", "=h,l"(ptr %q)
  %n = add i16 %h, 1
  call void asm sideeffect "st.b16 [ $1 + 0 ], { $0 };", "h,l"(i16 %n, ptr %q)
  %bytes = getelementptr i8, ptr %p, i32 128
  %r = getelementptr float, ptr %bytes, i32 %t
  %f = call float asm sideeffect "ld.f32 $0, [ $1 + 0 ];", "=f,l"(ptr %r)
  %g = fadd float %f, 1.0
  call void asm sideeffect "st.f32 [ $1 + 0 ], $0;", "f,l"(float %g, ptr %r)
  ret void
""")
    data = np.arange(192, dtype=np.int16)
    assert not emulate(text, data).errors
    np.testing.assert_array_equal(data[:64], np.arange(64) + 1)


# --- atomic operations ----------------------------------------------------------------------------

ATOMIC = """
  %i = and i32 %t, 3
  %q = getelementptr i32, ptr %p, i32 %i
  {}
  ret void
"""


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("atom.global.gpu.acq_rel.add.u32 $0, [ $1 + 0 ], $2;", [16, 17, 18, 19]),
        ("atom.relaxed.cta.max.s32 $0, [$1], $2;", [1, 1, 2, 3]),
        ("atom.min.u32 $0, [$1], $2;", [0, 1, 1, 1]),
        ("atom.exch.b32 $0, [$1], $2;", [1, 1, 1, 1]),
        ("atom.or.b32 $0, [$1], $2;", [1, 1, 3, 3]),
        ("atom.cas.b32 $0, [$1], 2, $2;", [0, 1, 1, 3]),
    ],
)
def test_atomic_operations(words: str, wanted: list[int]) -> None:
    line = f'%x = call i32 asm sideeffect "{words}", "=r,l,r"(ptr %q, i32 1)'
    text = make(ATOMIC.format(line))
    data = np.arange(4, dtype=np.int32)
    assert verdict(text) == "SAFE"
    assert not emulate(text, data).errors
    assert data.tolist() == wanted


def test_reductions_have_no_result() -> None:
    line = 'call void asm sideeffect "red.global.add.u32 [$0], $1;", "l,r"(ptr %q, i32 2)'
    data = np.zeros(4, np.int32)
    assert not emulate(make(ATOMIC.format(line)), data).errors
    assert data.tolist() == [32] * 4


def test_the_scope_of_a_block_is_not_that_of_the_device() -> None:
    for scope, races in (("cta", True), ("gpu", False)):
        words = f"red.relaxed.{scope}.add.u32 [$0], $1;"
        line = f'call void asm sideeffect "{words}", "l,r"(ptr %q, i32 2)'
        report = emulate(make(ATOMIC.format(line)), np.zeros(4, np.int32), grid=2)
        assert bool(report.errors) == races


MESSAGE = """
  %flag = getelementptr i32, ptr %p, i32 1
  %is = icmp eq i32 %t, 0
  br i1 %is, label %writer, label %reader
writer:
  store i32 7, ptr %p
  call void asm sideeffect "{store}", "l,r"(ptr %flag, i32 1)
  ret void
reader:
  %reads = icmp eq i32 %t, 32
  br i1 %reads, label %wait, label %end
wait:
  %f = call i32 asm sideeffect "{load}", "=r,l"(ptr %flag)
  %set = icmp eq i32 %f, 1
  br i1 %set, label %take, label %wait
take:
  %x = load i32, ptr %p
  %to = getelementptr i32, ptr %p, i32 2
  store i32 %x, ptr %to
  br label %end
end:
  ret void
"""


@pytest.mark.parametrize("release", [True, False])
@pytest.mark.parametrize("acquire", [True, False])
def test_loads_and_stores_that_order(release: bool, acquire: bool) -> None:
    store = f"st.{'release' if release else 'relaxed'}.gpu.b32 [$0], $1;"
    load = f"ld.{'acquire' if acquire else 'relaxed'}.gpu.b32 $0, [$1];"
    data = np.zeros(3, np.int32)
    report = emulate(make(MESSAGE.format(store=store, load=load)), data)
    assert bool(report.errors) == (not (release and acquire))


# --- copies ---------------------------------------------------------------------------------------

COPY = """
  %g = addrspacecast ptr %p to ptr addrspace(1)
  %from = getelementptr [4 x i32], ptr addrspace(1) %g, i32 %t
  %in = getelementptr [4 x i32], ptr addrspace(3) @tile, i32 %t
  {copy}
  call void asm sideeffect "cp.async.commit_group;", ""()
  {wait}
  call void asm sideeffect "bar.sync 0;", ""()
  %o = sub nsw i32 31, %t
  %out = getelementptr [4 x i32], ptr addrspace(3) @tile, i32 %o
  %v = load <4 x i32>, ptr addrspace(3) %out, align 16
  store <4 x i32> %v, ptr addrspace(1) %from, align 16
  ret void
"""
COPIES = (
    'call void asm sideeffect "cp.async.cg.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x10, $2;", '
    '"r,l,r"(ptr addrspace(3) %in, ptr addrspace(1) %from, i32 {})'
)
TILES = "@tile = internal addrspace(3) global [128 x i32] undef, align 16"
WAIT = 'call void asm sideeffect "cp.async.wait_group $0;", "n"(i32 0)'


@pytest.mark.parametrize("bytes_", [16, 0])
def test_asynchronous_copies(bytes_: int) -> None:
    text = make(COPY.format(copy=COPIES.format(bytes_), wait=WAIT), globals=TILES)
    data = np.arange(128, dtype=np.int32).reshape(32, 4)
    wanted = data[::-1].copy() if bytes_ else np.zeros((32, 4))
    assert verdict(text, block=32) == "SAFE"
    assert not emulate(text, data, block=32).errors
    np.testing.assert_array_equal(data, wanted)


def test_copies_that_nobody_waits_for() -> None:
    text = make(COPY.format(copy=COPIES.format(16), wait=""), globals=TILES)
    assert verdict(text, block=32) != "SAFE"
    kinds = {it.kind for it in emulate(text, np.zeros(128, np.int32), block=32).errors}
    assert "async.not-waited" in kinds


# --- what is not known ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        "prmt.b32 $0, $1, $1, 0x3210;",
        "{ .reg .b32 t; mov.b32 t, $1; mov.b32 $0, t; }",
        "ld.global.b32 $0, [$1], 5;",
        "ld.global.b32 $0, [$7];",
        "ld.global.v4.b32 $0, [$1];",
        "ld.global.q32 $0, [$1];",
        "atom.add.sub.u32 $0, [$1], 1;",
        "mma.sync.aligned.m1n1k1.row.col.f32.f16.f16.f32 $0, $1, $1, $1;",
        "cp.async.cg.shared.global [$0], [$1], 0x11;",
        "bar.sync;",
        "mov.u32 $0, %nonsense;",
        "@$0 mov.u32 $0, 1;",
        "mov.u32 $$0, 1;",
        "mov.u32",
        "LAB: bra LAB;",
    ],
)
def test_what_is_not_known_is_refused_by_name(words: str) -> None:
    text = make(f"""
  %x = call i32 asm sideeffect "{words}", "=r,r"(i32 %t)
  %to = getelementptr i32, ptr %p, i32 %t
  store i32 %x, ptr %to
  ret void
""")
    assert verdict(text) in ("SAFE", "MAYBE")
    with pytest.raises(CompileError, match="inline assembly '") as caught:
        emulate(text, np.zeros(64, np.int32))
    assert (
        caught.value.diagnostics[0].location.line
        == text.splitlines().index(f'  %x = call i32 asm sideeffect "{words}", "=r,r"(i32 %t)') + 1
    )
