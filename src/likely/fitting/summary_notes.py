"""What a summary says around its table of coefficients: numbers above, notes below, and ratios.

The numbers are sizes, likelihoods, R² or pseudo-R², and a test; a measure that is not defined for a
model is left out: see ``goodness``.  The notes say what limits estimates, errors and tests.

Each rule of ``RULES`` looks at one property of the fit, and gives its note, or None; they are in
the order of print.

exp(β) is an odds ratio, a rate ratio, a hazard ratio, by the response and its link:

    logit     odds(x + 1)/odds(x) = exp(β)            odds = p/(1 − p), or P(Y > j)/P(Y ≤ j)
    log       μ(x + 1)/μ(x) = exp(β)                  of rates, risks or means
    cloglog   ln(1 − p(x + 1))/ln(1 − p(x)) = exp(β)  of cumulative hazards in a period

Intervals are those of β, with both ends transformed: a ratio of 1 is in them where 0 is in that of
the coefficient.

References
----------
Agresti, Categorical Data Analysis, 3rd ed., §5.1, §6.6 and §9.2.
"""

from collections.abc import Callable, Iterator, Sequence
from math import isfinite, isnan, nan, sqrt
from typing import TYPE_CHECKING, Any

from likely.fitting.goodness import WITH_MEAN_SQUARES
from likely.fitting.inference import Inference
from likely.output.description import Fact
from likely.output.formatting import DASH, count, fixed, listed, p_value, quoted, short_number

if TYPE_CHECKING:
    from likely.fitting.summary import Summary

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
SINGLE_OUTCOMES = ("bernoulli", "classes")  # 1 − D/D₀ is McFadden's measure
COVARIANCE_NAMES = {"model": "model", "clustered": "by cluster"}
RATIOS = {  # by the name of the response and that of the link
    ("bernoulli", "logit"): "odds ratio",
    ("bernoulli", "log"): "risk ratio",
    ("bernoulli", "cloglog"): "hazard ratio",
    ("poisson", "log"): "rate ratio",
    ("negative-binomial", "log"): "rate ratio",
    ("classes", "logit"): "odds ratio",  # of Y > j, for every j
}


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


def _log_normal(summary: "Summary") -> str | None:
    fit = summary.inference
    if fit.response != "log-normal" or fit.dispersion_is_known:
        return None
    half = short_number(fit.dispersion / 2)
    return (
        "deviances and standard errors are those of least squares on ln y; the intercept, and its "
        f"standard error, have sigma²/2 = {half} added, so that exp(η) is the mean of y, not its "
        "median."
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
    _log_normal,
    lambda summary: PERFECT if summary.inference.is_perfect else None,
    _rates,
    lambda summary: SATURATED if isnan(summary.inference.dispersion) else None,
)


def facts_of(fit: Inference, penalty: str = "") -> Iterator[Fact]:
    """Everything but the solver, which an estimate does not know."""
    parameters = "effective df" if fit.penalised else "parameters"
    known = " (known)" if fit.dispersion_is_known else ""
    yield Fact("examples", "observations", fit.n, amount(fit.n))
    yield Fact("parameters", parameters, fit.n_counted, amount(fit.n_counted))
    yield Fact("df_residual", "residual df", fit.df_residual, amount(fit.df_residual))
    yield Fact("standard_errors", "std errors", fit.covariance_kind, _covariance(fit))
    if fit.n_clusters is not None:
        yield Fact("clusters", "clusters", fit.n_clusters, amount(fit.n_clusters))
    for key, name in (
        ("log_likelihood", "log-likelihood"),
        ("null_log_likelihood", "null log-likelihood"),
        ("deviance", "deviance"),
        ("null_deviance", "null deviance"),
        ("aic", "AIC"),
        ("bic", "BIC"),
    ):
        value = float(getattr(fit, key))
        yield Fact(key, name, value, fixed(value, 3) if isfinite(value) else DASH)
    dispersion = f"{short_number(fit.dispersion)}{known}"
    yield Fact("dispersion", "dispersion", fit.dispersion, dispersion)
    if fit.response == "log-normal" and not fit.dispersion_is_known:
        sigma = sqrt(fit.dispersion)
        yield Fact("sigma", "sigma of ln y", sigma, short_number(sigma))
    yield from _alpha_facts(fit)
    yield from _measures(fit)
    yield from _overall_test(fit)
    yield from penalty_facts(penalty)


