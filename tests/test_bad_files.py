"""Bad files: what an estimator says to a table on the disk that it cannot use."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import likely
from likely import (
    DiscriminantAnalysis,
    GaussianMixture,
    LinearRegression,
    LogisticRegression,
    NaiveBayes,
)
from likely.errors import InvalidFile, InvalidInput, UnknownName


@pytest.fixture
def table(tmp_path):
    n = 30_000
    frame = pd.DataFrame(
        {"size": np.arange(n) % 17 / 4, "colour": ["r", "g"] * (n // 2), "label": np.arange(n) % 2}
    )
    path = tmp_path / "rows.csv"
    frame.to_csv(path, index=False)
    return frame, path


def test_a_wrong_target_name_suggests_the_nearest(table):
    _, path = table
    with pytest.raises(UnknownName, match=r"no column 'lable'.*Did you mean 'label'"):
        NaiveBayes().fit(path, "lable")
    with pytest.raises(InvalidInput, match=r"y is None; y must name the target column.*size"):
        NaiveBayes().fit(path)
    with pytest.raises(InvalidInput, match=r"name of one of its columns; found list"):
        NaiveBayes().fit(path, [0, 1])
    with pytest.raises(UnknownName, match=r"no column 'sizes'"):
        NaiveBayes().fit(path, "label", sample_weight="sizes")


def test_a_malformed_row_in_the_middle_of_a_large_file_is_named(table, tmp_path):
    _, path = table
    lines = path.read_text().splitlines()
    lines[20_000] = "1,2,3,4,5"
    bad = tmp_path / "bad.csv"
    bad.write_text("\n".join(lines))
    with pytest.raises(InvalidFile, match=r"bad.csv, line 20001: the row has 5 fields.*has 3"):
        NaiveBayes().fit(bad, "label")


def test_a_malformed_line_of_json_is_named(table, tmp_path):
    frame, _ = table
    lines = frame.to_json(orient="records", lines=True).splitlines()
    lines[12_345] = '{"size": 3,'
    bad = tmp_path / "bad.jsonl"
    bad.write_text("\n".join(lines))
    with pytest.raises(InvalidFile, match=r"bad.jsonl, line 12346: the line is not valid JSON"):
        NaiveBayes().fit(bad, "label")


def test_files_that_are_not_what_their_names_say(table, tmp_path):
    frame, path = table
    frame.to_csv(tmp_path / "a.parquet", index=False)
    frame.to_parquet(tmp_path / "b.csv")
    frame.to_csv(tmp_path / "c.jsonl", index=False)
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "header.csv").write_text("size,label\n")
    for name, message in {
        "a.parquet": r"not a complete Parquet file.*format='csv'",
        "b.csv": r"is a Parquet file.*format='parquet'",
        "c.jsonl": r"line 1: the line is not valid JSON",
        "empty.csv": r"the file is empty",
        "header.csv": r"a header but no row",
        "rows.csb": r"no such file.*Did you mean 'rows.csv'",
    }.items():
        with pytest.raises(InvalidFile, match=message):
            NaiveBayes().fit(tmp_path / name, "label")
    assert path.exists()


def test_weights_in_a_file_are_checked(table, tmp_path):
    frame, _ = table
    for weight, message in {
        0: r"No row with a positive weight",
        -1: r"Row 0 has the weight -1",
    }.items():
        frame.assign(weight=weight).to_csv(tmp_path / "weighted.csv", index=False)
        with pytest.raises(InvalidInput, match=message):
            NaiveBayes().fit(tmp_path / "weighted.csv", "label", sample_weight="weight")
    for weight, message in {0: r"at least one non-zero", -1: r"Row 0 has the weight -1"}.items():
        frame.assign(weight=weight).to_csv(tmp_path / "weighted.csv", index=False)
        numbers = likely.read(tmp_path / "weighted.csv").drop(["colour"])
        with pytest.raises(InvalidInput, match=message):
            GaussianMixture().fit(numbers, sample_weight="weight")


def test_a_prediction_from_a_file_says_what_to_do(table):
    frame, path = table
    model = NaiveBayes().fit(frame[["size", "colour"]], frame["label"])
    with pytest.raises(InvalidInput, match=r"X is a file.*Read it into a frame"):
        model.predict(path)


def test_values_in_a_file_are_checked(table, tmp_path):
    frame, path = table
    changed = frame.assign(size=np.where(frame.index == 20_000, np.inf, 1.0))
    changed.to_csv(tmp_path / "inf.csv", index=False)
    with pytest.raises(InvalidInput, match=r"infinity"):
        NaiveBayes().fit(tmp_path / "inf.csv", "label")
    with pytest.raises(InvalidInput, match=r"Column 'colour' must hold numbers; found text"):
        DiscriminantAnalysis().fit(path, "label")
    changed = frame.assign(label=np.where(frame.index == 20_000, None, frame["label"]))
    changed.to_csv(tmp_path / "label.csv", index=False)
    with pytest.raises(InvalidInput, match=r"Row 20000 has no label in column 'label'"):
        NaiveBayes().fit(tmp_path / "label.csv", "label")
    known = NaiveBayes(unlabelled=np.nan).fit(tmp_path / "label.csv", "label")
    assert_allclose(known.class_count_.sum(), 30_000)
    with pytest.raises(InvalidInput, match=r"needs the rows in memory"):
        NaiveBayes(discretize="quantile").fit(path, "label")


@pytest.mark.parametrize("model", [LinearRegression(), LogisticRegression()], ids=["line", "odds"])
def test_a_linear_model_names_the_cell_of_a_file(model, table, tmp_path):
    frame, path = table
    with pytest.raises(UnknownName, match=r"no column 'lable'.*Did you mean 'label'"):
        model.fit(path, "lable")
    with pytest.raises(InvalidInput, match=r"requires y to be passed.*must name the target column"):
        model.fit(path)
    changed = frame.assign(size=np.where(frame.index == 20_000, np.nan, frame["size"]))
    changed.to_csv(tmp_path / "gap.csv", index=False)
    with pytest.raises(InvalidInput, match=r"NaN: row 20000, column 'size'.*Fill it"):
        model.fit(tmp_path / "gap.csv", "label")
    changed = frame.assign(label=np.where(frame.index == 20_000, None, frame["label"]))
    changed.to_csv(tmp_path / "label.csv", index=False)
    expected = r"Row 20000 (has no label in|of the response) column 'label'.*(Remove|drop) the row"
    with pytest.raises(InvalidInput, match=expected):
        model.fit(tmp_path / "label.csv", "label")
