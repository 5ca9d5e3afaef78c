"""Tables that are answers: frames of the caller's library, of every class that has ``to_frame``."""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from pkgutil import walk_packages

import numpy as np
import pandas as pd
import polars as pl
import pytest

import likely as lk

N = 90
RNG = np.random.default_rng(0)
A, B = RNG.normal(size=(2, N))
COLUMNS = {"a": A, "b": B, "y": np.where(A + RNG.normal(size=N) > 0, "yes", "no")}
STATES = {"u": RNG.choice(["p", "q"], N), "v": RNG.choice(["r", "s"], N)}
WORDS = {"text": ["good day", "bad night"] * 10, "label": ["good", "bad"] * 10}
LIBRARIES = {"pandas": pd.DataFrame, "polars": pl.DataFrame}


class Given:
    """The same tables in one library, and what is fitted to them."""

    def __init__(self, make):
        self.rows, self.states, self.words = make(COLUMNS), make(STATES), make(WORDS)
        self.X = self.rows[["a", "b"]]
        self.labels, self.text = self.rows["y"], self.words["text"]

    @property
    def model(self):
        return lk.LogisticRegression().fit(self.X, self.labels)

    @property
    def network(self):
        return lk.BayesianNetwork.from_data(self.states)

    def trained(self):
        return lk.train(self.rows, "y", "naive-bayes")


FEW = {"folds": 2}
ANSWERS: dict[str, Callable[[Given], object]] = {
    "Explanation": lambda g: g.model.explain(g.X),
    "ExplainedRows": lambda g: lk.explain(g.trained(), g.rows),
    "Importance": lambda g: lk.permutation_importance(g.model, g.X, g.labels, repeats=1),
    "PartialEffects": lambda g: lk.partial_effects(g.model, g.X, "a", points=2),
    "Summary": lambda g: g.model.summary(),
    "Comparison": lambda g: lk.compare(g.rows, "y", ["naive-bayes"], repeats=1, **FEW),
    "Study": lambda g: lk.tune(g.rows, "y", model="logistic", trials=1, repeats=1, **FEW),
    "Look": lambda g: lk.look(g.rows, "y"),
    "Curve": lambda g: lk.learning_curve(g.rows, "y", model="naive-bayes", **FEW),
    "TrainingCurve": lambda g: lk.training_curve(lk.LogisticRegression(), g.X, g.labels),
    "Predictions": lambda g: lk.predict(g.trained(), g.rows),
    "Beliefs": lambda g: g.network.query("u", {"v": "r"}),
    "Configuration": lambda g: g.network.most_probable({"v": "r"}),
    "TableBeliefs": lambda g: g.network.query("u", g.states[["v"]]),
    "TableConfigurations": lambda g: g.network.most_probable(g.states[["v"]]),
    "PenaltyPath": lambda g: lk.PenaltyPath(lk.LogisticRegression(), along="l1").fit(g.X, g.labels),
    "History": lambda g: (
        lk.NeuralNetworkClassifier((2,), max_epochs=2, tol=None).fit(g.X, g.labels).history_
    ),
    "TermEffect": lambda g: lk.AdditiveClassifier().fit(g.X, g.labels).effect("a"),
    "TextExplanation": lambda g: (
        lk.TextClassifier().fit(g.text, g.words["label"]).explain(g.text)[0]
    ),
}
WITHOUT_A_TABLE = {"FunctionSearch", "Source"}  # settings of a function; a table that was read


@cache
def given(library):
    return Given(LIBRARIES[library])


@pytest.mark.filterwarnings("ignore::likely.errors.LikelyWarning")
@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_is_a_frame_of_the_library_that_was_given(name, library):
    found = ANSWERS[name](given(library))
    assert type(found).__name__ == name
    assert type(found.to_frame()) is LIBRARIES[library]


@pytest.mark.filterwarnings("ignore::likely.errors.LikelyWarning")
@pytest.mark.parametrize("name", sorted({*ANSWERS} - {"Predictions", "PenaltyPath", "TermEffect"}))
def test_an_answer_is_a_table_in_a_notebook(name):
    """Predictions are a stream, and what an estimator has learned is below its box."""
    page = ANSWERS[name](given("pandas"))._repr_html_()
    assert page.startswith(("<div", "<p"))
    assert "<table" in page or name == "TextExplanation"  # which is a text with its words marked


@pytest.mark.parametrize("library", LIBRARIES)
def test_answers_about_sealed_rows_and_samples_are_frames_of_the_library_that_was_given(
    library, tmp_path
):
    rows, expected = given(library), LIBRARIES[library]
    sealed = lk.seal(rows.rows.head(60), "y", name="s", folder=tmp_path)
    assert type(lk.compare(sealed, models=["naive-bayes"], repeats=1, **FEW).to_frame()) is expected
    assert type(lk.look(sealed).to_frame()) is expected
    assert type(rows.network.sample(3)) is expected


def test_every_class_with_a_frame_is_among_these_answers():
    modules = [import_module(each.name) for each in walk_packages(lk.__path__, "likely.")
               if not each.name.endswith("__main__")]  # fmt: skip
    have = {
        each.__name__
        for module in modules
        for each in vars(module).values()
        if isinstance(each, type) and "to_frame" in vars(each)
    }
    assert have - WITHOUT_A_TABLE == {*ANSWERS}


def test_a_fitted_estimator_shows_its_numbers_in_a_notebook_below_its_box():
    given_rows = given("pandas")
    model = lk.LogisticRegression()
    box = model._repr_html_()
    assert "<table" not in box.partition("sk-container")[0]
    fitted = model.fit(given_rows.X, given_rows.labels)
    shown = fitted._repr_html_()
    assert "sk-" in shown and fitted.describe()._repr_html_() in shown
    assert fitted.describe().title not in box
