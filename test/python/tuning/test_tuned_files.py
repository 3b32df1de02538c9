"""Files of tuned tiles: what is taken of them, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import pipeline
from pipeline.compiling.compiler import Chooser, compile_natively, make_request
from pipeline.schedules.structure import spell
from pipeline.schedules.tile import Tile
from pipeline.schedules.tuned import Score, TunedTile, TunedTiles, read_tuned
from support.command_line import call
from tuning.test_tuning import OWN_KERNEL, TRANSPOSE

TILE = Tile((32, 32), 128)


def structure_of(text: str) -> str:
    chooser = Chooser("sm_80", only=True)
    compile_natively(make_request(text, chip="sm_80")[1], chooser)
    return spell(chooser.kernels[0])


def write(path: Path, *, chip: str = "sm_80", tile: Tile = TILE, numerics: str = "exact") -> Path:
    entry = TunedTile(structure_of(TRANSPOSE), chip, numerics, tile, Score("cycles", 90, 100))
    path.write_bytes(TunedTiles((entry,)).write({"mlir-workgroup": "0"}))
    return path


def remarks_of(module: pipeline.Module) -> dict[str, str]:
    return {one.name: one.arguments.get("Reason", "") for one in module.remarks}


def test_documents_are_read_as_they_were_written(tmp_path: Path) -> None:
    tile = Tile((32, 0), 64, (8, 1), slots=2, producers=32)
    data = write(tmp_path / "a.json", tile=tile).read_bytes()
    tiles = read_tuned(data)
    assert tiles.write({"mlir-workgroup": "0"}) == data
    assert tiles.entries[0].tile == tile


def test_a_tile_is_taken(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json")
    module = pipeline.compile(TRANSPOSE, tuned=path, until="gpu")
    assert '"block" = [32, 32]' in (module.schedule or "")
    assert pipeline.choose_schedule(TRANSPOSE, tuned=path) == module.schedule
    assert "TunedTiles" in remarks_of(module)


def test_names_of_the_program_do_not_matter(tmp_path: Path) -> None:
    text = TRANSPOSE.replace("@main", "@other").replace("%x", "%y")
    module = pipeline.compile(text, tuned=write(tmp_path / "a.json"), until="gpu")
    assert "TunedTiles" in remarks_of(module)


def test_other_chips_and_shapes_are_passed_over_with_a_remark(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", chip="sm_90a")
    module = pipeline.compile(TRANSPOSE, tuned=path, until="gpu")
    assert remarks_of(module)["NotTuned"] == "its entries are for sm_90a"
    other = TRANSPOSE.replace("96", "95")
    module = pipeline.compile(other, tuned=path, until="gpu")
    assert remarks_of(module)["NotTuned"] == "no entry is of its operations, shapes and types"
    path = write(tmp_path / "a.json", numerics="tf32")
    module = pipeline.compile(TRANSPOSE, tuned=path, until="gpu")
    assert remarks_of(module)["NotTuned"] == "its entries for sm_80 are for other numerics"


def change(document: Any, place: str, value: Any) -> None:
    *path, last = place.split(".")
    for name in path:
        document = document[int(name) if name.isdigit() else name]
    document[last] = value


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda d: change(d, "format", "other"), "it is no document of format pipeline-tuned"),
        (lambda d: change(d, "version", [2, 0]), "it has version"),
        (lambda d: change(d, "more", 1), 'has the field "more", which nobody knows'),
        (lambda d: change(d, "entries.0.chip", "A100"), "a chip, as sm_90a"),
        (lambda d: change(d, "entries.0.tile.threads", 4096), "whole number from 1 to 1024"),
        (lambda d: change(d, "entries.0.tile.block", [8]), "has 1 sizes, but there are 2 loops"),
        (lambda d: change(d, "entries.0.tile.reduction", [8, 8]), "which no sum has"),
        (lambda d: change(d, "entries.0.tile.split", [8, 8]), "but the sum has 0 loops"),
        (lambda d: d["entries"].append(d["entries"][0]), "is for the same kernel and chip as"),
    ],
)
def test_files_that_do_not_fit_are_refused(
    edit: Callable[[Any], None], message: str, tmp_path: Path
) -> None:
    path = write(tmp_path / "a.json")
    document = json.loads(path.read_text())
    edit(document)
    path.write_text(json.dumps(document))
    with pytest.raises(pipeline.UsageError) as caught:
        pipeline.compile(TRANSPOSE, tuned=path, until="gpu")
    assert str(caught.value).startswith(f"{path}: error: ")
    assert message in str(caught.value)


def test_what_is_no_json_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("{")
    with pytest.raises(pipeline.UsageError, match="it is no JSON"):
        pipeline.compile(TRANSPOSE, tuned=path)
    with pytest.raises(pipeline.UsageError, match="cannot be read"):
        pipeline.compile(TRANSPOSE, tuned=tmp_path / "b.json")


def test_programs_without_a_choice_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json")
    with pytest.raises(pipeline.UsageError, match="give no other"):
        pipeline.compile(TRANSPOSE, tuned=path, schedule="none")
    with pytest.raises(pipeline.UsageError, match="none is for this program"):
        pipeline.compile(OWN_KERNEL, tuned=path)


def test_the_command_line(tmp_path: Path) -> None:
    program, path = tmp_path / "t.mlir", tmp_path / "tiles.json"
    program.write_text(TRANSPOSE)
    words = ("--candidates", "2", "--workers", "1", "--all", "-o", str(path))
    outcome = call("tune", str(program), *words)
    assert outcome.code == 0, outcome.words
    assert "2 of 2 candidates tried: 2 measured" in outcome.text
    assert f"for compile --tuned {path} --chip sm_80" in outcome.text
    made = call("compile", str(program), "--tuned", str(path), "--remarks", "schedules")
    assert "TunedTiles" in made.words
    refused = call("tune", str(program), "--executor", "threads", "-o", str(path))
    assert refused.code == 2
    assert "error: --executor is 'threads', but must be local" in refused.words


def test_reasons_are_told_where_nothing_can_be_measured(tmp_path: Path) -> None:
    examples = Path(__file__).parents[2] / "Examples"
    outcome = call("tune", str(examples / "softmax.mlir"), "-o", str(tmp_path / "tiles.json"))
    assert outcome.code == 1
    assert outcome.text.count("there are no random values for memref<?x?xf32>") == 1
    assert not (tmp_path / "tiles.json").exists()
