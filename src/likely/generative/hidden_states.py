"""Hidden states in sequences: the E and M steps of a hidden Markov model, and its starts.

    E   γ_t(k), ξ_t(k, l)  by forward–backward in each sequence
    M   π_k ∝ Σ_s γ_s1(k) + α,   A_kl ∝ Σ_t ξ_t(k, l) + α',   p(x | k) from Σ_t γ_t(k) T(x_t)

A known state is evidence like any other: the other states have likelihood 0 in its row.  With all
states known the first M step is the supervised estimate, and the last.

EM starts from the parameters of a mixture, with independent rows: A_kl = π_l.

References
----------
Baum, Petrie, Soules & Weiss, A maximization technique …, 1970.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self, final

import numpy as np

from likely._typing import Array, Codes
from likely.compute.executor import Executor
from likely.data.block import Block, Blocks
from likely.data.categories import is_missing
from likely.distributions.base import Family
from likely.distributions.priors import log_shares
from likely.distributions.responsibility import Labels, Responsibility
from likely.errors import ImpossibleSequence, InvalidInput
from likely.generative.clusters import HiddenLaw, MixtureProblem, components_from
from likely.generative.starts import Subset, draw_labels
from likely.graphical.exact.chain import Chain, ChainBeliefs, ChainPaths
from likely.inputs.rows import RowsInMemory
from likely.inputs.tables import own_columns
from likely.inputs.targets import array_of, check_weight
from likely.numerics.additive import Additive
from likely.objectives.components import Components, checked_rows
from likely.solvers.em import Expectation, ExpectationObjective

HIDDEN = -1  # the code of a state that is not known


@final
@dataclass(frozen=True, eq=False)
class HiddenStates:
    """The law of the states, and what each of them emits."""

    chain: Chain
    components: Components  # the share of each state among the rows, and p(x | k)

    def log_emission(self, X: Any, known: Codes | None = None) -> Array:
        """log p(x_i | k), (n, n_states); −inf for other states where the state is known."""
        out = self.components.distribution.log_density(X)
        if known is None:
            return out
        elsewhere = (known >= 0)[:, None] & (known[:, None] != np.arange(out.shape[1]))
        return np.where(elsewhere, -np.inf, out)


@final
@dataclass(frozen=True, eq=False)
class StateTotals(Additive):
    """The totals of one E step."""

    start: Array  # Σ_s γ_s1, (n_states,)
    pairs: Array  # Σ_t ξ_t, (n_states, n_states)
    count: Array  # Σ_t γ_t, (n_states,)
    statistics: Any
    log_likelihood: float

    def __add__(self, other: Self) -> Self:
        return type(self)(
            self.start + other.start,
            self.pairs + other.pairs,
            self.count + other.count,
            self.statistics + other.statistics,
            self.log_likelihood + other.log_likelihood,
        )


def block_state_expectations(family: Family, model: HiddenStates, block: Block) -> StateTotals:
    """The expected statistics of whole sequences at θ."""
    X, (first, lengths) = block.X.stored(), _sequences(block)
    weight = np.ones(len(first)) if block.weight is None else block.weight[first]
    beliefs = model.chain.beliefs(model.log_emission(X, block.y), lengths, weight)
    _refuse_impossible(beliefs.log_likelihood, block, first)
    r = beliefs.state if block.weight is None else beliefs.state * block.weight[:, None]
    return StateTotals(
        r[first].sum(axis=0),
        beliefs.pairs,
        r.sum(axis=0),
        model.components.distribution.expected_statistics(family, X, r),
        float(np.dot(weight, beliefs.log_likelihood)),
    )


def block_beliefs(family: Family, model: HiddenStates, block: Block) -> ChainBeliefs:
    """Posterior states of new sequences."""
    log_emission = model.log_emission(checked_rows(family, block))
    return model.chain.beliefs(log_emission, _sequences(block)[1])


def block_paths(family: Family, model: HiddenStates, block: Block) -> ChainPaths:
    """The most probable states of new sequences."""
    first, lengths = _sequences(block)
    paths = model.chain.most_probable(model.log_emission(checked_rows(family, block)), lengths)
    _refuse_impossible(paths.log_score, block, first)
    return paths


def block_posterior(family: Family, model: HiddenStates, block: Block) -> Array:
    """p(z_t = k | x) of new sequences, none of which may be impossible."""
    beliefs = block_beliefs(family, model, block)
    _refuse_impossible(beliefs.log_likelihood, block, _sequences(block)[0])
    return beliefs.state


def block_log_emission(family: Family, model: HiddenStates, block: Block) -> Array:
    return model.log_emission(checked_rows(family, block))


def _sequences(block: Block) -> tuple[Codes, Codes]:
    """The first row and the length of each sequence of a block."""
    assert block.group is not None  # the number of the sequence of each row
    first = np.flatnonzero(np.diff(block.group, prepend=-1))
    return first, np.diff(np.append(first, block.n_rows))


def _refuse_impossible(log_likelihood: Array, block: Block, first: Codes) -> None:
    bad = np.isneginf(log_likelihood)
    if bad.any():
        assert block.group is not None
        raise ImpossibleSequence(int(block.group[first[int(bad.argmax())]]))


@final
@dataclass(frozen=True, eq=False)
class HiddenStatesObjective(ExpectationObjective):
    """Sequences of hidden states, with pseudo-counts as priors."""

    family: Family
    blocks: Blocks
    executor: Executor
    prior: Any  # pseudo-statistics of the emissions: one more block, added once
    start_smoothing: float
    transition_smoothing: float

    def expect(self, theta: HiddenStates) -> Expectation:
        term = partial(block_state_expectations, self.family, theta)
        here = self.executor.sum(term, self.blocks)
        log_prior = theta.components.distribution.log_likelihood_of(self.prior)
        if self.start_smoothing:
            log_prior += self.start_smoothing * float(theta.chain.log_start.sum())
        if self.transition_smoothing:
            log_prior += self.transition_smoothing * float(theta.chain.log_transition.sum())
        return Expectation(here, here.log_likelihood + log_prior, float(here.count.sum()))

    def maximise(self, totals: StateTotals) -> HiddenStates:
        member = self.family.from_statistics(totals.statistics + self.prior)
        pairs = totals.pairs + self.transition_smoothing
        left = pairs.sum(axis=1, keepdims=True) > 0  # a state only at the ends goes anywhere
        transition = np.stack([log_shares(row) for row in np.where(left, pairs, 1.0)])
        start = log_shares(totals.start + self.start_smoothing)
        return HiddenStates(Chain(start, transition), Components(log_shares(totals.count), member))


@final
@dataclass(frozen=True)
class MarkovStates(HiddenLaw):
    """The state of a row depends on that of the row before it."""

    start_smoothing: float
    transition_smoothing: float

    def objective(self, problem: MixtureProblem, prior: Any, start: Any) -> HiddenStatesObjective:
        return HiddenStatesObjective(
            problem.family,
            problem.blocks,
            problem.executor,
            prior,
            self.start_smoothing,
            self.transition_smoothing,
        )

    def random_start(
        self,
        problem: MixtureProblem,
        subset: Subset,
        n_components: int,
        rng: np.random.Generator,
        prior: Any,
    ) -> HiddenStates:
        """Clusters of rows; of few distinct rows, each has random shares of all states."""
        r: Responsibility
        if len(subset.points) > n_components:
            r = Labels(draw_labels(subset, n_components, rng), n_components, subset.weight)
        else:
            share = rng.dirichlet(np.ones(n_components), len(subset.points))
            r = share[subset.place] * subset.weight[:, None]
        return states_from(problem, subset.stored, r, prior)


def states_from(
    problem: MixtureProblem, stored: Any, responsibility: Responsibility, prior: Any
) -> HiddenStates:
    """A start from labels or soft labels of rows, as if rows were independent."""
    components = components_from(problem, stored, responsibility, prior)
    share = components.log_mixing
    return HiddenStates(Chain(share, np.tile(share, (len(share), 1))), components)


# ── Sequences of rows as they are given: lengths, weights and known states, checked ───────────────
# Rows of one sequence are consecutive, and sequences follow each other: lengths (3, 2) are the rows
# 0 to 2 and 3 to 4.  An empty sequence is allowed, and says nothing.


def check_lengths(lengths: Any, n_rows: int) -> Codes:
    """Lengths as int64, (n_sequences,): whole numbers that add up to the rows; None is one."""
    if lengths is None:
        return np.array([n_rows], dtype=np.int64)
    given = np.asarray(array_of(lengths))
    numeric = given.dtype.kind in "iuf" and given.ndim == 1 and given.size > 0
    if not numeric or not (given == np.floor(given)).all() or (given < 0).any():
        shown = given.tolist() if given.size <= 10 else f"an array of shape {given.shape}"
        raise InvalidInput(
            f"lengths is {shown}; expected the number of rows of each sequence, whole numbers, 0 "
            "or more. Give them in the order of the sequences, such as lengths=[3, 2]."
        )
    if given.sum() != n_rows:
        raise InvalidInput(
            f"lengths adds up to {int(given.sum())} and X has {n_rows} rows; every row must belong "
            "to one sequence. Give the number of rows of each sequence."
        )
    return given.astype(np.int64)


def with_lengths(X: Any, lengths: Any, groups: Any) -> tuple[Any, Any]:
    """X without the column of groups, and the lengths of its runs where groups are given."""
    if groups is None:
        return X, lengths
    if lengths is not None:
        raise InvalidInput(
            "lengths and groups were given; one of them was expected. groups has the sequence of "
            "each row, lengths the number of rows of each sequence."
        )
    X, groups = own_columns(X, groups)
    given = np.asarray(array_of(groups))
    if given.ndim != 1 or not given.size:
        raise InvalidInput(
            f"groups has the shape {given.shape}; the sequence of each row was expected, such as "
            "groups=['a', 'a', 'b'], or the name of a column of a frame."
        )
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if given.size != n_rows:
        raise InvalidInput(
            f"groups has {given.size} entries and X has {n_rows} rows; the sequence of each row "
            "was expected. Give one for each row."
        )
    dates = given.dtype.kind == "M"
    missing = np.isnat(given) if dates else np.array([is_missing(v) for v in given.tolist()])
    if missing.any():
        raise InvalidInput(
            f"groups is missing at row {int(missing.argmax())}; every row must belong to one "
            "sequence. Leave such rows out, or name their sequence."
        )
    starts = np.flatnonzero(np.append(True, given[1:] != given[:-1]))
    seen: set[Any] = set()
    for start in starts.tolist():
        if given[start] in seen:
            raise InvalidInput(
                f"The sequence {given[start]!s} of groups goes on at row {start} after rows of "
                "others; rows of one sequence must follow each other. Sort the rows by sequence, "
                "and by time within each."
            )
        seen.add(given[start])
    return X, np.diff(np.append(starts, given.size))


def refuse_lengths_as_y(y: Any, n_rows: int) -> None:
    """Refuse a y that is ignored and has not one entry for each row: lengths go by name."""
    if y is None or isinstance(y, str):
        return
    shape = np.asarray(array_of(y)).shape
    if len(shape) == 1 and shape[0] != n_rows:
        raise InvalidInput(
            f"y has {shape[0]} entries and X has {n_rows} rows; y is ignored here, so no "
            "lengths were given. Pass the lengths of sequences by name: lengths=…."
        )


def check_sequence_weight(sample_weight: Any, lengths: Codes) -> Array | None:
    """One weight for each sequence; also one for each row, where those of a sequence are equal."""
    if sample_weight is None:
        return None
    given, n_rows = array_of(sample_weight), int(lengths.sum())
    shape = np.asarray(given).shape
    if shape not in {(), (len(lengths),), (n_rows,)}:
        raise InvalidInput(
            f"sample_weight has shape {shape}; expected one number for each of the "
            f"{len(lengths)} sequences. Give lengths as well, or one weight per sequence."
        )
    by_row = np.repeat(given, lengths) if shape == lengths.shape else given
    weight = check_weight(by_row, n_rows=n_rows)
    assert weight is not None  # it was given
    sequence = np.repeat(np.arange(len(lengths)), lengths)
    out = np.zeros(len(lengths))
    out[sequence] = weight
    if not np.array_equal(out[sequence], weight):
        bad = int(sequence[np.flatnonzero(out[sequence] != weight)[0]])
        raise InvalidInput(
            f"sample_weight differs within sequence {bad}; rows of a sequence depend on each "
            "other, so that a weight is for all of them. Give one weight for each sequence."
        )
    return out


def check_states(states: Any, n_states: int, n_rows: int) -> Codes | None:
    """Known states as codes, (n,): 0 to K − 1, and −1 or a missing value where hidden.

    Each state must be known in some row, so that its number has a meaning.
    """
    if states is None:
        return None
    try:
        given = np.asarray(array_of(states), dtype=float)
    except (TypeError, ValueError):
        given = np.empty(0)
    expected = f"whole numbers from 0 to {n_states - 1}, or -1 where the state is hidden"
    if given.shape != (n_rows,):
        raise InvalidInput(
            f"states has the shape {np.shape(states)} and X has {n_rows} rows; expected a number "
            f"for each row: {expected}."
        )
    codes = np.where(np.isnan(given), HIDDEN, given)
    bad = (codes != np.floor(codes)) | (codes < HIDDEN) | (codes >= n_states)
    if bad.any():
        row = int(bad.argmax())
        raise InvalidInput(
            f"states holds {given[row]:g} at row {row}; expected {expected}. "
            "Raise n_states, or fix the row."
        )
    absent = np.setdiff1d(np.arange(n_states), codes)
    if absent.size:
        raise InvalidInput(
            f"states never says {absent[0]}; every one of the {n_states} states must be known in "
            "some row. Ask for fewer states, or leave states out to learn all of them."
        )
    return codes.astype(np.int64)


def in_sequences(
    given: RowsInMemory, lengths: Codes, weight: Array | None, states: Codes | None
) -> RowsInMemory:
    """The rows with the number of their sequence as group; sequences of weight 0 are left out."""
    sequence = np.repeat(np.arange(len(lengths)), lengths)
    rows = replace(given, group=sequence, n_groups=len(lengths), y=states)
    if weight is None:
        return rows
    by_row = weight[sequence]
    there = by_row > 0
    kept = np.flatnonzero(there)
    return replace(
        rows,
        table=rows.table.take(kept),
        weight=by_row[kept],
        group=sequence[kept],
        y=None if states is None else states[kept],
        position=np.where(there, np.cumsum(there) - 1, -1),
    )
