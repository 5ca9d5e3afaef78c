"""Which event model reads which column."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.utils import get_tags

from likely import NaiveBayes
from likely.data.frames import kinds_of
from likely.distributions import (
    CategoricalFamily,
    DiagonalFamily,
    JointTableFamily,
    LaplaceFamily,
    Poisson,
)
from likely.errors import InvalidInput, UnknownName
from likely.generative.events import EVENTS, plan_events, product_family

FRAME = pd.DataFrame(
    {"size": [1.0, 2.0], "rooms": [1, 2], "sold": [True, False], "colour": ["r", "g"]}
)


def plan(event, **options):
    return plan_events(event, kinds_of(FRAME), **options)


def test_auto_reads_types_and_never_values():
    assert plan("auto").events == ("gaussian", "gaussian", "bernoulli", "categorical")
    ones = pd.DataFrame({"a": [0, 1, 1]})
    assert plan_events("auto", kinds_of(ones)).events == ("gaussian",)
    counts = sparse.csr_array(np.eye(2))
    assert plan_events("auto", kinds_of(counts), sparse=True).events == ("multinomial",) * 2


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
