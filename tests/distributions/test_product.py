"""A different family per column: parts, their columns, their smoothing."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from likely._typing import NumbersAndCodes
from likely.distributions.bernoulli import Bernoulli
from likely.distributions.categorical import CategoricalFamily
from likely.distributions.gaussian import DiagonalFamily
from likely.distributions.poisson import Poisson
from likely.distributions.product import ProductFamily, ProductPart, Selection
from likely.distributions.responsibility import Labels
from likely.errors import InvalidInput
from tests.event_models import PRODUCT, data, fitted

RNG = np.random.default_rng(0)
NUMERIC = np.column_stack([RNG.integers(0, 2, 30), RNG.poisson(2.0, 30)]).astype(float)
LABELS = Labels(np.arange(30) % 2, 2)
COUNTS = ProductFamily(
    (
        ProductPart(Bernoulli, Selection(False, (0,), (1,))),
        ProductPart(Poisson, Selection(False, (1,), (0,))),
    )
)


def test_log_probabilities_of_parts_add():
    X, _ = data("product", 0)
    member = fitted("product", 1)
    parts = [
        part.log_prob(s.of(X)) for part, s in zip(member.parts, member.selections, strict=True)
    ]
    assert_allclose(member.log_prob(X), sum(parts))
    assert member.n_features == 6
    assert member.n_parameters == sum(part.n_parameters for part in member.parts)


def test_contributions_stand_where_the_user_has_the_columns():
    X, _ = data("product", 0)
    member = fitted("product", 1)
    shares = member.contributions(X)
    poisson = member.parts[1].contributions(X.numeric[:, [2]])
    assert_allclose(shares[:, 0], poisson[:, 0])  # the third numeric column is the table's first
    gaussian = member.parts[0].contributions(X.numeric[:, [0, 1]])
    assert_allclose(shares[:, [4, 1]], gaussian)


def test_smoothing_follows_the_users_columns():
    statistics = COUNTS.statistics(NUMERIC, LABELS)
    prior = COUNTS.pseudo_statistics(
        np.array([0.5, 10.0]), (2, 2)
    )  # Poisson first, as in the table
    assert_allclose(prior.parts[0].successes, 10.0)
    assert_allclose(prior.parts[1].events, 0.5)
    total = COUNTS.leave_one_out(statistics, 2.0)
    expected = [Bernoulli.leave_one_out(statistics.parts[0], 2.0)]
    expected.append(Poisson.leave_one_out(statistics.parts[1], 2.0))
    assert_allclose(total, sum(expected))


def test_families_that_are_not_smoothed_get_no_counts():
    prior = PRODUCT.pseudo_statistics(1.0, (3, 6))
    assert_array_equal(prior.parts[0].scatter, 0.0)
    assert_array_equal(prior.parts[2].counts, 1.0)


def test_the_linear_form_places_weights_by_column():
    member = COUNTS.from_statistics(COUNTS.statistics(NUMERIC, LABELS))
    form = member.linear_form()
    table = NUMERIC[:, ::-1]
    assert_allclose(table @ form.coef.T + form.intercept, member.log_score(NUMERIC))


def test_what_is_not_linear_is_refused_by_name():
    with pytest.raises(InvalidInput, match=r"DiagonalGaussian.*distribution_\.parts"):
        fitted("product", 0).linear_form()


def test_samples_are_columns_of_both_kinds():
    draws = fitted("product", 0).sample(np.array([0, 1, 2, 1]), np.random.default_rng(0))
    assert isinstance(draws, NumbersAndCodes)
    assert draws.numeric.shape == (4, 3)
    assert draws.codes.shape == (4, 3)
    PRODUCT.check(draws)


def test_each_part_checks_its_own_columns():
    family = ProductFamily(
        (
            ProductPart(DiagonalFamily(), Selection(False, (0,), (0,))),
            ProductPart(CategoricalFamily((2,)), Selection(True, (0,), (1,))),
        )
    )
    family.check(NumbersAndCodes(np.array([[-5.0]]), np.array([[1]])))
    with pytest.raises(InvalidInput, match="categories 0 to 1; found 2"):
        family.check(NumbersAndCodes(np.array([[-5.0]]), np.array([[2]])))


def test_consecutive_columns_are_a_range_however_they_are_given():
    given = Selection(False, (0, 1, 2), (4, 5, 6))
    assert (given.columns, given.features) == (range(3), range(4, 7))
    assert given == Selection(False, range(3), range(4, 7))
    assert hash(given) == hash(Selection(False, range(3), range(4, 7)))


@pytest.mark.parametrize("columns", [(), (1, 0), (0, 2), (0, 0), (0.0, 1.0), (False, True), ("0",)])
def test_other_columns_stay_as_they_are(columns):
    assert repr(Selection(False, columns, columns).columns) == repr(columns)
