"""Evidence as it enters a junction tree: slices of tables, and likelihoods of its variables."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from likely._typing import Array, Codes
from likely.graphical.evidence import Evidence
from likely.graphical.inference.factor_tables import LEAST
from likely.graphical.inference.junction_tree import JunctionTree
from likely.special import log

if TYPE_CHECKING:
    from likely.graphical.factor import Factor


class TreeEvidence(NamedTuple):
    """Codes of the observed variables, and likelihoods of the variables that the tree has.

    A variable that was observed and is in the tree has a likelihood of 0 in all other states.
    """

    codes: Codes  # (n_variables,), −1 where nothing was observed
    likelihood: Array  # of the states of all variables end to end, each with a maximum of 1
    has_likelihood: Array  # (n_variables,)
    log_scale: float  # what the likelihoods were divided by, and those of variables not in the tree
    log_likelihood: Array  # finite where the likelihood is too small beside 1 to be written

    @classmethod
    def of(cls, tree: JunctionTree, evidence: Evidence) -> "TreeEvidence":
        scopes = tree.scopes
        starts, place = scopes.state_starts, scopes.place
        codes = np.full(scopes.n_variables, -1)
        likelihood, log_likelihood = np.ones(starts[-1]), np.zeros(starts[-1])
        has_likelihood = np.zeros(scopes.n_variables, dtype=np.bool_)
        log_scale = 0.0
        for name, code in evidence.codes.items():
            v = place[name]
            codes[v] = code
            if tree.free[v]:
                likelihood[starts[v] : starts[v + 1]] = 0.0
                likelihood[starts[v] + code] = 1.0
                log_likelihood[starts[v] : starts[v + 1]] = -np.inf
                log_likelihood[starts[v] + code] = 0.0
                has_likelihood[v] = True
        for name, values in evidence.soft.items():
            v = place[name]
            if tree.free[v] and codes[v] < 0:
                own = slice(starts[v], starts[v + 1])
                likelihood[own] = np.where(values > 0, np.maximum(values / values.max(), LEAST), 0)
                log_likelihood[own] = log(values) - np.log(values.max())
                log_scale += np.log(values.max())
                has_likelihood[v] = True
            else:
                value = values[max(codes[v], 0)]
                log_scale += np.log(value) if value > 0 else -np.inf
        return cls(codes, likelihood, has_likelihood, float(log_scale), log_likelihood)

    @property
    def in_logs(self) -> "TreeEvidence":
        """The same with the logs of the likelihoods."""
        return self._replace(likelihood=self.log_likelihood)

    def log_factors(
        self, factors: "Sequence[Factor]", tree: JunctionTree
    ) -> list[tuple[list[int], Array]]:
        """The axes and log tables of factors and likelihoods, without what was cut out."""
        starts, place = tree.scopes.state_starts, tree.scopes.place
        found: list[tuple[list[int], Array]] = [([], np.array(self.log_scale))]
        for factor in factors:
            axes = [place[name] for name in factor.scope]
            index = tuple(slice(None) if tree.free[v] else max(self.codes[v], 0) for v in axes)
            found.append(([v for v in axes if tree.free[v]], factor.log_table[index]))
        logs = self.log_likelihood
        for v in np.flatnonzero(self.has_likelihood).tolist():
            found.append(([v], logs[starts[v] : starts[v + 1]]))
        return found
