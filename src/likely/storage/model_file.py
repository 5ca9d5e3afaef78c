"""One file per model: a safetensors file whose metadata hold a JSON header.

``values.py`` has the header, ``tensors.py`` the form of the file and its checksum.
``save`` writes through ``files.py``, so that there is never an incomplete file under the given
name.  ``load`` executes nothing: no pickle, and no class that is not in the registry.
"""

import os
from collections.abc import Collection
from importlib.metadata import version
from pathlib import Path
from typing import Any

from likely import __version__
from likely.errors import InvalidInput
from likely.storage.checks import check
from likely.storage.encoding import Decoder, Encoder, check_model_class
from likely.storage.files import write_atomically
from likely.storage.foreign import is_foreign_estimator
from likely.storage.registry import Classes
from likely.storage.tensors import Json, TensorContent
from likely.storage.values import (
    FORMAT,
    MODELS,
    check_feature_names,
    most_repeated,
    n_repeated,
    read_content,
    refusals,
)

PACKAGES = ("numpy", "safetensors", "scikit-learn")


def save(model: Any, path: str | os.PathLike[str], *, trusted: Collection[str] = ()) -> None:
    """Write a model to a file, usually with the suffix ``.likely``.

    The file contains the constructor arguments and the fitted attributes.  If an argument cannot be
    saved (a function, a random generator), an error names it and nothing is written.

    An estimator of scikit-learn, alone, in ``Prepared`` or as a pipeline, is written by the package
    skops (``pip install skops``), without pickle.  ``trusted`` are the names of classes
    in it that skops does not trust by default; ``load`` then needs them, too.

    Examples
    --------
    >>> import tempfile, likely
    >>> bins = likely.Discretizer(edges=[1, 10]).fit([[0.0], [70.0]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     likely.save(bins, f"{folder}/bins.likely")
    ...     likely.load(f"{folder}/bins.likely").transform([[5.0]])
    array([[1.]])
    """
    content = file_content(model, trusted)
    write_atomically(_target(path), content)


def file_content(model: Any, trusted: Collection[str] = ()) -> TensorContent:
    """The content of the file that ``save`` writes: made piece by piece, as it is written."""
    check_model_class(model)
    _refuse_formula(model)
    encoder = Encoder(type(model).__name__, trusted=trusted)
    coded = _encoded(model, encoder)
    if n_repeated(coded) > most_repeated(encoder.tensors.values()):  # or load would refuse it
        encoder = Encoder(type(model).__name__, trusted=trusted, in_runs=False)
        coded = _encoded(model, encoder)
    header = {
        **coded,
        "format": FORMAT,
        "feature_names": _feature_names(model),
        "versions": {"likely": __version__, **{package: version(package) for package in PACKAGES}},
    }
    return MODELS.content(header, encoder.tensors)


def _encoded(model: Any, encoder: Encoder) -> dict[str, Json]:
    try:
        return encoder.model(model)
    except RecursionError:
        raise InvalidInput(
            f"{encoder.owner} holds a value that contains itself; a model file cannot hold "
            "circular references. Give an argument without them."
        ) from None


def _refuse_formula(model: Any) -> None:
    if "formula_" in vars(model):
        raise InvalidInput(
            f"This {type(model).__name__} was fitted by the formula {model.formula_.text!r}, which "
            "is Python; loading a model file executes nothing, so a formula cannot be saved. Fit "
            "the model to columns (likely codes categories itself), or keep the formula in a "
            "script."
        )


def load(path: str | os.PathLike[str], *, trusted: Collection[str] = ()) -> Any:
    """The model in a file that ``save`` wrote, or in a RUN.  Nothing in the file is executed.

    Of an estimator of another library only classes are made that skops trusts by default, and those
    whose names are in ``trusted``.  Estimators of scikit-learn whose compiled code uses the numbers
    of a file unchecked (support vector machines, trees of neighbours, …) must be named there; the
    nodes of trees and the like are checked.

    A file that is missing, incomplete, changed, of a later format or not a model is
    refused with ``InvalidFile``, which is a ``ValueError``.
    """
    with refusals(path):
        content = read_content(path)
        model = Decoder(content.arrays, trusted=trusted).model(content.coded)
        if not is_foreign_estimator(model):
            check(model, Classes())
        check_feature_names(_feature_names(model), content.feature_names)
    return model


def _feature_names(model: Any) -> list[str] | None:
    names = vars(model).get("feature_names_in_")
    return None if names is None else [str(name) for name in names]


def _target(path: str | os.PathLike[str]) -> Path:
    target = Path(path).resolve()
    if target.is_dir():
        raise InvalidInput(
            f"{path} is a folder; expected the name of a file. Add a file name to it."
        )
    if not target.parent.is_dir():
        raise InvalidInput(
            f"{path} would be in {target.parent}, which is not a folder; expected one that exists. "
            "Create it first."
        )
    return target
