"""Whether the parts of a fitted model have values that a fit can give: checks by class of part.

mixing proportions, chains     logs of probabilities that sum to 1
inference                      finite estimates with a positive semidefinite covariance
distributions                  numbers that can be squared, spreads that can be divided by
selections of columns, epochs  within the columns and epochs that there are
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from likely.distributions.base import Distribution
from likely.distributions.product import Positions, Product, ProductFamily, Selection
from likely.fitting.inference import Inference
from likely.generative.events import EventPlan
from likely.generative.network_columns import LearnedColumns
from likely.graphical.exact.chain import Chain
from likely.likelihoods.power_variance import PowerVarianceLog
from likely.likelihoods.tweedie import Tweedie
from likely.neural.average import NetworkAverage
from likely.neural.history import History
from likely.objectives.components import Components
from likely.storage.learned_values import (
    LARGEST,
    LARGEST_SPREAD,
    SMALLEST_SPREAD,
    probabilities,
    refuse,
)
from likely.storage.values import same_count, unlike

MOST_ESTIMATES = 2000  # whose covariance is factorised to see that it is one
SPREADS = ("variance", "covariance", "scale")


def check_part_values(part: Any) -> None:
    """Refuse a part whose values no fit gives."""
    for kind, check in PART_CHECKS.items():
        if isinstance(part, kind):
            check(part)


def _check_components(part: Components) -> None:
    probabilities("log_mixing", part.log_mixing)


def _check_chain(part: Chain) -> None:
    types = (part.log_start.dtype.name, part.log_transition.dtype.name)
    same_count("The types of a chain's numbers", types, ("float64", "float64"))
    probabilities("log_start", part.log_start)
    probabilities("log_transition", part.log_transition)


def _check_inference(part: Inference) -> None:
    refuse("The estimates", [part.theta], lambda x: np.abs(x) <= LARGEST, "finite")
    _check_covariance(part)
    if not part.n > 0 or not np.isfinite(part.n):
        raise unlike("The number of rows", "above 0")
    if not 0 <= part.n_parameters < np.inf or np.isinf(part.n_null):
        raise unlike("The numbers of parameters", "finite")
    expected = part.n - part.n_parameters
    if not np.isclose(part.df_residual, expected, rtol=0, atol=1e-6 * part.n):
        raise unlike("df_residual", f"n − n_parameters, {expected:g}")
    if part.distribution not in ("z", "t"):
        raise unlike("The distribution of the estimates", "'z' or 't'")
    if part.n_clusters is not None and part.n_clusters < 2:
        raise unlike("n_clusters", "2 or more")
    places = (*part.redundant, *part.excluded, *part.alone, *part.constants)
    if any(not 0 <= j < len(part.names) for j in places):
        raise unlike("The places of coefficients", f"from 0 to {len(part.names) - 1}")


def _check_covariance(part: Inference) -> None:
    """Finite, symmetric, without negative variances; nan where nothing was estimated."""
    C = part.covariance
    refuse("The variances", [np.diag(C)], lambda x: ~(x < 0), "0 or more")
    if part.root is not None:
        none = np.isnan(part.root).all()  # an estimate at the boundary has no errors at all
        good = none or (np.abs(part.root) <= LARGEST).all()
        refuse("The root of the covariance", [np.asarray(good)], lambda x: x, "finite")
        return
    fixed = {*part.redundant, *part.excluded}
    known = np.array([j not in fixed for j in range(len(C))], dtype=bool)
    C = C[np.ix_(known, known)]
    refuse("The covariance", [C], np.isfinite, "finite")
    if len(C) <= MOST_ESTIMATES:
        scale = np.sqrt(np.diag(C))
        scale = np.where(scale > 0, scale, 1.0)
        R = C / scale[:, None] / scale  # their product may overflow
        definite = np.allclose(R, R.T, rtol=0, atol=1e-6) and (
            not len(C) or np.linalg.eigvalsh((R + R.T) / 2)[0] >= -1e-6
        )
        refuse("The covariance", [np.asarray(definite)], lambda x: x, "positive semidefinite")


def _check_distribution(part: Distribution) -> None:
    """Numbers that can be subtracted, squared and divided by; the rest is the constructor's."""
    for name, value in vars(part).items():
        if not isinstance(value, np.ndarray) or name.startswith("log") or value.dtype.kind != "f":
            continue
        what = f"{type(part).__name__}.{name}"
        if name not in SPREADS:
            refuse(what, [value], lambda x: np.abs(x) <= LARGEST, "at most 1e150 in size")
            continue
        refuse(what, [value], lambda x: np.abs(x) <= LARGEST_SPREAD, "at most 1e300 in size")
        diagonal = np.einsum("kii->ki", value) if value.ndim == 3 else value
        if name != "scale":  # a constant column has none
            diagonal = diagonal[diagonal != 0]
        refuse(what, [diagonal], lambda x: x >= SMALLEST_SPREAD, "at least 1e-300")


