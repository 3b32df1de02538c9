"""``Module.save`` and ``pipeline.load``: what comes back is what was compiled."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

import pipeline
from fuzzing.bundle import PROGRAM, make_arguments
from pipeline.bundles.archive import unpack
from support.examples import EXAMPLES


@pytest.fixture(scope="module")
def module() -> pipeline.Module:
    return pipeline.compile(PROGRAM)


@pytest.fixture
def path(module: pipeline.Module, tmp_path: Path) -> Path:
    path = tmp_path / "program.bundle"
    module.save(path)
    return path


def unzip(path: Path, folder: Path) -> Path:
    with zipfile.ZipFile(path) as archive:
        archive.extractall(folder)
    return folder


def test_module_comes_back(module: pipeline.Module, path: Path) -> None:
    loaded = pipeline.load(path)
    assert loaded.kernels == module.kernels
    assert loaded.plan == module.plan
    assert loaded.entries == module.entries
    assert loaded.workgroup_memory == module.workgroup_memory
    assert (loaded.ptx, loaded.chip) == (module.ptx, module.chip)
    (kernel,) = loaded.kernels.values()
    assert kernel.limits == module.kernels[kernel.name].limits
    assert dict(loaded.images) == {}
    assert loaded.variants == {"sm_80": loaded}


def test_results_are_the_same(module: pipeline.Module, path: Path) -> None:
    expected_args, args = make_arguments(), make_arguments()
    expected = module.run(*expected_args)
    results = pipeline.load(path).run(*args, backend="emulator", check="races")
    for result, wanted in zip((*results, *args), (*expected, *expected_args), strict=True):
        np.testing.assert_array_equal(result, wanted)
    assert not np.array_equal(args[1], make_arguments()[1])  # written in place


def test_kernel_by_itself(path: Path) -> None:
    (kernel,) = pipeline.load(path).kernels.values()
    a = np.arange(5, 11, dtype=np.int32)
    kernel.run(a, 3, grid=6, backend="emulator")
    np.testing.assert_array_equal(a, np.arange(8, 14))
    with pytest.raises(pipeline.UsageError, match=r"a grid of \(1, 65536, 1\), but it may be"):
        kernel.run(a, 3, grid=(1, 65536), backend="emulator")


@pytest.mark.parametrize("name", ["k-tiled-matmul.mlir", "softmax.mlir", "promoted-matmul.mlir"])
def test_examples(name: str, tmp_path: Path) -> None:
    """Tensor programs, workgroup memory, schedules."""
    module = pipeline.compile(EXAMPLES / name)
    module.save(tmp_path / "b")
    loaded = pipeline.load(tmp_path / "b")
    assert (loaded.kernels, loaded.plan) == (module.kernels, module.plan)
    assert loaded.workgroup_memory == module.workgroup_memory
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "b").read_bytes()


def test_softmax_runs_from_a_bundle(tmp_path: Path) -> None:
    pipeline.compile(EXAMPLES / "softmax.mlir").save(tmp_path / "softmax.bundle")
    module = pipeline.load(tmp_path / "softmax.bundle")
    x = np.random.default_rng(3).uniform(-4, 4, (5, 77)).astype(np.float32)
    y = module.run(x, backend="emulator", check="races")
    wide = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    np.testing.assert_allclose(y, wide / wide.sum(1, keepdims=True), rtol=1e-5)


def test_workgroup_buffers_keep_their_names(tmp_path: Path) -> None:
    """What the emulator says of a race names the buffer, and shows the lines of the program."""
    text = """
