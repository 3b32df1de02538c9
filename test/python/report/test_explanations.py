"""What explanations tell of programs of all classes."""

from __future__ import annotations

import functools
import hashlib
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

import pipeline
from pipeline.report.rendering import PARTS, find_template
from pipeline.report.schema import SCHEMA, write_schema
from report.explained_programs import ATTENTION, DYNAMIC, OF_THE_USER, PROGRAMS

each = pytest.mark.parametrize("name", PROGRAMS)


@functools.cache
def explain(name: str) -> pipeline.Explanation:
    return pipeline.explain(PROGRAMS[name])


@functools.cache
def document(name: str) -> Any:
    return json.loads(explain(name).json())


def stage(of: Any, name: str) -> Any:
    return next(one for one in of["stages"] if one["name"] == name)


def test_schema_is_that_of_the_records() -> None:
    assert SCHEMA.read_text() == write_schema(), "python -m pipeline.report.schema writes it"
    Draft202012Validator.check_schema(json.loads(SCHEMA.read_text()))


@each
def test_document_has_its_schema(name: str) -> None:
    schema = json.loads(SCHEMA.read_text())
    Draft202012Validator(schema).validate(document(name))


@each
def test_program_is_compiled_as_ever(name: str) -> None:
    """Lines that are kept, and locations in another text, change no instruction."""
    plain, explained = pipeline.compile(PROGRAMS[name]), explain(name).module
    assert explained.ptx == plain.ptx
    assert explained.texts["ptx"] == stage(document(name), "ptx")["text"] + "\n"
    digest = document(name)["provenance"]["ptx_sha256"]
    assert digest == hashlib.sha256(plain.ptx.encode()).hexdigest()
    kernels = {one["name"]: one for one in document(name)["kernels"]}
    for kernel in plain.kernels.values():
        taken = kernels[kernel.name]["resources"]
        assert taken is None or taken["registers"] == kernel.registers
        assert taken is None or taken["spill_load_bytes"] == kernel.resources.spill_load_bytes


@each
def test_each_part_is_there(name: str) -> None:
    page = explain(name).html()
    for number, (part, title) in enumerate(PARTS, 1):
        assert f'<section id="{part}"' in page
        assert f"{number}. {title}" in page
    assert not re.search(r"""(?:src|href)=["'](?!#|data:)""", page), "nothing is fetched"


@each
def test_stages_are_linked(name: str) -> None:
    """What is executed is of a line of stage ``gpu``, and this of one of the program."""
    found = document(name)
    gpu, ptx = stage(found, "gpu"), stage(found, "ptx")
    lines = gpu["text"].splitlines()
    for one in found["stages"]:
        count = len(one["text"].splitlines())
        assert all(0 < line <= len(lines) for of in one["gpu_lines"] for line in of), one["name"]
        assert len(one["gpu_lines"]) <= count
    instructions = [
        (text, of)
        for text, of in zip(ptx["text"].splitlines(), ptx["gpu_lines"], strict=False)
        if text.strip().endswith(";") and "\t" in text and not text.strip().startswith(".")
    ]
    linked = [of for _, of in instructions if of]
    assert len(linked) >= 0.6 * len(instructions)
    source = len(stage(found, "source")["text"].splitlines())
    assert all(0 < line <= source for of in ptx["source_lines"] for line in of)
    assert any(ptx["source_lines"])


def test_instructions_are_linked_to_operations_that_make_them() -> None:
    found = document("synchronised")
    lines = stage(found, "gpu")["text"].splitlines()
    words = {"bar.sync": "gpu.barrier", "st.shared": "memref.store", "ld.shared": "memref.load"}
    ptx = stage(found, "ptx")
    for word, op in words.items():
        (of, *_) = [
            of
            for text, of in zip(ptx["text"].splitlines(), ptx["gpu_lines"], strict=False)
            if word in text
        ]
        assert [op in lines[line - 1] for line in of] == [True]
    (line, *_) = [
        of
        for text, of in zip(ptx["text"].splitlines(), ptx["source_lines"], strict=False)
        if "st.shared" in text
    ]
    source = stage(found, "source")["text"].splitlines()
    assert ["memref.store %x" in source[number - 1] for number in line] == [True]


