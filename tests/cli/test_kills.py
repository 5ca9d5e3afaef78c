"""A kill, a full disk or Ctrl-C at every write of the verbs: the next command can go on."""

import io
import json
import os
import shutil
import subprocess
import sys
import textwrap
from contextlib import ExitStack, chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple

import pyarrow.csv
import pytest

import likely.reports.page
from likely.cli.main import run
from likely.reports.page import report_of
from likely.runs import new_run, open_run
from likely.storage.files import HOLDER, POINTS, alone_in, draft_of, make_folder, watching
from tests.accidents import (
    contents,
    drafts,
    full_disk_at,
    pictures,
    points_of,
    raising,
    state_of,
)
from tests.sealing.conftest import some_table

RUN = "001-naive-bayes"
EVIDENCE = ("validation.parquet", "validation.json", "look.json")
LINE = ("head.json", "ledger.jsonl", "head.json")  # one more in the ledger


class Verb(NamedTuple):
    """A command, where it is run, and everything that it writes, in order."""

    words: str
    where: str
    writes: tuple[str, ...]
    points: int

    def again(self):
        return told(self.words)


VERBS = {
    "seal": Verb(
        "seal rows.csv --target y",
        "bare",
        (
            *("rows.seal", "train.parquet", "test-features.parquet", "fingerprints.bin"),
            *("test-labels.bin", "manifest.json", "ledger.jsonl", "head.json", "rows.seal"),
        ),
        29,
    ),
    "train": Verb(
        "train rows.seal naive-bayes",
        "sealed",
        ("runs", RUN, *EVIDENCE, "effects.json", "run.json", "model.likely", RUN),
        28,
    ),
    "tune": Verb(
        "tune rows.seal discriminant --trials 2 --folds 2 --jobs 1 -o mine",
        "sealed",
        (
            *("study", "command.txt", HOLDER, "study.json", "trials.jsonl", "trials.jsonl"),
            *(*EVIDENCE, "effects.json", "study.json", "run.json", "model.likely"),
        ),
        42,
    ),
    "final": Verb(
        "final @last",
        "trained",
        ("committed.npz", *LINE, *LINE, "committed.npz", "final.json"),
        29,
    ),
    "predict": Verb("predict @last rows.csv -o out.csv", "trained", (*LINE, "out.csv"), 14),
    "report": Verb("report @last -o out.html", "plain", ("out.html",), 4),
}
ENDS = ("make", "rename", "appended", "remove", "hold")  # one for each thing that is written


def told(words):
    """What a command says: its envelope."""
    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(io.StringIO()):
        run([*words.split(), "--json"])
    return json.loads(out.getvalue())


