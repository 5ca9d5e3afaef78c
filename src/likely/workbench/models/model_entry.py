"""One model of the workbench: its estimator, its settings, and what the workbench needs to know.

a registered name     an entry of ``likely.workbench.models.registry.MODELS``
an import path        ``sklearn.ensemble.HistGradientBoostingClassifier``: any class with
                      scikit-learn's conventions; its base classes tell
                      whether it is for classes or for numbers (``class_at``)
an estimator          a copy of it is fitted
"""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, final

import likely
from likely.errors import InvalidInput
from likely.kinds import (
    CLASS_KINDS,
    IN_WORDS,
    NUMBER_KINDS,
    TargetKind,
    kinds_in_order,
    kinds_unlike,
)
from likely.names import has_method
from likely.output.formatting import all_listed
from likely.spaces import Dimension, Space

if TYPE_CHECKING:
    from likely.text.bag_of_words import BagOfWords
    from likely.workbench.data.task import Task

Cost = Literal["low", "medium", "high"]

_HOME = {"ConstantModel": "likely.workbench.models.constant"}  # of classes that are not public
EXAMPLE_PATH = "sklearn.ensemble.HistGradientBoostingClassifier"
PAIRS = 10  # at most, of those with clear evidence
PREFIX = "words__"
WORD_SETTINGS: Mapping[str, str] = {  # each with its help
    "lowercase": "Whether letters are lower-cased before words are counted.",
    "strip_accents": "Accents are removed: ascii, unicode or none.",
    "stop_words": "Words that are left out: english, or words with commas between them.",
    "token_pattern": "A word, as a regular expression.",
    "ngram_range": "The shortest and the longest run of words or characters that is counted: 1,2 "
    "counts words and pairs.",
    "analyzer": "What is counted: word, char (runs of characters) or char_wb (inside words).",
    "max_df": "Words in more documents are left out: a number, or a share such as 0.5.",
    "min_df": "Words in fewer documents are left out: a number, or a share such as 0.01.",
    "max_features": "The number of words to keep, the most frequent.",
    "vocabulary": "The words that are counted, with commas between them.",
    "n_features": "Words are hashed to so many columns, such as 2**20, and no vocabulary is kept.",
    "binary": "Whether presence is recorded in place of counts.",
    "unknown": "Words that the fit did not have: ignore, or count them in a column of their own.",
}


class Scale(NamedTuple):
    """The rows of a table, and the standard deviation of its target (1 for classes)."""

    rows: int = 1000
    spread: float = 1.0


Dimensions = Callable[[Scale], dict[str, Dimension]]


class InnerModel(NamedTuple):
    """An estimator inside another: its public name and arguments."""

    estimator: str
    settings: Mapping[str, Any]

    def load(self) -> type[Any]:
        """The class of the estimator."""
        return _class_named(self.estimator)

    def __str__(self) -> str:
        return f"{self.estimator}({', '.join(f'{k}={v!r}' for k, v in self.settings.items())})"


