"""The document of an explanation: all that a report shows, and nothing that it decides.

``schema.json`` beside it describes the same; docs/explain.md tells what fields mean.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

FORMAT = "pipeline-explanation"
VERSION = 3

Dim3 = tuple[int, int, int]
Lines = tuple[tuple[int, ...], ...]
"""For each line of a text, from the first, numbers of lines of another text, from 1."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place in the program; numbers count from 1, and 0 is not known."""

    file: str
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Stage:
    """The text of a stage, with the lines of the program and of stage ``gpu`` it is made of."""

    name: str
    title: str
    language: str
    text: str
    source_lines: Lines
    gpu_lines: Lines


@dataclass(frozen=True, slots=True)
class PassChange:
    """What a pass changed: lines, and the difference in the unified format, cut at a limit."""

    name: str
    op: str
    removed: int
    added: int
    diff: str
    is_cut: bool


@dataclass(frozen=True, slots=True)
class Site:
    """An operation: where in the program, and on which line of stage ``gpu`` (0: not known)."""

    op: str
    place: Place | None
    gpu_line: int


@dataclass(frozen=True, slots=True)
class Resources:
    """What a kernel takes, according to ptxas; registers are per thread, sizes in bytes."""

    registers: int
    spill_store_bytes: int
    spill_load_bytes: int
    stack_bytes: int
    static_shared_bytes: int
    dynamic_shared_bytes: int
    instructions: int | None


@dataclass(frozen=True, slots=True)
class Residence:
    """Blocks that share a multiprocessor: the fewest that a limit allows, and what allows more."""

    blocks: int
    limiters: tuple[str, ...]
    by_registers: int
    by_memory: int | None
    by_threads: int
    by_slots: int
    share_of_threads: float


@dataclass(frozen=True, slots=True)
class Life:
    """From when to when a buffer is in use, in positions of its kernel."""

    first: int
    last: int
    begin: Site | None
    end: Site | None


@dataclass(frozen=True, slots=True)
class Buffer:
    """A buffer in workgroup memory; ``offset`` is None for a variable of its own.

    ``slots``: of a ring that it holds, each of ``slot_bytes``; 0 for none. ``layout``: how rows are
    padded or swizzled, in words, with the wavefronts of its accesses before and after.
    """

    name: str
    type: str
    bytes: int | None
    alignment: int
    offset: int | None
    is_shared: bool
    place: Place | None
    life: Life | None
    slots: int
    slot_bytes: int
    layout: str
    wavefronts_before: int | None
    wavefronts_after: int | None


@dataclass(frozen=True, slots=True)
class Memory:
    """The workgroup memory of a kernel; ``lower_bound``: bytes that no packing goes below."""

    static_bytes: int
    dynamic_bytes: int
    max_bytes: int
    is_packed_dynamic: bool
    lower_bound: int | None
    buffers: tuple[Buffer, ...]


@dataclass(frozen=True, slots=True)
class Witness:
    """What goes wrong between two operations, with two threads and a place where they meet.

    ``threads`` and ``bytes`` are empty where they are not known; ``reason`` says why then.
    """

    verdict: str
    message: str
    first: Site | None
    second: Site
    is_in_later_iteration: bool
    threads: tuple[Dim3, ...]
    blocks: tuple[Dim3, ...]
    meeting: tuple[int, ...]
    is_in_bytes: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Barrier:
    """A barrier: the pairs that it orders, why there are none fewer, and what it is for.

    ``origin``: ``inserted``, or ``given`` if the program has it or what was lowered to it. Of
    inserted ones, ``pairs``, and of ``barriers`` inserted together ``needed`` at least.
    ``without``: the verdict on the kernel without it (empty: not tried), by ``witnesses``,
    the first few of ``witness_count``.
    """

    site: Site
    origin: str
    pairs: tuple[Witness, ...]
    barriers: int | None
    needed: int | None
    is_optimal: bool | None
    certificate: Witness | None
    without: str
    witnesses: tuple[Witness, ...]
    witness_count: int


