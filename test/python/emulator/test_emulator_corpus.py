"""Kernels of the corpus on the emulator: right numbers, no findings, whoever runs first."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from corpus.emulating import check_results, emulate
from corpus.kernels import CASES, Case
from corpus.kernels_flag import FLAG_CASE

ORDERS = ("forward", "reverse", "seeded")
MODES = ("on_wait", "eager", "seeded")

by_case = pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])


def test_names_are_unique() -> None:
    """Mutants and messages name a case by them."""
    names = [case.name for case in CASES]
    assert len(set(names)) == len(names) >= 90


@by_case
def test_checked(case: Case) -> None:
    """No order of threads and no arrival of copies shows in what comes out, bit by bit."""
    bits = None
    for seed, (order, mode) in enumerate(itertools.product(ORDERS, MODES)):
        outcome = emulate(case, check="races", order=order, async_mode=mode, seed=seed, workers=1)
        report = outcome.report
        assert report.rendered == "", (order, mode)
        assert report.findings == ()
        assert report.blocks_run == report.blocks == case.grid[0] * case.grid[1] * case.grid[2]
        assert report.check == "races"
        assert report.kernel == case.kernel
        check_results(case, outcome.arguments)
        bits = bits or outcome.bits()
        assert outcome.bits() == bits, (order, mode)


@by_case
def test_unchecked(case: Case) -> None:
    """The optimised kernel computes what the program as it is written does."""
    outcome = emulate(case)
    assert outcome.report.rendered == ""
    assert outcome.report.statistics is None
    check_results(case, outcome.arguments)


# What makes all threads of a block wait for each other.
BARRIERS = ("gpu.barrier", "all_reduce", "nvvm.barrier", "memref.copy", "linalg.")


@by_case
def test_statistics(case: Case) -> None:
    """What is counted adds up; how much it is, test_emulator_statistics.py tells."""
    outcome = emulate(case, statistics=True)
    check_results(case, outcome.arguments)
    statistics = outcome.report.statistics
    assert statistics is not None
    assert statistics.instructions > statistics.accesses > 0
    assert sum(place.accesses for place in statistics.per_access) == statistics.accesses
    # A reduction in one warp needs none.
    assert statistics.barriers == 0 or any(word in case.text for word in BARRIERS)
    for place in statistics.per_access:
        # 0 is what the optimiser made of accesses at several places.
        assert place.location.line <= case.text.count("\n")
        assert place.requests <= place.accesses <= 32 * place.requests
        if place.space == "shared":
            assert place.wavefronts >= place.ideal_wavefronts > 0
            assert (place.sectors, place.dense_sectors) == (0, 0)
        else:
            assert place.sectors >= place.dense_sectors > 0
            assert (place.wavefronts, place.ideal_wavefronts) == (0, 0)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("order", ORDERS)
def test_copies_arrive_while_threads_iteration_round(order: Any, mode: Any) -> None:
    outcome = emulate(FLAG_CASE, check="races", order=order, async_mode=mode, workers=1)
    assert outcome.report.rendered == ""
    check_results(FLAG_CASE, outcome.arguments)


def test_all_accesses_are_executed() -> None:
    """A case that does not come by one of its accesses proves less than it seems to."""
    unreached = {case.name for case in CASES if emulate(case, check="races").report.unreached}
    assert unreached == {"ring of three slots with a single iteration"}
