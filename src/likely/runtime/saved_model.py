"""A model file as the runtime reads it: values on demand, and few classes.

The classes that predictions need are made as ``likely.load`` makes them; a part of any other class
is a ``Record`` of its fields.  Nothing is decoded before it is asked for, so that standard errors
and sums that only a fit needs cost nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, NoReturn, final

from likely import distributions, links
from likely._typing import Array
from likely.data.coding import Coding
from likely.data.schema import Schema
from likely.distributions.exponential_family import EXPONENTIAL_FAMILIES, ExponentialMember
from likely.errors import InvalidInput
from likely.storage.tensors import Json
from likely.storage.values import MODEL_FIELDS, SavedValues, same_names, unknown
from likely.workbench.preparation.cells import Cells, text_of
from likely.workbench.preparation.dates import CalendarPart, DateColumns
from likely.workbench.preparation.steps import STEPS, Step

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

EVENT_MODELS = (
    distributions.Bernoulli,
    distributions.Categorical,
    distributions.CategoricalFamily,
    distributions.Complement,
    distributions.DiagonalFamily,
    distributions.DiagonalGaussian,
    distributions.Exponential,
    distributions.GaussianPrior,
    distributions.JointTable,
    distributions.JointTableFamily,
    distributions.Laplace,
    distributions.LaplaceFamily,
    distributions.Multinomial,
    distributions.Poisson,
    distributions.Product,
    distributions.ProductFamily,
    distributions.ProductPart,
    distributions.Selection,
    ExponentialMember,
)
LINK_CLASSES = (*map(type, links.LINKS.values()), links.Power)
OTHERS = (Schema, Coding, *STEPS, CalendarPart, DateColumns)
CLASSES: dict[str, type[Any]] = {
    **{part.__name__: part for part in (*EVENT_MODELS, *OTHERS)},
    "TextColumn": SavedText,
    **{f"links.{link.__name__}": link for link in LINK_CLASSES},
}


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
    values: "RuntimeValues"
    coded: Json

    def arguments(self) -> dict[str, Any]:
        """The arguments of the constructor."""
        return self.values.each(self.coded["arguments"])

    def learned(self, name: str, default: Any = None) -> Any:
        """A fitted attribute; the default where the file does not have it."""
        fitted = self.coded["fitted"]
        return self.values.value(fitted[name]) if name in fitted else default

    def required(self, name: str) -> Any:
        """A fitted attribute, without which there is no prediction."""
        if name not in self.coded["fitted"]:
            raise InvalidInput(
                f"the {self.name} has no {name}: it was saved before it was fitted. Fit the model, "
                "and save it again."
            )
        return self.learned(name)

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """The names of the columns of the fit; None where they had none."""
        names = self.learned("feature_names_in_")
        return None if names is None else tuple(map(str, names.tolist()))


@final
@dataclass(frozen=True, eq=False)
class RuntimeValues(SavedValues):
    """Reads the values of a model file that predictions need."""

    tensors: Mapping[str, Array]

    def model(self, coded: Json) -> SavedModel:
        same_names("A model", coded, MODEL_FIELDS)
        return SavedModel(str(coded["class"]), self, coded)

    def named_class(self, content: Json) -> type[Any]:
        if content not in CLASSES:
            raise unknown("part", content)
        return CLASSES[content]

    def part(self, content: Json) -> Any:
        name, coded = content
        if name not in CLASSES:
            return Record(str(name), self.each(coded))
        kind = CLASSES[name]
        same_names(f"The fields of {name}", coded, [field.name for field in fields(kind)])
        return kind(**self.each(coded))

    def exponential_family(self, content: Json) -> Any:
        if content not in EXPONENTIAL_FAMILIES:
            raise unknown("exponential family", content)
        return EXPONENTIAL_FAMILIES[content]

    def foreign(self, content: Json) -> NoReturn:
        raise InvalidInput(
            "it holds an estimator of another library; likely.runtime predicts from models of "
            "likely alone. Use likely.load."
        )
