"""Blocks of clusters that work together: numbers, and what is found in wrong ones."""

from __future__ import annotations

import functools
import re
from typing import Any, NamedTuple

import numpy as np
import pytest

import pipeline
from corpus import kernels_cluster, kernels_hopper
from corpus.emulating import Outcome, check_results, compile_kernel, emulate
from corpus.kernels_case import Case

ORDERS: tuple[dict[str, Any], ...] = (
    {},
    {"order": "reverse", "async_mode": "eager"},
    {"order": "seeded", "async_mode": "seeded", "seed": 5},
)
in_all_orders = pytest.mark.parametrize(
    "options", ORDERS, ids=lambda options: str(options.get("order"))
)


def by_case(cases: tuple[Case, ...]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", cases, ids=lambda case: case.name)


@functools.cache
def compiled(text: str, name: str) -> pipeline.Kernel:
    """Return a kernel, without a proof that knows nothing of clusters."""
    return compile_kernel(text, "sm_90a", name, verify=False)


def launch(case: Case, text: str = "", **options: Any) -> Outcome:
    return emulate(case, compiled(text or case.text, case.kernel), **options)


_MEET = r"    nvvm\.cluster\.arrive \{aligned\}\n    nvvm\.cluster\.wait \{aligned\}\n"
_LAST = rf"(?s)\A(.*){_MEET}"


@in_all_orders
@by_case(kernels_cluster.CASES)
def test_numbers(case: Case, options: dict[str, Any]) -> None:
    outcome = launch(case, check="all", **options)
    assert outcome.report.rendered == ""
    check_results(case, outcome.arguments)


@by_case(kernels_cluster.CASES[::4])
def test_numbers_without_checks(case: Case) -> None:
    check_results(case, launch(case, check="none").arguments)


@by_case(kernels_cluster.CASES[::4] + kernels_hopper.CLUSTER_CASES)
def test_assembles(case: Case) -> None:
    assert pipeline.compile(case.text, chip="sm_90a", sync="keep", verify=False).cubin


@in_all_orders
@by_case(kernels_hopper.CLUSTER_CASES)
def test_multicast(case: Case, options: dict[str, Any]) -> None:
    outcome = launch(case, check="all", **options)
    assert outcome.report.rendered == ""
    check_results(case, outcome.arguments)


def test_an_arrival_that_is_waited_for_keeps_the_block() -> None:
    """A block does not end before what it waits for: no barrier is needed at the end."""
    case = kernels_cluster.cluster_case("mbarrier", *kernels_cluster.SHAPES[0])
    text, count = re.subn(_LAST, r"\1", case.text)
    assert count == 1
    outcome = launch(case, text, check="all")
    assert outcome.report.rendered == ""
    check_results(case, outcome.arguments)


@by_case((kernels_hopper.REDUCE,))
def test_reduction(case: Case) -> None:
    outcome = launch(case, check="all", workers=2)
    assert outcome.report.rendered == ""
    check_results(case, outcome.arguments)


def test_workers_share_clusters() -> None:
    case = kernels_cluster.cluster_case("load", (16, 1, 1), (4, 1, 1))
    outcome = launch(case, check="all", workers=2)
    assert outcome.report.blocks_run == 16
    check_results(case, outcome.arguments)


# --- wrong ones -----------------------------------------------------------------------------------


class Mutant(NamedTuple):
    """An edit of a kernel, by a pattern, and what is found then."""

    kernel: str
    name: str
    pattern: str
    replacement: str
    kind: str
    """Of the finding, or those that it may be of, which of two threads comes first being chance."""
    said: tuple[str, ...] = ()
    """What the findings say, of either side that is at odds."""


_OTHER = ("block (0,0,0)", "block (1,0,0)", "in the cluster")
MUTANTS = (
    Mutant("load", "no first barrier", _MEET, "", "race.shared|uninitialized"),
    Mutant(
        "load",
        "an arrival that makes nothing known",
        r"arrive \{aligned\}",
        "arrive.relaxed {aligned}",
        "race.shared",
        (*_OTHER, "llvm.load", "memref.store %x"),
    ),
    Mutant("load", "no last barrier", _LAST, r"\1", "exited-block", ("llvm.load",)),
    Mutant("store", "no last barrier", _LAST, r"\1", "race.shared|uninitialized|exited-block"),
    Mutant(
        "store",
        "a barrier of the block",
        _LAST,
        r"\1    gpu.barrier\n",
        "race.shared|uninitialized|exited-block",
    ),
    Mutant(
        "atomic",
        "an atomic operation of the scope of a block",
        '"cluster"',
        '"block"',
        "race.shared",
        (*_OTHER[:2], "updates"),
    ),
    Mutant("mbarrier", "no barrier", _MEET, "", "mbarrier|race.shared|deadlock"),
    Mutant(
        "mbarrier",
        "no arrival",
        r"    nvvm\.mbarrier\.arrive .*\n",
        "",
        "deadlock",
        ("lacks 64 of 64 arrivals", "of the block of rank 0", "of the block of rank 1"),
    ),
    Mutant(
        "mbarrier",
        "a relaxed arrival",
        r"mem_scope<cluster>\}",
        "mem_scope<cluster>, relaxed = true}",
        "race.shared",
        _OTHER[:2],
    ),
    Mutant(
        "mbarrier", "no wait", r"    nvvm\.mbarrier\.try_wait.*\n", "", "race.shared|uninitialized"
    ),
    Mutant(
        "mbarrier",
        "the other parity",
        r"%mine, %zero, %ticks",
        "%mine, %one, %ticks",
        "race.shared|uninitialized|deadlock",
    ),
    Mutant(
        "load", "a rank that there is none of", r"%own, %next :", "%own, %far :", "out-of-bounds"
    ),
    Mutant(
        "load",
        "two arrivals",
        r"(    nvvm\.cluster\.arrive \{aligned\}\n)",
        r"\1\1",
        "invalid-barrier",
        ("has arrived before",),
    ),
    Mutant(
        "load",
        "a wait too many",
        r"(    nvvm\.cluster\.wait \{aligned\}\n)",
        r"\1\1",
        "invalid-barrier",
        ("has not arrived",),
    ),
    Mutant(
        "load",
        "a block that does not come",
        rf"({_MEET})",
        "    %is_low = arith.cmpi eq, %rank, %zero : i32\n    scf.if %is_low {\n"
        "      nvvm.cluster.arrive\n      nvvm.cluster.wait\n    }\n",
        "deadlock|race.shared",
    ),
)


@in_all_orders
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: f"{mutant.kernel}: {mutant.name}")
def test_mutants(mutant: Mutant, options: dict[str, Any]) -> None:
    case = kernels_cluster.cluster_case(mutant.kernel, *kernels_cluster.SHAPES[0])
    text, count = re.subn(mutant.pattern, mutant.replacement, case.text, count=1)
    assert count == 1
    text = text.replace("    %there =", "    %far = arith.constant 2 : i32\n    %there =")
    check_found(case, text, mutant, **options)


