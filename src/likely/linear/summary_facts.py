"""The numbers above a table of coefficients: sizes, likelihoods, R² or pseudo-R², and a test.

A measure that is not defined for a model is left out: see ``goodness``.
"""

from collections.abc import Iterator
from math import isfinite, isnan, nan

from likely.description import Fact
from likely.formatting import DASH, fixed, p_value, short_number
from likely.linear.goodness import WITH_MEAN_SQUARES
from likely.linear.inference import Inference

SINGLE_OUTCOMES = ("bernoulli", "classes")  # 1 − D/D₀ is McFadden's measure
COVARIANCE_NAMES = {"model": "model", "clustered": "by cluster"}


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
