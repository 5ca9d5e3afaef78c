"""One score: the same rows, folds and seed give the same numbers whichever verb is asked."""

import json
import re

import numpy as np
import pytest

import likely as lk
from likely.output.formatting import estimate_cells
from likely.reports.sections.verdict import score_of_run
from likely.runs import read_run
from likely.sealing.folder import opened, read_parquet
from tests.cli.conftest import patients

FOLDS = ("--folds", "4", "--seed", "3")


def shops(path, n=240):
    """Groups, times and gaps, so that every way of splitting can be asked for."""
    rng = np.random.default_rng(0)
    x, shop = rng.normal(size=n), np.arange(n) // 10
    y = x + 0.8 * rng.normal(size=24)[shop] + rng.logistic(size=n) > 0
    amount = np.exp(0.3 * x + 0.5 * rng.normal(size=n)) + 1
    cells = ["" if i % 9 == 0 else f"{x[i]:.4f}" for i in range(n)]
    rows = [
        f"{cells[i]},s{shop[i]},{i},{'yes' if y[i] else 'no'},{amount[i]:.4f}" for i in range(n)
    ]
    (path / "shops.csv").write_text("\n".join(["x,shop,day,y,amount", *rows]) + "\n")


def numbers_of(score):
    return score["value"], *score["interval"], score["baseline"]


def of_train(likely, words):
    scores = likely("train", *words, "-x", "4", "--seed", "3", "--json").json["result"]["scores"]
    return numbers_of(scores)


def of_compare(likely, words):
    data, model, *more = words
    found = likely("compare", data, model, "--repeats", "1", *FOLDS, *more, "--json").json["result"]
    own, constant = (
        next(each for each in found["models"] if each["model"] == name)
        for name in (model, "constant")
    )
    assert own["baseline"] == pytest.approx(constant["value"], rel=1e-12)
    return own["value"], *own["interval"], constant["value"]


def of_tune(likely, words):
    """Of the model as it is, which is the first trial, and of the model that was fitted."""
    data, model, *more = words
    found = likely(
        "tune",
        data,
        model,
        "--search",
        "random",
        "--trials",
        "1",
        "--repeats",
        "1",
        *FOLDS,
        *more,
        "--json",
    )
    study, scores = found.json["result"]["study"], found.json["result"]["scores"]
    first = study["trials"][0]
    told = first["value"], *first["interval"], study["baseline"]
    assert told == pytest.approx(numbers_of(scores), rel=1e-9)
    return told


@pytest.mark.diagonal(3)
@pytest.mark.parametrize(
    ("target", "model"), [("y", "logistic"), ("y", "naive-bayes"), ("amount", "glm-gamma")]
)
@pytest.mark.parametrize("split", [(), ("--group", "shop"), ("--by-time", "day")], ids=str)
def test_train_compare_and_tune_give_one_score(likely, tmp_path, target, model, split):
    shops(tmp_path)
    likely("seal", "shops.csv", "--target", target, *split)
    words = ("shops.seal", model)
    trained = of_train(likely, words)
    assert of_compare(likely, words) == pytest.approx(trained, rel=1e-9)
    assert of_tune(likely, words) == pytest.approx(trained, rel=1e-9)


def insured(path, n=240):
    """Claims with an exposure and weights, some of them 0."""
    rng = np.random.default_rng(1)
    x, years, times = rng.normal(size=n), rng.uniform(0.5, 3, n), rng.integers(0, 4, n)
    claims, ill = rng.poisson(years * np.exp(0.4 * x)), rng.random(n) < 1 / (1 + np.exp(-x))
    rows = [
        f"{x[i]:.4f},{i % 20},{years[i]:.4f},{times[i]},{claims[i]},{'yes' if ill[i] else 'no'}"
        for i in range(n)
    ]
    (path / "claims.csv").write_text("\n".join(["x,shop,years,times,claims,ill", *rows]) + "\n")


@pytest.mark.diagonal(3)
@pytest.mark.parametrize(
    ("target", "model", "roles"),
    [
        ("ill", "logistic", ("--weight", "times")),
        ("ill", "naive-bayes", ("--weight", "times")),
        ("claims", "glm-poisson", ("--exposure", "years")),
        ("claims", "glm-poisson", ("--exposure", "years", "--weight", "times")),
    ],
)
@pytest.mark.parametrize("seal", [(), ("seal",), ("seal", "--group", "shop")], ids=str)
def test_weights_and_exposures_are_those_of_every_verb(
    likely, tmp_path, target, model, roles, seal
):
    insured(tmp_path)
    words = ("claims.csv", model, "--target", target, *roles)
    if seal:
        told = likely(*seal, "claims.csv", "--target", target, *roles, "--json").json["result"]
        assert told["roles"] == dict(zip((r[2:] for r in roles[::2]), roles[1::2], strict=True))
        words = ("claims.seal", model)
    trained = of_train(likely, words)
    assert of_compare(likely, words) == pytest.approx(trained, rel=1e-9)
    assert of_tune(likely, words) == pytest.approx(trained, rel=1e-9)
    curve = likely("curve", *words, "--values", "1.0", *FOLDS, "--json").json["result"]
    assert numbers_of(curve["points"][0]["validation"]) == pytest.approx(trained, rel=1e-9)
    of_run = likely("curve", "@last", "--values", "1.0", *FOLDS, "--json").json["result"]
    assert numbers_of(of_run["points"][0]["validation"]) == pytest.approx(trained, rel=1e-9)


