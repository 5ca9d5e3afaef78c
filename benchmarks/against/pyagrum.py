"""pyAgrum: exact inference, learning by counts and by EM."""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.race import Skipped
from likely import BayesianNetwork

ENGINES = ("LazyPropagation", "ShaferShenoyInference")


def library() -> Any:
    try:
        import pyagrum
    except ImportError as error:
        raise Skipped(str(error)) from error
    return pyagrum


def model(graph: BayesianNetwork) -> Any:
    """The same network; states are numbered, because pyAgrum refuses some names of states."""
    gum = library()
    found = gum.BayesNet()
    for variable in graph.variables:
        labels = [f"s{code}" for code in range(variable.n_states)]
        found.add(gum.LabelizedVariable(variable.name, variable.name, labels))
    for parent, child in graph.edges:
        found.addArc(parent, child)
    for name in graph.names:
        table = graph.tables[name]
        cpt = found.cpt(name)
        order = list(reversed(cpt.names))  # the slowest axis first
        axes = [table.scope.index(each) for each in order]
        cpt.fillWith(np.ascontiguousarray(table.table.transpose(axes)).ravel().tolist())
    return found


def engine(bn: Any, name: str) -> Any:
    return getattr(library(), name)(bn)


def marginals(ie: Any, names: list[str], codes: dict[str, int]) -> list[np.ndarray]:
    """All marginals given what was observed, by an engine that is used again."""
    ie.setEvidence(codes)
    ie.makeInference()
    return [ie.posterior(name).toarray() for name in names if name not in codes]


def learned_by_counts(bn: Any, csv: Path) -> Any:
    learner = library().BNLearner(str(csv), bn)
    learner.useSmoothingPrior(1.0)
    return learner.learnParameters(bn.dag())


def learned_by_em(bn: Any, csv: Path, n_iter: int) -> Any:
    learner = library().BNLearner(str(csv), bn, ["?"])
    learner.useSmoothingPrior(1.0)  # without one it refuses rare parents
    learner.useEM(1e-300)
    learner.EMsetMaxIter(n_iter)
    learner.EMenableMaxIter()
    learner.EMdisableEpsilon()
    learner.EMdisableMinEpsilonRate()
    return learner.learnParameters(bn.dag())


def written_rows(codes: np.ndarray, names: tuple[str, ...]) -> Path:
    """A CSV file of codes, as pyAgrum reads data; −1 is missing."""
    path = Path(tempfile.mkdtemp()) / "rows.csv"
    text = np.where(codes < 0, "?", np.char.add("s", codes.astype(str)))
    lines = [",".join(names), *(",".join(row) for row in text)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def learned_edges(bn: Any, codes: np.ndarray, names: tuple[str, ...]) -> list[tuple[str, str]]:
    """Greedy hill climbing by BIC."""
    learner = library().BNLearner(str(written_rows(codes, names)), bn)
    learner.useScoreBIC()
    learner.useGreedyHillClimbing()
    found = learner.learnDAG()
    return [(bn.variable(a).name(), bn.variable(b).name()) for a, b in found.arcs()]
