"""``likely final``: one honest number, and every way in which it could be dishonest."""

import json
import re
import shutil
from html import unescape

import numpy as np
import pytest

import likely as lk
from likely.numerics.intervals import Estimate
from likely.output.formatting import estimate_cells

SENTENCE = re.compile(
    r"Log loss \d\.\d+ \(95 % interval \d\.\d+ to \d\.\d+\) on 40 sealed rows; evaluation 1 of 1\. "
    r"Baseline \(constant\): \d\.\d+\. Cross-validation estimate: \d\.\d+\."
)


@pytest.fixture
def run(likely, table):
    """A model trained on the seal of the patients."""
    likely("seal", "patients.csv", "--target", "ill")
    outcome = likely("train", "patients.seal", "logistic")
    assert outcome.exit == 0, outcome.err
    assert outcome.out.rstrip().endswith("Next: likely final @last")
    return table.parent / "runs" / "001-logistic"


def measures_of(record):
    return {line["metric"]: Estimate.from_json(line) for line in record["measures"]}


def events(run):
    lines = (run.parent.parent / "patients.seal" / "ledger.jsonl").read_text().splitlines()
    return [json.loads(line)["event"] for line in lines]


def test_it_says_the_score_and_the_estimate(likely, run):
    outcome = likely("final", "@last")
    assert outcome.exit == 0
    assert SENTENCE.search(" ".join(outcome.out.split()))
    assert "accuracy" in outcome.out
    assert outcome.out.rstrip().endswith("Next: likely report @last")
    assert events(run) == ["sealed", "commit", "score"]


def test_json_and_the_run_have_the_same_score(likely, run):
    said = likely("final", "@last", "--json").json
    kept = json.loads((run / "final.json").read_text())
    estimated = json.loads((run / "run.json").read_text())["scores"]["value"]
    assert said["result"]["value"] == kept["value"]
    assert said["result"]["cv_estimate"] == pytest.approx(estimated)
    assert said["result"]["evaluation"] == 1
    assert said["files"] == ["runs/001-logistic/final.json"]
    verified = likely("ledger", "verify", "patients.seal", "--json").json
    assert kept["head"] == verified["result"]["head"]


def test_the_score_is_that_of_the_model_on_the_sealed_rows(likely, run):
    """Computed here by hand: the labels are known from the file."""
    import numpy as np
    import pyarrow.csv
    import pyarrow.parquet as pq

    told = likely("final", "@last", "--json").json["result"]
    features = pq.read_table(run.parent.parent / "patients.seal" / "test-features.parquet")
    everything = pyarrow.csv.read_csv(run.parent.parent / "patients.csv").to_pylist()
    keys = ("age", "city", "smoker", "visits")
    labels = {tuple(row[key] for key in keys): row["ill"] for row in everything}
    y = [labels[tuple(row[key] for key in keys)] for row in features.to_pylist()]
    model = lk.load(run / "model.likely")
    log_p = model.predict_log_proba(features)
    losses = [-log_p[i, model.classes_.tolist().index(label)] for i, label in enumerate(y)]
    assert told["value"] == pytest.approx(np.mean(losses))
    right = np.mean(model.predict(features) == np.array(y))
    assert measures_of(told)["accuracy"].value == pytest.approx(right)


def test_the_same_predictions_cost_one_look(likely, run):
    first = likely("final", "@last", "--json").json["result"]
    again = likely("final", "@last", "--json").json["result"]
    assert again["resumed"]
    assert again["value"] == first["value"]
    assert events(run).count("commit") == 1


def test_a_look_beyond_the_budget_exits_3_unless_there_is_a_reason(likely, run):
    likely("final", "@last")
    likely("train", "patients.seal", "naive-bayes")
    outcome = likely("final", "@last")
    assert outcome.exit == 3
    assert "allows 1 evaluation, and 1 was used" in " ".join(outcome.err.split())
    assert events(run)[-1] == "refused"
    outcome = likely("final", "@last", "--again", "the first model was the wrong one")
    assert outcome.exit == 0
    assert "evaluation 2, beyond the budget of 1" in " ".join(outcome.out.split())
    assert "97.5 % interval" in outcome.out
    assert events(run)[-3:] == ["again", "commit", "score"]


def test_a_run_that_saw_other_rows_exits_3(likely, run):
    facts = json.loads((run / "run.json").read_text())
    facts["data"]["sha256"] = "0" * 64
    (run / "run.json").write_text(json.dumps(facts))
    outcome = likely("final", "@last")
    assert outcome.exit == 3
    assert "not trained on the training part" in " ".join(outcome.err.split())
    assert events(run) == ["sealed", "refused"]


def test_a_run_without_a_seal_exits_3_and_names_the_verb(likely, tmp_path):
    likely("train", "iris", "naive-bayes")
    outcome = likely("final", "@last")
    assert outcome.exit == 3
    assert outcome.err.splitlines()[-1] == "Next: likely seal iris --target species"


