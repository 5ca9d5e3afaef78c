"""The trees of a factor graph, and the order of the messages in them.

A node sends to a neighbour once all its other neighbours have reported.  The step of a message is
one more than that of the last message it waits for, so that leaves send in step 1.  Messages of
one step have the letters a, b, …: those of variables before those of factors.  On the way in, from
the leaves, those of the last node come first; on the way out, those of the first node, with
messages to leaves at the end.  A label belongs to an edge and a direction: where messages go to one
root only, the others are not sent, and keep their letters.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import final

from likely.errors import InvalidInput
from likely.formatting import listed

Edge = tuple[int, int]  # (source, target)
NO_PARENT = -1


@final
@dataclass(frozen=True)
class Forest:
    """Nodes in trees: variables first, then factors; each tree hangs from a variable."""

    n_variables: int
    neighbours: Sequence[Sequence[int]]
    order: Sequence[int]  # every node after its parent
    parent: Sequence[int]  # NO_PARENT for roots
    tree: Sequence[int]  # the root of the tree of each node

    @property
    def roots(self) -> list[int]:
        return [node for node in self.order if self.parent[node] == NO_PARENT]

    def children(self, node: int) -> list[int]:
        return [other for other in self.neighbours[node] if other != self.parent[node]]

    def steps_to_roots(self) -> list[int]:
        """The step in which each node sends to its parent."""
        step = [1] * len(self.parent)
        for node in reversed(self.order):
            above = self.parent[node]
            if above != NO_PARENT:
                step[above] = max(step[above], step[node] + 1)
        return step

    def steps_from_roots(self) -> list[int]:
        """The step in which each node hears from its parent; 0 for roots."""
        up = self.steps_to_roots()
        down = [0] * len(self.parent)
        for node in self.order:
            heard = sorted([down[node], *(up[child] for child in self.children(node))])
            for child in self.children(node):
                others = heard[-1] if up[child] < heard[-1] else heard[-2]
                down[child] = others + 1
        return down

    def labelled(self, edges: Iterable[Edge]) -> list[tuple[Edge, str]]:
        """Messages in the order in which they are sent, with step and letter: "1a", "1b", …"""
        wanted, up, down = set(edges), self.steps_to_roots(), self.steps_from_roots()

        def step(edge: Edge) -> int:
            source, target = edge
            return up[source] if self.parent[source] == target else down[target]

        def place(edge: Edge) -> tuple[int, ...]:
            source, target = edge
            outwards = step(edge) > step((target, source))
            to_leaf = outwards and len(self.neighbours[target]) == 1
            of_factor = source >= self.n_variables
            return step(edge), outwards, of_factor, to_leaf, source if outwards else -source, target

        every = [(i, j) for i, near in enumerate(self.neighbours) for j in near]
        return [
            (edge, f"{number}{letters(i)}")
            for number, group in groupby(sorted(every, key=place), key=step)
            for i, edge in enumerate(group)
            if edge in wanted
        ]


def forest_of(
    scopes: Sequence[Sequence[int]], names: Sequence[str], n_variables: int, root: int | None
) -> Forest:
    """The trees of factors with ``scopes``; a cycle is refused by the names of its variables.

    The tree of ``root`` hangs from it, the others from their first variable.
    """
    neighbours: list[list[int]] = [[] for _ in range(n_variables)]
    for j, scope in enumerate(scopes):
        neighbours.append(list(scope))
        for i in scope:
            neighbours[i].append(n_variables + j)
    parent = [NO_PARENT] * len(neighbours)
    tree = [-1] * len(neighbours)
    order: list[int] = []
    for start in [*([] if root is None else [root]), *range(n_variables)]:
        if tree[start] >= 0:
            continue
        tree[start] = start
        reached = [start]
        for node in reached:  # grows while it is read
            for other in neighbours[node]:
                if other == parent[node]:
                    continue
                if tree[other] >= 0:
                    _refuse_cycle(node, other, parent, names[:n_variables])
                tree[other], parent[other] = start, node
                reached.append(other)
        order += reached
    return Forest(n_variables, neighbours, order, parent, tree)


def letters(number: int) -> str:
    """a, b, …, z, aa, ab, …

    >>> letters(0), letters(25), letters(26)
    ('a', 'z', 'aa')
    """
    text = ""
    while number >= 0:
        number, last = divmod(number, 26)
        text = chr(ord("a") + last) + text
        number -= 1
    return text


def _refuse_cycle(a: int, b: int, parent: Sequence[int], variables: Sequence[str]) -> None:
    """a and b are neighbours that were reached by two ways from one root."""
    above_a, above_b = _with_ancestors(a, parent), _with_ancestors(b, parent)
    common = next(node for node in above_a if node in set(above_b))
    way = [*above_a[: above_a.index(common) + 1], *reversed(above_b[: above_b.index(common)])]
    on_cycle = [variables[node] for node in way if node < len(variables)]
    raise InvalidInput(
        f"The factor graph has a cycle through {listed(on_cycle)}; messages need a graph without "
        "cycles. Use query or most_probable, which build a junction tree, or observe one of these "
        "variables."
    )


def _with_ancestors(node: int, parent: Sequence[int]) -> list[int]:
    found = [node]
    while parent[found[-1]] != NO_PARENT:
        found.append(parent[found[-1]])
    return found