@final
@dataclass(frozen=True, eq=False)
class ModelEntry:
    """A model with the settings that suit a target."""

    name: str
    estimator: str  # its name in ``likely``, or the import path of a class of another library
    targets: frozenset[TargetKind]  # kinds for which it is tried where no model is named
    summary: str
    cost: Cost = "low"
    settings: Mapping[str, Any] = field(default_factory=dict)  # constructor arguments
    also: frozenset[TargetKind] = frozenset()  # kinds that it can predict where it is named
    for_zeros: bool = False  # whether it is tried for amounts of which some are 0
    streams: bool = False  # whether it can be fitted to a file larger than memory, as it is
    missing: bool = False  # whether it takes missing cells as they are
    space: Dimensions | None = None  # which settings are worth searching
    stop_unpromising: bool = False  # whether trials of a search are stopped at the median
    example: Any = None  # an estimator that was given in place of a name
    for_numbers: str = ""  # its estimator for numbers, if it has one for classes and one for them
    by_kind: Mapping[TargetKind, Mapping[str, Any]] = field(default_factory=dict)  # more settings
    by_zeros: Mapping[str, Any] = field(default_factory=dict)  # of amounts with many zeros
    with_text: Mapping[str, Any] = field(default_factory=dict)  # more settings, by words of texts
    given: frozenset[str] = frozenset()  # settings of the user, which go before all others
    words: Mapping[str, Any] = field(default_factory=dict)  # how those of texts are counted
    without_pairs: str = ""  # the model that it is with pairs of columns

    @property
    def short_name(self) -> str:
        """The name without the modules of an import path, for a folder."""
        return self.name.rpartition(".")[2]

    @property
    def suits(self) -> frozenset[TargetKind]:
        """All kinds of target that it can predict; empty if it needs no target."""
        return self.targets | self.also

    @property
    def supervised(self) -> bool:
        """Whether it needs a target."""
        return bool(self.suits)

    @property
    def is_mixture(self) -> bool:
        """Whether it is a mixture, which gives the density of rows without a target."""
        from likely.generative.mixture import FittedMixture

        own = self.load() if self.example is None else type(self._inner)
        return not self.supervised and issubclass(own, FittedMixture)

    @property
    def has_classes(self) -> bool:
        """Whether it predicts classes, and nothing else."""
        return self.supervised and self.suits <= CLASS_KINDS

    @property
    def is_ordinal(self) -> bool:
        """Whether it predicts ordered classes, and nothing else."""
        return self.suits == {"ordinal"}

    @property
    def is_foreign(self) -> bool:
        """Whether its class belongs to another library, so that skops is needed to save it."""
        if self.example is not None:
            return not type(self._inner).__module__.startswith("likely.")
        return "." in self.estimator

    @property
    def _inner(self) -> Any:
        """The estimator that was given, without its preparation."""
        from likely.workbench.models.model_inside import unprepared

        return unprepared(self.example)

    @property
    def first_kind(self) -> TargetKind | None:
        """The kind of number that its response is for, where it has one."""
        own = self.settings if self.example is None else self._inner.get_params()
        if self.is_foreign or own.get("response") is None:
            return None
        from likely.likelihoods.responses import response_named

        return response_named(own["response"]).target_kind

    def paired(self) -> "ModelEntry":
        """An additive model with pairs of columns, tried where curves alone miss something."""
        return replace(
            self,
            name=f"{self.name}-pairs",
            summary=f"{self.summary.rstrip('.')}; with pairs of columns that act together.",
            settings={**self.settings, "interactions": PAIRS},
            cost="high",
            without_pairs=self.name,
        )

    def for_task(self, task: "Task | None") -> "ModelEntry":
        """This model with the estimator and the settings that the target needs.

        Settings that were given go before those of the kind of target.
        """
        if task is None:
            return self
        numbers = bool(self.for_numbers) and task.kind not in CLASS_KINDS
        words = self.with_text if task.text else {}
        words = {name: value for name, value in words.items() if name not in self.given}
        zeros = self.by_zeros if task.many_zeros else {}
        of_both = (NUMBER_KINDS if numbers else CLASS_KINDS) if self.for_numbers else self.suits
        return replace(
            self,
            estimator=self.for_numbers if numbers else self.estimator,
            targets=self.targets & of_both,
            also=self.also & of_both,
            settings={**self.by_kind.get(task.kind, {}), **zeros, **self.settings, **words},
            for_numbers="",
            by_kind={},
            by_zeros={},
            with_text={},
        )

    def load(self) -> type[Any]:
        """The class of the estimator; of two, that for classes."""
        if self.example is not None:
            return type(self.example)
        return class_at(self.estimator) if "." in self.estimator else _class_named(self.estimator)

    def defaults(self) -> dict[str, Any]:
        """Each constructor argument with its default value."""
        found = _defaults_of(self.load())
        return {name: self.settings.get(name, default) for name, default in found.items()}

    def all_defaults(self) -> dict[str, Any]:
        """The default values, with those of estimators inside as ``part__name``."""
        inside = {
            f"{part}__{name}": value
            for part, inner in self.settings.items()
            if isinstance(inner, InnerModel)
            for name, value in {**_defaults_of(inner.load()), **inner.settings}.items()
        }
        return {**self.defaults(), **self.grouped_defaults(), **inside}

    def typical_values(self) -> dict[str, Any]:
        """A value of each setting, as its text is to be read: True where it may be a bool."""
        arguments = signature(self.load()).parameters
        switches = {name for name, each in arguments.items() if "bool" in str(each.annotation)}
        return {**self.all_defaults(), **dict.fromkeys(switches, True)}

    def grouped_defaults(self) -> dict[str, Any]:
        """The settings inside its arguments, as ``batch__size``, with their default values."""
        from likely.inputs.estimators import Estimator

        made = self.load()
        if not issubclass(made, Estimator):
            return {}
        return {
            f"{argument}__{name}": default
            for argument, settings in made.grouped.items()
            for name, default in settings.defaults().items()
        }

    def with_settings(self, settings: Mapping[str, Any]) -> "ModelEntry":
        """This model with settings that override its own; ``part__name`` sets those of a part.

        ``words__name`` sets how words are counted, of which ``prepared`` makes a preparation.
        """
        own, words = split_settings(settings)
        return replace(
            self,
            settings={**self.settings, **own},
            given=self.given | {*own},
            words={**self.words, **words},
        )

    def accepts(
        self, argument: str, kind: TargetKind | None = None, *, many_zeros: bool = False
    ) -> bool:
        """Whether its fit takes such an argument, and so do those of the models inside it.

        ``kind`` is that of the target; None asks of the estimator for classes.
        """
        if argument == "exposure" and self.settings.get("response") == "gaussian":
            return False  # it multiplies means above 0
        inside = [each for each in self.settings.values() if isinstance(each, InnerModel)]
        own = self.load() if self.example is None else type(self._inner)
        if self.for_numbers and kind is not None and kind not in CLASS_KINDS:
            own = _class_named(self.for_numbers)
            if argument == "exposure" and kind == "real":
                return many_zeros and bool(self.by_zeros)
        classes = [own, *(each.load() for each in inside)]
        return all(argument in signature(each.fit).parameters for each in classes)

    def arguments(self, task: "Task | None", *, seed: int = 0) -> dict[str, Any]:
        """Settings for a task: its kind, its order and its name, where the model takes them."""
        takes = signature(self.load()).parameters
        found: dict[str, Any] = {"random_state": seed} if "random_state" in takes else {}
        if task is not None and not self.is_foreign:
            found |= {"kind": task.kind} if "kind" in takes else {}
            if "order" in takes and task.kind == "ordinal" and task.order:
                found["order"] = list(task.order)
            found |= {"target": task.target} if "target" in takes else {}
        found |= self.settings
        return {
            name: value.load()(**value.settings) if isinstance(value, InnerModel) else value
            for name, value in found.items()
        }

    def build(
        self, task: "Task | None", settings: Mapping[str, Any] | None = None, *, seed: int = 0
    ) -> Any:
        """A fresh estimator; ``settings`` override, and ``part__name`` sets those of a part.

        ``task`` is None for rows without a target.
        """
        if task is not None and not (self.example is not None and self.supervised):
            self._refuse_other_kind(task)
        if task is not None and not task.text:
            refuse_no_text(self.words)
        if self.example is not None:
            from sklearn.base import clone

            model = clone(self.example)
            given = {**self.settings, **(settings or {})}
            return model.set_params(**given) if given else model
        entry = self.for_task(task)
        return entry._constructed(entry.with_settings(settings or {}).arguments(task, seed=seed))

    def resembles(self, entry: "ModelEntry") -> bool:
        """Whether this estimator has the same kind of model inside as an entry of its class."""
        parts = {k: part for k, part in entry.settings.items() if isinstance(part, InnerModel)}
        own = self._inner.get_params(deep=False)
        same = all(type(own[k]).__name__ == part.estimator for k, part in parts.items())
        return same and (not parts or own.get("along") == entry.settings.get("along"))

    def space_for(self, *, rows: int = 1000, spread: float = 1.0) -> Space:
        """The usual space at the scale of a table: its rows, its target's standard deviation."""
        if self.space is not None:
            return Space(self.space(Scale(rows, spread)))
        known = ", ".join(list(self.defaults())[:6])
        raise InvalidInput(
            f"{self.name} has no default search space; one was expected. Declare which settings "
            f"to search: space={{…}}, with names such as {known}; or train it as it is."
        )

    def _constructed(self, arguments: Mapping[str, Any]) -> Any:
        """The estimator with its own arguments, then with those of the parts inside it."""
        make = self.load()
        takes = signature(make).parameters
        own = {name: value for name, value in arguments.items() if name in takes}
        needed = [
            each.name
            for each in takes.values()
            if each.default is Parameter.empty
            and each.kind in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
            and each.name not in own
        ]
        if needed:
            raise InvalidInput(
                f"{self.name} cannot be made without {', '.join(needed)}; a class whose arguments "
                "all have defaults was expected. Pass an estimator in place of its name."
            )
        inside = {name: value for name, value in arguments.items() if name not in takes}
        model = make(**own)
        return model.set_params(**inside) if inside else model

    def _refuse_other_kind(self, task: "Task") -> None:
        if not self.suits.isdisjoint({task.kind, *task.beside}):
            return
        from likely.workbench.models.registry import BASELINE, entries_for

        suited = [each.name for each in entries_for(task.kind, everything=True)]
        rivals = ", ".join(name for name in suited if name != BASELINE)
        what = f"is for {kinds_unlike(self.suits, task.kind)}"
        raise InvalidInput(
            f"{self.name} {what if self.supervised else 'needs no target'}; the target "
            f"{task.target!r} holds {IN_WORDS[task.kind]}. Choose one of {rivals}"
            f"{_or_kind(task, self.suits)}."
        )


