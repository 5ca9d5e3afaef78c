"""``look``: each code is found where it is, nowhere else, and costs little."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import sklearn.datasets
from hypothesis import given
from hypothesis import strategies as st

import likely as lk
from likely.errors import InvalidInput, UnknownName
from likely.workbench.data.builtin_data import BUILTIN, builtin_table
from likely.workbench.data.opening import dataset
from likely.workbench.data.task import task_of
from likely.workbench.look.findings import CODES
from likely.workbench.look.leaks import binned, explained_share, explained_variance, ranks
from likely.workbench.look.profile import profile_of
from tests.machine import costs_at_most
from tests.workbench.look.look_tables import DATES, ILL, N, sound, with_column, with_target

ALLOWED_WRITES = 5  # times what pandas needs to write the table; 1.3 were measured

RNG = np.random.default_rng(1)
WORDS = np.array([f"word {i}" for i in range(5000)], dtype=object)


def some(values, other, n):
    """The values, of which n, at some places, are another."""
    changed = np.array(values, dtype=float)
    changed[RNG.choice(N, n, replace=False)] = other
    return changed


CASES = {  # code: tables that have it, and the columns in which it is
    "LK101": [
        (with_column([f"P-{i:05d}" for i in range(N)]), ("it",)),
        (with_column(RNG.permutation(N)), ("it",)),
        (with_column(RNG.permutation(N) + 1.0), ("it",)),
    ],
    "LK102": [(with_column(["cm"] * N), ("it",)), (with_column([0.0, np.nan] * (N // 2)), ("it",))],
    "LK103": [
        (with_column(["a"] * (N - 1) + ["b"]), ("it",)),
        (with_column([7] * 399 + [8]), ("it",)),
    ],
    "LK104": [
        (with_column([*(str(x) for x in RNG.integers(0, 90, N - 3)), "n/a", "n/a", "?"]), ("it",)),
        (with_column(pd.Series([1, "two", 2.5, "four"] * (N // 4), dtype=object)), ("it",)),
    ],
    "LK105": [
        (with_column([str(x) for x in RNG.integers(0, 90, N)]), ("it",)),
        (with_column([f"{x:,.2f}" for x in RNG.normal(5000, 900, N)]), ("it",)),
        (with_column([f"{x:.1f}".replace(".", ",") for x in RNG.normal(size=N)]), ("it",)),
        (with_column([f"€ {x}" for x in RNG.integers(1, 90, N)]), ("it",)),
        (with_column([f"{x} %" for x in RNG.integers(1, 90, N)]), ("it",)),
    ],
    "LK106": [
        (with_column(DATES.strftime("%d.%m.%Y")), ("it",)),
        (with_column(DATES.strftime("%m/%d/%y %H:%M")), ("it",)),
    ],
    "LK107": [
        (with_column(["K�ln", "Bonn"] * (N // 2)), ("it",)),
        (with_column(["Köln".encode().decode("latin-1"), "Köln"] * (N // 2)), ("it",)),
    ],
    "LK108": [(with_column(WORDS[RNG.integers(0, 150, N)]), ("it",))],
    "LK109": [(with_column(np.where(RNG.random(N) < 0.3, RNG.normal(size=N), np.nan)), ("it",))],
    "LK110": [(with_column([np.nan] * N), ("it",)), (with_column([None] * N), ("it",))],
    "LK111": [(pd.concat([sound(), sound(seed=1)[["age"]]], axis=1), ("age",))],
    "LK112": [(with_column([[1, 2]] * N), ("it",))],
    "LK113": [
        (with_column(sound()["city"].map({"Bonn": 1, "Ulm": 2, "Kiel": 3})), ("it",)),
        (with_column(sound()["age"]), ("it",)),
    ],
    "LK114": [(with_column([np.inf, *RNG.normal(size=N - 1)]), ("it",))],
    "LK115": [
        (with_column(["?", "a", "b", "c"] * (N // 4)), ("it",)),
        (with_column(some(RNG.integers(0, 80, N), -999, 9)), ("it",)),
        (with_column(some(RNG.integers(0, 80, N), -1, 9)), ("it",)),
        (with_column(some(RNG.integers(0, 9, N), 99, 5)), ("it",)),
    ],
    "LK116": [
        (with_column(some(RNG.normal(size=N), 40.0, 1)), ("it",)),
        (with_column(some(RNG.normal(size=N), -40.0, 1)), ("it",)),
        (with_column(some(RNG.lognormal(2, 0.4, N), 4000.0, 2)), ("it",)),
    ],
    "LK117": [
        (with_column(some(RNG.normal(120, 12, N).round(), 0, 30)), ("it",)),  # glucose
        (with_column(some(RNG.gamma(6, 5, N).round() + 7, 0, 150)), ("it",)),  # a fold of skin
    ],
    "LK118": [(with_column([f"{x:05d}" for x in RNG.integers(1000, 1040, N)]), ("it",))],
    "LK119": [(with_column(np.log1p(sound()["visits"])), ("it",))],
    "LK120": [
        (with_column(sound()["age"] * 2 + 0.01 * RNG.normal(size=N)), ("it",)),
        (with_column(sound()["age"] + 3 * sound()["visits"]), ("it",)),
    ],
    "LK122": [
        (
            sound().assign(**{"sold on": np.random.default_rng(1).integers(43000, 45000, N)}),
            ("sold on",),
        ),
        (
            with_column(np.random.default_rng(1).integers(44000, 45000, N), "due (serial)"),
            ("due (serial)",),
        ),
    ],
    "LK201": [(pd.concat([sound(), sound().iloc[[3, 7]]]), ())],
    "LK202": [(pd.concat([sound(), sound().iloc[[0]].assign(ill="yes")]), ("ill",))],
    "LK203": [(pd.concat([sound(), pd.DataFrame({"ill": ["yes"]})]), ())],
    "LK204": [
        (with_column(RNG.integers(0, 60, N), "patient_id"), ("patient_id",)),
        (with_column([f"S{x}" for x in RNG.integers(0, 30, N)], "Subject"), ("Subject",)),
    ],
    "LK301": [
        (with_target([None, *sound()["ill"][1:]]), ("ill",)),
        (with_target([None] * N), ("ill",)),
    ],
    "LK302": [(with_target(["yes"] * N), ("ill",))],
    "LK303": [(with_target(["rare"] * 3 + sound()["ill"].tolist()[3:]), ("ill",))],
    "LK304": [(with_target(np.where(RNG.random(N) < 0.05, "yes", "no")), ("ill",))],
    "LK305": [(with_target(WORDS[RNG.integers(0, 5000, N)]), ("ill",))],
    "LK306": [(with_target(DATES), ("ill",))],
    "LK401": [
        (with_column(ILL), ("it",)),  # another name for the target
        (with_column(np.where(np.arange(N) % 50, ILL, 1 - ILL)), ("it",)),  # with errors
        (with_column(np.where(ILL, 3.0, 1.0) + RNG.random(N)), ("it",)),  # a threshold
        (with_column(pd.Series(np.where(ILL, 1.0, np.nan))), ("it",)),  # filled in afterwards
    ],
    "LK402": [
        (
            with_column(np.where(RNG.random(N) < 0.05 + 0.4 * ILL, np.nan, RNG.normal(size=N))),
            ("it",),
        )
    ],
}
DRAWS = np.random.default_rng(5)
NUMBERS = DRAWS.normal(size=(100, 4))[np.arange(N) % 100]
ROWS = pd.DataFrame(NUMBERS, columns=list("abcd")).assign(ill=sound()["ill"].to_numpy())
COUNTS = pd.DataFrame(DRAWS.poisson(50, (N, 5)), columns=list("abcde"))
KINDS = DRAWS.integers(0, 60, N)
ODDS = (pd.Series(ILL).groupby(KINDS).transform("sum") + 0.5) / (
    pd.Series(ILL).groupby(KINDS).transform("count") + 1
)
MISTAKEN = np.where(np.arange(N) % 22 == 0, ~ILL, ILL)  # right in 95 % of the rows
CASES |= {
    "LK205": [
        (ROWS.assign(**{c: ROWS[c] + 1e-6 * DRAWS.normal(size=N) for c in "abcd"}), ()),
        (ROWS.assign(b=DRAWS.normal(size=N)), ()),
    ],
    "LK206": [
        (ROWS.iloc[np.arange(N) % 3].assign(ill=sound()["ill"].to_numpy()), ()),
        (pd.concat([ROWS.iloc[:200], *[ROWS.iloc[:1]] * 60]), ()),
    ],
    "LK403": [
        (with_column(pd.Series(ILL).groupby(KINDS).transform("mean")), ("it",)),
        (
            with_column(
                (pd.Series(ILL).groupby(KINDS).transform("sum") + 3)
                / (pd.Series(ILL).groupby(KINDS).transform("count") + 9)
            ),
            ("it",),
        ),
        (with_column(np.log(ODDS / (1 - ODDS))), ("it",)),  # smoothed, as weights of evidence are
    ],
    "LK404": [
        (COUNTS.assign(ill=COUNTS.a + COUNTS.c + 0.5), ("a", "c")),
        (COUNTS.assign(ill=COUNTS.a - 0.5 * COUNTS.c + 0.25 * COUNTS.e), ("a", "c", "e")),
        (COUNTS.assign(ill=COUNTS.a > COUNTS.d), ("a", "d")),
        (COUNTS.assign(ill=COUNTS.b + COUNTS.d >= 100), ("b", "d")),
    ],
    "LK405": [
        (with_column(MISTAKEN), ("it",)),
        (
            with_column(np.where(MISTAKEN, "late", np.where(DRAWS.random(N) < 0.5, "a", "b"))),
            ("it",),
        ),
        (with_column(np.where(MISTAKEN, DRAWS.gamma(2.0, 9.0, N), 0.0)), ("it",)),  # a spike
        (
            with_column(((np.arange(N) % 200 == 0) ^ ILL) + 0.9 * DRAWS.random(N)),
            ("it",),
        ),  # apart but for 2 rows
    ],
}
EACH = [(code, table, columns) for code, cases in CASES.items() for table, columns in cases]


def test_every_code_has_a_case():
    elsewhere = {"LK121", "LK207"}  # of files, in test_spreadsheets.py; of roles, in test_look.py
    assert set(CASES) == set(CODES) - elsewhere


@pytest.mark.parametrize("name", ["wine", "breast_cancer", "diabetes", "digits", "iris"])
def test_no_copies_and_no_leaks_are_found_in_honest_tables(name):
    frame = getattr(sklearn.datasets, f"load_{name}")(as_frame=True).frame
    frame = frame.drop_duplicates()  # one flower of iris is there twice
    assert not [code for code in lk.look(frame, "target").codes if code[:3] in ("LK2", "LK4")]


def test_a_column_that_explains_groups_is_not_made_from_the_target():
    draws = np.random.default_rng(0)
    kinds = draws.integers(0, 80, 1500)
    level = draws.normal(size=80)
    frame = pd.DataFrame({"level": level[kinds], "x": draws.normal(size=1500)})
    for noise in (0.05, 0.3, 3.0):
        frame["y"] = 2 * frame.level + noise * draws.normal(size=1500)
        assert "LK403" not in lk.look(frame, "y").codes


def test_values_with_less_noise_than_the_others_are_not_made_from_the_target():
    draws = np.random.default_rng(0)
    land = np.where(draws.random(600) < 0.7, 0.0, draws.integers(1, 30, 600) ** 1.3)
    noise = np.where(land == 0, 8.0, 0.05)  # as crime in Boston, by the share of large lots
    frame = pd.DataFrame({"land": land, "x": draws.normal(size=600)})
    frame["y"] = 20.0 - 0.5 * land + noise * draws.normal(size=600)
    assert "LK403" not in lk.look(frame, "y").codes


def test_the_effects_of_a_balanced_design_are_not_made_from_the_target():
    a, b = (each.ravel() for each in np.meshgrid(np.arange(20.0), np.arange(20.0)))
    noise = np.random.default_rng(0).normal(size=400)
    frame = pd.DataFrame({"a": a, "b": b, "x": noise, "y": a + np.sin(b) + 0.1 * noise**2})
    assert not {"LK403", "LK404"} & {*lk.look(frame, "y").codes}


def test_a_possible_group_is_named_beside_near_copies():
    table = ROWS.assign(b=DRAWS.normal(size=N), patient=np.arange(N) % 100)
    (found,) = (each for each in lk.look(table, "ill").findings if each.code == "LK205")
    assert "in all features but 'b'; 'patient' may be their group" in found.found


@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("salary", np.random.default_rng(1).integers(44000, 45000, N)),
        ("PLZ", np.random.default_rng(1).integers(44000, 45000, N)),
        ("due", 44000 + np.arange(N)),  # a counter
        ("due", np.random.default_rng(1).integers(44000, 52000, N)),
        ("due", np.random.default_rng(1).integers(44000, 44009, N)),  # nine values
    ],
)
def test_numbers_that_have_another_meaning_are_no_days(name, numbers):
    assert "LK122" not in lk.look(with_column(numbers, name), "ill").codes
    assert "LK122" not in lk.look(with_column(numbers, name), name).codes


def test_nothing_is_found_in_a_sound_table():
    assert lk.look(sound(), "ill").findings == ()
    assert lk.look(sound(), "ill").balance == {"no": N - ILL.sum(), "yes": ILL.sum()}


@pytest.mark.parametrize(("code", "table", "columns"), EACH, ids=[code for code, *_ in EACH])
def test_each_code_is_found_in_its_columns_and_can_be_muted(code, table, columns):
    found = {each.code: each for each in lk.look(table, "ill").findings}
    assert code in found
    assert found[code].columns == columns
    assert len(re.findall(r"[^.][.](?: |$)", found[code].sentence)) >= 3
    assert code not in lk.look(table, "ill", mute=[code]).codes
    assert code not in lk.look(table, "ill", mute=[f"{code}:{name}" for name in columns]).codes or (
        not columns  # a finding about rows has no column to mute it in
    )


ALONE = {  # codes whose cases have nothing else wrong with them
    *("LK101", "LK102", "LK103", "LK104", "LK105", "LK106", "LK107", "LK108", "LK109", "LK110"),
    *("LK112", "LK113", "LK114", "LK115", "LK201", "LK202", "LK203", "LK304", "LK305", "LK306"),
    *("LK116", "LK117", "LK118", "LK119", "LK120", "LK204"),
}


@pytest.mark.parametrize(
    ("code", "table"),
    [(code, table) for code, table, _ in EACH if code in ALONE],
    ids=[code for code, *_ in EACH if code in ALONE],
)
def test_a_fault_is_reported_once(code, table):
    assert lk.look(table, "ill").codes == (code,)


@pytest.mark.parametrize("name", BUILTIN)
@pytest.mark.long
def test_built_in_data_have_five_findings_in_all(name):
    found = lk.look(builtin_table(name), BUILTIN[name].target).findings
    said = {
        "iris": [("LK201", "One row repeats an earlier one (row 142 repeats row 101")],
        "pydoc": [("LK202", "2 rows differ in the target alone from an earlier row (row ")],
        "digits": [("LK102", "Each of 3 columns has one value only (pixel_0_0 0, pixel_4_0 0, ")],
        "breast-cancer": [
            (
                "LK117",
                "Column 'concave_points_error' has zeros although its other numbers are far ",
            ),
            ("LK120", "Each of 3 columns is nearly a linear function of others (mean_perimeter "),
        ],
    }
    expected = said.get(name, [])
    assert [each.code for each in found] == [code for code, _ in expected]
    assert all(each.found.startswith(text) for each, (_, text) in zip(found, expected, strict=True))
    if name == "digits":
        assert found[0].columns == ("pixel_0_0", "pixel_4_0", "pixel_4_7")


def test_muting_one_column_leaves_the_others():
    table = sound().assign(unit="cm", land="DE")
    assert lk.look(table, mute=["LK102:unit"]).findings[0].columns == ("land",)
    assert lk.look(table, mute=["LK102:unit"]).muted == ("LK102:unit",)


def test_an_unknown_code_or_column_is_refused_with_the_nearest():
    with pytest.raises(UnknownName, match=r"finding 'LK102x'.*Did you mean 'LK102'"):
        lk.look(sound(), mute=["LK102x"])
    with pytest.raises(UnknownName, match=r"column 'il'.*Did you mean 'ill'"):
        lk.look(sound(), "il")
    with pytest.raises(InvalidInput, match=r"mute=\['LK102'\]"):
        lk.look(sound(), mute="LK102")


@pytest.mark.parametrize(("right", "codes"), [(0.9, ()), (0.96, ("LK405",)), (0.99, ("LK401",))])
def test_a_test_is_a_column_to_check_if_right_in_95_and_a_suspect_in_99_of_100_cases(right, codes):
    wrong = np.arange(N) % round(1 / (1 - right)) == 0
    found = lk.look(with_column(np.where(wrong, ~ILL, ILL)), "ill").findings
    assert tuple(each.code for each in found) == codes
    assert all((each.severity == "note") == (each.code == "LK405") for each in found)


@pytest.mark.parametrize("name", ["anes96", "fair", "heart", "modechoice", "spector", "randhie"])
@pytest.mark.long
def test_no_column_of_honest_tables_predicts_any_other_nearly_alone(name):
    import statsmodels.datasets

    frame = getattr(statsmodels.datasets, name).load_pandas().data
    for target in frame.columns:
        assert "LK405" not in lk.look(frame, target).codes, target


@pytest.mark.parametrize(("apart", "found"), [(3.0, False), (3.5, False), (4.5, True)])
def test_a_measurement_that_separates_96_of_100_rows_is_not_to_be_checked(apart, found):
    draws = np.random.default_rng(3)
    y = draws.random(4000) < 0.4
    frame = pd.DataFrame({"it": draws.normal(size=4000) + apart * y, "y": y})
    assert ("LK405" in lk.look(frame, "y").codes) is found


def test_a_column_of_few_values_is_not_to_be_checked_where_hardly_a_row_has_another_class():
    ill = np.arange(N) < 4
    wrong = np.where(np.arange(N) == 4, ~ill, ill)
    frame = sound().assign(it=wrong, ill=ill)
    assert "LK405" not in lk.look(frame, "ill").codes
    assert "LK405" not in lk.look(sound().assign(it=sound()["age"], ill=DATES), "ill").codes


def test_what_a_column_that_predicts_nearly_alone_explains_is_said():
    found = lk.look(CASES["LK405"][2][0], "ill").findings[0]
    start = "Column 'it' predicts the target nearly alone (whether it is 0.0 explains "
    assert found.found.startswith(start)
    late = np.where(MISTAKEN, DRAWS.normal(size=N), np.nan)
    (found,) = (e for e in lk.look(with_column(late), "ill").findings if e.code == "LK405")
    assert "(whether it is missing explains" in found.found


def test_a_leak_of_a_number_is_found_whatever_its_scale_and_cut():
    table = sound().drop(columns="ill")
    table["price"] = np.exp(RNG.normal(size=N))
    table["tax"] = 0.19 * table["price"] + 0.001 * RNG.normal(size=N)
    table["band"] = np.where(table["price"] > 1.3, "high", "low")
    table["other"] = table["price"] + RNG.normal(size=N)
    found = lk.look(table, "price").findings
    assert [(each.code, each.columns) for each in found] == [("LK401", ("tax", "band"))]


def test_repeats_that_few_values_explain_are_no_finding():
    table = pd.DataFrame(RNG.integers(0, 2, (N, 4)), columns=list("abcd")).astype(bool)
    assert lk.look(table, "d").codes == ()


def measured_and_repeated(n_copies=50, seed=0):
    """Rows of continuous columns, the first of which occur twice: all columns repeat together."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(rng.normal(size=(200, 4)), columns=list("abcd"))
    table["y"] = rng.choice(["p", "q"], 200)
    return pd.concat([table, table.head(n_copies)], ignore_index=True)


