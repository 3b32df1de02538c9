"""The integer solver, compared with an enumeration of all values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

import numpy as np
import pytest
from _native_test import IntegerAnswer, solve_integers

Constraint = tuple[list[int], int, bool]

SYSTEMS = 4000
CHUNKS = 8


def bound(size: int, variable: int, least: int, most: int) -> list[Constraint]:
    """Return that a variable of `size` is between two numbers."""
    up, down = [0] * size, [0] * size
    up[variable], down[variable] = 1, -1
    return [(up, -least, False), (down, most, False)]


def remainder(random: Random, size: int, mosts: list[int]) -> list[Constraint]:
    """Return that a variable is another one divided by a number, or the latter's remainder."""
    dividend, quotient = random.sample(range(size), 2)
    divisor = random.choice([2, 3, 4, 8])
    mosts[quotient] = mosts[dividend] // divisor + random.randrange(2)
    up, down = [0] * size, [0] * size
    up[dividend], up[quotient] = 1, -divisor
    down[dividend], down[quotient] = -1, divisor
    return [(up, 0, False), (down, divisor - 1, False)]


def overlap(random: Random, size: int) -> list[Constraint]:
    """Return that two places of elements of several bytes have a byte in common."""
    width = random.choice([1, 2, 4, 8])
    distance = [width * random.choice([-16, -8, -4, -1, 0, 0, 1, 4, 8, 16]) for _ in range(size)]
    constant = width * random.randrange(-16, 16)
    opposite = [-factor for factor in distance]
    return [(distance, constant + width - 1, False), (opposite, width - 1 - constant, False)]


def some(random: Random, size: int) -> list[Constraint]:
    """Return one or two constraints on sums of some variables."""
    if random.random() < 0.5:
        return overlap(random, size)
    factors = [random.choice([-6, -2, -1, 0, 1, 2, 3, 5, 64]) for _ in range(size)]
    return [(factors, random.randrange(-20, 20), random.random() < 0.3)]


@dataclass
class System:
    """Constraints, choices of further ones, and the least and the most of each variable."""

    constraints: list[Constraint]
    choices: list[list[list[Constraint]]]
    leasts: list[int]
    mosts: list[int]

    def solve(self, **options: bool) -> tuple[IntegerAnswer, list[int]]:
        """Return what the solver says."""
        return solve_integers(self.constraints, len(self.mosts), self.choices, **options)

    def holds(self, values: np.ndarray) -> np.ndarray:
        """Return which rows of `values` are a solution."""
        result = all_hold(self.constraints, values)
        for choice in self.choices:
            result &= np.any([all_hold(case, values) for case in choice], axis=0)
        return result

    def is_solvable(self) -> bool:
        """Return whether any values of the variables are a solution."""
        ranges = zip(self.leasts, self.mosts, strict=True)
        axes = np.meshgrid(*(np.arange(least, most + 1) for least, most in ranges))
        return bool(self.holds(np.stack([axis.ravel() for axis in axes], axis=1)).any())


def generate(random: Random) -> System:
    """Return a random system."""
    size = random.randrange(1, 6)
    mosts = [random.choice([1, 3, 7, 12]) for _ in range(size)]
    constraints: list[Constraint] = []
    if size > 1:
        for _ in range(random.randrange(3)):
            constraints += remainder(random, size, mosts)
    leasts = [random.choice([0, 0, 0, -5]) for _ in range(size)]
    for variable in range(size):
        constraints += bound(size, variable, leasts[variable], mosts[variable])
    for _ in range(random.randrange(1, 4)):
        constraints += some(random, size)
    random.shuffle(constraints)
    choices = [
        [some(random, size) for _ in range(random.randrange(1, 4))]
        for _ in range(random.choice([0, 1, 3]))
    ]
    return System(constraints, choices, leasts, mosts)


def all_hold(constraints: list[Constraint], values: np.ndarray) -> np.ndarray:
    """Return for which rows of `values` all constraints hold."""
    result = np.ones(len(values), bool)
    for factors, constant, is_equality in constraints:
        total = values @ np.array(factors) + constant
        result &= total == 0 if is_equality else total >= 0
    return result


