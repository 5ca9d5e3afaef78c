"""Tables learned by counts and by EM: sums, weights, smoothing, missing cells, hidden variables."""

import pickle
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from pyarrow.csv import write_csv
from sklearn.exceptions import ConvergenceWarning

import likely
from likely.data.formats.registry import read
from likely.errors import ContinuousColumn, InvalidInput, UnknownName
from likely.examples import five_variables
from likely.graphical.contract import Request
from likely.graphical.exact.enumeration import Enumeration
from likely.graphical.learning.coded_rows import array_blocks, coded_rows
from likely.graphical.learning.family_counts import (
    EquivalentSample,
    Families,
    block_family_counts,
    conditional_tables,
)
from likely.graphical.learning.mutual_information import block_pair_counts
from likely.graphical.learning.table_estimates import (
    TableSettings,
    block_expected_counts,
    family_counts,
    fit_tables,
)
from likely.graphical.model.bayesian_network import BayesianNetwork
from likely.graphical.model.graph_evidence import GraphEvidence
from likely.graphical.model.markov_field import MarkovField
from likely.numerics.additive import FAST_CELLS, pairwise_total
from tests.graphical.networks import drawn, random_network, row_families, with_gaps

RAIN = BayesianNetwork.from_edges(
    [("rain", "wet"), ("hose", "wet")],
    {"rain": ["no", "yes"], "hose": ["no", "yes"], "wet": ["no", "yes"]},
)
DAYS = pa.table(
    {
        "wet": ["yes", "no", "yes", "yes"],
        "rain": ["yes", "no", "no", "yes"],
        "hose": ["no", "no", "yes", "no"],
    }
)
few = settings(max_examples=15, deadline=None)
seeds = st.integers(0, 999)


def em(network, data, weight=None, **given):
    """EM, with inference by enumeration."""
    rows = coded_rows(network.variables, data, sample_weight=weight)
    return fit_tables(network, rows, TableSettings(method="em", **given), row_families)


def log_likelihood(network, codes):
    """Σ log P(what a row shows), by enumeration."""
    rows = [
        {name: int(c) for name, c in zip(network.names, row, strict=True) if c >= 0}
        for row in codes
    ]
    return sum(
        Enumeration().log_partition(network, Request(evidence=GraphEvidence(row))) for row in rows
    )


def all_tables(network):
    return [factor.table for factor in network.factors]


def assert_same_tables(a, b, **tolerance):
    for one, other in zip(all_tables(a), all_tables(b), strict=True):
        assert_allclose(one, other, **tolerance)


# ── counts ───────────────────────────────────────────────────────────────────────────────────


def test_tables_are_smoothed_shares_by_hand():
    fitted = RAIN.fit(DAYS)
    assert_allclose(fitted.tables["rain"].table, [3 / 6, 3 / 6])
    wet = fitted.tables["wet"].table
    assert_allclose(wet[1, 0], [1 / 4, 3 / 4])  # rain and no hose: twice, always wet
    assert_allclose(wet[0, 1], [1 / 3, 2 / 3])
    assert_allclose(wet[1, 1], [1 / 2, 1 / 2])  # never seen
    assert fitted.edges == RAIN.edges
    assert fitted.fit_report.method == "counts" and fitted.fit_report.converged
    expected = 4 * np.log(1 / 2) + 3 * np.log(4 / 6) + np.log(2 / 6)
    expected += 2 * np.log(3 / 4) + 2 * np.log(2 / 3)
    assert_allclose(fitted.fit_report.log_likelihood, expected)


def test_without_smoothing_shares_are_exact_and_what_was_never_seen_is_uniform():
    wet = RAIN.fit(DAYS, smoothing=0.0).tables["wet"].table
    assert_array_equal(wet, [[[1, 0], [0, 1]], [[0, 1], [0.5, 0.5]]])


def test_an_equivalent_sample_is_spread_over_the_cells_of_a_family():
    fitted = RAIN.fit(DAYS, smoothing=EquivalentSample(8.0))
    assert_allclose(fitted.tables["rain"].table, [(2 + 4) / 12, (2 + 4) / 12])
    assert_allclose(fitted.tables["wet"].table[1, 0], [1 / 4, 3 / 4])


