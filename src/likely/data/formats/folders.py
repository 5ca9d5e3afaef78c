"""A folder of texts with a folder for each class, whose name is the label.

    reviews/good/1.txt, reviews/good/2.txt, reviews/bad/7.txt   →   text, label

Files are read as UTF-8, in the order of their names; folders within the folder of a class are read
too.  Files whose names begin with a dot, and files that are in no folder of a class, are ignored.
So are links to files outside the folder, with a warning: an archive must not read other files.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, final

from likely.data.arrow import digest_of_file
from likely.data.formats.text_files import NO_TEXT, encoding_of, not_utf_8
from likely.data.source import Source, column_indices
from likely.errors import InvalidFile, LinksOutside, warn_user
from likely.kinds import ColumnKind

if TYPE_CHECKING:
    import pyarrow as pa

TEXT, LABEL = "text", "label"
BATCH_FILES = 1024


@final
@dataclass(frozen=True, eq=False)
class FolderSource(Source):
    """The texts of a folder, each with the name of its class."""

    path: Path
    files: tuple[tuple[Path, str], ...]  # each file with its label
    nbytes: int
    names: tuple[str, ...] = (TEXT, LABEL)

    @property
    def kinds(self) -> tuple[ColumnKind, ...]:  # type: ignore[override]  # read-only here
        category: ColumnKind = "category"
        return (category,) * len(self.names)

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        return len(self.files)

    def __iter__(self) -> "Iterator[pa.RecordBatch]":
        import pyarrow as pa

        for start in range(0, len(self.files), BATCH_FILES):
            some = self.files[start : start + BATCH_FILES]
            arrays = [
                pa.array([_content(path) if name == TEXT else label for path, label in some])
                for name in self.names
            ]
            yield pa.record_batch(arrays, names=list(self.names))

    def select(self, names: Sequence[str]) -> "FolderSource":
        column_indices(self.names, names)
        return replace(self, names=tuple(names))

    def digest(self) -> str:
        """SHA-256 of the names and the contents of all files."""
        whole = sha256()
        for path, _ in self.files:
            name = path.relative_to(self.path).as_posix()
            whole.update(f"{name}\0{digest_of_file(path)}\n".encode())
        return whole.hexdigest()


def open_folder_of_texts(path: Path) -> FolderSource:
    """The files of a folder; one without a folder of texts is refused."""
    folders = sorted(
        each for each in path.iterdir() if each.is_dir() and not each.name.startswith(".")
    )
    found = [(file, folder.name) for folder in folders for file in _files_in(folder)]
    files = tuple(each for each in found if each[0].resolve().is_relative_to(path.resolve()))
    if len(files) < len(found):
        outside = sorted({file for file, _ in found} - {file for file, _ in files})
        links = (
            f"{len(outside):,} links to files outside the folder, such as "
            f"{outside[0].relative_to(path)}, are not read. Copy the files if they belong to it."
        )
        if not files:
            raise InvalidFile(path, links)
        warn_user(f"{path}: {links}", LinksOutside)
    if not files:
        raise InvalidFile(
            path,
            "is a folder; a file was expected, or a folder that has a folder of texts for each "
            "class. Name one of the files in it.",
        )
    return FolderSource(path, files, sum(file.stat().st_size for file, _ in files))


def _files_in(folder: Path) -> list[Path]:
    """All files below a folder, by name."""
    found = []
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found += [Path(root, name) for name in sorted(files) if not name.startswith(".")]
    return sorted((path for path in found if path.is_file()), key=lambda path: path.as_posix())


def _content(path: Path) -> str:
    """The text of a file; one that is not UTF-8 is refused."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InvalidFile(path, f"it cannot be read ({error.strerror}). Check it.") from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        _refuse_no_text(path, data)
        line = data[: error.start].count(b"\n") + 1
        raise not_utf_8(path, data[error.start], encoding_of([data]), line) from None


def _refuse_no_text(path: Path, data: bytes) -> None:
    """Refuse a file that is another thing than text, by its first bytes."""
    known = [what for start, what, _ in NO_TEXT if data.startswith(start)]
    if known or b"\0" in data:
        what = known[0] if known else "binary"
        raise InvalidFile(
            path,
            f"the file is {what}; text in UTF-8 was expected. Convert it, or begin its name with "
            "a dot, so that it is ignored.",
        ) from None
