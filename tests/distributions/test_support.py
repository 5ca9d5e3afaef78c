"""Log-densities inside, on the edge of and outside the support, against SciPy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse, stats

from likely.distributions import (
    EXPONENTIAL_FAMILIES,
    Bernoulli,
    Categorical,
    CategoricalFamily,
    DiagonalGaussian,
    Exponential,
    FullGaussian,
    JointTable,
    Laplace,
    Multinomial,
    Poisson,
    Product,
    fit,
)
from likely.distributions.exponential_family import ExponentialMember, categorical_family
from likely.distributions.product import Selection
from likely.errors import InvalidInput

VALUES = np.array([-np.inf, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 7.0, np.inf])
P = np.array([0.5, 0.3, 0.2])


def member_of(name, natural):
    return ExponentialMember(EXPONENTIAL_FAMILIES[name], np.array(natural).reshape(1, 1, -1))


CASES = {
    "bernoulli": (Bernoulli(np.array([[0.3]])), stats.bernoulli(0.3).logpmf),
    "poisson": (Poisson(np.array([[1.7]])), stats.poisson(1.7).logpmf),
    "poisson of rate 0": (Poisson(np.array([[0.0]])), stats.poisson(0.0).logpmf),
    "exponential": (Exponential(np.array([[2.5]])), stats.expon(scale=2.5).logpdf),
    "laplace": (Laplace(np.array([[1.0]]), np.array([[2.0]])), stats.laplace(1.0, 2.0).logpdf),
    "gaussian": (DiagonalGaussian(np.array([[1.0]]), np.array([[4.0]])), stats.norm(1, 2).logpdf),
    "full gaussian": (
        FullGaussian(np.array([[1.0]]), np.array([[[4.0]]])),
        stats.norm(1, 2).logpdf,
    ),
    "categorical": (
        Categorical.from_probability(P),
        lambda x: np.where(x == -1.0, 0.0, stats.rv_discrete(values=([0, 1, 2], P)).logpmf(x)),
    ),
    "any bernoulli": (member_of("bernoulli", [np.log(3 / 7)]), stats.bernoulli(0.3).logpmf),
    "any poisson": (member_of("poisson", [np.log(1.7)]), stats.poisson(1.7).logpmf),
    "any exponential": (member_of("exponential", [-0.4]), stats.expon(scale=2.5).logpdf),
    "any gaussian": (member_of("gaussian", [0.25, -0.125]), stats.norm(1, 2).logpdf),
    "any categorical": (
        ExponentialMember(categorical_family(3), np.log(P[None, None, :2] / P[2])),
        stats.rv_discrete(values=([0, 1, 2], P)).logpmf,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_log_density_is_that_of_scipy_inside_and_outside_the_support(name):
    member, expected = CASES[name]
    found = member.log_prob(VALUES[:, None])
    finite = np.isfinite(VALUES)
    assert_allclose(found[finite, 0], expected(VALUES[finite]), rtol=1e-12, atol=1e-14)
    assert_array_equal(found[~finite, 0], [-np.inf, -np.inf])  # where SciPy may warn, or say nan
    assert_array_equal(member.log_prob(VALUES.tolist()), found)  # a list, of one feature
    assert_array_equal(member.log_prob([[x] for x in VALUES]), found)


@pytest.mark.parametrize("name", CASES)
def test_a_missing_cell_is_summed_out_and_not_outside(name):
    member, _ = CASES[name]
    assert_array_equal(member.log_prob([[np.nan], [np.nan]]), np.zeros((2, 1)))


def test_counts_of_a_multinomial_are_those_of_scipy():
    member = Multinomial.from_probability([P, [0.2, 0.8, 0.0]])
    X = [[1, 0, 0], [0, 0, 0], [2, 3, 1], [1, 1, 0], [-1, 1, 1], [np.inf, 0, 0]]
    found = member.log_prob(X)
    for k, p in enumerate((P, [0.2, 0.8, 0.0])):
        counts = np.array(X[:4])
        assert_allclose(
            found[:4, k], stats.multinomial(counts.sum(axis=1), p).logpmf(counts), rtol=1e-12
        )
    assert_array_equal(found[4:], np.full((2, 2), -np.inf))


@pytest.mark.parametrize("name", ["bernoulli", "poisson", "exponential"])
def test_one_cell_outside_makes_the_row_impossible_also_of_a_sparse_array(name):
    member = {
        "bernoulli": Bernoulli(np.array([[0.3, 0.6], [0.5, 0.5]])),
        "poisson": Poisson(np.array([[1.0, 2.0], [3.0, 0.5]])),
        "exponential": Exponential(np.array([[1.0, 2.0], [3.0, 0.5]])),
    }[name]
    X = np.array([[1.0, 0.0], [1.0, -2.5], [0.0, 1.0], [0.0, 0.0]])
    found = member.log_prob(sparse.csr_array(X))
    assert_array_equal(np.isneginf(found), [[False, False], [True, True]] + [[False, False]] * 2)
    assert_allclose(found, member.log_prob(X), rtol=1e-14)


def test_a_product_and_a_full_table_have_the_support_of_their_parts():
    parts = Bernoulli(np.array([[0.3]])), Exponential(np.array([[2.0]]))
    columns = [Selection(coded=False, columns=(j,), features=(j,)) for j in (0, 1)]
    X = [[1.0, 0.5], [2.0, 0.5], [0.0, -1.0], [0.0, 0.0]]
    found = Product(parts, tuple(columns)).log_prob(X)[:, 0]
    expected = [np.log(0.3) - np.log(2) - 0.25, -np.inf, -np.inf, np.log(0.7) - np.log(2)]
    assert_allclose(found, expected, rtol=1e-12)
    table = JointTable(Categorical.from_probability([0.1, 0.2, 0.3, 0.4]), (2, 2))
    found = table.log_prob([[0, 0], [1, 1], [1, 2], [0.5, 0], [-2, 0]])[:, 0]
    assert_allclose(found, [np.log(0.1), np.log(0.4), -np.inf, -np.inf, -np.inf], rtol=1e-12)
    with pytest.raises(InvalidInput, match="complete rows"):
        table.log_prob([[0, -1]])


@pytest.mark.parametrize("unit", [1.0, 1e-9, 1e9])
def test_a_singular_gaussian_has_a_density_on_its_range_and_none_off_it(unit):
    rng = np.random.default_rng(0)
    A = unit * rng.normal(size=(3, 2))
    mean = unit * np.array([1.0, -2.0, 5.0])
    member = FullGaussian(mean[None], (A @ A.T)[None])
    on = mean + rng.normal(size=(20, 2)) @ A.T
    across = np.linalg.svd(A)[0][:, 2]
    off = on + 1e-3 * unit * across
    expected = stats.multivariate_normal(
        mean / unit, A @ A.T / unit**2, allow_singular=True
    ).logpdf(on / unit) - 2 * np.log(unit)
    assert_allclose(member.log_prob(on)[:, 0], expected, rtol=1e-8)
    assert_array_equal(member.log_prob(off), np.full((20, 1), -np.inf))
    regular = FullGaussian(np.stack([mean, mean]), np.stack([A @ A.T, unit**2 * np.eye(3)]))
    found = regular.log_prob(off)
    assert np.isneginf(found[:, 0]).all()
    assert np.isfinite(found[:, 1]).all()


def test_a_column_without_spread_in_any_component_is_left_out():
    """As a constant column of a fit is, by either kind of Gaussian."""
    rows = [[0.0, 2.0], [0.0, 2.001], [0.0, -2.0]]
    full = FullGaussian(np.array([[1.0, 2.0]]), np.diag([4.0, 0.0])[None])
    diagonal = DiagonalGaussian(np.array([[1.0, 2.0]]), np.array([[4.0, 0.0]]))
    for member in (full, diagonal):
        expected = np.full((3, 1), stats.norm(1, 2).logpdf(0.0))
        assert_allclose(member.log_prob(rows), expected, rtol=1e-12)
        assert member.left_out().tolist() == [False, True]


def test_rows_of_another_width_or_type_are_refused():
    member = Poisson(np.array([[1.0, 2.0]]))
    for bad in ([1.0, 2.0, 3.0], [[1.0]], [["a", "b"]], [[1.0, 2.0], [1.0]], 3.0):
        with pytest.raises(InvalidInput, match=r"expected numbers in rows of 2\. Give a list"):
            member.log_prob(bad)
    assert_array_equal(member.log_prob([[True, False]]), member.log_prob([[1, 0]]))


def test_codes_may_be_a_list_and_are_fitted_by_a_family_of_their_number():
    codes = [0, 3, 1, 1]
    member = fit(CategoricalFamily((4,)), codes)
    assert_allclose(member.table(0), [[0.25, 0.5, 0.0, 0.25]], rtol=1e-15)
    assert_allclose(member.log_prob(codes)[:, 0], np.log([0.25, 0.25, 0.5, 0.5]), rtol=1e-15)
    assert_array_equal(fit("categorical", codes).table(0), member.table(0))
    with pytest.raises(InvalidInput, match=r"whole numbers"):
        fit(CategoricalFamily((4,)), [0.5, 1.0])
    with pytest.raises(InvalidInput):
        fit(CategoricalFamily((4,)), [4, 1])
