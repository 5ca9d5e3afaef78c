"""A classifier of raw text: words and a model, fitted and applied together.

    documents → terms → counts of each class → model        fit: one pass, no matrix
                terms of held-out documents → temperature   from the same pass
    documents → terms → Σ over terms of the model's weights  predict: one pass, no matrix

The numbers are those of ``make_pipeline(words, model)``, up to rounding.  Naive Bayes of counts
or presences is fitted from the sums of each class; other models, and weights of tf-idf, are
fitted to the matrix of counts that ``words`` gives.
"""

from collections.abc import Callable, Sequence
from copy import copy
from functools import partial
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.base import ClassifierMixin, clone
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from likely._typing import Array, Codes
from likely.data.frames import library_of
from likely.errors import InvalidInput
from likely.generative.class_counts import (
    ClassCounts,
    ClassSums,
    fit_class_counts,
    is_of_counts,
    merges_columns,
)
from likely.generative.events import refuse_partial
from likely.generative.naive_bayes import NaiveBayes
from likely.inputs.estimators import Estimator, unchanged_if_refused
from likely.inputs.soft_labels import ClassProbabilities
from likely.inputs.tables import is_file, own_columns
from likely.inputs.targets import all_classes, is_soft
from likely.names import has_method
from likely.output.description import Description, NamedColumn, NamedTable, settings_of
from likely.output.formatting import count
from likely.storage.declarations import FITTED_CLASSES, MODEL, NAMES, Numbers, Present, Same, Saved
from likely.storage.values import same_count
from likely.text.bag_of_words import BagOfWords
from likely.text.documents import documents
from likely.text.labelled_documents import (
    MOST_IDS,
    HeldOutDocuments,
    KeptDocuments,
    LabelledBatch,
    LabelledDocuments,
    batch_of,
    labelled_documents,
)
from likely.text.linear_scores import (
    LinearScores,
    explain_document,
    linear_scores,
    log_posterior,
    most_probable,
    two_classes,
)
from likely.text.term_counts import TermSums
from likely.text.text_explanation import TextExplanation

FEWEST = 20  # documents of which smoothing and temperature are chosen by default
MOST_WORDS = 20  # of each class, in a description
EVIDENCE = (
    "Evidence: the mean log-odds, in nats, for the true class from this word alone, over the "
    "documents of the class and before calibration."
)
WEIGHTS = "Weight: what one count adds to the log-odds of the class against the mean of the others."
HASHED = "Columns are hashes, which have no names: several words may share a column."
ADVICE = "Read it into a frame first, or use NaiveBayes on counts, which streams it."


