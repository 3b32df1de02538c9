"""`device=`: which GPU arrays of the host are copied to, and what is said of others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pipeline
from gpu.emulated_launches import EmulatedLaunches
from gpu.stand_in_driver import DeviceArray, StandIn
from gpu.tensors import Torch
from pipeline.command_line import cli
from pipeline.program import calling

ADD = """
!m = memref<?xf32>
func.func @main(%a: !m, %b: !m, %c: !m) {
  linalg.add ins(%a, %b : !m, !m) outs(%c : !m)
  return
}
"""
MORE = """
func.func @main(%a: tensor<?xf32>) -> tensor<?xf32> {
  %0 = linalg.exp ins(%a : tensor<?xf32>) outs(%a : tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
"""


def floats(seed: int, size: int = 100) -> np.ndarray[Any, np.dtype[np.float32]]:
    return np.random.default_rng(seed).uniform(0.1, 1, size).astype(np.float32)


@pytest.fixture
def driver_options() -> str:
    return "chips=90,80"


@pytest.fixture
def add(gpu: StandIn) -> pipeline.Module:
    return pipeline.compile(ADD, chip="sm_80")


@pytest.mark.parametrize("device", [None, 0, 1])
@pytest.mark.parametrize("way", ["call", "run", "kernel"])
def test_arrays_of_the_host_go_there(
    gpu: StandIn, add: pipeline.Module, way: str, device: int | None
) -> None:
    made = EmulatedLaunches(gpu, add)
    for seed in (1, 2):  # the second call finds what the first has recorded
        a, b, c = floats(seed), floats(seed + 3), floats(seed + 6)
        if way == "call" and device is not None:
            add(a, b, c, device=device)
        elif way == "kernel":
            kernel = add.kernels["main_kernel"]
            kernel.run(a, b, c, grid=1, block=256, backend="cuda", device=device)
        else:
            add.run(a, b, c, backend="cuda", device=device)
        np.testing.assert_array_equal(c, a + b)
    assert [launch.device for launch in made.launches] == [device or 0] * 2


def test_one_device_after_another(gpu: StandIn) -> None:
    """Results come from where the call has run; each device has its own memory and code."""
    module = pipeline.compile(MORE, chip="sm_80")
    made = EmulatedLaunches(gpu, module)
    for device in (0, 1, 1, 0):
        a = floats(device)
        np.testing.assert_allclose(module(a.copy(), device=device), np.exp(a), rtol=1e-6)
    assert [launch.device for launch in made.launches] == [0, 1, 1, 0]


@pytest.mark.parametrize("device", [2, -1])
def test_a_device_that_there_is_not(gpu: StandIn, add: pipeline.Module, device: int) -> None:
    EmulatedLaunches(gpu, add)
    a, b, c = floats(1), floats(2), floats(3)
    before = c.copy()
    calls = (
        lambda: add(a, b, c, device=device),
        lambda: add.run(a, b, c, device=device),
        lambda: add.kernels["main_kernel"].run(a, b, c, grid=1, block=256, device=device),
    )
    for call in calls:
        with pytest.raises(pipeline.DeviceUnavailable) as caught:
            call()
        assert f"there is no GPU {device}: the driver sees 2" in str(caught.value)
    np.testing.assert_array_equal(c, before)


@pytest.mark.parametrize("device", ["cuda:1", 1.0, True, np.array([1, 2])])
def test_what_is_no_device(gpu: StandIn, add: pipeline.Module, device: Any) -> None:
    a, b, c = floats(1), floats(2), floats(3)
    with pytest.raises(pipeline.KindError, match="device must be the number of a GPU, as 1"):
        add(a, b, c, device=device)


def test_the_emulator_has_no_devices(add: pipeline.Module) -> None:
    a, b, c = floats(1), floats(2), floats(3)
    with pytest.raises(pipeline.UsageError, match="a device is given, but the emulator has none"):
        add.run(a, b, c, backend="emulator", device=0)
    with pytest.raises(pipeline.UsageError, match="a device is given, but the emulator has none"):
        add.run(a, b, c, check="races", device=0)  # which the emulator alone has
    with pytest.raises(pipeline.UsageError, match="a stream is given, but the emulator has none"):
        add.run(a, b, c, check="races", stream=0)


def test_arrays_of_a_gpu(gpu: StandIn, add: pipeline.Module, torch: Torch) -> None:
    """They are where they are: another device is refused before anything runs."""
    made = EmulatedLaunches(gpu, add)
    tensors = [torch.put(floats(seed)) for seed in (1, 2, 3)]
    add(*tensors, device=0)
    assert [launch.device for launch in made.launches] == [0]
    for _ in range(2):  # also where a guard would take the call
        add(*tensors)
        with pytest.raises(pipeline.DeviceError) as caught:
            add(*tensors, device=1)
        assert caught.value.index == 0
        assert "argument 0 is on GPU 0, but the call is to run on GPU 1" in str(caught.value)
    with pytest.raises(pipeline.DeviceUnavailable, match="there is no GPU 7"):
        add(*tensors, device=7)


def test_arrays_whose_device_the_driver_tells(gpu: StandIn, add: pipeline.Module) -> None:
    made = EmulatedLaunches(gpu, add)
    arrays: list[DeviceArray] = [gpu.put(floats(seed)) for seed in (1, 2, 3)]
    add(*arrays, device=0)
    assert [launch.device for launch in made.launches] == [0]
    with pytest.raises(pipeline.DeviceError, match="argument 0 is on GPU 0"):
        add(*arrays, device=1)


def test_the_code_of_a_bundle_is_for_that_device(
    gpu: StandIn, add: pipeline.Module, tmp_path: Path
) -> None:
    newer = pipeline.compile(ADD, chip="sm_90")
    add.save(tmp_path / "add.bundle", variants=[newer])
    loaded = pipeline.load(tmp_path / "add.bundle")
    made = EmulatedLaunches(gpu, add, newer)
    for device, module in ((0, newer), (1, add)):
        a, b, c = floats(1), floats(2), floats(3)
        loaded(a, b, c, device=device)
        np.testing.assert_array_equal(c, a + b)
        assert made.launches[-1].image == module.ptx.rstrip("\0")


def test_the_command(
    gpu: StandIn,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("add.mlir").write_text(ADD)
    for number in range(3):
        np.save(f"{number}.npy", floats(number))
    arguments = [word for number in range(3) for word in ("--arg", f"{number}.npy")]
    module = pipeline.compile(ADD, chip="sm_80")
    made = EmulatedLaunches(gpu, module)
    command = ["run", "add.mlir", *arguments, "--chip", "sm_80", "--out", "out"]
    assert cli.main([*command, "--backend", "cuda", "--device", "1"]) == 0
    assert [launch.device for launch in made.launches] == [1]
    np.testing.assert_array_equal(np.load("out/arg2.npy"), floats(0) + floats(1))
    assert cli.main([*command, "--device", "1"]) == 0  # which asks for a GPU
    assert [launch.device for launch in made.launches] == [1, 1]
    capsys.readouterr()
    assert cli.main([*command, "--device", "5"]) == 69
    assert "there is no GPU 5: the driver sees 2" in capsys.readouterr().err
    assert cli.main([*command, "--device", "1", "--backend", "emulator"]) != 0
    assert "a device is given, but the emulator has none" in capsys.readouterr().err
    assert calling.has_gpu.__name__ == "<lambda>"  # no call here has found a GPU by itself
