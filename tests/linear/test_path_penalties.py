"""The choice of a penalty: folds, the curve over them, and the rule of one standard error."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import KFold

from likely.errors import InvalidInput
from likely.linear.path_penalties import choose, path_folds


@given(seed=st.integers(0, 10**6), folds=st.integers(2, 6), length=st.integers(1, 12))
def test_the_choice_is_the_largest_penalty_within_one_standard_error(seed, folds, length):
    rng = np.random.default_rng(seed)
    deviance, weight = rng.random((length, folds)), rng.random(folds) + 0.1
    choice = choose(deviance, weight, "one-standard-error")
    bound = choice.mean[choice.best] + choice.standard_error[choice.best]
    assert choice.mean[choice.best] == choice.mean.min()
    assert choice.mean[choice.chosen] <= bound
    assert (choice.mean[: choice.chosen] > bound).all()
    assert choose(deviance, weight, "best").chosen == choice.best


def test_the_rule_on_numbers_worked_by_hand():
    """Means 4, 2.9, 2, 2.5; the least has deviations ±1, so an error of √(1/(2 − 1)) = 1."""
    deviance = np.array([[3.0, 5.0], [2.9, 2.9], [1.0, 3.0], [2.0, 3.0]])
    choice = choose(deviance, np.ones(2), "one-standard-error")
    assert_allclose(choice.mean, [4.0, 2.9, 2.0, 2.5])
    assert_allclose(choice.standard_error[2], 1.0)
    assert (choice.best, choice.chosen) == (2, 1)


@given(
    seed=st.integers(0, 10**6),
    n_folds=st.integers(2, 5),
    random_state=st.none() | st.integers(0, 9),
)
def test_folds_share_out_every_present_row_and_every_class(seed, n_folds, random_state):
    rng = np.random.default_rng(seed)
    y = np.concatenate([[0, 0, 1, 1], rng.integers(0, 2, 36)])
    present = np.concatenate([np.ones(4, dtype=bool), rng.random(36) < 0.8])
    folds = path_folds(
        n_folds, y[:, None], y, present=present, classes=True, random_state=random_state
    )
    held = np.concatenate([held for _, held in folds])
    assert_array_equal(np.sort(held), np.flatnonzero(present))
    for learn, fold in folds:
        assert_array_equal(np.sort(np.append(learn, fold)), np.flatnonzero(present))
        assert set(y[learn]) == {0, 1}
    ones = [(y[fold] == 1).sum() for _, fold in folds]
    assert max(ones) - min(ones) <= 1


def test_the_folds_of_a_splitter_lose_their_absent_rows():
    y, present = np.arange(6.0), np.array([1, 1, 0, 1, 1, 0], dtype=bool)
    folds = path_folds(KFold(2), y[:, None], y, present=present, classes=False, random_state=None)
    assert [(a.tolist(), b.tolist()) for a, b in folds] == [([3, 4], [0, 1]), ([0, 1], [3, 4])]


def test_a_splitter_that_leaves_a_fold_without_rows_is_refused():
    y, present = np.arange(4.0), np.array([1, 1, 0, 0], dtype=bool)
    with pytest.raises(InvalidInput, match="one without rows"):
        path_folds(KFold(2), y[:, None], y, present=present, classes=False, random_state=None)