def refuse_no_text(words: Mapping[str, Any]) -> None:
    """Refuse settings of words for data without a column of text."""
    if words:
        name = next(iter(words))
        raise InvalidInput(
            f"words.{name} (words__{name}) was given, which says how the words of texts are "
            "counted; no column of the data is read as text. Declare one: --text COL "
            "(text=[...]), or leave the setting out."
        )


def _or_kind(task: "Task", kinds: frozenset[TargetKind]) -> str:
    """The kind that a model would need, if the values allow it."""
    labels = task.classes
    if labels and (isinstance(labels[0], str | bool) or labels[0] < 0):
        kinds = kinds & CLASS_KINDS
    if len(labels) != 2:
        kinds = kinds - {"binary"}
    given = all_listed([repr(kind) for kind in kinds_in_order(kinds)], "or")
    return f", or use kind={given} (--kind) if that is what it holds" if given else ""


def _defaults_of(made: type[Any]) -> dict[str, Any]:
    return {
        each.name: None if each.default is Parameter.empty else each.default
        for each in signature(made).parameters.values()
        if each.kind is not Parameter.VAR_KEYWORD
    }


def _class_named(name: str) -> type[Any]:
    home = likely if name in likely.__all__ else import_module(_HOME[name])
    found: type[Any] = getattr(home, name)
    return found


