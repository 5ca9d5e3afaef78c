"""The likelihood ratio test of two nested models.

    ψ known       2(log L₁ − log L₀)          as χ² with q = p₁ − p₀
    ψ estimated   (D₀ − D₁)/(q ψ̂₁)            as F with q and n − p₁, exact for a Gaussian

References
----------
McCullagh & Nelder, Generalized Linear Models, 2nd ed., §2.3 and §8.3.
"""

from math import isclose, isnan

from likely.errors import InvalidInput
from likely.linear.hypothesis import HypothesisTest, chi2_test, f_test
from likely.linear.inference import Inference, Inferred, inference_of

SAME_DATA = 1e-6  # relative: two fits to one table agree this well on its null deviance


def likelihood_ratio_test(
    smaller: Inference | Inferred, larger: Inference | Inferred
) -> HypothesisTest:
    """Whether the larger of two nested models fits better than chance would make it.

    χ² where the dispersion is known, F where it is estimated.
    """
    small, large = inference_of(smaller), inference_of(larger)
    _check_nested(small, large)
    q = round(large.n_parameters - small.n_parameters)
    if large.dispersion_is_known:
        return chi2_test(2 * (large.log_likelihood - small.log_likelihood), q)
    drop = (small.deviance - large.deviance) / large.dispersion
    return f_test(drop / q, q, large.df_residual)


def _check_nested(small: Inference, large: Inference) -> None:
    if small.penalised or large.penalised:
        raise InvalidInput(
            "A likelihood ratio test was asked of a penalised fit; it needs maximum likelihood "
            "estimates. Fit both models with l1=0 and l2=0."
        )
    nulls = (small.null_deviance, large.null_deviance)
    if ("intercept" in small.names) != ("intercept" in large.names):
        nulls = (0.0, 0.0)  # of different null models: they say nothing of the data
    if small.n != large.n or not (isnan(sum(nulls)) or isclose(*nulls, rel_tol=SAME_DATA)):
        raise InvalidInput(
            f"The models were fitted to different data (n={small.n:g} and {large.n:g}, null "
            f"deviances {small.null_deviance:g} and {large.null_deviance:g}). "
            "Fit both to the same rows, weights, offset and response."
        )
    if large.n_parameters <= small.n_parameters:
        raise InvalidInput(
            f"The smaller model has {small.n_parameters:g} parameters and the larger "
            f"{large.n_parameters:g}; the larger must have more. Pass the smaller one first."
        )
    extra = sorted(set(small.names) - set(large.names))
    if extra:
        raise InvalidInput(
            f"The smaller model has {extra[0]!r}, which the larger one lacks; a likelihood ratio "
            "test needs nested models. Add it to the larger one, or compare their AIC."
        )
