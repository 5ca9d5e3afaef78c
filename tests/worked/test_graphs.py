"""Worked examples of graphs; the ids are those of the specification's examples."""

from itertools import permutations, product

import numpy as np
import pytest
from numpy.testing import assert_allclose

from likely.graphical.contract import Request
from likely.graphical.exact.elimination import Elimination, eliminate
from likely.graphical.exact.enumeration import Enumeration, log_joint_table
from likely.graphical.exact.semiring import SEMIRINGS
from likely.graphical.model.bayesian_network import BayesianNetwork
from likely.graphical.model.factor import Factor
from likely.graphical.model.factor_graph import FactorGraph
from likely.graphical.model.graph_evidence import GraphEvidence
from likely.graphical.model.markov_field import MarkovField
from likely.graphical.model.variable import Variable

# ── five_variable_bayes_net ──────────────────────────────────────────────────────────────────

X = {f"x{i}": Variable(f"x{i}", 2) for i in range(1, 6)}
P_X4 = [[[0.9, 0.1], [0.5, 0.5]], [[0.6, 0.4], [0.1, 0.9]]]
FIVE = BayesianNetwork(
    [
        Factor([X["x1"]], [0.4, 0.6], name="fA"),
        Factor([X["x2"]], [0.7, 0.3], name="fB"),
        Factor([X["x1"], X["x3"]], [[0.8, 0.2], [0.3, 0.7]], name="fC"),
        Factor([X["x1"], X["x2"], X["x4"]], P_X4, name="fD"),
        Factor([X["x2"], X["x5"]], [[0.75, 0.25], [0.2, 0.8]], name="fE"),
    ],
    X.values(),
)
SEEN = {"x4": 1}
EVIDENCE = GraphEvidence(SEEN)
P_EVIDENCE = 0.418
JOINT_X3 = [0.1694, 0.2486]
PRIOR = {
    "x1": [0.4, 0.6],
    "x2": [0.7, 0.3],
    "x3": [0.5, 0.5],
    "x4": [0.582, 0.418],
    "x5": [0.585, 0.415],
}
POSTERIOR = {
    "x1": [0.21052631578947364, 0.7894736842105261],
    "x2": [0.4688995215311004, 0.5311004784688995],
    "x3": [0.40526315789473677, 0.5947368421052631],
    "x4": [0.0, 1.0],
    "x5": [0.45789473684210524, 0.5421052631578948],
}
SUM_PRODUCT = {
    "1a": ("x5", "fE", [1.0, 1.0]),
    "1c": ("fB", "x2", [0.7, 0.3]),
    "1d": ("fA", "x1", [0.4, 0.6]),
    "2a": ("fE", "x2", [1.0, 1.0]),
    "3a": ("x2", "fD", [0.7, 0.3]),
    "4a": ("fD", "x1", [0.22, 0.55]),
    "5a": ("x1", "fC", [0.088, 0.33]),
    "6a": ("fC", "x3", JOINT_X3),
}
MAX_SUM = {
    "2a": [-0.2876820724517809, -0.2231435513142097],
    "3a": [-0.6443570163905133, -1.4271163556401458],
    "4a": [-2.120263536200091, -1.5324768712979722],
    "5a": [-3.036554268074246, -2.043302495063963],
    "6a": [-3.247275299389899, -2.3999774390026953],
}
BEST = {"x1": 1, "x2": 1, "x3": 1, "x4": 1, "x5": 1}
LOG_BEST = -2.399977439002695
METHODS = {"enumeration": Enumeration(), "elimination": Elimination()}


