"""Run the host function of a module on the CPU, at whatever stage of its compilation it is.

Linalg and tensors, kernels as functions, loops over tiles and over threads all have a meaning
without a GPU: one iteration after the other. So every stage can be compared with NumPy.
"""

from __future__ import annotations

import atexit
import ctypes
import functools
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import pipeline

Array = npt.NDArray[Any]

_BUFFERIZE = (
    "func.func(convert-elementwise-to-linalg)",
    "empty-tensor-to-alloc-tensor",
    "one-shot-bufferize{bufferize-function-boundaries allow-return-allocs-from-loops "
    "function-boundary-type-conversion=identity-layout-map}",
)

# What has no bufferization of its own; everything else goes through as it stands.
_DECOMPOSE = """
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%m: !transform.any_op {transform.readonly}) {
    %s = transform.structured.match ops{["linalg.softmax"]} in %m
        : (!transform.any_op) -> !transform.any_op
    transform.structured.decompose_interface %s : (!transform.any_op) -> !transform.any_op
    %p = transform.structured.match ops{["linalg.pack"]} in %m
        : (!transform.any_op) -> !transform.op<"linalg.pack">
    transform.foreach %p : !transform.op<"linalg.pack"> {
    ^bb0(%q: !transform.op<"linalg.pack">):
      transform.structured.lower_pack %q {lowerPadLikeWithInsertSlice = false}
          : (!transform.op<"linalg.pack">) -> (!transform.op<"tensor.pad">,
             !transform.op<"tensor.expand_shape">, !transform.op<"linalg.transpose">)
    }
    %u = transform.structured.match ops{["linalg.unpack"]} in %m
        : (!transform.any_op) -> !transform.op<"linalg.unpack">
    transform.foreach %u : !transform.op<"linalg.unpack"> {
    ^bb0(%q: !transform.op<"linalg.unpack">):
      transform.structured.lower_unpack %q {lowerUnpadLikeWithExtractSlice = false}
          : (!transform.op<"linalg.unpack">) -> (!transform.op<"tensor.empty">,
             !transform.op<"linalg.transpose">, !transform.op<"tensor.collapse_shape">,
             !transform.op<"tensor.extract_slice">)
    }
    %f = transform.structured.match ops{["func.func"]} in %m
        : (!transform.any_op) -> !transform.any_op
    transform.apply_patterns to %f {
      transform.apply_patterns.tensor.decompose_concat
    } : !transform.any_op
    transform.yield
  }
}
"""

_TO_LOOPS = (
    "func.func(llvm-request-c-wrappers)",
    "scf-forall-to-for",
    "func.func(convert-linalg-to-loops)",
    "canonicalize",
    "convert-vector-to-scf",
    "expand-strided-metadata",
    "lower-affine",
    "canonicalize",
    "convert-scf-to-cf",
    "math-expand-ops{ops=rsqrt}",
    "arith-emulate-unsupported-floats{source-types=bf16,f16,f8E4M3FN,f8E5M2 target-type=f32}",
    "math-extend-to-supported-types{extra-types=f32 target-type=f32}",
)

_TO_LLVM = (
    "convert-math-to-libm",
    "convert-math-to-llvm",
    "arith-expand{include-bf16=true}",
    "convert-vector-to-llvm",
    "finalize-memref-to-llvm",
    "convert-arith-to-llvm",
    "convert-index-to-llvm",
    "convert-ub-to-llvm",
    "convert-func-to-llvm",
    "convert-cf-to-llvm",
    "reconcile-unrealized-casts",
)

