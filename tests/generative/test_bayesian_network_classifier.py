"""Networks as classifiers: they predict by their joint, explain it, and answer for any column."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris

from likely import BayesianNetworkClassifier, Discretizer, NaiveBayes
from likely.distributions import Dirichlet
from likely.errors import (
    CyclicGraph,
    ImpossibleEvidence,
    InvalidInput,
    UnknownName,
    UnseenCategories,
)
from likely.examples import five_variables
from likely.generative.bayesian_network_classifier import _one_after_another, column_contributions
from likely.graphical.model.bayesian_network import BayesianNetwork

STRUCTURES = ("naive-bayes", "tan", "chow-liu", "hill-climbing")
X, Y = load_iris(return_X_y=True)
GAPPY = np.where(np.random.default_rng(0).random(X.shape) < 0.2, np.nan, X)


def weather(n=300, seed=0):
    """A frame of words, Booleans and numbers in which the columns depend on each other."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    cloud = (rng.random(n) < 0.2 + 0.6 * y).astype(int)
    wet = rng.random(n) < 0.1 + 0.5 * cloud + 0.3 * y
    frame = pd.DataFrame(
        {
            "sky": np.array(["clear", "grey"], dtype=object)[cloud],
            "wet": wet,
            "degrees": 20 - 5 * cloud + rng.normal(size=n),
        }
    )
    return frame, pd.Series(np.array(["good", "bad"])[y], name="day")


def model_of(structure="tan", **settings):
    return BayesianNetworkClassifier(structure=structure, **settings)


def log_odds(model, rows):
    log_proba = model.predict_log_proba(rows)
    return log_proba - log_proba[:, [0]]


