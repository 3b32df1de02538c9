"""Where findings are: the innermost place, in its own file, and all that it stands for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pipeline
from emulator.faults import numbers

Place = tuple[str, int, int]
HERE: Place = ("<string>", 0, 0)

# A location, and the places that it tells of: the first of them is that of a finding.
LOCATIONS: dict[str, tuple[str, list[Place]]] = {
    "a line": ('"other.cc":7:9', [("other.cc", 7, 9)]),
    "a name": ('"name"("other.cc":7:9)', [("other.cc", 7, 9)]),
    "a call": (
        'callsite("callee"("callee.cc":7:9) at "caller.cc":11:12)',
        [("callee.cc", 7, 9)],
    ),
    "calls": (
        'callsite(callsite("in.cc":1:2 at "middle.cc":3:4) at callsite("a.cc":5:6 at "b.cc":7:8))',
        [("in.cc", 1, 2)],
    ),
    "a call of the unknown": ('callsite(unknown at "caller.cc":11:12)', [("caller.cc", 11, 12)]),
    "a call by the unknown": ('callsite("callee.cc":7:9 at unknown)', [("callee.cc", 7, 9)]),
    "a fused one": (
        'fused["one.cc":1:2, "two.cc":3:4, "<string>":5:6]',
        [("one.cc", 1, 2), ("two.cc", 3, 4), ("<string>", 5, 6)],
    ),
    "a fused one with a reason": (
        'fused<"fusion">["one.cc":1:2, "two.cc":3:4]',
        [("one.cc", 1, 2), ("two.cc", 3, 4)],
    ),
    "a fused one of one line": (
        'fused["<string>":5:6, "<string>":5:9]',
        [("<string>", 5, 6), ("<string>", 5, 9)],
    ),
    "fused calls": (
        'fused[callsite("one.cc":1:2 at "x.cc":9:9), callsite("two.cc":3:4 at "x.cc":9:9)]',
        [("one.cc", 1, 2), ("two.cc", 3, 4)],
    ),
    "a fused callee": (
        'callsite(fused["one.cc":1:2, "two.cc":3:4] at "x.cc":9:9)',
        [("one.cc", 1, 2), ("two.cc", 3, 4)],
    ),
    "a fused one with the unknown": ('fused[unknown, "two.cc":3:4]', [("two.cc", 3, 4)]),
    "the same file": ('"<string>":5:6', [("<string>", 5, 6)]),
}
OPERATIONS = {
    "cf.assert": 'cf.assert %no, "it fails"',
    "memref.load": "%x = memref.load %o[%c9] : memref<4xi32>",
    "memref.store": "memref.store %v, %o[%c9] : memref<4xi32>",
    "arith.divsi": "%x = arith.divsi %v, %zero : i32",
}


def program(operation: str, location: str) -> str:
    return f"""\
