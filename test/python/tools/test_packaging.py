"""What is published: sources that build, one version, metadata, and a program."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

import pipeline
from setup import environment

ROOT = Path(__file__).resolve().parents[3]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
yaml = importlib.import_module("yaml")  # which pre-commit and mkdocs bring, without types
BUILD = "from scikit_build_core import build; import sys; print(build.{}(sys.argv[1]))"


def make(hook: str, sources: Path, folder: Path, **variables: str) -> Path:
    """Run a hook of the build's back end, as pip does, and return what it made."""
    command = [sys.executable, "-c", BUILD.format(hook), str(folder)]
    outcome = subprocess.run(
        command,
        cwd=sources,
        env=os.environ | variables,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return folder / outcome.stdout.splitlines()[-1]


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the unpacked archive of sources."""
    folder = tmp_path_factory.mktemp("sources")
    with tarfile.open(make("build_sdist", ROOT, folder)) as archive:
        if hasattr(tarfile, "data_filter"):  # Python 3.11.4 and later
            archive.extraction_filter = tarfile.data_filter
        archive.extractall(folder)
    (unpacked,) = (path for path in folder.iterdir() if path.is_dir())
    return unpacked


@pytest.fixture(scope="module")
def metadata(sources: Path) -> dict[str, list[str]]:
    message = Parser().parsestr((sources / "PKG-INFO").read_text(encoding="utf-8"))
    return {name: message.get_all(name) or [] for name in set(message)}


def test_sources_are_complete(sources: Path) -> None:
    """All that a wheel is built from, what tests it, and what sets that up."""
    for name in environment.SOURCES:
        assert (sources / name).exists(), name
    for name in ("tools/test", "test/lit.cfg.py", "CMakePresets.json", ".clang-tidy", "docs"):
        assert (sources / name).exists(), name
    assert (sources / "tools" / "test").stat().st_mode & 0o100
    for name in (".git", "build", ".venv", ".venv-dev"):
        assert not (sources / name).exists(), name


def test_wheel_from_sources(sources: Path, tmp_path: Path) -> None:
    """The part that runs, which takes no compiler; the whole is built so by a release."""
    wheel = make("build_wheel", sources, tmp_path, PIPELINE_RUNTIME_ONLY="1")
    assert wheel.name == f"mlir_workgroup-{pipeline.__version__}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as archive:
        (points,) = (name for name in archive.namelist() if name.endswith("entry_points.txt"))
        assert "mlir-workgroup = pipeline.__main__:main" in archive.read(points).decode()
    environment_ = os.environ | {"PYTHONPATH": str(wheel)}
    command = [sys.executable, "-S", "-c", "import pipeline; print(pipeline.__version__)"]
    outcome = subprocess.run(command, env=environment_, stdout=subprocess.PIPE, check=True)
    assert outcome.stdout.decode().strip() == pipeline.__version__


def test_one_version(metadata: dict[str, list[str]]) -> None:
    assert metadata["Version"] == [pipeline.__version__]
    assert "version" not in PYPROJECT["project"]
    assert "VERSION 0" not in (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    citation = yaml.safe_load((ROOT / "docs" / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == pipeline.__version__
    changelog = (ROOT / "docs" / "changelog.md").read_text(encoding="utf-8")
    assert f"\n## {pipeline.__version__}\n" in changelog


def test_metadata(metadata: dict[str, list[str]]) -> None:
    assert metadata["Name"] == ["mlir-workgroup"]
    for name in ("Summary", "Author", "Keywords", "Requires-Python", "License-Expression"):
        assert metadata[name], name
    assert metadata["License-File"] == ["LICENSE"]
    assert len(metadata["Classifier"]) >= 10
    assert metadata["Description-Content-Type"] == ["text/markdown"]


def test_program(tmp_path: Path) -> None:
    """What `pipx run` and `uvx` call: the entry point, as an installer writes it."""
    module, _, function = PYPROJECT["project"]["scripts"]["mlir-workgroup"].partition(":")
    script = tmp_path / "mlir-workgroup"
    script.write_text(f"import sys\nfrom {module} import {function}\nsys.exit({function}())\n")
    command = [sys.executable, str(script)]
    outcome = subprocess.run([*command, "--version"], stdout=subprocess.PIPE, check=True)
    assert outcome.stdout.decode() == f"mlir-workgroup {pipeline.__version__}\n"
    program = ROOT / "test" / "Examples" / "softmax.mlir"
    outcome = subprocess.run(
        [*command, "compile", str(program), "-o", "-"], stdout=subprocess.PIPE, check=True
    )
    assert b".visible .entry main_kernel" in outcome.stdout


def test_workflow_calls_the_commands() -> None:
    """What runs elsewhere is what is typed here: the two commands of the README."""
    text = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    steps = yaml.safe_load(text)["jobs"]["test"]["steps"]
    typed = [step.get("run", "") for step in steps]
    assert typed.index("./tools/demo") < typed.index("./tools/test")
    assert all(re.match(r"[\w/-]+@v\d", step["uses"]) for step in steps if "uses" in step)
