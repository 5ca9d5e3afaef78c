"""What an estimator of another library may be and hold when it comes out of a model file.

    class      of scikit-learn: one whose predictions are made by NumPy and SciPy, which check
               their arrays, or whose arrays are checked here; others (libsvm, trees of
               neighbours, …) must be named by the caller
    numbers    what was fitted is finite, and small enough to be squared
    indices    those that compiled loops use without looking lie inside of their arrays:
               nodes and columns of trees, columns of sparse tables, labels of neighbours

A value that hides a method of its class is refused: the method may be the one that checks.
Every estimator's arrays are checked from the estimator that uses them, because two estimators may
hold the same array.
"""

import json
from collections import Counter
from collections.abc import Collection, Iterator
from io import BytesIO
from numbers import Integral
from typing import Any
from zipfile import ZipFile

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier

from likely._typing import Array
from likely.errors import InvalidInput

LEAF = -1
LARGEST = 1e150  # beyond, squares overflow
SMALLEST_VARIANCE = 1e-300  # below, squares divided by it do
ENSEMBLE = "sklearn.ensemble."
BOOSTED = f"{ENSEMBLE}_hist_gradient_boosting."
DECOMPOSITION = "sklearn.decomposition."
ANSWERED = (  # by NumPy and SciPy, or by loops whose arrays are checked here
    *("sklearn._loss.", "sklearn.calibration.", "sklearn.compose.", "sklearn.cross_decomposition."),
    *(f"{DECOMPOSITION}_pca.", f"{DECOMPOSITION}_incremental_pca.", f"{DECOMPOSITION}_fastica."),
    *(f"{DECOMPOSITION}_factor_analysis.", f"{DECOMPOSITION}_truncated_svd."),
    *("sklearn.discriminant_analysis.", "sklearn.dummy.", f"{ENSEMBLE}_bagging.", BOOSTED),
    *(f"{ENSEMBLE}_forest.", f"{ENSEMBLE}_gb.", f"{ENSEMBLE}_stacking.", f"{ENSEMBLE}_voting."),
    *(f"{ENSEMBLE}_weight_boosting.", "sklearn.feature_selection.", "sklearn.frozen."),
    *("sklearn.feature_extraction.text.CountVectorizer", "sklearn.feature_extraction.text.Tfidf"),
    *("sklearn.impute._base.", "sklearn.isotonic.", "sklearn.kernel_approximation.RBFSampler"),
    *("sklearn.kernel_approximation.Nystroem", "sklearn.kernel_ridge.", "sklearn.linear_model."),
    *("sklearn.metrics._scorer.", "sklearn.mixture.", "sklearn.model_selection."),
    *("sklearn.multiclass.OneVs", "sklearn.multioutput.", "sklearn.naive_bayes."),
    *("sklearn.neighbors._classification.KNeighbors", "sklearn.neighbors._regression.KNeighbors"),
    *("sklearn.neural_network.", "sklearn.pipeline.", "sklearn.preprocessing."),
    *("sklearn.semi_supervised._self_training.", "sklearn.svm._classes.Linear"),
    *("sklearn.tree._classes.", "sklearn.tree._tree.Tree", "sklearn.utils."),
)
MAY_BE_INFINITE = {  # by their definition, or because no prediction uses them
    *("bin_edges_", "bin_thresholds_", "categories_", "class_log_prior_", "cv_results_"),
    *("explained_variance_ratio_", "feature_log_prob_", "infrequent_categories_", "mse_path_"),
    *("oob_decision_function_", "oob_prediction_", "pvalues_", "scores_", "statistics_"),
    *("validation_scores_", "best_validation_score_", "lower_bound_", "best_loss_"),
    *("_fill_dtype", "_drop_idx_after_grouping", "drop_idx_", "_missing_indices"),
}
DISTANCES = {
    *("chebyshev", "cityblock", "cosine", "euclidean", "l1", "l2", "manhattan", "minkowski"),
    "sqeuclidean",
}


def check_parts(model: Any, trusted: Collection[str] = ()) -> None:
    """Refuse values that a compiled loop would use outside of an array, and NaN."""
    for part in parts(model):
        if sparse.issparse(part):
            _check_sparse(part)
        held = getattr(part, "__dict__", None)
        if not isinstance(held, dict) or isinstance(part, type):
            continue
        kind = name_of(part)
        _check_names(part, held)
        _check_finite(kind, held)
        if kind not in trusted and name_of(held.get("_tree")) not in trusted:  # of neighbours
            _check_indices(part, kind)