@pytest.fixture(autouse=True, scope="module")
def _quick_disk():
    """No test here cuts the power, so nothing need reach the platter; a report is drawn once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        drawn = []  # drawing takes long, and is the same each time

        def once(runs):
            drawn.extend(() if drawn else [report_of(runs)])
            return drawn[0]

        patch.setattr(likely.reports.page, "report_of", once)
        yield


@pytest.fixture(scope="module")
def stages(tmp_path_factory):
    """Folders with a table; with its seal; with a run on the seal; with a run and no seal."""
    place = tmp_path_factory.mktemp("stages")
    (place / "bare").mkdir()
    table = some_table(60).select(["a", "b", "y"])
    pyarrow.csv.write_csv(table, place / "bare" / "rows.csv")
    for before, after, words in [
        ("bare", "sealed", VERBS["seal"].words),
        ("sealed", "trained", VERBS["train"].words),
        ("bare", "plain", "train rows.csv naive-bayes --target y"),
    ]:
        shutil.copytree(place / before, place / after)
        with chdir(place / after):
            assert told(words)["exit"] == 0
    return place


@pytest.fixture
def stage(stages, tmp_path, monkeypatch):
    """``stage(verb)`` is a fresh folder for it, to be in."""

    def fresh(verb, name="work"):
        folder = tmp_path / name
        shutil.copytree(stages / VERBS[verb].where, folder)
        monkeypatch.chdir(folder)
        return folder

    return fresh


def check_goes_on(verb, folder):
    """In what was left, the next command works, and what was left half done is gone."""
    check_last_is_whole()
    if verb == "seal":
        assert Path("rows.seal").exists() or VERBS[verb].again()["exit"] == 0
        assert told("ledger verify rows.seal")["exit"] == 0
    if verb == "train":
        assert VERBS[verb].again()["exit"] == 0
        assert open_run("@last").is_as_written()
    if verb == "tune":
        assert Path("mine/model.likely").exists() or VERBS[verb].again()["exit"] == 0
        assert open_run("mine").is_as_written()
        assert len(json.loads(Path("mine/study.json").read_text())["trials"]) == 2
    if verb == "final":
        found = VERBS[verb].again()
        assert (found["exit"], found["result"]["evaluation"]) == (0, 1)
        assert json.loads(Path("runs", RUN, "final.json").read_text())["evaluation"] == 1
        assert told("ledger verify rows.seal")["exit"] == 0
    if verb == "predict":
        assert VERBS[verb].again()["exit"] == 0
        assert len(Path("out.csv").read_text().splitlines()) == 61
    if verb == "report":
        assert VERBS[verb].again()["exit"] == 0
        assert Path("out.html").read_text().rstrip().endswith("</html>")
    assert not drafts(folder)


def check_last_is_whole():
    """``@last`` is a run with all that belongs to it, or there is none."""
    if list(Path("runs").glob("[0-9]*")):
        assert open_run("@last").is_as_written()


@pytest.mark.parametrize("verb", VERBS)
def test_everything_that_a_verb_writes_goes_through_the_door(stage, verb):
    folder = stage(verb)
    before, wanted = contents(folder), VERBS[verb]
    seen = points_of(wanted.again)
    assert {each.point for each in seen} <= set(POINTS)
    assert tuple(each.name for each in seen if each.point in ENDS) == wanted.writes
    assert len(seen) == wanted.points
    changed = {
        path.name for path, content in contents(folder).items() if before.get(path) != content
    }
    assert changed <= {each.name for each in seen}


@pytest.mark.diagonal(3)
@pytest.mark.parametrize(
    ("verb", "n_states"),
    [("seal", 3), ("train", 4), ("tune", 23), ("final", 16), ("predict", 8), ("report", 2)],
)
def test_a_kill_at_any_point_leaves_what_the_next_command_can_use(
    stage, tmp_path, monkeypatch, verb, n_states
):
    states = pictures(stage(verb), tmp_path / "states", VERBS[verb].again)
    for state in states:
        monkeypatch.chdir(state)
        check_goes_on(verb, state)
    assert len(states) == n_states, [state.name for state in states]


@pytest.mark.diagonal(3)
@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.long
def test_a_full_disk_at_any_point_is_said_and_leaves_nothing_half_written(stage, verb):
    checked = set()
    for which in range(VERBS[verb].points):
        folder = stage(verb, str(which))
        with watching(full_disk_at(which)):
            said = VERBS[verb].again()
        assert said["exit"] == 2, said["findings"]
        assert "cannot be written (No space left" in said["findings"][0]
        assert "Free some space, and run it again" in said["findings"][0]
        assert not drafts(folder)
        state = state_of(folder)
        if state not in checked:
            check_goes_on(verb, folder)
        checked.add(state)


@pytest.mark.parametrize("verb", ["seal", "predict"])
def test_ctrl_c_at_any_point_leaves_nothing_half_written(stage, verb):
    for which in range(VERBS[verb].points):
        folder = stage(verb, str(which))
        with watching(raising(KeyboardInterrupt(), which)):
            assert VERBS[verb].again()["exit"] == 130
        assert not drafts(folder)
        check_last_is_whole()


CHILD = """
    import sys, time
    from likely.cli.main import run
    from likely.storage.files import watching

    def wait(point, path):
        if point == "appended":
            print("here", flush=True)
            time.sleep(600)

    with watching(wait):
        run([*sys.argv[1].split(), "--json"])
"""


@pytest.mark.long
def test_a_second_search_in_a_folder_is_told_who_is_there_until_that_one_is_killed(stage):
    stage("tune")
    command = [sys.executable, "-c", textwrap.dedent(CHILD), VERBS["tune"].words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "here\n"
            held = contents(Path("mine"))
            said = VERBS["tune"].again()
            assert contents(Path("mine")) == held
        finally:
            process.kill()
    assert said["exit"] == 2
    assert f"mine/study cannot be written (process {process.pid} on " in said["findings"][0]
    assert "Wait until it has ended" in said["findings"][0]
    assert Path("mine/study", HOLDER).exists()
    assert VERBS["tune"].again()["exit"] == 0
    assert not Path("mine/study", HOLDER).exists()


def test_a_search_that_comes_second_leaves_the_folder_of_the_first(stage):
    stage("tune")
    taken = []
    with ExitStack() as held:

        def first(point, path):
            if point == "hold" and not taken:
                taken.append(path)
                held.enter_context(alone_in(path.parent))

        with watching(first):
            said = VERBS["tune"].again()
        assert said["exit"] == 2
        assert "is writing to it" in said["findings"][0]
        assert Path("mine/study", HOLDER).exists()


def test_what_another_killed_run_left_is_swept(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    draft_of(make_folder(Path("runs")) / "001-other").mkdir()
    with new_run("mine", None) as mine:
        assert list(Path("runs").iterdir()) == [mine.draft]


def test_two_runs_at_once_get_two_numbers(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with new_run("slow", None) as slow:
        with new_run("quick", None) as quick:
            assert quick.path.name == "001-quick"
        assert slow.path.name == "001-slow"  # as it would be, if no other came first
    assert (quick.path.name, slow.path.name) == ("001-quick", "002-slow")
    assert sorted(path.name for path in Path("runs").iterdir()) == ["001-quick", "002-slow"]
