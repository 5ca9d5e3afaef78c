"""Variables: their states as text, and states found by what a person writes."""

import numpy as np
import pytest

from likely.errors import InvalidInput, UnknownName
from likely.graphical.model.variable import Variable, by_name


def test_a_number_of_states_names_them():
    assert Variable("x", 3).states == ("0", "1", "2")
    assert Variable("x", np.int64(2)).n_states == 2


def test_states_are_text():
    assert Variable(7, [0, 1.0, True, "a"]).states == ("0", "1", "True", "a")
    assert Variable(7, 1).name == "7"


@pytest.mark.parametrize("state", [1, 1.0, "1", np.int8(1), np.float32(1)])
def test_whole_numbers_match_the_state_with_their_text(state):
    assert Variable("x", 3).code(state) == 1


def test_booleans_match_their_text_and_not_numbers():
    assert Variable("x", [False, True]).code(True) == 1
    with pytest.raises(UnknownName):
        Variable("x", 2).code(True)


def test_an_unknown_state_suggests_the_nearest():
    with pytest.raises(UnknownName, match=r"'rain' has no state 'yess'.*Did you mean 'yes'"):
        Variable("rain", ["no", "yes"]).code("yess")


@pytest.mark.parametrize(
    ("states", "message"),
    [
        (["a", "b", "a"], r"'x' has the same state twice \(a\)"),
        ([1, "1"], r"same state twice \(1\)"),
        ([], "'x' has no states; at least one was expected"),
        (0, "has no states"),
        ("ab", r"are the text 'ab'; a list of states was expected"),
        (True, r"The states of 'x' are True; a list of states was expected"),
        (2.5, r"The states of 'x' are 2\.5; a list of states was expected, or their number"),
    ],
)
def test_states_that_cannot_be_used_are_refused(states, message):
    with pytest.raises(InvalidInput, match=message):
        Variable("x", states)


def test_many_repeated_states_are_refused_too():
    with pytest.raises(InvalidInput, match=r"same state twice"):
        Variable("x", [*range(2000), 5])


def test_a_name_belongs_to_one_variable():
    with pytest.raises(InvalidInput, match=r"Two variables are called 'x'"):
        by_name([Variable("x", 2), Variable("y", 2), Variable("x", 3)])
