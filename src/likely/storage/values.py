"""The content of a model file, checked, and its values as Python values.

    header    format, class, arguments, feature names, fitted attributes, tensors, versions

    None, bool, int, finite float, str, list     themselves
    everything else                              {tag: content}

    (v,) * 5 + (w,) * 3                          {"repeats": ["tuple", [[v, 5], [w, 3]]]}
    range(8)                                     {"range": [0, 8, 1]}

A text classifier has a million columns that are all alike; the last two forms keep their kinds and
event models, and the columns that a distribution reads, in a few bytes.  How many items they may
stand for depends on how many numbers the arrays of the file hold: what they ask for is
refused before it is made.

``tensors.py`` has the form of the file and its checksum.  What is read is not trusted: whatever
does not fit is an ``InvalidInput``.  Which classes a file may name is decided by who reads it:
``likely.load`` (``encoding.py``, which also writes), or ``likely.runtime``, which has few.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, repeat
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from likely import __version__
from likely._typing import Array
from likely.errors import InvalidFile, InvalidInput
from likely.storage.tensors import TENSOR_DTYPES, Json, TensorFormat

MODEL_FIELDS = ("class", "arguments", "fitted", "output")
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
WIDEST_TEXT = 10**6  # characters of an array of text that may be mostly padding
PLAIN = frozenset({type(None), bool, int, str})  # types whose equal values are the same
FREE_REPEATS = 10**6  # items of a file whose arrays hold nothing
REPEATS_PER_NUMBER = 16  # further items for each number of the arrays
CELLS = (type(None), bool, int, float, str, np.generic)  # of an array of objects

READERS = {  # by tag, the method that reads its content
    "class": "named_class",
    "dict": "mapping",
    "dtype": "dtype",
    "exponential family": "exponential_family",
    "float": "number",
    "model": "model",
    "objects": "object_array",
    "part": "part",
    "range": "whole_numbers",
    "repeats": "repeated",
    "scalar": "scalar",
    "skops": "foreign",
    "tensor": "tensor",
    "text": "text_array",
    "tuple": "row",
}


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
def refusals(path: object, form: TensorFormat = MODELS) -> Iterator[None]:
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
            f"what {form.writer} writes. {form.remedy}",
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


class SavedValues(ABC):
    """Reads values; the arrays they point to are in ``tensors``."""

    tensors: Mapping[str, Array]

    @abstractmethod
    def model(self, coded: Json) -> Any:
        """A model inside a model."""

    @abstractmethod
    def named_class(self, content: Json) -> type[Any]:
        """The class of this name."""

    @abstractmethod
    def part(self, content: Json) -> Any:
        """A value of a class, from its name and its fields."""

    @abstractmethod
    def exponential_family(self, content: Json) -> Any:
        """The exponential family of this name."""

    @abstractmethod
    def foreign(self, content: Json) -> Any:
        """A model of another library."""

    def value(self, coded: Json) -> Any:
        if coded is None or isinstance(coded, bool | int | float | str):
            return coded
        if isinstance(coded, list):
            return [self.value(item) for item in coded]
        same_count("A tagged value", len(coded), 1)
        ((tag, content),) = coded.items()
        if tag not in READERS:
            raise unknown("kind of value", tag)
        return getattr(self, READERS[tag])(content)

    def each(self, coded: Json) -> dict[str, Any]:
        return {name: self.value(value) for name, value in coded.items()}

    def number(self, content: Json) -> float:
        if content not in ("nan", "inf", "-inf"):
            raise unknown("number", content)
        return float(content)

    def row(self, content: Json) -> tuple[Any, ...]:
        return tuple(self.value(item) for item in _listed(content))

    def repeated(self, content: Json) -> tuple[Any, ...] | list[Any]:
        kind, runs = content
        if kind not in ("tuple", "list"):
            raise unknown("kind of sequence", kind)
        pairs = [(self.value(value), _count(count)) for value, count in _listed(runs)]
        items = chain.from_iterable(repeat(value, count) for value, count in pairs)
        return tuple(items) if kind == "tuple" else list(items)

    def whole_numbers(self, content: Json) -> range:
        return _range(content)

    def mapping(self, content: Json) -> dict[Any, Any]:
        return {self.value(key): self.value(value) for key, value in _listed(content)}

    def scalar(self, content: Json) -> np.generic:
        dtype, value = content
        if dtype == "str":
            return np.str_(_text(value))
        if dtype not in TENSOR_DTYPES:
            raise unknown("type of number", dtype)
        number = self.value(value)
        if not isinstance(number, bool | int | float):
            raise unknown("number", number)
        scalar: np.generic = np.dtype(dtype).type(number)
        return scalar

    def dtype(self, content: Json) -> type[Any]:
        if content not in TENSOR_DTYPES:
            raise unknown("type of number", content)
        return np.dtype(content).type

    def tensor(self, content: Json) -> Array:
        if content not in self.tensors:
            raise unknown("tensor", content)
        return self.tensors[content]

    def text_array(self, content: Json) -> Array:
        shape, cells = content
        same_count("An array of text", len(_listed(cells)), prod(_sizes(shape)))
        lengths = [len(_text(cell)) for cell in cells]
        if len(cells) * max(lengths, default=0) > WIDEST_TEXT + 100 * sum(lengths):
            raise InvalidInput(
                f"an array of {len(cells):,} texts has one of {max(lengths):,} characters, and "
                "would be as wide in all of them; expected texts of similar lengths. Use shorter "
                "names or labels, and save the model again."
            )
        return np.array([_text(cell) for cell in cells], dtype=str).reshape(shape)

    def object_array(self, content: Json) -> Array:
        shape, cells = content
        same_count("An array of objects", len(_listed(cells)), prod(_sizes(shape)))
        out = np.empty(len(cells), dtype=object)
        for i, cell in enumerate(cells):
            value = self.value(cell)
            if not isinstance(value, CELLS):
                raise unknown("cell", type(value).__name__)
            out[i] = value
        return out.reshape(shape)


def refuse_too_many_repeats(coded: Json, arrays: Iterable[Array]) -> None:
    """Refuse runs of more items than a model with these arrays can have, before they are made."""
    given, most = n_repeated(coded), most_repeated(arrays)
    if given > most:
        raise InvalidInput(
            f"it repeats values {given:,} times, and its arrays allow {most:,}; expected columns "
            "that its arrays have. Save the model again."
        )


def most_repeated(arrays: Iterable[Array]) -> int:
    """How many items all runs of a file may have."""
    return FREE_REPEATS + REPEATS_PER_NUMBER * sum(array.size for array in arrays)


def n_repeated(coded: Json) -> int:
    """How many items all runs of a JSON value have."""
    total = 0
    for tag, content in _tagged(coded):
        if tag == "range":
            total += len(_range(content))
        elif tag == "repeats":
            total += sum(_count(count) for _, count in _listed(content[1]))
    return total


def _tagged(coded: Json) -> Iterator[tuple[str, Json]]:
    """The tag and the content of every tagged value within a JSON value."""
    waiting = [coded]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if len(value) == 1:
                yield from value.items()
            value = value.values()
        waiting += [item for item in value if isinstance(item, dict | list)]


def _count(value: Json) -> int:
    if type(value) is not int or value < 0:
        raise InvalidInput(
            f"a value is repeated {str(value)[:20]} times; expected a whole number, 0 or more. "
            "Save the model again."
        )
    return value


def _range(content: Json) -> range:
    if not all(type(number) is int for number in _listed(content)):
        raise unknown("range", content)
    start, stop, step = content
    return range(start, stop, step)


def check_feature_names(found: list[str] | None, names: Json) -> None:
    """Refuse names of columns in the header that are not those of the model."""
    if found != names:
        raise InvalidInput(
            "its feature names differ from the model's feature_names_in_; expected the same. "
            "Save the model again."
        )


def check_output(output: Any) -> None:
    """Refuse settings of ``set_output`` that are not text."""
    named = isinstance(output, dict) and all(isinstance(v, str) for v in output.values())
    if not (output is None or named):
        raise unknown("output", output)


def all_equal(items: Sequence[Any]) -> bool:
    """Whether all items are the same text, whole number, truth value or None; not of none."""
    types = {*map(type, items)}  # of more than one, 1 == True
    return types <= PLAIN and len(types) == 1 and items.count(items[0]) == len(items)


def unknown(what: str, name: object) -> InvalidInput:
    return InvalidInput(
        f"it names the {what} {str(name)[:80]!r}, which this version of likely does not have. "
        "Load it with the version that saved it, or save the model again."
    )


def same_names(what: str, given: Json, expected: Collection[str]) -> None:
    """Refuse names that are too many or too few."""
    if not isinstance(given, dict) or set(given) != set(expected):
        names = ", ".join(sorted(given)) if isinstance(given, dict) else type(given).__name__
        raise InvalidInput(
            f"{what} were expected to be {', '.join(sorted(expected)) or 'none'}; "
            f"found {names[:200] or 'none'}. Load it with the version that saved it."
        )


def same_count(what: str, given: object, expected: object) -> None:
    if given != expected:
        raise InvalidInput(
            f"{what} has {str(given)[:200]} entries where {str(expected)[:200]} were expected. "
            "Save the model again."
        )


def unlike(what: str, expected: str) -> InvalidInput:
    return InvalidInput(
        f"{what} must be {expected}; the file has other numbers, which no fit gives. Save the "
        "model again."
    )


def _listed(content: Json) -> list[Any]:
    if not isinstance(content, list):
        raise unknown("list", content)
    return content


def _sizes(shape: Json) -> list[int]:
    if not all(type(size) is int and size >= 0 for size in _listed(shape)):
        raise unknown("shape", shape)
    return list(shape)


def _text(value: Json) -> str:
    if not isinstance(value, str):
        raise unknown("text", value)
    return value
