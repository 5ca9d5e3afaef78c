"""Judges: plain tells all, ladder and thresholdout resist an analyst who learns from answers."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from likely.sealing import judges
from likely.sealing.judges import JUDGES, LARGEST, LossEvidence, Ruling

N = 1000
CHANCE = 0.5


def evidence(losses, *, training=CHANCE, best=None, level=0.95, seed=0):
    rng = np.random.default_rng(seed)
    return LossEvidence(np.asarray(losses, float), CHANCE, training, best, level, rng)


def told_by(judge, given):
    """What a judge says; the plain one reveals the score with its interval."""
    if JUDGES[judge] is not None:
        return JUDGES[judge].rule(given)
    half = 2 * given.losses.std() / np.sqrt(given.losses.size)
    mean = float(given.losses.mean())
    return Ruling(mean, mean - half, mean + half)


def coin_flips(seed):
    """Labels without any pattern, and classifiers that know nothing."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 2 * N)
    return y[:N], y[N:], rng.integers(0, 2, (400, 2 * N))


def adaptive_gain(judge, seed):
    """How far below chance the told error of a vote gets, of those who seemed to beat chance.

    The truth is chance, as labels are coin flips.
    """
    y, y_train, guesses = coin_flips(seed)
    best, votes, last = None, np.zeros(2 * N), CHANCE
    for number, guess in enumerate(guesses):
        told = _ask(judge, guess, y, y_train, best, number).value
        sign = 1 if told < last or (judge != "ladder" and told < CHANCE) else -1
        votes += sign * (2 * guess - 1)
        best = told if best is None else min(best, told)
        last = best if judge == "ladder" else CHANCE
    told = _ask(judge, (votes > 0).astype(int), y, y_train, best, len(guesses)).value
    return CHANCE - told


def _ask(judge, guess, y, y_train, best, seed):
    given = evidence(
        guess[:N] != y, training=float(np.mean(guess[N:] != y_train)), best=best, seed=seed
    )
    return told_by(judge, given)


@pytest.mark.parametrize("seed", range(3))
def test_adaptive_looks_fool_the_plain_judge_and_not_the_others(seed):
    gain = {judge: adaptive_gain(judge, seed) for judge in JUDGES}
    # a vote of k, each turned to the side it seems to be on, gains Φ(√(2k/πn)) − ½ = 0.19 ± 0.016
    assert gain["plain"] > 0.14
    # the best of 400 lucky ones is 3 standard errors of 0.016 below chance, and a step is 0.016
    assert gain["ladder"] < 0.07
    # three standard errors of 0.016: the vote fits the training rows and is found out
    assert abs(gain["thresholdout"]) < 0.05


@pytest.mark.parametrize("judge", JUDGES)
@pytest.mark.parametrize("error", [0.2, 0.4])
def test_after_many_looks_that_won_nothing_a_real_gain_is_still_told(judge, error):
    """A judge that always said chance would resist every analyst, and help none."""
    y, y_train, guesses = coin_flips(seed=0)
    best = min(_ask(judge, guess, y, y_train, None, i).value for i, guess in enumerate(guesses))
    wrong = np.random.default_rng(1).random(2 * N) < error
    found = np.where(wrong, 1 - np.append(y, y_train), np.append(y, y_train))
    told = _ask(judge, found, y, y_train, best, len(guesses))
    # a standard error is 0.016 at most, a step of the ladder 0.016, the threshold 0.063
    assert told.value == pytest.approx(error, abs=0.05)
    assert told.low < error < told.high


def test_the_best_of_many_random_classifiers_beats_chance_on_the_test_set_and_not_on_fresh_rows():
    y, fresh, guesses = coin_flips(seed=7)
    errors = np.array([np.mean(guess[:N] != y) for guess in guesses[:100]])
    chosen = guesses[errors.argmin()]
    assert errors.min() < CHANCE - 0.03
    assert abs(np.mean(chosen[N:] != fresh) - CHANCE) < 0.05


@given(shift=st.floats(0, 1), seed=st.integers(0, 50))
def test_the_ladder_tells_multiples_of_a_step_or_the_best_so_far(shift, seed):
    losses = shift * np.random.default_rng(seed).random(400)
    step = CHANCE / 20
    first = JUDGES["ladder"].rule(evidence(losses))
    assert_allclose(first.value / step, round(first.value / step), atol=1e-9)
    assert abs(first.value - losses.mean()) <= step / 2 + 1e-12
    assert first.low <= losses.mean() <= first.high
    second = JUDGES["ladder"].rule(evidence(losses, best=losses.mean() + step / 2))
    assert second.value == losses.mean() + step / 2


