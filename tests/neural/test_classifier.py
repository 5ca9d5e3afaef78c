"""Networks for classes: the textbook's steps, what they learn, and what they answer."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.callback import ScoringMonitor
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

import likely
from likely import solvers
from likely.errors import AlphabeticalOrder, InvalidInput, UnseenCategories
from likely.teaching import Cascade
from tests.neural.estimators import UPDATES, blobs, classifier

XOR = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([0, 1, 1, 0])


def textbook_sgd(layers, X, y, rate, n_epochs):
    """Back-propagation by example, as it is written on the board; tanh, then a sigmoid."""
    (W, b), (v, c) = ([np.array(part, dtype=float) for part in layer] for layer in layers)
    for _ in range(n_epochs):
        for x, t in zip(X, y, strict=True):
            h = np.tanh(W @ x + b)
            p = 1 / (1 + np.exp(-(v @ h + c)))
            delta = p - t  # (1,)
            hidden = (v.T @ delta) * (1 - h * h)  # with the old v
            v -= rate * np.outer(delta, h)
            c -= rate * delta
            W -= rate * np.outer(hidden, x)
            b -= rate * hidden
    return W, b, v, c


@pytest.mark.parametrize("n_epochs", [1, 2, 5])
def test_training_by_example_is_the_textbook_algorithm_step_by_step(n_epochs):
    """NN-7, OPT-3: in the order of the rows, to the last digits; the first layer learns, too."""
    X, y = blobs(30, n_classes=2)
    rng = np.random.default_rng(1)
    start = [(rng.normal(size=(4, 3)), rng.normal(size=4)), (rng.normal(size=(1, 4)), np.zeros(1))]
    model = classifier(
        (4,),
        activation="tanh",
        solver="sgd",
        batch=1,
        shuffle=False,
        learning_rate=0.1,
        max_epochs=n_epochs,
        initialise=start,
        dtype="float64",
    ).fit(X, y)
    W, b, v, c = textbook_sgd(start, X, y, 0.1, n_epochs)
    assert_allclose(model.weights_[0], W, rtol=1e-12)
    assert_allclose(model.biases_[0], b, rtol=1e-12)
    assert_allclose(model.weights_[1], v, rtol=1e-12)
    assert_allclose(model.biases_[1], c, rtol=1e-12)
    assert (model.weights_[0] != start[0][0]).all()


def test_one_step_is_that_of_the_worked_example():
    """NN-7, NN-8: 2-2-3 with tanh and softmax, without biases; one step with rate 0.05."""
    start = [([[0.4, 0.87], [0.58, 0.34]], None), ([[0.12, 0.87], [0.82, 0.31], [0.77, 0.9]], None)]
    x = [[0.3, 0.7]]
    model = classifier(
        (2,), activation="tanh", solver="sgd", bias=False, initialise=start, dtype="float64"
    )
    model.partial_fit(x, [2], classes=[0, 1, 2])
    assert_allclose(model.history_.loss, [0.8922676605], atol=1e-10)
    assert_allclose(model.weights_[0], [[0.401, 0.873], [0.583, 0.346]], atol=1.5e-3)
    before = classifier(
        (2,),
        activation="tanh",
        bias=False,
        initialise=start,
        dtype="float64",
        batch=1,
        max_epochs=0,
    ).fit([*x, *x, *x], [0, 1, 2])
    inside = before.trace(x, [2])
    assert_allclose(inside.loss, [0.9078427939], atol=1e-10)
    assert_allclose(inside.gradient[1].weight[0, 0], 0.1655918398, atol=1e-10)
    assert_allclose(inside.deltas[0], [[-0.09579785427892948, -0.17211421448762393]], atol=1e-14)


def test_xor_is_learned_by_2_4_1_from_most_seeds():
    """NN-7."""
    X, y = XOR
    right = [
        classifier(
            (4,),
            activation="tanh",
            learning_rate=0.1,
            max_epochs=100,
            batch="full",
            random_state=seed,
        )
        .fit(X, y)
        .score(X, y)
        == 1.0
        for seed in range(10)
    ]
    assert sum(right) >= 8


@pytest.mark.parametrize("l2", [0.1, 1.0])
def test_without_hidden_layers_it_is_softmax_regression(l2):
    """LR-17, NN-1: the same objective, so the same probabilities."""
    X, y = blobs()
    model = likely.NeuralNetworkClassifier((), solver="lbfgs", l2=l2).fit(X, y)
    linear = likely.SoftmaxRegression(l2=l2).fit(X, y)
    assert_allclose(model.predict_proba(X), linear.predict_proba(X), atol=1e-6)
    assert_allclose(model.weights_[0], linear.coef_, atol=1e-5)
    assert model.history_.converged


def test_without_hidden_layers_two_classes_are_logistic_regression():
    X, y = blobs(n_classes=2)
    model = likely.NeuralNetworkClassifier((), solver="auto", l2=0.5).fit(X, y)
    linear = likely.LogisticRegression(l2=0.5).fit(X, y)
    assert_allclose(model.predict_proba(X), linear.predict_proba(X), atol=1e-6)
    assert_allclose(model.decision_function(X), linear.decision_function(X), atol=1e-5)


def test_three_functions_of_one_framework_have_the_same_probabilities():
    """LR-17: a linear function, a polynomial of degree 1 and a network without hidden layers."""
    X, y = blobs()
    one = likely.SoftmaxRegression(l2=1.0).fit(X, y).predict_proba(X)
    monomials = likely.PolynomialFeatures(1).fit_transform(X)[:, -3:]
    two = likely.SoftmaxRegression(l2=1.0).fit(monomials, y).predict_proba(monomials)
    three = likely.NeuralNetworkClassifier((), solver="lbfgs", l2=1.0).fit(X, y).predict_proba(X)
    assert_allclose(two, one, atol=1e-6)
    assert_allclose(three, one, atol=1e-6)


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_words_of_an_ordinal_response_without_an_order_are_sorted_with_a_warning(method):
    X, words = np.arange(6.0)[:, None], np.resize(["low", "mid", "high"], 6)
    options = {"hidden": (), "response": "ordinal", "max_epochs": 1, "tol": None}
    more = {"classes": ["low", "mid", "high"]} if method == "partial_fit" else {}
    model = likely.NeuralNetworkClassifier(**options)
    with pytest.warns(AlphabeticalOrder, match="high < low < mid"):
        getattr(model, method)(X, words, **more)
    ordered = likely.NeuralNetworkClassifier(**options, order=["low", "mid", "high"])
    assert getattr(ordered, method)(X, words, **more).classes_.tolist() == ["low", "mid", "high"]


def test_ordinal_outputs_without_hidden_layers_are_ordinal_regression():
    X, y = blobs(120)
    model = likely.NeuralNetworkClassifier(
        (), response="ordinal", solver="lbfgs", l2=1.0, max_epochs=500
    ).fit(X, y)
    linear = likely.OrdinalRegression(l2=1.0).fit(X, y)
    assert_allclose(model.predict_proba(X), linear.predict_proba(X), atol=1e-5)
    assert model.biases_ == [None]


def test_a_cascade_is_a_network_with_two_hidden_units():
    """LR-15: the same forward values, and the same probabilities."""
    cascade = Cascade([[20.0, 20.0], [-20.0, -20.0]], [-10.0, 30.0], [20.0, 20.0], -30.0)
    X, y = XOR
    layers = [
        (cascade.hidden_coef, cascade.hidden_intercept),
        ([cascade.coef], [cascade.intercept]),
    ]
    model = classifier(
        (2,), activation="sigmoid", initialise=layers, max_epochs=0, batch=1, dtype="float64"
    )
    model.fit(X, y)
    inside = model.trace(X, y)
    assert_allclose(inside.h[1], cascade.hidden(X), atol=1e-15)
    assert_allclose(model.predict_proba(X)[:, 1], cascade.probability(X), atol=1e-15)
    assert_array_equal(model.predict(X), y)


def test_every_solver_lowers_the_loss():
    X, y = blobs()
    for options in UPDATES.values():
        model = classifier(**options, max_epochs=15).fit(X, y)
        assert model.history_.loss[-1] < 0.95 * np.log(3)
        assert model.history_.loss[-1] < model.history_.loss[0]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_recorded_losses_are_those_of_the_snapshots_evaluated_again(dtype):
    """SEL-3."""
    X, y = blobs()
    held = blobs(40, seed=1)
    snapshots = []
    model = classifier(
        validation=held,
        dtype=dtype,
        l2=1.0,
        dropout=0.2,
        callbacks=lambda epoch: snapshots.append(np.array(epoch.theta)),
    ).fit(X, y)
    again = classifier(max_epochs=0, dtype="float64").fit(X, y)
    tolerance = 1e-12 if dtype == "float64" else 1e-6
    for t, theta in enumerate(snapshots):
        again.parameters_ = theta
        assert_allclose(-again.log_likelihoods(X, y).mean(), model.history_.loss[t], rtol=tolerance)
        loss = -again.log_likelihoods(*held).mean()
        assert_allclose(loss, model.history_.validation[t], rtol=tolerance)
    assert_array_equal(snapshots[-1], model.parameters_)


def test_early_stopping_restores_the_best_epoch_and_keeps_the_history():
    """SEL-4: the restored parameters give the recorded minimum."""
    X, y = blobs(60)
    held = blobs(200, seed=3)
    model = classifier(
        (30,),
        learning_rate=0.1,
        validation=held,
        early_stopping=True,
        patience=3,
        max_epochs=60,
        dtype="float64",
    ).fit(X, y)
    history = model.history_
    assert history.n_epochs == history.best_epoch + 3 < 60
    assert history.kept_epoch == history.best_epoch
    lowest = history.validation.min()
    assert_allclose(-model.log_likelihoods(*held).mean(), lowest, rtol=1e-12)
    assert "the validation loss has not fallen for 3 epochs" in history.ending


def test_rows_are_held_out_of_each_class():
    X, y = blobs(90)
    model = classifier(validation=0.2).fit(X, y)
    assert model.held_out_ == (18, 72)
    assert classifier().fit(X, y).held_out_ == (0, 90)
    assert classifier(early_stopping=True).fit(X, y).held_out_ == (9, 81)
    few = classifier(early_stopping=True, batch="auto").fit(
        X[:8], y[:8]
    )  # a tenth of no class is a row
    assert few.held_out_ == (1, 7)


def test_the_end_game_by_epochs_is_a_fit_on_all_rows_for_the_best_number():
    """SEL-7."""
    X, y = blobs(60)
    options = {"learning_rate": 0.1, "max_epochs": 40, "dropout": 0.1}
    model = classifier(early_stopping=True, patience=3, end_game="epochs", **options).fit(X, y)
    best = model.history_.best_epoch
    assert model.end_game_.n_epochs == best < 40
    alone = classifier(**{**options, "max_epochs": best}).fit(X, y)
    assert_array_equal(model.parameters_, alone.parameters_)
    held = blobs(30, seed=2)
    given = classifier(
        early_stopping=True, patience=3, end_game="epochs", validation=held, **options
    ).fit(X, y)
    both = np.vstack([X, held[0]]), np.concatenate([y, held[1]])
    union = classifier(**{**options, "max_epochs": given.history_.best_epoch}).fit(*both)
    assert_array_equal(given.parameters_, union.parameters_)


def test_the_end_game_by_loss_stops_at_the_level_of_the_best_epoch():
    """SEL-8: at the first epoch at or below the training loss of t*; else it says so."""
    X, y = blobs(60)
    options = {"early_stopping": True, "patience": 3, "end_game": "loss", "learning_rate": 0.05}
    model = classifier(**options, max_epochs=60).fit(X, y)
    history, again = model.history_, model.end_game_
    level = history.loss[history.best_epoch - 1]
    assert again.loss[-1] <= level < again.loss[:-1].min()
    held, labels = blobs(60, seed=9)
    labels = np.where(np.arange(60) % 3 == 0, (labels + 1) % 3, labels)  # some cannot be learned
    with pytest.warns(ConvergenceWarning, match="the loss of the search was not reached"):
        never = classifier(**options, max_epochs=5, validation=(held, labels), batch="full").fit(
            X, y
        )
    assert never.history_.best_epoch == never.end_game_.n_epochs == 5


def test_a_plateau_schedule_is_replayed_in_the_end_game():
    X, y = blobs(60)
    schedule = solvers.ReduceOnPlateau(0.1, patience=1)
    options = {"early_stopping": True, "patience": 4, "end_game": "epochs", "schedule": schedule}
    model = classifier(**options, max_epochs=30).fit(X, y)
    rates = model.end_game_.rate
    assert_array_equal(rates, model.history_.rate[: len(rates)])


def test_the_seed_decides_and_threads_do_not():
    X, y = blobs(200)
    options = {"dropout": 0.2, "validation": 0.2}
    with threadpool_limits(1):
        one = classifier((40, 20), **options).fit(X, y)
    with threadpool_limits(2):
        two = classifier((40, 20), **options).fit(X, y)
    assert_array_equal(one.parameters_, two.parameters_)
    assert (
        classifier((40, 20), **options, random_state=1).fit(X, y).parameters_ != one.parameters_
    ).any()
    unseeded = [classifier(random_state=None).fit(X, y).parameters_ for _ in range(2)]
    assert (unseeded[0] != unseeded[1]).any()


def test_dense_and_sparse_columns_give_the_same_network():
    X, y = blobs()
    X[X < 0.5] = 0.0
    dense, rows = (classifier(dtype="float64").fit(each, y) for each in (X, sparse.csr_array(X)))
    assert_allclose(dense.parameters_, rows.parameters_, rtol=1e-9)
    assert_allclose(dense.predict_proba(X), rows.predict_proba(sparse.csr_array(X)), rtol=1e-9)


def table(n=60):
    X, y = blobs(n)
    words = np.array(["red", "green", "blue"])
    frame = pd.DataFrame({"a": X[:, 0], "colour": words[(y + 1) % 3], "b": X[:, 1] > 0})
    return frame, words[y]


def test_a_file_and_a_frame_give_the_same_batches(tmp_path, monkeypatch):
    """Rows are shuffled in windows of their index; several windows, with weights and categories."""
    from likely.neural import options
    from likely.solvers import mini_batches

    monkeypatch.setattr(options, "WINDOW", 24)
    assert mini_batches.WINDOW == 65_536
    frame, y = table()
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    path = str(tmp_path / "rows.csv")
    frame.assign(y=y, w=weight).to_csv(path, index=False)
    for choice in ({"validation": 0.2}, {"class_weight": "balanced"}, {"end_game": "epochs"}):
        given = {"dropout": 0.2, "batch": 7, "early_stopping": "end_game" in choice, **choice}
        memory = classifier(**given).fit(frame, y, sample_weight=weight)
        file = classifier(**given).fit(path, "y", sample_weight="w")
        assert_array_equal(file.parameters_, memory.parameters_)
        assert_allclose(file.history_.loss, memory.history_.loss, rtol=1e-6)
        assert_array_equal(file.predict(frame), memory.predict(frame))
    assert memory.terms_ == ("a", "b", "colour[blue]", "colour[green]", "colour[red]")


def test_very_many_categories_are_stored_as_sparse_rows(monkeypatch):
    from likely.neural import examples

    frame, y = table()
    dense = classifier(dtype="float64").fit(frame, y)
    monkeypatch.setattr(examples, "MOST_DENSE", 2)
    monkeypatch.setattr("likely.data.coding.MOST_TO_EXPAND", 2)
    rows = classifier(dtype="float64").fit(frame, y)
    assert_allclose(rows.parameters_, dense.parameters_, rtol=1e-9)
    with pytest.warns(UnseenCategories):
        assert rows.predict(frame.assign(colour="pink")).shape == y.shape


def test_weights_pull_as_often_as_rows_in_one_batch():
    X, y = blobs(40)
    weight = np.random.default_rng(0).integers(0, 3, 40).astype(float)
    again = np.repeat(np.arange(40), weight.astype(int))
    options = {"batch": "full", "dtype": "float64", "l2": 0.5, "max_epochs": 4}
    weighted = classifier(**options).fit(X, y, sample_weight=weight)
    repeated = classifier(**options).fit(X[again], y[again])
    assert_allclose(weighted.parameters_, repeated.parameters_, rtol=1e-6, atol=1e-8)


def test_class_weights_multiply_those_of_rows():
    X, y = blobs(60)
    y = np.where(np.arange(60) % 5 == 0, y, 0)
    counts = np.bincount(y)
    by_name = {k: 60 / (3 * n) for k, n in enumerate(counts)}
    options = {"batch": "full", "dtype": "float64"}
    balanced = classifier(class_weight="balanced", **options).fit(X, y)
    named = classifier(class_weight=by_name, **options).fit(X, y)
    rows = classifier(**options).fit(X, y, sample_weight=np.array(list(by_name.values()))[y])
    assert_allclose(balanced.parameters_, named.parameters_, rtol=1e-9)
    assert_allclose(balanced.parameters_, rows.parameters_, rtol=1e-9)


def test_soft_labels_are_shares_of_classes():
    X, y = blobs(40)
    hard = np.eye(3)[y]
    options = {"batch": "full", "dtype": "float64"}
    one, other = (classifier(**options).fit(X, each) for each in (y, hard))
    assert_allclose(one.parameters_, other.parameters_, rtol=1e-9)
    soft = 0.8 * hard + 0.2 / 3
    model = classifier(**options, validation=(X, soft)).fit(X, soft)
    assert_allclose(model.log_likelihood(X, soft), -40 * model.history_.loss[-1], rtol=1e-9)
    two = np.column_stack([1 - soft[:, 0], soft[:, 0]])
    assert classifier(**options).fit(X, two).n_parameters_ == 4 * 5 + 6
    with pytest.raises(InvalidInput, match="y holds soft labels, with class_weight"):
        classifier(class_weight="balanced").fit(X, soft)


def test_square_errors_of_the_lectures_learn():
    X, y = blobs(n_classes=2)
    for response in ("square-error-sigmoid", "square-error-softmax"):
        model = classifier(response=response, max_epochs=40).fit(X, y)
        assert model.score(X, y) > 0.8
        assert model.history_.loss[-1] < 0.2


def test_partial_fit_goes_on_from_where_the_network_is():
    X, y = blobs()
    labels = np.array(["a", "b", "c"])[y]
    parts = classifier().partial_fit(X, labels, classes=["a", "b", "c"])
    for _ in range(5):
        parts.partial_fit(X, labels)
    assert_array_equal(parts.parameters_, classifier(initialise="auto").fit(X, labels).parameters_)
    assert parts.history_.n_epochs == 6
    before = parts.parameters_
    with pytest.raises(
        InvalidInput, match="The target label 'd' in y does not exist in the initial"
    ):
        parts.partial_fit(X[:3], ["a", "b", "d"])
    assert parts.parameters_ is before
    one = classifier().partial_fit(X[:5], ["a"] * 5, classes=["a", "b"])  # one class so far
    assert np.isfinite(one.predict_proba(X)).all()
    with pytest.raises(InvalidInput, match="partial_fit has some of them"):
        classifier(solver="lbfgs", batch="auto").partial_fit(X, y, classes=[0, 1, 2])


def test_callbacks_of_scikit_learn_see_every_epoch():
    X, y = blobs()
    monitor = ScoringMonitor(scoring="neg_log_loss")
    model = classifier(max_epochs=4).set_callbacks(monitor).fit(X, y)
    log = monitor.get_logs().data_as_pandas
    epochs = log[log["task_name"] == "epoch"] if "task_name" in log else log
    assert_allclose(-epochs["neg_log_loss"], model.history_.loss, rtol=1e-5)


def test_a_callback_of_scikit_learn_may_end_the_training():
    class Stop:
        def setup(self, estimator, context): ...

        def teardown(self, estimator, context): ...

        def on_fit_task_begin(self, estimator, context): ...

        def on_fit_task_end(self, estimator, context):
            return context.task_name == "epoch" and context.task_id == 1

    X, y = blobs()
    assert classifier().set_callbacks(Stop()).fit(X, y).n_iter_ == 2


def test_training_that_still_gains_warns():
    X, y = blobs()
    with pytest.warns(ConvergenceWarning, match="did not converge: max_epochs=3 was reached"):
        classifier(max_epochs=3, tol="auto").fit(X, y)


def test_the_advice_for_lbfgs_has_no_rate():
    X, y = blobs()
    with pytest.warns(ConvergenceWarning, match="Raise max_epochs, or give tol=None"):
        classifier(solver="lbfgs", batch="auto", max_epochs=2, tol="auto").fit(X, y)


@pytest.mark.parametrize("options", [{}, {"solver": "lbfgs", "batch": "auto"}])
def test_no_epochs_are_no_failure_to_converge(options):
    X, y = blobs()
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        assert classifier(max_epochs=0, tol="auto", **options).fit(X, y).n_iter_ == 0


def test_the_network_describes_and_draws_itself():
    X, y = blobs()
    model = classifier((4, 3), l2=0.5, validation=0.2).fit(X, y)
    text = str(model.describe())
    assert "NeuralNetworkClassifier: 3-4-3-3, categorical" in text
    assert "Trained on 72 rows, judged by 18 others." in text
    assert "l2=0.5" in text
    assert len(model.draw().edges) == model.n_parameters_ == 4 * 4 + 5 * 3 + 4 * 3
    assert model.columns_read().kinds == {"numeric": 3}
    assert model.column_needs().scale
