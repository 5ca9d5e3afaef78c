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
from likely.generative.surface import check_search
from likely.inputs.rows import EncodedRows
from likely.kinds import ColumnKind
from likely.objectives.components import ComponentTotals, refuse_no_weight

COUNTED = ("auto", "multinomial", "complement", "bernoulli")  # events whose sums are counts


@final
@dataclass(frozen=True, eq=False)
class ClassCounts(FieldwiseAdditive):
    """The sums of the features of each class, and the weight of its rows."""

    by_feature: Array  # N_vk, (n_features, n_classes): a feature's counts are side by side
    of_class: Array  # N_k, (n_classes,)


def is_of_counts(model: Any) -> bool:
    """Whether counts of each class are all that a fit of the model to sparse rows reads."""
    return (
        type(model) is NaiveBayes
        and isinstance(model.event, str)
        and model.event in COUNTED
        and model.unlabelled is None
        and model.calibrate is None
        and model.discretize is None
    )


def fit_class_counts(model: NaiveBayes, counts: ClassCounts, classes: Array) -> NaiveBayes:
    """A clone of the model, fitted to counts as if to the rows that were summed."""
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
    sums = counts.by_feature.T  # a view
    statistics = (
        BernoulliStatistics(sums, counts.of_class[:, None])
        if model.event == "bernoulli"
        else MultinomialStatistics(sums)
    )
    totals = ComponentTotals(counts.of_class, ProductStatistics((statistics,)))
    nothing = ArrayBlocks(Dense(sums[:0]), None)
    rows = EncodedRows(nothing, schema, classes, executor_for("serial", 0), None)
    return fitted.fit_totals(refuse_no_weight(totals), rows)
