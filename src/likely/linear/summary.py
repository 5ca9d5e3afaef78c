"""The table of coefficients that statisticians know, for the terminal, the notebook and code.

One row per coefficient: the estimate, its standard error, their ratio, how often chance alone would
make it so large, and an interval.  Above it, how well the model fits; below it, in words, what a
reader must know before believing the rest.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import zip_longest
from math import isnan
from textwrap import wrap
from typing import Any, final

import numpy as np

from likely._typing import Array
from likely.data.frames import frame_of
from likely.linear.inference import Inference
from likely.names import listed

WIDEST = 100  # columns of text
MOST_ROWS = 60  # coefficients shown when printed; the frame has them all
SMALLEST_P = 1e-4  # below this, p is said to be below it
SMALLEST_FIXED = 1e-5  # a standard error below this is written with a power of ten
LARGEST_FIXED = 1e6
COVARIANCE_NAMES = {"model": "model", "clustered": "by cluster"}
LINE = "rgba(127,127,127,.45)"  # seen on a light page and on a dark one
TABLE = "border-collapse:collapse;color:inherit;font-size:inherit"
CELL = (
    "text-align:right;padding:.15em .7em;border:0;white-space:nowrap;"
    "font-variant-numeric:tabular-nums"
)
NAME = "text-align:left;padding:.15em .7em;border:0"
ROW = "background:none"  # notebooks stripe tables


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
        table = self._table()
        head = _paired(self._facts())
        width = min(WIDEST, max(len(line) for line in [self.title, *head, *table]))
        rule = "─" * width
        notes = [line for note in self.notes for line in wrap(f"Note: {note}", max(width, 72))]
        return "\n".join([self.title[:WIDEST], rule, *head, rule, *table, rule, *notes])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr style='{ROW}'><td style='{NAME}'>{escape(name)}</td>"
            + "".join(f"<td style='{CELL}'>{escape(cell)}</td>" for cell in cells)
            + "</tr>"
            for name, *cells in self._rows()
        )
        head = "".join(
            f"<th style='{CELL};font-weight:600'>{escape(h)}</th>" for h in self._heads()
        )
        notes = "".join(
            f"<p style='margin:.3em .7em;max-width:45em'>Note: {escape(note)}</p>"
            for note in self.notes
        )
        return (
            "<div style='font-size:.95em;overflow-x:auto'>"
            f"<p style='margin:.3em .7em;font-weight:600'>{escape(self.title)}</p>"
            f"{_html_facts(self._facts())}"
            f"<table style='{TABLE};border-top:1px solid {LINE};border-bottom:1px solid {LINE}'>"
            f"<thead><tr style='{ROW};border-bottom:1px solid {LINE}'>"
            f"<th style='{NAME}'></th>{head}</tr></thead><tbody>{rows}</tbody></table>"
            f"{self._left_out(escape=True)}{notes}</div>"
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know before believing the table."""
        return (*self._notes(), *self.remarks)

    def _notes(self) -> Iterator[str]:
        fit = self.inference
        if not self.converged:
            yield "the search did not converge; neither the estimates nor their errors are final."
        if self.separated:
            yield (
                "the responses are separated: some coefficients have no finite estimate, and their "
                "standard errors and p-values mean nothing. Use a penalty."
            )
        if fit.penalised:
            yield (
                "penalised: standard errors ignore the bias. They measure the spread of the "
                "shrunken estimates, so intervals may miss the truth more often than their level "
                "says, and a small z does not show that an effect is small."
            )
        if fit.redundant:
            held = listed([fit.names[j] for j in fit.redundant])
            yield f"held at 0, being made up of other columns: {held}."
        if fit.excluded:
            yield f"set to 0 by the penalty: {listed([fit.names[j] for j in fit.excluded])}."
        if isnan(fit.dispersion):
            yield "as many parameters as examples: nothing is left to estimate the dispersion by."

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
        level = f"{100 * self.level:g}%"
        return ["coef", "se", self.inference.distribution, "p", f"low {level}", f"high {level}"]

    def _rows(self) -> list[tuple[str, ...]]:
        columns = {name: values[:MOST_ROWS] for name, values in self._columns().items()}
        formats = _formats(columns["se"], np.abs(columns["coef"]))
        rows = zip(self.inference.names, formats, zip(*columns.values(), strict=True), strict=False)
        return [
            (name, *(_number(v, form) for v in (coef, se)), _ratio(z), _p_value(p),
             *(_number(v, form) for v in (low, high)))
            for name, form, (coef, se, z, p, low, high) in rows
        ]  # fmt: skip

    def _table(self) -> list[str]:
        names, *columns = zip(*self._rows(), strict=True)
        shown = [_aligned(head, cells) for head, cells in zip(self._heads(), columns, strict=True)]
        room = WIDEST - sum(len(column[0]) + 2 for column in shown)
        width = min(max(map(len, names)), room)
        terms = ["", *(_shortened(name, width) for name in names)]
        lines = [
            "  ".join([f"{term:<{width}}", *cells]).rstrip()
            for term, *cells in zip(terms, *shown, strict=True)
        ]
        left_out = self._left_out(escape=False)
        return [*lines, left_out] if left_out else lines

    def _left_out(self, *, escape: bool) -> str:
        more = len(self.inference.names) - MOST_ROWS
        if more <= 0:
            return ""
        text = f"(+{more} more; to_frame() has them all)"
        return f"<p style='margin:.3em .7em'>{text}</p>" if escape else text

    def _facts(self) -> list[list[tuple[str, str]]]:
        """Three columns of name and value."""
        fit = self.inference
        parameters = "effective parameters" if fit.penalised else "parameters"
        known = " (known)" if fit.dispersion_is_known else ""
        kind = COVARIANCE_NAMES.get(fit.covariance_kind, fit.covariance_kind)
        return [
            [
                ("examples", _count(fit.n)),
                (parameters, _count(fit.n_parameters)),
                ("residual df", _count(fit.df_residual)),
                ("covariance", kind),
            ],
            [
                ("log-likelihood", _measure(fit.log_likelihood)),
                ("null log-likelihood", _measure(fit.null_log_likelihood)),
                ("deviance", _measure(fit.deviance)),
                ("null deviance", _measure(fit.null_deviance)),
            ],
            [
                ("AIC", _measure(fit.aic)),
                ("BIC", _measure(fit.bic)),
                ("dispersion", f"{fit.dispersion:.5g}{known}"),
                *([("solver", self.solver)] if self.solver else []),
            ],
        ]


