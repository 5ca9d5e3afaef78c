"""Evidence: states and likelihoods by name, cells that say nothing, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from likely.errors import InvalidInput, UnknownName
from likely.graphical.model.graph_evidence import checked_evidence
from likely.graphical.model.variable import Variable

VARIABLES = {
    "rain": Variable("rain", ["no", "yes"]),
    "n": Variable("n", 3),
    "odd": Variable("odd", ["", "NA", "None", "<NA>"]),
    "3": Variable("3", 2),
}


def codes(**given):
    return checked_evidence(VARIABLES, given).codes


def test_states_are_found_by_their_text():
    assert codes(rain="yes", n=2) == {"rain": 1, "n": 2}
    assert checked_evidence(VARIABLES, {3: 1.0}).codes == {"3": 1}


@pytest.mark.parametrize("nothing", [None, np.nan, float("nan"), "", "  ", pd.NA, pd.NaT])
def test_an_empty_or_null_cell_is_missing(nothing):
    assert codes(rain=nothing) == {}


@pytest.mark.parametrize(("state", "code"), [("", 0), ("NA", 1), ("None", 2), (pd.NA, 3)])
def test_a_cell_equal_to_a_state_is_that_state(state, code):
    assert codes(odd=state) == {"odd": code}


def test_unknown_names_suggest_the_nearest():
    with pytest.raises(UnknownName, match=r"no variable 'rian'.*Did you mean 'rain'"):
        codes(rian="yes")
    with pytest.raises(UnknownName, match=r"'rain' has no state 'Yes'.*Did you mean 'yes'"):
        codes(rain="Yes")
    with pytest.raises(UnknownName, match=r"'n' has no state '1\.5'"):
        codes(n=1.5)


@pytest.mark.parametrize("values", [[0.3, 0.9], (0.3, 0.9), np.array([0.3, 0.9]), {"yes": 0.9}])
def test_several_values_of_a_variable_are_to_be_given_as_soft_evidence(values):
    with pytest.raises(InvalidInput, match=r"for 'rain'.*Pass likelihoods .* as soft=\{'rain': …"):
        codes(rain=values)


def test_soft_evidence_is_a_likelihood_of_each_state():
    soft = {"rain": {"yes": 0.5, "no": 0}, "n": [1, 0, 2]}
    found = checked_evidence(VARIABLES, None, soft).soft
    assert_array_equal(found["rain"], [0, 0.5])
    assert_array_equal(found["n"], [1, 0, 2])


@pytest.mark.parametrize(
    ("likelihood", "message"),
    [
        ([1, 2, 3], r"shape \(3,\); one likelihood for each of its 2 states"),
        ([1, -1], "at least 0 were expected"),
        ([0, 0], "one of them above 0"),
        ([np.inf, 1], "finite likelihoods"),
        (["much", 1], "holds something that is no number"),
        ({"yes": "much", "no": 1}, "holds something that is no number"),
        ({"yes": 0.5}, r"no likelihood of 'no'; .* 0 for a state that is excluded"),
        ({"maybe": 1}, "'rain' has no state 'maybe'"),
    ],
)
def test_likelihoods_that_cannot_be_used_are_refused(likelihood, message):
    with pytest.raises(InvalidInput, match=message):
        checked_evidence(VARIABLES, None, {"rain": likelihood})


@pytest.mark.parametrize("argument", ["given", "soft"])
def test_evidence_is_a_dictionary(argument):
    with pytest.raises(InvalidInput, match=rf"{argument} is of the type list; a dictionary"):
        checked_evidence(VARIABLES, **{argument: [("rain", "yes")]})
