"""Model files of scikit-learn's estimators, changed inside of their skops archive.

An archive is a zip file of ``schema.json``, which names classes and values, and of arrays.  Its
arrays, values and names of classes are changed as those of our own files are
(``benchmarks.mutated_models --only foreign``).
"""

import json
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from io import BytesIO
from typing import Any
from zipfile import ZipFile

import numpy as np

from likely.storage.model_file import MODELS, file_content

VALUES = [*("0", "-1", "1", "3", "7", "100000", "2147483648", "-9223372036854775808", "NaN")]
VALUES += [*("Infinity", "1e308", "0.5", "true", "null", '"brute"', '"x"', "[]", "[1, 2]", "{}")]
CELLS = [np.nan, np.inf, -1.0, 0.0, 1e308, 3.0, 0.5, 255, 2**31, 2**62]
Change = Callable[[Any, dict[str, Any], np.random.Generator], None]


def forged_foreign(content: bytes, rng: np.random.Generator, shared: tuple[Change, ...]) -> bytes:
    """A file whose archive has one to three changes, with a right checksum."""
    tensors = {
        name: np.frombuffer(each["data"], dtype=np.uint8)
        for name, each in MODELS.tensors(content, "").items()
    }
    header = MODELS.header(content, "")
    del header["checksum"], header["tensors"]
    (name,) = tensors
    tensors[name] = np.frombuffer(_changed(tensors[name].tobytes(), rng, shared), dtype=np.uint8)
    return bytes(MODELS.content(header, tensors))


def _changed(archive: bytes, rng: np.random.Generator, shared: tuple[Change, ...]) -> bytes:
    with ZipFile(BytesIO(archive)) as read:
        text = read.read("schema.json").decode()
        ordered = sorted(read.namelist(), key=text.find)  # names are addresses of one process
        files = {name: read.read(name) for name in ordered}
    schema = json.loads(files.pop("schema.json"))
    arrays = {name: np.load(BytesIO(each)) for name, each in files.items() if name.endswith("npy")}
    header = {"arguments": schema["content"], "fitted": {}}
    changes = (*shared, *(_value, _name, _field) * 3)
    for _ in range(int(rng.integers(1, 4))):
        with suppress(TypeError):  # nodes of trees have no other type
            changes[rng.integers(len(changes))](header, arrays, rng)
    schema["content"] = header["arguments"]
    out = BytesIO()
    with ZipFile(out, "w") as written:
        for name in files:
            written.writestr(name, _npy(arrays[name]) if name in arrays else files[name])
        written.writestr("schema.json", json.dumps(schema))
    return out.getvalue()


def _npy(array: Any) -> bytes:
    out = BytesIO()
    np.save(out, array)
    return out.getvalue()


def _nodes(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield from [value] if "__loader__" in value else []
    for each in value.values() if isinstance(value, dict) else value:
        if isinstance(each, dict | list):
            yield from _nodes(each)


def _value(header: Any, arrays: dict[str, Any], rng: np.random.Generator) -> None:
    """A number, text or flag has another value."""
    found = [node for node in _nodes(header) if node.get("is_json")]
    if found:
        found[rng.integers(len(found))]["content"] = VALUES[rng.integers(len(VALUES))]


def _name(header: Any, arrays: dict[str, Any], rng: np.random.Generator) -> None:
    """Two objects, or an object and its class, change places with others."""
    found = list(_nodes(header))
    if len(found) > 1:
        a, b = rng.choice(len(found), size=2, replace=False)
        for key in ("__class__", "__module__"):
            first, second = found[a].get(key), found[b].get(key)
            found[a][key], found[b][key] = second, first


def _field(header: Any, arrays: dict[str, Any], rng: np.random.Generator) -> None:
    """Cells of an array, or of one field of an array of nodes, have another value."""
    names = [name for name, each in arrays.items() if each.size]
    if names:
        array = arrays[names[rng.integers(len(names))]]
        fields = array.dtype.names
        part = array[fields[rng.integers(len(fields))]] if fields else array
        value = CELLS[rng.integers(len(CELLS))]
        with np.errstate(all="ignore"):
            cells = np.array(value).astype(part.dtype)
        part[rng.random(part.shape) < rng.choice([0.1, 1.0])] = cells


def foreign_models() -> Iterator[tuple[str, tuple[bytes, Any]]]:
    """By name: the file of a fitted estimator of scikit-learn, and some rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.argmax(X + rng.normal(size=X.shape), axis=1)
    for model in _estimators():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            seeds = {name: 0 for name in model.get_params() if name.endswith("random_state")}
            model.set_params(**seeds).fit(X, y)
            name = f"foreign{type(model).__name__}-{type(getattr(model, 'estimator', 0)).__name__}"
            yield name, (bytes(file_content(model)), X[:6])


def _estimators() -> list[Any]:
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.ensemble import (
        BaggingClassifier,
        GradientBoostingClassifier,
        HistGradientBoostingClassifier,
        RandomForestClassifier,
    )
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import KBinsDiscretizer, StandardScaler
    from sklearn.svm import SVC
    from sklearn.tree import DecisionTreeRegressor

    bins = KBinsDiscretizer(4, quantile_method="averaged_inverted_cdf")
    return [
        *(LogisticRegression(), Ridge(), GaussianNB(), LinearDiscriminantAnalysis(), SVC()),
        *(DecisionTreeRegressor(max_depth=3), RandomForestClassifier(3, max_depth=3)),
        *(GradientBoostingClassifier(n_estimators=2), MLPClassifier((4,), max_iter=5)),
        *(HistGradientBoostingClassifier(max_iter=2, min_samples_leaf=5),),
        *(KNeighborsClassifier(algorithm="brute"), BaggingClassifier(n_estimators=2)),
        CalibratedClassifierCV(GaussianNB(), cv=2),
        make_pipeline(SimpleImputer(), StandardScaler(), bins, LogisticRegression()),
    ]
