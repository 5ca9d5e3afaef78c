"""The JSON form: exact for every kind of graph, and strict about everything else."""

import json

import numpy as np
import pytest

from likely.errors import InvalidFile
from likely.graphical.formats.graph_files import read_graph, write_graph
from likely.graphical.formats.json_graph import graph_of_record, record_of_graph
from likely.graphical.model.bayesian_network import BayesianNetwork
from likely.graphical.model.factor import Factor
from likely.graphical.model.factor_graph import FactorGraph
from likely.graphical.model.markov_field import MarkovField
from likely.graphical.model.variable import Variable
from tests.graph_files import SHARED, assert_same_graph, needs_shared

A, B = Variable("a", ["no", "yes"]), Variable("\ud800 b\n\"'", 3)
GRAPHS = [
    FactorGraph(
        [
            Factor([A, B], np.array([[-np.inf, 0.1, -1e-300], [800.0, -2e3, 1 / 3]]), scale="log"),
            Factor([], 5e-324, name="Zürich"),
            Factor([A], [0.0, 1e308]),
        ],
        [B, A, Variable("alone", 1)],
        name="x",
    ),
    BayesianNetwork([Factor([A, B], [[0.1, 0.2, 0.7], [0, 0, 1]]), Factor([A], [0.25, 0.75])]),
    MarkovField([]),
]


@pytest.mark.parametrize("graph", GRAPHS, ids=lambda graph: graph.kind)
def test_nothing_is_lost(graph, tmp_path):
    write_graph(graph, tmp_path / "a.json")
    assert_same_graph(read_graph(tmp_path / "a.json"), graph)
    assert_same_graph(graph_of_record(json.loads(json.dumps(record_of_graph(graph)))), graph)


def test_the_file_is_json_with_a_line_for_each_part(tmp_path):
    write_graph(GRAPHS[1], tmp_path / "a.json")
    text = (tmp_path / "a.json").read_text(encoding="utf-8")
    assert json.loads(text) == record_of_graph(GRAPHS[1])
    assert len(text.splitlines()) == 9


MANY = [str(i) for i in range(65)]


def changed(**entries):
    return json.dumps(record_of_graph(GRAPHS[1]) | entries)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[" * 100_000, "cannot be read as JSON|is not JSON"),
        ('{"format": "likely-graph",\n', "line 2: it is not JSON"),
        ("[1, 2]", "no graph of likely.*name the file .uai, .bif"),
        ("{}", "no graph of likely"),
        (changed(version=2), "version '2'; 1 was expected. Install a newer"),
        (changed(kind="tree"), "kind 'tree' was found; factor-graph, bayesian-network"),
        (changed(kind=1), 'The graph has no "kind" that is text'),
        (changed(name=None), 'no "name" that is text'),
        (changed(variables={}), 'no "variables" that is a list'),
        (changed(variables=[1]), 'Variable 0 has no "states"'),
        (changed(variables=[{"name": "a", "states": [1]}]), "state of variable 0 is no text"),
        (changed(variables=[{"name": "a", "states": []}]), "'a' has no states"),
        (changed(factors=[{"variables": ["b"], "table": []}]), "There is no variable 'b'"),
        (changed(factors=[{"variables": [["a"]], "table": []}]), "variable of factor 0 is no text"),
        (changed(factors=[{"variables": ["a"], "table": [1]}]), "has 1 numbers; 2 were expected"),
        (changed(factors=[{"variables": ["a"], "table": [1, "x"]}]), "holds \"'x'\"; a number"),
        (changed(factors=[{"variables": ["a"], "table": [1, True]}]), "holds 'True'; a number"),
        (changed(factors=[{"variables": ["a"], "table": [1, 10**400]}]), "a number was expected"),
        (changed(factors=[]), "There is no table for a"),
        (
            changed(
                variables=[{"name": name, "states": ["x"]} for name in MANY],
                factors=[{"variables": MANY, "scale": "log", "name": "", "table": [0]}],
            ),
            "depends on 65 variables; at most 64",
        ),
        (
            changed().replace("0.25, 0.75", "800, 800").replace('"linear"', '"log"'),
            "'a' sums to inf; 1 was expected|sums to",
        ),
        (changed().replace("0.25", "NaN"), "NaN is no number of JSON"),
        (changed().replace("0.25", "1e999"), "holds inf"),
        (changed().replace("0.25", "0.5"), "'a' sums to 1.25; 1 was expected"),
        (changed().replace('"linear"', '"cubic"'), "scale='cubic'"),
    ],
)
def test_anything_else_is_refused(tmp_path, text, problem):
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(InvalidFile, match=problem):
        read_graph(tmp_path / "a.json")


@needs_shared
def test_networks_of_other_programs_are_refused():
    with pytest.raises(InvalidFile, match="no graph of likely"):
        read_graph(SHARED / "bif" / "ecoli70.json")
