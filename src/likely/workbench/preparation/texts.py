"""Free text as a bag of words: one sparse column for each word that occurs in the fit.

    counts     n_v of the document                      for models of counts, such as naive Bayes
    weights    s · tf_v idf_v / ‖tf idf‖                for models whose penalty compares columns
               tf = 1 + ln n,  s² = the mean number of different words of a document

A weight is scaled but not centred, so that a word that does not occur is 0.  The rows have length
s, as if each word of a document were a column of its own that is scaled to one.  A missing text is
an empty document.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np
from sklearn.base import clone

from likely._typing import Matrix
from likely.caching import cached_property
from likely.data.word_table import WordTable
from likely.inputs.foreign_models import models_inside
from likely.output.formatting import count, percent
from likely.text.bag_of_words import BagOfWords
from likely.workbench.data.identifiers import is_free_text, text_identifies
from likely.workbench.preparation.cells import Cells, levels_of, text_of
from likely.workbench.preparation.steps import DroppedColumn, Step

if TYPE_CHECKING:
    import pyarrow as pa

WEIGHTS = {"use_idf": True, "sublinear_tf": True, "norm": "l2"}


@final
@dataclass(frozen=True)
class TextColumn(Step):
    """Free text, as the counts or weights of its words."""

    name: str
    words: BagOfWords  # fitted
    missing: float  # the share of missing texts in the fit
    length: float | None  # of a row of weights; None where words are counted

    @cached_property
    def word_names(self) -> tuple[str, ...]:
        """The names of the columns: ``text: word``, and by number where words are hashed."""
        if self.words.n_features is not None:
            return tuple(f"{self.name}: hash {k}" for k in range(self.words.n_columns))
        terms = self.words.get_feature_names_out().tolist()
        return tuple(f"{self.name}: {term}" for term in terms)

    def columns(self, cells: Cells) -> dict[str, Any]:
        return {}

    def word_columns(self, cells: Cells) -> Matrix:
        found = self.words.transform(documents_of(cells))
        return found if self.length is None else self.length * found

    def description(self) -> str:
        n_words = count(len(self.word_names), "word")
        if self.words.n_features is not None:
            n_words = f"words, hashed into {count(len(self.word_names), 'column')}"
        how = "counted" if self.length is None else "with tf-idf weights"
        parts = [f"text: {n_words}, {how}"]
        if self.missing:
            parts.append(f"{percent(self.missing)} missing, read as empty documents")
        return "; ".join(parts)


def learn_text(cells: Cells, words: BagOfWords, missing: float, *, weighted: bool) -> Step:
    """The step of a column of text; one without any word is dropped."""
    documents, bag = documents_of(cells), clone(words)
    if weighted:
        bag.set_params(**WEIGHTS)
    if not any(bag.tokens(text.as_py()) for text in documents):
        return DroppedColumn(cells.name, "text without any word")
    found = bag.fit_transform(documents)
    length = float(np.sqrt(max(found.nnz / found.shape[0], 1.0))) if weighted else None
    return TextColumn(cells.name, bag, missing, length)


def documents_of(cells: Cells) -> "pa.Array":
    """The texts of a column as an Arrow array; a missing one is empty."""
    import pyarrow as pa

    factor = text_of(cells)
    texts = np.append(factor.values, "")  # the last is for a missing cell, of code −1
    return pa.array(texts, pa.large_string()).take(pa.array(factor.codes % len(texts)))


def is_text(cells: Cells) -> bool:
    """Whether a column was declared to be text, or is free text by its values."""
    if cells.text or cells.factor is None or cells.declared:
        return cells.text
    levels, n_known = levels_of(cells.factor).tolist(), int((cells.factor.codes >= 0).sum())
    return is_free_text(levels, n_known) and not text_identifies(cells.name, levels, n_known)


def readable_by(model: Any, table: Any) -> Any:
    """The prepared table as the model takes it: sparse rows for one of another library."""
    if not isinstance(table, WordTable) or _is_own(model):
        return table
    return table.matrix(range(len(table.names)))


def _is_own(model: Any) -> bool:
    """Whether a model, and each one inside it, is one of likely."""
    own = type(model).__module__.startswith("likely.")
    return own and all(_is_own(each) for each in models_inside(model))