@pytest.mark.parametrize("digits", [2, 4, 20])
def test_copies_of_rows_are_found_whatever_the_digits(digits):
    (found,) = lk.look(measured_and_repeated().round(digits), "y").findings
    assert (found.code, found.severity) == ("LK201", "warn")
    assert found.found.startswith("50 rows (20.0 %) repeat earlier ones (row 200 repeats row 0,")


def test_copies_of_rows_are_those_that_the_folds_keep_together():
    table = measured_and_repeated()
    table.loc[240:, "y"] = np.where(table.loc[240:, "y"] == "p", "q", "p")
    assert dataset(table, "y").notes[0].startswith("50 rows equal an earlier row in all features")
    found = {each.code: each.found for each in lk.look(table, "y").findings}
    assert found.keys() == {"LK201", "LK202"}
    assert found["LK201"].startswith("40 rows (16.0 %) repeat earlier ones (row 200 repeats row 0,")
    assert found["LK202"].startswith("10 rows differ in the target alone from an earlier row (row")


def test_columns_that_repeat_because_rows_are_copied_are_not_written_in_two_ways():
    table = measured_and_repeated(200)
    table = pd.concat([table, table.head(200)], ignore_index=True)  # each row occurs three times
    assert "LK201" in lk.look(table, "y").codes
    assert not {"LK113", "LK119"} & {*lk.look(table, "y").codes}
    words = table.assign(y=table["y"], a=table["a"].map("{:.9f}".format))
    assert not {"LK113", "LK119"} & {*lk.look(words, "y", category=["a"]).codes}


