"""Weights, offsets and exposures: the same meaning in every fit, every score and every seal."""

from contextlib import nullcontext

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar
from scipy.stats import nbinom, poisson
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

import likely as lk
from likely.errors import InvalidInput
from likely.kinds import TARGET_KINDS
from likely.metrics import METRICS
from likely.metrics.registry import LOSSES
from likely.sealing import evaluation
from likely.sealing.folder import SealFolder
from likely.workbench.data.folds import Fold, Folds
from likely.workbench.data.opening import dataset
from likely.workbench.data.roles import ARGUMENTS
from likely.workbench.data.task import Task
from likely.workbench.final.final_scorer import TaskScorer, scorer_from
from likely.workbench.models.constant import ConstantModel
from likely.workbench.models.registry import entries_for
from likely.workbench.preparation.prepared import Prepared, prepared
from likely.workbench.scoring.cross_validation import Loop, cross_validate


def claims(n=240, seed=0):
    rng = np.random.default_rng(seed)
    x, years = rng.normal(size=n), rng.uniform(0.5, 3, n)
    return pa.table(
        {
            "x": x,
            "years": years,
            "log_years": np.log(years),
            "times": rng.integers(0, 4, n),
            "claims": rng.poisson(years * np.exp(0.3 + 0.4 * x)),
            "grade": np.where(x + rng.logistic(size=n) > 0, "high", "low"),
        }
    )


def loop_by(fold, table, target, **given):
    kind = "count" if target == "claims" else None
    rows = dataset(table, target, kind=kind, **given).with_task()
    plan = Folds(n_rows=rows.table.num_rows, n_folds=7, groups=fold)
    return Loop(rows, plan)


@pytest.mark.parametrize(
    ("model", "target", "metric"),
    [
        (lk.LogisticRegression(l2=1.0), "grade", "log-loss"),
        (lk.NaiveBayes(), "grade", "log-loss"),
        (lk.GLM("poisson"), "claims", "log-likelihood"),
        (lk.LinearRegression(), "log_years", "rmse"),
    ],
    ids=lambda x: type(x).__name__ if not isinstance(x, str) else x,
)
def test_integer_weights_are_rows_so_many_times(model, target, metric):
    """Each group is a fold, so that the repeated table has the same folds."""
    table = claims().select(["x", "times", target])
    times = table["times"].to_numpy()
    kept, again = np.flatnonzero(times), np.repeat(np.arange(len(times)), times)
    group = np.arange(len(times)) % 7
    weighted = loop_by(group[kept], table, target, weight="times")
    repeated = loop_by(group[again], table.take(again).drop_columns(["times"]), target)
    scaled = Prepared(model, scale=False)
    one, other = (cross_validate(scaled, loop).held for loop in (weighted, repeated))
    measure = METRICS[metric]
    one, other = (held.score([measure]) for held in (one, other))
    assert one.main.value == pytest.approx(other.main.value, rel=1e-6)
    assert one.main.baseline == pytest.approx(other.main.baseline, rel=1e-9)
    assert one.n_rows == len(kept)


def test_the_exposure_of_a_poisson_model_is_that_of_a_computation_by_hand():
    table = claims().select(["x", "years", "claims"])
    x, years, y = (table[name].to_numpy() for name in table.column_names)
    rows = dataset(table, "claims", kind="count", exposure="years").with_task()
    loop = Loop(rows, rows.folds(4))
    held = cross_validate(Prepared(lk.GLM("poisson", l2=0.0), scale=False), loop).held
    mean, constant = np.empty(len(y)), np.empty(len(y))
    for train, test in loop.folds:
        beta = newton_poisson(x[train], y[train], years[train])
        mean[test] = years[test] * np.exp(beta[0] + beta[1] * x[test])
        rate = y[train].sum() / years[train].sum()
        alpha = likeliest_alpha(y[train], rate * years[train])
        at = rate * years[test]
        law = poisson(at) if alpha <= 0 else nbinom(1 / alpha, 1 / (1 + alpha * at))
        constant[test] = law.logpmf(y[test])
    assert_allclose(held.prediction.means, mean, rtol=1e-6)
    found = held.score([METRICS["log-likelihood"]]).main
    assert found.value == pytest.approx(poisson(mean).logpmf(y).mean(), rel=1e-8)
    assert found.baseline == pytest.approx(constant.mean(), rel=1e-9)


