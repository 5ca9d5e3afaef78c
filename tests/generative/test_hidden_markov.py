"""Hidden Markov models: learned by EM, equal to enumeration, and laws of sequences."""

import warnings
from itertools import product

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from likely import GaussianMixture, MixtureModel
from likely.compute.executor import Serial, Threads
from likely.data import block
from likely.distributions import (
    Categorical,
    CategoricalFamily,
    DiagonalFamily,
    DiagonalGaussian,
    FullGaussian,
    Poisson,
)
from likely.errors import (
    CollapsedComponent,
    ImpossibleEvidence,
    InvalidInput,
    RedundantColumns,
    UnknownName,
)
from likely.generative.hidden_markov import HiddenMarkovModel
from likely.graphical.contract import Request
from likely.graphical.exact.enumeration import Enumeration
from likely.special import logsumexp
from tests.fits import assert_same_fit, binary, codes, counts, gappy_numbers, mixed, numbers, times

LENGTHS = np.array([30, 1, 0, 25, 34])


def model(event="auto", covariance="full", n_states=2, **options):
    chosen = {"random_state": 0, "n_init": 2, "tol": 1e-7, **options}
    return HiddenMarkovModel(n_states, event, covariance, **chosen)


FITS = {
    "full": (model(), numbers),
    "tied": (model(covariance="tied"), numbers),
    "diagonal": (model(covariance="diagonal"), numbers),
    "spherical": (model(covariance="spherical"), numbers),
    "full-gaps": (model(), gappy_numbers),
    "diagonal-gaps": (model(covariance="diagonal"), gappy_numbers),
    "categorical": (model("categorical", n_states=3), codes),
    "bernoulli": (model("bernoulli"), binary),
    "poisson": (model("poisson"), counts),
    "multinomial": (model("multinomial"), counts),
    "exponential": (model("exponential"), times),
    "laplace": (model("laplace"), numbers),
    "mixed": (model({"rooms": "poisson"}), mixed),
    "one": (model(n_states=1), numbers),
}
every_fit = pytest.mark.parametrize("name", FITS)


def data(name, seed=0, n=90):
    return FITS[name][1](np.random.default_rng(seed), n)[0]


def rows(X, index):
    return X.iloc[index].reset_index(drop=True) if isinstance(X, pd.DataFrame) else X[index]


def fitted(name, X=None, lengths=LENGTHS, **options):
    X = data(name) if X is None else X
    return clone(FITS[name][0]).set_params(**options).fit(X, lengths=lengths)


def reordered(lengths, order):
    """The rows of the sequences in another order, and their lengths."""
    edges = np.concatenate([[0], np.cumsum(lengths)])
    index = np.concatenate([np.arange(edges[s], edges[s + 1]) for s in order])
    return index.astype(int), lengths[order]


def settled(one, other, tolerance=1e-9):
    assert_same_fit(one, other, rtol=tolerance, atol=tolerance)
    for name in ("start_probability_", "transition_probability_"):
        assert_allclose(getattr(one, name), getattr(other, name), atol=tolerance)


# ── answers ──────────────────────────────────────────────────────────────────────────────────


@every_fit
def test_answers_equal_a_sum_over_all_paths(name):
    ours = fitted(name)
    X = rows(data(name, seed=1), np.arange(5))
    emission = ours.distribution_.log_prob(ours._mapped(stored, X, None)[0][0])
    k = ours.n_states
    with np.errstate(divide="ignore"):
        start, transition = np.log(ours.start_probability_), np.log(ours.transition_probability_)
    paths = np.array(list(product(range(k), repeat=5)))
    joint = start[paths[:, 0]] + emission[np.arange(5), paths].sum(axis=1)
    joint += transition[paths[:, :-1], paths[:, 1:]].sum(axis=1)
    total = logsumexp(joint)
    posterior = np.exp(joint - total)
    marginal = np.stack([[posterior[paths[:, t] == s].sum() for s in range(k)] for t in range(5)])
    assert_allclose(ours.score_samples(X), [total], rtol=1e-10)
    assert_allclose(ours.log_likelihood(X), total, rtol=1e-10)
    assert_allclose(ours.predict_proba(X), marginal, rtol=1e-10, atol=1e-10)
    assert_array_equal(ours.predict(X), paths[joint.argmax()])
    assert_allclose(ours.most_probable(X).log_score, joint.max(), rtol=1e-10)
    before = [ours.log_likelihood(rows(X, np.arange(t))) if t else 0.0 for t in range(6)]
    assert_allclose(ours.log_likelihoods(X), np.diff(before), rtol=1e-8, atol=1e-9)


