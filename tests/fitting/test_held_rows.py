"""``stop=``: rules that end the search of a model early, and say so."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

import likely
from likely.errors import InvalidInput
from likely.fitting.framing import held_mask
from likely.penalties import Group
from likely.solvers import HeldOutPatience, Iterations, Patience, Seconds, SmallChange, Tolerance

MODELS = {
    "linear": likely.LinearRegression,
    "logistic": likely.LogisticRegression,
    "poisson": lambda **options: likely.GLM("poisson", **options),
    "softmax": likely.SoftmaxRegression,
    "maxent": likely.MaxEntropy,
    "ordinal": likely.OrdinalRegression,
}
every_model = pytest.mark.parametrize("name", MODELS)


def rows(name, n=60, d=20, seed=1):
    """Few rows beside the columns: the optimum without a penalty is far too sure."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    eta = X[:, 0] + 0.5 * X[:, 1]
    if name == "linear":
        return X, 3 + eta + 2 * rng.normal(size=n)
    if name == "poisson":
        return X, rng.poisson(np.exp(0.3 * eta)).astype(float)
    noisy = eta + 1.5 * rng.logistic(size=n)
    return X, (noisy > 0).astype(int) if name == "logistic" else np.digitize(noisy, [-1, 1])


def options(name):
    free = {} if name in ("linear", "poisson") else {"l2": 1e-3}
    solver = "lbfgs" if name in ("softmax", "maxent") else "gradient-descent"
    return {**free, "solver": solver, "max_iter": 3000}


def held_out_loss(name, model, X, y, held):
    if name == "linear":
        return np.mean((y[held] - model.predict(X[held])) ** 2) / 2
    if name == "poisson":
        mean = model.predict(X[held])
        return np.mean(mean - y[held] * np.log(mean))
    return -model.log_likelihood(X[held], y[held]) / held.sum()


