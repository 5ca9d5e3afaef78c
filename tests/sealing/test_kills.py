"""A kill, or a full disk, at every write and rename of ``seal`` and ``final``.

That the pictures of kills are true is shown by a process that is really killed.
"""

import os
import shutil
import subprocess
import sys
import textwrap
from signal import SIGKILL

import pytest

import likely
from likely.errors import CannotWrite, HonestyRefusal, InvalidInput
from likely.storage.files import watching
from tests.accidents import contents, drafts, full_disk_at, pictures, points_of
from tests.sealing.conftest import some_table

POINTS_OF_SEAL, POINTS_OF_FINAL = 29, 25  # a new write is killed here too, once it is counted


@pytest.fixture(autouse=True)
def _quick_disk(monkeypatch):
    """No test here cuts the power, so nothing need reach the platter."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


@pytest.fixture
def work(tmp_path):
    """An empty folder to work in."""
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def test_a_kill_at_any_point_of_seal_is_followed_by_a_whole_seal(table, work, tmp_path):
    states = pictures(work, tmp_path / "states", lambda: likely.seal(table, "y", folder=work))
    assert [state.name[3:] for state in states] == [
        "make-data.seal",
        "write-train.parquet",
        "renamed-data.seal",
    ]
    for state in states:
        if (state / "data.seal").exists():
            sealed = likely.open_seal(state / "data.seal")
        else:
            sealed = likely.seal(table, "y", folder=state)
        assert sealed.verify().sound, state.name
        assert sealed.final(likely.NaiveBayes()).evaluation == 1
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
        assert seal_in(state).final(likely.NaiveBayes(), escrow=state / "kept.bin").evaluation == 1


def test_a_kill_at_any_point_of_final_costs_no_other_look(table, work, tmp_path):
    sealed = likely.seal(table, "y", folder=work)
    score = []
    states = pictures(
        work, tmp_path / "states", lambda: score.append(sealed.final(likely.NaiveBayes()))
    )
    assert len(states) == 14
    for state in states:
        after = likely.open_seal(state / "data.seal")
        assert after.verify().sound, state.name
        found = after.final(likely.NaiveBayes())
        assert (found.evaluation, found.value) == (1, score[0].value), state.name
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
        committed = after.evaluations
        try:
            found = after.final(likely.NaiveBayes(smoothing=7.0))
            assert (found.evaluation, committed) == (1, 0), state.name
            outcomes.add("look")
        except HonestyRefusal:
            assert committed == 1, state.name
            assert [e["event"] for e in after.ledger()][1:] == ["commit", "score", "refused"]
            outcomes.add("refused")
        assert after.evaluations == 1
        assert after.verify().sound
    assert outcomes == {"look", "refused"}


def test_a_kill_at_any_point_of_another_look_keeps_its_reason(table, work, tmp_path):
    sealed = likely.seal(table, "y", folder=work)
    sealed.final(likely.NaiveBayes())

    def again(seal):
        return seal.final(likely.NaiveBayes(smoothing=7.0), again="a second opinion")

    for state in pictures(work, tmp_path / "states", lambda: again(sealed)):
        after = likely.open_seal(state / "data.seal")
        assert again(after).evaluation == 2, state.name
        events = [entry["event"] for entry in after.ledger()]
        assert events.count("commit") == events.count("score") == 2, state.name
        assert "again" in events[: len(events) - events[::-1].index("commit")]
        assert after.verify().sound


@pytest.mark.long
def test_a_full_disk_at_any_point_of_seal_leaves_nothing_or_a_whole_seal(table, tmp_path):
    trial = tmp_path / "trial"
    trial.mkdir()
    points = points_of(lambda: likely.seal(table, "y", folder=trial))
    assert len(points) == POINTS_OF_SEAL
    for which in range(len(points)):
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
        assert sealed.final(likely.NaiveBayes(), escrow=escrow).evaluation == 1


@pytest.mark.long
def test_a_full_disk_at_any_point_of_final_costs_no_other_look(table, tmp_path):
    trial = likely.seal(table, "y", name="trial", folder=tmp_path)
    points = points_of(lambda: trial.final(likely.NaiveBayes()))
    assert len(points) == POINTS_OF_FINAL
    for which in range(len(points)):
        shutil.rmtree(trial.path)  # rows that were evaluated under a seal nearby need a reason
        trial = sealed = likely.seal(table, "y", name=str(which), folder=tmp_path)
        with pytest.raises(CannotWrite, match="Free some space"), watching(full_disk_at(which)):
            sealed.final(likely.NaiveBayes())
        assert sealed.verify().sound
        assert sealed.final(likely.NaiveBayes()).evaluation == 1
        assert [entry["event"] for entry in sealed.ledger()] == ["sealed", "commit", "score"]


CHILD = """
    import os, sys
    from signal import SIGKILL
    import likely
    from likely.storage.files import watching

    def killed(point, path):
        if (point, path.name) == ("appended", "ledger.jsonl"):
            os.kill(os.getpid(), SIGKILL)

    with watching(killed):
        likely.open_seal(sys.argv[1]).final(likely.NaiveBayes())
"""


@pytest.mark.slow
def test_a_process_that_is_killed_leaves_what_its_picture_shows(work, tmp_path):
    sealed = likely.seal(some_table(), "y", folder=work)
    shutil.copytree(work, tmp_path / "other")
    command = [sys.executable, "-c", textwrap.dedent(CHILD), str(sealed.path)]
    assert subprocess.run(command, check=False).returncode == -SIGKILL
    other = likely.open_seal(tmp_path / "other" / "data.seal")
    states = pictures(
        tmp_path / "other", tmp_path / "states", lambda: other.final(likely.NaiveBayes())
    )
    (picture,) = [state for state in states if state.name == "04-appended-ledger.jsonl"]
    assert {path.relative_to(work) for path in contents(work)} == {
        path.relative_to(picture) for path in contents(picture)
    }
    assert sealed.final(likely.NaiveBayes()).evaluation == 1
    assert [entry["event"] for entry in sealed.ledger()] == ["sealed", "commit", "score"]
    assert not drafts(work)
