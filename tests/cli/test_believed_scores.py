"""The report and ``final`` believe only the ledger: edited, copied and restored files."""

import json
import os
import shutil
from contextlib import chdir
from fcntl import LOCK_EX, LOCK_NB, flock
from hashlib import sha256

import pytest

import likely as likely_library
from likely.cli.main import run
from likely.errors import BrokenLedger, HonestyRefusal, SomeSealedRows
from likely.reports.page import report_of
from likely.runs import open_run, read_run
from likely.runs.known_ledgers import evaluated_elsewhere, refuse_earlier_copy
from likely.sealing.folder import SealFolder
from likely.sealing.ledger import Ledger
from likely.sealing.manifest import canonical
from likely.workbench.final.final import final_score_of_fit
from likely.workbench.final.final_scorer import scorer_for
from tests.cli.conftest import patients
from tests.reports.runs_by_hand import rewritten

FIRST, SECOND = "runs/001-naive-bayes", "runs/002-logistic"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Two runs on a seal, the first of them evaluated; and the seal as it was before."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "patients.csv").write_text(patients())
    with chdir(folder):
        assert run(["seal", "patients.csv", "--target", "ill"]) == 0
        assert run(["train", "patients.seal", "naive-bayes"]) == 0
        assert run(["train", "patients.seal", "logistic"]) == 0
        shutil.copytree("patients.seal", "before")
        assert run(["final", FIRST]) == 0
    return folder


@pytest.fixture
def place(made, tmp_path, likely):
    for name in ("runs", "patients.seal"):
        shutil.copytree(made / name, tmp_path / name)
    shutil.copy(made / "patients.csv", tmp_path)
    return tmp_path


def restored(made, place):
    shutil.rmtree(place / "patients.seal")
    return shutil.copytree(made / "before", place / "patients.seal")


def lines(place):
    content = (place / "patients.seal/ledger.jsonl").read_text()
    return [json.loads(line) for line in content.splitlines()]


def test_the_report_shows_the_line_of_the_ledger(place):
    facts = read_run(place / FIRST)
    score = lines(place)[-1]
    assert facts.final["value"] == score["value"]
    assert len(facts.final["measures"]) == len(score["measures"])
    assert facts.final_problem is None
    assert facts.final == json.loads((place / FIRST / "final.json").read_text())


CHANGES = {
    "value": 0.101,
    "interval": [0.09, 0.11],
    "baseline": 9.0,
    "gain": 3.0,
    "gain_interval": [2.0, 4.0],
    "level": 0.5,
    "rows": 12345,
    "evaluation": 2,
    "budget": 7,
    "judge": "ladder",
    "metric": "brier",
    "measures": {},
    "impossible_rows": 3,
    "group": "city",
    "groups": 4,
    "cv_estimate": 0.1,
    "note": "This is excellent.",
    "of_this_model": False,
}


@pytest.mark.parametrize("key", CHANGES)
def test_no_changed_field_of_final_json_is_shown(place, key):
    before = read_run(place / FIRST).final
    rewritten(place / FIRST, "final.json", lambda f: f.update({key: CHANGES[key]}))
    facts = read_run(place / FIRST)
    assert facts.final == before
    assert f"final.json was changed after it was written: its {key} is" in facts.final_problem


def test_every_field_of_final_json_is_tried(place):
    known = set(json.loads((place / FIRST / "final.json").read_text()))
    assert known == {*CHANGES, "head", "resumed"}


def test_a_changed_score_is_said_above_the_verdict(place, likely):
    rewritten(place / FIRST, "final.json", lambda f: f.update(value=0.101))
    outcome = likely("report", FIRST)
    assert "its value is 0.101, and the ledger of patients.seal has 0." in " ".join(
        outcome.err.split()
    )
    html = (place / "report.html").read_text()
    assert "score not confirmed" in html
    assert "Log loss 0.101" not in html


def test_a_score_copied_from_another_run_is_not_believed(place):
    shutil.copy(place / FIRST / "final.json", place / SECOND)
    facts = read_run(place / SECOND)
    assert facts.final is None
    assert "copied from another run" in facts.final_problem


def test_a_run_that_claims_the_model_of_another_has_no_score(place):
    other = json.loads((place / FIRST / "run.json").read_text())["model_sha256"]
    rewritten(place / SECOND, "run.json", lambda f: f.update(model_sha256=other))
    assert read_run(place / SECOND).final is None
    shutil.copy(place / FIRST / "final.json", place / SECOND)
    facts = read_run(place / SECOND)
    assert facts.final is None
    assert "copied from another run" in facts.final_problem


