"""``python -m pipeline run``: arguments, options, reports, files and exit codes."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pipeline
from corpus.emulating import EARLY, TICKETS
from corpus.kernels_case import Array
from emulator import faults_races
from emulator.faults import numbers, rendered
from support.command_line import COMMAND, Outcome, call, environment, run

PACKAGE = {"PYTHONPATH": str(Path(pipeline.__file__).parents[1])}

SCALED = """\
func.func @main(%a: memref<2x8xi32>, %b: memref<2x8xi32>, %s: i32) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c2, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c8, %sy = %c1, %sz = %c1) {
    %x = memref.load %a[%bx, %tx] : memref<2x8xi32>
    %y = arith.muli %x, %s : i32
    memref.store %y, %b[%bx, %tx] : memref<2x8xi32>
    gpu.terminator
  }
  return
}
"""
SUMMARY = r"main_kernel: 2 of 2 blocks in \d+\.\d ms; "
RACES = ("--check-races", "--no-verify")
UNVERIFIED = "warning: --no-verify: kernels are not checked for data races and divergent barriers\n"
# Blocks that write to the same place: verification refuses it, so that it is left out.
RACY = SCALED.replace("%b[%bx, %tx]", "%b[%c1, %tx]")
SPIN = """\
gpu.module @kernels {
  gpu.func @spin(%a: memref<8xi32>) kernel {
    %i = gpu.thread_id x
    %one = arith.constant 1 : i32
    scf.while : () -> () {
      %x = memref.load %a[%i] : memref<8xi32>
      %more = arith.cmpi sge, %x, %one : i32
      memref.store %x, %a[%i] : memref<8xi32>
      scf.condition(%more)
    } do {
      scf.yield
    }
    gpu.return
  }
}
"""
SPINNING = ("--kernel", "spin", "--grid", "1", "--block", "8", "--random", "1")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a working directory with programs and arrays."""
    monkeypatch.chdir(tmp_path)
    for name, text in (("scaled", SCALED), ("racy", RACY), ("spin", SPIN)):
        (tmp_path / f"{name}.mlir").write_text(text)
    np.save("a.npy", numbers(2, 8))
    np.save("b.npy", -numbers(2, 8))
    return tmp_path


GIVEN = ("--arg", "a.npy", "--arg", "b.npy", "--arg", "3")


def refused(outcome: Outcome, code: int = 2) -> str:
    """Return the one line that says why nothing ran."""
    assert (outcome.code, outcome.data) == (code, b""), outcome
    (line,) = outcome.words.splitlines()
    assert "error: " in line
    return line


def summary(outcome: Outcome) -> str:
    """Return the one line of a launch that found nothing."""
    assert (outcome.code, outcome.words) == (0, ""), outcome
    (line,) = outcome.text.splitlines()
    return line


# --- arguments ------------------------------------------------------------------------------------


def test_files_and_numbers(folder: Path) -> None:
    outcome = call("run", "scaled.mlir", *GIVEN, "--out", "new/out")
    assert re.fullmatch(SUMMARY + "nothing found; races are not.*--check-races", summary(outcome))
    # Only what the kernels changed is written, and what was given stays.
    assert [file.name for file in Path("new/out").iterdir()] == ["arg1.npy"]
    np.testing.assert_array_equal(np.load("new/out/arg1.npy"), 3 * numbers(2, 8))
    np.testing.assert_array_equal(np.load("b.npy"), -numbers(2, 8))


def test_negative_numbers(folder: Path) -> None:
    assert call("run", "scaled.mlir", *GIVEN[:-1], "-3", "--out", "out").code == 0
    np.testing.assert_array_equal(np.load("out/arg1.npy"), -3 * numbers(2, 8))


def test_random_values(folder: Path) -> None:
    results: list[Array] = []
    for seed in ("1", "2", "1"):
        summary(call("run", "scaled.mlir", "--random", seed, "--out", f"out{len(results)}"))
        results.append(np.load(f"out{len(results)}/arg1.npy"))
    assert (results[0] != 0).all()
    np.testing.assert_array_equal(results[0], results[2])
    assert (results[0] != results[1]).any()


