"""Everything that the commands of this folder need, installed if it is missing.

System packages come from Debian, all else from PyPI into `.venv`, and the package is built into it.
Each step first looks whether there is anything to do. Only the standard library of Python 3.11 is
used, because nothing else is there yet.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import time
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
STATE = VENV / "mlir-workgroup.json"
LOG = ROOT / "build" / "setup.log"

LLVM_PACKAGES = ("libmlir-22-dev", "mlir-22-tools", "llvm-22-dev", "llvm-22-tools")
SOURCES = ("CMakeLists.txt", "pyproject.toml", "README.md", "LICENSE", "include", "lib", "python")
NEEDED_GIGABYTES = 4
PROGRESS_SECONDS = 15


class SetupError(Exception):
    """Something that the user has to mend; the text says how."""


# --- running commands -----------------------------------------------------------------------------


@contextlib.contextmanager
def step(title: str) -> Iterator[None]:
    """Announce a step that takes a while, and its end."""
    print(f"-- {title} ...", flush=True)
    start = time.monotonic()
    yield
    print(f"-- {title}: done in {time.monotonic() - start:.0f} s", flush=True)


def run(command: Sequence[str], failure: str, **environment: str) -> None:
    """Run a command whose output goes to the log. Raises SetupError with its last lines."""
    LOG.parent.mkdir(parents=True, exist_ok=True)
    with LOG.open("ab") as log:
        log.write(f"\n$ {' '.join(command)}\n".encode())
        log.flush()
        start = log.tell()
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            _watch(process, start)
        finally:
            process.kill()
    if process.returncode != 0:
        output = _read_log(start)
        raise SetupError(f"{failure}{_explain(output)}\n{_tail(output)}\n(all of it: {LOG})")


def _watch(process: subprocess.Popen[bytes], start: int) -> None:
    """Wait for a command, and show now and then that it goes on."""
    begun = time.monotonic()
    while True:
        try:
            process.wait(timeout=PROGRESS_SECONDS)
        except subprocess.TimeoutExpired:
            lines = _read_log(start).strip().splitlines() or [""]
            words = " ".join(lines[-1].split())
            print(f"   {time.monotonic() - begun:4.0f} s  {words[:70]}", flush=True)
        else:
            return


def _read_log(start: int) -> str:
    with LOG.open("rb") as log:
        log.seek(start)
        return log.read().decode(errors="replace")


def _tail(output: str, count: int = 12) -> str:
    lines = [line for line in output.splitlines() if line.strip()]
    return "\n".join(f"    {line}" for line in lines[-count:])


def _explain(output: str) -> str:
    """Name the cause in plain words, where the output shows it."""
    causes = {
        "No space left on device": "the disk is full",
        "Could not resolve": "there is no network, or no name server",
        "Temporary failure in name resolution": "there is no network, or no name server",
        "Temporary failure resolving": "there is no network, or no name server",
        "Network is unreachable": "there is no network",
        "Connection refused": "the registry cannot be reached",
        "Failed to establish a new connection": "the registry cannot be reached",
        "Unable to locate package": "this distribution does not have LLVM 22",
        "Could not get lock": "another apt-get is running; wait for it",
    }
    for words, cause in causes.items():
        if words in output:
            return f": {cause}"
    return ""


# --- system packages ------------------------------------------------------------------------------


def _has_mlir() -> bool:
    program = shutil.which("llvm-config-22")
    if not program:
        return False
    folder = subprocess.run(
        [program, "--cmakedir"], capture_output=True, text=True, check=False
    ).stdout.strip()
    return (Path(folder).parent / "mlir" / "MLIRConfig.cmake").is_file()


def _missing_packages() -> list[str]:
    """Return the Debian packages that are needed and not there."""
    packages: list[str] = []
    tools = ("mlir-opt-22", "mlir-translate-22", "FileCheck-22", "llc-22")
    if not _has_mlir() or not all(map(shutil.which, tools)):
        packages += LLVM_PACKAGES
    if not shutil.which("g++"):
        packages.append("g++")
    if not shutil.which("git"):
        packages.append("git")
    if not VENV.exists() and importlib.util.find_spec("ensurepip") is None:
        packages.append("python3-venv")
    if not Path(sysconfig.get_path("include"), "Python.h").is_file():
        packages.append("python3-dev")
    return packages


def _distribution() -> tuple[str, str]:
    """Return what the system calls itself, for a machine and for a reader."""
    fields = {}
    with contextlib.suppress(OSError):
        for line in Path("/etc/os-release").read_text(encoding="utf-8").splitlines():
            key, _, value = line.partition("=")
            fields[key] = value.strip('"')
    name = f"{fields.get('ID', '?')}-{fields.get('VERSION_ID', '?')}"
    return name, fields.get("PRETTY_NAME", sys.platform)


def ensure_system() -> None:
    """Install the Debian packages that are missing."""
    packages = _missing_packages()
    if not packages:
        return
    wanted = " ".join(packages)
    name, title = _distribution()
    if name != "debian-12" or not shutil.which("apt-get"):
        raise SetupError(
            f"this is {title}, where I cannot install what is missing ({wanted}).\n"
            "On Debian 12 I can. Elsewhere, install LLVM and MLIR 22.1 with headers, tools and "
            "shared libraries (llvm-config-22 on PATH), g++ 12 or newer and the Python headers, "
            "and run this command again."
        )
    if os.geteuid() != 0:
        raise SetupError(
            f"these Debian packages are missing, and installing them needs root:\n"
            f"    sudo apt-get update && sudo apt-get install --no-install-recommends {wanted}\n"
            "Run that, then this command again."
        )
    _check_disk(Path("/usr"))
    quiet = {"DEBIAN_FRONTEND": "noninteractive"}
    with step(f"installing {wanted} (Debian)"):
        run(["apt-get", "-q", "update"], "apt-get update failed", **quiet)
        command = ["apt-get", "-q", "-y", "--no-install-recommends", "install", *packages]
        run(command, "apt-get install failed", **quiet)
    if not _has_mlir():
        raise SetupError("the packages are installed, but llvm-config-22 finds no MLIR")


def _check_disk(folder: Path) -> None:
    free = shutil.disk_usage(folder).free / 1e9
    if free < NEEDED_GIGABYTES:
        raise SetupError(
            f"{free:.1f} GB are free in {folder}; about {NEEDED_GIGABYTES} GB are needed"
        )


# --- Python packages ------------------------------------------------------------------------------


def _requirements(groups: Sequence[str]) -> list[str]:
    """Return what pyproject.toml asks for: dependency groups, and ptxas."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    names = [name for group in groups for name in project["dependency-groups"][group]]
    return [*names, *project["project"]["optional-dependencies"]["ptxas"]]


