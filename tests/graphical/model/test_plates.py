"""Plates (GM-3): unrolled, scored and drawn; what is inside and outside must fit together."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from likely import GaussianMixture, MixtureModel
from likely.distributions import DiagonalGaussian
from likely.errors import CyclicGraph, InvalidInput, UnknownName
from likely.graphical.drawing.diagram import Edge, Plate
from likely.graphical.exact.enumeration import log_joint_table
from likely.graphical.model.graph_evidence import checked_evidence
from likely.graphical.model.plates import PlateModel
from likely.special import logsumexp

MIXTURE = PlateModel(
    {"c": 2, "x": ["low", "middle", "high"]},
    {"c": [0.3, 0.7], "x": [[0.6, 0.3, 0.1], [0.1, 0.2, 0.7]]},
    {"x": ["c"]},
    {"N": ["c", "x"]},
    observed=["x"],
)
BIGGEST = 2**30


def log_evidence(network, states):
    """log P of some states by enumeration of all others."""
    evidence = checked_evidence(network.by_name, states)
    return float(logsumexp(log_joint_table(network, evidence, BIGGEST)))


def cells(model, name, sizes):
    return product(*(range(sizes[plate]) for plate in model.plates_of(name)))


def states_by_copy(model, data, sizes):
    """The data as states of the unrolled network; missing cells are left out."""
    found = {}
    for name, values in data.items():
        for cell in cells(model, name, sizes):
            value = np.asarray(values, dtype=object)[cell]
            copy = f"{name}[{','.join(str(i + 1) for i in cell)}]" if cell else name
            if value is not None:
                found[copy] = value
    return found


def random_model(rng, plates):
    """Variables in the plates given, each with up to two parents that its plates allow."""
    members = {"N": [], "M": []}
    parents, states = {}, {}
    for i, inside in enumerate(plates):
        name = f"v{i}"
        allowed = [f"v{j}" for j in range(i) if set(plates[j]) <= set(inside)]
        parents[name] = list(rng.permutation(allowed)[: rng.integers(0, 3)])
        states[name] = int(rng.integers(2, 4))
        for plate in inside:
            members[plate].append(name)
    tables = {
        name: rng.dirichlet(np.ones(states[name]), size=[states[p] for p in parents[name]])
        for name in states
    }
    return PlateModel(states, tables, parents, members)


def random_data(rng, model, sizes, missing):
    data = {}
    for name in model.names:
        n_states = model.template.by_name[name].n_states
        shape = [sizes[plate] for plate in model.plates_of(name)]
        values = rng.integers(0, n_states, shape).astype(object)
        values = np.where(rng.random(shape) < missing, None, values)
        data[name] = values
    return data


def test_unrolling_copies_the_inner_nodes_and_not_the_outer():
    model = PlateModel(
        {"r": 2, "c": 3, "x": 2},
        {"r": [0.5, 0.5], "c": np.full((2, 3), 1 / 3), "x": np.full((2, 3, 2), 0.5)},
        {"c": ["r"], "x": ["r", "c"]},
        {"N": ["c", "x"], "M": ["x"]},
    )
    network = model.unroll({"N": 3, "M": 2})
    assert len(network.names) == 1 + 3 + 3 * 2
    assert network.parents["x[2,1]"] == ("r", "c[2]")
    assert len(network.children["r"]) == 3 + 3 * 2
    assert network.children["c[3]"] == ("x[3,1]", "x[3,2]")
    tables = [network.tables[f"c[{n}]"].table for n in (1, 2, 3)]
    assert (tables[0] == tables[1]).all() and (tables[0] == tables[2]).all()


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 9999))
def test_the_plate_formula_is_the_joint_of_the_unrolled_network(seed):
    rng = np.random.default_rng(seed)
    model = random_model(rng, [(), ("N",), ("N", "M"), ("M",), ("N", "M")])
    sizes = {"N": 2, "M": 3}
    data = random_data(rng, model, sizes, missing=0.0)
    network = model.unroll(sizes)
    assert_allclose(
        model.log_prob(data), network.log_value(states_by_copy(model, data, sizes)), rtol=1e-12
    )


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 9999))
def test_hidden_variables_and_missing_cells_are_summed_out(seed):
    """Nested plates, with any variables hidden, against enumeration."""
    rng = np.random.default_rng(seed)
    model = random_model(rng, [(), ("N",), ("N", "M"), ("N", "M")])
    sizes = {"N": 2, "M": 2}
    data = random_data(rng, model, sizes, missing=0.3)
    hidden = [name for name in model.names[:3] if rng.random() < 0.4]
    data = {name: values for name, values in data.items() if name not in hidden}
    expected = log_evidence(model.unroll(sizes), states_by_copy(model, data, sizes))
    assert_allclose(model.log_likelihood(data), expected, rtol=1e-10, atol=1e-10)


def test_a_shared_hidden_variable_is_summed_once():
    """Two draws from one of two urns: (1/2)(0.9² + 0.2²), not the product of two sums."""
    urns = PlateModel(
        {"urn": 2, "ball": ["white", "black"]},
        {"urn": [0.5, 0.5], "ball": [[0.9, 0.1], [0.2, 0.8]]},
        {"ball": "urn"},
        {"N": "ball"},
    )
    got = urns.log_likelihood({"ball": ["white", "white"]})
    assert_allclose(np.exp(got), (0.81 + 0.04) / 2)


def test_impossible_data_have_log_likelihood_minus_infinity():
    model = PlateModel({"x": 2}, {"x": [1.0, 0.0]}, plates={"N": ["x"]})
    assert model.log_likelihood({"x": [0, 1]}) == -np.inf


def test_the_mixture_plate_gives_the_marginal_likelihood_of_a_mixture():
    """Σ_n log Σ_c P(c) P(x_n | c), as MIX-5 and the fitted models compute it."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(0, 1, (40, 2)), rng.normal(4, 2, (30, 2))])
    fitted = GaussianMixture(2, random_state=0).fit(X)
    plate = PlateModel(
        {"c": 2}, {"c": fitted.weights_, "x": fitted.distribution_}, {"x": ["c"]}, {"N": ["c", "x"]}
    )
    assert_allclose(plate.log_likelihood({"x": X}), fitted.score_samples(X).sum(), rtol=1e-12)
    labels = fitted.predict(X)
    joint = fitted.predict_joint_log_proba(X)[np.arange(len(X)), labels].sum()
    assert_allclose(plate.log_prob({"x": X, "c": labels}), joint, rtol=1e-12)


