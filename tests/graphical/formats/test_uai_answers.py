"""UAI answers: read, checked against a graph, written."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from likely.errors import InvalidFile
from likely.graphical.formats.graph_files import read_graph
from likely.graphical.formats.uai import (
    MarginalAnswer,
    PartitionAnswer,
    StatesAnswer,
    read_answer,
    write_answer,
)
from likely.graphical.model.markov_field import MarkovField
from tests.graph_files import SHARED, needs_shared

SCORES = {  # of the states in the files, from SOURCES.md beside them
    "CSP_11": -3.69431,
    "DBN_11": 133.46419,
    "Grids_11": 386.95567,
    "Grids_15": 635.45099,
    "MAP_Grids_26": 3051.01276,
    "MAP_Segmentation_12": -52.52537,
    "ObjectDetection_11": -241.35904,
    "Pedigree_11": -65.74432,
    "Promedus_11": -21.42456,
    "Segmentation_11": -57.41150,
}


@pytest.fixture
def answer(tmp_path):
    def write(text):
        path = tmp_path / "a.MAR"
        path.write_text(text)
        return path

    return write


@pytest.fixture
def field():
    states = {"sky": ["dry", "wet"], "road": 3}
    return MarkovField.from_potentials(states, {("sky", "road"): [[1, 2, 3], [4, 5, 6]]})


@pytest.mark.parametrize("before", ["MAR\n", "MAR\n1\n", "MAR\n2 2 1 0 3 1 0 0\n-BEGIN-\n1\n"])
def test_marginals_are_read_by_name(answer, field, before):
    path = answer(before + "2 2 0.3 0.7 3 0.1 0.2 0.7\n")
    assert list(read_answer(path).marginals) == ["0", "1"]
    found = read_answer(path, field)
    assert isinstance(found, MarginalAnswer)
    assert_array_equal(found.marginals["sky"], [0.3, 0.7])
    assert_array_equal(found.marginals["road"], [0.1, 0.2, 0.7])


def test_marginals_of_one_variable_are_not_taken_for_a_number_of_sets(answer):
    for text in ("MAR\n1 2 0.5 0.5", "MAR\n1\n1 2 0.5 0.5", "MAR 1 1 1.0", "MAR 1 1 1 1"):
        assert list(read_answer(answer(text)).marginals) == ["0"]


@pytest.mark.parametrize("text", ["PR\n13.563\n", "PR\n1\n13.563", "PR\n2\n-BEGIN-\n13.563"])
def test_the_partition_function_is_a_logarithm_to_base_10(answer, text):
    found = read_answer(answer(text))
    assert found == PartitionAnswer(13.563)
    assert found.log_partition == pytest.approx(np.log(10.0**13.563))


def test_a_partition_function_of_zero_is_minus_infinity(answer):
    assert read_answer(answer("PR\n-inf")).log_partition == -np.inf


@pytest.mark.parametrize("task", ["MPE", "MAP"])
@pytest.mark.parametrize("between", ["\n", "\n1\n"])
def test_most_probable_states_are_read_by_name(answer, field, task, between):
    path = answer(f"{task}{between}2 1 2")
    assert read_answer(path) == StatesAnswer({"0": 1, "1": 2}, task)
    assert read_answer(path, field) == StatesAnswer({"sky": 1, "road": 2}, task)


def test_one_state_is_not_taken_for_a_number_of_sets(answer):
    for text in ("MPE 1 0", "MPE 1 1", "MPE 1 1 0"):
        assert len(read_answer(answer(text)).codes) == 1


def test_what_is_written_is_read(tmp_path, field):
    path = tmp_path / "a.MAR.xz"
    third = np.array([1 / 3, 1 / 3, 1 / 3])
    write_answer(MarginalAnswer({"sky": np.array([0.1, 0.9]), "road": third}), path)
    assert_array_equal(read_answer(path, field).marginals["road"], third)
    for value in (PartitionAnswer(-1 / 3), StatesAnswer({"sky": 0, "road": 2}, "MAP")):
        write_answer(value, path)
        assert read_answer(path, field) == value


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("", 1, "ends before its first word"),
        ("MMAP\n1 0 0", 1, "begins with 'MMAP'; MAR, PR, MPE or MAP"),
        ("MAR\n1000000000 2", 2, "'1000000000' was found for the number of variables"),
        ("MAR\n1\n1000000000 0.1", 3, "'1000000000' was found for the number"),
        ("MAR\n1 2 0.5 0.4", 2, "sum to 0.9; 1 was expected"),
        ("MAR\n1 2 0.5\nx", 3, "'x' was found for a probability"),
        ("MAR\n2 2 0.5 0.5", 2, "the file ends before"),
        ("PR\nnan", 2, "'nan' was found for a logarithm"),
        ("PR\n1 2 3", 2, "more words after the end"),
        ("MPE\n3 0 1", 2, "the file ends before a state"),
        ("MPE\n2 0 -1", 2, "'-1' was found for a state"),
    ],
)
def test_a_malformed_answer_is_named_with_the_line(answer, text, line, problem):
    with pytest.raises(InvalidFile, match=problem) as caught:
        read_answer(answer(text))
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("MAR\n3 2 1 0 2 1 0 2 1 0", "answers for 3 variables; the graph has 2"),
        ("MAR\n2 2 1 0 2 1 0", "'road' has 2 probabilities; 3 were expected"),
        ("MPE\n2 2 0", "'sky' has the state 2; 0 to 1 was expected"),
    ],
)
def test_an_answer_of_another_graph_is_refused(answer, field, text, problem):
    with pytest.raises(InvalidFile, match=problem):
        read_answer(answer(text), field)


@needs_shared
@pytest.mark.parametrize("path", sorted(SHARED.glob("uai/*.MA[RP]")), ids=lambda path: path.name)
def test_shared_answers_are_of_their_problems(path):
    problem = path.with_suffix("")
    graph = read_graph(problem if problem.exists() else problem.with_name(problem.name + ".gz"))
    found = read_answer(path, graph)
    named = found.marginals if isinstance(found, MarginalAnswer) else found.codes
    assert tuple(named) == graph.names
    if isinstance(found, StatesAnswer):
        score = sum(factor.log_value(found.codes) for factor in graph.factors)
        assert score == pytest.approx(SCORES[path.name.split(".")[0]], abs=6e-6)


@needs_shared
def test_shared_partition_functions_are_read():
    assert read_answer(SHARED / "uai" / "Grids_11.uai.PR").log10_partition == 169.408
    assert len(list(SHARED.glob("uai/*.PR"))) == len(
        [read_answer(path) for path in SHARED.glob("uai/*.PR")]
    )