@given(seed=st.integers(0, 999))
def test_names_explain_nothing_and_copies_explain_all(seed):
    y = np.random.default_rng(seed).integers(0, 3, 300)
    assert explained_share(y, y) > 0.99
    assert explained_share(y, np.arange(300)) == pytest.approx(0, abs=1e-12)
    assert explained_share(y, np.zeros(300, dtype=int)) < 0.01
    assert explained_variance(y.astype(float), y) == pytest.approx(1)
    assert explained_variance(y.astype(float), np.arange(300)) == pytest.approx(0)


@given(seed=st.integers(0, 999), share=st.floats(0, 0.9))
def test_bins_are_ordered_of_about_equal_size_and_keep_missing_apart(seed, share):
    rng = np.random.default_rng(seed)
    values = np.where(rng.random(1000) < share, np.nan, rng.normal(size=1000))
    (column,) = profile_of(pa.table({"x": values})).columns
    bins = binned(column, 8)
    missing = np.isnan(values)
    assert np.array_equal(bins == 0, missing)
    if column.n_distinct > 8:
        assert (np.diff(bins[~missing][np.argsort(values[~missing])]) >= 0).all()
        assert np.ptp(np.bincount(bins[~missing])[1:]) <= 1


TARGETS = {
    "text": ["a", "b", "c"] * 30,
    "Booleans": [True, False, None] * 30,
    "few integers": [0, 1, 2] * 30,
    "whole floats": [0.0, 1.0, None] * 30,
    "two numbers": [0.5, 1.5] * 45,
    "many integers": list(range(90)),
    "few rows to an integer": [*range(18), *range(18)],
    "floats": [x / 7 for x in range(90)],
}


