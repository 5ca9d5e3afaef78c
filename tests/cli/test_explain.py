"""``likely explain``: the evidence of a column, and what is shown of it."""

import numpy as np
import pytest

import likely as lk
from likely.cli.explain import explanation
from likely.cli.telling import tellings


def test_evidence_is_the_expected_log_odds():
    """Two unit Gaussians at distance d: E[log p(x|0)/p(x|1)] over x ~ N(m₀, 1) is d²/2."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 4000)
    X = np.column_stack([rng.normal(3.0 * y), rng.normal(size=8000)])
    model = lk.NaiveBayes().fit(X, y)
    first, second = tellings(
        model.distribution_, model.class_log_prior_, ["tells", "noise"], [[], []], seed=0
    )
    assert (first.column, second.column) == ("tells", "noise")
    np.testing.assert_allclose(first.evidence, [4.5, 4.5], rtol=0.15)  # 500 draws
    np.testing.assert_allclose(second.evidence, [0, 0], atol=0.05)


@pytest.mark.parametrize(
    ("event", "shows"),
    [("bernoulli", "share of true"), ("multinomial", "share of all"), ("complement", "weights")],
)
def test_every_event_model_of_counts_is_explained(event, shows):
    X = np.tile([[1, 0, 1], [1, 1, 0], [0, 0, 1], [0, 1, 0]], (5, 1))
    model = lk.NaiveBayes(event=event).fit(X, np.tile([1, 1, 0, 0], 5))
    text, result = explanation(model, seed=0)
    assert shows in text
    assert result["columns"][0]["column"] == "x0"


@pytest.mark.parametrize("covariance", ["tied", "full", "diagonal", "spherical"])
def test_every_covariance_of_a_discriminant_is_explained(covariance):
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = np.repeat([0, 1], 30)
    X[30:, 1] += 4
    model = lk.DiscriminantAnalysis(covariance=covariance).fit(X, y)
    text, result = explanation(model, seed=0)
    assert result["columns"][0]["column"] == "x1"
    assert ("weight" in result["columns"][0]) == (covariance == "tied")
    assert f"{model.means_[1, 1]:.3g} ±" in text


def test_many_classes_are_told_one_by_one(likely):
    likely("train", "digits", "naive-bayes", "--set", "event=poisson")
    outcome = likely("explain", "@last")
    assert "10 classes, 64 columns" in outcome.out
    assert max(len(line) for line in outcome.out.splitlines()) <= 100


def test_top_limits_the_columns_that_are_shown(likely):
    likely("train", "wine", "naive-bayes")
    said = likely("explain", "@last", "--top", "2").out
    assert "proline" in said
    assert "malic_acid" not in said
    assert "11 more columns" in said
    assert len(likely("explain", "@last", "--json").json["result"]["columns"]) == 13


def test_bins_are_shown_as_intervals(likely):
    likely("train", "iris", "naive-bayes", "--set", "discretize=entropy")
    assert "< 2.45" in likely("explain", "@last").out  # where setosa ends
