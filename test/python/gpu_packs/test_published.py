"""The benchmark over published shapes: what is in it, in two halves, with and without a GPU."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import pipeline
from benchmarks import gpu_time
from packing.programs import pack_reference
from packing.published import attention, batch_matmul, published
from packing.references import LARGE, Reference, by_row
from running import tables
from running.arrays import Json
from running.references import REFERENCES
from running.results import Results
from running.verdicts import Item, Verdict

SMALL = (batch_matmul(2, 33, 40, 24), attention(2, 32, 64), by_row("copy", 37, 132, LARGE))


def test_there_are_fifty_shapes_of_all_groups() -> None:
    everything = list(published())
    names = [one.reference.name for one in everything]
    assert len(set(names)) == len(names) >= 50
    groups = Counter(one.group for one in everything)
    assert {"square", "LLM", "skinny", "ragged", "batched", "conv", "memory", "attention"} == set(
        groups
    )
    assert all(one.source and one.reference.stages == LARGE for one in everything)
    assert all(one.reference.work[0] > 0 for one in everything)


@pytest.mark.parametrize("reference", SMALL, ids=lambda one: one.function)
def test_programs_compute_what_they_are_held_against(reference: Reference) -> None:
    module = pipeline.compile(reference.text)
    rng = np.random.default_rng(0)
    kinds = {"f16": np.float16, "f32": np.float32}
    inputs = [rng.standard_normal(one.shape).astype(kinds[one.element]) for one in reference.inputs]
    output = np.full(reference.output.shape, np.nan, kinds[reference.output.element])
    module.run(*inputs, output, backend="emulator")
    wanted = REFERENCES[reference.function](np, *(one.astype(np.float64) for one in inputs))
    apart = np.abs(output - wanted) / np.maximum(1.0, np.abs(wanted))
    assert apart.max() <= reference.tolerance


def test_what_is_packed_elsewhere_needs_a_gpu_to_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The first half writes the pack; the second says what is missing, with exit code 69."""
    one = next(one for one in published() if one.reference.function == "copy")
    monkeypatch.setattr(gpu_time, "published", lambda: [one])
    folder = tmp_path / "pack"
    assert gpu_time.main([str(folder), "--prepare"]) == 0
    suite = json.loads((folder / "suite.json").read_text())
    assert suite["cases"][0]["group"] == "memory"
    assert suite["cases"][0]["stages"] == ["time"]
    assert gpu_time.main([str(folder)]) == 69
    assert "error: " in capfd.readouterr().err
    assert gpu_time.main([str(folder), "--only", "nothing like it"]) == 2


def test_groups_are_told_with_their_sources(tmp_path: Path) -> None:
    reference = by_row("copy", 37, 132, LARGE)
    record = pack_reference(reference, group="memory", source="a paper").record
    header: Json = dict.fromkeys(("date", "gpu", "chip", "driver", "commit", "pack"), "")
    header |= {"chips": [], "left_out": {}}
    item = Item("time", record["name"])
    results = Results(tmp_path, header, [record], [item])
    times = {"median": 1.0, "p10": 1.0, "p90": 1.0}
    peers = {"ours": {**times, "of_torch": 0.5}, "torch": times}
    results.put(item, verdict=Verdict("timed", figures={"peers": peers}))
    text = tables.write(results)
    assert f"| memory | 1 | 0.500 | 0.500 ({record['name']}) | a paper |" in text