def test_random_values_for_the_rest(folder: Path) -> None:
    summary(call("run", "scaled.mlir", "--arg", "a.npy", "--random", "1", "--out", "out"))
    scale = np.load("out/arg1.npy") // numbers(2, 8)
    assert len(set(scale.ravel())) == 1
    assert 1 <= scale[0, 0] < 8


def test_truth_values(folder: Path) -> None:
    text = SCALED.replace("%s: i32", "%p: i1").replace(
        "%y = arith.muli %x, %s : i32", "%y = arith.select %p, %x, %n : i32"
    )
    text = text.replace("  %c1 =", "  %n = arith.constant 77 : i32\n  %c1 =")
    (folder / "truth.mlir").write_text(text)
    for number, expected in (("1", numbers(2, 8)), ("0", np.full((2, 8), 77))):
        given = (*GIVEN[:-1], number)
        summary(call("run", "truth.mlir", *given, "--out", f"out{number}"))
        np.testing.assert_array_equal(np.load(f"out{number}/arg1.npy"), expected)


def test_standard_input(folder: Path) -> None:
    outcome = call("run", "-", *GIVEN, *RACES, stdin=RACY.encode())
    assert outcome.code == 1
    assert outcome.words.startswith(UNVERIFIED + "<stdin>:9:5: error: data race on global memory: ")


RANDOM = ("--random", "1")
KERNEL = (*RANDOM, "--kernel", "main_kernel")
LAUNCHED = "error: kernel 'main_kernel' is launched with"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "error: no --arg for memref<2x8xi32>, memref<2x8xi32>, i32; give files, or --random"),
        (GIVEN[:4], "error: no --arg for i32; give files, or --random SEED"),
        ((*GIVEN, "--arg", "4"), "error: there are 3 arguments, but 4 --arg"),
        (("--arg", "missing.npy"), "missing.npy: error: cannot be read: No such file"),
        (("--arg", "."), ".: error: cannot be read: Is a directory"),
        (("--arg", "scaled.mlir"), "scaled.mlir: error: cannot be read: it is no .npy file"),
        (("--arg", "objects.npy"), "objects.npy: error: cannot be read: it is no .npy file"),
        ((*RANDOM, "--arg", "several.npz"), "several.npz: error: cannot be read: it is no .npy"),
        ((*RANDOM, "--arg", "floats.npy"), "error: argument 0 has elements of type float32, but"),
        ((*RANDOM, "--arg", "7"), "error: argument 0 must be an array, a .npy file, not 7"),
        ((*GIVEN[:4], "--arg", "1e999"), "error: --arg '1e999' is too large for any type"),
        ((*GIVEN[:4], "--arg", "2.5"), "error: argument 2 is 2.5, which does not fit i32"),
        ((*GIVEN[:4], "--arg", "a.npy"), "error: argument 2 must be a number (i32), not an array"),
        (("--random", "-1"), "error: "),
        (
            (*RANDOM, "--entry", "other"),
            "error: --entry is 'other', but must be a function that launches kernels: main",
        ),
        (
            (*RANDOM, "--kernel", "other"),
            "error: there is no kernel 'other'; there are main_kernel",
        ),
        ((*RANDOM, "--grid", "1"), "error: --grid, --block, --cluster and --dynamic-shared-byt"),
        ((*RANDOM, "--dynamic-shared-bytes", "16"), "error: --grid, --block, --cluster and --dyna"),
        ((*RANDOM, "--grid", ""), "error: --grid, --block, --cluster and --dynamic-shared-byt"),
        ((*RANDOM, "--dynamic-shared-bytes", "0"), "error: --grid, --block, --cluster and --dyna"),
        (
            (*KERNEL, "--grid", "1,2,3,4"),
            "error: --grid is [1, 2, 3, 4], but must be one to three whole numbers: x, y, z",
        ),
        ((*KERNEL, "--grid", "1.5"), "error: --grid is '1.5', but must be one to three whole "),
        ((*KERNEL, "--block", "a"), "error: --block is 'a', but must be one to three whole num"),
        ((*KERNEL, "--block", ""), "error: --block is '', but must be one to three whole num"),
        ((*KERNEL, "--grid", "0"), "error: --grid is (0, 1, 1), and no GPU takes that"),
        ((*KERNEL, "--block", "2000"), f"{LAUNCHED} a block of (2000, 1, 1), but it may be"),
        ((*RANDOM, "--cluster", "1"), "error: --grid, --block, --cluster and --dynamic-shared-byt"),
        ((*KERNEL, "--cluster", "a"), "error: --cluster is 'a', but must be one to three whole n"),
        ((*KERNEL, "--cluster", "1,9"), f"{LAUNCHED} clusters of (1, 9, 1) blocks in a grid of ("),
        ((*KERNEL, "--cluster", "2"), f"{LAUNCHED} clusters of (2, 1, 1) blocks, which sm_80 do"),
        ((*KERNEL, "--dynamic-shared-bytes", "-1"), f"{LAUNCHED} -1 bytes of dynamic workgroup me"),
        ((*KERNEL, "--dynamic-shared-bytes", str(2**64)), f"{LAUNCHED} more workgroup memory than"),
        ((*RANDOM, "--order", "sideways"), "error: --order is 'sideways', but must be forward, re"),
        ((*RANDOM, "--order", str(2**70)), "error: --order is"),
        ((*RANDOM, "--order", "9" * 5000), "error: --order is"),
        (
            (*RANDOM, "--order", "5", "--async-mode", "7"),
            "error: a launch has one seed, but there are [5, 7]",
        ),
        ((*RANDOM, "--async-mode", "never"), "error: --async-mode is 'never', but must be on_wait"),
        ((*RANDOM, "--workers", "-1"), "error: --workers is -1, but must be"),
        ((*RANDOM, "--blocks", "-1"), "error: --blocks is -1, but must be"),
        ((*RANDOM, "--step-limit", "-1"), "error: --step-limit is -1, but must be a whole number"),
        ((*RANDOM, "--stats", "--check", "all"), "error: --stats and --check all exclude each oth"),
        ((*RANDOM, "--stats", "--check-races"), "error: --stats and --check races exclude each o"),
        ((*RANDOM, "--check", "none", "--check-races"), "error: --check none and --check-races co"),
        ((*KERNEL, "--entry", "main"), "error: --kernel runs one kernel, --entry a function that"),
        ((*RANDOM, "--backend", "cuda", "--check-races"), "error: --backend cuda has no checks"),
        ((*RANDOM, "--chip", "sm_1"), "error: unknown chip 'sm_1'; there are sm_75, "),
        ((*RANDOM, "--schedule", "missing.mlir"), "missing.mlir: error: cannot be read: "),
    ],
)
def test_refused_arguments(folder: Path, arguments: tuple[str, ...], message: str) -> None:
    np.save("floats.npy", numbers(2, 8, kind="f4"))
    np.save("objects.npy", np.array([{}], object), allow_pickle=True)
    np.savez("several.npz", a=numbers(2, 8))
    line = refused(call("run", "scaled.mlir", *arguments, "--out", "out"))
    assert line.startswith(message), line
    assert not Path("out").exists()


