"""Least squares in closed form: three ways to the same line, and what each says of the columns."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

import likely
from likely.errors import InvalidInput, RedundantColumns
from likely.linear import regression
from likely.solvers.choice import CLOSED_FORMS


def data(seed=0, n=60, p=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, X @ np.linspace(1, -1, p) + 3 + rng.normal(size=n), rng.uniform(0.1, 2, n)


def line(model):
    return np.append(model.coef_, model.intercept_)


every = pytest.mark.parametrize("solver", CLOSED_FORMS)


@every
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("penalised", [True, False])
@pytest.mark.parametrize("l2", [0.0, 1.5])
def test_every_closed_form_solves_the_normal_equations(solver, intercept, penalised, l2):
    X, y, weight = data()
    model = likely.LinearRegression(
        l2=l2, solver=solver, fit_intercept=intercept, penalise_intercept=penalised
    ).fit(X, y, weight)
    A = np.column_stack([X, np.ones(60)]) if intercept else X
    ridge = np.full(A.shape[1], l2)
    if intercept and not penalised:
        ridge[-1] = 0
    expected = np.linalg.solve(A.T * weight @ A + np.diag(ridge), A.T @ (weight * y))
    found = line(model) if intercept else model.coef_
    assert_allclose(found, expected, rtol=1e-10)
    assert model.solution_.converged and model.solution_.gap == 0
    squares = np.sum(weight * (y - A @ expected) ** 2)
    assert_allclose(model.solution_.trace[-1], squares / 2 + np.sum(ridge * expected**2) / 2)


@pytest.mark.parametrize("strengths", [[0.0, 1.0, 5.0, 100.0], {"x1": 1.0, "x3": 100.0}])
def test_every_column_may_have_its_own_strength(strengths):
    """REG-5."""
    X, y, _ = data()
    model = likely.LinearRegression(l2=strengths).fit(X, y)
    K = np.diag([0, 1, 5, 100] if isinstance(strengths, list) else [0, 1, 0, 100])
    centred = X - X.mean(axis=0)
    assert_allclose(model.coef_, np.linalg.solve(centred.T @ centred + K, centred.T @ y))


def test_a_tiny_ridge_solves_what_least_squares_cannot():
    """REG-5: singular at l2 = 1e-8; REG-4: its limit is the pseudoinverse."""
    X, y, _ = data()
    doubled = np.column_stack([X, X[:, 0]])
    tiny = likely.LinearRegression(l2=1e-8).fit(doubled, y)
    shortest = likely.LinearRegression(solver="minimum-norm").fit(doubled, y)
    assert_allclose(line(tiny), line(shortest), atol=1e-6)


@pytest.mark.parametrize("shape", [(60, 4), (12, 30)])
def test_the_shortest_solution_is_that_of_the_pseudoinverse(shape):
    """REG-4, of the centred columns, and of all where there is no intercept."""
    X, y, _ = data(n=shape[0], p=shape[1])
    X[:, 1] = X[:, 0]
    model = likely.LinearRegression(solver="minimum-norm").fit(X, y)
    centred, rank = X - X.mean(axis=0), np.linalg.matrix_rank(X - X.mean(axis=0))
    assert_allclose(model.coef_, np.linalg.pinv(centred) @ (y - y.mean()), rtol=1e-8, atol=1e-10)
    assert model.rank_ == rank
    free = likely.LinearRegression(solver="minimum-norm", fit_intercept=False).fit(X, y)
    assert_allclose(free.coef_, np.linalg.pinv(X) @ y, rtol=1e-8, atol=1e-10)


@every
def test_rank_and_condition_are_those_of_columns_of_length_one(solver):
    X, y, _ = data()
    model = likely.LinearRegression(solver=solver).fit(X * [1, 1e3, 1, 1], y)
    centred = X - X.mean(axis=0)
    unit = centred / np.linalg.norm(centred, axis=0)
    assert model.rank_ == 4
    assert_allclose(model.condition_, np.linalg.cond(unit), rtol=0.5)  # of a factor, to its order


def test_columns_that_nearly_depend_are_solved_by_qr():
    """Exact to half the digits, where the normal equations keep none."""
    X, _, _ = data()
    X[:, 3] = X[:, 0] + 1e-6 * X[:, 3]
    y = X @ [1.0, 2.0, 3.0, 4.0]
    model = likely.LinearRegression().fit(X, y)
    assert "QR" in model.solution_.solver.upper()
    assert_allclose(model.coef_, [1, 2, 3, 4], rtol=1e-6)
    plain = likely.LinearRegression().fit(X[:, :3], y)
    assert "normal" in plain.solution_.solver


def test_sparse_rows_are_not_written_out_but_give_the_same():
    X, y, weight = data()
    X[X < 0.3] = 0
    for solver in CLOSED_FORMS:
        model = likely.LinearRegression(solver=solver, l2=0.1)
        dense = line(model.fit(X, y, weight))
        assert_allclose(line(model.fit(sparse.csr_array(X), y, weight)), dense, rtol=1e-10)


def test_a_lasso_has_no_closed_form():
    X, y, _ = data()
    with pytest.raises(InvalidInput, match=r"solver='qr' was given with l1 > 0.*Use solver='auto'"):
        likely.LinearRegression(l1=1.0, solver="qr").fit(X, y)


def test_redundant_columns_are_named_unless_the_shortest_solution_was_asked_for():
    X, y, _ = data()
    doubled = np.column_stack([X, X[:, 0] - X[:, 1]])
    with pytest.warns(RedundantColumns, match="'x4' can be computed from other columns"):
        warned = likely.LinearRegression().fit(doubled, y)
    silent = likely.LinearRegression(solver="minimum-norm").fit(doubled, y)
    assert_allclose(warned.predict(doubled), silent.predict(doubled), rtol=1e-9)


def test_one_pass_is_enough_for_the_coefficients():
    X, y, _ = data()
    passes = likely.LinearRegression(standard_errors=None).fit(X, y).solution_.passes
    assert passes <= 3  # the centre, the response's mean, the sums
    assert (
        likely.LinearRegression(standard_errors=None, solver="qr").fit(X, y).solution_.passes
        > passes
    )


def test_as_many_parameters_as_rows_leave_no_variance():
    X, y, _ = data(n=5)
    assert np.isnan(likely.LinearRegression().fit(X, y).dispersion_)


@every
@pytest.mark.parametrize("value", [0.3, 7.0, 1e9 / 3])
def test_a_constant_column_is_left_out_and_the_rest_has_errors(solver, value):
    """Whether it is a binary fraction or not; the intercept's error too."""
    X, y, weight = data()
    beside = np.column_stack([X[:, :2], np.full(60, value), X[:, 2:]])
    if solver == "minimum-norm":
        model = likely.LinearRegression(solver=solver).fit(beside, y, weight)
    else:
        with pytest.warns(RedundantColumns, match="'x2' can be computed"):
            model = likely.LinearRegression(solver=solver).fit(beside, y, weight)
    without = likely.LinearRegression(solver=solver).fit(X, y, weight)
    assert model.coef_[2] == 0 and model.rank_ == 4
    assert model.inference_.df_residual == without.inference_.df_residual
    errors = model.inference_.standard_errors
    assert np.isnan(errors[2])
    assert_allclose(np.delete(errors, 2), without.inference_.standard_errors, rtol=1e-8)
    assert_allclose(model.inference_.aic, without.inference_.aic)


