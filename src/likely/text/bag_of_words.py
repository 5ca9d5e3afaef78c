"""Documents as counts of terms: how often each word, run of words or run of characters occurs.

    x_iv = the number of times that term v occurs in document i

Tokens, vocabulary and counts are those of scikit-learn's ``CountVectorizer`` with the same options,
weights those of its ``TfidfTransformer``:

    tf = x or 1 + ln x        idf_v = 1 + ln ((n + s) / (n_v + s)),  s = 1 if smooth_idf else 0

n is the number of documents and n_v that of documents with term v; both add, so that
``partial_fit`` may see documents in parts.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from likely._typing import Array
from likely.errors import InvalidInput, UnknownName
from likely.formatting import listed
from likely.text.analysis import WORDS, Analysis, Analyzer
from likely.text.documents import documents
from likely.text.reader import Reader, TermIds
from likely.text.term_tables import counted
from likely.text.vocabulary import Vocabulary

ANALYZERS = ("word", "char", "char_wb")
ACCENTS = (None, "ascii", "unicode")
NORMS = (None, "l1", "l2")
UNKNOWN = ("ignore", "count")
UNKNOWN_NAME = "<unknown>"


class BagOfWords(  # type: ignore[call-arg]  # scikit-learn has no annotations
    TransformerMixin, BaseEstimator, auto_wrap_output_keys=None
):
    """Counts of the terms of documents, as a CSR matrix.

    The arguments that scikit-learn's ``CountVectorizer`` and ``TfidfVectorizer`` have mean the
    same.  Not there are ``input``, ``encoding``, ``decode_error``, ``preprocessor``,
    ``tokenizer`` and a function as ``analyzer``: clean and decode documents before.

    Parameters
    ----------
    lowercase : bool
    strip_accents : {None, "ascii", "unicode"}
    stop_words : None, "english" or sequence of str
        Words that are left out; those of scikit-learn for "english".
    token_pattern : str
        A word, as a regular expression; the default is two or more letters, digits or
        underscores.  Patterns of another form are read by Python, more slowly.
    ngram_range : (int, int)
        The shortest and the longest run of words or characters that is a term.
    analyzer : {"word", "char", "char_wb"}
    max_df, min_df : int or float
        Terms in more or in fewer documents are left out: a number, or a share as a float.
    max_features : int, optional
        The most frequent terms are kept.
    vocabulary : sequence or mapping of str to int, optional
        The terms, if they are known before.
    binary : bool
        Presence instead of counts.
    use_idf, smooth_idf, sublinear_tf : bool
    norm : {None, "l1", "l2"}
        The weights of tf-idf; by default, counts are given as they are.
    unknown : {"ignore", "count"}
        Whether terms that are not in the vocabulary are left out or counted in a last column.
    dtype : type
        Of counts; weights are float64.

    Attributes
    ----------
    vocabulary_ : dict
        The column of each term.
    idf_ : array of shape (n_features,)
        With ``use_idf``.
    n_documents_ : int
    document_frequency_ : array of shape (n_features,)
        The number of documents with each term, in the documents of ``fit``.

    Examples
    --------
    >>> import likely
    >>> words = likely.BagOfWords().fit(["The cat sat.", "The dog and the cat."])
    >>> words.get_feature_names_out()
    array(['and', 'cat', 'dog', 'sat', 'the'], dtype=object)
    >>> words.transform(["the cat and the mouse"]).toarray()
    array([[1, 1, 0, 0, 2]])
    """

    def __init__(
        self,
        *,
        lowercase: bool = True,
        strip_accents: Literal["ascii", "unicode"] | None = None,
        stop_words: str | Sequence[str] | None = None,
        token_pattern: str = WORDS,
        ngram_range: tuple[int, int] = (1, 1),
        analyzer: Analyzer = "word",
        max_df: float = 1.0,
        min_df: float = 1,
        max_features: int | None = None,
        vocabulary: Sequence[str] | Mapping[str, int] | None = None,
        binary: bool = False,
        use_idf: bool = False,
        smooth_idf: bool = True,
        sublinear_tf: bool = False,
        norm: Literal["l1", "l2"] | None = None,
        unknown: Literal["ignore", "count"] = "ignore",
        dtype: Any = np.int64,
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
        self.binary = binary
        self.use_idf = use_idf
        self.smooth_idf = smooth_idf
        self.sublinear_tf = sublinear_tf
        self.norm = norm
        self.unknown = unknown
        self.dtype = dtype

    def fit(self, X: Iterable[str], y: Any = None) -> Self:
        """Learn the vocabulary of documents; ``y`` is not used."""
        self.fit_transform(X)
        return self

    def fit_transform(self, X: Iterable[str], y: Any = None) -> Any:
        """Learn the vocabulary, and count its terms."""
        analysis = self._analysis()
        given = documents(X)
        if self.vocabulary is not None:
            self._remember(_given_terms(self.vocabulary))
            counts = self._counts(given)
        else:
            counts, names = _learned(Reader(analysis), given)
            counts = self._presence(counts)
            kept = self._kept(counts)
            counts = counts[:, kept]
            self._remember([names[i] for i in kept])
        self._count_documents(counts)
        return self._weighted(counts)

    def partial_fit(self, X: Iterable[str], y: Any = None) -> Self:
        """Add the terms of further documents at the end, in the order of their appearance."""
        if self.max_df != 1.0 or self.min_df != 1 or self.max_features is not None:
            raise InvalidInput(
                "max_df, min_df and max_features need all documents at once. Call fit, or leave "
                "them out and choose columns afterwards."
            )
        if not hasattr(self, "terms_"):
            self._analysis()
            self._remember([] if self.vocabulary is None else _given_terms(self.vocabulary))
            self.n_documents_, self.document_frequency_ = 0, np.zeros(0, np.int64)
        given = documents(X)
        if self.vocabulary is None:
            known = self.vocabulary_
            _, names = _learned(Reader(self._analysis()), given, in_order=True)
            self._remember([*self.terms_.names, *(name for name in names if name not in known)])
        counts = self._counts(given)
        before, seen = self.document_frequency_, self.n_documents_
        self._count_documents(counts)
        if before.size:
            last = before.size - (self.unknown == "count")
            self.document_frequency_[:last] += before[:last]
            self.document_frequency_[len(self.terms_) :] += before[last:]  # of unknown terms
        self.n_documents_ += seen
        return self

    def transform(self, X: Iterable[str]) -> Any:
        """Count the terms of the vocabulary in documents."""
        check_is_fitted(self)
        return self._weighted(self._counts(documents(X)))

    def inverse_transform(self, X: Any) -> list[Array]:
        """The terms of each row that are not 0."""
        check_is_fitted(self)
        from scipy.sparse import csr_matrix

        rows, names = csr_matrix(X), self.get_feature_names_out()
        if rows.shape[1] != names.size:
            raise InvalidInput(
                f"X has {rows.shape[1]} columns; the vocabulary has {names.size} terms."
            )
        return [names[rows[i].nonzero()[1]] for i in range(rows.shape[0])]

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """The terms, by column."""
        check_is_fitted(self)
        last = [UNKNOWN_NAME] if self.unknown == "count" else []
        return np.array([*self.terms_.names, *last], dtype=object)

    @property
    def vocabulary_(self) -> dict[str, int]:
        """The column of each term."""
        return self.terms_.columns

    @property
    def n_columns(self) -> int:
        """The number of columns, with that of unknown terms."""
        return len(self.terms_) + (self.unknown == "count")

    @property
    def idf_(self) -> Array:
        """The weight of each term: 1 + ln ((n + s) / (n_v + s))."""
        if not self.use_idf:
            raise AttributeError("idf_ needs use_idf=True.")
        check_is_fitted(self)
        extra = float(bool(self.smooth_idf))
        with np.errstate(divide="ignore"):
            ratio = (self.n_documents_ + extra) / (self.document_frequency_ + extra)
        return np.asarray(np.log(ratio) + 1.0)

    def set_output(self, *, transform: str | None = None) -> Self:
        """Only the default, a CSR matrix; frames would hold every 0."""
        if transform not in (None, "default"):
            raise InvalidInput(
                f"BagOfWords gives sparse counts; set_output(transform={transform!r}) asks for a "
                "frame, with a cell for every 0. Leave it out, and take names from "
                "get_feature_names_out()."
            )
        return self

    def tokens(self, document: str) -> list[str]:
        """The terms of a document, one after the other, also those that are not known."""
        return list(self._analysis().tokens(document))

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array = True, False
        return tags

    # ── parts ───────────────────────────────────────────────────────────────────────────

    def _analysis(self) -> Analysis:
        """The arguments, checked."""
        for name, value, allowed in (
            ("analyzer", self.analyzer, ANALYZERS),
            ("strip_accents", self.strip_accents, ACCENTS),
            ("norm", self.norm, NORMS),
            ("unknown", self.unknown, UNKNOWN),
        ):
            if value not in allowed:
                raise UnknownName(name, str(value), [str(each) for each in allowed])
        low, high = self.ngram_range
        if not 1 <= low <= high:
            raise InvalidInput(
                f"ngram_range={self.ngram_range!r}; two numbers from 1 up were expected, the "
                "smaller first, as (1, 2)."
            )
        stop = frozenset(_stop_words(self.stop_words)) if self.analyzer == "word" else frozenset()
        _check_pattern(self.token_pattern)
        return Analysis(
            self.analyzer,
            bool(self.lowercase),
            self.strip_accents,
            self.token_pattern,
            (int(low), int(high)),
            stop,
        )

    def _remember(self, names: Sequence[str]) -> None:
        self.terms_ = Vocabulary.of(names)
        self._reader: tuple[Reader, list[Array]] | None = None

    def _known(self) -> tuple[Reader, list[Array]]:
        """A reader of the vocabulary, made when it is first needed."""
        if getattr(self, "_reader", None) is None:
            self._reader = Reader.of(self._analysis(), self.terms_.names)
        assert self._reader is not None
        return self._reader

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        state.pop("_reader", None)
        return state

    def _counts(self, given: Any) -> Any:
        """The counts of known terms."""
        from scipy.sparse import csr_matrix, vstack

        reader, places = self._known()
        n_known = len(self.terms_)
        n_columns = n_known + (self.unknown == "count")
        other = n_known if self.unknown == "count" else -1
        found = [
            sum(counted(*_mapped(ids, place, other), n_columns) for ids, place in pairs)
            for pairs in (
                zip(level, places, strict=True) for level in reader.read(given, grow=False)
            )
        ]
        matrix = (
            vstack(found, format="csr") if found else csr_matrix((0, n_columns), dtype=np.int64)
        )
        return self._presence(matrix)

    def _presence(self, counts: Any) -> Any:
        if self.binary:
            counts.data.fill(1)
        return counts

    def _kept(self, counts: Any) -> Array:
        """The columns whose terms are neither too rare nor too frequent."""
        n = counts.shape[0]
        frequency = np.bincount(counts.indices, minlength=counts.shape[1])
        most = self.max_df if isinstance(self.max_df, Integral) else self.max_df * n
        fewest = self.min_df if isinstance(self.min_df, Integral) else self.min_df * n
        kept = np.flatnonzero((frequency <= most) & (frequency >= fewest))
        if self.max_features is not None and kept.size > self.max_features:
            total = np.asarray(counts.sum(axis=0)).ravel()[kept]
            kept = np.sort(kept[np.argsort(-total)[: self.max_features]])
        if not kept.size:
            raise InvalidInput(
                "no term is left: the documents have none, or max_df and min_df exclude all. "
                "Check the documents, lower min_df or raise max_df."
            )
        return kept

    def _count_documents(self, counts: Any) -> None:
        self.n_documents_ = int(counts.shape[0])
        n_columns = counts.shape[1]
        self.document_frequency_ = np.bincount(counts.indices, minlength=n_columns)

    def _weighted(self, counts: Any) -> Any:
        if not (self.use_idf or self.sublinear_tf or self.norm):
            return counts.astype(self.dtype)
        weights = counts.astype(np.float64)
        if self.sublinear_tf:
            weights.data = 1.0 + np.log(weights.data)
        if self.use_idf:
            weights.data *= self.idf_[weights.indices]
        if self.norm is not None:
            from sklearn.preprocessing import normalize

            weights = normalize(weights, norm=self.norm, copy=False)
        return weights


def _learned(reader: Reader, given: Any, *, in_order: bool = False) -> tuple[Any, list[str]]:
    """The counts of all terms of the documents, and the terms, sorted or as they appeared."""
    from scipy.sparse import csr_matrix, hstack, vstack

    found: list[list[Any]] = []
    for levels in reader.read(given, grow=True):
        found.append([counted(*each, _n_ids(each)) for each in levels])
    by_level = reader.names()
    if not found:
        return csr_matrix((len(given), 0), dtype=np.int64), []
    blocks = []
    for j, names in enumerate(by_level):
        for part in found:
            part[j].resize(part[j].shape[0], len(names))
        blocks.append(vstack([part[j] for part in found], format="csr"))
    counts = hstack(blocks, format="csr")
    names = [name for level in by_level for name in level]
    seen = np.flatnonzero(np.bincount(counts.indices, minlength=len(names)))  # no stop words
    order = seen if in_order else seen[np.argsort(np.array(names, dtype=object)[seen])]
    return _columns(counts, order), [names[i] for i in order]


def _columns(counts: Any, order: Array) -> Any:
    """The columns in another order, by one pass over the entries."""
    place = np.full(counts.shape[1], -1, dtype=np.int64)
    place[order] = np.arange(order.size)
    counts.indices = place[counts.indices].astype(np.int32)
    counts.resize(counts.shape[0], order.size)
    counts.has_sorted_indices = False
    counts.sort_indices()
    return counts


def _n_ids(found: TermIds) -> int:
    return int(found.ids.max()) + 1 if found.ids.size else 0


def _mapped(found: TermIds, place: Array, other: int) -> tuple[Array, Array]:
    """Ids as columns; what is not among them is ``other``."""
    columns = np.append(place, -1)[found.ids]
    return np.where(columns < 0, other, columns).astype(np.int32), found.stops


def _given_terms(vocabulary: Any) -> list[str]:
    """The terms of a given vocabulary, by column."""
    if not isinstance(vocabulary, Mapping):
        terms = sorted(vocabulary) if isinstance(vocabulary, set | frozenset) else list(vocabulary)
        twice = (
            [term for i, term in enumerate(terms) if term in set(terms[:i])][:3]
            if len(set(terms)) < len(terms)
            else []
        )
        if twice:
            raise InvalidInput(f"the vocabulary repeats {listed(twice, 3)}.")
    else:
        terms = sorted(vocabulary, key=lambda term: vocabulary[term])
        if [vocabulary[term] for term in terms] != list(range(len(terms))):
            raise InvalidInput(
                "the columns of the vocabulary must be 0, 1, 2, …, each once. Number the terms "
                "anew."
            )
    if not terms:
        raise InvalidInput("the vocabulary is empty. Give terms, or None to learn them.")
    return terms


def _check_pattern(pattern: Any) -> None:
    """Refuse what is no regular expression, or has several groups, as scikit-learn does."""
    try:
        n_groups = re.compile(pattern).groups
    except (re.error, TypeError) as problem:
        raise InvalidInput(
            f"token_pattern={pattern!r} is no regular expression ({problem}). Give one that a word "
            f"matches, as {WORDS!r}."
        ) from None
    if n_groups > 1:
        raise InvalidInput(
            f"token_pattern={pattern!r} has {n_groups} groups; one at most was expected: the word. "
            "Write (?:…) for the others."
        )


def _stop_words(words: Any) -> Iterable[str]:
    if words is None:
        return ()
    if words == "english":
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        return ENGLISH_STOP_WORDS
    if isinstance(words, str):
        raise UnknownName("list of stop words", words, ["english"])
    return words
