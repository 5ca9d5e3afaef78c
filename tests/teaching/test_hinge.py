"""Training with the hinge: against the support vector machine, with a gap that holds."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from sklearn.svm import SVC

from likely.differences import check_gradient
from likely.solvers import LBFGS, GradientDescent, minimise
from likely.solvers.stopping import Iterations
from likely.teaching import Smoothing, loss_objective
from likely.teaching.hinge import SoftHinge


def some_data(seed, n=120, d=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X[:, 0] - X[:, 1] + 0.8 * rng.normal(size=n) > 0.2).astype(float)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("l2", [0.01, 0.3, 10.0])
def test_smoothing_reaches_the_support_vector_machine(seed, l2):
    """C = 1/l2; libsvm itself stops at about 1e-8 of the optimum with this tolerance."""
    X, y = some_data(seed)
    objective = loss_objective(X, y, loss="hinge", l2=l2)
    found = minimise(Smoothing(), objective, np.zeros(4), tol=1e-8)
    theirs = SVC(kernel="linear", C=1 / l2, tol=1e-10).fit(X, y)
    best = objective.value(np.append(theirs.coef_[0], theirs.intercept_))
    assert found.converged
    assert found.gap <= 1e-8
    assert found.trace[-1] <= best * (1 + 1e-8)
    assert_allclose(found.theta[:-1], theirs.coef_[0], atol=1e-3)


@pytest.mark.parametrize("solver", [LBFGS(), GradientDescent()])
@pytest.mark.parametrize("seed", range(4))
def test_the_gap_of_a_smooth_solver_is_never_less_than_the_truth(solver, seed):
    objective = loss_objective(*some_data(seed), loss="hinge", l2=0.3)
    found = minimise(solver, objective, np.zeros(4), max_iter=201, stop=Iterations(200))
    best = minimise(Smoothing(), objective, np.zeros(4), tol=1e-9).trace[-1]
    above = (found.trace[-1] - best) / max(1.0, found.trace[-1])
    assert found.gap >= above - 1e-9
    assert found.converged == (found.gap <= 1e-10)


def test_the_zero_one_loss_and_a_hinge_without_a_ridge_are_never_certified():
    X, y = some_data(0)
    for options in ({"loss": "zero-one"}, {"loss": "hinge", "l2": 0.0}):
        objective = loss_objective(X, y, **options)
        found = minimise(LBFGS(), objective, np.ones(4), stop=Iterations(50))
        assert not found.converged
        assert found.gap == np.inf


def test_the_bound_holds_wherever_it_is_asked_for():
    """The primal as a general optimiser has it, and the gap at points far from it."""
    X, y = some_data(1, n=40)
    objective = loss_objective(X, y, loss="hinge", l2=1.0)
    best = minimise(Smoothing(), objective, np.zeros(4), tol=1e-9)
    nelder = minimize(objective.value, best.theta + 0.1, method="Nelder-Mead",
                      options={"maxiter": 20_000, "maxfev": 20_000, "fatol": 1e-12})  # fmt: skip
    assert best.trace[-1] <= nelder.fun + 1e-6
    for theta in np.random.default_rng(0).normal(size=(20, 4)):
        assert objective.gap(theta) >= objective.value(theta) - best.trace[-1] - 1e-8


def test_the_soft_hinge_is_smooth_and_above_the_hinge():
    m = np.linspace(-2, 3, 41)
    for width in (1.0, 0.1, 1e-3):
        soft = SoftHinge(width)
        above = soft.value(m) - np.maximum(0, 1 - m)
        assert (above >= 0).all() and (above <= width * np.log(2) + 1e-15).all()
    soft = SoftHinge(0.3)
    assert check_gradient(lambda t: soft.value(t).sum(), soft.slope, m) < 1e-6
    assert check_gradient(lambda t: soft.slope(t).sum(), soft.curvature, m) < 1e-6
