"""Plate diagrams of models: what is given, what is modelled, and what is repeated."""

import pytest

import likely
from likely import HiddenMarkovModel
from likely.distributions import Dirichlet
from likely.graphical.drawing.diagram import Edge
from likely.graphical.model.bayesian_network import BayesianNetwork


def nodes_of(model):
    return {node.name: (node.kind, node.shaded) for node in model.plate().nodes}


def plates_of(model):
    return {plate.label: set(plate.members) for plate in model.plate().plates}


def test_inputs_of_a_regression_are_given_and_not_modelled():
    """GM-8: squares, with an arrow to the response and none to themselves."""
    diagram = likely.LogisticRegression(l2=0.0).plate()
    nodes = {node.name: (node.kind, node.shaded) for node in diagram.nodes}
    assert nodes == {"xₙ": ("square", True), "yₙ": ("circle", True), "β": ("circle", False)}
    assert set(diagram.edges) == {Edge("xₙ", "yₙ"), Edge("β", "yₙ")}


def test_naive_bayes_repeats_parameters_by_class_and_by_column():
    """GM-6: P(y) Π_j P(x_j | y)."""
    assert plates_of(likely.NaiveBayes("bernoulli")) == {
        "N": {"yₙ", "xₙⱼ"},
        "K": {"θₖⱼ"},
        "J": {"xₙⱼ", "θₖⱼ"},
    }
    assert nodes_of(likely.NaiveBayes("bernoulli"))["α"] == ("dot", False)
    assert "α" not in nodes_of(likely.NaiveBayes("bernoulli", smoothing=0.0))
    assert {"μₖⱼ", "σ²ₖⱼ"} < set(nodes_of(likely.NaiveBayes("gaussian")))
    assert "J" not in plates_of(likely.NaiveBayes("multinomial"))


def test_what_is_not_observed_is_not_shaded():
    assert nodes_of(likely.NaiveBayes())["yₙ"] == ("circle", True)
    assert nodes_of(likely.NaiveBayes(unlabelled=-1))["yₙ"] == ("circle", False)
    assert nodes_of(likely.GaussianMixture(2))["cₙ"] == ("circle", False)


@pytest.mark.parametrize(
    ("prior", "kind"),
    [("estimate", "circle"), (Dirichlet(2.0), "circle"), ("uniform", "dot"), ([0.5, 0.5], "dot")],
)
def test_a_prior_that_is_given_is_a_constant(prior, kind):
    assert nodes_of(likely.DiscriminantAnalysis(prior=prior))["π"][0] == kind


def test_a_tied_covariance_is_outside_the_plate_of_the_classes():
    assert plates_of(likely.DiscriminantAnalysis())["K"] == {"μₖ"}
    assert plates_of(likely.DiscriminantAnalysis("full"))["K"] == {"μₖ", "Σₖ"}


@pytest.mark.parametrize(
    ("model", "parameters"),
    [
        (likely.LinearRegression(), {"β", "σ²"}),
        (likely.GLM("poisson"), {"β"}),
        (likely.GLM("gamma"), {"β", "ψ"}),
        (likely.GLM("negative-binomial"), {"β", "α"}),
        (likely.GLM("negative-binomial(0.5)"), {"β"}),
        (likely.SoftmaxRegression(), {"βₖ", "λ"}),
        (likely.OrdinalRegression(l2=0.0), {"w", "bₖ"}),
        (likely.PenaltyPath(likely.LinearRegression()), {"β", "σ²", "λ"}),
        (likely.PenaltyPath(likely.LogisticRegression()), {"β", "λ"}),
        (likely.PlattScaling(likely.NaiveBayes()), {"a", "b"}),
    ],
)
def test_parameters_follow_from_the_settings(model, parameters):
    rows = plates_of(model)["N"]
    assert {name for name in nodes_of(model) if name not in rows} == parameters


def test_a_prepared_model_has_the_diagram_of_its_model():
    inner = likely.LogisticRegression()
    assert likely.Prepared(inner).plate() == inner.plate()


def test_the_states_of_a_sequence_depend_on_the_ones_before():
    diagram = HiddenMarkovModel(2, "gaussian").plate()
    plates = {plate.label: set(plate.members) for plate in diagram.plates}
    assert plates == {"N": {"zₙₜ₋₁", "zₙₜ", "xₙₜ"}, "T": {"zₙₜ", "xₙₜ"}, "K": {"μₖ", "Σₖ"}}
    assert Edge("zₙₜ₋₁", "zₙₜ") in diagram.edges
    assert [node.name for node in diagram.nodes if node.shaded] == ["xₙₜ"]
    assert "θₖ" in nodes_of(HiddenMarkovModel(2, "categorical"))


def test_a_network_is_repeated_for_each_row():
    network = BayesianNetwork.from_edges([("a", "b")], {"a": 2, "b": 2})
    diagram = likely.BayesianNetworkClassifier(network).plate()
    assert diagram.plates[0].members == ("a", "b")
    assert diagram.edges == (Edge("a", "b"),)
    assert all(node.shaded for node in diagram.nodes)


def test_a_network_that_is_learned_joins_each_column_to_another():
    edges = likely.BayesianNetworkClassifier().plate().edges
    assert {Edge("yₙ", "xₙⱼ"), Edge("xₙᵢ", "xₙⱼ")} < set(edges)
    naive = likely.BayesianNetworkClassifier(structure="naive-bayes", smoothing=0.0)
    assert set(nodes_of(naive)) == {"π", "yₙ", "xₙⱼ", "θⱼ"}
