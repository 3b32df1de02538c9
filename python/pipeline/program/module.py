"""A compiled program: its PTX, and what it takes to launch its kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..diagnostics import Diagnostic, Remark, Snapshot
from ..errors import UsageError
from ..records.barriers import Barrier
from ..records.kernel import KernelRecord
from ..records.limits import STEP_LIMIT
from ..records.memory import WorkgroupMemory
from ..records.signature import Entry
from ..runtime.emulation import Emulation
from .assembly import Assembly
from .calling import Backend, GpuCalls, choose_variant, read_device, runs_on_gpu, unpack
from .entry import check_call, choose, execute, needs_distinct_arguments

if TYPE_CHECKING:
    from pathlib import Path

    from ..records.findings import Dim3, Report
    from ..records.origin import Origin
    from ..runtime.arguments import Value
    from ..runtime.emulator import AsyncMode, Check, Options, Order
    from ..runtime.host.execution import Outcome
    from ..runtime.host.plan import Plan
    from ..runtime.sizes import LaunchSizes, Limits, Sizes
    from ..system.assembler import Resources


@dataclass(frozen=True, slots=True)
class Kernel(KernelRecord):
    """A kernel of a module, with what it takes to run it."""

    _assembly: Assembly = field(repr=False, compare=False)
    _emulation: Emulation = field(repr=False, compare=False)
    _plan: PlanText = field(repr=False, compare=False)
    _gpu: GpuCalls = field(repr=False, compare=False)

    def run(
        self,
        *args: Any,
        grid: Sizes | None = None,
        block: Sizes | None = None,
        cluster: Sizes | None = None,
        dynamic_shared_bytes: int | None = None,
        backend: Backend = "auto",
        stream: Any = None,
        device: int | None = None,
        check: Check = "none",
        order: Order | int = "forward",
        async_mode: AsyncMode | int = "on_wait",
        seed: int = 0,
        delays: bool = False,
        step_limit: int = STEP_LIMIT,
        workers: int = 0,
        blocks: int = 0,
        statistics: bool = False,
    ) -> Report:
        """Launch this kernel on arrays, in place, and return what is known of the launch.

        args: arrays (NumPy, PyTorch, or any with ``__dlpack__``) for memrefs and tensor maps,
            numbers for the rest, in the order of ``arguments``.
        grid, block: blocks, and threads per block, as ``x`` or up to ``(x, y, z)``. Default: those
            of the launches in the program, if they are constants.
        cluster: blocks per cluster, as ``x`` or up to ``(x, y, z)``. Default: those of the
            launches, or what the kernel was compiled for, or no clusters.
        dynamic_shared_bytes: of workgroup memory. Default: that of the launches, or 0.
        backend: ``emulator``, ``cuda``, or ``auto``: a GPU if there is one to use and nothing below
            is asked for, else the emulator, but not for kernels of a bundle: of them, code of this
            process is made only if that is asked for. On a GPU the report tells of no findings, as
            nobody looks for any.
        stream: of a GPU, on which to launch; default: the current one of the arrays' library.
        device: the number of the GPU to run on, which arrays of the host are copied to; default:
            that of the arrays, or 0.
        check: ``none`` finds what no GPU survives, ``races`` also data races, copies that are not
            waited for and workgroup memory that is read before it is written, ``all`` also what is
            harmless as a rule.
        order: in which threads and blocks get to run: ``forward``, ``reverse``, ``seeded``, or the
            seed. A kernel without races computes the same in all of them.
        async_mode: when the bytes of asynchronous copies arrive: ``on_wait``, ``eager``,
            ``seeded``, or the seed.
        delays: let threads stop for random times, by the seed, at atomic operations, volatile
            accesses and fences: what happens while another thread holds a lock is then seen.
        step_limit: loop iterations after which a thread counts as stuck; 0 is no limit.
        workers: threads of the host to use; 0 is one per core.
        blocks: run only as many blocks, chosen by `seed`; 0 is all.
        statistics: count what accesses cost; only with ``check="none"``.

        Raises RaceError, MemoryAccessError, SynchronizationError or KernelFaultError, all of them
        CheckError, for what is found; ArgumentError and UsageError before anything runs;
        CompileError if the kernel holds something that is not emulated.
        """
        from ..runtime.emulator import Options, check_trust, load_emulator, raise_findings

        options = Options(
            check=check,
            order=order,
            async_mode=async_mode,
            seed=seed,
            delays=delays,
            step_limit=step_limit,
            workers=workers,
            blocks=blocks,
            statistics=statistics,
        )
        device = read_device(device)
        if runs_on_gpu(backend, args, stream, options, device):
            sizes = self._choose_sizes(grid, block, cluster, dynamic_shared_bytes)
            return self._gpu.launch(self, sizes, self._check(args), stream, device)
        check_trust(self._emulation, backend)
        load_emulator(self._emulation)
        report = self.emulate(
            *args,
            grid=grid,
            block=block,
            cluster=cluster,
            dynamic_shared_bytes=dynamic_shared_bytes,
            options=options,
        )
        raise_findings(report)
        return report

    def emulate(
        self,
        *args: Any,
        grid: Sizes | None = None,
        block: Sizes | None = None,
        cluster: Sizes | None = None,
        dynamic_shared_bytes: int | None = None,
        options: Options | None = None,
    ) -> Report:
        """Launch this kernel as ``run`` does; findings are in the report and do not raise."""
        from ..runtime.emulator import Options, launch, prepare
        from ..runtime.emulator_arrays import Placement

        sizes = self._choose_sizes(grid, block, cluster, dynamic_shared_bytes)
        placement = Placement(self._check(args))
        report = launch(prepare(self, placement.values, sizes, options or Options()))
        placement.finish()
        return report

    def _check(self, args: Sequence[Any]) -> list[Value]:
        """Return the arguments of a launch. Raises ArgumentError."""
        from ..runtime.arguments import check_distinct, convert

        values = convert(self.name, self.arguments, args)
        if self._emulation.needs_distinct_arguments:
            check_distinct(values)
        return values

    def _choose_sizes(
        self, grid: Any, block: Any, cluster: Any, dynamic_shared_bytes: Any
    ) -> LaunchSizes:
        """Return what is given, or else what the program tells. Raises UsageError."""
        from ..runtime.sizes import LaunchSizes, read_bytes

        if dynamic_shared_bytes is None:
            dynamic_shared_bytes = self.dynamic_shared_bytes or 0
        return LaunchSizes(
            self._read_sizes("grid", grid, self.grid or self.known_grid),
            self._read_sizes("block", block, self.block or self.known_block),
            read_bytes("dynamic_shared_bytes", dynamic_shared_bytes),
            self._read_cluster(cluster),
        )

    def _read_sizes(self, name: str, given: Sizes | None, known: Dim3 | None) -> Dim3:
        from ..runtime.sizes import read_sizes

        if given is not None:
            return read_sizes(name, given)
        if known is None:
            raise UsageError.of_option(
                name, f"must be given, as the program tells none for kernel '{self.name}'"
            )
        return known

    def _read_cluster(self, given: Sizes | None) -> Dim3 | None:
        sizes = self._read_sizes("cluster", given, self.cluster)
        return None if given is None and sizes == (1, 1, 1) else sizes

    @property
    def resources(self) -> Resources:
        """What the kernel takes according to ptxas, which this runs if it has not run yet.

        Raises ToolError if there is no ptxas.
        """
        return self._assembly.resources[self.name]

    @property
    def registers(self) -> int:
        """Registers per thread; see ``resources``."""
        return self.resources.registers

    @property
    def limits(self) -> Limits:
        """What GPUs take of a launch."""
        return self._plan.plan.limits


class PlanText:
    """The text of a launch plan, empty if there is none, and from the first use on the plan."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._plan: Plan | None = None

    @classmethod
    def of(cls, plan: Plan) -> PlanText:
        """Return the text of a plan that was read."""
        made = cls(plan.text)
        made._plan = plan
        return made

    def __eq__(self, other: object) -> bool:
        return self._text == other._text if isinstance(other, PlanText) else NotImplemented

    @property
    def plan(self) -> Plan:
        """What the text says."""
        from ..runtime.host.plan import Plan

        if self._plan is None:
            self._plan = Plan.parse(self._text) if self._text else Plan.none()
        return self._plan


