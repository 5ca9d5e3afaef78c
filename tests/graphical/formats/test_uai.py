"""UAI models: worked examples, refusals with the line, and what is lost when one is written."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from likely.errors import FormatLoss, InvalidFile, InvalidInput
from likely.graphical.formats.graph_files import read_graph, write_graph
from likely.graphical.model.bayesian_network import BayesianNetwork
from likely.graphical.model.factor import Factor
from likely.graphical.model.factor_graph import FactorGraph
from likely.graphical.model.markov_field import MarkovField
from likely.graphical.model.variable import Variable
from tests.graph_files import BAYES, FIELD, PROBLEMS, SHARED, assert_same_graph, needs_shared


@pytest.fixture
def written(tmp_path):
    def write(text, name="a.uai"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def test_a_field_has_numbers_for_names(written):
    field = read_graph(written(FIELD))
    assert type(field) is MarkovField
    assert field.names == ("0", "1", "2")
    assert field.by_name["2"].states == ("0", "1", "2")
    assert [f.scope for f in field.factors] == [("0", "1"), ("1", "2"), ("2",)]
    assert_array_equal(field.factors[1].table, [[2.25, 3.25, 3.75], [0, 0, 10]])
    assert field.log_value({"0": 0, "1": 0, "2": 1}) == pytest.approx(np.log(4 * 3.25 * 4))


def test_the_last_variable_of_a_conditional_table_is_the_child(written):
    network = read_graph(written(BAYES))
    assert type(network) is BayesianNetwork
    assert network.parents == {"0": (), "1": ("0",), "2": ("1",)}
    assert network.tables["1"].table[1, 0] == 0.92


def test_lines_and_comments_mean_nothing(written):
    words = FIELD.split()
    one_line = read_graph(written(" ".join(words)))
    a_word_a_line = read_graph(written("# words\r\n" + "\r\n".join(words) + "// end"))
    assert_same_graph(one_line, read_graph(written(FIELD)))
    assert_same_graph(a_word_a_line, one_line)
    assert_same_graph(read_graph(written("\ufeff" + FIELD.lower())), one_line)


def test_a_factor_of_no_variables_is_a_constant(written):
    field = read_graph(written("MARKOV 1 2 2 0 1 0 1 2.5 2 1 1"))
    assert [f.scope for f in field.factors] == [(), ("0",)]
    assert field.factors[0].table == 2.5


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("", 1, "ends before its first word"),
        ("MARKOW\n1", 1, "begins with 'MARKOW'; MARKOV or BAYES"),
        ("MARKOV\n1000000000\n2", 2, "'1000000000' was found for the number of variables"),
        ("MARKOV\n2\n2 1000000000\n0", 3, "1000000002 states together; at most 1000000"),
        ("MARKOV\n2\n2 0\n0", 3, "'0' was found for a variable's number of states"),
        ("MARKOV\n1\n2\n1000000000\n", 4, "for the number of factors; a number of 0 to 1"),
        ("MARKOV\n1\n2\n1\n1 1\n2 1 1", 5, "'1' was found for a variable of factor 0"),
        ("MARKOV\n2\n2 2\n1\n2 1 1\n4 1 1 1 1", 5, "the variables 1 1; each was expected once"),
        ("MARKOV\n2\n2 2\n1\n2 0 1\n1000000000000 1", 6, r"numbers; 4 \(2 × 2\) were expected"),
        ("MARKOV\n1\n2\n1\n1 0\n2\n1", 7, "ends before a number of the table of factor 0"),
        ("MARKOV\n1\n2\n1\n1 0\n2\n1\n1.0.0", 8, "'1.0.0' was found"),
        ("MARKOV\n1\n2\n1\n1 0\n2\n1\n1_0", 8, "'1_0' is no word"),
        ("MARKOV\n1\n2\n1\n1 0\n2\n1\n١", 8, "is no word of such a file"),
        ("MARKOV\n1\n2\n1\n1 0\n2\n1\n-1", 8, "'-1' was found.*finite number of at least 0"),
        ("MARKOV\n1\n2\n1\n1 0\n2\n1 nan", 7, "'nan' was found"),
        ("MARKOV\n1\n2\n1\n1 0\n2\n1 1e999", 7, "'1e999' was found"),
        ("MARKOV\n1\n2\n1\n1 0\n2\n1 1\n3", 8, "is 1 more word after the end, from '3' on"),
        ("MARKOV\n1\n2.0\n0", 3, "'2.0' was found.*whole number"),
        ("MARKOV\n" + "9" * 5000, 2, "a whole number was expected"),
        ("BAYES\n2\n2 2\n1\n1 0\n2\n.5 .5", None, "no table for 1"),
        ("BAYES\n1\n2\n2\n1 0\n1 0\n2 .5 .5 2 .5 .5", None, "two tables"),
        ("BAYES\n2\n1 1\n2\n2 0 1\n2 1 0\n1 1 1 1", None, "cycle: 0 → 1 → 0|cycle: 1 → 0 → 1"),
    ],
)
def test_a_malformed_file_is_named_with_the_line(written, text, line, problem):
    path = written(text)
    with pytest.raises(InvalidFile, match=problem) as caught:
        read_graph(path)
    assert (caught.value.path, caught.value.line) == (str(path), line)


def test_a_bayes_row_that_does_not_sum_to_one_is_named_with_a_way_out(written):
    path = written(BAYES.replace("0.811 0.000", "0.811 0.100"))
    with pytest.raises(InvalidFile, match=r"'2' sums to 1.1 in the row 1=1.*MARKOV") as caught:
        read_graph(path)
    assert caught.value.line == 18
    assert type(read_graph(written(path.read_text().replace("BAYES", "MARKOV")))) is MarkovField


def test_more_than_64_variables_in_a_factor_are_refused(written):
    text = f"MARKOV 65 {'1 ' * 65} 1 65 {' '.join(map(str, range(65)))} 1 1.0"
    with pytest.raises(InvalidFile, match="'65' was found for the number of variables of factor 0"):
        read_graph(written(text))


def test_names_are_left_out_with_a_warning(tmp_path):
    a, b = Variable("a", ["no", "yes"]), Variable("b", 2)
    graph = FactorGraph([Factor([a, b], [[1, 2], [3, 4]], name="f")], name="two")
    lost = r"names of variables; the names of states; the title 'two'; 1 name of a factor.*\.json"
    with pytest.warns(FormatLoss, match=lost):
        write_graph(graph, tmp_path / "a.uai")
    again = read_graph(tmp_path / "a.uai")
    assert again.names == ("0", "1")
    assert_array_equal(again.factors[0].table, graph.factors[0].table)


def test_logs_are_written_as_numbers_with_a_warning_if_digits_change(tmp_path):
    a = Variable("0", 2)
    exact = MarkovField([Factor([a], [0.0, -np.inf], scale="log")])
    write_graph(exact, tmp_path / "a.uai")
    assert_array_equal(read_graph(tmp_path / "a.uai").factors[0].table, [1.0, 0.0])
    rounded = MarkovField([Factor([a], [-700.3, 1e-9], scale="log")])
    with pytest.warns(FormatLoss, match="the logs of 1 factor, which change by up to"):
        write_graph(rounded, tmp_path / "a.uai")
    with pytest.warns(FormatLoss, match="change by up to 0.0"):  # hardly any digits are left
        write_graph(MarkovField([Factor([a], [-743.3, 1.1], scale="log")]), tmp_path / "b.uai")


@pytest.mark.parametrize("log", [-746.0, 710.0])
def test_logs_that_numbers_cannot_hold_are_refused(tmp_path, log):
    field = MarkovField([Factor([Variable("0", 2)], [0.0, log], scale="log")])
    with pytest.raises(InvalidInput, match=rf"the log {log:g} at \(0=1\).*\.json"):
        write_graph(field, tmp_path / "a.uai")
    assert not (tmp_path / "a.uai").exists()


@needs_shared
@pytest.mark.parametrize("name", PROBLEMS)
def test_shared_problems_are_read_and_written_bit_for_bit(name, tmp_path):
    graph = read_graph(SHARED / "uai" / name)
    assert type(graph) is MarkovField
    write_graph(graph, tmp_path / "a.uai")
    assert_same_graph(read_graph(tmp_path / "a.uai"), graph)
