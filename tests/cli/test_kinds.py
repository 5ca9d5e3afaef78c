"""``--kind`` and ``--order``: what a target is taken for, and that every verb agrees about it."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import likely as lk
from likely.sealing.manifest import Manifest

N = 240
RNG = np.random.default_rng(0)
X = RNG.normal(size=N)
GRADES = np.clip(np.round(3 + X + 0.7 * RNG.normal(size=N)), 1, 5).astype(int)
VISITS = RNG.poisson(np.exp(0.8 + 0.5 * X))
SIZES = np.array(["small", "medium", "large"])[np.clip(np.round(1 + X), 0, 2).astype(int)]
DAYS = np.datetime64("2024-01-01") + RNG.integers(0, 99, N)
QUICK = ("--folds", "3", "--repeats", "1")


@pytest.fixture
def tables(tmp_path):
    """``rating.csv``, ``visits.csv`` and ``sizes.csv``, and the last with an order of its own."""
    z = RNG.normal(size=N)
    for name, values in (("rating", GRADES), ("visits", VISITS), ("sizes", SIZES)):
        lines = [f"{a:.4f},{b:.4f},{y}" for a, b, y in zip(X, z, values, strict=True)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["x,z,y", *lines]) + "\n")
    codes = pa.array(np.clip(np.round(1 + X), 0, 2).astype(np.int32))
    ordered = pa.DictionaryArray.from_arrays(codes, ["small", "medium", "large"], ordered=True)
    pq.write_table(pa.table({"x": X, "z": z, "y": ordered}), tmp_path / "sizes.parquet")
    return tmp_path


def result_of(outcome):
    assert outcome.exit == 0, outcome.err + outcome.out
    return outcome.json["result"]


def test_a_doubt_is_said_in_one_line_with_the_way_out(likely, tables):
    line = (
        "5 different whole numbers: taken as classes; use kind='count' (--kind count) if they are"
    )
    for words in (("look", "rating.csv"), ("compare", "rating.csv", "naive-bayes", *QUICK)):
        assert line in " ".join(likely(*words, "--target", "y").out.split())
    told = likely("train", "rating.csv", "naive-bayes", "--target", "y", "--json")
    assert any(line in finding for finding in told.json["findings"])
    for words in (("--kind", "ordinal"), ("--kind", "count")):
        assert "whole numbers" not in likely("look", "rating.csv", "--target", "y", *words).out


@pytest.mark.parametrize("verb", ["compare", "tune", "curve"])
def test_named_models_decide_the_kind_that_the_values_leave_open(likely, tables, verb):
    more = {"compare": QUICK, "tune": ("--trials", "1", "--folds", "3"), "curve": ("--folds", "3")}
    found = likely(verb, "visits.csv", "glm-poisson", "--target", "y", *more[verb], "--json")
    result = result_of(found)
    metric = result["metric"] if verb != "tune" else result["scores"]["metric"]
    assert metric == "log-likelihood"
    told = likely("compare", "visits.csv", "glm-poisson", "--target", "y", *QUICK).out
    assert "taken as counts, which glm-poisson is for" in told


def test_two_ordinal_models_make_the_target_ordinal_and_one_of_classes_does_not(likely, tables):
    words = ("compare", "rating.csv", "--target", "y", *QUICK, "--json")
    assert result_of(likely(*words, "ordinal", "frank-hall"))["kind"] == "ordinal"
    mixed = likely(*words, "softmax", "ordinal")
    assert mixed.exit == 2
    assert "'y' holds classes" in mixed.json["findings"][0]
    assert "kind='ordinal'" in mixed.json["findings"][0]
    assert result_of(likely(*words, "softmax", "ordinal", "--kind", "ordinal"))["best"] != ""


def test_python_takes_the_kind_from_models_too(tables):
    table = pa.table({"x": X, "y": VISITS})
    assert lk.compare(table, "y", "glm-poisson", folds=3, repeats=1).task.kind == "count"
    assert lk.compare(table, "y", lk.GLM("poisson"), folds=3, repeats=1).task.kind == "count"
    assert lk.learning_curve(table, "y", "glm-poisson", folds=3).rows.task.kind == "count"
    tuned = lk.tune(pa.table({"x": X, "y": SIZES}), "y", "ordinal", trials=1, folds=3)
    assert (
        "alphabetical order: large < medium < small; give the order"
        in tuned.question.objective.rows.settled.doubt
    )
    order = ["small", "medium", "large"]
    told = lk.tune(pa.table({"x": X, "y": SIZES}), "y", "ordinal", order=order, trials=1, folds=3)
    assert told.question.objective.rows.task.order == tuple(order)
    assert told.question.objective.rows.task.doubt == ""


def test_numbers_with_fractions_are_never_made_classes_for_a_model(likely, tables):
    (tables / "amounts.csv").write_text("x,y\n" + "\n".join(f"{i},{i + 0.25}" for i in range(60)))
    refused = likely("compare", "amounts.csv", "softmax", "--target", "y")
    assert refused.exit == 2
    assert "'y' holds amounts above 0" in refused.err


@pytest.mark.parametrize(
    ("data", "kind", "model", "metric", "score"),
    [
        ("rating.csv", "ordinal", "ordinal", "log-loss", "log-loss"),
        ("visits.csv", "count", "linear", "log-likelihood", "negative-log-likelihood"),
    ],
)
@pytest.mark.long
def test_a_sealed_kind_is_the_same_from_compare_to_the_report(
    likely, tables, data, kind, model, metric, score
):
    sealed = result_of(likely("seal", data, "--target", "y", "--kind", kind, "-o", "it", "--json"))
    assert sealed["kind"] == kind
    assert f'"kind":"{kind}"' in (tables / "it.seal" / "manifest.json").read_text()
    compared = result_of(likely("compare", "it.seal", model, *QUICK, "--json"))
    assert (compared["kind"], compared["metric"]) == (kind, metric)
    words = ("--trials", "2", "--folds", "3", "-o", "run", "--json")
    tuned = result_of(likely("tune", "it.seal", model, *words))
    assert (tuned["task"]["kind"], tuned["scores"]["metric"]) == (kind, metric)
    final = result_of(likely("final", "run", "--json"))
    assert final["metric"] == score
    shown = {line["metric"] for line in final["measures"]}
    assert metric in shown
    assert shown <= {line["metric"] for line in tuned["scores"]["measures"]}
    assert json.loads((tables / "run" / "look.json").read_text())["kind"] == kind
    assert likely("report", "run", "-o", "report.html").exit == 0
    said = {"ordinal": "ordered classes", "count": "count"}[kind]
    assert said in (tables / "report.html").read_text(encoding="utf-8")


def test_the_best_constant_of_sealed_counts_is_a_count_distribution(likely, tables):
    """Of a Gaussian the loss would be another number."""
    likely("seal", "visits.csv", "--target", "y", "--kind", "count")
    likely("train", "visits.seal", "glm", "--set", "response=poisson", "-o", "run")
    final = result_of(likely("final", "run", "--json"))
    sealed = lk.open_seal("visits.seal")
    train = np.asarray(sealed.train["y"], dtype=float)
    mean = train.mean()
    from scipy.optimize import minimize_scalar
    from scipy.stats import nbinom

    def law_of(log_size):
        return nbinom(np.exp(log_size), 1 / (1 + mean * np.exp(-log_size)))

    most = minimize_scalar(
        lambda log_size: -law_of(log_size).logpmf(train).sum(),
        bounds=(-10, 10),
        options={"xatol": 1e-10},
    )
    law = law_of(most.x)
    left = VISITS.tolist()
    for y in train.astype(int).tolist():
        left.remove(y)
    assert final["baseline"] == pytest.approx(-law.logpmf(left).mean(), rel=1e-7)


def test_a_fresh_fit_on_a_seal_of_counts_is_scored_as_counts(tables):
    table = pa.table({"x": X, "y": VISITS})
    losses = []
    for kind in ("count", "real"):
        sealed = lk.seal(table, "y", kind=kind, name=kind, folder=tables)
        score = sealed.final(lk.GLM("poisson"), again=None if kind == "count" else "another kind")
        losses.append(score.estimate.baseline)
    assert losses[0] != pytest.approx(losses[1])
    assert lk.open_seal(tables / "count.seal").manifest.kind == "count"


def test_a_seal_without_a_kind_reads_and_writes_as_before(tables):
    sealed = lk.seal(pa.table({"x": X, "y": SIZES}), "y", name="old", folder=tables)
    content = (sealed.path / "manifest.json").read_bytes()
    assert b'"kind"' not in content
    manifest = Manifest.read(sealed.path / "manifest.json")
    assert (manifest.kind, manifest.order) == (None, None)
    assert manifest.to_bytes() == content


def test_a_sealed_order_is_that_of_every_verb(likely, tables):
    order = ["small", "medium", "large"]
    told = likely("seal", "sizes.csv", "--target", "y", "--order", ",".join(order), "--json")
    assert result_of(told)["order"] == order
    assert (
        result_of(likely("compare", "sizes.seal", "ordinal", *QUICK, "--json"))["classes"] == order
    )
    trained = likely("train", "sizes.seal", "ordinal", "-o", "run", "--json")
    assert result_of(trained)["task"]["order"] == order
    assert not any("alphabetical" in finding for finding in trained.json["findings"])
    assert lk.load(tables / "run" / "model.likely").model_.classes_.tolist() == order
    measures = result_of(likely("final", "run", "--json"))["measures"]
    assert "ranked-probability" in {line["metric"] for line in measures}
    assert lk.compare("sizes.seal", models="ordinal", folds=3, repeats=1).task.order == tuple(order)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("sizes.csv", "--kind", "count"), "holds labels such as 'large'"),
        (("rating.csv", "--kind", "binary"), "holds 5 different values; two were expected"),
        (("visits.csv", "--kind", "positive"), "holds 0; numbers above 0"),
        (("sizes.csv", "--order", "small,large"), "lacks 'medium'"),
    ],
)
def test_a_kind_that_the_values_do_not_allow_is_refused_before_it_is_sealed(
    likely, tables, words, said
):
    refused = likely("seal", *words, "--target", "y")
    assert refused.exit == 2
    assert said in " ".join(refused.err.split())
    assert not list(tables.glob("*.seal"))


@pytest.mark.parametrize(
    "words",
    [
        ("compare", "rating.csv", "--metric", "acuracy"),
        ("curve", "rating.csv", "softmax", "--of", "l3"),
        ("compare", "rating.csv", "--kind", "grades"),
        ("compare", "rating.csv", "--kind", "count", "--order", "1,2,3,4,5"),
        ("train", "rating.csv", "ordinal", "--order", "1,2,3,4,5", "--set", "order=[1,2,3,4,5]"),
        ("compare", "rating.csv", "--order", "1"),
    ],
)
def test_what_no_metric_axis_or_kind_is_called_is_a_mistake_of_usage(likely, tables, words):
    assert likely(*words, "--target", "y").exit == 1


def test_an_order_of_numbers_is_of_numbers(likely, tables):
    words = ("compare", "rating.csv", "ordinal", "--target", "y", "--order", "5,4,3,2,1", "--json")
    assert result_of(likely(*words, *QUICK))["classes"] == [5, 4, 3, 2, 1]


def test_an_alphabetical_order_is_said_only_where_it_was_taken(likely, tables):
    def findings(*words):
        return " ".join(likely("train", *words, "--target", "y", "--json").json["findings"])

    assert "large < medium < small; give the order" in findings("sizes.csv", "ordinal")
    assert "alphabetical" not in findings("sizes.parquet", "ordinal")
    order = ("--order", "small,medium,large")
    assert "alphabetical" not in findings("sizes.csv", "ordinal", *order)
    assert "alphabetical" not in findings("rating.csv", "ordinal")


def test_the_next_command_keeps_what_was_said(likely, tables):
    words = ("--target", "y", "--kind", "count", "--json")
    assert likely("look", "visits.csv", *words).json["next"].endswith("--target y --kind count")
    compared = likely("compare", "visits.csv", "glm-poisson", *words, *QUICK).json["next"]
    assert compared == "likely tune visits.csv glm-poisson --target y --kind count"


def test_counts_have_no_tiny_classes_once_they_are_called_counts(likely, tables):
    words = ("look", "visits.csv", "--target", "y", "--json")
    before, after = result_of(likely(*words)), result_of(likely(*words, "--kind", "count"))
    codes = [[each["code"] for each in found["findings"]] for found in (before, after)]
    assert "LK303" in codes[0]
    assert "LK303" not in codes[1]
    assert (after["kind"], after["classes"]) == ("count", None)
    likely("seal", "visits.csv", "--target", "y", "--kind", "count")
    assert result_of(likely("look", "visits.seal", "--json"))["kind"] == "count"


def test_a_run_of_another_kind_than_its_seal_is_finished_as_that_kind(likely, tables):
    likely("seal", "rating.csv", "--target", "y")
    likely("train", "rating.seal", "naive-bayes", "--kind", "ordinal", "-o", "run")
    measures = result_of(likely("final", "run", "--json"))["measures"]
    assert "ranked-probability" in {line["metric"] for line in measures}


def test_a_model_that_is_not_for_the_kind_is_refused_with_those_that_are(likely, tables):
    refused = likely("train", "visits.csv", "softmax", "--target", "y", "--kind", "count")
    assert refused.exit == 2
    assert "Use one of additive, additive-gaussian, linear, glm" in " ".join(refused.err.split())


def test_dates_are_days_for_both_names_of_a_poisson_model(likely, tables):
    lines = [f"{a:.4f},{day},{y}" for a, day, y in zip(X, DAYS, VISITS, strict=True)]
    (tables / "dated.csv").write_text("\n".join(["x,day,y", *lines]) + "\n")
    poisson = ("glm", "--set", "response=poisson")
    scores = [
        result_of(likely("train", "dated.csv", *words, "--target", "y", "--json"))["scores"]
        for words in (poisson, ("glm-poisson", "--set", "l2=0"))  # whose ridge is 1
    ]
    assert scores[0]["how"] == scores[1]["how"] == "5-fold cross-validation"
    assert scores[0]["value"] == pytest.approx(scores[1]["value"], abs=1e-6)
    assert "LK106" not in lk.look(tables / "dated.csv", "y").codes


def test_another_file_is_scored_as_the_kind_that_was_learned(likely, tables):
    """The best constant of counts is no Gaussian, here as in the cross-validation."""
    words = ("train", "visits.csv", "linear", "--target", "y", "-T", "visits.csv", "--json")
    constants = [
        result_of(likely(*words, "--kind", kind))["unguarded"]["baseline"]
        for kind in ("count", "real")
    ]
    assert constants[0] > constants[1]


def test_a_file_that_is_streamed_takes_an_order_too(likely, tables, monkeypatch):
    monkeypatch.setattr("likely.workbench.data.dataset.IN_MEMORY_BYTES", 0)
    for data, order in (
        ("sizes.csv", ["small", "medium", "large"]),
        ("rating.csv", [5, 4, 3, 2, 1]),
    ):
        words = ("train", data, "ordinal", "--target", "y", "--json")
        told = likely(*words, "--order", ",".join(map(str, order)))
        assert result_of(told)["classes"] == order
        assert not any("alphabetical" in finding for finding in told.json["findings"])
    taken = likely("train", "sizes.csv", "ordinal", "--target", "y", "--json").json["findings"]
    assert any("large < medium < small; give the order" in finding for finding in taken)


def test_an_order_that_is_no_list_is_a_usage_error(likely):
    outcome = likely("train", "iris", "ordinal", "--set", "order=3")
    assert outcome.exit == 1
    assert "a list of the classes was expected" in " ".join(outcome.err.split())
