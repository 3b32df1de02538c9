"""What works where the native extension cannot load, and what the rest says then."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import pipeline
from support import programs
from support.command_line import Outcome, copy_package, native_file, run

BARE = (sys.executable, "-S")
"""Without site-packages, so that a copy of the package is not shadowed by the installed one."""

DEFECTS = ("absent", "damaged", "without a library")


def install(folder: Path, defect: str) -> Path:
    """Install a package whose extension cannot load into `folder`."""
    target = copy_package(folder, native=False)
    if defect == "damaged":
        (target / native_file().name).write_bytes(b"\x7fELF")
    if defect == "without a library":
        content = native_file().read_bytes()
        assert b"libz.so.1" in content
        (target / native_file().name).write_bytes(content.replace(b"libz.so.1", b"libz.so.0"))
    return target


@pytest.fixture(params=DEFECTS)
def package(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return the folder of a package whose extension cannot load."""
    defect: str = request.param
    return install(tmp_path, defect)


def call(package: Path, *arguments: str, stdin: bytes = b"") -> Outcome:
    return run(*arguments, stdin=stdin, command=(*BARE, "-m", "pipeline"), cwd=package.parent)


REMEDY = "pip install "


def test_import(package: Path) -> None:
    code = "import pipeline; print(pipeline.__file__, sorted(pipeline.__all__))"
    outcome = run("-c", code, command=BARE, cwd=package.parent)
    assert (outcome.code, outcome.words) == (0, "")
    assert outcome.text == f"{package / '__init__.py'} {sorted(pipeline.__all__)}\n"


@pytest.mark.parametrize("arguments", [("--help",), ("compile", "--help")])
def test_help(package: Path, arguments: tuple[str, ...]) -> None:
    outcome = call(package, *arguments)
    assert (outcome.code, outcome.words) == (0, "")
    assert outcome.text.startswith("usage: python -m pipeline ")


def test_plugin_path(package: Path) -> None:
    outcome = call(package, "plugin-path")
    assert (outcome.code, outcome.words) == (0, "")
    assert outcome.text == f"{package / 'WorkgroupPlugin.so'}\n"


@pytest.mark.parametrize("defect", ["absent", "damaged"])
def test_opt(tmp_path: Path, defect: str) -> None:
    package = install(tmp_path, defect)
    passes = "--pass-pipeline=builtin.module(workgroup-sink-allocs)"
    outcome = call(package, "opt", passes, stdin=programs.STORE.encode())
    assert (outcome.code, outcome.words) == (0, "")
    assert "gpu.func @store" in outcome.text


def test_doctor(package: Path) -> None:
    outcome = call(package, "doctor")
    assert (outcome.code, outcome.words) == (69, "")
    lines = {line[8:26].strip(): line for line in outcome.text.splitlines()}
    assert lines["compiler"].startswith("MISSING ")
    assert REMEDY in lines["compiler"]
    assert lines["plugin"].startswith("ok ")
    assert lines["plugin"].endswith(str(package / "WorkgroupPlugin.so"))


def test_compile(package: Path) -> None:
    code = (
        "import pipeline\n"
        "try:\n"
        "    pipeline.compile('module {\\n}\\n')\n"
        "except pipeline.Error as error:\n"
        "    print(type(error).__name__, error.exit_code, error)\n"
    )
    outcome = run("-c", code, command=BARE, cwd=package.parent)
    assert (outcome.code, outcome.words) == (0, "")
    assert outcome.text.startswith("ToolError 69 error: the compiler cannot be loaded: ")
    assert REMEDY in outcome.text


def test_compile_from_the_command_line(package: Path) -> None:
    outcome = call(package, "compile", "-", "-o", "out.ptx", stdin=programs.STORE.encode())
    assert (outcome.code, outcome.data) == (69, b"")
    (line,) = outcome.words.splitlines()
    assert line.startswith("error: the compiler cannot be loaded: ")
    assert REMEDY in line
    assert not (package.parent / "out.ptx").exists()


def test_plugin_that_is_not_installed(tmp_path: Path) -> None:
    package = copy_package(tmp_path, native=False)
    (package / "WorkgroupPlugin.so").unlink()
    for command in ("plugin-path", "opt"):
        outcome = call(package, command)
        assert (outcome.code, outcome.data) == (69, b"")
        assert outcome.words.startswith("error: WorkgroupPlugin.so is not installed; pip install ")
    # Without either it is the runtime.
    assert call(package, "doctor").code == 0


# --- where it could load --------------------------------------------------------------------------


def is_heavy(module: str) -> bool:
    return module == "pipeline._native" or module.split(".")[0] == "numpy"


RUN_AND_TELL = """
import json, os, runpy, sys
os._exit = sys.exit
try:
    runpy.run_module("pipeline", run_name="__main__", alter_sys=True)
except SystemExit:
    print()
    print(json.dumps(sorted(sys.modules)))
"""


def test_import_loads_nothing_heavy() -> None:
    code = "import json, sys, pipeline; print(json.dumps(sorted(sys.modules)))"
    modules = json.loads(run("-c", code, command=(sys.executable,)).text)
    assert "pipeline" in modules
    assert not list(filter(is_heavy, modules))


@pytest.mark.parametrize(
    "arguments", [("--help",), ("compile", "--help"), ("plugin-path",), ("doctor",), ("opt", "-h")]
)
def test_command_loads_nothing_heavy(arguments: tuple[str, ...]) -> None:
    """A library that does not load, or ends the process on the way, must not end these."""
    outcome = run("-c", RUN_AND_TELL, *arguments, command=(sys.executable,))
    modules = json.loads(outcome.text.splitlines()[-1])
    assert "pipeline.command_line.cli" in modules
    assert not list(filter(is_heavy, modules))


def test_compile_loads_no_numpy() -> None:
    code = (
        "import sys, pipeline\n"
        "from support import programs\n"
        "pipeline.compile(programs.STORE)\n"
        "print([m for m in sys.modules if m in ('numpy', 'pipeline._native')])\n"
    )
    variables = {"PYTHONPATH": str(Path(__file__).parents[1])}
    outcome = run("-c", code, command=(sys.executable,), variables=variables)
    assert outcome.text == "['pipeline._native']\n"
