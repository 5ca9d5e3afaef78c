"""A study on disk: what was asked, and what has been tried.

    study.json        the question: model, space, search, folds, seed, a hash of the data; written
                      once, and again where the budget is raised
    trials.jsonl      one line per trial, in order
    added.jsonl       one line per trial that was added by hand, beside the search
    outer.jsonl       one line per outer fold of a nested study
    outer-0/ …        trials.jsonl of the search inside each outer fold

A study goes on where it stopped.  A folder that asks another question is refused.
"""

import json
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from likely.errors import InvalidFile, InvalidInput
from likely.files import alone_in, make_folder, write_atomically

FORMAT = 1
QUESTION, TRIALS, OUTER = "study.json", "trials.jsonl", "outer.jsonl"
ADDED = "added.jsonl"
BUDGET = "budget"  # may differ from one sitting to the next


@final
@dataclass(frozen=True)
class StudyFolder:
    """The paths of a study; None keeps everything in memory."""

    path: Path | None

    @property
    def trials(self) -> Path | None:
        return self.path and self.path / TRIALS

    @property
    def added(self) -> Path | None:
        return self.path and self.path / ADDED

    @property
    def outer(self) -> Path | None:
        return self.path and self.path / OUTER

    def inner(self, fold: int) -> Path | None:
        """The trials of the search inside an outer fold, in a folder that exists."""
        return self.path and make_folder(self.path / f"outer-{fold}") / TRIALS

    def alone(self) -> AbstractContextManager[None]:
        """No other process, or thread, goes on with the study in the block."""
        return nullcontext() if self.path is None else alone_in(make_folder(self.path))

    def begin(self, question: Mapping[str, Any]) -> None:
        """Write the question, or check that it is the one the folder asks already."""
        if self.path is None:
            return
        file = make_folder(self.path) / QUESTION
        question = json.loads(json.dumps({"format": FORMAT, **question}))  # tuples become lists
        if file.exists():
            earlier = read_question(self.path)
            _check_same(file, earlier, question)
            if earlier == question:
                return
        elif (self.path / TRIALS).exists():
            raise InvalidFile(
                file, f"it is missing beside {TRIALS}. Put it back, or use another folder."
            )
        write_atomically(file, (json.dumps(question, indent=1, sort_keys=True) + "\n").encode())


def read_question(folder: Path) -> dict[str, Any]:
    """What ``study.json`` of a folder asks."""
    file = folder / QUESTION
    if not file.exists():
        raise InvalidInput(
            f"{folder} holds no {QUESTION}; expected the folder of a study. Run tune."
        )
    try:
        question: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        known = question["format"] == FORMAT
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidFile(file, f"it cannot be read ({error}). Use another folder.") from None
    if not known:
        raise InvalidFile(
            file,
            f"its format is {question['format']!r} and this version writes {FORMAT}. "
            "Use another folder, or the version that wrote it.",
        )
    return question


def _check_same(file: Path, earlier: Mapping[str, Any], question: Mapping[str, Any]) -> None:
    for name in sorted(earlier.keys() | question.keys()):
        if name == BUDGET or earlier.get(name) == question.get(name):
            continue
        was, now = (_short(each.get(name)) for each in (earlier, question))
        raise InvalidInput(
            f"The study in {file.parent} has {name} = {was}; now it is {now}. A study answers one "
            "question: ask as before to go on with it, or use another folder."
        )


def _short(value: Any) -> str:
    text = json.dumps(value, sort_keys=True)
    return text if len(text) <= 60 else text[:57] + "…"
