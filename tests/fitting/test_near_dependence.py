"""Columns that nearly depend on others: the right fit, or a true warning, in every linear model."""

import warnings
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.optimize import minimize

import likely
from benchmarks.near_collinear import MODELS, Case, cases, outcome
from likely.errors import InvalidInput, RedundantColumns, Separation

N = 200


def table(distance, seed=0):
    """x₁, x₂ and x₁ + δz, and the third column as it is in doubles, over δ."""
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=(N, 2)), rng.normal(size=N)
    third = x[:, 0] + distance * z
    eta = 0.3 + 0.5 * x[:, 0] + 0.7 * z
    return np.column_stack([x, third]), eta, rng


def extended_fit(X, y, family, n_steps=50):
    """θ and its errors by Newton's steps on columns that are orthogonal in extended precision."""
    A = np.column_stack([np.ones(len(y)), X]).astype(np.longdouble)
    Q, R = np.zeros_like(A), np.zeros((A.shape[1],) * 2, dtype=np.longdouble)
    for j, column in enumerate(A.T):
        rest = column.copy()
        for _ in range(2):
            along = Q[:, :j].T @ rest
            rest -= Q[:, :j] @ along
            R[:j, j] += along
        R[j, j] = np.sqrt(rest @ rest)
        Q[:, j] = rest / R[j, j]
    phi = np.zeros(A.shape[1], dtype=np.longdouble)
    for _ in range(n_steps):
        mean = 1 / (1 + np.exp(-(Q @ phi))) if family == "bernoulli" else np.exp(Q @ phi)
        curvature = mean * (1 - mean) if family == "bernoulli" else mean
        H = ((Q * curvature[:, None]).T @ Q).astype(float)
        phi += np.linalg.solve(H, (Q.T @ (y - mean)).astype(float))
    inverse = np.zeros_like(R)
    for j in range(len(R))[::-1]:
        inverse[j] = (np.eye(len(R))[j] - R[j, j + 1 :] @ inverse[j + 1 :]) / R[j, j]
    S = inverse.astype(float) @ np.linalg.inv(np.linalg.cholesky(H)).T
    order = [1, 2, 3, 0]
    return (inverse @ phi).astype(float)[order], np.linalg.norm(S, axis=1)[order]


@pytest.mark.parametrize("family", ["bernoulli", "poisson"])
@pytest.mark.parametrize("distance", [1e-2, 1e-5, 1e-6, 1e-8, 1e-10, 1e-12])
def test_estimates_and_errors_are_those_of_extended_precision(family, distance):
    """The error of a coefficient is a few ε/δ, as that of least squares by QR."""
    X, eta, rng = table(distance)
    draw = rng.binomial(1, 1 / (1 + np.exp(-eta))) if family == "bernoulli" else None
    y = rng.poisson(np.exp(eta)) if draw is None else draw
    theta, errors = extended_fit(X, y, family)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RedundantColumns)
        model = likely.GLM(family).fit(X, y)
    digits = 1e-10 + 1e-15 / distance
    assert (np.abs(np.append(model.coef_, model.intercept_) - theta) <= digits * errors).all()
    assert_allclose(model.inference_.standard_errors, errors, rtol=digits)


@pytest.mark.parametrize("distance", [1e-5, 1e-7])
def test_a_column_at_a_distance_of_1e_7_is_kept_without_a_warning(distance):
    """Warnings are errors here, and the likelihood is that of the columns x₁, x₂ and z."""
    X, eta, rng = table(distance)
    y = (rng.random(N) < 1 / (1 + np.exp(-eta))).astype(int)
    z = (X[:, 2] - X[:, 0]) / distance
    near = likely.LogisticRegression(l2=0.0).fit(X, y)
    plain = likely.LogisticRegression(l2=0.0).fit(np.column_stack([X[:, :2], z]), y)
    assert_allclose(near.inference_.log_likelihood, plain.inference_.log_likelihood, rtol=1e-9)
    assert_allclose(near.coef_[0, 2] * distance, plain.coef_[0, 2], rtol=1e-7)


def test_a_warning_says_how_many_digits_are_left():
    X, eta, rng = table(1e-10)
    message = r"'x2' can nearly be computed .*about 5 digits of the coefficients correct"
    with pytest.warns(RedundantColumns, match=message) as caught:
        likely.GLM("poisson").fit(X, rng.poisson(np.exp(eta)))
    assert len(caught) == 1


@pytest.mark.parametrize("solver", ["newton", "lbfgs", "proximal-newton"])
@pytest.mark.parametrize("name", ["logit", "softmax", "ordinal"])
def test_a_copy_is_redundant_by_every_solver(name, solver):
    X, eta, rng = table(0.0)
    model = MODELS[name]
    y = model.draw(eta[:120], rng)
    if name == "softmax" and solver == "proximal-newton":
        solver = "fista"
    with pytest.warns(RedundantColumns, match="'x2' can be computed"):
        fit = model.make(solver=solver).fit(X[:120], y)
    assert_allclose(np.atleast_2d(fit.coef_)[:, 2], 0, rtol=0, atol=1e-15)


