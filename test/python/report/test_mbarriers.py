"""What explanations tell of mbarriers: who arrives and waits, where and for which phase."""

from __future__ import annotations

import functools
from typing import Any

import pytest

import pipeline
from benchmarks.static.programs import contract


@functools.cache
def explain_product(depth: int, options: str) -> pipeline.Explanation:
    extents = {"m": 4096, "n": 4096, "k": depth}
    program = contract("mk,kn->mn", extents, "f16", is_dynamic=False)
    return pipeline.explain(
        program, chip="sm_90a", memory_options=options, assemble=False, emulate=False
    )


@functools.cache
def explain_hopper(depth: int, options: str) -> Any:
    """Return the only kernel of a product whose operands TMA copies."""
    (kernel,) = explain_product(depth, options).to_json()["kernels"]
    assert kernel["verdict"]["verdict"] == "SAFE"
    return kernel


def uses(group: Any, role: str) -> list[Any]:
    return [use for use in group["uses"] if use["role"] == role]


def count(ranges: list[Any]) -> int:
    return sum((one["last"] - one["first"]) // one["step"] + 1 for one in ranges)


SPECIALIZED, COMMON = "specialize-warps=128", "specialize-warps=0"


@pytest.mark.parametrize("options", [SPECIALIZED, COMMON])
@pytest.mark.parametrize("depth", [256, 4096])
def test_full_mbarriers_have_bytes_and_phases(options: str, depth: int) -> None:
    """One thread announces the bytes of a tile, TMA brings as many, and all who read it wait."""
    kernel = explain_hopper(depth, options)
    full = kernel["mbarriers"][0]
    (ring,) = kernel["rings"]
    assert (full["name"], full["purpose"], full["missing"]) == ("full", "full", "")
    assert (full["slots"], full["arrivals"]) == (ring["slots"], 1)
    arrivals, copies, waits = (
        uses(full, role) for role in ("mbarrier_arrive", "bulk_load", "mbarrier_wait")
    )
    assert all(count(use["threads"]) == 1 for use in arrivals + copies)
    brought: dict[tuple[int, int], int] = {}
    for use in copies:
        for step in use["steps"]:
            key = (step["slot"], step["phase"])
            brought[key] = brought.get(key, 0) + step["bytes"]
    for use in arrivals:
        for step in use["steps"]:
            assert step["bytes"] == brought[step["slot"], step["phase"]] > 0
    (wait,) = waits
    assert wait["threads"] == [{"first": 0, "last": 255, "step": 1}]
    for nth, step in enumerate(wait["steps"]):
        assert step["iterations"] == [nth]
        slot, phase = nth % ring["slots"], nth // ring["slots"]
        assert (step["slot"], step["phase"], step["parity"]) == (slot, phase, phase % 2)


@pytest.mark.parametrize("depth", [256, 4096])
def test_empty_mbarriers_are_waited_for_by_who_fills(depth: int) -> None:
    """A lane of each warp that reads arrives, and who fills waits: not in the first round."""
    kernel = explain_hopper(depth, SPECIALIZED)
    full, empty = kernel["mbarriers"]
    assert (empty["name"], empty["purpose"], empty["arrivals"]) == ("empty", "empty", 8)
    arrivals, (wait,) = uses(empty, "mbarrier_arrive"), uses(empty, "mbarrier_wait")
    assert wait["threads"] == uses(full, "mbarrier_arrive")[0]["threads"]
    assert arrivals[0]["threads"] == [{"first": 0, "last": 224, "step": 32}]
    for nth, step in enumerate(wait["steps"]):
        assert step["slot"] == nth % empty["slots"]
        assert step["phase"] == nth // empty["slots"] - 1
        assert step["parity"] == (step["phase"] & 1)
    for step in arrivals[0]["steps"]:
        (iteration,) = step["iterations"]
        assert step["slot"] == (iteration - 1) % empty["slots"]
        assert step["phase"] == (iteration - 1) // empty["slots"]
    # Nobody waits for the last slot, which no thread releases.
    assert empty["unfollowed"] == []


def test_operations_name_their_mbarriers() -> None:
    kernel = explain_hopper(4096, SPECIALIZED)
    about = ("mbarrier_init", "mbarrier_arrive", "mbarrier_wait", "bulk_load")
    for one in kernel["operations"]:
        assert one["mbarriers"] in (("full", "empty") if one["role"] in about else ("",))


OF_UNKNOWN_BLOCKS = """
!group = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @wait(%n: index, %p: i1) kernel {
    %c0 = arith.constant 0 : index
    %barriers = nvgpu.mbarrier.create -> !group
    %t = gpu.thread_id x
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      nvgpu.mbarrier.init %barriers[%c0], %n : !group
    }
    gpu.barrier
    %token = nvgpu.mbarrier.arrive %barriers[%c0] : !group -> !nvgpu.mbarrier.token
    nvgpu.mbarrier.try_wait.parity %barriers[%c0], %p, %n : !group
    gpu.return
  }
}
"""


def test_mbarriers_that_are_not_followed_say_why() -> None:
    of = pipeline.explain(OF_UNKNOWN_BLOCKS, chip="sm_90", assemble=False, emulate=False)
    (kernel,) = of.to_json()["kernels"]
    (group,) = kernel["mbarriers"]
    assert (group["purpose"], group["arrivals"], group["uses"]) == ("other", None, [])
    assert "size of a block" in group["missing"]
    assert [site["op"] for site in group["unfollowed"]] == [
        "nvgpu.mbarrier.arrive",
        "nvgpu.mbarrier.try_wait.parity",
    ]
    assert group["missing"] in of.html()


@pytest.mark.parametrize("options", [SPECIALIZED, COMMON])
def test_page_has_the_table_of_phases(options: str) -> None:
    page = explain_product(256, options).html()
    assert "announces 49\u202f152 bytes" in page
    assert ("slot 0</span><br>passes<br>parity 1" in page) == (options == SPECIALIZED)
