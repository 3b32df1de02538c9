"""Which stream a call runs on, and who is told of it."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import pipeline
from gpu.stand_in_driver import StandIn
from pipeline.runtime.cuda.driver import Driver
from pipeline.runtime.cuda.streams import (
    CallStream,
    check_stream,
    choose_stream,
    keep_until_done,
    read_stream,
)


class Named:
    """A stream by attributes."""

    def __init__(self, **attributes: Any) -> None:
        self.__dict__.update(attributes)


class OfProtocol:
    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def __cuda_stream__(self) -> Any:
        return self.answer


class OfProtocolBeforeItWasAMethod:
    __cuda_stream__ = (0, 55)


@pytest.mark.parametrize(
    ("stream", "handle"),
    [
        (0, 0),
        (2, 2),
        (2**63, 2**63),
        (np.int64(9), 9),
        (OfProtocol((0, 77)), 77),
        (OfProtocolBeforeItWasAMethod(), 55),
        (Named(cuda_stream=0), 0),
        (Named(cuda_stream=12), 12),
        (Named(ptr=13), 13),
    ],
)
def test_streams(stream: Any, handle: int) -> None:
    assert read_stream(stream) == handle


@pytest.mark.parametrize(
    "stream",
    [
        "s",
        True,
        1.0,
        -1,
        2**64,
        [],
        OfProtocol(None),
        OfProtocol((0, "x")),
        Named(ptr="x"),
        Named(cuda_stream=-1),
    ],
)
def test_what_is_no_stream(stream: Any) -> None:
    with pytest.raises(pipeline.KindError, match=r"^error: stream is .*, but must be a raw handle"):
        read_stream(stream)


def test_protocol_of_another_version() -> None:
    with pytest.raises(pipeline.KindError, match="version 1 of __cuda_stream__"):
        read_stream(OfProtocol((1, 5)))


# --- the current stream ---------------------------------------------------------------------------


@dataclass(frozen=True)
class View:
    library: str
    owner: Any = None


class Torch:
    """As much of PyTorch as has streams."""

    def __init__(self, *, has_raw: bool) -> None:
        self.current = {0: 101, 1: 102}
        raw = {"_cuda_getCurrentRawStream": self.current.__getitem__} if has_raw else {}
        self._C = SimpleNamespace(**raw)
        self.cuda = SimpleNamespace(
            current_stream=lambda device: Named(cuda_stream=self.current[device]),
            ExternalStream=lambda stream, device: ("external", stream, device),
        )

    def device(self, kind: str, index: int) -> str:
        return f"{kind}:{index}"


def put_cupy(monkeypatch: pytest.MonkeyPatch, stream: int) -> None:
    cuda = SimpleNamespace(get_current_stream=lambda device: Named(ptr=stream + device))
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(cuda=cuda))


@pytest.mark.parametrize("has_raw", [True, False])
def test_current_streams(monkeypatch: pytest.MonkeyPatch, has_raw: bool) -> None:
    monkeypatch.setitem(sys.modules, "torch", Torch(has_raw=has_raw))
    put_cupy(monkeypatch, 200)
    assert choose_stream([View("torch")] * 3, None, 1) == CallStream(102, True)
    assert choose_stream([View("cupy")], None, 1) == CallStream(201, True)
    assert choose_stream([View("jax")], None, 0) == CallStream(0, False)
    assert choose_stream([], None, 0) == CallStream(0, False)
    assert choose_stream([View("torch")], 101, 0) == CallStream(101, True)
    assert choose_stream([View("torch")], 7, 0) == CallStream(7, False)
    assert choose_stream([View("torch"), View("jax")], 101, 0) == CallStream(101, False)
    with pytest.raises(pipeline.KindError, match="arrays of cupy and torch, which work on streams"):
        choose_stream([View("torch"), View("cupy")], None, 0)


def test_streams_of_other_gpus(gpu: StandIn) -> None:
    gpu.reset("chips=90,90")
    driver = Driver.get()
    streams = [driver.create_stream(device) for device in range(2)]
    driver.enter(0)
    for stream in (0, 1, 2, streams[0]):
        check_stream(driver, stream, 0)
    with pytest.raises(pipeline.DeviceError, match="is of another GPU or context, but the arrays"):
        check_stream(driver, streams[1], 0)
    driver.destroy_stream(streams[0])
    for stream in (streams[0], 0x1234):
        with pytest.raises(pipeline.DeviceError, match=f"stream {stream:#x} is closed, or is none"):
            check_stream(driver, stream, 0)


# --- reuse of memory ------------------------------------------------------------------------------


class Tensor:
    def __init__(self) -> None:
        self.recorded: list[Any] = []

    def record_stream(self, stream: Any) -> None:
        self.recorded.append(stream)


def test_who_is_told(gpu: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    driver, tensor = Driver.get(), Tensor()
    driver.enter(0)
    stream, other = driver.create_stream(0), driver.create_stream(0)
    monkeypatch.setitem(sys.modules, "torch", Torch(has_raw=True))
    put_cupy(monkeypatch, other)
    gpu.calls()
    keep_until_done(driver, [View("torch", tensor)], stream, 0)
    assert tensor.recorded == [("external", stream, "cuda:0")]
    assert gpu.calls() == []
    keep_until_done(driver, [View("cupy")], stream, 0)
    assert gpu.calls() == [
        "cuEventCreate 2",
        "cuEventRecord e1 on s1",
        "cuStreamWaitEvent s2 e1",
        "cuEventDestroy",
    ]
    keep_until_done(driver, [View("jax"), View("torch", tensor)], stream, 0)
    assert len(tensor.recorded) == 2
    assert gpu.calls() == ["cuStreamSynchronize s1"]


def test_nothing_waits_while_a_graph_is_captured(gpu: StandIn) -> None:
    driver = Driver.get()
    driver.enter(0)
    stream, api = driver.create_stream(0), driver._api
    assert not api.cuStreamBeginCapture(stream, api.CUstreamCaptureMode(0))[0]
    keep_until_done(driver, [View("jax")], stream, 0)
    code, _ = api.cuStreamEndCapture(stream)
    assert not code