def stored(family, hidden, block):
    return block.X.stored()


@every_fit
def test_the_factor_graph_has_the_same_answers(name):
    ours, lengths = fitted(name), [3, 0, 2]
    X = rows(data(name, seed=2), np.arange(5))
    graph = ours.factor_graph(X, lengths)
    answer = Enumeration().answer(graph, Request(graph.names))
    assert_allclose(answer.log_partition, ours.score_samples(X, lengths).sum(), rtol=1e-10)
    beliefs = ours.query(X, lengths)
    for name_, row in zip(graph.names, ours.predict_proba(X, lengths), strict=True):
        assert_allclose(answer.marginals[name_], row, rtol=1e-10, atol=1e-10)
        assert_array_equal(beliefs.marginal(name_), row)
    assert_allclose(beliefs.log_evidence, answer.log_partition, rtol=1e-10)
    best = Enumeration().most_probable(graph, Request())
    found = ours.most_probable(X, lengths)
    assert found.unique == best.unique
    assert {n: int(state) for n, state in found.states.items()} == dict(best.codes)
    assert_allclose(found.log_score, graph.log_value(found.states), rtol=1e-12)
    assert_allclose(
        found.log_probability, found.log_score - answer.log_partition, rtol=1e-9, atol=1e-9
    )


def test_sequences_of_one_row_are_a_mixture():
    """EM takes the same steps; the transitions are never used."""
    X = data("full")
    labels = np.arange(90) % 2
    options = {"start": labels, "max_iter": 20, "tol": -1.0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        ours = model(start_smoothing=0.0, transition_smoothing=0.0, **options)
        ours.fit(X, lengths=np.ones(90))
        theirs = GaussianMixture(2, **options).fit(X)
    assert_allclose(ours.solution_.trace, theirs.solution_.trace, rtol=1e-10)
    assert_allclose(ours.start_probability_, theirs.weights_, rtol=1e-8)
    assert_allclose(ours.score_samples(X, np.ones(90)), theirs.score_samples(X), rtol=1e-8)
    assert_allclose(ours.predict_proba(X, np.ones(90)), theirs.predict_proba(X), atol=1e-8)


def test_one_state_is_one_component():
    X = data("mixed")
    ours = model({"rooms": "poisson"}, "diagonal", n_states=1).fit(X)
    theirs = MixtureModel(1, {"rooms": "poisson"}).fit(X)
    assert_allclose(ours.log_likelihood(X), theirs.log_likelihood(X), rtol=1e-12)
    assert_allclose(ours.score(X), theirs.score(X), rtol=1e-12)
    assert_array_equal(ours.predict(X), 0)
    assert ours.n_parameters() == theirs.n_parameters()


# ── learning ─────────────────────────────────────────────────────────────────────────────────


@every_fit
def test_the_penalised_likelihood_never_falls(name):
    ours = fitted(name)
    for trace in ours.log_likelihood_traces_:
        assert (np.diff(trace) >= -1e-9 * np.abs(trace[:-1])).all()
    assert ours.converged_


def casino():
    """A fair die, and a loaded one."""
    table = np.array([[1 / 6] * 6, [0.1] * 5 + [0.5]])
    return [0.5, 0.5], [[0.95, 0.05], [0.1, 0.9]], Categorical.from_probability(table)


TRUTHS = {
    "casino": casino(),
    "gaussian": (
        [0.2, 0.8],
        [[0.9, 0.1], [0.3, 0.7]],
        FullGaussian(
            np.array([[0.0, 0.0], [2.0, 1.0]]),
            np.array([[[1.0, 0.5], [0.5, 1.0]], [[0.5, 0.0], [0.0, 2.0]]]),
        ),
    ),
    "one mean": (
        [0.5, 0.5],
        [[0.95, 0.05], [0.1, 0.9]],
        DiagonalGaussian([[0.0], [0.0]], [[1.0], [9.0]]),
    ),
    "poisson": ([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], Poisson(np.array([[2.0], [7.0]]))),
}


@pytest.mark.parametrize(
    "name", [pytest.param("casino", marks=pytest.mark.slow), "gaussian", "one mean"]
)
def test_parameters_are_recovered(name):
    truth = HiddenMarkovModel.from_parameters(*TRUTHS[name])
    lengths = np.full(100, 200)
    X, state = truth.sample(lengths, random_state=0)
    ours = model(truth.event, random_state=1).fit(X, lengths=lengths)
    order = [0, 1]
    if (ours.predict(X, lengths) == state).mean() < 0.5:
        order = [1, 0]
    transition = ours.transition_probability_[np.ix_(order, order)]
    assert_allclose(transition, truth.transition_probability_, atol=0.03)
    for column in range(truth.n_features_in_):
        found, expected = ours.parameters(column), truth.parameters(column)
        for key in set(expected) - {"categories"}:
            assert_allclose(found[key][order], expected[key], rtol=0.06, atol=0.12)
    assert ours.log_likelihood(X, lengths=lengths) >= truth.log_likelihood(X, lengths=lengths)


def test_states_may_outnumber_the_distinct_rows():
    """Two values of a coin, three states: what is seen depends on where the chain is."""
    cycle = [[0.1, 0.9, 0.0], [0.0, 0.1, 0.9], [0.9, 0.0, 0.1]]
    coin = Categorical.from_probability(np.array([[0.9, 0.1], [0.9, 0.1], [0.1, 0.9]]))
    truth = HiddenMarkovModel.from_parameters([1, 0, 0], cycle, coin)
    X, _ = truth.sample(1500, random_state=0)
    three = model("categorical", n_states=3, tol=1e-5).fit(X)
    assert three.log_likelihood(X) > truth.log_likelihood(X) - 5.0  # pseudo-counts
    assert three.bic(X) < model("categorical", n_states=1).fit(X).bic(X) - 100


def test_known_states_are_counted():
    """With every state known, EM has nothing to do: starts, moves and moments of each state."""
    X, lengths = data("diagonal"), np.array([40, 50])
    states = np.arange(90) // 10 % 2
    ours = model(covariance="diagonal", start_smoothing=0.5, transition_smoothing=2.0)
    ours.fit(X, lengths=lengths, states=states)
    assert_allclose(ours.start_probability_, [0.5 + 2, 0.5] / np.array(3.0))
    moves = np.full((2, 2), 2.0)
    for a, b in [(0, 40), (40, 90)]:
        np.add.at(moves, (states[a : b - 1], states[a + 1 : b]), 1.0)
    assert_allclose(ours.transition_probability_, moves / moves.sum(axis=1, keepdims=True))
    for s in (0, 1):
        assert_allclose(ours.parameters(0)["mean"][s], X[states == s, 0].mean(), rtol=1e-9)
    assert ours.n_iter_ <= 2


def test_some_known_states_name_the_others():
    truth = HiddenMarkovModel.from_parameters(*TRUTHS["gaussian"])
    X, state = truth.sample(2000, random_state=0)
    few = np.where(np.arange(2000) % 20 == 0, state, -1)
    for flip in (False, True):
        given = np.where(few < 0, -1, 1 - few if flip else few)
        ours = model("gaussian").fit(X, states=given)
        mean = ours.parameters(0)["mean"]
        assert_allclose(mean[::-1] if flip else mean, [0.0, 2.0], atol=0.15)
    named = pd.DataFrame(X, columns=["a", "b"]).assign(z=np.where(few < 0, np.nan, few))
    settled(model("gaussian").fit(named, states="z"), model("gaussian").fit(X, states=few))


# ── laws of sequences ────────────────────────────────────────────────────────────────────────


@pytest.mark.diagonal(2)
@every_fit
def test_the_order_of_sequences_does_not_matter(name):
    X, order = data(name), np.array([4, 2, 0, 3, 1])
    index, lengths = reordered(LENGTHS, order)
    settled(fitted(name, rows(X, index), lengths), fitted(name, X))


@pytest.mark.diagonal(2)
@every_fit
def test_weight_two_is_the_sequence_twice_and_weight_zero_the_sequence_absent(name):
    X, weight = data(name), np.array([2, 1, 1, 3, 0])
    weighted = clone(FITS[name][0]).fit(X, lengths=LENGTHS, sample_weight=weight)
    index, lengths = reordered(LENGTHS, np.repeat(np.arange(5), weight))
    repeated = fitted(name, rows(X, index), lengths)
    settled(repeated, weighted)
    by_row = np.repeat(weight, LENGTHS)
    settled(clone(FITS[name][0]).fit(X, lengths=LENGTHS, sample_weight=by_row), weighted)
    assert_allclose(
        weighted.log_likelihood(X, sample_weight=weight, lengths=LENGTHS),
        repeated.log_likelihood(rows(X, index), lengths=lengths),
        rtol=1e-10,
    )


@pytest.mark.diagonal(2)
@every_fit
def test_any_cut_and_any_executor_give_the_same_fit(name, monkeypatch):
    X, whole = data(name), fitted(name, executor=Serial())
    said = whole.predict_proba(X, LENGTHS)
    for size in (1, 31):
        monkeypatch.setattr(block, "block_rows", lambda *shape, size=size: size)
        ours = fitted(name, executor=Threads(2))
        settled(ours, whole)
        assert_allclose(ours.predict_proba(X, LENGTHS), said, rtol=1e-9, atol=1e-9)
        assert_array_equal(ours.predict(X, LENGTHS), whole.predict(X, LENGTHS))


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_equal_arrays(library):
    X = data("full")
    frame = pd.DataFrame(X, columns=list("abc"))
    if library != "pandas":
        made = pytest.importorskip(library)
        frame = made.from_pandas(frame) if library == "polars" else made.Table.from_pandas(frame)
    ours = fitted("full", frame)
    settled(ours, fitted("full"))
    assert type(ours.sample(3, random_state=0)[0]) is type(frame)


def test_missing_cells_carry_no_evidence():
    """A row of nothing is a step of the chain without an observation."""
    truth = HiddenMarkovModel.from_parameters(*TRUTHS["gaussian"])
    X, _ = truth.sample(6, random_state=0)
    X[2] = np.nan
    assert truth.log_likelihoods(X)[2] == pytest.approx(0.0, abs=1e-12)
    start, transition = truth.start_probability_, truth.transition_probability_
    twice = np.exp(truth.chain_.log_start) @ transition
    gone = truth.predict_proba(np.full((2, 2), np.nan))
    assert_allclose(gone, [start, twice], rtol=1e-12)


def test_an_unknown_category_carries_no_evidence():
    truth = HiddenMarkovModel.from_parameters(*casino())
    with pytest.warns(UserWarning, match="not seen in training"):
        found = truth.predict_proba([[9]])
    assert_allclose(found, [[0.5, 0.5]])


# ── starts ───────────────────────────────────────────────────────────────────────────────────


def test_a_start_may_be_a_model_labels_or_soft_labels():
    X, best = data("full"), fitted("full")
    with pytest.warns(ConvergenceWarning, match="max_iter=0"):
        settled(fitted("full", start=best, max_iter=0), best)
    again = fitted("full", start=best)
    assert again.n_iter_ <= 2
    labels = best.predict(X, LENGTHS)
    for start in (labels, np.eye(2)[labels]):
        settled(fitted("full", start=start), best, tolerance=1e-4)
    weight = np.array([1, 1, 1, 0, 2])
    kept = model(start=labels).fit(X, lengths=LENGTHS, sample_weight=weight)
    index, lengths = reordered(LENGTHS, np.array([0, 1, 4, 4]))
    settled(kept, model(start=labels[index]).fit(X[index], lengths=lengths))


@pytest.mark.parametrize(
    ("start", "message"),
    [
        (HiddenMarkovModel(2), "not fitted"),
        (GaussianMixture(2), "a fitted HiddenMarkovModel were expected"),
        (HiddenMarkovModel(3).fit(data("full")), "start has 3 states; n_states is 2"),
        (HiddenMarkovModel(2).fit(data("full")[:, :2]), "of 2 columns and X has 3"),
        (HiddenMarkovModel(2, covariance="tied").fit(data("full")), "other event models"),
        (np.zeros(90), "gives component 1 no row"),
        (np.zeros(9), "start has 9 rows and X has 90"),
    ],
    ids=["unfitted", "mixture", "states", "columns", "covariance", "empty", "short"],
)
def test_other_starts_are_refused(start, message):
    with pytest.raises(InvalidInput, match=message):
        fitted("full", start=start)


def test_a_zero_in_the_start_cannot_be_smoothed():
    truth = HiddenMarkovModel.from_parameters(*TRUTHS["gaussian"])
    ends = HiddenMarkovModel.from_parameters(
        [1.0, 0.0], [[0.5, 0.5], [0.0, 1.0]], TRUTHS["gaussian"][2]
    )
    X, _ = truth.sample(50, random_state=0)
    with pytest.raises(InvalidInput, match=r"probability of 0.*start_smoothing=0"):
        model(truth.event, start=ends).fit(X)
    with pytest.raises(InvalidInput, match=r"transition_smoothing=0"):
        model(truth.event, start=ends, start_smoothing=0.0).fit(X)
    kept = model(truth.event, start=ends, start_smoothing=0.0, transition_smoothing=0.0).fit(X)
    assert kept.transition_probability_[1, 0] == 0.0
    assert_array_equal(kept.start_probability_, [1.0, 0.0])
    with pytest.warns(ConvergenceWarning, match="likelihood is not finite"):
        model(truth.event, start=ends, max_iter=0).fit(X)


def test_a_collapsed_state_is_named():
    X = np.concatenate([np.random.default_rng(0).normal(size=80), np.full(40, 3.0)])[:, None]
    with pytest.warns(CollapsedComponent, match=r"States \d collapsed.*fewer than 2 states"):
        model().fit(X)


def test_a_search_that_is_cut_short_says_so():
    with pytest.warns(ConvergenceWarning, match="max_iter=2 was reached"):
        model("categorical", max_iter=2).fit(data("categorical"))


# ── refusals ─────────────────────────────────────────────────────────────────────────────────


def test_an_impossible_sequence_is_named():
    table = Categorical.from_probability(np.array([[1.0, 0.0], [0.0, 1.0]]))
    ends = HiddenMarkovModel.from_parameters([1.0, 0.0], [[0.5, 0.5], [0.0, 1.0]], table)
    X = [[0], [1], [0], [0], [1], [0]]  # back to 0 from 1 in the last sequence
    lengths = [2, 1, 3]
    assert_array_equal(ends.score_samples(X, lengths) == -np.inf, [False, False, True])
    assert ends.log_likelihood(X, lengths=lengths) == -np.inf
    for ask in (ends.predict, ends.predict_proba, ends.query, ends.most_probable):
        with pytest.raises(ImpossibleEvidence, match="Sequence 2 has probability 0") as caught:
            ask(X, lengths)
        assert caught.value.sequence == 2
    again = HiddenMarkovModel(
        2,
        CategoricalFamily((2,)),
        start=ends,
        smoothing=0.0,
        start_smoothing=0.0,
        transition_smoothing=0.0,
    )
    with pytest.raises(ImpossibleEvidence, match="Sequence 2"):
        again.fit(X, lengths=lengths)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_states": 0}, "n_states must be a whole number, at least 1"),
        ({"n_states": True}, "n_states must be a whole number"),
        ({"n_init": 0}, "n_init must be"),
        ({"max_iter": -1}, "max_iter must be"),
        ({"tol": "small"}, "tol must be"),
        ({"start_smoothing": -1.0}, "start_smoothing must be a finite number, 0 or more"),
        ({"transition_smoothing": np.nan}, "transition_smoothing must be"),
        ({"regularisation": -1}, "regularisation must be"),
        ({"smoothing": -1}, "smoothing must be finite"),
    ],
)
def test_bad_arguments_are_refused(options, message):
    with pytest.raises(InvalidInput, match=message):
        fitted("full", **options)


