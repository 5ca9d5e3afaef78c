"""Log-linear classifiers at a row: the factors give their probabilities, and x has none."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from likely import LogisticRegression, MaxEntropy, SoftmaxRegression
from likely.errors import InvalidInput
from likely.graphical.model.conditional_graph import ConditionalGraph
from likely.graphical.model.factor import Factor
from likely.graphical.model.factor_graph import FactorGraph
from likely.graphical.model.variable import Variable
from tests.fits import FITS

EXACT = 1e-12


def posterior(graph, target="class"):
    return list(graph.query(target)[target].values())


def row_of(X, i):
    return X.iloc[i : i + 1] if isinstance(X, pd.DataFrame) else X[i : i + 1]


@pytest.mark.parametrize(
    "name",
    [
        *("log-logit", "log-plain", "log-sparse", "log-mixed", "max-indicators"),
        *("soft-ridge", "soft-two", "soft-mixed", "soft-sparse"),
    ],
)
def test_sum_product_gives_the_probabilities_of_a_row(name):
    X, y = FITS[name].data()
    model = clone(FITS[name].estimator).fit(X, y)
    for i in range(5):
        graph = model.factor_graph(row_of(X, i))
        assert isinstance(graph, ConditionalGraph)
        assert_allclose(posterior(graph), model.predict_proba(row_of(X, i))[0], rtol=0, atol=EXACT)
    assert set(graph.given) == set(model.terms_)


@pytest.mark.parametrize("intercept", [True, False])
def test_the_number_of_factors_is_that_of_the_weights(intercept):
    X, y = FITS["log-logit"].data()
    graph = LogisticRegression(fit_intercept=intercept).fit(X, y).factor_graph(X[:1])
    names = [factor.name for factor in graph.factors]
    assert names == (["intercept"] if intercept else []) + ["x0", "x1", "x2"]
    assert all(factor.scope == ("class",) for factor in graph.factors)
    assert graph.given == dict(zip(["x0", "x1", "x2"], X[0].tolist(), strict=True))


def test_no_distribution_over_x_is_available():
    X, y = FITS["log-logit"].data()
    graph = LogisticRegression().fit(X, y).factor_graph(X[:1])
    for asked in ("x1", [("class", "x1")]):
        with pytest.raises(InvalidInput, match="'x1' is given and not modelled"):
            graph.query(asked)
    with pytest.raises(InvalidInput, match="no distribution over it"):
        graph.variable("x0")
    assert graph.sample(3, random_state=0).column_names == ["class"]


def test_an_offset_is_a_factor():
    X, y = FITS["log-logit"].data()
    model = LogisticRegression().fit(X, y, offset=np.full(len(y), 0.5))
    graph = model.factor_graph(X[:1], offset=[0.7])
    assert_allclose(
        posterior(graph), model.predict_proba(X[:1], offset=[0.7])[0], rtol=0, atol=EXACT
    )


def test_feature_functions_are_factors():
    def weight_of(X, label):
        return X[:, 0] * (label == "b")

    def squared(X, label):
        return X[:, 1] ** 2 * (label == "a")

    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.where(X[:, 0] + rng.normal(size=60) > 0, "b", "a")
    model = MaxEntropy(features=[weight_of, squared]).fit(X, y)
    graph = model.factor_graph(X[:1], target="side")
    assert len(graph.factors) == 2
    assert graph.by_name["side"].states == ("a", "b")
    assert_allclose(posterior(graph, "side"), model.predict_proba(X[:1])[0], rtol=0, atol=EXACT)


@pytest.mark.parametrize("name", ["log-logit", "log-mixed", "soft-ridge", "max-indicators"])
def test_several_rows_have_a_variable_each_and_their_own_probabilities(name):
    X, y = FITS[name].data()
    model = clone(FITS[name].estimator).fit(X, y)
    graph = model.factor_graph(X[:3], target="kind")
    assert graph.names == ("kind[0]", "kind[1]", "kind[2]")
    found = [posterior(graph, f"kind[{i}]") for i in range(3)]
    assert_allclose(found, model.predict_proba(X[:3]), rtol=EXACT, atol=EXACT)
    one = model.factor_graph(row_of(X, 1), target="kind")
    assert {f"{t}[1]": value for t, value in one.given.items()}.items() <= graph.given.items()


def test_the_offset_of_each_row_is_in_its_own_factor():
    X, y = FITS["log-logit"].data()
    model = LogisticRegression().fit(X, y, offset=np.full(len(y), 0.5))
    graph = model.factor_graph(X[:2], offset=[0.7, -2.0])
    found = [posterior(graph, f"class[{i}]") for i in range(2)]
    assert_allclose(found, model.predict_proba(X[:2], offset=[0.7, -2.0]), rtol=EXACT, atol=0)
    with pytest.raises(InvalidInput, match="differ between the rows, as with an offset"):
        LogisticRegression.from_factor_graph(graph)


@pytest.mark.parametrize("back", [LogisticRegression, SoftmaxRegression, MaxEntropy])
@pytest.mark.parametrize("there", [LogisticRegression, SoftmaxRegression, MaxEntropy])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("n_rows", [1, 4])
def test_models_of_two_classes_are_converted_by_their_graphs(there, back, intercept, n_rows):
    X, y = FITS["log-logit"].data()
    model = there(fit_intercept=intercept).fit(X, y)
    made = back.from_factor_graph(model.factor_graph(X[:n_rows]))
    assert type(made) is back
    assert made.fit_intercept == intercept
    assert made.classes_.tolist() == model.classes_.tolist()
    assert_allclose(made.predict_proba(X), model.predict_proba(X), rtol=1e-11, atol=0)
    again = there.from_factor_graph(made.factor_graph(X[:n_rows]))
    assert_allclose(again.predict_proba(X), model.predict_proba(X), rtol=1e-11, atol=0)


@pytest.mark.parametrize("back", [SoftmaxRegression, MaxEntropy])
def test_coefficients_of_several_classes_come_back_from_the_graph(back):
    X, y = FITS["soft-ridge"].data()
    model = SoftmaxRegression().fit(X, y)
    graph = model.factor_graph(X[:2])
    made = back.from_factor_graph(graph)
    softmax = made.softmax_ if back is MaxEntropy else made
    assert_allclose(softmax.coef_, model.coef_, rtol=1e-11)
    assert_allclose(softmax.intercept_, model.intercept_, rtol=1e-11)
    with pytest.raises(InvalidInput, match="multiclass"):
        LogisticRegression.from_factor_graph(graph)


def test_columns_of_a_converted_model_have_the_names_of_the_terms():
    table = pd.DataFrame({"age": [1.0, 2.0, 4.0, 3.0], "town": ["a", "b", "b", "a"]})
    model = LogisticRegression().fit(table, ["n", "y", "n", "y"])
    made = MaxEntropy.from_factor_graph(model.factor_graph(table))
    assert made.terms_ == model.terms_
    towns = {f"town[{each}]": (table["town"] == each).astype(float) for each in "ab"}
    coded = pd.DataFrame({"age": table["age"], **towns})
    assert_allclose(made.predict_proba(coded), model.predict_proba(table), rtol=1e-11)


def test_features_of_x_and_y_come_back_as_features_of_each_class():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.where(X[:, 0] + rng.normal(size=60) > 0, "b", "a")
    features = [lambda X, k: X[:, 0] * (k == "b"), lambda X, k: X[:, 1] ** 2 + (k == "a")]
    model = MaxEntropy(features).fit(X, y)
    graph = model.factor_graph(X[:5])
    made = MaxEntropy.from_factor_graph(graph)
    assert_allclose(made.coef_, model.coef_, rtol=1e-11)
    F = np.stack([[f(X, k) for k in "ab"] for f in features], axis=-1).transpose(1, 0, 2)
    assert_allclose(made.predict_proba(F), model.predict_proba(X), rtol=1e-11)
    with pytest.raises(InvalidInput, match=r"functions of x and of the class.*Use MaxEntropy"):
        LogisticRegression.from_factor_graph(graph)


def test_a_graph_by_hand_is_a_model():
    kind = Variable("kind", ("cat", "dog"))
    factors = [Factor([kind], [2.0, 6.0], name="base"), Factor([kind], [3.0, 12.0], name="weight")]
    graph = ConditionalGraph(factors, given={"weight": 2.0})
    model = LogisticRegression.from_factor_graph(graph)
    assert_allclose(model.intercept_, [np.log(3)], rtol=EXACT)
    assert_allclose(model.coef_, [[np.log(4) / 2]], rtol=EXACT)
    found = model.predict_proba(pd.DataFrame({"weight": [2.0]}))
    assert_allclose(found, [[1 / 13, 12 / 13]], rtol=EXACT)
    scaled = [Factor([kind], [1.0, 4.0], name="weight"), factors[0]]
    same = LogisticRegression.from_factor_graph(graph.with_factors(scaled))
    assert_allclose(same.coef_, model.coef_, rtol=EXACT)


def test_a_constant_of_each_factor_changes_no_weight():
    graph = of_rows([1, 2], [1, 4])
    moved = graph.with_factors(
        [Factor([A], [7, 14], name="x[0]"), Factor([B], [0.1, 0.4], name="x[1]")]
    )
    found, same = (LogisticRegression.from_factor_graph(each) for each in (graph, moved))
    assert_allclose(found.coef_, [[np.log(2)]], rtol=EXACT)
    assert_allclose(same.coef_, found.coef_, rtol=EXACT)


A, B = Variable("k[0]", ("a", "b")), Variable("k[1]", ("a", "b"))
ROWS = {"x[0]": 1.0, "x[1]": 2.0}


def of_rows(first, second, **given):
    factors = [Factor([A], first, name="x[0]"), Factor([B], second, name="x[1]")]
    return ConditionalGraph(factors, given={**ROWS, **given})


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (of_rows([1, 2], [1, 5]), "not proportional to the given values"),
        (of_rows([1, 2], [1, 0]), "is 0 for a class"),
        (ConditionalGraph([Factor([A], [1, 2], name="x")], given={"x": 0.0}), "0 in all rows"),
        (ConditionalGraph([Factor([A], [1, 2], name="z")], given={"x": 1.0}), "No factor has"),
        (ConditionalGraph([Factor([A], [1, 2], name="x")], given={"x": "red"}), "not all numbers"),
        (ConditionalGraph([Factor([A], [1, 2], name="x")], given={"x": (1, 2, 3)}), "3 values"),
        (
            ConditionalGraph([Factor([A], [1, 2], name="x[0]")], [A, B], given=ROWS),
            r"'k\[1\]' has no factor 'x'",
        ),
        (
            ConditionalGraph([Factor([A, B], np.ones((2, 2)), name="x[0]")], given=ROWS),
            "rows that are independent",
        ),
        (
            ConditionalGraph([Factor([A], [1, 2])], [A, Variable("k[1]", 3)], given=ROWS),
            "the same classes were expected",
        ),
        (
            ConditionalGraph(
                [Factor([Variable("k", ["b", "a"])], [1, 2], name="x")], given={"x": 1}
            ),
            "sorted order",
        ),
        (FactorGraph([Factor([A], [1, 2])]), "A FactorGraph was given"),
    ],
)
def test_a_graph_that_is_no_classifier_is_refused(graph, message):
    with pytest.raises(InvalidInput, match=message):
        LogisticRegression.from_factor_graph(graph)


def test_what_has_no_such_graph_is_refused():
    X, y = FITS["log-logit"].data()
    with pytest.raises(InvalidInput, match=r"The link is 'probit'.*Use link='logit'"):
        LogisticRegression("probit").fit(X, y).factor_graph(X[:1])
    with pytest.raises(InvalidInput, match="NaN"):
        SoftmaxRegression().fit(X, y).factor_graph([[np.nan, 0.0, 0.0]])
    named = pd.DataFrame(X, columns=["class", "b", "c"])
    with pytest.raises(InvalidInput, match="'class' is both a variable of the factors and given"):
        LogisticRegression().fit(named, y).factor_graph(named[:1])
