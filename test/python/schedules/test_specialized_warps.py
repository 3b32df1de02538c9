"""Warps that only fill rings: numbers, mistakes in what lets them wait, machine code."""

from __future__ import annotations

import functools
import re
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import pipeline
from pipeline.system.assembler import assemble
from schedules.group_products import check_numbers, is_right
from schedules.matmuls import MATMULS, Matmul, use_two_groups

GROUP, WARP = "specialize-warps=128", "specialize-warps=32"
DEEP = Matmul(m=128, n=128, k=512)
"""So many steps that slots are filled again."""
LONG = Matmul(m=4096, n=4096, k=4096)
"""So many that the proof does not follow all of them."""

CASES = {
    **MATMULS,
    "two-steps": Matmul(m=64, n=64, k=128),
    "short": Matmul(m=128, n=128, k=64),
    "deep": DEEP,
}


def compile_case(case: Matmul, options: str = "", **others: Any) -> pipeline.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pipeline.UnverifiedWarning)
        return pipeline.compile(
            case.text, chip="sm_90a", memory_options=options, verify=False, **others
        )


def remarks_of(module: pipeline.Module) -> list[str]:
    return [text for text in map(str, module.remarks) if "specialize-warps" in text]


@pytest.mark.parametrize("options", ["", GROUP], ids=["default", "group"])
@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_numbers(case: Matmul, options: str) -> None:
    """Right in all orders, and free of races on the emulator."""
    module = compile_case(case, options)
    assert [text for text in remarks_of(module) if "[passed]" in text], remarks_of(module)
    kernel = next(iter(module.kernels.values()))
    assert kernel.block in (((256, 1, 1), (384, 1, 1)) if options else ((160, 1, 1), (288, 1, 1)))
    assert "elect.sync" in module.ptx
    check_numbers(module, case)


def test_one_warp_fills_rings() -> None:
    """Where producers are no warp group, registers stay as they are."""
    module = compile_case(DEEP)
    assert "setmaxnreg" not in module.ptx
    inputs = DEEP.make_inputs()
    result = module.run(*inputs, backend="emulator", check="all", workers=1)
    np.testing.assert_array_equal(np.asarray(result), DEEP.expect(inputs))


def test_schedule_asks_for_them() -> None:
    """What is printed is what is done; options and schedules of one's own turn it off."""
    module = compile_case(DEEP)
    asked = '"producers" = 32'
    assert asked in (module.schedule or "")
    again = compile_case(DEEP, schedule=module.schedule)
    assert again.ptx == module.ptx
    waiting = compile_case(DEEP, "specialize-warps=0")
    assert not remarks_of(waiting)
    (kernel,) = waiting.kernels.values()
    assert kernel.block == (128, 1, 1)
    schedule = (module.schedule or "").replace(asked + ", ", "")
    assert compile_case(DEEP, schedule=schedule).ptx == waiting.ptx
    for number in (40, -5, 1024):
        with pytest.raises(pipeline.UsageError, match="producers must be whole warps, up to 512"):
            compile_case(DEEP, f"specialize-warps={number}")


def test_threads_keep_registers_for_their_sums() -> None:
    """A block of more threads has fewer for each: the loop stays, and ptxas takes it."""
    module = compile_case(LONG, "specialize-warps=256")
    (remark,) = remarks_of(module)
    assert "512 threads have 128 registers each, and products take 160" in remark
    _, log = assemble(module.ptx, module.chip)
    assert re.search(r"\b0 bytes stack frame, 0 bytes spill stores", log), log


@pytest.mark.parametrize(
    ("case", "producers"),
    [
        (LONG, 128),
        (Matmul(m=1024, n=1024, k=1024), 32),
        (DEEP, 32),
        (Matmul(m=130, n=130, k=130), 0),
        (Matmul(m=4096, n=4096, k=4096, rhs="kn", kind="f8E4M3FN"), 0),
    ],
)
def test_tiles_that_ask_for_them(case: Matmul, producers: int) -> None:
    """A warp group gives registers to the largest tile, a warp leaves room for further blocks.

    Without a loop, or products of warp groups, there is nothing to ask for.
    """
    asked = re.findall(r'"producers" = (\d+)', pipeline.choose_schedule(case.text, chip="sm_90a"))
    assert asked == [str(producers)] * (producers > 0)


def test_large_matmul_is_assembled() -> None:
    """Registers move from producers to consumers; nothing is spilled, or put in sequence."""
    module = compile_case(Matmul(4096, 4096, 4096))
    assert re.findall(r"setmaxnreg\.(\w+)\.sync\.aligned\.u32\s+(\d+)", module.ptx) == [
        ("inc", "232"),
        ("dec", "40"),
    ]
    assert re.findall(r"wgmma\.wait_group\.sync\.aligned\s+(\d)", module.ptx) == ["1", "0"]
    _, log = assemble(module.ptx, module.chip)
    assert re.search(r"\b0 bytes stack frame, 0 bytes spill stores", log), log
    assert "C75" not in log, log


@functools.cache
def deep_text() -> str:
    """Return a kernel whose blocks have two warp groups that multiply."""
    schedule = use_two_groups(compile_case(DEEP).schedule or "")
    schedule = re.sub(r'"slots" = \d+', '"slots" = 3', schedule)
    return compile_case(DEEP, schedule=schedule, until="gpu").texts["gpu"]


