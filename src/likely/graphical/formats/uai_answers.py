"""UAI answers: marginals, the partition function, the most probable states.

    MAR                                  PR                  MPE (or MAP)
    3 2 0.1 0.9 2 0.3 0.7 1 1.0          -1.25               3 0 1 0

MAR: the number of variables, then for each its number of states and their probabilities.  PR: the
logarithm of the partition function to base 10.  MPE: the number of variables and their states.
After the first line there may be a line ``1``, the number of sets of evidence; of several answers,
each with ``-BEGIN-`` before it, the last one counts.

References
----------
UAI 2014 Inference Competition, "Result file Format".
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from math import isnan, log
from pathlib import Path
from typing import final

import numpy as np

from likely._typing import Array
from likely.graphical.factor_graph import FactorGraph
from likely.graphical.formats.content import file_text, write_content
from likely.graphical.formats.words import Words, shortened

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
