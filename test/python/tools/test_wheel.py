"""The wheel for other machines: `pip install` is all that they need."""

from __future__ import annotations

import importlib.metadata
import json
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]

PROGRAM = '''
import json, pathlib
import numpy as np
import pipeline

ADD = """
func.func @main(%a: tensor<100xf32>, %b: tensor<100xf32>, %e: tensor<100xf32>) -> tensor<100xf32> {
  %r = linalg.add ins(%a, %b : tensor<100xf32>, tensor<100xf32>) outs(%e : tensor<100xf32>)
      -> tensor<100xf32>
  return %r : tensor<100xf32>
}
"""
module = pipeline.compile(ADD)
a, b = np.arange(100, dtype=np.float32), np.full(100, 0.5, np.float32)
sums = module.run(a, b, np.zeros(100, np.float32), check="all")
mapped = {line.split(maxsplit=5)[-1].strip() for line in pathlib.Path("/proc/self/maps").open()}
print(json.dumps({
    "difference": float(np.abs(sums - (a + b)).max()),
    "ptx": module.ptx,
    "plugin": str(pipeline.plugin_path()),
    "libraries": sorted(name for name in mapped if ".so" in name),
}))
'''


@dataclass(frozen=True)
class Installation:
    """An environment that the wheel was installed into, and what a program in it reported."""

    packages: Path
    difference: float
    ptx: str
    plugin: Path
    libraries: list[str]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the wheel that the command makes."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, str(ROOT / "tools" / "wheel"), "--out", str(folder)]
    subprocess.run(command, check=True, stdout=subprocess.PIPE)
    [made] = folder.iterdir()
    return made


def lend(package: str, folder: Path) -> None:
    """Let an environment use an installed package, so that no test asks the network for it."""
    distribution = importlib.metadata.distribution(package)
    names = {file.parts[0] for file in distribution.files or ()} - {"..", "__pycache__"}
    for name in names:
        (folder / name).symlink_to(Path(str(distribution.locate_file(name))))


@pytest.fixture(scope="module")
def installation(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installation:
    """Install the wheel by pip into a fresh environment, and run a program without LLVM on PATH."""
    folder = tmp_path_factory.mktemp("fresh")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    python = folder / "bin" / "python"
    [packages] = folder.glob("lib/python*/site-packages")
    for requirement in ("numpy", "tqdm"):
        lend(requirement, packages)
    pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "-q", "--no-index", str(wheel)], check=True)
    outcome = subprocess.run(
        [str(python), "-c", PROGRAM],
        cwd=folder,
        env={"PATH": str(folder / "bin")},
        check=True,
        stdout=subprocess.PIPE,
    )
    report = json.loads(outcome.stdout)
    plugin = Path(report.pop("plugin"))
    return Installation(packages=packages.resolve(), plugin=plugin, **report)


def test_tag_and_size(wheel: Path) -> None:
    assert "manylinux" in wheel.name
    assert wheel.stat().st_size < 32e6
    with zipfile.ZipFile(wheel) as archive:
        assert sum(entry.file_size for entry in archive.infolist()) < 84e6
        libraries = {entry for entry in archive.namelist() if entry.endswith(".so")}
    assert {Path(name).name.partition(".")[0] for name in libraries} == {
        "_native",
        "WorkgroupPlugin",
    }


@pytest.mark.parametrize("needed", ["numpy", "tqdm"])
def test_it_declares_what_it_needs(wheel: Path, needed: str) -> None:
    with zipfile.ZipFile(wheel) as archive:
        [name] = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        assert f"Requires-Dist: {needed}>=" in archive.read(name).decode()


def test_program_runs(installation: Installation) -> None:
    assert installation.difference == 0
    assert ".visible .entry main" in installation.ptx


def test_nothing_of_llvm_is_loaded(installation: Installation) -> None:
    [native] = [name for name in installation.libraries if "/_native." in name]
    assert installation.packages in Path(native).parents
    for name in installation.libraries:
        assert not any(word in name for word in ("libMLIR", "libLLVM", "llvm-22", "zstd")), name


def test_plugin_loads_into_mlir_opt(installation: Installation) -> None:
    assert installation.plugin.parent == installation.packages / "pipeline"
    program = shutil.which("mlir-opt-22")
    assert program
    plugin = f"--load-pass-plugin={installation.plugin}"
    command = [program, plugin, "--pass-pipeline=builtin.module(workgroup-memory)"]
    outcome = subprocess.run(command, input=b"module {}", stdout=subprocess.PIPE, check=True)
    assert outcome.stdout.decode().split() == ["module", "{", "}"]