def mutate(kind: str) -> str:
    """Return the kernel with one mistake, or none."""
    text = deep_text()
    inits = re.findall(r"nvgpu\.mbarrier\.init (%\w+)\[%\w+\], (%\w+)", text)
    full = next(group for group, count in inits if count == "%c1")
    empty = next(group for group, count in inits if count == "%c8")
    wait = r" *nvgpu\.mbarrier\.try_wait\.parity {}\[.*\n"
    arrive = rf"(nvgpu\.mbarrier\.arrive {empty})\[%\w+\]"
    current = re.search(rf"try_wait\.parity {full}\[(%\w+)\]", text)
    assert current
    edits = {
        "none": ("$", ""),
        "wait for full slots": (wait.format(full), ""),
        "wait for empty slots": (wait.format(empty), ""),
        "release": (rf" *%\w+ = {arrive}.*\n", ""),
        "release of the slot in use": (
            rf"%\w+ = {arrive}(?=(?:.*\n)*.*await_products)",
            rf"%released = \1[{current.group(1)}]",
        ),
        "one product more": (r"\{pending = 1 : i64", "{pending = 2 : i64"),
        "parity": (r"(iter_args\(%\w+ = %\w+, %\w+ = )%true", r"\1%false"),
        "one arrival": (rf"(mbarrier\.init {empty}\[%\w+\], )%c8", r"\1%c1"),
        "arrivals of a block": (rf"(mbarrier\.init {empty}\[%\w+\], )%c8", r"\1%c256"),
        "bytes": (rf"(arrive\.expect_tx {full}\[%\w+\], )%c24576", r"\1%c256"),
    }
    pattern, replacement = edits[kind]
    changed, count = re.subn(pattern, replacement, text)
    assert count >= 1
    assert (changed != text) == (kind != "none")
    return changed


KINDS = (
    "none",
    "wait for full slots",
    "wait for empty slots",
    "release",
    "release of the slot in use",
    "one product more",
    "parity",
    "one arrival",
    "arrivals of a block",
    "bytes",
)


@pytest.mark.parametrize("kind", KINDS)
def test_mistakes_are_found_by_the_emulator(kind: str) -> None:
    """Races, deadlocks, or numbers that are not right, in one of the orders."""
    assert is_right(mutate(kind), DEEP) == (kind == "none")


@pytest.mark.parametrize("kind", KINDS)
def test_mistakes_are_not_proved(kind: str) -> None:
    """Only the kernel as it was made is safe."""
    (kernel,) = pipeline.check(mutate(kind)).kernels
    stuck = ("release", "release of the slot in use", "parity", "arrivals of a block")
    expected = "SAFE" if kind == "none" else "DEADLOCK" if kind in stuck else "MAYBE"
    assert kernel.verdict == expected


@pytest.mark.parametrize("options", ["", GROUP, WARP])
@pytest.mark.parametrize(
    "case",
    [*CASES.values(), LONG, replace(LONG, rhs="nk"), replace(LONG, kind="bf16")],
    ids=[*CASES, "long", "long nt", "long bf16"],
)
def test_kernels_are_proved(case: Matmul, options: str) -> None:
    """Also of so many steps that not all are followed."""
    module = compile_case(case, options, until="gpu")
    for kernel in pipeline.check(module.texts["gpu"]).kernels:
        assert kernel.verdict == "SAFE", [finding.message for finding in kernel.findings]


SPLIT = Matmul(m=256, n=256, k=64 * 255)
"""A sum in parts, of which the last one has fewer steps."""
BOUNDS = """
%thread = gpu.thread_id x
%lanes = arith.constant 32 : index
%is_first = arith.cmpi ult, %thread, %lanes : index
%part = gpu.block_id z
%all = affine.min affine_map<()[s0] -> (-s0 * 2048 + 16320, 2048)>()[%part]
%step = arith.constant 64 : index
%less = arith.subi %all, %step : index
%fewer = arith.select %is_first, %less, %all : index
"""


@pytest.mark.parametrize("bound", ["", "%all", "%less", "%fewer"])
def test_loops_have_as_many_iterations(bound: str) -> None:
    """As many for all warps of a block, whatever the block; one warp must not leave before."""
    text = compile_case(SPLIT, until="gpu").texts["gpu"]
    if bound:
        text = re.sub(r"(gpu\.func @main_kernel\(.*\n)", rf"\1{BOUNDS}", text, count=1)
        text, count = re.subn(r"(scf\.for .* to )%\w+( step %c64)", rf"\g<1>{bound}\2", text)
        assert count == 2
    kernel, *_ = pipeline.check(text).kernels
    assert kernel.verdict == ("MAYBE" if bound == "%fewer" else "SAFE")


def test_products_behind_a_loop_are_not_proved() -> None:
    """What is behind a loop of many steps is not taken to be in order with what is in it."""
    text = compile_case(LONG, until="gpu").texts["gpu"]
    await_products = re.search(r"\n( *)%\w+:\d+ = workgroup\.await_products", text)
    slot = re.search(r"= memref\.view (%\w+)\[%\w+\]\[\] : (memref<\d+xi8, [^>]+>>) to", text)
    assert await_products
    assert slot
    store = (
        f"\n%zero_byte = arith.constant 0 : i8\n"
        f"memref.store %zero_byte, {slot.group(1)}[%c0] : {slot.group(2)}"
    )
    changed = text[: await_products.start()] + store + text[await_products.start() :]
    (kernel,) = pipeline.check(changed).kernels
    assert kernel.verdict in ("MAYBE", "RACE")


def test_kernels_with_other_work_stay() -> None:
    """What is for cp.async and mma.sync is left as it is."""
    module = compile_case(Matmul(m=130, n=130, k=130))
    assert not [text for text in remarks_of(module) if "[passed]" in text]