def test_five_variable_bayes_net():
    """10 free probabilities, 5 factors, 9 edges, and a tree although x4 has two parents."""
    assert FIVE.n_parameters() == 10
    assert FIVE.n_parameters(full_joint=True) == 31
    graph = FIVE.factor_graph()
    assert (len(graph.factors), graph.n_edges, graph.is_tree) == (5, 9, True)
    joint = np.exp(log_joint_table(FIVE, GraphEvidence(), None))
    assert_allclose(joint.sum(), 1.0, rtol=0, atol=1e-12)
    for cell in product(range(2), repeat=5):
        x1, x2, x3, x4, x5 = cell
        tables = [factor.table for factor in FIVE.factors]
        by_hand = tables[0][x1] * tables[1][x2] * tables[2][x1, x3] * tables[3][x1, x2, x4]
        assert_allclose(joint[cell], by_hand * tables[4][x2, x5], rtol=0, atol=1e-12)


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_five_variable_bayes_net_marginals(method):
    prior = method.answer(FIVE, Request(FIVE.names))
    posterior = method.answer(FIVE, Request(FIVE.names, evidence=EVIDENCE))
    assert_allclose(np.exp(posterior.log_partition), P_EVIDENCE, rtol=0, atol=1e-12)
    assert_allclose(prior.log_partition, 0.0, rtol=0, atol=1e-12)
    for name in FIVE.names:
        assert_allclose(prior.marginals[name], PRIOR[name], rtol=0, atol=1e-12)
        assert_allclose(posterior.marginals[name], POSTERIOR[name], rtol=0, atol=1e-12)


@pytest.mark.parametrize("observed", ["slice", "indicator"])
@pytest.mark.parametrize("mode", ["scaled", "log", "plain"])
def test_five_variable_bayes_net_messages(observed, mode):
    """All marginals and P(e) from one run, the same at every node."""
    messages = FIVE.messages(given=SEEN, observed=observed, mode=mode)
    beliefs = messages.beliefs()
    for name in FIVE.names:
        assert_allclose(beliefs.marginal(name), POSTERIOR[name], rtol=0, atol=1e-12)
    for node in messages.passing.names:
        assert_allclose(np.exp(messages.log_partition_at(node)), P_EVIDENCE, rtol=0, atol=1e-12)
    for name in FIVE.names:
        assert_allclose(
            FIVE.messages(mode=mode).beliefs().marginal(name), PRIOR[name], rtol=0, atol=1e-12
        )


@pytest.mark.parametrize("mode", ["scaled", "log", "plain"])
def test_five_variable_bayes_net_trace(mode):
    """The messages towards x3 in order: 1a, 1c, 1d, 2a, …, 6a; 1b would leave x3 itself."""
    messages = FIVE.messages("x3", SEEN, mode=mode)
    assert [message.label for message in messages] == list(SUM_PRODUCT)
    for message, (source, target, values) in zip(messages, SUM_PRODUCT.values(), strict=True):
        assert (message.source, message.target) == (source, target)
        assert_allclose(message.values, values, rtol=0, atol=1e-12)
    assert FIVE.messages(given=SEEN).edge("x3", "fC").label == "1b"
    assert_allclose(np.exp(messages.log_belief("x3")), JOINT_X3, rtol=0, atol=1e-12)
    assert_allclose(messages.beliefs().marginal("x3"), POSTERIOR["x3"], rtol=0, atol=1e-12)


def test_five_variable_bayes_net_trace_as_text():
    assert str(FIVE.messages("x3", SEEN)).splitlines() == [
        "  step  message  over  values",
        "  1a    x5 → fE  x5    0: 1, 1: 1",
        "  1c    fB → x2  x2    0: 0.7, 1: 0.3",
        "  1d    fA → x1  x1    0: 0.4, 1: 0.6",
        "  2a    fE → x2  x2    0: 1, 1: 1",
        "  3a    x2 → fD  x2    0: 0.7, 1: 0.3",
        "  4a    fD → x1  x1    0: 0.22, 1: 0.55",
        "  5a    x1 → fC  x1    0: 0.088, 1: 0.33",
        "  6a    fC → x3  x3    0: 0.1694, 1: 0.2486",
    ]


@pytest.mark.parametrize("mode", ["scaled", "log", "plain"])
def test_five_variable_bayes_net_max_sum(mode):
    messages = FIVE.messages("x3", SEEN, semiring="max-sum", mode=mode)
    assert [message.label for message in messages] == list(SUM_PRODUCT)
    for label, values in MAX_SUM.items():
        assert_allclose(messages[label].values, values, rtol=0, atol=1e-12)
    best = messages.most_probable()
    assert {name: int(state) for name, state in best.states.items()} == BEST
    assert best.unique
    assert_allclose(best.log_score, LOG_BEST, rtol=0, atol=1e-12)
    assert_allclose(np.exp(best.log_probability), 0.2170334928229665, rtol=0, atol=1e-12)
    for node in FIVE.messages(given=SEEN, semiring="max-sum").passing.names:
        found = FIVE.messages(given=SEEN, semiring="max-sum", mode=mode).log_partition_at(node)
        assert_allclose(found, LOG_BEST, rtol=0, atol=1e-12)


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_five_variable_bayes_net_most_probable_configuration(method):
    best = method.most_probable(FIVE, Request(evidence=EVIDENCE))
    assert (best.codes, best.unique) == (BEST, True)
    assert_allclose(np.exp(FIVE.log_value(best.codes)), 0.09072, rtol=0, atol=1e-12)


