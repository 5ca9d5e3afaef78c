"""Explanations of rows with texts, by the words that occur in them.

A word that does not occur adds nothing, so only the others are kept: contributions are computed row
by row, because those of all words of the vocabulary would not fit into memory.  A document that is
all that a linear model or a naive Bayes reads is explained in its place, word by word.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from likely._typing import Array
from likely.data.word_table import WordTable
from likely.explanations.any_model import explained
from likely.explanations.explanation import Explanation
from likely.generative.naive_bayes import NaiveBayes
from likely.text.linear_scores import LinearScores, explain_document, linear_scores, two_classes
from likely.text.text_explanation import TextExplanation
from likely.workbench.preparation.texts import TextColumn


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
