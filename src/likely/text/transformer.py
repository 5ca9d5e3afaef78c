"""What transformers of documents share: scikit-learn's tags, and an output that is no frame.

Abstract: ``BagOfWords`` and ``TokenIds`` learn and transform.
"""

from collections.abc import Mapping, Sequence, Set
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from likely.errors import InvalidInput
from likely.inputs.parameters import Estimator


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