def test_a_model_that_was_exchanged_exits_3(likely, run):
    likely("train", "patients.seal", "naive-bayes")
    shutil.copy(run.parent / "002-naive-bayes" / "model.likely", run / "model.likely")
    outcome = likely("final", run)
    assert outcome.exit == 3
    assert events(run) == ["sealed"]


def test_after_a_kill_the_commit_is_resumed(likely, run):
    """The process dies when the labels are about to be opened; the next call scores the commit."""
    from likely.sealing import evaluation as finalising

    class Killed(BaseException):
        pass

    def die(*_):
        raise Killed

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(finalising, "_judged", die)
        with pytest.raises(Killed):
            likely("final", "@last")
    assert events(run) == ["sealed", "commit"]
    outcome = likely("final", "@last")
    assert outcome.exit == 0
    assert "evaluation 1 of 1" in " ".join(outcome.out.split())
    assert events(run) == ["sealed", "commit", "score"]


def test_labels_in_escrow_are_asked_for(likely, table):
    likely("seal", "patients.csv", "--target", "ill", "--escrow", "labels.bin")
    assert not (table.parent / "patients.seal" / "test-labels.bin").exists()
    likely("train", "patients.seal", "logistic")
    outcome = likely("final", "@last")
    assert outcome.exit == 3
    assert "kept in a separate file" in " ".join(outcome.err.split())
    assert likely("final", "@last", "--escrow", "labels.bin").exit == 0


@pytest.mark.parametrize("judge", ["ladder", "thresholdout"])
@pytest.mark.parametrize(("data", "model"), [("wine", "discriminant"), ("diabetes", "linear")])
def test_under_other_judges_the_exact_score_is_nowhere(likely, tmp_path, judge, data, model):
    likely("seal", data, "--judge", judge, "--budget", "5")
    likely("train", f"{data}.seal", model)
    told = likely("final", "@last", "--json").json["result"]
    assert told["judge"] == judge
    assert told["measures"] == []
    assert told["gain"] is told["gain_interval"] is None


@pytest.mark.parametrize("model", ["linear", "glm-gamma", "lasso"])
def test_numbers_are_scored_by_their_density(likely, model):
    likely("seal", "diabetes")
    assert likely("train", "diabetes.seal", model).exit == 0
    told = likely("final", "@last", "--json").json["result"]
    assert told["metric"] == "negative-log-likelihood"
    assert told["interval"][1] < told["baseline"]
    assert abs(told["value"] - told["cv_estimate"]) < 0.3
    assert {"rmse", "r2"} <= set(measures_of(told))


def test_a_mixture_predicts_no_target(likely):
    likely("seal", "iris")
    likely("train", "iris.seal", "mixture")
    assert likely("final", "@last").exit == 2


def test_a_group_stays_on_one_side_of_the_promise_too(likely, tmp_path):
    """Five rows of each of 30 people, who differ: folds that part people promise too much."""
    import numpy as np

    rng = np.random.default_rng(0)
    lines = ["person,x,y"]
    for person in range(60):
        x, y = rng.normal(), "ab"[int(rng.random() < 0.5)]
        lines += [f"p{person},{x + 0.001 * rng.normal():.6f},{y}" for _ in range(5)]
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    likely("seal", "people.csv", "--target", "y", "--group", "person")
    assert likely("train", "people.seal", "discriminant").exit == 0
    import pyarrow.parquet as pq

    folds = pq.read_table(tmp_path / "runs/001-discriminant/validation.parquet")
    train = pq.read_table(tmp_path / "people.seal/train.parquet").column("person").to_pylist()
    place = {}
    for row, fold in zip(folds["row"].to_pylist(), folds["fold"].to_pylist(), strict=True):
        assert place.setdefault(train[row], fold) == fold


def test_the_best_constant_is_beside_every_metric(likely, run):
    outcome = likely("final", "@last")
    header = next(line for line in outcome.out.splitlines() if "sealed rows  " in line)
    assert header.rstrip().endswith("baseline")
    kept = measures_of(json.loads((run / "final.json").read_text()))
    line = next(line for line in outcome.out.splitlines() if line.strip().startswith("accuracy"))
    assert line.split()[1:] == " ".join(estimate_cells(*kept["accuracy"])).split()
    likely("report", "@last")
    page = (run.parent.parent / "report.html").read_text()
    assert page.count(">Baseline</th>") == 2, "of sealed rows, and of those held out"


