"""A kill at every write of ``train``, ``tune`` and ``final``: the next command can go on.

The folder is copied at each point, as a power cut there would leave it.
"""

import json
import shutil
from pathlib import Path

from likely.cli.runs import place_for_run
from likely.files import watching


def pictures(folder, place, work):
    """Copies of the folder, one per point of the work."""
    found = []

    def picture(point, path):
        found.append(place / f"{len(found):02}-{point}-{path.name}")
        shutil.copytree(folder, found[-1])

    with watching(picture):
        work()
    return found


def states_of(likely, monkeypatch, tmp_path, words, before=()):
    """The pictures of one command in a fresh folder, after others."""
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for each in before:
        assert likely(*each.split()).exit == 0
    done = []
    states = pictures(folder, tmp_path / "states", lambda: done.append(likely(*words.split())))
    assert done[0].exit == 0, done[0].err
    return states


def test_a_killed_training_leaves_no_half_run(likely, monkeypatch, tmp_path):
    words = "train iris.seal discriminant"
    states = states_of(likely, monkeypatch, tmp_path, words, ["seal iris"])
    assert len(states) > 8
    for state in states:
        monkeypatch.chdir(state)
        assert likely("explain", "@last").exit == 2, state.name  # nothing, rather than a half
        assert likely(*words.split()).exit == 0, state.name
        assert likely("final", "@last").exit == 0, state.name
        assert [path.name for path in Path("runs").glob("[0-9]*")] == ["001-discriminant"]


def test_a_killed_search_goes_on_where_it_was(likely, monkeypatch, tmp_path):
    words = "tune iris discriminant --trials 2 --jobs 1 -o mine"
    states = states_of(likely, monkeypatch, tmp_path, words)
    assert len(states) > 12
    whole = json.loads((tmp_path / "work/mine/study.json").read_text())
    for state in states:
        monkeypatch.chdir(state)
        if not Path("mine/model.likely").exists():
            assert likely(*words.split()).exit == 0, state.name
        found = json.loads(Path("mine/study.json").read_text())
        assert found["best"] == whole["best"], state.name
        assert likely("explain", "mine").exit == 0, state.name


def test_a_killed_look_costs_no_other(likely, monkeypatch, tmp_path):
    before = ["seal iris", "train iris.seal discriminant"]
    states = states_of(likely, monkeypatch, tmp_path, "final @last", before)
    assert len(states) > 8
    for state in states:
        monkeypatch.chdir(state)
        outcome = likely("final", "@last", "--json").json
        assert outcome["exit"] == 0, state.name
        assert outcome["result"]["look"] == 1, state.name
        assert json.loads(Path("runs/001-discriminant/final.json").read_text())["look"] == 1
        assert likely("ledger", "verify", "iris.seal").exit == 0, state.name


def test_two_runs_at_once_get_two_numbers(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with place_for_run("slow", None) as slow:
        with place_for_run("quick", None) as quick:
            assert quick.path.name == "001-quick"
        assert slow.path.name == "001-slow"  # as it would be, if no other came first
    assert (quick.path.name, slow.path.name) == ("001-quick", "002-slow")
    assert sorted(path.name for path in Path("runs").iterdir()) == ["001-quick", "002-slow"]
