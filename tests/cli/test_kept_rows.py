"""``train`` on a plain table keeps what its scored fit said of the rows that were held out."""

import json

import numpy as np
import pytest
from pyarrow.parquet import read_table

from likely.data.hashed_splits import split_mask
from likely.workbench.scoring.held_out import FRACTION
from tests.cli.conftest import patients


def kept(folder, run="001-logistic"):
    place = folder / "runs" / run
    facts = json.loads((place / "validation.json").read_text())
    return (
        read_table(place / "validation.parquet"),
        facts,
        json.loads((place / "run.json").read_text()),
    )


def test_the_rows_are_those_of_the_score_and_their_loss_is_the_score(likely, tmp_path, table):
    likely("train", table, "logistic", "--target", "ill")
    rows, facts, run = kept(tmp_path)
    assert rows["row"].to_pylist() == np.flatnonzero(split_mask(0, 200, 0, FRACTION)).tolist()
    log_p = np.stack([rows["log_p_0"].to_numpy(), rows["log_p_1"].to_numpy()], axis=1)
    loss = -log_p[np.arange(len(log_p)), rows["truth"].to_numpy()].mean()
    assert loss == pytest.approx(run["scores"]["value"])
    assert facts["score"] == run["scores"]
    assert facts["score"]["rows"] == rows.num_rows
    assert facts["score"]["metric"] == "log-loss"
    assert run["task"]["kind"] == facts["kind"] == "binary"


def test_the_report_has_what_rests_on_them(likely, tmp_path, table):
    likely("train", table, "logistic", "--target", "ill")
    said = likely("report", "@last", "--json").json["result"]["sections"]["001-logistic"]
    assert {"checks", "calibration", "ranking", "mistakes"} <= set(said)
    page = (tmp_path / "report.html").read_text()
    assert "rows not used for the scored fit. Baseline (constant)" in page
    assert "Rows with the largest held-out loss" in page


def test_weights_count_and_rows_of_weight_0_are_left_out(likely, tmp_path):
    lines = patients().splitlines()
    weighted = [f"{line},{i % 3}" for i, line in enumerate(lines[1:])]
    (tmp_path / "w.csv").write_text("\n".join([f"{lines[0]},weight", *weighted]) + "\n")
    likely("train", "w.csv", "logistic", "--target", "ill", "--weight", "weight")
    rows, _, run = kept(tmp_path)
    assert (np.array(rows["row"].to_pylist()) % 3 == rows["weight"].to_numpy()).all()
    assert rows["weight"].to_numpy().min() == 1
    log_p = np.stack([rows["log_p_0"].to_numpy(), rows["log_p_1"].to_numpy()], axis=1)
    loss = -log_p[np.arange(len(log_p)), rows["truth"].to_numpy()]
    assert run["scores"]["value"] == pytest.approx(
        np.average(loss, weights=rows["weight"].to_numpy())
    )
    assert likely("report", "@last").exit == 0


@pytest.mark.diagonal(2)
@pytest.mark.parametrize(
    ("words", "kind"),
    [
        (("glm", "--target", "visits", "--set", "response=poisson"), "count"),
        (("glm", "--target", "visits", "--exposure", "age", "--set", "response=poisson"), "count"),
        (("glm", "--target", "age", "--set", "response=inverse_gaussian"), "positive"),
        (("linear", "--target", "age"), "real"),
        (("ordinal", "--target", "visits"), "ordinal"),
        (("naive-bayes", "--target", "city"), "binary"),
    ],
)
@pytest.mark.long
def test_each_kind_of_target_is_kept_and_reported(likely, tmp_path, table, words, kind):
    assert likely("train", table, *words).exit == 0
    _, facts, run = kept(tmp_path, f"001-{words[0]}")
    assert facts["kind"] == kind
    assert facts["score"] == run["scores"]
    assert likely("report", "@last").exit == 0


def test_a_number_that_is_told_apart_as_classes_is_one(likely, tmp_path):
    rows = "".join(f"{i % 7 + i / 1000},{i % 30}\n" for i in range(600))
    (tmp_path / "codes.csv").write_text("x,code\n" + rows)
    assert likely("train", "codes.csv", "naive-bayes", "--target", "code").exit == 0
    assert kept(tmp_path, "001-naive-bayes")[1]["kind"] == "classes"


def test_too_few_rows_keep_none(likely, tmp_path):
    (tmp_path / "few.csv").write_text("x,y\n" + "".join(f"{i},{'ab'[i % 2]}\n" for i in range(10)))
    assert likely("train", "few.csv", "naive-bayes", "--target", "y").exit == 0
    assert not (tmp_path / "runs/001-naive-bayes/validation.json").exists()
    assert likely("report", "@last").exit == 0


def test_a_count_is_held_to_the_same_constant_by_train_and_by_the_report(likely, tmp_path):
    """Of overdispersed counts: not the Gaussian, which any model of counts would beat."""
    rng = np.random.default_rng(4)
    counts = rng.negative_binomial(1.0, 0.1, 300)
    rows = "".join(f"{x:.3f},{k}\n" for x, k in zip(rng.normal(size=300), counts, strict=True))
    (tmp_path / "wide.csv").write_text("x,visits\n" + rows)
    words = ("train", "wide.csv", "linear", "--target", "visits", "--kind", "count")
    said = likely(*words, "--json").json
    scores = said["result"]["scores"]
    facts = kept(tmp_path, "001-linear")[1]
    assert facts["score"] == scores
    assert scores["baseline"] > scores["value"], "the data are noise about a constant"
    assert likely("report", "@last").exit == 0
    page = (tmp_path / "report.html").read_text()
    assert "clearly worse than the baseline" in page or "not clearly better than the" in page


@pytest.mark.long
def test_counts_from_0_to_4_that_nothing_tells_are_not_called_better(likely, tmp_path):
    rng = np.random.default_rng(2)
    counts = rng.poisson(1.2, 400).clip(0, 4)
    rows = "".join(f"{x:.3f},{k}\n" for x, k in zip(rng.normal(size=400), counts, strict=True))
    (tmp_path / "few.csv").write_text("x,visits\n" + rows)
    for model in (("glm", "--set", "response=poisson"), ("glm-poisson",), ("linear",)):
        assert likely("train", "few.csv", *model, "--target", "visits").exit == 0
        assert likely("report", "@last").exit == 0
        page = (tmp_path / "report.html").read_text()
        assert "The model is not clearly better than the baseline" in page, model
        assert "is clearly better than" not in page, model
