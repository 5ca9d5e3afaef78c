"""``likely models``: the list of models, and the parameters of one.

Also models by name, and the settings given by ``--set``, ``--space`` and ``--try``, those of words
(``words.NAME``) among them.
"""

import inspect
import re
import shlex
from ast import literal_eval
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, NoReturn

import click

from likely.cli.answer import Answer
from likely.cli.terminal import GlobalOptions, global_options, heading, table, width, wrapped
from likely.errors import InvalidInput, UnknownName
from likely.kinds import IN_WORDS, kinds_in_order, kinds_in_words
from likely.names import known_name
from likely.tasks.request import UNLABELLED, Exit, Refusal, separated, value_like, value_of
from likely.workbench.models.model_entry import (
    PREFIX,
    WORD_SETTINGS,
    InnerModel,
    ModelEntry,
    bag_of,
    refuse_short_name,
    split_settings,
    word_defaults,
)
from likely.workbench.models.registry import (
    BASELINE,
    MODELS,
    entry_for,
    trainable,
)

Command = Callable[..., Any]
SET_HELP = (
    "Setting of the model, as listed by likely models MODEL; event.age=poisson sets it for one "
    "column, words.ngram_range=1,2 says how words of texts are counted. May be repeated."
)
NARROWEST = 30  # letters left for the description of a setting
PART = PREFIX.removesuffix("__")  # of settings, as typed
LISTS = ("stop_words", "vocabulary")  # words with commas between them
ADDITIVE = ("AdditiveClassifier", "AdditiveModel")
TERMS = ("linear", "category")  # of one column, in a word
NAMED = ("english",)  # lists of stop words that have a name


@click.command()
@click.argument("name", required=False)
@global_options
@click.pass_obj
def models(settings: GlobalOptions, name: str | None) -> Answer:
    """List the models, or the settings of the model NAME."""
    return _all() if name is None else _one(model_named(name))


def _all() -> Answer:
    rows = [[model.name, kinds_in_words(model.suits), model.summary] for model in trainable()]
    return Answer(
        text=table(["model", "target", ""], rows, words=range(3), indent=0),
        result={"models": [_facts(model) for model in trainable()]},
        next="likely models naive-bayes",
    )


def _one(model: ModelEntry) -> Answer:
    found, words = parameters(model), _word_parameters(model)
    target = " --target COL" if model.supervised else ""
    facts = [{"name": p.name, "default": p.default, "doc": p.doc} for p in (*found, *words)]
    return Answer(
        text=f"{heading(model.name)}: {model.summary}\n"
        f"In Python: {model.estimator if model.is_foreign else f'likely.{model.estimator}'}\n\n"
        f"{_settings_table(found)}{_on_numbers(model)}{_on_texts(model, words)}",
        result={**_facts(model), "parameters": facts, "on_texts": _defaults_on_texts(model)},
        next=f"likely train DATA {model.name}{target}",
    )


def _settings_table(found: Sequence["Parameter"]) -> str:
    first = max(len(parameter.name) for parameter in found)
    second = max(len(_shown(parameter.default)) for parameter in found)
    room = max(width() - first - second - 6, NARROWEST)
    rows = []
    for parameter in found:
        lines = wrapped(parameter.doc, width() - room).splitlines() or [""]
        rows.append([parameter.name, _shown(parameter.default), lines[0].strip()])
        rows.extend(["", "", line.strip()] for line in lines[1:])
    return table(["setting", "default", ""], rows, words=range(3))


def _on_numbers(model: ModelEntry) -> str:
    """The estimator for numbers, where it is another one, and its responses."""
    if not model.for_numbers:
        return ""
    from likely.likelihoods.responses import RESPONSES

    text = f"For a target of numbers: likely.{model.for_numbers}"
    kinds = {IN_WORDS[kind]: settings for kind, settings in model.by_kind.items()}
    kinds |= {"amounts with many zeros": model.by_zeros} if model.by_zeros else {}
    usual = [f"{each['response']} for {what}" for what, each in kinds.items() if "response" in each]
    if usual:
        text += (
            f", whose response (--set response=NAME) is one of {', '.join(RESPONSES)}; without "
            f"--set {', '.join(usual)}, gaussian for others"
        )
    return f"\n\n{wrapped(f'{text}.')}"


def _defaults_on_texts(model: ModelEntry) -> dict[str, Any]:
    """The defaults that differ where a column holds text."""
    return {**model.with_text}


def _on_texts(model: ModelEntry, words: Sequence["Parameter"]) -> str:
    """What differs where columns hold text, and how words are counted."""
    if not model.supervised:
        return ""
    if not words:
        return f"\n\n{wrapped(f'{model.name} reads no text: columns of text are left out.')}"
    other = [f"{name}={value}" for name, value in model.with_text.items()]
    differ = f" The defaults are then {', '.join(other)}." if other else ""
    what = "counts" if _words_in(model) == "counts" else "tf-idf weights"
    text = (
        f"A column of text (--text COL) is read as the {what} of its words.{differ} "
        "How words are counted:"
    )
    return f"\n\n{wrapped(text)}\n\n{_settings_table(words)}"


