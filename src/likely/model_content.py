"""The content of a model file, checked: its header and its arrays.

    header    format, class, arguments, feature names, fitted attributes, tensors, versions

``tensor_files.py`` has the form of the file and its checksum.  ``likely.load`` makes a model of the
content (``persist/model_file.py``), ``likely.runtime.load`` a predictor.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from likely import __version__
from likely._typing import Array
from likely.errors import InvalidFile, InvalidInput
from likely.saved_values import MODEL_FIELDS, refuse_too_many_repeats, same_names
from likely.tensor_files import Json, TensorFormat

FORMAT = 2  # raised when an older version of likely could misread the file
FORMATS = (1, FORMAT)  # that are read: 1 has no runs, and no array in fewer bytes or transposed
METADATA_KEY = "likely"
MODELS = TensorFormat(METADATA_KEY, "a model", "likely.save", "Save the model again.")
MODEL_FILE = "model.likely"  # what a folder, such as a RUN, calls its model
HEADER_FIELDS = (*MODEL_FIELDS, "format", "feature_names", "tensors", "versions")
BROKEN = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)  # what badly made JSON can cause


class ModelContent(NamedTuple):
    """A model as it is in its file."""

    coded: Json  # class, arguments, fitted attributes
    arrays: dict[str, Array]
    feature_names: Json


def read_content(path: str | os.PathLike[str]) -> ModelContent:
    """The content of a model file, or of the one in a RUN; call it inside ``refusals``."""
    file = Path(path)
    if (file / MODEL_FILE).is_file():  # a RUN, the folder that likely train writes
        file = file / MODEL_FILE
    header, tensors = _checked(MODELS.read(file, path), path)
    arrays = MODELS.arrays(header["tensors"], tensors)
    coded = {name: header[name] for name in MODEL_FIELDS}
    refuse_too_many_repeats(coded, arrays.values())
    return ModelContent(coded, arrays, header["feature_names"])


@contextmanager
def refusals(path: object) -> Iterator[None]:
    """Whatever does not fit in a file becomes ``InvalidFile``, with its name."""
    try:
        yield
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


def _checked(content: bytes, path: object) -> tuple[Json, dict[str, Any]]:
    """The header and the raw tensors, once format and checksum are right."""
    tensors = MODELS.tensors(content, path)
    header = MODELS.header(content, path)
    if type(header["format"]) is not int or header["format"] not in FORMATS:
        raise InvalidFile(
            path,
            f"it has format {str(header['format'])[:20]}; likely {__version__} reads format "
            f"{FORMAT} and older ones. Load it with a newer version of likely, or save the model "
            "again.",
        )
    MODELS.check(header, tensors, path)
    same_names("The fields of the header", header, HEADER_FIELDS)
    return header, tensors
