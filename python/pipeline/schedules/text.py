"""Schedules as text of the transform dialect."""

from __future__ import annotations

from collections.abc import Sequence

from .kernel import Kernel, Op
from .target import Target
from .tile import Tile, count_tiles

_TYPE = "(!any) -> !any"

ASSUMED_ALIGNMENT = 16
"""Bytes that the compiler takes arguments to be aligned to; launches check it."""

Option = int | bool | str | tuple[int, ...]


def write_schedule(
    kernels: Sequence[Kernel], tiles: Sequence[Tile], *, target: Target, version: str
) -> str:
    """Return the schedule that gives each kernel its tile: a whole module, to be edited."""
    writer, chip = _Writer(), target.chip
    # Bufferization does not pass the same memory twice, and launches check what callers do.
    limits: dict[str, Option] = {"assume_distinct_arguments": True}
    if any(kernel.chain for kernel in kernels):
        limits |= {"chain_bytes": target.row_bytes, "chain_blocks": target.chain_blocks}
        limits["chip"] = chip
    if target.narrows:
        limits["narrow"] = True
    program = writer.apply("workgroup-linalg-to-kernels", "%program", **limits)
    pairs = list(zip(kernels, tiles, strict=True))
    for kernel, tile in pairs:
        writer.add_comment(describe(kernel, tile))
        if kernel.is_loop:
            continue  # which is tiled already
        options = _leave_out_defaults(
            block=tile.block,
            reduction=tile.reduction,
            recompute=tile.recompute,
            split=tile.split,
            columns=tile.columns,
            stream=tile.stream,
            skip_masked=target.assumes_finite and tile.stream > 0,
        )
        writer.apply("workgroup-tile-kernel", writer.match(kernel, program), **options)
    writer.add_comment("tensors become buffers, then each kernel is shared out to threads")
    program = writer.apply_all(program, ("workgroup-bufferize",))
    for kernel, tile in pairs:
        _share_out(writer, kernel, tile, writer.match(kernel, program), chip)
    if pairs:
        writer.add_comment("the kernels' functions go into those that call them")
        writer.apply_all(program, ("inline",))
    return "\n".join(
        [
            f"// Chosen by mlir-workgroup {version} for {chip}; edit it, then --schedule FILE.",
            "!any = !transform.any_op",
            "module attributes {transform.with_named_sequence} {",
            "  transform.named_sequence @__transform_main(%program: !any {transform.consumed}) {",
            *writer.lines,
            "    transform.yield",
            "  }",
            "}",
            "",
        ]
    )


def _share_out(writer: _Writer, kernel: Kernel, tile: Tile, function: str, chip: str) -> None:
    """Share out the function of a kernel, on buffers, to the threads of its blocks."""
    if kernel.is_loop:
        block = _leave_out_defaults(block=tile.block)
        function = writer.apply("workgroup-map-loops", function, **block)
    if kernel.kind == "window" and tile.reduction:
        function = writer.apply(
            "workgroup-decompose-im2col", function, chip=chip, assume_distinct_arguments=True
        )
    is_staged = not kernel.is_loop or any(op.contraction for op in kernel.ops)
    if is_staged and not tile.direct:
        function = writer.apply(
            "workgroup-stage-operands", function, chip=chip, assume_distinct_arguments=True
        )
    function = writer.apply("workgroup-place-buffers", function)
    if tile.stream:
        function = writer.apply("workgroup-keep-chains", function, threads=tile.threads, chip=chip)
    function = writer.apply(
        "workgroup-map-to-threads",
        function,
        threads=tile.threads,
        assume_alignment=ASSUMED_ALIGNMENT,
    )
    function = writer.apply("workgroup-form-launches", function, threads=(tile.threads,))
    if tile.slots:
        if tile.stream:
            function = writer.apply(
                "workgroup-hoist-copies",
                function,
                max_bytes=0,
                chip=chip,
                assume_distinct_arguments=True,
            )
        options: dict[str, Option] = {"slots": tile.slots, "chip": chip}
        if tile.producers:
            options["producers"] = tile.producers
        if tile.blocks:
            options["blocks"] = tile.blocks
        writer.apply("workgroup-form-rings", function, **options, assume_distinct_arguments=True)


class _Writer:
    """Collects lines; each operation gets a name of its own for its result."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._count = 0

    def add_comment(self, text: str) -> None:
        self.lines.append(f"    // {text}")

    def match(self, kernel: Kernel, program: str) -> str:
        return self._add(
            'transform.structured.match ops{["func.func"]} '
            f"attributes {{sym_name = {kernel.symbol}}} in {program}"
        )

    def apply(self, name: str, to: str, **options: Option) -> str:
        given = ", ".join(
            f'"{key.replace("_", "-")}" = {_spell(value)}' for key, value in options.items()
        )
        clause = f" with options = {{{given}}}" if given else ""
        return self._add(f'transform.apply_registered_pass "{name}"{clause} to {to}')

    def apply_all(self, to: str, names: Sequence[str]) -> str:
        for name in names:
            to = self.apply(name, to)
        return to

    def _add(self, op: str) -> str:
        name = f"%{self._count}"
        self._count += 1
        self.lines.append(f"    {name} = {op} : {_TYPE}")
        return name


def _spell(value: Option) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    return str(list(value)) if isinstance(value, tuple) else str(value)


def _leave_out_defaults(**options: Option) -> dict[str, Option]:
    """Drop what is not chosen; an empty list has no spelling, and all zeros mean nothing."""
    return {
        name: value
        for name, value in options.items()
        if (any(value) if isinstance(value, tuple) else value)
    }


def describe(kernel: Kernel, tile: Tile) -> str:
    """Return a line for people: what a kernel does, in which blocks."""
    work = ", ".join(_describe_op(op) for op in kernel.ops)
    name = kernel.name if kernel.symbol == f'"{kernel.name}"' else kernel.symbol
    blocks = _describe_blocks(kernel.root, tile.block, tile.threads)
    copying = f", {tile.producers} more for copies" if tile.producers else ""
    if tile.blocks:
        copying += f", {tile.blocks} blocks go through all of them"
    if tile.split and kernel.sum is not None:
        parts = _describe_blocks(kernel.sum, tile.split, tile.threads)
        return f"@{name}: {work}; {parts}{copying} for parts of the sum, then {blocks}"
    return f"@{name}: {work}; {blocks}{copying}"


def _describe_blocks(op: Op, sizes: tuple[int, ...], threads: int) -> str:
    if any(size and op.extents[loop] is None for loop, size in enumerate(sizes)):
        return f"as many as needed, blocks of {threads} threads"
    blocks = count_tiles(op, sizes)
    return f"{blocks} block{'' if blocks == 1 else 's'} of {threads} threads"


def _describe_op(op: Op) -> str:
    extents = "x".join("?" if extent is None else str(extent) for extent in op.extents)
    kinds = {operand.element_type: None for operand in (*op.inputs, *op.results)}
    return " ".join(filter(None, (op.kind, extents, " ".join(kinds))))
