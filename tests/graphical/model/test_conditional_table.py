"""Rows of conditional tables that do not sum to 1: kept, divided with one warning, or refused."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from likely.errors import InvalidInput, RoundedTables
from likely.graphical.formats.graph_files import read_graph, write_graph
from likely.graphical.model.bayesian_network import BayesianNetwork
from likely.graphical.model.factor import Factor
from likely.graphical.model.variable import Variable

STATES = {"rain": ["no", "yes"], "wet": ["no", "yes"]}


def rain(*rows, first=(0.8, 0.2)):
    return BayesianNetwork.from_tables(STATES, {"rain": first, "wet": rows}, {"wet": ["rain"]})


def test_rows_within_the_rounding_of_a_file_are_kept_bit_for_bit(tmp_path):
    rows = [[0.3333333, 0.6666666], [0.1, 0.9]]
    network = rain(*rows)
    assert_array_equal(network.tables["wet"].table, rows)
    write_graph(network, tmp_path / "rain.bif")
    assert_array_equal(read_graph(tmp_path / "rain.bif").tables["wet"].table, rows)


def test_rougher_rows_are_divided_by_their_sums_with_one_warning_about_the_worst():
    with pytest.warns(RoundedTables) as caught:
        network = rain([0.3333, 0.6666], [0.1, 0.9], first=(0.8, 0.2005))
    assert [str(each.message) for each in caught] == [
        "The table of 'rain' sums to 1.0005; 1 was expected. This and 1 other row was divided by "
        "the sum. Give more digits, or divide the rows yourself."
    ]
    assert caught[0].filename == __file__
    assert_allclose(network.tables["rain"].table, np.array([0.8, 0.2005]) / 1.0005, rtol=1e-15)
    assert_allclose(network.tables["wet"].table, [[0.3333 / 0.9999, 0.6666 / 0.9999], [0.1, 0.9]])
    assert network.log_partition() == pytest.approx(0.0, abs=1e-15)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = network.with_factors(network.factors)  # what was divided is not divided again
    assert_array_equal(again.tables["wet"].table, network.tables["wet"].table)


def test_the_worst_row_is_named_and_rows_in_logs_are_divided_too():
    with pytest.warns(RoundedTables, match=r"'wet' sums to 0.9999 in the row rain=yes; .*The row"):
        rain([0.5, 0.5], [0.0999, 0.9])
    with pytest.warns(RoundedTables):
        (table,) = BayesianNetwork(
            [Factor([Variable("a", 2)], np.log([0.4, 0.6001]), scale="log")]
        ).factors
    assert table.scale == "log"
    assert_allclose(table.table.sum(), 1.0, rtol=1e-15)


def test_a_row_beyond_rounding_is_refused():
    with pytest.raises(InvalidInput, match=r"'wet' sums to 0\.997 in the row rain=no; 1 was"):
        rain([0.3, 0.697], [0.1, 0.9])
