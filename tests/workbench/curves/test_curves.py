"""``learning_curve``: nested subsets, points equal to fits by hand, and what it refuses."""

import json

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.metrics import log_loss

import likely as lk
from likely.errors import InvalidInput, UnknownName
from likely.numerics.intervals import NO_ESTIMATE, Estimate
from likely.workbench.curves.curve_text import baseline_of, sparkline
from likely.workbench.data.folds import share_of_rows
from likely.workbench.preparation.prepared import Prepared


@pytest.fixture(autouse=True)
def no_figures_left():
    yield
    plt.close("all")


def noisy(n=240, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 6)), columns=list("abcdef"))
    frame["town"] = rng.choice(["x", "y", "z"], n)
    frame["y"] = np.where(frame["a"] + rng.logistic(size=n) > 0, "yes", "no")
    return frame


@given(st.integers(0, 50), st.floats(0.05, 1), st.floats(0.05, 1))
def test_a_larger_share_holds_every_row_of_a_smaller_one(seed, one, other):
    rows, labels = np.arange(80), np.arange(80) % 3
    small, large = (share_of_rows(rows, s, labels, seed) for s in sorted((one, other)))
    assert set(small) <= set(large)
    assert set(labels[small]) == {0, 1, 2}


def test_more_rows_bring_the_two_curves_together():
    curve = lk.learning_curve(noisy(1000), "y", "logistic")
    assert [point.x for point in curve.points] == sorted(point.x for point in curve.points)
    assert curve.points[-1].x == 800
    gaps = [point.validation.value - point.train.value for point in curve.points]
    assert gaps[0] > 3 * gaps[-1] > 0
    assert curve.best is curve.points[-1]
    held = [point.validation for point in curve.points]
    assert all(score.low <= score.value <= score.high for score in held)


def test_a_point_is_the_mean_of_fits_by_hand():
    frame = noisy()
    curve = lk.learning_curve(frame, "y", "logistic", of="l2", values=[7.0], folds=3, seed=5)
    folds = curve.rows.folds(n_folds=3, repeats=1, seed=5)
    train, held = [], []
    for fold in folds:
        model = Prepared(lk.LogisticRegression(l2=7.0)).fit(frame.iloc[fold.train], "y")
        for rows, scores in ((fold.train, train), (fold.test, held)):
            part = frame.iloc[rows]
            scores.append(log_loss(part["y"], model.predict_proba(part.drop(columns="y"))))
    assert curve.points[0].train.value == pytest.approx(np.mean(train), rel=1e-12)
    assert curve.points[0].validation.value == pytest.approx(np.mean(held), rel=1e-12)


def test_a_setting_is_followed_over_its_usual_range():
    curve = lk.learning_curve(noisy(), "y", "logistic", of="l2", folds=3)
    strengths = [point.x for point in curve.points]
    assert strengths[0] == pytest.approx(1e-3)
    assert strengths == sorted(strengths)
    losses = [point.train.value for point in curve.points]
    assert losses == sorted(losses)  # a stronger penalty fits the training rows less well
    assert strengths[0] < curve.best.x < strengths[-1]


def test_values_without_an_order_are_named():
    curve = lk.learning_curve(noisy(), "y", "naive-bayes", of="discretize", folds=2)
    assert [point.x for point in curve.points] == [None, "quantile", "entropy"]
    assert list(curve.to_frame()["discretize"]) == ["None", "quantile", "entropy"]
    ticks = [text.get_text() for text in curve.plot().get_xticklabels()]
    assert ticks == ["None", "quantile", "entropy"]


def test_more_steps_fit_the_training_rows_better_and_the_last_is_the_whole_fit():
    frame = noisy()
    curve = lk.learning_curve(frame, "y", "logistic", of="iterations", folds=3)
    assert [point.x for point in curve.points][:2] == [1, 2]
    losses = [point.train.value for point in curve.points]
    assert all(np.diff(losses) <= 1e-4)  # the penalised loss falls; this is its first part
    whole = lk.learning_curve(frame, "y", "logistic", values=[1.0], folds=3)
    assert losses[-1] == pytest.approx(whole.points[0].train.value, rel=1e-12)


def test_a_value_that_cannot_be_fitted_is_a_point_without_a_score():
    curve = lk.learning_curve(noisy(), "y", "logistic", of="l2", values=[-1.0, 1.0], folds=2)
    assert np.isnan(curve.points[0].validation.value)
    assert "l2" in curve.points[0].problem
    assert curve.best.x == 1.0
    assert "failed" in str(curve)
    nothing = lk.learning_curve(noisy(), "y", "logistic", of="l2", values=[-1.0], folds=2)
    with pytest.raises(InvalidInput, match="No point of the curve of logistic has a score"):
        _ = nothing.best