# What LLVM leaves to others: types of 8 bits, and copies between any strides.
_SUPPORT = """
#include <stdint.h>
#include <string.h>
static float widen(uint8_t b, int fraction, int bias, int finite) {
  int exponent = (b & 0x7f) >> fraction, mantissa = b & ((1 << fraction) - 1);
  int top = (1 << (7 - fraction)) - 1;
  float value;
  if (finite ? (b & 0x7f) == 0x7f : exponent == top)
    value = finite || mantissa ? __builtin_nanf("") : __builtin_inff();
  else if (exponent == 0)
    value = __builtin_ldexpf(mantissa, 1 - bias - fraction);
  else
    value = __builtin_ldexpf(mantissa + (1 << fraction), exponent - bias - fraction);
  return b & 0x80 ? -value : value;
}
static uint8_t narrow(float x, int fraction, int bias, int finite) {
  uint8_t sign = __builtin_signbit(x) ? 0x80 : 0, best = 0;
  float size = __builtin_fabsf(x), least = __builtin_inff();
  if (size != size) return sign | 0x7f;
  for (int b = 0; b < 0x7f; ++b) {
    float value = widen(b, fraction, bias, finite), distance = __builtin_fabsf(value - size);
    if (value - value != 0) break;
    if (distance < least || (distance == least && !(b & 1))) least = distance, best = b;
  }
  return sign | best;
}
float widen_f8E4M3FN(uint8_t b) { return widen(b, 3, 7, 1); }
float widen_f8E5M2(uint8_t b) { return widen(b, 2, 15, 0); }
uint8_t narrow_f8E4M3FN(float x) { return narrow(x, 3, 7, 1); }
uint8_t narrow_f8E5M2(float x) { return narrow(x, 2, 15, 0); }

typedef struct { int64_t rank; void *descriptor; } Unranked;
typedef struct { char *base, *data; int64_t offset, numbers[]; } Descriptor;
void memrefCopy(int64_t bytes, Unranked *from, Unranked *to) {
  int64_t rank = from->rank, at[16] = {0};
  Descriptor *source = from->descriptor, *target = to->descriptor;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (source->numbers[dim] == 0) return;
  for (;;) {
    int64_t read = source->offset, written = target->offset, dim = rank;
    for (int64_t d = 0; d < rank; ++d) {
      read += at[d] * source->numbers[rank + d];
      written += at[d] * target->numbers[rank + d];
    }
    memmove(target->data + written * bytes, source->data + read * bytes, bytes);
    while (dim > 0 && ++at[dim - 1] == source->numbers[dim - 1]) at[--dim] = 0;
    if (dim == 0) return;
  }
}
"""

_NARROW_TYPE = re.compile(r"\b(?:f8E\w+|b?f16)\b")
_SPACE = re.compile(r", #gpu\.address_space<(?:workgroup|private)>")
_WIDEN = re.compile(r"%(\S+) = arith\.extf (%\S+) : (f8\w+) to f32")
_NARROW = re.compile(r"%(\S+) = arith\.truncf (%\S+) : f32 to (f8\w+)")
_COMPOSED = re.compile(r"linalg\.(softmax|pack|unpack)|tensor\.concat")
# The lowering of conversions of floats leaves it as it is, which is no LLVM.
_FAST = re.compile(r" fastmath<\w+>")
_FUNCTION = re.compile(r"^  (?:module|func\.func)", re.M)


class StageError(Exception):
    """A tool did not take what the stage before it left."""


def optimize(text: str, *passes: str) -> str:
    """Return what mlir-opt, with the plugin, makes of a program by these passes."""
    plugin = pipeline.plugin_path()
    return _run(
        text,
        *(_find("mlir-opt"), f"--load-pass-plugin={plugin}", f"--load-dialect-plugin={plugin}"),
        *("--mlir-print-local-scope", f"--pass-pipeline=builtin.module({','.join(passes)})"),
    )


def verify(text: str) -> None:
    """Raise StageError unless mlir-opt, without the plugin, takes a program."""
    _run(text, _find("mlir-opt"))


class Native:
    """A module, compiled for the CPU."""

    def __init__(self, text: str) -> None:
        with tempfile.TemporaryDirectory(prefix="stages-") as folder:
            self._library = ctypes.CDLL(str(self._link(_lower(text), Path(folder))))

    def _link(self, lowered: str, folder: Path) -> Path:
        ir = _run(lowered, _find("mlir-translate"), "--mlir-to-llvmir")
        unit, library = folder / "m.o", folder / "m.so"
        flags = ("-O1", "-filetype=obj", "-relocation-model=pic", "-o", str(unit))
        _run(ir, _find("llc"), *flags)
        units = [str(unit)]
        if "_f8" in ir or "memrefCopy" in ir:
            units.append(str(_support()))
        _run("", "ld", "-shared", "-o", str(library), *units, _libgcc(), "-lm", "-lc")
        return library

    def call(self, entry: str, arguments: Sequence[Any], results: Sequence[Any]) -> list[Any]:
        """Call a function; return its results, which are like `results`.

        Arrays are changed in place where the function writes to them.
        """
        fields = [(f"r{number}", _c_type(like)) for number, like in enumerate(results)]
        out = type("Results", (ctypes.Structure,), {"_fields_": fields})()
        passed: list[Any] = []
        function = getattr(self._library, f"_mlir_ciface_{entry}")
        is_plain = len(results) == 1 and not isinstance(results[0], np.ndarray)
        function.restype = fields[0][1] if is_plain else None
        if results and not is_plain:
            passed.append(ctypes.byref(out))
        for value in arguments:
            argument = _c_type(value)
            if isinstance(value, np.ndarray):
                passed.append(ctypes.byref(_describe(argument, value)))
            else:
                passed.append(argument(value))
        returned = function(*passed)
        if is_plain:
            return [returned]
        return [
            _read(getattr(out, name), like) for (name, _), like in zip(fields, results, strict=True)
        ]


