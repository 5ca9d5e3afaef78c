"""What a query asks for: single variables, and joints of several.

"a"                 the marginal of a
["a", "b"]          the marginals of a and of b
[("a", "b"), "c"]   the joint of a and b, and the marginal of c
"""

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from likely.errors import InvalidInput
from likely.graphical.evidence import known_variables
from likely.graphical.variable import Variable, by_name

Wanted = str | Sequence[str | tuple[str, ...]]
WantedNames = tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]  # of variables, and of joints
MOST_SHOWN = 4  # names in a message


def wanted_names(known: Mapping[str, Variable], variables: Wanted | None) -> WantedNames:
    """The names of single variables, and the tuples, that are asked for; all by default."""
    if variables is None:
        return tuple(known), ()
    if isinstance(variables, tuple) and len(variables) > 1:
        _refuse_bare_tuple(variables)
    wanted = [variables] if isinstance(variables, str | int) else list(variables)
    singles = [name for name in wanted if not isinstance(name, tuple | list)]
    joints = [
        tuple(known_variables(known, names)) for names in wanted if isinstance(names, tuple | list)
    ]
    for names in joints:
        by_name([known[name] for name in names])
    return tuple(known_variables(known, singles)), tuple(joints)


def _refuse_bare_tuple(names: tuple[Any, ...]) -> NoReturn:
    shown = ", ".join([*map(repr, names[:MOST_SHOWN]), *["…"] * (len(names) > MOST_SHOWN)])
    raise InvalidInput(
        f"The query is a tuple of {len(names)} names, which may mean each variable alone or all of "
        f"them together; a list was expected. Use [{shown}] for each alone, or [({shown})] for "
        "their joint."
    )
