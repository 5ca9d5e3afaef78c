"""Inference by propagation in a junction tree; in a graph without cycles its cliques are scopes.

Evidence enters the tree as slices of tables, and as likelihoods of its variables.  Marginals are
read from the smallest clique or separator that has the variable, a joint from the clique that has
all its variables.  Where no clique has them, a tree is planned that has; where that does not fit,
all but one are fixed in turn:

    P(a, b | e) = Z(a, e) / Z(e) · P(b | a, e)
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, NamedTuple, final

import numpy as np

from likely._typing import Array, Codes
from likely.errors import GraphTooLarge, ImpossibleEvidence, InvalidInput
from likely.graphical.contract import BestStates, InferenceAnswer, Request
from likely.graphical.exact import tree_propagation
from likely.graphical.exact.enumeration import TIE, with_observed
from likely.graphical.exact.graph_arrays import LEAST
from likely.graphical.exact.junction_tree import JunctionTree
from likely.graphical.model.graph_evidence import GraphEvidence
from likely.special import log

if TYPE_CHECKING:
    from likely.graphical.model.factor import Factor
    from likely.graphical.model.factor_graph import FactorGraph


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
    def of(cls, tree: JunctionTree, evidence: GraphEvidence) -> "TreeEvidence":
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


JOINT_CELLS = 50  # times those of the tree without it: more, and variables are fixed instead

Names = tuple[str, ...]


@final
@dataclass(frozen=True)
class TreeInference:
    """Propagation in a junction tree; without ``cycles`` only where the graph has none."""

    cycles: bool = True

    def answer(self, graph: "FactorGraph", request: Request) -> InferenceAnswer:
        self._refuse_cycles(graph, request.evidence)
        names = {*request.variables, *(name for joint in request.joints for name in joint)}
        graph = graph.relevant(names, request.evidence)
        tree = graph.plans.tree_for(request.evidence.observed)
        if not request.joints:
            return answer_in(graph, tree, request)
        inside = [
            names
            for names in request.joints
            if tree.has_together(_free_axes(tree, names, request.evidence))
        ]
        found = answer_in(graph, tree, replace(request, joints=tuple(inside)))
        joints = {
            names: found.joints[names] if names in inside else _joint(graph, tree, request, names)
            for names in request.joints
        }
        return replace(found, joints=joints)

    def log_partition(self, graph: "FactorGraph", request: Request) -> float:
        evidence = request.evidence
        self._refuse_cycles(graph, evidence)
        graph = graph.relevant((), evidence)
        tree = graph.plans.tree_for(evidence.observed)
        tree.refuse_above(request.memory)
        known = TreeEvidence.of(tree, evidence)
        if graph.plans.is_fast(tree):
            from likely.graphical.exact.compiled_propagation import log_partition

            return log_partition(graph.plans, tree, known)
        return tree_propagation.collected(tree, known.log_factors(graph.factors, tree)).log_total

    def most_probable(self, graph: "FactorGraph", request: Request) -> BestStates:
        self._refuse_cycles(graph, request.evidence)
        tree = graph.plans.tree_for(request.evidence.observed)
        codes, unique, _ = best_in(graph, tree, request.evidence, request.memory)
        return BestStates(dict(zip(graph.names, codes.tolist(), strict=True)), unique)

    def sample(self, graph: "FactorGraph", request: Request, uniform: Array) -> Mapping[str, Array]:
        self._refuse_cycles(graph, request.evidence)
        tree = graph.plans.tree_for(request.evidence.observed)
        tree.refuse_above(request.memory)
        known = TreeEvidence.of(tree, request.evidence)
        if graph.plans.is_fast(tree):
            from likely.graphical.exact.compiled_propagation import drawn_codes

            codes = drawn_codes(graph.plans, tree, known, uniform)
        else:
            factors = known.log_factors(graph.factors, tree)
            codes = tree_propagation.drawn_codes(tree, factors, known.codes, uniform)
        return dict(zip(graph.names, codes, strict=True))

    def _refuse_cycles(self, graph: "FactorGraph", evidence: GraphEvidence) -> None:
        if not self.cycles and not graph.plans.is_forest(evidence.observed):
            raise InvalidInput(
                "method='tree' was given for a graph with a cycle that no observed variable cuts; "
                "a graph without cycles was expected. Use method='junction-tree'."
            )


def answer_in(graph: "FactorGraph", tree: JunctionTree, request: Request) -> InferenceAnswer:
    """Marginals, and joints that lie in cliques of the tree."""
    tree.refuse_above(request.memory)
    known = TreeEvidence.of(tree, request.evidence)
    axes = [_free_axes(tree, names, request.evidence) for names in request.joints]
    asked = [each for each in axes if each]
    if graph.plans.is_fast(tree):
        from likely.graphical.exact.compiled_propagation import beliefs

        wanted = graph.plans.mask(request.variables)
        found = beliefs(graph.plans, tree, known, wanted, asked)
    else:
        factors = known.log_factors(graph.factors, tree)
        found = tree_propagation.beliefs(tree, factors, known.codes, asked)
    place, starts = tree.scopes.place, tree.scopes.state_starts.tolist()
    numbers = [place[name] for name in request.variables]
    flat = found.marginals
    tables = iter(found.joints)
    return InferenceAnswer(
        {
            name: flat[starts[v] : starts[v + 1]]
            for name, v in zip(request.variables, numbers, strict=True)
        },
        {
            names: _whole(graph, next(tables) if each else np.array(1.0), names, request.evidence)
            for names, each in zip(request.joints, axes, strict=True)
        },
        found.log_partition,
    )


def best_in(
    graph: "FactorGraph", tree: JunctionTree, evidence: GraphEvidence, memory: int | None
) -> tuple[Codes, bool, float]:
    """The codes of a best configuration, whether no other is as good, and the log of its score."""
    tree.refuse_above(memory)
    known = TreeEvidence.of(tree, evidence)
    if graph.plans.is_fast(tree):
        from likely.graphical.exact.compiled_propagation import best_codes

        return best_codes(graph.plans, tree, known, TIE)
    factors = known.log_factors(graph.factors, tree)
    return tree_propagation.best_codes(tree, factors, known.codes, TIE)


def _free_axes(tree: JunctionTree, names: Names, evidence: GraphEvidence) -> tuple[int, ...]:
    """The numbers of those variables whose state is open."""
    place = tree.scopes.place
    return tuple(
        place[name] for name in names if name not in evidence.codes and tree.free[place[name]]
    )


def _whole(graph: "FactorGraph", table: Array, names: Names, evidence: GraphEvidence) -> Array:
    """A joint of open variables with the observed ones, and those with one state, put in."""
    single = {name: 0 for name in names if graph.by_name[name].n_states == 1}
    return with_observed(graph, table, names, {**single, **evidence.codes})


def _joint(graph: "FactorGraph", tree: JunctionTree, request: Request, names: Names) -> Array:
    """A joint that lies in no clique of the tree."""
    asked = replace(request, variables=(), joints=(names,))
    try:
        open_axes = _free_axes(tree, names, request.evidence)
        wider = graph.plans.tree(request.evidence.observed, (open_axes,))
        wider.refuse_above(request.memory)
        if wider.cells.sum() <= JOINT_CELLS * tree.cells.sum():
            return answer_in(graph, wider, asked).joints[names]
    except GraphTooLarge:
        pass
    return _joint_by_fixing(graph, request, names)


def _joint_by_fixing(graph: "FactorGraph", request: Request, names: Names) -> Array:
    """A joint from the marginals of its largest variable, for each state of the others."""
    codes = request.evidence.codes
    free = [name for name in names if name not in codes]
    last = max(free, key=lambda name: graph.by_name[name].n_states)
    fixed = [name for name in free if name != last]
    shape = [graph.by_name[name].n_states for name in (*fixed, last)]
    joint, log_total = np.zeros(shape), np.full(shape[:-1], -np.inf)
    for cell in product(*map(range, shape[:-1])):
        evidence = replace(request.evidence, codes={**codes, **dict(zip(fixed, cell, strict=True))})
        asked = Request((last,), (), evidence, request.memory)
        try:
            found = answer_in(graph, graph.plans.tree_for(evidence.observed), asked)
        except ImpossibleEvidence:
            continue
        joint[cell], log_total[cell] = found.marginals[last], found.log_partition
    joint *= np.exp(log_total - log_total.max())[..., None]
    order = [(*fixed, last).index(name) for name in free]
    return with_observed(graph, (joint / joint.sum()).transpose(order), names, codes)
