"""Packs for a GPU: what they hold."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import gpu_arrays
import gpu_check
from corpus.kernels import CASES as ALL_CASES
from emulator.mutants import mutants
from gpu_arrays import PackError
from gpu_check import Pack, PackedCase
from pipeline.runtime.arguments import Value, convert, evaluate
from tools.fake_tensor_maps import FakeLibrary, FakeMap

CASES = gpu_check.load_cases()
BY_NAME = {case.name: case for case in CASES}


@pytest.fixture(scope="module")
def packed() -> list[PackedCase]:
    """Pack every case of the corpus."""
    return [gpu_check.pack_case(case, check_races=False) for case in CASES]


def test_no_kernel_of_the_suite_is_left_out() -> None:
    assert CASES == ALL_CASES


def test_every_case_packs(packed: list[PackedCase]) -> None:
    assert [item.record["name"] for item in packed] == [case.name for case in CASES]
    assert [item.record["note"] for item in packed] == [""] * len(CASES)
    pack = Pack("abc")
    for item in packed:
        pack.add(item.record["name"], item.files)
    assert pack.size < gpu_check.LIMIT / 4


def test_parameters_are_those_of_the_package(packed: list[PackedCase]) -> None:
    for item, case in zip(packed, CASES, strict=True):
        kernel = item.kernel
        values = convert(kernel.name, kernel.arguments, case.make(np.random.default_rng(1)))
        wanted = []
        for part, result in evaluate(kernel, values):
            if part.kind == "tensormap":
                wanted.append(make_map(values[part.argument], part.argument))
                continue
            if isinstance(result, int) and part.kind == "pointer":
                array = values[part.argument].view
                assert array is not None
                result += array.address - array.bounds[0]
                result += address_of(part.argument)
            signed = (
                result.to_bytes(8, "little", signed=True) if isinstance(result, int) else result
            )
            wanted.append(signed)
        addresses = [address_of(record["argument"]) for record in item.record["arrays"]]
        bound = gpu_arrays.bind(item.record["parameters"], addresses, FakeLibrary().encode)
        assert bound == wanted, case.name


def make_map(value: Value, argument: int) -> bytes:
    """Return the map that the fake driver makes of a whole array, in CUDA's numbers."""
    array, wanted = value.view, value.argument.tensor_map
    assert array is not None
    assert wanted is not None
    tensor = FakeMap(
        address_of(argument),
        dtype={"i8": 0, "f16": 6, "f32": 7}[wanted.element_type],
        dims=array.shape[::-1],
        strides=tuple(stride * array.itemsize for stride in array.strides[-2::-1]),
        box=wanted.box,
        element_strides=(1,) * len(array.shape),
        interleave=["none"].index(wanted.interleave),
        swizzle=["none", "swizzle_32b", "swizzle_64b", "swizzle_128b"].index(wanted.swizzle),
        l2=["none"].index(wanted.l2promo),
        oob=["zero"].index(wanted.oob),
    )
    return tensor.pack()


def address_of(argument: int) -> int:
    return 1 << 40 | argument << 32


def test_arrays_come_back_as_they_were(packed: list[PackedCase], tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    for item, case in zip(packed, CASES, strict=True):
        for name, data in item.files.items():
            (tmp_path / "data" / Path(name).name).write_bytes(data)
        arguments = gpu_check.make_arguments(case)
        for record in item.record["arrays"]:
            buffer = gpu_arrays.read_buffer(tmp_path, record)
            array = arguments[record["argument"]]
            assert buffer.elements(buffer.before).tobytes() == array.tobytes(), case.name
            assert record["strides"] is None or array.strides == tuple(record["strides"])
            expected = case.expect([np.copy(argument) for argument in arguments])
            assert record["written"] == (record["argument"] in expected), case.name


def test_a_pack_is_the_same_every_time() -> None:
    packs = [gpu_check.pack_all([BY_NAME["transpose"]], "abc") for _ in range(2)]
    assert packs[0].files == packs[1].files
    assert packs[0].cases[0]["races"] == "clean"


def test_what_is_wrong_is_left_out() -> None:
    case = BY_NAME["histogram"]
    racy = next(mutant for mutant in mutants(case) if mutant.name == "no atomics")
    refused = replace(case, name="refused", text="gpu.module @m {\n")
    pack = gpu_check.pack_all([replace(case, text=racy.text), refused, case], "abc")
    assert [record["name"] for record in pack.cases] == ["histogram"]
    assert list(pack.left_out) == ["histogram", "refused"]
    assert "race" in pack.left_out["histogram"]
    assert "error" in pack.left_out["refused"]


def test_other_results_than_the_reference_are_noted() -> None:
    case = BY_NAME["transpose"]
    wrong = replace(case, expect=lambda arguments: {1: case.expect(arguments)[1] + 1})
    record = gpu_check.pack_case(wrong, check_races=False).record
    assert "differs from the reference: argument 1, 3150 of 3150" in record["note"]


def test_arrays_that_overlap_are_refused() -> None:
    array = np.zeros(9, np.float32)
    with pytest.raises(PackError, match="share memory"):
        gpu_check.copy_arguments([array[:5], 3, array[4:]])


def test_size_limit() -> None:
    with pytest.raises(PackError, match=r"with transpose .* may have 0\.00977 MiB.* smaller"):
        gpu_check.pack_all([BY_NAME["transpose"]], "abc", check_races=False, limit=10 << 10)


def test_folders(tmp_path: Path) -> None:
    pack = Pack("abc", files={"data/a.npy": b"1"})
    pack.finish()
    folder = tmp_path / "new" / "pack"
    pack.write(folder)
    (folder / "results").mkdir()
    other = Pack("abc", files={"suite.json": b"{}"})
    other.write(folder)
    assert sorted(path.name for path in folder.iterdir()) == ["results", "suite.json"]
    with pytest.raises(PackError, match="neither empty nor a pack"):
        pack.write(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["new"]


def test_names_that_clash() -> None:
    case = BY_NAME["transpose"]
    with pytest.raises(PackError, match=r"transpose!: data/transpose\.0\.npy is there already"):
        gpu_check.pack_all([case, replace(case, name="transpose!")], "abc", check_races=False)


def test_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cases = (BY_NAME["transpose"], replace(BY_NAME["transpose"], name="bad", text="?\n"))
    monkeypatch.setattr(gpu_check, "load_cases", lambda: cases[:1])
    monkeypatch.setattr(gpu_check, "run", lambda folder: 0)
    assert gpu_check.main([str(tmp_path / "a" / "b")]) == 0
    assert "1 kernels, 0.1 MiB, in " in capsys.readouterr().out
    monkeypatch.setattr(gpu_check, "load_cases", lambda: cases)
    assert gpu_check.main([str(tmp_path / "a" / "b")]) == 1
    assert "left out: bad: " in capsys.readouterr().out


def test_without_a_gpu_the_pack_is_all(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    program = "import sys; print('error: no GPU', file=sys.stderr); sys.exit(69)"
    (tmp_path / "run.py").write_text(program)
    assert gpu_check.run(tmp_path) == 0
    assert capfd.readouterr().out == "not run: no GPU\n"
    program = "import sys; print('Some GPU'); sys.exit(0 if '--probe' in sys.argv else 1)"
    (tmp_path / "run.py").write_text(program)
    assert gpu_check.run(tmp_path) == 1
    assert capfd.readouterr().out == "running on Some GPU\nSome GPU\n"
