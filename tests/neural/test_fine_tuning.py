"""Layers that are trained, and layers that stay: two phases, and the cascade."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from likely.errors import InvalidInput
from tests.neural.estimators import UPDATES, blobs, classifier


def rare(n=400, seed=0):
    """A class of one row in ten."""
    rng = np.random.default_rng(seed)
    y = (np.arange(n) % 10 == 0).astype(int)
    return rng.normal(size=(n, 3)) + y[:, None], y


def test_balanced_batches_then_the_true_frequencies():
    """OPT-13: lower layers unchanged in phase two; mean probabilities within 2 points."""
    X, y = rare()
    model = classifier((8,), balanced=True, learning_rate=0.02, max_epochs=30).fit(X, y)
    assert model.predict_proba(X)[:, 1].mean() > y.mean() + 0.1
    weight, bias = model.weights_[0].copy(), model.biases_[0].copy()
    model.fine_tune(X, y, max_epochs=60)
    assert_array_equal(model.weights_[0], weight)
    assert_array_equal(model.biases_[0], bias)
    assert abs(model.predict_proba(X)[:, 1].mean() - y.mean()) < 0.02
    assert model.history_.n_epochs == 60
    assert model.batch.balanced


@pytest.mark.parametrize("update", UPDATES)
def test_frozen_layers_are_unchanged_and_the_others_learn(update):
    """NN-9: also under weight decay, momentum and L-BFGS."""
    X, y = blobs()
    options = {**UPDATES[update], "l2": 0.5, "dtype": "float64"}
    before = classifier((4, 4), max_epochs=0, dtype="float64").fit(X, y).weights_
    for trained in ([0], [1], [-1], [0, 2]):
        model = classifier((4, 4), trainable=trained, **options).fit(X, y)
        for layer, (old, new) in enumerate(zip(before, model.weights_, strict=True)):
            changed = layer in [each % 3 for each in trained]
            assert (old != new).any() == changed


def test_joint_training_of_a_cascade_beats_its_last_unit_alone():
    """NN-9, LR-15: from the same start."""
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    y = np.array([0, 1, 1, 0])
    best = np.inf
    for seed in range(4):
        options = {"activation": "sigmoid", "solver": "lbfgs", "batch": "auto", "l2": 1e-4}
        options |= {
            "max_epochs": 150,
            "tol": 1e-9,
            "initialise": "glorot-normal",
            "random_state": seed,
        }
        joint = classifier((2,), **options).fit(X, y)
        alone = classifier((2,), **options, trainable=[-1]).fit(X, y)
        assert joint.history_.loss[-1] < alone.history_.loss[-1]
        best = min(best, joint.history_.loss[-1])
    assert best < 0.05


def test_fine_tuning_is_refused_without_changing_the_model():
    X, y = blobs()
    model = classifier().fit(X, y)
    before = model.parameters_
    with pytest.raises(InvalidInput, match=r"The layer 5 was named .* has layers 0 to 1"):
        model.fine_tune(X, y, layers=[5])
    with pytest.raises(InvalidInput, match="does not exist in the initial classes"):
        model.fine_tune(X, y + 1)
    assert model.parameters_ is before
    with pytest.raises(InvalidInput, match="trainable names no layer"):
        classifier(trainable=[]).fit(X, y)


@pytest.mark.parametrize(
    ("layers", "message"),
    [
        (-1, r"layers=-1 was given; a list of layers was expected. Use layers=\[-1\]"),
        ([5], r"The layer 5 was named to be trained; .* Name some of them: layers=\[-1\]"),
        ([], "layers names no layer; .* Use layers=None for all"),
    ],
)
def test_refused_layers_are_called_as_in_the_call(layers, message):
    X, y = blobs()
    model = classifier().fit(X, y)
    with pytest.raises(InvalidInput, match=message):
        model.fine_tune(X, y, layers=layers)
