"""Tables with many categories and missing cells: every default model in bounded time."""

import numpy as np
import pyarrow as pa
import pytest

import likely as lk
from likely.generative.discriminant import DiscriminantAnalysis
from likely.workbench.comparison.comparison_entry import affordable, n_prepared_columns
from likely.workbench.data.opening import dataset
from likely.workbench.data.roles import rare_categories
from likely.workbench.models.registry import entries_for
from likely.workbench.preparation.prepared import Prepared
from tests.machine import costs_at_most


def shop(n_rows, n_customers, n_codes):
    """Orders: postal codes with leading zeros, customers, amounts and days with missing cells."""
    rng = np.random.default_rng(0)
    amount = np.where(rng.random(n_rows) < 0.1, np.nan, rng.gamma(2, 20, n_rows))
    age = np.where(rng.random(n_rows) < 0.1, np.nan, rng.integers(18, 90, n_rows))
    code = rng.permutation(np.arange(n_rows) % n_codes)
    return pa.table(
        {
            "customer": [f"C{k:04d}" for k in np.arange(n_rows) % n_customers],
            "postal_code": [f"{k:05d}" for k in code],
            "amount": pa.array(amount, from_pandas=True),
            "age": pa.array(age, from_pandas=True),
            "returned": rng.random(n_rows) < 0.3,
        }
    )


def test_codes_with_few_rows_each_are_left_out_with_a_note():
    rows = dataset(shop(300, 30, 90), "returned")
    assert rows.rare == ("postal_code",)
    assert "postal_code" not in rows.features.column_names
    assert any("fewer than 5 rows for each category: 'postal_code'" in note for note in rows.notes)


@pytest.mark.parametrize("how", ["category", "feature"])
def test_declared_codes_are_kept(how):
    rows = dataset(shop(300, 30, 90), "returned", **{how: ["postal_code"]})
    assert "postal_code" in rows.features.column_names


def test_dates_numbers_and_declared_types_are_not_rare_categories():
    days = [f"2024-{1 + k % 12:02d}-{1 + k % 28:02d}" for k in range(100)]
    texts = [f"street {k}" for k in range(100)]
    table = pa.table(
        {
            "day": days,
            "number": [str(k) for k in range(100)],
            "typed": pa.array(texts).dictionary_encode(),
            "street": texts,
            "few": [f"town {k % 50}" for k in range(100)],
        }
    )
    assert rare_categories(table) == ("street",)


def test_missing_cells_are_filled_for_covariances_of_many_columns():
    table = shop(400, 80, 80)
    X, y = table.drop_columns(["returned", "postal_code"]), table.column("returned").to_numpy()
    steps = dict(Prepared(DiscriminantAnalysis(covariance="tied")).fit(X, y).steps_)
    assert "filled with the median" in steps["amount"]
    variances = DiscriminantAnalysis(covariance="diagonal", shrinkage=0.1)
    diagonal = dict(Prepared(variances).fit(X, y).steps_)
    assert "left to the model" in diagonal["amount"]
    X = shop(400, 8, 400).drop_columns(["returned", "postal_code"])
    few = dict(Prepared(DiscriminantAnalysis(covariance="tied")).fit(X, y).steps_)
    assert "left to the model" in few["amount"]


@pytest.mark.slow
def test_twice_the_categories_do_not_take_eight_times_as_long():
    def compare(n_customers):
        found = lk.compare(shop(1200, n_customers, 400), "returned", folds=2, repeats=1)
        assert not found.failed

    compare(60)  # compiles
    assert costs_at_most(5, lambda: compare(60), lambda: compare(120))


def test_a_model_of_absurd_cost_is_left_out_and_named():
    rng = np.random.default_rng(0)
    n = 12_000
    table = pa.table(
        {
            "code": pa.array([f"c{k % 6000}" for k in range(n)]).dictionary_encode(),
            "y": rng.random(n) < 0.5,
        }
    )
    rows = dataset(table, "y").for_models(None, "compare")
    assert n_prepared_columns(rows) == 5999
    entries, remarks = affordable(entries_for("binary"), rows, 10)
    names = [each.name for each in entries]
    assert "logistic" in names
    assert "discriminant" not in names
    assert "discriminant-full" not in names
    assert "5,999 columns" in remarks[0]
    assert "name it" in remarks[0]
    assert (
        affordable(
            entries_for("binary"),
            dataset(shop(300, 30, 90), "returned").for_models(None, "compare"),
            10,
        ).remarks
        == ()
    )


def test_what_a_seal_records_as_text_is_not_named_twice(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = shop(300, 30, 90)
    remark = [f"order number {k} came late again today" for k in range(300)]
    sealed = lk.seal(table.append_column("remark", pa.array(remark)), "returned", name="shop")
    rows = dataset(sealed)
    assert rows.rare == ("postal_code",)
    assert "remark" in (*rows.texts, *rows.identifiers)
