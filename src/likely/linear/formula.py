"""Formulas: the columns of a model in the notation of R, read by ``formulaic`` (an extra).

    y ~ a + C(b) + a:b + poly(a, 2)

The terms become columns of numbers: categories by contrasts, interactions as products, stateful
transforms (``poly``, ``center``, ``scale``, ``bs``) with what they learned from the rows of the
fit.  New frames are turned into the same columns.

A formula is Python that is evaluated, so that a model with one is not saved: loading a model file
executes nothing.

References
----------
Wilkinson & Rogers (1973), Symbolic description of factorial models for analysis of variance,
Applied Statistics 22.
"""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np

from likely._typing import Array
from likely.data.frames import library_of
from likely.data.source import column_index
from likely.errors import InvalidInput, UnseenCategories, warn_user
from likely.inputs.tables import as_frame, is_frame, refuse_file
from likely.output.formatting import listed

INTERCEPT = "Intercept"  # formulaic's name of the column of ones


@final
@dataclass(frozen=True, eq=False)
class FormulaTerms:
    """The right side of a formula, with what its transforms learned."""

    text: str
    spec: Any  # formulaic's ModelSpec
    names: tuple[str, ...]  # of the columns, without the intercept
    intercept: bool

    def references(self) -> list[str]:
        """``ship = 1`` of each factor that is compared with one of its categories."""
        found = []
        for factor, state in self.spec.factor_contrasts.items():
            if not any(f"{factor}[T." in name for name in self.names):
                continue
            levels = list(state.levels)
            base = getattr(state.contrasts, "base", None)
            found.append(f"{factor} = {base if base in levels else levels[0]}")
        return found

    def remarks(self) -> tuple[str, ...]:
        """Notes for a summary: the formula, and what its categories are compared with."""
        known = self.references()
        named = f"reference categories, which have no coefficient: {listed(known)}."
        return (f"formula: {self.text}", *([named] if known else []))

    def frame(self, data: Any) -> Any:
        """The columns of the terms for new rows, as a pandas frame."""
        frame = _checked(data, sorted(map(str, self.spec.required_variables)), self.text)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            matrix = _evaluated(self.text, lambda: self.spec.get_model_matrix(frame, context={}))
        unseen = [
            str(each.message) for each in caught if "not seen in original" in str(each.message)
        ]
        if unseen:
            found = unseen[0].rpartition(": {")[2].partition("}")[0]
            warn_user(
                f"Categories not seen in training are read as the reference: {found}. Fit again "
                "with rows that have them.",
                UnseenCategories,
            )
        return _without_intercept(matrix, self.spec)


class FormulaRows(NamedTuple):
    """Rows to fit: the columns of the terms, y, and the terms themselves."""

    X: Any
    y: Any
    terms: FormulaTerms
    library: str | None


def refuse_reference(reference: Mapping[Any, Any] | None) -> None:
    """Refuse reference categories beside a formula."""
    if reference is not None:
        name, value = next(iter(dict(reference).items()), ("b", "red"))
        raise InvalidInput(
            "reference was given with a formula, whose terms say what is compared. Write "
            f"C({name}, Treatment({str(value)!r})) in it."
        )


def formula_rows(formula: str, data: Any, *, classes: bool) -> FormulaRows:
    """The terms of a formula on a frame; y is a column of labels where there are classes."""
    formulaic = _formulaic()
    parsed = _evaluated(formula, lambda: formulaic.Formula(formula))
    left, right = getattr(parsed, "lhs", None), getattr(parsed, "rhs", None)
    if left is None or right is None or isinstance(right, tuple):
        raise InvalidInput(
            f"The formula {formula!r} has no response, or several parts; 'y ~ a + b' was expected. "
            "Write the column of the response, ~, and the terms."
        )
    if "offset(" in formula.replace(" ", ""):
        raise InvalidInput(
            f"The formula {formula!r} has an offset; it is an argument here. Give offset= an array "
            "or the name of a column, or exposure= for the log link."
        )
    needed = sorted(map(str, parsed.lhs.required_variables | parsed.rhs.required_variables))
    frame = _with_used_levels(_checked(data, needed, formula), needed)
    y = _labels(frame, parsed, formula) if classes else _response(frame, parsed, formula)
    made = _evaluated(
        formula,
        lambda: formulaic.model_matrix(
            parsed.rhs, frame, context={}, output="numpy", na_action="ignore"
        ),
    )
    spec = made.model_spec
    names = tuple(name for name in map(str, spec.column_names) if name != INTERCEPT)
    if not names:
        raise InvalidInput(
            f"The formula {formula!r} has no term but the intercept; at least one was expected. "
            "Add a column."
        )
    terms = FormulaTerms(formula, spec, names, INTERCEPT in spec.column_names)
    return FormulaRows(_without_intercept(made, spec), y, terms, library_of(as_frame(data)))


