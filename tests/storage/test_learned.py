"""A law: whatever settings change in what a fit learns, the file of the model can be loaded.

Classes declare the kinds of their learned attributes; a kind that is too narrow refuses a file that
likely has just written.
"""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import likely
from likely import likelihoods, links
from likely.errors import InvalidFile
from likely.storage.model_file import load, save
from likely.storage.registry import declared_by
from tests.estimators import public_estimators
from tests.laws.test_persistence import answers, assert_same
from tests.storage.test_checks import forged, setting

N = 48
draw = np.random.default_rng(5)
CODES = np.arange(N) % 3
X = np.column_stack(
    [draw.normal(size=N) + CODES, draw.poisson(1.0 + CODES), (draw.random(N) < 0.5) * 1.0]
)
MIXED = pd.DataFrame({"a": X[:, 0], "c": np.array(["u", "v", "w"])[(CODES + 1) % 3]})
TARGETS = {
    "two": CODES % 2,
    "two texts": np.array(["no", "yes"])[CODES % 2],
    "two Booleans": CODES % 2 == 1,
    "three": CODES,
    "three texts": np.array(["a", "b", "c"])[CODES],
    "counts": X[:, 1],
    "rates": X[:, 1] + 0.5,
    "numbers": X[:, 0] + draw.normal(size=N),
    "two numbers": draw.normal(size=(N, 2)),
}
SMALL = {"max_epochs": 3, "tol": None, "random_state": 0, "hidden": (2,)}


def network(kind=likely.NeuralNetworkClassifier, **settings):
    return kind(**{**SMALL, **settings})


def regressor(**settings):
    return network(likely.NeuralNetworkRegressor, **settings)


def of_classes():
    """Classifiers with the settings that change what they learn."""
    yield likely.NaiveBayes(calibrate="temperature")
    yield likely.NaiveBayes(smoothing="auto", discretize="entropy")
    yield likely.NaiveBayes(prior="uniform", variance_floor=0.1)
    yield from (
        likely.DiscriminantAnalysis(covariance, shrinkage=shrinkage)
        for covariance in ("tied", "full", "diagonal")
        for shrinkage in (0.1, "auto")
        if (covariance, shrinkage) != ("diagonal", "auto")
    )
    yield from (likely.SoftmaxRegression(standard_errors=kind) for kind in ("model", None))
    yield likely.SoftmaxRegression(l1=1.0, reference=None)
    yield likely.SoftmaxRegression(l2="auto")
    yield likely.AdditiveClassifier()
    yield likely.AdditiveClassifier("ordinal", interactions=[("x0", "x1")])
    yield likely.SoftmaxRegression(fit_intercept=False)
    yield likely.MaxEntropy()
    yield likely.MaxEntropy(l1=1.0, standard_errors=None)
    yield from (likely.OrdinalRegression(link) for link in ("logit", "probit", "cloglog"))
    yield likely.OrdinalRegression(l1=0.5, standard_errors=None)
    yield likely.FrankHall(likely.NaiveBayes())
    for scaling in (likely.PlattScaling, likely.IsotonicScaling, likely.TemperatureScaling):
        yield scaling(likely.NaiveBayes("gaussian"), cv=2)
    yield likely.PenaltyPath(likely.SoftmaxRegression(), n_penalties=3, cv=2)
    yield likely.Prepared(likely.NaiveBayes())
    yield likely.Prepared(network())
    for structure in ("naive-bayes", "tan", "hill-climbing"):
        yield likely.BayesianNetworkClassifier(structure=structure)
    yield from (network(response=each) for each in ("ordinal", "categorical"))
    yield network(response="square-error-softmax")
    yield network(n_networks=2)
    yield network(solver="lbfgs", hidden=())
    yield network(validation=0.25, early_stopping=True, end_game="loss")
    yield network(solver="sgd", class_weight="balanced", dropout=0.2, dtype="float64")


def of_two_classes():
    yield from (likely.LogisticRegression(link) for link in links.LINKS if _of_unit(link))
    yield likely.LogisticRegression(firth=True, l2=0.0)
    yield likely.LogisticRegression(l1=2.0)
    yield likely.LogisticRegression(fit_intercept=False, standard_errors=None)
    yield likely.LogisticRegression(standard_errors="HC1")
    yield network(response="square-error-sigmoid")
    yield network(response="bernoulli", link="probit")


def _of_unit(link):
    return isinstance(links.LINKS[link], links.UnitLink)


def of_numbers():
    """Regressors, each with a target that it takes."""
    yield from ((likely.LinearRegression(standard_errors=k), "numbers") for k in (None, "HC3"))
    yield likely.LinearRegression(l1=1.0), "numbers"
    yield likely.LinearRegression(l2=1.0, fit_intercept=False), "numbers"
    yield likely.LinearRegression(solver="minimum-norm"), "numbers"
    yield likely.LinearRegression(), "two numbers"
    yield likely.AdditiveModel(interactions=[("x0", "x1")]), "numbers"
    yield likely.AdditiveModel("negative-binomial"), "counts"
    for response, target in (
        ("gaussian", "numbers"),
        ("poisson", "counts"),
        ("gamma", "rates"),
        ("inverse-gaussian", "rates"),
        ("bernoulli", "two"),
        ("negative-binomial", "counts"),
        (likelihoods.NegativeBinomial("estimate"), "counts"),
        ("tweedie", "counts"),
    ):
        yield likely.GLM(response, link=None if response == "bernoulli" else "log"), target
        yield regressor(response=response), target
    yield likely.GLM("poisson", standard_errors="quasi"), "counts"
    yield likely.GLM("poisson", l1=0.5), "counts"
    yield regressor(), "two numbers"
    yield regressor(scale_response=False, solver="lbfgs"), "two numbers"
    yield regressor(n_networks=2), "numbers"
    yield regressor(n_networks=2), "two numbers"
    yield regressor(early_stopping=True, end_game="epochs"), "numbers"
    for along in ("l1", "l2"):
        yield likely.PenaltyPath(likely.LinearRegression(), along=along, n_penalties=3), "numbers"
    yield likely.Prepared(likely.GLM("poisson")), "counts"


