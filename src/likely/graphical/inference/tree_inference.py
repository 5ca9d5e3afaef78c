"""Inference by propagation in a junction tree; in a graph without cycles its cliques are scopes.

Marginals are read from the smallest clique or separator that has the variable, a joint from the
clique that has all its variables.  Where no clique has them, a tree is planned that has; where that
does not fit, all but one are fixed in turn:

    P(a, b | e) = Z(a, e) / Z(e) · P(b | a, e)
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, final

import numpy as np

from likely._typing import Array, Codes
from likely.errors import GraphTooLarge, ImpossibleEvidence, InvalidInput
from likely.graphical.evidence import Evidence
from likely.graphical.inference import calibration
from likely.graphical.inference.contract import Answer, BestStates, Request
from likely.graphical.inference.enumeration import TIE, with_observed
from likely.graphical.inference.junction_tree import JunctionTree
from likely.graphical.inference.tree_evidence import TreeEvidence

if TYPE_CHECKING:
    from likely.graphical.factor_graph import FactorGraph

JOINT_CELLS = 50  # times those of the tree without it: more, and variables are fixed instead

Names = tuple[str, ...]


@final
@dataclass(frozen=True)
class TreeInference:
    """Propagation in a junction tree; without ``cycles`` only where the graph has none."""

    cycles: bool = True

    def answer(self, graph: "FactorGraph", request: Request) -> Answer:
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
            from likely.graphical.inference.compiled_tree import log_partition

            return log_partition(graph.plans, tree, known)
        return calibration.collected(tree, known.log_factors(graph.factors, tree)).log_total

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
            from likely.graphical.inference.compiled_tree import drawn_codes

            codes = drawn_codes(graph.plans, tree, known, uniform)
        else:
            factors = known.log_factors(graph.factors, tree)
            codes = calibration.drawn_codes(tree, factors, known.codes, uniform)
        return dict(zip(graph.names, codes, strict=True))

    def _refuse_cycles(self, graph: "FactorGraph", evidence: Evidence) -> None:
        if not self.cycles and not graph.plans.is_forest(evidence.observed):
            raise InvalidInput(
                "method='tree' was given for a graph with a cycle that no observed variable cuts; "
                "a graph without cycles was expected. Use method='junction-tree'."
            )


def answer_in(graph: "FactorGraph", tree: JunctionTree, request: Request) -> Answer:
    """Marginals, and joints that lie in cliques of the tree."""
    tree.refuse_above(request.memory)
    known = TreeEvidence.of(tree, request.evidence)
    axes = [_free_axes(tree, names, request.evidence) for names in request.joints]
    asked = [each for each in axes if each]
    if graph.plans.is_fast(tree):
        from likely.graphical.inference.compiled_tree import beliefs

        wanted = graph.plans.mask(request.variables)
        found = beliefs(graph.plans, tree, known, wanted, asked)
    else:
        factors = known.log_factors(graph.factors, tree)
        found = calibration.beliefs(tree, factors, known.codes, asked)
    place, starts = tree.scopes.place, tree.scopes.state_starts.tolist()
    numbers = [place[name] for name in request.variables]
    flat = found.marginals
    tables = iter(found.joints)
    return Answer(
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
    graph: "FactorGraph", tree: JunctionTree, evidence: Evidence, memory: int | None
) -> tuple[Codes, bool, float]:
    """The codes of a best configuration, whether no other is as good, and the log of its score."""
    tree.refuse_above(memory)
    known = TreeEvidence.of(tree, evidence)
    if graph.plans.is_fast(tree):
        from likely.graphical.inference.compiled_tree import best_codes

        return best_codes(graph.plans, tree, known, TIE)
    factors = known.log_factors(graph.factors, tree)
    return calibration.best_codes(tree, factors, known.codes, TIE)


def _free_axes(tree: JunctionTree, names: Names, evidence: Evidence) -> tuple[int, ...]:
    """The numbers of those variables whose state is open."""
    place = tree.scopes.place
    return tuple(
        place[name] for name in names if name not in evidence.codes and tree.free[place[name]]
    )


def _whole(graph: "FactorGraph", table: Array, names: Names, evidence: Evidence) -> Array:
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
