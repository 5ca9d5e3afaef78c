"""The junction tree of a graph: its cliques, and the separators between them.

    1. take the observed variables out of the scopes
    2. join the variables of each scope, and make the graph chordal (triangulation)
    3. its maximal cliques, joined so that a variable's cliques hang together (running intersection)

Each tree of cliques with this property has the largest possible sum of separator sizes, and the
reverse: it is the maximum spanning tree of the graph of cliques.  A variable with one state
is as good as observed.  ``tree_propagation.py`` sends the messages.

Each factor and each message costs a pass over the whole table of its clique, and so does each
marginal that is read from it.  Those that together depend on few of its variables get a small
clique over these, below the large one, in which they are multiplied first (``with_products``): a
leaf, which is not maximal, has no variable of its own, and costs one pass for all.

References
----------
Lauritzen & Spiegelhalter, J. Royal Statistical Society B 50 (1988), 157–224.
Koller & Friedman, Probabilistic Graphical Models, ch. 10.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Literal, NamedTuple, final

import numpy as np

from likely._typing import Array, Codes
from likely.caching import cached_property
from likely.errors import GraphTooLarge
from likely.graphical.exact.cost import CLIQUE_WORK, memory_limit
from likely.graphical.exact.graph_arrays import Scopes, integers
from likely.graphical.exact.triangulation import CliqueTree, TooManyCells, triangulate
from likely.output.formatting import text_table

if TYPE_CHECKING:
    from pathlib import Path

    from likely.graphical.drawing.diagram import Diagram
    from likely.graphical.exact.compiled_propagation import Layout

NUMBER = 8  # bytes of a float64
ALWAYS_FITS = 64 * 2**20  # bytes; the free memory is not asked for below this
REMEDY = (
    "Observe more variables, ask for a few of them, or raise memory; the cost of exact answers "
    "grows exponentially with the width."
)


@final
@dataclass(frozen=True, eq=False)
class JunctionTree:
    """Cliques of variables and the tree that joins them; children come before parents.

    ``cliques`` are the variables of each clique, ``parent`` the clique that it hangs on (None for
    a root) and ``separators`` the variables that both have.  Variables that were observed, or
    have one state only, are in no clique.
    """

    scopes: Scopes
    free: Array  # (n_variables,) whether a variable is in the tree
    starts: Codes  # (n_cliques + 1,)
    axes: Codes  # of the cliques end to end: own variables first, then the separator
    n_own: Codes  # variables of each clique that no later clique has
    above: Codes  # the parent of each clique, −1 for a root
    home: Codes  # (n_variables,) the clique that has a variable as its own, −1 for none
    host: Codes  # (n_factors,) the clique that has a factor's variables, −1 for a constant

    @property
    def n_cliques(self) -> int:
        return len(self.above)

    @cached_property
    def clique_axes(self) -> tuple[tuple[int, ...], ...]:
        """The numbers of the variables of each clique."""
        bounds = zip(self.starts[:-1], self.starts[1:], strict=True)
        return tuple(tuple(self.axes[a:b].tolist()) for a, b in bounds)

    @cached_property
    def cliques(self) -> tuple[tuple[str, ...], ...]:
        names = self.scopes.names
        return tuple(tuple(names[v] for v in axes) for axes in self.clique_axes)

    @cached_property
    def separators(self) -> tuple[tuple[str, ...], ...]:
        """The variables that each clique shares with its parent."""
        own = zip(self.cliques, self.n_own.tolist(), strict=True)
        return tuple(names[n:] for names, n in own)

    @cached_property
    def parent(self) -> tuple[int | None, ...]:
        return tuple(None if k < 0 else k for k in self.above.tolist())

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        below: list[list[int]] = [[] for _ in self.cliques]
        for k, above in enumerate(self.above.tolist()):
            if above >= 0:
                below[above].append(k)
        return tuple(map(tuple, below))

    @property
    def width(self) -> int:
        """The variables of the largest clique, less one; −1 without variables."""
        return int(np.diff(self.starts).max(initial=0)) - 1

    @cached_property
    def cells(self) -> Array:
        """The cells of each clique's table."""
        logs = self.scopes.log_states[self.axes]
        return np.exp(np.add.reduceat(logs, self.starts[:-1])) if self.n_cliques else np.zeros(0)

    @cached_property
    def separator_cells(self) -> Array:
        """The cells of each separator's table; 1 for a root."""
        logs = np.append(self.scopes.log_states[self.axes], 0.0)
        bounds = np.stack([self.starts[:-1], self.starts[:-1] + self.n_own], axis=1).ravel()
        own = np.add.reduceat(logs, bounds)[::2] if self.n_cliques else np.zeros(0)
        return self.cells / np.exp(own)

    @cached_property
    def bytes(self) -> float:
        """What one propagation needs: a table for each clique and for each separator."""
        tree = self.for_loops
        largest = tree.separator_cells.max(initial=0.0)
        return float(NUMBER * (tree.cells.sum() + tree.separator_cells.sum() + 2 * largest))

    @cached_property
    def for_loops(self) -> "JunctionTree":
        """The tree as the compiled loops use it, with small cliques below large ones."""
        return with_products(self)

    @cached_property
    def hosted(self) -> tuple[tuple[int, ...], ...]:
        """The factors of each clique."""
        found: list[list[int]] = [[] for _ in range(self.n_cliques)]
        for f, k in enumerate(self.host.tolist()):
            if k >= 0:
                found[k].append(f)
        return tuple(map(tuple, found))

    def cells_given(self, observed: Array) -> float:
        """The cells of all cliques if more variables (n_variables,) are cut out of them."""
        logs = np.where(observed, 0.0, self.scopes.log_states)[self.axes]
        cells = np.add.reduceat(logs, self.starts[:-1]) if self.n_cliques else np.zeros(0)
        return float(np.exp(cells).sum())

    @property
    def work(self) -> float:
        """The cells that a propagation goes through, and what its steps are worth in cells."""
        return float(self.cells.sum()) + CLIQUE_WORK * self.n_cliques

    @cached_property
    def layout(self) -> "Layout":
        """Where the compiled loops find the tables."""
        from likely.graphical.exact.compiled_propagation import layout_of

        return layout_of(self)

    def clique_of(self, axes: Sequence[int]) -> int:
        """The clique with all of some variables, if there is one: that of the first eliminated."""
        return int(self.home[list(axes)].min())

    def has_together(self, axes: Sequence[int]) -> bool:
        """Whether a clique has all of some variables."""
        return not axes or set(axes) <= set(self.clique_axes[self.clique_of(axes)])

    @cached_property
    def has_running_intersection(self) -> bool:
        """Whether the cliques of each variable hang together.

        All of them but one then share the variable with their parent.
        """
        sets = [frozenset(names) for names in self.cliques]
        hanging: dict[str, int] = {}
        for names, above in zip(sets, self.parent, strict=True):
            for name in names if above is None else names - sets[above]:
                hanging[name] = hanging.get(name, 0) + 1
        return all(n_tops == 1 for n_tops in hanging.values())

    def refuse_above(self, memory: int | None) -> None:
        """Raise GraphTooLarge if the tables need more than the limit."""
        if memory is None and self.bytes < ALWAYS_FITS:
            return
        limit = memory_limit(memory)
        if self.bytes > limit:
            raise GraphTooLarge(f"A junction tree of width {self.width}", self.bytes, limit, REMEDY)

    def draw(self, path: "str | Path | None" = None) -> "Diagram":
        """The cliques as boxes, and the separators on the edges between them; see ``Diagram``.

        With ``path``, the picture is also saved there: .svg, .dot, .gv or .txt.
        """
        from likely.graphical.drawing.graph_pictures import clique_picture

        diagram = clique_picture(self.cliques, self.parent, self.separators)
        if path is not None:
            diagram.save(path)
        return diagram

    def _repr_svg_(self) -> str | None:
        """The picture for a notebook; none where there are too many cliques to read."""
        return self.draw()._repr_svg_()

    def __str__(self) -> str:
        rows = [
            [
                str(k),
                ", ".join(names),
                f"{cells:,.0f}",
                "" if above is None else str(above),
                ", ".join(separator),
            ]
            for k, (names, cells, above, separator) in enumerate(
                zip(self.cliques, self.cells, self.parent, self.separators, strict=True)
            )
        ]
        head = ["clique", "variables", "cells", "parent", "separator"]
        total = f"{self.cells.sum():,.0f} cells, width {self.width}, {self.bytes:,.0f} bytes."
        return "\n".join([*text_table(head, rows, words=(1, 4)), total])


