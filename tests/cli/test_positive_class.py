"""``--positive``: the class of two that F₁, average precision and thresholds are about."""

import json

import numpy as np
import pandas as pd
import pytest

import likely as lk
from likely.errors import InvalidInput
from likely.tasks.request import DataOptions

RNG = np.random.default_rng(0)
X = RNG.normal(size=300)
ILL = RNG.random(300) < 1 / (1 + np.exp(1 - 2 * X))


def frame(labels):
    return pd.DataFrame({"x": X, "ill": np.where(ILL, *labels)})


@pytest.mark.parametrize("labels", [("ja", "nein"), (1, 0)])
def test_numbers_that_depend_on_the_class_are_those_of_the_positive_one(labels):
    rows = frame(labels)
    found = {
        label: lk.compare(rows, "ill", ["naive-bayes"], metric="f1", repeats=1, positive=label)
        for label in labels
    }
    scores = {label: each["naive-bayes"] for label, each in found.items()}
    for label, each in found.items():
        assert each.task.kind == "binary"
        assert each.task.classes[-1] == label
        assert f"F₁ ({label})" in str(each)
    predicted = np.concatenate([scores[label].per_fold for label in labels])
    assert len(np.unique(predicted.round(9))) > 5  # F₁ of the one class is not that of the other
    usual = lk.compare(rows, "ill", ["naive-bayes"], metric="f1", repeats=1)
    last = sorted(labels)[-1]
    assert usual["naive-bayes"].value == scores[last].value
    loss = {lk.compare(rows, "ill", ["naive-bayes"], repeats=1, positive=one)["naive-bayes"].value
            for one in labels}  # fmt: skip
    assert len({round(each, 12) for each in loss}) == 1


def test_a_class_that_is_none_of_two_is_refused():
    with pytest.raises(InvalidInput, match="positive class 'maybe' was given, and 'ill' has"):
        lk.compare(frame(("yes", "no")), "ill", positive="maybe")
    three = frame(("yes", "no")).assign(ill=lambda f: f["ill"].where(f["x"] > -1, "gone"))
    with pytest.raises(InvalidInput, match="one of two classes was expected"):
        lk.look(three, "ill", positive="yes")
    with pytest.raises(InvalidInput, match="An order of classes and the positive class 'yes'"):
        lk.dataset(three, "ill", positive="yes", order=["no", "yes"])


def test_a_seal_and_a_run_keep_the_positive_class(tmp_path, likely):
    frame(("ja", "nein")).to_csv(tmp_path / "ill.csv", index=False)
    sealed = likely("seal", "ill.csv", "--target", "ill", "--positive", "ja")
    assert "target ill (positive: ja)" in " ".join(sealed.out.split())
    trained = likely("train", "ill.seal", "logistic")
    assert "average precision (ja)" in trained.out
    assert "F₁ (ja)" in likely("final", "@last").out
    (run,) = (tmp_path / "runs").iterdir()
    facts = json.loads((run / "run.json").read_text())
    assert facts["task"]["order"] == ["nein", "ja"]
    assert DataOptions.in_run(facts).words() == " --positive ja"
    both = likely("train", "ill.csv", "logistic", "--target", "ill", "--positive", "ja",
                  "--order", "nein,ja")  # fmt: skip
    assert both.exit == 1
    assert "Leave one of them out" in " ".join(both.err.split())


def test_a_threshold_is_of_the_positive_class():
    rows = frame(("ja", "nein"))
    trained = lk.train(rows, "ill", "logistic", positive="ja", run=None)
    p = trained.model.predict_proba(rows[["x"]])[:, trained.model.classes_.tolist().index("ja")]
    found = lk.predict(trained, rows[["x"]], threshold=0.3).to_frame()["prediction"]
    np.testing.assert_array_equal(found, np.where(p >= 0.3, "ja", "nein"))
    assert (found == "ja").sum() > (p > 0.5).sum()


@pytest.mark.parametrize("verb", [lk.dataset, lk.train], ids=["dataset", "train"])
@pytest.mark.parametrize(
    ("beside", "said"),
    [
        ({"order": ["nein", "ja"]}, "An order of classes and the positive class 'ja' were given"),
        ({"kind": "ordinal"}, "The positive class 'ja' and the kind 'ordinal' were given"),
        ({"kind": "count"}, "The positive class 'ja' and the kind 'count' were given"),
    ],
)
def test_python_refuses_a_positive_class_beside_an_order_or_another_kind(verb, beside, said):
    model = {"model": "naive-bayes"} if verb is lk.train else {}
    with pytest.raises(InvalidInput, match=said):
        verb(frame(("ja", "nein")), "ill", positive="ja", **model, **beside)


@pytest.mark.parametrize("kind", ["ordinal", "count"])
def test_the_command_line_refuses_a_positive_class_beside_another_kind(kind, tmp_path, likely):
    frame(("ja", "nein")).to_csv(tmp_path / "ill.csv", index=False)
    refused = likely("look", "ill.csv", "--target", "ill", "--positive", "ja", "--kind", kind)
    assert refused.exit == 1
    assert f"The positive class 'ja' and the kind '{kind}'" in " ".join(refused.err.split())
    assert "--order" not in refused.err


def test_the_help_of_train_names_every_option_that_switches_to_cross_validation(likely):
    told = " ".join(likely("train", "--help").out.split())
    sentence = told[told.index("A SEAL, DATA with") : told.index("are scored by cross-validation")]
    usual = lk.train(frame(("ja", "nein")), "ill", "naive-bayes")
    assert "cross-validation" not in str(usual)
    for name, value in {"kind": "binary", "order": ["nein", "ja"], "positive": "ja"}.items():
        trained = lk.train(frame(("ja", "nein")), "ill", "naive-bayes", **{name: value})
        assert "cross-validation" in str(trained)
        assert f"--{name}" in sentence
