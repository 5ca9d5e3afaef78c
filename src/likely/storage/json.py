"""JSON files: strict, written atomically; errors name the file."""

import json
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from likely.errors import InvalidFile
from likely.storage.files import write_atomically

LONE = re.compile("[\ud800-\udfff]")  # lone surrogates: bytes of a file name that are not UTF-8
CONTAINERS = frozenset({dict, list})  # what `plain` makes
LEAVES = frozenset({str, bool, int, type(None)})  # what it leaves, tested first: most values


def as_json(value: Any) -> str:
    """Strict JSON: NumPy's numbers as numbers, and null for what is not finite."""
    return with_escapes(_indented(plain(value), "\n"))


def _indented(value: Any, line: str) -> str:
    """``json.dumps(value, indent=2)`` of a value in types of JSON, several times faster.

    With an indent the standard library encodes in Python. Here a container without containers
    is encoded at once, in C: its lines are the separators.
    """
    inner = line + "  "
    if not isinstance(value, dict | list) or not value:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    items = value.values() if isinstance(value, dict) else value
    if CONTAINERS.isdisjoint(map(type, items)):
        flat = json.dumps(
            value, ensure_ascii=False, allow_nan=False, separators=("," + inner, ": ")
        )
        return flat[0] + inner + flat[1:-1] + line + flat[-1]
    parts = [_indented(item, inner) for item in items]
    if isinstance(value, dict):
        names = (json.dumps(name, ensure_ascii=False) for name in value)
        parts = [f"{name}: {part}" for name, part in zip(names, parts, strict=True)]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return opening + inner + ("," + inner).join(parts) + line + closing


def with_escapes(text: str) -> str:
    """JSON that UTF-8 can hold: bytes of a file name that are not UTF-8 are escaped."""
    return LONE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def as_ascii_json(text: str) -> str:
    """The same JSON in ASCII letters, for an encoding that lacks others."""
    return json.dumps(json.loads(text), indent=2, allow_nan=False)


def plain(value: Any) -> Any:
    """The value in types of JSON."""
    if type(value) in LEAVES:
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, str | int):  # of a subclass, such as an enumeration's member
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    tolist = getattr(value, "tolist", None)  # NumPy's scalars and arrays
    return str(value) if tolist is None else plain(tolist())


def write_json(path: Path, value: Any) -> Path:
    """Write the value as JSON, all of it or nothing; returns the path."""
    write_atomically(path, (as_json(value) + "\n").encode())
    return path


def read_json(path: Path) -> Any:
    """The content of a JSON file; None where there is no file."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidFile(
            path, f"it cannot be read as JSON ({error}). Remove it, or run its command again."
        ) from None
