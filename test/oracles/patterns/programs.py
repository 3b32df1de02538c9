"""The kernel of a pattern, in MLIR: `pattern(begins, neighbours, first, second, nodes)`."""

from __future__ import annotations

from collections.abc import Callable

from .kinds import Pattern
from .text import Text

BLOCK, GRID, WARP = 64, 4, 32
_GLOBAL = "memref<?xi32>"
_SHARED = f"memref<{BLOCK}xi32, #gpu.address_space<workgroup>>"
_ATOMIC = {"max": "maxs", "min": "mins", "add": "addi"}
_PLAIN = {"max": "maxsi", "min": "minsi", "add": "addi"}
_LLVM = {"max": "max", "min": "min", "add": "add"}


def make_program(pattern: Pattern) -> str:
    """Return the program of a pattern."""
    return _Writer(pattern).write()


class _Writer:
    def __init__(self, pattern: Pattern) -> None:
        self._pattern, self._text = pattern, Text()
        text = self._text
        self._zero, self._one = text.constant(0), text.constant(1)
        self._thread = self._register("thread_id")
        self._block = self._register("block_id")
        self._width = text.constant(BLOCK)
        self._warp = text.constant(WARP)
        self._lane = text.binary("remui", self._thread, self._warp)

    def _register(self, name: str) -> str:
        value = self._text.value(f"gpu.{name} x")
        return self._text.value(f"arith.index_cast {value} : index to i32")

    def write(self) -> str:
        """Write the kernel."""
        text = self._text
        first, step = self._find_nodes()
        if self._pattern.is_persistent:
            with text.loop(first, "%nodes", step) as node:
                self._visit(node)
        elif "no_bound" in self._pattern.mistakes and self._pattern.mapping == "neighbors":
            self._visit(first)
        else:
            with text.when(text.compare("slt", first, "%nodes")):
                self._visit(first)
        names = ("begins", "neighbours", "first", "second")
        arguments = [*(f"%{name}: {_GLOBAL}" for name in names), "%nodes: i32"]
        shared = f" workgroup(%carry: {_SHARED})" if self._pattern.carry else ""
        return text.kernel(arguments, shared, BLOCK, GRID)

    def _find_nodes(self) -> tuple[str, str]:
        """Return the first node of a thread, and how far it is to its next."""
        text, mapping = self._text, self._pattern.mapping
        if mapping == "neighbors_block":
            return self._block, text.constant(GRID)
        begin = text.binary("muli", self._block, self._width)
        number = text.binary("addi", begin, self._thread)
        if mapping == "neighbors_warp":
            number = text.binary("divui", number, self._warp)
            return number, text.constant(GRID * BLOCK // WARP)
        return number, text.constant(GRID * BLOCK)

    # --- one node ---------------------------------------------------------------------------------

    def _visit(self, node: str) -> None:
        if self._pattern.work == "path_compression":
            self._walk(node)
            return
        text, mapping = self._text, self._pattern.mapping
        begin = text.load("%begins", node)
        end = text.load("%begins", text.binary("addi", node, self._one))
        if mapping == "neighbor":
            at = text.binary("subi", end, self._one) if self._pattern.is_last else begin
            if "no_bound" in self._pattern.mistakes:
                self._look(node, at, self._do)
            else:
                with text.when(text.compare("slt", begin, end)):
                    self._look(node, at, self._do)
        elif mapping == "neighbors":
            self._look_at_all(node, begin, end)
        else:
            self._look_together(node, begin, end)

    def _look(self, node: str, at: str, do: Callable[[str, str, str], None]) -> None:
        """Do something at the neighbour at a place, if the pattern is for it."""
        text = self._text
        neighbour = text.load("%neighbours", at)
        if self._asks:
            with text.when(text.compare("slt", node, neighbour)):
                do(node, neighbour, at)
        else:
            do(node, neighbour, at)

    def _place(self, begin: str, end: str, turn: str) -> str:
        """Return the place of the neighbour that comes in a turn."""
        text = self._text
        if not self._pattern.is_last:
            return text.binary("addi", begin, turn)
        return text.binary("subi", text.binary("subi", end, self._one), turn)

    def _look_at_all(self, node: str, begin: str, end: str) -> None:
        text = self._text
        count = text.binary("subi", end, begin)
        if not self._pattern.stops:
            with text.loop(self._zero, count, self._one) as turn:
                self._look(node, self._place(begin, end, turn), self._do)
            return
        # Turns end behind the first that does something.
        with text.region(f"scf.while (%turn = {self._zero}) : (i32) -> i32", "} do {"):
            is_left = text.compare("slt", "%turn", count)
            text.add(f"scf.condition({is_left}) %turn : i32")
        text.add("^bb0(%now: i32):")
        place = self._place(begin, end, "%now")
        after = count
        if self._asks:
            matters = text.compare("slt", node, text.load("%neighbours", place))
            following = text.binary("addi", "%now", self._one)
            after = text.value(f"arith.select {matters}, {count}, {following} : i32")
        self._look(node, place, self._do)
        text.add(f"scf.yield {after} : i32")
        text.add("}")

    @property
    def _asks(self) -> bool:
        """Whether only neighbours of higher numbers matter."""
        works = ("conditional_vertex", "populate_worklist")
        return self._pattern.is_conditional or self._pattern.work in works

    def _do(self, node: str, neighbour: str, at: str) -> None:
        """Do what one neighbour asks for."""
        text, work = self._text, self._pattern.work
        if work == "conditional_edge":
            self._raise_maximum(text.load("%second", neighbour))
        elif work == "conditional_vertex":
            self._update("add", "%first", self._zero, self._one)
        elif work == "pull":
            sum_ = text.binary("addi", text.load("%first", node), text.load("%second", neighbour))
            text.store(sum_, "%first", node)
        elif work == "push":
            self._update("min", "%first", neighbour, text.load("%second", node))
        else:
            place = self._update("add", "%second", self._zero, self._one)
            text.store(at, "%first", place)

    def _raise_maximum(self, value: str) -> None:
        """Raise the first place to a value; with a mistake, ask for it plainly before."""
        text = self._text
        if "plain_guard" in self._pattern.mistakes:
            with text.when(text.compare("slt", text.load("%first", self._zero), value)):
                self._update("max", "%first", self._zero, value)
        else:
            self._update("max", "%first", self._zero, value)

    def _update(self, how: str, array: str, place: str, value: str) -> str:
        """Update a place of an array, and return what was there."""
        text = self._text
        if "plain_update" in self._pattern.mistakes:
            old = text.load(array, place)
            text.store(text.binary(_PLAIN[how], old, value), array, place)
            return old
        at = text.index(place)
        if not self._pattern.is_scoped:
            operation = f"memref.atomic_rmw {_ATOMIC[how]} {value}, {array}[{at}]"
            return text.value(f"{operation} : (i32, {_GLOBAL}) -> i32")
        base = text.value(f"memref.extract_aligned_pointer_as_index {array} : {_GLOBAL} -> index")
        number = text.value(f"arith.index_cast {base} : index to i64")
        pointer = text.value(f"llvm.inttoptr {number} : i64 to !llvm.ptr<1>")
        element = text.value(
            f"llvm.getelementptr {pointer}[{place}] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32"
        )
        return text.value(
            f'llvm.atomicrmw {_LLVM[how]} {element}, {value} syncscope("block") monotonic '
            ": !llvm.ptr<1>, i32"
        )

    # --- a warp or a block for a node -------------------------------------------------------------

    def _look_together(self, node: str, begin: str, end: str) -> None:
        """Have each thread look at some neighbours, and all combine what they have."""
        text, work = self._text, self._pattern.work
        in_block = self._pattern.mapping == "neighbors_block"
        start, step = (self._thread, self._width) if in_block else (self._lane, self._warp)
        count = text.binary("subi", end, begin)
        if work in ("push", "populate_worklist"):
            with text.loop(start, count, step) as turn:
                self._look(node, self._place(begin, end, turn), self._do)
            return
        value = self._reduce_own(node, begin, end, count, start, step)
        how = "max" if work == "conditional_edge" else "add"
        if not in_block:
            total, leader = self._combine_warp(how, value), self._lane
        elif self._pattern.carry:
            total, leader = self._combine_block(how, value), self._thread
        else:
            total = text.value(f"gpu.all_reduce add {value} uniform {{}} : (i32) -> i32")
            leader = self._thread
        with text.when(text.compare("eq", leader, self._zero)):
            self._finish(node, total)

    def _finish(self, node: str, total: str) -> None:
        text, work = self._text, self._pattern.work
        if work == "conditional_edge":
            self._raise_maximum(total)
        elif work == "conditional_vertex":
            self._update("add", "%first", self._zero, total)
        else:
            sum_ = text.binary("addi", text.load("%first", node), total)
            text.store(sum_, "%first", node)

    def _reduce_own(
        self, node: str, begin: str, end: str, count: str, start: str, step: str
    ) -> str:
        """Return what a thread has of the neighbours that it looks at."""
        text, work = self._text, self._pattern.work
        loop = f"scf.for %turn = {start} to {count} step {step} iter_args(%sum = {self._zero})"
        result = "%own"
        with text.region(f"{result} = {loop} -> (i32) : i32"):
            neighbour = text.load("%neighbours", self._place(begin, end, "%turn"))
            counts = work == "conditional_vertex"
            value = self._one if counts else text.load("%second", neighbour)
            name = "maxsi" if work == "conditional_edge" else "addi"
            total = text.binary(name, "%sum", value)
            if self._asks:
                matters = text.compare("slt", node, neighbour)
                total = text.value(f"arith.select {matters}, {total}, %sum : i32")
            text.add(f"scf.yield {total} : i32")
        return result

    def _combine_warp(self, how: str, value: str) -> str:
        text = self._text
        for distance in (1, 2, 4, 8, 16):
            away = text.constant(distance)
            other = text.first_of_two(f"gpu.shuffle xor {value}, {away}, {self._warp} : i32")
            value = text.binary(_PLAIN[how], value, other)
        return value

    def _combine_block(self, how: str, value: str) -> str:
        """Combine the values of a block in workgroup memory; a barrier may be missing."""
        text, width = self._text, BLOCK
        mine, count = self._thread, self._thread
        if self._pattern.carry == "shuffle":
            value = self._combine_warp(how, value)
            mine, width = text.binary("divui", self._thread, self._warp), BLOCK // WARP
            with text.when(text.compare("eq", self._lane, self._zero)):
                text.store(value, "%carry", mine, _SHARED)
        else:
            text.store(value, "%carry", mine, _SHARED)
        if "missing_barrier" not in self._pattern.mistakes:
            text.add("gpu.barrier")
        while width > 1:
            width //= 2
            half = text.constant(width)
            with text.when(text.compare("slt", count, half)):
                other = text.load("%carry", text.binary("addi", count, half), _SHARED)
                total = text.binary(_PLAIN[how], text.load("%carry", count, _SHARED), other)
                text.store(total, "%carry", count, _SHARED)
            text.add("gpu.barrier")
        total = text.load("%carry", self._zero, _SHARED)
        if self._pattern.is_persistent:
            text.add("gpu.barrier")  # before the next node's values come
        return total

    # --- paths ------------------------------------------------------------------------------------

    def _walk(self, node: str) -> None:
        """Follow a path to its root, and let the node point there."""
        text = self._text
        is_plain = self._pattern.traverses or "plain_walk" in self._pattern.mistakes

        def read(place: str) -> str:
            if is_plain:
                return text.load("%first", place)
            at = text.index(place)
            return text.value(
                f"memref.atomic_rmw ori {self._zero}, %first[{at}] : (i32, {_GLOBAL}) -> i32"
            )

        head = f"%root = scf.while (%at = {node}) : (i32) -> i32"
        with text.region(head, "} do {"):
            goes_on = text.compare("sgt", "%at", read("%at"))
            text.add(f"scf.condition({goes_on}) %at : i32")
        text.add("^bb0(%now: i32):")
        text.add(f"scf.yield {read('%now')} : i32")
        text.add("}")
        if self._pattern.traverses:
            text.store("%root", "%second", node)
        elif is_plain:
            text.store("%root", "%first", node)
        else:
            at = text.index(node)
            text.value(f"memref.atomic_rmw assign %root, %first[{at}] : (i32, {_GLOBAL}) -> i32")
