"""Which models a comparison tries where none is named: those that suit the task and its roles."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from likely.errors import InvalidInput
from likely.kinds import IN_WORDS
from likely.workbench.comparison.fit_costs import affordable
from likely.workbench.comparison.text_readers import text_readers
from likely.workbench.data.dataset import Dataset
from likely.workbench.data.roles import ARGUMENTS
from likely.workbench.models.registry import BASELINE, entries_for

MOST_COLUMNS = 2000  # for models of pairs of columns, unless slow models are asked for
OF_PAIRS = frozenset({"discriminant", "discriminant-full", "bayesian-network"})  # columns² or ³


class ChosenModels(NamedTuple):
    """The models to compare, and those that were left out, with the reason."""

    models: Any  # names, estimators or entries
    slow: tuple[str, ...] = ()
    unable: Mapping[str, tuple[str, ...]] = MappingProxyType({})  # those that lack a role, by it
    too_long: tuple[str, ...] = ()  # notes about models that would take hours
    unread: tuple[str, ...] = ()  # and about models that read no text


def suited_models(rows: Dataset, *, everything: bool, n_fits: int) -> ChosenModels:
    """The models that suit the task, and can be fitted that often in a reasonable time."""
    kind, roles = rows.settled.kind, rows.roles.given()
    suited = entries_for(kind, everything=True)
    unable = {
        role: names
        for role in roles
        if (names := tuple(e.name for e in suited if not e.accepts(ARGUMENTS[role])))
    }
    able = [each for each in suited if not any(each.name in names for names in unable.values())]
    if unable and {each.name for each in able} <= {BASELINE}:
        role, names = next(iter(unable.items()))
        raise InvalidInput(
            f"The {role} {roles[role]!r} was given, and no model for {IN_WORDS[kind]} takes one "
            f"({', '.join(names)} do not). Leave it out, or give the kind of the target (--kind) "
            "if it holds counts or amounts."
        )
    chosen = [each for each in entries_for(kind, everything=everything) if each in able]
    if not everything and len(rows.source.names) > MOST_COLUMNS:
        chosen = [each for each in chosen if each.name not in OF_PAIRS]
    slow = tuple(each.name for each in able if each not in chosen)
    fitted, too_long = affordable(chosen, rows, n_fits)
    readers, unread = text_readers(fitted, rows)
    return ChosenModels(readers, slow, unable, too_long, unread)
