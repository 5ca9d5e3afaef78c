"""``likely graph``: beliefs in a Bayesian network, a Markov field or a factor graph."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import click

from likely.cli.answer import Answer
from likely.cli.options import gathered
from likely.cli.table_files import write_table
from likely.cli.terminal import Settings, global_options, heading, table
from likely.formatting import all_listed, count, fixed, number, shortened

if TYPE_CHECKING:
    from likely.graphical.beliefs import Beliefs
    from likely.graphical.factor_graph import FactorGraph

MOST_VARIABLES = 20  # in a printed table without --query; --json and -o have all
BAR = 20  # letters of the bar of a probability of 1
LONGEST_STATE = 30

ASKED = {
    "query": "query",
    "given": "given",
    "soft": "soft",
    "evidence": "evidence",
    "rows": "rows",
    "map": "most_probable",
    "messages": "messages",
    "method": "method",
    "memory": "memory",
    "impossible": "impossible",
}


@final
@dataclass(frozen=True, kw_only=True)
class GraphQuestion:
    """What is asked of a graph, and what is known."""

    query: tuple[str, ...] = ()
    given: tuple[str, ...] = ()
    soft: tuple[str, ...] = ()
    evidence: str | None = None  # a file
    rows: str | None = None  # a file
    most_probable: bool = False
    messages: bool = False
    method: str = "auto"
    memory: str | None = None
    impossible: str = "raise"

    def __post_init__(self) -> None:
        if self.messages and (self.rows or (self.most_probable and self.query)):
            raise click.UsageError(
                "--messages shows the messages of one question; --table, or --map with --query, "
                "was given too. Leave one of them out."
            )
        if self.rows and (self.given or self.evidence):
            raise click.UsageError(
                "--table has the evidence of every row; --given or --evidence was given too. Leave "
                "one of them out."
            )

    def wanted(self, graph: "FactorGraph") -> list[str | tuple[str, ...]] | None:
        """The variables to query; ``a,b`` is a joint unless it is a name.  None is all of them."""
        found: list[str | tuple[str, ...]] = []
        for asked in self.query:
            names = tuple(name.strip() for name in asked.split(","))
            found.append(asked if asked in graph.by_name or len(names) == 1 else names)
        return found or None

    def observed(self, graph: "FactorGraph") -> dict[str, str]:
        """The observed states, by the names of variables."""
        from likely.graphical.formats.uai_evidence import read_evidence

        known = dict(read_evidence(self.evidence, graph)) if self.evidence else {}
        return known | dict(_pair("--given", text, graph) for text in self.given)

    def likelihoods(self, graph: "FactorGraph") -> dict[str, list[float]]:
        """Soft evidence, by the names of variables."""
        found = {}
        for text in self.soft:
            name, values = _pair("--soft", text, graph)
            try:
                found[name] = [float(value) for value in values.split(",")]
            except ValueError:
                raise click.BadParameter(
                    f"--soft is {text!r}; likelihoods with commas between them were expected. "
                    "Write --soft Y=0.2,0.8."
                ) from None
        return found


@click.command()
@click.argument("file")
@click.option(
    "--query", multiple=True, metavar="X", help="Variable to show; X,Y is a joint. May be repeated."
)
@click.option(
    "--given", multiple=True, metavar="Y=STATE", help="Observed state of Y. May be repeated."
)
@click.option(
    "--soft",
    multiple=True,
    metavar="Y=L1,L2,…",
    help="Likelihood of each state of Y. May be repeated.",
)
@click.option("--evidence", metavar="FILE", help="Observed states in a UAI evidence file.")
@click.option("--map", is_flag=True, help="Show the most probable states of all variables.")
@click.option(
    "--table", "rows", metavar="ROWS", help="CSV or Parquet file; each row is a set of evidence."
)
@click.option("--messages", is_flag=True, help="Show the messages towards the first --query.")
@click.option("--draw", metavar="OUT", help="Write a picture: .svg, .dot or .txt.")
@click.option("--write", metavar="OUT", help="Write the graph: .uai, .bif, .xmlbif or .json.")
@click.option(
    "-o",
    "output",
    metavar="FILE",
    help="File for all beliefs: .csv, .tsv, .jsonl or .parquet, '-' for standard output.",
)
@click.option(
    "--method",
    default="auto",
    metavar="NAME",
    help="tree, junction-tree, elimination or enumeration [default: auto].",
)
@click.option(
    "--memory", metavar="SIZE", help="Most memory, such as 8GB [default: half of what is free]."
)
@click.option(
    "--impossible",
    type=click.Choice(["raise", "nan"]),
    default="raise",
    help="What to do with a row of --table of probability 0 [default: raise].",
)
@global_options
@click.pass_obj
def graph(
    settings: Settings,
    file: str,
    draw: str | None,
    write: str | None,
    output: str | None,
    question: GraphQuestion,
) -> Answer:
    """Show what follows from evidence in the graph of FILE.

    FILE is a network or field in the format UAI, BIF, XMLBIF or JSON, also compressed (.gz, .xz),
    or one of the examples five-variables, four-cycle. Without a question, the probabilities of all
    variables are shown.
    """
    opened = _opened(file)
    written = _write_files(opened, draw, write, question)
    if question.messages:
        shown = _messages(opened, question)
    elif question.rows is not None:
        shown = _table_answer(opened, question)
    elif question.most_probable:
        shown = _configuration(opened, question)
    else:
        shown = _beliefs(opened, question)
    if output is not None and shown.frame is not None:
        written += _write_frame(shown.frame, output)
    return Answer(
        text=f"{heading(_title(opened, file))}\n{shown.text}",
        result={"graph": _facts(opened), **shown.result},
        findings=shown.findings,
        files=tuple(written),
        next=_next(file, opened, question),
        aside=output == "-",
    )


graph.callback = gathered(graph.callback, ASKED, "question", GraphQuestion)  # type: ignore[arg-type]


@final
@dataclass(frozen=True, eq=False)
class Shown:
    """One answer in three forms."""

    text: str
    result: Mapping[str, Any]
    frame: Any = None
    findings: tuple[str, ...] = ()


def _opened(file: str) -> "FactorGraph":
    from likely.examples import EXAMPLES, load
    from likely.graphical.formats.registry import read_graph

    return load(file) if file in EXAMPLES and not Path(file).exists() else read_graph(file)


def _pair(option: str, text: str, graph: "FactorGraph") -> tuple[str, str]:
    """NAME=VALUE, where a name may hold an equals sign itself."""
    for i, letter in enumerate(text):
        if letter == "=" and text[:i] in graph.by_name:
            return text[:i], text[i + 1 :]
    name, equals, value = text.partition("=")
    if not equals:
        raise click.BadParameter(
            f"{option} is {text!r}; a variable and its value were expected. Write {option} NAME=…"
        )
    return graph.variable(name).name, value


def _beliefs(graph: "FactorGraph", question: GraphQuestion) -> Shown:
    given, soft = question.observed(graph), question.likelihoods(graph)
    found = graph.query(
        question.wanted(graph), given, soft=soft, method=question.method, memory=question.memory
    )
    without = None
    if given or soft:
        names = list(found.marginals)
        without = graph.query(names, method=question.method, memory=question.memory)
    shown, left_out = _shown_names(found, graph, question, given)
    lines = [_given_line(graph, given, soft, found), "", _belief_table(found, shown, without)]
    lines += [_joint_table(found, names) for names in found.joints]
    if left_out:
        lines.append(f"  … and {count(left_out, 'variable')} more; --query NAME shows one.")
    result = {
        "method": found.method,
        "exact": found.exact,
        "log_partition": found.log_partition,
        "log_evidence": found.log_evidence,
        "beliefs": {name: found[name] for name in found.marginals},
        "joints": {", ".join(names): found[names].tolist() for names in found.joints},
    }
    return Shown("\n".join(lines), result, found.to_frame())


def _shown_names(
    found: "Beliefs", graph: "FactorGraph", question: GraphQuestion, given: Mapping[str, str]
) -> tuple[list[str], int]:
    """The variables of the printed table: those asked for, or the first that are not observed."""
    names = list(found.marginals)
    if question.query:
        return names, 0
    free = [name for name in names if name not in given]
    return free[:MOST_VARIABLES], max(0, len(free) - MOST_VARIABLES)


def _given_line(
    graph: "FactorGraph", given: Mapping[str, str], soft: Mapping[str, Any], found: "Beliefs"
) -> str:
    """What is known, its probability, and the method."""
    if not given and not soft:
        return f"No evidence; {found.method}."
    known = [f"{name}={state}" for name, state in given.items()]
    known += [f"likelihoods of {name}" for name in soft]
    listed = all_listed(known) if len(known) <= 8 else f"{all_listed(known[:7], ',')} and more"
    return f"Given {listed}; log evidence {number(found.log_evidence)} ({found.method})."


def _belief_table(found: "Beliefs", names: Sequence[str], without: "Beliefs | None") -> str:
    """A line for each state: its probability, that without evidence, and a bar."""
    rows = []
    for name in names:
        states = found.variables[name].states
        for i, (state, p) in enumerate(zip(states, found.marginal(name).tolist(), strict=True)):
            before = [] if without is None else [fixed(float(without.marginal(name)[i]), 4)]
            bar = "█" * round(BAR * p)
            label = shortened(name, LONGEST_STATE) if i == 0 else ""
            rows.append([label, shortened(state, LONGEST_STATE), fixed(p, 4), *before, bar])
    head = ["variable", "state", "probability", *([] if without is None else ["no evidence"]), ""]
    return table(head, rows, words=(0, 1, len(head) - 1))


def _joint_table(found: "Beliefs", names: tuple[str, ...]) -> str:
    from itertools import product

    cells = product(*(found.variables[name].states for name in names))
    rows = [
        [*cell, fixed(p, 4), "█" * round(BAR * p)]
        for cell, p in zip(cells, found[names].ravel().tolist(), strict=True)
    ]
    head = [*names, "probability", ""]
    return "\n" + table(head, rows, words=(*range(len(names)), len(head) - 1))


def _configuration(graph: "FactorGraph", question: GraphQuestion) -> Shown:
    given, soft = question.observed(graph), question.likelihoods(graph)
    best = graph.most_probable(given, soft=soft, method=question.method, memory=question.memory)
    wanted = question.wanted(graph) or list(best.states)
    flat = [name for each in wanted for name in (each if isinstance(each, tuple) else (each,))]
    rows = [[name, best[name], "observed" if name in given else ""] for name in flat]
    tie = "" if best.unique else " Another configuration has the same probability."
    text = (
        f"Most probable configuration ({best.method}): log score {number(best.log_score)}, "
        f"log probability {number(best.log_probability)}.{tie}\n\n"
        f"{table(['variable', 'state', ''], rows, words=range(3))}"
    )
    result = {
        "method": best.method,
        "exact": best.exact,
        "states": dict(best.states),
        "log_score": best.log_score,
        "log_probability": best.log_probability,
        "unique": best.unique,
    }
    return Shown(text, result, best.to_frame())


def _messages(graph: "FactorGraph", question: GraphQuestion) -> Shown:
    wanted = question.wanted(graph)
    root = None if wanted is None else wanted[0]
    if isinstance(root, tuple):
        raise click.UsageError(
            f"--messages go towards one variable; --query {', '.join(root)} is a joint. Give one."
        )
    found = graph.messages(
        root=root,
        given=question.observed(graph),
        soft=question.likelihoods(graph),
        semiring="max-sum" if question.most_probable else "sum-product",
    )
    sent = [
        {
            "label": each.label,
            "source": each.source,
            "target": each.target,
            "variable": each.variable.name,
            "values": each.values.tolist(),
        }
        for each in found
    ]
    return Shown(str(found), {"messages": sent, "log_partition": found.log_partition})


def _table_answer(graph: "FactorGraph", question: GraphQuestion) -> Shown:
    from likely.graphical.evidence_file import read_rows

    rows = read_rows(str(question.rows))
    settings = {"soft": question.likelihoods(graph), "memory": question.memory}
    if question.most_probable:
        best = graph.most_probable(rows, impossible=question.impossible, **settings)
        frame, scores, title = best.to_frame("pyarrow"), best.log_score, "log_score"
    else:
        found = graph.query(
            question.wanted(graph), rows, impossible=question.impossible, **settings
        )
        frame, scores, title = found.to_frame("pyarrow"), found.log_evidence, "log_evidence"
    frame = frame.append_column(title, [scores])
    return Shown(_preview(frame), {"rows": frame.num_rows, "columns": frame.column_names}, frame)


def _preview(frame: Any) -> str:
    """The first rows and columns of a frame."""
    most, widest = 10, 8
    names = frame.column_names[:widest]
    rows = [
        [str(i), *(fixed(cell, 4) if isinstance(cell, float) else str(cell) for cell in row)]
        for i, row in enumerate(
            zip(*(frame.slice(0, most)[name].to_pylist() for name in names), strict=True)
        )
    ]
    shape = f"{count(frame.num_rows, 'row')}, {count(frame.num_columns, 'column')}"
    more = frame.num_rows > most or frame.num_columns > widest
    hint = "; -o out.csv writes all of them" if more else ""
    return f"{shape}{hint}.\n\n{table(['row', *names], rows)}"


def _write_files(
    graph: "FactorGraph", draw: str | None, write: str | None, question: GraphQuestion
) -> list[Path]:
    from likely.graphical.formats.registry import write_graph

    written = []
    if draw is not None:
        known = [] if question.rows else list(question.observed(graph))
        written.append(Path(draw))
        graph.draw(draw, given=known)
    if write is not None:
        write_graph(graph, write)
        written.append(Path(write))
    return written


def _write_frame(frame: Any, output: str) -> tuple[Path, ...]:
    names = frame.column_names
    columns = {name: frame[name].to_pylist() for name in names}
    _, path = write_table(output, names, [columns], verb="graph")
    return () if path is None else (path,)


def _title(graph: "FactorGraph", file: str) -> str:
    return f"{graph.name or Path(file).name}: {_kind(graph)}"


def _kind(graph: "FactorGraph") -> str:
    facts = _facts(graph)
    parameters = facts.get("parameters")
    more = "" if parameters is None else f", {count(parameters, 'parameter')}"
    return (
        f"{facts['kind']}, {count(facts['variables'], 'variable')}, "
        f"{count(facts['factors'], 'factor')}{more}"
    )


def _facts(graph: "FactorGraph") -> dict[str, Any]:
    from likely.graphical.bayesian_network import BayesianNetwork

    facts: dict[str, Any] = {
        "name": graph.name,
        "kind": graph.kind,
        "variables": len(graph.variables),
        "factors": len(graph.factors),
        "edges": graph.n_edges,
        "tree": graph.is_tree,
    }
    if isinstance(graph, BayesianNetwork):
        facts["parameters"] = graph.n_parameters()
    return facts


def _next(file: str, graph: "FactorGraph", question: GraphQuestion) -> str:
    """A question that was not asked yet: evidence, the most probable states, then a picture."""
    words = ["likely", "graph", file]
    if not question.given and question.rows is None and graph.variables:
        last = graph.variables[-1]
        return shlex.join([*words, "--given", f"{last.name}={last.states[0]}"])
    given = [word for pair in question.given for word in ("--given", pair)]
    if not question.most_probable and question.rows is None:
        return shlex.join([*words, *given, "--map"])
    return shlex.join([*words, *given, "--draw", "graph.svg"])
