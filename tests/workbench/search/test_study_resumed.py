"""A study that was stopped goes on, and one that asks another question does not."""

import errno
import json
import shutil
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from likely.errors import CannotWrite, InvalidFile, InvalidInput
from likely.numerics.intervals import Estimate
from likely.storage.files import watching
from likely.workbench.search import exploration
from likely.workbench.search.exploration import INTERRUPTED, OUT_OF_TIME
from likely.workbench.search.question import CrossValidated
from likely.workbench.search.trials import QUESTION, TRIALS, Trial, TrialLog, TrialScore
from likely.workbench.search.tune import tune
from tests.workbench.search.studies import SMALL, answers

pytestmark = pytest.mark.filterwarnings(
    "ignore::likely.errors.NothingToCalibrate"
)  # small separable tables

INFINITE = Estimate(np.inf, 0.5, np.inf, 0.7)


@pytest.mark.long
def test_a_kill_at_any_write_resumes_to_the_same_study(iris: Any, tmp_path: Path) -> None:
    """The folder as it is at each point of each write, as a power cut would leave it."""
    folder, points, cuts = tmp_path / "study", [], {}

    def copy(point: str, path: Path) -> None:
        points.append(point)
        files = sorted(file for file in folder.rglob("*") if file.is_file())
        cuts.setdefault(tuple((file, file.read_bytes()) for file in files), f"cut-{len(points)}")
        if folder.exists():
            shutil.copytree(folder, tmp_path / f"cut-{len(points)}")

    with watching(copy):
        whole = tune(iris, "target", "discriminant", study=folder, **SMALL)
    assert whole.outer
    assert answers(tune(iris, "target", "discriminant", **SMALL)) == answers(whole)
    assert len(points) >= 4 + 2 * (3 + 2 * 3 + 2)
    assert len(cuts) >= 1 + 3 + 2 * 3 + 2  # nothing, and each line of each log
    for snapshot in cuts.values():  # those that differ
        again = tune(iris, "target", "discriminant", study=tmp_path / snapshot, **SMALL)
        assert answers(again) == answers(whole), snapshot


def test_a_line_cut_anywhere_is_no_trial(tmp_path: Path) -> None:
    path = tmp_path / TRIALS
    log = TrialLog(path)
    log.append(Trial(0, {"a": 1.5, "b": None}, 1.0, TrialScore(INFINITE, (np.inf, 2.0), 0.1)))
    kept = path.read_bytes()
    log.append(Trial(1, {"a": "line\u2028separator"}, 1.0, None, "no fit"))
    whole = path.read_bytes()
    for end in range(len(kept), len(whole), 9):
        path.write_bytes(whole[:end])
        assert list(TrialLog(path).trials) == [0]
        assert path.read_bytes() == kept
    path.write_bytes(whole)
    read = TrialLog(path).trials
    assert read[0].score == TrialScore(INFINITE, (np.inf, 2.0), 0.1)
    assert read[1].problem == "no fit"
    path.write_bytes(b"not json\n" + whole)
    with pytest.raises(InvalidFile, match="line 1: this is not a trial"):
        TrialLog(path)


def test_a_full_disk_is_said_and_what_was_written_is_kept(iris: Any, tmp_path: Path) -> None:
    count = 0

    def full(point: str, path: Path) -> None:
        nonlocal count
        count += point == "appended"
        if count == 3:
            raise OSError(errno.ENOSPC, "No space left on device")

    options: dict[str, Any] = {"trials": 5, "folds": 2, "study": tmp_path / "s"}
    with watching(full), pytest.raises(CannotWrite, match="No space left"):
        tune(iris, "target", "discriminant", **options)
    assert len(TrialLog(tmp_path / "s" / TRIALS).trials) == 2
    again = tune(iris, "target", "discriminant", **options)
    fresh = tune(iris, "target", "discriminant", trials=5, folds=2)
    assert answers(again) == answers(fresh)