def test_machine_code_is_linked() -> None:
    found = document("synchronised")
    if "sass" in found["missing"]:
        pytest.skip(found["missing"]["sass"])
    code = stage(found, "sass")
    lines = stage(found, "gpu")["text"].splitlines()
    for text, of in zip(code["text"].splitlines(), code["gpu_lines"], strict=True):
        if re.search(r" STS\b", text):
            assert ["memref.store" in lines[line - 1] for line in of] == [True]
        if "BAR.SYNC" in text:
            assert ["gpu.barrier" in lines[line - 1] for line in of] == [True]


# --- parts ----------------------------------------------------------------------------------------


def test_resources_and_what_limits_blocks() -> None:
    (kernel,) = document("matmul")["kernels"]
    if kernel["resources"] is None:
        pytest.skip(kernel["missing"]["resources"])
    residence = kernel["residence"]
    limits = {name: residence[f"by_{name}"] for name in ("registers", "memory", "threads", "slots")}
    assert residence["blocks"] == min(limits.values())
    assert [name for name in limits if limits[name] == residence["blocks"]] == residence["limiters"]


def test_memory_has_slots_lives_and_layouts() -> None:
    (kernel,) = document("matmul")["kernels"]
    memory, (ring,) = kernel["memory"], kernel["rings"]
    for buffer in memory["buffers"]:
        assert buffer["slots"] == ring["slots"]
        assert buffer["slots"] * buffer["slot_bytes"] == buffer["bytes"]
        assert buffer["life"]["first"] < buffer["life"]["last"]
        assert buffer["layout"].startswith("rows padded") or "swizzled" in buffer["layout"]
        assert buffer["wavefronts_after"] <= buffer["wavefronts_before"]
    total = memory["static_bytes"] + memory["dynamic_bytes"]
    assert memory["lower_bound"] is None or memory["lower_bound"] <= total


def test_dynamic_memory_is_told_of() -> None:
    (kernel,) = document("dynamic")["kernels"]
    assert [buffer["bytes"] for buffer in kernel["memory"]["buffers"]] == [None]


def test_inserted_barrier_has_its_pair_and_the_race_without_it() -> None:
    (kernel,) = document("of_the_user")["kernels"]
    (barrier,) = kernel["barriers"]
    assert (barrier["origin"], barrier["without"]) == ("inserted", "RACE")
    assert (barrier["barriers"], barrier["needed"], barrier["is_optimal"]) == (1, 1, True)
    (pair,) = barrier["pairs"]
    source = stage(document("of_the_user"), "source")["text"].splitlines()
    assert "memref.store %x" in source[pair["first"]["place"]["line"] - 1]
    assert "memref.load %s" in source[pair["second"]["place"]["line"] - 1]
    for witness in (pair, barrier["witnesses"][0]):
        (a, *_), (b, *_) = witness["threads"]
        assert 4 * a == witness["meeting"][0] == 4 * (127 - b)
        assert witness["is_in_bytes"]


def test_barriers_of_the_program_are_told_apart() -> None:
    """Of two, one is needed, and the other orders nothing."""
    (kernel,) = document("synchronised")["kernels"]
    assert [barrier["origin"] for barrier in kernel["barriers"]] == ["given", "given"]
    assert [barrier["without"] for barrier in kernel["barriers"]] == ["RACE", "SAFE"]


@each
def test_barriers_that_are_inserted_are_needed(name: str) -> None:
    for kernel in document(name)["kernels"]:
        for barrier in kernel["barriers"]:
            if barrier["origin"] == "inserted" and barrier["is_optimal"]:
                assert barrier["without"] in ("RACE", "MAYBE")
                assert barrier["witness_count"] >= len(barrier["witnesses"]) > 0