@pytest.mark.parametrize(
    "arguments",
    [("--check", "some"), ("--random", "x"), ("--blocks", "few"), ("--format", "xml"), ("--arg",)],
)
def test_wrong_usage(folder: Path, arguments: tuple[str, ...]) -> None:
    outcome = call("run", "scaled.mlir", *arguments)
    assert (outcome.code, outcome.data) == (2, b"")
    assert outcome.words.startswith("usage: python -m pipeline run")
    assert f"argument {arguments[0]}: " in outcome.words.splitlines()[-1]


def test_extents_that_only_the_launch_knows(folder: Path) -> None:
    (folder / "dynamic.mlir").write_text(SCALED.replace("memref<2x8xi32>", "memref<?x?xi32>"))
    line = refused(call("run", "dynamic.mlir", "--random", "1"))
    assert line == "error: there are no random values for memref<?x?xi32>; give an --arg"
    assert re.match(SUMMARY, summary(call("run", "dynamic.mlir", *GIVEN)))


def test_work_of_the_host(folder: Path) -> None:
    """A refusal of the program as a whole says how to run its kernels."""
    sign = (
        "  %v = math.absi %s : i32\n  memref.store %v, %a[%c0, %c0] : memref<2x8xi32>\n  return\n"
    )
    text = SCALED.replace("  return\n", sign).replace(
        "  gpu.launch", "  %c0 = arith.constant 0 : index\n  gpu.launch", 1
    )
    (folder / "host.mlir").write_text(text)
    line = refused(call("run", "host.mlir", *GIVEN))
    assert line.startswith("host.mlir:13:8: error: function 'main' cannot be run as a whole: ")
    assert "'math.absi' op is work of the host that a launch plan cannot express" in line
    assert line.endswith("; run its kernels by themselves: --kernel main_kernel")
    outcome = call("run", "host.mlir", "--kernel", "main_kernel", "--random", "1")
    assert re.match(SUMMARY, summary(outcome))


