"""The learning curve: a table, a frame and a picture of the same numbers."""

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot
from numpy.testing import assert_array_equal

from likely.neural.history import History, LossCurve
from tests.neural.estimators import blobs, classifier, regressor

matplotlib.use("Agg")


def curve(n=30):
    found = LossCurve()
    for t in range(n):
        found = found.with_epoch(2.0 / (t + 1), abs(t - 20) + 1.0, 0.1, 0.01)
    return found


def history(n=30, **changes):
    given = {"kept_epoch": 21, "ending": "max_epochs=30 was reached", "converged": True}
    return History.of(curve(n), model="Net", **{**given, **changes})


def test_the_best_epoch_is_counted_from_one():
    assert curve().best == 21
    assert history().best_epoch == 21
    assert LossCurve().best == 0
    assert LossCurve((1.0, 0.5, 0.7)).best == 2  # of the training loss, without validation rows


def test_the_frame_has_one_row_per_epoch():
    frame = history().to_frame("pandas")
    assert list(frame) == ["epoch", "loss", "validation", "rate", "seconds"]
    assert_array_equal(frame["epoch"], np.arange(1, 31))
    assert_array_equal(frame["loss"], 2.0 / np.arange(1, 31))


def test_a_table_of_many_epochs_shows_the_best_and_the_last():
    text = str(history())
    assert "lowest validation loss in epoch 21; the parameters are those of epoch 21" in text
    assert "…" in text
    assert {line.split()[0] for line in text.splitlines()[3:]} >= {"1", "21", "30", "…"}
    assert "<table" in history()._repr_html_()


def test_the_picture_has_both_curves_and_the_best_epoch():
    axes = history().plot()
    train, validation, best = axes.get_lines()
    assert_array_equal(train.get_xdata(), np.arange(1, 31))
    assert_array_equal(validation.get_ydata(), history().validation)
    assert set(best.get_xdata()) == {21}
    assert axes.get_xlabel() == "epoch"


def test_losses_are_in_the_unit_of_the_response():
    assert history(unit=4.0).loss[0] == pytest.approx(8.0)
    assert history(unit=4.0).validation.min() == pytest.approx(4.0)


def test_no_epochs_print_as_a_sentence():
    empty = History.of(LossCurve(), kept_epoch=0, ending="none", converged=True, model="Net")
    assert str(empty) == "Net: 0 epochs, none."
    assert empty.validation is None


@pytest.mark.parametrize(
    ("model", "label"),
    [
        (classifier(), "mean loss (nats)"),
        (classifier(response="square-error-softmax"), "mean loss"),
        (regressor(), "mean loss"),  # half the square error has the unit of y squared
    ],
)
def test_the_axis_says_nats_where_the_loss_is_a_log_probability(model, label):
    X, y = blobs()
    axes = model.fit(X, y).history_.plot()
    assert axes.get_ylabel() == label
    pyplot.close(axes.figure)