class TextClassifier(ClassProbabilities, ClassifierMixin, Estimator):
    """A classifier that takes documents as they are: words, and a model of their counts.

    Parameters
    ----------
    model : classifier, optional
        A model of counts; by default ``NaiveBayes("multinomial", smoothing="auto",
        calibrate="length")``, whose probabilities are calibrated on documents that were held out.
        Of fewer than 20 documents nothing can be chosen: they have one pseudo-count for each word,
        and are not calibrated.  Documents of one class are treated as the model treats rows of one
        class: naive Bayes gives it probability 1; linear models refuse them.
    words : BagOfWords, optional
        How documents become counts; by default ``BagOfWords()``.  With ``n_features=2**20``
        columns are hashed, and ``partial_fit`` costs what its documents cost, not what the
        columns cost.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    words_ : BagOfWords
        The fitted words.
    model_ : classifier
        The fitted model.  After ``partial_fit`` it is computed when it is first needed.
    n_documents_ : int
        Documents of the fit.

    Examples
    --------
    >>> from likely import TextClassifier
    >>> texts = ["cheap pills, buy now", "lunch at noon?", "buy cheap watches", "see you at lunch"]
    >>> model = TextClassifier().fit(texts, ["spam", "ham", "spam", "ham"])
    >>> model.predict(["buy pills", "noon"])
    array(['spam', 'ham'], dtype='<U4')
    >>> model.predict_proba(["buy pills"]).round(3)
    array([[0.143, 0.857]])
    """

    saved: ClassVar = FITTED_CLASSES | Saved(
        {
            "words_": BagOfWords,
            "model_": MODEL,
            "n_documents_": Numbers(int, "not negative"),
        },
        {"feature_names_in_": NAMES, "n_features_in_": Numbers(int, "not negative")},
        rules=(
            Present("words_.n_documents_"),
            Present("model_.classes_"),
            Same("classes_", "model_.classes_"),
        ),
    )

    def __init__(self, model: Any = None, words: BagOfWords | None = None) -> None:
        self.model = model
        self.words = words

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to documents X with labels y.

        X is a list, an array, a column or a frame of one column of text; y and sample_weight may
        be names of other columns of a frame.  X may be a file (its path, or ``likely.read``), with
        one column of text beside the columns that y and sample_weight name: it is read in pieces,
        and a missing text is an empty document.  A file of more than 4 million terms is calibrated
        on a sample of its documents.
        """
        words, model = self._new_words(), self._new_model()
        if not is_of_sums(model, words) or is_soft(y):
            return self._fit_to_matrix(words, X, y, sample_weight)
        given = labelled_documents(self, X, y, sample_weight)
        kept = None
        if model.calibrate is not None:
            kept = KeptDocuments(None if given.in_memory else MOST_IDS)
        sums, columns = learned_sums(words, given, kept)
        with unchanged_if_refused(self):
            self._remember(words, given.classes, words.n_documents_)
            self._sums = sums
            few = kept is not None and (kept.n_rows < FEWEST or len(given.classes) < 2)
            if kept is not None and not (few and self.model is None):
                self.model_ = self._calibrated(model, kept, columns)
            self.complete_fit()
        return self

    def model_steps(
        self, X: Any, y: Any, steps_of: Callable[[Any, Any, Any], Sequence[Any]]
    ) -> list[Self]:
        """This classifier at the start and after each step of the search of its model.

        ``steps_of(model, counts, y)`` has the model at the start and after each step, of the counts
        of these documents.  This classifier itself is not changed.
        """
        classifier: Self = clone(self)
        words, (X, y) = classifier._new_words(), own_columns(X, y)
        counts = words.fit_transform(X)
        models = steps_of(classifier._new_model(), counts, y)
        classifier._remember(words, models[-1].classes_, counts.shape[0])
        steps = [copy(classifier) for _ in models]
        for step, model in zip(steps, models, strict=True):
            step.model_ = model
        return steps

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add documents to the fit.

        ``classes``, in the first call, names all classes that will occur.  New terms are added to
        the vocabulary; hashed columns (``BagOfWords(n_features=2**20)``) need none, and are faster.
        Batches cannot be calibrated: by default the model is ``NaiveBayes("multinomial",
        smoothing="auto")``, and too sure of itself; a model with ``calibrate`` is refused.
        Models that are not sums of counts need columns that do not grow: hashed ones, or those of
        a given vocabulary.  With ``use_idf`` the weights of a batch are those of the documents so
        far, and are not changed when more come.
        """
        if is_file(X):
            raise InvalidInput(
                "X is a file; partial_fit takes documents in memory. Call fit, which streams it."
            )
        first = "words_" not in vars(self)
        known = all_classes(classes, None if first else self.classes_)
        with unchanged_if_refused(self):
            self._refuse_calibrated()
            if not is_of_sums(self._streamed_model(), self._new_words()):
                return self._continue_with_matrix(X, y, known, sample_weight, first=first)
            batch = batch_of(self, X, y, sample_weight, known)
            words = self._new_words() if first else self.words_
            once = bool(words.binary)
            sums = ClassSums.of_classes(len(known), 0, once=once) if first else self._running()
            add_batch(words, sums, batch, self._kept)
            self._remember(words, known, len(batch.codes) + (0 if first else self.n_documents_))
            self._sums = sums
        return self

    @property
    def model_(self) -> Any:
        """The fitted model."""
        self.complete_fit()
        check_is_fitted(self)
        return vars(self)["model_"]

    @model_.setter
    def model_(self, model: Any) -> None:
        self.__dict__["model_"] = model

    def keep_documents(self) -> Self:
        """Internal: keep a sample of the documents of batches, on which to calibrate the model.

        The columns of the words must not grow, and no batch was added yet.
        """
        model = self._new_model()
        if is_of_counts(model) and model.calibrate is not None:
            self._kept = KeptDocuments(MOST_IDS)
        return self

    def complete_fit(self) -> None:
        """Internal: make the model of the sums that were collected, if that was not done yet."""
        if self._sums is None or "model_" in vars(self):
            return
        if self._kept is not None:
            columns = np.arange(self.words_.n_columns, dtype=np.int32)
            self.model_ = self._calibrated(self._new_model(), self._kept, columns)
        else:
            counts = self._sums.counts
            self.model_ = fit_class_counts(self._streamed_model(), counts, self.classes_)

    def predict_log_proba(self, X: Any) -> Array:
        """log p(k | document), (n, n_classes)."""
        check_is_fitted(self)
        model, scores = self.model_, self._linear_scores()
        if scores is None:
            log_proba: Array = model.predict_log_proba(self.words_.transform(X))
            return log_proba
        return scores.of_documents(self.words_, X, partial(log_posterior, model))

    def predict(self, X: Any) -> Array:
        """The most probable class of each document."""
        check_is_fitted(self)
        model, scores = self.model_, self._linear_scores()
        if scores is None:
            labels: Array = model.predict(self.words_.transform(X))
            return labels
        return self.classes_[scores.of_documents(self.words_, X, partial(most_probable, model))]

    def explain(
        self, X: Any, against: Any = None, *, label: Any = None
    ) -> TextExplanation | list[TextExplanation]:
        """What each word of a document adds to the log-odds of its class.

        X is a document, or a list of them.  Explained is the most probable class, unless ``label``
        names one, against the most probable of the others, unless ``against`` names one.  The
        model is a naive Bayes, or a softmax or logistic regression.  Its frames are of the library
        of X, where X is a column of a data frame.
        """
        check_is_fitted(self)
        if not isinstance(X, str):
            found = [self._explain_one(each, against, label) for each in documents(X).to_pylist()]
            return [each.with_library(library_of(X)) for each in found]
        return self._explain_one(X, against, label)

    def informative_features(self, top: int = 10) -> dict[Any, dict[str, float]]:
        """The most informative words for each class, in nats per document.

        The evidence of a word is the mean log-odds that it gives for the class over the documents
        of the class, before calibration; the model is a naive Bayes.
        """
        model = self._model_with_names()
        if not has_method(model, "informative_features"):
            raise InvalidInput(
                f"{type(model).__name__} has no evidence of words; a naive Bayes was expected. "
                "Use describe(), which shows the weights of words, or model=NaiveBayes()."
            )
        found: dict[Any, dict[str, float]] = model.informative_features(top)
        return found

    def describe(self) -> Description:
        """The most informative words of each class, and how many documents and words there are.

        Naive Bayes shows the evidence of words, softmax and logistic regression their weights; a
        model of another library, or of hashed columns, which have no words, its settings.
        """
        model, words = self._model_with_names(), self.words_
        title = (
            f"TextClassifier: {count(len(self.classes_), 'class', 'classes')}, "
            f"{count(words.n_columns, 'column of words', 'columns of words')}, "
            f"{count(self.n_documents_, 'document')}"
        )
        if words.n_features is not None:
            return settings_of(model).also(title=title, notes=(HASHED,))
        value, note, found = "evidence", EVIDENCE, None
        if has_method(model, "informative_features"):
            found = model.informative_features(MOST_WORDS)
        elif (scores := linear_scores(model, once=bool(words.binary))) is not None:
            value, note, found = "weight", WEIGHTS, scores.largest(model, MOST_WORDS)
        if found is None:
            return settings_of(model).also(title=title)
        table = NamedTable(
            "words",
            (
                NamedColumn("class", "class"),
                NamedColumn("word", "word"),
                NamedColumn(value, value, "signed"),
            ),
            tuple(
                (str(label), word, x)
                for label, own in found.items()
                for word, x in own.items()
                if x > 0
            ),
            noun="word",
            title=f"The words of each class with the largest {value}, at most {MOST_WORDS}",
        )
        return Description(title, groups=tuple(map(str, found)), tables=(table,), notes=(note,))

    def _model_with_names(self) -> Any:
        """The fitted model, whose columns have the names of the words; hashed ones have none."""
        check_is_fitted(self)
        model = copy(self.model_)
        if self.words_.n_features is None:
            model.column_names_ = self.words_.get_feature_names_out()
        return model

    def set_params(self, **params: Any) -> Self:
        """Set arguments; those of ``words`` and ``model`` by name, also where these are None."""
        nested = {name.partition("__")[0] for name in params if "__" in name}
        if "words" in nested and self.words is None and "words" not in params:
            self.words = BagOfWords()
        if "model" in nested and self.model is None and "model" not in params:
            self.model = self._new_model()
        changed: Self = super().set_params(**params)
        return changed

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return "words_" in vars(self)

    def __getstate__(self) -> dict[str, Any]:
        self.complete_fit()
        state = dict(super().__getstate__())
        gone = ("_sums", "_scores", "_kept")
        return {name: value for name, value in state.items() if name not in gone}

    # ── parts ───────────────────────────────────────────────────────────────────────────

    _sums: ClassSums | None = None  # of each class, where the model is a function of them
    _scores: tuple[Any, LinearScores | None] | None = None  # of which model they are
    _kept: KeptDocuments | None = None  # of batches

    def _new_model(self) -> Any:
        if self.model is None:
            return NaiveBayes("multinomial", smoothing="auto", calibrate="length")
        if isinstance(self.model, BagOfWords):
            raise InvalidInput(
                f"model={self.model!r:.60} was given; a classifier was expected, and words are the "
                "second argument. Write TextClassifier(words=BagOfWords(...))."
            )
        methods = has_method(self.model, "fit") and has_method(self.model, "predict")
        if not methods or isinstance(self.model, type):
            raise InvalidInput(
                f"model={self.model!r:.60} was given; a classifier was expected. Write, for "
                'instance, NaiveBayes("multinomial").'
            )
        kind = get_tags(self.model).estimator_type
        if kind not in (None, "classifier"):
            raise InvalidInput(
                f"model={self.model!r:.60} was given, a {kind.replace('_', ' ')}; a classifier was "
                'expected. Write, for instance, NaiveBayes("multinomial").'
            )
        return clone(self.model)

    def _calibrated(self, model: NaiveBayes, kept: KeptDocuments, columns: Codes) -> NaiveBayes:
        """The model of the sums, calibrated on kept documents."""
        sums, lumps = self._sums, merges_columns(model)
        assert sums is not None  # the documents were added to them
        held_out = HeldOutDocuments(kept, columns, sums, model.event, lumps=lumps)
        return fit_class_counts(model, sums.counts, self.classes_, held_out)

    def _streamed_model(self) -> Any:
        """The model of batches, and of few documents: by default it is not calibrated."""
        if self.model is not None:
            return self._new_model()
        many = vars(self).get("n_documents_", 0) >= FEWEST
        return NaiveBayes("multinomial", smoothing="auto" if many else 1.0)

    def _refuse_calibrated(self) -> None:
        """Refuse batches for a model that is calibrated, by its arguments or by ``fit``."""
        model = self._streamed_model()
        if isinstance(model, NaiveBayes) and self._kept is None:
            refuse_partial(model.unlabelled, model.calibrate, model.discretize)
        fitted = vars(self).get("model_")
        if self.model is None and fitted is not None and fitted.calibrate is not None:
            raise InvalidInput(
                "fit has calibrated the model on all of its documents, and partial_fit cannot. "
                "Call fit on all documents, or begin with partial_fit, which is not calibrated."
            )

    def _new_words(self) -> BagOfWords:
        if self.words is None:
            return BagOfWords()
        if not isinstance(self.words, BagOfWords):
            raise InvalidInput(
                f"words={self.words!r:.60} was given; a BagOfWords was expected. Write "
                "BagOfWords(...), which takes the arguments of CountVectorizer."
            )
        words: BagOfWords = clone(self.words)
        return words

    def _remember(self, words: BagOfWords, classes: Array, n_documents: int) -> None:
        self.words_, self.classes_, self.n_documents_ = words, classes, n_documents
        self._sums = self._scores = None
        self.__dict__.pop("model_", None)

    def _running(self) -> ClassSums:
        """The sums of the documents so far; those of a model that was loaded are in it."""
        if self._sums is None:
            totals = self.model_.totals_
            counts = ClassCounts(totals.statistics.parts[0].feature_counts().T, totals.count)
            self._sums = ClassSums(counts, once=bool(self.words_.binary))
        return self._sums.copied() if "model_" in vars(self) else self._sums

    def _linear_scores(self) -> LinearScores | None:
        """The weights of the terms, kept for the next prediction; None for other models."""
        model, words = self.model_, self.words_
        if not is_counted(words):
            return None
        if self._scores is None or self._scores[0] is not model:
            self._scores = (model, self._checked(linear_scores(model, once=bool(words.binary))))
        return self._scores[1]

    def _checked(self, scores: LinearScores | None) -> LinearScores | None:
        """Refuse weights of other columns than those of the words: loops trust the columns."""
        n_columns = self.words_.n_columns
        if scores is not None and len(scores.weights) != n_columns:
            raise InvalidInput(
                f"the model has weights of {len(scores.weights)} columns, and the words have "
                f"{n_columns}; they must be fitted together. Fit the classifier again."
            )
        return scores

    def _explain_one(self, document: str, against: Any, label: Any) -> TextExplanation:
        model, words = self.model_, self.words_
        scores = self._checked(linear_scores(model, once=bool(words.binary)))
        if scores is None:
            raise InvalidInput(
                f"{type(model).__name__} has no weights of words that could be shown; a naive "
                "Bayes, softmax or logistic regression was expected. Use one of these, or "
                "likely.explain on counts."
            )
        log_proba = self.predict_log_proba([document])[0]
        pair = two_classes(log_proba, self.classes_, label, against)
        probability = float(np.exp(log_proba[pair[0]]))
        return explain_document(words, model, scores, document, pair, probability)

    def _fit_to_matrix(self, words: BagOfWords, X: Any, y: Any, sample_weight: Any) -> Self:
        if is_file(X):
            raise InvalidInput(
                f"X is a file; {type(self._new_model()).__name__} with these words needs the "
                f"counts of all documents in memory. {ADVICE}"
            )
        X, y, sample_weight = own_columns(X, y, sample_weight)
        counts = words.fit_transform(X)
        weight = {} if sample_weight is None else {"sample_weight": self._weight(sample_weight)}
        model = self._new_model().fit(counts, y, **weight)
        self._remember(words, model.classes_, counts.shape[0])
        self.model_ = model
        return self

    def _continue_with_matrix(
        self, X: Any, y: Any, classes: Array, sample_weight: Any, *, first: bool
    ) -> Self:
        """Any model with ``partial_fit``, on columns that do not change."""
        refuse_stream(self._streamed_model(), self._new_words())
        X, y, sample_weight = own_columns(X, y, sample_weight)
        batch = documents(X)  # read twice
        words = self._new_words() if first else self.words_
        model = self._streamed_model() if first else self.model_
        weight = {} if sample_weight is None else {"sample_weight": self._weight(sample_weight)}
        with unchanged_if_refused(words):
            words.partial_fit(batch)
            model = model.partial_fit(words.transform(batch), y, classes=classes, **weight)
        self._remember(words, classes, words.n_documents_)
        self.model_ = model
        return self

    def _weight(self, sample_weight: Any) -> Any:
        model = self._new_model()
        if not has_fit_parameter(model, "sample_weight"):
            raise InvalidInput(
                f"sample_weight was given, and {type(model).__name__}.fit does not take it. "
                "Leave it out, or use a model that takes it."
            )
        return sample_weight

    def check_saved(self) -> None:
        """Refuse a model of other columns than the words."""
        found = vars(self.model_).get("n_features_in_")
        same_count("The columns of the model", found, self.words_.n_columns)