def _word_parameters(model: ModelEntry) -> list["Parameter"]:
    """The settings of words of a model that reads words."""
    from likely.workbench.models.model_entry import WORD_SETTINGS, word_defaults

    if _words_in(model) is None:
        return []
    return [
        Parameter(
            f"{PART}.{name}",
            ",".join(map(str, value)) if isinstance(value, tuple) else value,
            WORD_SETTINGS[name],
        )
        for name, value in word_defaults().items()
    ]


def _words_in(model: ModelEntry) -> str | None:
    """What the model reads of a text: "counts" or "weights" of its words, or None."""
    from likely.workbench.preparation.choices import needs_of

    if not model.supervised:
        return None
    try:
        return needs_of(model.build(None), impute="auto", scale="auto").text
    except InvalidInput:  # a class of another library that needs arguments
        return None


def _facts(model: ModelEntry) -> dict[str, object]:
    return {
        "name": model.name,
        "estimator": model.estimator,
        "for_numbers": model.for_numbers or None,
        "needs_target": model.supervised,
        "targets": kinds_in_order(model.suits),
        "summary": model.summary,
    }


def _shown(default: object) -> str:
    return default if isinstance(default, str) else repr(default)


class Parameter(NamedTuple):
    """A constructor argument with its default and the first sentence of its description."""

    name: str
    default: Any
    doc: str


def model_named(name: str) -> ModelEntry:
    """The model of a name or an import path; a usage error suggests the nearest name."""
    try:
        if "." in name:
            return entry_for(name)
        refuse_short_name(name)
        return MODELS[known_name("model", name, [entry.name for entry in trainable()])]
    except InvalidInput as error:
        raise Refusal(str(error), Exit.USAGE, "likely models") from None


def models_named(names: Sequence[str], assignments: Sequence[str] = ()) -> list[ModelEntry]:
    """The named models, the baseline included, each with the settings of ``--set`` that it has."""
    found = [MODELS[name] if name == BASELINE else model_named(name) for name in names]
    if len(found) == 1:
        return [with_assigned(found[0], assignments)]
    for text in assignments:
        if not any(_own(entry, [text]) for entry in found):
            which = f"none of {', '.join(names)} has it" if found else "no model was named"
            raise Refusal(
                f"--set {text} was given, and {which}; a setting of a named model was expected. "
                "Name the model, or leave --set out.",
                Exit.USAGE,
                f"likely models {names[0]}" if names else "likely models",
            )
    return [with_assigned(entry, _own(entry, assignments)) for entry in found]


def with_assigned(entry: ModelEntry, assignments: Sequence[str]) -> ModelEntry:
    """The model with the settings of ``--set``, for scores of labelled rows."""
    given = assigned(entry, assignments)
    if given.get(UNLABELLED) is not None:
        _refuse(
            entry,
            f"--set {UNLABELLED}={given[UNLABELLED]} was given; only likely train learns from rows "
            "without a label. Leave it out: rows without a target are then left out.",
        )
    return entry.with_settings(given)


def set_words(name: str, assignments: Sequence[str]) -> str:
    """The ``--set`` options of one model, as written on a command line."""
    own = _own(entry_for(name), assignments)
    return "".join(f" --set {shlex.quote(text)}" for text in own)


def _own(entry: ModelEntry, assignments: Sequence[str]) -> list[str]:
    known = {*entry.defaults(), *entry.grouped_defaults(), *([PART] if entry.supervised else [])}
    return [text for text in _as_settings(entry, assignments) if _setting(text) in known]


def _as_settings(entry: ModelEntry, assignments: Sequence[str]) -> list[str]:
    """The assignments; alpha=0.5 of a negative binomial is a part of its response."""
    if entry.defaults().get("response") != "negative-binomial":
        return list(assignments)
    alpha = re.compile(r"\s*alpha\s*=\s*(.+)")
    return [alpha.sub(r"response=negative-binomial(\1)", text) for text in assignments]


def _setting(assignment: str) -> str:
    name = assignment.partition("=")[0].strip()
    return PART if name.startswith(PREFIX) else name.partition(".")[0].strip().replace("-", "_")


def space_given(
    texts: Sequence[str], defaults: Mapping[str, Any] | None = None
) -> dict[str, Any] | None:
    """The space that ``--space`` declares; None where it was not given.

    Values are read as ``defaults``, those of the model's settings, suggest.

    >>> space_given(["l2=0.1:10:log", "link=logit,probit"])
    {'l2': Real(low=0.1, high=10.0, log=True, zero=0.0), 'link': ['logit', 'probit']}
    """
    return dict(_range_or_values(text, defaults or {}) for text in texts) or None


