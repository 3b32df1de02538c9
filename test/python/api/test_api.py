"""``pipeline.compile``: what goes in and what comes out."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import pipeline
from support import programs
from support.chips import CHIPS


def grid_of(module: pipeline.Module) -> tuple[int, int, int] | None:
    (kernel,) = module.kernels.values()
    return kernel.grid


def failure(source: str | Path, **options: Any) -> pipeline.CompileError:
    with pytest.raises(pipeline.CompileError) as caught:
        pipeline.compile(source, **options)
    return caught.value


# --- sources --------------------------------------------------------------------------------------


def test_source_is_text_or_a_file(tmp_path: Path) -> None:
    file = tmp_path / "store.mlir"
    file.write_text(programs.STORE)
    texts = {pipeline.compile(source).ptx for source in (programs.STORE, str(file), file)}
    assert len(texts) == 1
    assert ".entry store(" in texts.pop()


def test_string_without_newline_is_a_file_name() -> None:
    with pytest.raises(pipeline.UsageError, match=r"^module \{\}: error: cannot be read: No such"):
        pipeline.compile("module {}")


@pytest.mark.parametrize("name", [".", "missing.mlir", "nul\0byte"])
def test_unreadable_file(name: str) -> None:
    with pytest.raises(pipeline.UsageError, match="error: cannot be read: "):
        pipeline.compile(name)


def test_empty_name() -> None:
    with pytest.raises(pipeline.UsageError, match=r"^error: no program: the name"):
        pipeline.compile("")


def test_program_and_schedule_side_by_side() -> None:
    """What holds both is a module of its own; the program is the module next to the schedule."""
    program = f"module {{\n{programs.SCHEDULABLE}}}\n{programs.schedule(16)}"
    (kernel,) = pipeline.compile(program).kernels.values()
    assert kernel.grid == (4, 4, 1)


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (programs.SCHEDULABLE, "is one of several modules in the program"),
        (programs.STORE, "stands in a nested module, which is not compiled"),
    ],
)
def test_several_programs(program: str, message: str) -> None:
    with pytest.raises(pipeline.CompileError, match=message):
        pipeline.compile(f"module {{\n{program}}}\n" * 2)


def test_path_of_one_dash_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A Path is always a file; only the string ``-`` is the standard input."""
    monkeypatch.chdir(tmp_path)
    Path("-").write_text(programs.STORE)
    assert list(pipeline.compile(Path("-")).kernels) == ["store"]


def test_windows_line_ends() -> None:
    module = pipeline.compile(programs.STORE.replace("\n", "\r\n"))
    assert module.ptx == pipeline.compile(programs.STORE).ptx


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("module {\n  a\0b\n}\n", 2, 4, "NUL"),
        ("module {\n}\n\udc80", 3, 1, "UTF-8"),
    ],
)
def test_text_that_mlir_cannot_hold(text: str, line: int, column: int, message: str) -> None:
    error = failure(text)
    assert error.stage == "read"
    assert message in error.diagnostics[0].message
    assert error.diagnostics[0].location == pipeline.Location("<string>", line, column)


@pytest.mark.parametrize("source", [3, None, b"module {\n}\n", [programs.STORE]])
def test_source_of_a_wrong_type(source: Any) -> None:
    with pytest.raises(TypeError):
        pipeline.compile(source)


# --- options --------------------------------------------------------------------------------------


@pytest.mark.parametrize("chip", CHIPS)
def test_chip(chip: str) -> None:
    module = pipeline.compile(programs.STORE, chip=chip)
    assert module.chip == chip
    assert f".target {chip}\n" in module.ptx


def test_chip_defaults_to_the_target_of_the_program() -> None:
    assert pipeline.compile(programs.STORE).chip == "sm_80"
    text = programs.STORE.replace("@kernels", '@kernels [#nvvm.target<chip = "sm_90">]')
    assert pipeline.compile(text).chip == "sm_90"
    assert "sm_80" in str(failure(text, chip="sm_80"))