def test_a_misspelt_choice_is_answered_with_the_nearest():
    with pytest.raises(UnknownName, match="Did you mean 'diagonal'"):
        fitted("full", covariance="diagnal")
    with pytest.raises(UnknownName, match="Did you mean 'poisson'"):
        fitted("full", event="poison")
    with pytest.raises(UnknownName, match="executor"):
        fitted("full", executor="thread")


def test_lengths_that_do_not_add_up_are_refused():
    ours = fitted("full")
    with pytest.raises(InvalidInput, match="adds up to 91 and X has 90 rows"):
        fitted("full", lengths=[91])
    with pytest.raises(InvalidInput, match="adds up to 2 and X has 90 rows"):
        ours.predict(data("full"), [1, 1])
    with pytest.raises(InvalidInput, match="X is a file"):
        model().fit("rows.csv")
    with pytest.raises(InvalidInput, match=r"Row 1, column 'x0'.*infinity"):
        ours.predict(np.array([[0.0, 0, 0], [np.inf, 0, 0]]))


def test_groups_of_rows_are_the_lengths_of_their_runs():
    X, lengths = data("full"), [30, 25, 35]
    group = np.repeat(["b", "a", "c"], lengths)
    frame = pd.DataFrame(X, columns=list("uvw")).assign(who=group)
    ours, by_name = fitted("full", lengths=lengths), model().fit(frame, groups="who")
    assert_same_fit(model().fit(X, groups=group), ours)
    assert_allclose(by_name.components_.log_mixing, ours.components_.log_mixing, rtol=1e-12)
    asked = ("predict", "predict_proba", "score_samples", "log_likelihoods", "log_likelihood",
             "score", "aic", "bic")  # fmt: skip
    for name in asked:
        expected = getattr(ours, name)(X, lengths=lengths)
        assert_allclose(getattr(ours, name)(X, groups=pd.Series(group)), expected, rtol=1e-12)
        assert_allclose(getattr(by_name, name)(frame, groups="who"), expected, rtol=1e-9)
    assert_array_equal(model().fit_predict(X, groups=group), ours.predict(X, lengths))
    added = [
        ours.explain(X, **each).contributions for each in ({"groups": group}, {"lengths": lengths})
    ]
    assert_array_equal(*added)
    assert ours.query(X, groups=group).log_partition == ours.query(X, lengths).log_partition
    best = ours.most_probable(X, groups=group).states
    assert best == ours.most_probable(X, lengths).states
    assert ours.factor_graph(X, groups=group).names == ours.factor_graph(X, lengths).names
    assert len(model().em_steps(X, groups=group)) == len(model().em_steps(X, lengths=lengths))


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (np.repeat(["a", "b", "a"], 30), "The sequence a of groups goes on at row 60.*Sort"),
        (np.zeros(89), "groups has 89 entries and X has 90 rows"),
        ([None, *["a"] * 89], "groups is missing at row 0"),
        (np.r_[np.zeros(89), np.nan], "groups is missing at row 89"),
        (pd.Series(["a"] * 89 + [pd.NA], dtype="string"), "groups is missing at row 89"),
        (np.array(["2026-01-01"] * 89 + ["NaT"], "M8[ns]"), "groups is missing at row 89"),
        ("who", r"groups has the shape \(\)"),
    ],
)
def test_groups_that_are_no_runs_are_refused(groups, message):
    with pytest.raises(InvalidInput, match=message):
        model().fit(data("full"), groups=groups)
    with pytest.raises(InvalidInput, match="lengths and groups were given"):
        model().fit(data("full"), lengths=[90], groups=np.zeros(90))


