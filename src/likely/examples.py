"""Small graphs with exact answers: the two examples that lectures work on the board.

* five variables: P(x1) P(x2) P(x3 | x1) P(x4 | x1, x2) P(x5 | x2), a network whose factor graph is
  a tree although x4 has two parents
* four cycle: one potential for each of four variables and one for each side of the square
  x1 x2 x3 x4: the smallest graph with a cycle
"""

from collections.abc import Callable

from likely.graphical.model.bayesian_network import BayesianNetwork
from likely.graphical.model.factor import Factor
from likely.graphical.model.factor_graph import FactorGraph
from likely.graphical.model.markov_field import MarkovField
from likely.graphical.model.variable import Variable
from likely.names import known_name

__all__ = ["EXAMPLES", "five_variables", "four_cycle", "load"]

DISAGREEMENT = 0.7  # the energy of two neighbours of the four-cycle in different states


def five_variables() -> BayesianNetwork:
    """A network of five variables with two states each: 10 free parameters, the joint has 31.

    Its factors are fA … fE, indexed [parents…, variable].

    >>> network = five_variables()
    >>> network.n_parameters(), network.n_parameters(full_joint=True), network.n_edges
    (10, 31, 9)
    """
    x1, x2, x3, x4, x5 = (Variable(f"x{i}", 2) for i in range(1, 6))
    below = [[[0.9, 0.1], [0.5, 0.5]], [[0.6, 0.4], [0.1, 0.9]]]
    return BayesianNetwork(
        [
            Factor([x1], [0.4, 0.6], name="fA"),
            Factor([x2], [0.7, 0.3], name="fB"),
            Factor([x1, x3], [[0.8, 0.2], [0.3, 0.7]], name="fC"),
            Factor([x1, x2, x4], below, name="fD"),
            Factor([x2, x5], [[0.75, 0.25], [0.2, 0.8]], name="fE"),
        ],
        name="five variables",
    )


def four_cycle() -> MarkovField:
    """A field of four variables with two states each, on a cycle: 8 factors and 12 edges.

    The factors fA … fD have the energies of single variables; fE … fH join neighbours, with an
    energy of 0.7 where their states differ and 0 where they agree.

    >>> field = four_cycle()
    >>> len(field.factors), field.n_edges, field.is_tree
    (8, 12, False)
    """
    variables = [Variable(f"x{i}", 2) for i in range(1, 5)]
    own = {"fA": [0.0, 0.8], "fB": [0.5, 0.0], "fC": [0.2, 0.1], "fD": [0.0, 0.6]}
    alone = [
        Factor([variable], [-energy for energy in energies], scale="log", name=name)
        for variable, (name, energies) in zip(variables, own.items(), strict=True)
    ]
    apart = [[0.0, -DISAGREEMENT], [-DISAGREEMENT, 0.0]]
    joined = [
        Factor([variables[i], variables[(i + 1) % 4]], apart, scale="log", name=name)
        for i, name in enumerate(("fE", "fF", "fG", "fH"))
    ]
    return MarkovField([*alone, *joined], variables, name="four-cycle")


EXAMPLES: dict[str, Callable[[], FactorGraph]] = {
    "five-variables": five_variables,
    "four-cycle": four_cycle,
}


def load(name: str) -> FactorGraph:
    """The example of that name: "five-variables" or "four-cycle"."""
    return EXAMPLES[known_name("example", name, EXAMPLES)]()
