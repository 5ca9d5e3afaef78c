r"""BIF 0.15, the interchange format of Bayesian networks.

    network asia { }
    variable xray { type discrete [ 2 ] { yes, no }; }
    variable either { type discrete [ 2 ] { yes, no }; }
    probability ( either ) { table 0.1, 0.9; }
    probability ( xray | either ) {
      (yes) 0.98, 0.02;
      default 0.05, 0.95;
    }

A name is any run of characters that are neither white space nor one of ``, ; { } ( )``, or text
in double quotes, where ``\"`` and ``\\`` stand for ``"`` and ``\``.  ``//`` and ``/* */`` enclose
comments.  In a ``table`` of a variable with parents, the variable itself varies slowest and the
last parent fastest.  Rows that are not listed have the probabilities of ``default``.  A property
says nothing about the distribution, and neither properties nor comments are kept.  The network
``unknown``, a word that writers put where there is no name, has the name "".

References
----------
Cozman, The Interchange Format for Bayesian Networks (1998).
"""

import re
from collections.abc import Sequence
from itertools import islice, product
from math import prod
from pathlib import Path
from typing import final

import numpy as np

from likely._typing import Array
from likely.errors import InvalidFile, InvalidInput
from likely.graphical.formats.content import decoded, floats, is_number, linear_tables, shortened
from likely.graphical.model.bayesian_network import BayesianNetwork
from likely.graphical.model.conditional_table import wrong_row, wrong_sum
from likely.graphical.model.factor import MOST_VARIABLES, Factor
from likely.graphical.model.factor_graph import FactorGraph
from likely.graphical.model.graph_evidence import known_variable
from likely.graphical.model.variable import Variable
from likely.output.formatting import count

TOKEN = re.compile(
    r"""//[^\n]*|/\*(?:.*?\*/|.*)|"(?:[^"\\]|\\.)*+(?:"|\Z)|[,;{}()]|[^\s,;{}()]+""", re.DOTALL
)
PLAIN = re.compile(r"""[^\s,;{}()\[\]|"\\]+""")  # a name that needs no quotes
QUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*+\"", re.DOTALL)
TYPE = re.compile(r"discrete\[([0-9]{1,9})\]")
PUNCTUATION = frozenset(",;{}()")
NO_NAME = "unknown"
MOST_CELLS = 10**7  # of tables filled by a default, unless the file itself is longer


def read_bif(path: Path, content: bytes) -> BayesianNetwork:
    """The network of a BIF file."""
    return _Parser(path, decoded(path, content)).network()


def bif_content(graph: FactorGraph, path: Path) -> bytes:
    """A Bayesian network as a BIF file."""
    tables = linear_tables(graph.factors, path, "BIF")
    title = '"unknown"' if graph.name == NO_NAME else _written(graph.name or NO_NAME)
    lines = [f"network {title} {{", "}"]
    for variable in graph.variables:
        states = ", ".join(map(_written, variable.states))
        lines.append(f"variable {_written(variable.name)} {{")
        lines.append(f"  type discrete [ {variable.n_states} ] {{ {states} }};")
        lines.append("}")
    for factor, table in zip(graph.factors, tables, strict=True):
        *parents, child = map(_written, factor.scope)
        given = f" | {', '.join(parents)}" if parents else ""
        lines.append(f"probability ( {child}{given} ) {{")
        rows = table.reshape(-1, table.shape[-1]).tolist()
        cells = product(*(map(_written, v.states) for v in factor.variables[:-1]))
        for row, above in zip(rows, cells, strict=True):
            begin = f"({', '.join(above)})" if parents else "table"
            lines.append(f"  {begin} {', '.join(map(repr, row))};")
        lines.append("}")
    return ("\n".join(lines) + "\n").encode()


def _written(name: str) -> str:
    """A name as it is, or in quotes where another reader would split it."""
    if PLAIN.fullmatch(name) and "//" not in name and "/*" not in name:
        return name
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