@pytest.mark.parametrize("name", TARGETS)
def test_a_target_is_read_as_every_other_verb_reads_it(name):
    table = pa.table({"y": TARGETS[name], "x": np.arange(len(TARGETS[name]))})
    assert (lk.look(table, "y").n_classes is not None) == task_of(table, "y").has_classes


CELLS = {
    "numbers": st.floats() | st.none(),
    "integers": st.integers(-(2**60), 2**60) | st.none(),
    "few": st.sampled_from([0, 1, None]),
    "text": st.text(st.characters(codec="utf-8")) | st.none(),
    "words": st.sampled_from(["1", "?", "2024-01-01", "a", "1,5", None]),
    "Booleans": st.booleans() | st.none(),
    "dates": st.dates() | st.none(),
    "lists": st.lists(st.integers(0, 9), max_size=2) | st.none(),
    "nothing": st.none(),
}


@given(data=st.data(), n=st.integers(1, 40), target=st.sampled_from([None, *CELLS]))
def test_any_table_can_be_looked_at(data, n, target):
    table = pa.table(
        {name: data.draw(st.lists(cell, min_size=n, max_size=n)) for name, cell in CELLS.items()}
    )
    found = lk.look(table, target)
    assert len(found.columns) == len(CELLS)
    assert json.loads(json.dumps(found.facts()))["rows"] == n
    assert str(found)
    assert found._repr_html_()
    assert found.to_frame().num_rows == len(CELLS)


