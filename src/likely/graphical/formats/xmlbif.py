"""XMLBIF 0.3: Bayesian networks as XML.

    <BIF VERSION="0.3"><NETWORK><NAME>asia</NAME>
    <VARIABLE TYPE="nature"><NAME>xray</NAME><OUTCOME>yes</OUTCOME><OUTCOME>no</OUTCOME></VARIABLE>
    <DEFINITION><FOR>xray</FOR><GIVEN>either</GIVEN><TABLE>0.98 0.02 0.05 0.95</TABLE></DEFINITION>
    </NETWORK></BIF>

In a table the last parent varies faster than those before it, and the variable itself fastest.
White space around a name is dropped, unless its element says ``xml:space="preserve"``.

A document that declares or refers to entities is refused, so that a small file cannot expand to
a large one, or read another file.  Element and attribute declarations, which old files carry, are
passed over; a document type elsewhere is not fetched.

References
----------
Cozman, The Interchange Format for Bayesian Networks, XMLBIF 0.3 (1999).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any, NoReturn, final
from xml.parsers import expat
from xml.sax.saxutils import escape

import numpy as np

from likely._typing import Array
from likely.errors import InvalidFile, InvalidInput
from likely.graphical.formats.content import floats, is_number, linear_tables, shortened
from likely.graphical.model.bayesian_network import BayesianNetwork
from likely.graphical.model.conditional_table import wrong_row, wrong_sum
from likely.graphical.model.factor import MOST_VARIABLES, Factor
from likely.graphical.model.factor_graph import FactorGraph
from likely.graphical.model.graph_evidence import known_variable
from likely.graphical.model.variable import Variable
from likely.output.formatting import count

HEADER = """<?xml version="1.0" encoding="UTF-8"?>
<BIF VERSION="0.3">
<NETWORK>"""
NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
DEEPEST = 20  # elements inside each other; the format has four


@final
@dataclass(eq=False)
class _Element:
    """An element of the document, its text, and the line where it begins."""

    tag: str
    line: int
    preserve: bool = False
    pieces: list[str] = field(default_factory=list)
    children: list["_Element"] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text, without the white space around it unless it is to be kept."""
        whole = "".join(self.pieces)
        return whole if self.preserve else whole.strip()

    def all(self, tag: str) -> list["_Element"]:
        return [child for child in self.children if child.tag == tag]


def read_xmlbif(path: Path, content: bytes) -> BayesianNetwork:
    """The network of an XMLBIF file."""
    document = _document(path, content)
    networks = document.all("NETWORK") if document.tag == "BIF" else [document]
    if document.tag not in ("BIF", "NETWORK") or len(networks) != 1:
        raise InvalidFile(
            path,
            f"it holds {count(len(networks), 'network')} in <{document.tag}>; one <NETWORK> in "
            "<BIF> was expected.",
            line=document.line,
        )
    network = networks[0]
    variables: dict[str, Variable] = {}
    for element in network.all("VARIABLE"):
        variable = _variable(path, element)
        if variables.setdefault(variable.name, variable) is not variable:
            raise InvalidFile(
                path,
                f"a second variable {variable.name!r} begins; different names were expected.",
                line=element.line,
            )
    factors = [_factor(path, element, variables) for element in network.all("DEFINITION")]
    name = "".join(element.text for element in network.all("NAME"))
    try:
        return BayesianNetwork(factors, variables.values(), name=name)
    except InvalidInput as error:  # a cycle, two tables or none
        raise InvalidFile(path, str(error)) from error


def xmlbif_content(graph: FactorGraph, path: Path) -> bytes:
    """A Bayesian network as an XMLBIF file."""
    tables = linear_tables(graph.factors, path, "XMLBIF")
    lines = [HEADER, _written("NAME", graph.name)]
    for variable in graph.variables:
        lines += ['<VARIABLE TYPE="nature">', f"  {_written('NAME', variable.name)}"]
        lines += [f"  {_written('OUTCOME', state)}" for state in variable.states]
        lines.append("</VARIABLE>")
    for factor, table in zip(graph.factors, tables, strict=True):
        *parents, child = factor.scope
        lines += ["<DEFINITION>", f"  {_written('FOR', child)}"]
        lines += [f"  {_written('GIVEN', parent)}" for parent in parents]
        rows = table.reshape(-1, table.shape[-1]).tolist()
        lines += ["  <TABLE>", *(f"    {' '.join(map(repr, row))}" for row in rows), "  </TABLE>"]
        lines.append("</DEFINITION>")
    return ("\n".join([*lines, "</NETWORK>", "</BIF>"]) + "\n").encode()


