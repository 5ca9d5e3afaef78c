"""Small cliques below a large one, in which factors and messages are multiplied first.

Each factor and each message costs a pass over the whole table of its clique, and so does each
marginal that is read from it.  Those that together depend on few of its variables get a clique over
these: a leaf, which is not maximal, has no variable of its own, and costs one pass for all.
"""

from collections.abc import Mapping
from math import prod
from typing import Literal, NamedTuple

import numpy as np

from likely._typing import Codes
from likely.graphical.inference.junction_tree import JunctionTree

LARGE = 4096  # cells of a clique that is worth it
SHARE = 64  # times that a clique has more cells than one below it


class Item(NamedTuple):
    """What costs a pass over a clique's table: a factor, a child's message, or a marginal."""

    axes: frozenset[int]
    kind: Literal["factor", "child", "marginal"]
    number: int


class Product(NamedTuple):
    """The variables of a small clique, and what it takes off the large one."""

    axes: frozenset[int]
    items: list[Item]


def with_products(tree: JunctionTree) -> JunctionTree:
    """The tree with small cliques where they save passes over large tables."""
    large = np.flatnonzero(tree.cells >= LARGE).tolist()
    products = {k: found for k in large if (found := _products(tree, k))}
    return _inserted(tree, products) if products else tree


def _products(tree: JunctionTree, k: int) -> list[Product]:
    """Small cliques below clique k, filled item by item, each where it adds the fewest cells."""
    n_states = {v: int(tree.scopes.n_states[v]) for v in tree.clique_axes[k]}

    def cells(axes: frozenset[int]) -> int:
        return prod(n_states[v] for v in axes)

    most = tree.cells[k] / SHARE
    found: list[Product] = []
    for item in sorted(_items(tree, k), key=lambda item: -cells(item.axes)):
        wider = [(cells(product.axes | item.axes), i) for i, product in enumerate(found)]
        fewest, i = min(wider, default=(0, -1))
        if i >= 0 and fewest <= most:
            found[i] = Product(found[i].axes | item.axes, [*found[i].items, item])
        elif cells(item.axes) <= most:
            found.append(Product(item.axes, [item]))
    return [each for each in found if len({item.axes for item in each.items}) > 1]


def _items(tree: JunctionTree, k: int) -> list[Item]:
    """The factors and children of clique k, and the variables that no other clique has."""
    own, starts = tree.clique_axes[k], tree.scopes.starts
    items = []
    for f in tree.hosted[k]:
        scope = tree.scopes.axes[starts[f] : starts[f + 1]].tolist()
        items.append(Item(frozenset(v for v in scope if tree.free[v]), "factor", f))
    for c in tree.children[k]:
        items.append(Item(frozenset(tree.clique_axes[c][tree.n_own[c] :]), "child", c))
    shared = {v for item in items if item.kind == "child" for v in item.axes}
    alone = [v for v in own[: tree.n_own[k]] if v not in shared]
    return items + [Item(frozenset([v]), "marginal", v) for v in alone]


def _inserted(tree: JunctionTree, products: Mapping[int, list[Product]]) -> JunctionTree:
    """The tree with the small cliques, each just before the large one it hangs on."""
    extra = np.array([len(products.get(k, ())) for k in range(tree.n_cliques)], dtype=np.int64)
    number = np.arange(tree.n_cliques) + np.cumsum(extra)  # of the cliques that there were
    lists: list[tuple[int, ...]] = []
    n_own, above, host = [], [], np.where(tree.host >= 0, number[tree.host], -1)
    moved = {}
    for k, axes in enumerate(tree.clique_axes):
        for product in products.get(k, ()):
            for item in product.items:
                if item.kind == "factor":
                    host[item.number] = len(lists)
                elif item.kind == "child":
                    moved[number[item.number]] = len(lists)
            lists.append(tuple(v for v in axes if v in product.axes))
            n_own.append(0)
            above.append(number[k])
        lists.append(axes)
        n_own.append(tree.n_own[k])
        above.append(number[tree.above[k]] if tree.above[k] >= 0 else -1)
    for child, parent in moved.items():
        above[child] = parent
    return JunctionTree(
        tree.scopes,
        tree.free,
        _integers(np.cumsum([0, *map(len, lists)])),
        _integers([v for axes in lists for v in axes]),
        _integers(n_own),
        _integers(above),
        np.where(tree.home >= 0, number[tree.home], -1),
        host,
    )


def _integers(values: list[int] | Codes) -> Codes:
    return np.array(values, dtype=np.int64)
