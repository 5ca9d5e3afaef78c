"""Second derivatives of the ordinal response, in the two ends of each example's class.

    nll = −ln(G(u) − G(v))        a = G′(u)/P      c = G′(v)/P      s = d ln G′/dη
    ∂u = −a      ∂v = c      ∂u∂v = −ac
    ∂u∂η = a(a − c − s(u))      ∂v∂η = c(c − a + s(v))          ∂η = ∂u + ∂v

They touch η and the two thresholds about y and nothing else, so they cost n, not n·K.  With the
logit the ends come apart, and one exponential for each is all that is needed:

    G(u) − G(v) = σ(u) σ(−v) (1 − e^(v−u))        q = 1/(e^(u−v) − 1), of the class alone
    −∂u = σ(−u) + q      ∂v = σ(v) + q      ∂u∂v = −q(1 + q)
    ∂u∂η = σ(u) σ(−u)      ∂v∂η = σ(v) σ(−v)

Where ln G′ is concave (every link here but the cauchit) nll is convex in η and b together.

References
----------
Pratt (1981), Concavity of the log likelihood, JASA 76, 103–106.
"""

from dataclasses import dataclass
from typing import final

import numpy as np

from likely._typing import Array, Codes
from likely.likelihoods.ordinal import Ordinal
from likely.links import Logit
from likely.special import exp, expm1, log, log1p


@final
@dataclass(frozen=True, eq=False)
class OrdinalCurvature:
    """nll of each example and its derivatives in u and v; 0 at an end that is infinite."""

    nll: Array  # (n,)
    upper: Array  # ∂nll/∂u
    lower: Array  # ∂nll/∂v
    upper_eta: Array  # ∂²nll/∂u∂η
    lower_eta: Array  # ∂²nll/∂v∂η
    between: Array  # ∂²nll/∂u∂v

    @property
    def eta(self) -> Array:
        """∂nll/∂η."""
        return self.upper + self.lower

    @property
    def eta_eta(self) -> Array:
        """∂²nll/∂η²."""
        return self.upper_eta + self.lower_eta


def ordinal_curvature(
    likelihood: Ordinal, y: Codes, eta: Array, *, thresholds: Array
) -> OrdinalCurvature:
    """The observed curvature, by the form that the link allows."""
    form = _logit_form if isinstance(likelihood.link, Logit) else _general_form
    return form(likelihood, y, eta, thresholds)


def _logit_form(likelihood: Ordinal, y: Codes, eta: Array, thresholds: Array) -> OrdinalCurvature:
    padded = np.concatenate([[np.inf], thresholds, [-np.inf]])
    gap = padded[:-1] - padded[1:]  # u − v of each class, inf for the first and the last
    log_width, q = log(-expm1(-gap)), 1 / expm1(gap)
    u, v = padded[:-1][y] + eta, padded[1:][y] + eta
    at_u, at_v = exp(-np.abs(u)), exp(-np.abs(v))  # at most 1
    below_u = np.where(u >= 0, at_u, 1.0) / (1 + at_u)  # σ(−u)
    above_v = np.where(v >= 0, 1.0, at_v) / (1 + at_v)  # σ(v)
    extra = q[y]
    return OrdinalCurvature(
        nll=log1p(at_u + at_v + at_u * at_v) - np.minimum(u, 0) + np.maximum(v, 0) - log_width[y],
        upper=-below_u - extra,
        lower=above_v + extra,
        upper_eta=at_u / np.square(1 + at_u),
        lower_eta=at_v / np.square(1 + at_v),
        between=-extra * (1 + extra),
    )


def _general_form(likelihood: Ordinal, y: Codes, eta: Array, thresholds: Array) -> OrdinalCurvature:
    found = likelihood.derivatives(y, eta, thresholds)
    padded = np.concatenate([[np.inf], thresholds, [-np.inf]])
    a, c = -found.upper, found.lower
    with np.errstate(invalid="ignore"):  # 0 · inf at an infinite end, where a or c is 0
        bend_u = likelihood.link.log_slope_derivative(padded[:-1][y] + eta)
        bend_v = likelihood.link.log_slope_derivative(padded[1:][y] + eta)
        upper_eta = np.where(a > 0, a * (a - c - bend_u), 0.0)
        lower_eta = np.where(c > 0, c * (c - a + bend_v), 0.0)
    return OrdinalCurvature(found.nll, found.upper, found.lower, upper_eta, lower_eta, -a * c)