@pytest.mark.parametrize("solver", ["newton", "lbfgs"])
@pytest.mark.parametrize("name", ["logit", "softmax", "ordinal"])
def test_sparse_columns_far_from_0_are_kept_as_dense_ones_are(name, solver):
    """Warnings are errors here."""
    X, eta, rng = table(1e-2)
    y, far = MODELS[name].draw(eta[:120], rng), X[:120] + np.array([1e6, 0, 1e6])
    dense = MODELS[name].make(solver=solver).fit(far, y)
    model = MODELS[name].make(solver=solver).fit(sparse.csr_array(far), y)
    assert_allclose(model.coef_, dense.coef_, rtol=1e-5)


@pytest.mark.parametrize("solver", ["newton", "lbfgs"])
@pytest.mark.parametrize("name", ["logit", "softmax", "ordinal"])
def test_a_constant_among_sparse_columns_is_left_out(name, solver):
    X, eta, rng = table(1.0)
    y = MODELS[name].draw(eta[:120], rng)
    beside = np.column_stack([X[:120], np.full(120, 0.3)])
    with pytest.warns(RedundantColumns, match="'x3' can be computed"):
        model = MODELS[name].make(solver=solver).fit(sparse.csr_array(beside), y)
    assert_allclose(np.atleast_2d(model.coef_)[:, 3], 0, rtol=0, atol=1e-15)


def test_separation_is_not_taken_for_dependence():
    x = np.random.default_rng(0).normal(size=(60, 2))
    with pytest.warns(Separation) as caught:
        likely.LogisticRegression(l2=0.0).fit(x, (x[:, 0] > 0).astype(int))
    assert [each.category for each in caught] == [Separation]


def test_files_have_the_same_fit_as_arrays(tmp_path):
    X, eta, rng = table(1e-8)
    y = rng.poisson(np.exp(eta))
    path = tmp_path / "rows.csv"
    rows = [",".join(map(repr, [*map(float, row), int(k)])) for row, k in zip(X, y, strict=True)]
    path.write_text("a,b,c,y\n" + "\n".join(rows) + "\n")
    with pytest.warns(RedundantColumns, match="can nearly"):
        whole = likely.GLM("poisson").fit(X, y)
    with pytest.warns(RedundantColumns, match="'c' can nearly"):
        file = likely.GLM("poisson").fit(str(path), "y")
    assert_allclose(file.coef_ * 1e-8, whole.coef_ * 1e-8, rtol=1e-6)


def test_a_warm_start_ends_at_the_same_estimate():
    X, eta, rng = table(1e-6)
    y = rng.poisson(np.exp(eta))
    model = likely.GLM("poisson", warm_start=True).fit(X, y)
    first = model.coef_
    assert_allclose(model.fit(X, y).coef_, first, rtol=1e-8)


def test_an_estimated_alpha_is_that_of_the_well_conditioned_columns():
    X, eta, rng = table(1e-8)
    y = rng.negative_binomial(2, 2 / (2 + np.exp(eta)))
    with pytest.warns(RedundantColumns, match="can nearly") as caught:
        near = likely.GLM("negative-binomial").fit(X, y)
    assert len(caught) == 1
    z = (X[:, 2] - X[:, 0]) / 1e-8
    plain = likely.GLM("negative-binomial").fit(np.column_stack([X[:, :2], z]), y)
    assert_allclose(near.inference_.alpha.alpha, plain.inference_.alpha.alpha, rtol=1e-6)


SOME = [
    Case("collinear", 1e-5, 1e8, 1e3, True),
    Case("collinear", 1e-9, 1e-8, 0.0, True),
    Case("collinear", 1e-15, 1.0, 0.0, False),
    Case("constant", 0.0, 1e8, 1.0, True),
    Case("constant", 1e-10, 1e-8, 1.0, False),
]
EXACT = {name: model.solvers[:2] for name, model in MODELS.items()}


@pytest.mark.parametrize("case", SOME, ids=str)
@pytest.mark.parametrize(("name", "solver"), [(n, s) for n, two in EXACT.items() for s in two])
def test_no_model_is_wrong_without_a_warning(name, solver, case):
    assert outcome(name, solver, case).verdict != "wrong"


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_no_model_is_wrong_in_any_case_with_any_solver(name):
    wrong = [
        (solver, str(case))
        for solver, case in product(MODELS[name].solvers, cases())
        if outcome(name, solver, case).verdict == "wrong"
    ]
    assert wrong == []


