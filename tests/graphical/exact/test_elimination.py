"""Elimination against enumeration: tables, orders, the best configuration and samples."""

from itertools import pairwise, permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import chisquare

from likely.errors import GraphTooLarge, ImpossibleEvidence, InvalidInput, UnknownName
from likely.graphical.contract import Request
from likely.graphical.exact.elimination import Elimination, eliminate
from likely.graphical.exact.enumeration import Enumeration, log_joint_table
from likely.graphical.model.factor import Factor
from likely.graphical.model.factor_graph import FactorGraph
from likely.graphical.model.graph_evidence import GraphEvidence
from likely.graphical.model.variable import Variable
from tests.graphical.random_graphs import (
    enumerated,
    named,
    possible,
    random_evidence,
    random_graph,
    random_network,
    random_tree,
)

SEEDS = range(60)


def chain(n, seed=0, n_states=2):
    rng = np.random.default_rng(seed)
    variables = [Variable(f"x{i}", n_states) for i in range(n)]
    pairs = pairwise(variables)
    return FactorGraph([Factor(pair, rng.random((n_states, n_states))) for pair in pairs])


@pytest.mark.parametrize("make", [random_tree, random_graph])
def test_answers_equal_enumeration(make):
    for seed in SEEDS:
        graph = make(seed)
        evidence = random_evidence(graph, seed)
        joints = (graph.names[:2], graph.names[::-1][:3])
        request = Request(graph.names, joints, evidence)
        log_z = Enumeration().log_partition(graph, Request(evidence=evidence))
        assert_allclose(
            Elimination().log_partition(graph, Request(evidence=evidence)), log_z, rtol=1e-10
        )
        if log_z == -np.inf:
            with pytest.raises(ImpossibleEvidence):
                Elimination().answer(graph, request)
            continue
        found, expected = Elimination().answer(graph, request), enumerated(graph, evidence, joints)
        assert_allclose(found.log_partition, expected.log_partition, rtol=1e-10, atol=1e-12)
        for name, values in expected.marginals.items():
            assert_allclose(found.marginals[name], values, rtol=0, atol=1e-10)
        for names, values in expected.joints.items():
            assert_allclose(found.joints[names], values, rtol=0, atol=1e-10)


def test_nothing_wanted_still_gives_the_partition():
    graph = random_graph(1, zeros=0)
    found = Elimination().answer(graph, Request(()))
    assert_allclose(found.log_partition, enumerated(graph).log_partition, rtol=1e-12)


@pytest.mark.parametrize("make", [random_tree, random_graph])
def test_the_most_probable_configuration_equals_enumeration(make):
    for seed in SEEDS:
        graph = make(seed)
        evidence = random_evidence(graph, seed)
        if not possible(graph, evidence):
            with pytest.raises(ImpossibleEvidence):
                Elimination().most_probable(graph, Request(evidence=evidence))
            continue
        found = Elimination().most_probable(graph, Request(evidence=evidence))
        expected = Enumeration().most_probable(graph, Request(evidence=evidence))
        assert found.unique == expected.unique
        if expected.unique:
            assert found.codes == expected.codes
        scores = [sum(f.log_value(best.codes) for f in graph.factors) for best in (found, expected)]
        assert_allclose(*scores, rtol=1e-10)


def test_ties_are_found_and_the_states_fit_together():
    """x = y in both configurations of the highest score; single variables cannot tell."""
    a, b = Variable("a", 2), Variable("b", 2)
    for table in ([[0.5, 0], [0, 0.5]], [[0, 0.5], [0.5, 0]]):
        best = Elimination().most_probable(FactorGraph([Factor([a, b], table)]), Request())
        assert not best.unique
        assert table[best.codes["a"]][best.codes["b"]] == 0.5


def test_all_orders_give_the_same_table():
    network = random_network(0)
    expected = enumerated(network, GraphEvidence({"v1": 1}))
    for name in ("v0", "v3"):
        others = [each for each in network.names if each not in ("v1", name)]
        for order in permutations(others):
            result = eliminate(network, name, {"v1": 1}, order=order)
            assert result.order == order
            assert_allclose(result.table, np.exp(expected.log_partition) * expected.marginals[name])


@pytest.mark.parametrize("semiring", ["sum-product", "max-product", "max-sum"])
@pytest.mark.parametrize("order", ["min-fill", "min-weight", "min-degree"])
def test_every_semiring_equals_enumeration(semiring, order):
    for seed in range(20):
        graph = random_graph(seed)
        evidence = random_evidence(graph, seed + 100)
        free = [name for name in graph.names if name not in evidence.codes]
        kept = free[:2][::-1]
        result = eliminate(graph, kept, **named(graph, evidence), order=order, semiring=semiring)
        log_joint = log_joint_table(graph, evidence, None)
        others = tuple(range(2, len(free)))
        joint = np.exp(log_joint)
        expected = joint.sum(axis=others) if semiring == "sum-product" else joint.max(axis=others)
        with np.errstate(divide="ignore"):
            expected = np.log(expected) if semiring == "max-sum" else expected
        assert result.variables == tuple(kept)
        assert_allclose(result.table, expected.T, rtol=1e-10)


