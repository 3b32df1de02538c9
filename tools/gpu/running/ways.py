"""Reference programs, called in all the ways that callers do: on the host, on views, on streams.

Each writes its last argument, which holds NaN before.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import pipeline

from .arrays import Array, Buffer, Difference, Json, decode, inspect, surround
from .doors import ML_TYPES, Door
from .oracle import Comparison, Found, Oracle, compare_with
from .references import REFERENCES
from .verdicts import Verdict

_POISON = 0xFF
"""Of which all floats are NaN."""
_REPETITIONS = 3


# --- what is computed -----------------------------------------------------------------------------


def make_buffers(case: Json) -> list[Buffer]:
    """Return the arguments of a reference program: random, with what becomes of the last."""
    rng = np.random.default_rng(case["seed"])
    inputs = [_make_input(number, record, rng) for number, record in enumerate(case["inputs"])]
    numbers = [
        np.asarray(decode(buffer.elements(buffer.before), buffer.record["element"]), np.float64)
        for buffer in inputs
    ]
    wanted = REFERENCES[case["reference"]](np, *numbers)
    return [*inputs, _make_output(case, len(inputs), np.asarray(wanted, np.float64))]


def _make_input(number: int, record: Json, rng: np.random.Generator) -> Buffer:
    values = np.asarray(rng.standard_normal(record["shape"]), np.float32)
    bits = encode(values, record["element"])
    fields = _describe(record["element"], bits, 0.0) | {"argument": number}
    memory = np.frombuffer(bits.tobytes(), np.uint8)
    if record.get("row"):  # rows of a wider array
        row = record["row"] * bits.itemsize
        strides = (row, bits.itemsize)
        wide = np.full(row * bits.shape[0], 0xA5, np.uint8)
        np.ndarray(bits.shape, bits.dtype, wide, 0, strides)[...] = bits
        memory = wide[: row * (bits.shape[0] - 1) + bits.shape[1] * bits.itemsize].copy()
        fields["strides"] = strides
    return Buffer(fields, memory, memory)


def _make_output(case: Json, argument: int, wanted: Array) -> Buffer:
    record = case["output"]
    after = encode(wanted, record["element"])
    fields = _describe(record["element"], after, case["tolerance"])
    fields |= {"argument": argument, "written": True}
    before = np.full(after.nbytes, _POISON, np.uint8)
    return Buffer(fields, before, np.frombuffer(after.tobytes(), np.uint8))


def _describe(element: str, bits: Array, tolerance: float) -> Json:
    """Return the record of a contiguous array."""
    return {
        "argument": 0,
        "dtype": bits.dtype.name,
        "element": element,
        "shape": bits.shape,
        "strides": None,
        "start": 0,
        "alignment": 16,
        "tolerance": tolerance,
        "written": False,
    }


def encode(values: Array, element: str) -> Array:
    """Return numbers as an MLIR type, or the bits of one that NumPy does not have."""
    if element == "bf16":
        words = values.astype(np.float32).view(np.uint32)
        return ((words + 0x7FFF + ((words >> 16) & 1)) >> 16).astype(np.uint16)
    if element in ML_TYPES:  # the nearest of all there are
        codes = np.arange(256, dtype=np.uint8)
        numbers = decode(codes, element).astype(np.float64)
        codes = codes[np.isfinite(numbers)]
        numbers = numbers[np.isfinite(numbers)]
        order = np.argsort(numbers, kind="stable")
        codes, numbers = codes[order], numbers[order]
        middles = (numbers[1:] + numbers[:-1]) / 2
        return np.asarray(codes[np.searchsorted(middles, values)])
    return np.asarray(values.astype({"f16": "f2", "f32": "f4", "f64": "f8"}[element]))


# --- calls ----------------------------------------------------------------------------------------


class Call:
    """A call with arrays of its own at certain bytes behind what 256 divides."""

    def __init__(
        self, module: Any, door: Door, buffers: Sequence[Buffer], leads: Sequence[int]
    ) -> None:
        self._module = module
        self._door = door
        self._buffers = buffers
        self._leads = leads
        data = [surround(b.before, lead) for b, lead in zip(buffers, leads, strict=True)]
        self._data = data
        self._memories = [door.allocate(part.size) for part in data]
        self.arrays = [
            door.view(memory, lead, buffer)
            for memory, lead, buffer in zip(self._memories, leads, buffers, strict=True)
        ]
        self.poison()

    def poison(self) -> None:
        """Write what the arrays hold before the call."""
        for memory, part in zip(self._memories, self._data, strict=True):
            self._door.write(memory, part)

    def run(self, stream: Any = None) -> None:
        """Call the module."""
        self._door.call(self._module, self.arrays, stream)

    def inspect(self) -> Difference:
        """Compare all memory with what it should hold now."""
        parts = zip(self._memories, self._buffers, self._leads, strict=True)
        return worst(inspect(self._door.read(memory), b, lead) for memory, b, lead in parts)

    def read_last(self) -> Array:
        """Return the elements of the last array as they are now."""
        memory, lead, buffer = self._memories[-1], self._leads[-1], self._buffers[-1]
        return buffer.elements(self._door.read(memory)[lead : lead + buffer.after.size])

    def is_untouched(self) -> bool:
        """Return whether all memory is as before the call."""
        parts = zip(self._memories, self._data, strict=True)
        return all(np.array_equal(self._door.read(memory), part) for memory, part in parts)

    def free(self) -> None:
        """Give the memory back."""
        for memory in self._memories:
            self._door.free(memory)


@contextmanager
def prepared(
    module: Any, door: Door, buffers: Sequence[Buffer], leads: Sequence[int]
) -> Iterator[Call]:
    """Have a call as long as it takes."""
    call = Call(module, door, buffers, leads)
    try:
        yield call
    finally:
        call.free()


def worst(differences: Any) -> Difference:
    """Return the largest difference, with the words of all."""
    found = list(differences)
    largest = [each.largest for each in found]
    is_number = not any(math.isnan(value) for value in largest)
    texts = [each.text for each in found if each.text]
    return Difference(max(largest, default=0.0) if is_number else math.nan, "; ".join(texts))


# --- the ways -------------------------------------------------------------------------------------


def on_aligned_arrays(module: Any, door: Door, buffers: Sequence[Buffer]) -> Difference:
    """Call on arrays as libraries allocate them."""
    with prepared(module, door, buffers, [b.lead(True) for b in buffers]) as call:
        call.run()
        return call.inspect()


def on_views(module: Any, door: Door, buffers: Sequence[Buffer]) -> Difference:
    """Call on views that start at an odd multiple of 16 bytes."""
    with prepared(module, door, buffers, [b.lead(False) for b in buffers]) as call:
        call.run()
        return call.inspect()


def on_odd_offsets(module: Any, door: Door, buffers: Sequence[Buffer]) -> Difference:
    """Call on views that start one element further: right, or refused with nothing written."""
    leads = [b.lead(False) + np.dtype(b.record["dtype"]).itemsize for b in buffers]
    with prepared(module, door, buffers, leads) as call:
        try:
            call.run()
        except pipeline.LayoutError as error:
            is_untouched = call.is_untouched()
            return Difference(0.0, "" if is_untouched else f"it was refused ({error}), but wrote")
        return call.inspect()


def on_two_streams(module: Any, door: Door, buffers: Sequence[Buffer]) -> Difference:
    """Call on arrays of two streams in turn, several times each."""
    leads = [b.lead(True) for b in buffers]
    with (
        prepared(module, door, buffers, leads) as first,
        prepared(module, door, buffers, leads) as second,
    ):
        streams = door.streams(2)
        for _ in range(_REPETITIONS):
            for call, stream in zip((first, second), streams, strict=True):
                call.run(stream)
        return worst(call.inspect() for call in (first, second))


def in_a_graph(module: Any, door: Door, buffers: Sequence[Buffer]) -> Difference:
    """Capture a call into a graph, which runs nothing, and launch that twice."""
    with prepared(module, door, buffers, [b.lead(True) for b in buffers]) as call:
        call.run()
        found = [call.inspect()]
        call.poison()
        replay = door.capture(module, call.arrays)
        door.wait()
        if not call.is_untouched():
            return Difference(math.nan, "the capture wrote to its arrays")
        for _ in range(2):
            replay()
            found.append(call.inspect())
            call.poison()
        return worst(found)


WAYS: dict[str, Callable[[Any, Door, Sequence[Buffer]], Difference]] = {
    "aligned": on_aligned_arrays,
    "views": on_views,
    "odd offsets": on_odd_offsets,
    "two streams": on_two_streams,
    "graph": in_a_graph,
}


def on_the_host(module: Any, buffers: Sequence[Buffer]) -> Difference:
    """Run on arrays of NumPy, which are copied to the GPU and back."""
    memories = [buffer.before.copy() for buffer in buffers]
    arrays = [
        as_numpy(b.elements(memory), b.record["element"])
        for b, memory in zip(buffers, memories, strict=True)
    ]
    module.run(*arrays, backend="cuda")
    return worst(
        inspect(surround(memory, b.lead(True)), b, b.lead(True))
        for memory, b in zip(memories, buffers, strict=True)
    )


def as_numpy(bits: Array, element: str) -> Array:
    """Return an array of the type that NumPy, or ml_dtypes, has for an MLIR type."""
    if element not in ML_TYPES:
        return bits
    types = importlib.import_module("ml_dtypes")
    return bits.view(np.dtype(getattr(types, ML_TYPES[element])))


def beside_pytorch(
    case: Json, module: Any, door: Door, buffers: Sequence[Buffer], oracle: Oracle
) -> Comparison:
    """Compare a call with what PyTorch's own operators make of the same inputs."""
    *inputs, output = buffers
    record = output.record
    arguments = [(b.elements(b.before), b.record["element"]) for b in inputs]
    with prepared(module, door, buffers, [buffer.lead(True) for buffer in buffers]) as call:
        call.run()
        found = Found(call.read_last(), record["element"], 2 * record["tolerance"])
    return compare_with(oracle, case, arguments, {0: found})


