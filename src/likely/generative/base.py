"""Methods of all fitted generative models: classifiers and mixtures.

    log p(k | x)   predict_log_proba        log p(x)   score_samples

Abstract classes over ``components_``, without state or parameters, so that two estimators
that differ in how they learn share the methods of the fitted model.

A classifier is also a factor graph, with a factor for the class and one for each column:

    P(y, x) = P(y) Π_j P(x_j | y)

Discrete columns are variables with a table.  The cells of a row that is given are no variables, but
likelihoods of the classes, p(x_j | y), which is how continuous columns enter.  A missing cell is
left out, or remains a variable where the column is discrete: the posterior of y is the same, as
Σ P(x_j | y) = 1.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from likely._typing import Array
from likely.compute.executor import Executor, executor_for
from likely.data.block import ArrayBlocks, Block
from likely.data.layouts.base import Design
from likely.data.schema import Schema
from likely.distributions import Dirichlet, Product
from likely.distributions.base import Family
from likely.errors import InvalidInput, RedundantColumns, warn_user
from likely.explanations.explanation import Explanation, like_its_rows, log_odds_explanation
from likely.generative.description import DescribedComponents, full_parameter_count
from likely.graphical.drawing.diagram import Diagram, Node
from likely.graphical.model.bayesian_network import BayesianNetwork
from likely.graphical.model.factor import Factor
from likely.graphical.model.factor_graph import FactorGraph
from likely.graphical.model.model_plates import ComponentParameters, component_plate
from likely.graphical.model.variable import State, Variable
from likely.inputs.estimators import (
    feature_names,
    generator,
    naming_columns,
    refuse_unless_whole,
)
from likely.inputs.soft_labels import soft_total
from likely.inputs.tables import own_columns
from likely.inputs.targets import accuracy, check_weight, codes_among, is_soft
from likely.objectives.components import (
    Components,
    ComponentTotals,
    block_log_joint,
    block_log_posterior,
)
from likely.objectives.cooled_evidence import CooledEvidence
from likely.objectives.linear import weighted_sum
from likely.output.formatting import quoted
from likely.solvers.minimise import Solution
from likely.special import logsumexp
from likely.storage.declarations import (
    FITTED_CLASSES,
    FITTED_COLUMNS,
    MemberOf,
    Needed,
    Numbers,
    SameCount,
    Saved,
    StatisticsOf,
)

MOST_CONTINUOUS = 3  # columns in a message
MOST_NAMED = 5  # columns in a warning

COMPONENTS = FITTED_COLUMNS | Saved(  # what a file holds of a model of components
    {"schema_": Schema, "family_": Family, "components_": Components},
    {"totals_": ComponentTotals, "log_likelihood_traces_": list[Any]},
    rules=(
        SameCount("n_features_in_", "schema_.kinds", "components_.distribution.n_features"),
        MemberOf("components_.distribution", "family_"),
        StatisticsOf("totals_.statistics", "family_", "components_.distribution"),
    ),
)
CLASS_COMPONENTS = (
    FITTED_CLASSES
    | COMPONENTS
    | Saved(
        {
            "class_count_": Numbers(Array, "finite", "not negative"),
            "temperature_": Numbers(float, "finite", "positive"),
            "outlier_share_": Numbers(Array | None, "a share below 1"),
            "solution_": Solution | None,
        },
        rules=(
            SameCount("classes_", "components_.log_mixing", "totals_.count", "class_count_"),
            SameCount("classes_", "outlier_share_"),
            Needed("solution_.held_out", "held_out_"),
        ),
    )
)


class ClassColumn(NamedTuple):
    """A column of a classifier: its table, if it is discrete."""

    name: str
    states: Sequence[State]
    log_table: Array | None  # log p(state | class), (n_classes, n_states)

    def factor(self, target: Variable) -> Factor:
        """P(x_j | y), indexed [class, state]."""
        assert self.log_table is not None  # the caller keeps discrete columns
        scope = [target, Variable(self.name, self.states)]
        return Factor(scope, self.log_table, scale="log")

    @property
    def is_variable(self) -> bool:
        """Whether it has a table with at least one state."""
        return self.log_table is not None and self.log_table.shape[1] > 0


def class_network(
    target: Variable, log_prior: Array, columns: Sequence[ClassColumn]
) -> BayesianNetwork:
    """The network class → column of a model whose columns are all discrete."""
    _refuse_same_name(target, columns)
    continuous = [column.name for column in columns if column.log_table is None]
    if continuous:
        raise InvalidInput(
            f"The model has no table of states for {quoted(continuous, MOST_CONTINUOUS)}; discrete "
            "columns were expected. Pass a row, as in factor_graph(X[:1]), whose numbers enter as "
            "likelihoods, or set discretize."
        )
    prior = Factor([target], log_prior, scale="log")
    tables = [column.factor(target) for column in columns if column.is_variable]
    return BayesianNetwork([prior, *tables])


def class_graph(
    target: Variable,
    log_prior: Array,
    columns: Sequence[ClassColumn],
    log_likelihood: Array,
) -> FactorGraph:
    """The graph given a row: ``log_likelihood`` (n_columns, n_classes), 0 in a missing cell."""
    _refuse_same_name(target, columns)
    factors = [Factor([target], log_prior, scale="log", name=target.name)]
    for column, values in zip(columns, log_likelihood, strict=True):
        if np.any(values):
            factors.append(Factor([target], values, scale="log", name=column.name))
        elif column.is_variable:
            factors.append(column.factor(target))
    return FactorGraph(factors)


def _refuse_same_name(target: Variable, columns: Sequence[ClassColumn]) -> None:
    if target.name in [column.name for column in columns]:
        raise InvalidInput(
            f"A column is called {target.name!r}, as is the variable of the classes; different "
            "names were expected. Pass target='…', a name for the classes."
        )


def refuse_several_rows(n_rows: int) -> None:
    if n_rows != 1:
        raise InvalidInput(
            f"X has {n_rows} rows; the factor graph of one row was expected. Pass X[:1], for "
            "instance, or leave X out for the graph of the model."
        )


class ComponentProbabilities(ABC):
    """Rows and components with a joint probability p(x, k): posteriors, densities, likelihoods."""

    @abstractmethod
    def predict_log_proba(self, X: Any) -> Array:
        """log p(k | x), (n, n_components)."""

    @abstractmethod
    def predict_joint_log_proba(self, X: Any) -> Array:
        """log p(x, k), (n, n_components), with every constant: its log-sum-exp is log p(x)."""

    def predict_proba(self, X: Any) -> Array:
        """p(k | x), (n, n_components)."""
        return np.exp(self.predict_log_proba(X))

    def score_samples(self, X: Any) -> Array:
        """log p(x) of each row."""
        return logsumexp(self.predict_joint_log_proba(X), axis=1)

    def log_likelihoods(self, X: Any, y: Any = None) -> Array:
        """log p(x_i) of each row; there is no y."""
        return self.score_samples(X)

    def log_likelihood(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Σ_i w_i times ``log_likelihoods``."""
        X, sample_weight = own_columns(X, sample_weight)
        each = self.log_likelihoods(X, y)
        return weighted_sum(check_weight(sample_weight, n_rows=len(each)), each)