def _check_selections(part: Product | ProductFamily) -> None:
    parts = part.selections if isinstance(part, Product) else [p.selection for p in part.parts]
    same_count("The selections", len(parts), len(part.parts))
    _refuse_gaps("The columns of the selections", [each.features for each in parts])
    for coded in (False, True):
        read = [each.columns for each in parts if each.coded == coded]
        _refuse_gaps("The columns that are read", read)
    if isinstance(part, Product):
        sizes = [member.n_features for member in part.parts]
        same_count("The columns of a part", sizes, [len(each.columns) for each in parts])


def _refuse_gaps(what: str, parts: list[Positions]) -> None:
    """Refuse positions that are not 0, 1, …, each once."""
    if len(parts) == 1 and parts[0] == range(len(parts[0])):  # words are many
        return
    found = sorted(position for part in parts for position in part)
    same_count(what, found, list(range(len(found))))


def _check_selection(part: Selection) -> None:
    same_count("The columns of a selection", len(part.columns), len(part.features))
    if part.everything and part.columns:
        same_count("All columns", part.columns, range(len(part.columns)))


def _check_network_columns(part: LearnedColumns) -> None:
    """An event model for each column, and bins for each number that is cut."""
    same_count("The event models", len(part.plan.events), len(part.schema.kinds))
    cut = sum(part.plan.discretised)
    same_count("The bins", 0 if part.bins is None else part.bins.n_features_in_, cut)


def _check_plan(part: EventPlan) -> None:
    same_count("The event models", len(part.events), len(part.discretised))


def _check_history(part: History) -> None:
    n = len(part.loss) if part.loss.ndim == 1 else -1
    lengths = [part.loss.shape, part.rate.shape, part.seconds.shape]
    same_count("The epochs", lengths, [(n,)] * 3)
    if part.validation is not None:
        same_count("The epochs", part.validation.shape, (n,))
    if not 0 <= part.kept_epoch <= n:
        raise unlike("kept_epoch", f"from 0 to {n}")


def _check_average(part: NetworkAverage) -> None:
    refuse("The constant model", [part.constant], lambda x: np.abs(x) <= LARGEST, "finite")
    same_count("The networks", part.parameters.ndim, 2)
    same_count("The networks", len(part.histories), len(part.parameters))
    if not 0 <= part.shrinkage <= 1:
        raise unlike("shrinkage", "from 0 to 1")


def _check_power(part: PowerVarianceLog) -> None:
    if not 1 <= part.power <= 2:
        raise unlike("The power of a variance function", "from 1 to 2")
    if isinstance(part.response, Tweedie) and part.response.power != part.power:
        raise unlike("The power of a variance function", "that of its response")


PART_CHECKS: dict[type[Any], Callable[[Any], None]] = {
    Chain: _check_chain,
    Components: _check_components,
    Distribution: _check_distribution,
    EventPlan: _check_plan,
    History: _check_history,
    LearnedColumns: _check_network_columns,
    Inference: _check_inference,
    NetworkAverage: _check_average,
    PowerVarianceLog: _check_power,
    Product: _check_selections,
    ProductFamily: _check_selections,
    Selection: _check_selection,
}