def of_columns():
    """Models that are fitted without a target."""
    for covariance in ("full", "diagonal", "tied", "spherical"):
        yield likely.GaussianMixture(2, covariance=covariance, n_init=1, random_state=0)
        yield likely.HiddenMarkovModel(2, covariance=covariance, n_init=1, random_state=0)
    yield likely.GaussianMixture("auto", max_components=2, n_init=1, random_state=0)
    yield likely.MixtureModel(2, n_init=1, random_state=0)
    yield likely.MixtureModel(2, event="gaussian", n_init=1, random_state=0)
    yield from (likely.Discretizer(each) for each in ("quantile", "uniform"))
    yield likely.PolynomialFeatures(2)
    yield likely.PolynomialFeatures(3, interaction_only=True, include_bias=True)
    yield from (likely.BasisFunctions(each) for each in ("radial", "sigmoid", "spline"))


def cases():
    for target in TARGETS:
        if target.startswith(("two", "three")) and target != "two numbers":
            yield likely.NaiveBayes(), X, target
            yield likely.LogisticRegression() if "two" in target else network(), X, target
    for model in of_classes():
        yield model, X, "two"
        yield model, X, "three texts"
    for model in of_two_classes():
        yield model, X, "two texts"
    for model, target in of_numbers():
        yield model, X, target
    for model in of_columns():
        yield model, X, None
    for model in (likely.NaiveBayes(), likely.SoftmaxRegression(), likely.LogisticRegression()):
        yield model, MIXED, "two"
    yield likely.LogCountRatios(), np.abs(X), "two"
    yield likely.LogCountRatios(), np.abs(X), "three texts"
    yield likely.GLM("poisson"), MIXED, "counts"
    yield network(), MIXED, "three texts"


def named_cases():
    for number, (model, rows, target) in enumerate(cases()):
        yield pytest.param(model, rows, target, id=f"{type(model).__name__}-{number}-{target}")


def fitted(model, rows, target):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # tiny data, few epochs
        return model.fit(rows, None if target is None else TARGETS[target])


@pytest.mark.filterwarnings("ignore::likely.errors.OutsideFit")  # rows of another seed
@pytest.mark.parametrize(("model", "rows", "target"), list(named_cases()))
def test_a_model_of_these_settings_loads_and_answers_as_before(model, rows, target, tmp_path):
    model = fitted(clone(model), rows, target)
    save(model, tmp_path / "m.likely")
    loaded = load(tmp_path / "m.likely")
    assert_same(answers(loaded, rows), answers(model, rows))
    attributes = {name for name in vars(model) if name.endswith("_")}
    assert attributes <= set(vars(loaded))
    assert attributes <= {*declared_by(type(model)).kinds}


def test_every_public_estimator_is_among_them():
    assert {type(model) for model, _, _ in cases()} == set(public_estimators())


def test_a_path_that_chooses_no_penalty_is_kept(tmp_path):
    path = likely.PenaltyPath(likely.GLM("poisson"), n_penalties=3, cv=None)
    save(fitted(path, X, "counts"), tmp_path / "m.likely")
    loaded = load(tmp_path / "m.likely")
    assert_same([loaded.penalties_, loaded.coefs_], [path.penalties_, path.coefs_])


def shortened(name):
    return setting(name, lambda array: array[:-1])


@pytest.mark.parametrize(
    ("model", "target", "change", "message"),
    [
        (regressor(n_networks=2), "two numbers", shortened("average_.constant"), "The constant"),
        (network(n_networks=2), "three", shortened("average_.constant"), "The constant"),
        (
            regressor(n_networks=2),
            "two numbers",
            setting("average_.constant", lambda array: array + np.inf),
            "constant must be finite",
        ),
        (
            network(n_networks=2),
            "three",
            setting("average_.parameters", lambda array: array[:, 1:]),
            "A row of average_.parameters",
        ),
        (likely.SoftmaxRegression(), "three", shortened("classes_"), "coef_ has 3"),
    ],
)
def test_networks_and_predictors_answer_for_every_class(tmp_path, model, target, change, message):
    file = forged(tmp_path, fitted(model, X, target), tensors=change)
    with pytest.raises(InvalidFile, match=message):
        load(file)


def test_a_path_with_a_part_of_a_choice_is_refused(tmp_path):
    path = fitted(likely.PenaltyPath(likely.LinearRegression(), n_penalties=3), X, "numbers")
    file = forged(tmp_path, path, header=lambda head: head["fitted"].pop("index_"))
    with pytest.raises(InvalidFile, match="has index_"):
        load(file)


def test_responses_have_a_centre_each(tmp_path):
    model = fitted(regressor(), X, "two numbers")
    file = forged(tmp_path, model, tensors=setting("response_centre_", lambda x: x[:1]))
    with pytest.raises(InvalidFile, match="response_centre_ has"):
        load(file)
