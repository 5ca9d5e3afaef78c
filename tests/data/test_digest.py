"""The hashes by which data are known again."""

from hashlib import sha256
from pathlib import Path

import pyarrow as pa

from likely.data.arrow import digest_of_file, digest_of_table


def test_the_hash_of_a_file_is_that_of_its_bytes(tmp_path: Path) -> None:
    content = b"a,b\n1,2\n" * 300_000
    (tmp_path / "rows.csv").write_bytes(content)
    assert digest_of_file(tmp_path / "rows.csv") == sha256(content).hexdigest()


def test_the_hash_of_a_table_knows_its_cells_and_not_its_chunks() -> None:
    table = pa.table({"a": [1, 2, 3], "b": ["x", None, "z"]})
    chunked = pa.concat_tables([table.slice(0, 1), table.slice(1)])
    assert digest_of_table(chunked) == digest_of_table(table)
    assert digest_of_table(table.slice(0, 2)) != digest_of_table(table)
    assert digest_of_table(table.rename_columns(["a", "c"])) != digest_of_table(table)
    assert digest_of_table(table.set_column(0, "a", pa.array([1, 2, 4]))) != digest_of_table(table)
