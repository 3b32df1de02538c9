"""`tools/race-suites` on suites of a kernel or two, which have the folders of the public ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipeline.errors import ToolError
from pipeline.system import clang
from race_suites import main
from race_suites.lifting import lift_variables
from race_suites.litmus_files import read_file


def _has_clang() -> bool:
    try:
        clang.find_clang()
    except ToolError:
        return False
    return True


needs_clang = pytest.mark.skipif(not _has_clang(), reason="there is no clang")

GRAPH_KERNEL = (
    '#include "suite.h"\n'
    "__global__ void test_kernel(int *begins, int *list, data *a, data *b, int n) {\n"
    "  int i = threadIdx.x + blockIdx.x * blockDim.x;\n  %s\n}\n"
)


def run(*arguments: str, tmp_path: Path) -> tuple[int, dict[str, dict[str, str]]]:
    """Return the exit code, and what came of each kernel."""
    report = tmp_path / "report.json"
    code = main.main([*arguments, "--jobs", "1", "--json", str(report)])
    kernels = json.loads(report.read_text())["kernels"]
    return code, {kernel["name"]: kernel for kernel in kernels}


def _write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def indigo(tmp_path: Path) -> Path:
    """Make a suite as Indigo: one of each outcome; labels are in the names."""
    kernels = {
        "sum": "if (i < n) atomicAdd(a, 1);",
        "sum_atomicBug": "if (i < n) a[0] += 1;",
        "other_atomicBug": "if (i < n) a[i] += 1;",  # its label is wrong
        "wrong": "if (i < n) a[0] = i;",  # and so is this
        "broken": "nothing(a);",
    }
    files = {f"indigo_sources/sum/{it}.cu": GRAPH_KERNEL % code for it, code in kernels.items()}
    return _write(tmp_path / "indigo", {**files, "indigo_include/suite.h": "typedef int data;\n"})


@needs_clang
def test_found_missed_false_and_what_does_not_run(indigo: Path, tmp_path: Path) -> None:
    code, kernels = run("--indigo", str(indigo), tmp_path=tmp_path)
    assert {name: kernel["status"] for name, kernel in kernels.items()} == {
        "sum": "clean",
        "sum_atomicBug": "found",
        "other_atomicBug": "missed",
        "wrong": "false",
        "broken": "not compiled",
    }
    assert "undeclared identifier 'nothing'" in kernels["broken"]["message"]
    assert code == 1


@needs_clang
def test_a_kernel_has_a_limit(indigo: Path, tmp_path: Path) -> None:
    source = indigo / "indigo_sources" / "sum" / "slow.cu"
    loops = "for (int j = 0; j < 90000; ++j) {" + "atomicAdd(b, 1);" * 100 + "}"
    source.write_text(GRAPH_KERNEL % loops)
    code, kernels = run(
        "--indigo", str(indigo), "--only", "slow", "--seconds", "0.1", tmp_path=tmp_path
    )
    assert kernels["slow"]["status"] == "timed out"
    assert code == 0


@needs_clang
def test_results_are_kept_and_gone_on_with(
    indigo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = tmp_path / "results.jsonl"
    arguments = ("--indigo", str(indigo), "--results", str(results), "--only")
    run(*arguments, "sum_*", tmp_path=tmp_path)
    with results.open("a") as lines:
        lines.write('{"suite": "cut o')
    kept = results.read_text()
    _, kernels = run(*arguments, "sum*", tmp_path=tmp_path)
    assert set(kernels) == {"sum", "sum_atomicBug"}
    assert results.read_text().startswith(kept)
    lines_before = len(results.read_text().splitlines())
    run(*arguments, "sum_*", tmp_path=tmp_path)
    assert len(results.read_text().splitlines()) == lines_before
    assert "| **Indigo** | 1 | 1 | 1 |" in capsys.readouterr().out


SCOR = (
    "#include <stdio.h>\n#define NBLOCKS 2\n#define TPERBLK 1\n__device__ int flag = 0;\n"
    "__global__ void kmain(volatile unsigned int *data)   // as in the suite\n{\n"
    "  if (blockIdx.x == 0) { data[0] = 1; %s atomicExch(&flag, 1); }\n"
    "  else { while (atomicExch(&flag, 0) == 0) {} __threadfence(); data[1] = data[0]; }\n}\n"
    "int main() { kmain<<<NBLOCKS, TPERBLK>>>(0); }\n"
)


@needs_clang
def test_flags_of_the_module_and_volatile(tmp_path: Path) -> None:
    folder = _write(
        tmp_path / "scor",
        {
            "microbenchmarks/src/norace_interblock_flag.cu": SCOR % "__threadfence();",
            "microbenchmarks/src/race_interblock_flag.cu": SCOR % "",
        },
    )
    code = main.main(
        ["--scor", str(folder), "--jobs", "1", "--json", str(tmp_path / "report.json")]
    )
    kernels = json.loads((tmp_path / "report.json").read_text())["kernels"]
    found = {(it["suite"], it["name"]): (it["status"], bool(it["kinds"])) for it in kernels}
    assert code == 0
    assert found["ScoR", "race_interblock_flag"] == ("found", True)
    assert found["ScoR", "norace_interblock_flag"] == ("clean", False)
    # To PTX there is no race of volatile data, whatever the label says.
    assert found["ScoR, volatile", "race_interblock_flag"] == ("open", False)
    assert found["ScoR, plain", "norace_interblock_flag"] == ("open", False)


@needs_clang
def test_annotations_and_sizes_of_gpuverify(tmp_path: Path) -> None:
    head = "//%s\n//--blockDim=64 --gridDim=[2,2] --no-inline\n//%s\n#include <cuda.h>\n"
    kernel = "__global__ void foo(int *p, int n) {\n  __requires(n == 37);\n  %s\n}\n"
    race, passes = (
        head % ("xfail:NOT_ALL_VERIFIED", "possible write-write race"),
        head
        % (
            "pass",
            "",
        ),
    )
    folder = _write(
        tmp_path / "gpuverify",
        {
            "testsuite/CUDA/sum/fail/kernel.cu": race + kernel % "if (n == 37) p[0] = threadIdx.x;",
            "testsuite/CUDA/sum/pass/kernel.cu": passes
            + kernel % "if (n != 37) p[0] = threadIdx.x;",
            "testsuite/CUDA/assert/kernel.cu": head % ("xfail:NOT_ALL_VERIFIED", "assert")
            + kernel % "__assert(n != 37);",
            "testsuite/CUDA/unlinked/kernel.cu": passes
            + "__device__ int bar(int);\n__global__ void foo(int *p) { p[0] = bar(1); }\n",
        },
    )
    code, kernels = run("--gpuverify", str(folder), tmp_path=tmp_path)
    assert {name: kernel["status"] for name, kernel in kernels.items()} == {
        "sum/fail": "found",
        "sum/pass": "clean",
        "assert": "found",
        "unlinked": "not compiled",
    }
    assert code == 0


LITMUS = """PTX message
"a comment; with a semicolon"
{ x=0; y=0; P1:r1=0; }
 P0@cta 0,gpu 0       | P1@cta 1,gpu 0          ;
 st.weak x, 1         | LC00: ;
 st.release.gpu y, 1  | ld.acquire.gpu r0, y    ;
                      | bne r0, 1, LC00         ;
                      | ld.weak r1, x           ;