def _range_or_values(text: str, defaults: Mapping[str, Any]) -> tuple[str, Any]:
    from likely.spaces import Integer, Real

    name, equals, right = text.partition("=")
    name, ends = setting_name(name), right.split(":")
    if equals and len(ends) == 1:
        if name.startswith(PREFIX):
            return name, word_choices(name, right)
        return name, [value_like(defaults.get(name), word.strip()) for word in separated(right)]
    low, high = (value_of(end) for end in (*ends, "", "")[:2])
    numbers = all(isinstance(end, int | float) for end in (low, high))
    if not (equals and numbers and (len(ends) == 2 or ends[2:] == ["log"])):
        raise Refusal(
            f"--space takes NAME=LOW:HIGH, NAME=LOW:HIGH:log or NAME=A,B,C; found {text!r}. Write "
            "--space learning_rate=0.01:1:log, for instance.",
            Exit.USAGE,
            "likely tune --help",
        )
    log = len(ends) == 3
    if isinstance(low, int) and isinstance(high, int):
        return name, Integer(low, high, log=log)
    return name, Real(float(low), float(high), log=log)


def settings_tried(
    tries: tuple[str, ...], defaults: Mapping[str, Any] | None = None
) -> tuple[Mapping[str, Any], ...] | None:
    """The model as it is, then the settings of each ``--try``; None where there is none."""
    known = defaults or {}
    if not tries:
        return None
    found: list[Mapping[str, Any]] = [{}]
    for text in tries:
        pairs = [part.partition("=") for part in separated(text)]
        if not all(equals for _, equals, _ in pairs):
            raise Refusal(
                f"--try takes NAME=VALUE, several with commas; found {text!r}. Write --try "
                "l2=0.1,l1=0, for instance.",
                Exit.USAGE,
                "likely tune --help",
            )
        found.append(dict(_named_value(name, value, known) for name, _, value in pairs))
    return tuple(found)


def _named_value(typed: str, text: str, defaults: Mapping[str, Any]) -> tuple[str, Any]:
    """A setting by its name, with its value."""
    name = setting_name(typed)
    if name.startswith(PREFIX):
        return name, word_setting(name, text)
    return name, value_like(defaults.get(name), text)


def set_option(command: Command) -> Command:
    """Add ``--set NAME=VALUE``, which may be repeated."""
    return click.option("--set", "assignments", multiple=True, metavar="NAME=VALUE", help=SET_HELP)(
        command
    )


def parameters(model: ModelEntry) -> list[Parameter]:
    """The constructor's arguments with one line each from the docstring."""
    docs = _documented(inspect.getdoc(model.load()) or "")
    return [
        Parameter(
            name, str(default) if isinstance(default, InnerModel) else default, docs.get(name, "")
        )
        for name, default in model.defaults().items()
    ]


def assigned(model: ModelEntry, assignments: Sequence[str]) -> dict[str, Any]:
    """What ``--set name=value`` gives; ``name.key=value`` fills a mapping.

    ``words.name=value`` is a setting of words.
    """
    known = {parameter.name: parameter.default for parameter in parameters(model)}
    known |= model.grouped_defaults()
    typical = model.typical_values()
    given: dict[str, Any] = {}
    for assignment in _as_settings(model, assignments):
        left, equals, right = assignment.partition("=")
        name, dot, key = left.strip().partition(".")
        if not equals:
            _refuse(
                model, f"--set takes name=value; found {assignment!r}. Write --set {name}=VALUE."
            )
        try:
            if model.supervised and _setting(assignment) == PART:
                name, dot = setting_name(left), ""
            else:
                _refuse_labels_needed(model, name, known)
                name = _own_name(model, name, list(known))
            value = value_of(right) if dot else _named_value(name, right, typical)[1]
            if model.estimator in ADDITIVE:
                value = _of_additive(name, value, TERMS if dot else ("auto",))
        except InvalidInput as error:
            _refuse(model, str(error))
        if name in given and not (dot and isinstance(given[name], dict)):
            _refuse(model, f"--set gives {name!r} twice; expected once. Leave one of them out.")
        if dot:
            given.setdefault(name, {})[key] = value
        else:
            given[name] = value
    try:
        check_together(given)
    except InvalidInput as error:
        _refuse(model, str(error))
    return given


