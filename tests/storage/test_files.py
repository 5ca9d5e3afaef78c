"""Files are whole or not there, whatever happens while they are written."""

import ast
import errno
import os
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow.parquet import ParquetWriter, read_table

import likely
from likely.errors import CannotWrite, InUse, LikelyError
from likely.storage.files import (
    HOLDER,
    POINTS,
    alone_in,
    append_line,
    draft_of,
    file_made_whole,
    folder_made_whole,
    lock,
    make_folder,
    remove,
    sweep,
    watching,
    write_atomically,
)
from tests.accidents import full_disk_at, points_of, raising


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
    points = [point for point, _ in points_of(lambda: write_atomically(path, b"old"))]
    assert points == ["write", "sync", "rename", "renamed"]
    for which, point in enumerate(points):
        write_atomically(path, b"old")
        said = pytest.raises(CannotWrite, match=r"cannot be written.*Free some space")
        with said, watching(full_disk_at(which)):
            write_atomically(path, b"new")
        assert path.read_bytes() == (b"new" if point == "renamed" else b"old")
        assert names(tmp_path) == ["a"]


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "full"), KeyboardInterrupt()])
def test_a_stream_of_chunks_is_whole_or_not_there(tmp_path, error):
    def stream():
        with file_made_whole(tmp_path / "t.parquet") as file:
            writer = ParquetWriter(file, pa.schema({"x": pa.float64()}))
            try:
                for _ in range(3):
                    writer.write_table(pa.table({"x": [0.25] * 20_000}))
            finally:
                writer.close()

    points = [point for point, _ in points_of(stream)]
    assert set(points) <= set(POINTS)
    assert read_table(tmp_path / "t.parquet").num_rows == 60_000
    for which in range(len(points)):
        (tmp_path / "t.parquet").write_bytes(b"old")
        wanted = KeyboardInterrupt if isinstance(error, KeyboardInterrupt) else CannotWrite
        with pytest.raises(wanted), watching(raising(error, which)):
            stream()
        assert names(tmp_path) == ["t.parquet"]
        if points[which] != "renamed":
            assert (tmp_path / "t.parquet").read_bytes() == b"old"


def test_a_failed_write_is_not_forgotten_by_one_who_goes_on(tmp_path):
    with (
        pytest.raises(CannotWrite, match="Free some space"),
        watching(full_disk_at(0)),
        file_made_whole(tmp_path / "a") as file,
    ):
        try:
            file.write(b"1")
            file.flush()
        except CannotWrite:
            pass
        file.write(b"2")
    assert names(tmp_path) == []


def test_an_error_of_the_one_who_writes_keeps_its_name(tmp_path):
    with pytest.raises(FileNotFoundError), file_made_whole(tmp_path / "a"):
        (tmp_path / "rows.csv").read_text()
    assert names(tmp_path) == []


