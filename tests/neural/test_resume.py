"""Training that is interrupted and resumed is, bit for bit, training that was not."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from likely.errors import InvalidFile, InvalidInput
from likely.storage import files
from tests.neural.estimators import SCHEDULES, UPDATES, blobs, classifier, regressor, waves


class Crash(Exception):
    pass


def crash_after(n_epochs):
    def callback(epoch):
        if epoch.number == n_epochs:
            raise Crash

    return callback


def interrupted(model, X, y, path, n_epochs=3):
    """The checkpoint of a training that ended without a word."""
    model.set_params(training__checkpoint=path, training__callbacks=crash_after(n_epochs))
    with pytest.raises(Crash):
        model.fit(X, y)
    return path


def assert_same_training(one, other):
    assert_array_equal(one.parameters_, other.parameters_)
    assert set(one.state_) == set(other.state_)
    for name in one.state_:
        assert_array_equal(one.state_[name], other.state_[name])
    assert_array_equal(one.history_.loss, other.history_.loss)
    assert_array_equal(one.history_.rate, other.history_.rate)
    if one.history_.validation is not None:
        assert_array_equal(one.history_.validation, other.history_.validation)
    assert one.history_.ending == other.history_.ending
    assert one.history_.kept_epoch == other.history_.kept_epoch


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("update", UPDATES)
def test_every_solver_and_schedule(update, schedule, tmp_path):
    X, y = blobs()
    options = {**UPDATES[update], "schedule": schedule, "validation": 0.2, "dropout": 0.3}
    if update == "lbfgs":
        del options["dropout"]
    whole = classifier(**options).fit(X, y)
    path = interrupted(classifier(**options), X, y, tmp_path / "c")
    assert_same_training(classifier(**options, resume=path).fit(X, y), whole)


@pytest.mark.parametrize(
    "options",
    [
        {"early_stopping": True, "patience": 2, "learning_rate": 0.5},
        {"early_stopping": True, "patience": 2, "end_game": "epochs"},
        {"early_stopping": True, "patience": 2, "end_game": "loss"},
        {"dtype": "float64", "l1": 0.1, "l2": 1.0, "class_weight": "balanced"},
        {"balanced": True},
        {"shuffle": False, "trainable": [-1]},
        {"response": "ordinal"},
        {"random_state": None},
    ],
    ids=lambda options: next(iter(options)) + str(options.get("end_game", "")),
)
def test_every_way_of_training(options, tmp_path):
    X, y = blobs()
    options = {**options, "max_epochs": 8}
    saved = tmp_path / "whole"
    whole = classifier(**options, checkpoint=saved).fit(X, y)
    if options.get("random_state", 0) is None:  # the seed is in the checkpoint
        options["max_epochs"] = 8
        path = interrupted(classifier(**options), X, y, tmp_path / "c")
        again = classifier(**options, resume=path).fit(X, y)
        fresh = classifier(**{**options, "random_state": again.seed_}).fit(X, y)
        assert_array_equal(again.parameters_, fresh.parameters_)
        assert again.seed_ != whole.seed_
        return
    for n_epochs in (1, 3):
        path = interrupted(classifier(**options), X, y, tmp_path / "c", n_epochs)
        assert_same_training(classifier(**options, resume=path).fit(X, y), whole)
    again = classifier(**options, resume=saved).fit(X, y)  # nothing was left to do
    assert_array_equal(again.parameters_, whole.parameters_)


def test_an_end_game_is_resumed_in_its_middle(tmp_path):
    X, y = blobs()
    options = {"early_stopping": True, "patience": 3, "end_game": "epochs", "max_epochs": 12}
    seen = []
    whole = classifier(**options, callbacks=seen.append).fit(X, y)
    n_search = whole.history_.n_epochs
    assert whole.end_game_.n_epochs == whole.history_.best_epoch >= 2
    path, calls = tmp_path / "c", []

    def crash(epoch):
        calls.append(epoch.number)
        if len(calls) == n_search + 1:  # after the first epoch of the end game
            raise Crash

    with pytest.raises(Crash):
        classifier(**options, checkpoint=path, callbacks=crash).fit(X, y)
    again = classifier(**options, resume=path).fit(X, y)
    assert_array_equal(again.parameters_, whole.parameters_)
    assert_array_equal(again.history_.validation, whole.history_.validation)
    assert_array_equal(again.end_game_.loss, whole.end_game_.loss)


def test_a_regressor_resumes(tmp_path):
    X, y = waves()
    path = interrupted(regressor(validation=0.2), X, y, tmp_path / "c")
    again = regressor(validation=0.2, resume=path).fit(X, y)
    assert_same_training(again, regressor(validation=0.2).fit(X, y))


def test_more_epochs_may_follow(tmp_path):
    X, y = blobs()
    path = tmp_path / "c"
    classifier(max_epochs=4, checkpoint=path).fit(X, y)
    further = classifier(max_epochs=9, resume=path).fit(X, y)
    assert_array_equal(further.parameters_, classifier(max_epochs=9).fit(X, y).parameters_)


def test_resuming_from_the_checkpoint_that_is_written(tmp_path):
    X, y = blobs()
    path = tmp_path / "c"
    first = classifier(checkpoint=path, resume=True).fit(X, y)  # there is none yet
    again = classifier(checkpoint=path, resume=True).fit(X, y)
    assert_same_training(first, again)
    with pytest.raises(InvalidInput, match="resume=True was given without checkpoint"):
        classifier(resume=True).fit(X, y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"hidden": (6,)}, "the architecture was 3-5-3, and is 3-6-3 now"),
        ({"solver": "sgd"}, r"solver was Adam\(.*\), and is Plain\(\) now"),
        ({"learning_rate": 0.1}, "schedule was Constant"),
        ({"batch": 8}, "batch was 16, and is 8 now"),
        ({"random_state": 1}, "random_state was 0, and is 1 now"),
        ({"response": "ordinal"}, "the architecture was 3-5-3, and is 3-5-1 now"),
        ({"dtype": "float64"}, "dtype was float32, and is float64 now"),
        ({"initialise": "he-normal"}, "initialise was auto, and is he-normal now"),
    ],
)
def test_a_checkpoint_of_another_training_is_refused(options, message, tmp_path):
    X, y = blobs()
    path = interrupted(classifier(), X, y, tmp_path / "c")
    with pytest.raises(InvalidFile, match=message):
        classifier(**options, resume=path).fit(X, y)


@pytest.mark.parametrize("first", [False, True])
def test_early_stopping_that_holds_other_rows_out_is_refused(first, tmp_path):
    """Without ``validation`` it holds a tenth out: losses of before are those of other rows."""
    X, y = blobs()
    path = tmp_path / "a.checkpoint"
    classifier(checkpoint=path, early_stopping=first).fit(X, y)
    with pytest.raises(InvalidFile, match="validation was"):
        classifier(resume=path, early_stopping=not first).fit(X, y)


def test_a_schedule_of_another_length_names_max_epochs(tmp_path):
    X, y = blobs()
    path = interrupted(classifier(schedule="cosine"), X, y, tmp_path / "c")
    with pytest.raises(InvalidFile, match=r"schedule was Cosine\(.*the length of max_epochs"):
        classifier(schedule="cosine", max_epochs=9, resume=path).fit(X, y)


def test_another_link_of_an_ordinal_response_is_refused(tmp_path):
    X, y = blobs()
    path = tmp_path / "a.checkpoint"
    classifier(response="ordinal", checkpoint=path).fit(X, y)
    with pytest.raises(InvalidFile, match="the response was"):
        classifier(response="ordinal", link="probit", resume=path).fit(X, y)


def test_another_power_of_a_tweedie_response_is_refused(tmp_path):
    X, y = waves()
    path = tmp_path / "a.checkpoint"
    regressor(response="tweedie(1.5)", checkpoint=path).fit(X, y)
    with pytest.raises(InvalidFile, match="the response was"):
        regressor(response="tweedie(1.2)", resume=path).fit(X, y)


@pytest.mark.parametrize("by_callback", [False, True])
def test_an_end_game_is_resumed_whatever_ended_the_search(by_callback, tmp_path):
    """The search ended at a limit that is higher now, or by a callback that is no longer there."""
    X, y = blobs()
    path, calls = tmp_path / "a.checkpoint", []
    options = {"early_stopping": True, "end_game": "epochs", "patience": 50}

    def crash(epoch):
        calls.append(epoch.number)
        if len(calls) == 8:
            raise Crash
        return by_callback and len(calls) == 6

    limit = 20 if by_callback else 6
    first = classifier(**options, max_epochs=limit, checkpoint=path, callbacks=crash)
    with pytest.raises(Crash):
        first.fit(X, y)
    again = classifier(**options, max_epochs=20, resume=path).fit(X, y)
    assert again.history_.n_epochs == 6
    assert again.end_game_.n_epochs == again.history_.best_epoch


def test_other_rows_of_the_same_shape_are_refused(tmp_path):
    X, y = blobs()
    path = interrupted(classifier(), X, y, tmp_path / "c")
    with pytest.raises(InvalidFile, match="the digest of the rows was"):
        classifier(resume=path).fit(X + 1, y)
    with pytest.raises(InvalidFile, match="the digest of the rows was"):
        classifier(resume=path).fit(X, y[::-1])


@pytest.mark.parametrize("point", ["write", "sync", "rename"])
def test_a_write_that_fails_leaves_the_checkpoint_before(point, tmp_path):
    X, y = blobs()
    path = tmp_path / "c"
    seen = []

    def fail(name, file):
        seen.append(name)
        if name == point and seen.count(point) == 3:
            raise Crash

    with files.watching(fail), pytest.raises(Crash):
        classifier(checkpoint=path).fit(X, y)
    assert_same_training(classifier(resume=path).fit(X, y), classifier().fit(X, y))


def test_ctrl_c_keeps_the_model_and_the_checkpoint(tmp_path):
    X, y = blobs()

    def interrupt(epoch):
        if epoch.number == 3:
            raise KeyboardInterrupt

    model = classifier(checkpoint=tmp_path / "c", callbacks=interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.history_.n_epochs == 3
    assert model.history_.ending == "it was interrupted"
    assert_array_equal(model.parameters_, classifier(max_epochs=3).fit(X, y).parameters_)
    assert_same_training(classifier(resume=tmp_path / "c").fit(X, y), classifier().fit(X, y))


PROGRAM = """
import sys
from tests.neural.estimators import blobs, classifier
X, y = blobs()
classifier(max_epochs=1_000_000, checkpoint=sys.argv[1]).fit(X, y)
"""


@pytest.mark.long
def test_a_killed_process_leaves_a_checkpoint_to_resume_from(tmp_path):
    path = tmp_path / "c"
    root = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
    paths = os.pathsep.join([os.path.join(root, "src"), root])
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(path)], env={**os.environ, "PYTHONPATH": paths}
    )
    deadline = time.monotonic() + 240
    while not path.exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.05)  # in the middle of an epoch, or of a write
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    X, y = blobs()
    seen = []
    again = classifier(
        max_epochs=1_000_000, resume=path, callbacks=lambda epoch: seen.append(1) or True
    )
    again.fit(X, y)
    n_epochs = again.history_.n_epochs
    assert n_epochs >= 2 and len(seen) == 1
    assert_array_equal(again.parameters_, classifier(max_epochs=n_epochs).fit(X, y).parameters_)
    assert np.isfinite(again.parameters_).all()


def test_the_compiled_epoch_resumes_and_does_not_depend_on_threads(tmp_path):
    from threadpoolctl import threadpool_limits

    from likely.neural.engine import ReadableEngine
    from likely.neural.fitting import steps_on

    X, y = blobs(1200)
    options = {"dropout": 0.2, "validation": 0.1, "batch": 32, "max_epochs": 4}
    model = classifier(**options)
    start = model.training_starts(model.options_on(X), X, y, None)[0]
    steps, _ = steps_on(start.problem)
    assert not isinstance(steps.engine, ReadableEngine)
    with threadpool_limits(1):
        whole = classifier(**options).fit(X, y)
    path = interrupted(classifier(**options), X, y, tmp_path / "c", 2)
    with threadpool_limits(2):
        assert_same_training(classifier(**options, resume=path).fit(X, y), whole)


@pytest.mark.parametrize("seed", [0, None])
@pytest.mark.parametrize("stop_at", [4, 11, 17])
def test_several_networks_have_a_checkpoint_each(seed, stop_at, tmp_path):
    """Ctrl-C in any of them, and the same call goes on: finished networks are not trained again."""
    X, y = blobs()
    options = {
        "hidden": (5,),
        "max_epochs": 8,
        "tol": None,
        "early_stopping": True,
        "patience": 8,
        "n_networks": 3,
        "random_state": seed,
        "checkpoint": tmp_path / "c",
        "resume": True,
    }
    epochs = []

    def interrupt(epoch):
        epochs.append(epoch.number)
        if len(epochs) == stop_at:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        classifier(**options, callbacks=interrupt).fit(X, y)
    written = sorted(path.name for path in tmp_path.iterdir())
    assert written == [f"c.{number + 1}" for number in range(1 + (stop_at - 1) // 8)]
    again = classifier(**options, callbacks=lambda epoch: epochs.append(epoch.number)).fit(X, y)
    assert stop_at <= len(epochs) <= 24 + 1  # at most the epoch that was interrupted twice
    if seed is not None:
        whole = classifier(**{**options, "checkpoint": None, "resume": None}).fit(X, y)
        assert_array_equal(again.average_.parameters, whole.average_.parameters)
        assert again.average_.shrinkage == whole.average_.shrinkage
    with pytest.raises(InvalidInput, match=r"the network was 1 of 3, and is 1 of 2 now"):
        classifier(**{**options, "n_networks": 2}).fit(X, y)
