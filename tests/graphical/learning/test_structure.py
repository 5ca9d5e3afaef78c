"""Edges learned from data: trees, hill climbing, scores, equivalence."""

from dataclasses import replace
from itertools import combinations, product
from math import lgamma, log

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import likely.graphical
import likely.graphical.learning.structure as learned_structure
from likely.errors import CyclicGraph, InvalidInput, MissingCells, UnknownName
from likely.graphical.learning.coded_rows import array_blocks, coded_rows
from likely.graphical.learning.hill_climbing import Graph, HillClimbing, ScoredFamilies
from likely.graphical.learning.mutual_information import block_pair_counts, pair_counts
from likely.graphical.learning.structure import (
    learned_edges,
    spanning_tree,
    structural_hamming_distance,
)
from likely.graphical.learning.structure_scores import BIC, BDeu, structure_score
from likely.graphical.model.bayesian_network import BayesianNetwork
from likely.graphical.model.variable import Variable
from likely.numerics.additive import FAST_CELLS, pairwise_total
from tests.graphical.networks import drawn, random_edges, random_network, with_gaps

few = settings(max_examples=15, deadline=None)
seeds = st.integers(0, 999)
SCORES = ["bic", "bdeu", "aic", "log-likelihood"]


def rows_of(network, codes, **given):
    return coded_rows(network.variables, codes, **given)


def edges_of(*given, **named):
    return learned_edges(*given, **named).edges


def undirected_trees(n):
    pairs = list(combinations(range(n), 2))
    for edges in combinations(pairs, n - 1):
        group = list(range(n))
        for a, b in edges:
            group = [group[a] if g == group[b] else g for g in group]
        if len(set(group)) == 1:
            yield edges


# ── mutual information and trees ─────────────────────────────────────────────────────────────


def test_mutual_information_by_hand():
    codes = np.array([[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]])
    variables = [Variable(name, 2) for name in "abc"]
    found = pair_counts(coded_rows(variables, codes)).mutual_information()
    entropy = log(2)
    assert_allclose(
        found, entropy * np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]]), rtol=1e-15, atol=1e-15
    )


@few
@given(seed=seeds, cut=st.integers(1, 49), gaps=st.booleans())
def test_counts_of_pairs_add(seed, cut, gaps):
    network = random_network(seed)
    codes = with_gaps(drawn(network, 50, seed), 0.3 * gaps, seed).astype(np.int32)
    weight = np.random.default_rng(seed).random(50)
    sizes = tuple(v.n_states for v in network.variables)

    def counts(rows):
        (block,) = array_blocks(network.variables, codes[rows], weight[rows])
        return block_pair_counts(sizes, 1, block)

    total = pairwise_total([counts(slice(cut)), counts(slice(cut, 50))])
    assert_allclose(total.counts, counts(slice(50)).counts, rtol=1e-12, atol=1e-12)


def test_the_compiled_counts_of_pairs_equal_the_readable_ones():
    network = random_network(3, sizes=(2, 3, 4, 2, 3))
    n = FAST_CELLS // 5 + 1
    codes = with_gaps(drawn(network, n, 1), 0.2, 2).astype(np.int32)
    blocks = array_blocks(network.variables, codes)
    sizes = tuple(v.n_states for v in network.variables)
    whole = replace(blocks, rows_per_block=n)
    for label in (None, 2):
        (block,) = whole
        fast = block_pair_counts(sizes, label, block)
        readable = pairwise_total(block_pair_counts(sizes, label, each) for each in blocks)
        for a, b in product(range(5), repeat=2):
            if a <= b:
                assert_allclose(fast.of(a, b), readable.of(a, b))
        assert_allclose(fast.mutual_information(), readable.mutual_information())


@few
@given(seed=seeds, n=st.integers(2, 6))
def test_a_chow_liu_tree_is_the_best_of_all_trees(seed, n):
    network = random_network(seed, sizes=(2, 3, 2, 2, 3, 2)[:n], density=0.6)
    rows = rows_of(network, drawn(network, 40, seed))
    information = pair_counts(rows).mutual_information()
    edges = edges_of(rows, "chow-liu")
    assert len(edges) == n - 1
    gained = sum(information[tuple(network.names.index(x) for x in e)] for e in edges)
    best = max(sum(information[e] for e in tree) for tree in undirected_trees(n))
    assert_allclose(gained, best)
    states = {v.name: v.n_states for v in network.variables}
    assert len(BayesianNetwork.from_edges(edges, states).parents[network.names[0]]) == 0


