"""Spaces: laws of every kind of dimension, and the spaces of the models."""

import json
import warnings
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kstest

from likely.errors import InvalidInput, UnknownName
from likely.kinds import TargetKind, kinds_in_order
from likely.linear.softmax import SoftmaxRegression
from likely.neural.classifier import NeuralNetworkClassifier
from likely.spaces import (
    DIMENSIONS,
    Choice,
    Conditional,
    Dimension,
    Integer,
    Real,
    Space,
    space_from,
)
from likely.workbench.data.task import Task, task_of
from likely.workbench.models.registry import BASELINE, MODELS, space_of
from likely.workbench.scoring.cross_validation import with_settings
from likely.workbench.scoring.predictions import predict_for
from likely.workbench.search.tune import tune

EXAMPLES: dict[str, list[Dimension]] = {
    "real": [
        Real(-2.0, 3.0),
        Real(1e-8, 1.0, log=True),
        Real(0.1, 5.0, log=True, zero=0.3),
        Real(4.0, 4.0),
    ],
    "integer": [Integer(-3, 4), Integer(1, 200, log=True), Integer(7, 7)],
    "choice": [Choice(("a", None, True, 1, 0.5)), Choice((3,))],
    "conditional": [Conditional(Integer(1, 5), "kind", ("poly",))],
}
ALL = [dimension for examples in EXAMPLES.values() for dimension in examples]

units = st.floats(0.0, 1.0)


def test_every_kind_of_dimension_has_an_example() -> None:
    assert EXAMPLES.keys() == DIMENSIONS.keys()
    for name, examples in EXAMPLES.items():
        assert all(type(example) is DIMENSIONS[name] for example in examples)
        assert all(example.to_json()["kind"] == name for example in examples)


@pytest.mark.parametrize("dimension", ALL, ids=str)
@given(u=units)
def test_a_value_goes_to_the_unit_interval_and_back(dimension: Dimension, u: float) -> None:
    value = dimension.from_unit(u)
    place = dimension.to_unit(value)
    assert place is not None
    assert 0.0 <= place <= 1.0
    again = dimension.from_unit(place)
    assert again == pytest.approx(value, rel=1e-9) if isinstance(value, float) else again == value
    assert dimension.to_unit("not a value of any of them") is None


@pytest.mark.parametrize("dimension", ALL, ids=str)
@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_a_grid_lies_in_the_space_without_repeats(dimension: Dimension, n: int) -> None:
    values = dimension.grid(n)
    assert all(dimension.to_unit(value) is not None for value in values)
    assert len({(type(value), value) for value in values}) == len(values)
    if dimension.levels is None:
        assert 1 <= len(values) <= max(n, 2 if 0.0 in values else 1)
    else:
        assert len(values) == dimension.levels


@pytest.mark.parametrize("dimension", ALL, ids=str)
def test_a_declaration_is_json(dimension: Dimension) -> None:
    assert json.loads(json.dumps(dimension.to_json())) == dimension.to_json()


def test_eight_decades_have_nine_grid_points() -> None:
    found = np.log10(Real(1e-8, 1.0, log=True).grid(9))
    np.testing.assert_allclose(found, range(-8, 1), rtol=1e-10, atol=1e-12)


def test_log_uniform_draws_are_uniform_in_the_log() -> None:
    space = Space({"rate": Real(1e-5, 1e-1, log=True)})
    rng = np.random.default_rng(0)
    draws = np.log10([space.sample(rng)["rate"] for _ in range(2000)])
    assert kstest(draws, "uniform", args=(-5, 4)).pvalue > 0.01
    linear = np.log10([Real(1e-5, 1e-1).from_unit(rng.random()) for _ in range(2000)])
    assert kstest(linear, "uniform", args=(-5, 4)).pvalue < 1e-6  # so the test can fail


def test_the_ends_of_a_whole_number_are_as_likely_as_the_middle() -> None:
    rng = np.random.default_rng(1)
    values = [Integer(1, 5).from_unit(rng.random()) for _ in range(5000)]
    counts = np.bincount(values, minlength=6)[1:]
    assert counts.sum() == 5000
    assert abs(counts - 1000).max() < 4 * np.sqrt(1000 * 0.8)  # four standard errors


def test_a_share_of_the_draws_is_exactly_zero() -> None:
    rng = np.random.default_rng(2)
    penalty = Real(0.01, 100.0, log=True, zero=0.25)
    draws = np.array([penalty.from_unit(rng.random()) for _ in range(4000)])
    assert abs((draws == 0).mean() - 0.25) < 4 * np.sqrt(0.25 * 0.75 / 4000)
    assert draws[draws > 0].min() >= 0.01
    assert penalty.grid(4) == pytest.approx((0.0, 0.01, 1.0, 100.0))


