"""The driver of fits: designs from other rooms, names, models with a method of their own."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.interpolate import BSpline
from sklearn.linear_model import LogisticRegression as Reference

import likely
from likely.compute.executor import Serial
from likely.data.block import ArrayBlocks
from likely.data.layouts.dense import Dense
from likely.errors import InvalidInput, RedundantColumns, Separation
from likely.fitting.driver import DesignRows, FitSettings, at_reference, fit, given_fit
from likely.fitting.predictor import OnePredictor
from likely.likelihoods import likelihood_of
from likely.penalties import ElasticNet, NoPenalty


def design_rows(Z, y, names=None):
    labels = tuple(f"z{j}" for j in range(Z.shape[1])) if names is None else names
    return DesignRows(ArrayBlocks(Dense(np.ascontiguousarray(Z)), y), Serial(), lambda: labels)


def ridge(strength, framing):
    """The same ridge on every coefficient, and none on the intercept."""
    l2 = np.full(framing.n_parameters, strength)
    if framing.intercept:
        l2[-1] = 0.0
    return ElasticNet(np.zeros(framing.n_parameters), l2)


def free(framing):
    return NoPenalty()


def some_rows(seed=0, n=60):
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(-2, 2, n))
    return x, (rng.random(n) < 1 / (1 + np.exp(-2 * np.sin(2 * x)))).astype(float)


def test_a_factor_of_a_gram_matrix_is_a_kernel_machine():
    """With K = ZZᵀ and a ridge on β, η = Zβ = Kα, and ‖β‖² = αᵀKα: the representer theorem."""
    x, y = some_rows()
    K = np.exp(-((x[:, None] - x) ** 2))
    values, vectors = np.linalg.eigh(K)
    kept = values > 1e-10 * values.max()
    Z = vectors[:, kept] * np.sqrt(values[kept])
    specify = partial(
        OnePredictor, likelihood=likelihood_of("bernoulli"), penalty=partial(ridge, 0.5)
    )
    found = fit(specify, design_rows(Z, y), FitSettings("KernelLogistic", tol=1e-12))
    p = 1 / (1 + np.exp(-(Z @ found.coef + found.intercept)))
    alpha = np.linalg.lstsq(K, Z @ found.coef, rcond=1e-10)[0]
    assert_allclose(K @ (p - y) + 0.5 * (K @ alpha), 0.0, atol=1e-6)  # ∂/∂α
    assert abs((p - y).sum()) < 1e-6  # ∂/∂b
    assert found.solution.converged and found.inference is not None
    assert found.inference.n_parameters < 20  # of 60 rows, by the ridge
    theirs = Reference(C=2.0, tol=1e-10, max_iter=10_000).fit(Z, y)
    assert_allclose(found.coef, theirs.coef_[0], atol=1e-5)


def test_a_basis_of_splines_is_the_model_of_its_columns():
    x, _ = some_rows(1, 200)
    knots = np.r_[[-2.0] * 4, [-1.0, 0.0, 1.0], [2.0] * 4]
    B = BSpline.design_matrix(np.clip(x, -2, 2 - 1e-9), knots, 3).toarray()[:, 1:]
    names = tuple(f"s(x)[{j}]" for j in range(B.shape[1]))
    counts = np.random.default_rng(0).poisson(np.exp(np.sin(2 * x))).astype(float)
    specify = partial(OnePredictor, likelihood=likelihood_of("poisson"), penalty=free)
    found = fit(specify, design_rows(B, counts, names), FitSettings("Splines"))
    model = likely.GLM("poisson").fit(B, counts)
    assert_allclose(found.coef, model.coef_, rtol=1e-9)
    assert_allclose(float(found.intercept), model.intercept_, rtol=1e-9)
    assert found.inference is not None
    assert found.inference.names == (*names, "intercept")
    assert_allclose(found.inference.covariance, model.inference_.covariance, rtol=1e-7)
    assert found.dispersion == (1.0, 1.0)


def test_warnings_name_the_caller_and_its_columns():
    x = np.linspace(-1, 1, 40)
    Z, y = np.column_stack([x, 2 * x]), (x > 0).astype(float)
    specify = partial(OnePredictor, likelihood=likelihood_of("bernoulli"), penalty=free)
    rows = design_rows(Z, y, ("wide", "twice as wide"))
    with (
        pytest.warns(Separation, match=r"KernelLogistic: .* separated along 'wide'"),
        pytest.warns(RedundantColumns, match="KernelLogistic: 'twice as wide' can be computed"),
    ):
        found = fit(specify, rows, FitSettings("KernelLogistic"))
    assert found.separated


def test_invalid_responses_are_refused():
    specify = partial(OnePredictor, likelihood=likelihood_of("poisson"), penalty=free)
    rows = design_rows(np.ones((2, 1)), np.array([1.0, -1.0]))
    with pytest.raises(InvalidInput, match="poisson response must be"):
        fit(specify, rows, FitSettings("Counts"))


def test_clustered_errors_need_clusters():
    x, y = some_rows()
    specify = partial(OnePredictor, likelihood=likelihood_of("bernoulli"), penalty=free)
    settings = FitSettings("Counts", standard_errors="clustered")
    with pytest.raises(InvalidInput, match="needs two clusters"):
        fit(specify, design_rows(x[:, None], y), settings)


def test_a_search_starts_from_the_last_fit():
    x, y = some_rows()
    rows = design_rows(np.column_stack([x, x**2]), y)
    specify = partial(OnePredictor, likelihood=likelihood_of("bernoulli"), penalty=free)
    first = fit(specify, rows, FitSettings("Logistic", standard_errors=None))
    again = FitSettings("Logistic", standard_errors=None, last=first.solution.theta)
    second = fit(specify, rows, again)
    assert second.solution.n_iter < first.solution.n_iter
    assert_allclose(second.coef, first.coef, rtol=1e-5)
    other = FitSettings("Logistic", standard_errors=None, last=np.ones(7))  # of other columns
    assert fit(specify, rows, other).solution.n_iter == first.solution.n_iter


def test_given_parameters_are_stored_as_a_fit_is():
    x, y = some_rows()
    specification = OnePredictor(
        design_rows(x[:, None], y), likelihood_of("bernoulli"), free, classes=True
    )
    found = given_fit(specification, specification.problem(centre=False), np.array([2.0, -1.0]))
    assert_allclose(found.coef, [[2.0]])
    assert_allclose(found.intercept, [-1.0])
    assert not found.solution.converged and found.inference is None


def test_models_differ_in_their_specification_only():
    """One response, fitted as two classes by three specifications: the same model."""
    x, y = some_rows()
    X = np.column_stack([x, np.cos(x)])
    logistic = likely.LogisticRegression(l2=0.0).fit(X, y)
    softmax = likely.SoftmaxRegression(l2=0.0).fit(X, y)
    ordinal = likely.OrdinalRegression(l2=0.0).fit(X, y)
    assert_allclose(softmax.coef_, logistic.coef_, rtol=1e-6)
    assert_allclose(ordinal.coef_, logistic.coef_[0], rtol=1e-6)
    for other in (softmax, ordinal):
        assert_allclose(other.bse, logistic.bse, rtol=1e-5)


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
def test_a_reference_is_separated_where_all_other_levels_move_alike_at_any_scale(size):
    labels = ("town[Bonn]", "town[Ulm]", "age", "intercept")
    found = {
        moved: at_reference([("town", "Kiel")], labels, size * np.array(moved))
        for moved in [(1.0, 1.0, 0.0, -1.0), (1.0, 0.9, 0.0, -1.0), (1.0, 1.0, 0.5, -1.0)]
    }
    assert list(found.values()) == ["'town', at its reference 'Kiel'", "", ""]
    assert at_reference([("town", "Kiel")], labels, size * np.array([0.0, 0.0, 0.0, 1.0])) == ""