def test_it_prints_as_a_table_a_frame_a_page_and_json():
    curve = lk.learning_curve(noisy(), "y", "logistic", folds=3)
    assert str(curve).startswith("table: log loss of logistic by training rows")
    assert "best" in str(curve) and "▁" in str(curve)
    assert list(curve.to_frame()["size"]) == [point.x for point in curve.points]
    assert "<td" in curve._repr_html_()
    facts = json.loads(json.dumps(curve.facts()))
    assert facts["of"] == "size"
    for point, written in zip(curve.points, facts["points"], strict=True):
        assert Estimate.from_json(written["train"]) == point.train
        assert Estimate.from_json(written["validation"]) == point.validation


def test_each_point_has_the_baseline_that_its_training_rows_give():
    frame = noisy()
    curve = lk.learning_curve(frame, "y", "logistic", values=[0.1, 1.0], folds=3)
    scores = lk.compare(frame, "y", ["constant", "logistic"], folds=3, repeats=1)
    constant, logistic = (scores[name].score.main for name in ("constant", "logistic"))
    first, last = curve.points
    assert last.validation == logistic
    assert last.validation.baseline == constant.value
    assert first.validation.baseline != last.validation.baseline  # learned from fewer rows
    baseline = curve.plot().lines[-1].get_ydata()
    assert list(baseline) == list(curve.to_frame()["baseline"])
    assert list(baseline) == [first.validation.baseline, last.validation.baseline]
    assert str(curve).splitlines()[2].endswith("baseline")


def test_a_baseline_far_from_the_curves_is_named_and_not_drawn():
    scores = [Estimate(0.1 * k, 0.1 * k - 0.02, 0.1 * k + 0.02, 5.0) for k in range(1, 4)]
    line, name = baseline_of(scores, scores)
    assert np.isnan(line).all()
    assert name == "baseline 5.000, outside the axis"
    near = [score._replace(baseline=0.5) for score in scores]
    line, name = baseline_of(near, near)
    assert list(line) == [0.5] * 3
    assert name == "baseline"
    alone = [Estimate(1.0, -np.inf, np.inf, 9.0)]  # no range that could be squeezed
    assert list(baseline_of(alone, alone)[0]) == [9.0]
    assert baseline_of([NO_ESTIMATE], [NO_ESTIMATE])[1] == baseline_of([], [])[1] == "baseline"


def test_a_wide_axis_is_logarithmic_with_the_values_of_the_points_written_out():
    axes = lk.learning_curve(noisy(), "y", "logistic", folds=3, values=[0.1, 0.4, 1.0]).plot()
    assert axes.get_xscale() == "log"
    assert [text.get_text() for text in axes.get_xticklabels()] == ["17", "65", "160"]


def test_the_figure_has_a_line_and_a_band_for_each_part():
    axes = lk.learning_curve(noisy(), "y", "logistic", folds=3).plot()
    assert [line.get_label() for line in axes.lines] == ["training", "held out", "baseline"]
    assert len(axes.collections) == 2
    assert axes.get_ylabel() == "log loss"
    assert axes.get_xscale() == "log"


def test_a_curve_is_drawn_on_given_axes_or_on_those_of_pyplot():
    curve = lk.learning_curve(noisy(), "y", "logistic", folds=3, values=[0.5, 1.0])
    assert curve.plot() is plt.gca(), "plt.savefig saves it"
    mine = plt.subplots()[1]
    assert curve.plot(mine) is mine
    assert len(mine.lines) == 3


def test_bars_rise_with_their_values():
    assert sparkline([0.0, 1.0, float("nan"), 0.5]) == "▁█ ▅"
    assert sparkline([2.0, 2.0]) == "▁▁"


def test_mistakes_are_refused():
    frame = noisy(60)
    with pytest.raises(UnknownName, match="no setting 'l3'"):
        lk.learning_curve(frame, "y", "logistic", of="l3")
    with pytest.raises(InvalidInput, match="'tol' has no default range"):
        lk.learning_curve(frame, "y", "logistic", of="tol")
    with pytest.raises(InvalidInput, match="shares of the training rows"):
        lk.learning_curve(frame, "y", "logistic", values=[10])
    with pytest.raises(InvalidInput, match="fitted without iterations"):
        lk.learning_curve(frame, "y", "constant", of="iterations")
    with pytest.raises(InvalidInput, match="in one pass"):
        lk.learning_curve(frame, "y", "naive-bayes", of="iterations")


MIXTURES = [
    lk.GaussianMixture(2, random_state=0),
    lk.MixtureModel(2, random_state=0),
    lk.GaussianMixture(2, "tied", regularisation=0.01, random_state=0),
]