# ── Which way a model is fitted to documents: from counts of each class, or from a matrix ─────────


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


# ── Words, and counts of each class, learned in one pass over labelled documents ──────────────────
# Terms of a vocabulary that is learned are counted by id; those that are kept become columns.

FIRST_ROOM = 1 << 12  # terms, before more are known


class LearnedSums(NamedTuple):
    """The sums of all documents, by column, and the column of each id that was met."""

    sums: ClassSums
    columns: Codes  # −1 without one


def learned_sums(
    words: BagOfWords, given: LabelledDocuments, kept: KeptDocuments | None = None
) -> LearnedSums:
    """The counts of each class, of the terms that ``words`` keeps; it is fitted in the same pass.

    The documents are kept, too, if there is something to keep them in.
    """
    n_classes, once = len(given.classes), bool(words.binary)
    keep = None if kept is None else kept.add
    if not words._grows:
        words.fit([])
        sums = ClassSums.of_classes(n_classes, words.n_columns, once=once)
        for batch in given.batches:
            sums.add(
                batch, ((found, words.n_columns) for found in words.read(batch.documents)), keep
            )
        words._remember_documents(TermSums(sums.frequency.copy(), sums.total, sums.n_documents))
        return LearnedSums(sums.without_frequencies(), np.arange(words.n_columns, dtype=np.int32))
    words._start()
    reader = words.reader()
    sums = ClassSums.of_classes(n_classes, FIRST_ROOM, once=once)
    for batch in given.batches:
        learned = reader.learn(batch.documents, words.executor)
        sums.add(batch, ((found, reader.n_ids) for found in learned), keep)
    order = words.remember(reader, sums.frequency, sums.total, sums.n_documents)
    columns = np.full(reader.n_ids, -1, np.int32)
    columns[order] = np.arange(order.size)
    return LearnedSums(sums.of_terms(order), columns)


def add_batch(
    words: BagOfWords, sums: ClassSums, batch: LabelledBatch, kept: KeptDocuments | None = None
) -> None:
    """Add the counts of more documents; their new terms are added to ``words``."""
    words.partial_fit(batch.documents)
    found = words.read(batch.documents)
    sums.add(batch, ((ids, words.n_columns) for ids in found), None if kept is None else kept.add)