@each
def test_barriers_are_those_of_the_text(name: str) -> None:
    found = document(name)
    lines = stage(found, "gpu")["text"].splitlines()
    told = [barrier["site"]["gpu_line"] for one in found["kernels"] for barrier in one["barriers"]]
    assert told == [number for number, line in enumerate(lines, 1) if "gpu.barrier" in line]


def kernel_decisions(name: str) -> list[Any]:
    return [one for one in document("matmul")["decisions"] if one["name"] == name]


def test_pipelines_have_slots_and_waits() -> None:
    (kernel,) = document("matmul")["kernels"]
    (ring,) = kernel["rings"]
    assert (ring["engine"], ring["ahead"]) == ("cp.async", ring["slots"] - 1)
    (staged,) = kernel_decisions("StagedOperands")
    tile = staged["arguments"]["Tile"]
    assert ring["iterations"] == 256 // int(tile.split("x")[-1])
    roles = {one["role"] for one in kernel["operations"]}
    assert {"copy", "commit", "wait", "barrier"} <= roles
    waits = [one for one in kernel["operations"] if one["role"] == "wait" and one["loops"]]
    assert waits
    assert all(wait["pending"] == ring["slots"] - 2 for wait in waits)


def test_accesses_are_those_of_a_run() -> None:
    (kernel,) = document("of_the_user")["kernels"]
    costs = {(one["space"], one["kind"]): one for one in kernel["accesses"]}
    assert costs["global", "read"]["sectors"] == 16 == costs["global", "read"]["ideal_sectors"]
    assert costs["shared", "write"]["wavefronts"] == 4
    lines = stage(document("of_the_user"), "gpu")["text"].splitlines()
    for (_, kind), one in costs.items():
        op = {"read": "memref.load", "write": "memref.store"}[kind]
        assert op in lines[one["gpu_line"] - 1]


@each
def test_what_was_not_run_says_why(name: str) -> None:
    for kernel in document(name)["kernels"]:
        assert bool(kernel["accesses"]) == ("accesses" not in kernel["missing"])
        assert bool(kernel["runs"]) == ("runs" not in kernel["missing"])


def test_values_can_be_given() -> None:
    import numpy as np

    arguments = [np.zeros(256, np.float32), 256]
    (kernel,) = pipeline.explain(DYNAMIC, arguments=arguments, assemble=False).document.kernels
    assert kernel.runs[0].findings == ()
    assert kernel.runs[0].blocks_run == 1


def test_large_arrays_take_no_time() -> None:
    """Of floating-point numbers only the first ones are random; the others are never written."""
    import numpy as np

    from pipeline.runtime.random_values import make_elements

    random = np.random.default_rng(0)
    values = make_elements((4, 1 << 10), np.dtype(np.float32), random, most=5)
    assert np.count_nonzero(values) == np.count_nonzero(values[0, :5]) == 5
    whole = make_elements((4, 1 << 10), np.dtype(np.int32), random, most=5)
    assert np.all(whole != 0)
    assert np.all(make_elements((5,), np.dtype(np.float16), random, most=5) != 0)


def test_alternatives_have_the_chosen_one_first() -> None:
    (choice,) = document("matmul")["choices"]
    assert choice["schedule"] == "Staged"
    assert [one["is_chosen"] for one in choice["alternatives"]].count(True) == 1
    assert choice["alternatives"][0]["is_chosen"]
    costs = [one["cost"] for one in choice["alternatives"] if one["cost"] is not None]
    assert costs[0] == min(costs)
    schedule = stage(document("matmul"), "transform")["text"].splitlines()
    lines = [schedule[number - 1] for number in choice["schedule_lines"]]
    assert any("workgroup-tile-kernel" in line for line in lines)
    assert any("workgroup-form-launches" in line for line in lines)


