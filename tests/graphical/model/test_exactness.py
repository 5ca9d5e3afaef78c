"""Answers of a method that is not exact say so: a sampler that is registered here, and a bound."""

import json
from dataclasses import dataclass
from math import inf, nan

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose

from likely.errors import GraphTooLarge, InvalidInput, NotAnswered, UnconvergedAnswer
from likely.graphical import INFERENCE, Factor, FactorGraph, MarkovField, Variable
from likely.graphical.contract import (
    BestStates,
    InferenceAnswer,
    InferenceMethod,
    Request,
    drawn_in_blocks,
)
from likely.graphical.model.exactness import Exactness, LogPartition
from tests.graphical.exact.test_junction_tree import grid


@dataclass(frozen=True)
class Weighing:
    """Settings of ``likelihood weighting`` below."""

    draws: int = 2000


def weighed(graph, request):
    """Uniform configurations, weighted by F: codes (n, n_variables) and weights (n,)."""
    settings = request.options or Weighing()
    rng = np.random.default_rng(request.random_state)
    codes = np.stack([rng.integers(v.n_states, size=settings.draws) for v in graph.variables], 1)
    for name, code in request.evidence.codes.items():
        codes[:, graph.names.index(name)] = code
    place = {name: v for v, name in enumerate(graph.names)}
    logs = np.zeros(settings.draws)
    for factor in graph.factors:
        logs += factor.log_table[tuple(codes[:, place[name]] for name in factor.scope)]
    for name, values in request.evidence.soft.items():
        logs += np.log(values[codes[:, place[name]]])
    free = [v for v in graph.variables if v.name not in request.evidence.codes]
    return codes, np.exp(logs), float(sum(np.log(v.n_states) for v in free))


def marginals(graph, request):
    codes, weight, log_cells = weighed(graph, request)
    share, n = weight / weight.sum(), len(weight)
    found, errors = {}, {}
    for name in request.variables:
        hit = codes[:, graph.names.index(name), None] == np.arange(graph.by_name[name].n_states)
        found[name] = share @ hit
        errors[name,] = np.sqrt(share**2 @ (hit - found[name]) ** 2)
    joints = {}
    for names in request.joints:
        joints[names] = np.zeros([graph.by_name[name].n_states for name in names])
        np.add.at(joints[names], tuple(codes[:, graph.names.index(x)] for x in names), share)
    error = float(weight.std() / weight.mean() / np.sqrt(n))
    exactness = Exactness(False, n >= 1000, "estimate", error, errors, {"draws": n})
    return InferenceAnswer(found, joints, float(np.log(weight.mean())) + log_cells, exactness)


def partition(graph, request):
    found = marginals(graph, request)
    return LogPartition(found.log_partition, found.exactness)


def best(graph, request):
    codes, weight, _ = weighed(graph, request)
    top = dict(zip(graph.names, codes[weight.argmax()].tolist(), strict=True))
    upper = sum(float(factor.log_table.max()) for factor in graph.factors)
    return BestStates(top, False, Exactness(False, bound="none"), upper)


def samples(graph, request, n_samples):
    """Codes drawn uniformly, with what was observed."""
    codes = request.evidence.codes
    return drawn_in_blocks(
        graph,
        request,
        n_samples,
        lambda uniform: {
            v.name: np.full(len(u), codes[v.name])
            if v.name in codes
            else (u * v.n_states).astype(int)
            for v, u in zip(graph.variables, uniform.T, strict=True)
        },
    )


WEIGHING = InferenceMethod(
    words="likelihood weighting",
    marginals=marginals,
    best=best,
    partition=partition,
    samples=samples,
    options=Weighing,
)


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    monkeypatch.setitem(INFERENCE, "weighing", WEIGHING)


@pytest.fixture
def graph():
    rng = np.random.default_rng(0)
    a, b, c = Variable("a", 2), Variable("b", 3), Variable("c", ["no", "yes"])
    pairs = [(a, b), (b, c), (a, c)]
    return FactorGraph(
        [Factor(pair, rng.gamma(2, size=[v.n_states for v in pair])) for pair in pairs]
    )


ASKED = {"method": "weighing", "random_state": 0}