def test_refused_program(folder: Path) -> None:
    (folder / "bad.mlir").write_text(SCALED.replace("%x, %s", "%x, %t"))
    outcome = call("run", "bad.mlir", *GIVEN)
    assert (outcome.code, outcome.data) == (1, b"")
    assert outcome.words.startswith("bad.mlir:8:25: error: use of undeclared SSA value name")
    assert refused(call("run", "missing.mlir")).startswith("missing.mlir: error: cannot be read: ")


# --- what runs, and how ---------------------------------------------------------------------------


def test_kernel_by_itself(folder: Path) -> None:
    sizes = ("--kernel", "main_kernel", "--grid", "2", "--block", "8,1")
    # The kernel takes its arguments in the order in which it uses them.
    given = ("--arg", "a.npy", "--arg", "3", "--arg", "b.npy")
    outcome = call("run", "scaled.mlir", *sizes, *given, "--out", "out")
    assert summary(outcome).startswith("main_kernel: 2 of 2 blocks in ")
    (file,) = Path("out").iterdir()
    np.testing.assert_array_equal(np.load(file), 3 * numbers(2, 8))


@pytest.mark.parametrize("options", [(), ("--grid", "1"), ("--block", "8")])
def test_kernel_whose_sizes_nobody_tells(folder: Path, options: tuple[str, ...]) -> None:
    line = refused(call("run", "spin.mlir", "--kernel", "spin", "--random", "1", *options))
    missing = "block" if "--grid" in options else "grid"
    assert line == f"error: --{missing} must be given, as the program tells none for kernel 'spin'"


def test_entry(folder: Path) -> None:
    (folder / "two.mlir").write_text(SCALED + SCALED.replace("@main", "@other"))
    line = refused(call("run", "two.mlir", *GIVEN))
    assert line == (
        "error: --entry must be given, as several functions launch kernels: main, other"
    )
    assert summary(call("run", "two.mlir", "--entry", "other", *GIVEN)).startswith("other_kernel: ")


def test_blocks(folder: Path) -> None:
    text = summary(call("run", "scaled.mlir", *GIVEN, "--blocks", "1", "--check-races"))
    assert re.fullmatch(r"main_kernel: 1 of 2 blocks in .* ms; no finding on this launch", text)


def test_accesses_that_were_not_executed(folder: Path) -> None:
    (folder / "part.mlir").write_text(
        SCALED.replace("    memref.store", "    scf.if %p {\n    memref.store")
        .replace("    gpu.terminator", "    }\n    gpu.terminator")
        .replace("    %y =", "    %p = arith.cmpi sgt, %s, %s5 : i32\n    %y =")
        .replace("  %c1 =", "  %s5 = arith.constant 5 : i32\n  %c1 =")
    )
    text = summary(call("run", "part.mlir", *GIVEN, "--check-races"))
    assert text.endswith("no finding on this launch (accesses at 1 place were not executed)")


def test_order(folder: Path) -> None:
    """Names and seeds mean the same as in Python."""
    (folder / "tickets.mlir").write_text(TICKETS)
    np.save("one.npy", numbers(1))
    np.save("many.npy", -numbers(4, 64))
    sizes = ("--kernel", "k", "--grid", "4", "--block", "64", "--workers", "1")
    given = ("--arg", "one.npy", "--arg", "many.npy")
    kernel = pipeline.compile(TICKETS, until="llvm").kernels["k"]
    orders: dict[str, Any] = {"forward": "forward", "reverse": "reverse", "5": 5, "6": 6, "0": 0}
    seen = set()
    for text, order in orders.items():
        summary(call("run", "tickets.mlir", *sizes, *given, "--order", text, "--out", text))
        expected = -numbers(4, 64)
        options = pipeline.Options(order=order, workers=1)
        kernel.emulate(numbers(1), expected, grid=(4, 1, 1), block=(64, 1, 1), options=options)
        np.testing.assert_array_equal(np.load(f"{text}/arg1.npy"), expected)
        seen.add(expected.tobytes())
    assert len(seen) == len(orders)


