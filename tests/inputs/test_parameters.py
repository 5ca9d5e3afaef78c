"""Parameters that an estimator does not have: said with their names in ``likely``."""

import inspect
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone

import likely as lk
from likely.cli.main import run
from likely.errors import InvalidInput, UnknownParameter
from likely.inputs.estimators import Estimator
from likely.inputs.parameters import PEERS, peer_of
from likely.names import check_part

PAGES = Path(__file__).parents[2] / "docs" / "models"
ESTIMATORS = {
    name: value
    for name in lk.__all__
    if inspect.isclass(value := getattr(lk, name)) and issubclass(value, BaseEstimator)
}
TAUGHT = ESTIMATORS | {"Smooth": lk.Smooth}
every_estimator = pytest.mark.parametrize("name", sorted(ESTIMATORS))
PAGE_OF = {
    "LinearRegression": "linear",
    "LogisticRegression": "logistic",
    "SoftmaxRegression": "softmax",
    "GLM": "glm",
    "OrdinalRegression": "ordinal",
    "PenaltyPath": "penalty-path",
    "NaiveBayes": "naive-bayes",
    "DiscriminantAnalysis": "discriminant",
    "GaussianMixture": "mixture",
    "HiddenMarkovModel": "hidden-markov",
    "NeuralNetworkClassifier": "neural-networks",
    "Discretizer": "discretizer",
    "PlattScaling": "calibration",
}


def parameters(estimator):
    return list(inspect.signature(estimator).parameters)


@every_estimator
def test_every_estimator_has_the_root_that_teaches(name):
    assert issubclass(ESTIMATORS[name], Estimator)


@pytest.mark.parametrize("name", sorted(TAUGHT))
def test_every_translation_names_a_parameter_that_exists_and_translates_none_that_does(name):
    estimator = TAUGHT[name]
    for theirs, peer in PEERS.get(name, {}).items():
        assert theirs not in parameters(estimator), f"{theirs} is a parameter of {name} itself"
        if peer.ours.startswith("fit."):
            assert peer.ours[4:] in inspect.signature(estimator.fit).parameters, theirs
        elif peer.ours:
            assert peer.ours in parameters(estimator), (theirs, peer.ours)
        assert peer.ours.removeprefix("fit.") in peer.text


def test_translations_are_of_estimators():
    assert set(PEERS) <= set(TAUGHT)


@pytest.mark.parametrize(
    ("estimator", "given", "said"),
    [
        (lk.LogisticRegression, {"C": 0.1}, "scikit-learn's C is l2 = 1/C."),
        (lk.GLM, {"family": 0}, "family=sm.families.Poisson() is GLM('poisson')"),
        (lk.LinearRegression, {"alpha": 1.0}, "alpha of Ridge is l2"),
        (lk.LogisticRegression, {"class_weight": "balanced"}, "sample_weight of fit"),
        (lk.NaiveBayes, {"var_smoothing": 1e-9}, "variance_floor is a minimum"),
        (lk.NaiveBayes, {"priors": None}, "priors is prior"),
        (lk.GaussianMixture, {"covariance_type": "diag"}, "covariance_type is covariance"),
        (lk.GaussianMixture, {"reg_covar": 0.0}, "regularisation"),
        (lk.NeuralNetworkClassifier, {"hidden_layer_sizes": (5,)}, "hidden_layer_sizes is hidden"),
        (lk.NeuralNetworkRegressor, {"learning_rate_init": 0.1}, "is learning_rate."),
        (lk.SoftmaxRegression, {"n_jobs": -1}, "n_jobs is executor"),
        (lk.HiddenMarkovModel, {"verbose": True}, "nothing is printed during a fit"),
        (lk.AdditiveModel, {"family": "poisson"}, "family=poisson() is response='poisson'"),
        (lk.AdditiveClassifier, {"lam": 0.6}, "found by REML, so there is no lam"),
    ],
)
def test_a_parameter_of_another_library_is_answered_with_ours(estimator, given, said):
    with pytest.raises(UnknownParameter, match=re.escape(said)) as caught:
        estimator(**given)
    assert isinstance(caught.value, TypeError)
    assert isinstance(caught.value, ValueError)
    with pytest.raises(ValueError, match=re.escape(said)):
        estimator().set_params(**given)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"bs": "cr"}, 'there is no bs: "cc" is Smooth(cyclic=24)'),
        ({"by": "g"}, "a curve for each level of g is interactions=[('x', 'g')]"),
        ({"n_splines": 12}, "n_splines is k"),
        ({"cycle": 24}, "its parameters are k, cyclic. Did you mean 'cyclic'?"),
    ],
)
def test_an_argument_of_smooths_elsewhere_is_answered_with_ours(given, said):
    with pytest.raises(UnknownParameter, match=re.escape(said)):
        lk.Smooth(**given)


