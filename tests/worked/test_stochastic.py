"""Worked examples of stochastic training: momentum, schedules, the scaling of a penalty.

Each test is named after its entry of ``worked_examples.json``, whose numbers are repeated here.
"""

import numpy as np
from numpy.testing import assert_allclose

from likely.searches import search_learning_rate
from likely.solvers import (
    ExampleLosses,
    FirstOrder,
    InverseTime,
    Momentum,
    ReduceOnPlateau,
    ShuffledBatches,
    StochasticDescent,
    minimise,
)


def no_loss(theta, rows):
    return FirstOrder(0.0, np.zeros_like(theta))


def test_momentum_trace():
    """θ² from 1, η = 0.1, ν = 0.9: Δθ and θ after each of four steps."""
    rule, theta = Momentum(0.9), np.array([1.0])
    slots, trace = rule.slots_for(theta), []
    for step in range(1, 5):
        rule.apply(theta, 2 * theta, slots, step, 0.1)
        trace.append((slots[0, 0], theta[0]))
    expected = [(-0.2, 0.8), (-0.34, 0.46), (-0.398, 0.062), (-0.3706, -0.3086)]
    assert_allclose(trace, expected, rtol=0, atol=1e-12)


def test_momentum_trace_by_the_solver():
    square = ExampleLosses(
        lambda theta, rows: FirstOrder(float(theta @ theta), 2 * theta), n_examples=1
    )
    descent = StochasticDescent(0.1, batch=1, update="momentum", schedule="constant", epochs=4)
    states = []
    minimise(descent, square, np.ones(1), tol=0, watch=states.append)
    assert_allclose(
        [state.theta[0] for state in states], [1.0, 0.8, 0.46, 0.062, -0.3086], rtol=0, atol=1e-12
    )


def test_learning_rate_schedules():
    inverse = InverseTime(0.001, 0.5)
    expected = [0.001, 0.0006666666666666666, 0.0005, 0.00016666666666666666]
    assert_allclose([inverse.rate(t) for t in (0, 1, 2, 10)], expected, rtol=1e-12)
    plateaus = [5, 4, 4, 4, 4, 4]
    assert_allclose(ReduceOnPlateau(1e-3, patience=2).rate(6, plateaus), 1e-5, rtol=1e-12)
    tried = search_learning_rate(lambda rate: 0.0, rounds=0).trials
    rates = sorted(trial.parameters["rate"] for trial in tried)
    assert_allclose(rates, [10.0**k for k in range(-8, 1)], rtol=1e-12)


def test_minibatch_regulariser_scaling():
    """N = 10 in batches of 4, 4 and 2; λ = 1, ∇R = 1, no loss."""
    losses = ExampleLosses(no_loss, n_examples=10, l1=1.0)
    theta = np.ones(1)  # so that ∇R = 1
    cut = list(losses.batches(ShuffledBatches(4), 0, 0))
    assert [batch.n_rows for batch in cut] == [4, 4, 2]
    expected = {"epoch": [0.4, 0.4, 0.2], "mean": [1, 1, 1], "sum": [0.1, 0.1, 0.1]}
    for scaling, coefficients in expected.items():
        shares = [losses.share(scaling, batch) for batch in cut]
        gradients = [
            losses.gradient_of(batch, theta, share)[1][0]
            for batch, share in zip(cut, shares, strict=True)
        ]
        assert_allclose(gradients, coefficients, rtol=0, atol=1e-12)
    assert_allclose(sum(losses.share("epoch", batch) for batch in cut), 1.0, rtol=1e-12, atol=1e-12)
