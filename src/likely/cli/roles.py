"""Which columns of a table are no features: the target, and what comes with a row beside it."""

import inspect
import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from likely.cli.assignments import trainable
from likely.cli.exits import Exit, Refusal
from likely.cli.settings import Settings
from likely.formatting import listed

if TYPE_CHECKING:
    import pyarrow as pa

    from likely.workbench.model_entry import ModelEntry

ARGUMENTS = {  # option of the command line: argument of fit
    "weight": "sample_weight",
    "offset": "offset",
    "exposure": "exposure",
    "groups": "groups",
}
AT_PREDICTION = ("offset", "exposure")  # a prediction needs them too


class Roles(NamedTuple):
    """Columns by what they are for; None where there is none."""

    target: str | None = None
    weight: str | None = None
    offset: str | None = None
    exposure: str | None = None
    groups: str | None = None

    @property
    def columns(self) -> list[str]:
        """All of them, the target first."""
        return [name for name in self if name is not None]

    def beside(self) -> dict[str, str]:
        """Those that come with a row, by role."""
        return {role: name for role in ARGUMENTS if (name := getattr(self, role)) is not None}

    def to_fit(self) -> dict[str, str]:
        """The arguments of ``fit`` besides X and y, as names of columns."""
        return {ARGUMENTS[role]: name for role, name in self.beside().items()}

    def to_predict(self, table: "pa.Table") -> dict[str, Any]:
        """The arguments of a prediction besides X, taken from a table."""
        given = self.beside()
        return {role: table.column(given[role]) for role in AT_PREDICTION if role in given}

    def at_prediction(self) -> list[str]:
        """The columns that a prediction needs besides the features."""
        given = self.beside()
        return [given[role] for role in AT_PREDICTION if role in given]


def roles_of(facts: Mapping[str, Any]) -> Roles:
    """The roles of columns in a run, by what ``run.json`` says."""
    return Roles(
        **{role: name for role, name in facts.get("beside", {}).items() if role in ARGUMENTS}
    )


def check_roles(
    settings: Settings, names: tuple[str, ...], chosen: "ModelEntry", roles: Roles
) -> None:
    """Refuse what the model cannot use, columns that are not there, and columns used twice."""
    _refuse_unused(chosen, roles)
    if roles.target is None and chosen.supervised:
        raise Refusal(
            "No target was given; this model needs to know which column to predict. Add --target "
            f"with one of the columns {listed(names)}.",
            Exit.DATA,
            f"{settings.command} --target {shlex.quote(names[-1])}",
        )
    for name in roles.columns:
        refuse_unknown_column(settings, names, name)
    twice = [name for name in roles.columns if roles.columns.count(name) > 1]
    if twice:
        raise Refusal(
            f"Column {twice[0]!r} is given two parts to play; each column has one. Name another "
            "column for one of them.",
            Exit.DATA,
            "likely train --help",
        )
    if len(set(roles.columns)) == len(names):
        raise Refusal(
            f"No column is left to learn from beside {listed(roles.columns)}; a model "
            "needs at least one feature. Add columns to the table.",
            Exit.DATA,
            "likely train --help",
        )


def _refuse_unused(chosen: "ModelEntry", roles: Roles) -> None:
    for role in roles.beside():
        if ARGUMENTS[role] not in inspect.signature(chosen.load().fit).parameters:
            able = [
                model.name
                for model in trainable()
                if ARGUMENTS[role] in inspect.signature(model.load().fit).parameters
            ]
            raise Refusal(
                f"{chosen.name} has no use for --{role}; it is for {', '.join(able)}. Leave it "
                "out, or use one of these.",
                Exit.USAGE,
                "likely models",
            )


def refuse_unknown_column(settings: Settings, names: tuple[str, ...], wanted: str) -> None:
    """Suggest the nearest column, also in the next command."""
    from difflib import get_close_matches

    if wanted in names:
        return
    near = {name.lower(): name for name in names}
    close = get_close_matches(wanted.lower(), near, n=1)
    nearest = near[close[0]] if close else names[-1]
    hint = f" Did you mean {nearest!r}?" if close else ""
    words = []
    for word in shlex.split(settings.command):
        option, equals, value = word.partition("=")
        mended = word.startswith("--") and bool(equals) and value == wanted
        words.append(f"{option}={nearest}" if mended else nearest if word == wanted else word)
    raise Refusal(
        f"There is no column {wanted!r}; the columns are {listed(names)}.{hint}",
        Exit.DATA,
        shlex.join(words),
    )