def check_found(case: Case, text: str, mutant: Mutant, **options: Any) -> None:
    report = launch(case, text, check="races", **options).report
    kinds = {finding.kind for finding in report.findings}
    assert kinds & set(mutant.kind.split("|")), report.rendered
    assert all(words in report.rendered for words in mutant.said), report.rendered


MATMUL_MUTANTS = (
    Mutant(
        "",
        "a mask of one block",
        r"arith\.constant 3 : i16",
        "arith.constant 1 : i16",
        "deadlock",
        ("wait at this mbarrier",),
    ),
    Mutant(
        "",
        "a mask of three blocks",
        r"arith\.constant 3 : i16",
        "arith.constant 7 : i16",
        "bulk-copy",
        ("the mask is 0x7, and the cluster has 2 blocks",),
    ),
    Mutant(
        "",
        "no arrival at the other block",
        r"(nvvm\.mapa %v\d+, )%v\d+",
        r"\1%rank",
        "deadlock|async.not-waited|async.not-published|mbarrier",
    ),
    Mutant(
        "",
        "no barrier behind mbarriers",
        _MEET,
        "    nvvm.barrier\n",
        "mbarrier|race.shared|async.proxy",
    ),
    Mutant("", "no barrier before the end", _LAST, r"\1", "exited-block"),
    Mutant(
        "",
        "arrivals of one block alone expected",
        r"arith\.constant 8 : i32\n(    nvvm\.mbarrier\.init)",
        r"arith.constant 4 : i32\n\1",
        "async.not-waited|async.not-published|mbarrier|deadlock",
    ),
)


@in_all_orders
@pytest.mark.parametrize("mutant", MATMUL_MUTANTS, ids=lambda mutant: mutant.name)
def test_mutants_of_multicast(mutant: Mutant, options: dict[str, Any]) -> None:
    case = kernels_hopper.CLUSTER_CASES[0]
    text, count = re.subn(mutant.pattern, mutant.replacement, case.text, count=1)
    assert count == 1
    check_found(case, text, mutant, **options)


def test_too_many_threads_together() -> None:
    case = kernels_cluster.cluster_case("load", (16, 1, 1), (16, 1, 1))
    big = case.text.replace("array<i32: 64, 1, 1>", "array<i32: 256, 1, 1>")
    with pytest.raises(pipeline.UsageError, match="4096 threads that work together"):
        compiled(big, "k").run(np.zeros((16, 64), np.int32), np.zeros((16, 64), np.int32), grid=16)
