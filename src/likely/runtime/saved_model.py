"""A model file as the runtime reads it: few classes, and the checks of ``likely.load``.

The classes that predictions need are made as ``likely.load`` makes them; a part of any other class
is a ``Record`` of its fields.  All of them are checked by one walker (``storage/checks.py``), over
a table of what the classes declare (``storage/declarations.json``), so that the classes themselves,
which need other packages, are not imported.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.resources import files
from pkgutil import iter_modules
from types import SimpleNamespace
from typing import Any, NoReturn, final

from likely import distributions, links
from likely._typing import Array
from likely.data.coding import Coding
from likely.data.schema import Schema
from likely.distributions.exponential_family import EXPONENTIAL_FAMILIES, ExponentialFamily
from likely.errors import InvalidInput
from likely.numerics.quantiles import QuantileGrid, QuantileSummary
from likely.storage.checks import EXPONENTIAL, ChecksItself, Contents, Declared, Reader
from likely.storage.tensors import Json
from likely.storage.values import MODEL_FIELDS, SavedValues, check_output, same_names, unknown
from likely.text.documents import Vocabulary, check_frequencies
from likely.workbench.preparation.cells import Cells, text_of
from likely.workbench.preparation.dates import CalendarPart, DateColumns
from likely.workbench.preparation.steps import SAVED_CLASSES, Step

# ── Columns of free text in a prepared table: their words beside the other columns ────────────────


@final
@dataclass(frozen=True)
class SavedText(Step):
    """A ``TextColumn`` as it is in a file; its words are a saved ``BagOfWords``."""

    name: str
    words: Any
    missing: float  # the share of missing texts in the fit
    length: float | None  # of a row of weights; None where words are counted

    def columns(self, cells: Cells) -> dict[str, Any]:
        return {}

    def description(self) -> str:
        return "text"


def documents_of(cells: Cells) -> list[str]:
    """The texts of a column; a missing one is an empty document."""
    factor = text_of(cells)
    texts = [*factor.values.tolist(), ""]  # the last is for a missing cell, of code −1
    return [texts[code] for code in factor.codes.tolist()]


# ── What is made as a class of likely ─────────────────────────────────────────────────────────────

MODELS = (  # that the runtime has, or that are inside of one that it has
    *("BagOfWords", "Discretizer", "GLM", "LinearRegression", "LogisticRegression", "NaiveBayes"),
    *("OrdinalRegression", "Prepared", "SoftmaxRegression", "TextClassifier"),
)
LINK_CLASSES = (*map(type, links.LINKS.values()), links.Power)
PREDICTED = tuple(name for name in MODELS if name != "Discretizer")
OTHERS = (
    Schema,
    Coding,
    Vocabulary,
    QuantileGrid,
    QuantileSummary,
    *SAVED_CLASSES,
    CalendarPart,
    DateColumns,
)


@cache
def declarations() -> dict[str, Any]:
    """The table of what classes declare: their kinds and rules, and the names of annotations."""
    text = files("likely.storage").joinpath("declarations.json").read_text(encoding="utf-8")
    found = json.loads(text)
    classes = {name: Declared.of(plain) for name, plain in found["classes"].items()}
    groups = {name: frozenset(names) for name, names in found["groups"].items()}
    return {"classes": classes, "groups": groups}


@cache
def classes() -> dict[str, type[Any]]:
    """The classes that are made, by name: distributions, links, steps of a preparation."""
    inside = [
        part
        for module in iter_modules(distributions.__path__)
        for part in vars(import_module(f"{distributions.__name__}.{module.name}")).values()
        if isinstance(part, type) and part.__module__.startswith(distributions.__name__)
    ]
    known = declarations()["classes"]
    return {
        **{part.__name__: part for part in (*inside, *OTHERS) if part.__name__ in known},
        "TextColumn": SavedText,
        **{f"links.{link.__name__}": link for link in LINK_CLASSES},
    }


@final
@dataclass(frozen=True)
class NamedClass:
    """A class that a file names and the runtime does not have."""

    name: str


def not_predicted(name: str) -> InvalidInput:
    return InvalidInput(
        f"it holds a {name}; likely.runtime predicts from {', '.join(PREDICTED)}. Use likely.load, "
        "which needs the other packages."
    )


@final
@dataclass(frozen=True, eq=False)
class Record:
    """The fields of a part whose class the runtime does not have."""

    name: str
    fields: Mapping[str, Any]

    def __getitem__(self, field: str) -> Any:
        return self.fields[field]


@final
@dataclass(frozen=True, eq=False)
class SavedModel:
    """A model in a file: its class, arguments and fitted attributes."""

    name: str
    arguments: Mapping[str, Any]
    fitted: Mapping[str, Any]

    def learned(self, name: str, default: Any = None) -> Any:
        """A fitted attribute; the default where the file does not have it."""
        return self.fitted.get(name, default)

    def required(self, name: str) -> Any:
        """A fitted attribute, without which there is no prediction."""
        if name not in self.fitted:
            raise InvalidInput(
                f"the {self.name} has no {name}: it was saved before it was fitted. Fit the model, "
                "and save it again."
            )
        return self.fitted[name]

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """The names of the columns of the fit; None where they had none."""
        names = self.learned("feature_names_in_")
        return None if names is None else tuple(map(str, names.tolist()))

    def check_words(self) -> None:
        """The rules of ``BagOfWords`` alone."""
        if "terms_" in self.fitted:
            given = SimpleNamespace(**self.arguments)
            terms, n = self.required("terms_"), self.required("n_documents_")
            check_frequencies(given, terms, self.required("document_frequency_"), n)


@final
@dataclass(frozen=True, eq=False)
class RuntimeValues(SavedValues):
    """Reads the values of a model file."""

    tensors: Mapping[str, Array]

    def model(self, coded: Json) -> SavedModel:
        same_names("A model", coded, MODEL_FIELDS)
        name = str(coded["class"])
        if name not in MODELS:
            raise not_predicted(name)
        expected = declarations()["classes"][name].arguments
        same_names(f"The arguments of {name}", coded["arguments"], expected)
        check_output(self.value(coded["output"]))
        return SavedModel(name, self.each(coded["arguments"]), self.each(coded["fitted"]))

    def named_class(self, content: Json) -> Any:
        if content not in declarations()["classes"] or content in MODELS:
            raise unknown("part", content)
        return classes().get(content) or NamedClass(content)

    def part(self, content: Json) -> Any:
        name, coded = content
        if name not in declarations()["classes"] or name in MODELS:
            raise unknown("part", name)
        declared = declarations()["classes"][name]
        if isinstance(coded, dict):
            coded = dict(declared.before) | coded
        same_names(f"The fields of {name}", coded, declared.always)
        made = self.each(coded)
        return classes()[name](**made) if name in classes() else Record(name, made)

    def exponential_family(self, content: Json) -> Any:
        if content not in EXPONENTIAL_FAMILIES:
            raise unknown("exponential family", content)
        return EXPONENTIAL_FAMILIES[content]

    def foreign(self, content: Json) -> NoReturn:
        raise InvalidInput(
            "it holds an estimator of another library; likely.runtime predicts from models of "
            "likely alone. Use likely.load."
        )


@final
@dataclass(frozen=True)
class Records(Reader):
    """What the walker asks, of the values of the runtime."""

    def contents(self, value: Any) -> Contents | None:
        name = self._name(value)
        if name is None or isinstance(value, type | NamedClass | ExponentialFamily):
            return None
        declared = declarations()["classes"][name]
        if isinstance(value, SavedModel):
            last = value.check_words if name == "BagOfWords" else None
            return Contents(name, value.fitted, declared, self, value.arguments, last)
        if isinstance(value, Record):
            return Contents(name, value.fields, declared, self)
        values = {each: getattr(value, each) for each in declared.always}
        last = value.check_saved if isinstance(value, ChecksItself) else None
        return Contents(name, values, declared, self, last=last)

    def is_model(self, value: Any) -> bool:
        return isinstance(value, SavedModel)

    def is_class(self, value: Any) -> bool:
        return isinstance(value, type | NamedClass)

    def belongs(self, value: Any, group: str) -> bool:
        return self._name(value) in declarations()["groups"].get(group, ())

    def _name(self, value: Any) -> str | None:
        """The name of a model, a part or a class in a file."""
        if isinstance(value, SavedModel | Record | NamedClass):
            return value.name
        if isinstance(value, ExponentialFamily):
            return EXPONENTIAL
        return _names().get(value if isinstance(value, type) else type(value))


@cache
def _names() -> dict[type[Any], str]:
    return {kind: name for name, kind in classes().items()}
