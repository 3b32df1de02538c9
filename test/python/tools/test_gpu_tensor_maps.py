"""Tensor maps for a GPU: what stands in a pack, what the driver is asked for, what comes of it."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpu_check
import gpu_runner
import gpu_tensor_maps
from corpus.kernels_bulk import copy_case
from corpus.kernels_case import Case
from gpu_arrays import Json, PackError
from gpu_driver import Cuda, DriverError
from gpu_runner import Verdict
from pipeline.records.scalars import DTYPES
from tools.fake_gpu import EmulatedGpu, FakeBinding, Status
from tools.fake_tensor_maps import ELEMENT_BYTES, FakeLibrary, FakeMap

CASES = [case for case in gpu_check.load_cases() if "tensormap.descriptor" in case.text]


# --- packs ----------------------------------------------------------------------------------------


def edited(case: Case, old: str, new: str) -> Case:
    """Return a case with other words in the type of its map."""
    assert old in case.text
    return replace(case, text=case.text.replace(old, new))


def maps_of(case: Case) -> list[Json]:
    """Return the maps that a pack describes."""
    parameters = gpu_check.pack_case(case, check_races=False).record["parameters"]
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
    array, *_ = gpu_check.pack_case(INNER, check_races=False).record["arrays"]
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
    monkeypatch.delitem(gpu_tensor_maps.DATA_TYPES, "f16")
    with pytest.raises(PackError, match="takes a tensor map of f16, which CUDA does not know"):
        gpu_check.pack_case(INNER, check_races=False)


# --- running --------------------------------------------------------------------------------------


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, Verdict]]:
    """Return what packs cases and runs them on a GPU that emulates what it is given."""

    def run_pack(
        cases: Sequence[Case], change: Callable[[Json], None] = lambda _: None
    ) -> dict[str, Verdict]:
        pack, kernels = gpu_check.Pack("abc"), {}
        for case in cases:
            packed = gpu_check.pack_case(case, check_races=False)
            assert not packed.record["note"]
            kernels[packed.files[packed.record["ptx"]].decode()] = packed.kernel
            pack.add(case.name, packed.files)
            pack.cases.append(packed.record)
        for record in pack.cases:
            change(record)
        pack.finish()
        pack.write(tmp_path / "pack")
        monkeypatch.setattr(gpu_runner, "FOLDER", tmp_path / "pack")
        gpu = EmulatedGpu(kernels)
        gpu_runner.main([], start=lambda words: gpu_runner.main(words, lambda: gpu))
        document = json.loads((tmp_path / "pack" / "results" / "results.json").read_text())
        fields = Verdict.__dataclass_fields__
        return {
            record["name"]: Verdict(**{key: record[key] for key in fields})
            for record in document["cases"]
        }

    return run_pack


def test_the_suite_agrees(run: Callable[..., dict[str, Verdict]]) -> None:
    assert len(CASES) >= 10
    verdicts = run(CASES)
    assert {name: verdict for name, verdict in verdicts.items() if verdict.verdict != "agree"} == {}
    assert len(verdicts) == len(CASES)


MIDDLE = copy_case((3, 4, 5, 16), (2, 2, 3, 8), [(0, 1, 2, 4), (2, 3, 4, 12)], "f16")
EDITS: dict[str, tuple[Case, dict[str, Any], str]] = {
    "small stride": (INNER, {"strides": [128]}, "elements differ"),
    "large stride": (INNER, {"strides": [160]}, "out-of-bounds"),
    "stride of elements": (INNER, {"strides": [72]}, "globalStrides (72,)"),
    "order of dims": (INNER, {"dims": [20, 72]}, "elements differ"),
    "order of strides": (MIDDLE, {"strides": [640, 160, 32]}, "out-of-bounds"),
    "order of box": (INNER, {"box": [8, 64]}, "elements differ"),
    "order of strides and dims": (
        MIDDLE,
        {"dims": [16, 3, 4, 5], "strides": [640, 160, 32]},
        "elements differ",
    ),
    "one row less": (INNER, {"dims": [72, 15]}, "elements differ"),
    "one column less": (INNER, {"dims": [71, 20]}, "elements differ"),
    "offset": (INNER, {"offset": 16}, "elements differ"),
    "offset off alignment": (INNER, {"offset": 2}, "no multiple of 16"),
    "buffer": (INNER, {"buffer": 2}, "elements differ"),
    "dtype": (INNER, {"dtype": "i8"}, "deadlock"),
    "wide dtype": (INNER, {"dtype": "f32"}, "a row of 256 bytes in the box"),
    "swizzle": (INNER, {"swizzle": "none"}, "elements differ"),
    "narrow swizzle": (INNER, {"swizzle": "swizzle_64b"}, "more than the swizzle's 64"),
    "element strides": (INNER, {"element_strides": [1, 2]}, "skips elements"),
    "interleave": (INNER, {"interleave": "interleave_16b"}, "interleave with tensorRank 2"),
    "fill": (INNER, {"oob": "nan"}, "nan instead of 0"),
    "rank": (INNER, {"dims": [72]}, "bulk-copy"),
}


@pytest.mark.parametrize("name", EDITS)
def test_maps_that_are_wrong(run: Callable[..., dict[str, Verdict]], name: str) -> None:
    case, edit, words = EDITS[name]
    edge = [tuple(extent - size // 2 for extent, size in zip((20, 72), (8, 64), strict=True))]
    if case is INNER:
        case = copy_case((20, 72), (8, 64), [(0, 0), (8, 8), *edge], "f16", "swizzle_128b")
    assert run([case])[case.name].verdict == "agree"

    def change(record: Json) -> None:
        (described,) = (part for part in record["parameters"] if part["kind"] == "tensormap")
        assert edit.keys() <= described.keys()
        described |= edit

    verdict = run([case], change)[case.name]
    assert verdict.verdict in ("differ", "failed")
    assert words in verdict.detail


# --- the driver -----------------------------------------------------------------------------------

MAP = {
    "kind": "tensormap",
    "buffer": 0,
    "offset": 0,
    "dtype": "f32",
    "dims": [33, 20],
    "strides": [144],
    "box": [16, 8],
    "element_strides": [1, 1],
    "swizzle": "swizzle_64b",
    "interleave": "none",
    "l2": "l2promo_128b",
    "oob": "nan",
}
ADDRESS = (1 << 45) + 16


def test_a_map_reaches_the_driver_and_the_launch() -> None:
    binding = FakeBinding()
    cuda = Cuda(binding, FakeLibrary())
    data = cuda.encode(MAP, ADDRESS)
    assert FakeMap.unpack(data) == FakeMap(
        ADDRESS, 7, (33, 20), (144,), (16, 8), (1, 1), interleave=0, swizzle=2, l2=2, oob=1
    )
    parameters = [b"\7" * 8, data, b"\1"]
    binding.sizes = (8, 128, 1)
    cuda.launch("function", (1,) * 6, 0, parameters, 9.0)
    assert binding.parameters == parameters


def test_a_map_of_rank_one() -> None:
    """It has no strides, but the driver wants to be told where they are."""
    line = {**MAP, "dims": [33], "strides": [], "box": [16], "element_strides": [1]}
    tensor = FakeMap.unpack(FakeLibrary().encode(line, ADDRESS))
    assert (tensor.dims, tensor.strides, tensor.box) == ((33,), (), (16,))


def test_what_the_driver_refuses() -> None:
    cuda = Cuda(FakeBinding(), FakeLibrary())
    with pytest.raises(DriverError) as caught:
        cuda.encode({**MAP, "strides": [136]}, ADDRESS)
    text = str(caught.value)
    assert text.startswith("cuTensorMapEncodeTiled: CUDA_ERROR_INVALID_VALUE, some words: address ")
    assert f"address {ADDRESS:#x}, " in text
    assert "strides [136], box [16, 8]" in text


@pytest.mark.parametrize("library", [None, object()])
def test_a_driver_without_tensor_maps(library: object) -> None:
    cuda = Cuda(FakeBinding(), library)
    with pytest.raises(DriverError) as caught:
        cuda.encode(MAP, ADDRESS)
    assert str(caught.value) == (
        f"cuTensorMapEncodeTiled: the driver (of {cuda.version}) does not have it: tensor maps "
        "need one of CUDA 12.0 or newer"
    )


REFUSED: dict[str, tuple[Json, int, str]] = {
    "address": ({}, 8, "globalAddress"),
    "no address": ({}, -ADDRESS, "globalAddress"),
    "no extent": ({"dims": [33, 0]}, 0, "globalDim"),
    "large extent": ({"dims": [33, 2**32 + 1]}, 0, "globalDim"),
    "stride": ({"strides": [152]}, 0, "globalStrides"),
    "large stride": ({"strides": [1 << 40]}, 0, "globalStrides"),
    "negative stride": ({"strides": [-144]}, 0, "globalStrides"),
    "no box": ({"box": [16, 0]}, 0, "boxDim"),
    "large box": ({"box": [16, 257]}, 0, "boxDim"),
    "row": ({"box": [6, 8]}, 0, "a row of 24 bytes in the box, no multiple of 16"),
    "span": ({"box": [20, 8]}, 0, "a row of 80 bytes in the box, more than the swizzle's 64"),
    "no step": ({"element_strides": [0, 1]}, 0, "elementStrides"),
    "large step": ({"element_strides": [1, 9]}, 0, "elementStrides"),
    "interleaved rank": ({"interleave": "interleave_16b"}, 0, "interleave with tensorRank 2"),
    "interleaved swizzle": ({"interleave": "interleave_32b"}, 16, "without swizzle 32B"),
    "interleaved address": ({"interleave": "interleave_32b"}, 0, "no multiple of 32"),
    "fill": ({"dtype": "i32"}, 0, "oobFill NaN of tensorDataType 3"),
    "rank": (
        {"dims": [33] * 6, "strides": [144] * 5, "box": [1] * 6, "element_strides": [1] * 6},
        0,
        "tensorRank 6",
    ),
    "no rank": ({"dims": []}, 0, "tensorRank 0"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_rules(name: str) -> None:
    """The fake driver refuses what CUDA's documentation says to be refused."""
    edit, move, words = REFUSED[name]
    library = FakeLibrary()
    library.encode(MAP, ADDRESS)
    with pytest.raises(DriverError) as caught:
        library.encode({**MAP, **edit}, ADDRESS + move)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        (0, None, "tensorMap, which 64 does not divide"),
        (0, 48, "tensorMap, which 64 does not divide"),
        (1, 13, "tensorDataType 13"),
        (5, None, "an array that is null"),
        (8, 3, "interleave 3"),
        (9, 4, "swizzle 4"),
        (10, 4, "l2Promotion 4"),
        (11, -1, "oobFill -1"),
    ],
)
def test_rules_of_the_call(place: int, value: int | None, words: str) -> None:
    library, memory = FakeLibrary(), gpu_tensor_maps.align(bytes(256))
    wide, narrow = ctypes.c_uint64 * 2, ctypes.c_uint32 * 2
    arrays = (wide(33, 20), wide(144), narrow(16, 8), narrow(1, 1))
    arguments: list[Any] = [int(memory.ctypes.data), 7, 2, ADDRESS, *arrays, 0, 2, 2, 1]
    assert library.cuTensorMapEncodeTiled(*arguments) == Status.CUDA_SUCCESS
    is_moved = place == 0 and value is not None
    arguments[place] = arguments[0] + value if is_moved else value
    assert library.cuTensorMapEncodeTiled(*arguments) == Status.CUDA_ERROR_INVALID_VALUE
    assert any(words in problem for problem in library.problems)


def test_elements_are_as_wide_as_in_the_program() -> None:
    for element, number in gpu_tensor_maps.DATA_TYPES.items():
        assert ELEMENT_BYTES[number] == np.dtype(DTYPES[element][-1]).itemsize, element
