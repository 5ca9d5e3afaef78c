"""The data sets that come with scikit-learn, as tables with readable names."""

import re
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import pyarrow as pa


class Builtin(NamedTuple):
    """How a set is loaded and what its target is called."""

    loader: str  # in sklearn.datasets
    target: str
    about: str


BUILTIN = {
    "iris": Builtin("load_iris", "species", "150 flowers of three species, measured in cm"),
    "wine": Builtin("load_wine", "cultivar", "178 wines of three cultivars, analysed"),
    "breast-cancer": Builtin("load_breast_cancer", "diagnosis", "569 tumours, measured by image"),
    "digits": Builtin("load_digits", "digit", "1,797 handwritten digits of 8 × 8 pixels"),
    "diabetes": Builtin("load_diabetes", "progression", "442 patients and a number a year later"),
}


def builtin_table(name: str) -> "pa.Table":
    """The table of a built-in set, its target in the last column."""
    import pyarrow as pa
    from sklearn import datasets

    entry = BUILTIN[name]
    loaded = getattr(datasets, entry.loader)()
    columns = {
        _tidy(str(feature)): pa.array(loaded.data[:, j])
        for j, feature in enumerate(loaded.feature_names)
    }
    columns[entry.target] = pa.array(_target(name, loaded))
    return pa.table(columns)


def _target(name: str, loaded: Any) -> Any:
    """Classes by name; digits and measurements as the numbers they are."""
    if name in ("digits", "diabetes"):
        return loaded.target
    return [str(loaded.target_names[code]) for code in loaded.target]


def _tidy(name: str) -> str:
    """``sepal length (cm)`` as ``sepal_length``."""
    return re.sub(r"\W+", "_", re.sub(r"\(.*?\)", "", name).strip())