@dataclass(frozen=True, slots=True)
class Module:
    """A compiled program.

    ``texts`` maps the stages that were kept (``schedule``, ``gpu``, ``nvvm``, ``llvm``, ``ptx``) to
    their texts, and ``certificate`` to that if it was asked for, ``seconds`` the stages that ran to
    their duration. ``workgroup_memory`` says where the buffers of each kernel are. ``schedule`` is
    what was chosen for a program that brought none.
    ``variants`` are the modules of the bundle that this one was loaded from, by chip, the oldest
    first; empty for a program that was compiled here.
    """

    chip: str
    kernels: Mapping[str, Kernel]
    texts: Mapping[str, str] = field(repr=False)
    diagnostics: tuple[Diagnostic, ...]
    remarks: tuple[Remark, ...]
    snapshots: tuple[Snapshot, ...]
    seconds: Mapping[str, float] = field(compare=False)
    rendered: str = field(repr=False)
    entries: Mapping[str, Entry]
    _plan: PlanText = field(repr=False)
    workgroup_memory: tuple[WorkgroupMemory, ...]
    _barriers: tuple[Barrier, ...] = field(repr=False)
    schedule: str | None = field(repr=False)
    _assembly: Assembly = field(repr=False, compare=False)
    _gpu: GpuCalls = field(repr=False, compare=False)
    _origin: Origin | None = field(default=None, repr=False, compare=False)
    variants: Mapping[str, Module] = field(default_factory=dict, repr=False, compare=False)

    def __call__(self, *arrays: Any, stream: Any = None, device: int | None = None) -> Any:
        """Run the host function of the program, as ``run`` does.

        Calls on arrays of PyTorch or CuPy like those of calls before take a few microseconds: what
        was checked and computed for them holds.
        """
        if device is None and self._gpu.guards:
            results = self._gpu.call_alike(arrays, stream)
            if results is not None:
                return unpack(results) if results else None
        device = read_device(device)
        if runs_on_gpu("auto", arrays, stream, device=device):
            return self._run_on_gpu(None, arrays, stream, device, is_remembered=True)
        return self.run(*arrays)

    def run(
        self,
        *arrays: Any,
        entry: str | None = None,
        backend: Backend = "auto",
        stream: Any = None,
        device: int | None = None,
        check: Check = "none",
        order: Order | int = "forward",
        async_mode: AsyncMode | int = "on_wait",
        seed: int = 0,
        delays: bool = False,
        step_limit: int = STEP_LIMIT,
        workers: int = 0,
    ) -> Any:
        """Run a host function of the program on arrays, and return its results.

        arrays: one value per argument of the function. What the function writes to them is in
            them afterwards.
        entry: the function, if several launch kernels.

        The rest is as for ``Kernel.run``. Arrays of a GPU are used in place, in the order of the
        stream; those of the host are copied to one and back, and the call is done when it returns.
        A result is an array of the library that the first array is of (PyTorch, CuPy, else NumPy),
        or a number of NumPy's types; of several results it is a tuple, of none None. A function can
        be run if ``plan`` can say what it does: UsageError says what is in the way, and which
        kernels can be run by themselves.
        """
        from ..runtime.emulator import Options, check_trust, load_emulator, raise_findings

        options = Options(
            check=check,
            order=order,
            async_mode=async_mode,
            seed=seed,
            delays=delays,
            step_limit=step_limit,
            workers=workers,
        )
        device = read_device(device)
        if runs_on_gpu(backend, arrays, stream, options, device):
            return self._run_on_gpu(entry, arrays, stream, device)
        for kernel in self.kernels.values():
            check_trust(kernel._emulation, backend)
            load_emulator(kernel._emulation)
        outcome = self.execute(*arrays, entry=entry, options=options)
        for report in outcome.reports:
            raise_findings(report)
        return unpack(outcome.results)

    def _run_on_gpu(
        self,
        name: str | None,
        arrays: Sequence[Any],
        stream: Any,
        device: int | None,
        *,
        is_remembered: bool = False,
    ) -> Any:
        module = choose_variant(self.variants, self, arrays, device)
        entry = module.entry(name)
        values = check_call(entry, module.plan, module.kernels, arrays, stream)
        distinct = needs_distinct_arguments(module.kernels)
        results, guard = module._gpu.call(
            entry,
            values,
            stream,
            device,
            needs_distinct_arguments=distinct,
            is_guarded=is_remembered,
        )
        if guard is not None:
            self._gpu.remember(guard)
        return unpack(results)

    def load(self, device: int = 0) -> None:
        """Load the code and the constants for a GPU, as the first call there does.

        While a CUDA graph is captured, the first call may not do that. Raises DeviceUnavailable if
        there is no GPU to use, or the code is for others.
        """
        choose_variant(self.variants, self, (), device)._gpu.launcher.load(device)

    def execute(
        self, *arrays: Any, entry: str | None = None, options: Options | None = None
    ) -> Outcome:
        """Run as ``run`` does, and return reports and results; findings do not raise."""
        from ..runtime.emulator import Options

        chosen = self.entry(entry)
        return execute(chosen, self.plan, self.kernels, arrays, options or Options())

    def emulate(
        self, *arrays: Any, entry: str | None = None, options: Options | None = None
    ) -> tuple[Report, ...]:
        """Run as ``run`` does, and return a report per launch; findings do not raise."""
        return self.execute(*arrays, entry=entry, options=options).reports

    def entry(self, name: str | None = None) -> Entry:
        """Return the host function that ``run`` runs. Raises UsageError if it cannot be run."""
        return choose(self.entries, self.plan, self.kernels, name)

    @property
    def plan(self) -> Plan:
        """What the host functions do."""
        return self._plan.plan

    @property
    def barriers(self) -> tuple[dict[str, Any], ...]:
        """Why there is each barrier that was inserted, from stage ``gpu`` on.

        ``pairs``: the accesses that it orders, ``barriers``: how many were inserted together,
        ``needed``: how many pairs there are no two of which one barrier could help to order,
        ``certificate``: the one of those that this barrier orders, if any, ``optimal``: that no
        fewer barriers would do. docs/synchronization.md has the fields of a pair.
        """
        return tuple(barrier.to_json() for barrier in self._barriers)

    @property
    def ptx(self) -> str:
        """The PTX of all kernels. Raises UsageError if an earlier stage was the last."""
        if "ptx" not in self.texts:
            raise UsageError("error: the module has no PTX: an earlier stage was asked for")
        return self.texts["ptx"]

    @property
    def cubin(self) -> bytes:
        """The machine code, by ptxas.

        Raises ToolError if there is no ptxas, CompileError if it refuses the PTX, UsageError if an
        earlier stage was the last.
        """
        return self._assembly.cubin

    @property
    def images(self) -> Mapping[str, bytes]:
        """The machine code that is there, by chip: of a bundle, or made since by ``cubin``."""
        return self._assembly.images

    def save(
        self,
        path: str | Path,
        *,
        variants: Sequence[Module] = (),
        cubin: bool = False,
        emulator: bool = True,
        certificate: bool = False,
        sources: bool = False,
        license: str | None = None,
        license_file: str | Path | None = None,
    ) -> str:
        """Write a bundle, which :func:`pipeline.load` reads, and return its digest.

        The file appears whole or not at all. What is equal here is equal there, byte for byte.

        variants: the same program, compiled for other chips.
        cubin: also write machine code for the chip of each, which ptxas makes.
        emulator: also write what the emulator runs.
        certificate: also write why threads do not race, and the LLVM IR that it is about, of a
            module that was compiled with ``certify=True``.
        sources: also write the program and its schedule, for the messages of the emulator.
        license: the SPDX expression of the program's licence; unknown if it is not given.
        license_file: the text of the licence.

        Raises UsageError if the file cannot be written, or the module has no PTX, ToolError if
        there is no ptxas, BundleError if two variants are for one chip.
        """
        from .saving import save_module

        return save_module(
            self,
            path,
            variants=variants,
            cubin=cubin,
            emulator=emulator,
            certificate=certificate,
            sources=sources,
            license=license,
            license_file=license_file,
        )

    @property
    def ptxas_log(self) -> str:
        """What ``ptxas -v`` printed; see ``cubin``."""
        return self._assembly.log


def index_by_name(kernels: Sequence[Kernel]) -> Mapping[str, Kernel]:
    """Return a mapping of the kernels in their order."""
    return {kernel.name: kernel for kernel in kernels}
