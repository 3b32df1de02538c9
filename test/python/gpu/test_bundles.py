"""Bundles on a GPU: each GPU gets the variant for it, from Python and the command line."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest

import pipeline
from fuzzing.bundle import (
    TooLongError,
    change_values,
    limit_regions,
    make_arguments,
    make_bundle,
    seal,
)
from gpu.emulated_launches import EmulatedLaunches
from gpu.stand_in_driver import StandIn
from pipeline.bundles.archive import unpack
from pipeline.program import calling
from support.command_line import call
from support.examples import EXAMPLES

SOFTMAX = EXAMPLES / "softmax.mlir"
Rows = np.ndarray[tuple[int, int], np.dtype[np.float32]]


def rows() -> Rows:
    return np.random.default_rng(4).uniform(-3, 3, (6, 50)).astype(np.float32)


def softmax(x: Rows) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    wide = np.exp(x.astype(np.float64))
    result: np.ndarray[tuple[int, int], np.dtype[np.float64]] = wide / wide.sum(1, keepdims=True)
    return result


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a bundle for two chips, with machine code."""
    path = tmp_path_factory.mktemp("bundle") / "softmax.bundle"
    newer = pipeline.compile(SOFTMAX, chip="sm_90a")
    pipeline.compile(SOFTMAX, chip="sm_80").save(path, variants=[newer], cubin=True)
    return path


def test_variant_that_is_named(gpu: StandIn, bundle: Path) -> None:
    """It is used on newer GPUs as well, of which there is a better one."""
    module = pipeline.load(bundle, chip="sm_80")
    assert list(module.variants) == ["sm_80"]
    launches = EmulatedLaunches(gpu, module)
    x = rows()
    np.testing.assert_allclose(module.run(x, backend="cuda"), softmax(x), rtol=1e-5)
    assert len(launches.launches) == 1


@pytest.mark.parametrize(
    ("driver_options", "chip"),
    [("chips=80", "sm_80"), ("chips=89", "sm_80"), ("chips=90", "sm_90a"), ("chips=100", "sm_80")],
)
def test_variant_of_the_gpu(gpu: StandIn, bundle: Path, chip: str) -> None:
    module = pipeline.load(bundle)
    launches = EmulatedLaunches(gpu, module.variants[chip])
    for _ in range(2):
        x = rows()
        np.testing.assert_allclose(module.run(x, backend="cuda"), softmax(x), rtol=1e-5)
    assert len(launches.launches) == 2
    known = pipeline.compile(SOFTMAX, chip=chip).kernels["main_kernel"].block
    assert tuple(launches.launches[0].block) == known


@pytest.mark.parametrize("driver_options", ["chips=75"])
def test_gpu_that_no_variant_is_for(gpu: StandIn, bundle: Path) -> None:
    with pytest.raises(
        pipeline.DeviceUnavailable, match="the code is for sm_80, but GPU 0 is sm_7"
    ):
        pipeline.load(bundle).run(rows(), backend="cuda")


def test_without_machine_code(gpu: StandIn, tmp_path: Path) -> None:
    """The driver compiles the PTX; nothing for the emulator is needed."""
    pipeline.compile(SOFTMAX).save(tmp_path / "b", emulator=False)
    compiled = pipeline.compile(SOFTMAX)
    EmulatedLaunches(gpu, compiled)
    x = rows()
    result = pipeline.load(tmp_path / "b").run(x, backend="cuda")
    np.testing.assert_allclose(result, softmax(x), rtol=1e-5)


def test_plans_that_are_changed(gpu: StandIn, tmp_path: Path) -> None:
    """What the checks accept ends in results, or in an error of the package, on a GPU as well.

    Kernels do nothing here: their grids may be of any size.
    """
    path = make_bundle(tmp_path)
    files = unpack(path)
    plan = json.loads(files["sm_80/plan.json"])
    ran = failed = 0
    gpu.on_launch(lambda _: None)
    for seed in range(250):
        changed = change_values(plan, random.Random(seed))
        path.write_bytes(seal({**files, "sm_80/plan.json": json.dumps(changed).encode()}))
        try:
            module = pipeline.load(path)
        except pipeline.PlanError:
            continue
        try:
            with limit_regions(3000):
                module.run(*make_arguments(), backend="cuda")
            ran += 1
        except pipeline.Error:
            failed += 1
        except TooLongError:
            gpu.reset()
            gpu.on_launch(lambda _: None)
    assert ran > 20
    assert failed > 20


