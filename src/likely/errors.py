"""Every error and warning `likely` raises on purpose.

One file, although it is long: who catches an error finds all of them here.

LikelyError
├── InvalidInput       the data or an argument cannot be used (is a ValueError)
│   ├── UnknownName    a name that is not among the choices
│   │   ├── UnknownParameter  an estimator has no such parameter (is a TypeError)
│   │   └── UnknownState   a variable has no such state
│   ├── BadCell        a value that its column cannot have, with its position
│   ├── MissingCells   complete rows are needed, and a cell is missing
│   ├── InvalidFile    a file is not as expected; names the file and, if possible, the line
│   ├── UnsettledColumn  text that may be numbers or dates in several ways
│   ├── CyclicGraph    a directed graph has a cycle; names it
│   ├── ImpossibleEvidence  what was observed has probability 0
│   │   └── ImpossibleSequence  a sequence has probability 0 in a hidden Markov model
│   ├── GraphTooLarge  exact inference needs more memory than it may use
│   └── UnusableRun    a RUN does not exist, is not finished, or must not be overwritten
├── CannotWrite        a file or folder cannot be written (is an OSError)
│   └── InUse          another process is writing to it
├── SealedData         a sealed test set was used as data
├── HonestyRefusal     the score would be misleading, so it is refused
├── BrokenLedger       a seal was changed after it was written
├── TrainingDiverged   a loss became infinite, NaN or far larger than at the start
├── OutOfDeviceMemory  a GPU has too little memory (is a MemoryError)
├── UnsupportedAccess  an algorithm needs more of the data than the executor gives
└── NotConverged       only under `on_not_converged="raise"`

LikelyWarning
├── UnseenCategories   categories not seen in training are ignored
├── SingularCovariance a covariance has no inverse, so its pseudo-inverse is used
├── Separation         responses are separated: the estimate is infinite
├── NarrowIntervals    intervals for y from a family with too small a variance
├── OutsideLink        a predictor for which the link has no mean
├── OutsideFit         rows far outside those of the fit, whose predictions are bounded
├── RedundantColumns   columns that others determine, or constants, which are left out
├── CollapsedComponent a mixture component collapsed onto repeated rows, or onto a line or plane
├── ContinuousColumn   a column of measurements or identifiers is read as states
├── RoundedTables      rows of probabilities were divided by their sums
├── LargeBatch         a batch has more rows than there are
├── AlphabeticalOrder  ordered classes are words, and their order was not given
├── UnscaledColumns    columns are far from the scale that a network needs
├── SortedRows         rows are sorted by their target, and are shuffled inside windows only
├── ShiftedClasses     EM with unlabelled rows moved the class shares far from those of the labels
├── NothingToCalibrate held-out scores do not determine a temperature
├── LinksOutside       a folder of texts has links to files outside it, which are not read
├── SomeSealedRows     data hold a few sealed rows, which the ledger records
├── UnconvergedAnswer  an approximate method of inference stopped before its answer had settled
├── EffectsLeftOut     the importance of columns could not be measured
└── FormatLoss         a file format has no place for a part of a graph, such as its names
"""

import errno
import sys
import warnings
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from math import inf

MOST_LISTED = 60  # choices in a message; a network may have thousands of variables
_ELSEWHERE = {  # names of scikit-learn, statsmodels and others that no letter leads to
    "liblinear": "auto",
    "sag": "sgd",
    "saga": "sgd",
    "svd": "minimum-norm",
    "pinv": "minimum-norm",
    "irls": "newton",
    "ncg": "newton",
    "bfgs": "lbfgs",
    "logistic": "sigmoid",
    "linear": "identity",
}
MOST_COMPARED = 20_000  # choices among which the nearest is sought, in about a second

__all__ = [
    "AlphabeticalOrder",
    "BadCell",
    "BrokenLedger",
    "CannotWrite",
    "CollapsedComponent",
    "ContinuousColumn",
    "CyclicGraph",
    "EffectsLeftOut",
    "FormatLoss",
    "GraphTooLarge",
    "HonestyRefusal",
    "ImpossibleEvidence",
    "ImpossibleSequence",
    "InUse",
    "InvalidFile",
    "InvalidInput",
    "LargeBatch",
    "LikelyError",
    "LikelyWarning",
    "MissingCells",
    "MissingFont",
    "NarrowIntervals",
    "NotAnswered",
    "NotConverged",
    "NothingToCalibrate",
    "OutOfDeviceMemory",
    "OutsideFit",
    "OutsideLink",
    "RedundantColumns",
    "RoundedTables",
    "SealedData",
    "Separation",
    "ShiftedClasses",
    "SingularCovariance",
    "SortedRows",
    "TrainingDiverged",
    "UnconvergedAnswer",
    "UnknownName",
    "UnknownParameter",
    "UnknownState",
    "UnscaledColumns",
    "UnseenCategories",
    "UnsupportedAccess",
]


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn at the user's line: the first outside this package."""
    level, frame = 2, sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").startswith("likely."):
        level, frame = level + 1, frame.f_back  # type: ignore[assignment]  # None ends the loop
    warnings.warn(message, category, stacklevel=level)


