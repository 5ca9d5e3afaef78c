"""The folder of a seal: its files, and how each is written and read.

Labels are masked by a salted keystream: it prevents accidental reading, not a determined person.

    file = magic ‖ salt ‖ (labels ⊕ SHAKE-256(salt ‖ "labels"))

The labels are one column in Arrow's stream format.  The salt is in the file, so anyone who has
the file can read it; to keep labels from people, store the file where they have no access
(``escrow``).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256, shake_256
from io import BytesIO
from pathlib import Path
from secrets import token_bytes
from typing import TYPE_CHECKING, Any, final

import numpy as np

from likely._typing import Array
from likely.caching import cached_property
from likely.errors import BrokenLedger, HonestyRefusal, InvalidInput
from likely.sealing.final_score import Predictions
from likely.sealing.fingerprints import row_fingerprints
from likely.sealing.ledger import ADVICE, MANIFEST, Ledger, LedgerVerdict
from likely.sealing.manifest import Manifest
from likely.storage.files import remove, write_atomically

if TYPE_CHECKING:
    import pyarrow as pa


SUFFIX = ".seal"
TRAIN, FEATURES, LABELS = "train.parquet", "test-features.parquet", "test-labels.bin"
FINGERPRINTS = "fingerprints.bin"  # sorted little-endian 64-bit words
COMMITTED = "committed.npz"  # predictions between commit and score
ROW = "sealed_row"  # the column of keys next to the features of the sealed rows
LEVELS = 2  # a seal is looked for in a folder, in its parent, and in the parent of that
MAGIC = b"likely sealed labels 1\n"
SALT_BYTES = 32


@final
@dataclass(frozen=True)
class SealFolder:
    """A seal on disk."""

    path: Path

    @cached_property
    def manifest(self) -> Manifest:
        return Manifest.read(self.path / MANIFEST)

    @property
    def ledger(self) -> Ledger:
        return Ledger(self.path)

    def evaluations(self) -> int:
        """How many evaluations were used."""
        return sum(entry["event"] == "commit" for entry in self.ledger.entries())

    @cached_property
    def train(self) -> "pa.Table":
        """The training rows, with the target."""
        return read_parquet(self.path / TRAIN)

    @cached_property
    def features(self) -> "pa.Table":
        """The sealed rows, without the target."""
        return read_parquet(self.path / FEATURES)

    def row_keys(self) -> list[str]:
        """A key for each sealed row: its place, and 32 bits of the fingerprint of its features."""
        words = row_fingerprints(self.features, self.features.column_names, self.manifest.salt)
        return [f"r{i}-{word & 0xFFFFFFFF:08x}" for i, word in enumerate(words.tolist())]

    def keyed_features(self) -> "pa.Table":
        """The sealed rows without the target, each with its key in the first column."""
        import pyarrow as pa

        if ROW in self.features.column_names:
            raise InvalidInput(
                f"{self.path.name} has a feature {ROW!r}, which is the name of the column of keys. "
                "Rename the feature, and seal the data again."
            )
        return self.features.add_column(0, ROW, pa.array(self.row_keys()))

    def fingerprints(self) -> Array:
        return np.fromfile(self.path / FINGERPRINTS, dtype="<u8")

    def label_file(self, escrow: str | Path | None) -> bytes:
        """The path of the file of labels, unread; its content must be unchanged."""
        path = self.path / LABELS
        if self.manifest.escrow:
            if escrow is None:
                raise HonestyRefusal(
                    f"The labels of {self.path.name} are kept in a separate file, and none was "
                    "given. Give it with escrow= (--escrow FILE)."
                )
            path = Path(escrow)
        try:
            content = path.read_bytes()
        except OSError as error:
            raise InvalidInput(
                f"{path} cannot be read ({error.strerror}); expected the labels of "
                f"{self.path.name}. Check the path."
            ) from None
        if sha256(content).hexdigest() != self.manifest.labels_sha256:
            raise BrokenLedger(path, f"these are not the labels of {self.path.name}. {ADVICE}")
        return content

    def check(self, *files: str) -> LedgerVerdict:
        """Refuse a folder whose ledger, manifest or files were changed.

        Where files are named, only these are read, so that labels stay unopened.
        """
        sealed = self.manifest.files
        verdict = self.ledger.verdict({name: sealed[name] for name in files or sealed})
        if not verdict.sound:
            raise BrokenLedger(self.path, f"{verdict.problems[0]} {ADVICE}")
        return verdict

    def keep_predictions(self, predictions: Predictions) -> None:
        stream = BytesIO()
        np.savez(stream, allow_pickle=False, **predictions)
        write_atomically(self.path / COMMITTED, stream.getvalue())

    def kept_predictions(self) -> Predictions | None:
        try:
            with np.load(self.path / COMMITTED, allow_pickle=False) as archive:
                return dict(archive)
        except (OSError, ValueError):
            return None

    def forget_predictions(self) -> None:
        remove(self.path / COMMITTED)


def is_seal(path: Path) -> bool:
    """Whether it is a folder that ``seal`` has written."""
    return (path / MANIFEST).is_file()


def open_folder(path: str | Path) -> SealFolder:
    """The seal at the path, as far as its manifest can be read."""
    folder = SealFolder(Path(path))
    if not is_seal(folder.path):
        what = "is not a seal" if folder.path.exists() else "does not exist"
        raise InvalidInput(
            f"{path} {what}; expected a folder such as churn{SUFFIX} from likely seal. "
            "Check the path, or seal the data first."
        )
    _ = folder.manifest
    return folder


def seals_in(folders: Iterable[str | Path]) -> tuple[SealFolder, ...]:
    """All seals in the folders, by name; incomplete ones are skipped."""
    found = {
        path.resolve(): SealFolder(path)
        for folder in folders
        for path in sorted(Path(folder).glob(f"*{SUFFIX}"))
        if is_seal(path)
    }
    return tuple(seal for seal in found.values() if _readable(seal))


def seals_near(*places: str | Path) -> tuple[SealFolder, ...]:
    """The seals in the working folder and in the folders of the files, and in their parents."""
    starts = (Path(), *(Path(place) for place in places if Path(place).exists()))
    folders = []
    for start in starts:
        folder = start.resolve()
        folder = folder.parent if folder.is_file() else folder
        folders += [folder, *folder.parents[:LEVELS]]
    return seals_in(dict.fromkeys(folders))


def copies_near(seal: SealFolder) -> tuple[SealFolder, ...]:
    """Other folders with its manifest: under any name beside the seal, or as a seal nearby."""
    content = (seal.path / MANIFEST).read_bytes()
    beside = (file.parent for file in sorted(seal.path.resolve().parent.glob(f"*/{MANIFEST}")))
    near = (other.path for other in seals_near(seal.path))
    found = {path.resolve(): SealFolder(path) for path in (*beside, *near)}
    found.pop(seal.path.resolve(), None)
    return tuple(o for o in found.values() if (o.path / MANIFEST).read_bytes() == content)


def column_names(path: Path) -> list[str]:
    """The names of the columns of a Parquet file, without reading a row."""
    from pyarrow.parquet import read_schema

    with open(path, "rb") as stream:  # Arrow takes no name that is not UTF-8
        return list(read_schema(stream).names)


def parquet_bytes(table: "pa.Table") -> bytes:
    """The table as a file, without metadata of other libraries in its schema."""
    import pyarrow as pa
    from pyarrow.parquet import write_table

    sink = pa.BufferOutputStream()
    write_table(table.replace_schema_metadata(None), sink)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def read_parquet(path: Path, columns: list[str] | None = None) -> "pa.Table":
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

    try:
        with open(path, "rb") as stream, ParquetFile(stream) as file:
            return file.read(columns)
    except (OSError, pa.ArrowException):
        raise BrokenLedger(path, f"it was changed after it was written. {ADVICE}") from None


def predictions_digest(predictions: Predictions) -> str:
    """SHA-256 of names, types, shapes and values."""
    digest = sha256()
    for name in sorted(predictions):
        array = np.ascontiguousarray(predictions[name])
        digest.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def _readable(seal: SealFolder) -> bool:
    try:
        return bool(seal.manifest.name) and (seal.path / FINGERPRINTS).is_file()
    except BrokenLedger:
        return False


def hidden(labels: "pa.ChunkedArray") -> bytes:
    """The content of a file of labels, with a fresh salt."""
    import pyarrow as pa

    table = pa.table({"y": labels})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    salt = token_bytes(SALT_BYTES)
    return MAGIC + salt + _combined(sink.getvalue().to_pybytes(), salt)


def opened(content: bytes, path: object) -> "pa.ChunkedArray":
    """The labels in a file of labels."""
    import pyarrow as pa

    start = len(MAGIC) + SALT_BYTES
    if not content.startswith(MAGIC) or len(content) <= start:
        raise BrokenLedger(
            path,
            "these are not sealed labels; expected the file that likely seal wrote. "
            "Check the path, or put the file back as it was.",
        )
    plain = _combined(content[start:], content[len(MAGIC) : start])
    with pa.ipc.open_stream(plain) as reader:
        table: Any = reader.read_all()
    return table.column(0)


def _combined(content: bytes, salt: bytes) -> bytes:
    stream = shake_256(salt + b"labels").digest(len(content))
    both = np.frombuffer(content, np.uint8) ^ np.frombuffer(stream, np.uint8)
    return both.tobytes()