def test_a_pipe_is_written_as_it_comes(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    read = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    write_atomically(tmp_path / "pipe", b"new")
    reader.join()
    assert read == [b"new"]
    assert (tmp_path / "pipe").is_fifo()


def test_a_link_stays_and_the_file_at_its_end_is_replaced(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a").write_bytes(b"old")
    (tmp_path / "near").symlink_to("data/a")
    (tmp_path / "far").symlink_to("near")
    write_atomically(tmp_path / "far", b"new")
    assert (tmp_path / "data" / "a").read_bytes() == b"new"
    assert (tmp_path / "near").is_symlink()
    assert (tmp_path / "far").is_symlink()
    assert names(tmp_path / "data") == ["a"]


def test_a_link_to_nothing_makes_the_file_it_names(tmp_path):
    (tmp_path / "link").symlink_to("a")
    write_atomically(tmp_path / "link", b"new")
    assert (tmp_path / "a").read_bytes() == b"new"
    assert (tmp_path / "link").is_symlink()


def test_links_in_a_circle_are_refused(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(CannotWrite, match="symbolic links"):
        write_atomically(tmp_path / "a", b"new")
    assert names(tmp_path) == ["a", "b"]


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "linked"])
def test_the_standard_output_is_written_where_it_is(tmp_path, name):
    """What was written to it before and after, with >>, keeps its place."""
    (tmp_path / "linked").symlink_to("/dev/stdout")
    (tmp_path / "out").write_bytes(b"0")
    code = f"""
        import os, pathlib, likely.storage.files
        os.write(1, b"1")
        likely.storage.files.write_atomically(pathlib.Path({name!r}), b"2")
        os.write(1, b"3")
    """
    with (tmp_path / "out").open("ab") as out:
        out_before = os.fstat(out.fileno()).st_ino
        command = [sys.executable, "-c", textwrap.dedent(code)]
        subprocess.run(command, stdout=out, cwd=tmp_path, check=True)
    assert (tmp_path / "out").read_bytes() == b"0123"
    assert (tmp_path / "out").stat().st_ino == out_before
    assert names(tmp_path) == ["linked", "out"]


def test_a_folder_is_no_place_for_the_content_of_a_file(tmp_path):
    with pytest.raises(CannotWrite, match="Is a directory"), file_made_whole(tmp_path):
        raise AssertionError


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
    for which in (0, 1):
        with pytest.raises(CannotWrite), watching(full_disk_at(which)):
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


def test_the_name_of_a_folder_may_be_settled_at_the_end(tmp_path):
    with folder_made_whole(tmp_path / "f1", final_path=lambda: tmp_path / "f2"):
        pass
    assert names(tmp_path) == ["f2"]


def test_a_draft_is_swept_when_nobody_fills_it(tmp_path):
    path = tmp_path / "a[1].csv"
    for other in (path, tmp_path / "b"):
        draft_of(other).write_bytes(b"ha")
    (tmp_path / ".a[1].csv.mine.part").touch()  # not a name that we give
    with file_made_whole(path):
        left = names(tmp_path)
        assert len(left) == 3
        sweep(tmp_path, path.name)
        assert names(tmp_path) == left, "the one that is being filled"
    sweep(tmp_path)
    assert names(tmp_path) == [".a[1].csv.mine.part", "a[1].csv"]


def test_a_draft_that_is_swept_before_it_is_locked_is_made_again(tmp_path, monkeypatch):
    plain, swept = likely.storage.files._flock, []

    def late(descriptor, *, wait):
        if wait and not swept:
            swept.append(names(tmp_path))
            sweep(tmp_path)
        plain(descriptor, wait=wait)

    monkeypatch.setattr(likely.storage.files, "_flock", late)
    write_atomically(tmp_path / "a", b"1")
    assert len(swept[0]) == 1
    assert names(tmp_path) == ["a"]


def test_without_locks_files_are_written_and_nothing_is_swept(tmp_path, monkeypatch):
    def no_locks(descriptor, *, wait):
        raise LikelyError("This system has no file locks.")

    monkeypatch.setattr(likely.storage.files, "_flock", no_locks)
    draft = draft_of(tmp_path / "a")
    draft.touch()
    write_atomically(tmp_path / "a", b"1")
    assert names(tmp_path) == [draft.name, "a"]


def test_folders_are_made_with_those_they_are_in(tmp_path):
    seen = points_of(lambda: make_folder(make_folder(tmp_path / "a" / "b")))
    assert seen == [("make", "b")]
    (tmp_path / "file").touch()
    with pytest.raises(CannotWrite, match="Not a directory"):
        make_folder(tmp_path / "file" / "a")


def test_one_at_a_time_is_alone_and_the_other_is_told_who_is_there(tmp_path):
    with alone_in(tmp_path):
        told = rf"\(process {os.getpid()} on .*, since 2.* is writing to it\). Wait until"
        with pytest.raises(InUse, match=told), alone_in(tmp_path):
            raise AssertionError
        assert names(tmp_path) == [HOLDER]
    assert names(tmp_path) == []
    (tmp_path / HOLDER).write_text("process 1 on another, which was killed")
    with alone_in(tmp_path):
        assert f"process {os.getpid()}" in (tmp_path / HOLDER).read_text()


def test_a_full_disk_keeps_nobody_out_of_a_folder(tmp_path):
    full = watching(full_disk_at(0))
    with pytest.raises(CannotWrite, match="Free some space"), full, alone_in(tmp_path):
        raise AssertionError
    with alone_in(tmp_path):
        pass


def test_in_a_folder_that_nobody_can_write_to_all_may_be(tmp_path):
    denied = raising(PermissionError(errno.EACCES, os.strerror(errno.EACCES)), 0)
    with watching(denied), alone_in(tmp_path):
        assert names(tmp_path) == []


def test_removing_what_is_not_there_is_fine(tmp_path):
    remove(tmp_path / "none")
    (tmp_path / "a").touch()
    remove(tmp_path / "a")
    assert names(tmp_path) == []


CHILD = """
    import sys, time
    from pathlib import Path
    from likely.storage.files import lock
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


MAKERS = ("write_text", "write_bytes", "touch", "mkdir", "makedirs", "rename", "symlink_to")
OF_OS = ("os.replace", "os.open", "os.symlink", "os.link", "shutil.copyfile", "shutil.copytree")
TEMPORARY = ("NamedTemporaryFile", "TemporaryDirectory", "mkdtemp", "mkstemp", "TemporaryFile")
KNOWN = {  # nothing that anyone would want to keep after a kill
    ("data/formats/text_files.py", "NamedTemporaryFile"): "the standard input, to be read twice",
    ("cli/demo.py", "mkdtemp"): "an empty folder",
    ("cli/main.py", "NamedTemporaryFile"): "a traceback",
    ("cli/streams.py", "os.open"): "the null device",
}


def writes_in(tree):
    """Names of calls that make or change files."""
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        name = ast.unparse(call.func)
        last = name.rpartition(".")[2]
        if last in TEMPORARY or last in MAKERS or name in OF_OS:
            yield last if last in TEMPORARY else name
        modes = [*call.args[:2], *(word.value for word in call.keywords if word.arg == "mode")]
        said = [mode.value for mode in modes if isinstance(mode, ast.Constant)]
        if last == "open" and any(set(str(mode)) <= set("wax+bt") for mode in said):
            yield name


@pytest.mark.long
def test_nothing_else_in_the_package_writes_files():
    package = Path(likely.__file__).parent
    found = {
        (path.relative_to(package).as_posix(), name)
        for path in package.rglob("*.py")
        if path != package / "storage" / "files.py"
        for name in writes_in(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert found == set(KNOWN)
    assert set(writes_in(ast.parse("open(a, 'w'); b.open('xb'); open(c, mode='r+b')"))) == {
        "open",
        "b.open",
    }
