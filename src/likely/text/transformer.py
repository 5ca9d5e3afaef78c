"""What transformers of documents share: scikit-learn's tags, and an output that is no frame.

Abstract: ``BagOfWords`` and ``TokenIds`` learn and transform.
"""

from typing import ClassVar, Self

from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags

from likely.errors import InvalidInput


class DocumentTransformer(  # type: ignore[call-arg]  # scikit-learn has no annotations
    TransformerMixin, BaseEstimator, auto_wrap_output_keys=None
):
    """A transformer whose rows are texts."""

    why_no_frame: ClassVar[str]  # what it gives, and what to do instead

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
        return tags
