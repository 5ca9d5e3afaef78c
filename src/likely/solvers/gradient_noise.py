"""The noise of a gradient against the size of its batch.

    Var[ĝ_B] = Var[∇L_n] / B                        drawn with replacement
    Var[ĝ_B] = Var[∇L_n] / B · (N − B)/(N − 1)      without

Var is the mean squared distance from the full gradient, the sum over all parameters.  Single
examples give noisy steps, larger batches smoother ones, all examples together none at all.

References
----------
Cochran, Sampling Techniques, 3rd ed., §2.3 (the correction for a finite population).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from likely._typing import Array
from likely.errors import InvalidInput
from likely.output.formatting import text_table
from likely.solvers.batched import BatchedObjective
from likely.solvers.mini_batches import SampledBatches, ShuffledBatches, batches
from likely.solvers.settings import refuse_unless_whole

MOST_NUMBERS = 50_000_000  # of all gradients together: 400 MB


@final
@dataclass(frozen=True, eq=False)
class GradientNoise:
    """The noise of the gradients of batches, measured and by the formula.

    Attributes
    ----------
    sizes : tuple of int
    variance : array of shape (n_sizes,)
        The mean squared distance of the gradient of a batch from the full gradient.
    expected : array of shape (n_sizes,)
        The same by the formula, from the variance of single examples.
    cosine : array of shape (n_sizes,)
        The mean cosine of the angle between the two; nan where the full gradient is 0.
    replace : bool
    n_draws : int
    """

    sizes: tuple[int, ...]
    variance: Array
    expected: Array
    cosine: Array
    replace: bool
    n_draws: int

    def __str__(self) -> str:
        rows = [
            [f"{size:,}", f"{seen:.4g}", f"{formula:.4g}", f"{cosine:.3f}"]
            for size, seen, formula, cosine in zip(
                self.sizes, self.variance, self.expected, self.cosine, strict=True
            )
        ]
        return "\n".join(text_table(["batch", "variance", "by the formula", "cosine"], rows))

    def plot(self) -> Any:
        """A matplotlib figure: the variance and its formula, and the cosine beside them."""
        import matplotlib.pyplot as plt

        figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
        drawn = "with" if self.replace else "without"
        left.loglog(self.sizes, self.expected, "-", color="0.5", label="by the formula")
        left.loglog(self.sizes, self.variance, "o", color="C0", label=f"{self.n_draws} draws")
        left.set(
            xlabel="batch size", ylabel="variance of the gradient", title=f"{drawn} replacement"
        )
        left.legend()
        right.semilogx(self.sizes, self.cosine, "o-", color="C1")
        right.set(xlabel="batch size", ylabel="cosine with the full gradient", ylim=(None, 1.02))
        return figure


def gradient_noise(
    objective: BatchedObjective,
    theta: Any,
    sizes: Sequence[int] = (1, 4, 16, 64),
    *,
    n_draws: int = 2000,
    replace: bool = True,
    seed: int = 0,
) -> GradientNoise:
    """How far gradients of random batches are from the full gradient at θ.

    Parameters
    ----------
    objective : BatchedObjective
        ``model.objective(X, y).in_batches()``, or ``ExampleLosses``.
    theta : array of shape (n_parameters,)
    sizes : sequence of int
        Of the batches.
    n_draws : int
        Batches that are drawn of each size.
    replace : bool
        Whether an example may be drawn twice for a batch.

    Examples
    --------
    >>> from likely import LogisticRegression
    >>> X, y = [[0.0], [1.0], [2.0], [4.0]], [0, 1, 0, 1]
    >>> objective = LogisticRegression().objective(X, y)
    >>> noise = gradient_noise(objective.in_batches(), [0.0, 0.0], sizes=(1, 4), replace=False)
    >>> noise.expected.round(3)
    array([1.422, 0.   ])
    """
    refuse_unless_whole("gradient_noise", "n_draws", n_draws, "Use 2000.")
    theta, n = np.asarray(theta, dtype=float), objective.n_rows
    each = _single_gradients(objective, theta)
    full = each.mean(axis=0)
    spread = float(np.square(each - full).sum(axis=1).mean())
    whole = objective.with_penalty(full, theta, 1 / objective.weight)
    variance, cosine = np.empty(len(sizes)), np.empty(len(sizes))
    for place, size in enumerate(sizes):
        order = SampledBatches(size, replace=replace, steps=n_draws).order(n, seed, place)
        drawn = np.stack([each[rows].mean(axis=0) for rows in batches(order, size)])
        variance[place] = np.square(drawn - full).sum(axis=1).mean()
        cosine[place] = _mean_cosine(drawn + (whole - full), whole)
    B = np.asarray(sizes, dtype=float)
    expected = spread / B * (1.0 if replace else (n - B) / max(n - 1, 1))
    return GradientNoise(tuple(sizes), variance, expected, cosine, replace, n_draws)


def _single_gradients(objective: BatchedObjective, theta: Array) -> Array:
    """∇L of each example, (n, p), in the order of the rows."""
    if objective.n_rows * theta.size > MOST_NUMBERS:
        raise InvalidInput(
            f"The gradients of {objective.n_rows:,} examples have {theta.size:,} numbers each; at "
            f"most {MOST_NUMBERS:,} together were expected. Use an objective of some rows."
        )
    single = objective.batches(ShuffledBatches(1, shuffle=False), 0, 0)
    factor = objective.n_rows / objective.weight
    return np.stack([factor * batch.first_order(theta).gradient for batch in single])


def _mean_cosine(gradients: Array, whole: Array) -> float:
    lengths = np.linalg.norm(gradients, axis=1) * np.linalg.norm(whole)
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.mean(np.dot(gradients, whole) / lengths))
