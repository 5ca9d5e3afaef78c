"""Plans: kept by the set of observed variables, shared by graphs with equal scopes, never saved."""

import copy
import pickle
from threading import Thread

import numpy as np
import pytest

from likely.graphical.exact import plans as module
from likely.graphical.exact.plans import RecentlyUsed
from likely.graphical.model.factor import Factor
from likely.graphical.model.factor_graph import FactorGraph
from likely.graphical.model.variable import Variable
from tests.graphical.exact.test_junction_tree import grid
from tests.graphical.random_graphs import random_graph, random_network


def test_the_latest_values_are_kept():
    kept, made = RecentlyUsed(2), []

    def value(key):
        return kept.get(key, lambda: made.append(key) or key)

    assert [value(key) for key in (1, 2, 1, 3, 1, 2)] == [1, 2, 1, 3, 1, 2]
    assert made == [1, 2, 3, 2]  # 2 had made way for 3
    assert 1 in kept
    assert 3 not in kept


def test_a_tree_is_planned_once_for_a_set_of_observed_variables(monkeypatch):
    graph, planned = grid(5, 5), []
    plan = module.junction_tree
    monkeypatch.setattr(
        module, "junction_tree", lambda *given: planned.append(given) or plan(*given)
    )
    monkeypatch.setattr(module, "SLICING_CELLS", 0)
    monkeypatch.setattr(module, "PLANNING_CELLS", 0)
    for state in (0, 1, 0):
        graph.query(given={"0,0": state, "1,1": 1}, soft={"3,3": [0.2, 0.1 * (state + 1)]})
    assert len(planned) == 2  # of all variables, and without the two


def test_a_variable_with_one_state_closes_no_cycle():
    a, b, c, one = Variable("a", 2), Variable("b", 2), Variable("c", 3), Variable("one", 1)

    def ring(*variables):
        pairs = zip(variables, [*variables[1:], variables[0]], strict=True)
        return FactorGraph([Factor(pair, np.ones([v.n_states for v in pair])) for pair in pairs])

    assert not ring(a, b, c).plans.is_forest(frozenset())
    assert ring(a, b, c).plans.is_forest(frozenset({"b"}))
    assert ring(a, b, one).plans.is_forest(frozenset())


def test_a_tree_of_all_variables_serves_until_the_same_are_observed_again(monkeypatch):
    monkeypatch.setattr(module, "SLICING_CELLS", 0)
    plans, seen = grid(5, 5).plans, frozenset({"0,0"})
    assert plans.tree_for(seen) is plans.common
    assert plans.tree_for(frozenset({"1,0"})) is plans.common
    assert plans.tree_for(seen) is plans.tree(seen) is not plans.common
    monkeypatch.undo()
    assert plans.tree_for(seen) is plans.common  # small


def test_graphs_with_equal_scopes_share_their_trees():
    network = random_network(1)
    tree = network.junction_tree()
    other = network.with_factors(
        Factor(f.variables, np.full(f.table.shape, 1 / f.table.shape[-1])) for f in network.factors
    )
    assert other.junction_tree() is tree
    assert other.query("v0").marginal("v0") == pytest.approx([0.5, 0.5])
    turned = network.factor_graph().with_factors(network.factors[::-1])
    assert turned.junction_tree() is not tree


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda graph: pickle.loads(pickle.dumps(graph))])
def test_copies_of_a_graph_leave_its_plans_behind(copied):
    graph = random_network(2)
    before = graph.query("v0", {"v1": 0}).marginal("v0")
    other = copied(graph)
    assert "plans" not in vars(other)
    assert other.query("v0", {"v1": 0}).marginal("v0").tolist() == before.tolist()


def test_threads_may_ask_one_graph():
    graph = random_graph(3, zeros=0.0)
    expected = graph.query().marginal("v1")
    found = []

    def ask():
        for code in range(20):
            graph.query(given={"v0": code % graph.by_name["v0"].n_states})
            found.append(graph.query().marginal("v1"))

    threads = [Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 80
    assert all(np.allclose(each, expected, rtol=0, atol=1e-12) for each in found)


def test_small_graphs_are_answered_without_compiling_until_they_are_asked_often(monkeypatch):
    from likely.graphical.exact import cost as speed

    monkeypatch.setattr(speed, "LOOPS", "no module")
    monkeypatch.setattr(speed, "_done", 0.0)  # other tests have done more
    plans = random_graph(0).plans
    tree = plans.tree(frozenset())
    assert not plans.is_fast(tree)
    assert any(plans.is_fast(tree) for _ in range(int(speed.FAST_WORK / speed.CLIQUE_WORK)))


@pytest.mark.parametrize("kept", [True, False])
def test_loops_that_are_compiled_on_disk_are_loaded_sooner(kept, tmp_path, monkeypatch):
    from likely.graphical.exact import cost as speed

    if kept:
        (tmp_path / "place").mkdir()
        (tmp_path / "place" / "propagation.sum-1.py311.nbi").touch()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    speed._patience.cache_clear()
    try:
        assert speed._patience() == (speed.TO_LOAD if kept else speed.TO_COMPILE)
        assert speed.TO_LOAD < speed.TO_COMPILE
    finally:
        speed._patience.cache_clear()
