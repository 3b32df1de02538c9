"""Everything that the commands of `tools` need, installed if it is missing.

System packages come from Debian, all else from PyPI into two virtual environments: `.venv` is what
a user has, the package and what it declares to need; `.venv-dev` has what builds and tests it. The
package is built once, as a wheel, and installed from it into both. Each step first looks whether
there is anything to do. Only the standard library of Python 3.11 is used, because nothing else is
there yet.
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
import tempfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parents[2]
LOG = ROOT / "build" / "setup.log"
WHEELS = ROOT / "build" / "wheels"
PATHS = os.pathsep.join(str(ROOT / name) for name in ("test/python", "test", "tools", "tools/gpu"))
"""Where tools and tests find the modules of each other."""
SITE = ROOT / "tools" / "site" / "mkdocs.yml"
"""How a site is made of docs/."""
TEST_EXTENSION = ("_native_test", "_native_test_stub")
"""What CMake builds for tests alone, from what the package is made of."""
PLUGIN_LIBRARIES = ("libMLIR.so.*", "libLLVM.so.*")
"""What the plugin is linked to: it is loaded by an `mlir-opt`, which has loaded them before."""

LLVM_PACKAGES = ("libmlir-22-dev", "mlir-22-tools", "llvm-22-dev", "llvm-22-tools", "lld-22")
SOURCES = (
    "CMakeLists.txt",
    "pyproject.toml",
    "README.md",
    "LICENSE",
    "include",
    "lib",
    "python",
    "cmake",
    "tools/setup/layers.toml",
    "tools/setup/wheel_dependencies.py",
)
NEEDED_GIGABYTES = 4
CLANG = "clang-22"
"""What reads CUDA C++, and nothing else: a user may do without."""
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


def become(python: Path, module: str, arguments: Sequence[str]) -> NoReturn:
    """Go on as a module of `tools`, which finds the others, and the oracles of the tests."""
    path = os.pathsep.join([PATHS, os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    command = [str(python), "-m", module, *arguments]
    os.execve(python, command, {**os.environ, "PYTHONPATH": path})


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
    tools = ("mlir-opt-22", "mlir-translate-22", "FileCheck-22", "llc-22", "ld.lld-22")
    if not _has_mlir() or not all(map(shutil.which, tools)):
        packages += LLVM_PACKAGES
    if not shutil.which("g++"):
        packages.append("g++")
    if not shutil.which("git"):
        packages.append("git")
    if not USER.folder.exists() and importlib.util.find_spec("ensurepip") is None:
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


def ensure_system(*, with_clang: bool = False, programs: Sequence[str] = ()) -> None:
    """Install the Debian packages that are missing; with what reads CUDA C++, if that is wanted.

    Where it cannot be installed, what takes it is left out. ``programs`` are needed besides, and
    have packages of their names.
    """
    packages = [*_missing_packages(), *(name for name in programs if not shutil.which(name))]
    name, title = _distribution()
    is_known = name == "debian-12" and bool(shutil.which("apt-get"))
    if with_clang and not os.environ.get("CLANG") and not shutil.which(CLANG):
        if is_known:
            packages.append(CLANG)
        else:
            print(f"-- {CLANG} is not installed: tests of CUDA C++ are skipped", flush=True)
    if packages:
        _install_packages(packages, title, is_known=is_known)


def _install_packages(packages: Sequence[str], title: str, *, is_known: bool) -> None:
    wanted = " ".join(packages)
    if not is_known:
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


# --- virtual environments -------------------------------------------------------------------------


@dataclass(frozen=True)
class Venv:
    """A virtual environment, with a note in it of what was installed."""

    folder: Path

    @property
    def bin(self) -> Path:
        """The folder of its programs."""
        return self.folder / "bin"

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.bin / "python"

    @property
    def _notes(self) -> Path:
        return self.folder / "mlir-workgroup.json"

    def _read_notes(self) -> dict[str, object]:
        try:
            notes: dict[str, object] = json.loads(self._notes.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return notes

    def _note(self, **changes: object) -> None:
        self._notes.write_text(json.dumps(self._read_notes() | changes), encoding="utf-8")

    def has_package(self, fingerprint: str) -> bool:
        """Tell whether the package is installed that was built from these sources."""
        return self._read_notes().get("package") == fingerprint

    def ensure(self) -> None:
        """Create it, unless it is there."""
        if self.python.exists():
            return
        _check_disk(ROOT)
        shutil.rmtree(self.folder, ignore_errors=True)
        with step(f"creating {self.folder.name}"):
            command = [sys.executable, "-m", "venv", str(self.folder)]
            run(command, f"cannot create {self.folder.name}")

    def has_requirements(self) -> bool:
        """Tell whether anything was installed beside the package."""
        return "requirements" in self._read_notes()

    def install(self, requirements: Sequence[str]) -> None:
        """Install packages of PyPI, unless they were."""
        noted = self._read_notes().get("requirements")
        installed = {str(name) for name in noted} if isinstance(noted, list) else set()
        if installed >= set(requirements):
            return
        with step(f"installing Python packages into {self.folder.name} (PyPI)"):
            command = [str(self.python), "-m", "pip", "install", *requirements]
            run(command, "pip install failed")
        self._note(requirements=sorted(installed | set(requirements)))

    def add_path(self, folder: Path) -> None:
        """Let its Python find modules in a folder."""
        for packages in self.folder.glob("lib/python*/site-packages"):
            (packages / "mlir-workgroup-tests.pth").write_text(f"{folder}\n", encoding="utf-8")

    def install_package(self, wheel: Path, fingerprint: str) -> None:
        """Install the package as a user does, with what it declares to need, and ptxas."""
        with step(f"installing mlir-workgroup into {self.folder.name}"):
            pip = [str(self.python), "-m", "pip"]
            run([*pip, "uninstall", "-y", "mlir-workgroup"], "pip uninstall failed")
            run([*pip, "install", f"{wheel}[explain,ptxas]"], "pip install failed")
        self._note(package=fingerprint)


USER = Venv(ROOT / ".venv")
DEVELOPER = Venv(ROOT / ".venv-dev")


# --- the package ----------------------------------------------------------------------------------


def read_group(*names: str) -> list[str]:
    """Return what dependency groups of pyproject.toml ask for."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return [package for name in names for package in project["dependency-groups"][name]]


