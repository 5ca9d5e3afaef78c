"""Naive Bayes from counts of each class, without rows.

    N_vk = Σ_i w_i [y_i = k] x_iv        N_k = Σ_i w_i [y_i = k]

The event models of counts and presences read nothing else, so that whoever has these sums (one pass
over text, or several machines) has the fit of the rows that were summed.
"""

from dataclasses import dataclass
from typing import Any, final

from sklearn.base import clone

from likely._typing import Array
from likely.additive import FieldwiseAdditive
from likely.compute.executor import executor_for
from likely.data.block import ArrayBlocks
from likely.data.layouts.intercept import Dense
from likely.data.schema import Schema
from likely.data.source import TableKinds
from likely.distributions.bernoulli import BernoulliStatistics
from likely.distributions.multinomial import MultinomialStatistics
from likely.distributions.product import ProductStatistics
from likely.generative.events import plan_events
from likely.generative.naive_bayes import NaiveBayes
from likely.generative.priors import pseudo_counts
from likely.generative.surface import check_search
from likely.inputs.rows import EncodedRows
from likely.kinds import ColumnKind
from likely.objectives.components import ComponentTotals, refuse_no_weight
from likely.objectives.held_out_rows import HeldOutRows

COUNTED = ("auto", "multinomial", "complement", "bernoulli")  # events whose sums are counts


@final
@dataclass(frozen=True, eq=False)
class ClassCounts(FieldwiseAdditive):
    """The sums of the features of each class, and the weight of its rows."""

    by_feature: Array  # N_vk, (n_features, n_classes): a feature's counts are side by side
    of_class: Array  # N_k, (n_classes,)


def is_of_counts(model: Any) -> bool:
    """Whether a fit of the model to sparse rows reads counts of each class, and to calibrate it
    those without each fold, and nothing else.
    """
    return (
        type(model) is NaiveBayes
        and isinstance(model.event, str)
        and model.event in COUNTED
        and model.unlabelled is None
        and model.discretize is None
    )


def merges_columns(model: NaiveBayes) -> bool:
    """Whether columns that a row does not have may be merged into one, with the same model.

    Pseudo-counts of 0 leave classes without counts, which a model spreads over all columns.
    """
    if model.event == "bernoulli":
        return False
    if isinstance(model.smoothing, str):
        return True
    return bool((pseudo_counts(model.smoothing) > 0).all())


def class_totals(event: Any, counts: ClassCounts) -> ComponentTotals:
    """Counts as the totals of the event model."""
    sums = counts.by_feature.T  # a view
    statistics = (
        BernoulliStatistics(sums, counts.of_class[:, None])
        if event == "bernoulli"
        else MultinomialStatistics(sums)
    )
    return ComponentTotals(counts.of_class, ProductStatistics((statistics,)))


def fit_class_counts(
    model: NaiveBayes, counts: ClassCounts, classes: Array, held_out: HeldOutRows | None = None
) -> NaiveBayes:
    """A clone of the model, fitted to counts as if to the rows that were summed.

    ``held_out`` has these rows, for a model that is calibrated.
    """
    check_search(model.tol, model.max_iter)
    fitted: NaiveBayes = clone(model)
    n_features = len(counts.by_feature)
    number: ColumnKind = "number"
    kinds = (number,) * n_features
    plan = plan_events(model.event, TableKinds(None, kinds), sparse=True)
    schema = Schema(None, kinds, plan.as_codes, (None,) * n_features)
    fitted.n_features_in_ = n_features
    fitted._remember_columns(plan, schema, None)
    fitted.classes_, fitted.library_ = classes, None
    nothing = ArrayBlocks(Dense(counts.by_feature.T[:0]), None)
    rows = EncodedRows(nothing, schema, classes, executor_for(model.executor, 0), None)
    totals = refuse_no_weight(class_totals(model.event, counts))
    return fitted.fit_totals(totals, rows, held_out)