def _written(tag: str, name: str) -> str:
    """A name in its element; a carriage return would be read as a line feed if not escaped."""
    found = NOT_XML.search(name)
    if found:
        raise InvalidInput(
            f"The name {name!r} has the character {found[0]!r}, which XML cannot hold. Rename it, "
            "or write a .json file."
        )
    keep = ' xml:space="preserve"' if name != name.strip() else ""
    return f"<{tag}{keep}>{escape(name, {chr(13): '&#13;'})}</{tag}>"


def _variable(path: Path, element: _Element) -> Variable:
    names = element.all("NAME")
    if len(names) != 1:
        raise InvalidFile(
            path,
            f"a variable has {count(len(names), 'name')}; one was expected.",
            line=element.line,
        )
    try:
        return Variable(names[0].text, [outcome.text for outcome in element.all("OUTCOME")])
    except InvalidInput as error:
        raise InvalidFile(path, str(error), line=element.line) from error


def _factor(path: Path, element: _Element, variables: dict[str, Variable]) -> Factor:
    children, tables = element.all("FOR"), element.all("TABLE")
    names = [each.text for each in [*element.all("GIVEN"), *children]]
    distinct = len(set(names)) == len(names) <= MOST_VARIABLES
    if len(children) != 1 or len(tables) != 1 or not distinct:
        raise InvalidFile(
            path,
            f"a definition has {len(children)} FOR, {len(tables)} TABLE and {len(names)} variables "
            "in all; one FOR, one TABLE and different parents, at most 63, were expected.",
            line=element.line,
        )
    try:
        scope = [known_variable(variables, name) for name in names]
        factor = Factor(scope, _numbers(path, tables[0], scope))
    except InvalidFile:
        raise
    except InvalidInput as error:
        raise InvalidFile(path, str(error), line=element.line) from error
    row = wrong_row(factor)
    if row is not None:
        raise InvalidFile(path, wrong_sum(factor, row), line=tables[0].line)
    return factor


def _numbers(path: Path, table: _Element, scope: Sequence[Variable]) -> Array:
    words = table.text.split()
    expected = prod(variable.n_states for variable in scope)
    if len(words) != expected:
        raise InvalidFile(
            path,
            f"the table of {scope[-1].name!r} has {count(len(words), 'number')}; {expected} were "
            "expected.",
            line=table.line,
        )
    try:
        numbers = np.array(floats(words))
    except ValueError:
        bad = next(word for word in words if not is_number(word))
        raise InvalidFile(
            path,
            f"{shortened(bad)} was found in the table of {scope[-1].name!r}; a number was "
            "expected.",
            line=table.line,
        ) from None
    return numbers.reshape([variable.n_states for variable in scope])


@final
class _Builder:
    """Builds the tree of elements from the events of the parser."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.characters
        self.parser.EntityDeclHandler = self.refuse_entity
        self.parser.ExternalEntityRefHandler = self.refuse_entity
        self.parser.SkippedEntityHandler = self.refuse_entity
        self.open = [_Element("", 1)]

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if len(self.open) > DEEPEST:
            raise self.wrong(f"more than {DEEPEST} elements are inside each other.")
        preserve = attributes.get("xml:space") == "preserve"
        element = _Element(tag, self.parser.CurrentLineNumber, preserve)
        if tag == "VARIABLE" and attributes.get("TYPE", "nature") != "nature":
            raise self.wrong(
                f"a variable of the type {shortened(attributes['TYPE'])} was found; 'nature' was "
                "expected. Influence diagrams cannot be read."
            )
        self.open[-1].children.append(element)
        self.open.append(element)

    def end(self, tag: str) -> None:
        self.open.pop()

    def characters(self, text: str) -> None:
        self.open[-1].pieces.append(text)

    def refuse_entity(self, *declared: Any) -> NoReturn:
        raise self.wrong(
            "it declares or refers to an entity; plain text was expected. Replace entities by "
            "what they stand for."
        )

    def wrong(self, problem: str) -> InvalidFile:
        return InvalidFile(self.path, problem, line=self.parser.CurrentLineNumber)


def _document(path: Path, content: bytes) -> _Element:
    builder = _Builder(path)
    try:
        builder.parser.Parse(content, True)
    except InvalidFile:
        raise
    except expat.ExpatError as error:
        raise InvalidFile(
            path, f"it is not well-formed XML ({expat.ErrorString(error.code)}).", line=error.lineno
        ) from None
    except (ValueError, LookupError) as error:  # an encoding that does not exist
        raise InvalidFile(path, f"it cannot be read as XML ({error}).") from None
    return builder.open[0].children[0]
