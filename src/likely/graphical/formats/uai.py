"""UAI files: models without names, evidence by number, and answers.

A model is a Markov field or a Bayesian network:

    MARKOV                 or BAYES
    3                      the number of variables
    2 2 3                  their numbers of states
    2                      the number of factors
    2 0 1                  the variables of the first: how many, and which
    2 1 2
    4                      the table of the first: how many numbers, and the numbers,
     0.4 0.6 0.3 0.7       those of the last variable side by side
    6
     …

In BAYES the last variable of a factor is the child.  A BAYES table with a row that does not sum
to 1 is refused: it says that it is a conditional distribution, and read as anything else it would
give wrong answers to ``sample``, ``d_separated`` and ``log_evidence``.  Such a file is a Markov
field once its first word is MARKOV, and the message says so.

Evidence is observed variables and their states, by number:

    2 1 0 4 1              two observations: variable 1 has state 0, variable 4 has state 1

    1                      or, before it, the number of sets of evidence, and each set as above
    2 1 0 4 1

Which of the two a file is, its words say, because each form needs another number of them.  In the
few files that could be both, it is the second if every set has a line of its own.

Answers are marginals, the partition function, or the most probable states:

    MAR                                  PR                  MPE (or MAP)
    3 2 0.1 0.9 2 0.3 0.7 1 1.0          -1.25               3 0 1 0

MAR: the number of variables, then for each its number of states and their probabilities.  PR: the
logarithm of the partition function to base 10.  MPE: the number of variables and their states.
After the first line there may be a line ``1``, the number of sets of evidence; of several answers,
each with ``-BEGIN-`` before it, the last one counts.

References
----------
UAI 2014 Inference Competition, "Model Format", "Evidence Format" and "Result file Format".
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import isnan, log, prod
from pathlib import Path
from typing import final

import numpy as np

from likely._typing import Array
from likely.errors import InvalidFile, InvalidInput
from likely.graphical.formats.content import (
    Words,
    decoded,
    file_text,
    linear_tables,
    shortened,
    write_content,
)
from likely.graphical.model.bayesian_network import BayesianNetwork
from likely.graphical.model.conditional_table import wrong_row, wrong_sum
from likely.graphical.model.factor import MOST_VARIABLES, Factor
from likely.graphical.model.factor_graph import FactorGraph
from likely.graphical.model.graph_evidence import Given, checked_evidence
from likely.graphical.model.markov_field import MarkovField
from likely.graphical.model.variable import Variable
from likely.output.formatting import count

MODELS = {"MARKOV": MarkovField, "BAYES": BayesianNetwork}
MOST_STATES = 10**6  # of all variables together, unless the file itself is longer


def read_uai(path: Path, content: bytes) -> FactorGraph:
    """The model of a UAI file; its variables and states are called "0", "1", …."""
    words = Words(path, decoded(path, content))
    opening = words.word("its first word, MARKOV or BAYES")
    model = MODELS.get(opening.upper())
    if model is None:
        raise words.wrong(
            f"it begins with {shortened(opening)}; MARKOV or BAYES was expected. If it is "
            "another format, name the file .bif, .xmlbif or .json, or pass format='bif'."
        )
    variables = _variables(words)
    factors = _factors(words, variables, conditional=model is BayesianNetwork)
    words.end()
    try:
        return model(factors, variables)
    except InvalidInput as error:  # a cycle, two tables or none
        raise InvalidFile(path, str(error)) from error


def uai_content(graph: FactorGraph, path: Path) -> bytes:
    """A graph as a UAI file; names are left out, with a warning."""
    tables = linear_tables(graph.factors, path, "UAI", _names_lost(graph))
    place = {name: str(i) for i, name in enumerate(graph.names)}
    lines = [
        "BAYES" if graph.kind == BayesianNetwork.kind else "MARKOV",
        str(len(graph.variables)),
        " ".join(str(variable.n_states) for variable in graph.variables),
        str(len(graph.factors)),
    ]
    for factor in graph.factors:
        lines.append(" ".join([str(len(factor.scope)), *(place[name] for name in factor.scope)]))
    for table in tables:
        lines += ["", str(table.size)]
        rows = table.reshape(-1, table.shape[-1] if table.ndim else 1).tolist()
        lines += [" " + " ".join(map(repr, row)) for row in rows]
    return ("\n".join(lines) + "\n").encode()


def _variables(words: Words) -> list[Variable]:
    n = words.whole("the number of variables", most=words.left)
    sizes = words.wholes(n, "a variable's number of states", least=1)
    most = max(MOST_STATES, len(words))
    if sum(sizes) > most:
        raise words.wrong(
            f"the variables have {sum(sizes)} states together; at most {most} were expected in a "
            "file of this length. Correct the numbers of states."
        )
    return [Variable(i, size) for i, size in enumerate(sizes)]


def _factors(words: Words, variables: list[Variable], *, conditional: bool) -> list[Factor]:
    n = words.whole("the number of factors", most=words.left)
    scopes = [_scope(words, j, len(variables)) for j in range(n)]
    return [
        _factor(words, f"factor {j}", [variables[i] for i in scope], conditional=conditional)
        for j, scope in enumerate(scopes)
    ]


def _scope(words: Words, j: int, n_variables: int) -> list[int]:
    what = f"the number of variables of factor {j}"
    size = words.whole(what, most=min(n_variables, MOST_VARIABLES))
    scope = words.wholes(size, f"a variable of factor {j}", most=n_variables - 1)
    if len(set(scope)) < size:
        raise words.wrong(
            f"factor {j} has the variables {' '.join(map(str, scope))}; each was expected once."
        )
    return scope


def _factor(words: Words, title: str, scope: list[Variable], *, conditional: bool) -> Factor:
    expected = prod(variable.n_states for variable in scope)
    size = words.whole(f"the size of the table of {title}")
    if size != expected:
        sizes = " × ".join(str(variable.n_states) for variable in scope) or "no variables"
        raise words.wrong(
            f"the table of {title} has {count(size, 'number')}; {expected} ({sizes}) "
            f"{'was' if expected == 1 else 'were'} expected."
        )
    factor = Factor(scope, words.numbers(size, f"a number of the table of {title}"))
    row = wrong_row(factor) if conditional and scope else None
    if row is not None:
        raise words.wrong(
            f"{wrong_sum(factor, row)} If the tables are potentials and no conditional "
            "probabilities, write MARKOV for BAYES at the beginning of the file.",
            words.position - size + row * scope[-1].n_states,
        )
    return factor


def _names_lost(graph: FactorGraph) -> list[str]:
    numbers = [str(i) for i in range(len(graph.variables))]
    lost = []
    if list(graph.names) != numbers:
        lost.append("the names of variables")
    if any(v.states != tuple(map(str, range(v.n_states))) for v in graph.variables):
        lost.append("the names of states")
    if graph.name:
        lost.append(f"the title {graph.name!r}")
    return lost


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


MARGINAL_TOLERANCE = 1e-3  # answers are printed with six digits, and may be approximate
SEPARATOR = "-BEGIN-"


class UaiAnswer(ABC):
    """What a UAI answer file holds."""

    @abstractmethod
    def lines(self) -> list[str]:
        """The lines of the file."""


@final
@dataclass(frozen=True, eq=False)
class MarginalAnswer(UaiAnswer):
    """MAR: the probabilities of the states of each variable."""

    marginals: Mapping[str, Array]

    def lines(self) -> list[str]:
        words = [str(len(self.marginals))]
        for values in self.marginals.values():
            words += [str(len(values)), *map(repr, np.asarray(values, dtype=float).tolist())]
        return ["MAR", " ".join(words)]


@final
@dataclass(frozen=True)
class PartitionAnswer(UaiAnswer):
    """PR: log₁₀ Z, or log₁₀ of the probability of the evidence."""

    log10_partition: float

    @property
    def log_partition(self) -> float:
        """The natural logarithm."""
        return self.log10_partition * log(10.0)

    def lines(self) -> list[str]:
        return ["PR", repr(float(self.log10_partition))]


@final
@dataclass(frozen=True)
class StatesAnswer(UaiAnswer):
    """MPE, also called MAP: the number of the most probable state of each variable."""

    codes: Mapping[str, int]
    task: str = "MPE"  # or "MAP"

    def lines(self) -> list[str]:
        return [self.task, " ".join(map(str, [len(self.codes), *self.codes.values()]))]


def read_answer(path: str | Path, graph: FactorGraph | None = None) -> UaiAnswer:
    """The answer in a UAI file: a MarginalAnswer, a PartitionAnswer or a StatesAnswer.

    With a graph, its variables give the names, and their numbers of states are checked.  Without
    one, variables are called by their numbers.
    """
    path = Path(path)
    words = Words(path, file_text(path))
    task = words.word("its first word: MAR, PR, MPE or MAP")
    words.after_last(SEPARATOR)
    if task == "MAR":
        answer: UaiAnswer = _marginals(words, graph)
    elif task == "PR":
        answer = _partition(words)
    elif task in ("MPE", "MAP"):
        answer = _states(words, graph, task)
    else:
        raise words.wrong(f"it begins with {shortened(task)}; MAR, PR, MPE or MAP was expected.", 0)
    words.end()
    return answer


def write_answer(answer: UaiAnswer, path: str | Path) -> None:
    """Write a MarginalAnswer, a PartitionAnswer or a StatesAnswer as a UAI file."""
    write_content(Path(path), ("\n".join(answer.lines()) + "\n").encode())


def _marginals(words: Words, graph: FactorGraph | None) -> MarginalAnswer:
    first, second = words.upcoming_wholes(2)
    if first == 1 and words.left != 2 + second:
        words.word("the number of sets of evidence")
    marginals = {}
    for name in _names(words, graph):
        size = words.whole(f"the number of states of variable {name!r}", least=1, most=words.left)
        expected = size if graph is None else graph.by_name[name].n_states
        if size != expected:
            raise words.wrong(
                f"variable {name!r} has {size} probabilities; {expected} were expected, one for "
                "each of its states. Check that the answer is of this graph."
            )
        values = words.numbers(size, f"a probability of variable {name!r}")
        if abs(values.sum() - 1.0) > MARGINAL_TOLERANCE:
            raise words.wrong(
                f"the probabilities of variable {name!r} sum to {values.sum():.6g}; 1 was expected."
            )
        marginals[name] = values
    return MarginalAnswer(marginals)


def _partition(words: Words) -> PartitionAnswer:
    if words.left == 2 and words.upcoming_wholes(1) == [1]:
        words.word("the number of sets of evidence")
    word = words.word("the logarithm of the partition function")
    try:
        value = float(word)
    except ValueError:
        value = np.nan
    if isnan(value) or value == np.inf:
        raise words.wrong(f"{shortened(word)} was found for a logarithm; a number was expected.")
    return PartitionAnswer(value)


def _states(words: Words, graph: FactorGraph | None, task: str) -> StatesAnswer:
    first, second = words.upcoming_wholes(2)
    if first == 1 and words.left == 2 + second > 2:
        words.word("the number of sets of evidence")
    names = _names(words, graph)
    codes = words.wholes(len(names), "a state")
    for i, (name, code) in enumerate(zip(names, codes, strict=True)):
        if graph is not None and code >= graph.by_name[name].n_states:
            raise words.wrong(
                f"variable {name!r} has the state {code}; 0 to "
                f"{graph.by_name[name].n_states - 1} was expected. Check that the answer is of "
                "this graph.",
                words.position - len(names) + i,
            )
    return StatesAnswer(dict(zip(names, codes, strict=True)), task)


def _names(words: Words, graph: FactorGraph | None) -> list[str]:
    """The names of the variables, as many as the next word says."""
    n = words.whole("the number of variables", most=words.left)
    if graph is None:
        return [str(i) for i in range(n)]
    if n != len(graph.variables):
        raise words.wrong(
            f"it answers for {n} variables; the graph has {len(graph.variables)}. Check that the "
            "answer is of this graph."
        )
    return list(graph.names)