# ── the surface ──────────────────────────────────────────────────────────────────────────────


def test_draws_have_the_law_of_the_model():
    truth = HiddenMarkovModel.from_parameters(*TRUTHS["gaussian"])
    X, state = truth.sample([20_000, 0, 1], random_state=0)
    assert X.shape == (20_001, 2)
    assert_allclose(X[state == 1].mean(axis=0), [2.0, 1.0], atol=0.05)
    assert_allclose(np.bincount(state) / 20_001, np.exp(truth.components_.log_mixing), atol=0.02)
    again, _ = truth.sample([20_000, 0, 1], random_state=0)
    assert_array_equal(X, again)
    assert truth.sample(0)[0].shape == (0, 2)
    with pytest.raises(InvalidInput, match=r"n_samples is -1"):
        truth.sample(-1)
    with pytest.raises(InvalidInput, match=r"n_samples is 2\.5"):
        truth.sample(2.5)


def test_parameters_and_criteria_are_counted():
    truth = HiddenMarkovModel.from_parameters(*TRUTHS["gaussian"])
    assert truth.n_parameters() == 1 + 2 + 2 * (2 + 3)
    X, _ = truth.sample(50, random_state=0)
    log_likelihood = truth.log_likelihood(X)
    assert_allclose(truth.aic(X), -2 * log_likelihood + 2 * 13)
    assert_allclose(truth.bic(X), -2 * log_likelihood + np.log(50) * 13)
    assert_allclose(truth.score(X), log_likelihood / 50)