@every
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("widest", [1.0, 1e3, 1e8])
def test_no_solver_misses_a_constant_among_weights_and_scales(solver, seed, widest):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 6)) * np.geomspace(1 / widest, widest, 6)
    X[:, seed % 6] = rng.choice([0.1, 1 / 3, 7e5 / 9])
    y, weight = rng.normal(size=80), rng.uniform(0.1, 3.0, 80)
    model = likely.LinearRegression(solver=solver)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y, weight)
    assert model.rank_ == 5
    assert model.coef_[seed % 6] == 0
    named = [f"'x{seed % 6}' can be computed" in str(each.message) for each in caught]
    assert named == ([] if solver == "minimum-norm" else [True])


@every
@pytest.mark.parametrize("value", [0.3, 1 / 3, 7.0, 123456.789])
def test_a_constant_among_sparse_columns_is_left_out(solver, value):
    """They are not centred, and a sum of equal numbers is not their product."""
    X, y, weight = data(n=200)
    beside = sparse.csr_array(np.column_stack([X, np.full(200, value)]))
    for how_often in (None, weight):
        model = likely.LinearRegression(solver=solver)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(beside, y, how_often)
        assert model.coef_[4] == 0 and model.rank_ == 4
        named = ["'x4' can be computed" in str(each.message) for each in caught]
        assert named == ([] if solver == "minimum-norm" else [True])
        plain = likely.LinearRegression().fit(X, y, how_often)
        assert_allclose(model.coef_[:4], plain.coef_, rtol=1e-10)