def junction_tree(
    scopes: Scopes, observed: Array, together: Sequence[tuple[int, ...]] = ()
) -> JunctionTree:
    """The junction tree without the observed variables.

    ``observed`` (n_variables,) is Boolean; each set of variables ``together`` lies in one clique.
    """
    free = ~observed & (scopes.n_states > 1)
    numbers = np.flatnonzero(free)
    starts, others = scopes.neighbours(free, together)
    try:
        tree = triangulate(starts, others, scopes.log_states[numbers])
    except TooManyCells as stopped:
        needed = NUMBER * float(np.exp(stopped.log_cells))
        raise GraphTooLarge(
            "A junction tree, whose planning stopped at a clique too large for any memory,",
            needed,
            memory_limit(None),
            REMEDY,
        ) from None
    return _with_hosts(scopes, free, numbers, tree)


def _with_hosts(scopes: Scopes, free: Array, numbers: Codes, tree: CliqueTree) -> JunctionTree:
    home = np.full(scopes.n_variables, -1)
    home[numbers] = tree.home
    host = np.full(scopes.n_factors, len(tree.parent))
    # of the variables of a scope, the first to be eliminated has them all in its clique, and
    # the cliques of the others are above it
    inside = free[scopes.axes]
    np.minimum.at(host, scopes.factor_of_axis[inside], home[scopes.axes[inside]])
    host[host == len(tree.parent)] = -1
    return JunctionTree(
        scopes, free, tree.starts, numbers[tree.members], tree.n_own, tree.parent, home, host
    )