def test_a_mixture_of_categories_is_a_plate_of_tables():
    """Two columns, given the component, are two children of it."""
    rng = np.random.default_rng(1)
    c = rng.integers(0, 2, 200)
    X = (rng.random((200, 2)) < np.array([[0.1, 0.2], [0.9, 0.7]])[c]).astype(int)
    fitted = MixtureModel(2, "categorical", n_init=1, max_iter=20, tol=1.0, random_state=0).fit(X)
    tables = [fitted.parameters(j)["probability"] for j in range(2)]
    plate = PlateModel(
        {"c": 2, "a": 2, "b": 2},
        {"c": fitted.weights_, "a": tables[0], "b": tables[1]},
        {"a": ["c"], "b": ["c"]},
        {"N": ["c", "a", "b"]},
    )
    got = plate.log_likelihood({"a": X[:, 0], "b": X[:, 1]})
    assert_allclose(got, fitted.score_samples(X).sum(), rtol=1e-10)


def test_a_leaf_with_a_distribution_has_a_component_for_each_state_of_its_parents():
    member = DiagonalGaussian(np.array([[0.0], [1.0], [5.0], [7.0]]), np.ones((4, 1)))
    model = PlateModel(
        {"a": 2, "b": 2},
        {"a": [0.5, 0.5], "b": [0.25, 0.75], "x": member},
        {"x": ["a", "b"]},
        {"N": ["b", "x"]},
    )
    x = np.array([0.3, 4.0, 6.0])
    density = np.exp(member.log_prob(x[:, None])).reshape(3, 2, 2)  # n, a, b
    within = (density * [0.25, 0.75]).sum(axis=2).prod(axis=0)
    assert_allclose(model.log_likelihood({"x": x}), np.log((0.5 * within).sum()))
    at_b = (density[np.arange(3), :, [0, 1, 1]] * [[0.25], [0.75], [0.75]]).prod(axis=0)
    assert_allclose(model.log_likelihood({"x": x, "b": [0, 1, 1]}), np.log((0.5 * at_b).sum()))


def test_the_picture_has_the_plates_and_the_observed_variables():
    diagram = MIXTURE.draw()
    assert diagram.plates == (Plate("N", ("c", "x")),)
    assert diagram.edges == (Edge("c", "x"),)
    assert [(node.label, node.shaded) for node in diagram.nodes] == [("cₙ", False), ("xₙ", True)]
    assert MIXTURE._repr_svg_() == diagram.svg
    assert repr(MIXTURE) == "<PlateModel: c, x; plates N: c, x>"


def test_the_picture_is_saved(tmp_path):
    MIXTURE.draw(tmp_path / "mixture.svg")
    assert (tmp_path / "mixture.svg").read_text().startswith("<svg")


