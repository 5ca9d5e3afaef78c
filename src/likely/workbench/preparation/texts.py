"""Free text as a bag of words: one sparse column for each word that occurs in the fit.

    counts     n_v of the document                      for models of counts, such as naive Bayes
    weights    s · tf_v idf_v / ‖tf idf‖                for models whose penalty compares columns
               tf = 1 + ln n,  s² = the mean number of different words of a document

A weight is scaled but not centred, so that a word that does not occur is 0.  The rows have length
s, as if each word of a document were a column of its own that is scaled to one.  A missing text is
an empty document.

Rows with texts are explained by the words that occur in them.  A word that does not occur adds
nothing, so only the others are kept: contributions are computed row by row, because those of all
words of the vocabulary would not fit into memory.  A document that is all that a linear model or a
naive Bayes reads is explained in its place, word by word.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, final

import numpy as np
from sklearn.base import clone

from likely._typing import Array, Matrix
from likely.caching import cached_property
from likely.data.word_table import WordTable
from likely.explanations.any_model import explained
from likely.explanations.explanation import Explanation
from likely.generative.naive_bayes import NaiveBayes
from likely.inputs.foreign_models import models_inside
from likely.output.formatting import count, percent
from likely.text.bag_of_words import BagOfWords
from likely.text.linear_scores import LinearScores, explain_document, linear_scores, two_classes
from likely.text.text_explanation import TextExplanation
from likely.workbench.preparation.cells import Cells, text_of
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


def readable_by(model: Any, table: Any) -> Any:
    """The prepared table as the model takes it: sparse rows for one of another library."""
    if not isinstance(table, WordTable) or _is_own(model):
        return table
    return table.matrix(range(len(table.names)))


def _is_own(model: Any) -> bool:
    """Whether a model, and each one inside it, is one of likely."""
    own = type(model).__module__.startswith("likely.")
    return own and all(_is_own(each) for each in models_inside(model))


def explained_by_words(
    model: Any, rows: WordTable, against: Any, names: Sequence[str], origin: Mapping[str, int]
) -> Explanation:
    """What each column, and each word of a text, adds to the prediction of each row.

    ``names`` are those of the columns before preparation, and ``origin`` says which of them each
    prepared column was made from.
    """
    texts = {origin[name] for name in rows.word_names}
    own = [j for j in range(len(names)) if j not in texts]
    place = {j: at for at, j in enumerate(own)}
    present = np.unique(rows.words.indices)
    n_beside = len(rows.names) - len(rows.word_names)
    beside = [(j, place[origin[name]]) for j, name in enumerate(rows.names[:n_beside])]
    parts: list[Array] = []
    bases: list[Array] = []
    for i in range(len(rows)):
        one = explained(model, rows.take(np.array([i])), against)
        part = np.zeros((len(own) + present.size, len(one.groups)))
        for j, at in beside:
            part[at] += one.contributions[0, j]
        part[len(own) :] = one.contributions[0, n_beside + present]
        parts.append(part)
        bases.append(np.broadcast_to(one.base, (1, len(one.groups)))[0])
    same = all(np.array_equal(base, bases[0]) for base in bases)
    return replace(
        one,
        contributions=np.stack(parts),
        base=bases[0] if same else np.stack(bases),
        names=(*(names[j] for j in own), *(rows.word_names[k] for k in present)),
        cells=(),
    )


def explained_in_place(
    model: Any, column: TextColumn, document: str, log_proba: Array, against: Any = None
) -> TextExplanation | None:
    """What each word of a document adds, shown in the document; None for models without weights.

    The words of ``column`` are all that the model reads, and ``log_proba`` is what it answers.
    """
    scores = _scores(model, column)
    if scores is None or len(model.classes_) < 2:
        return None
    pair = two_classes(log_proba, model.classes_, None, against)
    probability = float(np.exp(log_proba[pair[0]]))
    return explain_document(column.words, model, scores, document, pair, probability)


def _scores(model: Any, column: TextColumn) -> LinearScores | None:
    """The weights of the words, times the length of a row of them."""
    found = linear_scores(model, once=bool(column.words.binary))
    if found is None or len(found.weights) != column.words.n_columns:
        return None
    if column.length is None:
        return found
    is_bayes = type(model) is NaiveBayes  # whose evidence is cooled by the sum of a row
    return None if is_bayes else LinearScores(column.length * found.weights, found.intercept)
