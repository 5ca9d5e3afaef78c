"""A kill, or a full disk, at every write and rename of ``seal`` and ``final``.

A kill is told by its picture: the folder is copied at each point, as a power cut there would
leave it, and the next command is run on the copy.  That the picture is true is shown by
processes that really end.
"""

import errno
import os
import shutil
import subprocess
import sys
import textwrap

import pytest

import likely
from likely.errors import CannotWrite, HonestyRefusal, InvalidInput
from likely.files import watching
from tests.sealing.conftest import some_table


def pictures(folder, place, work):
    """Copies of the folder, one per point of the work."""
    found = []

    def picture(point, path):
        found.append(place / f"{len(found):02}-{point}-{path.name}")
        shutil.copytree(folder, found[-1])

    with watching(picture):
        work()
    return found


def full_disk_at(which):
    count = iter(range(10**6))

    def watcher(point, path):
        if next(count) == which:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    return watcher


def n_points(work):
    seen = []
    with watching(lambda point, path: seen.append(point)):
        work()
    return len(seen)


def drafts(folder):
    return [path.name for path in folder.rglob("*.part")]


@pytest.fixture
def work(tmp_path):
    """An empty folder to work in."""
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def test_a_kill_at_any_point_of_seal_is_followed_by_a_whole_seal(table, work, tmp_path):
    states = pictures(work, tmp_path / "states", lambda: likely.seal(table, "y", folder=work))
    assert len(states) > 25
    for state in states:
        if (state / "data.seal").exists():
            sealed = likely.open_seal(state / "data.seal")
        else:
            sealed = likely.seal(table, "y", folder=state)
        assert sealed.verify().sound, state.name
        assert sealed.final(likely.NaiveBayes()).look == 1
        assert not drafts(state), state.name


def test_a_kill_while_labels_go_into_escrow_says_what_to_do(table, work, tmp_path):
    def seal_in(folder):
        return likely.seal(table, "y", folder=folder, escrow=folder / "kept.bin")

    for state in pictures(work, tmp_path / "states", lambda: seal_in(work)):
        if (state / "data.seal").exists():
            assert (state / "kept.bin").exists()
            continue
        if (state / "kept.bin").exists():
            with pytest.raises(InvalidInput, match=r"exists already.*delete this one only if"):
                seal_in(state)
            (state / "kept.bin").unlink()
        assert seal_in(state).final(likely.NaiveBayes(), escrow=state / "kept.bin").look == 1


def test_a_kill_at_any_point_of_final_costs_no_other_look(table, work, tmp_path):
    sealed = likely.seal(table, "y", folder=work)
    score = []
    states = pictures(
        work, tmp_path / "states", lambda: score.append(sealed.final(likely.NaiveBayes()))
    )
    assert len(states) > 20
    for state in states:
        after = likely.open_seal(state / "data.seal")
        assert after.verify().sound, state.name
        found = after.final(likely.NaiveBayes())
        assert (found.look, found.value) == (1, score[0].value), state.name
        events = [entry["event"] for entry in after.ledger()]
        assert events == ["sealed", "commit", "score"], state.name
        assert after.verify().sound
        assert not drafts(state), state.name


def test_after_a_kill_another_model_gets_the_look_or_is_refused(table, work, tmp_path):
    sealed = likely.seal(table, "y", folder=work)
    states = pictures(work, tmp_path / "states", lambda: sealed.final(likely.NaiveBayes()))
    outcomes = set()
    for state in states:
        after = likely.open_seal(state / "data.seal")
        committed = after.looks
        try:
            found = after.final(likely.NaiveBayes(smoothing=7.0))
            assert (found.look, committed) == (1, 0), state.name
            outcomes.add("look")
        except HonestyRefusal:
            assert committed == 1, state.name
            assert [e["event"] for e in after.ledger()][1:] == ["commit", "score", "refused"]
            outcomes.add("refused")
        assert after.looks == 1
        assert after.verify().sound
    assert outcomes == {"look", "refused"}