HARMLESS = {  # columns of real tables that have nothing wrong with them
    "counts": RNG.poisson(2, N),
    "counts of the rare": RNG.poisson(0.05, N),
    "amounts": RNG.lognormal(8, 1.5, N),
    "gains, usually none": np.where(RNG.random(N) < 0.9, 0, RNG.lognormal(8, 1.5, N)),
    "rain": np.where(RNG.random(N) < 0.5, 0, RNG.exponential(5.0, N)),
    "cigarettes": np.where(RNG.random(N) < 0.4, 0, RNG.integers(1, 40, N)),
    "heavy tails": RNG.standard_t(5, N),
    "ages": RNG.integers(18, 100, N),
    "scores of at most 99": RNG.integers(40, 100, N),
    "differences": RNG.integers(-5, 6, N),
    "years": RNG.integers(1990, 2024, N),
    "shares": RNG.beta(0.3, 0.3, N),
    "zero and one": RNG.integers(0, 2, N),
    "school": RNG.integers(6, 18, N),
}


@pytest.mark.parametrize("name", HARMLESS)
def test_numbers_as_they_often_are_raise_no_alarm(name):
    assert lk.look(with_column(HARMLESS[name], name), "ill").codes == ()


def test_an_imbalance_needs_a_class_that_is_most_of_the_rows():
    shares = np.repeat(["a", "b", "c"], [195, 190, 15])
    assert "LK304" not in lk.look(with_target(shares), "ill").codes


