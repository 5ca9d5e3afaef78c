"""What the output of a network means: likelihoods of y given η, and the lectures' square errors."""

from likely.neural.outputs.base import (
    BERNOULLI,
    CATEGORICAL,
    GAUSSIAN,
    NOT_COMPILED,
    POISSON,
    LossAndSlope,
    Output,
)
from likely.neural.outputs.categorical import CategoricalOutput, SquareErrorSoftmax
from likely.neural.outputs.choice import output_of
from likely.neural.outputs.ordinal import OrdinalOutput
from likely.neural.outputs.scalar import ScalarOutput, SquareErrorSigmoid

__all__ = [
    "BERNOULLI",
    "CATEGORICAL",
    "GAUSSIAN",
    "NOT_COMPILED",
    "POISSON",
    "CategoricalOutput",
    "LossAndSlope",
    "OrdinalOutput",
    "Output",
    "ScalarOutput",
    "SquareErrorSigmoid",
    "SquareErrorSoftmax",
    "output_of",
]