def test_a_chow_liu_tree_has_the_highest_likelihood():
    network = random_network(8, sizes=(2, 2, 3, 2), density=0.7)
    rows = rows_of(network, drawn(network, 80, 0))
    names = network.names
    mine = structure_score(learned_edges_network(rows, "chow-liu"), rows, "log-likelihood")
    for tree in undirected_trees(4):
        states = {v.name: v.n_states for v in network.variables}
        others = BayesianNetwork.from_edges(directed(tree, names), states)
        assert structure_score(others, rows, "log-likelihood") <= mine + 1e-9


def directed(tree, names):
    seen, edges = {0}, []
    while len(seen) < len(names):
        for a, b in tree:
            for parent, child in ((a, b), (b, a)):
                if parent in seen and child not in seen:
                    seen.add(child)
                    edges.append((names[parent], names[child]))
    return edges


def learned_edges_network(rows, structure, **given):
    states = {v.name: v.states for v in rows.variables}
    return BayesianNetwork.from_edges(edges_of(rows, structure, **given), states)


def test_the_target_is_the_root_of_a_tree():
    rows = rows_of(random_network(1), drawn(random_network(1), 50, 0))
    network = learned_edges_network(rows, "chow-liu", target="c")
    assert network.parents["c"] == ()
    assert all(len(network.parents[name]) == 1 for name in "abd")


def test_equal_gains_take_the_first_pairs():
    assert spanning_tree(np.ones((4, 4))) == [(0, 1), (0, 2), (0, 3)]
    assert spanning_tree(np.zeros((1, 1))) == []


@few
@given(seed=seeds)
def test_tan_is_the_best_tree_given_the_class(seed):
    network = random_network(seed, sizes=(2, 3, 2, 2, 2), density=0.6)
    rows = rows_of(network, drawn(network, 60, seed))
    edges = edges_of(rows, "tan", target="b")
    features = [name for name in network.names if name != "b"]
    assert [edge for edge in edges if edge[0] == "b"] == [("b", name) for name in features]
    learned = learned_edges_network(rows, "tan", target="b")
    mine = structure_score(learned, rows, "log-likelihood")
    states = {v.name: v.n_states for v in network.variables}
    naive = [("b", name) for name in features]
    for tree in undirected_trees(4):
        other = BayesianNetwork.from_edges([*naive, *directed(tree, features)], states)
        assert structure_score(other, rows, "log-likelihood") <= mine + 1e-9


def test_tan_and_naive_bayes_need_a_target_that_exists():
    rows = rows_of(random_network(1), drawn(random_network(1), 20, 0))
    with pytest.raises(InvalidInput, match="without a target"):
        edges_of(rows, "tan")
    with pytest.raises(UnknownName, match="no variable 'z'"):
        edges_of(rows, "tan", target="z")
    assert edges_of(rows, "naive-bayes", target="a") == [("a", "b"), ("a", "c"), ("a", "d")]
    with pytest.raises(UnknownName, match="Did you mean 'chow-liu'"):
        edges_of(rows, "chow-lui")
    with pytest.raises(UnknownName, match="no variable 'z'"):
        edges_of(rows, "hill-climbing", target="z")
    with pytest.raises(InvalidInput, match="edges such as"):
        edges_of(rows, [1, 2])


def test_pairs_are_counted_where_both_are_observed():
    network = random_network(1)
    codes = with_gaps(drawn(network, 400, 0), 0.2, 1)
    rows = rows_of(network, codes)
    both = (codes[:, 0] >= 0) & (codes[:, 1] >= 0)
    complete = pair_counts(rows_of(network, np.where(both[:, None], codes, -1)))
    assert_allclose(
        pair_counts(rows).mutual_information()[0, 1], complete.mutual_information()[0, 1]
    )


# ── scores ───────────────────────────────────────────────────────────────────────────────────