def test_a_score_in_a_restored_seal_is_not_believed(made, place):
    restored(made, place)
    facts = read_run(place / FIRST)
    assert facts.final is None
    assert "replaced by an earlier copy" in facts.final_problem


def test_the_same_score_in_another_history_is_noticed(made, place, likely):
    restored(made, place)
    (place / FIRST / "final.json").rename(place / "kept.json")
    assert likely("final", SECOND, "--json").exit == 0
    assert likely("final", FIRST, "--again", "a second time").exit == 0
    shutil.move(place / "kept.json", place / FIRST / "final.json")
    facts = read_run(place / FIRST)
    assert "final.json was changed" in facts.final_problem
    rewritten(place / FIRST, "final.json", lambda f: f.update(facts.final, head="ab" * 32))
    assert "records a line that the ledger" in read_run(place / FIRST).final_problem


def test_without_its_seal_a_score_is_not_shown(place):
    shutil.rmtree(place / "patients.seal")
    facts = read_run(place / FIRST)
    assert facts.final is None
    assert "cannot be checked, because its seal was not found" in facts.final_problem
    assert "score not confirmed" in report_of([facts]).html


def test_a_run_without_a_seal_has_no_sealed_score(place):
    rewritten(place / FIRST, "run.json", lambda f: f.pop("seal"))
    facts = read_run(place / FIRST)
    assert facts.final is None
    assert "was not trained on a seal" in facts.final_problem


def test_a_lost_copy_is_read_from_the_ledger(place):
    before = read_run(place / FIRST).final
    (place / FIRST / "final.json").unlink()
    facts = read_run(place / FIRST)
    assert (facts.final, facts.final_problem) == (before, None)


def test_each_of_two_runs_with_equal_models_has_its_own_estimate(place, likely):
    """The ledger, `final` and the report: the same score, and two estimates from other folds."""
    twin = shutil.copytree(place / FIRST, place / "runs/003-naive-bayes")
    (twin / "final.json").unlink()
    rewritten(twin, "run.json", lambda f: f["scores"]["measures"][0].update(value=0.3456))
    names = [
        each["metric"] for each in json.loads((twin / "run.json").read_text())["scores"]["measures"]
    ]
    assert names[0] == "log-loss"
    for _ in range(2):
        assert "Cross-validation estimate: 0.35." in likely("final", "runs/003-naive-bayes").out
    assert [line["event"] for line in lines(place)] == ["sealed", "commit", "score", "repeat"]
    first = read_run(place / FIRST)
    assert first.final == json.loads((place / FIRST / "final.json").read_text())
    second = read_run(twin)
    assert second.final == first.final | {"cv_estimate": 0.3456}
    assert first.final_problem is second.final_problem is None
    rewritten(twin, "final.json", lambda f: f.update(cv_estimate=0.2))
    assert "its cv_estimate is 0.2, and the ledger" in read_run(twin).final_problem
    assert json.loads(likely("ledger", "verify", "patients.seal", "--json").out)["result"]["sound"]


def test_an_equal_model_in_another_file_is_recorded_and_not_counted(place):
    seal, opened = SealFolder(place / "patients.seal"), open_run(str(place / FIRST))
    shutil.copytree(place / FIRST, place / "twin")
    (place / "twin" / "model.likely").write_bytes(b"another file of the same model")
    digest = sha256(b"another file of the same model").hexdigest()
    assert "copied from another run" in read_run(place / "twin").final_problem
    for _ in range(2):
        score = final_score_of_fit(
            seal,
            opened.model,
            trained_on=opened.facts["data"]["sha256"],
            scorer=scorer_for(opened.model, seal),
            model_sha256=digest,
            cv_estimate=json.loads((place / "twin" / "final.json").read_text())["cv_estimate"],
        )
        assert score.resumed
    assert [line["event"] for line in lines(place)] == ["sealed", "commit", "score", "repeat"]
    facts = read_run(place / "twin")
    assert facts.final["value"] == read_run(place / FIRST).final["value"]
    assert facts.final_problem is None


def test_a_run_without_the_hash_of_its_model_is_refused(place, likely):
    rewritten(place / SECOND, "run.json", lambda f: f.pop("model_sha256"))
    outcome = likely("final", SECOND)
    assert outcome.exit == 3
    assert "(model_sha256)" in outcome.err


def test_final_refuses_a_seal_that_lacks_the_line_of_an_evaluation(made, place, likely):
    restored(made, place)
    for name in (FIRST, SECOND):  # the other run knows it too
        outcome = likely("final", name)
        assert outcome.exit == 4
        assert "it is an earlier copy, or lines were removed" in " ".join(outcome.err.split())
    assert len(lines(place)) == 1


