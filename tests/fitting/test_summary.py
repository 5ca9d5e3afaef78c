"""The summary: it prints in 100 columns, escapes names, says what is wrong, and becomes a frame."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import polars
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from likely.fitting.inference import Inference
from likely.fitting.summary import Summary
from likely.likelihoods.responses import likelihood_of
from likely.linear.surface import FittedLinear
from likely.output.description_text import MOST_ROWS
from likely.output.formatting import WIDEST
from likely.solvers.minimise import Solution


def inference(theta=(0.5, -0.25, 1.0), se=(0.1, 0.2, 0.05), names=("age", "dose", "intercept")):
    return Inference(
        theta=np.array(theta),
        covariance=np.diag(np.square(se)),
        names=tuple(names),
        dispersion=1.0,
        dispersion_is_known=True,
        n=120.0,
        n_parameters=float(len(names)),
        df_residual=120.0 - len(names),
        log_likelihood=-100.0,
        null_log_likelihood=-150.0,
        deviance=90.0,
        null_deviance=190.0,
        pearson=110.0,
        largest_eta=3.0,
    )


def summary(**options):
    return Summary(
        inference(**options), "GLM: poisson response, log link", solver="Newton, 4 steps"
    )


def line_of(text, name):
    return next(line for line in text.splitlines() if line.startswith(name)).split()


def test_the_table_has_what_statisticians_look_for():
    assert line_of(str(summary()), "dose") == [
        "dose",
        "-0.25",
        "0.20",
        "-1.250",
        "0.211",
        "-0.64",
        "0.14",
    ]
    text = str(summary())
    heads = next(line for line in text.splitlines() if "coef" in line)
    assert re.split(r"\s{2,}", heads.strip()) == [
        *("coef", "std err", "z", "P>|z|", "[0.025", "0.975]")
    ]
    for fact in ("observations", "120", "AIC", "206.000", "BIC", "null deviance", "1 (known)"):
        assert fact in text


def test_decimal_points_are_below_each_other():
    lines = str(summary(theta=(123.5, -0.25, 1.0))).splitlines()
    rows = [line for line in lines if line.startswith(("age", "dose", "intercept"))]
    assert len({line.index(".") for line in rows}) == 1


def test_digits_follow_the_standard_errors():
    assert line_of(str(summary(se=(0.00123, 0.2, 0.5))), "age")[1:3] == ["0.5000", "0.0012"]
    assert line_of(str(summary(se=(12.3, 20.0, 50.0))), "age")[1:3] == ["0", "12"]
    assert line_of(str(summary(se=(1.23e-9, 0.2, 0.5))), "age")[1:3] == ["0.500000", "1.2e-09"]


def test_a_p_value_is_never_said_to_be_zero():
    assert line_of(str(summary(theta=(99.0, 0.0, 1.0))), "age")[4] == "<0.001"


sizes = st.floats(-1e12, 1e12) | st.floats(-1e-6, 1e-6) | st.just(0.0)


@given(
    theta=st.tuples(sizes, sizes),
    se=st.tuples(*[st.floats(1e-300, 1e12) | st.just(np.nan)] * 2),
    name=st.text(st.characters(codec="ascii", exclude_categories=["Cc"]), max_size=200),
)
def test_no_line_is_wider_than_a_page(theta, se, name):
    shown = str(replace(summary(theta=theta, se=se, names=(name, "b")), converged=False))
    assert max(map(len, shown.splitlines())) <= WIDEST


def test_a_coefficient_without_an_error_shows_a_dash_and_a_note():
    fit = replace(inference(se=(np.nan, 0.2, 0.1)), redundant=(0,))
    shown = Summary(fit, "GLM")
    assert line_of(str(shown), "age")[2:] == ["–"] * 5
    assert "Note: fixed at 0, because they can be computed from other columns: 'age'." in str(shown)
    assert shown.to_frame().column("se").null_count == 1


@pytest.mark.parametrize(
    ("changed", "note"),
    [
        (
            {"inference": replace(inference(), penalised=True)},
            "do not include the bias of shrinkage",
        ),
        ({"inference": replace(inference(), excluded=(0, 1))}, "set to 0 by the penalty: 'age', "),
        ({"converged": False}, "did not converge"),
        ({"separated": True}, "separated"),
        ({"remarks": ("weights were odd.",)}, "weights were odd."),
    ],
    ids=lambda part: next(iter(part)) if isinstance(part, dict) else None,
)
def test_what_a_reader_must_know_is_said(changed, note):
    told = replace(summary(), **changed)
    assert note in " ".join(str(told).split())
    assert note.replace("'", "&#x27;") in told._repr_html_()
    assert note not in str(summary())


def test_student_is_named_where_it_is_used():
    head = str(Summary(replace(inference(), distribution="t"), "LinearRegression"))
    assert " t " in head and "P>|t|" in head and " z " not in head


def test_long_tables_are_cut_and_say_so():
    k = MOST_ROWS + 7
    long = summary(theta=np.ones(k), se=np.ones(k), names=[f"x{j}" for j in range(k)])
    assert "… and 7 more terms (to_frame() has them all)" in str(long)
    assert "… and 7 more terms (to_frame() has them all)" in long._repr_html_()
    assert long.to_frame().num_rows == k


class Balanced(HTMLParser):
    """Collects the text of the cells; refuses tags that do not match."""

    def __init__(self):
        super().__init__()
        self.open, self.cells = [], []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("td", "th"):
            self.cells.append(data)


def test_html_is_whole_and_names_are_escaped():
    page = Balanced()
    page.feed(summary(names=("<script>alert(1)</script>", "a & b", "'\""))._repr_html_())
    assert not page.open
    assert {"<script>alert(1)</script>", "a & b", "'\"", "-0.25"} <= set(page.cells)


def test_frames_are_of_the_callers_library():
    arrow, frame = summary().to_frame(), summary().to_frame("pandas")
    assert isinstance(arrow, pyarrow.Table)
    assert arrow.column_names == ["term", "coef", "se", "z", "p", "low", "high"]
    assert list(frame.index) == ["age", "dose", "intercept"]
    assert_allclose(frame.loc["dose", "coef"], -0.25)
    assert isinstance(replace(summary(), library="polars").to_frame(), polars.DataFrame)


def test_a_fitted_model_is_described_by_its_response_and_link():
    solution = Solution(np.zeros(2), True, "", (1.0,) * 5, 0.0, "Newton")

    class GLM(FittedLinear):
        def __init__(self, **learned):
            vars(self).update(learned)

        def _inference(self):
            return inference()

    likelihood = likelihood_of("gamma", "log")
    told = GLM(solution_=solution, likelihood_=likelihood).summary()
    assert told.title == "GLM: gamma response, log link"
    assert told.solver == "Newton, 4 steps"
    two = GLM(
        solution_=solution, likelihood_=likelihood_of("bernoulli"), classes_=np.array(["a", "b"])
    )
    assert two.summary().title == "GLM: P(y = 'b'), logit link"
    ordered = GLM(solution_=solution, link="probit", classes_=np.arange(4))
    assert ordered.summary().title == "GLM: 4 ordered classes, probit link"
    assert GLM(solution_=solution).summary().title == "GLM: least squares"
