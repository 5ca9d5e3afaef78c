"""The scopes of the factors of a graph as integers, and the graph of neighbours that they make."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from likely._typing import Array, Codes
from likely.caching import cached_property

if TYPE_CHECKING:
    from likely.graphical.factor_graph import FactorGraph


@final
@dataclass(frozen=True, eq=False)
class Scopes:
    """The variables of all scopes end to end: those of factor j are axes[starts[j]:starts[j+1]].

    Tables have one axis for each variable of their scope, in this order.
    """

    names: tuple[str, ...]
    n_states: Codes  # (n_variables,)
    starts: Codes  # (n_factors + 1,)
    axes: Codes

    @classmethod
    def of(cls, graph: "FactorGraph") -> "Scopes":
        place = {name: v for v, name in enumerate(graph.names)}
        scopes = [[place[name] for name in factor.scope] for factor in graph.factors]
        return cls(
            graph.names,
            _integers([variable.n_states for variable in graph.variables]),
            _integers(np.cumsum([0, *map(len, scopes)])),
            _integers([v for scope in scopes for v in scope]),
        )

    @property
    def n_variables(self) -> int:
        return len(self.names)

    @property
    def n_factors(self) -> int:
        return len(self.starts) - 1

    @cached_property
    def place(self) -> dict[str, int]:
        """The number of each variable."""
        return {name: v for v, name in enumerate(self.names)}

    @cached_property
    def log_states(self) -> Array:
        return np.log(self.n_states)

    @cached_property
    def factor_of_axis(self) -> Codes:
        """The factor that each entry of ``axes`` belongs to."""
        return np.repeat(np.arange(self.n_factors), np.diff(self.starts))

    @cached_property
    def state_starts(self) -> Codes:
        """Where the states of each variable begin, if all are laid end to end."""
        return _integers(np.cumsum([0, *self.n_states]))

    @cached_property
    def pairs(self) -> Codes:
        """Two variables a ≠ b of one scope as a·n + b, once each, sorted."""
        lengths = np.diff(self.starts)
        found: list[Codes] = [np.zeros(0, dtype=np.int64)]
        for length in np.unique(lengths[lengths > 1]):
            begin = self.starts[:-1][lengths == length]
            found.append(self._pairs_of(self.axes[begin[:, None] + np.arange(length)]))
        return np.unique(np.concatenate(found))

    def _pairs_of(self, scopes: Codes) -> Codes:
        """The pairs of scopes of one length, (n_scopes, length)."""
        length = scopes.shape[1]
        a, b = np.nonzero(~np.eye(length, dtype=bool))
        return (scopes[:, a] * self.n_variables + scopes[:, b]).ravel()

    def neighbours(
        self, free: Array, together: Iterable[Sequence[int]] = ()
    ) -> tuple[Codes, Codes]:
        """The neighbours of each free variable, both counted among the free ones alone.

        Those of the u-th are others[starts[u]:starts[u + 1]].  ``together`` are more sets of
        variables that are to be neighbours.
        """
        pairs = self.pairs
        if extra := [self._pairs_of(_integers(names)[None]) for names in together]:
            pairs = np.unique(np.concatenate([pairs, *extra]))
        a, b = np.divmod(pairs, max(self.n_variables, 1))
        kept = free[a] & free[b]
        number = np.cumsum(free) - 1
        a, b = number[a[kept]], number[b[kept]]
        starts = np.searchsorted(a, np.arange(int(free.sum()) + 1))
        return _integers(starts), _integers(b)


def _integers(values: Sequence[int] | Array) -> Codes:
    return np.array(values, dtype=np.int64)
