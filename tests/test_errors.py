"""The errors that are raised on purpose."""

import pandas as pd
import pytest

from likely import NaiveBayes, errors
from likely.errors import UnseenCategories


@pytest.mark.parametrize(
    ("error", "base"),
    [
        (errors.InvalidInput, ValueError),  # scikit-learn's checks expect one
        (errors.UnknownName, errors.InvalidInput),
        (errors.InvalidFile, errors.InvalidInput),
        (errors.UnsupportedAccess, errors.LikelyError),
        (errors.NotConverged, errors.LikelyError),
        (errors.UnseenCategories, errors.LikelyWarning),
        (errors.SingularCovariance, errors.LikelyWarning),
        (errors.CollapsedComponent, errors.LikelyWarning),
        (errors.FormatLoss, errors.LikelyWarning),
        (errors.LikelyWarning, UserWarning),
    ],
)
def test_each_is_what_a_caller_may_catch(error, base):
    assert issubclass(error, base)


def test_a_bad_file_is_named_with_the_line():
    error = errors.InvalidFile("rows.csv", "expected 3 cells, found 2.", line=7)
    assert str(error) == "rows.csv, line 7: expected 3 cells, found 2."
    assert (error.path, error.line) == ("rows.csv", 7)


def test_a_bad_file_without_a_line_is_named():
    error = errors.InvalidFile("rows.csv", "it is empty.")
    assert str(error) == "rows.csv: it is empty."
    assert error.line is None


def test_a_suggestion_needs_a_close_name():
    assert str(errors.UnknownName("link", "logitt", ["log", "logit"])).endswith("mean 'logit'?")
    assert "mean" not in str(errors.UnknownName("link", "xyz", ["log", "logit"]))


def test_of_thousands_of_choices_some_are_listed_and_the_nearest_is_found():
    error = errors.UnknownName("variable", "wett", ["wet", *(f"node_{i}" for i in range(5000))])
    assert len(str(error)) < 1000
    assert str(error).endswith("and 4,941 more. Did you mean 'wet'?")


def test_an_unknown_state_lists_the_states_in_their_order():
    error = errors.UnknownState("cold", "midl", ["severe", "mild", "absent"])
    assert str(error) == (
        "'cold' has no state 'midl'; its states are severe, mild, absent. Did you mean 'mild'?"
    )
    assert error.nearest == "mild" and isinstance(error, errors.UnknownName)


def test_a_warning_points_at_the_users_line():
    frame = pd.DataFrame({"c": ["u", "v"] * 5})
    model = NaiveBayes().fit(frame, [0, 1] * 5)
    with pytest.warns(UnseenCategories) as caught:
        model.predict(pd.DataFrame({"c": ["w"]}))
    assert caught[0].filename == __file__
