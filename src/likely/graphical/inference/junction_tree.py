"""The junction tree of a graph: its cliques, and the separators between them.

    1. take the observed variables out of the scopes
    2. join the variables of each scope, and make the graph chordal (triangulation)
    3. its maximal cliques, joined so that a variable's cliques hang together (running intersection)

Each tree of cliques with this property has the largest possible sum of separator sizes, and the
reverse: it is the maximum spanning tree of the graph of cliques.  A variable with one state
is as good as observed.

References
----------
Lauritzen & Spiegelhalter, J. Royal Statistical Society B 50 (1988), 157–224.
Koller & Friedman, Probabilistic Graphical Models, ch. 10.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from likely._typing import Array, Codes
from likely.caching import cached_property
from likely.errors import GraphTooLarge
from likely.formatting import text_table
from likely.graphical.inference.memory import memory_limit
from likely.graphical.inference.scopes import Scopes
from likely.graphical.inference.speed import CLIQUE_WORK
from likely.graphical.inference.triangulation import CliqueTree, TooManyCells, triangulate

if TYPE_CHECKING:
    from pathlib import Path

    from likely.graphical.diagrams.diagram import Diagram

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
        from likely.graphical.inference.product_cliques import with_products

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
    def layout(self) -> Any:
        """Where the compiled loops find the tables."""
        from likely.graphical.inference.layout import layout_of

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
        from likely.graphical.diagrams.graph_pictures import clique_picture

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
