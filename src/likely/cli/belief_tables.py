"""Tables of beliefs for a person: probabilities with bars, before and after the evidence."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING

from likely.cli.terminal import table, wrapped
from likely.output.formatting import count, fixed, number, shortened

if TYPE_CHECKING:
    from likely.graphical.model.beliefs import Beliefs, Configuration

BAR = 20  # letters of a probability of 1
GAINED, LOST = "▒", "░"  # the parts of a bar that evidence has added and taken away
LEGEND = f"  {GAINED} gained by the evidence, {LOST} lost"
LONGEST = 30  # letters of a name or state
MOST_VARIABLES = 20  # of a table of all variables
MOST_STATES = 12  # of one variable, and
MOST_CELLS = 24  # of a joint
MOST_LINES = 60  # of configurations and messages
SMALLEST = 0.00005  # smaller probabilities are written with a power of ten


def probability(p: float) -> str:
    """Four decimals, unless these would be zeros.

    >>> probability(0.25), probability(1.5e-7)
    ('0.2500', '1.500e-07')
    """
    return number(p) if 0 < p < SMALLEST else fixed(p, 4)


def bar(p: float, before: float | None = None) -> str:
    """A bar of the probability, with the part that was gained or lost since ``before``.

    >>> bar(0.5, 0.25), bar(0.25, 0.5), bar(0.25)
    ('█████▒▒▒▒▒', '█████░░░░░', '█████')
    """
    before = p if before is None else before
    low, high = round(BAR * min(p, before)), round(BAR * max(p, before))
    return "█" * low + (GAINED if p > before else LOST) * (high - low)


def largest_change(found: "Beliefs", before: "Beliefs", name: str) -> float:
    """The largest difference of a probability of the variable from that without evidence."""
    return float(abs(found.marginal(name) - before.marginal(name)).max())


def shown_variables(
    found: "Beliefs", before: "Beliefs | None", given: Mapping[str, str]
) -> tuple[list[str], str]:
    """The variables of a table of all of them, and a note about those that are left out.

    Observed ones come first.  Where there are many others, those that the evidence has changed
    most are shown.
    """
    free = [name for name in found.marginals if name not in given]
    known = [name for name in found.marginals if name in given][:MOST_VARIABLES]
    if len(free) <= MOST_VARIABLES:
        return [*known, *free], ""
    more = count(len(free) - MOST_VARIABLES, "more variable")
    how = "--query NAME shows one, -o out.csv writes all"
    if before is None:
        return [*known, *free[:MOST_VARIABLES]], _note(f"… and {more}; {how}.")
    change = {name: largest_change(found, before, name) for name in free}
    order = sorted(free, key=lambda name: -change[name])
    least = probability(change[order[MOST_VARIABLES]])
    note = f"… and {more}, whose probabilities the evidence changes by at most {least}; {how}."
    return [*known, *order[:MOST_VARIABLES]], _note(note)


def _note(text: str) -> str:
    """A line below a table."""
    return f"\n  {wrapped(text, 2)}"


def belief_table(
    found: "Beliefs", before: "Beliefs | None", names: Sequence[str], given: Mapping[str, str]
) -> str:
    """A line for each state: its probability, the one without evidence, and a bar."""
    rows = [row for name in names for row in _variable_rows(found, before, name, given.get(name))]
    if before is None:
        return table(["variable", "state", "probability", ""], rows, words=(0, 1, 3))
    head = ["variable", "state", "probability", "no evidence", ""]
    return table(head, rows, words=(0, 1, 4)) + f"\n{LEGEND}"


def _variable_rows(
    found: "Beliefs", before: "Beliefs | None", name: str, observed: str | None
) -> Iterator[list[str]]:
    values = dict(found[name])
    earlier: Mapping[str, float] = {} if before is None else before[name]
    order = [observed] if observed is not None else list(values)
    left_out = len(order) - MOST_STATES if len(order) > MOST_STATES + 1 else 0
    if left_out:
        order = sorted(order, key=lambda state: -values[state])[:MOST_STATES]
    for i, state in enumerate(order):
        p = "observed" if observed is not None else probability(values[state])
        past = [] if before is None else [probability(earlier[state])]
        drawn = "" if observed is not None else bar(values[state], earlier.get(state))
        label = shortened(name, LONGEST) if i == 0 else ""
        yield [label, shortened(state, LONGEST), p, *past, drawn]
    if left_out:
        rest = [probability(_rest(values, order))]
        rest += [] if before is None else [probability(_rest(earlier, order))]
        yield ["", f"… {left_out} others", *rest, ""]


def _rest(values: Mapping[str, float], shown: Sequence[str]) -> float:
    return sum(p for state, p in values.items() if state not in shown)


def joint_table(found: "Beliefs", names: tuple[str, ...]) -> str:
    """A line for each combination of states, or for the most probable ones."""
    cells = product(*(found.variables[name].states for name in names))
    pairs = list(zip(cells, found[names].ravel().tolist(), strict=True))
    left_out = len(pairs) - MOST_CELLS if len(pairs) > MOST_CELLS + 1 else 0
    if left_out:
        pairs = sorted(pairs, key=lambda pair: -pair[1])[:MOST_CELLS]
    rows = [
        [*(shortened(state, LONGEST) for state in cell), probability(p), bar(p)]
        for cell, p in pairs
    ]
    if left_out:
        rest = 1.0 - sum(p for _, p in pairs)
        others = [""] * (len(names) - 1)
        rows.append([f"… {left_out:,} others", *others, probability(max(rest, 0.0)), ""])
    head = [*(shortened(name, LONGEST) for name in names), "probability", ""]
    return table(head, rows, words=(*range(len(names)), len(head) - 1))


def configuration_table(
    best: "Configuration", names: Sequence[str], given: Mapping[str, str]
) -> str:
    """A line for each variable with its state; observed ones are marked."""
    rows = [
        [shortened(name, LONGEST), shortened(best[name], LONGEST), "observed" * (name in given)]
        for name in names[:MOST_LINES]
    ]
    return table(["variable", "state", ""], rows, words=range(3)) + left_out_lines(len(names))


def left_out_lines(n: int) -> str:
    """A note about the lines that a long table leaves out."""
    more = n - MOST_LINES
    return f"\n  … and {more:,} more; -o out.csv writes all of them." if more > 0 else ""
