"""Rows of one patient are not independent, and a gain is measured row by row: in every verb."""

import json

import numpy as np
import pytest

from likely.metrics import Score
from likely.output.formatting import estimate_cells
from likely.reports.sections.verdict import held_out_verdict, verdict_of
from likely.runs import RunFacts, read_run


def patients(folder, n_patients=60, size=20, seed=0):
    """x says little of a row and much of its patient, of whom each has a y of their own."""
    rng = np.random.default_rng(seed)
    lines = ["patient,x,y"]
    for patient in range(n_patients):
        level = 1.5 * rng.normal()
        x = level + rng.normal(size=size)
        y = np.where(rng.logistic(size=size) < 0.6 * x + 1.5 * rng.normal(), "yes", "no")
        lines += [f"p{patient},{a:.6f},{b}" for a, b in zip(x, y, strict=True)]
    (folder / "patients.csv").write_text("\n".join(lines) + "\n")


def amounts(folder):
    rng = np.random.default_rng(0)
    x = rng.normal(size=2500)
    y = rng.gamma(1.2, np.exp(3 + 0.3 * x) / 1.2)
    lines = [f"{a:.6f},{b:.6f}" for a, b in zip(x, y, strict=True)]
    (folder / "amounts.csv").write_text("\n".join(["x,y", *lines]) + "\n")


def run_facts(folder, number=1):
    path = next((folder / "runs").glob(f"00{number}-*"))
    return path, json.loads((path / "run.json").read_text())


def said(text):
    return " ".join(text.split())


@pytest.fixture
def by_patient(likely, tmp_path):
    patients(tmp_path)
    assert likely("seal", "patients.csv", "--target", "y", "--group", "patient").exit == 0
    return tmp_path


def test_train_on_a_seal_by_group_has_intervals_of_groups(likely, by_patient):
    outcome = likely("train", "patients.seal", "logistic")
    assert "intervals are for all rows together, in 48 groups of patient." in said(outcome.out)
    path, facts = run_facts(by_patient)
    scores = facts["scores"]
    held = read_run(path).validation
    losses = -np.take_along_axis(held.prediction.log_p, held.truth.y[:, None], axis=1)[:, 0]
    by_rows = 2 * 1.96 * losses.std() / np.sqrt(len(losses))
    low, high = scores["interval"]
    assert high - low > 1.4 * by_rows
    assert scores["groups"] == 48
    assert scores["group"] == "patient"
    gain_low, gain_high = scores["gain_interval"]
    assert gain_low < scores["gain"] < gain_high
    assert scores["gain"] == pytest.approx(scores["baseline"] - scores["value"])


def test_the_same_interval_is_in_the_report(likely, by_patient):
    likely("train", "patients.seal", "logistic")
    path, facts = run_facts(by_patient)
    found = verdict_of(read_run(path))
    assert found.score == pytest.approx(Score.from_json(facts["scores"]).main)
    assert "960 rows in 48 groups of patient, each held out once" in found.sentence


def test_final_says_how_many_groups_are_sealed(likely, by_patient):
    likely("train", "patients.seal", "logistic")
    told = likely("final", "@last", "--json").json["result"]
    assert (told["groups"], told["group"]) == (12, "patient")
    assert told["gain_interval"][0] < told["gain"] < told["gain_interval"][1]
    outcome = likely("final", "@last")
    assert "on 240 sealed rows in 12 groups of patient; evaluation 1 of 1" in said(outcome.out)
    likely("report", "@last")
    assert "in 12 groups of patient" in (by_patient / "report.html").read_text()


def test_a_clear_gain_is_said_though_the_score_alone_would_not_show_it(likely, tmp_path):
    amounts(tmp_path)
    likely("seal", "amounts.csv", "--target", "y", "--kind", "positive")
    likely("train", "amounts.seal", "glm-gamma")
    outcome = likely("final", "@last")
    told = json.loads((run_facts(tmp_path)[0] / "final.json").read_text())
    assert told["interval"][0] < told["baseline"] < told["interval"][1]
    assert told["gain_interval"][0] > 0
    lines = outcome.out.splitlines()
    first = lines[next(k for k, line in enumerate(lines) if "sealed rows  " in line) + 1]
    gain, ends = estimate_cells(told["gain"], *told["gain_interval"])
    assert said(first) == f"gain over the baseline (per row, in nats) {gain} {ends}"
    assert "not clearly better" not in outcome.out + outcome.err
    likely("report", "@last")
    page = (tmp_path / "report.html").read_text()
    assert "clearly better than the baseline" in page
    assert "not clearly better" not in page


def test_no_gain_is_not_said_to_be_one(likely, tmp_path):
    rng = np.random.default_rng(0)
    lines = [f"{a:.6f},{b}" for a, b in zip(rng.normal(size=300), "yn" * 150, strict=True)]
    (tmp_path / "noise.csv").write_text("\n".join(["x,y", *lines]) + "\n")
    likely("seal", "noise.csv", "--target", "y")
    likely("train", "noise.seal", "logistic")
    outcome = likely("final", "@last")
    assert "not clearly better than the baseline" in said(outcome.out + outcome.err)
    assert verdict_of(read_run(run_facts(tmp_path)[0])).tone == "warn"


@pytest.mark.parametrize(("baseline", "tone"), [(0.6, "good"), (0.45, "warn")])
def test_a_score_whose_gain_is_not_shown_is_judged_by_its_interval(baseline, tone):
    record = {"metric": "log-loss", "value": 0.4, "interval": [0.3, 0.5], "baseline": baseline}
    record |= {"level": 0.95, "rows": 9, "evaluation": 1, "budget": 1, "judge": "ladder"}
    empty = dict.fromkeys(("gain", "gain_interval", "group", "groups", "cv_estimate"))
    record |= empty | {"note": "", "of_this_model": True, "resumed": False, "head": ""}
    assert verdict_of(RunFacts("run", {}, final=record)).tone == tone


def test_a_cross_validated_run_is_judged_by_its_gain(likely, tmp_path):
    amounts(tmp_path)
    likely("seal", "amounts.csv", "--target", "y", "--kind", "positive")
    likely("train", "amounts.seal", "glm-gamma")
    path, facts = run_facts(tmp_path)
    found = held_out_verdict(read_run(path))
    gain = found.judged.gain
    assert [gain.low, gain.high] == facts["scores"]["gain_interval"]
    assert found.tone == "good"


@pytest.mark.parametrize("group", [(), ("--group", "patient")])
def test_train_tune_and_compare_have_one_best_constant(likely, tmp_path, group):
    """Each row's is that of the other folds."""
    patients(tmp_path)
    likely("seal", "patients.csv", "--target", "y", *group)
    likely("train", "patients.seal", "logistic")
    tuned = likely(
        "tune", "patients.seal", "logistic", "--trials", "2", "--repeats", "1", "--json"
    ).json["result"]
    words = ("--folds", "5", "--repeats", "1", "--json")
    found = likely("compare", "patients.seal", "logistic", *words).json["result"]
    constant = next(each for each in found["models"] if each["model"] == "constant")
    trained = run_facts(tmp_path)[1]["scores"]["baseline"]
    assert trained == pytest.approx(constant["value"], rel=1e-9)
    assert tuned["scores"]["baseline"] == pytest.approx(trained, rel=1e-9)
    assert tuned["study"]["baseline"] == tuned["scores"]["baseline"]