@every_model
def test_the_step_that_is_best_on_held_out_rows_is_kept(name):
    X, y = rows(name)
    rule = HeldOutPatience(4, share=0.3, random_state=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a rule that was asked for is no cause for a warning
        model = MODELS[name](stop=rule, **options(name)).fit(X, y)
    solution = model.solution_
    assert solution.stopped
    assert not solution.converged
    assert "held-out loss has not fallen for 4 steps" in solution.reason
    assert solution.n_iter == int(np.argmin(solution.held_out)) < len(solution.held_out) - 1
    held = held_mask(rule, y)
    kept = held_out_loss(name, model, X, y, held)
    assert_allclose(kept, min(solution.held_out), rtol=1e-8)
    # the rows that were held out took no part in the fit
    other = y.copy()
    other[held] = np.roll(y[held], 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole = MODELS[name](**options(name)).fit(X[~held], y[~held])
    assert kept < held_out_loss(name, whole, X, y, held)


@every_model
def test_the_summary_says_that_it_was_stopped(name):
    X, y = rows(name)
    model = MODELS[name](stop=Iterations(2), **options(name)).fit(X, y)
    assert not model.solution_.converged
    assert model.n_iter_ == 2
    said = str(model.summary()).replace("\n", " ")
    assert "the search was stopped before it converged: max_iter=2 was reached" in said
    assert "stopped" not in str(MODELS[name](l2=1.0).fit(X, y).summary())


@every_model
@pytest.mark.parametrize("errors", ["model", None])
def test_the_summary_says_how_many_rows_were_held_out_even_of_a_fit_that_converged(name, errors):
    X, y = rows(name, n=300, d=5)
    rule = HeldOutPatience(900)
    model = MODELS[name](l2=1.0, standard_errors=errors, stop=rule).fit(X, y)
    assert "is within tol" in model.solution_.reason
    held = int(held_mask(rule, y).sum())
    said = (
        f"{held} rows were held out to decide when to stop; the estimates are from the other "
        f"{300 - held} rows."
    )
    assert said in model.describe().notes
    model.set_params(stop=None).fit(X, y)
    assert not any("held out" in note for note in model.describe().notes)


@every_model
def test_a_rule_that_does_not_fire_changes_nothing(name):
    X, y = rows(name)
    with_rule = MODELS[name](l2=1.0, stop=Seconds(600) | Iterations(900)).fit(X, y)
    plain = MODELS[name](l2=1.0).fit(X, y)
    assert with_rule.solution_.converged
    assert_allclose(with_rule.coef_, plain.coef_, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (Iterations(3), "max_iter=3"),
        (Seconds(1e-9), "1e-09 seconds"),
        (SmallChange(1e3), "changed by"),
        (Patience(1, least=1e6), "not fallen for 1 steps"),
    ],
)
@pytest.mark.parametrize(
    "solver",
    ["newton", "lbfgs", "gradient-descent", "fista", "proximal-newton", "coordinate-descent"],
)
def test_every_rule_stops_every_solver_and_nothing_is_called_converged(rule, said, solver):
    X, y = rows("logistic", n=300, d=5)
    model = likely.LogisticRegression(l2=1e-4, solver=solver, tol=1e-15, stop=rule).fit(X, y)
    assert model.solution_.stopped
    assert not model.solution_.converged
    assert said in model.solution_.reason


def test_a_tolerance_as_a_rule_is_a_convergence():
    X, y = rows("logistic", n=300, d=5)
    model = likely.LogisticRegression(tol=1e-14, solver="lbfgs", stop=Tolerance(1e-3)).fit(X, y)
    assert model.solution_.converged
    assert 1e-14 < model.solution_.gap <= 1e-3


def test_groups_stop_too():
    X, y = rows("linear")
    stop = HeldOutPatience(3)
    model = likely.LinearRegression(penalty=Group(strength=1e-3), stop=stop, solver="fista")
    assert model.fit(X, y).solution_.stopped


def test_classes_are_held_out_alike_and_none_wholly():
    y = np.repeat([0, 1, 2], [70, 30, 1])
    held = held_mask(HeldOutPatience(share=0.2), y)
    assert [held[y == k].sum() for k in range(3)] == [14, 6, 0]
    assert_array_equal(held, held_mask(HeldOutPatience(share=0.2), y))
    assert (held != held_mask(HeldOutPatience(share=0.2, random_state=1), y)).any()
    assert held_mask(HeldOutPatience(share=0.25), np.linspace(0, 1, 8)).sum() == 2


def test_weights_and_a_frame_of_rows_are_kept():
    X, y = rows("logistic", n=400, d=4)
    weight = np.random.default_rng(0).integers(0, 3, 400).astype(float)
    rule = HeldOutPatience(2, share=0.5)
    model = likely.LogisticRegression(l2=0.0, solver="gradient-descent", stop=rule)
    model.fit(X, y, sample_weight=weight)
    X, y, weight = X[weight > 0], y[weight > 0], weight[weight > 0]  # weight 0 is no row
    held = held_mask(rule, y)
    loss = -model.log_likelihood(X[held], y[held], weight[held]) / weight[held].sum()
    assert_allclose(min(model.solution_.held_out), loss, rtol=1e-10)


def test_it_is_kept_by_clone_and_by_a_file(tmp_path):
    X, y = rows("logistic")
    stop = HeldOutPatience(3) | Seconds(600)
    model = likely.LogisticRegression(stop=stop, solver="lbfgs").fit(X, y)
    likely.save(model, tmp_path / "m.likely")
    loaded = likely.load(tmp_path / "m.likely")
    assert loaded.stop == stop
    assert loaded.solution_.reason == model.solution_.reason
    assert_array_equal(clone(loaded).fit(X, y).coef_, model.coef_)


def test_what_cannot_be_stopped_is_refused():
    X, y = rows("logistic")
    with pytest.raises(InvalidInput, match=r"stop=5 was given; a rule of likely\.solvers"):
        likely.LogisticRegression(stop=5).fit(X, y)
    with pytest.raises(InvalidInput, match="a closed form has no steps"):
        likely.LinearRegression(stop=Iterations(3), solver="qr").fit(X, y)
    with pytest.raises(InvalidInput, match="goes to the optimum"):
        likely.LogisticRegression(firth=True, stop=Iterations(3)).fit(X, y)
    with pytest.raises(InvalidInput, match="an alpha to be estimated"):
        likely.GLM("negative_binomial", stop=Iterations(3)).fit(X, y)
    with pytest.raises(InvalidInput, match="every step of a path"):
        likely.PenaltyPath(likely.LogisticRegression(stop=Iterations(3))).fit(X, y)
    with pytest.raises(InvalidInput, match="holds out none of 3 rows"):
        likely.LinearRegression(stop=HeldOutPatience(share=0.2)).fit(X[:3], y[:3])


def test_rows_of_a_file_are_held_out_as_those_of_an_array(tmp_path):
    X, y = rows("linear", d=3)
    path = tmp_path / "t.csv"
    lines = (",".join(map(repr, [*x, t])) for x, t in zip(X.tolist(), y.tolist(), strict=True))
    path.write_text("a,b,c,y\n" + "\n".join(lines))
    ours = likely.LinearRegression(stop=HeldOutPatience(3), solver="gradient-descent")
    theirs = clone(ours).fit(X, y)
    ours.fit(path, y="y")
    assert theirs.solution_.stopped == ours.solution_.stopped
    assert_allclose(ours.solution_.held_out, theirs.solution_.held_out, rtol=1e-9)
    assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9)
