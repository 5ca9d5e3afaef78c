"""Linear models: a predictor for each row, and what the response makes of it.

    η = b + xᵀβ + o        o = offset + ln exposure        μ = g⁻¹(η)

Coding, links and probabilities are the library's (``data/coding``, ``links``).
"""

from abc import abstractmethod
from typing import Any, final

import numpy as np

from likely._typing import Array, Interval
from likely.data.coding import Coding, refuse_missing_categories
from likely.data.layouts.base import Design
from likely.data.layouts.intercept import Mixed
from likely.errors import BadCell, InvalidInput, OutsideLink, warn_user
from likely.links import (
    log_both_classes,
    log_ordered_classes,
    mean_or_end,
    outside,
    valid_etas,
)
from likely.output.formatting import count
from likely.runtime.columns import ColumnTable
from likely.runtime.saved_model import Record, SavedModel
from likely.runtime.table_model import (
    Moves,
    TableModel,
    columns_of,
    encoded,
    first_gap,
    named,
    refuse_moves,
)
from likely.special import log_softmax

MEANS = {  # of responses that may have other means than those above 0
    "likelihoods.Gaussian": Interval(-np.inf, np.inf),
    "likelihoods.Bernoulli": Interval(0, 1),
}


class LinearModel(TableModel):
    """A saved linear model."""

    coding: Coding
    coef: Array  # (n_predictors, n_coefficients)
    intercept: Array  # (n_predictors,), or one number

    def __init__(self, model: SavedModel) -> None:
        self.name = model.name
        self.names, self.n_columns = columns_of(model)
        self.classes = model.learned("classes_")
        self.coding = model.required("coding_")
        self.coef = np.atleast_2d(model.required("coef_"))
        self.intercept = np.asarray(model.learned("intercept_", 0.0))

    @abstractmethod
    def response(self, eta: Array) -> Array:
        """log p(k | x) or E[y | x], from the predictors (n, n_predictors)."""

    def answer(self, table: ColumnTable, moves: Moves) -> Array:
        return self.response(self.predictor(table, moves))

    def chosen(self, table: ColumnTable, moves: Moves) -> Array:
        return self.choice(self.predictor(table, moves))

    def choice(self, eta: Array) -> Array:
        """The most probable class, or E[y | x], from the predictors."""
        found = self.response(eta)
        return found if self.classes is None else self.classes[found.argmax(axis=1)]

    def predictor(self, table: ColumnTable, moves: Moves) -> Array:
        """η of each row, (n, n_predictors)."""
        self.check_moves(moves)
        return self._predictor(table) + np.reshape(moves.total, (-1, 1))

    def link_name(self) -> str | None:
        """The link on whose scale an offset is added; None for a model that takes none."""
        return None

    def check_moves(self, moves: Moves) -> None:
        """Refuse an offset or an exposure that the model does not take."""
        if self.link_name() is None:
            refuse_moves(self, moves)
        elif moves.exposed and self.link_name() != "log":
            raise InvalidInput(
                "exposure multiplies a mean, which only the log link turns into an offset; the "
                f"link is {self.link_name()!r}. Give an offset."
            )

    def predictor_of(self, X: Any) -> Array:
        """η of rows of numbers, (n, n_predictors), such as counts of words."""
        return np.asarray(X @ self.coef.T + self.intercept)

    def _predictor(self, table: ColumnTable) -> Array:
        columns = encoded(self.coding.schema, table)
        try:
            refuse_missing_categories(columns.schema, columns.table)
        except BadCell as error:
            raise named(error, self.names) from None
        coding = Coding(columns.schema, self.coding.reference, self.coding.order)
        design = coding.design(columns.table.design)
        first = columns.schema.as_codes.count(False)  # coefficients of numbers, then of words
        after = first + (0 if columns.words is None else columns.words.n_columns)
        theta = np.concatenate([self.coef.T[:first], self.coef.T[after:]])
        of_words = np.ascontiguousarray(self.coef.T[first:after])
        found = []
        with np.errstate(invalid="ignore"):  # 0·∞, refused below
            for _, piece, words in columns.pieces(design):
                eta = piece.matmat(theta) + self.intercept
                found.append(eta if words is None else eta + words @ of_words)
        if not all(np.isfinite(eta).all() for eta in found):
            self._refuse_gap(design)
        return np.concatenate(found)

    def _refuse_gap(self, design: Design) -> None:
        stored: Any = design.stored()
        gap = first_gap(stored.numeric if isinstance(design, Mixed) else stored)
        if gap is not None:
            name = self.coding.names()[gap[1]]
            raise InvalidInput(
                f"Row {gap[0]}, column {name!r} is missing or infinite; this model needs a finite "
                "number in every cell. Fill it, or drop the row."
            )