def systems(chunk: int) -> Iterator[tuple[Random, System]]:
    """Return a part of the random systems, and what goes on to be random."""
    for seed in range(chunk * SYSTEMS // CHUNKS, (chunk + 1) * SYSTEMS // CHUNKS):
        random = Random(seed)
        yield random, generate(random)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_agrees_with_enumeration(chunk: int) -> None:
    """An answer is what all values tell, a sample is a solution; both answers are met often."""
    counts = Counter[bool]()
    for _, system in systems(chunk):
        is_solvable = system.is_solvable()
        answer, sample = system.solve()
        assert answer == (IntegerAnswer.SOLVED if is_solvable else IntegerAnswer.EMPTY), system
        if is_solvable:
            assert system.holds(np.array([sample])).all(), system
            assert system.solve(is_rational=True)[0] == IntegerAnswer.SOLVED, system
        counts[is_solvable] += 1
    assert min(counts[True], counts[False]) > SYSTEMS // CHUNKS // 10


def test_factors_far_apart() -> None:
    """Terms that cannot make up for a step of larger ones are told apart, and others are not."""
    counts = Counter[bool]()
    for seed in range(1500):
        random = Random(seed)
        size = random.randrange(2, 6)
        leasts = [random.choice([0, 0, -1, -4, 2]) for _ in range(size)]
        mosts = [least + random.choice([0, 1, 3, 4, 7]) for least in leasts]
        constraints: list[Constraint] = []
        for variable in range(size):
            constraints += bound(size, variable, leasts[variable], mosts[variable])
        for _ in range(random.randrange(1, 3)):
            steps = [1, 2, 4, 8, 16, 24, 64, 96, 256, 1024]
            factors = [random.choice([-1, 1]) * random.choice(steps) for _ in range(size)]
            constant = random.choice([0, random.randrange(-40, 40), 64 * random.randrange(-9, 9)])
            width = random.choice([0, 1, 3, 15, 40])
            opposite = [-factor for factor in factors]
            constraints.append((factors, constant + width, False))
            constraints.append((opposite, width - constant, False))
        random.shuffle(constraints)
        system = System(constraints, [], leasts, mosts)
        is_solvable = system.is_solvable()
        answer, sample = system.solve()
        assert answer == (IntegerAnswer.SOLVED if is_solvable else IntegerAnswer.EMPTY), system
        assert not is_solvable or system.holds(np.array([sample])).all(), system
        counts[is_solvable] += 1
    assert min(counts.values()) > 150


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_ranges_without_an_end(chunk: int) -> None:
    """Without some of the bounds there is a solution where there was one; samples are solutions."""
    more = 0
    for random, system in systems(chunk):
        is_solvable = system.is_solvable()
        system.constraints = [
            constraint
            for constraint in system.constraints
            if sum(factor != 0 for factor in constraint[0]) > 1 or random.random() < 0.6
        ]
        answer, sample = system.solve()
        if answer == IntegerAnswer.SOLVED:
            assert system.holds(np.array([sample])).all(), system
            more += not is_solvable
        else:
            assert not is_solvable, system
    assert more > 0


def test_forced_cases_leave_others_free() -> None:
    """A variable that only cases know is not taken for zero."""
    more, less = ([1], -5, False), ([-1], -5, False)
    answer, sample = solve_integers([], 1, [[[more], [less]], [[([1], 0, False)]]])
    assert (answer, sample) == (IntegerAnswer.SOLVED, [5])


def test_remainders_tell_threads_apart() -> None:
    """Of x = 64 r + 8 q + k with r of an endless x, no range is enumerated."""
    # x0 - 2 x1 is 0 or 1; x2 - 64 (x0 - 2 x1) - 8 x3 - x4 = 0; x2 is 32 to 63, x3 to 3, x4 to 7.
    constraints: list[Constraint] = [
        ([1, -2, 0, 0, 0], 0, False),
        ([-1, 2, 0, 0, 0], 1, False),
        ([-64 * 4, 128 * 4, 4, -8 * 4, -4], 3, False),
        ([64 * 4, -128 * 4, -4, 8 * 4, 4], 3, False),
        ([1, 0, 0, 0, 0], 0, False),
        *bound(5, 2, 32, 63),
        *bound(5, 3, 0, 3),
        *bound(5, 4, 0, 7),
    ]
    assert solve_integers(constraints, 5)[0] == IntegerAnswer.EMPTY
    constraints[-3] = ([0, 0, 0, -1, 0], 4, False)
    answer, sample = solve_integers(constraints, 5)
    assert answer == IntegerAnswer.SOLVED
    assert all_hold(constraints, np.array([sample])).all()


def test_refuses_unknown_variables() -> None:
    """A factor of a variable that there is not is an error."""
    with pytest.raises(IndexError, match="no such variable"):
        solve_integers([([1, 1], 0, False)], 1)
