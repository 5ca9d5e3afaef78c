"""Standard errors where an example has several predictors: classes, labels or thresholds.

    H = Σ w_i X_iᵀC_iX_i        P = the curvature of the penalty        B = (H + P)⁻¹
    C = B H B                   "model": H⁻¹ without a penalty
      = B M B                   "HC0"–"HC3", "clustered": M is computed from the observed scores

H is the observed information, which for softmax is also the expected one.  The dispersion is 1.

A vector added to the weights of all classes changes no probability.  Where neither a reference
class nor an L1 penalty determines them, the weights of a column sum to 0 over the classes, and so
do their errors: P has a part τ 11ᵀ/K on each such column, in the one direction where H is 0, which
makes H + P regular and leaves C as it is.

References
----------
Agresti, Categorical Data Analysis, 3rd ed., §8.1 and §8.2.  White (1982), Maximum likelihood
estimation of misspecified models, Econometrica 50 (C = B M B).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import nan
from typing import Any, final

import numpy as np
from scipy.special import xlogy

from likely._typing import Array
from likely.errors import UnknownName
from likely.fitting.covariance import (
    COVARIANCES,
    EXPONENTS,
    Bread,
)
from likely.fitting.inference import Inference
from likely.objectives.inference import Term, block_several
from likely.objectives.maxent import MaxEntropyObjective
from likely.objectives.ordinal import OrdinalObjective
from likely.objectives.scores import block_scores_meat, block_scores_of_clusters
from likely.objectives.softmax import SoftmaxObjective, block_class_weight
from likely.solvers.base import SecondOrder

KINDS = tuple(kind for kind in COVARIANCES if kind != "quasi")  # there is no dispersion


@final
@dataclass(frozen=True, eq=False)
class ClassEstimate:
    """The end of a search, in the parameters of its objective, and which of them are free."""

    objective: SoftmaxObjective | OrdinalObjective | MaxEntropyObjective
    n_classes: int
    theta: Array  # (p,)
    names: Sequence[str]
    jacobian: Array  # of the user's parameters by θ, (p, p)
    held: tuple[int, ...] = ()  # at 0: other columns make them up
    infinite: tuple[int, ...] = ()  # the optimum is at infinity along them
    shift: Array | None = None  # (p, p): ones where the classes of a column may be shifted
    constants: tuple[int, ...] = ()  # intercepts or thresholds
    known: tuple[SecondOrder, Array] | None = None  # what ``_information`` would compute


def check_kind(kind: str | None) -> None:
    """Refuse an unknown kind of standard errors for classes."""
    if kind is not None and kind not in KINDS:
        raise UnknownName("kind of standard errors", kind, KINDS)


def infer_classes(estimate: ClassEstimate, kind: str) -> Inference:
    """The inference at an estimate: a pass for the information, and one for robust errors."""
    objective, theta = estimate.objective, estimate.theta
    penalty = objective.penalty_on
    curvature = penalty.hessian_on(theta, np.arange(theta.size))
    here, count = _information(estimate)
    held = np.isin(np.arange(theta.size), list(estimate.held))
    excluded = penalty.at_kink(theta) & ~held
    ridge = _with_shift(here.hessian, curvature, estimate.shift)
    bread = Bread.of(here.hessian, ridge, ~held & ~excluded)
    meat = _meat(estimate, bread, kind)
    n = float(count.sum())
    n_parameters = bread.n_parameters  # a trace, with rounding errors from the shift
    n_parameters = n_parameters if curvature.any() else float(round(n_parameters))
    covariance = bread.covariance(bread.spread(kind, meat, n=n, dispersion=1.0), estimate.jacobian)
    infinite = (estimate.jacobian[:, list(estimate.infinite)] != 0).any(axis=1)
    covariance[infinite] = covariance[:, infinite] = np.nan
    null = float(xlogy(count, count / n).sum())
    return Inference(
        theta=np.dot(estimate.jacobian, theta),
        covariance=covariance,
        names=tuple(estimate.names),
        dispersion=1.0,
        dispersion_is_known=True,
        n=n,
        n_parameters=n_parameters,
        df_residual=n - n_parameters,
        log_likelihood=-here.value,
        null_log_likelihood=null,
        deviance=2 * here.value,
        null_deviance=-2 * null,
        pearson=float("nan"),
        largest_eta=float("nan"),
        covariance_kind=kind,
        distribution="t" if kind == "clustered" else "z",
        n_clusters=meat.codes.size if kind == "clustered" else None,
        penalised=not penalty.free(theta.size).all(),
        redundant=tuple(int(j) for j in estimate.held),
        excluded=tuple(np.flatnonzero(excluded).tolist()),
        response="classes",
        n_null=estimate.n_classes - 1.0 if estimate.constants else nan,
        constants=estimate.constants,
    )


def shift_of_classes(n_classes: int, columns: Array) -> Array:
    """Ones between the weights of all classes on each of these columns, a mask; (Kp, Kp)."""
    return np.kron(np.ones((n_classes, n_classes)), np.diag(columns.astype(float)))


def _with_shift(information: Array, curvature: Array, shift: Array | None) -> Array:
    """P, with a part as large as the information where the classes may be shifted."""
    if shift is None:
        return curvature
    together = shift.sum(axis=1)  # K, or 0 where nothing is shifted
    share = np.divide(1.0, together, out=np.zeros(len(shift)), where=together > 0)
    size = share * np.dot(shift, np.diag(information))  # one number for all classes of a column
    size = np.where(size > 0, size, 1.0)
    return np.asarray(curvature + shift * (share * size))


def _information(estimate: ClassEstimate) -> tuple[SecondOrder, Array]:
    """The negative log-likelihood and its derivatives, and the weight of each class."""
    if estimate.known is not None:
        return estimate.known
    objective = estimate.objective
    terms: tuple[Term, ...] = (
        partial(objective.terms.second_order, estimate.theta),
        partial(block_class_weight, estimate.n_classes),
    )
    here, count = objective.executor.sum(partial(block_several, terms), objective.blocks).parts
    return here, np.asarray(count.value)


def _meat(estimate: ClassEstimate, bread: Bread, kind: str) -> Any:
    """The robust part from the scores; None where only the information is needed."""
    if kind == "model":
        return None
    objective, theta = estimate.objective, estimate.theta
    term: Term = partial(block_scores_of_clusters, objective.scoring, theta)
    if kind != "clustered":
        exponent = EXPONENTS[kind]
        term = partial(block_scores_meat, objective.scoring, theta, bread.root, exponent)
    return objective.executor.sum(term, objective.blocks)
