"""The targets of CMake that run tests: what they run is the build, not what is installed."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def tree() -> Path:
    """Return the folder that the package was built in."""
    (file,) = (ROOT / "build").glob("cp*/build.ninja")
    return file.parent


def commands(tree: Path, target: str) -> list[str]:
    """Return what makes the package of links and runs the tests, when all is built."""
    ninja = ["ninja", "-C", str(tree), "-t", "commands", target]
    done = subprocess.run(ninja, capture_output=True, text=True, check=True)
    package, tests = done.stdout.splitlines()[-2:]
    assert "/test/package/pipeline" in package
    assert f"PYTHONPATH={tree}/test/package" in tests
    return [package, tests]


def run(commands: list[str], **variables: str) -> str:
    """Run commands one after the other; return what the last one prints, without line breaks."""
    for command in commands:
        done = subprocess.run(
            ["sh", "-c", command],
            env=os.environ | variables,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
    return " ".join(done.stdout.split())


def test_targets(tree: Path) -> None:
    """Each by one of its tests; they make the same package, so one after the other."""
    lit = run(commands(tree, "check-workgroup"), LIT_OPTS="--filter=Schedules/auto.mlir")
    assert "Passed : 1 " in lit
    options = "-n0 -p no:cacheprovider -k what_is_for_tests_alone"
    pytest = run(commands(tree, "check-workgroup-python"), PYTEST_ADDOPTS=options)
    assert "1 passed" in pytest
    package = tree / "test" / "package" / "pipeline"
    links = [link for link in package.iterdir() if link.name != "__pycache__"]
    assert {"_native", "WorkgroupPlugin"} <= {link.name.partition(".")[0] for link in links}
    assert all(link.is_symlink() and link.exists() for link in links)


def test_counters_of_coverage(tmp_path: Path) -> None:
    """The folders that the preset names are compiled with counters, and no others."""
    (preset,) = (
        preset
        for preset in json.loads((ROOT / "CMakePresets.json").read_text(encoding="utf-8"))[
            "configurePresets"
        ]
        if preset["name"] == "coverage"
    )
    command = ["cmake", "--preset", "coverage", "-B", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    units = json.loads((tmp_path / "compile_commands.json").read_text(encoding="utf-8"))
    lib = tmp_path / "lib"
    counted = {
        Path(unit["file"]).relative_to(lib).parts[:2]
        for unit in units
        if "--coverage" in unit["command"]
    }
    wanted = preset["cacheVariables"]["WORKGROUP_COVERAGE"].split(";")
    assert {"/".join(folder) for folder in counted} == set(wanted)
