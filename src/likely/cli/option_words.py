"""Messages of the library about arguments of Python, as the options of ``likely graph``."""

import re

# what a message of the library says, and what a user of the command line can do about it
IN_OPTIONS = (
    (re.compile(r",? or (in Python )?pass format=[^.]*"), ""),
    (
        re.compile(r"Pass the format that it has, such as format='csv'\."),
        "Name the file after the format that it has, such as .csv.",
    ),
    (re.compile(r"\b(method|impossible|memory)='([^']*)'"), r"--\1 \2"),
    (re.compile(r"\braise memory\b"), "raise --memory"),
    (re.compile(r"give an order with smaller tables, "), ""),
    (
        re.compile(r"Use query or most_probable, which build a junction tree, or observe one of "),
        "Leave --messages out, which builds a junction tree, or observe with --given one of ",
    ),
    (
        re.compile(r"Choose another root, or use observed='indicator'\."),
        "Choose another variable with --query.",
    ),
)


def in_options(message: str) -> str:
    """The message with options in place of arguments.

    >>> in_options("Use method='junction-tree'.")
    'Use --method junction-tree.'
    """
    for pattern, words in IN_OPTIONS:
        message = pattern.sub(words, message)
    return message