gpu.module @m {{
  gpu.func @k(%no: i1, %zero: i32, %c9: index, %o: memref<4xi32>) kernel {{
    %c0 = arith.constant 0 : index
    %v = arith.constant 7 : i32
    {operation} loc({location})
    {"memref.store %x, %o[%c0] : memref<4xi32>" if "%x" in operation else ""}
    gpu.return
  }}
}}
"""


def finding_of(text: str) -> tuple[pipeline.Finding, str]:
    module = pipeline.compile(text, until="llvm", sync="keep", verify=False)
    report = module.kernels["k"].emulate(False, 0, 9, numbers(4), grid=1, block=1)
    (finding,) = report.findings
    return finding, report.rendered


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("name", LOCATIONS)
def test_place(name: str, operation: str) -> None:
    location, places = LOCATIONS[name]
    text = program(OPERATIONS[operation], location)
    finding, rendered = finding_of(text)
    first, *others = [pipeline.Location(*place) for place in places]
    assert finding.accesses[-1].location == first
    told = [note.location for note in finding.notes if note.location.line]
    assert told == others
    assert rendered.startswith(f"{first}: error: ")
    shown = [line.strip() for line in rendered.splitlines() if line.startswith("    ")]
    lines = text.splitlines()
    expected = [lines[place[1] - 1].strip() for place in places if place[0] == "<string>"]
    assert shown == expected, "lines are shown of the program, and of no other file"


def test_no_line_of_a_file_that_is_there_but_is_not_the_program(tmp_path: Path) -> None:
    other = tmp_path / "other.mlir"
    other.write_text("one\ntwo\nthree\n")
    _, rendered = finding_of(program(OPERATIONS["cf.assert"], f'"{other}":2:1'))
    assert rendered.startswith(f"{other}:2:1: error: assertion failed")
    assert "two" not in rendered


def test_what_is_refused_is_in_its_file_too() -> None:
    operation = '%x = llvm.inline_asm has_side_effects "mov.u32 $0, 7;", "=r" : () -> i32'
    text = program(operation, LOCATIONS["a call"][0])
    with pytest.raises(pipeline.CompileError) as caught:
        finding_of(text)
    assert caught.value.diagnostics[0].location == pipeline.Location("callee.cc", 7, 9)


@pytest.mark.parametrize("name", ["a call", "a line"])
def test_errors_of_the_compiler_show_no_line_of_another_file(name: str) -> None:
    """The barrier in divergent control is in a file that is not there."""
    text = f"""\
