"""``likely train``: runs, scores, parameters."""

import json
from pathlib import Path

import numpy as np
import pytest

import likely as lk
from likely.cli.models import model_named
from likely.workbench.data import dataset
from likely.workbench.models.registry import trainable


def suited(model):
    """Data for a model, a column of them, and their rows."""
    if model.supervised and not model.has_classes:
        return "diabetes", "bmi", 442
    if model.suits == {"binary"}:
        return "breast-cancer", "mean_radius", 569
    return "iris", "petal_length", 150


SLOW = {"logistic-lasso", "softmax-lasso", "neural-network"}  # many fits in each fold


@pytest.mark.parametrize(
    "model",
    [
        pytest.param(entry.name, marks=[pytest.mark.slow] if entry.name in SLOW else [])
        for entry in trainable()
    ],
)
def test_every_model_trains_explains_and_predicts(likely, model):
    data, column, n = suited(model_named(model))
    trained = likely("train", data, model)
    assert trained.exit == 0
    assert "Next: likely explain @last" in trained.out
    explained = likely("explain", "@last")
    assert explained.exit == 0
    assert column in explained.out
    predicted = likely("predict", "@last", data)
    assert predicted.exit == 0
    assert len(predicted.out.splitlines()) == n + 1


def test_a_run_holds_the_model_and_the_facts(likely, table):
    outcome = likely("train", table, "naive-bayes", "--target", "ill", "--seed", "3")
    assert outcome.exit == 0
    assert outcome.out.rstrip().endswith("Next: likely explain @last")
    assert "Seed 3" in outcome.out
    facts = json.loads((table.parent / "runs/001-naive-bayes/run.json").read_text())
    assert facts["seed"] == 3
    assert facts["target"] == "ill"
    assert facts["columns"] == ["age", "city", "smoker", "visits"]
    assert len(facts["data"]["sha256"]) == 64
    assert facts["data"]["rows"] == 200
    assert facts["versions"]["likely"] == lk.__version__
    assert facts["command"].startswith("likely train")


def test_the_saved_model_is_fitted_on_all_rows(likely, table):
    import pyarrow.csv

    likely("train", table, "naive-bayes", "--target", "ill")
    saved = lk.load(table.parent / "runs/001-naive-bayes/model.likely")
    rows = pyarrow.csv.read_csv(table)
    whole = lk.NaiveBayes(calibrate="temperature").fit(
        rows.drop_columns(["ill"]), rows.column("ill")
    )
    features = rows.drop_columns(["ill"])
    np.testing.assert_allclose(saved.predict_proba(features), whole.predict_proba(features))


def test_the_held_out_score_is_that_of_a_fit_on_the_other_rows(likely, table):
    """The reported log loss and best constant, computed again by hand."""
    import pyarrow as pa
    import pyarrow.csv

    from likely.data.hashed_splits import split_mask

    scores = likely("train", table, "naive-bayes", "--target", "ill", "--json").json["result"][
        "scores"
    ]
    rows = pyarrow.csv.read_csv(table)
    held = split_mask(0, rows.num_rows, 0, 0.2)
    seen, asked = rows.filter(pa.array(~held)), rows.filter(pa.array(held))
    model = lk.NaiveBayes(calibrate="temperature").fit(
        seen.drop_columns(["ill"]), seen.column("ill")
    )
    code = np.array([model.classes_.tolist().index(y) for y in asked.column("ill").to_pylist()])
    log_proba = model.predict_log_proba(asked.drop_columns(["ill"]))
    share = np.log(model.class_count_ / model.class_count_.sum())
    assert scores["rows"] == held.sum() == len(code)
    assert scores["value"] == pytest.approx(-log_proba[np.arange(len(code)), code].mean())
    assert scores["baseline"] == pytest.approx(-share[code].mean())
    assert scores["gain"] == pytest.approx(scores["baseline"] - scores["value"])
    low, high = scores["interval"]
    assert low < scores["value"] < high


def test_a_streamed_file_scores_and_fits_as_one_in_memory(likely, table, monkeypatch):
    words = ("train", table, "naive-bayes", "--target", "ill", "--json")
    in_memory = likely(*words).json["result"]
    monkeypatch.setattr(dataset, "IN_MEMORY_BYTES", 0)
    streamed = likely(*words).json["result"]
    for name in ("value", "interval", "baseline", "gain", "gain_interval", "rows"):
        assert streamed["scores"][name] == pytest.approx(in_memory["scores"][name])
    a = likely("predict", "runs/001-naive-bayes", table, "--proba").out.splitlines()
    b = likely("predict", "runs/002-naive-bayes", table, "--proba").out.splitlines()
    for line, other in zip(a[1:], b[1:], strict=True):
        values, others = line.split(","), other.split(",")
        assert values[0] == others[0]
        assert [float(v) for v in values[1:]] == pytest.approx([float(v) for v in others[1:]])