def _fingerprint() -> str:
    """Return a hash of all that the package is built from, and of what builds it."""
    digest = hashlib.sha256(sys.version.encode())
    files = [ROOT / name for name in SOURCES]
    for path in sorted(file for top in files for file in [top, *top.rglob("*")]):
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def _build(fingerprint: str) -> Path:
    """Build the wheel, unless nothing has changed since; return it."""
    folder = WHEELS / fingerprint[:16]
    if not folder.exists():
        DEVELOPER.ensure()
        DEVELOPER.install(read_group("build"))
        shutil.rmtree(WHEELS, ignore_errors=True)
        unfinished = WHEELS / "unfinished"
        with step("building mlir-workgroup (a few minutes the first time)"):
            environment = {"PATH": f"{DEVELOPER.bin}{os.pathsep}{os.environ['PATH']}"}
            options = ["-v", "--no-build-isolation", "--no-deps", "--wheel-dir", str(unfinished)]
            command = [str(DEVELOPER.python), "-m", "pip", "wheel", *options, str(ROOT)]
            run(command, "the build failed", **environment)
        unfinished.rename(folder)
    return next(iter(folder.glob("*.whl")))


def _build_runtime(folder: Path) -> Path:
    """Build the wheel of what runs without compiler and emulator into a folder; return it."""
    with (
        step("building the part of mlir-workgroup that runs"),
        tempfile.TemporaryDirectory(dir=ROOT) as unfinished,
    ):
        environment = {
            "PATH": f"{DEVELOPER.bin}{os.pathsep}{os.environ['PATH']}",
            "PIPELINE_RUNTIME_ONLY": "1",
        }
        options = ["--no-build-isolation", "--no-deps", "--wheel-dir", unfinished]
        command = [str(DEVELOPER.python), "-m", "pip", "wheel", *options, str(ROOT)]
        run(command, "the build failed", **environment)
        wheel = next(Path(unfinished).glob("*.whl"))
        folder.mkdir(parents=True, exist_ok=True)
        return Path(shutil.move(wheel, folder / wheel.name))