def test_five_variable_bayes_net_elimination():
    """Σ_x1 P(x3|x1) P(x1) Σ_x2 P(x̃4|x1,x2) P(x2) Σ_x5 P(x5|x2): no product has more than two."""
    result = eliminate(FIVE, "x3", SEEN, order=["x5", "x2", "x1"])
    assert_allclose(result.table, JOINT_X3, rtol=0, atol=1e-12)
    assert [set(step.before) for step in result.steps] == [{"x2", "x5"}, {"x1", "x2"}, {"x1", "x3"}]
    assert [step.after for step in result.steps] == [("x2",), ("x1",), ("x3",)]
    assert len(result.largest) == 2


def test_five_variable_bayes_net_all_orders():
    for name in FIVE.names:
        others = [each for each in FIVE.names if each != name]
        for order in permutations(others):
            assert_allclose(
                eliminate(FIVE, name, order=order).table, PRIOR[name], rtol=0, atol=1e-12
            )
        if name not in SEEN:
            for order in permutations(each for each in others if each not in SEEN):
                table = eliminate(FIVE, name, SEEN, order=order).table
                assert_allclose(table / P_EVIDENCE, POSTERIOR[name], rtol=0, atol=1e-12)


def test_five_variable_bayes_net_max_product_elimination():
    """max_x3 max_x1 P(x1) P(x3|x1) max_x2 P(x2) P(x̃4|x1,x2) max_x5 P(x5|x2)."""
    for order in permutations(["x5", "x2", "x1", "x3"]):
        result = eliminate(FIVE, (), SEEN, order=order, semiring="max-product")
        assert_allclose(result.table, 0.09072, rtol=0, atol=1e-12)
        logs = eliminate(FIVE, (), SEEN, order=order, semiring="max-sum")
        assert_allclose(logs.table, LOG_BEST, rtol=0, atol=1e-12)
    kept = eliminate(FIVE, "x3", SEEN, semiring="max-sum")
    assert_allclose(kept.table, MAX_SUM["6a"], rtol=0, atol=1e-12)


# ── mrf_four_cycle ───────────────────────────────────────────────────────────────────────────

NAMES = ["x1", "x2", "x3", "x4"]
UNARY = [[0.0, 0.8], [0.5, 0.0], [0.2, 0.1], [0.0, 0.6]]
PAIRS = [("x1", "x2"), ("x2", "x3"), ("x3", "x4"), ("x4", "x1")]
PAIR = [[0.0, 0.7], [0.7, 0.0]]
CYCLE = MarkovField.from_energies(
    dict.fromkeys(NAMES, 2),
    dict(zip(NAMES, UNARY, strict=True)) | dict.fromkeys(PAIRS, PAIR),
)
CYCLE_LOG_Z = 0.6656166610076145
CYCLE_MARGINALS = [
    [0.6929194881368085, 0.3070805118631916],
    [0.4661529515731701, 0.53384704842683],
    [0.523586332464288, 0.47641366753571196],
    [0.6773652898648894, 0.3226347101351105],
]


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_mrf_four_cycle(method):
    """8 factors, 12 edges, one cycle; Z, marginals and the state of the lowest energy."""
    assert (len(CYCLE.factors), CYCLE.n_edges, CYCLE.is_tree) == (8, 12, False)
    assert CYCLE.cliques() == [("x1", "x2"), ("x1", "x4"), ("x2", "x3"), ("x3", "x4")]
    found = method.answer(CYCLE, Request(CYCLE.names))
    assert_allclose(found.log_partition, CYCLE_LOG_Z, rtol=0, atol=1e-12)
    for name, values in zip(NAMES, CYCLE_MARGINALS, strict=True):
        assert_allclose(found.marginals[name], values, rtol=0, atol=1e-12)
    best = method.most_probable(CYCLE, Request())
    assert best.codes == dict.fromkeys(NAMES, 0)
    assert best.unique
    assert_allclose(CYCLE.energy(best.codes), 0.7, rtol=0, atol=1e-12)
    probability = np.exp(CYCLE.log_value(best.codes) - found.log_partition)
    assert_allclose(probability, 0.2552232412300249, rtol=0, atol=1e-12)