def test_a_ladder_that_repeats_the_best_says_so(likely, table):
    likely("seal", "patients.csv", "--target", "ill", "--judge", "ladder", "--budget", "5")
    likely("train", "patients.seal", "logistic")
    first = likely("final", "@last", "--json").json["result"]
    assert first["of_this_model"]
    likely("train", "patients.seal", "logistic", "--set", "l2=1e6")
    said = likely("final", "@last", "--json").json
    assert said["result"]["value"] == first["value"]
    assert not said["result"]["of_this_model"]
    assert any("not of this one" in finding for finding in said["findings"])
    text = " ".join(likely("final", "@last").out.split())
    assert "Best score so far (an earlier model's): log loss" in text
    shown = likely("ledger", "show", "patients.seal").out
    assert "of an earlier model" in " ".join(shown.split())
    likely("report", "@last")
    page = (table.parent / "report.html").read_text()
    assert "(an earlier model's)" in unescape(page)
    assert "clearly better than the baseline" not in page


def test_a_look_is_not_spent_on_an_older_run_than_the_user_may_mean(likely, tmp_path):
    likely("seal", "iris")
    likely("train", "iris.seal", "discriminant")
    (tmp_path / "runs/002-softmax/study").mkdir(parents=True)  # a search that was stopped
    outcome = likely("final", "@last", "--json").json
    assert outcome["exit"] == 2
    assert "runs/002-softmax is newer than runs/001-discriminant" in outcome["findings"][0]
    assert outcome["next"] == "likely final runs/001-discriminant"
    found = likely(*outcome["next"].split()[1:])
    assert found.exit == 0
    assert "Model: discriminant from runs/001-discriminant." in found.out


def test_a_seal_whose_manifest_was_edited_fails_the_check(likely, tmp_path):
    likely("seal", "iris")
    likely("train", "iris.seal", "discriminant")
    manifest = tmp_path / "iris.seal/manifest.json"
    manifest.write_text(manifest.read_text().replace('"budget":1', '"budget":9'))
    outcome = likely("final", "@last")
    assert outcome.exit == 4
    assert "manifest was changed after" in " ".join(outcome.err.split())


@pytest.mark.long
def test_a_seal_with_weight_and_exposure_is_evaluated_from_seal_to_report(likely, tmp_path):
    rng = np.random.default_rng(0)
    x, years = rng.normal(size=200), rng.uniform(0.5, 3, 200)
    visits, times = rng.poisson(years * np.exp(0.3 + 0.6 * x)), rng.integers(1, 4, 200)
    rows = [f"{a:.4f},{e:.4f},{w},{n}" for a, e, w, n in zip(x, years, times, visits, strict=True)]
    (tmp_path / "visits.csv").write_text("\n".join(["x,years,times,visits", *rows]) + "\n")
    roles = ("--weight", "times", "--exposure", "years", "--budget", "3")
    sealed = likely("seal", "visits.csv", "--target", "visits", *roles)
    assert "target visits (count), weight times, exposure years" in " ".join(sealed.out.split())
    compared = likely("compare", "visits.seal", "--folds", "3", "--json").json["result"]
    assert compared["best"] != "baseline"
    trained = likely("train", "visits.seal", "glm-poisson", "--json").json
    assert trained["next"] == "likely final @last"
    outcome = likely("final", "@last", "--json")
    assert outcome.exit == 0, outcome.err
    found = outcome.json["result"]
    assert found["value"] < found["baseline"]
    assert found["cv_estimate"] == pytest.approx(-trained["result"]["scores"]["value"])
    same = lk.open_seal(tmp_path / "visits.seal").final("glm-poisson")
    assert (same.value, same.evaluation) == (found["value"], 1)
    tuned = likely("tune", "visits.seal", "glm-poisson", "--trials", "1", "--folds", "3")
    assert tuned.exit == 0
    shown = likely("final", "@last")
    assert shown.exit == 0
    assert shown.out.lower().count("log-likelihood per row") == 1, "in the heading alone"
    assert likely("report", "@last").exit == 0


def test_an_exposure_that_the_seal_does_not_have_is_named(likely, tmp_path):
    rows = [f"{i % 7},{1 + i % 3},{i % 5}" for i in range(120)]
    (tmp_path / "visits.csv").write_text("\n".join(["x,years,visits", *rows]) + "\n")
    likely("seal", "visits.csv", "--target", "visits", "--kind", "count")
    assert likely("train", "visits.seal", "glm-poisson", "--exposure", "years").exit == 0
    outcome = likely("final", "@last")
    assert outcome.exit == 2
    assert "needs the column 'years' as well" in " ".join(outcome.err.split())


def test_metrics_of_one_class_name_it_in_train_tune_and_final(likely, tmp_path):
    rows = [f"{(k * 37) % 100},{'ja' if (k * 37) % 100 > 60 else 'nein'}" for k in range(200)]
    (tmp_path / "late.csv").write_text("\n".join(["x,late", *rows]) + "\n")
    assert likely("seal", "late.csv", "--target", "late").exit == 0
    trained = likely("train", "late.seal", "logistic").out
    tuned = likely("tune", "late.seal", "logistic", "--trials", "2").out
    assert "average precision (nein) " in trained and "average precision (nein) " in tuned
    assert "F₁ (nein) " in likely("final", "@last").out
