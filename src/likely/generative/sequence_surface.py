"""Methods of a fitted hidden Markov model: states, likelihoods, draws, and its factor graph.

    γ_t(k) = p(z_t = k | x)       predict_proba, query          (forward–backward)
    argmax_z p(z | x)             predict, most_probable        (Viterbi)
    log p(x)                      score_samples                 one for each sequence
    log p(x_t | x_1 … x_{t−1})    log_likelihoods               one for each row

Abstract, without state or parameters.
"""

from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from likely._typing import Array, Codes
from likely.compute.executor import executor_for
from likely.data.block import ArrayBlocks, WholeGroups
from likely.description import ColumnsRead, Description, NamedColumn, NamedTable
from likely.errors import InvalidInput
from likely.explanations.explanation import Explanation, like_its_rows, log_odds_explanation
from likely.generative.clusters import aic, bic
from likely.generative.description import DescribedComponents, columns_read
from likely.generative.hidden_states import (
    HiddenStates,
    block_beliefs,
    block_log_emission,
    block_paths,
    block_posterior,
)
from likely.graphical.drawing.diagram import Diagram
from likely.graphical.exact.chain import Chain, sequence_sums
from likely.graphical.model.beliefs import Beliefs, Configuration
from likely.graphical.model.factor_graph import FactorGraph
from likely.graphical.model.model_plates import chain_plate
from likely.inputs.estimators import feature_names, generator, naming_columns
from likely.inputs.rows import encode_new_rows
from likely.inputs.sequences import check_lengths, check_sequence_weight, refuse_lengths_as_y
from likely.inputs.tables import own_columns
from likely.objectives.linear import weighted_sum

METHOD = "chain"  # how beliefs and configurations were found


