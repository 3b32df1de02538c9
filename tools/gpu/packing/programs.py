"""Programs for a pack, as bundles: those of the suite with NumPy's results, and references."""

from __future__ import annotations

import io
import re
import tempfile
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import pipeline
from running.arrays import Array, Json

from .references import Reference

if TYPE_CHECKING:
    from linalg.linalg_programs import Program

CHIP, NEWER_CHIP = "sm_80", "sm_90a"


@dataclass(frozen=True)
class PackedProgram:
    """A program for a pack: what `suite.json` says of it, the files, and what they are made of."""

    record: Json
    files: dict[str, bytes]
    modules: tuple[pipeline.Module, ...]


def pack_program(program: Program) -> PackedProgram:
    """Compile a program of the suite. Raises pipeline.Error."""
    module = pipeline.compile(program.text, chip=CHIP)
    name = f"linalg {program.name}"
    files: dict[str, bytes] = {}
    entry = module.entries[program.entry]
    elements = [argument.element_type for argument in entry.arguments]
    written = [elements[index] for index in program.written]
    results = [_element_of(text) for text in module.plan.functions[program.entry].results]
    runs = []
    for number in range(len(program.runs)):
        stem = f"data/{_stem(name)}.{number}"
        arguments = [
            _pack(value, element, f"{stem}.{index}.npy", files)
            for index, (value, element) in enumerate(
                zip(program.arguments(number), elements, strict=True)
            )
        ]
        expected = [
            _pack(np.asarray(value), element, f"{stem}.expected.{index}.npy", files)
            for index, (value, element) in enumerate(
                zip(program.expect(number), [*written, *results], strict=True)
            )
        ]
        runs.append({"arguments": arguments, "expected": expected})
    bundle = f"bundles/{_stem(name)}.zip"
    files[bundle] = save(module)
    record = {
        "kind": "program",
        "name": name,
        "stages": ("check", "sanitize"),
        "chips": [CHIP],
        "bundle": bundle,
        "entry": program.entry,
        "runs": runs,
        "written": program.written,
        "tolerance": program.tolerance,
    }
    return PackedProgram(record, files, (module,))


def _element_of(text: str) -> str:
    """Return the element type of a type of MLIR."""
    match = re.fullmatch(r"(?:tensor|memref)<(?:[\d?]+x)*(\w+)[,>].*|(\w+)", text)
    assert match is not None, text
    return match[1] or match[2]


def _pack(value: Any, element: str, name: str, files: dict[str, bytes]) -> Json:
    """Return the record of an argument or a result, and add its file if it is an array."""
    if not isinstance(value, np.ndarray):
        return {"value": value.item() if hasattr(value, "item") else value, "element": element}
    stream = io.BytesIO()
    np.save(stream, _bits(np.ascontiguousarray(value).reshape(value.shape)), allow_pickle=False)
    files[name] = stream.getvalue()
    return {"file": name, "element": element}


def _bits(array: Array) -> Array:
    """Return an array of a type that NumPy has by itself."""
    return array if array.dtype.isbuiltin == 1 else array.view(f"u{array.itemsize}")


def _stem(name: str) -> str:
    return re.sub(r"\W+", "-", name).strip("-")


def pack_reference(reference: Reference, **more: str) -> PackedProgram:
    """Compile a reference program, for newer chips too if it is timed. Raises pipeline.Error.

    more: what `suite.json` says of it besides.
    """
    chips = [CHIP, NEWER_CHIP] if "time" in reference.stages else [CHIP]
    modules = [pipeline.compile(reference.text, chip=chip) for chip in chips]
    bundle = f"bundles/{_stem(reference.name)}.zip"
    work, unit = reference.work
    record = {
        "kind": "reference",
        "name": reference.name,
        "stages": reference.stages,
        "chips": chips,
        "bundle": bundle,
        "reference": reference.function,
        "inputs": [asdict(operand) for operand in reference.inputs],
        "output": asdict(reference.output),
        "tolerance": reference.tolerance,
        "work": work,
        "unit": unit,
        "seed": zlib.crc32(reference.name.encode()),
        **more,
    }
    return PackedProgram(record, {bundle: save(*modules)}, tuple(modules))


def save(module: pipeline.Module, *variants: pipeline.Module) -> bytes:
    """Return a bundle for the GPU alone."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "bundle.zip"
        module.save(file, variants=variants, emulator=False)
        return file.read_bytes()
