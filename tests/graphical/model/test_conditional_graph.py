"""A conditional graph has values for what is given, and a distribution for the rest."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from likely.errors import InvalidInput
from likely.graphical.model.conditional_graph import ConditionalGraph
from likely.graphical.model.factor import Factor
from likely.graphical.model.variable import Variable

Y = Variable("y", ["no", "yes"])
GRAPH = ConditionalGraph(
    [Factor([Y], [0.0, 1.5], scale="log", name="x"), Factor([Y], [1.0, 2.0], name="bias")],
    given={"x": 3.0},
)


def test_the_factors_give_the_conditional_distribution():
    odds = 2.0 * np.exp(1.5)
    assert_allclose(GRAPH.query("y")["y"]["yes"], odds / (1 + odds))
    assert GRAPH.given == {"x": 3.0}


def test_a_given_value_is_no_variable():
    assert GRAPH.names == ("y",)
    with pytest.raises(InvalidInput, match=r"'x' is given and not modelled.*a query of y"):
        GRAPH.query(["y", "x"])
    with pytest.raises(InvalidInput, match="'y' is both a variable"):
        ConditionalGraph(GRAPH.factors, given={"y": 1})


def test_other_factors_keep_what_is_given():
    other = GRAPH.with_factors(GRAPH.factors[:1])
    assert (other.given, len(other.factors)) == ({"x": 3.0}, 1)
