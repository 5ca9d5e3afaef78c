"""Whether what ``fit`` learned can have been learned: finite, in range, in order, of equal lengths.

    coefficients, weights, centres      finite, and small enough to be squared
    temperatures, widths, scales        above 0
    thresholds, edges, levels           in order
    probabilities                       sum to 1
    selections of columns, epochs       within the columns and epochs that there are

Parts are checked in ``part_values``, parameters of distributions by their constructors.  A
checksum is no signature: anybody can compute it, so that it shows nothing about who wrote the
numbers of a file.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from likely._typing import Array
from likely.distributions.full_gaussian import FullFamily
from likely.storage.learned_networks import LARGEST_THRESHOLD, check_network
from likely.storage.learned_words import check_bag_of_words, check_text_classifier
from likely.storage.values import same_count, unlike

LARGEST = 1e150  # beyond, squares overflow
SMALLEST_SPREAD, LARGEST_SPREAD = 1e-300, 1e300  # of distributions: the squares of such columns
LONGEST_MONOMIAL = 1000  # factors
NEAR_1 = 1e-6  # by how much probabilities may miss a sum of 1
FINITE = (
    *("coef_", "intercept_", "coefs_", "intercepts_", "parameters_", "a_", "b_", "penalties_"),
    *("response_centre_", "response_scale_", "temperature_", "class_count_", "centres_", "width_"),
    *("length_rate_", "ratios_", "other_temperature_", "lowest_density_"),
    *("mean_length_", "empty_score_"),
)
POSITIVE = ("temperature_", "other_temperature_", "mean_length_", "response_scale_", "width_")
NOT_NEGATIVE = (
    "class_count_",
    "length_rate_",
    "dispersion_",
    "ml_dispersion_",
    "n_rows_",
    "penalties_",
)


def check_values(model: Any, learned: dict[str, Any]) -> None:
    """Refuse attributes of a model whose values no fit gives."""
    if "architecture_" in learned:
        check_network(learned)
    for attribute in learned:
        rows = _arrays(learned[attribute])
        if attribute in FINITE:
            refuse(attribute, rows, lambda x: np.abs(x) <= LARGEST, "finite, at most 1e150")
        if attribute in POSITIVE:
            refuse(attribute, rows, lambda x: x > 1 / LARGEST, "above 0")
        if attribute in NOT_NEGATIVE:
            refuse(attribute, rows, lambda x: ~(x < 0), "0 or more")
    if (name := type(model).__name__) in CHECKS:
        CHECKS[name](learned)
    if name == "BagOfWords":
        check_bag_of_words(model, learned)
    if name == "DiscriminantAnalysis":
        _check_covariances(model.covariance, learned)
    if name == "BasisFunctions" and model.basis == "spline":
        fewest = min((len(each) for each in learned["centres_"]), default=2)
        same_count("The fewest knots", min(fewest, 2), 2)
        steps = [np.diff(each) for each in learned["centres_"]]
        refuse("The distances of knots", steps, lambda x: x >= SMALLEST_SPREAD, "at least 1e-300")


def increasing(what: str, values: Any, *, strictly: bool = False) -> Array:
    """The values as a row of numbers, once they are in order."""
    row = np.asarray(values)
    if row.ndim != 1 or row.dtype.kind not in "iuf":
        raise unlike(what, "a row of numbers")
    steps = np.diff(row.astype(float))
    if np.isnan(row).any() or not (steps > 0 if strictly else steps >= 0).all():
        raise unlike(what, "in increasing order")
    return row


def probabilities(what: str, log_values: Any) -> None:
    """Refuse logs of probabilities, along the last axis, that do not sum to 1."""
    total = np.exp(np.asarray(log_values, dtype=float)).sum(axis=-1)
    if not (np.abs(total - 1) <= NEAR_1).all():
        raise unlike(what, "logs of probabilities that sum to 1")


def _arrays(value: Any) -> list[Array]:
    values = value if isinstance(value, list) else [value]
    return [row for row in map(np.asarray, values) if row.dtype.kind in "biuf"]


def refuse(what: str, rows: list[Array], good: Callable[[Array], Any], expected: str) -> None:
    for row in rows:
        wide = row.astype(np.float64) if row.dtype.kind == "f" else row  # float32 ends at 1e38
        if not np.all(good(wide)):
            raise unlike(what, expected)


def _check_discretizer(learned: dict[str, Any]) -> None:
    n = learned["n_features_in_"]
    for edges in learned["edges_"]:
        increasing("edges_", edges)
    same_count("edges_", len(learned["edges_"]), n)
    bins = [len(edges) + 1 for edges in learned["edges_"]]
    same_count("n_bins_", learned["n_bins_"].tolist(), bins)
    for end in ("data_min_", "data_max_"):
        if end in learned:
            same_count(end, np.shape(learned[end]), (n,))


def _check_powers(learned: dict[str, Any]) -> None:
    powers = learned["powers_"]
    same_count("powers_", powers.shape[1:], (learned["n_features_in_"],))
    signed = powers.dtype.kind == "i"  # as NumPy counts repeats
    if not signed or (powers.size and (powers.min() < 0 or powers.max() > LONGEST_MONOMIAL)):
        raise unlike("powers_", f"whole numbers from 0 to {LONGEST_MONOMIAL}")


def _check_basis(learned: dict[str, Any]) -> None:
    """Points of all columns and a width, or centres and a width for each column."""
    centres, width, n = learned["centres_"], learned["width_"], learned["n_features_in_"]
    if isinstance(centres, list):
        same_count("centres_", len(centres), n)
        same_count("width_", len(width) if isinstance(width, list) else 0, n)
        _refuse_other_numbers("width_", width)
        for each in centres:
            same_count("centres_", increasing("centres_", each, strictly=True).size > 0, True)
    else:
        same_count("A centre", centres.shape[1:], (n,))
        same_count("width_", np.shape(width), ())


def _refuse_other_numbers(what: str, values: Any) -> None:
    if not all(isinstance(each, int | float | np.number) for each in values):
        raise unlike(what, "numbers")


def _check_isotonic(learned: dict[str, Any]) -> None:
    _check_around(learned)
    curves = (learned["thresholds_"], learned["levels_"])
    n_classes = len(learned["classes_"])
    expected = 1 if n_classes == 2 else n_classes
    same_count("The curves", [len(each) for each in curves], [expected, expected])
    for thresholds, levels in zip(*curves, strict=True):
        same_count("A curve", increasing("thresholds_", thresholds).size, np.size(levels))
        row = increasing("levels_", levels)
        if not row.size or row[0] < 0 or row[-1] > 1 or not np.isfinite(thresholds).all():
            raise unlike("levels_", "probabilities")


def _check_around(learned: dict[str, Any]) -> None:
    """The classes are those of the model that is calibrated."""
    inner = vars(learned["estimator_"]).get("classes_")
    same_count("classes_", len(learned["classes_"]), -1 if inner is None else len(inner))


def _check_platt(learned: dict[str, Any]) -> None:
    _check_around(learned)
    n_classes = len(learned["classes_"])
    shape = (1 if n_classes == 2 else n_classes,)
    same_count("a_", learned["a_"].shape, shape)
    same_count("b_", learned["b_"].shape, shape)


def _check_frank_hall(learned: dict[str, Any]) -> None:
    same_count("estimators_", len(learned["estimators_"]), len(learned["classes_"]) - 1)
    for each in learned["estimators_"]:
        same_count("The classes of an estimator", len(vars(each).get("classes_", ())), 2)


def _check_ordinal(learned: dict[str, Any]) -> None:
    """P(y > c) = g(η + b_c) falls with c, and so do the thresholds."""
    increasing("−thresholds_", -learned["thresholds_"])
    good = np.abs(learned["thresholds_"]) <= LARGEST_THRESHOLD
    refuse("thresholds_", [np.asarray(good)], lambda x: x, "at most 1e15 in size")


def _check_ratios(learned: dict[str, Any]) -> None:
    same_count("ratios_", np.shape(learned["ratios_"]), (learned["n_features_in_"],))


def _check_logistic(learned: dict[str, Any]) -> None:
    same_count("coef_", learned["coef_"].shape[:-1], (1,))
    same_count("classes_", len(learned["classes_"]), 2)


def _check_softmax(learned: dict[str, Any]) -> None:
    """A predictor for each class; two classes have one."""
    n_classes = len(learned["classes_"])
    same_count("coef_", len(learned["coef_"]), 1 if n_classes == 2 else n_classes)


def _check_max_entropy(learned: dict[str, Any]) -> None:
    """The classes are those of the softmax regression inside, if there is one."""
    inner = learned["softmax_"]
    if inner is not None:
        same_count("classes_", len(learned["classes_"]), len(vars(inner).get("classes_", ())))


def _check_path(learned: dict[str, Any]) -> None:
    n = len(learned["penalties_"])
    each = ("coefs_", "intercepts_", "n_nonzero_", "deviance_", "mean_deviance_", "standard_error_")
    for name in each:
        if learned.get(name) is not None:
            same_count(name, np.shape(learned[name])[:1], (n,))
    for name in ("index_", "best_index_"):
        if not 0 <= learned.get(name, 0) < n:
            raise unlike(name, f"from 0 to {n - 1}")


def _check_prepared(learned: dict[str, Any]) -> None:
    """A step for each column; a sparse table, and a pipeline, have no preparation."""
    preparation = learned.get("preparation_")
    if preparation is not None:
        same_count("The steps", len(preparation.steps), learned["n_features_in_"])


def _check_covariances(kind: str, learned: dict[str, Any]) -> None:
    """One covariance matrix if it is tied, one for each class if it is full; else variances."""
    n_matrices = {"tied": 1, "full": len(learned["classes_"])}.get(kind)
    full = isinstance(learned["family_"], FullFamily)
    same_count("The matrices of the covariance", full, n_matrices is not None)
    if full and n_matrices is not None:
        matrices = learned["components_"].distribution.covariance
        same_count("The covariances", np.shape(matrices)[:1], (n_matrices,))


def _check_outlier_share(learned: dict[str, Any]) -> None:
    """A share of outliers for each class, where the evidence was calibrated."""
    share = learned["outlier_share_"]
    if share is not None:
        same_count("outlier_share_", np.shape(share), (len(learned["classes_"]),))
        refuse("outlier_share_", [share], lambda x: (x >= 0) & (x < 1), "from 0 to 1")


def _check_naive_bayes(learned: dict[str, Any]) -> None:
    _check_outlier_share(learned)
    if (score := learned["empty_score_"]) is not None:
        same_count("empty_score_", np.shape(score), (len(learned["classes_"]),))


def _check_network_classifier(learned: dict[str, Any]) -> None:
    probabilities("class_log_prior_", learned["class_log_prior_"])
    _check_outlier_share(learned)


CHECKS: dict[str, Callable[[dict[str, Any]], None]] = {
    "BasisFunctions": _check_basis,
    "BayesianNetworkClassifier": _check_network_classifier,
    "DiscriminantAnalysis": _check_outlier_share,
    "Discretizer": _check_discretizer,
    "FrankHall": _check_frank_hall,
    "IsotonicScaling": _check_isotonic,
    "LogCountRatios": _check_ratios,
    "LogisticRegression": _check_logistic,
    "MaxEntropy": _check_max_entropy,
    "NaiveBayes": _check_naive_bayes,
    "OrdinalRegression": _check_ordinal,
    "PenaltyPath": _check_path,
    "PlattScaling": _check_platt,
    "PolynomialFeatures": _check_powers,
    "Prepared": _check_prepared,
    "SoftmaxRegression": _check_softmax,
    "TemperatureScaling": _check_around,
    "TextClassifier": check_text_classifier,
}
