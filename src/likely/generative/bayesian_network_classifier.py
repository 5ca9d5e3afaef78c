"""A Bayesian network over the columns of a table and the class.

    P(y, x) = P(y | pa(y)) Π_j P(x_j | pa(x_j))

Naive Bayes is the network class → column.  Tree-augmented naive Bayes lets each column depend on
one other column as well.

    log P(x, k) = Σ_v log P(x_v | pa(x_v)) of a complete row, by inference of one with gaps

The contribution of a column is the change of log P(y = k | ·) when its cell is seen after those of
the columns before it in the order of the network, parents first; these add up to the log-odds.

References
----------
Friedman, Geiger & Goldszmidt, Bayesian network classifiers, 1997.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin, clone
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from likely._typing import Array, Codes
from likely.calibrate.evidence import LOWEST_SCORE, N_FOLDS, ScoredRows, cooled_by_scores
from likely.compute.executor import Executor
from likely.data.copies import copies_in
from likely.data.frames import library_of, side_by_side
from likely.data.hashed_splits import FOLD_SEED, fold_of
from likely.distributions import Categorical
from likely.errors import InvalidInput
from likely.explanations.explanation import Explanation, like_its_rows, log_odds_explanation
from likely.features.discretize import Discretizer
from likely.generative.base import ClassJointProbabilities, ComponentProbabilities
from likely.generative.description import (
    ComponentFacts,
    columns_read,
    describe_components,
)
from likely.generative.network_columns import (
    NetworkColumns,
    coded_rows_of,
    codes_of_all,
    labels_of,
    labels_of_states,
    learned_columns,
    named_states,
    target_among,
    target_name,
    without_target,
)
from likely.graphical.contract import Request
from likely.graphical.drawing.diagram import Diagram
from likely.graphical.exact.row_propagation import row_beliefs
from likely.graphical.learning.coded_rows import CodedRows
from likely.graphical.learning.family_counts import Smoothing, pseudo_count
from likely.graphical.learning.structure import Edge, Structure, learned_edges
from likely.graphical.learning.table_estimates import METHODS, TableSettings, fit_tables
from likely.graphical.methods import sample
from likely.graphical.model.bayesian_network import BayesianNetwork
from likely.graphical.model.factor import Factor
from likely.graphical.model.factor_graph import FactorGraph
from likely.graphical.model.graph_evidence import (
    known_variable,
    known_variables,
)
from likely.graphical.model.model_plates import learned_network_plate, network_plate
from likely.graphical.model.table_beliefs import TableBeliefs
from likely.graphical.model.variable import Variable
from likely.graphical.table_queries import beliefs_of_codes
from likely.inputs.estimators import (
    ColumnNeeds,
    Estimator,
    check_search,
    countable,
    feature_names,
    generator,
    naming_columns,
    refuse_unless_whole,
)
from likely.inputs.rows import RowExtras, RowsInMemory, check_rows
from likely.inputs.tables import (
    own_columns,
    refuse_file,
    rows_at,
)
from likely.inputs.targets import check_weight, codes_among
from likely.names import known_name
from likely.objectives.cooled_evidence import CooledEvidence
from likely.output.description import ColumnsRead, Description, NamedColumn, NamedTable
from likely.special import log
from likely.storage.declarations import (
    FITTED_CLASSES,
    FITTED_COLUMNS,
    Numbers,
    SameCount,
    Saved,
    SumTo1,
)
from likely.storage.values import same_count

MOST_CELLS = 2**26  # of all tables together: half a gigabyte of probabilities
CLASSES = ("class", "classes")
TABLES = ("learn", "keep")


def refuse_large_tables(states: Mapping[str, Sequence[object]], edges: Sequence[Edge]) -> None:
    """Refuse tables that do not fit the memory: columns with very many values depend on others."""
    cells = {name: len(own) for name, own in states.items()}
    for parent, child in edges:
        if parent in states and child in states:
            cells[child] *= len(states[parent])
    if sum(cells.values()) > MOST_CELLS:
        largest = max(cells, key=cells.__getitem__)
        raise InvalidInput(
            f"The tables of the network would have {sum(cells.values()):,} cells, most of them for "
            f"{largest!r}; at most {MOST_CELLS:,} are allowed. Drop columns with very many values, "
            "or use structure='naive-bayes'."
        )


def edges_table(network: BayesianNetwork) -> NamedTable:
    """The parents of each variable, and how many parameters its table has."""
    rows = tuple(
        (name, ", ".join(network.parents[name]) or "none", _n_free(network, name))
        for name in network.names
    )
    columns = (
        NamedColumn("variable", "variable"),
        NamedColumn("parents", "parents"),
        NamedColumn("n_parameters", "parameters", "number"),
    )
    return NamedTable("network", columns, rows, noun="variable", title="Edges of the network")


def _n_free(network: BayesianNetwork, name: str) -> int:
    table = network.tables[name].table
    return int((table.shape[-1] - 1) * prod(table.shape[:-1]))


def class_log_joint(network: BayesianNetwork, target: str, codes: Codes) -> Array:
    """log P(x, y = k) of each row, (n, n_states); codes of ``target`` are not read."""
    column = network.names.index(target)
    n_classes = network.by_name[target].n_states
    gaps = (np.delete(codes, column, axis=1) < 0).any(axis=1)
    log_joint = np.zeros((len(codes), n_classes))
    log_joint[~gaps] = _of_complete_rows(network, target, codes[~gaps])
    if gaps.any():
        asked = np.repeat(codes[gaps], n_classes, axis=0)
        asked[:, column] = np.tile(np.arange(n_classes), int(gaps.sum()))
        found = row_beliefs(network, asked, (), None).log_partition
        log_joint[gaps] = found.reshape(-1, n_classes)
    return log_joint


def class_margins(network: BayesianNetwork, target: str, names: tuple[str, ...]) -> list[Array]:
    """P(x_v | y = k) of each of ``names``, (n_classes, n_states)."""
    n_classes = network.by_name[target].n_states
    codes = np.full((n_classes, len(network.names)), -1, dtype=np.int32)
    codes[:, network.names.index(target)] = np.arange(n_classes)
    marginals = row_beliefs(network, codes, names, None).marginals
    return [marginals[name] for name in names]


def column_contributions(
    network: BayesianNetwork, target: str, names: tuple[str, ...], codes: Codes
) -> Array:
    """The contribution of each of ``names`` to log P(y = k | x), (n, n_names, n_classes).

    Each is up to a term that the classes share.
    """
    place = {name: v for v, name in enumerate(network.names)}
    known = (codes[:, [place[name] for name in names]] >= 0).all(axis=1)
    simple = known & (len(names) == len(place) - 1) & (not network.parents[target])
    out = np.zeros((len(codes), len(names), network.by_name[target].n_states))
    for j, name in enumerate(names):
        table = network.tables[name]
        if target in table.scope:
            out[simple, j] = _at_each_class(table, target, codes[simple], place)
    if not simple.all():
        out[~simple] = _one_after_another(network, target, names, codes[~simple])
    return out


def _of_complete_rows(network: BayesianNetwork, target: str, codes: Codes) -> Array:
    place = {name: v for v, name in enumerate(network.names)}
    total = np.zeros((len(codes), network.by_name[target].n_states))
    for factor in network.factors:
        if target in factor.scope:
            total += _at_each_class(factor, target, codes, place)
        else:
            cells = tuple(codes[:, place[name]] for name in factor.scope)
            total += factor.log_table[cells][:, None]
    return total


def _at_each_class(factor: Factor, target: str, codes: Codes, place: dict[str, int]) -> Array:
    """log of the factor's cell for each row and each state of ``target``, (n, n_states)."""
    table = np.moveaxis(factor.log_table, factor.scope.index(target), -1)
    cells = tuple(codes[:, place[name]] for name in factor.scope if name != target)
    return table[cells] if cells else np.broadcast_to(table, (len(codes), len(table)))


