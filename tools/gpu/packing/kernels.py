"""Kernels of the test suite for a pack: PTX, inputs, and what the emulator makes of them."""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

import pipeline
from pipeline.runtime.arguments import Value, convert, evaluate, tensor_layout
from pipeline.runtime.cuda.tensor_maps import type_number
from pipeline.runtime.tensor_maps import ADDRESS_ALIGNMENT, make_request
from running.arrays import GUARD, Array, Bytes, Json, PackError, compare

if TYPE_CHECKING:
    from corpus.kernels_case import Case

# --- arrays ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Span:
    """An array, and all memory between its first byte and its last."""

    array: Array
    memory: Bytes

    @classmethod
    def copy(cls, array: Array) -> Span:
        """Copy an array to memory that holds guards wherever it has no elements."""
        size = start = 0
        if array.size:
            low, high = np.lib.array_utils.byte_bounds(array)
            size, start = high - low, array.ctypes.data - low
        memory = np.full(size, GUARD, np.uint8)
        copy: Array = np.ndarray(array.shape, array.dtype, memory, start, array.strides)
        copy[...] = array
        return cls(copy, memory)

    @property
    def start(self) -> int:
        """Where the first element lies in the memory, in bytes."""
        return int(self.array.ctypes.data - self.memory.ctypes.data) if self.memory.size else 0

    def to_npy(self) -> bytes:
        """Return a .npy file: the array, or its memory as one row if that has gaps."""
        dtype = np.dtype(name_dtype(self.array.dtype))
        is_dense = self.array.flags.c_contiguous
        shape = self.array.shape if is_dense else (-1,)
        stream = io.BytesIO()
        np.save(stream, self.memory.view(dtype).reshape(shape), allow_pickle=False)
        return stream.getvalue()


def name_dtype(dtype: np.dtype[Any]) -> str:
    """Return the name of a type that NumPy has by itself and that has as many bytes."""
    return dtype.name if dtype.isbuiltin == 1 else f"uint{dtype.itemsize * 8}"


def element_of(argument: pipeline.Argument) -> str:
    """Return the MLIR type of an argument's numbers, also if its elements are vectors of them."""
    element_type = (argument.tensor_map or argument).element_type
    return re.sub(r"vector<.*x(\w+)>", r"\1", element_type)


def alignment_of(argument: pipeline.Argument) -> int:
    """Return what divides the address of an argument's first element."""
    return argument.alignment if argument.tensor_map is None else ADDRESS_ALIGNMENT


# --- a case ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PackedCase:
    """A case for a pack: what `suite.json` says of it, the files, and what they were made from."""

    record: Json
    files: dict[str, bytes]
    modules: tuple[pipeline.Module, ...]


def pack_case(case: Case, *, check_races: bool = True) -> PackedCase:
    """Compile and emulate a case. Raises pipeline.Error or PackError."""
    module = pipeline.compile(case.text, chip=case.chip)
    kernel = module.kernels[case.kernel]
    arguments = make_arguments(case)
    before, after = copy_arguments(arguments), copy_arguments(arguments)
    emulate(case, kernel, after, pipeline.Options())
    note = compare_with_reference(case, kernel, arguments, after)
    if check_races:
        emulate(case, kernel, copy_arguments(arguments), pipeline.Options(check="races"))
    packed = describe(case, module, before, after)
    packed.record["note"] = note
    return packed


def describe(
    case: Case,
    module: pipeline.Module,
    before: Sequence[Span | Any],
    after: Sequence[Span | Any],
) -> PackedCase:
    """Return a case for a pack, of which it is known what becomes of its arguments."""
    kernel = module.kernels[case.kernel]
    values = convert(kernel.name, kernel.arguments, [unwrap(value) for value in before])
    stem = re.sub(r"\W+", "-", case.name).strip("-")
    files = {f"ptx/{stem}.ptx": module.ptx.encode()}
    arrays = pack_arrays(case, values, before, after, stem, files)
    record = {
        "kind": "kernel",
        "name": case.name,
        "stages": ("check", "sanitize"),
        "kernel": kernel.name,
        "ptx": f"ptx/{stem}.ptx",
        "chips": [module.chip],
        "grid": case.grid,
        "block": case.block,
        "dynamic_shared_bytes": case.dynamic_bytes,
        "parameters": pack_parameters(kernel, values, before),
        "arrays": arrays,
    }
    return PackedCase(record, files, (module,))


def make_arguments(case: Case) -> list[Any]:
    """Return the random arguments of a case, always the same."""
    return case.make(np.random.default_rng(zlib.crc32(case.name.encode())))


