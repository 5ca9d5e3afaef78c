"""The sealed test set in Python: the training rows, and counted evaluations.

Labels are in no attribute of the object.  It is not an array, cannot be iterated, compared,
calculated with, copied or pickled, and a function that tries gets ``SealedData``.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Never, NoReturn, final

from likely.data.frames import frame_of
from likely.errors import SealedData
from likely.sealing.final_score import FinalScore, Scorer
from likely.sealing.folder import SealFolder
from likely.sealing.ledger import Entry, LedgerVerdict
from likely.sealing.manifest import Manifest
from likely.sealing.recognition import evaluations_used, log_event


class _NotThere(SealedData, AttributeError):
    """An attribute of arrays or tables; ``hasattr`` is still false."""


@final
class Sealed:
    """A table of which some rows are sealed; made by ``likely.seal`` or ``likely.open_seal``.

    Attributes
    ----------
    train : data frame
        The rows that are not sealed, with the target; a frame of the sealed library, else a
        ``pyarrow.Table``.
    target : str
    evaluations, budget : int
        The number of evaluations of the sealed rows so far, and the number allowed.
    notes : tuple of str
        Notes about the split.
    manifest : Manifest
        The facts recorded when the rows were sealed.
    path : pathlib.Path
        The folder.
    """

    __slots__ = ("__weakref__", "_final", "_folder")

    _folder: SealFolder
    _final: Callable[..., FinalScore]  # fits and scores; passed in: sealing has no models

    def __init__(self, folder: SealFolder, final: Callable[..., FinalScore]) -> None:
        object.__setattr__(self, "_folder", folder)
        object.__setattr__(self, "_final", final)

    @property
    def path(self) -> Path:
        return self._folder.path

    @property
    def name(self) -> str:
        return self.manifest.name

    @property
    def manifest(self) -> Manifest:
        return self._folder.manifest

    @property
    def target(self) -> str:
        return self.manifest.target

    @property
    def train(self) -> Any:
        return frame_of(self._folder.train, self.manifest.library)

    @property
    def evaluations(self) -> int:
        return self._folder.evaluations()

    @property
    def budget(self) -> int:
        return self.manifest.budget

    @property
    def notes(self) -> tuple[str, ...]:
        return self.manifest.notes

    def ledger(self) -> list[Entry]:
        """All events so far, oldest first."""
        return self._folder.ledger.entries()

    def verify(self) -> LedgerVerdict:
        """Whether ledger and files are unchanged."""
        return self._folder.ledger.verdict()

    def test_features(self) -> Any:
        """The features of the sealed rows, to be predicted by a tool of your own.

        A data frame as ``train`` is one, without the target, and with a key of each row in the
        column ``sealed_row``, which ``final(predictions=...)`` needs.  The ledger records this.
        """
        features = self._folder.keyed_features()
        log_event(self._folder, "predict", {"data": "test features", "rows": len(features)})
        return frame_of(features, self.manifest.library)

    def final(
        self,
        estimator: Any = None,
        *,
        predictions: Any = None,
        name: str = "predictions",
        again: str | None = None,
        escrow: str | Path | None = None,
        cv_estimate: float | None = None,
        scorer: Scorer | None = None,
    ) -> FinalScore:
        """Fit a fresh copy of the estimator to the training rows and score it on the sealed ones.

        This uses one evaluation.  A fitted model is not used as it is, because it may have seen
        sealed rows.  Predictions that another tool made for ``test_features()`` are scored as they
        are; the result says that their training rows are not known.

        Parameters
        ----------
        estimator : estimator, name or study
            A classifier or regressor with scikit-learn's interface, without preparation of the
            columns (``likely.Prepared`` adds it); or the name of a model, such as ``"logistic"``,
            or a study of ``tune``, both with preparation.
        predictions : data frame, path of a file, or array
            In place of an estimator: one prediction for each sealed row.  A frame or a file has
            the column ``sealed_row`` of ``test_features()``, in any order, and either the
            probability of each class (``p_<class>``), or ``prediction``: classes, or means of a
            numeric target.  An array is in the order of ``test_features()``: (n, K)
            probabilities with the classes in sorted (or their given) order, or (n,) classes or
            means.  Probabilities are scored by log loss, classes by error rate, means by mean
            squared error.
        name : str
            What made the predictions, for the ledger.
        again : str, optional
            The reason for an evaluation beyond the budget; it is kept in the ledger.
        escrow : path, optional
            The file of labels, where they are kept elsewhere.
        cv_estimate : float, optional
            The cross-validation estimate of the score, to be shown with it.
        scorer : Scorer, optional
            The metric; by default that of the task, as in ``likely final``: log loss of classes,
            negative log-likelihood of numbers.  A model without probabilities has the error rate,
            and one without a density the mean squared error.
        """
        return self._final(
            self._folder,
            estimator,
            predictions=predictions,
            name=name,
            again=again,
            escrow=escrow,
            cv_estimate=cv_estimate,
            scorer=scorer,
        )

    def __repr__(self) -> str:
        manifest = self.manifest
        return (
            f"<Sealed {self.path.name}: {manifest.n_train:,} rows to train on, "
            f"{manifest.n_test:,} sealed, target {manifest.target!r}; "
            f"{evaluations_used(self._folder)}>"
        )

    def _repr_html_(self) -> str:
        from html import escape

        return f"<p>{escape(repr(self)[1:-1])}</p>"

    def __setattr__(self, name: str, value: object) -> Never:
        raise SealedData(f"{name} of a sealed test set cannot be set; seal the data again.")

    def __delattr__(self, name: str) -> Never:
        raise SealedData(f"{name} of a sealed test set cannot be removed.")

    def __getattr__(self, name: str) -> Never:
        if name.startswith("_"):
            raise AttributeError(f"A sealed test set has no {name}.")
        raise _NotThere(str(self._refusal(f"something with {name}")))

    @property
    def __array_interface__(self) -> Never:
        """Refuse NumPy, which would otherwise make an object array."""
        raise self._refusal("an array")

    def __len__(self) -> Never:
        raise self._refusal("a sequence")

    def __iter__(self) -> Never:
        raise self._refusal("a sequence")

    def __getitem__(self, key: object) -> Never:
        raise self._refusal("a sequence or a table")

    def __contains__(self, key: object) -> Never:
        raise self._refusal("a collection")

    def __eq__(self, other: object) -> Never:
        raise self._refusal("a value to compare")

    def __lt__(self, other: object) -> Never:
        raise self._refusal("a value to compare")

    def __add__(self, other: object) -> Never:
        raise self._refusal("a number")

    __ne__ = __le__ = __gt__ = __ge__ = __lt__
    __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __matmul__ = __rmatmul__ = __add__
    __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __add__
    __pow__ = __rpow__ = __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __add__
    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        return True  # without this, ``bool`` would call ``len``

    def __float__(self) -> Never:
        raise self._refusal("a number")

    __int__ = __index__ = __neg__ = __abs__ = __float__

    def __fspath__(self) -> Never:
        raise self._refusal("a path; its folder is .path")

    def __copy__(self) -> Never:
        raise self._refusal("something to copy")

    def __deepcopy__(self, memo: object) -> Never:
        raise self._refusal("something to copy")

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise self._refusal("something to pickle")

    def __getstate__(self) -> Never:
        raise self._refusal("something to pickle")

    def _refusal(self, what: str) -> SealedData:
        return SealedData(
            f"{self.path.name} is a sealed test set, not {what}. Train, compare and tune on its "
            "rows with .train; score one model, once, with .final(estimator)."
        )


def folder_of(sealed: Sealed) -> SealFolder:
    """The folder of a seal, with its manifest as it was read."""
    return sealed._folder
