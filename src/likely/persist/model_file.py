"""One file per model: a safetensors file whose metadata hold a JSON header.

    header    format, class, arguments, feature names, fitted attributes, tensors, versions
    checksum  SHA-256 of the header without it, and of the bytes of all tensors in order of name

``save`` writes through ``files.py``, so that there is never an incomplete file under the given
name.  ``load`` executes nothing: no pickle, and no class that is
not in the registry.
"""

import json
import os
from collections.abc import Iterable
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from likely import __version__
from likely._typing import Array
from likely.errors import InvalidFile, InvalidInput
from likely.files import write_atomically
from likely.persist.consistency import check_consistent
from likely.persist.encoding import (
    MODEL_FIELDS,
    TENSOR_DTYPES,
    Decoder,
    Encoder,
    Json,
    check_model_class,
    same_count,
    same_names,
)

FORMAT = 1  # raised when an older version of likely could misread the file
METADATA_KEY = "likely"
MODEL_FILE = "model.likely"  # what a folder, such as a RUN, calls its model
HEADER_FIELDS = (*MODEL_FIELDS, "format", "feature_names", "tensors", "versions")
PACKAGES = ("numpy", "safetensors", "scikit-learn")
LONGEST_HEADER = 10**8  # bytes: what safetensors itself allows
BROKEN = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)  # what badly made JSON can cause


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a model to a file, usually with the suffix ``.likely``.

    The file contains the constructor arguments and the fitted attributes.  If an argument cannot be
    saved (a function, a random generator, an object of another library), an error names it and
    nothing is written.

    Examples
    --------
    >>> import tempfile, likely
    >>> bins = likely.Discretizer(edges=[1, 10]).fit([[0.0], [70.0]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     likely.save(bins, f"{folder}/bins.likely")
    ...     likely.load(f"{folder}/bins.likely").transform([[5.0]])
    array([[1.]])
    """
    content = model_bytes(model)
    write_atomically(_target(path), content)


def model_bytes(model: Any) -> bytes:
    """The content of the file that ``save`` writes."""
    check_model_class(model)
    encoder = Encoder(type(model).__name__)
    try:
        coded = encoder.model(model)
    except RecursionError:
        raise InvalidInput(
            f"{encoder.owner} holds a value that contains itself; a model file cannot hold "
            "circular references. Give an argument without them."
        ) from None
    return _file_bytes(coded, encoder.tensors, _feature_names(model))


def load(path: str | os.PathLike[str]) -> Any:
    """The model in a file that ``save`` wrote, or in a RUN.  Nothing in the file is executed.

    A file that is missing, incomplete, changed, of a later format or not a model is
    refused with ``InvalidFile``, which is a ``ValueError``.
    """
    content = _read(path)
    try:
        header, tensors = _checked_content(content, path)
        arrays = _arrays(header["tensors"], tensors)
        model = Decoder(arrays).model({name: header[name] for name in MODEL_FIELDS})
        check_consistent(model)
        _check_feature_names(model, header["feature_names"])
    except InvalidFile:
        raise
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
    from safetensors.numpy import save as serialise

    plain = {  # in C order and little-endian, as safetensors requires
        name: np.asarray(tensor, dtype=tensor.dtype.newbyteorder("<"), order="C")
        for name, tensor in tensors.items()
    }
    header = {
        **coded,
        "format": FORMAT,
        "feature_names": feature_names,
        "tensors": {name: _declared(tensor) for name, tensor in tensors.items()},
        "versions": {"likely": __version__, **{package: version(package) for package in PACKAGES}},
    }
    checksum = _checksum(header, (plain[name].tobytes() for name in sorted(plain)))
    text = _canonical({**header, "checksum": checksum})
    return serialise(plain, metadata={METADATA_KEY: text})


def _canonical(header: Json) -> str:
    return json.dumps(header, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _checksum(header: Json, contents: Iterable[bytes | bytearray]) -> str:
    """SHA-256 of the header without a checksum, and of the tensors in order of name."""
    digest = sha256(_canonical(header).encode("ascii"))
    for content in contents:
        digest.update(content)
    return digest.hexdigest()


def _declared(tensor: Array) -> Json:
    """Memory order is kept: another one could round sums differently."""
    fortran = tensor.flags.f_contiguous and not tensor.flags.c_contiguous
    return [tensor.dtype.name, list(tensor.shape), "F" if fortran else "C"]


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
    """The bytes of a file that looks like safetensors; other large files are not read."""
    file = Path(path)
    if (file / MODEL_FILE).is_file():  # a RUN, the folder that likely train writes
        file = file / MODEL_FILE
    if not file.is_file():
        given = "is not a file" if file.exists() else "there is no such file"
        raise InvalidFile(path, f"{given}; expected a model from likely.save. Check the path.")
    with open(file, "rb") as stream:
        start = stream.read(8)
        length = int.from_bytes(start, "little")
        if len(start) < 8 or length > min(LONGEST_HEADER, file.stat().st_size - 8):
            raise _not_safetensors(path)
        return start + stream.read()


def _not_safetensors(path: object) -> InvalidFile:
    return InvalidFile(
        path,
        "it is incomplete, or not a safetensors file; expected a model from likely.save. "
        "Check the name, copy the file again, or save the model again.",
    )


def _checked_content(content: bytes, path: object) -> tuple[Json, dict[str, Any]]:
    """The header and the raw tensors, once format and checksum are right."""
    from safetensors import SafetensorError, deserialize

    try:
        tensors = dict(deserialize(content))
    except SafetensorError:
        raise _not_safetensors(path) from None
    header = _header(content, path)
    checksum = header.pop("checksum", None)
    found = _checksum(header, (tensors[name]["data"] for name in sorted(tensors)))
    if checksum != found:
        raise InvalidFile(
            path,
            f"it was changed or damaged after it was saved: its SHA-256 is {found[:12]}… and "
            f"{str(checksum)[:12]}… was expected. Copy the file again, or save the model again.",
        )
    same_names("The fields of the header", header, HEADER_FIELDS)
    return header, tensors


def _header(content: bytes, path: object) -> dict[str, Json]:
    length = int.from_bytes(content[:8], "little")
    metadata = json.loads(content[8 : 8 + length]).get("__metadata__", {})
    if METADATA_KEY not in metadata:
        raise InvalidFile(
            path,
            "it is a safetensors file without the header of a model; expected one from "
            "likely.save. Check the name.",
        )
    header: dict[str, Json] = json.loads(metadata[METADATA_KEY])
    if header["format"] != FORMAT:
        raise InvalidFile(
            path,
            f"it has format {str(header['format'])[:20]}; likely {__version__} reads format "
            f"{FORMAT}. Load it with a newer version of likely, or save the model again.",
        )
    return header


def _arrays(declared: Json, tensors: dict[str, Any]) -> dict[str, Array]:
    """The tensors as writable arrays, each as the header declares it."""
    same_names("The tensors", tensors, declared)
    return {name: _array(name, declared[name], tensors[name]) for name in declared}


def _array(name: str, declared: Json, tensor: Any) -> Array:
    dtype, shape, order = declared
    if dtype not in TENSOR_DTYPES or order not in ("C", "F"):
        raise InvalidInput(
            f"tensor {name!r} is declared as {dtype!r} in order {order!r}; expected numbers or "
            "Booleans in order C or F. Save the model again."
        )
    same_count(f"The shape of tensor {name!r}", tensor["shape"], shape)
    same_count(f"The type of tensor {name!r}", tensor["dtype"], TENSOR_DTYPES[dtype])
    stored = np.uint8 if dtype == "bool" else np.dtype(dtype).newbyteorder("<")
    flat = np.frombuffer(tensor["data"], dtype=stored)
    return np.array(flat.reshape(shape), dtype=dtype, order=order)
