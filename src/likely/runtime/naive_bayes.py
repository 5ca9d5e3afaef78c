"""Naive Bayes: the class prior, the event models of the columns, the calibration of the evidence.

    p(k | x) ∝ π_k Π_j p(x_j | k)

Event models and calibration are the library's (``distributions``, ``objectives/cooled_evidence``);
a missing cell is summed out.
"""

from typing import Any, Self, final

import numpy as np

from likely import distributions
from likely._typing import Array, NumbersAndCodes
from likely.data.layouts.base import Design
from likely.data.layouts.intercept import Mixed
from likely.data.sequences import Sequences, is_lists
from likely.distributions import Complement, Multinomial
from likely.distributions.lengths import row_lengths
from likely.distributions.product import Product, ProductFamily
from likely.distributions.responsibility import refuse_infinity
from likely.errors import BadCell, InvalidInput
from likely.objectives.cooled_evidence import CooledEvidence
from likely.runtime.columns import ColumnTable
from likely.runtime.count_rows import CountRows, NumbersAndWords
from likely.runtime.saved_model import Record, SavedModel
from likely.runtime.table_model import (
    Moves,
    TableModel,
    columns_of,
    encoded,
    named,
    refuse_moves,
)


@final
class NaiveBayesScores:
    """log p(k | x) of rows that are encoded: numbers and codes, or counts of words."""

    def __init__(self, model: SavedModel) -> None:
        components = model.required("components_")
        self.log_prior: Array = components["log_mixing"]
        self.family, self.distribution = model.required("family_"), components["distribution"]
        model.required("temperature_")
        self.evidence = CooledEvidence.of_attributes(model.learned)
        self._refuse_others()
        self.weights: Array | None = None  # of words, where scores are sums of them

    @classmethod
    def of_words(cls, model: SavedModel) -> Self:
        """Scores of counts of words; weights lie word by word, and are looked at only once."""
        scores = cls(model)
        parts = scores.distribution.parts
        if len(parts) == 1 and isinstance(parts[0], Complement | Multinomial):
            coef = parts[0].linear_form().coef
            if np.isfinite(coef).all():
                scores.weights = np.ascontiguousarray(coef.T)
        return scores

    def log_proba(self, X: Any) -> Array:
        """log p(k | x), (n, n_classes)."""
        if self.weights is None:
            rows = self.evidence.scores(self.family, self.distribution, X)
            return self.evidence.log_posterior_or_prior(self.log_prior, *rows)
        length = row_lengths(self.family, X) if self.evidence.needs_length else None
        return self.evidence.log_posterior_or_prior(self.log_prior, X @ self.weights, length)

    def _refuse_others(self) -> None:
        """Refuse event models that need more than NumPy."""
        product = self.distribution
        parts = product.parts if isinstance(product, Product) else [product]
        for part in parts:
            if isinstance(part, distributions.FullGaussian):
                raise InvalidInput(
                    f"it has columns with the event model {type(part).__name__}, which "
                    "likely.runtime does not have. Use likely.load."
                )


@final
class NaiveBayesModel(TableModel):
    """A saved ``NaiveBayes``."""

    def __init__(self, model: SavedModel) -> None:
        self.name = model.name
        self.names, self.n_columns = columns_of(model)
        self.classes = model.required("classes_")
        self.schema, self.scores = model.required("schema_"), NaiveBayesScores(model)
        self.reads_ids = bool(model.learned("reads_ids_", False))
        self.presence = model.arguments.get("event") == "bernoulli"
        bins = model.learned("discretizer_")
        self.bins = None if bins is None else SavedBins.of(bins, model.required("plan_"))

    def rows(self, given: Any) -> Any:
        """Counts of lists of word ids, or presence, if the model was fitted to such lists."""
        if not (self.reads_ids and is_lists(given)):
            return given
        sequences = Sequences.of(given, self.n_columns)
        counts = np.zeros(sequences.shape)
        document = np.repeat(np.arange(len(sequences)), sequences.lengths)
        np.add.at(counts, (document, sequences.ids), 1)
        return np.minimum(counts, 1) if self.presence else counts

    def answer(self, table: ColumnTable, moves: Moves) -> Array:
        refuse_moves(self, moves)
        columns = encoded(self.schema, table)
        design = columns.table.design
        design = design if self.bins is None else self.bins.cut(design)
        found = []
        for start, piece, words in columns.pieces(design):
            try:
                X = _with_words(piece.stored(), words)
                _check(self.scores.family, X)
                found.append(self.scores.log_proba(X))
            except BadCell as error:
                raise named(error.moved(row=start + error.row), self.names) from None
        return np.concatenate(found)


@final
class SavedBins:
    """Numbers that are cut into bins: their codes come after those of the categories."""

    def __init__(self, edges: list[Array], cut: Array) -> None:
        self.edges, self.is_cut = edges, cut

    @classmethod
    def of(cls, bins: SavedModel, plan: Record) -> Self:
        """The bins of a saved ``Discretizer``; the plan has the event model of each column."""
        pairs = zip(plan["events"], plan["discretised"], strict=True)
        cut = [is_cut for event, is_cut in pairs if is_cut or not _coded(event)]
        return cls(bins.required("edges_"), np.array(cut, dtype=bool))

    def cut(self, design: Design) -> Mixed:
        """The design with codes in place of its numbers; NaN becomes −1."""
        stored: Any = design.stored()
        none = np.empty((design.n_rows, 0), np.int32)
        numeric, codes = stored if isinstance(design, Mixed) else (stored, none)
        wanted = np.asarray(numeric[:, self.is_cut], dtype=float)
        found = [
            np.where(np.isnan(x), -1, np.searchsorted(edges, x, side="right"))
            for edges, x in zip(self.edges, wanted.T, strict=True)
        ]
        together = np.column_stack([codes, *found]).astype(np.int32)
        return Mixed(numeric[:, ~self.is_cut], np.ascontiguousarray(together), ())


def _with_words(X: Any, words: CountRows | None) -> Any:
    """The rows as the event models read them: words are numbers behind the others."""
    if words is None:
        return X
    numbers = X.numeric if isinstance(X, NumbersAndCodes) else X
    joined = NumbersAndWords(numbers, words) if numbers.shape[1] else words
    return NumbersAndCodes(joined, X.codes) if isinstance(X, NumbersAndCodes) else joined


def _coded(event: Any) -> bool:
    return event == "categorical" if isinstance(event, str) else bool(event.coded)


def _check(family: Any, X: Any) -> None:
    """Refuse values that a family cannot have, and infinities."""
    if isinstance(family, ProductFamily):
        for part in family.parts:
            with part.selection.placing():
                _check(part.family, part.selection.of(X))
        return
    if isinstance(X, CountRows):
        return  # they were counted here
    values = X if isinstance(X, np.ndarray) else X.data
    if values.dtype.kind == "f" and np.isinf(values).any():
        refuse_infinity(X)
    family.check(X)