class FittedComponents(ABC):
    """Anything with classes or clusters whose p(x | k) is a family of distributions."""

    components_: Components
    family_: Any  # a Family
    executor: Any
    random_state: Any

    @abstractmethod
    def _encode(self, X: Any) -> Design:
        """New rows, checked, as the families read them."""

    @abstractmethod
    def _decode(self, drawn: Any) -> Any:
        """Decoded rows, in the user's form."""

    @naming_columns
    def predict_log_proba(self, X: Any) -> Array:
        """log p(k | x), (n, n_components)."""
        design = self._encode(X)
        term = partial(block_log_posterior, self.family_, self.components_, self._evidence)
        return _mapped(term, design, self.executor)

    @naming_columns
    def predict_joint_log_proba(self, X: Any) -> Array:
        """log p(x, k), (n, n_components), with every constant: its log-sum-exp is log p(x)."""
        design = self._encode(X)
        term = partial(block_log_joint, self.family_, self.components_)
        return _mapped(term, design, self.executor)

    @naming_columns
    @like_its_rows
    def explain(self, X: Any, against: Any = None) -> Explanation:
        """What each column adds to the log-odds of every component against one (the first).

        The total is the log-odds of the responsibilities.  Columns of a full covariance add what
        they show given the columns before them.
        """
        design = self._encode(X)
        log_mixing, member = self.components_.log_mixing, self.components_.distribution
        contributions, constant = member.centred_contributions(design.stored())
        return log_odds_explanation(
            contributions,
            log_mixing + constant,
            np.asarray(self.component_labels()),
            against,
            feature_names(self),
        )

    def n_parameters(self, naive: bool = True) -> int:
        """The number of free parameters, including K − 1 for the class or mixing proportions.

        ``naive=False`` counts the full joint model instead: per component a table of all
        combinations, or d + d(d + 1)/2 for d Gaussian columns.
        """
        check_is_fitted(self)
        member = self.components_.distribution
        count = member.n_parameters if naive else full_parameter_count(member)
        return len(self.components_.log_mixing) - 1 + int(count)

    def component_labels(self) -> list[Any]:
        """The classes, or the numbers of the components."""
        return list(range(len(self.components_.log_mixing)))

    @abstractmethod
    def plate(self) -> Diagram:
        """The plate diagram: classes or components and features of each row, shared parameters."""

    @abstractmethod
    def _plate_parameters(self) -> ComponentParameters:
        """The parameters of p(x | k) in the plate diagram."""

    @property
    def _evidence(self) -> CooledEvidence:
        """How evidence is calibrated; here it is not."""
        return CooledEvidence()

    def _draw(self, n_samples: int, random_state: Any, length: Any = None) -> tuple[Any, Array]:
        """Rows and the components they came from; ``length`` is the total of a row's counts."""
        check_is_fitted(self)
        refuse_unless_whole("n_samples", n_samples, lowest=0, advice="Use 1.")
        rng = generator(self.random_state if random_state is None else random_state)
        share = np.exp(self.components_.log_mixing)
        component = rng.choice(len(share), size=n_samples, p=share / share.sum())
        distribution: Any = self.components_.distribution
        if length is None:
            return self._decode(distribution.sample(component, rng)), component
        return self._decode(distribution.sample(component, rng, length=length)), component


