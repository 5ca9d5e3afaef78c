"""Parts by name."""

import pytest

from likely.distributions import DISTRIBUTIONS, Bernoulli
from likely.errors import InvalidInput, UnknownName
from likely.names import lookup


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_a_name_finds_its_entry(name):
    assert lookup("event model", name, DISTRIBUTIONS) is DISTRIBUTIONS[name]


def test_a_part_is_itself():
    assert lookup("event model", Bernoulli, DISTRIBUTIONS) is Bernoulli


def test_a_misspelt_name_is_refused_with_the_choices_and_the_nearest():
    with pytest.raises(UnknownName) as caught:
        lookup("event model", "bernouli", DISTRIBUTIONS)
    message = str(caught.value)
    assert message.startswith("There is no event model 'bernouli'; choose one of bernoulli, ")
    assert message.endswith("Did you mean 'bernoulli'?")
    assert isinstance(caught.value, InvalidInput)


def test_a_name_like_none_of_them_gets_no_suggestion():
    with pytest.raises(UnknownName, match=r"choose one of a, b\.$"):
        lookup("thing", "zzz", {"b": 2, "a": 1})
