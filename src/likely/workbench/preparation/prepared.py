"""A model that includes the preparation of its table, which is learned in the fit.

    fit      learn the steps on the given rows, prepare the table, fit the model to it
    predict  the same steps, with what the fit learned

A fold, a resample or a sealed test set can therefore leak nothing into medians, scales,
categories or the choice of columns.
"""

from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from typing import Any, NamedTuple, Self, final

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import Tags, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from likely._typing import Array
from likely.data.frames import InMemoryTable, as_table, is_sparse
from likely.data.word_table import WordTable
from likely.description import ColumnsRead, Description, NamedColumn, NamedTable, describe
from likely.errors import InvalidInput
from likely.explanations.any_model import explained, sampled_explanation, with_cells
from likely.explanations.explanation import Explanation
from likely.graphical.diagrams.diagram import Diagram
from likely.inputs.estimators import feature_names
from likely.inputs.foreign_models import chooses_columns
from likely.inputs.numbers import check_weight
from likely.inputs.tables import (
    check_table,
    names_in_fit,
    own_columns,
    refuse_file,
    rows_at,
    with_columns,
)
from likely.likelihoods.predictive import PredictiveFamily
from likely.names import has_method
from likely.text.bag_of_words import BagOfWords
from likely.workbench.predictions import link_of, predictive_family
from likely.workbench.preparation.cells import Cells, read_cells
from likely.workbench.preparation.choices import Preparation, learn, needs_of, validation_sets
from likely.workbench.preparation.dates import CalendarPart, DateColumns
from likely.workbench.preparation.steps import STEPS
from likely.workbench.preparation.texts import TextColumn, readable_by
from likely.workbench.preparation.word_explanations import explained_by_words


def _inner(name: str) -> Any:
    """Make a method available where the model has it, fitted or not."""

    def has(self: Any) -> bool:
        getattr(getattr(self, "model_", self.model), name)  # its own error, if it has none
        return True

    return available_if(has)


class PreparedRows(NamedTuple):
    """What the model inside is fitted to."""

    table: Any
    y: Any
    beside: dict[str, Any]  # weights, offsets and exposures that were given
    preparation: Preparation | None  # None for a sparse X, and for a pipeline