def unchecked_classes(model: Any, trusted: Collection[str] = ()) -> list[str]:
    """The classes of scikit-learn in an estimator that are neither checked here nor named."""
    found = {name_of(part) for part in parts(model)} - set(trusted)
    return sorted(
        name for name in found if name.startswith("sklearn.") and not name.startswith(ANSWERED)
    )


def name_of(part: Any) -> str:
    """The name of the class of an object, with its module."""
    return f"{type(part).__module__}.{type(part).__qualname__}"


def parts(model: Any) -> Iterator[Any]:
    """Every object inside an estimator."""
    stack, seen = [model], set[int]()
    while stack:
        part = stack.pop()
        if id(part) in seen or isinstance(part, str | bytes | int | float | type(None)):
            continue
        seen.add(id(part))
        yield part
        if isinstance(part, dict):
            stack += [*part, *part.values()]
        elif isinstance(part, list | tuple | set | frozenset):
            stack += [*part]
        elif isinstance(part, np.ndarray):
            stack += part.ravel().tolist() if part.dtype == object else []
        elif not isinstance(part, type):
            stack += [*getattr(part, "__dict__", {}).values()]
            stack += [getattr(part, "__self__", None)]  # of a method


def _check_names(part: Any, held: dict[str, Any]) -> None:
    hidden = [name for name in held if callable(getattr(type(part), name, None))]
    if hidden and name_of(part).startswith("sklearn."):
        raise InvalidInput(
            f"its {type(part).__name__} has a value {hidden[0]!r} in place of the method of this "
            "name. Save the model again."
        )


def _check_finite(kind: str, held: dict[str, Any]) -> None:
    for name, value in held.items():
        fitted = name.endswith("_") or name.startswith("_")
        if fitted and name not in MAY_BE_INFINITE and not _is_finite(value):
            raise InvalidInput(
                f"{name} of its {kind.rpartition('.')[2]} has numbers that are NaN, infinite or "
                "above 1e150 in size; expected others. Fit the model again, and save it."
            )


def _is_finite(value: Any) -> bool:
    if isinstance(value, float | np.floating):
        return abs(float(value)) <= LARGEST
    if isinstance(value, np.ndarray) and value.dtype.kind in "fc":
        return float(np.abs(value).max(initial=0.0)) <= LARGEST  # of NaN: false
    if isinstance(value, np.ndarray) and value.dtype == object:
        value = value.ravel().tolist()
    if isinstance(value, dict):
        value = [*value.values()]
    return not isinstance(value, list | tuple) or all(map(_is_finite, value))


def _check_indices(part: Any, kind: str) -> None:
    """Refuse indices outside of their arrays, for the classes that use them unchecked."""
    if kind.startswith("sklearn.tree._classes."):
        fine = not hasattr(part, "tree_") or (
            _is_tree(part.tree_, part.n_features_in_)
            and (not is_classifier(part) or _has_shares(part.tree_.value))
        )
    elif kind.startswith(f"{ENSEMBLE}_forest."):
        fine = _are_trees(part, getattr(part, "estimators_", []))
    elif kind.startswith(f"{ENSEMBLE}_gb."):
        fine = not hasattr(part, "estimators_") or _is_boosted(part)
    elif kind.startswith(f"{BOOSTED}gradient_boosting."):
        fine = not hasattr(part, "_predictors") or _is_histogram_boosted(part)
    elif kind.endswith((".OneHotEncoder", ".CountVectorizer", ".TfidfVectorizer")):
        fine = _is_encoder(part)
    elif kind == "sklearn.naive_bayes.GaussianNB":
        fine = not hasattr(part, "var_") or _are_variances(part.var_, part.class_prior_)
    elif kind.startswith("sklearn.neighbors."):
        fine = not hasattr(part, "_fit_X") or _is_neighbours(part)
    else:
        return
    if not fine:
        raise InvalidInput(
            f"its {type(part).__name__} names nodes, columns or classes that it does not have, or "
            "has numbers that none can be; expected what scikit-learn writes. Save the model again."
        )


def _is_tree(tree: Any, width: Any) -> bool:
    if name_of(tree) != "sklearn.tree._tree.Tree" or tree.node_count != tree.capacity:
        return False
    left, right, feature = tree.children_left, tree.children_right, tree.feature
    inner = left != LEAF
    return (
        len(left) > 0
        and isinstance(width, Integral)
        and tree.n_features == width
        and _is_below(left, right, inner)
        and bool((right[~inner] == LEAF).all())
        and _is_within(feature[inner], tree.n_features)
        and not np.isnan(tree.threshold[inner]).any()  # infinite: missing cells alone go right
        and tree.value.size > 0
        and tree.value.shape[0] == len(left)
        and bool(np.isfinite(tree.value).all())
    )