def test_async_mode(folder: Path) -> None:
    (folder / "early.mlir").write_text(EARLY)
    np.save("new.npy", numbers(64))
    np.save("old.npy", -numbers(64))
    sizes = ("--kernel", "k", "--grid", "1", "--block", "64")
    given = ("--arg", "new.npy", "--arg", "old.npy")
    signs = {}
    for mode in ("on_wait", "eager", "3"):
        words = ("--async-mode", mode, "--out", mode, "--sync", "keep", "--no-verify")
        outcome = call("run", "early.mlir", *sizes, *given, *words)
        assert outcome.code == 0
        assert outcome.words == UNVERIFIED
        file = Path(mode) / "arg1.npy"
        signs[mode] = set(np.sign(np.load(file))) if file.exists() else {-1}
    assert signs == {"on_wait": {-1}, "eager": {1}, "3": {-1, 1}}


# --- reports --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        *(("--check-races",), ("--check", "races"), ("--check", "all")),
        *(("--check-races", "--check", "races"), ("--check", "all", "--check-races")),
    ],
)
def test_findings(folder: Path, options: tuple[str, ...]) -> None:
    outcome = call("run", "racy.mlir", *GIVEN, *options, "--no-verify", "--out", "out")
    assert outcome.code == 1
    lines = outcome.words.removeprefix(UNVERIFIED).splitlines()
    assert lines[0].startswith("racy.mlir:9:5: error: data race on global memory: two writes of ")
    assert "    memref.store %y, %b[%c1, %tx] : memref<2x8xi32>" in lines
    assert re.fullmatch(SUMMARY + r"1 error\n", outcome.text)
    assert Path("out/arg1.npy").exists(), "what was written before is to be looked at"


def test_blocks_that_race_are_refused(folder: Path) -> None:
    outcome = call("run", "racy.mlir", *GIVEN)
    assert (outcome.code, outcome.data) == (1, b"")
    message = "racy.mlir:9:5: error: cannot synchronize 'memref.store' and 'memref.store' on "
    assert outcome.words.startswith(message)
    assert "of block (1, 0, 0)" in outcome.words


def test_check_all(folder: Path) -> None:
    (fault,) = (fault for fault in faults_races.FAULTS if fault.name == "race.same-value")
    (folder / "same.mlir").write_text(fault.text)
    sizes = ("--kernel", "k", "--grid", "1", "--block", "64", "--random", "1")
    assert "no finding on this" in summary(call("run", "same.mlir", *sizes, "--check", "races"))
    outcome = call("run", "same.mlir", *sizes, "--check-races", "--check", "all")
    words = outcome.words.rstrip("\n")
    assert words == rendered()[fault.name].replace("<string>", "same.mlir")


def test_statistics(folder: Path) -> None:
    outcome = call("run", "scaled.mlir", *GIVEN, "--stats")
    assert (outcome.code, outcome.words) == (0, "")
    _, totals, header, *rows = outcome.text.splitlines()
    assert re.fullmatch(r"\d+ instructions, 32 accesses, 0 barriers, 0 warp operations", totals)
    assert header.split() == [
        *("place", "access", "requests", "wavefronts", "ideal", "sectors", "dense", "ratio")
    ]
    assert [row.split()[:6] for row in rows] == [
        ["scaled.mlir:7:10", "global", "read", "4", "B", "2"],
        ["scaled.mlir:9:5", "global", "write", "4", "B", "2"],
    ]
    assert len({len(row) for row in rows} | {len(header)}) == 1, "columns are aligned"