@each
def test_statements_are_those_of_the_verdict(name: str) -> None:
    found = document(name)
    verdicts = {one["name"]: one["verdict"]["verdict"] for one in found["kernels"]}
    assert set(verdicts.values()) == {"SAFE"}
    proved = {one["kernel"] for one in found["statements"] if one["standing"] == "proved"}
    assert proved == set(verdicts)
    assert any(one["standing"] == "assumed" for one in found["statements"])


def test_several_kernels_are_told_apart() -> None:
    """Two kernels of one name before they get their own, with a barrier in the second only."""
    module = "\n".join(
        [
            OF_THE_USER.replace("@kernels", "@first").replace("%s[%u]", "%s[%t]"),
            OF_THE_USER.replace("@kernels", "@second"),
        ]
    )
    first, second = pipeline.explain(module, assemble=False).to_json()["kernels"]
    assert (len(first["barriers"]), len(second["barriers"])) == (0, 1)
    assert first["name"] != second["name"]
    assert [one["memory"]["buffers"][0]["place"]["line"] for one in (first, second)] == [4, 21]


# --- texts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["matmul", "of_the_user"])
def test_explanations_are_deterministic(name: str) -> None:
    again = pipeline.explain(PROGRAMS[name])
    assert again.json() == explain(name).json()
    assert again.html() == explain(name).html()
    assert again.remarks() == explain(name).remarks()


def test_hostile_names_stay_text(tmp_path: Path) -> None:
    evil = "</script><script>alert(1)</script>'\"&"
    program = OF_THE_USER.replace("@reverse", f'@"{evil}"'.replace('"&', "&"))
    path = tmp_path / "<img src=x onerror=alert(1)>.mlir"
    path.write_text(program)
    explained = pipeline.explain(path)
    page = explained.html()
    assert page.count("<script") == 2
    assert "<img" not in page
    assert "alert(1)" in page
    json.loads(explained.json())


def test_remarks_are_read_by_llvm(tmp_path: Path) -> None:
    tool = shutil.which("llvm-remarkutil-22") or shutil.which("llvm-remarkutil")
    if not tool:
        pytest.skip("llvm-remarkutil is not installed")
    path, binary = tmp_path / "remarks.yaml", tmp_path / "remarks.bits"
    explained = explain("matmul")
    path.write_text(explained.remarks())
    subprocess.run([tool, "yaml2bitstream", path, "-o", binary], check=True)
    text = subprocess.check_output([tool, "bitstream2yaml", binary, "-o", "-"], text=True)
    assert text.count("\n--- !") + 1 == len(explained.document.decisions)
    assert "Pass:            workgroup-lower-rings" in text


def test_errors_are_those_of_a_compilation() -> None:
    broken = OF_THE_USER.replace("%s[%u]", "%s[%nothing]")
    with pytest.raises(pipeline.CompileError) as compiled:
        pipeline.compile(broken)
    with pytest.raises(pipeline.CompileError) as explained:
        pipeline.explain(broken)
    assert str(explained.value) == str(compiled.value)


def test_later_errors_are_located_in_the_program() -> None:
    """Behind stage ``gpu`` locations are in its text, which is not the program's."""
    assembly = '%z = llvm.inline_asm has_side_effects "mov.b32 $0, 1;", "=z" : () -> i32'
    program = OF_THE_USER.replace("gpu.return", f"{assembly}\n    gpu.return")
    with pytest.raises(pipeline.CompileError) as compiled:
        pipeline.compile(program)
    assert "<string>:14:" in str(compiled.value)
    assert str(pipeline.explain(program).error) == str(compiled.value)


