"""Whether what a plan says can be done: values are made before they are used, and of one kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...documents.reading import Offence, show
from .kinds import INDEX, TRUTH, Array, Kind, Number, is_integer, join, kind_of
from .operands import find_parts

if TYPE_CHECKING:
    from ...records.signature import Argument
    from .structure import Data, Function, Region, Requirement, Step

_DEEPEST = 96
"""How deep regions and calls may be nested."""


Infer = Callable[["Scope", "Step"], Sequence[Kind]]
"""What returns the kinds of what a step makes, or raises Offence."""


def check_functions(
    functions: Mapping[str, Function],
    data: Sequence[Data],
    kernels: Sequence[str],
    infer: Infer,
    signatures: Mapping[str, Sequence[Argument]] | None = None,
) -> None:
    """Raise Offence for what cannot be done, so that doing it fails for reasons of data alone.

    With `signatures`, the arguments of each kernel, launches are checked against them.
    """
    checker = Checker(functions, data, kernels, infer, signatures)
    for number, function in enumerate(functions.values()):
        try:
            checker.check(function)
        except Offence as offence:
            raise offence.within(f".functions[{number}]") from None
    for name in functions:
        checker.measure(name, ())


class Checker:
    """What all functions of a plan have in common, and how deep each is nested."""

    def __init__(
        self,
        functions: Mapping[str, Function],
        data: Sequence[Data],
        kernels: Sequence[str],
        infer: Infer,
        signatures: Mapping[str, Sequence[Argument]] | None,
    ) -> None:
        self.functions = functions
        self.data = data
        self.infer = infer
        self._kernels = kernels
        self._signatures = signatures
        self._depths: dict[str, int] = {}
        self.calls: dict[str, list[tuple[str, int]]] = {name: [] for name in functions}
        self._total: dict[str, int] = {}

    def check(self, function: Function) -> None:
        """Check one function, without those that it calls."""
        arguments = [kind_of(text) for text in function.arguments]
        results = [kind_of(text) for text in function.results]
        for number, requirement in enumerate(function.require):
            try:
                _check_requirement(requirement, arguments)
            except Offence as offence:
                raise offence.within(f".require[{number}]") from None
        if function.body is None:
            return
        scope = Scope(self, function.name)
        try:
            handed = scope.enter(function.body, arguments, "func.return", 1)
            if len(handed) != len(results):
                raise Offence(f"returns {len(handed)} values, but has {len(results)} results")
            for number, (kind, wanted) in enumerate(zip(handed, results, strict=True)):
                if join(kind, wanted) is None:
                    raise Offence(f"returns {kind}, but result {number} is {wanted}")
        except Offence as offence:
            raise offence.within(".body") from None
        self._depths[function.name] = scope.deepest

    def measure(self, name: str, callers: tuple[str, ...]) -> int:
        """Return how deep a function is nested with all that it calls. Raises Offence."""
        if name in callers:
            raise Offence(f"function {show(name)} calls itself")
        if name not in self._total:
            deepest = self._depths.get(name, 0)
            if len(callers) > _DEEPEST:
                raise Offence(f"the calls of function {show(callers[0])} are nested too deeply")
            for callee, depth in self.calls[name]:
                deepest = max(deepest, depth + self.measure(callee, (*callers, name)))
            if deepest > _DEEPEST:
                raise Offence(f"function {show(name)} is nested too deeply")
            self._total[name] = deepest
        return self._total[name]

    def check_launch(self, number: int, kinds: Sequence[Kind]) -> None:
        """Check the arguments of a launch of kernel number `number`."""
        if number >= len(self._kernels):
            raise Offence(f"is {number}, but there are {len(self._kernels)}", ".kernel")
        if self._signatures is None:
            return
        name = self._kernels[number]
        if name not in self._signatures:
            raise Offence(f"is {show(name)}, but there is no code of it", ".kernel")
        arguments = self._signatures[name]
        if len(arguments) != len(kinds):
            raise Offence(
                f"has {len(kinds)}, but kernel {show(name)} takes {len(arguments)}", ".args"
            )
        for index, (argument, kind) in enumerate(zip(arguments, kinds, strict=True)):
            if join(kind, _kind_of_argument(argument)) is None:
                raise Offence(
                    f"is {kind}, but kernel {show(name)} takes {_kind_of_argument(argument)}",
                    f".args[{index}]",
                )


def _kind_of_argument(argument: Argument) -> Kind:
    if argument.tensor_map is not None:
        return Array(argument.tensor_map.element_type, None)
    if argument.is_memref:
        return Array(argument.element_type, len(argument.shape))
    return kind_of(argument.type)


def _check_requirement(requirement: Requirement, arguments: Sequence[Kind]) -> None:
    for number, arg in enumerate(requirement.args):
        kind = arguments[arg[0]] if arg[0] < len(arguments) else None
        if len(arg) == 1:
            is_there = isinstance(kind, Number) and is_integer(kind.type)
        else:
            is_there = isinstance(kind, Array) and kind.rank is not None and arg[1] < kind.rank
        if not is_there:
            raise Offence("is no argument, or no dimension of one", f".args[{number}]")
    for part in (requirement.left, requirement.right, *requirement.trips):
        if find_parts(part, "d") or find_parts(part, "s") > len(requirement.args):
            raise Offence("takes a symbol that is not there")


class Scope:
    """The values of a function that the next step can take."""

    def __init__(self, checker: Checker, function: str) -> None:
        self._checker = checker
        self._function = function
        self._values: dict[int, Kind] = {}
        self._made: set[int] = set()
        self._step: Step | None = None
        self._depth = 0
        self.deepest = 0

    # Values.

    def kind(self, operand: Any, path: str) -> Kind:
        """Return what an operand is."""
        if isinstance(operand, int):
            return Number("")
        if isinstance(operand, str):
            number = int(operand[1:])
            if number not in self._values:
                words = "is not there any more" if number in self._made else "is not made before"
                raise Offence(f"is {operand}, which {words}", path)
            return self._values[number]
        return Number(operand[1])

    def kinds(self, fields: Mapping[str, Any], name: str) -> list[Kind]:
        """Return what the operands of a field are."""
        return [self.kind(item, f".{name}[{number}]") for number, item in enumerate(fields[name])]

    def join(self, kind: Kind, other: Kind, path: str) -> Kind:
        """Return what a value is that is one or the other."""
        joined = join(kind, other)
        if joined is None:
            raise Offence(f"is {other}, but must be {kind}", path)
        return joined

    def take(self, operand: Any, wanted: Kind, path: str) -> None:
        """Check that an operand is of a kind."""
        kind = self.kind(operand, path)
        if join(kind, wanted) is None:
            raise Offence(f"is {kind}, but must be {wanted}", path)

    def take_integer(self, operand: Any, path: str) -> Kind:
        """Check that an operand is an integer of any type, and return its kind."""
        kind = self.kind(operand, path)
        if not isinstance(kind, Number) or (kind.type and not is_integer(kind.type)):
            raise Offence(f"is {kind}, but must be an integer", path)
        return kind

    def take_indices(self, fields: Mapping[str, Any], name: str, count: int | None = None) -> None:
        """Check that the operands of a field are indices, `count` of them."""
        if count is not None and len(fields[name]) != count:
            raise Offence(f"has {len(fields[name])}, but must have {count}", f".{name}")
        for number, operand in enumerate(fields[name]):
            self.take(operand, INDEX, f".{name}[{number}]")

    def array(self, fields: Mapping[str, Any], name: str) -> Array:
        """Return the memory that an operand is."""
        kind = self.kind(fields[name], f".{name}")
        if not isinstance(kind, Array):
            raise Offence(f"is {kind}, but must be memory", f".{name}")
        return kind

    def ranked(self, fields: Mapping[str, Any], name: str) -> tuple[str, int]:
        """Return the element type and the number of dimensions of memory."""
        kind = self.array(fields, name)
        if kind.rank is None:
            raise Offence("is memory of an unknown number of dimensions", f".{name}")
        return kind.element, kind.rank

    def free(self, operand: str) -> None:
        """Take a value away."""
        del self._values[int(operand[1:])]

    # What a plan has beside this function.

    def data(self, number: int) -> Kind:
        """Return what memory of the program is."""
        known = self._checker.data
        if number >= len(known):
            raise Offence(f"is {number}, but there are {len(known)}", ".data")
        return Array(known[number].dtype, len(known[number].shape))

    def function(self, name: str) -> tuple[list[Kind], list[Kind]]:
        """Return what another function takes and returns."""
        callee = self._checker.functions.get(name)
        if callee is None:
            raise Offence(f"is {show(name)}, which is no function", ".callee")
        self._checker.calls[self._function].append((name, self._depth))
        return [kind_of(text) for text in callee.arguments], [
            kind_of(text) for text in callee.results
        ]

    def launch(self, number: int, kinds: Sequence[Kind]) -> None:
        """Check a launch."""
        self._checker.check_launch(number, kinds)

    # Regions.

    def enter(
        self, region: Region, arguments: Sequence[Kind], end: str, depth: int = 0
    ) -> list[Kind]:
        """Check a region that is given such values; return the kinds of what it hands on."""
        self._depth += 1
        self.deepest = max(self.deepest, self._depth)
        if self._depth > _DEEPEST:
            raise Offence("is nested too deeply")
        if len(region.arguments) != len(arguments):
            raise Offence(
                f"has {len(region.arguments)}, but is given {len(arguments)}", ".arguments"
            )
        for number, kind in zip(region.arguments, arguments, strict=True):
            self._make(number, kind, ".arguments")
        handed: list[Kind] = []
        for number, step in enumerate(region.steps):
            try:
                if number == len(region.steps) - 1:
                    handed = self._end(step, end)
                else:
                    self._check_step(step)
            except Offence as offence:
                raise offence.within(f".steps[{number}]") from None
        self._depth -= 1
        return handed

    def _make(self, number: int, kind: Kind, path: str) -> None:
        if number in self._made:
            raise Offence(f"has value {number}, which is made twice", path)
        self._made.add(number)
        self._values[number] = kind

    def _end(self, step: Step, end: str) -> list[Kind]:
        if step.op != end:
            raise Offence(f"is {show(step.op)}, but the last step must be {end}", ".op")
        if step.results:
            raise Offence("makes no values", ".results")
        return self.kinds(step.fields, "args")

    def _check_step(self, step: Step) -> None:
        outer, self._step = self._step, step
        results = self._checker.infer(self, step)
        self._step = outer
        if len(results) != len(step.results):
            raise Offence(f"has {len(step.results)}, but the step makes {len(results)}", ".results")
        for number, kind in zip(step.results, results, strict=True):
            self._make(number, kind, ".results")

    def _enter(
        self, step: Step, name: str, arguments: Sequence[Kind], end: str, *, repeats: bool
    ) -> list[Kind]:
        """Check a region of a step: what it makes is gone behind it, and what it frees as well."""
        before = dict(self._values)
        try:
            handed = self.enter(step.regions[name], arguments, end)
        except Offence as offence:
            raise offence.within(f".{name}") from None
        kept = {number: kind for number, kind in before.items() if number in self._values}
        if repeats and len(kept) != len(before):
            raise Offence("frees what is made before the loop", f".{name}")
        self._values = kept
        return handed

    def loop(self, name: str, arguments: list[Kind], carried: list[Kind]) -> list[Kind]:
        """Check the region of a loop; return what it carries."""
        assert self._step is not None
        handed = self._enter(self._step, name, arguments, "scf.yield", repeats=True)
        return self._join_all(carried, handed, f".{name}")

    def loop_while(self, carried: list[Kind]) -> list[Kind]:
        """Check the regions of a loop that decides itself when it ends."""
        step = self._step
        assert step is not None
        handed = self._enter(step, "before", carried, "scf.condition", repeats=True)
        if not handed or join(handed[0], TRUTH) is None:
            raise Offence("does not say whether the loop goes on", ".before")
        results = handed[1:]
        again = self._enter(step, "after", results, "scf.yield", repeats=True)
        self._join_all(carried, again, ".after")
        return results

    def branch(self, first: str, second: str) -> list[Kind]:
        """Check two regions, one of which is executed."""
        step = self._step
        assert step is not None
        before = dict(self._values)
        one = self._enter(step, first, [], "scf.yield", repeats=False)
        kept, self._values = self._values, before
        other = self._enter(step, second, [], "scf.yield", repeats=False)
        self._values = {number: kind for number, kind in self._values.items() if number in kept}
        return self._join_all(one, other, f".{second}")

    def _join_all(self, kinds: list[Kind], others: list[Kind], path: str) -> list[Kind]:
        if len(kinds) != len(others):
            raise Offence(f"hands on {len(others)} values, but must {len(kinds)}", path)
        return [self.join(kind, other, path) for kind, other in zip(kinds, others, strict=True)]
