"""The sums that inference needs: they add, they count weights as rows, they stay finite."""

import pickle
from dataclasses import fields, is_dataclass
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from likely.compute.executor import Serial
from likely.data.block import ArrayBlocks, Block
from likely.data.layouts.dense import Dense
from likely.data.layouts.intercept import Intercept
from likely.errors import InvalidInput
from likely.likelihoods.responses import RESPONSES, likelihood_of
from likely.objectives.inference import (
    block_cluster_scores,
    block_fit_statistics,
    block_log_likelihood,
    block_meat,
    block_several,
    fit_statistics,
    null_model,
)

N = 30
THETA = np.array([0.4, -0.3, 0.5])
ROOT = 0.2 * np.eye(3)
LIKELIHOOD = likelihood_of("gamma", "log")
TERMS = {
    "fit": partial(block_fit_statistics, LIKELIHOOD, THETA),
    "log-likelihood": partial(block_log_likelihood, LIKELIHOOD, THETA, 0.5),
    "meat": partial(block_meat, LIKELIHOOD, THETA, ROOT, 2),
    "clusters": partial(block_cluster_scores, LIKELIHOOD, THETA),
}
every_term = pytest.mark.parametrize("term", TERMS.values(), ids=TERMS)


def block(rows=slice(None), *, seed=0, repeat=None):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(N, 2)), rng.gamma(2.0, size=N)
    weight, offset = rng.integers(1, 4, N).astype(float), rng.normal(size=N) / 5
    parts = [X, y, weight, offset, rng.integers(0, 6, N)]
    if repeat:
        times = weight.astype(int)
        parts = [np.repeat(part, times, axis=0) for part in parts]
        parts[2] = None
    X, y, weight, offset, group = (None if part is None else part[rows] for part in parts)
    return Block(Intercept(Dense(X)), y=y, weight=weight, offset=offset, group=group)


def numbers(summary):
    """Every number of a summary, also of the summaries inside it."""
    values = [getattr(summary, field.name) for field in fields(summary)]
    parts = [numbers(v) if is_dataclass(v) else np.ravel(np.asarray(v, float)) for v in values]
    return np.concatenate(parts)


@every_term
@given(seed=st.integers(0, 99), cut=st.integers(1, N - 1))
def test_sums_of_blocks_add(term, seed, cut):
    parts = term(block(slice(cut), seed=seed)) + term(block(slice(cut, None), seed=seed))
    assert_allclose(numbers(parts), numbers(term(block(seed=seed))), rtol=1e-10, atol=1e-12)


@every_term
def test_a_weight_of_two_is_the_row_twice(term):
    assert_allclose(numbers(term(block())), numbers(term(block(repeat=True))), rtol=1e-12)


@every_term
def test_terms_travel(term):
    here = pickle.loads(pickle.dumps(term))(block())
    assert_allclose(numbers(here), numbers(term(block())))


def test_several_terms_are_read_in_one_pass():
    together = block_several(tuple(TERMS.values()), block())
    for part, term in zip((together + together).parts, TERMS.values(), strict=True):
        assert_allclose(numbers(part), numbers(term(block()) + term(block())))


def test_clusters_are_summed_across_blocks():
    whole, half = block(), N // 2
    scores = TERMS["clusters"](block(slice(half))) + TERMS["clusters"](block(slice(half, None)))
    _, slope, _ = LIKELIHOOD.derivatives(whole.y, whole.X.matmat(THETA) + whole.offset)
    rows = (whole.weight * slope)[:, None] * whole.X.matmat(np.eye(3))
    expected = [rows[whole.group == code].sum(axis=0) for code in scores.codes]
    assert_allclose(scores.scores, expected)
    assert list(scores.codes) == sorted(set(whole.group))


def test_a_sure_mistake_has_a_finite_log_likelihood():
    """At η = 50 the probability rounds to 1, but log p(y = 0) is −50."""
    likelihood = likelihood_of("bernoulli")
    sure = Block(Dense(np.array([[50.0], [50.0]])), y=np.array([0.0, 1.0]))
    found = block_fit_statistics(likelihood, np.ones(1), sure)
    assert_allclose(found.log_likelihood, -50.0)
    assert_allclose(found.deviance, 100.0)
    assert_allclose(found.pearson, np.exp(50.0))
    assert found.largest_eta == 50.0


def test_an_example_that_fixes_its_own_fit_does_not_make_the_meat_infinite():
    X = np.array([[1.0], [0.0]])
    alone = Block(Dense(X), y=np.array([1.0, 0.0]))
    meat = block_meat(likelihood_of("gaussian"), np.ones(1), np.eye(1), 2, alone)
    assert_allclose(meat.value, 0.0)


@given(seed=st.integers(0, 99))
def test_the_null_model_of_counts_with_exposure_is_total_over_total(seed):
    rng = np.random.default_rng(seed)
    y, offset = rng.poisson(3.0, N) + 0.0, rng.normal(size=N)
    weight = rng.integers(1, 3, N) + 0.0
    blocks = ArrayBlocks(Intercept(Dense(rng.normal(size=(N, 2)))), y, weight, offset)
    likelihood = likelihood_of("poisson")
    fit = fit_statistics(likelihood, THETA, blocks, Serial())
    rate = np.dot(weight, y) / np.dot(weight, np.exp(offset))
    expected = np.dot(weight, likelihood.nll(y, np.log(rate) + offset))
    assert_allclose(null_model(likelihood, fit, blocks, Serial()).nll, expected)


@pytest.mark.parametrize("name", [name for name in RESPONSES if name != "log-normal"])
def test_the_null_model_without_an_offset_is_the_mean(name):
    likelihood = likelihood_of("negative-binomial(1)" if name == "negative-binomial" else name)
    rng = np.random.default_rng(0)
    y = likelihood.response.sample(np.full(N, 0.4), rng) + (name == "inverse-gaussian") * 1e-3
    weight = rng.integers(1, 3, N) + 0.0
    blocks = ArrayBlocks(Dense(np.ones((N, 1))), y, weight, rows_per_block=7)
    fit = fit_statistics(likelihood, np.ones(1), blocks, Serial())
    mean = np.average(y, weights=weight)
    expected = np.dot(weight, likelihood.nll(y, np.full(N, likelihood.eta_of_mean(mean))))
    assert_allclose(null_model(likelihood, fit, blocks, Serial()).nll, expected)


def test_clusters_that_were_not_given_are_asked_for():
    without = Block(Dense(np.ones((2, 1))), y=np.ones(2))
    with pytest.raises(InvalidInput, match=r"none was given.*Pass groups"):
        block_cluster_scores(LIKELIHOOD, np.ones(1), without)


def test_a_log_likelihood_without_a_dispersion_is_unknown():
    assert np.isnan(block_log_likelihood(LIKELIHOOD, THETA, np.nan, block()).value)


def test_the_log_likelihood_of_a_perfect_fit_is_infinite():
    assert block_log_likelihood(LIKELIHOOD, THETA, 0.0, block()).value == np.inf
