"""Forward–backward and Viterbi: equal to enumeration, in any number of sequences, at any range."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from likely.graphical.contract import Request
from likely.graphical.exact import chain as module
from likely.graphical.exact.chain import Chain, readable_beliefs, sequence_sums
from likely.graphical.exact.enumeration import Enumeration


def log(values):
    with np.errstate(divide="ignore"):
        return np.log(values)


def some_chain(rng, n_states, zeros=0.0):
    """Random probabilities, some of them 0, but not all of a row."""
    table = rng.dirichlet(np.ones(n_states), n_states + 1)
    table = np.where(rng.random(table.shape) < zeros, 0.0, table)
    table[np.arange(n_states + 1), rng.integers(0, n_states, n_states + 1)] += 0.1
    table /= table.sum(axis=1, keepdims=True)
    return Chain(log(table[0]), log(table[1:]))


def some_emission(rng, n, n_states, zeros=0.0, scale=3.0):
    values = scale * rng.normal(size=(n, n_states)) - 5.0
    return np.where(rng.random(values.shape) < zeros, -np.inf, values)


@pytest.fixture(params=["readable", "compiled"])
def version(request, monkeypatch):
    """Both versions of the loops, whatever the size."""
    monkeypatch.setattr(module, "FAST_ROWS", 0 if request.param == "compiled" else 10**9)
    return request.param


def by_enumeration(chain, log_emission, lengths):
    """Marginals (n, K), expected transitions, log Z and the best score, sequence by sequence."""
    state, pairs, log_z, score = [], np.zeros(chain.log_transition.shape), [], []
    first = 0
    for length in lengths.tolist():
        rows = log_emission[first : first + length]
        first += length
        graph = chain.factor_graph(rows, np.array([length]))
        log_z.append(Enumeration().log_partition(graph, Request()) if length else 0.0)
        if log_z[-1] == -np.inf:
            state.append(np.full(rows.shape, np.nan))
            score.append(-np.inf)
            continue
        joints = tuple(zip(graph.names, graph.names[1:], strict=False))
        answer = Enumeration().answer(graph, Request(graph.names, joints))
        state += [answer.marginals[name] for name in graph.names]
        pairs += sum(answer.joints.values(), np.zeros(pairs.shape))
        best = Enumeration().most_probable(graph, Request()).codes if length else {}
        score.append(sum(factor.log_value(best) for factor in graph.factors))
    return np.vstack([*state, np.empty((0, len(pairs)))]), pairs, log_z, score


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n_states=st.integers(1, 4),
    lengths=st.lists(st.integers(0, 5), min_size=1, max_size=4),
    zeros=st.sampled_from([0.0, 0.3, 0.6]),
    compiled=st.booleans(),
)
def test_all_answers_equal_enumeration(seed, n_states, lengths, zeros, compiled):
    rng, lengths = np.random.default_rng(seed), np.array(lengths)
    chain = some_chain(rng, n_states, zeros)
    emission = some_emission(rng, int(lengths.sum()), n_states, zeros / 2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "FAST_ROWS", 0 if compiled else 10**9)
        found, paths = chain.beliefs(emission, lengths), chain.most_probable(emission, lengths)
    state, pairs, log_z, score = by_enumeration(chain, emission, lengths)
    assert_allclose(found.log_likelihood, log_z, rtol=1e-10, atol=1e-10)
    assert_allclose(found.state, state, rtol=1e-10, atol=1e-10)
    assert_allclose(found.pairs, pairs, rtol=1e-10, atol=1e-10)
    assert_allclose(paths.log_score, score, rtol=1e-10, atol=1e-10)
    assert_allclose(chain.log_score(emission, lengths, paths.state), score, rtol=1e-10, atol=1e-10)


def test_the_graph_of_several_sequences_is_the_product_of_their_graphs(version):
    rng, lengths = np.random.default_rng(0), np.array([2, 0, 3])
    chain, emission = some_chain(rng, 2), some_emission(rng, 5, 2)
    graph = chain.factor_graph(emission, lengths)
    assert graph.names == ("z0.0", "z0.1", "z2.0", "z2.1", "z2.2")
    assert graph.is_tree
    found = chain.beliefs(emission, lengths)
    answer = Enumeration().answer(graph, Request(graph.names))
    assert_allclose(answer.log_partition, found.log_likelihood.sum(), rtol=1e-12)
    assert_allclose(np.array(list(answer.marginals.values())), found.state, rtol=1e-12, atol=1e-12)


def test_the_compiled_loop_equals_the_readable_one_on_long_sequences(monkeypatch):
    rng, lengths = np.random.default_rng(1), np.array([400, 1, 0, 1000])
    chain, emission = some_chain(rng, 5), some_emission(rng, 1401, 5, scale=20.0)
    weight = np.array([1.0, 2.0, 3.0, 0.5])
    fast, path = chain.beliefs(emission, lengths, weight), chain.most_probable(emission, lengths)
    monkeypatch.setattr(module, "FAST_ROWS", 10**9)
    slow = chain.beliefs(emission, lengths, weight)
    for ours, theirs in zip(fast, slow, strict=True):
        assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)
    readable = chain.most_probable(emission, lengths)
    assert_array_equal(path.state, readable.state)
    assert_array_equal(path.unique, readable.unique)


def far_apart(rng, n, n_states, depth=2000.0):
    """Rows whose likelihoods lie up to e^depth apart, all of them tiny."""
    return -depth * rng.random((n, n_states)) - depth


@pytest.mark.parametrize("n", [2_000, 100_000])
def test_long_chains_of_tiny_likelihoods_lose_nothing(n):
    """The plain product would underflow at the first row: log p(x) is below −2000 n."""
    rng = np.random.default_rng(2)
    chain, emission = some_chain(rng, 4), far_apart(rng, n, 4)
    found = chain.beliefs(emission, np.array([n]))
    assert np.isfinite(found.log_likelihood).all()
    assert found.log_likelihood[0] < -2000.0 * n
    assert_allclose(found.state.sum(axis=1), 1.0, rtol=1e-12)
    assert_allclose(found.pairs.sum(), n - 1, rtol=1e-12)
    state, _, log_scale = readable_beliefs(chain, emission[:2000])
    assert_allclose(found.log_likelihoods[:2000], log_scale, rtol=1e-12)
    assert_allclose(
        found.state[:1990], state[:1990], rtol=1e-9, atol=1e-9
    )  # later rows know more here


CASES = {  # what linear arithmetic could not do
    "forbidden jump": ([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [0.5, 0.0, 0.5]], [0, 2, 0, 2, 1]),
    "left to right": ([[0.9, 0.1, 0.0], [0.0, 0.9, 0.1], [0.0, 0.0, 1.0]], [0, 0, 2, 1, 0]),
    "back to a lost state": ([[1.0, 0.0, 0.0], [0.0, 0.5, 0.5], [0.0, 0.5, 0.5]], [1, 2, 1, 0, 0]),
    "tiny transitions": ([[1 - 2e-300, 1e-300, 1e-300]] * 3, [0, 1, 2, 0, 1]),
}


@pytest.mark.parametrize("depth", [50.0, 700.0, 2000.0, 1e5])
@pytest.mark.parametrize("case", CASES)
def test_a_range_beyond_linear_arithmetic_is_noticed(case, depth):
    """Each row prefers a state by e^depth: paths win by what is forbidden, or seemed lost."""
    table, wanted = CASES[case]
    chain = Chain(log(np.ones(3) / 3), log(np.array(table)))
    emission = np.where(np.arange(3) == np.array(wanted * 80)[:, None], 0.0, -depth)
    lengths = np.array([len(emission)])
    found = chain.beliefs(emission, lengths)
    state, pairs, log_scale = readable_beliefs(chain, emission)
    assert_allclose(found.log_likelihood, log_scale.sum(), rtol=1e-12)
    assert_allclose(found.state, state, rtol=1e-10, atol=1e-10)
    assert_allclose(found.pairs, pairs, atol=1e-8)


def test_a_slowly_lost_state_comes_back():
    """A state at e^−40 per row for 50 rows is far below the smallest number, and then wins.

    No single row has a small likelihood, so that only a bound on what was lost can notice.
    """
    chain = Chain(log(np.array([0.5, 0.5])), log(np.eye(2)))
    emission = np.zeros((400, 2))
    emission[:50, 1] = -40.0
    emission[50:, 0] = -7.0
    found = chain.beliefs(emission, np.array([400]))
    assert_allclose(found.log_likelihood, np.log(0.5) - 2000.0, rtol=1e-12)
    assert_allclose(found.state[:, 1], 1.0)


@pytest.mark.parametrize("n", [3, 1000])
def test_an_impossible_sequence_is_known_and_the_others_are_answered(n, version):
    chain = Chain(log(np.array([1.0, 0.0])), log(np.array([[1.0, 0.0], [0.5, 0.5]])))
    emission = np.zeros((3 * n, 2))
    emission[n + 1, 0] = -np.inf  # only state 1 could be there, and nothing leads to it
    lengths = np.array([n, n, n])
    found, paths = chain.beliefs(emission, lengths), chain.most_probable(emission, lengths)
    assert_array_equal(found.log_likelihood, [0.0, -np.inf, 0.0])
    assert np.isneginf(found.log_likelihoods[n + 1 : 2 * n]).all()
    assert np.isnan(found.state[n : 2 * n]).all() and np.isfinite(found.state[:n]).all()
    assert_allclose(found.pairs, [[2.0 * (n - 1), 0.0], [0.0, 0.0]])
    assert_array_equal(paths.log_score, [0.0, -np.inf, 0.0])
    assert_array_equal(paths.state[n : 2 * n], -1)


def test_ties_are_seen(version):
    even = Chain(log(np.full(2, 0.5)), log(np.full((2, 2), 0.5)))
    level = np.zeros((4, 2))
    assert not even.most_probable(level, np.array([4])).unique[0]
    level[:, 1] = 1e-3
    assert even.most_probable(level, np.array([4])).unique[0]
    level[2, 1] = 0.0
    assert_array_equal(even.most_probable(level, np.array([2, 2])).unique, [True, False])


def test_one_state_and_one_row(version):
    only = Chain(np.zeros(1), np.zeros((1, 1)))
    found = only.beliefs(np.array([[-3.0], [-4.0]]), np.array([2]))
    assert_allclose(found.log_likelihood, -7.0)
    assert_array_equal(found.state, np.ones((2, 1)))
    assert_array_equal(found.pairs, [[1.0]])
    rng = np.random.default_rng(3)
    chain, row = some_chain(rng, 3), some_emission(rng, 1, 3)
    posterior = np.exp(chain.log_start + row[0])
    found = chain.beliefs(row, np.array([1]))
    assert_allclose(found.state[0], posterior / posterior.sum(), rtol=1e-12)
    assert_array_equal(found.pairs, np.zeros((3, 3)))


def test_draws_follow_the_chain():
    rng = np.random.default_rng(4)
    chain = some_chain(rng, 3, zeros=0.3)
    lengths = np.array([60_000, 0, *np.ones(40_000, dtype=int)])
    state = chain.sample(lengths, rng)
    assert len(state) == 100_000
    moves = np.zeros((3, 3))
    np.add.at(moves, (state[:59_999], state[1:60_000]), 1.0)
    assert_allclose(
        moves / moves.sum(axis=1, keepdims=True), np.exp(chain.log_transition), atol=0.02
    )
    starts = np.bincount(state[60_000:], minlength=3) / 40_000
    assert_allclose(starts, np.exp(chain.log_start), atol=0.02)
    assert not moves[np.isneginf(chain.log_transition)].any()


def test_the_long_run_of_periodic_and_absorbing_chains():
    swap = Chain(log(np.array([1.0, 0.0])), log(np.array([[0.0, 1.0], [1.0, 0.0]])))
    assert_allclose(swap.occupancy(), [0.5, 0.5])
    sink = Chain(log(np.array([1.0, 0.0])), log(np.array([[0.9, 0.1], [0.0, 1.0]])))
    assert_allclose(sink.occupancy(), [0.0, 1.0], rtol=1e-12, atol=1e-12)


def test_sums_of_sequences_skip_empty_ones():
    lengths = np.array([0, 2, 0, 0, 1, 0])
    assert_array_equal(sequence_sums(np.array([1.0, 2.0, 4.0]), lengths), [0, 3, 0, 0, 4, 0])
    assert_array_equal(sequence_sums(np.empty(0), np.array([0])), [0.0])
