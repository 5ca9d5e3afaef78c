"""Codes with leading zeros on the command line: features, and labels that come back as written."""

import csv

import numpy as np
import pytest

N = 60
RNG = np.random.default_rng(0)
TOWNS = ["02134", "02135", "90210"]


@pytest.mark.parametrize("model", ["logistic", "naive-bayes"])
def test_labels_and_codes_come_back_as_they_were_written(likely, tmp_path, model):
    x = RNG.normal(size=N)
    shops = ["01" if at + RNG.normal() > 0 else "02" for at in x]
    lines = [f"{x[k]:.3f},{TOWNS[k % 3]},{shops[k]}" for k in range(N)]
    (tmp_path / "shops.csv").write_text("\n".join(["x,zip,shop", *lines]) + "\n")
    assert likely("train", "shops.csv", model, "--target", "shop", "-o", "r").exit == 0
    assert likely("predict", "r", "shops.csv", "-o", "out.csv", "--proba").exit == 0
    with open(tmp_path / "out.csv") as file:
        rows = list(csv.DictReader(file))
    assert {row["prediction"] for row in rows} == {"01", "02"}
    assert set(rows[0]) == {"prediction", "p_01", "p_02"}
    assert "02134" in likely("explain", "r").out


def test_zip_codes_of_which_most_have_no_zero_are_categories(likely, tmp_path):
    towns = ["02134", *(str(90210 + k) for k in range(14))]
    lines = [f"{RNG.normal():.3f},{towns[k % 15]},{'ab'[k % 2]}" for k in range(150)]
    (tmp_path / "zip.csv").write_text("\n".join(["x,zip,y", *lines]))
    assert likely("train", "zip.csv", "logistic", "--target", "y", "-x", "3").exit == 0
    assert "LK104" not in likely("look", "zip.csv", "--target", "y").out
