"""The specification of one predictor for one response: linear models, GLMs, logistic regression.

    θ̂ = argmin Σ_i w_i nll(y_i, b + x_iᵀβ + o_i) + Σ_j λ_j|β_j| + ½ Σ_j κ_j β_j²

The likelihood sees y and η, the design x, and the penalty one strength for each parameter.

A log-normal whose σ is estimated is least squares on the logarithms of y:

    ln y = b + xᵀβ + o + ε,   ε ~ N(0, σ²)        E[y | x] = exp(b + σ²/2 + xᵀβ + o)
    σ̂² = RSS/(n − p)                              log p(y) = log N(ln y; b + xᵀβ + o, σ²) − ln y

The intercept of a Gaussian model of ln y is moved by σ̂²/2.  b̂ and σ̂² are independent, so that its
variance is then var(b̂) + σ̂⁴/2(n − p).

References
----------
Zhou & Gao (1997), Confidence intervals for the log-normal mean, Statistics in Medicine 16 (Cox's
method).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from math import isfinite, sqrt
from typing import Any, final

import numpy as np

from likely._typing import Array
from likely.compute.executor import Executor
from likely.data.block import ArrayBlocks, Block, Blocks, MappedBlocks, checked
from likely.distributions.base import NamedForm
from likely.errors import InvalidInput
from likely.fitting.covariance import Dispersion, estimated_dispersion, infer
from likely.fitting.divergence import Divergence, separated_directions
from likely.fitting.driver import Begun, DesignRows, End, FitSettings, Specification
from likely.fitting.edge import (
    EVERYWHERE,
    EdgeOptimum,
    optimum_at_edge,
    steps_allowed,
    valid_start,
)
from likely.fitting.framing import (
    Framed,
    Framing,
    framed,
    mean_response,
    predictor_given,
    refuse_extreme_responses,
)
from likely.fitting.inference import Inference
from likely.fitting.problem import Problem, linear_problem
from likely.likelihoods.base import Likelihood
from likely.likelihoods.gaussian import Gaussian
from likely.likelihoods.log_normal import LEAST_SIGMA, LogNormal
from likely.links import Log
from likely.objectives.inference import (
    NullTotals,
    block_null,
    block_null_at,
    gaussian_log_likelihood,
    has_constant_variance,
)
from likely.objectives.linear import Packing, Total, weighted_sum
from likely.penalties.base import Penalty
from likely.solvers.choice import hessian_at
from likely.solvers.search_problem import Found

OF_LOGARITHMS = Gaussian().likelihood()
LARGEST_SQUARE = 700.0  # σ² beyond which e^{σ²}, the square of E[y] over the median, overflows


@final
@dataclass(frozen=True, eq=False)
class OnePredictor(Specification):
    """One likelihood and one predictor."""

    rows: DesignRows
    likelihood: Likelihood
    penalty: Callable[[Framing], Penalty]  # on the parameters of a framed design
    intercept: bool = True
    centre: bool = True  # whether the intercept is free, so that columns may be centred
    classes: bool = False  # whether coefficients are stored as those of the second of two classes
    student: bool = False  # whether tests are by Student's distribution
    given: Mapping[str, Any] | NamedForm | None = None  # weights to start from
    remedy: str = Specification.remedy

    @property
    def packing(self) -> Packing:
        d, n_constants = self.rows.blocks.n_features, int(self.intercept)
        if self.classes:
            return Packing((1, d), (1,), n_constants)
        return Packing((d,), (), n_constants)

    def problem(self, *, centre: bool = True) -> Problem:
        refuse_extreme_responses(self.rows.blocks)
        data = framed(
            self.valid_blocks(),
            self.rows.executor,
            names=self.rows.names,
            intercept=self.intercept,
            centre=centre and self.centre,
        )
        penalty = self.penalty(data.framing)
        problem = linear_problem(self.likelihood, penalty, data, self.rows.executor)
        return replace(problem, in_batches=self.likelihood.etas == EVERYWHERE)

    def valid_blocks(self) -> Blocks:
        """Blocks whose responses are valid: checked now for arrays, while reading for a file."""
        blocks = self.rows.blocks
        if isinstance(blocks, ArrayBlocks):
            self.likelihood.check(blocks.target)
            return blocks
        return checked(blocks, partial(_check_responses, self.likelihood))

    def begin(self, problem: Problem) -> Begun:
        start = self.start(problem.data)
        null = self.null(problem.data, start)
        known = self.likelihood.response.dispersion_is_known
        return Begun(problem.measured(null, dispersion_is_known=known), start)

    def start(self, data: Framed) -> Array:
        """The constant model, or 0 without an intercept; a valid θ where η is not valid there."""
        start, executor = np.zeros(data.framing.n_parameters), self.rows.executor
        eta = self.likelihood.eta_of_mean(np.asarray(mean_response(data.start, executor)))
        if data.framing.intercept:
            start[-1] = float(np.asarray(eta)) - _mean_offset(data)
        if self.likelihood.etas == EVERYWHERE:
            return start
        return valid_start(self.likelihood, start, float(np.asarray(eta)), data.blocks, executor)

    def null(self, data: Framed, start: Array) -> NullTotals:
        """The constant model on the rows to start from, or a valid one where that is not."""
        if self.likelihood.etas != EVERYWHERE:
            term = partial(block_null_at, self.likelihood, start)
        else:
            eta = float(start[-1]) if data.framing.intercept else 0.0
            term = partial(block_null, self.likelihood, eta)
        return self.rows.executor.sum(term, data.start)

    def last(self, problem: Problem, theta: Array | None) -> Array | None:
        framing = problem.data.framing
        if theta is None and self.given is not None:
            found: Array = predictor_given(self.given, framing)
        elif theta is None:
            return None
        else:
            found = framing.from_user(theta)
        return found if isfinite(problem.objective.value(found)) else None  # else of other rows

    def settings(self, problem: Problem, given: FitSettings) -> FitSettings:
        if self.likelihood.etas == EVERYWHERE:
            return given
        most = steps_allowed(problem, self.likelihood, given.solver, given.max_iter)
        return replace(given, max_iter=most)

    def edge(
        self, problem: Problem, found: Found, start: Array, settings: FitSettings
    ) -> EdgeOptimum | None:
        if self.likelihood.etas == EVERYWHERE:
            return None
        return optimum_at_edge(problem, self.likelihood, found, start, tol=settings.tol)

    def inference(self, problem: Problem, end: End, kind: str) -> Inference:
        found, framing = end.found, problem.data.framing
        penalty, at_kink = problem.penalty, problem.penalty.at_kink(found.theta)
        information = hessian_at(problem, found) - np.diag(penalty.curvature(found.theta))
        inference = infer(
            self.likelihood,
            found.theta,
            information,
            penalty.hessian_on(found.theta, np.arange(found.theta.size)),
            self.rows.names() + (("intercept",) if framing.intercept else ()),
            problem.data.blocks,
            self.rows.executor,
            standard_errors=kind,
            distribution="t" if self.student else "z",
            redundant=found.held,
            n_groups=self.rows.n_groups,
            jacobian=framing.jacobian(),
            intercept=framing.intercept,
            at_kink=at_kink,
            penalised=not penalty.free(found.theta.size).all(),
        )
        if end.infinite is not None:
            inference = self._without_separated(inference, problem, end.infinite)
        if end.edge is not None and end.edge.n_rows:
            inference = inference.without_errors(end.edge.n_rows)
        return inference

    def _without_separated(
        self, inference: Inference, problem: Problem, infinite: Divergence
    ) -> Inference:
        """Without robust errors where the responses are separated: the scores there are all 0.

        Those of the model are finite only because the search stopped, and so large that they show
        it.
        """
        if inference.covariance_kind in ("model", "quasi"):
            return inference
        data = problem.data
        along = separated_directions(
            self.likelihood, infinite.direction, data.blocks, problem.executor
        )
        return inference.without_errors_along(data.framing.jacobian() @ along)

    def dispersion(self, problem: Problem, found: Found, inference: Inference | None) -> Dispersion:
        """ψ, known from the inference or from a pass of its own."""
        if inference is not None:
            gaussian = has_constant_variance(self.likelihood)
            at_maximum = inference.deviance / inference.n if gaussian else inference.dispersion
            return Dispersion(inference.dispersion, at_maximum)
        objective, held = problem.objective, found.held
        return estimated_dispersion(self.likelihood, objective, found.theta, redundant=held)


def _check_responses(likelihood: Likelihood, block: Block) -> None:
    likelihood.check(block.target)


def _mean_offset(data: Framed) -> float:
    """The mean of the offsets of the rows to start from."""
    blocks = list(data.start)
    if blocks[0].offset is None:
        return 0.0
    return float(np.mean(np.concatenate([np.asarray(block.offset) for block in blocks])))


def estimates_sigma(likelihood: Likelihood, *, intercept: bool = True) -> bool:
    """Whether this is a log-normal whose σ is to be estimated: with the log and an intercept."""
    response = likelihood.response
    if not isinstance(response, LogNormal) or response.shape_is_known:
        return False
    if not isinstance(likelihood.link, Log):
        raise InvalidInput(
            f"The link {likelihood.link.name!r} was given with a log-normal response whose sigma "
            "is estimated, which needs the log link. Leave the link out, or give sigma: "
            "LogNormal(0.5)."
        )
    if not intercept:
        raise InvalidInput(
            "fit_intercept=False was given with a log-normal response whose sigma is estimated; "
            "ln E[y] then has the constant sigma²/2 in any case. Use fit_intercept=True, give "
            "sigma: LogNormal(0.5), or fit LinearRegression(fit_intercept=False) to ln y."
        )
    return True


def logarithms(blocks: Blocks) -> Blocks:
    """The blocks with ln y for y, which is above 0: checked now for arrays, else while reading."""
    if isinstance(blocks, ArrayBlocks):
        LogNormal().check(blocks.target)
        return replace(blocks, y=np.log(blocks.target))
    valid = checked(blocks, partial(_check_responses, LogNormal().likelihood()))
    return MappedBlocks(valid, _logarithms, blocks.n_features)


def _logarithms(block: Block) -> Block:
    return replace(block, y=np.log(block.target))


def estimated_sigma(square: float, name: str) -> float:
    """σ̂ from its square; refused where nothing is left to estimate it by, or where it is huge."""
    if not isfinite(square):
        raise InvalidInput(
            f"{name}: sigma of a log-normal response was to be estimated from as many rows as "
            "coefficients, or fewer; the mean of y depends on it. Give more rows or fewer columns, "
            "or sigma: LogNormal(0.5)."
        )
    if square > LARGEST_SQUARE:
        raise InvalidInput(
            f"{name}: the logarithms of y have a standard deviation of {sqrt(square):.3g} around "
            "the fit; the mean of such a log-normal is e^(sigma²/2) times its median, which is too "
            "large for double precision. Fit LinearRegression to ln y, or check the units of y."
        )
    return max(sqrt(square), LEAST_SIGMA)


def inference_of_amounts(
    found: Inference, sigma: float, blocks: Blocks, executor: Executor
) -> Inference:
    """The inference of y, from that of ln y, whose blocks are given.

    Deviances stay sums of squares of ln y.
    """
    theta, moved = found.theta.copy(), np.zeros((found.theta.size, 1))
    theta[-1] += sigma**2 / 2
    if found.df_residual > 0:
        moved[-1] = sigma**2 / sqrt(2 * found.df_residual)
    jacobian = float(executor.sum(_block_total, blocks).value)

    def log_likelihood(deviance: float) -> float:
        least = found.n * LEAST_SIGMA**2
        return gaussian_log_likelihood(found.n, max(deviance, least)) - jacobian

    return replace(
        found,
        theta=theta,
        covariance=found.covariance + moved @ moved.T,
        root=None if found.root is None else np.hstack([found.root, moved]),
        log_likelihood=log_likelihood(found.deviance),
        null_log_likelihood=log_likelihood(found.null_deviance),
        response=LogNormal.name,
    )


def _block_total(block: Block) -> Total:
    """Σ w ln y."""
    return Total(weighted_sum(block.weight, block.target))
