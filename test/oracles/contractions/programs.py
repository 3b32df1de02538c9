"""Random programs of contractions and sums of rows, with chips, tiles and rings, and their values.

A seed makes a case: products of any layout, views and types; convolutions; streaming K by the
schedule of a user; narrow products; rows. All are small, but most have more than one tile.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from . import convolutions
from .products import Array, Product, Types, View
from .rows import Rows
from .streaming import SPACES, Streaming

CHIPS = ("sm_75", "sm_80", "sm_80", "sm_80", "sm_86", "sm_89", "sm_90a")

_HALVES = [Types((kind, kind), "f32") for kind in ("f16", "bf16")]
_TYPES = [
    *_HALVES,
    *_HALVES,
    Types(("f16", "f16"), "f16"),
    Types(("f32", "f32"), "f32"),
    Types(("f32", "f32"), "f32", numerics="tf32"),
    Types(("f64", "f64"), "f64"),
    *(
        Types(("i8", "i8"), "i32", unsigned)
        for unsigned in ((False, False), (True, True), (False, True), (True, False))
    ),
    Types(("i32", "i32"), "i32"),
    Types(("f8E4M3FN", "f8E4M3FN"), "f32"),
    Types(("f8E4M3FN", "f8E5M2"), "f32"),
    Types(("f16", "i8"), "f32"),
    Types(("i8", "bf16"), "f32", (True, False)),
    Types(("f16", "bf16"), "f32"),
    Types(("f32", "f64"), "f64"),
]
_CONVERTED = {"f32": ("f16", "bf16"), "f16": ("f32",), "i32": ("i8", "f32"), "f64": ("f32",)}


@dataclass(frozen=True)
class Case:
    """A program, how it is compiled, and what it computes.

    ``tolerance``: how far a result may be from the exact one, relative to the largest; 0 is equal.
    ``schedule``: of the user; empty is the default one, of which `retile` makes another.
    """

    seed: int
    kind: str
    text: str
    chip: str
    arguments: tuple[Any, ...]
    expected: Array
    tolerance: float = 0.0
    numerics: str = "exact"
    schedule: str = ""
    memory_options: str = ""
    is_retiled: bool = False
    # The number of the argument with the result, if none is returned.
    written: int | None = None

    def retile(self, schedule: str) -> str:
        """Return a schedule with other tiles, slots and threads."""
        choice = random.Random(~self.seed)

        def pick(found: re.Match[str]) -> str:
            sizes = [int(size) for size in found[2].split(", ")]
            changed = [size and _tile(choice, size) for size in sizes]
            return f'"{found[1]}" = {changed}'

        schedule = re.sub(r'"(block|reduction)" = \[([0-9, ]+)\]', pick, schedule)
        slots = choice.randint(1, 4)
        schedule = re.sub(r'"slots" = \d+', f'"slots" = {slots}', schedule)
        if choice.random() < 0.3:
            threads = choice.choice((32, 64, 128, 256))
            schedule = re.sub(r'("threads" = \[?)\d+', rf"\g<1>{threads}", schedule)
        return schedule

    def problem(self, result: Any) -> str:
        """Return what is wrong with a result; empty if nothing is."""
        got = np.asarray(self.arguments[self.written] if self.written is not None else result)
        want = self.expected
        if got.shape != want.shape:
            return f"has the shape {got.shape}, not {want.shape}"
        exact = np.int64 if want.dtype.kind == "i" else np.float64
        distance = np.abs(got.astype(exact) - want.astype(exact))
        allowed = self.tolerance * max(1.0, float(np.abs(want.astype("f8")).max(initial=0)))
        is_wrong = ~(distance <= allowed)
        if not is_wrong.any():
            return ""
        place = tuple(int(x) for x in np.argwhere(is_wrong)[0])
        return (
            f"computes {int(is_wrong.sum())} of {want.size} elements wrong, the first at {place}: "
            f"{got[place]}, not {want[place]}"
        )


def _tile(choice: random.Random, size: int) -> int:
    """Return an extent near a power of two, or any."""
    if choice.random() < 0.5:
        return min(2 * size, choice.choice((8, 16, 32, 64)))
    return choice.randint(1, max(2, size))


def _size(choice: random.Random) -> int:
    """Return a size of an odd number of elements, of whole tiles, or of one element."""
    pick = choice.random()
    if pick < 0.1:
        return choice.randint(1, 4)
    if pick < 0.5:
        return choice.choice((16, 32, 64, 80))
    return choice.randint(5, 75)


def _order(choice: random.Random, names: str) -> str:
    """Return the dimensions in an order, most often a usual one."""
    batch, rest = names[:-2], names[-2:]
    rest = rest[::-1] if choice.random() < 0.5 else rest
    if not batch or choice.random() < 0.7:
        return batch + rest
    place = choice.randint(1, 2)
    return rest[:place] + batch + rest[place:]


def _view(choice: random.Random, rank: int) -> View | None:
    if choice.random() < 0.7:
        return None
    return View(
        tuple(choice.choice((0, 0, 1, 3, 8)) for _ in range(rank)),
        tuple(choice.choice((1, 1, 1, 2)) for _ in range(rank)),
    )


def _product(choice: random.Random, *, is_narrow: bool = False) -> Product:
    types = choice.choice(_TYPES)
    sizes = {"b": choice.randint(1, 3)} if choice.random() < 0.25 else {}
    sizes |= {name: _size(choice) for name in "mnk"}
    if is_narrow:
        few, many = choice.sample("mn", 2)
        sizes |= {few: choice.randint(1, 4), many: choice.randint(8, 130)}
        sizes["k"] = choice.choice((17, 64, 200, 256, 515))
    if types.sum == "f16":
        sizes["k"] = min(sizes["k"], 256)
    batch = "b" if "b" in sizes else ""
    is_dynamic = choice.random() < 0.3
    orders = [_order(choice, batch + names) for names in ("mk", "kn")]
    # What is stored of the result across rows is rare.
    orders.append(batch + "mn" if choice.random() < 0.8 else _order(choice, batch + "mn"))
    is_plain = orders == [batch + "mk", batch + "kn", batch + "mn"]
    views = [None if is_dynamic else _view(choice, len(order)) for order in orders[:2]]
    converted = choice.random() < 0.3 and choice.choice(_CONVERTED.get(types.sum, ("",)))
    return Product(
        sizes,
        (orders[0], orders[1], orders[2]),
        types,
        (views[0], views[1]),
        is_dynamic=is_dynamic,
        is_memref=choice.random() < 0.25,
        is_named=is_plain and not any(types.unsigned) and choice.random() < 0.7,
        adds=choice.random() < 0.5,
        has_bias=choice.random() < 0.4,
        has_other=choice.random() < 0.25,
        is_clamped=choice.random() < 0.4,
        converted=converted or "",
    )


def _case_of_product(seed: int, choice: random.Random, kind: str) -> Case:
    product = _product(choice, is_narrow=kind == "narrow")
    return _make_case(product, seed, choice, kind, retiled=0.6)


def _make_case(
    product: Product, seed: int, choice: random.Random, kind: str, *, retiled: float
) -> Case:
    arguments = product.arguments(seed)
    expected = product.compute(*arguments)
    written = None
    if product.is_memref:
        written = 5 if product.has_end else 2
    return Case(
        seed,
        kind,
        product.text(),
        choice.choice(CHIPS),
        tuple(arguments),
        expected,
        numerics=product.types.numerics,
        is_retiled=choice.random() < retiled,
        written=written,
    )


def _case_of_convolution(seed: int, choice: random.Random, kind: str) -> Case:
    convolution = convolutions.make_random(seed)
    if choice.random() < 0.15:
        groups = choice.choice((3, 8, 17, 32))
        convolution = replace(convolution, groups=groups, channels=1, features=1)
    arguments = convolution.arguments(seed)
    tolerance = {"i32": 0.0, "f64": 1e-12, "f32": 2e-5}[convolution.sum]
    return Case(
        seed,
        kind,
        convolution.text(),
        choice.choice(CHIPS),
        tuple(arguments),
        convolution.compute(*arguments),
        tolerance,
        is_retiled=choice.random() < 0.5,
    )


def _case_of_streaming(seed: int, choice: random.Random, kind: str) -> Case:
    is_staged = choice.random() < 0.5
    core = choice.choice(("thread", "thread", "warp"))
    inner = choice.choice((8, 16, 32))
    outer = inner * choice.choice((1, 2, 4))
    if core == "thread":
        of_core = (choice.choice((2, 4, 8)), choice.choice((2, 4, 8)))
        tile = (of_core[0] * choice.choice((2, 4, 8)), of_core[1] * choice.choice((4, 8)))
    else:
        of_core = (choice.choice((16, 32)), choice.choice((16, 32)))
        tile = (of_core[0] * choice.choice((1, 2)), of_core[1] * choice.choice((1, 2)))
    sizes = [extent * choice.choice((1, 2)) for extent in tile] + [outer * choice.randint(1, 4)]
    if is_staged and choice.random() < 0.6:
        sizes = [max(1, size - choice.randint(0, 5)) for size in sizes]
    m, n, k = sizes
    case = Streaming(
        m=m,
        n=n,
        k=k,
        kind=choice.choice(("i32", "f32", "f16", "i8")),
        tile=tile,
        outer=outer,
        inner=inner,
        core=core,
        of_core=of_core,
        copied=choice.choice(((), (0, 1), (0, 1), (0, 1, 2))),
        is_result_staged=is_staged,
    )
    arguments = case.make_inputs()
    return Case(
        seed,
        kind,
        case.text,
        choice.choice(CHIPS),
        arguments,
        case.expect(*arguments),
        schedule=case.schedule,
        memory_options=SPACES,
    )


def _case_of_rows(seed: int, choice: random.Random, kind: str) -> Case:
    op = choice.choice(("sum", "max", "softmax"))
    of = choice.choice(("f32", "f32", "f64", "f16") + (("i32",) if op != "softmax" else ()))
    length = choice.choice((1, 7, 32, 33, 64, 100, 257, 600))
    # Sums of halves are exact up to 512.
    length = min(length, 200) if of == "f16" else length
    rows = Rows(choice.randint(1, 40), length, of, op, choice.random() < 0.4)
    arguments = rows.arguments(seed)
    exact = {"f16": 4e-3, "f32": 1e-5, "f64": 1e-12}
    return Case(
        seed,
        kind,
        rows.text(),
        choice.choice(CHIPS),
        tuple(arguments),
        rows.compute(*arguments),
        exact[of] if op == "softmax" else 0.0,
    )


_MAKERS: dict[str, Callable[[int, random.Random, str], Case]] = {
    "product": _case_of_product,
    "convolution": _case_of_convolution,
    "streaming": _case_of_streaming,
    "narrow": _case_of_product,
    "rows": _case_of_rows,
}
KINDS = tuple(_MAKERS)
_OFTEN = ("product",) * 9 + ("convolution",) * 4 + ("streaming",) * 3 + ("narrow",) * 2 + ("rows",)


def generate(seed: int) -> Case:
    """Return the case of a seed."""
    choice = random.Random(seed)
    kind = choice.choice(_OFTEN)
    return _MAKERS[kind](seed, choice, kind)


def generate_whole(seed: int) -> Case:
    """Return a product of whole tiles by the default schedule, with sums of two steps or more."""
    choice = random.Random(seed)
    product = _product(choice)
    sizes = {name: 64 if name in "mn" else size for name, size in product.sizes.items()}
    sizes["k"] = 256 if product.types.factors[0] in ("i8", "f8E4M3FN") else 128
    product = replace(product, sizes=sizes, views=(None, None), is_dynamic=False)
    return _make_case(product, seed, choice, "product", retiled=0)
