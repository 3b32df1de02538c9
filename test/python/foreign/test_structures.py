"""Structures that kernels are passed by value."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pipeline
from foreign.llvm_text import BARRIER, emulate, make, verdict
from pipeline.errors import KindError
from support.command_line import call

TYPE = "%S = type { i32, [2 x i16], double }\n"
ARGUMENTS = "ptr byval(%S) align 8 %s, ptr %p"
RECORD = np.dtype([("n", np.int32), ("h", np.int16, 2), ("x", np.float64)])
# The thread's number by the parts of the structure, one of which it writes.
BODY = """
  %n = load i32, ptr %s
  %more = add nsw i32 %n, %t
  store i32 %more, ptr %s
  %second = getelementptr i8, ptr %s, i32 6
  %h = load i16, ptr %second
  %hs = sext i16 %h to i32
  %again = load i32, ptr %s
  %sum = add nsw i32 %again, %hs
  %third = getelementptr i8, ptr %s, i32 8
  %x = load double, ptr %third
  %xs = fptosi double %x to i32
  %all = add nsw i32 %sum, %xs
  %to = getelementptr i32, ptr %p, i32 %t
  store i32 %all, ptr %to
  ret void
"""
TEXT = make(BODY, ARGUMENTS, TYPE)
VALUE = np.array((5, (1, -3), 100.0), RECORD)


@pytest.mark.parametrize("given", [VALUE, VALUE.tobytes(), VALUE[()]])
def test_numbers(given: object) -> None:
    result = np.zeros(64, np.int32)
    assert not emulate(TEXT, given, result).errors
    np.testing.assert_array_equal(result, np.arange(64) + 102)
    assert verdict(TEXT) == "SAFE"


def test_parts_that_only_the_launch_chooses() -> None:
    text = make(
        """
  %i = and i32 %t, 1
  %halves = getelementptr i8, ptr %s, i32 4
  %place = getelementptr i16, ptr %halves, i32 %i
  %h = load i16, ptr %place
  %hs = sext i16 %h to i32
  %to = getelementptr i32, ptr %p, i32 %t
  store i32 %hs, ptr %to
  ret void
""",
        ARGUMENTS,
        TYPE,
    )
    result = np.zeros(64, np.int32)
    assert not emulate(text, VALUE, result).errors
    np.testing.assert_array_equal(result.reshape(-1, 2), [[1, -3]] * 32)
    assert verdict(text) == "SAFE"


def test_parts_are_the_same_for_all_threads() -> None:
    body = f"""
  %n = load i32, ptr %s
  %is = icmp sgt i32 %n, 3
  br i1 %is, label %some, label %end
some:
  {BARRIER}
  br label %end
end:
  %to = getelementptr i32, ptr %p, i32 %t
  store i32 %n, ptr %to
  ret void
"""
    assert verdict(make(body, ARGUMENTS, TYPE)) == "SAFE"
    # Each thread has its own copy, and changes it.
    own = body.replace("  %is =", "  %m = add i32 %n, %t\n  %is =").replace(
        "i32 %n, 3", "i32 %m, 3"
    )
    assert verdict(make(own, ARGUMENTS, TYPE)) != "SAFE"


def test_places_by_a_part_race_as_those_by_a_number() -> None:
    body = """
  %n = load i32, ptr %s
  %i = sdiv i32 %t, 2
  %to = getelementptr i32, ptr %p, i32 %i
  store i32 %t, ptr %to
  ret void
"""
    assert verdict(make(body, ARGUMENTS, TYPE)) == verdict(
        make(body.replace("load i32, ptr %s", "add i32 %s, 0"), "i32 %s, ptr %p")
    )


@pytest.mark.parametrize("given", [b"", bytes(15), np.zeros(3, np.int32), 7, None, [1, 2]])
def test_what_has_other_bytes_is_refused(given: object) -> None:
    with pytest.raises(KindError, match=r"argument 0 is passed by value as .*, which has 16 bytes"):
        emulate(TEXT, given, np.zeros(64, np.int32))


def test_pointers_in_structures_are_refused() -> None:
    text = make(
        """
  %q = load ptr, ptr %s
  %to = getelementptr i32, ptr %q, i32 %t
  store i32 %t, ptr %to
  ret void
""",
        "ptr byval({ ptr, i32 }) align 8 %s",
    )
    with pytest.raises(KindError, match="with a pointer in it, and an array cannot be given"):
        emulate(text, bytes(16))
    assert pipeline.compile(text, block=64, grid=1, verify=False).cubin


def test_structures_that_are_values() -> None:
    text = make(
        """
  %n = extractvalue { i32, i64 } %s, 0
  %to = getelementptr i32, ptr %p, i32 %t
  store i32 %n, ptr %to
  ret void
""",
        "{ i32, i64 } %s, ptr %p",
    )
    result = np.zeros(64, np.int32)
    record = np.array((7, 8), np.dtype([("n", np.int32), ("m", np.int64)], align=True))
    assert not emulate(text, record, result).errors
    assert (result == 7).all()


def test_files_give_structures(tmp_path: Path) -> None:
    (tmp_path / "k.ll").write_text(TEXT)
    np.save(tmp_path / "s.npy", VALUE)
    words = ("run", "k.ll", "--kernel", "k", "--grid", "1", "--block", "64", "--no-verify")
    outcome = call(*words, "--arg", "s.npy", "--arg", "64xi32=0", "--out", "o", cwd=tmp_path)
    assert outcome.code == 0, outcome.words
    np.testing.assert_array_equal(np.load(tmp_path / "o" / "arg1.npy"), np.arange(64) + 102)
    bad = call(*words, "--arg", "3", "--arg", "64xi32=0", cwd=tmp_path)
    assert bad.code == 2
    assert "argument 0 is passed by value" in bad.words