class ClassJointProbabilities(ABC):
    """Components that are classes: predictions, and likelihoods of rows with labels."""

    classes_: Array

    @abstractmethod
    def predict_log_proba(self, X: Any) -> Array:
        """log p(k | x), (n, n_classes)."""

    @abstractmethod
    def predict_joint_log_proba(self, X: Any) -> Array:
        """log p(x, k), (n, n_classes)."""

    def predict(self, X: Any) -> Array:
        """The most probable class of each row."""
        log_proba = self.predict_log_proba(X)
        return self.classes_[log_proba.argmax(axis=1)]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The accuracy: the share of the rows, by weight, whose label is predicted."""
        return accuracy(self, X, y, sample_weight)

    def log_likelihoods(self, X: Any, y: Any = None) -> Array:
        """log p(x_i, y_i) of each row, or log p(x_i) without labels.

        y holds labels (n,), or one-hot or soft rows t (n, n_classes) in the order of ``classes_``,
        or in a frame with their names: Σ_k t_k log p(x, k).
        """
        if y is None:
            return logsumexp(self.predict_joint_log_proba(X), axis=1)
        X, y = own_columns(X, y)
        joint = self.predict_joint_log_proba(X)
        if is_soft(y):
            return soft_total(y, joint, self.classes_)
        codes = codes_among(y, self.classes_, n_rows=len(joint))
        return joint[np.arange(len(joint)), codes]


class FittedClassifier(
    FittedComponents, ClassJointProbabilities, ComponentProbabilities, DescribedComponents
):
    """Classes with families of distributions."""

    solution_: Any
    prior: Any
    unlabelled: Any = None

    @property
    def n_iter_(self) -> int:
        """Steps of EM; a fit in closed form is one."""
        return 1 if self.solution_ is None else max(1, self.solution_.n_iter)

    def plate(self) -> Diagram:
        """The plate diagram: the class and the features of each row, and shared parameters."""
        given = not isinstance(self.prior, str | Dirichlet) or self.prior == "uniform"
        label = Node("yₙ", shaded=self.unlabelled is None)
        name, parameters = type(self).__name__, self._plate_parameters()
        return component_plate(name, label, parameters, prior_is_given=given)

    def n_steps(self) -> int | None:
        return None if self.solution_ is None else self.n_iter_

    @property
    def _component(self) -> tuple[str, str]:
        return "class", "classes"

    @property
    def class_log_prior_(self) -> Array:
        return self.components_.log_mixing

    def component_labels(self) -> list[Any]:
        """The classes, or the numbers of the components."""
        return list(self.classes_.tolist())

    def _calibrated_contributions(self, stored: Any) -> Array:
        """Each feature's part of the log-odds, after calibration, (n, n_features, n_components)."""
        each = self.distribution_.contributions(stored)
        return self._evidence.contributions(each, self.class_log_prior_)

    @naming_columns
    def factor_graph(self, X: Any = None, *, target: str = "class") -> FactorGraph:
        """P(y) Π_j P(x_j | y) as a factor graph, whose sum-product posterior is predict_proba.

        Without X the variables are the class, called ``target``, and all columns, which must be
        discrete.  X is one row: its cells enter as likelihoods of the classes, and only discrete
        columns whose cell is missing remain variables.
        """
        check_is_fitted(self)
        classes, log_prior = Variable(target, self.classes_.tolist()), self.class_log_prior_
        columns = self._graph_columns()
        if X is not None:
            design = self._encode(X)
            refuse_several_rows(design.n_rows)
            shares = self._calibrated_contributions(design.stored())[0]
            return class_graph(classes, log_prior, columns, shares)
        if self._evidence.is_calibrated:
            raise InvalidInput(
                f"The evidence is divided by a temperature of {self._evidence.temperature:.3g}, so "
                "that the model has no joint distribution of its columns; one was expected. Pass a "
                "row, as in factor_graph(X[:1]), or set calibrate=None."
            )
        return class_network(classes, log_prior, columns)

    def _graph_columns(self) -> list[ClassColumn]:
        """The columns with the tables of the discrete ones; with a temperature, none has any."""
        names, labels, schema = feature_names(self), self._value_labels(), self.schema_
        columns = [ClassColumn(name, (), None) for name in names]
        for part, features in self.distribution_.by_part():
            for place, j in enumerate(features):
                table = None if self._evidence.is_calibrated else part.log_table(place)
                values = schema.categories[j]
                states: Any = labels[j] if values is None else values.tolist()
                if table is not None and not states:  # a Bernoulli has no list of values
                    states = [False, True] if schema.kinds[j] == "boolean" else [0, 1]
                columns[j] = ClassColumn(names[j], states, table)
        return columns


