"""Stochastic gradient descent: the textbook's loops, penalties, stopping, resuming, limits."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit

from likely import LinearRegression, LogisticRegression, SoftmaxRegression
from likely.differences import check_gradient
from likely.errors import InvalidInput, UnknownName
from likely.solvers import (
    BalancedBatches,
    ExampleLosses,
    FirstOrder,
    FixedStep,
    HeldOutPatience,
    InverseTime,
    Iterations,
    Momentum,
    ReduceOnPlateau,
    SampledBatches,
    ShuffledBatches,
    StochasticDescent,
    minimise,
)
from likely.solvers.batched import PENALTY_SCALINGS
from likely.solvers.mini_batches import epoch_order

seeds = st.integers(0, 9999)


def two_classes(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, (rng.random(n) < expit(X[:, 0] - 0.5 * X[:, 1] + 0.3)).astype(int)


def logistic(n=60, seed=0, **penalties):
    X, y = two_classes(n, seed)
    return LogisticRegression(**{"l2": 0.0, **penalties}).objective(X, y)


def example_gradient(theta, x, y):
    x = np.append(x, 1.0)
    return (expit(x @ theta) - y) * x


@pytest.mark.parametrize("shuffle", [False, True])
def test_one_example_at_a_time_is_the_loop_of_the_textbook(shuffle):
    X, y = two_classes()
    theta, rate = np.zeros(3), 0.3
    for t in range(3):
        for i in epoch_order(60, 5, t) if shuffle else range(60):
            theta = theta - rate / (1 + 0.5 * t) * example_gradient(theta, X[i], y[i])
    descent = StochasticDescent(
        rate, batch=1, schedule=InverseTime(rate, 0.5), epochs=3, shuffle=shuffle, seed=5
    )
    found = minimise(descent, logistic().in_batches(), np.zeros(3), tol=0)
    assert found.n_iter == 3
    assert_allclose(found.theta, theta, rtol=1e-12, atol=1e-12)


def test_batches_with_momentum_and_a_short_last_one_are_the_loop_of_the_textbook():
    X, y = two_classes()
    theta, delta, l2 = np.zeros(3), np.zeros(3), 2.0
    free = np.array([1.0, 1.0, 0.0])  # the intercept
    for t in range(2):
        order = epoch_order(60, 1, t)
        for rows in (order[:16], order[16:32], order[32:48], order[48:]):
            g = np.mean([example_gradient(theta, X[i], y[i]) for i in rows], axis=0)
            delta = -0.2 * (g + l2 * free * theta / 60) + 0.9 * delta
            theta = theta + delta
    descent = StochasticDescent(
        0.2, batch=16, update=Momentum(0.9), schedule="constant", epochs=2, seed=1
    )
    found = minimise(descent, logistic(l2=l2).in_batches(), np.zeros(3), tol=0)
    assert_allclose(found.theta, theta, rtol=1e-12, atol=1e-12)


def test_an_inverse_time_schedule_reaches_the_optimum_of_logistic_data():
    objective = logistic(n=100, l2=1.0)
    best = LogisticRegression(l2=1.0).fit(*two_classes(100))
    descent = StochasticDescent(batch=1, schedule=InverseTime(0.5, 0.5), epochs=40)
    found = minimise(descent, objective.in_batches(), np.zeros(3), tol=0)
    exact = objective.pack(best.coef_, best.intercept_)
    assert objective.value(found.theta) - objective.value(exact) < 1e-2
    assert_allclose(found.theta, exact, atol=1e-2)


def test_all_rows_without_replacement_are_gradient_descent_on_the_mean_loss():
    X, y = two_classes()
    mean = LogisticRegression(l2=1.0).objective(X, y, reduction="mean")
    visited, sampled = [], []
    minimise(FixedStep(0.5), mean, np.zeros(3), tol=0, max_iter=10, watch=visited.append)
    descent = StochasticDescent(
        0.5, batch=SampledBatches(60, steps=1), schedule="constant", epochs=10
    )
    batched = logistic(l2=1.0).in_batches()
    minimise(descent, batched, np.zeros(3), tol=0, watch=sampled.append)
    for ours, theirs in zip(sampled, visited, strict=True):
        assert_allclose(ours.theta, theirs.theta, rtol=1e-12, atol=1e-13)


def test_the_mean_over_all_batches_is_the_full_mean_gradient():
    """Every pair of 12 rows, with weights; and every epoch of equal batches."""
    rng = np.random.default_rng(3)
    X, y = two_classes(12, 3)
    weight, theta = rng.uniform(0.1, 5, 12), np.array([0.3, -0.2, 0.1])
    batched = LogisticRegression(l2=0.0).objective(X, y, weight).in_batches()
    full = np.mean([weight[i] * example_gradient(theta, X[i], y[i]) for i in range(12)], axis=0)
    for size in (1, 2, 4):
        read = batched.batches(ShuffledBatches(size), 0, 0)
        g = np.mean([batched.gradient_of(batch, theta, 0.0)[1] for batch in read], axis=0)
        assert_allclose(g, full / weight.mean(), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("scaling", PENALTY_SCALINGS)
def test_one_batch_of_all_has_the_gradient_of_the_objective_of_its_scaling(scaling):
    objective = logistic(n=20, l2=3.0)
    batched, theta = objective.in_batches(), np.array([0.4, -0.7, 0.2])
    (batch,) = batched.batches(ShuffledBatches(20), 0, 0)
    c = {"sum": 1 / 20, "mean": 1.0, "epoch": 1.0}[scaling]

    def gradient(theta):
        return batched.gradient_of(batch, theta, batched.share(scaling, batch))[1]

    def whole(theta):
        return objective.loss(theta) / 20 + c * 3.0 * (theta[:2] @ theta[:2]) / 2

    assert check_gradient(whole, gradient, theta) < 1e-7


def test_shares_of_the_penalty_total_1_in_an_epoch_of_the_lectures():
    batched = logistic(n=50).in_batches()
    shares = [batched.share("epoch", b) for b in batched.batches(ShuffledBatches(16), 0, 0)]
    assert_allclose(sum(shares), 1.0, rtol=1e-15)


@pytest.mark.parametrize("scaling", ["sum", "mean"])
def test_each_scaling_finds_the_optimum_of_its_objective(scaling):
    X, y = two_classes(200)
    l2 = 0.02 if scaling == "mean" else 4.0  # 0.02 times 200 rows
    descent = StochasticDescent(
        0.5, schedule="cosine", epochs=300, average=True, penalty_scaling=scaling
    )
    found = minimise(descent, logistic(200, l2=l2).in_batches(), np.zeros(3), tol=0)
    exact = LogisticRegression(l2=4.0).fit(X, y)
    assert_allclose(found.theta, np.append(exact.coef_, exact.intercept_), atol=0.02)


@pytest.mark.parametrize(("scaling", "strength"), [("sum", 1.0), ("mean", 20.0), ("epoch", 20 / 3)])
def test_the_trace_is_of_the_objective_that_the_scaling_minimises(scaling, strength):
    objective, theta = logistic(n=20, l2=3.0), np.array([0.4, -0.7, 0.2])
    descent = StochasticDescent(0.1, batch=8, epochs=1, penalty_scaling=scaling)  # three batches
    found = minimise(descent, objective.in_batches(), theta, tol=0)
    expected = objective.loss(theta) + strength * 3.0 * (theta[:2] @ theta[:2]) / 2
    assert_allclose(found.trace[0], expected, rtol=1e-12)


def test_a_weight_of_two_is_the_row_twice_and_a_weight_of_0_is_no_row():
    X, y = two_classes(40)
    weight = np.r_[np.full(20, 2.0), np.zeros(10), np.ones(10)]
    model = LogisticRegression(l2=1.0)
    weighted = model.objective(X, y, weight).in_batches()
    assert (weighted.n_rows, weighted.weight) == (30, 50.0)
    kept = np.flatnonzero(weight)
    left_out = model.objective(X[kept], y[kept], weight[kept]).in_batches()
    descent = StochasticDescent(0.5, batch=SampledBatches(30, steps=5), epochs=3)
    ends = [minimise(descent, each, np.zeros(3), tol=0).theta for each in (weighted, left_out)]
    assert_allclose(ends[0], ends[1], rtol=1e-12)  # one batch of all: the order does not matter
    rows = np.repeat(np.arange(40), weight.astype(int))
    repeated = model.objective(X[rows], y[rows]).in_batches()
    whole = StochasticDescent(0.5, batch=50, epochs=3)
    twice = minimise(whole, repeated, np.zeros(3), tol=0).theta
    once = minimise(replace(whole, batch=30), weighted, np.zeros(3), tol=0).theta
    assert_allclose(once, twice, rtol=1e-12)


def test_a_heavy_row_counts_also_when_it_is_alone_in_its_batch():
    y, weight = np.array([0.0, 1.0]), np.array([1.0, 9.0])
    objective = LinearRegression(fit_intercept=False).objective(np.ones((2, 1)), y, weight)
    descent = StochasticDescent(0.05, batch=1, schedule="cosine", epochs=400)
    found = minimise(descent, objective.in_batches(), np.zeros(1), tol=0)
    assert_allclose(found.theta, 0.9, atol=0.01)  # and not 0.5


@settings(max_examples=10)
@given(seed=seeds, stop=st.integers(1, 4), update=st.sampled_from(["sgd", "momentum", "adam"]))
def test_a_search_continues_from_any_state_bit_for_bit(seed, stop, update):
    batched = logistic(n=30, seed=seed).in_batches()
    descent = StochasticDescent(
        0.1, batch=7, update=update, schedule="reduce-on-plateau", epochs=6, seed=seed
    )
    whole, part = [], []
    minimise(descent, batched, np.zeros(3), tol=0, watch=whole.append)
    minimise(descent, batched, np.zeros(3), tol=0, max_iter=stop, watch=part.append)
    state = part[-1]
    while not state.stuck:
        state = descent.step(batched, state)
    assert_array_equal(state.theta, whole[-1].theta)
    assert state.losses == whole[-1].losses


def test_seeds_differ_and_repeat():
    ends = [
        minimise(
            StochasticDescent(0.1, epochs=2, seed=s), logistic().in_batches(), np.zeros(3), tol=0
        )
        for s in (0, 1, 0)
    ]
    assert_array_equal(ends[0].theta, ends[2].theta)
    assert (ends[0].theta != ends[1].theta).any()


def test_it_never_calls_itself_converged_even_at_the_optimum():
    objective = logistic(l2=1.0)
    best = minimise(FixedStep(0.05), objective, objective.start, tol=1e-13, max_iter=5000)
    assert best.converged
    descent = StochasticDescent(0.01, batch=60, epochs=2, schedule="constant")
    found = minimise(descent, objective.in_batches(), best.theta, tol=0.1)
    assert not found.converged
    assert found.gap == np.inf
    assert "all epochs are done (2)" in found.reason


def test_patience_keeps_the_best_epoch():
    descent = StochasticDescent(4.0, batch=1, schedule="constant", epochs=50, patience=4)
    states = []
    found = minimise(descent, logistic().in_batches(), np.zeros(3), tol=0, watch=states.append)
    losses = states[-1].losses
    assert "has not fallen for 4 epochs" in found.reason
    assert len(losses) < 51
    assert_allclose(logistic().value(found.theta), min(losses), rtol=1e-13)


def test_a_rate_too_high_keeps_the_epoch_before_and_says_so():
    X, y = np.array([[1.0], [2.0], [-3.0]]), np.array([1.0, -2.0, 4.0])
    objective = LinearRegression(fit_intercept=False).objective(X * 1e3, y)
    descent = StochasticDescent(1.0, batch=1, schedule="constant", epochs=100)
    found = minimise(descent, objective.in_batches(), np.zeros(1), tol=0)
    assert not found.converged
    assert "not finite after epoch" in found.reason
    assert "learning rate of 1" in found.reason
    assert np.isfinite(found.theta).all()


@pytest.mark.parametrize("scale", [1e-3, 1.0, 30.0])
def test_a_rate_is_found_where_none_is_given(scale):
    X, y = two_classes(200)
    model = LogisticRegression(l2=0.0, fit_intercept=False)
    objective, least = model.objective(X * scale, y), model.fit(X * scale, y).solution_.trace[-1]
    found = minimise(StochasticDescent(epochs=5), objective.in_batches(), np.zeros(2), tol=0)
    assert found.trace[-1] - least < 0.05 * (found.trace[0] - least)


def test_rules_of_stopping_count_epochs():
    descent = StochasticDescent(0.1, epochs=50)
    found = minimise(descent, logistic().in_batches(), np.zeros(3), tol=0, stop=Iterations(4))
    assert found.n_iter == 4
    with pytest.raises(InvalidInput, match="holds no rows out"):
        minimise(descent, logistic().in_batches(), np.zeros(3), stop=HeldOutPatience(2))


def test_a_plateau_reads_the_objective_of_each_epoch():
    descent = StochasticDescent(batch=1, schedule=ReduceOnPlateau(3.0, 0.1, patience=2), epochs=30)
    found = minimise(descent, logistic().in_batches(), np.zeros(3), tol=0)
    constant = replace(descent, schedule="constant", learning_rate=3.0)
    noisy = minimise(constant, logistic().in_batches(), np.zeros(3), tol=0)
    assert found.trace[-1] < noisy.trace[-1]


def test_a_class_that_is_missing_from_a_batch_does_no_harm():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 2))
    y = np.r_[np.zeros(80), np.ones(8), np.full(2, 2)].astype(int)
    X[y == 1] += 2
    objective = SoftmaxRegression(l2=1.0).objective(X, y)
    found = minimise(
        StochasticDescent(batch=4, schedule="cosine", epochs=40, average=True),
        objective.in_batches(),
        objective.start,
        tol=0,
    )
    exact = SoftmaxRegression(l2=1.0).fit(X, y)
    assert found.trace[-1] - exact.solution_.trace[-1] < 0.1


def test_balanced_batches_train_as_if_classes_were_equal():
    X, y = two_classes(200)
    rare = np.r_[np.flatnonzero(y == 0), np.flatnonzero(y == 1)[:10]]
    objective = LogisticRegression(l2=0.0).objective(X[rare], y[rare])
    descent = StochasticDescent(
        batch=BalancedBatches(16), schedule="cosine", epochs=40, average=True
    )
    found = minimise(descent, objective.in_batches(), np.zeros(3), tol=0)
    share = expit(np.column_stack([X[rare], np.ones(len(rare))]) @ found.theta)
    counts = np.bincount(y[rare])
    balanced = np.average(share, weights=(1 / counts)[y[rare]])
    assert_allclose(balanced, 0.5, atol=0.05)
    assert share.mean() > 2 * counts[1] / counts.sum()


def test_any_function_of_rows_can_be_trained():
    y = np.array([1.0, 2.0, 3.0, 6.0])

    def squares(theta, rows):
        residual = theta - y[rows]
        return FirstOrder(float(residual @ residual) / 2, np.array([residual.sum()]))

    losses = ExampleLosses(squares, 4, l2=4.0)
    found = minimise(
        StochasticDescent(0.2, batch=4, schedule="constant", epochs=80), losses, np.zeros(1), tol=0
    )
    assert_allclose(found.theta, y.sum() / (4 + 4), rtol=1e-6)
    assert_allclose(losses.value(found.theta), found.trace[-1])


@pytest.mark.parametrize(
    "make",
    [
        lambda: StochasticDescent(0.0),
        lambda: StochasticDescent(np.nan),
        lambda: StochasticDescent(batch=0),
        lambda: StochasticDescent(epochs=0),
        lambda: StochasticDescent(patience=0),
        lambda: StochasticDescent(update=0.9),
        lambda: StochasticDescent(schedule=0.1),
        lambda: StochasticDescent(least=-1.0),
        lambda: logistic().in_batches().batches(SampledBatches(100), 0, 0).__next__(),
        lambda: minimise(StochasticDescent(), logistic(), np.zeros(3)),
        lambda: LogisticRegression().objective(*two_classes(), reduction="mean").in_batches(),
    ],
)
def test_settings_that_cannot_train_are_refused(make):
    with pytest.raises(InvalidInput, match="expected"):
        make()


def test_a_misspelt_scaling_is_answered_with_the_nearest():
    with pytest.raises(UnknownName, match="epoch"):
        StochasticDescent(penalty_scaling="epochs")