def test_a_model_of_a_seal_with_exposures_predicts_with_them_and_so_does_final(likely, tmp_path):
    insured(tmp_path)
    likely("seal", "claims.csv", "--target", "claims", "--exposure", "years", "--drop", "ill")
    likely("train", "claims.seal", "glm-poisson", "-o", "run")
    rows = (tmp_path / "claims.csv").read_text().splitlines()
    cells = [line.split(",") for line in rows[1:]]
    doubled = [",".join([*c[:2], f"{2 * float(c[2]):.4f}", *c[3:]]) for c in cells]
    (tmp_path / "twice.csv").write_text("\n".join([rows[0], *doubled]) + "\n")
    once, twice = (
        [float(line.split(",")[0]) for line in likely("predict", "run", name).out.split("\n")[1:-1]]
        for name in ("claims.csv", "twice.csv")
    )
    assert twice == pytest.approx([2 * mean for mean in once], rel=1e-9)
    assert likely("report", "run").exit == 0
    found = likely("final", "run", "--json").json["result"]
    sealed = read_parquet(tmp_path / "claims.seal" / "test-features.parquet")
    given = lk.load(tmp_path / "run").predict(
        sealed.drop_columns(["years"]), exposure=sealed["years"]
    )
    labels = (tmp_path / "claims.seal" / "test-labels.bin").read_bytes()
    squares = np.square(given - opened(labels, "").to_numpy())
    rmse = next(line for line in found["measures"] if line["metric"] == "rmse")
    assert rmse["value"] == pytest.approx(np.sqrt(squares.mean()))


@pytest.mark.diagonal(2)
@pytest.mark.parametrize(
    "words",
    [
        ("logistic", "--target", "ill"),
        ("logistic", "--target", "ill", "-x", "4"),
        ("glm", "--target", "visits", "--exposure", "age", "--set", "response=poisson"),
        ("linear", "--target", "age"),
        ("mixture",),
    ],
    ids=" ".join,
)
@pytest.mark.long
def test_the_terminal_the_run_and_the_report_give_one_score(likely, tmp_path, words):
    (tmp_path / "patients.csv").write_text(patients())
    said = likely("train", "patients.csv", *words, "-o", "run").out
    scores = json.loads((tmp_path / "run/run.json").read_text())["scores"]
    cells = estimate_cells(scores["value"], *scores["interval"], scores["baseline"])
    assert re.search(" +".join(map(re.escape, [scores["name"], *cells])), said)
    kept = tmp_path / "run/validation.json"
    if words[0] != "mixture":
        assert json.loads(kept.read_text())["score"] == scores
    facts = read_run(tmp_path / "run")
    assert score_of_run(facts).to_json() == scores
    assert likely("report", "run").exit == 0
    page = (tmp_path / "report.html").read_text()
    first = scores["name"][0].upper() + scores["name"][1:]
    assert f"{first} " in page
    assert all(cell in page for cell in cells)


def test_a_function_is_a_metric_of_compare_tune_and_curve(likely, tmp_path):
    shops(tmp_path)
    (tmp_path / "own_scores.py").write_text(
        "import numpy as np\n\n\ndef share_right(y, said):\n    return np.mean(y == said)\n"
    )
    words = ("--target", "y", "--folds", "3", "--metric", "own_scores.share_right", "--json")
    found = likely("compare", "shops.csv", "naive-bayes", "--repeats", "1", *words).json["result"]
    own = next(each for each in found["models"] if each["model"] == "naive-bayes")
    assert found["metric"] == "own_scores.share_right"
    assert own["value"] == pytest.approx(own["others"]["accuracy"])
    assert own["interval"][0] < own["value"] < own["interval"][1]
    tuned = likely(
        "tune", "shops.csv", "naive-bayes", "--trials", "1", "--repeats", "1", *words
    ).json["result"]
    assert tuned["study"]["trials"][0]["value"] == pytest.approx(own["value"])
    drawn = likely("curve", "shops.csv", "naive-bayes", "--values", "1.0", *words).json["result"]
    assert numbers_of(drawn["points"][0]["validation"]) == pytest.approx(numbers_of(own))
    refused = likely("compare", "shops.csv", "--target", "y", "--metric", "own_scores.nothing")
    assert refused.exit == 1 or refused.exit == 2
    assert "cannot be imported" in refused.err
