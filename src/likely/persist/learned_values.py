"""Whether what ``fit`` learned can have been learned: finite, in range, in order, of equal lengths.

    coefficients, weights, centres      finite, and small enough to be squared
    temperatures, widths, scales        above 0
    thresholds, edges, levels           in order
    probabilities                       sum to 1
    selections of columns, epochs       within the columns and epochs that there are

Parameters of distributions are checked by their constructors.  A checksum is no signature: anybody
can compute it, so that it shows nothing about who wrote the numbers of a file.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from likely._typing import Array
from likely.distributions.base import Distribution
from likely.distributions.full_gaussian import FullFamily
from likely.distributions.product import Product, ProductFamily, Selection
from likely.errors import InvalidInput
from likely.generative.events import EventPlan
from likely.graphical.inference.chain import Chain
from likely.likelihoods.power_variance import PowerVarianceLog
from likely.likelihoods.tweedie import Tweedie
from likely.linear.inference import Inference
from likely.neural.average import NetworkAverage
from likely.neural.history import History
from likely.objectives.components import Components
from likely.persist.learned_words import check_bag_of_words, check_text_classifier
from likely.saved_values import same_count

LARGEST = 1e150  # beyond, squares overflow
LARGEST_WEIGHT = 1e9  # of a network in float32, whose layers multiply
LARGEST_THRESHOLD = 1e15  # on the scale of a probit or logit, where 40 is certainty
SMALLEST_SPREAD, LARGEST_SPREAD = 1e-300, 1e300  # of distributions: the squares of such columns
MOST_ESTIMATES = 2000  # whose covariance is factorised to see that it is one
LONGEST_MONOMIAL = 1000  # factors
NEAR_1 = 1e-6  # by how much probabilities may miss a sum of 1
FINITE = (
    *("coef_", "intercept_", "coefs_", "intercepts_", "parameters_", "a_", "b_", "penalties_"),
    *("response_centre_", "response_scale_", "temperature_", "class_count_", "centres_", "width_"),
    "length_rate_",
)
POSITIVE = ("temperature_", "response_scale_", "width_")
SPREADS = ("variance", "covariance", "scale")
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
        theta = [learned["parameters_"]]
        _refuse("parameters_", theta, lambda x: np.abs(x) <= LARGEST_WEIGHT, "at most 1e9")
    for attribute in learned:
        rows = _arrays(learned[attribute])
        if attribute in FINITE:
            _refuse(attribute, rows, lambda x: np.abs(x) <= LARGEST, "finite, at most 1e150")
        if attribute in POSITIVE:
            _refuse(attribute, rows, lambda x: x > 1 / LARGEST, "above 0")
        if attribute in NOT_NEGATIVE:
            _refuse(attribute, rows, lambda x: ~(x < 0), "0 or more")
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
        _refuse("The distances of knots", steps, lambda x: x >= SMALLEST_SPREAD, "at least 1e-300")


def check_part_values(part: Any) -> None:
    """Refuse a part whose values no fit gives."""
    for kind, check in PART_CHECKS.items():
        if isinstance(part, kind):
            check(part)


def increasing(what: str, values: Any, *, strictly: bool = False) -> Array:
    """The values as a row of numbers, once they are in order."""
    row = np.asarray(values)
    if row.ndim != 1 or row.dtype.kind not in "iuf":
        raise _unlike(what, "a row of numbers")
    steps = np.diff(row.astype(float))
    if np.isnan(row).any() or not (steps > 0 if strictly else steps >= 0).all():
        raise _unlike(what, "in increasing order")
    return row


def probabilities(what: str, log_values: Any) -> None:
    """Refuse logs of probabilities, along the last axis, that do not sum to 1."""
    total = np.exp(np.asarray(log_values, dtype=float)).sum(axis=-1)
    if not (np.abs(total - 1) <= NEAR_1).all():
        raise _unlike(what, "logs of probabilities that sum to 1")


def _arrays(value: Any) -> list[Array]:
    values = value if isinstance(value, list) else [value]
    return [row for row in map(np.asarray, values) if row.dtype.kind in "biuf"]


def _refuse(what: str, rows: list[Array], good: Callable[[Array], Any], expected: str) -> None:
    for row in rows:
        wide = row.astype(np.float64) if row.dtype.kind == "f" else row  # float32 ends at 1e38
        if not np.all(good(wide)):
            raise _unlike(what, expected)


def _unlike(what: str, expected: str) -> InvalidInput:
    return InvalidInput(
        f"{what} must be {expected}; the file has other numbers, which no fit gives. Save the "
        "model again."
    )


# --- of estimators ---------------------------------------------------------------------------


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
        raise _unlike("powers_", f"whole numbers from 0 to {LONGEST_MONOMIAL}")


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
        raise _unlike(what, "numbers")


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
            raise _unlike("levels_", "probabilities")


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
    _refuse("thresholds_", [np.asarray(good)], lambda x: x, "at most 1e15 in size")


def _check_logistic(learned: dict[str, Any]) -> None:
    same_count("coef_", learned["coef_"].shape[:-1], (1,))
    same_count("classes_", len(learned["classes_"]), 2)


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
            raise _unlike(name, f"from 0 to {n - 1}")


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
        _refuse("outlier_share_", [share], lambda x: (x >= 0) & (x < 1), "from 0 to 1")


def _check_network_classifier(learned: dict[str, Any]) -> None:
    probabilities("class_log_prior_", learned["class_log_prior_"])


CHECKS: dict[str, Callable[[dict[str, Any]], None]] = {
    "BasisFunctions": _check_basis,
    "BayesianNetworkClassifier": _check_network_classifier,
    "DiscriminantAnalysis": _check_outlier_share,
    "Discretizer": _check_discretizer,
    "FrankHall": _check_frank_hall,
    "IsotonicScaling": _check_isotonic,
    "LogisticRegression": _check_logistic,
    "MaxEntropy": _check_max_entropy,
    "NaiveBayes": _check_outlier_share,
    "OrdinalRegression": _check_ordinal,
    "PenaltyPath": _check_path,
    "PlattScaling": _check_platt,
    "PolynomialFeatures": _check_powers,
    "Prepared": _check_prepared,
    "TemperatureScaling": _check_around,
    "TextClassifier": check_text_classifier,
}


# --- of parts --------------------------------------------------------------------------------


def _check_components(part: Components) -> None:
    probabilities("log_mixing", part.log_mixing)


def _check_chain(part: Chain) -> None:
    types = (part.log_start.dtype.name, part.log_transition.dtype.name)
    same_count("The types of a chain's numbers", types, ("float64", "float64"))
    probabilities("log_start", part.log_start)
    probabilities("log_transition", part.log_transition)


def _check_inference(part: Inference) -> None:
    _refuse("The estimates", [part.theta], lambda x: np.abs(x) <= LARGEST, "finite")
    _check_covariance(part)
    if not part.n > 0 or not np.isfinite(part.n):
        raise _unlike("The number of rows", "above 0")
    expected = part.n - part.n_parameters
    if not np.isclose(part.df_residual, expected, rtol=0, atol=1e-6 * part.n):
        raise _unlike("df_residual", f"n − n_parameters, {expected:g}")
    if part.distribution not in ("z", "t"):
        raise _unlike("The distribution of the estimates", "'z' or 't'")
    if part.n_clusters is not None and part.n_clusters < 2:
        raise _unlike("n_clusters", "2 or more")
    places = (*part.redundant, *part.excluded, *part.alone, *part.constants)
    if any(not 0 <= j < len(part.names) for j in places):
        raise _unlike("The places of coefficients", f"from 0 to {len(part.names) - 1}")


def _check_covariance(part: Inference) -> None:
    """Finite, symmetric, without negative variances; nan where nothing was estimated."""
    C = part.covariance
    _refuse("The variances", [np.diag(C)], lambda x: ~(x < 0), "0 or more")
    if part.root is not None:
        none = np.isnan(part.root).all()  # an estimate at the boundary has no errors at all
        good = none or (np.abs(part.root) <= LARGEST).all()
        _refuse("The root of the covariance", [np.asarray(good)], lambda x: x, "finite")
        return
    fixed = {*part.redundant, *part.excluded}
    known = np.array([j not in fixed for j in range(len(C))], dtype=bool)
    C = C[np.ix_(known, known)]
    _refuse("The covariance", [C], np.isfinite, "finite")
    if len(C) <= MOST_ESTIMATES:
        scale = np.sqrt(np.diag(C))
        scale = np.where(scale > 0, scale, 1.0)
        R = C / scale[:, None] / scale  # their product may overflow
        definite = np.allclose(R, R.T, rtol=0, atol=1e-6) and (
            not len(C) or np.linalg.eigvalsh((R + R.T) / 2)[0] >= -1e-6
        )
        _refuse("The covariance", [np.asarray(definite)], lambda x: x, "positive semidefinite")


def _check_distribution(part: Distribution) -> None:
    """Numbers that can be subtracted, squared and divided by; the rest is the constructor's."""
    for name, value in vars(part).items():
        if not isinstance(value, np.ndarray) or name.startswith("log") or value.dtype.kind != "f":
            continue
        what = f"{type(part).__name__}.{name}"
        if name not in SPREADS:
            _refuse(what, [value], lambda x: np.abs(x) <= LARGEST, "at most 1e150 in size")
            continue
        _refuse(what, [value], lambda x: np.abs(x) <= LARGEST_SPREAD, "at most 1e300 in size")
        diagonal = np.einsum("kii->ki", value) if value.ndim == 3 else value
        _refuse(what, [diagonal], lambda x: x >= SMALLEST_SPREAD, "at least 1e-300")


