"""Words weighted by how differently the classes use them: log-count ratios.

    p_kv = (α + N_kv) / Σ_u (α + N_ku)        q_kv = the same of all other classes together
    r_kv = log p_kv − log q_kv                N_kv the counts of word v in class k

    two classes    x'_v = r_1v x_v            more    x'_v = s_v x_v,  s_v² = Σ_k π_k r_kv²

A linear model of x' with a penalty shrinks its predictor towards that of naive Bayes, whose weight
of x'_v is 1, instead of towards words that all say the same.  For two classes this is the NB-SVM of
Wang and Manning.  For more, each class would have its own columns; one matrix for all of them is
scaled by the root mean square of the ratios over the classes, with π_k the share of class k.  For
two classes s_v = |r_1v|, and a sign is nothing to a linear model.

References
----------
Wang & Manning, Baselines and bigrams: simple, good sentiment and topic classification, ACL 2012.
"""

from typing import Any, ClassVar, Self, final

import numpy as np
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from likely._typing import Array
from likely.data.schema import Schema
from likely.distributions.multinomial import Multinomial
from likely.errors import InvalidInput
from likely.inputs.estimators import Estimator, naming_columns, refuse_unless_number
from likely.inputs.rows import RowExtras, check_rows, encode_new_rows
from likely.objectives.components import total
from likely.storage.declarations import FITTED_CLASSES, FITTED_COLUMNS, Numbers, SameCount, Saved


@final
class LogCountRatios(OneToOneFeatureMixin, TransformerMixin, Estimator):
    """Counts or presence of words, each times its log-count ratio between the classes.

    Parameters
    ----------
    smoothing : float, default=1.0
        Pseudo-counts α of every word in every class, above 0.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    ratios_ : array of shape (n_features,)
        What each column is multiplied by: for two classes the log-count ratio of the second
        against the first, for more the root mean square of those of each class against the others.

    Examples
    --------
    >>> import numpy as np
    >>> from likely import LogCountRatios
    >>> X = np.array([[1, 1, 0], [1, 0, 1], [1, 0, 1]])
    >>> LogCountRatios().fit(X, ["ham", "spam", "spam"]).ratios_.round(2)
    array([ 0.07, -1.03,  0.76])
    """

    saved: ClassVar = (
        FITTED_COLUMNS
        | FITTED_CLASSES
        | Saved(
            {"schema_": Schema, "ratios_": Numbers(Array, "finite")},
            rules=(
                SameCount("n_features_in_", "schema_.kinds", "ratios_"),
                SameCount(1, "ratios_.shape"),
            ),
        )
    )

    schema_: Schema

    def __init__(self, smoothing: float = 1.0) -> None:
        self.smoothing = smoothing

    @naming_columns
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the ratios from counts X (dense or CSR) and labels y."""
        refuse_unless_number("smoothing", self.smoothing, lowest=0.0, advice="Use 1.0.")
        if not self.smoothing > 0:
            raise InvalidInput(
                "smoothing is 0; above 0 was expected, because a word of one class alone would "
                "have an infinite ratio. Use 1.0."
            )
        rows = check_rows(self, X, y, RowExtras(sample_weight), target="class").as_numbers()
        if len(rows.classes) < 2:
            raise InvalidInput(
                f"y has one class, {rows.classes[0]}; a ratio needs two or more. Give rows of "
                "another class."
            )
        totals = total(Multinomial, len(rows.classes), rows.blocks, rows.executor)
        self.classes_, self.schema_ = rows.classes, rows.coding
        self.ratios_ = _scale(totals.statistics.counts, totals.count, float(self.smoothing))
        return self

    @naming_columns
    def transform(self, X: Any) -> Any:
        """X with its columns multiplied by ``ratios_``; CSR stays CSR."""
        check_is_fitted(self)
        stored: Any = encode_new_rows(self, self.schema_, X).design.stored()
        Multinomial.check(stored)
        if isinstance(stored, np.ndarray):
            return stored * self.ratios_
        out = stored.astype(float)  # a copy
        out.data *= self.ratios_[out.indices]
        return out

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.target_tags.required = True
        return tags


def _scale(counts: Array, n_rows: Array, smoothing: float) -> Array:
    """r of the second class of two; s of more, one class at a time."""
    everything, share = counts.sum(axis=0), n_rows / n_rows.sum()
    if len(counts) == 2:
        return _log_share(counts[1] + smoothing) - _log_share(counts[0] + smoothing)
    square = np.zeros(counts.shape[1])
    for own, weight in zip(counts, share, strict=True):
        ratio = _log_share(own + smoothing) - _log_share(everything - own + smoothing)
        square += weight * ratio**2
    return np.sqrt(square)


def _log_share(counts: Array) -> Array:
    return np.log(counts) - np.log(counts.sum())