class LikelyError(Exception):
    """Base class of all errors."""


class InvalidInput(LikelyError, ValueError):
    """What was given, what was expected, and what to do."""


class UnknownName(InvalidInput):
    """A name that is not among the choices; ``nearest`` is the choice most like it, or None."""

    def __init__(self, kind: str, name: object, choices: Iterable[str]) -> None:
        self._refuse(f"There is no {kind} {name!r}; choose one of", name, sorted(choices))

    def _refuse(self, beginning: str, name: object, choices: Sequence[str]) -> None:
        """The message: its beginning, the choices, and the one that is most like the name."""
        written = {choice.lower(): choice for choice in choices[:MOST_COMPARED]}
        elsewhere = _ELSEWHERE.get(str(name).lower(), "")
        close = [elsewhere] if elsewhere in written else []
        close = close or get_close_matches(str(name).lower(), written, n=1)
        self.nearest = written[close[0]] if close else None
        hint = f" Did you mean {self.nearest!r}?" if close else ""
        shown = ", ".join(choices[:MOST_LISTED])
        more = len(choices) - MOST_LISTED
        shown += f" and {more:,} more" if more > 0 else ""
        Exception.__init__(self, f"{beginning} {shown}.{hint}")


class UnknownParameter(UnknownName, TypeError):
    """An estimator has no such parameter; ``text`` says what another library's is called here."""

    def __init__(self, estimator: str, name: str, known: Sequence[str], text: str = "") -> None:
        self._refuse(f"{estimator} has no parameter {name!r}; its parameters are", name, known)
        if text:
            Exception.__init__(self, f"{estimator} has no parameter {name!r}: {text}.")


class UnknownState(UnknownName):
    """A variable has no such state; its states are listed in their own order."""

    def __init__(self, variable: str, state: str, states: Sequence[str]) -> None:
        self._refuse(f"{variable!r} has no state {state!r}; its states are", state, states)


class BadCell(InvalidInput):
    """A value that its column cannot have.

    Each level adds to the position: a family gives the column among its own, a product
    the column of the table, a block the row, an estimator the name of the column.
    """

    def __init__(self, problem: str, *, row: int, column: int) -> None:
        super().__init__(f"Row {row}, column {column}: {problem}")
        self.problem, self.row, self.column = problem, row, column

    def moved(self, *, row: int | None = None, column: int | None = None) -> "BadCell":
        """The error with the position of the cell in a larger table."""
        return type(self)(
            self.problem,
            row=self.row if row is None else row,
            column=self.column if column is None else column,
        )

    def named(self, names: Sequence[str]) -> InvalidInput:
        """The error with the name of the column in place of its number."""
        return InvalidInput(f"Row {self.row}, column {names[self.column]!r}: {self.problem}")


class MissingCells(InvalidInput):
    """Complete rows are needed; callers that can impute cells by their expectation catch this."""


class InvalidFile(InvalidInput):
    """A file that cannot be read as what it claims to be; perhaps an option or a command helps."""

    def __init__(
        self, path: object, problem: str, *, line: int | None = None, option: str = ""
    ) -> None:
        super().__init__(f"{path}{'' if line is None else f', line {line}'}: {problem}")
        self.path, self.line, self.option, self.next = str(path), line, option, ""


class UnsettledColumn(InvalidInput):
    """A column of text that seems to hold numbers or dates, and an option that may settle it."""

    def __init__(self, message: str, option: str) -> None:
        super().__init__(message)
        self.option = option


class CyclicGraph(InvalidInput):
    """A directed graph with a cycle, which no Bayesian network may have."""

    def __init__(self, cycle: Sequence[str]) -> None:
        shown = " → ".join([*cycle, cycle[0]])
        super().__init__(
            f"The edges have a cycle: {shown}; a directed graph without cycles was expected. "
            "Remove or reverse one of these edges."
        )
        self.cycle = tuple(cycle)


