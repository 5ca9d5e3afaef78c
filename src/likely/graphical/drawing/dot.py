"""Diagrams in the DOT language of Graphviz, written and read.

Plates are clusters, columns are subgraphs of one rank, observed nodes are filled, and messages are
edges of the class ``message``.
What ``dot_text`` writes, ``read_dot`` reads as the same diagram; of other files it reads
nodes, edges with their labels, and clusters, and leaves out how they are to look.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import final

from likely.errors import InvalidFile
from likely.graphical.drawing.diagram import Arrow, Diagram, DiagramColumn, Edge, Node, Plate

SHAPES = {"circle": "circle", "square": "square", "dot": "point", "ellipsis": "plaintext"}
KIND_OF = {
    "square": "square",
    "box": "square",
    "rect": "square",
    "point": "dot",
    "plaintext": "ellipsis",
}
ENGINES = {"layers": "dot", "spread": "neato"}  # Graphviz's programs for the same arrangement
ARRANGEMENT_OF = {engine: name for name, engine in ENGINES.items()}
MESSAGE = "message"
DIGITS = 18  # of the number of a cluster, by which clusters are ordered
DEEPEST = 100  # subgraphs, each in the one before
CLUSTER = re.compile(r"cluster_?(\d*)")
COLUMN = re.compile(r"column_(\d+)")
TOKEN = re.compile(
    r"""(?P<space>\s+ | //[^\n]* | \#[^\n]* | /\*.*?\*/)
    | (?P<string>"(?:[^"\\]|\\.)*")
    | (?P<word>[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]* | -?(?:\.\d+|\d+(?:\.\d*)?))
    | (?P<sign>->|--|[{}\[\];,=:])""",
    re.VERBOSE | re.DOTALL,
)
ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"}
PLAIN = {written[1]: meant for meant, written in ESCAPES.items()}


# ── writing ──────────────────────────────────────────────────────────────────────────────────


def dot_text(diagram: Diagram) -> str:
    """The diagram as a file for Graphviz."""
    directed = any(edge.directed for edge in diagram.edges)
    title = f" {_quoted(diagram.title)}" if diagram.title else ""
    lines = [f"{'digraph' if directed else 'graph'}{title} {{"]
    if diagram.arrangement in ENGINES:
        lines.append(f"  layout={ENGINES[diagram.arrangement]};")
    lines += [f"  {_node(node)}" for node in diagram.nodes]
    lines += _clusters(diagram, range(len(diagram.plates)), "  ")
    lines += _columns(diagram.columns)
    sign = "->" if directed else "--"
    for edge in diagram.edges:
        attributes = {"label": edge.label} if edge.label else {}
        attributes |= {"dir": "none"} if directed and not edge.directed else {}
        lines.append(f"  {_joined(edge.source, sign, edge.target)}{_listed(attributes)};")
    for arrow in diagram.arrows:
        attributes = {"label": arrow.label} if arrow.label else {}
        attributes |= {"class": MESSAGE, "dir": "forward", "constraint": "false", "color": "blue"}
        lines.append(f"  {_joined(arrow.source, sign, arrow.target)}{_listed(attributes)};")
    return "\n".join([*lines, "}", ""])


def _node(node: Node) -> str:
    attributes = {"xlabel" if node.kind == "dot" else "label": node.label}
    attributes["shape"] = SHAPES[node.kind]
    attributes |= {"style": "filled", "fillcolor": "#cbd5e1"} if node.shaded else {}
    return f"{_quoted(node.name)}{_listed(attributes)};"


def _clusters(diagram: Diagram, plates: Iterable[int], indent: str) -> list[str]:
    """Plates as clusters, those that are wholly in another within it."""
    lines: list[str] = []
    for k, nested in diagram.outermost(plates):
        outer = diagram.plates[k]
        members = " ".join(f"{_quoted(name)};" for name in outer.members)
        lines += [f"{indent}subgraph cluster_{k} {{", f"{indent}  label={_quoted(outer.label)};"]
        lines += [f"{indent}  {members}", *_clusters(diagram, nested, f"{indent}  "), f"{indent}}}"]
    return lines


def _columns(columns: tuple[DiagramColumn, ...]) -> list[str]:
    """Columns as subgraphs of one rank, from left to right."""
    lines = ["  rankdir=LR;"] if columns else []
    for k, column in enumerate(columns):
        members = "".join(f" {_quoted(name)};" for name in column.members)
        label = f"label={_quoted(column.caption)};"
        lines.append(f"  subgraph column_{k} {{ rank=same; {label}{members} }}")
    return lines


def _joined(source: str, sign: str, target: str) -> str:
    return f"{_quoted(source)} {sign} {_quoted(target)}"


def _listed(attributes: dict[str, str]) -> str:
    written = ", ".join(f"{name}={_quoted(value)}" for name, value in attributes.items())
    return f" [{written}]" if written else ""


def _quoted(text: str) -> str:
    return f'"{"".join(ESCAPES.get(character, character) for character in text)}"'


# ── reading ──────────────────────────────────────────────────────────────────────────────────


def read_dot(text: str, *, name: str = "DOT") -> Diagram:
    """The diagram that a text in the DOT language describes; ``name`` is for messages.

    >>> read_dot("graph { a -- b }").edges
    (Edge(source='a', target='b', directed=False, label=''),)
    """
    return _Reader(name, _tokens(name, text)).diagram()


@final
@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    line: int


@final
@dataclass
class _Reader:
    """One pass over the tokens of a file."""

    name: str
    tokens: list[_Token]
    at: int = 0
    depth: int = 0  # of subgraphs
    nodes: dict[str, dict[str, str]] = field(default_factory=dict)
    edges: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)
    clusters: list[tuple[str, str, list[str]]] = field(default_factory=list)  # id, label, members
    settings: dict[str, str] = field(default_factory=dict)

    def diagram(self) -> Diagram:
        if self._next_is("strict"):
            self.at += 1
        kind = self._take("'graph' or 'digraph'")
        if kind.text.lower() not in ("graph", "digraph"):
            self._refuse(kind, "'graph' or 'digraph'")
        title = "" if self._next_is("{") else self._word()
        self._expect("{")
        self._statements([])
        if self.at < len(self.tokens):
            self._refuse(self.tokens[self.at], "the end of the file")
        directed = kind.text.lower() == "digraph"
        lines = [edge for edge in self.edges if edge[2].get("class") != MESSAGE]
        messages = [edge for edge in self.edges if edge[2].get("class") == MESSAGE]
        return Diagram(
            tuple(_read_node(name, attributes) for name, attributes in self.nodes.items()),
            tuple(
                Edge(a, b, directed and of.get("dir") != "none", of.get("label", ""))
                for a, b, of in lines
            ),
            tuple(
                Plate(label, tuple(dict.fromkeys(members)))
                for identity, label, members in sorted(self.clusters, key=_cluster_number)
                if CLUSTER.match(identity)
            ),
            tuple(Arrow(a, b, of.get("label", "")) for a, b, of in messages),
            title,
            ARRANGEMENT_OF.get(self.settings.get("layout", ""), "auto"),  # type: ignore[arg-type]
            self._columns(),
        )

    def _columns(self) -> tuple[DiagramColumn, ...]:
        """The columns as ``dot_text`` writes them; none where they do not hold every node."""
        found = [each for each in self.clusters if COLUMN.fullmatch(each[0])]
        every = [name for _, _, members in found for name in members]
        if sorted(every) != sorted(self.nodes):
            return ()
        return tuple(DiagramColumn(label, tuple(members)) for _, label, members in found)

    def _statements(self, within: list[int]) -> None:
        """Statements up to the closing brace, in the clusters and columns of these numbers."""
        while not self._next_is("}"):
            if self._next_is(";"):
                self.at += 1
            elif self._next_is("subgraph") or self._next_is("{"):
                self._subgraph(within)
            else:
                self._statement(within)
        self.at += 1

    def _subgraph(self, within: list[int]) -> None:
        identity = ""
        if self._next_is("subgraph"):
            self.at += 1
            identity = "" if self._next_is("{") else self._word()
        if self.depth == DEEPEST:
            self._refuse(
                self._peek(), f"a statement; {DEEPEST} subgraphs are open, which is the most"
            )
        self._expect("{")
        self.depth += 1
        if CLUSTER.match(identity) or COLUMN.fullmatch(identity):
            self.clusters.append((identity, "", []))
            within = [*within, len(self.clusters) - 1]
        self._statements(within)
        self.depth -= 1
        if self._next_is("->") or self._next_is("--"):
            self._refuse(self.tokens[self.at], "a statement; edges of whole subgraphs are not read")

    def _statement(self, within: list[int]) -> None:
        token = self._take("a name")
        word, quoted = token.text, token.kind == "string"  # in quotes, "node" is a name
        if word in ("node", "edge", "graph") and not quoted and self._next_is("["):
            attributes = self._attributes()
            self.settings |= attributes if word == "graph" and not within else {}
        elif self._next_is("="):
            self.at += 1
            value = self._word()
            if within and word == "label":
                identity, _, members = self.clusters[within[-1]]
                self.clusters[within[-1]] = (identity, value, members)
            elif not within:
                self.settings[word] = value
        else:
            self._nodes_or_edges(word, within)

    def _nodes_or_edges(self, first: str, within: list[int]) -> None:
        path = [first]
        self._port()
        while self._next_is("->") or self._next_is("--"):
            self.at += 1
            path.append(self._word())
            self._port()
        attributes = self._attributes()
        for name in path:
            self.nodes.setdefault(name, {})
            for k in within:
                self.clusters[k][2].append(name)
        if len(path) == 1:
            self.nodes[first] |= attributes
        self.edges += [(a, b, attributes) for a, b in pairwise(path)]

    def _port(self) -> None:
        while self._next_is(":"):
            self.at += 1
            self._word()

    def _attributes(self) -> dict[str, str]:
        found: dict[str, str] = {}
        while self._next_is("["):
            self.at += 1
            while not self._next_is("]"):
                if self._next_is(",") or self._next_is(";"):
                    self.at += 1
                    continue
                key = self._word()
                self._expect("=")
                found[key] = self._word()
            self.at += 1
        return found

    # ── tokens ───────────────────────────────────────────────────────────────────────────────

    def _next_is(self, text: str) -> bool:
        token = self._peek()
        return token.kind != "string" and token.text.lower() == text

    def _peek(self) -> _Token:
        if self.at >= len(self.tokens):
            line = self.tokens[-1].line if self.tokens else 1
            raise InvalidFile(
                self.name,
                "the file ends where '}' was expected. Complete it.",
                line=line,
            )
        return self.tokens[self.at]

    def _take(self, expected: str) -> _Token:
        token = self._peek()
        if token.kind == "sign":
            self._refuse(token, expected)
        self.at += 1
        return token

    def _word(self) -> str:
        return self._take("a name").text

    def _expect(self, sign: str) -> None:
        token = self._peek()
        if token.kind == "string" or token.text != sign:
            self._refuse(token, repr(sign))
        self.at += 1

    def _refuse(self, token: _Token, expected: str) -> None:
        raise InvalidFile(
            self.name, f"{token.text!r} was found where {expected} was expected.", line=token.line
        )


def _tokens(name: str, text: str) -> list[_Token]:
    found: list[_Token] = []
    at, line = 0, 1
    while at < len(text):
        match = TOKEN.match(text, at)
        if match is None or match.lastgroup is None:
            raise InvalidFile(
                name,
                f"{text[at : at + 20].splitlines()[0]!r} cannot be read; names, texts in quotes "
                "and the signs of the DOT language were expected.",
                line=line,
            )
        content = match.group()
        if match.lastgroup == "string":
            found.append(_Token("string", _unquoted(content), line))
        elif match.lastgroup != "space":
            found.append(_Token(match.lastgroup, content, line))
        line += content.count("\n")
        at = match.end()
    return found


def _unquoted(written: str) -> str:
    def plain(found: re.Match[str]) -> str:
        return PLAIN.get(found[1], found[0])

    return re.sub(r"\\(.)", plain, written[1:-1], flags=re.DOTALL)


def _read_node(name: str, attributes: dict[str, str]) -> Node:
    kind = KIND_OF.get(attributes.get("shape", ""), "circle")
    label = attributes.get("xlabel" if kind == "dot" else "label", name)
    shaded = "filled" in attributes.get("style", "") and kind != "dot"
    return Node(name, kind, label, shaded)  # type: ignore[arg-type]  # one of KINDS


def _cluster_number(cluster: tuple[str, str, list[str]]) -> int:
    found = CLUSTER.match(cluster[0])
    return int(found[1][:DIGITS]) if found and found[1] else 0
