"""Beliefs and configurations: read by name, as frames and as text."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from likely.errors import UnknownName
from likely.graphical.model.beliefs import Beliefs, Configuration
from likely.graphical.model.variable import Variable

VARIABLES = {"a": Variable("a", ["low", "high"]), "b": Variable("b", 3)}
BELIEFS = Beliefs(
    VARIABLES,
    {"a": np.array([0.25, 0.75])},
    {("b", "a"): np.array([[0.1, 0.2], [0.1, 0.5], [0.05, 0.05]])},
    -1.5,
    "by hand",
    log_prior_partition=lambda: 0.5,
)


def test_states_are_in_their_order():
    assert list(BELIEFS["a"].items()) == [("low", 0.25), ("high", 0.75)]
    assert_array_equal(BELIEFS["b", "a"][2], [0.05, 0.05])
    assert len(BELIEFS) == 2
    assert dict(BELIEFS).keys() == {"a", ("b", "a")}
    assert BELIEFS.log_evidence == -2.0


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_frame_has_a_row_for_each_state(library):
    frame = BELIEFS.to_frame(library)
    assert type(frame).__module__.startswith(library)
    columns = {name: list(np.asarray(frame[name])) for name in ("variable", "state", "probability")}
    assert columns["variable"] == ["a", "a", *["b, a"] * 6]
    assert columns["state"][:4] == ["low", "high", "0, low", "0, high"]
    assert sum(columns["probability"]) == pytest.approx(2.0)


def test_beliefs_print_as_a_table():
    lines = str(BELIEFS).splitlines()
    assert lines[0].split() == ["variable", "state", "probability"]
    assert lines[1].split() == ["a", "low", "0.2500"]
    assert lines[2].split() == ["high", "0.7500"]


def test_unknown_names_are_refused():
    with pytest.raises(UnknownName, match=r"no variable among the beliefs 'b'; choose one of a"):
        BELIEFS["b"]
    with pytest.raises(UnknownName, match=r"no joint among the beliefs 'a, b'; choose one of b, a"):
        BELIEFS["a", "b"]


def test_a_configuration_is_read_by_name():
    best = Configuration({"a": "high", "b": "2"}, -0.5, False, "by hand", log_partition=lambda: 1.0)
    assert (best["a"], best["b"]) == ("high", "2")
    assert best.log_probability == -1.5
    assert "Another configuration has the same score." in str(best)
    assert best.to_frame("pandas")["state"].tolist() == ["high", "2"]
    with pytest.raises(UnknownName, match=r"no variable 'c'"):
        best["c"]


@pytest.mark.parametrize(("n", "left"), [(30, None), (31, "2 more rows"), (400, "740 more rows")])
def test_long_answers_are_printed_in_part_and_frames_have_all(n, left):
    """As of a hidden Markov model, whose variables are the rows of a table."""
    variables = {f"z{t}": Variable(f"z{t}", 2) for t in range(n)}
    even = dict.fromkeys(variables, np.array([0.5, 0.5]))
    found = Beliefs(variables, even, {}, 0.0, "by hand")
    lines = str(found).splitlines()
    assert (lines[-1] == f"  … and {left}; to_frame() has all.") is (left is not None)
    assert len(lines) == 1 + 60 + (left is not None)
    assert len(found.to_frame()) == 2 * n
    assert found.html().count("<tr") == 61
    best = Configuration(dict.fromkeys(variables, 0), -1.0, True, "by hand")
    shown = str(best).splitlines()
    assert len(shown) == 1 + min(n, 60) + (n > 60) + 1
    assert ("… and 340 more rows; to_frame() has all." in shown[-2]) is (n == 400)
    assert len(best.to_frame()) == n
