"""A look: counted, written down before labels are opened, resumed after an accident."""

import json
import shutil
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import log_loss
from sklearn.naive_bayes import GaussianNB

import likely
from likely.errors import BrokenLedger, HonestyRefusal, InvalidInput, LikelyError
from likely.metrics.registry import LOSSES
from likely.sealing.final_score import Scorer
from likely.sealing.folder import COMMITTED, SealFolder
from likely.storage.files import watching
from likely.workbench.data.task import Task
from likely.workbench.final.final import final_score_of_fit
from likely.workbench.final.final_scorer import TaskScorer
from tests.sealing.conftest import counts, labels_of, numbers_only

REASON = "the reviewer asked for it"
BY_LOG_LOSS = TaskScorer(Task("binary", "y", ("no", "yes")), LOSSES["log-loss"])


def events(sealed):
    return [entry["event"] for entry in sealed.ledger()]


def test_a_fitted_model_is_not_taken_as_it_is(tmp_path):
    frame = numbers_only()
    sealed = likely.seal(frame, "y", folder=tmp_path)
    cheat = GaussianNB().fit(frame.drop(columns="y"), frame["y"])
    found = sealed.final(cheat)
    honest = GaussianNB().fit(sealed.train.drop(columns="y"), sealed.train["y"])
    assert found.model is not cheat
    assert_allclose(found.model.theta_, honest.theta_)