def test_a_logarithm_is_not_called_a_duplicate():
    found = lk.look(with_column(np.log1p(sound()["visits"]) * 2 + 1), "ill")
    assert found.codes == ("LK119",)
    assert "'visits'" in found.findings[0].sentence
    three = sound().assign(visits=np.arange(N) % 3)
    bent = lk.look(three.assign(it=10.0 ** three["visits"]), "ill", category=[])
    assert "LK119" in bent.codes
    unit = lk.look(with_column(sound()["visits"] * 2.54 + 1), "ill")
    assert unit.codes == ("LK113",)


def test_a_sum_of_columns_names_the_columns():
    found = lk.look(with_column(sound()["age"] + 3 * sound()["visits"]), "ill")
    assert "age" in found.findings[0].found
    assert "visits" in found.findings[0].found


def test_hundreds_of_random_columns_are_not_collinear():
    rng = np.random.default_rng(3)
    many = pd.DataFrame(rng.normal(size=(N, 150)), columns=[f"x{j}" for j in range(150)])
    table = pd.concat([sound(), many], axis=1)
    assert "LK120" not in lk.look(table, "ill").codes


def test_an_outlier_of_the_target_is_found():
    target = some(np.random.default_rng(0).normal(size=N), 1e6, 1)
    assert "LK116" in lk.look(with_target(target), "ill").codes