def likeliest_alpha(y, mean):
    """By a search over ln α; 0 where the Poisson is as likely."""
    found = minimize_scalar(
        lambda a: -nbinom(np.exp(-a), 1 / (1 + np.exp(a) * mean)).logpmf(y).sum(),
        bounds=(-20, 5),
        method="bounded",
        options={"xatol": 1e-10},
    )
    return np.exp(found.x) if -found.fun > poisson(mean).logpmf(y).sum() + 1e-8 else 0.0


def newton_poisson(x, y, exposure, steps=50):
    design, beta = np.column_stack([np.ones_like(x), x]), np.zeros(2)
    for _ in range(steps):
        mean = exposure * np.exp(design @ beta)
        beta = beta + np.linalg.solve(design.T @ (mean[:, None] * design), design.T @ (y - mean))
    return beta


def test_an_offset_is_the_logarithm_of_an_exposure_for_models_and_for_the_constant():
    found = [
        lk.compare(
            claims().select(["x", name, "claims"]), "claims", ["glm-poisson"], **{role: name}
        )
        for role, name in (("exposure", "years"), ("offset", "log_years"))
    ]
    for name in ("glm-poisson", "constant"):
        one, other = (each[name] for each in found)
        assert one.value == pytest.approx(other.value, rel=1e-9)
        assert one.main.baseline == pytest.approx(found[0]["constant"].value, rel=1e-9)


@pytest.mark.slow
def test_the_baseline_of_a_path_of_penalties_follows_exposures():
    table = claims().select(["x", "years", "claims"])
    path = lk.PenaltyPath(lk.GLM("poisson", l2=0.0), along="l2")
    found = lk.compare(table, "claims", {"path": path}, exposure="years", folds=3, repeats=1)
    assert found["path"].problem == ""
    assert found["path"].main.baseline == pytest.approx(found["constant"].value, rel=1e-9)


@pytest.mark.parametrize(("kind", "link"), [("count", "log"), ("real", "identity")])
def test_the_constant_moves_with_offsets(kind, link):
    table = claims()
    y, offset = table["claims"].to_numpy().astype(float), table["log_years"].to_numpy()
    model = ConstantModel(kind).fit(np.zeros((len(y), 1)), y, offset=offset)
    assert model.link_ == link
    mean = model.predict(np.zeros((len(y), 1)), offset=offset)
    assert mean.sum() == pytest.approx(y.sum(), rel=1e-9)
    moved = np.log(mean) - offset if link == "log" else mean - offset
    assert_allclose(moved, moved[0])


def test_models_that_take_no_exposure_are_left_out_with_a_note_unless_they_were_named():
    table = claims().select(["x", "years", "claims"])
    options = {"exposure": "years", "kind": "count", "folds": 3, "repeats": 1}
    found = lk.compare(table, "claims", **options)
    assert not found.failed
    assert found.unable == {"exposure": ("additive-gaussian", "linear", "neural-network")}
    assert {each.name for each in found.entries}.isdisjoint(found.unable["exposure"])
    sentence = (
        "Models that take no exposure were not tried: additive-gaussian, linear, neural-network."
    )
    assert sentence in str(found).replace("\n", " ")
    assert found.facts()["unable"] == {"exposure": [*found.unable["exposure"]]}
    named = lk.compare(table, "claims", ["linear", "ridge", "glm-poisson"], **options)
    assert {each.name for each in named.failed} == {"linear", "ridge"}
    assert not named.unable
    assert not lk.compare(table, "claims", kind="count", folds=3, repeats=1).unable


def test_an_exposure_that_no_model_takes_is_refused():
    table = claims().select(["x", "years", "grade"])
    with pytest.raises(InvalidInput, match=r"The exposure 'years' .* no model for .*classes takes"):
        lk.compare(table, "grade", exposure="years", folds=3, repeats=1)


