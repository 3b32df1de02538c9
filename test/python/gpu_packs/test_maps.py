"""Tensor maps in packs: what stands there, and what becomes of wrong ones."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pipeline
from corpus.kernels_bulk import copy_case
from corpus.kernels_case import Case
from gpu.stand_in_driver import StandIn, stand_in
from gpu_packs.conftest import FaultyLaunches
from packing.kernels import PackedCase, pack_case
from running.arrays import Json
from running.gpu import Gpu
from running.kernels import check_kernel
from running.verdicts import Verdict


def edited(case: Case, old: str, new: str) -> Case:
    """Return a case with other words in the type of its map."""
    assert old in case.text
    return replace(case, text=case.text.replace(old, new))


def maps_of(case: Case) -> list[Json]:
    """Return the maps that a pack describes."""
    parameters = pack_case(case, check_races=False).record["parameters"]
    return [parameter for parameter in parameters if parameter["kind"] == "tensormap"]


INNER = copy_case((20, 72), (8, 64), [(0, 0), (8, 8)], "f16", "swizzle_128b")


def test_a_map_in_a_pack() -> None:
    case = edited(edited(INNER, "l2promo = none", "l2promo = l2promo_256b"), "zero", "nan")
    assert maps_of(case) == [
        {
            "kind": "tensormap",
            "buffer": 0,
            "offset": 0,
            "dtype": "f16",
            "dims": (72, 20),
            "strides": (144,),
            "box": (64, 8),
            "element_strides": (1, 1),
            "swizzle": "swizzle_128b",
            "interleave": "none",
            "l2": "l2promo_256b",
            "oob": "nan",
        }
    ]


def test_an_array_that_is_mapped() -> None:
    """It lies where CUDA can make a map of it, and has elements to compare."""
    array, *_ = pack_case(INNER, check_races=False).record["arrays"]
    assert (array["element"], array["alignment"]) == ("f16", 16)


def test_a_map_of_a_slice() -> None:
    """Its dimensions are those of the slice, its strides those of what the slice is of."""

    def make(rng: np.random.Generator) -> list[Any]:
        source, *rest = INNER.make(rng)
        wide = np.zeros((44, 88), source.dtype)
        wide[3:43:2, 8:80] = source
        return [wide[3:43:2, 8:80], *rest]

    (described,) = maps_of(replace(INNER, make=make))
    assert (described["dims"], described["strides"]) == ((72, 20), (352,))


def test_what_cuda_does_not_know_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    from pipeline.runtime.cuda import tensor_maps

    monkeypatch.delitem(tensor_maps._TYPES, "f16")
    with pytest.raises(pipeline.UsageError, match="no tensor map has elements of type f16"):
        pack_case(INNER, check_races=False)


# --- wrong ones -----------------------------------------------------------------------------------

EDGE = [tuple(extent - size // 2 for extent, size in zip((20, 72), (8, 64), strict=True))]
OUTER = copy_case((20, 72), (8, 64), [(0, 0), (8, 8), *EDGE], "f16", "swizzle_128b")
MIDDLE = copy_case((3, 4, 5, 16), (2, 2, 3, 8), [(0, 1, 2, 4), (2, 3, 4, 12)], "f16")
EDITS: dict[str, tuple[Case, dict[str, Any], str]] = {
    "small stride": (OUTER, {"strides": [128]}, "elements differ"),
    "large stride": (OUTER, {"strides": [160]}, "emulator"),
    "stride of elements": (OUTER, {"strides": [72]}, "cuTensorMapEncodeTiled failed"),
    "order of dims": (OUTER, {"dims": [20, 72]}, "elements differ"),
    "order of strides": (MIDDLE, {"strides": [640, 160, 32]}, "emulator"),
    "order of box": (OUTER, {"box": [8, 64]}, "elements differ"),
    "order of strides and dims": (
        MIDDLE,
        {"dims": [16, 3, 4, 5], "strides": [640, 160, 32]},
        "elements differ",
    ),
    "one row less": (OUTER, {"dims": [72, 15]}, "elements differ"),
    "one column less": (OUTER, {"dims": [71, 20]}, "elements differ"),
    "offset": (OUTER, {"offset": 16}, "elements differ"),
    "offset off alignment": (OUTER, {"offset": 2}, "cuTensorMapEncodeTiled failed"),
    "buffer": (OUTER, {"buffer": 2}, "elements differ"),
    "dtype": (OUTER, {"dtype": "i8"}, "emulator"),
    "wide dtype": (OUTER, {"dtype": "f32"}, "cuTensorMapEncodeTiled failed"),
    "swizzle": (OUTER, {"swizzle": "none"}, "elements differ"),
    "narrow swizzle": (OUTER, {"swizzle": "swizzle_64b"}, "cuTensorMapEncodeTiled failed"),
    "element strides": (OUTER, {"element_strides": [1, 2]}, "emulator"),
    "interleave": (OUTER, {"interleave": "interleave_16b"}, "cuTensorMapEncodeTiled failed"),
    "fill": (OUTER, {"oob": "nan"}, "nan instead of 0"),
}
"""Cases, other fields, and what is said: `emulator` is what the emulator refuses or finds."""


@pytest.fixture
def check(tmp_path: Path) -> Callable[[PackedCase], tuple[Verdict, StandIn]]:
    """Return what runs a packed case on the stand-in."""

    def run(packed: PackedCase) -> tuple[Verdict, StandIn]:
        for name, data in packed.files.items():
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_bytes(data)
        gpu = stand_in()
        gpu.reset("chips=90")
        FaultyLaunches(gpu, *packed.modules)
        try:
            verdict = check_kernel(json.loads(json.dumps(packed.record)), tmp_path, Gpu())
        except pipeline.DriverError as error:
            verdict = Verdict("failed", str(error))
        return verdict, gpu

    return run


@pytest.mark.parametrize("name", EDITS)
def test_maps_that_are_wrong(
    check: Callable[[PackedCase], tuple[Verdict, StandIn]], name: str
) -> None:
    case, edit, words = EDITS[name]
    packed = pack_case(case, check_races=False)
    verdict, gpu = check(packed)
    assert verdict.verdict == "agree"
    assert gpu.errors == []
    (described,) = (part for part in packed.record["parameters"] if part["kind"] == "tensormap")
    assert edit.keys() <= described.keys()
    described |= edit
    verdict, gpu = check(packed)
    assert verdict.verdict in ("differ", "failed")
    if words == "emulator":
        assert gpu.errors
    else:
        assert words in verdict.detail
    gpu.reset()
