"""Packs for a GPU: what they hold, and how they are made."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpu_check
from corpus.kernels import CASES
from emulator.mutants import mutants
from gpu.stand_in_driver import build, stand_in
from gpu_packs.conftest import BY_NAME, FaultyLaunches, Machine, Original
from linalg.linalg_programs import PROGRAMS
from packing import kernels, pack, plants
from packing.pack import Pack, pack_all
from packing.references import SMALL, by_row
from running.arrays import PackError, read_buffer
from running.gpu import Gpu
from running.kernels import check_kernel, exercise_kernel
from running.verdicts import TOOLS, list_items

TRANSPOSE = BY_NAME["transpose"]


# --- the whole suite ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def packed() -> list[kernels.PackedCase]:
    """Pack every kernel of the corpus."""
    return [kernels.pack_case(case, check_races=False) for case in CASES]


def test_nothing_of_the_suite_is_left_out() -> None:
    cases = gpu_check.load_cases()
    assert (cases["kernels"], cases["programs"]) == (CASES, PROGRAMS)
    assert set(cases["plants"]) == set(TOOLS)


def test_every_kernel_packs(packed: list[kernels.PackedCase]) -> None:
    assert [item.record["name"] for item in packed] == [case.name for case in CASES]
    assert [item.record["note"] for item in packed] == [""] * len(CASES)
    size = sum(len(data) for item in packed for data in item.files.values())
    assert size < pack.LIMIT / 8


def write(folder: Path, items: Sequence[kernels.PackedCase]) -> None:
    """Write the files of cases."""
    for name, data in ((name, data) for item in items for name, data in item.files.items()):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(data)


def test_every_kernel_agrees(packed: list[kernels.PackedCase], tmp_path: Path) -> None:
    """On the stand-in, by what the pack says alone: parameters, maps, arrays, sizes."""
    write(tmp_path, packed)
    gpu = stand_in()
    gpu.reset("chips=90")
    made = FaultyLaunches(gpu, *[module for item in packed for module in item.modules])
    own, verdicts = Gpu(), {}
    for item in packed:
        verdicts[item.record["name"]] = check_kernel(item.record, tmp_path, own)
        exercise_kernel(item.record, tmp_path, own)
    assert [verdict for verdict in verdicts.values() if verdict.verdict != "agree"] == []
    assert len(made.launches) == 3 * len(CASES)
    assert gpu.errors == []
    assert gpu.live_bytes == 0
    gpu.reset()


def test_workgroup_memory_beyond_48_kib_is_asked_for(tmp_path: Path) -> None:
    item = kernels.pack_case(BY_NAME["dynamic workgroup memory"], check_races=False)
    item.record["dynamic_shared_bytes"] = 50000
    write(tmp_path, [item])
    gpu = stand_in()
    gpu.reset("chips=90")
    FaultyLaunches(gpu, *item.modules)
    assert check_kernel(item.record, tmp_path, Gpu()).verdict == "agree"
    assert any(call.startswith("cuFuncSetAttribute") for call in gpu.calls())
    gpu.reset()


def test_arrays_come_back_as_they_were(packed: list[kernels.PackedCase], tmp_path: Path) -> None:
    write(tmp_path, packed)
    for item, case in zip(packed, CASES, strict=True):
        arguments = kernels.make_arguments(case)
        for record in item.record["arrays"]:
            buffer = read_buffer(tmp_path, record)
            array = arguments[record["argument"]]
            assert buffer.elements(buffer.before).tobytes() == array.tobytes(), case.name
            assert record["strides"] is None or array.strides == tuple(record["strides"])
            expected = case.expect([np.copy(argument) for argument in arguments])
            assert record["written"] == (record["argument"] in expected), case.name


# --- one pack -------------------------------------------------------------------------------------


def test_a_pack_is_the_same_every_time() -> None:
    made = [
        pack_all("abc", kernels=[TRANSPOSE], references=[by_row("add", 4, 8, SMALL)])
        for _ in range(2)
    ]
    assert made[0].files == made[1].files
    assert [case["name"] for case in made[0].cases] == ["transpose", "add 4x8 4x8 f32"]


def test_what_is_wrong_is_left_out() -> None:
    case = BY_NAME["histogram"]
    racy = next(mutant for mutant in mutants(case) if mutant.name == "no atomics")
    refused = replace(case, name="refused", text="gpu.module @m {\n")
    made = pack_all("abc", kernels=[replace(case, text=racy.text), refused, case])
    assert [record["name"] for record in made.cases] == ["histogram"]
    assert list(made.left_out) == ["histogram", "refused"]
    assert "race" in made.left_out["histogram"]
    assert "error" in made.left_out["refused"]


def test_other_results_than_the_reference_are_noted() -> None:
    wrong = replace(TRANSPOSE, expect=lambda arguments: {1: TRANSPOSE.expect(arguments)[1] + 1})
    record = kernels.pack_case(wrong, check_races=False).record
    assert "differs from the reference: argument 1, 3150 of 3150" in record["note"]


def test_arrays_that_overlap_are_refused() -> None:
    array = np.zeros(9, np.float32)
    with pytest.raises(PackError, match="share memory"):
        kernels.copy_arguments([array[:5], 3, array[4:]])


def test_size_limit() -> None:
    with pytest.raises(PackError, match=r"with transpose .* may have 0\.00977 MiB.* smaller"):
        pack_all("abc", kernels=[TRANSPOSE], check_races=False, limit=10 << 10)


def test_names_that_clash() -> None:
    other = replace(TRANSPOSE, name="transpose!")
    with pytest.raises(PackError, match=r"transpose!: data/transpose\.0\.npy is there already"):
        pack_all("abc", kernels=[TRANSPOSE, other], check_races=False)
    with pytest.raises(PackError, match="there are two cases 'transpose'"):
        pack_all("abc", kernels=[TRANSPOSE, TRANSPOSE], check_races=False)


def test_folders(tmp_path: Path) -> None:
    made = Pack("abc", files={"data/a.npy": b"1"})
    made.finish()
    folder = tmp_path / "new" / "pack"
    made.write(folder)
    assert (folder / "pipeline" / "runtime" / "cuda" / "driver.py").is_file()
    assert not list(folder.rglob("*.so"))
    (folder / "results").mkdir()
    other = Pack("abc", files={"suite.json": b"{}"})
    other.write(folder)
    assert sorted(path.name for path in folder.iterdir()) == ["results", "suite.json"]
    with pytest.raises(PackError, match="neither empty nor a pack"):
        made.write(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["new"]


def test_planted_bugs_come_before_what_they_vouch_for(original: Original) -> None:
    cases = json.loads((original.folder / "suite.json").read_text())["cases"]
    items = [item for item in list_items(cases, ("sanitize",)) if item.tool == "racecheck"]
    assert items[0].case == "planted bug for racecheck"
    assert len(items) == len(cases) - len(TOOLS) + 1


@pytest.mark.parametrize("tool", ["memcheck", "racecheck", "synccheck"])
def test_a_plant_without_its_bug_is_refused(tool: str) -> None:
    sound = replace(plants.PLANTS["initcheck"], name="sound")
    with pytest.raises(PackError, match="sound: the emulator finds nothing in it"):
        plants.pack_plant(tool, sound)


def test_the_plant_of_initcheck_reads_what_nobody_wrote(tmp_path: Path) -> None:
    item = plants.pack_plant("initcheck", plants.PLANTS["initcheck"])
    write(tmp_path, [item])
    gpu = stand_in()
    gpu.reset()
    exercise_kernel(item.record, tmp_path, Gpu())
    calls = [call.split(" ")[0] for call in gpu.calls()]
    assert calls.count("cuMemAlloc") == 2
    assert calls.count("cuMemcpyHtoDAsync") == 1
    gpu.reset()


# --- the commands ---------------------------------------------------------------------------------


def test_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cases: dict[str, Any] = {"kernels": [TRANSPOSE], "plants": plants.PLANTS}
    monkeypatch.setattr(gpu_check, "load_cases", lambda: cases)
    monkeypatch.setattr(gpu_check, "run", lambda folder: 0)
    assert gpu_check.main([str(tmp_path / "a" / "b")]) == 0
    assert "\n1 kernel, 4 planted bugs, " in capsys.readouterr().out
    cases["kernels"] = [TRANSPOSE, replace(TRANSPOSE, name="bad", text="?\n")]
    assert gpu_check.main([str(tmp_path / "a" / "b")]) == 1
    assert "left out: bad: " in capsys.readouterr().out


def test_without_a_gpu_the_pack_is_all(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    program = "import sys; print('error: no GPU', file=sys.stderr); sys.exit(69)"
    (tmp_path / "run.py").write_text(program)
    assert gpu_check.run(tmp_path) == 0
    assert capfd.readouterr().out == "not run: no GPU\n"
    program = "import sys; print('Some GPU'); sys.exit(0 if '--probe' in sys.argv else 1)"
    (tmp_path / "run.py").write_text(program)
    assert gpu_check.run(tmp_path) == 1
    assert capfd.readouterr().out == "running on Some GPU\nSome GPU\n"


def start(folder: Path, *words: str, **changes: str) -> subprocess.CompletedProcess[str]:
    """Run a pack as its users do: nothing but it and what is installed is to be found."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    command = [sys.executable, str(folder / "run.py"), *words]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env=environment | changes
    )


