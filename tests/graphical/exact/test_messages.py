"""Messages against enumeration: each message, beliefs, the best configuration, and numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from likely.errors import ImpossibleEvidence, InvalidInput, UnknownName
from likely.graphical.contract import Request
from likely.graphical.exact.enumeration import Enumeration
from likely.graphical.model.factor import Factor
from likely.graphical.model.factor_graph import FactorGraph
from likely.graphical.model.graph_evidence import GraphEvidence
from likely.graphical.model.variable import Variable
from tests.graphical.random_graphs import (
    enumerated,
    named,
    possible,
    random_evidence,
    random_tree,
)

TREES = range(500)
MODES = ("scaled", "log", "plain")
A, B, C = Variable("a", 2), Variable("b", 2), Variable("c", 2)


def long_chain(n=5000, seed=0):
    """Pairwise potentials from U(0, 0.5)."""
    rng = np.random.default_rng(seed)
    variables = [Variable(f"x{i}", 2) for i in range(n)]
    return FactorGraph(
        Factor(variables[i : i + 2], rng.uniform(0, 0.5, (2, 2))) for i in range(n - 1)
    )


# ── sums ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.long
def test_marginals_of_500_random_trees_equal_enumeration():
    for seed in TREES:
        graph = random_tree(seed)
        if not possible(graph, GraphEvidence()):
            continue
        messages = graph.messages(mode=MODES[seed % 3])
        assert len(messages) == 2 * graph.n_edges
        beliefs, expected = messages.beliefs(), enumerated(graph)
        for name, values in expected.marginals.items():
            assert_allclose(beliefs.marginal(name), values, rtol=0, atol=1e-10)
        for node in messages.passing.names:
            log_z = messages.log_partition_at(node)
            assert_allclose(log_z, expected.log_partition, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("seed", range(10))
def test_each_edge_carries_a_message_each_way(seed):
    graph = random_tree(seed)
    messages = graph.messages()
    edges = {(message.source, message.target) for message in messages}
    assert len(edges) == len(messages) == 2 * graph.n_edges
    assert edges == {(target, source) for source, target in edges}
    assert [messages[message.label] for message in messages] == list(messages)
    assert all(messages.edge(m.source, m.target) is m for m in messages)


@pytest.mark.parametrize("observed", ["slice", "indicator"])
def test_evidence_equals_enumeration(observed):
    for seed in range(150):
        graph = random_tree(seed)
        evidence = random_evidence(graph, seed)
        joints = tuple(factor.scope for factor in graph.factors)
        messages = graph.messages(**named(graph, evidence), observed=observed)
        log_z = Enumeration().log_partition(graph, Request(evidence=evidence))
        assert_allclose(messages.log_partition, log_z, rtol=1e-10, atol=1e-10)
        if log_z == -np.inf:
            with pytest.raises(ImpossibleEvidence):
                messages.beliefs()
            continue
        expected = enumerated(graph, evidence, joints)
        beliefs = messages.beliefs()
        for name, values in expected.marginals.items():
            assert_allclose(beliefs.marginal(name), values, rtol=0, atol=1e-10)
        for factor in graph.factors:
            title = factor.title
            if [f.title for f in graph.factors].count(title) == 1 and (
                observed == "indicator" or not set(factor.scope) & evidence.observed
            ):
                joint = expected.joints[factor.scope]
                assert_allclose(messages.factor_marginal(title), joint, rtol=0, atol=1e-10)


def test_slices_and_indicators_agree():
    for seed in range(50):
        graph = random_tree(seed)
        evidence = random_evidence(graph, seed)
        if possible(graph, evidence):
            both = [
                graph.messages(**named(graph, evidence), observed=way)
                for way in ("slice", "indicator")
            ]
            assert_allclose(both[0].log_partition, both[1].log_partition, rtol=0, atol=1e-12)
            for name in graph.names:
                values = [messages.beliefs().marginal(name) for messages in both]
                assert_allclose(*values, rtol=0, atol=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_a_message_from_a_factor_is_its_table_times_what_it_heard(seed):
    graph = random_tree(seed)
    messages = graph.messages()
    for j, title in enumerate(messages.passing.names[len(graph.variables) :]):
        factor = graph.factors[j]
        axes = {name: i for i, name in enumerate(factor.scope)}
        for target in factor.scope:
            parts = [factor.table, list(axes.values())]
            for other in factor.scope:
                if other != target:
                    parts += [messages.edge(other, title).values, [axes[other]]]
            expected = np.einsum(*parts, [axes[target]])
            assert_allclose(messages.edge(title, target).values, expected, rtol=1e-10)


@pytest.mark.parametrize("seed", range(20))
def test_the_two_messages_of_an_edge_give_one_marginal(seed):
    """μ_{x→f} μ_{f→x} is the same for every neighbour f; a leaf says 1."""
    graph = random_tree(seed, zeros=0.0)
    messages = graph.messages()
    for name in graph.names:
        factors = [m.source for m in messages if m.target == name]
        both = [messages.edge(f, name).values * messages.edge(name, f).values for f in factors]
        for product in both[1:]:
            assert_allclose(product, both[0], rtol=1e-10)
        if len(factors) == 1:
            assert_array_equal(messages.edge(name, factors[0]).values, 1.0)


def test_messages_go_towards_a_root():
    graph = random_tree(3)
    root = graph.names[-1]
    messages = graph.messages(root)
    assert len(messages) == graph.n_edges
    beliefs = messages.beliefs()
    assert list(beliefs) == [root]
    assert_allclose(beliefs.marginal(root), enumerated(graph).marginals[root], rtol=0, atol=1e-10)
    assert_allclose(messages.log_partition, enumerated(graph).log_partition, rtol=1e-10)
    with pytest.raises(InvalidInput, match=r"Not all messages to 'v0' were sent"):
        messages.log_belief("v0")


def test_beliefs_hold_what_other_trees_contribute():
    """log_belief sums to Z at every node, although the graph falls into three parts."""
    graph = FactorGraph([Factor([A], [1, 3]), Factor([B], [2, 5]), Factor([C], [1, 4])])
    messages = graph.messages(given={"c": 1})
    assert_allclose(np.exp(messages.log_belief("a")), [28, 84])
    assert_allclose(np.exp(messages.log_belief("b")), [32, 80])
    assert_allclose(np.exp(messages.log_partition), 112)


# ── maxima ───────────────────────────────────────────────────────────────────────────────────


def test_the_best_configuration_of_500_random_trees_equals_enumeration():
    for seed in TREES:
        graph = random_tree(seed)
        evidence = random_evidence(graph, seed)
        semiring = ("max-sum", "max-product")[seed % 2]
        asked = named(graph, evidence) | {"semiring": semiring, "mode": MODES[seed % 3]}
        messages = graph.messages(**asked)
        if not possible(graph, evidence):
            with pytest.raises(ImpossibleEvidence):
                messages.most_probable()
            continue
        found = messages.most_probable()
        expected = Enumeration().most_probable(graph, Request(evidence=evidence))
        codes = {name: graph.by_name[name].code(state) for name, state in found.states.items()}
        scores = [graph._log_score(each, evidence) for each in (codes, expected.codes)]
        assert_allclose(*scores, rtol=1e-10, atol=1e-12)
        assert_allclose(found.log_score, scores[0], rtol=1e-10, atol=1e-12)
        assert found.unique == expected.unique


def test_a_tie_gives_states_that_fit_together():
    """Both variables find both states best; only pointers from one root tell which pairs are."""
    for table in ([[0, 1], [1, 0]], [[1, 0], [0, 1]]):
        graph = FactorGraph([Factor([A, B], table, name="xor")])
        messages = graph.messages(semiring="max-sum")
        assert_array_equal(messages.log_belief("a"), [0, 0])
        best = messages.most_probable()
        assert table[int(best["a"])][int(best["b"])] == 1
        assert not best.unique
        assert best.log_probability == pytest.approx(np.log(0.5))


def test_pointers_name_the_best_states_of_the_others():
    table = [[0.1, 0.6], [0.3, 0.2]]
    graph = FactorGraph([Factor([A, B], table, name="f"), Factor([B], [1, 1], name="g")])
    messages = graph.messages("a", semiring="max-product")
    assert_array_equal(messages.edge("f", "a").pointers["b"], [1, 0])
    assert_allclose(messages.edge("f", "a").values, [0.6, 0.3])
    assert messages.edge("g", "b").pointers == {}
    assert messages.edge("b", "f").pointers is None
    assert "0: b=1; 1: b=0" in str(messages)


def test_the_largest_scores_of_each_state_equal_enumeration():
    for seed in range(30):
        graph = random_tree(seed, zeros=0.0)
        messages = graph.messages(semiring="max-sum")
        for variable in graph.variables:
            for code in range(variable.n_states):
                best = Enumeration().most_probable(
                    graph, Request(evidence=GraphEvidence({variable.name: code}))
                )
                score = graph._log_score(best.codes, GraphEvidence())
                assert_allclose(messages.log_belief(variable.name)[code], score, rtol=0, atol=1e-10)


def test_sums_hold_no_best_states_and_maxima_no_marginals():
    graph = FactorGraph([Factor([A, B], np.ones((2, 2)))])
    with pytest.raises(InvalidInput, match=r"hold no best states.*semiring='max-sum'"):
        graph.messages().most_probable()
    with pytest.raises(InvalidInput, match=r"'max-product' hold maxima, which give no marginals"):
        graph.messages(semiring="max-product").beliefs()


# ── numbers ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.long
def test_a_long_chain_agrees_in_scaled_numbers_and_in_logs_and_underflows_in_plain_ones():
    graph = long_chain()
    scaled, logs = graph.messages(mode="scaled"), graph.messages(mode="log")
    assert (scaled.mode, logs.mode) == ("scaled", "log")
    assert_allclose(scaled.log_partition, logs.log_partition, rtol=0, atol=1e-8)
    assert scaled.log_partition < -3000
    ours, theirs = scaled.beliefs(), logs.beliefs()
    for name in graph.names:
        assert_allclose(ours.marginal(name), theirs.marginal(name), rtol=0, atol=1e-8)
    with pytest.raises(InvalidInput, match=r"Plain numbers underflow.*message.*mode='scaled'"):
        graph.messages(mode="plain")


def test_plain_numbers_equal_scaled_ones_where_they_fit():
    for seed in range(20):
        graph = random_tree(seed)
        plain, scaled = graph.messages(mode="plain"), graph.messages()
        assert plain.mode == "plain"
        for message in plain:
            other = scaled.edge(message.source, message.target)
            assert_allclose(message.values, other.values, rtol=1e-10)


def test_plain_tables_that_do_not_fit_are_refused():
    for logs in ([-800.0, 0.0], [800.0, 0.0]):
        graph = FactorGraph([Factor([A], logs, scale="log", name="far")])
        with pytest.raises(InvalidInput, match=r"Plain numbers .* in the table of far"):
            graph.messages(mode="plain")
    large = Factor([A, B], np.full((2, 2), 1e308), name="large")
    with pytest.raises(InvalidInput, match=r"Plain numbers .* in the message large → a"):
        FactorGraph([large]).messages("a", mode="plain")
    impossible = FactorGraph([Factor([A], [-np.inf, 0.0], scale="log")])
    assert_array_equal(impossible.messages(mode="plain").beliefs().marginal("a"), [0, 1])


@pytest.mark.parametrize("mode", ["scaled", "log", None])
def test_a_range_beyond_float64_is_computed_in_logs(mode):
    """e^−2000 against 1, made even by another factor: scaled numbers would lose it."""
    far = Factor([A, B], [[0.0, -2000.0], [-2000.0, 0.0]], scale="log")
    near = Factor([A], [-3000.0, -1000.0], scale="log")
    even = Factor([B], [1000.0, -1000.0], scale="log")
    graph = FactorGraph([far, near, even])
    messages = graph.messages(mode=mode)
    assert messages.mode == "log"
    expected = enumerated(graph)
    for name in graph.names:
        assert_allclose(messages.beliefs().marginal(name), expected.marginals[name], rtol=1e-10)
    assert_allclose(messages.log_partition, expected.log_partition, rtol=1e-12)


def test_many_messages_to_one_variable_do_not_underflow():
    """A hub with 2,000 neighbours, half for each state: the products are far below float64."""
    hub = Variable("hub", 2)
    tables = [[1e-3, 0.5], [0.5, 1e-3]]
    factors = [
        Factor([hub, Variable(f"x{i}", 1)], np.array(tables[i % 2])[:, None]) for i in range(2000)
    ]
    messages = FactorGraph(factors).messages()
    assert messages.mode == "log"
    assert_allclose(messages.beliefs().marginal("hub"), [0.5, 0.5], rtol=1e-9)
    assert_allclose(messages.log_partition, np.log(2) + 1000 * np.log(5e-4), rtol=1e-12)
    last = messages.edge("hub", "f(hub, x1)")
    assert_allclose(np.diff(last.log_values), [np.log(0.5 / 1e-3)], rtol=1e-9)


def test_messages_of_a_long_chain_are_recovered_from_their_scale():
    graph = long_chain(2500)
    messages = graph.messages("x2499")
    last = messages.edge("f(x2498, x2499)", "x2499")
    assert last.label == "4998b"  # 4998a leaves x0
    assert_allclose(np.logaddexp(*last.log_values), messages.log_partition, rtol=1e-12)
    assert_array_equal(last.values, [0.0, 0.0])
    assert "× e^-" in str(last)


# ── words ────────────────────────────────────────────────────────────────────────────────────


def test_a_cycle_is_refused_with_advice_and_evidence_may_cut_it():
    pairs = [(A, B), (B, C), (C, A)]
    graph = FactorGraph([Factor(pair, [[1, 2], [3, 4]]) for pair in pairs])
    with pytest.raises(InvalidInput, match=r"cycle through .*Use query or most_probable.*junction"):
        graph.messages()
    beliefs = graph.messages(given={"b": 1}).beliefs()
    expected = enumerated(graph, GraphEvidence({"b": 1}))
    for name in graph.names:
        assert_allclose(beliefs.marginal(name), expected.marginals[name], rtol=1e-12)


def test_nodes_of_one_name_are_numbered():
    graph = FactorGraph([Factor([A], [1, 2]), Factor([A], [1, 3]), Factor([B], [1, 1], name="b")])
    messages = graph.messages()
    assert messages.passing.names == ("a", "b", "f(a)", "f(a) (2)", "b (2)")
    assert_allclose(messages.edge("f(a) (2)", "a").values, [1, 3])


def test_soft_evidence_is_a_factor_of_its_own():
    graph = FactorGraph([Factor([A, B], [[1, 2], [3, 4]], name="f")])
    messages = graph.messages(soft={"b": [0.5, 2]})
    assert_allclose(messages.edge("soft(b)", "b").values, [0.5, 2])
    seen = graph.messages(given={"b": 1}, observed="indicator")
    assert_allclose(seen.edge("[b=1]", "b").values, [0, 1])


def test_a_graph_may_have_single_variables_or_none():
    alone = FactorGraph([], [A])
    assert len(alone.messages()) == 0
    assert_array_equal(alone.messages().beliefs().marginal("a"), [0.5, 0.5])
    assert alone.messages(semiring="max-sum").most_probable().unique is False
    empty = FactorGraph([Factor([], 3.0)])
    assert_allclose(empty.messages().log_partition, np.log(3))
    assert dict(empty.messages().beliefs()) == {}
    seen = FactorGraph([Factor([A, B], [[1, 2], [3, 4]])]).messages(given={"a": 1, "b": 0})
    assert_allclose(seen.log_partition, np.log(3))
    assert_array_equal(seen.beliefs().marginal("a"), [0, 1])


def test_wrong_arguments_are_named():
    graph = FactorGraph([Factor([A, B], [[1, 2], [3, 4]], name="f"), Factor([B, C], np.ones(4))])
    with pytest.raises(UnknownName, match=r"no variable 'z'"):
        graph.messages("z")
    with pytest.raises(InvalidInput, match=r"The root 'a' is observed"):
        graph.messages("a", {"a": 1})
    with pytest.raises(UnknownName, match=r"no mode 'logs'.*Did you mean 'log'"):
        graph.messages(mode="logs")
    with pytest.raises(UnknownName, match=r"no way to put in observations 'sliced'"):
        graph.messages(observed="sliced")
    messages = graph.messages("a")
    with pytest.raises(UnknownName, match=r"no message '9z'"):
        messages["9z"]
    with pytest.raises(InvalidInput, match=r"No message went from 'a' to 'f'; two neighbours"):
        messages.edge("a", "f")
    with pytest.raises(UnknownName, match=r"no node 'g'"):
        messages.edge("a", "g")
    with pytest.raises(InvalidInput, match=r"'c' is observed, so that no message is about it"):
        graph.messages(given={"c": 0}).log_belief("c")


def test_impossible_tables_give_no_marginals():
    graph = FactorGraph([Factor([A], [0, 0]), Factor([A, B], np.ones((2, 2)))])
    for mode in ("scaled", "log", "plain"):
        messages = graph.messages(mode=mode)
        assert messages.log_partition == -np.inf
        assert messages.log_partition_at("b") == -np.inf
        with pytest.raises(ImpossibleEvidence):
            messages.factor_marginal("f(a, b)")


def test_a_factor_with_many_variables_sends_each_its_own_message():
    variables = [Variable(f"x{i}", 2) for i in range(9)]
    table = np.random.default_rng(0).random([2] * 9)
    messages = FactorGraph([Factor(variables, table, name="f")]).messages()
    for i in range(9):
        others = tuple(j for j in range(9) if j != i)
        assert_allclose(messages.edge("f", f"x{i}").values, table.sum(axis=others), rtol=1e-12)


@given(seed=st.integers(0, 500))
def test_a_message_has_the_same_label_with_any_root_and_without_one(seed):
    tree = random_tree(seed)
    both_ways = {(m.source, m.target): m.label for m in tree.messages()}
    assert len(set(both_ways.values())) == len(both_ways)
    for root in tree.names:
        towards = tree.messages(root)
        assert {(m.source, m.target): m.label for m in towards}.items() <= both_ways.items()
        assert [m.label for m in tree.messages() if (m.source, m.target) in towards._by_edge] == [
            m.label for m in towards
        ]
