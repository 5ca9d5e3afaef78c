"""Junction trees of graphs: what they report, what they leave out, and what they refuse."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from likely.errors import GraphTooLarge
from likely.graphical.model.factor import Factor
from likely.graphical.model.factor_graph import FactorGraph
from likely.graphical.model.variable import Variable
from tests.graphical.random_graphs import random_graph, random_tree

SEEDS = st.integers(0, 10_000)


def grid(n_rows, n_columns):
    """Binary variables in a rectangle, with random pairwise potentials."""
    v = [[Variable(f"{i},{j}", 2) for j in range(n_columns)] for i in range(n_rows)]
    rng = np.random.default_rng(0)
    pairs = [(v[i][j], v[i][j + 1]) for i in range(n_rows) for j in range(n_columns - 1)]
    pairs += [(v[i][j], v[i + 1][j]) for i in range(n_rows - 1) for j in range(n_columns)]
    return FactorGraph([Factor(pair, rng.random((2, 2))) for pair in pairs])


@given(SEEDS)
@example(540)  # every variable has one state, so that there is no clique
def test_every_scope_lies_in_a_clique_and_variables_hang_together(seed):
    graph = random_graph(seed)
    tree = graph.junction_tree()
    sets = [set(clique) for clique in tree.cliques]
    varied = {v.name for v in graph.variables if v.n_states > 1}
    assert set().union(*sets) == varied
    for factor in graph.factors:
        inside = set(factor.scope) & varied
        assert not inside or any(inside <= clique for clique in sets)
    assert tree.has_running_intersection
    for k, above in enumerate(tree.parent):
        shared = set() if above is None else sets[k] & sets[above]
        assert set(tree.separators[k]) == shared
    assert tree.width == max(map(len, sets), default=0) - 1


@given(SEEDS)
def test_cliques_of_a_tree_are_scopes(seed):
    graph = random_tree(seed)
    varied = {v.name for v in graph.variables if v.n_states > 1}
    scopes = [set(factor.scope) & varied for factor in graph.factors]
    for clique in graph.junction_tree().cliques:
        assert set(clique) in scopes or len(clique) == 1


def test_observed_variables_are_cut_out():
    graph = grid(4, 4)
    cut = graph.junction_tree({f"{i},1": 0 for i in range(4)})
    assert not any(name.endswith(",1") for clique in cut.cliques for name in clique)
    assert cut.width < graph.junction_tree().width
    everything = graph.junction_tree(dict.fromkeys(graph.names, 1))
    assert everything.n_cliques == 0
    assert everything.width == -1
    assert everything.bytes == 0


def test_the_report_names_cliques_separators_width_and_bytes():
    a, b, c = (Variable(name, 3) for name in "abc")
    graph = FactorGraph([Factor([a, b], np.ones((3, 3))), Factor([b, c], np.ones((3, 3)))])
    tree = graph.junction_tree()
    assert {frozenset(clique) for clique in tree.cliques} == {frozenset("ab"), frozenset("bc")}
    assert sorted(tree.separators) == [(), ("b",)]
    assert tree.width == 1
    assert_allclose(tree.cells, [9, 9])
    assert tree.bytes == pytest.approx(8 * (9 + 9 + 3 + 1 + 2 * 3))
    lines = str(tree).splitlines()
    assert lines[0].split() == ["clique", "variables", "cells", "parent", "separator"]
    assert lines[-1] == f"18 cells, width 1, {tree.bytes:,.0f} bytes."


def test_too_large_a_tree_is_refused_with_its_bytes_before_anything_is_allocated():
    graph = grid(30, 30)
    with pytest.raises(GraphTooLarge, match=r"junction tree of width \d+ needs about .*raise mem"):
        graph.query(memory="8GB")
    tree = graph.junction_tree()  # the plan can be looked at all the same
    assert tree.bytes > 8e9
    with pytest.raises(GraphTooLarge) as refused:
        graph.most_probable(memory="1MB")
    assert refused.value.bytes > refused.value.limit == 1_000_000
    small = grid(4, 4)
    with pytest.raises(GraphTooLarge, match=r"the limit is 1"):
        small.query(method="junction-tree", memory=100)


@pytest.mark.parametrize(
    ("needed", "shown"),
    [
        (56, "56 B"),
        (268.4e6, "268 MB"),
        (999.7e9, "1 TB"),
        (1.2e15, "1.2 PB"),
        (3e25, "3.0e+04 ZB"),
    ],
)
def test_bytes_are_written_with_a_unit(needed, shown):
    text = str(GraphTooLarge("A junction tree", needed, 8e9, "Raise memory."))
    assert f"needs about {shown} of memory; the limit is 8 GB" in text


def test_a_graph_beyond_any_memory_is_refused_too():
    graph = grid(70, 70)
    with pytest.raises(GraphTooLarge, match=r"planning stopped at a clique too large") as refused:
        graph.junction_tree()
    assert refused.value.bytes > 8 * 2.0**57  # planning stops at a clique of 58 variables


@pytest.mark.long
def test_a_clique_of_more_variables_than_an_array_has_axes():
    """90 variables, each joined to all others, of which 87 have one state."""
    rng = np.random.default_rng(1)
    variables = [Variable(f"v{i}", 2 if i in (5, 40, 77) else 1) for i in range(90)]
    factors = [
        Factor(
            [variables[i], variables[j]], rng.random((variables[i].n_states, variables[j].n_states))
        )
        for i in range(90)
        for j in range(i)
    ]
    graph = FactorGraph(factors)
    assert graph.junction_tree().width == 2
    beliefs = graph.query([*graph.names, ("v5", "v6", "v40")])
    assert_allclose(beliefs["v5", "v6", "v40"].sum(axis=(0, 1)), beliefs.marginal("v40"))
    assert beliefs["v6"] == {0: 1.0}
    small = FactorGraph(
        [f for f in factors if {"v5", "v40", "v77"} >= set(f.scope)],
        [variables[i] for i in (5, 40, 77)],
    )
    # factors with one varied variable are left: fold them in
    for factor in factors:
        varied = [v for v in factor.variables if v.n_states > 1]
        if len(varied) < 2:
            table = factor.table.reshape([v.n_states for v in varied])
            small = FactorGraph([*small.factors, Factor(varied, table)], small.variables)
    expected = small.query(method="enumeration")
    for name in small.names:
        assert_allclose(beliefs.marginal(name), expected.marginal(name), rtol=1e-12, atol=1e-12)
    assert beliefs.log_partition == pytest.approx(expected.log_partition, abs=1e-10)


@pytest.mark.parametrize("seed", range(5))
def test_a_tree_is_drawn_with_boxes_and_separators_that_do_not_overlap(seed, tmp_path):
    tree = random_graph(seed, n=12, n_factors=14).junction_tree()
    diagram = tree.draw(tmp_path / "tree.svg")
    assert [node.label for node in diagram.nodes] == [", ".join(names) for names in tree.cliques]
    assert {node.kind for node in diagram.nodes} == {"square"}
    below = [k for k, above in enumerate(tree.parent) if above is not None]
    assert [(e.source, e.target, e.label) for e in diagram.edges] == [
        (f"clique {tree.parent[k]}", f"clique {k}", ", ".join(tree.separators[k])) for k in below
    ]
    boxes = diagram.boxes()
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
    assert (tmp_path / "tree.svg").read_text().rstrip() == tree._repr_svg_()


def test_a_large_clique_names_some_of_its_variables():
    variables = [Variable(f"x{i}", 2) for i in range(9)]
    (node,) = FactorGraph([Factor(variables, np.ones([2] * 9))]).junction_tree().draw().nodes
    assert node.label.endswith("and 3 more")
