"""Where barriers are placed, compared with all executions of small programs."""

from __future__ import annotations

import time
from itertools import chain
from random import Random

import _native_test
import pytest

from sync.placement_programs import (
    Executions,
    Hazard,
    Point,
    Program,
    count_executions,
    parse,
    parse_hazard,
    random_hazards,
    random_nest,
    random_program,
)


def vector(program: Program, points: list[Point]) -> tuple[int, ...]:
    """Return the number of barriers per level, the deepest first."""
    levels = [len(program.loops_around(sequence)) for sequence, _ in points]
    return tuple(levels.count(level) for level in range(4, -1, -1))


def show(program: Program, points: list[Point]) -> list[str]:
    """Return points as paths: `L.1` is before item 1 of the body of the first loop."""
    return [f"{sequence}.{place}" for sequence, place in points]


# Sequence 0 is the outermost one; others are numbered as they open.
SITUATIONS = {
    "read after write": ("Wa Ra", ["Wa Ra"], ["0.1"]),
    "two writes, two reads": ("Wa Wb Ra Rb", ["Wa Ra", "Wb Rb"], ["0.2"]),
    "one after the other": ("Wa Ra Wb Rb", ["Wa Ra", "Wb Rb"], ["0.1", "0.3"]),
    "loop": ("loop L { W R }", ["W R", "R W L", "W R L", "W W L"], ["1.0", "1.1"]),
    "loop with two buffers": (
        "loop L { Wa Ra Wb Rb }",
        ["Wa Ra", "Wb Rb", "Ra Wa L", "Rb Wb L", "Wa Wa L", "Wb Wb L"],
        ["1.1", "1.3"],
    ),
    "two slots": ("loop L { W R }", ["W R", "R W L far", "W W L far"], ["1.1"]),
    "two slots, read of the other": (
        "loop L { W R }",
        ["R W L", "W R L", "W W L far"],
        ["1.0"],
    ),
    "four slots, two iterations ahead": (
        "loop L { W R }",
        ["W R L far", "R W L far", "W W L far"],
        ["1.1"],
    ),
    "before the loop": ("W loop L { R }", ["W R"], ["0.1"]),
    "after the loop": ("loop L { W } R", ["W R"], ["0.1"]),
    "while": ("loop L exit 0 { W R }", ["W R", "R W L"], ["1.0", "1.1"]),
    "do while": ("loop L exit 2 iteration { W R }", ["W R", "R W L"], ["1.0", "1.1"]),
    "while, the test between": (
        "loop L exit 1 { W R } Q",
        ["W R", "R W L", "W Q"],
        ["1.0", "1.1"],
    ),
    "branch": (
        "Wa if { Wb Rb } Ra",
        ["Wa Ra", "Wb Rb"],
        ["0.2", "1.1"],
    ),
    "both regions": (
        "Wa if { Wb Rb } else { Wc Rc } Ra",
        ["Wa Ra", "Wb Rb", "Wc Rc"],
        ["1.1", "2.1"],
    ),
    "a loop that may have no iteration": (
        "Wa loop L { Wb Rb } Ra",
        ["Wa Ra", "Wb Rb"],
        ["0.2", "1.1"],
    ),
    "a loop with an iteration": ("Wa loop L iteration { Wb Rb } Ra", ["Wa Ra", "Wb Rb"], ["1.1"]),
    "out of the inner loop": (
        "loop L { W loop M { R } }",
        ["W R", "R W L"],
        ["1.0", "1.1"],
    ),
    "in the inner loop and around": (
        "loop L { W loop M { R Q } P }",
        ["W R", "R Q", "Q R M", "Q P", "P W L"],
        ["1.0", "1.2", "2.0", "2.1"],
    ),
    "before a call": ("Wa call { Q Ra } R", ["Wa Ra"], ["0.1"]),
    "in a call nothing stands": ("Wa call { Ra Wb } call { Rb }", ["Wa Rb", "Wb Rb"], ["0.3"]),
    "call in a loop": (
        "loop L { call { W if { Q } R } }",
        ["R W L", "R Q L"],
        ["1.0"],
    ),
    "barrier in a call": ("Wa call { barrier Ra } Wb", ["Wa Ra", "Ra Wb"], ["0.3"]),
    "barrier of the program": ("Wa barrier Ra Wb Rb", ["Wa Ra", "Wb Rb"], ["0.4"]),
}


@pytest.mark.parametrize("name", SITUATIONS)
def test_situations(name: str) -> None:
    text, hazards, places = SITUATIONS[name]
    program, names = parse(text)
    placement = _native_test.place_barriers(
        program.native, [parse_hazard(hazard, names) for hazard in hazards]
    )
    assert show(program, placement.points) == places
    assert placement.is_optimal
    assert not placement.uncovered


def test_existing_barriers() -> None:
    program, names = parse("Wa barrier Ra barrier Wb Qb barrier Rb")
    hazards = [parse_hazard("Wa Ra", names), parse_hazard("Wb Rb", names)]
    assert _native_test.place_barriers(program.native, hazards).points == []
    kept = _native_test.place_barriers(program.native, hazards, replace_existing=True)
    # Behind the first and the last one.
    assert kept.points == [(0, 2), (0, 7)]
    assert kept.certificate == [0, 1]