def _of_additive(name: str, value: object, terms: Sequence[str]) -> Any:
    """A setting of an additive model: pairs as a*b,c*d or as Python writes them, and its terms."""
    if name == "interactions" and isinstance(value, str):
        pairs: Any = [pair.split("*") for pair in value.split(",")]
        with suppress(ValueError, SyntaxError):
            pairs = pairs if "*" in value else [*literal_eval(value)]
        if not all(isinstance(each, list | tuple) and len(each) == 2 for each in pairs):
            raise InvalidInput(
                f"--set interactions={value} was given; a number of pairs, or pairs of columns, "
                "was expected. Write --set interactions=10, or --set "
                "interactions=hour*workingday,age*region."
            )
        return [[str(name).strip() for name in pair] for pair in pairs]
    if name == "terms" and isinstance(value, str) and value not in terms:
        raise InvalidInput(
            f"The terms {value} were given; linear or category, for one column, was expected. "
            "Write --set terms.age=linear. A Smooth can be given only in Python: "
            "likely.train(data, target, model=likely.AdditiveModel(terms={'hour': "
            "likely.Smooth(cyclic=24)}))."
        )
    return value


def _own_name(model: ModelEntry, name: str, known: Sequence[str]) -> str:
    """A setting as the model has it; that of another library is refused with ours."""
    try:
        return known_name(f"setting of {model.name}", name, known)
    except UnknownName:
        from likely.inputs.parameters import peer_of

        peer = peer_of(model.load().__name__, name, known)
        if peer is None:
            raise
        raise InvalidInput(f"{model.name} has no setting {name!r}: {peer.text}.") from None


def _refuse_labels_needed(model: ModelEntry, name: str, known: Mapping[str, Any]) -> None:
    """Refuse rows without a label for a model that cannot learn from them."""
    if name.startswith(UNLABELLED) and name not in known:
        able = [entry.name for entry in trainable() if UNLABELLED in entry.defaults()]
        _refuse(
            model,
            f"--set {name} was given, and {model.name} cannot learn from rows without a label; "
            f"{', '.join(able)} can. Use it, or leave the setting out.",
        )


def _refuse(model: ModelEntry, message: str) -> NoReturn:
    raise Refusal(message, Exit.USAGE, f"likely models {model.name}")


def _documented(docstring: str) -> dict[str, str]:
    """The first sentence under each entry of the NumPy section Parameters."""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=\n\S[^\n]*\n-+\n|\Z)", docstring, re.M | re.S)
    if section is None:
        return {}
    found: dict[str, str] = {}
    entries = re.split(r"^(?=\S)", section.group(1), flags=re.M)
    for entry in filter(str.strip, entries):
        head, _, body = entry.partition("\n")
        names, _, kind = head.partition(" : ")
        text = " ".join(body.split()) or kind
        sentence = re.split(r"(?<=[.;])\s", text.replace("``", ""), maxsplit=1)[0]
        for name in names.split(","):
            found[name.strip()] = sentence.rstrip(";.") + "."
    return found


def setting_name(typed: str) -> str:
    """The name of a setting: ``words__min_df`` where ``words.min_df`` was typed.

    >>> setting_name("words.min-df"), setting_name("smoothing")
    ('words__min_df', 'smoothing')
    """
    typed = typed.strip()
    if typed != PART and not typed.startswith((f"{PART}.", PREFIX)):
        return typed
    name = typed.removeprefix(PART).removeprefix(".").removeprefix("__")
    if not name:
        raise InvalidInput(
            f"The setting 'words' was given without a name; one of {', '.join(WORD_SETTINGS)} was "
            "expected. Write words.ngram_range=1,2, for instance."
        )
    return PREFIX + known_name("setting of words", name.replace("-", "_"), WORD_SETTINGS)


def word_setting(name: str, text: str) -> Any:
    """The value of a setting of words, whose name has its prefix; refused if it has no meaning."""
    bare = name.removeprefix(PREFIX)
    value = _words(text) if bare in LISTS else value_like(word_defaults()[bare], text)
    bag_of({bare: value})
    return value


def _words(text: str) -> Any:
    """Words with commas between them, also as Python or JSON writes a list; one is a list, too.

    >>> _words("['cat', 'dog']"), _words("cat,"), _words("english"), _words("none")
    (['cat', 'dog'], ['cat'], 'english', None)
    """
    value = value_of(text)
    if value is None or value in NAMED or isinstance(value, dict):
        return value
    inside = re.fullmatch(r"\s*[\[(](.*)[\])]\s*", text, re.S)
    parts = (inside[1] if inside else text).split(",")
    words = (part.strip().strip("'\"").strip() for part in parts)
    return [word for word in words if word]


def word_choices(name: str, text: str) -> list[Any]:
    """The values of a setting of words, with commas between them, or between brackets."""
    parts = [part.strip() for part in separated(text)]
    if name == f"{PREFIX}ngram_range" and all(isinstance(value_of(part), int) for part in parts):
        parts = [text]  # 1,2 is one range
    return [word_setting(name, part) for part in parts]


def check_together(settings: Mapping[str, Any]) -> None:
    """Refuse settings of words that exclude each other."""
    if words := split_settings(settings)[1]:
        bag_of(words)
