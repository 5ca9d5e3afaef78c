"""``likely graph``: beliefs in a Bayesian network, a Markov field or another factor graph."""

import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from likely.cli.answer import Answer
from likely.cli.graph_answers import GraphAnswer, beliefs, messages, most_probable, table_answer
from likely.cli.graph_question import Asked, GraphQuestion, asked_of, in_options
from likely.cli.options import gathered
from likely.cli.table_files import refuse_json_on_stdout, write_table
from likely.cli.terminal import Command, GlobalOptions, global_options, heading, showing_progress
from likely.errors import InvalidInput
from likely.output.formatting import all_listed, count
from likely.tasks.request import Exit, Refusal
from likely.tasks.table_files import is_same_file

if TYPE_CHECKING:
    from likely.errors import GraphTooLarge
    from likely.graphical.model.factor_graph import FactorGraph

KINDS = {
    "bayesian-network": "Bayesian network",
    "markov-field": "Markov field",
    "factor-graph": "factor graph",
}
MOST_TRIED = 20  # observations that are left out one by one, to find those that contradict

QUESTION: tuple[Callable[[Command], Command], ...] = (
    click.option(
        "--query",
        multiple=True,
        metavar="X",
        help="Variable to show; X,Y is a joint [default: all]. May be repeated.",
    ),
    click.option(
        "--given", multiple=True, metavar="Y=STATE", help="Observed state of Y. May be repeated."
    ),
    click.option(
        "--soft",
        multiple=True,
        metavar="Y=L1,L2,…",
        help="Soft evidence: the likelihood of each state of Y. May be repeated.",
    ),
    click.option("--evidence", metavar="FILE", help="Observed states in a UAI evidence file."),
    click.option(
        "--map",
        "most_probable",
        is_flag=True,
        help="Show the most probable states of all variables together.",
    ),
    click.option(
        "--table",
        "rows",
        metavar="ROWS",
        help="CSV, TSV, JSON lines or Parquet file whose rows are sets of evidence, '-' for "
        "standard input.",
    ),
    click.option(
        "--drop",
        multiple=True,
        metavar="COLUMN",
        help="Column of --table to leave out, such as an identifier. May be repeated.",
    ),
    click.option(
        "--messages",
        is_flag=True,
        help="Show the messages on a tree, to the first --query or in both directions.",
    ),
    click.option(
        "--method",
        default="auto",
        metavar="NAME",
        help="Method of inference: tree, junction-tree, elimination or enumeration [default: auto, "
        "a tree or a junction tree].",
    ),
    click.option(
        "--memory", metavar="SIZE", help="Most memory, such as 8GB [default: half of what is free]."
    ),
    click.option(
        "--impossible",
        type=click.Choice(["raise", "nan"]),
        help="What rows of --table with probability 0 do: stop, or have no numbers "
        "[default: raise].",
    ),
)


def _question(command: Command) -> Command:
    """Add FILE and the options about the question, which the command gets as one argument."""
    names = ("file", *(name for name in GraphQuestion.__dataclass_fields__ if name != "file"))
    command = gathered(command, {name: name for name in names}, "question", GraphQuestion)
    for option in reversed(QUESTION):
        command = option(command)
    return click.argument("file")(command)


