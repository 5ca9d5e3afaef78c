"""Answers to questions about a graph, each as text, as an object and as a table."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from math import exp
from typing import TYPE_CHECKING, Any, final

import click

from likely.cli.belief_tables import (
    MOST_LINES,
    belief_table,
    configuration_table,
    joint_table,
    left_out_lines,
    shown_variables,
)
from likely.cli.graph_question import Asked, GraphQuestion
from likely.cli.terminal import table, width, wrapped
from likely.output.formatting import DASH, count, fixed, listed, number
from likely.tasks.request import Exit, Refusal

if TYPE_CHECKING:
    from likely._typing import Array
    from likely.data.source import Source
    from likely.graphical.exact.messages import Messages
    from likely.graphical.model.beliefs import Beliefs, Configuration
    from likely.graphical.model.table_beliefs import TableBeliefs, TableConfigurations

MOST_OBSERVED = 6  # named in a sentence
MOST_ROWS = 10  # of a preview
LEAST_LOG = -30.0  # a smaller probability is written as its logarithm alone


@final
@dataclass(frozen=True, eq=False)
class GraphAnswer:
    """One answer in three forms: for a person, for a program, and as columns for a file."""

    text: str
    result: Mapping[str, Any]
    columns: Mapping[str, list[Any]]
    findings: tuple[str, ...] = ()
    messages: "Messages | None" = None  # for the picture


# ── beliefs ──────────────────────────────────────────────────────────────────────────────────


def beliefs(asked: Asked) -> GraphAnswer:
    """The probabilities of the states of the variables asked for, and of joints."""
    graph = asked.graph
    found = graph.query(
        list(asked.wanted) or None,
        asked.given,
        soft=asked.soft,
        method=asked.method,
        memory=asked.memory,
    )
    before, log_evidence, findings = _without_evidence(asked, found)
    note = ""
    names = [name for name in asked.variables if name in found.marginals]
    if not asked.wanted:
        names, note = shown_variables(found, before, asked.given)
    parts = [wrapped(_evidence_sentence(asked, found, log_evidence))]
    parts += [belief_table(found, before, names, asked.given) + note] if names else []
    parts += [joint_table(found, joint) for joint in found.joints]
    result = {
        "method": found.method,
        **_exactness(found),
        "given": dict(asked.given),
        "soft": dict(asked.soft),
        "log_partition": found.log_partition,
        "log_evidence": log_evidence,
        "beliefs": {name: found[name] for name in found.marginals},
        "without_evidence": None if before is None else {name: before[name] for name in before},
        "joints": [
            {"variables": list(joint), "probability": found[joint].tolist()}
            for joint in found.joints
        ],
    }
    return GraphAnswer("\n\n".join(parts), result, _columns(found.to_frame("pyarrow")), findings)


def _without_evidence(
    asked: Asked, found: "Beliefs"
) -> "tuple[Beliefs | None, float | None, tuple[str, ...]]":
    """The beliefs without evidence, if there is any, and the log evidence; where they fit memory.

    Evidence cuts a graph, so that the beliefs without it may need far more memory.
    """
    from likely.errors import GraphTooLarge, NotAnswered

    if not asked.given and not asked.soft:
        return None, found.log_evidence if found.exact else None, ()
    try:
        names = list(found.marginals)
        before = asked.graph.query(names, method=asked.method, memory=asked.memory)
    except GraphTooLarge as error:
        return None, None, (f"The beliefs without evidence are not shown: {error}",)
    shown = before if names else None
    try:
        return shown, found.log_evidence, ()
    except (GraphTooLarge, NotAnswered) as error:
        return shown, None, (f"The probability of the evidence is not shown: {error}",)


def _evidence_sentence(asked: Asked, found: "Beliefs", log_evidence: float | None) -> str:
    """What is known and how probable it is; without evidence, log Z where it is not 0."""
    method = _method(found)
    known = _known(asked)
    if not known:
        is_network = asked.graph.kind == "bayesian-network"
        hidden = is_network or found.bound == "none"
        z = "" if hidden else f" (log Z {number(found.log_partition)})"
        return f"Without evidence{z}. {method}"
    return f"Given {known}{_log_evidence(asked, log_evidence)}. {method}"


def _method(found: "Beliefs | Configuration") -> str:
    """Whether the answer is exact, and how it was found."""
    from likely.graphical.methods import INFERENCE

    if found.exact:
        return f"Exact, by {INFERENCE[found.method].words}."
    return found.exactness.sentence(INFERENCE[found.method].words)


def _exactness(found: "Beliefs | Configuration") -> dict[str, Any]:
    """How far an answer may be off, for a program; an exact one says no more than that."""
    if found.exact:
        return {"exact": True}
    exactness = found.exactness
    return {
        "exact": False,
        "converged": exactness.converged,
        "bound": exactness.bound,
        "log_partition_error": exactness.log_partition_error,
        "standard_errors": {",".join(n): e.tolist() for n, e in exactness.errors.items()},
        "report": dict(exactness.report),
    }


def _known(asked: Asked) -> str:
    words = [f"{name}={state}" for name, state in asked.given.items()]
    words += [f"likelihoods of {name}" for name in asked.soft]
    return listed(words, MOST_OBSERVED)


def _log_evidence(asked: Asked, log_evidence: float | None) -> str:
    if log_evidence is None:
        return ""
    if asked.soft or log_evidence < LEAST_LOG:  # a likelihood has a scale of its own
        return f", log evidence {number(log_evidence)}"
    return f", which has probability {number(exp(log_evidence))}"


# ── the most probable states ─────────────────────────────────────────────────────────────────


def most_probable(asked: Asked) -> GraphAnswer:
    """The most probable states of all variables together; of those asked for, in the text."""
    best = asked.graph.most_probable(
        asked.given, soft=asked.soft, method=asked.method, memory=asked.memory
    )
    log_probability, findings = _log_probability(best)
    known = _known(asked)
    chance = ""
    if log_probability is not None:
        small = log_probability < LEAST_LOG
        value = number(log_probability if small else exp(log_probability))
        chance = f", with {'log ' * small}probability {value}"
    tie = " Another configuration has the same probability." if best.exact else ""
    tie = "" if best.unique else tie
    given = f" given {known}" if known else ""
    text = (
        f"Most probable states of all variables together{given}{chance}; log score "
        f"{number(best.log_score)}. {_method(best)}{tie}"
    )
    result = {
        "method": best.method,
        **_exactness(best),
        "given": dict(asked.given),
        "soft": dict(asked.soft),
        "states": dict(best.states),
        "log_score": best.log_score,
        "log_probability": log_probability,
        "unique": best.unique,
    }
    shown = configuration_table(best, asked.variables, asked.given)
    columns = _columns(best.to_frame("pyarrow"))
    return GraphAnswer(f"{wrapped(text)}\n\n{shown}", result, columns, findings)


def _log_probability(best: "Configuration") -> tuple[float | None, tuple[str, ...]]:
    """The log probability; a sum over all configurations may need more memory than a maximum."""
    from likely.errors import GraphTooLarge, NotAnswered

    try:
        return best.log_probability, ()
    except (GraphTooLarge, NotAnswered) as error:
        return None, (f"The probability of these states is not shown: {error}",)


# ── messages ─────────────────────────────────────────────────────────────────────────────────


def messages(asked: Asked, question: GraphQuestion) -> GraphAnswer:
    """The messages in order, and what they give: beliefs, or the most probable states."""
    root = asked.wanted[0] if asked.wanted else None
    if isinstance(root, tuple):
        raise click.UsageError(
            f"--messages go to one variable; --query {','.join(root)} is a joint. Give one of them."
        )
    found = _sent_messages(asked, root, question)
    goal = "in both directions" if root is None else f"towards {root}"
    known = f" given {_known(asked)}" if _known(asked) else ""
    scale = "Logarithms of maxima" if question.most_probable else "Sums of products"
    lines = str(found).splitlines()
    head, rows = lines[0], lines[1 : MOST_LINES + 1]
    parts = [
        wrapped(f"{count(len(found), 'message')} {goal}{known}. {scale}, not normalised."),
        "\n".join([click.style(head, dim=True), *rows]) + left_out_lines(len(lines) - 1),
    ]
    result = {
        "given": dict(asked.given),
        "soft": dict(asked.soft),
        "root": root,
        "semiring": found.semiring.name,
        "mode": found.mode,
        "messages": [
            {
                "label": each.label,
                "source": each.source,
                "target": each.target,
                "variable": each.variable.name,
                "values": each.values.tolist(),
            }
            for each in found
        ],
        "log_partition": found.log_partition,
    }
    if question.most_probable:
        parts.append(_best_of(found, asked, result))
    else:
        parts.append(_marginals_of(found, asked, result))
    return GraphAnswer("\n\n".join(parts), result, _message_columns(found), messages=found)


def _sent_messages(asked: Asked, root: str | None, question: GraphQuestion) -> "Messages":
    from likely.errors import InvalidInput

    semiring = "max-sum" if question.most_probable else "sum-product"
    try:
        return asked.graph.messages(root, asked.given, soft=asked.soft, semiring=semiring)
    except InvalidInput as error:  # a cycle
        raise Refusal(str(error), Exit.DATA, question.command()) from None


def _marginals_of(found: "Messages", asked: Asked, result: dict[str, Any]) -> str:
    """The beliefs that the messages give, also in the result."""
    beliefs = found.beliefs()
    result["beliefs"] = {name: beliefs[name] for name in beliefs.marginals}
    names, note = list(beliefs.marginals), ""
    if not asked.wanted:
        names, note = shown_variables(beliefs, None, asked.given)
    title = f"Their products, normalised (log Z {number(found.log_partition)}):"
    shown = belief_table(beliefs, None, names, asked.given)
    return f"{title}\n{shown}{note}"


def _best_of(found: "Messages", asked: Asked, result: dict[str, Any]) -> str:
    """The most probable states that the messages give, also in the result."""
    best = found.most_probable()
    result |= {"states": dict(best.states), "log_score": best.log_score, "unique": best.unique}
    tie = "" if best.unique else " Another configuration has the same score."
    title = f"The best states, followed back (log score {number(best.log_score)}):{tie}"
    return f"{title}\n{configuration_table(best, asked.graph.names, asked.given)}"


def _message_columns(found: "Messages") -> dict[str, list[Any]]:
    """A row for each message and state."""
    cells = [
        (each.label, each.source, each.target, each.variable.name, state, value)
        for each in found
        for state, value in zip(each.variable.states, each.values.tolist(), strict=True)
    ]
    names = ("step", "source", "target", "variable", "state", "value")
    rows = zip(*cells, strict=True) if cells else ((),) * len(names)
    return {name: list(column) for name, column in zip(names, rows, strict=True)}


# ── whole tables ─────────────────────────────────────────────────────────────────────────────


def table_answer(asked: Asked, question: GraphQuestion) -> GraphAnswer:
    """Beliefs, or the most probable states, for each row of a file of evidence."""
    answer: TableBeliefs | TableConfigurations
    rows = _evidence_rows(asked, question)
    impossible = question.impossible or "raise"
    if question.most_probable:
        best = asked.graph.most_probable(
            rows, soft=asked.soft, method=asked.method, memory=asked.memory, impossible=impossible
        )
        frame = best.to_frame("pyarrow")
        marks = [name for name in frame.column_names if name not in asked.graph.by_name]
        columns = _columns(frame.select([*asked.variables, *marks]))
        answer, title, scores = best, "log_score", best.log_score
    else:
        found = asked.graph.query(
            list(asked.wanted) or None,
            rows,
            soft=asked.soft,
            method=asked.method,
            memory=asked.memory,
            impossible=impossible,
        )
        columns = _columns(found.to_frame("pyarrow"))
        answer, title, scores = found, "log_evidence", _log_evidence_of_rows(found)
    columns[_free_name(title, columns)] = scores.tolist()
    n_bad = sum(score == float("-inf") for score in scores.tolist())
    bad = f"{count(n_bad, 'row')} of {question.rows} with probability 0: the cells are empty."
    findings: tuple[str, ...] = (bad,) if n_bad else ()
    result = {
        "method": answer.method,
        "exact": answer.exact,
        "rows": len(scores),
        "impossible_rows": n_bad,
        "columns": columns,
    }
    if not answer.exact:
        findings += (f"Approximate: {answer!r}.",)
        result["not_converged_rows"] = int((~answer.converged).sum())
    return GraphAnswer(_preview(columns, len(scores)), result, columns, findings)


def _log_evidence_of_rows(found: "TableBeliefs") -> "Array":
    """The log evidence of each row; nan where the method does not give it."""
    from likely.errors import NotAnswered

    try:
        return found.log_evidence
    except NotAnswered:
        return found.log_partition * float("nan")


def _evidence_rows(asked: Asked, question: GraphQuestion) -> "Source":
    """The file of evidence, without dropped columns; other columns that are no variables stop."""
    from likely.data.formats.registry import HowToRead, read_as
    from likely.data.readings.table_readings import AskedReadings
    from likely.errors import InvalidInput
    from likely.graphical.model.evidence_table import refuse_other_columns

    how = HowToRead(AskedReadings(of_run=True))  # a blank row is no evidence
    rows = read_as(str(question.rows), how).drop(list(question.drop))
    others = [name for name in rows.names if name not in asked.graph.by_name]
    words = [word for name in others for word in ("--drop", name)]
    remedy = f"Rename it, or leave it out with {shlex.join(words)}."
    try:
        refuse_other_columns(asked.graph.names, rows.names, remedy)
    except InvalidInput as error:
        command = question.command(*words, *question.goal)
        raise Refusal(f"{question.rows}: {error}", Exit.DATA, command) from None
    return rows


def _free_name(title: str, columns: Mapping[str, Any]) -> str:
    """The title, with underscores after it while a variable has that name."""
    while title in columns:
        title += "_"
    return title


def _preview(columns: Mapping[str, list[Any]], n_rows: int) -> str:
    """The first rows and columns."""
    names, shown, room = list(columns), [], width() - len("  row") - len(list(columns)[-1]) - 2
    for name in names[:-1]:
        room -= 2 + max([len(name), *(len(_cell(cell)) for cell in columns[name][:MOST_ROWS])])
        if room < 0:
            break
        shown.append(name)
    shown.append(names[-1])
    rows = [
        [str(i), *(_cell(columns[name][i]) for name in shown)]
        for i in range(min(n_rows, MOST_ROWS))
    ]
    more = n_rows > MOST_ROWS or len(names) > len(shown)
    hint = "; -o out.csv writes all of them" if more else ""
    words = [j + 1 for j, name in enumerate(shown) if n_rows and isinstance(columns[name][0], str)]
    shape = f"{count(n_rows, 'row')}, {count(len(names), 'column')}{hint}."
    return f"{shape}\n\n{table(['row', *shown], rows, words=words)}"


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return fixed(value, 4)
    return DASH if value is None else str(value)


def _columns(frame: Any) -> dict[str, list[Any]]:
    """The columns of an Arrow table; NaN is None."""
    return {
        name: [None if value != value else value for value in frame[name].to_pylist()]
        for name in frame.column_names
    }
