"""Convolutions of any dimensions, order, strides, dilations and groups, with what they compute."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

_TYPES = {"f32": np.float32, "f16": np.float16, "f64": np.float64, "i8": np.int8, "i32": np.int32}

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Convolution:
    """A `linalg.generic` of ``windows`` (taps along each dimension) on an image.

    ``pixels``, ``strides``, ``dilations``: along each dimension of the result. ``groups``: each
    with ``channels`` and ``features`` of its own; none if 0. ``channels_last``: n, pixels, g, c and
    taps, g, c, f; else n, g, c, pixels and g, f, c, taps. ``is_dynamic``: batch and pixels are
    known by the launch only. ``adds``: a bias for each feature, and what is negative is zero.
    """

    batch: int
    pixels: tuple[int, ...]
    channels: int
    features: int
    windows: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    groups: int = 0
    channels_last: bool = True
    kind: str = "f32"
    sum: str = "f32"
    is_dynamic: bool = False
    adds: bool = False

    @property
    def image(self) -> tuple[int, ...]:
        """The extents of the image along the dimensions that windows move along."""
        return tuple(
            (pixels - 1) * stride + (taps - 1) * dilation + 1
            for pixels, stride, taps, dilation in zip(
                self.pixels, self.strides, self.windows, self.dilations, strict=True
            )
        )

    def _orders(self) -> tuple[list[str], list[str], list[str]]:
        """Return the names of the dimensions of image, filter and result."""
        spatial = [f"y{i}" for i in range(len(self.pixels))]
        taps = [f"t{i}" for i in range(len(self.pixels))]
        group = ["g"] if self.groups else []
        if self.channels_last:
            return (
                ["n", *spatial, *group, "c"],
                [*taps, *group, "c", "f"],
                ["n", *spatial, *group, "f"],
            )
        return (
            ["n", *group, "c", *spatial],
            [*group, "f", "c", *taps],
            ["n", *group, "f", *spatial],
        )

    def _sizes(self) -> dict[str, int]:
        sizes = {"n": self.batch, "g": self.groups, "c": self.channels, "f": self.features}
        for i, (pixels, taps) in enumerate(zip(self.pixels, self.windows, strict=True)):
            sizes |= {f"y{i}": pixels, f"t{i}": taps}
        return sizes

    def shapes(self) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
        """Return the shapes of image, filter and result."""
        sizes = self._sizes()
        extents = sizes | {f"y{i}": extent for i, extent in enumerate(self.image)}
        image, taps, result = self._orders()
        return (
            tuple(extents[name] for name in image),
            tuple(sizes[name] for name in taps),
            tuple(sizes[name] for name in result),
        )

    def text(self) -> str:
        """Return the program."""
        orders = self._orders()
        types = []
        for order, shape, kind in zip(
            orders, self.shapes(), (self.kind, self.kind, self.sum), strict=True
        ):
            unknown = {"n", *(f"y{i}" for i in range(len(self.pixels)))}
            extents = (
                "?" if self.is_dynamic and name in unknown else str(extent)
                for name, extent in zip(order, shape, strict=True)
            )
            types.append(f"tensor<{'x'.join(extents)}x{kind}>")
        image, taps, result = types
        loops = [*orders[2], *(name for name in orders[1] if name not in orders[2])]
        places = {
            f"y{i}": f"y{i} * {stride} + t{i} * {dilation}"
            for i, (stride, dilation) in enumerate(zip(self.strides, self.dilations, strict=True))
        }
        maps = ", ".join(
            f"affine_map<({', '.join(loops)}) -> ({', '.join(order)})>"
            for order in ([places.get(name, name) for name in orders[0]], *orders[1:])
        )
        kinds = ", ".join(f'"{"parallel" if name in orders[2] else "reduction"}"' for name in loops)
        return f"""
