"""From a compiled program, and what the compiler tells of it, to a document."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from .decisions import list_choices, list_decisions
from .differences import list_changes
from .document import (
    FORMAT,
    VERSION,
    Document,
    Kernel,
    Memory,
    Residence,
    Resources,
    Stage,
)
from .lines import LineTable
from .machine_code import MachineCode
from .mbarriers import list_mbarriers, name_mbarriers
from .memory_map import map_memory
from .occupancy import occupy
from .provenance import describe_provenance
from .refusing import describe_refusal
from .running import Emulation, list_accesses, list_runs
from .synchronisation import describe_verdict, list_barriers, list_operations, list_rings
from .trust import list_statements

if TYPE_CHECKING:
    from ..compiling.explaining import Explained, KernelFacts
    from ..diagnostics import Remark
    from ..program import module
    from .document import PassChange, Ring

T = TypeVar("T")

_NOT_ASKED = "not asked for"


class Texts(NamedTuple):
    """The stages of a program but its machine code, and what each pass changed."""

    table: LineTable
    stages: tuple[Stage, ...]
    changes: tuple[PassChange, ...]


def collect_texts(explained: Explained) -> Texts:
    """Collect what takes longest, and for which nothing has to be found out about kernels."""
    module, table = explained.module, LineTable(explained.program.name, explained.lines)
    texts = {"source": explained.program.text}
    if module.schedule is not None:
        texts["transform"] = module.schedule
    texts |= module.texts
    stages = tuple(table.stage(name, text.rstrip("\n")) for name, text in texts.items())
    return Texts(table, stages, list_changes(module.snapshots))


class Collector:
    """Makes the document of a compiled program."""

    def __init__(
        self,
        explained: Explained,
        texts: Texts,
        facts: KernelFacts,
        emulation: Emulation | None,
    ) -> None:
        self._explained = explained
        self._texts = texts
        self._facts = facts
        self._module = explained.module
        self._code = MachineCode({}, {}, "", {"resources": _NOT_ASKED, "sass": _NOT_ASKED})
        self._emulation = emulation or Emulation((), (), _NOT_ASKED)
        self._table = texts.table
        self._places = _find_places(explained, facts, self._table)

    def collect(
        self, code: MachineCode | None, command: str, options: Mapping[str, str]
    ) -> Document:
        """Return the document. `command` and `options` are what the program was compiled by."""
        self._code = code or self._code
        kernels = tuple(
            self._describe(number, kernel)
            for number, kernel in enumerate(self._module.kernels.values())
        )
        missing = {} if self._code.functions else {"sass": self._code.missing["sass"]}
        if not self._choices_are_known:
            missing["choices"] = "the schedule was given, or the program has kernels of its own"
        numerics = self._explained.request.numerics
        refusal = self._explained.refusal
        machine = self._code.stage(self._table)
        return Document(
            format=FORMAT,
            version=VERSION,
            program=self._explained.program.name,
            refusal=describe_refusal(refusal, self._table, is_compiled=True) if refusal else None,
            stages=(*self._texts.stages, *([machine] if machine else [])),
            passes=self._texts.changes,
            kernels=kernels,
            decisions=list_decisions(self._module.remarks, self._table),
            choices=list_choices(self._explained.chooser, self._table),
            statements=list_statements(self._module, kernels, numerics),
            provenance=describe_provenance(
                self._explained.program.text,
                self._module.ptx,
                command=command,
                chip=self._module.chip,
                options=options,
                ptxas=self._code.version,
            ),
            missing=missing,
        )

    @property
    def _choices_are_known(self) -> bool:
        chooser = self._explained.chooser
        return chooser is not None and chooser.choice is not None

    # --- the program ------------------------------------------------------------------------------

    # --- kernels ----------------------------------------------------------------------------------

    def _describe(self, number: int, kernel: module.Kernel) -> Kernel:
        from .. import _native

        explained, facts, table = self._explained, self._facts, self._table
        mbarriers = name_mbarriers(
            (nth, one) for nth, one in enumerate(facts.mbarriers) if one.kernel == number
        )
        operations = list_operations(
            [one for one in facts.operations if one.kernel == number], mbarriers, table
        )
        remarks = self._remarks_on(number)
        rings = list_rings(remarks, table)
        resources = self._describe_resources(kernel)
        reports = [one for one in self._emulation.statistics if one.kernel == kernel.name]
        checks = [one for one in self._emulation.checks if one.kernel == kernel.name]
        verdict = self._of_kernel(number, facts.verdicts, [v.name for v in facts.verdicts])
        return Kernel(
            name=kernel.name,
            readable_name=_native.readable_name(kernel.name),
            block=kernel.block or kernel.known_block,
            grid=kernel.grid or kernel.known_grid,
            cluster=kernel.cluster,
            arguments=tuple(argument.type for argument in kernel.arguments),
            resources=resources,
            residence=self._describe_residence(kernel, resources),
            memory=self._map_memory(number, remarks, rings),
            barriers=list_barriers(
                [one for one in facts.needs if one.kernel == number],
                explained.barriers,
                table,
            ),
            operations=operations,
            mbarriers=list_mbarriers(facts.mbarriers, mbarriers, facts.operations, table),
            rings=rings,
            accesses=list_accesses(reports, table),
            runs=list_runs(checks),
            verdict=describe_verdict(verdict, table) if verdict else None,
            missing=self._list_missing(kernel, resources, ran=bool(reports)),
        )

    def _list_missing(
        self, kernel: module.Kernel, resources: Resources | None, *, ran: bool
    ) -> dict[str, str]:
        missing = {}
        if resources is None:
            reason = self._code.missing.get("resources", "ptxas tells nothing of it")
            missing["resources"] = missing["residence"] = reason
        elif not (kernel.block or kernel.known_block):
            missing["residence"] = "only the launch knows the size of a block"
        if not ran:
            reason = self._emulation.missing or "the run did not come to it"
            missing["accesses"] = missing["runs"] = reason
        return missing

    def _describe_resources(self, kernel: module.Kernel) -> Resources | None:
        taken = self._code.resources.get(kernel.name)
        if taken is None:
            return None
        function = self._code.functions.get(kernel.name)
        return Resources(
            registers=taken.registers,
            spill_store_bytes=taken.spill_store_bytes,
            spill_load_bytes=taken.spill_load_bytes,
            stack_bytes=taken.stack_bytes,
            static_shared_bytes=taken.static_shared_bytes,
            dynamic_shared_bytes=kernel.dynamic_shared_bytes or kernel.least_dynamic_shared_bytes,
            instructions=len(function.instructions) if function else None,
        )

    def _describe_residence(
        self, kernel: module.Kernel, resources: Resources | None
    ) -> Residence | None:
        block = kernel.block or kernel.known_block
        if resources is None or block is None:
            return None
        shared = resources.static_shared_bytes + resources.dynamic_shared_bytes
        threads = block[0] * block[1] * block[2]
        found = occupy(self._module.chip, threads, resources.registers, shared)
        return Residence(
            found.blocks,
            found.limiters,
            found.registers,
            found.memory,
            found.threads,
            found.slots,
            found.share,
        )

    def _map_memory(
        self, number: int, remarks: Sequence[Remark], rings: Sequence[Ring]
    ) -> Memory | None:
        memories = self._module.workgroup_memory
        pairs = [*zip(memories, self._explained.lives, strict=True)]
        found = self._of_kernel(number, pairs, [memory.kernel for memory in memories])
        return map_memory(*found, remarks, rings, self._table) if found else None

    @property
    def _own_names(self) -> Sequence[str]:
        """The names of the kernels before they were made unique, in order."""
        return [memory.kernel for memory in self._module.workgroup_memory]

    def _of_kernel(self, number: int, items: Sequence[T], names: Sequence[str]) -> T | None:
        """Return what is of a kernel among items for kernels by their own names, in order."""
        own = self._own_names
        if number >= len(own):
            return None
        name, nth = own[number], own[:number].count(own[number])
        same = [item for item, of in zip(items, names, strict=True) if of == name]
        return same[nth] if nth < len(same) else None

    def _remarks_on(self, number: int) -> list[Remark]:
        """Return the remarks on a kernel.

        Before outlining, it is a part of its function; of several kernels of one, those remarks
        count that are at a place that the kernel has, too.
        """
        return [one for one in self._module.remarks if self._is_on(one, number)]

    def _is_on(self, remark: Remark, number: int) -> bool:
        own = self._own_names
        if number < len(own) and remark.function == own[number]:
            return own.count(remark.function) == 1 or self._has_place(remark, number)
        return self._has_place(remark, number)

    def _has_place(self, remark: Remark, number: int) -> bool:
        place = self._table.place(remark.location)
        return place is not None and (place.file, place.line) in self._places.get(number, ())


def _find_places(
    explained: Explained, facts: KernelFacts, table: LineTable
) -> Mapping[int, set[tuple[str, int]]]:
    """For each kernel, the lines of the program of what orders its threads, and buffers."""
    found: dict[int, set[tuple[str, int]]] = defaultdict(set)
    for one in facts.operations:
        if one.kernel is not None and (place := table.place(one.at.location)):
            found[one.kernel].add((place.file, place.line))
    for number, memory in enumerate(explained.module.workgroup_memory):
        for buffer in memory.buffers:
            if place := table.place(buffer.location):
                found[number].add((place.file, place.line))
    return found
