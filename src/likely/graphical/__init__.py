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
    from likely.graphical.elimination import EliminationResult, eliminate
    from likely.graphical.equivalence import structural_hamming_distance
    from likely.graphical.factor import Factor
    from likely.graphical.factor_graph import FactorGraph
    from likely.graphical.family_counts import EquivalentSample
    from likely.graphical.fit_report import FitReport
    from likely.graphical.formats.uai_answers import write_answer
    from likely.graphical.formats.uai_evidence import read_evidence_sets, write_evidence
    from likely.graphical.hill_climbing import HillClimbing
    from likely.graphical.junction_tree import JunctionTree
    from likely.graphical.log_linear import Feature
    from likely.graphical.markov_field import MarkovField, Minimum
    from likely.graphical.messages import Message, Messages
    from likely.graphical.methods import INFERENCE
    from likely.graphical.plates import PlateModel
    from likely.graphical.semiring import SEMIRINGS
    from likely.graphical.structure import ChowLiu, Naive, TreeAugmented
    from likely.graphical.structure_scores import structure_score
    from likely.graphical.table import TableBeliefs, TableConfigurations
    from likely.graphical.variable import Variable

_HOME = {  # public name: the module that defines it
    "INFERENCE": "methods",
    "SEMIRINGS": "semiring",
    "BayesianNetwork": "bayesian_network",
    "Beliefs": "beliefs",
    "ChowLiu": "structure",
    "Configuration": "beliefs",
    "Diagram": "diagrams.diagram",
    "EliminationResult": "elimination",
    "EquivalentSample": "family_counts",
    "Factor": "factor",
    "FactorGraph": "factor_graph",
    "Feature": "log_linear",
    "FitReport": "fit_report",
    "HillClimbing": "hill_climbing",
    "JunctionTree": "junction_tree",
    "MarkovField": "markov_field",
    "Message": "messages",
    "Messages": "messages",
    "Minimum": "markov_field",
    "Naive": "structure",
    "PlateModel": "plates",
    "TableBeliefs": "table",
    "TableConfigurations": "table",
    "TreeAugmented": "structure",
    "Variable": "variable",
    "eliminate": "elimination",
    "read_evidence_sets": "formats.uai_evidence",
    "structural_hamming_distance": "equivalence",
    "structure_score": "structure_scores",
    "write_answer": "formats.uai_answers",
    "write_evidence": "formats.uai_evidence",
}

__all__ = [
    "INFERENCE",
    "SEMIRINGS",
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
