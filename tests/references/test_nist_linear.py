"""Least squares on NIST's Statistical Reference Datasets: eight digits, or a warning.

The certified values are computed again in rationals, from the decimals; and once more from the
doubles that the model is given, which for Filip's powers are already 8 digits off.
"""

import warnings
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose

import likely
from likely.errors import RedundantColumns
from tests.references.nist_linear import SETS, certified

every_set = pytest.mark.parametrize("name", SETS)
ONE_ULP_OF_THE_POWERS = 1e-7  # what rounding the powers of Filip's x to doubles does


def columns(reference, *, doubles=False):
    ones = [[Fraction(1)] * len(reference.y)] if reference.intercept else []
    if not doubles:
        return ones + reference.columns, reference.y
    exact = [[Fraction(float(v)) for v in column] for column in reference.columns]
    return ones + exact, [Fraction(float(v)) for v in reference.y]


def fitted(reference, **settings):
    model = likely.LinearRegression(fit_intercept=reference.intercept, **settings)
    return model.fit(reference.design, reference.response)


def intercept_first(model):
    order = np.roll(np.arange(len(model.inference_.theta)), int(model.fit_intercept))
    return model.inference_.theta[order], model.inference_.standard_errors[order]


@every_set
def test_the_data_are_those_that_were_certified(name):
    reference = SETS[name]
    theta, se = certified(*columns(reference))
    assert_allclose(theta, reference.coef, rtol=1e-13)
    assert_allclose(se, reference.se, rtol=1e-13, atol=1e-13)


@every_set
@pytest.mark.parametrize("solver", ["auto", "qr"])
def test_estimates_and_errors_have_eight_digits_or_a_warning(name, solver):
    reference = SETS[name]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        theta, se = intercept_first(fitted(reference, solver=solver))
    warned = [warning.category for warning in caught]
    assert warned == ([RedundantColumns] if name == "Filip" else [])
    rtol = ONE_ULP_OF_THE_POWERS if name == "Filip" else 1e-8
    assert_allclose(theta, reference.coef, rtol=rtol)
    scale = np.abs(reference.response).max()  # errors of 0 are known to the rounding of y
    assert_allclose(se, reference.se, rtol=1e-8, atol=1e-15 * scale)


@pytest.mark.parametrize("solver", ["auto", "qr", "normal-equations"])
def test_filip_is_solved_exactly_for_the_doubles_given(solver):
    reference = SETS["Filip"]
    with pytest.warns(RedundantColumns, match=r"nearly.*condition 3.8e\+09.*about 6 digits"):
        theta, se = intercept_first(fitted(reference, solver=solver))
    exact, exact_se = certified(*columns(reference, doubles=True))
    assert_allclose(theta, exact, rtol=1e-9)
    assert_allclose(se, exact_se, rtol=1e-7)


@pytest.mark.parametrize(
    ("name", "r_squared"), [("NoInt1", 0.999365492298663), ("NoInt2", 0.993348115299335)]
)
def test_r_squared_without_an_intercept_is_about_zero(name, r_squared):
    """As NIST certifies it, and as R and Stata have it."""
    reference = SETS[name]
    model = fitted(reference)
    assert_allclose(model.inference_.deviance_explained, r_squared, rtol=1e-12)
    assert_allclose(model.score(reference.design, reference.response), r_squared, rtol=1e-12)
    glm = likely.GLM(fit_intercept=False).fit(reference.design, reference.response)
    assert_allclose(glm.score(reference.design, reference.response), r_squared, rtol=1e-12)
    assert_allclose(glm.inference_.deviance_explained, r_squared, rtol=1e-12)


@pytest.mark.parametrize("spread", [1e-4, 1e-6, 1e-7, 1e-8])
def test_errors_of_nearly_equal_columns_are_those_of_exact_arithmetic(spread):
    rng = np.random.default_rng(0)
    x, z, y = rng.normal(size=(3, 60))
    X = np.column_stack([x, x + spread * z])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RedundantColumns)  # from 1e-8 on
        model = likely.LinearRegression().fit(X, y)
    exact = [[Fraction(float(v)) for v in column] for column in X.T] + [[Fraction(1)] * 60]
    theta, se = certified(exact, [Fraction(float(v)) for v in y])
    assert_allclose(model.inference_.theta, theta, rtol=1e-7)
    assert_allclose(model.inference_.standard_errors, se, rtol=1e-7)
    assert model.inference_.df_residual == 57


def test_a_rounded_copy_of_a_column_leaves_every_error():
    """A column in cents and the same in hundredths of cents: both have estimates."""
    rng = np.random.default_rng(0)
    p = 1e5 * rng.random(60)
    X, y = np.column_stack([p, p.round(2)]), rng.normal(size=60)
    model = likely.LinearRegression().fit(X, y)
    exact = [[Fraction(float(v)) for v in column] for column in X.T] + [[Fraction(1)] * 60]
    theta, se = certified(exact, [Fraction(float(v)) for v in y])
    assert model.rank_ == 2 and model.inference_.df_residual == 57
    assert_allclose(model.inference_.theta, theta, rtol=1e-8)
    assert_allclose(model.inference_.standard_errors, se, rtol=1e-8)
