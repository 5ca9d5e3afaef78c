"""One file per model: a safetensors file whose metadata hold a JSON header.

    header    format, class, arguments, feature names, fitted attributes, tensors, versions

``tensor_files.py`` has the form of the file and its checksum.  ``save`` writes through
``files.py``, so that there is never an incomplete file under the given name.  ``load`` executes
nothing: no pickle, and no class that is not in the registry.
"""

import os
from collections.abc import Collection
from importlib.metadata import version
from pathlib import Path
from typing import Any

from likely import __version__
from likely._typing import Array
from likely.errors import InvalidFile, InvalidInput
from likely.files import write_atomically
from likely.persist.consistency import check_consistent
from likely.persist.encoding import (
    MODEL_FIELDS,
    Decoder,
    Encoder,
    check_model_class,
    same_names,
)
from likely.persist.foreign import is_foreign_estimator
from likely.tensor_files import Json, TensorFormat

FORMAT = 1  # raised when an older version of likely could misread the file
METADATA_KEY = "likely"
MODELS = TensorFormat(METADATA_KEY, "a model", "likely.save", "Save the model again.")
MODEL_FILE = "model.likely"  # what a folder, such as a RUN, calls its model
HEADER_FIELDS = (*MODEL_FIELDS, "format", "feature_names", "tensors", "versions")
PACKAGES = ("numpy", "safetensors", "scikit-learn")
BROKEN = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)  # what badly made JSON can cause


def save(model: Any, path: str | os.PathLike[str], *, trusted: Collection[str] = ()) -> None:
    """Write a model to a file, usually with the suffix ``.likely``.

    The file contains the constructor arguments and the fitted attributes.  If an argument cannot be
    saved (a function, a random generator), an error names it and nothing is written.

    An estimator of scikit-learn, alone, in ``Prepared`` or as a pipeline, is written by the package
    skops (``pip install 'likely[foreign]'``), without pickle.  ``trusted`` are the names of classes
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
    content = model_bytes(model, trusted)
    write_atomically(_target(path), content)


def model_bytes(model: Any, trusted: Collection[str] = ()) -> bytes:
    """The content of the file that ``save`` writes."""
    check_model_class(model)
    _refuse_formula(model)
    encoder = Encoder(type(model).__name__, trusted=trusted)
    try:
        coded = encoder.model(model)
    except RecursionError:
        raise InvalidInput(
            f"{encoder.owner} holds a value that contains itself; a model file cannot hold "
            "circular references. Give an argument without them."
        ) from None
    return _file_bytes(coded, encoder.tensors, _feature_names(model))


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
    try:
        content = _read(path)
        header, tensors = _checked_content(content, path)
        arrays = MODELS.arrays(header["tensors"], tensors)
        decoder = Decoder(arrays, trusted=trusted)
        model = decoder.model({name: header[name] for name in MODEL_FIELDS})
        if not is_foreign_estimator(model):
            check_consistent(model)
        _check_feature_names(model, header["feature_names"])
    except InvalidFile:
        raise
    except MemoryError:
        raise InvalidFile(
            path, "there is not enough memory for its arrays. Load it on a larger machine."
        ) from None
    except InvalidInput as error:
        raise InvalidFile(path, str(error)) from None
    except BROKEN as error:
        raise InvalidFile(
            path,
            f"its header is not well formed ({type(error).__name__}: {str(error)[:80]}); expected "
            "what likely.save writes. Save the model again.",
        ) from None
    return model


def _file_bytes(coded: Json, tensors: dict[str, Array], feature_names: Json) -> bytes:
    header = {
        **coded,
        "format": FORMAT,
        "feature_names": feature_names,
        "versions": {"likely": __version__, **{package: version(package) for package in PACKAGES}},
    }
    return MODELS.content(header, tensors)


def _feature_names(model: Any) -> list[str] | None:
    names = vars(model).get("feature_names_in_")
    return None if names is None else [str(name) for name in names]


def _check_feature_names(model: Any, names: Json) -> None:
    if _feature_names(model) != names:
        raise InvalidInput(
            "its feature names differ from the model's feature_names_in_; expected the same. "
            "Save the model again."
        )


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


def _read(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a model file, or of the one in a RUN."""
    file = Path(path)
    if (file / MODEL_FILE).is_file():  # a RUN, the folder that likely train writes
        file = file / MODEL_FILE
    return MODELS.read(file, path)


def _checked_content(content: bytes, path: object) -> tuple[Json, dict[str, Any]]:
    """The header and the raw tensors, once format and checksum are right."""
    tensors = MODELS.tensors(content, path)
    header = MODELS.header(content, path)
    if header["format"] != FORMAT:
        raise InvalidFile(
            path,
            f"it has format {str(header['format'])[:20]}; likely {__version__} reads format "
            f"{FORMAT}. Load it with a newer version of likely, or save the model again.",
        )
    MODELS.check(header, tensors, path)
    same_names("The fields of the header", header, HEADER_FIELDS)
    return header, tensors
