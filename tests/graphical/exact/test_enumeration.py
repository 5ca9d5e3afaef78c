"""Enumeration against sums written out, and the edges of what it can do."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import chisquare

from likely.errors import GraphTooLarge, ImpossibleEvidence, InvalidInput
from likely.graphical.contract import Request
from likely.graphical.exact.enumeration import Enumeration
from likely.graphical.model.factor import Factor
from likely.graphical.model.factor_graph import FactorGraph
from likely.graphical.model.graph_evidence import GraphEvidence
from likely.graphical.model.variable import Variable

A, B, C = Variable("a", 2), Variable("b", 3), Variable("c", 1)
rng = np.random.default_rng(0)
AB, BC = rng.random((2, 3)), rng.random((3, 1))
GRAPH = FactorGraph([Factor([A, B], AB), Factor([B, C], np.log(BC), scale="log")])
JOINT = AB * BC[:, 0]


def answer(graph=GRAPH, codes=None, soft=None, joints=()):
    return Enumeration().answer(
        graph, Request(graph.names, joints, GraphEvidence(codes or {}, soft or {}))
    )


def test_marginals_are_sums_of_the_joint():
    found = answer(joints=(("b", "a"), ("c", "b")))
    assert_allclose(found.log_partition, np.log(JOINT.sum()), rtol=1e-12)
    p = JOINT / JOINT.sum()
    assert_allclose(found.marginals["a"], p.sum(axis=1), rtol=1e-12)
    assert_allclose(found.marginals["b"], p.sum(axis=0), rtol=1e-12)
    assert_allclose(found.marginals["c"], [1.0], rtol=1e-12)
    assert_allclose(found.joints["b", "a"], p.T, rtol=1e-12)
    assert_allclose(found.joints["c", "b"], p.sum(axis=0)[None], rtol=1e-12)


def test_evidence_is_a_slice_of_the_joint_and_a_point_mass():
    found = answer(codes={"b": 2}, joints=(("a", "b"),))
    assert_allclose(found.log_partition, np.log(JOINT[:, 2].sum()), rtol=1e-12)
    assert_allclose(found.marginals["a"], JOINT[:, 2] / JOINT[:, 2].sum(), rtol=1e-12)
    assert_array_equal(found.marginals["b"], [0, 0, 1])
    assert_allclose(found.joints["a", "b"][:, 2], found.marginals["a"], rtol=1e-12)
    assert not found.joints["a", "b"][:, :2].any()


def test_soft_evidence_multiplies_the_joint():
    found = answer(soft={"b": np.array([0, 1, 2.0])})
    weighted = JOINT * [0, 1, 2]
    assert_allclose(found.log_partition, np.log(weighted.sum()), rtol=1e-12)
    assert_allclose(found.marginals["a"], weighted.sum(axis=1) / weighted.sum(), rtol=1e-12)
    both = answer(codes={"b": 1}, soft={"b": np.array([0, 4.0, 2.0])})
    assert_allclose(both.log_partition, np.log(4 * JOINT[:, 1].sum()), rtol=1e-12)


def test_everything_may_be_observed():
    codes = {"a": 1, "b": 0, "c": 0}
    evidence = GraphEvidence(codes)
    assert_allclose(answer(codes=codes).log_partition, np.log(JOINT[1, 0]), rtol=1e-12)
    assert Enumeration().most_probable(GRAPH, Request(evidence=evidence)).codes == codes
    drawn = Enumeration().sample(GRAPH, Request(evidence=evidence), np.full((4, 3), 0.5))
    assert_array_equal(drawn["a"], [1, 1, 1, 1])


def test_the_most_probable_configuration_is_the_largest_cell():
    best = Enumeration().most_probable(GRAPH, Request())
    cell = np.unravel_index(JOINT.argmax(), JOINT.shape)
    assert best.codes == {"a": cell[0], "b": cell[1], "c": 0}
    assert best.unique
    tied = FactorGraph([Factor([A], [0.5, 0.5])])
    assert not Enumeration().most_probable(tied, Request()).unique


def test_samples_follow_the_joint():
    uniform = np.random.default_rng(1).random((20_000, 3))
    drawn = Enumeration().sample(GRAPH, Request(), uniform)
    counts = np.zeros((2, 3))
    np.add.at(counts, (drawn["a"], drawn["b"]), 1)
    assert chisquare(counts.ravel(), (20_000 * JOINT / JOINT.sum()).ravel()).pvalue > 0.01


def test_impossible_evidence_is_a_typed_error():
    graph = FactorGraph([Factor([A, B], [[0, 1, 1], [0, 1, 0]])])
    impossible = GraphEvidence({"b": 0})
    assert Enumeration().log_partition(graph, Request(evidence=impossible)) == -np.inf
    with pytest.raises(ImpossibleEvidence, match=r"The evidence has probability 0; states that"):
        answer(graph, codes={"b": 0})
    with pytest.raises(ImpossibleEvidence):
        Enumeration().most_probable(graph, Request(evidence=impossible))
    with pytest.raises(ImpossibleEvidence):
        Enumeration().sample(graph, Request(evidence=impossible), np.zeros((1, 2)))


def test_a_large_table_is_refused_before_it_is_made():
    large = FactorGraph([], [Variable(f"v{i}", 2) for i in range(40)])
    with pytest.raises(
        GraphTooLarge, match=r"Enumerating 40 variables needs about 26.4 TB"
    ) as refused:
        Enumeration().log_partition(large, Request())
    assert refused.value.bytes == 3 * 8 * 2**40
    with pytest.raises(GraphTooLarge, match=r"needs more than 1e\+308 bytes"):
        vast = FactorGraph([], [Variable(f"v{i}", 2) for i in range(2000)])
        Enumeration().log_partition(vast, Request())
    with pytest.raises(InvalidInput, match=r"70 variables were to be enumerated; at most 64"):
        narrow = FactorGraph([], [Variable(f"v{i}", 1) for i in range(70)])
        Enumeration().log_partition(narrow, Request())


def test_a_table_that_takes_all_the_memory_allowed_is_enumerated():
    needed = 3 * 8 * AB.size
    assert_allclose(
        GRAPH.query(method="enumeration", memory=needed).marginal("a"),
        JOINT.sum(axis=1) / JOINT.sum(),
        rtol=1e-12,
    )
    with pytest.raises(GraphTooLarge):
        GRAPH.query(method="enumeration", memory=needed - 1)