def test_scores_of_one_edge_by_hand():
    """Counts of (a, b): 3, 1 and 0, 2; so N(a) = 4, 2 and n = 6."""
    data = pd.DataFrame({"a": [0, 0, 0, 0, 1, 1], "b": [0, 0, 0, 1, 1, 1]})
    fit = 4 * log(4 / 6) + 2 * log(2 / 6) + 3 * log(3 / 4) + log(1 / 4)
    edges = [("a", "b")]
    assert_allclose(structure_score(edges, data, "log-likelihood"), fit)
    assert_allclose(structure_score(edges, data), fit - 0.5 * 3 * log(6))
    assert_allclose(structure_score(edges, data, "aic"), fit - 3)
    bdeu = lgamma(2) - lgamma(8) + lgamma(5) - lgamma(1) + lgamma(3) - lgamma(1)  # a: ½·2 each
    bdeu += lgamma(1) - lgamma(5) + lgamma(3.5) - lgamma(0.5) + lgamma(1.5) - lgamma(0.5)
    bdeu += lgamma(1) - lgamma(3) + lgamma(2.5) - lgamma(0.5)
    assert_allclose(structure_score(edges, data, BDeu(2.0)), bdeu)


@few
@given(seed=seeds, score=st.sampled_from(SCORES))
def test_networks_with_the_same_independences_have_the_same_score(seed, score):
    """An edge a → v is covered when pa(v) = pa(a) ∪ {a}; reversing it changes no independence."""
    rng = np.random.default_rng(seed)
    network = random_network(seed, sizes=(2, 3, 2, 3), density=0.7)
    codes = drawn(network, 50, seed)
    covered = [
        (a, v) for a, v in network.edges if set(network.parents[v]) == {*network.parents[a], a}
    ]
    if not covered:
        return
    a, v = covered[rng.integers(len(covered))]
    edges = [(v, a) if edge == (a, v) else edge for edge in network.edges]
    states = {x.name: x.n_states for x in network.variables}
    other = BayesianNetwork.from_edges(edges, states)
    assert structural_hamming_distance(network, other) == 0
    assert structural_hamming_distance(network, other, on="directed") == 1
    assert_allclose(
        structure_score(network, codes, score), structure_score(other, codes, score), rtol=1e-10
    )


def test_bdeu_is_the_probability_of_the_rows_one_after_the_other():
    network = random_network(5, sizes=(2, 3, 2))
    codes = drawn(network, 30, 0)
    total = 0.0
    counts = [np.full(f.table.shape, 4.0 / f.table.size) for f in network.factors]
    place = {name: v for v, name in enumerate(network.names)}
    for row in codes:
        for factor, count in zip(network.factors, counts, strict=True):
            cell = tuple(row[place[name]] for name in factor.scope)
            total += log(count[cell] / count[cell[:-1]].sum())
            count[cell] += 1.0
    assert_allclose(structure_score(network, codes, BDeu(4.0)), total)


def test_weight_2_is_the_row_twice_in_a_score():
    network = random_network(5)
    codes = drawn(network, 30, 0)
    twice = structure_score(network, np.vstack([codes, codes]), "bdeu")
    assert_allclose(structure_score(network, codes, "bdeu", sample_weight=np.full(30, 2.0)), twice)


def test_weights_that_count_less_than_a_row_are_not_rewarded_for_parameters():
    network = random_network(5)
    codes = drawn(network, 30, 0)
    weight = np.full(30, 0.01)
    bic = structure_score(network, codes, "bic", sample_weight=weight)
    assert bic <= structure_score(network, codes, "log-likelihood", sample_weight=weight)


def test_scores_of_incomplete_rows_are_refused():
    network = random_network(5)
    codes = with_gaps(drawn(network, 30, 0), 0.3, 0)
    with pytest.raises(MissingCells, match="cells of the data are missing"):
        structure_score(network, codes)
    with pytest.raises(MissingCells, match="hill climbing needs complete rows"):
        edges_of(rows_of(network, codes), "hill-climbing")
    with pytest.raises(InvalidInput, match="BDeu has the size 0"):
        BDeu(0.0)


# ── hill climbing ────────────────────────────────────────────────────────────────────────────


