"""Losses recorded during one fit are those of the snapshots, and the last is where fit ends."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.metrics import log_loss

import likely
from likely.errors import InvalidInput
from likely.likelihoods import NegativeBinomial
from likely.solvers import FISTA, FixedStep, GradientDescent, HeldOutPatience, Iterations, Newton

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 4))
ETA = X @ [1.0, -1.0, 0.5, 0.0]
TARGETS = {
    "binary": np.where(ETA + RNG.logistic(size=300) > 0, "yes", "no"),
    "three": np.array(["a", "b", "c"])[np.searchsorted([-0.7, 0.7], ETA + RNG.logistic(size=300))],
    "count": RNG.poisson(np.exp(0.5 * ETA)),
    "real": ETA + RNG.normal(size=300),
}
MODELS = {
    "logistic": (likely.LogisticRegression(l2=1.0), "binary"),
    "softmax": (likely.SoftmaxRegression(l2=1.0), "three"),
    "ordinal": (likely.OrdinalRegression(order=["a", "b", "c"], l2=1.0), "three"),
    "poisson": (likely.GLM("poisson", l2=1.0), "count"),
    "linear": (likely.LinearRegression(l2=1.0), "real"),
    "lasso": (likely.LogisticRegression(l1=5.0, l2=0.0), "binary"),
}
TRAIN, HELD = slice(0, 200), slice(200, 300)


def curve_of(name, **settings):
    model, kind = MODELS[name]
    y = TARGETS[kind]
    return likely.training_curve(
        model, X[TRAIN], y[TRAIN], validation=(X[HELD], y[HELD]), max_iter=500, **settings
    )


@pytest.mark.parametrize("name", MODELS)
def test_recorded_losses_are_those_of_the_snapshots_evaluated_again(name):
    """SEL-3: to 1e-12."""
    curve, y = curve_of(name), TARGETS[MODELS[name][1]]
    assert len(curve.snapshots) == len(curve.train) == len(curve.validation) > 3
    for part, rows in (("train", TRAIN), ("validation", HELD)):
        again = [-m.log_likelihood(X[rows], y[rows]) / len(y[rows]) for m in curve.snapshots]
        assert_allclose(getattr(curve, part), again, rtol=1e-12)


def test_the_losses_of_classes_are_those_of_scikit_learn():
    curve, y = curve_of("softmax"), TARGETS["three"]
    for k in (0, 1, len(curve.train) - 1):
        proba = curve.snapshots[k].predict_proba(X[HELD])
        assert_allclose(curve.validation[k], log_loss(y[HELD], proba), rtol=1e-12)


@pytest.mark.parametrize("name", MODELS)
def test_the_last_snapshot_is_where_fit_ends(name):
    model, kind = MODELS[name]
    curve = curve_of(name, tol=1e-12)
    fitted = model.fit(X[TRAIN], TARGETS[kind][TRAIN])
    assert_allclose(curve.snapshots[-1].coef_, fitted.coef_, atol=1e-4)


@pytest.mark.parametrize("solver", [Newton(), GradientDescent(), FixedStep(0.005)])
def test_a_solver_of_ones_own_is_watched_step_by_step(solver):
    y = TARGETS["binary"]
    model = likely.LogisticRegression(l2=0.0)
    curve = likely.training_curve(model, X, y, solver=solver, max_iter=500)
    assert len(curve.train) > 3
    assert (np.diff(curve.train) < 1e-9).all(), "without a penalty the loss never rises"


def test_the_solver_the_steps_and_the_rule_of_the_model_are_used():
    y, model = TARGETS["binary"], likely.LogisticRegression
    wanted = likely.training_curve(model(), X, y, solver=Newton())
    for curve in (
        likely.training_curve(model(solver="newton"), X, y),
        likely.training_curve(model(), X, y, solver="newton"),
    ):
        assert_allclose(curve.train, wanted.train, rtol=0)
    slow = FixedStep(1e-4)
    assert len(likely.training_curve(model(), X, y, solver=slow).train) == 101
    assert len(likely.training_curve(model(max_iter=7), X, y, solver=slow).train) == 8
    assert len(likely.training_curve(model(max_iter=7), X, y, solver=slow, max_iter=9).train) == 10
    assert len(likely.training_curve(model(stop=Iterations(3)), X, y, solver=slow).train) == 4


@pytest.mark.parametrize("solver", ["fista", "proximal_newton", FISTA()])
@pytest.mark.parametrize("l1", [0.0, 5.0])
def test_solvers_for_corners_take_any_penalty(solver, l1):
    model, y = likely.LogisticRegression(l1=l1, l2=1.0), TARGETS["binary"]
    curve = likely.training_curve(model, X, y, solver=solver, tol=1e-12)
    assert_allclose(curve.snapshots[-1].coef_, model.fit(X, y).coef_, atol=1e-4)


def test_a_rule_about_held_out_rows_reads_the_validation_rows():
    rng = np.random.default_rng(1)
    wide = rng.normal(size=(60, 40))
    y = np.where(wide[:, 0] + rng.logistic(size=60) > 0, "yes", "no")
    held = X[:, [0, 1, 2, 3] * 10], TARGETS["binary"]
    model = likely.LogisticRegression(l2=1e-3, stop=HeldOutPatience(3))
    curve = likely.training_curve(model, wide, y, validation=held)
    assert len(curve.train) - 1 == curve.best + 3
    assert "the held-out loss has not fallen for 3 steps" in str(curve)


def test_a_search_without_an_end_and_a_loss_that_rises_are_said():
    model, y = likely.LogisticRegression(), TARGETS["binary"]
    text = str(likely.training_curve(model, X, y, solver=FixedStep(1e-4)))
    assert text.startswith("LogisticRegression: stopped after 100 steps, not converged (max_iter=")
    assert [line.split()[0] for line in text.split("\n")[3:6]] == ["0", "…", "11"]
    wild = str(likely.training_curve(model, X, y, solver=FixedStep(1.0)))
    assert "the training loss is higher at the end than at the start" in wild
    whole = str(likely.training_curve(model, X, y, solver="newton"))
    assert "converged" not in whole and "…" not in whole
    assert "stopped after 1 step, " in str(likely.training_curve(model, X, y, max_iter=1))
    mixture = likely.GaussianMixture(2, max_iter=1, random_state=0)
    assert "stopped after 1 step, by max_iter" in str(likely.training_curve(mixture, X))


def test_the_best_step_has_the_lowest_validation_loss_and_its_model_gives_it():
    rng = np.random.default_rng(1)
    wide = rng.normal(size=(60, 40))  # without a penalty it learns the noise
    y = np.where(wide[:, 0] + rng.logistic(size=60) > 0, "yes", "no")
    new = rng.normal(size=(500, 40))
    held = new, np.where(new[:, 0] + rng.logistic(size=500) > 0, "yes", "no")
    model = likely.LogisticRegression(l2=1e-3)
    curve = likely.training_curve(model, wide, y, validation=held)
    assert 0 < curve.best < len(curve.train) - 1
    assert curve.validation[-1] > curve.validation[curve.best] + 0.1, "it is worse at the end"
    assert_allclose(
        -curve.best_model.log_likelihood(*held) / 500, curve.validation.min(), rtol=1e-12
    )
    assert "coef_" not in vars(model), "the model itself is not changed"


@pytest.mark.parametrize(
    "model", [likely.GaussianMixture(2, random_state=0), likely.MixtureModel(2, random_state=0)]
)
def test_a_mixture_is_recorded_by_steps_of_em(model):
    rows = np.concatenate([RNG.normal(size=(150, 2)), RNG.normal(size=(150, 2)) + 2.5])
    rows = RNG.permutation(rows)
    curve = likely.training_curve(model, rows[:200], validation=rows[200:])
    assert len(curve.train) > 2
    again = [-each.score_samples(rows[200:]).mean() for each in curve.snapshots]
    assert_allclose(curve.validation, again, rtol=1e-12)
    assert (np.diff(curve.train) < 1e-6).all(), "EM never raises the loss, but for its prior"
    start = curve.snapshots[0]
    fitted = type(model)(2, start=start).fit(rows[:200])
    assert_allclose(curve.train[-1], -fitted.score(rows[:200]), rtol=1e-9)


def test_table_and_picture_show_the_recorded_numbers():
    curve = curve_of("logistic")
    frame = curve.to_frame("pandas")
    assert list(frame.columns) == ["step", "train", "validation"]
    assert_allclose(frame["validation"], curve.validation)
    axes = curve.plot()
    train, held, _ = axes.get_lines()
    assert_allclose(train.get_ydata(), curve.train)
    assert_allclose(held.get_ydata(), curve.validation)
    given = plt.subplots()[1]
    assert curve.plot(given) is given
    plt.close("all")
    assert "lowest validation loss at step" in str(curve)
    assert str(curve).split("\n")[2].split() == ["step", "train", "validation"]
    assert "<table" in curve._repr_html_()


def test_rows_without_validation_and_frames_with_text():
    frame = pd.DataFrame({"x": X[:, 0], "town": RNG.choice(["Ulm", "Bonn"], 300)})
    y = TARGETS["binary"]
    parts = likely.split(frame.assign(y=y), "y")
    columns = ["x", "town"]
    held = parts.validation[columns], parts.validation["y"]
    model = likely.LogisticRegression()
    curve = likely.training_curve(model, parts.train[columns], parts.train["y"], validation=held)
    assert np.isfinite(curve.validation).all()
    alone = likely.training_curve(model, parts.train[columns], parts.train["y"])
    assert alone.validation is None
    assert alone.best == len(alone.train) - 1
    assert list(alone.to_frame().columns) == ["step", "train"]


@pytest.mark.parametrize(
    ("model", "settings", "message"),
    [
        (likely.NaiveBayes(), {}, "not trained in steps"),
        (likely.GaussianMixture(2), {"solver": Newton()}, "is trained by EM"),
        (likely.LogisticRegression(), {"validation": X}, "a tuple of rows and their labels"),
        (likely.LogisticRegression(), {"solver": "newto"}, "Did you mean 'newton'"),
        (likely.LogisticRegression(), {"solver": "coordinate-descent"}, "no steps that can be rec"),
        (likely.LogisticRegression(l1=1.0), {"solver": Newton()}, "penalties with corners"),
        (likely.LogisticRegression(stop=HeldOutPatience()), {}, "no validation rows were given"),
    ],
)
def test_what_cannot_be_recorded_is_refused(model, settings, message):
    with pytest.raises(InvalidInput, match=message):
        likely.training_curve(model, X, TARGETS["binary"], **settings)


def test_an_estimated_alpha_is_refused_with_what_to_give_instead():
    y = np.random.default_rng(0).negative_binomial(2, 0.2, len(X))
    with pytest.raises(InvalidInput, match=r"is estimated in fit; .*and a training curve, need"):
        likely.training_curve(likely.GLM("negative-binomial"), X, y)
    fitted = likely.GLM("negative-binomial").fit(X, y)
    response = NegativeBinomial(fitted.alpha_)
    curve = likely.training_curve(likely.GLM(response), X, y)
    assert_allclose(curve.train[-1], -fitted.log_likelihood(X, y) / len(X), rtol=1e-6)


def test_the_curve_of_a_network_is_its_history():
    """One idea: the losses after each epoch are those that the fit records."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(120, 3))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    model = likely.NeuralNetworkClassifier(
        (6,), max_epochs=8, tol=None, dtype="float64", random_state=0
    )
    curve = likely.training_curve(model, X[:80], y[:80], validation=(X[80:], y[80:]))
    fitted = clone(model).set_params(validation=(X[80:], y[80:])).fit(X[:80], y[:80])
    assert len(curve.train) == 9  # the start, and eight epochs
    assert_allclose(curve.train[1:], fitted.history_.loss, rtol=1e-12)
    assert_allclose(curve.validation[1:], fitted.history_.validation, rtol=1e-12)
    assert curve.best == fitted.history_.best_epoch
    assert_allclose(curve.snapshots[-1].parameters_, fitted.parameters_)
    assert "8 epochs (max_epochs=8 was reached)" in str(curve)
    with pytest.raises(InvalidInput, match=r"has its own\. Set max_epochs of the model"):
        likely.training_curve(model, X, y, max_iter=3)


