"""``likely tune``: the search, its folder, Ctrl-C and going on."""

import json
from itertools import count

import numpy as np
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

from likely.workbench.search import exploration
from likely.workbench.search.question import CrossValidated


@pytest.fixture
def interrupted_after(monkeypatch):
    """Ctrl-C in the trial with that number."""

    def arm(n):
        calls = []
        whole = CrossValidated.evaluate

        def evaluate(self, parameters, *, share=1.0):
            calls.append(parameters)
            if len(calls) > n:
                raise KeyboardInterrupt
            return whole(self, parameters, share=share)

        monkeypatch.setattr(CrossValidated, "evaluate", evaluate)

    return arm


def test_it_writes_a_run_with_the_best_model(likely, tmp_path):
    outcome = likely("tune", "wine", "discriminant", "--trials", "4")
    assert outcome.exit == 0, outcome.err
    assert "The default settings are the best of 4 trials (random, seed 0): covariance=tied" in (
        " ".join(outcome.out.split())
    )
    assert outcome.out.rstrip().endswith("Next: likely report @last")
    run = tmp_path / "runs" / "001-discriminant"
    facts = json.loads((run / "run.json").read_text())
    study = json.loads((run / "study.json").read_text())
    assert len(study["trials"]) == 4
    (best,) = (trial for trial in study["trials"] if trial["number"] == study["best"]["number"])
    assert best["default"]
    assert study["best"]["parameters"] == best["parameters"]
    compared = likely("compare", "wine", "discriminant", "--json").json["result"]["models"]
    (theirs,) = (each for each in compared if each["model"] == "discriminant")
    for key in ("value", "interval"):  # one value and one interval, in every verb
        assert theirs[key] == pytest.approx(best[key], rel=1e-12)
        assert facts["scores"][key] == pytest.approx(best[key], rel=1e-12)
    assert all(facts["parameters"][name] == value for name, value in best["parameters"].items())
    assert facts["scores"]["cv_estimate"] == pytest.approx(best["value"])
    assert likely("predict", "@last", "wine", "-o", "out.csv").exit == 0


@pytest.mark.parametrize("search", ["grid", "random", "halving"])
@pytest.mark.long
def test_every_search_runs_in_json(likely, search):
    said = likely(
        "tune", "iris", "discriminant", "--search", search, "--trials", "6", "--json"
    ).json
    assert said["exit"] == 0
    assert said["result"]["study"]["search"] == search
    assert said["result"]["best_parameters"] == said["result"]["study"]["best"]["parameters"]


def test_a_time_limit_ends_it(likely, monkeypatch):
    monkeypatch.setattr(exploration, "monotonic", count(step=0.3).__next__)
    said = likely("tune", "iris", "discriminant", "--minutes", "0.02", "--json").json
    assert said["exit"] == 0
    assert said["result"]["study"]["stopped"] == "out of time"


@pytest.mark.long
def test_nested_gives_the_honest_score_and_promises_it(likely):
    words = ("tune", "iris", "discriminant", "--trials", "3", "--nested", "3", "--json")
    result = likely(*words).json["result"]
    assert len(result["study"]["outer"]) == 3
    assert result["scores"]["cv_estimate"] == pytest.approx(result["study"]["nested"]["value"])


def test_on_a_seal_it_leads_to_final(likely, table):
    likely("seal", "patients.csv", "--target", "ill")
    outcome = likely("tune", "patients.seal", "logistic", "--trials", "3")
    assert outcome.out.rstrip().endswith("Next: likely final @last")
    run = json.loads((table.parent / "runs/001-logistic/run.json").read_text())
    assert run["seal"]["name"] == "patients.seal"
    assert run["seal"]["count"] == 1
    told = likely("final", "@last", "--json").json["result"]
    assert told["cv_estimate"] == pytest.approx(run["scores"]["cv_estimate"])


