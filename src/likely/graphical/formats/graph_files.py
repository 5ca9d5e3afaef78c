"""Graph files of every format: the format is named by the suffix, by the caller or by the content.

===========  ===================  ==============================================================
format       suffix               holds
===========  ===================  ==============================================================
uai          ``.uai``             networks and fields, without names
bif          ``.bif``             networks
xmlbif       ``.xmlbif .bifxml``  networks; also ``.xml``
json         ``.json``            every graph, and loses nothing
===========  ===================  ==============================================================

Any of them may end with ``.gz`` or ``.xz``.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import final

from likely.data.formats.registry import SUFFIXES as TABLE_SUFFIXES
from likely.errors import InvalidFile, InvalidInput
from likely.graphical.formats.bif import bif_content, read_bif
from likely.graphical.formats.content import file_content, format_suffix, write_content
from likely.graphical.formats.json_graph import KINDS, json_graph_content, read_json_graph
from likely.graphical.formats.uai import read_uai, uai_content
from likely.graphical.formats.xmlbif import read_xmlbif, xmlbif_content
from likely.graphical.model.bayesian_network import BayesianNetwork
from likely.graphical.model.factor_graph import FactorGraph
from likely.names import lookup

BEGINNING = 4096  # bytes that are searched for the beginning of a format


@final
@dataclass(frozen=True)
class GraphFormat:
    """A format of files: how it is recognised, read and written, and which graphs it holds."""

    suffixes: tuple[str, ...]
    beginning: re.Pattern[bytes]
    read: Callable[[Path, bytes], FactorGraph]
    content: Callable[[FactorGraph, Path], bytes]
    kinds: frozenset[str] = frozenset(KINDS)


NETWORKS = frozenset({BayesianNetwork.kind})
FORMATS: Mapping[str, GraphFormat] = {
    "uai": GraphFormat(
        (".uai",), re.compile(rb"(?:MARKOV|BAYES)\s|#", re.IGNORECASE), read_uai, uai_content
    ),
    "bif": GraphFormat(
        (".bif",),
        re.compile(rb"(?:network|variable|probability)\b|//|/\*"),
        read_bif,
        bif_content,
        NETWORKS,
    ),
    "xmlbif": GraphFormat(
        (".xmlbif", ".bifxml", ".xml"), re.compile(rb"<"), read_xmlbif, xmlbif_content, NETWORKS
    ),
    "json": GraphFormat((".json",), re.compile(rb"\{"), read_json_graph, json_graph_content),
}
TABLES = TABLE_SUFFIXES.keys() - {".txt"}
SUFFIXES = {suffix: found for found in FORMATS.values() for suffix in found.suffixes}


def read_graph(path: str | Path, format: str | None = None) -> FactorGraph:
    """The graph in a file: a BayesianNetwork, a MarkovField or another FactorGraph.

    Parameters
    ----------
    path
        A file of the format UAI, BIF, XMLBIF or JSON, which may be compressed (.gz, .xz).
    format
        "uai", "bif", "xmlbif" or "json"; by default the suffix says it, or the content.
    """
    path = Path(path)
    if format is not None:
        return lookup("graph format", format, FORMATS).read(path, file_content(path))
    content = file_content(path)
    found = SUFFIXES.get(format_suffix(path)) or _recognised(path, content)
    return found.read(path, content)


def write_graph(graph: FactorGraph, path: str | Path, format: str | None = None) -> None:
    """Write a graph to a file, all of it or nothing.

    Parameters
    ----------
    graph
        A Bayesian network for BIF and XMLBIF, any graph for UAI and JSON.
    path
        Its suffix names the format: .uai, .bif, .xmlbif, .bifxml, .xml or .json, and .gz or .xz
        after it.
    format
        "uai", "bif", "xmlbif" or "json", if the suffix does not say it.

    Warns
    -----
    FormatLoss
        If the format has no place for a part of the graph, such as names in UAI.
    """
    path = Path(path)
    if format is None and format_suffix(path) not in SUFFIXES:
        raise InvalidInput(
            f"The name {path.name!r} does not say a format of graphs; a suffix was expected, "
            f"one of {', '.join(SUFFIXES)}. Use one, or pass format='json'."
        )
    found = lookup("graph format", format, FORMATS) if format else SUFFIXES[format_suffix(path)]
    if graph.kind not in found.kinds:
        raise InvalidInput(
            f"{path.name} would hold a {graph.kind}; this format holds a "
            f"{', '.join(sorted(found.kinds))}. Write a .uai or .json file."
        )
    try:
        content = found.content(graph, path)
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"A name has the character {error.object[error.start]!r}, half of a pair of "
            "surrogates, which a text file cannot hold. Rename it, or write a .json file."
        ) from None
    write_content(path, content)


def _recognised(path: Path, content: bytes) -> GraphFormat:
    beginning = content[:BEGINNING].removeprefix(b"\xef\xbb\xbf").lstrip()
    for found in FORMATS.values():
        if found.beginning.match(beginning):
            return found
    if format_suffix(path) in TABLES:
        raise InvalidFile(
            path,
            "its name is that of a table; a graph was expected. Learn a network of its columns in "
            f"Python with likely.BayesianNetwork.from_data({path.name!r}), or answer for each of "
            f"its rows with likely graph GRAPH --table {quote(path.name)}.",
        )
    raise InvalidFile(
        path,
        f"neither its name nor its content says which format it has; one of {', '.join(SUFFIXES)} "
        f"was expected. Rename the file, or pass format='uai', one of {', '.join(FORMATS)}.",
    )
