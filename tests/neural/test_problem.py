"""What is trained: rows that mislead are named, and networks that are worse than a constant."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import likely
from likely.errors import InvalidInput, OutOfDeviceMemory, SortedRows, UnscaledColumns
from likely.neural.options import checked_options, plan_of_batches
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
        {"batch": ShuffledBatches(8, shuffle=False, window=32)},
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
    with (
        pytest.warns(UnscaledColumns),
        pytest.warns(ConvergenceWarning, match=r"learned nothing.*of a constant is 1\.099"),
    ):
        classifier(max_epochs=40, tol=tol).fit(1e6 * X, y)


def test_a_regression_that_is_worse_than_a_constant_is_named_in_the_units_of_y():
    X, y = waves()
    with (
        pytest.warns(UnscaledColumns, match="far from unit scale"),
        pytest.warns(ConvergenceWarning, match=f"of a constant is {np.var(y) / 2:.4g}"),
    ):
        regressor(max_epochs=40).fit(X + 1e6, y)


@pytest.mark.parametrize("response", ["categorical", "ordinal", "square-error-softmax"])
def test_the_loss_of_a_constant_is_that_of_the_frequencies(response):
    X, y = blobs()
    y = np.minimum(y, np.arange(len(y)) % 4)
    weight = np.linspace(0.5, 2, len(y))
    model = classifier(response=response)
    start = model.training_starts(model.options_on(X), X, y, weight)[0]
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
    options = classifier().options_on(X)
    start = classifier().training_starts(options, X, y, np.full(len(y), scale))[0]
    whole = classifier().training_starts(options, X, y, None)[0]
    assert_allclose(start.theta, whole.theta, rtol=1e-6)


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
    options = checked_options(classifier(batch="auto"))
    assert plan_of_batches(options, n_rows).size == size


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_columns_far_from_unit_scale_are_named_once(layout):
    """An offset of a million leaves no ReLU unit alive, whatever else is learned."""
    X, y = blobs()
    X = np.column_stack(
        [X, X[:, 0] + 1e6, 1e-5 * X[:, 1], np.zeros(len(X)), np.arange(len(X)) == 3]
    )
    names = f"'x{X.shape[1] - 4}', 'x{X.shape[1] - 3}' are far from unit scale"
    with pytest.warns(UnscaledColumns) as caught:
        classifier(max_epochs=1, tol=None, n_networks=2).fit(layout(X), y)
    assert len(caught) == 1
    assert names in str(caught[0].message)
    assert "likely.Prepared(model), or scikit-learn's StandardScaler" in str(caught[0].message)


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_weights_that_float32_cannot_hold_are_refused_in_words(scale):
    X, y = blobs()
    weight = scale * np.ones(len(y))
    with pytest.raises(InvalidInput, match=r"largest sample_weight is 1e[+-]300.*Divide all weigh"):
        classifier().fit(X, y, sample_weight=weight)
    model = classifier(max_epochs=1, tol=None).fit(X, y, sample_weight=weight / scale * 1e-20)
    with pytest.raises(InvalidInput, match="largest sample_weight"):
        model.partial_fit(X, y, sample_weight=weight)


@pytest.mark.parametrize(
    ("validation", "message"),
    [
        ((np.empty((0, 2)), []), r"validation set cannot be used: Found array with 0 sample.*row"),
        ((np.ones((3, 5)), [0, 1, 2]), "X has 5 features, but NeuralNetworkClassifier is expect.*"),
    ],
)
def test_a_validation_set_without_rows_or_with_other_columns_is_refused(validation, message):
    X, y = blobs()
    with pytest.raises(InvalidInput, match=message):
        classifier(validation=validation).fit(X[:, :2], y)


def test_a_device_without_memory_says_what_to_change(monkeypatch):
    torch = pytest.importorskip("torch")
    from likely.neural import torch_networks

    def refuse(*arguments, **more):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")

    monkeypatch.setattr(torch_networks.Networks, "epoch", refuse)
    X, y = blobs()
    for model in (classifier(device=torch.device("cpu")),):
        with pytest.raises(OutOfDeviceMemory, match=r"memory; cpu has too little.*batch.*float32"):
            model.fit(X, y)
        with pytest.raises(OutOfDeviceMemory, match="train fewer networks at once"):
            likely.fit_many([classifier()], X, y, device=torch.device("cpu"))
