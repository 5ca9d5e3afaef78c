"""Losses of the output: their slopes, their extremes, and what is refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from likely.errors import InvalidInput
from likely.likelihoods import Bernoulli, Categorical, Ordinal, Poisson
from likely.neural.outputs import output_of
from tests.neural.networks import OUTPUTS, output_and_target


def some_eta(output, n, spread=2.0):
    rng = np.random.default_rng(3)
    return rng.normal(scale=spread, size=(n, output.n_outputs)), rng.normal(size=output.n_extra)


@pytest.mark.parametrize("name", OUTPUTS)
def test_slopes_are_derivatives_of_the_loss(name):
    output, y = output_and_target(name)
    eta, extra = some_eta(output, len(y))
    found = output.loss_and_slope(y, eta, extra)
    assert_allclose(found.loss, output.loss(y, eta, extra), rtol=1e-13, atol=1e-14)
    step = 1e-5
    for j in range(output.n_outputs):
        move = step * np.eye(output.n_outputs)[j]
        up, down = output.loss(y, eta + move, extra), output.loss(y, eta - move, extra)
        assert_allclose(found.slope[:, j], (up - down) / (2 * step), rtol=1e-6, atol=1e-8)
    for j in range(output.n_extra):
        move = step * np.eye(output.n_extra)[j]
        up, down = output.loss(y, eta, extra + move), output.loss(y, eta, extra - move)
        assert_allclose(found.extra[:, j], (up - down) / (2 * step), rtol=1e-6, atol=1e-8)
    assert (found.extra is None) == (output.n_extra == 0)


@pytest.mark.parametrize("name", ["bernoulli", "categorical", "ordinal", "square error, softmax"])
def test_losses_from_predictors_equal_losses_from_probabilities(name):
    output, y = output_and_target(name)
    eta, extra = some_eta(output, len(y), spread=1.0)
    eta = np.clip(eta, -5, 5)
    chosen = output.mean(eta, extra)[np.arange(len(y)), y.ravel().astype(int)]
    if name.startswith("square"):
        target = np.eye(3)[y]
        expected = ((output.mean(eta, extra) - target) ** 2).sum(axis=1) / 2
    else:
        expected = -np.log(chosen)
    assert_allclose(output.loss(y, eta, extra), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    "name", ["bernoulli", "categorical", "soft labels", "ordinal", "square error, sigmoid"]
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_losses_are_finite_at_1000(name, dtype):
    output, y = output_and_target(name)
    for value in (-1000.0, 1000.0):
        eta = np.full((len(y), output.n_outputs), value, dtype=dtype)
        eta[:, 0] = -value if output.n_outputs > 1 else value
        found = output.loss_and_slope(y, eta, np.zeros(output.n_extra))
        assert np.isfinite(found.loss).all() and np.isfinite(found.slope).all()
        assert found.loss.dtype == np.float64


def test_a_poisson_mean_out_of_range_is_an_infinite_loss_without_nan():
    output, y = output_and_target("poisson")
    loss, slope, _ = output.loss_and_slope(y, np.full((len(y), 1), 1000.0), np.zeros(0))
    assert (loss == np.inf).all() and not np.isnan(slope).any()


@pytest.mark.parametrize("name", OUTPUTS)
def test_probabilities_of_classes_add_up_to_1(name):
    output, y = output_and_target(name)
    eta, extra = some_eta(output, len(y))
    if output.n_classes is None:
        assert output.mean(eta, extra).shape == (len(y), output.n_outputs)
        with pytest.raises(InvalidInput, match="has no classes"):
            output.log_probability(eta, extra)
        return
    mean = output.mean(eta, extra)
    assert mean.shape == (len(y), output.n_classes)
    assert_allclose(mean.sum(axis=1), 1.0)
    assert_allclose(np.exp(output.log_probability(eta, extra)), mean, rtol=1e-12)


def test_thresholds_start_at_the_frequencies_of_classes():
    output = output_of("ordinal", n_classes=3)
    extra = output.initial_extra(np.array([1.0, 2.0, 5.0]))
    assert_allclose(output.mean(np.zeros((1, 1)), extra), [[1 / 8, 2 / 8, 5 / 8]])


def test_the_target_decides_the_response():
    assert output_of().name == "gaussian (identity link)"
    assert output_of(n_classes=2).n_outputs == 1
    assert output_of(n_classes=5).n_outputs == 5
    assert output_of("categorical", n_classes=2).n_outputs == 2


def test_parts_are_taken_as_they_are():
    assert output_of(Poisson(), n_outputs=3).n_outputs == 3
    assert output_of(Bernoulli(), n_classes=2).n_classes == 2
    assert output_of(Categorical(4), n_classes=4).name == "categorical"
    assert output_of(Ordinal(4), n_classes=4).n_extra == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"response": "poisson", "n_classes": 3}, "'poisson' cannot be used for classes"),
        ({"response": "bernoulli", "n_classes": 3}, "with 3 classes"),
        ({"response": "square-error-sigmoid", "n_classes": 3}, "for two classes"),
        ({"response": "categorical"}, "for classes; y has numbers"),
        ({"response": "ordinal"}, "for classes; y has numbers"),
        ({"response": Ordinal(4), "n_classes": 3}, "4 classes, and y has 3"),
        ({"response": "ordinal", "n_classes": 3, "link": "log"}, "does not give probabilities"),
        ({"response": "categorical", "n_classes": 3, "link": "log"}, "link of its own"),
        ({"n_classes": 2, "link": "inverse"}, "gives means in"),
        ({"response": "poison"}, "Did you mean 'poisson'"),
        ({"n_classes": 1}, "2 or more classes"),
    ],
)
def test_outputs_that_do_not_suit_are_refused(arguments, message):
    with pytest.raises(InvalidInput, match=message):
        output_of(**arguments)


def test_targets_that_do_not_suit_are_refused():
    with pytest.raises(InvalidInput, match="from 0 to 2; found 3"):
        output_of(n_classes=3).check(np.array([0, 3]))
    with pytest.raises(InvalidInput, match="between 0 and 1; found 2"):
        output_of("square-error-sigmoid").check(np.array([0.5, 2.0]))
    with pytest.raises(InvalidInput, match="0 or more; found -1"):
        output_of("poisson").check(np.array([1.0, -1.0]))