@final
class _Parser:
    """A position in the tokens of a BIF file, and what was read so far."""

    def __init__(self, path: Path, text: str) -> None:
        self.path, self.text = path, text
        self.tokens: list[str] = TOKEN.findall(text)
        if "//" in text or "/*" in text:
            self.tokens = [token for token in self.tokens if not _is_comment(token)]
        self.position = 0
        self.variables: dict[str, Variable] = {}
        self.factors: dict[str, Factor] = {}
        self.n_cells = 0

    def network(self) -> BayesianNetwork:
        """The whole file; conditional tables are read last, when all variables are known."""
        name, tables = "", []
        if not self.tokens:
            raise InvalidFile(
                self.path, "the file holds nothing; a network was expected. Get it again.", line=1
            )
        while self.position < len(self.tokens):
            block = self.take("a block")
            if block == "network":
                name = self.title()
            elif block == "variable":
                self.variable()
            elif block == "probability":
                tables.append(self.position)
                self.until("}")
            else:
                raise self.wrong(
                    f"{shortened(block)} was found; network, variable or probability was expected."
                )
        for position in tables:
            self.position = position
            self.probability()
        try:
            return BayesianNetwork(self.factors.values(), self.variables.values(), name=name)
        except InvalidInput as error:  # a cycle, or a variable without a table
            raise InvalidFile(self.path, str(error)) from error

    def title(self) -> str:
        words = self.until("{")
        while (token := self.take("} of the network")) != "}":
            self.skip_property(token)
        return "" if words == [NO_NAME] else " ".join(map(self.name_of, words))

    def variable(self) -> None:
        start = self.position
        name = self.name_of(self.take("the name of a variable"))
        if name in self.variables:
            raise self.wrong(f"a second variable {name!r} begins; different names were expected.")
        self.expect("{")
        states: list[str] | None = None
        while (token := self.take("} of a variable")) != "}":
            if token == "type" and states is None:
                states = self.states()
            else:
                self.skip_property(token)
        if states is None:
            raise self.wrong(f"variable {name!r} has no type; 'type discrete' was expected.", start)
        try:
            self.variables[name] = Variable(name, states)
        except InvalidInput as error:
            raise self.wrong(str(error), start) from error

    def states(self) -> list[str]:
        start = self.position
        written = "".join(self.until("{"))
        declared = TYPE.fullmatch(written)
        if declared is None:
            raise self.wrong(
                f"the type {shortened(written)} was found; 'discrete [ n ]' was expected, with the "
                "number of states. Continuous variables cannot be read.",
                start,
            )
        states = [self.name_of(token) for token in self.until("}") if token != ","]
        if len(states) != int(declared[1]):
            raise self.wrong(
                f"{count(len(states), 'state')} were found; {declared[1]} were declared.", start
            )
        if self.tokens[self.position : self.position + 1] == [";"]:
            self.position += 1
        return states

    def probability(self) -> None:
        start = self.position
        self.expect("(")
        scope = self.scope(start)
        child = scope[-1]
        if child.name in self.factors:
            raise self.wrong(f"a second table of {child.name!r} begins; one was expected.", start)
        self.n_cells += prod(variable.n_states for variable in scope)
        if self.n_cells > max(MOST_CELLS, len(self.tokens)):
            raise self.wrong(
                f"the table of {child.name!r} and those before have {self.n_cells} numbers, more "
                f"than a file of this length may have ({MOST_CELLS}). Correct the parents.",
                start,
            )
        self.expect("{")
        table = _Table(self, scope, start)
        while (token := self.take(f"}} of the table of {child.name!r}")) != "}":
            if token == "(":
                table.add_row()
            elif token == "table" or token == "default":
                table.add_whole(token)
            else:
                self.skip_property(token)
        self.factors[child.name] = table.factor()

    def scope(self, start: int) -> list[Variable]:
        """The parents and then the child; the file has the child first."""
        names: list[str] = []
        for token in self.until(")"):
            if token in (",", "|"):
                continue
            if token[0] == '"' or token in self.variables:
                names.append(self.name_of(token))
            else:
                names += [self.name_of(part) for part in token.split("|") if part]
        try:
            scope = [known_variable(self.variables, name) for name in names]
        except InvalidInput as error:
            raise self.wrong(str(error), start) from error
        if not 0 < len(set(names)) == len(names) <= MOST_VARIABLES:
            raise self.wrong(
                f"a table of {count(len(names), 'variable')} was found; a variable and its parents "
                f"were expected, each once, and at most {MOST_VARIABLES}.",
                start,
            )
        return [*scope[1:], scope[0]]

    def numbers(self, n: int, what: str) -> list[float]:
        """The numbers up to the next semicolon, ``n`` of them."""
        start = self.position
        words = [token for token in self.until(";") if token != ","]
        try:
            numbers = floats(words)
        except ValueError:
            bad = next(word for word in words if not is_number(word))
            raise self.wrong(
                f"{shortened(bad)} was found among the numbers of {what}; a number was expected, "
                "and a semicolon after the last one.",
                self.tokens.index(bad, start),
            ) from None
        if len(numbers) != n:
            raise self.wrong(
                f"{count(len(numbers), 'number')} were found for {what}; {n} were expected.", start
            )
        return numbers

    def skip_property(self, token: str) -> None:
        if token != "property":
            raise self.wrong(
                f"{shortened(token)} was found; property, an entry of the block or }} was expected."
            )
        self.until(";")

    def name_of(self, token: str) -> str:
        """The name that a token stands for."""
        if token in PUNCTUATION:
            raise self.wrong(f"{token!r} was found; a name was expected.")
        if token[0] != '"':
            return token
        if not QUOTED.fullmatch(token):
            raise self.wrong(f"the quote in {shortened(token)} is not closed.")
        return re.sub(r'\\(["\\])', r"\1", token[1:-1])

    def take(self, what: str) -> str:
        if self.position >= len(self.tokens):
            raise self.wrong(f"the file ends before {what}.")
        self.position += 1
        return self.tokens[self.position - 1]

    def expect(self, expected: str) -> None:
        found = self.take(repr(expected))
        if found != expected:
            raise self.wrong(f"{shortened(found)} was found; {expected!r} was expected.")

    def until(self, end: str) -> list[str]:
        """The tokens before the next ``end``, which is passed."""
        start = self.position
        try:
            found = self.tokens.index(end, start)
        except ValueError:
            raise self.wrong(f"there is no {end!r} after this; one was expected.") from None
        self.position = found + 1
        return self.tokens[start:found]

    def wrong(self, problem: str, position: int | None = None) -> InvalidFile:
        """The error at a token, by default at the one that was taken last."""
        position = self.position - 1 if position is None else position
        found = (f for f in TOKEN.finditer(self.text) if not _is_comment(f[0]))
        token = next(islice(found, max(position, 0), None), None)
        at = len(self.text.rstrip()) if token is None else token.start()
        return InvalidFile(self.path, problem, line=self.text.count("\n", 0, at) + 1)


