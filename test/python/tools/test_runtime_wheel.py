"""The wheel of what runs: in an environment that has nothing else, bundles load."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import pipeline
from support.examples import EXAMPLES

ROOT = Path(__file__).resolve().parents[3]

PROGRAM = """
import importlib.util, json, sys
import pipeline

def tell(function):
    try:
        function()
    except pipeline.Error as error:
        return [type(error).__name__, str(error)]
    return ["", ""]

module = pipeline.load(sys.argv[1], sha256=sys.argv[2])
entry = module.entry()
kernel = next(iter(module.kernels.values()))
print(json.dumps({
    "has_numpy": importlib.util.find_spec("numpy") is not None,
    "file": pipeline.__file__,
    "kernels": list(module.kernels),
    "arguments": [argument.type for argument in entry.arguments],
    "steps": len(module.plan.functions[entry.name].body.steps),
    "limits": list(kernel.limits),
    "ptx": module.ptx,
    "version": pipeline.__version__,
    "emulator": tell(lambda: kernel.run(1, grid=1, block=1, backend="emulator")),
    "gpu": tell(lambda: module.load()),
    "compile": tell(lambda: pipeline.compile("module {\\n}\\n")),
    "heavy": [name for name in sys.modules if name.split(".")[0] in ("numpy", "tqdm", "ml_dtypes")],
}))
"""


@dataclass(frozen=True)
class Environment:
    """A fresh environment with the wheel in it, and a bundle beside it."""

    folder: Path
    bundle: Path
    digest: str

    def run(self, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        python = self.folder / "bin" / "python"
        kept = {name: os.environ[name] for name in ("HOME", "LANG") if name in os.environ}
        return subprocess.run(
            [str(python), *map(str, arguments)],
            cwd=self.folder,
            env={**kept, "PATH": str(self.folder / "bin")},
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the wheel that the command makes."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, str(ROOT / "tools" / "wheel"), "--runtime", "--out", str(folder)]
    subprocess.run(command, check=True, stdout=subprocess.PIPE)
    [made] = folder.iterdir()
    return made


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    folder = tmp_path_factory.mktemp("fresh")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    python = folder / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "-q", "--no-index", "--no-deps", str(wheel)], check=True)
    bundle = folder / "softmax.bundle"
    digest = pipeline.compile(EXAMPLES / "softmax.mlir").save(bundle)
    return Environment(folder, bundle, digest)


@pytest.fixture(scope="module")
def report(environment: Environment) -> dict[str, Any]:
    """Return what a program tells that runs there."""
    outcome = environment.run("-c", PROGRAM, environment.bundle, environment.digest)
    assert (outcome.returncode, outcome.stderr) == (0, "")
    told: dict[str, Any] = json.loads(outcome.stdout)
    return told


def test_wheel(wheel: Path) -> None:
    assert wheel.name.endswith("-py3-none-any.whl")
    assert wheel.stat().st_size < 1_000_000
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert "pipeline/program/loading.py" in names
    assert {Path(name).suffix for name in names if name.startswith("pipeline/")} == {".py"}


def test_bundle_loads(environment: Environment, report: dict[str, Any]) -> None:
    module = pipeline.compile(EXAMPLES / "softmax.mlir")
    assert report["has_numpy"] is False
    assert Path(report["file"]).is_relative_to(environment.folder.resolve())
    assert report["kernels"] == list(module.kernels)
    assert report["arguments"] == ["memref<?x?xf32>"]
    assert report["ptx"] == module.ptx
    body = module.plan.functions["main"].body
    assert body is not None
    assert report["steps"] == len(body.steps)
    assert report["limits"][0] == [2**31 - 1, 65535, 65535]
    assert report["heavy"] == []


def test_what_is_missing_is_told(report: dict[str, Any]) -> None:
    kind, words = report["compile"]
    assert kind == "ToolError"
    assert words.startswith("error: the compiler cannot be loaded: ")
    assert "pip install" in words
    kind, words = report["emulator"]
    assert kind == "ToolError"
    assert words.startswith("error: the emulator cannot be loaded: ")


def test_gpu_is_missed(report: dict[str, Any]) -> None:
    """Without NumPy, programs run on a GPU; here, what is missing for that is told."""
    kind, words = report["gpu"]
    assert kind == "DeviceUnavailable"
    assert words.startswith("error: ")
    assert "driver" in words or "pip install" in words


def test_commands(environment: Environment) -> None:
    outcome = environment.run("-m", "pipeline", "inspect", environment.bundle)
    assert (outcome.returncode, outcome.stderr) == (0, "")
    assert f"digest    {environment.digest}" in outcome.stdout
    outcome = environment.run("-m", "pipeline", "run", environment.bundle, "--backend", "emulator")
    assert (outcome.returncode, outcome.stdout) == (69, "")
    assert outcome.stderr.startswith("error: the emulator cannot be loaded: ")
    outcome = environment.run("-m", "pipeline", "run", environment.bundle, "--backend", "cuda")
    assert (outcome.returncode, outcome.stdout) == (69, "")
    assert outcome.stderr == "error: this command works on arrays of NumPy: pip install numpy\n"
    outcome = environment.run("-m", "pipeline", "compile", EXAMPLES / "softmax.mlir")
    assert (outcome.returncode, outcome.stdout) == (69, "")
    assert outcome.stderr.startswith("error: the compiler cannot be loaded: ")
    assert "Traceback" not in outcome.stderr
