"""The registry: complete, without doubles, and closed to everything else."""

import likely
from likely import distributions, penalties
from likely.compute.executor import Threads
from likely.distributions.base import Distribution
from likely.distributions.exponential_family import ExponentialFamily
from likely.features.discretize import Discretizer
from likely.likelihoods.responses import RESPONSES
from likely.links import LINKS
from likely.storage.registry import (
    argument_names,
    defined_parts,
    estimator_class,
    estimator_names,
    field_names,
    part_class,
    part_modules,
    part_name,
)
from tests.estimators import all_estimators


def test_no_two_parts_have_the_same_name():
    names = [part_name(part) for module in part_modules() for part in defined_parts(module)]
    assert len(names) > 30
    assert None not in names
    assert len(names) == len(set(names))


def test_every_distribution_and_executor_is_a_part():
    ours = [kind for kind in Distribution.__subclasses__() if kind.__module__.startswith("likely.")]
    assert len(ours) >= 10
    assert all(part_name(kind) == kind.__name__ for kind in [*ours, Threads])


def test_every_response_link_and_penalty_is_a_part_under_its_package():
    assert part_name(RESPONSES["poisson"].__class__) == "likelihoods.Poisson"
    assert part_class("Poisson") is distributions.Poisson
    for name, values in [("likelihoods", RESPONSES), ("links", LINKS)]:
        for value in values.values():
            assert part_name(type(value)) == f"{name}.{type(value).__name__}"
            likelihood = value.with_link(LINKS[value.canonical]) if name == "likelihoods" else value
            assert part_name(type(likelihood)) is not None
    assert part_name(penalties.ElasticNet) == "penalties.ElasticNet"
    assert part_class("Coding") is not None


def test_every_public_estimator_can_be_named():
    assert [estimator_class(name) for name in estimator_names()] == all_estimators()
    assert argument_names(Discretizer) == {"strategy", "n_bins", "edges"}


def test_nothing_else_can_be_named():
    for name in ("os", "eval", "object", "load", "data", "Distribution", "ExponentialFamily", ""):
        assert estimator_class(name) is None
        assert part_class(name) is None
    assert part_name(ExponentialFamily) is None
    assert part_name(type("Threads", (), {})) is None
    assert estimator_class("__version__") is None
    assert likely.__version__


def test_the_fields_of_dataclasses_and_named_tuples_are_found():
    assert field_names(Threads) == ("workers",)
    linear_form = part_class("LinearForm")
    assert linear_form is not None
    assert field_names(linear_form) == ("coef", "intercept", "terms")