@pytest.mark.parametrize("until", ["gpu", "nvvm", "llvm", "ptx"])
def test_chip_is_known_after_every_stage(until: Any) -> None:
    assert pipeline.compile(programs.STORE, chip="sm_90", until=until).chip == "sm_90"


@pytest.mark.parametrize("chip", ["sm_70", "SM_80", "80", " ", "gfx90a"])
def test_unknown_chip(chip: str) -> None:
    with pytest.raises(pipeline.UsageError, match=f"unknown chip '{chip}'; there are sm_75, "):
        pipeline.compile(programs.STORE, chip=chip)


@pytest.mark.parametrize("as_file", [str, Path])
def test_schedule_from_a_file(tmp_path: Path, as_file: Callable[[Path], str | Path]) -> None:
    file = tmp_path / "schedule.mlir"
    file.write_text(programs.schedule(32))
    module = pipeline.compile(programs.SCHEDULABLE, schedule=as_file(file))
    assert grid_of(module) == (2, 2, 1)


@pytest.mark.parametrize(
    ("schedule", "grid"),
    [
        (None, (4, 4, 1)),
        ("auto", (4, 4, 1)),
        (programs.schedule(32), (2, 2, 1)),
    ],
)
def test_explicit_schedule_replaces_that_of_the_program(
    schedule: str | None, grid: tuple[int, int, int]
) -> None:
    module = pipeline.compile(programs.SCHEDULED, schedule=schedule, keep_texts=True)
    assert grid_of(module) == grid
    assert all("transform." not in text for text in module.texts.values())


def test_schedule_none_skips_that_of_the_program() -> None:
    error = failure(programs.SCHEDULED, schedule="none")
    assert "no kernel" in str(error)
    assert "--schedule" in str(error)


def test_schedule_none_compiles_what_is_launched_already() -> None:
    module = pipeline.compile(programs.STORE + programs.schedule(16), schedule="none")
    assert list(module.kernels) == ["store"]


