"""A conditional factor graph: a distribution of some variables, given the values of others.

    P(y | x) = (1/Z(x)) Π_i φ_i(x_i, y)

The x are given and not modelled: drawn as squares, they have a value and no distribution.
"""

from collections.abc import Iterable, Mapping
from typing import final

from likely.errors import InvalidInput
from likely.graphical.model.factor import Factor
from likely.graphical.model.factor_graph import FactorGraph
from likely.graphical.model.graph_evidence import Wanted, WantedNames
from likely.graphical.model.variable import Variable
from likely.output.formatting import listed


@final
class ConditionalGraph(FactorGraph):
    """Factors over the variables that are modelled, at the given values of the others.

    Parameters
    ----------
    factors
        φ_i at the given x_i, a table over the modelled variables; a factor that depends on one
        given value has its name.
    variables
        The modelled variables; by default those of the factors.
    given
        The values that were given, by name.
    name
        A title for pictures and files.
    """

    def __init__(
        self,
        factors: Iterable[Factor],
        variables: Iterable[Variable] | None = None,
        *,
        given: Mapping[str, object] | None = None,
        name: str = "",
    ) -> None:
        super().__init__(factors, variables, name=name)
        self.given = dict(given or {})
        for known in self.by_name.keys() & self.given.keys():
            raise InvalidInput(
                f"{known!r} is both a variable of the factors and given; one of them was expected. "
                "Rename it, or leave it out of given."
            )

    def variable(self, name: str) -> Variable:
        """The modelled variable of that name; a given one has no distribution and is refused."""
        self._refuse_given([name])
        return super().variable(name)

    def with_factors(self, factors: Iterable[Factor]) -> "ConditionalGraph":
        """The graph with other factors, and the same values given."""
        return ConditionalGraph(factors, self.variables, given=self.given, name=self.name)

    def _wanted(self, variables: Wanted | None) -> WantedNames:
        if variables is not None:
            asked = [variables] if isinstance(variables, str) else list(variables)
            self._refuse_given(
                name for each in asked for name in (each if isinstance(each, tuple) else (each,))
            )
        return super()._wanted(variables)

    def _refuse_given(self, names: Iterable[str]) -> None:
        for name in names:
            if name in self.given:
                raise InvalidInput(
                    f"{name!r} is given and not modelled, so that the graph has no distribution "
                    f"over it; a query of {listed(self.names)} was expected. Use a generative "
                    "model, such as NaiveBayes, for a distribution over all variables."
                )