@pytest.mark.filterwarnings("ignore::likely.errors.NothingToCalibrate")  # the rows say nothing
@pytest.mark.parametrize("kind", TARGET_KINDS)
def test_a_registered_model_accepts_what_its_fit_takes(kind):
    """What an entry says is what a fit of its model does."""
    rng = np.random.default_rng(0)
    x, more = rng.normal(size=60), rng.uniform(1, 2, 60)
    y = {"real": x + rng.normal(size=60), "positive": np.exp(x)}.get(kind, np.arange(60) % 2)
    y = np.arange(60) % 3 if kind in ("classes", "ordinal") else y
    table = pa.table({"x": x, "x2": x**2 + rng.normal(size=60), "more": more, "y": y})
    for role in ("weight", "offset", "exposure"):
        rows = dataset(table, "y", kind=kind, **{role: "more"}).with_task()
        for entry in entries_for(kind):
            model = prepared(entry.build(rows.settled))
            refused = pytest.raises(
                InvalidInput, match=r"does not accept|was given; .* takes|multiplies a mean"
            )
            with nullcontext() if entry.accepts(ARGUMENTS[role], kind) else refused:
                rows.fit(model)


def test_a_model_that_takes_no_weight_or_offset_is_named_with_it():
    table = claims().select(["x", "times", "log_years", "grade"])
    neighbours = {"near": KNeighborsClassifier(), "logistic": "logistic"}
    found = lk.compare(table, "grade", neighbours, weight="times", folds=3, repeats=1)
    assert "KNeighborsClassifier does not accept sample_weight" in found["near"].problem
    assert found["logistic"].problem == ""
    found = lk.compare(table, "grade", ["naive-bayes"], offset="log_years", folds=3, repeats=1)
    assert "NaiveBayes does not accept an offset" in found["naive-bayes"].problem
    with pytest.raises(InvalidInput, match="NaiveBayes does not accept an offset"):
        lk.tune(table, "grade", "naive-bayes", offset="log_years", trials=1)
    curve = lk.learning_curve(table, "grade", "naive-bayes", offset="log_years", values=[1.0])
    assert "does not accept an offset" in curve.points[0].problem


def test_a_function_without_sample_weight_is_no_metric_of_weighted_rows():
    table = claims().select(["x", "times", "grade"])

    def right(y, said):
        return np.mean(y == said)

    with pytest.raises(InvalidInput, match="right takes no sample_weight"):
        lk.compare(table, "grade", "logistic", metric=right, weight="times")


@pytest.mark.parametrize(
    ("role", "values", "says"),
    [
        ("weight", [1.0, -1.0], "row 1 has -1"),
        ("weight", [1.0, None], "row 1 has nan"),
        ("offset", [0.0, np.inf], "(?i)row 1.*inf"),
        ("exposure", [1.0, 0.0], "exposure 'z' of row 1 is 0"),
        ("exposure", ["a", "b"], "must hold numbers"),
    ],
)
def test_a_number_that_cannot_have_the_role_is_refused_with_its_row(role, values, says):
    table = claims(40).select(["x", "claims"]).append_column("z", pa.array(values * 20))
    for function in (lk.compare, lk.seal):
        with pytest.raises(InvalidInput, match=says):
            function(table, "claims", **{role: "z"})


def test_a_seal_remembers_the_roles_and_every_score_on_it_uses_them(tmp_path):
    table = claims().select(["x", "years", "times", "claims"])
    given = {"weight": "times", "exposure": "years"}
    sealed = lk.seal(table, "claims", name="toy", folder=tmp_path, **given)
    again = lk.open_seal(tmp_path / "toy.seal")
    assert again.manifest.roles == given
    train = dataset(sealed).table
    options = {"models": ["glm-poisson"], "folds": 3, "repeats": 1}
    one, other = lk.compare(sealed, **options), lk.compare(train, "claims", **options, **given)
    assert one["glm-poisson"].value == pytest.approx(other["glm-poisson"].value, rel=1e-12)
    unweighted = lk.compare(train.drop_columns(["times"]), "claims", **options, exposure="years")
    assert one["glm-poisson"].value != pytest.approx(unweighted["glm-poisson"].value, rel=1e-6)
    assert one["glm-poisson"].estimator.fit(train.select(["x"]), train["claims"])
    with pytest.raises(InvalidInput, match="seals the weight 'times', and 'x' was given"):
        lk.compare(sealed, weight="x")