def test_a_sampler_has_an_error_bar_that_covers_the_exact_answer(graph):
    exact = graph.query(given={"a": 1})
    found = graph.query(given={"a": 1}, **ASKED)
    assert (found.exact, found.converged, found.bound) == (False, True, "estimate")
    for name in ("b", "c"):
        error = found.standard_error(name)
        assert (error > 0).all()
        assert (error < 0.05).all()
        assert (np.abs(found.marginal(name) - exact.marginal(name)) < 4 * error).all()
    assert abs(found.log_partition - exact.log_partition) < 4 * found.exactness.log_partition_error
    assert found.exactness.report == {"draws": 2000}
    assert (exact.standard_error("b") == 0).all()
    assert_allclose(found.standard_error("a"), 0, rtol=0, atol=1e-15)  # it was observed


def test_log_evidence_is_the_difference_of_two_answers_of_one_method(graph):
    found, exact = graph.query(given={"a": 1}, **ASKED), graph.query(given={"a": 1})
    assert exact.log_evidence.exact
    assert exact.log_evidence.standard_error == 0.0
    assert not found.log_evidence.exact
    mine = graph.log_partition({"a": 1}, **ASKED) - graph.log_partition(**ASKED)
    assert found.log_evidence == pytest.approx(mine, abs=1e-12)
    assert abs(found.log_evidence - exact.log_evidence) < 4 * found.log_evidence.standard_error
    assert "±" in repr(found.log_evidence)
    assert "estimate" in repr(found.log_evidence)


def test_printed_answers_and_frames_are_marked(graph):
    found = graph.query(["b", ("a", "b")], **ASKED)
    text = str(found)
    assert "std err" in text
    assert "Approximate, by weighing; standard errors up to 0.0" in text
    assert "draws 2000" in text
    frame = found.to_frame("pandas")
    assert set(frame["approximate"]) == {"weighing"}
    assert frame["standard_error"][:3].tolist() == found.standard_error("b").tolist()
    assert frame["standard_error"][3:].isna().all()  # of the joint it is not known
    assert found.standard_error(("a", "b")) is None
    exact = graph.query(["b"])
    assert list(exact.to_frame("pandas").columns) == ["variable", "state", "probability"]
    assert "pproximate" not in str(exact)


def test_an_answer_that_has_not_converged_warns_and_says_so(graph):
    with pytest.warns(UnconvergedAnswer, match=r"weighing.*seconds="):
        found = graph.query("b", options=Weighing(draws=50), **ASKED)
    assert not found.converged
    assert "Approximate, by weighing, not converged" in str(found)
    assert set(found.to_frame("pandas")["approximate"]) == {"weighing, not converged"}


def test_rows_of_a_table_carry_their_marks(graph):
    table = pd.DataFrame({"a": [0, 1, None], "c": ["no", None, "yes"]})
    exact, found = graph.query(["b"], table), graph.query(["b"], table, **ASKED)
    assert exact.exact
    assert exact.converged.tolist() == [True] * 3
    assert exact.bounds == ("exact",) * 3
    assert not found.exact
    assert found.bounds == ("estimate",) * 3
    errors = found.standard_errors("b")
    assert (np.abs(found["b"] - exact["b"]) < 4 * errors).all()
    assert_allclose(found.log_evidence, exact.log_evidence, atol=0.2)
    apart = np.abs(found.log_evidence - exact.log_evidence)
    assert (apart < 4 * found.log_evidence_errors).all()
    assert exact.log_evidence_errors.tolist() == [0.0] * 3
    assert "weighing, approximate" in repr(found)
    frame = found.to_frame()
    assert frame["approximate"].tolist() == ["weighing"] * 3
    assert frame["b=1, standard error"].tolist() == errors[:, 1].tolist()
    assert "approximate" not in exact.to_frame()


def test_one_warning_for_all_rows_that_have_not_converged(graph):
    table = pd.DataFrame({"a": [0, 1]})
    with pytest.warns(UnconvergedAnswer) as caught:
        found = graph.query(["b"], table, options=Weighing(draws=10), **ASKED)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert found.converged.tolist() == [False, False]
    assert "not converged in 2 rows" in repr(found)