def model_of(**changes):
    given = {
        "states": {"a": 2, "b": 2},
        "conditionals": {"a": [0.5, 0.5], "b": [[0.5, 0.5], [0.5, 0.5]]},
        "parents": {"b": ["a"]},
        "plates": {"N": ["a", "b"]},
    }
    return PlateModel(**(given | changes))


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"parents": {"b": ["q"]}}, UnknownName, "no variable with a conditional 'q'"),
        ({"parents": {"q": ["a"]}}, UnknownName, "no variable with a conditional 'q'"),
        ({"plates": {"N": ["q"]}}, UnknownName, "no variable with a conditional 'q'"),
        ({"observed": ["q"]}, UnknownName, "no variable with a conditional 'q'"),
        (
            {
                "parents": {"b": ["a"], "a": ["b"]},
                "conditionals": {"a": np.full((2, 2), 0.5), "b": np.full((2, 2), 0.5)},
            },
            CyclicGraph,
            "have a cycle",
        ),
        ({"plates": {"N": ["a"]}}, InvalidInput, "'a' is in the plate N and its child 'b' is not"),
        (
            {"conditionals": {"a": [0.5, 0.6], "b": np.full((2, 2), 0.5)}},
            InvalidInput,
            "sums to 1.1",
        ),
        (
            {
                "states": {"a": 2},
                "conditionals": {
                    "a": [0.5, 0.5],
                    "b": DiagonalGaussian(np.zeros((3, 1)), np.ones((3, 1))),
                },
            },
            InvalidInput,
            "has 3 components; 2 were expected",
        ),
        (
            {
                "states": {"b": 2},
                "conditionals": {
                    "a": DiagonalGaussian(np.zeros((1, 1)), np.ones((1, 1))),
                    "b": [0.5, 0.5],
                },
            },
            InvalidInput,
            "'a' has a distribution and is a parent of 'b'",
        ),
    ],
)
def test_a_model_that_does_not_fit_together_is_refused(changes, error, message):
    with pytest.raises(error, match=message):
        model_of(**changes)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"a": [0, 1], "b": [0, 1], "q": [0]}, "no variable with a conditional 'q'"),
        ({"a": [0, 1]}, "no values of b"),
        ({"a": [0, 1], "b": [0, None]}, "'b' has missing values"),
        ({"a": [0, 1], "b": [0, 1, 1]}, "3 copies of 'b' and 2 of another"),
        ({"a": [[0, 1]], "b": [0]}, r"shape \(1, 2\); an axis for each of N was expected"),
        ({"a": [0, 5], "b": [0, 1]}, "'a' has no state '5'"),
    ],
)
def test_data_that_do_not_fit_are_refused(data, message):
    with pytest.raises(InvalidInput, match=message):
        model_of().log_prob(data)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({}, "size of the plate N is None"),
        ({"N": 0}, "whole number from 1 up"),
        ({"N": 2.5}, "whole number from 1 up"),
        ({"N": 2, "M": 2}, "no plate 'M'"),
    ],
)
def test_sizes_are_whole_numbers_for_every_plate(sizes, message):
    with pytest.raises(InvalidInput, match=message):
        model_of().unroll(sizes)


def test_what_cannot_be_done_is_said_with_what_can():
    gaussian = DiagonalGaussian(np.zeros((2, 1)), np.ones((2, 1)))
    model = model_of(states={"a": 2}, conditionals={"a": [0.5, 0.5], "b": gaussian})
    with pytest.raises(InvalidInput, match="only discrete variables can be unrolled"):
        model.unroll({"N": 2})
    with pytest.raises(InvalidInput, match=r"The values of 'b' have the shape \(2, 3\)"):
        model.log_likelihood({"b": np.zeros((2, 3))})
    with pytest.raises(InvalidInput, match="do not show the size of the plate N"):
        model_of().log_likelihood({})
    crossing = PlateModel(
        {"a": 2, "b": 2, "x": 2},
        {"a": [0.5, 0.5], "b": [0.5, 0.5], "x": np.full((2, 2, 2), 0.5)},
        {"x": ["a", "b"]},
        {"N": ["a", "x"], "M": ["b", "x"]},
    )
    with pytest.raises(InvalidInput, match="Hidden variables in different plates"):
        crossing.log_likelihood({"x": np.zeros((2, 3), dtype=int)})
    assert_allclose(
        crossing.log_likelihood({"x": np.zeros((2, 3), dtype=int), "a": [0, 1]}), 8 * np.log(0.5)
    )


NESTED = PlateModel(
    {"t": 2, "x": 2},
    {"t": [0.3, 0.7], "x": [[0.9, 0.1], [0.2, 0.8]]},
    {"x": ["t"]},
    {"N": ["t", "x"], "M": ["x"]},
)


def test_lists_of_different_lengths_are_refused_and_filled_with_none_have_the_right_likelihood():
    with pytest.raises(InvalidInput, match=r"'x' are lists of different lengths.*plate M.*None"):
        NESTED.log_likelihood({"x": [[0, 1], [1]]})
    with pytest.raises(InvalidInput, match="'x' are lists of different lengths"):
        NESTED.log_prob({"t": [0, 1], "x": [[0, 1], 1]})
    prior, likelihood = np.array([0.3, 0.7]), np.array([[0.9, 0.1], [0.2, 0.8]])
    first = np.log((prior * likelihood[:, 0] * likelihood[:, 1]).sum())
    second = np.log((prior * likelihood[:, 1]).sum())
    found = NESTED.log_likelihood({"x": [[0, 1], [1, None]]})
    assert_allclose(found, first + second, rtol=1e-14)


def test_data_and_sizes_of_other_types_are_refused_with_what_is_expected():
    with pytest.raises(InvalidInput, match="type list; values by the names of variables"):
        NESTED.log_likelihood([0, 1])
    with pytest.raises(InvalidInput, match="'x' are a dictionary; an array"):
        NESTED.log_likelihood({"x": {"a": 1}})
    with pytest.raises(InvalidInput, match=r"sizes are 3; .* Give {'N': 3, 'M': 3}"):
        NESTED.unroll(3)