def test_mrf_four_cycle_energies():
    """F(x) + log P(x) = −log Z everywhere; potentials and energies are one field."""
    potentials = {scope: np.exp(-energy) for scope, energy in CYCLE.energies}
    again = MarkovField.from_potentials(dict.fromkeys(NAMES, 2), potentials)
    lowest = np.inf
    for cell in product(range(2), repeat=4):
        states = dict(zip(NAMES, cell, strict=True))
        by_hand = sum(UNARY[i][s] for i, s in enumerate(cell))
        by_hand += 0.7 * sum(states[a] != states[b] for a, b in PAIRS)
        assert_allclose(CYCLE.energy(states), by_hand, rtol=0, atol=1e-12)
        assert_allclose(again.energy(states), by_hand, rtol=0, atol=1e-12)
        lowest = min(lowest, by_hand)
    assert_allclose(lowest, 0.7, rtol=0, atol=1e-12)
    for (_, energy), (_, other) in zip(CYCLE.energies, again.energies, strict=True):
        assert_allclose(other, energy, rtol=0, atol=1e-12)


def test_mrf_four_cycle_with_one_variable_observed_is_a_tree():
    for name in NAMES:
        evidence = GraphEvidence({name: 1})
        expected = Enumeration().answer(CYCLE, Request(CYCLE.names, evidence=evidence))
        found = CYCLE.messages(given={name: 1}).beliefs()
        assert_allclose(found.log_partition, expected.log_partition, rtol=0, atol=1e-12)
        for other in NAMES:
            assert_allclose(found.marginal(other), expected.marginals[other], rtol=0, atol=1e-12)


# ── max_distributes_over_product ─────────────────────────────────────────────────────────────


def test_max_distributes_over_product():
    """max(ab, ac) = a max(b, c) = 0.15 for a = 0.3; not for a = −0.3, which no table may hold."""
    a, b, c = 0.3, 0.2, 0.5
    largest = SEMIRINGS["max-product"].plus
    assert_allclose(largest(np.array([a * b, a * c]), (0,)), 0.15, rtol=0, atol=1e-15)
    assert_allclose(a * largest(np.array([b, c]), (0,)), 0.15, rtol=0, atol=1e-15)
    assert largest(np.array([-a * b, -a * c]), (0,)) != -a * largest(np.array([b, c]), (0,))
    x, y = Variable("x", 1), Variable("y", 2)
    graph = FactorGraph([Factor([x], [a]), Factor([x, y], [[b, c]])])
    assert_allclose(eliminate(graph, "x", semiring="max-product").table, [0.15], rtol=0, atol=1e-15)
    with pytest.raises(ValueError, match=r"holds -0.3"):
        Factor([x], [-a])


# ── factor_graph_parameter_counts ────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("n", "naive_bayes", "full_table", "table_of_y"),
    [(1, 3, 3, 2), (2, 5, 6, 4), (5, 11, 37, 32), (10, 21, 1034, 1024), (20, 41, 1048596, 1048576)],
)
def test_factor_graph_parameter_counts(n, naive_bayes, full_table, table_of_y):
    """1 + 2n for y → x_i; n + 2ⁿ for x_i → y, of which 2ⁿ are the table of y."""
    states = {"y": 2} | {f"x{i}": 2 for i in range(n)}
    down = BayesianNetwork.from_edges([("y", f"x{i}") for i in range(n)], states)
    up = BayesianNetwork.from_edges([(f"x{i}", "y") for i in range(n)], states)
    assert down.n_parameters() == naive_bayes
    assert up.n_parameters() == full_table
    assert up.tables["y"].table.size // 2 == table_of_y