@few
@given(seed=seeds, cut=st.integers(0, 60), gaps=st.booleans())
def test_counts_of_blocks_add(seed, cut, gaps):
    network = random_network(seed)
    codes = drawn(network, 60, seed).astype(np.int32)
    codes = with_gaps(codes, 0.2, seed).astype(np.int32) if gaps else codes
    weight = np.random.default_rng(seed).random(60)
    families = Families.of(network)

    def counts(rows):
        (block,) = array_blocks(network.variables, codes[rows], weight[rows])
        return block_family_counts(families, block)

    parts = [counts(rows) for rows in (slice(cut), slice(cut, 60)) if len(codes[rows])]
    whole, sum_of_parts = counts(slice(60)), pairwise_total(parts)
    assert_allclose(sum_of_parts.counts, whole.counts, rtol=1e-12, atol=1e-12)
    assert_allclose(sum_of_parts.observed, whole.observed)
    assert sum_of_parts.n_missing == whole.n_missing == int((codes < 0).sum())


@pytest.mark.parametrize("gaps", [0.0, 0.3])
def test_the_compiled_counts_equal_the_readable_ones(gaps):
    network = random_network(3, sizes=(2, 3, 4, 2, 3))
    n = FAST_CELLS // 5 + 1
    codes = with_gaps(drawn(network, n, 1), gaps, 2).astype(np.int32)
    weight = np.random.default_rng(0).random(n)
    families = Families.of(network)
    parts = array_blocks(network.variables, codes, weight)
    (fast,) = replace(parts, rows_per_block=n)
    small = pairwise_total(block_family_counts(families, block) for block in parts)
    whole = block_family_counts(families, fast)
    assert all(block.X.codes.size < FAST_CELLS for block in parts)
    assert_allclose(whole.counts, small.counts)
    assert_allclose(whole.observed, small.observed)


@few
@given(seed=seeds, row=st.integers(0, 29))
def test_weight_2_is_the_row_twice_and_weight_0_the_row_absent(seed, row):
    network = random_network(seed)
    codes = drawn(network, 30, seed)
    weight = np.ones(30)
    weight[row], weight[(row + 1) % 30] = 2.0, 0.0
    rows = np.append(np.delete(np.arange(30), (row + 1) % 30), row)
    assert_same_tables(network.fit(codes, sample_weight=weight), network.fit(codes[rows]))


def test_a_row_of_weight_0_may_have_an_unknown_state():
    data = DAYS.append_column("times", [[1.0, 2.0, 0.5, 0.0]]).to_pandas()
    data.loc[3, "wet"] = "perhaps"
    kept = RAIN.fit(data, sample_weight="times")
    expected = RAIN.fit(DAYS.slice(0, 3), sample_weight=[1.0, 2.0, 0.5])
    assert_same_tables(kept, expected)


def test_bad_cells_are_named_by_their_row_in_the_data():
    data = DAYS.to_pandas()
    data.loc[2, "rain"] = "yess"
    with pytest.raises(InvalidInput, match=r"Row 2, column 'rain'.*Did you mean 'yes'"):
        RAIN.fit(data, sample_weight=[1.0, 0.0, 1.0, 1.0])


def test_executors_and_blocks_give_the_same_tables():
    network = random_network(5)
    codes = drawn(network, 30_000, 0)
    assert_same_tables(network.fit(codes, executor="threads"), network.fit(codes), rtol=0)
    blocks = array_blocks(network.variables, codes.astype(np.int32))
    assert_same_tables(network.fit(blocks), network.fit(codes), rtol=0)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_file_gives_the_tables_of_the_frame(tmp_path, suffix):
    from pyarrow.parquet import write_table

    data = DAYS.append_column("times", [[1.0, 2.0, 0.0, 3.0]])
    path = tmp_path / f"days.{suffix}"
    (write_csv if suffix == "csv" else write_table)(data, path)
    expected = RAIN.fit(data, sample_weight="times")
    assert_same_tables(RAIN.fit(path, sample_weight="times"), expected)
    assert_same_tables(RAIN.fit(read(path), sample_weight="times"), expected)
    with pytest.raises(InvalidInput, match="name of one of its columns"):
        RAIN.fit(path, sample_weight=np.ones(4))