@click.command()
@_question
@click.option("--draw", metavar="OUT", help="Write a picture: .svg, .png, .pdf, .dot or .txt.")
@click.option("--write", metavar="OUT", help="Write the graph: .uai, .bif, .xmlbif or .json.")
@click.option(
    "-o",
    "output",
    metavar="FILE",
    help="Write all numbers: .csv, .tsv, .jsonl or .parquet, '-' for standard output.",
)
@global_options
@click.pass_obj
def graph(
    settings: GlobalOptions,
    draw: str | None,
    write: str | None,
    output: str | None,
    question: GraphQuestion,
) -> Answer:
    """Answer questions about the graph in FILE: what follows from evidence?

    FILE is a Bayesian network, a Markov field or a factor graph in the format UAI, BIF, XMLBIF or
    JSON, also compressed (.gz, .xz), or one of the examples five-variables and four-cycle. Without
    a question, the probabilities of all variables are shown.
    """
    refuse_json_on_stdout(settings, output, "Numbers")
    from likely.graphical.formats.graph_files import write_graph

    _refuse_own_input(question, draw, write, output)
    with _speaking_of_options():
        opened = _opened(settings, question.file)
        asked = asked_of(settings, opened, question)
        found = _answer(settings, asked, question)
        files = _write_files(asked, found, draw, output)
        if write is not None:
            write_graph(opened, write)  # with its own types of states
            files = (*files, Path(write))
    wrote = f"\n\nWrote {all_listed(files)}." if files else ""
    return Answer(
        text=f"{heading(_title(opened, question.file))}\n{found.text}{wrote}",
        result={"graph": _facts(opened), **_without_written(found, output)},
        findings=found.findings,
        files=files,
        next=_next(asked, question, found, output),
        aside=output == "-",
    )


@contextmanager
def _speaking_of_options() -> Iterator[None]:
    """Errors of the library with options in place of arguments."""
    try:
        yield
    except Refusal as error:
        raise Refusal(in_options(str(error)), error.exit, error.next) from None
    except InvalidInput as error:
        raise Refusal(in_options(str(error)), Exit.DATA, "likely graph --help") from None


