"""Orders and plans of elimination: rules, scopes, costs and refusals."""

from math import prod

import numpy as np
import pytest

from likely.errors import GraphTooLarge, InvalidInput, UnknownName
from likely.graphical.exact.elimination import elimination_plan
from likely.graphical.exact.triangulation import ORDERS, order_by_rule
from tests.graphical.random_graphs import random_graph

GRID = [
    *((f"{i}{j}", f"{i}{j + 1}") for i in range(4) for j in range(3)),
    *((f"{i}{j}", f"{i + 1}{j}") for i in range(3) for j in range(4)),
]
GRID_STATES = {f"{i}{j}": 2 for i in range(4) for j in range(4)}


@pytest.mark.parametrize("rule", ORDERS)
@pytest.mark.parametrize("seed", range(15))
def test_each_rule_takes_the_cheapest_variable_at_every_step(rule, seed):
    graph = random_graph(seed, n=9, n_factors=9)
    scopes = [factor.scope for factor in graph.factors]
    n_states = {variable.name: variable.n_states for variable in graph.variables}
    names = graph.names[2:]
    order = order_by_rule(scopes, n_states, names, rule)
    assert sorted(order) == sorted(names)
    near = {name: set(others) for name, others in graph.neighbours.items()}
    waiting = list(names)
    for name in order:
        costs = {each: _cost(rule, each, near, n_states) for each in waiting}
        assert costs[name] == pytest.approx(min(costs.values()))
        waiting.remove(name)
        around = near.pop(name)
        for each in around:
            near[each] = (near[each] | around) - {each, name}


def test_a_chain_is_eliminated_from_its_end():
    scopes = [(f"x{i}", f"x{i + 1}") for i in range(5)]
    n_states = {f"x{i}": 3 for i in range(6)}
    plan = elimination_plan(scopes, n_states, ["x3"], "min-fill")
    assert plan.order == ("x0", "x1", "x2", "x5", "x4")
    assert max(len(step.before) for step in plan.steps) == 2
    assert plan.steps[1].multiplied == (("x1", "x2"), ("x1",))
    assert (plan.steps[1].before, plan.steps[1].after) == (("x2", "x1"), ("x2",))
    assert plan.steps[1].operations == 9 + 9 - 3  # nine products, then two sums for each state


def test_a_hub_with_many_leaves_is_planned_quickly():
    n_states = {"hub": 2} | {f"x{i}": 2 for i in range(3000)}
    scopes = [("hub", f"x{i}") for i in range(3000)]
    for rule in ORDERS:
        order = order_by_rule(scopes, n_states, list(n_states), rule)
        assert order.index("hub") >= 2999


def test_a_grid_keeps_small_products():
    plan = elimination_plan(GRID, GRID_STATES, (), "min-fill")
    assert max(len(step.before) for step in plan.steps) == 5
    worst = sorted(GRID_STATES, key=lambda name: (int(name) % 2, name))
    assert max(len(s.before) for s in elimination_plan(GRID, GRID_STATES, (), worst).steps) > 5


def test_variables_in_no_table_are_steps_too():
    plan = elimination_plan([("a",)], {"a": 2, "b": 3}, (), ["b", "a"])
    assert plan.steps[0].multiplied == ()
    assert plan.steps[0].before == ("b",)


def test_planned_bytes_hold_the_tables_that_are_alive():
    plan = elimination_plan([("a", "b")], {"a": 10, "b": 20}, (), ["a", "b"])
    table, product = 8 * 200, 8 * 4 * 200
    assert plan.planned_bytes("nothing") == table + product
    assert plan.planned_bytes("products") >= plan.planned_bytes("nothing")
    with pytest.raises(
        GraphTooLarge, match=r"Eliminating 2 variables .* needs about 8 kB"
    ) as refused:
        plan.refuse_above(1000)
    assert (refused.value.bytes, refused.value.limit) == (8000, 1000)
    plan.refuse_above(8000)


def test_a_product_beyond_all_memory_is_refused_without_a_number():
    n_states = {f"x{i}": 10 for i in range(400)} | {"hub": 2}
    order = ["hub", *(f"x{i}" for i in range(400))]
    plan = elimination_plan([("hub", f"x{i}") for i in range(400)], n_states, (), order)
    assert plan.planned_bytes("nothing") == np.inf
    with pytest.raises(GraphTooLarge, match=r"needs more than 1e\+308 bytes"):
        plan.refuse_above(10**12)


@pytest.mark.parametrize(
    ("order", "message"),
    [
        (["a"], "The order lacks 'b'; each variable to eliminate was expected once: a, b"),
        (["a", "b", "a"], "names 'a' twice"),
        (["a", "b", "c"], "holds 'c', which is kept in the result"),
        (["a", "b", "z"], "holds 'z', which is observed or not in the graph"),
    ],
)
def test_an_explicit_order_is_checked(order, message):
    with pytest.raises(InvalidInput, match=message):
        elimination_plan([("a", "b"), ("b", "c")], {"a": 2, "b": 2, "c": 2}, ["c"], order)


def test_an_unknown_rule_suggests_the_nearest():
    with pytest.raises(
        UnknownName, match=r"no elimination order 'min-fil'.*Did you mean 'min-fill'"
    ):
        elimination_plan([("a",)], {"a": 2}, (), "min-fil")


def _cost(rule, name, near, n_states):
    if rule == "min-degree":
        return len(near[name])
    if rule == "min-weight":
        return np.log2(prod(n_states[each] for each in (name, *near[name])))
    return sum(b not in near[a] for a in near[name] for b in near[name] if a < b)


def test_planned_bytes_hold_a_sum_until_it_is_multiplied():
    n_states = {"a": 2, "b": 10, "c": 50}
    plan = elimination_plan([("a", "b"), ("b", "c")], n_states, ("c",), ["a", "b"])
    left = 8 * 10 + 8 * 500  # the sum over a, and the second table
    assert plan.planned_bytes("nothing") == left + 8 * 4 * 500


def test_planned_bytes_of_a_plan_without_steps_hold_the_product_of_its_tables():
    plan = elimination_plan([("a", "b")], {"a": 10, "b": 20}, ("a", "b"), ())
    assert plan.steps == ()
    assert plan.planned_bytes("nothing") == 8 * 200 + 8 * 4 * 200