@given(u=st.lists(units, min_size=3, max_size=3))
def test_a_setting_that_is_idle_is_left_out(u: list[float]) -> None:
    space = Space(
        {
            "kernel": Choice(("rbf", "poly")),
            "degree": Conditional(Integer(2, 4), "kernel", ("poly",)),
            "width": Real(0.1, 10.0, log=True),
        }
    )
    chosen = space.from_unit(u)
    assert ("degree" in chosen) == (chosen["kernel"] == "poly")
    point = space.to_unit(chosen)
    assert point is not None
    assert space.from_unit(point)["kernel"] == chosen["kernel"]
    assert len(space.grid(3)) == 3 + 3 * 3


def test_a_grid_is_the_product_in_the_order_of_declaration() -> None:
    space = Space({"a": Choice(("x", "y")), "b": Integer(1, 3)})
    assert space.grid({"b": 2}) == [
        {"a": "x", "b": 1},
        {"a": "x", "b": 3},
        {"a": "y", "b": 1},
        {"a": "y", "b": 3},
    ]


def test_settings_outside_the_space_have_no_place() -> None:
    space = Space({"a": Real(0.0, 1.0), "b": Choice((1, 2))})
    assert space.to_unit({"a": 2.0, "b": 1}) is None
    assert space.to_unit({"b": 1}) is None
    assert space.to_unit({"a": 1.0, "b": True}) is None  # which equals 1 and is not
    assert space.to_unit({"a": 1.0, "b": 2}) == [1.0, 0.75]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Real(0.0, 1.0, log=True), "expected finite numbers with 0 < low ≤ high"),
        (lambda: Real(2.0, 1.0), "expected finite numbers with low ≤ high"),
        (lambda: Real(0.0, float("inf")), "expected finite numbers"),
        (lambda: Integer(0, 9, log=True), "expected finite numbers with 0 < low"),
        (lambda: Real(1.0, 2.0, zero=1.0), "not a share of the draws"),
        (lambda: Choice(()), "no values"),
        (lambda: Space({"d": Conditional(Real(0, 1), "k", ("p",))}), "Declare 'k' first"),
        (lambda: Space({"a": Real(0, 1)}).grid(0), "give 1 or more"),
        (lambda: space_from({"a": 3}), "a list of values"),
    ],
)
def test_a_declaration_that_makes_no_sense_is_refused(make: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        make()


def test_lists_are_choices_and_unknown_names_are_refused() -> None:
    assert space_from({"a": [1, 2]}).dimensions["a"] == Choice((1, 2))
    with pytest.raises(UnknownName, match="Did you mean 'smoothing'"):
        space_from({"smothing": [1, 2]}, known=["smoothing", "prior"])


TUNABLE = [name for name, entry in MODELS.items() if entry.space is not None]


@pytest.mark.parametrize("name", TUNABLE)
def test_every_draw_of_a_models_space_builds_the_model(name: str) -> None:
    entry = MODELS[name]
    kind = kinds_in_order(entry.suits)[0]
    task = Task(kind, "y", ("a", "b"), ("a", "b") if kind == "ordinal" else None)
    space = space_of(name, rows=200, spread=3.0)
    for seed in range(20):
        chosen = space.sample(np.random.default_rng(seed))
        built = entry.build(task, chosen).get_params()
        assert {setting: built[setting] for setting in chosen} == chosen


FEW = {"n_penalties": 4, "cv": 2, "max_epochs": 20, "n_networks": 2}  # of costly models
KINDS_OF_TUNABLE = [
    (name, kind)
    for name in TUNABLE
    for kind in kinds_in_order(MODELS[name].suits)[: None if "lasso" not in name else 1]
]


def rows_of_kind(name: str, kind: str) -> tuple[pa.Table, Task]:
    """Thirty rows of two columns that know something, with a target of the kind of a model."""
    rng = np.random.default_rng(4)
    x, z = rng.normal(size=(2, 30))
    level = np.argsort(np.argsort(x + rng.normal(size=30)))
    numbers = {
        "count": rng.poisson(np.exp(x)),
        "positive": np.exp(x + 0.3 * rng.normal(size=30)),
        "real": x + rng.normal(size=30),
    }
    if name == "glm-tweedie":  # real numbers too, but none below 0
        numbers["real"] = np.maximum(numbers["real"], 0.0)
    classes = {"binary": "ab"}.get(kind, "abc")
    labels = [classes[k] for k in level * len(classes) // 30]
    table = pa.table({"x": x, "z": z, "y": numbers.get(kind, labels)})
    return table, task_of(table, "y", kind=cast(TargetKind, kind))


@pytest.mark.parametrize(("name", "kind"), KINDS_OF_TUNABLE)
@pytest.mark.long
def test_every_draw_of_a_models_space_can_be_fitted(name: str, kind: str) -> None:
    table, task = rows_of_kind(name, kind)
    space = space_of(name, rows=30, spread=1.0)
    takes = MODELS[name].build(task).get_params()
    template = MODELS[name].build(task, {k: v for k, v in FEW.items() if k in takes})
    ends = [space.from_unit([u] * len(space)) for u in (0.0, 1.0)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a weak penalty may separate the classes
        for chosen in [*ends, *(space.sample(np.random.default_rng(seed)) for seed in range(3))]:
            model = with_settings(template, chosen).fit(table, "y")
            said = predict_for(model, task, table)
            values = said.log_proba if task.has_classes else said.mean
            assert values is not None
            assert not np.isnan(values).any()
            if task.has_classes:
                np.testing.assert_allclose(np.exp(values).sum(axis=1), 1.0, rtol=1e-10, atol=1e-9)


@pytest.mark.parametrize("search", ["grid", "random", "bayes"])
def test_one_declared_space_drives_the_three_searches_of_a_model(search: str) -> None:
    """Two penalty strengths weighted together, and a link."""
    space = Space(
        {
            "link": Choice(("logit", "probit")),
            "l2": Real(1e-2, 1e2, log=True),
            "l1": Conditional(Real(1e-2, 1e1, log=True, zero=0.5), "link", ("logit",)),
        }
    )
    table, _ = rows_of_kind("logistic", "binary")
    study = tune(table, "y", "logistic", space=space, search=search, trials=12, folds=2)
    assert len(study.trials) >= 7
    assert all(trial.problem == "" for trial in study.trials)
    assert all(space.to_unit(trial.parameters) is not None for trial in study.trials)
    assert {trial.parameters["link"] for trial in study.trials} == {"logit", "probit"}
    assert study.best_score_ in {trial.value for trial in study.trials}
    assert study.best_score_ <= study.trials[0].value  # the default, or clearly better


def test_a_model_without_settings_says_so_and_a_stranger_is_named() -> None:
    with pytest.raises(InvalidInput, match="constant has no default search space"):
        space_of(BASELINE)
    with pytest.raises(UnknownName, match="Did you mean 'logistic'"):
        space_of("logistc")
    assert space_of(SoftmaxRegression()) == space_of("softmax")


@pytest.mark.parametrize("space", [space_of(name) for name in TUNABLE], ids=TUNABLE)
def test_a_space_is_written_in_the_types_that_json_has(space: Space) -> None:
    written = space.to_json()
    assert json.loads(json.dumps(written)) == written
    assert list(written) == space.names


NETWORK = Space(
    {
        "hidden": Choice(((), (4,), (4, 3))),
        "activation": Choice(("tanh", "relu")),
        "l1": Real(1e-3, 1.0, log=True, zero=0.5),
        "l2": Real(1e-3, 1.0, log=True),
        "batch": Choice((8, 16)),
        "learning_rate": Real(1e-3, 1e-1, log=True),
        "schedule": Choice(("constant", "inverse-time")),
        "solver": Choice(("adam", "momentum")),
        "momentum": Conditional(Real(0.5, 0.95), "solver", ("momentum",)),
    }
)


@pytest.mark.parametrize("search", ["grid", "random", "bayes"])
def test_one_declared_space_drives_the_three_searches_of_a_network(search: str) -> None:
    """Penalties together, units and layers, activation, batch, rate and schedule, momentum."""
    table, _ = rows_of_kind("logistic", "binary")
    model = NeuralNetworkClassifier(max_epochs=2, tol=None, random_state=0)
    names = ("hidden", "solver", "momentum") if search == "grid" else NETWORK.names
    space = {name: NETWORK.dimensions[name] for name in names}
    trials = 18 if search == "grid" else 6
    study = tune(table, "y", model, space=space, search=search, trials=trials, folds=2)
    assert len(study.trials) >= 6
    for trial in study.trials:
        assert trial.score is not None, trial.problem
        built = NeuralNetworkClassifier(**trial.parameters)
        assert {name: built.get_params()[name] for name in trial.parameters} == trial.parameters


def test_a_choice_of_layers_is_found_again_in_what_json_has() -> None:
    layers = NETWORK.dimensions["hidden"]
    assert layers.to_unit([4, 3]) == layers.to_unit((4, 3))
    assert layers.to_unit([4, 4]) is None
