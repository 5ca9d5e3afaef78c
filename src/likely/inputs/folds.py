"""Folds as the argument ``cv`` asks for them: a number of stratified folds, or a splitter."""

from typing import Any

import numpy as np
from sklearn.model_selection import check_cv

from likely._typing import Array, Codes
from likely.data.split import FOLD_SEED, stratified_fold_of
from likely.errors import InvalidInput

FoldRows = list[tuple[Array, Array]]  # rows to learn from, rows to predict


def check_folds(cv: Any, *, otherwise: str, advice: str = "Use 5.") -> None:
    """Refuse what is neither a number of folds nor a splitter; ``otherwise`` is also allowed."""
    if cv is None or isinstance(cv, str | bool) or (isinstance(cv, int | np.integer) and cv < 2):
        raise InvalidInput(
            f"cv is {cv!r}; expected a number of folds, 2 or more, a splitter, or {otherwise}. "
            f"{advice}"
        )


def folds_of(cv: Any, X: Any, y: Any, *, codes: Codes, seed: int = FOLD_SEED) -> FoldRows:
    """Shuffled folds with equal shares of each code for a number; else what the splitter gives.

    Rows of code −1 are in no fold.
    """
    present = codes >= 0
    if isinstance(cv, int | np.integer):
        fold = np.full(len(codes), -1)
        fold[present] = stratified_fold_of(codes[present], seed, int(cv))
        return [
            (np.flatnonzero(present & (fold != f)), np.flatnonzero(fold == f))
            for f in range(int(cv))
            if (fold == f).any()
        ]
    parts = check_cv(cv).split(X, y)
    kept = [[np.asarray(rows)[present[rows]] for rows in part] for part in parts]
    return [(learn, held) for learn, held in kept]


def refuse_single_rows(codes: Codes, classes: Array, *, otherwise: str) -> None:
    """Refuse a class of one row, which cannot be both learned from and predicted."""
    count = np.bincount(codes[codes >= 0], minlength=len(classes))
    if (count < 2).any():
        raise InvalidInput(
            f"Class {classes.tolist()[int(count.argmin())]!r} has one row; folds need two or more "
            "of each class, to learn from and to predict. Give more rows, leave the class out, or "
            f"{otherwise}."
        )
