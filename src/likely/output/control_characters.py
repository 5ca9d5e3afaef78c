"""Text from data without characters that could control a terminal.

A cell, a column name or a file name may hold an escape sequence that moves the cursor, sets the
clipboard or reverses the direction of print.  Such characters are written as their codes.
"""

import re

CONTROLS = re.compile(  # C0, DEL, C1, line separators, directions, and halves of a surrogate pair
    r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
STYLES = re.compile(r"(\x1b\[(?:0|1|2|3[1-6])m)")  # bold, dim and colours: those that we write


def printable(text: str) -> str:
    """Text from data with its control characters escaped, so that it cannot control a terminal.

    Newlines stay, and so do the codes for bold, dim and colours, which the command line writes.

    >>> printable("a\\x1b]52;c;aGk=\\x07b")
    'a\\\\x1b]52;c;aGk=\\\\x07b'
    """
    parts = STYLES.split(text)  # every second part is a style
    parts[::2] = [without_controls(part) for part in parts[::2]]
    return "".join(parts)


def without_controls(text: str) -> str:
    """Text from data alone: every control character is escaped, also codes for colours.

    >>> without_controls("\\x1b[31mred")
    '\\\\x1b[31mred'
    """
    return CONTROLS.sub(_escaped, text)


def printable_json(text: str) -> str:
    """JSON with the control characters in its strings escaped: it reads as the same values.

    >>> printable_json('{"a": "\x9b2J"}')
    '{"a": "\\\\u009b2J"}'
    """
    return CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _escaped(found: re.Match[str]) -> str:
    return " " if found[0] == "\t" else found[0].encode("unicode_escape").decode()