@final
class LinearRegressionModel(LinearModel):
    """A saved ``LinearRegression``: one or several targets."""

    def link_name(self) -> str:
        return "identity"

    def response(self, eta: Array) -> Array:
        return eta[:, 0] if eta.shape[1] == 1 else eta


@final
class GLMModel(LinearModel):
    """A saved ``GLM``: its means."""

    def __init__(self, model: SavedModel) -> None:
        super().__init__(model)
        self.link, self.means = _likelihood(model)

    def link_name(self) -> str:
        return str(self.link.name)

    def response(self, eta: Array) -> Array:
        _warn_outside(self, eta[:, 0])
        return mean_or_end(self.link, self.means, eta[:, 0])


@final
class LogisticModel(LinearModel):
    """A saved ``LogisticRegression``."""

    def __init__(self, model: SavedModel) -> None:
        super().__init__(model)
        self.link, self.means = _likelihood(model)

    def link_name(self) -> str:
        return str(self.link.name)

    def response(self, eta: Array) -> Array:
        _warn_outside(self, eta[:, 0])
        return np.column_stack(log_both_classes(self.link, eta[:, 0]))

    def choice(self, eta: Array) -> Array:
        """Class 1 where its probability is at least one half."""
        assert self.classes is not None
        half = float(self.link.link(np.array(0.5)))
        return self.classes[(eta[:, 0] - half >= 0).astype(np.intp)]


@final
class SoftmaxModel(LinearModel):
    """A saved ``SoftmaxRegression``; two classes have one predictor."""

    def response(self, eta: Array) -> Array:
        assert self.classes is not None
        if len(self.classes) == 2:
            eta = np.column_stack([np.zeros(len(eta)), eta])
        return log_softmax(eta, axis=1)


@final
class OrdinalModel(LinearModel):
    """A saved ``OrdinalRegression``: one predictor, and thresholds between the classes."""

    def __init__(self, model: SavedModel) -> None:
        super().__init__(model)
        self.thresholds = model.required("thresholds_")
        self.link = model.required("likelihood_")["link"]

    def response(self, eta: Array) -> Array:
        return log_ordered_classes(self.link, eta[:, 0], self.thresholds)


def _likelihood(model: SavedModel) -> tuple[Any, Interval]:
    """The link, and the means that the response can have."""
    likelihood = model.required("likelihood_")
    response, link = likelihood["response"], likelihood["link"]
    if isinstance(link, Record):
        raise InvalidInput(
            f"it has the link {link.name}, which likely.runtime does not have. Use likely.load."
        )
    return link, MEANS.get(response.name, Interval(0, np.inf))


def _warn_outside(model: GLMModel | LogisticModel, eta: Array) -> None:
    """Warn of predictors for which the link has no mean."""
    beyond = outside(valid_etas(model.link, model.means), eta)
    if beyond.any():
        row, ends = int(beyond.argmax()), model.means.high == 1
        warn_user(
            f"The linear predictor of row {row} is {eta[row]:.3g}, for which the link "
            f"{model.link.name!r} has no mean, so it is {'taken as 0 or 1' if ends else 'nan'}, "
            f"for {count(int(beyond.sum()), 'row')}. Use a link that has a mean everywhere.",
            OutsideLink,
        )
