"""Why a model prefers a class: the log-odds as a sum of contributions of the features.

log p(k|x)/p(a|x) = [log π_k/π_a] + Σ_j [log p(x_j|k)/p(x_j|a)]
"""

from dataclasses import dataclass
from typing import final

import numpy as np

from likely._typing import Array
from likely.errors import UnknownName
from likely.formatting import html_block, html_table, text_table

MOST_ROWS = 3  # examples shown when printed
MOST_FEATURES = 10
DECIMALS = 3  # nats are added up, so that all parts have the same last digit


@final
@dataclass(frozen=True, eq=False)
class Explanation:
    """Contributions of features to the log-odds of each class against one class."""

    contributions: Array  # (n_examples, n_features, n_classes)
    prior: Array  # (n_classes,)
    classes: Array
    against: int  # the position of the reference class
    names: tuple[str, ...]

    @property
    def log_odds(self) -> Array:
        """The sum of prior and contributions, (n_examples, n_classes)."""
        return self.prior + self.contributions.sum(axis=1)

    def __str__(self) -> str:
        blocks = [self._text(i) for i in range(min(MOST_ROWS, len(self.contributions)))]
        rest = len(self.contributions) - len(blocks)
        if rest > 0:
            blocks.append(f"(+{rest} more examples)")
        return "\n\n".join(blocks)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        n = min(MOST_ROWS, len(self.contributions))
        return html_block(*(html_table(self._head(), self._rows(i)) for i in range(n)))

    def _text(self, i: int) -> str:
        title, *classes = self._head()
        table = text_table(["", *classes], self._rows(i), indent=0)
        return "\n".join([f"example {i}: {title}", *table])

    def _head(self) -> list[str]:
        """A title, and the classes that are compared with the reference class."""
        labels = self.classes.tolist()
        others = [str(c) for k, c in enumerate(labels) if k != self.against]
        return [f"log-odds against {labels[self.against]!r}", *others]

    def _rows(self, i: int) -> list[list[str]]:
        """The prior, the strongest features, the rest together, and the total."""
        return [
            [name, *(f"{value:+.{DECIMALS}f}" for value in values)]
            for name, values in self._parts(i)
        ]

    def _parts(self, i: int) -> list[tuple[str, Array]]:
        kept = [k for k in range(len(self.classes)) if k != self.against]
        values = self.contributions[i][:, kept]
        order = np.argsort(-np.abs(values).max(axis=1), kind="stable")
        rows = [("prior", self.prior[kept])]
        rows += [(self.names[j], values[j]) for j in order[:MOST_FEATURES]]
        if len(order) > MOST_FEATURES:
            rest = order[MOST_FEATURES:]
            rows.append((f"{len(rest)} other features", values[rest].sum(axis=0)))
        return [*rows, ("total", self.log_odds[i, kept])]


def explanation(
    contributions: Array, log_prior: Array, classes: Array, against: object, names: tuple[str, ...]
) -> Explanation:
    """Log-odds from log-probabilities: everything minus the reference class's."""
    labels = classes.tolist()
    if against is not None and against not in labels:
        raise UnknownName("class", against, map(str, labels))
    reference = 0 if against is None else labels.index(against)
    return Explanation(
        contributions - contributions[:, :, [reference]],
        log_prior - log_prior[reference],
        classes,
        reference,
        names,
    )
