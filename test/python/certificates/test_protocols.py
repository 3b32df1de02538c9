"""Kernels whose warps hand slots to each other, as others test their race checkers on them."""

from __future__ import annotations

import json
import warnings

import pytest

import pipeline
from fuzzing.certificates import judge
from protocols.protocol_cases import Known, known
from protocols.protocol_programs import program_text

KNOWN = known()
MORE = {"consan different_phases"}
"""What is right for a reason that is not looked for: that a phase cannot end a second time."""


def certify(text: str) -> tuple[dict[str, object], str]:
    """Return the certificate of kernels whose barriers are kept, right or wrong, and LLVM IR."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that they are not verified
        module = pipeline.compile(
            text, chip="sm_90a", until="llvm", certify=True, schedule="none", sync="keep",
            verify=False,
        )  # fmt: skip
    return json.loads(module.texts["certificate"]), module.texts["llvm"]


@pytest.mark.parametrize("case", KNOWN, ids=[case.program.name for case in KNOWN])
def test_what_others_test(case: Known) -> None:
    said = judge(*certify(program_text(case.program)))
    assert said == ("refuted" if case.is_wrong or case.program.name in MORE else "holds")