def test_a_description_shows_states_and_transitions():
    ours = fitted("mixed")
    text = str(ours.describe())
    assert text.startswith("HiddenMarkovModel: 2 states, 4 columns")
    assert "Probability of the first state, and of the next one" in text
    found = ours.describe().to_json()["transitions"]
    assert_allclose([sum(row["to"].values()) for row in found], 1.0)
    assert_allclose(sum(row["start"] for row in found), 1.0)
    assert str(ours.columns_read()) == "1 bernoulli, 1 categorical, 1 gaussian, 1 poisson"
    assert set(ours.parameters("rooms")) == {"rate"}
    assert list(ours.informative_features(top=1)) == [0, 1]


@pytest.mark.parametrize(
    ("start", "transition", "message"),
    [
        ([0.5, 0.6], np.eye(2), r"start must be 0 or more and sum to 1; row 0 is \[0\.5, 0\.6\]"),
        ([0.5, 0.5], [[1.0, 0.0], [0.5, 0.4]], r"transition must be.*row 1 is \[0\.5, 0\.4\]"),
        ([1.5, -0.5], np.eye(2), "start must be 0 or more"),
        (
            [0.5, 0.5],
            np.eye(3),
            r"start has 2 states, transition the shape \(3, 3\) and emission 2",
        ),
        ([0.5, 0.5], [1.0, 0.0], r"transition has the shape \(2,\)"),
        ("even", np.eye(2), "start has the shape"),
    ],
)
def test_given_parameters_are_checked(start, transition, message):
    with pytest.raises(InvalidInput, match=message):
        HiddenMarkovModel.from_parameters(start, transition, casino()[2])