@pytest.fixture
def sealed_claims(tmp_path):
    """The seal, its training rows, and its sealed rows with the target."""
    table = claims().select(["x", "years", "times", "claims"])
    held = np.arange(240) % 4 == 0
    sealed = lk.seal(
        table,
        "claims",
        test=np.flatnonzero(held),
        kind="count",
        weight="times",
        exposure="years",
        budget=9,
        name="toy",
        folder=tmp_path,
    )
    return sealed, table.filter(pa.array(~held)), table.filter(pa.array(held))


def by_hand(train, test):
    """The mean loss of a Poisson fit and of the rate of the training rows; weights count."""
    x, years, times, y = (train[name].to_numpy() for name in ("x", "years", "times", "claims"))
    again = np.repeat(np.arange(len(y)), times)
    beta = newton_poisson(x[again], y[again], years[again])
    rate = y[again].sum() / years[again].sum()
    alpha = likeliest_alpha(y[again], rate * years[again])
    x, years, times, y = (test[name].to_numpy() for name in ("x", "years", "times", "claims"))
    at = rate * years
    constant = poisson(at) if alpha <= 0 else nbinom(1 / alpha, 1 / (1 + alpha * at))
    laws = (poisson(years * np.exp(beta[0] + beta[1] * x)), constant)
    return [-np.average(law.logpmf(y), weights=times) for law in laws]


def test_a_final_score_weighs_rows_and_its_baseline_follows_exposures(sealed_claims):
    sealed, train, test = sealed_claims
    model = Prepared(lk.GLM("poisson", l2=0.0), scale=False)
    found = sealed.final(model)
    value, constant = by_hand(train, test)
    assert found.value == pytest.approx(value, rel=1e-6)
    assert found.estimate.baseline == pytest.approx(constant, rel=1e-6)
    assert found.n_rows == np.count_nonzero(test["times"].to_numpy())
    both = pa.concat_tables([train, test])
    given = {"kind": "count", "weight": "times", "exposure": "years"}
    rows = dataset(both, "claims", **given).with_task()
    n_train, n = np.count_nonzero(train["times"].to_numpy()), rows.table.num_rows
    loop = Loop(rows, Folds(n_rows=n))
    fold = Fold(np.arange(n_train), np.arange(n_train, n))
    held = loop.outcome(loop.fit("glm", model, 0, fold)).held.score()
    assert -held.estimates["log-likelihood"].value == pytest.approx(found.value, rel=1e-9)
    assert -held.estimates["log-likelihood"].baseline == pytest.approx(found.estimate.baseline)
    for name, estimate in held.estimates.items():
        assert_allclose(found.measures[name], estimate, rtol=1e-6)


def test_integer_weights_of_sealed_rows_are_rows_so_many_times(sealed_claims, tmp_path):
    sealed, train, test = sealed_claims
    train, test = (
        part.take(np.repeat(np.arange(len(part)), part["times"].to_numpy())).drop_columns(["times"])
        for part in (train, test)
    )
    rows = np.arange(len(train), len(train) + len(test))
    options = {"test": rows, "kind": "count", "exposure": "years", "folder": tmp_path}
    repeated = lk.seal(pa.concat_tables([train, test]), "claims", name="again", **options)
    model = Prepared(lk.GLM("poisson", l2=0.0), scale=False)
    one, other = sealed.final(model), repeated.final(model, again="the rows, repeated")
    assert one.value == pytest.approx(other.value, rel=1e-6)
    assert one.estimate.baseline == pytest.approx(other.estimate.baseline, rel=1e-9)
    assert one.gain.value == pytest.approx(other.gain.value, rel=1e-5)


