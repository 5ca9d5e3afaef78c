"""Which penalty: the mean held-out deviance over folds, and the rule that chooses by it.

    mean_l = Σ_f W_f D_lf / Σ_f W_f        se_l² = Σ_f W_f (D_lf − mean_l)² / (Σ_f W_f (F − 1))

D_lf is the mean deviance of fold f at penalty l, and W_f the weight of its rows.  The rule of one
standard error takes the largest penalty whose mean is within one of the least.

References
----------
Breiman, Friedman, Olshen & Stone, Classification and Regression Trees, 1984, §3.4.3.
"""

from typing import Any, NamedTuple

import numpy as np

from likely._typing import Array
from likely.data.split import FOLD_SEED
from likely.errors import InvalidInput, UnknownName
from likely.inputs.estimators import FoldRows, folds_of, generator, refuse_single_rows
from likely.inputs.labels import classes_of, label_array

RULES = ("one-standard-error", "best")


class Choice(NamedTuple):
    """The curve and what it says."""

    mean: Array  # (n_penalties,)
    standard_error: Array
    best: int
    chosen: int


def choose(deviance: Array, fold_weight: Array, rule: str) -> Choice:
    """From deviances, (n_penalties, n_folds), penalties falling."""
    mean = np.average(deviance, axis=1, weights=fold_weight)
    spread = np.average((deviance - mean[:, None]) ** 2, axis=1, weights=fold_weight)
    error = np.sqrt(spread / (deviance.shape[1] - 1))
    best = int(np.argmin(mean))
    within = int(np.argmax(mean <= mean[best] + error[best]))
    return Choice(mean, error, best, best if rule == "best" else within)


def check_rule(rule: str) -> None:
    if rule not in RULES:
        raise UnknownName("rule", rule, RULES)


def path_folds(
    cv: Any, X: Any, y: Any, *, present: Array, classes: bool, random_state: Any
) -> FoldRows:
    """Shuffled folds, of equal shares of each class; or what the splitter gives.

    Rows that are not ``present`` are in no fold.
    """
    if present.sum() < 2:
        raise InvalidInput(
            "X has 1 sample of positive weight (n_samples = 1); folds need 2 or more rows, to "
            "learn from and to predict. Give more rows, or cv=None for the path alone."
        )
    codes = np.where(present, 0, -1)
    if classes and isinstance(cv, int | np.integer):
        found = classes_of(label_array(y)[present])
        codes[present] = found.codes
        refuse_single_rows(codes, found.classes, otherwise="use cv=None for the path alone")
    seed = FOLD_SEED if random_state is None else int(generator(random_state).integers(2**31))
    folds = folds_of(cv, X, y, codes=codes, seed=seed)
    if len(folds) < 2 or not all(len(rows) for fold in folds for rows in fold):
        raise InvalidInput(
            f"cv={cv!r} gives {len(folds)} folds, or one without rows; expected 2 or more, each "
            "with rows to learn from and to predict. Use 5."
        )
    return folds
