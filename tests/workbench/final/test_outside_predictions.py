"""Predictions of another tool are scored as those of a model are, row by row, or refused."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, mean_squared_error, zero_one_loss

import likely
from likely.errors import HonestyRefusal, InvalidInput
from likely.sealing.folder import ROW, SealFolder

N = 200


def table_of(kind, n=N, seed=0):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, n))
    y = {
        "two": lambda: np.where(a - b + rng.logistic(size=n) > 0, "yes", "no"),
        "three": lambda: np.array(["low", "mid", "high"])[(a > 0) + (a + b > 0.3).astype(int)],
        "real": lambda: a - b + rng.normal(size=n),
        "count": lambda: rng.poisson(np.exp(2.5 + 0.5 * a)),
        "truth": lambda: a - b > 0,
        "digit": lambda: (a - b > 0).astype(int),
    }[kind]()
    return pd.DataFrame({"a": a, "b": b, "y": y})


def sealed_from(frame, folder, **terms):
    return likely.seal(frame, "y", name="toy", folder=folder, **terms)


@pytest.fixture
def two(tmp_path):
    return sealed_from(table_of("two"), tmp_path)


def labels_of(frame, features):
    """The labels of the sealed rows, from the frame that was sealed."""
    return frame.set_index("a").loc[features["a"], "y"].to_numpy()


def probabilities(sealed):
    """A frame of predictions by a model of scikit-learn, as an outsider would make it."""
    train, rows = sealed.train, sealed.test_features()
    model = LogisticRegression(C=2.0).fit(train[["a", "b"]], train["y"])
    proba = model.predict_proba(rows[["a", "b"]])
    columns = {f"p_{label}": proba[:, k] for k, label in enumerate(model.classes_)}
    return pd.DataFrame({ROW: rows[ROW], **columns})


def test_the_features_have_keys_and_no_target(two):
    rows = two.test_features()
    assert list(rows.columns) == [ROW, "a", "b"]
    assert rows[ROW].is_unique
    assert len(rows) == two.manifest.n_test
    assert two.ledger()[-1]["event"] == "predict"
    assert two.evaluations == 0


def test_probabilities_score_as_the_model_that_made_them(two, tmp_path):
    model = likely.LogisticRegression(l2=0.5).fit(two.train[["a", "b"]], two.train["y"])
    rows = two.test_features()
    proba = model.predict_proba(rows[["a", "b"]])
    outside = two.final(predictions=proba, name="another tool")
    frame = table_of("two")
    y = labels_of(frame, rows)
    assert_allclose(outside.value, log_loss(y, proba, labels=model.classes_), rtol=1e-12)
    (tmp_path / "other").mkdir()
    twin = sealed_from(frame, tmp_path / "other").final(
        likely.LogisticRegression(l2=0.5), again="to compare"
    )
    for name, estimate in twin.measures.items():
        assert_allclose(outside.measures[name], estimate, rtol=1e-9, err_msg=name)
    assert_allclose(outside.gain, twin.gain, rtol=1e-9)
    assert "made outside likely" in str(outside)
    assert outside.model is None


def test_the_ledger_has_one_look_with_a_digest(two):
    given = probabilities(two)
    two.final(predictions=given, name="a forest in R")
    commit = next(entry for entry in two.ledger() if entry["event"] == "commit")
    assert commit["model"] == "a forest in R"
    assert len(commit["predictions"]) == 64
    assert "outside likely" in commit["note"]
    again = two.final(predictions=given.sample(frac=1, random_state=0))
    assert again.resumed, "the same predictions in another order cost nothing"
    assert two.evaluations == 1
    assert two.verify().sound


def test_another_submission_is_beyond_the_budget(two):
    given = probabilities(two)
    two.final(predictions=given)
    swapped = given.assign(p_no=given.p_yes, p_yes=given.p_no)
    with pytest.raises(HonestyRefusal, match="allows 1 evaluation, and 1 was used"):
        two.final(predictions=swapped)
    assert two.final(predictions=swapped, again="the columns were swapped").evaluation == 2
    with pytest.raises(HonestyRefusal):
        two.final(likely.NaiveBayes())


def test_rows_in_another_order_are_matched_by_their_keys(two):
    given = probabilities(two)
    rows, y = two.test_features(), labels_of(table_of("two"), two.test_features())
    assert list(rows[ROW]) == list(given[ROW])
    shuffled = given.sample(frac=1, random_state=3).reset_index(drop=True)
    assert list(shuffled[ROW]) != list(given[ROW])
    score = two.final(predictions=shuffled)
    assert_allclose(score.value, log_loss(y, given[["p_no", "p_yes"]]), rtol=1e-12)


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".jsonl"])
def test_a_file_is_a_frame(two, tmp_path, suffix):
    given, path = probabilities(two), tmp_path / f"theirs{suffix}"
    if suffix == ".parquet":
        given.to_parquet(path)
    elif suffix == ".jsonl":
        given.to_json(path, orient="records", lines=True, double_precision=15)
    else:
        given.to_csv(path, index=False, sep="\t" if suffix == ".tsv" else ",")
    y = labels_of(table_of("two"), two.test_features())
    score = two.final(predictions=path)
    assert_allclose(score.value, log_loss(y, given[["p_no", "p_yes"]]), rtol=1e-12)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_frame_of_any_library(tmp_path, library):
    from likely.data.frames import frame_of

    table = pa.Table.from_pandas(table_of("two"), preserve_index=False)
    sealed = sealed_from(frame_of(table, library), tmp_path)
    assert type(sealed.test_features()).__module__.startswith(library)
    keys = SealFolder(sealed.path).row_keys()
    half = np.full(len(keys), 0.5)
    given = frame_of(pa.table({ROW: keys, "p_no": half, "p_yes": half}), library)
    assert_allclose(sealed.final(predictions=given).value, np.log(2))


def test_labels_have_the_error_rate(tmp_path):
    frame = table_of("three")
    sealed = sealed_from(frame, tmp_path)
    rows = sealed.test_features()
    model = RandomForestClassifier(n_estimators=5, random_state=0)
    model.fit(sealed.train[["a", "b"]], sealed.train["y"])
    labels = model.predict(rows[["a", "b"]])
    score = sealed.final(predictions=pd.DataFrame({ROW: rows[ROW], "prediction": labels}))
    assert score.metric == "error-rate"
    assert_allclose(score.value, zero_one_loss(labels_of(frame, rows), labels))


@pytest.mark.parametrize("kind", ["truth", "digit"])
@pytest.mark.parametrize("written", [False, True])
def test_labels_may_be_text_or_numbers(tmp_path, kind, written):
    frame = table_of(kind)
    sealed = sealed_from(frame, tmp_path)
    rows = sealed.test_features()
    guess = rows["a"].to_numpy() > 0
    told = guess if kind == "truth" else guess.astype(float)
    if written:
        told = np.where(
            guess, "true" if kind == "truth" else "1", "false" if kind == "truth" else "0"
        )
    score = sealed.final(predictions=pd.DataFrame({ROW: rows[ROW], "prediction": told}))
    assert_allclose(score.value, np.mean(labels_of(frame, rows) != guess))


@pytest.mark.parametrize("kind", ["real", "count"])
@pytest.mark.parametrize("form", ["frame", "array"])
def test_means_have_the_mean_squared_error(tmp_path, kind, form):
    frame = table_of(kind)
    sealed = sealed_from(frame, tmp_path)
    rows = sealed.test_features()
    means = rows["a"].to_numpy() - rows["b"].to_numpy()
    given = means if form == "array" else pd.DataFrame({ROW: rows[ROW], "prediction": means})
    score = sealed.final(predictions=given)
    assert score.metric == "mean-squared-error"
    assert_allclose(score.value, mean_squared_error(labels_of(frame, rows), means))


def test_exposures_move_the_baseline_and_not_the_means(tmp_path):
    rng = np.random.default_rng(0)
    x, days = rng.normal(size=300), rng.uniform(1, 9, 300)
    frame = pd.DataFrame({"a": x, "days": days, "y": rng.poisson(days * np.exp(1 + 0.3 * x))})
    (tmp_path / "other").mkdir()
    first = sealed_from(frame, tmp_path, kind="count", exposure="days")
    second = sealed_from(frame, tmp_path / "other", kind="count", exposure="days")
    model = likely.GLM("poisson").fit(
        first.train[["a"]], first.train["y"], exposure=first.train["days"]
    )
    rows = first.test_features()
    means = model.predict(rows[["a"]], exposure=rows["days"])
    outside = first.final(predictions=means)
    own = second.final(likely.GLM("poisson"), again="to compare")
    assert_allclose(outside.measures["rmse"], own.measures["rmse"], rtol=1e-9)


def test_small_rounding_of_probabilities_is_scaled_away(two):
    given = probabilities(two)
    rounded = given.assign(p_no=given.p_no.round(3) + 4e-4)
    y = labels_of(table_of("two"), two.test_features())
    proba = rounded[["p_no", "p_yes"]].to_numpy()
    score = two.final(predictions=rounded)
    assert_allclose(score.value, log_loss(y, proba / proba.sum(axis=1, keepdims=True)), rtol=1e-12)


REFUSED = {
    "no keys": (lambda f: f.drop(columns=ROW), "expected 'sealed_row'.*Copy it"),
    "short": (lambda f: f.iloc[:-3], "lack 3 sealed rows.*Predict them all"),
    "twice": (lambda f: pd.concat([f, f.iloc[:1]]), "twice.*Keep one"),
    "other keys": (
        lambda f: f.assign(**{ROW: [f"r{i}" for i in range(len(f))]}),
        "not one of the 40 sealed rows.*Copy the column",
    ),
    "keys renumbered": (
        lambda f: f.assign(
            **{ROW: [f"r{i}-{k.partition('-')[2]}" for i, k in enumerate(f[ROW][::-1])]}
        ),
        "not one of the 40",
    ),
    "NaN": (
        lambda f: f.assign(p_no=f.p_no.where(f.index != 5)),
        "sealed row 5 is nan; finite numbers.*Predict every row",
    ),
    "unnormalised": (
        lambda f: f.assign(p_no=f.p_no + 0.01),
        r"sum to 1\.01; 1 was expected.*Divide",
    ),
    "negative": (lambda f: f.assign(p_no=-f.p_no), "numbers from 0 to 1.*not logarithms"),
    "a class is missing": (lambda f: f.drop(columns="p_no"), "no column 'p_no'.*Add"),
    "another class": (lambda f: f.assign(p_maybe=0.0), "a column 'p_maybe'.*drop"),
    "no predictions": (lambda f: f[[ROW]], "expected the columns p_no, p_yes, or 'prediction'"),
    "text": (lambda f: f.assign(p_no="high"), "hold 'high'; numbers were expected"),
    "no such class": (
        lambda f: f[[ROW]].assign(prediction="maybe"),
        "'maybe' in sealed row 0 is no class of 'y'",
    ),
    "array too short": (lambda f: f[["p_no", "p_yes"]].to_numpy()[:-1], "one for each of the 40"),
    "array of one class": (lambda f: f["p_yes"].to_numpy(), "is no class of 'y'.*probabilities"),
    "array of three": (lambda f: np.full((len(f), 3), 1 / 3), "expected 2 columns, for no, yes"),
    "a number": (lambda f: 0.5, "found float. Convert it"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_matched_or_scored_is_refused_and_costs_nothing(two, name):
    change, message = REFUSED[name]
    with pytest.raises(InvalidInput, match=message):
        two.final(predictions=change(probabilities(two)))
    assert two.evaluations == 0


def test_keys_of_another_seal_are_refused(two, tmp_path):
    (tmp_path / "other").mkdir()
    other = sealed_from(table_of("two"), tmp_path / "other", seed=5)
    with pytest.raises(InvalidInput, match=r"not one of the 40 sealed rows of toy\.seal"):
        two.final(predictions=probabilities(other))


def test_one_of_a_model_and_predictions_is_scored(two):
    given = probabilities(two)
    with pytest.raises(InvalidInput, match="No estimator and no predictions"):
        two.final()
    with pytest.raises(InvalidInput, match="Both an estimator and predictions"):
        two.final(likely.NaiveBayes(), predictions=given)


def test_thresholdout_needs_an_estimate_and_ladder_does_not(tmp_path):
    frame = table_of("two")
    for judge in ("ladder", "thresholdout"):
        (tmp_path / judge).mkdir()
        sealed = sealed_from(frame, tmp_path / judge, judge=judge)
        given = probabilities(sealed)
        if judge == "thresholdout":
            with pytest.raises(InvalidInput, match="cross-validation estimate"):
                sealed.final(predictions=given)
        score = sealed.final(predictions=given, cv_estimate=0.5)
        assert score.gain is None
        assert "outside likely" in score.note


def test_an_interrupted_submission_is_finished_without_another_look(two, monkeypatch):
    given = probabilities(two)
    kept = likely.sealing.evaluation._judged
    monkeypatch.setattr(likely.sealing.evaluation, "_judged", lambda *args: ({}, KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        two.final(predictions=given)
    monkeypatch.setattr(likely.sealing.evaluation, "_judged", kept)
    assert two.evaluations == 1
    score = two.final(predictions=given)
    assert score.resumed
    assert "outside likely" in score.note
    assert two.evaluations == 1


def test_a_feature_called_sealed_row_is_refused(tmp_path):
    sealed = sealed_from(table_of("two").rename(columns={"b": ROW}), tmp_path)
    with pytest.raises(InvalidInput, match="Rename the feature"):
        sealed.test_features()
