"""Atomic and durable writing of files, lines and folders; locks.

A file is written under another name, synced and renamed; a line is appended in one write and
synced, or removed again; a folder is filled under another name and renamed.  Each step of
each of these is a *point*.  ``watching`` shows the points to a function, which may raise
(a full disk) or end the process (a power cut), so that tests can simulate every failure.
Everything that this package writes goes through here.

An incomplete file is called ``.NAME.0123456789abcdef.part`` and is locked by the process that
writes it.  Files left by a killed process are not locked, and are removed when the name is used
again.
"""

import errno
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from datetime import UTC, datetime
from hashlib import sha256
from io import BufferedWriter, FileIO
from pathlib import Path
from secrets import token_hex
from typing import Any, BinaryIO, final

from likely.errors import CannotWrite, InUse, LikelyError

DRAFT = ".part"  # the suffix of what is not whole yet
HOLDER = ".in-use"  # says which process is alone in a folder
LONGEST_HOLDER = 200  # bytes
LONGEST_STEM = 200  # bytes of a name, of 255 that most systems allow, that a draft repeats
UNWRITABLE = (errno.EACCES, errno.EPERM, errno.EROFS)
MOST_LINKS = 40  # as many as Linux follows
DEVICES = Path("/dev")
DESCRIPTOR = re.compile(r"/dev/(stdout|stderr)|/(?:dev|proc/self)/fd/([0-9]+)")
STANDARD = {"stdout": 1, "stderr": 2}
POINTS = ("make", "write", "sync", "rename", "renamed", "append", "appended", "remove", "hold")

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
    """Write all of the content under the name, or leave the old content."""
    with file_made_whole(path) as file:
        for piece in [content] if isinstance(content, bytes) else content:
            file.write(piece)


@contextmanager
def file_made_whole(path: Path) -> Iterator[BinaryIO]:
    """A file to write under another name; synced and renamed at the end, removed on an error.

    A link is kept, and the file that it points to is replaced.  A pipe, a device or an open
    descriptor (``/dev/stdout``) cannot be replaced, and is written directly.
    """
    with _saying_why(path):
        path = _end_of_links(path)
        raw = _WatchedFile.straight_to(path) if _is_stream(path) else _WatchedFile.draft_for(path)
    with BufferedWriter(raw) as file:
        try:
            yield file
            file.flush()
            raw.rename_into_place()
        except BaseException as error:
            raw.failure = error  # what is left in buffers is not written
            raw.discard()
            raise
    with _saying_why(path):
        raw.make_durable()


def append_line(path: Path, line: str | bytes) -> None:
    """The line and a line feed at the end of the file, on disk when this returns.

    If the line cannot be written completely, nothing is written.
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
    """A lock that one process and thread can hold: others wait.  A killed process releases it."""
    descriptor = _open_to_lock(folder)
    try:
        with _saying_why(folder):
            _flock(descriptor, wait=True)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """A lock that only one process and thread can hold: others are refused, with its name.

    A killed process releases it.  A read-only folder needs no lock.
    """
    path = folder / HOLDER
    descriptor = None
    with _saying_why(folder):
        try:
            descriptor = _locked_holder(path)
        except OSError as error:
            if error.errno not in UNWRITABLE:
                raise
    try:
        yield
    finally:
        if descriptor is not None:
            with suppress(OSError):
                path.unlink()  # before the lock goes, or it could be another's
            os.close(descriptor)


@contextmanager
def folder_made_whole(
    path: Path, *, final_path: Callable[[], Path] | None = None
) -> Iterator[Path]:
    """A folder to fill under another name; renamed at the end, removed on an error.

    ``final_path`` gives the final name, while no other process can use it.
    """
    draft = draft_of(path)
    with ExitStack() as held:
        with lock(path.parent):  # a draft is locked before another process can see it
            sweep(path.parent, path.name)
            with _saying_why(path):
                _point("make", path)
                draft.mkdir()
            held.enter_context(lock(draft))
        try:
            yield draft
            with lock(path.parent), _saying_why(path):
                _rename_folder(draft, path if final_path is None else final_path())
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            raise


def make_folder(path: Path) -> Path:
    """Create the folder, if it does not exist, and its parents."""
    with _saying_why(path):
        if not path.is_dir():
            _point("make", path)
            path.mkdir(parents=True, exist_ok=True)
    return path


def sweep(folder: Path, name: str | None = None) -> None:
    """Remove drafts that no running process is writing: of one name, or all."""
    of_name = ".+" if name is None else re.escape(_stem_of_draft(name))
    pattern = re.compile(rf"\.{of_name}\.[0-9a-f]{{16}}{re.escape(DRAFT)}")
    for draft in folder.iterdir() if folder.is_dir() else ():
        if pattern.fullmatch(draft.name):
            with suppress(OSError, LikelyError):
                _remove_abandoned(draft)


def remove(path: Path) -> None:
    """Remove the file, if it exists."""
    with _saying_why(path):
        _point("remove", path)
        path.unlink(missing_ok=True)


def draft_of(path: Path) -> Path:
    """A hidden name in the folder of ``path`` that is not in use."""
    return path.with_name(f".{_stem_of_draft(path.name)}.{token_hex(8)}{DRAFT}")


def _stem_of_draft(name: str) -> str:
    """The name, or for a long one a hash: a draft's name must not be too long either."""
    content = os.fsencode(name)
    return name if len(content) <= LONGEST_STEM else f"long-{sha256(content).hexdigest()[:32]}"


