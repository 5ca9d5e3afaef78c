"""SHA-256 of a file and of a table: by these, a run, a seal and a study know their data again."""

from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

PIECE = 2**20  # bytes hashed at a time


def digest_of_file(path: Path) -> str:
    """SHA-256 of the bytes of a file."""
    digest = sha256()
    with open(path, "rb") as file:
        while piece := file.read(PIECE):
            digest.update(piece)
    return digest.hexdigest()


def digest_of_table(table: "pa.Table") -> str:
    """SHA-256 of the names, types and cells of a table, however it is cut into chunks."""
    import pyarrow as pa

    plain = table.replace_schema_metadata(None).combine_chunks()
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, plain.schema) as writer:
        writer.write_table(plain)
    return sha256(sink.getvalue()).hexdigest()
