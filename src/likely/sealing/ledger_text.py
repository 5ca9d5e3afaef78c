"""The lines of a ledger in words, for ``likely ledger show`` and the report."""

import re
from collections.abc import Mapping
from typing import Any

from likely.formatting import count, estimate_cells, percent_level, short_number
from likely.intervals import Estimate
from likely.names import in_words

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
    value, interval, constant = estimate_cells(*Estimate.from_json(entry))
    level = percent_level(entry["level"])
    own = "" if entry["of_this_model"] else "; of an earlier model, this one is not better"
    metric = in_words(entry["metric"])
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