def _build_for_tests(wheel: Path) -> Path:
    """Build the extension of the tests where a wheel was built; return its folder."""
    tag = wheel.stem.split("-", 2)[2]
    tree = ROOT / "build" / tag
    environment = {"PATH": f"{DEVELOPER.bin}{os.pathsep}{os.environ['PATH']}"}
    command = [str(DEVELOPER.bin / "cmake"), "--build", str(tree), "--target", *TEST_EXTENSION]
    with step("building the extension of the tests"):
        run(command, "the build failed", **environment)
    return tree / "test" / "native"


def _repair(wheel: Path, folder: Path) -> Path:
    """Put a copy of a wheel, tagged with the oldest Linux that it runs on, into a folder."""
    with (
        step("checking what the wheel needs of a machine (auditwheel)"),
        tempfile.TemporaryDirectory(dir=WHEELS.parent) as unfinished,
    ):
        environment = {"PATH": f"{DEVELOPER.bin}{os.pathsep}{os.environ['PATH']}"}
        excluded = [word for name in PLUGIN_LIBRARIES for word in ("--exclude", name)]
        options = [*excluded, "-z", "9", "--wheel-dir", unfinished]
        command = [str(DEVELOPER.python), "-m", "auditwheel", "repair", *options, str(wheel)]
        run(command, "the wheel does not run on other machines", **environment)
        repaired = next(Path(unfinished).glob("*.whl"))
        folder.mkdir(parents=True, exist_ok=True)
        return Path(shutil.move(repaired, folder / repaired.name))


def _install(venv: Venv) -> None:
    """Bring the package in an environment up to date."""
    fingerprint = _fingerprint()
    if not venv.has_package(fingerprint):
        venv.ensure()
        venv.install_package(_build(fingerprint), fingerprint)


@contextlib.contextmanager
def _plain_errors() -> Iterator[None]:
    """End the program with one line for what the user has to mend."""
    try:
        yield
    except SetupError as error:
        sys.exit(f"error: {error}")
    except OSError as error:
        sys.exit(f"error: {error.filename or ''}: {error.strerror}")
    except KeyboardInterrupt:
        sys.exit(130)


def prepare_user(*, with_clang: bool = False, programs: Sequence[str] = ()) -> Path:
    """Bring `.venv` up to date, or end the program with a plain error; return its interpreter."""
    with _plain_errors():
        ensure_system(with_clang=with_clang, programs=programs)
        if USER.has_requirements():  # made before developers had an environment of their own
            shutil.rmtree(USER.folder)
        _install(USER)
    return USER.python


def prepare_developer(*groups: str) -> Path:
    """Do the same for `.venv-dev`, with the packages of dependency groups beside it.

    For tests, with what reads CUDA C++.
    """
    with _plain_errors():
        ensure_system(with_clang="test" in groups)
        DEVELOPER.ensure()
        DEVELOPER.install(read_group("build", *groups))
        _install(DEVELOPER)
        if "test" in groups:
            DEVELOPER.add_path(_build_for_tests(_build(_fingerprint())))
    return DEVELOPER.python


def prepare_site() -> Path:
    """Bring what makes a site of docs/ into `.venv-dev`; return its interpreter."""
    with _plain_errors():
        DEVELOPER.ensure()
        DEVELOPER.install(read_group("docs"))
    return DEVELOPER.python


def prepare_runtime_wheel(folder: Path) -> Path:
    """Put a wheel of what runs into a folder, for any machine with Python; return it."""
    with _plain_errors():
        DEVELOPER.ensure()
        DEVELOPER.install(read_group("build"))
        return _build_runtime(folder)


def prepare_wheel(folder: Path) -> Path:
    """Put a wheel for other machines into a folder, or end with a plain error; return it."""
    with _plain_errors():
        ensure_system()
        DEVELOPER.ensure()
        DEVELOPER.install(read_group("build", "wheel"))
        return _repair(_build(_fingerprint()), folder)
