"""Two contractions in one kernel where it has the memory, in one each where it has not."""

from __future__ import annotations

import re

import pytest

import pipeline
from linalg.linalg_programs import PROGRAMS, Program
from pipeline.schedules import Target, target

# Kernels with all that the chip has, and without memory for rows.
KERNELS = {
    "attention": (1, 3),
    "attention_masked": (1, 3),
    "attention_causal": (1, 3),
    "attention_long": (1, 3),
    "attention_steps": (1, 3),
    "attention_half": (1, 3),
    "layers": (1, 2),
    "layers_dynamic": (1, 2),
    "layers_wide": (1, 2),
    "products": (1, 2),
    "attention_dynamic": (1, 3),
}
CHAINS = [program for program in PROGRAMS if program.name in KERNELS]


@pytest.fixture
def little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def make_target(chip: str, chips: object) -> Target:
        return Target(chip, 108, 4 << 10)

    monkeypatch.setattr(target, "make_target", make_target)


def named(program: Program) -> str:
    return program.name


@pytest.mark.parametrize("program", CHAINS, ids=named)
def test_one_kernel(program: Program) -> None:
    module = pipeline.compile(program.text, chip="sm_80")
    assert len(module.kernels) == KERNELS[program.name][0]
    assert module.schedule is not None
    again = pipeline.compile(program.text, chip="sm_80", schedule=module.schedule)
    assert again.ptx == module.ptx


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize("program", CHAINS, ids=named)
def test_without_memory(program: Program) -> None:
    module = pipeline.compile(program.text, chip="sm_80")
    assert len(module.kernels) == KERNELS[program.name][1]
    arguments = program.arguments(0)
    result = module.run(*arguments, check="races", workers=1)
    program.check(0, [result])


# Heads enough that a block has 64 rows.
ATTENTION = """
#q = affine_map<(b, m, n, k) -> (b, m, k)>
#k = affine_map<(b, m, n, k) -> (b, n, k)>
#s = affine_map<(b, m, n, k) -> (b, m, n)>
!q = tensor<32x256x64xf32>
!s = tensor<32x256x256xf32>
func.func @main(%q: !q, %k: !q, %v: !q) -> !q {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : !s
  %z = linalg.fill ins(%zero : f32) outs(%e : !s) -> !s
  %s = linalg.batch_matmul indexing_maps = [#q, #k, #s] ins(%q, %k : !q, !q) outs(%z : !s) -> !s
  %p = linalg.softmax dimension(2) ins(%s : !s) outs(%e : !s) -> !s
  %f = tensor.empty() : !q
  %y = linalg.fill ins(%zero : f32) outs(%f : !q) -> !q
  %r = linalg.batch_matmul ins(%p, %v : !s, !q) outs(%y : !q) -> !q
  return %r : !q
}
"""


def test_quality() -> None:
    """Sums are in registers, of which three blocks find room; few loads come to many products."""
    module = pipeline.compile(ATTENTION, chip="sm_80")
    (kernel,) = module.kernels.values()
    assert kernel.resources.spill_store_bytes == kernel.resources.stack_bytes == 0
    assert kernel.resources.registers <= 168
    fma = len(re.findall(r"\bfma\.rn\.f32", module.ptx))
    loads = len(re.findall(r"\bld\.shared", module.ptx))
    # The passes over the scores are unrolled, each load of them written out.
    assert fma >= 6 * loads
