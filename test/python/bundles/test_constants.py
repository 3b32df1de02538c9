"""Constants in bundles: large ones are files, which plans share."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pipeline
from fuzzing.bundle import seal
from pipeline.bundles.archive import pack, unpack

ROWS = 40
PROGRAM = """
!w = tensor<{rows}x{rows}xf32>
!t = tensor<?x{rows}xf32>
func.func @main(%a: !t) -> !t {{
  %large = arith.constant dense<"0x{large}"> : !w
  %again = arith.constant dense<"0x{large}"> : !w
  %small = arith.constant dense<"0x{small}"> : tensor<{rows}xf32>
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : !t
  %e = tensor.empty(%n) : !t
  %b = linalg.broadcast ins(%small : tensor<{rows}xf32>) outs(%e : !t) dimensions = [0]
  %r = linalg.matmul ins(%a, %large : !t, !w) outs(%b : !t) -> !t
  %s = linalg.matmul ins(%r, %again : !t, !w) outs(%b : !t) -> !t
  return %s : !t
}}
"""


def random(*shape: int) -> Any:
    return np.random.default_rng(len(shape)).uniform(0.1, 1.0, shape).astype(np.float32)


LARGE, SMALL = random(ROWS, ROWS), random(ROWS)


def compile(chip: str) -> pipeline.Module:
    digits = {"large": LARGE.tobytes().hex(), "small": SMALL.tobytes().hex()}
    return pipeline.compile(PROGRAM.format(rows=ROWS, **digits), chip=chip)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bundles") / "program.bundle"
    compile("sm_80").save(path, variants=[compile("sm_90a")])
    return path


def test_large_constants_are_one_file(path: Path) -> None:
    files = unpack(path)
    (name,) = (name for name in files if name.startswith("data/"))
    assert files[name] == LARGE.tobytes()
    for chip in ("sm_80", "sm_90a"):
        data = json.loads(files[f"{chip}/plan.json"])["data"]
        large = [item for item in data if "hex" not in item]
        assert large
        assert {item["file"] for item in large} == {name}
        assert SMALL.tobytes().hex() in [item.get("hex") for item in data]


def test_results_are_the_same(path: Path) -> None:
    x = random(3, ROWS)
    expected = ((x @ LARGE + SMALL) @ LARGE) + SMALL
    for module in pipeline.load(path).variants.values():
        result = module.run(x, backend="emulator", check="races")
        np.testing.assert_allclose(result, expected, rtol=1e-5)


def test_what_is_loaded_is_saved_alike(path: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.bundle"
    variants = pipeline.load(path).variants
    variants["sm_80"].save(again, variants=[variants["sm_90a"]])
    assert again.read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"file": "data/none.bin"}, '"data/none.bin", which is no file'),
        ({"file": "sm_90a/kernels.ptx"}, "which is no file beside it"),
        ({"file": 7}, "7, which is no file beside it"),
        ({"file": ["x"]}, "a list of 1, which is no file beside it"),
        ({"hex": "00"}, "both here and in a file"),
    ],
)
def test_plans_that_name_other_files(
    path: Path, tmp_path: Path, fields: dict[str, Any], reason: str
) -> None:
    files = unpack(path)
    plan = json.loads(files["sm_80/plan.json"])
    for item in plan["data"]:
        if "file" in item:
            item |= fields
    files["sm_80/plan.json"] = json.dumps(plan).encode()
    edited = tmp_path / "edited.bundle"
    edited.write_bytes(seal(files))
    with pytest.raises(pipeline.PlanError, match=rf"plan\.json: .*data\[\d\].*{reason}"):
        pipeline.load(edited)


def test_files_of_another_size(path: Path, tmp_path: Path) -> None:
    files = unpack(path)
    (name,) = (name for name in files if name.startswith("data/"))
    files[name] = files[name][:-4]
    edited = tmp_path / "edited.bundle"
    edited.write_bytes(pack(files))
    with pytest.raises(pipeline.BundleError, match=f'"{name}" does not match its checksum'):
        pipeline.load(edited)
    edited.write_bytes(seal(files))
    size = 4 * ROWS * ROWS
    with pytest.raises(pipeline.PlanError, match=f"has {size - 4} bytes, but must have {size}"):
        pipeline.load(edited)
