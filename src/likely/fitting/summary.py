"""The usual table of coefficients, for the terminal, the notebook and code.

One row per coefficient: the estimate, its standard error, their ratio, its p-value and an interval.
Above it, how well the model fits; below it, notes about how to read it, and where exp(coef) is an
odds ratio, a rate ratio or another ratio, these with their intervals.

Coefficients without standard errors are described class by class.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from likely._typing import Array
from likely.data.frames import frame_of
from likely.errors import InvalidInput
from likely.fitting.inference import Inference
from likely.fitting.summary_notes import facts_of, notes_of, penalty_facts, plural
from likely.output.description import (
    Description,
    Fact,
    NamedColumn,
    NamedTable,
)
from likely.output.description_text import html_of, text_of
from likely.output.formatting import percent_level, short_number
from likely.output.pictures import intervals_along_side

MORE = "to_frame() has them all"
READING = "A coefficient is what one unit of its column adds to the linear predictor."


@final
@dataclass(frozen=True, eq=False)
class Summary:
    """An ``Inference``, with a description of the model."""

    inference: Inference
    title: str  # "GLM: poisson response, log link"
    solver: str = ""  # "newton, 5 steps"
    converged: bool = True
    stopped: str = ""  # why a rule that was asked for ended the search before it converged
    separated: bool = False
    library: str | None = None  # of the frame that the model was fitted on
    level: float = 0.95
    remarks: tuple[str, ...] = ()  # further notes
    n_iter: int | None = None  # steps of the search
    penalty: str = ""  # "l1=0.5 + l2=1"
    references: tuple[tuple[str, Any], ...] = ()  # columns with their reference categories
    ratio: str = ""  # what exp(coef) is, "odds ratio"; nothing where it has no name

    def to_frame(self, library: str | None = None) -> Any:
        """term, coef, se, z (or t), p, low and high: in pandas, polars or Arrow, like the data.

        The statistic is called t where it is compared with Student's distribution.  In pandas the
        terms are the index.
        """
        return self._frame(np.arange(self.inference.theta.size), self._columns(), library)

    def ratios(self, library: str | None = None) -> Any:
        """term, ratio, low, high and p: exp(coef) with its interval, without the intercept.

        Odds ratios for the logit link, rate ratios for counts with a log link, risk ratios and
        hazard ratios for the log and cloglog links of two classes; other links have none.
        """
        if not self.ratio:
            raise InvalidInput(
                f"Ratios were asked of {self.title!r}; exp(coef) is a ratio for the logit, log and "
                "cloglog links, and of classes against a reference. Read coef from to_frame()."
            )
        at = self._slopes_of_ratios()
        columns = self._ratio_columns(at)
        return self._frame(at, {**columns, "p": self.inference.p[at]}, library)

    def _frame(self, at: Array, columns: dict[str, Array], library: str | None) -> Any:
        like = self.library if library is None else library
        names = np.array(self.inference.names, dtype=object)[at]
        frame = frame_of({"term": names, **columns}, like)
        return frame.set_index("term") if like == "pandas" else frame

    def plot(self, ax: Any = None, top: int = 30) -> Any:
        """Coefficients with their intervals, in their order; the matplotlib axes.

        Of more than ``top``, those that are largest in standard errors; without intercepts.
        """
        columns = self._columns()
        names = self.inference.names
        slopes = self._slopes().tolist() or [0]
        size = np.nan_to_num(np.abs(self.inference.z))
        kept = sorted(sorted(slopes, key=lambda i: -size[i])[:top])
        estimates = [
            (float(columns["coef"][i]), float(columns["low"][i]), float(columns["high"][i]))
            for i in kept
        ]
        label = f"Coefficient, with {percent_level(self.level)} interval"
        return intervals_along_side(ax, [names[i] for i in kept], estimates, label)

    def _slopes(self) -> Array:
        """Where the coefficients are in θ: intercepts and thresholds are left out."""
        return np.setdiff1d(np.arange(self.inference.theta.size), self.inference.constants)

    def _slopes_of_ratios(self) -> Array:
        return np.setdiff1d(self._slopes(), self.rates())

    def rates(self) -> list[int]:
        """Where exp(coef) is no ratio: levels of a column that has them all, without intercept."""
        fit = self.inference
        if not self.ratio or fit.constants:
            return []
        compared = tuple(f"{name}[" for name, _ in self.references)
        return [
            j
            for j, name in enumerate(fit.names)
            if "[" in name and "[T." not in name and not name.startswith(compared)
        ]

    def _ratio_columns(self, at: Array) -> dict[str, Array]:
        with np.errstate(over="ignore"):  # a separated class: inf
            low, high = np.exp(self.inference.interval(self.level)[at]).T
            return {"ratio": np.exp(self.inference.theta[at]), "low": low, "high": high}

    def __str__(self) -> str:
        return text_of(self.describe(), more=MORE)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_of(self.describe(), more=MORE)

    def describe(self) -> Description:
        """The summary as values: facts, tables and notes."""
        return Description(
            self.title,
            fit=(*facts_of(self.inference, self.penalty), *self._solver_facts()),
            tables=(self._table(), *self._ratio_tables()),
            notes=self.notes,
            n_iter=self.n_iter,
        )

    def _solver_facts(self) -> tuple[Fact, ...]:
        return (Fact("solver", "solver", self.solver, self.solver),) if self.solver else ()

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the limits of the table."""
        return (*notes_of(self), *self.remarks)

    def _columns(self) -> dict[str, Array]:
        fit = self.inference
        low, high = fit.interval(self.level).T
        return {
            "coef": fit.theta,
            "se": fit.standard_errors,
            fit.distribution: fit.z,
            "p": fit.p,
            "low": low,
            "high": high,
        }

    def _table(self) -> NamedTable:
        statistic = self.inference.distribution
        values = [column.tolist() for column in self._columns().values()]
        z = np.nan_to_num(np.abs(self.inference.z), nan=0.0)  # a term held at 0 has none
        return NamedTable(
            "terms",
            (
                NamedColumn("term", ""),
                NamedColumn("coef", "coef", "estimate"),
                NamedColumn("se", "std err", "error"),
                NamedColumn(statistic, statistic, "statistic"),
                NamedColumn("p", f"P>|{statistic}|", "p"),
                *self._interval_columns(),
            ),
            tuple(zip(self.inference.names, *values, strict=True)),
            noun="term",
            weights=tuple((size,) for size in z.tolist()),
            ranked=False,
        )

    def _interval_columns(self) -> tuple[NamedColumn, NamedColumn]:
        tail = (1 - self.level) / 2
        return (
            NamedColumn("low", f"[{short_number(tail)}", "low"),
            NamedColumn("high", f"{short_number(1 - tail)}]", "high"),
        )

    def _ratio_tables(self) -> tuple[NamedTable, ...]:
        """exp(coef) of the coefficients that were estimated, where it has a name."""
        at = self._slopes_of_ratios()
        at = at[np.isfinite(self.inference.standard_errors[at])]
        if not self.ratio or not at.size:
            return ()
        values = [column.tolist() for column in self._ratio_columns(at).values()]
        names = [self.inference.names[j] for j in at]
        table = NamedTable(
            "ratios",
            (
                NamedColumn("term", ""),
                NamedColumn("ratio", self.ratio, "number"),
                *self._interval_columns(),
            ),
            tuple(zip(names, *values, strict=True)),
            noun="term",
            title=f"{plural(self.ratio)}: exp(coef)",
            weights=tuple((size,) for size in np.abs(self.inference.z[at]).tolist()),
            ranked=False,
        )
        return (table,)


def describe_coefficients(
    title: str,
    terms: Sequence[str],
    coef: Array,
    constants: Sequence[tuple[str, Sequence[float]]],
    groups: Sequence[str],
    n_iter: int | None,
    penalty: str = "",
) -> Description:
    """Coefficients (K, d) of K predictors, named ``groups``, the largest first.

    ``constants`` are an intercept, or thresholds, with a value for each predictor.
    """
    rows: list[tuple[Any, ...]] = [
        (str(term), *values) for term, values in zip(terms, coef.T.tolist(), strict=True)
    ]
    rows += [(name, *values) for name, values in constants]
    size = np.abs(coef.T)
    table = NamedTable(
        "terms",
        (
            NamedColumn("term", "term"),
            *(NamedColumn("coef", group, "signed", group) for group in groups),
        ),
        tuple(rows),
        noun="coefficient",
        weights=(*map(tuple, size.tolist()), *((0.0,) * len(groups) for _ in constants)),
        last=len(constants),
    )
    return Description(
        title,
        fit=penalty_facts(penalty),
        groups=tuple(groups),
        tables=(table,),
        notes=(READING,),
        n_iter=n_iter,
    )
