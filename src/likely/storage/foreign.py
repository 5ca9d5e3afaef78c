"""Estimators of other libraries in a model file, by ``skops``: without pickle, by trusted types.

    written    the bytes of a skops archive, as one array of the model file
    read       only classes that skops trusts by default and that ``foreign_checks`` can check,
               trees of scikit-learn, which are checked, and classes that the caller names

skops trusts every estimator of scikit-learn: making one executes nothing.  Their predictions do:
some use the numbers of the file as places in memory.

References
----------
skops documentation, Secure persistence with skops.
"""

import struct
import zlib
from collections.abc import Collection
from importlib.util import find_spec
from io import BytesIO
from types import ModuleType
from typing import Any
from zipfile import BadZipFile, ZipFile

import numpy as np

from likely._typing import Array
from likely.errors import InvalidInput, NeedsTrust, warn_user
from likely.names import has_method
from likely.storage.foreign_checks import check_archive, check_parts, unchecked_classes

TREE = "sklearn.tree._tree.Tree"
BOOSTED = "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor"
PLAIN = frozenset(  # written in Python: their values reach no compiled loop
    {
        "numpy.dtype",
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
UNREADABLE = (  # by zipfile, by json, by skops, by NumPy, and by the classes that skops makes
    *(BadZipFile, OSError, EOFError, ArithmeticError, AssertionError, AttributeError, ImportError),
    *(LookupError, RuntimeError, SyntaxError, TypeError, ValueError),
    *(struct.error, zlib.error),
)
INSTALL = "pip install skops"  # what the extra foreign installs


def is_foreign_estimator(value: Any) -> bool:
    """Whether a value is an estimator of another library, not one of its classes."""
    if isinstance(value, type) or type(value).__module__.startswith("likely."):
        return False
    return has_method(value, "get_params") and has_method(value, "fit")


def has_skops() -> bool:
    """Whether the package that saves models of other libraries is installed."""
    return find_spec("skops") is not None


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
    _warn_of_unchecked(model, trusted)
    return np.frombuffer(content, dtype=np.uint8)


def foreign_model(content: bytes, trusted: Collection[str] = ()) -> Any:
    """The estimator in a skops archive; only trusted classes are made, and all are checked."""
    skops = _skops("it holds an estimator of another library, which is read")
    try:
        with ZipFile(BytesIO(content)) as archive:
            size = sum(each.file_size for each in archive.infolist())
            names = archive.namelist()
        if size > len(content):  # skops compresses nothing
            raise InvalidInput(
                f"its estimator of another library would be {size} bytes large, and the file has "
                f"{len(content)}; expected as many or fewer. Save the model again."
            )
        if len({*names}) < len(names):  # what is checked must be what is read
            raise InvalidInput("its archive has a file twice. Save the model again.")
        with ZipFile(BytesIO(content)) as archive:
            check_archive(archive)
        _refuse_untrusted(skops, content, trusted, "it holds", "load")
        model = skops.loads(content, trusted=sorted({*READABLE, *trusted}))
    except InvalidInput:
        raise
    except UNREADABLE as error:  # of a file that nobody wrote so
        raise InvalidInput(
            f"its estimator of another library cannot be read ({type(error).__name__}: "
            f"{str(error)[:80]}); expected what likely.save writes. Save the model again."
        ) from None
    if not is_foreign_estimator(model):
        raise InvalidInput(
            f"it holds a {type(model).__name__} in place of an estimator. Save the model again."
        )
    _refuse_unchecked(model, trusted)
    check_parts(model, trusted)
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


def _warn_of_unchecked(model: Any, trusted: Collection[str]) -> None:
    found = unchecked_classes(model, trusted)
    if found:
        warn_user(
            f"{', '.join(found)}: its predictions come from compiled code that uses the numbers of "
            "the file unchecked, so likely predict and the other commands will refuse this model. "
            f"Load it in Python, if you trust the file: likely.load(…, trusted={found}); or use "
            "another estimator.",
            NeedsTrust,
        )


def _refuse_unchecked(model: Any, trusted: Collection[str]) -> None:
    found = unchecked_classes(model, trusted)
    if found:
        raise InvalidInput(
            f"it holds {', '.join(found)}, whose predictions come from compiled code that uses the "
            "numbers of the file unchecked. Use another estimator; or name the class in Python, if "
            f"you trust the file: likely.load(…, trusted={found})."
        )


def _skops(why: str) -> ModuleType:
    try:
        import skops.io as skops
    except ImportError:
        raise InvalidInput(
            f"{why} by the package skops, which is not installed. Run: {INSTALL}."
        ) from None
    found: ModuleType = skops
    return found