def _check_selections(part: Product | ProductFamily) -> None:
    parts = part.selections if isinstance(part, Product) else [p.selection for p in part.parts]
    same_count("The selections", len(parts), len(part.parts))
    features = sorted(feature for each in parts for feature in each.features)
    same_count("The columns of the selections", features, list(range(len(features))))
    for coded in (False, True):
        read = sorted(c for each in parts if each.coded == coded for c in each.columns)
        same_count("The columns that are read", read, list(range(len(read))))
    if isinstance(part, Product):
        sizes = [member.n_features for member in part.parts]
        same_count("The columns of a part", sizes, [len(each.columns) for each in parts])


def _check_selection(part: Selection) -> None:
    same_count("The columns of a selection", len(part.columns), len(part.features))
    if part.everything:
        same_count("All columns", list(part.columns), list(range(len(part.columns))))


def _check_plan(part: EventPlan) -> None:
    same_count("The event models", len(part.events), len(part.discretised))


def _check_history(part: History) -> None:
    n = len(part.loss) if part.loss.ndim == 1 else -1
    lengths = [part.loss.shape, part.rate.shape, part.seconds.shape]
    same_count("The epochs", lengths, [(n,)] * 3)
    if part.validation is not None:
        same_count("The epochs", part.validation.shape, (n,))
    if not 0 <= part.kept_epoch <= n:
        raise _unlike("kept_epoch", f"from 0 to {n}")


def _check_average(part: NetworkAverage) -> None:
    _refuse("The networks", [part.parameters], lambda x: np.abs(x) <= LARGEST, "finite")
    _refuse("The constant model", [part.constant], lambda x: ~np.isnan(x), "numbers")
    same_count("The networks", part.parameters.ndim, 2)
    same_count("The networks", len(part.histories), len(part.parameters))
    if not 0 <= part.shrinkage <= 1:
        raise _unlike("shrinkage", "from 0 to 1")


def _check_power(part: PowerVarianceLog) -> None:
    if not 1 <= part.power <= 2:
        raise _unlike("The power of a variance function", "from 1 to 2")
    if isinstance(part.response, Tweedie) and part.response.power != part.power:
        raise _unlike("The power of a variance function", "that of its response")


PART_CHECKS: dict[type[Any], Callable[[Any], None]] = {
    Chain: _check_chain,
    Components: _check_components,
    Distribution: _check_distribution,
    EventPlan: _check_plan,
    History: _check_history,
    Inference: _check_inference,
    NetworkAverage: _check_average,
    PowerVarianceLog: _check_power,
    Product: _check_selections,
    ProductFamily: _check_selections,
    Selection: _check_selection,
}
