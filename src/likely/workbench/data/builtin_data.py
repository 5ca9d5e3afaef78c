"""The built-in data sets: real tables of scikit-learn, and a corpus of texts made on the spot."""

import re
from typing import TYPE_CHECKING, NamedTuple

from likely.workbench.data import pydoc_corpus

if TYPE_CHECKING:
    import pyarrow as pa


class Builtin(NamedTuple):
    """A built-in data set: how it is loaded, and the name of its target."""

    loader: str  # in sklearn.datasets; empty for the corpus
    target: str
    about: str
    texts: tuple[str, ...] = ()  # columns whose words are counted


BUILTIN = {
    "iris": Builtin("load_iris", "species", "150 flowers of three species, measured in cm"),
    "wine": Builtin("load_wine", "cultivar", "178 wines of three cultivars, analysed"),
    "breast-cancer": Builtin("load_breast_cancer", "diagnosis", "569 tumours, measured by image"),
    "digits": Builtin("load_digits", "digit", "1,797 handwritten digits of 8 × 8 pixels"),
    "diabetes": Builtin(
        "load_diabetes", "progression", "442 patients and their disease progression after a year"
    ),
    "pydoc": Builtin(
        "", pydoc_corpus.TARGET, "docstrings of Python's standard library", (pydoc_corpus.TEXT,)
    ),
}


def builtin_table(name: str) -> "pa.Table":
    """The table of a built-in set, its target in the last column."""
    import pyarrow as pa
    from sklearn import datasets

    entry = BUILTIN[name]
    if not entry.loader:
        return pydoc_corpus.pydoc_table()
    loaded = getattr(datasets, entry.loader)()
    columns = {}
    for j, feature in enumerate(loaded.feature_names):  # "sepal length (cm)" is sepal_length
        tidy = re.sub(r"\W+", "_", re.sub(r"\(.*?\)", "", str(feature)).strip())
        columns[tidy] = pa.array(loaded.data[:, j])
    y = loaded.target
    if name not in ("digits", "diabetes"):  # classes by name; those two are numbers
        y = [str(loaded.target_names[code]) for code in y]
    columns[entry.target] = pa.array(y)
    return pa.table(columns)
