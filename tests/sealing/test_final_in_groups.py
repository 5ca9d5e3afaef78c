"""A look at a seal by group, and the gain over the constant, row by row."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.stats import t
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

import likely
from likely.sealing.folder import SealFolder
from likely.workbench.final.final_scorer import scorer_for


def patients(n_patients=60, size=40, seed=0):
    """Rows of patients who differ in what they have beside x."""
    rng = np.random.default_rng(seed)
    patient = np.arange(n_patients).repeat(size)
    x = rng.normal(size=len(patient)) + rng.normal(size=n_patients)[patient]
    odds = 0.6 * x + 1.5 * rng.normal(size=n_patients)[patient]
    y = np.where(rng.logistic(size=len(patient)) < odds, "yes", "no")
    return pd.DataFrame({"patient": [f"p{k}" for k in patient], "x": x, "y": y})


def by_hand(values, groups, level=0.95):
    """Cameron & Miller's, written out."""
    mean, names = values.mean(), np.unique(groups)
    sums = np.array([(values[groups == name] - mean).sum() for name in names])
    n_groups = len(names)
    error = np.sqrt(n_groups / (n_groups - 1) * np.square(sums).sum()) / len(values)
    half = t.ppf((1 + level) / 2, n_groups - 1) * error
    return mean - half, mean + half


def assert_ends(found, expected, *, open_end):
    """The end towards which a surprise may lie is a little further out; the other is the same."""
    assert_allclose(found[1 - open_end], expected[1 - open_end], rtol=1e-6)
    width = expected[1] - expected[0]
    beyond = (found[open_end] - expected[open_end]) * (1 if open_end else -1)
    assert 0 <= beyond < width / 4


def losses_on_sealed(frame, sealed):
    """Of a logistic regression and of the class shares, with the patient of each row."""
    train = sealed.train
    rows = frame[~frame["patient"].isin(train["patient"])]
    model = LogisticRegression().fit(train[["x"]], train["y"])
    place = (rows["y"] == "yes").astype(int).to_numpy()
    own = -model.predict_log_proba(rows[["x"]])[np.arange(len(rows)), place]
    share = (train["y"] == "yes").mean()
    constant = -np.log(np.where(place == 1, share, 1 - share))
    return own, constant, rows["patient"].to_numpy()


def test_the_interval_of_a_seal_by_group_is_that_of_its_groups(tmp_path):
    frame = patients()
    sealed = likely.seal(frame, "y", group="patient", folder=tmp_path)
    found = sealed.final(LogisticRegression())
    own, constant, groups = losses_on_sealed(frame, sealed)
    assert_ends(found.estimate[1:3], by_hand(own, groups), open_end=1)
    assert_ends(found.gain[1:3], by_hand(constant - own, groups), open_end=0)
    by_rows = 2 * 1.965 * own.std() / np.sqrt(len(own))
    assert found.estimate.high - found.estimate.low > 1.5 * by_rows
    assert (found.group, found.n_groups) == ("patient", 12)
    assert "on 480 sealed rows in 12 groups of patient; evaluation 1 of 1. Baseline" in str(found)
    entry = sealed.ledger()[-1]
    assert entry["groups"] == 12


def test_metrics_beside_the_score_are_of_groups_too(tmp_path):
    frame = patients()
    sealed = likely.seal(frame, "y", group="patient", folder=tmp_path)
    told = sealed.final(LogisticRegression()).measures
    train, rows = sealed.train, frame[~frame["patient"].isin(sealed.train["patient"])]
    model = LogisticRegression().fit(train[["x"]], train["y"])
    scorer = scorer_for(model, SealFolder(sealed.path))
    said = scorer.predictions(model, rows[["x"]])
    y, y_train = rows["y"].to_numpy(), train["y"].to_numpy()
    exact = scorer.score(said, y, y_train=y_train, level=0.95)
    by_rows = {line["metric"]: line["interval"] for line in exact["measures"]}
    assert set(told) == set(by_rows)
    for name in ("brier", "accuracy", "auc", "log-loss", "balanced-accuracy"):
        groups, alone = np.diff(told[name][1:3]), np.diff(by_rows[name])
        assert groups > 1.3 * alone, name


def test_a_model_without_probabilities_has_wilsons_interval_of_fewer_rows(tmp_path):
    sealed = likely.seal(patients(), "y", group="patient", folder=tmp_path)
    found = sealed.final(LinearSVC())
    share, n = found.value, found.n_rows
    by_rows = 2 * 1.96 * np.sqrt(share * (1 - share) / n)
    assert found.metric == "error-rate"
    assert found.estimate.high - found.estimate.low > 1.3 * by_rows


def test_a_clear_gain_is_not_denied_by_rows_that_differ(tmp_path):
    """The interval of the score holds the constant, and that of the gain does not hold 0."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=2500)
    frame = pd.DataFrame({"x": x, "y": rng.gamma(1.2, np.exp(3 + 0.3 * x) / 1.2)})
    sealed = likely.seal(frame, "y", folder=tmp_path)
    found = sealed.final(likely.GLM("gamma"))
    assert found.estimate.low < found.estimate.baseline < found.estimate.high
    assert_allclose(found.gain.value, found.estimate.baseline - found.value)
    assert 0 < found.gain.low < found.gain.value < found.gain.high
    again = sealed.final(likely.GLM("gamma"))
    assert again.resumed
    assert again.gain == found.gain
    assert found.n_groups is None
    assert "groups" not in str(found)


def test_at_the_second_look_the_gain_has_the_level_of_the_score(tmp_path):
    frame = patients(200, 3)
    sealed = likely.seal(frame, "y", group="patient", folder=tmp_path)
    sealed.final(LogisticRegression(C=1e-3))
    found = sealed.final(LogisticRegression(), again="the first was too shrunken")
    own, constant, groups = losses_on_sealed(frame, sealed)
    assert_ends(found.gain[1:3], by_hand(constant - own, groups, 0.975), open_end=0)


@pytest.mark.parametrize("judge", ["ladder", "thresholdout"])
@pytest.mark.parametrize("group", [None, "patient"])
def test_judges_that_keep_the_score_keep_the_gain(judge, group, tmp_path):
    frame = patients() if group else patients().drop(columns="patient")
    sealed = likely.seal(frame, "y", group=group, judge=judge, folder=tmp_path)
    found = sealed.final(LogisticRegression())
    assert found.gain is None
    assert "gain" not in (sealed.path / "ledger.jsonl").read_text()
    assert found.estimate.low <= found.value <= found.estimate.high
    assert found.n_groups == (12 if group else None)