@pytest.mark.parametrize("is_bundle", [True, False])
def test_command(gpu: StandIn, bundle: Path, tmp_path: Path, is_bundle: bool) -> None:
    module = pipeline.load(bundle) if is_bundle else pipeline.compile(SOFTMAX)
    EmulatedLaunches(gpu, module)
    np.save(tmp_path / "x.npy", rows())
    outcome = call(
        *("run", bundle if is_bundle else SOFTMAX, "--backend", "cuda"),
        *("--arg", tmp_path / "x.npy", "--out", tmp_path / "out"),
    )
    assert (outcome.code, outcome.words) == (0, "")
    assert outcome.text == "main: ran on a GPU, where nothing is checked\n"
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["result0.npy"]
    result = np.load(tmp_path / "out" / "result0.npy")
    np.testing.assert_allclose(result, softmax(rows()), rtol=1e-5)


def test_command_of_a_kernel(gpu: StandIn, tmp_path: Path) -> None:
    text = """
gpu.module @m {
  gpu.func @k(%a: memref<?xi32>, %n: i32) kernel {
    %i = gpu.block_id x
    %x = memref.load %a[%i] : memref<?xi32>
    %y = arith.muli %x, %n : i32
    memref.store %y, %a[%i] : memref<?xi32>
    gpu.return
  }
}
"""
    module = pipeline.compile(text)
    EmulatedLaunches(gpu, module)
    module.save(tmp_path / "b")
    np.save(tmp_path / "a.npy", np.arange(3, 10, dtype=np.int32))
    outcome = call(
        *(
            "run",
            tmp_path / "b",
            "--backend",
            "cuda",
            "--kernel",
            "k",
            "--grid",
            "5",
            "--block",
            "1",
        ),
        *("--arg", tmp_path / "a.npy", "--arg", "3", "--out", tmp_path / "out"),
    )
    assert (outcome.code, outcome.words) == (0, "")
    result = np.load(tmp_path / "out" / "arg0.npy")
    np.testing.assert_array_equal(result, [9, 12, 15, 18, 21, 8, 9])


def test_options_of_the_emulator(gpu: StandIn, bundle: Path) -> None:
    outcome = call("run", bundle, "--backend", "cuda", "--check-races", "--random", "1")
    assert outcome.code == 2
    assert outcome.words.startswith("error: --backend cuda has no checks, orders, seeds")
    assert gpu.calls() == []


def test_command_on_a_machine_with_a_gpu(
    gpu: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Programs run there, unless something is asked for that only the emulator has."""
    monkeypatch.setattr(calling, "has_gpu", lambda: True)
    EmulatedLaunches(gpu, pipeline.compile(SOFTMAX))
    x = rows()
    np.save(tmp_path / "x.npy", x)
    for options, is_on_gpu in (((), True), (("--check-races",), False)):
        out = tmp_path / f"out{len(options)}"
        gpu.calls()
        outcome = call("run", SOFTMAX, "--arg", tmp_path / "x.npy", "--out", out, *options)
        assert (outcome.code, outcome.words) == (0, "")
        assert ("ran on a GPU" in outcome.text) == is_on_gpu
        launched = [name for name in gpu.calls() if name.startswith("cuLaunch")]
        assert bool(launched) == is_on_gpu
        np.testing.assert_allclose(np.load(out / "result0.npy"), softmax(x), rtol=1e-5)


def test_folder_that_cannot_be_made(gpu: StandIn, tmp_path: Path) -> None:
    """It is refused before anything runs."""
    (tmp_path / "file").touch()
    np.save(tmp_path / "x.npy", rows())
    EmulatedLaunches(gpu, pipeline.compile(SOFTMAX))
    out = tmp_path / "file" / "out"
    outcome = call(
        *("run", SOFTMAX, "--backend", "cuda", "--arg", tmp_path / "x.npy", "--out", out)
    )
    assert outcome.code == 2
    assert outcome.words.startswith(f"{out}: error: cannot be made: ")
    assert not [name for name in gpu.calls() if name.startswith("cuLaunch")]
