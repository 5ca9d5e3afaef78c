"""Why a model prefers a class: the log-odds, split into what each feature brings.

log p(k|x)/p(a|x) = [log π_k/π_a] + Σ_j [log p(x_j|k)/p(x_j|a)]
"""

from dataclasses import dataclass
from html import escape
from typing import final

import numpy as np

from likely._typing import Array
from likely.errors import UnknownName

MOST_ROWS = 3  # examples shown when printed
MOST_FEATURES = 10


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
        """Their sum, (n_examples, n_classes)."""
        return self.prior + self.contributions.sum(axis=1)

    def __str__(self) -> str:
        blocks = [self._text(i) for i in range(min(MOST_ROWS, len(self.contributions)))]
        rest = len(self.contributions) - len(blocks)
        if rest > 0:
            blocks.append(f"(+{rest} more examples)")
        return "\n\n".join(blocks)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        tables = []
        for i in range(min(MOST_ROWS, len(self.contributions))):
            head = "".join(f"<th>{escape(str(c))}</th>" for c in self._shown_classes())
            rows = "".join(
                f"<tr><th style='text-align:left'>{escape(name)}</th>"
                + "".join(f"<td style='text-align:right'>{v:+.3f}</td>" for v in values)
                + "</tr>"
                for name, values in self._rows(i)
            )
            tables.append(
                f"<table><tr><th>log-odds against {escape(self._reference())}</th>"
                f"{head}</tr>{rows}</table>"
            )
        return "".join(tables)

    def _text(self, i: int) -> str:
        classes = [str(c) for c in self._shown_classes()]
        width = max(len(name) for name, _ in self._rows(i))
        columns = [max(9, len(c)) for c in classes]
        title = f"example {i}: log-odds against {self._reference()}"
        head = " " * width + "".join(f"  {c:>{w}}" for c, w in zip(classes, columns, strict=True))
        lines = [
            f"{name:<{width}}"
            + "".join(f"  {v:>+{w}.3f}" for v, w in zip(values, columns, strict=True))
            for name, values in self._rows(i)
        ]
        return "\n".join([title, head, *lines])

    def _rows(self, i: int) -> list[tuple[str, Array]]:
        """Prior, the strongest features, the rest together, and the total."""
        kept = [k for k in range(len(self.classes)) if k != self.against]
        values = self.contributions[i][:, kept]
        order = np.argsort(-np.abs(values).max(axis=1), kind="stable")
        rows = [("prior", self.prior[kept])]
        rows += [(self.names[j], values[j]) for j in order[:MOST_FEATURES]]
        if len(order) > MOST_FEATURES:
            rest = order[MOST_FEATURES:]
            rows.append((f"{len(rest)} other features", values[rest].sum(axis=0)))
        return [*rows, ("total", self.log_odds[i, kept])]

    def _shown_classes(self) -> list[object]:
        return [c for k, c in enumerate(self.classes.tolist()) if k != self.against]

    def _reference(self) -> str:
        return repr(self.classes.tolist()[self.against])


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