@every
@pytest.mark.parametrize(("far", "rtol"), [(1e3, 1e-12), (1e5, 1e-8), (1e7, 1e-8)])
def test_sparse_columns_far_from_0_have_the_coefficients_of_dense_ones(solver, far, rtol):
    """The dense ones are centred before anything is multiplied."""
    X, y, weight = data(n=200)
    X[:, 1] += far
    plain = likely.LinearRegression(solver="qr").fit(X, y, weight)
    model = likely.LinearRegression(solver=solver).fit(sparse.csr_array(X), y, weight)
    assert_allclose(model.coef_, plain.coef_, rtol=rtol)
    errors = model.inference_.standard_errors[:4]
    assert_allclose(errors, plain.inference_.standard_errors[:4], rtol=max(rtol, 1e-6))


@pytest.mark.parametrize("solver", ["auto", "qr", "normal-equations"])
@pytest.mark.parametrize("distance", [1e-3, 1e-5, 1e-7, 1e-9])
def test_the_normal_equations_lose_no_column_that_qr_keeps(solver, distance):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 3))
    X[:, 2] = X[:, 0] + distance * X[:, 2]
    y = X @ [1.0, 2.0, 3.0] + 4
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = likely.LinearRegression(solver=solver).fit(X, y)
    assert model.rank_ == 3
    assert_allclose(model.coef_, [1, 2, 3], rtol=1e-15 / distance + 1e-12)
    assert not any("can be computed" in str(each.message) for each in caught)


@every
def test_what_dependent_columns_leave_of_the_intercept_is_said(solver):
    """x and 2x move no intercept, x and 2x + 5 do."""
    X, y, _ = data()
    x = X[:, :1] + 3
    settings = {"solver": "minimum-norm"} if solver == "minimum-norm" else {"solver": solver}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RedundantColumns)
        known = likely.LinearRegression(**settings).fit(np.hstack([x, 2 * x]), y)
        unknown = likely.LinearRegression(**settings).fit(np.hstack([x, 2 * x + 5]), y)
    alone = likely.LinearRegression().fit(x, y)
    errors = known.inference_.standard_errors
    assert np.isnan(errors[:2]).all()
    assert_allclose(errors[2], alone.inference_.standard_errors[1], rtol=1e-6)
    assert np.isnan(unknown.inference_.standard_errors).all()
    for model in (known, unknown):
        assert model.inference_.df_residual == alone.inference_.df_residual
        assert_allclose(model.dispersion_, alone.dispersion_)


@pytest.mark.parametrize("solver", ["auto", "qr", "normal-equations"])
@pytest.mark.parametrize("copy", [lambda far: far + 1.1, lambda far: 1.1 * far])
def test_copies_that_rounding_alone_tells_apart_are_redundant(copy, solver):
    """Of 1e6 + x, plus a constant or times one: they differ by ulps."""
    X, y, _ = data()
    far = X[:, :1] + 1e6
    with pytest.warns(RedundantColumns, match="can be computed"):
        model = likely.LinearRegression(solver=solver).fit(np.hstack([far, copy(far)]), y)
    assert model.rank_ == 1


def test_large_whole_numbers_are_no_constants():
    X, y, _ = data()
    far = np.column_stack([1e15 + np.arange(60), X])
    near = np.column_stack([np.arange(60), X])
    model, other = likely.LinearRegression().fit(far, y), likely.LinearRegression().fit(near, y)
    assert_allclose(model.coef_, other.coef_, rtol=1e-8)


