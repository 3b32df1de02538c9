"""Whether what a certificate says of LLVM IR is so.

All that it says is found again on the text: nothing is taken from it but what is compared. So it
cannot leave out a pair of accesses, nor give a reason that is none.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from certificates.asynchronous import Async
from certificates.cells import Refuted
from certificates.counters import Counters
from certificates.effects import Access, Effects, Order
from certificates.formulas import Formula, Writer
from certificates.graph import START, Graph, find_intervals
from certificates.grid import Grid, NotCovered
from certificates.interval import follow_all
from certificates.ir import Function, Instruction, NotUnderstood, Program, words
from certificates.launch import Launch
from certificates.machine import Machine
from certificates.past import Past
from certificates.reading import read
from certificates.slices import registers
from certificates.units import Units
from certificates.values import Array, Environment, Unknown, Value, check_parameters, pick

FORMAT, VERSION = "pipeline-certificate", 2
MOST_THREADS = 1024
MOST_CASES = 1000
"""How many cases of several values together are followed, if not all of them are needed."""
MOST_LAUNCHES = 100
"""How many launches that decide something in different ways are followed."""
MOST_VISITS = 100
"""How often an address is compared with its formula; races are looked for each time."""
_ENDS = words("br switch ret unreachable")
_LAUNCH_ARITHMETIC = words(
    "add sub mul udiv sdiv urem srem shl lshr ashr zext sext trunc freeze and or select icmp"
)


@dataclass(slots=True)
class Checked:
    """What was checked of a kernel.

    ``unknown``: lines whose address nobody knows beforehand. ``unreached``: lines that no thread
    comes to. ``assumed``: what was not proved. ``blocks``: of which no two threads meet in global
    memory, all that a launch may have; 0 if that is not covered, for the reason ``uncovered``.
    """

    kernel: str
    threads: int
    accesses: int
    pairs: int
    barriers: int
    unknown: set[int] = field(default_factory=set)
    unreached: set[int] = field(default_factory=set)
    assumed: list[str] = field(default_factory=list)
    blocks: int = 0
    uncovered: str = ""


def expect(said: object, found: object, what: str) -> None:
    """Raise Refuted if a certificate says something else than what is found."""
    if said != found:
        raise Refuted(f"{what}: the certificate says {said!r:.200}, the code {found!r:.200}")


def check(document: Mapping[str, Any], text: str) -> list[Checked]:
    """Check a certificate; raises Refuted, or NotUnderstood if it could not be checked."""
    if document.get("format") != FORMAT or document.get("version") != VERSION:
        raise NotUnderstood(f"this is no {FORMAT} of version {VERSION}")
    digest = hashlib.sha256(text.encode()).hexdigest()
    expect(document["sha256"], digest, "sha256")
    expect(document["covers"], "workgroup memory", "covers")
    program = read(text)
    memory = [
        {"alignment": alignment, "bytes": type.size, "name": name}
        for name, (type, alignment) in program.variables.items()
    ]
    expect(document["memory"], memory, "memory")
    kernels = {kernel["name"]: kernel for kernel in document["kernels"]}
    expect(len(kernels), len(document["kernels"]), "the number of kernels")
    expect(sorted(kernels), sorted(program.kernels), "kernels")
    return [check_kernel(kernels[name], program, each) for name, each in program.kernels.items()]


def find_block(program: Program, kernel: Function) -> list[int]:
    """The shape of the blocks that a kernel is compiled for; empty if for any."""
    said = " ".join(program.attributes.get(group, "") for group in kernel.attributes.split())
    for name in ("reqntid", "maxntid"):
        if match := re.search(rf'"nvvm\.{name}"="([\d,]+)"', said):
            return [int(number) for number in match[1].split(",")]
    return []


def check_kernel(claims: Mapping[str, Any], program: Program, kernel: Function) -> Checked:
    """Check what a certificate says of a kernel, and that its threads do not race."""
    expect(claims["block"], find_block(program, kernel), f"kernel {kernel.name}: block")
    formulas = {each["line"]: Formula(each["address"]) for each in claims["accesses"]}
    comparison = Comparison(claims, formulas, program, kernel)

    def begin(machine: Machine) -> None:
        comparison.begin(machine)
        machine.check = comparison.check_address

    named = {line: {*formula.names} for line, formula in formulas.items()}
    machine = follow(program, kernel, claims["assumptions"], begin, named, claims["boxes"])
    return comparison.finish(machine)


def check_races(document: Mapping[str, Any], text: str) -> None:
    """Look for races, whatever a certificate says, but for what it assumes."""
    program = read(text)
    for claims in document["kernels"]:
        follow(
            program,
            program.kernels[claims["name"]],
            claims["assumptions"],
            boxes=claims.get("boxes", ()),
        )


def follow(
    program: Program, kernel: Function, assumptions: Sequence[Mapping[str, Any]],
    begin: Callable[[Machine], None] = lambda machine: None,
    named: Mapping[int, set[str]] | None = None, boxes: Sequence[Mapping[str, Any]] = (),
) -> Machine:  # fmt: skip
    """Follow a kernel, in more detail where that is needed; raises Refuted where it races."""
    block = find_block(program, kernel)
    if len(block) != 3 or not 1 <= block[0] * block[1] * block[2] <= MOST_THREADS:
        raise NotUnderstood(f"kernel {kernel.name}: it is not known how many threads a block has")
    check_parameters(kernel.name, kernel.parameters)
    if Effects(program, kernel).has_own_order():
        return _run_units(program, kernel, (block[0], block[1], block[2]), boxes, begin, named)
    assumed = {each["value"]: 1 for each in assumptions}
    cases: frozenset[str] = frozenset()
    forgets = True
    while True:
        machine = Machine(program, kernel, (block[0], block[1], block[2]), assumed=assumed,
                          cases=cases, forgets=forgets, named=named)  # fmt: skip
        begin(machine)
        try:
            follow_all(machine)
        except (Refuted, NotUnderstood):
            more = _choose_cases(machine)
            if not forgets and more <= cases:
                raise
            cases |= more if not forgets else frozenset()
            forgets = False
        else:
            return machine


def _run_units(
    program: Program, kernel: Function, block: tuple[int, int, int],
    boxes: Sequence[Mapping[str, Any]], begin: Callable[[Machine], None],
    named: Mapping[int, set[str]] | None,
) -> Machine:  # fmt: skip
    """Follow a kernel whose threads hand memory over by mbarriers."""
    machine = Machine(program, kernel, block, assumed={}, cases=frozenset(), forgets=False,
                      named=named)  # fmt: skip
    begin(machine)
    scripts: list[list[bool]] = [[]]
    past, launches = Past(Counters(machine.graph, machine.slice)), 0
    while scripts:
        launch = Launch(scripts.pop())
        launches += 1
        if launches > MOST_LAUNCHES:
            raise NotUnderstood(
                f"kernel {kernel.name}: more than {MOST_LAUNCHES} kinds of launches"
            )
        Units(machine, {box["parameter"]: box["bytes"] for box in boxes}, launch).run(past.is_known)
        scripts += launch.others()
    return machine


def _choose_cases(machine: Machine) -> set[str]:
    """The values to follow each by itself: all that help, or what is needed if they are many."""
    together = math.prod(machine.few[name] for name in machine.wanted_cases)
    return machine.wanted_cases if together <= MOST_CASES else machine.needed_cases


class Comparison:
    """What a certificate says of a kernel, beside what its code says."""

    def __init__(
        self, claims: Mapping[str, Any], formulas: dict[int, Formula], program: Program,
        kernel: Function,
    ) -> None:  # fmt: skip
        self.claims, self.formulas = claims, formulas
        self.program, self.kernel = program, kernel
        self.fixed: dict[str, Value] = {}
        self.behind: dict[int, set[int]] = {}
        self.visits: dict[int, int] = {}
        self.checked = Checked(kernel.name, 0, len(claims["accesses"]), 0, 0)

    def begin(self, machine: Machine) -> None:
        """Compare all that does not depend on what happens."""
        self.checked = Checked(self.kernel.name, 0, len(self.formulas), 0, 0)
        self.visits = {}
        effects, graph = machine.effects, machine.graph
        self.fixed = {**machine.values.ids, **machine.values.bases}
        lines = [line for block in self.kernel.blocks.values() for line in block]
        self._check_orders(lines, effects)
        self._check_accesses(lines, effects)
        self._check_assumptions(effects)
        self._check_boxes(effects)
        self._find_intervals(lines, graph, effects)
        self._check_groups(effects)
        self._check_pairs()

    def _check_orders(self, lines: Sequence[Instruction], effects: Effects) -> None:
        orders = []
        for line in lines:
            effect = effects.of(line)
            if isinstance(effect, Order):
                order: dict[str, object] = {"kind": effect.kind, "line": line.line}
                if effect.kind == "wait":
                    order["pending"] = effect.pending
                orders.append(order)
        expect(self.claims["orders"], orders, f"kernel {self.kernel.name}: orders")
        self.checked.barriers = sum(order["kind"] == "barrier" for order in orders)

    def _check_accesses(self, lines: Sequence[Instruction], effects: Effects) -> None:
        found = [
            {"by": "warp" if effect.warp else "thread", "bytes": effect.size, "kind": effect.kind,
             "line": line.line}
            for line in lines
            if isinstance(effect := effects.of(line), Access)
        ]  # fmt: skip
        said = [
            {field: value for field, value in access.items() if field != "address"}
            for access in self.claims["accesses"]
        ]
        expect(said, found, f"kernel {self.kernel.name}: accesses")
        writer = Writer(effects.definitions)
        for access in self.claims["accesses"]:
            effect = effects.lines[access["line"]]
            assert isinstance(effect, Access)
            what = f"line {access['line']}: its address"
            expect(access["address"], writer.write(effect.pointer), what)
        self._check_control(lines, effects, writer.named)

    def _check_control(
        self, lines: Sequence[Instruction], effects: Effects, named: Iterable[str]
    ) -> None:
        """Compare the instructions that decide how often loops go round, and who goes where."""
        rest = [line for line in lines if line.op in _ENDS]
        rest += [effects.definitions[name] for name in named if name in effects.definitions]
        for line in lines:
            if isinstance(effects.of(line), Async):
                numbers = [each for each in line.operands if each.type.kind in ("int", "ptr")]
                used = registers(numbers) & effects.definitions.keys()
                rest += [line, *(effects.definitions[name] for name in used)]
        found: dict[int, str] = {}
        while rest:
            line = rest.pop()
            if line.line in found:
                continue
            found[line.line] = line.text.split(", !")[0].strip()
            if line.op not in ("call", "load"):
                names = registers(line.operands) & effects.definitions.keys()
                rest += [effects.definitions[name] for name in names]
        control = [{"line": number, "text": text} for number, text in sorted(found.items())]
        expect(self.claims["control"], control, f"kernel {self.kernel.name}: control")

    def _check_assumptions(self, effects: Effects) -> None:
        """Accept as an assumption that a block has something to do, and nothing else."""
        for each in self.claims["assumptions"]:
            line = effects.definitions.get(each["value"])
            what = f"line {each['line']}: the assumption on {each['value']}"
            if line is None or line.line != each["line"] or each["least"] != 1:
                raise Refuted(f"{what} is of no form that is accepted")
            if line.op != "sub" or not self._is_of_launch(line, effects):
                raise Refuted(f"{what} is not on what is left of an extent for a block")
            self.checked.assumed.append(f"line {line.line}: {line.text} is at least 1")

    def _is_of_launch(self, line: Instruction, effects: Effects) -> bool:
        """Whether a value is made of parameters, constants and ids of blocks alone."""
        rest, seen, has_id = [line], {line.name}, False
        while rest:
            each = rest.pop()
            if each.op == "call":
                is_id = "sreg.ctaid" in each.callee
                has_id |= is_id
                if not is_id and not re.match(r"@llvm\.[us](min|max)", each.callee):
                    return False
            elif each.op not in _LAUNCH_ARITHMETIC:
                return False
            for name in registers(each.operands) - seen - self.kernel.parameters.keys():
                seen.add(name)
                rest.append(effects.definitions[name])
        return has_id

    def _check_boxes(self, effects: Effects) -> None:
        """Check that there is a size for each tensor map by which bytes come, and no other."""
        used = {
            effect.operands[-1].name for effect in effects.lines.values()
            if isinstance(effect, Async) and effect.kind in ("transfer", "store")
        }  # fmt: skip
        maps = [box["parameter"] for box in self.claims["boxes"]]
        expect(sorted(maps), sorted(used), f"kernel {self.kernel.name}: boxes")
        for box in self.claims["boxes"]:
            if box["parameter"] not in self.kernel.parameters or box["bytes"] <= 0:
                raise Refuted(f"{box['parameter']} is no tensor map")
            self.checked.assumed.append(
                f"a transfer by {box['parameter']} is of {box['bytes']} bytes"
            )

    def _find_intervals(self, lines: Sequence[Instruction], graph: Graph, effects: Effects) -> None:
        everywhere = find_intervals(graph, effects.is_barrier, effects.after)
        for line in lines:
            effect = effects.of(line)
            if isinstance(effect, Access):
                behind = set(everywhere.get(line.line, ()))
                if effect.kind == "copy":
                    going_on = find_intervals(graph, effects.is_barrier, effects.after, line)
                    behind |= going_on[line.line]
                self.behind[line.line] = behind

    def _check_groups(self, effects: Effects) -> None:
        accesses = self.claims["accesses"]
        members = [number for group in self.claims["groups"] for number in group["accesses"]]
        expect(sorted(members), list(range(len(accesses))), "the accesses in groups")
        for group in self.claims["groups"]:
            for number in group["accesses"]:
                line = accesses[number]["line"]
                effect = effects.lines[line]
                assert isinstance(effect, Access)
                found = {"kind": effect.kind, "memory": sorted(effect.variables),
                         "behind": sorted(self.behind[line])}  # fmt: skip
                said = {field: group[field] for field in found}
                expect(said, found, f"the group of line {line}")

    def _check_pairs(self) -> None:
        groups = self.claims["groups"]
        found = []
        for first, one in enumerate(groups):
            for second in range(first, len(groups)):
                other = groups[second]
                pair: dict[str, object] = {"first": first, "second": second}
                pair["reason"] = find_reason(one, other)
                if pair["reason"] == "barriers":
                    pair["barriers"] = sorted({*one["behind"], *other["behind"]} - {START})
                found.append(pair)
        expect(self.claims["pairs"], found, f"kernel {self.kernel.name}: pairs")
        self.checked.pairs = len(found)

    def check_address(
        self, line: int, value: Value, threads: Array | None, environment: Environment
    ) -> None:
        """Compare the address of an access, as it happens, with its formula."""
        self.visits[line] = self.visits.get(line, 0) + 1
        if self.visits[line] > MOST_VISITS:
            return
        said = self.formulas[line].evaluate(environment, self.fixed)
        if isinstance(value, Unknown):
            self.checked.unknown.add(line)
            return
        if isinstance(said, Unknown):
            raise Refuted(f"line {line}: its address is not {self.formulas[line].text}")
        count = len(next(v for v in self.fixed.values() if not isinstance(v, int | Unknown)))
        differ = pick(said, threads, count) != pick(value, threads, count)
        if differ.any():
            raise Refuted(f"line {line}: its address is not {self.formulas[line].text}")

    def finish(self, machine: Machine) -> Checked:
        """Compare what happened with what can happen."""
        for line, intervals in machine.intervals.items():
            if not intervals <= self.behind[line]:
                raise Refuted(f"line {line} is done behind barriers that it is not said to be")
        self.checked.unreached = self.formulas.keys() - self.visits.keys()
        self.checked.threads = machine.threads
        x, y, z = find_block(self.program, self.kernel)
        try:
            grid = Grid(self.kernel, machine.graph, machine.effects, (x, y, z))
            self.checked.blocks = grid.check()
        except NotCovered as reason:
            self.checked.uncovered = str(reason)
        return self.checked


def find_reason(first: Mapping[str, Any], second: Mapping[str, Any]) -> str:
    """Why accesses of two groups do not race, by the first reason that there is."""
    if first["kind"] == second["kind"] == "read":
        return "reads"
    if not {*first["memory"]} & {*second["memory"]}:
        return "memory"
    if not {*first["behind"]} & {*second["behind"]}:
        return "barriers"
    return "addresses"
