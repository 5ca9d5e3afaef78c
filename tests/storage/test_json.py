"""JSON as text: that of the standard library, indented."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely.storage.json import as_json

LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
VALUES = st.recursive(
    LEAVES, lambda inside: st.lists(inside) | st.dictionaries(st.text(), inside), max_leaves=12
)


def finite(value):
    if isinstance(value, dict):
        return {name: finite(item) for name, item in value.items()}
    if isinstance(value, list):
        return [finite(item) for item in value]
    return None if value in (float("inf"), -float("inf")) else value


@given(VALUES)
def test_the_text_is_that_of_the_standard_library(value):
    assert as_json(value) == json.dumps(finite(value), indent=2, ensure_ascii=False)


@pytest.mark.parametrize("n_columns", [300, 600])
def test_cells_of_a_wide_table_are_encoded_row_by_row(n_columns, monkeypatch):
    calls = []
    dumps = json.dumps
    monkeypatch.setattr(json, "dumps", lambda *a, **k: calls.append(1) or dumps(*a, **k))
    row = {f"x{j}": j / 7 for j in range(n_columns)}
    text = as_json({"rows": [row] * 12})
    assert len(calls) < 20
    assert json.loads(text) == {"rows": [row] * 12}