def test_text_in_a_file_is_a_state_as_it_is_written(tmp_path):
    """NA and TRUE are states of networks; a reader of tables takes them for missing and Boolean."""
    path = tmp_path / "lab.csv"
    path.write_text("lab,ill,dose\nNA,TRUE,1.0\nlow,FALSE,2\n,TRUE,2.0\nNaN,FALSE,NA\n")
    network = BayesianNetwork.from_edges(
        [], {"lab": ["NA", "low"], "ill": ["TRUE", "FALSE"], "dose": [1, 2]}
    )
    fitted = network.fit(path, method="counts", smoothing=0)
    assert_allclose(fitted.tables["lab"].table, [0.5, 0.5])
    assert_allclose(fitted.tables["ill"].table, [0.5, 0.5])
    assert_allclose(fitted.tables["dose"].table, [1 / 3, 2 / 3])
    found = BayesianNetwork.from_data(path, [], method="counts", smoothing=0)
    assert [v.states for v in found.variables] == [("low",), ("False", "True"), ("1", "2")]
    path.write_text("lab,ill,dose\nNA,TRUE,1\nlow,perhaps,2\n")
    with pytest.raises(InvalidInput, match=r"Row 1, column 'ill'.*'perhaps'"):
        network.fit(path)


def test_counts_of_incomplete_rows_leave_a_family_out_of_a_row():
    """(rain, hose, wet) is counted in complete rows; rain in every row that shows it."""
    data = DAYS.to_pandas()
    data.loc[0, "wet"] = None
    fitted = RAIN.fit(data, method="counts", smoothing=0.0)
    assert_allclose(fitted.tables["rain"].table, [0.5, 0.5])
    assert_allclose(fitted.tables["wet"].table[1, 0], [0.0, 1.0])
    assert np.isnan(fitted.fit_report.log_likelihood)


def test_counts_refuse_a_hidden_variable():
    with pytest.raises(InvalidInput, match=r"No row shows hose.*method='em'"):
        RAIN.fit(DAYS.drop_columns(["hose"]), method="counts")


def test_no_rows_and_no_weight_are_refused():
    with pytest.raises(InvalidInput, match="no row"):
        RAIN.fit(DAYS.slice(0, 0))
    with pytest.raises(InvalidInput, match="non-zero"):
        RAIN.fit(DAYS, sample_weight=np.zeros(4))


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ({"smoothing": -1.0}, "smoothing=-1.0"),
        ({"smoothing": "much"}, "smoothing='much'"),
        ({"method": "ems"}, "Did you mean 'em'"),
        ({"max_iter": 0}, "max_iter"),
        ({"tol": -1.0}, "tol"),
    ],
)
def test_bad_arguments_are_refused(argument, message):
    with pytest.raises((InvalidInput, UnknownName), match=message):
        RAIN.fit(DAYS, **argument)


# ── EM ───────────────────────────────────────────────────────────────────────────────────────


@few
@given(seed=seeds, smoothing=st.sampled_from([0.0, 0.3, 1.0]), hidden=st.booleans())
def test_the_penalised_likelihood_never_falls(seed, smoothing, hidden):
    network = random_network(seed)
    codes = with_gaps(drawn(network, 25, seed), 0.3, seed)
    codes[:, 0] = -1 if hidden else codes[:, 0]
    fitted = em(network, codes, smoothing=smoothing, max_iter=12, tol=0.0, random_state=seed)
    trace = np.array(fitted.fit_report.trace)
    assert np.isfinite(trace).all()
    assert (np.diff(trace) >= -1e-9 * np.abs(trace[:-1])).all()
    assert_allclose(fitted.fit_report.log_likelihood, log_likelihood(fitted, codes), rtol=1e-9)