def sequences(rng, n):
    """Rows of two states that stay for a while."""
    state = (rng.random(n) < 0.1).cumsum() % 2
    return 2.0 * state[:, None] + rng.normal(size=(n, 2))


def test_a_hidden_markov_model_is_recorded_by_steps_of_em():
    rng = np.random.default_rng(5)
    rows, held = sequences(rng, 120), sequences(rng, 60)
    model = likely.HiddenMarkovModel(2, random_state=0)
    lengths, own = [50, 70], [20, 40]
    curve = likely.training_curve(model, rows, lengths=lengths, validation=(held, own))
    assert len(curve.train) > 3
    again = [-each.log_likelihood(held, lengths=own) / 60 for each in curve.snapshots]
    assert_allclose(curve.validation, again, rtol=1e-12)
    again = [-each.log_likelihood(rows, lengths=lengths) / 120 for each in curve.snapshots]
    assert_allclose(curve.train, again, rtol=1e-12)
    fitted = clone(model).set_params(start=curve.snapshots[0]).fit(rows, lengths=lengths)
    assert_allclose(curve.train[-1], -fitted.score(rows, lengths=lengths), rtol=1e-12)
    assert curve.snapshots[-1].n_iter_ == len(curve.train) - 1
    assert "chain_" not in vars(model), "the model itself is not changed"
    alone = likely.training_curve(model, rows, validation=held)
    again = [-each.score(held) for each in alone.snapshots]
    assert_allclose(alone.validation, again, rtol=1e-12)


