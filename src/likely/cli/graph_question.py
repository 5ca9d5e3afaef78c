"""A question about a graph, from the words of a command line to variables, states and numbers."""

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, final

import click

from likely.cli.terminal import GlobalOptions
from likely.errors import UnknownName
from likely.names import known_name
from likely.tasks.request import Exit, Refusal

if TYPE_CHECKING:
    from likely.graphical.model.factor_graph import FactorGraph

Wanted = str | tuple[str, ...]  # a variable, or several for their joint
# what a message of the library says, and what a user of the command line can do about it
IN_OPTIONS = (
    (re.compile(r",? or (in Python )?pass format=[^.]*"), ""),
    (
        re.compile(r"Pass the format that it has, such as format='csv'\."),
        "Name the file after the format that it has, such as .csv.",
    ),
    (re.compile(r"\b(method|impossible|memory)='([^']*)'"), r"--\1 \2"),
    (re.compile(r"\braise memory\b"), "raise --memory"),
    (re.compile(r"give an order with smaller tables, "), ""),
    (
        re.compile(r"Use query or most_probable, which build a junction tree, or observe one of "),
        "Leave --messages out, which builds a junction tree, or observe with --given one of ",
    ),
    (
        re.compile(r"Choose another root, or use observed='indicator'\."),
        "Choose another variable with --query.",
    ),
)


@final
@dataclass(frozen=True, kw_only=True)
class GraphQuestion:
    """What is asked of a graph and what is known, as the words of the command line."""

    file: str
    query: tuple[str, ...] = ()
    given: tuple[str, ...] = ()
    soft: tuple[str, ...] = ()
    evidence: str | None = None  # a file
    rows: str | None = None  # a file
    drop: tuple[str, ...] = ()  # columns of it
    most_probable: bool = False
    messages: bool = False
    method: str = "auto"
    memory: str | None = None
    impossible: str | None = None

    def __post_init__(self) -> None:
        if self.rows and (self.given or self.evidence or self.messages):
            other = "--messages" if self.messages else "--given" if self.given else "--evidence"
            raise click.UsageError(
                f"--table and {other} were given; each row of --table is a set of evidence of its "
                "own. Leave one of them out."
            )
        self._check_method()
        if self.messages and self.method not in ("auto", "tree"):
            raise click.UsageError(
                f"--messages and --method {self.method} were given; messages are those of the "
                "method tree. Leave --method out."
            )
        for option, given in (("--impossible", self.impossible), ("--drop", self.drop)):
            if given and not self.rows:
                raise click.UsageError(
                    f"{option} was given without --table; it is about the rows of a table. Leave "
                    "it out."
                )

    def _check_method(self) -> None:
        """Refuse a method of inference that is not registered, as a slip of the command line."""
        if self.method == "auto":
            return  # and the room of graphs is not imported for --help
        from likely.graphical.methods import INFERENCE

        try:
            known_name("method of inference", self.method, ["auto", *INFERENCE])
        except UnknownName as error:
            raise click.UsageError(str(error)) from None

    def command(self, *more: str, without: str = "", memory: str | None = None) -> str:
        """The command with the same file, evidence and limit, and ``more`` words.

        ``without`` is one observation of --given to leave out, ``memory`` another limit.
        """
        limit = memory or self.memory
        pairs = [("--given", text) for text in self.given if text != without]
        pairs += [("--soft", text) for text in self.soft]
        pairs += [("--evidence", self.evidence)] if self.evidence else []
        pairs += [("--table", self.rows)] if self.rows else []
        pairs += [("--drop", name) for name in self.drop]
        pairs += [("--memory", limit)] if limit else []
        words = [word for pair in pairs for word in pair]
        return shlex.join(["likely", "graph", self.file, *words, *more])

    @property
    def goal(self) -> list[str]:
        """The words that say what is asked."""
        words = [word for text in self.query for word in ("--query", text)]
        return [*words, *(["--map"] if self.most_probable else [])]


