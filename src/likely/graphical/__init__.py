"""Discrete graphs: factor graphs, Bayesian networks, Markov fields, and inference in them.

The names are imported when they are first used.  To add one, write one line in ``_HOME`` and the
same line under ``TYPE_CHECKING``.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from likely.graphical.drawing.diagram import Diagram
    from likely.graphical.drawing.dot import read_dot
    from likely.graphical.drawing.network_picture import network_picture
    from likely.graphical.exact.elimination import EliminationResult, eliminate
    from likely.graphical.exact.junction_tree import JunctionTree
    from likely.graphical.exact.messages import Message, Messages
    from likely.graphical.exact.semiring import SEMIRINGS
    from likely.graphical.formats.uai import read_evidence_sets, write_answer, write_evidence
    from likely.graphical.learning.family_counts import EquivalentSample
    from likely.graphical.learning.fit_report import FitReport
    from likely.graphical.learning.hill_climbing import HillClimbing
    from likely.graphical.learning.log_linear import Feature
    from likely.graphical.learning.structure import (
        ChowLiu,
        Naive,
        TreeAugmented,
        structural_hamming_distance,
    )
    from likely.graphical.learning.structure_scores import AIC, BIC, BDeu, structure_score
    from likely.graphical.methods import INFERENCE
    from likely.graphical.model.bayesian_network import BayesianNetwork
    from likely.graphical.model.beliefs import Beliefs, Configuration
    from likely.graphical.model.factor import Factor
    from likely.graphical.model.factor_graph import FactorGraph
    from likely.graphical.model.markov_field import MarkovField, Minimum
    from likely.graphical.model.plates import PlateModel
    from likely.graphical.model.table_beliefs import TableBeliefs, TableConfigurations
    from likely.graphical.model.variable import Variable

_HOME = {  # public name: the module that defines it
    "AIC": "learning.structure_scores",
    "BIC": "learning.structure_scores",
    "INFERENCE": "methods",
    "SEMIRINGS": "exact.semiring",
    "BDeu": "learning.structure_scores",
    "BayesianNetwork": "model.bayesian_network",
    "Beliefs": "model.beliefs",
    "ChowLiu": "learning.structure",
    "Configuration": "model.beliefs",
    "Diagram": "drawing.diagram",
    "EliminationResult": "exact.elimination",
    "EquivalentSample": "learning.family_counts",
    "Factor": "model.factor",
    "FactorGraph": "model.factor_graph",
    "Feature": "learning.log_linear",
    "FitReport": "learning.fit_report",
    "HillClimbing": "learning.hill_climbing",
    "JunctionTree": "exact.junction_tree",
    "MarkovField": "model.markov_field",
    "Message": "exact.messages",
    "Messages": "exact.messages",
    "Minimum": "model.markov_field",
    "Naive": "learning.structure",
    "PlateModel": "model.plates",
    "TableBeliefs": "model.table_beliefs",
    "TableConfigurations": "model.table_beliefs",
    "TreeAugmented": "learning.structure",
    "Variable": "model.variable",
    "eliminate": "exact.elimination",
    "network_picture": "drawing.network_picture",
    "read_dot": "drawing.dot",
    "read_evidence_sets": "formats.uai",
    "structural_hamming_distance": "learning.structure",
    "structure_score": "learning.structure_scores",
    "write_answer": "formats.uai",
    "write_evidence": "formats.uai",
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