~exists
(P1:r0 == 1 /\\ (P1:r1 != 1 \\/ x == 2))
"""


def test_litmus_tests_of_dat3m(tmp_path: Path) -> None:
    expected = "dartagnan/src/test/resources/PTXv"
    folder = _write(
        tmp_path / "dat3m",
        {
            "litmus/PTX/Manual/message.litmus": LITMUS,
            f"{expected}6_0-expected.csv": "litmus/PTX/Manual/message.litmus,1\n\n",
            f"{expected}7_5-expected.csv": "litmus/PTX/Manual/message.litmus,0\n",
            f"{expected}6_0-Liveness-expected.csv": "litmus/PTX/Manual/message.litmus,1\n",
            f"{expected}7_5-Liveness-expected.csv": "litmus/PTX/Manual/message.litmus,0\n",
        },
    )
    code = main.main(
        ["--dat3m", str(folder), "--jobs", "1", "--json", str(tmp_path / "report.json")]
    )
    kernels = json.loads((tmp_path / "report.json").read_text())["kernels"]
    assert {it["suite"]: it["status"] for it in kernels} == {
        "Dat3M, PTX 6.0": "equal",
        "Dat3M, PTX 7.5": "differs",  # as the table here is made to
        "Dat3M, emulated": "clean",
        "Dat3M, liveness, PTX 6.0": "equal",
        "Dat3M, liveness, PTX 7.5": "differs",
    }
    assert code == 1


def test_conditions_of_litmus_tests(tmp_path: Path) -> None:
    (tmp_path / "a.litmus").write_text(LITMUS)
    litmus = read_file(tmp_path / "a.litmus", "a", {})
    assert litmus.quantifier == "never"
    assert [len(group) for group in litmus.condition] == [2, 2]
    assert [place for place, _ in litmus.places] == [0, 1]


def test_variables_of_a_module_become_arguments() -> None:
    lifted = lift_variables(
        "__device__ unsigned int lock = 1;\n__device__ int table[4][2];\n"
        "__global__ void k(int *p) {\n  p[0] = lock + table[1][0];\n}\n"
        "__global__ void l() { lock = 2; }\n"
    )
    assert lifted.values == (1, 0)
    assert lifted.text.splitlines() == [
        "#define lock (*lock_variable)",
        "#define table (*table_variable)",
        "__global__ void k(int *p, unsigned int (*lock_variable) = nullptr, "
        "int (*table_variable)[4][2] = nullptr) {",
        "  p[0] = lock + table[1][0];",
        "}",
        "__global__ void l(unsigned int (*lock_variable) = nullptr, "
        "int (*table_variable)[4][2] = nullptr) { lock = 2; }",
    ]


@pytest.mark.parametrize("suite", ["indigo", "scor", "gpuverify", "dat3m"])
def test_a_folder_that_is_no_suite_is_refused(
    suite: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.main([f"--{suite}", str(tmp_path)]) == 2
    assert "error: " in capsys.readouterr().err


def test_nothing_to_run_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main([]) == 2
    assert "give a suite's folder" in capsys.readouterr().err


POINTERS = """//%s
//--blockDim=64 --gridDim=2
//%s
struct inner { int *p; };
struct outer { inner i; int *q[2]; };
__global__ void foo(outer v, int n) { v.i.p[%s] = v.q[1][threadIdx.x] + n; }
"""
CALLS = """//%s
//--blockDim=64 --gridDim=1
//%s
typedef int (*function)(int);
__device__ int twice(int x) { return 2 * x; }
__device__ int half_of(int x) { return x / 2; }
__global__ void foo(int *p, function f, int n) {
  __requires(f == %s);
  p[f(threadIdx.x)] = threadIdx.x;
}
"""


@needs_clang
def test_pointers_in_structures_and_functions_as_arguments(tmp_path: Path) -> None:
    race = ("xfail:NOT_ALL_VERIFIED", "possible write-write race")
    folder = _write(
        tmp_path / "gpuverify",
        {
            "testsuite/CUDA/structures/fail/kernel.cu": POINTERS % (*race, "threadIdx.x"),
            "testsuite/CUDA/structures/pass/kernel.cu": POINTERS
            % ("pass", "", "blockIdx.x * blockDim.x + threadIdx.x"),
            "testsuite/CUDA/calls/fail/kernel.cu": CALLS % (*race, "half_of"),
            "testsuite/CUDA/calls/pass/kernel.cu": CALLS % ("pass", "", "twice"),
        },
    )
    code, kernels = run("--gpuverify", str(folder), tmp_path=tmp_path)
    assert {name: kernel["status"] for name, kernel in kernels.items()} == {
        "structures/fail": "found",
        "structures/pass": "clean",
        "calls/fail": "found",
        "calls/pass": "clean",
    }
    assert code == 0