def _mapped(term: Callable[[Block], Array], design: Design, executor: str | Executor) -> Array:
    blocks = ArrayBlocks(design)
    chosen = executor_for(executor, blocks.nbytes)
    return np.concatenate(list(chosen.map(term, blocks)))


def warn_if_constant(model: DescribedComponents, rows: Design | None = None) -> None:
    """Warn of columns that are constant in all rows: the density leaves them out.

    Of ``rows`` in memory, warn of those without any value, too: they say nothing of components.
    """
    distribution = model.components_.distribution
    left_out = distribution.left_out()
    effect = "the density is that of the other columns, and new values there have no effect"
    if left_out.all():
        effect = "no column is left, and the density is 1 everywhere"
    _warn_of_columns(model, left_out, "constant or missing", effect)
    if rows is not None and isinstance(distribution, Product):
        empty, X = np.zeros(len(left_out), dtype=bool), rows.stored()
        for selection in distribution.selections:
            part = selection.of(X)
            if isinstance(part, np.ndarray):
                gone = part < 0 if selection.coded else np.isnan(part)
                empty[list(selection.features)] = gone.all(axis=0)
        effect = "all components have the same parameters there"
        _warn_of_columns(model, empty & ~left_out, "missing", effect)


def _warn_of_columns(model: DescribedComponents, which: Array, what: str, effect: str) -> None:
    if not which.any():
        return
    names = [repr(str(feature_names(model)[j])) for j in np.flatnonzero(which)[:MOST_NAMED]]
    n, one = np.count_nonzero(which), len(names) == 1
    more = f" and {n - MOST_NAMED} more" if n > MOST_NAMED else ""
    warn_user(
        f"{'Column' if one else 'Columns'} {', '.join(names)}{more} {'is' if one else 'are'} "
        f"{what} in all rows; {effect}. Drop {'it' if one else 'them'}.",
        RedundantColumns,
    )
