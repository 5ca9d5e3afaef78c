"""The table of coefficients that statisticians know, for the terminal, the notebook and code.

One row per coefficient: the estimate, its standard error, their ratio, its p-value and an interval.
Above it, how well the model fits; below it, notes that a reader needs to judge the rest.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from math import isnan
from typing import Any, final

import numpy as np

from likely._typing import Array
from likely.data.frames import frame_of
from likely.formatting import (
    WIDEST,
    coefficient_cells,
    count,
    fixed,
    html_block,
    html_paragraph,
    html_table,
    p_value,
    paragraph,
    quoted,
    short_number,
    shortened,
    statistic,
    text_table,
)
from likely.linear.inference import Inference

MOST_ROWS = 60  # coefficients shown when printed; the frame has them all
NARROWEST = 72  # columns of the notes
COVARIANCE_NAMES = {"model": "model", "clustered": "by cluster"}


@final
@dataclass(frozen=True, eq=False)
class Summary:
    """An ``Inference``, with what it is an inference about."""

    inference: Inference
    title: str  # "GLM: poisson response, log link"
    solver: str = ""  # "newton, 5 steps"
    converged: bool = True
    separated: bool = False
    library: str | None = None  # of the frame that the model was fitted on
    level: float = 0.95
    remarks: tuple[str, ...] = ()  # further notes

    def to_frame(self, library: str | None = None) -> Any:
        """term, coef, se, z, p, low and high: in pandas, polars or Arrow, as the data were.

        z is Student's t where the inference uses it.  In pandas the terms are the index.
        """
        like = self.library if library is None else library
        columns = {"term": np.array(self.inference.names, dtype=object), **self._columns()}
        frame = frame_of(columns, like)
        return frame.set_index("term") if like == "pandas" else frame

    def __str__(self) -> str:
        return self.text()

    __repr__ = __str__

    def text(self, order: Sequence[int] | None = None, more: str = "") -> str:
        """The table for the terminal; ``order`` are the terms to show, ``more`` a line below."""
        shown = range(len(self.inference.names))[:MOST_ROWS] if order is None else order
        table = _fitted(["", *self._heads()], self._rows(shown))
        if order is None:
            more = self._left_out()
        head = _paired(self._facts())
        width = min(WIDEST, max(len(line) for line in [self.title, *head, *table]))
        rule = "─" * width
        notes = [
            line
            for note in self.notes
            for line in paragraph(f"Note: {note}", max(width, NARROWEST))
        ]
        rows = [*table, more] if more else table
        return "\n".join([self.title[:WIDEST], rule, *head, rule, *rows, rule, *notes])

    def _repr_html_(self) -> str:
        shown = range(len(self.inference.names))[:MOST_ROWS]
        facts = [
            [cell for pair in row for cell in pair]
            for row in zip_longest(*self._facts(), fillvalue=("", ""))
        ]
        left_out = self._left_out()
        return html_block(
            html_paragraph(self.title, bold=True),
            html_table((), facts, words=(0, 2, 4)),
            html_table(["", *self._heads()], self._rows(shown)),
            *([html_paragraph(left_out)] if left_out else []),
            *(html_paragraph(f"Note: {note}") for note in self.notes),
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What limits the table's numbers."""
        return (*self._notes(), *self.remarks)

    def _notes(self) -> Iterator[str]:
        fit = self.inference
        if not self.converged:
            yield "the fit did not converge; the estimates and their standard errors are not final."
        if self.separated:
            yield (
                "the responses are separated: some coefficients have no finite estimate, and their "
                "standard errors and p-values mean nothing. Use a penalty."
            )
        if fit.penalised:
            yield (
                "penalised: standard errors ignore the bias. They measure the spread of the "
                "shrunken estimates, so intervals may miss the true value more often than their "
                "level says, and a small z does not show that an effect is small."
            )
        if fit.redundant:
            held = quoted([fit.names[j] for j in fit.redundant])
            yield f"held at 0, because they can be computed from other columns: {held}."
        if fit.excluded:
            yield f"set to 0 by the penalty: {quoted([fit.names[j] for j in fit.excluded])}."
        if isnan(fit.dispersion):
            yield "as many parameters as examples: no data are left to estimate the dispersion."

    def _columns(self) -> dict[str, Array]:
        fit = self.inference
        low, high = fit.interval(self.level).T
        return {
            "coef": fit.theta,
            "se": fit.standard_errors,
            "z": fit.z,
            "p": fit.p,
            "low": low,
            "high": high,
        }

    def _heads(self) -> list[str]:
        ratio, tail = self.inference.distribution, (1 - self.level) / 2
        return ["coef", "std err", ratio, f"P>|{ratio}|", f"[{tail:.4g}", f"{1 - tail:.4g}]"]

    def _rows(self, shown: Sequence[int]) -> list[list[str]]:
        """A row each of the terms in ``shown``, with two digits of its standard error."""
        names, columns = self.inference.names, self._columns()
        rows = []
        for j in shown:
            coef, se, ratio, p, low, high = (float(column[j]) for column in columns.values())
            cells = coefficient_cells(coef, se, low, high)
            rows.append([names[j], *cells[:2], statistic(ratio), p_value(p), *cells[2:]])
        return rows

    def _left_out(self) -> str:
        more = len(self.inference.names) - MOST_ROWS
        return f"(+{more} more; to_frame() has them all)" if more > 0 else ""

    def _facts(self) -> list[list[tuple[str, str]]]:
        """Three columns of names and values."""
        fit = self.inference
        parameters = "effective parameters" if fit.penalised else "parameters"
        known = " (known)" if fit.dispersion_is_known else ""
        kind = COVARIANCE_NAMES.get(fit.covariance_kind, fit.covariance_kind)
        return [
            [
                ("examples", _amount(fit.n)),
                (parameters, _amount(fit.n_parameters)),
                ("residual df", _amount(fit.df_residual)),
                ("covariance", kind),
            ],
            [
                ("log-likelihood", fixed(fit.log_likelihood, 3)),
                ("null log-likelihood", fixed(fit.null_log_likelihood, 3)),
                ("deviance", fixed(fit.deviance, 3)),
                ("null deviance", fixed(fit.null_deviance, 3)),
            ],
            [
                ("AIC", fixed(fit.aic, 3)),
                ("BIC", fixed(fit.bic, 3)),
                ("dispersion", f"{short_number(fit.dispersion)}{known}"),
                *([("solver", self.solver)] if self.solver else []),
            ],
        ]