def _has_shares(value: Array) -> bool:
    """Whether every node of a tree has shares, or counts, of classes."""
    return bool((value >= 0).all() and (value.sum(axis=-1) > 0).all())


def _are_trees(forest: Any, trees: Any) -> bool:
    """Whether all are trees of the forest's columns: it checks its own, and not theirs."""
    flat = np.ravel(np.asarray(trees, dtype=object)).tolist()
    return all(
        name_of(tree).startswith("sklearn.tree._classes.")
        and tree.n_features_in_ == forest.n_features_in_
        and hasattr(tree, "tree_")
        for tree in flat
    )


def _is_boosted(model: Any) -> bool:
    """Whether there is one tree of one output for every column of the predictions."""
    trees = model.estimators_
    if not (isinstance(trees, np.ndarray) and trees.dtype == object and trees.ndim == 2):
        return False
    classes = getattr(model, "classes_", ())
    columns = len(classes) if len(classes) > 2 else 1
    return (
        _are_trees(model, trees)
        and trees.size > 0
        and trees.shape[1] == model.n_trees_per_iteration_ == columns
        and all(tree.tree_.n_outputs == 1 for tree in trees.ravel())
        and _is_finite(model.learning_rate)
        and _gives(model.init_, columns, len(classes))
    )


def _gives(init: Any, columns: int, n_classes: int) -> bool:
    """Whether the first predictions of a boosted model have as many columns as it has trees."""
    if isinstance(init, str):
        return init == "zero"
    prior = getattr(init, "class_prior_", None)
    if prior is None:
        return n_classes == 0 and columns == 1
    return n_classes == len(init.classes_) == len(prior)


def _is_histogram_boosted(model: Any) -> bool:
    classes = getattr(model, "classes_", ())
    columns = len(classes) if len(classes) > 2 else 1
    width, mapper = model.n_features_in_, model._bin_mapper
    return (
        model._preprocessor is None
        and not hasattr(model, "_in_fit")
        and isinstance(width, Integral)
        and mapper.is_categorical_.shape == (width,)
        and not mapper.is_categorical_.any()  # with categories, there is a preprocessor
        and model.n_trees_per_iteration_ == columns
        and all(len(trees) == columns for trees in model._predictors)
        and all(_is_histogram_tree(tree, width) for trees in model._predictors for tree in trees)
    )


def _is_histogram_tree(tree: Any, width: Any) -> bool:
    from sklearn.ensemble._hist_gradient_boosting.common import (
        PREDICTOR_RECORD_DTYPE,
        X_BITSET_INNER_DTYPE,
    )

    nodes, bits = tree.nodes, (tree.binned_left_cat_bitsets, tree.raw_left_cat_bitsets)
    made = isinstance(nodes, np.ndarray) and nodes.dtype == PREDICTOR_RECORD_DTYPE
    if not (made and nodes.ndim == 1 and len(nodes) and nodes.flags.c_contiguous):
        return False
    inner = nodes["is_leaf"] == 0
    return (
        _is_below(nodes["left"].astype(np.int64), nodes["right"].astype(np.int64), inner)
        and _is_within(nodes["feature_idx"][inner], width)
        and not nodes["is_categorical"][inner].any()
        and not np.isnan(nodes["num_threshold"][inner]).any()
        and bool(np.isfinite(nodes["value"]).all())
        and all(
            isinstance(each, np.ndarray)
            and each.dtype == X_BITSET_INNER_DTYPE
            and each.ndim == 2
            and each.shape[1] == 8
            for each in bits
        )
    )


def _is_encoder(encoder: Any) -> bool:
    """Whether the columns of the sparse table that it makes are those that it counts."""
    if hasattr(encoder, "vocabulary_"):
        places = [*encoder.vocabulary_.values()]
        return sorted(places) == [*range(len(places))]
    if not hasattr(encoder, "_n_features_outs"):
        return True  # not fitted
    if encoder._n_features_outs != encoder._compute_n_features_outs():
        return False
    dropped = encoder._drop_idx_after_grouping
    grouped = getattr(encoder, "_default_to_infrequent_mappings", None)
    for j, size in enumerate(encoder._n_features_outs):
        drop = None if dropped is None else dropped[j]
        whole = size + (drop is not None)
        if drop is not None and not 0 <= drop < whole:
            return False
        mapping = grouped[j] if grouped is not None else None
        if mapping is not None and not _is_within(np.asarray(mapping), whole):
            return False
    return True


