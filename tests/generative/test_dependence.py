"""How naive is naive: mutual information given the class, and the full table."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from likely import NaiveBayes
from likely.errors import InvalidInput
from likely.graphical.learning.mutual_information import count_all_pairs
from likely.information import entropy
from tests.fits import binary, codes, numbers


def conditional_entropy(x, y):
    return sum(
        np.mean(y == k) * entropy(np.bincount(x[y == k]) / np.sum(y == k)) for k in np.unique(y)
    )


def test_a_copied_feature_shares_all_its_entropy():
    """NB-7: on x₂ = x₁ the information is H(x₁ | y), and the naive posterior double-counts."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    x = (rng.random(400) < 0.3 + 0.4 * y).astype(int)
    X = np.column_stack([x, x])
    model = NaiveBayes("bernoulli").fit(X, y)
    found = model.dependence(X, y)
    assert_allclose(found.mutual_information[0, 1], conditional_entropy(x, y), rtol=1e-12)
    assert_allclose(np.diag(found.mutual_information), conditional_entropy(x, y))
    assert_allclose(found.mutual_information[0, 1], 0.6165, atol=5e-5)
    once = -400 * conditional_entropy(x, y)  # the table has the column once, the naive model twice
    assert_allclose(found.full_log_likelihood, once, rtol=1e-12)
    assert_allclose(found.naive_log_likelihood, 2 * once, rtol=1e-12)
    assert_allclose(once, -246.6, atol=0.05)
    alone = NaiveBayes("bernoulli").fit(X[:, :1], y).explain([[1]]).contributions.sum()
    assert_allclose(model.explain([[1, 1]]).contributions.sum(), 2 * alone)
    assert found.strongest()[:2] == ("x0", "x1")


def test_independent_features_agree_with_the_full_table_in_the_limit():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 100_000)
    X = (rng.random((100_000, 3)) < 0.2 + 0.5 * y[:, None]).astype(int)
    found = NaiveBayes("bernoulli").fit(X, y).dependence(X, y)
    off = found.mutual_information[np.triu_indices(3, 1)]
    assert (off < 1e-4).all()
    gap = (found.full_log_likelihood - found.naive_log_likelihood) / 100_000
    assert 0 <= gap < 1e-4


@pytest.mark.parametrize("event", ["bernoulli", "categorical"])
@pytest.mark.parametrize("seed", range(5))
def test_the_full_table_fits_at_least_as_well(event, seed):
    draw = binary if event == "bernoulli" else codes
    X, y = draw(np.random.default_rng(seed), 60)
    model = NaiveBayes(event).fit(X, y)
    found = model.dependence(X, y)
    assert found.full_log_likelihood >= found.naive_log_likelihood
    assert found.naive_parameters == model.n_parameters()
    assert found.full_parameters == model.n_parameters(naive=False)
    unsmoothed = NaiveBayes(event, smoothing=0.0).fit(X, y)
    within = unsmoothed.log_likelihood(X, y) - unsmoothed.class_log_prior_[y].sum()
    assert_allclose(found.naive_log_likelihood, within)


def test_information_matches_its_definition():
    rng = np.random.default_rng(2)
    values, y = rng.integers(0, 3, (50, 2)), rng.integers(0, 2, 50)
    expected = 0.0
    for k in range(2):
        own = values[y == k]
        for a in range(3):
            for b in range(3):
                joint = np.mean((own[:, 0] == a) & (own[:, 1] == b))
                apart = np.mean(own[:, 0] == a) * np.mean(own[:, 1] == b)
                expected += np.mean(y == k) * joint * np.log(joint / apart) if joint else 0.0
    found = count_all_pairs(values, (3, 3), y, 2).mutual_information()
    assert_allclose(found[0, 1], expected)
    assert_allclose(found, found.T)


def test_it_prints_what_matters():
    X, y = binary(np.random.default_rng(0), 60)
    text = str(NaiveBayes("bernoulli").fit(X, y).dependence(X, y))
    assert text.startswith("naive: -")
    assert "full table: -" in text
    assert "strongest pair given the class: x" in text


def test_tables_too_large_are_not_made():
    X = np.zeros((4, 40))
    found = NaiveBayes("bernoulli").fit(X, [0, 1, 0, 1]).dependence(X, [0, 1, 0, 1])
    assert found.full_log_likelihood is None
    assert found.full_parameters == 2 * (2**40 - 1) + 1
    assert "too large to fit" in str(found)


def test_what_is_not_discrete_or_complete_is_refused():
    X, y = numbers(np.random.default_rng(0), 30)
    with pytest.raises(InvalidInput, match=r"DiagonalGaussian features are not discrete"):
        NaiveBayes().fit(X, y).dependence(X, y)
    X, y = binary(np.random.default_rng(0), 30)
    X[3, 1] = np.nan
    with pytest.raises(InvalidInput, match=r"complete rows.*Drop the row"):
        NaiveBayes("bernoulli").fit(X, y).dependence(X, y)
    with pytest.raises(InvalidInput, match=r"X has 30 rows and y has 29"):
        NaiveBayes("bernoulli").fit(X, y).dependence(X, y[:-1])


def test_families_without_a_full_table_are_not_counted():
    model = NaiveBayes("poisson").fit([[1], [2]], [0, 1])
    with pytest.raises(InvalidInput, match=r"full joint model of Poisson"):
        model.n_parameters(naive=False)