gpu.module @m {{
  gpu.func @k(%o: memref<4xi32>) kernel attributes {{known_block_size = array<i32: 64, 1, 1>}} {{
    %c9 = arith.constant 9 : index
    %tx = gpu.thread_id x
    %few = arith.cmpi ult, %tx, %c9 : index
    scf.if %few {{
      gpu.barrier loc({LOCATIONS[name][0]})
    }}
    gpu.return
  }}
}}
"""
    with pytest.raises(pipeline.CompileError) as caught:
        pipeline.compile(text, until="llvm", sync="keep")
    first = pipeline.Location(*LOCATIONS[name][1][0])
    assert first in [item.location for item in caught.value.diagnostics]
    assert "gpu.barrier loc" not in str(caught.value)
    (verdict,) = pipeline.check(text).kernels
    assert first in [finding.at.location for finding in verdict.findings]


def test_what_has_no_place_has_that_of_what_it_is_in() -> None:
    finding, _ = finding_of(program(OPERATIONS["memref.store"], "unknown"))
    assert finding.accesses[-1].location == pipeline.Location("<string>", 2, 3)


# --- kernels that have become one -----------------------------------------------------------------

LOOKUP = """\
  %{r} = linalg.generic {{indexing_maps = [#id, #id], iterator_types = ["parallel"]}}
      ins(%{i} : tensor<3xi64>) outs(%{o} : tensor<3xf32>) {{
  ^bb0(%a: i64, %b: f32):
    %0 = arith.index_cast %a : i64 to index
    %1 = tensor.extract %x[%0] : tensor<5xf32>
    linalg.yield %1 : f32
  }} -> tensor<3xf32>
"""


def lookups(count: int, between: str = "") -> str:
    """Return a program of look-ups that are alike, in kernels of their own if `between` says so."""
    numbered = range(count)
    indices = ", ".join(f"%i{n}: tensor<3xi64>, %o{n}: tensor<3xf32>" for n in numbered)
    kinds = ", ".join(["tensor<3xf32>"] * count)
    results = ", ".join(f"%r{n}" for n in numbered)
    body = between.join(LOOKUP.format(r=f"r{n}", i=f"i{n}", o=f"o{n}") for n in numbered)
    return f"""\
#id = affine_map<(i) -> (i)>
func.func @main(%x: tensor<5xf32>, {indices}) -> ({kinds}) {{
{body}  return {results} : {kinds}
}}
"""


@pytest.mark.parametrize("count", [2, 3, 5])
def test_every_place_of_a_merged_kernel(count: int) -> None:
    text = lookups(count)
    lines = text.splitlines()
    extracts = [n for n, line in enumerate(lines, start=1) if "tensor.extract" in line]
    module = pipeline.compile(text)
    for faulty in range(count):
        values = [np.arange(5, dtype=np.float32)]
        for number in range(count):
            indices = np.array([0, 1, 9 if number == faulty else 2])
            values += [indices, np.zeros(3, np.float32)]
        with pytest.raises(pipeline.MemoryAccessError) as caught:
            module.run(*values, check="all")
        for finding in caught.value.findings:
            places = [access.location for access in finding.accesses]
            places += [note.location for note in finding.notes]
            named = {place.line for place in places if place.line}
            assert extracts[faulty] in named, caught.value
            assert named <= set(extracts), caught.value
        assert f"    {lines[extracts[faulty] - 1].strip()}" in str(caught.value)


MERGED = """\
module attributes {{gpu.container_module}} {{
  func.func @main(%a: memref<8xi32>, %b: memref<8xi32>, %n: index, %m: index) {{
    %c1 = arith.constant 1 : index
{launches}
    return
  }}
{kernels}}}
"""


def merged(count: int) -> str:
    launches = "\n".join(
        f"    gpu.launch_func @m{n}::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)\n"
        f"        args({'%a' if n < count - 1 else '%b'} : memref<8xi32>, "
        f"{'%n' if n < count - 1 else '%m'} : index)"
        for n in range(count)
    )
    kernels = "".join(
        f"""\
  gpu.module @m{n} {{
    gpu.func @k(%a: memref<8xi32>, %n: index) kernel {{
      %c0 = arith.constant 0 : index
      %x = memref.load %a[%n] : memref<8xi32>
      memref.store %x, %a[%c0] : memref<8xi32>
      gpu.return
    }}
  }}
"""
        for n in range(count)
    )
    return MERGED.format(launches=launches, kernels=kernels)


@pytest.mark.parametrize("count", [2, 3, 20])
def test_places_of_merged_gpu_modules(count: int) -> None:
    text = merged(count)
    lines = [n for n, line in enumerate(text.splitlines(), start=1) if "memref.load" in line]
    module = pipeline.compile(text, until="llvm", sync="keep", verify=False)
    assert len(module.kernels) == 1
    *_, report = module.emulate(numbers(8), numbers(8), 0, 9)
    (finding,) = report.findings
    (access,) = finding.accesses
    others = [note.location.line for note in finding.notes if note.location.line]
    assert [access.location.line, *others] == lines
    assert report.rendered.count("%x = memref.load %a[%n]") == count


def test_errors_about_merged_kernels_name_every_place() -> None:
    """A barrier that few threads get to is in both kernels, of which one is compiled."""
    kernels = "".join(
        f"""\
  gpu.module @m{number} {{
    gpu.func @k(%n: index) kernel attributes {{known_block_size = array<i32: 64, 1, 1>}} {{
      %tx = gpu.thread_id x
      %few = arith.cmpi ult, %tx, %n : index
      scf.if %few {{
        gpu.barrier
      }}
      gpu.return
    }}
  }}
"""
        for number in range(3)
    )
    launches = "".join(
        f"    gpu.launch_func @m{number}::@k blocks in (%c1, %c1, %c1)\n"
        "        threads in (%c64, %c1, %c1) args(%n : index)\n"
        for number in range(3)
    )
    text = f"""\
module attributes {{gpu.container_module}} {{
  func.func @main(%n: index) {{
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
{launches}    return
  }}
{kernels}}}
"""
    lines = [n for n, line in enumerate(text.splitlines(), start=1) if "gpu.barrier" in line]
    with pytest.raises(pipeline.CompileError) as caught:
        pipeline.compile(text, until="llvm", sync="keep")
    errors = [item for item in caught.value.diagnostics if item.location.line == lines[0]]
    assert errors
    assert [note.location.line for note in errors[0].notes][-2:] == lines[1:]
    assert str(caught.value).count("        gpu.barrier\n") >= 3
