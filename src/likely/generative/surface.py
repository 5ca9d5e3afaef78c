"""Methods of all fitted generative models: classifiers and mixtures.

    log p(k | x)   predict_log_proba        log p(x)   score_samples

Abstract classes over ``components_``, without state or parameters, so that two estimators
that differ in how they learn share the methods of the fitted model.
"""

from abc import ABC, abstractmethod
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from likely._typing import Array
from likely.compute.executor import executor_for
from likely.data.block import ArrayBlocks
from likely.data.layouts.intercept import Design
from likely.description import ColumnsRead, Description
from likely.errors import InvalidInput, UnknownName
from likely.generative.dependence import full_parameter_count
from likely.generative.description import ComponentFacts, describe_components
from likely.inputs.estimators import (
    feature_names,
    generator,
    naming_columns,
    refuse_unless_number,
    refuse_unless_whole,
)
from likely.inputs.labels import accuracy, codes_among
from likely.inputs.numbers import check_weight
from likely.inputs.soft_labels import is_soft, soft_total
from likely.inputs.tables import own_columns
from likely.objectives.components import (
    Components,
    CooledEvidence,
    block_log_joint,
    block_log_posterior,
)
from likely.objectives.linear import weighted_sum
from likely.special import logsumexp


class FittedComponents(ABC):
    """Anything with classes or clusters p(x, k)."""

    components_: Components
    family_: Any  # a Family
    schema_: Any  # a Schema
    executor: Any
    random_state: Any

    @abstractmethod
    def _encode(self, X: Any) -> Design:
        """New rows, checked, as the families read them."""

    @abstractmethod
    def _decode(self, drawn: Any) -> Any:
        """Decoded rows, in the user's form."""

    @property
    def distribution_(self) -> Any:
        """The fitted p(x | k)."""
        return self.components_.distribution

    @naming_columns
    def predict_log_proba(self, X: Any) -> Array:
        """log p(k | x), (n, n_components)."""
        design = self._encode(X)
        term = partial(block_log_posterior, self.family_, self.components_, self._evidence)
        return _mapped(term, design, self.executor)

    def predict_proba(self, X: Any) -> Array:
        """p(k | x), (n, n_components)."""
        return np.exp(self.predict_log_proba(X))

    @naming_columns
    def predict_joint_log_proba(self, X: Any) -> Array:
        """log p(x, k), (n, n_components), with every constant: its log-sum-exp is log p(x)."""
        design = self._encode(X)
        term = partial(block_log_joint, self.family_, self.components_)
        return _mapped(term, design, self.executor)

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

    def n_parameters(self, naive: bool = True) -> int:
        """The number of free parameters, including K − 1 for the class or mixing proportions.

        ``naive=False`` counts the full joint model instead: per component a table of all
        combinations, or d + d(d + 1)/2 for d Gaussian columns.
        """
        check_is_fitted(self)
        member = self.distribution_
        count = member.n_parameters if naive else full_parameter_count(member)
        return len(self.components_.log_mixing) - 1 + int(count)

    def informative_features(
        self, top: int = 10, random_state: Any = 0
    ) -> dict[Any, dict[str, float]]:
        """The most informative features for each class or component, in nats per row.

        A feature's evidence is the mean log-odds for the class, over its rows, from the feature
        alone; it is estimated from draws of the model (see ``likely.distributions.base``).
        """
        check_is_fitted(self)
        rng = generator(random_state)
        evidence = self.distribution_.evidence(self.components_.log_mixing, rng)
        names = feature_names(self)
        out = {}
        for label, row in zip(self.component_labels(), evidence, strict=True):
            order = np.argsort(-row, kind="stable")[:top]
            out[label] = {names[j]: float(row[j]) for j in order}
        return out

    def parameters(self, column: str | int) -> dict[str, Array]:
        """The fitted parameters of one column by name, with one entry or row for each class.

        A column of categories or bins has their names as ``categories``, too.
        """
        check_is_fitted(self)
        names = list(feature_names(self))
        if column not in names and column not in range(len(names)):
            raise UnknownName("column", column, names)
        at = names.index(column) if column in names else int(column)
        for part, features in self.distribution_.by_part():
            if at in features:
                labels = self._value_labels()[at]
                named = {"categories": np.array(labels)} if labels else {}
                return {**named, **part.values_of(features.index(at))}
        raise InvalidInput(
            f"Column {names[at]!r} has no parameters of its own in {type(self).__name__}; "
            "expected one that the model reads. Choose another."
        )

    def describe(self) -> Description:
        """What separates the classes or components: the most informative columns first."""
        check_is_fitted(self)
        about = ComponentFacts(
            self.distribution_,
            self.components_.log_mixing,
            feature_names(self),
            tuple(map(str, self.component_labels())),
            self._value_labels(),
            self._linear_weights(),
        )
        return describe_components(
            about, name=type(self).__name__, component=self._component, n_iter=self.n_steps()
        )

    def columns_read(self, n_rows: int | None = None) -> ColumnsRead:
        """How the columns were read, where each may have its own event model."""
        return ColumnsRead().with_columns(feature_names(self), self.schema_.kinds)

    @property
    def _evidence(self) -> CooledEvidence:
        """How evidence is calibrated; here it is not."""
        return CooledEvidence()

    @property
    def _component(self) -> tuple[str, str]:
        """The word for a component: singular and plural."""
        return "component", "components"

    @abstractmethod
    def n_steps(self) -> int | None:
        """Steps of EM; None where there was none."""

    def _value_labels(self) -> list[list[str]]:
        """The values of the codes of each column; empty for numbers."""
        return [
            [] if values is None else [str(value) for value in values.tolist()]
            for values in self.schema_.categories
        ]

    def _linear_weights(self) -> Array | None:
        """The weights of a posterior that is linear in x."""
        return None

    def component_labels(self) -> list[Any]:
        """The classes, or the numbers of the components."""
        return list(range(len(self.components_.log_mixing)))

    def _draw(self, n_samples: int, random_state: Any, length: Any = None) -> tuple[Any, Array]:
        """Rows and the components they came from; ``length`` is the total of a row's counts."""
        check_is_fitted(self)
        if n_samples < 0:
            raise InvalidInput(f"n_samples is {n_samples}; 0 or more was expected. Use 1.")
        rng = generator(self.random_state if random_state is None else random_state)
        share = np.exp(self.components_.log_mixing)
        component = rng.choice(len(share), size=n_samples, p=share / share.sum())
        distribution = self.distribution_
        if length is None:
            return self._decode(distribution.sample(component, rng)), component
        return self._decode(distribution.sample(component, rng, length=length)), component


class FittedClassifier(FittedComponents):
    """Components that are classes."""

    classes_: Array
    solution_: Any

    @property
    def n_iter_(self) -> int:
        """Steps of EM; a fit in closed form is one."""
        return 1 if self.solution_ is None else max(1, self.solution_.n_iter)

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
            return self.score_samples(X)
        X, y = own_columns(X, y)
        joint = self.predict_joint_log_proba(X)
        if is_soft(y):
            return soft_total(y, joint, self.classes_)
        codes = codes_among(y, self.classes_, n_rows=len(joint))
        return joint[np.arange(len(joint)), codes]


def _mapped(term: Any, design: Design, executor: Any) -> Array:
    blocks = ArrayBlocks(design)
    chosen = executor_for(executor, blocks.nbytes)
    return np.concatenate(list(chosen.map(term, blocks)))


def check_search(tol: Any, max_iter: Any) -> None:
    """Refuse an invalid tol or max_iter; ``max_iter=0`` leaves the start as it is."""
    refuse_unless_number("tol", tol, lowest=-np.inf, advice="Use 1e-8.")
    refuse_unless_whole("max_iter", max_iter, lowest=0, advice="Use 1000.")
