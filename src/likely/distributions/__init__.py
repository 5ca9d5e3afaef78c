"""Event models p(x | k): families of distributions, and ``DISTRIBUTIONS``, the list of them."""

from likely.distributions.base import (
    Distribution,
    Family,
    LinearForm,
    NamedForm,
    Statistics,
    Takes,
)
from likely.distributions.bernoulli import Bernoulli, log_prob_of_logits
from likely.distributions.categorical import Categorical, CategoricalFamily
from likely.distributions.complement import Complement
from likely.distributions.exponential import Exponential
from likely.distributions.exponential_family import (
    EXPONENTIAL_FAMILIES,
    ExponentialFamily,
    categorical_family,
)
from likely.distributions.fitting import DISTRIBUTIONS, fit
from likely.distributions.full_gaussian import FullFamily, FullGaussian
from likely.distributions.gaussian import (
    DiagonalFamily,
    DiagonalGaussian,
    normal_cdf,
    normal_quantile,
)
from likely.distributions.joint_table import JointTable, JointTableFamily
from likely.distributions.laplace import Laplace, LaplaceFamily, laplace_negative_log
from likely.distributions.multinomial import Multinomial
from likely.distributions.poisson import Poisson
from likely.distributions.priors import Dirichlet, GaussianPrior
from likely.distributions.product import Product, ProductFamily, ProductPart, Selection
from likely.distributions.responsibility import Labels
from likely.distributions.smoothing import best_smoothing

__all__ = [
    "DISTRIBUTIONS",
    "EXPONENTIAL_FAMILIES",
    "Bernoulli",
    "Categorical",
    "CategoricalFamily",
    "Complement",
    "DiagonalFamily",
    "DiagonalGaussian",
    "Dirichlet",
    "Distribution",
    "Exponential",
    "ExponentialFamily",
    "Family",
    "FullFamily",
    "FullGaussian",
    "GaussianPrior",
    "JointTable",
    "JointTableFamily",
    "Labels",
    "Laplace",
    "LaplaceFamily",
    "LinearForm",
    "Multinomial",
    "NamedForm",
    "Poisson",
    "Product",
    "ProductFamily",
    "ProductPart",
    "Selection",
    "Statistics",
    "Takes",
    "best_smoothing",
    "categorical_family",
    "fit",
    "laplace_negative_log",
    "log_prob_of_logits",
    "normal_cdf",
    "normal_quantile",
]