def penalty_facts(penalty: str) -> tuple[Fact, ...]:
    return (Fact("penalty", "penalty", penalty, penalty),) if penalty else ()


def amount(value: float) -> str:
    """A number as text: a sum of weights, or a trace, may have a fraction."""
    return fixed(value, 0 if float(value).is_integer() else 2)


def _covariance(fit: Inference) -> str:
    return COVARIANCE_NAMES.get(fit.covariance_kind, fit.covariance_kind)


def _alpha_facts(fit: Inference) -> Iterator[Fact]:
    alpha = fit.alpha
    if alpha is None:
        return
    error = "" if isnan(alpha.log_error) else f" (std err {short_number(alpha.standard_error)})"
    yield Fact("alpha", "alpha", alpha.alpha, f"{short_number(alpha.alpha)}{error}")
    if alpha.test is not None:
        yield Fact("alpha_test", "test of alpha = 0", alpha.test.p, str(alpha.test))


def _measures(fit: Inference) -> Iterator[Fact]:
    """R² and pseudo-R², those that are defined."""
    around = " (around 0)" if fit.n_null == 0 else ""
    for key, name, value in (
        ("pearson_dispersion", "Pearson χ²/df", _overdispersion(fit)),
        ("r_squared", f"R²{around}", fit.r_squared),
        ("adjusted_r_squared", f"adjusted R²{around}", fit.adjusted_r_squared),
        ("deviance_explained", "deviance explained", _deviance_explained(fit)),
        ("mcfadden", "McFadden R²", fit.mcfadden),
        ("cox_snell", "Cox–Snell R²", fit.cox_snell),
        ("nagelkerke", "Nagelkerke R²", fit.nagelkerke),
    ):
        if not isnan(value):
            yield Fact(key, name, value, fixed(value, 4))


def _overdispersion(fit: Inference) -> float:
    """Pearson's χ²/df, but nan of single yes and no, and where it is the dispersion itself."""
    single = fit.response == "bernoulli" and not fit.n_grouped
    return fit.pearson_dispersion if fit.dispersion_is_known and not single else nan


def _deviance_explained(fit: Inference) -> float:
    """1 − D/D₀, but nan where it is R² or McFadden's, or where D and D₀ have different α."""
    single = fit.response in SINGLE_OUTCOMES and not isnan(fit.mcfadden)
    other = fit.response in ("gaussian", "") or fit.alpha is not None
    return nan if single or other else fit.deviance_explained


def _overall_test(fit: Inference) -> Iterator[Fact]:
    """The test of all coefficients, and the covariance where it is not that of the model."""
    test = fit.overall_test()
    if test is None:
        return
    letter = "F" if test.distribution == "F" else "χ²"
    name, kind = letter if letter == "F" else f"LR {letter}", ""
    if fit.covariance_kind not in WITH_MEAN_SQUARES:
        name, kind = f"Wald {letter}", f", {_covariance(fit)}"
    df = f"{test.df}, {short_number(test.df_residual)}" if letter == "F" else f"{test.df}"
    yield Fact("overall_statistic", f"{name}({df}){kind}", test.statistic)
    yield Fact("overall_p", f"P>{letter}", test.p, p_value(test.p))


def ratio_of(response: str, link: Any) -> str:
    """The name of exp(β); nothing where it has no meaning of its own.

    >>> ratio_of("poisson", "log"), ratio_of("gamma", "log"), ratio_of("bernoulli", "probit")
    ('rate ratio', 'ratio of means', '')
    """
    name = link if isinstance(link, str) or link is None else link.name
    if name == "log":
        return RATIOS.get((response, name), "ratio of means")
    return RATIOS.get((response, str(name)), "")


def plural(ratio: str) -> str:
    """The heading of a table of ratios.

    >>> plural("odds ratio"), plural("ratio of means")
    ('Odds ratios', 'Ratios of means')
    """
    return ratio.replace("ratio", "ratios").capitalize()


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
    if fitted.get("alpha_") == 0:
        return f"negative-binomial response (alpha = 0: Poisson), {name} link"
    return f"{likelihood.response.name} response, {name} link"