def column_given(data: Any, given: Any) -> Any:
    """A column of the frame in place of its name; anything else as it is."""
    if not isinstance(given, str):
        return given
    import narwhals.stable.v2 as nw

    frame = nw.from_native(as_frame(data), eager_only=True)
    column_index(tuple(frame.columns), given)
    return frame.get_column(given).to_native()


def _formulaic() -> Any:
    try:
        import formulaic
    except ImportError:
        raise InvalidInput(
            "Formulas need the package formulaic, which is not installed. Install it: "
            "pip install 'likely[formula]'."
        ) from None
    return formulaic


def _checked(data: Any, needed: list[str], formula: str) -> Any:
    """A frame that has the columns of the formula, with a value in every cell."""
    import narwhals.stable.v2 as nw

    refuse_file(data, "a formula")
    native = as_frame(data)
    if not is_frame(native):
        raise InvalidInput(
            f"A formula names columns, and the data are {type(data).__name__}; a data frame was "
            "expected. Pass a pandas, polars or Arrow table."
        )
    frame = nw.from_native(native, eager_only=True)
    missing = [name for name in needed if name not in frame.columns]
    if missing:
        raise InvalidInput(
            f"The formula {formula!r} names {missing[0]!r}, which is neither a column nor a known "
            f"function; the columns are {listed(frame.columns)}. Correct the name, or add the "
            "column."
        )
    for name in needed:
        gaps = frame.get_column(name).is_null()
        if gaps.any():
            row = int(np.asarray(gaps.to_numpy()).argmax())
            raise InvalidInput(
                f"Column {name!r} has no value in row {row}; a formula needs one in every cell. "
                "Drop such rows, fill them in, or use lk.Prepared, which imputes."
            )
    return native


def _with_used_levels(frame: Any, names: list[str]) -> Any:
    """A pandas frame without the categories that no row has, as in R."""
    unused = [
        name
        for name in names
        if hasattr(frame[name], "cat") and hasattr(frame[name].cat, "remove_unused_categories")
    ]
    if not unused:
        return frame
    return frame.assign(**{name: frame[name].cat.remove_unused_categories() for name in unused})


def _evaluated(formula: str, make: Any) -> Any:
    """What formulaic computes; its errors in words."""
    try:
        return make()
    except Exception as error:  # Python of the user is evaluated
        reason = " ".join(str(error).split("\n")[0].split())
        raise InvalidInput(
            f"The formula {formula!r} cannot be used: {reason} Write terms such as a, C(b), a:b, "
            "poly(a, 2) and log(a), with + between them."
        ) from error


def _labels(frame: Any, parsed: Any, formula: str) -> Any:
    """The column of the classes, as it is."""
    import narwhals.stable.v2 as nw

    name = str(parsed.lhs).strip()
    columns = nw.from_native(frame, eager_only=True).columns
    if name not in columns:
        raise InvalidInput(
            f"The left side of {formula!r} is no column; classes are one. Add the column to the "
            "frame, and name it."
        )
    return nw.from_native(frame, eager_only=True).get_column(name).to_native()


def _response(frame: Any, parsed: Any, formula: str) -> Array:
    """The numbers on the left side."""
    formulaic = _formulaic()
    left = _evaluated(
        formula,
        lambda: formulaic.model_matrix(
            parsed.lhs, frame, context={}, output="numpy", na_action="ignore"
        ),
    )
    values = np.asarray(left, dtype=float)
    if values.ndim == 2 and values.shape[1] != 1:
        raise InvalidInput(
            f"The left side of {formula!r} gives {values.shape[1]} columns; numbers in one column "
            "were expected. Use LogisticRegression for two classes."
        )
    return values.ravel()


def _without_intercept(matrix: Any, spec: Any) -> Any:
    import pandas as pd  # formulaic needs it, too

    names = list(map(str, spec.column_names))
    frame = pd.DataFrame(np.asarray(matrix, dtype=float), columns=names)
    return frame.drop(columns=[INTERCEPT]) if INTERCEPT in names else frame