def test_many_rows_are_refined_in_doubles():
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=(2, 60_000))
    X = np.column_stack([x, x + 1e-3 * z])
    model = likely.LinearRegression().fit(X, X @ [1.0, 2.0] + 3)
    assert "normal" in model.solution_.solver and model.condition_ > 1000
    assert_allclose(model.coef_, [1, 2], rtol=1e-11)
    assert_allclose(model.intercept_, 3, rtol=1e-11)


@pytest.mark.parametrize("value", [0.0, 3.7, 1e9 / 3])
def test_a_perfect_fit_has_an_infinite_log_likelihood(value):
    """By the summary, of the rows and of each row; a row beside the line is impossible."""
    X, _, _ = data()
    y = np.full(60, value)
    model = likely.LinearRegression().fit(X, y)
    assert model.ml_dispersion_ == 0
    assert model.inference_.log_likelihood == np.inf == model.log_likelihood(X, y)
    each = model.log_likelihoods(X, np.append(y[:-1], value + 1))
    assert (each[:-1] == np.inf).all() and each[-1] == -np.inf


@every
@pytest.mark.parametrize("size", [1e300, 1e-300])
def test_weights_of_any_size_have_the_same_coefficients(solver, size):
    """Warnings, of overflow too, are errors here."""
    X, y, weight = data()
    model = likely.LinearRegression(solver=solver).fit(X, y, size * weight)
    usual = likely.LinearRegression(solver=solver).fit(X, y, weight)
    assert_allclose(line(model), line(usual), rtol=1e-10)
    with pytest.raises(InvalidInput, match="Divide the columns, the responses or the weights"):
        likely.LinearRegression(solver=solver).fit(X, 1e100 * y, 1e300 * weight)


def test_a_nearly_dependent_column_is_named_by_the_shortest_solution_too():
    X, y, _ = data()
    X[:, 3] = X[:, 0] + 1e-10 * X[:, 3]
    with pytest.warns(RedundantColumns, match="'x3' can nearly be computed"):
        likely.LinearRegression(solver="minimum-norm").fit(X, y)


def nested(n=4000):
    """A time made from two columns, and towns within counties: 9 columns depend on others."""
    rng = np.random.default_rng(0)
    town = rng.integers(0, 40, n)
    hour, minute = rng.integers(0, 24, n), rng.integers(0, 60, n)
    frame = pd.DataFrame({"hour": hour, "minute": minute, "time": 100 * hour + minute})
    frame["town"] = [f"town {k:02d}" for k in town]
    frame["county"] = [f"county {k // 5}" for k in town]
    frame["same"] = 7.0
    return frame, 0.1 * hour + rng.normal(size=40)[town] + rng.normal(size=n)


def test_dependent_columns_of_a_large_table_have_the_answer_of_a_qr_factor(monkeypatch):
    X, y = nested()
    with pytest.warns(RedundantColumns) as by_qr:
        slow = likely.LinearRegression().fit(X, y)
    monkeypatch.setattr(regression, "MOST_FOR_QR", 0.0)
    monkeypatch.setattr(regression, "solve_qr", None)  # is not asked
    with pytest.warns(RedundantColumns) as by_pivots:
        fast = likely.LinearRegression().fit(X, y)
    assert str(by_qr[0].message) == str(by_pivots[0].message)
    assert (fast.rank_, fast.solution_.solver) == (slow.rank_, slow.solution_.solver)
    assert_allclose(fast.coef_, slow.coef_, rtol=0, atol=1e-10)
    assert_allclose(fast.predict_interval(X), slow.predict_interval(X), rtol=1e-9)
    assert str(fast.summary()) == str(slow.summary())


def test_columns_that_are_nearly_dependent_are_not_called_dependent_in_a_large_table(monkeypatch):
    X, y = nested()
    X["nearly"] = X["hour"] + 1e-6 * np.random.default_rng(1).normal(size=len(X))
    with pytest.warns(RedundantColumns):
        slow = likely.LinearRegression().fit(X, y)
    monkeypatch.setattr(regression, "MOST_FOR_QR", 0.0)
    with pytest.warns(RedundantColumns):
        fast = likely.LinearRegression().fit(X, y)
    assert fast.rank_ == slow.rank_
    assert_allclose(fast.predict(X), slow.predict(X), rtol=1e-9)
