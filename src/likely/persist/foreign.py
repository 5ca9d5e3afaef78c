"""Estimators of other libraries in a model file, by ``skops``: without pickle, by trusted types.

    written    the bytes of a skops archive, as one array of the model file
    read       only classes that skops trusts by default, those that are checked here, and those
               that the caller names

Trees of scikit-learn are not trusted by skops, because their loops use the indices of nodes
unchecked.  They are checked here: children come after their parent and lie inside the tree,
features inside the columns.

References
----------
skops documentation, Secure persistence with skops.
"""

from collections.abc import Collection, Iterator
from io import BytesIO
from types import ModuleType
from typing import Any
from zipfile import BadZipFile, ZipFile

import numpy as np

from likely._typing import Array
from likely.errors import InvalidInput
from likely.names import has_method

TREE = "sklearn.tree._tree.Tree"
BOOSTED = "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor"
PLAIN = frozenset(  # written in Python: their values reach no compiled loop
    {
        "sklearn.calibration._CalibratedClassifier",
        "sklearn.calibration._SigmoidCalibration",
        "sklearn.metrics._scorer._MultimetricScorer",
        "sklearn.metrics._scorer._PassthroughScorer",
        "sklearn.model_selection._split.KFold",
        "sklearn.model_selection._split.StratifiedKFold",
        "sklearn.utils._bunch.Bunch",
        "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
        "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
    }
)
READABLE = frozenset({TREE, BOOSTED}) | PLAIN
LEAF = -1
INSTALL = "Run: pip install 'likely[skops]'."


def is_foreign_estimator(value: Any) -> bool:
    """Whether a value is an estimator of another library, not one of its classes."""
    if isinstance(value, type) or type(value).__module__.startswith("likely."):
        return False
    return has_method(value, "get_params") and has_method(value, "fit")


def refuse_without_skops(name: str) -> None:
    """Refuse to train a model of another library that could not be saved."""
    _skops(f"{name} belongs to another library, and is saved")


def foreign_bytes(model: Any, trusted: Collection[str] = ()) -> Array:
    """The skops archive of an estimator, (n,) bytes; one that could not be read is refused."""
    name = type(model).__name__
    skops = _skops(f"{name} belongs to another library, and is saved")
    try:
        content = skops.dumps(model)
    except Exception as error:  # of any class that an estimator may hold
        raise InvalidInput(
            f"{name} cannot be saved: skops cannot write it ({type(error).__name__}: {error}). "
            "Give it arguments that are numbers, text or estimators."
        ) from None
    _refuse_untrusted(skops, content, trusted, f"{name} cannot be saved: it holds", "save")
    return np.frombuffer(content, dtype=np.uint8)


def foreign_model(content: bytes, trusted: Collection[str] = ()) -> Any:
    """The estimator in a skops archive; only trusted classes are made, and trees are checked."""
    skops = _skops("it holds an estimator of another library, which is read")
    try:
        with ZipFile(BytesIO(content)) as archive:
            size = sum(each.file_size for each in archive.infolist())
        if size > len(content):  # skops compresses nothing
            raise InvalidInput(
                f"its estimator of another library would be {size} bytes large, and the file has "
                f"{len(content)}; expected as many or fewer. Save the model again."
            )
        _refuse_untrusted(skops, content, trusted, "it holds", "load")
        model = skops.loads(content, trusted=sorted({*READABLE, *trusted}))
    except InvalidInput:
        raise
    except (BadZipFile, Exception) as error:  # of a file that nobody wrote so
        raise InvalidInput(
            f"its estimator of another library cannot be read ({type(error).__name__}: "
            f"{str(error)[:80]}); expected what likely.save writes. Save the model again."
        ) from None
    if not is_foreign_estimator(model):
        raise InvalidInput(
            f"it holds a {type(model).__name__} in place of an estimator. Save the model again."
        )
    _check_trees(model)
    return model


def _refuse_untrusted(
    skops: ModuleType, content: bytes, trusted: Collection[str], start: str, verb: str
) -> None:
    """Refuse classes that are neither trusted by skops, nor checked here, nor named."""
    found = set(skops.get_untrusted_types(data=content)) - READABLE - set(trusted)
    if not found:
        return
    own = [name for name in sorted(found) if name.startswith("likely.")]
    names = ", ".join(sorted(found))
    if own:
        advice = (
            "A pipeline or an ensemble of another library around a model of likely cannot be "
            "checked. Use likely.Prepared in place of the pipeline."
        )
    else:
        given = ", ".join(repr(name) for name in sorted(found))
        advice = (
            "Use another estimator, or other settings (algorithm='brute' for neighbours); or name "
            f"the classes in Python, if you trust them: likely.{verb}(…, trusted=[{given}])."
        )
    raise InvalidInput(f"{start} {names}, which skops does not trust by default. {advice}")


