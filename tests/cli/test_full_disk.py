"""A disk that is full or may not be written: a sentence, and nothing half-written."""

import os
import subprocess
import tempfile

import pytest

from tests.cli.conftest import patients


def told(outcome):
    return " ".join(outcome.err.split())


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 512 KiB of its own."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if os.name != "posix" or os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    mounted = ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(folder)]
    if subprocess.run(mounted, capture_output=True).returncode:
        pytest.skip("this system mounts no tmpfs")
    yield folder
    os.chdir("/")
    subprocess.run(["umount", str(folder)], check=True)


def fill(folder, leaving):
    """Take all space but some pages."""
    page, path = 4096, folder / "filler"
    with open(path, "wb", buffering=0) as file:
        try:
            while file.write(bytes(page)) == page:
                pass
        except OSError:
            pass
    os.truncate(path, max(path.stat().st_size // page - leaving, 0) * page)


def files_in(folder):
    return sorted(str(path) for path in folder.rglob("*"))


@pytest.mark.diagonal(2)
@pytest.mark.parametrize("leaving", [0, 3])
@pytest.mark.long
def test_a_full_disk_leaves_nothing_half_written(likely, small_disk, monkeypatch, leaving):
    monkeypatch.chdir(small_disk)
    (small_disk / "table.csv").write_text(patients(60))
    assert likely("train", "table.csv", "naive-bayes", "--target", "ill", "-o", "run").exit == 0
    fill(small_disk, leaving)
    before = files_in(small_disk)
    for words in (
        "seal table.csv --target ill",
        "train table.csv naive-bayes --target ill",
        "report run",
    ):
        outcome = likely(*words.split())
        assert outcome.exit == 2, told(outcome)
        assert "No space left on device" in told(outcome)
        assert files_in(small_disk) == before
    searched = (
        "tune",
        "table.csv",
        "naive-bayes",
        "--target",
        "ill",
        "--trials",
        "1",
        "-o",
        "tuned",
    )
    outcome = likely(*searched)
    assert (outcome.exit, "No space left" in told(outcome)) == (2, True)
    (small_disk / "filler").unlink()
    assert likely(*searched).exit == 0, "what a search has kept goes on"


def test_a_folder_that_cannot_be_written_is_refused(likely, small_disk, monkeypatch):
    monkeypatch.chdir(small_disk)
    (small_disk / "table.csv").write_text(patients(60))
    again = ["mount", "-o", "remount,ro", str(small_disk)]
    subprocess.run(again, check=True, capture_output=True)
    for words in (
        "seal table.csv --target ill",
        "train table.csv naive-bayes --target ill",
        "tune table.csv naive-bayes --target ill --trials 1",
    ):
        outcome = likely(*words.split())
        assert outcome.exit == 2, told(outcome)
        assert "cannot be written (Read-only file system). Change the permissions" in told(outcome)
    assert likely("look", "table.csv").exit == 0
    outcome = likely("compare", "table.csv", "naive-bayes", "--target", "ill")
    assert outcome.exit == 0, "nothing needs to be written"


def test_a_stream_that_cannot_be_kept_is_refused(likely, small_disk, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(small_disk))
    fill(small_disk, 0)
    outcome = likely("look", "-", stdin=patients(60))
    assert outcome.exit == 2, told(outcome)
    assert "temporary folder cannot be written (No space left on device)" in told(outcome)
    assert files_in(small_disk) == [str(small_disk / "filler")]
