"""Kernels of a pack, run by the driver of the package on its stand-in."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpu.stand_in_driver import Launch
from gpu_packs.conftest import KERNELS, MAP, Machine
from running.arrays import GUARD_BYTES, Json, read_buffer
from running.gpu import describe_driver, refusal

CHECK = "--stages=check"


def results(machine: Machine) -> dict[str, Json]:
    """Return what became of each case of the first stage."""
    document = json.loads((machine.pack / "results" / "results.json").read_text())
    return {record["case"]: record for record in document["results"]}


def verdicts(machine: Machine) -> dict[str, str]:
    return {name: record["verdict"] for name, record in results(machine).items()}


def kernels_only(machine: Machine) -> None:
    """Leave the reference program out of the pack."""
    file = machine.pack / "suite.json"
    suite = json.loads(file.read_text())
    suite["cases"] = [case for case in suite["cases"] if case["kind"] == "kernel"]
    file.write_text(json.dumps(suite))


@pytest.fixture(autouse=True)
def _kernels(machine: Machine) -> None:
    kernels_only(machine)


def test_all_agree(machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    assert machine.run(CHECK) == 0
    assert machine.starts == 1
    assert verdicts(machine) == dict.fromkeys(KERNELS, "agree")
    assert len(machine.launches) == 2 * len(KERNELS)
    assert machine.gpu.live_bytes == 0
    assert capsys.readouterr().out.count("agree  ") == len(KERNELS)
    text = (machine.pack / "results" / "results.md").read_text()
    for words in (
        "; code for sm_80, sm_90; pack of commit abc\n",
        "\n6 agree.\n",
        "\n| case | verdict | largest difference | compared with | passed in which ways |\n|---|",
        "\n| transpose | agree | 0 | the emulator |  |\n",
        "\n- another: not packed: it is | refused\n",
    ):
        assert words in text
    document = json.loads((machine.pack / "results" / "results.json").read_text())
    assert document["summary"] == {"text": "6 agree", "exit_code": 0}
    assert document["header"].keys() >= {"date", "gpu", "chip", "driver", "commit", "chips", "pack"}


# --- wrong results --------------------------------------------------------------------------------


def memory_at(address: int, size: int) -> Any:
    """Return memory of the stand-in, which is that of the host."""
    return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address))


def element(pointer: int, index: int, dtype: str, value: float | None = None) -> Any:
    """Return what spoils an element of the array that a parameter points to."""

    def fault(launch: Launch) -> None:
        size = np.dtype(dtype).itemsize
        place = memory_at(launch.integer(pointer) + index * size, size).view(dtype)
        place[0] = place[0] + 0.5 if value is None else value

    return fault


def byte(pointer: int, offset: int) -> Callable[[Launch], None]:
    def fault(launch: Launch) -> None:
        memory_at(launch.integer(pointer) + offset, 1)[0] ^= 1

    return fault


TRANSPOSED = 70 * 45 * 4


@pytest.mark.parametrize(
    ("name", "kernel", "fault", "words"),
    [
        ("transpose", "transpose", element(1, 143, "f4"), "1 of 3150 elements differ"),
        ("transpose", "transpose", element(1, 1, "f4", np.nan), "[0, 1]: nan instead of "),
        ("transpose", "transpose", byte(1, TRANSPOSED), "overwritten: 1 behind it (first: +0)"),
        ("transpose", "transpose", byte(1, TRANSPOSED + 255), "1 behind it (first: +255)"),
        ("transpose", "transpose", byte(1, -256), "1 before it (first: -256)"),
    ],
)
def test_wrong_results(
    machine: Machine, name: str, kernel: str, fault: Callable[[Launch], None], words: str
) -> None:
    machine.faults[kernel] = fault
    assert machine.run(CHECK) == 1
    assert [key for key, word in verdicts(machine).items() if word != "agree"] == [name]
    record = results(machine)[name]
    assert record["verdict"] == "differ"
    assert words in record["detail"]
    assert "launch" not in record["detail"]
    text = (machine.pack / "results" / "results.md").read_text()
    assert "| **differ** |" in text
    assert f"- check: {name}: differ: {record['detail']}\n" in text


def test_one_wrong_launch_of_two(machine: Machine) -> None:
    spoil = element(1, 143, "f4")

    def once(launch: Launch) -> None:
        spoil(launch)
        machine.faults.clear()

    machine.faults["transpose"] = once
    assert machine.run(CHECK) == 1
    assert results(machine)["transpose"]["detail"].startswith("launch 1 of 2, argument 1: ")


def test_arrays_are_aligned_as_little_as_may_be(machine: Machine) -> None:
    cases = json.loads((machine.pack / "suite.json").read_text())["cases"]
    for record in (array for case in cases for array in case["arrays"]):
        buffer = read_buffer(machine.pack, record)
        for start in (0, 24, 300):
            moved = replace(buffer, record={**record, "start": start})
            assert (moved.lead(False) + start) % 256 == record["alignment"] == 16
            assert (moved.lead(True) + start) % 256 == 0
            assert moved.lead(False) >= GUARD_BYTES


# --- what fails -----------------------------------------------------------------------------------


def test_a_kernel_that_does_not_load(machine: Machine) -> None:
    file = machine.pack / "ptx" / "transpose.ptx"
    file.write_text("no PTX")
    assert machine.run(CHECK) == 1
    record = results(machine)["transpose"]
    assert record["verdict"] == "failed"
    assert "cuModuleLoadDataEx failed" in record["detail"]
    assert list(verdicts(machine).values()).count("agree") == len(KERNELS) - 1


def test_a_launch_that_fails(machine: Machine) -> None:
    def before(launch: Launch) -> None:
        if launch.name == "transpose":
            machine.gpu.break_launch()

    machine.before = before
    assert machine.run(CHECK) == 1
    failed = {name: r["detail"] for name, r in results(machine).items() if r["verdict"] != "agree"}
    assert list(failed) == ["transpose"]
    assert machine.starts == 2
    assert machine.launches.count("transpose") == 1


def test_a_process_that_dies_in_no_case(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    from running import command

    assert command.main([CHECK], start=lambda words: -11) == 1
    assert "ended with status -11, in no case" in capsys.readouterr().err


def test_results_are_written_before_and_after_every_case(machine: Machine) -> None:
    seen: list[dict[str, str]] = []
    machine.before = lambda launch: seen.append(verdicts(machine))
    machine.run(CHECK)
    assert [list(item.values()) for item in seen[::2]] == [
        ["agree"] * count + ["running"] for count in range(len(KERNELS))
    ]
    assert not list((machine.pack / "results").glob("*.part"))


def test_budget_and_resumption(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0

    def pass_time(launch: Launch) -> None:
        nonlocal now
        now += 1

    monkeypatch.setattr("running.worker.time.monotonic", lambda: now)
    machine.before = pass_time
    assert machine.run(CHECK, "--budget", "3") == 1
    assert list(verdicts(machine).values()) == ["agree"] * 2 + ["not run"] * 4
    assert "2 agree, 4 not run" in (machine.pack / "results" / "results.md").read_text()
    assert machine.run(CHECK, "--resume") == 0
    assert len(machine.launches) == 2 * len(KERNELS)
    assert machine.run(CHECK, "--resume") == 0
    assert len(machine.launches) == 2 * len(KERNELS)


def test_a_case_that_was_running_when_the_process_died_has_failed(machine: Machine) -> None:
    machine.run(CHECK)
    file = machine.pack / "results" / "results.json"
    document = json.loads(file.read_text())
    document["results"][0]["verdict"] = "running"
    file.write_text(json.dumps(document))
    assert machine.run(CHECK, "--resume") == 1
    assert results(machine)[KERNELS[0]]["detail"] == "the process ended while it ran"


def test_results_of_another_pack(machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    machine.run(CHECK)
    suite = (machine.pack / "suite.json").read_text()
    (machine.pack / "suite.json").write_text(suite.replace('"abc"', '"abd"'))
    assert machine.run(CHECK, "--resume") == 2
    assert "results of another pack" in capsys.readouterr().err
    assert machine.run(CHECK) == 0


def test_only(machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    assert machine.run(CHECK, "--only", "transpose") == 0
    assert verdicts(machine) == {"transpose": "agree"}
    assert machine.run(CHECK, "--only", "ST") == 0
    assert set(verdicts(machine)) == {"strided arguments", "steps in two buffers"}
    assert machine.run(CHECK, "--only", "transposed") == 2
    assert "no case 'transposed'; close to it: transpose" in capsys.readouterr().err


def test_chips(machine: Machine) -> None:
    machine.options = "chips=80"
    assert machine.run(CHECK) == 0
    record = results(machine)["elections"]
    assert record["verdict"] == "skipped"
    assert record["detail"] == "code for sm_90 does not run on sm_80"
    machine.options = "chips=75"
    assert machine.run(CHECK) == 1
    assert set(verdicts(machine).values()) == {"skipped"}


def test_damaged_packs(machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    (machine.pack / "data" / "transpose.0.npy").write_bytes(b"\x93NUMPY")
    (machine.pack / "ptx" / "f16.ptx").rename(machine.pack / "gone")
    np.save(machine.pack / "data" / "strided-arguments.1.npy", np.zeros(3, np.float32))
    assert machine.run(CHECK) == 1
    details = {name: r["detail"] for name, r in results(machine).items() if r["detail"]}
    assert {name: detail.split(" ")[0] for name, detail in details.items()} == {
        "transpose": "transpose.0.npy",
        "strided arguments": "data/strided-arguments.1.npy",
        "f16": "[Errno",
    }
    assert MAP not in details
    (machine.pack / "suite.json").unlink()
    assert machine.run(CHECK) == 2
    assert "suite.json beside run.py cannot be read" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("chips", "capability", "runs"),
    [
        (["sm_80"], (8, 0), True),
        (["sm_80"], (12, 1), True),
        (["sm_89"], (8, 6), False),
        (["sm_90a"], (9, 0), True),
        (["sm_90a"], (10, 0), False),
        (["sm_80", "sm_90a"], (10, 0), True),
        (["sm_100f"], (10, 3), True),
        (["sm_100f"], (12, 0), False),
        (["sm_120"], (12, 0), True),
        (["gfx90a"], (9, 0), False),
    ],
)
def test_refusal(chips: list[str], capability: tuple[int, int], runs: bool) -> None:
    assert (refusal(chips, capability) == "") == runs


def test_version_of_the_driver(tmp_path: Path) -> None:
    file = tmp_path / "version"
    assert describe_driver(13010, file) == "CUDA 13.1"
    file.write_text("NVRM version: NVIDIA UNIX Open Kernel Module  580.65.06  Release Build\n")
    assert describe_driver(13000, file) == "580.65.06, CUDA 13.0"