def check_reference(
    case: Json,
    folder: Path,
    doors: Sequence[Door],
    progress: Callable[[str], None],
    oracle: Oracle | None = None,
) -> Verdict:
    """Call a reference program in all ways; `progress` is told which is next."""
    module = pipeline.load(folder / case["bundle"])
    buffers = make_buffers(case)
    elements = {buffer.record["element"] for buffer in buffers}
    ways: list[str] = []
    differences: list[float] = []
    faults: list[str] = []
    skipped: list[str] = []

    def note(name: str, way: Callable[[], Difference]) -> None:
        progress(name)
        found = way()
        differences.append(found.largest)
        if found.text:
            faults.append(f"{name}: {found.text}")
        else:
            ways.append(name)

    if has_numpy_types(elements):
        note("host", partial(on_the_host, module, buffers))
    else:
        skipped.append("host: ml_dtypes is missing")
    for door in doors:
        if unknown := sorted(each for each in elements if not door.takes(each)):
            skipped.append(f"{door.name}: it has no arrays of {', '.join(unknown)}")
            continue
        for name, way in WAYS.items():
            note(f"{door.name} {name}", partial(way, module, door, buffers))
    compared = ["double precision"]
    if oracle is not None and all(map(doors[-1].takes, elements)):
        progress("PyTorch's result")
        beside = beside_pytorch(case, module, doors[-1], buffers, oracle)
        differences.append(beside.largest)
        faults += [beside.fault] if beside.fault else []
        skipped += [beside.reason] if beside.reason else []
        compared += ["PyTorch"] if beside.is_done else []
    is_number = not any(math.isnan(value) for value in differences)
    largest = max(differences, default=0.0) if is_number else math.nan
    word = "differ" if faults else "agree" if ways else "failed"
    figures = {"difference": largest, "ways": ways, "compared": compared}
    return Verdict(word, "; ".join([*faults, *skipped]), figures)


def has_numpy_types(elements: set[str]) -> bool:
    """Return whether NumPy, with what is installed here, has types for MLIR's."""
    if not elements & ML_TYPES.keys():
        return True
    try:
        importlib.import_module("ml_dtypes")
    except ImportError:
        return False
    return True


def exercise_reference(case: Json, folder: Path, door: Door) -> None:
    """Call once, with arrays that fill their allocations; the output is not written before."""
    module = pipeline.load(folder / case["bundle"])
    buffers = make_buffers(case)
    if not all(door.takes(buffer.record["element"]) for buffer in buffers):
        on_the_host(module, buffers)
        return
    memories = [door.allocate(buffer.before.size) for buffer in buffers]
    for memory, buffer in zip(memories[:-1], buffers[:-1], strict=True):
        door.write(memory, buffer.before)
    arrays = [door.view(memory, 0, b) for memory, b in zip(memories, buffers, strict=True)]
    door.call(module, arrays)
    door.wait()
    for memory in memories:
        door.free(memory)
