"""Products of warpgroups: numbers of all types and layouts, and what is found in wrong ones."""

from __future__ import annotations

import functools
import re
from dataclasses import replace
from typing import Any, NamedTuple

import pytest

import pipeline
from corpus import kernels_hopper, kernels_wgmma
from corpus.emulating import Outcome, check_results, compile_kernel, emulate
from corpus.kernels_case import Case

ORDERS: tuple[dict[str, Any], ...] = (
    {},
    {"order": "reverse", "async_mode": "eager"},
    {"order": "seeded", "async_mode": "seeded", "seed": 5},
)


def by_case(cases: tuple[Case, ...]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", cases, ids=lambda case: case.name)


@functools.cache
def compiled(text: str, name: str) -> pipeline.Kernel:
    """Return a kernel, without a proof that knows nothing of `wgmma`."""
    return compile_kernel(text, "sm_90a", name, verify=False)


def launch(case: Case, text: str = "", **options: Any) -> Outcome:
    return emulate(case, compiled(text or case.text, case.kernel), **options)


def check_clean(case: Case, **options: Any) -> None:
    outcome = launch(case, check="all", **options)
    assert outcome.report.rendered == ""
    check_results(case, outcome.arguments)


@by_case(kernels_wgmma.CASES)
def test_numbers(case: Case) -> None:
    check_clean(case)


@pytest.mark.parametrize("options", ORDERS, ids=lambda options: str(options.get("order")))
def test_operations_of_upstream(options: dict[str, Any]) -> None:
    check_clean(kernels_wgmma.UPSTREAM, **options)


def test_upstream_waits_for_one_group_less_than_it_stores() -> None:
    """The default of `nvgpu.warpgroup.mma` is to leave the last group under way."""
    case = kernels_wgmma.UPSTREAM
    report = launch(case, kernels_wgmma.upstream_text(wait=1), check="races").report
    assert {finding.kind for finding in report.findings} == {"async.not-waited"}
    assert "registers of a wgmma are used before it is waited for" in report.rendered


@by_case(kernels_wgmma.CASES[:8])
def test_numbers_without_checks(case: Case) -> None:
    check_results(case, launch(case, check="none").arguments)


# Products of different integer types take a later PTX than is the default.
@by_case(
    tuple(case for case in kernels_wgmma.CASES[::3] if "u8" not in case.name)
    + kernels_hopper.CASES[::2]
)
def test_assembles(case: Case) -> None:
    module = pipeline.compile(case.text, chip="sm_90a", sync="keep", verify=False)
    assert "wgmma" in module.ptx
    assert module.cubin


@pytest.mark.parametrize("options", ORDERS, ids=lambda options: str(options.get("order")))
@by_case(kernels_hopper.CASES)
def test_specialized_warps(case: Case, options: dict[str, Any]) -> None:
    check_clean(case, **options)


# --- wrong ones -----------------------------------------------------------------------------------


class Mutant(NamedTuple):
    """An edit of a kernel, by a pattern, and what is found then."""

    name: str
    pattern: str
    replacement: str
    kind: str
    """Of the finding, or those that it may be of, which of two threads comes first being chance."""
    said: tuple[str, ...]
    """What the findings say, of either side that is at odds."""


_COMMIT = r"    nvvm\.wgmma\.commit\.group\.sync\.aligned\n"
_WAIT = r"    nvvm\.wgmma\.wait\.group\.sync\.aligned 0\n"
_FENCE = r"    nvvm\.wgmma\.fence\.aligned\n"
_PROXY = r"    nvvm\.fence\.proxy .*\n"
_USED = ("uses registers of it", "nvvm.wgmma.mma_async", "memref.store %r")

PRODUCT = next(
    case for case in kernels_wgmma.CASES if case.name.startswith("f32 n64: f16 swizzle 128")
)
PRODUCT_MUTANTS = (
    Mutant("no wait", _WAIT, "", "async.not-waited", _USED),
    Mutant("no commit", _COMMIT, "", "async.not-waited", _USED),
    Mutant(
        "a wait for less",
        _WAIT,
        "    nvvm.wgmma.wait.group.sync.aligned 1\n",
        "async.not-waited",
        _USED,
    ),
    Mutant("a wait before the commit", f"({_COMMIT})({_WAIT})", r"\2\1", "async.not-waited", _USED),
    Mutant(
        "no fence of registers",
        _FENCE,
        "",
        "async.register-fence",
        ("a wgmma comes before any wgmma.fence",),
    ),
    Mutant(
        "a fence of registers too soon",
        rf"(    %c_0 = (?:.*\n)*?)({_FENCE})",
        r"\2\1",
        "async.register-fence",
        ("%c_", *_USED[:2]),
    ),
    Mutant(
        "no fence of the proxy", _PROXY, "", "async.proxy", ("reads by wgmma", "writes 4 bytes")
    ),
    Mutant(
        "a fence of the proxy for global memory",
        r"async\.shared>, space = #nvvm\.shared_space<cta>",
        "async.global>",
        "async.proxy",
        ("reads by wgmma", "writes 4 bytes"),
    ),
    Mutant(
        "no barrier",
        "    gpu.barrier\n",
        "",
        "race.shared",
        ("reads by wgmma", "memref.store %x, %w"),
    ),
    Mutant(
        "tiles overwritten before the wait",
        f"({_COMMIT})",
        "\\1    memref.store %reads0, %w[%c0] : memref<{words}xi32, #wg>\n",
        "async.not-waited",
        ("bytes are written that a wgmma reads", "reads by wgmma"),
    ),
    Mutant(
        "three warps",
        f"({_COMMIT})",
        "    %few = arith.constant 96 : index\n    %is_one = arith.cmpi ult, %tx, %few : index\n"
        "    scf.if %is_one {\n\\1    }\n",
        "divergence",
        ("warps of a warpgroup do not execute the same",),
    ),
    Mutant(
        "half a warp",
        f"({_COMMIT})",
        "    %few = arith.constant 16 : index\n    %is_one = arith.cmpi ult, %tx, %few : index\n"
        "    scf.if %is_one {\n\\1    }\n",
        "deadlock",
        ("wait here for the lanes 0xffffffff",),
    ),
    Mutant(
        "descriptors that differ",
        r"(    %base = .*\n)",
        "    %base_0 = arith.index_cast %address : index to i64\n"
        "    %few = arith.constant 64 : index\n    %high = arith.divui %tx, %few : index\n"
        "    %high_64 = arith.index_cast %high : index to i64\n"
        "    %far = arith.constant 1024 : i64\n    %more = arith.muli %high_64, %far : i64\n"
        "    %base = arith.addi %base_0, %more : i64\n",
        "divergence",
        ("warps of a warpgroup do not execute the same", "their descriptors"),
    ),
    Mutant(
        "a base offset",
        r"%hb0 = arith\.constant (-?\d+)",
        "%hb0 = arith.constant {based}",
        "matrix-descriptor",
        ("that of B has a base offset of 1",),
    ),
    Mutant(
        "out of bounds",
        r"%sb1 = arith\.constant \d+",
        "%sb1 = arith.constant 200000",
        "out-of-bounds",
        ("reads by wgmma",),
    ),
)


def mutate(case: Case, mutant: Mutant) -> str:
    words = re.search(r"%tiles: memref<(\d+)x", case.text)
    head = re.search(r"%hb0 = arith\.constant (-?\d+)", case.text)
    replacement = mutant.replacement
    if words and head:
        replacement = replacement.replace("{words}", words[1])
        replacement = replacement.replace("{based}", str(int(head[1]) | 1 << 49))
    text, count = re.subn(mutant.pattern, replacement, case.text, count=1)
    assert count == 1
    return text


def check_found(case: Case, mutant: Mutant, **options: Any) -> None:
    report = launch(case, mutate(case, mutant), check="races", **options).report
    kinds = {finding.kind for finding in report.findings}
    assert kinds & set(mutant.kind.split("|")), report.rendered
    assert all(words in report.rendered for words in mutant.said), report.rendered


@pytest.mark.parametrize("options", ORDERS, ids=lambda options: str(options.get("order")))
@pytest.mark.parametrize("mutant", PRODUCT_MUTANTS, ids=lambda mutant: mutant.name)
def test_mutants_of_a_product(mutant: Mutant, options: dict[str, Any]) -> None:
    check_found(PRODUCT, mutant, **options)


_EMPTY_WAIT = r"    nvvm\.mbarrier\.try_wait\.parity %v\d+, %pp, .*\n"
_FULL_WAIT = r"    nvvm\.mbarrier\.try_wait\.parity %v\d+, %pc, .*\n"
MATMUL = kernels_hopper.CASES[3]
STORE = kernels_hopper.CASES[4]
MATMUL_MUTANTS = (
    Mutant(
        "no wait for the slot to be free",
        _EMPTY_WAIT,
        "",
        "async.not-waited|async.not-published|mbarrier",
        (),
    ),
    Mutant(
        "no wait for the slot to be full",
        _FULL_WAIT,
        "",
        "async.not-waited|async.not-published|uninitialized",
        ("reads by wgmma",),
    ),
    Mutant(
        "the slot is released while it is read",
        r"wait\.group\.sync\.aligned 1",
        "wait.group.sync.aligned 2",
        "async.not-waited|async.not-published",
        ("reads by wgmma", "copies into"),
    ),
    Mutant(
        "no release",
        r"(?s)(scf\.if %v\d+ \{\n)    %v\d+ = nvvm\.mbarrier\.arrive [^\n]*\n(    \}\n    \}\n)",
        r"\1\2",
        "deadlock",
        ("wait at this mbarrier", "lacks 8 of 8 arrivals"),
    ),
    Mutant(
        "too few bytes expected",
        r"arith\.constant 32768 : i32\n(    nvvm\.mbarrier\.arrive\.expect)",
        r"arith.constant 32752 : i32\n\1",
        "deadlock",
        ("wait at this mbarrier",),
    ),
    Mutant(
        "the other parity",
        r"(iter_args\(%t\d+s = )(%v\d+)(, %t\d+p = )%v\d+",
        r"\1\2\3\2",
        "deadlock",
        ("wait at this mbarrier",),
    ),
    Mutant(
        "another swizzle",
        r"(%v\d+ = arith\.constant) 4611686293\d+( : i64)",
        r"\1 {swizzle}\2",
        "matrix-descriptor",
        ("a swizzle of 128 bytes, and the descriptor is of a swizzle of 64 bytes",),
    ),
    Mutant(
        "no registers given back",
        r"    nvvm\.setmaxregister decrease 40\n",
        "",
        "deadlock",
        ("for 232 registers a thread, of which they have 168",),
    ),
    Mutant(
        "more registers than there are",
        "increase 232",
        "increase 240",
        "deadlock",
        ("for 240 registers a thread",),
    ),
    Mutant(
        "a number of registers that cannot be",
        "decrease 40",
        "decrease 248",
        "registers",
        ("the threads have 168 registers and ask for fewer, 248",),
    ),
)
STORE_MUTANTS = (
    Mutant(
        "no fence before the store",
        r"    nvvm\.fence\.proxy .*\n",
        "",
        "async.proxy",
        ("copies from",),
    ),
    Mutant(
        "no barrier before the store",
        r"(    nvvm\.fence\.proxy .*\n(?:.*\n)*?)    nvvm\.barrier id .*\n",
        r"\1",
        "race.shared|async.not-waited",
        ("copies from", "writes 4 bytes"),
    ),
    Mutant(
        "no wait before the tile is used again",
        r"    nvvm\.cp\.async\.bulk\.wait_group 0 \{read\}\n",
        "",
        "async.not-waited",
        ("copies from", "writes 4 bytes"),
    ),
    Mutant(
        "no commit of the store",
        r"    nvvm\.cp\.async\.bulk\.commit\.group\n",
        "",
        "async.not-waited",
        ("copies from",),
    ),
)


def prepared(mutant: Mutant, case: Case) -> Mutant:
    """Return the edit with the values that it takes from the kernel."""
    text = mutant.replacement
    if "{swizzle}" in text:
        head = re.search(r"arith\.constant (4611686293\d+) : i64", case.text)
        assert head is not None
        text = text.replace("{swizzle}", str(int(head[1]) + (1 << 62) - (1 << 64)))
    return mutant._replace(replacement=text)


@pytest.mark.parametrize("options", ORDERS, ids=lambda options: str(options.get("order")))
@pytest.mark.parametrize("mutant", MATMUL_MUTANTS, ids=lambda mutant: mutant.name)
def test_mutants_of_a_ring(mutant: Mutant, options: dict[str, Any]) -> None:
    check_found(MATMUL, prepared(mutant, MATMUL), **options)


@pytest.mark.parametrize("options", ORDERS, ids=lambda options: str(options.get("order")))
@pytest.mark.parametrize("mutant", STORE_MUTANTS, ids=lambda mutant: mutant.name)
def test_mutants_of_a_store(mutant: Mutant, options: dict[str, Any]) -> None:
    check_found(STORE, mutant, **options)


@pytest.mark.parametrize("options", ORDERS, ids=lambda options: str(options.get("order")))
def test_an_arrival_is_of_one_warp(options: dict[str, Any]) -> None:
    """Other warps of the warpgroup may still read what one has waited for."""
    right = kernels_hopper.SINGLE[1]
    check_clean(kernels_hopper.matmul_case(right), **options)
    wrong = kernels_hopper.matmul_case(replace(right, one_arrives=True))
    report = launch(wrong, check="races", **options).report
    kinds = {finding.kind for finding in report.findings}
    assert kinds & {"async.not-waited", "async.not-published"}, report.rendered
    assert "reads by wgmma" in report.rendered
    assert "copies into" in report.rendered
