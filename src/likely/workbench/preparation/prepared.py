"""A model that includes the preparation of its table, which is learned in the fit.

    fit      learn the steps on the given rows, prepare the table, fit the model to it
    predict  the same steps, with what the fit learned

A fold, a resample or a sealed test set can therefore leak nothing into medians, scales,
categories or the choice of columns.
"""

from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple, Self, final

import numpy as np
from sklearn.base import clone
from sklearn.utils import Tags, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from likely._typing import Array
from likely.data.frames import InMemoryTable, as_table, frame_of, is_sparse
from likely.data.word_table import WordTable
from likely.errors import InvalidInput
from likely.explanations.any_model import explained, sampled_explanation, with_cells
from likely.explanations.effects import DatePart
from likely.explanations.explanation import Explanation, like_its_rows
from likely.graphical.drawing.diagram import Diagram
from likely.inputs.estimators import Estimator, feature_names
from likely.inputs.foreign_models import (
    chooses_columns,
    fitted_inside,
    new_spread,
    predictive_family,
)
from likely.inputs.tables import (
    check_table,
    names_in_fit,
    own_columns,
    refuse_file,
    rows_at,
    with_columns,
)
from likely.inputs.targets import check_weight
from likely.likelihoods.predictive import PredictiveFamily
from likely.names import has_method
from likely.output.description import ColumnsRead, Description, NamedColumn, NamedTable, describe
from likely.storage.declarations import FITTED_COLUMNS, MODEL, SameCount, Saved
from likely.text.bag_of_words import BagOfWords
from likely.workbench.models.model_entry import ModelEntry, bag_of
from likely.workbench.models.model_inside import (
    given_only,
    link_of,
    refuse_unused,
)
from likely.workbench.preparation.cells import Cells, numbers_of, read_cells
from likely.workbench.preparation.choices import learn, needs_of, validation_sets
from likely.workbench.preparation.dates import (
    NAMES,
    TIME,
    CalendarPart,
    DateColumns,
    calendar_codes,
)
from likely.workbench.preparation.steps import SAVED_CLASSES, Preparation
from likely.workbench.preparation.texts import TextColumn, explained_by_words, readable_by


class PreparedRows(NamedTuple):
    """What the model inside is fitted to."""

    table: Any
    y: Any
    arguments: dict[str, Any]  # weights, offsets and exposures that were given
    preparation: Preparation | None  # None for a sparse X, and for a pipeline


def if_model_has(name: str) -> Any:
    """Make a method available where the model has it, fitted or not."""

    def has(self: Any) -> bool:
        getattr(getattr(self, "model_", self.model), name)  # its own error, if it has none
        return True

    return available_if(has)