def test_every_code_has_a_section_in_the_documentation():
    page = (Path(__file__).parents[3] / "docs" / "findings.rst").read_text(encoding="utf-8")
    sections = re.findall(r"^(LK\d+): (.+)\n-{5,}$", page, flags=re.MULTILINE)
    assert sections == [(code, entry.title) for code, entry in CODES.items()]


def test_a_look_at_seven_thousand_rows_is_quick():
    rng = np.random.default_rng(0)
    n = 7000
    table = sound(n).assign(
        **{f"x{j}": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)) for j in range(9)},
        **{f"c{j}": WORDS[rng.integers(0, 5 * 3**j, n)] for j in range(6)},
    )
    assert table.shape == (n, 20)
    lk.look(table, "ill")  # imports
    assert costs_at_most(ALLOWED_WRITES, table.to_csv, lambda: lk.look(table, "ill"))


@pytest.mark.parametrize("form", [None, "%Y-%m-%d", "%Y-%m-%dT%H:%M:%SZ"])
def test_dates_in_their_usual_form_are_no_finding(form):
    dates = DATES if form is None else DATES.strftime(form)
    assert lk.look(with_column(dates), "ill").codes == ()


def test_equal_texts_are_no_chance():
    texts = ["call me when you are at home please"] * 40
    texts += [f"message number {i} about the meeting at noon" for i in range(80)]
    table = pd.DataFrame({"ill": ["no", "yes"] * 60, "text": texts})
    (found,) = (
        each for each in lk.look(table, "ill", text=["text"]).findings if each.code == "LK201"
    )
    assert "38 rows" in str(found)


def test_the_shares_of_many_classes_are_of_all_rows():
    rng = np.random.default_rng(0)
    labels = np.append(np.repeat([f"c{i}" for i in range(200)], 5), ["a"] * 1000)
    frame = pd.DataFrame({"x": rng.normal(size=labels.size), "y": labels})
    said = " ".join(str(lk.look(frame, "y", kind="classes")).split())
    assert re.search(r"Target y: a 50.0 %, c0 0.25? ?%", said), said
    assert "and 189 more." in said


@pytest.mark.parametrize("name", ["patient_id", "Subject"])
def test_a_declared_group_needs_no_advice(name):
    groups = RNG.integers(0, 60, N)
    table = with_column(groups, name).assign(**{f"other_{name}": [f"S{k}" for k in groups]})
    assert "LK204" in lk.look(table, "ill").codes
    assert "LK204" not in lk.look(table, "ill", group=name).codes
    table["doctor_id"] = RNG.integers(0, 40, N)
    (found,) = (each for each in lk.look(table, "ill", group=name).findings if each.code == "LK204")
    assert found.columns == ("doctor_id",)


