"""σ² and ψ without standard errors: the same as with them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from likely.compute.executor import Serial
from likely.data.block import ArrayBlocks
from likely.data.layouts.dense import Dense
from likely.data.layouts.intercept import Intercept
from likely.fitting.covariance import estimated_dispersion, infer
from likely.likelihoods.responses import likelihood_of
from likely.linear.regression import LinearRegression
from likely.objectives.linear import LinearObjective
from likely.penalties import ElasticNet

N, P = 60, 4


def problem(response, l1, l2):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, P))
    y = np.exp(0.3 * X[:, 0] + 0.4 * rng.normal(size=N))
    penalty = ElasticNet(np.append(np.full(P, l1), 0.0), np.append(np.full(P, l2), 0.0))
    blocks = ArrayBlocks(Intercept(Dense(X)), y)
    likelihood = likelihood_of(response, "log" if response == "gamma" else None)
    return likelihood, LinearObjective(likelihood, penalty, blocks, Serial())


@pytest.mark.parametrize("response", ["gaussian", "gamma"])
@pytest.mark.parametrize(("l1", "l2"), [(0.0, 0.0), (0.0, 5.0), (3.0, 0.0), (3.0, 5.0)])
def test_it_is_the_dispersion_that_inference_has(response, l1, l2):
    likelihood, objective = problem(response, l1, l2)
    theta = np.array([0.3, 0.0 if l1 else 0.1, -0.1, 0.05, 0.2])  # anywhere: no optimum is needed
    curvature = np.append(np.full(P, l2), 0.0)
    information = objective.second_order(theta).hessian - np.diag(curvature)
    whole = infer(
        likelihood,
        theta,
        information,
        curvature,
        "abcde",
        objective.blocks,
        Serial(),
        at_kink=objective.penalty_on.at_kink(theta),
    )
    assert_allclose(estimated_dispersion(likelihood, objective, theta).value, whole.dispersion)


def test_a_column_that_was_held_at_0_is_no_parameter():
    likelihood, objective = problem("gaussian", 0.0, 0.0)
    theta = np.array([0.3, 0.0, -0.1, 0.05, 0.2])
    all_free = estimated_dispersion(likelihood, objective, theta)
    held = estimated_dispersion(likelihood, objective, theta, redundant=(1,))
    assert held.at_maximum == all_free.at_maximum
    assert_allclose(held.value / all_free.value, (N - 5) / (N - 4))


def test_clustered_errors_are_the_sandwich_of_the_summed_scores():
    """(XᵀX)⁻¹ Σ_g u_g u_gᵀ (XᵀX)⁻¹ · G/(G − 1) · (n − 1)/(n − p), by hand."""
    rng = np.random.default_rng(0)
    x, group = rng.normal(size=(N, 2)), np.arange(N) % 7
    y = x[:, 0] + rng.normal(size=7)[group] + rng.normal(size=N)
    model = LinearRegression(standard_errors="clustered").fit(x, y, groups=group)
    X = np.column_stack([x, np.ones(N)])
    bread = np.linalg.inv(X.T @ X)
    residual = y - X @ (bread @ X.T @ y)
    u = np.stack([X[group == g].T @ residual[group == g] for g in range(7)])
    expected = bread @ (u.T @ u) @ bread * 7 / 6 * (N - 1) / (N - 3)
    assert_allclose(model.inference_.covariance, expected, rtol=1e-9)


def test_a_family_that_fixes_it_has_1():
    likelihood, objective = problem("poisson", 0.0, 0.0)
    assert estimated_dispersion(likelihood, objective, np.zeros(P + 1)).value == 1.0
