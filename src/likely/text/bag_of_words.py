"""Documents as counts of terms: how often each word, run of words or run of characters occurs.

    x_iv = the number of times that term v occurs in document i

Tokens, vocabulary and counts are those of scikit-learn's ``CountVectorizer`` with the same options;
``term_counts.py`` has those of its ``TfidfTransformer``, whose sums over documents add.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import partial
from numbers import Integral
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from likely._typing import Array, Codes
from likely.compute.executor import Executor
from likely.data.sequences import TermIds, counted, stacked
from likely.errors import InvalidInput
from likely.inputs.estimators import Estimator
from likely.storage.declarations import Numbers, Saved
from likely.text.documents import Vocabulary, check_frequencies, document_parts, over_parts
from likely.text.reader import Reader, refuse_rare_terms
from likely.text.term_counts import (
    TermSums,
    column_of_term,
    inverse_frequency,
    reorder_columns,
    weighted,
)
from likely.text.tokens import (
    WORDS,
    Analysis,
    Analyzer,
    WordOptions,
    analysis_of,
    check_counts,
    check_options,
    given_terms,
    has_limits,
    refuse_limits,
    warn_of_options,
)

UNKNOWN_NAME = "<unknown>"


# ── What BagOfWords and TokenIds share: scikit-learn's tags, and an output that is no frame ───────


class DocumentTransformer(  # type: ignore[call-arg]  # scikit-learn has no annotations
    TransformerMixin, Estimator, auto_wrap_output_keys=None
):
    """A transformer whose rows are texts."""

    why_no_frame: ClassVar[str]  # what it gives, and what to do instead
    vocabulary: Sequence[str] | Mapping[str, int] | None
    n_features: int | None

    def set_output(self, *, transform: str | None = None) -> Self:
        """Only the default is there: no frame."""
        if transform not in (None, "default"):
            raise InvalidInput(
                f"set_output(transform={transform!r}) asks for a frame; {self.why_no_frame}"
            )
        return self

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array = True, False
        tags.requires_fit = not self._is_stateless
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        learned = (name for name in vars(self) if name.endswith("_"))
        return self._is_stateless or any(learned)

    @property
    def _is_stateless(self) -> bool:
        """Whether the columns are known before a fit: they are given, or hashed."""
        return self.vocabulary is not None or self.n_features is not None


def refuse_other_options(first: Any, second: Any) -> None:
    """Refuse to merge what was counted in different ways."""
    if type(second) is not type(first):
        raise InvalidInput(
            f"{second!r:.60} was given; a fitted {type(first).__name__} was expected."
        )
    check_is_fitted(second, "n_documents_")
    ours, theirs = first.get_params(), second.get_params()
    for name, value in ours.items():
        if name != "executor" and not _means_the_same(value, theirs[name]):
            raise InvalidInput(
                f"{name} is {value!r:.60} here and {theirs[name]!r:.60} in the other; equal "
                "options were expected. Count all documents with the same options."
            )


def _means_the_same(first: Any, second: Any) -> bool:
    """Whether two values of an option are equal; max_df=1 and max_df=1.0 are not."""
    ours, theirs = _plain_value(first), _plain_value(second)
    return type(ours) is type(theirs) and bool(ours == theirs)


def _plain_value(option: Any) -> Any:
    """An option without the type of its container: arrays and tuples are lists."""
    if isinstance(option, Mapping):
        return dict(option)
    if isinstance(option, Set):
        return set(option)
    if isinstance(option, np.ndarray | np.generic):
        return option.tolist()
    if isinstance(option, type):  # np.int64 for np.dtype("int64")
        return np.dtype(option)
    return list(option) if isinstance(option, Sequence) and not isinstance(option, str) else option


# ── Words ─────────────────────────────────────────────────────────────────────────────────────────


class BagOfWords(DocumentTransformer):
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
    token_pattern : str, or None for runs of characters
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
        The terms, if they are known before; ``fit`` is then not needed without ``use_idf``.
    n_features : int, optional
        Hash terms to this number of columns, and keep no vocabulary.  Terms that share a column are
        counted together; ``likely.text.term_counts`` has the hash function, which is the same on
        every machine.  Memory does not depend on the number of words, and ``fit`` is not needed
        without ``use_idf``.  2**20 columns suit most texts; 2**22
        is the most.
    binary : bool
        Presence instead of counts.
    use_idf, smooth_idf, sublinear_tf : bool
    norm : {None, "l1", "l2"}
        The weights of tf-idf; by default, counts are given as they are.
    unknown : {"ignore", "count"}
        Whether terms that are not in the vocabulary are left out or counted in a last column.
    dtype : type
        Of counts: integers or floats of 32 or 64 bits, or any integers with ``binary``; weights
        are float64.
    executor : {"auto", "serial", "threads"} or Executor
        Where documents are counted; "auto" uses all cores for large texts.

    Attributes
    ----------
    terms_ : Vocabulary
        The terms by column; none with ``n_features``.
    vocabulary_ : dict
        The column of each term.
    idf_ : array of shape (n_features,)
        With ``use_idf``.
    n_documents_ : int
    document_frequency_ : array of shape (n_features,)
        The number of documents of ``fit`` with each term.  With ``n_features``, only for
        ``use_idf``.

    Examples
    --------
    >>> import likely
    >>> words = likely.BagOfWords().fit(["The cat sat.", "The dog and the cat."])
    >>> words.get_feature_names_out()
    array(['and', 'cat', 'dog', 'sat', 'the'], dtype=object)
    >>> words.transform(["the cat and the mouse"]).toarray()
    array([[1, 1, 0, 0, 2]])
    """

    saved: ClassVar = Saved(
        {
            "terms_": Vocabulary,
            "n_documents_": Numbers(int, "not negative"),
            "document_frequency_": Codes,
        },
    )

    why_no_frame = (
        "BagOfWords gives sparse counts, and a frame has a cell for every 0. Leave it out; "
        "get_feature_names_out() has the names."
    )
    terms_: Vocabulary
    n_documents_: int
    document_frequency_: Array
    _reader: tuple[Reader, Array | None] | None
    _given: Vocabulary | None = None  # of the argument, until a fit

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
        binary: bool = False,
        use_idf: bool = False,
        smooth_idf: bool = True,
        sublinear_tf: bool = False,
        norm: Literal["l1", "l2"] | None = None,
        unknown: Literal["ignore", "count"] = "ignore",
        dtype: Any = np.int64,
        executor: str | Executor = "auto",
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
        self.binary = binary
        self.use_idf = use_idf
        self.smooth_idf = smooth_idf
        self.sublinear_tf = sublinear_tf
        self.norm = norm
        self.unknown = unknown
        self.dtype = dtype
        self.executor = executor

    def fit(self, X: Iterable[str], y: Any = None) -> Self:
        """Learn the vocabulary of documents; ``y`` is not used."""
        if self._grows and self.unknown == "count":
            self.fit_transform(X)  # left-out terms are counted once it is known which they are
            return self
        self._start()
        if not self._grows:
            self._remember_documents(self._sums(X))
            return self
        reader, sums = self.reader(), TermSums()
        for found in reader.learn(X, self.executor):
            sums.add(found, reader.n_ids)
        self.remember(reader, sums.frequency, sums.total, sums.n_documents)
        return self

    def fit_transform(self, X: Iterable[str], y: Any = None) -> Any:
        """Learn the vocabulary, and count its terms."""
        self._start()
        if not self._grows:
            counts = self._counts(X)
            self._remember_documents(TermSums.of(counts))
            return self._weighted(self._presence(counts))
        reader = self.reader()
        parts = [counted(ids, reader.n_ids) for ids in reader.learn(X, self.executor)]
        counts = stacked(parts, reader.n_ids)
        sums = TermSums.of(counts)
        order = self.remember(reader, sums.frequency, sums.total, sums.n_documents)
        reorder_columns(counts, order, self.n_columns, count_others=self.unknown == "count")
        self.document_frequency_ = TermSums.of(counts).frequency
        return self._weighted(self._presence(counts))

    def partial_fit(self, X: Iterable[str], y: Any = None) -> Self:
        """Add the terms of further documents at the end, in the order of their appearance."""
        refuse_limits(self)
        if not hasattr(self, "n_documents_"):
            self._start()
        before = self._document_sums
        self._remember_documents(before + (self._grow(X) if self._grows else self._sums(X)))
        return self

    def merge(self, other: "BagOfWords") -> Self:
        """Add terms and document counts of another bag, as ``partial_fit`` of its documents."""
        refuse_limits(self)
        check_is_fitted(self, "n_documents_")
        refuse_other_options(self, other)
        before, added = self._document_sums, other._document_sums
        if self._grows:  # new terms come in the order of the other
            self.terms_, columns = self.terms_.joined(other.terms_)
            added = added.at_columns(columns, self.n_columns)
            self._reader = None
        self._remember_documents(before + added)
        return self

    def transform(self, X: Iterable[str]) -> Any:
        """Count the terms of the vocabulary in documents."""
        check_is_fitted(self)
        return self._weighted(self._presence(self._counts(X)))

    def read(self, X: Iterable[str]) -> Iterator[TermIds]:
        """The columns of the terms of documents, in parts: term by term, as they stand in the text.

        Terms without a column have −1, or that of unknown terms with ``unknown="count"``.
        """
        self._known()  # made here, not by every thread
        yield from over_parts(self.executor, self._columns, X)

    def reader(self) -> Reader:
        """A reader that learns terms; rare ones are refused unless they may be left out."""
        return Reader(self._analysis(), keeps_rare=not has_limits(self))

    def remember(self, reader: Reader, frequency: Array, total: Array, n_documents: int) -> Array:
        """Keep terms of a reader by their numbers of documents and of occurrences, by id.

        Returns the ids of the terms that are kept, in the order of their columns.
        """
        total = frequency if self.binary else total
        order, self.terms_ = chosen_terms(self, reader, frequency, total, n_documents)
        self._reader = None
        unknown = np.zeros(self.n_columns - order.size, np.int64)
        self.document_frequency_ = np.concatenate([frequency[order], unknown])
        self.n_documents_ = n_documents
        return order

    def columns_of(self, terms: Sequence[str]) -> Array:
        """The column of each term; −1 or the last column if it is unknown."""
        check_is_fitted(self)
        if self.n_features is not None:
            n, of_words = self.n_features, self.analyzer == "word"
            columns = [column_of_term(term, n, of_words=of_words) for term in terms]
            return np.array(columns, dtype=np.int32)
        return np.array([self.vocabulary_.get(term, self._other) for term in terms], np.int32)

    def inverse_transform(self, X: Any) -> list[Array]:
        """The terms of each row that are not 0."""
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
        if self.n_features is not None:
            raise InvalidInput(
                f"BagOfWords(n_features={self.n_features}) keeps no terms: a column is a hash, and "
                "several terms may share it. Use columns_of(terms) for terms that you know, or "
                "n_features=None."
            )
        return _names(self._terms, with_unknown=self.unknown == "count")

    @property
    def n_columns(self) -> int:
        """The number of columns, with that of unknown terms."""
        if self.n_features is not None:
            return int(self.n_features)
        return len(self._terms) + (self.unknown == "count")

    @property
    def vocabulary_(self) -> dict[str, int]:
        """The column of each term."""
        if self.n_features is not None:
            raise AttributeError("n_features keeps no vocabulary.")
        return self._terms.columns

    @property
    def idf_(self) -> Array:
        """The weight of each term: 1 + ln ((n + s) / (n_v + s))."""
        if not self.use_idf:
            raise AttributeError("idf_ needs use_idf=True.")
        check_is_fitted(self)
        smooth = bool(self.smooth_idf)
        return inverse_frequency(self.document_frequency_, self.n_documents_, smooth=smooth)

    def tokens(self, document: str) -> list[str]:
        """The terms of a document, one after the other, also those that are not known."""
        return list(self._analysis().tokens(document))

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        return {name: value for name, value in state.items() if name not in ("_reader", "_given")}

    @property
    def _is_stateless(self) -> bool:
        return super()._is_stateless and not self.use_idf

    @property
    def _counts_documents(self) -> bool:
        """Whether the documents with each term are counted; of hashed columns only for idf."""
        return self.n_features is None or self.use_idf

    @property
    def _grows(self) -> bool:
        return self.vocabulary is None and self.n_features is None

    @property
    def _other(self) -> int:
        """The column of unknown terms."""
        return len(self._terms) if self.unknown == "count" else -1

    @property
    def _terms(self) -> Vocabulary:
        """The terms that were learned; before a fit, those of the given vocabulary."""
        if self._grows or hasattr(self, "terms_"):
            return self.terms_
        if self._given is None:
            self._given = Vocabulary.of(given_terms(self.vocabulary))
        return self._given

    def _analysis(self) -> Analysis:
        return analysis_of(self)

    def _start(self) -> None:
        """Check the arguments, and forget what was learned before."""
        check_options(self)
        warn_of_options(self, self._analysis())
        self._reader = None
        self.n_documents_ = 0
        self.terms_ = Vocabulary.of([] if self.vocabulary is None else given_terms(self.vocabulary))
        self.document_frequency_ = np.zeros(self.n_columns * self._counts_documents, np.int64)

    def _known(self) -> tuple[Reader, Array | None]:
        """A reader of the vocabulary, and the column of each id; made when first needed."""
        if getattr(self, "_reader", None) is None:
            check_options(self)
            if self.n_features is not None:
                self._reader = Reader(self._analysis(), int(self.n_features)), None
            else:
                self._reader = Reader.of(self._analysis(), self._terms)
        assert self._reader is not None
        return self._reader

    def _sums(self, X: Iterable[str]) -> TermSums:
        """The sums of documents by columns that are known; without need of them, their number."""
        if not self._counts_documents:  # so that a batch costs nothing by the number of columns
            return TermSums(n_documents=sum(len(part) for part in document_parts(X)))
        sums = TermSums()
        for found in self.read(X):
            sums.add(found, self.n_columns)
        return sums

    def _grow(self, X: Iterable[str]) -> TermSums:
        """Add the new terms of documents; the sums of the documents, by column."""
        found = with_new_terms(*self._known(), self.terms_, X, self.executor)
        self.terms_, self._reader = found.terms, (found.reader, found.columns)
        return found.sums

    def _columns(self, part: Any) -> TermIds:
        """The columns of the terms of an Arrow array of documents."""
        reader, columns = self._known()
        ids, stops = reader.ids(part, grow=False)
        if columns is not None:
            ids = np.append(columns, np.int32(-1))[ids]
        if self.unknown == "count":
            ids[ids < 0] = self._other
        return TermIds(ids, stops)

    def _counts(self, X: Iterable[str]) -> Any:
        """The counts of known terms."""
        self._known()
        parts = over_parts(self.executor, self._counts_of_part, X)
        return stacked(list(parts), self.n_columns)

    def _counts_of_part(self, part: Any) -> Any:
        return counted(self._columns(part), self.n_columns)

    def _presence(self, counts: Any) -> Any:
        if self.binary:
            counts.data.fill(1)
        return counts

    @property
    def _document_sums(self) -> TermSums:
        """The documents so far."""
        return TermSums(self.document_frequency_, self.document_frequency_, self.n_documents_)

    def _remember_documents(self, sums: TermSums) -> None:
        self.n_documents_ = sums.n_documents
        if self._counts_documents:
            self.document_frequency_ = sums.wider(self.n_columns).frequency

    def _weighted(self, counts: Any) -> Any:
        if not (self.use_idf or self.sublinear_tf or self.norm):
            check_counts(counts.data, self.dtype)
            out = counts.astype(self.dtype, copy=False)
        else:
            idf = self.idf_ if self.use_idf else None
            out = weighted(counts, idf, sublinear=bool(self.sublinear_tf), norm=self.norm)
        if self.n_features is None:  # models that are fitted to it name its columns
            out.column_names = partial(_names, self._terms, with_unknown=self.unknown == "count")
        return out

    def check_saved(self) -> None:
        """Terms that occur once, each in at most as many documents as there are."""
        check_frequencies(self, self.terms_, self.document_frequency_, self.n_documents_)


