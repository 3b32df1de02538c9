"""The suite, measured: a row of figures for each case, chip and compiler."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import pipeline
from benchmarks.static.cases import Case
from benchmarks.static.chips import Residence, reside
from benchmarks.static.emulation import Launch, run_blocks
from benchmarks.static.sass import disassemble
from pipeline.figures.figures import ACCESS_BYTES, TENSOR, Figures, measure
from pipeline.system.assembler import Resources, assemble, parse_resources

Value: TypeAlias = float | str | None
OURS = "ours"
BLOCKS = {"memory": 8, "narrow": 4}
"""How many blocks of launches of a group run on the emulator; of others one."""
HOPPER = frozenset({"HGMMA", "IGMMA", "QGMMA", "BGMMA"})
FENCES = ("R2UR", "MEMBAR", "BAR", "LDS", "FENCE")
"""What stalls the issue of asynchronous products."""


@dataclass
class Row:
    """A kernel of a case, the one that does most of its work, by a compiler for a chip.

    ``figures``: by their names in ``FIGURES``. ``note``: why there are none, or not all.
    """

    case: Case
    chip: str
    compiler: str
    kernel: str = ""
    figures: dict[str, Value] = field(default_factory=dict)
    note: str = ""

    @property
    def key(self) -> str:
        """What tells this row from others."""
        return f"{self.case.name} | {self.chip} | {self.compiler}"


@dataclass(frozen=True)
class Code:
    """Machine code of a kernel, and how it is launched; sizes that nobody tells are 0."""

    figures: Figures
    warnings: int = 0
    blocks: int = 0
    threads: int = 0
    dynamic_bytes: int = 0


def read_ptx(ptx: str, chip: str) -> tuple[dict[str, Figures], int]:
    """Return the figures of all kernels in PTX, and the number of ptxas's warnings.

    Raises pipeline.Error and DisassemblyError.
    """
    cubin, log = assemble(ptx, chip)
    resources: Mapping[str, Resources] = parse_resources(log)
    functions = disassemble(cubin)
    found = {name: measure(one, resources.get(name)) for name, one in functions.items()}
    return found, sum("warning" in line for line in log.splitlines())


def compile_case(case: Case, chip: str) -> pipeline.Module:
    """Compile a case; what asks for options is not proved."""
    if not case.options:
        return pipeline.compile(case.text, chip=chip)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pipeline.UnverifiedWarning)
        return pipeline.compile(case.text, chip=chip, memory_options=case.options, verify=False)


def measure_case(case: Case, chip: str) -> Row:
    """Compile a case by its default schedule, and count."""
    row = Row(case, chip, OURS)
    try:
        module = compile_case(case, chip)
        codes, warnings = read_ptx(module.ptx or "", chip)
    except pipeline.Error as error:
        row.note = _first_line(error)
        return row
    launches: list[Launch] = []
    try:
        launches = run_blocks(
            module,
            case.arguments,
            {name: one.mix for name, one in codes.items()},
            BLOCKS.get(case.group, 1),
        )
    except pipeline.Error as error:
        row.note = _first_line(error)
    main = _find_main(codes, launches)
    kernel = module.kernels[main]
    launch = next((one for one in launches if one.kernel == main), None)
    threads = kernel.block or kernel.known_block or (0, 1, 1)
    code = Code(
        codes[main],
        warnings,
        launch.blocks if launch else 0,
        threads[0] * threads[1] * threads[2],
        kernel.dynamic_shared_bytes or 0,
    )
    row.kernel = main
    row.figures = {**list_code(code, chip), "kernels": len(launches) or len(codes)}
    row.figures |= _list_launch(case, launch, launches)
    return row


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0]


def _find_main(codes: Mapping[str, Figures], launches: Iterable[Launch]) -> str:
    """Return the kernel that executes most, or else that whose loop does."""
    most = max(launches, key=lambda one: one.instructions, default=None)
    if most and most.kernel in codes:
        return most.kernel
    return max(codes, key=lambda name: one.math if (one := codes[name].loop) else 0)


def list_code(code: Code, chip: str) -> dict[str, Value]:
    """Return what is known of machine code and a launch of it."""
    figures, loop = code.figures, code.figures.loop
    taken = figures.resources
    registers, static = (taken.registers, taken.static_shared_bytes) if taken else (0, 0)
    shared = static + code.dynamic_bytes
    found: dict[str, Value] = {
        "registers": registers,
        "spills": figures.spills,
        "stack": taken.stack_bytes if taken else 0,
        "shared": shared,
        "warnings": code.warnings,
        "instructions": figures.instructions,
        "wide_loads": _share_of_wide(figures, "LDG", "LDGSTS", "UTMALDG", "UBLKCP"),
        "wide_stores": _share_of_wide(figures, "STG", "UTMASTG"),
        "unfused": (loop or figures).count("FMUL", "FADD", "DMUL", "DADD"),
        "maxnreg": figures.count("USETMAXREG"),
    }
    if loop:
        tensor = loop.work.split(".")[0] in TENSOR
        lds = loop.count("LDS")
        found |= {
            "work": loop.work,
            "tensor": int(tensor),
            "loop": loop.instructions,
            "math": loop.math,
            "share": loop.share,
            "always": loop.always_share,
            "issue": loop.issue_ratio,
            "per_math": loop.per_work,
            "per_ldsm": loop.math_per_ldsm_x4,
            "lds": 64 * lds / loop.math,
            "narrow_lds": lds - loop.mix["LDS.128"] - loop.mix["LDS.64"],
            "barriers": loop.count("BAR"),
            "async_copies": loop.count("LDGSTS"),
            "tma": figures.count("UTMALDG"),
            "fences": loop.count(*FENCES),
            "group_waits": loop.mix["WARPGROUP.DEPBAR"],
            "pending": loop.pending,
            "hopper": int(loop.work.split(".")[0] in HOPPER),
            "hopper_columns": _find_columns(loop.work),
        }
    residence = reside(chip, code.blocks, code.threads, registers, shared)
    if residence is None:
        return {**found, "resident": 0} if code.blocks and code.threads else found
    return {**found, **_list_residence(code, residence)}


def _list_residence(code: Code, residence: Residence) -> dict[str, Value]:
    """Return how a launch fills a chip."""
    loaded = _bytes_loaded(code.figures)
    return {
        "blocks": code.blocks,
        "threads": code.threads,
        "resident": residence.blocks,
        "waves": residence.waves,
        "quantisation": residence.quantisation,
        "in_flight": loaded and loaded * code.threads * residence.blocks,
    }


def _find_columns(work: str) -> int | None:
    """Return the columns of ``HGMMA.64x256x16``: 256."""
    name, _, shape = work.partition(".")
    return int(shape.split("x")[1]) if name in HOPPER and shape.count("x") == 2 else None


def _share_of_wide(figures: Figures, *names: str) -> float | None:
    """Return how many of some accesses to global memory are of 16 bytes a thread, or of tiles."""
    total = figures.count(*names)
    wide = sum(figures.mix[f"{name}.128"] for name in names)
    wide += figures.count(*(name for name in names if name.startswith("U")))
    return wide / total if total else None


def _bytes_loaded(figures: Figures) -> int | None:
    """Return the bytes that loads of a thread bring, each done once; None with copies by TMA."""
    if figures.count("UTMALDG", "UBLKCP"):
        return None
    loads = [one for one in figures.mix if one.split(".")[0] in ("LDG", "LDGSTS")]
    return sum(figures.mix[one] * ACCESS_BYTES[one.split(".")[1]] for one in loads)


def _list_launch(case: Case, launch: Launch | None, launches: Sequence[Launch]) -> dict[str, Value]:
    """Return what the emulator has counted."""
    found: dict[str, Value] = {}
    if launch:
        found = {
            "block_barriers": launch.barriers,
            "read_wavefronts": launch.read_wavefronts,
            "write_wavefronts": launch.write_wavefronts,
            "load_sectors": launch.load_sectors,
            "store_sectors": launch.store_sectors,
        }
    if launches and case.group in ("memory", "narrow", "attention"):
        moved = [one.global_bytes for one in launches]
        found["traffic"] = None if None in moved else sum(filter(None, moved)) / case.bytes
    return found


def compare_loops(rows: Sequence[Row]) -> None:
    """Add the instructions of a product to rows, as a multiple of those of the same-sized case.

    Only where the same instruction does the work.
    """
    known = {(row.case.name, row.chip, row.compiler): row.figures for row in rows}
    for row in rows:
        other = known.get((row.case.same, row.chip, row.compiler), {})
        own, its = row.figures.get("per_math"), other.get("per_math")
        does_same = other.get("work") == row.figures.get("work")
        if does_same and isinstance(own, int | float) and isinstance(its, int | float):
            row.figures["against_same"] = own / its
