"""What runs a pack on a GPU: everything but the GPU."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpu_arrays
import gpu_check
import gpu_driver
import gpu_runner
from corpus.kernels import CASES
from gpu_arrays import Buffer, Bytes, Json
from gpu_driver import Cuda, Driver, DriverError, MissingError
from tools.fake_gpu import FakeBinding, FakeGpu, InterpretedGpu, Status

MAP = "box of rank 2, swizzle_128b"
NAMES = ("transpose", "steps in two buffers", "strided arguments", "f16", "elections", MAP)
"""Cases of different kinds: a scalar, strides, a tolerance, a newer chip, a tensor map."""


# --- running --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a pack of some cases, and one that does not compile."""
    cases = [case for case in CASES if case.name in NAMES]
    cases.append(replace(cases[0], name="another", text="?\n"))
    folder = tmp_path_factory.mktemp("packs") / "original"
    gpu_check.pack_all(cases, "abc", check_races=False).write(folder)
    return folder


@pytest.fixture
def pack(original: Path, tmp_path: Path) -> Path:
    """Return a copy of the pack."""
    return Path(shutil.copytree(original, tmp_path / "pack"))


@pytest.fixture
def gpu(pack: Path, monkeypatch: pytest.MonkeyPatch) -> FakeGpu:
    """Return a GPU for the pack, which is the one that the runner belongs to."""
    monkeypatch.setattr(gpu_runner, "FOLDER", pack)
    return FakeGpu(pack, json.loads((pack / "suite.json").read_text()))


class Dead(BaseException):
    """The end of a process."""


def run(gpu: Driver, *arguments: str) -> tuple[int, int]:
    """Run the pack; return the exit code and how many processes that took."""
    starts = 0

    def start(words: Sequence[str]) -> int:
        nonlocal starts
        starts += 1
        try:
            return gpu_runner.main(words, lambda: gpu)
        except Dead:
            return -11

    return gpu_runner.main(arguments, start=start), starts


def results(pack: Path) -> dict[str, Json]:
    """Return the verdicts by case."""
    document = json.loads((pack / "results" / "results.json").read_text())
    return {record["name"]: record for record in document["cases"]}


def verdicts(pack: Path) -> dict[str, str]:
    return {name: record["verdict"] for name, record in results(pack).items()}


