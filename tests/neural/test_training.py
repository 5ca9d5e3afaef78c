"""The loop over epochs, with steps whose losses are written down beforehand."""

from time import perf_counter

import numpy as np
import pytest

from likely.errors import TrainingDiverged
from likely.neural.history import LossCurve
from likely.neural.training import Ending, Losses, Steps, TrainingRules, replayed, scheduled, train
from likely.output.progress import listening
from likely.solvers.schedules import Constant, ReduceOnPlateau

SEL_4 = (5.0, 4.0, 3.0, 3.5, 3.2, 2.9, 3.0)


class Counted(Steps):
    """θ is the number of epochs so far."""

    def __init__(self, running=0.5):
        self.running, self.rates = running, []

    def start(self, theta):
        return np.array(theta, dtype=float)

    def epoch(self, state, number, rate):
        assert state[0] == number
        self.rates.append(rate)
        return state + 1, self.running

    def theta(self, state):
        return state

    def arrays(self, state):
        return {"theta": state}

    def restored(self, arrays):
        return arrays["theta"]


def script(values, start=9.0):
    """The loss of θ: that of its epoch."""
    return lambda theta: ([start, *values])[int(theta[0])]


def trained(values, *, training=None, steps=None, keep=None, callbacks=(), **rules):
    losses = Losses(script(training or [1.0] * len(values)), script(values))
    options = {"max_epochs": len(values), "rate": scheduled(Constant(0.1)), "tol": 0.0, **rules}
    return train(
        steps or Counted(),
        np.zeros(1),
        TrainingRules(**options),
        losses,
        keep=keep,
        callbacks=callbacks,
    )


@pytest.mark.parametrize(
    ("patience", "n_epochs", "kept"), [(2, 5, 3), (3, 7, 6), (4, 7, 6), (1, 4, 3)]
)
def test_patience_decides_whether_a_second_minimum_is_found(patience, n_epochs, kept):
    """SEL-4: the whole curve is kept, and the parameters at its minimum."""
    found = trained(SEL_4, early_stopping=True, patience=patience)
    assert found.curve.n_epochs == n_epochs
    assert found.curve.validation == SEL_4[:n_epochs]
    assert found.kept_epoch == kept
    assert script(SEL_4)(found.theta) == min(SEL_4[:n_epochs])


def test_a_fall_smaller_than_tol_does_not_count_but_the_lowest_point_is_restored():
    found = trained((3.0, 2.99, 2.98, 2.97), early_stopping=True, patience=2, tol=0.1)
    assert found.curve.n_epochs == 3
    assert found.theta.tolist() == [3.0]


def test_without_early_stopping_the_training_loss_is_watched_and_the_last_epoch_kept():
    falling = [1.0, 0.5, 0.499, 0.499, 0.498]
    found = trained(SEL_4[:5], training=falling, patience=2, tol=0.01)
    assert found.curve.n_epochs == 4
    assert found.kept_epoch == 4
    assert found.ending.converged
    assert "training loss has not fallen by more than 0.01" in found.ending.reason


def test_no_tolerance_trains_for_all_epochs_and_the_limit_is_no_failure():
    found = trained((1.0,) * 6, training=(1.0,) * 6, tol=None, patience=1)
    assert found.curve.n_epochs == 6
    assert found.ending == Ending("max_epochs=6 was reached", converged=True)
    assert not trained((3.0, 2.0, 1.0), training=(3.0, 2.0, 1.0)).ending.converged


def test_training_to_a_level_ends_at_the_first_epoch_at_or_below_it():
    """SEL-8."""
    losses = (3.0, 2.0, 1.5, 1.0)
    found = trained(losses, training=losses, tol=None, level=1.5)
    assert found.curve.n_epochs == 3
    assert found.ending.converged
    never = trained(losses, training=losses, tol=None, level=0.5)
    assert never.curve.n_epochs == 4
    assert not never.ending.converged


