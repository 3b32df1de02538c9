"""PTX's memory model, as NVIDIA has written it down: which executions of a litmus program are.

The axioms are those of "Memory Consistency Model" in the PTX ISA, 6.0 and 7.5 (with proxies); see
Lustig, Sahasrabuddhe and Giroux, "A Formal Analysis of the NVIDIA PTX Memory Consistency Model"
(ASPLOS 2019), and Lustig, Cooksey and Giroux, "Mixed-Proxy Extensions for the NVIDIA PTX Memory
Consistency Model" (ISCA 2022). For a candidate it is looked for an order of the fences that are
sequentially consistent, and for one of the writes of each place, as partial as it may be, so that
no axiom is broken.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence

from .candidates import Candidate, find_candidates
from .notation import Condition, Litmus, Term
from .relations import Relation
from .traces import Event

VERSIONS = ("60", "75")


def decide(litmus: Litmus, version: str) -> bool:
    """Say whether what a test asks holds: of some execution, of none, or of all."""
    ends = (end for ends in _find_ends(litmus, version) for end in ends)
    if litmus.quantifier == "always":
        return all(_holds(litmus.condition, *end) for end in ends)
    happens = any(_holds(litmus.condition, *end) for end in ends)
    return happens == (litmus.quantifier == "sometimes")


_End = tuple[list[dict[str, int]], dict[str, int]]


def _find_ends(litmus: Litmus, version: str) -> Iterator[list[_End]]:
    """Yield the values of registers and places at the ends of executions."""
    for candidate in find_candidates(litmus):
        if candidate.is_hanging and not _are_known(litmus.condition, candidate.registers):
            continue
        for order, _ in Axioms(candidate, version).find_orders():
            yield [(candidate.registers, memory) for memory in _final_values(candidate, order)]


def _are_known(condition: Condition, registers: Sequence[dict[str, int]]) -> bool:
    return all(
        term.thread < 0 or term.name in registers[term.thread]
        for group in condition
        for term in group
    )


def _holds(
    condition: Condition, registers: Sequence[dict[str, int]], memory: dict[str, int]
) -> bool:
    def value(thread: int, name: str) -> int:
        return memory[name] if thread < 0 else registers[thread].get(name, 0)

    def is_true(term: Term) -> bool:
        other = value(*term.other) if term.other else term.value
        return (value(term.thread, term.name) == other) == term.is_equal

    return any(all(is_true(term) for term in group) for group in condition)


def _final_values(candidate: Candidate, order: Relation) -> Iterator[dict[str, int]]:
    """Yield what places may hold: of each, a write that none comes after."""
    writes: dict[str, list[int]] = {}
    for number, event in enumerate(candidate.events):
        if event.kind == "W":
            place = candidate.litmus.origin(event.place)
            writes.setdefault(place, []).append(number)
    last = {
        place: sorted({candidate.events[it].value for it in members if not order.rows[it]})
        for place, members in writes.items()
    }
    for values in itertools.product(*last.values()):
        yield dict(zip(last, values, strict=True))


# --- axioms ---------------------------------------------------------------------------------------


class Axioms:
    """What is fixed in a candidate, in the words of the PTX ISA, and what the axioms forbid."""

    def __init__(self, candidate: Candidate, version: str) -> None:
        self._is_old = version == "60"
        self._litmus, self._events = candidate.litmus, candidate.events
        self._size = size = candidate.size
        events = candidate.events
        self._po = self._where(lambda a, b: a.thread == b.thread >= 0 and a.position < b.position)
        self._loc = self._where(lambda a, b: self._share(a, b, self._litmus.origin))
        self._vloc = self._where(lambda a, b: self._share(a, b, self._litmus.virtual))
        self._rf = Relation.of_pairs(size, ((w, r) for r, w in candidate.sources.items()))
        self._rmw = self._where(
            lambda a, b: a.thread == b.thread >= 0 and b.partner == a.position >= 0
        )
        self._strong = self._where(self._are_morally_strong)
        self._in_block = self._where(
            lambda a, b: (
                min(a.thread, b.thread) >= 0
                and self._litmus.places[a.thread] == self._litmus.places[b.thread]
            )
        )
        self._barriers = Relation.of_pairs(
            size, ((a, b) for a, b in candidate.synced if not events[b].is_arrival)
        )
        self._observation = self._make_observation()
        self._sync = self._make_sync()

    def _where(self, holds: Callable[[Event, Event], bool]) -> Relation:
        events = self._events
        return Relation.where(self._size, lambda a, b: a != b and holds(events[a], events[b]))

    def _only(self, holds: Callable[[Event], bool]) -> Relation:
        members = (number for number, event in enumerate(self._events) if holds(event))
        return Relation.identity(self._size, members)

    def _share(self, a: Event, b: Event, name: Callable[[str], str]) -> bool:
        return bool(a.place and b.place) and name(a.place) == name(b.place)

    def proxy(self, event: Event) -> str:
        """Return the proxy of an access, or that a proxy fence is for."""
        if event.kind == "F":
            return event.place if event.meaning == "proxy" else "generic"
        return self._litmus.proxy(event.place) if event.place else "generic"

    def _are_morally_strong(self, a: Event, b: Event) -> bool:
        if "B" in (a.kind, b.kind) or min(a.thread, b.thread) < 0:
            return False
        if a.thread != b.thread and not (self._reaches(a, b) and self._reaches(b, a)):
            return False
        if not self._is_old and self.proxy(a) != self.proxy(b):
            return False
        name = self._litmus.origin if self._is_old else self._litmus.virtual
        return "F" in (a.kind, b.kind) or self._share(a, b, name)

    def _reaches(self, a: Event, b: Event) -> bool:
        """Whether ``a`` is strong, and its scope has the thread of ``b`` in it."""
        if a.meaning in ("weak", "proxy") and a.kind != "F":
            return False
        (block, gpu), (other_block, other_gpu) = (
            self._litmus.places[event.thread] for event in (a, b)
        )
        if a.scope == "cta":
            return (block, gpu) == (other_block, other_gpu)
        return a.scope != "gpu" or gpu == other_gpu

    def _make_observation(self) -> Relation:
        observed = self._strong & self._rf
        if not self._is_old:
            return observed | self._rmw
        while True:
            longer = observed | observed @ self._rmw @ observed
            if longer.rows == observed.rows:
                return observed
            observed = longer

    def _make_sync(self) -> Relation:
        same = (self._po & (self._loc if self._is_old else self._vloc)).optional()
        releases = self._only(lambda it: it.kind == "W" and it.meaning in ("release", "acq_rel"))
        acquires = self._only(lambda it: it.kind == "R" and it.meaning in ("acquire", "acq_rel"))
        fences = self._only(lambda it: it.kind == "F" and it.meaning in ("acq_rel", "sc"))
        writes = self._only(lambda it: it.kind == "W" and it.meaning != "weak")
        reads = self._only(lambda it: it.kind == "R" and it.meaning != "weak")
        release = releases @ same @ writes | fences @ self._po @ writes
        acquire = reads @ same @ acquires | reads @ self._po @ fences
        observed = self._observation if self._is_old else self._observation.closure()
        return self._strong & (release @ observed @ acquire)

    def find_orders(self) -> Iterator[tuple[Relation, Relation]]:
        """Yield orders of the writes by which no axiom is broken, with causality order."""
        if not self._starts_somewhere():
            return
        fences = [
            number
            for number, event in enumerate(self._events)
            if event.kind == "F" and event.meaning == "sc"
        ]
        tried: set[tuple[int, ...]] = set()
        for order in itertools.permutations(fences):
            pairs = ((a, b) for at, a in enumerate(order) for b in order[at + 1 :])
            sc = Relation.of_pairs(self._size, pairs) & self._strong
            if tuple(sc.rows) not in tried:
                tried.add(tuple(sc.rows))
                yield from self._order_writes(sc)

    def _starts_somewhere(self) -> bool:
        """Whether no value comes out of thin air."""
        numbers = {(it.thread, it.position): at for at, it in enumerate(self._events)}
        depends = Relation.of_pairs(
            self._size,
            (
                (numbers[event.thread, position], number)
                for number, event in enumerate(self._events)
                for position in event.depends
            ),
        )
        return (self._rf | depends).is_acyclic

    def _order_writes(self, sc: Relation) -> Iterator[tuple[Relation, Relation]]:
        cause = self.cause(sc)
        fences = self._only(lambda it: it.kind == "F" and it.meaning == "sc")
        if not (fences @ cause @ fences - sc).is_empty:
            return
        writes = self._only(lambda it: it.kind == "W")
        first = self._where(lambda a, b: a.thread < 0 <= b.thread and a.kind == b.kind == "W")
        given = (writes @ cause @ writes | first) & self._loc
        free = writes @ self._strong @ writes & self._loc
        for order in _orient(given, free):
            if self._is_consistent(order, cause):
                yield order, cause | self._po

    def share(self, a: Event, b: Event) -> bool:
        """Say whether two accesses are of one place."""
        return self._share(a, b, self._litmus.origin)

    def are_strong(self, a: int, b: int) -> bool:
        """Say whether two events are morally strong."""
        return bool(self._strong.rows[a] >> b & 1)

    def comes_before(self, cause: Relation, a: int, b: int) -> bool:
        """Say whether one of two events comes before the other, by causality."""
        return bool(cause.rows[a] >> b & 1 or cause.rows[b] >> a & 1)

    def cause(self, sc: Relation) -> Relation:
        """Return causality order, given an order of the sequentially consistent fences."""
        po = self._po.optional()
        steps = (self._sync | sc | self._barriers) @ po
        base = po @ steps.closure()
        if self._is_old:
            return base | self._observation @ (base | self._po & self._loc)
        return self._observation.optional() @ self._preserved(base | self._po)

    def _preserved(self, base: Relation) -> Relation:
        """Return causality order between accesses, which proxies other than one break."""
        generic = self._only(lambda it: self.proxy(it) == "generic" and it.kind != "B")
        accesses = self._only(lambda it: it.kind in "RW")
        same = self._where(
            lambda a, b: "B" not in (a.kind, b.kind) and self.proxy(a) == self.proxy(b)
        )
        local = same & self._in_block
        fences = self._only(lambda it: it.kind == "F")
        alias = self._only(lambda it: it.kind == "F" and it.place == "alias")
        after = base & (fences @ local @ accesses)
        before = base & (fences @ local @ accesses).inverse()
        virtual = self._vloc & (
            generic @ base @ generic
            | accesses @ (base & local) @ accesses
            | before @ base @ generic
            | generic @ base @ after
            | before @ base @ after
        )
        aliased = base @ alias @ base
        real = self._loc & (
            generic @ aliased @ generic
            | before @ aliased @ generic
            | generic @ aliased @ after
            | before @ aliased @ after
        )
        return virtual | real

    def _is_consistent(self, order: Relation, cause: Relation) -> bool:
        fr = self._rf.inverse() @ order
        broken = (self._strong & fr) @ (self._strong & order) & self._rmw
        if not broken.is_empty:
            return False
        if self._is_old:
            strong = self._strong & (self._rf | order | fr)
            if not (strong | self._po & self._loc).is_acyclic:
                return False
        return ((self._rf | fr) @ cause).is_irreflexive


def _orient(given: Relation, free: Relation) -> Iterator[Relation]:
    """Yield orders that have what is given, and one way of what has to be ordered in some way."""
    order = given.closure()
    if not order.is_irreflexive:
        return
    for a, b in free.pairs():
        if not (order.rows[a] >> b & 1 or order.rows[b] >> a & 1):
            size = len(order.rows)
            for pair in ((a, b), (b, a)):
                yield from _orient(order | Relation.of_pairs(size, [pair]), free)
            return
    yield order
