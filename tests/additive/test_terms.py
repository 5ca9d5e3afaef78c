"""The functions of a term: their roughness, what they leave to the line, and their ends."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.interpolate import BSpline

from likely.additive import additive_fit
from likely.additive.encoded_columns import refuse_infinity
from likely.additive.pairs import with_pairs
from likely.additive.smooth import Smooth, period_of
from likely.additive.terms import (
    CUBIC,
    AdditiveTerms,
    CategoryTerm,
    number_term,
    ranks,
    splines,
    turned,
)
from likely.errors import BadCell, InvalidInput
from likely.numerics.quantiles import QuantileSummary

NO_CODES = np.empty((0, 0), dtype=int)


def term(x, smooth=None, weight=None, **options):
    summary = QuantileSummary.of(np.asarray(x, dtype=float), weight, limit=None)
    return number_term(0, 0, summary, smooth or Smooth(), **{"has_missing": False, **options})


def columns(made, x):
    return made.features(np.asarray(x, dtype=float)[:, None], NO_CODES)


def test_the_sum_of_squares_is_the_roughness_of_the_curve():
    """∫ f″² by a sum over a fine grid, for random coefficients of the curved functions."""
    k = 9
    turn = turned(k)[:, 1:]  # the first has no roughness of its own
    rng, v = np.random.default_rng(0), np.linspace(0, 1, 20_001)
    for _ in range(3):
        w = rng.normal(size=turn.shape[1])
        curve = BSpline(splines(k).knots, turn @ w, CUBIC)
        assert_allclose(np.mean(curve.derivative(2)(v) ** 2), np.sum(w**2), rtol=1e-3)
    assert_allclose(splines(k)(v).sum(axis=1), 1.0, rtol=1e-12)


@pytest.mark.parametrize("draw", ["normal", "lognormal", "integers"])
def test_the_curve_has_no_mean_no_line_and_unit_size(draw):
    rng = np.random.default_rng(0)
    x = {
        "normal": rng.normal(5, 2, 900),
        "lognormal": rng.lognormal(0, 2, 900),
        "integers": rng.integers(0, 12, 900).astype(float),
    }[draw]
    weight = rng.integers(1, 4, 900).astype(float)
    made = term(x, weight=weight)
    found = columns(made, x)
    line, W = found[:, 0], found[:, 1:]
    assert_allclose(weight @ line, 0.0, atol=1e-9)
    assert_allclose(weight @ line**2 / weight.sum(), 1.0, rtol=1e-9)
    assert_allclose(weight @ W, 0.0, atol=1e-8)
    assert_allclose((weight * line) @ W, 0.0, atol=1e-7)
    assert_allclose(np.sum(weight @ W**2) / weight.sum(), 1.0, rtol=1e-9)
    assert np.linalg.matrix_rank(W) >= min(len(np.unique(x)) - 2, 17)


def test_outside_its_values_a_curve_is_constant_and_the_line_goes_on():
    x = np.linspace(0, 10, 300)
    made = term(x)
    inside, outside = columns(made, [0.0, 10.0]), columns(made, [-5.0, 25.0])
    shift = outside[:, 0] - inside[:, 0]
    assert_allclose(shift, np.array([-5.0, 15.0]) / made.scale)
    assert_allclose(outside[:, 1:], inside[:, 1:], atol=1e-12)


def test_the_tangent_of_a_curve_goes_on_outside_its_values():
    x = np.random.default_rng(0).gamma(2, 1, 300)
    made = AdditiveTerms((term(x),)).going_on().columns[0]
    for end, out in ((made.low, -1.0), (made.high, 1.0)):
        near, one, two = columns(made, end + out * np.array([-1e-6, 0.0, 2.0]))
        slope = (one - near) / 1e-6
        assert_allclose(two, one + 2 * slope, rtol=1e-3, atol=1e-3 * np.abs(slope).max())
    assert_allclose(columns(made, x), columns(term(x), x), atol=1e-12)


@pytest.mark.parametrize("unit", [1e-310, 1e-200, 1e140])
def test_the_functions_do_not_depend_on_the_unit(unit):
    x = np.linspace(0, 10, 300) ** 2
    made, plain = term(unit * x), term(x)
    # the smallest doubles have 14 bits here
    assert_allclose(
        columns(made, unit * x), columns(plain, x), atol=1e-2 if unit < 1e-300 else 1e-9
    )
    bound, found = made.largest(), np.abs(columns(made, unit * x))
    assert (found <= bound).all()


@pytest.mark.parametrize("low", [0.0, -20.0])
def test_values_that_are_nearer_than_a_slope_can_tell_have_one_rank(low):
    x = np.r_[0.0, 1e-310, 1e-300, np.arange(low, 21.0)]
    assert np.isfinite(columns(term(x), x)).all()


def test_a_number_of_a_circle_closes_and_has_no_line():
    hours = np.tile(np.arange(24.0), 20)
    made = term(hours, Smooth(cyclic=24))
    assert not made.has_line
    assert made.n_functions == 22  # cos and sin of 11 waves, beside the 24 values
    assert_allclose(columns(made, [0.0, 1.5]), columns(made, [24.0, -22.5]), atol=1e-12)
    assert not np.allclose(columns(made, [23.5]), columns(made, [23.0])), (
        "it goes on within the gap"
    )
    assert_allclose(columns(made, hours).mean(axis=0), 0.0, atol=1e-12)


def test_a_missing_cell_has_its_indicator_alone():
    x = np.r_[np.linspace(0, 1, 50), np.nan]
    made = term(x, has_missing=True)
    found = columns(made, x)
    assert found[-1].tolist() == [0.0, 1.0, *[0.0] * made.n_functions]
    assert (found[:-1, 1] == 0).all()


@pytest.mark.parametrize(
    ("values", "n_functions"),
    [([0.0, 1.0], 0), ([1.0, 2.0, 4.0], 0), ([3.0], 0), ([0.0, 1.0, 2.0, 5.0], 3)],
)
def test_few_values_have_few_functions(values, n_functions):
    made = term(np.tile(values, 30))
    assert made.n_functions == n_functions
    assert np.isfinite(columns(made, values)).all()


@pytest.mark.parametrize(
    ("name", "values", "period"),
    [
        ("hr", np.arange(24.0), 24),
        ("Hour", np.arange(6.0, 21.0), 24),
        ("mnth", np.arange(1.0, 13.0), 12),
        ("weekday", np.arange(7.0), 7),
        ("weekday", np.arange(1.0, 8.0), 7),
        ("weekday", np.arange(1.0, 6.0), 0),
        ("rating", np.arange(1.0, 8.0), 0),
        ("hours", np.array([0.5, 3.0, 20.0]), 0),
        ("hours", np.array([3.0, 20.0, 40.0]), 0),
        ("chr", np.arange(24.0), 0),
    ],
)
def test_a_circle_is_known_by_its_name_and_its_values(name, values, period):
    assert period_of(name, values) == period


def test_a_category_has_a_column_for_each_level_and_one_for_missing_cells():
    made = CategoryTerm(0, 0, 2, has_missing=True)
    codes = np.array([[1], [-1], [0]])
    assert made.features(np.empty((3, 0)), codes).tolist() == [[0, 1, 0], [0, 0, 1], [1, 0, 0]]
    assert made.margin(np.empty((3, 0)), codes, 2).tolist() == [[0, 1], [0, 0], [1, 0]]


def test_a_pair_has_the_products_of_its_functions_within_a_budget():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3))
    X[:, 2] = X[:, 2] > 0
    terms = []
    for j in range(3):
        summary = QuantileSummary.of(X[:, j], limit=None)
        terms.append(number_term(j, j, summary, Smooth(), has_missing=False))
    both = with_pairs(AdditiveTerms(tuple(terms)), [(0, 1), (0, 2)])
    assert [pair.sizes for pair in both.pairs] == [(8, 8), (12, 1)]
    assert both.names(["a", "b", "c"])[3:] == ("a × b", "a × c")
    Phi = both.features(X, np.empty((500, 0), dtype=int))
    assert Phi.shape == (500, both.n_columns)
    a, b = terms[0].margin(X, NO_CODES, 8), terms[1].margin(X, NO_CODES, 8)
    own = both.term_of_column == 3
    assert_allclose(Phi[:, own], (a[:, :, None] * b[:, None]).reshape(500, -1), rtol=1e-12)
    groups = both.group_of_column
    assert len(np.unique(groups)) == 1 + 2 + 2  # the lines, two curves, two pairs
    firsts = np.flatnonzero(np.diff(both.term_of_column, prepend=-1))
    assert (groups[firsts[:3]] == 0).all()  # the lines share a strength


@pytest.mark.parametrize(
    "wrong",
    [
        *({"k": each} for each in (3, 7.5, True, np.nan, np.inf, "a", 2001)),
        *({"cyclic": each} for each in (-1.0, np.nan, np.inf, "a", True, False, np.False_)),
    ],
)
def test_a_smooth_that_is_none_is_refused(wrong):
    with pytest.raises(InvalidInput, match=r"Smooth\("):
        Smooth(**wrong)


def test_the_number_of_waves_does_not_depend_on_the_unit_of_a_period():
    x = np.linspace(0, 1, 300)
    found = columns(term(x, Smooth(cyclic=1)), x)
    assert found.shape[1] == 22  # of k = 20
    assert_allclose(columns(term(360 * x, Smooth(cyclic=360)), 360 * x), found, atol=1e-12)
    assert_allclose(found[0], found[-1], atol=1e-12)


def test_the_rank_of_a_value_is_the_weight_below_it_and_half_of_its_own():
    x, w = np.array([1.0, 2.0, 4.0, 9.0]), np.array([0.1, 0.2, 0.3, 0.4])
    grid, rank = ranks(x, w)
    middle = np.array([0.05, 0.2, 0.45, 0.8])
    assert_allclose(grid, x)
    assert_allclose(rank, (middle - 0.05) / 0.75, rtol=1e-12)


def test_terms_of_all_predictors_are_counted_against_the_most_parameters(monkeypatch):
    monkeypatch.setattr(additive_fit, "MOST_PARAMETERS", 30)
    terms = SimpleNamespace(n_columns=10, all=[SimpleNamespace(n_columns=4)] * 2)
    additive_fit._refuse_size(terms, 3)
    terms.n_columns = 11
    with pytest.raises(InvalidInput, match="have 33 coefficients, one of them 12; at most 30"):
        additive_fit._refuse_size(terms, 3)
    monkeypatch.setattr(additive_fit, "MOST_PARAMETERS", 29)
    terms.n_columns = 10
    with pytest.raises(InvalidInput, match="have 30 coefficients"):
        additive_fit._refuse_size(terms, 3)


def test_an_infinite_cell_is_named_by_its_row_in_all_blocks():
    schema = SimpleNamespace(as_codes=[False, True, False])
    refuse_infinity(np.ones((3, 2)), schema, 100)
    with pytest.raises(BadCell) as found:
        refuse_infinity(np.array([[1.0, 2.0], [3.0, np.inf]]), schema, 100)
    assert (found.value.row, found.value.column) == (101, 2)