@few
@given(seed=seeds, score=st.sampled_from(["bic", "bdeu"]))
def test_scores_of_families_add_up_to_that_of_the_graph(seed, score):
    network = random_network(seed)
    rows = rows_of(network, drawn(network, 60, seed))
    families = ScoredFamilies.of(rows, BIC() if score == "bic" else BDeu())
    edge = np.zeros((4, 4), dtype=bool)
    for a, v in network.edges:
        edge[network.names.index(a), network.names.index(v)] = True
    graph = Graph.of(families, HillClimbing()._rules(rows), edge)
    assert_allclose(graph.score, structure_score(network, rows, score))
    move = graph.best_move()
    after = graph.after(move)
    assert_allclose(after.score, graph.score + move.gain)
    again = Graph.of(families, graph.rules, after.edge)
    assert_allclose(after.gain, again.gain)
    assert (after.reaches == again.reaches).all()


@few
@given(seed=seeds, tabu=st.sampled_from([0, 5]))
def test_no_change_of_one_edge_raises_the_score(seed, tabu):
    network = random_network(seed, sizes=(2, 2, 3, 2), density=0.6)
    rows = rows_of(network, drawn(network, 200, seed))
    found = learned_edges_network(rows, HillClimbing(tabu=tabu))
    best = structure_score(found, rows)
    states = {v.name: v.n_states for v in network.variables}
    pairs = [(a, v) for a in network.names for v in network.names if a != v]
    for pair in pairs:
        edges = set(found.edges) ^ {pair}
        try:
            other = BayesianNetwork.from_edges(sorted(edges - {pair[::-1]}), states)
        except CyclicGraph:
            continue
        assert structure_score(other, rows) <= best + 1e-8


def test_hill_climbing_finds_a_collider_and_a_chain():
    network = BayesianNetwork.from_tables(
        {"a": 2, "b": 2, "c": 2, "d": 2},
        {
            "a": [0.5, 0.5],
            "b": [0.4, 0.6],
            "c": [[[0.9, 0.1], [0.2, 0.8]], [[0.3, 0.7], [0.8, 0.2]]],
            "d": [[0.9, 0.1], [0.2, 0.8]],
        },
        {"c": ["a", "b"], "d": ["c"]},
    )
    codes = drawn(network, 2000, 0)
    for score in ("bic", "bdeu"):
        found = learned_edges_network(rows_of(network, codes), HillClimbing(score, tabu=5))
        assert structural_hamming_distance(found, network) == 0
    learned = BayesianNetwork.from_data(pd.DataFrame(codes, columns=list("abcd")), "hill-climbing")
    assert structural_hamming_distance(learned, network) == 0


def test_rules_are_kept():
    network = random_network(6, sizes=(2, 2, 2, 2), density=1.0)
    rows = rows_of(network, drawn(network, 500, 0))
    required, forbidden = ("d", "a"), ("b", "c")
    climbing = HillClimbing("log-likelihood", 2, (required,), (forbidden,), tabu=3, restarts=2)
    found = learned_edges_network(rows, climbing, random_state=0)
    assert required in found.edges and forbidden not in found.edges
    assert max(len(found.parents[name]) for name in "abcd") == 2
    assert learned_edges_network(rows, HillClimbing(max_parents=0)).edges == ()


def test_rules_that_contradict_each_other_are_refused():
    rows = rows_of(random_network(1), drawn(random_network(1), 20, 0))
    with pytest.raises(InvalidInput, match="a → b is required and forbidden"):
        edges_of(rows, HillClimbing(required=(("a", "b"),), forbidden=(("a", "b"),)))
    with pytest.raises(CyclicGraph):
        edges_of(rows, HillClimbing(required=(("a", "b"), ("b", "a"))))
    with pytest.raises(InvalidInput, match="required parents"):
        edges_of(rows, HillClimbing(max_parents=0, required=(("a", "b"),)))
    with pytest.raises(UnknownName, match="no variable 'z'"):
        edges_of(rows, HillClimbing(forbidden=(("z", "b"),)))
    with pytest.raises(UnknownName, match="Did you mean 'bdeu'"):
        HillClimbing("bdu")


@few
@given(seed=seeds)
@pytest.mark.long
def test_the_order_of_the_rows_does_not_matter_and_more_search_is_no_worse(seed):
    network = random_network(seed, sizes=(2, 3, 2, 2, 2))
    codes = drawn(network, 100, seed)
    rows = rows_of(network, codes)
    shuffled = rows_of(network, np.random.default_rng(seed).permutation(codes))
    assert edges_of(rows, "hill-climbing") == edges_of(shuffled, "hill-climbing")
    plain = structure_score(learned_edges_network(rows, HillClimbing(tabu=0)), rows)
    further = HillClimbing(tabu=4, restarts=2)
    found = learned_edges_network(rows, further, random_state=seed)
    assert structure_score(found, rows) >= plain - 1e-8
    again = learned_edges_network(rows, further, random_state=seed)
    assert found.edges == again.edges
    tree = structure_score(learned_edges_network(rows, "chow-liu"), rows)
    assert structure_score(learned_edges_network(rows, "hill-climbing"), rows) >= tree - 1e-8


