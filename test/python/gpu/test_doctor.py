"""What the doctor says of each state that a machine may be in, and that it ends."""

from __future__ import annotations

import os
import stat
import sys
import time
from pathlib import Path

import pytest

from gpu.stand_in_driver import LIBRARY, build
from pipeline.system import gpu_findings, packages
from pipeline.system.finding import Finding
from support.command_line import copy_package, run


def examine(
    options: str | None, *, variables: dict[str, str] | None = None, code: int = 0
) -> dict[str, str]:
    """Return what the doctor says by name, with the stand-in as the driver, or none."""
    folder = str(build().parent) if options is not None else "/nonexistent"
    own = {"LD_LIBRARY_PATH": folder, "STAND_IN_DRIVER": options or "", **(variables or {})}
    outcome = run("doctor", variables=own)
    assert (outcome.code, outcome.words) == (code, "")
    return {line[8:26].strip(): line for line in outcome.text.splitlines()}


def test_no_driver() -> None:
    start = time.perf_counter()
    lines = examine(None)
    assert time.perf_counter() - start < 5
    assert lines["NVIDIA driver"].startswith("--      NVIDIA driver     none: libcuda.so.1: cannot")
    assert lines["NVIDIA driver"].endswith(" (needed for running on a GPU)")
    assert not [name for name in lines if name.startswith("GPU")]


def test_working_driver() -> None:
    lines = examine("version=13010 chips=90,86")
    assert lines["NVIDIA driver"] == (
        f"ok      NVIDIA driver     for CUDA 13.1, reads PTX up to 9.1 ({build()})"
    )
    assert lines["GPU 0"] == "ok      GPU 0             Stand-in GPU 0, sm_90"
    assert lines["GPU 1"] == "ok      GPU 1             Stand-in GPU 1, sm_86"
    assert lines["cuda-bindings"].startswith("ok ")


@pytest.mark.parametrize(
    ("version", "ptx"),
    [
        (12000, "8.0"),
        (12040, "8.4"),
        (12050, "8.5"),
        (12060, "8.5"),
        (12070, "8.6"),
        (12080, "8.7"),
        (12090, "8.8"),
        (13000, "9.0"),
        (13020, "9.2"),
    ],
)
def test_ptx_that_drivers_read(version: int, ptx: str) -> None:
    """As NVIDIA's table in the release notes of PTX says."""
    lines = examine(f"version={version}")
    assert f" reads PTX up to {ptx} (" in lines["NVIDIA driver"]


INIT = {
    34: (
        "is the stub of a CUDA toolkit",
        "folder 'stubs' out of LD_LIBRARY_PATH",
    ),
    46: ("taken by another process", "nvidia-smi -c DEFAULT"),
    100: ("the driver sees no GPU", "look at nvidia-smi -L and CUDA_VISIBLE_DEVICES"),
    304: ("does not let this process use the GPU", "permissions of /dev/nvidia*"),
    802: ("not ready yet", "systemctl start nvidia-fabricmanager"),
    803: ("are of different versions", "restart the machine"),
    804: ("is from a cuda-compat package", "remove the package cuda-compat"),
    999: ("gives no reason", "look at dmesg"),
    777: ("cuInit fails", "look at nvidia-smi and dmesg"),
}


@pytest.mark.parametrize("code", INIT)
def test_driver_that_does_not_begin(code: int) -> None:
    line = examine(f"init={code}")["NVIDIA driver"]
    state, remedy = INIT[code]
    assert line.startswith(f"--      NVIDIA driver     {build()}: ")
    assert state in line
    assert f"(error {code}); " in line
    assert remedy in line


def test_driver_that_is_too_old() -> None:
    lines = examine("version=11080")
    assert "is for CUDA 11.8, but 12.0 is needed; update it: install" in lines["NVIDIA driver"]