@dataclass(frozen=True, slots=True)
class Around:
    """A loop, by its line of stage ``gpu``; None: only the launch knows its iterations."""

    gpu_line: int
    iterations: int | None


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation that orders threads, or copies for them; see the compiler's SyncOperation.

    ``mbarriers``: the name of the kernel's mbarriers that it is for; empty for none.
    """

    role: str
    site: Site
    loops: tuple[Around, ...]
    is_conditional: bool
    pending: int | None
    mbarriers: str


@dataclass(frozen=True, slots=True)
class Threads:
    """Threads by linear ids: ``first``, ``first + step``, ..., ``last``."""

    first: int
    last: int
    step: int


@dataclass(frozen=True, slots=True)
class MBarrierStep:
    """One execution of an operation on an mbarrier; ``iterations``: of the loops around it.

    ``phase``: the one that is waited for, arrived in or copied in, from 0; -1 for a wait that
    passes because no phase has ended; None if the order of threads decides. ``parity``: of a wait.
    ``bytes``: that an arrival announces, or a copy brings.
    """

    iterations: tuple[int, ...]
    slot: int
    phase: int | None
    parity: int
    bytes: int


@dataclass(frozen=True, slots=True)
class MBarrierUse:
    """What the same threads do by an operation on mbarriers: its first executions.

    ``role``: ``mbarrier_arrive``, ``mbarrier_wait`` or ``bulk_load``.
    """

    role: str
    site: Site
    threads: tuple[Threads, ...]
    steps: tuple[MBarrierStep, ...]


@dataclass(frozen=True, slots=True)
class MBarriers:
    """The mbarriers that one operation makes: one for each slot of a ring.

    ``purpose``: ``full`` if copies by TMA end their phases, ``empty`` if the threads that start the
    copies wait for them, else ``other``. ``arrivals``: that end a phase; None if not known.
    ``unfollowed``: operations on them of which it is not known which threads execute them, or when;
    ``missing`` says why if these are all.
    """

    name: str
    site: Site
    slots: int
    purpose: str
    arrivals: int | None
    uses: tuple[MBarrierUse, ...]
    unfollowed: tuple[Site, ...]
    missing: str


@dataclass(frozen=True, slots=True)
class Ring:
    """Copies of a loop that run ahead of their readers, by an ``engine``."""

    place: Place | None
    slots: int
    ahead: int
    engine: str
    iterations: int | None


@dataclass(frozen=True, slots=True)
class Access:
    """What the accesses of a line cost in the blocks that ran, beside the least they could."""

    gpu_line: int
    places: tuple[Place, ...]
    space: str
    kind: str
    bytes: int
    requests: int
    wavefronts: int
    ideal_wavefronts: int
    sectors: int
    ideal_sectors: int


@dataclass(frozen=True, slots=True)
class Run:
    """Launches of a kernel on the emulator: what was looked for, and found."""

    check: str
    order: str
    launches: int
    blocks_run: int
    blocks: int
    findings: tuple[str, ...]
    unreached_gpu_lines: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is proved of a kernel's synchronisation, for all launches."""

    verdict: str
    assumes_in_bounds: bool
    findings: tuple[Witness, ...]


@dataclass(frozen=True, slots=True)
class Kernel:
    """All that is known of one kernel.

    ``missing``: parts of which nothing is known, by name, with the reason.
    """

    name: str
    readable_name: str
    block: Dim3 | None
    grid: Dim3 | None
    cluster: Dim3 | None
    arguments: tuple[str, ...]
    resources: Resources | None
    residence: Residence | None
    memory: Memory | None
    barriers: tuple[Barrier, ...]
    operations: tuple[Operation, ...]
    mbarriers: tuple[MBarriers, ...]
    rings: tuple[Ring, ...]
    accesses: tuple[Access, ...]
    runs: tuple[Run, ...]
    verdict: Verdict | None
    missing: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Decision:
    """A remark of a pass."""

    kind: str
    pass_name: str
    name: str
    function: str
    message: str
    place: Place | None
    arguments: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Alternative:
    """A tile that was weighed; ``cost`` is None if no block of it fits."""

    tile: str
    threads: int
    slots: int
    registers: int
    resident: int
    cost: float | None
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class Roofline:
    """What a kernel has to do at least, and what a multiprocessor does in a cycle at most."""

    unit: str
    work: int
    bytes: int
    work_a_cycle: float
    bytes_a_cycle: float
    intensity: float
    ridge: float
    is_matrix: bool


@dataclass(frozen=True, slots=True)
class Choice:
    """Why what becomes a kernel has its tile, and the lines of the schedule that say so."""

    function: str
    place: Place | None
    schedule: str
    rule: str
    numbers: Mapping[str, str]
    passed_over: tuple[str, ...]
    unit: str
    alternatives: tuple[Alternative, ...]
    schedule_lines: tuple[int, ...]
    roofline: Roofline | None


@dataclass(frozen=True, slots=True)
class Statement:
    """What is ``proved``, ``refuted``, ``tested``, ``assumed`` or ``open``, of a kernel.

    Of all, if it has no name.
    """

    standing: str
    kernel: str
    text: str
    basis: str


@dataclass(frozen=True, slots=True)
class Note:
    """A note of an error: what has to do with it, or what to do about it, and where."""

    message: str
    place: Place | None


@dataclass(frozen=True, slots=True)
class Fault:
    """An error of the compiler."""

    message: str
    place: Place | None
    notes: tuple[Note, ...]


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why the program is refused.

    ``stage``: the one that failed; ``text``: what the compiler says, source lines included;
    ``is_compiled``: all but the proof succeeds, and kernels are told of as they would be without.
    """

    stage: str
    text: str
    faults: tuple[Fault, ...]
    is_compiled: bool


@dataclass(frozen=True, slots=True)
class Provenance:
    """What made this: versions by name, options, and checksums of what went in and came out."""

    versions: Mapping[str, str]
    command: str
    chip: str
    options: Mapping[str, str]
    source_sha256: str
    ptx_sha256: str


@dataclass(frozen=True, slots=True)
class Document:
    """An explanation of a program; ``refusal`` says why it does not compile, if it does not."""

    format: str
    version: int
    program: str
    refusal: Refusal | None
    stages: tuple[Stage, ...]
    passes: tuple[PassChange, ...]
    kernels: tuple[Kernel, ...]
    decisions: tuple[Decision, ...]
    choices: tuple[Choice, ...]
    statements: tuple[Statement, ...]
    provenance: Provenance
    missing: Mapping[str, str]
