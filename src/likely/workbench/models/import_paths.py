"""Models of other libraries by their import paths, such as ``sklearn.svm.SVC``."""

import warnings
from importlib import import_module
from typing import Any

from likely.errors import InvalidInput
from likely.names import has_method

EXAMPLE_PATH = "sklearn.ensemble.HistGradientBoostingClassifier"


def is_import_path(name: str) -> bool:
    """Whether a name has the form of an import path, with a dot in it."""
    return "." in name and all(word.isidentifier() for word in name.split("."))


def refuse_short_name(name: str) -> None:
    """Refuse the bare name of a class of scikit-learn, with its import path."""
    if not (name.isidentifier() and name[:1].isupper()):
        return
    from sklearn.utils import all_estimators

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about deprecated modules, which nobody named
        known = dict(all_estimators(type_filter=["classifier", "regressor"]))
    if name in known:
        path = ".".join([*known[name].__module__.split(".")[:2], name])
        raise InvalidInput(
            f"There is no model {name!r}; a model of another library is named by its import path. "
            f"Use {path}."
        )


def class_at(path: str) -> type[Any]:
    """The estimator's class at an import path; a missing module is named."""
    home, _, name = path.rpartition(".")
    try:
        module = import_module(home)
    except ImportError as error:
        raise InvalidInput(
            f"{path} was given, and importing {home} failed ({error}). The import path of an "
            f"estimator was expected, such as {EXAMPLE_PATH}. Correct the name, or install the "
            "package."
        ) from None
    found = getattr(module, name, None)
    if not isinstance(found, type):
        what = "has no such name" if found is None else f"has {name}, which is not a class"
        raise InvalidInput(
            f"{path} was given, and {home} {what}. The import path of an estimator was expected, "
            f"such as {EXAMPLE_PATH}. Correct the name."
        )
    needed = ("fit", "predict", "get_params", "set_params")
    lacking = [method for method in needed if not has_method(found, method)]
    if lacking:
        raise InvalidInput(
            f"{path} is not an estimator: it has no {lacking[0]}. A class with scikit-learn's fit, "
            f"predict, get_params and set_params was expected, such as {EXAMPLE_PATH}. Name one."
        )
    return found