def test_a_kill_at_any_point_of_another_look_keeps_its_reason(table, work, tmp_path):
    sealed = likely.seal(table, "y", folder=work)
    sealed.final(likely.NaiveBayes())

    def again(seal):
        return seal.final(likely.NaiveBayes(smoothing=7.0), again="a second opinion")

    for state in pictures(work, tmp_path / "states", lambda: again(sealed)):
        after = likely.open_seal(state / "data.seal")
        assert again(after).look == 2, state.name
        events = [entry["event"] for entry in after.ledger()]
        assert events.count("commit") == events.count("score") == 2, state.name
        assert "again" in events[: len(events) - events[::-1].index("commit")]
        assert after.verify().sound


def test_a_full_disk_at_any_point_of_seal_leaves_nothing_or_a_whole_seal(table, tmp_path):
    trial = tmp_path / "trial"
    trial.mkdir()
    for which in range(n_points(lambda: likely.seal(table, "y", folder=trial))):
        folder = tmp_path / str(which)
        folder.mkdir()
        escrow = folder / "kept.bin"
        with pytest.raises(CannotWrite, match="Free some space"), watching(full_disk_at(which)):
            likely.seal(table, "y", folder=folder, escrow=escrow)
        if (folder / "data.seal").exists():
            sealed = likely.open_seal(folder / "data.seal")
        else:
            assert not list(folder.iterdir())
            sealed = likely.seal(table, "y", folder=folder, escrow=escrow)
        assert sealed.final(likely.NaiveBayes(), escrow=escrow).look == 1


def test_a_full_disk_at_any_point_of_final_costs_no_other_look(table, tmp_path):
    trial = likely.seal(table, "y", name="trial", folder=tmp_path)
    points = n_points(lambda: trial.final(likely.NaiveBayes()))
    for which in range(points):
        sealed = likely.seal(table, "y", name=str(which), folder=tmp_path)
        with pytest.raises(CannotWrite, match="Free some space"), watching(full_disk_at(which)):
            sealed.final(likely.NaiveBayes())
        assert sealed.verify().sound
        assert sealed.final(likely.NaiveBayes()).look == 1
        assert [entry["event"] for entry in sealed.ledger()] == ["sealed", "commit", "score"]


CHILD = """
    import os, sys
    import likely
    from likely.files import watching
    from tests.sealing.conftest import some_table

    verb, folder, point, name = sys.argv[1:]

    def killed(at, path):
        if (at, path.name) == (point, name):
            os._exit(9)

    with watching(killed):
        if verb == "seal":
            likely.seal(some_table(), "y", folder=folder)
        else:
            likely.open_seal(folder + "/data.seal").final(likely.NaiveBayes())
"""


@pytest.mark.parametrize(
    ("verb", "point", "name"),
    [
        ("seal", "sync", "manifest.json"),
        ("seal", "rename", "data.seal"),
        ("seal", "renamed", "data.seal"),
        ("final", "rename", "head.json"),
        ("final", "appended", "ledger.jsonl"),
        ("final", "remove", "committed.npz"),
    ],
)
def test_a_process_that_ends_there_leaves_the_same(verb, point, name, work):
    if verb == "final":
        likely.seal(some_table(), "y", folder=work)
    command = [sys.executable, "-c", textwrap.dedent(CHILD), verb, str(work), point, name]
    assert subprocess.run(command, check=False).returncode == 9
    if not (work / "data.seal").exists():
        assert drafts(work), "what was being made"
        likely.seal(some_table(), "y", folder=work)
    sealed = likely.open_seal(work / "data.seal")
    assert sealed.final(likely.NaiveBayes()).look == 1
    assert [entry["event"] for entry in sealed.ledger()] == ["sealed", "commit", "score"]
    assert not drafts(work)
