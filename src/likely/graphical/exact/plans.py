"""The junction trees of a graph, kept for the next query.

A tree depends on which variables were observed, not on their states.  Hard evidence is cut out of
the tables of a tree that was made for it; in a tree that has the variable it is a likelihood of 0
and 1.  The first serves large graphs, the second small ones, where planning costs more than
it saves.

Memory for the tables of one propagation, kept for the next: new memory must be cleared first.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Generic, TypeVar, final

import numpy as np

from likely._typing import Array
from likely.caching import cached_property
from likely.errors import GraphTooLarge
from likely.graphical.exact.cost import is_fast
from likely.graphical.exact.graph_arrays import FactorTables, Scopes
from likely.graphical.exact.junction_tree import JunctionTree, junction_tree
from likely.graphical.model.connected import is_forest

if TYPE_CHECKING:
    from likely.graphical.model.factor_graph import FactorGraph

MOST_KEPT = 128 * 2**20  # bytes


@final
class WorkRoom:
    """One array; a second thread that needs it at the same time gets another."""

    def __init__(self) -> None:
        self._kept: list[Array] = []

    @contextmanager
    def numbers(self, n: int) -> Iterator[Array]:
        """Room for n numbers, whose values are left over from other work."""
        try:
            array = self._kept.pop()
        except IndexError:
            array = np.empty(n)
        if array.size < n:
            array = np.empty(n)
        try:
            yield array[:n]
        finally:
            if array.nbytes <= MOST_KEPT:
                self._kept[:] = [array]


KEPT = 64  # trees, the latest used ones
PLANNING_CELLS = 5000  # of a table, whose propagation takes as long as planning one variable
SLICING_CELLS = 20_000  # below this a tree for the evidence alone gains nothing

T = TypeVar("T")


@final
class RecentlyUsed(Generic[T]):
    """The latest values by key, each made on first use.

    Without a lock, which a process that is forked meanwhile would find held for ever: each step on
    the dictionary is one of Python's, and a key that another thread has removed is made again.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[Hashable, T] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        with suppress(KeyError):
            value = self._values[key]
            self._values.move_to_end(key)
            return value
        made = make()
        self._values[key] = made
        if len(self._values) > self._most:
            with suppress(KeyError):
                self._values.popitem(last=False)
        return made

    def __contains__(self, key: Hashable) -> bool:
        return key in self._values


@final
class Plans:
    """What inference in a graph needs again and again; graphs with equal scopes share trees."""

    def __init__(self, graph: "FactorGraph", same_scopes: "Plans | None" = None) -> None:
        self.scopes: Scopes = same_scopes.scopes if same_scopes else Scopes.of(graph)
        self.tables = FactorTables(graph.factors)
        self.room = WorkRoom()
        self._work = 0.0
        self._trees: RecentlyUsed[JunctionTree | GraphTooLarge] = (
            same_scopes._trees if same_scopes else RecentlyUsed(KEPT)
        )
        self._forests: RecentlyUsed[bool] = (
            same_scopes._forests if same_scopes else RecentlyUsed(16 * KEPT)
        )
        self._seen: RecentlyUsed[None] = (
            same_scopes._seen if same_scopes else RecentlyUsed(16 * KEPT)
        )

    def tree(
        self, observed: frozenset[str], together: tuple[tuple[int, ...], ...] = ()
    ) -> JunctionTree:
        """The tree without the observed variables, with each set ``together`` in one clique."""
        found = self._trees.get((observed, together), lambda: self._planned(observed, together))
        if isinstance(found, GraphTooLarge):
            raise found.with_traceback(None)
        return found

    def _planned(
        self, observed: frozenset[str], together: tuple[tuple[int, ...], ...]
    ) -> JunctionTree | GraphTooLarge:
        """A tree, or that no memory could hold it, which is also worth keeping."""
        try:
            return junction_tree(self.scopes, self.mask(observed), together)
        except GraphTooLarge as too_large:
            return too_large

    def tree_for(self, observed: frozenset[str]) -> JunctionTree:
        """A tree that answers with this evidence, the cheapest in planning and propagation.

        A small tree of all variables serves any evidence, until the same variables are observed
        again.
        """
        common = self.common
        if common is None or not observed:
            return self.tree(observed)
        if self.is_small:
            return common
        cells = float(common.cells.sum())
        if (observed, ()) in self._trees or cells > PLANNING_CELLS * len(common.free):
            return self.tree(observed)
        if observed in self._seen:
            return self.tree(observed)
        self._seen.get(observed, lambda: None)
        return common

    @property
    def is_small(self) -> bool:
        """Whether propagation costs next to nothing with any evidence."""
        return self.common is not None and float(self.common.cells.sum()) <= SLICING_CELLS

    @cached_property
    def common(self) -> JunctionTree | None:
        """The tree of all variables; None if no memory could hold it."""
        try:
            return self.tree(frozenset())
        except GraphTooLarge:
            return None

    def is_fast(self, tree: JunctionTree, n_samples: int = 1) -> bool:
        """Whether the compiled loops answer now; small graphs that are asked often come to that."""
        self._work += tree.work * n_samples
        return is_fast(self._work)

    def is_forest(self, observed: frozenset[str]) -> bool:
        """Whether the factor graph without the observed variables has no cycle."""
        return self._forests.get(observed, lambda: _is_forest(self.scopes, self.mask(observed)))

    def mask(self, names: Iterable[str]) -> Array:
        """Whether each variable is one of ``names``, (n_variables,)."""
        mask = np.zeros(self.scopes.n_variables, dtype=np.bool_)
        mask[[self.scopes.place[name] for name in names]] = True
        return mask


def _is_forest(scopes: Scopes, observed: Array) -> bool:
    free = ~observed & (scopes.n_states > 1)
    inside = free[scopes.axes]
    factors, axes = scopes.factor_of_axis[inside], scopes.axes[inside]
    if len(axes) >= int(free.sum()) + len(np.unique(factors)) and len(axes):
        return False  # a forest has fewer edges than nodes
    ends = zip((scopes.n_variables + factors).tolist(), axes.tolist(), strict=True)
    return is_forest(scopes.n_variables + scopes.n_factors, list(ends))
