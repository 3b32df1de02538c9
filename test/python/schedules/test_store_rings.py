"""Results that TMA stores from slots of each warp: numbers, proofs, machine code, mistakes."""

from __future__ import annotations

import functools
import re
import warnings
from dataclasses import dataclass

import ml_dtypes
import numpy as np
import pytest

import pipeline
from pipeline.system.assembler import assemble
from schedules.group_products import (
    LOOPS,
    Array,
    Product,
    check_numbers,
    check_proof,
    compile_text,
    is_right,
)
from schedules.matmuls import Matmul

HALVES = {"f16": np.float16, "bf16": ml_dtypes.bfloat16}
OFF = "store-rings=false"


@dataclass(frozen=True)
class Half(Product):
    """A product whose sums are rounded to 16 bits."""

    half: str = "f16"

    def dynamic_text(self, dynamic: str) -> str:
        text = super().dynamic_text(dynamic)
        sums, half = (self.type_of(self.result, kind, dynamic) for kind in ("f32", self.half))
        letters = ", ".join(self.result)
        same = f"affine_map<({letters}) -> ({letters})>"
        kinds = ", ".join('"parallel"' for _ in self.result)
        sizes = ", ".join(f"%size_{letter}" for letter in self.result if letter in dynamic)
        rounded = f"""
  %h = tensor.empty({sizes}) : {half}
  %o = linalg.generic {{indexing_maps = [{same}, {same}], iterator_types = [{kinds}]}}
      ins(%r : {sums}) outs(%h : {half}) {{
    ^bb0(%x: f32, %y: {self.half}):
      %t = arith.truncf %x : f32 to {self.half}
      linalg.yield %t : {self.half}
  }} -> {half}
  return %o : {half}"""
        text = text.replace(f") -> {sums} {{", f") -> {half} {{", 1)
        assert f"  return %r : {sums}" in text
        return text.replace(f"  return %r : {sums}", rounded)

    def expect(self, inputs: list[Array]) -> Array:
        return super().expect(inputs).astype(HALVES[self.half])


DEEP = Half("m=320 n=192 k=448")
"""Of 15 tiles, each of so many steps that slots are filled again."""

CASES = {
    "whole": DEEP,
    "bf16": Half("m=192 n=192 k=320", kind="bf16", half="bf16"),
    "other type": Half("m=128 n=128 k=128", half="bf16"),
    "two groups": Half("m=512 n=512 k=192"),
    "transposed": Half("m=256 n=192 k=192", "km", "nk"),
    "ragged": Half("m=200 n=168 k=200"),
    "ragged rows": Half("m=1080 n=128 k=136"),
    "batches": Half("b=3 m=128 n=192 k=192", "bmk", "bkn", "bmn"),
    "ragged batches": Half("b=3 m=136 n=104 k=192", "bmk", "bkn", "bmn"),
    "bytes": Half("m=192 n=192 k=640", "mk", "nk", kind="f8E4M3FN"),
    "narrow": Half("m=128 n=96 k=128", "mk", "nk"),
}


def remarks_of(module: pipeline.Module) -> list[str]:
    return [text for text in map(str, module.remarks) if "StoredByTMA" in text]


def reasons_of(module: pipeline.Module) -> str:
    return "\n".join(text for text in remarks_of(module) if "NotStoredByTMA" in text)


@LOOPS
@pytest.mark.parametrize("product", CASES.values(), ids=CASES.keys())
def test_numbers(product: Half, options: str) -> None:
    module = compile_text(product.text, options)
    (remark,) = remarks_of(module)
    assert "[passed]" in remark
    assert "cp.async.bulk.tensor" in module.ptx
    assert "st.global" not in module.ptx
    check_numbers(module, product)
    check_proof(module)


@LOOPS
def test_fused_epilogue(options: str) -> None:
    """What is computed of sums, and of other memory, is stored the same way."""
    case = Matmul(m=320, n=192, k=256, epilogue="relu")
    module = compile_text(case.text, options)
    (remark,) = remarks_of(module)
    assert "[passed]" in remark
    check_proof(module)
    check_numbers(module, case)


PERSISTENT = {
    "several rounds": (DEEP, 4),
    "one block": (DEEP, 1),
    "ragged": (Half("m=200 n=168 k=200"), 3),
    "batches": (Half("b=3 m=128 n=192 k=192", "bmk", "bkn", "bmn"), 4),
    "three columns of boxes": (Half("m=320 n=192 k=128"), 2),
}


@pytest.mark.parametrize(("product", "blocks"), PERSISTENT.values(), ids=PERSISTENT.keys())
def test_blocks_that_go_through_several_tiles(product: Half, blocks: int) -> None:
    """A tile is stored while the next one is multiplied; the last wait is behind all of them."""
    module = compile_text(product.text, f"persist-grid={blocks}")
    (kernel,) = module.kernels.values()
    assert kernel.grid == (blocks, 1, 1)
    (remark,) = remarks_of(module)
    assert "[passed]" in remark
    text = module.texts["gpu"]
    end = re.search(r"^( *)nvvm\.cp\.async\.bulk\.wait_group 0$", text, re.M)
    inner = re.search(r"^( *)nvvm\.cp\.async\.bulk\.wait_group \d+ \{read\}$", text, re.M)
    assert end
    assert inner
    assert len(end[1]) < len(inner[1])
    check_numbers(module, product)
    check_proof(module)


