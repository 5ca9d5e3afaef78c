"""Folds as ``cv`` asks for them: stratified by a number, or those of a splitter."""

import numpy as np
import pytest
from sklearn.model_selection import KFold

from likely.errors import InvalidInput
from likely.inputs.folds import check_folds, folds_of, refuse_single_rows

CODES = np.array([0, 1, -1, 0, 1, 0, 1, -1, 0, 1])


@pytest.mark.parametrize("cv", [3, np.int64(3), KFold(3)])
def test_present_rows_are_held_out_once_and_absent_rows_never(cv):
    folds = folds_of(cv, np.zeros((10, 1)), None, codes=CODES)
    held = np.concatenate([rows for _, rows in folds])
    assert sorted(held.tolist()) == np.flatnonzero(CODES >= 0).tolist()
    for learn, rows in folds:
        assert not set(learn) & set(rows)
        assert (CODES[learn] >= 0).all()


def test_classes_are_shared_equally_and_a_seed_changes_the_folds():
    codes = np.repeat([0, 1], 20)
    for _, rows in folds_of(4, None, None, codes=codes):
        assert np.bincount(codes[rows]).tolist() == [5, 5]
    one, other = (folds_of(4, None, None, codes=codes, seed=seed)[0][1] for seed in (0, 1))
    assert one.tolist() != other.tolist()


@pytest.mark.parametrize("cv", [1, 0, True, "prefix", None])
def test_what_is_no_number_of_folds_is_refused(cv):
    with pytest.raises(InvalidInput, match=r"expected a number of folds.*or None. Use 5"):
        check_folds(cv, otherwise="None")


def test_a_class_of_one_row_is_refused_by_its_name():
    with pytest.raises(InvalidInput, match=r"Class 'b' has one row; folds need two.*or go home"):
        refuse_single_rows(np.array([0, 0, 1, -1]), np.array(["a", "b"]), otherwise="go home")
    refuse_single_rows(np.array([0, 0, 1, 1]), np.array(["a", "b"]), otherwise="go home")
