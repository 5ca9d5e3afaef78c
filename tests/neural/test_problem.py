"""What is trained: rows that mislead are named, and networks that are worse than a constant."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning

import likely
from likely.errors import InvalidInput, SortedRows
from likely.neural.options import batches_for
from likely.solvers import BalancedBatches, SampledBatches, ShuffledBatches
from tests.neural.estimators import blobs, classifier, regressor, waves


def sorted_blobs():
    X, y = blobs()
    order = np.argsort(y, kind="stable")
    return X[order], y[order]


def test_rows_that_are_sorted_by_class_across_windows_are_named():
    X, y = sorted_blobs()
    with pytest.warns(SortedRows, match="inside windows of 32 rows.*Shuffle the rows"):
        classifier(batch=ShuffledBatches(8, window=32)).fit(X, y)


def test_numbers_that_are_sorted_across_windows_are_named():
    X, y = waves()
    order = np.argsort(y)
    with pytest.warns(SortedRows, match="sorted by y"):
        regressor(batch=ShuffledBatches(8, window=32)).fit(X[order], y[order])


@pytest.mark.parametrize(
    "options",
    [
        {},  # one window
        {"batch": ShuffledBatches(8, shuffle=False, window=32), "shuffle": False},
        {"batch": SampledBatches(8)},
        {"batch": BalancedBatches(8)},
        {"balanced": True},
        {"solver": "lbfgs", "batch": "auto"},
    ],
)
def test_rows_that_are_read_from_everywhere_may_be_sorted(options):
    X, y = sorted_blobs()
    with warnings.catch_warnings():
        warnings.simplefilter("error", SortedRows)
        classifier(**options).fit(X, y)


def test_rows_in_random_order_are_not_called_sorted():
    X, y = blobs(n=900)
    with warnings.catch_warnings():
        warnings.simplefilter("error", SortedRows)
        classifier(batch=ShuffledBatches(8, window=128), max_epochs=1).fit(X, y)


@pytest.mark.parametrize("tol", ["auto", None])
def test_a_network_that_is_worse_than_a_constant_is_named(tol):
    """Large columns make large predictors, which small steps of the weights do not correct."""
    X, y = blobs()
    with pytest.warns(ConvergenceWarning, match=r"learned nothing.*of a constant is 1\.099"):
        classifier(max_epochs=40, tol=tol).fit(1e6 * X, y)


def test_a_regression_that_is_worse_than_a_constant_is_named_in_the_units_of_y():
    X, y = waves()
    with pytest.warns(ConvergenceWarning, match=f"of a constant is {np.var(y) / 2:.4g}"):
        regressor(max_epochs=40).fit(X + 1e6, y)


@pytest.mark.parametrize("response", ["categorical", "ordinal", "square-error-softmax"])
def test_the_loss_of_a_constant_is_that_of_the_frequencies(response):
    X, y = blobs()
    y = np.minimum(y, np.arange(len(y)) % 4)
    weight = np.linspace(0.5, 2, len(y))
    start = classifier(response=response).training_start(X, y, weight)
    share = np.bincount(y, weight) / weight.sum()
    loss = -np.log(share[y])
    if response == "square-error-softmax":
        loss = np.square(share - np.eye(3)[y]).sum(axis=1) / 2
    assert_allclose(
        start.problem.constant_loss(), np.average(loss, weights=weight), rtol=2e-4
    )  # half a row is added to each class


def test_noise_is_not_called_worse_than_a_constant():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), rng.integers(0, 2, 200)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        likely.NeuralNetworkClassifier((20,), early_stopping=True, random_state=0).fit(X, y)


def test_a_negative_seed_is_refused():
    X, y = blobs()
    with pytest.raises(InvalidInput, match="random_state=-1 was given"):
        classifier(random_state=-1).fit(X, y)


@pytest.mark.parametrize("scale", [1e-9, 1.0])
def test_start_values_do_not_depend_on_the_scale_of_small_weights(scale):
    """Those of whole weights are those of repeated rows."""
    X, y = blobs()
    y = np.minimum(y, np.arange(len(y)) % 4)
    start = classifier().training_start(X, y, np.full(len(y), scale))
    assert_allclose(start.theta, classifier().training_start(X, y, None).theta, rtol=1e-6)


@pytest.mark.parametrize("weight", [np.inf, np.nan, -1.0])
def test_class_weights_are_finite_and_not_negative(weight):
    X, y = blobs()
    with pytest.raises(InvalidInput, match="weights are finite, 0 or more"):
        classifier(class_weight={1: weight}).fit(X, y)


def test_a_share_of_small_classes_is_held_out_of_all_of_them():
    """A tenth of four rows is none of them; a tenth of all twenty is two."""
    X, y = np.random.default_rng(0).normal(size=(21, 2)), [*np.repeat(np.arange(5), 4), 5]
    model = classifier(early_stopping=True, validation=0.1).fit(X, y)
    assert model.held_out_ == (3, 18)  # ⌈0.1 · 21⌉


@pytest.mark.parametrize(("n_rows", "size"), [(9_999, 32), (10_000, 128), (20, 20)])
def test_the_usual_batch_grows_with_the_rows(n_rows, size):
    assert batches_for(classifier(batch="auto"), n_rows, balanced=False).size == size
