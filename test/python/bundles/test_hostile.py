"""Bundles that are damaged, foreign or hostile: refused in words, and nothing is written."""

from __future__ import annotations

import io
import json
import os
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pipeline
from fuzzing.bundle import KINDS, Counts, Fuzzer, make_bundle, seal
from pipeline.bundles import archive
from pipeline.bundles.archive import pack, unpack


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Return the files of a bundle."""
    return unpack(make_bundle(tmp_path_factory.mktemp("whole")))


@pytest.fixture
def refuse(tmp_path: Path) -> Callable[[bytes], str]:
    """Return what says why a bundle is refused."""

    def load(data: bytes) -> str:
        path = tmp_path / "b"
        path.write_bytes(data)
        before = sorted(os.walk(tmp_path))
        with pytest.raises((pipeline.BundleError, pipeline.PlanError)) as caught:
            pipeline.load(path)
        assert sorted(os.walk(tmp_path)) == before
        message = str(caught.value)
        assert message.startswith(f"{path}: error: ")
        assert caught.value.exit_code == 2
        return message.removeprefix(f"{path}: error: ")

    return load


def zip_of(
    *entries: tuple[zipfile.ZipInfo | str, bytes], method: int = zipfile.ZIP_STORED
) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for entry, content in entries:
            archive.writestr(entry, content, method)
    return stream.getvalue()


Refuse = Callable[[bytes], str]

# --- archives -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["../x", "/x", "a/../x", "a\\x", "c:x", "a//b", "x/", "é", "a/b/c/d/e", ".x", "a\nb"]
)
def test_names(name: str, files: dict[str, bytes], refuse: Refuse) -> None:
    entries = [*files.items(), (name, b"")]
    assert refuse(zip_of(*entries)) == f"it holds a file with the name {json.dumps(name)}"


def test_names_that_end_early(files: dict[str, bytes], refuse: Refuse) -> None:
    """What has a NUL in its name is called in two ways."""
    data = zip_of(*files.items(), ("extra-file", b""))
    assert refuse(data.replace(b"extra-file", b"extra\0file")).startswith("it holds a file with")


def test_links(files: dict[str, bytes], refuse: Refuse) -> None:
    link = zipfile.ZipInfo("link")
    link.external_attr = 0o120777 << 16
    assert refuse(zip_of(*files.items(), (link, b"/etc/passwd"))).startswith('"link" is a link')


@pytest.mark.parametrize("other", ["sm_80/plan.json", "SM_80/plan.json"])
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_files_that_are_there_twice(other: str, files: dict[str, bytes], refuse: Refuse) -> None:
    data = zip_of(*files.items(), (other, files["sm_80/plan.json"]))
    assert refuse(data) == f'it holds "{other}" twice'


def test_encrypted(files: dict[str, bytes], refuse: Refuse) -> None:
    data = bytearray(pack(files))
    for at, mark in ((6, b"PK\3\4"), (8, b"PK\1\2")):
        data[data.find(mark) + at] |= 1
    assert "is encrypted, or packed in a way" in refuse(bytes(data))


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_ways_of_packing(method: int, files: dict[str, bytes], refuse: Refuse) -> None:
    assert "packed in a way that bundles are not" in refuse(zip_of(*files.items(), method=method))


def test_bomb_that_says_so(files: dict[str, bytes], refuse: Refuse) -> None:
    data = bytearray(pack(files))
    at = data.find(b"PK\1\2")
    struct.pack_into("<I", data, at + 24, (1 << 30) + 1)
    assert refuse(bytes(data)) == "it holds more than 4096 files, or 1024 MiB"


def test_bomb_that_does_not(files: dict[str, bytes], refuse: Refuse) -> None:
    """Of 64 MiB that call themselves 10 bytes, no more is unpacked than they say."""
    data = bytearray(zip_of(*files.items(), ("zeros", bytes(1 << 26)), method=zipfile.ZIP_DEFLATED))
    at = data.rfind(b"PK\1\2")
    struct.pack_into("<I", data, at + 24, 10)
    assert refuse(bytes(data)).startswith(
        "it is no archive, or damaged: Bad CRC-32 for file 'zeros'"
    )


def test_file_that_is_shorter_than_it_says(files: dict[str, bytes], refuse: Refuse) -> None:
    data = bytearray(zip_of(*files.items(), ("short", b"12345")))
    at = data.rfind(b"PK\1\2")
    struct.pack_into("<I", data, at + 24, 10)
    assert refuse(bytes(data)) == '"short" is not as long as it says'


def test_folder_that_is_too_large(
    files: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sm_80").mkdir()
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    assert pipeline.load(tmp_path).kernels
    for name, most in (("MOST_FILES", 4), ("MOST_BYTES", 1000)):
        with monkeypatch.context() as patch:
            patch.setattr(archive, name, most)
            with pytest.raises(pipeline.BundleError, match="it holds more than "):
                pipeline.load(tmp_path)


def test_too_many_files(files: dict[str, bytes], refuse: Refuse) -> None:
    entries = [*files.items(), *((f"f{number}", b"") for number in range(4096))]
    assert refuse(zip_of(*entries)) == "it holds more than 4096 files, or 1024 MiB"


def test_what_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(pipeline.BundleError, match="it is neither a file nor a folder"):
            pipeline.load(path)
    with pytest.raises(pipeline.BundleError, match="cannot be read: No such file"):
        pipeline.load(tmp_path / "no")
    (tmp_path / "empty").mkdir()
    with pytest.raises(pipeline.BundleError, match="it is no bundle: it has no manifest"):
        pipeline.load(tmp_path / "empty")


def test_links_in_a_folder(files: dict[str, bytes], tmp_path: Path) -> None:
    (tmp_path / "b" / "sm_80").mkdir(parents=True)
    for name, content in files.items():
        (tmp_path / "b" / name).write_bytes(content)
    assert pipeline.load(tmp_path / "b").kernels
    plan = tmp_path / "b" / "sm_80" / "plan.json"
    plan.rename(tmp_path / "plan.json")
    plan.symlink_to(tmp_path / "plan.json")
    with pytest.raises(pipeline.BundleError, match=r'"sm_80/plan\.json" is a link, or no plain'):
        pipeline.load(tmp_path / "b")
    plan.unlink()
    (tmp_path / "b" / "sm_80").rename(tmp_path / "elsewhere")
    (tmp_path / "b" / "sm_80").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(pipeline.BundleError, match='"sm_80" is a link, or no plain file'):
        pipeline.load(tmp_path / "b")


# --- manifests ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("format", "other", "manifest.json: it is no document of format pipeline-bundle"),
        ("version", [2, 0], "manifest.json: version: is 2.0, but this reads 1.x: use the version"),
        ("version", [1, 2], "manifest.json: version: is 1.2, but this reads up to 1.1: install a"),
        ("version", "1.0", 'manifest.json: version: is "1.0", but must be a list of 2'),
        ("features", ["pdl"], "manifest.json: features: are ['pdl'], none of which this reads"),
        ("features", ..., 'manifest.json: has no field "features"'),
        ("zz", 1, 'manifest.json: has the field "zz", which nobody knows'),
        ("license", 5, "manifest.json: license: is 5, but must be a text"),
        ("chips", [], "manifest.json: chips: is a list of 0, but must be a list of 1 to 64"),
        ("chips", ["sm_80", "sm_80"], "manifest.json: chips: has a chip twice"),
        ("chips", ["sm_80", "sm_90"], "manifest.json: files: has 0 files of role plan for sm_90"),
        ("chips", ["sm_90"], 'is of chip "sm_80", but its role is'),
        ("files plan role", "code", '.role: is "code", but must be one of certificate, cubin'),
        ("files plan role", "ptx", "has 0 files of role plan for sm_80"),
        ("files plan role", "report", 'is of chip "sm_80", but its role is report'),
        ("files plan chip", ..., "is of no chip, but its role is plan"),
        (
            "files plan bytes",
            1,
            '"sm_80/plan.json" does not match its checksum: the bundle is damaged',
        ),
        ("files plan bytes", True, ".bytes: is true, but must be a whole number"),
        ("files plan sha256", "0" * 64, '"sm_80/plan.json" does not match its checksum'),
        ("files plan sha256", "0" * 63, "but must be 64 hexadecimal digits"),
        ("files plan", ..., "has 0 files of role plan for sm_80"),
        ("files ../up", {}, 'is "../up", which is no name for a file of a bundle'),
    ],
)
def test_manifests(
    path: str, value: Any, words: str, files: dict[str, bytes], refuse: Refuse
) -> None:
    manifest = json.loads(files["manifest.json"])
    parts = path.split(" ")
    keys = [part if part != "plan" else "sm_80/plan.json" for part in parts]
    parent = manifest
    for key in keys[:-1]:
        parent = parent[key]
    if value is ...:
        del parent[keys[-1]]
    else:
        parent[keys[-1]] = value
    assert words in refuse(pack({**files, "manifest.json": json.dumps(manifest).encode()}))


def test_notes_are_skipped(files: dict[str, bytes], tmp_path: Path) -> None:
    manifest = {**json.loads(files["manifest.json"]), "x-note": {"of": [None]}}
    path = tmp_path / "b"
    path.write_bytes(pack({**files, "manifest.json": json.dumps(manifest).encode()}))
    assert pipeline.load(path).kernels


def test_files_that_are_missing_or_more(files: dict[str, bytes], refuse: Refuse) -> None:
    fewer = {name: content for name, content in files.items() if name != "sm_80/kernels.bc"}
    assert refuse(pack(fewer)) == '"sm_80/kernels.bc" is missing'
    assert refuse(pack({**files, "more": b""})) == '"more" is not in manifest.json'
    assert refuse(pack({"a": b""})) == "it is no bundle: it has no manifest.json"


# --- parts that do not belong together ------------------------------------------------------------


PART = {"kind": "pointer", "argument": 0, "dim": 0}


def change(files: dict[str, bytes], name: str, old: str, new: str) -> bytes:
    text = files[f"sm_80/{name}"].decode()
    assert old in text
    return seal({**files, f"sm_80/{name}": text.replace(old, new).encode()})


@pytest.mark.parametrize(
    ("name", "old", "new", "words"),
    [
        ("kernels.ptx", ".target sm_80", ".target sm_90", 'the PTX for sm_80 is for "sm_90"'),
        ("kernels.ptx", ".entry add_kernel", ".entry other", 'has no kernel "add_kernel"'),
        ("kernels.ptx", ".entry add_kernel(", ".entry add_kernel(.param .u64 x, ", "parameters in"),
        ("kernels.ptx", "ret;", "ret;\0", "the PTX for sm_80 holds a NUL"),
        ("plan.json", '"sm_80"', '"sm_86"', 'the launch plan for sm_80 is for "sm_86"'),
        (
            "plan.json",
            '"add_kernel"',
            '"sub_kernel"',
            'kernel: is "sub_kernel", but there is no code',
        ),
        ("plan.json", '"name":"main"', '"name":"other"', 'has another function "main"'),
        ("plan.json", '"memref<4x6xf32>"', '"memref<4x?xf32>"', 'has another function "main"'),
        ("kernels.json", '"name": "main"', '"name": "other"', 'has another function "other"'),
        (
            "kernels.json",
            '"version": [\n  1',
            '"version": [\n  2',
            "sm_80/kernels.json: version: is",
        ),
        (
            "kernels.json",
            '"kind": "pointer"',
            '"kind": "tensormap"',
            "parameters[0]: is the tensorm",
        ),
        ("kernels.json", '"kind": "pointer"', '"kind": "address"', '.kind: is "address", but must'),
        ("kernels.json", '"alignment": 16', '"alignment": 12', "is 12, which is no power of two"),
        ("kernels.json", '"argument": 1', '"argument": 2', "parameters[1]: is the value of what"),
        ("kernels.json", '"element_type": "i32"', '"element_type": "i64"', "but kernel"),
    ],
)
def test_parts(
    name: str, old: str, new: str, words: str, files: dict[str, bytes], refuse: Refuse
) -> None:
    message = refuse(change(files, name, old, new))
    assert words in message


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("entries 0 written", [True], "entries[0].written: has not as many as arguments"),
        ("kernels 0 parameters 0 parts 0", PART | {"dim": 1}, ""),
        ("kernels 0 parameters 0 parts 0 kind", "extent", ""),
        ("kernels 0 parameters 0 parts 0", PART | {"kind": "extent", "dim": 1}, "is the extent of"),
        ("kernels 0 parameters 0 parts", [PART, PART | {"kind": "extent"}], "is a count and some"),
        ("kernels 0 parameters 0 parts", [], "parts: is a list of 0, but must be a list of 1"),
        ("kernels 0 arguments 0 strides", [1, 1], "has 2 strides, but 1 extents"),
        ("kernels 0 arguments 0 shape", [-1], "shape[0]: is -1, but must be a whole number"),
        ("kernels 0 known_block", [1, 1], "known_block: is a list of 2, but must be a list of 3"),
    ],
)
def test_kernels(
    path: str, value: Any, words: str, files: dict[str, bytes], tmp_path: Path
) -> None:
    document = json.loads(files["sm_80/kernels.json"])
    *keys, last = [int(key) if key.isdigit() else key for key in path.split()]
    parent = document
    for key in keys:
        parent = parent[key]
    parent[last] = value
    content = json.dumps(document).encode()
    (tmp_path / "b").write_bytes(seal({**files, "sm_80/kernels.json": content}))
    if not words:
        assert pipeline.load(tmp_path / "b")
        return
    with pytest.raises(pipeline.BundleError) as caught:
        pipeline.load(tmp_path / "b")
    assert f"{tmp_path / 'b'}: error: sm_80/kernels.json: " in str(caught.value)
    assert words in str(caught.value)


def test_plans_name_the_place(files: dict[str, bytes], refuse: Refuse) -> None:
    data = change(files, "plan.json", '"source":"%0"', '"source":"%99"')
    words = "sm_80/plan.json: launch plan: functions[1].body.steps["
    message = refuse(data)
    assert message.startswith(words)
    assert message.endswith("].source: is %99, which is not made before")


def test_bitcode_of_another_llvm(files: dict[str, bytes], tmp_path: Path) -> None:
    text = files["manifest.json"].decode().replace('"llvm": "22.', '"llvm": "23.')
    path = tmp_path / "b"
    path.write_bytes(pack({**files, "manifest.json": text.encode()}))
    kernel = pipeline.load(path).kernels["add_kernel"]
    with pytest.raises(pipeline.UsageError, match="the bundle is for the emulator of LLVM 23"):
        kernel.run(np.ones(1, np.int32), 1, grid=1, backend="emulator")


# --- random damage --------------------------------------------------------------------------------


def test_random_damage(tmp_path: Path) -> None:
    """`tools/fuzz bundle` tries more seeds."""
    counts = Counts()
    fuzzer = Fuzzer(tmp_path, counts)
    problems = {seed: problem for seed in range(400) if (problem := fuzzer.check(seed))}
    assert not problems
    assert all(counts.refused[kind] for kind in KINDS)
    assert sum(counts.same.values()) > 0
    assert counts.ran["plan"] > 0
