"""Graphs as rows of neighbours, with data for the nodes."""

from __future__ import annotations

import random
from dataclasses import dataclass

NODES = 60
_DEGREE = 8
"""No node has as many neighbours."""


@dataclass(frozen=True, slots=True)
class Graph:
    """The neighbours of node ``n`` are those from place ``begins[n]`` to ``begins[n + 1]``."""

    begins: tuple[int, ...]
    neighbours: tuple[int, ...]
    first: tuple[int, ...]
    second: tuple[int, ...]

    @property
    def nodes(self) -> int:
        """How many nodes there are."""
        return len(self.begins) - 1

    @property
    def arguments(self) -> tuple[tuple[int, ...] | int, ...]:
        """What kernels over graphs take: all of it, and the number of nodes."""
        return (self.begins, self.neighbours, self.first, self.second, self.nodes)


def make_graph(seed: int = 1, nodes: int = NODES) -> Graph:
    """Return a random graph, and data as Indigo's host code makes it.

    That is, first places are zero, others are below the numbers of nodes and of edges.
    """
    source = random.Random(seed)
    begins, neighbours = [0], list[int]()
    for _ in range(nodes):
        neighbours += [source.randrange(nodes) for _ in range(source.randrange(_DEGREE))]
        begins.append(len(neighbours))
    size = max(nodes, len(neighbours))
    first = (0, *(source.randrange(nodes) for _ in range(size - 1)))
    second = (0, *(source.randrange(len(neighbours)) for _ in range(size - 1)))
    return Graph(tuple(begins), tuple(neighbours), first, second)