gpu.module @m {
  gpu.func @k(%out: memref<32xf32>)
      workgroup(%rows: memref<32xf32, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c31 = arith.constant 31 : index
    %t = gpu.thread_id x
    %n = arith.subi %c31, %t : index
    %v = memref.load %out[%t] : memref<32xf32>
    memref.store %v, %rows[%t] : memref<32xf32, #gpu.address_space<workgroup>>
    %w = memref.load %rows[%n] : memref<32xf32, #gpu.address_space<workgroup>>
    memref.store %w, %out[%t] : memref<32xf32>
    gpu.return
  }
}
"""
    module = pipeline.compile(text, verify=False, sync="keep")
    module.save(tmp_path / "b", sources=True)
    rendered = []
    for each in (module, pipeline.load(tmp_path / "b")):
        out = np.linspace(1, 2, 32, dtype=np.float32)
        with pytest.raises(pipeline.RaceError) as caught:
            each.kernels["k"].run(out, grid=1, block=32, backend="emulator", check="races")
        rendered.append(str(caught.value))
    assert "%rows[%n]" in rendered[0]
    assert rendered[1] == rendered[0]


def test_the_emulator_is_asked_for(path: Path) -> None:
    """It makes code of this process of what the bundle holds."""
    module = pipeline.load(path)
    args = make_arguments()
    with pytest.raises(pipeline.UsageError, match="if you trust the bundle, say backend='emu"):
        module.run(*args)
    with pytest.raises(pipeline.UsageError, match="if you trust the bundle, say backend='emu"):
        module.kernels["add_kernel"].run(args[0], 3, grid=1)
    np.testing.assert_array_equal(args[1], make_arguments()[1])


def test_without_what_the_emulator_runs(module: pipeline.Module, tmp_path: Path) -> None:
    module.save(tmp_path / "b", emulator=False)
    assert not [name for name in unpack(tmp_path / "b") if name.endswith(".bc")]
    with pytest.raises(pipeline.UsageError, match="holds nothing for the emulator"):
        pipeline.load(tmp_path / "b").run(*make_arguments(), backend="emulator")


def test_folder(path: Path, tmp_path: Path) -> None:
    folder = unzip(path, tmp_path / "unpacked")
    assert pipeline.load(folder).plan == pipeline.load(path).plan
    (folder / "sm_80" / "notes.txt").write_text("mine")
    with pytest.raises(pipeline.BundleError, match=r'"sm_80/notes.txt" is not in manifest.json$'):
        pipeline.load(folder)


# --- variants -------------------------------------------------------------------------------------


def compile_for(*chips: str) -> list[pipeline.Module]:
    return [pipeline.compile(EXAMPLES / "softmax.mlir", chip=chip) for chip in chips]


def test_variants(tmp_path: Path) -> None:
    """Each chip has PTX, plan and signatures of its own; the oldest comes first."""
    newer, older = compile_for("sm_90a", "sm_80")
    newer.save(tmp_path / "b", variants=[older])
    older.save(tmp_path / "other", variants=[newer])
    assert (tmp_path / "b").read_bytes() == (tmp_path / "other").read_bytes()
    module = pipeline.load(tmp_path / "b")
    assert list(module.variants) == ["sm_80", "sm_90a"]
    assert module is module.variants["sm_80"]
    assert (module.ptx, module.plan) == (older.ptx, older.plan)
    chosen = pipeline.load(tmp_path / "b", chip="sm_90a")
    assert (chosen.ptx, chosen.plan) == (newer.ptx, newer.plan)
    assert chosen.ptx != module.ptx
    with pytest.raises(pipeline.UsageError, match="chip is 'sm_75', but the bundle is for sm_80, "):
        pipeline.load(tmp_path / "b", chip="sm_75")
    with pytest.raises(pipeline.BundleError, match="one variant for each chip, not sm_80, sm_80"):
        older.save(tmp_path / "b", variants=[older])
    assert list(pipeline.load(tmp_path / "b").variants) == ["sm_80", "sm_90a"]


def test_machine_code(tmp_path: Path) -> None:
    """ptxas makes it for any chip, without a GPU."""
    modules = compile_for("sm_80", "sm_90a")
    modules[0].save(tmp_path / "b", variants=modules[1:], cubin=True)
    loaded = pipeline.load(tmp_path / "b")
    for module in modules:
        variant = loaded.variants[module.chip]
        assert variant.cubin == module.cubin
        assert dict(variant.images) == {module.chip: module.cubin}
        assert module.cubin.startswith(b"\x7fELF")
    manifest = json.loads(unpack(tmp_path / "b")["manifest.json"])
    assert manifest["files"]["sm_80/kernels.cubin"]["ptxas"][0].isdigit()
    again = compile_for("sm_80", "sm_90a")
    again[0].save(tmp_path / "again", variants=again[1:], cubin=True)
    assert (tmp_path / "again").read_bytes() == (tmp_path / "b").read_bytes()
    assert all(kernel.registers > 0 for kernel in loaded.variants["sm_90a"].kernels.values())


# --- what is said of a program --------------------------------------------------------------------


def test_licence_is_not_guessed(module: pipeline.Module, tmp_path: Path) -> None:
    text = tmp_path / "terms.txt"
    text.write_text("Do what you like.\n")
    module.save(tmp_path / "b")
    module.save(tmp_path / "c", license="MIT", license_file=text)
    files = [unpack(tmp_path / name) for name in "bc"]
    manifests = [json.loads(each["manifest.json"]) for each in files]
    assert [manifest["license"] for manifest in manifests] == [None, "MIT"]
    assert "LICENSE" not in files[0]
    assert files[1]["LICENSE"] == b"Do what you like.\n"
    pipeline.load(tmp_path / "c").save(tmp_path / "d")
    assert json.loads(unpack(tmp_path / "d")["manifest.json"])["license"] == "MIT"


@pytest.mark.parametrize(
    ("line", "is_linked"), [("math.exp %x : f64", True), ("arith.mulf %x, %x : f64", False)]
)
def test_third_parties_are_named(line: str, is_linked: bool, tmp_path: Path) -> None:
    text = f"""
