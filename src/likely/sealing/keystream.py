"""Labels under a salted keystream: it stops a glob, a grep and a glance, not a person.

    file = magic ‖ salt ‖ (labels ⊕ SHAKE-256(salt ‖ "labels"))

The labels are one column in Arrow's stream format.  The salt is in the file, so whoever holds
the file can read it; to keep labels from people, put the file where they cannot go (``escrow``).
"""

from hashlib import shake_256
from secrets import token_bytes
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.errors import BrokenLedger

if TYPE_CHECKING:
    import pyarrow as pa

MAGIC = b"likely sealed labels 1\n"
SALT_BYTES = 32


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
            "these are no sealed labels; expected the file that likely seal wrote. "
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