!bias = tensor<{self.features}x{self.sum}>
func.func @main(%image: {image}, %filter: {taps}, %start: {result}, %bias: !bias) -> {result} {{
  %zero = arith.constant {"0.0" if self.sum.startswith("f") else "0"} : {self.sum}
  %sums = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}
      ins(%image, %filter : {image}, {taps}) outs(%start : {result}) {{
  ^bb0(%a: {self.kind}, %b: {self.kind}, %o: {self.sum}):
    {self._body()}
    linalg.yield %s : {self.sum}
  }} -> {result}
  {self._epilogue(orders[2], result)}
}}
"""

    def _body(self) -> str:
        of, to = self.kind, self.sum
        letter = "f" if to.startswith("f") else "i"
        lines = []
        names = ["%a", "%b"]
        if of != to:
            cast = "extf" if letter == "f" else "extsi"
            lines += [f"%w{i} = arith.{cast} {name} : {of} to {to}" for i, name in enumerate(names)]
            names = ["%w0", "%w1"]
        lines += [
            f"%p = arith.mul{letter} {names[0]}, {names[1]} : {to}",
            f"%s = arith.add{letter} %o, %p : {to}",
        ]
        return "\n    ".join(lines)

    def _epilogue(self, order: list[str], result: str) -> str:
        if not self.adds:
            return f"return %sums : {result}"
        loops = ", ".join(order)
        same = f"affine_map<({loops}) -> ({loops})>"
        parallel = ", ".join(['"parallel"'] * len(order))
        letter, largest = ("f", "maximumf") if self.sum.startswith("f") else ("i", "maxsi")
        return f"""%r = linalg.generic {{
      indexing_maps = [{same}, affine_map<({loops}) -> (f)>, {same}],
      iterator_types = [{parallel}]}}
      ins(%sums, %bias : {result}, !bias) outs(%start : {result}) {{
  ^bb0(%x: {self.sum}, %b: {self.sum}, %o: {self.sum}):
    %0 = arith.add{letter} %x, %b : {self.sum}
    %1 = arith.{largest} %0, %zero : {self.sum}
    linalg.yield %1 : {self.sum}
  }} -> {result}
  return %r : {result}"""

    def arguments(self, seed: int) -> list[Array]:
        """Return random arguments: image, filter, what is added to, bias."""
        generator = np.random.default_rng(seed)
        image, taps, result = self.shapes()
        kinds = (self.kind, self.kind, self.sum, self.sum)
        return [
            generator.integers(-9, 10, shape).astype(_TYPES[kind])
            if kind.startswith("i")
            else generator.standard_normal(shape).astype(_TYPES[kind])
            for shape, kind in zip((image, taps, result, (self.features,)), kinds, strict=True)
        ]

    def compute(self, image: Array, taps: Array, start: Array, bias: Array) -> Array:
        """Return the result in f64, or i64, by a loop over the taps."""
        exact = np.float64 if self.sum.startswith("f") else np.int64
        orders = self._orders()
        letters = {name: chr(ord("a") + i) for i, name in enumerate(self._sizes())}
        spatial = [f"y{i}" for i in range(len(self.pixels))]
        result = start.astype(exact)
        kept = [name for name in orders[1] if not name.startswith("t")]
        spelled = ",".join("".join(letters[name] for name in order) for order in (orders[0], kept))
        spelled += "->" + "".join(letters[name] for name in orders[2])
        for tap in product(*map(range, self.windows)):
            window = [slice(None)] * len(orders[0])
            for i, name in enumerate(spatial):
                first = tap[i] * self.dilations[i]
                last = first + (self.pixels[i] - 1) * self.strides[i] + 1
                window[orders[0].index(name)] = slice(first, last, self.strides[i])
            place = tuple(
                tap[int(name[1:])] if name.startswith("t") else slice(None) for name in orders[1]
            )
            result = result + np.einsum(
                spelled, image[tuple(window)].astype(exact), taps[place].astype(exact)
            )
        if self.adds:
            shape = [self.features if name == "f" else 1 for name in orders[2]]
            result = np.maximum(result + bias.astype(exact).reshape(shape), 0)
        return result


def make_random(seed: int) -> Convolution:
    """Return a convolution that a block, or a few, can do."""
    choice = random.Random(seed)
    rank = choice.choice((1, 2, 2, 2, 3))
    most = (40, 11, 5)[rank - 1]

    def pick(*among: int) -> tuple[int, ...]:
        return tuple(choice.choice(among) for _ in range(rank))

    kind, total = choice.choice(
        [("f32", "f32"), ("f32", "f32"), ("f16", "f32"), ("i8", "i32"), ("f64", "f64")]
    )
    return Convolution(
        batch=choice.randint(1, 3),
        pixels=tuple(choice.randint(1, most) for _ in range(rank)),
        channels=choice.choice((1, 2, 3, 4, 5, 8, 16, 17, 32)),
        features=choice.choice((1, 5, 7, 8, 16, 20, 33)),
        windows=pick(1, 2, 3),
        strides=pick(1, 1, 2, 3),
        dilations=pick(1, 1, 2),
        groups=choice.choice((0, 0, 0, 2, 3)),
        channels_last=choice.random() < 0.5,
        kind=kind,
        sum=total,
        is_dynamic=choice.random() < 0.3,
        adds=choice.random() < 0.4,
    )


def make_all(count: int) -> Iterator[tuple[int, Convolution]]:
    """Yield numbers and the convolutions made from them."""
    for seed in range(count):
        yield seed, make_random(seed)


RESNET = Convolution(1, (56, 56), 64, 64, (3, 3), (1, 1), (1, 1))
"""A convolution that is most of the work of a small residual network."""

HALF = replace(RESNET, kind="f16")
