"""The test suite: which programs check what, and one line that sums them up."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from . import environment
from .environment import DEVELOPER, PATHS, ROOT

BIN, PYTHON = DEVELOPER.bin, DEVELOPER.python
# Python frees little at its end; a kernel's fault is caught, not a defect; and LLVM's archives,
# which are not sanitized, allocate what its headers poison here.
ASAN_OPTIONS = (
    "detect_leaks=0",
    "handle_segv=0",
    "allow_user_segv_handler=1",
    "allow_user_poisoning=0",
)
CPP_FOLDERS = ("include", "lib", "python/src", "test/native", "test/python")
"""Where the programs that tests start find what they import."""


def main(arguments: Sequence[str]) -> int:
    """Set up, run all checks, print a closing line like pytest's."""
    options = parse(arguments)
    environment.prepare_user()  # whose environment the examples of the README run in
    environment.prepare_developer(
        "test", "disassembler", "docs", "wheel", *(["torch"] if options.torch else [])
    )
    start = time.monotonic()
    counts: Counter[str] = Counter()
    try:
        for title, check in checks(options):
            print(f"\n-- {title}", flush=True)
            counts += check()
    except KeyboardInterrupt:
        return 130
    summary = summarize(counts, time.monotonic() - start)
    print("\n" + f" {summary} ".center(80, "="))
    return 1 if counts["failed"] or not counts["passed"] else 0


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="./tools/test", description=__doc__)
    parser.add_argument(
        "--sanitize",
        action="store_true",
        help="also run lit, the linalg programs and the emulator sanitized",
    )
    parser.add_argument(
        "--torch",
        action="store_true",
        help="also install PyTorch and torch-mlir, without which their tests are skipped",
    )
    return parser.parse_args(arguments)


def checks(options: argparse.Namespace) -> Iterator[tuple[str, Callable[[], Counter[str]]]]:
    """Yield title and function of each check."""
    yield "lit, with LLVM's FileCheck and PyPI's", lambda: run_lit({"WORKGROUP_FILECHECK": "both"})
    yield "pytest", run_pytest
    yield "clang-tidy, formats, types and documents", run_static_checks
    if options.sanitize:
        yield "lit, linalg programs and the emulator, sanitized", run_sanitized


def summarize(counts: Counter[str], seconds: float) -> str:
    """Return the closing line in pytest's form."""
    parts = [f"{counts[key]} {key}" for key in ("failed", "passed", "skipped") if counts[key]]
    return f"{', '.join(parts)} in {seconds:.2f}s"


# --- running and counting -------------------------------------------------------------------------


def call(*command: str | Path, **variables: str) -> int:
    """Run a command of the virtual environment in the open."""
    path = f"{BIN}{os.pathsep}{os.environ['PATH']}"
    words = [str(word) for word in command]
    return subprocess.run(
        words, cwd=ROOT, env={**os.environ, "PATH": path, **variables}, check=False
    ).returncode


def count_junit(report: Path, status: int) -> Counter[str]:
    """Count the tests of a JUnit report; a program that wrote none has failed."""
    counts: Counter[str] = Counter()
    try:
        tree = ElementTree.parse(report)
    except (OSError, ElementTree.ParseError):
        return Counter(failed=1)
    for suite in tree.iter("testsuite"):
        total, skipped = int(suite.get("tests", 0)), int(suite.get("skipped", 0))
        failed = int(suite.get("failures", 0)) + int(suite.get("errors", 0))
        counts.update(passed=total - skipped - failed, skipped=skipped, failed=failed)
    if status and not counts["failed"]:
        counts["failed"] += 1
    return counts


def run_lit(variables: dict[str, str]) -> Counter[str]:
    """Run the lit suite."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "lit.xml"
        status = call(
            BIN / "lit", "-s", "-v", f"--xunit-xml-output={report}", ROOT / "test", **variables
        )
        return count_junit(report, status)


def run_pytest() -> Counter[str]:
    """Run the Python tests, away from the sources so that the installed package is tested."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "pytest.xml"
        status = call(
            *(PYTHON, "-m", "pytest", "-q", "-n", "auto", "--dist", "worksteal"),
            *(f"--junit-xml={report}", "test/python"),
            PYTHONPATH=PATHS,
        )
        return count_junit(report, status)


# --- checks without tests -------------------------------------------------------------------------


def sources(suffixes: tuple[str, ...]) -> list[Path]:
    """Return the C++ sources of the project."""
    files = [file for folder in CPP_FOLDERS for file in (ROOT / folder).rglob("*")]
    return sorted(file for file in files if file.suffix in suffixes)