def test_final_refuses_a_seal_that_lacks_the_line_of_a_training(made, place, likely):
    assert likely("train", "patients.seal", "naive-bayes", "-o", "third").exit == 0
    restored(made, place)
    shutil.rmtree(place / "runs")
    outcome = likely("final", "third")
    assert outcome.exit == 4
    assert "third records a line of its ledger (when it was trained)" in outcome.err


def test_predictions_of_a_restored_seal_are_refused(made, place, likely):
    restored(made, place)
    (place / "theirs.csv").write_text("sealed_row,prediction\n")
    outcome = likely("final", "patients.seal", "--predictions", "theirs.csv")
    assert outcome.exit == 4


def test_a_ledger_that_only_grew_is_no_earlier_copy(place):
    refuse_earlier_copy(SealFolder(place / "patients.seal"), place / FIRST, place / SECOND)


def test_a_run_that_does_not_say_how_long_the_ledger_was_is_refused(made, place, likely):
    restored(made, place)
    shutil.rmtree(place / FIRST)
    rewritten(place / SECOND, "run.json", lambda f: [f["seal"].pop(k) for k in ("count", "head")])
    assert likely("final", SECOND).exit == 4


@pytest.mark.parametrize("name", ["copy.seal", "copy"])
def test_a_copy_under_another_name_has_the_same_budget(made, place, likely, name):
    shutil.copytree(made / "before", place / name)
    shutil.rmtree(place / "runs")
    assert likely("train", name, "logistic", "-o", "mine").exit == 0
    outcome = likely("final", "mine")
    assert outcome.exit == 4
    assert "patients.seal is a copy of it" in " ".join(outcome.err.split())
    shutil.rmtree(place / "patients.seal")
    assert likely("final", "mine").exit == 0


def test_rows_that_were_sealed_again_need_a_reason(place, likely):
    shutil.rmtree(place / "patients.seal")
    assert likely("seal", "patients.csv", "--target", "ill").exit == 0
    assert [k.path.name for k in evaluated_elsewhere(SealFolder(place / "patients.seal"))] == [
        "001-naive-bayes"
    ]
    assert likely("train", "patients.seal", "logistic").exit == 0
    outcome = likely("final", "@last")
    assert outcome.exit == 3
    assert "were evaluated before, under another seal" in " ".join(outcome.err.split())
    assert likely("final", "@last", "--again", "a bug in the first").exit == 0
    events = [line["event"] for line in lines(place)]
    assert events == ["sealed", "refused", "again", "commit", "score"]


AGAIN = {
    "without a column": ("--drop", "city"),
    "with another seed": ("--seed", "5"),
    "with another seed and share": ("--seed", "5", "--test", "0.1", "--drop", "city"),
}


@pytest.mark.parametrize(
    ("name", "gone"), [*((name, False) for name in AGAIN), ("with another seed and share", True)]
)
def test_rows_that_were_sealed_again_in_another_way_need_a_reason(place, likely, name, gone):
    assert likely("seal", "patients.csv", "--target", "ill", *AGAIN[name], "-o", "c").exit == 0
    assert likely("train", "c.seal", "logistic", "-o", "mine").exit == 0
    if gone:
        shutil.rmtree(place / "patients.seal")
    outcome = likely("final", "mine")
    assert outcome.exit == 3
    known = FIRST if gone else "patients.seal (1 of 1 evaluation used)"
    assert f"evaluated before, under another seal of the same rows: {known}." in " ".join(
        outcome.err.split()
    )
    assert likely("final", "mine", "--again", "a bug in the first").exit == 0


def test_python_knows_of_them_too(place):
    sealed = likely_library.seal(place / "patients.csv", "ill", seed=5, name="c", folder=place)
    with pytest.raises(HonestyRefusal, match=r"evaluated before, under another seal.*again=\.\.\."):
        sealed.final("logistic")
    assert [entry["event"] for entry in sealed.ledger()] == ["sealed", "refused"]
    assert sealed.final("logistic", again="a bug in the first").evaluation == 1


def test_sealed_rows_are_known_after_a_column_was_renamed(place, likely):
    text = (place / "patients.csv").read_text()
    (place / "other.csv").write_text(text.replace("city", "place", 1))
    shutil.rmtree(place / "runs")
    assert likely("seal", "other.csv", "--target", "ill", "--seed", "5").exit == 0
    assert likely("train", "other.seal", "logistic").exit == 0
    assert likely("final", "@last").exit == 3