@pytest.mark.parametrize(
    "model",
    [
        likely.LinearRegression(),
        likely.LogisticRegression(l2=0.0, tol=1e-14),
        likely.GLM("poisson", tol=1e-14),
    ],
)
def test_a_path_is_recorded_by_its_penalties(model):
    kind = {"LinearRegression": "real", "LogisticRegression": "binary"}
    y = TARGETS[kind.get(type(model).__name__, "count")]
    path = likely.PenaltyPath(model, n_penalties=6)
    curve = likely.training_curve(path, X[TRAIN], y[TRAIN], validation=(X[HELD], y[HELD]))
    whole = likely.PenaltyPath(model, n_penalties=6, cv=None).fit(X[TRAIN], y[TRAIN])
    coefs = [each.coef_ for each in curve.snapshots]
    assert_allclose(coefs, whole.coefs_, atol=1e-5)
    assert (np.diff(curve.train) < 1e-9).all(), "a smaller penalty leaves a smaller training loss"
    again = [-each.log_likelihood(X[HELD], y[HELD]) / 100 for each in curve.snapshots]
    assert_allclose(curve.validation, again, rtol=1e-12)
    assert "PenaltyPath: 6 penalties; lowest" in str(curve)
    with pytest.raises(InvalidInput, match="has its own"):
        likely.training_curve(path, X, y, max_iter=3)