def run_static_checks() -> Counter[str]:
    """Run what reads the sources, one test each, on all cores; what takes longest comes first."""
    commands = {**list_tidy_commands(), **list_source_checks()}

    def check(title: str) -> str:
        path = f"{BIN}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            [str(word) for word in commands[title]],
            cwd=ROOT,
            env={**os.environ, "PATH": path},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        outcome = "failed" if done.returncode else "passed"
        print(
            f"{outcome.upper()}: {title}\n{done.stdout * bool(done.returncode)}", end="", flush=True
        )
        return outcome

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return Counter(pool.map(check, commands))


def list_source_checks() -> dict[str, Sequence[str | Path]]:
    """Return the commands that check formats, types and documents."""
    return {
        "mypy (tests)": [BIN / "mypy", "--strict", "test/python", "test/oracles"],
        "mypy (package)": [BIN / "mypy", "--strict", "-p", "pipeline"],
        "mypy (tools)": [BIN / "mypy", "--strict", "tools"],
        "clang-format": [BIN / "clang-format", "--dry-run", "-Werror", *sources((".h", ".cpp"))],
        "ruff check": [BIN / "ruff", "check", "-q", "."],
        "ruff format": [BIN / "ruff", "format", "-q", "--check", "."],
        "layers": ["env", "PYTHONPATH=tools", PYTHON, "-m", "setup.layers"],
        "documents": [PYTHON, "tools/setup/documents.py", "--check"],
    }


def list_tidy_commands() -> dict[str, Sequence[str | Path]]:
    """Return clang-tidy's commands, with clang's warnings, for `lib` and the bindings.

    The units of `lib` come first: they are few, as most of the time goes into MLIR's headers.
    """
    build = ROOT / "build" / "tidy"
    if not build_preset("tidy"):
        return {"clang-tidy": ["false"]}
    found = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    units = [Path(command["file"]) for command in found if "nanobind" not in command["file"]]
    options = ("--experimental-custom-checks", "--quiet", "-p", build)
    return {
        f"clang-tidy ({name_unit(unit, build)})": [BIN / "clang-tidy", *options, unit]
        for unit in sorted(units, key=measure_unit, reverse=True)
    }


def name_unit(unit: Path, build: Path) -> str:
    """Return the library of a unit of several files, with its number, or the name of a file."""
    if not unit.is_relative_to(build):
        return str(unit.relative_to(ROOT))
    library = next(part for part in unit.parts if part.endswith(".dir")).removesuffix(".dir")
    return f"{library}, {unit.stem}"


def measure_unit(unit: Path) -> int:
    """Return about how long a unit takes: the number of files that it includes."""
    return unit.read_text(encoding="utf-8").count("#include")


def build_preset(name: str) -> bool:
    """Configure and build a CMake preset; tell whether it worked."""
    cmake = BIN / "cmake"
    return call(cmake, "--preset", name) == 0 and call(cmake, "--build", "--preset", name) == 0


def run_sanitized() -> Counter[str]:
    """Build everything with sanitizers; run lit on the plugin and pytest on the extension."""
    build = ROOT / "build" / "asan"
    if not build_preset("asan"):
        return Counter(failed=1)
    libraries = [
        subprocess.check_output(["g++", f"-print-file-name={name}"], text=True).strip()
        for name in ("libasan.so", "libubsan.so")
    ]
    plugin = build / "lib" / "WorkgroupPlugin.so"
    preload = ":".join(libraries)
    counts = run_lit({"WORKGROUP_PLUGIN": str(plugin), "WORKGROUP_PRELOAD": preload})
    return counts + run_sanitized_package(build, preload)


def link_package(build: Path, folder: Path) -> None:
    """Make the package in a folder, of links to its sources and to what a build has made."""
    package = folder / "pipeline"
    package.mkdir()
    native = [*(build / "python").glob("_native*.so"), build / "lib" / "WorkgroupPlugin.so"]
    for file in [*(ROOT / "python" / "pipeline").iterdir(), *native]:
        (package / file.name).symlink_to(file)


def run_sanitized_package(build: Path, preload: str) -> Counter[str]:
    """Run all linalg programs and the emulator's tests on a sanitized package, made of links."""
    tests = ROOT / "test" / "python"
    with tempfile.TemporaryDirectory() as folder:
        link_package(build, Path(folder))
        report = Path(folder) / "pytest.xml"
        status = call(
            *(PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junit-xml={report}"),
            *("-n", "auto", "--dist", "worksteal"),
            *(tests / "linalg" / "test_linalg_programs.py", tests / "emulator"),
            PYTHONPATH=f"{folder}{os.pathsep}{PATHS}",
            LD_PRELOAD=preload,
            ASAN_OPTIONS=":".join(ASAN_OPTIONS),
            UBSAN_OPTIONS="halt_on_error=1",
        )
        return count_junit(report, status)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
