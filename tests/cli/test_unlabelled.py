"""Documents without a label on the command line: learned from by EM, and never scored."""

import json

import numpy as np
import pyarrow as pa
import pytest

import likely as lk
from likely.workbench.data import dataset

WORDS = {"spam": "prize cash win free offer", "ham": "lunch meeting home thanks noon"}
OPTIONS = ("--text", "body", "--target", "label")
N, EVERY = 240, 4  # one of so many has a label


def documents(mark):
    """Labels, most of them the mark or missing, and texts."""
    rng = np.random.default_rng(0)
    truth = rng.choice(["ham", "spam"], size=N).tolist()
    texts = [" ".join(rng.choice(WORDS[label].split(), size=4)) for label in truth]
    labels = [label if i % EVERY == 0 else mark if i % 2 else "" for i, label in enumerate(truth)]
    return labels, [f"{text} n{i}" for i, text in enumerate(texts)]


@pytest.fixture
def half(tmp_path):
    labels, texts = documents("?")
    lines = [f"{label},{text}" for label, text in zip(labels, texts, strict=True)]
    (tmp_path / "half.csv").write_text("\n".join(["label,body", *lines]) + "\n")
    return tmp_path


def test_documents_without_a_label_are_learned_from_and_not_scored(likely, half):
    given = ("--set", "unlabelled=?", "--set", "unlabelled_weight=0.5", "-o", "r", "--json")
    given += ("--set", "calibrate=none")  # folds of rows in another order differ
    outcome = likely("train", "half.csv", "naive-bayes", *OPTIONS, *given)
    assert outcome.exit == 0, outcome.err
    result, n_labelled = outcome.json["result"], N // EVERY
    assert result["classes"] == ["ham", "spam"] and result["rows"] == n_labelled
    assert result["scores"]["rows"] == n_labelled
    told = f"{N - n_labelled} rows without a label (label) are learned from by EM, and not scored."
    assert told in outcome.json["findings"]
    model = lk.load(half / "r" / "model.likely")
    labels, texts = documents(None)
    rows = pa.table({"body": texts})
    own = lk.NaiveBayes(smoothing="auto", unlabelled=np.nan, unlabelled_weight=0.5)
    mine = lk.Prepared(own).fit(rows, [label or None for label in labels])
    np.testing.assert_allclose(
        model.model_.class_count_.sum(), n_labelled + 0.5 * (N - n_labelled), rtol=1e-9
    )
    assert {*model.preparation_.word_names} == {*mine.preparation_.word_names}
    np.testing.assert_allclose(model.predict_proba(rows), mine.predict_proba(rows), atol=1e-6)
    facts = json.loads((half / "r" / "run.json").read_text())
    assert facts["parameters"]["unlabelled"] == "?"
    done = likely("report", "r", "-o", "r.html")
    assert done.exit == 0, done.err
    curve = likely("curve", "r")
    assert curve.exit == 1 and "rows without a label" in " ".join(curve.err.split())


def test_the_fit_of_every_fold_has_all_rows_without_a_label(likely, half, monkeypatch):
    seen = []
    fit = lk.NaiveBayes.fit

    def counting(self, X, y=None, sample_weight=None):
        seen.append(sum(label is None for label in y.to_pylist()))
        return fit(self, X, y, sample_weight)

    monkeypatch.setattr(lk.NaiveBayes, "fit", counting)
    given = ("--set", "unlabelled=?", "-x", "3")
    assert likely("train", "half.csv", "naive-bayes", *OPTIONS, *given).exit == 0
    assert len(seen) >= 4 and {*seen} == {N - N // EVERY}


@pytest.mark.parametrize("mark", ["nan", ""])
def test_missing_labels_are_marked_by_nan_or_nothing(likely, half, mark):
    text = (half / "half.csv").read_text().replace("?,", ",")
    (half / "half.csv").write_text(text)
    outcome = likely("train", "half.csv", "naive-bayes", *OPTIONS, "--set", f"unlabelled={mark}")
    assert outcome.exit == 0 and "learned from by EM" in outcome.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("train", "half.csv", "logistic"), "cannot learn from rows without a label; naive-bayes"),
        (("compare", "half.csv", "naive-bayes"), "only likely train learns from rows without a"),
        (("tune", "half.csv", "naive-bayes"), "only likely train learns from rows without a label"),
        (("curve", "half.csv", "naive-bayes"), "only likely train learns from rows without a"),
    ],
)
def test_other_models_and_verbs_refuse_them(likely, half, words, message):
    outcome = likely(*words, *OPTIONS, "--set", "unlabelled=?")
    assert outcome.exit == 1 and message in " ".join(outcome.err.split())


def test_a_mark_that_no_row_has_is_refused(likely, half):
    outcome = likely("train", "half.csv", "naive-bayes", *OPTIONS, "--set", "unlabelled=none!")
    told = " ".join(outcome.err.split())
    assert outcome.exit == 2 and "no row has it" in told and "?, ham, spam" in told


def test_a_seal_is_refused(likely, half):
    assert likely("seal", "half.csv", *OPTIONS).exit == 0
    outcome = likely("train", "half.seal", "naive-bayes", "--set", "unlabelled=?")
    assert outcome.exit == 1 and "with a SEAL" in " ".join(outcome.err.split())


def test_a_file_that_is_larger_than_memory_is_refused(likely, half, monkeypatch):
    monkeypatch.setattr(dataset, "IN_MEMORY_BYTES", 0)
    outcome = likely("train", "half.csv", "naive-bayes", *OPTIONS, "--set", "unlabelled=?")
    assert outcome.exit == 1 and "larger than memory" in " ".join(outcome.err.split())
