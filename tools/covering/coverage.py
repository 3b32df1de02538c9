"""Tell which lines and functions of the analyses of barriers no real program enters.

Builds the extension with gcov's counters in the folders of the preset `coverage`, compiles the
linalg suite, the examples, the rings and the kernels that other compilers were given, or what is
named: these, `kernels` for those that are written by hand, folders of programs; nothing random.
What is printed is a table in Markdown, with functions that were never entered.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from setup import suite
from setup.environment import PATHS, ROOT

from . import programs

BUILD = ROOT / "build" / "coverage"


@dataclass
class File:
    """How often each line of a file was executed, and each function, by its first line."""

    lines: Counter[int] = field(default_factory=Counter)
    functions: Counter[int] = field(default_factory=Counter)
    names: dict[int, str] = field(default_factory=dict)

    def add(self, record: dict[str, Any]) -> None:
        """Add what gcov says of the file in one unit; lambdas count as lines."""
        for line in record["lines"]:
            self.lines[line["line_number"]] += line["count"]
        for function in record["functions"]:
            if "lambda" in function["demangled_name"]:
                continue
            start = function["start_line"]
            self.functions[start] += function["execution_count"]
            self.names[start] = function["demangled_name"]

    @property
    def covered(self) -> int:
        """How many lines were executed."""
        return sum(count > 0 for count in self.lines.values())

    @property
    def never(self) -> list[str]:
        """The names of functions that were never entered."""
        names = (self.names[start] for start, count in self.functions.items() if not count)
        return sorted({shorten(name) for name in names})


def shorten(name: str) -> str:
    """Return the name of a function without its parameters and namespaces."""
    plain = name.replace("(anonymous namespace)::", "").split("(")[0].split("<")[0]
    words = plain.split()[-1].split("::")
    return "::".join(word for word in words if word not in ("mlir", "workgroup"))


def run_programs(kinds: Sequence[str]) -> bool:
    """Compile all programs, on all processors; tell whether that worked."""
    parts = 4 * (os.cpu_count() or 1)
    for counts in BUILD.rglob("*.gcda"):
        counts.unlink()
    with tempfile.TemporaryDirectory() as folder:
        suite.link_package(BUILD, Path(folder))
        path = os.pathsep.join([folder, PATHS, str(ROOT / "tools")])

        def run(job: tuple[str, int]) -> bool:
            command = [sys.executable, "-m", "covering.programs", job[0]]
            words = [*command, f"--part={job[1]}", f"--parts={parts}"]
            environment = {**os.environ, "PYTHONPATH": path}
            return subprocess.run(words, cwd=ROOT, env=environment, check=False).returncode == 0

        jobs = [(kind, part) for kind in kinds for part in range(parts)]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            return all(list(pool.map(run, jobs)))


def read_counts() -> dict[str, File]:
    """Return what was counted, by the names of files."""
    files: defaultdict[str, File] = defaultdict(File)
    for counts in sorted(BUILD.rglob("*.gcda")):
        command = ["gcov", "--stdout", "--json-format", "--demangled-names", str(counts)]
        output = subprocess.run(command, cwd=counts.parent, capture_output=True, check=True).stdout
        for line in output.splitlines():
            for record in json.loads(line)["files"]:
                file = Path(record["file"])
                if ROOT / "lib" in file.parents:
                    files[str(file.relative_to(ROOT))].add(record)
    # Headers of other folders are counted only where these include them.
    folders = {str(Path(name).parent) for name in files if name.endswith(".cpp")}
    counted = ((name, file) for name, file in files.items() if file.lines)
    return {name: file for name, file in counted if str(Path(name).parent) in folders}


def print_table(files: dict[str, File]) -> None:
    """Print the table."""
    print("| file | lines | covered | never entered |\n|---|---|---|---|")
    for name, file in sorted(files.items()):
        never = ", ".join(f"`{function}`" for function in file.never)
        print(f"| `{name}` | {len(file.lines)} | {file.covered} | {never} |")
    lines = sum(len(file.lines) for file in files.values())
    covered = sum(file.covered for file in files.values())
    print(f"| all | {lines} | {covered} ({100 * covered / max(1, lines):.1f} %) | |")


def kind(text: str) -> str:
    """Return the name of a kind of programs, or of a folder of some. Raises ArgumentTypeError."""
    if text not in programs.KINDS and not any(Path(text).glob("*.mlir")):
        known = ", ".join(programs.KINDS)
        raise argparse.ArgumentTypeError(f"'{text}' is not {known} or a folder with *.mlir files")
    return text


def main(arguments: Sequence[str]) -> int:
    """Build, run and print."""
    parser = argparse.ArgumentParser(prog="./tools/coverage", description=__doc__)
    usual = list(programs.USUAL)
    what = f"{', '.join(programs.KINDS)}, or a folder with programs; default: {', '.join(usual)}"
    parser.add_argument("kinds", nargs="*", type=kind, default=usual, help=what)
    options = parser.parse_args(arguments)
    if not shutil.which("gcov"):
        sys.exit("error: gcov is not on PATH; it is part of GCC")
    if not suite.build_preset("coverage") or not run_programs(options.kinds):
        return 1
    print_table(read_counts())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