def test_all_agree(pack: Path, gpu: FakeGpu, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(gpu) == (0, 1)
    assert verdicts(pack) == dict.fromkeys(NAMES, "agree")
    assert sorted(gpu.launches) == sorted(NAMES * 2)
    assert not gpu.blocks
    assert capsys.readouterr().out.count("agree  ") == len(NAMES)
    text = (pack / "results" / "results.md").read_text()
    assert text.startswith("# Fake GPU against the emulator\n")
    for words in (
        "; Fake GPU (sm_90), driver 1.2; PTX for sm_80, sm_90; pack of commit abc\n",
        "\n6 agree. Differences are",
        "\n| case | grid | block | verdict | largest difference | microseconds |\n|---|",
        "\n| transpose | 2x3x1 | 32x8x1 | agree | 0 | 12.5 |\n",
        "\n- another: not packed: ",
    ):
        assert words in text
    document = json.loads((pack / "results" / "results.json").read_text())
    assert document["summary"] == {"text": "6 agree", "exit_code": 0}
    assert document["header"].keys() >= {"date", "gpu", "chip", "driver", "commit", "chips", "pack"}


def one_off(memory: Bytes, buffer: Buffer, start: int) -> None:
    buffer.elements(memory[start : start + buffer.after.size])[2, 3] += 0.5


def not_a_number(memory: Bytes, buffer: Buffer, start: int) -> None:
    buffer.elements(memory[start : start + buffer.after.size])[0, 1] = np.nan


def byte_at(offset: int) -> Callable[[Bytes, Buffer, int], None]:
    def fault(memory: Bytes, buffer: Buffer, start: int) -> None:
        memory[start + (buffer.after.size if offset >= 0 else 0) + offset] ^= 1

    return fault


def gap(memory: Bytes, buffer: Buffer, start: int) -> None:
    memory[start + 4 : start + 8] = 0


@pytest.mark.parametrize(
    ("name", "fault", "difference", "words"),
    [
        (
            "transpose",
            one_off,
            None,
            "argument 1: 1 of 3150 elements differ, the first at [2, 3]",
        ),
        ("transpose", not_a_number, "nan", "the first at [0, 1]: nan instead of "),
        ("transpose", byte_at(0), 0, "argument 1: bytes overwritten: 1 behind it (first: +0)"),
        ("transpose", byte_at(255), 0, "argument 1: bytes overwritten: 1 behind it (first: +255)"),
        ("transpose", byte_at(-256), 0, "1 before it (first: -256)"),
        ("strided arguments", gap, 0, "4 between its elements (first: +4)"),
        ("f16", one_off, None, "argument 2: 1 of 2400 elements differ, the first at [2, 3]: "),
    ],
)
def test_wrong_results(
    pack: Path, gpu: FakeGpu, name: str, fault: Any, difference: Any, words: str
) -> None:
    gpu.faults[name] = fault
    assert run(gpu) == (1, 1)
    assert [key for key, word in verdicts(pack).items() if word != "agree"] == [name]
    record = results(pack)[name]
    assert words in record["detail"]
    assert "launch" not in record["detail"]
    assert difference is None or record["difference"] == difference
    text = (pack / "results" / "results.md").read_text()
    assert "| **differ** |" in text
    assert f"- {name}: {record['detail']}\n" in text


def test_one_wrong_launch_of_two(pack: Path, gpu: FakeGpu) -> None:
    gpu.faults["transpose"] = one_off

    def mend() -> None:
        if gpu.launches.count("transpose") > 1:
            gpu.faults.clear()

    gpu.actions["transpose"] = mend
    assert run(gpu) == (1, 1)
    assert results(pack)["transpose"]["detail"].startswith("launch 1 of 2, argument 1: ")


def test_arrays_are_aligned_as_little_as_may_be(pack: Path, gpu: FakeGpu) -> None:
    for record in gpu.cases:
        for array in record["arrays"]:
            buffer = gpu_arrays.read_buffer(pack, array)
            for start in (0, 24, 300):
                moved = replace(buffer, record={**array, "start": start})
                assert (moved.lead(False) + start) % 256 == array["alignment"] == 16
                assert (moved.lead(True) + start) % 256 == 0
                assert moved.lead(False) >= gpu_arrays.GUARD_BYTES


def test_results_within_the_tolerance(pack: Path, gpu: FakeGpu) -> None:
    def fault(memory: Bytes, buffer: Buffer, start: int) -> None:
        elements = buffer.elements(memory[start : start + buffer.after.size])
        elements[...] = np.nextafter(elements, np.float16(9))

    gpu.faults["f16"] = fault
    assert run(gpu) == (0, 1)
    assert 0 < results(pack)["f16"]["difference"] <= 4e-3


def test_a_kernel_that_does_not_load(pack: Path, gpu: FakeGpu) -> None:
    gpu.unloadable.add("transpose")
    assert run(gpu) == (1, 1)
    record = results(pack)["transpose"]
    assert (record["verdict"], record["difference"]) == ("failed", None)
    assert "no such | instruction" in record["detail"]
    assert list(verdicts(pack).values()).count("agree") == len(NAMES) - 1


def raising(error: BaseException) -> Callable[[], None]:
    def action() -> None:
        raise error

    return action


@pytest.mark.parametrize(
    ("error", "detail"),
    [
        (DriverError("CUDA_ERROR_ILLEGAL_ADDRESS"), "CUDA_ERROR_ILLEGAL_ADDRESS"),
        (KeyError("x"), "KeyError: 'x'"),
        (Dead(), "the process ended while it ran"),
    ],
)
def test_a_launch_that_fails(pack: Path, gpu: FakeGpu, error: BaseException, detail: str) -> None:
    gpu.actions["transpose"] = gpu.actions["f16"] = raising(error)
    assert run(gpu) == (1, 3)
    failed = {name: r["detail"] for name, r in results(pack).items() if r["verdict"] == "failed"}
    assert failed == {"transpose": detail, "f16": detail}
    assert list(verdicts(pack).values()).count("agree") == len(NAMES) - 2
    assert gpu.launches.count("transpose") == 1


def test_a_process_that_dies_in_no_case(gpu: FakeGpu, capsys: pytest.CaptureFixture[str]) -> None:
    assert gpu_runner.main([], start=lambda words: -11) == 1
    assert "ended with status -11, in no case" in capsys.readouterr().err


def test_results_are_written_before_and_after_every_case(pack: Path, gpu: FakeGpu) -> None:
    seen: list[dict[str, str]] = []
    gpu.actions = dict.fromkeys(NAMES, lambda: seen.append(verdicts(pack)))
    run(gpu)
    assert [list(item.values()) for item in seen[::2]] == [
        ["agree"] * count + ["running"] for count in range(len(NAMES))
    ]
    assert not list((pack / "results").glob("*.part"))


def test_budget_and_resumption(pack: Path, gpu: FakeGpu, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0

    def pass_time() -> None:
        nonlocal now
        now += 1

    monkeypatch.setattr("gpu_runner.time.monotonic", lambda: now)
    gpu.actions = dict.fromkeys(NAMES, pass_time)
    assert run(gpu, "--budget", "3") == (1, 1)
    assert list(verdicts(pack).values()) == ["agree"] * 2 + ["not run"] * 4
    assert "2 agree, 4 not run" in (pack / "results" / "results.md").read_text()
    assert run(gpu, "--resume") == (0, 1)
    assert sorted(gpu.launches) == sorted(NAMES * 2)
    assert run(gpu, "--resume") == (0, 1)
    assert sorted(gpu.launches) == sorted(NAMES * 2)


def test_an_interrupted_case_is_run_again(pack: Path, gpu: FakeGpu) -> None:
    gpu.actions["transpose"] = raising(KeyboardInterrupt())
    assert run(gpu)[0] == 130
    assert results(pack)["transpose"]["detail"] == "it was interrupted"
    gpu.actions.clear()
    assert run(gpu, "--resume") == (0, 1)


def test_results_of_another_pack(
    pack: Path, gpu: FakeGpu, capsys: pytest.CaptureFixture[str]
) -> None:
    run(gpu)
    suite = (pack / "suite.json").read_text()
    (pack / "suite.json").write_text(suite.replace('"abc"', '"abd"'))
    assert run(gpu, "--resume")[0] == 2
    assert "results of another pack" in capsys.readouterr().err
    assert run(gpu)[0] == 0


def test_only(pack: Path, gpu: FakeGpu, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(gpu, "--only", "transpose") == (0, 1)
    assert verdicts(pack) == {"transpose": "agree"}
    assert run(gpu, "--only", "ST") == (0, 1)
    assert set(verdicts(pack)) == {"strided arguments", "steps in two buffers"}
    assert run(gpu, "--only", "transposed")[0] == 2
    assert "no case 'transposed'; close to it: transpose" in capsys.readouterr().err


def test_chips(pack: Path, gpu: FakeGpu) -> None:
    gpu.capability = (8, 0)
    assert run(gpu) == (0, 1)
    record = results(pack)["elections"]
    assert (record["verdict"], record["detail"]) == (
        "skipped",
        "PTX for sm_90 does not run on sm_80",
    )
    gpu.capability = (7, 5)
    assert run(gpu) == (1, 1)
    assert set(verdicts(pack).values()) == {"skipped"}


@pytest.mark.parametrize(
    ("chip", "capability", "runs"),
    [
        ("sm_80", (8, 0), True),
        ("sm_80", (12, 1), True),
        ("sm_89", (8, 6), False),
        ("sm_90a", (9, 0), True),
        ("sm_90a", (10, 0), False),
        ("sm_100f", (10, 3), True),
        ("sm_100f", (12, 0), False),
        ("sm_120", (12, 0), True),
        ("gfx90a", (9, 0), False),
    ],
)
def test_refusal(chip: str, capability: tuple[int, int], runs: bool) -> None:
    assert (gpu_driver.refusal(chip, capability) == "") == runs


def test_damaged_packs(pack: Path, gpu: FakeGpu, capsys: pytest.CaptureFixture[str]) -> None:
    (pack / "data" / "transpose.0.npy").write_bytes(b"\x93NUMPY")
    (pack / "ptx" / "f16.ptx").rename(pack / "gone")
    np.save(pack / "data" / "strided-arguments.1.npy", np.zeros(3, np.float32))
    gpu.cases = [case for case in gpu.cases if case["name"] in ("elections", NAMES[1], MAP)]
    assert run(gpu) == (1, 1)
    details = [record["detail"] for record in results(pack).values()]
    assert [detail.split(" ")[0] for detail in details if detail] == [
        "transpose.0.npy",
        "data/strided-arguments.1.npy",
        "[Errno",
    ]
    (pack / "suite.json").unlink()
    assert run(gpu)[0] == 2
    assert "suite.json beside run.py cannot be read" in capsys.readouterr().err


def test_interpreted(pack: Path, gpu: FakeGpu) -> None:
    assert run(InterpretedGpu(), "--only", "transpose") == (0, 1)
    assert run(InterpretedGpu(), "--only", "strided arguments") == (0, 1)


# --- comparing ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dtype", "found", "wanted", "tolerance", "largest", "agrees"),
    [
        ("f4", [1, np.nan, np.inf, 0.0], [1, np.nan, np.inf, -0.0], 0, 0, True),
        ("f4", [1, np.inf], [1, 2], 1e9, np.inf, False),
        ("f4", [1, np.inf], [1, -np.inf], 1e9, np.nan, False),
        ("f4", [1, 2], [1, np.nan], 1e9, np.nan, False),
        ("f8", [1.0, 100.5], [1.0, 100.0], 0.01, 0.005, True),
        ("f8", [0.25], [0.0], 0.2, 0.25, False),
        ("i8", [2**62 + 1, -5], [2**62, -5], 0, 2**-62, False),
        ("u8", [0, 2**64 - 1], [2**64 - 1, 2**64 - 1], 0, 1, False),
        ("i1", [-128], [127], 0, 255 / 127, False),
        ("?", [True, False], [False, False], 0, 1, False),
        ("c8", [3 + 4j], [3 + 3j], 0, 1 / abs(3 + 3j), False),
        ("f4", [], [], 0, 0, True),
    ],
)
def test_compare(
    dtype: str, found: Any, wanted: Any, tolerance: float, largest: float, agrees: bool
) -> None:
    arrays = np.array(found, dtype), np.array(wanted, dtype)
    difference = gpu_arrays.compare(*arrays, tolerance, "")
    assert difference.largest == pytest.approx(largest, nan_ok=True)
    assert (difference.text == "") == agrees


@pytest.mark.parametrize(
    ("element", "dtype", "bits", "values"),
    [
        ("bf16", "u2", [0x3F80, 0xC000, 0x7FC0], [1, -2, np.nan]),
        ("f8E5M2", "u1", [0x3C, 0xC0, 0x7C, 0x01], [1, -2, np.inf, 2**-16]),
        ("f8E4M3FN", "u1", [0x38, 0xC0, 0x7E, 0x01, 0xFF], [1, -2, 448, 2**-9, np.nan]),
        ("i16", "u2", [0x3F80], [0x3F80]),
        ("f32", "f4", [1.5], [1.5]),
    ],
)
def test_decode(element: str, dtype: str, bits: Any, values: Any) -> None:
    np.testing.assert_array_equal(gpu_arrays.decode(np.array(bits, dtype), element), values)


# --- the driver -----------------------------------------------------------------------------------


def test_calls_of_the_driver() -> None:
    binding = FakeBinding()
    binding.statuses = {"cuEventQuery": [Status.CUDA_ERROR_NOT_READY] * 2}
    cuda = Cuda(binding)
    assert (cuda.gpu, cuda.capability) == ("Fake", (8, 6))
    assert cuda.version.endswith("CUDA 12.4")
    binding.calls.clear()
    function = cuda.load("ptx", "kernel")
    address = cuda.allocate(8)
    cuda.upload(address, np.arange(8, dtype=np.uint8))
    assert cuda.download(address, 8).tolist() == list(range(8))
    parameters = [(5).to_bytes(8, "little"), (6).to_bytes(8, "little")]
    binding.sizes = (8, 8)
    assert cuda.launch(function, (1, 2, 3, 4, 5, 6), 0, parameters, 9.0) == 250
    assert binding.parameters == parameters
    cuda.launch(function, (1, 1, 1, 1, 1, 1), 50000, [], 9.0)
    cuda.free(address)
    assert binding.calls == [
        *("cuModuleLoadDataEx", "cuModuleGetFunction", "cuMemAlloc"),
        *("cuMemcpyHtoD", "cuMemcpyDtoH", "cuEventRecord", "cuLaunchKernel", "cuEventRecord"),
        *("cuEventQuery", "cuEventQuery", "cuEventQuery", "cuEventElapsedTime"),
        *("cuFuncSetAttribute", "cuEventRecord", "cuLaunchKernel", "cuEventRecord"),
        *("cuEventQuery", "cuEventElapsedTime", "cuMemFree"),
    ]


def test_errors_of_the_driver() -> None:
    binding = FakeBinding()
    cuda = Cuda(binding)
    binding.statuses["cuModuleLoadDataEx"] = [Status.CUDA_ERROR_INVALID_PTX]
    with pytest.raises(DriverError, match=r"INVALID_PTX, some words: bad line 3$"):
        cuda.load("ptx", "kernel")
    binding.statuses["cuEventQuery"] = [Status.CUDA_ERROR_ILLEGAL_ADDRESS]
    with pytest.raises(DriverError, match="the kernel ended with CUDA_ERROR_ILLEGAL_ADDRESS"):
        cuda.launch(0, (1,) * 6, 0, [], 9.0)
    binding.statuses["cuEventQuery"] = [Status.CUDA_ERROR_NOT_READY] * 2
    with pytest.raises(DriverError, match="the kernel still runs after -1 s"):
        cuda.launch(0, (1,) * 6, 0, [], -1.0)
    binding.statuses["cuInit"] = [Status.CUDA_ERROR_NO_DEVICE]
    with pytest.raises(MissingError, match=r"no GPU can be used .*CUDA_ERROR_NO_DEVICE"):
        Cuda(binding)
    with pytest.raises(DriverError, match="does the version of cuda-bindings fit"):
        cuda._call("cuMissing")


def test_version_of_the_driver(tmp_path: Path) -> None:
    file = tmp_path / "version"
    assert gpu_driver.describe_driver(13010, file) == "CUDA 13.1"
    file.write_text("NVRM version: NVIDIA UNIX Open Kernel Module  580.65.06  Release Build\n")
    assert gpu_driver.describe_driver(13000, file) == "580.65.06, CUDA 13.0"


def test_without_a_driver(
    gpu: FakeGpu, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise OSError

    monkeypatch.setattr("gpu_driver.ctypes.CDLL", fail)
    assert gpu_runner.main([], start=lambda words: gpu_runner.main(words)) == 69
    error = capsys.readouterr().err
    assert error.startswith("error: there is no NVIDIA driver (libcuda.so.1) here: copy")
    assert error.count("\n") == 1


def test_without_a_binding(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[str] = []

    def fail(name: str) -> None:
        asked.append(name)
        raise ImportError

    monkeypatch.setattr("gpu_driver.ctypes.CDLL", lambda name: None)
    monkeypatch.setattr("gpu_driver.importlib.import_module", fail)
    assert gpu_runner.main(["--probe"]) == 69
    assert asked == ["cuda.bindings.driver", "cuda.cuda"]
    assert capsys.readouterr().err == (
        f"error: the CUDA binding for Python is missing: {sys.executable} -m pip install "
        "cuda-bindings\n"
    )


def test_without_numpy(pack: Path) -> None:
    command = [sys.executable, "-S", str(pack / "run.py")]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    process = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert process.returncode == 69
    assert process.stderr == (f"error: NumPy is missing: {sys.executable} -m pip install numpy\n")


def test_a_pack_runs_with_an_older_python(pack: Path) -> None:
    for name in gpu_check.PROGRAMS:
        ast.parse((pack / name).read_text(), feature_version=(3, 10))


def test_a_process_of_its_own(pack: Path) -> None:
    process = subprocess.run(
        [sys.executable, str(pack / "run.py"), "--only", "nothing like it", "--budget", "0"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 2
    assert "there is no case 'nothing like it'" in process.stderr