def test_a_name_a_study_and_an_estimator_are_scored_with_the_roles_of_the_seal(sealed_claims):
    sealed = sealed_claims[0]
    study = lk.tune(sealed, model="glm-poisson", trials=1)
    assert sealed.final(study).cv_estimate == pytest.approx(-study.best_score_)
    named = sealed.final("glm-poisson")
    bare = sealed.final(lk.GLM("poisson"))
    assert bare.model.feature_names_in_.tolist() == ["x"]
    assert named.value == pytest.approx(bare.value, rel=1e-2)
    for model in (KNeighborsRegressor(), Prepared(KNeighborsRegressor())):
        with pytest.raises(InvalidInput, match="KNeighborsRegressor does not accept"):
            sealed.final(model)


def test_predictions_of_rows_with_roles_are_committed_before_their_labels(
    sealed_claims, monkeypatch
):
    """An evaluation that was interrupted is finished by another model's: from the ledger alone."""
    sealed, train, test = sealed_claims
    model = Prepared(lk.GLM("poisson", l2=0.0), scale=False)
    with monkeypatch.context() as patch:
        patch.setattr(evaluation, "_score", interrupted)
        with pytest.raises(KeyboardInterrupt):
            sealed.final(model)
    (commit,) = (entry for entry in sealed.ledger() if entry["event"] == "commit")
    again = scorer_from(commit["scorer"], SealFolder(sealed.path))
    assert (again.link, again.seal.manifest.roles) == ("log", sealed.manifest.roles)
    sealed.final("glm-negative-binomial")
    scores = [entry for entry in sealed.ledger() if entry["event"] == "score"]
    assert [entry["evaluation"] for entry in scores] == [1, 2]
    assert scores[0]["value"] == pytest.approx(by_hand(train, test)[0], rel=1e-6)
    assert scores[0]["baseline"] == pytest.approx(by_hand(train, test)[1], rel=1e-6)
    assert sealed.final(model).evaluation == 1


def interrupted(*arguments):
    raise KeyboardInterrupt


@pytest.mark.parametrize("judge", ["ladder", "thresholdout"])
def test_judges_take_exposures_and_no_weights(judge, tmp_path):
    table = claims().select(["x", "years", "times", "claims"])
    options = {"judge": judge, "kind": "count", "folder": tmp_path, "exposure": "years"}
    with pytest.raises(InvalidInput, match="which counts each sealed row once"):
        lk.seal(table, "claims", weight="times", **options)
    sealed = lk.seal(table.drop_columns(["times"]), "claims", **options)
    assert sealed.final("glm-poisson").value > 0


@pytest.mark.parametrize(("rows", "part"), [(slice(60), "sealed"), (slice(60, 240), "training")])
def test_a_part_in_which_no_row_counts_is_not_sealed(rows, part, tmp_path):
    times = np.ones(240)
    times[rows] = 0
    table = claims().select(["x", "claims"]).append_column("times", pa.array(times))
    with pytest.raises(InvalidInput, match=f"is 0 in all {part} rows"):
        lk.seal(table, "claims", test=np.arange(60), weight="times", folder=tmp_path)


def test_a_scorer_of_ones_own_sees_no_weights(sealed_claims):
    scorer = TaskScorer(Task("count", "claims"), LOSSES["mean-squared-error"])
    with pytest.raises(InvalidInput, match="has the weight 'times', and a scorer was given"):
        sealed_claims[0].final("glm-poisson", scorer=scorer)


def test_a_study_with_weights_that_the_seal_does_not_know_has_no_final_score(tmp_path):
    sealed = lk.seal(claims().select(["x", "times", "grade"]), "grade", folder=tmp_path)
    study = lk.tune(sealed, model="logistic", weight="times", trials=1)
    with pytest.raises(InvalidInput, match="has the weight 'times'"):
        sealed.final(study)


