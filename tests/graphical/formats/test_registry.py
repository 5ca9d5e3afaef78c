"""Reading and writing by suffix, by name and by content; random graphs survive every format."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely.errors import FormatLoss, InvalidFile, InvalidInput, UnknownName
from likely.graphical.formats.graph_files import FORMATS, SUFFIXES, read_graph, write_graph
from likely.graphical.formats.xmlbif import NOT_XML
from likely.graphical.model.bayesian_network import BayesianNetwork
from likely.graphical.model.factor import Factor
from likely.graphical.model.factor_graph import FactorGraph
from likely.graphical.model.markov_field import MarkovField
from likely.graphical.model.variable import Variable
from likely.storage.files import watching
from tests.accidents import full_disk_at
from tests.graph_files import BAYES, assert_same_graph

ODD = [
    "",
    " ",
    '"',
    "\\",
    '\\"',
    "//",
    "/* a */",
    "a|b",
    "|",
    "[1]",
    "{",
    "(a, b);",
    "a\r\nb",
    "<5",
]
ODD += [
    "unknown",
    "table",
    "default",
    "property",
    "12+",
    "Asy/Patch",
    "ä",
    "\u2028",
    "\x00",
    "&lt;",
]
NAMES = st.one_of(
    st.sampled_from(ODD),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
    st.text("ab\\\"/*,;{}()|[] \t\n'<>&=", max_size=5),
)


@st.composite
def variables(draw, names):
    chosen = draw(st.lists(names, min_size=1, max_size=5, unique=True))
    return [
        Variable(name, draw(st.lists(names, min_size=1, max_size=4, unique=True)))
        for name in chosen
    ]


@st.composite
def networks(draw, names=NAMES):
    listed = draw(variables(names))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    factors = []
    for i, child in enumerate(listed):
        parents = draw(st.lists(st.sampled_from(listed[:i] or [child]), max_size=3, unique=True))
        scope = [parent for parent in parents if parent is not child] + [child]
        shape = tuple(variable.n_states for variable in scope)
        table = rng.dirichlet(np.full(shape[-1], 0.1), size=shape[:-1])
        factors.append(Factor(scope, table))
    shuffled = draw(st.permutations(factors))
    return BayesianNetwork(shuffled, draw(st.permutations(listed)), name=draw(names))


@st.composite
def other_graphs(draw, names=NAMES):
    listed = draw(variables(names))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    factors = []
    for _ in range(draw(st.integers(0, 4))):
        scope = draw(st.lists(st.sampled_from(listed), max_size=3, unique=True))
        log_table = rng.normal(scale=300, size=tuple(variable.n_states for variable in scope))
        if draw(st.booleans()):
            factors.append(Factor(scope, log_table, scale="log", name=draw(names)))
        else:
            factors.append(Factor(scope, np.where(log_table > 0, np.exp(log_table / 9), 0.0)))
    return draw(st.sampled_from([FactorGraph, MarkovField]))(factors, listed, name=draw(names))


def again(graph, tmp_path_factory, name):
    path = tmp_path_factory.mktemp("graph") / name
    write_graph(graph, path)
    return read_graph(path)


@pytest.mark.parametrize("name", ["a.bif", "a.json.gz"])
@given(network=networks())
def test_networks_with_odd_names_survive(name, network, tmp_path_factory):
    assert_same_graph(again(network, tmp_path_factory, name), network)


@given(network=networks(NAMES.filter(lambda name: not NOT_XML.search(name))))
def test_networks_with_odd_names_survive_xml(network, tmp_path_factory):
    assert_same_graph(again(network, tmp_path_factory, "a.xmlbif.xz"), network)


@given(graph=st.one_of(networks(), other_graphs()))
def test_graphs_of_every_kind_survive_json(graph, tmp_path_factory):
    assert_same_graph(again(graph, tmp_path_factory, "a.json"), graph)


@given(graph=st.one_of(networks(), other_graphs()))
def test_tables_survive_uai(graph, tmp_path_factory):
    linear = graph.with_factors(
        Factor(f.variables, f.stored) if f.scale == "linear" else Factor(f.variables, f.stored < 0)
        for f in graph.factors
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FormatLoss)
        found = again(linear, tmp_path_factory, "a.uai")
    assert isinstance(found, BayesianNetwork) == isinstance(graph, BayesianNetwork)
    assert [v.n_states for v in found.variables] == [v.n_states for v in graph.variables]
    place = {name: str(i) for i, name in enumerate(graph.names)}
    for ours, theirs in zip(found.factors, linear.factors, strict=True):
        assert ours.scope == tuple(place[name] for name in theirs.scope)
        assert np.array_equal(ours.stored, theirs.stored)
    assert_same_graph(again(found, tmp_path_factory, "b.uai.gz"), found)


@pytest.fixture(params=FORMATS)
def example(request, tmp_path):
    """A format, and a file of it without a suffix."""
    write_graph(_network(tmp_path), tmp_path / "example", format=request.param)
    return request.param, tmp_path / "example"


def _network(tmp_path):
    (tmp_path / "network.uai").write_text(BAYES)
    return read_graph(tmp_path / "network.uai")


def test_the_content_names_the_format_if_the_suffix_does_not(example, tmp_path):
    _, path = example
    assert_same_graph(read_graph(path), _network(tmp_path))


def test_a_format_that_is_named_wins(example, tmp_path):
    format, path = example
    wrong = path.rename(tmp_path / ("a.bif" if format != "bif" else "a.uai"))
    assert_same_graph(read_graph(wrong, format=format), _network(tmp_path))
    with pytest.raises(InvalidFile):
        read_graph(wrong)


def test_every_suffix_has_its_format(tmp_path):
    network = _network(tmp_path)
    for suffix in SUFFIXES:
        write_graph(network, tmp_path / f"b{suffix}.gz")
        assert_same_graph(read_graph(tmp_path / f"b{suffix}.gz"), network)


def test_unknown_formats_are_refused(tmp_path):
    network = _network(tmp_path)
    (tmp_path / "a.txt").write_text("hello")
    with pytest.raises(InvalidFile, match=r"neither its name nor its content says.*format='uai'"):
        read_graph(tmp_path / "a.txt")
    with pytest.raises(InvalidInput, match=r"'b.txt' does not say a format.*\.uai, \.bif"):
        write_graph(network, tmp_path / "b.txt")
    for call in (
        lambda: read_graph(tmp_path / "network.uai", format="biff"),
        lambda: write_graph(network, tmp_path / "b.uai", format="biff"),
    ):
        with pytest.raises(UnknownName, match=r"no graph format 'biff'.*Did you mean 'bif'"):
            call()


def test_a_full_disk_leaves_the_old_file(tmp_path):
    network, path = _network(tmp_path), tmp_path / "a.bif"
    write_graph(network, path)
    old = path.read_bytes()
    renamed = network.markov_field()
    with pytest.raises(OSError, match="Free some space"), watching(full_disk_at(0)):
        write_graph(renamed, path, format="json")
    assert path.read_bytes() == old


@pytest.mark.parametrize("name", ["a.bif", "a.xml"])
def test_half_a_pair_of_surrogates_is_refused_by_text_formats(tmp_path, name):
    network = BayesianNetwork([Factor([Variable("\ud800", 1)], [1.0])])
    with pytest.raises(InvalidInput, match=r"\\ud800.*\.json"):
        write_graph(network, tmp_path / name)