def _names(terms: Vocabulary, *, with_unknown: bool) -> Array:
    """The terms by column, and the name of the column of unknown ones."""
    return np.array([*terms.names, *([UNKNOWN_NAME] if with_unknown else [])], dtype=object)


# ── Which terms are kept, by the number of documents with them; in the order of the text ──────────

MOST_TERMS = 1_000_000  # that are hardly repeated; a language has fewer


def chosen_terms(
    options: WordOptions, reader: Reader, frequency: Array, total: Array, n_documents: int
) -> tuple[Array, Vocabulary]:
    """The ids of the terms of a reader that are kept, in order, and the terms.

    ``frequency`` is the number of documents with each id and ``total`` that of its occurrences.
    """
    import pyarrow.compute as pc

    seen = np.flatnonzero(frequency[: reader.n_ids])
    if options.max_features is None:  # ties need all terms in order
        seen = seen[kept_terms(options, frequency[seen], total[seen], n_documents)]
    names = reader.names().take(seen)
    in_order = pc.sort_indices(names).to_numpy()  # bytes of UTF-8 are in the order of code points
    seen = seen[in_order]
    kept = kept_terms(options, frequency[seen], total[seen], n_documents)
    return seen[kept], Vocabulary.of_arrow(names.take(in_order[kept]))