@pytest.mark.parametrize(
    "inside",
    [
        likely.LogisticRegression(l2=1.0),
        likely.NeuralNetworkClassifier(
            (3,), solver="lbfgs", max_epochs=5, tol=None, random_state=0
        ),
    ],
)
def test_ordered_classes_are_recorded_by_the_steps_of_all_cuts(inside):
    y = TARGETS["three"]
    model = likely.FrankHall(inside, order=["a", "b", "c"])
    curve = likely.training_curve(model, X[TRAIN], y[TRAIN], validation=(X[HELD], y[HELD]))
    cuts = [
        likely.training_curve(inside, X[TRAIN], (np.isin(y[TRAIN], above)).astype(int))
        for above in (["b", "c"], ["c"])
    ]
    assert len(curve.train) == max(len(cut.train) for cut in cuts)
    for k, step in enumerate(curve.snapshots):
        proba = step.predict_proba(X[HELD])[np.arange(100), np.searchsorted(step.classes_, y[HELD])]
        with np.errstate(divide="ignore"):  # cuts that cross leave a class no probability
            assert_allclose(curve.validation[k], -np.log(proba).mean(), rtol=1e-12)
        above = [cut.snapshots[min(k, len(cut.train) - 1)] for cut in cuts]
        wanted = [each.predict_proba(X[HELD])[:, 1] for each in above]
        found = [each.predict_proba(X[HELD])[:, 1] for each in step.estimators_]
        assert_allclose(found, wanted, rtol=1e-12)
    assert "classes_" not in vars(model), "the model itself is not changed"


def test_texts_are_recorded_by_the_steps_of_their_model():
    rng = np.random.default_rng(2)
    words = np.array(["red", "green", "blue", "sea", "sky", "tree"])
    labels = np.where(rng.random(80) < 0.5, "warm", "cold")
    texts = [
        " ".join(rng.choice(words, 6, p=np.roll([0.4, 0.2, 0.1, 0.1, 0.1, 0.1], 2 * (y == "cold"))))
        for y in labels
    ]
    inside = likely.LogisticRegression(l2=1.0)
    model = likely.TextClassifier(inside)
    curve = likely.training_curve(
        model, texts[:60], labels[:60], validation=(texts[60:], labels[60:])
    )
    counts = likely.BagOfWords().fit(texts[:60])
    plain = likely.training_curve(
        inside,
        counts.transform(texts[:60]),
        labels[:60],
        validation=(counts.transform(texts[60:]), labels[60:]),
    )
    assert len(curve.train) > 3
    assert_allclose(curve.train, plain.train, rtol=1e-12)
    assert_allclose(curve.validation, plain.validation, rtol=1e-12)
    assert list(curve.best_model.predict(texts[60:])) == list(
        plain.best_model.predict(counts.transform(texts[60:]))
    )
    with pytest.raises(InvalidInput, match="NaiveBayes is not trained in steps"):
        likely.training_curve(likely.TextClassifier(), texts, labels)