@final
class Prepared(BaseEstimator):
    """A model for tables of mixed columns, with missing cells.

    Numbers and Booleans go to the model as numbers, text and categories as categories (or as
    columns of 0 and 1, if it reads numbers only), dates as days since the first, with month and
    weekday, free text as the counts of its words, or as their tf-idf weights where a penalty
    compares columns.  Columns that are constant, all missing or identifiers are dropped, and so is
    free text if the model reads dense columns only.  Short text with very many values, and numbers
    written as text, are refused.  A sparse X goes to the model as it is.

    Parameters
    ----------
    model : estimator
        The model; a clone of it is fitted.  A scikit-learn ``Pipeline`` that begins with a
        ``ColumnTransformer``, an encoder or a function is given the columns as they are, because it
        has its own preparation; one that reads numbers only is given numbers.
    impute : "auto" or bool, default="auto"
        Whether missing numbers become the median (with a missing indicator, if more than
        1 % are missing), missing Booleans the more common value, and missing categories the
        category "missing".  ``auto`` does so for models that do not take missing cells.
    scale : "auto" or bool, default="auto"
        Whether numbers and dates are centred and divided by their standard deviation.  ``auto``
        does so where the model has a penalty, which compares coefficients, a shrinkage, which
        compares variances, or distances, kernels or gradients, which compare columns; coefficients
        then refer to the scaled columns.  Estimators of scikit-learn are scaled, except trees and
        their ensembles, least squares, models of counts, and pipelines with a scaler of their own.
    words : BagOfWords, default=None
        How the words of free text are counted; None is ``BagOfWords()``.

    Attributes
    ----------
    model_ : estimator
        The fitted model; it sees what ``prepare`` returns.
    preparation_ : Preparation or None
        The preparation of each column; prints as a table.  None for a sparse X, and for a pipeline.
    steps_ : list of (column, what was done)
        The preparation of each column in words.

    Examples
    --------
    >>> import pandas as pd
    >>> from likely import LogisticRegression
    >>> from likely.workbench.preparation.prepared import Prepared
    >>> frame = pd.DataFrame(
    ...     {
    ...         "age": [31.0, None, 55.0, 47.0],
    ...         "town": ["Ghent", "Mons", None, "Ghent"],
    ...         "planet": "Earth",
    ...     }
    ... )
    >>> model = Prepared(LogisticRegression(l2=0.1)).fit(frame, [0, 0, 1, 1])
    >>> print(model.preparation_)
    age     25.0 % missing, filled with the median 47; missing indicator 'age missing'; ...
    town    2 categories; 25.0 % missing, the category 'missing'
    planet  dropped: the same value in every row, 'Earth'
    >>> model.predict(frame)
    array([0, 0, 1, 1])
    """

    saved_parts = (
        *STEPS,
        DateColumns,
        CalendarPart,
        TextColumn,
    )  # what a model file may contain in addition to the model

    def __init__(
        self,
        model: Any,
        *,
        impute: Any = "auto",
        scale: Any = "auto",
        words: BagOfWords | None = None,
    ) -> None:
        self.model = model
        self.impute = impute
        self.scale = scale
        self.words = words

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        offset: Any = None,
        exposure: Any = None,
    ) -> Self:
        """Learn the preparation on these rows, and fit the model to the prepared table.

        X is an array or a data frame, whose columns the other arguments may name.  An offset and
        an exposure are passed to the model; a model that does not take them is refused.
        """
        beside = {"sample_weight": sample_weight, "offset": offset, "exposure": exposure}
        rows = self.prepared_rows(X, y, beside)
        model = self.model_on_prepared(self.model, rows.preparation)
        self.model_ = model.fit(rows.table, rows.y, **rows.beside)
        self.preparation_ = rows.preparation
        return self

    def model_on_prepared(self, model: Any, preparation: Preparation | None) -> Any:
        """A clone of a model, in which a validation set (X, y) is prepared as the table is."""
        inner = clone(model)
        for name, (X, *beside) in validation_sets(inner).items() if preparation else ():
            try:
                refuse_file(X, type(self).__name__)
                X, *beside = own_columns(X, *beside)
                table = self._prepared_table(preparation, check_table(self, X, reset=False))
            except InvalidInput as error:
                raise InvalidInput(f"The validation set cannot be used: {error}") from None
            inner.set_params(**{name: (table, *beside)})
        return inner

    def prepared_rows(self, X: Any, y: Any, beside: Mapping[str, Any]) -> "PreparedRows":
        """Rows to learn from, with the preparation that they need."""
        refuse_file(X, type(self).__name__)
        _refuse_no_estimator(self.model)
        refuse_unused(self.model, _given(beside))
        needs = needs_of(self.model, impute=self.impute, scale=self.scale)
        X, y, *columns_beside = own_columns(X, y, *beside.values())
        beside = dict(zip(beside, columns_beside, strict=True))
        given = check_table(self, X, reset=True)
        weight = check_weight(beside.get("sample_weight"), n_rows=given.n_rows)
        beside = {**beside, "sample_weight": weight}
        if weight is not None and not weight.all() and (y is None or len(y) == len(weight)):
            rows = np.flatnonzero(weight)  # the model refuses a y of another length
            given, y = given.take(rows), None if y is None else rows_at(y, rows)
            beside = {name: rows_at(column, rows) for name, column in _given(beside).items()}
            weight = weight[rows]
        table, preparation = given.native, None
        if not is_sparse(table) and not chooses_columns(self.model):
            columns = self._columns(given)
            preparation = learn(columns, weight, needs, self.words)
            table = readable_by(self.model, preparation.table(columns))
        return PreparedRows(table, y, _given(beside), preparation)

    def prepare(self, X: Any) -> Any:
        """Rows as the model sees them: an Arrow table, with texts a table of words (or CSR).

        Columns of a frame that the fit did not have are ignored, and those that it dropped may be
        missing.
        """
        check_is_fitted(self)
        refuse_file(X, type(self).__name__)
        known = names_in_fit(self)
        X = X if known is None else with_columns(X, known, self.dropped_)
        return self._prepared_table(self.preparation_, check_table(self, X, reset=False))

    @property
    def steps_(self) -> list[tuple[str, str]]:
        """Each column with its preparation in words."""
        check_is_fitted(self)
        if self.preparation_ is None:
            return [(name, self._as_given()) for name in feature_names(self)]
        return self.preparation_.descriptions()

    @property
    def dropped_(self) -> tuple[str, ...]:
        """The columns that the model does not see."""
        check_is_fitted(self)
        return () if self.preparation_ is None else self.preparation_.dropped

    def columns_read(self, n_rows: int | None = None) -> ColumnsRead:
        """The columns that were numeric in the fit; text is prepared here."""
        check_is_fitted(self)
        return ColumnsRead(numbers=() if self.preparation_ is None else self.preparation_.numbers)

    @property
    def classes_(self) -> Array:
        """The classes of the model."""
        return self._fitted_model().classes_

    @_inner("predict")
    def predict(self, X: Any, *, offset: Any = None, exposure: Any = None) -> Any:
        """The model's prediction for each row, with its offset or exposure where one is given."""
        moved = _given({"offset": offset, "exposure": exposure})
        return self._fitted_model().predict(self.prepare(X), **moved)

    @_inner("predict_proba")
    def predict_proba(self, X: Any, *, offset: Any = None) -> Array:
        """p(k | x), (n, n_classes)."""
        return self._fitted_model().predict_proba(self.prepare(X), **_given({"offset": offset}))

    @_inner("predict_log_proba")
    def predict_log_proba(self, X: Any, *, offset: Any = None) -> Array:
        """log p(k | x), (n, n_classes)."""
        return self._fitted_model().predict_log_proba(self.prepare(X), **_given({"offset": offset}))

    @_inner("decision_function")
    def decision_function(self, X: Any, *, offset: Any = None) -> Array:
        """The model's score of each row."""
        return self._fitted_model().decision_function(self.prepare(X), **_given({"offset": offset}))

    @_inner("predict_interval")
    def predict_interval(
        self,
        X: Any,
        level: float = 0.95,
        *,
        offset: Any = None,
        exposure: Any = None,
        of: str = "mean",
    ) -> Array:
        """An interval for the model's mean or probability in each row, (n, 2); or for y."""
        given = _given({"offset": offset, "exposure": exposure})
        if of != "mean":
            given["of"] = of
        return self._fitted_model().predict_interval(self.prepare(X), level, **given)

    @_inner("score_samples")
    def score_samples(self, X: Any) -> Array:
        """log p(x) of each row, for a model with a density of rows."""
        return self._fitted_model().score_samples(self.prepare(X))

    @_inner("log_likelihoods")
    def log_likelihoods(
        self, X: Any, y: Any = None, *, offset: Any = None, exposure: Any = None
    ) -> Array:
        """log p(y_i | x_i) of each row, or as the model inside defines its likelihood."""
        moved = _given({"offset": offset, "exposure": exposure})
        return np.asarray(self._fitted_model().log_likelihoods(self.prepare(X), y, **moved))

    @_inner("log_likelihood")
    def log_likelihood(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        offset: Any = None,
        exposure: Any = None,
    ) -> float:
        """Σ_i w_i log p(y_i | x_i), or log p(x_i) of a model of rows."""
        moved = _given({"offset": offset, "exposure": exposure})
        return self._fitted_model().log_likelihood(self.prepare(X), y, sample_weight, **moved)

    @_inner("score")
    def score(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        offset: Any = None,
        exposure: Any = None,
    ) -> float:
        """The model's own score: accuracy, R² or a mean log-likelihood."""
        beside = {"sample_weight": sample_weight, "offset": offset, "exposure": exposure}
        return self._fitted_model().score(self.prepare(X), y, **_given(beside))

    def explain(self, X: Any, against: Any = None, *, background: Any = None) -> Explanation:
        """What each column of the given table adds to the prediction of each row.

        The contributions of columns that a column was prepared into (its missing indicator, its
        categories) are added up; a column that was dropped has none.  A model that does not explain
        itself is explained by replacing cells with those of ``background``, as ``likely.explain``
        does.  A text is explained by its words, each named ``column: word``.
        """
        model = self._fitted_model()
        if self.preparation_ is None or not has_method(model, "explain"):
            if has_method(model, "explain"):
                return explained(model, self.prepare(X), against, background=background)
            return with_cells(sampled_explanation(self, X, against, background=background), X)
        named = {} if background is None else {"background": self.prepare(background)}
        prepared = self.prepare(X)
        if isinstance(prepared, WordTable):
            origin = self.preparation_.origins(self._columns(check_table(self, X, reset=False)))
            return explained_by_words(model, prepared, against, feature_names(self), origin)
        found = explained(model, prepared, against, **named)
        table = check_table(self, X, reset=False)
        origin = self.preparation_.origins(self._columns(table.take(np.arange(0))))
        column = [origin[name] for name in found.names]
        return with_cells(found.for_columns(feature_names(self), column), X)

    @_inner("plate")
    def plate(self) -> Diagram:
        """The plate diagram of the model, whose x are the prepared columns."""
        diagram: Diagram = self.model.plate()
        return diagram

    @_inner("summary")
    def summary(self, level: float = 0.95) -> Any:
        """Coefficients with standard errors; a note names the columns that were scaled."""
        summary = self._fitted_model().summary(level)
        scaled = () if self.preparation_ is None else self.preparation_.scaled
        if not scaled:
            return summary
        remark = (
            "numbers were centred and divided by their standard deviations, so their coefficients "
            f"are per standard deviation: {', '.join(scaled)}"
        )
        return replace(summary, remarks=(*summary.remarks, remark))

    def for_prediction(self) -> Self:
        """A copy, not fitted; the model inside computes no standard errors."""
        return clone(self).set_params(model=for_prediction(self.model))

    def read_columns(self, X: Any) -> list[Cells]:
        """The columns of a table to be learned from; their names are those of the fit."""
        return self._columns(check_table(self, X, reset=True))

    def fitted_with(self, preparation: Preparation | None, model: Any) -> Self:
        """A copy with a preparation and a model that were fitted elsewhere to its columns."""
        fitted = copy(self)
        fitted.preparation_, fitted.model_ = preparation, model
        return fitted

    def offset_link(self) -> str:
        """The link on whose scale offsets move the mean of the model."""
        return link_of(self._fitted_model())

    def predictive_family(self) -> PredictiveFamily | None:
        """The predictive family of the model inside."""
        return predictive_family(self._fitted_model())

    def describe(self) -> Description:
        """The model inside, and the preparation of each column."""
        inner = describe(self._fitted_model())
        steps = NamedTable(
            "steps",
            (NamedColumn("column", "column"), NamedColumn("step", "preparation")),
            tuple(self.steps_),
            noun="column",
        )
        return inner.also(tables=(steps,), notes=self._units())

    def _units(self) -> tuple[str, ...]:
        """A note about the unit of columns whose numbers were scaled."""
        scaled = () if self.preparation_ is None else self.preparation_.scaled
        if not scaled:
            return ()
        which, verb = ("Numbers", "were") if len(scaled) > 1 else (scaled[0], "was")
        said = f"{which} {verb} centred and divided by the standard deviation"
        if not hasattr(self._fitted_model(), "coef_"):
            return (f"{said}.",)
        unit = "their coefficients are" if len(scaled) > 1 else "its coefficient is"
        return (f"{said}, so {unit} per standard deviation.",)

    def __str__(self) -> str:
        text = repr(self)
        if "model_" not in vars(self):
            return text
        return f"{text}\n{self._as_given() if self.preparation_ is None else self.preparation_}"

    def _as_given(self) -> str:
        """The reason why nothing was prepared."""
        own = chooses_columns(self.model)
        return "as it is: the pipeline prepares its own" if own else "as it is, sparse"

    def _prepared_table(self, preparation: Preparation | None, table: InMemoryTable) -> Any:
        if preparation is None:
            return table.native
        if is_sparse(table.native):
            table = as_table(table.native.toarray())  # the fit had the columns one by one
        return readable_by(self.model, preparation.table(self._columns(table)))

    def _columns(self, table: InMemoryTable) -> list[Cells]:
        return [read_cells(table, j, name) for j, name in enumerate(feature_names(self))]

    def _fitted_model(self) -> Any:
        check_is_fitted(self)
        return self.model_

    def __sklearn_tags__(self) -> Tags:
        _refuse_no_estimator(self.model)
        tags = get_tags(self.model)
        imputes = self.impute is True or self.impute == "auto"
        tags.input_tags = replace(
            tags.input_tags, allow_nan=imputes or tags.input_tags.allow_nan, string=True
        )
        return tags


