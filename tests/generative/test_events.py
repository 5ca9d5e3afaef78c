"""Which event model reads which column."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.utils import get_tags

from likely import Discretizer, NaiveBayes
from likely.data.frames import as_table
from likely.data.source import kinds_of
from likely.distributions import (
    Bernoulli,
    CategoricalFamily,
    DiagonalFamily,
    JointTableFamily,
    LaplaceFamily,
    Poisson,
)
from likely.errors import InvalidInput, UnknownName
from likely.generative.events import EVENTS, plan_events, product_family
from tests.fits import numbers

FRAME = pd.DataFrame(
    {"size": [1.0, 2.0], "rooms": [1, 2], "sold": [True, False], "colour": ["r", "g"]}
)


def plan(event, **options):
    return plan_events(event, kinds_of(as_table(FRAME)), **options)


def test_auto_reads_types_and_never_values():
    assert plan("auto").events == ("gaussian", "gaussian", "bernoulli", "categorical")
    ones = pd.DataFrame({"a": [0, 1, 1]})
    assert plan_events("auto", kinds_of(as_table(ones))).events == ("gaussian",)
    counts = sparse.csr_array(np.eye(2))
    assert (
        plan_events("auto", kinds_of(as_table(counts)), sparse=True).events == ("multinomial",) * 2
    )


def test_a_mapping_names_columns_and_leaves_the_rest_to_auto():
    found = plan({"rooms": "poisson", 0: "laplace"})
    assert found.events == ("laplace", "poisson", "bernoulli", "categorical")
    assert found.as_codes == (False, False, False, True)
    assert plan({"rooms": Poisson}).events[1] is Poisson


def test_columns_with_the_same_event_form_one_part():
    family = product_family(
        plan({"size": "multinomial", "rooms": "multinomial"}),
        (2,),
        gaussian=DiagonalFamily(floor=0.0),
    )
    assert [tuple(part.selection.features) for part in family.parts] == [(0, 1), (2,), (3,)]
    assert [part.selection.coded for part in family.parts] == [False, False, True]


def test_options_reach_the_families():
    chosen = DiagonalFamily(floor=0.5)
    assert product_family(plan("auto"), (2,), gaussian=chosen).parts[0].family is chosen
    laplace = plan({"size": "laplace"})
    sketched = product_family(laplace, (2,), gaussian=chosen, sketch=True)
    assert sketched.parts[0].family.limit is not None
    exact = product_family(laplace, (2,), gaussian=chosen)
    assert exact.parts[0].family == LaplaceFamily(limit=None, floor=0.5)


def test_discretising_makes_categories_of_what_auto_calls_gaussian():
    found = plan({"rooms": "poisson"}, discretise=True)
    assert found.discretised == (True, False, False, False)
    assert found.events == ("categorical", "poisson", "bernoulli", "categorical")
    assert found.as_codes == (False, False, False, True)


def test_declared_categories_are_kept_though_not_seen():
    X, y = np.array([[0, 1], [1, 0]]), [0, 1]
    model = NaiveBayes(CategoricalFamily((3, 4))).fit(X, y)
    assert model.distribution_.parts[0].sizes == (3, 4)
    with pytest.raises(InvalidInput, match=r"declared to have 2 categories, 0 to 1; found 5"):
        NaiveBayes(CategoricalFamily((2,))).fit(np.array([[0], [5]]), y)
    with pytest.raises(InvalidInput, match=r"declares 3 numbers of categories for 2 columns"):
        NaiveBayes(CategoricalFamily((2, 2, 2))).fit(X, y)


def test_a_joint_table_is_an_event_model():
    """NB-7: the full table as a classifier sees an exclusive or that naive Bayes cannot."""
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 5)
    y = X[:, 0] ^ X[:, 1]
    full = NaiveBayes(JointTableFamily((2,)), smoothing=0.1).fit(X, y)
    assert full.score(X, y) == 1.0
    assert NaiveBayes("categorical").fit(X, y).score(X, y) == 0.5


@pytest.mark.parametrize("event", EVENTS)
def test_every_name_fits(event):
    X = np.array([[0, 1], [1, 0], [1, 1], [0, 0]])
    assert NaiveBayes(event).fit(X, [0, 1, 0, 1]).predict_proba(X).shape == (4, 2)


@pytest.mark.parametrize(
    ("event", "error", "message"),
    [
        ("bernouli", UnknownName, r"event model 'bernouli'.*Did you mean 'bernoulli'"),
        ({"romos": "poisson"}, UnknownName, r"column 'romos'.*Did you mean 'rooms'"),
        ({"colour": "gaussian"}, InvalidInput, r"Column 'colour' holds text.*'categorical'"),
        (3, InvalidInput, r"a name, a mapping.*found 3"),
        ({"size": None}, InvalidInput, r"found None"),
    ],
)
def test_wrong_events_are_refused(event, error, message):
    with pytest.raises(error, match=message):
        plan(event)


@pytest.mark.parametrize("event", ["categorical", "auto", "gaussian", "multinomial", "bernoulli"])
def test_the_tags_say_whether_columns_may_be_categories(event):
    tags = get_tags(NaiveBayes(event)).input_tags
    assert tags.categorical is (event in ("categorical", "auto"))


# ── Bins inside naive Bayes, batches that are refused or agree, and frames that hold their target ─


def test_edges_are_given_by_the_name_of_a_column():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    frame = pd.DataFrame(
        {"town": rng.choice(["u", "v"], 200), "age": 40 * y + rng.uniform(0, 50, 200), "n": y + 0.0}
    )
    model = NaiveBayes(discretize=Discretizer(edges={"age": [18, 65]})).fit(frame, y)
    assert_allclose(model.discretizer_.edges_[0], [18, 65])
    drawn, _ = model.sample(50, 0)
    assert list(drawn.columns) == ["town", "age", "n"]
    assert model.score(frame, y) > 0.9


def test_a_refused_batch_changes_nothing():
    frame = pd.DataFrame({"c": list("uvw") * 4, "n": np.arange(12.0)})
    model = NaiveBayes().partial_fit(frame, [0, 1] * 6, classes=[0, 1])
    before = model.predict_proba(frame)
    with pytest.raises(InvalidInput, match="column 'n': found inf"):
        model.partial_fit(pd.DataFrame({"c": ["z"], "n": [np.inf]}), [0])
    assert_array_equal(model.predict_proba(frame), before)
    model.partial_fit(frame, [0, 1] * 6)


def test_the_plan_of_the_first_batch_holds():
    model = NaiveBayes().partial_fit(np.array([[True], [False]]), [0, 1], classes=[0, 1])
    model.partial_fit(np.array([[1], [0]]), [0, 1])
    assert isinstance(model.distribution_.parts[0], Bernoulli)
    counts = NaiveBayes().partial_fit(sparse.eye_array(2, format="csr"), [0, 1], classes=[0, 1])
    assert_array_equal(counts.partial_fit(np.eye(2), [0, 1]).predict(np.eye(2)), [0, 1])


def test_batches_with_given_edges_equal_one_fit():
    X, y = numbers(np.random.default_rng(0), 90)[:2]
    bins = Discretizer(edges=[-0.5, 0.5])
    whole = NaiveBayes(discretize=bins).fit(X, y)
    batches = NaiveBayes(discretize=bins)
    for rows in np.array_split(np.arange(len(X)), 3):
        batches.partial_fit(X[rows], y[rows], classes=np.unique(y))
    assert_allclose(batches.predict_proba(X), whole.predict_proba(X), rtol=1e-12)


def test_a_frame_may_hold_its_own_target_and_weights():
    frame = pd.DataFrame({"c": ["p", "q", "r"] * 4, "w": [0.0, 1, 2] * 4, "y": list("aaab") * 3})
    named = NaiveBayes().fit(frame, "y", sample_weight="w")
    plain = NaiveBayes().fit(frame[["c"]], frame["y"], sample_weight=frame["w"])
    seen = frame.loc[frame["w"] > 0, ["c"]]
    assert_allclose(named.predict_proba(seen), plain.predict_proba(seen))
    with pytest.raises(InvalidInput, match="no column 'Y'"):
        NaiveBayes().fit(frame, "Y")


def test_a_row_of_weight_0_in_a_file_brings_no_category(tmp_path):
    frame = pd.DataFrame({"c": ["p", "q", "r"] * 4, "w": [0.0, 1, 1] * 4, "y": list("aaab") * 3})
    frame.to_csv(tmp_path / "rows.csv", index=False)
    filed = NaiveBayes().fit(tmp_path / "rows.csv", "y", sample_weight="w")
    memory = NaiveBayes().fit(frame, "y", sample_weight="w")
    assert filed.schema_.sizes == memory.schema_.sizes == (2,)


def test_supervised_bins_do_not_take_a_missing_label_for_a_class():
    X, y = numbers(np.random.default_rng(0), 90)[:2]
    y = y.copy()
    y[::3] = -1
    model = NaiveBayes(discretize="entropy", unlabelled=-1).fit(X, y)
    labelled = Discretizer("entropy").fit(X[y >= 0], y[y >= 0])
    for ours, theirs in zip(model.discretizer_.edges_, labelled.edges_, strict=True):
        assert_allclose(ours, theirs)


def test_edges_by_position_are_those_of_the_table():
    frame = pd.DataFrame({"c": list("uv") * 20, "n": np.arange(40.0), "m": np.arange(40.0)})
    model = NaiveBayes(discretize=Discretizer(edges={1: [7.0]})).fit(frame, [0, 1] * 20)
    assert_allclose(model.discretizer_.edges_[0], [7.0])
    with pytest.raises(InvalidInput, match="not one of the columns that are binned"):
        NaiveBayes(discretize=Discretizer(edges={"c": [7.0]})).fit(frame, [0, 1] * 20)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint64, bool])
def test_codes_of_any_integer_type_are_categories(dtype):
    X, y = np.array([[0, 1], [1, 0], [1, 1], [0, 0]] * 5), np.array([0, 1] * 10)
    here = NaiveBayes("categorical").fit(X.astype(dtype), y)
    assert_allclose(
        here.predict_proba(X.astype(dtype)), NaiveBayes("categorical").fit(X, y).predict_proba(X)
    )


def test_an_infinity_at_prediction_is_refused_with_its_place():
    frame = pd.DataFrame({"c": list("uv") * 20, "n": np.arange(40.0)})
    model = NaiveBayes().fit(frame, [0, 1] * 20)
    with pytest.raises(InvalidInput, match="Row 3, column 'n': found inf"):
        model.predict(frame.assign(n=np.where(np.arange(40) == 3, np.inf, 1.0)))


def test_a_gap_among_text_labels_survives_rows_of_weight_0():
    X, y = np.arange(6.0).reshape(-1, 1), ["a", "b", np.nan, "a", "b", "a"]
    model = NaiveBayes(unlabelled=np.nan).fit(X, y, sample_weight=[1, 1, 1, 1, 0, 1])
    assert_array_equal(model.classes_, ["a", "b"])


def test_a_rare_indicator_that_is_the_label_predicts_it():
    """The edges of 94 % zeros were all at 0, so that the column had one bin."""
    x = np.repeat([0.0, 1.0], [940, 60])[:, None]
    model = NaiveBayes(discretize="quantile").fit(x, x[:, 0].astype(int))
    assert model.predict_proba([[1.0]])[0, 1] > 0.9
    assert model.score(x, x[:, 0].astype(int)) == 1.0
