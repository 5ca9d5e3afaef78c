"""What ``fit`` learned, by class of estimator: the attributes of a fitted model and their types.

A file in which one of them is missing or of another type is refused, and one in which an attribute
of only some fits is of another type.  Attributes that are not listed may be there; nothing that
answers a question reads them.
"""

from typing import Any

import numpy as np

from likely._typing import Array, Codes
from likely.data.coding import Coding
from likely.data.schema import Schema
from likely.distributions.base import Family, Statistics
from likely.errors import InvalidInput
from likely.features.discretize import Discretizer
from likely.fitting.inference import Inference
from likely.generative.events import EventPlan
from likely.generative.network_columns import NetworkColumns
from likely.graphical.exact.chain import Chain
from likely.graphical.model.bayesian_network import BayesianNetwork
from likely.likelihoods.base import Likelihood
from likely.likelihoods.ordinal import Ordinal
from likely.linear.softmax import SoftmaxRegression
from likely.neural.architecture import Architecture
from likely.neural.average import NetworkAverage
from likely.neural.history import History
from likely.neural.outputs import Output
from likely.objectives.components import Components, ComponentTotals
from likely.solvers.minimise import Solution
from likely.storage.field_types import fits, wrong_type
from likely.storage.registry import Estimator
from likely.text.bag_of_words import BagOfWords
from likely.text.documents import Vocabulary

Types = dict[str, Any]
LABELS = "labels"  # a row of labels: numbers, text or Booleans
NAMES = "names"  # a row of text
SEQUENCES = list[Any] | Array  # arrays of different lengths, or one array

COLUMNS: Types = {"n_features_in_": int}
LINEAR: Types = {
    **COLUMNS,
    "beside_": tuple[str, ...],
    "coding_": Coding,
    "coef_": Array,
    "solution_": Solution,
    "inference_": Inference | None,
}
WITH_INTERCEPT: Types = {**LINEAR, "intercept_": float | Array}
CLASSES: Types = {"classes_": LABELS}
MIXTURE: Types = {
    **COLUMNS,
    "schema_": Schema,
    "family_": Family,
    "components_": Components,
    "solution_": Solution,
    "totals_": ComponentTotals,
    "n_rows_": float,
    "n_components_": int,
    "converged_": bool,
    "n_iter_": int,
    "lower_bound_": float,
    "log_likelihood_traces_": list[tuple[float, ...]] | list[list[float]] | list[Any],
}
NETWORK: Types = {
    **COLUMNS,
    "beside_": tuple[str, ...],
    "architecture_": Architecture,
    "output_": Output,
    "coding_": Coding,
    "parameters_": Array,
    "average_": NetworkAverage | None,
    "history_": History,
    "column_strengths_": Array,
    "response_centre_": float | Array,  # one for each response
    "response_scale_": float,
    "state_": dict,
    "chosen_": dict,
    "seed_": int,
    "held_out_": tuple[float, float],
    "end_game_": History | None,
}
AROUND: Types = {**COLUMNS, **CLASSES, "estimator_": Estimator}  # calibrated models