def test_other_rows_and_other_targets_need_no_reason(place, likely):
    (place / "others.csv").write_text(patients(seed=9))
    assert likely("seal", "others.csv", "--target", "ill").exit == 0
    assert likely("train", "others.seal", "logistic").exit == 0
    assert likely("final", "@last").exit == 0
    assert likely("seal", "patients.csv", "--target", "city", "-o", "towns").exit == 0
    assert likely("train", "towns.seal", "naive-bayes").exit == 0
    assert likely("final", "@last").exit == 0


def test_a_saved_model_is_not_scored_on_sealed_rows_in_slices(place, likely):
    head, *rows = (place / "patients.csv").read_text().splitlines()
    known = {row["age"] for row in SealFolder(place / "patients.seal").features.to_pylist()}
    sealed = [row for row in rows if float(row.split(",")[0]) in known]
    outcomes = []
    for start in range(0, 39, 3):
        (place / "slice.csv").write_text("\n".join([head, *sealed[start : start + 3]]) + "\n")
        outcomes.append(likely("train", "-l", FIRST, "-T", "slice.csv"))
    assert [each.exit for each in outcomes] == [0] + [3] * 12
    assert "this is recorded in the ledger" in " ".join(outcomes[0].err.split())
    assert [line["event"] for line in lines(place)][3:] == ["seen"] + ["refused"] * 12


def write_anew(place, change):
    """The ledger with other lines, and with all hashes and the head computed again."""
    found, previous = [], "0" * 64
    for entry in lines(place):
        entry["previous"] = previous
        change(entry)
        found.append(canonical(entry))
        previous = sha256(found[-1]).hexdigest()
    (place / "patients.seal/ledger.jsonl").write_bytes(b"\n".join(found) + b"\n")
    head = canonical({"count": len(found), "head": previous}) + b"\n"
    (place / "patients.seal/head.json").write_bytes(head)


def test_a_ledger_with_all_hashes_computed_anew_is_not_believed(place, likely):
    write_anew(place, lambda entry: "value" in entry and entry.update(value=0.101))
    assert likely("ledger", "verify", "patients.seal").exit == 0  # the hashes are no signature
    facts = read_run(place / FIRST)
    assert "final.json was changed" in facts.final_problem
    rewritten(place / FIRST, "final.json", lambda f: f.update(value=0.101))
    assert "records a line that the ledger" in read_run(place / FIRST).final_problem
    assert likely("final", SECOND, "--again", "try it").exit == 4


def test_a_score_that_likely_has_not_written_is_said(place):
    write_anew(place, lambda entry: entry.pop("level", None))
    assert "has a score that cannot be read" in read_run(place / FIRST).final_problem


@pytest.mark.diagonal(2)
@pytest.mark.parametrize("budget", [[1], {}, "1", None])
def test_a_manifest_of_another_shape_is_said(place, likely, budget):
    rewritten(place / "patients.seal", "manifest.json", lambda f: f.update(budget=budget))
    for words in (("ledger", "show", "patients.seal"), ("final", FIRST), ("report", FIRST)):
        assert likely(*words).exit in (0, 4)


def test_compare_and_tune_in_python_check_the_seal(place):
    with open(place / "patients.seal/manifest.json", "ab") as file:
        file.write(b" ")
    with pytest.raises(BrokenLedger):
        likely_library.compare(place / "patients.seal", models=["naive-bayes"])
    with pytest.raises(BrokenLedger):
        likely_library.tune(place / "patients.seal", "logistic", trials=1)


def test_look_says_that_a_file_holds_sealed_rows(place, likely):
    outcome = likely("look", "patients.csv")
    assert outcome.exit == 0
    assert "patients.csv holds 40 of the 40 sealed rows" in " ".join(outcome.err.split())
    assert "sealed rows of" not in likely("look", "patients.seal").err


def test_a_fit_to_a_file_beside_its_seal_is_warned_of(place):
    with pytest.warns(SomeSealedRows, match=r"patients\.csv may hold the sealed rows"):
        likely_library.NaiveBayes().fit(place / "patients.csv", "ill")


def test_a_name_that_is_no_text_is_read_or_refused(place, likely):
    path = os.fsdecode(b"caf\xe9.csv")
    shutil.rmtree(place / "patients.seal")
    os.rename("patients.csv", path)
    assert likely("look", path, "--json").exit == 0
    assert likely("seal", path, "--target", "ill", "--json").exit == 0
    assert likely("ledger", "show", os.fsdecode(b"caf\xe9.seal"), "--json").exit == 0
    outcome = likely("train", os.fsdecode(b"caf\xe9.seal"), "naive-bayes", "--json")
    assert outcome.exit == 2
    assert "is not valid UTF-8" in outcome.json["findings"][0]


