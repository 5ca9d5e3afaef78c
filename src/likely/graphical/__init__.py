"""Discrete graphs: factor graphs, Bayesian networks, Markov fields, and inference in them.

The names are imported when they are first used.  To add one, write one line in ``_HOME`` and the
same line under ``TYPE_CHECKING``.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from likely.graphical.bayesian_network import BayesianNetwork
    from likely.graphical.beliefs import Beliefs, Configuration
    from likely.graphical.diagrams.diagram import Diagram
    from likely.graphical.diagrams.dot import read_dot
    from likely.graphical.diagrams.network_picture import network_picture
    from likely.graphical.factor import Factor
    from likely.graphical.factor_graph import FactorGraph
    from likely.graphical.formats.uai_answers import write_answer
    from likely.graphical.formats.uai_evidence import read_evidence_sets, write_evidence
    from likely.graphical.inference.elimination import EliminationResult, eliminate
    from likely.graphical.inference.junction_tree import JunctionTree
    from likely.graphical.inference.messages import Message, Messages
    from likely.graphical.inference.methods import INFERENCE
    from likely.graphical.inference.semiring import SEMIRINGS
    from likely.graphical.learning.equivalence import structural_hamming_distance
    from likely.graphical.learning.family_counts import EquivalentSample
    from likely.graphical.learning.fit_report import FitReport
    from likely.graphical.learning.hill_climbing import HillClimbing
    from likely.graphical.learning.log_linear import Feature
    from likely.graphical.learning.structure import ChowLiu, Naive, TreeAugmented
    from likely.graphical.learning.structure_scores import AIC, BIC, BDeu, structure_score
    from likely.graphical.markov_field import MarkovField, Minimum
    from likely.graphical.plates import PlateModel
    from likely.graphical.table import TableBeliefs, TableConfigurations
    from likely.graphical.variable import Variable

_HOME = {  # public name: the module that defines it
    "AIC": "learning.structure_scores",
    "BIC": "learning.structure_scores",
    "INFERENCE": "inference.methods",
    "SEMIRINGS": "inference.semiring",
    "BDeu": "learning.structure_scores",
    "BayesianNetwork": "bayesian_network",
    "Beliefs": "beliefs",
    "ChowLiu": "learning.structure",
    "Configuration": "beliefs",
    "Diagram": "diagrams.diagram",
    "EliminationResult": "inference.elimination",
    "EquivalentSample": "learning.family_counts",
    "Factor": "factor",
    "FactorGraph": "factor_graph",
    "Feature": "learning.log_linear",
    "FitReport": "learning.fit_report",
    "HillClimbing": "learning.hill_climbing",
    "JunctionTree": "inference.junction_tree",
    "MarkovField": "markov_field",
    "Message": "inference.messages",
    "Messages": "inference.messages",
    "Minimum": "markov_field",
    "Naive": "learning.structure",
    "PlateModel": "plates",
    "TableBeliefs": "table",
    "TableConfigurations": "table",
    "TreeAugmented": "learning.structure",
    "Variable": "variable",
    "eliminate": "inference.elimination",
    "network_picture": "diagrams.network_picture",
    "read_dot": "diagrams.dot",
    "read_evidence_sets": "formats.uai_evidence",
    "structural_hamming_distance": "learning.equivalence",
    "structure_score": "learning.structure_scores",
    "write_answer": "formats.uai_answers",
    "write_evidence": "formats.uai_evidence",
}

__all__ = [
    "AIC",
    "BIC",
    "INFERENCE",
    "SEMIRINGS",
    "BDeu",
    "BayesianNetwork",
    "Beliefs",
    "ChowLiu",
    "Configuration",
    "Diagram",
    "EliminationResult",
    "EquivalentSample",
    "Factor",
    "FactorGraph",
    "Feature",
    "FitReport",
    "HillClimbing",
    "JunctionTree",
    "MarkovField",
    "Message",
    "Messages",
    "Minimum",
    "Naive",
    "PlateModel",
    "TableBeliefs",
    "TableConfigurations",
    "TreeAugmented",
    "Variable",
    "eliminate",
    "network_picture",
    "read_dot",
    "read_evidence_sets",
    "structural_hamming_distance",
    "structure_score",
    "write_answer",
    "write_evidence",
]


def __getattr__(name: str) -> object:
    """The public name, imported now (PEP 562) and found directly from then on."""
    if name in _HOME:
        value: object = getattr(import_module(f"likely.graphical.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'likely.graphical' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
