"""Propagation in junction trees equals enumeration, readable and compiled, and never underflows."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import chi2

from likely.errors import ImpossibleEvidence, InvalidInput
from likely.graphical.contract import Request
from likely.graphical.exact import junction_tree as product_cliques
from likely.graphical.exact import plans, tree_inference
from likely.graphical.exact.enumeration import Enumeration
from likely.graphical.exact.tree_inference import TreeInference
from likely.graphical.model.bayesian_network import BayesianNetwork
from likely.graphical.model.factor import Factor
from likely.graphical.model.factor_graph import FactorGraph
from likely.graphical.model.graph_evidence import GraphEvidence
from likely.graphical.model.variable import Variable
from likely.special import softmax
from tests.graphical.random_graphs import (
    enumerated,
    possible,
    random_evidence,
    random_graph,
    random_network,
    random_tree,
)

SEEDS = st.integers(0, 100_000)
anew = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
METHOD = TreeInference()


def some_joints(graph, seed):
    rng = np.random.default_rng(seed)
    n = len(graph.names)
    return tuple({tuple(np.array(graph.names)[rng.permutation(n)[:k]].tolist()) for k in (0, 2, 3)})


def assert_equals_enumeration(graph, evidence, joints=()):
    if not possible(graph, evidence):
        assert METHOD.log_partition(graph, Request(evidence=evidence)) == -np.inf
        for verb in (
            METHOD.most_probable,
            lambda *given: METHOD.sample(*given[:2], np.zeros((2, 9))),
        ):
            with pytest.raises(ImpossibleEvidence):
                verb(graph, Request(evidence=evidence))
        with pytest.raises(ImpossibleEvidence):
            METHOD.answer(graph, Request(graph.names, joints, evidence))
        return
    expected = enumerated(graph, evidence, joints)
    found = METHOD.answer(graph, Request(graph.names, joints, evidence))
    for name in graph.names:
        assert_allclose(found.marginals[name], expected.marginals[name], rtol=0, atol=1e-10)
    assert list(found.joints) == list(joints)
    for names in joints:
        assert_allclose(found.joints[names], expected.joints[names], rtol=0, atol=1e-10)
    assert found.log_partition == pytest.approx(expected.log_partition, rel=0, abs=1e-10)
    log_z = METHOD.log_partition(graph, Request(evidence=evidence))
    assert log_z == pytest.approx(expected.log_partition, rel=0, abs=1e-10)
    best, other = (
        METHOD.most_probable(graph, Request(evidence=evidence)),
        Enumeration().most_probable(graph, Request(evidence=evidence)),
    )
    assert best.unique == other.unique
    score, other_score = (graph._log_score(each.codes, evidence) for each in (best, other))
    assert score == pytest.approx(other_score, rel=0, abs=1e-10)
    if best.unique:
        assert best.codes == other.codes


@anew
@given(seed=SEEDS)
def test_random_graphs_equal_enumeration(twin, seed):
    graph = random_graph(seed)
    assert_equals_enumeration(graph, random_evidence(graph, seed), some_joints(graph, seed))


@anew
@given(seed=SEEDS)
def test_random_trees_equal_enumeration(twin, seed):
    graph = random_tree(seed)
    assert_equals_enumeration(graph, random_evidence(graph, seed), some_joints(graph, seed))


@anew
@given(seed=SEEDS)
def test_evidence_cut_out_equals_evidence_as_likelihoods(twin, monkeypatch, seed):
    """Small graphs keep observed variables in the tree; here they are planned for."""
    monkeypatch.setattr(plans, "SLICING_CELLS", 0)
    monkeypatch.setattr(plans, "PLANNING_CELLS", 0)
    graph = random_graph(seed)
    assert_equals_enumeration(graph, random_evidence(graph, seed), some_joints(graph, seed))


@anew
@given(seed=SEEDS, share=st.sampled_from([1, 3]))
def test_small_cliques_below_large_ones_change_nothing(twin, monkeypatch, seed, share):
    monkeypatch.setattr(product_cliques, "LARGE", 2)
    monkeypatch.setattr(product_cliques, "SHARE", share)
    graph = random_graph(seed, n=5)
    assert_equals_enumeration(graph, random_evidence(graph, seed), some_joints(graph, seed))


@anew
@given(seed=SEEDS)
def test_numbers_thousands_of_nats_apart_equal_enumeration(twin, seed):
    rng = np.random.default_rng(seed)
    graph = random_graph(seed, zeros=0.2)
    wide = graph.with_factors(
        Factor(f.variables, f.log_table * rng.choice([1.0, 2000.0]), scale="log")
        for f in graph.factors
    )
    assert_equals_enumeration(wide, random_evidence(graph, seed))


@anew
@given(seed=SEEDS)
def test_a_joint_by_fixing_equals_the_joint_of_a_clique(twin, monkeypatch, seed):
    monkeypatch.setattr(tree_inference, "JOINT_CELLS", 0)
    graph = random_graph(seed)
    evidence = random_evidence(graph, seed)
    if possible(graph, evidence):
        joints = some_joints(graph, seed)
        found = METHOD.answer(graph, Request((), joints, evidence)).joints
        for names, table in enumerated(graph, evidence, joints).joints.items():
            assert_allclose(found[names], table, rtol=0, atol=1e-10)
        tiny = graph.with_factors(
            Factor(f.variables, f.log_table - 600.0, scale="log") for f in graph.factors
        )
        for names, table in METHOD.answer(tiny, Request((), joints, evidence)).joints.items():
            assert_allclose(found[names], table, rtol=0, atol=1e-9)


# ── traps ────────────────────────────────────────────────────────────────────────────────────


def chain(tables, n_states=2):
    variables = [Variable(f"v{i}", n_states) for i in range(len(tables) + 1)]
    return FactorGraph(
        [Factor(variables[i : i + 2], table) for i, table in enumerate(tables)], variables
    )


def forward_backward(tables):
    """Marginals and log Z of a chain, by logs."""
    forward = [np.zeros(2)]
    for table in tables:
        forward.append(np.logaddexp.reduce(forward[-1][:, None] + np.log(table), axis=0))
    backward = [np.zeros(2)]
    for table in reversed(tables):
        backward.append(np.logaddexp.reduce(backward[-1][None] + np.log(table), axis=1))
    log_z = float(np.logaddexp.reduce(forward[-1]))
    return [softmax(f + b) for f, b in zip(forward, backward[::-1], strict=True)], log_z


def test_a_chain_of_5000_variables_does_not_underflow():
    tables = np.random.default_rng(0).uniform(0, 0.5, (4999, 2, 2))
    graph = chain(tables)
    beliefs = graph.query()
    marginals, log_z = forward_backward(tables)
    assert beliefs.method == "tree"
    assert np.prod(tables.mean(axis=(1, 2))) == 0.0  # the plain product does
    assert beliefs.log_partition == pytest.approx(log_z, rel=1e-12)
    for i, expected in enumerate(marginals):
        assert_allclose(beliefs.marginal(f"v{i}"), expected, rtol=0, atol=1e-10)
    best = graph.most_probable()
    assert graph.log_value(best.states) == pytest.approx(best.log_score)
    assert best.log_score >= graph.log_value(dict.fromkeys(graph.names, 0))


def test_a_chain_of_2000_variables_with_likelihoods():
    rng = np.random.default_rng(1)
    tables = rng.dirichlet([1, 1], size=(1999, 2))
    soft = {f"v{i}": 10.0 ** rng.uniform(-300, -1, 2) for i in range(2000)}
    beliefs = chain(tables).query(soft=soft)
    with_soft = [table * soft[f"v{i}"][:, None] for i, table in enumerate(tables)]
    with_soft[-1] = with_soft[-1] * soft["v1999"]
    marginals, log_z = forward_backward(with_soft)
    assert beliefs.log_partition == pytest.approx(log_z, rel=1e-12)
    for i, expected in enumerate(marginals):
        assert_allclose(beliefs.marginal(f"v{i}"), expected, rtol=0, atol=1e-10)


def test_wide_numbers_that_only_the_rest_of_the_graph_brings_back(twin):
    """e^−1500 in one factor against e^1500 in another: neither alone may be called 0."""
    a, b, c = (Variable(name, 2) for name in "abc")
    graph = FactorGraph(
        [
            Factor([a, b], [[0, -1500], [-1500, -1500]], scale="log"),
            Factor([b, c], [[0, 0], [1500, 1499]], scale="log"),
            Factor([c, a], [[0, -3], [-2, 0]], scale="log"),
        ]
    )
    assert_equals_enumeration(graph, GraphEvidence({}, {"a": np.array([1e-300, 1.0])}))
    large = FactorGraph([Factor([a, b], [[1e300, 1e-300], [1e-20, 0]])])
    assert_equals_enumeration(large, GraphEvidence({"b": 1}))
    assert_equals_enumeration(large, GraphEvidence())


def test_an_observed_cell_far_below_the_largest_is_not_impossible(twin, monkeypatch):
    """Every variable of a factor is cut out of its table, which is left as a number: e^−2000."""
    monkeypatch.setattr(plans, "SLICING_CELLS", 0)
    monkeypatch.setattr(plans, "PLANNING_CELLS", 0)
    a, b, c = (Variable(name, 2) for name in "abc")
    linear = Factor([a, c], [[1e-200, 0.0], [1e200, 1.0]])
    graph = FactorGraph([Factor([a, b], [[0, -2000], [-1, -np.inf]], scale="log"), linear])
    for codes in ({"a": 0, "b": 1}, {"a": 0, "b": 1, "c": 0}, {"a": 1, "b": 1}, {"a": 0, "c": 1}):
        assert_equals_enumeration(graph, GraphEvidence(codes))
        found = graph.query(given=[codes] * 3, impossible="nan")
        log_z = Enumeration().log_partition(graph, Request(evidence=GraphEvidence(codes)))
        assert_allclose(found.log_partition, [log_z] * 3, rtol=1e-14)


def test_many_factors_of_a_clique_that_are_wide_together_only(twin):
    rng = np.random.default_rng(2)
    variables = [Variable(f"v{i}", 2) for i in range(6)]
    factors = [
        Factor([variables[i], variables[j]], rng.normal(scale=60, size=(2, 2)), scale="log")
        for i in range(6)
        for j in range(i)
    ]
    assert_equals_enumeration(
        FactorGraph(factors), GraphEvidence({}, {"v0": np.array([1e-200, 1])})
    )


def test_deterministic_tables_have_no_nan(twin):
    """a → b = a → c = b, and d = a xor c is always 0: separators with zeros on both sides."""
    copy, xor = np.eye(2), np.array([[[1, 0], [0, 1]], [[0, 1], [1, 0]]])
    network = BayesianNetwork.from_tables(
        dict.fromkeys("abcd", 2),
        {"a": [0.3, 0.7], "b": copy, "c": copy, "d": xor},
        {"b": ["a"], "c": ["b"], "d": ["a", "c"]},
    )
    for codes in ({}, {"c": 1}, {"b": 0, "d": 0}, {"d": 1}, {"a": 0, "c": 1}):
        assert_equals_enumeration(network, GraphEvidence(codes), (("a", "d"),))


def test_graphs_at_the_edge(twin):
    a, b, one = Variable("a", 3), Variable("b", 2), Variable("one", 1)
    table = np.arange(1.0, 4.0)
    graphs = [
        FactorGraph([]),
        FactorGraph([], [a]),
        FactorGraph([], [one]),
        FactorGraph([Factor([], 2.5)], [a]),
        FactorGraph([Factor([], 0.0)], [a]),
        FactorGraph([Factor([], -np.inf, scale="log")]),
        FactorGraph(
            [Factor([a], table), Factor([a], table), Factor([a], np.log(table), scale="log")]
        ),
        FactorGraph([Factor([a, b], np.ones((3, 2))), Factor([b, a], np.ones((2, 3)))]),
        FactorGraph([Factor([a], table), Factor([b], [0.0, 1.0]), Factor([one], [3.0])]),
        FactorGraph([Factor([a, one, b], np.arange(6.0).reshape(3, 1, 2))]),
        FactorGraph([Factor([a], np.zeros(3))]),
        FactorGraph([Factor([a, b], np.full((3, 2), -np.inf), scale="log")]),
    ]
    for graph in graphs:
        for codes in ({}, dict.fromkeys(graph.names, 0), dict.fromkeys(graph.names[:1], 0)):
            joints = (graph.names, graph.names[::-1], ())
            assert_equals_enumeration(graph, GraphEvidence(codes), tuple(dict.fromkeys(joints)))


def test_ties_are_told_and_the_states_belong_together(twin):
    a, b, c = (Variable(name, 2) for name in "abc")
    xor = FactorGraph([Factor([a, b], [[0.0, 1.0], [1.0, 0.0]]), Factor([b, c], np.eye(2))])
    best = METHOD.most_probable(xor, Request())
    assert not best.unique
    assert best.codes["a"] != best.codes["b"] == best.codes["c"]
    assert METHOD.most_probable(xor, Request(evidence=GraphEvidence({"c": 0}))).unique
    alone = FactorGraph([Factor([a], [0.2, 0.8])], [a, b])  # b is uniform
    assert not METHOD.most_probable(alone, Request()).unique


def test_a_tie_is_told_to_the_rounding_of_large_scores(twin):
    """Both states have the same three factors, in orders whose sums differ by rounding."""
    rng, a = np.random.default_rng(0), Variable("a", 2)
    several = []
    for _ in range(20):
        x, y, z = rng.uniform(1e7, 1e8, 3)
        tables = ([x, z], [y, x], [z, y])
        graph = FactorGraph([Factor([a], table, scale="log") for table in tables])
        several.append((x + y) + z != (z + x) + y)
        assert not METHOD.most_probable(graph, Request()).unique
    assert any(several)
    apart = FactorGraph([Factor([a], [0.0, -1e-3], scale="log")])
    assert METHOD.most_probable(apart, Request()).unique


def test_samples_have_the_pairs_of_a_separator_of_two_variables(twin):
    """a and b separate c from d: c copies their pair, and so does d."""
    rng = np.random.default_rng(0)
    a, b, c, d = Variable("a", 2), Variable("b", 3), Variable("c", 6), Variable("d", 6)
    pair = np.eye(6).reshape(2, 3, 6)
    graph = FactorGraph(
        [
            Factor([a, b], rng.uniform(1, 2, (2, 3))),
            Factor([a, b, c], pair),
            Factor([a, b, d], pair),
        ]
    )
    drawn = METHOD.sample(graph, Request(), rng.random((500, 4)))
    assert_array_equal(drawn["c"], 3 * drawn["a"] + drawn["b"])
    assert_array_equal(drawn["d"], drawn["c"])
    assert len(np.unique(drawn["c"])) == 6


def test_soft_evidence_on_an_observed_variable_is_a_factor(twin):
    graph = random_network(3)
    soft = {"v0": np.array([0.25, 0.5]), "v1": np.array([0.0, 2.0])}
    assert_equals_enumeration(graph, GraphEvidence({"v0": 0}, soft))
    assert METHOD.log_partition(graph, Request(evidence=GraphEvidence({"v1": 0}, soft))) == -np.inf
    a, b = Variable("a", 2), Variable("b", 2)
    only = FactorGraph([Factor([a], [1.0, 0.0]), Factor([a, b], [[1.0, 2.0], [3.0, 4.0]])])
    assert_equals_enumeration(only, GraphEvidence({}, {"a": np.array([1e-200, 1e200])}))


# ── methods ──────────────────────────────────────────────────────────────────────────────────


def test_a_tree_is_asked_for_only_where_there_is_one():
    a, b, c = (Variable(name, 2) for name in "abc")
    table = [[1.0, 2.0], [3.0, 1.0]]
    ring = FactorGraph([Factor([a, b], table), Factor([b, c], table), Factor([c, a], table)])
    with pytest.raises(InvalidInput, match=r"method='tree'.*cycle.*Use method='junction-tree'"):
        ring.query(method="tree")
    assert ring.query().method == "junction-tree"
    cut = ring.query(given={"a": 0})
    assert cut.method == "tree"
    assert_allclose(cut.marginal("b"), ring.query(given={"a": 0}, method="tree").marginal("b"))


@pytest.mark.parametrize("seen", [False, True])
def test_samples_have_the_frequencies_of_the_joint(twin, seen):
    graph = random_graph(11, n=5, zeros=0.2)
    soft = {"v4": np.linspace(0.2, 0.9, graph.by_name["v4"].n_states)}
    evidence = GraphEvidence({"v1": 0}, soft) if seen else GraphEvidence()
    uniform = np.random.default_rng(5).random((20_000, 5))
    drawn = METHOD.sample(graph, Request(evidence=evidence), uniform)
    joint = enumerated(graph, evidence, (graph.names,)).joints[graph.names]
    cells = np.ravel_multi_index(tuple(drawn[name] for name in graph.names), joint.shape)
    counts, expected = np.bincount(cells, minlength=joint.size), 20_000 * joint.ravel()
    assert not counts[expected == 0].any()
    rare = expected < 5  # pooled
    counts = np.append(counts[~rare], counts[rare].sum())
    expected = np.append(expected[~rare], expected[rare].sum() + 1e-9)
    statistic = ((counts - expected) ** 2 / expected).sum()
    assert statistic < chi2.ppf(0.999, len(counts) - 1)


def test_twins_draw_the_same_samples(monkeypatch):
    graph, uniform = random_graph(4, n=6), np.random.default_rng(0).random((500, 6))
    from likely.graphical.exact import cost as speed

    monkeypatch.setattr(speed, "LOOPS", "no module")
    monkeypatch.setattr(speed, "FAST_WORK", np.inf)
    readable = METHOD.sample(graph, Request(), uniform)
    monkeypatch.setattr(speed, "FAST_WORK", 0.0)
    fast = METHOD.sample(graph, Request(), uniform)
    for name in graph.names:
        assert readable[name].tolist() == fast[name].tolist()


def test_samples_of_wide_numbers(twin):
    a, b, c = (Variable(name, 2) for name in "abc")
    graph = FactorGraph(
        [
            Factor([a, b], [[0, -3000], [-2999, -5000]], scale="log"),
            Factor([b, c], [[-3000, -3000], [0, -0.5]], scale="log"),
        ]
    )
    uniform = np.random.default_rng(3).random((4000, 3))
    drawn = METHOD.sample(graph, Request(), uniform)
    expected = enumerated(graph)
    for name in "abc":
        assert drawn[name].mean() == pytest.approx(expected.marginals[name][1], abs=0.03)
