"""Worked examples of distributions and their estimates.

Each test is named after its entry of ``worked_examples.json``, whose numbers are repeated here.
"""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from likely.distributions import (
    Bernoulli,
    DiagonalFamily,
    DiagonalGaussian,
    FullGaussian,
    Labels,
    Laplace,
    Multinomial,
    laplace_negative_log,
)
from likely.special import softmax


def test_multinomial_coefficient():
    die = Multinomial.from_probability([0.1, 0.2, 0.3, 0.4])
    throws = np.array([[2.0, 1.0, 0.0, 3.0]])
    assert_allclose(np.exp(die.log_prob(throws)), [[0.007680000000000004]], rtol=1e-12, atol=1e-12)
    log_B = die.log_prob(throws) - die.log_score(throws)
    assert_allclose(
        log_B, [[4.0943445622221]], rtol=1e-12, atol=1e-12
    )  # B = 6! / (2! 1! 0! 3!) = 60


def test_two_dimensional_independent_gaussian():
    """The product form equals the matrix form."""
    mean, variance, x = [[1.0, -1.0]], np.array([[0.25, 4.0]]), np.array([[0.7, 0.4]])
    product = DiagonalGaussian(np.array(mean), variance)
    matrix = FullGaussian.from_covariance(mean, np.diag(variance[0]))
    assert_allclose(np.exp(product.log_prob(x)), [[0.1040506929475415]], rtol=1e-14, atol=1e-14)
    assert_allclose(np.exp(matrix.log_prob(x)), [[0.10405069294754152]], rtol=1e-14, atol=1e-14)


def test_laplace_prior_negative_log():
    """D ln 2b + ‖w‖₁/b, with D = 3: the printed formula (5.622…) lacks the factor D."""
    w, b = np.array([0.5, -1.2, 2.0]), 0.7
    assert_allclose(laplace_negative_log(w, b), 6.295130995577925, rtol=1e-12, atol=1e-12)
    zero_mean = Laplace(np.zeros((1, 3)), np.full((1, 3), b))
    assert_allclose(-zero_mean.log_prob(w[None]), [[6.295130995577925]], rtol=1e-12, atol=1e-12)


def test_gmm_two_component_em_known_label_estimates():
    """Labels known: the first six are A, the others B; divided by n, and by n − 1."""
    x = [-2.1, -1.7, -1.3, -0.9, -0.4, 0.2, 2.6, 3.1, 3.4, 3.9, 4.3, 5.0]
    labels = Labels(np.repeat([0, 1], 6), 2)
    by_n, by_n_minus_1 = (
        family.from_statistics(family.statistics(np.array(x)[:, None], labels))
        for family in (DiagonalFamily(ddof=0), DiagonalFamily(ddof=1))
    )
    assert_allclose(
        by_n.mean[:, 0], [-1.0333333333333334, 3.716666666666667], rtol=1e-12, atol=1e-12
    )
    assert_allclose(
        by_n.variance[:, 0], [0.5988888888888889, 0.6247222222222222], rtol=1e-12, atol=1e-12
    )
    unbiased = [0.7186666666666667, 0.7496666666666666]
    assert_allclose(by_n_minus_1.variance[:, 0], unbiased, rtol=1e-12, atol=1e-12)


def test_bernoulli_event_model():
    X = np.array([[1, 1, 0, 0, 1], [1, 0, 1, 0, 0], [0, 0, 1, 1, 0], [0, 1, 0, 1, 0]], float)
    seen = Bernoulli.statistics(X, Labels(np.array([1, 1, 0, 0]), 2))
    theta = Bernoulli.from_statistics(seen).probability
    assert_array_equal(theta, [[0.0, 0.5, 0.5, 1.0, 0.0], [1.0, 0.5, 0.5, 0.0, 0.5]])
    smoothed = Bernoulli.from_statistics(seen + Bernoulli.pseudo_statistics(1.0, (2, 5)))
    expected = [[0.25, 0.5, 0.5, 0.75, 0.25], [0.75, 0.5, 0.5, 0.25, 0.5]]
    assert_array_equal(smoothed.probability, expected)
    posterior = softmax(smoothed.log_prob(np.array([[1.0, 0, 0, 1, 0]])))
    assert_allclose(posterior, [[0.6000000000000001, 0.39999999999999963]], rtol=1e-12, atol=1e-12)


def test_multinomial_event_model_tokens():
    """Documents as counts of five words; φ smoothed by α = 1, and the maximum without."""
    counts = np.array([[2, 1, 0, 0, 1], [1, 0, 1, 0, 0], [0, 0, 1, 2, 0], [0, 1, 0, 1, 0]], float)
    seen = Multinomial.statistics(counts, Labels(np.array([1, 1, 0, 0]), 2))
    assert_array_equal(seen.multipliers, [5, 6])  # the words of each class
    smoothed = Multinomial.from_statistics(seen + Multinomial.pseudo_statistics(1.0, (2, 5)))
    phi_1 = [4 / 11, 2 / 11, 2 / 11, 1 / 11, 2 / 11]
    assert_allclose(
        smoothed.probability, [[0.1, 0.2, 0.2, 0.4, 0.1], phi_1], rtol=1e-12, atol=1e-12
    )
    maximum = Multinomial.from_statistics(seen).probability[1]
    assert_allclose(maximum, [1 / 2, 1 / 6, 1 / 6, 0, 1 / 6], rtol=1e-12, atol=1e-12)
    form = smoothed.linear_form()
    weights = [1.2909841813155656, -0.09531017980432499, -0.09531017980432499]
    weights += [-1.4816045409242156, 0.5978370007556202]
    assert_allclose(form.coef[1] - form.coef[0], weights, rtol=1e-12, atol=1e-12)
    test_document = np.array([[2.0, 0, 0, 1, 0]])
    posterior = softmax(smoothed.log_score(test_document))
    assert_allclose(posterior, [[0.24967173138247994, 0.7503282686175201]], rtol=1e-12, atol=1e-12)