def _one_after_another(
    network: BayesianNetwork, target: str, names: tuple[str, ...], codes: Codes
) -> Array:
    """Contributions by the chain of conditionals; (number of columns + 1) inferences per row."""
    place = {name: v for v, name in enumerate(network.names)}
    seen = np.full_like(codes, -1)
    before = class_log_joint(network, target, seen)
    out = np.zeros((len(codes), len(names), before.shape[1]))
    for name in network.order:
        if name in names:
            seen[:, place[name]] = codes[:, place[name]]
            after = class_log_joint(network, target, seen)
            # −inf stays −inf: a class that is impossible already loses nothing
            np.subtract(after, before, out=out[:, names.index(name)], where=after != before)
            before = after
    return out


def checked_network(network: Any) -> BayesianNetwork:
    if not isinstance(network, BayesianNetwork):
        raise InvalidInput(
            f"network is a {type(network).__name__}; a BayesianNetwork was expected. Pass "
            "BayesianNetwork.from_edges(…), or leave it out and set structure."
        )
    return network


def cooled_by_refits(model: Any, X: Any, y: Any, sample_weight: Any) -> CooledEvidence:
    """The temperature of a fitted model for the rows of its fit, as its fit was given them."""
    X, y, sample_weight = own_columns(X, y, sample_weight)
    X, n_rows = countable(X)
    classes = model.classes_
    unfitted = clone(model).set_params(calibrate=None, target=model.target_)
    codes = codes_among(y, classes, n_rows=n_rows)
    weight = check_weight(sample_weight, n_rows=n_rows)
    parts = scored_by_refits(unfitted, X, codes, classes, weight)
    weights = np.ones(n_rows) if weight is None else weight
    return cooled_by_scores(parts, np.bincount(codes, weights, minlength=len(classes)))


