"""A pack of some cases, and the stand-in for a GPU's driver that emulates their kernels."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import pipeline
from corpus.kernels import CASES
from gpu.emulated_launches import EmulatedLaunches
from gpu.stand_in_driver import Launch, StandIn, stand_in
from packing.kernels import PackedCase, pack_case
from packing.pack import Pack
from packing.plants import PLANTS, pack_plant
from packing.programs import PackedProgram, pack_reference
from packing.references import SMALL, Reference, by_row
from running import command

MAP = "box of rank 2, swizzle_128b"
KERNELS = ("transpose", "steps in two buffers", "strided arguments", "f16", "elections", MAP)
"""Cases of different kinds: a scalar, strides, a tolerance, a newer chip, a tensor map."""
BY_NAME = {case.name: case for case in CASES}


class FaultyLaunches(EmulatedLaunches):
    """Launches whose results are spoiled: `faults` go by the name of the kernel."""

    def __init__(self, gpu: StandIn, *modules: pipeline.Module) -> None:
        super().__init__(gpu, *modules)
        self.faults: dict[str, Callable[[Launch], None]] = {}
        self.before: Callable[[Launch], None] = lambda launch: None

    def _run(self, launch: Launch) -> None:
        self.before(launch)
        super()._run(launch)
        if fault := self.faults.get(launch.name):
            fault(launch)


class Dead(BaseException):
    """The end of a process."""


@dataclass
class Machine:
    """A machine with a GPU, and a pack on it; each process begins with a new driver."""

    pack: Path
    gpu: StandIn
    modules: Sequence[pipeline.Module]
    options: str = ""
    faults: dict[str, Callable[[Launch], None]] = field(default_factory=dict)
    before: Callable[[Launch], None] = lambda launch: None
    starts: int = 0
    launches: list[str] = field(default_factory=list)

    def run(self, *arguments: str) -> int:
        """Run the pack; return the exit code."""
        self.starts = 0
        return command.main(arguments, self.pack / "run.py", self._start)

    def _start(self, words: Sequence[str]) -> int:
        self.starts += 1
        self.gpu.reset(self.options)
        made = FaultyLaunches(self.gpu, *self.modules)
        made.faults, made.before = self.faults, self.before
        try:
            return command.main(words, self.pack / "run.py")
        except Dead:
            return -11
        finally:
            self.launches += [launch.name for launch in made.launches]


@dataclass(frozen=True)
class Original:
    """A pack that was written, and what it was made from."""

    folder: Path
    modules: tuple[pipeline.Module, ...]


def write_pack(folder: Path, kernels: Sequence[str], references: Sequence[Reference]) -> Original:
    """Write a pack, with all planted bugs, and one that does not compile."""
    pack = Pack("abc")
    modules: list[pipeline.Module] = []

    def add(packed: PackedCase | PackedProgram) -> None:
        pack.add_case(packed.record["name"], lambda: packed)
        modules.extend(packed.modules)

    for name in kernels:
        add(pack_case(BY_NAME[name], check_races=False))
    for reference in references:
        add(pack_reference(reference))
    for tool, case in PLANTS.items():
        add(pack_plant(tool, case))
    pack.left_out["another"] = "it is | refused"
    pack.finish()
    pack.write(folder)
    return Original(folder, tuple(modules))


@pytest.fixture(scope="session")
def original(tmp_path_factory: pytest.TempPathFactory) -> Original:
    """Write a pack of kernels."""
    folder = tmp_path_factory.mktemp("packs") / "kernels"
    return write_pack(folder, KERNELS, [by_row("add", 37, 133, SMALL)])


@pytest.fixture
def machine(
    original: Original, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Machine]:
    """Return a machine with a copy of the pack."""
    folder = Path(shutil.copytree(original.folder, tmp_path / "pack"))
    monkeypatch.setattr(command, "FOLDER", folder)
    gpu = stand_in()
    gpu.reset()
    yield Machine(folder, gpu, original.modules)
    errors = [error for error in gpu.errors if not isinstance(error, Dead)]
    gpu.reset()
    assert not errors, errors[0]
