"""Possible problems of a table, each with a code: LK1xx columns, LK2xx rows, LK3xx the target,
LK4xx leaks.

A finding is a sentence in three parts: what was found, why it matters, what to do.  The first is
written where it is found; the other two are the same each time, and are defined here.  To add a
code, add it to ``CODES``, write its check and its section in ``docs/findings.rst``.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, final

from likely.errors import InvalidInput, UnknownName
from likely.output.formatting import column_named, listed

Severity = Literal["note", "warn", "stop"]  # good to know; will probably hurt; must be fixed

MOST_NAMED = 6  # columns in a sentence


class FindingCode(NamedTuple):
    """A kind of finding: its title, severity, reason and advice."""

    title: str
    severity: Severity
    why: str
    do: str
    of_column: str = ""  # follows the name of a column, where columns have it


CODES: Mapping[str, FindingCode] = {
    "LK101": FindingCode(
        "identifier",
        "warn",
        "a model can learn nothing from a value that no two rows share",
        "Text of this kind and columns named like identifiers are left out of every model, unless "
        "declared (--feature, --category); drop other row numbers (--drop).",
        "has a different value in every row",
    ),
    "LK102": FindingCode(
        "constant column",
        "note",
        "a column that never varies holds no information",
        "Drop it, or find out why it never varies.",
        "has one value only",
    ),
    "LK103": FindingCode(
        "nearly constant column",
        "note",
        "an effect that rests on a handful of rows is often chance",
        "Drop it, or merge its rare values.",
        "has one value almost everywhere",
    ),
    "LK104": FindingCode(
        "numbers and text in one column",
        "warn",
        "the numbers are read as words and lose their order",
        "Read the words as missing (--number COL, number=), replace them by empty cells, or split "
        "the column in two.",
        "holds numbers and text",
    ),
    "LK105": FindingCode(
        "numbers stored as text",
        "warn",
        "each number is read as a category and loses its order",
        "Read them as numbers: --number COL (number=), with --number COL=, for a decimal comma; or "
        "declare categories (--category COL).",
        "holds numbers as text",
    ),
    "LK106": FindingCode(
        "dates stored as text",
        "warn",
        "dates in several forms, or in a form that is not known, are read as categories",
        "Say how they are written: --date COL=%d/%m/%Y (date=), or write 2024-02-29.",
        "holds dates as text",
    ),
    "LK107": FindingCode(
        "broken characters",
        "warn",
        "one word in two encodings is read as two words",
        "Write the file again in UTF-8, from the encoding that it came in.",
        "has characters that were decoded wrongly",
    ),
    "LK108": FindingCode(
        "text with many values",
        "warn",
        "most values are too rare to learn from",
        "Group them, or drop the column.",
        "holds text with many values",
    ),
    "LK109": FindingCode(
        "mostly missing",
        "warn",
        "more values are filled in than were observed",
        "Find out why, and drop the column unless missing cells are informative.",
        "is mostly missing",
    ),
    "LK110": FindingCode(
        "nothing but missing values",
        "warn",
        "there is nothing to learn from",
        "Drop it, or fix what should have filled it.",
        "holds nothing but missing values",
    ),
    "LK111": FindingCode(
        "several columns with the same name",
        "stop",
        "columns are chosen by name, and this name is ambiguous",
        "Rename them.",
    ),
    "LK112": FindingCode(
        "values that cannot be features",
        "warn",
        "models read numbers, Booleans, dates and text",
        "Turn it into numbers, or drop it (--drop).",
        "holds values that cannot be features",
    ),
    "LK113": FindingCode(
        "duplicate column",
        "note",
        "naive Bayes counts its evidence twice, and a linear model cannot tell the two apart",
        "Keep one of them.",
        "holds the same values as another",
    ),
    "LK114": FindingCode(
        "infinite numbers",
        "warn",
        "a single one makes every mean, scale and sum infinite",
        "Replace them by empty cells or by the largest value that makes sense.",
        "holds infinite numbers",
    ),
    "LK115": FindingCode(
        "missing values in disguise",
        "note",
        "a word or number for 'not known' is read as a value like any other",
        "Replace it by an empty cell, unless it is informative that the value is unknown.",
        "has values that stand for a missing value",
    ),
    "LK116": FindingCode(
        "outliers",
        "note",
        "a single such number can decide a coefficient, a variance or a prediction",
        "Check it: correct it or empty the cell if it is an error, keep it if it is true.",
        "has numbers far outside the range of all others",
    ),
    "LK117": FindingCode(
        "zeros that may be missing values",
        "note",
        "a zero that means 'not measured' is read as a very small measurement",
        "Ask what 0 means here, and empty the cells if the value is not known.",
        "has zeros although its other numbers are far from 0",
    ),
    "LK118": FindingCode(
        "codes with leading zeros",
        "note",
        "01 and 1 are different codes, and codes have no order; they are read as categories",
        "No action is needed, unless they are numbers: then write them without the zeros.",
        "holds codes with leading zeros",
    ),
    "LK119": FindingCode(
        "one column written in two ways",
        "note",
        "naive Bayes counts its evidence twice; a linear model fits a curve to the two",
        "Keep the one whose effect is closer to a straight line.",
        "has one value for each value of another, not on a straight line",
    ),
    "LK120": FindingCode(
        "collinear columns",
        "note",
        "their coefficients have large standard errors and may have the wrong sign; predictions "
        "hardly suffer",
        "Leave one of them out where coefficients are to be read, or use an L2 penalty.",
        "is nearly a linear function of others",
    ),
    "LK121": FindingCode(
        "numbers or dates that can be read in two ways",
        "stop",
        "read wrongly, each value is wrong by a factor of a thousand, or by months",
        "seal, compare, tune and train stop here until it is said.",
    ),
    "LK122": FindingCode(
        "numbers that may be dates",
        "note",
        "a spreadsheet stores dates as days since 1899-12-30; read as numbers they have no month "
        "and no weekday",
        "If they are dates: --date COL=excel (date={'COL': 'excel'}).",
        "holds numbers that may be dates",
    ),
    "LK201": FindingCode(
        "duplicate rows",
        "note",
        "a copy in the test set of a row in the training set makes every score too good",
        "Drop the copies; likely seal and the folds of compare, tune, train and curve keep rows "
        "with equal features on one side.",
    ),
    "LK202": FindingCode(
        "equal features, different targets",
        "note",
        "no model can be right about all of them",
        "Check whether a label is wrong or a column is missing; otherwise it is noise.",
    ),
    "LK203": FindingCode(
        "rows without any feature",
        "warn",
        "there is nothing to base a prediction on",
        "Drop them, or fix what should have filled them.",
    ),
    "LK204": FindingCode(
        "rows that belong together",
        "warn",
        "rows of one person or thing in training and test make every score too good",
        "Hold out all rows of a group together, with --group COL or group=, and drop the column.",
        "seems to identify things that have several rows each",
    ),
    "LK205": FindingCode(
        "near copies",
        "warn",
        "a score is too good where nearly the same row is in training and test",
        "Drop the repetitions, or name the column of the person or thing that they are of, with "
        "--group COL or group=.",
    ),
    "LK206": FindingCode(
        "too few different rows",
        "warn",
        "equal rows cannot be held out apart in folds of equal size, so scores do not tell how "
        "well new rows are predicted",
        "Drop the copies, and collect different rows.",
    ),
    "LK207": FindingCode(
        "weights, exposures or offsets that no model can use",
        "stop",
        "seal, compare, tune and train stop there",
        "Correct the cells, or drop the rows.",
    ),
    "LK301": FindingCode(
        "missing targets",
        "warn",
        "a row without a target cannot be used for training or scoring",
        "They are left out by every command; ask whether they differ from the others.",
    ),
    "LK302": FindingCode(
        "one class",
        "stop",
        "there is nothing to predict",
        "Choose another target, or collect rows of the other classes.",
    ),
    "LK303": FindingCode(
        "very small classes",
        "warn",
        "there are too few rows to have some in every fold",
        "Merge them with others, drop them, or collect more rows.",
    ),
    "LK304": FindingCode(
        "imbalance",
        "note",
        "always predicting the largest class has a high accuracy and is of no use",
        "Compare the log loss with the baseline; do not undersample.",
    ),
    "LK305": FindingCode(
        "a target with very many values",
        "stop",
        "a class needs rows to learn from; this looks like text or an identifier",
        "Choose another target, or group its values.",
    ),
    "LK306": FindingCode(
        "a target that no model predicts",
        "stop",
        "targets are classes or numbers",
        "Turn it into a number, such as days until the event, or choose another target.",
    ),
    "LK401": FindingCode(
        "suspected leak",
        "warn",
        "a single column rarely predicts so well; it may have been filled in after the outcome",
        "Ask when it is filled in. Drop it if that is after the moment of prediction.",
        "is suspiciously close to the target",
    ),
    "LK402": FindingCode(
        "missing cells depend on the target",
        "note",
        "that a cell is empty may itself be a trace of the outcome",
        "Ask who leaves it empty and when. If after the outcome, drop the column.",
        "is missing more often for some targets than for others",
    ),
    "LK403": FindingCode(
        "column made from the target",
        "warn",
        "means of the target that were taken over all rows contain the answer of each row",
        "Drop it, and keep the categories: means have to be taken inside the training rows.",
        "follows the mean target of its values more closely than chance allows",
    ),
    "LK404": FindingCode(
        "target computed from columns",
        "warn",
        "a target that is the sum or the difference of columns is known as soon as they are",
        "Drop the columns that are not known before the outcome.",
    ),
    "LK405": FindingCode(
        "one column is nearly enough",
        "note",
        "a few honest predictors are that strong; others are the outcome in other words, or were "
        "filled in after it",
        "Check that it is known before the target is. Drop it if it is not.",
        "predicts the target nearly alone",
    ),
}


OF_TARGET = ("LK202", "LK3", "LK4")  # codes that depend on the values of the target
FLATTERING = ("LK205", "LK206", "LK401", "LK403", "LK404")  # with these a score is too good
BESIDE_SCORES = (*FLATTERING, "LK405")  # said wherever a score is
WITHOUT_LABELS = frozenset(
    code for code in CODES if not code.startswith(OF_TARGET) or code == "LK301"
)


@final
@dataclass(frozen=True)
class Finding:
    """One code, found in some columns."""

    code: str
    found: str  # the first part of the sentence, without a full stop
    columns: tuple[str, ...] = ()
    severity: Severity = "note"

    @property
    def title(self) -> str:
        return CODES[self.code].title

    @property
    def sentence(self) -> str:
        """What was found, why it matters, and what to do."""
        code = CODES[self.code]
        return f"{self.found}. {code.why[0].upper()}{code.why[1:]}. {code.do}"

    def __str__(self) -> str:
        return f"{self.code} {self.sentence}"

    def facts(self) -> dict[str, Any]:
        """The finding in types of JSON."""
        return {
            "code": self.code,
            "severity": self.severity,
            "title": self.title,
            "columns": list(self.columns),
            "sentence": self.sentence,
        }

    def record(self) -> dict[str, Any]:
        """What a seal and a run keep of it."""
        return {
            "code": self.code,
            "columns": list(self.columns),
            "severity": self.severity,
            "text": self.sentence,
        }


def finding(
    code: str, found: str, columns: Sequence[str] = (), *, severity: Severity | None = None
) -> Finding:
    """A finding with the severity of its code, unless another is given."""
    return Finding(code, found, tuple(columns), severity or CODES[code].severity)


def in_columns(code: str, remarks: Mapping[str, str]) -> Finding:
    """One finding for all columns of its kind, each with a remark."""
    phrase = CODES[code].of_column
    if len(remarks) == 1:
        ((name, remark),) = remarks.items()
        column = f"Column {name!r}" if name else f"The {column_named(name)}"
        found = f"{column} {phrase}" + (f" ({remark})" if remark else "")
    else:
        named = [
            f"{name or f'the {column_named(name)}'} {remark}".rstrip()
            for name, remark in remarks.items()
        ]
        found = f"Each of {len(named)} columns {phrase} ({listed(named, MOST_NAMED)})"
    return finding(code, found, list(remarks))


@final
@dataclass(frozen=True)
class Mute:
    """Findings that are not reported: a code, everywhere or in one column."""

    everywhere: frozenset[str]
    columns: frozenset[tuple[str, str]]  # (code, column)

    def hides(self, code: str, column: str) -> bool:
        return code in self.everywhere or (code, column) in self.columns

    @property
    def words(self) -> tuple[str, ...]:
        """The codes as they were given."""
        return (*sorted(self.everywhere), *(f"{c}:{name}" for c, name in sorted(self.columns)))


def mute_of(words: Iterable[str]) -> Mute:
    """``"LK102"`` everywhere, ``"LK102:age"`` in one column; an unknown code is refused."""
    if isinstance(words, str):
        raise InvalidInput(
            f"mute={words!r} is one word; a list of codes was expected. Pass mute=[{words!r}]."
        )
    everywhere, columns = set(), set()
    for word in words:
        code, colon, column = word.partition(":")
        if code not in CODES:
            raise UnknownName("finding", code, CODES)
        if colon:
            columns.add((code, column))
        else:
            everywhere.add(code)
    return Mute(frozenset(everywhere), frozenset(columns))
