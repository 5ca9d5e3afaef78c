"""Probability models on tables: fast, with the scikit-learn API, and with honest uncertainty.

The public names are imported when they are first used, so that ``import likely`` takes
milliseconds and imports neither scikit-learn, SciPy, Numba nor Matplotlib.
To add a public name, write one line in ``_HOME`` and the same line under ``TYPE_CHECKING``.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from likely import (
        data,
        differences,
        distributions,
        errors,
        examples,
        graphical,
        information,
        likelihoods,
        links,
        metrics,
        penalties,
        runtime,
        searches,
        solvers,
        spaces,
        special,
        tasks,
        teaching,
    )
    from likely.additive.additive_classifier import AdditiveClassifier
    from likely.additive.additive_model import AdditiveModel
    from likely.additive.smooth import Smooth
    from likely.calibrate.isotonic import IsotonicScaling
    from likely.calibrate.platt import PlattScaling
    from likely.calibrate.temperature import TemperatureScaling
    from likely.compiling import warmup
    from likely.data.formats.registry import read
    from likely.data.sequences import Sequences
    from likely.errors import LikelyError, LikelyWarning
    from likely.explanations.effects import PartialEffects, partial_effects
    from likely.explanations.explanation import Explanation
    from likely.explanations.importance import Importance, permutation_importance
    from likely.features.basis_functions import BasisFunctions
    from likely.features.discretize import Discretizer
    from likely.features.log_count_ratios import LogCountRatios
    from likely.features.polynomial import PolynomialFeatures
    from likely.fitting.inference import Inference, likelihood_ratio_test
    from likely.fitting.separation import Separability, separability
    from likely.generative.bayesian_network_classifier import BayesianNetworkClassifier
    from likely.generative.discriminant import DiscriminantAnalysis
    from likely.generative.hidden_markov import HiddenMarkovModel
    from likely.generative.mixture import GaussianMixture, MixtureModel
    from likely.generative.naive_bayes import NaiveBayes
    from likely.graphical.formats.graph_files import read_graph, write_graph
    from likely.graphical.formats.uai import read_answer, read_evidence
    from likely.graphical.model.bayesian_network import BayesianNetwork
    from likely.graphical.model.factor_graph import FactorGraph
    from likely.graphical.model.markov_field import MarkovField
    from likely.linear.frank_hall import FrankHall
    from likely.linear.glm import GLM
    from likely.linear.logistic import LogisticRegression
    from likely.linear.maxent import MaxEntropy
    from likely.linear.ordinal import OrdinalRegression
    from likely.linear.path import PenaltyPath
    from likely.linear.regression import LinearRegression
    from likely.linear.softmax import SoftmaxRegression
    from likely.neural.classifier import NeuralNetworkClassifier
    from likely.neural.many import fit_many
    from likely.neural.regressor import NeuralNetworkRegressor
    from likely.neural.settings import (
        Batches,
        EarlyStopping,
        StartValues,
        Training,
        WeightPenalty,
    )
    from likely.objectives.model import ModelObjective
    from likely.reports.report import WrittenReport, report
    from likely.runs.seal_surface import open_seal, seal
    from likely.sealing.final_score import FinalScore
    from likely.sealing.sealed import Sealed
    from likely.storage.model_file import load, save
    from likely.tasks.prediction_run import Predictions, predict
    from likely.tasks.row_explanations import explain
    from likely.tasks.training_run import Trained, train
    from likely.text.bag_of_words import BagOfWords
    from likely.text.text_classifier import TextClassifier
    from likely.text.token_ids import TokenIds
    from likely.workbench.comparison.comparison import Comparison, compare
    from likely.workbench.curves.curves import Curve, learning_curve
    from likely.workbench.curves.training_curve import TrainingCurve, training_curve
    from likely.workbench.data.dataset import Dataset
    from likely.workbench.data.folds import Folds
    from likely.workbench.data.opening import dataset
    from likely.workbench.data.split import Parts, split
    from likely.workbench.look.look import Look, look
    from likely.workbench.preparation.prepared import Prepared
    from likely.workbench.search.study import Study
    from likely.workbench.search.tune import tune

__version__ = "0.1.0"

__all__ = [
    "GLM",
    "AdditiveClassifier",
    "AdditiveModel",
    "BagOfWords",
    "BasisFunctions",
    "Batches",
    "BayesianNetwork",
    "BayesianNetworkClassifier",
    "Comparison",
    "Curve",
    "Dataset",
    "Discretizer",
    "DiscriminantAnalysis",
    "EarlyStopping",
    "Explanation",
    "FactorGraph",
    "FinalScore",
    "Folds",
    "FrankHall",
    "GaussianMixture",
    "HiddenMarkovModel",
    "Importance",
    "Inference",
    "IsotonicScaling",
    "LikelyError",
    "LikelyWarning",
    "LinearRegression",
    "LogCountRatios",
    "LogisticRegression",
    "Look",
    "MarkovField",
    "MaxEntropy",
    "MixtureModel",
    "ModelObjective",
    "NaiveBayes",
    "NeuralNetworkClassifier",
    "NeuralNetworkRegressor",
    "OrdinalRegression",
    "PartialEffects",
    "Parts",
    "PenaltyPath",
    "PlattScaling",
    "PolynomialFeatures",
    "Predictions",
    "Prepared",
    "Sealed",
    "Separability",
    "Sequences",
    "Smooth",
    "SoftmaxRegression",
    "StartValues",
    "Study",
    "TemperatureScaling",
    "TextClassifier",
    "TokenIds",
    "Trained",
    "Training",
    "TrainingCurve",
    "WeightPenalty",
    "WrittenReport",
    "__version__",
    "compare",
    "data",
    "dataset",
    "differences",
    "distributions",
    "errors",
    "examples",
    "explain",
    "fit_many",
    "graphical",
    "information",
    "learning_curve",
    "likelihood_ratio_test",
    "likelihoods",
    "links",
    "load",
    "look",
    "metrics",
    "open_seal",
    "partial_effects",
    "penalties",
    "permutation_importance",
    "predict",
    "read",
    "read_answer",
    "read_evidence",
    "read_graph",
    "report",
    "runtime",
    "save",
    "seal",
    "searches",
    "separability",
    "solvers",
    "spaces",
    "special",
    "split",
    "tasks",
    "teaching",
    "train",
    "training_curve",
    "tune",
    "warmup",
    "write_graph",
]

_MODULES = {
    "data",
    "differences",
    "distributions",
    "errors",
    "examples",
    "graphical",
    "information",
    "likelihoods",
    "links",
    "metrics",
    "penalties",
    "runtime",
    "searches",
    "solvers",
    "spaces",
    "special",
    "tasks",
    "teaching",
}

_HOME = {  # public name: the module that defines it
    "AdditiveClassifier": "likely.additive.additive_classifier",
    "AdditiveModel": "likely.additive.additive_model",
    "BagOfWords": "likely.text.bag_of_words",
    "BasisFunctions": "likely.features.basis_functions",
    "BayesianNetwork": "likely.graphical.model.bayesian_network",
    "BayesianNetworkClassifier": "likely.generative.bayesian_network_classifier",
    "Comparison": "likely.workbench.comparison.comparison",
    "Curve": "likely.workbench.curves.curves",
    "Dataset": "likely.workbench.data.dataset",
    "Discretizer": "likely.features.discretize",
    "DiscriminantAnalysis": "likely.generative.discriminant",
    "Explanation": "likely.explanations.explanation",
    "FactorGraph": "likely.graphical.model.factor_graph",
    "FinalScore": "likely.sealing.final_score",
    "Folds": "likely.workbench.data.folds",
    "FrankHall": "likely.linear.frank_hall",
    "GLM": "likely.linear.glm",
    "GaussianMixture": "likely.generative.mixture",
    "HiddenMarkovModel": "likely.generative.hidden_markov",
    "Importance": "likely.explanations.importance",
    "Inference": "likely.fitting.inference",
    "IsotonicScaling": "likely.calibrate.isotonic",
    "LikelyError": "likely.errors",
    "LikelyWarning": "likely.errors",
    "LinearRegression": "likely.linear.regression",
    "LogCountRatios": "likely.features.log_count_ratios",
    "LogisticRegression": "likely.linear.logistic",
    "Look": "likely.workbench.look.look",
    "MarkovField": "likely.graphical.model.markov_field",
    "MaxEntropy": "likely.linear.maxent",
    "MixtureModel": "likely.generative.mixture",
    "ModelObjective": "likely.objectives.model",
    "NaiveBayes": "likely.generative.naive_bayes",
    "NeuralNetworkClassifier": "likely.neural.classifier",
    "NeuralNetworkRegressor": "likely.neural.regressor",
    "OrdinalRegression": "likely.linear.ordinal",
    "PartialEffects": "likely.explanations.effects",
    "Parts": "likely.workbench.data.split",
    "PenaltyPath": "likely.linear.path",
    "PlattScaling": "likely.calibrate.platt",
    "PolynomialFeatures": "likely.features.polynomial",
    "Prepared": "likely.workbench.preparation.prepared",
    "Sealed": "likely.sealing.sealed",
    "Separability": "likely.fitting.separation",
    "Sequences": "likely.data.sequences",
    "Smooth": "likely.additive.smooth",
    "SoftmaxRegression": "likely.linear.softmax",
    "Study": "likely.workbench.search.study",
    "TemperatureScaling": "likely.calibrate.temperature",
    "TextClassifier": "likely.text.text_classifier",
    "TokenIds": "likely.text.token_ids",
    "TrainingCurve": "likely.workbench.curves.training_curve",
    "WrittenReport": "likely.reports.report",
    "compare": "likely.workbench.comparison.comparison",
    "dataset": "likely.workbench.data.opening",
    "Predictions": "likely.tasks.prediction_run",
    "Trained": "likely.tasks.training_run",
    "explain": "likely.tasks.row_explanations",
    "predict": "likely.tasks.prediction_run",
    "train": "likely.tasks.training_run",
    "Batches": "likely.neural.settings",
    "EarlyStopping": "likely.neural.settings",
    "StartValues": "likely.neural.settings",
    "Training": "likely.neural.settings",
    "WeightPenalty": "likely.neural.settings",
    "fit_many": "likely.neural.many",
    "learning_curve": "likely.workbench.curves.curves",
    "likelihood_ratio_test": "likely.fitting.inference",
    "load": "likely.storage.model_file",
    "look": "likely.workbench.look.look",
    "open_seal": "likely.runs.seal_surface",
    "partial_effects": "likely.explanations.effects",
    "permutation_importance": "likely.explanations.importance",
    "read": "likely.data.formats.registry",
    "read_answer": "likely.graphical.formats.uai",
    "read_evidence": "likely.graphical.formats.uai",
    "read_graph": "likely.graphical.formats.graph_files",
    "report": "likely.reports.report",
    "save": "likely.storage.model_file",
    "seal": "likely.runs.seal_surface",
    "separability": "likely.fitting.separation",
    "split": "likely.workbench.data.split",
    "training_curve": "likely.workbench.curves.training_curve",
    "tune": "likely.workbench.search.tune",
    "warmup": "likely.compiling",
    "write_graph": "likely.graphical.formats.graph_files",
}


def __getattr__(name: str) -> object:
    """The public name, imported now (PEP 562) and found directly from then on."""
    if name in _MODULES:
        return import_module(f"likely.{name}")
    if name in _HOME:
        value: object = getattr(import_module(_HOME[name]), name)
        globals()[name] = value
        return value
    from difflib import get_close_matches  # here: it is needed for a misspelt name only

    near = [] if name.startswith("_") else get_close_matches(name, __all__, n=1)
    hint = f". Did you mean {near[0]!r}?" if near else ""
    raise AttributeError(f"module 'likely' has no attribute {name!r}{hint}", name=name)


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