@final
@dataclass(frozen=True, kw_only=True)
class Asked:
    """A question whose variables and states are those of the graph."""

    graph: "FactorGraph"
    wanted: tuple[Wanted, ...] = ()  # none: all variables
    given: Mapping[str, str] = field(default_factory=dict)
    soft: Mapping[str, list[float]] = field(default_factory=dict)
    method: str = "auto"
    memory: int | None = None

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the variables asked for, also those in joints, each once."""
        names = [(each,) if isinstance(each, str) else each for each in self.wanted]
        return tuple(dict.fromkeys(name for each in names for name in each)) or self.graph.names


def _with_text_states(graph: "FactorGraph") -> "FactorGraph":
    """The graph with its states as text, which is how a command line reads and shows them."""
    from likely.graphical.model.factor import Factor
    from likely.graphical.model.variable import Variable

    if all(variable.values == variable.states for variable in graph.variables):
        return graph
    named = {each.name: Variable(each.name, each.states) for each in graph.variables}
    factors = [
        Factor([named[name] for name in each.scope], each.stored, scale=each.scale, name=each.name)
        for each in graph.factors
    ]
    return type(graph)(factors, named.values(), name=graph.name)


def asked_of(settings: GlobalOptions, graph: "FactorGraph", question: GraphQuestion) -> Asked:
    """The question with its names checked; a wrong one is refused with the command corrected."""
    from likely.errors import InvalidInput
    from likely.graphical.exact.cost import memory_in_bytes

    try:
        memory = memory_in_bytes(question.memory)
    except InvalidInput as error:
        raise click.UsageError(in_options(str(error))) from None
    graph = _with_text_states(graph)
    names = _Names(settings, graph, question)
    return Asked(
        graph=graph,
        wanted=tuple(names.wanted(text) for text in question.query),
        given=names.observed(),
        soft=dict(names.likelihood(text) for text in question.soft),
        method=question.method,
        memory=memory,
    )


@final
@dataclass(frozen=True)
class _Names:
    """Reads words with names of variables and states, and refuses those that do not exist."""

    settings: GlobalOptions
    graph: "FactorGraph"
    question: GraphQuestion

    def wanted(self, text: str) -> Wanted:
        """A variable, or a joint with commas between its variables; a name may have commas too."""
        names = [text] if text in self.graph.by_name else [n.strip() for n in text.split(",")]
        for j, name in enumerate(names):
            around = [",".join([*names[:j], ""]), ",".join(["", *names[j + 1 :]])]
            self._find(partial(self.graph.variable, name), text, *around)
        if len(set(names)) < len(names):
            raise click.UsageError(
                f"--query is {text!r}; a joint of different variables was expected. Leave one out."
            )
        return names[0] if len(names) == 1 else tuple(names)

    def observed(self) -> Mapping[str, str]:
        """The observed states by variable, of the file and of the command line."""
        from likely.graphical.formats.uai import read_evidence

        file = self.question.evidence
        known = dict(read_evidence(file, self.graph)) if file else {}
        for text in self.question.given:
            name, state = self._pair("--given", text)
            look_up = partial(self.graph.variable(name).code, state)
            self._find(look_up, text, f"{name}=", otherwise=["--query", name])
            if known.setdefault(name, state) != state:
                raise click.UsageError(
                    f"{name} is given as {known[name]!r} and as {state!r}; one state was expected. "
                    "Leave one out."
                )
        return known

    def likelihood(self, text: str) -> tuple[str, list[float]]:
        """Soft evidence on a variable: a number for each of its states."""
        name, values = self._pair("--soft", text)
        try:
            return name, [float(value) for value in values.split(",")]
        except ValueError:
            example = ",".join(["0.5"] * min(self.graph.variable(name).n_states, 4))
            raise click.UsageError(
                f"--soft is {text!r}; a likelihood for each state was expected, with commas "
                f"between them. Write --soft {name}={example}."
            ) from None

    def _pair(self, option: str, text: str) -> tuple[str, str]:
        """NAME=VALUE, where a name may hold an equals sign itself."""
        for i, letter in enumerate(text):
            if letter == "=" and text[:i] in self.graph.by_name:
                return text[:i], text[i + 1 :]
        name, equals, value = text.partition("=")
        if not equals:
            raise click.UsageError(
                f"{option} is {text!r}; a variable and its value were expected. Write {option} "
                "NAME=…"
            )
        self._find(partial(self.graph.variable, name), text, after=f"={value}")
        return name, value

    def _find(
        self,
        look_up: Callable[[], object],
        text: str,
        before: str = "",
        after: str = "",
        *,
        otherwise: Sequence[str] = (),
    ) -> None:
        """Look a name up; if it is unknown, the next command has the nearest one in its place.

        ``text`` is the word of the command line, with ``before`` and ``after`` around the name;
        ``otherwise`` are the words after FILE where no name is near: by default, none.
        """
        from likely.errors import UnknownName

        try:
            look_up()
        except UnknownName as error:
            if error.nearest is None:
                next = shlex.join(["likely", "graph", self.question.file, *otherwise])
            else:
                next = self.settings.caller.command_with(text, f"{before}{error.nearest}{after}")
            raise Refusal(str(error), Exit.DATA, next) from None


def in_options(message: str) -> str:
    """The message with options in place of arguments.

    >>> in_options("Use method='junction-tree'.")
    'Use --method junction-tree.'
    """
    for pattern, words in IN_OPTIONS:
        message = pattern.sub(words, message)
    return message