def test_the_ladder_says_when_it_gives_the_best_so_far():
    ruling = JUDGES["ladder"].rule(evidence(np.full(100, 0.4), best=0.3))
    assert ruling.value == 0.3
    assert not ruling.of_this_model
    assert "This model does not improve the best score by at least" in ruling.note
    assert JUDGES["ladder"].rule(evidence(np.full(100, 0.1), best=0.3)).of_this_model


def test_thresholdout_gives_the_training_score_while_it_agrees():
    agree = JUDGES["thresholdout"].rule(evidence(np.full(N, 0.402), training=0.4))
    assert agree.value == 0.4
    assert "agree" in agree.note
    differ = JUDGES["thresholdout"].rule(evidence(np.full(N, 0.402), training=0.1))
    assert differ.value not in (0.1, 0.402)
    assert abs(differ.value - 0.402) < 0.05


@given(seed=st.integers(0, 200), training=st.sampled_from([0.1, 0.35, 0.4, 0.45]))
def test_the_interval_of_thresholdout_holds_the_exact_score(seed, training):
    losses = np.random.default_rng(seed).random(N) < 0.4
    told = JUDGES["thresholdout"].rule(evidence(losses, training=training, seed=seed))
    assert told.low <= losses.mean() <= told.high


def test_noise_and_chance_share_what_an_interval_may_miss():
    given = evidence(np.full(N, 0.4), training=0.1, level=0.9)
    told = JUDGES["thresholdout"].rule(given)
    noise = 0.25 * given.unit
    _, high = given.chance(told.value, 0.95)
    assert_allclose(told.high, high + noise * np.log(1 / 0.05))


def test_the_training_score_is_bounded_as_the_sealed_one_is():
    given = evidence(np.full(N, 1e9), training=1e9)
    assert JUDGES["thresholdout"].rule(given).value == LARGEST * CHANCE


@pytest.mark.parametrize("judge", ["ladder", "thresholdout"])
def test_no_loss_in_any_row_is_no_certainty(judge):
    told = JUDGES[judge].rule(evidence(np.zeros(30), training=0.0))
    assert told.value == told.low == 0.0
    assert told.high > 0.1, "Wilson's end for 30 rows"


def test_the_same_evidence_gets_the_same_noise():
    given = [evidence(np.full(N, 0.3), training=0.1, seed=5) for _ in range(2)]
    first, second = (JUDGES["thresholdout"].rule(one) for one in given)
    assert first == second


@pytest.mark.parametrize("judge", ["ladder", "thresholdout"])
def test_one_row_cannot_move_a_bounded_score_far(judge):
    losses = np.full(N, 0.4)
    losses[0] = 1e9
    told = JUDGES[judge].rule(evidence(losses, training=0.0))
    assert told.value < 0.4 + LARGEST * CHANCE / N + 0.05


@pytest.mark.parametrize("judge", ["ladder", "thresholdout"])
def test_of_a_seal_by_group_bounded_judges_take_the_rows_of_a_group_as_one(judge):
    losses = np.random.default_rng(0).integers(0, 2, 400)
    ends = {}
    for n_groups in (400, 25, 1):
        groups = np.arange(400) % n_groups
        told = JUDGES[judge].rule(replace(evidence(losses), groups=groups))
        ends[n_groups] = told
    alone = JUDGES[judge].rule(evidence(losses))
    assert_allclose((ends[400].low, ends[400].high), (alone.low, alone.high))
    assert ends[400].value == pytest.approx(alone.value)
    assert ends[25].high - ends[25].low > 2 * (alone.high - alone.low)
    assert ends[1].low == 0.0 and ends[1].high >= LARGEST * CHANCE


@pytest.mark.parametrize("judge", ["ladder", "thresholdout"])
def test_their_intervals_cover_where_groups_are_wholly_alike(judge):
    rng, covered = np.random.default_rng(0), 0
    groups = np.arange(40).repeat(25)
    for seed in range(300):
        losses = rng.integers(0, 2, 40)[groups]
        told = JUDGES[judge].rule(replace(evidence(losses, seed=seed), groups=groups))
        covered += told.low <= CHANCE <= told.high
    assert covered >= 0.95 * 300


@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_a_training_score_that_agrees_is_as_near_as_the_noise_of_its_threshold(monkeypatch, level):
    """P(S > x) = ⅔ exp(−x/4σ) − ⅙ exp(−x/2σ) of S, a Laplace(2σ) and a Laplace(4σ)."""
    widths = []
    monkeypatch.setattr(judges, "_around", lambda value, slack, *_: widths.append(slack) or (0, 1))
    given = evidence(np.full(N, 0.4), training=0.4, level=level)
    JUDGES["thresholdout"].rule(given)
    x = (widths[0] - judges.THRESHOLD * given.unit) / (judges.NOISE * given.unit)
    beyond = 2 / 3 * np.exp(-x / 4) - np.exp(-x / 2) / 6
    alpha = (1 - level) / 2
    assert 0.95 * alpha < beyond <= alpha
