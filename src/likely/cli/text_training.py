"""A RUN of texts in a file that is larger than memory: naive Bayes on hashed words, in one pass."""

from typing import TYPE_CHECKING, Any

from likely.cli.answer import Exit, Refusal
from likely.cli.suitability import task_facts
from likely.cli.terminal import Settings, showing_progress
from likely.cli.training import TrainedModel, TrainRequest, plain_parameters
from likely.cli.training_report import opening, progressive_table, score_findings, score_text
from likely.formatting import listed
from likely.workbench.models.word_settings import split_settings, with_prefix

if TYPE_CHECKING:
    from likely.workbench.data.dataset import Dataset
    from likely.workbench.scoring.text_stream import StreamedText

STREAMED = "naive-bayes"  # the model of counts that is fitted from sums


def is_text_stream(data: "Dataset", request: TrainRequest) -> bool:
    """Whether the words of a file that is larger than memory are to be read by naive Bayes."""
    if data.in_memory or data.sealed or request.model.name != STREAMED or data.target is None:
        return False
    if len(data.texts) != 1 or request.weka.folds is not None:
        return False
    _refuse_split(data)
    return True


def refuse_counts(data: "Dataset", request: TrainRequest) -> None:
    """Refuse counts of words for a model of their presence."""
    own, words = split_settings(request.given)
    if own.get("event") != "bernoulli" or words.get("binary") is True or not data.texts:
        return
    raise Refusal(
        "event=bernoulli was given, which reads whether a word is present, and words of "
        f"{listed([*map(repr, data.texts)], 3)} are counted. Add --set words.binary=yes, or use "
        "event=multinomial.",
        Exit.USAGE,
        f"likely models {request.model.name}",
    )


def _refuse_split(data: "Dataset") -> None:
    """Refuse columns by which rows are held out: a pass scores rows in the order of the file."""
    option = "--group" if data.by_time is None else "--by-time"
    column = data.group or data.by_time
    if column is not None:
        raise Refusal(
            f"{option} {column} was given with a file of texts that is larger than memory, whose "
            f"rows are scored in their order in the file. Leave {option} out, or train on fewer "
            "rows.",
            Exit.USAGE,
            "likely train --help",
        )


def fit_text_stream(settings: Settings, data: "Dataset", request: TrainRequest) -> TrainedModel:
    """Fit in one pass, and score by progressive validation."""
    from likely import NaiveBayes
    from likely.workbench.scoring.text_stream import fit_text_stream as streamed

    text = data.texts[0]
    own, words = split_settings(request.given)
    default: dict[str, Any] = {"smoothing": "auto", "calibrate": "length"}
    model = NaiveBayes(**{"event": "multinomial", **default, **own})
    with showing_progress(settings, f"fitting {request.model.name}", data.source.n_rows):
        found = streamed(model, data, text, words)
    facts = {
        "model": request.model.name,
        "data": data.label,
        "rows": found.n_rows,
        "columns": [text],
        "target": found.task.target,
        "roles": data.roles.given(),
        "classes": list(found.task.classes),
        "task": task_facts(found.task),
        "events": {},
        "progressive": [each._asdict() for each in found.losses],
        "scores": None if found.score is None else found.score.to_json(),
    }
    note = _about_order(found) if found.is_sorted else ""
    parts = [opening(facts), *progressive_table(found.losses, note), *score_text(found.score)]
    findings = _about_stream(data, found)
    findings += (note,) if note else score_findings(found.score, found.n_rows)
    return TrainedModel(
        found.model,
        facts,
        "\n\n".join(parts),
        findings,
        data,
        {**plain_parameters(model), **with_prefix(words)},
    )


def _about_stream(data: "Dataset", found: "StreamedText") -> tuple[str, ...]:
    """Notes about hashed words, and about features besides the text, which are not read."""
    hashed = (
        f"The file is larger than memory: words are hashed into {found.model.words_.n_columns:,} "
        f"columns, and the probabilities are {_calibration(found.n_held_out, found.n_rows)}."
    )
    gone = {*data.apart, *data.texts, *data.roles.columns}
    others = [name for name in data.source.names if name not in gone]
    if not others:
        return (hashed,)
    left = f"Left out, because only the text is read of such a file: {listed(others, 6)}."
    return hashed, left


def _about_order(found: "StreamedText") -> str:
    """Why progressive validation gives no score of a file in the order of its classes."""
    return (
        f"The file is sorted by its target {found.task.target!r}, or drifts, so progressive "
        "validation says nothing about new documents, and the model has no score. Shuffle the "
        "lines (shuf, without a header), or train on fewer rows in memory."
    )


def _calibration(n_held_out: int | None, n_rows: int) -> str:
    if n_held_out is None:
        return "not calibrated"
    sample = "all" if n_held_out == n_rows else f"a sample of {n_held_out:,}"
    return f"calibrated on {sample} of its {n_rows:,} rows"
