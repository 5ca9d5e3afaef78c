"""Diagrams for the tests: small ones by hand, random ones by seed."""

import gzip
import re
from pathlib import Path

import numpy as np

from likely.graphical.drawing.diagram import Arrow, Diagram, Edge, Node, Plate

NETWORKS = Path(__file__).parents[4] / "shared/data/graphs/bif"

FIVE = Diagram(
    tuple(Node(f"x{i}", shaded=i == 4) for i in range(1, 6)),
    (Edge("x1", "x3"), Edge("x1", "x4"), Edge("x2", "x4"), Edge("x2", "x5")),
)
FOUR_CYCLE = Diagram(
    tuple(Node(f"x{i}") for i in range(1, 5)),
    tuple(Edge(f"x{i}", f"x{i % 4 + 1}", directed=False) for i in range(1, 5)),
)
NESTED = Diagram(
    (
        Node("α", "dot"),
        Node("θ", label="θₘ"),
        Node("z", label="zₘₙ"),
        Node("w", label="wₘₙ", shaded=True),
        Node("φ", label="φₖ"),
    ),
    (Edge("α", "θ"), Edge("θ", "z"), Edge("z", "w"), Edge("φ", "w")),
    (Plate("M", ("θ", "z", "w")), Plate("N", ("z", "w")), Plate("K", ("φ",))),
    title="topics",
)
CROSSING = Diagram(
    (Node("π"), Node("y", shaded=True), Node("x", shaded=True), Node("θ")),
    (Edge("π", "y"), Edge("y", "x"), Edge("θ", "x")),
    (Plate("N", ("y", "x")), Plate("J", ("x", "θ")), Plate("K", ("θ",))),
)
STRANGE = Diagram(
    (
        Node("a <b> & \"c\" 'd'"),
        Node("tab\tand\nline"),
        Node("back\\slash\\", "square", shaded=True),
        Node("日本語のラベル"),
        Node("k", "dot", "α & ω"),
    ),
    (
        Edge("a <b> & \"c\" 'd'", "tab\tand\nline", label='p < 0.05 & "q"'),
        Edge("back\\slash\\", "日本語のラベル", directed=False),
        Edge("k", "back\\slash\\"),
    ),
    title="<title> & co",
)
MESSAGES = Diagram(
    (
        *(Node(f"x{i}", shaded=i == 4) for i in range(1, 6)),
        *(Node(f"f{i}", "square") for i in range(1, 6)),
    ),
    tuple(
        Edge(a, b, directed=False)
        for a, b in (
            *(("f1", "x1"), ("f2", "x2"), ("x1", "f3"), ("f3", "x3"), ("x1", "f4")),
            *(("x2", "f4"), ("f4", "x4"), ("x2", "f5"), ("f5", "x5")),
        )
    ),
    arrows=tuple(
        Arrow(a, b, f"{k}a: 0.{k}36, 0.{k}75")
        for k, (a, b) in enumerate(
            (
                *(("x5", "f5"), ("f2", "x2"), ("f1", "x1"), ("f5", "x2"), ("x2", "f4")),
                *(("f4", "x1"), ("x1", "f3"), ("f3", "x3"), ("x3", "f3"), ("f3", "x1")),
                *(("x1", "f1"), ("x1", "f4"), ("f4", "x2"), ("x2", "f2"), ("x2", "f5")),
            ),
            start=1,
        )
    ),
)
BY_HAND = {
    "five": FIVE,
    "four-cycle": FOUR_CYCLE,
    "nested": NESTED,
    "crossing": CROSSING,
    "strange": STRANGE,
    "messages": MESSAGES,
    "empty": Diagram(()),
    "alone": Diagram((Node("x"),)),
}


def random_directed(seed, n=50, per_node=1.5, longest=14):
    """A directed graph without cycles, with names of different lengths."""
    rng = np.random.default_rng(seed)
    names = [f"v{i}" + "_" * int(rng.integers(0, longest)) for i in range(n)]
    pairs = [(i, j) for j in range(n) for i in range(j)]
    chosen = rng.permutation(len(pairs))[: int(per_node * n)]
    edges = tuple(Edge(names[pairs[k][0]], names[pairs[k][1]]) for k in chosen)
    return Diagram(tuple(Node(name) for name in names), edges)


def random_undirected(seed, n=50, per_node=1.3, squares=False):
    """A graph without directions; with ``squares``, some nodes are factors."""
    diagram = random_directed(seed, n, per_node, longest=5)
    rng = np.random.default_rng(seed)
    nodes = tuple(
        Node(node.name, "square" if squares and rng.random() < 0.4 else "circle")
        for node in diagram.nodes
    )
    edges = tuple(Edge(edge.source, edge.target, directed=False) for edge in diagram.edges)
    return Diagram(nodes, edges)


def network(name):
    """The graph of one of the networks in ``shared/data/graphs``, or None where they are not."""
    path = NETWORKS / f"{name}.bif.gz"
    if not path.exists():
        return None
    text = gzip.decompress(path.read_bytes()).decode()
    names = [found[1] for found in re.finditer(r"variable\s+(\S+)\s*\{", text)]
    given = re.finditer(r"probability\s*\(\s*(\S+)\s*\|\s*([^)]*)\)", text)
    edges = [Edge(p.strip(), found[1]) for found in given for p in found[2].split(",")]
    return Diagram(tuple(Node(name) for name in names), tuple(edges))
