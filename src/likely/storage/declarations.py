"""What a model file may hold, declared on the class that is saved.

    class PlattScaling(…):
        saved: ClassVar = FITTED_COLUMNS | FITTED_CLASSES | Saved(
            {"a_": Numbers(Array, "finite"), "b_": Numbers(Array, "finite")},
            rules=(SameCount("a_", "b_"),),
        )

An estimator declares what ``fit`` learns: *always*, *sometimes* (only some fits learn it) or
*together* (all of it or nothing), each with the kind of value, as in an annotation.  A part, a
frozen value inside a model, has its kinds in the annotations of its fields.  *Rules* relate
attributes to each other; they are names and numbers, so that a table of them is checked without
the classes (``checks.py``).  A rule of one class alone is its method ``check_saved``, which is
called where the class is there.

A checksum is no signature: anybody can compute it, so that it shows nothing about who wrote the
numbers of a file.  Compiled loops trust their arguments, and so whatever reaches them is checked.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sized
from dataclasses import dataclass, field, fields
from typing import Any, Protocol, final, runtime_checkable

import numpy as np

from likely._typing import Array
from likely.errors import InvalidInput
from likely.storage.values import same_count, unlike

LABELS = "labels"  # a row of labels: numbers, text or Booleans
NAMES = "names"  # a row of text
MODEL = "model"  # any estimator
MODELS = ["list", MODEL]
SEQUENCES = list[Any] | Array  # arrays of different lengths, or one array

LARGEST = 1e150  # beyond, squares overflow
LARGEST_SPREAD, SMALLEST_SPREAD = 1e300, 1e-300  # of distributions: the squares of such columns
LARGEST_THRESHOLD = 1e15  # on the scale of a probit or logit, where 40 is certainty
NEAR_1 = 1e-6  # by how much probabilities may miss a sum of 1
ENDLESS = (np.inf, -np.inf)
MOST_ESTIMATES = 2000  # whose covariance is factorised to see that it is one

RANGES: dict[str, tuple[Callable[[Array], Any], str]] = {  # of numbers, by name
    "finite": (lambda x: np.abs(x) <= LARGEST, "finite, at most 1e150"),
    "positive": (lambda x: x > 1 / LARGEST, "above 0"),
    "not negative": (lambda x: ~(x < 0), "0 or more"),
    "a share": (lambda x: (x >= 0) & (x <= 1), "from 0 to 1"),
    "a share below 1": (lambda x: (x >= 0) & (x < 1), "from 0 to 1"),
    "a threshold": (lambda x: np.abs(x) <= LARGEST_THRESHOLD, "at most 1e15 in size"),
    "at least 1": (lambda x: x >= 1, "1 or more"),
    "at least 2": (lambda x: x >= 2, "2 or more"),
    "not NaN": (lambda x: ~np.isnan(x), "numbers"),
    "not infinite": (lambda x: ~np.isinf(x), "finite"),
}


class Held(Protocol):
    """What a file holds of a value, as rules see it."""

    def at(self, path: str) -> Any:
        """The value at ``components_.distribution.n_features``; None where there is none."""


@final
@dataclass(frozen=True)
class Numbers:
    """A kind of numbers, alone or in arrays, within ranges of ``RANGES``."""

    kind: Any
    ranges: tuple[str, ...]

    def __init__(self, kind: Any, *ranges: str) -> None:
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "ranges", ranges)


class Rule(ABC):
    """What must be true of the attributes of a class together."""

    @abstractmethod
    def check(self, held: Held) -> None:
        """Refuse values of a file with ``InvalidInput``."""

    def plain(self) -> list[Any]:
        """The rule as JSON."""
        given = [getattr(self, each.name) for each in fields(self)]  # type: ignore[arg-type]
        flat = [item for each in given for item in (each if isinstance(each, tuple) else [each])]
        return [type(self).__name__, *flat]


class Joined(Rule):
    """A rule of some paths."""

    paths: tuple[Any, ...]

    def __init__(self, *paths: Any) -> None:
        object.__setattr__(self, "paths", paths)


@final
@dataclass(frozen=True, init=False)
class SameCount(Joined):
    """Numbers, or lengths of rows, that are the same where they are there.

    A path may be followed by ``- 1``; a number stands for itself.
    """

    paths: tuple[str | int, ...]

    def check(self, held: Held) -> None:
        expected = None
        for path in self.paths:
            found = count_of(path, held)
            if expected is None:
                expected = found
            elif found is not None:
                same_count(_in_words(str(path)), found, expected)


def _in_words(path: str) -> str:
    """What a path counts: its rows, a row of it, or its dimensions."""
    for end, start in ((".shape.0", ""), (".shape.-1", "A row of "), (".shape.1", "A row of ")):
        if path.endswith(end):
            return start + path.removesuffix(end)
    return f"The shape of {path.removesuffix('.shape')}" if path.endswith(".shape") else path


@final
@dataclass(frozen=True, init=False)
class SameShape(Joined):
    """Shapes that are the same; ``coef_.shape[:-1]`` is one without its last number."""

    paths: tuple[str, ...]

    def check(self, held: Held) -> None:
        first, *others = self.paths
        expected = self._shape(first, held)
        for path in others:
            found = self._shape(path, held)
            if None not in (found, expected):
                same_count(path, found, expected)

    def _shape(self, path: str, held: Held) -> Any:
        value = held.at(path.removesuffix("[:-1]"))
        if value is None:
            return None
        shape = np.shape(value)
        return shape[:-1] if path.endswith("[:-1]") else shape


@final
@dataclass(frozen=True, init=False)
class Same(Joined):
    """Values that are the same, item by item."""

    paths: tuple[str, ...]

    def check(self, held: Held) -> None:
        values = [held.at(path) for path in self.paths]
        known = [np.asarray(value).tolist() for value in values if value is not None]
        for path, value in zip(self.paths[1:], known[1:], strict=False):
            same_count(path, value, known[0])


@final
@dataclass(frozen=True, init=False)
class Needed(Joined):
    """Attributes that are there if the first one is there and not empty."""

    paths: tuple[str, ...]

    def check(self, held: Held) -> None:
        first, *others = self.paths
        for path in others if held.at(first) else ():
            if held.at(path) is None:
                raise InvalidInput(
                    f"a fitted model with {first} has {path}, which the file does not. Load it "
                    "with the version that saved it, or save the model again."
                )


@final
@dataclass(frozen=True)
class Present(Rule):
    """A value that is there: a model inside is fitted."""

    path: str

    def check(self, held: Held) -> None:
        if held.at(self.path) is None:
            raise InvalidInput(
                f"it has no {self.path}: a model inside it is not fitted. Save the model again."
            )


@final
@dataclass(frozen=True)
class BinsOf(Rule):
    """How many bins each row of edges makes."""

    counts: str
    edges: str

    def check(self, held: Held) -> None:
        bins = [len(edges) + 1 for edges in held.at(self.edges)]
        same_count(self.counts, held.at(self.counts).tolist(), bins)


@final
@dataclass(frozen=True)
class InRange(Rule):
    """Numbers within a range of ``RANGES``."""

    path: str
    range: str

    def check(self, held: Held) -> None:
        check_range(self.path, held.at(self.path), self.range)


@final
@dataclass(frozen=True)
class Between(Rule):
    """Numbers from one to another."""

    path: str
    least: float
    most: float

    def check(self, held: Held) -> None:
        for row in arrays_of(held.at(self.path)):
            if not ((row >= self.least) & (row <= self.most)).all():
                raise unlike(self.path, f"from {self.least:g} to {self.most:g}")


@final
@dataclass(frozen=True, init=False)
class OneOf(Rule):
    """A value that is one of a few."""

    path: str
    values: tuple[Any, ...]

    def __init__(self, path: str, *values: Any) -> None:
        object.__setattr__(self, "path", path)
        object.__setattr__(self, "values", values)

    def check(self, held: Held) -> None:
        value = held.at(self.path)
        if value is not None and value not in self.values:
            raise unlike(self.path, " or ".join(map(repr, self.values)))


@final
@dataclass(frozen=True)
class Increasing(Rule):
    """Rows of numbers in order; ``strictly`` each above the one before."""

    path: str
    strictly: bool = False

    def check(self, held: Held) -> None:
        value = held.at(self.path)
        for row in value if isinstance(value, list) else [] if value is None else [value]:
            increasing(self.path, row, strictly=self.strictly)


@final
@dataclass(frozen=True)
class Decreasing(Rule):
    """A row of numbers that fall."""

    path: str

    def check(self, held: Held) -> None:
        if (value := held.at(self.path)) is not None:
            increasing(f"−{self.path}", -np.asarray(value))


@final
@dataclass(frozen=True)
class SumTo1(Rule):
    """Logs of probabilities that sum to 1 along the last axis."""

    path: str

    def check(self, held: Held) -> None:
        if (value := held.at(self.path)) is not None:
            total = np.exp(np.asarray(value, dtype=float)).sum(axis=-1)
            if not (np.abs(total - 1) <= NEAR_1).all():
                raise unlike(self.path, "logs of probabilities that sum to 1")


@final
@dataclass(frozen=True)
class Places(Rule):
    """Whole numbers from 0 to below the length of another row."""

    path: str
    row: str

    def check(self, held: Held) -> None:
        n = count_of(self.row, held)
        for row in arrays_of(held.at(self.path)):
            if n is not None and not ((row >= 0) & (row < n)).all():
                raise unlike(self.path, f"from 0 to {n - 1}")


@final
@dataclass(frozen=True)
class Labelled(Rule):
    """A row of labels: at least one, all different, finite numbers or text."""

    path: str

    def check(self, held: Held) -> None:
        labels = held.at(self.path)
        if labels is None:
            return
        if not isinstance(labels, np.ndarray) or labels.ndim != 1:
            raise InvalidInput(f"{self.path} must be a row of labels. Save the model again.")
        if not len(labels):
            raise InvalidInput(
                f"{self.path} is empty; a fit has at least one class. Save the model again."
            )
        found = labels.tolist()
        if any(label is None or label != label or label in ENDLESS for label in found):
            raise InvalidInput(f"{self.path} must be text or finite numbers. Save the model again.")
        same_count(f"The different labels of {self.path}", len({*found}), len(found))


@final
@dataclass(frozen=True)
class OneForEachPredictor(Rule):
    """Entries for each class; two classes have one."""

    path: str
    classes: str = "classes_"

    def check(self, held: Held) -> None:
        value, n_classes = held.at(self.path), count_of(self.classes, held)
        if value is not None and n_classes is not None:
            same_count(self.path, len(value), 1 if n_classes == 2 else n_classes)


@final
@dataclass(frozen=True)
class MemberOf(Rule):
    """A distribution that is a member of the family that checks new rows."""

    distribution: str
    family: str

    def check(self, held: Held) -> None:
        member, family = held.at(self.distribution), held.at(self.family)
        if isinstance(member, ChecksFamily):
            member.check_family(family)


@final
@dataclass(frozen=True)
class StatisticsOf(Rule):
    """Sums from which a distribution of a family was learned."""

    statistics: str
    family: str
    distribution: str

    def check(self, held: Held) -> None:
        sums, member = held.at(self.statistics), held.at(self.distribution)
        if sums is not None and isinstance(member, ChecksFamily):
            member.check_statistics(held.at(self.family), sums)


@runtime_checkable
class ChecksFamily(Protocol):
    """A distribution that knows its family, and the sums that it is learned from."""

    def check_family(self, family: Any) -> None: ...

    def check_statistics(self, family: Any, statistics: Any) -> None: ...


@final
@dataclass(frozen=True)
class Estimates(Rule):
    """One estimate for each coefficient, and for each intercept or threshold behind them."""

    estimates: str
    coefficients: str
    thresholds: str = "thresholds_"

    def check(self, held: Held) -> None:
        theta, coef = held.at(self.estimates), held.at(self.coefficients)
        if theta is None or coef is None:
            return
        predictors = int(np.prod(np.shape(coef)[:-1]))
        thresholds = held.at(self.thresholds)
        others = predictors if thresholds is None else len(thresholds)
        if theta.size not in (np.size(coef), np.size(coef) + others):
            same_count("The estimates", theta.size, np.size(coef) + others)


@final
@dataclass(frozen=True)
class Covariance(Rule):
    """Finite, symmetric, without negative variances; NaN where nothing was estimated."""

    covariance: str
    root: str
    unknown: tuple[str, ...]

    def __init__(self, covariance: str, root: str, *unknown: str) -> None:
        object.__setattr__(self, "covariance", covariance)
        object.__setattr__(self, "root", root)
        object.__setattr__(self, "unknown", unknown)

    def check(self, held: Held) -> None:
        C, root = held.at(self.covariance), held.at(self.root)
        refuse("The variances", np.diag(C), lambda x: ~(x < 0), "0 or more")
        if root is not None:
            none = np.isnan(root).all()  # an estimate at the boundary has no errors at all
            if not (none or (np.abs(root) <= LARGEST).all()):
                raise unlike("The root of the covariance", "finite")
            return
        fixed = {place for path in self.unknown for place in held.at(path)}
        known = np.array([j not in fixed for j in range(len(C))], dtype=bool)
        C = C[np.ix_(known, known)]
        refuse("The covariance", C, np.isfinite, "finite")
        if 0 < len(C) <= MOST_ESTIMATES:
            scale = np.sqrt(np.diag(C))
            scale = np.where(scale > 0, scale, 1.0)
            R = C / scale[:, None] / scale  # their product may overflow
            even = np.allclose(R, R.T, rtol=0, atol=1e-6)
            if not even or np.linalg.eigvalsh((R + R.T) / 2)[0] < -1e-6:
                raise unlike("The covariance", "positive semidefinite")


@final
@dataclass(frozen=True)
class Difference(Rule):
    """A number that is the difference of two others, to a millionth of the first."""

    path: str
    whole: str
    part: str

    def check(self, held: Held) -> None:
        found, whole, part = (held.at(path) for path in (self.path, self.whole, self.part))
        if not abs(found - (whole - part)) <= 1e-6 * whole:
            raise unlike(self.path, f"{self.whole} − {self.part}, {whole - part:g}")


RULES: dict[str, Callable[..., Rule]] = {
    kind.__name__: kind
    for kind in (
        *(Between, BinsOf, Covariance, Decreasing, Difference, Estimates, InRange, Increasing),
        *(Labelled, MemberOf, Needed, OneForEachPredictor, OneOf, Places, Present, Same),
        *(SameCount, SameShape, StatisticsOf, SumTo1),
    )
}


@final
@dataclass(frozen=True)
class Saved:
    """What a file holds of a fitted model: attributes by name, with their kinds, and rules."""

    always: Mapping[str, Any] = field(default_factory=dict)
    sometimes: Mapping[str, Any] = field(default_factory=dict)  # only some fits learn it
    together: Mapping[str, Any] = field(default_factory=dict)  # all of it or nothing
    rules: tuple[Rule, ...] = ()

    def __or__(self, other: "Saved") -> "Saved":
        """Both; an attribute of the other one takes the place of one here."""
        return Saved(
            {**self.always, **other.always},
            {name: kind for name, kind in self.sometimes.items() if name not in other.always}
            | dict(other.sometimes),
            {**self.together, **other.together},
            (*self.rules, *other.rules),
        )

    @property
    def kinds(self) -> dict[str, Any]:
        return {**self.sometimes, **self.always, **self.together}


FITTED_COLUMNS = Saved(
    {"n_features_in_": Numbers(int, "not negative")},
    {"feature_names_in_": NAMES, "column_names_": NAMES, "library_": str | None},
    rules=(SameCount("n_features_in_", "feature_names_in_", "column_names_"),),
)
FITTED_CLASSES = Saved({"classes_": LABELS}, rules=(Labelled("classes_"),))


def check_range(what: str, value: Any, name: str) -> None:
    """Refuse numbers outside of a range of ``RANGES``."""
    good, expected = RANGES[name]
    for row in arrays_of(value):
        refuse(what, row, good, expected)


def refuse(what: str, row: Array, good: Callable[[Array], Any], expected: str) -> None:
    """Refuse numbers of which not all are good."""
    wide = row.astype(np.float64) if row.dtype.kind == "f" else row  # float32 ends at 1e38
    if not np.all(good(wide)):
        raise unlike(what, expected)


def increasing(what: str, values: Any, *, strictly: bool = False) -> Array:
    """The values as a row of numbers, once they are in order."""
    row = np.asarray(values)
    if row.ndim != 1 or row.dtype.kind not in "iuf":
        raise unlike(what, "a row of numbers")
    steps = np.diff(row.astype(float))
    if np.isnan(row).any() or not (steps > 0 if strictly else steps >= 0).all():
        raise unlike(what, "in increasing order")
    return row


def arrays_of(value: Any) -> list[Array]:
    """The numbers of a value, or of each item of a list or tuple."""
    values = value if isinstance(value, list | tuple) else [value]
    return [row for row in map(np.asarray, values) if row.dtype.kind in "biuf"]


def count_of(path: str | int, held: Held) -> int | None:
    """A number, or the length of a row; None where there is none."""
    if isinstance(path, int):
        return path
    name, _, less = path.partition(" - ")
    value = held.at(name)
    if value is None:
        return None
    count = len(value) if isinstance(value, Sized) else value
    return int(count) - int(less or 0)
