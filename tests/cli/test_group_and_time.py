"""``--group`` and ``--by-time``: kept by a run, known to its curve, and told by the report."""

import json

import numpy as np
import pytest

import likely as lk

QUICK = ("--folds", "3")
WHOLE = "whole groups of shop"
FORWARDS = "each predicted from the rows before it by day"


def told(text):
    return " ".join(text.split())


@pytest.fixture
def shops(tmp_path):
    """A fact about each of 30 shops, which its rows repeat: a fold that parts a shop leaks it."""
    rng = np.random.default_rng(0)
    lines = ["shop,day,x,size,y"]
    for shop in range(30):
        x, y = rng.normal(), "ab"[rng.integers(2)]
        lines += [f"s{shop},{shop + 30 * k},{x:.4f},{rng.normal():.4f},{y}" for k in range(6)]
    path = tmp_path / "shops.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def facts_of(tmp_path, run):
    return json.loads((tmp_path / "runs" / run / "run.json").read_text())


def tuned(likely, *words):
    outcome = likely("tune", *words, "--trials", "1", *QUICK, "--json")
    assert outcome.exit == 0, outcome.out
    return outcome


@pytest.mark.parametrize(
    ("option", "column", "said"), [("group", "shop", WHOLE), ("by_time", "day", FORWARDS)]
)
@pytest.mark.long
def test_the_curve_of_a_run_is_parted_as_the_run_was(likely, tmp_path, shops, option, column, said):
    words = (f"--{option.replace('_', '-')}", column)
    tuned(likely, "shops.csv", "discriminant", "--target", "y", *words)
    facts = facts_of(tmp_path, "001-discriminant")
    parted = {"group": None, "by_time": None} | {option: column}
    assert {key: facts[key] for key in parted} == parted
    found = likely("curve", "@last", "--values", "1", *QUICK, "--json").json["result"]
    model = lk.load(tmp_path / "runs/001-discriminant/model.likely")
    same = lk.learning_curve(str(shops), "y", model, values=[1.0], folds=3, **{option: column})
    held = found["points"][0]["validation"]
    assert held["value"] == pytest.approx(same.points[0].validation.value)
    assert {key: found[key] for key in parted} == parted
    assert likely("report", "@last").exit == 0
    page = told((tmp_path / "report.html").read_text())
    assert f"<dt>Folds</dt><dd>{said}</dd>" in page  # among the question's facts
    assert f"held-out rows of all 3 folds, {said}." in page
    assert f"held out once in 3 folds, {said}" in page


@pytest.mark.parametrize(
    ("option", "key"), [("--group shop", "group"), ("--by-time day", "by_time")]
)
def test_training_on_a_seal_keeps_how_it_was_sealed(likely, tmp_path, shops, option, key):
    likely("seal", "shops.csv", "--target", "y", *option.split())
    assert likely("train", "shops.seal", "discriminant").exit == 0
    facts = facts_of(tmp_path, "001-discriminant")
    assert facts[key] == option.split()[1]
    assert [facts["group"], facts["by_time"]].count(None) == 1


def test_training_on_a_file_parts_by_neither(likely, tmp_path, shops):
    likely("train", "shops.csv", "naive-bayes", "--target", "y")
    facts = facts_of(tmp_path, "001-naive-bayes")
    assert facts["group"] is facts["by_time"] is None


def test_a_search_that_overrules_its_seal_is_what_the_curve_follows(likely, tmp_path, shops):
    likely("seal", "shops.csv", "--target", "y", "--group", "shop")
    tuned(likely, "shops.seal", "discriminant", "--by-time", "day")
    facts = facts_of(tmp_path, "001-discriminant")
    assert (facts["group"], facts["by_time"]) == (None, "day")
    assert facts["columns"] == ["day", "x", "size"]  # the group of the seal is no feature
    found = likely("curve", "@last", "--values", "1", *QUICK, "--json").json["result"]
    assert (found["group"], found["by_time"]) == (None, "day")


@pytest.mark.parametrize(
    ("words", "said"), [(("--group", "shop"), WHOLE), (("--by-time", "day"), FORWARDS)]
)
def test_comparisons_and_curves_can_be_parted_and_say_so_and_so_does_the_next_command(
    likely, shops, words, said
):
    about = ("--target", "y", *QUICK, *words)
    key = words[0][2:].replace("-", "_")
    option = {key: words[1]}
    found = likely("compare", "shops.csv", "discriminant", *about, "--json").json["result"]
    same = lk.compare(str(shops), "y", ["discriminant"], folds=3, **option)
    assert found[key] == words[1]
    assert [each["value"] for each in found["models"]] == pytest.approx(
        [each.value for each in same.entries]
    )
    outcome = likely("curve", "shops.csv", "discriminant", *about, "--values", "1")
    assert f"3 folds, {said}." in told(outcome.out)
    after = f"Next: likely tune shops.csv discriminant --target y {' '.join(words)}"
    assert told(outcome.out).endswith(after)