def test_constant_columns_and_few_rows_do_no_harm():
    data = pd.DataFrame({"a": ["x"] * 5, "b": [0, 1, 0, 1, 1], "c": [0, 1, 0, 1, 1]})
    assert BayesianNetwork.from_data(data, "hill-climbing").parents["a"] == ()
    assert len(BayesianNetwork.from_data(data, "chow-liu").edges) == 2
    assert BayesianNetwork.from_data(data[["b"]], "hill-climbing").edges == ()
    assert BayesianNetwork.from_data(data[["b"]], "chow-liu").edges == ()
    one = data.iloc[:1]
    assert BayesianNetwork.from_data(one, "hill-climbing").edges == ()


# ── equivalence ──────────────────────────────────────────────────────────────────────────────


def independences(edges, names):
    """All (a, b, given) that d-separation states."""
    network = BayesianNetwork.from_edges(edges, dict.fromkeys(names, 2))
    found = set()
    for a, b in combinations(names, 2):
        others = [name for name in names if name not in (a, b)]
        for k in range(len(others) + 1):
            for given_ in combinations(others, k):
                if network.d_separated(a, b, given_):
                    found.add((a, b, given_))
    return found


@settings(max_examples=40, deadline=None)
@given(seed=seeds)
def test_the_distance_is_0_exactly_for_the_same_independences(seed):
    rng = np.random.default_rng(seed)
    first = random_edges(rng, "abcd", 0.6)
    pairs = {frozenset(edge) for edge in first}
    order = {name: i for i, name in enumerate(rng.permutation(list("abcd")))}
    second = [tuple(sorted(pair, key=order.get)) for pair in pairs]  # the same skeleton
    same = independences(first, "abcd") == independences(second, "abcd")
    assert (structural_hamming_distance(first, second) == 0) == same


def test_distances_count_pairs():
    assert structural_hamming_distance([("a", "b")], [("b", "a")]) == 0
    assert structural_hamming_distance([("a", "b")], [("b", "a")], on="directed") == 1
    collider, chain = [("a", "c"), ("b", "c")], [("a", "c"), ("c", "b")]
    assert structural_hamming_distance(collider, chain) == 2
    assert structural_hamming_distance(collider, chain, on="directed") == 1
    assert structural_hamming_distance(collider, [("a", "b")]) == 3
    network = random_network(1)
    other = BayesianNetwork.from_edges([], {"a": 2, "z": 2})
    with pytest.raises(InvalidInput, match="variable of one graph"):
        structural_hamming_distance(network, other)


# ── the default ──────────────────────────────────────────────────────────────────────────────


ASIA = BayesianNetwork.from_tables(  # Lauritzen & Spiegelhalter, 1988
    {
        name: ["yes", "no"]
        for name in ("asia", "tub", "smoke", "lung", "bronc", "either", "xray", "dysp")
    },
    {
        "asia": [0.01, 0.99],
        "tub": [[0.05, 0.95], [0.01, 0.99]],
        "smoke": [0.5, 0.5],
        "lung": [[0.1, 0.9], [0.01, 0.99]],
        "bronc": [[0.6, 0.4], [0.3, 0.7]],
        "either": [[[1, 0], [1, 0]], [[1, 0], [0, 1]]],
        "xray": [[0.98, 0.02], [0.05, 0.95]],
        "dysp": [[[0.9, 0.1], [0.8, 0.2]], [[0.7, 0.3], [0.1, 0.9]]],
    },
    {
        "tub": ["asia"],
        "lung": ["smoke"],
        "bronc": ["smoke"],
        "either": ["lung", "tub"],
        "xray": ["either"],
        "dysp": ["bronc", "either"],
    },
)


def rows_of_asia(n):
    return ASIA, ASIA.sample(n, random_state=3, library="pandas")


