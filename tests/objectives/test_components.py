"""Classes and clusters: labels, soft rows and unknown labels give the sums they should."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp

from likely.compute.executor import Serial
from likely.data.block import ArrayBlocks, Block
from likely.data.layouts.dense import Dense
from likely.distributions import Bernoulli, DiagonalFamily
from likely.distributions.priors import log_shares
from likely.errors import InvalidInput
from likely.objectives.components import (
    Components,
    ComponentsObjective,
    block_expectations,
    block_log_joint,
    block_log_posterior,
    block_totals,
    total,
)
from likely.objectives.cooled_evidence import CooledEvidence
from tests.event_models import assert_same

FAMILY = DiagonalFamily()


def rows(n=30, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 2)), rng.integers(0, 3, n), rng.uniform(0.5, 2.0, n)


def model(X, y):
    return Components(
        log_shares(np.bincount(y)), FAMILY.from_statistics(FAMILY.statistics(X, np.eye(3)[y]))
    )


def test_labels_are_indicators():
    X, y, weight = rows()
    coded = block_totals(FAMILY, 3, Block(Dense(X), y, weight))
    soft = block_totals(FAMILY, 3, Block(Dense(X), np.eye(3)[y], weight))
    assert_same(coded.statistics, soft.statistics)
    assert_allclose(coded.count, np.bincount(y, weight))
    assert_allclose(soft.count, coded.count)


def test_rows_without_a_label_are_left_out_of_the_totals():
    X, y, weight = rows()
    y[::3] = -1
    known = y >= 0
    here = total(FAMILY, 3, ArrayBlocks(Dense(X), y, weight, rows_per_block=7), Serial())
    there = total(FAMILY, 3, ArrayBlocks(Dense(X[known]), y[known], weight[known]), Serial())
    assert_same(here.statistics, there.statistics)


def test_expectations_are_labels_where_known_and_the_posterior_elsewhere():
    X, y, weight = rows()
    theta = model(X, y)
    y[::3] = -1
    here = block_expectations(FAMILY, theta, Block(Dense(X), y, weight))
    joint = theta.log_joint(X)
    r = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
    known = y >= 0
    r[known] = np.eye(3)[y[known]]
    evidence = np.where(known, joint[np.arange(30), y], logsumexp(joint, axis=1))
    assert_allclose(here.count, (r * weight[:, None]).sum(axis=0))
    assert_same(here.statistics, FAMILY.statistics(X, r * weight[:, None]))
    assert_allclose(here.log_likelihood, (weight * evidence).sum())


def test_totals_of_blocks_add_and_scale():
    X, y, _ = rows()
    theta = model(X, y)
    whole = block_expectations(FAMILY, theta, Block(Dense(X)))
    parts = block_expectations(FAMILY, theta, Block(Dense(X[:11]))) + block_expectations(
        FAMILY, theta, Block(Dense(X[11:]))
    )
    assert_allclose(parts.count, whole.count)
    assert_allclose(parts.log_likelihood, whole.log_likelihood)
    assert_same(parts.statistics, whole.statistics)
    twice = whole.scaled(2.0)
    assert_allclose(twice.count, 2 * whole.count)
    assert_same(FAMILY.from_statistics(twice.statistics), FAMILY.from_statistics(whole.statistics))


def test_a_step_of_em_adds_the_prior_once():
    X, y, _ = rows()
    blocks = ArrayBlocks(Dense(X), rows_per_block=4)
    prior = FAMILY.pseudo_statistics(5.0, (3, 2), scale=np.ones(2))
    objective = ComponentsObjective(FAMILY, blocks, Serial(), prior)
    here = objective.expect(model(X, y))
    assert here.weight == pytest.approx(30.0)
    moved = objective.maximise(here.totals)
    expected = FAMILY.from_statistics(here.totals.statistics + prior)
    assert_allclose(moved.distribution.variance, expected.variance)
    assert_allclose(np.exp(moved.log_mixing), here.totals.count / 30)


def test_the_prior_of_the_shares_is_pseudo_rows_in_the_posterior_and_the_m_step():
    X, y, _ = rows()
    none = FAMILY.pseudo_statistics(0.0, (3, 2))
    plain, informed = (
        ComponentsObjective(FAMILY, ArrayBlocks(Dense(X)), Serial(), none, imagined=imagined)
        for imagined in (0.0, np.array([2.0, 0.0, 5.0]))
    )
    here = model(X, y)
    before, after = plain.expect(here), informed.expect(here)
    expected = np.dot([2.0, 0.0, 5.0], here.log_mixing)
    assert after.log_posterior - before.log_posterior == pytest.approx(expected)
    share = before.totals.count + np.array([2.0, 0.0, 5.0])
    assert_allclose(np.exp(informed.maximise(after.totals).log_mixing), share / share.sum())
    empty = Components(np.log([0.5, 1e-300, 0.5]) - [0.0, np.inf, 0.0], here.distribution)
    assert np.isfinite(informed.expect(empty).log_posterior)  # 0 · log 0 is no term


def test_given_mixing_is_kept():
    X, y, _ = rows()
    given = np.log([0.2, 0.3, 0.5])
    none = FAMILY.pseudo_statistics(0.0, (3, 2))
    objective = ComponentsObjective(FAMILY, ArrayBlocks(Dense(X)), Serial(), none, given)
    assert objective.maximise(objective.expect(model(X, y)).totals).log_mixing is given


def test_a_row_that_no_class_can_explain_has_the_prior_for_posterior():
    impossible = Components(np.log([0.3, 0.7]), Bernoulli(np.array([[0.0], [0.0]])))
    block = Block(Dense(np.array([[1.0], [0.0]])))
    posterior = np.exp(block_log_posterior(Bernoulli, impossible, CooledEvidence(), block))
    assert_allclose(posterior, [[0.3, 0.7], [0.3, 0.7]])
    assert_array_equal(block_log_joint(Bernoulli, impossible, block)[0], -np.inf)
    with pytest.raises(InvalidInput, match=r"Row 7 has probability 0 under every component"):
        block_expectations(Bernoulli, impossible, Block(Dense(np.array([[1.0]])), start=7))


def test_probabilities_sum_to_one_however_far_the_row():
    """log 2 must not be lost beside a score of −10²⁹⁹."""
    point = DiagonalFamily().from_statistics(
        FAMILY.statistics(np.zeros((4, 1)), np.full((4, 2), 0.5))
    )
    model = Components(np.log([0.5, 0.5]), point)
    far = Block(Dense(np.array([[1.0], [1e3]])))
    assert_allclose(np.exp(block_log_posterior(FAMILY, model, CooledEvidence(), far)), 0.5)
    assert_allclose(block_expectations(FAMILY, model, far).count, 1.0)


def test_a_component_of_nothing_has_no_share():
    assert_allclose(np.exp(log_shares(np.array([0.0, 3.0, 1.0]))), [0.0, 0.75, 0.25])


def test_a_total_of_weights_that_are_all_zero_is_refused():
    X, y, _ = rows()
    with pytest.raises(InvalidInput, match=r"at least one non-zero number; all are 0"):
        total(FAMILY, 3, ArrayBlocks(Dense(X), y, np.zeros(30)), Serial())
