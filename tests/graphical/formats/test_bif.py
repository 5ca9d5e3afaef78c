"""BIF: what its grammar allows, refusals with the line, and the shared networks."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from likely.errors import FormatLoss, InvalidFile, InvalidInput
from likely.graphical.formats.graph_files import read_graph, write_graph
from likely.graphical.model.bayesian_network import BayesianNetwork
from likely.graphical.model.factor import Factor
from likely.graphical.model.markov_field import MarkovField
from likely.graphical.model.variable import Variable
from tests.graph_files import DOG, NETWORKS, SHARED, assert_same_graph, needs_shared


@pytest.fixture
def written(tmp_path):
    def write(text):
        path = tmp_path / "a.bif"
        path.write_text(text, encoding="utf-8", newline="")
        return path

    return write


def with_line(old, new):
    """The example with a change, and the number of the changed line."""
    assert DOG.count(old) == 1
    return DOG.replace(old, new), DOG[: DOG.index(old)].count("\n") + 1


def test_the_grammar_of_the_example(written):
    network = read_graph(written(DOG))
    assert type(network) is BayesianNetwork
    assert network.name == "Dog problem"
    assert network.names == ("light-on", "bowel-problem", "dog-out", "family-out")
    assert network.by_name["dog-out"].states == ("<5", "5-12", ">=7.5")
    assert network.by_name["family-out"].states == ("not at home", "Asy/Patch")
    assert network.parents["dog-out"] == ("bowel-problem", "family-out")
    assert_array_equal(network.tables["light-on"].table, [[0.6, 0.4], [0.05, 0.95]])
    assert_array_equal(network.tables["dog-out"].table[0, 1], [0.97, 0.02, 0.01])
    assert_array_equal(network.tables["dog-out"].table[1, 1], [0.25, 0.25, 0.5])


def test_in_a_table_with_parents_the_variable_itself_varies_slowest(written):
    """The order of JavaBayes: P(a0|b0 c0), P(a0|b0 c1), …, P(a1|b0 c0), …"""
    text = """network x { }
    variable a { type discrete [ 2 ] { 0, 1 }; } variable b { type discrete [ 2 ] { 0, 1 }; }
    variable c { type discrete [ 3 ] { 0, 1, 2 }; }
    probability ( b ) { table 0.5 0.5; } probability ( c ) { table 0.2 0.3 0.5; }
    probability ( a | b, c ) { table 0.0 0.1 0.2 0.3 0.4 0.5 1.0 0.9 0.8 0.7 0.6 0.5; }"""
    table = read_graph(written(text)).tables["a"].table
    assert_array_equal(table[..., 0], [[0.0, 0.1, 0.2], [0.3, 0.4, 0.5]])


@pytest.mark.parametrize(
    "scope", ["( b | a )", "(b|a)", "( b, a )", "( b a )", '("b"|"a")', "( b |a )", "(b | a,)"]
)
def test_bars_and_commas_only_separate_names(written, scope):
    text = f"""variable a {{ type discrete [ 2 ] {{ 0, 1 }} }}
    probability {scope} {{ (0) 1 0; (1) 0 1; }} probability ( a ) {{ table .5, .5; }}
    variable b {{ type discrete[2] {{ 0 1 }}; }}"""
    assert read_graph(written(text)).parents["b"] == ("a",)


def test_a_bar_may_be_part_of_a_name(written):
    text = """variable a|b { type discrete [ 2 ] { [0], 1| }; }
    probability ( a|b ) { () 0.5 0.5; }"""
    network = read_graph(written(text))
    assert network.by_name["a|b"].states == ("[0]", "1|")


def test_unknown_stands_for_no_name(tmp_path, written):
    text = 'network unknown { } variable a { type discrete [ 1 ] { "x y" }; }'
    text += " probability ( a ) { table 1.0; }"
    assert read_graph(written(text)).name == ""
    assert read_graph(written(text.replace("unknown", '"unknown"'))).name == "unknown"
    for name in ("", "unknown", "two words"):
        network = BayesianNetwork([Factor([Variable("a", 1)], [1.0])], name=name)
        write_graph(network, tmp_path / "b.bif")
        assert read_graph(tmp_path / "b.bif").name == name


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("network", "netwerk", "'netwerk' was found; network, variable or probability"),
        ("discrete[2]", "continuous", "type 'continuous' was found; 'discrete"),
        ("discrete[2]", "discrete[1000000000]", "was found; 'discrete"),
        ("discrete[2]", "discrete[999999999]", "2 states were found; 999999999 were declared"),
        ("{ <5, 5-12, >=7.5 }", "{ <5, <5, >=7.5 }", "the same state twice"),
        ("variable dog-out", "variable light-on", "a second variable 'light-on'"),
        ("( bowel-problem )", "( bowel-problm )", "no variable 'bowel-problm'.*Did you mean"),
        ("( bowel-problem )", "( )", "a table of 0 variables"),
        ("( light-on | family-out )", "( light-on | light-on )", "each once"),
        ("( family-out )", "( light-on )", "a second table of 'light-on'"),
        ("table 0.01 0.99", "table 0.01 0.99 0.1", "3 numbers were found.*; 2 were expected"),
        ("table 0.01 0.99", "table 0.01 0.98", "'bowel-problem' sums to 0.99; 1 was expected"),
        ("table 0.01 0.99", "tabel 0.01 0.99", "'tabel' was found"),
        ("table 0.01 0.99", "table 0.01 x", "'x' was found among the numbers"),
        ("table 0.01 0.99", "table 0_01 0.99", "'0_01' was found among the numbers"),
        ("table 0.01 0.99", "table -0.01 1.01", r"holds -0.01 at \(bowel-problem=true\)"),
        ("table 0.01 0.99", "table nan 0.99", "holds nan"),
        ("table 0.01 0.99;", "table 0.01 0.99; default 1 0;", "given twice"),
        ("table 0.01 0.99;", "", "has no row of numbers"),
        ("table 0.01 0.99;", "table 0.01 0.99; table 0.01 0.99;", "table occurs twice"),
        ("(Asy/Patch) 0.05, 0.95;", "", r"'light-on' has no row \(Asy/Patch\).*or a default"),
        ("(Asy/Patch) 0.05", "(Asi/Patch) 0.05", "'family-out' has no state 'Asi/Patch'.*Did you"),
        (
            "(Asy/Patch) 0.05",
            '("not at home") 0.05',
            "a row of the table of 'light-on' occurs twice",
        ),
        ("(true, Asy/Patch)", "(true)", "has 1 state; one for each of the 2 parents"),
        ("(true, Asy/Patch) 0.97", "(true, Asy/Patch) 0.90", "'dog-out' sums to 0.93 in the row"),
        ("probability ( family-out ) { table 0.15, 0.85; }", "", "no table for family-out"),
        ("of two lines */", "of two lines", r"there is no '}' after this|'/\*"),
        ("( family-out ) {", '( "family-out ) {', "is no '}' after this"),
    ],
)
def test_a_malformed_file_is_named_with_the_line(written, old, new, problem):
    text, line = with_line(old, new)
    with pytest.raises(InvalidFile, match=problem) as caught:
        read_graph(written(text))
    assert caught.value.line is None or abs(caught.value.line - line) <= 3
    if "sums to" in problem:
        assert caught.value.line == line


@pytest.mark.parametrize("text", ["", " \n", "// asia\n"])
def test_a_file_that_holds_nothing_is_no_network(written, text):
    with pytest.raises(InvalidFile, match="line 1: the file holds nothing"):
        read_graph(written(text))


def test_a_cycle_is_named(written):
    text = DOG.replace(
        "( family-out ) { table 0.15, 0.85; }", "( family-out | light-on ) { default 0.5 0.5; }"
    )
    with pytest.raises(
        InvalidFile, match=r"cycle: (light-on → family-out|family-out → light-on) →"
    ):
        read_graph(written(text))


def test_a_default_does_not_fill_a_table_larger_than_the_file_may_have(written):
    names = [f"x{i}" for i in range(40)]
    text = "".join(f"variable {n} {{ type discrete [ 2 ] {{ 0, 1 }}; }}\n" for n in names)
    text += f"probability ( x0 | {', '.join(names[1:])} ) {{ default 0.5 0.5; }}"
    with pytest.raises(InvalidFile, match=f"{2**40} numbers, more than a file of this length"):
        read_graph(written(text))


def test_text_that_is_not_utf_8_is_refused_with_the_line(tmp_path):
    path = tmp_path / "a.bif"
    path.write_bytes(DOG.replace("Charniak;", "Charniák;").encode("latin-1"))
    with pytest.raises(InvalidFile, match="0xe1 is not UTF-8") as caught:
        read_graph(path)
    assert caught.value.line == 2


def test_open_comments_and_quotes_take_linear_time(written):
    for text in ("/* " * 300_000, '" \\' * 300_000, "variable " * 300_000, "( " * 300_000):
        with pytest.raises(InvalidFile):
            read_graph(written("network x { } " + text))


def test_a_field_is_not_written(tmp_path):
    field = MarkovField([Factor([Variable("a", 2)], [1, 2])])
    with pytest.raises(InvalidInput, match=r"hold a markov-field; .*bayesian-network.*\.uai"):
        write_graph(field, tmp_path / "a.bif")


def test_logs_and_names_of_factors_are_lost_with_a_warning(tmp_path):
    table = Factor([Variable("a", 2)], [np.log1p(-1e-9), np.log(1e-9)], scale="log", name="P(a)")
    with pytest.warns(FormatLoss, match="BIF cannot hold 1 name of a factor; the logs of 1 factor"):
        write_graph(BayesianNetwork([table]), tmp_path / "a.bif")
    assert_allclose(read_graph(tmp_path / "a.bif").tables["a"].table, [1 - 1e-9, 1e-9])


def test_a_network_of_other_writers_is_understood_by_its_bytes(tmp_path):
    """What is written is what bnlearn writes, so that other programs can read it."""
    network = BayesianNetwork.from_tables(
        {"rain": ["no", "yes"], "wet": ["no", "yes"]},
        {"rain": [0.8, 0.2], "wet": [[0.9, 0.1], [0.2, 0.8]]},
        {"wet": ["rain"]},
    )
    write_graph(network, tmp_path / "a.bif")
    assert (
        (tmp_path / "a.bif").read_text()
        == """network unknown {
}
variable rain {
  type discrete [ 2 ] { no, yes };
}
variable wet {
  type discrete [ 2 ] { no, yes };
}
probability ( rain ) {
  table 0.8, 0.2;
}
probability ( wet | rain ) {
  (no) 0.9, 0.1;
  (yes) 0.2, 0.8;
}
"""
    )


@needs_shared
@pytest.mark.parametrize("name", NETWORKS)
def test_shared_networks_are_read_and_written_bit_for_bit(name, tmp_path):
    network = read_graph(SHARED / "bif" / name)
    assert type(network) is BayesianNetwork
    write_graph(network, tmp_path / "a.bif")
    assert_same_graph(read_graph(tmp_path / "a.bif"), network)


@needs_shared
def test_states_of_the_network_child_are_read():
    network = read_graph(SHARED / "bif" / "child.bif.gz")
    assert network.by_name["LowerBodyO2"].states == ("<5", "5-12", "12+")
    assert network.by_name["CO2Report"].states == ("<7.5", ">=7.5")
    assert network.by_name["ChestXray"].states[-1] == "Asy/Patch"
    assert network.by_name["CardiacMixing"].states[-1] == "Transp."
