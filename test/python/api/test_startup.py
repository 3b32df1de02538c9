"""What a process loads: what it takes to start, every compilation by the command line takes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import pipeline
from support import programs
from support.command_line import run

# Whatever was loaded for the interpreter itself, by the files of site-packages too, is not ours.
TELL_LOADED = """
import os, runpy, sys
before = set(sys.modules)
try:
{body}
finally:
    print("\\n", *sorted(set(sys.modules) - before))
"""
# It ends the process without what Python does at the end.
RUN = 'os._exit = sys.exit; runpy.run_module("pipeline", run_name="__main__", alter_sys=True)'

ADD = """\
!t = tensor<64x128xf32>
func.func @main(%a: !t, %b: !t, %e: !t) -> !t {
  %r = linalg.add ins(%a, %b : !t, !t) outs(%e : !t) -> !t
  return %r : !t
}
"""

SLOW = {
    *("concurrent.futures", "json", "logging", "numpy", "pathlib", "platform", "queue", "random"),
    *("shutil", "socket", "subprocess", "tempfile", "tqdm"),
}
"""Modules of others that take milliseconds, and compilations do without."""

FIRST = {
    *("pipeline", "pipeline.command_line", "pipeline.command_line.cli"),
    *("pipeline.command_line.launch_sizes", "pipeline.command_line.parser"),
    *("pipeline.compiling", "pipeline.compiling.compiler"),
    *("pipeline.compiling.programs", "pipeline.compiling.request"),
    *("pipeline.errors", "pipeline.records"),
    *("pipeline.records.limits", "pipeline.system", "pipeline.system.files"),
    *("pipeline.system.toolchain", "pipeline.system.worker"),
}
"""The modules of this package that the command line is made of."""

OF_COMPILATIONS = {
    *("pipeline._native", "pipeline.compiling.results", "pipeline.conversion"),
    *(
        "pipeline.diagnostics",
        "pipeline.program",
        "pipeline.program.assembly",
        "pipeline.program.calling",
        "pipeline.program.entry",
    ),
    *("pipeline.program.module", "pipeline.records.barriers", "pipeline.records.memory"),
    *(
        "pipeline.records.kernel",
        "pipeline.records.signature",
        "pipeline.runtime",
        "pipeline.runtime.emulation",
    ),
    *("pipeline.schedules", "pipeline.schedules.choosing", "pipeline.schedules.target"),
}
"""What is loaded beside LLVM's libraries, and the native extension."""


def loaded_by(body: str, *arguments: str | Path) -> set[str]:
    """Return the modules that a statement loads in an interpreter of its own."""
    code = TELL_LOADED.format(body=f"    {body}")
    outcome = run("-c", code, *arguments, command=(sys.executable,))
    assert (outcome.code, outcome.words) == (0, "")
    return set(outcome.text.splitlines()[-1].split())


def of_this_package(modules: set[str]) -> set[str]:
    return {name for name in modules if name.split(".")[0] == "pipeline"}


def test_import() -> None:
    modules = loaded_by("import pipeline")
    assert of_this_package(modules) == {"pipeline"}
    assert not modules & {*SLOW, "argparse", "dataclasses", "typing"}


def test_command_line() -> None:
    modules = loaded_by("import pipeline.command_line.cli")
    assert of_this_package(modules) == FIRST
    assert not modules & {*SLOW, "dataclasses"}


@pytest.mark.parametrize("text", [programs.STORE, ADD], ids=["kernels", "linalg"])
def test_compile(text: str, tmp_path: Path) -> None:
    """Not what only runs kernels, checks or examines."""
    source = tmp_path / "program.mlir"
    source.write_text(text)
    modules = loaded_by(RUN, "compile", source, "-o", tmp_path / "program.ptx")
    wanted = FIRST | OF_COMPILATIONS
    ours = of_this_package(modules)
    assert ours >= wanted
    assert all(name.startswith("pipeline.schedules.") for name in ours - wanted)
    assert not modules & SLOW
    assert (tmp_path / "program.ptx").read_text()


def test_names_that_are_loaded_later() -> None:
    names = ", ".join(set(pipeline.__all__) - {"__version__"})
    modules = loaded_by(f"from pipeline import {names}")
    later = {"pipeline.compiling.checking", "pipeline.records.findings"}
    assert modules >= {*later, "pipeline.runtime.host.plan"}
    assert not modules & {"numpy", "pipeline._native"}
    assert set(dir(pipeline)) >= set(pipeline.__all__)


def test_modules_that_are_loaded_later() -> None:
    """After ``import pipeline`` alone, as the documentation writes it."""
    assert "pipeline.records.findings" in loaded_by("import pipeline; pipeline.findings.to_json")


def test_name_that_is_not_there() -> None:
    with pytest.raises(AttributeError, match="module 'pipeline' has no attribute 'compiel'"):
        _ = pipeline.compiel  # type: ignore[attr-defined]
