"""Directed graphs without cycles: ancestors, an order with parents first, and open paths.

A graph is the parents of each node by name.  A path is open at x unless x is given, and at a
collider (→ x ←) only if x or one of its descendants is given.

References
----------
Shachter, Bayes-ball: the rational pastime, 1998.
Koller & Friedman, Probabilistic Graphical Models, §3.3.
"""

from collections.abc import Iterable, Mapping

from likely.errors import CyclicGraph

Parents = Mapping[str, tuple[str, ...]]


def ancestral_order(parents: Parents) -> tuple[str, ...]:
    """The nodes with parents before children; a cycle is refused by its names."""
    order: list[str] = []
    done: set[str] = set()
    for start in parents:
        path: list[str] = []
        on_path: set[str] = set()
        waiting = [(start, False)]
        while waiting:
            name, finished = waiting.pop()
            if finished:
                on_path.discard(path.pop())
                done.add(name)
                order.append(name)
            elif name in on_path:
                raise CyclicGraph(path[path.index(name) :][::-1])
            elif name not in done:
                path.append(name)
                on_path.add(name)
                waiting.append((name, True))
                waiting += [(parent, False) for parent in reversed(parents[name])]
    return tuple(order)


def with_ancestors(names: Iterable[str], parents: Parents) -> frozenset[str]:
    """Nodes and all their ancestors."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += parents[name]
    return frozenset(found)


def children_of(parents: Parents) -> Parents:
    """The nodes of which each node is a parent."""
    below: dict[str, list[str]] = {name: [] for name in parents}
    for child, above in parents.items():
        for name in above:
            below[name].append(child)
    return {name: tuple(own) for name, own in below.items()}


def reachable(parents: Parents, start: str, known: frozenset[str]) -> set[str]:
    """The nodes on a path from ``start`` that is open given ``known``."""
    above, children = with_ancestors(known, parents), children_of(parents)
    found, seen = set(), set()
    waiting = [(start, True)]  # True: the ball comes from a child
    while waiting:
        name, from_child = waiting.pop()
        if (name, from_child) in seen:
            continue
        seen.add((name, from_child))
        if name not in known:
            found.add(name)
            waiting += [(child, False) for child in children[name]]
        up = name not in known if from_child else name in above
        waiting += [(parent, True) for parent in parents[name]] if up else []
    return found
