"""Calls of what no program defines: libdevice, printing, assertions."""

from __future__ import annotations

import numpy as np
import pytest

from foreign.llvm_text import BARRIER, emulate, make, verdict

TILE = "@tile = internal addrspace(3) global [64 x float] undef, align 4"
TEXT = (
    '@words = private constant [4 x i8] c"%d\\0A\\00"\n@where = private constant [2 x i8] c"f\\00"'
)
REVERSE = """
  %from = getelementptr float, ptr %p, i32 %t
  %x = load float, ptr %from
  %in = getelementptr [64 x float], ptr addrspace(3) @tile, i32 0, i32 %t
  store float %x, ptr addrspace(3) %in
  {call}
  {barrier}
  %o = sub nsw i32 63, %t
  %out = getelementptr [64 x float], ptr addrspace(3) @tile, i32 0, i32 %o
  %y = load float, ptr addrspace(3) %out
  store float %y, ptr %from
  ret void
"""
CALLS = {
    "libdevice": "%s = call float @__nv_sqrtf(float %x)",
    "print": """%room = alloca i32
  store i32 %t, ptr %room
  %n = call i32 @vprintf(ptr @words, ptr %room)""",
    "assertion": """%bad = icmp sgt i32 %t, 100
  br i1 %bad, label %fail, label %next
fail:
  call void @__assertfail(ptr @words, ptr @where, i32 1, ptr @where, i64 1)
  br label %next
next:""",
}


def _reverse(call: str, barrier: str = BARRIER) -> str:
    body = REVERSE.format(call=CALLS[call], barrier=barrier)
    return make(body, globals=f"{TILE}\n{TEXT}")


@pytest.mark.parametrize("call", CALLS)
def test_calls_of_libraries_touch_no_memory_of_the_program(call: str) -> None:
    assert verdict(_reverse(call)) == "SAFE"
    data = np.arange(64, dtype=np.float32)
    assert not emulate(_reverse(call), data).errors
    np.testing.assert_array_equal(data, np.arange(64)[::-1])


@pytest.mark.parametrize("call", CALLS)
def test_they_are_no_barriers_either(call: str) -> None:
    text = _reverse(call, barrier="")
    assert verdict(text) == "RACE"
    assert emulate(text, np.zeros(64, np.float32)).errors


def test_a_function_that_nobody_knows_may_do_anything() -> None:
    text = _reverse("libdevice").replace("__nv_sqrtf", "somebodys")
    assert verdict(text) == "MAYBE"


def test_a_failed_assertion_is_found() -> None:
    text = _reverse("assertion").replace("icmp sgt i32 %t, 100", "icmp sgt i32 %t, 60")
    report = emulate(text, np.zeros(64, np.float32))
    assert "assertion" in {finding.kind for finding in report.errors}
