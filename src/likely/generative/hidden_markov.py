"""Hidden Markov models: sequences of rows whose hidden states form a chain.

    p(x, z) = π(z_1) p(x_1 | z_1) Π_t A(z_{t−1}, z_t) p(x_t | z_t)

A mixture in which the component of a row depends on that of the row before it.

References
----------
Rabiner, A tutorial on hidden Markov models and selected applications in speech recognition, 1989.
Bishop, Pattern Recognition and Machine Learning, §13.2.
"""

from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import DensityMixin, clone
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from likely._typing import Array, Codes
from likely.compute.executor import Executor, executor_for
from likely.data.block import ArrayBlocks, WholeGroups
from likely.data.schema import Schema
from likely.distributions import (
    Dirichlet,
    Distribution,
    GaussianPrior,
    Labels,
    Product,
    ProductFamily,
    ProductPart,
    Selection,
)
from likely.distributions.priors import checked_smoothing
from likely.errors import InvalidInput
from likely.explanations.explanation import Explanation, like_its_rows, log_odds_explanation
from likely.generative.base import COMPONENTS, warn_if_constant
from likely.generative.clusters import (
    Clusters,
    MixtureProblem,
    aic,
    bic,
    fit_clusters,
    pooled_totals,
    warn_collapsed,
    warn_if_flat,
)
from likely.generative.description import DescribedComponents, columns_read
from likely.generative.events import (
    Event,
    EventPlan,
    encode_events,
    plan_events,
    product_family,
    with_input_tags,
)
from likely.generative.hidden_states import (
    HiddenStates,
    MarkovStates,
    block_beliefs,
    block_log_emission,
    block_paths,
    block_posterior,
    check_lengths,
    check_sequence_weight,
    check_states,
    in_sequences,
    refuse_lengths_as_y,
    states_from,
    with_lengths,
)
from likely.generative.mixture import FAMILIES
from likely.generative.starts import (
    check_fitted_start,
    draw_subset,
    refuse_other_starts,
    same_categories,
    soft_rows,
)
from likely.graphical.drawing.diagram import Diagram
from likely.graphical.exact.chain import Chain, sequence_sums
from likely.graphical.model.beliefs import Beliefs, Configuration
from likely.graphical.model.factor_graph import FactorGraph
from likely.graphical.model.model_plates import chain_plate
from likely.inputs.estimators import (
    Estimator,
    check_search,
    feature_names,
    generator,
    naming_columns,
    refuse_unless_number,
    refuse_unless_whole,
    warn_unless_converged,
)
from likely.inputs.rows import EncodedRows, RowExtras, RowsInMemory, check_rows, encode_new_rows
from likely.inputs.tables import own_columns, refuse_file
from likely.kinds import ColumnKind
from likely.names import lookup
from likely.objectives.components import Components, ComponentTotals
from likely.objectives.linear import weighted_sum
from likely.output.description import ColumnsRead, Description, NamedColumn, NamedTable
from likely.solvers.minimise import Solution
from likely.storage.declarations import Numbers, SameCount, Saved

METHOD = "chain"  # how beliefs and configurations were found
ROUNDING = 1e-8  # of given probabilities, which should sum to 1