def test_a_smooth_shows_its_two_arguments_and_counts_them():
    assert list(inspect.signature(lk.Smooth).parameters) == ["k", "cyclic"]
    with pytest.raises(TypeError, match=r"Smooth\.__init__\(\) takes from 1 to 3 positional"):
        lk.Smooth(20, 24, 3)
    smooth = pickle.loads(pickle.dumps(lk.Smooth(12, cyclic=7)))
    assert (smooth, smooth.k, smooth.cyclic) == (lk.Smooth(12, 7), 12, 7)


@every_estimator
def test_a_misspelt_parameter_has_a_suggestion_and_the_list(name):
    first = parameters(ESTIMATORS[name])[0]
    wrong = f"{first}_"
    message = f"{name} has no parameter '{wrong}'; its parameters are .*Did you mean '{first}'"
    with pytest.raises(TypeError, match=message):
        ESTIMATORS[name](**{wrong: None})


def test_a_name_for_all_is_not_given_where_its_target_is_missing():
    assert peer_of("Discretizer", "n_jobs", parameters(lk.Discretizer)) is None
    with pytest.raises(UnknownParameter, match="Did you mean 'n_bins'"):
        lk.Discretizer(n_jobs=2)


def test_parts_inside_are_taught_too():
    path = lk.PenaltyPath(lk.LogisticRegression())
    with pytest.raises(ValueError, match="LogisticRegression has no parameter 'C'"):
        path.set_params(model__C=1.0)
    with pytest.raises(ValueError, match="PenaltyPath has no parameter 'modl__l2'"):
        path.set_params(modl__l2=1.0)
    assert path.set_params(model__l2=3.0).model.l2 == 3.0


@every_estimator
def test_signatures_copies_and_parameters_are_those_of_the_constructor(name):
    estimator = ESTIMATORS[name]
    own = [each for each in inspect.signature(estimator.__init__).parameters if each != "self"]
    assert parameters(estimator) == own
    needed = [p for p in inspect.signature(estimator).parameters.values() if p.default is p.empty]
    made = estimator(*(lk.LogisticRegression() for _ in needed))
    assert sorted(made.get_params(deep=False)) == sorted(own)
    assert type(clone(made)) is type(pickle.loads(pickle.dumps(made))) is estimator


def test_a_class_of_a_user_may_take_any_argument():
    class Own(lk.LogisticRegression):
        def __init__(self, **settings):
            super().__init__(**settings)

    assert Own(l2=2.0).l2 == 2.0
    with pytest.raises(TypeError, match="C"):
        Own(C=1.0)

    class Plain(Estimator):
        pass

    with pytest.raises(TypeError, match="Plain has no parameter 'a'"):
        Plain(a=1)


