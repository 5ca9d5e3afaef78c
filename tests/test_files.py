"""Files are whole or not there, whatever happens while they are written."""

import errno
import os
import subprocess
import sys
import textwrap

import pytest

from likely.errors import CannotWrite
from likely.files import (
    POINTS,
    append_line,
    draft_of,
    folder_made_whole,
    lock,
    remove,
    watching,
    write_atomically,
)


def full_at(which):
    """A disk that is full when a point is reached for the n-th time."""
    seen = []

    def watcher(point, path):
        seen.append(point)
        if len(seen) == which:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    return watcher


def points_of(work):
    seen = []
    with watching(lambda point, path: seen.append(point)):
        work()
    return seen


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_replaced_as_a_whole(tmp_path):
    path = tmp_path / "a"
    write_atomically(path, b"old")
    write_atomically(path, iter([b"n", b"ew"]))
    assert path.read_bytes() == b"new"
    assert names(tmp_path) == ["a"]


def test_a_full_disk_at_any_point_leaves_the_old_file_or_the_new(tmp_path):
    path = tmp_path / "a"
    write_atomically(path, b"old")
    points = points_of(lambda: write_atomically(path, b"old"))
    assert set(points) <= set(POINTS)
    for which, point in enumerate(points, start=1):
        write_atomically(path, b"old")
        said = pytest.raises(CannotWrite, match=r"cannot be written.*Free some space")
        with said, watching(full_at(which)):
            write_atomically(path, b"new")
        assert path.read_bytes() == (b"new" if point == "renamed" else b"old")
        assert names(tmp_path) == ["a"]


def test_an_error_of_writing_is_an_oserror_with_its_number(tmp_path):
    with pytest.raises(OSError, match="Create the folder first") as caught:
        write_atomically(tmp_path / "none" / "a", b"")
    assert caught.value.errno == errno.ENOENT


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission_is_named(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(CannotWrite, match="Change the permissions"):
        write_atomically(tmp_path / "a", b"")
    tmp_path.chmod(0o700)


def test_lines_are_appended_with_a_line_feed(tmp_path):
    append_line(tmp_path / "log", "één")
    append_line(tmp_path / "log", b"two")
    assert (tmp_path / "log").read_text(encoding="utf-8") == "één\ntwo\n"


def test_a_line_that_cannot_be_written_leaves_nothing(tmp_path):
    path = tmp_path / "log"
    append_line(path, "one")
    for which in (1, 2):
        with pytest.raises(CannotWrite), watching(full_at(which)):
            append_line(path, "two")
        assert path.read_bytes() == b"one\n"


def test_a_folder_is_filled_under_another_name(tmp_path):
    with folder_made_whole(tmp_path / "f") as draft:
        (draft / "a").write_text("1")
        assert not (tmp_path / "f").exists()
    assert names(tmp_path) == ["f"]
    assert names(tmp_path / "f") == ["a"]


def test_a_folder_that_failed_is_gone(tmp_path):
    with pytest.raises(KeyError), folder_made_whole(tmp_path / "f") as draft:
        (draft / "a").write_text("1")
        raise KeyError
    assert names(tmp_path) == []


def test_a_folder_is_never_replaced(tmp_path):
    with pytest.raises(CannotWrite, match="another name"), folder_made_whole(tmp_path / "f"):
        (tmp_path / "f").mkdir()
    assert names(tmp_path) == ["f"]


def test_what_a_killed_process_left_is_removed_and_what_a_living_one_fills_is_not(tmp_path):
    abandoned = draft_of(tmp_path / "f")
    abandoned.mkdir()
    with folder_made_whole(tmp_path / "f") as living:
        assert not abandoned.exists()
        with pytest.raises(RuntimeError), folder_made_whole(tmp_path / "f"):
            assert living.exists()
            raise RuntimeError


def test_removing_what_is_not_there_is_fine(tmp_path):
    remove(tmp_path / "none")
    (tmp_path / "a").touch()
    remove(tmp_path / "a")
    assert names(tmp_path) == []


CHILD = """
    import sys, time
    from pathlib import Path
    from likely.files import lock
    folder = Path(sys.argv[1])
    for _ in range(40):
        with lock(folder):
            count = int((folder / "count").read_text())
            time.sleep(0.001)
            (folder / "count").write_text(str(count + 1))
"""


def test_processes_under_a_lock_do_not_lose_each_others_work(tmp_path):
    (tmp_path / "count").write_text("0")
    command = [sys.executable, "-c", textwrap.dedent(CHILD), str(tmp_path)]
    children = [subprocess.Popen(command) for _ in range(2)]
    assert [child.wait() for child in children] == [0, 0]
    assert (tmp_path / "count").read_text() == "80"


def test_a_folder_that_is_not_there_cannot_be_locked(tmp_path):
    with pytest.raises(CannotWrite, match="Create the folder"), lock(tmp_path / "none"):
        raise AssertionError
