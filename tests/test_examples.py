"""The shipped graphs have the tables, sizes and answers of their entries in the specification."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from likely import examples
from likely.errors import UnknownName


def test_five_variable_bayes_net():
    """five_variable_bayes_net: parameters, edges, and what x4 = 1 says about the others."""
    network = examples.five_variables()
    assert network.n_parameters() == 10
    assert network.n_parameters(full_joint=True) == 31
    assert [factor.name for factor in network.factors] == ["fA", "fB", "fC", "fD", "fE"]
    assert (network.n_edges, network.is_tree) == (9, True)
    assert network.parents["x4"] == ("x1", "x2")
    assert_allclose(network.joint().sum(), 1.0, rtol=0, atol=1e-12)
    beliefs = network.query(given={"x4": 1})
    assert_allclose(np.exp(beliefs.log_evidence), 0.418, rtol=0, atol=1e-12)
    expected = {"x1": 4 / 19, "x2": 98 / 209, "x3": 77 / 190, "x5": 87 / 190}
    for name, probability in expected.items():
        assert_allclose(beliefs[name]["0"], probability, rtol=0, atol=1e-12)
    best = network.most_probable({"x4": 1})
    assert best.states == {"x1": 1, "x2": 1, "x3": 1, "x4": 1, "x5": 1}
    assert_allclose(best.log_score, np.log(0.6 * 0.3 * 0.7 * 0.9 * 0.8), rtol=0, atol=1e-12)


def test_prior_marginals_of_five_variables():
    beliefs = examples.five_variables().query()
    expected = {"x1": 0.4, "x2": 0.7, "x3": 0.5, "x4": 0.582, "x5": 0.585}
    for name, probability in expected.items():
        assert_allclose(beliefs[name]["0"], probability, rtol=0, atol=1e-12)


def test_mrf_four_cycle():
    """mrf_four_cycle: Z, marginals, and the configuration of the lowest energy."""
    field = examples.four_cycle()
    assert [factor.name for factor in field.factors] == [f"f{letter}" for letter in "ABCDEFGH"]
    assert (len(field.factors), field.n_edges, field.is_tree) == (8, 12, False)
    assert field.cliques() == [("x1", "x2"), ("x1", "x4"), ("x2", "x3"), ("x3", "x4")]
    assert_allclose(np.exp(field.log_partition()), 1.9456899826135052, rtol=0, atol=1e-12)
    expected = [0.6929194881368085, 0.4661529515731701, 0.523586332464288, 0.6773652898648894]
    beliefs = field.query()
    for name, probability in zip(field.names, expected, strict=True):
        assert_allclose(beliefs[name]["0"], probability, rtol=0, atol=1e-12)
    lowest = field.minimise_energy()
    assert lowest.states == dict.fromkeys(field.names, 0)
    assert_allclose(lowest.energy, 0.7, rtol=0, atol=1e-12)
    probability = field.log_probability(lowest.states)
    assert_allclose(np.exp(probability), 0.2552232412300249, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", examples.EXAMPLES)
def test_examples_load_by_name(name):
    assert repr(examples.load(name)) == repr(examples.EXAMPLES[name]())


def test_an_unknown_example_is_refused_with_the_nearest_one():
    assert examples.load("four_cycle").name == "four-cycle"
    with pytest.raises(UnknownName, match="Did you mean 'five-variables'"):
        examples.load("five-variable")
