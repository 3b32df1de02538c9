"""``compile --emit bundle``, ``run`` of a bundle, ``inspect``."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import pipeline
from pipeline.bundles.archive import unpack
from support.command_line import Outcome, call, check_manners
from support.examples import EXAMPLES

SOFTMAX = EXAMPLES / "softmax.mlir"


def command(*arguments: str | Path) -> Outcome:
    outcome = call(*arguments)
    check_manners(outcome.code, outcome.words)
    return outcome


def compile_to(path: Path, *options: str) -> Outcome:
    return command("compile", SOFTMAX, "--emit", "bundle", "-o", path, *options)


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    path = tmp_path / "softmax.bundle"
    assert compile_to(path) == Outcome(0, b"", "")
    return path


def test_compile(bundle: Path) -> None:
    """It is what `Module.save` writes; without a named chip it takes no ptxas."""
    other = bundle.with_name("other")
    pipeline.compile(SOFTMAX).save(other)
    assert bundle.read_bytes() == other.read_bytes()
    assert list(pipeline.load(bundle).images) == []


def test_chips(tmp_path: Path) -> None:
    path = tmp_path / "b"
    outcome = compile_to(path, "--chip", "sm_90a,sm_80", "--license", "MIT", "--timing")
    assert (outcome.code, outcome.data) == (0, b"")
    assert outcome.words.count(" ms  total") == 2
    module = pipeline.load(path)
    assert list(module.variants) == ["sm_80", "sm_90a"]
    for chip, variant in module.variants.items():
        assert variant.images[chip].startswith(b"\x7fELF")
    description = json.loads(command("inspect", path, "--format", "json").data)
    assert description["license"] == "MIT"
    assert [each["chip"] for each in description["variants"]] == ["sm_80", "sm_90a"]
    assert all(each["cubin"] and each["emulator"] for each in description["variants"])


def test_what_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "b"
    assert compile_to(path, "--chip", "sm_89", "--no-cubin", "--no-emulator").code == 0
    names = sorted(unpack(path))
    assert names == [
        "manifest.json",
        *(f"sm_89/kernels.{end}" for end in ("json", "ptx")),
        "sm_89/plan.json",
    ]
    outcome = command("run", path, "--backend", "emulator", "--random", "1")
    assert outcome.code == 2
    assert "compile it without --no-emulator" in outcome.words


def test_texts_of_several_chips(tmp_path: Path) -> None:
    temps = tmp_path / "temps"
    options = ("--chip", "sm_80,sm_86", "--no-cubin", "--save-temps", str(temps))
    assert compile_to(tmp_path / "b", *options).code == 0
    texts = [(temps / chip / "softmax.ptx").read_text() for chip in ("sm_80", "sm_86")]
    assert [
        f".target {chip}" in text for chip, text in zip(("sm_80", "sm_86"), texts, strict=True)
    ] == [True] * 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--chip", "sm_80,sm_90"), "several chips make a bundle: add --emit bundle"),
        (("--emit", "bundle", "--chip", "sm_80,sm_80"), "a chip is there twice"),
        (("--emit", "bundle", "--chip", "sm_80,"), "unknown chip ''"),
        (("--emit", "bundle", "--chip", "sm_80,sm_1"), "unknown chip 'sm_1'"),
    ],
)
def test_chips_that_are_refused(options: tuple[str, ...], words: str, tmp_path: Path) -> None:
    outcome = command("compile", SOFTMAX, "-o", tmp_path / "b", *options)
    assert outcome.code == 2
    assert words in outcome.words
    assert list(tmp_path.iterdir()) == []


def test_several_chips_from_the_standard_input(tmp_path: Path) -> None:
    arguments = ("compile", "-", "--emit", "bundle", "-o", str(tmp_path / "b"))
    outcome = call(*arguments, "--chip", "sm_80,sm_90", stdin=SOFTMAX.read_bytes())
    assert outcome.code == 2
    assert "give a file" in outcome.words
    assert call(*arguments, "--no-cubin", stdin=SOFTMAX.read_bytes()).code == 0


def test_run(bundle: Path, tmp_path: Path) -> None:
    x = np.random.default_rng(2).uniform(-2, 2, (3, 40)).astype(np.float32)
    np.save(tmp_path / "x.npy", x)
    arguments = ("--arg", str(tmp_path / "x.npy"), "--out", str(tmp_path / "out"))
    outcome = command("run", bundle, "--backend", "emulator", "--check-races", *arguments)
    assert outcome.code == 0
    assert "no finding on this launch" in outcome.text
    wide = np.exp(x.astype(np.float64))
    result = np.load(tmp_path / "out" / "result0.npy")
    np.testing.assert_allclose(result, wide / wide.sum(1, keepdims=True), rtol=1e-5)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "if you trust the bundle, say --backend emulator"),
        (("--backend", "emulator", "--schedule", "none"), "--schedule is for programs, and "),
        (("--backend", "emulator", "--assert-bounds"), "--assert-bounds is for programs, and "),
        (("--backend", "emulator", "--chip", "sm_90"), "--chip is 'sm_90', but the bundle is for"),
    ],
)
def test_run_that_is_refused(bundle: Path, options: tuple[str, ...], words: str) -> None:
    outcome = command("run", bundle, "--random", "1", *options)
    assert outcome.code == 2
    assert words in outcome.words


def test_inspect(bundle: Path) -> None:
    outcome = command("inspect", bundle)
    assert (outcome.code, outcome.words) == (0, "")
    lines = outcome.text.splitlines()
    assert lines[1].startswith("made by   llvm 22.")
    assert "license   not told" in lines
    assert "sm_80: PTX, what the emulator runs" in lines
    assert "  function main(memref<?x?xf32>)" in lines
    assert any(line.endswith("  sm_80/plan.json") for line in lines)


@pytest.mark.parametrize("name", ["run", "inspect"])
def test_what_is_no_bundle(name: str, tmp_path: Path) -> None:
    path = tmp_path / "b"
    path.write_bytes(b"PK\3\4 and nothing else")
    outcome = command(name, path)
    assert outcome.code == 2
    assert outcome.words.startswith(f"{path}: error: it is no archive, or damaged: ")
    assert command("inspect", SOFTMAX).code == 2


@pytest.mark.parametrize("option", ["--no-cubin", "--no-emulator", "--license=MIT"])
def test_options_of_bundles(option: str, tmp_path: Path) -> None:
    """They are refused where no bundle is written."""
    target = tmp_path / "program.ptx"
    outcome = call("compile", EXAMPLES / "softmax.mlir", option, "-o", target)
    name = option.partition("=")[0]
    assert outcome.code == 2
    assert outcome.words == f"error: {name} is for bundles: add --emit bundle\n"
    assert not target.exists()
