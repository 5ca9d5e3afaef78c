"""UAI evidence files: observed variables and their states, by number.

    2 1 0 4 1              two observations: variable 1 has state 0, variable 4 has state 1

    1                      or, before it, the number of sets of evidence, and each set as above
    2 1 0 4 1

Which of the two a file is, its words say, because each form needs another number of them.  In the
few files that could be both, it is the second if every set has a line of its own.

References
----------
UAI 2014 Inference Competition, "Evidence Format".
"""

from itertools import pairwise
from pathlib import Path

from likely.errors import InvalidFile
from likely.graphical.evidence import Given, checked_evidence
from likely.graphical.factor_graph import FactorGraph
from likely.graphical.formats.content import file_text, write_content
from likely.graphical.formats.words import Words

Observed = dict[str, str]


def read_evidence(path: str | Path, graph: FactorGraph | None = None) -> Observed:
    """The observed states by variable, as ``given`` of a query; of a file with one set of them.

    Without a graph, variables and states are called by their numbers, as in UAI models.
    """
    sets = read_evidence_sets(path, graph)
    if len(sets) != 1:
        raise InvalidFile(
            path,
            f"it holds {len(sets)} sets of evidence; one was expected. Use read_evidence_sets to "
            "read all of them.",
        )
    return sets[0]


def read_evidence_sets(path: str | Path, graph: FactorGraph | None = None) -> list[Observed]:
    """All sets of evidence in a file: the observed states by variable, for each set."""
    path = Path(path)
    words = Words(path, file_text(path))
    starts = _starts(words)
    numbers = words.wholes(words.left, "evidence")
    return [
        _observed(words, numbers[start + 1 : end], start + 1, graph)
        for start, end in pairwise([*starts, len(numbers)])
    ]


def write_evidence(given: Given, path: str | Path, graph: FactorGraph) -> None:
    """Write observed states as a UAI evidence file, by their numbers in the graph."""
    codes = checked_evidence(graph.by_name, given).codes
    place = {name: i for i, name in enumerate(graph.names)}
    pairs = [f"{place[name]} {code}" for name, code in codes.items()]
    write_content(Path(path), (" ".join([str(len(pairs)), *pairs]) + "\n").encode())


def _starts(words: Words) -> list[int]:
    """The position of the first word of each set, which says how many pairs it has."""
    numbers = words.upcoming_wholes(len(words))
    one = bool(numbers) and len(numbers) == 1 + 2 * numbers[0]
    several = _starts_of_sets(numbers)
    if several is None or (one and not _each_on_its_line(words, several, len(numbers))):
        if not one:
            raise words.wrong(
                f"it has {len(words)} words; the number of observations and twice as many numbers, "
                "a variable and a state for each, were expected, or the number of sets of "
                "evidence and then such numbers for each set.",
                0,
            )
        return [0]
    return several


def _starts_of_sets(numbers: list[int]) -> list[int] | None:
    """The position of the first word of each set, if the file begins with the number of sets."""
    if not numbers or not 0 < numbers[0] < len(numbers):
        return None
    starts, position = [], 1
    for _ in range(numbers[0]):
        if position >= len(numbers) or numbers[position] < 0:
            return None
        starts.append(position)
        position += 1 + 2 * numbers[position]
    return starts if position == len(numbers) else None


def _each_on_its_line(words: Words, starts: list[int], n_words: int) -> bool:
    sizes = [end - start for start, end in pairwise([*starts, n_words])]
    return words.lines() == [1, *sizes]


def _observed(words: Words, pairs: list[int], position: int, graph: FactorGraph | None) -> Observed:
    observed: Observed = {}
    names = () if graph is None else graph.names
    for i in range(0, len(pairs), 2):
        number, code = pairs[i], pairs[i + 1]
        name, state = str(number), str(code)
        if graph is not None:
            if number >= len(names):
                raise words.wrong(
                    f"variable {number} is observed; the graph has the variables 0 to "
                    f"{len(names) - 1}. Check that the evidence is of this graph.",
                    position + i,
                )
            name = names[number]
            state = _state(words, graph, name, code, position + i + 1)
        if observed.setdefault(name, state) != state:
            raise words.wrong(
                f"variable {number} is observed in two states; one was expected.", position + i
            )
    return observed


def _state(words: Words, graph: FactorGraph, name: str, code: int, position: int) -> str:
    states = graph.by_name[name].states
    if code >= len(states):
        raise words.wrong(
            f"state {code} of variable {name!r} is observed; it has the states 0 to "
            f"{len(states) - 1}. Check that the evidence is of this graph.",
            position,
        )
    return states[code]
