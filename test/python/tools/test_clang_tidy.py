"""The checks of our own in .clang-tidy find what they are for."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = """
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
llvm::SmallVector<llvm::SmallVector<int, 2>> getIndices();
int useIndices() {{
  int result = 0;
  {statement}
  return result;
}}
"""
DANGLING = [
    "for (int index : getIndices()[1]) result += index;",
    "for (int index : getIndices().front()) result += index;",
    "llvm::ArrayRef<int> view = getIndices()[1]; result += view[0];",
]
LASTING = [
    "for (auto indices : getIndices()) result += indices[0];",
    "auto all = getIndices(); for (int index : all[1]) result += index;",
    "auto all = getIndices(); llvm::ArrayRef<int> view = all[1]; result += view[0];",
]


def run(folder: Path, statement: str) -> str:
    source = folder / "program.cpp"
    source.write_text(PROGRAM.format(statement=statement), encoding="utf-8")
    llvm_config = shutil.which("llvm-config-22") or "llvm-config"
    includes = subprocess.check_output([llvm_config, "--includedir"], text=True).strip()
    result = subprocess.run(
        [
            *(Path(sys.executable).parent / "clang-tidy", "--experimental-custom-checks"),
            *("--quiet", "--checks=-*,custom-*", f"--config-file={ROOT / '.clang-tidy'}"),
            *(source, "--", "-std=c++17", "-isystem", includes),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "clang-diagnostic-error" not in result.stdout
    return result.stdout


@pytest.mark.parametrize("statement", DANGLING)
def test_part_of_a_temporary_is_found(tmp_path: Path, statement: str) -> None:
    assert "program.cpp:7:" in run(tmp_path, statement)


@pytest.mark.parametrize("statement", LASTING)
def test_what_lasts_is_not(tmp_path: Path, statement: str) -> None:
    assert not run(tmp_path, statement).strip()