def test_the_command_line_and_a_space_say_it_too(tmp_path, capsys):
    file = tmp_path / "t.csv"
    rng = np.random.default_rng(0)
    file.write_text("a,y\n" + "".join(f"{rng.normal():.3f},{'ab'[k % 2]}\n" for k in range(30)))
    arguments = ["train", str(file), "logistic", "--target", "y", "--set", "C=1"]
    assert run(arguments) == 1
    said = " ".join(capsys.readouterr().err.split())
    assert "logistic has no setting 'C': scikit-learn's C is l2 = 1/C." in said
    with pytest.raises(InvalidInput, match="LogisticRegression has no setting 'C': scikit-learn"):
        lk.tune(str(file), "y", "logistic", space={"C": [1.0, 2.0]})
    with pytest.raises(InvalidInput, match=r"There is no setting 'lnk'.*Did you mean 'link'"):
        lk.tune(str(file), "y", "logistic", space={"lnk": [1.0, 2.0]})


def test_values_of_other_libraries_are_answered_with_ours():
    X = np.eye(4)
    y = [0, 1, 0, 1]
    with pytest.raises(InvalidInput, match=r"no activation 'logistic'.*Did you mean 'sigmoid'"):
        lk.NeuralNetworkClassifier(activation="logistic").fit(X, y)
    with pytest.raises(InvalidInput, match=r"no solver 'svd'.*Did you mean 'minimum-norm'"):
        lk.LinearRegression(solver="svd").fit(X, y)
    with pytest.raises(InvalidInput, match=r"response is data of shape=\(4,\).*fit\(X, y\)"):
        lk.GLM(np.array(y)).fit(X, y)

    class NegativeBinomial:
        """As statsmodels has it."""

    with pytest.raises(InvalidInput, match=r"a NegativeBinomial; .*mean 'negative-binomial'"):
        lk.GLM(NegativeBinomial()).fit(X, y)
    with pytest.raises(InvalidInput, match=r"Use one of mean\.$"):
        check_part("part", 3, str, ["mean"])


def test_a_misspelt_public_name_has_a_suggestion():
    with pytest.raises(AttributeError, match="Did you mean 'LogisticRegression'"):
        _ = lk.LogisticRegresion
    with pytest.raises(AttributeError, match=r"no attribute 'qqqq'$"):
        _ = lk.qqqq
    assert not hasattr(lk, "_LogisticRegression")


def table_rows(page):
    """The left and right cells of the tables of translations of a page."""
    text = (PAGES / f"{page}.rst").read_text(encoding="utf-8")
    found = []
    for table in re.finditer(r"^(=+) +=+\n.*\n=+ +=+\n((?:.*\n)+?)=+ +=+$", text, re.M):
        if "scikit-learn" not in text[max(0, table.start() - 120) : table.end(1) + 120]:
            continue
        width = len(table[1])
        for line in table[2].splitlines():
            left, right = line[:width].strip(), line[width:].strip()
            if left:
                found.append((left, right))
            else:
                found[-1] = (found[-1][0], f"{found[-1][1]} {right}")
    return found


@pytest.mark.parametrize("name", sorted(PAGE_OF))
def test_the_page_of_a_model_and_the_messages_agree(name):
    """Each parameter that a page translates is translated by the message, to the same name."""
    known, checked = parameters(ESTIMATORS[name]), 0
    for left, right in table_rows(PAGE_OF[name]):
        theirs = set(re.findall(r"(?:``|\(|, )([A-Za-z]\w*)(?==|``|,)", left))
        for each in theirs & set(PEERS[name]) - set(known):
            peer = PEERS[name][each]
            words = re.findall(r"\w+", f"{peer.ours.removeprefix('fit.')} {peer.text}")
            fitted = inspect.signature(ESTIMATORS[name].fit).parameters
            ours = {word for word in words if word in known or word in fitted}
            assert not peer.ours or any(word in right for word in ours), (left, right, peer)
            checked += 1
        for each in re.findall(r"``(\w+)(?:=[^`]*)?``", left):
            if each.endswith("_") or each in known or (each[0].isupper() and each != "C"):
                continue
            if hasattr(ESTIMATORS[name], each) or each == "transform":
                continue  # a method
            assert peer_of(name, each, known), f"{each} of {PAGE_OF[name]}.rst has no message"
    assert checked, "the page translates no parameter"