def clusters(n=120):
    rng = np.random.default_rng(0)
    centre = 6.0 * (np.arange(n) % 2)
    return pd.DataFrame(
        {"a": rng.normal(centre), "b": rng.normal(-centre), "w": 1 + np.arange(n) % 3}
    )


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("model", MIXTURES, ids=repr)
def test_a_mixture_is_scored_by_the_likelihood_of_held_out_rows(model, weight):
    """SEL-3: nats per row of all folds together; the baseline is one component."""
    frame = clusters() if weight else clusters().drop(columns="w")
    curve = lk.learning_curve(frame, None, model, values=[1.0], folds=4, weight=weight)
    rows, table = frame[["a", "b"]], curve.rows
    share = np.ones(len(frame)) if weight is None else frame["w"].to_numpy(float)
    held, one, inside = np.zeros(len(frame)), np.zeros(len(frame)), []
    for train, test in table.folds(4):
        fit = clone(model).fit(rows.iloc[train], sample_weight=share[train])
        lone = clone(model).set_params(n_components=1)
        held[test] = fit.score_samples(rows.iloc[test])
        one[test] = lone.fit(rows.iloc[train], sample_weight=share[train]).score_samples(
            rows.iloc[test]
        )
        inside.append(np.average(fit.score_samples(rows.iloc[train]), weights=share[train]))
    (point,) = curve.points
    np.testing.assert_allclose(point.validation.value, np.average(held, weights=share), rtol=1e-9)
    np.testing.assert_allclose(point.validation.baseline, np.average(one, weights=share), rtol=1e-9)
    np.testing.assert_allclose(point.train.value, np.mean(inside), rtol=1e-9)
    assert point.validation.low < point.validation.value < point.validation.high
    assert point.validation.value > point.validation.baseline
    assert point.x == 90
    assert curve.metric.name == "log-likelihood"
    assert "The baseline is the same mixture with one component." in str(curve)


def test_the_number_of_components_of_a_mixture_is_an_axis():
    curve = lk.learning_curve(
        clusters(), None, "mixture", of="n_components", values=[1, 2, 3], folds=3, drop=["w"]
    )
    assert curve.best.x == 2
    first = curve.points[0].validation
    assert first.value == pytest.approx(first.baseline)  # one component is the baseline
    frame = curve.to_frame()
    assert frame["n_components"].tolist() == [1, 2, 3]
    assert curve.facts()["target"] is None
    with pytest.raises(InvalidInput, match=r"no setting of mixture has one\. Give the values"):
        lk.learning_curve(clusters(), None, "mixture", of="n_components")


def test_a_mixture_is_scored_step_by_step():
    model = lk.GaussianMixture(2, n_init=1, random_state=0)
    curve = lk.learning_curve(clusters(), None, model, of="iterations", values=[1, 5], folds=3)
    assert curve.points[1].train.value >= curve.points[0].train.value - 1e-9
    assert all(not point.problem for point in curve.points)
    steps = lk.learning_curve(clusters(), None, model, of="iterations", folds=3)
    assert steps.points[0].x == 1


def test_rows_of_a_group_are_held_out_together_from_a_mixture():
    frame = clusters().assign(group=np.arange(120) // 6)
    one, other = (
        lk.learning_curve(frame, None, MIXTURES[0], values=[1.0], folds=4, group=group, drop=drop)
        for group, drop in (("group", ["w"]), (None, ["w", "group"]))
    )
    assert one.points[0].validation.low != other.points[0].validation.low
    assert one.rows.groups is not None


def test_the_target_is_no_column_of_a_mixture_and_a_note_says_so():
    frame = clusters().drop(columns="w").assign(y=np.arange(120) % 2)
    with_target = lk.learning_curve(frame, "y", MIXTURES[0], values=[1.0], folds=3)
    without = lk.learning_curve(frame.drop(columns="y"), None, MIXTURES[0], values=[1.0], folds=3)
    assert with_target.points == without.points
    assert "Column 'y' was left out, because GaussianMixture needs no target." in str(with_target)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": "rmse"}, "metric rmse was given.*log-likelihood per row. Leave the metric"),
        ({"offset": "w"}, "'w' was given as an offset or exposure, and a mixture takes none"),
    ],
)
def test_what_a_mixture_does_not_have_is_refused(options, message):
    with pytest.raises(InvalidInput, match=message):
        lk.learning_curve(clusters(), None, MIXTURES[0], **options)
    with pytest.raises(InvalidInput, match="Give the mixture itself"):
        lk.learning_curve(clusters(), None, lk.Prepared(MIXTURES[0]))
    with pytest.raises(InvalidInput, match="KMeans needs no target; the target 'w'"):
        lk.learning_curve(clusters(), "w", KMeans(2))


@pytest.mark.parametrize("of", ["size", "iterations", "l2"])
def test_threads_give_the_same_curve_as_one_after_another(of):
    one, other = (
        lk.learning_curve(noisy(), "y", "logistic", of=of, folds=3, executor=executor).facts()
        for executor in ("serial", "threads")
    )
    assert one == other


def test_an_executor_that_does_not_exist_is_refused():
    with pytest.raises(UnknownName, match="executor"):
        lk.learning_curve(noisy(), "y", "logistic", executor="cloud")


def test_the_curve_of_a_network_counts_epochs_and_that_of_a_search_steps():
    X = np.random.default_rng(0).normal(size=(40, 2))
    network = lk.NeuralNetworkRegressor((2,), max_epochs=3, tol=None)
    found = lk.training_curve(network, X, X[:, 0])
    assert found.plot().get_xlabel().lower() == "epoch"
    assert found.to_frame().column_names[0] == "epoch"
    assert (
        lk.training_curve(lk.LogisticRegression(), X, X[:, 0] > 0).plot().get_xlabel().lower()
        == "step"
    )
