"""Values of settings, as they are written on a command line."""

import json
import re
from typing import Any

YES_AND_NO = {"yes": True, "on": True, "no": False, "off": False}
LARGEST_EXPONENT = 64


def value_of(text: str) -> Any:
    """A value of JSON, a number (nan is one), or true, false and none in any case; else text.

    Python's brackets of a tuple are those of a list, and its ** is a power.

    >>> value_of("(16, 8)"), value_of("(100,)"), value_of("None"), value_of("2**20")
    ([16, 8], [100], None, 1048576)
    """
    for read in (json.loads, float, _tuple, _power):
        try:
            return read(text)
        except ValueError:
            continue
    return {"none": None, "true": True, "false": False}.get(text.strip().lower(), text)


def value_like(default: Any, text: str) -> Any:
    """The value of a setting: 16,8 where the default is a sequence, yes and no where it is a bool.

    On and off are read as yes and no are.
    """
    if isinstance(default, bool):
        return YES_AND_NO.get(text.strip().lower(), value_of(text))
    is_sequence = isinstance(default, tuple | list) and "," in text
    value = value_of(text)
    return value_of(f"({text})") if is_sequence and value == text else value


def separated(text: str) -> list[str]:
    r"""What commas separate that are in no brackets or braces; an escaped one is a letter.

    >>> separated(r"(16,8),100,\w{2,}")
    ['(16,8)', '100', '\\w{2,}']
    """
    depth, parts, before = 0, [""], ""
    for letter in text:
        if before != "\\":
            depth = max(depth + (letter in "([{") - (letter in ")]}"), 0)
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
        before = "" if before == "\\" else letter
    return parts


def _tuple(text: str) -> Any:
    inside = re.fullmatch(r"\s*\((.*?),?\s*\)\s*", text, re.S)
    if inside is None:
        raise ValueError("no tuple")
    return json.loads(f"[{inside.group(1)}]")


def _power(text: str) -> int:
    numbers = re.fullmatch(r"\s*(\d{1,4})\s*\*\*\s*(\d{1,2})\s*", text)
    if numbers is None or int(numbers[2]) > LARGEST_EXPONENT:
        raise ValueError("no power")
    return int(int(numbers[1]) ** int(numbers[2]))
