"""Documents as sequences of word ids: the words in their order, by their numbers.

    document → (x_1, …, x_d),  x_j the column that ``BagOfWords`` would count the j-th word in

The counts of a sequence are the row of ``BagOfWords`` with the same arguments.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from likely._typing import Array
from likely.data.sequences import Sequences
from likely.storage.declarations import Saved
from likely.text.bag_of_words import BagOfWords, DocumentTransformer
from likely.text.tokens import WORDS, Analyzer


class TokenIds(DocumentTransformer):
    """The words of documents as sequences of ids.

    ``NaiveBayes("multinomial")`` takes the sequences as they are; ``to_counts`` and
    ``to_presence`` convert them.  All arguments mean what they mean in ``BagOfWords``.

    Parameters
    ----------
    lowercase : bool
    strip_accents : {None, "ascii", "unicode"}
    stop_words : None, "english" or sequence of str
    token_pattern : str, or None for runs of characters
    ngram_range : (int, int)
        Runs of words come after the words of a document, the shorter ones first.
    analyzer : {"word", "char", "char_wb"}
    max_df, min_df : int or float
    max_features : int, optional
    vocabulary : sequence or mapping of str to int, optional
    n_features : int, optional
        Ids are hashed, and no vocabulary is kept.
    unknown : {"ignore", "count"}
        Whether unknown words are left out, or have a last id of their own.

    Attributes
    ----------
    words_ : BagOfWords
        The vocabulary.
    n_words_ : int
        The number of ids.

    Examples
    --------
    >>> import likely
    >>> tokens = likely.TokenIds().fit(["The cat sat.", "The dog and the cat."])
    >>> found = tokens.transform(["the cat and the mouse", "a dog"])
    >>> [document.tolist() for document in found]
    [[4, 1, 0, 4], [2]]
    >>> found.to_counts().toarray()
    array([[1, 1, 0, 0, 2],
           [0, 0, 1, 0, 0]])
    >>> [" ".join(document) for document in tokens.inverse_transform(found)]
    ['the cat and the', 'dog']
    """

    saved: ClassVar = Saved({"words_": BagOfWords})

    why_no_frame = "TokenIds gives sequences of different lengths. Leave it out, or use BagOfWords."

    def __init__(
        self,
        *,
        lowercase: bool = True,
        strip_accents: Literal["ascii", "unicode"] | None = None,
        stop_words: str | Sequence[str] | None = None,
        token_pattern: str | None = WORDS,
        ngram_range: Sequence[int] = (1, 1),
        analyzer: Analyzer = "word",
        max_df: float = 1.0,
        min_df: float = 1,
        max_features: int | None = None,
        vocabulary: Sequence[str] | Mapping[str, int] | None = None,
        n_features: int | None = None,
        unknown: Literal["ignore", "count"] = "ignore",
    ) -> None:
        self.lowercase = lowercase
        self.strip_accents = strip_accents
        self.stop_words = stop_words
        self.token_pattern = token_pattern
        self.ngram_range = ngram_range
        self.analyzer = analyzer
        self.max_df = max_df
        self.min_df = min_df
        self.max_features = max_features
        self.vocabulary = vocabulary
        self.n_features = n_features
        self.unknown = unknown

    def fit(self, X: Iterable[str], y: Any = None) -> Self:
        """Learn the vocabulary of documents; ``y`` is not used."""
        self.words_ = self._words().fit(X)
        return self

    def partial_fit(self, X: Iterable[str], y: Any = None) -> Self:
        """Add the words of further documents, with the next ids."""
        words = self.words_ if hasattr(self, "words_") else self._words()
        self.words_ = words.partial_fit(X)
        return self

    def transform(self, X: Iterable[str]) -> Sequences:
        """The ids of the words of each document, in their order."""
        check_is_fitted(self)
        found, ends, n = [np.zeros(0, np.int32)], [np.zeros(1, np.int64)], 0
        words = self._known_words
        for ids, stops in words.read(X):
            known = ids >= 0
            before = np.concatenate([np.zeros(1, np.int64), np.cumsum(known)])
            found.append(ids[known])
            ends.append(n + before[stops])
            n += int(before[-1])
        return Sequences(np.concatenate(found), np.concatenate(ends), words.n_columns)

    def inverse_transform(self, X: Any) -> list[Array]:
        """The words of each sequence of ids."""
        names = self.get_feature_names_out()
        return [names[ids] for ids in Sequences.of(X, names.size)]

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """The words, by id."""
        check_is_fitted(self)
        return self._known_words.get_feature_names_out()

    @property
    def n_words_(self) -> int:
        return self._known_words.n_columns

    @property
    def _known_words(self) -> BagOfWords:
        """The words that were learned; given or hashed ones need no fit."""
        return self.words_ if hasattr(self, "words_") else self._words()

    def _words(self) -> BagOfWords:
        return BagOfWords(**self.get_params(deep=False))
