"""Schedules of the learning rate: their formulas, their pieces, and what they refuse."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from likely.errors import InvalidInput, UnknownName
from likely.solvers.schedules import (
    SCHEDULES,
    Constant,
    Cosine,
    HoldThenDecay,
    InverseTime,
    ReduceOnPlateau,
    StepDecay,
    WarmUp,
    schedule_of,
)

rates = st.floats(1e-6, 10)


@given(rate=rates, decay=st.floats(1e-3, 10), t=st.integers(0, 1000))
def test_inverse_time_starts_at_the_rate_and_falls(rate, decay, t):
    schedule = InverseTime(rate, decay)
    assert schedule.rate(0) == rate
    assert schedule.rate(t + 1) < schedule.rate(t)
    assert_allclose(schedule.rate(t), rate / (1 + decay * t), rtol=1e-14)


@pytest.mark.parametrize(
    "then", [InverseTime(0.1, 0.5), Cosine(0.1, 20), StepDecay(0.1, 0.5, 1)], ids=type
)
def test_a_hold_is_constant_then_continuous_then_falls(then):
    schedule = HoldThenDecay(5, then)
    assert {schedule.rate(t) for t in range(5)} == {0.1}
    assert_allclose(schedule.rate(5 - 1e-9), schedule.rate(5), rtol=1e-6)
    after = [schedule.rate(t) for t in range(5, 15)]
    assert all(b < a for a, b in pairwise(after))
    assert after == [then.rate(t) for t in range(10)]


def test_a_loss_that_stays_cuts_the_rate_after_epochs_four_and_six():
    losses, schedule = [5, 4, 4, 4, 4, 4], ReduceOnPlateau(1e-3, patience=2)
    rates = [schedule.rate(t, losses[:t]) for t in range(7)]
    assert_allclose(rates, [1e-3] * 4 + [1e-4] * 2 + [1e-5], rtol=1e-12)


def test_a_plateau_has_a_floor_a_factor_and_a_least_fall():
    flat = [1.0] * 50
    assert ReduceOnPlateau(1.0, 0.5, 1, floor=0.2).rate(50, flat) == 0.2
    assert ReduceOnPlateau(1.0, 0.5, 10).rate(21, flat[:21]) == 0.25
    slow = [1 - 0.001 * t for t in range(20)]
    assert ReduceOnPlateau(1.0, patience=5).rate(20, slow) == 1.0
    assert ReduceOnPlateau(1.0, patience=5, least=0.1).rate(20, slow) < 1.0


def test_a_loss_that_is_not_a_number_is_no_fall():
    assert ReduceOnPlateau(1.0, patience=2).rate(3, [np.nan, np.nan, 1.0]) == pytest.approx(0.1)


def test_a_plateau_without_losses_is_refused_and_not_ignored():
    with pytest.raises(InvalidInput, match="given 0 losses for epoch 3"):
        ReduceOnPlateau(1.0).rate(3)
    assert WarmUp(2, ReduceOnPlateau()).needs_losses
    assert not WarmUp(2, Constant()).needs_losses


def test_losses_of_a_hold_do_not_count():
    schedule = HoldThenDecay(3, ReduceOnPlateau(1.0, 0.5, 2))
    losses = [1.0] * 6
    assert [schedule.rate(t, losses[:t]) for t in range(7)] == [1, 1, 1, 1, 1, 1, 0.5]


def test_a_warm_up_grows_to_the_rate_and_a_cosine_ends_at_its_floor():
    schedule = WarmUp(4, Cosine(1.0, 10, floor=0.1))
    rates = [schedule.rate(t) for t in range(20)]
    assert_allclose(rates[:5], [0.2, 0.4, 0.6, 0.8, 1.0])
    assert_allclose(rates[9], 0.55)
    assert_allclose(rates[14:], 0.1)


@pytest.mark.parametrize("name", SCHEDULES)
def test_every_schedule_by_name_starts_within_its_rate_and_stays_above_0(name):
    schedule = schedule_of(name, 0.5, 40)
    rates = [schedule.rate(t, [1.0] * t) for t in range(40)]
    assert all(0 < rate <= 0.5 for rate in rates)
    assert max(rates) == 0.5
    again = [schedule.rate(t, [1.0] * t) for t in reversed(range(40))]
    assert rates == again[::-1]  # a function of t, and of nothing else
    assert schedule_of(schedule, 9.0, 40) is schedule


def test_schedules_that_are_misspelt_are_suggested():
    with pytest.raises(UnknownName, match="cosine"):
        schedule_of("cosin", 0.1, 10)


@pytest.mark.parametrize("schedule", [HoldThenDecay(10, InverseTime()), WarmUp(5, WarmUp(5))])
def test_a_hold_that_never_ends_is_refused(schedule):
    with pytest.raises(InvalidInput, match="for 10 epochs, and max_epochs=10"):
        schedule_of(schedule, 0.1, 10)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Constant(0.0),
        lambda: Constant(np.inf),
        lambda: InverseTime(0.1, -1.0),
        lambda: InverseTime(np.nan, 1.0),
        lambda: StepDecay(0.1, 1.0, 10),
        lambda: StepDecay(0.1, 0.5, 0),
        lambda: Cosine(0.1, np.inf),
        lambda: Cosine(0.1, 10, floor=0.2),
        lambda: HoldThenDecay(0, Constant()),
        lambda: HoldThenDecay(np.inf, Constant()),
        lambda: WarmUp(2.5, Constant()),
        lambda: WarmUp(2, 0.1),
        lambda: ReduceOnPlateau(0.1, patience=0),
        lambda: ReduceOnPlateau(0.1, factor=2.0),
        lambda: ReduceOnPlateau(0.1, least=np.nan),
        lambda: schedule_of(0.1, 0.1, 10),
    ],
)
def test_settings_that_make_no_schedule_are_refused(make):
    with pytest.raises(InvalidInput, match="expected"):
        make()


def test_a_usual_warm_up_ends_with_the_training():
    schedule = schedule_of("warm-up", 0.1, 100)
    assert schedule == WarmUp(5, Cosine(0.1, 95))
    assert schedule.rate(100) == 0.0 < schedule.rate(99)


def test_a_hold_before_a_warm_up_is_as_long_as_both():
    schedule = HoldThenDecay(3, WarmUp(2, Constant(0.1)))
    assert schedule.epochs_before == 5
    with pytest.raises(InvalidInput, match="for 5 epochs, and max_epochs=5"):
        schedule_of(schedule, 0.1, 5)