def test_final_shows_the_estimate_of_its_own_loss_after_a_search_by_another_metric(likely, table):
    likely("seal", "patients.csv", "--target", "ill")
    words = ("tune", "patients.seal", "logistic", "--trials", "2", "--metric", "auc", "--json")
    scores = likely(*words).json["result"]["scores"]
    assert scores["cv_metric"] == "auc"
    losses = {line["metric"]: line["value"] for line in scores["measures"]}
    told = likely("final", "@last", "--json").json["result"]
    assert told["metric"] == "log-loss"
    assert told["cv_estimate"] == pytest.approx(losses["log-loss"])
    commit = (table.parent / "patients.seal/ledger.jsonl").read_text()
    assert f'"cv_estimate":{told["cv_estimate"]}' in commit.replace(": ", ":")


@pytest.mark.long
def test_ctrl_c_keeps_what_it_has_and_the_next_command_goes_on(
    likely, tmp_path, interrupted_after, monkeypatch
):
    with monkeypatch.context():
        interrupted_after(3)
        outcome = likely("tune", "iris", "softmax", "--trials", "6", "--jobs", "1", "--json")
    said = outcome.json
    assert said["exit"] == 130
    assert "interrupted after 3 trials" in said["findings"][0]
    kept = (tmp_path / "runs/001-softmax/study/trials.jsonl").read_text()
    assert likely("explain", "@last").exit == 2  # no RUN yet
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    other = likely("tune", "iris", "softmax", "--trials", "1", "--json").json
    assert "runs/001-softmax holds an unfinished search" in other["findings"][-1]
    words = said["next"].split()[1:]
    assert words[-2:] == ["-o", "runs/001-softmax"]
    done = likely(*words).json
    assert done["exit"] == 0
    assert len(done["result"]["study"]["trials"]) == 6
    whole = (tmp_path / "runs/001-softmax/study/trials.jsonl").read_text()
    assert whole.startswith(kept)
    fresh = likely("tune", "iris", "softmax", "--trials", "6", "--json").json
    assert fresh["result"]["best_parameters"] == done["result"]["best_parameters"]


def test_ctrl_c_before_the_first_trial_leaves_nothing(likely, tmp_path, interrupted_after):
    interrupted_after(0)
    assert likely("tune", "iris", "discriminant", "--jobs", "1").exit == 130
    assert list(tmp_path.glob("runs/*")) == []


def people(folder):
    """Five rows of each of 40 people; x names the person, and y is a fact about them."""
    rng = np.random.default_rng(0)
    lines = ["person,day,x,y"]
    for person in range(40):
        x, y = rng.normal(), "ab"[int(rng.random() < 0.5)]
        lines += [
            f"p{person},{5 * person + k},{x + 0.001 * rng.normal():.6f},{y}" for k in range(5)
        ]
    (folder / "people.csv").write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("how", ["a seal", "an option"])
@pytest.mark.long
def test_groups_stay_together_and_are_no_feature(likely, tmp_path, how):
    people(tmp_path)
    words = ["tune", "people.csv", "discriminant", "--target", "y", "--group", "person"]
    rows = pacsv.read_csv(tmp_path / "people.csv").column("person").to_pylist()
    if how == "a seal":
        likely("seal", "people.csv", "--target", "y", "--group", "person")
        words = ["tune", "people.seal", "discriminant"]
        rows = pq.read_table(tmp_path / "people.seal/train.parquet").column("person").to_pylist()
    outcome = likely(*words, "--trials", "2", "--nested", "2", "--folds", "3", "--json")
    assert outcome.exit == 0, outcome.err
    run = tmp_path / "runs/001-discriminant"
    facts = json.loads((run / "run.json").read_text())
    assert facts["columns"] == ["day", "x"]
    assert json.loads((run / "study/study.json").read_text())["group"] == "person"
    result = outcome.json["result"]
    assert facts["scores"]["cv_estimate"] == pytest.approx(result["study"]["nested"]["value"])
    folds = pq.read_table(run / "validation.parquet")
    place = {}
    for row, fold in zip(folds["row"].to_pylist(), folds["fold"].to_pylist(), strict=True):
        assert place.setdefault(rows[row], fold) == fold
    assert likely("predict", "@last", "people.csv", "-o", "out.csv").exit == 0
    if how == "a seal":
        assert likely("final", "@last").exit == 0


