"""What a fitted model is worth on rows it has not seen, row by row beside the best constant.

log loss             −log p(yᵢ | xᵢ)           constant: the class shares of the fit
rank error           |rank − predicted rank|   both medians: of the prediction, of the fit's classes
log-likelihood       log p(yᵢ | xᵢ)            constant: of the model's family, or the best level of
                                               ``evaluate.baseline`` if that fits its rows better
deviance             2 (log p(yᵢ | yᵢ) − log p(yᵢ | μᵢ))
absolute error       |yᵢ − μᵢ|                 constant: the median, where there are no offsets
"""

from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from likely._typing import Array
from likely.additive import pairwise_total
from likely.cli.comparing import Compared, Scores
from likely.data.memory import CHUNK_ROWS
from likely.data.source import Source
from likely.data.source_blocks import chunks
from likely.kinds import TargetKind
from likely.likelihoods.base import Response
from likely.likelihoods.gaussian import Gaussian
from likely.metrics.baseline import best_rate, weighted_median
from likely.metrics.ordinal import HALF
from likely.workbench.roles import Roles
from likely.workbench.task_for_models import kind_of_response

LOG_LOSS, ACCURACY, RANK_ERROR = "log loss", "accuracy", "mean rank error"
LOG_LIKELIHOOD, DEVIANCE = "log-likelihood per row", "deviance"
ABSOLUTE, SQUARED = "mean absolute error", "mean squared error"
MEDIAN = f"The best constant of the {ABSOLUTE} is the median; elsewhere it is the mean."


def class_scores(
    model: Any, rows: Source, roles: Roles, share: dict[Any, float], *, ordered: bool = False
) -> Scores | None:
    """Of class probabilities; rows whose class the fit had not seen are left out."""
    labels = model.classes_.tolist()
    constant = np.array([share[label] for label in labels])
    place = {label: k for k, label in enumerate(labels)}
    parts = []
    for table in _chunks(model, rows, roles):
        given = table.column(roles.target).to_pylist()
        known = np.array([label in place for label in given])
        if not known.any():
            continue
        code = np.array([place[label] for label in given if label in place])
        asked = table.select(list(model.feature_names_in_))
        log_proba = model.predict_log_proba(asked, **roles.to_predict(table))[known]
        weight = _weight(table, roles)
        measures = _of_classes(log_proba, constant, code, _rows(weight, known), ordered=ordered)
        parts.append(Scores(measures, len(code), int((~known).sum())))
    return pairwise_total(parts) if parts else None


def _of_classes(
    log_proba: Array, share: Array, code: Array, weight: Array | None, *, ordered: bool
) -> dict[str, Compared]:
    best = log_proba.argmax(axis=1)
    with np.errstate(divide="ignore"):  # a class that only rows of weight 0 have
        constant = -np.log(share[code])
    found = {
        LOG_LOSS: Compared.of(-log_proba[np.arange(len(code)), code], constant, weight),
        ACCURACY: Compared.of(1.0 * (best == code), 1.0 * (share.argmax() == code), weight),
    }
    if ordered:
        said, plain = _median(np.exp(log_proba)), _median(share[None])
        found[RANK_ERROR] = Compared.of(1.0 * abs(said - code), 1.0 * abs(plain - code), weight)
    return found


def _median(proba: Array) -> Array:
    """The class at which the cumulative probability reaches one half."""
    return np.asarray((np.cumsum(proba, axis=1) >= HALF).argmax(axis=1))


@final
@dataclass(frozen=True)
class Constant:
    """The model without features: one mean, moved by offsets as its link moves it."""

    response: Response
    link: str
    level: float  # the mean where offsets are 0
    dispersion: float = 1.0
    median: float | None = None  # where there are no offsets
    kind: TargetKind = "real"  # of the target, as the model takes it

    def means(self, offset: Array) -> Array:
        if self.link == "log":
            return self.level * np.exp(offset)
        return self.level + (offset if self.link == "identity" else np.zeros_like(offset))

    def mean(self, table: Any, roles: Roles) -> Array:
        return self.means(_offset(table, roles))

    def middle(self, table: Any, roles: Roles) -> Array:
        """What has the least absolute error."""
        mean = self.mean(table, roles)
        return mean if self.median is None else np.full_like(mean, self.median)

    def log_density(self, y: Array, mean: Array) -> Array:
        return np.asarray(self.response.log_prob(y, mean, self.dispersion))


def best_constant(model: Any, seen: Source, roles: Roles) -> Constant:
    """The constant that fits the rows of the fit best: of the model's family, or of the baseline.

    A Poisson constant on overdispersed counts would be easy to beat, so that the baseline's spread
    is tried as well.  Targets, weights and offsets of all rows are read: a few bytes of each row.
    """
    likelihood = getattr(model, "likelihood_", None)
    response: Response = Gaussian() if likelihood is None else likelihood.response
    link = "identity" if likelihood is None else likelihood.link.name
    y, weight, offset = _targets(seen, roles)
    own = _of_family(response, link, y, weight, offset)
    kind = kind_of_response(response)
    median = None if roles.at_prediction() else weighted_median(y, weight)
    rate = link == "log" or not roles.at_prediction()  # offsets multiply, or there are none
    found = [own]
    if rate and (kind != "positive" or bool((y > 0).all())):
        level = best_rate(kind, y, weight, np.exp(offset))
        found.append(replace(own, response=level.response, dispersion=level.dispersion))
    best = max(found, key=lambda each: _total(each, y, weight, offset))
    return replace(best, median=median, kind=kind)


