"""The wheel of what runs: in an environment that has nothing else, bundles load."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
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

# The stand-in for the driver does what the kernel does.
GPU_PROGRAM = """
import ctypes, importlib.util, sys
import numpy as np
import pipeline
from gpu.stand_in_driver import stand_in

N = 1024

def multiply(launch):
    floats = [(ctypes.c_float * (N * N)).from_address(launch.integer(i)) for i in range(3)]
    a, b, c = (np.frombuffer(memory, np.float32).reshape(N, N) for memory in floats)
    assert (launch.image, launch.grid) == (module.ptx, (256, 256, 1))
    c += a @ b

driver = stand_in()
driver.reset()
driver.on_launch(multiply)
assert importlib.util.find_spec("pipeline._native") is None
module = pipeline.load(sys.argv[1], sha256=sys.argv[2])
rng = np.random.default_rng(2)
a, b, c = (rng.uniform(-1, 1, (N, N)).astype(np.float32) for _ in range(3))
expected = c + a @ b
module.kernels["main_kernel"].run(a, b, c, backend="cuda")
assert not driver.errors, driver.errors
np.testing.assert_allclose(c, expected, atol=1e-4)
print(sum(call.startswith("cuLaunchKernelEx") for call in driver.calls()))
"""


@dataclass(frozen=True)
class Environment:
    """A fresh environment with the wheel in it, and a bundle beside it."""

    folder: Path
    bundle: Path
    digest: str

    def run(self, *arguments: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
        python = self.folder / "bin" / "python"
        kept = {name: os.environ[name] for name in ("HOME", "LANG") if name in os.environ}
        return subprocess.run(
            [str(python), *map(str, arguments)],
            cwd=self.folder,
            env={**kept, "PATH": str(self.folder / "bin"), **variables},
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
    subprocess.run([*pip, "install", "-q", "--no-index", str(wheel)], check=True)
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


def test_it_declares_no_other_package(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith("/METADATA"))
        lines = archive.read(name).decode().splitlines()
    needs = [line for line in lines if line.startswith("Requires-Dist: ")]
    assert needs
    assert all('; extra == "' in line for line in needs), needs


def test_wheel(wheel: Path) -> None:
    assert wheel.name.endswith("-py3-none-any.whl")
    assert wheel.stat().st_size < 1_000_000
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert "pipeline/program/loading.py" in names
    headers = "pipeline/system/cuda/"  # for clang, which may be there
    data = (headers, "pipeline/report/")
    ours = [name for name in names if name.startswith("pipeline/")]
    assert {Path(name).suffix for name in ours if not name.startswith(data)} == {".py"}
    assert f"{headers}kernels.h" in names


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


def test_first_program_of_the_readme(environment: Environment, tmp_path: Path) -> None:
    """With what the extra `cuda` brings, a bundle of it runs by the driver."""
    bundle = tmp_path / "promoted-matmul.bundle"
    digest = pipeline.compile(EXAMPLES / "promoted-matmul.mlir").save(bundle)
    extra = tmp_path / "extra"
    extra.mkdir()
    packages = Path(sysconfig.get_path("platlib"))
    for name in ("numpy", "numpy.libs", "cuda"):
        (extra / name).symlink_to(packages / name)
    tests = ROOT / "test" / "python"
    outcome = environment.run(
        *("-c", GPU_PROGRAM, bundle, digest),
        PATH=os.environ["PATH"],  # where the stand-in's compiler is
        PYTHONPATH=f"{extra}{os.pathsep}{tests}",
    )
    assert (outcome.returncode, outcome.stderr, outcome.stdout) == (0, "", "1\n")