def test_large_matmul_is_assembled() -> None:
    """Of 16 bits, without spills, in as few instructions as otherwise, and proved."""
    module = compile_text(Half("m=4096 n=4096 k=4096").text)
    assert "[passed]" in remarks_of(module)[0]
    _, log = assemble(module.ptx, module.chip)
    assert re.search(r"\b0 bytes stack frame, 0 bytes spill stores", log), log
    assert "Used 168 registers" in log, log
    assert "C75" not in log, log
    check_proof(module)


@pytest.mark.parametrize("dynamic", ["m", "b"])
def test_sizes_that_the_launch_knows(dynamic: str) -> None:
    """What maps cannot describe, threads store."""
    product = Half("b=3 m=320 n=192 k=128", "bmk", "bkn", "bmn")
    if dynamic == "m":
        product = Half("m=320 n=192 k=128")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pipeline.UnverifiedWarning)
        module = pipeline.compile(product.dynamic_text(dynamic), chip="sm_90a", verify=False)
    check_numbers(module, product)


def test_option() -> None:
    """Without it, threads store, and nothing is said."""
    module = compile_text(DEEP.text, OFF)
    assert not remarks_of(module)
    assert "cp.async.bulk.commit_group" not in module.ptx
    check_numbers(module, DEEP)
    full = Product("m=128 n=128 k=128")
    assert compile_text(full.text).ptx == compile_text(full.text, OFF).ptx


@pytest.mark.parametrize(
    ("product", "why"),
    [
        (Half("m=128 n=132 k=128", "mk", "nk"), "bytes of the result is no multiple of 16"),
        (Half("m=128 n=128 k=128", "mk", "kn", "nm"), ""),
    ],
)
def test_what_threads_store(product: Half, why: str) -> None:
    module = compile_text(product.text)
    assert why in reasons_of(module)
    check_numbers(module, product)


# --- mistakes -------------------------------------------------------------------------------------


BOXES = Half("m=192 n=256 k=192")
"""Of 3 tiles of 4 boxes of columns, so that each slot is written twice."""


@functools.cache
def stored_module(options: str) -> pipeline.Module:
    schedule = compile_text(BOXES.text).schedule or ""
    schedule = schedule.replace('"block" = [64, 64]', '"block" = [64, 256]')
    return pipeline.compile(
        BOXES.text, chip="sm_90a", schedule=schedule, memory_options=options, keep_texts=True
    )


SYNC = r" *nvvm\.bar\.warp\.sync %\S+ : i32\n"
READ = r" *nvvm\.cp\.async\.bulk\.wait_group \d+ \{read\}\n"
FENCE = r" *nvvm\.fence\.proxy .*\n"
EDITS = {
    "none": ("$", ""),
    "wait for reads": (READ, ""),
    "wait for too few reads": (r"wait_group \d+ \{read\}", "wait_group 3 {read}"),
    "lanes meet before they write": (f"({READ}){SYNC}", r"\1"),
    "fence": (f"{FENCE}({SYNC})", r"\1"),
    "lanes meet before TMA reads": (f"({FENCE}){SYNC}", r"\1"),
    "fence behind the meeting": (f"({FENCE})({SYNC})", r"\2\1"),
    "commit": (r" *nvvm\.cp\.async\.bulk\.commit\.group\n", ""),
    "slots that overlap": (r"(= arith\.muli %\w+, )%c4096( overflow<nsw, nuw>)", r"\1%c2048\2"),
    "wait in the end": (r" *nvvm\.cp\.async\.bulk\.wait_group 0\n", ""),
}


def mutate(kind: str, options: str) -> str:
    """Return the kernel with one mistake, or none."""
    pattern, replacement = EDITS[kind]
    text = stored_module(options).texts["gpu"]
    changed, count = re.subn(pattern, replacement, text)
    assert count >= 1
    assert (changed != text) == (kind != "none")
    return changed


GRIDS = pytest.mark.parametrize(
    "options",
    ["", "persist-grid=2", "specialize-warps=0"],
    ids=["default", "persistent", "waiting"],
)


@GRIDS
def test_slots_that_are_written_again(options: str) -> None:
    module = stored_module(options)
    waits = re.findall(r"bulk\.wait_group (\d) \{read\}", module.texts["gpu"])
    assert waits == ["1", "1", "1", "1"]
    check_numbers(module, BOXES)
    check_proof(module)


@GRIDS
@pytest.mark.parametrize("kind", EDITS)
def test_mistakes_are_found(kind: str, options: str) -> None:
    """Each is refuted, or not proved, or else the emulator finds it in one of the orders."""
    text = mutate(kind, options)
    (kernel,) = pipeline.check(text).kernels
    is_proved, is_fine = kernel.verdict == "SAFE", is_right(text, BOXES)
    assert (is_proved and is_fine) == (kind == "none")
    # What kernels leave behind when they end, the emulator alone looks at.
    assert is_proved == (kind == "none") or kind == "wait in the end"
