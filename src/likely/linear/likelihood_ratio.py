"""The likelihood ratio test of two nested models.

    ψ known       2(log L₁ − log L₀)          as χ² with q = p₁ − p₀
    ψ estimated   (D₀ − D₁)/(q ψ̂₁)            as F with q and n − p₁, exact for a Gaussian
    Firth         2(log L*₁ − log L*₀)        as χ²₁: L* is the penalised likelihood, of all columns
    α too         2(log L₁ − log L₀)          as ½χ²_{q−1} + ½χ²_q: a negative binomial against the
                                              Poisson, with α = 0 at the boundary

References
----------
McCullagh & Nelder, Generalized Linear Models, 2nd ed., §2.3 and §8.3.
"""

import re
from math import isclose, isnan

from likely.errors import InvalidInput
from likely.linear.hypothesis import HypothesisTest, boundary_test, chi2_test, f_test
from likely.linear.inference import Inference, Inferred, inference_of

SAME_DATA = 1e-6  # relative: two fits to one table agree this well on its null model


def likelihood_ratio_test(
    smaller: Inference | Inferred, larger: Inference | Inferred
) -> HypothesisTest:
    """Whether the larger of two nested models fits better than expected by chance.

    χ² where the dispersion is known, F where it is estimated; a negative binomial whose α was
    estimated is also tested against the Poisson.
    """
    small, large = inference_of(smaller), inference_of(larger)
    _check_nested(small, large)
    if large.firth_ratios is not None or small.firth_ratios is not None:
        return _firth_test(small, large)
    q = round(large.n_counted - small.n_counted)
    if large.dispersion_is_known:
        ratio = 2 * (large.log_likelihood - small.log_likelihood)
        freed = large.alpha is not None and small.alpha is None
        return boundary_test(ratio, q) if freed else chi2_test(ratio, q)
    drop = (small.deviance - large.deviance) / large.dispersion
    return f_test(drop / q, q, large.df_residual)


def _firth_test(small: Inference, large: Inference) -> HypothesisTest:
    """The test by the penalised likelihood, which a Firth fit has for each coefficient."""
    if large.firth_ratios is None or small.firth_ratios is None:
        raise InvalidInput(
            "One of the models was fitted with firth=True and the other was not; their likelihoods "
            "cannot be compared. Fit both with firth=True."
        )
    if any(re.fullmatch(r"x\d+", name) for name in large.names):
        raise InvalidInput(
            "The columns of the models have no names but their positions (x0, x1, …), so it is not "
            "known which one the smaller model lacks. Fit both models to data frames, or read the "
            "test of each coefficient from summary()."
        )
    extra = [j for j, name in enumerate(large.names) if name not in small.names]
    ratio = float(large.firth_ratios[extra[0]]) if len(extra) == 1 else float("nan")
    if isnan(ratio):
        raise InvalidInput(
            f"The models differ by {len(extra)} coefficients; a Firth fit of at most 50 "
            "coefficients has the penalised likelihood ratio test of each one alone. Test them one "
            "by one, or use wald_test."
        )
    return chi2_test(ratio, 1)


def _check_nested(small: Inference, large: Inference) -> None:
    if small.penalised or large.penalised:
        raise InvalidInput(
            "A likelihood ratio test was asked of a penalised fit; it needs maximum likelihood "
            "estimates. Fit both models with l1=0 and l2=0."
        )
    if small.n != large.n or not _same_null(small, large):
        raise InvalidInput(
            f"The models were fitted to different data (n={small.n:g} and {large.n:g}, null "
            f"deviances {small.null_deviance:g} and {large.null_deviance:g}). "
            "Fit both to the same rows, weights, offset and response."
        )
    if large.n_counted <= small.n_counted:
        raise InvalidInput(
            f"The smaller model has {small.n_counted:g} parameters and the larger "
            f"{large.n_counted:g}; the larger must have more. Pass the smaller one first."
        )
    extra = sorted(set(small.names) - set(large.names))
    if small.alpha is not None and large.alpha is None:
        extra.append("alpha")
    if extra:
        raise InvalidInput(
            f"The smaller model has {extra[0]!r}, which the larger one lacks; a likelihood ratio "
            "test needs nested models. Add it to the larger one, or compare their AIC."
        )


def _same_null(small: Inference, large: Inference) -> bool:
    """Whether the null models agree; those of a Poisson and a negative binomial do not."""
    if (small.alpha is None) != (large.alpha is None):
        return True
    if ("intercept" in small.names) != ("intercept" in large.names):
        return True  # of different null models: they do not identify the data
    nulls = (small.null_deviance, large.null_deviance)
    if small.alpha is not None:  # their deviances are each at its own α
        nulls = (small.null_log_likelihood, large.null_log_likelihood)
    return isnan(sum(nulls)) or isclose(*nulls, rel_tol=SAME_DATA)
