"""``likely.split``: training, validation and test rows, in memory.

Parameters are learned from the training rows, settings and the time to stop from the validation
rows, and the performance from the test rows.  Rows are chosen by the rules of a seal
(``sealing/split.py``), which also guards its test rows; those given here are not guarded.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from likely._typing import Array, Codes
from likely.data.arrow import refuse_twins
from likely.data.frames import frame_of, is_array, is_sparse
from likely.data.source import are_known
from likely.errors import InvalidInput
from likely.output.formatting import count
from likely.sealing.create import check_target
from likely.sealing.split import Split, row_mask, split_rows
from likely.workbench.data.dataset import Dataset
from likely.workbench.data.dataset_notes import about_rows
from likely.workbench.data.opening import dataset


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Parts:
    """Rows split by ``likely.split``; each row is in one part.

    Attributes
    ----------
    train, validation, test : data frame, or arrays
        Frames of the library that was given, else a ``pyarrow.Table``; of an array X and labels y,
        the pair (X, y).  ``test`` is None where no test rows were asked for.
    train_rows, validation_rows, test_rows : ndarray of int
        The same as indices of rows, ascending: ``X[parts.train_rows]``.
    rule : str
        The rule in words.
    notes : tuple of str
        Notes about the split, such as rows that equal each other.
    """

    train: Any
    validation: Any
    test: Any
    train_rows: Codes
    validation_rows: Codes
    test_rows: Codes
    rule: str
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        tested = f", {count(len(self.test_rows), 'test row')}" if len(self.test_rows) else ""
        return (
            f"<Parts: {count(len(self.train_rows), 'training row')}, "
            f"{count(len(self.validation_rows), 'validation row')}{tested}; {self.rule}>"
        )


def split(
    data: Any,
    target: Any = None,
    *,
    validation: Any = 0.2,
    test: Any = None,
    group: str | None = None,
    by_time: str | None = None,
    seed: int = 0,
) -> Parts:
    """Split rows into a training, a validation and, if asked for, a test set, in memory.

    Of a seal, the training rows are split; its test rows stay sealed.

    Parameters
    ----------
    data : data frame, array, Source, Sealed, Dataset, built-in name, or path of a file or a seal
    target : str, or one label for each row
        The column to predict, each of whose classes has its share in each part, to within one row;
        a numeric target is cut into tenths.  A seal and built-in data have their own.
    validation, test : float or sequence
        The share of all rows; or the rows, by index or as one Boolean per row.  ``test=None``
        sets no test rows apart; ``seal`` makes a test set that is guarded.
    group : str, optional
        A column of groups; the rows of a group stay together.
    by_time : str, optional
        A column of times: test rows are the latest, and validation rows the latest before them.
    seed : int
        The seed of the split.

    Returns
    -------
    Parts

    Examples
    --------
    >>> import likely
    >>> parts = likely.split("iris", validation=0.2, test=0.2)
    >>> parts
    <Parts: 90 training rows, 30 validation rows, 30 test rows; stratified by species>
    >>> parts.validation.num_rows
    30
    >>> X_train, y_train = likely.split([[1.0], [2.0], [3.0], [4.0]] * 5, [0, 0, 1, 1] * 5).train
    >>> X_train.shape, y_train.shape
    ((16, 1), (16,))
    """
    rows = dataset(data, target, group=group, by_time=by_time)
    both = {"test": test, "validation": validation}
    wanted = {part: given for part, given in both.items() if given is not None}
    _check_wanted(rows, wanted)
    rows.refuse_sealed_rows("split")
    table, column = rows.table, rows.required_target()
    refuse_twins(table.column_names)
    known = np.asarray(are_known(table.column(column)).to_numpy(zero_copy_only=False))
    labelled = table if known.all() or not known.any() else table.filter(known)
    check_target(labelled.column(column), column)
    chosen, splits = _chosen(rows, wanted, known, seed)
    if is_array(data):
        parts = {part: _arrays_at(data, target, index) for part, index in chosen.items()}
    else:
        parts = {part: frame_of(table.take(index), rows.library) for part, index in chosen.items()}
    gone = about_rows(replace(rows, n_without_target=int((~known).sum())))
    return Parts(
        **{"test": None, **parts},
        **{"test_rows": np.arange(0), **{f"{part}_rows": rows for part, rows in chosen.items()}},
        rule=" and ".join(dict.fromkeys(found.rule for found in splits)),
        notes=tuple(dict.fromkeys([*gone, *(note for found in splits for note in found.notes)])),
    )


def _arrays_at(X: Any, target: Any, index: Codes) -> Any:
    """Rows of an array; with labels beside it, the pair of rows and labels."""
    X = X if is_sparse(X) else np.asarray(X)
    return X[index] if isinstance(target, str) else (X[index], np.asarray(target)[index])


def _check_wanted(rows: Dataset, wanted: Mapping[str, Any]) -> None:
    """Refuse shares that are none or leave nothing, and test rows of a seal."""
    if rows.seal is not None and "test" in wanted:
        raise InvalidInput(
            f"test={wanted['test']!r} was given with {rows.label}, whose test rows are sealed; its "
            "training rows are split into training and validation rows. Leave test out."
        )
    if "validation" not in wanted:
        raise InvalidInput(
            "validation is None; a share of the rows, or the rows, were expected. Use 0.2."
        )
    shares = {part: share for part, share in wanted.items() if np.ndim(share) == 0}
    for part, share in shares.items():
        if not (isinstance(share, int | float | np.number) and 0 < share < 1):
            raise InvalidInput(
                f"{part} is {share!r}; expected a share of the rows between 0 and 1. Use 0.2."
            )
    if sum(shares.values()) >= 1:
        raise InvalidInput(
            f"test={wanted['test']:g} and validation={wanted['validation']:g} leave no row to "
            "train on; shares with a sum below 1 were expected. Use 0.2 for both."
        )
    by = rows.group or rows.by_time
    if len(shares) < len(wanted) and by is not None:
        raise InvalidInput(
            f"{next(iter(wanted.keys() - shares.keys()))} names the rows, and {by!r} is a column "
            "to split by; rows are split by one rule. Choose one of them."
        )


def _chosen(
    rows: Dataset, wanted: Mapping[str, Any], known: Array, seed: int
) -> tuple[dict[str, Codes], list[Split]]:
    """The rows of each part, by index: those that were named first, then shares of the others.

    Rows without a target are in no part.
    """
    table, left = rows.table, np.flatnonzero(known)
    chosen: dict[str, Codes] = {}
    splits = []
    for part in sorted(wanted, key=lambda part: np.ndim(wanted[part]) == 0):
        found = split_rows(
            table.take(left),
            rows.required_target(),
            test=_among(left, wanted[part], part, known),
            group=rows.group,
            by_time=rows.by_time,
            seed=seed,
            part=part,
            kind=rows.kind,
            texts=rows.texts,
            apart=rows.not_features - {rows.group, *rows.rare},
        )
        chosen[part], left = left[found.sealed], left[~found.sealed]
        splits.append(found)
    return {"train": left, **chosen}, splits


def _among(left: Codes, given: Any, part: str, known: Array) -> Any:
    """A share of all rows with a target, or rows, as those of the rows that are left."""
    n_rows = int(known.sum())
    if np.ndim(given) == 0:
        share = given * n_rows / len(left)
        if share >= 1:
            raise InvalidInput(
                f"{part}={given:g} of {n_rows} rows was given, and {len(left)} are left; at least "
                "one row to train on was expected. Choose a smaller share."
            )
        return share
    named = row_mask(np.asarray(given), len(known), part) & known
    twice = np.setdiff1d(np.flatnonzero(named), left)
    if len(twice):
        raise InvalidInput(
            f"Row {twice[0]} was named for two parts; each row is in one. Leave it out of one."
        )
    return named[left]