def test_configurations_carry_their_bound(graph):
    exact, found = graph.most_probable({"a": 0}), graph.most_probable({"a": 0}, **ASKED)
    assert exact.upper_bound == exact.log_score
    assert found.log_score <= exact.log_score <= found.upper_bound < inf
    assert "No log score is above" in str(found)
    assert "Approximate, by weighing" in str(found)
    assert "Another configuration" not in str(found)
    assert set(found.to_frame("pandas")["approximate"]) == {"weighing"}
    assert found.log_probability.bound == "estimate"
    field = MarkovField(graph.factors)
    lowest = field.minimise_energy(**ASKED)
    assert not lowest.exact
    assert lowest.lower_bound == pytest.approx(-found.upper_bound)
    assert field.minimise_energy().lower_bound == field.minimise_energy().energy


def test_configurations_of_rows_carry_their_bounds(graph):
    table = pa.table({"a": ["0", "1"]})
    exact, found = graph.most_probable(table), graph.most_probable(table, **ASKED)
    assert exact.exact
    assert not found.exact
    assert (found.log_score <= exact.log_score).all()
    assert (exact.log_score <= found.upper_bound).all()
    assert (exact.upper_bound == exact.log_score).all()
    assert found.states["approximate"].to_pylist() == ["weighing"] * 2
    assert_allclose(found.log_probability, found.log_score - exact.log_partition()[0], atol=0.3)


def test_draws_of_the_method_itself(graph):
    drawn = graph.sample(30, {"a": 1}, library="pandas", **ASKED)
    assert set(drawn["a"]) == {1}
    again = graph.sample(30, {"a": 1}, library="pandas", **ASKED)
    assert drawn.equals(again)


def test_auto_never_takes_a_method_that_is_not_exact():
    large = grid(8, 60)
    memory = int(large.junction_tree().bytes / 2)
    with pytest.raises(GraphTooLarge, match=r"use an approximate method: 'weighing'\.$"):
        large.query(memory=memory)
    assert large.query("0,0", memory=memory).method == "elimination"
    small = FactorGraph([Factor([Variable("a", 2)], [1.0, 2.0])])
    for found in (small.query(), small.most_probable()):
        assert found.exact
        assert found.method == "tree"
    assert small.query(given=pd.DataFrame({"a": [0]})).method == "junction-tree"


@pytest.mark.parametrize("method", ["auto", "junction-tree"])
def test_settings_that_a_method_has_no_use_for_are_refused(graph, method):
    with pytest.raises(InvalidInput, match=r"options=Weighing\(…\).*none, because it has no"):
        graph.query(method=method, options=Weighing())
    table = pd.DataFrame({"a": [0]})
    for given in (None, table):
        with pytest.raises(InvalidInput, match=r"seconds=2 was given.*exact.*'weighing'"):
            graph.query(given=given, method=method, seconds=2)


def test_settings_of_the_method_are_checked(graph):
    with pytest.raises(InvalidInput, match=r"seconds=0.*above 0"):
        graph.query(seconds=0, **ASKED)
    with pytest.raises(InvalidInput, match=r"options=Request\(…\).*Weighing\(…\) was expected"):
        graph.query(options=Request(), **ASKED)


def test_rows_share_the_time_and_one_stream_of_random_numbers(graph, monkeypatch):
    asked = []

    def keeping(graph, request):
        asked.append(request)
        return marginals(graph, request)

    kept = InferenceMethod(words="kept", marginals=keeping, options=Weighing)
    monkeypatch.setitem(INFERENCE, "kept", kept)
    table = pd.DataFrame({"a": [0, 1, None]})
    graph.query("b", table, method="kept", seconds=30.0, random_state=1)
    assert [round(request.seconds) for request in asked] == [10, 15, 30]
    assert len({id(request.random_state) for request in asked}) == 1


def test_a_question_that_a_method_does_not_answer_names_those_that_do(graph, monkeypatch):
    monkeypatch.setitem(INFERENCE, "cut", InferenceMethod(words="a cut", best=best))
    assert not graph.most_probable(method="cut").exact
    for verb in (graph.query, graph.log_partition, lambda **given: graph.sample(2, **given)):
        with pytest.raises(NotAnswered, match=r"'cut' gives no .*tree, junction-tree, .*weighing"):
            verb(method="cut")
    with pytest.raises(NotAnswered, match=r"gives no log Z"):
        _ = graph.most_probable(method="cut").log_probability