def test_set_reads_json_text_and_mappings(likely, table):
    words = ("--set", "smoothing=0.5", "--set", "event.visits=poisson", "--set", "prior=uniform")
    likely("train", table, "naive-bayes", "--target", "ill", *words)
    model = lk.load(table.parent / "runs/001-naive-bayes/model.likely")
    assert model.smoothing == 0.5
    assert model.event == {"visits": "poisson"}
    assert model.prior == "uniform"


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("word", ["nan", "NaN"])
def test_rows_without_a_label_are_learned_from(likely, table, monkeypatch, word, streamed):
    if streamed:
        monkeypatch.setattr(dataset, "IN_MEMORY_BYTES", 0)
    header, *rows = table.read_text().splitlines()
    gaps = [row.rpartition(",")[0] + "," if i % 3 == 0 else row for i, row in enumerate(rows)]
    table.write_text("\n".join([header, *gaps]) + "\n")
    words = ("train", table, "naive-bayes", "--target", "ill")
    without = likely(*words, "-o", "without")
    assert "67 rows without a target (ill) were left out" in " ".join(without.err.split())
    outcome = likely(*words, "--set", f"unlabelled={word}")
    assert outcome.exit == 0
    assert "had no label" in outcome.err  # held-out rows without one
    model = lk.load("runs/001-naive-bayes/model.likely")
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.class_count_.sum() == pytest.approx(200)  # the rows without a label count
    assert model.solution_.n_iter > 0  # EM ran
    facts = json.loads(Path("runs/001-naive-bayes/run.json").read_text())
    assert facts["parameters"]["unlabelled"] == "nan"


def test_the_seed_reaches_the_model_and_moves_the_split(likely):
    first = likely("train", "iris", "naive-bayes", "--json").json
    again = likely("train", "iris", "naive-bayes", "--json").json
    other = likely("train", "iris", "naive-bayes", "--json", "--seed", "1").json
    assert first["result"]["scores"] == again["result"]["scores"]
    assert first["result"]["scores"]["value"] != other["result"]["scores"]["value"]
    assert lk.load("runs/003-naive-bayes/model.likely").random_state == 1


def test_a_mixture_leaves_the_label_out_and_says_so(likely):
    outcome = likely("train", "iris", "mixture", "--set", "n_components=3", "--json").json
    assert "species" not in outcome["result"]["columns"]
    assert any("'species' was left out" in finding for finding in outcome["findings"])
    scores = outcome["result"]["scores"]
    assert scores["value"] > scores["baseline"]
    assert scores["baseline_model"] == "one component"


def test_too_few_rows_are_fitted_without_a_score(likely, tmp_path):
    (tmp_path / "small.csv").write_text("x,y\n1,a\n2,b\n3,a\n4,b\n")
    outcome = likely("train", "small.csv", "naive-bayes", "--target", "y", "--json").json
    assert outcome["exit"] == 0
    assert outcome["result"]["scores"] is None
    assert any("too few to hold some out" in finding for finding in outcome["findings"])


def test_a_model_no_better_than_the_constant_is_said_to_be_so(likely, tmp_path):
    rng = np.random.default_rng(0)
    lines = [f"{rng.normal():.3f},{rng.choice(['a', 'b'])}" for _ in range(200)]
    (tmp_path / "noise.csv").write_text("x,y\n" + "\n".join(lines) + "\n")
    outcome = likely("train", "noise.csv", "naive-bayes", "--target", "y")
    assert "not clearly better than the baseline" in outcome.err


def test_a_target_that_is_computed_from_two_columns_is_suspected(likely, tmp_path):
    rng = np.random.default_rng(0)
    read, maths, other = rng.normal(600, 30, size=(3, 120)).round(1)
    rows = zip(other, read, maths, (read + maths) / 2, strict=True)
    lines = [",".join(f"{cell:.2f}" for cell in row) for row in rows]
    (tmp_path / "schools.csv").write_text("other,read,maths,score\n" + "\n".join(lines) + "\n")
    outcome = likely("train", "schools.csv", "linear", "--target", "score", "--json").json
    (text,) = (each for each in outcome["findings"] if "almost perfect" in each)
    assert "the target may be computed from these columns" in text
    assert "have the largest effects" in text
    assert "'read'" in text and "'maths'" in text and "'other'" not in text


def test_runs_are_numbered_and_o_names_another_folder(likely):
    likely("train", "iris", "naive-bayes")
    likely("train", "iris", "discriminant")
    outcome = likely("train", "iris", "naive-bayes", "-o", "mine", "--json").json
    assert outcome["files"] == ["mine/model.likely", "mine/run.json"]
    assert outcome["next"] == "likely explain mine"
    assert lk.load("runs/002-discriminant/model.likely").covariance == "tied"
    assert "DiscriminantAnalysis" in likely("explain", "@last").out


