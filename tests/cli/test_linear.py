"""The linear models on the command line: numbers, ordered classes, what comes with a row."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from scipy import optimize, stats

import likely as lk
from likely.data import arrow
from likely.data.hashed_splits import split_mask
from likely.workbench.data import dataset


def claims(n=240, seed=0):
    """A count with an exposure, an amount, an ordered rating and a category, as CSV text."""
    rng = np.random.default_rng(seed)
    age, years = rng.normal(45, 10, n), rng.uniform(0.2, 3.0, n)
    town = rng.choice(["Bonn", "Ulm", "Trier"], n)
    rate = np.exp(0.05 * (age - 45) + 0.8 * (town == "Ulm"))
    claims = rng.poisson(rate * years)
    amount = 20 + 2 * age + 15 * (town == "Ulm") + rng.normal(0, 8, n)
    latent = 0.15 * (age - 45) + rng.logistic(size=n)
    rating = np.array(["low", "mid", "high"])[np.digitize(latent, [-1, 1])]
    lines = ["age,town,years,firm,times,claims,amount,rating"]
    for i in range(n):
        lines.append(
            f"{age[i]:.3f},{town[i]},{years[i]:.4f},{i % 12},{1 + i % 3},{claims[i]},"
            f"{amount[i]:.3f},{rating[i]}"
        )
    return "\n".join(lines) + "\n"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "claims.csv"
    path.write_text(claims())
    return path


def parts(file, dropped):
    """The rows that are seen, the rows held out, and the names of the features."""
    import pyarrow as pa
    import pyarrow.csv

    rows = pyarrow.csv.read_csv(file)
    held = split_mask(0, rows.num_rows, 0, 0.2)
    features = [name for name in rows.column_names if name not in dropped]
    return rows.filter(pa.array(~held)), rows.filter(pa.array(held)), features


def measure(scores, name):
    (found,) = [entry for entry in scores["measures"] if entry["name"] == name]
    return found


def values(table, name):
    return table.column(name).to_numpy().astype(float)


def test_scores_of_a_number_are_those_of_a_fit_on_the_other_rows(likely, file):
    """R², errors and log-likelihood of the model and of the constant, computed again by hand."""
    words = ("train", file, "linear", "--target", "amount", "--json")
    scores = likely(*words).json["result"]["scores"]
    seen, asked, features = parts(file, ["amount"])
    model = lk.LinearRegression().fit(seen.select(features), seen.column("amount"))
    y, past = values(asked, "amount"), values(seen, "amount")
    error, plain = y - model.predict(asked.select(features)), y - past.mean()
    assert scores["rows"] == len(y)
    assert scores["name"] == "log-likelihood per row"
    ours = stats.norm.logpdf(error, 0, np.sqrt(model.dispersion_))
    theirs = stats.norm.logpdf(plain, 0, past.std(ddof=1))
    assert scores["value"] == pytest.approx(ours.mean())
    assert scores["baseline"] == pytest.approx(theirs.mean())
    assert scores["gain"] == pytest.approx((ours - theirs).mean())
    half = stats.t.ppf(0.975, len(y) - 1) * (ours - theirs).std(ddof=1) / np.sqrt(len(y))
    low, high = scores["gain_interval"]
    assert half <= scores["gain"] - low < 1.5 * half  # one more surprise may come, on either side
    assert half <= high - scores["gain"] < 1.5 * half
    explained = measure(scores, "R²")
    assert explained["value"] == pytest.approx(1 - (error**2).mean() / y.var())
    assert explained["baseline"] == pytest.approx(1 - (plain**2).mean() / y.var())
    absolute = measure(scores, "mean absolute error")
    assert absolute["value"] == pytest.approx(np.abs(error).mean())
    assert absolute["baseline"] == pytest.approx(np.abs(y - np.median(past)).mean())
    root = measure(scores, "root mean squared error")
    assert root["value"] == pytest.approx(np.sqrt((error**2).mean()))
    for entry in scores["measures"]:
        low, high = entry["interval"]
        assert low < entry["value"] < high


POISSON = ("glm", "--target", "claims", "--exposure", "years", "--set", "response=poisson")


def test_an_exposure_is_used_in_the_fit_the_score_and_the_prediction(likely, file):
    trained = likely("train", file, *POISSON, "--json").json["result"]
    assert trained["roles"] == {"exposure": "years"}
    assert "years" not in trained["columns"]
    seen, asked, features = parts(file, ["claims", "years"])
    model = lk.GLM("poisson").fit(
        seen.select(features), seen.column("claims"), exposure=seen.column("years")
    )
    mean = model.predict(asked.select(features), exposure=asked.column("years"))
    rate = values(seen, "claims").sum() / values(seen, "years").sum()
    y = values(asked, "claims")
    scores = trained["scores"]
    assert scores["value"] == pytest.approx(stats.poisson.logpmf(y, mean).mean())
    usual = rate * values(seen, "years")
    past, other = values(seen, "claims"), rate * values(asked, "years")

    def log_likelihood(size, counts, mean):
        return stats.nbinom.logpmf(counts, size, size / (size + mean)).mean()

    best = optimize.minimize_scalar(
        lambda log_size: -log_likelihood(np.exp(log_size), past, usual),
        bounds=(-10, 10),
        options={"xatol": 1e-10},
    )
    constant = log_likelihood(np.exp(best.x), y, other)  # α by maximum likelihood
    assert scores["baseline"] == pytest.approx(constant, rel=1e-6)
    assert measure(scores, "Poisson deviance explained")["value"] > 0.2
    saved = lk.load("runs/001-glm/model.likely")
    said = list(csv.DictReader(io.StringIO(likely("predict", "@last", file).out)))
    rows = list(csv.DictReader(io.StringIO(Path(file).read_text())))
    expected = saved.predict(
        _columns(rows, features), exposure=np.array([float(row["years"]) for row in rows])
    )
    assert [float(row["prediction"]) for row in said] == pytest.approx(expected.tolist())


def _columns(rows, features):
    import pyarrow as pa

    words = ("town", "rating")
    return pa.table(
        {
            name: [row[name] if name in words else float(row[name]) for row in rows]
            for name in features
        }
    )


def test_a_prediction_without_the_exposure_is_refused(likely, file, tmp_path):
    likely("train", file, *POISSON)
    (tmp_path / "new.csv").write_text("age,town,firm,times,amount,rating\n40,Ulm,1,1,90,low\n")
    outcome = likely("predict", "@last", "new.csv", "-o", "out.csv")
    assert outcome.exit == 2
    assert "no column 'years'" in " ".join(outcome.err.split())
    assert not (tmp_path / "out.csv").exists()


def test_weights_are_rows_so_many_times(likely, file, tmp_path):
    words = ("linear", "--target", "amount", "--weight", "times")
    likely("train", file, *words)
    header, *lines = Path(file).read_text().splitlines()
    place = header.split(",").index("times")
    repeated = [line for line in lines for _ in range(int(line.split(",")[place]))]
    (tmp_path / "long.csv").write_text("\n".join([header, *repeated]) + "\n")
    a = lk.load("runs/001-linear/model.likely")
    rows = parts(tmp_path / "long.csv", ["amount", "times"])
    whole = [*rows[0].to_pylist(), *rows[1].to_pylist()]
    import pyarrow as pa

    table = pa.Table.from_pylist(whole)
    b = lk.LinearRegression().fit(table.select(rows[2]), table.column("amount"))
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=1e-9, atol=1e-9)


def test_clustered_errors_need_groups_and_take_them(likely, file):
    words = ("train", file, "linear", "--target", "amount", "--set", "standard_errors=clustered")
    refused = likely(*words)
    assert refused.exit == 2
    assert "groups" in refused.err
    assert likely(*words, "--clusters", "firm").exit == 0
    assert "by cluster" in likely("explain", "@last").out


@pytest.mark.parametrize(
    "words",
    [
        ("linear", "--target", "amount", "--weight", "times"),
        POISSON,
        ("ordinal", "--target", "rating", "--set", 'order=["low","mid","high"]'),
        ("softmax", "--target", "rating", "--weight", "times", "--set", "tol=1e-14"),
    ],
    ids=lambda words: words[0],
)
def test_a_streamed_file_scores_and_fits_as_one_in_memory(likely, file, monkeypatch, words):
    here = likely("train", file, *words, "--json").json["result"]
    monkeypatch.setattr(dataset, "IN_MEMORY_BYTES", 0)
    monkeypatch.setattr("likely.workbench.scoring.held_out.CHUNK_ROWS", 11)
    there = likely("train", file, *words, "--json").json["result"]
    assert there["columns"] == here["columns"]
    assert len(here["scores"]["measures"]) >= 2
    pairs = list(zip(there["scores"]["measures"], here["scores"]["measures"], strict=True))
    assert sum(ours["metric"] == theirs["metric"] for ours, theirs in pairs) >= len(pairs) - 1
    for ours, theirs in pairs:
        if ours["metric"] == "auc-approximate":  # the exact one would keep every row
            assert ours["value"] == pytest.approx(theirs["value"], abs=0.01)
            continue
        assert ours["value"] == pytest.approx(theirs["value"], rel=1e-6)
        assert ours["interval"] == pytest.approx(theirs["interval"], rel=1e-6)
        assert ours["baseline"] == pytest.approx(theirs["baseline"], rel=1e-6)
    a = lk.load(f"runs/001-{words[0]}/model.likely")
    b = lk.load(f"runs/002-{words[0]}/model.likely")
    np.testing.assert_allclose(b.coef_, a.coef_, rtol=1e-6, atol=1e-8)


def test_ordered_classes_are_scored_by_rank(likely, file):
    words = ("train", file, "ordinal", "--target", "rating", "--json")
    alphabetical = likely(*words).json
    assert any("high < low < mid" in finding for finding in alphabetical["findings"])
    told = likely(*words, "--set", 'order=["low","mid","high"]').json
    assert told["result"]["classes"] == ["low", "mid", "high"]
    assert not any("alphabetical" in finding for finding in told["findings"])
    scores = told["result"]["scores"]
    seen, asked, features = parts(file, ["rating"])
    order = ["low", "mid", "high"]
    model = lk.OrdinalRegression(order=order).fit(seen.select(features), seen.column("rating"))
    truth = np.array([order.index(word) for word in asked.column("rating").to_pylist()])
    guess = np.array([order.index(word) for word in model.predict(asked.select(features))])
    below = np.cumsum(model.predict_proba(asked.select(features)), axis=1)
    median = (below < 0.5).sum(axis=1)
    assert measure(scores, "mean rank error")["value"] == pytest.approx(abs(truth - median).mean())
    assert measure(scores, "accuracy")["value"] == pytest.approx((truth == guess).mean())


def test_explain_is_the_summary_and_json_has_its_rows(likely, file):
    likely("train", file, "linear", "--target", "amount")
    model = lk.load("runs/001-linear/model.likely")
    said = likely("explain", "@last")
    assert " ".join(str(model.summary()).split()) in " ".join(said.out.split())
    assert "--proba" not in said.out
    result = likely("explain", "@last", "--json").json["result"]
    assert [row["term"] for row in result["terms"]] == [*model.terms_, "intercept"]
    assert [row["se"] for row in result["terms"]] == pytest.approx(
        model.inference_.standard_errors.tolist()
    )
    assert result["fit"]["aic"] == pytest.approx(model.inference_.aic)


def test_a_softmax_is_explained_class_by_class(likely, file):
    likely("train", file, "softmax", "--target", "rating")
    model = lk.load("runs/001-softmax/model.likely")
    result = likely("explain", "@last", "--json").json["result"]
    found = {row["term"]: row["coef"] for row in result["terms"]}
    assert list(model.classes_) == ["high", "low", "mid"]
    for k, label in enumerate(model.classes_):
        for j, term in enumerate(model.terms_):
            assert found.pop(f"{label}: {term}") == pytest.approx(model.coef_[k, j])
        assert found.pop(f"{label}: intercept") == pytest.approx(model.intercept_[k])
    assert not found
    assert "town[Ulm]" in likely("explain", "@last", "--top", "50").out
    assert "more terms" in likely("explain", "@last", "--top", "1").out


def test_many_classes_are_told_one_by_one(likely):
    settings = ("--set", "solver=lbfgs", "--set", "l2=1000", "--set", "tol=1e-4")
    settings += ("--set", "standard_errors=none")
    assert likely("train", "digits", "softmax", *settings).exit == 0
    said = likely("explain", "@last").out
    assert "64 coefficients for each of 10 classes" in said
    assert max(len(line) for line in said.splitlines()) <= 100


def test_coefficients_without_errors_are_explained(likely, file):
    words = ("train", file, "logistic", "--target", "warm", "--set", "standard_errors=null")
    header, *lines = Path(file).read_text().splitlines()
    warm = [f"{line},{'yes' if i % 3 else 'no'}" for i, line in enumerate(lines)]
    Path(file).write_text("\n".join([f"{header},warm", *warm]) + "\n")
    assert likely(*words).exit == 0
    assert "for yes against no" in likely("explain", "@last").out


def test_a_column_that_was_text_is_text_at_prediction(likely, tmp_path):
    rng = np.random.default_rng(0)
    rows = [f"{rng.choice(['1', '2', 'x'])},{rng.normal():.3f}" for _ in range(60)]
    (tmp_path / "codes.csv").write_text("code,y\n" + "\n".join(rows) + "\n")
    assert likely("train", "codes.csv", "linear", "--target", "y").exit == 0
    (tmp_path / "new.csv").write_text("code\n1\n2\n")
    outcome = likely("predict", "@last", "new.csv")
    assert outcome.exit == 0
    assert len(set(outcome.out.splitlines()[1:])) == 2  # two categories, two means


def test_the_run_remembers_what_came_beside_the_rows(likely, file):
    likely("train", file, *POISSON)
    facts = json.loads(Path("runs/001-glm/run.json").read_text())
    assert facts["roles"] == {"exposure": "years"}
    assert facts["classes"] is None


REFUSED = [
    ("train iris logistic", 2, "has 3 classes", "likely train iris softmax"),
    ("train iris linear", 2, "holds text", "likely train iris softmax"),
    ("train breast-cancer glm", 2, "holds text", "likely train breast-cancer logistic"),
    ("train diabetes ordinal", 2, "measurements", "likely train diabetes additive"),
    (
        "train claims.csv logistic --target amount --set l2=2",
        2,
        "Use additive or linear",
        "likely train claims.csv additive --target amount",
    ),
    ("train claims.csv softmax --target claims --offset years", 1, "does not take --offset", None),
    ("train claims.csv linear --target amount --exposure years", 1, "glm", None),
    (
        "train claims.csv linear --target amount --weight tims",
        2,
        "Did you mean 'times'",
        "likely train claims.csv linear --target amount --weight times",
    ),
    ("train claims.csv linear --target amount --weight amount", 2, "two roles", None),
    ("train claims.csv glm --target amount --set response=poison", 2, "'poisson'", None),
    ("train claims.csv glm --target amount --set link=logitt", 2, "'logit'", None),
    (
        "train gaps.csv linear --target y --clusters a",
        2,
        "Column 'b' has a missing cell in row 2 (",
        None,
    ),
]


@pytest.mark.parametrize(("words", "code", "says", "next"), REFUSED, ids=[w for w, *_ in REFUSED])
def test_what_does_not_suit_is_refused_with_what_does(
    likely, file, tmp_path, words, code, says, next
):
    rows = [f"{i},{'' if i == 2 else i * i},{'uv'[i % 2]},{i % 7}" for i in range(30)]
    (tmp_path / "gaps.csv").write_text("a,b,c,y\n" + "\n".join(rows) + "\n")
    outcome = likely(*words.split(), "--json").json
    assert outcome["exit"] == code
    assert says in outcome["findings"][0]
    assert outcome["next"].startswith("likely ")
    if next is not None:
        assert outcome["next"].removesuffix(" --json") == next
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(("model", "target"), [("linear", "y"), ("softmax", "c")])
def test_missing_cells_are_filled_inside_the_fit(likely, tmp_path, model, target):
    rows = [f"{i},{'' if i == 2 else i * i},{'uv'[i % 2]},{i % 7}" for i in range(30)]
    (tmp_path / "gaps.csv").write_text("a,b,c,y\n" + "\n".join(rows) + "\n")
    assert likely("train", "gaps.csv", model, "--target", target).exit == 0
    assert "filled with the median" in likely("explain", "@last").out
    predicted = likely("predict", "@last", "gaps.csv")
    assert len(predicted.out.splitlines()) == 31


def test_a_gap_at_prediction_names_its_row_of_the_table(likely, tmp_path, monkeypatch):
    rows = [f"{i},{i * i % 11},{i % 7}" for i in range(40)]
    (tmp_path / "whole.csv").write_text("a,b,y\n" + "\n".join(rows) + "\n")
    likely("train", "whole.csv", "linear", "--target", "y")
    gaps = [f"{i},{'' if i == 32 else 1}" for i in range(40)]
    (tmp_path / "new.csv").write_text("a,b\n" + "\n".join(gaps) + "\n")
    monkeypatch.setattr(arrow, "CHUNK_ROWS", 7)
    outcome = likely("predict", "@last", "new.csv", "-o", "out.csv")
    assert outcome.exit == 2
    assert "Column 'b' has a missing cell in row 32 (counted from 0)" in " ".join(
        outcome.err.split()
    )
    assert not (tmp_path / "out.csv").exists()


def test_probabilities_of_a_number_are_refused(likely):
    likely("train", "diabetes", "linear")
    outcome = likely("predict", "@last", "diabetes", "--proba")
    assert outcome.exit == 2
    assert "Next: likely predict @last diabetes" in outcome.err


def test_a_setting_may_be_written_with_hyphens(likely, tmp_path):
    for models in (["logistic"], ["logistic", "naive-bayes"]):
        words = ("compare", "breast_cancer", *models, "--folds", "2", "--repeats", "1")
        outcome = likely(*words, "--set", "standard-errors=none")
        assert outcome.exit == 0, outcome.err
    outcome = likely("train", "breast_cancer", "logistic", "--set", "standard-errors=none")
    assert outcome.exit == 0, outcome.err
    facts = json.loads((tmp_path / "runs" / "001-logistic" / "run.json").read_text())
    assert facts["parameters"]["standard_errors"] is None


def test_the_reference_category_is_a_setting(likely):
    rng = np.random.default_rng(0)
    colour = rng.choice(["blue", "green", "red"], 90)
    y = rng.normal(size=90) + (colour == "red")
    lines = [f"{a},{b}" for a, b in zip(colour, y, strict=True)]
    Path("colours.csv").write_text("\n".join(["colour,y", *lines]))
    likely("train", "colours.csv", "linear", "--target", "y", "--set", "reference.colour=red")
    said = likely("explain", "@last").out
    assert "colour[blue]" in said
    assert "colour[red]" not in said
    assert "colour = red" in said


def test_alpha_of_a_negative_binomial_is_a_setting(likely):
    rng = np.random.default_rng(0)
    x = rng.normal(size=120)
    y = rng.negative_binomial(2, 2 / (2 + np.exp(1 + 0.5 * x)))
    lines = [f"{a},{b}" for a, b in zip(x, y, strict=True)]
    Path("counts.csv").write_text("\n".join(["x,y", *lines]))
    likely("train", "counts.csv", "glm-negative-binomial", "--target", "y", "--set", "alpha=0.4")
    result = likely("explain", "@last", "--json").json["result"]
    assert "alpha" not in result["fit"]  # given, not estimated
    model = lk.load("runs/001-glm-negative-binomial/model.likely")
    assert model.model_.likelihood_.response.alpha == 0.4
    likely("train", "counts.csv", "glm-negative-binomial", "--target", "y")
    assert likely("explain", "@last", "--json").json["result"]["fit"]["alpha"] > 0
    said = likely("train", "counts.csv", "glm-poisson", "--target", "y", "--set", "alpha=0.4")
    assert "glm-poisson has no setting 'alpha'" in " ".join(said.err.split())


def test_explained_rows_name_the_exposure_that_their_totals_leave_out(likely, file):
    assert likely("train", file, *POISSON).exit == 0
    shown = likely("explain", "@last", file, "--row", "1")
    years = file.read_text().splitlines()[2].split(",")[2]
    words = " ".join(shown.out.split())
    assert f"exposure {float(years):.4g}" in words
    assert "without the exposure of the row" in words
    (row,) = likely("explain", "@last", file, "--row", "1", "--json").json["result"]["rows"]
    assert row["offset"] == pytest.approx(np.log(float(years)))
    (group,) = row["groups"]
    total = group["base"] + sum(group["contributions"].values())
    assert np.exp(total + row["offset"]) == pytest.approx(row["prediction"])
