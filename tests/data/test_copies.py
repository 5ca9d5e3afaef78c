"""Which rows are copies of each other, and which are equal by chance."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from likely.data import copies
from likely.data.copies import copies_in, copies_in_table, joined_units


def rng():
    return np.random.default_rng(0)


def n_kept_together(X) -> int:
    copies = copies_in(X)
    return 0 if copies is None else int((np.bincount(copies)[copies] > 1).sum())


COPIED = {
    "numbers of many digits": np.repeat(rng().normal(size=(400, 5)), 5, axis=0),
    "one column of such numbers": np.repeat(rng().normal(size=(400, 1)), 5, axis=0),
    "single precision": np.repeat(rng().normal(size=(400, 3)).astype(np.float32), 5, axis=0),
    "few rows, many copies": np.repeat(rng().normal(size=(30, 5)), 70, axis=0),
    "two digits": np.repeat(rng().normal(size=(400, 5)).round(1), 5, axis=0),
    "twelve yes or no": np.repeat(rng().integers(0, 2, (400, 12)), 5, axis=0),
    "twenty yes or no": np.repeat(rng().integers(0, 2, (400, 20)), 5, axis=0),
    "whole numbers": np.repeat(rng().integers(0, 99, (500, 4)), 4, axis=0),
}


@pytest.mark.parametrize("X", COPIED.values(), ids=COPIED.keys())
def test_every_row_of_a_table_written_several_times_is_a_copy(X):
    assert n_kept_together(X) == len(X)


def of_parties(*, loyal: float):
    party = rng().integers(0, 2, (435, 1))
    return (rng().random((435, 16)) < np.where(party, loyal, 1 - loyal)).astype(int)


def with_latent_classes():
    draws = rng()
    k, shares = draws.choice(6, 3000), draws.dirichlet([0.3] * 4, (6, 8)).cumsum(axis=2)
    return (draws.random((3000, 8, 1)) > shares[k]).sum(axis=2)


PERSON = [(18, 80), (0, 2), (1, 16)]
THREE = rng().integers(0, 3, (3000, 5))
BY_CHANCE = {
    "four classes of passengers": np.column_stack(
        [
            rng().choice(4, 2201, p=[0.15, 0.13, 0.32, 0.4]),
            np.random.default_rng(1).random(2201) < 0.2,
            np.random.default_rng(2).random(2201) < 0.05,
        ]
    ),
    "one column for each of 24 values": np.eye(24)[rng().choice(24, 2201)],
    "votes": of_parties(loyal=0.9),
    "votes of loyal members": of_parties(loyal=0.97),
    "each column twice, with other codes": np.column_stack([THREE, 2 * THREE + 1]),
    "counts that are mostly 0": rng().poisson(0.3, (2000, 6)),
    "latent classes": with_latent_classes(),
    "yes or no": rng().integers(0, 2, (2000, 8)),
    "levels of a design": np.repeat(np.linspace(0, 1, 10), 20)[:, None],
    "age, sex and years of school": np.column_stack(
        [np.random.default_rng(k).integers(*ends, 5000) for k, ends in enumerate(PERSON)]
    ),
}


@pytest.mark.parametrize("X", BY_CHANCE.values(), ids=BY_CHANCE.keys())
def test_rows_of_few_cells_are_equal_by_chance(X):
    distinct = len(np.unique(X, axis=0))
    assert distinct < 0.7 * len(X)
    assert n_kept_together(X) < 0.01 * len(X)


SPARSE_CELLS = {
    "three columns of 50 values": rng().integers(0, 50, (5000, 3)),
    "four columns of 20 values": rng().integers(0, 20, (5000, 4)),
    "three columns of 100 values": rng().integers(0, 100, (20000, 3)),
    "thirty columns with a tenth of ones": rng().random((2000, 30)) < 0.1,
    "two digits and a tenth of ones": np.column_stack(
        [rng().normal(size=2000).round(2), np.random.default_rng(1).random((2000, 3)) < 0.1]
    ),
}


@pytest.mark.parametrize("X", SPARSE_CELLS.values(), ids=SPARSE_CELLS.keys())
def test_pairs_of_independent_columns_with_more_cells_than_rows_are_no_copies(X):
    assert len(np.unique(X, axis=0)) < len(X) - 5
    assert n_kept_together(X.astype(float)) == 0


def test_rows_copied_among_pairs_that_are_equal_by_chance_are_seen():
    X = rng().integers(0, 50, (5000, 3))
    assert n_kept_together(np.concatenate([X, X[:2000]])) > 4000


def test_a_balanced_design_of_all_cells_has_no_copies():
    cells = np.stack(np.meshgrid(*[np.arange(3)] * 4), axis=-1).reshape(-1, 4)
    assert copies_in(np.repeat(cells, 5, axis=0)) is None


def test_zeros_are_equal_by_chance_beside_numbers_of_many_digits():
    draws = rng()
    X = np.where(draws.random((2000, 4)) < 0.7, 0, draws.normal(size=(2000, 4)))
    assert len(np.unique(X, axis=0)) < 1600
    assert n_kept_together(X) == 0
    copied = np.concatenate([X, X[X.all(axis=1)]])
    assert n_kept_together(copied) == 2 * int(X.all(axis=1).sum())


def test_a_unit_is_named_by_its_first_row():
    X = rng().normal(size=(6, 3))[[0, 1, 2, 1, 0, 1, 5]]
    assert_array_equal(copies_in(X), [0, 1, 2, 1, 0, 1, 6])


def test_rows_that_differ_in_one_cell_are_not_copies():
    X = np.repeat(rng().normal(size=(50, 3)), 2, axis=0)
    X[1::2, 1] += 1e-6
    assert copies_in(X) is None


def test_missing_cells_and_zeros_of_either_sign_are_equal():
    X = np.array([[0.0, np.nan, 1.2345678], [-0.0, np.nan, 1.2345678], [0.0, 1.0, 1.2345678]])
    assert_array_equal(copies_in(X), [0, 0, 2])


def test_frames_sparse_rows_and_documents_are_read_as_arrays_are():
    X = rng().normal(size=(40, 9))[np.r_[0:40, 3, 7]]
    wanted = np.r_[0:40, 3, 7]
    assert_array_equal(copies_in(pd.DataFrame(X)), wanted)
    assert_array_equal(copies_in(sparse.csr_array(X)), wanted)
    assert_array_equal(copies_in([f"document {i}" for i in wanted]), wanted)
    assert_array_equal(copies_in(X.tolist()), wanted)


def test_sparse_rows_of_few_entries_are_equal_by_chance():
    X = np.zeros((40, 60))
    X[:, :3] = 1
    assert copies_in(sparse.csr_array(X)) is None
    X[:, :8] = 1
    assert_array_equal(copies_in(sparse.csr_array(X)), np.zeros(40))


def test_texts_are_not_equal_by_chance_and_categories_are():
    words = pa.table({"words": ["one", "two", "three", "four"] * 10, "y": list(range(40))})
    assert copies_in_table(words, ["words"]) is None
    assert_array_equal(copies_in_table(words, ["words"], texts=["words"]), np.arange(40) % 4)


def test_columns_of_categories_dates_and_lists_are_compared():
    table = pa.table(
        {
            "x": [1.2345678, 1.2345678, 1.2345678, 1.2345678],
            "town": pa.array(["Ulm", "Ulm", "Bonn", None]).dictionary_encode(),
            "tags": [["a"], ["a"], ["a"], ["a"]],
            "none": pa.nulls(4),
        }
    )
    assert_array_equal(copies_in_table(table, table.column_names), [0, 0, 2, 3])


def test_units_that_share_a_row_are_joined():
    joined = joined_units(np.array([5, 5, 7, 8, 9]), np.array([0, 1, 1, 2, 3]))
    assert_array_equal(joined, [0, 0, 0, 1, 2])


def test_two_rows_are_copies_and_one_is_none():
    assert_array_equal(copies_in(np.full((2, 1), 0.123456789)), [0, 0])
    assert copies_in(np.full((1, 1), 0.123456789)) is None


@pytest.mark.parametrize("largest", [3, 5])
def test_one_number_of_repeats_is_no_chance_whether_or_not_some_are_repeated_more(largest):
    size = np.array([3] * 200 + [largest])
    groups = SimpleNamespace(size=size, n_different=201)
    assert copies._Groups._equally_often.fget(groups)
    even = SimpleNamespace(size=np.repeat([2, 3, 4], 70), n_different=300)
    assert not copies._Groups._equally_often.fget(even)


def test_long_numbers_that_rename_whole_ones_are_no_sign_of_copies():
    rng = np.random.default_rng(0)
    visits, town = rng.poisson(3, 60), rng.integers(0, 3, 60)
    assert copies_in(np.column_stack([visits, town])) is None
    assert copies_in(np.column_stack([visits, np.log1p(visits), town])) is None
    other = np.log1p(rng.poisson(3, 60))  # with the same digits, and no renaming
    X = np.column_stack([visits, other, town])
    twice = np.unique(X, axis=0, return_counts=True)[1].max() > 1
    assert twice and copies_in(X) is not None
