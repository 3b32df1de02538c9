"""A pack: the folder that is copied to a machine with a GPU, and runs there by itself."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pipeline
from running import command
from running.arrays import Json, PackError

from .kernels import pack_case
from .plants import pack_plant
from .programs import pack_program, pack_reference

if TYPE_CHECKING:
    from corpus.kernels_case import Case
    from linalg.linalg_programs import Program

    from .references import Reference

LIMIT = 64 << 20
TOOLS = Path(__file__).resolve().parents[1]
PACKAGE = Path(pipeline.__file__).resolve().parent
OWN_NAMES = ("run.py", "running", "pipeline", "suite.json", "ptx", "data", "bundles")
"""Everything that this writes to the folder of a pack."""


class Packed(Protocol):
    """A case for a pack."""

    @property
    def record(self) -> Json:
        """What `suite.json` says of it."""

    @property
    def files(self) -> dict[str, bytes]:
        """Its files by name."""


@dataclass
class Pack:
    """The files of a pack; `left_out` says of the cases that it lacks why."""

    commit: str
    limit: int = LIMIT
    cases: list[Json] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)

    def add(self, name: str, files: dict[str, bytes]) -> None:
        """Add files. Raises PackError if there are such already, or they are too large."""
        if taken := self.files.keys() & files.keys():
            raise PackError(f"{name}: {min(taken)} is there already: give the case another name")
        self.files |= files
        if self.size > self.limit:
            raise PackError(
                f"with {name} the pack has {self.size / 2**20:.1f} MiB, but it may have "
                f"{self.limit / 2**20:.3g} MiB: make arrays of the cases smaller"
            )

    def add_case(self, name: str, make: Callable[[], Packed]) -> None:
        """Add a case, or say why it is left out. Raises PackError as ``add``."""
        try:
            packed = make()
        except (pipeline.Error, PackError) as error:
            self.left_out[name] = str(error)
            return
        if any(case["name"] == packed.record["name"] for case in self.cases):
            raise PackError(f"there are two cases '{packed.record['name']}'")
        self.add(name, packed.files)
        self.cases.append(packed.record)

    @property
    def size(self) -> int:
        """All bytes."""
        return sum(map(len, self.files.values()))

    def finish(self) -> None:
        """Add what is made from all cases, and the programs."""
        suite = {
            "format": command.FORMAT,
            "commit": self.commit,
            "chips": sorted({chip for case in self.cases for chip in case["chips"]}),
            "left_out": self.left_out,
            "cases": self.cases,
        }
        self.add("suite.json", {"suite.json": (json.dumps(suite, indent=1) + "\n").encode()})
        self.add("run.py", {"run.py": (TOOLS / "run.py").read_bytes()})
        self.add("running", read_sources(TOOLS / "running"))
        self.add("pipeline", read_sources(PACKAGE))

    def write(self, folder: Path) -> None:
        """Write the files to a folder that is new, empty or a pack. Raises PackError."""
        if folder.exists() and not (folder / "suite.json").exists() and any(folder.iterdir()):
            raise PackError(f"{folder} is neither empty nor a pack: name another folder")
        for name in OWN_NAMES:
            path = folder / name
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        for name, data in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)


def read_sources(folder: Path) -> dict[str, bytes]:
    """Return the Python files of a package, by their names in a pack."""
    base = folder.parent
    files = sorted(folder.rglob("*.py"))
    return {file.relative_to(base).as_posix(): file.read_bytes() for file in files}


def pack_all(
    commit: str,
    *,
    kernels: Iterable[Case] = (),
    references: Iterable[Reference] = (),
    programs: Iterable[Program] = (),
    plants: dict[str, Case] | None = None,
    check_races: bool = True,
    limit: int = LIMIT,
) -> Pack:
    """Return a pack of all cases that compile and, if they are kernels, run without a finding."""
    pack = Pack(commit, limit)
    for kernel in kernels:
        pack.add_case(kernel.name, partial(pack_case, kernel, check_races=check_races))
    for reference in references:
        pack.add_case(reference.name, partial(pack_reference, reference))
    for program in programs:
        pack.add_case(f"linalg {program.name}", partial(pack_program, program))
    for tool, plant in (plants or {}).items():
        pack.add_case(plant.name, partial(pack_plant, tool, plant))
    pack.finish()
    return pack


def find_commit(folder: Path) -> str:
    """Return the commit that the sources are of, and whether they have changed since."""
    try:
        git = ["git", "-C", str(folder)]
        commit, changes = (
            subprocess.run([*git, *words], capture_output=True, text=True, check=True).stdout
            for words in (["rev-parse", "HEAD"], ["status", "--porcelain"])
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return commit.strip() + (" with changes" if changes else "")


def describe(pack: Pack) -> Sequence[str]:
    """Return what is to be said of a pack."""
    lines = [f"left out: {name}: {reason}" for name, reason in pack.left_out.items()]
    lines += [f"{case['name']}: {case['note']}" for case in pack.cases if case.get("note")]
    counts: dict[str, Any] = {}
    for case in pack.cases:
        kind = "planted bug" if "plant" in case else case["kind"]
        counts[kind] = counts.get(kind, 0) + 1
    words = ", ".join(f"{count} {kind}{'s' * (count != 1)}" for kind, count in counts.items())
    return [*lines, f"{words}, {pack.size / 2**20:.1f} MiB"]
