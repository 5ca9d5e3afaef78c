"""What fitted networks answer about themselves: weights, columns, descriptions and pictures.

``FittedNetwork`` has the methods that classifying and regressing networks share and that only read
what a fit has learned.
"""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from likely._typing import Array, Matrix
from likely.data.block import Block
from likely.data.coding import Coding
from likely.description import ColumnsRead, Description
from likely.errors import InvalidInput
from likely.explanations.any_model import ESTIMATED
from likely.explanations.explanation import Explanation, like_its_rows
from likely.explanations.sampled import NumberRows, SampledContributions, sampled_contributions
from likely.formatting import count
from likely.graphical.diagrams.diagram import Diagram
from likely.graphical.model_plates import PlateParameter, conditional_plate
from likely.inputs.coding import columns_coded, new_rows
from likely.inputs.estimators import ColumnNeeds, feature_names
from likely.neural.architecture import Architecture
from likely.neural.average import NetworkAverage
from likely.neural.description import describe_network, picture_of
from likely.neural.history import History
from likely.neural.inspection import Inspection, inspected
from likely.neural.objective import chunk_rows
from likely.neural.outputs import Output
from likely.neural.propagation import predictor
from likely.neural.training.examples import finite_matrix
from likely.neural.training.problem import Targets
from likely.neural.units import weight_strengths

RELATIVE = "Contributions are relative to an input of 0: the mean of scaled numbers, no category."


class FittedNetwork(ABC):
    """A network that was trained."""

    architecture_: Architecture
    output_: Output
    coding_: Coding
    parameters_: Array
    history_: History
    average_: NetworkAverage | None
    l1: float
    l2: float
    response_centre_: Any
    response_scale_: float

    @abstractmethod
    def _targets(self, classes: Array) -> Targets:
        """How y of further rows is read."""

    @property
    def weights_(self) -> list[Array]:
        """W^(l) of each layer, (units, units before it): views of ``parameters_``."""
        check_is_fitted(self)
        return [layer.weight for layer in self.architecture_.unpack(self.parameters_)]

    @property
    def biases_(self) -> list[Array | None]:
        """b^(l) of each layer, (units,); None where it has none."""
        check_is_fitted(self)
        return [layer.bias for layer in self.architecture_.unpack(self.parameters_)]

    @property
    def n_parameters_(self) -> int:
        """How many weights, biases and thresholds there are."""
        check_is_fitted(self)
        return self.architecture_.n_parameters

    @property
    def n_iter_(self) -> int:
        """How many epochs there were."""
        return self.history_.n_epochs

    @property
    def terms_(self) -> tuple[str, ...]:
        """The name of each input of the network: its column, or column[category]."""
        return self.coding_.names()

    def describe(self) -> Description:
        """The layers, how training went, and how well the network fits."""
        check_is_fitted(self)
        return describe_network(self)

    def plate(self) -> Diagram:
        """The plate diagram: x is given, y is modelled for each row, and all weights are shared."""
        penalised = any(weight_strengths(self))
        return conditional_plate(type(self).__name__, self._plate_parameters(), penalised=penalised)

    def _plate_parameters(self) -> tuple[PlateParameter, ...]:
        return (PlateParameter("W"),)

    def draw(self, path: Any = None) -> Diagram:
        """The layers as a diagram, with a line for each weight; saved where a path is given."""
        check_is_fitted(self)
        diagram = picture_of(self)
        if path is not None:
            diagram.save(path)
        return diagram

    def trace(self, X: Any, y: Any = None, *, network: int = 0) -> Inspection:
        """The values of every layer for each row; with y also the losses, errors and gradient.

        All are in float64; without dropout, weights and penalties.  Of a model with several
        networks (``n_networks``) they are those of one, ``network`` from 0, while predictions
        average all of them and shrink the average.
        """
        check_is_fitted(self)
        every = self.parameters_[None] if self.average_ is None else self.average_.parameters
        if not isinstance(network, int | np.integer) or not 0 <= network < len(every):
            raise InvalidInput(
                f"network={network!r} was given; the model has {count(len(every), 'network')}, "
                "numbered from 0. Use network=0 for the first."
            )
        matrix, target = self._matrix(X), None
        if y is not None:
            classes = vars(self).get("classes_", np.empty(0))
            target = self._targets(classes)(y, matrix.shape[0])
        found = inspected(self.architecture_, self.output_, every[network], matrix, target)
        return found._replace(network=int(network), n_networks=len(every))

    @like_its_rows
    def explain(self, X: Any, against: Any = None) -> Explanation:
        """What each column adds to the log-odds of every class against one, or to the mean.

        Relative to an input of 0, which is the mean of scaled numbers (as ``Prepared`` gives them)
        and no category.  Columns are replaced in random orders: contributions are estimates, always
        the same for the same row, and they add up.
        """
        check_is_fitted(self)
        matrix = self._matrix(X)
        n_columns = len(self.coding_.schema.as_codes)
        rows = NumberRows(matrix, self.coding_.column_of_coefficient(), n_columns)
        n = matrix.shape[0]
        found = sampled_contributions(self._explained_score, rows, np.arange(n), np.array([n]))
        return self._explanation(found, against).also(RELATIVE, ESTIMATED)

    @abstractmethod
    def _explained_score(self, matrix: Matrix) -> Array:
        """What is explained, of rows as the network reads them."""

    @abstractmethod
    def _explanation(self, found: SampledContributions, against: Any) -> Explanation:
        """The explanation, from contributions to the score."""

    def column_needs(self) -> ColumnNeeds:
        """Categories as they are; numbers scaled, because one rate serves all weights."""
        return ColumnNeeds(scale=True, categories=True)

    def columns_read(self, n_rows: int | None = None) -> ColumnsRead:
        """How many columns are numbers and how many categories; which of them to check."""
        check_is_fitted(self)
        return columns_coded(self.coding_.schema, feature_names(self), n_rows)

    def _predictor(self, X: Matrix, theta: Array) -> Array:
        """The predictor at some parameters, a part of the rows at a time."""
        size = chunk_rows(self.architecture_)
        parts = [
            predictor(self.architecture_, theta, X[low : low + size].astype(np.float64, copy=False))
            for low in range(0, X.shape[0], size)
        ]
        return np.concatenate(parts)

    @property
    def _extra(self) -> Array:
        return self.architecture_.extra(self.parameters_.astype(np.float64))

    def _matrix(self, X: Any) -> Matrix:
        """New rows as the network reads them."""
        return finite_matrix(Block(new_rows(self, self.coding_, X)), self.coding_.names)
