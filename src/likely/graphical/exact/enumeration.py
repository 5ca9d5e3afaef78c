"""Inference by enumeration: the definition that every other method is tested against.

    F(x) = Π_j f_j(x_j)        Z(e) = Σ_x F(x, e)        P(x_i | e) = Σ_rest F(x, e) / Z(e)

The whole table of log F is built, so it has Π n_i cells.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, final

import numpy as np

from likely._typing import Array
from likely.errors import GraphTooLarge, ImpossibleEvidence, InvalidInput
from likely.graphical.contract import BestStates, InferenceAnswer, Request
from likely.graphical.exact.cost import memory_limit
from likely.graphical.model.graph_evidence import GraphEvidence
from likely.special import logsumexp

if TYPE_CHECKING:
    from likely.graphical.model.factor_graph import FactorGraph

MOST_AXES = 64  # of a NumPy array; variables with one state reach it within any memory
TIE = 1e-12  # relative difference of log scores that rounding explains


@final
@dataclass(frozen=True)
class Enumeration:
    """Every configuration in turn."""

    def answer(self, graph: "FactorGraph", request: Request) -> InferenceAnswer:
        codes = request.evidence.codes
        log_joint = log_joint_table(graph, request.evidence, request.memory)
        total = float(logsumexp(log_joint))
        if total == -np.inf:
            raise ImpossibleEvidence()
        probability = np.exp(log_joint - total)
        free = free_variables(graph, request.evidence)

        def joint(names: tuple[str, ...]) -> Array:
            return _marginal(graph, probability, free, names, codes)

        return InferenceAnswer(
            {name: joint((name,)) for name in request.variables},
            {names: joint(names) for names in request.joints},
            total,
        )

    def log_partition(self, graph: "FactorGraph", request: Request) -> float:
        return float(logsumexp(log_joint_table(graph, request.evidence, request.memory)))

    def most_probable(self, graph: "FactorGraph", request: Request) -> BestStates:
        evidence = request.evidence
        log_joint = log_joint_table(graph, evidence, request.memory)
        best = float(log_joint.max())
        if best == -np.inf:
            raise ImpossibleEvidence()
        cell = np.unravel_index(int(log_joint.argmax()), log_joint.shape)
        free = free_variables(graph, evidence)
        codes = dict(evidence.codes) | {n: int(i) for n, i in zip(free, cell, strict=True)}
        ties = log_joint >= best - TIE * max(1.0, abs(best))
        return BestStates({name: codes[name] for name in graph.names}, int(ties.sum()) == 1)

    def sample(self, graph: "FactorGraph", request: Request, uniform: Array) -> Mapping[str, Array]:
        evidence = request.evidence
        log_joint = log_joint_table(graph, evidence, request.memory)
        total = float(logsumexp(log_joint))
        if total == -np.inf:
            raise ImpossibleEvidence()
        upper = np.cumsum(np.exp(log_joint - total).ravel())
        draws = uniform[:, 0] if graph.names else np.zeros(len(uniform))
        cells = np.searchsorted(upper, draws * upper[-1], side="right")
        free = free_variables(graph, evidence)
        codes = np.unravel_index(cells, log_joint.shape) if free else ()
        drawn = dict(zip(free, codes, strict=True))
        known = {name: np.full(len(uniform), code) for name, code in evidence.codes.items()}
        return {name: (drawn | known)[name] for name in graph.names}


def free_variables(graph: "FactorGraph", evidence: GraphEvidence) -> tuple[str, ...]:
    """The variables that were not observed, in the order of the graph."""
    return tuple(name for name in graph.names if name not in evidence.codes)


def log_joint_table(graph: "FactorGraph", evidence: GraphEvidence, memory: int | None) -> Array:
    """log F(x, e) over the variables that were not observed, one axis for each."""
    free = free_variables(graph, evidence)
    shape = tuple(graph.variable(name).n_states for name in free)
    needed = 3 * 8 * prod(map(float, shape))  # inf, where it is beyond float64
    limit = memory_limit(memory)
    if needed > limit:
        raise GraphTooLarge(
            f"Enumerating {len(free)} variables", needed, limit, "Use method='junction-tree'."
        )
    if len(free) > MOST_AXES:
        raise InvalidInput(
            f"{len(free)} variables were to be enumerated; at most {MOST_AXES} have a table. Use "
            "method='junction-tree'."
        )
    axis = {name: i for i, name in enumerate(free)}
    total = np.zeros(shape)
    for factor in graph.factors:
        part = factor.given(evidence.codes)
        total = total + spread(part.log_table, [axis[name] for name in part.scope], len(free))
    for name, likelihood in evidence.soft.items():
        with np.errstate(divide="ignore"):
            log_likelihood = np.log(likelihood)
        if name in evidence.codes:
            total = total + log_likelihood[evidence.codes[name]]
        else:
            total = total + spread(log_likelihood, [axis[name]], len(free))
    return np.asarray(total)


def spread(table: Array, axes: list[int], n_axes: int) -> Array:
    """A table with its axes at the positions ``axes`` of ``n_axes``, for broadcasting."""
    order = np.argsort(axes)
    shape = np.ones(n_axes, dtype=int)
    shape[np.array(axes, dtype=int)] = table.shape
    return table.transpose(order).reshape(shape)


def _marginal(
    graph: "FactorGraph",
    probability: Array,
    free: tuple[str, ...],
    names: tuple[str, ...],
    codes: Mapping[str, int],
) -> Array:
    """The joint of ``names``, axes in that order; observed ones are point masses."""
    kept = [name for name in names if name not in codes]
    others = tuple(i for i, name in enumerate(free) if name not in kept)
    summed = probability.sum(axis=others)
    in_order = [name for name in free if name in kept]
    table = summed.transpose([in_order.index(name) for name in kept])
    return with_observed(graph, table, names, codes)


def with_observed(
    graph: "FactorGraph", table: Array, names: tuple[str, ...], codes: Mapping[str, int]
) -> Array:
    """A joint of free variables with the observed ones put in as point masses."""
    if not any(name in codes for name in names):
        return table
    full = np.zeros(tuple(graph.variable(name).n_states for name in names))
    full[tuple(codes.get(name, slice(None)) for name in names)] = table
    return full