func.func @main(%a: memref<32xf64>) {{
  linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}}
      outs(%a : memref<32xf64>) {{
  ^bb0(%x: f64):
    %y = {line}
    linalg.yield %y : f64
  }}
  return
}}
"""
    pipeline.compile(text).save(tmp_path / "b")
    manifest = json.loads(unpack(tmp_path / "b")["manifest.json"])
    named = ["NVIDIA libdevice, linked into the kernels"] if is_linked else []
    assert manifest["third_party"] == named


def test_digest(module: pipeline.Module, path: Path) -> None:
    digest = module.save(path)
    assert pipeline.load(path, sha256=digest).plan == module.plan
    assert pipeline.load(path, sha256=digest.upper()).plan == module.plan
    with pytest.raises(pipeline.BundleError, match=f"its digest is {digest}, but 00 was asked"):
        pipeline.load(path, sha256="00")


def test_stage_before_ptx(tmp_path: Path) -> None:
    module = pipeline.compile(PROGRAM, until="llvm")
    with pytest.raises(pipeline.UsageError, match="the module has no PTX"):
        module.save(tmp_path / "b")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("stage", ["gpu", "nvvm"])
def test_stage_before_the_emulator(stage: Literal["gpu", "nvvm"]) -> None:
    module = pipeline.compile(PROGRAM, until=stage)
    with pytest.raises(pipeline.UsageError, match="an earlier stage was asked for"):
        module.run(*make_arguments())


# --- the file -------------------------------------------------------------------------------------


def test_same_bytes(module: pipeline.Module, path: Path, tmp_path: Path) -> None:
    """Of the same program, in another process with another order of hashes, the same file."""
    code = (
        "import sys, pipeline\n"
        "from fuzzing.bundle import PROGRAM\n"
        "pipeline.compile(PROGRAM).save(sys.argv[1])\n"
    )
    for seed in ("1", "2"):
        variables = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        other = tmp_path / f"other-{seed}"
        subprocess.run([sys.executable, "-c", code, str(other)], env=variables, check=True)
        assert other.read_bytes() == path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        entries = archive.infolist()
    assert [entry.filename for entry in entries] == sorted(entry.filename for entry in entries)
    assert {entry.date_time for entry in entries} == {(1980, 1, 1, 0, 0, 0)}


def test_umask(module: pipeline.Module, tmp_path: Path) -> None:
    for mask in (0o022, 0o077):
        before = os.umask(mask)
        try:
            module.save(tmp_path / f"{mask}")
        finally:
            os.umask(before)
        assert stat.S_IMODE((tmp_path / f"{mask}").stat().st_mode) == 0o666 & ~mask


KILLED = """
import os, signal, sys
import pipeline
from pipeline.system import files
name = sys.argv[2]
call = getattr(os, name)
def end(*arguments, **words):
    if sys.argv[3] == "after":
        call(*arguments, **words)
    os.kill(os.getpid(), signal.SIGKILL)
module = pipeline.load(sys.argv[1])
setattr(os, name, end)
module.save(sys.argv[4])
"""


@pytest.mark.parametrize(
    ("call", "when"), [("fsync", "before"), ("fsync", "after"), ("fchmod", "after")]
)
@pytest.mark.parametrize("is_there", [False, True])
def test_killed_while_it_is_written(path: Path, call: str, when: str, is_there: bool) -> None:
    """Nothing is left but what was there before."""
    folder = path.parent / "target"
    folder.mkdir()
    target = folder / "b"
    if is_there:
        target.write_bytes(b"before")
    command = [sys.executable, "-c", KILLED, str(path), call, when, str(target)]
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    assert subprocess.run(command, env=variables, check=False).returncode == -9
    assert [each.name for each in folder.iterdir()] == (["b"] if is_there else [])
    assert not is_there or target.read_bytes() == b"before"


def test_places_that_cannot_be_written(module: pipeline.Module, tmp_path: Path) -> None:
    with pytest.raises(pipeline.UsageError, match="cannot be written: No such file"):
        module.save(tmp_path / "no" / "b")
    with pytest.raises(pipeline.UsageError, match="cannot be written: Is a directory"):
        module.save(tmp_path)
    with pytest.raises(pipeline.UsageError, match="cannot be read: No such file"):
        module.save(tmp_path / "b", license_file=tmp_path / "no")
    assert list(tmp_path.iterdir()) == []
