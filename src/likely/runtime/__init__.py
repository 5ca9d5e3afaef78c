"""Predictions from saved models with NumPy and safetensors alone; ``load``.

A machine that only predicts needs none of the other packages: neither SciPy, scikit-learn, Numba,
Arrow nor narwhals is imported.  The formulas are the library's own, so the probabilities are, too.
"""

from likely.runtime.predictor import Predictor, load
from likely.runtime.words import WordCounts

__all__ = ["Predictor", "WordCounts", "load"]