def copy_arguments(arguments: Sequence[Any]) -> list[Span | Any]:
    """Copy the arrays among the arguments. Raises PackError if they share memory."""
    arrays = [value for value in arguments if isinstance(value, np.ndarray)]
    if any(np.may_share_memory(*pair) for pair in combinations(arrays, 2)):
        raise PackError("two of its arrays share memory, which a pack cannot tell")
    return [Span.copy(value) if isinstance(value, np.ndarray) else value for value in arguments]


def unwrap(value: Span | Any) -> Any:
    """Return what a kernel is called with."""
    return value.array if isinstance(value, Span) else value


def emulate(
    case: Case, kernel: pipeline.Kernel, values: Sequence[Span | Any], options: pipeline.Options
) -> None:
    """Run a case in place. Raises PackError for what the emulator finds."""
    report = kernel.emulate(
        *map(unwrap, values),
        grid=case.grid,
        block=case.block,
        dynamic_shared_bytes=case.dynamic_bytes,
        options=options,
    )
    if report.findings:
        raise PackError(f"the emulator finds fault with it:\n{report.rendered}")


def compare_with_reference(
    case: Case, kernel: pipeline.Kernel, arguments: Sequence[Any], after: Sequence[Span | Any]
) -> str:
    """Tell where the emulator's results are not those that the case expects; nothing if nowhere."""
    copies = [value.copy() if isinstance(value, np.ndarray) else value for value in arguments]
    expected = case.expect(copies)
    texts = []
    for number, value in enumerate(after):
        if not isinstance(value, Span):
            continue
        wanted = expected.get(number, arguments[number])
        tolerance = case.tolerance if number in expected else 0.0
        element = element_of(kernel.arguments[number])
        found = compare(value.array, wanted, tolerance, element)
        texts += [f"argument {number}, {found.text}"] if found.text else []
    return f"the emulator differs from the reference: {'; '.join(texts)}" if texts else ""


def pack_arrays(
    case: Case,
    values: Sequence[Value],
    before: Sequence[Span | Any],
    after: Sequence[Span | Any],
    stem: str,
    files: dict[str, bytes],
) -> list[Json]:
    """Add the files of the arrays to `files` and return what `suite.json` says of them.

    The emulator and the GPU may each be off by the tolerance of the case, to different sides.
    """
    records = []
    for number, (value, old, new) in enumerate(zip(values, before, after, strict=True)):
        if not isinstance(old, Span):
            continue
        is_written = old.memory.tobytes() != new.memory.tobytes()
        name = f"data/{stem}.{number}.npy"
        expected = f"data/{stem}.{number}.expected.npy" if is_written else None
        files[name] = old.to_npy()
        if expected:
            files[expected] = new.to_npy()
        record = {
            "argument": number,
            "file": name,
            "expected": expected,
            "dtype": name_dtype(old.array.dtype),
            "element": element_of(value.argument),
            "shape": old.array.shape,
            "strides": None if old.array.flags.c_contiguous else old.array.strides,
            "start": old.start,
            "alignment": alignment_of(value.argument),
            "written": is_written,
            "tolerance": 2 * case.tolerance if is_written else 0.0,
        }
        records.append(record)
    return records


def pack_parameters(
    kernel: pipeline.Kernel, values: Sequence[Value], spans: Sequence[Span | Any]
) -> list[Json]:
    """Return what the kernel's PTX takes, in order. Raises UsageError for unknown maps."""
    arrays = [number for number, span in enumerate(spans) if isinstance(span, Span)]
    parameters: list[Json] = []
    for part, result in evaluate(kernel, values):
        if isinstance(result, bytes):
            parameters.append({"kind": "bytes", "hex": result.hex()})
        elif part.kind in ("pointer", "tensormap"):
            offset = spans[part.argument].start + result
            place = {"kind": part.kind, "buffer": arrays.index(part.argument), "offset": offset}
            is_map = part.kind == "tensormap"
            parameters.append(place | (pack_map(values[part.argument]) if is_map else {}))
        else:
            data = result.to_bytes(8, "little", signed=True)
            parameters.append({"kind": "bytes", "hex": data.hex()})
    return parameters


def pack_map(value: Value) -> Json:
    """Return how the tensor map of an array is made. Raises UsageError if CUDA has no such."""
    assert value.view is not None
    assert value.argument.tensor_map is not None
    name = f"the array of {value.argument.type}"
    request = make_request(tensor_layout(value.view), value.argument.tensor_map, name)
    type_number(request.dtype)
    return asdict(request)
