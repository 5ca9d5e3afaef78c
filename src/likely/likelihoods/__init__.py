"""Likelihoods p(y | η): responses, their links, and ``RESPONSES``, the list of the scalar ones."""

from likely.likelihoods.base import Composition, Likelihood, Response, fits, fitting_links
from likely.likelihoods.bernoulli import Bernoulli
from likely.likelihoods.categorical import Categorical, CurvatureBlocks
from likely.likelihoods.gamma import Exponential, Gamma
from likely.likelihoods.gaussian import Gaussian
from likely.likelihoods.inverse_gaussian import InverseGaussian
from likely.likelihoods.log_normal import LogNormal
from likely.likelihoods.negative_binomial import NegativeBinomial
from likely.likelihoods.ordinal import (
    Ordinal,
    OrdinalDerivatives,
    OrdinalInformation,
    SurvivalDifferences,
    cumulative_of_survival,
    free_of,
    survival_differences,
    survival_of_classes,
    survival_of_cumulative,
    thresholds_jacobian,
    thresholds_of,
)
from likely.likelihoods.poisson import Poisson
from likely.likelihoods.responses import RESPONSES, likelihood_of
from likely.likelihoods.tweedie import Tweedie

__all__ = [
    "RESPONSES",
    "Bernoulli",
    "Categorical",
    "Composition",
    "CurvatureBlocks",
    "Exponential",
    "Gamma",
    "Gaussian",
    "InverseGaussian",
    "Likelihood",
    "LogNormal",
    "NegativeBinomial",
    "Ordinal",
    "OrdinalDerivatives",
    "OrdinalInformation",
    "Poisson",
    "Response",
    "SurvivalDifferences",
    "Tweedie",
    "cumulative_of_survival",
    "fits",
    "fitting_links",
    "free_of",
    "likelihood_of",
    "survival_differences",
    "survival_of_classes",
    "survival_of_cumulative",
    "thresholds_jacobian",
    "thresholds_of",
]