def _skops(why: str) -> ModuleType:
    try:
        import skops.io as skops
    except ImportError:
        raise InvalidInput(
            f"{why} by the package skops, which is not installed. {INSTALL}"
        ) from None
    found: ModuleType = skops
    return found


def _check_trees(model: Any) -> None:
    """Refuse trees whose nodes would be read outside of their arrays, or in a circle."""
    for part, owner in _parts(model):
        kind = f"{type(part).__module__}.{type(part).__name__}"
        if kind == TREE:
            _check_tree(part, owner)
        elif kind == BOOSTED:
            _check_boosted(part, owner)


def _check_tree(tree: Any, owner: Any) -> None:
    left, right, feature = tree.children_left, tree.children_right, tree.feature
    inner = left != LEAF
    fine = (
        len(left) > 0
        and tree.n_features == owner.n_features_in_
        and _is_below(left, right, inner)
        and (right[~inner] == LEAF).all()
        and _is_within(feature[inner], tree.n_features)
        and np.isfinite(tree.threshold[inner]).all()
    )
    if not fine:
        raise _broken()


def _check_boosted(tree: Any, owner: Any) -> None:
    from sklearn.ensemble._hist_gradient_boosting.common import (
        PREDICTOR_RECORD_DTYPE,
        X_BITSET_INNER_DTYPE,
    )

    nodes, bits = tree.nodes, (tree.binned_left_cat_bitsets, tree.raw_left_cat_bitsets)
    made = isinstance(nodes, np.ndarray) and nodes.dtype == PREDICTOR_RECORD_DTYPE
    if not (made and nodes.ndim == 1 and len(nodes) and nodes.flags.c_contiguous):
        raise _broken()
    inner = nodes["is_leaf"] == 0
    split = inner & (nodes["is_categorical"] != 0)
    fine = (
        _is_below(nodes["left"].astype(np.int64), nodes["right"].astype(np.int64), inner)
        and _is_within(nodes["feature_idx"][inner], owner.n_features_in_)
        and all(
            isinstance(each, np.ndarray)
            and each.dtype == X_BITSET_INNER_DTYPE
            and each.ndim == 2
            and each.shape[1] == 8
            and _is_within(nodes["bitset_idx"][split], len(each))
            for each in bits
        )
    )
    if not fine:
        raise _broken()


def _is_below(left: Array, right: Array, inner: Array) -> bool:
    """Whether both children of every inner node come after it, inside the tree."""
    place = np.flatnonzero(inner)
    children = np.stack([left[place], right[place]])
    return bool((children > place).all() and (children < len(left)).all())


def _is_within(index: Array, size: int) -> bool:
    return bool((index >= 0).all() and (index < size).all())


def _parts(model: Any) -> Iterator[tuple[Any, Any]]:
    """Every object inside an estimator, with the estimator that holds it."""
    stack, seen = [(model, model)], set[int]()
    while stack:
        part, owner = stack.pop()
        if id(part) in seen or isinstance(part, str | bytes | int | float | type(None)):
            continue
        seen.add(id(part))
        yield part, owner
        if isinstance(part, dict):
            inside = [*part.values()]
        elif isinstance(part, list | tuple | set):
            inside = [*part]
        elif isinstance(part, np.ndarray):
            inside = part.ravel().tolist() if part.dtype == object else []
        else:
            owner = part if is_foreign_estimator(part) else owner
            inside = [*getattr(part, "__dict__", {}).values()]
            _check_width(part)
        stack += [(each, owner) for each in inside]


def _check_width(part: Any) -> None:
    """Refuse a forest whose trees were fitted to another number of columns.

    It checks its own columns, and not those of its trees.
    """
    module = type(part).__module__
    if not module.startswith(("sklearn.ensemble._forest", "sklearn.ensemble._gb")):
        return
    trees = np.ravel(np.asarray(getattr(part, "estimators_", []), dtype=object)).tolist()
    if any(tree.n_features_in_ != part.n_features_in_ for tree in trees):
        raise _broken()


def _broken() -> InvalidInput:
    return InvalidInput(
        "a tree in it names nodes or columns that it does not have; expected those that "
        "scikit-learn writes. Save the model again."
    )