def test_passes_of_schedules_tell_what_they_change() -> None:
    """The passes that a schedule applies come first, then those of the kernels' memory."""
    passes = [one["name"] for one in document("matmul")["passes"]]
    applied = ("workgroup-form-kernels", "workgroup-tile-kernel", "workgroup-stage-operands")
    places = [passes.index(one) for one in (*applied, "workgroup-form-launches")]
    assert places == sorted(places)
    assert places[-1] < passes.index("workgroup-pack-memory")
    assert all(one["added"] or one["removed"] for one in document("matmul")["passes"])


def test_missing_template_engine_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    explained = pipeline.explain(OF_THE_USER, assemble=False, emulate=False)
    find_template.cache_clear()
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(pipeline.ToolError, match=r"mlir-workgroup\[explain\]"):
        explained.html()
    assert explained.json()


def test_missing_template_is_named() -> None:
    with pytest.raises(pipeline.ToolError, match=r"template none\.html of reports is missing"):
        find_template("none.html")


def test_attention_is_made_of_two_products() -> None:
    (choice, *_) = pipeline.explain(ATTENTION, assemble=False, emulate=False).document.choices
    assert choice.roofline is not None
    assert choice.roofline.work >= 2 * 32 * 64 * 32


BARRIERS = """
#wg = #gpu.address_space<workgroup>
gpu.module @kernels {
  gpu.func @other(%a: memref<64xf32>) workgroup(%s: memref<64xf32, #wg>)
      kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    %x = memref.load %a[%t] : memref<64xf32>
    memref.store %x, %s[%t] : memref<64xf32, #wg>
    gpu.barrier
    %c0 = arith.constant 0 : index
    %y = memref.load %s[%c0] : memref<64xf32, #wg>
    memref.store %y, %a[%t] : memref<64xf32>
    gpu.return
  }
  gpu.func @steps(%a: memref<64xf32>, %n: index)
      workgroup(%s: memref<64xf32, #wg>, %r: memref<64xf32, #wg>)
      kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c63 = arith.constant 63 : index
    %u = arith.subi %c63, %t : index
    scf.for %k = %c0 to %n step %c1 {
      %x = memref.load %a[%t] : memref<64xf32>
      memref.store %x, %s[%t] : memref<64xf32, #wg>
      gpu.barrier
      %y = memref.load %s[%u] : memref<64xf32, #wg>
      memref.store %y, %r[%t] : memref<64xf32, #wg>
      gpu.barrier
      %z = memref.load %r[%u] : memref<64xf32, #wg>
      memref.store %z, %a[%t] : memref<64xf32>
      gpu.barrier
    }
    gpu.barrier
    gpu.return
  }
}
"""


def remove(text: str, number: int) -> str:
    """Return the program without a barrier, whose line stays."""
    parts = text.split("gpu.barrier")
    return "gpu.barrier".join(parts[:number]) + "// none" + "gpu.barrier".join(parts[number:])


def test_what_barriers_are_for_is_what_is_wrong_without_them() -> None:
    """All are tried on what is known of accesses; each is compared with a program that lacks it."""
    kernels = pipeline.explain(
        BARRIERS, sync="keep", emulate=False, assemble=False
    ).document.kernels
    barriers = [barrier for kernel in kernels for barrier in kernel.barriers]
    assert len(barriers) == BARRIERS.count("gpu.barrier")
    assert {barrier.without for barrier in barriers} == {"RACE", "SAFE"}
    for number, barrier in enumerate(barriers, 1):
        lacking = pipeline.check(remove(BARRIERS, number)).kernels
        found = [finding for kernel in lacking for finding in kernel.findings]
        assert barrier.without == max((one.verdict for one in found), default="SAFE")
        assert barrier.witness_count == len(found)
        told = [
            (one.message, one.second.place, one.threads, one.meeting) for one in barrier.witnesses
        ]
        assert [(message, place.line if place else 0, *rest) for message, place, *rest in told] == [
            (one.message, one.at.location.line, one.threads, one.place)
            for one in found[: len(told)]
        ]
