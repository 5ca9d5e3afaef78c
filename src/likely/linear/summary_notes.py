"""Notes below a table of coefficients: what limits its estimates, errors and tests.

Each rule looks at one property of the fit, and gives its note, or None.  To add a note, write a
rule and name it in ``RULES``, which are in the order of print.
"""

from collections.abc import Callable, Sequence
from math import isnan
from typing import TYPE_CHECKING

from likely.formatting import listed, quoted, short_number
from likely.linear.ratios import plural
from likely.linear.summary_facts import amount

if TYPE_CHECKING:
    from likely.linear.inference import Inference
    from likely.linear.summary import Summary

MOST_REFERENCES = 10  # named in a note

FIRTH = (
    "Firth's penalty: log-likelihood, AIC and BIC are of the likelihood without it, at estimates "
    "that do not maximise it; z and its p-value are from Wald tests. likelihood_ratio_test uses "
    "the penalised likelihood."
)
PENALISED = (
    "Penalised fit: the standard errors do not include the bias of shrinkage. They measure the "
    "spread of the shrunken estimates, so intervals may miss the true value more often than their "
    "level says, and a small z does not show that an effect is small. Adjusted R², pseudo-R² and "
    "the test of all coefficients are defined for maximum likelihood, so they are left out."
)
PERFECT = (
    "essentially perfect fit: the residuals are no more than rounding, so standard errors, tests "
    "and intervals are unreliable."
)
SATURATED = "as many parameters as observations: no data are left to estimate the dispersion."
SEPARATED = (
    "the responses are separated: some coefficients have no finite estimate, and their standard "
    "errors and p-values mean nothing. Use a penalty."
)
UNFINISHED = "the fit did not converge; the estimates and their standard errors are not final."


def notes_of(summary: "Summary") -> tuple[str, ...]:
    """The notes that apply to a summary."""
    found = (rule(summary) for rule in RULES)
    return tuple(note for note in found if note is not None)


def _convergence(summary: "Summary") -> str | None:
    if summary.stopped:
        return (
            f"the search was stopped before it converged: {summary.stopped}. The estimates are "
            "not the optimum, and the standard errors are those of the point shown."
        )
    return None if summary.converged else UNFINISHED


def _groups(summary: "Summary") -> str | None:
    n_groups = summary.inference.n_grouped
    if not n_groups:
        return None
    return (
        "proportions of trials: deviance, residual df and the dispersion are those of "
        f"{amount(n_groups)} groups."
    )


def _boundary(summary: "Summary") -> str | None:
    n_rows = summary.inference.n_at_edge
    if not n_rows:
        return None
    return (
        f"the estimate is on the boundary: {amount(n_rows)} of the rows have a mean at the edge of "
        "what the response can have, where standard errors, tests and intervals do not apply."
    )


def _references(summary: "Summary") -> str | None:
    if not summary.references:
        return None
    named = listed([f"{name} = {value}" for name, value in summary.references], MOST_REFERENCES)
    return f"reference categories, which have no coefficient: {named}."


def _redundant(summary: "Summary") -> str | None:
    fit = summary.inference
    if not fit.redundant:
        return None
    return (
        "fixed at 0, because they can be computed from other columns: "
        f"{_terms(fit, fit.redundant)}."
    )


def _leverage(summary: "Summary") -> str | None:
    fit = summary.inference
    if not fit.alone:
        return None
    return (
        f"{_terms(fit, fit.alone)}: single rows determine these coefficients (leverage 1), so "
        f"{fit.covariance_kind} knows no standard error for them."
    )


def _excluded(summary: "Summary") -> str | None:
    fit = summary.inference
    return f"set to 0 by the penalty: {_terms(fit, fit.excluded)}." if fit.excluded else None


def _poisson(summary: "Summary") -> str | None:
    fit = summary.inference
    if fit.alpha is None or fit.alpha.alpha != 0:
        return None
    hint = (
        f" But Pearson χ²/df is {short_number(fit.pearson_dispersion)}, clearly above 1: "
        "standard_errors='quasi' or 'HC1' allow for it."
    )
    return (
        "the likelihood is largest at alpha = 0, where the negative binomial equals the "
        f"Poisson.{hint if fit.is_overdispersed() else ''}"
    )


def _rates(summary: "Summary") -> str | None:
    if not summary.rates():
        return None
    return (
        "without an intercept the coefficients of levels compare with nothing: exp(coef) is no "
        f"{summary.ratio}, so they are left out of the {plural(summary.ratio).lower()}."
    )


def _terms(fit: "Inference", at: Sequence[int]) -> str:
    return quoted([fit.names[j] for j in at])


RULES: tuple[Callable[["Summary"], str | None], ...] = (
    _convergence,
    lambda summary: SEPARATED if summary.separated else None,
    lambda summary: None if summary.inference.firth_ratios is None else FIRTH,
    _groups,
    _boundary,
    lambda summary: PENALISED if summary.inference.penalised else None,
    _references,
    _redundant,
    _leverage,
    _excluded,
    _poisson,
    lambda summary: PERFECT if summary.inference.is_perfect else None,
    _rates,
    lambda summary: SATURATED if isnan(summary.inference.dispersion) else None,
)