def test_the_next_command_of_a_comparison_keeps_the_group(likely, tmp_path):
    rows = [f"g{i % 20},{i % 7},{'ab'[i % 7 > 3]}" for i in range(140)]
    (tmp_path / "easy.csv").write_text("\n".join(["g,x,y", *rows]) + "\n")
    words = ("--target", "y", "--repeats", "1", *QUICK, "--group", "g", "--json")
    found = likely("compare", "easy.csv", "discriminant", *words).json
    assert found["next"] == "likely tune easy.csv discriminant --target y --group g"


@pytest.mark.parametrize("verb", ["compare", "curve", "tune", "train"])
def test_rows_are_parted_by_one_of_the_two(likely, shops, verb):
    words = ("--target", "y", "--group", "shop", "--by-time", "day")
    outcome = likely(verb, "shops.csv", "discriminant", *words)
    assert outcome.exit in (1, 2)
    assert "--group shop and --by-time day were given" in told(outcome.err)


def test_a_run_knows_how_it_is_parted(likely, shops):
    likely("train", "shops.csv", "naive-bayes", "--target", "y")
    outcome = likely("curve", "@last", "--group", "shop")
    assert outcome.exit == 1
    assert "Leave out MODEL, --set, --target" in told(outcome.err)


def test_the_report_proposes_commands_that_part_the_rows_likewise(likely, tmp_path, shops):
    tuned(likely, "shops.csv", "discriminant", "--target", "y", "--group", "shop")
    likely("report", "@last")
    page = told((tmp_path / "report.html").read_text())
    assert "likely compare shops.csv --target y --group shop" in page


def test_what_comes_with_a_row_of_a_seal_does_not_make_its_group_a_feature(likely, shops):
    likely("seal", "shops.csv", "--target", "y", "--group", "shop")
    words = ("train", "shops.seal", "logistic", "--weight", "day", "--json")
    assert likely(*words).json["result"]["columns"] == ["x", "size"]


CLUSTERED = ("--clusters", "w", "--set", "standard_errors=clustered")


def test_a_score_that_is_not_parted_as_the_seal_is_says_so(likely, tmp_path):
    rows = [f"p{i // 4},{i % 7},{1 + i % 3},{'ab'[i % 2]}" for i in range(160)]
    (tmp_path / "people.csv").write_text("\n".join(["person,x,w,y", *rows]) + "\n")
    likely("seal", "people.csv", "--target", "y", "--group", "person")
    clustered = likely("train", "people.seal", "logistic", *CLUSTERED, "--json").json
    assert any(
        "chosen individually, but the sealed rows by person" in said
        for said in clustered["findings"]
    )
    for words in ((), ("--weight", "w")):
        other = likely("train", "people.seal", "logistic", *words, "--json").json
        assert not any("one by one" in said for said in other["findings"])
        assert other["result"]["scores"]["groups"] == 32


@pytest.mark.parametrize(("option", "column"), [("group", "shop"), ("by_time", "day")])
def test_training_on_data_holds_out_by_group_or_time_as_a_comparison_does(
    likely, tmp_path, shops, option, column
):
    words = (f"--{option.replace('_', '-')}", column)
    outcome = likely("train", "shops.csv", "discriminant", "--target", "y", *words, "--json")
    found = outcome.json["result"]
    same = lk.compare(shops, "y", "discriminant", folds=5, repeats=1, **{option: column})
    assert found["scores"]["value"] == pytest.approx(same["discriminant"].value)
    assert found["scores"]["groups"] == (30 if option == "group" else None)
    assert found[option] == facts_of(tmp_path, "001-discriminant")[option] == column
    assert ("shop" in found["columns"]) == (option == "by_time")
    alone = lk.compare(shops, "y", "discriminant", folds=5, repeats=1)["discriminant"].value
    assert found["scores"]["value"] != pytest.approx(alone, rel=1e-3)


@pytest.mark.parametrize(
    "words", [("logistic", "--clusters", "size"), ("mixture",)], ids=lambda words: words[0]
)
def test_rows_that_are_held_out_one_by_one_have_no_group(likely, shops, words):
    outcome = likely("train", "shops.csv", *words, "--target", "y", "--group", "shop")
    assert outcome.exit == 1
    assert "--group shop is for cross-validation" in told(outcome.err)
