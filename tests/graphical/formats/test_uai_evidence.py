"""UAI evidence in both of its forms."""

import pytest

from likely.errors import InvalidFile, InvalidInput
from likely.graphical.formats.graph_files import read_graph
from likely.graphical.formats.uai import (
    read_evidence,
    read_evidence_sets,
    write_evidence,
)
from likely.graphical.model.markov_field import MarkovField
from tests.graph_files import PROBLEMS, SHARED, needs_shared


@pytest.fixture
def evidence(tmp_path):
    def write(text):
        path = tmp_path / "a.evid"
        path.write_text(text)
        return path

    return write


@pytest.fixture
def field():
    states = {"sky": ["dry", "wet"], "road": 3}
    return MarkovField.from_potentials(states, {("sky", "road"): [[1, 2, 3], [4, 5, 6]]})


@pytest.mark.parametrize(
    ("text", "sets"),
    [
        ("0", [{}]),
        ("1 0", [{}]),
        ("1 4 2", [{"4": "2"}]),
        ("1\n1 4 2", [{"4": "2"}]),
        ("2 4 2 0 1", [{"4": "2", "0": "1"}]),
        ("2\n1 4 2\n2 4 1 0 0\n", [{"4": "2"}, {"4": "1", "0": "0"}]),
        ("2\n0\n1 5 1\n", [{}, {"5": "1"}]),  # both forms fit: the lines decide
        ("2\n0 1\n5 1\n", [{"0": "1", "5": "1"}]),
        ("2 4 2 4 2", [{"4": "2"}]),
    ],
)
def test_both_forms_are_read(evidence, text, sets):
    assert read_evidence_sets(evidence(text)) == sets


def test_a_graph_gives_the_names(evidence, field):
    assert read_evidence(evidence("2 1 2 0 1"), field) == {"road": "2", "sky": "wet"}


def test_what_is_written_is_read(tmp_path, field):
    for given in ({}, {"road": 2}, {"sky": "wet", "road": "0"}):
        write_evidence(given, tmp_path / "a.evid.gz", field)
        assert read_evidence(tmp_path / "a.evid.gz", field) == {k: str(v) for k, v in given.items()}


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("", 1, "has 0 words"),
        ("2 1 0", 1, "has 3 words; the number of observations and twice as many"),
        ("1000000000", 1, "has 1 words"),
        ("1 a 0", 1, "'a' was found for evidence"),
        ("1\n1 -1", 2, "'-1' was found|has 3 words"),
        ("2 4 2\n4 1", 2, "variable 4 is observed in two states"),
        ("1 " + "9" * 5000 + " 0", 1, "was found"),
    ],
)
def test_malformed_evidence_is_named_with_the_line(evidence, text, line, problem):
    with pytest.raises(InvalidFile, match=problem) as caught:
        read_evidence_sets(evidence(text))
    assert caught.value.line == line


def test_evidence_of_another_graph_is_refused(evidence, field):
    with pytest.raises(InvalidFile, match=r"variable 2 is observed; the graph has.*0 to 1"):
        read_evidence(evidence("1 2 0"), field)
    with pytest.raises(InvalidFile, match=r"state 3 of variable 'road'.*0 to 2"):
        read_evidence(evidence("1 1 3"), field)


def test_several_sets_are_not_read_as_one(evidence):
    with pytest.raises(InvalidInput, match=r"holds 2 sets of evidence.*read_evidence_sets"):
        read_evidence(evidence("2\n1 4 2\n2 4 1 0 0\n"))


@needs_shared
@pytest.mark.parametrize("name", [n for n in PROBLEMS if (SHARED / "uai" / n).suffix == ".uai"])
def test_shared_evidence_is_of_its_problem(name):
    graph = read_graph(SHARED / "uai" / name)
    observed = read_evidence(SHARED / "uai" / f"{name}.evid", graph)
    assert len(observed) == {"Pedigree_11.uai": 37, "Promedus_11.uai": 8}.get(name, 0)
