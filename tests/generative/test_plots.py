"""Pictures of mixtures show the rows, every component and their sum."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_allclose

from likely import GaussianMixture
from likely.errors import InvalidInput

X = np.random.default_rng(0).normal(size=(200, 3)) + 6.0 * (np.arange(200) % 2)[:, None]


def fitted(d, covariance="full"):
    return GaussianMixture(2, covariance, random_state=0).fit(X[:, :d])


def test_one_column_shows_components_and_their_sum():
    """MIX-7: the curves are π_k p(x | k), and the dotted one is p(x)."""
    model = fitted(1)
    axis = model.plot(X[:, :1])
    first, second, total = axis.get_lines()
    grid = total.get_xdata()[:, None]
    assert_allclose(total.get_ydata(), np.exp(model.score_samples(grid)))
    assert_allclose(first.get_ydata() + second.get_ydata(), total.get_ydata())
    assert len(axis.patches) > 5  # the histogram
    assert [text.get_text() for text in axis.get_legend().get_texts()][-1] == "p(x)"
    plt.close("all")


@pytest.mark.parametrize("covariance", ["full", "tied", "diagonal", "spherical"])
def test_two_columns_show_every_row_once_on_the_axes_given(covariance):
    axis = plt.subplots()[1]
    assert fitted(2, covariance).plot(X[:, :2], ax=axis) is axis
    dots = [c for c in axis.collections if len(c.get_offsets()) > 1]
    assert sum(len(c.get_offsets()) for c in dots) == 200
    plt.close("all")


def test_three_columns_are_refused():
    with pytest.raises(InvalidInput, match="one or two columns; X has 3"):
        fitted(3).plot(X)
