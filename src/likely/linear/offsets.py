"""Offsets and exposures of rows, and the means that a predictor may have.

η = b + xᵀβ + o        o = offset + ln exposure        μ = g⁻¹(η)
"""

from typing import Any

import numpy as np

from likely._typing import Array
from likely.errors import InvalidInput, OutsideLink, warn_user
from likely.likelihoods.base import Likelihood


def check_exposure(link: str, exposure: Any) -> None:
    if exposure is not None and link != "log":
        raise InvalidInput(
            f"exposure multiplies a mean, which only the log link turns into an offset; the link "
            f"is {link!r}. Use link='log', or give an offset."
        )


def mean_within(likelihood: Likelihood, eta: Array) -> Array:
    """E[y | η]; nan, with a warning, where the link has no mean for a predictor."""
    low, high = likelihood.link.etas
    outside = ~((eta > low) & (eta < high))
    if not outside.any():
        return likelihood.mean(eta)
    row = int(outside.argmax())
    warn_user(
        f"The predictor of row {row} is {eta[row]:.3g}; the link {likelihood.link.name!r} has a "
        f"mean only between {low:g} and {high:g}, so it is nan for {int(outside.sum())} rows. "
        "Use the log link, which has one everywhere.",
        OutsideLink,
    )
    return np.where(outside, np.nan, likelihood.mean(np.where(outside, 1.0, eta)))