@pytest.mark.diagonal(2)
@pytest.mark.parametrize("length", [240, 246])
def test_long_file_names_go_through_every_verb(place, likely, length):
    path = "x" * length + ".csv"
    shutil.rmtree(place / "patients.seal")
    os.rename("patients.csv", path)
    seal = path.removesuffix(".csv") + ".seal"
    for words in (
        ("look", path),
        ("seal", path, "--target", "ill"),
        ("train", seal, "naive-bayes", "-o", "run"),
        ("final", "run", "--again", "another seal"),
        ("report", "run", "-o", path.removesuffix(".csv") + ".htm"),
        ("ledger", "verify", seal),
    ):
        assert likely(*words, "--json").exit == 0, words


@pytest.mark.parametrize("verb", ["look", "seal", "train", "final", "explain", "report", "ledger"])
@pytest.mark.parametrize("path", ["d/" * 3000 + "x.csv", "e" * 300])
def test_paths_that_are_too_long_are_said(likely, verb, path):
    words = {"train": (path, "naive-bayes"), "ledger": ("verify", path)}.get(verb, (path,))
    outcome = likely(verb, *words)
    assert outcome.exit == 2, outcome.err
    assert len(outcome.err) < 3000


def finals_at_once(runs):
    """The exit code of ``final`` for each run, all in processes of their own at the same time."""
    children = []
    for name in runs:
        child = os.fork()
        if child == 0:
            code = 99
            try:
                code = run(["final", str(name), "--json"])
            finally:
                os._exit(code)
        children.append(child)
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]


def is_unlocked(folder):
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        flock(descriptor, LOCK_EX | LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return True


def once_after_reading(k, monkeypatch, seal, action):
    """Do something after the ledger was read for the kth time, as another process may."""
    read, n_read = Ledger._read, 0

    def then_acted(self):
        nonlocal n_read
        found = read(self)
        n_read += 1
        if n_read == k and is_unlocked(seal):
            action()
        return found

    monkeypatch.setattr(Ledger, "_read", then_acted)
    return lambda: n_read


@pytest.mark.parametrize("k", [1, 2])  # before the seal is locked
def test_a_final_during_another_uses_the_budget_and_breaks_nothing(made, place, monkeypatch, k):
    """Between two readings of the ledger, another RUN may be evaluated."""
    restored(made, place)
    (place / FIRST / "final.json").unlink()
    done = []
    n_read = once_after_reading(
        k, monkeypatch, place / "patients.seal", lambda: done.append(run(["final", FIRST]))
    )
    code = run(["final", SECOND, "--json"])
    assert n_read() >= k
    assert (code, done) == (3, [0])
    assert [line["event"] for line in lines(place)].count("score") == 1


@pytest.mark.parametrize(("k", "seen"), [(1, True), (2, False)])
def test_a_run_that_is_read_during_its_final_is_believed(made, place, monkeypatch, k, seen):
    restored(made, place)
    (place / FIRST / "final.json").unlink()
    before, done = read_run(place / FIRST), []
    once_after_reading(
        k, monkeypatch, place / "patients.seal", lambda: done.append(run(["final", FIRST]))
    )
    facts = read_run(place / FIRST)
    assert done == [0]
    assert facts.final_problem is None
    assert facts.ledger.sound
    assert (facts.final is not None) == seen
    after = read_run(place / FIRST)
    assert before.ledger.head != after.ledger.head
    assert facts.ledger.head == (after if seen else before).ledger.head


@pytest.mark.parametrize("n", [4, pytest.param(20, marks=pytest.mark.slow)])
def test_finals_at_once_have_one_score(made, place, likely, n):
    restored(made, place)
    (place / FIRST / "final.json").unlink()
    assert finals_at_once([FIRST] * n) == [0] * n
    assert [line["event"] for line in lines(place)] == ["sealed", "commit", "score"]
    shutil.rmtree(place / "patients.seal")
    shutil.copytree(made / "before", place / "patients.seal")
    shutil.rmtree(place / "runs")
    shutil.copytree(made / "runs", place / "runs")
    (place / FIRST / "final.json").unlink()
    outcomes = finals_at_once([FIRST, SECOND] * (n // 2))
    assert sorted(outcomes) == [0] * (n // 2) + [3] * (n // 2)
    events = [line["event"] for line in lines(place)]
    assert events.count("commit") == events.count("score") == 1
    assert likely("ledger", "verify", "patients.seal").exit == 0
