"""The usual table of coefficients, for the terminal, the notebook and code.

One row per coefficient: the estimate, its standard error, their ratio, its p-value and an interval.
Above it, how well the model fits; below it, notes about how to read it.

Coefficients without standard errors are described class by class.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any, final

import numpy as np

from likely._typing import Array
from likely.data.frames import frame_of
from likely.description import (
    Description,
    Fact,
    NamedColumn,
    NamedTable,
)
from likely.description_text import html_of, text_of
from likely.formatting import count, fixed, percent_level, quoted, short_number
from likely.linear.inference import Inference
from likely.linear.penalty import penalty_described
from likely.pictures import intervals_along_side

COVARIANCE_NAMES = {"model": "model", "clustered": "by cluster"}
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

    def to_frame(self, library: str | None = None) -> Any:
        """term, coef, se, z, p, low and high: in pandas, polars or Arrow, like the data.

        z is Student's t where the inference uses it.  In pandas the terms are the index.
        """
        like = self.library if library is None else library
        columns = {"term": np.array(self.inference.names, dtype=object), **self._columns()}
        frame = frame_of(columns, like)
        return frame.set_index("term") if like == "pandas" else frame

    def plot(self, ax: Any = None, top: int = 30) -> Any:
        """Coefficients with their intervals, in their order; the matplotlib axes.

        Of more than ``top``, those that are largest in standard errors; without intercepts.
        """
        columns = self._columns()
        names = self.inference.names
        slopes = [i for i, name in enumerate(names) if "intercept" not in name] or [0]
        size = np.nan_to_num(np.abs(columns["z"]))
        kept = sorted(sorted(slopes, key=lambda i: -size[i])[:top])
        estimates = [
            (float(columns["coef"][i]), float(columns["low"][i]), float(columns["high"][i]))
            for i in kept
        ]
        label = f"Coefficient, with {percent_level(self.level)} interval"
        return intervals_along_side(ax, [names[i] for i in kept], estimates, label)

    def __str__(self) -> str:
        return text_of(self.describe(), more=MORE)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_of(self.describe(), more=MORE)

    def describe(self) -> Description:
        """The summary as values: facts, tables and notes."""
        return Description(
            self.title,
            fit=tuple(self._facts()),
            tables=(self._table(),),
            notes=self.notes,
            n_iter=self.n_iter,
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the limits of the table."""
        return (*self._notes(), *self.remarks)

    def _notes(self) -> Iterator[str]:
        fit = self.inference
        if self.stopped:
            yield (
                f"the search was stopped before it converged: {self.stopped}. The estimates are "
                "not the optimum, and the standard errors are those of the point shown."
            )
        elif not self.converged:
            yield "the fit did not converge; the estimates and their standard errors are not final."
        if self.separated:
            yield (
                "the responses are separated: some coefficients have no finite estimate, and their "
                "standard errors and p-values mean nothing. Use a penalty."
            )
        if fit.firth_ratios is not None:
            yield (
                "Firth's penalty: log-likelihood, AIC and BIC are of the likelihood without it, at "
                "estimates that do not maximise it; z and its p-value are from Wald tests. "
                "likelihood_ratio_test uses the penalised likelihood."
            )
        if fit.n_grouped:
            yield (
                f"proportions of trials: deviance, residual df and the dispersion are those of "
                f"{_amount(fit.n_grouped)} groups."
            )
        if fit.n_at_edge:
            yield (
                f"the estimate is on the boundary: {_amount(fit.n_at_edge)} of the rows have a "
                "mean at the edge of what the response can have, where standard errors, tests "
                "and intervals do not apply."
            )
        if fit.penalised:
            yield (
                "Penalised fit: the standard errors do not include the bias of shrinkage. They "
                "measure the spread of the shrunken estimates, so intervals may miss the true "
                "value more often than their level says, and a small z does not show that an "
                "effect is small."
            )
        if fit.redundant:
            held = quoted([fit.names[j] for j in fit.redundant])
            yield f"fixed at 0, because they can be computed from other columns: {held}."
        if fit.excluded:
            yield f"set to 0 by the penalty: {quoted([fit.names[j] for j in fit.excluded])}."
        if fit.alpha is not None and fit.alpha.alpha == 0:
            yield (
                "alpha = 0: the counts are not overdispersed, so the negative binomial equals the "
                "Poisson."
            )
        if isnan(fit.dispersion):
            yield "as many parameters as observations: no data are left to estimate the dispersion."

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

    def _table(self) -> NamedTable:
        ratio, tail = self.inference.distribution, (1 - self.level) / 2
        values = [column.tolist() for column in self._columns().values()]
        z = np.nan_to_num(np.abs(self.inference.z), nan=0.0)  # a term held at 0 has none
        return NamedTable(
            "terms",
            (
                NamedColumn("term", ""),
                NamedColumn("coef", "coef", "estimate"),
                NamedColumn("se", "std err", "error"),
                NamedColumn("z", ratio, "statistic"),
                NamedColumn("p", f"P>|{ratio}|", "p"),
                NamedColumn("low", f"[{short_number(tail)}", "low"),
                NamedColumn("high", f"{short_number(1 - tail)}]", "high"),
            ),
            tuple(zip(self.inference.names, *values, strict=True)),
            noun="term",
            weights=tuple((size,) for size in z.tolist()),
            ranked=False,
        )

    def _facts(self) -> Iterator[Fact]:
        fit = self.inference
        parameters = "effective df" if fit.penalised else "parameters"
        known = " (known)" if fit.dispersion_is_known else ""
        kind = COVARIANCE_NAMES.get(fit.covariance_kind, fit.covariance_kind)
        yield Fact("examples", "observations", fit.n, _amount(fit.n))
        yield Fact("parameters", parameters, fit.n_counted, _amount(fit.n_counted))
        yield Fact("df_residual", "residual df", fit.df_residual, _amount(fit.df_residual))
        yield Fact("standard_errors", "std errors", fit.covariance_kind, kind)
        if fit.n_clusters is not None:
            yield Fact("clusters", "clusters", fit.n_clusters, _amount(fit.n_clusters))
        for key, name in (
            ("log_likelihood", "log-likelihood"),
            ("null_log_likelihood", "null log-likelihood"),
            ("deviance", "deviance"),
            ("null_deviance", "null deviance"),
            ("aic", "AIC"),
            ("bic", "BIC"),
        ):
            value = float(getattr(fit, key))
            yield Fact(key, name, value, fixed(value, 3))
        dispersion = f"{short_number(fit.dispersion)}{known}"
        yield Fact("dispersion", "dispersion", fit.dispersion, dispersion)
        yield from self._alpha_facts()
        yield from penalty_facts(self.penalty)
        if self.solver:
            yield Fact("solver", "solver", self.solver, self.solver)

    def _alpha_facts(self) -> Iterator[Fact]:
        alpha = self.inference.alpha
        if alpha is None:
            return
        error = "" if isnan(alpha.log_error) else f" (std err {short_number(alpha.standard_error)})"
        yield Fact("alpha", "alpha", alpha.alpha, f"{short_number(alpha.alpha)}{error}")
        if alpha.test is not None:
            yield Fact("alpha_test", "test of alpha = 0", alpha.test.p, str(alpha.test))