@pytest.mark.parametrize("rows", [X, GAPPY], ids=["complete", "gaps"])
def test_the_naive_network_is_naive_bayes(rows):
    bins = Discretizer(edges=[[5.5, 6.2], [3.0], [2.5, 4.8], [0.8, 1.7]])
    network = model_of("naive-bayes", discretize=bins).fit(rows, Y)
    naive = NaiveBayes(discretize=bins, prior=Dirichlet(2.0)).fit(rows, Y)
    assert_allclose(network.predict_proba(rows), naive.predict_proba(rows), rtol=1e-12, atol=1e-12)
    joint = network.predict_joint_log_proba(rows)
    assert_allclose(joint, naive.predict_joint_log_proba(rows), rtol=1e-11, atol=1e-11)
    assert_allclose(network.log_likelihood(rows, Y), naive.log_likelihood(rows, Y), rtol=1e-12)
    assert network.n_parameters() == naive.n_parameters()
    explained, expected = (model.explain(rows[:20], against=1) for model in (network, naive))
    assert_allclose(explained.contributions, expected.contributions, rtol=1e-11, atol=1e-11)
    assert_allclose(explained.base, expected.base, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("structure", STRUCTURES)
def test_predictions_are_those_of_the_joint_distribution(structure):
    frame, y = weather()
    model = model_of(structure).fit(frame, y)
    joint = model.network_.joint()
    names = list(model.network_.names)
    codes = model._codes(frame[:40])
    cells = [
        joint[tuple(slice(None) if n == "day" else row[names.index(n)] for n in names)]
        for row in codes
    ]
    of_x = np.sum(cells, axis=1)
    assert_allclose(model.predict_proba(frame[:40]), cells / of_x[:, None], rtol=1e-12, atol=1e-12)
    assert_allclose(model.score_samples(frame[:40]), np.log(of_x), rtol=1e-10, atol=1e-10)
    each = np.log(cells)[np.arange(40), np.searchsorted(model.classes_, y[:40])]
    assert_allclose(model.log_likelihoods(frame[:40], y[:40]), each, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("gaps", [False, True])
def test_contributions_add_up_to_the_log_odds(structure, gaps):
    frame, y = weather()
    model = model_of(structure).fit(frame, y)
    rows = frame[:30].copy()
    if gaps:
        rows = rows.assign(sky=rows["sky"].where(np.arange(30) % 3 > 0, None))
        rows.loc[::4, "degrees"] = np.nan
    explained = model.explain(rows)
    assert explained.contributions.shape == (30, 3, 2)
    assert_allclose(explained.total, log_odds(model, rows), rtol=1e-12, atol=1e-12)
    missing = rows.isna().to_numpy()
    assert_allclose(explained.contributions[missing], 0.0, rtol=1e-12, atol=1e-12)
    assert_allclose(explained.contributions[:, :, 0], 0.0)
    assert "log-odds against 'bad'" in str(explained)


def test_without_smoothing_classes_and_rows_may_be_impossible():
    frame = pd.DataFrame({"a": ["x", "x", "y", "z"], "b": ["u", "v", "u", "v"]})
    model = model_of("naive-bayes", smoothing=0.0).fit(frame, ["p", "p", "q", "r"])
    explained = model.explain(frame)
    assert_allclose(explained.contributions[:, :, 0], 0.0)
    assert_allclose(explained.total[:2, 1:], -np.inf)
    assert_array_equal(np.isnan(explained.total[2]), [False, False, True])  # p and r are both 0
    together = pd.DataFrame({"class": ["p", "q"], "a": ["z", "y"]})  # p and z never are
    assert_array_equal(model.predict_column(together, "b"), ["u", "u"])
    with pytest.raises(UnknownName, match=r"no class of 'class' 's'"):
        model.predict_column(together.assign(**{"class": ["p", "s"]}), "b")


def test_contributions_of_a_chain_equal_those_of_the_tables():
    frame, y = weather()
    model = model_of("tan").fit(frame, y)
    names = tuple(frame.columns)
    codes = model._codes(frame[:20])
    tables = column_contributions(model.network_, "day", names, codes)
    chain = _one_after_another(model.network_, "day", names, codes)
    for part in (tables, chain):
        part -= part[:, :, :1]  # a share that the classes have in common
    assert_allclose(tables, chain, rtol=1e-11, atol=1e-11)


def test_a_missing_cell_is_summed_out():
    frame, y = weather()
    model = model_of("tan").fit(frame, y)
    rows = frame[:5].assign(sky=None)
    each = [model.predict_joint_log_proba(rows.assign(sky=sky)) for sky in ("clear", "grey")]
    assert_allclose(
        model.predict_joint_log_proba(rows), np.logaddexp(*each), rtol=1e-11, atol=1e-11
    )


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_any_column_is_predicted_from_any_of_the_others(library):
    frame, y = weather()
    own = library(frame.to_dict("list"))
    model = model_of("tan", target="day").fit(own, y.to_numpy())
    some = library({"day": ["good", "bad", None], "wet": [True, None, None]})
    beliefs = model.query(some, ["sky", "day"])
    network = model.network_
    for i, row in enumerate([{"day": "good", "wet": True}, {"day": "bad"}, {}]):
        alone = network.query(["sky", "day"], row)
        assert_allclose(beliefs["sky"][i], list(alone["sky"].values()), rtol=1e-12, atol=1e-12)
        assert_allclose(beliefs.log_evidence[i], alone.log_evidence, rtol=1e-12, atol=1e-12)
    assert_allclose(beliefs["day"][:2], [[0, 1], [1, 0]])
    assert type(beliefs.to_frame()) is type(own)
    best = beliefs["sky"].argmax(axis=1)
    skies = np.array(["clear", "grey"], dtype=object)
    assert_array_equal(model.predict_column(some, "sky"), skies[best])
    warm = model.predict_column(library({"sky": ["clear", "grey"]}), "degrees")
    assert warm[0] > warm[1]


def test_a_column_is_predicted_from_the_others_alone():
    frame, y = weather()
    model = model_of("tan").fit(frame, y)
    told = frame[:10].assign(day=y[:10])
    untold = told.assign(sky=None)
    assert_array_equal(model.predict_column(told, "sky"), model.predict_column(untold, "sky"))
    labels = model.predict_column(told, "day")
    assert_array_equal(labels, model.predict(frame[:10]))
    with pytest.raises(UnknownName, match=r"no variable 'skye'.*Did you mean 'sky'"):
        model.predict_column(told, "skye")
    with pytest.raises(UnknownName, match=r"no column of the model 'skye'.*Did you mean 'sky'"):
        model.query(pd.DataFrame({"skye": ["grey"]}))
    with pytest.raises(UnknownName, match=r"no class of 'day' 'awful'"):
        model.query(pd.DataFrame({"day": ["awful"]}))


def test_unseen_categories_are_missing_with_a_warning():
    frame, y = weather()
    model = model_of("tan").fit(frame, y)
    new = frame[:3].assign(sky=["purple", "grey", None])
    with pytest.warns(UnseenCategories, match="sky='purple'"):
        found = model.predict_proba(new)
    assert_allclose(found[0], model.predict_proba(new.assign(sky=None))[0])


@pytest.mark.parametrize("settings", [{}, {"discretize": "quantile"}, {"structure": "chow-liu"}])
def test_samples_come_from_the_network(settings):
    model = BayesianNetworkClassifier(**settings).fit(X, Y)
    drawn, labels = model.sample(4000, random_state=0)
    assert drawn.shape == (4000, 4)
    again = model.sample(4000, random_state=0)
    assert_array_equal(again[0], drawn)
    assert_allclose(np.bincount(labels) / 4000, np.exp(model.class_log_prior_), atol=0.03)
    codes = model._codes(drawn)[:, 0]
    expected = list(model.network_.query("x0")["x0"].values())
    assert_allclose(np.bincount(codes) / 4000, expected, atol=0.03)


def test_samples_of_a_frame_are_frames_of_its_library():
    frame, y = weather()
    drawn, labels = model_of().fit(pl.from_pandas(frame), y).sample(5, random_state=1)
    assert isinstance(drawn, pl.DataFrame)
    assert drawn.columns == ["sky", "wet", "degrees"]
    assert set(drawn["sky"]) <= {"clear", "grey"}
    assert set(labels) <= {"good", "bad"}


def test_edges_may_be_given():
    frame, y = weather()
    edges = [("day", "sky"), ("sky", "degrees"), ("day", "wet"), ("sky", "wet")]
    model = model_of(edges).fit(frame, y)
    assert set(model.network_.edges) == set(edges)
    with pytest.raises(UnknownName, match=r"no variable 'skyy'.*Did you mean 'sky'"):
        model_of([("day", "skyy")]).fit(frame, y)
    with pytest.raises(CyclicGraph, match=r"day → sky → day|sky → day → sky"):
        model_of([("day", "sky"), ("sky", "day")]).fit(frame, y)
    with pytest.raises(UnknownName, match=r"no structure 'tann'.*Did you mean 'tan'"):
        model_of("tann").fit(frame, y)


def drawn_rows(n=400):
    """Rows of the five variables; the class is x1."""
    frame = five_variables().sample(n, random_state=3, library="pandas")
    return frame.drop(columns="x1"), frame["x1"]


def test_the_tables_of_a_given_network_are_learned_or_kept():
    rows, y = drawn_rows()
    network = five_variables()
    learned = BayesianNetworkClassifier(network).fit(rows, y)
    assert learned.target_ == "x1"
    assert learned.network_.edges == network.edges
    share = (np.sum(y == 0) + 1) / (len(y) + 2)
    assert_allclose(learned.network_.tables["x1"].table[0], share)
    kept = BayesianNetworkClassifier(network, tables="keep").fit(rows, y)
    assert kept.network_ is network
    given = {"x2": 1, "x3": 0, "x4": 1, "x5": 1}
    one = pd.DataFrame({name: [str(state)] for name, state in given.items()})
    expected = list(network.query("x1", given)["x1"].values())
    assert_allclose(kept.predict_proba(one)[0], expected, rtol=1e-12, atol=1e-12)


def test_hidden_variables_of_a_given_network_are_learned_by_em():
    rows, y = drawn_rows()
    model = BayesianNetworkClassifier(five_variables(), target="x1", random_state=0, max_iter=30)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # thirty steps, converged or not
        model.fit(rows[["x3", "x4", "x5"]], y)  # x2 is hidden
    assert model.network_.fit_report.method == "em"
    assert 1 < model.n_iter_ <= 30
    assert_allclose(model.predict_proba(rows[["x3", "x4", "x5"]]).sum(axis=1), 1.0)
    assert set(model.predict_column(rows[["x4", "x5"]], "x2")) <= {"0", "1"}
    drawn, _ = model.sample(3, random_state=0)
    assert list(drawn.columns) == ["x3", "x4", "x5"]


def test_the_states_of_a_given_network_are_classes_also_where_y_lacks_them():
    network = BayesianNetwork.from_tables(
        {"size": ["1", "2"], "kind": ["3", "1", "2"]},
        {"kind": [0.5, 0.25, 0.25], "size": [[0.5, 0.5], [0.9, 0.1], [0.1, 0.9]]},
        {"size": ["kind"]},
    )
    rows = pd.DataFrame({"size": [1, 2, 2]})
    model = BayesianNetworkClassifier(network, tables="keep").fit(rows, [1, 2, 2])
    assert_array_equal(model.classes_, [1, 2, 3])
    assert_allclose(np.exp(model.class_log_prior_), [0.25, 0.25, 0.5])
    assert_allclose(model.predict_proba(rows)[0], np.array([0.225, 0.025, 0.25]) / 0.5)
    assert_array_equal(model.predict_column(pd.DataFrame({"kind": [1, 2]}), "size"), [1, 2])
    with pytest.raises(UnknownName, match=r"'kind' has no state '4'"):
        BayesianNetworkClassifier(network).fit(rows, [1, 2, 4])
    with pytest.raises(InvalidInput, match=r"Row 2, column 'size': 'size' has no state '3'"):
        BayesianNetworkClassifier(network).fit(pd.DataFrame({"size": [1, 2, 3]}), [1, 2, 2])
    with pytest.raises(UnknownName, match="no variable 'sice'"):
        other = rows.rename(columns={"size": "sice"})
        BayesianNetworkClassifier(network, target="kind").fit(other, [1, 2, 2])
    with pytest.raises(InvalidInput, match="a BayesianNetwork was expected"):
        BayesianNetworkClassifier(network.factor_graph()).fit(rows, [1, 2, 2])


def test_the_name_of_the_class():
    frame, y = weather(60)
    assert model_of().fit(frame, y).target_ == "day"
    assert model_of().fit(frame, y.to_numpy()).target_ == "class"
    assert model_of().fit(frame.assign(day=y), "day").target_ == "day"
    assert model_of().fit(frame.rename(columns={"sky": "day"}), y).target_ == "class"
    assert model_of(target="it").fit(frame, y).target_ == "it"
    with pytest.raises(
        InvalidInput, match=r"target='sky' was given, which is the name of a column"
    ):
        model_of(target="sky").fit(frame, y)


def test_em_uses_rows_with_gaps_and_counts_use_complete_families():
    frame, y = weather(80)
    gaps = frame.assign(sky=frame["sky"].where(np.arange(80) % 4 > 0, None))
    settings = {"discretize": Discretizer(edges=[17.5])}
    counted = model_of(**settings).fit(gaps, y)
    by_em = model_of(method="em", tol=1e-5, **settings).fit(gaps, y)
    assert counted.n_steps() is None
    assert by_em.n_steps() > 0
    assert by_em.network_.edges == counted.network_.edges
    em, counts = (model.log_likelihood(gaps, y) for model in (by_em, counted))
    assert em >= counts - 1e-6  # the prior has little weight
    with pytest.raises(UnknownName, match="no method 'EM'"):
        model_of(method="EM").fit(gaps, y)


def test_columns_without_values_and_constant_columns():
    frame = pd.DataFrame({"nothing": [None] * 6, "same": ["a"] * 6, "x": list("uuvvuv")})
    model = model_of().fit(frame, [0, 0, 1, 1, 0, 1])
    assert model.network_.by_name["nothing"].states == ("any",)
    assert_array_equal(model.predict(frame), [0, 0, 1, 1, 0, 1])
    drawn, _ = model.sample(2, random_state=0)
    assert drawn["nothing"].isna().all()
    assert model.describe().title.startswith("BayesianNetworkClassifier: 2 classes, 3 columns")


def test_one_class_is_predicted_always():
    model = model_of().fit(X, np.zeros(len(X), dtype=int))
    assert_array_equal(model.predict(X[:3]), 0)
    assert_allclose(model.predict_proba(X[:3]), 1.0)


def test_an_impossible_row_has_the_prior_and_refuses_a_query():
    rows = pd.DataFrame({"a": list("uuvv"), "b": list("ppqq")})
    model = model_of("naive-bayes", smoothing=0.0).fit(rows, [0, 0, 1, 1])
    mixed = pd.DataFrame({"a": ["u"], "b": ["q"]})
    assert_allclose(model.predict_proba(mixed), [[0.5, 0.5]])
    with pytest.raises(ImpossibleEvidence, match="row 0"):
        model.query(mixed, "class")
    assert np.isnan(model.query(mixed, "class", impossible="nan")["class"]).all()


def test_tables_that_do_not_fit_the_memory_are_refused():
    rng = np.random.default_rng(0)
    names = pd.DataFrame({f"id{j}": rng.integers(0, 10**6, 6000).astype(str) for j in range(2)})
    edges = [("class", "id1"), ("id0", "id1")]
    with pytest.raises(InvalidInput, match=r"would have [\d,]+ cells, most of them for 'id1'"):
        model_of(edges).fit(names, rng.integers(0, 3, 6000))


def test_the_description_names_edges_and_informative_columns():
    frame, y = weather()
    described = model_of().fit(frame, y).describe()
    assert described.groups == ("bad", "good")
    assert described.most_important()[0] in frame.columns
    network = described.to_json()["network"]
    assert network[-1] == {"variable": "day", "parents": "none", "n_parameters": 1}
    assert {"day"} <= set(network[1]["parents"].split(", "))
    assert "Edges of the network" in str(described)


def test_the_factor_graph_has_the_tables_of_the_network():
    frame, y = weather()
    model = model_of().fit(frame, y)
    graph = model.factor_graph()
    assert len(graph.factors) == 4
    found = graph.query("day", {"sky": "grey", "wet": True})["day"]
    rows = pd.DataFrame({"sky": ["grey"], "wet": [True]})
    assert_allclose(
        list(found.values()), model.query(rows, "day")["day"][0], rtol=1e-12, atol=1e-12
    )


def test_the_plate_shows_a_given_network_or_what_a_column_depends_on():
    own = BayesianNetworkClassifier(five_variables()).plate()
    assert {node.name for node in own.nodes} == {"x1", "x2", "x3", "x4", "x5"}
    assert [plate.label for plate in own.plates] == ["N"]
    edges = {(edge.source, edge.target) for edge in model_of("tan").plate().edges}
    assert {("yₙ", "xₙⱼ"), ("xₙᵢ", "xₙⱼ"), ("θⱼ", "xₙⱼ"), ("α", "θⱼ")} <= edges
    naive = model_of("naive-bayes", smoothing=0.0).plate()
    assert {node.name for node in naive.nodes} == {"π", "yₙ", "xₙⱼ", "θⱼ"}


def test_a_file_is_refused_and_numbers_may_be_categories(tmp_path):
    with pytest.raises(InvalidInput, match="X is a file"):
        model_of().fit(str(tmp_path / "rows.csv"), "y")
    codes = np.array([[0, 7], [0, 7], [3, 9], [3, 9], [0, 9]])
    model = model_of(discretize=None).fit(codes, [0, 0, 1, 1, 0])
    assert model.network_.by_name["x1"].states == ("7", "9")
    with pytest.warns(UnseenCategories):
        model.predict([[1, 7]])


@pytest.mark.parametrize("blank", ["", "  "])
def test_blank_text_is_missing_as_it_is_in_a_query(blank):
    """One rule for graphs: blank text is missing, in a fit, in a prediction and in a query."""
    sky, label = ["clear", blank, "grey", "grey", "clear"], ["dry", "wet", "wet", "wet", "dry"]
    filled = [None if value == blank else value for value in sky]
    models = [
        BayesianNetworkClassifier(structure="naive-bayes").fit(pd.DataFrame({"sky": each}), label)
        for each in (sky, filled)
    ]
    for model in models:
        assert model.network_.by_name["sky"].states == ("clear", "grey")
        new = pd.DataFrame({"sky": [blank, None, "grey"]})
        assert_allclose(model.predict_proba(new), models[1].predict_proba(new))
        assert_allclose(model.predict_proba(new)[0], np.exp(model.class_log_prior_))
        asked = model.network_.query("class", new)["class"]
        assert_allclose(model.query(new, "class")["class"], asked)
        target = pd.DataFrame({"class": ["dry", blank]})
        assert_allclose(
            model.query(target, "sky")["sky"], model.network_.query("sky", target)["sky"]
        )
    learned = BayesianNetwork.from_data(
        pd.DataFrame({"sky": sky, "class": label}), [("class", "sky")], method="counts"
    )
    assert_allclose(learned.tables["sky"].table, models[0].network_.tables["sky"].table)


def noise(n, seed):
    """Columns without information, and a rare class."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.integers(0, 4, size=(n, 6)), columns=list("abcdef")).astype(str)
    return X, rng.choice(["no", "rare", "yes"], size=n, p=[0.6, 0.04, 0.36])


def test_a_temperature_leaves_the_class_prior_where_columns_have_no_information():
    (X, y), (new, truth) = noise(150, 0), noise(1000, 1)
    plain = BayesianNetworkClassifier().fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = BayesianNetworkClassifier(calibrate="temperature").fit(X, y)
    assert model.temperature_ > 5
    own = np.arange(1000), np.searchsorted(model.classes_, truth)
    share = model.class_log_prior_[own[1]]
    assert (model.predict_log_proba(new)[own] - share).mean() > -0.02
    assert (plain.predict_log_proba(new)[own] - share).mean() < -0.1


def test_a_calibrated_network_has_the_posterior_of_the_formula_and_its_contributions_add_up():
    X, y = weather()
    model = BayesianNetworkClassifier(calibrate="temperature").fit(X, y)
    score = model.predict_joint_log_proba(X) - model.class_log_prior_
    behind = np.exp((score - score.max(axis=1, keepdims=True)) / model.temperature_)
    share = model.outlier_share_
    p = np.exp(model.class_log_prior_) * ((1 - share) * behind + share)
    p /= p.sum(axis=1, keepdims=True)
    assert_allclose(model.predict_proba(X), p, rtol=1e-8)
    total = model.explain(X).total
    assert_allclose(total, np.log(p) - np.log(p[:, :1]), atol=1e-8)
    weighted = BayesianNetworkClassifier(calibrate="temperature").fit(X, y, np.full(len(y), 2.0))
    assert weighted.temperature_ > 0
    with pytest.raises(UnknownName, match="no calibration 'heat'"):
        BayesianNetworkClassifier(calibrate="heat").fit(X, y)