@final
class _Table:
    """The rows of a conditional table, as they are read."""

    def __init__(self, parser: _Parser, scope: Sequence[Variable], start: int) -> None:
        self.parser, self.scope, self.start = parser, scope, start
        self.parents, self.child = scope[:-1], scope[-1]
        self.title = f"the table of {self.child.name!r}"
        self.starts: dict[int, int] = {}  # the token that begins each row
        self.values: list[list[float]] = []
        self.whole: dict[str, list[float]] = {}

    def add_row(self) -> None:
        """A row of the states of all parents and the probabilities of the child."""
        start = self.parser.position
        states = [token for token in self.parser.until(")") if token != ","]
        if len(states) != len(self.parents):
            raise self.parser.wrong(
                f"a row of {self.title} has {count(len(states), 'state')}; one for each of the "
                f"{len(self.parents)} parents was expected.",
                start,
            )
        row = 0
        for token, parent in zip(states, self.parents, strict=True):
            code = parent.codes.get(token if token[0] != '"' else self.parser.name_of(token))
            if code is None:
                raise self.unknown_state(parent, token, start)
            row = row * parent.n_states + code
        if row in self.starts:
            raise self.parser.wrong(f"a row of {self.title} occurs twice.", start)
        self.starts[row] = start
        self.values.append(self.parser.numbers(self.child.n_states, f"a row of {self.title}"))

    def add_whole(self, word: str) -> None:
        """All probabilities, after the word table, or those of rows not listed: default."""
        start = self.parser.position
        if word in self.whole:
            raise self.parser.wrong(f"{word} occurs twice in {self.title}.")
        n = self.child.n_states
        if word == "table":
            n *= prod(parent.n_states for parent in self.parents)
        self.whole[word] = self.parser.numbers(n, self.title)
        if "table" in self.whole and (self.starts or len(self.whole) > 1):
            raise self.parser.wrong(
                f"{self.title} is given twice, after the word table and by rows; one of the two "
                "was expected.",
                start,
            )

    def factor(self) -> Factor:
        parser = self.parser
        try:
            factor = Factor(self.scope, self.table())
        except InvalidInput as error:
            raise parser.wrong(str(error), self.start) from error
        row = wrong_row(factor)
        if row is not None:
            raise parser.wrong(wrong_sum(factor, row), self.starts.get(row, self.start))
        return factor

    def table(self) -> Array:
        """The numbers, with the child's axis last."""
        shape = [parent.n_states for parent in self.parents]
        n = self.child.n_states
        if "table" in self.whole:
            child_first = np.array(self.whole["table"]).reshape([n, *shape])
            return np.ascontiguousarray(np.moveaxis(child_first, 0, -1))
        table = np.empty((prod(shape), n))
        table[:] = self.whole.get("default", np.nan)
        table[list(self.starts)] = np.array(self.values).reshape(-1, n)
        if "default" not in self.whole and len(self.starts) < len(table):
            absent = next(row for row in range(len(table)) if row not in self.starts)
            cell = np.unravel_index(absent, shape)
            named = ", ".join(v.states[i] for v, i in zip(self.parents, cell, strict=True))
            raise self.parser.wrong(
                f"{self.title} has no row {f'({named})' if named else 'of numbers'}; a row for "
                "each combination of states of the parents was expected, or a default.",
                self.start,
            )
        return table.reshape([*shape, n])

    def unknown_state(self, parent: Variable, token: str, start: int) -> InvalidFile:
        try:
            parent.code(self.parser.name_of(token))
        except InvalidInput as error:
            return self.parser.wrong(str(error), start)
        raise AssertionError("the state is known")


def _is_comment(token: str) -> bool:
    """Whether a token is a whole comment; one that does not end is a token that fits nowhere."""
    closed = token.startswith("/*") and token.endswith("*/") and len(token) > 3
    return closed or token.startswith("//")