def _opened(settings: GlobalOptions, file: str) -> "FactorGraph":
    """The graph in a file, or an example by its name."""
    from difflib import get_close_matches

    from likely.examples import EXAMPLES, load
    from likely.graphical.formats.content import format_suffix
    from likely.graphical.formats.graph_files import SUFFIXES, read_graph

    path = Path(file)
    if path.exists():
        return read_graph(file)
    if file in EXAMPLES:
        return load(file)
    folder = path.parent if path.parent.is_dir() else Path()
    there = [str(p) for p in folder.iterdir() if format_suffix(p) in SUFFIXES]
    close = get_close_matches(file, [*there, *EXAMPLES], n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise Refusal(
        f"There is no file {file!r}; a graph in the format UAI, BIF, XMLBIF or JSON was expected, "
        f"or one of the examples {', '.join(EXAMPLES)}.{hint}",
        Exit.DATA,
        settings.caller.command_with(file, close[0] if close else next(iter(EXAMPLES))),
    )


def _answer(settings: GlobalOptions, asked: Asked, question: GraphQuestion) -> GraphAnswer:
    """The answer to the question; errors that another question avoids name it."""
    from likely.errors import GraphTooLarge, ImpossibleEvidence

    try:
        with settings.using_jobs(), showing_progress(settings, "asking the graph"):
            if question.messages:
                return messages(asked, question)
            if question.rows is not None:
                return table_answer(asked, question)
            return most_probable(asked) if question.most_probable else beliefs(asked)
    except ImpossibleEvidence as error:
        raise _impossible(error, asked, question) from None
    except GraphTooLarge as error:
        raise Refusal(str(error), Exit.DATA, _smaller(error, asked, question)) from None


def _impossible(error: Exception, asked: Asked, question: GraphQuestion) -> Refusal:
    """Evidence of probability 0, with an observation without which it is possible."""
    if question.rows is not None:
        return Refusal(
            str(error), Exit.DATA, question.command(*question.goal, "--impossible", "nan")
        )
    for name, state in list(asked.given.items())[: -MOST_TRIED - 1 : -1]:
        text, others = f"{name}={state}", {n: s for n, s in asked.given.items() if n != name}
        if text in question.given and _is_possible(asked, others):
            hint = f"{error} Without {text} it is possible."
            return Refusal(hint, Exit.DATA, question.command(*question.goal, without=text))
    return Refusal(str(error), Exit.DATA, shlex.join(["likely", "graph", question.file]))


def _is_possible(asked: Asked, given: Mapping[str, str]) -> bool:
    log_z = asked.graph.log_partition(given, soft=asked.soft, memory=asked.memory)
    return log_z > float("-inf")


def _smaller(error: "GraphTooLarge", asked: Asked, question: GraphQuestion) -> str:
    """A command that needs less memory, or that may use what this one needs."""
    from likely.graphical.exact.cost import free_memory

    if error.bytes < free_memory():
        return question.command(*question.goal, memory=f"{error.bytes / 1e9 + 0.01:.2f}GB")
    if not asked.wanted and not question.most_probable and question.rows is None:
        return question.command("--query", asked.graph.names[0])
    return "likely graph --help"


def _refuse_own_input(
    question: GraphQuestion, draw: str | None, write: str | None, output: str | None
) -> None:
    """Refuse to overwrite a file that is read."""
    inputs = [file for file in (question.file, question.evidence, question.rows) if file]
    for wanted in filter(None, (draw, write, output)):
        if any(is_same_file(file, wanted) for file in inputs):
            raise Refusal(
                f"{wanted} is also an input, which would be overwritten. Write to another file.",
                Exit.DATA,
                "likely graph --help",
            )


def _write_files(
    asked: Asked, found: GraphAnswer, draw: str | None, output: str | None
) -> tuple[Path, ...]:
    """Write the picture and the table that were asked for, once there is an answer."""
    if draw is not None:
        asked.graph.draw(draw, given=list(asked.given), messages=found.messages)
    if output is not None:
        write_table(output, list(found.columns), [dict(found.columns)], verb="graph")
    return tuple(Path(name) for name in (draw, output) if name not in (None, "-"))


def _without_written(found: GraphAnswer, output: str | None) -> dict[str, Any]:
    """The result; the columns of a table that is in a file are only named."""
    result = dict(found.result)
    if output is not None and "columns" in result:
        result["columns"] = list(result["columns"])
    return result


def _title(graph: "FactorGraph", file: str) -> str:
    facts = _facts(graph)
    sizes = [count(facts["variables"], "variable"), count(facts["factors"], "factor")]
    if facts["parameters"] is not None:  # a table for each variable
        sizes[1] = count(facts["parameters"], "parameter")
    shape = "its factor graph is a tree" if facts["tree"] else "its factor graph has cycles"
    return f"{graph.name or Path(file).name}: {KINDS[graph.kind]}, {', '.join(sizes)}; {shape}"


def _facts(graph: "FactorGraph") -> dict[str, Any]:
    from likely.graphical.model.bayesian_network import BayesianNetwork

    parameters = graph.n_parameters() if isinstance(graph, BayesianNetwork) else None
    return {
        "name": graph.name,
        "kind": graph.kind,
        "variables": len(graph.variables),
        "factors": len(graph.factors),
        "edges": len(graph.edges) if isinstance(graph, BayesianNetwork) else graph.n_edges,
        "tree": graph.is_tree,
        "parameters": parameters,
    }


def _next(asked: Asked, question: GraphQuestion, found: GraphAnswer, output: str | None) -> str:
    """A question that was not asked: evidence, the most probable states, a picture."""
    if question.rows is not None and output is not None:
        return shlex.join(["likely", "graph", question.file, "--draw", "graph.svg"])
    if question.rows is not None:
        extra = ["--impossible", question.impossible] if question.impossible else []
        return question.command(*question.goal, *extra, "-o", "answers.csv")
    if not asked.given and not asked.soft and asked.graph.variables:
        return question.command("--given", _informative(asked, found))
    if not question.most_probable:
        return question.command("--map")
    return question.command("--draw", "graph.svg")


def _informative(asked: Asked, found: GraphAnswer) -> str:
    """An observation of the last variable: the rarest of its states that can occur."""
    last = asked.graph.variables[-1]
    values = found.result.get("beliefs", {}).get(last.name, {})
    possible = {state: p for state, p in values.items() if p > 0}
    state = min(possible, key=lambda s: possible[s]) if possible else last.states[0]
    return f"{last.name}={state}"
