"""What insertion leaves to the verification behind it does not change the verdict.

The pipeline has both, and verification looks at the copy that insertion left. In two runs of
`mlir-opt` it finds out everything itself.
"""

from __future__ import annotations

from collections import Counter

import pytest

import pipeline
from oracles.sync.compiler import VERIFY, run_passes
from oracles.sync.random import form_of, generate, with_barriers
from oracles.sync.text import print_program

SEEDS = 120
CHUNKS = 4
WITHOUT = "workgroup-memory{verify-barriers=false}"


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_verdicts(chunk: int) -> None:
    """Random kernels, with barriers of their own or without, in which some races stay."""
    texts: list[tuple[str, str]] = []
    for seed in range(chunk, SEEDS, CHUNKS):
        program, analysis = generate(seed)
        if seed % 3 == 0:
            program = with_barriers(program, analysis, seed)
        texts.append((program.name, print_program(program, form_of(seed))))
    together = run_passes(texts, "workgroup-memory")
    inserted = run_passes(texts, WITHOUT)
    names = [name for name, _ in texts]
    texts_inserted = [(name, outcome.text) for name, outcome in zip(names, inserted, strict=True)]
    apart = run_passes(texts_inserted, f"{VERIFY},workgroup-verify-kernels")
    verdicts: Counter[str] = Counter()
    for (name, text), one, two in zip(texts, together, apart, strict=True):
        assert one.verdict == two.verdict, f"{name}\n{text}\n{one}\n{two}"
        verdicts[one.verdict] += 1
    assert verdicts["SAFE"] > len(texts) // 2
    assert len(verdicts) > 1


@pytest.mark.parametrize("size", [256, 100])
@pytest.mark.parametrize("kind", ["f16", "f32"])
def test_schedules(kind: str, size: int) -> None:
    """Of kernels that schedules make, verification changes nothing, and has nothing to say."""
    factor, total = f"tensor<{size}x{size}x{kind}>", f"tensor<{size}x{size}xf32>"
    text = f"""
        func.func @main(%a: {factor}, %b: {factor}, %c: {total}) -> {total} {{
          %r = linalg.matmul ins(%a, %b : {factor}, {factor}) outs(%c : {total}) -> {total}
          return %r : {total}
        }}"""
    verified = pipeline.compile(text, chip="sm_80")
    assert not verified.diagnostics
    assert verified.ptx == pipeline.compile(text, chip="sm_80", verify=False).ptx
