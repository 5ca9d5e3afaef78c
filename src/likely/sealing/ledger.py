"""The ledger: one canonical JSON line per event, each with the SHA-256 of the line before.

    line n = {"event", "n", "previous", "time", …}        previous = SHA-256(line n − 1)

The hash is of the line without its line feed; line 0 has zeros.  ``head.json`` repeats the
number of lines and the hash of the last, so that removed lines are detected.  A line is added in
three steps: the head names the next line, the line is appended, the head is updated.  A kill
between them leaves a head that names the line that was being added, and the next addition finishes
it; any other difference between head and lines is an error.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, final

from likely.data.arrow import digest_of_file
from likely.errors import BrokenLedger
from likely.numerics.intervals import Estimate
from likely.output.formatting import count, estimate_cells, percent_level, short_number
from likely.sealing.final_score import title_of_loss, upwards
from likely.sealing.manifest import Manifest, canonical
from likely.storage.files import append_line, sweep, write_atomically

LEDGER, HEAD, MANIFEST = "ledger.jsonl", "head.json", "manifest.json"
EVENTS = ("sealed", "commit", "score", "repeat", "again", "predict", "seen", "refused")
ZEROS = "0" * 64
ADVICE = "Restore it from a backup; until then its scores cannot be trusted."

Entry = Mapping[str, Any]


class LedgerVerdict(NamedTuple):
    """Whether a seal is unchanged; ``problems`` lists what was changed."""

    sound: bool
    lines: int
    head: str  # SHA-256 of the last line
    problems: tuple[str, ...]
    notes: tuple[str, ...] = ()  # what is strange, and may have an innocent reason


class _Head(NamedTuple):
    n_lines: int
    head: str
    adding: str | None = None  # the line that is being added

    def to_bytes(self) -> bytes:
        content: dict[str, Any] = {"count": self.n_lines, "head": self.head}
        if self.adding is not None:
            content["adding"] = self.adding
        return canonical(content) + b"\n"


@final
@dataclass(frozen=True)
class Ledger:
    """The ledger in a folder.  To add a line, hold the lock of the folder."""

    folder: Path

    def entries(self) -> list[Entry]:
        """All lines, with the one that is being added; a changed line is an error."""
        return self.history()[0]

    def history(self) -> tuple[list[Entry], str]:
        """All lines, and the SHA-256 of the last of them, from one reading of the files.

        Other processes may add lines between two readings.
        """
        lines, problems = self._checked()
        if problems:
            raise BrokenLedger(self.folder, f"{problems[0]} {ADVICE}")
        return [json.loads(line) for line in lines], _hash(lines[-1])

    def begin(self, facts: Mapping[str, Any]) -> None:
        """Write line 0, in a folder that is being created."""
        line = _line(0, ZEROS, "sealed", facts)
        append_line(self.folder / LEDGER, line)
        self._write_head(_Head(1, _hash(line)))

    def add(self, event: str, facts: Mapping[str, Any]) -> Entry:
        """Add a line; it is on disk when this returns."""
        count = len(self.recovered())
        head = self._read_head()
        line = _line(count, head.head, event, facts)
        self._write_head(_Head(count, head.head, line.decode()))
        append_line(self.folder / LEDGER, line)
        self._write_head(_Head(count + 1, _hash(line)))
        entry: Entry = json.loads(line)
        return entry

    def recovered(self) -> list[Entry]:
        """All lines, after an addition that was interrupted has been finished."""
        entries = self.entries()
        sweep(self.folder)
        head = self._read_head()
        if head.adding is not None:
            self._finish(head.adding.encode(), head.n_lines)
        return entries

    def verdict(self, files: Mapping[str, str] | None = None) -> LedgerVerdict:
        """Verify the whole folder: lines, head, manifest and files.

        ``files`` are those to be read, with their SHA-256; None is all that the manifest names.
        """
        lines, problems = self._checked()
        if lines and not problems:
            problems = _problems_of_files(self.folder, json.loads(lines[0]), files)
        head = _hash(lines[-1]) if lines else ZEROS
        notes = () if problems else _clock_set_back([json.loads(line) for line in lines])
        return LedgerVerdict(not problems, len(lines), head, tuple(problems), notes)

    def _finish(self, line: bytes, count: int) -> None:
        """Write the rest of a line that was written partly or not at all."""
        *lines, start = (self.folder / LEDGER).read_bytes().split(b"\n")
        if len(lines) == count:
            append_line(self.folder / LEDGER, line[len(start) :])
        self._write_head(_Head(json.loads(line)["n"] + 1, _hash(line)))

    def _checked(self) -> tuple[list[bytes], list[str]]:
        """The lines up to the first problem, and the problem."""
        try:
            content, head = self._read()
        except OSError as error:
            return [], [f"{Path(error.filename).name} cannot be read ({error.strerror})."]
        except ValueError:
            return [], [f"{HEAD} was changed after it was written."]
        *lines, rest = content.split(b"\n")
        if head.adding is not None:
            lines, rest = _with_addition(lines, rest, head)
        if rest:
            return lines, [f"Line {len(lines)} of {LEDGER} is cut short."]
        sound, problem = _chained(lines)
        if not problem:
            problem = _problem_of_head(lines, head)
        return lines[:sound], [problem] if problem else []

    def _read(self) -> tuple[bytes, _Head]:
        """Lines and head at the same moment: an addition by another process changes the head."""
        head = (self.folder / HEAD).read_bytes()
        while True:
            content = (self.folder / LEDGER).read_bytes()
            before, head = head, (self.folder / HEAD).read_bytes()
            if before == head:
                return content, _head_of(head)

    def _read_head(self) -> _Head:
        return _head_of((self.folder / HEAD).read_bytes())

    def _write_head(self, head: _Head) -> None:
        write_atomically(self.folder / HEAD, head.to_bytes())


def verify_ledger(folder: str | Path) -> LedgerVerdict:
    """Whether the ledger and the files of a seal are unchanged.

    Any flipped byte and any line that was removed, moved or cut is found, unless all later hashes
    and the head were computed again: the hashes are no signature.  Nor is a whole folder that was
    restored to an earlier state.  Both show if the head is compared with a copy kept elsewhere, as
    every RUN has one.  Times that run backwards are in ``notes``.
    """
    return Ledger(Path(folder)).verdict()


def hashes_of(entries: Sequence[Entry], head: str) -> tuple[str, ...]:
    """The SHA-256 of each line; ``head`` is that of the last."""
    return (*(str(entry["previous"]) for entry in entries[1:]), head)


def models_evaluated(entries: Sequence[Entry]) -> dict[int, set[str] | None]:
    """The SHA-256 of the model files of each evaluation; None if its commit has no such field.

    A model without a file has none.  A *repeat* is another file with the same predictions.
    """
    found: dict[int, set[str] | None] = {}
    for entry in entries:
        if entry["event"] in ("commit", "repeat"):
            known = found.setdefault(int(entry["evaluation"]), set())
            if "model_sha256" not in entry:
                found[int(entry["evaluation"])] = None
            elif known is not None and entry["model_sha256"] is not None:
                known.add(str(entry["model_sha256"]))
    return found


def estimates_recorded(
    entries: Sequence[Entry], evaluation: int, model_sha256: str | None
) -> list[float | None]:
    """The cross-validation estimates with which a model file came to an evaluation.

    Two RUNs with equal model files may have been cross-validated on different folds.
    """
    return [
        entry["cv_estimate"]
        for entry in entries
        if entry["event"] in ("commit", "repeat")
        and entry["evaluation"] == evaluation
        and entry.get("model_sha256") == model_sha256
        and "cv_estimate" in entry
    ]


def _head_of(content: bytes) -> _Head:
    found = json.loads(content)
    if not isinstance(found, dict) or not {"count", "head"} <= set(found):
        raise ValueError
    head = _Head(found["count"], found["head"], found.get("adding"))
    if head.to_bytes() != content:
        raise ValueError
    return head


def _line(n: int, previous: str, event: str, facts: Mapping[str, Any]) -> bytes:
    time = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return canonical({**facts, "event": event, "n": n, "previous": previous, "time": time})


def _hash(line: bytes) -> str:
    return sha256(line).hexdigest()


def _with_addition(lines: list[bytes], rest: bytes, head: _Head) -> tuple[list[bytes], bytes]:
    """The lines as if an interrupted addition had been finished."""
    line = (head.adding or "").encode()
    if len(lines) == head.n_lines and line.startswith(rest):
        return [*lines, line], b""
    return lines, rest


def _chained(lines: list[bytes]) -> tuple[int, str]:
    """The number of valid lines, and the problem of the next line."""
    previous = ZEROS
    for n, line in enumerate(lines):
        try:
            entry = json.loads(line)
            same = canonical(entry) == line
        except (ValueError, TypeError):
            return n, f"Line {n} of {LEDGER} is not valid JSON; it was changed or added."
        if not same or not isinstance(entry, dict) or entry.get("event") not in EVENTS:
            return n, f"Line {n} of {LEDGER} was changed after it was written."
        if entry.get("n") != n or entry.get("previous") != previous:
            return n, f"Line {n} of {LEDGER} does not contain the hash of the line before it."
        if (n == 0) != (entry["event"] == "sealed"):
            return n, f"Line {n} of {LEDGER} is out of place."
        previous = _hash(line)
    return len(lines), ""


def _problem_of_head(lines: list[bytes], head: _Head) -> str:
    count = head.n_lines + (head.adding is not None)
    if len(lines) < max(count, 1):
        return f"{LEDGER} has {len(lines)} lines; {HEAD} says {count}: its last lines were removed."
    before = _hash(lines[head.n_lines - 1]) if 0 < head.n_lines <= len(lines) else ZEROS
    added_is_last = head.adding is None or lines[-1] == head.adding.encode()
    if len(lines) > count or before != head.head or not added_is_last:
        return f"The last line of {LEDGER} does not match {HEAD}."
    return ""


def _clock_set_back(entries: Sequence[Entry]) -> tuple[str, ...]:
    """A note for the first line that is earlier than the line before it."""
    for before, entry in pairwise(entries):
        if str(entry["time"]) < str(before["time"]):
            return (
                f"Line {entry['n']} ({entry['time']}) is earlier than line {before['n']} "
                f"({before['time']}): the clock was set back, or a line was not written when it "
                "says.",
            )
    return ()


def _problems_of_files(folder: Path, sealed: Entry, files: Mapping[str, str] | None) -> list[str]:
    """The files that differ from the manifest, or a manifest that differs from line 0."""
    try:
        if digest_of_file(folder / MANIFEST) != sealed.get("manifest"):
            return [f"{MANIFEST} was changed after sealing."]
        files = Manifest.read(folder / MANIFEST).files if files is None else files
        return [
            f"{name} was changed after sealing."
            for name, digest in files.items()
            if digest_of_file(folder / name) != digest
        ]
    except OSError as error:
        return [f"{Path(error.filename).name} cannot be read ({error.strerror})."]


# ── The lines of a ledger in words, for ``likely ledger show`` and the report ─────────────────────

LONG_NUMBER = re.compile(r"(?<![\w.])-?\d*\.\d{4,}(?:e[-+]?\d+)?(?!\w)", re.IGNORECASE)

EVENTS_IN_WORDS = {
    "commit": "predictions recorded",
    "again": "extra evaluation",
    "repeat": "same predictions",
    "seen": "sealed rows used",
}


def event_in_words(entry: Mapping[str, Any]) -> str:
    """The event of a line, as readers see it; the file has shorter words."""
    event = str(entry["event"])
    return EVENTS_IN_WORDS.get(event, event)


def used_in_words(used: int, budget: int) -> str:
    """``1 of 2 evaluations used``; ``3 evaluations used; 2 allowed``."""
    if used > budget:
        return f"{count(used, 'evaluation')} used; {budget} allowed"
    return f"{used} of {count(budget, 'evaluation')} used"


def allowed_in_words(budget: int, judge: str) -> str:
    """``1 evaluation allowed``, with the judge unless it is the plain one."""
    return f"{count(budget, 'evaluation')} allowed{'' if judge == 'plain' else f', judge {judge}'}"


def details_of(entry: Mapping[str, Any]) -> str:
    """What one line of the ledger records."""
    event, evaluation = entry["event"], f"evaluation {entry.get('evaluation')}"
    if event == "score":
        return f"{evaluation}: {_score(entry)}"
    if event in ("commit", "repeat"):
        return f"{evaluation}: {_rounded(str(entry['model']))}"
    if event == "again":
        return f"{evaluation} beyond the budget, reason: {entry['reason']}"
    if event == "refused":
        return _refusal(entry)
    if event == "seen":
        rows = count(int(entry["rows"]), "sealed row")
        return f"likely {entry['command']} on {entry['data']}, with {rows}"
    if event == "predict":
        return f"{entry['data']}, with {count(int(entry['rows']), 'sealed row')}"
    if event == "sealed" and "rows" in entry:
        return count(int(entry["rows"]), "row")
    return ""


def _score(entry: Mapping[str, Any]) -> str:
    found = upwards(entry["metric"], Estimate.from_json(entry))
    value, interval, constant = estimate_cells(*found)
    level = percent_level(entry["level"])
    own = "" if entry["of_this_model"] else "; of an earlier model, this one is not better"
    metric = title_of_loss(entry["metric"])
    return f"{metric} {value} ({level} interval {interval}), baseline {constant}{own}"


def _refusal(entry: Mapping[str, Any]) -> str:
    """The refused command, and why it was refused."""
    command = f"likely {entry['command']}"
    if entry.get("data") is not None:
        rows = count(int(entry.get("rows", 0)), "sealed row")
        return f"{command} on {entry['data']}, with {rows}"
    if entry["reason"] == "budget":
        return f"{command}, evaluation {entry['evaluation']} beyond the budget, no reason given"
    return f"{command}, {entry['reason']}"


def _rounded(text: str) -> str:
    """Settings with four significant digits, and room to break a line after each comma."""
    short = LONG_NUMBER.sub(lambda found: short_number(float(found[0])), text)
    return re.sub(r",(?=\S)", ", ", short)
