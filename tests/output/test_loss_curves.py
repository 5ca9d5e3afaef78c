"""Tables of losses: some rows of many, the best one always among them."""

from itertools import pairwise

import matplotlib
import numpy as np
import pytest

from likely.output.loss_curves import MOST_SHOWN, draw_losses, shown_rows

matplotlib.use("Agg")


@pytest.mark.parametrize("n", [1, 2, MOST_SHOWN, MOST_SHOWN + 1, 500])
@pytest.mark.parametrize("best", [0, 3, 499])
def test_the_first_the_best_and_the_last_row_are_shown(n, best):
    best = min(best, n - 1)
    rows = shown_rows({"step": [str(k) for k in range(n)], "loss": ["1"] * n}, best)
    numbers = [row[0] for row in rows if row[0] != "…"]
    assert numbers == sorted(numbers, key=int)
    assert {"0", str(best), str(n - 1)} <= set(numbers)
    assert len(numbers) <= MOST_SHOWN + 1
    gaps = sum(int(b) > int(a) + 1 for a, b in pairwise(numbers))
    assert gaps == len(rows) - len(numbers)


def test_a_curve_without_validation_has_no_best_step():
    words = ("step", "loss", "model")
    axes = draw_losses(None, np.arange(3), np.ones(3), None, best=1, words=words)
    assert len(axes.get_lines()) == 1
    assert draw_losses(axes, np.arange(3), None, np.ones(3), best=1, words=words) is axes
    assert len(axes.get_lines()) == 3


def test_ticks_are_whole_steps():
    words = ("epoch", "loss", "model")
    axes = draw_losses(None, np.arange(1, 20), np.ones(19), None, best=1, words=words)
    assert all(tick == round(tick) for tick in axes.get_xticks())
