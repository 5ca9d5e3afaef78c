"""Texts that are no labels: said what they are, and what to do with them."""

import pytest

from likely.data.labels import are_names, refuse_names
from likely.errors import InvalidInput


@pytest.mark.parametrize(
    ("n_values", "n_rows", "names"), [(20, 20, False), (21, 104, True), (21, 105, False)]
)
def test_many_labels_need_several_rows_each(n_values, n_rows, names):
    assert are_names(n_values, n_rows) is names


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            ["Ann", "Bob"],
            r"looks like an identifier \(2 different values in 3 rows, such as 'Ann'\).*merge",
        ),
        (["2024-05-31", "1.6.2024"], r"holds dates .*Turn them into numbers"),
        (["2024-05-31T10:00+02:00", "2024-05-31 09:00"], r"holds dates"),
        (["1,234", "12,5", "€ 30"], r"holds numbers as text .*Write them as plain numbers"),
        (["1,234", "Bob"], r"looks like an identifier"),
    ],
)
def test_each_kind_of_text_has_its_remedy(values, message):
    with pytest.raises(InvalidInput, match=message):
        refuse_names("y", values, 3)
