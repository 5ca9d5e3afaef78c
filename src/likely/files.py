"""Files that are whole or not there: atomic writing, lines that last, locks.

A file is written under another name, synced and renamed; a line is appended in one write and
synced, or taken off again; a folder is filled under another name and renamed.  Each step of
each of these is a *point*.  ``watching`` shows the points to a function, which may raise
(a full disk) or end the process (a power cut), so that tests can have every accident there is.
"""

import errno
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from secrets import token_hex

from likely.errors import CannotWrite, LikelyError

DRAFT = ".part"  # the suffix of what is not whole yet
POINTS = ("make", "write", "sync", "rename", "renamed", "append", "appended", "remove")

_watcher: ContextVar[Callable[[str, Path], None] | None] = ContextVar("watcher", default=None)


@contextmanager
def watching(watcher: Callable[[str, Path], None]) -> Iterator[None]:
    """Call ``watcher`` with the name of each point, one of ``POINTS``, and the file it is about."""
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


def write_atomically(path: Path, content: bytes | Iterable[bytes]) -> None:
    """All of the content under the name, or what was there before."""
    draft = draft_of(path)
    with _saying_why(path):
        try:
            _write_and_sync(draft, path, [content] if isinstance(content, bytes) else content)
            _point("rename", path)
            os.replace(draft, path)
        except BaseException:
            with suppress(OSError):
                draft.unlink()
            raise
        _point("renamed", path)
        sync_folder(path.parent)


def append_line(path: Path, line: str | bytes) -> None:
    """The line and a line feed at the end of the file, on disk when this returns.

    Where not all of it can be written, none of it stays.
    """
    content = (line.encode() if isinstance(line, str) else line) + b"\n"
    with _saying_why(path):
        _point("append", path)
        is_new = not path.exists()
        with open(path, "ab", buffering=0) as file:
            size = os.fstat(file.fileno()).st_size
            try:
                if file.write(content) != len(content):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                _point("appended", path)
                os.fsync(file.fileno())
            except BaseException:
                file.truncate(size)
                raise
        if is_new:
            sync_folder(path.parent)


@contextmanager
def lock(folder: Path) -> Iterator[None]:
    """The only process, and thread, in the block: others wait.  A killed process lets go."""
    descriptor = _open_to_lock(folder)
    try:
        _flock(descriptor, wait=True)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def folder_made_whole(path: Path) -> Iterator[Path]:
    """A folder to fill under another name; renamed at the end, removed on an error.

    What a killed process left of an earlier attempt is removed first.
    """
    draft = draft_of(path)
    with ExitStack() as held:
        with lock(path.parent):  # a draft is locked before another process can see it
            _remove_abandoned(path)
            with _saying_why(path):
                _point("make", path)
                draft.mkdir()
            held.enter_context(lock(draft))
        try:
            yield draft
            with _saying_why(path):
                _rename_folder(draft, path)
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            raise


def remove(path: Path) -> None:
    """The file is gone; it need not have been there."""
    with _saying_why(path):
        _point("remove", path)
        path.unlink(missing_ok=True)


def draft_of(path: Path) -> Path:
    """A name beside ``path``, hidden and not in use."""
    return path.with_name(f".{path.name}.{token_hex(8)}{DRAFT}")


def sync_folder(folder: Path) -> None:
    """Make a renaming last through a power cut, where folders can be synced."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write_and_sync(draft: Path, path: Path, pieces: Iterable[bytes]) -> None:
    with open(draft, "xb") as file:
        for piece in pieces:
            _point("write", path)
            file.write(piece)
        file.flush()
        _point("sync", path)
        os.fsync(file.fileno())


def _rename_folder(draft: Path, path: Path) -> None:
    sync_folder(draft)
    _point("rename", path)
    if path.exists():  # os.rename would replace an empty folder
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
    os.rename(draft, path)
    _point("renamed", path)
    sync_folder(path.parent)


def _remove_abandoned(path: Path) -> None:
    """Drafts that no living process has locked."""
    for draft in path.parent.glob(f".{path.name}.*{DRAFT}"):
        with suppress(OSError):
            descriptor = _open_to_lock(draft)
            try:
                _flock(descriptor, wait=False)
                shutil.rmtree(draft)
            finally:
                os.close(descriptor)


def _open_to_lock(folder: Path) -> int:
    try:
        return os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise CannotWrite(folder, error) from None


def _flock(descriptor: int, *, wait: bool) -> None:
    try:
        from fcntl import LOCK_EX, LOCK_NB, flock
    except ImportError:
        raise LikelyError(
            "This system has no file locks of the POSIX kind, which keep two processes apart. "
            "Use Linux, macOS or the Windows Subsystem for Linux."
        ) from None
    flock(descriptor, LOCK_EX if wait else LOCK_EX | LOCK_NB)


@contextmanager
def _saying_why(path: Path) -> Iterator[None]:
    try:
        yield
    except CannotWrite:
        raise
    except OSError as error:
        raise CannotWrite(path, error) from None


def _point(name: str, path: Path) -> None:
    watcher = _watcher.get()
    if watcher is not None:
        watcher(name, path)
