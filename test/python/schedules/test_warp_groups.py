"""Contractions by warp groups: tiles that TMA fills are multiplied where they are.

By warps that copy themselves, in a loop that waits for copies; `test_specialized_warps` has warps
of their own for that, as is the default.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

import pipeline
from pipeline.system.assembler import assemble
from schedules.group_products import check_numbers, is_right
from schedules.matmuls import MATMULS, Matmul, use_two_groups


def compile_case(case: Matmul, **options: Any) -> pipeline.Module:
    return pipeline.compile(
        case.text, chip="sm_90a", memory_options="specialize-warps=0", **options
    )


@pytest.mark.parametrize("case", MATMULS.values(), ids=MATMULS.keys())
def test_numbers(case: Matmul) -> None:
    """Right in all orders of threads and of copies, free of races, and proved to be."""
    module = compile_case(case)
    assert "wgmma.mma_async" in module.ptx
    assert "mma.sync" not in module.ptx
    assert all(kernel.block in ((128, 1, 1), (256, 1, 1)) for kernel in module.kernels.values())
    assert ".local" not in module.ptx
    assert not [str(remark) for remark in module.remarks if "possible data race" in str(remark)]
    check_numbers(module, case)


def test_large_matmul_is_assembled() -> None:
    """The instruction has 256 columns; nothing is spilled, no product waits for another."""
    module = compile_case(Matmul(4096, 4096, 4096))
    assert module.ptx.count("wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16") == 4
    _, log = assemble(module.ptx, module.chip)
    assert re.search(r"\b0 bytes stack frame, 0 bytes spill stores", log), log
    assert "serialized" not in log


def test_accumulators_rest_while_products_run() -> None:
    """Between the first product and the wait, nothing else touches a register of the sums."""
    ptx = compile_case(Matmul(4096, 4096, 4096)).ptx
    body = ptx[ptx.index("wgmma.mma_async") : ptx.index("wgmma.wait_group")]
    sums = set(re.findall(r"%r\d+", body[body.index("{") : body.index("}")]))
    others = re.sub(r"wgmma\.mma_async[^{]*\{[^}]*\}", "", body)
    assert not sums & set(re.findall(r"%r\d+", others))


def test_two_products_are_under_way() -> None:
    """The loop waits for the product before its own, and all are done behind it."""
    ptx = compile_case(Matmul(4096, 4096, 4096)).ptx
    assert re.findall(r"wgmma\.wait_group\.sync\.aligned\s+(\d)", ptx) == ["1", "0"]


def test_sums_are_awaited() -> None:
    """Who uses them while the last product may be under way is refused."""
    text = compile_deep()
    awaited = re.search(r"(%\d+):(\d+) = workgroup.await_products (.*) : vector<2x2xf32>", text)
    assert awaited
    line = next(one for one in text.splitlines() if "await_products" in one)
    name, count = awaited.group(1), int(awaited.group(2))
    first = awaited.group(3).split("#")[0]
    text = text.replace(line + "\n", "")
    for number in range(count):
        text = re.sub(rf"{name}#{number}\b", f"{first}#{number}", text)
    with pytest.raises(
        pipeline.CompileError, match=r"await it before by workgroup\.await_products"
    ):
        pipeline.compile(text, chip="sm_90a", verify=False, sync="keep")


def mutate(text: str, kind: str) -> str:
    """Return a kernel with one mistake in its loop, or none."""
    if kind == "none":
        return text
    if kind == "loose":
        assert text.count("{pending = 1 : i64") == 1
        return text.replace("{pending = 1 : i64", "{pending = 2 : i64")
    loop = text.index("nvgpu.mbarrier.try_wait.parity", text.index("scf.for"))
    head, rest = text[:loop], text[loop:]
    if kind == "wait":
        return head + rest[rest.index("\n") + 1 :]
    if kind == "barrier":
        return head + rest.replace("gpu.barrier\n", "\n", 1)
    assert kind == "row"
    text, count = re.subn(r"(workgroup\.group_product %\w+)\[%\w+\]", r"\1[%c0]", text)
    assert count == 1
    return text


DEEP = Matmul(k=512)
"""So many steps that slots are filled again."""


def compile_deep() -> str:
    """Return a kernel whose blocks have two warp groups."""
    schedule = use_two_groups(compile_case(DEEP).schedule or "")
    return compile_case(DEEP, schedule=schedule, until="gpu").texts["gpu"]


def test_mistakes_are_not_proved() -> None:
    """The kernel is safe; nobody says so without the wait for copies, or the barrier.

    Nor if a product may still go on while its slot is filled again.
    """
    text = compile_deep()

    def verdict(text: str) -> str:
        (kernel,) = pipeline.check(text).kernels
        return kernel.verdict

    assert verdict(text) == "SAFE"
    assert verdict(mutate(text, "wait")) != "SAFE"
    assert verdict(mutate(text, "barrier")) != "SAFE"
    assert verdict(mutate(text, "loose")) != "SAFE"


@pytest.mark.parametrize("kind", ["none", "wait", "barrier", "row", "loose"])
def test_mistakes_are_found_by_the_emulator(kind: str) -> None:
    """And the emulator finds them: races, or numbers that are not right."""
    assert is_right(mutate(compile_deep(), kind), DEEP) == (kind == "none")
