"""Searches of settings: for ``likely.tune``, or for any function of settings.

``likely.tune(..., search="grid")`` names a search; ``search=Grid(points=5)`` also configures it.
The settings that it may try are declared with ``likely.spaces``.
"""

from likely.workbench.models import space_of
from likely.workbench.search.bayes import Bayes
from likely.workbench.search.functions import (
    FunctionSearch,
    RateSearch,
    search_function,
    search_learning_rate,
)
from likely.workbench.search.strategies import Grid, Halving, Random, Refine, Search

__all__ = [
    "Bayes",
    "FunctionSearch",
    "Grid",
    "Halving",
    "Random",
    "RateSearch",
    "Refine",
    "Search",
    "search_function",
    "search_learning_rate",
    "space_of",
]
