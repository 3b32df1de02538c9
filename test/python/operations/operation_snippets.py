"""Small pieces of MLIR, each with one operation of the dialects gpu, nvgpu and nvvm.

A piece is the body of a kernel. It may use the values of `ARGUMENTS` and
`VALUES`; what it computes is stored, so that no optimisation drops it: by a
line `keep %r : TYPE`, or, where there is none, of the type that the line of
`%r` ends with.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

CHIPS = ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_120"]


def _make_map(element: str, swizzle: str) -> str:
    return (
        f"!nvgpu.tensormap.descriptor<tensor = memref<64x64x{element}, "
        f"#gpu.address_space<workgroup>>, swizzle = {swizzle}, l2promo = none, oob = zero, "
        "interleave = none>"
    )


ARGUMENTS = {
    "%p": "!llvm.ptr",
    "%x": "index",
    "%i1": "i1",
    "%i8": "i8",
    "%i16": "i16",
    "%i32": "i32",
    "%i64": "i64",
    "%i128": "i128",
    "%h": "f16",
    "%bf": "bf16",
    "%f32": "f32",
    "%f64": "f64",
    "%m8": "memref<64x64xi8>",
    "%mi32": "memref<64x64xi32>",
    "%m16": "memref<64x64xf16>",
    "%mb16": "memref<64x64xbf16>",
    "%m32": "memref<64x64xf32>",
    "%n32": "memref<64x64xf32>",
    "%m64": "memref<64x64xf64>",
    "%indices": "memref<64xindex>",
    "%map": _make_map("f32", "none"),
    "%map128": _make_map("f16", "swizzle_128b"),
}
# What is made of arguments.
VALUES = {
    "%x0": "arith.constant 0 : index",
    "%zero": "llvm.mlir.constant(0 : i32) : i32",
    "%g": "llvm.addrspacecast %p : !llvm.ptr to !llvm.ptr<1>",
    "%s": "llvm.inttoptr %i64 : i64 to !llvm.ptr<3>",
    "%c": "llvm.inttoptr %i64 : i64 to !llvm.ptr<4>",
    "%l": "llvm.inttoptr %i64 : i64 to !llvm.ptr<5>",
    "%t": "llvm.inttoptr %i64 : i64 to !llvm.ptr<6>",
    "%d": "llvm.inttoptr %i64 : i64 to !llvm.ptr<7>",
    "%h2": "llvm.bitcast %i32 : i32 to vector<2xf16>",
}


@dataclass(frozen=True)
class Snippet:
    """One operation in one variant, and the chips that have it."""

    text: str
    chips: str

    def list_chips(self) -> list[str]:
        """Those of `all`, `none`, `sm_80+` (it and what is newer), or names."""
        if self.chips in ("all", "none"):
            return CHIPS if self.chips == "all" else []
        if self.chips.endswith("+"):
            return CHIPS[CHIPS.index(self.chips[:-1]) :]
        return self.chips.split()

    def list_operations(self) -> set[str]:
        """The operations of the three dialects in it."""
        return set(re.findall(r"(?<![#!\w.])((?:gpu|nvgpu|nvvm)\.[a-z0-9_.]+)", self.text))

    def list_lines(self) -> list[str]:
        """Its lines, with those that make values and keep results."""
        lines = self.text.splitlines()
        if "keep " not in self.text and (last := lines[-1]).startswith("%r ="):
            separator = " -> " if " -> " in last else " : "
            lines.append(f"keep %r : {last.rsplit(separator, 1)[1]}")
        lines = [_write_keep(line) for line in lines]
        made = set(re.findall(r"^(%\w+)", self.text, re.MULTILINE))
        used = set(re.findall(r"%\w+", "\n".join(lines))) - made
        return [f"{value} = {how}" for value, how in VALUES.items() if value in used] + lines


def _write_keep(line: str) -> str:
    line = re.sub(
        r"^keep (%\w+) : index", r"memref.store \1, %indices[%x] : memref<64xindex>", line
    )
    return re.sub(r"^keep (%\w+) : (.*)", r"llvm.store volatile \1, %p : \2, !llvm.ptr", line)


def read_snippets(path: Path) -> list[Snippet]:
    """Those of a file: each begins with `//--` and the chips that have it."""
    snippets = []
    for part in re.split(r"^//-- ", path.read_text(), flags=re.MULTILINE)[1:]:
        chips, _, text = part.partition("\n")
        snippets.append(Snippet(text.strip("\n"), chips.strip()))
    return snippets


@dataclass(frozen=True)
class Program:
    """Kernels made of snippets, and the snippet of each line."""

    text: str
    owners: list[int]


def write_program(snippets: Sequence[tuple[int, Snippet]], attributes: str = "") -> Program:
    """Make a kernel of each of the numbered snippets."""
    lines, owners = [f"gpu.module @sweep{attributes} {{"], [-1]
    for number, snippet in snippets:
        body = snippet.list_lines()
        used = set(re.findall(r"%\w+", "\n".join(body)))
        values = {value for value, how in ARGUMENTS.items() if value in used}
        arguments = ", ".join(f"{v}: {t}" for v, t in ARGUMENTS.items() if v in values)
        kernel = [
            f"gpu.func @k{number}({arguments}) kernel "
            "attributes {known_block_size = array<i32: 128, 1, 1>} {",
            *body,
            "gpu.return",
            "}",
        ]
        lines += kernel
        owners += [number] * len(kernel)
    return Program("\n".join([*lines, "}", ""]), owners)