class ImpossibleEvidence(InvalidInput):
    """What was observed has probability 0, so nothing can be concluded from it.

    ``row`` is the row of a table of evidence, from 0; None for one observation.
    """

    def __init__(self, row: int | None = None, *, evidence: bool = True) -> None:
        if not evidence:
            super().__init__(
                "Every configuration has the value 0, so that there is no distribution; a factor "
                "above 0 somewhere was expected. Check which factors exclude each other."
            )
            self.row = None
            return
        where = "The evidence" if row is None else f"The evidence in row {row}"
        remedy = "." if row is None else ", or use impossible='nan' to go on without this row."
        super().__init__(
            f"{where} has probability 0; states that can occur together were expected. "
            f"Check it against the tables of the network{remedy}"
        )
        self.row = row


class ImpossibleSequence(ImpossibleEvidence):
    """A sequence has probability 0 in a hidden Markov model; ``sequence`` is its number, from 0."""

    def __init__(self, sequence: int) -> None:
        InvalidInput.__init__(
            self,
            f"Sequence {sequence} has probability 0: no path of states that the model allows gives "
            "its rows; rows that can follow each other were expected. Check the sequence and its "
            "known states, or fit with start_smoothing and transition_smoothing above 0.",
        )
        self.row, self.sequence = None, sequence


class GraphTooLarge(InvalidInput):
    """Exact inference needs more memory than it may use; ``bytes`` is what it needs."""

    def __init__(self, work: str, needed: float, limit: float, remedy: str) -> None:
        amount = f"about {_bytes(needed)}" if needed < inf else "more than 1e+308 bytes"
        super().__init__(f"{work} needs {amount} of memory; the limit is {_bytes(limit)}. {remedy}")
        self.work, self.bytes, self.limit, self.remedy = work, needed, limit, remedy

    def within(self, limit: float, hint: str = "") -> "GraphTooLarge":
        """The same error with the limit that was given, which the planning does not know.

        ``hint`` names other ways to an answer.
        """
        remedy = f"{self.remedy.removesuffix('.')}{hint}." if hint else self.remedy
        return GraphTooLarge(self.work, self.bytes, limit, remedy)


class NotAnswered(InvalidInput):
    """A method of inference does not give the answer that was asked for."""


class UnusableRun(InvalidInput):
    """A RUN folder that does not exist, is not finished, or must not be overwritten.

    ``next`` is the command that helps.
    """

    def __init__(self, message: str, *, next: str) -> None:
        super().__init__(message)
        self.next = next


class CannotWrite(LikelyError, OSError):
    """A file or folder that cannot be written, and what to do about it."""

    def __init__(self, path: object, error: OSError) -> None:
        super().__init__(f"{path} cannot be written ({error.strerror or error}). {_remedy(error)}")
        self.errno, self.path = error.errno, str(path)


class InUse(CannotWrite):
    """A folder that another process or thread is writing to."""

    def __init__(self, path: object, who: str) -> None:
        text = f"{who or 'another process'} is writing to it"
        super().__init__(path, BlockingIOError(errno.EAGAIN, text))


class SealedData(LikelyError):
    """A sealed test set was used as if it were data."""


class HonestyRefusal(LikelyError):
    """Refused because the score would mislead, although it could be computed."""


class SealedRows(HonestyRefusal):
    """Sealed rows were about to be trained on, or scored without counting the evaluation."""

    def __init__(self, message: str, seal: object, *, scoring: bool, other: str | None) -> None:
        super().__init__(message)
        self.seal, self.scoring, self.other_target = str(seal), scoring, other


class BrokenLedger(LikelyError):
    """A seal was changed after it was written, so its record cannot be trusted."""

    def __init__(self, path: object, problem: str) -> None:
        super().__init__(f"{path}: {problem}")
        self.path, self.problem = str(path), problem


class TrainingDiverged(LikelyError, ArithmeticError):
    """The loss of a network became infinite, NaN or far larger than at the start."""

    def __init__(
        self, loss: float, epoch: int, rate: float, start_loss: float, advice: str = ""
    ) -> None:
        super().__init__(
            f"The loss is {loss:.4g} after epoch {epoch}, at a learning rate of {rate:.4g}; it was "
            f"{start_loss:.4g} at the start, and was expected to fall. {advice}"
        )
        self.loss, self.epoch, self.rate = loss, epoch, rate