def test_file_named_none_is_a_schedule(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("none").write_text(programs.schedule(32))
    assert grid_of(pipeline.compile(programs.SCHEDULABLE, schedule=Path("none"))) == (2, 2, 1)


@pytest.mark.parametrize(
    ("schedule", "line", "message"),
    [
        ("module {\n}\n", 1, "has no transform.named_sequence '@__transform_main'"),
        ("module {\n  foo\n}\n", 2, "custom op 'foo' is unknown"),
        (programs.schedule(16).replace("linalg.matmul", "linalg.dot"), 3, "target handle"),
    ],
)
def test_schedule_that_fails(schedule: str, line: int, message: str) -> None:
    error = failure(programs.SCHEDULABLE, schedule=schedule)
    assert error.stage == "schedule"
    assert message in str(error)
    assert error.diagnostics[0].location.file == "<schedule>"
    assert error.diagnostics[0].location.line >= line


def test_schedule_that_is_missing() -> None:
    with pytest.raises(pipeline.UsageError, match=r"^missing\.mlir: error: cannot be read"):
        pipeline.compile(programs.SCHEDULABLE, schedule="missing.mlir")


def test_barriers_are_explained() -> None:
    """Each has the accesses that it orders, and what shows that there have to be as many."""
    (barrier,) = pipeline.compile(programs.REVERSED, until="gpu").barriers
    (pair,) = barrier["pairs"]
    lines = programs.REVERSED.splitlines()
    assert "memref.copy" in lines[pair["first"]["line"] - 1]
    assert "memref.load" in lines[pair["second"]["line"] - 1]
    writer, reader = pair["threads"]
    assert writer[0] + reader[0] == 63
    assert pair["byte"] == [4 * writer[0]]
    counts = {"barriers": 1, "needed": 1, "optimal": True}
    assert barrier == {"pairs": [pair], "certificate": pair, **counts}
    text = programs.REVERSED.replace("memref.copy %a, %b", "gpu.barrier\n    memref.copy %a, %b")
    assert len(pipeline.compile(text, until="gpu").barriers) == 1
    assert not pipeline.compile(programs.REVERSED, until="gpu", sync="keep").barriers


def count_barriers(text: str, sync: Any) -> int:
    return pipeline.compile(text, sync=sync).ptx.count("bar.sync")


def test_sync() -> None:
    """Copies need barriers around them; who asks for more than those can have them removed."""
    assert count_barriers(programs.REVERSED, "insert") == 1
    assert count_barriers(programs.REVERSED, "minimize") == 1
    assert count_barriers(programs.REVERSED, "keep") == 1
    twice = programs.REVERSED.replace("memref.store", "gpu.barrier\n    memref.store")
    assert count_barriers(twice, "insert") == 2
    assert count_barriers(twice, "minimize") == 1
    assert count_barriers(twice, "keep") == 2


def test_sync_that_is_refused() -> None:
    wrong: Any = "maximize"
    with pytest.raises(
        pipeline.UsageError, match="unknown sync 'maximize'; there are auto, insert, keep"
    ):
        pipeline.compile(programs.STORE, sync=wrong)


def test_verify() -> None:
    assert "barrier in divergent control flow" in str(failure(programs.DIVERGENT))
    module = pipeline.compile(programs.DIVERGENT, verify=False)
    assert "bar.sync" in module.ptx
    (warning,) = module.diagnostics
    assert (warning.severity, warning.message[:34]) == (
        "warning",
        "barrier in divergent control flow:"[:34],
    )


def test_races() -> None:
    """What no barrier can order is refused, and taken as it is without verification."""
    error = failure(programs.RACING)
    assert "cannot synchronize 'memref.store' and 'memref.store'" in str(error)
    assert "st.global" in pipeline.compile(programs.RACING, verify=False).ptx
    assert not pipeline.compile(programs.REVERSED).diagnostics


def test_verify_false_keeps_the_other_refusals() -> None:
    with pytest.raises(pipeline.ResourceError):
        pipeline.compile(programs.TOO_LARGE, verify=False)


@pytest.mark.parametrize(
    ("until", "sign"),
    [
        ("gpu", "gpu.func @main_kernel"),
        ("nvvm", "llvm.func @main_kernel"),
        ("llvm", "define ptx_kernel void @main_kernel"),
        ("ptx", ".visible .entry main_kernel"),
    ],
)
def test_until(until: Any, sign: str) -> None:
    module = pipeline.compile(programs.SCHEDULED, until=until)
    assert list(module.texts) == [until]
    assert sign in module.texts[until]
    assert list(module.seconds)[-1] == until


def test_unknown_stage() -> None:
    with pytest.raises(pipeline.UsageError, match="unknown stage 'cubin'; there are gpu, nvvm"):
        pipeline.compile(programs.STORE, until="cubin")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "use",
    [
        lambda module: module.ptx,
        lambda module: module.cubin,
        lambda module: module.ptxas_log,
        lambda module: module.kernels["store"].registers,
    ],
    ids=["ptx", "cubin", "ptxas_log", "registers"],
)
def test_nothing_is_assembled_that_was_not_compiled(use: Callable[[pipeline.Module], Any]) -> None:
    module = pipeline.compile(programs.STORE, until="llvm")
    with pytest.raises(pipeline.UsageError, match="no PTX"):
        use(module)


def test_keep_texts() -> None:
    module = pipeline.compile(programs.SCHEDULED, keep_texts=True)
    assert list(module.texts) == ["schedule", "gpu", "nvvm", "llvm", "ptx"]
    assert "gpu.launch blocks" in module.texts["schedule"]
    assert "transform" not in module.texts["schedule"]
    assert module.texts["ptx"] == module.ptx
    assert all(text.endswith("\n") for text in module.texts.values())