def test_bindings_of_another_major_version() -> None:
    line = examine("version=12040")["cuda-bindings"]
    assert line.startswith("--      cuda-bindings     13.")
    assert "needs a driver for CUDA 13.0 or newer, and this one is for 12.4; pip install" in line
    assert "'cuda-bindings>=12,<13' (needed for running on a GPU)" in line


def test_gpu_that_nobody_may_use() -> None:
    line = examine("mode=2")["GPU 0"]
    assert line.startswith(
        "--      GPU 0             Stand-in GPU 0, sm_90, lets no process use it"
    )
    assert "nvidia-smi -i 0 -c DEFAULT" in line


def test_driver_that_crashes() -> None:
    line = examine("init=-2")["NVIDIA driver"]
    assert "crashes (ended by signal 6); install NVIDIA's driver" in line


def test_driver_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", str(build().parent))
    monkeypatch.setenv("STAND_IN_DRIVER", "init=-1 version=13000")
    start = time.perf_counter()
    (finding,), version = gpu_findings.find_gpus(seconds=1.0)
    assert time.perf_counter() - start < 5
    assert not finding.is_found
    assert finding.detail.startswith(f"{build()}: does not answer; look at dmesg")
    assert version == 13000


def test_library_that_is_no_driver(tmp_path: Path) -> None:
    (tmp_path / LIBRARY).write_bytes(b"\x7fELF and no more")
    line = examine(None, variables={"LD_LIBRARY_PATH": str(tmp_path)})["NVIDIA driver"]
    assert f"none: {tmp_path / LIBRARY}: " in line


# --- machines without the library -----------------------------------------------------------------


def put(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


CARD = "sys/bus/pci/devices/0000:01:00.0"


@pytest.mark.parametrize(
    ("files", "remedy"),
    [
        ({}, "the machine shows no NVIDIA GPU"),
        ({f"{CARD}/vendor": "0x8086\n", f"{CARD}/class": "0x030000\n"}, "shows no NVIDIA GPU"),
        ({f"{CARD}/vendor": "0x10de\n", f"{CARD}/class": "0x040300\n"}, "shows no NVIDIA GPU"),
        (
            {f"{CARD}/vendor": "0x10de\n", f"{CARD}/class": "0x030200\n"},
            "has an NVIDIA GPU",
        ),
        ({"proc/driver/nvidia/version": "NVRM"}, "start the container with --gpus all"),
        ({"usr/lib/wsl/lib/libcuda.so.1": ""}, "export LD_LIBRARY_PATH=/usr/lib/wsl/lib"),
    ],
)
def test_machines_without_the_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], remedy: str
) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", "/nonexistent")
    (finding,), _ = gpu_findings.find_gpus(put(tmp_path, files))
    assert remedy in finding.detail


# --- packages -------------------------------------------------------------------------------------


def findings(driver: int = 13000) -> dict[str, Finding]:
    return {finding.name: finding for finding in gpu_findings.find_packages(driver)}


def test_packages_that_are_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_findings, "find_version", lambda _: None)
    monkeypatch.setattr(gpu_findings, "find_torch", lambda: None)
    found = findings()
    assert [finding.is_found for finding in found.values()] == [False] * 4
    assert found["cuda-bindings"].detail == "not installed; pip install cuda-bindings"
    assert "pip install numpy" in found["NumPy"].detail
    assert "pip install ml_dtypes" in found["ml_dtypes"].detail
    assert "pip install torch" in found["PyTorch"].detail
    assert all(finding.is_fine for finding in found.values())


def install_torch(folder: Path, version: str) -> None:
    put(folder, {"torch/__init__.py": "raise SystemExit(1)\n", "torch/version.py": version})