def test_a_given_model_can_be_fitted_again():
    truth = HiddenMarkovModel.from_parameters(*TRUTHS["one mean"])
    assert isinstance(truth.event, DiagonalFamily)
    assert truth.describe().n_iter is None
    X, _ = truth.sample(300, random_state=0)
    ours = clone(truth).set_params(random_state=0).fit(X)
    assert ours.log_likelihood(X) > truth.log_likelihood(X) - 5.0


def test_inference_in_the_graph_gives_the_same_answers():
    """By whichever method the graph chooses, on a chain of 60 rows."""
    truth = HiddenMarkovModel.from_parameters(*casino())
    X, _ = truth.sample([40, 20], random_state=0)
    graph = truth.factor_graph(X, [40, 20])
    ours, theirs = truth.query(X, [40, 20]), graph.query()
    for name in graph.names:
        assert_allclose(ours.marginal(name), theirs.marginal(name), rtol=1e-10, atol=1e-10)
    assert_allclose(ours.log_partition, graph.log_partition(), rtol=1e-12)
    best, found = graph.most_probable(), truth.most_probable(X, [40, 20])
    assert_allclose(found.log_score, best.log_score, rtol=1e-12)
    assert found.states == best.states or not best.unique


def test_lengths_in_the_place_of_y_are_noticed():
    ours, X = fitted("full"), data("full")
    for ask in (model().fit, ours.score, ours.log_likelihood, ours.log_likelihoods):
        with pytest.raises(InvalidInput, match=r"y has 2 entries and X has 90 rows.*by name"):
            ask(X, [45, 45])
    ours.score(X, np.arange(90))  # a y of each row is ignored, as in every mixture