def test_the_pack_runs_by_itself(machine: Machine) -> None:
    found = start(machine.pack, "--probe", LD_LIBRARY_PATH=str(build().parent))
    assert (found.returncode, found.stderr) == (0, "")
    assert ", sm_" in found.stdout
    found = start(machine.pack, "--only", "nothing like it", LD_LIBRARY_PATH=str(build().parent))
    assert found.returncode == 2
    assert "there is no case 'nothing like it'" in found.stderr


def test_without_a_driver(machine: Machine, tmp_path: Path) -> None:
    (tmp_path / "libcuda.so.1").write_text("no library")
    found = start(machine.pack, "--stages=check", LD_LIBRARY_PATH=str(tmp_path))
    assert found.returncode == 69
    assert found.stderr.startswith("error: ")
    assert found.stderr.count("\n") == 1
    assert not (machine.pack / "results").exists()


def test_without_numpy(machine: Machine) -> None:
    command = [sys.executable, "-S", str(machine.pack / "run.py")]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    found = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert found.returncode == 69
    assert found.stderr == f"error: NumPy is missing: {sys.executable} -m pip install numpy\n"


def test_an_older_python_is_told() -> None:
    """What says so has to be read by it."""
    ast.parse((pack.TOOLS / "run.py").read_text(), feature_version=(3, 7))


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--stages=check,fly"], "'fly' is none of check, time, sanitize"),
        (["--rounds=0"], "--rounds: must be at least 1"),
        (["--budget=soon"], "invalid float value"),
    ],
)
def test_wrong_usage(machine: Machine, words: list[str], text: str) -> None:
    found = start(machine.pack, *words)
    assert found.returncode == 2
    assert text in found.stderr