def _are_variances(variances: Array, shares: Array) -> bool:
    """Whether variances are positive and shares of classes are shares, so that none gives NaN."""
    positive = (variances >= SMALLEST_VARIANCE).all()
    return bool(positive and (shares >= 0).all() and shares.sum() > 0)


def _is_neighbours(model: Any) -> bool:
    """Whether a search without a tree finds rows that have a label, in a distance of numbers."""
    rows, labels = model._fit_X, model._y
    classes = getattr(model, "classes_", None)
    return (
        model._fit_method == "brute"
        and model._tree is None
        and model.effective_metric_ in DISTANCES
        and set(model.effective_metric_params_) <= {"p"}
        and isinstance(rows, np.ndarray)
        and rows.dtype in (np.float32, np.float64)
        and rows.shape == (model.n_samples_fit_, model.n_features_in_)
        and rows.flags.c_contiguous
        and isinstance(labels, np.ndarray)
        and len(labels) == len(rows)
        and (
            classes is None
            or (
                isinstance(classes, np.ndarray)
                and labels.ndim == 1
                and labels.dtype.kind == "i"
                and _is_within(labels, len(classes))
            )
        )
    )


def _check_sparse(table: Any) -> None:
    if table.format in ("csr", "csc", "bsr"):
        table.check_format(full_check=True)  # raises ValueError
    else:
        raise InvalidInput(
            f"it holds a sparse table of the form {table.format!r}, which is not checked; expected "
            "csr. Save the model again."
        )


def _is_below(left: Array, right: Array, inner: Array) -> bool:
    """Whether both children of every inner node come after it, inside the tree."""
    place = np.flatnonzero(inner)
    children = np.stack([left[place], right[place]])
    return bool((children > place).all() and (children < len(left)).all())


def _is_within(index: Array, size: int) -> bool:
    return bool((index >= 0).all() and (index < size).all())


# ── What skops would make of an archive, checked before it makes it ───────────────────────────────
# The constructor and the state of scikit-learn's trees read the memory of their arrays without
# asking whether these are arrays.  So a tree must be written as skops writes it: its number of
# columns and of outputs as numbers, its classes, nodes and values as arrays.

ARRAY, TREE, LOSS = "NdArrayNode", "TreeNode", "LossNode"


def check_archive(archive: ZipFile) -> None:
    """Refuse trees that are not made of arrays, and losses that are none."""
    nodes = list(_nodes(json.loads(archive.read("schema.json"))))
    ids = [node["__id__"] for node in nodes if node.get("__id__") is not None]
    twice = {each for each, times in Counter(map(str, ids)).items() if times > 1}
    for node in nodes:
        loader = node.get("__loader__")
        fine = (
            (loader != TREE or _is_written_tree(node, twice, archive))
            and (loader != LOSS or str(node.get("__module__")).startswith("sklearn._loss."))
            and ("__reduce__" not in node or loader in (TREE, LOSS))
        )
        if not fine:
            raise InvalidInput(
                "a tree in it has other things in place of its arrays; expected what scikit-learn "
                "writes. Save the model again."
            )


def _is_written_tree(node: dict[str, Any], twice: set[str], archive: ZipFile) -> bool:
    """Whether the arguments and the state have arrays, which no other object of the same id is."""
    args, state = node["__reduce__"]["args"], node["content"]
    if (args["__loader__"], state["__loader__"]) != ("TupleNode", "DictNode"):
        return False
    arrays = [args["content"][1], *(state["content"][name] for name in ("nodes", "values"))]
    alone = all(str(each.get("__id__")) not in twice for each in (args, state, *arrays))
    return (
        len(args["content"]) == 3
        and alone
        and all(_is_array_node(each) and _ndim(archive, each) for each in arrays)
    )


def _ndim(archive: ZipFile, node: dict[str, Any]) -> int:
    if (node["__module__"], node["__class__"]) != ("numpy", "ndarray"):
        return 0
    return int(np.ndim(np.load(BytesIO(archive.read(node["file"])), allow_pickle=False)))


def _is_array_node(node: Any) -> bool:
    return (
        isinstance(node, dict) and node.get("__loader__") == ARRAY and node.get("type") == "numpy"
    )


def _nodes(value: Any) -> Iterator[dict[str, Any]]:
    """Every object of the schema."""
    stack = [value]
    while stack:
        each = stack.pop()
        if isinstance(each, dict):
            yield each
            stack += each.values()
        elif isinstance(each, list):
            stack += each
