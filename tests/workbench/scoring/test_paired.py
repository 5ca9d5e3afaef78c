"""The corrected paired test: its formula, its symmetry, and that it is not too sure of itself."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from likely.workbench.scoring.paired import (
    FEWEST_ROWS,
    corrected_interval,
    corrected_test,
    lone_rows,
    standard_error,
)

FOLDS = arrays(np.float64, st.integers(2, 12), elements=st.floats(-10, 10))


def test_the_statistic_is_that_of_nadeau_and_bengio():
    # d = 1, 2, 3: mean 2, s² = 1; with n_test/n_train = 1/2 the variance is 1/3 + 1/2 = 5/6
    found = corrected_test(np.array([1.0, 2.0, 3.0]), test_per_train=0.5)
    assert found.difference == 2
    assert found.t == pytest.approx(2 / np.sqrt(5 / 6), rel=1e-14)
    assert found.p == pytest.approx(2 * stats.t.sf(2 / np.sqrt(5 / 6), 2), rel=1e-12)


def test_without_overlap_it_is_the_ordinary_paired_test():
    differences = np.random.default_rng(0).normal(0.3, 1, 20)
    found = corrected_test(differences, test_per_train=0.0)
    reference = stats.ttest_1samp(differences, 0.0)
    assert found.t == pytest.approx(reference.statistic, rel=1e-12)
    assert found.p == pytest.approx(reference.pvalue, rel=1e-10)
    assert (found.low, found.high) == pytest.approx(tuple(reference.confidence_interval()))


@given(FOLDS)
def test_swapping_the_models_changes_the_sign_alone(differences):
    one = corrected_test(differences, test_per_train=0.25)
    other = corrected_test(-differences, test_per_train=0.25)
    assert (one.difference, one.low, one.high) == (-other.difference, -other.high, -other.low)
    assert one.p == other.p


@given(FOLDS)
def test_the_interval_excludes_0_exactly_where_p_is_small(differences):
    found = corrected_test(differences, test_per_train=0.25, level=0.9)
    if abs(found.p - 0.1) > 1e-9:
        assert (found.low > 0 or found.high < 0) == (found.p < 0.1)


@given(FOLDS, st.floats(0.01, 1))
def test_the_correction_makes_the_error_larger(differences, ratio):
    plain = standard_error(differences, test_per_train=0.0)
    assert standard_error(differences, test_per_train=ratio) >= plain


def test_equal_models_differ_by_nothing_and_a_constant_gap_is_certain():
    assert corrected_test(np.zeros(5), test_per_train=0.25).p == 1
    assert corrected_test(np.full(5, 0.1), test_per_train=0.25).p == 0


@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan])
def test_a_score_that_is_not_finite_settles_nothing(bad):
    found = corrected_test(np.array([1.0, bad, 2.0]), test_per_train=0.25)
    assert np.isnan(found.p)
    assert corrected_interval(np.array([1.0, bad]), test_per_train=0.25) == (-np.inf, np.inf)


def test_one_fold_settles_nothing():
    assert np.isnan(corrected_test(np.array([1.0]), test_per_train=0.25).p)


def test_on_overlapping_folds_the_plain_test_is_too_sure_and_this_one_is_not():
    """Two equally useless regressions, on a column of noise each, over 400 tables."""
    rejected = {0.0: 0, 0.25: 0}
    rng = np.random.default_rng(0)
    for _ in range(400):
        X, y = rng.normal(size=(50, 2)), rng.normal(size=50)
        gaps = []
        for repeat in range(4):
            fold = np.random.default_rng(repeat).permutation(np.arange(50) % 5)
            for held in range(5):
                train, test = fold != held, fold == held
                coef = [X[train, j] @ y[train] / (X[train, j] @ X[train, j]) for j in (0, 1)]
                errors = [np.mean((y[test] - c * X[test, j]) ** 2) for j, c in enumerate(coef)]
                gaps.append(errors[0] - errors[1])
        for ratio in rejected:
            rejected[ratio] += corrected_test(np.array(gaps), test_per_train=ratio).p < 0.05
    most = 0.05 + 3 * np.sqrt(0.05 * 0.95 / 400)  # what a test of level 0.05 stays below
    assert rejected[0.25] / 400 < most < rejected[0.0] / 400


def test_the_best_model_is_first_and_one_without_a_score_is_last_in_both_directions():
    from likely.workbench.scoring.paired import standings

    scores = {"low": 1.0, "none": float("nan"), "high": 3.0, "middle": 2.0}
    folds = {name: np.array([x - 0.5, x + 0.5]) for name, x in scores.items()}
    for better, order in (
        ("lower", ["low", "middle", "high", "none"]),
        ("higher", ["high", "middle", "low", "none"]),
    ):
        found = standings(folds, scores, better=better, baseline="middle", test_per_train=0.25)
        assert [each.name for each in found] == order
        assert found[0].against_best is None
        assert found[1].against_best.difference == scores["middle"] - scores[order[0]]
        assert found[1].against_baseline is None
        assert found[2].against_baseline.difference == scores[order[2]] - 2.0


NOISE = np.array([0.3, -0.2, 0.1, -0.4, 0.2])


@pytest.mark.parametrize(
    ("r2", "best"),
    [
        ({}, "high"),
        ({"high": 0.7, "near": 0.75}, "high"),  # no notable difference
        ({"high": 0.7, "near": 0.85}, "near"),
        ({"high": 0.7, "near": 0.85, "far": 0.95}, "near"),  # far is clearly below
        ({"high": 0.7, "near": 0.85, "next": 0.86}, "near"),  # the better score
        ({"high": 0.5, "near": 0.65, "next": 0.86}, "next"),
        ({"high": 0.7, "near": 0.85, "barred": 0.95}, "near"),
        ({"high": 0.2, "constant": 0.9}, "high"),
        ({"high": -0.3}, "high"),
        ({"high": -0.3, "near": float("nan")}, "high"),
    ],
)
def test_means_decide_between_models_that_the_folds_do_not_tell_apart(r2, best):
    from likely.workbench.scoring.paired import standings

    scores = {"high": 3.0, "near": 2.99, "next": 2.989, "barred": 2.98, "far": 2.0, "constant": 1.0}
    folds = {name: x + 0.1 * NOISE * k for k, (name, x) in enumerate(scores.items())}
    terms = {"baseline": "constant", "test_per_train": 0.25, "never_best": ["barred"]}
    found = standings(folds, scores, better="higher", **terms, r2=r2)
    assert found[0].name == best
    others = [
        name for name in ("high", "near", "next", "far", "constant", "barred") if name != best
    ]
    assert [each.name for each in found[1:]] == others
    assert found[0].against_best is None
    assert found[1].against_best is not None


@pytest.mark.parametrize("n_bad", [1, 2, 3, 4])
def test_up_to_three_rows_may_carry_the_loss_alone(n_bad):
    gain = 1.0 + 0.1 * np.random.default_rng(0).normal(size=60)
    bad = [5, 17, 40, 41][:n_bad]
    gain[bad] = -1000.0 - np.arange(n_bad)
    found = lone_rows(gain, np.ones(60), np.arange(100, 160))
    if n_bad > 3:
        assert found is None
    else:
        assert found.rows == tuple(100 + each for each in reversed(bad))


def test_rows_are_not_called_lone_where_the_others_gain_nothing_or_are_few():
    gain = np.zeros(60)
    gain[3] = -1000.0
    assert lone_rows(gain, np.ones(60), np.arange(60)) is None
    gain = 1.0 + 0.1 * np.random.default_rng(0).normal(size=FEWEST_ROWS)
    gain[3] = -1000.0
    assert lone_rows(gain, np.ones(FEWEST_ROWS), np.arange(FEWEST_ROWS)).rows == (3,)
    assert lone_rows(gain[:-1], np.ones(FEWEST_ROWS - 1), np.arange(FEWEST_ROWS - 1)) is None


def test_two_folds_have_the_interval_of_one_degree_of_freedom():
    """t₁ has the quantile tan(0.475π) at 0.975."""
    low, high = corrected_interval(np.array([1.0, 3.0]), test_per_train=0.5)
    half = np.tan(0.475 * np.pi) * np.sqrt((1 / 2 + 0.5) * 2.0)
    assert [low, high] == pytest.approx([2 - half, 2 + half], rel=1e-9)