def test_rows_of_weight_0_are_absent():
    table = claims().select(["x", "times", "grade"])
    labels = np.where(table["times"].to_numpy() == 0, "never", table["grade"].to_numpy())
    table = table.drop_columns(["grade"]).append_column("grade", pa.array(labels.tolist()))
    present = table.filter(pa.array(table["times"].to_numpy() > 0))
    rows = dataset(table, "grade", weight="times", kind="classes").with_task()
    assert rows.table.num_rows == present.num_rows
    assert rows.n_without_target == 0


def test_a_study_with_weights_goes_on_only_with_the_same(tmp_path):
    table = claims().select(["x", "times", "years", "grade"])
    words = {"trials": 2, "study": tmp_path / "study"}
    first = lk.tune(table, "grade", "logistic", weight="times", nested=2, **words)
    assert np.isfinite(first.nested_score_)
    assert "times" not in first.refit().feature_names_in_
    with pytest.raises(InvalidInput, match=r"has (data|roles) = "):
        lk.tune(table, "grade", "logistic", weight="years", nested=2, **words)


def test_a_score_has_the_baseline_of_its_own_link_in_train_tune_and_compare():
    """A linear model adds offsets to the mean, a Poisson one multiplies the mean by their exp."""
    table = claims().select(["x", "log_years", "claims"])
    given = {"kind": "count", "offset": "log_years"}
    rows = dataset(table, "claims", **given).with_task()
    found = lk.compare(table, "claims", ["linear", "glm-poisson"], repeats=1, **given)
    for name, link in [("linear", "identity"), ("glm-poisson", "log")]:
        held = cross_validate(found[name].estimator, Loop(rows, rows.folds(5, seed=0))).held
        known = held.score().main.baseline
        study = lk.tune(table, "claims", name, trials=1, space={"l2": [0.0]}, repeats=1, **given)
        assert study.baseline == known == found[name].main.baseline
        assert found[name].facts()["baseline_link"] == link
        assert found[name].facts()["baseline"] == known
    assert found["glm-poisson"].main.baseline == found.baseline.value
    assert found["linear"].main.baseline < found.baseline.value - 0.01
    said = " ".join(str(found).split())
    assert "depend on log_years, through the link of each model" in said
    assert "(log link: glm-poisson, constant)" in said
    assert "(identity link: linear)" in said
    one_link = lk.compare(table, "claims", "glm-poisson", repeats=1, **given)
    assert "through the link" not in str(one_link)


def test_classes_with_an_exposure_have_a_constant():
    table = claims().select(["x", "years", "grade"])
    found = lk.compare(table, "grade", ["logistic"], folds=3, repeats=1, exposure="years")
    assert not found.baseline.problem


def test_weights_in_units_other_than_rows_are_said_once_where_rows_are_scored(tmp_path):
    """The interval shrinks by √2 where the weights are doubled, so their total is said."""
    table = claims().drop_columns(["times", "claims"])
    weight = np.random.default_rng(1).uniform(0.5, 1.5, table.num_rows)
    weight[0] = 0.0
    total = (weight := weight / weight[1:].mean())[1:].sum()
    said = f"Weights count rows: the total weight is {2 * total:g} for 239 rows"
    lengths, asked = [], {"target": "grade", "weight": "w"}
    for scale in (1, 2):
        rows = table.append_column("w", pa.array(scale * weight))
        model = {"logistic": lk.LogisticRegression(l2=0.0)}
        found = lk.compare(rows, models=model, folds=3, repeats=1, **asked)
        tuned = lk.tune(rows, model="logistic", trials=2, folds=3, **asked)
        curve = lk.learning_curve(rows, model="logistic", values=[1.0], folds=3, **asked)
        sealed = lk.seal(rows, name=f"s{scale}", folder=tmp_path, **asked)
        for each in (found, tuned, curve, "\n".join(sealed.notes)):
            text = " ".join(str(each).split())
            assert text.count(said) == (scale == 2)
            assert ("Divide the weights by their mean" in text) == (scale == 2)
        low, high = found["logistic"].main[1:3]
        lengths.append(high - low)
    assert_allclose(lengths[0] / lengths[1], np.sqrt(2), rtol=0.01)