def test_no_epoch_leaves_the_start():
    found = trained((), max_epochs=0)
    assert found.theta.tolist() == [0.0]
    assert found.kept_epoch == 0


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e8])
def test_a_loss_that_explodes_ends_with_a_sentence(bad):
    with pytest.raises(
        TrainingDiverged, match=r"after epoch 3, at a learning rate of 0\.1;"
    ) as error:
        trained((1.0, 1.0, 1.0), training=(2.0, 1.0, bad), advice="Try less.")
    assert "it was 9 at the start" in str(error.value)
    assert str(error.value).endswith("Try less.")
    assert (error.value.epoch, error.value.rate) == (3, 0.1)
    with pytest.raises(TrainingDiverged):
        trained((1.0, bad), training=(1.0, 1.0))


def test_a_large_loss_at_the_start_is_no_explosion():
    losses = Losses(script((1e7, 1e6), start=2e7), None)
    rules = TrainingRules(2, scheduled(Constant(0.1)), None)
    assert train(Counted(), np.zeros(1), rules, losses).curve.n_epochs == 2


def test_the_schedule_reads_validation_losses_and_rates_can_be_replayed():
    steps = Counted()
    schedule = ReduceOnPlateau(1e-3, patience=2)
    found = trained((5, 4, 4, 4, 4, 4, 4), steps=steps, rate=scheduled(schedule), tol=None)
    assert np.allclose(steps.rates, [1e-3] * 4 + [1e-4] * 2 + [1e-5])
    assert found.curve.rate == tuple(steps.rates)
    again = replayed(found.curve.rate)
    assert [again(t, LossCurve()) for t in range(9)] == [*steps.rates, *[steps.rates[-1]] * 2]


def test_a_callback_may_end_the_training_and_sees_every_epoch():
    seen = []

    def stop(epoch):
        seen.append((epoch.number, epoch.loss, epoch.validation))
        return epoch.number == 3

    found = trained(SEL_4, callbacks=[stop])
    assert seen == [(1, 1.0, 5.0), (2, 1.0, 4.0), (3, 1.0, 3.0)]
    assert found.ending == Ending("a callback ended it", converged=True)


def test_progress_is_reported_with_losses_rate_and_time_left():
    steps = []
    with listening(steps.append):
        trained(SEL_4[:2])
    assert [(step.what, step.amount) for step in steps] == [("epoch", 1)] * 2
    assert "2 of at most 2: loss 1, validation 4, rate 0.1, at most 0 s left" in (steps[1].detail)


def test_the_running_loss_is_recorded_where_the_training_rows_are_not_evaluated():
    rules = TrainingRules(3, scheduled(Constant(0.1)), None)
    found = train(Counted(0.25), np.zeros(1), rules, Losses(None, None))
    assert found.curve.loss == (0.25,) * 3


def test_ctrl_c_keeps_the_last_whole_epoch():
    kept = []

    class Interrupted(Counted):
        def epoch(self, state, number, rate):
            if number == 2:
                raise KeyboardInterrupt
            return super().epoch(state, number, rate)

    found = trained(SEL_4, steps=Interrupted(), keep=lambda *parts: kept.append(parts))
    assert found.interrupted
    assert found.curve.n_epochs == 2
    assert len(kept) == 3  # two epochs, and Ctrl-C
    assert kept[-1][0]["theta"].tolist() == [2.0]


def test_the_seconds_of_epochs_are_those_that_passed():
    began = perf_counter()
    found = trained((4.0, 3.0, 2.0, 1.0))
    assert 0 < sum(found.curve.seconds) <= perf_counter() - began


def test_a_loss_that_explodes_is_shown_in_the_unit_of_the_response():
    with pytest.raises(TrainingDiverged, match="The loss is 4e\\+08 after epoch 1") as error:
        trained((1e8,), training=(1e8,), unit=4.0)
    assert "it was 36 at the start" in str(error.value)
