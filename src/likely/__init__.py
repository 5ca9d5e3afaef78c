"""Probability models on tables: fast, scikit-learn shaped, and honest about what they know.

The public names are imported when they are first used, so that ``import likely`` costs
milliseconds and brings neither scikit-learn, SciPy, Numba nor Matplotlib with it.
To add a public name, write one line in ``_HOME`` and the same line under ``TYPE_CHECKING``.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from likely import (
        data,
        differences,
        distributions,
        information,
        likelihoods,
        links,
        penalties,
        solvers,
        special,
    )
    from likely.data.sources import read
    from likely.features.discretize import Discretizer
    from likely.generative.discriminant import DiscriminantAnalysis
    from likely.generative.gaussian_mixture import GaussianMixture
    from likely.generative.mixture import MixtureModel
    from likely.generative.naive_bayes import NaiveBayes
    from likely.generative.warmup import warmup
    from likely.linear.glm import GLM
    from likely.linear.logistic import LogisticRegression
    from likely.linear.regression import LinearRegression
    from likely.persist import load, save

__version__ = "0.1.0"

__all__ = [
    "GLM",
    "Discretizer",
    "DiscriminantAnalysis",
    "GaussianMixture",
    "LinearRegression",
    "LogisticRegression",
    "MixtureModel",
    "NaiveBayes",
    "__version__",
    "data",
    "differences",
    "distributions",
    "information",
    "likelihoods",
    "links",
    "load",
    "penalties",
    "read",
    "save",
    "solvers",
    "special",
    "warmup",
]

_MODULES = {
    "data",
    "differences",
    "distributions",
    "information",
    "likelihoods",
    "links",
    "penalties",
    "solvers",
    "special",
}

_HOME = {  # public name: the module that defines it
    "DiscriminantAnalysis": "likely.generative.discriminant",
    "GLM": "likely.linear.glm",
    "LinearRegression": "likely.linear.regression",
    "LogisticRegression": "likely.linear.logistic",
    "Discretizer": "likely.features.discretize",
    "GaussianMixture": "likely.generative.gaussian_mixture",
    "MixtureModel": "likely.generative.mixture",
    "NaiveBayes": "likely.generative.naive_bayes",
    "load": "likely.persist",
    "read": "likely.data.sources",
    "save": "likely.persist",
    "warmup": "likely.generative.warmup",
}


def __getattr__(name: str) -> object:
    """The public name, imported now (PEP 562) and found directly from then on."""
    if name in _MODULES:
        return import_module(f"likely.{name}")
    if name in _HOME:
        value: object = getattr(import_module(_HOME[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'likely' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
