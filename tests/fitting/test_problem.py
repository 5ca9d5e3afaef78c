"""Which solver a model gets, and that all of them end at the same place."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning

import likely
from likely.compute.executor import Serial
from likely.data.block import ArrayBlocks
from likely.data.layouts.dense import Dense
from likely.errors import InvalidInput, UnknownName, UnsupportedAccess
from likely.fitting.framing import framed
from likely.fitting.problem import linear_problem
from likely.likelihoods import likelihood_of
from likely.penalties import L2, ElasticNet, Group, NoPenalty
from likely.solvers import choice
from likely.solvers.choice import (
    CLOSED_FORMS,
    SOLVERS,
    Pulled,
    choose,
    solve,
    start_on_some_rows,
)

TIGHT, ROOT = 1e-13, 2e-6  # a gap of TIGHT leaves its root, times a few, of a coefficient
EXACT = [name for name, entry in SOLVERS.items() if entry.exact]
CORNERS = [name for name in EXACT if not SOLVERS[name].smooth_only]
SMOOTH = [name for name, entry in SOLVERS.items() if entry.smooth_only]
DUAL = "dual-coordinate-descent"  # for the logit with a ridge alone


def data(seed=0, n=150):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    eta = X @ np.array([0.8, -0.4, 0.0, 0.1])
    return X, eta, rng


def count():
    X, eta, rng = data()
    return X, rng.poisson(np.exp(eta)).astype(float)


def two():
    X, eta, rng = data()
    return X, (eta + rng.logistic(size=len(eta)) > 0).astype(int)


def real():
    X, eta, rng = data()
    return X, eta + rng.normal(size=len(eta)) + 5


def options(solver):
    return {"solver": solver, "tol": TIGHT, "max_iter": 20_000}


PROBLEMS = {
    "linear": (lambda **o: likely.LinearRegression(**o), real),
    "poisson": (lambda **o: likely.GLM("poisson", **o), count),
    "logistic": (lambda **o: likely.LogisticRegression(**{"l2": 0.0, **o}), two),
    "probit": (lambda **o: likely.LogisticRegression("probit", **{"l2": 0.0, **o}), two),
}
every = pytest.mark.parametrize("name", PROBLEMS)


def assert_same_line(one, other, tolerance=ROOT):
    assert_allclose(one.coef_, other.coef_, rtol=tolerance, atol=tolerance)
    assert_allclose(one.intercept_, other.intercept_, rtol=tolerance, atol=tolerance)


@every
@pytest.mark.parametrize("solver", EXACT)
@pytest.mark.parametrize("l2", [0.0, 2.0])
def test_all_solvers_agree_where_all_is_smooth(name, solver, l2):
    make, draw = PROBLEMS[name]
    X, y = draw()
    if solver == DUAL and (name != "logistic" or l2 == 0):
        with pytest.raises(UnsupportedAccess, match=r"needs .*the logit link, one l2 > 0"):
            make(l2=l2, **options(solver)).fit(X, y)
        return
    one, other = make(l2=l2, **options(solver)).fit(X, y), make(l2=l2, tol=TIGHT).fit(X, y)
    assert one.solution_.converged
    assert_same_line(one, other)


@pytest.mark.parametrize("solver", CLOSED_FORMS)
@pytest.mark.parametrize("l2", [0.0, 2.0])
def test_closed_forms_agree_with_the_searches(solver, l2):
    X, y = real()
    closed = likely.LinearRegression(l2=l2, solver=solver).fit(X, y)
    searched = likely.LinearRegression(l2=l2, solver="newton", tol=TIGHT).fit(X, y)
    assert_same_line(closed, searched, 1e-9)


@every
@pytest.mark.parametrize("solver", CORNERS)
def test_solvers_for_corners_agree_and_find_the_same_zeros(name, solver):
    make, draw = PROBLEMS[name]
    X, y = draw()
    penalty = {"l1": 14.0, "l2": 1.0}
    one, other = make(**penalty, **options(solver)).fit(X, y), make(**penalty, tol=TIGHT).fit(X, y)
    assert_same_line(one, other)
    assert (one.coef_ == 0).any()
    assert_allclose(one.coef_ == 0, other.coef_ == 0)


@pytest.mark.parametrize("solver", SMOOTH)
def test_solvers_without_corners_refuse_a_lasso(solver):
    X, y = count()
    with pytest.raises(InvalidInput, match=rf"solver='{solver}' needs a smooth.*proximal-newton"):
        likely.GLM("poisson", l1=1.0, solver=solver).fit(X, y)


def test_a_misspelt_solver_is_answered_with_the_nearest():
    X, y = count()
    with pytest.raises(UnknownName, match="Did you mean 'newton'"):
        likely.GLM("poisson", solver="newtn").fit(X, y)


@pytest.mark.parametrize(
    ("argument", "value"), [("tol", 0.0), ("tol", "tight"), ("max_iter", 0), ("max_iter", 2.5)]
)
def test_a_tolerance_and_a_limit_are_above_zero(argument, value):
    X, y = count()
    with pytest.raises(InvalidInput, match=rf"{argument} is .*must be.*Use"):
        likely.GLM("poisson", **{argument: value}).fit(X, y)


def problem(penalty, n=150):
    X, eta, rng = data(n=n)
    blocks = ArrayBlocks(Dense(X), rng.poisson(np.exp(eta)).astype(float))
    names = tuple("abcd")
    return linear_problem(
        likelihood_of("poisson"), penalty, framed(blocks, Serial(), names=lambda: names), Serial()
    )


@pytest.mark.parametrize(
    ("penalty", "most", "expected"),
    [
        (NoPenalty(), 5, "newton"),
        (L2(1.0), 4, "lbfgs"),
        (ElasticNet(1.0, 0.0), 5, "proximal-newton"),
        (ElasticNet(0.0, 1.0), 5, "newton"),
    ],
)
def test_the_solver_follows_the_penalty_and_the_shape(penalty, most, expected, monkeypatch):
    monkeypatch.setattr(choice, "MOST_FOR_NEWTON", most)
    assert choose(problem(penalty).shape) == expected


def test_a_search_says_which_solver_it_was():
    X, y = count()
    assert likely.GLM("poisson").fit(X, y).solution_.solver == "Newton"
    assert "roximal" in likely.GLM("poisson", l1=1.0).fit(X, y).solution_.solver


def test_with_very_many_coefficients_the_answer_is_the_same(monkeypatch):
    X, y = count()
    newton = likely.GLM("poisson", l2=1.0, tol=TIGHT).fit(X, y)
    monkeypatch.setattr(choice, "MOST_FOR_NEWTON", 3)
    other = likely.GLM("poisson", l2=1.0, tol=TIGHT).fit(X, y)
    assert other.solution_.solver != newton.solution_.solver
    assert_same_line(other, newton)


def test_newton_needs_few_steps_for_logistic_regression():
    """OPT-14: under 10 to a gradient of 1e-10; and one step solves least squares."""
    X, y = two()
    model = likely.LogisticRegression(l2=1.0, solver="newton", tol=1e-20).fit(X, y)
    assert model.solution_.n_iter < 10
    A = np.column_stack([X, np.ones(len(X))])
    theta = np.append(model.coef_, model.intercept_)
    gradient = A.T @ (1 / (1 + np.exp(-A @ theta)) - y) + np.append(theta[:-1], 0)
    assert np.abs(gradient).max() < 1e-10
    X, y = real()
    assert likely.LinearRegression(solver="newton").fit(X, y).solution_.n_iter <= 1


def test_the_pull_of_a_start_has_its_own_derivatives():
    quadratic = problem(L2(0.0)).objective
    start, strength = np.arange(5.0) / 10, np.arange(1.0, 6)
    pulled = Pulled(quadratic, start, strength)
    theta = np.full(5, 0.2)
    plain, there = quadratic.second_order(theta), pulled.second_order(theta)
    move = theta - start
    assert_allclose(there.value - plain.value, 0.5 * np.sum(strength * move**2))
    assert_allclose(there.gradient - plain.gradient, strength * move)
    assert_allclose(there.hessian - plain.hessian, np.diag(strength), rtol=1e-9, atol=1e-9)


def test_few_rows_are_all_the_start_there_is():
    small = problem(NoPenalty())
    start = np.ones(5)
    assert start_on_some_rows(small, start) is start


def test_a_start_on_some_rows_is_near_the_optimum_of_all():
    large = problem(NoPenalty(), n=25_000)
    assert large.data.share < 1
    start = start_on_some_rows(large, np.zeros(5))
    optimum = solve(large, np.zeros(5)).theta
    assert np.abs(start - optimum).max() < 0.15 < np.abs(optimum).max()


def test_rows_that_separate_at_the_start_do_not_spoil_the_end():
    """The first of each block have one class only: their optimum is at infinity."""
    n = 24_000
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    y = X[:, 0] + rng.logistic(size=n) > 0
    sizes = np.full(n, True)
    for block in ArrayBlocks(Dense(X)):
        sizes[block.start : block.start + block.n_rows // 10] = False
    y = np.where(sizes, y, X[:, 0] > 0)
    for link in ("logit", "cloglog"):
        model = likely.LogisticRegression(link, l2=0.0, tol=TIGHT).fit(X, y)
        order = rng.permutation(n)
        other = likely.LogisticRegression(link, l2=0.0, tol=TIGHT).fit(X[order], y[order])
        assert model.solution_.converged
        assert_same_line(model, other)


def test_running_out_of_steps_is_said_with_the_gap():
    X, y = two()
    with pytest.warns(ConvergenceWarning, match="max_iter=2 was reached with a gap of"):
        likely.LogisticRegression(l2=0.0, solver="gradient-descent", max_iter=2).fit(X, y)


def test_groups_are_for_proximal_newton_and_other_kinks_for_fista():
    grouped = problem(Group(np.array([0, 0, 1, 1, -1]))).shape
    assert choose(grouped) == "proximal-newton"
    assert choose(grouped._replace(groups=False)) == "fista"
    many = grouped._replace(n_predictors=3, n_parameters=9000)
    assert choose(many) == "fista"
    net = grouped._replace(n_parameters=9000, has_columns=True, corners=True)
    assert choose(net) == "proximal-newton"  # columns one at a time are not groups
    assert choose(net._replace(groups=False)) == "coordinate-descent"


def test_the_step_from_the_point_that_converged_is_taken():
    X, y = two()
    tight = likely.LogisticRegression(l2=1.0, tol=TIGHT).fit(X, y)
    loose = likely.LogisticRegression(l2=1.0, solver="newton", tol=1e-4, standard_errors=None).fit(
        X, y
    )
    assert loose.solution_.gap > 1e-8  # where it converged, coefficients were 1e-4 away or more
    assert_allclose(loose.coef_, tight.coef_, atol=1e-5)
