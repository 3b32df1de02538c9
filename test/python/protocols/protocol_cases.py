"""What others test their race checkers on, as programs of this folder, and what is said of each.

From Triton's ConSan (`python/test/gluon/test_consan.py`) and JAX's interpreter of Pallas kernels
(`tests/pallas/gpu_pallas_interpret_race_detection_test.py`): which accesses, with what between, and
whether they say that it is wrong. The kernels are written anew. Left out is what has no like here:
tensor memory and `tcgen05`, cancelled launches, what compilers of theirs do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from protocols.protocol_programs import Program, Repeat, Statement

Verdict = Literal["SAFE", "MAYBE", "RACE", "UNFIXABLE", "DIVERGENT", "DEADLOCK"]


@dataclass(frozen=True)
class Known:
    """A program, whether others call it wrong, and what the verifier says."""

    program: Program
    is_wrong: bool
    verdict: Verdict


def _when(condition: bool, *statements: Statement) -> tuple[Statement, ...]:
    return statements if condition else ()


def _tma() -> Iterator[Known]:
    for wrong in (False, True):
        body = ("tma 0 0", *_when(not wrong, "wait 0 0"), "load 0", *_when(wrong, "wait 0 0"))
        program = Program(f"consan async_tma {wrong}", (body,), (1,), slots=1)
        yield Known(program, wrong, "RACE" if wrong else "SAFE")
    for wrong in (False, True):
        program = Program(
            f"consan expect_bytes {wrong}",
            (("tma 0 0 16" if wrong else "tma 0 0", "wait 0 0", "load 0"),),
            (1,),
            slots=1,
        )
        yield Known(program, wrong, "DEADLOCK" if wrong else "SAFE")
    roles: tuple[tuple[Statement, ...], ...] = ("tma 0 0", "wait 0 0"), ("tma 1 1", "wait 1 0")
    yield Known(Program("consan deadlock_exempt_when_tma_signals", roles, (1, 1)), False, "SAFE")
    roles = ("store 0", "store 1", "fence", "tma 1 0"), ("wait 0 0", "load 1")
    yield Known(Program("consan tma_overwrite", roles, (1,)), False, "SAFE")


def _specialized() -> Iterator[Known]:
    """Return programs in which each warp does a thing once."""
    for wrong in (False, True):
        says: Verdict = "RACE" if wrong else "SAFE"
        roles: tuple[tuple[Statement, ...], ...] = (
            (*_when(not wrong, "wait 0 0"), "load 0", "store 1", "arrive 1"),
            ("store 0", "arrive 0"),
        )
        after = ("wait 1 0", "load 0")
        yield Known(
            Program(f"consan ws_store_wait_load {wrong}", roles, (1, 1), after=after), wrong, says
        )
        roles = (
            (*_when(not wrong, "wait 0 0"), "store 0", "arrive 1"),
            ("load 0", "arrive 0", "store 1"),
        )
        yield Known(
            Program(f"consan ws_load_wait_store {wrong}", roles, (1, 1), after=after), wrong, says
        )
        roles = (
            ("load 0", "arrive 0", "store 1"),
            ("load 0", "arrive 0", "store 2"),
            (*_when(not wrong, "wait 0 0"), "store 0", "arrive 1"),
        )
        yield Known(
            Program(f"consan ws_two_loads_one_bar {wrong}", roles, (2, 1), after=after), wrong, says
        )
    for missing in ("none", "1", "2"):
        waits = (*_when(missing != "1", "wait 0 0"), *_when(missing != "2", "wait 1 0"))
        roles = (
            ("load 0", "arrive 0", "store 1"),
            ("load 0", "arrive 1", "store 2"),
            (*waits, "store 0", "arrive 2"),
        )
        after = ("wait 2 0", "load 0")
        is_wrong = missing != "none"
        says = "RACE" if is_wrong else "SAFE"
        for name, widths in (("two_bars", (1, 1, 1)), ("different_warp_sizes", (2, 1, 4))):
            program = Program(
                f"consan ws_two_loads_{name} {missing}",
                roles,
                (1, 1, 1),
                after=after,
                widths=widths,
            )
            yield Known(program, is_wrong, says)


def _loops() -> Iterator[Known]:
    """Return programs in which warps go on handing slots to each other."""
    for missing in ("none", "0", "1", "2", "3"):
        reads = [
            Repeat(
                10,
                (*_when(missing != own, f"wait {own} phase"), "load 0", f"arrive {tells}"),
            )
            for own, tells in (("2", "0"), ("3", "1"))
        ]
        waits = [f"wait {number} phase" for number in "01" if missing != number]
        writes = Repeat(10, (*waits, "store 0", "arrive 2", "arrive 3"))
        program = Program(
            f"consan ws_two_loads_two_bars_loop {missing}",
            ((reads[0], "store 1"), (reads[1], "store 2"), (writes,)),
            (1, 1, 1, 1),
            before=("arrive 2", "arrive 3"),
        )
        yield Known(program, missing != "none", "SAFE" if missing == "none" else "RACE")
    for wrong in (False, True):
        writes = Repeat(10, ("wait 2 phase", "store 0", "arrive 0", "store 1", "arrive 1"))
        slot = 1 if wrong else 0
        reads_one = Repeat(10, ("wait 0 phase", f"load {slot}", "wait 1 phase", "arrive 2"))
        program = Program(
            f"consan ws_load_ordering {wrong}",
            ((writes,), (reads_one, "store 2")),
            (1, 1, 1),
            before=("arrive 2",),
        )
        yield Known(program, wrong, "RACE" if wrong else "SAFE")
    for missing in ("none", "T2", "T3"):
        first = Repeat(10, ("wait 2 phase", "store 0", "arrive 0"))
        second = Repeat(10, ("wait 3 phase", "store 1", "arrive 0"))
        third = Repeat(
            10, (*_when(missing != "T2", "wait 0 phase"), "load 0", "arrive 2", "arrive 3")
        )
        fourth = Repeat(
            10, (*_when(missing != "T3", "wait 0 phase"), "load 1", "arrive 2", "arrive 3")
        )
        program = Program(
            f"consan ws_two_producers_two_consumers {missing}",
            ((first,), (second,), (third, "store 2"), (fourth, "store 3")),
            (2, 2, 2, 2),
            before=("arrive 2 2", "arrive 3 2"),
        )
        yield Known(program, missing != "none", "SAFE" if missing == "none" else "RACE")


def _groups() -> Iterator[Known]:
    """Return programs with copies by threads, and stores by TMA."""
    for wrong in (False, True):
        says: Verdict = "RACE" if wrong else "SAFE"
        roles: tuple[tuple[Statement, ...], ...] = (
            ("copy 0", "copy 1", "copywait 1", "arrive 0"),
            ("wait 0 0", f"load {int(wrong)}", "meet", "store 0"),
        )
        yield Known(
            Program(f"consan ws_async_copy_wait_visibility {wrong}", roles, (1,)), wrong, says
        )
        body: tuple[Statement, ...]
        body = ("copy 0", "copy 1", f"copywait {1 + wrong}", "copy 0", "copywait 0")
        yield Known(
            Program(f"consan async_copy {wrong}", (body,)), wrong, "UNFIXABLE" if wrong else "SAFE"
        )
        body = ("put 0", "put 1", "putwait 1", "store 0", *_when(not wrong, "putwait 0"), "store 1")
        yield Known(Program(f"consan tma_store {wrong}", (body,)), wrong, says)
    for overlap in (False, True):
        for missing in (False, True):
            roles = (
                ("store 0", *_when(overlap, "store 1"), "arrive 0"),
                (*_when(not missing, "wait 0 0"), "load 1", "store 2"),
            )
            wrong = overlap and missing
            program = Program(f"consan aliasing_shared {missing} {overlap}", roles, (1,))
            yield Known(program, wrong, "RACE" if wrong else "SAFE")
            roles = (
                (
                    "copy 0",
                    *_when(overlap, "copy 1"),
                    *_when(not missing, "copywait 0"),
                    "arrive 0",
                ),
                ("wait 0 0", "store 1"),
            )
            program = Program(f"consan aliasing_commit {missing} {overlap}", roles, (1,))
            yield Known(program, wrong, "RACE" if wrong else "SAFE")
    for place in ("none", "producer_after_arrive", "producer", "consumer"):
        roles = (
            (
                "store 0",
                *_when(place == "producer", "fence"),
                "arrive 0",
                *_when(place == "producer_after_arrive", "fence"),
            ),
            ("wait 0 0", *_when(place == "consumer", "fence"), "put 0", "putwait 0"),
        )
        wrong = place != "producer"  # a fence of the reader counts in theirs
        program = Program(f"consan fence_async_shared {place}", roles, (1,))
        yield Known(program, wrong, "SAFE" if place == "producer" else "MAYBE")


def _deadlocks() -> Iterator[Known]:
    waits = ("wait 0 0",)
    yield Known(Program("consan two_partitions", (waits, ("wait 1 0",)), (1, 1)), True, "DEADLOCK")
    yield Known(Program("consan padded", ((), waits, waits, waits), (1,)), True, "DEADLOCK")
    roles: tuple[tuple[Statement, ...], ...] = ((), waits, ("arrive 1",))
    yield Known(Program("consan partition_returns", roles, (1, 1)), True, "DEADLOCK")
    body = ("arrive 0", "arrive 0", "meet", "wait 0 0")
    yield Known(Program("consan overarrival", (body,), (1, 1)), True, "MAYBE")
    roles = ("arrive 1", "wait 0 0"), ("arrive 0", "wait 1 0")
    yield Known(Program("consan underarrival", roles, (2, 2)), True, "DEADLOCK")
    roles = ("wait 0 0", "arrive 0"), ("wait 0 1",)
    program = Program("consan different_phases", roles, (1,), before=("arrive 0",))
    yield Known(program, False, "MAYBE")


def _pallas_loads() -> Iterator[Known]:
    """Return what JAX has of copies by TMA: fences and waits in one warp, or in two."""
    for fences in range(16):
        a, b, c, d = (bool(fences >> bit & 1) for bit in range(4))
        body = (
            *_when(a, "fence"),
            "store 0",
            *_when(b, "fence"),
            "tma 0 0",
            *_when(c, "fence"),
            "wait 0 0",
            *_when(d, "fence"),
            "load 0",
        )
        program = Program(f"pallas later_gmem_to_smem {a:d}{b:d}{c:d}{d:d}", (body,), (1,))
        yield Known(program, not b, "SAFE" if b else "MAYBE")
    for waits in (False, True):
        body = ("tma 0 0", *_when(waits, "wait 0 0"), "store 0", "meet", "load 0")
        program = Program(f"pallas earlier_gmem_to_smem {waits}", (body,), (1,))
        yield Known(program, not waits, "SAFE" if waits else "RACE")
    for fences in range(64):
        a, b, c, d, e, f = (bool(fences >> bit & 1) for bit in range(6))
        writer = (*_when(a, "fence"), "store 0", *_when(b, "fence"))
        one = (*writer, "tma 0 1", *_when(c, "fence"), "arrive 0")
        other = (
            *_when(d, "fence"),
            "wait 0 0",
            *_when(e, "fence"),
            "wait 1 0",
            *_when(f, "fence"),
            "load 0",
        )
        bits = f"{a:d}{b:d}{c:d}{d:d}{e:d}{f:d}"
        program = Program(f"pallas multi_thread {bits}", (one, other), (1, 1))
        yield Known(program, not b, "SAFE" if b else "MAYBE")
        one = (*writer, "arrive 0")
        other = (
            *_when(c, "fence"),
            "wait 0 0",
            *_when(d, "fence"),
            "tma 0 1",
            *_when(e, "fence"),
            "wait 1 0",
            *_when(f, "fence"),
            "load 0",
        )
        program = Program(f"pallas cross_thread {bits}", (one, other), (1, 1))
        yield Known(program, not b, "SAFE" if b else "MAYBE")  # `d` counts in theirs


def _pallas_stores() -> Iterator[Known]:
    """Return what JAX has of stores by TMA, and of copies onto copies."""
    for fences in range(8):
        a, b, c = (bool(fences >> bit & 1) for bit in range(3))
        body = (
            *_when(a, "fence"),
            "store 0",
            *_when(b, "fence"),
            "put 0",
            *_when(c, "fence"),
            "putwait 0",
        )
        program = Program(f"pallas smem_to_gmem {a:d}{b:d}{c:d}", (body,))
        yield Known(program, not b, "SAFE" if b else "MAYBE")
    for once in (False, True):
        for slot in (0, 1):
            body = (
                "store 0",
                "store 1",
                "fence",
                "put 0",
                "put 1",
                "putwait 1 read",
                *_when(not once, "putwait 1"),
                f"store {slot}",
                "putwait 0",
            )
            program = Program(f"pallas waits_read_only {once} {slot}", (body,))
            yield Known(program, slot == 1, "SAFE" if slot == 0 else "RACE")
    roles = (
        ("put 0", "arrive 0", "wait 1 0", "putwait 0"),
        ("wait 0 0", "putwait 0", "store 0", "arrive 1"),
    )
    yield Known(Program("pallas isolated_per_thread", roles, (1, 1)), True, "RACE")
    for waits in (False, True):
        body = (
            "fence",
            "tma 0 0",
            *_when(waits, "wait 0 0"),
            "tma 0 0",
            "wait 0 1" if waits else "wait 0 0",
        )
        program = Program(f"pallas visible_in_async {waits}", (body,), (1 if waits else 2,))
        yield Known(program, not waits, "SAFE" if waits else "RACE")


def known() -> list[Known]:
    """Return all of them."""
    makers = (_tma, _specialized, _loops, _groups, _deadlocks, _pallas_loads, _pallas_stores)
    return [case for make in makers for case in make()]