def rough(words="rough", **exactness):
    """A method that gives uniform marginals, first states and −99, and says no more of them."""
    said = {"exactness": Exactness(**exactness)} if exactness else {}

    def marginals(graph, request):
        even = {v.name: np.full(v.n_states, 1 / v.n_states) for v in graph.variables}
        return InferenceAnswer(even, {}, *([] if said else [-99.0]), **said)

    return InferenceMethod(
        words=words,
        marginals=marginals,
        best=lambda graph, request: BestStates(dict.fromkeys(graph.names, 0), True),
        partition=lambda graph, request: -99.0,
    )


def test_a_method_that_does_not_say_how_exact_it_is_is_not(graph, monkeypatch):
    monkeypatch.setitem(INFERENCE, "rough", rough())
    table = pa.table({"a": ["0", "1"]})
    found, best = graph.query(method="rough"), graph.most_probable(method="rough")
    log_z = graph.log_partition(method="rough")
    assert (found.exact, best.exact, log_z.exact) == (False, False, False)
    assert (found.bound, log_z.bound, found.log_evidence.bound) == ("estimate",) * 3
    assert found.log_evidence.standard_error is None
    assert found.standard_error("b") is None
    assert best.upper_bound == inf
    rows, states = (
        graph.query(given=table, method="rough"),
        graph.most_probable(table, method="rough"),
    )
    assert (rows.exact, states.exact) == (False, False)
    assert rows.bounds == ("estimate",) * 2
    assert np.isnan(rows.standard_errors("b")).all()
    assert np.isnan(rows.log_evidence_errors).all()
    assert states.upper_bound.tolist() == [inf, inf]


def test_an_answer_without_log_z_has_no_log_evidence(graph, monkeypatch):
    method = rough(exact=False, bound="estimate", log_partition_error=0.1)
    monkeypatch.setitem(INFERENCE, "rough", method)
    found = graph.query(method="rough")
    assert found.bound == "none"
    assert found.exactness.log_partition_error is None
    with pytest.raises(NotAnswered, match="one is not known"):
        _ = found.log_evidence


def test_an_answer_that_is_not_exact_knows_no_log_z_unless_it_says_so():
    assert Exactness(False).bound == "none"
    assert Exactness(False, bound="upper").log_partition_error is None
    assert Exactness().log_partition_error == 0.0


def test_log_z_and_the_lowest_energy_say_whether_the_method_has_converged(graph):
    with pytest.warns(UnconvergedAnswer, match="weighing"):
        log_z = graph.log_partition(options=Weighing(draws=50), **ASKED)
    assert not log_z.exactness.converged
    field = MarkovField(graph.factors)
    assert field.minimise_energy(**ASKED).converged
    assert not field.minimise_energy(**ASKED).exactness.exact
    assert field.minimise_energy().exactness.exact


def test_rows_that_are_too_large_a_question_name_an_approximate_method():
    large = grid(8, 60)
    memory, table = int(large.junction_tree().bytes / 2), pd.DataFrame({"0,0": [0, 1]})
    for ask in (large.query, large.most_probable):
        with pytest.raises(GraphTooLarge, match=r"use an approximate method: 'weighing'\.$"):
            ask(given=table, memory=memory)


def test_a_difference_of_two_bounds_in_one_direction_is_refused():
    upper, lower = (LogPartition(3.0, Exactness(False, bound=b)) for b in ("upper", "lower"))
    exact = LogPartition(1.0)
    assert upper.minus(exact).bound == "upper"
    assert exact.minus(upper).bound == "lower"
    assert upper.minus(lower).bound == "upper"
    assert lower.minus(upper).bound == "lower"
    assert exact.minus(exact).exact
    estimate = LogPartition(2.0, Exactness(False, bound="estimate", log_partition_error=0.3))
    other = LogPartition(1.0, Exactness(False, bound="estimate", log_partition_error=0.4))
    assert estimate.minus(other).standard_error == pytest.approx(0.5)
    unknown = LogPartition(nan, Exactness(False, bound="none", log_partition_error=None))
    for a, b in [(upper, upper), (lower, lower), (estimate, upper), (exact, unknown)]:
        with pytest.raises(NotAnswered, match=r"bounds nothing.*junction-tree"):
            a.minus(b)
    assert json.dumps(exact) == "1.0"