def test_rows_that_only_a_date_tells_apart_are_near_copies():
    """Folds keep equal rows together, and these are not equal."""
    days = pd.date_range("2020-01-01", periods=len(ROWS), freq="h")
    (found,) = (e for e in lk.look(ROWS.assign(day=days), "ill").findings if e.code == "LK205")
    assert "equal an earlier row in all features but 'day'" in found.found
    numbers = DRAWS.normal(size=(len(ROWS), 4))
    sound_rows = pd.DataFrame(numbers, columns=list("abcd")).assign(ill=ROWS["ill"], day=days)
    assert "LK205" not in lk.look(sound_rows, "ill").codes


def test_near_copies_are_a_hint_where_they_are_held_out_together():
    days = pd.date_range("2020-01-01", periods=N, freq="h")
    table = ROWS.assign(patient=np.arange(N) % 50, other=np.arange(N) // 4, day=days)
    for said, severity in (
        ({"drop": ["patient", "other"]}, "note"),
        ({"group": "patient", "drop": ["other"]}, "note"),
        ({"group": "other", "drop": ["patient"]}, "warn"),
        ({"by_time": "day", "drop": ["patient", "other"]}, "warn"),
    ):
        (found,) = (e for e in lk.look(table, "ill", **said).findings if e.code == "LK205")
        assert found.severity == severity, said
        assert ("they are held out together" in found.found) is (severity == "note")


def test_a_class_is_very_small_below_ten_rows():
    for n, found in ((9, True), (10, False)):
        labels = np.where(np.arange(N) < n, "rare", np.where(ILL, "yes", "no"))
        assert ("LK303" in lk.look(with_target(labels), "ill").codes) is found


def test_ranks_are_between_0_and_1_and_ties_share_theirs():
    table = pa.table({"x": [3.0, 1.0, 1.0, 7.0]})
    np.testing.assert_allclose(ranks(profile_of(table).columns[0]), [0.625, 0.25, 0.25, 0.875])


def test_the_level_of_missing_cells_is_shared_among_the_columns():
    """40 of 200 cells are missing, and 16 of the others: P(χ²) = 0.00054, below 0.001."""
    y = np.arange(N) < 200
    empty = np.where(y, np.arange(N) < 40, np.arange(N) < 216)
    frame = pd.DataFrame({"it": np.where(empty, np.nan, DRAWS.normal(size=N)), "y": y})
    assert "LK402" in lk.look(frame, "y").codes
    more = frame.assign(**{f"x{j}": DRAWS.normal(size=N) for j in range(3)})
    assert "LK402" not in lk.look(more, "y").codes


def test_five_different_rows_are_not_too_few():
    for n, found in ((4, True), (5, False)):
        table = ROWS.iloc[np.arange(N) % n].assign(ill=sound()["ill"].to_numpy())
        assert ("LK206" in lk.look(table, "ill").codes) is found


def test_how_many_rows_are_near_copies_is_said_as_a_share():
    table = ROWS.assign(**{c: ROWS[c] + 1e-6 * DRAWS.normal(size=N) for c in "abcd"})
    (found,) = (each for each in lk.look(table, "ill").findings if each.code == "LK205")
    n, share = re.match(r"(\d+) rows \((\S+) %\) equal an earlier row", found.found).groups()
    assert float(share) == pytest.approx(100 * int(n) / N, abs=0.051)


def test_a_target_of_many_summands_is_computed_only_if_nothing_is_left():
    columns = pd.DataFrame(DRAWS.normal(size=(N, 6)), columns=list("abcdef"))
    whole = columns.assign(y=columns.sum(axis=1))
    for y in (whole.y, whole.y.round(3)):
        found = lk.look(whole.assign(y=y), "y").findings
        assert [each.columns for each in found if each.code == "LK404"] == [tuple("abcdef")]
    assert "LK404" not in lk.look(whole.assign(y=whole.y + 0.1 * DRAWS.normal(size=N)), "y").codes


def test_a_look_never_advises_about_classes_of_a_target_that_its_task_counts():
    draws = np.random.default_rng(0).poisson(2, 600)
    rows = pd.DataFrame({"x": np.arange(600) % 7 / 7, "visits": np.append(draws[1:], 11)})
    found = lk.look(rows, "visits")
    assert found.kind == "count"
    assert found.n_classes is None
    assert found.balance == {}
    assert not {each.code for each in found.findings} & {"LK303", "LK304"}
    as_codes = lk.look(rows, "visits", kind="classes")
    assert as_codes.n_classes == rows["visits"].nunique()
    assert "LK303" in {each.code for each in as_codes.findings}
