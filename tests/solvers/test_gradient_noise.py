"""The noise of gradients by the size of their batch: measured against the formula."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from likely import LogisticRegression
from likely.errors import InvalidInput
from likely.solvers import gradient_noise

THETA = np.array([0.2, -0.1, 0.5, 0.0])


def objective(n=300, weight=None, l2=0.0):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, 3)), rng.integers(0, 2, n)
    return LogisticRegression(l2=l2).objective(X, y, weight)


@pytest.mark.parametrize("replace", [True, False])
def test_the_variance_is_within_a_tenth_of_the_formula(replace):
    whole = objective()
    noise = gradient_noise(whole.in_batches(), THETA, (1, 4, 16, 64), replace=replace)
    each = np.stack([whole.gradient(THETA, rows=i) for i in range(300)])
    spread = np.square(each - each.mean(axis=0)).sum(axis=1).mean()
    size = np.array([1, 4, 16, 64])
    formula = spread / size * (1 if replace else (300 - size) / 299)
    assert_allclose(noise.expected, formula, rtol=1e-12)
    assert_allclose(noise.variance, formula, rtol=0.1)


def test_all_rows_without_replacement_have_no_noise():
    noise = gradient_noise(objective().in_batches(), THETA, (300,), replace=False, n_draws=20)
    assert noise.variance[0] < 1e-28
    assert noise.expected[0] == 0
    assert_allclose(noise.cosine, 1.0)


def test_larger_batches_point_more_nearly_downhill():
    noise = gradient_noise(objective(l2=5.0).in_batches(), THETA, (1, 8, 64), n_draws=500)
    assert (np.diff(noise.cosine) > 0).all()
    assert noise.cosine[-1] > 0.8 > 0.3 > noise.cosine[0]


def test_weights_count():
    weight = np.r_[np.full(150, 3.0), np.ones(150)]
    noise = gradient_noise(objective(weight=weight).in_batches(), THETA, (4,), n_draws=4000)
    assert_allclose(noise.variance, noise.expected, rtol=0.1)


def test_the_table_and_the_figure_show_every_size():
    noise = gradient_noise(objective(50).in_batches(), THETA, (1, 8), n_draws=50)
    assert [line.split()[0] for line in str(noise).splitlines()] == ["batch", "1", "8"]
    left, right = noise.plot().axes
    assert list(left.lines[1].get_xdata()) == [1, 8]
    assert_allclose(left.lines[1].get_ydata(), noise.variance)
    assert_allclose(right.lines[0].get_ydata(), noise.cosine)


def test_a_batch_larger_than_the_data_is_refused_without_replacement():
    with pytest.raises(InvalidInput, match="at most 50 were expected"):
        gradient_noise(objective(50).in_batches(), THETA, (51,), replace=False)
