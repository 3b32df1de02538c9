"""A reference program next to PyTorch and Triton: are they right, and how long do they take."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

import pipeline
from pipeline.runtime.timing import Clock, time_all

from .arrays import Json
from .doors import TORCH_TYPES
from .peers import find_peers, set_precision
from .references import REFERENCES
from .verdicts import Verdict

OURS = "ours"
SAMPLED_ROWS = 64
"""Rows of a product that are compared: all of them would take longer than all the rest."""
SAMPLED_HEADS = 2
"""Of a batch, for the same reason."""
_SMI = "clocks.sm,clocks.mem,power.draw,temperature.gpu"

Calls = dict[str, Callable[[], Any]]


class Tensors(Protocol):
    """Arrays of a case on the GPU, and what others make of them."""

    def make(self, case: Json) -> tuple[list[Any], Any]:
        """Return random inputs, the same each time, and an output of NaN."""

    def find_difference(self, case: Json, inputs: Sequence[Any], output: Any) -> float:
        """Return the largest difference from what is expected, relative to numbers above 1."""

    def find_peers(
        self, case: Json, inputs: Sequence[Any], output: Any
    ) -> tuple[Calls, dict[str, str]]:
        """Return what others have for it, which return their result, and why some have nothing."""


class TorchTensors:
    """Tensors of PyTorch."""

    def __init__(self, torch: Any, device: str = "cuda") -> None:
        set_precision(torch)
        self._torch = torch
        self._device = device

    def make(self, case: Json) -> tuple[list[Any], Any]:
        """Return random inputs, and an output of NaN."""
        torch = self._torch
        options = {"device": self._device}
        generator = torch.Generator(**options).manual_seed(case["seed"])
        inputs = [
            torch.randn(record["shape"], generator=generator, **options).to(self._type(record))
            for record in case["inputs"]
        ]
        record = case["output"]
        output = torch.full(record["shape"], float("nan"), **options).to(self._type(record))
        return inputs, output

    def _type(self, record: Json) -> Any:
        return getattr(self._torch, TORCH_TYPES[record["element"]])

    def find_difference(self, case: Json, inputs: Sequence[Any], output: Any) -> float:
        """Return the largest difference from double precision; of products, in some rows."""
        inputs = list(inputs)
        if case["reference"].startswith("matmul") and output.shape[0] > SAMPLED_ROWS:
            step = output.shape[0] / SAMPLED_ROWS
            rows = [int(number * step) for number in range(SAMPLED_ROWS - 1)]
            rows.append(output.shape[0] - 1)
            inputs[0], output = inputs[0][rows], output[rows]
        if case["reference"] in ("attention", "batch_matmul"):
            inputs, output = [part[:SAMPLED_HEADS] for part in inputs], output[:SAMPLED_HEADS]
        wanted = REFERENCES[case["reference"]](self._torch, *[part.double() for part in inputs])
        apart = (output.double() - wanted).abs() / wanted.abs().clamp(min=1.0)
        return float(apart.max())  # NaN if one is

    def find_peers(
        self, case: Json, inputs: Sequence[Any], output: Any
    ) -> tuple[Calls, dict[str, str]]:
        """Return the calls of PyTorch and Triton."""
        return find_peers(self._torch, case["reference"], inputs, output)


def time_case(case: Json, folder: Path, tensors: Tensors, clock: Clock, rounds: int) -> Verdict:
    """Compare ours with what is expected in double precision, then time it beside the peers."""
    module = pipeline.load(folder / case["bundle"])
    inputs, output = tensors.make(case)

    def call_ours() -> Any:
        module(*inputs, output)
        return output

    call_ours()
    difference = tensors.find_difference(case, inputs, output)
    figures: Json = {"difference": difference, "unit": case["unit"]}
    if not difference <= case["tolerance"]:
        text = f"ours is off by {difference:.3g}, not by up to {case['tolerance']:g}"
        return Verdict("differ", text, figures)
    peers, missing = tensors.find_peers(case, inputs, output)
    for name, call in list(peers.items()):
        theirs = tensors.find_difference(case, inputs, call())
        if not theirs <= case["tolerance"]:
            missing[name] = f"its result is off by {theirs:.3g}, not {case['tolerance']:g}"
            del peers[name]
    before = read_clocks()
    figures["peers"] = time_all({OURS: call_ours, **peers}, clock, rounds, case["work"], OURS)
    figures["clocks"] = {"before": before, "after": read_clocks()}
    figures["missing"] = missing
    detail = "; ".join(f"without {name}: {reason}" for name, reason in missing.items())
    return Verdict("timed", detail, figures)


def read_clocks() -> str:
    """Return what nvidia-smi says of clocks, power and temperature; nothing is set."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return "nvidia-smi is not here"
    command = [program, f"--query-gpu={_SMI}", "--format=csv,noheader", "--id=0"]
    try:
        found = subprocess.run(command, capture_output=True, text=True, check=False, timeout=20)
    except subprocess.TimeoutExpired:
        return "nvidia-smi does not answer"
    return " ".join((found.stdout or found.stderr).split())