def test_json(folder: Path) -> None:
    outcome = call("run", "racy.mlir", *GIVEN, *RACES, "--format", "json")
    assert (outcome.code, outcome.words) == (1, UNVERIFIED)
    data = json.loads(outcome.text)
    assert list(data) == ["version", "launches"]
    assert data["version"] == 1
    (launch,) = data["launches"]
    assert set(launch) == set(pipeline.Report.__dataclass_fields__)
    assert (launch["kernel"], launch["check"]) == ("main_kernel", "races")
    assert (launch["blocks_run"], launch["blocks"]) == (2, 2)
    (finding,) = launch["findings"]
    assert set(finding) == set(pipeline.Finding.__dataclass_fields__)
    assert finding["kind"] == "race.blocks"
    assert finding["indices"] == [1, 0]
    location = {"file": "racy.mlir", "line": 9, "column": 5}
    assert [access["location"] for access in finding["accesses"]] == [location] * 2
    clean = json.loads(call("run", "scaled.mlir", *GIVEN, "--stats", "--format", "json").text)
    (launch,) = clean["launches"]
    assert launch["findings"] == []
    assert launch["statistics"]["accesses"] == 32
    assert len(launch["statistics"]["per_access"]) == 2


def test_output_of_kernels(folder: Path) -> None:
    call_ = '    gpu.printf "%d of %d\\0A", %x, %s : i32, i32\n    gpu.terminator'
    (folder / "print.mlir").write_text(SCALED.replace("    gpu.terminator", call_))
    outcome = call("run", "print.mlir", *GIVEN, "--workers", "1")
    assert outcome.code == 0
    assert outcome.text.splitlines()[:16] == [f"{i} of 3" for i in range(1, 17)]
    data = json.loads(call("run", "print.mlir", *GIVEN, "--format", "json").text)
    assert data["launches"][0]["output"].count(" of 3\n") == 16


# --- processes and files --------------------------------------------------------------------------


def test_as_a_process(folder: Path) -> None:
    outcome = run("run", "racy.mlir", *GIVEN, *RACES, variables=PACKAGE)
    assert outcome.code == 1
    assert "[race.blocks]" in outcome.words
    outcome = run("run", "scaled.mlir", *GIVEN, variables=PACKAGE)
    assert re.match(SUMMARY, summary(outcome))


def test_step_limit(folder: Path) -> None:
    outcome = call("run", "spin.mlir", *SPINNING, "--step-limit", "100000", "--out", "out")
    assert outcome.code == 1
    assert outcome.words.startswith(
        "spin.mlir:9:7: error: a thread exceeds the limit of loop iterations [step-limit]\n"
    )
    assert re.fullmatch(r"spin: 0 of 1 blocks in \d+\.\d ms; 1 error\n", outcome.text)


def spend(process: subprocess.Popen[bytes], seconds: float) -> None:
    """Wait until a process has used so much of the processor."""
    for _ in range(2000):
        fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        if int(fields[11]) + int(fields[12]) > 100 * seconds:
            return
        time.sleep(0.01)
    raise AssertionError("the process does not run")


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="there is no /proc")
def test_interrupt(folder: Path) -> None:
    """Ctrl-C ends a launch at once, and nothing is written."""
    command = [*COMMAND, "run", "spin.mlir", *SPINNING, "--step-limit", "0", "--out", "out"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(**PACKAGE)
    ) as process:
        try:
            spend(process, 1.5)
            process.send_signal(signal.SIGINT)
            output, words = process.communicate(timeout=5)
        except BaseException:
            process.kill()
            raise
    assert (process.returncode, output, words) == (130, b"", b"")
    assert not Path("out").exists()


def test_files_are_whole(folder: Path) -> None:
    """A file that is there already is replaced; one that cannot be written leaves nothing."""
    out = folder / "out"
    out.mkdir()
    (out / "arg1.npy").write_bytes(b"old")
    summary(call("run", "scaled.mlir", *GIVEN, "--out", "out"))
    np.testing.assert_array_equal(np.load("out/arg1.npy"), 3 * numbers(2, 8))
    assert [file.name for file in out.iterdir()] == ["arg1.npy"]
    (folder / "blocked" / "arg1.npy").mkdir(parents=True)
    line = refused(call("run", "scaled.mlir", *GIVEN, "--out", "blocked"))
    assert line.startswith("blocked/arg1.npy: error: cannot be written: ")
    assert [file.name for file in (folder / "blocked").iterdir()] == ["arg1.npy"]


@pytest.mark.parametrize("out", ["a.npy", "/dev/null/out"])
def test_folder_that_cannot_be_made(folder: Path, out: str) -> None:
    line = refused(call("run", "scaled.mlir", *GIVEN, "--out", out))
    assert line.startswith(f"{out}: error: cannot be made: ")