class FittedSequences(DescribedComponents):
    """Hidden states in sequences of rows."""

    chain_: Chain
    family_: Any  # a Family
    library_: str | None
    solution_: Any  # a Solution, or None where parameters were given
    n_features_in_: int
    event: Any
    covariance: str
    executor: Any
    random_state: Any

    @property
    def start_probability_(self) -> Array:
        """π: the state of the first row of a sequence, (n_states,)."""
        return np.exp(self.chain_.log_start)

    @property
    def transition_probability_(self) -> Array:
        """A: from the state of a row to that of the next one, (n_states, n_states)."""
        return np.exp(self.chain_.log_transition)

    @naming_columns
    def predict(self, X: Any, lengths: Any = None) -> Array:
        """The states of all rows that are most probable together, sequence by sequence."""
        parts, _ = self._mapped(block_paths, X, lengths)
        return np.concatenate([part.state for part in parts])

    @naming_columns
    def predict_proba(self, X: Any, lengths: Any = None) -> Array:
        """The probability of each state in each row given its sequence, (n, n_states)."""
        return np.concatenate(self._mapped(block_posterior, X, lengths)[0])

    @naming_columns
    @like_its_rows
    def explain(self, X: Any, against: Any = None, lengths: Any = None) -> Explanation:
        """What each column adds to the log-odds of every state against one (the first).

        The base value is what the other rows of the sequence say about the state of a row; it
        differs from row to row.
        """
        state = self.predict_proba(X, lengths)
        rows = encode_new_rows(self, self.schema_, X).design.stored()
        own = self.distribution_.contributions(rows)
        with np.errstate(divide="ignore", invalid="ignore"):  # impossible states
            context = np.log(state) - own.sum(axis=1)
        return log_odds_explanation(
            own,
            context,
            np.asarray(self.component_labels()),
            against,
            feature_names(self),
            base_is="other rows",
        )

    @naming_columns
    def score_samples(self, X: Any, lengths: Any = None) -> Array:
        """log p(x) of each sequence; −inf if it is impossible, 0 if it is empty."""
        parts, lengths = self._mapped(block_beliefs, X, lengths)
        out = np.zeros(len(lengths))
        out[lengths > 0] = np.concatenate([part.log_likelihood for part in parts])
        return out

    @naming_columns
    def log_likelihoods(self, X: Any, y: Any = None, *, lengths: Any = None) -> Array:
        """log p(x_t) of each row given the rows before it in its sequence; there is no y."""
        parts, _ = self._mapped(block_beliefs, X, lengths)
        each = np.concatenate([part.log_likelihoods for part in parts])
        refuse_lengths_as_y(y, len(each))
        return each

    def log_likelihood(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, lengths: Any = None
    ) -> float:
        """Σ_s w_s log p(x_s) over the sequences; there is no y."""
        X, sample_weight = own_columns(X, sample_weight)
        each = self.log_likelihoods(X, y, lengths=lengths)
        known = check_lengths(lengths, len(each))
        weight = check_sequence_weight(sample_weight, known)
        return weighted_sum(weight, sequence_sums(each, known))

    def score(self, X: Any, y: Any = None, *, lengths: Any = None) -> float:
        """The log-likelihood per row, log p(x) / n."""
        return float(self.log_likelihoods(X, y, lengths=lengths).mean())

    def bic(self, X: Any, lengths: Any = None) -> float:
        """The Bayesian information criterion on X, −2ℓ + p log n; lower is better."""
        each = self.log_likelihoods(X, lengths=lengths)
        return bic(float(each.sum()), self.n_parameters(), len(each))

    def aic(self, X: Any, lengths: Any = None) -> float:
        """Akaike's information criterion on X, −2ℓ + 2p; lower is better."""
        return aic(float(self.log_likelihoods(X, lengths=lengths).sum()), self.n_parameters())

    def n_parameters(self) -> int:
        """The number of free parameters of start, transitions and emissions."""
        check_is_fitted(self)
        return self.chain_.n_parameters + int(self.distribution_.n_parameters)

    def sample(
        self, n_samples: Any = 1, random_state: Any = None, *, total: Any = 100
    ) -> tuple[Any, Codes]:
        """Draw rows, and the state of each.

        ``n_samples`` is the length of one sequence, or the lengths of several.  ``total`` is the
        sum of a row's multinomial counts.
        """
        check_is_fitted(self)
        given = np.atleast_1d(np.asarray(n_samples))
        if given.dtype.kind not in "iu" or given.ndim > 1 or (given < 0).any():
            raise InvalidInput(
                f"n_samples is {n_samples!r}; expected a number of rows, 0 or more, or the lengths "
                "of several sequences. Use 1."
            )
        rng = generator(self.random_state if random_state is None else random_state)
        state = self.chain_.sample(given, rng)
        drawn = self.distribution_.sample(state, rng, length=total)
        return self.schema_.decode(drawn.numeric, np.asarray(drawn.codes), self.library_), state

    def factor_graph(self, X: Any, lengths: Any = None) -> FactorGraph:
        """The states of all rows as a factor graph, with log p(x_t | z_t) as a factor of each.

        Variables are z0, z1, …; of several sequences z0.0, z0.1, …, z1.0, ….  Its log-partition
        is log p(x).
        """
        parts, lengths = self._mapped(block_log_emission, X, lengths)
        return self.chain_.factor_graph(np.concatenate(parts), lengths)

    def query(self, X: Any, lengths: Any = None) -> Beliefs:
        """The beliefs about the states of ``factor_graph``, as ``predict_proba`` gives them."""
        state = self.predict_proba(X, lengths)
        total = float(self.log_likelihoods(X, lengths=lengths).sum())
        variables = self.chain_.variables(check_lengths(lengths, len(state)))
        marginals = {v.name: row for v, row in zip(variables, state, strict=True)}
        return Beliefs({v.name: v for v in variables}, marginals, {}, total, METHOD)

    @naming_columns
    def most_probable(self, X: Any, lengths: Any = None) -> Configuration:
        """The most probable states of ``factor_graph``, as ``predict`` gives them."""
        parts, known = self._mapped(block_paths, X, lengths)
        codes = np.concatenate([part.state for part in parts]).tolist()
        return Configuration(
            {
                variable.name: variable.values[code]
                for variable, code in zip(self.chain_.variables(known), codes, strict=True)
            },
            float(sum(part.log_score.sum() for part in parts)),
            all(part.unique.all() for part in parts),
            METHOD,
            log_partition=lambda: float(self.log_likelihoods(X, lengths=lengths).sum()),
        )

    def plate(self) -> Diagram:
        """The plate diagram: the hidden states and the rows of each sequence, and parameters."""
        return chain_plate(type(self).__name__, self.event, self.covariance)

    def describe(self) -> Description:
        """What separates the states, where sequences start, and how they go on."""
        names = tuple(map(str, self.component_labels()))
        table = NamedTable(
            "transitions",
            (
                NamedColumn("from", "from"),
                NamedColumn("start", "start", "number"),
                *(NamedColumn("to", f"to {name}", "number", name) for name in names),
            ),
            tuple(
                (name, start, *row)
                for name, start, row in zip(
                    names,
                    self.start_probability_.tolist(),
                    self.transition_probability_.tolist(),
                    strict=True,
                )
            ),
            noun="state",
            title="Probability of the first state, and of the next one",
        )
        return super().describe().also(tables=(table,))

    def columns_read(self, n_rows: int | None = None) -> ColumnsRead:
        """How many columns each event model reads, and which of them to check."""
        check_is_fitted(self)
        names, log_mixing = feature_names(self), self.components_.log_mixing
        read = columns_read(self.distribution_, log_mixing, names, n_rows)
        return read.with_columns(names, self.schema_.kinds)

    @property
    def _component(self) -> tuple[str, str]:
        return "state", "states"

    def _mapped(self, term: Any, X: Any, lengths: Any) -> tuple[list[Any], Codes]:
        """``term`` of blocks of whole sequences, in order; and the lengths, checked."""
        check_is_fitted(self)
        design = encode_new_rows(self, self.schema_, X).design
        known = check_lengths(lengths, design.n_rows)
        blocks = WholeGroups(ArrayBlocks(design, group=np.repeat(np.arange(len(known)), known)))
        chosen = executor_for(self.executor, blocks.nbytes * self.chain_.n_states)
        model = HiddenStates(self.chain_, self.components_)
        return list(chosen.map(partial(term, self.family_, model), blocks)), known