@pytest.mark.long
def test_an_interrupt_keeps_the_study_and_resume_ends_it(
    iris: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = tune(iris, "target", "discriminant", **SMALL)
    plain, calls = CrossValidated.evaluate, []

    def interrupted(self: Any, parameters: Any, *, share: float = 1.0) -> TrialScore:
        calls.append(parameters)
        if len(calls) == stop:
            raise KeyboardInterrupt
        return plain(self, parameters, share=share)

    monkeypatch.setattr(CrossValidated, "evaluate", interrupted)
    for stop in (2, 5):  # in the search itself, and inside an outer fold
        calls.clear()
        cut = tune(iris, "target", "discriminant", study=tmp_path / str(stop), **SMALL)
        assert cut.stopped == INTERRUPTED
        assert "resume() continues it" in str(cut)
        stopped_at = len(calls)
        ended = cut.resume()
        assert answers(ended) == answers(whole)
        assert len(calls) - stopped_at == 9 - (stop - 1)
    stop = len(calls) + 1
    with pytest.raises(KeyboardInterrupt):
        tune(iris, "target", "discriminant", trials=2, folds=2)


def test_more_trials_are_added_to_those_before(iris: Any, tmp_path: Path) -> None:
    short = tune(iris, "target", "discriminant", trials=3, folds=2, study=tmp_path / "s")
    long = short.resume(trials=6)
    assert answers(long) == answers(tune(iris, "target", "discriminant", trials=6, folds=2))
    assert json.loads((tmp_path / "s" / QUESTION).read_text())["budget"]["trials"] == 6
    in_memory = tune(iris, "target", "discriminant", trials=3, folds=2).resume(trials=6)
    assert answers(in_memory) == answers(long)
    halved = tune(iris, "target", "discriminant", trials=3, folds=2, search="halving")
    with pytest.raises(InvalidInput, match="plans its trials from the start"):
        halved.resume(trials=9)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"seed": 1}, "seed = 0; now it is 1"),
        ({"folds": 3}, "folds = 2; now it is 3"),
        ({"search": "bayes"}, "search = "),
        ({"metric": "brier"}, 'metric = "log-loss"; now it is "brier"'),
        ({"space": {"shrinkage": [0.0, 0.5]}}, "by_hand = "),
    ],
)
def test_a_folder_that_asks_another_question_is_refused(
    iris: Any, tmp_path: Path, change: dict[str, Any], named: str
) -> None:
    options: dict[str, Any] = {"trials": 2, "folds": 2, "study": tmp_path / "s"}
    tune(iris, "target", "discriminant", **options)
    before = (tmp_path / "s" / TRIALS).read_bytes()
    with pytest.raises(InvalidInput, match=named):
        tune(iris, "target", "discriminant", **options | change)
    other = iris.assign(target=iris["target"].to_numpy()[::-1])
    with pytest.raises(InvalidInput, match="data = "):
        tune(other, "target", "discriminant", **options)
    assert (tmp_path / "s" / TRIALS).read_bytes() == before


def test_a_trial_of_other_settings_is_refused(iris: Any, tmp_path: Path) -> None:
    options: dict[str, Any] = {"trials": 3, "folds": 2, "study": tmp_path / "s"}
    tune(iris, "target", "discriminant", **options)
    path = tmp_path / "s" / TRIALS
    path.write_text(path.read_text().replace('"tied"', '"full"'))
    with pytest.raises(InvalidFile, match="start a study in another folder"):
        tune(iris, "target", "discriminant", **options)
    (tmp_path / "s" / QUESTION).unlink()
    with pytest.raises(InvalidFile, match=r"missing from the folder of trials\.jsonl"):
        tune(iris, "target", "discriminant", **options)


def test_time_ends_a_study_and_more_minutes_go_on(
    iris: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exploration, "monotonic", count(step=2.0).__next__)
    study = tune(iris, "target", "discriminant", minutes=0.1, folds=2)
    assert study.stopped == OUT_OF_TIME
    more = study.resume(minutes=study.trials[-1].elapsed / 60 + 0.2)
    assert len(more.trials) > len(study.trials)
    assert [t.parameters for t in more.trials][: len(study.trials)] == [
        t.parameters for t in study.trials
    ]