def test_em_on_complete_rows_is_counts():
    network = random_network(1)
    codes = drawn(network, 100, 0)
    fitted = em(network, codes)
    assert_same_tables(fitted, network.fit(codes), rtol=1e-12)
    assert fitted.fit_report.converged
    assert_allclose(fitted.fit_report.log_likelihood, log_likelihood(fitted, codes))


def test_em_ends_where_no_small_change_of_a_table_raises_the_posterior():
    network = random_network(7, sizes=(2, 2, 2))
    codes = with_gaps(drawn(network, 60, 0), 0.3, 1)
    fitted = em(network, codes, smoothing=0.5, tol=1e-13)

    def posterior(tables):
        prior = sum(0.5 * np.log(table).sum() for table in tables)
        return log_likelihood(fitted.with_tables(tables), codes) + prior

    best = posterior(all_tables(fitted))
    rng = np.random.default_rng(0)
    for _ in range(10):
        moved = [np.exp(np.log(t) + 1e-3 * rng.normal(size=t.shape)) for t in all_tables(fitted)]
        assert posterior([t / t.sum(axis=-1, keepdims=True) for t in moved]) < best


def test_em_reads_all_of_a_row_where_counts_do_not():
    """Wet is missing more often when it rains: complete rows would say it rains less."""
    network = BayesianNetwork.from_tables(
        {"rain": 2, "wet": 2},
        {"rain": [0.5, 0.5], "wet": [[0.9, 0.1], [0.1, 0.9]]},
        {"wet": ["rain"]},
    )
    codes = drawn(network, 2000, 0)
    codes[:, 0] = np.where((codes[:, 1] == 1) & (np.arange(2000) % 4 > 0), -1, codes[:, 0])
    fitted = em(network, codes, smoothing=0.0)
    assert_allclose(fitted.tables["rain"].table[1], 0.5, atol=0.03)
    counted = network.fit(codes, method="counts", smoothing=0.0)
    assert counted.tables["rain"].table[1] < 0.35


def test_a_hidden_class_is_recovered():
    """Four children of a hidden cause: their joint is that of the true network."""
    children = {"abcd"[j]: [[0.9, 0.1], [0.15, 0.85]] for j in range(4)}
    network = BayesianNetwork.from_tables(
        {"h": 2, **dict.fromkeys(children, 2)},
        {"h": [0.6, 0.4], **children},
        {child: ["h"] for child in children},
    )
    codes = drawn(network, 3000, 0)
    frame = pd.DataFrame(codes[:, 1:], columns=list("abcd"))
    fitted = em(network, frame, smoothing=0.0, random_state=0)
    true = Enumeration().log_partition
    for row in ({"a": 0, "b": 0}, {"a": 1, "b": 1, "c": 1, "d": 1}, {"a": 0, "d": 1}):
        asked = Request(evidence=GraphEvidence(row))
        assert abs(true(fitted, asked) - true(network, asked)) < 0.15
    again = em(network, frame, smoothing=0.0, random_state=0)
    assert_same_tables(fitted, again, rtol=0)


def test_a_hidden_variable_without_observed_descendants_is_uniform():
    fitted = em(RAIN, DAYS.drop_columns(["wet"]), random_state=0)
    assert_array_equal(fitted.tables["wet"].table, np.full((2, 2, 2), 0.5))
    assert_same_tables(
        em(RAIN, DAYS.select(["rain"]), smoothing=0.0),
        em(RAIN, DAYS.select(["rain"]), smoothing=0.0),
    )


def test_rows_that_show_nothing_have_no_effect_and_nothing_but_them_is_refused():
    network = random_network(2)
    codes = with_gaps(drawn(network, 40, 0), 0.3, 1)
    empty = np.full((7, codes.shape[1]), -1)
    assert_same_tables(em(network, np.vstack([empty, codes])), em(network, codes), rtol=1e-9)
    with pytest.raises(InvalidInput, match="Every cell of the data is missing"):
        em(network, empty)