def test_a_chain_costs_its_length():
    graph = chain(60)
    result = eliminate(graph, "x30")
    assert len(result.steps) == 59
    assert len(result.largest) == 2
    assert result.operations <= 59 * (2 * 4 + 2)  # two products and a sum over 4 cells, at most
    plain = np.ones(2)
    for factor in graph.factors[:30]:
        plain = plain @ factor.table
    back = np.ones(2)
    for factor in graph.factors[:29:-1]:
        back = factor.table @ back
    assert_allclose(result.table, plain * back, rtol=1e-10)
    found = Elimination().answer(graph, Request(graph.names))
    assert_allclose(found.marginals["x30"], result.table / result.table.sum(), rtol=1e-10)


def test_steps_are_shown():
    text = str(eliminate(chain(3), "x2"))
    assert text.splitlines()[0].split("  ")[1] == "eliminated"
    assert "(x1, x2) × (x1)" in text


def test_samples_follow_the_joint():
    for graph, evidence in [
        (random_graph(4, n=4, n_factors=4), GraphEvidence()),
        (
            random_tree(11),
            GraphEvidence(
                {}, {"v0": np.array([0.2, 0.9, 0.4])[: random_tree(11).variables[0].n_states]}
            ),
        ),
        (random_network(2, n=4), GraphEvidence({"v2": 1})),
    ]:
        uniform = np.random.default_rng(7).random((20_000, len(graph.names)))
        drawn = Elimination().sample(graph, Request(evidence=evidence), uniform)
        shape = [variable.n_states for variable in graph.variables]
        counts = np.zeros(shape)
        np.add.at(counts, tuple(drawn[name] for name in graph.names), 1)
        joint = enumerated(graph, evidence, (graph.names,)).joints[graph.names]
        assert not counts[joint == 0].any()
        expected = 20_000 * joint[joint > 0]
        if expected.size > 1:
            assert chisquare(counts[joint > 0], expected * (20_000 / expected.sum())).pvalue > 0.01


def test_states_of_probability_zero_are_never_drawn():
    a = Variable("a", 4)
    graph = FactorGraph([Factor([a], [0, 1, 1, 0])])
    edges = np.array([[0.0], [0.5], [np.nextafter(1, 0)]])
    assert_array_equal(Elimination().sample(graph, Request(), edges)["a"], [1, 2, 2])
    with pytest.raises(ImpossibleEvidence):
        Elimination().sample(graph, Request(evidence=GraphEvidence({"a": 0})), edges)


def test_states_of_tiny_and_huge_values_are_drawn_by_their_ratio():
    a, uniform = Variable("a", 2), np.array([[0.2], [0.3], [0.9]])
    for scale in (-2000.0, 2000.0):
        graph = FactorGraph([Factor([a], scale + np.log([1.0, 3.0]), scale="log")])
        drawn = Elimination().sample(graph, Request(), uniform)["a"]
        assert_array_equal(drawn, [0, 1, 1])


def test_more_than_64_variables_with_one_state_need_no_axes():
    single = [Variable(f"s{i}", 1) for i in range(80)]
    hub = Variable("hub", 2)
    graph = FactorGraph([Factor([hub, each], [[2.0], [1.0]]) for each in single])
    found = Elimination().answer(graph, Request(("hub", "s3"), (("s0", "hub"),)))
    assert_allclose(found.log_partition, 80 * np.log(2), rtol=1e-12)
    assert_array_equal(found.marginals["s3"], [1.0])
    assert found.joints["s0", "hub"].shape == (1, 2)
    assert eliminate(graph, ["s5", "hub"]).table.shape == (1, 2)
    assert eliminate(graph, ["s5"], order=["s1", "hub"]).order == ("hub",)
    assert Elimination().most_probable(graph, Request()).codes["hub"] == 0


def test_a_plan_above_the_limit_is_refused():
    graph = FactorGraph([Factor([Variable("a", 50), Variable("b", 50)], np.ones((50, 50)))])
    with pytest.raises(GraphTooLarge, match=r"give an order with smaller tables, or raise memory"):
        eliminate(graph, "a", memory="50kB")
    for work in (
        lambda: Elimination().answer(graph, Request(("a",), memory=50_000)),
        lambda: Elimination().log_partition(graph, Request(memory=50_000)),
        lambda: Elimination().most_probable(graph, Request(memory=50_000)),
        lambda: Elimination().sample(graph, Request(memory=50_000), np.zeros((1, 2))),
    ):
        with pytest.raises(GraphTooLarge):
            work()


def test_what_cannot_be_eliminated_is_refused():
    graph = chain(3)
    with pytest.raises(InvalidInput, match=r"'x1' is to be kept and is observed"):
        eliminate(graph, ["x0", "x1"], {"x1": 0})
    with pytest.raises(InvalidInput, match=r"Two variables are called 'x0'"):
        eliminate(graph, ["x0", "x0"])
    with pytest.raises(UnknownName, match=r"no variable 'x9'"):
        eliminate(graph, "x0", order=["x1", "x9"])
    with pytest.raises(UnknownName, match=r"no semiring 'sum'"):
        eliminate(graph, "x0", semiring="sum")