def test_the_default_answers_a_query_of_asia_better_than_a_tree():
    network, rows = rows_of_asia(5000)
    states = {variable.name: variable.states for variable in network.variables}
    truth = network.query("lung", {"dysp": "yes"})["lung"]["yes"]
    chosen, tree = (
        BayesianNetwork.from_data(rows, structure, states=states).query("lung", {"dysp": "yes"})[
            "lung"
        ]["yes"]
        for structure in ("auto", "chow-liu")
    )
    assert abs(chosen - truth) < 0.5 * abs(tree - truth)


def test_the_default_is_hill_climbing_and_says_so():
    _, rows = rows_of_asia(400)
    network = BayesianNetwork.from_data(rows)
    assert network.edges == BayesianNetwork.from_data(rows, "hill-climbing").edges
    assert network.fit_report.structure == "hill-climbing"
    assert "; edges by hill-climbing>" in repr(network)
    assert "Edges by hill-climbing: no change of one edge improves" in str(network.fit_report)


def test_the_default_is_a_tree_where_cells_are_missing_and_says_why():
    _, rows = rows_of_asia(400)
    rows.loc[3, "xray"] = None
    network = BayesianNetwork.from_data(rows)
    assert network.edges == BayesianNetwork.from_data(rows, "chow-liu").edges
    assert network.fit_report.structure == "chow-liu"
    assert network.fit_report.limits == (
        "a tree: no variable depends on two others at once (because cells are missing)"
    )


@pytest.mark.parametrize(
    "widest, width, structure",
    [
        (20, 20, "hill-climbing"),
        (20, 21, "chow-liu"),
        (100, 101, "chow-liu"),
        pytest.param(100, 100, "hill-climbing", marks=pytest.mark.slow),
    ],
)
def test_the_default_is_a_tree_from_more_than_a_hundred_columns(
    widest, width, structure, monkeypatch
):
    assert learned_structure.WIDEST == 100
    monkeypatch.setattr(learned_structure, "WIDEST", widest)
    rows = {f"x{j}": ["a", "b"] for j in range(width)}
    report = BayesianNetwork.from_data(rows).fit_report
    assert report.structure == structure
    assert (f"more than {widest} columns" in report.limits) == (structure == "chow-liu")


def test_the_default_is_a_tree_where_the_rows_are_too_many_to_keep(monkeypatch):
    monkeypatch.setattr("likely.graphical.learning.structure.MOST_CELLS", 3199)
    _, rows = rows_of_asia(400)  # 8 columns
    assert "more than 3,199 cells" in BayesianNetwork.from_data(rows).fit_report.limits
    monkeypatch.setattr("likely.graphical.learning.structure.MOST_CELLS", 3200)
    assert BayesianNetwork.from_data(rows).fit_report.structure == "hill-climbing"


def test_edges_that_are_given_were_learned_by_no_method():
    network, rows = rows_of_asia(50)
    for structure in (network.edges, network):
        found = BayesianNetwork.from_data(rows, structure)
        assert found.fit_report.structure == found.fit_report.limits == ""
        assert "edges by" not in repr(found)


@pytest.mark.parametrize("structure", ["tan", "naive-bayes", "chow-liu", "hill-climbing"])
def test_every_method_says_what_its_edges_cannot_represent(structure):
    _, rows = rows_of_asia(60)
    report = BayesianNetwork.from_data(rows, structure, target="dysp").fit_report
    assert report.structure == structure and len(report.limits) > 20


def test_bdeu_is_public_and_has_one_pseudo_count():
    assert likely.graphical.BDeu().size == 1.0
    _, rows = rows_of_asia(300)
    edges = [("smoke", "bronc"), ("bronc", "dysp")]
    columns = rows[["smoke", "bronc", "dysp"]]
    one = structure_score(edges, columns, "bdeu")
    assert one == structure_score(edges, columns, likely.graphical.BDeu(1.0))
    assert one != structure_score(edges, columns, likely.graphical.BDeu(10.0))


def test_more_pseudo_counts_of_bdeu_give_more_edges():
    network, rows = rows_of_asia(1000)
    states = {variable.name: variable.states for variable in network.variables}
    few, many = (
        BayesianNetwork.from_data(rows, HillClimbing(score=BDeu(size)), states=states)
        for size in (1.0, 10.0)
    )
    assert len(many.edges) > len(few.edges)
    assert len(few.edges) <= len(network.edges) + 1