class HiddenMarkovModel(DescribedComponents, DensityMixin, Estimator):
    """A hidden Markov model with any event model, mixed by column, by EM from several starts.

    Rows of a sequence are consecutive: ``lengths`` has how many rows each has, or ``groups`` the
    sequence of each row (an array, or a column by its name); without them all are one sequence.

    Parameters
    ----------
    n_states : int, default=1
        Number of hidden states.
    event : str, Family or mapping, default="auto"
        The event model of every column, or of each by name or position, as in ``NaiveBayes``:
        ``gaussian``, ``categorical``, ``poisson``, ….
    covariance : {"full", "tied", "diagonal", "spherical"}, default="full"
        For Gaussian columns: one matrix per state, one for all, variances only, or one variance
        per state.
    smoothing : float, array of shape (n_features,) or Dirichlet, default=1.0
        Pseudo-counts added for each value, in event models of counts; α − 1 of a ``Dirichlet(α)``.
    start_smoothing : float or Dirichlet, default=1.0
        Pseudo-counts added for each state, where a sequence starts; α − 1 of a ``Dirichlet(α)``.
    transition_smoothing : float or Dirichlet, default=1.0
        Pseudo-counts added for each transition between two states; α − 1 of a ``Dirichlet(α)``.
    gaussian_prior : GaussianPrior, default=None
        Pseudo-rows with the mean and the variance of the Gaussian columns in every state, in
        addition to ``regularisation``.
    start : array or fitted HiddenMarkovModel, default=None
        Where EM begins instead of random starts: labels (n,) or soft labels (n, K) of X, or
        another model.
    n_init : int, default=5
        Number of random starts.  Each has a short run of EM; the best that does not collapse is
        continued to the end.
    regularisation : float, default=1e-6
        Strength of the prior on variances: pseudo-observations with the variance of the data, as a
        fraction of the rows.
    tol : float, default=1e-8
        EM stops when at most ``tol`` nats per row are left to gain, by Aitken's estimate; the unit
        of the weights has no effect.
    max_iter : int, default=1000
        Maximum number of EM iterations; 0 leaves the start as it is.
    executor : str or Executor, default="auto"
        How sums over sequences are computed: ``serial``, ``threads`` or ``auto``.
    random_state : int, RandomState or Generator, default=None
        Seed for the random starts and for ``sample``.

    Attributes
    ----------
    start_probability_ : array of shape (n_states,)
    transition_probability_ : array of shape (n_states, n_states)
        From the state of the row to that of the column.
    distribution_ : Product
        The fitted emissions p(x | state).
    components_ : Components
        The share of each state among the rows, and the emissions.
    solution_ : Solution or None
        How the best start ended; its trace is minus the penalised log-likelihood.
    log_likelihood_traces_ : list of lists
        The penalised log-likelihood, step by step: for the start that was kept, then for the
        short runs of the others.

    Examples
    --------
    >>> import numpy as np
    >>> from likely import HiddenMarkovModel
    >>> X = np.array([0.1, -0.2, 0.0, 5.1, 4.9, 5.0, 5.2, 0.2, -0.1]).reshape(-1, 1)
    >>> states = HiddenMarkovModel(2, random_state=0).fit(X).predict(X)
    >>> bool((states == states[0]).tolist() == [True] * 3 + [False] * 4 + [True] * 2)
    True
    """

    saved: ClassVar = COMPONENTS | Saved(
        {
            "plan_": EventPlan,
            "chain_": Chain,
            "solution_": Solution,
            "n_rows_": Numbers(float, "not negative"),
        },
        rules=(SameCount("chain_.log_start", "components_.log_mixing"),),
    )

    chain_: Chain
    family_: Any  # a Family
    library_: str | None
    solution_: Any  # a Solution, or None where parameters were given
    n_features_in_: int

    def __init__(
        self,
        n_states: int = 1,
        event: "Event | Mapping[Any, Event]" = "auto",
        covariance: str = "full",
        *,
        smoothing: float | Array | Dirichlet = 1.0,
        start_smoothing: float | Dirichlet = 1.0,
        transition_smoothing: float | Dirichlet = 1.0,
        gaussian_prior: GaussianPrior | None = None,
        start: Any = None,
        n_init: int = 5,
        regularisation: float = 1e-6,
        tol: float = 1e-8,
        max_iter: int = 1000,
        executor: str | Executor = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_states = n_states
        self.event = event
        self.covariance = covariance
        self.smoothing = smoothing
        self.start_smoothing = start_smoothing
        self.transition_smoothing = transition_smoothing
        self.gaussian_prior = gaussian_prior
        self.start = start
        self.n_init = n_init
        self.regularisation = regularisation
        self.tol = tol
        self.max_iter = max_iter
        self.executor = executor
        self.random_state = random_state

    @classmethod
    def from_parameters(cls, start: Any, transition: Any, emission: Distribution) -> Self:
        """A model with given parameters, as if it had been fitted.

        ``start`` (K,) and ``transition`` (K, K) are probabilities, from row to column;
        ``emission`` is a member of a family of ``likely.distributions`` with K components.
        """
        pi, A = _probabilities("start", start, 1), _probabilities("transition", transition, 2)
        if not len(pi) == len(A) == A.shape[1] == emission.n_components:
            raise InvalidInput(
                f"start has {len(pi)} states, transition the shape {A.shape} and emission "
                f"{emission.n_components} components; expected one number of states. Make them "
                "agree."
            )
        family, d = emission.own_family(), emission.n_features
        columns = tuple(range(d))
        selection = Selection(family.coded, columns, columns, everything=True)
        model = cls(len(pi), family)
        model.plan_ = EventPlan((family,) * d, (False,) * d)
        categories = tuple(np.arange(family.sizes[j]) if family.coded else None for j in columns)
        kind: ColumnKind = "number"
        model.schema_ = Schema(None, (kind,) * d, (family.coded,) * d, categories)
        model.library_, model.n_features_in_ = None, d
        model.family_ = ProductFamily((ProductPart(family, selection),))
        with np.errstate(divide="ignore"):
            model.chain_ = Chain(np.log(pi), np.log(A))
            share = np.log(model.chain_.occupancy())
        model.components_ = Components(share, Product((emission,), (selection,)))
        model.solution_, model.log_likelihood_traces_ = None, []
        return model

    @naming_columns
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        lengths: Any = None,
        groups: Any = None,
        states: Any = None,
    ) -> Self:
        """Fit to sequences of rows; y is ignored.

        Parameters
        ----------
        X : array, sparse array or frame of shape (n, n_features)
            The rows of all sequences, one sequence after the other.
        sample_weight : array of shape (n_sequences,), optional
            The weight of each sequence: 2 counts it twice.
        lengths : array of shape (n_sequences,), optional
            The number of rows of each sequence; one sequence if not given.
        groups : array of shape (n,) or name of a column, optional
            In place of ``lengths``, the sequence of each row; rows of one follow each other.
        states : array of shape (n,), optional
            The states of rows where they are known, 0 to K − 1; −1 where they are hidden.
        """
        X, lengths = with_lengths(X, lengths, groups)
        problem, blocks, position = self._posed(X, y, sample_weight, lengths, states)
        self._keep(self._solved(problem, blocks, position))
        warn_if_constant(self, blocks.X)
        return self

    def em_steps(
        self, X: Any, sample_weight: Any = None, *, lengths: Any = None, groups: Any = None
    ) -> list[Self]:
        """The model at its start and after each step of EM; this model itself is not changed.

        Of random starts the one of the highest likelihood is followed.
        """
        X, lengths = with_lengths(X, lengths, groups)
        model: Self = clone(self)
        problem, blocks, position = model._posed(X, None, sample_weight, lengths, None)
        start = model._solved(replace(problem, max_iter=0), blocks, position).components
        path = list[HiddenStates]()
        found = problem.solve(
            start, problem.prior(int(self.n_states)), watch=lambda state: path.append(state.theta)
        )
        model.solution_, model.log_likelihood_traces_ = found.solution, [list(found.traces[0])]
        steps = [copy(model) for _ in path]
        for step, states in zip(steps, path, strict=True):
            step.chain_, step.components_ = states.chain, states.components
        return steps

    def fit_predict(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        lengths: Any = None,
        groups: Any = None,
    ) -> Codes:
        """Fit, and the most probable states of all rows."""
        X, lengths = with_lengths(X, lengths, groups)
        return self.fit(X, sample_weight=sample_weight, lengths=lengths).predict(X, lengths)

    def n_steps(self) -> int | None:
        return None if self.solution_ is None else int(self.solution_.n_iter)

    @property
    def n_iter_(self) -> int:
        """Steps of EM."""
        return self.n_steps() or 0

    @property
    def converged_(self) -> bool:
        return self.solution_ is None or bool(self.solution_.converged)

    def __sklearn_tags__(self) -> Tags:
        return with_input_tags(super().__sklearn_tags__(), self.event)

    @property
    def start_probability_(self) -> Array:
        """π: the state of the first row of a sequence, (n_states,)."""
        return np.exp(self.chain_.log_start)

    @property
    def transition_probability_(self) -> Array:
        """A: from the state of a row to that of the next one, (n_states, n_states)."""
        return np.exp(self.chain_.log_transition)

    @naming_columns
    def predict(self, X: Any, lengths: Any = None, groups: Any = None) -> Array:
        """The states of all rows that are most probable together, sequence by sequence."""
        X, lengths = with_lengths(X, lengths, groups)
        parts, _ = self._mapped(block_paths, X, lengths)
        return np.concatenate([part.state for part in parts])

    @naming_columns
    def predict_proba(self, X: Any, lengths: Any = None, groups: Any = None) -> Array:
        """The probability of each state in each row given its sequence, (n, n_states)."""
        X, lengths = with_lengths(X, lengths, groups)
        return np.concatenate(self._mapped(block_posterior, X, lengths)[0])

    @naming_columns
    @like_its_rows
    def explain(
        self, X: Any, against: Any = None, lengths: Any = None, groups: Any = None
    ) -> Explanation:
        """What each column adds to the log-odds of every state against one (the first).

        The base value is what the other rows of the sequence say about the state of a row; it
        differs from row to row.
        """
        X, lengths = with_lengths(X, lengths, groups)
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
    def score_samples(self, X: Any, lengths: Any = None, groups: Any = None) -> Array:
        """log p(x) of each sequence; −inf if it is impossible, 0 if it is empty."""
        X, lengths = with_lengths(X, lengths, groups)
        parts, lengths = self._mapped(block_beliefs, X, lengths)
        out = np.zeros(len(lengths))
        out[lengths > 0] = np.concatenate([part.log_likelihood for part in parts])
        return out

    @naming_columns
    def log_likelihoods(
        self, X: Any, y: Any = None, *, lengths: Any = None, groups: Any = None
    ) -> Array:
        """log p(x_t) of each row given the rows before it in its sequence; there is no y."""
        X, lengths = with_lengths(X, lengths, groups)
        parts, _ = self._mapped(block_beliefs, X, lengths)
        each = np.concatenate([part.log_likelihoods for part in parts])
        refuse_lengths_as_y(y, len(each))
        return each

    def log_likelihood(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        lengths: Any = None,
        groups: Any = None,
    ) -> float:
        """Σ_s w_s log p(x_s) over the sequences; there is no y."""
        X, lengths = with_lengths(X, lengths, groups)
        X, sample_weight = own_columns(X, sample_weight)
        each = self.log_likelihoods(X, y, lengths=lengths)
        known = check_lengths(lengths, len(each))
        weight = check_sequence_weight(sample_weight, known)
        return weighted_sum(weight, sequence_sums(each, known))

    def score(self, X: Any, y: Any = None, *, lengths: Any = None, groups: Any = None) -> float:
        """The log-likelihood per row, log p(x) / n."""
        X, lengths = with_lengths(X, lengths, groups)
        return float(self.log_likelihoods(X, y, lengths=lengths).mean())

    def bic(self, X: Any, lengths: Any = None, groups: Any = None) -> float:
        """The Bayesian information criterion on X, −2ℓ + p log n; lower is better."""
        X, lengths = with_lengths(X, lengths, groups)
        each = self.log_likelihoods(X, lengths=lengths)
        return bic(float(each.sum()), self.n_parameters(), len(each))

    def aic(self, X: Any, lengths: Any = None, groups: Any = None) -> float:
        """Akaike's information criterion on X, −2ℓ + 2p; lower is better."""
        X, lengths = with_lengths(X, lengths, groups)
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

    def factor_graph(self, X: Any, lengths: Any = None, groups: Any = None) -> FactorGraph:
        """The states of all rows as a factor graph, with log p(x_t | z_t) as a factor of each.

        Variables are z0, z1, …; of several sequences z0.0, z0.1, …, z1.0, ….  Its log-partition
        is log p(x).
        """
        X, lengths = with_lengths(X, lengths, groups)
        parts, lengths = self._mapped(block_log_emission, X, lengths)
        return self.chain_.factor_graph(np.concatenate(parts), lengths)

    def query(self, X: Any, lengths: Any = None, groups: Any = None) -> Beliefs:
        """The beliefs about the states of ``factor_graph``, as ``predict_proba`` gives them."""
        X, lengths = with_lengths(X, lengths, groups)
        state = self.predict_proba(X, lengths)
        total = float(self.log_likelihoods(X, lengths=lengths).sum())
        variables = self.chain_.variables(check_lengths(lengths, len(state)))
        marginals = {v.name: row for v, row in zip(variables, state, strict=True)}
        return Beliefs({v.name: v for v in variables}, marginals, {}, total, METHOD)

    @naming_columns
    def most_probable(self, X: Any, lengths: Any = None, groups: Any = None) -> Configuration:
        """The most probable states of ``factor_graph``, as ``predict`` gives them."""
        X, lengths = with_lengths(X, lengths, groups)
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

    def _posed(
        self, X: Any, y: Any, sample_weight: Any, lengths: Any, states: Any
    ) -> tuple[MixtureProblem, ArrayBlocks, Array | None]:
        """What EM solves, its rows, and where each given row is among them."""
        self._check_arguments()
        data = self._open(X, y, sample_weight, lengths, states)
        blocks = data.blocks
        assert isinstance(blocks, ArrayBlocks)  # files are refused
        sequences = WholeGroups(blocks)
        problem = MixtureProblem(
            self.family_,
            sequences,
            data.executor,
            pooled_totals(self.family_, sequences, data.executor),
            checked_smoothing(self.smoothing, self.n_features_in_),
            self.regularisation,
            self.tol,
            self.max_iter,
            MarkovStates(self._smoothing_of("start"), self._smoothing_of("transition")),
        )
        self.n_rows_ = float(problem.pooled.count.sum())
        return problem, blocks, data.position

    def _open(
        self, X: Any, y: Any, sample_weight: Any, lengths: Any, states: Any
    ) -> EncodedRows[Schema]:
        """Check the rows and their sequences; sets ``family_`` and remembers the columns."""
        refuse_file(X, type(self).__name__)
        gaussian = replace(
            lookup("covariance", self.covariance, FAMILIES), prior=self.gaussian_prior
        )
        X, sample_weight, states = own_columns(X, sample_weight, states)
        given = check_rows(self, X, None, RowExtras(), target="none")
        assert isinstance(given, RowsInMemory)
        n_rows, k = given.table.n_rows, int(self.n_states)
        refuse_lengths_as_y(y, n_rows)
        known = check_lengths(lengths, n_rows)
        weight = check_sequence_weight(sample_weight, known)
        executor = executor_for(self.executor, given.table.nbytes * k)
        given = in_sequences(
            replace(given, executor=executor), known, weight, check_states(states, k, n_rows)
        )
        self.plan_ = plan_events(self.event, given.kinds, sparse=given.sparse)
        rows = encode_events(given, self.plan_)
        self.schema_, self.library_ = rows.coding, rows.library
        self.family_ = product_family(self.plan_, self.schema_.sizes, gaussian=gaussian)
        return rows

    def _solved(
        self, problem: MixtureProblem, blocks: ArrayBlocks, position: Array | None
    ) -> Clusters:
        k = int(self.n_states)
        if blocks.y is None and self.start is None:
            subset = draw_subset(problem.blocks, problem.family)
            return fit_clusters(problem, subset, k, self.n_init, generator(self.random_state))
        prior = problem.prior(k)
        if isinstance(self.start, HiddenMarkovModel):
            return problem.solve(self._given_start(self.start), prior)
        if self.start is None:
            labels: Any = Labels(blocks.target, k, blocks.weight)
        else:
            refuse_other_starts(self.start, "a fitted HiddenMarkovModel")
            kept = None if position is None else position >= 0
            labels = soft_rows(self.start, k, blocks.n_rows, kept)
            if blocks.weight is not None:
                labels = labels * blocks.weight[:, None]
        return problem.solve(states_from(problem, blocks.X.stored(), labels, prior), prior)

    def _given_start(self, start: "HiddenMarkovModel") -> HiddenStates:
        check_fitted_start(start, n_features=self.n_features_in_)
        if start.chain_.n_states != self.n_states:
            raise InvalidInput(
                f"start has {start.chain_.n_states} states; n_states is {self.n_states}. Make them "
                "agree."
            )
        if not same_categories(start.schema_, self.schema_) or (
            start.family_.parts != self.family_.parts
        ):
            raise InvalidInput(
                "start is a HiddenMarkovModel with other event models, covariances or categories "
                "than X has here; they must be the same. Fit it to the same columns, or give its "
                "states, start=model.predict(X)."
            )
        zeros = {"start": start.chain_.log_start, "transition": start.chain_.log_transition}
        for name, logs in zeros.items():
            smoothing = self._smoothing_of(name)
            if smoothing and self.max_iter and np.isneginf(logs).any():
                raise InvalidInput(
                    f"start has a {name} probability of 0, which {name}_smoothing={smoothing:g} "
                    f"does not allow: EM would have no likelihood to begin with. Use "
                    f"{name}_smoothing=0, which keeps it at 0, or start from other probabilities."
                )
        return HiddenStates(start.chain_, start.components_)

    def _keep(self, found: Clusters) -> None:
        self.chain_, self.components_ = found.components.chain, found.components.components
        self.solution_ = found.solution
        self.totals_ = ComponentTotals(found.totals.count, found.totals.statistics)
        self.log_likelihood_traces_ = [list(trace) for trace in found.traces]
        warn_unless_converged(type(self).__name__, found.solution)
        if found.collapsed:
            given = self.start is not None
            warn_collapsed(found.collapsed, self.n_states, given_start=given, noun="states")
        else:
            warn_if_flat(found.totals.statistics, regularised=self.regularisation > 0)

    def _check_arguments(self) -> None:
        refuse_unless_whole("n_states", self.n_states, lowest=1, advice="Use 2.")
        refuse_unless_whole("n_init", self.n_init, lowest=1, advice="Use 5.")
        check_search(self.tol, self.max_iter)
        refuse_unless_number("regularisation", self.regularisation, lowest=0, advice="Use 1.0.")
        for name in ("start", "transition"):
            self._smoothing_of(name)

    def _smoothing_of(self, name: str) -> float:
        """The pseudo-count of each state at the start, or of each transition."""
        given = vars(self)[f"{name}_smoothing"]
        if isinstance(given, Dirichlet):
            return given.of_each()
        refuse_unless_number(f"{name}_smoothing", given, lowest=0, advice="Use 1.0.")
        return float(given)

    @property
    def _component(self) -> tuple[str, str]:
        return "state", "states"

    def component_labels(self) -> list[Any]:
        """The numbers of the states."""
        return list(range(len(self.components_.log_mixing)))

    def _mapped(self, term: Any, X: Any, lengths: Any) -> tuple[list[Any], Codes]:
        """``term`` of blocks of whole sequences, in order; and the lengths, checked."""
        check_is_fitted(self)
        design = encode_new_rows(self, self.schema_, X).design
        known = check_lengths(lengths, design.n_rows)
        blocks = WholeGroups(ArrayBlocks(design, group=np.repeat(np.arange(len(known)), known)))
        chosen = executor_for(self.executor, blocks.nbytes * self.chain_.n_states)
        model = HiddenStates(self.chain_, self.components_)
        return list(chosen.map(partial(term, self.family_, model), blocks)), known


def _probabilities(name: str, given: Any, n_axes: int) -> Array:
    """Given probabilities, whose rows sum to 1."""
    try:
        values = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        values = np.empty(0)
    expected = "one per state" if n_axes == 1 else "a row for each state"
    if values.ndim != n_axes or not values.size:
        raise InvalidInput(
            f"{name} has the shape {np.shape(values)}; expected probabilities, {expected}. "
            "Give numbers."
        )
    sums = values.sum(axis=-1)
    if not (values >= 0).all() or not (np.abs(sums - 1) <= ROUNDING).all():
        row = int(np.argmax(~(np.abs(np.atleast_1d(sums) - 1) <= ROUNDING)))
        raise InvalidInput(
            f"{name} must be 0 or more and sum to 1; row {row} is "
            f"{np.atleast_2d(values)[row].tolist()}. Divide it by its sum."
        )
    return values / sums[..., None]
