"""Which way a model is fitted to documents: from counts of each class, or from a matrix."""

from typing import Any

from likely.errors import InvalidInput
from likely.generative.class_counts import is_of_counts
from likely.names import has_method
from likely.text.bag_of_words import BagOfWords


def is_of_sums(model: Any, words: BagOfWords) -> bool:
    """Whether the model is a function of the counts of each class."""
    if not is_of_counts(model) or not is_counted(words):
        return False
    if words.unknown == "count" and words.vocabulary is None:
        return False  # left-out terms are counted once it is known which they are
    return bool(words.binary or model.event != "bernoulli")  # which refuses counts above 1


def is_counted(words: BagOfWords) -> bool:
    """Whether the columns are counts or presences, not weights by tf-idf."""
    return not (words.use_idf or words.sublinear_tf or words.norm is not None)


def refuse_stream(model: Any, words: BagOfWords) -> None:
    """Refuse models that need all documents at once, and words whose columns grow."""
    name = type(model).__name__
    if not has_method(model, "partial_fit"):
        raise InvalidInput(
            f"{name} has no partial_fit: it cannot be fitted in a stream. Call fit on all "
            "documents, or use a model that has it, as NaiveBayes."
        )
    if words._grows:
        raise InvalidInput(
            f"partial_fit of {name} was called with words whose columns grow; fixed columns were "
            "expected. Use BagOfWords(n_features=2**20) or BagOfWords(vocabulary=…), or fit."
        )