def kept_terms(options: WordOptions, frequency: Array, total: Array, n_documents: int) -> Array:
    """Which terms are neither too rare nor too frequent: places in ``frequency``.

    ``frequency`` is the number of documents with each term and ``total`` that of its occurrences,
    in the order of the terms.
    """
    most = _number(options.max_df, n_documents)
    fewest = _number(options.min_df, n_documents)
    kept = np.flatnonzero((frequency <= most) & (frequency >= fewest))
    if options.max_features is not None and kept.size > options.max_features:
        kept = np.sort(kept[np.argsort(-total[kept])[: options.max_features]])
    elif options.max_features is None:
        refuse_rare_terms(kept.size, int(total.sum()), MOST_TERMS)
    if not kept.size:
        raise InvalidInput(
            "no term is left: the documents have none, or max_df and min_df exclude all. "
            "Check the documents, lower min_df or raise max_df."
        )
    return kept


def _number(limit: float, n_documents: int) -> float:
    return limit if isinstance(limit, Integral) else limit * n_documents


# ── A vocabulary that grows: the terms of further documents come after those that are known ───────


class LearnedTerms(NamedTuple):
    """All terms after further documents, and the sums of these documents by column."""

    terms: Vocabulary
    reader: Reader
    columns: Array | None  # of the ids of the reader; None where each is its own
    sums: TermSums


def with_new_terms(
    reader: Reader,
    columns: Array | None,
    terms: Vocabulary,
    X: Iterable[str],
    executor: str | Executor,
) -> LearnedTerms:
    """Read documents; terms without a column get the next ones, in the order of appearance."""
    sums = TermSums()
    columns = np.arange(reader.n_ids, dtype=np.int32) if columns is None else columns
    for found in reader.learn(X, executor):
        sums.add(found, reader.n_ids)
    frequency = sums.wider(reader.n_ids).frequency[: reader.n_ids]
    columns = np.append(columns, np.full(reader.n_ids - columns.size, -1, np.int32))
    new = np.flatnonzero((frequency > 0) & (columns < 0))
    columns[new] = len(terms) + np.arange(new.size)
    terms = terms + Vocabulary.of_arrow(reader.names().take(new))
    seen = np.flatnonzero(frequency)
    by_column = np.zeros(len(terms), np.int64)
    by_column[columns[seen]] = frequency[seen]
    in_order = columns.size == len(terms) and (np.diff(columns) == 1).all()
    sums = TermSums(by_column, by_column, sums.n_documents)
    return LearnedTerms(terms, reader, None if in_order else columns, sums)