LARGE = 4096  # cells of a clique that is worth it
SHARE = 64  # times that a clique has more cells than one below it


class Item(NamedTuple):
    """What costs a pass over a clique's table: a factor, a child's message, or a marginal."""

    axes: frozenset[int]
    kind: Literal["factor", "child", "marginal"]
    number: int


class SmallClique(NamedTuple):
    """The variables of a small clique, and what it takes off the large one."""

    axes: frozenset[int]
    items: list[Item]


def with_products(tree: JunctionTree) -> JunctionTree:
    """The tree with small cliques where they save passes over large tables."""
    large = np.flatnonzero(tree.cells >= LARGE).tolist()
    products = {k: found for k in large if (found := _products(tree, k))}
    return _inserted(tree, products) if products else tree


def _products(tree: JunctionTree, k: int) -> list[SmallClique]:
    """Small cliques below clique k, filled item by item, each where it adds the fewest cells."""
    n_states = {v: int(tree.scopes.n_states[v]) for v in tree.clique_axes[k]}

    def cells(axes: frozenset[int]) -> int:
        return prod(n_states[v] for v in axes)

    most = tree.cells[k] / SHARE
    found: list[SmallClique] = []
    for item in sorted(_items(tree, k), key=lambda item: -cells(item.axes)):
        wider = [(cells(product.axes | item.axes), i) for i, product in enumerate(found)]
        fewest, i = min(wider, default=(0, -1))
        if i >= 0 and fewest <= most:
            found[i] = SmallClique(found[i].axes | item.axes, [*found[i].items, item])
        elif cells(item.axes) <= most:
            found.append(SmallClique(item.axes, [item]))
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


def _inserted(tree: JunctionTree, products: Mapping[int, list[SmallClique]]) -> JunctionTree:
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
        integers(np.cumsum([0, *map(len, lists)])),
        integers([v for axes in lists for v in axes]),
        integers(n_own),
        integers(above),
        np.where(tree.home >= 0, number[tree.home], -1),
        host,
    )