def sync_folder(folder: Path) -> None:
    """Make a renaming durable in case of a power cut, where folders can be synced."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@final
class _WatchedFile(FileIO):
    """A file of which each write is a point; after a failure nothing more is written."""

    def __init__(self, place: Path | int, path: Path, mode: str) -> None:
        super().__init__(place, mode)
        self._draft = None if isinstance(place, int) or place == path else place
        self._path = path
        self.failure: BaseException | None = None

    @classmethod
    def straight_to(cls, path: Path) -> "_WatchedFile":
        """Write to an open descriptor at its position; opening by name would truncate it."""
        descriptor = _descriptor(path)
        return cls(path if descriptor is None else os.dup(descriptor), path, "wb")

    @classmethod
    def draft_for(cls, path: Path) -> "_WatchedFile":
        """A locked draft in the same folder; abandoned drafts are removed."""
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        sweep(path.parent, path.name)
        while True:
            draft = draft_of(path)
            file = cls(draft, path, "xb")
            with suppress(OSError, LikelyError):  # without locks nothing is swept
                _flock(file.fileno(), wait=True)
            if _is_at(file.fileno(), draft):  # else it was swept before it was locked
                return file
            file.close()

    def write(self, content: Any) -> int:
        if self.failure is not None:
            return memoryview(content).nbytes  # as if: the file will not be kept
        try:
            with _saying_why(self._path):
                _point("write", self._path)
                return super().write(content)
        except BaseException as error:
            self.failure = error
            raise

    def rename_into_place(self) -> None:
        """Rename the complete draft to its final name."""
        if self.failure is not None:
            raise self.failure
        if self._draft is None:
            return
        with _saying_why(self._path):
            _point("sync", self._path)
            os.fsync(self.fileno())
            if os.name != "posix":
                self.close()  # elsewhere an open file cannot be renamed
            _point("rename", self._path)
            os.replace(self._draft, self._path)

    def discard(self) -> None:
        if self._draft is not None:
            with suppress(OSError):
                self._draft.unlink()

    def make_durable(self) -> None:
        """Sync the folder, so that the new name outlasts a power cut."""
        if self._draft is not None:
            _point("renamed", self._path)
            sync_folder(self._path.parent)


def _rename_folder(draft: Path, path: Path) -> None:
    sync_folder(draft)
    _point("rename", path)
    if path.exists():  # os.rename would replace an empty folder
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
    os.rename(draft, path)
    _point("renamed", path)
    sync_folder(path.parent)


def _remove_abandoned(draft: Path) -> None:
    descriptor = os.open(draft, os.O_RDONLY)
    try:
        _flock(descriptor, wait=False)
        if draft.is_dir():
            shutil.rmtree(draft)
        else:
            draft.unlink()
    finally:
        os.close(descriptor)


def _locked_holder(path: Path) -> int:
    """The locked file that names the process."""
    from socket import gethostname

    while True:
        _point("hold", path)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            _flock(descriptor, wait=False)
            if _is_at(descriptor, path):  # else the one before has just gone
                now = datetime.now(UTC).astimezone()
                who = f"process {os.getpid()} on {gethostname()}, since {now:%Y-%m-%d %H:%M}"
                os.ftruncate(descriptor, 0)
                os.write(descriptor, who.encode()[:LONGEST_HOLDER])
                return descriptor
        except BlockingIOError:
            who = os.pread(descriptor, LONGEST_HOLDER, 0).decode(errors="replace")
            os.close(descriptor)
            raise InUse(path.parent, who) from None
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _is_at(descriptor: int, path: Path) -> bool:
    """Whether the open file is the one of that name."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False


def _end_of_links(path: Path) -> Path:
    """The file that a link points to, which need not exist; an open descriptor is not followed."""
    for _ in range(MOST_LINKS):
        if _descriptor(path) is not None or not path.is_symlink():
            return path
        path = path.parent / os.readlink(path)
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))


def _descriptor(path: Path) -> int | None:
    """The number of the open file that a name such as ``/dev/stdout`` refers to."""
    found = DESCRIPTOR.fullmatch(str(path))
    return None if found is None else STANDARD.get(found[1]) or int(found[2])


def _is_stream(path: Path) -> bool:
    if _descriptor(path) is not None or path.parent == DEVICES:
        return True
    return path.exists() and not path.is_file() and not path.is_dir()


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
            "This system has no POSIX file locks, which prevent two processes from writing at "
            "once. Use Linux, macOS or the Windows Subsystem for Linux."
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