@pytest.mark.parametrize("scale", [1e-155, 1e-160, 1e-310])
@pytest.mark.parametrize("model", [likely.LinearRegression(), likely.GLM("poisson")])
def test_a_column_whose_squares_are_0_is_refused(model, scale):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), rng.poisson(2.0, 40).astype(float)
    with pytest.raises(InvalidInput, match=r"Column 'x1' holds numbers that differ .*Multiply it"):
        model.fit(X * [1, scale], y)
    with pytest.raises(InvalidInput, match="Column 'x1' holds numbers that differ"):
        model.fit(sparse.csr_array(X * [1, scale]), y)
    model.fit(np.where(np.arange(40)[:, None] < 3, X * [1, scale], X), y)
    few = likely.LinearRegression().fit(X * [1, 1e-140], y)
    assert_allclose(few.coef_ * [1, 1e-140], likely.LinearRegression().fit(X, y).coef_, rtol=1e-9)


@pytest.mark.parametrize("scale", [1e-4, 1e4])
@pytest.mark.parametrize("l1", [0.0, 2.0])
def test_fista_needs_no_more_steps_in_other_units(scale, l1):
    """The l1 of a column is in its units, so that both fits are the same model."""
    X, eta, rng = table(1.0)
    y = eta + rng.normal(size=N)
    units = np.array([1.0, scale, 1.0])
    how = {"solver": "fista", "standard_errors": None, "tol": 1e-12}
    plain = likely.LinearRegression(l1=l1, **how).fit(X, y)
    other = likely.LinearRegression(l1=l1 * units, **how).fit(X * units, y)
    assert other.solution_.n_iter <= plain.solution_.n_iter + 3
    assert_allclose(other.coef_ * units, plain.coef_, rtol=1e-5)


def test_a_search_by_columns_goes_on_from_where_it_ended():
    """Its last Newton steps start there, in the units of the search, which has centred columns."""
    z, x = np.random.default_rng(7).normal(size=(2, 120))
    y = (np.random.default_rng(11).random(120) < 1 / (1 + np.exp(-0.3 - 0.8 * z))).astype(int)
    for distance in 10.0 ** np.arange(-7.0, -5.0, 0.1):
        X = np.column_stack([x, 1.0 + distance * z])
        model = likely.LogisticRegression(l2=0.0, solver="coordinate-descent").fit(X, y)
        assert model.solution_.trace[-1] <= model.solution_.trace[0]


@pytest.mark.parametrize("distance", [1e-4, 1e-6, 1e-8])
def test_firth_tests_every_coefficient_of_nearly_dependent_columns(distance):
    """x₁ + δz has the coefficient 0 where z has, in the model with z instead of it."""
    X, eta, rng = table(distance)
    y = (rng.random(N) < 1 / (1 + np.exp(-eta))).astype(int)
    z = (X[:, 2] - X[:, 0]) / distance
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RedundantColumns)
        near = likely.LogisticRegression(l2=0.0, firth=True).fit(X, y).inference_
    plain = likely.LogisticRegression(l2=0.0, firth=True).fit(np.column_stack([X[:, :2], z]), y)
    wanted = plain.inference_.firth_ratios
    assert_allclose(near.firth_ratios[1:], wanted[1:], rtol=1e-5)
    assert np.isfinite(near.firth_ratios[0])


def test_firth_tests_the_intercept_of_the_columns_as_they_are():
    """Where the mean of the columns is not 0; by a general minimiser with the intercept at 0."""
    rng = np.random.default_rng(3)
    X = rng.normal([1.0, -2.0], size=(80, 2))
    y = (rng.random(80) < 1 / (1 + np.exp(0.5 - X[:, 0]))).astype(int)
    A = np.column_stack([X, np.ones(80)])

    def penalised(theta):
        eta = A @ theta
        p = 1 / (1 + np.exp(-eta))
        information = (A * (p * (1 - p))[:, None]).T @ A
        return np.sum(np.logaddexp(0, eta) - y * eta) - np.linalg.slogdet(information)[1] / 2

    free = minimize(penalised, np.zeros(3), method="BFGS", tol=1e-10).fun
    at_0 = minimize(lambda beta: penalised(np.append(beta, 0.0)), np.zeros(2), tol=1e-10).fun
    found = likely.LogisticRegression(l2=0.0, firth=True).fit(X, y).inference_.firth_ratios
    assert_allclose(found[-1], 2 * (at_0 - free), rtol=1e-6)


@pytest.mark.parametrize("solver", ["newton", "lbfgs"])
def test_a_column_whose_squares_are_0_is_refused_of_ordered_classes_too(solver):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), np.arange(40) % 3
    model = likely.OrdinalRegression(l2=0.0, solver=solver)
    with pytest.raises(InvalidInput, match=r"Column 'x1' holds numbers that differ .*Multiply it"):
        model.fit(X * [1, 1e-160], y)
    few, usual = (model.fit(X * [1, scale], y).coef_ for scale in (1e-140, 1.0))
    assert_allclose(few * [1, 1e-140], usual, rtol=1e-6)