def scored_by_refits(
    unfitted: Any, X: Any, codes: Codes, classes: Array, weight: Array | None
) -> list[ScoredRows]:
    """The rows of each fold, scored by a fit to the others."""
    weights = np.ones(len(codes)) if weight is None else weight
    fold = fold_of(0, len(codes), FOLD_SEED, N_FOLDS)
    copies = copies_in(X)
    fold = fold if copies is None else fold[copies]
    parts = []
    for held in np.unique(fold):
        seen, new = (np.flatnonzero(mask & (weights > 0)) for mask in (fold != held, fold == held))
        new = new[np.isin(codes[new], codes[seen])]
        if len(np.unique(codes[seen])) < 2 or not len(new):
            continue
        given = None if weight is None else weights[seen]
        model = unfitted.fit(rows_at(X, seen), classes[codes[seen]], sample_weight=given)
        known = codes_among(model.classes_, classes)
        score, log_prior = np.full((2, len(new), len(classes)), LOWEST_SCORE)
        log_prior[:, known] = np.maximum(model.class_log_prior_, LOWEST_SCORE)
        joint = model.predict_joint_log_proba(rows_at(X, new))
        impossible = np.isneginf(joint.max(axis=1, keepdims=True))
        evidence = np.where(impossible, 0.0, joint) - log_prior[:, known]
        top = evidence.max(axis=1, keepdims=True)
        score[:, known] = np.maximum(evidence - top, LOWEST_SCORE)
        parts.append(ScoredRows(score, log_prior, codes[new], weights[new]))
    return parts