def summarise(model: Any, inference: Inference) -> Summary:
    """The summary of a fitted estimator."""
    fitted, solution = vars(model), model.solution_
    steps = (
        f"{solution.n_iter} step{'' if solution.n_iter == 1 else 's'}" if solution.n_iter else ""
    )
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


def _formats(se: Array, size: Array) -> list[str]:
    """How each row is written: decimals that show three digits of the usual errors, or a power."""
    usual = se[se >= SMALLEST_FIXED]
    decimals = 4 if not usual.size else int(np.clip(2 - np.floor(np.log10(usual.min())), 2, 6))
    odd = (se < SMALLEST_FIXED) & (se > 0) | (np.fmax(size, se) >= LARGEST_FIXED)
    return [".3e" if power else f".{decimals}f" for power in odd]


def _number(value: float, form: str) -> str:
    return "–" if isnan(value) else format(value, form)


def _ratio(value: float) -> str:
    return _number(value, ".3f" if abs(value) < LARGEST_FIXED else ".3e")


def _p_value(value: float) -> str:
    if isnan(value):
        return "–"
    return f"{value:.4f}" if value >= SMALLEST_P else f"<{SMALLEST_P:.4f}"


def _count(value: float) -> str:
    """A sum of weights, or of traces, need not be whole."""
    return f"{value:.0f}" if float(value).is_integer() else f"{value:.2f}"


def _measure(value: float) -> str:
    return f"{round(value, 3) + 0.0:.3f}" if abs(value) < 1e9 else f"{value:.9g}"  # not −0.000


def _aligned(head: str, cells: Sequence[str]) -> list[str]:
    """The head and the cells, with the decimal points below each other."""
    whole = max(len(cell.partition(".")[0]) for cell in cells)
    parts = [cell.partition(".") for cell in cells]
    shown = [f"{left:>{whole}}{point}{rest}" for left, point, rest in parts]
    width = max(len(cell) for cell in shown)
    column = max(width, len(head))
    return [f"{head:>{column}}", *(f"{cell:<{width}}".rjust(column) for cell in shown)]


def _paired(facts: list[list[tuple[str, str]]]) -> list[str]:
    """The columns of names and values, side by side."""
    widths = [(max(len(n) for n, _ in c), max(len(v) for _, v in c)) for c in facts]
    lines = []
    for row in zip_longest(*facts, fillvalue=("", "")):
        cells = [f"{n:<{a}}  {v:>{b}}" for (n, v), (a, b) in zip(row, widths, strict=True)]
        lines.append("    ".join(cells).rstrip())
    return lines


def _html_facts(facts: list[list[tuple[str, str]]]) -> str:
    quiet = f"{NAME};opacity:.7"
    rows = "".join(
        f"<tr style='{ROW}'>"
        + "".join(
            f"<td style='{quiet}'>{escape(name)}</td><td style='{CELL}'>{escape(value)}</td>"
            for name, value in row
        )
        + "</tr>"
        for row in zip_longest(*facts, fillvalue=("", ""))
    )
    return f"<table style='{TABLE};margin-bottom:.5em'><tbody>{rows}</tbody></table>"


def _shortened(name: str, width: int) -> str:
    name = " ".join(name.split())  # a line break would break the table
    return name if len(name) <= width else name[: width - 1] + "…"