def summarise(
    model: Any, inference: Inference, described: str, remarks: tuple[str, ...] = ()
) -> Summary:
    """The summary of a fitted estimator; ``described`` describes its response."""
    fitted, solution = vars(model), model.solution_
    steps = count(solution.n_iter, "step") if solution.n_iter else ""
    return Summary(
        inference,
        title=f"{type(model).__name__}: {described}",
        solver=", ".join(filter(None, (solution.solver, steps))),
        converged=solution.converged,
        stopped=solution.reason if solution.stopped and not solution.converged else "",
        separated=bool(fitted.get("separated_", False)),
        library=fitted.get("library_"),
        remarks=remarks,
        n_iter=max(1, solution.n_iter),
        penalty=penalty_described(model) if inference.penalised else "",
    )


def remarks_on_held_rows(model: Any) -> tuple[str, ...]:
    """How many rows a rule held out of the fit, where one did."""
    if not model.solution_.held_out:
        return ()
    held, fitted = model.held_out_
    return (
        f"{count(held, 'row was', 'rows were')} held out to decide when to stop; the estimates are "
        f"from the other {count(fitted, 'row')}.",
    )


def response_described(fitted: dict[str, Any]) -> str:
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


def penalty_facts(penalty: str) -> tuple[Fact, ...]:
    return (Fact("penalty", "penalty", penalty, penalty),) if penalty else ()


def _amount(value: float) -> str:
    """A number as text: a sum of weights, or a trace, may have a fraction."""
    return fixed(value, 0 if float(value).is_integer() else 2)


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