def _refuse_no_estimator(model: Any) -> None:
    """Refuse a name or a class, for which scikit-learn's message would be about its tags."""
    if isinstance(model, str | type) or model is None:
        raise InvalidInput(
            f"The model of Prepared is {model!r}; an estimator was expected. Use "
            "Prepared(likely.LogisticRegression()), for instance; compare and tune take names."
        )


def for_prediction(model: Any) -> Any:
    """The model, not fitted; one that could compute standard errors does not."""
    return model.for_prediction() if has_method(model, "for_prediction") else clone(model)


def prepared(model: Any) -> Prepared:
    """The model with its preparation; a prepared model is returned as it is."""
    return model if isinstance(model, Prepared) else Prepared(model)


def unprepared(model: Any) -> Any:
    """The model without its preparation, not fitted."""
    return model.model if isinstance(model, Prepared) else model


_ACCEPTED = {  # the arguments of a fit besides X and y, and models that accept them
    "sample_weight": ("sample_weight", ""),
    "offset": ("an offset", " (a GLM)"),
    "exposure": ("an exposure", " (a GLM)"),
}


def refuse_unused(model: Any, beside: Mapping[str, Any]) -> None:
    """Refuse weights, offsets and exposures that the fit of a model does not take."""
    for name in beside:
        if not has_fit_parameter(model, name):
            what, able = _ACCEPTED[name]
            raise InvalidInput(
                f"{type(model).__name__} does not accept {what}. Leave it out, or use a model that "
                f"does{able}."
            )


def _given(beside: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that are not None."""
    return {name: value for name, value in beside.items() if value is not None}