class BayesianNetworkClassifier(
    ClassJointProbabilities, ComponentProbabilities, ClassifierMixin, Estimator
):
    """A classifier that is a Bayesian network of discrete columns and the class.

    Parameters
    ----------
    network : BayesianNetwork, default=None
        Edges and states, for the columns and the target of these names; variables without a
        column are hidden.  None learns them.
    structure : str, Structure or list of edges, default="tan"
        How edges are learned, without a network: ``tan`` (tree-augmented naive Bayes),
        ``naive-bayes``, ``chow-liu``, ``hill-climbing``, ``auto`` (see
        ``BayesianNetwork.from_data``), one of these with settings, such as
        ``graphical.HillClimbing(score="bdeu")``, or pairs (parent, child) of names.
    target : str, default=None
        Name of the class's variable; by default that of y, if it has one, else ``class``.
    tables : {"learn", "keep"}, default="learn"
        Whether the tables of a given network are learned from the rows, or kept.
    smoothing : float, Dirichlet or EquivalentSample, default=1.0
        Pseudo-counts in each cell of a table; α − 1 of a ``Dirichlet(α)``.
    method : {"auto", "counts", "em"}, default="auto"
        With missing cells, ``counts`` learns each table from the rows that have all its columns,
        and ``em`` from all rows.  ``auto`` is counts, and EM where variables are hidden.
    discretize : str, Discretizer or None, default="entropy"
        Bins of numbers: ``entropy`` (where the classes differ, by description length),
        ``quantile``, ``uniform``, or a Discretizer.  None, or a network, reads them as states.
    calibrate : "temperature", default=None
        ``temperature`` divides the evidence log p(x | k), but not the class prior, by one number
        chosen on out-of-fold predictions (five more fits).  ``query`` and ``network_`` are as
        without it.
    tol : float, default=1e-8
        EM stops when at most ``tol`` nats per row are left to gain, by Aitken's estimate.
    max_iter : int, default=1000
        Maximum number of EM iterations.
    executor : str or Executor, default="auto"
        How sums over blocks of rows are computed: ``serial``, ``threads`` or ``auto``.
    random_state : int, RandomState or Generator, default=None
        Seed for ``sample``, and for the start of EM with hidden variables.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    network_ : BayesianNetwork
        The fitted network, which answers queries about any of its variables by their states.
    target_ : str
    class_log_prior_ : array of shape (n_classes,)
        log P(y), without any column.
    temperature_ : float
        What log p(x | k) is divided by; 1 without calibration.
    outlier_share_ : array of shape (n_classes,) or None
        With calibration, the share of rows of a class that look like those of another.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from likely import BayesianNetworkClassifier
    >>> X = pa.table({"sky": ["clear", "clear", "grey", "grey"], "wind": [0, 1, 0, 1]})
    >>> model = BayesianNetworkClassifier().fit(X, ["dry", "dry", "wet", "wet"])
    >>> model.predict_proba(pa.table({"sky": ["grey"], "wind": [None]})).round(3)
    array([[0.25, 0.75]])
    >>> model.predict_column(pa.table({"class": ["dry", "wet"]}), "sky").tolist()
    ['clear', 'grey']
    """

    saved: ClassVar = (
        FITTED_COLUMNS
        | FITTED_CLASSES
        | Saved(
            {
                "target_": str,
                "columns_": NetworkColumns,
                "network_": BayesianNetwork,
                "class_states_": Codes,
                "class_log_prior_": Array,
                "temperature_": Numbers(float, "finite", "positive"),
                "outlier_share_": Numbers(Array | None, "a share below 1"),
            },
            rules=(
                SameCount("classes_", "class_states_", "class_log_prior_", "outlier_share_"),
                SameCount("n_features_in_", "columns_.variables", "columns_.schema.kinds"),
                SumTo1("class_log_prior_"),
            ),
        )
    )

    def __init__(
        self,
        network: BayesianNetwork | None = None,
        structure: "str | Structure | Iterable[Edge]" = "tan",
        *,
        target: str | None = None,
        tables: str = "learn",
        smoothing: Smoothing = 1.0,
        method: str = "auto",
        discretize: "str | Discretizer | None" = "entropy",
        calibrate: str | None = None,
        tol: float = 1e-8,
        max_iter: int = 1000,
        executor: str | Executor = "auto",
        random_state: Any = None,
    ) -> None:
        self.network = network
        self.structure = structure
        self.target = target
        self.tables = tables
        self.smoothing = smoothing
        self.method = method
        self.discretize = discretize
        self.calibrate = calibrate
        self.tol = tol
        self.max_iter = max_iter
        self.executor = executor
        self.random_state = random_state

    @naming_columns
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to rows X with labels y.

        X is an array or a data frame, whose cells may be missing: null, NaN or blank text.  With a
        frame, y and sample_weight may be names of its columns.
        """
        refuse_file(X, type(self).__name__)
        check_search(self.tol, self.max_iter)
        if self.calibrate is not None:
            known_name("calibration", self.calibrate, ("temperature",))
        known_name("method", self.method, METHODS)
        given = check_rows(self, X, y, RowExtras(sample_weight), target="class", sparse=False)
        assert isinstance(given, RowsInMemory)  # a file was refused
        names = feature_names(self)
        if self.network is None:
            self.target_ = target_name(self.target, y, names)
            self.classes_ = given.classes
            self.columns_, self.network_ = self._fit_learned(given, names)
        else:
            network = checked_network(self.network)
            self.target_ = target_among(network, self.target, y, names)
            self.classes_ = labels_of_states(network.by_name[self.target_], given.classes)
            self.columns_, self.network_ = self._fit_given(network, given, names)
        self.library_ = library_of(given.table.native)
        target = self.network_.by_name[self.target_]
        self.class_states_ = np.array([target.code(label) for label in self.classes_.tolist()])
        nothing = np.full((1, len(self.network_.names)), -1, dtype=np.int32)
        self.class_log_prior_ = self._log_joint(nothing)[0]
        self.temperature_, self.outlier_share_ = 1.0, None
        if self.calibrate is not None:
            found = cooled_by_refits(self, X, y, sample_weight)
            self.temperature_, self.outlier_share_ = found.temperature, found.outlier_share
        return self

    @property
    def _evidence(self) -> CooledEvidence:
        return CooledEvidence(float(self.temperature_), self.outlier_share_)

    def plate(self) -> Diagram:
        """The plate diagram: the network in each row, or what is known of it before a fit."""
        name = type(self).__name__
        if self.network is not None:
            return network_plate(name, self.network.draw())
        naive = self.structure == "naive-bayes"
        smoothed = pseudo_count(self.smoothing, 1) > 0
        return learned_network_plate(name, naive=naive, smoothed=smoothed)

    def _fit_learned(
        self, given: RowsInMemory, names: tuple[str, ...]
    ) -> tuple[NetworkColumns, BayesianNetwork]:
        """Variables, edges and tables from the rows."""
        columns, codes = learned_columns(given, self.discretize, names)
        labels = labels_of(given)
        variables = (*columns.variables, Variable(self.target_, given.classes.tolist()))
        rows = coded_rows_of(variables, np.column_stack([codes, labels]), given)
        learned = learned_edges(rows, self.structure, self.target_, self.random_state)
        states = {variable.name: variable.values for variable in variables}
        refuse_large_tables(states, learned.edges)
        network = BayesianNetwork.from_edges(learned.edges, states)
        network = fit_tables(network, rows, self._settings(rows))
        network.fit_report = learned.reported(network.fit_report)
        return columns, network

    def _fit_given(
        self, network: BayesianNetwork, given: RowsInMemory, names: tuple[str, ...]
    ) -> tuple[NetworkColumns, BayesianNetwork]:
        """The given network, with tables from the rows unless they are kept."""
        target = network.by_name[self.target_]
        others = {name: each for name, each in network.by_name.items() if name != self.target_}
        columns, codes = named_states(given, others, names)
        if known_name("value of tables", self.tables, TABLES) == "keep":
            return columns, network
        states = np.array([target.code(label) for label in given.classes.tolist()])
        spread = codes_of_all(network, columns, codes)
        spread[:, network.names.index(self.target_)] = states[labels_of(given)]
        rows = coded_rows_of(network.variables, spread, given)
        return columns, fit_tables(network, rows, self._settings(rows))

    def _settings(self, rows: CodedRows) -> TableSettings:
        method = self.method
        if method == "auto":
            codes = rows.blocks.X.stored().codes  # type: ignore[attr-defined]  # in memory
            method = "em" if (codes < 0).all(axis=0).any() else "counts"
        return TableSettings(self.smoothing, method, self.max_iter, self.tol, self.random_state)

    def predict_log_proba(self, X: Any) -> Array:
        """log p(k | x), (n, n_classes); the class prior where a row is impossible."""
        joint = self.predict_joint_log_proba(X)
        impossible = np.isneginf(joint.max(axis=1, keepdims=True))
        log_prior = self.class_log_prior_
        never = np.isneginf(log_prior)  # no row is of such a class
        score = np.where(impossible, 0.0, joint) - np.where(never, 0.0, log_prior)
        posterior = self._evidence.log_posterior(log_prior, score)
        return np.where(impossible, log_prior, posterior)

    @naming_columns
    def predict_joint_log_proba(self, X: Any) -> Array:
        """log p(x, k), (n, n_classes), over the cells that are present."""
        return self._log_joint(self._codes(X))

    @naming_columns
    def query(
        self, X: Any, columns: str | Sequence[str] | None = None, *, impossible: str = "raise"
    ) -> TableBeliefs:
        """Probabilities of the states of columns, or of the class, given the cells of each row.

        X is a frame with any of the columns and the target.  Rows of probability 0 raise, or are
        nan with ``impossible="nan"``.
        """
        check_is_fitted(self)
        asked = [columns] if isinstance(columns, str) else columns
        names = known_variables(self.network_.by_name, asked or self.network_.names)
        return beliefs_of_codes(
            self.network_,
            self._codes_of_some(X),
            Request(tuple(names)),
            impossible=impossible,
            like=X,
        )

    @naming_columns
    def predict_column(self, X: Any, column: str) -> Array:
        """The most probable value of a column, or class, given the other cells of each row.

        X as in ``query``; a number is the middle of its most probable bin.  In a row that is
        impossible, the most probable value without any cell.
        """
        check_is_fitted(self)
        name = known_variable(self.network_.by_name, column).name
        codes = self._codes_of_some(X)
        codes[:, self.network_.names.index(name)] = -1
        found = beliefs_of_codes(self.network_, codes, Request((name,)), impossible="nan")[name]
        best = np.where(np.isnan(found), self.network_.query(name).marginal(name), found).argmax(1)
        if name == self.target_:
            return self.classes_[np.argsort(self.class_states_)][best]
        names = [variable.name for variable in self.columns_.variables]
        if name in names:
            return self.columns_.values(names.index(name), best.astype(np.int32))
        return np.array(self.network_.by_name[name].states, dtype=object)[best]  # hidden

    @naming_columns
    @like_its_rows
    def explain(self, X: Any, against: Any = None) -> Explanation:
        """Each column's log-odds for every class against one (the first, unless named).

        The contribution of a column is the change of the log-odds when its cell is seen after
        those of the columns before it in the network, parents first: they add up.
        """
        names = tuple(variable.name for variable in self._fitted_columns().variables)
        shares = column_contributions(self.network_, self.target_, names, self._codes(X))
        return log_odds_explanation(
            self._evidence.contributions(shares[:, :, self.class_states_], self.class_log_prior_),
            self.class_log_prior_,
            self.classes_,
            against,
            feature_names(self),
        )

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[Any, Array]:
        """Draw labelled rows; a binned number is the middle of its bin."""
        check_is_fitted(self)
        refuse_unless_whole("n_samples", n_samples, lowest=0, advice="Use 1.")
        rng = generator(self.random_state if random_state is None else random_state)
        drawn = sample(self.network_, Request(random_state=rng), n_samples)
        own = [drawn[variable.name] for variable in self.columns_.variables]
        X = self.columns_.rows(side_by_side(own, n_samples, np.int32), self.library_)
        return X, self.classes_[np.argsort(self.class_states_)][drawn[self.target_]]

    def n_parameters(self, naive: bool = True) -> int:
        """The number of free probabilities; with ``naive=False``, of a table of all variables."""
        check_is_fitted(self)
        return self.network_.n_parameters(full_joint=not naive)

    def factor_graph(self) -> FactorGraph:
        """The fitted network as a factor graph."""
        check_is_fitted(self)
        return self.network_.factor_graph()

    def describe(self) -> Description:
        """The most informative columns first, and the edges of the network."""
        columns, member = self._fitted_columns(), self._margins()
        about = ComponentFacts(
            member,
            self.class_log_prior_,
            feature_names(self),
            tuple(map(str, self.classes_.tolist())),
            [variable.states for variable in columns.variables],
        )
        described = describe_components(
            about, name=type(self).__name__, component=CLASSES, n_iter=self.n_steps()
        )
        return described.also(
            tables=(edges_table(self.network_),),
            notes=("The network also uses how columns depend on each other.",),
        )

    def columns_read(self, n_rows: int | None = None) -> ColumnsRead:
        """How many columns are categorical, and which columns to check."""
        columns, names = self._fitted_columns(), feature_names(self)
        read = columns_read(self._margins(), self.class_log_prior_, names, n_rows)
        return read.with_columns(names, columns.kinds)

    def column_needs(self) -> ColumnNeeds:
        """Categories as they are, and numbers as they are: they are binned."""
        return ColumnNeeds(scale=False, categories=True)

    @property
    def n_iter_(self) -> int:
        """Steps of EM; a fit in closed form is one."""
        return max(1, self.n_steps() or 1)

    def n_steps(self) -> int | None:
        check_is_fitted(self)
        report = self.network_.fit_report
        return None if report is None or report.solution is None else report.n_iter

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        return tags

    def _fitted_columns(self) -> NetworkColumns:
        check_is_fitted(self)
        return self.columns_

    def _margins(self) -> Categorical:
        """p(x_j | k) of each column alone."""
        names = tuple(variable.name for variable in self.columns_.variables)
        margins = class_margins(self.network_, self.target_, names)
        log_probability = log(np.concatenate(margins, axis=1)[self.class_states_])
        return Categorical.trusted(log_probability, tuple(each.shape[1] for each in margins))

    def _codes(self, X: Any) -> Codes:
        columns = self._fitted_columns()
        return codes_of_all(self.network_, columns, columns.codes(self, X))

    def _codes_of_some(self, X: Any) -> Codes:
        """Codes of rows that may lack columns, and may have the target."""
        rest, labels = without_target(X, self.target_, self.classes_)
        found = self.columns_.codes_of_some(self, rest)
        codes = codes_of_all(self.network_, self.columns_, found)
        if labels is not None:
            states = np.append(self.class_states_, -1)
            codes[:, self.network_.names.index(self.target_)] = states[labels]
        return codes

    def _log_joint(self, codes: Codes) -> Array:
        return class_log_joint(self.network_, self.target_, codes)[:, self.class_states_]

    def check_saved(self) -> None:
        """A variable for each column, a state for each of its codes, and a state for each class."""
        network, columns = self.network_, self.columns_
        states = network.by_name[self.target_].n_states
        same_count("The classes", sorted(self.class_states_.tolist()), list(range(states)))
        for variable, size in zip(columns.variables, columns.sizes, strict=True):
            name, theirs = f"Variable {variable.name!r}", network.by_name[variable.name]
            same_count(name, variable.states, theirs.states)
            same_count(name, variable.n_states, max(size, 1))
