"""A JSON form for every kind of graph, which loses nothing.

    {"format": "likely-graph", "version": 1, "kind": "markov-field", "name": "",
     "variables": [{"name": "a", "states": ["no", "yes"]}],
     "factors": [{"variables": ["a"], "scale": "log", "name": "", "table": [0.0, "-inf"]}]}

Tables are flat, the last variable fastest.  Numbers are written with as many digits as give the
same float again; log 0 is "-inf", because JSON has no infinity.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from math import inf, prod
from pathlib import Path
from typing import Any, NoReturn

from likely.errors import InvalidFile, InvalidInput
from likely.graphical.formats.content import decoded, shortened
from likely.graphical.model.bayesian_network import BayesianNetwork
from likely.graphical.model.factor import Factor
from likely.graphical.model.factor_graph import FactorGraph
from likely.graphical.model.graph_evidence import known_variable
from likely.graphical.model.markov_field import MarkovField
from likely.graphical.model.variable import Variable, by_name, column_of_states
from likely.output.formatting import listed

FORMAT, VERSION = "likely-graph", 1
KINDS: Mapping[str, type[FactorGraph]] = {
    graph.kind: graph for graph in (FactorGraph, BayesianNetwork, MarkovField)
}


def read_json_graph(path: Path, content: bytes) -> FactorGraph:
    """The graph of a JSON file."""
    text = decoded(path, content)
    try:
        record = json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise InvalidFile(path, f"it is not JSON ({error.msg}).", line=error.lineno) from None
    except (ValueError, RecursionError) as error:
        raise InvalidFile(path, f"it cannot be read as JSON ({error}).") from None
    try:
        return graph_of_record(record)
    except InvalidInput as error:
        raise InvalidFile(path, str(error)) from error


def json_graph_content(graph: FactorGraph, path: Path) -> bytes:
    """A graph as a JSON file, with a line for each variable and each factor."""
    record = record_of_graph(graph)
    lists = [
        f'"{key}": [\n' + ",\n".join(f"  {_json(item)}" for item in record.pop(key)) + "\n]"
        for key in ("variables", "factors")
    ]
    heads = [f"{_json(key)}: {_json(value)}" for key, value in record.items()]
    text = "{" + ",\n".join([", ".join(heads), *lists]) + "}\n"
    return text.encode("utf-8", "backslashreplace")  # half a pair: its escape, as JSON writes it


def record_of_graph(graph: FactorGraph) -> dict[str, Any]:
    """The graph in types of JSON."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "kind": graph.kind,
        "name": graph.name,
        "variables": [_record_of_variable(variable) for variable in graph.variables],
        "factors": [
            {
                "variables": list(factor.scope),
                "scale": factor.scale,
                "name": factor.name,
                "table": ["-inf" if x == -inf else x for x in factor.stored.ravel().tolist()],
            }
            for factor in graph.factors
        ],
    }


def _record_of_variable(variable: Variable) -> dict[str, Any]:
    """The name and the states; ``values``, if they were given as something else than text."""
    record = {"name": variable.name, "states": list(variable.states)}
    values = column_of_states(variable.values)
    return record if values == record["states"] else {**record, "values": values}


def graph_of_record(record: object) -> FactorGraph:
    """The graph of a record in types of JSON; anything else is refused with its place."""
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise InvalidInput(
            f'It is no graph of likely; an object with "format": "{FORMAT}" was expected. If it is '
            "another format, name the file .uai, .bif or .xmlbif, or pass format='uai'."
        )
    if record.get("version") != VERSION:
        raise InvalidInput(
            f"It has the version {shortened(str(record.get('version')))}; {VERSION} was expected. "
            "Install a newer version of likely to read it."
        )
    kind = _entry(record, "kind", str, "the graph")
    if kind not in KINDS:
        raise InvalidInput(
            f"The kind {shortened(kind)} was found; {', '.join(KINDS)} was expected."
        )
    variables = [
        _variable(item, f"variable {i}")
        for i, item in enumerate(_entry(record, "variables", list, "the graph"))
    ]
    named = by_name(variables)
    factors = [
        _factor(item, named, f"factor {j}")
        for j, item in enumerate(_entry(record, "factors", list, "the graph"))
    ]
    return KINDS[kind](factors, variables, name=_entry(record, "name", str, "the graph"))


def _variable(item: object, where: str) -> Variable:
    states = _entry(item, "states", list, where)
    if not all(isinstance(state, str) for state in states):
        raise InvalidInput(f"A state of {where} is no text; names of states were expected.")
    name = _entry(item, "name", str, where)
    if not isinstance(item, dict) or "values" not in item:
        return Variable(name, states)
    values = _entry(item, "values", list, where)
    if not all(isinstance(value, str | int | float) for value in values):
        raise InvalidInput(f"A value of {where} is no number, Boolean or text; one was expected.")
    variable = Variable(name, values)
    if list(variable.states) != states:
        raise InvalidInput(
            f"The values of {where} are {listed(variable.states)} as text, and its states are "
            f"{listed(states)}; the same were expected. Remove the values, or correct them."
        )
    return variable


def _factor(item: object, named: Mapping[str, Variable], where: str) -> Factor:
    names = _entry(item, "variables", list, where)
    if not all(isinstance(name, str) for name in names):
        raise InvalidInput(f"A variable of {where} is no text; its name was expected.")
    scope = [known_variable(named, name) for name in names]
    cells = _entry(item, "table", list, where)
    expected = prod(variable.n_states for variable in scope)
    if len(cells) != expected:
        raise InvalidInput(
            f"The table of {where} has {len(cells)} numbers; {expected} were expected."
        )
    table = [_number(cell, where) for cell in cells]
    scale, name = _entry(item, "scale", str, where), _entry(item, "name", str, where)
    return Factor(scope, table, scale=scale, name=name)


def _number(cell: object, where: str) -> float:
    if isinstance(cell, float | int) and not isinstance(cell, bool):
        with suppress(OverflowError):
            return float(cell)
    elif cell == "-inf":
        return -inf
    raise InvalidInput(
        f"The table of {where} holds {shortened(repr(cell))}; a number was expected."
    )


def _entry(record: object, key: str, kind: type, where: str) -> Any:
    """An entry of an object, which has the type of JSON that is expected."""
    if not isinstance(record, dict) or not isinstance(record.get(key), kind):
        expected = "text" if kind is str else "a list"
        raise InvalidInput(
            f'{where.capitalize()} has no "{key}" that is {expected}; it was expected.'
        )
    return record[key]


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")