def stopped_after_commit(sealed, model, monkeypatch):
    """A look whose process dies before the labels are opened."""
    from likely.sealing import evaluation as finalising

    def killed(*arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(finalising, "opened", killed)
        sealed.final(model)
    assert events(sealed)[-1] == "commit"


def test_an_interrupted_density_is_scored_by_whoever_comes_next(tmp_path, monkeypatch):
    sealed = likely.seal(counts(), "y", folder=tmp_path)
    stopped_after_commit(sealed, likely.GLM("poisson"), monkeypatch)
    with pytest.raises(HonestyRefusal, match="1 was used"):
        sealed.final(LinearRegression())
    score = sealed.ledger()[2]
    assert (score["event"], score["metric"]) == ("score", "negative-log-likelihood")
    assert "log-likelihood" in {line["metric"] for line in score["measures"]}
    assert sealed.final(likely.GLM("poisson")).resumed


def test_a_look_that_is_finished_by_another_scorer_keeps_its_metrics(tmp_path, monkeypatch):
    sealed = likely.seal(numbers_only(), "y", folder=tmp_path)
    stopped_after_commit(sealed, LogisticRegression(), monkeypatch)
    found = final_score_of_fit(
        SealFolder(sealed.path),
        LogisticRegression().fit(sealed.train.drop(columns="y"), sealed.train["y"]),
        trained_on=sealed.manifest.files["train.parquet"],
        scorer=BY_LOG_LOSS,
    )
    assert found.resumed
    assert {"accuracy", "brier"} <= set(found.measures)


def test_commit_comes_before_score_and_both_before_the_answer(sealed):
    found = sealed.final(likely.NaiveBayes())
    assert events(sealed) == ["sealed", "commit", "score"]
    commit, score = sealed.ledger()[1:]
    assert commit["model"] == "NaiveBayes()"
    assert (score["value"], *score["interval"]) == found.estimate[:3]
    assert found.head == sealed.verify().head
    assert not (sealed.path / COMMITTED).exists()


def test_a_look_beyond_the_budget_is_refused_and_logged(sealed):
    sealed.final(likely.NaiveBayes())
    with pytest.raises(
        HonestyRefusal, match=r"allows 1 evaluation, and 1 was used.*again="
    ) as refusal:
        sealed.final(likely.NaiveBayes(smoothing=2.0))
    assert "log loss" in str(refusal.value)
    assert events(sealed) == ["sealed", "commit", "score", "refused"]
    assert sealed.evaluations == 1


def test_a_reason_allows_another_look_at_a_wider_interval(sealed):
    first = sealed.final(likely.NaiveBayes())
    second = sealed.final(likely.NaiveBayes(smoothing=1.01), again=REASON)
    assert (second.evaluation, second.level) == (2, 0.975)
    assert np.diff(second.estimate[1:3]) > np.diff(first.estimate[1:3])
    assert events(sealed)[3:] == ["again", "commit", "score"]
    assert sealed.ledger()[3]["reason"] == REASON
    assert "evaluation 2, beyond the budget of 1" in str(second)
    assert sealed.final(likely.NaiveBayes(smoothing=3.0), again=REASON).level == 1 - 0.05 / 3


@pytest.mark.parametrize("reason", ["", "  ", "x"])
def test_an_empty_reason_is_none(sealed, reason):
    with pytest.raises(InvalidInput, match="is not a reason"):
        sealed.final(likely.NaiveBayes(), again=reason)
    assert events(sealed) == ["sealed"]


def test_the_same_predictions_are_not_charged_twice(sealed):
    first = sealed.final(likely.NaiveBayes())
    second = sealed.final(likely.NaiveBayes())
    assert (second.value, second.evaluation, second.resumed) == (first.value, 1, True)
    assert events(sealed) == ["sealed", "commit", "score"]


def test_a_model_trained_on_other_rows_is_refused_and_logged(sealed, table):
    model = likely.NaiveBayes().fit(table.drop_columns(["y"]), table.column("y"))
    with pytest.raises(HonestyRefusal, match=r"not trained on the training part of toy\.seal"):
        final_score_of_fit(SealFolder(sealed.path), model, trained_on="0" * 64, scorer=BY_LOG_LOSS)
    assert events(sealed) == ["sealed", "refused"]


def test_a_changed_file_is_refused_before_the_look(sealed):
    path = sealed.path / "train.parquet"
    path.write_bytes(path.read_bytes() + b"\0")
    with pytest.raises(BrokenLedger, match=r"train\.parquet was changed after sealing"):
        sealed.final(likely.NaiveBayes())


def test_escrowed_labels_are_asked_for_and_checked(table, tmp_path):
    kept, wrong = tmp_path / "kept.bin", tmp_path / "wrong.bin"
    sealed = likely.seal(table, "y", name="esc", folder=tmp_path, escrow=kept)
    wrong.write_bytes(kept.read_bytes()[:-1])
    with pytest.raises(HonestyRefusal, match=r"in a separate file.*--escrow FILE"):
        sealed.final(likely.NaiveBayes())
    with pytest.raises(BrokenLedger, match=r"not the labels of esc\.seal"):
        sealed.final(likely.NaiveBayes(), escrow=wrong)
    with pytest.raises(InvalidInput, match="cannot be read"):
        sealed.final(likely.NaiveBayes(), escrow=tmp_path / "none")
    assert sealed.evaluations == 0
    assert sealed.final(likely.NaiveBayes(), escrow=kept).evaluation == 1


def frames_of(step):
    while step is not None:
        yield step.tb_frame
        step = step.tb_next


class Failing(Scorer):
    """A metric that breaks when it sees labels."""

    name = "log-loss"

    def predictions(self, model, X):
        return BY_LOG_LOSS.predictions(model, X)

    def losses(self, predictions, y):
        raise ZeroDivisionError(f"the first label is {y[0]}")

    def constant_loss(self, y):
        return 1.0

    def score(self, predictions, y, **known):
        return {"value": self.losses(predictions, y).mean()}


def test_an_error_while_scoring_shows_no_label_and_costs_no_other_look(sealed):
    with pytest.raises(LikelyError, match=r"ZeroDivisionError.*not use another") as caught:
        sealed.final(likely.NaiveBayes(), scorer=Failing())
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert "the first label" not in str(caught.value)
    held = [value for frame in frames_of(caught.tb) for value in frame.f_locals.values()]
    arrays = [value for value in held if isinstance(value, np.ndarray)]
    assert not [array for array in arrays if array.dtype == object and len(array) == 24]
    assert events(sealed) == ["sealed", "commit"]
    assert sealed.final(likely.NaiveBayes()).evaluation == 1
    assert events(sealed) == ["sealed", "commit", "score"]


class Incomplete(Failing):
    """A metric whose score is not what ``Scorer.score`` asks for."""

    name = "half loss"

    def __init__(self, score):
        self.given = score

    def score(self, predictions, y, **known):
        return self.given


@pytest.mark.parametrize(
    ("score", "missing"),
    [
        ({"value": 1.0, "interval": [0.5, 1.5], "best_constant": 2.0}, "baseline"),
        ({"value": 1.0, "interval": 0.5, "baseline": 2.0}, "interval"),
        ({}, "value, interval, baseline"),
    ],
)
def test_a_score_without_a_required_key_is_named_and_costs_no_other_look(sealed, score, missing):
    with pytest.raises(LikelyError, match=rf"lacks {missing}; .*not use another"):
        sealed.final(likely.NaiveBayes(), scorer=Incomplete(score))
    assert events(sealed) == ["sealed", "commit"]
    whole = {"value": 1.0, "interval": [0.5, 1.5], "baseline": 2.0}
    found = sealed.final(likely.NaiveBayes(), scorer=Incomplete(whole))
    assert (found.evaluation, found.estimate) == (1, (1.0, 0.5, 1.5, 2.0))
    assert events(sealed) == ["sealed", "commit", "score"]


def test_an_interrupted_look_is_finished_before_another_model_is_refused(sealed):
    with pytest.raises(LikelyError):
        sealed.final(likely.NaiveBayes(), scorer=Failing())
    with pytest.raises(HonestyRefusal, match="1 was used"):
        sealed.final(likely.NaiveBayes(smoothing=9.0))
    assert events(sealed) == ["sealed", "commit", "score", "refused"]
    finished = sealed.final(likely.NaiveBayes())
    assert (finished.evaluation, finished.resumed) == (1, True)


def test_an_interrupted_look_without_its_predictions_says_what_to_do(sealed):
    with pytest.raises(LikelyError):
        sealed.final(likely.NaiveBayes(), scorer=Failing())
    (sealed.path / COMMITTED).unlink()
    with pytest.raises(HonestyRefusal, match=r"NaiveBayes\(\).*that model and metric once more"):
        sealed.final(likely.NaiveBayes(smoothing=9.0))
    assert sealed.final(likely.NaiveBayes()).evaluation == 1


class NotANumber(Failing):
    def predictions(self, model, X):
        return {"mean": np.array([np.nan])}


def test_predictions_that_are_no_numbers_cost_no_look(sealed):
    with pytest.raises(InvalidInput, match=r"predicts NaN.*No evaluation was used"):
        sealed.final(likely.NaiveBayes(), scorer=NotANumber())
    assert sealed.evaluations == 0


@pytest.mark.parametrize("judge", ["ladder", "thresholdout"])
def test_under_a_careful_judge_the_exact_score_is_nowhere(judge, tmp_path):
    frame = numbers_only()
    sealed = likely.seal(frame, "y", folder=tmp_path, judge=judge, budget=5)
    found = sealed.final(LogisticRegression())
    X, y = labels_of(frame, sealed)
    exact = log_loss(y, found.model.predict_proba(X))
    assert abs(found.value - exact) < found.estimate.high - found.value
    numbers = [
        value for entry in sealed.ledger() for value in entry.values() if isinstance(value, float)
    ]
    assert numbers
    assert min(abs(number - exact) for number in [*numbers, found.estimate.baseline]) > 1e-6
    assert found.measures == {}
    for path in sealed.path.iterdir():
        assert repr(exact)[:8].encode() not in path.read_bytes()


def test_a_ladder_never_goes_up(tmp_path):
    sealed = likely.seal(numbers_only(), "y", folder=tmp_path, judge="ladder", budget=5)
    weak = sealed.final(LogisticRegression(C=1e-6))
    strong = sealed.final(LogisticRegression())
    again = sealed.final(LogisticRegression(C=1e-5))
    assert weak.value > strong.value == again.value
    assert (weak.of_this_model, strong.of_this_model, again.of_this_model) == (True, True, False)
    assert str(again).startswith(
        f"Best score so far (an earlier model's): log loss {strong.value:.2f}"
    )
    assert "This model does not improve the best score by at least" in str(again)
    assert not sealed.final(LogisticRegression(C=1e-5)).of_this_model, "read from the ledger"


CHILD = """
    import sys
    import likely
    from likely.errors import HonestyRefusal
    sealed, smoothing = likely.open_seal(sys.argv[1]), float(sys.argv[2])
    print("ready", flush=True)
    sys.stdin.readline()
    try:
        print(sealed.final(likely.NaiveBayes(smoothing=smoothing)).evaluation)
    except HonestyRefusal:
        print("refused")
"""


@pytest.mark.diagonal(2)
@pytest.mark.parametrize(
    ("budget", "expected"), [(1, ["1", "refused"]), (2, ["1", "2"])], ids=["one", "two"]
)
@pytest.mark.long
def test_of_two_processes_that_finalise_at_once_none_is_lost(budget, expected, table, tmp_path):
    sealed = likely.seal(table, "y", folder=tmp_path, budget=budget)
    code = textwrap.dedent(CHILD)
    children = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(sealed.path), smoothing],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for smoothing in ("1.0", "5.0")
    ]
    for child in children:
        assert child.stdout.readline() == "ready\n"
    for child in children:
        child.stdin.write("go\n")
        child.stdin.flush()
    answers = [child.communicate()[0].strip() for child in children]
    assert sorted(answers) == expected
    assert sealed.verify().sound
    assert events(sealed).count("commit") == events(sealed).count("score") == budget
    assert events(sealed).count("refused") == 2 - budget