def test_em_does_not_depend_on_the_order_or_the_repetition_of_rows():
    network = random_network(4)
    codes = with_gaps(drawn(network, 40, 0), 0.3, 1)
    twice = np.random.default_rng(0).permutation(np.repeat(codes, 2, axis=0))
    assert_same_tables(em(network, codes, weight=np.full(40, 2.0)), em(network, twice), rtol=0)


def test_em_that_reaches_its_limit_warns():
    network = random_network(4)
    codes = with_gaps(drawn(network, 40, 0), 0.3, 1)
    with pytest.warns(ConvergenceWarning, match="BayesianNetwork did not converge"):
        fitted = em(network, codes, max_iter=1)
    assert not fitted.fit_report.converged and fitted.fit_report.n_iter == 1
    assert "not converged after 1 step" in str(fitted.fit_report)


def test_terms_travel():
    network = random_network(1)
    codes = drawn(network, 10, 0).astype(np.int32)
    families = Families.of(network)
    terms = [
        partial(block_family_counts, families),
        partial(block_expected_counts, row_families, families, network),
        partial(block_pair_counts, tuple(v.n_states for v in network.variables), None),
    ]
    (block,) = array_blocks(network.variables, codes)
    for term in terms:
        travelled = pickle.loads(pickle.dumps(term))
        assert_allclose(travelled(block).counts, term(block).counts)


# ── from data ────────────────────────────────────────────────────────────────────────────────


def test_states_are_the_sorted_values_and_ordered_categories_keep_their_order():
    sizes = pd.Categorical(["s", "l", "s"], categories=["s", "m", "l"], ordered=True)
    data = pd.DataFrame(
        {"n": [10, 9, 2], "size": sizes, "t": ["b", "", "a"], "f": [True, None, False]}
    )
    network = BayesianNetwork.from_data(data, [("n", "size")], method="counts")
    assert [v.states for v in network.variables] == [
        ("2", "9", "10"),
        ("s", "m", "l"),
        ("a", "b"),
        ("False", "True"),
    ]
    assert network.edges == (("n", "size"),)


def test_whole_numbers_in_an_array_are_states_when_states_come_from_the_data():
    network = BayesianNetwork.from_data(
        np.array([[1, 5], [2, 5], [1, 7]]), [("x0", "x1")], smoothing=0
    )
    assert [v.states for v in network.variables] == [("1", "2"), ("5", "7")]
    assert_allclose(network.tables["x1"].table, [[0.5, 0.5], [1.0, 0.0]])


def test_given_states_replace_those_of_the_data_and_add_hidden_variables():
    rows = DAYS.select(["rain"])
    network = BayesianNetwork.from_data(rows, [], states={"rain": ["yes", "no"]})
    assert network.variables[0].states == ("yes", "no")
    with pytest.raises(InvalidInput, match="No row shows h"):
        BayesianNetwork.from_data(rows, [("h", "rain")], states={"h": 2}, method="counts")


def test_from_data_with_a_network_is_fit():
    assert_same_tables(BayesianNetwork.from_data(DAYS, RAIN), RAIN.fit(DAYS))


def test_a_file_has_the_states_of_the_frame(tmp_path):
    path = tmp_path / "days.csv"
    write_csv(DAYS, path)
    network = BayesianNetwork.from_data(path, [("rain", "wet")])
    expected = BayesianNetwork.from_data(DAYS, [("rain", "wet")])
    assert network.variables == expected.variables
    assert_same_tables(network, expected)


