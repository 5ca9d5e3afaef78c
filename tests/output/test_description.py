"""Models describe themselves: one method is all that ``explain`` and the report need."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import RandomForestClassifier

import likely as lk
from likely.cli.main import run
from likely.output.control_characters import CONTROLS
from likely.output.description import Description, Fact, NamedColumn, NamedTable, describe
from likely.output.description_text import html_of, text_of
from likely.reports.page import report_of
from likely.reports.sections.model import model_page
from likely.runs import Run, RunFacts
from likely.storage.json import as_json
from likely.workbench.models.constant import ConstantModel
from likely.workbench.preparation.prepared import Prepared


def numbers(table):
    """An Arrow table, as ``Prepared`` gives it."""
    return np.column_stack([column.to_numpy() for column in table.columns])


class Nearest(ClassifierMixin, BaseEstimator):
    """A family of models that nobody knows: the class of the nearest mean."""

    def fit(self, X, y):
        X, y = numbers(X), np.asarray(y)
        self.classes_ = np.unique(y)
        self.means_ = np.stack([X[y == k].mean(axis=0) for k in self.classes_])
        return self

    def predict(self, X):
        X = numbers(X)
        return self.classes_[((X[:, None] - self.means_) ** 2).sum(axis=2).argmin(axis=1)]

    def describe(self):
        groups = tuple(map(str, self.classes_))
        columns = (
            NamedColumn("axis", "axis"),
            *(NamedColumn("mean", group, "number", group) for group in groups),
        )
        rows = tuple((f"axis {j}", *means) for j, means in enumerate(self.means_.T.tolist()))
        spread = np.ptp(self.means_, axis=0)
        weights = tuple((size,) * len(groups) for size in spread.tolist())
        table = NamedTable("means", columns, rows, noun="axis", weights=weights)
        return Description("Nearest: means", groups=groups, tables=(table,), n_iter=1)


@pytest.fixture
def nearest():
    iris = load_iris(as_frame=True)
    return Prepared(Nearest()).fit(iris.data, iris.target_names[iris.target])


def test_a_new_family_of_models_is_explained_without_a_change_elsewhere(
    nearest, tmp_path, monkeypatch, capsys
):
    facts = {"model": "nearest", "data": {"name": "iris"}}
    opened = Run(tmp_path, nearest, facts)
    monkeypatch.setattr("likely.runs.open_run", lambda name: opened)
    assert run(["explain", "here", "--top", "2"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("Nearest: means\n")
    assert "virginica" in said
    assert "… and 2 more" in said
    assert "preparation" in said
    assert run(["explain", "here", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)["result"]
    assert result["model"] == "nearest"
    assert result["means"][2]["mean"]["setosa"] == pytest.approx(1.462)


def test_a_new_family_of_models_is_reported_without_a_change_elsewhere(nearest):
    facts = RunFacts("run", {"model": "nearest"}, description=describe(nearest))
    html = report_of([facts]).html
    assert "Nearest: means." in html
    assert ">virginica</th>" in html
    assert "Preparation of the columns" in html


def fitted():
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :4]
    three = np.digitize(X[:, 0], [12.0, 16.0])
    return [
        lk.LogisticRegression().fit(X, y),
        lk.LogisticRegression(standard_errors=None).fit(X, y),
        lk.SoftmaxRegression().fit(X, three),
        lk.OrdinalRegression().fit(X, three),
        lk.LinearRegression().fit(X[:, 1:], X[:, 0]),
        lk.LinearRegression(standard_errors=None).fit(X[:, 1:], X[:, :2]),
        lk.GLM("poisson").fit(X, three),
        lk.PenaltyPath(lk.LinearRegression(), n_penalties=5).fit(X[:, 1:], X[:, 0]),
        lk.FrankHall(lk.LogisticRegression()).fit(X, three),
        lk.MaxEntropy().fit(X, y),
        lk.NaiveBayes().fit(X, y),
        lk.NaiveBayes(discretize="entropy").fit(X, y),
        lk.NaiveBayes("laplace").fit(X, y),
        lk.DiscriminantAnalysis().fit(X, three),
        lk.DiscriminantAnalysis("full").fit(X, y),
        lk.GaussianMixture(2, random_state=0).fit(X),
        lk.MixtureModel(2, random_state=0).fit(X),
        lk.PlattScaling(lk.NaiveBayes()).fit(X, y),
        lk.TemperatureScaling(lk.NaiveBayes()).fit(X, y),
        lk.IsotonicScaling(lk.NaiveBayes()).fit(X, three),
        lk.Discretizer().fit(X),
        ConstantModel().fit(X, y),
        ConstantModel("count").fit(X, three),
        Prepared(lk.LogisticRegression(l2=1.0)).fit(X, y),
        RandomForestClassifier(2).fit(X, y),
    ]


@pytest.mark.filterwarnings("ignore")
def test_every_model_describes_itself_as_text_json_and_html():
    for model in fitted():
        told = describe(model)
        name = type(model).__name__
        assert isinstance(told, Description), name
        text = text_of(told, top=3, more="--top {} shows all")
        assert max(map(len, text.splitlines())) <= 100, name
        assert text.splitlines()[0] == told.title
        assert json.loads(as_json(told.to_json()))["title"] == told.title
        assert "<table" in html_of(told) or not (told.tables or told.fit), name
        blocks = model_page(RunFacts("run", {}, description=told)).blocks
        assert blocks[0].text.startswith(told.title), name


def test_an_estimator_of_another_library_has_its_settings():
    told = describe(RandomForestClassifier(n_estimators=7))
    settings = {row["setting"]: row["value"] for row in told.to_json()["settings"]}
    assert settings["n_estimators"] == 7
    assert "does not describe what it has learned" in told.notes[0]


def table(**options):
    columns = (
        NamedColumn("term", "term"),
        NamedColumn("coef", "coef", "estimate"),
        NamedColumn("se", "std err", "error"),
    )
    rows = (("a", 1.0, 0.5), ("b", -4.0, 0.25), ("c", 0.0, None))
    weights = ((2.0,), (16.0,), (0.0,))
    return NamedTable("terms", columns, rows, noun="term", weights=weights, **options)


def test_rows_are_ranked_when_some_are_left_out():
    assert table(ranked=False).chosen() == [0, 1, 2]
    assert table(ranked=False).chosen(1) == [1]
    assert table().chosen() == [1, 0, 2]
    assert (table(last=1).chosen(1), table(last=1).always()) == ([1], [2])


def test_estimates_have_two_digits_of_their_standard_error():
    assert table().written(0) == ["a", "1.00", "0.50"]
    assert table().written(2) == ["c", "0", "–"]


def test_the_names_that_count_most_come_first():
    assert Description("m", tables=(table(),)).most_important() == ["b", "a", "c"]
    assert Description("m").most_important() == []


def test_facts_are_written_with_four_digits_unless_they_say_how():
    assert Fact("aic", "AIC", 12.34567).written == "12.35"
    assert Fact("df", "residual df", 3.0, "3").written == "3"


def test_names_of_the_data_cannot_control_a_terminal():
    y = np.array(["n\x1b[2J", "p"] * 10)
    model = lk.NaiveBayes().fit(pd.DataFrame({"a\x07": np.arange(20.0)}), y)
    for text in (str(model.describe()), model.describe()._repr_html_()):
        assert CONTROLS.search(text) is None
