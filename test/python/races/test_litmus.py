"""PTX's memory model: the table of litmus tests by the axioms, and their races by the emulator."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import oracles.litmus.notation
from oracles.litmus.kernels import Unsupported, make_kernel
from oracles.litmus.liveness import always_ends
from oracles.litmus.model import decide
from oracles.litmus.notation import Litmus, read, write
from oracles.litmus.races import guard, has_race
from race_suites.cases import is_race
from race_suites.litmus import emulate

TABLES = Path(oracles.litmus.notation.__file__).with_name("tables")

# Each waits for the other, and blocks run one after the other.
WAITING = ("Manual/XF-Barrier-relacq", "Manual/XF-Barrier-rlx", "Manual/XF-Barrier-weak")


def _tests() -> Iterator[Litmus]:
    for table in sorted(TABLES.glob("*.txt")):
        yield from read(table.read_text())


TESTS = {litmus.name: litmus for litmus in _tests()}
VERDICTS = [(name, version) for name, litmus in TESTS.items() for version in litmus.verdicts]


def _runs(litmus: Litmus) -> bool:
    try:
        make_kernel(guard(litmus))
    except Unsupported:
        return False
    return litmus.name not in WAITING


RUNNING = [name for name, litmus in TESTS.items() if litmus.verdicts and _runs(litmus)]
ENDING = [name for name, litmus in TESTS.items() if litmus.ends is not None]


def test_the_table_is_whole() -> None:
    assert sum(bool(litmus.verdicts) for litmus in TESTS.values()) == 264
    assert len(VERDICTS) == 399
    assert len(RUNNING) == 116
    assert sum(TESTS[name].is_racy is True for name in RUNNING) == 62
    assert len(ENDING) == 91


@pytest.mark.parametrize(("name", "version"), VERDICTS)
def test_verdicts_follow_from_the_axioms(name: str, version: str) -> None:
    litmus = TESTS[name]
    assert decide(litmus, version) == litmus.verdicts[version]


@pytest.mark.parametrize("name", ENDING)
def test_threads_end_if_each_is_let_go_on(name: str) -> None:
    assert always_ends(TESTS[name]) == TESTS[name].ends


WAITS = "again:; r0 = {load} f; if r0 != 1 goto again"


@pytest.mark.parametrize(
    ("first", "second", "ends"),
    [
        (WAITS.format(load="ld.relaxed.gpu"), "st.relaxed.gpu f 1", True),
        (WAITS.format(load="ld.relaxed.gpu"), "st f 1", True),
        (WAITS.format(load="ld.relaxed.gpu"), "st f 2", False),
        # Nothing makes it look again.
        (WAITS.format(load="ld"), "st.relaxed.gpu f 1", False),
        # Each undoes what the other waits for.
        (
            "again:; r0 = exch.relaxed.gpu f 0; if r0 == 1 goto again",
            "again:; r0 = exch.relaxed.gpu f 1; if r0 == 0 goto again",
            False,
        ),
        ("bar 1; " + WAITS.format(load="ld.relaxed.gpu"), "st f 1; bar 1", True),
        ("bar 1; st f 1", WAITS.format(load="ld.relaxed.gpu") + "; bar 1", False),
        ("bar 1 1 2", "st f 1", False),
    ],
)
def test_threads_that_wait(first: str, second: str, ends: bool) -> None:
    (litmus,) = read(f"test waits\nat 0.0 0.0\n0: {first}\n1: {second}\nalways f == 1\n")
    assert always_ends(litmus) == ends


@pytest.mark.parametrize("name", RUNNING)
def test_races_are_found_by_the_emulator(name: str) -> None:
    litmus = TESTS[name]
    kinds = emulate(guard(litmus))
    assert any(map(is_race, kinds)) == litmus.is_racy, kinds


@pytest.mark.parametrize("name", RUNNING)
def test_races_follow_from_the_axioms(name: str) -> None:
    assert has_race(guard(TESTS[name]), "60") == TESTS[name].is_racy


def test_the_notation_is_read_as_it_is_written() -> None:
    for litmus in TESTS.values():
        (again,) = read(write(litmus))
        assert again == litmus


MESSAGE = """
test message race:no
at 0.0 {place}.0
0: st x 1; {fence}st.{store} y 1
1: r0 = ld.{load} y; r1 = ld x
never 1:r0 == 1 & 1:r1 == 0
"""


@pytest.mark.parametrize(
    ("place", "store", "load", "is_racy"),
    [
        (0, "release.cta", "acquire.cta", False),
        (1, "release.cta", "acquire.cta", True),
        (1, "release.gpu", "acquire.gpu", False),
        (1, "relaxed.gpu", "acquire.gpu", True),
        (1, "release.gpu", "relaxed.gpu", True),
    ],
)
def test_a_mark_less_is_a_race(place: int, store: str, load: str, is_racy: bool) -> None:
    (litmus,) = read(MESSAGE.format(place=place, fence="", store=store, load=load))
    assert has_race(guard(litmus), "60") == has_race(guard(litmus), "75") == is_racy
    assert decide(litmus, "60") == decide(litmus, "75") == (not is_racy)
    assert any(map(is_race, emulate(guard(litmus)))) == is_racy


def test_what_is_not_understood_is_told() -> None:
    with pytest.raises(ValueError, match="line 2"):
        list(read("test a\n0: jump\nnever x == 1\n"))