def test_places_of_existing_barriers_are_preferred() -> None:
    program, names = parse("Wa barrier Qa Ra")
    placement = _native_test.place_barriers(program.native, [parse_hazard("Wa Ra", names)], True)
    assert placement.points == [(0, 2)]


def test_barriers_that_stay() -> None:
    program, names = parse("Wa barrier Qa barrier Ra barrier Wb call { barrier Rb }")
    hazards = [parse_hazard(text, names) for text in ("Wa Ra", "Qa Ra", "Wb Rb")]
    chosen = _native_test.choose_barriers(program.native, hazards)
    assert chosen.points == [(0, 4)]
    assert chosen.is_optimal


def test_nothing_between() -> None:
    program, names = parse("if { Wa } else { Ra } call { Wb Rb }")
    hazards = [parse_hazard(text, names) for text in ("Wa Ra", "Wb Rb")]
    placement = _native_test.place_barriers(program.native, hazards)
    assert placement.uncovered == [0, 1]
    assert placement.points == []


# All executions


def is_covered(masks: list[int], places: int) -> bool:
    return all(mask & places for mask in masks)


def check(program: Program, hazards: list[Hazard], most: int, rng: Random) -> None:
    """Compare with what the executions say: each hazard for itself, then the placement."""
    executions = Executions(program, most)
    points = program.points()
    masks = [executions.between(hazard) for hazard in hazards]
    for hazard, between in zip(hazards, masks, strict=True):
        some = [point for point in points if rng.random() < 0.4]
        bits = sum(executions.bits[point] for point in some)
        given = executions.barrier | executions.called
        expected = bool(between) and is_covered(between, bits | given)
        assert _native_test.is_covered(program.native, hazard, some) == expected, (hazard, some)
    for replace_existing in (False, True):
        check_placement(program, hazards, masks, executions, replace_existing)
    check_choice(program, hazards, masks, executions)


def check_placement(
    program: Program,
    hazards: list[Hazard],
    masks: list[list[int]],
    executions: Executions,
    replace_existing: bool,
) -> None:
    placement = _native_test.place_barriers(program.native, hazards, replace_existing)
    given = executions.called | (0 if replace_existing else executions.barrier)
    everything = sum(executions.bits.values()) | given
    uncovered = [
        n for n, between in enumerate(masks) if not between or not is_covered(between, everything)
    ]
    assert placement.uncovered == uncovered
    wanted = [mask for n, between in enumerate(masks) if n not in uncovered for mask in between]
    places = sum(executions.bits[point] for point in placement.points)
    assert is_covered(wanted, places | given), placement.points
    existing = program.existing() if replace_existing else set(placement.points)
    best, fewest = brute_force(program, wanted, executions, given, existing)
    found = (*vector(program, placement.points), len(set(placement.points) - existing))
    if replace_existing:
        assert found == best, placement.points
    else:
        assert found[:-1] == best[:-1], placement.points
    assert placement.is_optimal
    assert len(placement.certificate) <= fewest
    for first in placement.certificate:
        for second in placement.certificate:
            assert first == second or not any(
                is_covered(masks[first] + masks[second], bit | given)
                for bit in executions.bits.values()
            )


def check_choice(
    program: Program, hazards: list[Hazard], masks: list[list[int]], executions: Executions
) -> None:
    """Of barriers that are there, the fewest stay that cover what all of them cover."""
    given = executions.called | executions.barrier
    cover = [n for n, between in enumerate(masks) if between and is_covered(between, given)]
    chosen = _native_test.choose_barriers(program.native, [hazards[n] for n in cover])
    existing = sorted(program.existing())
    assert set(chosen.points) <= set(existing)
    assert not chosen.uncovered
    assert chosen.is_optimal
    wanted = [mask for n in cover for mask in masks[n]]
    places = sum(executions.bits[point] for point in chosen.points)
    assert is_covered(wanted, places | executions.called)
    best, _ = brute_force(program, wanted, executions, executions.called, set(existing), existing)
    assert (*vector(program, chosen.points), 0) == best


def brute_force(
    program: Program,
    wanted: list[int],
    executions: Executions,
    given: int,
    existing: set[Point],
    points: list[Point] | None = None,
) -> tuple[tuple[int, ...], int]:
    """Return the least vector, with the number of new places, and the least number of all."""
    wanted = [mask for mask in set(wanted) if not mask & given]
    points = list(executions.bits) if points is None else points
    bits = [executions.bits[point] for point in points]
    units = [(*vector(program, [point]), int(point not in existing)) for point in points]
    best, fewest = None, len(points)
    for places in range(1 << len(points)):
        numbers = [n for n in range(len(points)) if places >> n & 1]
        covering = sum(bits[n] for n in numbers)
        if all(mask & covering for mask in wanted):
            chosen = [units[n] for n in numbers]
            total = tuple(map(sum, zip(*chosen, strict=True))) if chosen else (0,) * 6
            best = total if best is None else min(best, total)
            fewest = min(fewest, len(chosen))
    assert best is not None
    return best, fewest