LEARNED: dict[str, Types] = {
    "BagOfWords": {
        "terms_": Vocabulary,
        "n_documents_": int,
        "document_frequency_": Codes,
    },
    "BasisFunctions": {
        **COLUMNS,
        "centres_": SEQUENCES,
        "width_": float | SEQUENCES,
        "n_features_out_": int,
    },
    "BayesianNetworkClassifier": {
        **COLUMNS,
        **CLASSES,
        "target_": str,
        "columns_": NetworkColumns,
        "network_": BayesianNetwork,
        "class_states_": Codes,
        "class_log_prior_": Array,
        "temperature_": float,
        "outlier_share_": Array | None,
    },
    "Discretizer": {**COLUMNS, "edges_": list[Array], "n_bins_": Codes},
    "DiscriminantAnalysis": {
        **COLUMNS,
        **CLASSES,
        "schema_": Schema,
        "family_": Family,
        "components_": Components,
        "class_count_": Array,
        "temperature_": float,
        "outlier_share_": Array | None,
        "solution_": Solution | None,
    },
    "FrankHall": {**COLUMNS, **CLASSES, "estimators_": list[Estimator]},
    "GLM": {
        **WITH_INTERCEPT,
        "likelihood_": Likelihood,
        "dispersion_": float,
        "ml_dispersion_": float,
    },
    "GaussianMixture": MIXTURE,
    "HiddenMarkovModel": {
        **COLUMNS,
        "plan_": EventPlan,
        "schema_": Schema,
        "family_": Family,
        "chain_": Chain,
        "components_": Components,
        "solution_": Solution,
        "n_rows_": float,
    },
    "IsotonicScaling": {**AROUND, "thresholds_": list[Array], "levels_": list[Array]},
    "LinearRegression": {
        **WITH_INTERCEPT,
        "rank_": float,
        "condition_": float,
        "dispersion_": float,
        "ml_dispersion_": float,
    },
    "LogCountRatios": {**COLUMNS, **CLASSES, "schema_": Schema, "ratios_": Array},
    "LogisticRegression": {**WITH_INTERCEPT, **CLASSES, "likelihood_": Likelihood},
    "MaxEntropy": {
        **COLUMNS,
        **CLASSES,
        "softmax_": SoftmaxRegression | None,
        "coef_": Array,
        "solution_": Solution,
        "inference_": Inference | None,
    },
    "MixtureModel": {**MIXTURE, "plan_": EventPlan},
    "NaiveBayes": {
        **COLUMNS,
        **CLASSES,
        "plan_": EventPlan,
        "schema_": Schema,
        "family_": Family,
        "components_": Components,
        "discretizer_": Discretizer | None,
        "class_count_": Array,
        "temperature_": float,
        "outlier_share_": Array | None,
        "length_rate_": float,
        "mean_length_": float | None,
        "empty_score_": Array | None,
        "other_temperature_": float | None,
        "lowest_density_": float | None,
        "solution_": Solution | None,
    },
    "NeuralNetworkClassifier": {**NETWORK, **CLASSES},
    "NeuralNetworkRegressor": {**NETWORK, "dispersion_": float},
    "OrdinalRegression": {**LINEAR, **CLASSES, "likelihood_": Ordinal, "thresholds_": Array},
    "PenaltyPath": {
        "penalties_": Array,
        "coefs_": Array,
        "intercepts_": Array,
        "n_nonzero_": Array,
    },
    "PlattScaling": {**AROUND, "a_": Array, "b_": Array, "solution_": Solution},
    "PolynomialFeatures": {**COLUMNS, "powers_": Codes},
    "Prepared": {**COLUMNS, "model_": Estimator, "preparation_": Any},
    "SoftmaxRegression": {**WITH_INTERCEPT, **CLASSES},
    "TokenIds": {"words_": BagOfWords},
    "TemperatureScaling": {**AROUND, "temperature_": float, "solution_": Solution},
    "TextClassifier": {
        **CLASSES,
        "words_": BagOfWords,
        "model_": Estimator,
        "n_documents_": int,
    },
}

CHOSEN: dict[str, Types] = {  # what some settings do not learn: all of it or nothing
    "PenaltyPath": {  # cv=None chooses no penalty
        **COLUMNS,
        "index_": int,
        "best_index_": int,
        "penalty_": float,
        "model_": Estimator,
    },
}

IF_PRESENT: Types = {  # what some fits learn, whatever the class
    "feature_names_in_": NAMES,
    "column_names_": NAMES,
    "classes_": LABELS,
    "beside_": tuple[str, ...],
    "moved_by_": tuple[str, ...],
    "held_out_": tuple[float, float],
    "library_": str | None,
    "reads_ids_": bool,
    "unlabelled_weight_": float,
    "column_means_": Array,
    "separated_": bool,
    "alpha_": float | None,
    "bic_path_": Array | None,
    "log_likelihood_traces_": list[Any],
    "online_steps_": int,
    "squared_weight_": float,
    "shrinkage_": Array,
    "smoothing_": Array,
    "statistics_": Statistics,
    "totals_": ComponentTotals,
    "data_min_": Array,
    "data_max_": Array,
    "deviance_": Array,
    "mean_deviance_": Array,
    "standard_error_": Array,
}


def check_learned(model: Any, learned: Types) -> None:
    """Refuse a fitted model without an attribute of its class, or with one of another type."""
    name = type(model).__name__
    expected = LEARNED.get(name, {})
    chosen = CHOSEN.get(name, {})
    if not any(attribute in learned for attribute in (*expected, *chosen)):
        return  # not fitted
    if any(attribute in learned for attribute in chosen):
        expected = {**expected, **chosen}
    if _held_rows(learned.get("solution_")):
        expected = {**expected, "held_out_": IF_PRESENT["held_out_"]}
    also = {name: kind for name, kind in IF_PRESENT.items() if name in learned}
    for attribute, kind in {**also, **expected}.items():
        if attribute not in learned:
            raise InvalidInput(
                f"a fitted {name} has {attribute}, which the file does not. Load it with the "
                "version that saved it, or save the model again."
            )
        if not _fits(learned[attribute], kind):
            raise wrong_type(f"{name}.{attribute}", learned[attribute], kind)


def _held_rows(solution: Any) -> bool:
    """Whether rows were held out of a fit; how many is a part of its description."""
    return isinstance(solution, Solution) and bool(solution.held_out)


def _fits(value: Any, kind: Any) -> bool:
    if kind in (LABELS, NAMES):
        if not isinstance(value, np.ndarray) or value.ndim != 1:
            return False
        return kind == LABELS or all(isinstance(each, str) for each in value.tolist())
    return fits(value, kind)
