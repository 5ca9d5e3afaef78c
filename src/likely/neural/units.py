"""The unit of the response: training centres and scales y, everything else is in the unit of y.

    y = c + s y′        η = c + s η′        W^(L) = s W′^(L)        b^(L) = s b′^(L) + c
    Σ w loss(y, η) + R(θ) = s² [Σ w loss(y′, η′) + R(θ)/s²]

R(θ)/s² has the strengths l1/s² and l2/s² for the weights of hidden layers, and l1/s and l2 for
those of the output, whose own unit is s.  So the minimum is that of the loss in the unit of y, with
the penalties that were given: standardisation changes the steps, and nothing else.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, final

import numpy as np

from likely._typing import Array
from likely.errors import InvalidInput
from likely.neural.architecture import Architecture
from likely.neural.settings import WeightPenalty
from likely.penalties import Strength


class WeightStrengths(NamedTuple):
    """l1 and l2 of the weights: one number for all of them, or one for each parameter."""

    l1: Strength
    l2: Strength


@final
@dataclass(frozen=True, eq=False)
class ResponseUnits:
    """c and s of y = c + s y′; 0 and 1 where y is trained on as it is."""

    centre: Any = 0.0  # a number, or one for each response
    scale: float = 1.0

    @classmethod
    def of(cls, y: Array, weight: Array | None, *, centred: bool) -> "ResponseUnits":
        """The mean of each response and the standard deviation around it; 1 where that is 0.

        Without a bias of the output there is no centre, and the spread is that around 0.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            centre = np.average(y, axis=0, weights=weight) if centred else 0.0
            squares = np.square(y - centre).reshape(len(y), -1).mean(axis=1)
            scale = float(np.sqrt(np.average(squares, weights=weight)))
        if not np.isfinite(scale):
            raise InvalidInput("The squares of y overflow. Divide y by a constant, such as 1e100.")
        return cls(centre, scale if scale > 0 else 1.0)

    @property
    def are_those_of_y(self) -> bool:
        return self.scale == 1.0 and not np.any(self.centre)

    @property
    def square(self) -> float:
        """s², by which a loss in these units is multiplied."""
        return self.scale**2

    def target(self, y: Array) -> Array:
        """y′."""
        return y if self.are_those_of_y else np.asarray((y - self.centre) / self.scale)

    def theta(self, architecture: Architecture, inner: Array) -> Array:
        """θ in the unit of y, in float64: a large centre would round a bias in float32."""
        if self.are_those_of_y:
            return inner
        found = inner.astype(np.float64)
        last = architecture.unpack(found)[-1]
        last.weight[...] *= self.scale
        if last.bias is not None:
            last.bias[...] = self.scale * last.bias + self.centre
        return found

    def inner(self, architecture: Architecture, theta: Array) -> Array:
        """θ′, of the centred and scaled response."""
        if self.are_those_of_y:
            return theta
        found = theta.astype(np.float64)
        last = architecture.unpack(found)[-1]
        last.weight[...] /= self.scale
        if last.bias is not None:
            last.bias[...] = (last.bias - self.centre) / self.scale
        return found

    def strengths(self, architecture: Architecture, given: WeightPenalty) -> WeightStrengths:
        """The penalties of θ′ that are those of θ."""
        if self.scale == 1.0 or not (given.l1 or given.l2):
            return WeightStrengths(given.l1, given.l2)
        unit = np.ones(architecture.n_parameters)  # of each parameter, in those of θ′
        unit[architecture.places[-1].weight] = self.scale
        return WeightStrengths(given.l1 * unit / self.square, given.l2 * unit**2 / self.square)


def attributes_in_unit_of_y(fitted: Mapping[str, Any]) -> dict[str, Any]:
    """What differs in a model file of the time when parameters were those of y′.

    The centre was then added to η.  It is in the biases of the output now; an output that had none
    has them from here on.
    """
    units = ResponseUnits(fitted["response_centre_"], fitted["response_scale_"])
    if units.are_those_of_y:
        return {}
    before = fitted["architecture_"]
    layers = replace(before, biases=(*before.biases[:-1], True))
    n_more = layers.n_parameters - before.n_parameters  # the biases of the output are the last

    def with_biases(array: Array) -> Array:
        return np.concatenate([array, np.zeros((*array.shape[:-1], n_more), array.dtype)], axis=-1)

    def in_unit(theta: Array) -> Array:
        return units.theta(layers, with_biases(theta))

    found = {"architecture_": layers, "parameters_": in_unit(fitted["parameters_"])}
    state, average = fitted["state_"], fitted["average_"]
    if "slots" in state:
        found["state_"] = {**state, "slots": with_biases(state["slots"])}
    if average is not None:
        found["average_"] = replace(
            average,
            parameters=np.stack([in_unit(theta) for theta in average.parameters]),
            constant=units.centre + units.scale * average.constant,
        )
    return found