def class_at(path: str) -> type[Any]:
    """The estimator's class at an import path; a missing module is named."""
    home, _, name = path.rpartition(".")
    try:
        module = import_module(home)
    except ImportError as error:
        raise InvalidInput(
            f"{path} was given, and importing {home} failed ({error}). The import path of an "
            f"estimator was expected, such as {EXAMPLE_PATH}. Correct the name, or install the "
            "package."
        ) from None
    found = getattr(module, name, None)
    if not isinstance(found, type):
        what = "has no such name" if found is None else f"has {name}, which is not a class"
        raise InvalidInput(
            f"{path} was given, and {home} {what}. The import path of an estimator was expected, "
            f"such as {EXAMPLE_PATH}. Correct the name."
        )
    needed = ("fit", "predict", "get_params", "set_params")
    lacking = [method for method in needed if not has_method(found, method)]
    if lacking:
        raise InvalidInput(
            f"{path} is not an estimator: it has no {lacking[0]}. A class with scikit-learn's fit, "
            f"predict, get_params and set_params was expected, such as {EXAMPLE_PATH}. Name one."
        )
    return found


def word_defaults() -> dict[str, Any]:
    """Each setting of words, without its prefix, with its default value."""
    from likely.text.bag_of_words import BagOfWords  # needs NumPy, and models are listed without

    found = signature(BagOfWords).parameters
    return {name: found[name].default for name in WORD_SETTINGS}


def split_settings(settings: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The settings of a model, and those of words without their prefix.

    >>> split_settings({"smoothing": "auto", "words__min_df": 2})
    ({'smoothing': 'auto'}, {'min_df': 2})
    """
    own = {name: value for name, value in settings.items() if not name.startswith(PREFIX)}
    words = {name: settings[name] for name in settings if name not in own}
    return own, {name.removeprefix(PREFIX): value for name, value in words.items()}


def with_prefix(words: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of words by their names among the settings of a model."""
    return {f"{PREFIX}{name}": value for name, value in words.items()}


def settings_of_words(words: "BagOfWords | None") -> dict[str, Any]:
    """The settings of words, without their prefix, as JSON has them; None has the default ones."""
    found = word_defaults() if words is None else words.get_params(deep=False)
    plain = {name: found[name] for name in WORD_SETTINGS}
    return {name: list(v) if isinstance(v, tuple) else v for name, v in plain.items()}


def bag_of(settings: Mapping[str, Any], words: "BagOfWords | None" = None) -> "BagOfWords":
    """A bag of words with these settings, checked; the others are those of ``words``."""
    from sklearn.base import clone

    from likely.text.bag_of_words import BagOfWords
    from likely.text.tokens import analysis_of, check_options

    bag: BagOfWords = BagOfWords() if words is None else clone(words)
    bag.set_params(**settings)
    analysis_of(bag)
    check_options(bag)
    return bag


def is_import_path(name: str) -> bool:
    """Whether a name has the form of an import path, with a dot in it."""
    return "." in name and all(word.isidentifier() for word in name.split("."))


def refuse_short_name(name: str) -> None:
    """Refuse the bare name of a class of scikit-learn, with its import path."""
    if not (name.isidentifier() and name[:1].isupper()):
        return
    from sklearn.utils import all_estimators

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about deprecated modules, which nobody named
        known = dict(all_estimators(type_filter=["classifier", "regressor"]))
    if name in known:
        path = ".".join([*known[name].__module__.split(".")[:2], name])
        raise InvalidInput(
            f"There is no model {name!r}; a model of another library is named by its import path. "
            f"Use {path}."
        )