def test_columns_and_rows_of_python_are_data():
    columns = {"sky": ["clear", "grey", None, "grey"], "n": [1, 2.0, 1, "many"]}
    rows = [
        {"sky": "clear", "n": 1},
        {"n": 2, "sky": "grey"},
        {"n": 1},
        {"sky": "grey", "n": "many"},
    ]
    frame = pd.DataFrame({"sky": columns["sky"], "n": ["1", "2", "1", "many"]})
    expected = BayesianNetwork.from_data(frame, [("sky", "n")])
    assert expected.by_name["n"].states == ("1", "2", "many")
    for data in (columns, rows):
        network = BayesianNetwork.from_data(data, [("sky", "n")])
        assert network.variables == expected.variables
        assert_same_tables(network, expected)
        assert_same_tables(expected.fit(data), expected)
    weighted = BayesianNetwork.from_data({"a": ["x", "y"], "w": [3, 1]}, [], sample_weight="w")
    assert_allclose(weighted.tables["a"].table, [4 / 6, 2 / 6])
    with pytest.raises(InvalidInput, match=r"different numbers of rows \(\('a', 2\), \('b', 1\)\)"):
        BayesianNetwork.from_data({"a": [1, 2], "b": [1]}, [])
    with pytest.raises(InvalidInput, match="no row"):
        BayesianNetwork.from_data({"a": []}, [])


def test_measurements_identifiers_and_empty_columns_are_refused():
    with pytest.raises(InvalidInput, match=r"'x' has 1,200 distinct values.*Discretizer"):
        BayesianNetwork.from_data(pd.DataFrame({"x": np.linspace(0, 1, 1200)}), [])
    with pytest.raises(InvalidInput, match="'x' has no value"):
        BayesianNetwork.from_data(pd.DataFrame({"x": [None, None], "y": [1, 2]}), [])
    with pytest.raises(InvalidInput, match="neither numbers, Booleans nor text"):
        BayesianNetwork.from_data(pd.DataFrame({"x": pd.to_datetime(["2020-01-01"])}), [])


@pytest.mark.parametrize("as_file", [False, True])
def test_a_column_that_looks_continuous_is_named_in_a_warning(tmp_path, as_file):
    numbers = np.linspace(0, 1, 120)
    data = pd.DataFrame({"a": ["x", "y"] * 60, "t": numbers, "u": numbers**2, "n": range(120)})
    given = tmp_path / "rows.csv" if as_file else data
    data.to_csv(tmp_path / "rows.csv", index=False)
    with pytest.warns(ContinuousColumn, match=r"'t' has 120 .* with 'u': .*Discretizer") as caught:
        network = BayesianNetwork.from_data(given, [])
    assert len(caught) == 1 and len(network.by_name["t"].states) == 120
    whole = data[["a", "n"]].astype({"n": float})
    BayesianNetwork.from_data(whole, [])  # whole numbers, also as floats, are no measurements
    BayesianNetwork.from_data(data[["t"]].round(1), [])  # a few values are states
    states = {"t": numbers.tolist()}
    BayesianNetwork.from_data(data[["t"]], [], states=states)  # they were named


def test_family_counts_and_tables_are_those_of_one_pass():
    rows = coded_rows(RAIN.variables, DAYS)
    totals = family_counts(RAIN, rows)
    assert totals.weight == 4.0 and totals.n_missing == 0
    fitted = conditional_tables(totals.tables, [1.0] * 3)
    for mine, theirs in zip(fitted, all_tables(RAIN.fit(DAYS)), strict=True):
        assert_array_equal(mine, theirs)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_samples_of_a_learned_graph_are_frames_like_the_data(library, tmp_path):
    rows = five_variables().sample(50, random_state=0, library=library)
    field = MarkovField.from_potentials({"x1": 2, "x2": 2}, {("x1", "x2"): [[1, 1], [1, 1]]})
    few = rows.select(["x1", "x2"]) if library != "pandas" else rows[["x1", "x2"]]
    for learned in (
        five_variables().fit(rows),
        BayesianNetwork.from_data(rows),
        BayesianNetwork.from_data(rows, five_variables()),
        field.fit(few),
    ):
        assert type(learned.sample(2, random_state=0)) is type(rows)
        likely.save(learned, tmp_path / "learned.likely")
        assert type(likely.load(tmp_path / "learned.likely").sample(2)) is type(rows)
        assert type(learned.sample(2, library="pyarrow")) is pa.Table


def test_samples_of_a_graph_that_was_learned_from_no_frame_are_arrow():
    for learned in (five_variables(), five_variables().fit(np.zeros((3, 5), dtype=int))):
        assert type(learned.sample(2)) is pa.Table