def test_a_seal_by_time_is_searched_forwards(likely, tmp_path):
    people(tmp_path)
    likely("seal", "people.csv", "--target", "y", "--by-time", "day")
    outcome = likely("tune", "people.seal", "discriminant", "--trials", "2", "--folds", "3")
    assert outcome.exit == 0, outcome.err
    run = tmp_path / "runs/001-discriminant"
    assert json.loads((run / "study/study.json").read_text())["by_time"] == "day"
    folds = pq.read_table(run / "validation.parquet")
    days = pq.read_table(tmp_path / "people.seal/train.parquet").column("day").to_numpy()
    day, fold = days[folds["row"].to_numpy()], folds["fold"].to_numpy()
    assert len(day) < len(days)  # the first piece is only learned from
    for later in (1, 2):
        assert day[fold < later].max() < day[fold == later].min()


def test_settings_by_hand_are_tried_after_the_model_as_it_is(likely):
    words = ("tune", "iris", "discriminant", "--trials", "4", "--json")
    tries = ("--try", "covariance=full,shrinkage=0.25", "--try", "shrinkage=0.01")
    trials = likely(*words, *tries).json["result"]["study"]["trials"]
    assert [trial["parameters"] for trial in trials[:3]] == [
        {"covariance": "tied", "shrinkage": 0.0},
        {"covariance": "full", "shrinkage": 0.25},
        {"covariance": "tied", "shrinkage": 0.01},
    ]
    assert len(trials) == 4


@pytest.mark.long
def test_halving_shows_its_rounds(likely):
    said = likely("tune", "iris", "discriminant", "--search", "halving", "--trials", "9").out
    said = " ".join(said.split())
    assert "9 on 11.1 % (best " in said
    assert "2 on all (best " in said  # one of them is the default


REFUSED = {
    "mixture": ("tune iris mixture", 1, "has no target"),
    "glm": ("tune diabetes glm", 1, "glm-poisson"),
    "unknown": ("tune iris discriminatn", 1, "Did you mean 'discriminant'?"),
    "target": ("tune iris discriminant --target spcies", 2, "Did you mean 'species'?"),
    "kind": ("tune iris logistic", 2, "softmax"),
    "search": ("tune iris discriminant --search luck", 1, "luck"),
    "try": ("tune iris discriminant --try shrinkage", 1, "--try takes NAME=VALUE"),
    "try-name": ("tune iris discriminant --try shrinkge=1", 2, "Did you mean 'shrinkage'?"),
    "group": ("tune iris discriminant --group spcies", 2, "Did you mean 'species'?"),
    "by-time": ("tune iris discriminant --by-time species", 2, "is the target"),
    "trials": ("tune iris discriminant --trials 0", 1, "trials"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_tuned_is_refused(likely, tmp_path, case):
    words, code, says = REFUSED[case]
    said = likely(*words.split(), "--json").json
    assert said["exit"] == code
    assert says in said["findings"][0]
    assert said["next"].startswith("likely ")
    assert not (tmp_path / "runs").exists()


def test_a_whole_run_is_not_written_to_again(likely):
    likely("tune", "iris", "discriminant", "--trials", "2", "-o", "mine")
    assert likely("tune", "iris", "discriminant", "--trials", "2", "-o", "mine").exit == 2


def test_the_folder_has_the_listed_name_of_the_model(likely, tmp_path):
    outcome = likely("tune", "breast-cancer", "naive_bayes", "--trials", "1", "--folds", "2")
    assert outcome.exit == 0, outcome.err
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["001-naive-bayes"]