def _targets(seen: Source, roles: Roles) -> tuple[Array, Array, Array]:
    """y, weight and offset of every row that counts."""
    only = seen.select([name for name in roles.columns if name != roles.clusters])
    parts = [
        (_target(table, roles), _weights(table, roles), _offset(table, roles))
        for table in chunks(only, CHUNK_ROWS)
    ]
    y, weight, offset = (np.concatenate(column) for column in zip(*parts, strict=True))
    counts = weight > 0
    return y[counts], weight[counts], offset[counts]


def _of_family(response: Response, link: str, y: Array, weight: Array, offset: Array) -> Constant:
    """The model's own family, its dispersion by Pearson's statistic."""
    shape = np.exp(offset) if link == "log" else np.ones(len(y))
    total = np.dot(weight, y - offset if link == "identity" else y)
    own = Constant(response, link, float(total / np.dot(weight, shape)))
    if response.dispersion_is_known:
        return own
    mean = own.means(offset)
    chi2 = float(np.dot(weight, (y - mean) ** 2 / response.variance(mean)))
    return replace(own, dispersion=chi2 / max(float(weight.sum()) - 1, 1.0))


def _total(each: Constant, y: Array, weight: Array, offset: Array) -> float:
    """The log-likelihood of the rows that it was learned from; −inf where it has none."""
    with np.errstate(all="ignore"):
        total = float(np.dot(weight, each.log_density(y, each.means(offset))))
    return total if np.isfinite(total) else -np.inf


def number_scores(model: Any, rows: Source, roles: Roles, constant: Constant) -> Scores | None:
    """Of predicted means, beside those of the constant."""
    likelihood, spread = getattr(model, "likelihood_", None), getattr(model, "variance_", None)
    response: Response = Gaussian() if likelihood is None else likelihood.response
    dispersion = model.dispersion_ if spread is None else spread
    parts = []
    for table in _chunks(model, rows, roles):
        y, weight = _target(table, roles), _weight(table, roles)
        asked = table.select(list(model.feature_names_in_))
        mean = model.predict(asked, **roles.to_predict(table))
        plain = constant.mean(table, roles)
        values = {
            LOG_LIKELIHOOD: (
                response.log_prob(y, mean, dispersion),
                constant.log_density(y, plain),
            ),
            DEVIANCE: (response.deviance(y, mean), response.deviance(y, plain)),
            ABSOLUTE: (abs(y - mean), abs(y - constant.middle(table, roles))),
            SQUARED: ((y - mean) ** 2, (y - plain) ** 2),
        }
        measures = {name: Compared.of(*pair, weight) for name, pair in values.items()}
        parts.append(Scores(measures, len(y)))
    return pairwise_total(parts) if parts else None


def density_scores(model: Any, one: Any, rows: Source, roles: Roles) -> Scores | None:
    """log p(x) per row, beside that of a model with one component."""
    parts = []
    for table in _chunks(model, rows, roles):
        asked = table.select(list(model.feature_names_in_))
        ours, theirs = model.score_samples(asked), one.score_samples(asked)
        compared = Compared.of(ours, theirs, _weight(table, roles))
        parts.append(Scores({LOG_LIKELIHOOD: compared}, len(ours)))
    return pairwise_total(parts) if parts else None


def _chunks(model: Any, rows: Source, roles: Roles) -> Any:
    """The rows that count, piece by piece."""
    import pyarrow.compute as pc

    beside = [name for name in roles.columns if name != roles.clusters]
    for table in chunks(rows.select([*model.feature_names_in_, *beside]), CHUNK_ROWS):
        if roles.weight is not None:
            table = table.filter(pc.greater(table.column(roles.weight), 0))
        if table.num_rows:
            yield table


def _target(table: Any, roles: Roles) -> Array:
    return _numbers(table, roles.target)


def _weight(table: Any, roles: Roles) -> Array | None:
    return None if roles.weight is None else _numbers(table, roles.weight)


def _weights(table: Any, roles: Roles) -> Array:
    weight = _weight(table, roles)
    return np.ones(table.num_rows) if weight is None else weight


def _offset(table: Any, roles: Roles) -> Array:
    """o of each row: an offset, and the logarithm of an exposure."""
    total = np.zeros(table.num_rows)
    if roles.offset is not None:
        total = total + _numbers(table, roles.offset)
    if roles.exposure is not None:
        total = total + np.log(_numbers(table, roles.exposure))
    return total


def _numbers(table: Any, name: str | None) -> Array:
    return np.asarray(table.column(name).to_numpy(), dtype=np.float64)


def _rows(values: Array | None, kept: Array) -> Array | None:
    return None if values is None else values[kept]
