"""The lines of a ledger in words, for ``likely ledger show`` and the report."""

import re
from collections.abc import Mapping
from math import inf, nan
from typing import Any

from likely.formatting import count, estimate_cells, percent_level, short_number

LONG_NUMBER = re.compile(r"(?<![\w.])-?\d*\.\d{4,}(?:e[-+]?\d+)?(?!\w)", re.IGNORECASE)
OPEN_ENDS = {"value": nan, "low": -inf, "high": inf, "constant": nan}  # null in JSON


def details_of(entry: Mapping[str, Any]) -> str:
    """What one line of the ledger records."""
    event, evaluation = entry["event"], f"evaluation {entry.get('look')}"
    if event == "score":
        return f"{evaluation}: {_score(entry)}"
    if event == "commit":
        return f"{evaluation}: predictions recorded, {_rounded(str(entry['model']))}"
    if event == "again":
        return f"{evaluation} beyond the budget, reason: {entry['reason']}"
    if event == "refused":
        return _refusal(entry)
    if event == "predict":
        return f"{entry['data']}, with {count(int(entry['rows']), 'sealed row')}"
    if event == "sealed" and "rows" in entry:
        return count(int(entry["rows"]), "row")
    return ""


def _score(entry: Mapping[str, Any]) -> str:
    ends = [end if entry[key] is None else entry[key] for key, end in OPEN_ENDS.items()]
    value, interval, constant = estimate_cells(*ends)
    level = "" if entry.get("level") is None else f"{percent_level(entry['level'])} "
    own = "" if entry.get("own", True) else "; of an earlier model, this one is not better"
    return f"{entry['metric']} {value} ({level}interval {interval}), baseline {constant}{own}"


def _refusal(entry: Mapping[str, Any]) -> str:
    """The refused command, and why it was refused."""
    command = f"likely {entry.get('doing', '')}"
    if entry.get("data") is not None:
        rows = count(int(entry.get("rows", 0)), "sealed row")
        return f"{command} on {entry['data']}, with {rows}"
    if entry.get("why") == "budget":
        return f"{command}, evaluation {entry['look']} beyond the budget, no reason given"
    return f"{command}, {entry['why']}" if entry.get("why") else command


def _rounded(text: str) -> str:
    """Settings with four significant digits, and room to break a line after each comma."""
    short = LONG_NUMBER.sub(lambda found: short_number(float(found[0])), text)
    return re.sub(r",(?=\S)", ", ", short)