class OutOfDeviceMemory(LikelyError, MemoryError):
    """A GPU has too little memory for a training, and what to change."""


class UnsupportedAccess(LikelyError):
    """An algorithm needs more of the data than the executor or the layout gives."""


class NotConverged(LikelyError):
    """The search stopped before it reached its tolerance, and the caller asked for an error."""


class LikelyWarning(UserWarning):
    """Base class of all warnings, apart from scikit-learn's ConvergenceWarning."""


class UnseenCategories(LikelyWarning):
    """New rows have categories that were not seen in training; they are ignored."""


class ReplacedBytes(LikelyWarning):
    """A line of standard input is not UTF-8; the bytes that are not were replaced."""


class SingularCovariance(LikelyWarning):
    """A covariance matrix has no inverse, so its pseudo-inverse is used."""


class LimitReached(LikelyWarning):
    """A search of a function reached its number of steps before its tolerance."""


class UnconvergedAnswer(LikelyWarning):
    """An approximate method of inference stopped before its answer had settled."""


class Separation(LikelyWarning):
    """The responses are separated by the features: the maximum likelihood estimate is infinite."""


class BoundaryEstimate(LikelyWarning):
    """The best coefficients give some rows a mean at the edge of what the response can have."""


class NarrowIntervals(LikelyWarning):
    """Intervals for new responses come from a family with too small a variance."""


class OutsideLink(LikelyWarning):
    """The link has no mean for the predictor of a new row."""


class OutsideFit(LikelyWarning):
    """New rows are far outside the rows of the fit, and their predictions are bounded."""


class RedundantColumns(LikelyWarning):
    """Columns that earlier ones determine, or constants, are left out (coefficients of 0)."""


class CollapsedComponent(LikelyWarning):
    """A mixture component shrank onto repeated rows, or onto a line or plane."""


class ContinuousColumn(LikelyWarning):
    """A column has very many values, each of which is a state or a category."""


class RoundedTables(LikelyWarning):
    """Rows of probabilities do not sum to 1, by more than rounding; they are divided by their sums.

    The message names the worst row.
    """


class LargeBatch(LikelyWarning):
    """A batch was asked for that has more rows than there are; it has all of them."""


class AlphabeticalOrder(LikelyWarning):
    """Ordered classes are words whose order was not given, so that they are sorted."""


class UnscaledColumns(LikelyWarning):
    """Columns are very large or very small, and one learning rate serves all weights."""


class SortedRows(LikelyWarning):
    """Windows of rows, inside which they are shuffled, have very different targets."""


class MissingFont(LikelyWarning):
    """No installed font has some characters of a picture."""


class NothingToCalibrate(LikelyWarning):
    """Held-out scores do not determine a temperature: none is informative, or all are right."""


class ShiftedClasses(LikelyWarning):
    """EM gave unlabelled rows class shares that are far from those of the labelled rows."""


class LoopsNotKept(LikelyWarning):
    """There is no folder in which compiled loops can be kept; every process compiles them."""


class LinksOutside(LikelyWarning):
    """A folder of texts has links to files outside it, which are not read."""


class SomeSealedRows(LikelyWarning):
    """Data hold a few sealed rows: fewer than are refused, and the ledger records it."""


class NeedsTrust(LikelyWarning):
    """A model was saved whose class must be named to load it, as its file cannot be checked."""


class EffectsLeftOut(LikelyWarning):
    """The importance and the effects of columns could not be measured; the report goes without."""


class FormatLoss(LikelyWarning):
    """A file format has no place for a part of a graph, such as its names; it is left out."""


def _remedy(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "Free some space, and run it again: nothing was left half-written."
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return "Change the permissions of the folder, or choose another."
    if error.errno == errno.ENOENT:
        return "Create the folder first, or choose another."
    if error.errno == errno.EEXIST:
        return "Choose another name, or move what is there."
    if error.errno == errno.EAGAIN:
        return "Wait until it has ended, and run it again, or choose another folder."
    return "Choose another place."


def _bytes(number: float) -> str:
    """A number of bytes as text: 256 MB, 2.7 GB; beyond a thousand EB as a power of ten."""
    for unit in ("B", "kB", "MB", "GB", "TB", "PB", "EB"):
        if number < 999.5:  # 999.6 would be written as 1e+03
            return f"{number:.3g} {unit}"
        number /= 1000
    return f"{number:.1e} ZB"