@final
class Prepared(Estimator):
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

    saved: ClassVar = FITTED_COLUMNS | Saved(
        {"model_": MODEL, "preparation_": Preparation | None},
        rules=(SameCount("n_features_in_", "preparation_.steps"),),
    )

    saved_parts = (
        *SAVED_CLASSES,
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
        arguments = {"sample_weight": sample_weight, "offset": offset, "exposure": exposure}
        rows = self.prepared_rows(X, y, arguments)
        model = self.model_on_prepared(self.model, rows.preparation)
        self.model_ = model.fit(rows.table, rows.y, **rows.arguments)
        self.preparation_ = rows.preparation
        return self

    def model_on_prepared(self, model: Any, preparation: Preparation | None) -> Any:
        """A clone of a model, in which a validation set (X, y) is prepared as the table is."""
        inner = clone(model)
        for name, (X, *others) in validation_sets(inner).items() if preparation else ():
            try:
                refuse_file(X, type(self).__name__)
                X, *others = own_columns(X, *others)
                table = self._prepared_table(preparation, check_table(self, X, reset=False))
            except InvalidInput as error:
                raise InvalidInput(f"The validation set cannot be used: {error}") from None
            inner.set_params(**{name: (table, *others)})
        return inner

    def prepared_rows(self, X: Any, y: Any, arguments: Mapping[str, Any]) -> "PreparedRows":
        """Rows to learn from, with the preparation that they need."""
        refuse_file(X, type(self).__name__)
        _refuse_no_estimator(self.model)
        refuse_unused(self.model, given_only(arguments))
        needs = needs_of(self.model, impute=self.impute, scale=self.scale)
        X, y, *columns = own_columns(X, y, *arguments.values())
        arguments = dict(zip(arguments, columns, strict=True))
        given = check_table(self, X, reset=True)
        weight = check_weight(arguments.get("sample_weight"), n_rows=given.n_rows)
        arguments = {**arguments, "sample_weight": weight}
        if weight is not None and not weight.all() and (y is None or len(y) == len(weight)):
            rows = np.flatnonzero(weight)  # the model refuses a y of another length
            given, y = given.take(rows), None if y is None else rows_at(y, rows)
            arguments = {
                name: rows_at(column, rows) for name, column in given_only(arguments).items()
            }
            weight = weight[rows]
        table, preparation = _for_pipelines(given.native), None
        if not is_sparse(table) and not chooses_columns(self.model):
            columns = self._columns(given)
            preparation = learn(columns, weight, needs, self.words)
            table = readable_by(self.model, preparation.table(columns))
        return PreparedRows(table, y, given_only(arguments), preparation)

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

    def date_parts(self, X: object) -> list[DatePart]:
        """The time, month and weekday of the dates in X, as far as the model sees them."""
        if self.preparation_ is None:
            return []
        columns = self._columns(check_table(self, X, reset=False))
        found = []
        for step, cells in zip(self.preparation_.steps, columns, strict=True):
            if not isinstance(step, DateColumns):
                continue
            days = numbers_of(cells, date=True)
            if step.part_columns(TIME, days):
                found.append(DatePart(step.name, TIME, step.name, days))
            for part in step.parts:
                codes = calendar_codes(days, part.part)
                labels = NAMES[part.part]
                found.append(DatePart(step.name, part.part, part.step.name, codes, labels))
        return found

    def prepare_at(self, X: object, part: DatePart, row: int) -> Any:
        """Rows as the model sees them, where one part of every date is that of one row."""
        assert self.preparation_ is not None, "there are no parts of dates without it"
        table = check_table(self, X, reset=False)
        columns = self._columns(table)
        steps = zip(self.preparation_.steps, columns, strict=True)
        step, cells = next(each for each in steps if each[0].name == part.column)
        assert isinstance(step, DateColumns), "a part is one of a date"
        days = np.full(table.n_rows, numbers_of(cells, date=True)[row])
        changed = step.part_columns(part.part, days)
        return readable_by(self.model, self.preparation_.table(columns, changed))

    @if_model_has("predict")
    def predict(self, X: Any, *, offset: Any = None, exposure: Any = None) -> Any:
        """The model's prediction for each row, with its offset or exposure where one is given."""
        moved = given_only({"offset": offset, "exposure": exposure})
        return self._fitted_model().predict(self.prepare(X), **moved)

    @if_model_has("predict_proba")
    def predict_proba(self, X: Any, *, offset: Any = None) -> Array:
        """p(k | x), (n, n_classes)."""
        return self._fitted_model().predict_proba(self.prepare(X), **given_only({"offset": offset}))

    @if_model_has("predict_log_proba")
    def predict_log_proba(self, X: Any, *, offset: Any = None) -> Array:
        """log p(k | x), (n, n_classes)."""
        return self._fitted_model().predict_log_proba(
            self.prepare(X), **given_only({"offset": offset})
        )

    @if_model_has("decision_function")
    def decision_function(self, X: Any, *, offset: Any = None) -> Array:
        """The model's score of each row."""
        return self._fitted_model().decision_function(
            self.prepare(X), **given_only({"offset": offset})
        )

    @if_model_has("predict_interval")
    def predict_interval(
        self,
        X: Any,
        level: float = 0.95,
        *,
        offset: Any = None,
        exposure: Any = None,
        of: str = "auto",
    ) -> Array:
        """An interval of each row, (n, 2): for y, for its mean, or for a probability."""
        given = given_only({"offset": offset, "exposure": exposure})
        if of != "auto":
            given["of"] = of
        return self._fitted_model().predict_interval(self.prepare(X), level, **given)

    @available_if(lambda self: has_method(fitted_inside(self._fitted_model()), "new_spread"))
    def new_spread(self, X: object) -> Array:
        """The standard deviation of the predictor by categories that the fit did not have."""
        return np.asarray(new_spread(self._fitted_model(), self.prepare(X)))

    @if_model_has("score_samples")
    def score_samples(self, X: Any) -> Array:
        """log p(x) of each row, for a model with a density of rows."""
        return self._fitted_model().score_samples(self.prepare(X))

    @if_model_has("log_likelihoods")
    def log_likelihoods(
        self, X: Any, y: Any = None, *, offset: Any = None, exposure: Any = None
    ) -> Array:
        """log p(y_i | x_i) of each row, or as the model inside defines its likelihood."""
        moved = given_only({"offset": offset, "exposure": exposure})
        return np.asarray(self._fitted_model().log_likelihoods(self.prepare(X), y, **moved))

    @if_model_has("log_likelihood")
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
        moved = given_only({"offset": offset, "exposure": exposure})
        return self._fitted_model().log_likelihood(self.prepare(X), y, sample_weight, **moved)

    @if_model_has("score")
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
        arguments = {"sample_weight": sample_weight, "offset": offset, "exposure": exposure}
        return self._fitted_model().score(self.prepare(X), y, **given_only(arguments))

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

    @like_its_rows
    def explain(self, X: Any, against: Any = None, *, background: Any = None) -> Explanation:
        """What each column of the given table adds to the prediction of each row.

        The contributions of columns that a column was prepared into (its missing indicator, its
        categories) are added up; a column that was dropped has none.  A model that does not explain
        itself is explained by replacing cells with those of ``background``, as ``likely.explain``
        does.  A text is explained by its words, each named ``column: word``, and a pair of columns
        by its own contribution.
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
        return with_cells(found.for_origins(feature_names(self), origin), X)

    @if_model_has("plate")
    def plate(self) -> Diagram:
        """The plate diagram of the model, whose x are the prepared columns."""
        diagram: Diagram = self.model.plate()
        return diagram

    @if_model_has("summary")
    def summary(self, level: float | None = None) -> Any:
        """Coefficients with standard errors; a note names the columns that were scaled."""
        summary = self._fitted_model().summary(**given_only({"level": level}))
        if isinstance(summary, Description):  # of an additive model
            return self.describe()
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
        done = f"{which} {verb} centred and divided by the standard deviation"
        if not hasattr(self._fitted_model(), "coef_"):
            return (f"{done}.",)
        unit = "their coefficients are" if len(scaled) > 1 else "its coefficient is"
        return (f"{done}, so {unit} per standard deviation.",)

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
            return _for_pipelines(table.native)
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


def _for_pipelines(native: Any) -> Any:
    """Rows of Arrow, which scikit-learn's column transformers cannot put together, as a frame."""
    import pyarrow as pa

    if not isinstance(native, pa.Table):
        return native
    found = frame_of(native, "pandas")
    return frame_of(native, "polars") if found is native else found


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


def built(entry: ModelEntry, task: Any, *, seed: int) -> Any:
    """The estimator of an entry, with its preparation where it says how words are counted."""
    model = entry.build(task, seed=seed)
    return prepared(model, entry.words) if entry.words else model


def prepared(model: Any, words: Mapping[str, Any] | None = None) -> Prepared:
    """The model with its preparation; a prepared model is returned as it is.

    ``words`` are settings of a bag of words that differ from those of the preparation.
    """
    outer = model if isinstance(model, Prepared) else Prepared(model)
    return outer.set_params(words=bag_of(words, outer.words)) if words else outer