@pytest.mark.parametrize("covariance", ["full", "tied", "diagonal", "spherical"])
def test_rows_without_any_spread_have_nothing_to_separate(covariance):
    with pytest.warns(RedundantColumns, match="'x0', 'x1' are constant.*density is 1 everywhere"):
        ours = model(covariance=covariance).fit(np.ones((20, 2)))
    assert np.isfinite(ours.score(np.ones((20, 2))))
    assert_allclose(ours.predict_proba(np.ones((3, 2))).sum(axis=1), 1.0)


@pytest.mark.parametrize("covariance", ["full", "diagonal"])
def test_numbers_whose_squares_underflow_are_refused(covariance):
    X = 1e-200 * np.random.default_rng(0).normal(size=(40, 1))
    with pytest.raises(InvalidInput, match=r"'x0'.*underflow.*Multiply it"):
        model(covariance=covariance).fit(X)


@pytest.mark.parametrize("covariance", ["full", "diagonal"])
def test_a_column_without_any_value_is_named(covariance):
    X = np.column_stack([np.random.default_rng(0).normal(size=30), np.full(30, np.nan)])
    with pytest.warns(RedundantColumns, match="'x1' is constant or missing in all rows"):
        wide = model(covariance=covariance).fit(X)
    plain = model(covariance=covariance).fit(X[:, :1])
    assert_allclose(wide.score(X), plain.score(X[:, :1]), rtol=1e-6)
    with pytest.warns(RedundantColumns, match="density is 1 everywhere"):
        model(covariance=covariance).fit(X[:, 1:])


@pytest.mark.parametrize("event", ["poisson", "categorical", "bernoulli", "exponential", "laplace"])
def test_a_column_without_any_value_is_named_for_every_event(event):
    values = np.random.default_rng(0).integers(1, 5, 30) % (2 if event == "bernoulli" else 5)
    X = np.column_stack([values.astype(float), np.full(30, np.nan)])
    with pytest.warns(RedundantColumns) as caught:
        model(event).fit(X)
    (message,) = (str(w.message) for w in caught if w.category is RedundantColumns)
    assert "Column 'x1' is" in message
    with pytest.warns(RedundantColumns, match="'x0', 'x1' are .*missing in all rows"):
        model(event).fit(np.full((30, 2), np.nan))