def test_the_group_of_a_seal_is_no_feature(likely, tmp_path):
    rows = [f"p{i // 4},{i % 7},{'ab'[i % 2]}" for i in range(160)]
    (tmp_path / "people.csv").write_text("\n".join(["person,x,y", *rows]) + "\n")
    assert likely("seal", "people.csv", "--target", "y", "--group", "person").exit == 0
    outcome = likely("train", "people.seal", "logistic", "--json")
    assert outcome.json["result"]["columns"] == ["x"]
    assert likely("final", "@last").exit == 0


GRADES = ("bad", "fair", "good", "great")


def test_both_ways_of_holding_out_print_the_same_rank_error(likely, tmp_path):
    rng = np.random.default_rng(2)
    x = rng.normal(size=300)
    grade = np.digitize(x + rng.logistic(size=300), [-1.0, 0.0, 1.5])
    rows = [f"{a:.4f},{GRADES[k]}" for a, k in zip(x, grade, strict=True)]
    (tmp_path / "grades.csv").write_text("\n".join(["x,grade", *rows]) + "\n")
    words = ("train", "grades.csv", "ordinal", "--target", "grade")
    prepared = likely(*words, "--order", ",".join(GRADES))
    plain = likely(*words, "--set", f"order={json.dumps(GRADES)}")
    for said in (prepared, plain):
        assert said.exit == 0
        assert "mean rank error" in said.out
    run = json.loads(Path("runs/002-ordinal/run.json").read_text())
    assert [m["name"] for m in run["scores"]["measures"]].count("mean rank error") == 1
    assert (
        run["scores"] == json.loads(Path("runs/002-ordinal/validation.json").read_text())["score"]
    )


@pytest.mark.parametrize("words", [(), ("--kind", "real")], ids=["one part", "folds"])
def test_the_constant_of_the_absolute_error_is_said_to_be_the_median(likely, words):
    said = " ".join(likely("train", "diabetes", "linear", *words).out.split())
    assert "The baseline of the mean absolute error is the median" in said
    assert "median" not in likely("train", "iris", "softmax").out


@pytest.mark.parametrize(
    "words", [("--set", "l2=1"), ("--kind", "real")], ids=["one part", "folds"]
)
def test_no_median_is_promised_where_offsets_move_the_constant(likely, tmp_path, words):
    rng = np.random.default_rng(0)
    x, e = rng.normal(size=(2, 100))
    lines = [f"{a:.3f},{b:.3f},{a + b + rng.normal():.3f}" for a, b in zip(x, e, strict=True)]
    (tmp_path / "moved.csv").write_text("\n".join(["x,e,y", *lines]) + "\n")
    plain = likely("train", "moved.csv", "linear", "--target", "y", *words)
    assert "is the median" in " ".join(plain.out.split())
    moved = likely("train", "moved.csv", "linear", "--target", "y", "--offset", "e", *words)
    assert moved.exit == 0, moved.err
    assert "median" not in moved.out
    assert likely("report", "@last", "-o", "page.html").exit == 0
    assert "is the median" not in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize("model", ["logistic", "naive-bayes"])
def test_a_weight_that_does_not_count_rows_is_noted(likely, model):
    rng = np.random.default_rng(0)
    rows = [f"{x:.3f},{'yes' if x + rng.logistic() > 0 else 'no'},3" for x in rng.normal(size=80)]
    Path("w.csv").write_text("\n".join(["x,y,w", *rows]) + "\n")
    found = likely("train", "w.csv", model, "--target", "y", "--weight", "w", "--json").json
    notes = [note for note in found["findings"] if note.startswith("Weights count rows")]
    assert notes == [
        "Weights count rows: the total weight is 240 for 80 rows, and intervals are those of 240 "
        "rows. Divide the weights by their mean if they are sampling weights."
    ]


def test_the_device_of_a_network_is_a_setting(likely):
    fast = ("--set", "n_networks=1", "--set", "max_epochs=2", "--set", "hidden=[5]")
    assert likely("train", "iris", "neural-network", *fast, "--set", "device=cpu").exit == 0
    said = likely("train", "iris", "neural-network", *fast, "--set", "device=gpu")
    assert said.exit != 0
    assert "device='gpu' was given; expected 'cpu', 'cuda'" in said.err


def test_a_network_prints_its_learning_curve(likely):
    fast = ("--set", "n_networks=2", "--set", "max_epochs=4", "--set", "hidden=[5]")
    said = likely("train", "iris", "neural-network", *fast)
    assert said.exit == 0
    assert (
        "Learning curve of the first of 2 networks; the parameters are those of epoch" in said.out
    )
    assert "training loss" in said.out and "held-out loss" in said.out
    assert likely("explain", "@last").exit == 0
