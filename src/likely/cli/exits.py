"""Exit codes, and the refusal that carries one.

The rule: 1 is what the command line says by itself (an unknown verb, option, model or
parameter); 2 is what is found by looking at files (data, columns, run folders, outputs).
"""

from enum import IntEnum

from likely.errors import LikelyError


class Exit(IntEnum):
    """What the shell is told."""

    FINE = 0
    USAGE = 1
    DATA = 2
    HONESTY = 3  # it could be done, and the score would not be what it says
    CHECK = 4
    BUG = 70
    INTERRUPTED = 130


class Refusal(LikelyError):
    """A sentence for the user, an exit code, and the command that would be sensible next."""

    def __init__(self, message: str, exit: Exit, next: str) -> None:
        super().__init__(message)
        self.exit = exit
        self.next = next