@pytest.mark.parametrize(
    ("model", "settings", "message"),
    [
        (likely.GaussianMixture(2), {"validation": 0.2}, "not a share of them"),
        (likely.GaussianMixture(2), {"validation": (X, X)}, "rows alone were expected"),
        (likely.GaussianMixture(2), {"lengths": [300]}, "has no sequences"),
    ],
)
def test_rows_without_labels_are_judged_by_rows_alone(model, settings, message):
    with pytest.raises(InvalidInput, match=message):
        likely.training_curve(model, X, **settings)


def weather(rng, n, missing=0.2):
    """Rain, a wet street and a hidden season; some cells are missing."""
    rain = rng.random(n) < 0.3
    wet = rng.random(n) < np.where(rain, 0.9, 0.2)
    shade = rng.random(n) < np.where(rain, 0.7, 0.3)
    codes = np.column_stack([rain, wet, shade]).astype(int)
    return np.where(rng.random((n, 3)) < missing, -1, codes)


def shown_by_enumeration(graph, rows):
    """Minus the mean log of the sum of the joint over what a row does not show."""
    joint = graph.joint()
    shown = [joint[tuple(slice(None) if c < 0 else c for c in row)].sum() for row in rows]
    return -np.mean(np.log(shown))


@pytest.mark.parametrize("smoothing", [0.5, 1.0])
def test_a_bayesian_network_is_recorded_by_steps_of_em(smoothing):
    rng = np.random.default_rng(3)
    rows, held = weather(rng, 150), weather(rng, 60)
    states = dict.fromkeys(["rain", "wet", "shade"], 2)
    network = likely.BayesianNetwork.from_edges([("rain", "wet"), ("rain", "shade")], states)
    curve = likely.training_curve(network, rows, validation=held, smoothing=smoothing)
    assert len(curve.train) > 3
    again = [shown_by_enumeration(each, rows) for each in curve.snapshots]
    assert_allclose(curve.train, again, rtol=1e-12)
    again = [shown_by_enumeration(each, held) for each in curve.snapshots]
    assert_allclose(curve.validation, again, rtol=1e-12)
    fitted = network.fit(rows, smoothing=smoothing)
    assert_allclose(curve.train[-1], -fitted.fit_report.log_likelihood / 150, rtol=1e-12)
    assert len(curve.train) == fitted.fit_report.n_iter + 1
    assert "not converged" in str(likely.training_curve(network, rows, max_iter=2))
    assert len(likely.training_curve(network, rows, max_iter=2).train) == 3


def test_a_markov_field_is_recorded_by_steps_of_its_search():
    rng = np.random.default_rng(4)
    rows, held = weather(rng, 150), weather(rng, 60)
    states = dict.fromkeys(["rain", "wet", "shade"], 2)
    flat = {("rain", "wet"): np.ones((2, 2)), ("rain", "shade"): np.ones((2, 2))}
    field = likely.MarkovField.from_potentials(states, flat)
    curve = likely.training_curve(field, rows, validation=held, l2=0.1)
    again = [shown_by_enumeration(each, held) for each in curve.snapshots]
    assert_allclose(curve.validation, again, rtol=1e-12)
    n_shown = (rows >= 0).sum() / 150
    assert_allclose(curve.train[0], n_shown * np.log(2), rtol=1e-12)  # all potentials are 1
    assert (np.diff(curve.train) < 1e-9).all()
    fitted = field.fit(rows, l2=0.1)
    assert_allclose(curve.train[-1], -fitted.fit_report.log_likelihood / 150, rtol=1e-12)
    of_wet = likely.training_curve(field, rows, l2=0.1, target="wet")
    unseen = np.column_stack([rows[:, 0], np.full(150, -1), rows[:, 2]])
    last = of_wet.snapshots[-1]
    expected = shown_by_enumeration(last, rows) - shown_by_enumeration(last, unseen)
    assert_allclose(of_wet.train[-1], expected, rtol=1e-12)
    assert of_wet.train[-1] < of_wet.train[0]


def test_what_a_graph_does_not_take_is_refused():
    network = likely.BayesianNetwork.from_edges([("a", "b")], {"a": 2, "b": 2})
    rows = np.array([[0, 1], [1, -1]])
    for wrong in ({"y": [0, 1]}, {"solver": "lbfgs"}):
        with pytest.raises(InvalidInput, match=r"was given, and a BayesianNetwork learns"):
            likely.training_curve(network, rows, **wrong)
    with pytest.raises(InvalidInput, match=r"smoothing was given, and LogisticRegression has"):
        likely.training_curve(likely.LogisticRegression(), rows, [0, 1], smoothing=1.0)