def test_snapshots() -> None:
    assert pipeline.compile(programs.SCHEDULED).snapshots == ()
    snapshots = pipeline.compile(programs.SCHEDULED, snapshots=True).snapshots
    passes = [snapshot.pass_ for snapshot in snapshots]
    assert passes.index("workgroup-sink-allocs") < passes.index("workgroup-lower-copies")
    assert passes.index("workgroup-lower-copies") < passes.index("convert-gpu-to-nvvm")
    copies = snapshots[passes.index("workgroup-lower-copies")]
    assert copies.op == "builtin.module"
    assert "memref.copy" in copies.before
    assert "memref.copy" not in copies.after
    assert all(snapshot.before != snapshot.after for snapshot in snapshots)


def test_remarks() -> None:
    remarks = pipeline.compile(programs.WARNED).remarks
    copies = [remark for remark in remarks if remark.name == "LoweredCopy"]
    assert [remark.location.line for remark in copies] == [8, 9, 14, 15]
    assert {remark.kind for remark in copies} == {"passed"}
    assert {remark.category for remark in copies} == {"workgroup-lower-copies"}
    assert copies[0].arguments["Threads"] == "32"
    assert str(copies[0]).startswith("<string>:8:5: remark: [passed] workgroup-lower-copies: ")


def test_diagnostics_of_a_success() -> None:
    module = pipeline.compile(programs.WARNED)
    (warning,) = module.diagnostics
    assert warning.severity == "warning"
    assert "does not keep its contents" in warning.message
    assert warning.location == pipeline.Location("<string>", 5, 8)
    assert module.rendered.startswith(str(warning))
    assert pipeline.compile(programs.STORE).diagnostics == ()
    assert pipeline.compile(programs.STORE).rendered == ""


# --- kernels --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("launches", "grid", "block", "dynamic"),
    [
        ([(3, 32, 128)], (3, 1, 1), (32, 1, 1), 128),
        ([(3, 32, 0), (3, 32, 0)], (3, 1, 1), (32, 1, 1), 0),
        ([(3, 32, 0), (4, 32, 0)], None, (32, 1, 1), 0),
        ([(3, 32, 0), (3, 64, 16)], (3, 1, 1), None, None),
        ([(3, 32, 0), (4, 32, 0), (3, 32, 0)], None, (32, 1, 1), 0),
        ([(3, 32, 0), (4, 32, 0), (4, 32, 0)], None, (32, 1, 1), 0),
    ],
)
def test_sizes_that_all_launches_agree_on(
    launches: list[tuple[int, int, int]], grid: Any, block: Any, dynamic: int | None
) -> None:
    kernel = pipeline.compile(programs.launched(*launches)).kernels["store"]
    assert (kernel.grid, kernel.block, kernel.dynamic_shared_bytes) == (grid, block, dynamic)


def test_sizes_without_a_launch() -> None:
    kernel = pipeline.compile(programs.STORE).kernels["store"]
    assert (kernel.grid, kernel.block, kernel.dynamic_shared_bytes) == (None, None, None)


def test_arguments_and_parameters() -> None:
    (kernel,) = pipeline.compile(programs.DYNAMIC).kernels.values()
    array, number, scalar = kernel.arguments
    assert array.is_memref
    assert array.type == "memref<?x?xf32, strided<[?, 1], offset: ?>>"
    assert (array.element_type, array.shape, array.strides) == ("f32", (None, None), (None, 1))
    assert (array.offset, array.alignment) == (None, 16)
    assert (number.type, number.is_memref, number.shape) == ("index", False, ())
    assert (scalar.type, scalar.element_type, scalar.alignment) == ("f32", "f32", 1)
    # One bare pointer, then what the kernel uses of the rest; the extent along 0 it does not.
    parts = [(part.kind, part.argument, part.dim) for (part,) in map(parts_of, kernel.parameters)]
    assert parts == [
        ("pointer", 0, 0),
        ("value", 1, 0),
        ("value", 2, 0),
        ("offset", 0, 0),
        ("extent", 0, 1),
        ("stride", 0, 0),
    ]


