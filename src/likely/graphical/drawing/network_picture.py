"""The layered picture of a neural network: units in columns, and a line for each weight.

    inputs x    hidden units h = g(W x + b)    outputs

A constant 1 on top of a layer feeds the biases of the next, so that the number of lines is the
number of parameters: Σ_l m_l m_{l+1} weights, and Σ_{l≥1} m_l biases.  A layer of more than
``MOST_DRAWN`` units is drawn by its first and its last ones, with an ellipsis between; the captions
have the true numbers.
"""

from collections.abc import Sequence
from itertools import pairwise

from likely.errors import InvalidInput
from likely.graphical.drawing.diagram import (
    Diagram,
    DiagramColumn,
    Edge,
    Node,
    subscripted,
    superscripted,
)
from likely.output.formatting import count, shortened

MOST_DRAWN = 12  # units of a layer that are all drawn
FIRST_DRAWN, LAST_DRAWN = 6, 1  # of a larger layer
LONGEST_NAME = 18  # characters of the name of an input or an output


def network_picture(
    sizes: Sequence[int],
    *,
    activations: Sequence[str] | None = None,
    biases: bool | Sequence[bool] = True,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
    title: str = "",
) -> Diagram:
    """The diagram of a network with layers of these sizes, the inputs first.

    Parameters
    ----------
    sizes
        The number of units of each layer.
    activations
        One for each layer after the inputs, for the captions; "" and "identity" are left out.
    biases
        Whether the units of each layer after the inputs have a bias.
    inputs, outputs
        Names of the first and of the last units; by default x₁, x₂, … and y₁, y₂, ….

    Examples
    --------
    >>> print(network_picture((2, 1), activations=["sigmoid"]).text)
    2 inputs
      • 1
      ● x₁
      ● x₂
    2 weights, 1 bias
    1 output, sigmoid
      ○ y ← 1, x₁, x₂
    """
    n_layers = len(sizes) - 1
    if n_layers < 1 or min(sizes) < 1:
        raise InvalidInput(
            f"The sizes of the layers are {tuple(sizes)}; at least two were expected, each of 1 "
            "unit or more. Give the inputs first and the outputs last, as in (4, 3, 1)."
        )
    given = [biases] * n_layers if isinstance(biases, bool) else list(biases)
    functions = [""] * n_layers if activations is None else list(activations)
    layers = [_units(sizes, k, inputs, outputs) for k in range(len(sizes))]
    nodes = list[Node]()
    columns = list[DiagramColumn]()
    for k, units in enumerate(layers):
        constant = [Node(f"bias {k + 1}", "dot", "1")] if k < n_layers and given[k] else []
        members = [*constant, *units]
        nodes += members
        columns.append(
            DiagramColumn(_caption(sizes, k, functions), tuple(one.name for one in members))
        )
        if k < n_layers:
            columns.append(DiagramColumn(_weights(sizes[k], sizes[k + 1], bias=given[k])))
    return Diagram(tuple(nodes), _edges(nodes, columns), title=title, columns=tuple(columns))


def _units(
    sizes: Sequence[int], k: int, inputs: Sequence[str] | None, outputs: Sequence[str] | None
) -> list[Node]:
    """The units of layer k that are drawn, with an ellipsis for the others."""
    n, last = sizes[k], len(sizes) - 1
    names = inputs if k == 0 else outputs if k == last else None
    if names is not None and len(names) != n:
        raise InvalidInput(
            f"There are {count(n, 'output' if k else 'input')} and {count(len(names), 'name')} of "
            f"them; one name for each was expected. Give {n}, or none."
        )
    numbers = list(range(n))
    if n > MOST_DRAWN:
        numbers = [*range(FIRST_DRAWN), *range(n - LAST_DRAWN, n)]
    units = [
        Node(
            f"{k}.{j + 1}",
            label=_symbol(k, j, n, last) if names is None else shortened(names[j], LONGEST_NAME),
            shaded=k == 0,
        )
        for j in numbers
    ]
    return (
        units
        if n <= MOST_DRAWN
        else [*units[:FIRST_DRAWN], (Node(f"{k}.…", "ellipsis", "⋮")), *units[FIRST_DRAWN:]]
    )


def _symbol(k: int, j: int, n: int, last: int) -> str:
    """x₂ for inputs, y₂ for outputs, h₂ for hidden units; h²₃ where there are several layers."""
    if k in (0, last):
        letter = "x" if k == 0 else "y"
        return letter if n == 1 and k == last else subscripted(letter, str(j + 1))
    letter = "h" if last == 2 else superscripted("h", str(k))
    return subscripted(letter, str(j + 1))


def _caption(sizes: Sequence[int], k: int, activations: Sequence[str]) -> str:
    what = "input" if k == 0 else "output" if k == len(sizes) - 1 else "hidden unit"
    function = activations[k - 1] if k else ""
    return count(sizes[k], what) + (f", {function}" if function not in ("", "identity") else "")


def _weights(n: int, n_next: int, *, bias: bool) -> str:
    weights = count(n * n_next, "weight")
    return f"{weights}, {count(n_next, 'bias', 'biases')}" if bias else weights


def _edges(nodes: Sequence[Node], columns: Sequence[DiagramColumn]) -> tuple[Edge, ...]:
    """A line from every unit and constant of a layer to every unit of the next."""
    kinds = {node.name: node.kind for node in nodes}
    filled = [column.members for column in columns if column.members]
    return tuple(
        Edge(source, target)
        for one, other in pairwise(filled)
        for target in other
        for source in one
        if kinds[source] != "ellipsis" and kinds[target] == "circle"
    )