@pytest.mark.parametrize("part", range(4))
def test_random_programs(part: int) -> None:
    rng = Random(part)
    done = 0
    while done < 500:
        program = random_program(rng, 9)
        most = 3 if count_executions(program, 3) <= 100 else 2
        if count_executions(program, most) > 200:
            continue
        hazards = random_hazards(rng, program, most == 3)
        check(program, hazards, most, rng)
        done += 1


# Barriers of warps on top


def least_of_both(
    executions: Executions, block: list[int], warp: list[int], unit: dict[int, tuple[int, ...]]
) -> dict[int, tuple[int, ...]]:
    """Return the least vector of both kinds, by the places of those of the block."""
    given = executions.called | executions.barrier
    bits = list(executions.bits.values())
    sets = [0]
    for bit in bits:
        sets += [places | bit for places in sets]

    def spent(places: int, slot: int) -> tuple[int, ...]:
        total = [0] * 10
        for bit in bits:
            if places & bit:
                for level, number in enumerate(unit[bit]):
                    total[2 * level + slot] += number
        return tuple(total)

    of_warps = {places: spent(places, 1) for places in sets}
    least: dict[int, tuple[int, ...]] = {}
    for places in sets:
        if not is_covered(block, places | given):
            continue
        rest = min(
            cost for more, cost in of_warps.items() if is_covered(warp, places | more | given)
        )
        least[places] = tuple(map(sum, zip(spent(places, 0), rest, strict=True)))
    return least


def test_with_barriers_of_warps() -> None:
    """The places of the block are those to which the fewest of both kinds belong."""
    rng = Random(7)
    done = differs = 0
    while done < 150:
        program = random_program(rng, 6)
        if count_executions(program, 2) > 100 or len(program.points()) > 7:
            continue
        executions = Executions(program, 2)
        everything = sum(executions.bits.values())
        hazards, masks = [], []
        for hazard in random_hazards(rng, program, False):
            between = executions.between(hazard)
            if between and is_covered(between, everything):
                hazards.append(hazard)
                masks.append(between)
        half = len(hazards) // 2
        block, warp = (list(chain(*part)) for part in (masks[:half], masks[half:]))
        unit = {executions.bits[point]: vector(program, [point]) for point in executions.bits}
        least = least_of_both(executions, block, warp, unit)
        placement = _native_test.place_barriers_with_warps(
            program.native, hazards[:half], hazards[half:]
        )
        found = sum(executions.bits[point] for point in placement.points)
        assert least[found] == min(least.values()), placement.points
        assert placement.is_optimal
        alone = _native_test.place_barriers(program.native, hazards[:half])
        differs += least[sum(executions.bits[point] for point in alone.points)] > min(
            least.values()
        )
        done += 1
    assert differs > 0


# Size


def straight(size: int) -> tuple[Program, list[int]]:
    program = Program()
    return program, [program.append(0, _native_test.SyncKind.STEP) for _ in range(size)]


@pytest.mark.parametrize("length", [1, 7, 40, 2048])
def test_long_programs(length: int) -> None:
    program, steps = straight(4096)
    hazards: list[Hazard] = [
        (source, target, None, False) for source, target in zip(steps, steps[length:], strict=False)
    ]
    start = time.perf_counter()
    placement = _native_test.place_barriers(program.native, hazards)
    assert time.perf_counter() - start < 2
    assert placement.is_optimal
    assert len(placement.points) == len(placement.certificate) == 4095 // length


def test_nested_loops() -> None:
    for seed in range(20):
        rng = Random(seed)
        program, hazards = random_nest_with_hazards(rng, 3, 100)
        start = time.perf_counter()
        placement = _native_test.place_barriers(program.native, hazards)
        assert time.perf_counter() - start < 0.5
        assert placement.is_optimal
        check_minimal(program, hazards, placement)


def random_nest_with_hazards(rng: Random, depth: int, count: int) -> tuple[Program, list[Hazard]]:
    program = Program()
    random_nest(rng, depth, program)
    hazards: list[Hazard] = []
    while len(hazards) < count:
        hazards += random_hazards(rng, program, True)
    return program, hazards


def check_minimal(
    program: Program, hazards: list[Hazard], placement: _native_test.SyncPlacement
) -> None:
    """Every hazard is covered, and none of the barriers can be left out."""
    coverable = [hazard for n, hazard in enumerate(hazards) if n not in placement.uncovered]
    points = placement.points
    assert all(_native_test.is_covered(program.native, hazard, points) for hazard in coverable)
    for point in points:
        others = [other for other in points if other != point]
        assert not all(
            _native_test.is_covered(program.native, hazard, others) for hazard in coverable
        )


def test_limited_time() -> None:
    """Where the search ends before all is tried, the result is right, and says so."""
    limited = 0
    for seed in range(12):
        program, hazards = random_nest_with_hazards(Random(seed), 6, 1000)
        start = time.perf_counter()
        placement = _native_test.place_barriers(program.native, hazards)
        assert time.perf_counter() - start < 10
        if not placement.is_optimal:
            limited += 1
            check_minimal(program, hazards, placement)
    assert limited > 0