def summarise(model: Any, inference: Inference) -> Summary:
    """The summary of a fitted estimator."""
    fitted, solution = vars(model), model.solution_
    steps = count(solution.n_iter, "step") if solution.n_iter else ""
    return Summary(
        inference,
        title=f"{type(model).__name__}: {_described(fitted)}",
        solver=", ".join(filter(None, (solution.solver, steps))),
        converged=solution.converged,
        separated=bool(fitted.get("separated_", False)),
        library=fitted.get("library_"),
    )


def _described(fitted: dict[str, Any]) -> str:
    """The response and the link, and for two classes which of them has the probability."""
    likelihood: Any
    likelihood, classes = fitted.get("likelihood_"), fitted.get("classes_", ())
    link = likelihood.link if likelihood is not None else fitted.get("link")
    if link is None:
        return "least squares"
    name = link if isinstance(link, str) else link.name
    if len(classes) == 2:
        return f"P(y = {classes.tolist()[1]!r}), {name} link"
    if len(classes):
        return f"{len(classes)} ordered classes, {name} link"
    return f"{likelihood.response.name} response, {name} link"


def _fitted(head: list[str], rows: list[list[str]]) -> list[str]:
    """The table, with names shortened where it would be wider than a page."""
    numbers = text_table(head[1:], [row[1:] for row in rows], words=(), indent=2)
    room = WIDEST - max(map(len, numbers))
    return text_table(head, [[shortened(row[0], room), *row[1:]] for row in rows], indent=0)


def _amount(value: float) -> str:
    """A sum of weights, or a trace, need not be whole."""
    return fixed(value, 0 if float(value).is_integer() else 2)


def _paired(facts: list[list[tuple[str, str]]]) -> list[str]:
    """The columns of names and values, side by side."""
    widths = [(max(len(n) for n, _ in c), max(len(v) for _, v in c)) for c in facts]
    lines = []
    for row in zip_longest(*facts, fillvalue=("", "")):
        cells = [f"{n:<{a}}  {v:>{b}}" for (n, v), (a, b) in zip(row, widths, strict=True)]
        lines.append("    ".join(cells).rstrip())
    return lines
