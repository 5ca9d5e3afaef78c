"""The learning curve of a network: its losses after each epoch, as a table and a picture.

    loss of epoch t = (1/Σw) Σ_i w_i loss(y_i, η_i(θ_t))        t = 1, 2, …

The loss is that of the likelihood, without penalties, and without dropout.  A validation loss that
rises while the training loss still falls shows where to stop; validation losses are noisy, so the
whole curve is kept and the best epoch is that of its lowest point.

References
----------
Prechelt, Early stopping — but when?, 1998.
"""

from dataclasses import dataclass, field, replace
from typing import Any, final

import numpy as np

from likely._typing import Array
from likely.data.frames import frame_of
from likely.output.formatting import count, html_block, html_paragraph, html_table, text_table
from likely.output.loss_curves import draw_losses, shown_rows
from likely.storage.declarations import SameCount
from likely.storage.values import same_count, unlike


@final
@dataclass(frozen=True, eq=False)
class LossCurve:
    """What was recorded after each epoch; grows by ``with_epoch``."""

    loss: tuple[float, ...] = ()  # of the training rows
    validation: tuple[float, ...] = ()  # of the validation rows; empty where there are none
    rate: tuple[float, ...] = ()
    seconds: tuple[float, ...] = ()

    def check_saved(self) -> None:
        """Refuse validation losses of some epochs only."""
        if self.validation:
            same_count("validation", len(self.validation), len(self.loss))

    @property
    def n_epochs(self) -> int:
        return len(self.loss)

    @property
    def watched(self) -> tuple[float, ...]:
        """The losses by which training is judged: of the validation rows, if there are any."""
        return self.validation or self.loss

    @property
    def best(self) -> int:
        """The epoch of the lowest watched loss, from 1, the first of equal ones; 0 before any."""
        return int(np.argmin(self.watched)) + 1 if self.watched else 0

    def with_epoch(
        self, loss: float, validation: float | None, rate: float, seconds: float
    ) -> "LossCurve":
        held = self.validation if validation is None else (*self.validation, validation)
        return LossCurve((*self.loss, loss), held, (*self.rate, rate), (*self.seconds, seconds))

    def times(self, unit: float) -> "LossCurve":
        """The losses in another unit: each of them is multiplied by it."""
        loss, validation = (tuple(unit * x for x in each) for each in (self.loss, self.validation))
        return LossCurve(loss, validation, self.rate, self.seconds)


@final
@dataclass(frozen=True, eq=False)
class History:
    """Losses by epoch.  Prints as a table.

    Attributes
    ----------
    loss : array of shape (n_epochs,)
        The mean training loss after each epoch: of classes in nats, of a Gaussian half the mean
        square error, in the unit of y squared.
    validation : array of shape (n_epochs,) or None
        The mean loss of the validation rows.
    rate : array of shape (n_epochs,)
        The learning rate; of L-BFGS 1.
    seconds : array of shape (n_epochs,)
        How long each epoch took, the evaluation of losses included.
    kept_epoch : int
        The epoch whose parameters the model has: the best one after early stopping, else the last.
    ending : str
        Why the training ended.
    converged : bool
        Whether it ended because the loss no longer fell.
    """

    saved_rules = (
        SameCount(1, "loss.shape", "rate.shape", "seconds.shape", "validation.shape"),
        SameCount("loss", "rate", "seconds", "validation"),
    )

    loss: Array
    validation: Array | None
    rate: Array
    seconds: Array
    kept_epoch: int
    ending: str
    converged: bool
    model: str = "network"
    library: str | None = field(default=None, repr=False)
    in_nats: bool = False  # whether the loss is −log p of y

    @classmethod
    def of(
        cls,
        curve: LossCurve,
        *,
        kept_epoch: int,
        ending: str,
        converged: bool,
        model: str,
        library: str | None = None,
        unit: float = 1.0,
        in_nats: bool = False,
    ) -> "History":
        """The history of a curve; losses are multiplied by ``unit``."""
        held = unit * np.array(curve.validation) if curve.validation else None
        return cls(
            unit * np.array(curve.loss),
            held,
            np.array(curve.rate),
            np.array(curve.seconds),
            kept_epoch,
            ending,
            converged,
            model,
            library,
            in_nats,
        )

    def of_network(self, number: int, n_networks: int) -> "History":
        """The history, titled as that of one of several networks, numbered from 0."""
        return replace(self, model=f"{self.model}, network {number + 1} of {n_networks}")

    @property
    def n_epochs(self) -> int:
        return len(self.loss)

    @property
    def best_epoch(self) -> int:
        """The epoch of the lowest validation loss, from 1; without validation rows, the last."""
        return self.n_epochs if self.validation is None else int(self.validation.argmin()) + 1

    def training_losses(self) -> LossCurve:
        """The curve without validation losses, to go on with where there are no such rows."""
        columns = (self.loss, self.rate, self.seconds)
        loss, rate, seconds = (tuple(each.tolist()) for each in columns)
        return LossCurve(loss, (), rate, seconds)

    def to_frame(self, library: str | None = None) -> Any:
        """One row per epoch, in pandas, polars or Arrow, like the data; of arrays, in Arrow.

        ``library`` is "pandas", "polars" or "pyarrow", if another is wanted.
        """
        return frame_of(self._columns(), self.library if library is None else library)

    def plot(self, ax: Any = None) -> Any:
        """Both losses and the best epoch; the matplotlib axes, new ones where none are given."""
        label = "mean loss (nats)" if self.in_nats else "mean loss"
        epoch, words = np.arange(1, self.n_epochs + 1), ("epoch", label, self.model)
        return draw_losses(ax, epoch, self.loss, self.validation, best=self.best_epoch, words=words)

    def __str__(self) -> str:
        if not self.n_epochs:
            return self._title()
        return "\n".join([self._title(), "", *text_table(*self._cells(), words=())])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        title = html_paragraph(self._title(), bold=True)
        return html_block(title, html_table(*self._cells())) if self.n_epochs else title

    def _title(self) -> str:
        parts = [f"{count(self.n_epochs, 'epoch')}, {self.ending}"]
        if self.validation is not None and self.n_epochs:
            parts.append(f"lowest validation loss in epoch {self.best_epoch}")
        if self.kept_epoch != self.n_epochs:
            parts.append(f"the parameters are those of epoch {self.kept_epoch}")
        return f"{self.model}: {'; '.join(parts)}."

    def _columns(self) -> dict[str, Any]:
        columns: dict[str, Any] = {"epoch": np.arange(1, self.n_epochs + 1), "loss": self.loss}
        if self.validation is not None:
            columns["validation"] = self.validation
        return {**columns, "rate": self.rate, "seconds": self.seconds}

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        columns = self._columns()
        digits = {"epoch": "d", "rate": ".3g", "seconds": ".3g"}
        cells = {
            name: [format(value, digits.get(name, ".6g")) for value in values.tolist()]
            for name, values in columns.items()
        }
        return list(columns), shown_rows(cells, self.best_epoch - 1)

    def check_saved(self) -> None:
        """Refuse an epoch that was not trained."""
        if not 0 <= self.kept_epoch <= self.n_epochs:
            raise unlike("kept_epoch", f"from 0 to {self.n_epochs}")