def parts_of(parameter: pipeline.Parameter) -> tuple[pipeline.Part, ...]:
    return parameter.parts


def test_parameters_are_those_of_the_ptx() -> None:
    module = pipeline.compile(programs.DYNAMIC)
    (kernel,) = module.kernels.values()
    header = module.ptx[module.ptx.index(".entry") : module.ptx.index("{")]
    assert header.count(".param ") == len(kernel.parameters)
    assert header.count(".ptr") == 1


@pytest.mark.parametrize(
    ("types", "size"),
    [
        ((), 0),
        (("5xi32",), 20),
        (("5xi32", "4xi32"), 48),
        (("4xi32", "5xi32"), 36),
        (("3xi8", "1xi64", "7xi16"), 46),
    ],
)
def test_static_bytes_are_those_of_ptxas(types: tuple[str, ...], size: int) -> None:
    kernel = pipeline.compile(programs.buffers(*types)).kernels["buffers"]
    assert kernel.static_shared_bytes == size
    assert kernel.resources.static_shared_bytes == size
    assert kernel.registers == kernel.resources.registers > 0


def test_each_kernel_has_its_resources() -> None:
    text = programs.buffers("5xi32") + programs.STORE.replace("@kernels", "@more")
    module = pipeline.compile(text)
    assert list(module.kernels) == ["buffers", "store"]
    assert [kernel.static_shared_bytes for kernel in module.kernels.values()] == [20, 0]
    registers = [kernel.registers for kernel in module.kernels.values()]
    assert registers[0] > registers[1] > 0
    assert module.cubin.startswith(b"\x7fELF")
    assert "Compiling entry function 'store' for 'sm_80'" in module.ptxas_log


@pytest.mark.parametrize("name", ["a.b", "a b", "größe", "a-b", "1a"])
def test_kernel_name_that_ptx_does_not_allow(name: str) -> None:
    """MLIR allows any name: it gets one that PTX allows, or the kernel is refused."""
    try:
        module = pipeline.compile(programs.STORE.replace("@store", f'@"{name}"'))
    except pipeline.CompileError as error:
        message, line = error.diagnostics[0].message, error.diagnostics[0].location.line
    else:
        (kernel,) = module.kernels.values()
        assert kernel.registers > 0
        return
    assert name in message
    assert line == 2


def test_mathematical_functions() -> None:
    module = pipeline.compile(programs.SINE)
    assert module.cubin.startswith(b"\x7fELF")
    assert "__nv_sinf" not in module.ptx, "libdevice was not linked"


def test_passes() -> None:
    passes = pipeline.passes()
    assert {"workgroup-hoist-allocs", "workgroup-memory", "workgroup-to-nvvm"} <= passes.keys()
    assert all(summary for summary in passes.values())


# --- many at a time -------------------------------------------------------------------------------


def outcome(number: int) -> str:
    """Compile one of several programs, of which some fail."""
    texts = [programs.SCHEDULED, programs.WARNED, programs.DIVERGENT, programs.MALFORMED]
    text = texts[number % len(texts)]
    try:
        module = pipeline.compile(text, chip=CHIPS[number % len(CHIPS)], snapshots=True)
    except pipeline.CompileError as error:
        return str(error)
    return module.ptx + str(len(module.snapshots)) + str(module.remarks)


def test_threads_do_not_disturb_each_other() -> None:
    expected = [outcome(number) for number in range(8)]
    with ThreadPoolExecutor(8) as executor:
        results = list(executor.map(outcome, range(64)))
    assert results == expected * 8


def test_no_verification_is_loud() -> None:
    with pytest.warns(pipeline.UnverifiedWarning, match="not checked for data races"):
        pipeline.compile(programs.STORE, verify=False)