@pytest.mark.parametrize(
    ("version", "driver", "is_found", "words"),
    [
        ("cuda: Optional[str] = '13.0'\n", 13000, True, "built for CUDA 13.0"),
        ("debug = False\ncuda = '12.8'\nhip = None\n", 13000, True, "built for CUDA 12.8"),
        ('cuda = "12.8"\n', 0, True, "built for CUDA 12.8"),
        (
            "cuda: Optional[str] = '13.0'\n",
            12040,
            False,
            "the driver is for 12.4; choose CUDA 12",
        ),
        ("cuda: Optional[str] = None\n", 13000, False, "built for the CPU alone; choose CUDA at"),
        ("", 13000, False, "built for the CPU alone"),
    ],
)
def test_torch(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    version: str,
    driver: int,
    is_found: bool,
    words: str,
) -> None:
    install_torch(tmp_path, version)
    monkeypatch.delitem(sys.modules, "torch", raising=False)  # of other tests
    monkeypatch.syspath_prepend(str(tmp_path))
    finding = findings(driver)["PyTorch"]
    assert finding.is_found == is_found
    assert words in finding.detail


def test_torch_without_its_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, {"torch/__init__.py": ""})
    monkeypatch.delitem(sys.modules, "torch", raising=False)  # of other tests
    monkeypatch.setattr(packages, "find_version", lambda _: None)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert packages.find_torch() == packages.Torch("of no known version", "")


# --- the compiler ---------------------------------------------------------------------------------

BARE = (sys.executable, "-S", "-m", "pipeline")


def bare(folder: Path, variables: dict[str, str] | None = None) -> tuple[int, dict[str, str]]:
    """Return the code of the doctor, and what it says, of a package in a folder of its own."""
    outcome = run("doctor", command=BARE, cwd=folder, variables=variables)
    return outcome.code, {line[8:26].strip(): line for line in outcome.text.splitlines()}


def test_runtime_alone(tmp_path: Path) -> None:
    package = copy_package(tmp_path, native=False)
    (package / "WorkgroupPlugin.so").unlink()
    code, lines = bare(tmp_path)
    assert code == 0
    assert lines["compiler"].startswith(
        "--      compiler          not installed: this is the runtime"
    )
    assert lines["compiler"].endswith(" (needed for compiling)")
    assert "pip install . in a checkout" in lines["compiler"]
    assert not {"plugin", "mlir-opt"} & {*lines}


def program(folder: Path, name: str, text: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text("#!/bin/sh\n" + text)
    (folder / name).chmod(stat.S_IRWXU)


def test_mlir_opt_of_another_llvm(tmp_path: Path) -> None:
    program(
        tmp_path / "bin",
        "mlir-opt",
        "echo 'LLVM (http://llvm.org/):'; echo '  LLVM version 21.1.2'\n",
    )
    lines = examine(None, variables={"PATH": f"{tmp_path / 'bin'}:/nonexistent"})
    assert lines["plugin"].startswith("ok ")
    assert (
        f"mlir-opt of LLVM 22.1 was not found ({tmp_path}/bin/mlir-opt is of LLVM version 21.1.2); "
        "install LLVM/MLIR 22.1"
    ) in lines["mlir-opt"]


def test_plugin_that_does_not_load(tmp_path: Path) -> None:
    text = """
case "$*" in
  *--version*) echo 'LLVM version 22.1.8' ;;
  *) echo 'Failed to load: undefined symbol: _ZN4mlir' >&2; exit 1 ;;
esac
"""
    program(tmp_path / "bin", "mlir-opt-22", text)
    lines = examine(None, variables={"PATH": f"{tmp_path / 'bin'}:{os.defpath}"}, code=0)
    assert lines["plugin"].startswith("--      plugin ")
    assert f"does not load into {tmp_path}/bin/mlir-opt-22: Failed to load: " in lines["plugin"]
    assert "install LLVM/MLIR 22.1" in lines["plugin"]


def test_library_of_llvm_that_is_not_there(tmp_path: Path) -> None:
    package = copy_package(tmp_path, native=False)
    text = "raise ImportError('libMLIR.so.22.1: cannot open shared object file')"
    (package / "_native.py").write_text(text)
    code, lines = bare(tmp_path)
    assert code == 69
    assert lines["compiler"].startswith("MISSING ")
    assert "apt-get install libmlir-22-dev" in lines["compiler"]