def test_the_ledger_is_json_that_others_can_read(sealed):
    sealed.final(likely.NaiveBayes())
    lines = (sealed.path / "ledger.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == sealed.ledger()


def test_a_reason_is_recorded_once_if_the_call_is_killed_before_its_commit(sealed):
    class Killed(BaseException):
        pass

    def kill(point, path):
        if path.name == "committed.npz":
            raise Killed

    sealed.final("naive-bayes")
    for _ in range(3):
        with pytest.raises(Killed), watching(kill):
            sealed.final("logistic", again="the first was wrong")
    assert sealed.final("logistic", again="the first was wrong").evaluation == 2
    events = [entry["event"] for entry in sealed.ledger()]
    assert events == ["sealed", "commit", "score", "again", "commit", "score"]


def test_a_copy_of_a_seal_with_further_evaluations_is_the_one_to_use(sealed):
    twin = likely.open_seal(shutil.copytree(sealed.path, sealed.path.with_name("twin.seal")))
    twin.final(likely.NaiveBayes())
    with pytest.raises(BrokenLedger, match=r"twin.*is a copy of it, .*evaluations that this one"):
        sealed.final(likely.NaiveBayes())
    assert twin.evaluations == 1
    shutil.rmtree(twin.path)
    assert sealed.final(likely.NaiveBayes()).evaluation == 1


def test_a_copy_of_a_seal_with_a_refusal_alone_has_used_nothing(sealed):
    found = sealed.final(likely.NaiveBayes())
    twin = likely.open_seal(shutil.copytree(sealed.path, sealed.path.with_name("twin.seal")))
    with pytest.raises(HonestyRefusal):
        twin.final(likely.NaiveBayes(smoothing=2.0))
    assert events(twin) != events(sealed)
    assert sealed.final(likely.NaiveBayes()).estimate == found.estimate
