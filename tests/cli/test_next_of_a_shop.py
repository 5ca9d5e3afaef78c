"""What a new user is told next: groups, times, seals that exist, and folders without a run."""

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def shop(tmp_path, monkeypatch):
    """Orders of customers in the order of their dates, as a CSV file in the working folder."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    pd.DataFrame(
        {
            "date": pd.date_range("2024-01-01", periods=200).strftime("%Y-%m-%d"),
            "customer_id": [f"C{k:03d}" for k in rng.integers(0, 40, 200)],
            "amount": rng.gamma(2, 20, 200).round(2),
            "returned": rng.choice(["yes", "no"], 200),
        }
    ).to_csv("shop.csv", index=False)
    return "shop.csv"


def test_look_names_the_group_the_time_and_the_type_of_dates(likely, shop):
    said = likely("look", shop, "--target", "returned", "--json").json
    assert said["next"] == "likely seal shop.csv --target returned --group customer_id"
    assert said["result"]["time"] == "date"
    types = {each["name"]: each["type"] for each in said["result"]["columns"]}
    assert types["date"] == "date"
    assert "--by-time date" in likely("look", shop, "--target", "returned").out


def test_a_seal_that_exists_is_compared_next(likely, shop):
    likely("seal", shop, "--target", "returned")
    outcome = likely("seal", shop, "--target", "returned")
    assert outcome.err.rstrip().endswith("Next: likely compare shop.seal")
    assert likely("final", "@last").err.rstrip().endswith("Next: likely compare shop.seal")


def test_final_without_a_run_names_no_built_in_data(likely, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    outcome = likely("final", "@last")
    assert outcome.err.rstrip().endswith("Next: likely train FILE MODEL --target COL")
