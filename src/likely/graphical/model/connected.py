"""The connected parts of an undirected graph, and whether each of them is a tree."""

from collections.abc import Sequence

Edges = Sequence[tuple[int, int]]


def connected_parts(n: int, edges: Edges) -> list[list[int]]:
    """The nodes of each connected part, in order."""
    above = list(range(n))

    def root(node: int) -> int:
        while above[node] != node:
            above[node] = above[above[node]]
            node = above[node]
        return node

    for a, b in edges:
        above[root(a)] = root(b)
    parts: dict[int, list[int]] = {}
    for node in range(n):
        parts.setdefault(root(node), []).append(node)
    return list(parts.values())


def is_forest(n: int, edges: Edges) -> bool:
    """Whether the edges between n nodes, each given once, have no cycle."""
    if len(edges) >= n > 0:
        return False  # a forest has fewer edges than nodes
    return len(connected_parts(n, edges)) == n - len(edges)