def _load_state() -> dict[str, object]:
    try:
        state: dict[str, object] = json.loads(STATE.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return state


def _save_state(**changes: object) -> None:
    STATE.write_text(json.dumps({**_load_state(), **changes}), encoding="utf-8")


def _installed() -> set[str]:
    names = _load_state().get("requirements")
    return {str(name) for name in names} if isinstance(names, list) else set()


def ensure_venv(groups: Sequence[str]) -> None:
    """Create `.venv` with what the dependency groups and ptxas need."""
    required = _requirements(groups)
    if not PYTHON.exists():
        _check_disk(ROOT)
        shutil.rmtree(VENV, ignore_errors=True)
        with step("creating .venv"):
            run([sys.executable, "-m", "venv", str(VENV)], "cannot create .venv")
    installed = _installed()
    if installed >= set(required):
        return
    with step("installing Python packages (PyPI)"):
        run([str(PYTHON), "-m", "pip", "install", *required], "pip install failed")
    _save_state(requirements=sorted(installed | set(required)))


# --- the package ----------------------------------------------------------------------------------


def _fingerprint() -> str:
    """Return a hash of all that the package is built from, and of what builds it."""
    digest = hashlib.sha256(sys.version.encode())
    files = [ROOT / name for name in SOURCES]
    for path in sorted(file for top in files for file in [top, *top.rglob("*")]):
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def ensure_package() -> None:
    """Build the package and install it into `.venv`, unless nothing has changed."""
    fingerprint = _fingerprint()
    if _load_state().get("package") == fingerprint:
        return
    with step("building mlir-workgroup (a few minutes the first time)"):
        environment = {"PATH": f"{VENV / 'bin'}{os.pathsep}{os.environ['PATH']}"}
        options = ["-v", "--no-build-isolation", "--no-deps", "--force-reinstall"]
        command = [str(PYTHON), "-m", "pip", "install", *options, str(ROOT)]
        run(command, "the build failed", **environment)
    _save_state(package=fingerprint)


def ensure_all(groups: Sequence[str]) -> None:
    """Bring everything up to date, or end the program with a plain error."""
    try:
        ensure_system()
        ensure_venv(groups)
        ensure_package()
    except SetupError as error:
        sys.exit(f"error: {error}")
    except OSError as error:
        sys.exit(f"error: {error.filename or ''}: {error.strerror}")
    except KeyboardInterrupt:
        sys.exit(130)
