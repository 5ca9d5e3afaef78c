"""The picture of margin losses shows the numbers of the losses."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_allclose

from likely.errors import InvalidInput, UnknownName
from likely.teaching import MARGIN_LOSSES, plot_margin_losses


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def test_the_curves_are_the_losses_and_their_slopes():
    """LR-6: every loss by a public call; the logistic one is scaled, and dotted as it is."""
    left, right = plot_margin_losses().axes
    lines = {line.get_label(): line for line in left.get_lines()}
    assert set(lines) == {
        "zero-one",
        "logistic / 0.693",
        "logistic, unscaled",
        "hinge",
        "squared",
        "sigmoid-squared",
    }
    m = lines["hinge"].get_xdata()
    for label, name in (("hinge", "hinge"), ("zero-one", "zero-one"), ("squared", "squared")):
        assert_allclose(lines[label].get_ydata(), MARGIN_LOSSES[name].value(m))
    logistic = MARGIN_LOSSES["logistic"]
    assert_allclose(lines["logistic / 0.693"].get_ydata(), logistic.upper_bound(m))
    assert_allclose(lines["logistic, unscaled"].get_ydata(), logistic.value(m))
    hinge = right.get_lines()[2].get_ydata()
    known = np.isfinite(hinge)
    assert_allclose(hinge[known], MARGIN_LOSSES["hinge"].slope(m)[known])
    assert (~known).sum() == 1, "one gap, at the kink"


def test_the_shaded_margins_are_errors_below_the_bound():
    left, _ = plot_margin_losses(["logistic"], margins=(-2, 2)).axes
    shaded = left.collections[0].get_paths()[0].vertices
    assert_allclose([shaded[:, 0].min(), shaded[:, 0].max()], [-np.log(np.e - 1), 0], atol=0.01)


def test_a_choice_of_names_and_losses_of_ones_own():
    left, _ = plot_margin_losses(["zero-one", MARGIN_LOSSES["squared"]]).axes
    assert [line.get_label() for line in left.get_lines()] == ["zero-one", "squared"]


def test_what_is_no_loss_or_no_range_is_refused():
    with pytest.raises(UnknownName, match="no margin loss 'hinges'"):
        plot_margin_losses(["hinges"])
    with pytest.raises(InvalidInput, match="lower end first"):
        plot_margin_losses(margins=(4, -4))
