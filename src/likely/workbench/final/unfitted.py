"""Whether a model knows rows before it is fitted: a copy of it that ``final`` may fit and score.

``sklearn.base.clone`` makes a model of the same settings.  Some models come through it as they are:
``FrozenEstimator``, other classes with a copy of their own (``__sklearn_clone__``), and fitted
models inside settings that are not estimators (dictionaries, functions, bound methods).  So the
copy and everything that can be reached from it is looked at:

    settings, attributes (also in ``__slots__``), elements of containers, and of functions, classes
    and modules of no library: what they enclose, their defaults, and the global names that they use

It must hold no fitted model, no other object that predicts, no table as large as the sealed rows,
and no list, text or number so long that it could hold a label for each of them; and it must be
small enough to be looked at as a whole.  A module is of a library if its file is among the
installed packages or in Python's own folder.  What a function reads from a file, or
computes with plain numbers, cannot be known.
"""

import sys
import sysconfig
from collections import deque
from collections.abc import Iterator, Mapping, Set
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import (
    BuiltinMethodType,
    CodeType,
    FunctionType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any, NamedTuple, NoReturn

import numpy as np
import sklearn
from sklearn.base import BaseEstimator, clone

from likely import errors
from likely.errors import HonestyRefusal, InvalidInput
from likely.names import has_method

INSTALLED = frozenset(  # folders of Python, of installed packages, and of likely
    Path(each)
    for each in (
        *(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")),
        str(Path(np.__file__).parents[1]),
        str(Path(sklearn.__file__).parents[1]),
        str(Path(errors.__file__).parent),
    )
)
BUILT_IN = (sys.stdlib_module_names | {*sys.builtin_module_names}) - {"__main__"}
PLAIN = (str, bytes, int, float, complex, np.generic, type(None))  # no model in them
PREDICTING = ("predict", "predict_proba", "decision_function")
PREFIT = "prefit"
MOST_PARTS = 20_000  # that are looked at; a model with more is refused
FEWEST_ANSWERS = 100  # in a mapping that may be a memory of rows
LETTERS = (256, 1000)  # of a text, or bits of a number: a label for each sealed row, within these
INSTEAD = (
    "Give an unfitted model, whose settings say how it is fitted; or score predictions that were "
    "made elsewhere: final(predictions=...)."
)


class SizesOfSeal(NamedTuple):
    """The numbers of rows of a seal, by which a table inside a model is recognised."""

    n_train: int
    n_test: int


def unfitted_copy(model: Any, sizes: SizesOfSeal | None = None) -> Any:
    """A copy of the model with its settings alone; a model that knows rows is refused."""
    try:
        copy = clone(model)
    except (TypeError, RuntimeError) as error:
        raise InvalidInput(
            f"{type(model).__name__} cannot be copied without its fit ({error}); an estimator "
            f"whose constructor keeps its settings as they are was expected. {INSTEAD}"
        ) from None
    refuse_fitted(copy, sizes)
    return copy


class _TooManyParts(Exception):
    """More parts than are looked at."""


def refuse_fitted(model: Any, sizes: SizesOfSeal | None = None) -> None:
    """Refuse a model that was not fitted yet and knows rows all the same."""
    try:
        for where, part in _parts(model):
            why = _why_refused(part, sizes)
            if why is not None:
                _refuse(f"{type(model).__name__}{f' ({where})' if where else ''} {why}")
    except _TooManyParts:
        _refuse(
            f"{type(model).__name__} (settings, and what they lead to) has more than "
            f"{MOST_PARTS:,} parts, so that it was not looked at as a whole"
        )


def _refuse(found: str) -> NoReturn:
    raise HonestyRefusal(
        f"{found}. It may have seen sealed rows, and final fits a model to the training rows "
        f"alone. {INSTEAD}"
    )


def _why_refused(part: Any, sizes: SizesOfSeal | None) -> str | None:
    if isinstance(part, type | ModuleType):
        return None
    if isinstance(part, PLAIN):
        few, many = LETTERS
        most = many if sizes is None else min(max(sizes.n_test, few), many)
        kind = "number of {:,} bits" if isinstance(part, int) else "text of {:,} letters"
        return f"holds a {kind.format(_letters(part))}" if _letters(part) >= most else None
    if has_method(part, "get_params"):
        return _why_estimator(part)
    ours = _library(type(part)) == "likely"
    if not ours and any(has_method(part, name) for name in PREDICTING):
        return f"holds a {type(part).__name__}, which predicts and is not an estimator"
    n_rows = None if sizes is None else _rows_of(part, sizes)
    return None if n_rows is None else f"holds a table or column of {n_rows:,} rows"


def _why_estimator(model: Any) -> str | None:
    """Why an estimator is not as its settings alone make it."""
    name, known = type(model).__name__, vars(model) if hasattr(model, "__dict__") else {}
    settings = model.get_params(deep=False)
    learned = [
        key for key in known if key.endswith("_") and key[:2] != "__" and key not in settings
    ]
    if _copies_itself(model) and (clone(model) is model or _beyond_settings(model, settings)):
        return f"holds a frozen model ({name}), which a copy does not make unfitted"
    if learned:
        return f"holds a fitted {name} (it has {learned[0]})"
    if settings.get("cv") == PREFIT or settings.get(PREFIT) is True:
        return f"has a {name} for a model that is fitted already ({PREFIT})"
    return _why_settings(name, model.get_params()) if _library(type(model)) == "likely" else None


def _why_settings(name: str, settings: Mapping[str, Any]) -> str | None:
    """Settings of our models that hold parameters or rows."""
    if settings.get("training__resume") not in (None, False):
        return f"has a {name} that continues an earlier training (resume)"
    if not isinstance(settings.get("validation"), int | float | None):
        return f"has a {name} with validation rows of its own (validation); give a share"
    for argument in ("start", "initialise"):
        value = settings.get(f"{argument}__values", settings.get(argument))
        if not isinstance(value, str | None):
            return f"has a {name} that starts from given parameters ({argument})"
    return None


def _copies_itself(model: Any) -> bool:
    own = getattr(type(model), "__sklearn_clone__", None)
    return own is not None and own is not BaseEstimator.__sklearn_clone__


def _beyond_settings(model: Any, settings: Mapping[str, Any]) -> bool:
    """Whether it has attributes that a model of the same settings does not have."""
    try:
        fresh = type(model)(**settings)
    except Exception:  # a constructor of its own: then nothing is known about it
        return True
    return bool(set(vars(model)) - set(vars(fresh)))


def _rows_of(part: Any, sizes: SizesOfSeal) -> int | None:
    """The number of rows, if it is a table, or a column, as large as the sealed rows.

    Whole numbers, one for each training row, may be folds; numbers in order a grid of settings.
    """
    if isinstance(part, Mapping):  # from rows to answers
        return len(part) if len(part) >= max(sizes.n_test, FEWEST_ANSWERS) else None
    part = _as_array(part) if isinstance(part, list | tuple) else part
    shape = getattr(part, "shape", None)
    if not isinstance(shape, tuple) or not shape or not isinstance(shape[0], int):
        return None
    if len(shape) > 1:
        return shape[0] if shape[0] >= sizes.n_test else None
    values = np.asarray(part)
    is_number, n_rows = values.dtype.kind in "fiub", shape[0]
    known = n_rows in (sizes.n_test, sizes.n_train + sizes.n_test)
    if not known and not (is_number and n_rows >= max(sizes.n_test, FEWEST_ANSWERS)):
        return None
    in_order = is_number and bool((values[1:] >= values[:-1]).all())
    are_folds = values.dtype.kind in "iub" and n_rows == sizes.n_train
    return None if in_order or are_folds else n_rows


def _as_array(part: list[Any] | tuple[Any, ...]) -> Any:
    """A list of numbers, or of equally long lists of them, as an array; others have no rows."""
    try:
        found = np.asarray(part)
    except (ValueError, TypeError):
        return None
    return found if found.dtype.kind in "fiubU" else None


def _parts(model: Any) -> Iterator[tuple[str, Any]]:
    """The model and everything that can be reached from it, each with its place in words."""
    waiting: deque[tuple[str, Any]] = deque([("", model)])
    seen: dict[int, Any] = {}  # the objects are kept, or their ids could be used again
    while waiting:
        where, part = waiting.popleft()
        if id(part) in seen:
            continue
        if isinstance(part, PLAIN):
            if _letters(part) >= LETTERS[0]:
                yield where, part
            continue
        if len(seen) == MOST_PARTS:
            raise _TooManyParts
        seen[id(part)] = part
        yield where, part
        for name, child in _children(part):
            if not isinstance(child, PLAIN) or _letters(child) >= LETTERS[0]:
                waiting.append((f"{where}.{name}" if where and name else where or name, child))


def _letters(part: Any) -> int:
    """The length of a text, or the bits of a whole number."""
    if isinstance(part, str | bytes):
        return len(part)
    return part.bit_length() if isinstance(part, int) else 0


def _children(part: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(part, Mapping):
        yield from ((str(key), value) for key, value in part.items())
        yield from (("", key) for key in part)
    elif isinstance(part, list | tuple | Set | deque) or _is_array_of_objects(part):
        yield from (("", each) for each in (part.flat if isinstance(part, np.ndarray) else part))
    elif isinstance(part, partial):
        yield from (("", each) for each in (part.func, *part.args, *part.keywords.values()))
    elif isinstance(part, MethodType | staticmethod | classmethod):
        yield from (("", getattr(part, "__self__", None)), ("", part.__func__))
    elif isinstance(part, BuiltinMethodType | property):
        yield "", getattr(part, "__self__", None) or getattr(part, "fget", None)
    elif isinstance(part, FunctionType):
        yield from _used_by(part)
    elif isinstance(part, ModuleType):
        if not _is_installed(part):
            yield from [(name, each) for name, each in vars(part).items() if name[:2] != "__"]
    elif isinstance(part, type):
        yield from _of_class(part)
    elif not isinstance(part, np.ndarray | np.generic):
        yield from list(getattr(part, "__dict__", {}).items())
        yield from _in_slots(part)
        yield from _of_class(type(part))


def _in_slots(part: Any) -> Iterator[tuple[str, Any]]:
    """The attributes that an object keeps in ``__slots__``."""
    for made in type(part).__mro__:
        for name, member in list(vars(made).items()):
            if isinstance(member, MemberDescriptorType):
                with suppress(AttributeError):  # not set yet
                    yield name, member.__get__(part)


def _is_array_of_objects(part: Any) -> bool:
    return isinstance(part, np.ndarray) and part.dtype == object and part.ndim > 0


def _of_class(made: type) -> Iterator[tuple[str, Any]]:
    """Attributes and methods of classes that belong to no library."""
    for each in made.__mro__:
        if not _of_library(each):
            yield from [(k, v) for k, v in vars(each).items() if k not in ("__dict__", "__doc__")]


def _used_by(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """What a function encloses, its defaults, and the global names that it uses."""
    if _of_library(function):
        return
    yield from list(vars(function).items())
    name = function.__name__
    for cell in function.__closure__ or ():
        try:
            yield name, cell.cell_contents
        except ValueError:  # not filled yet
            continue
    yield from ((name, each) for each in function.__defaults__ or ())
    yield from ((name, each) for each in (function.__kwdefaults__ or {}).values())
    for used in _names_in(function.__code__):
        if used in function.__globals__:
            yield name, function.__globals__[used]


def _is_installed(module: ModuleType) -> bool:
    """Whether a module is Python's own, or among the installed packages, by the place of its file.

    A module without a file is Python's own if Python has that name.
    """
    file = getattr(module, "__file__", None)
    if file is None:
        return module.__name__.partition(".")[0] in BUILT_IN
    return not INSTALLED.isdisjoint(Path(file).parents)


def _of_library(thing: Any) -> bool:
    """Whether a class or a function was defined in a module that is installed."""
    module = sys.modules.get(str(getattr(thing, "__module__", None)))
    return module is not None and _is_installed(module)


def _names_in(code: CodeType) -> set[str]:
    inner = (each for each in code.co_consts if isinstance(each, CodeType))
    return set(code.co_names).union(*map(_names_in, inner))


def _library(thing: Any) -> str:
    return str(getattr(thing, "__module__", None) or "").partition(".")[0]