@functools.cache
def _libgcc() -> str:
    """Return what gcc links to, beside the libraries of C, which takes it longer than `ld`."""
    return _run("", "gcc", "-print-libgcc-file-name").strip()


@functools.cache
def _support() -> Path:
    """Return what LLVM leaves to others, compiled once a process."""
    folder = Path(tempfile.mkdtemp(prefix="support-"))
    atexit.register(shutil.rmtree, folder)
    source, unit = folder / "support.c", folder / "support.o"
    source.write_text(_SUPPORT)
    _run("", "gcc", "-c", "-fPIC", "-o", str(unit), str(source))
    return unit


def _lower(text: str) -> str:
    if _COMPOSED.search(text):
        text = _decompose(text)
    # To start mlir-opt takes longer than the passes: where text need not be changed between them,
    # all run at once.
    passes = [*_BUFFERIZE]
    if "space" in text:
        text, passes = _SPACE.sub("", optimize(text, *passes)), []
    passes += _TO_LOOPS
    if _NARROW_TYPE.search(text):
        text, passes = _call_support(_FAST.sub("", optimize(text, *passes))), []
    return optimize(text, *passes, *_TO_LLVM)


def _decompose(text: str) -> str:
    with tempfile.TemporaryDirectory(prefix="stages-") as folder:
        library = Path(folder) / "decompose.mlir"
        library.write_text(_DECOMPOSE)
        return optimize(
            text,
            f"transform-preload-library{{transform-library-paths={library}}}",
            "transform-interpreter",
        )


def _call_support(text: str) -> str:
    """Make calls of the conversions of narrow floats."""
    if not (_WIDEN.search(text) or _NARROW.search(text)):
        return text
    text = _WIDEN.sub(
        r"%bits_\1 = arith.bitcast \2 : \3 to i8\n"
        r"%\1 = func.call @widen_\3(%bits_\1) : (i8) -> f32",
        text,
    )
    text = _NARROW.sub(
        r"%bits_\1 = func.call @narrow_\3(\2) : (f32) -> i8\n"
        r"%\1 = arith.bitcast %bits_\1 : i8 to \3",
        text,
    )
    declarations = "".join(
        f"func.func private @widen_{kind}(i8) -> f32\nfunc.func private @narrow_{kind}(f32) -> i8\n"
        for kind in ("f8E4M3FN", "f8E5M2")
    )
    start = _FUNCTION.search(text)
    assert start is not None
    return text[: start.start()] + declarations + text[start.start() :]


def _c_type(value: Any) -> Any:
    """Return what stands in C for a value like this: a descriptor for an array."""
    if isinstance(value, np.ndarray):
        extents = ctypes.c_int64 * value.ndim
        fields: list[Any] = [("base", ctypes.c_void_p), ("data", ctypes.c_void_p)]
        fields.append(("offset", ctypes.c_int64))
        if value.ndim:
            fields += [("sizes", extents), ("strides", extents)]
        return type("Descriptor", (ctypes.Structure,), {"_fields_": fields})
    if isinstance(value, bool | np.bool_):
        return ctypes.c_bool
    if isinstance(value, np.generic):
        dtype: Any = value.dtype
        return np.ctypeslib.as_ctypes_type(dtype)
    return ctypes.c_double if isinstance(value, float) else ctypes.c_int64


def _describe(descriptor: Any, array: Array) -> Any:
    data = array.ctypes.data
    values: list[Any] = [data, data, 0]
    if array.ndim:
        extents = ctypes.c_int64 * array.ndim
        strides = [stride // array.itemsize for stride in array.strides]
        values += [extents(*array.shape), extents(*strides)]
    return descriptor(*values)


def _read(result: Any, like: Any) -> Any:
    if not isinstance(like, np.ndarray):
        return result
    shape = tuple(result.sizes) if like.ndim else ()
    strides = tuple(result.strides) if like.ndim else ()
    copy = np.empty(shape, like.dtype)
    if copy.size:
        reach = 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
        start = result.data + result.offset * like.itemsize
        # NumPy knows how far apart integers are, but not every narrow float.
        whole = np.dtype(f"u{like.itemsize}")
        flat = np.frombuffer(ctypes.string_at(start, reach * like.itemsize), whole)
        steps = [stride * like.itemsize for stride in strides]
        copy.view(whole)[...] = np.lib.stride_tricks.as_strided(flat, shape, steps)
    return copy


def _find(tool: str) -> str:
    return shutil.which(f"{tool}-22") or tool


def _run(text: str, *command: str) -> str:
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise StageError(f"{Path(command[0]).name} fails:\n{done.stderr[:4000]}")
    return done.stdout
